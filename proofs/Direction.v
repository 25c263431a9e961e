(* Theorem A in its second form, and Theorem B: the direction of stage 2, for every step size.
   Page: huang2024_s5_convergence, labels ours-alignment, ours-direction, ours-trivial-bound. *)
From Coq Require Import Ring Field.
From mathcomp Require Import all_ssreflect all_algebra.
From Companion Require Import Fields Exponential Orders MaxMargin Frobenius Stage1Law Stage2
  Alignment.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

(* One step of normalised descent, along U and across; by numbers. *)
Section Numbers.
Variable R : rcfType.
Add Field scores : (is_field R).
Ltac calc := named R; ring.

(* 1 - cos is at most half of tan^2. *)
Lemma half_tangent (c : R) : 0 < c -> c <= 1 -> 1 - c <= (c^-1 ^+ 2 - 1) / 2%:R.
Proof.
move=> c0 c1; have two : 0 < 2%:R :> R by rewrite ltr0n.
rewrite ler_pdivl_mulr // -subr_ge0.
have -> : c^-1 ^+ 2 - 1 - (1 - c) * 2%:R = (1 - c) * ((1 - c) * (1 + 2%:R * c)) / c ^+ 2.
  move: c0 => /lt0r_neq0 /eqP c0; rewrite -[2%:R]/(1 + 1); named R; field; by [].
rewrite divr_ge0 ?sqr_ge0 //; do 2!(apply: mulr_ge0; first by rewrite subr_ge0).
by rewrite addr_ge0 ?ler01 // mulr_ge0 // ltW.
Qed.
End Numbers.

Section Direction.
Variables (R : rcfType) (V : finType) (n : V -> V) (exp : R -> R).
Variables (I : finType) (body : I -> seq V) (query next : I -> V) (freq : I -> R).
Variable W_ov : V -> V -> R.
Implicit Types (W : V -> V -> R) (i : I) (q x y v j k : V) (t : nat).
Add Field scores2 : (is_field R).
Ltac calc := named R; ring.
Notation sentence := (@sentence V I body query).
Notation gradient := (@gradient R V exp I body query next freq W_ov).
Notation decider := (@decider V n I body query next).
Notation rival := (@rival V n I body query next).
Notation leads := (@leads R V n exp I body query next).
Notation force := (@force R V n exp I body query next freq W_ov).

Hypotheses (expo : exponential exp) (data : setting n body query next freq).
Variables (A : R) (L : nat).
Hypotheses (gap : forall x v, v != n x -> W_ov x (n x) - W_ov x v = A) (A_gt0 : 0 < A).
Hypothesis L_max : forall i, (size (sentence i) <= L)%N.
Let exp_pos := exp_gt0 expo.
Let asm1 := collocation data.
Let freq_gt0 := shares data.
(* The solution U of (12); pi_min bounds the frequencies of the samples that compare; K. *)
Variables (U : V -> V -> R) (pi_min K : R).
Hypothesis solU : @solves12 R V n I body query next U.
Hypotheses (pi_min_gt0 : 0 < pi_min) (pi_minP : forall i j, rival i j -> pi_min <= freq i).
Hypothesis K_large : 2%:R * L%:R ^+ 2 * (L%:R - 1) ^+ 3 / pi_min <= exp K.
Variable eta : R.
Hypothesis eta_gt0 : 0 < eta.
Notation W_kq := (@W_kq R V exp I body query next freq W_ov eta).
Notation d t := (direction gradient eta (fun _ _ => 0) t).
Notation S := (Norm2 U).
Notation w := (norm U).
Notation root2 := (Num.sqrt (2%:R : R)).

Let lead t : leads (W_kq t) :=
  always_leads exp_pos gap asm1 freq_gt0 A_gt0 (exponential_add expo) (exp_le expo) eta_gt0
    (often data) t.
Let w_gt0 : 0 < w :=
  norm_U_gt0 exp_pos gap asm1 freq_gt0 A_gt0 (exponential_add expo) (exp_le expo) eta_gt0 (often
    data)
    solU (compares data).
