(* What Theorems A and B say of the paper: Lemma 7, Theorem 2 with equation (4), and Theorem 3, with
   the least frequency in the place of the number of samples.
   Pages: huang2024_s5_convergence, huang2024_s5_stage2, huang2024_s5_loss,
     huang2024_s6_generalization. *)
From Coq Require Import Ring Field Lia.
From mathcomp Require Import all_ssreflect all_algebra.
From Companion Require Import Fields Exponential Orders MaxMargin BlockForm Frobenius Matrix Stage1
  Stage1Law Stage2 Alignment Direction Algorithm Calculus.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

(* (13): a margin of W, by its length and its distance in direction from any feasible matrix. *)
Section Equation13.
Variables (R : rcfType) (V : finType).
Implicit Types W U D : V -> V -> R.
Add Field scores0 : (is_field R).

Lemma entries_norm D q x y : (D q x - D q y) ^+ 2 <= 2%:R * Norm2 D.
Proof.
have [->|xy] := eqVneq x y; first by rewrite subrr expr0n mulr_ge0 ?ler0n ?Norm2_ge0.
have sq z : 0 <= D q z * D q z by rewrite -expr2 sqr_ge0.
have le : D q x ^+ 2 + D q y ^+ 2 <= Norm2 D.
  rewrite /Norm2 /inner (bigD1 q) //= ler_paddr //.
    by apply: sumr_ge0 => p _; apply: norm2_ge0.
  rewrite /dot (bigD1 x) //= (bigD1 y) //=; last by rewrite eq_sym.
  by rewrite addrA -!expr2 ler_addl; apply: sumr_ge0 => z _; apply: sq.
apply: le_trans (_ : 2%:R * (D q x ^+ 2 + D q y ^+ 2) <= _).
  rewrite -subr_ge0; have -> : 2%:R * (D q x ^+ 2 + D q y ^+ 2) - (D q x - D q y) ^+ 2 =
    (D q x + D q y) ^+ 2 by move: (D q x) (D q y) => a b; rewrite -[2%:R]/(1 + 1); named R; ring.
  exact: sqr_ge0.
by rewrite ler_pmul2l ?ltr0n.
Qed.

Lemma entries_ge D q x y : - (Num.sqrt 2%:R * norm D) <= D q x - D q y.
Proof.
have := entries_norm D q x y; rewrite -norm_sqr -[2%:R in X in X -> _]sqr_sqrtr ?ler0n // -exprMn.
rewrite -[X in X <= _]real_normK ?num_real // ler_pexpn2r ?nnegrE ?normr_ge0 //; last first.
  by rewrite mulr_ge0 ?sqrtr_ge0 ?norm_ge0.
by move=> /ler_normlP [le _]; rewrite ler_oppl.
Qed.

Theorem equation_13 W U q x y (D := fun p v => W p v / norm W - U p v / norm U) :
  0 < norm W -> 0 < norm U -> 1 <= U q x - U q y ->
  norm W / norm U - Num.sqrt 2%:R * norm W * norm D <= W q x - W q y.
Proof.
move=> W0 U0 le; have -> : W q x - W q y =
    norm W / norm U * (U q x - U q y) + norm W * (D q x - D q y).
  rewrite /D; move: W0 U0 => /lt0r_neq0 /eqP W0 /lt0r_neq0 /eqP U0.
  move: (norm W) (norm U) W0 U0 (W q x) (W q y) (U q x) (U q y) => a b a0 b0 c d f g.
  by named R; field.
apply: ler_add; first by rewrite ler_pemulr // ltW // divr_gt0.
by rewrite mulrAC mulrC -mulrN ler_pmul2l // entries_ge.
Qed.
End Equation13.

