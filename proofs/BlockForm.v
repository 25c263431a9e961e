(* The block form of the solution of (15), for every order without confused tokens.
   Page: huang2024_s6_max_margin, label ours-block-form.

   The proof uses neither multipliers nor components. If a change d leaves all tight pairs tight,
   one can go along d and back, so the solution is orthogonal to d. The theorem is what this says
   for four choices of d. *)
From Coq Require Import Ring Field.
From mathcomp Require Import all_ssreflect all_algebra.
From Companion Require Import Fields MaxMargin.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Section Blocks.
Variables (R : realFieldType) (T : finType) (gt : rel T).
Implicit Types (w d : T -> R) (x y : T).
Add Field scores : (is_field R).
Ltac calc := named R; ring.
Notation opts := (opts gt).
Notation nons := (nons gt).

(* Finitely many positive numbers have a positive lower bound. *)
Lemma positive_bound (I : finType) (f : I -> R) :
  exists2 e, 0 < e & forall i, 0 < f i -> e <= f i.
Proof.
suff [e e0 low] : exists2 e, 0 < e & forall i, i \in enum I -> 0 < f i -> e <= f i.
  by exists e => // i; apply: low; rewrite mem_enum.
elim: (enum I) => [|i s [e e0 low]]; first by exists 1.
have [fi|fi] := ltrP 0 (f i); last first.
  by exists e => // j; rewrite inE => /predU1P [->|/low //]; rewrite ltNge fi.
exists (Num.min e (f i)) => [|j]; first by rewrite lt_minr e0.
by rewrite inE le_minl => /predU1P [-> _|/low le /le ->]; rewrite ?lexx ?orbT.
Qed.

Definition keeps_tight w d : Prop := forall x y, gt x y -> w x - w y = 1 -> d x = d y.

