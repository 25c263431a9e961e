(* Theorem 1, the clause of Theorem 2 on weights, and Lemma 7 as printed fail on two tokens,
   whatever their constants and powers are: their rates contain no frequency.
   Pages: huang2024_s5_stage2, huang2024_s5_loss, huang2024_s5_lemma_7; labels huang2024-thm-1,
     huang2024-thm-2, huang2024-lem-7. *)
From Coq Require Import Ring Field.
From mathcomp Require Import all_ssreflect all_algebra.
From Companion Require Import Fields Exponential Orders MaxMargin Frobenius Stage1 Stage1Law Stage2
  Alignment Algorithm Corrected Hidden.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

(* The three statements as printed, with any constant, any powers and any bound on the step sizes:
   the first number is the constant, m bounds both step sizes by 1/m. N is the number of samples, of
   which no two are equal. *)
Section Printed.
Variables (R : rcfType) (exp log : R -> R).
Definition in_force (V : finType) (n : V -> V) (I : finType) (body : I -> seq V)
    (query next : I -> V) (freq : I -> R) (U : V -> V -> R) : Prop :=
  [/\ setting n body query next freq, closure (sampled body query next),
      injective (Stage2.sentence body query) & solves12 n body query next U].
Definition L_max (V : eqType) (I : finType) (body : I -> seq V) (query : I -> V) : nat :=
  \max_(i : I) size (rcons (body i) (query i)).

Definition theorem_1 (C l w p m : nat) : Prop :=
  forall (V : finType) n (I : finType) (body : I -> seq V) query next freq U,
  in_force n body query next freq U ->
  forall T t (eta0 eta : R), (0 < T)%N -> 0 < eta0 -> 0 < eta -> eta0 * m%:R <= 1 ->
  eta * m%:R <= 1 -> eta <= norm U / exp 1 -> (1 < t)%N ->
  let W := Stage2.W_kq exp body query next freq (Stage1Law.W_ov n exp eta0 T) eta t in
  1 - cosine W U <=
    C%:R * #|I|%:R * (L_max body query)%:R ^+ l * norm U ^+ w * log t%:R ^+ p / (t%:R * eta).

Definition theorem_2_weight (C0 a C l w p m : nat) : Prop :=
  forall (V : finType) n (I : finType) (body : I -> seq V) query next freq U,
  in_force n body query next freq U ->
  forall T t (eta0 eta : R), (0 < T)%N -> 0 < eta0 -> 0 < eta -> eta0 * m%:R <= 1 ->
  eta * m%:R <= 1 -> eta <= norm U / exp 1 -> (1 < t)%N ->
  C0%:R * norm (W_star R n) ^+ a * log #|V|%:R * log T%:R / eta0 <= T%:R ->
  C%:R * #|I|%:R * (L_max body query)%:R ^+ l * norm U ^+ w * log t%:R ^+ p / eta <= t%:R ->
  let W := Stage2.W_kq exp body query next freq (Stage1Law.W_ov n exp eta0 T) eta t in
  let C1 := eta / (4%:R * (L_max body query)%:R * Norm2 U) in
  forall i, 1 / (1 + (L_max body query)%:R * exp (- (t%:R * C1))) <=
    Stage2.mass exp body query W i (Stage2.decider n body query next i).

Definition lemma_7 (C l w m : nat) : Prop :=
  forall (V : finType) n (I : finType) (body : I -> seq V) query next freq U,
  in_force n body query next freq U ->
  forall T t (eta0 eta : R), (0 < T)%N -> 0 < eta0 -> 0 < eta -> eta0 * m%:R <= 1 ->
  eta * m%:R <= 1 -> 8%:R * (L_max body query)%:R * Norm2 U / eta <= t%:R ->
  let W_ov := Stage1Law.W_ov n exp eta0 T in
  let W := Stage2.W_kq exp body query next freq W_ov eta t in
  let G := Stage2.gradient exp body query next freq W_ov W in
  let alpha := C%:R * #|I|%:R * (L_max body query)%:R ^+ l * norm U ^+ w / norm W *
    (1 + log (2%:R * (L_max body query)%:R * norm W)) in
  (1 + alpha) * inner G U * (norm W / norm U) <= inner G W.