Section Corrected.
Variables (R : rcfType) (V : finType) (n : V -> V) (exp log : R -> R).
Add Field scores : (is_field R).
Variables (I : finType) (body : I -> seq V) (query next : I -> V) (freq : I -> R).
Notation sentence := (@sentence V I body query).
Notation rival := (@rival V n I body query next).
Notation decider := (@decider V n I body query next).
Hypotheses (e : exponential exp) (logK : forall c, 0 < c -> exp (log c) = c).
Hypothesis data : setting n body query next freq.
Variables (T : nat) (eta0 eta : R).
Hypotheses (T_gt0 : (0 < T)%N) (eta0_gt0 : 0 < eta0) (eta_gt0 : 0 < eta).
Let W_ov : V -> V -> R := Stage1Law.W_ov n exp eta0 T.
Let W_kq : nat -> V -> V -> R := @W_kq R V exp I body query next freq W_ov eta.
Variables (L : nat) (pi_min : R) (U : V -> V -> R).
Hypotheses (L_max : forall i, (size (sentence i) <= L)%N) (pi_min_gt0 : 0 < pi_min).
Hypothesis pi_minP : forall i j, rival i j -> pi_min <= freq i.
Hypothesis solU : solves12 n body query next U.
Notation K := (K log L pi_min).
Notation S := (Norm2 U).
Notation root2 := (Num.sqrt (2%:R : R)).
Let asm1 := collocation data.
Let pos := exp_gt0 e.
Let A : R := T%:R * eta0 / Num.sqrt (#|V|%:R - 1).
Let gapA x v : v != n x -> W_ov x (n x) - W_ov x v = A := @gap R V n exp I body query next freq e
  data T eta0 x v.
Let A0 : 0 < A := A_gt0 data T_gt0 eta0_gt0.
Let L_ge2 : 2%:R <= L%:R :> R := L_ge2 data L_max.

Lemma lead t : leads n exp body query next (W_kq t).
Proof.
exact: (always_leads pos gapA asm1 (shares data) A0 (exponential_add e) (exp_le e) eta_gt0
  (often data) t).
Qed.

Lemma U_gt0 : 0 < norm U.
Proof.
exact: (norm_U_gt0 pos gapA asm1 (shares data) A0 (exponential_add e) (exp_le e) eta_gt0
  (often data) solU (compares data)).
Qed.

Lemma norm_W t : [/\ norm (W_kq t) <= t%:R * eta,
  t%:R * eta / (2%:R * L%:R * norm U) <= norm (W_kq t) &
  t%:R * eta / (root2 * norm U) <= norm (W_kq t)].
Proof.
exact: (lemma_6 pos gapA asm1 (shares data) A0 (exponential_add e) (exp_le e) eta_gt0
  (often data) L_max solU (compares data) t).
Qed.

(* The pairs have length sqrt 2, so sqrt 2 |U| >= 1. *)
Lemma U_ge : 1 <= root2 * norm U.
Proof.
case: (compares data) => i [j ij]; apply: le_trans (U_margin data solU ij) _.
by have := entries_ge U (query i) j (decider i); rewrite ler_oppl opprB.
Qed.

Lemma S_half : 1 <= 2%:R * S.
Proof.
rewrite -norm_sqr -[2%:R]sqr_sqrtr ?ler0n // -exprMn exprn_ege1 //; exact: U_ge.
Qed.

Lemma root2_le2 : root2 <= 2%:R.
Proof.
have r1 : 1 <= root2 by rewrite -{1}[1]sqrtr1 ler_wsqrtr // ler1n.
by rewrite -[X in _ <= X]sqr_sqrtr ?ler0n // expr2 ler_pemull ?sqrtr_ge0.
Qed.

Lemma U_le : norm U <= 2%:R * S.
Proof.
rewrite -norm_sqr expr2 mulrA ler_pemull ?norm_ge0 //; apply: le_trans U_ge _.
by rewrite ler_wpmul2r ?norm_ge0 // root2_le2.
Qed.

Lemma inv_pi_ge1 : 1 <= pi_min^-1.
Proof. by rewrite invf_ge1 //; exact: (pi_min_le1 data pi_minP). Qed.

(* K by the lengths and the least frequency. *)
Lemma K_le : K <= (5%:R * L%:R - 7%:R) * pi_min^-1.
Proof.
apply: le_trans (K_upper e logK data L_max pi_min_gt0) _.
have c0 : 0 <= 5%:R * L%:R - 8%:R :> R.
  rewrite subr_ge0; apply: le_trans (_ : 5%:R * 2%:R <= _); first by rewrite -natrM ler_nat.
  by rewrite ler_pmul2l ?ltr0n // L_ge2.
have -> : (5%:R * L%:R - 7%:R) * pi_min^-1 = (5%:R * L%:R - 8%:R) * pi_min^-1 + pi_min^-1.
  rewrite -[X in _ = _ + X]mul1r -mulrDl; congr (_ * _).
  by rewrite (_ : 8%:R = 7%:R + 1 :> R) ?opprD ?addrA ?subrK // -[1]/(1%:R) -natrD.
by rewrite ler_add2r ler_pemulr ?inv_pi_ge1.
Qed.

Lemma lengths l : (5 * l <= 2 * l ^ 2 + 7)%N.
Proof. by apply/ssrnat.leP; rewrite -mulnn -!multE -!plusE; nia. Qed.

(* Lemma 7, corrected, with the constant 4, for every step size. *)
Theorem lemma_7_corrected t
    (W := W_kq t) (G := Stage2.gradient exp body query next freq W_ov W)
    (alpha := 4%:R * L%:R ^+ 2 * S / (pi_min * norm W) * (1 + log (2%:R * L%:R * norm W))) :
  8%:R * L%:R * S / eta <= t%:R ->
  (1 + alpha) * inner G U * (norm W / norm U) <= inner G W.
Proof.
rewrite ler_pdivr_mulr // => late; have w0 := U_gt0; have l2 := L_ge2.
have L0 : 0 < L%:R :> R by apply: lt_le_trans l2; rewrite ltr0n.
have r0 : 0 < root2 by rewrite sqrtr_gt0 ltr0n.
have W1 : 1 <= norm W.
  have [_ _] := norm_W t; apply: le_trans; rewrite ler_pdivl_mulr ?mulr_gt0 // mul1r.
  apply: le_trans late; rewrite -norm_sqr; apply: le_trans (_ : 2%:R * norm U <= _).
    by rewrite ler_pmul2r // root2_le2.
  have -> : 8%:R * L%:R * norm U ^+ 2 = 2%:R * norm U * (4%:R * L%:R * norm U).
    rewrite (_ : 8%:R = 2%:R * 4%:R :> R); last by rewrite -natrM.
    by move: (2%:R : R) (4%:R : R) (L%:R : R) (norm U) => a b c d; named R; ring.
  rewrite ler_pemulr ?mulr_ge0 ?ler0n ?norm_ge0 //; apply: le_trans U_ge _.
  rewrite ler_pmul2r //; apply: le_trans root2_le2 _; apply: le_trans l2 _.
  by rewrite ler_pemull ?ler0n // ler1n.
have W0 : 0 < norm W by apply: lt_le_trans W1; rewrite ltr01.
have form := theorem_A_cosine e data gapA A0 L_max solU pi_min_gt0 pi_minP
  (K_large logK data L_max pi_min_gt0) eta_gt0 (@lead t) W0.
apply: le_trans form; rewrite ler_pmul2r ?divr_gt0 //.
have neg : inner G U <= 0.
  rewrite -oppr_ge0; apply: le_trans (along_U pos gapA asm1 (shares data) A0 solU (@lead t)).
  exact: ltW (force_gt0 pos gapA asm1 (shares data) A0 (compares data) W).
rewrite ler_wnmul2r // ler_add2l.
have -> : alpha = 4%:R * L%:R ^+ 2 * S * pi_min^-1 * (1 + log (2%:R * L%:R * norm W)) / norm W.
  rewrite /alpha invfM; move: (4%:R * _ * S) (pi_min^-1) (norm W)^-1 (1 + _) => a b c d.
  by named R; ring.
rewrite ler_pmul2r ?invr_gt0 //; apply: le_trans (_ : 4%:R * L%:R ^+ 2 * S * pi_min^-1 <= _).
  apply: le_trans (_ : (5%:R * L%:R - 7%:R) * pi_min^-1 * (2%:R * S) <= _).
    apply: ler_pmul; [| exact: norm_ge0 | exact: K_le | exact: U_le].
    exact: (K_ge0 e data L_max pi_min_gt0 pi_minP (K_large logK data L_max pi_min_gt0)).
  rewrite mulrAC ler_pmul2r ?invr_gt0 // mulrA ler_wpmul2r ?Norm2_ge0 // mulrC.
  rewrite (_ : 4%:R = 2%:R * 2%:R :> R); last by rewrite -natrM.
  rewrite -mulrA ler_pmul2l ?ltr0n // ler_subl_addr -natrX -!natrM -natrD ler_nat.
  exact: lengths.
rewrite ler_pemulr ?mulr_ge0 ?ler0n ?exprn_ge0 ?Norm2_ge0 ?invr_ge0 ?(ltW pi_min_gt0) //.
rewrite ler_addl; apply: (log_ge0 e logK); apply: mulr_ege1 => //.
by apply: mulr_ege1; [rewrite ler1n | apply: le_trans l2; rewrite ler1n].
Qed.

(* The attention of the optimal token, from the least margin of its sentence. *)
Lemma mass_ge W c i : leads n exp body query next W ->
  (forall j, rival i j -> c <= W (query i) (decider i) - W (query i) j) ->
  1 / (1 + L%:R * exp (- c)) <= mass exp body query W i (decider i).
Proof.
move=> ld margins; set m := mass _ _ _ _ _ _.
have m0 : 0 < m by apply: (m_gt0 e data W i).
have E0 : 0 < exp (- c) by apply: pos.
have le1 : \sum_(j | rival i j) ratio n exp body query next W i j <= (L%:R - 1) * exp (- c).
  apply: (sum_rivals_le data L_max); first exact: ltW.
  move=> j ij; have up := margin_up e data W ij.
  apply: le_trans (_ : exp (- margin n body query next W i j) <= _); last first.
    by apply: (exp_le e); rewrite ler_opp2; apply: margins.
  rewrite -(ler_pmul2l (pos (margin n body query next W i j))) (expN e).
  exact: up.
have pos1 : 0 < 1 + L%:R * exp (- c) by rewrite ltr_paddr ?mulr_ge0 ?ler0n ?ltW ?ltr01.
rewrite ler_pdivr_mulr // -[X in X <= _](m_ratio e data W i) ler_pmul2l // ler_add2l.
apply: le_trans le1 _; rewrite ler_pmul2r //.
by rewrite ger_addl oppr_le0 ler01.
Qed.

(* The exponent of (4) is at most A / 4. *)
Lemma exponent_le (C0 := eta0 / (4%:R * Norm2 (@W_star R V n))) : T%:R * C0 <= A / 4%:R.
Proof.
have s1 : 1 <= #|V|%:R - 1 :> R.
  by rewrite ler_subr_addr -[1 + 1]/(2%:R) ler_nat; exact: (two_tokens data).
have s0 := le_trans ler01 s1; case: (compares data) => i _.
rewrite /C0 (W_star_norm2 R n (query i)) invfM mulrA mulrA [leRHS]mulrAC ler_wpmul2l //.
  by rewrite divr_ge0 ?ler0n // mulr_ge0 ?ler0n // ltW.
rewrite lef_pinv ?posrE ?sqrtr_gt0 ?(lt_le_trans ltr01 s1) //.
rewrite -[X in _ <= X](sqr_sqrtr s0) expr2 ler_pemulr ?sqrtr_ge0 //.
by rewrite -[X in X <= _]sqrtr1 ler_wsqrtr.
Qed.

(* Theorem 2, corrected: with the constant 1696 and eta <= |W*| / e. *)
Section Theorem2.
Variable t : nat.
Hypotheses (t_gt0 : (0 < t)%N) (small : eta <= norm U / exp 1).
Hypothesis late :
  1696%:R * L%:R ^+ 4 * norm U ^+ 6 * log t%:R ^+ 2 / (pi_min * eta) <= t%:R.
Let C1 : R := eta / (4%:R * L%:R * S).

Let S0 : 0 < S. Proof. by rewrite -norm_sqr exprn_gt0 // U_gt0. Qed.
Let L0 : 0 < L%:R :> R. Proof. by apply: lt_le_trans L_ge2; rewrite ltr0n. Qed.

Lemma eta_S : eta <= S.
Proof.
apply: le_trans small _; rewrite ler_pdivr_mulr ?pos //; apply: le_trans U_le _.
by rewrite mulrC ler_pmul2l //; apply: exponential_tangent e _.
Qed.

Lemma enough : (1 < t)%N -> 424%:R * L%:R ^+ 4 * S ^+ 3 * pi_min^-1 <= t%:R * eta.
Proof.
move=> t1; move: late; rewrite invfM mulrA -ler_pdivl_mulr ?invr_gt0 // invrK.
apply: le_trans; have half : 2%:R^-1 <= log t%:R by apply: (log_half e logK); rewrite ler_nat.
have l2 : 1 <= 4%:R * log t%:R ^+ 2.
  have h0 : 0 <= 2%:R^-1 :> R by rewrite invr_ge0 ler0n.
  apply: le_trans (_ : 4%:R * 2%:R^-1 ^+ 2 <= _).
    by rewrite exprVn -natrX divff // pnatr_eq0.
  by rewrite ler_pmul2l ?ltr0n // ler_pexpn2r ?nnegrE // (le_trans h0).
rewrite ler_pmul2r ?invr_gt0 // -norm_sqr -exprM.
rewrite (_ : 1696%:R = 424%:R * 4%:R :> R); last by rewrite -natrM.
have -> : 424%:R * 4%:R * L%:R ^+ 4 * norm U ^+ 6 * log t%:R ^+ 2 =
    424%:R * L%:R ^+ 4 * norm U ^+ (2 * 3) * (4%:R * log t%:R ^+ 2).
  by move: (424%:R : R) (4%:R : R) (L%:R ^+ 4) (norm U ^+ _) (log _ ^+ 2) => a b c d f; named R;
    ring.
by rewrite ler_pemulr // !mulr_ge0 ?exprn_ge0 ?norm_ge0 ?ler0n.
Qed.

Lemma after_t_A : (1 < t)%N -> 32%:R * S ^+ 2 * Num.max 1 (root2 * K / eta) <= t%:R.
Proof.
move=> t1; have P1 := inv_pi_ge1; have P0 : 0 < pi_min^-1 by rewrite invr_gt0.
have S2 : 0 <= 32%:R * S ^+ 2 by rewrite mulr_ge0 ?ler0n ?sqr_ge0.
have L1 : 1 <= L%:R :> R by apply: le_trans L_ge2; rewrite ler1n.
have L4 : 1 <= L%:R ^+ 4 :> R by rewrite exprn_ege1.
have s3 : 0 <= S ^+ 2 * pi_min^-1 by rewrite mulr_ge0 ?sqr_ge0 ?ltW.
rewrite maxr_pmulr // le_maxl mulr1 -!(ler_pmul2r eta_gt0 _ t%:R); apply/andP; split.
  apply: le_trans (enough t1); apply: le_trans (_ : 32%:R * S ^+ 2 * S <= _).
    by rewrite ler_wpmul2l // eta_S.
  have -> : 424%:R * L%:R ^+ 4 * S ^+ 3 * pi_min^-1 =
      424%:R * (L%:R ^+ 4 * pi_min^-1) * (S ^+ 2 * S).
    rewrite -exprSr; move: (424%:R : R) (L%:R ^+ 4) (S ^+ 3) => a b c; named R; ring.
  rewrite -mulrA ler_wpmul2r ?mulr_ge0 ?sqr_ge0 ?Norm2_ge0 //.
  apply: le_trans (_ : 424%:R <= _); first by rewrite ler_nat.
  by rewrite ler_pemulr ?ler0n // mulr_ege1.
rewrite -[_ * _ * eta]mulrA divfK ?lt0r_neq0 //; apply: le_trans (enough t1).
apply: le_trans (_ : 32%:R * S ^+ 2 * (2%:R * ((5%:R * L%:R - 7%:R) * pi_min^-1)) <= _).
  rewrite ler_wpmul2l //; apply: ler_pmul; rewrite ?sqrtr_ge0 ?root2_le2 ?K_le //.
  exact: (K_ge0 e data L_max pi_min_gt0 pi_minP (K_large logK data L_max pi_min_gt0)).
have -> : 32%:R * S ^+ 2 * (2%:R * ((5%:R * L%:R - 7%:R) * pi_min^-1)) =
    64%:R * (5%:R * L%:R - 7%:R) * (S ^+ 2 * pi_min^-1).
  rewrite (_ : 64%:R = 32%:R * 2%:R :> R); last by rewrite -natrM.
  by move: (32%:R : R) (2%:R : R) (S ^+ 2) (5%:R * _ - _) => a b c d; named R; ring.
have -> : 424%:R * L%:R ^+ 4 * S ^+ 3 * pi_min^-1 =
    212%:R * L%:R ^+ 4 * (2%:R * S) * (S ^+ 2 * pi_min^-1).
  rewrite (_ : 424%:R = 212%:R * 2%:R :> R); last by rewrite -natrM.
  rewrite [S ^+ 3]exprS; move: (212%:R : R) (2%:R : R) (L%:R ^+ 4) S (S ^+ 2) => a b c d f.
  by named R; ring.
rewrite ler_wpmul2r //; apply: le_trans (_ : 212%:R * L%:R ^+ 4 <= _); last first.
  by rewrite ler_pemulr ?S_half // mulr_ge0 ?ler0n ?exprn_ge0.
apply: le_trans (_ : 64%:R * (2%:R * L%:R ^+ 2) <= _).
  rewrite ler_pmul2l ?ltr0n // ler_subl_addr -natrX -!natrM -natrD ler_nat; exact: lengths.
rewrite mulrA -natrM; apply: ler_pmul; rewrite ?ler_nat ?ler0n ?exprn_ge0 ?ler0n //.
by rewrite (_ : 4%N = (2 + 2)%N) // exprD ler_pemulr ?exprn_ge0 ?ler0n // exprn_ege1.
Qed.

Theorem theorem_2_weight i :
  1 / (1 + L%:R * exp (- (t%:R * C1))) <= mass exp body query (W_kq t) i (decider i).
Proof.
have ld := @lead t; have Ln : (0 < L)%N by move: L0; rewrite ltr0n.
case: (ltnP 1 t) => [t1|t1].
  apply: (mass_ge ld) => j ij.
  have [le1 le2] := theorem_B_margins e logK data T_gt0 eta0_gt0 eta_gt0 L_max pi_min_gt0 pi_minP
    solU ij (after_t_A t1).
  apply: le_trans (le_trans le2 le1); rewrite /C1 mulrA ler_pmul2l ?mulr_gt0 ?ltr0n //.
  rewrite lef_pinv ?posrE ?mulr_gt0 ?ltr0n ?sqrtr_gt0 ?ltr0n //.
  rewrite ler_pmul2r // (_ : 4%:R = 2%:R * 2%:R :> R); last by rewrite -natrM.
  rewrite -!mulrA ler_pmul2l ?ltr0n //; apply: le_trans root2_le2 _.
  by rewrite ler_pemulr ?ler0n //; apply: le_trans L_ge2; rewrite ler1n.
have -> : t = 1%N by apply/eqP; rewrite eqn_leq t1 t_gt0.
rewrite (mul1r C1); have m1 := m_large e data L_max (@lead 1) i.
have E0 : 0 < exp (- C1) by apply: pos.
have pos1 : 0 < 1 + L%:R * exp (- C1) by rewrite ltr_paddr ?mulr_ge0 ?ltW ?ltr01.
rewrite ler_pdivr_mulr // mulrC; apply: le_trans m1 _.
rewrite ler_pmul2r; last exact: (m_gt0 e data (W_kq 1) i).
rewrite -ler_subl_addl.
apply: le_trans (_ : L%:R * (1 - C1) <= _); last first.
  by rewrite ler_pmul2l //; apply: exponential_tangent e _.
rewrite mulrBr mulr1 ler_add2l ler_opp2 /C1.
have -> : L%:R * (eta / (4%:R * L%:R * S)) = eta / (4%:R * S).
  move: L0 S0 => /lt0r_neq0 /eqP L1 /lt0r_neq0 /eqP S1.
  have f0 : 4%:R <> 0 :> R by apply/eqP; rewrite pnatr_eq0.
  by move: (L%:R : R) S L1 S1 (4%:R : R) f0 => a b a0 b0 c c0; named R; field.
rewrite ler_pdivr_mulr ?mulr_gt0 ?ltr0n // mul1r; apply: le_trans eta_S _.
by rewrite ler_pemull ?Norm2_ge0 // ler1n.
Qed.

(* If all samples are equally frequent, 1 / pi is their number. *)
Theorem equal_frequencies : (forall i j, freq i = freq j) -> forall i, (freq i)^-1 = #|I|%:R.
Proof.
move=> same i; have := shares_total data; rewrite (eq_bigr (fun=> freq i)) // sumr_const.
rewrite -[_ *+ _]mulr_natl => one; have f0 := lt0r_neq0 (shares data i).
by apply: (mulIf f0); rewrite mulVf // one.
Qed.

(* Equation (4), corrected. *)
Theorem equation_4 (C0 := eta0 / (4%:R * Norm2 (@W_star R V n))) :
  loss exp log body query next freq W_ov (W_kq t) <=
  #|V|%:R * exp (- (T%:R * C0 * (1 - 2%:R * L%:R / (L%:R + exp (t%:R * C1))))).
Proof.
set x := 1 - _; set B := _ * exp _.
suff one i : - log (Stage2.T exp body query W_ov (W_kq t) i (next i)) <= B.
  rewrite /loss -sumrN -[B]mul1r -(shares_total data) mulr_suml; apply: ler_sum => i _.
  by rewrite -mulrN ler_wpmul2l // ltW ?(shares data).
have ld := @lead t; set m := mass exp body query (W_kq t) i (decider i).
set tot := total_odds n exp body query next A (W_kq t) i.
have tot0 : 0 <= tot := total_odds_ge0 n body query next e A (W_kq t) i.
rewrite (T_next e data gapA) -/tot (log_inv e logK) ?ltr_paddr ?ltr01 // opprK.
apply: le_trans (log1_le e logK tot0) _.
have total_le c : (forall y, y != decider i -> odds n exp body query next A (W_kq t) i y <= c) ->
    0 <= c -> tot <= #|V|%:R * c.
  move=> le c0; apply: le_trans (ler_sum _ le) _; rewrite sumr_const -[c *+ _]mulr_natl.
  by rewrite ler_wpmul2r // ler_nat max_card.
have TC0 : 0 <= T%:R * C0 by rewrite mulr_ge0 ?ler0n // divr_ge0 ?mulr_ge0 ?ler0n ?Norm2_ge0 ?ltW.
have [x0|x0] := lerP 0 x; last first.
  apply: le_trans (total_le 1 _ ler01) _ => [y _|]; first exact: (odds_le1 e A0 ld i y).
  rewrite ler_wpmul2l ?ler0n // -[X in X <= _](exp0 e); apply: (exp_le e).
  by rewrite oppr_ge0; apply: mulr_ge0_le0 => //; apply: ltW.
apply: le_trans (total_le (exp (- (A * (2%:R * m - 1)))) _ (ltW (pos _))) _ => [y ne|].
  exact: (odds_le e A0).
rewrite ler_wpmul2l ?ler0n //; apply: (exp_le e); rewrite ler_opp2.
have E0 : 0 < exp (t%:R * C1) by apply: pos.
have LE : 0 < L%:R + exp (t%:R * C1) by rewrite addr_gt0.
have xm : x <= 2%:R * m - 1.
  have := theorem_2_weight i; rewrite -/m.
  have -> : exp (- (t%:R * C1)) = (exp (t%:R * C1))^-1.
    by apply: (mulfI (lt0r_neq0 E0)); rewrite (expN e) divff ?lt0r_neq0.
  move=> le; rewrite ler_subr_addr; apply: le_trans (_ : 2%:R * (1 / (1 + L%:R / exp (t%:R * C1)))
    <= _);
    last by rewrite ler_pmul2l ?ltr0n.
  rewrite /x le_eqVlt; apply/orP; left; apply/eqP.
  move: E0 LE => /lt0r_neq0 /eqP E0 /lt0r_neq0 /eqP LE.
  move: (exp _) (L%:R : R) E0 LE => a b a0 ab; rewrite -[2%:R]/(1 + 1); named R; field.
  by split=> //; rewrite -[plus R a b]/(a + b) addrC.
apply: ler_pmul => //; apply: le_trans exponent_le _.
by rewrite ler_pdivr_mulr ?ltr0n // ler_pemulr ?(ltW A0) // ler1n.
Qed.
End Theorem2.

(* Theorem 3, its first part, under Assumptions 1 to 3: the scores of optimal tokens rise, those of
   non-optimal tokens fall, both linearly, and those of non-comparable tokens stay zero. *)
Notation order q := (aboveb n (listed body query next) q).

Lemma rival_order i j : rival i j -> order (query i) (decider i) j.
Proof.
move=> /(rival_above asm1) [s [z [D xs ys nx ny]]]; apply/aboveP; exists s, z.
by split=> //; apply/listedP.
Qed.

Lemma stays_zero t q x : x \notin opts (order q) -> x \notin nons (order q) -> W_kq t q x = 0.
Proof.
move=> xo xn; elim: t => [//|t IH]; rewrite /W_kq /Stage2.W_kq /= -/(Stage2.W_kq _ _ _ _ _ _ _ t).
rewrite -/(W_kq t) IH gradientE big1 ?mul0r ?mulr0 ?subr0 // => i /eqP iq.
have [xs|xs] := boolP (x \in sentence i); last by rewrite pull_absent ?mulr0.
rewrite (pull_alone next W_ov pos) ?mulr0 // => y ys; apply/eqP/negPn/negP => yx.
have [xd|xd] := eqVneq x (decider i).
  have /rival_order : rival i y by rewrite /Stage2.rival ys -xd.
  by rewrite iq -xd => /gt_opts; rewrite (negbTE xo).
have /rival_order : rival i x by rewrite /Stage2.rival xs xd.
by rewrite iq => /gt_nons; rewrite (negbTE xn).
Qed.

(* A non-comparable token stands in no sentence of its query beside another token. *)
Theorem never_together i x y : x \notin opts (order (query i)) -> x \notin nons (order (query i)) ->
  x \in sentence i -> y \in sentence i -> x = y.
Proof.
move=> xo xn xs ys; apply/eqP/negPn/negP => ne; have [xd|xd] := eqVneq x (decider i).
  have /rival_order : rival i y by rewrite /Stage2.rival ys eq_sym -xd.
  by rewrite -xd => /gt_opts; rewrite (negbTE xo).
have /rival_order : rival i x by rewrite /Stage2.rival xs.
by move=> /gt_nons; rewrite (negbTE xn).
Qed.

Lemma U_solves q : solves (order q) (U q).
Proof.
by have /(solves12P n U (listedP body query next)) /columns := solU.
Qed.

Lemma clear q : unconfused (order q).
Proof. exact: unconfused_order (assumption_1_same (listedP body query next) asm1) q. Qed.

Lemma entry_norm (D : V -> V -> R) q x : D q x ^+ 2 <= Norm2 D.
Proof.
rewrite /Norm2 /inner (bigD1 q) //= ler_paddr //; first by apply: sumr_ge0 => p _; apply: norm2_ge0.
rewrite /dot (bigD1 x) //= -expr2 ler_addl; apply: sumr_ge0 => y _.
by rewrite -expr2 sqr_ge0.
Qed.

Theorem theorem_3_scores t q o x m (u := Num.min (U q o) (- U q x))
    (C0 := eta * u / (2%:R * root2 * S)) :
  o \in opts (order q) -> x \in nons (order q) ->
  m \notin opts (order q) -> m \notin nons (order q) ->
  0 < u /\ ((0 < t)%N -> 8%:R * S ^+ 2 * (1 + root2 * K / eta) / u ^+ 2 <= t%:R ->
  t%:R * C0 <= W_kq t q o - W_kq t q m /\ t%:R * C0 <= W_kq t q m - W_kq t q x).
Proof.
move=> oo xn mo mn; have u0 : 0 < u.
  rewrite lt_minr (opts_gt0 (U_solves q) (@clear q) oo) oppr_gt0 /=.
  exact: (nons_lt0 (U_solves q) (@clear q) xn).
split=> // t0 late; rewrite (stays_zero t mo mn) subr0 sub0r.
have w0 := U_gt0; have S0 : 0 < S by rewrite -norm_sqr exprn_gt0.
have tR : 0 < t%:R :> R by rewrite ltr0n.
have r0 : 0 < root2 by rewrite sqrtr_gt0 ltr0n.
set l := along exp body query next freq W_ov U eta t.
set D := across exp body query next freq W_ov U eta t.
have low : t%:R * eta / (root2 * norm U) <= l := along_lower e data gapA A0 solU eta_gt0 t.
have l0 : 0 < l by apply: lt_le_trans low; rewrite divr_gt0 ?mulr_gt0.
have WE v : W_kq t q v = l / norm U * U q v + D q v.
  by rewrite /D /across -/l addrCA -mulrDl subrr mul0r addr0.
have tan := tangent_upper e data gapA A0 L_max solU pi_min_gt0 pi_minP
  (K_large logK data L_max pi_min_gt0) eta_gt0 t0; rewrite -/l -/D in tan.
have step : l / (2%:R * norm U) * u <= l / norm U * u - l / (2%:R * norm U) * u.
  rewrite ler_subr_addr -mulrDl -mulr2n -[_ *+ 2]mulr_natr le_eqVlt; apply/orP; left; apply/eqP.
  move: w0 => /lt0r_neq0 /eqP w1; have n2 : 2%:R <> 0 :> R by apply/eqP; rewrite pnatr_eq0.
  by move: (norm U) w1 (2%:R : R) n2 => a a0 b b0; named R; field.
have D_le v : `|D q v| <= l / (2%:R * norm U) * u.
  have h0 : 0 <= l / (2%:R * norm U) * u.
    by rewrite mulr_ge0 ?(ltW u0) // divr_ge0 ?(ltW l0) // mulr_ge0 ?ler0n ?norm_ge0.
  rewrite -(ler_pexpn2r (ltn0Sn 1)) ?nnegrE ?normr_ge0 // real_normK ?num_real //.
  apply: le_trans (entry_norm D q v) _; move: tan; rewrite ler_pdivr_mulr ?exprn_gt0 //.
  move=> le; apply: le_trans le _.
  have -> : (l / (2%:R * norm U) * u) ^+ 2 = u ^+ 2 / (4%:R * S) * l ^+ 2.
    rewrite -(norm_sqr U) (_ : 4%:R = 2%:R * 2%:R :> R); last by rewrite -natrM.
    have gen (a b c d : R) : c <> 0 -> d <> 0 ->
        (a / (d * c) * b) ^+ 2 = b ^+ 2 / (d * d * c ^+ 2) * a ^+ 2.
      by move=> c0 d0; named R; field.
    by apply: gen; apply/eqP; rewrite ?pnatr_eq0 // lt0r_neq0.
  rewrite ler_pmul2r ?exprn_gt0 // ler_pdivl_mulr ?mulr_gt0 ?ltr0n //.
  move: late; rewrite ler_pdivr_mulr ?exprn_gt0 // => late.
  rewrite -(ler_pmul2l tR); apply: le_trans late; rewrite le_eqVlt; apply/orP; left; apply/eqP.
  rewrite (_ : 8%:R = 2%:R * 4%:R :> R); last by rewrite -natrM.
  move: tR => /lt0r_neq0 /eqP t1.
  move: (t%:R : R) t1 (2%:R : R) (4%:R : R) S (1 + _) => a a0 b c d f.
  by named R; field.
have small : t%:R * C0 <= l / (2%:R * norm U) * u.
  have -> : t%:R * C0 = t%:R * eta / (root2 * norm U) / (2%:R * norm U) * u.
    have gen (a b c d f g : R) : c <> 0 -> d <> 0 -> f <> 0 ->
        a * (b * g / (f * d * c ^+ 2)) = a * b / (d * c) / (f * c) * g.
      by move=> c0 d0 f0; named R; field.
    rewrite /C0 -(norm_sqr U); apply: gen; apply/eqP; rewrite ?pnatr_eq0 // lt0r_neq0 //.
  rewrite ler_pmul2r // ler_pmul2r // invr_gt0 mulr_gt0 ?ltr0n //.
have lw : 0 < l / norm U by rewrite divr_gt0.
split; apply: le_trans small (le_trans step _).
  rewrite WE; apply: ler_add; first by rewrite ler_pmul2l // le_minl lexx.
  by have := D_le o; rewrite ler_norml => /andP [].
have -> : - W_kq t q x = l / norm U * - U q x + - D q x by rewrite WE opprD mulrN.
apply: ler_add; first by rewrite ler_pmul2l // le_minl lexx orbT.
by rewrite ler_opp2; have := D_le x; rewrite ler_norml => /andP [].
Qed.
End Corrected.
