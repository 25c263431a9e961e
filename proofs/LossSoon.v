(* Theorem G: rare sentences do not hold up the loss. While the loss is large, the samples that err
   pull, and what pulls has small margins; so the norm grows slowly, which ends in time. The bound
   holds for any frequencies. Page: huang2024_s5_late_phase, label ours-loss-soon. *)
From Coq Require Import Ring Field.
From mathcomp Require Import all_ssreflect all_algebra.
From Companion Require Import Fields Exponential Orders MaxMargin Frobenius Matrix Stage1 Stage1Law
  Stage2 Alignment Direction Algorithm Calculus Corrected.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

(* Numbers. *)
Section Numbers.
Variables (R : rcfType) (exp log : R -> R).
Hypotheses (e : exponential exp) (logK : forall c, 0 < c -> exp (log c) = c).
Implicit Types c u v z : R.
Add Field scores0 : (is_field R).

Lemma fraction (a b c d : nat) : (0 < b)%N -> (0 < d)%N -> (a * d <= c * b)%N ->
  a%:R / b%:R <= c%:R / d%:R :> R.
Proof.
move=> b0 d0 le.
by rewrite ler_pdivr_mulr ?ltr0n // mulrAC ler_pdivl_mulr ?ltr0n // -!natrM ler_nat.
Qed.

(* e >= 5/2, by (7/6)^3 >= 19/12. *)
Lemma exp1_ge : 5%:R / 2%:R <= exp 1.
Proof.
have -> : exp 1 = (exp 6%:R^-1 ^+ 3) ^+ 2.
  by rewrite -exprM -(exp_nat e) divff // pnatr_eq0.
have s1 : 7%:R / 6%:R <= exp 6%:R^-1.
  apply: le_trans (exponential_tangent e _); rewrite le_eqVlt; apply/orP; left; apply/eqP.
  have -> : 7%:R = 6%:R + 1 :> R by rewrite -[1]/(1%:R) -natrD.
  by rewrite mulrDl divff ?pnatr_eq0 // mul1r.
have s2 : 19%:R / 12%:R <= exp 6%:R^-1 ^+ 3.
  apply: le_trans (_ : (7%:R / 6%:R) ^+ 3 <= _); last first.
    by rewrite ler_pexpn2r ?nnegrE ?divr_ge0 ?ler0n // ltW // exp_gt0.
  by rewrite expr_div_n -!natrX; apply: fraction.
apply: le_trans (_ : (19%:R / 12%:R) ^+ 2 <= _); last first.
  by rewrite ler_pexpn2r ?nnegrE ?divr_ge0 ?ler0n // (le_trans _ s2) // divr_ge0 ?ler0n.
by rewrite expr_div_n -!natrX; apply: fraction.
Qed.

Lemma exp_down c d : exp (c - d) * exp d = exp c.
Proof. by rewrite -(exponential_add e) subrK. Qed.

Lemma id_le_exp u : u <= 2%:R / 5%:R * exp u.
Proof.
have [u0|u0] := lerP 0 u; last first.
  by apply: le_trans (ltW u0) _; rewrite mulr_ge0 ?divr_ge0 ?ler0n // ltW // exp_gt0.
have low : u <= exp (u - 1).
  by apply: le_trans (exponential_tangent e _); rewrite addrC subrK.
rewrite -(ler_pmul2l (_ : 0 < 5%:R / 2%:R)) ?divr_gt0 ?ltr0n // mulrA.
have -> : 5%:R / 2%:R * (2%:R / 5%:R) = 1 :> R.
  by rewrite mulrA divfK ?pnatr_eq0 // divff // pnatr_eq0.
rewrite mul1r -(exp_down u 1) mulrC; apply: ler_pmul => //.
  by rewrite divr_ge0 ?ler0n.
exact: exp1_ge.
Qed.

Lemma u_exp_le u : u * exp (- u) <= 2%:R / 5%:R.
Proof.
rewrite -(ler_pmul2r (exp_gt0 e u)) -mulrA [exp (- u) * _]mulrC (expN e) mulr1.
exact: id_le_exp.
Qed.

(* The cube of a logarithm is below the number. *)
Lemma log_cube v : 1 <= v -> log v ^+ 3 <= 216%:R / 125%:R * v.
Proof.
move=> v1; have v0 : 0 < v by apply: lt_le_trans v1; rewrite ltr01.
have l0 := log_ge0 e logK v1.
have vE : v = exp (log v / 3%:R) ^+ 3.
  by rewrite -(exp_nat e) mulrC divfK ?pnatr_eq0 // logK.
rewrite [X in _ <= _ * X]vE; set l := log _ in l0 *; set x := exp (_ / _).
have -> : 216%:R / 125%:R * x ^+ 3 = (6%:R / 5%:R * x) ^+ 3.
  by rewrite exprMn expr_div_n -!natrX.
rewrite ler_pexpn2r ?nnegrE //; last first.
  by rewrite !mulr_ge0 ?invr_ge0 ?ler0n // ltW // exp_gt0.
have := id_le_exp (l / 3%:R); rewrite -/x ler_pdivr_mulr ?ltr0n // => le.
apply: le_trans le _; rewrite le_eqVlt; apply/orP; left; apply/eqP.
rewrite (_ : 6%:R = 2%:R * 3%:R :> R); last by rewrite -natrM.
by move: (2%:R : R) (3%:R : R) (5%:R^-1 : R) => a b c; named R; ring.
Qed.

(* The logarithm lies above its chord from 1 to v. *)
Lemma log_chord z v : 1 <= z -> z <= v -> 2%:R <= v -> log z <= 2%:R * log v * (1 - z^-1).
Proof.
move=> z1 zv v2; have z0 : 0 < z by apply: lt_le_trans z1; rewrite ltr01.
have v0 : 0 < v by apply: lt_le_trans zv.
have v1 : 0 < v - 1 by rewrite subr_gt0; apply: lt_le_trans v2; rewrite ltr1n.
have m0 : 0 <= log v by apply: (log_ge0 e logK); apply: le_trans zv.
have iz : z^-1 <= 1 by rewrite invf_le1.
pose mu := (1 - z^-1) * v / (v - 1).
have mu0 : 0 <= mu.
  by apply: divr_ge0; [apply: mulr_ge0; [rewrite subr_ge0 | exact: ltW] | exact: ltW].
