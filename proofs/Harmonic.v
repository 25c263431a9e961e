(* Two inequalities behind the rate of stage 2: the harmonic inequality, first for one query and any
   bipartite order, then for the matrix of (3); and the pointwise inequality of the descent lemma.
   Page: huang2024_s5_late_phase; labels ours-harmonic, ours-descent-pointwise. *)
From Coq Require Import Ring Field.
From mathcomp Require Import all_ssreflect all_algebra.
From Companion Require Import Fields Orders MaxMargin Frobenius Matrix.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Section Harmonic.
Variables (R : realFieldType) (T : finType) (gt : rel T) (p : T -> T -> R).
Hypotheses (clear : unconfused gt) (p_ge0 : forall x y, 0 <= p x y).
Hypothesis on_pairs : forall x y, ~~ gt x y -> p x y = 0.
Implicit Types (w : T -> R) (x y : T).
Add Field scores : (is_field R).
Ltac calc := named R; ring.

(* The vector B' p, each pair pulling its two tokens apart by its weight, and G = B B' p, its
   margins. *)
Definition pull x : R := \sum_y p x y - \sum_y p y x.
Definition G x y : R := pull x - pull y.

(* The product of the pull with any vector is the weighted sum of its margins. *)
Lemma dot_pull w : dot w pull = \sum_x \sum_y p x y * (w x - w y).
Proof.
rewrite /dot (eq_bigr (fun x => \sum_y p x y * w x - \sum_y p y x * w x)) => [|x _]; last first.
  by rewrite /pull mulrBr !mulr_sumr; congr (_ - _); apply: eq_bigr => y _; rewrite mulrC.
rewrite sumrB [X in _ - X]exchange_big -sumrB; apply: eq_bigr => x _; rewrite -sumrB.
by apply: eq_bigr => y _; rewrite mulrBr.
Qed.

Let above x : R := \sum_y p x y.
Let under y : R := \sum_x p x y.

Lemma above_ge0 x : 0 <= above x. Proof. by apply: sumr_ge0. Qed.
Lemma under_ge0 y : 0 <= under y. Proof. by apply: sumr_ge0. Qed.

Lemma pull_opts x : x \in opts gt -> pull x = above x.
Proof.
move=> xo; rewrite /pull [X in _ - X]big1 ?subr0 // => y _; apply: on_pairs.
by apply: contra (clear xo); apply: gt_nons.
Qed.
Lemma pull_nons y : y \in nons gt -> pull y = - under y.
Proof.
move=> yn; rewrite /pull [X in X - _]big1 ?sub0r // => x _; apply: on_pairs.
by apply: contra (nons_opts clear yn); apply: gt_opts.
Qed.

Lemma GE x y : gt x y -> G x y = above x + under y.
Proof. by move=> xy; rewrite /G (pull_opts (gt_opts xy)) (pull_nons (gt_nons xy)) opprK. Qed.

(* One pair, by Cauchy. It needs no sign of the scores. *)
Lemma one_pair (a b u v : R) : 0 < a -> 0 < b -> 1 <= u - v ->
  1 / (a + b) <= u ^+ 2 / a + v ^+ 2 / b.
Proof.
move=> a0 b0 uv; have ab := addr_gt0 a0 b0; rewrite ler_pdivr_mulr // -subr_ge0.
have -> : (u ^+ 2 / a + v ^+ 2 / b) * (a + b) - 1 =
    (u * b + v * a) ^+ 2 / (a * b) + ((u - v) ^+ 2 - 1).
  move: a0 b0 => /lt0r_neq0 /eqP a0 /lt0r_neq0 /eqP b0.
  by named R; field.
apply: addr_ge0; first by rewrite divr_ge0 ?sqr_ge0 // mulr_ge0 ?ltW.
by rewrite subr_ge0 exprn_ege1.
Qed.

(* Lemma H, for every feasible vector, of which the shortest is the max-margin solution. *)
Theorem harmonic w : feasible gt w ->
  \sum_x \sum_(y | p x y != 0) p x y / G x y <= norm2 w.
Proof.
move=> feas; have share_up x y : p x y != 0 -> 0 < above x.
  move=> pxy; rewrite /above (bigD1 y) //= ltr_paddr ?lt_neqAle 1?eq_sym ?pxy ?p_ge0 //.
  by apply: sumr_ge0.
