(* Theorem G and equation (4) for Algorithm 1 from its start: (4) holds under the printed condition
   of Theorem 2, with N and without the least frequency. Pages: huang2024_s5_late_phase,
   huang2024_s5_loss, labels ours-loss-soon, ours-eq-4-printed, huang2024-eq-4. *)
From Coq Require Import Ring Field.
From mathcomp Require Import all_ssreflect all_algebra.
From Companion Require Import Fields Exponential Orders MaxMargin Frobenius Matrix Stage1 Stage1Law
  Stage2 Alignment Direction Algorithm Calculus Corrected LossSoon.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Section Algorithm.
Variables (R : rcfType) (V : finType) (n : V -> V) (exp log : R -> R).
Add Field scores2 : (is_field R).
Variables (I : finType) (body : I -> seq V) (query next : I -> V) (freq : I -> R).
Notation sentence := (@sentence V I body query).
Hypotheses (e : exponential exp) (logK : forall c, 0 < c -> exp (log c) = c).
Hypothesis data : setting n body query next freq.
Variables (T : nat) (eta0 eta : R).
Hypotheses (T_gt0 : (0 < T)%N) (eta0_gt0 : 0 < eta0) (eta_gt0 : 0 < eta).
Let W_ov : V -> V -> R := Stage1Law.W_ov n exp eta0 T.
Let W_kq : nat -> V -> V -> R := @W_kq R V exp I body query next freq W_ov eta.
Variables (L : nat) (U : V -> V -> R).
Hypothesis L_max : forall i, (size (sentence i) <= L)%N.
Hypothesis solU : solves12 n body query next U.
Notation S := (Norm2 U).
Notation w := (norm U).
Notation root2 := (Num.sqrt (2%:R : R)).
Notation the_loss t := (loss exp log body query next freq W_ov (W_kq t)).
Notation A := (T%:R * eta0 / Num.sqrt (#|V|%:R - 1)).
Let pos := exp_gt0 e.
Let asm1 := collocation data.
Let gapA x v : v != n x -> W_ov x (n x) - W_ov x v = A := @gap R V n exp I body query next freq e
  data T eta0 x v.
Let A0 : 0 < A := A_gt0 data T_gt0 eta0_gt0.
Let L2 : 2%:R <= L%:R :> R := L_ge2 data L_max.
Let L1 : 1 <= L%:R :> R. Proof. by apply: le_trans L2; rewrite ler1n. Qed.
Let L0 : 0 < L%:R :> R. Proof. exact: lt_le_trans ltr01 L1. Qed.
Let Ln : (0 < L)%N. Proof. by rewrite -(ltr_nat R). Qed.
Let k1 : 1 <= L%:R - 1 :> R. Proof. by rewrite ler_subr_addr. Qed.
Let k0 : 0 < L%:R - 1 :> R. Proof. exact: lt_le_trans ltr01 k1. Qed.
Let K : R := log (14%:R * L%:R * (L%:R - 1) ^+ 2).
Let K_pos : 0 < 14%:R * L%:R * (L%:R - 1) ^+ 2 :> R.
Proof.
by apply: mulr_gt0; [apply: mulr_gt0; rewrite ?ltr0n // -(ltr_nat R) | apply: exprn_gt0].
Qed.
Let w_gt0 : 0 < w := U_gt0 e data T_gt0 eta0_gt0 eta_gt0 solU.
Let S0 : 0 < S. Proof. by rewrite -norm_sqr exprn_gt0. Qed.

Lemma sharper t : 2%:R * S * (1 + 2%:R * (8%:R * L%:R * (L%:R - 1) + K) * w / eta) < t%:R ->
  the_loss t <= #|V|%:R * exp (- (A / 4%:R)).
Proof. by apply: (loss_soon e logK data gapA A0 L_max eta_gt0 solU); rewrite /K logK. Qed.

Theorem theorem_G t (K2 := 8%:R * L%:R ^+ 2 + log (14%:R * L%:R ^+ 3)) :
  2%:R * S * (1 + 2%:R * K2 * norm U / eta) < t%:R ->
  the_loss t <= #|V|%:R * exp (- (T%:R * eta0 / Num.sqrt (#|V|%:R - 1) / 4%:R)).
Proof.
move=> late; apply: sharper; apply: le_lt_trans late.
rewrite ler_pmul2l ?mulr_gt0 ?ltr0n // ler_add2l ler_pmul2r ?invr_gt0 // ler_pmul2r //.
rewrite ler_pmul2l ?ltr0n //; apply: ler_add.
  by rewrite expr2 mulrA ler_pmul2l ?mulr_gt0 ?ltr0n // ger_addl oppr_le0 ler01.
apply: (log_le e logK) => //; rewrite [_ ^+ 3]exprS mulrA ler_pmul2l ?mulr_gt0 ?ltr0n //.
rewrite ler_pexpn2r ?nnegrE ?(ltW k0) ?(ltW L0) //.
by rewrite ger_addl oppr_le0 ler01.
Qed.

(* log 2 >= 2/3, by (23/24)^16 >= 1/2. *)
Lemma square_fraction (x : R) (a b c d : nat) : (0 < b)%N -> (0 < d)%N ->
  (c * (b * b) <= a * a * d)%N -> a%:R / b%:R <= x -> c%:R / d%:R <= x * x.
Proof.
move=> b0 d0 le ax; have ab : 0 <= a%:R / b%:R :> R by rewrite divr_ge0 ?ler0n.
apply: le_trans (_ : a%:R / b%:R * (a%:R / b%:R) <= _); last exact: ler_pmul.
by rewrite mulf_div -!natrM; apply: fraction; rewrite ?muln_gt0 ?b0.
Qed.

Lemma log2_ge c : 2%:R <= c -> 2%:R / 3%:R <= log c.
Proof.
move=> c2; apply: (log_ge_exp e logK); first by apply: lt_le_trans c2; rewrite ltr0n.
apply: le_trans c2; set y := exp (- 24%:R^-1).
have y1 : 23%:R / 24%:R <= y.
  apply: le_trans (exponential_tangent e _); rewrite le_eqVlt; apply/orP; left; apply/eqP.
  have -> : 23%:R = 24%:R - 1 :> R by rewrite -[1]/(1%:R) -natrB.
  by rewrite mulrBl divff ?pnatr_eq0 // mul1r.
have y2 : 45%:R / 49%:R <= y * y by apply: square_fraction y1; vm_compute.
have y4 : 16%:R / 19%:R <= y * y * (y * y) by apply: square_fraction y2; vm_compute.
have y8 : 17%:R / 24%:R <= y * y * (y * y) * (y * y * (y * y)) by apply: square_fraction y4; vm_compute.
set z := y * y * (y * y) * (y * y * (y * y)) in y8.
have y16 : 1%:R / 2%:R <= z * z by apply: square_fraction y8; vm_compute.
have zz : exp (2%:R / 3%:R) * (z * z) = 1.
  rewrite -[RHS](expN e (2%:R / 3%:R)); congr (_ * _).
  rewrite /z /y -!(exponential_add e); congr exp.
  have -> : 2%:R / 3%:R = 16%:R / 24%:R :> R.
    rewrite (_ : 16%:R = 2%:R * 8%:R :> R); last by rewrite -natrM.
    rewrite (_ : 24%:R = 3%:R * 8%:R :> R); last by rewrite -natrM.
    by rewrite -mulf_div divff ?pnatr_eq0 // mulr1.
  rewrite -mulNr (_ : 16%:R = 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 :> R).
    by move: (24%:R^-1 : R) => a; named R; ring.
  by rewrite -[1]/(1%:R) -!natrD.
have E1 := pos (2%:R / 3%:R).
rewrite -[X in _ <= X]mul1r -ler_pdivr_mulr ?ltr0n // -[X in _ <= X]zz ler_pmul2l //.
by rewrite -[_^-1]mul1r.
Qed.

(* The shortest solution is not short. *)
Lemma w_cube : 1 <= 3%:R * w ^+ 3.
Proof.
have r0 : 0 <= root2 by apply: sqrtr_ge0.
have r2 : root2 <= 3%:R / 2%:R.
  rewrite -(ler_pexpn2r (ltn0Sn 1)) ?nnegrE ?divr_ge0 ?ler0n // sqr_sqrtr ?ler0n //.
  by rewrite expr_div_n -!natrX ler_pdivl_mulr ?ltr0n // -natrM ler_nat.
have := exprn_ege1 3 (U_ge data solU); rewrite exprMn [root2 ^+ 3]exprS sqr_sqrtr ?ler0n // => le.
apply: (le_trans le); rewrite ler_pmul2r ?exprn_gt0 //.
by rewrite -ler_pdivl_mulr ?ltr0n.
Qed.

Lemma w_half : 1 <= 2%:R * w.
Proof.
apply: le_trans (U_ge data solU) _.
by rewrite ler_pmul2r // root2_le2.
Qed.

Lemma K_small : K <= 3%:R * L%:R + 4%:R.
Proof.
apply: (log_le_exp e logK) => //.
have low c : c <= exp c.
  by apply: le_trans (exponential_tangent e _); rewrite ler_addr ler01.
have e2 : 2%:R <= exp 1 by apply: (exponential_tangent e).
have -> : 3%:R * L%:R + 4%:R = L%:R + L%:R + L%:R + 4%:R * 1 :> R.
  by rewrite (_ : 3%:R = 1 + 1 + 1 :> R) ?mulrDl ?mul1r ?mulr1 // -[1]/(1%:R) -!natrD.
have -> : 14%:R * L%:R * (L%:R - 1) ^+ 2 = L%:R * (L%:R - 1) * (L%:R - 1) * 14%:R :> R.
  by move: (14%:R : R) (L%:R : R) => a b; named R; ring.
rewrite 3!(exponential_add e) (exp_nat e).
have l0 := ltW L0; have kk := ltW k0.
have kl : L%:R - 1 <= exp L%:R :> R by apply: le_trans (low _); rewrite ger_addl oppr_le0 ler01.
have four : 14%:R <= exp 1 ^+ 4.
  apply: le_trans (_ : 2%:R ^+ 4 <= _); first by rewrite -natrX ler_nat.
  by rewrite ler_pexpn2r ?nnegrE ?ler0n // ltW.
have m1 : 0 <= L%:R * (L%:R - 1) :> R by apply: mulr_ge0.
apply: ler_pmul four; [exact: mulr_ge0 | exact: ler0n |].
apply: (ler_pmul _ _ _ kl) => //.
by apply: (ler_pmul _ _ _ kl) => //; apply: low.
Qed.

(* Equation (4) as printed: N is any number from 1 on, as the number of samples is. *)
Section Equation4.
Variables (c0 N : R) (p t : nat).
Hypothesis constant : [\/ p = 4%N /\ 55%:R <= c0, p = 3%N /\ 109%:R <= c0 |
  p = 2%N /\ 218%:R <= c0].
Hypotheses (N_ge1 : 1 <= N) (t_gt0 : (0 < t)%N) (small : eta <= w / exp 1).
Hypothesis late : c0 * N * L%:R ^+ p * w ^+ 6 * log t%:R ^+ 2 / eta <= t%:R.

Lemma constant_large : 218%:R * L%:R ^+ 2 <= c0 * L%:R ^+ p.
Proof.
have sq0 : 0 <= L%:R ^+ 2 :> R by apply: sqr_ge0.
have l0 := ltW L0.
case: constant => -[-> le].
- apply: le_trans (_ : 55%:R * L%:R ^+ 4 <= _); last by rewrite ler_wpmul2r ?exprn_ge0.
  have -> : 55%:R * L%:R ^+ 4 = 55%:R * L%:R ^+ 2 * L%:R ^+ 2 :> R by rewrite -[RHS]mulrA -exprD.
  apply: ler_wpmul2r => //.
  apply: le_trans (_ : 55%:R * 2%:R ^+ 2 <= _); first by rewrite -natrX -natrM ler_nat.
  by rewrite ler_pmul2l ?ltr0n // ler_pexpn2r ?nnegrE ?ler0n.
- apply: le_trans (_ : 109%:R * L%:R ^+ 3 <= _); last by rewrite ler_wpmul2r ?exprn_ge0.
  have -> : 109%:R * L%:R ^+ 3 = 109%:R * L%:R * L%:R ^+ 2 :> R by rewrite -[RHS]mulrA -exprS.
  apply: ler_wpmul2r => //.
  apply: le_trans (_ : 109%:R * 2%:R <= _); first by rewrite -natrM ler_nat.
  by rewrite ler_pmul2l ?ltr0n.
by apply: ler_wpmul2r.
Qed.

Lemma eta_w : eta <= 2%:R / 5%:R * w.
Proof.
apply: (le_trans small); rewrite mulrC ler_pmul2r //.
have e52 := exp1_ge e.
rewrite -[2%:R / 5%:R]invrK invf_div lef_pinv ?posrE ?divr_gt0 ?ltr0n ?pos //.
Qed.

Lemma late_enough : (1 < t)%N ->
  2%:R * S * (1 + 2%:R * (8%:R * L%:R * (L%:R - 1) + K) * w / eta) < t%:R.
Proof.
move=> t1; have l23 : 2%:R / 3%:R <= log t%:R by apply: log2_ge; rewrite ler_nat.
have w6 : 0 < w ^+ 6 by rewrite exprn_gt0.
have w3 : 0 < w ^+ 3 by rewrite exprn_gt0.
have w6E : w ^+ 6 = w ^+ 3 * w ^+ 3 by rewrite -exprD.
have sq : 4%:R / 9%:R <= log t%:R ^+ 2.
  rewrite expr2; apply: square_fraction l23; by [].
have te : 32%:R * L%:R ^+ 2 * w ^+ 3 <= t%:R * eta.
  move: late; rewrite ler_pdivr_mulr // => le; apply: le_trans le.
  apply: le_trans (_ : 218%:R * L%:R ^+ 2 * w ^+ 6 * (4%:R / 9%:R) <= _).
    apply: le_trans (_ : 96%:R * L%:R ^+ 2 * w ^+ 6 <= _).
      rewrite w6E (_ : 96%:R = 32%:R * 3%:R :> R); last by rewrite -natrM.
      have -> : 32%:R * 3%:R * L%:R ^+ 2 * (w ^+ 3 * w ^+ 3) =
          32%:R * L%:R ^+ 2 * w ^+ 3 * (3%:R * w ^+ 3).
        by move: (32%:R : R) (3%:R : R) (L%:R ^+ 2) (w ^+ 3) => a b c d; named R; ring.
      by rewrite ler_pemulr ?w_cube // !mulr_ge0 ?ler0n ?sqr_ge0 // ltW.
    have -> : 218%:R * L%:R ^+ 2 * w ^+ 6 * (4%:R / 9%:R) =
        218%:R * (4%:R / 9%:R) * L%:R ^+ 2 * w ^+ 6.
      by move: (218%:R : R) (4%:R / 9%:R : R) (L%:R ^+ 2) (w ^+ 6) => a b c d; named R; ring.
    rewrite ler_pmul2r //; apply: ler_wpmul2r; first exact: sqr_ge0.
    by rewrite mulrA ler_pdivl_mulr ?ltr0n // -!natrM ler_nat.
  apply: ler_pmul => //; rewrite ?divr_ge0 ?ler0n //.
    by rewrite mulr_ge0 ?(ltW w6) // mulr_ge0 ?ler0n ?sqr_ge0.
  rewrite ler_pmul2r //; apply: le_trans constant_large _.
  have le0 : 0 <= c0 * L%:R ^+ p.
    by apply: le_trans constant_large; rewrite mulr_ge0 ?ler0n ?sqr_ge0.
  by rewrite mulrAC ler_pemulr.
rewrite -(ltr_pmul2r eta_gt0); apply: lt_le_trans te.
have -> : 2%:R * S * (1 + 2%:R * (8%:R * L%:R * (L%:R - 1) + K) * w / eta) * eta =
    2%:R * S * eta + 4%:R * (8%:R * L%:R * (L%:R - 1) + K) * w ^+ 3.
  rewrite -(norm_sqr U) (_ : 4%:R = 2%:R * 2%:R :> R); last by rewrite -natrM.
  have gen (a b c f : R) : f <> 0 -> a * b ^+ 2 * (1 + a * c * b / f) * f =
      a * b ^+ 2 * f + a * a * c * b ^+ 3.
    by move=> f0; rewrite [b ^+ 3]exprS; named R; field.
  by apply: gen; apply/eqP/lt0r_neq0.
apply: le_lt_trans (_ : 1 * w ^+ 3 +
  4%:R * (8%:R * L%:R * (L%:R - 1) + (3%:R * L%:R + 4%:R)) * w ^+ 3 < _).
  apply: ler_add.
    apply: le_trans (_ : 2%:R * S * (2%:R / 5%:R * w) <= _).
      by rewrite ler_pmul2l ?eta_w // mulr_gt0 ?ltr0n.
    have -> : 2%:R * S * (2%:R / 5%:R * w) = 2%:R * (2%:R / 5%:R) * w ^+ 3.
      rewrite -(norm_sqr U) [w ^+ 3]exprS; move: (2%:R : R) (5%:R^-1 : R) w => a b c.
      by named R; ring.
    rewrite ler_pmul2r // mulrA ler_pdivr_mulr ?ltr0n // mul1r -natrM ler_nat //.
  by rewrite ler_pmul2r // ler_pmul2l ?ltr0n // ler_add2l K_small.
rewrite -mulrDl ltr_pmul2r // -subr_gt0.
have -> : 32%:R * L%:R ^+ 2 - (1 + 4%:R * (8%:R * L%:R * (L%:R - 1) + (3%:R * L%:R + 4%:R))) =
    20%:R * (L%:R - 1) + 3%:R :> R.
  rewrite (_ : 32%:R = 4%:R * 8%:R :> R); last by rewrite -natrM.
  rewrite (_ : 20%:R = 4%:R * 5%:R :> R); last by rewrite -natrM.
  rewrite (_ : 4%:R = 1 + 1 + 1 + 1 :> R); last by rewrite -[1]/(1%:R) -!natrD.
  rewrite (_ : 8%:R = 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 :> R); last by rewrite -[1]/(1%:R) -!natrD.
  rewrite (_ : 5%:R = 1 + 1 + 1 + 1 + 1 :> R); last by rewrite -[1]/(1%:R) -!natrD.
  rewrite (_ : 3%:R = 1 + 1 + 1 :> R); last by rewrite -[1]/(1%:R) -!natrD.
  by move: (L%:R : R) => a; named R; ring.
by rewrite addr_gt0 ?ltr0n // mulr_gt0 ?ltr0n.
Qed.

Theorem equation_4_by_powers (C0 := eta0 / (4%:R * Norm2 (@W_star R V n)))
    (C1 := eta / (4%:R * L%:R * S)) :
  the_loss t <=
  #|V|%:R * exp (- (T%:R * C0 * (1 - 2%:R * L%:R / (L%:R + exp (t%:R * C1))))).
Proof.
have TC0 : 0 <= T%:R * C0.
  by rewrite mulr_ge0 ?ler0n // divr_ge0 ?(ltW eta0_gt0) // mulr_ge0 ?ler0n ?Norm2_ge0.
have E0 := pos (t%:R * C1); have LE : 0 < L%:R + exp (t%:R * C1) by rewrite addr_gt0.
have v2 : 2%:R <= #|V|%:R :> R := size_ge2 data.
have v0 : 0 < #|V|%:R :> R by apply: lt_le_trans v2; rewrite ltr0n.
case: (ltnP 1 t) => [t1|t1].
  apply: le_trans (sharper (late_enough t1)) _; rewrite ler_pmul2l //; apply: (exp_le e).
  rewrite ler_opp2; apply: le_trans (exponent_le data T eta0_gt0).
  rewrite ler_pimulr // ger_addl oppr_le0.
  by rewrite divr_ge0 ?(ltW LE) // mulr_ge0 ?ler0n.
have tE : t = 1%N by apply/eqP; rewrite eqn_leq t1 t_gt0.
have le : the_loss t <= log #|V|%:R.
  exact: (loss_le_log e logK data gapA A0 (lead e data T_gt0 eta0_gt0 eta_gt0 t)).
apply: (le_trans le); apply: (@le_trans _ _ #|V|%:R).
  apply: (log_le_exp e logK) => //; apply: le_trans (exponential_tangent e _).
  by rewrite ler_addr ler01.
rewrite ler_pemulr ?(ltW v0) // -[X in X <= _](exp0 e); apply: (exp_le e).
rewrite oppr_ge0; apply: mulr_ge0_le0 => //.
rewrite subr_le0 ler_pdivl_mulr // mul1r [2%:R * _]mulr_natl mulr2n ler_add2l tE (mul1r C1).
have C1_half : C1 <= 2%:R^-1.
  rewrite /C1 ler_pdivr_mulr ?mulr_gt0 ?ltr0n //.
  apply: le_trans eta_w _; rewrite (_ : 4%:R = 2%:R * 2%:R :> R); last by rewrite -natrM.
  have -> : 2%:R^-1 * (2%:R * 2%:R * L%:R * S) = L%:R * (2%:R * w) * w.
    have n2 : 2%:R <> 0 :> R by apply/eqP; rewrite pnatr_eq0.
    by rewrite -(norm_sqr U); move: (2%:R : R) n2 (L%:R : R) w => a a0 b c; named R; field.
  rewrite ler_pmul2r //; apply: le_trans (_ : 1 <= _); last first.
    by apply: mulr_ege1 => //; apply: w_half.
  by rewrite ler_pdivr_mulr ?ltr0n // mul1r ler_nat.
exact: le_trans (exp_le e C1_half) (le_trans (exp_half e) L2).
Qed.
End Equation4.

(* Equation (4), under the condition of Theorem 2 and with its power of L_max. *)
Theorem equation_4_printed (c0 : R) t (C0 := eta0 / (4%:R * Norm2 (@W_star R V n)))
    (C1 := eta / (4%:R * L%:R * S)) :
  55%:R <= c0 -> (0 < t)%N -> eta <= norm U / exp 1 ->
  c0 * #|I|%:R * L%:R ^+ 4 * norm U ^+ 6 * log t%:R ^+ 2 / eta <= t%:R ->
  loss exp log body query next freq W_ov (W_kq t) <=
  #|V|%:R * exp (- (T%:R * C0 * (1 - 2%:R * L%:R / (L%:R + exp (t%:R * C1))))).
Proof.
move=> large t0 small late.
apply: (@equation_4_by_powers c0 #|I|%:R 4%N t _ _ t0 small late).
  exact: Or31 (conj erefl large).
by rewrite ler1n; case: (compares data) => i _; apply/card_gt0P; exists i.
Qed.
End Algorithm.