Let root2_gt0 : 0 < root2. Proof. by rewrite sqrtr_gt0 ltr0n. Qed.
Let root2_sqr : root2 ^+ 2 = 2%:R. Proof. by rewrite sqr_sqrtr ?ler0n. Qed.

Lemma K_ge0 : 0 <= K.
Proof.
rewrite leNgt; apply/negP => neg.
have : exp K <= 1 by rewrite -(exp0 expo); apply/(exp_le expo)/ltW.
apply/negP; rewrite -ltNge; apply: lt_le_trans K_large.
case: (compares data) => i [j ij].
have L2 : 2%:R <= L%:R :> R := L_ge2 data L_max.
have p1 : pi_min <= 1.
  apply: le_trans (pi_minP ij) _.
  by rewrite -(shares_total data) (bigD1 i) //= ler_addl; apply: sumr_ge0 => k _; apply: ltW.
rewrite ltr_pdivl_mulr // mul1r; apply: le_lt_trans p1 _.
have k1 : 1 <= (L%:R - 1) ^+ 3 :> R by rewrite exprn_ege1 // ler_subr_addr.
have l1 : 1 <= L%:R ^+ 2 :> R by rewrite exprn_ege1 // (le_trans _ L2) // ler1n.
apply: lt_le_trans (_ : 2%:R <= _); first by rewrite ltr1n.
by rewrite -mulrA ler_pemulr ?ler0n // mulr_ege1.
Qed.

(* Theorem A, second form. *)
Theorem theorem_A_cosine W : leads W -> 0 < norm W ->
  (1 + K * w / norm W) * inner (gradient W) U * (norm W / w) <= inner (gradient W) W.
Proof.
move=> ld W0.
have tA := theorem_A expo data gap A_gt0 L_max solU pi_min_gt0 pi_minP K_large ld.
have along := along_U exp_pos gap asm1 freq_gt0 A_gt0 solU ld.
have F0 := force_gt0 exp_pos gap asm1 freq_gt0 A_gt0 (compares data) W.
rewrite -ler_opp2; apply: le_trans tA _.
have -> : - ((1 + K * w / norm W) * inner (gradient W) U * (norm W / w)) =
    - inner (gradient W) U * (norm W / w + K).
  move: W0 w_gt0 => /lt0r_neq0 /eqP W0 /lt0r_neq0 /eqP w0.
  move: (norm W) w W0 w0 (inner _ _) => a b a0 b0 c; named R; field; by [].
have sum0 : 0 <= norm W / w + K.
  by apply: addr_ge0; [rewrite divr_ge0 ?norm_ge0 | apply: K_ge0].
apply: le_trans (ler_wpmul2r sum0 along); rewrite ler_pmul2l // ler_add2r -norm_sqr.
by rewrite ler_pdivr_mulr ?exprn_gt0 // expr2 mulrA divfK ?lt0r_neq0 // mulrC inner_norm.
Qed.

(* The part of W(t) along U, and the square of the part across. *)
Definition along t : R := inner U (W_kq t) / w.
Definition across t q x : R := W_kq t q x + - (along t / w) * U q x.

Lemma across_norm2 t : Norm2 (across t) = Norm2 (W_kq t) - along t ^+ 2.
Proof.
rewrite (Norm2_add (W_kq t) _ U) -!norm_sqr innerC.
have -> : inner U (W_kq t) = along t * w by rewrite divfK // lt0r_neq0.
move: w_gt0 => /lt0r_neq0 /eqP w0; move: (along t) (norm (W_kq t)) => a b.
rewrite -[2%:R]/(1 + 1); named R; field; by [].
Qed.

(* The gain of a step along U. *)
Let gain t : R := inner U (d t) / w.

Lemma alongS t : along t.+1 = along t + eta * gain t.
Proof.
rewrite /along (eq_inner (fun q => frefl _) (descentS gradient eta (fun _ _ => 0) t)).
by rewrite inner_add mulrDl mulrA.
Qed.