have share_low x y : p x y != 0 -> 0 < under y.
  move=> pxy; rewrite /under (bigD1 x) //= ltr_paddr ?lt_neqAle 1?eq_sym ?pxy ?p_ge0 //.
  by apply: sumr_ge0.
have term x y : (if p x y != 0 then p x y / G x y else 0) <=
    w x ^+ 2 * (p x y / above x) + w y ^+ 2 * (p x y / under y).
  case: (eqVneq (p x y) 0) => [->|pxy] /=; first by rewrite !mul0r !mulr0 addr0.
  have xy : gt x y by apply: contraNT pxy => /on_pairs ->.
  have := one_pair (share_up _ _ pxy) (share_low _ _ pxy) (feas x y xy).
  move=> /(ler_wpmul2l (p_ge0 x y)); rewrite GE // mul1r => le; apply: le_trans le _.
  by rewrite le_eqVlt; apply/orP; left; apply/eqP; calc.
have -> : \sum_x \sum_(y | p x y != 0) p x y / G x y =
    \sum_x \sum_y (if p x y != 0 then p x y / G x y else 0).
  by apply: eq_bigr => x _; rewrite big_mkcond.
apply: le_trans (_ : \sum_x \sum_y (w x ^+ 2 * (p x y / above x) + w y ^+ 2 * (p x y / under y))
  <= _); first by apply: ler_sum => x _; apply: ler_sum => y _.
have -> : \sum_x \sum_y (w x ^+ 2 * (p x y / above x) + w y ^+ 2 * (p x y / under y)) =
    \sum_x w x ^+ 2 * (above x / above x) + \sum_y w y ^+ 2 * (under y / under y).
  rewrite [X in _ = _ + X](_ : _ = \sum_x \sum_y w y ^+ 2 * (p x y / under y)).
    rewrite -big_split; apply: eq_bigr => x _; rewrite big_split; congr (_ + _).
    by rewrite {1}/above mulr_suml mulr_sumr.
  rewrite exchange_big; apply: eq_bigr => y _ /=.
  by rewrite {1}/under mulr_suml mulr_sumr.
rewrite -big_split; apply: ler_sum => x _ /=; rewrite -expr2 -mulrDr -[leRHS]mulr1.
apply: ler_wpmul2l; first exact: sqr_ge0.
have le1 (b : R) : b / b <= 1.
  by have [->|b0] := eqVneq b 0; rewrite ?mul0r ?ler01 // divff.
have [xo|xo] := boolP (x \in opts gt).
  rewrite [under x](_ : _ = 0) ?mul0r ?addr0 // /under big1 // => y _; apply: on_pairs.
  by apply: contra (clear xo); apply: gt_nons.
rewrite [above x](_ : _ = 0) ?mul0r ?add0r // /above big1 // => y _; apply: on_pairs.
by apply: contra xo; apply: gt_opts.
Qed.
End Harmonic.

(* Equality at the multipliers of the solution (scaled to any total). *)
Theorem harmonic_equality (R : realFieldType) (T : finType) (gt : rel T) (w : T -> R) l :
  unconfused gt -> certificate gt w l ->
  \sum_x \sum_(y | l x y != 0) l x y / G l x y = norm2 w.
Proof.
move=> clear [_ tight sums]; rewrite /norm2 (dot_margins w sums); apply: eq_bigr => x _.
rewrite big_mkcond; apply: eq_bigr => y _; have [->|/tight [xy w1]] /= := eqVneq (l x y) 0.
  by rewrite mul0r.
by rewrite /G /pull -!sums w1 divr1 mulr1.
Qed.

(* Lemma H as the page has it: the pairs are matrices, p is a distribution on the pairs of all
   queries, W solves (3). *)
Section Matrices.
Variables (R : realFieldType) (V : finType) (n : V -> V) (data : seq (seq V * V)).
Variables (p : V -> V -> V -> R) (W : V -> V -> R).
Notation order q := (aboveb n data q).
Hypothesis asm1 : assumption_1 n (samples data).
Hypotheses (p_ge0 : forall q x y, 0 <= p q x y).
Hypothesis on_pairs : forall q x y, ~~ order q x y -> p q x y = 0.
Hypothesis total : \sum_q \sum_x \sum_y p q x y = 1.
Hypothesis solution : solves3 n data W.

