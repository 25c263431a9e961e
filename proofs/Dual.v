(* The function of equation (16), and what the proof of Proposition 4 says of it.
   Page: huang2024_s6_max_margin, label huang2024-eq-16. With prefix closure the claim is true;
   without it FiveTokens.v refutes it. *)
From Coq Require Import Ring Field.
From mathcomp Require Import all_ssreflect all_algebra.
From Companion Require Import Fields Orders MaxMargin Hall Matrix.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Section Dual.
Variables (R : realFieldType) (T : finType) (gt : rel T).
Implicit Types (l : T -> T -> R) (w : T -> R) (x y : T).
Add Field scores : (is_field R).
Ltac calc := named R; ring.

(* The multipliers above and below a token; tokens without pairs contribute nothing. *)
Definition row l x : R := \sum_(y | gt x y) l x y.
Definition col l y : R := \sum_(x | gt x y) l x y.
Definition dual l : R :=
  - (\sum_x row l x ^+ 2) - (\sum_y col l y ^+ 2) + 2%:R * \sum_x row l x.

(* Along the multiplier of the pair x > y the function is a parabola, with this slope at l: the
   partial derivative, without a limit. *)
Definition slope l x y : R := 2%:R - 2%:R * row l x - 2%:R * col l y.
Definition moved l x y s : T -> T -> R :=
  fun x' y' => l x' y' + (if (x' == x) && (y' == y) then s else 0).

Theorem dual_along l x y s : gt x y ->
  dual (moved l x y s) = dual l + s * slope l x y - 2%:R * s ^+ 2.
Proof.
move=> xy; have rows x' : row (moved l x y s) x' = row l x' + (if x' == x then s else 0).
  rewrite /row big_split; congr (_ + _) => /=.
  have [->|ne] := eqVneq x' x; last by rewrite big1.
  by rewrite -big_mkcondr (big_pred1 y) // => y' /=; case: eqP => [->|]; rewrite ?xy ?andbF.