Hypotheses (e : exponential exp) (logK : forall c, 0 < c -> exp (log c) = c).
Add Field scores2 : (is_field R).
Ltac calc := named R; ring.
Let pos := exp_gt0 e.
Let two : 0 < 2%:R :> R. Proof. by rewrite ltr0n. Qed.

Lemma in_force_2 r : 0 < r -> in_force swap body query next (freq r) (U2 R).
Proof.
by move=> r0; split; [exact: setting_2 | exact: closure_2 | exact: distinct_2 |
  case: (solution_2 R)].
Qed.

Lemma enough p K : exists k, (0 < k)%N /\ (K * k ^ p < 2 ^ k)%N.
Proof.
pose c := (K * p.+1 ^ p)%N; exists (c.+1 * p.+1)%N; split=> //.
have -> : (2 ^ (c.+1 * p.+1) = 2 ^ c.+1 * (2 ^ c.+1) ^ p)%N by rewrite expnM expnS.
have -> : (K * (c.+1 * p.+1) ^ p = c * c.+1 ^ p)%N by rewrite expnMn mulnCA -/c mulnC.
apply: (@leq_ltn_trans (c * (2 ^ c.+1) ^ p)%N).
  rewrite leq_mul2l; apply/orP; right; move: (c) => d; case: (p) => // k.
  by rewrite leq_exp2r // ltnW // ltn_expl.
by rewrite ltn_pmul2r ?expn_gt0 // ltnW // ltn_expl.
Qed.

Lemma exp1_le : exp 1 <= 4%:R.
Proof.
have h := exp_half e; rewrite [X in exp X](splitr 1) mul1r (exponential_add e).
rewrite (_ : 4%:R = 2%:R * 2%:R :> R); last by rewrite -natrM.
by apply: ler_pmul; rewrite ?(ltW (pos _)).
Qed.

Lemma log_power k : 0 <= log (2 ^ k)%N%:R <= k%:R.
Proof.
have k1 : 1 <= (2 ^ k)%N%:R :> R by rewrite ler1n expn_gt0.
rewrite (log_ge0 e logK) //=; apply: (log_le_exp e logK); first exact: lt_le_trans ltr01 k1.
rewrite -[k%:R]mulr1 (exp_nat e) natrX ler_expn2r // ?nnegrE ?ler0n ?(ltW (pos _)) //.
exact: exponential_tangent e _.
Qed.

(* The second sentence can be as rare as one likes. *)
Lemma rare_enough A eta x t : 0 < x ->
  exists2 r, 0 < r & epsilon exp r A eta t = x.
Proof.
move=> x0; set c := (exp A + 1) / 2%:R * exp (t%:R * (Num.sqrt 2%:R * eta)).
have c0 : 0 < c by rewrite mulr_gt0 ?divr_gt0 ?addr_gt0 ?ltr01.
by exists (x / c); [rewrite divr_gt0 | rewrite /epsilon -/c mulrC divfK ?lt0r_neq0].
Qed.

Lemma gap_2 T eta0 x v : v != swap x ->
  Stage1Law.W_ov swap exp eta0 T x (swap x) - Stage1Law.W_ov swap exp eta0 T x v = T%:R * eta0.
