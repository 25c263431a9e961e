(* Matrices by their columns, their inner product and Frobenius norm; normalised gradient descent,
   with the two bounds on its norm that Lemmas 1 and 6 need. *)
From Coq Require Import Ring Field.
From mathcomp Require Import all_ssreflect all_algebra.
From Companion Require Import Fields MaxMargin.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Section Inner.
Variables (R : realFieldType) (V : finType).
Implicit Types (W U : V -> V -> R).
Add Field scores : (is_field R).
Ltac calc := named R; ring.

Definition inner W U : R := \sum_q dot (W q) (U q).
Definition Norm2 W : R := inner W W.

Lemma innerC W U : inner W U = inner U W.
Proof. by apply: eq_bigr => q _; apply: eq_bigr => x _; rewrite mulrC. Qed.

Lemma inner_add W U c U' : inner W (fun q x => U q x + c * U' q x) = inner W U + c * inner W U'.
Proof. by rewrite mulr_sumr -big_split; apply: eq_bigr => q _; rewrite dotD dotZ. Qed.

Lemma inner_scale W c U : inner W (fun q x => c * U q x) = c * inner W U.
Proof. by rewrite mulr_sumr; apply: eq_bigr => q _; rewrite dotZ. Qed.

Lemma eq_inner W W' U U' : (forall q, W q =1 W' q) -> (forall q, U q =1 U' q) ->
  inner W U = inner W' U'.
Proof. by move=> eW eU; apply: eq_bigr => q _; apply: eq_bigr => x _; rewrite eW eU. Qed.

Lemma Norm2_ge0 W : 0 <= Norm2 W.
Proof. by apply: sumr_ge0 => q _; apply: norm2_ge0. Qed.

Lemma Norm2_eq0 W : Norm2 W = 0 -> forall q x, W q x = 0.
Proof.
move/eqP; rewrite psumr_eq0 => [/allP zero q|q _]; last exact: norm2_ge0.
by apply: norm2_eq0; apply/eqP/(zero q (mem_index_enum q)).
Qed.

Lemma Norm2_add W c U :
  Norm2 (fun q x => W q x + c * U q x) = Norm2 W + 2%:R * c * inner W U + c ^+ 2 * Norm2 U.
Proof.
pose X q x := W q x + c * U q x; rewrite -/X /Norm2.
rewrite [LHS](inner_add X W c U) (innerC X W) (innerC X U) !inner_add (innerC U W).
by move: (inner W W) (inner W U) (inner U U) => a b d; calc.
Qed.

Lemma cauchy_schwarz W U : inner W U ^+ 2 <= Norm2 W * Norm2 U.
Proof.
have [zero|U0] := eqVneq (Norm2 U) 0.
  rewrite zero mulr0 (_ : inner W U = 0) ?expr0n ?lexx //.
  by apply: big1 => q _; apply: big1 => x _; rewrite (Norm2_eq0 zero) mulr0.
have pos : 0 < Norm2 U by rewrite lt_neqAle eq_sym U0 Norm2_ge0.
rewrite -subr_ge0; have := Norm2_ge0 (fun q x => W q x + - (inner W U / Norm2 U) * U q x).
rewrite Norm2_add -(pmulr_rge0 _ pos); congr (0 <= _).
by move/eqP: U0; move: (Norm2 W) (inner W U) (Norm2 U) => a b d d0; named R; field.
Qed.
End Inner.

Section Norm.
Variables (R : rcfType) (V : finType).
Implicit Types (W U : V -> V -> R).
Add Field scores2 : (is_field R).

Definition norm W : R := Num.sqrt (Norm2 W).

Lemma norm_ge0 W : 0 <= norm W.
Proof. exact: sqrtr_ge0. Qed.
Lemma norm_sqr W : norm W ^+ 2 = Norm2 W.
Proof. by rewrite sqr_sqrtr ?Norm2_ge0. Qed.

Lemma eq_norm W U : (forall q, W q =1 U q) -> norm W = norm U.
Proof. by move=> e; congr Num.sqrt; apply: eq_inner. Qed.

Lemma norm_scale c W : norm (fun q x => c * W q x) = `|c| * norm W.
Proof.
rewrite /norm -sqrtr_sqr -sqrtrM ?sqr_ge0 //; congr Num.sqrt.
rewrite /Norm2 /inner mulr_sumr; apply: eq_bigr => q _; rewrite mulr_sumr.
by apply: eq_bigr => x _; rewrite mulrACA expr2.
Qed.

Lemma norm_le W c : 0 <= c -> Norm2 W <= c ^+ 2 -> norm W <= c.
Proof. by move=> c0 /ler_wsqrtr; rewrite sqrtr_sqr ger0_norm. Qed.

Lemma inner_norm_abs W U : `|inner W U| <= norm W * norm U.
Proof.
rewrite -sqrtr_sqr /norm -sqrtrM ?Norm2_ge0 //; apply: ler_wsqrtr; exact: cauchy_schwarz.
Qed.

