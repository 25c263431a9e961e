(* All that the proofs use of the exponential and the logarithm: exp turns sums into products and
   lies above its tangent at zero; log inverts it on positive numbers. The real functions have these
   properties (StdReals.v); everything else about them is derived here. *)
From mathcomp Require Import all_ssreflect all_algebra.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Record exponential (R : rcfType) (exp : R -> R) : Prop := {
  exponential_add : forall c d, exp (c + d) = exp c * exp d;
  exponential_tangent : forall c, 1 + c <= exp c }.

Section Exponential.
Variables (R : rcfType) (exp log : R -> R).
Hypothesis e : exponential exp.
Implicit Types c d : R.

Lemma exp0 : exp 0 = 1.
Proof.
have := exponential_add e 0 0; rewrite addr0 => /eqP.
rewrite -subr_eq0 -[X in X - _]mulr1 -mulrBr mulf_eq0 subr_eq0 => /orP [/eqP zero|/eqP <- //].
by have := exponential_tangent e 0; rewrite zero addr0 ler10.
Qed.

Lemma expN c : exp c * exp (- c) = 1.
Proof. by rewrite -(exponential_add e) subrr exp0. Qed.

Lemma exp_gt0 c : 0 < exp c.
Proof.
have half : exp c = exp (c / 2%:R) ^+ 2.
  by rewrite expr2 -(exponential_add e) -mulr2n -[_ / _ *+ 2]mulr_natr divfK // pnatr_eq0.
rewrite lt_neqAle half sqr_ge0 andbT eq_sym; apply/eqP => zero.
by have /eqP := expN c; rewrite half zero mul0r eq_sym oner_eq0.
Qed.

Lemma exp_le c d : c <= d -> exp c <= exp d.
Proof.
move=> cd; rewrite -[d](subrK c) [d - c + c]addrC (exponential_add e) ler_pemulr //.
  exact/ltW/exp_gt0.
by apply: le_trans (exponential_tangent e _); rewrite ler_addl subr_ge0.
Qed.

Lemma exp_lt c d : c < d -> exp c < exp d.
Proof.
move=> cd; rewrite -[d](subrK c) [d - c + c]addrC (exponential_add e) ltr_pmulr ?exp_gt0 //.
by apply: lt_le_trans (exponential_tangent e _); rewrite ltr_addl subr_gt0.
Qed.

Lemma exp_le_inv c d : exp c <= exp d -> c <= d.
Proof. by move=> le; rewrite leNgt; apply/negP => /exp_lt; rewrite ltNge le. Qed.

Lemma exp_inj : injective exp.
Proof. by move=> c d ecd; apply: le_anti; apply/andP; split; apply: exp_le_inv; rewrite ecd. Qed.

Lemma exp_nat c t : exp (t%:R * c) = exp c ^+ t.
Proof.
elim: t => [|t IH]; first by rewrite mul0r exp0.
by rewrite -addn1 natrD mulrDl mul1r (exponential_add e) IH exprD.
Qed.

(* exp (1/2) <= 2, as exp (-1/2) >= 1 - 1/2. *)
Lemma exp_half : exp 2%:R^-1 <= 2%:R.
Proof.
have half : 2%:R^-1 <= exp (- 2%:R^-1).
  apply: le_trans (exponential_tangent e _).
  by rewrite -ler_subl_addr opprK -mulr2n -[_^-1 *+ 2]mulr_natr mulVf // pnatr_eq0.
have : exp 2%:R^-1 * 2%:R^-1 <= 1.
  by rewrite -[X in _ <= X](expN 2%:R^-1) ler_pmul2l ?exp_gt0.
by rewrite ler_pdivr_mulr ?ltr0n // mul1r.
Qed.

Hypothesis logK : forall c, 0 < c -> exp (log c) = c.

Lemma expK c : log (exp c) = c.
Proof. by apply: exp_inj; rewrite logK ?exp_gt0. Qed.

Lemma log1 : log 1 = 0.
Proof. by rewrite -exp0 expK. Qed.

Lemma log_le_exp c d : 0 < c -> c <= exp d -> log c <= d.
Proof. by move=> c0 le; apply: exp_le_inv; rewrite logK. Qed.

Lemma log_ge_exp c d : 0 < d -> exp c <= d -> c <= log d.
Proof. by move=> d0 le; apply: exp_le_inv; rewrite logK. Qed.

Lemma log_le c d : 0 < c -> c <= d -> log c <= log d.
Proof. by move=> c0 cd; apply: log_le_exp; rewrite ?logK // (lt_le_trans c0). Qed.

Lemma log_inv c : 0 < c -> log c^-1 = - log c.
Proof.
move=> c0; apply: exp_inj; rewrite logK ?invr_gt0 //; apply: (mulfI (lt0r_neq0 c0)).
by rewrite divff ?lt0r_neq0 // -{1}(logK c0) expN.
Qed.

Lemma log_mul c d : 0 < c -> 0 < d -> log (c * d) = log c + log d.
Proof. by move=> c0 d0; apply: exp_inj; rewrite (exponential_add e) !logK ?mulr_gt0. Qed.

Lemma log_div c d : 0 < c -> 0 < d -> log (c / d) = log c - log d.
Proof. by move=> c0 d0; rewrite log_mul ?invr_gt0 // log_inv. Qed.

Lemma log_ge0 c : 1 <= c -> 0 <= log c.
Proof. by move=> c1; rewrite -log1; apply: (log_le ltr01). Qed.

Lemma log1_le c : 0 <= c -> log (1 + c) <= c.
Proof.
by move=> c0; apply: log_le_exp (exponential_tangent e c); rewrite ltr_paddr ?ltr01.
Qed.

(* 1/2 <= log 2. *)
Lemma log_half c : 2%:R <= c -> 2%:R^-1 <= log c.
Proof.
move=> c2; apply: log_ge_exp; first by apply: lt_le_trans c2; rewrite ltr0n.
exact: le_trans exp_half c2.
Qed.
End Exponential.