Lemma free_direction w d : solves gt w -> keeps_tight w d -> dot w d = 0.
Proof.
move=> sol keeps; have feas := sol.1.
(* A step of length e or less uses up no slack. *)
pose room (p : T * T) := (w p.1 - w p.2 - 1) / (1 + `|d p.1 - d p.2|).
have [e e0 low] := positive_bound room.
have step s : `|s| <= e -> feasible gt (fun x => w x + s * d x).
  move=> se x y xy; rewrite -subr_ge0; have := feas x y xy.
  have -> : w x + s * d x - (w y + s * d y) - 1 = w x - w y - 1 + s * (d x - d y) by calc.
  rewrite -subr_ge0 le0r => /predU1P [tight|slack].
    rewrite tight add0r (keeps x y xy) ?subrr ?mulr0 //.
    by apply/eqP; rewrite -subr_eq0 tight.
  have pos : 0 < 1 + `|d x - d y| by rewrite ltr_paddr ?ler0n.
  have := low (x, y); rewrite /room /= divr_gt0 // ler_pdivl_mulr // => /(_ isT) le.
  rewrite -[s * _]opprK subr_ge0 -mulNr; apply: le_trans le.
  rewrite (le_trans (ler_norm _)) // normrM normrN.
  by apply: ler_pmul => //; rewrite ler_addr.
have along s : `|s| <= e -> 0 <= s * dot w d.
  move=> /step /(solves_stationary sol); rewrite -dotZ; congr (0 <= _).
  by apply: eq_bigr => x _; congr (_ * _); calc.
apply/eqP; rewrite eq_le; have := along e; have := along (- e).
by rewrite normrN gtr0_norm // mulNr oppr_ge0 pmulr_rle0 // pmulr_rge0 // => -> // ->.
Qed.

(* First choice: the indicator of a token that is not compared. *)
Theorem not_compared w x : solves gt w -> x \notin opts -> x \notin nons -> w x = 0.
Proof.
move=> sol xo xn; have := @free_direction w (fun y => (y == x)%:R) sol.
rewrite /dot (bigD1 x) //= eqxx mulr1 big1 ?addr0 => [|y /negbTE ->]; last by rewrite mulr0.
apply=> y z yz _; have /negbTE -> : y != x by apply: contraNneq xo => <-; apply: gt_opts yz.
by have /negbTE -> : z != x by apply: contraNneq xn => <-; apply: gt_nons yz.
Qed.

Section Solution.
Variable w : T -> R.
Hypotheses (sol : solves gt w) (clear : unconfused gt).

(* The block of level z: the optimal tokens that score 1 + z, the non-optimal ones that score z. *)
Definition upper z : {set T} := [set x in opts | w x == 1 + z].
Definition lower z : {set T} := [set y in nons | w y == z].
Let up z : R := #|upper z|%:R.
Let lo z : R := #|lower z|%:R.

Lemma in_upper x z : (x \in upper z) = (x \in opts) && (w x == 1 + z).
Proof. by rewrite inE. Qed.
Lemma in_lower y z : (y \in lower z) = (y \in nons) && (w y == z).
Proof. by rewrite inE. Qed.

(* Second choice: the indicator of a block. Its scores add up to zero. *)
Lemma balance z : up z * (1 + z) + lo z * z = 0.
Proof.
have <- : dot w (fun x => ((x \in upper z) || (x \in lower z))%:R) = up z * (1 + z) + lo z * z.
  have sum (X : {set T}) b : #|X|%:R * b = \sum_x (if x \in X then b else 0) :> R.
    by rewrite -big_mkcond sumr_const mulr_natl.
  rewrite !sum -big_split; apply: eq_bigr => x _ /=; rewrite in_upper in_lower.
  have [/clear /negbTE -> /=|_ /=] := boolP (x \in opts).
    by rewrite orbF addr0; have [->|_] := eqVneq (w x) (1 + z); rewrite ?mulr1 ?mulr0.
  rewrite add0r; case: (x \in nons) => /=; last by rewrite mulr0.
  by have [->|_] := eqVneq (w x) z; rewrite ?mulr1 ?mulr0.
apply: free_direction => // x y xy tight; congr (nat_of_bool _)%:R.
have xo := gt_opts xy; have yn := gt_nons xy.
rewrite !in_upper !in_lower xo yn (negbTE (clear xo)) (negbTE (nons_opts clear yn)) /= orbF.
by have -> : w x = 1 + w y; [rewrite -tight subrK | rewrite (inj_eq (addrI 1))].
Qed.

(* So the numbers of a block give its level. *)
Lemma level_value z : 0 < up z + lo z -> z = - (up z / (up z + lo z)).
Proof.
move=> /lt0r_neq0 km; apply: (canRL opprK); apply: (canRL (mulfK km)).
by apply/eqP; rewrite -subr_eq0 -oppr_eq0 -(balance z); apply/eqP; calc.
Qed.

Let own_upper x : x \in opts -> x \in upper (w x - 1).
Proof. by move=> xo; rewrite in_upper xo addrC subrK eqxx. Qed.
Let own_lower y : y \in nons -> y \in lower (w y).
Proof. by move=> yn; rewrite in_lower yn eqxx. Qed.
Let some (X : {set T}) x : x \in X -> 0 < #|X|%:R :> R.
Proof. by move=> xX; rewrite ltr0n; apply/card_gt0P; exists x. Qed.

Lemma opts_lt1 x : x \in opts -> w x < 1.
Proof.
move=> /own_upper /some k0; have km := ltr_paddr (ler0n R #|lower (w x - 1)|) k0.
by rewrite -subr_lt0 (level_value km) oppr_lt0 divr_gt0.
Qed.

Lemma nons_gtN1 y : y \in nons -> -1 < w y.
Proof.
move=> /own_lower /some m0; have km := ltr_paddl (ler0n R #|upper (w y)|) m0.
by rewrite (level_value km) ltr_opp2 ltr_pdivr_mulr // mul1r ltr_addl.
Qed.

(* Optimal tokens score more than zero, non-optimal ones less: no block has one role only. *)
Theorem opts_gt0 x : x \in opts -> 0 < w x.
Proof.
case/optsP=> y xy; have := nons_gtN1 (gt_nons xy); rewrite -subr_gt0 opprK => pos.
by apply: lt_le_trans pos _; rewrite addrC -ler_subr_addr; apply: sol.1.
Qed.

Theorem nons_lt0 y : y \in nons -> w y < 0.
Proof.
case/nonsP=> x xy; have := opts_lt1 (gt_opts xy); rewrite -subr_lt0; apply: le_lt_trans.
by rewrite ler_subr_addl -ler_subr_addr; apply: sol.1.
Qed.

Theorem block_form_opts x (k := #|upper (w x - 1)|) (m := #|lower (w x - 1)|) :
  x \in opts -> [/\ (0 < k)%N, (0 < m)%N & w x = m%:R / (k%:R + m%:R)].
Proof.
move=> xo; have k0 := some (own_upper xo).
have km : 0 < k%:R + m%:R :> R by rewrite ltr_paddr ?ler0n.
have wx : w x = m%:R / (k%:R + m%:R).
  rewrite -[LHS](subrK 1) (level_value km) /up /lo -/k -/m; move/lt0r_neq0/eqP: km.
  by move: (k%:R) (m%:R) => a b ab; named R; field.
split=> //; first by rewrite -(ltr0n R).
by rewrite lt0n; apply/eqP => m0; move: (opts_gt0 xo); rewrite wx m0 mul0r ltxx.
Qed.

Theorem block_form_nons y (k := #|upper (w y)|) (m := #|lower (w y)|) :
  y \in nons -> [/\ (0 < k)%N, (0 < m)%N & w y = - (k%:R / (k%:R + m%:R))].
Proof.
move=> yn; have m0 := some (own_lower yn).
have km : 0 < k%:R + m%:R :> R by rewrite ltr_paddl ?ler0n.
split; [|by rewrite -(ltr0n R)|exact: level_value].
rewrite lt0n; apply/eqP => k0; move: (nons_lt0 yn).
by rewrite (level_value km) /up -/k k0 mul0r oppr0 ltxx.
Qed.

(* Third choice: w less the indicator of the optimal tokens. *)
Lemma norm2_opts : norm2 w = \sum_(x in opts) w x.
Proof.
have := @free_direction w (fun x => w x - (x \in opts)%:R) sol; rewrite dotD => zero.
apply/eqP; rewrite -subr_eq0; apply/eqP; rewrite -[RHS]zero.
  congr (_ + _); rewrite -sumrN big_mkcond; apply: eq_bigr => x _.
  by case: ifP => _; rewrite ?mulrN ?mulr1 ?mulr0 ?oppr0.
move=> x y xy tight; rewrite (gt_opts xy) (negbTE (nons_opts clear (gt_nons xy))) subr0.
by rewrite -tight opprB addrC subrK.
Qed.

(* The squared norm, block by block. [levels_of] lists the levels of the blocks. *)
Definition levels_of : seq R := undup [seq w y | y <- enum nons].

Theorem block_form_norm2 : norm2 w = \sum_(z <- levels_of) up z * lo z / (up z + lo z).
Proof.
have level_of x : x \in opts -> w x - 1 \in levels_of.
  move=> xo; have [_ /card_gt0P [y] + _] := block_form_opts xo.
  rewrite in_lower => /andP [yn /eqP <-]; rewrite mem_undup; apply/mapP.
  by exists y => //; rewrite mem_enum.
rewrite norm2_opts.
have -> : \sum_(x in opts) w x = \sum_(x in opts) \sum_(z <- levels_of | w x - 1 == z) w x.
  apply: eq_bigr => x xo; rewrite -big_filter (eq_filter (a2 := pred1 (w x - 1))) => [|z].
    by rewrite filter_pred1_uniq ?undup_uniq ?level_of // big_seq1.
  by rewrite /= eq_sym.
rewrite (exchange_big_dep xpredT) //= big_seq [RHS]big_seq; apply: eq_bigr => z.
rewrite mem_undup => /mapP [y]; rewrite mem_enum => yn zy.
have [k0 m0 _] := block_form_nons yn; rewrite -zy in k0 m0.
have km : 0 < up z + lo z by rewrite ltr_paddr ?ler0n ?ltr0n.
rewrite -mulrA (_ : lo z / (up z + lo z) = 1 + z); last first.
  rewrite [in RHS](level_value km); move/lt0r_neq0/eqP: km.
  by move: (up z) (lo z) => a b ab; named R; field.
rewrite /up mulr_natl -sumr_const; apply: eq_big => [x|x].
  by rewrite [RHS]inE subr_eq addrC.
by case/andP=> _ /eqP <-; rewrite addrC subrK.
Qed.
End Solution.
End Blocks.