(* B_e = (e_x - e_y) e_q', the mean of the pairs, and the margin G_e that it gives a pair. *)
Definition pair q x y : V -> V -> R :=
  fun q' v => if q' == q then (v == x)%:R - (v == y)%:R else 0.
Definition mean : V -> V -> R :=
  fun q' v => \sum_q \sum_x \sum_y p q x y * pair q x y q' v.
Definition margin q x y : R := inner (pair q x y) mean.

Lemma inner_pair U q x y : inner (pair q x y) U = U q x - U q y.
Proof.
have at_ (w : V -> R) v : \sum_z (z == v)%:R * w z = w v.
  rewrite (bigD1 v) //= eqxx mul1r big1 ?addr0 // => z /negbTE ->; exact: mul0r.
rewrite /inner (bigD1 q) //= [X in _ + X]big1 ?addr0 => [|q' /negbTE ne]; last first.
  by apply: big1 => z _; rewrite /pair ne mul0r.
rewrite /dot /pair eqxx -(at_ (U q) x) -(at_ (U q) y) -sumrB.
by apply: eq_bigr => z _; rewrite mulrBl.
Qed.

Lemma mean_pull q v : mean q v = pull (p q) v.
Proof.
rewrite /mean (bigD1 q) //= [X in _ + X]big1 ?addr0 => [|q' /negbTE ne]; last first.
  by apply: big1 => x _; apply: big1 => y _; rewrite /pair eq_sym ne mulr0.
have -> : \sum_x \sum_y p q x y * pair q x y q v =
    \sum_x \sum_y p q x y * (v == x)%:R - \sum_x \sum_y p q x y * (v == y)%:R.
  rewrite -sumrB; apply: eq_bigr => x _; rewrite -sumrB; apply: eq_bigr => y _.
  by rewrite /pair eqxx mulrBr.
congr (_ - _).
  rewrite (bigD1 v) //= [X in _ + X]big1 ?addr0 => [|x /negbTE ne]; last first.
    by apply: big1 => y _; rewrite eq_sym ne mulr0.
  by apply: eq_bigr => y _; rewrite eqxx mulr1.
apply: eq_bigr => x _; rewrite (bigD1 v) //= eqxx mulr1 big1 ?addr0 // => y /negbTE ne.
by rewrite eq_sym ne mulr0.
Qed.

Lemma marginE q x y : margin q x y = G (p q) x y.
Proof. by rewrite /margin inner_pair !mean_pull. Qed.

(* Pairs of different queries are orthogonal, so that the queries add up. *)
Theorem lemma_H :
  \sum_q \sum_x \sum_(y | p q x y != 0) p q x y / margin q x y <= Norm2 W.
Proof.
have /feasible3P feas := solution.1; apply: ler_sum => q _.
have clear : unconfused (order q) by move=> x; apply: unconfused_order asm1 _ x.
have := harmonic clear (p_ge0 q) (@on_pairs q) (feas q).
congr (_ <= _); apply: eq_bigr => x _; apply: eq_bigr => y _; by rewrite marginE.
Qed.

(* Where the mean of the pairs is W / |W|^2, the pairs in use are tight, ... *)
Lemma mean_tight : (forall q v, mean q v = W q v / Norm2 W) ->
  Norm2 W != 0 /\ forall q x y, p q x y != 0 -> W q x - W q y = 1.
Proof.
move=> along; have /feasible3P feas := solution.1.
have room q x y : 0 <= p q x y * (W q x - W q y - 1).
  have [xy|/on_pairs ->] := boolP (order q x y); last by rewrite mul0r.
  by rewrite mulr_ge0 // subr_ge0 feas.
have S0 : Norm2 W != 0.
  apply/eqP => /Norm2_eq0 zero; have := oner_neq0 R; rewrite -total big1 ?eqxx // => q _.
  apply: big1 => x _; apply: big1 => y _; have [xy|/on_pairs //] := boolP (order q x y).
  by have := feas q x y xy; rewrite !zero subrr ler10.
split=> // q x y pxy; suff /eqP : p q x y * (W q x - W q y - 1) = 0.
  by rewrite mulf_eq0 (negbTE pxy) subr_eq0 => /eqP.
have sum0 : \sum_q \sum_x \sum_y p q x y * (W q x - W q y - 1) = 0.
  have -> : \sum_q \sum_x \sum_y p q x y * (W q x - W q y - 1) =
      \sum_q \sum_x \sum_y p q x y * (W q x - W q y) - \sum_q \sum_x \sum_y p q x y.
    rewrite -sumrB; apply: eq_bigr => q' _; rewrite -sumrB; apply: eq_bigr => x' _.
    by rewrite -sumrB; apply: eq_bigr => y' _; rewrite mulrBr mulr1.
  rewrite total; suff -> : \sum_q \sum_x \sum_y p q x y * (W q x - W q y) = inner W mean.
    rewrite /inner (eq_bigr (fun q => norm2 (W q) / Norm2 W)) => [|q' _]; last first.
      rewrite /norm2 /dot mulr_suml; apply: eq_bigr => v _.
      by rewrite along mulrA.
    by rewrite -mulr_suml divff ?subrr.
  rewrite /inner; apply: eq_bigr => q' _; rewrite -(dot_pull (p q') (W q')).
  by apply: eq_bigr => v _; rewrite mean_pull.
have inner0 q' : 0 <= \sum_x \sum_y p q' x y * (W q' x - W q' y - 1).
  by apply: sumr_ge0 => x' _; apply: sumr_ge0.
have /psumr_eq0P := sum0 => /(_ (fun q' _ => inner0 q') q isT) sum_q.
have inner1 x' : 0 <= \sum_y p q x' y * (W q x' - W q y - 1) by apply: sumr_ge0.
have /psumr_eq0P := sum_q => /(_ (fun x' _ => inner1 x') x isT) sum_x.
by have /psumr_eq0P := sum_x => /(_ (fun y' _ => room q x y') y isT).
Qed.

(* ... and the inequality is an equality. *)
Theorem lemma_H_equality : (forall q v, mean q v = W q v / Norm2 W) ->
  \sum_q \sum_x \sum_(y | p q x y != 0) p q x y / margin q x y = Norm2 W.
Proof.
move=> along; have [S0 tight] := mean_tight along.
rewrite -[RHS]mulr1 -total mulr_sumr; apply: eq_bigr => q _.
rewrite mulr_sumr; apply: eq_bigr => x _; rewrite mulr_sumr big_mkcond; apply: eq_bigr => y _ /=.
have [->|/tight w1] := eqVneq (p q x y) 0; first by rewrite mulr0.
by rewrite /margin inner_pair !along -mulrBl w1 div1r invrK mulrC.
Qed.
End Matrices.

(* Lemma D, pointwise: z is G / gamma^2 - 1, S the squared norm, t the step by the norm. *)
Section Pointwise.
Variable R : realFieldType.
Add Field scores2 : (is_field R).

Theorem pointwise (z t S : R) (c := (1 - t) / (1 - t + 2%:R * t * S)) :
  -1 < z -> z <= 2%:R * S - 1 -> 1 / 2%:R <= S -> 0 < t -> t <= 1 ->
  c * z + (1 - c) * (z / (1 + z)) <= z / (1 + t * z).
Proof.
move=> z1 zS S2 t0 t1; have two : 0 < 2%:R :> R by rewrite ltr0n.
have z0 : 0 < 1 + z by rewrite -ltr_subl_addl sub0r.
have S0 : 0 < S by apply: lt_le_trans S2; rewrite divr_gt0 ?ltr01.
have tz0 : 0 < 1 + t * z.
  rewrite (_ : 1 + t * z = (1 - t) + t * (1 + z)); last by named R; ring.
  by rewrite ltr_paddl ?subr_ge0 // mulr_gt0.
have d0 : 0 < 1 - t + 2%:R * t * S by rewrite ltr_paddl ?subr_ge0 // !mulr_gt0.
have c0 : 0 <= c by rewrite divr_ge0 ?subr_ge0 // ltW.
have bracket : 0 <= 1 - c - t - c * t * z.
  have <- : 1 - c - t - c * t * (2%:R * S - 1) = 0.
    move: d0 => /lt0r_neq0 /eqP; rewrite /c; move: 2%:R => b d0; named R; field.
    by [].
  by rewrite ler_add2l ler_opp2 ler_wpmul2l // mulr_ge0 // ltW.
rewrite -subr_ge0.
have -> : z / (1 + t * z) - (c * z + (1 - c) * (z / (1 + z))) =
    z ^+ 2 * (1 - c - t - c * t * z) / ((1 + z) * (1 + t * z)).
  move: z0 tz0 => /lt0r_neq0 /eqP z0 /lt0r_neq0 /eqP tz0; move: c {c0 bracket} => c.
  by named R; field.
by apply: divr_ge0; [rewrite mulr_ge0 ?sqr_ge0 | rewrite mulr_ge0 ?ltW].
Qed.
End Pointwise.