have mu1 : mu <= 1.
  rewrite /mu ler_pdivr_mulr // mul1r mulrBl mul1r ler_add2l ler_opp2 mulrC ler_pdivl_mulr //.
  by rewrite mul1r.
have mu2 : mu <= 2%:R * (1 - z^-1).
  rewrite /mu ler_pdivr_mulr // [2%:R * _]mulrC -mulrA ler_wpmul2l ?subr_ge0 //.
  rewrite mulrBr mulr1 ler_subr_addr mulr_natl mulr2n ler_add2l.
  exact: v2.
have h1 : 1 + log z <= z by rewrite -[X in _ <= X](logK z0); exact: (exponential_tangent e).
have h2 : 1 + (log z - log v) <= z / v.
  rewrite -[z / v](logK (divr_gt0 z0 v0)) (log_div e logK z0 v0); exact: (exponential_tangent e).
have one : (1 - mu) * z + mu * (z / v) = 1.
  have gen (w : R) : z <> 0 -> w <> 0 -> w + 1 <> 0 ->
      (1 - (1 - z^-1) * (w + 1) / w) * z + (1 - z^-1) * (w + 1) / w * (z / (w + 1)) = 1.
    by move=> z1' w0 w1; named R; field; do !split.
  have := gen (v - 1); rewrite subrK; apply; apply/eqP; exact: lt0r_neq0.
have le : log z <= mu * log v.
  suff : 1 + (log z - mu * log v) <= 1 by rewrite ger_addl subr_le0.
  rewrite -[X in _ <= X]one -subr_ge0.
  have id (a b c d y : R) : (1 - d) * y + d * c - (1 + (a - d * b)) =
      (1 - d) * (y - (1 + a)) + d * (c - (1 + (a - b))) by named R; ring.
  rewrite id; apply: addr_ge0; apply: mulr_ge0 => //; by rewrite subr_ge0.
apply: le_trans le _; rewrite -mulrA [log v * _]mulrC mulrA.
by rewrite ler_wpmul2r.
Qed.
End Numbers.