Lemma inner_norm W U : inner W U <= norm W * norm U.
Proof. exact: le_trans (ler_norm _) (inner_norm_abs W U). Qed.

Lemma norm_add W c U : 0 <= c -> norm (fun q x => W q x + c * U q x) <= norm W + c * norm U.
Proof.
move=> c0; apply: norm_le; first by rewrite addr_ge0 ?mulr_ge0 ?norm_ge0.
rewrite Norm2_add sqrrD exprMn !norm_sqr ler_add2r ler_add2l -[leRHS]mulr_natl.
by rewrite -[2%:R * c * _]mulrA ler_pmul2l ?ltr0n // [norm W * _]mulrCA ler_wpmul2l ?inner_norm.
Qed.

Lemma norm_sum (I : Type) (s : seq I) (c : I -> R) (M : I -> V -> V -> R) :
  (forall i, 0 <= c i) ->
  norm (fun q x => \sum_(i <- s) c i * M i q x) <= \sum_(i <- s) c i * norm (M i).
Proof.
move=> c0; elim: s => [|i s IH].
  rewrite big_nil; apply: norm_le => //; rewrite expr0n /Norm2 /inner big1 // => q _.
  by apply: big1 => x _; rewrite big_nil mul0r.
rewrite big_cons (eq_norm (U := fun q x => \sum_(j <- s) c j * M j q x + c i * M i q x)).
  by apply: le_trans (norm_add _ _ (c0 i)) _; rewrite addrC ler_add2l.
by move=> q x; rewrite big_cons addrC.
Qed.
End Norm.

(* W(t+1) = W(t) - eta G / |G|, where G is the gradient at W(t). *)
Section Descent.
Variables (R : rcfType) (V : finType) (grad : (V -> V -> R) -> V -> V -> R) (eta : R).
Variable start : V -> V -> R.
Hypothesis eta0 : 0 <= eta.
Add Field scores3 : (is_field R).

Fixpoint descent (t : nat) : V -> V -> R :=
  if t is t'.+1 then fun q x =>
    descent t' q x - eta * (grad (descent t') q x / norm (grad (descent t')))
  else start.

Definition direction t : V -> V -> R :=
  fun q x => - (grad (descent t) q x / norm (grad (descent t))).

Lemma descentS t q x : descent t.+1 q x = descent t q x + eta * direction t q x.
Proof. by rewrite /= mulrN. Qed.

Lemma norm_direction t : norm (direction t) <= 1.
Proof.
set g := grad (descent t); have [zero|g0] := eqVneq (norm g) 0.
  rewrite (eq_norm (U := fun q x => 0 * g q x)) => [|q x]; last first.
    by rewrite /direction -/g zero invr0 mulr0 oppr0 mul0r.
  by rewrite norm_scale zero mulr0 ler01.
rewrite (eq_norm (U := fun q x => - (norm g)^-1 * g q x)) => [|q x]; last first.
  by rewrite /direction -/g mulNr mulrC.
by rewrite norm_scale normrN normfV ger0_norm ?norm_ge0 // mulVf.
Qed.

(* The norm is at most |W(0)| + t eta; ... *)
Theorem norm_upper t : norm (descent t) <= t%:R * eta + norm start.
Proof.
elim: t => [|t IH]; first by rewrite mul0r add0r.
rewrite (eq_norm (descentS t)); apply: le_trans (norm_add _ _ eta0) _.
rewrite -[t.+1]addn1 natrD mulrDl mul1r addrAC ler_add //.
by rewrite ler_pimulr // norm_direction.
Qed.

(* ... and if every gradient has a part c |G| against U, then W(t) advances along U. *)
Theorem norm_lower U c t :
  (forall i, (i < t)%N -> 0 < norm (grad (descent i)) /\
     c * norm (grad (descent i)) <= - inner (grad (descent i)) U) ->
  t%:R * eta * c - norm start * norm U <= norm (descent t) * norm U.
Proof.
move=> part; suff advance : t%:R * eta * c + inner start U <= inner (descent t) U.
  apply: le_trans (inner_norm (descent t) U); apply: le_trans advance.
  by rewrite ler_add2l (lerNnormlW (inner_norm_abs start U)).
elim: t part => [|t IH] part; first by rewrite mul0r mul0r add0r.
have [g0 le] := part t (ltnSn t); have {}IH := IH (fun i it => part i (ltnW it)).
have step : c <= inner (direction t) U.
  have -> : inner (direction t) U =
      - inner (grad (descent t)) U / norm (grad (descent t)).
    rewrite [LHS]innerC [inner _ U]innerC mulNr -mulrN mulrC -inner_scale.
    by apply: eq_inner => // q x; rewrite /direction mulNr mulrC.
  by rewrite ler_pdivl_mulr.
have -> : inner (descent t.+1) U = inner (descent t) U + eta * inner (direction t) U.
  rewrite ![inner _ U]innerC -inner_add; apply: eq_inner => // q x; exact: descentS.
rewrite -[t.+1]addn1 natrD !mulrDl mul1r addrAC; apply: ler_add => //.
by rewrite ler_wpmul2l.
Qed.
End Descent.