Proof.
have c2 : (1 < #|{: bool}|)%N by rewrite card_bool.
move=> ne; rewrite (equal_margins eta0 c2 pos T ne) card_bool.
by rewrite -[2%:R]/(1 + 1) addrK sqrtr1 divr1.
Qed.

Section Step.
Variable m : nat.
Let eta : R := m.+4%:R^-1.
Lemma eta_gt0 : 0 < eta. Proof. by rewrite invr_gt0 ltr0n. Qed.
Lemma eta_m : eta * m%:R <= 1.
Proof.
by rewrite mulrC ler_pdivr_mulr ?ltr0n // mul1r ler_nat; do 4!apply: leqW.
Qed.
Lemma eta_small : eta <= norm (U2 R) / exp 1.
Proof.
rewrite (solution_2 R).2 mul1r lef_pinv ?posrE ?ltr0n //; apply: le_trans exp1_le _.
by rewrite ler_nat.
Qed.

Let eta_gt0' := eta_gt0.
Let tenth : R := 10%:R^-1.
Let tenth_gt0 : 0 < tenth. Proof. by rewrite invr_gt0 ltr0n. Qed.

(* An angle is left: 1 - cos is at least 1/5. *)
Lemma far r A W_ov t : (forall x v, v != swap x -> W_ov x (swap x) - W_ov x v = A) -> 0 < A ->
  0 < r -> epsilon exp r A eta t = tenth ->
  1 / 5%:R <= 1 - cosine (Stage2.W_kq exp body query next (freq r) W_ov eta t) (U2 R).
Proof.
move=> gap A0 r0 eps; have share_le := margin_share e r0 gap A0 eta_gt0 (leqnn t).
rewrite eps in share_le.
have ten : 10%:R * tenth = 1 by rewrite divff // pnatr_eq0.
have ten1 : tenth <= 1 by rewrite invf_le1 ?ltr0n // ler1n.
have cos_le := cosine_hidden e r0 gap A0 eta_gt0 share_le (ltW tenth_gt0) ten1.
rewrite ler_subr_addr -ler_subr_addl; apply: le_trans cos_le _.
have s0 : 0 < 2%:R + 2%:R * tenth ^+ 2 by rewrite ltr_spaddl // mulr_ge0 ?sqr_ge0 ?ler0n.
have five : 5%:R != 0 :> R by rewrite pnatr_eq0.
have root : 7%:R / 5%:R <= Num.sqrt (2%:R + 2%:R * tenth ^+ 2).
  rewrite -[leLHS]ger0_norm ?divr_ge0 ?ler0n // -sqrtr_sqr ler_wsqrtr //.
  apply: le_trans (_ : 2%:R <= _); last by rewrite ler_addl mulr_ge0 ?ler0n ?sqr_ge0.
  by rewrite expr_div_n -!natrX ler_pdivr_mulr ?ltr0n // -natrM ler_nat.
have -> : 1 - 1 / 5%:R = 4%:R / 5%:R :> R.
  apply: (mulIf five); rewrite mulrBl !divfK // mul1r.
  by rewrite (_ : 5%:R = 4%:R + 1 :> R) ?addrK // -[1]/(1%:R) -natrD.
rewrite ler_pdivr_mulr ?sqrtr_gt0 //; apply: le_trans (ler_wpmul2l _ root); last first.
  by rewrite divr_ge0 ?ler0n.
rewrite -[leLHS](mulfK (_ : 10%:R != 0)) ?pnatr_eq0 // mulrDl mul1r [tenth * _]mulrC ten.
rewrite mulf_div -natrM -natrM ler_pdivr_mulr ?ltr0n // mulrAC ler_pdivl_mulr ?ltr0n //.
by rewrite -[X in _ + X]/(1%:R) -natrD -!natrM ler_nat.
Qed.

Lemma logs_small p K k : (K * k ^ p < 2 ^ k)%N -> K%:R * log (2 ^ k)%N%:R ^+ p < (2 ^ k)%N%:R.
Proof.
have /andP [l0 lk] := log_power k.
rewrite -(ltr_nat R) natrM natrX; apply: le_lt_trans; rewrite ler_wpmul2l ?ler0n //.
by case: p => // p; rewrite ler_pexpn2r ?nnegrE ?ler0n.
Qed.

Lemma longest : L_max body query = 2%N.
Proof. exact: longest_2. Qed.

Theorem theorem_1_refuted C l w p : ~ theorem_1 C l w p m.
Proof.
move=> claim; have [k [k0 kP]] := enough p (5 * (C * 4 * 2 ^ l * m.+4)).
have small := logs_small kP; set t := (2 ^ k)%N in small *.
have t1 : (1 < t)%N by rewrite -{1}(expn0 2) ltn_exp2l.
have A0 : 0 < 1%:R * eta by rewrite mulr_gt0 ?ltr01 ?eta_gt0.
have [r r0 eps] := rare_enough (1%:R * eta) eta t tenth_gt0.
have le := far (gap_2 1 eta) A0 r0 eps.
have := claim bool_finType swap samples2 body query next (freq r) (U2 R) (in_force_2 r0) 1%N t eta
  eta isT eta_gt0 eta_gt0 eta_m eta_m eta_small t1.
move/(le_trans le); apply/negP; rewrite -ltNge count_2 longest (solution_2 R).2 expr1n mulr1.
have tR : 0 < t%:R :> R by rewrite ltr0n ltnW.
rewrite ltr_pdivr_mulr ?mulr_gt0 ?eta_gt0 //.
have -> : 1 / 5%:R * (t%:R * eta) = t%:R / (5%:R * m.+4%:R).
  by rewrite /eta invfM mul1r mulrCA.
rewrite ltr_pdivl_mulr ?mulr_gt0 ?ltr0n //; apply: le_lt_trans small.
rewrite !natrM natrX; move: (5%:R : R) (C%:R : R) (4%:R : R) (2%:R ^+ l) (m.+4%:R : R) (_ ^+ p).
by move=> a b c d f g; rewrite le_eqVlt; apply/orP; left; apply/eqP; calc.
Qed.

(* The attention to the optimal token of the rare sentence. *)
Lemma unread r A W_ov t E : (forall x v, v != swap x -> W_ov x (swap x) - W_ov x v = A) -> 0 < A ->
  0 < r -> epsilon exp r A eta t = 1 -> 0 < E -> 8%:R * E < 1 ->
  Stage2.mass exp body query (Stage2.W_kq exp body query next (freq r) W_ov eta t)
    (compared false) false < 1 / (1 + 2%:R * E).
Proof.
move=> gap A0 r0 eps E0 E1; set W := Stage2.W_kq _ _ _ _ _ _ _ _.
have d1 : margin W false <= 1.
  by apply: le_trans (margin_hidden e r0 gap A0 eta_gt0 t) _; rewrite eps.
have odds := odds_2 e W false; have /andP [m0 m1] := m_bounds e W false.
rewrite /attended in odds m0 m1; move: (Stage2.mass _ _ _ _ _ _) odds m0 m1 => a odds m0 m1.
rewrite ltr_pdivl_mulr ?mul1r; last by rewrite addr_gt0 ?ltr01 ?mulr_gt0.
rewrite mulrDr mulr1 -ltr_subr_addl odds.
apply: le_lt_trans (_ : (1 - a) * exp 1 * (2%:R * E) < _).
  by rewrite ler_pmul2r ?mulr_gt0 // ler_pmul2l ?subr_gt0 //; apply: exp_le e _ _ d1.
rewrite -mulrA -[X in _ < X]mulr1 -odds ltr_pmul2l ?subr_gt0 //; apply: le_lt_trans E1.
rewrite mulrA ler_pmul2r // (_ : 8%:R = 4%:R * 2%:R :> R); last by rewrite -natrM.
by rewrite ler_pmul2r // exp1_le.
Qed.

Theorem theorem_2_refuted C0 a C l w p : ~ theorem_2_weight C0 a C l w p m.
Proof.
move=> claim; have [k1 [k10 k1P]] := enough 1 (C0 * m.+4).
have small1 := logs_small k1P; set T := (2 ^ k1)%N in small1 *.
have [k [k0 kP]] := enough p.+1 (C * 4 * 2 ^ l * m.+4 + 64 * m.+4).
have {}kP : ((C * 4 * 2 ^ l * m.+4 + 64 * m.+4) * k ^ p < 2 ^ k)%N.
  by apply: leq_ltn_trans kP; rewrite leq_mul2l leq_pexp2l ?orbT.
have late : (64 * m.+4 < 2 ^ k)%N.
  apply: leq_ltn_trans kP; apply: (leq_trans (leq_addl (C * 4 * 2 ^ l * m.+4) _)).
  by apply: leq_pmulr; rewrite expn_gt0 k0.
have {}kP : (C * 4 * 2 ^ l * m.+4 * k ^ p < 2 ^ k)%N.
  by apply: leq_ltn_trans kP; rewrite leq_mul2r leq_addr orbT.
have small := logs_small kP; set t := (2 ^ k)%N in small late *.
have t1 : (1 < t)%N by rewrite -{1}(expn0 2) ltn_exp2l.
have T0 : (0 < T)%N by rewrite expn_gt0.
have A0 : 0 < T%:R * eta by rewrite mulr_gt0 ?ltr0n ?eta_gt0.
have [r r0 eps] := rare_enough (T%:R * eta) eta t ltr01.
have star : norm (W_star R swap) = 1.
  rewrite /norm (W_star_norm2 R swap true) card_bool -[2%:R]/(1 + 1) addrK.
  by rewrite sqrtr1.
have log2 : log 2%:R <= 1 by apply: (log_le_exp e logK); rewrite // exponential_tangent.
have := claim bool_finType swap samples2 body query next (freq r) (U2 R) (in_force_2 r0) T t eta
  eta T0 eta_gt0 eta_gt0 eta_m eta_m eta_small t1.
rewrite star (solution_2 R).2 longest count_2 !expr1n !mulr1 card_bool.
rewrite -(norm_sqr (U2 R)) (solution_2 R).2 expr1n mulr1.
have /andP [lT0 _] := log_power k1; rewrite -/T in lT0.
have M0 : 0 < m.+4%:R :> R by rewrite ltr0n.
have first_met : C0%:R * log 2%:R * log T%:R / eta <= T%:R.
  rewrite /eta invrK; apply: le_trans (ltW small1); rewrite expr1 natrM mulrAC.
  rewrite ler_wpmul2r // ler_pmul2r // -[leRHS]mulr1 ler_wpmul2l ?ler0n //.
have second_met : C%:R * 4%:R * 2%:R ^+ l * log t%:R ^+ p / eta <= t%:R.
  rewrite /eta invrK; apply: le_trans (ltW small); rewrite !natrM natrX mulrAC.
  by rewrite le_eqVlt eqxx.
move=> /(_ first_met second_met (compared false)); apply/negP; rewrite -ltNge.
rewrite decider_2 query_compared.
apply: (unread (gap_2 T eta) A0 r0 eps); first exact: pos.
have := expN e (t%:R * (eta / (4%:R * 2%:R))); set c := t%:R * _ => prod.
rewrite -[X in _ < X]prod ltr_pmul2r ?pos //; apply: lt_le_trans (exponential_tangent e _).
rewrite -ltr_subl_addl; apply: lt_le_trans (_ : 8%:R <= _).
  by rewrite gtr_addl oppr_lt0 ltr01.
rewrite /c /eta mulrA ler_pdivl_mulr ?mulr_gt0 ?ltr0n // ler_pdivl_mulr //.
by rewrite -!natrM ler_nat; apply: leq_trans (ltnW late); rewrite leq_mul2r orbT.
Qed.

Theorem lemma_7_refuted C l w : ~ lemma_7 C l w m.
Proof.
move=> claim; have [k [k0 kP]] := enough 1 (20 * (C * 4 * 2 ^ l) * m.+4 + 16 * m.+4).
rewrite expn1 in kP.
have late : (16 * m.+4 < 2 ^ k)%N.
  apply: leq_ltn_trans kP; apply: (leq_trans (leq_addl (20 * (C * 4 * 2 ^ l) * m.+4) _)).
  exact: leq_pmulr.
have {}kP : (20 * (C * 4 * 2 ^ l) * m.+4 * k < 2 ^ k)%N.
  by apply: leq_ltn_trans kP; rewrite leq_mul2r leq_addr orbT.
have /andP [l0 lk] := log_power k; set t := (2 ^ k)%N in kP late l0 lk *.
have t1 : (1 < t)%N by rewrite -{1}(expn0 2) ltn_exp2l.
have A0 : 0 < 1%:R * eta by rewrite mulr_gt0 ?ltr01 ?eta_gt0.
have [r r0 eps] := rare_enough (1%:R * eta) eta t tenth_gt0.
have M0 : 0 < m.+4%:R :> R by rewrite ltr0n.
have tR : 0 < t%:R :> R by rewrite ltr0n ltnW.
have te : 0 < t%:R * eta by rewrite mulr_gt0 ?eta_gt0.
have := claim bool_finType swap samples2 body query next (freq r) (U2 R) (in_force_2 r0) 1%N t eta
  eta isT eta_gt0 eta_gt0 eta_m eta_m.
cbv zeta; rewrite -(norm_sqr (U2 R)) (solution_2 R).2 longest count_2 !expr1n !mulr1.
have far_enough : 8%:R * 2%:R / eta <= t%:R.
  by rewrite /eta invrK -!natrM ler_nat ltnW.
move=> /(_ far_enough).
set W_ov := Stage1Law.W_ov _ _ _ _; set W := Stage2.W_kq _ _ _ _ _ _ _ _.
have gap := gap_2 1 eta : forall x v, v != swap x -> W_ov x (swap x) - W_ov x v = 1%:R * eta.
have [push_le margin_small] : push exp r W_ov W false <= tenth * push exp r W_ov W true /\
    margin W false <= tenth * margin W true.
  have f := force_hidden e r0 gap A0 eta_gt0 t.
  have d := margin_share e r0 gap A0 eta_gt0 (leqnn t).
  by rewrite eps in f d; split.
have data := setting_2 r0.
have L2 i : (size (Stage2.sentence body query i) <= 2)%N by case: i => [[] []].
have [W_le _ W_ge] := lemma_6 pos gap (collocation data) (shares data) A0 (exponential_add e)
  (exp_le e) eta_gt0 (often data) L2 (solution_2 R).1 (compares data) t.
rewrite -/W (solution_2 R).2 mulr1 in W_le W_ge.
have f0 := push_gt0 e r0 gap A0 W true.
have f1 := push_gt0 e r0 gap A0 W false.
have d0 := margin_ge0 e r0 gap A0 eta_gt0 t true.
have d1 := margin_ge0 e r0 gap A0 eta_gt0 t false.
rewrite -/W in d0 d1.
have W0 : 0 < norm W.
  by apply: lt_le_trans W_ge; rewrite divr_gt0 ?sqrtr_gt0.
(* |W| is at most 3/4 of the common margin, ... *)
have W_margin : norm W <= 3%:R / 4%:R * margin W true.
  have c0 : 0 <= 3%:R / 4%:R * margin W true by rewrite mulr_ge0 ?divr_ge0 ?ler0n.
  apply: norm_le => //; rewrite -(ler_pmul2l two) (Norm2_kq e r W_ov eta t) -/W.
  apply: le_trans (_ : margin W true ^+ 2 + (tenth * margin W true) ^+ 2 <= _).
    by rewrite ler_add2l ler_pexpn2r ?nnegrE ?mulr_ge0 // ltW.
  rewrite [(tenth * _) ^+ 2]exprMn [(_ / _ * _) ^+ 2]exprMn [leRHS]mulrA.
  rewrite -[X in X + _]mul1r -mulrDl; apply: ler_wpmul2r; first exact: sqr_ge0.
  have sq : tenth ^+ 2 <= tenth.
    by rewrite expr2 ler_pimulr ?(ltW tenth_gt0) // invf_le1 ?ltr0n // ler1n.
  rewrite expr_div_n -!natrX mulrA -natrM ler_pdivl_mulr ?ltr0n // mulrDl mul1r.
  apply: le_trans (_ : (4 ^ 2)%:R + tenth * (4 ^ 2)%:R <= _).
    by rewrite ler_add2l ler_pmul2r // ltr0n.
  rewrite -ler_subr_addl -natrB // mulrC ler_pdivr_mulr ?ltr0n //.
  by rewrite -natrM ler_nat.
have dT : 0 < margin W true.
  have c0 : 0 < 3%:R / 4%:R :> R by rewrite divr_gt0 ?ltr0n.
  by rewrite -(pmulr_rgt0 _ c0); apply: lt_le_trans W_margin.
(* ... and alpha is at most 1/5. *)
set alpha := C%:R * _ * _ / _ * _.
have small : alpha <= 1 / 5%:R.
  have W_half : t%:R * eta / 2%:R <= norm W.
    apply: le_trans W_ge; rewrite ler_pmul2l // lef_pinv ?posrE ?sqrtr_gt0 //.
    by rewrite -[leRHS]ger0_norm ?ler0n // -sqrtr_sqr ler_wsqrtr // -natrX ler_nat.
  have log_le : 1 + log (2%:R * 2%:R * norm W) <= 2%:R * k%:R.
    rewrite [leRHS]mulr_natl [leRHS]mulr2n; apply: ler_add; first by rewrite ler1n.
    apply: le_trans lk; apply: (log_le e logK); first by rewrite !mulr_gt0.
    apply: le_trans (_ : 2%:R * 2%:R * (t%:R * eta) <= _).
      by apply: ler_wpmul2l; [rewrite -natrM ler0n | exact: W_le].
    rewrite mulrCA ler_pimulr ?(ltW tR) // /eta ler_pdivr_mulr // mul1r -natrM ler_nat.
    by do 4!rewrite ltnS.
  have C_ge0 : 0 <= C%:R * 4%:R * 2%:R ^+ l :> R by rewrite -natrX -!natrM ler0n.
  apply: le_trans (_ : C%:R * 4%:R * 2%:R ^+ l / (t%:R * eta / 2%:R) * (2%:R * k%:R) <= _).
    rewrite /alpha; apply: le_trans (ler_wpmul2l _ log_le) _; first by rewrite divr_ge0 // ltW.
    apply: ler_wpmul2r; first by rewrite -natrM ler0n.
    by rewrite ler_wpmul2l // lef_pinv ?posrE ?divr_gt0.
  rewrite ler_pdivl_mulr ?ltr0n // -(ler_pmul2r tR) mul1r.
  apply: le_trans (_ : (20 * (C * 4 * 2 ^ l) * m.+4 * k)%:R <= _); last by rewrite ler_nat ltnW.
  rewrite /eta !natrM natrX (_ : 20%:R = 2%:R * 2%:R * 5%:R :> R); last by rewrite -!natrM.
  move: two tR M0 => /lt0r_neq0 /eqP h2 /lt0r_neq0 /eqP ht /lt0r_neq0 /eqP hm.
  rewrite le_eqVlt; apply/orP; left; apply/eqP.
  move: (C%:R : R) (4%:R : R) (5%:R : R) (k%:R : R) (2%:R : R) (2%:R ^+ l) h2 => c f v u h g hh.
  by move: (t%:R : R) (m.+4%:R : R) ht hm => a b ha hb; named R; field.
set G := Stage2.gradient _ _ _ _ _ _ _; set fT := push exp r W_ov W true in f0 push_le.
set fF := push exp r W_ov W false in f1 push_le.
have GT x : G true x = if x then - fT else fT.
  by case: x; [rewrite /fT /push opprK | exact: (gradient_other e r W_ov W true)].
have GF x : G false x = if x then fF else - fF.
  by case: x; [exact: (gradient_other e r W_ov W false) | rewrite /fF /push opprK].
have -> : inner G (U2 R) = - (fT + fF).
  rewrite inner_2 !GT !GF /U2 /=; move: two => /lt0r_neq0 /eqP; rewrite -[2%:R]/(1 + 1) => h2.
  by named R; field.
have -> : inner G W = - (fT * margin W true + fF * margin W false).
  by rewrite inner_2 !GT !GF /margin /=; calc.
rewrite divr1 mulrN mulNr ler_opp2; apply/negP; rewrite -ltNge.
have ten0 : 10%:R != 0 :> R by rewrite pnatr_eq0.
have five0 : 5%:R != 0 :> R by rewrite pnatr_eq0.
have tenth1 : 1 + tenth = 11%:R / 10%:R.
  rewrite /tenth; apply: (mulIf ten0); rewrite mulrDl divfK // mulVf // mul1r.
  by rewrite -[X in _ + X]/(1%:R) -natrD.
have fifth : 1 + 1 / 5%:R = 6%:R / 5%:R :> R.
  apply: (mulIf five0); rewrite mulrDl !divfK // mul1r.
  by rewrite -[X in _ + X]/(1%:R) -natrD.
have f_le : fT + fF <= 11%:R / 10%:R * fT by rewrite -tenth1 mulrDl mul1r ler_add2l.
have a_le : 1 + alpha <= 6%:R / 5%:R by rewrite -fifth ler_add2l.
have sum0 : 0 <= fT + fF by rewrite addr_ge0 // ltW.
apply: le_lt_trans (_ : 6%:R / 5%:R * (11%:R / 10%:R * fT) * (3%:R / 4%:R * margin W true) < _).
  apply: le_trans (_ : 6%:R / 5%:R * (fT + fF) * norm W <= _).
    by rewrite ler_wpmul2r ?norm_ge0 // ler_wpmul2r.
  apply: ler_pmul; rewrite ?norm_ge0 //; first by rewrite mulr_ge0 ?divr_ge0 ?ler0n.
  by rewrite ler_wpmul2l ?divr_ge0 ?ler0n.
have -> : 6%:R / 5%:R * (11%:R / 10%:R * fT) * (3%:R / 4%:R * margin W true) =
    6%:R / 5%:R * (11%:R / 10%:R) * (3%:R / 4%:R) * (fT * margin W true).
  by move: (6%:R / 5%:R : R) (11%:R / 10%:R : R) (3%:R / 4%:R : R) => a b c; calc.
apply: lt_le_trans (_ : fT * margin W true <= _).
  rewrite gtr_pmull ?mulr_gt0 // !mulf_div -!natrM ltr_pdivr_mulr ?ltr0n // mul1r ltr_nat.
  by [].
by rewrite ler_addl mulr_ge0 // ltW.
Qed.
End Step.
End Printed.