(* One state of stage 2. *)
Section State.
Variables (R : rcfType) (V : finType) (n : V -> V) (exp log : R -> R).
Variables (I : finType) (body : I -> seq V) (query next : I -> V) (freq : I -> R).
Variable W_ov : V -> V -> R.
Add Field scores1 : (is_field R).
Ltac calc := named R; ring.
Notation sentence := (@sentence V I body query).
Notation mass := (@mass R V exp I body query).
Notation T := (@Stage2.T R V exp I body query W_ov).
Notation pull := (@pull R V exp I body query next W_ov).
Notation gradient := (@gradient R V exp I body query next freq W_ov).
Notation decider := (@decider V n I body query next).
Notation rival := (@rival V n I body query next).
Notation leads := (@leads R V n exp I body query next).
Notation force := (@force R V n exp I body query next freq W_ov).
Notation tau := (@tau R V exp I body query next W_ov).
Notation Q := (@Q R V n exp I body query next W_ov).
Notation loss := (@Calculus.loss R exp log V I body query next freq W_ov).
Hypotheses (e : exponential exp) (logK : forall c, 0 < c -> exp (log c) = c).
Hypothesis data : setting n body query next freq.
Variables (A : R) (L : nat).
Hypotheses (gap : forall x v, v != n x -> W_ov x (n x) - W_ov x v = A) (A_gt0 : 0 < A).
Hypothesis L_max : forall i, (size (sentence i) <= L)%N.
Let pos := exp_gt0 e.
Let asm1 := collocation data.
Let freq_gt0 := shares data.
Let l2 : 2%:R <= L%:R :> R := L_ge2 data L_max.
Let L1 : 1 <= L%:R :> R. Proof. by apply: le_trans l2; rewrite ler1n. Qed.
Let k1 : 1 <= L%:R - 1 :> R. Proof. by rewrite ler_subr_addr. Qed.
Let k0 : 0 <= L%:R - 1 :> R. Proof. exact: le_trans ler01 k1. Qed.
Notation rest W i := (total_odds n exp body query next A W i).
Notation odds W i y := (odds n exp body query next A W i y).
Notation ratio W i j := (ratio n exp body query next W i j).
Notation margin W i j := (margin n body query next W i j).
Notation size := (#|V|%:R : R).
Notation E := (exp (- (A / 4%:R))).

Lemma size_ge2 : 2%:R <= size.
Proof. by rewrite ler_nat; exact: (two_tokens data). Qed.

(* The loss of a sample by its odds. *)
Lemma X_ge0 W i : 0 <= rest W i.
Proof. exact: (total_odds_ge0 n body query next e A W i). Qed.

Lemma lossE W : loss W = \sum_i freq i * log (1 + rest W i).
Proof.
rewrite /loss -sumrN; apply: eq_bigr => i _; rewrite (T_next e data gap) (log_inv e logK).
  by rewrite mulrN opprK.
by rewrite ltr_paddr ?ltr01 ?X_ge0.
Qed.

Lemma tauE W i : tau W i = 1 - (1 + rest W i)^-1.
Proof. by rewrite -(T_next e data gap). Qed.

(* The number under the logarithm of K is large. *)
Lemma K_ge0 K : 14%:R * L%:R * (L%:R - 1) ^+ 2 <= exp K -> 0 <= K.
Proof.
move=> K_large; apply: (exp_le_inv e); rewrite (exp0 e); apply: le_trans K_large.
by rewrite mulr_ege1 ?exprn_ege1 // mulr_ege1 // ler1n.
Qed.

Section Leads.
Variable W : V -> V -> R.
Hypothesis lead : leads W.
Notation m i := (mass W i (decider i)).

Lemma others_card i : #|[pred y | y != decider i]|%:R = size - 1.
Proof.
by rewrite -[#|_|]/#|predC1 (decider i)| cardC1 (size_pred R (query i)).
Qed.

Lemma X_le i c : (forall y, y != decider i -> odds W i y <= c) -> rest W i <= (size - 1) * c.
Proof.
move=> le; apply: le_trans (ler_sum _ le) _.
by rewrite sumr_const -[c *+ _]mulr_natl -(others_card i).
Qed.

Lemma X_le1 i : rest W i <= size - 1.
Proof. by rewrite -[size - 1]mulr1; apply: X_le => y _; exact: (odds_le1 e A_gt0 lead). Qed.

Lemma X_le_exp i : rest W i <= (size - 1) * exp (- (A * (2%:R * m i - 1))).
Proof. by apply: X_le => y; apply: (odds_le e A_gt0). Qed.

(* No loss of a sample exceeds log |V|, nor its odds, nor 2 log |V| times its error. *)
Lemma sample_loss_le i : log (1 + rest W i) <= log size.
Proof.
apply: (log_le e logK); first by rewrite ltr_paddr ?ltr01 ?X_ge0.
by rewrite addrC -ler_subr_addr X_le1.
Qed.

Lemma sample_loss_tau i : log (1 + rest W i) <= 2%:R * log size * tau W i.
Proof.
rewrite tauE; apply: (log_chord e logK).
- by rewrite ler_addl X_ge0.
- by rewrite addrC -ler_subr_addr X_le1.
exact: size_ge2.
Qed.

Lemma tau_le_X i : tau W i <= rest W i.
Proof.
have X1 : 0 < 1 + rest W i by rewrite ltr_paddr ?ltr01 ?X_ge0.
rewrite (tau_odds e data gap W i) ler_pimulr ?X_ge0 // ger_addl oppr_le0.
exact: (tau_ge W_ov e data W i).
Qed.

Theorem loss_le_log : loss W <= log size.
Proof.
rewrite lossE -[leRHS]mul1r -[X in _ <= X * _](shares_total data) mulr_suml; apply: ler_sum => i _.
by apply: ler_wpmul2l; [apply/ltW/freq_gt0 | apply: sample_loss_le].
Qed.

(* How much a sample pulls, at all its rivals. *)
Definition push i : R := \sum_(j | rival i j) pull W i j.

Lemma push_ge0 i : 0 <= push i.
Proof. by apply: sumr_ge0 => j ij; apply: (pull_ge0 e data gap A_gt0 lead ij). Qed.

Lemma forceE : force W = \sum_i freq i * push i.
Proof. exact: (force_rivals n body query next freq W_ov e W). Qed.

Lemma pushE i : push i = A * m i * (tau W i * (1 - m i) + Q W i).
Proof.
by rewrite /push (pull_rivals n body query next W_ov pos W i) (pull_decider pos gap asm1 W i) opprK.
Qed.

(* Where the optimal token has less than 3/4 of the attention, the pull is large if the error is. *)
Lemma pull_of_poor i : m i < 3%:R / 4%:R -> 3%:R * A * tau W i <= 8%:R * L%:R * push i.
Proof.
move=> poor; have m1 := m_large e data L_max lead i; have m0 := m_gt0 e data W i.
have t0 := tau_ge W_ov e data W i.
have q0 : 0 <= Q W i := Q_ge0 n body query next W_ov pos W i.
apply: le_trans (_ : 8%:R * L%:R * (A * m i * (tau W i * (1 - m i))) <= _); last first.
  rewrite pushE; apply: ler_wpmul2l; first by rewrite mulr_ge0 ?ler0n.
  by apply: ler_wpmul2l; [rewrite mulr_ge0 ?ltW | rewrite ler_addl].
have -> : 8%:R * L%:R * (A * m i * (tau W i * (1 - m i))) =
    8%:R * (L%:R * m i) * (1 - m i) * (A * tau W i).
  by move: (8%:R : R) (L%:R : R) (m i) (tau W i) => a b c d; calc.
rewrite -mulrA ler_wpmul2r ?mulr_ge0 ?(ltW A_gt0) //.
have four : 0 < 4%:R :> R by rewrite ltr0n.
have rest1 : 1 < 4%:R * (1 - m i).
  rewrite mulrBr mulr1 ltr_subr_addl; move: poor; rewrite ltr_pdivl_mulr // [m i * _]mulrC => poor.
  by rewrite (_ : 4%:R = 3%:R + 1 :> R) ?ltr_add2r // -[1]/(1%:R) -natrD.
have [big|small] := lerP (4%:R^-1) (m i).
  apply: le_trans (_ : 8%:R * (2%:R * m i) * (1 - m i) <= _); last first.
    have r0 : 0 <= 1 - m i.
      by rewrite -(pmulr_rge0 _ four) (le_trans ler01) // ltW.
    by rewrite ler_wpmul2r // ler_pmul2l ?ltr0n // ler_pmul2r.
  have f1 : 0 <= 4%:R * m i - 1 by rewrite subr_ge0 mulrC -ler_pdivr_mulr // div1r.
  have f2 : 0 <= 4%:R * (1 - m i) - 1 by rewrite subr_ge0 ltW.
  rewrite -subr_ge0; have := mulr_ge0 f1 f2; congr (0 <= _).
  rewrite (_ : 8%:R = 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 :> R); last by rewrite -[1]/(1%:R) -!natrD.
  rewrite (_ : 4%:R = 1 + 1 + 1 + 1 :> R); last by rewrite -[1]/(1%:R) -!natrD.
  rewrite (_ : 3%:R = 1 + 1 + 1 :> R); last by rewrite -[1]/(1%:R) -!natrD.
  by move: (m i) => c; calc.
have r1 : 3%:R <= 4%:R * (1 - m i).
  rewrite mulrBr mulr1 ler_subr_addl -ler_subr_addr.
  apply: ltW; rewrite (_ : 4%:R - 3%:R = 1 :> R); last first.
    by rewrite (_ : 4%:R = 1 + 3%:R :> R) ?addrK // -[1]/(1%:R) -natrD.
  by rewrite mulrC -ltr_pdivl_mulr // div1r.
apply: le_trans (_ : 2%:R * (4%:R * (1 - m i)) <= _).
  by apply: (le_trans r1); rewrite ler_pemull ?ler1n // (le_trans _ r1) ?ler0n.
rewrite mulrA -natrM ler_wpmul2r ?ler_pemulr ?ler0n //.
by rewrite -(pmulr_rge0 _ four) (le_trans _ r1) ?ler0n.
Qed.

(* Margins, weighted by the pull: small where the error is small, ... *)
Lemma weighted_tau i :
  \sum_(j | rival i j) pull W i j * margin W i j <= (L%:R - 1) * (4%:R / 5%:R * A * tau W i).
Proof.
have t0 := tau_ge W_ov e data W i; have c0 : 0 <= 4%:R / 5%:R * A * tau W i.
  by rewrite mulr_ge0 // mulr_ge0 ?(ltW A_gt0) // divr_ge0 ?ler0n.
apply: (sum_rivals_le data L_max c0) => j ij.
have p0 := pull_ge0 e data gap A_gt0 lead ij.
have [u0|u0] := lerP 0 (margin W i j); last first.
  by apply: le_trans c0; apply: mulr_ge0_le0 => //; apply: ltW.
have up := margin_up e data W ij.
have ru : ratio W i j * margin W i j <= 2%:R / 5%:R.
  apply: le_trans (u_exp_le e (margin W i j)).
  rewrite mulrC ler_wpmul2l //.
  rewrite -(ler_pmul2l (pos (margin W i j))) (expN e); exact: up.
have m1 := decider_le1 n body query next pos W i.
rewrite (pullE e data gap W ij) (massE e data W i j).
have h2 := h_le W_ov e data W ij.
have h0 := h_ge0 e data gap A_gt0 lead ij.
have -> : A * (ratio W i j * m i) * h n exp body query next W_ov W i j * margin W i j =
   A * (ratio W i j * margin W i j) * (m i * h n exp body query next W_ov W i j).
  by move: (ratio _ _ _) (m i) (h _ _ _ _ _ _ _ _ _) (margin _ _ _) => a b c d; calc.
apply: le_trans (_ : A * (2%:R / 5%:R) * (2%:R * tau W i) <= _).
  apply: ler_pmul.
  - by rewrite mulr_ge0 ?(ltW A_gt0) // mulr_ge0 ?(ratio_ge0 n body query next e W i j).
  - by rewrite mulr_ge0 ?mass_ge0.
  - by rewrite ler_pmul2l.
  by apply: le_trans h2; rewrite ler_pimull.
rewrite (_ : 4%:R = 2%:R * 2%:R :> R); last by rewrite -natrM.
rewrite le_eqVlt; apply/orP; left; apply/eqP.
by move: (2%:R : R) (5%:R^-1 : R) (tau W i) => a b c; calc.
Qed.

(* ... and of the size of a logarithm where the optimal token has less than 7/8 of the attention. *)
Lemma weighted_push K i : 14%:R * L%:R * (L%:R - 1) ^+ 2 <= exp K -> m i < 7%:R / 8%:R ->
  \sum_(j | rival i j) pull W i j * margin W i j <= K * push i.
Proof.
move=> K_large poor; have m0 := m_gt0 e data W i.
have [j0 ij0|none] := pickP (rival i); last by rewrite /push !big_pred0 ?mulr0.
have [k ik max] : exists2 k, rival i k & forall j, rival i j -> mass W i j <= mass W i k.
  by case: (@Order.TotalTheory.arg_maxP _ _ _ j0 (rival i) (mass W i) ij0) => k ik max; exists k.
have kpos : 0 < L%:R - 1 :> R := lt_le_trans ltr01 k1.
have rest1 : 1 <= 7%:R * (L%:R - 1) * ratio W i k.
  have le : \sum_(j | rival i j) ratio W i j <= (L%:R - 1) * ratio W i k.
    apply: (sum_rivals_le data L_max); first exact: (ratio_ge0 n body query next e W i k).
    by move=> j ij; rewrite /Alignment.ratio ler_pmul2r ?invr_gt0 // max.
  have one := m_ratio e data W i; set s := \sum_(j | _) _ in one le.
  rewrite -mulrA; apply: le_trans (_ : 7%:R * s <= _); last by rewrite ler_pmul2l ?ltr0n.
  have s0 : 0 < 1 + s.
    by rewrite ltr_paddr ?ltr01 // sumr_ge0 // => j _; apply: (ratio_ge0 n body query next e W i j).
  have : 8%:R <= 7%:R * (1 + s).
    rewrite -[X in X <= _]mulr1 -[X in _ * X <= _]one mulrA ler_pmul2r // mulrC.
    rewrite -ler_pdivl_mulr ?ltr0n //.
    exact: ltW.
  rewrite mulrDr mulr1 (_ : 8%:R = 7%:R + 1 :> R) ?ler_add2l //.
  by rewrite -[1]/(1%:R) -natrD.
have L0 : 0 <= L%:R :> R := ler0n R L.
set c := 14%:R * L%:R * (L%:R - 1) * exp (- K) * push i.
have c0 : 0 <= c.
  by rewrite !mulr_ge0 ?ler0n ?push_ge0 // ltW // pos.
have pk : pull W i k <= push i.
  rewrite /push (bigD1 k) //= ler_addl; apply: sumr_ge0 => j /andP [ij _].
  exact: (pull_ge0 e data gap A_gt0 lead ij).
have one j : rival i j -> pull W i j * (1 + margin W i j - K) <= c.
  move=> ij; have p0 := pull_ge0 e data gap A_gt0 lead ij.
  have up := margin_up e data W ij.
  have h0 := h_ge0 e data gap A_gt0 lead ij.
  have E0 := pos (margin W i j); have r0 := ratio_ge0 n body query next e W i k.
  have hj : h n exp body query next W_ov W i j <= 2%:R * L%:R * h n exp body query next W_ov W i k.
    apply: le_trans (h_le W_ov e data W ij) _; rewrite -mulrA ler_pmul2l ?ltr0n //.
    exact: (h_ge e data gap A_gt0 L_max lead ik max).
  have step : pull W i j * exp (margin W i j) * ratio W i k <= 2%:R * L%:R * push i.
    apply: le_trans (_ : 2%:R * L%:R * pull W i k <= _); last first.
      by rewrite ler_wpmul2l // mulr_ge0 ?ler0n.
    rewrite !(pullE e data gap W) // (massE e data W i j) (massE e data W i k).
    have -> : A * (ratio W i j * m i) * h n exp body query next W_ov W i j * exp (margin W i j) *
        ratio W i k = A * m i * ratio W i k * (exp (margin W i j) * ratio W i j) *
        h n exp body query next W_ov W i j.
      move: (ratio _ _ _) (ratio _ _ _) (m i) (h _ _ _ _ _ _ _ _ _) (exp _) => a b d f g; calc.
    have -> : 2%:R * L%:R * (A * (ratio W i k * m i) * h n exp body query next W_ov W i k) =
        A * m i * ratio W i k * (2%:R * L%:R * h n exp body query next W_ov W i k).
      by move: (2%:R : R) (L%:R : R) (ratio _ _ _) (m i) (h _ _ _ _ _ _ _ _ _) => a b d f g; calc.
    have a0 : 0 <= A * m i * ratio W i k by rewrite mulr_ge0 // mulr_ge0 ?ltW.
    rewrite -mulrA ler_wpmul2l //; apply: le_trans hj.
    by rewrite ler_pimull.
  apply: le_trans (_ : pull W i j * (exp (margin W i j) * exp (- K)) <= _).
    by rewrite ler_wpmul2l // -(exponential_add e) -addrA; apply: (exponential_tangent e).
  rewrite mulrA; apply: le_trans (_ : 7%:R * (L%:R - 1) * (2%:R * L%:R * push i) * exp (- K) <= _).
    rewrite ler_pmul2r //.
    apply: le_trans (_ : pull W i j * exp (margin W i j) * (7%:R * (L%:R - 1) * ratio W i k) <= _).
      by rewrite ler_pemulr // mulr_ge0 ?(ltW E0).
    by rewrite mulrCA ler_pmul2l ?mulr_gt0 ?ltr0n.
  rewrite /c (_ : 14%:R = 7%:R * 2%:R :> R); last by rewrite -natrM.
  rewrite le_eqVlt; apply/orP; left; apply/eqP.
  by move: (7%:R : R) (2%:R : R) (L%:R : R) (exp _) (push i) => a b d f g; calc.
have total : \sum_(j | rival i j) pull W i j * (1 + margin W i j - K) <= push i.
  apply: le_trans (sum_rivals_le data L_max c0 one) _.
  have -> : (L%:R - 1) * c = 14%:R * L%:R * (L%:R - 1) ^+ 2 * exp (- K) * push i.
    by rewrite /c; move: (14%:R : R) (L%:R : R) (exp _) (push i) => a b d f; calc.
  rewrite -[X in _ <= X]mul1r ler_wpmul2r ?push_ge0 //.
  by rewrite -[X in _ <= X](expN e K) ler_pmul2r.
rewrite -subr_ge0; move: total; rewrite -subr_ge0; congr (0 <= _).
have -> : \sum_(j | rival i j) pull W i j * (1 + margin W i j - K) =
    push i + \sum_(j | rival i j) pull W i j * margin W i j - K * push i.
  rewrite /push mulr_sumr -big_split -sumrB; apply: eq_bigr => j _ /=.
  by move: (pull _ _ _) (margin _ _ _) => a b; calc.
by rewrite !opprD opprK addrA addrA subrr sub0r addrC.
Qed.

(* While the loss is large, the samples that err pull, and their margins are small. *)
Let E0 : 0 < E. Proof. exact: pos. Qed.
Let size1 : 1 <= size. Proof. by apply: le_trans size_ge2; rewrite ler1n. Qed.
Let size0 : 0 < size. Proof. exact: lt_le_trans ltr01 size1. Qed.
Let some_freq (P : pred I) : \sum_(i | P i) freq i <= 1.
Proof.
rewrite -(shares_total data) [leRHS](bigID P) /= ler_addl; apply: sumr_ge0 => i _; exact: ltW.
Qed.
Let some_push (P : pred I) : \sum_(i | P i) freq i * push i <= force W.
Proof.
rewrite forceE [leRHS](bigID P) /= ler_addl; apply: sumr_ge0 => i _.
by rewrite mulr_ge0 ?push_ge0 // ltW.
Qed.

Lemma poor_share : size * E < loss W ->
  E < \sum_(i | m i < 3%:R / 4%:R) freq i * log (1 + rest W i).
Proof.
move=> large; set P := fun i => m i < 3%:R / 4%:R.
have good : \sum_(i | ~~ P i) freq i * log (1 + rest W i) <= (size - 1) * E.
  apply: le_trans (_ : \sum_(i | ~~ P i) freq i * ((size - 1) * E) <= _); last first.
    rewrite -mulr_suml ler_pimull ?mulr_ge0 ?subr_ge0 ?(ltW E0) //.
  apply: ler_sum => i; rewrite /P -leNgt => le; apply: ler_wpmul2l; first exact: ltW.
  apply: le_trans (log1_le e logK (X_ge0 W i)) _; apply: le_trans (X_le_exp i) _.
  apply: ler_wpmul2l; first by rewrite subr_ge0.
  apply: (exp_le e); rewrite ler_opp2 ler_pmul2l // ler_subr_addr.
  apply: le_trans (_ : 2%:R * (3%:R / 4%:R) <= _); last by rewrite ler_pmul2l ?ltr0n.
  rewrite mulrA -natrM ler_pdivl_mulr ?ltr0n // mulrDl mulVf ?pnatr_eq0 // mul1r.
  by rewrite -[1]/(1%:R) -natrD ler_nat.
move: large; rewrite lossE (bigID P) /= -/P.
set s := \sum_(i | P i) _; set s' := \sum_(i | ~~ P i) _ in good *.
move=> large; rewrite -(ltr_add2r ((size - 1) * E)).
have -> : E + (size - 1) * E = size * E by rewrite mulrBl mul1r addrC subrK.
by apply: lt_le_trans large _; rewrite ler_add2l.
Qed.

Lemma force_large : size * E < loss W -> 3%:R * A * E <= 16%:R * L%:R * log size * force W.
Proof.
move=> /poor_share large; have l0 : 0 <= log size by apply: (log_ge0 e logK).
have a0 : 0 <= 3%:R * A by rewrite mulr_ge0 ?ler0n ?ltW.
apply: le_trans (ler_wpmul2l a0 (ltW large)) _; rewrite mulr_sumr.
apply: le_trans (_ : \sum_(i | m i < 3%:R / 4%:R)
  16%:R * L%:R * log size * (freq i * push i) <= _); last first.
  by rewrite -mulr_sumr ler_wpmul2l // !mulr_ge0 ?ler0n.
apply: ler_sum => i poor; have f0 := ltW (freq_gt0 i).
apply: le_trans (_ : freq i * (2%:R * log size) * (3%:R * A * tau W i) <= _).
  have -> : freq i * (2%:R * log size) * (3%:R * A * tau W i) =
      3%:R * A * (freq i * (2%:R * log size * tau W i)).
    by move: (freq i) (log size) (tau W i) (2%:R : R) (3%:R : R) => a b c d f; calc.
  by rewrite ler_wpmul2l // ler_wpmul2l // sample_loss_tau.
have -> : 16%:R * L%:R * log size * (freq i * push i) =
    freq i * (2%:R * log size) * (8%:R * L%:R * push i).
  rewrite (_ : 16%:R = 2%:R * 8%:R :> R); last by rewrite -natrM.
  by move: (freq i) (log size) (push i) (2%:R : R) (8%:R : R) (L%:R : R) => a b c d f g; calc.
by rewrite ler_wpmul2l ?pull_of_poor // mulr_ge0 // mulr_ge0 ?ler0n.
Qed.

Theorem margins_while_large K : 14%:R * L%:R * (L%:R - 1) ^+ 2 <= exp K -> size * E < loss W ->
  - inner (gradient W) W <= force W * (8%:R * L%:R * (L%:R - 1) + K).
Proof.
move=> K_large large; have l0 : 0 <= log size by apply: (log_ge0 e logK).
have K0 := K_ge0 K_large.
have F0 : 0 <= force W by apply: le_trans (some_push pred0); rewrite big_pred0.
rewrite (inner_rivals n body query next freq W_ov e W W).
set P := fun i => m i < 7%:R / 8%:R; rewrite (bigID P) /= mulrDr addrC.
apply: ler_add; last first.
  apply: le_trans (_ : \sum_(i | P i) K * (freq i * push i) <= _).
    apply: ler_sum => i poor; rewrite mulrCA ler_wpmul2l ?(ltW (freq_gt0 i)) //.
    exact: weighted_push.
  by rewrite -mulr_sumr mulrC ler_wpmul2r.
set c := (L%:R - 1) * (4%:R / 5%:R * A * (size * E ^+ 3)).
apply: le_trans (_ : \sum_(i | ~~ P i) freq i * c <= _).
  apply: ler_sum => i; rewrite /P -leNgt => le; rewrite ler_wpmul2l ?(ltW (freq_gt0 i)) //.
  apply: le_trans (weighted_tau i) _; apply: ler_wpmul2l => //; apply: ler_wpmul2l.
    by rewrite mulr_ge0 ?(ltW A_gt0) // divr_ge0 ?ler0n.
  apply: le_trans (tau_le_X i) _; apply: le_trans (X_le_exp i) _; apply: ler_pmul.
  - by rewrite subr_ge0.
  - exact/ltW/pos.
  - by rewrite ger_addl oppr_le0 ler01.
  rewrite -(exp_nat e); apply: (exp_le e); rewrite mulrN ler_opp2 mulrCA ler_pmul2l //.
  rewrite ler_subr_addr; apply: le_trans (_ : 2%:R * (7%:R / 8%:R) <= _); last first.
    by rewrite ler_pmul2l ?ltr0n.
  rewrite (_ : 8%:R = 2%:R * 4%:R :> R); last by rewrite -natrM.
  rewrite invfM mulrCA [2%:R * (2%:R^-1 * _)]mulrA divff ?pnatr_eq0 // mul1r.
  rewrite -[X in _ + X](divff (_ : 4%:R != 0 :> R)) ?pnatr_eq0 // -mulrDl.
  by rewrite ler_pmul2r ?invr_gt0 ?ltr0n // -natrD.
have c0 : 0 <= c.
  apply: mulr_ge0 => //; apply: mulr_ge0.
    by apply: mulr_ge0; [rewrite divr_ge0 ?ler0n | apply: ltW].
  by apply: mulr_ge0; [rewrite ler0n | apply/exprn_ge0/ltW].
apply: le_trans (_ : c <= _).
  apply: le_trans (_ : (\sum_(i | ~~ P i) freq i) * c <= _); first by rewrite mulr_suml.
  by rewrite ler_pimull.
have vE : size * E <= log size by apply: ltW; apply: lt_le_trans large loss_le_log.
have F1 := force_large large; have cube := log_cube e logK size1.
have vE0 : 0 <= size * E by rewrite mulr_ge0 ?ltW.
(* c = 4/15 (L-1) (v E)^2 (3 A E) / v *)
have cE : c = 4%:R / 15%:R * (L%:R - 1) * ((size * E) ^+ 2 / size) * (3%:R * A * E).
  rewrite /c (_ : 15%:R = 3%:R * 5%:R :> R); last by rewrite -natrM.
  have gen (a b d f g h : R) : a <> 0 -> b <> 0 -> d <> 0 ->
      h * (f / b * A * (d * g ^+ 3)) = f / (a * b) * h * ((d * g) ^+ 2 / d) * (a * A * g).
    by move=> a0 b0 d0; rewrite [g ^+ 3]exprS; named R; field.
  by apply: gen; apply/eqP; [rewrite pnatr_eq0 | rewrite pnatr_eq0 | apply: lt0r_neq0].
rewrite cE; set q := 4%:R / 15%:R * (L%:R - 1).
have q0 : 0 <= q by rewrite mulr_ge0 ?divr_ge0 ?ler0n.
have sq : (size * E) ^+ 2 / size <= log size ^+ 2 / size.
  by rewrite ler_pmul2r ?invr_gt0 // ler_pexpn2r ?nnegrE.
apply: le_trans (_ : q * (log size ^+ 2 / size) * (16%:R * L%:R * log size * force W) <= _).
  apply: ler_pmul => //; [|by rewrite !mulr_ge0 ?ler0n ?(ltW A_gt0) ?(ltW E0)|].
    by rewrite mulr_ge0 // divr_ge0 ?exprn_ge0 ?(ltW size0).
  exact: ler_wpmul2l.
have -> : q * (log size ^+ 2 / size) * (16%:R * L%:R * log size * force W) =
    16%:R * q * L%:R * force W * (log size ^+ 3 / size).
  rewrite [log size ^+ 3]exprS.
  move: (log size) size^-1 (L%:R : R) (force W) (16%:R : R) => a b c' d f.
  by move: q {cE q0} => q'; calc.
apply: le_trans (_ : 16%:R * q * L%:R * force W * (216%:R / 125%:R) <= _).
  apply: ler_wpmul2l; last by rewrite ler_pdivr_mulr.
  by apply: mulr_ge0 => //; apply: mulr_ge0; [apply: mulr_ge0; rewrite ?ler0n | rewrite ler0n].
have -> : 16%:R * q * L%:R * force W * (216%:R / 125%:R) =
    (16%:R * (4%:R / 15%:R) * (216%:R / 125%:R)) * (force W * (L%:R * (L%:R - 1))).
  rewrite /q; move: (16%:R : R) (4%:R / 15%:R : R) (216%:R / 125%:R : R) (L%:R : R) (force W).
  by move=> a b c' d f; calc.
have -> : force W * (8%:R * L%:R * (L%:R - 1)) = 8%:R * (force W * (L%:R * (L%:R - 1))).
  by move: (8%:R : R) (L%:R : R) (force W) => a b c'; calc.
rewrite ler_wpmul2r //; first by rewrite !mulr_ge0 ?ler0n.
rewrite -mulrA mulf_div mulrA -!natrM.
by rewrite ler_pdivr_mulr ?ltr0n // -natrM ler_nat; vm_compute.
Qed.
End Leads.

(* Along the run. *)
Variables (eta : R) (U : V -> V -> R).
Hypotheses (eta_gt0 : 0 < eta) (solU : @solves12 R V n I body query next U).
Notation W_kq := (@W_kq R V exp I body query next freq W_ov eta).
Notation d t := (direction gradient eta (fun _ _ => 0) t).
Notation S := (Norm2 U).
Notation w := (norm U).

Lemma run_leads t : leads (W_kq t).
Proof.
exact: (always_leads pos gap asm1 freq_gt0 A_gt0 (exponential_add e) (exp_le e) eta_gt0
  (often data) t).
Qed.

Let w_gt0 : 0 < w :=
  norm_U_gt0 pos gap asm1 freq_gt0 A_gt0 (exponential_add e) (exp_le e) eta_gt0 (often data)
    solU (compares data).

(* A step lowers the loss of each sample. *)
Lemma rest_falls W W' c i : leads W -> 0 <= c ->
  (forall q x, W' q x = W q x - c * gradient W q x) -> rest W' i <= rest W i.
Proof.
move=> ld c0 step; have [_ _ ld' up] := pairs e data gap A_gt0 L_max ld c0 step.
have m0 := m_gt0 e data W i; have m0' := m_gt0 e data W' i.
have mm : mass W i (decider i) <= mass W' i (decider i).
  apply: ler_wpmul2l; first exact: ler0n.
  exact: (weight_rises pos gap asm1 freq_gt0 A_gt0 (exponential_add e) (exp_le e) c0 step ld i).
apply: ler_sum => y ne; apply: (exp_le e); rewrite ler_pmul2l //.
have [ys|ys] := boolP (y \in sentence i); last first.
  have zero u : mass u i y = 0 by apply: count_mass.
  by rewrite !zero !sub0r ler_opp2.
have ij : rival i y by rewrite /Stage2.rival ys.
have rr : ratio W' i y <= ratio W i y.
  rewrite -(ler_pmul2l (pos (margin W' i y))) (margin_ratio e data W' i y).
  rewrite -(margin_ratio e data W i y) ler_wpmul2r ?(ratio_ge0 n body query next e W i y) //.
  by apply: (exp_le e); apply: up.
rewrite !(massE e data _ i y) -ler_opp2 !opprB.
have one (a b : R) : b - a * b = b * (1 - a) by calc.
rewrite !one; apply: ler_pmul => //; first exact: ltW.
  by rewrite subr_ge0; apply: (ratio_le1 e data ld).
by rewrite ler_add2l ler_opp2.
Qed.

Lemma loss_falls s t : (s <= t)%N -> loss (W_kq t) <= loss (W_kq s).
Proof.
move=> /subnK <-; elim: (t - s)%N => [|k IH]; first by rewrite add0n.
apply: le_trans IH; rewrite addSn !lossE; apply: ler_sum => i _.
apply: ler_wpmul2l; first exact: ltW; apply: (log_le e logK).
  by rewrite ltr_paddr ?ltr01 ?X_ge0.
rewrite ler_add2l; set G := gradient (W_kq (k + s)).
apply: (@rest_falls _ _ (eta / norm G)); first exact: run_leads.
  by rewrite divr_ge0 ?norm_ge0 ?ltW.
by move=> q x; rewrite /= -/(W_kq _) -/G mulrAC mulrA.
Qed.

(* The perceptron's recursion. *)
Lemma norm_growth K t : 0 <= K ->
  (forall s, (s < t)%N -> - inner (gradient (W_kq s)) (W_kq s) <= force (W_kq s) * K) ->
  Norm2 (W_kq t) <= t%:R * (2%:R * eta * K * w + eta ^+ 2).
Proof.
move=> K0; elim: t => [|t IH] small.
  rewrite mul0r /Norm2 /inner big1 ?lexx // => q _.
  by apply: big1 => x _; rewrite mul0r.
have {}IH := IH (fun s st => small s (ltnW st)).
have -> : Norm2 (W_kq t.+1) =
    Norm2 (W_kq t) + 2%:R * eta * inner (d t) (W_kq t) + eta ^+ 2 * Norm2 (d t).
  rewrite [inner (d t) _]innerC -Norm2_add; have eq := descentS gradient eta (fun _ _ => 0) t.
  exact: eq_inner.
have n1 : Norm2 (d t) <= 1.
  by rewrite -norm_sqr exprn_ile1 ?norm_ge0 // norm_direction.
have dE : inner (d t) (W_kq t) =
    - inner (gradient (W_kq t)) (W_kq t) / norm (gradient (W_kq t)).
  rewrite [LHS]innerC [inner _ (W_kq t)]innerC mulNr -mulrN mulrC -inner_scale.
  by apply: eq_inner => // q x; rewrite /direction mulNr mulrC.
have [g0 _] := gradient_part pos gap asm1 freq_gt0 A_gt0 solU (compares data) (@run_leads t).
have Fw : force (W_kq t) <= w * norm (gradient (W_kq t)).
  apply: le_trans (along_U pos gap asm1 freq_gt0 A_gt0 solU (@run_leads t)) _.
  rewrite mulrC; apply: le_trans (inner_norm_abs _ _).
  by rewrite -normrN ler_norm.
have step : inner (d t) (W_kq t) <= K * w.
  rewrite dE ler_pdivr_mulr //; apply: le_trans (small t (ltnSn t)) _.
  by rewrite mulrC -mulrA ler_wpmul2l.
rewrite -[t.+1]addn1 natrD mulrDl mul1r -addrA; apply: ler_add => //; apply: ler_add.
  by rewrite -[2%:R * eta * K * w]mulrA ler_pmul2l // mulr_gt0 ?ltr0n.
by rewrite ler_pimulr ?sqr_ge0.
Qed.

Theorem loss_soon K t (K' := 8%:R * L%:R * (L%:R - 1) + K) :
  14%:R * L%:R * (L%:R - 1) ^+ 2 <= exp K ->
  2%:R * S * (1 + 2%:R * K' * w / eta) < t%:R -> loss (W_kq t) <= size * E.
Proof.
move=> K_large late; have K'0 : 0 <= K'.
  by rewrite addr_ge0 ?(K_ge0 K_large) // !mulr_ge0 ?ler0n.
rewrite leNgt; apply/negP => large.
have grow := norm_growth K'0 (fun s (st : (s < t)%N) => margins_while_large (run_leads s) K_large
  (lt_le_trans large (loss_falls (ltnW st)))).
have [_ _ low] := lemma_6 pos gap asm1 freq_gt0 A_gt0 (exponential_add e) (exp_le e) eta_gt0
  (often data) L_max solU (compares data) t.
have S0 : 0 < S by rewrite -norm_sqr exprn_gt0.
have tR : 0 < t%:R :> R.
  apply: le_lt_trans late; rewrite mulr_ge0 ?mulr_ge0 ?ler0n ?(ltW S0) //.
  by rewrite addr_ge0 ?ler01 // divr_ge0 ?(ltW eta_gt0) // !mulr_ge0 ?ler0n ?norm_ge0.
have sq : (t%:R * eta) ^+ 2 <= 2%:R * S * Norm2 (W_kq t).
  have le := low; rewrite ler_pdivr_mulr ?mulr_gt0 ?sqrtr_gt0 ?ltr0n // in le.
  have te : 0 <= t%:R * eta by rewrite mulr_ge0 ?ler0n ?ltW.
  apply: le_trans (_ : (norm (W_kq t) * (Num.sqrt 2%:R * w)) ^+ 2 <= _).
    by rewrite ler_pexpn2r ?nnegrE // !mulr_ge0 ?norm_ge0 ?sqrtr_ge0.
  by rewrite !exprMn !norm_sqr sqr_sqrtr ?ler0n // mulrC.
have : t%:R * (t%:R * eta ^+ 2) <= t%:R * (2%:R * S * (2%:R * eta * K' * w + eta ^+ 2)).
  have -> : t%:R * (t%:R * eta ^+ 2) = (t%:R * eta) ^+ 2 by move: (t%:R : R) => a; calc.
  apply: le_trans sq _; rewrite mulrCA ler_pmul2l ?mulr_gt0 ?ltr0n //.
rewrite ler_pmul2l // leNgt => /negP; apply.
have -> : 2%:R * S * (2%:R * eta * K' * w + eta ^+ 2) =
    2%:R * S * (1 + 2%:R * K' * w / eta) * eta ^+ 2.
  have gen (a b c f g : R) : f <> 0 -> a * b * (a * f * c * g + f ^+ 2) =
      a * b * (1 + a * c * g / f) * f ^+ 2 by move=> f0; named R; field.
  by apply: gen; apply/eqP/lt0r_neq0.
by rewrite ltr_pmul2r ?exprn_gt0.
Qed.
End State.
