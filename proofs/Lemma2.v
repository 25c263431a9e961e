(* Lemma 2 of the first paper: the loss of stage 1 is convex, a matrix off the optimal direction has
   a larger loss than a longer multiple of the optimum, and so the gradient projects on the two.
   Page: huang2024_s5_stage1. *)
From Coq Require Import Ring Field.
From mathcomp Require Import all_ssreflect all_algebra.
From Companion Require Import Fields Exponential MaxMargin Frobenius Stage1 Embedding Stage1Law.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Section Convex.
Variables (R : rcfType) (V : finType) (n : V -> V) (exp log : R -> R).
Add Field numbers : (is_field R).
Hypotheses (e : exponential exp) (logK : forall c, 0 < c -> exp (log c) = c).
Implicit Types W D : V -> V -> R.
Let pos := exp_gt0 e.
Notation loss0 := (loss0 n exp log).
Notation gradient := (gradient n exp).
Notation W_star := (@W_star R V n).
Notation size := (#|V|%:R : R).
Definition Z W x : R := \sum_v exp (W x v).

Lemma Z_gt0 W x : 0 < Z W x. Proof. exact: (total_gt0 pos). Qed.
Lemma lossE W : loss0 W = \sum_x (log (Z W x) - W x (n x)).
Proof.
rewrite /Stage1Law.loss0 -sumrN; apply: eq_bigr => x _.
by rewrite /softmax (log_div e logK) ?pos ?Z_gt0 // (expK e logK) opprB.
Qed.

(* The loss lies above its tangents, so it is convex. *)
Theorem tangent W D : loss0 W + inner (gradient W) D <= loss0 (fun x v => W x v + D x v).
Proof.
rewrite !lossE /inner -big_split; apply: ler_sum => x _ /=.
pose m := \sum_v softmax exp W x v * D x v.
have -> : dot (gradient W x) (D x) = m - D x (n x).
  rewrite /dot /Stage1Law.gradient; under eq_bigr => v _ do rewrite mulrBl.
  rewrite sumrB; congr (_ - _); rewrite (bigD1 (n x)) //= eqxx mul1r big1 ?addr0 // => v /negbTE ->.
  by rewrite mul0r.
rewrite opprD addrACA ler_add2r; set Z' := Z _ x.
have -> : log (Z W x) + m = log (Z W x * exp m).
  by rewrite (log_mul e logK) ?pos ?Z_gt0 // (expK e logK).
apply: (log_le e logK); first by rewrite mulr_gt0 ?pos ?Z_gt0.
have sum1 := softmax_sum pos W x.
apply: le_trans (_ : Z W x * (exp m * \sum_v softmax exp W x v * (1 + (D x v - m))) <= _).
  rewrite (_ : \sum_v _ = 1) ?mulr1 //; under eq_bigr => v _ do rewrite mulrDr mulr1 mulrBr.
  by rewrite big_split /= sum1 sumrB -/m -mulr_suml sum1 mul1r subrr addr0.
rewrite /Z' /Z mulr_sumr mulr_sumr; apply: ler_sum => v _; rewrite (exponential_add e).
have -> : Z W x * (exp m * (softmax exp W x v * (1 + (D x v - m)))) =
    exp (W x v) * (exp m * (1 + (D x v - m))).
  rewrite /softmax -/(Z W x); move: (lt0r_neq0 (Z_gt0 W x)) => /eqP.
  by move: (Z W x) (exp (W x v)) (exp m) (1 + _) => a b c d a0; named R; field.
rewrite ler_pmul2l ?pos //.
have -> : exp (D x v) = exp m * exp (D x v - m) by rewrite -(exponential_add e) addrC subrK.
rewrite ler_pmul2l ?pos //; exact: exponential_tangent e _.
Qed.

Theorem convex W W' (s : R) : 0 <= s -> s <= 1 ->
  loss0 (fun x v => s * W x v + (1 - s) * W' x v) <= s * loss0 W + (1 - s) * loss0 W'.
Proof.
move=> s0 s1; set M := fun x v => _; pose D x v := W x v - W' x v.
have at1 := tangent M (fun x v => (1 - s) * D x v); have at0 := tangent M (fun x v => - s * D x v).
rewrite !inner_scale in at1 at0.
have e1 : loss0 (fun x v => M x v + (1 - s) * D x v) = loss0 W.
  rewrite !lossE; apply: eq_bigr => x _.
  have mE v : M x v + (1 - s) * D x v = W x v by rewrite /M /D; named R; ring.
  by rewrite mE /Z; under eq_bigr => v _ do rewrite mE.
have e0 : loss0 (fun x v => M x v + - s * D x v) = loss0 W'.
  rewrite !lossE; apply: eq_bigr => x _.
  have mE v : M x v + - s * D x v = W' x v by rewrite /M /D; named R; ring.
  by rewrite mE /Z; under eq_bigr => v _ do rewrite mE.
rewrite e1 in at1; rewrite e0 in at0; move: at1 at0.
move: (loss0 M) (inner _ D) (loss0 W) (loss0 W') => c i a b at1 at0.
have <- : s * (c + (1 - s) * i) + (1 - s) * (c + - s * i) = c by named R; ring.
by apply: ler_add; rewrite ler_wpmul2l // subr_ge0.
Qed.

(* So it is for any tokens: their logits are linear in the matrix. *)
Theorem convex_embedded (dim : finType) (E : V -> dim -> R) (W W' : V -> dim -> R) (s : R) :
  0 <= s -> s <= 1 ->
  loss_1 exp log n E (fun v a => s * W v a + (1 - s) * W' v a) <=
  s * loss_1 exp log n E W + (1 - s) * loss_1 exp log n E W'.
Proof.
move=> s0 s1; apply: le_trans (convex (logits E W) (logits E W') s0 s1).
rewrite /loss_1 !lossE le_eqVlt; apply/orP; left; apply/eqP; apply: eq_bigr => x _.
have same v : logits E (fun v a => s * W v a + (1 - s) * W' v a) x v =
    s * logits E W x v + (1 - s) * logits E W' x v.
  rewrite /logits !mulr_sumr -big_split; apply: eq_bigr => a _ /=.
  by rewrite mulrDl !mulrA.
by rewrite same /Z; under eq_bigr => v _ do rewrite same.
Qed.

(* A matrix that is not zero has a margin of r at most, so its loss is not small. *)
Section Ratio.
Hypothesis two_tokens : (1 < #|V|)%N.
Variable W : V -> V -> R.
Hypothesis W_gt0 : 0 < norm W.
Let r : R := norm W / norm W_star.
Let star_gt0 : 0 < norm W_star. Proof. exact: norm_star_gt0. Qed.
Let r0 : 0 < r. Proof. by rewrite divr_gt0. Qed.

Theorem small_margin : exists x i, i != n x /\ W x (n x) - W x i <= r.
Proof.
have [/existsP [x /existsP [i /andP [ix le]]]|no] :=
  boolP [exists x, [exists i, (i != n x) && (W x (n x) - W x i <= r)]]; first by exists x, i.
have large x i : i != n x -> r < W x (n x) - W x i.
  move=> ix; rewrite ltNge; apply: contra no => le.
  by apply/existsP; exists x; apply/existsP; exists i; rewrite ix.
pose U x v := r^-1 * W x v.
have sol : solves2 n U.
  split=> [x i ix|U' feas]; first by rewrite /U -mulrBr mulrC ler_pdivl_mulr // mul1r ltW ?large.
  have -> : Norm2 U = Norm2 W_star; last by case: (W_star_optimal R n) => _; apply.
  rewrite -!norm_sqr norm_scale gtr0_norm ?invr_gt0 // /r invfM invrK mulrAC mulVf ?mul1r //.
  exact: lt0r_neq0.
have x0 := some_token two_tokens.
have /card_gt0P [i ix] : (0 < #|predC1 (n x0)|)%N by rewrite cardC1 -ltnS prednK // ltnW.
have := large x0 i ix; rewrite -(ltr_pmul2l (_ : 0 < r^-1)) ?invr_gt0 // mulVf ?lt0r_neq0 //.
rewrite mulrBr -/(U x0 _) -/(U x0 _) !(W_star_unique sol) /Stage1.W_star eqxx (negbTE ix).
by rewrite mulr1n mulr0n opprB addrA subrK subr0 ltxx.
Qed.

Theorem lower : log (1 + exp (- r)) <= loss0 W /\ 2%:R^-1 * exp (- r) <= log (1 + exp (- r)).
Proof.
have [x [i [ix le]]] := small_margin; split.
  have term y : 0 <= log (Z W y) - W y (n y).
    rewrite subr_ge0 -{1}[W y (n y)](expK e logK); apply: (log_le e logK); rewrite ?pos //.
    by rewrite /Z (bigD1 (n y)) //= ler_addl; apply: sumr_ge0 => v _; apply/ltW/pos.
  rewrite lossE (bigD1 x) //=; apply: ler_paddr; first by apply: sumr_ge0 => y _; apply: term.
  rewrite -[W x (n x)](expK e logK) -(log_div e logK) ?pos ?Z_gt0 //.
  apply: (log_le e logK); first by rewrite ltr_paddr ?ltr01 ?(ltW (pos _)).
  rewrite ler_pdivl_mulr ?pos // mulrDl mul1r /Z (bigD1 (n x)) //= ler_add2l (bigD1 i) //=.
  apply: ler_paddr; first by apply: sumr_ge0 => v _; apply/ltW/pos.
  by rewrite -(exponential_add e) addrC; apply: (exp_le e); rewrite ler_subl_addr -ler_subl_addl.
set z := exp (- r); have z0 : 0 < z by apply: pos.
have z1 : z <= 1 by rewrite -(exp0 e); apply: (exp_le e); rewrite oppr_le0 ltW.
apply: (log_ge_exp e logK); first by rewrite ltr_paddr ?ltr01 ?ltW.
set h := 2%:R^-1 * z; have E1 := expN e h.
have low : 1 - h <= exp (- h) := exponential_tangent e (- h).
have hz : h + h = z by rewrite /h -mulrDl -mulr2n -mulr_natr mulVf ?mul1r // pnatr_eq0.
have h0 : 0 <= h by rewrite mulr_ge0 ?invr_ge0 ?ler0n ?(ltW z0).
have h1 : 1 - z <= 0 -> z = 1 by rewrite subr_le0 => ge; apply/le_anti; rewrite z1.
have one : 1 <= (1 + z) * exp (- h).
  apply: le_trans (_ : (1 + z) * (1 - h) <= _); last by rewrite ler_pmul2l // ltr_paddr ?ltr01 ?ltW.
  rewrite -subr_ge0 -hz (_ : _ - 1 = h * (1 - (h + h))); last by named R; ring.
  by rewrite hz mulr_ge0 // subr_ge0.
rewrite -[leLHS]mul1r; apply: le_trans (_ : (1 + z) * exp (- h) * exp h <= _).
  by rewrite ler_pmul2r ?pos.
by rewrite -mulrA [exp (- h) * _]mulrC E1 mulr1.
Qed.

(* A longer multiple of the optimum has a smaller loss. *)
Let s : R := r + 2%:R * log (2%:R * size).
Theorem upper (W' := fun x v => s * W_star x v) :
  [/\ loss0 W' <= 4%:R^-1 * exp (- r), 4%:R^-1 * exp (- r) <= 2%:R^-1 * exp (- r) &
      loss0 W' <= loss0 W].
Proof.
have size0 : 0 < size by rewrite ltr0n ltnW.
suff le : loss0 W' <= 4%:R^-1 * exp (- r).
  have le2 : 4%:R^-1 * exp (- r) <= 2%:R^-1 * exp (- r).
    by rewrite ler_pmul2r ?pos // lef_pinv ?posrE ?ltr0n // ler_nat.
  split=> //; have [low1 low2] := lower.
  exact: le_trans (le_trans le le2) (le_trans low2 low1).
have s_exp : exp (- s) = exp (- r) / (4%:R * size ^+ 2).
  rewrite /s opprD (exponential_add e); congr (_ * _).
  set l := log _; have expl : exp l = 2%:R * size by rewrite /l logK // mulr_gt0 // ltr0n.
  have -> : - (2%:R * l) = - l + - l by rewrite -[2%:R]/(1 + 1); named R; ring.
  have a0 := lt0r_neq0 (pos l).
  rewrite (exponential_add e) (_ : exp (- l) = (exp l)^-1); last first.
    by apply: (mulfI a0); rewrite (expN e) mulfV.
  rewrite expl -invfM; congr (_^-1); rewrite (_ : 4%:R = 2%:R * 2%:R :> R); last by rewrite -natrM.
  by rewrite expr2 mulrACA.
have term x : log (Z W' x) - W' x (n x) <= size * exp (- s).
  rewrite -[W' x (n x)](expK e logK) -(log_div e logK) ?pos ?Z_gt0 //.
  apply: le_trans (_ : log (1 + size * exp (- s)) <= _); last first.
    by apply: (log1_le e logK); rewrite mulr_ge0 ?ler0n ?(ltW (pos _)).
  apply: (log_le e logK); first by rewrite divr_gt0 ?pos ?Z_gt0.
  rewrite ler_pdivr_mulr ?pos // mulrDl mul1r /Z (bigD1 (n x)) //= ler_add2l.
  rewrite -mulrA mulr_natl -sumr_const [leRHS](bigD1 (n x)) //= ler_paddl //.
    by rewrite mulr_ge0 ?(ltW (pos _)).
  rewrite le_eqVlt; apply/orP; left; apply/eqP; apply: eq_bigr => v vx.
  rewrite -(exponential_add e); congr exp; rewrite /W' /Stage1.W_star eqxx (negbTE vx).
  by rewrite mulr1n mulr0n; named R; ring.
rewrite lossE; apply: le_trans (ler_sum _ (fun x _ => term x)) _.
rewrite sumr_const -[_ *+ _]mulr_natl s_exp mulrCA.
rewrite le_eqVlt; apply/orP; left; apply/eqP.
have f0 : 4%:R <> 0 :> R by apply/eqP; rewrite pnatr_eq0.
move: (lt0r_neq0 size0) => /eqP; move: (exp _) (size) => a b b0.
by move: (4%:R : R) f0 => f f0; named R; field; split.
Qed.

Theorem lemma_2 (G := gradient W) :
  (1 + 2%:R * norm W_star / norm W * log (2%:R * size)) * inner G W_star *
    (norm W / norm W_star) <= inner G W.
Proof.
have -> : (1 + 2%:R * norm W_star / norm W * log (2%:R * size)) * inner G W_star *
    (norm W / norm W_star) = s * inner G W_star.
  rewrite /s /r; move: (lt0r_neq0 W_gt0) (lt0r_neq0 star_gt0) => /eqP a /eqP b.
  move: (norm W) (norm _) a b => c d c0 d0; move: (2%:R : R) (log _) (inner _ _) => t l i.
  by named R; field; split.
have [_ _ le] := upper; have := tangent W (fun x v => s * W_star x v + -1 * W x v).
have -> : loss0 (fun x v => W x v + (s * W_star x v + -1 * W x v)) =
    loss0 (fun x v => s * W_star x v).
  rewrite !lossE; apply: eq_bigr => x _.
  have mE v : W x v + (s * W_star x v + -1 * W x v) = s * W_star x v by named R; ring.
  by rewrite mE /Z; under eq_bigr => v _ do rewrite mE.
rewrite inner_add inner_scale => le2; have := le_trans le2 le.
by rewrite ger_addl mulN1r subr_le0.
Qed.
End Ratio.
End Convex.