Let dE W' t : inner (d t) W' = - inner (gradient (W_kq t)) W' / norm (gradient (W_kq t)).
Proof.
rewrite [LHS]innerC [inner _ W']innerC mulNr -mulrN mulrC -inner_scale.
by apply: eq_inner => // q x; rewrite /direction mulNr mulrC.
Qed.

Let gradient_gt0 t : 0 < norm (gradient (W_kq t)).
Proof. by case: (gradient_part exp_pos gap asm1 freq_gt0 A_gt0 solU (compares data) (@lead t)). Qed.

Lemma gain_ge t : 1 / (root2 * w) <= gain t.
Proof.
case: (gradient_part exp_pos gap asm1 freq_gt0 A_gt0 solU (compares data) (@lead t)) => g0 le.
rewrite /gain innerC dE invfM mulrA ler_pmul2r ?invr_gt0 // ler_pdivl_mulr // mul1r.
exact: le.
Qed.

Theorem along_lower t : t%:R * eta / (root2 * w) <= along t.
Proof.
elim: t => [|t IH].
  rewrite !mul0r /along (_ : inner U _ = 0) ?mul0r //.
  by apply: big1 => q _; apply: big1 => x _; rewrite mulr0.
rewrite alongS -[t.+1]addn1 natrD !mulrDl mul1r; apply: ler_add => //.
by rewrite ler_pmul2l // -[_^-1]mul1r; apply: gain_ge.
Qed.

Lemma along_ge0 t : 0 <= along t.
Proof.
apply: le_trans (along_lower t); rewrite divr_ge0 ?mulr_ge0 ?ler0n ?norm_ge0 ?ltW //.
Qed.

(* By Theorem A a step is nearly at a right angle to the part across. *)
Lemma step_bound t : inner (d t) (W_kq t) <= gain t * (along t + K * w).
Proof.
have g0 := gradient_gt0 t.
have tA := theorem_A expo data gap A_gt0 L_max solU pi_min_gt0 pi_minP K_large (@lead t).
have le := along_U exp_pos gap asm1 freq_gt0 A_gt0 solU (@lead t).
have F0 := force_gt0 exp_pos gap asm1 freq_gt0 A_gt0 (compares data) (W_kq t).
have gE : gain t = - inner (gradient (W_kq t)) U / norm (gradient (W_kq t)) / w.
  by rewrite /gain innerC dE.
have uE : inner U (W_kq t) = along t * w by rewrite divfK // lt0r_neq0.
have sum0 : 0 <= inner U (W_kq t) / S + K.
  apply: addr_ge0; last exact: K_ge0.
  by rewrite uE; apply: divr_ge0; [apply: mulr_ge0; [exact: along_ge0 | exact: norm_ge0] |
    exact: Norm2_ge0].
have -> : gain t * (along t + K * w) =
    - inner (gradient (W_kq t)) U * (inner U (W_kq t) / S + K) / norm (gradient (W_kq t)).
  rewrite gE uE -norm_sqr; move: g0 w_gt0 => /lt0r_neq0 /eqP g0 /lt0r_neq0 /eqP w0.
  move: (norm _) w g0 w0 (inner _ _) (along t) => a b a0 b0 c e.
  by named R; field.
rewrite dE ler_pmul2r ?invr_gt0 //.
exact: le_trans tA (ler_wpmul2r sum0 le).
Qed.

(* The first bound of Theorem B. *)
Theorem across_upper t : Norm2 (across t) <= 2%:R * K * w * along t + eta ^+ 2 * t%:R.
Proof.
rewrite across_norm2; elim: t => [|t IH].
  have zero : inner U (W_kq 0) = 0 by apply: big1 => q _; apply: big1 => x _; rewrite mulr0.
  rewrite /along zero mul0r !mulr0 expr0n subr0 addr0 /Norm2 /inner big1 ?lexx // => q _.
  by apply: big1 => x _; rewrite mul0r.
have -> : Norm2 (W_kq t.+1) =
    Norm2 (W_kq t) + 2%:R * eta * inner (d t) (W_kq t) + eta ^+ 2 * Norm2 (d t).
  rewrite [inner (d t) _]innerC -Norm2_add; have e := descentS gradient eta (fun _ _ => 0) t.
  exact: eq_inner.
have n1 : Norm2 (d t) <= 1.
  by rewrite -norm_sqr exprn_ile1 ?norm_ge0 // norm_direction.
have step := step_bound t.
apply: le_trans (_ : Norm2 (W_kq t) + 2%:R * eta * (gain t * (along t + K * w)) + eta ^+ 2 -
  along t.+1 ^+ 2 <= _).
  rewrite ler_add2r; apply: ler_add; last by rewrite ler_pimulr // sqr_ge0.
  by rewrite ler_add2l ler_pmul2l // mulr_gt0 ?ltr0n.
rewrite alongS; apply: le_trans (_ : (Norm2 (W_kq t) - along t ^+ 2) +
  2%:R * K * w * (eta * gain t) + eta ^+ 2 <= _); last first.
  rewrite -[t.+1]addn1 natrD !mulrDr mulr1 !addrA ler_add2r.
  by rewrite [leRHS]addrAC ler_add2r.
rewrite -subr_ge0; move: (Norm2 (W_kq t)) (along t) (gain t) => a x g.
have -> : a - x ^+ 2 + 2%:R * K * w * (eta * g) + eta ^+ 2 -
    (a + 2%:R * eta * (g * (x + K * w)) + eta ^+ 2 - (x + eta * g) ^+ 2) = (eta * g) ^+ 2.
  by rewrite -[2%:R]/(1 + 1); calc.
exact: sqr_ge0.
Qed.

Let two_gt0 : 0 < 2%:R :> R. Proof. by rewrite ltr0n. Qed.

Lemma along_gt0 t : (0 < t)%N -> 0 < along t.
Proof.
move=> t0; apply: lt_le_trans (along_lower t).
by rewrite divr_gt0 ?mulr_gt0 ?ltr0n.
Qed.

(* The second: the square of the tangent. *)
Theorem tangent_upper t : (0 < t)%N ->
  Norm2 (across t) / along t ^+ 2 <= 2%:R * S / t%:R * (1 + root2 * K / eta).
Proof.
move=> t0; have x0 := along_gt0 t0; have tR : 0 < t%:R :> R by rewrite ltr0n.
set low := t%:R * eta / (root2 * w); have l0 : 0 < low by rewrite divr_gt0 ?mulr_gt0.
have le := along_lower t; rewrite -/low in le.
have inv : (along t)^-1 <= low^-1 by rewrite lef_pinv.
apply: le_trans (_ : (2%:R * K * w * along t + eta ^+ 2 * t%:R) / along t ^+ 2 <= _).
  by rewrite ler_pmul2r ?invr_gt0 ?exprn_gt0 // across_upper.
have -> : (2%:R * K * w * along t + eta ^+ 2 * t%:R) / along t ^+ 2 =
    2%:R * K * w * (along t)^-1 + eta ^+ 2 * t%:R * (along t)^-1 ^+ 2.
  move: x0 => /lt0r_neq0 /eqP; move: (along t) (2%:R : R) (t%:R : R) => x a b xn0.
  by named R; field.
apply: le_trans (_ : 2%:R * K * w * low^-1 + eta ^+ 2 * t%:R * low^-1 ^+ 2 <= _).
  apply: ler_add.
    by rewrite ler_wpmul2l // !mulr_ge0 ?ler0n ?K_ge0 ?norm_ge0.
  apply: ler_wpmul2l; first by rewrite mulr_ge0 ?sqr_ge0 ?ler0n.
  by rewrite ler_pexpn2r // nnegrE invr_ge0 ltW.
have -> : 2%:R * K * w * low^-1 + eta ^+ 2 * t%:R * low^-1 ^+ 2 =
    2%:R * S / t%:R * (1 + root2 * K / eta).
  rewrite /low -(norm_sqr U); have := root2_gt0; have := root2_sqr.
  move: root2 => r <- /lt0r_neq0 /eqP r1.
  move: tR eta_gt0 w_gt0 => /lt0r_neq0 /eqP t1 /lt0r_neq0 /eqP e1 /lt0r_neq0 /eqP w1.
  by move: (t%:R : R) w t1 w1 => a b a0 b0; named R; field.
exact: lexx.
Qed.

Notation cosine := (inner U (W_kq _) / (norm (W_kq _) * w)).

Lemma norm_W t : norm (W_kq t) ^+ 2 = along t ^+ 2 + Norm2 (across t).
Proof. by rewrite across_norm2 norm_sqr addrC subrK. Qed.

(* The third: the cosine. *)
Theorem theorem_B t : (0 < t)%N ->
  1 - inner (W_kq t) U / (norm (W_kq t) * w) <= S / t%:R * (1 + root2 * K / eta).
Proof.
move=> t0; have x0 := along_gt0 t0.
have W0 : 0 < norm (W_kq t).
  rewrite lt_neqAle norm_ge0 andbT eq_sym; apply/eqP => zero; have := norm_W t.
  rewrite zero expr0n => /esym /eqP; rewrite paddr_eq0 ?sqr_ge0 ?Norm2_ge0 //.
  by rewrite sqrf_eq0 (gt_eqF x0).
set c := _ / _; have cE : c = along t / norm (W_kq t).
  rewrite /c innerC /along; move: W0 w_gt0 => /lt0r_neq0 /eqP W0 /lt0r_neq0 /eqP w0.
  by move: (norm _) w W0 w0 (inner _ _) => a b a0 b0 e; named R; field.
have c0 : 0 < c by rewrite cE divr_gt0.
have c1 : c <= 1.
  by rewrite /c ler_pdivr_mulr ?mulr_gt0 // mul1r inner_norm.
apply: le_trans (half_tangent c0 c1) _; rewrite ler_pdivr_mulr //.
have -> : c^-1 ^+ 2 - 1 = Norm2 (across t) / along t ^+ 2.
  rewrite cE across_norm2 -norm_sqr; move: W0 x0 => /lt0r_neq0 /eqP W0 /lt0r_neq0 /eqP x0.
  by move: (norm _) (along t) W0 x0 => a b a0 b0; named R; field.
apply: le_trans (tangent_upper t0) _; rewrite le_eqVlt; apply/orP; left; apply/eqP.
by move: (2%:R : R) (t%:R^-1 : R) S (1 + _) => a b c0' e; calc.
Qed.

(* The trivial bound. *)
Theorem norm_bounds t : [/\ t%:R * eta / (root2 * w) <= along t, along t <= norm (W_kq t) &
  norm (W_kq t) <= t%:R * eta].
Proof.
split; first exact: along_lower.
  by rewrite /along ler_pdivr_mulr // innerC; apply: inner_norm.
have zero : norm (fun _ _ : V => 0 : R) = 0.
  by apply: le_anti; rewrite norm_ge0 andbT; apply: norm_le => //;
    rewrite expr0n /Norm2 /inner big1 // => q _; apply: big1 => x _; rewrite mul0r.
by have := norm_upper gradient (fun _ _ => 0) (ltW eta_gt0) t; rewrite zero addr0.
Qed.

Theorem trivial_bound t : (0 < t)%N ->
  1 / (root2 * w) <= inner (W_kq t) U / (norm (W_kq t) * w).
Proof.
move=> t0; have te : 0 < t%:R * eta by rewrite mulr_gt0 ?ltr0n.
have [low _ W1] := norm_bounds t.
have x0 := along_gt0 t0.
have W0 : 0 < norm (W_kq t).
  rewrite lt_neqAle norm_ge0 andbT eq_sym; apply/eqP => zero; have := norm_W t.
  rewrite zero expr0n => /esym /eqP; rewrite paddr_eq0 ?sqr_ge0 ?Norm2_ge0 //.
  by rewrite sqrf_eq0 (gt_eqF x0).
have -> : inner (W_kq t) U / (norm (W_kq t) * w) = along t / norm (W_kq t).
  rewrite innerC /along; move: W0 w_gt0 => /lt0r_neq0 /eqP W0 /lt0r_neq0 /eqP w0.
  by move: (norm _) w W0 w0 (inner _ _) => a b a0 b0 e; named R; field.
rewrite ler_pdivl_mulr //; apply: le_trans low.
by rewrite mulrC mul1r ler_pmul2r ?invr_gt0 ?mulr_gt0.
Qed.

(* Margins. *)
Lemma across_margin t q x y : (across t q x - across t q y) ^+ 2 <= 2%:R * Norm2 (across t).
Proof.
have [->|xy] := eqVneq x y.
  by rewrite subrr expr0n mulr_ge0 ?ler0n ?Norm2_ge0.
have le : across t q x ^+ 2 + across t q y ^+ 2 <= Norm2 (across t).
  have sq z : 0 <= across t q z * across t q z by rewrite -expr2 sqr_ge0.
  rewrite /Norm2 /inner (bigD1 q) //= ler_paddr //.
    by apply: sumr_ge0 => p _; apply: norm2_ge0.
  rewrite /dot (bigD1 x) //= (bigD1 y) //=; last by rewrite eq_sym.
  by rewrite addrA -!expr2 ler_addl; apply: sumr_ge0 => z _; apply: sq.
apply: le_trans (_ : 2%:R * (across t q x ^+ 2 + across t q y ^+ 2) <= _); last first.
  by rewrite ler_pmul2l.
rewrite -subr_ge0; move: (across t q x) (across t q y) => a b.
have -> : 2%:R * (a ^+ 2 + b ^+ 2) - (a - b) ^+ 2 = (a + b) ^+ 2.
  by rewrite -[2%:R]/(1 + 1); calc.
exact: sqr_ge0.
Qed.

Theorem theorem_B_margins t i j : rival i j ->
  32%:R * S ^+ 2 <= t%:R -> 32%:R * S ^+ 2 * (root2 * K / eta) <= t%:R ->
  along t / (2%:R * w) <= W_kq t (query i) (decider i) - W_kq t (query i) j /\
  t%:R * eta / (2%:R * root2 * S) <= along t / (2%:R * w).
Proof.
move=> ij t1 t2; have S0 : 0 < S by rewrite -norm_sqr exprn_gt0.
have t_gt0 : 0 < t%:R :> R.
  by apply: lt_le_trans t1; rewrite mulr_gt0 ?ltr0n ?exprn_gt0.
have t0 : (0 < t)%N by rewrite ltr0n in t_gt0.
have x0 := along_gt0 t0; have low := along_lower t; split; last first.
  apply: le_trans (_ : t%:R * eta / (root2 * w) / (2%:R * w) <= _); last first.
    by rewrite ler_pmul2r // invr_gt0 mulr_gt0.
  rewrite le_eqVlt; apply/orP; left; apply/eqP; rewrite -(norm_sqr U).
  move: w_gt0 root2_gt0 two_gt0 => /lt0r_neq0 /eqP w0 /lt0r_neq0 /eqP r0 /lt0r_neq0 /eqP n0.
  by move: w root2 (2%:R : R) w0 r0 n0 => a b c a0 b0 c0; named R; field.
pose y v := across t (query i) v.
have WE v : W_kq t (query i) v = along t / w * U (query i) v + y v.
  by rewrite /y /across addrCA -mulrDl subrr mul0r addr0.
have -> : W_kq t (query i) (decider i) - W_kq t (query i) j =
    along t / w * (U (query i) (decider i) - U (query i) j) + (y (decider i) - y j).
  by rewrite !WE; move: (along t / w) (y _) (y _) => a b c; calc.
have xw : 0 < along t / w by rewrite divr_gt0.
have half : along t / (2%:R * w) + along t / (2%:R * w) = along t / w.
  rewrite -mulr2n -[_ *+ 2]mulr_natr; move: w_gt0 two_gt0 => /lt0r_neq0 /eqP w0 /lt0r_neq0 /eqP.
  by move: (along t) w w0 (2%:R : R) => x a a0 c c0; named R; field.
have m1 : along t / w <= along t / w * (U (query i) (decider i) - U (query i) j).
  by rewrite ler_pemulr ?(ltW xw) // (U_margin data solU).
suff low_y : - (along t / (2%:R * w)) <= y (decider i) - y j.
  apply: le_trans (ler_add m1 low_y); by rewrite -half addrK.
(* it is enough that 8 S |y|^2 <= x^2 *)
have small : 2%:R * Norm2 (across t) <= (along t / (2%:R * w)) ^+ 2.
  set x := along t in x0 low *; set N : R := t%:R in t1 t2 t_gt0 low *.
  have up := across_upper t; rewrite -/x -/N in up.
  have a1 : 32%:R * K * w ^+ 3 <= x.
    apply: le_trans low; rewrite ler_pdivl_mulr ?mulr_gt0 //.
    have -> : 32%:R * K * w ^+ 3 * (root2 * w) = 32%:R * S ^+ 2 * (root2 * K).
      rewrite -(norm_sqr U) [_ ^+ 3]exprS; move: root2 w (32%:R : R) => a b c; calc.
    by rewrite -ler_pdivr_mulr // -[X in X <= _]mulrA.
  have a2 : 16%:R * S * eta ^+ 2 * N <= x ^+ 2.
    apply: le_trans (_ : (N * eta / (root2 * w)) ^+ 2 <= _); last first.
      by rewrite ler_pexpn2r ?nnegrE ?(ltW x0) // ltW // divr_gt0 ?mulr_gt0.
    rewrite expr_div_n ler_pdivl_mulr ?exprn_gt0 ?mulr_gt0 // exprMn root2_sqr norm_sqr.
    have -> : 16%:R * S * eta ^+ 2 * N * (2%:R * S) = 32%:R * S ^+ 2 * (N * eta ^+ 2).
      rewrite (_ : 32%:R = 16%:R * 2%:R :> R); last by rewrite -natrM.
      by move: (16%:R : R) (2%:R : R) S => a b c; calc.
    have -> : (N * eta) ^+ 2 = N * (N * eta ^+ 2) by calc.
    by rewrite ler_pmul2r // mulr_gt0 ?exprn_gt0.
  rewrite expr_div_n ler_pdivl_mulr ?exprn_gt0 ?mulr_gt0 //.
  apply: le_trans (_ : 2%:R * (2%:R * K * w * x + eta ^+ 2 * N) * (2%:R * w) ^+ 2 <= _).
    by rewrite ler_pmul2r ?exprn_gt0 ?mulr_gt0 // ler_pmul2l.
  rewrite -(ler_pmul2l two_gt0); apply: le_trans (_ : x * x + x ^+ 2 <= _); last first.
    by rewrite -expr2 mulr_natl mulr2n.
  apply: le_trans (_ : 32%:R * K * w ^+ 3 * x + 16%:R * S * eta ^+ 2 * N <= _); last first.
    by apply: ler_add => //; rewrite ler_pmul2r.
  rewrite le_eqVlt; apply/orP; left; apply/eqP; rewrite -(norm_sqr U) [w ^+ 3]exprS.
  rewrite (_ : 32%:R = 2%:R * 2%:R * 2%:R * 2%:R * 2%:R :> R); last by rewrite -!natrM.
  rewrite (_ : 16%:R = 2%:R * 2%:R * 2%:R * 2%:R :> R); last by rewrite -!natrM.
  by move: w (2%:R : R) => a b; calc.
have h0 : 0 <= along t / (2%:R * w) by apply: divr_ge0; apply: ltW => //; apply: mulr_gt0.
have := le_trans (across_margin t (query i) (decider i) j) small; rewrite -/(y _) -/(y j).
rewrite -[X in X <= _]real_normK ?num_real // ler_pexpn2r ?nnegrE ?normr_ge0 // => /ler_normlP [le
  _].
by rewrite ler_oppl.
Qed.
End Direction.