have cols y' : col (moved l x y s) y' = col l y' + (if y' == y then s else 0).
  rewrite /col big_split; congr (_ + _) => /=.
  have [->|ne] := eqVneq y' y; last by rewrite big1 // => x' _; rewrite andbF.
  rewrite (eq_bigr (fun x' => if x' == x then s else 0)) => [|x' _]; last by rewrite andbT.
  by rewrite -big_mkcondr (big_pred1 x) // => x' /=; case: eqP => [->|]; rewrite ?xy ?andbF.
have square (f : T -> R) a : \sum_z (f z + (if z == a then s else 0)) ^+ 2 =
    \sum_z f z ^+ 2 + (2%:R * s * f a + s ^+ 2).
  rewrite (bigD1 a) //= eqxx [in RHS](bigD1 a) //= addrAC.
  congr (_ + _); first by calc.
  by apply: eq_bigr => z /negbTE ->; rewrite addr0.
rewrite /dual (eq_bigr (fun z => (row l z + (if z == x then s else 0)) ^+ 2)) => [|z _];
  last by rewrite rows.
rewrite [\sum_z col _ z ^+ 2](eq_bigr (fun z => (col l z + (if z == y then s else 0)) ^+ 2));
  last by move=> z _; rewrite cols.
rewrite !square (eq_bigr _ (fun z _ => rows z)) big_split /= -big_mkcond big_pred1_eq /slope.
by move: (\sum_z _) (\sum_z _) (\sum_z _) (row l x) (col l y) => a b c d e; calc.
Qed.

(* The function is right: on multipliers that are not negative it bounds (15) from below, ... *)
Lemma dualE l (w := fun x => row l x - col l x) : (forall x, row l x * col l x = 0) ->
  dual l = 2%:R * (\sum_x row l x) - norm2 w.
Proof.
move=> apart; rewrite /dual addrC -opprD; congr (_ - _); rewrite -big_split.
apply: eq_bigr => x _; rewrite /w /=; move: (apart x); move: (row l x) (col l x) => a b ab.
have -> : (a - b) * (a - b) = a ^+ 2 + b ^+ 2 - 2%:R * (a * b) by calc.
by rewrite ab mulr0 subr0.
Qed.

Lemma row0 l x : x \notin opts gt -> row l x = 0.
Proof.
move=> xo; rewrite /row big_pred0 // => y; apply/negbTE.
by apply: contra xo; apply: gt_opts.
Qed.
Lemma col0 l y : y \notin nons gt -> col l y = 0.
Proof.
move=> yn; rewrite /col big_pred0 // => x; apply/negbTE.
by apply: contra yn; apply: gt_nons.
Qed.
Lemma one_side l x : unconfused gt -> row l x * col l x = 0.
Proof.
move=> clear; have [/clear xn|xo] := boolP (x \in opts gt); first by rewrite col0 ?mulr0.
by rewrite row0 ?mul0r.
Qed.

Lemma sum_margins l w : \sum_x (row l x - col l x) * w x =
  \sum_x \sum_(y | gt x y) l x y * (w x - w y).
Proof.
have -> : \sum_x \sum_(y | gt x y) l x y * (w x - w y) =
    \sum_x row l x * w x - \sum_x \sum_(y | gt x y) l x y * w y.
  rewrite -sumrB; apply: eq_bigr => x _; rewrite mulr_suml -sumrB.
  by apply: eq_bigr => y _; rewrite mulrBr.
rewrite (exchange_big_dep xpredT) //= -sumrB; apply: eq_bigr => x _.
by rewrite mulrBl [col l x * _]mulr_suml.
Qed.

(* ... as it is the least value of the Lagrangian over w, ... *)
Definition lagrangian l w : R :=
  norm2 w + 2%:R * \sum_x \sum_(y | gt x y) l x y * (1 - (w x - w y)).
Theorem lagrangian_least l w (best := fun x => row l x - col l x) : unconfused gt ->
  lagrangian l w = dual l + norm2 (fun x => w x - best x).
Proof.
move=> clear; rewrite /lagrangian dualE => [|x]; last exact: one_side.
have -> : \sum_x \sum_(y | gt x y) l x y * (1 - (w x - w y)) = \sum_x row l x - dot best w.
  rewrite /dot sum_margins -sumrB; apply: eq_bigr => x _; rewrite /row -sumrB.
  by apply: eq_bigr => y _; rewrite mulrBr mulr1.
have -> : norm2 (fun x => w x - best x) = norm2 w + norm2 best - 2%:R * dot best w.
  by rewrite mulr_sumr -big_split -sumrB; apply: eq_bigr => x _ /=; calc.
rewrite -/best; move: (norm2 w) (norm2 best) (dot _ _) (\sum_x row l x) => a b c d; calc.
Qed.

Theorem dual_bound l w : unconfused gt -> (forall x y, gt x y -> 0 <= l x y) ->
  feasible gt w -> dual l <= norm2 w.
Proof.
move=> clear l0 feas; rewrite dualE => [|x]; last exact: one_side.
set w' := fun x => row l x - col l x; rewrite ler_subl_addr -subr_ge0.
have le : \sum_x row l x <= dot w w'.
  have -> : dot w w' = \sum_x w' x * w x by apply: eq_bigr => x _; rewrite mulrC.
  rewrite sum_margins; apply: ler_sum => x _; apply: ler_sum => y xy.
  by rewrite ler_pemulr ?l0 ?feas.
have : 0 <= norm2 (fun x => w x - w' x) by apply: norm2_ge0.
have -> : norm2 (fun x => w x - w' x) = norm2 w + norm2 w' - 2%:R * dot w w'.
  by rewrite mulr_sumr -big_split -sumrB; apply: eq_bigr => x _ /=; calc.
by rewrite !subr_ge0 => le2; apply: le_trans le2; rewrite ler_pmul2l ?ltr0n.
Qed.

(* ... and at a certificate it attains the value. *)
Theorem dual_attained l w : unconfused gt -> certificate gt w l -> dual l = norm2 w.
Proof.
move=> clear [_ tight sums]; rewrite dualE => [|x]; last exact: one_side.
have zero x y : ~~ gt x y -> l x y = 0.
  by move=> xy; apply: contraNeq xy => /tight [].
have rowE x : row l x = \sum_y l x y.
  by rewrite /row big_mkcond; apply: eq_bigr => y _; case: ifPn => // /zero.
have colE y : col l y = \sum_x l x y.
  by rewrite /col big_mkcond; apply: eq_bigr => x _; case: ifPn => // /zero.
have -> : norm2 (fun x => row l x - col l x) = norm2 w.
  by apply: eq_bigr => x _; rewrite rowE colE -sums.
have -> : \sum_x row l x = norm2 w.
  rewrite /norm2 (dot_margins w sums); apply: eq_bigr => x _; rewrite rowE.
  apply: eq_bigr => y _; have [->|/tight [_ ->]] := eqVneq (l x y) 0; rewrite ?mul0r ?mulr1 //.
by calc.
Qed.

(* Where all slopes vanish, every pair is tight: the sums of the multipliers solve (15), and the
   function has the value |w|^2 and so is largest. *)
Theorem flat_solves l (w := fun x => row l x - col l x) : unconfused gt ->
  (forall x y, gt x y -> 0 <= l x y) -> (forall x y, gt x y -> slope l x y = 0) ->
  [/\ solves_uniquely gt w, dual l = norm2 w & forall x y, gt x y -> w x - w y = 1].
Proof.
move=> clear l0 flat; have tight x y : gt x y -> w x - w y = 1.
  move=> xy; have yn := gt_nons xy; have xo := gt_opts xy; rewrite /w (col0 l (clear _ xo)).
  rewrite (row0 l (nons_opts clear yn)) subr0 sub0r opprK.
  apply: (mulfI (_ : 2%:R != 0)); first by rewrite pnatr_eq0.
  apply/eqP; rewrite mulr1 -subr_eq0 -oppr_eq0 -(flat x y xy) /slope; apply/eqP.
  by move: (row _ _) (col _ _) => a b; calc.
pose l' x y := if gt x y then l x y else 0.
have rowE x : row l x = \sum_y l' x y by rewrite /row big_mkcond.
have colE y : col l y = \sum_x l' x y by rewrite /col big_mkcond.
have cert : certificate gt w l'.
  split=> [x y|x y|x]; last by rewrite /w rowE colE.
    by rewrite /l'; case: ifP => // /l0.
  by rewrite /l'; case: ifP => [xy _|]; [split=> //; apply: tight | rewrite eqxx].
split=> //; first by apply: certificate_solves cert => x y /tight ->.
rewrite -(dual_attained clear cert) /dual; congr (- _ - _ + _ * _).
- by apply: eq_bigr => x _; congr (_ ^+ 2); apply: eq_bigr => y xy; rewrite /l' xy.
- by apply: eq_bigr => y _; congr (_ ^+ 2); apply: eq_bigr => x xy; rewrite /l' xy.
- by apply: eq_bigr => x _; apply: eq_bigr => y xy; rewrite /l' xy.
Qed.

(* On a complete order they vanish at the multipliers 1 / (k + m). *)
Lemma complete_flat x y : complete gt -> gt x y ->
  slope (fun _ _ => 1 / (#|opts gt|%:R + #|nons gt|%:R)) x y = 0.
Proof.
move=> all_pairs xy; have xo := gt_opts xy; have yn := gt_nons xy.
rewrite /slope; set c := 1 / _; have -> : row (fun _ _ => c) x = #|nons gt|%:R * c.
  rewrite /row (eq_bigl (mem (nons gt))) => [|z]; first by rewrite sumr_const -[_ *+ _]mulr_natl.
  by apply/idP/idP => [/gt_nons //|/(all_pairs _ _ xo)].
have -> : col (fun _ _ => c) y = #|opts gt|%:R * c.
  rewrite /col (eq_bigl (mem (opts gt))) => [|z]; first by rewrite sumr_const -[_ *+ _]mulr_natl.
  by apply/idP/idP => [/gt_opts //|zo]; apply: all_pairs.
have : #|opts gt|%:R + #|nons gt|%:R != 0 :> R.
  rewrite -natrD pnatr_eq0 addn_eq0 negb_and -!lt0n; apply/orP; left.
  by apply/card_gt0P; exists x.
rewrite /c => /eqP; move: (#|opts gt|%:R : R) (#|nons gt|%:R : R) => a b ab.
by rewrite -[2%:R]/(1 + 1); named R; field.
Qed.

(* The claim: on multipliers that are not negative the function is largest at some place where all
   its slopes vanish. *)
Definition largest_where_flat : Prop := exists l, [/\ forall x y, 0 <= l x y,
  forall l', (forall x y, 0 <= l' x y) -> dual l' <= dual l &
  forall x y, gt x y -> slope l x y = 0].
End Dual.

(* With prefix closure the claim is true; the largest value is the squared norm of the solution, and
   every constraint is tight. *)
Theorem equation_16_closed (R : realFieldType) (V : finType) n data (W : V -> V -> R) q
    (gt := aboveb n data q) :
  assumption_1 n (samples data) -> closure (samples data) -> solves3 n data W ->
  [/\ exists l, [/\ forall x y, 0 <= l x y, dual gt l = norm2 (W q) &
        forall x y, gt x y -> slope gt l x y = 0],
      forall l, (forall x y, 0 <= l x y) -> dual gt l <= norm2 (W q) &
      forall x y, gt x y -> W q x - W q y = 1].
Proof.
move=> asm1 closed sol; have clear : unconfused gt by exact: (unconfused_order asm1).
have solq : solves gt (W q) by move/columns: (sol); apply.
have [_ tight _] := closed_data R asm1 closed; split=> [|l l0|x y /aboveP xy].
- exists (fun _ _ => 1 / (#|opts gt|%:R + #|nons gt|%:R)).
  have l0 : 0 <= 1 / (#|opts gt|%:R + #|nons gt|%:R) :> R.
    by rewrite divr_ge0 ?ler01 ?addr_ge0 ?ler0n.
  have flat x y := complete_flat (x := x) (y := y) R (closed_complete asm1 closed (q := q)).
  have [[best _] -> _] := flat_solves clear (fun x y _ => l0) flat; split=> //.
  by apply: eq_bigr => x _; rewrite (uniqueness solq best).
- by apply: dual_bound => //; case: solq.
exact: tight sol _ _ _ xy.
Qed.

Definition equation_16 (R : realFieldType) : Prop :=
  forall (V : finType) n data, assumption_1 n (samples data) ->
  forall q, @largest_where_flat R V (aboveb n data q).
