(* Theorem A: the force of the gradient against W is at most what the max-margin solution gives,
   plus
   the logarithm of the rarest frequency. Page: huang2024_s5_convergence, label ours-alignment. *)
From Coq Require Import Ring Field.
From mathcomp Require Import all_ssreflect all_algebra.
From Companion Require Import Fields Exponential Orders MaxMargin Frobenius Stage2.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

(* The hypotheses on the data: Assumption 1 with (source), Assumption 3, positive frequencies that
   add up to one, and a sample that compares two tokens. *)
Record setting (R : rcfType) (V : finType) (n : V -> V) (I : finType) (body : I -> seq V)
    (query next : I -> V) (freq : I -> R) : Prop := {
  collocation : assumption_1 n (sampled body query next);
  often : assumption_3 n body query next;
  shares : forall i, 0 < freq i;
  shares_total : \sum_i freq i = 1;
  compares : exists i j, rival n body query next i j }.

Section Alignment.
Variables (R : rcfType) (V : finType) (n : V -> V) (exp : R -> R).
Variables (I : finType) (body : I -> seq V) (query next : I -> V) (freq : I -> R).
Variable W_ov : V -> V -> R.
Implicit Types (W : V -> V -> R) (i : I) (q x y v j k : V).
Add Field scores : (is_field R).
Ltac calc := named R; ring.
Notation sentence := (@sentence V I body query).
Notation mass := (@mass R V exp I body query).
Notation T := (@T R V exp I body query W_ov).
Notation pull := (@pull R V exp I body query next W_ov).
Notation gradient := (@gradient R V exp I body query next freq W_ov).
Notation decider := (@decider V n I body query next).
Notation rival := (@rival V n I body query next).
Notation leads := (@leads R V n exp I body query next).
Notation force := (@force R V n exp I body query next freq W_ov).
Notation tau := (@tau R V exp I body query next W_ov).
Notation Q := (@Q R V n exp I body query next W_ov).

(* Besides the data: the gap A that stage 1 leaves between n(x) and every other token; L bounds the
   lengths of the sentences. *)
Hypotheses (expo : exponential exp) (data : setting n body query next freq).
Variables (A : R) (L : nat).
Hypotheses (gap : forall x v, v != n x -> W_ov x (n x) - W_ov x v = A) (A_gt0 : 0 < A).
Hypothesis L_max : forall i, (size (sentence i) <= L)%N.
Let exp_pos := exp_gt0 expo.
Let exp_add := exponential_add expo.
Let exp_le := exp_le expo.
Let asm1 := collocation data.
Let freq_gt0 := shares data.

Lemma n_inj : injective n. Proof. by case: asm1. Qed.

(* Probabilities by masses: the logit of n(y) is A times the mass of y, up to a constant. *)
Definition odds W i y : R := exp (A * (mass W i y - mass W i (decider i))).

Lemma logitE W i y : logit exp body query W_ov W i (n y) =
  \sum_(x <- sentence i) weight exp body query W i x * (W_ov x (n x) - A) + A * mass W i y.
Proof.
have split x : W_ov x (n y) = W_ov x (n x) - A + (if x == y then A else 0).
  have [->|ne] := eqVneq x y; first by rewrite subrK.
  rewrite addr0 -(gap (x := x) (v := n y)); first by rewrite opprB addrC subrK.
  by rewrite (inj_eq n_inj) eq_sym.
rewrite /logit (eq_bigr _ (fun x _ => congr1 _ (split x))) (eq_bigr _ (fun x _ => mulrDr _ _ _)).
rewrite big_split /=; congr (_ + _); rewrite sentence_sum (bigD1 y) //= eqxx big1 ?addr0.
  by rewrite mulrA mulrC.
by move=> x /negbTE ->; rewrite mulr0 mulr0.
Qed.

Lemma T_odds W i y : T W i (n y) = odds W i y * T W i (next i).
Proof.
rewrite -(decider_next asm1 i) /Stage2.T mulrA; congr (_ / _).
by rewrite /odds -exp_add !logitE; congr exp; calc.
Qed.

Lemma T_le W i y z : mass W i y <= mass W i z -> T W i (n y) <= T W i (n z).
Proof.
move=> le; rewrite !T_odds ler_pmul2r ?T_gt0 // /odds exp_le // ler_pmul2l //.
by rewrite ler_add2r.
Qed.

Definition total_odds W i : R := \sum_(y | y != decider i) odds W i y.
Lemma tau_odds W i : tau W i = total_odds W i * (1 - tau W i).
Proof.
have -> : 1 - tau W i = T W i (next i) by rewrite /Stage2.tau opprB addrC subrK.
by rewrite (tau_rest W_ov exp_pos asm1) mulr_suml; apply: eq_bigr => y _; apply: T_odds.
Qed.
Lemma total_odds_ge0 W i : 0 <= total_odds W i.
Proof. by apply: sumr_ge0 => y _; apply/ltW/exp_pos. Qed.
Lemma T_next W i : T W i (next i) = (1 + total_odds W i)^-1.
Proof.
have := tau_odds W i; rewrite /Stage2.tau opprB [1 + (_ - 1)]addrC subrK => eq.
have X1 : 0 < 1 + total_odds W i by rewrite ltr_paddr ?ltr01 ?total_odds_ge0.
apply: (mulfI (lt0r_neq0 X1)); rewrite divff ?lt0r_neq0 // mulrDl mul1r -eq.
by rewrite addrC subrK.
Qed.

(* The number of rivals. *)
Lemma rivals_lt i : (#|[pred y | rival i y]| < L)%N.
Proof.
apply: leq_trans (L_max i); apply: leq_trans (card_size (sentence i)).
apply: proper_card; apply/properP; split; first by apply/subsetP => y /andP [].
exists (decider i); first exact: (decider_in asm1 i).
by rewrite inE /Stage2.rival eqxx andbF.
Qed.

(* A sentence that compares two tokens has both of them. *)
Lemma length_ge2 : (1 < L)%N.
Proof.
case: (compares data) => i [j ij].
by apply: leq_ltn_trans (rivals_lt i); apply/card_gt0P; exists j.
Qed.

Lemma L_ge2 : 2%:R <= L%:R :> R. Proof. by rewrite ler_nat length_ge2. Qed.

Lemma rival_neq i j : rival i j -> j != decider i. Proof. by case/andP. Qed.

Lemma mass_rivals W i : mass W i (decider i) + \sum_(j | rival i j) mass W i j = 1.
Proof.
rewrite -(mass_sum body query exp_pos W i) [in RHS](bigD1 (decider i)) //=; congr (_ + _).
rewrite [in RHS](bigID (fun j => j \in sentence i)) /= [X in _ = _ + X]big1 ?addr0.
  by apply: eq_bigl => j; rewrite /Stage2.rival andbC.
by move=> j /andP [_ js]; apply: count_mass.
Qed.

Section State.
Variable W : V -> V -> R.
Hypothesis lead : leads W.
Notation m i := (mass W i (decider i)).

Lemma m_gt0 i : 0 < m i.
Proof. exact: mass_gt0 (decider_in asm1 i). Qed.

Lemma sum_rivals_le i (f : V -> R) c : 0 <= c -> (forall j, rival i j -> f j <= c) ->
  \sum_(j | rival i j) f j <= (L%:R - 1) * c.
Proof.
move=> c0 le; apply: le_trans (ler_sum _ le) _; rewrite sumr_const -[_ *+ #|_|]mulr_natl.
apply: ler_wpmul2r => //.
by rewrite ler_subr_addr -[X in _ + X]/(1%:R) -natrD addn1 ler_nat; apply: rivals_lt.
Qed.

Lemma m_large i : 1 <= L%:R * m i.
Proof.
rewrite -{1}(mass_rivals W i) -[X in X + _]mul1r -[L%:R](subrK 1) mulrDl addrC ler_add2r.
by apply: sum_rivals_le => [|j _]; [apply: ltW (m_gt0 i) | apply: lead].
Qed.

(* Odds are at most one where deciders lead, and small where the decider has the attention. *)
Lemma odds_le1 i y : odds W i y <= 1.
Proof.
rewrite -[X in _ <= X](exp0 expo); apply: exp_le; rewrite pmulr_rle0 // subr_le0.
exact: lead.
Qed.

Lemma odds_le i y : y != decider i -> odds W i y <= exp (- (A * (2%:R * m i - 1))).
Proof.
move=> ne; apply: exp_le; rewrite -mulrN ler_pmul2l // opprB.
have : mass W i y + m i <= 1.
  rewrite -(mass_sum body query exp_pos W i) (bigD1 (decider i)) //= addrC ler_add2l.
  rewrite (bigD1 y) //= ler_addl; apply: sumr_ge0 => z _; exact: mass_ge0.
by rewrite mulr_natl mulr2n opprD addrA ler_add2r -ler_subr_addr.
Qed.

(* Sizes of the force. *)
Definition h i j : R := T W i (n j) + (tau W i * m i - Q W i).

Lemma pullE i j : rival i j -> pull W i j = A * mass W i j * h i j.
Proof. by move=> /rival_neq; apply: (pull_other exp_pos gap asm1). Qed.

Lemma tau_ge i : 0 <= tau W i.
Proof. exact: (tau_ge0 W_ov exp_pos asm1). Qed.

Lemma h_le i j : rival i j -> h i j <= 2%:R * tau W i.
Proof.
move=> /rival_neq ne; rewrite mulr_natl mulr2n; apply: ler_add.
  rewrite (tau_rest W_ov exp_pos asm1) (bigD1 j) //= ler_addl.
  by apply: sumr_ge0 => y _; apply/ltW/T_gt0.
apply: le_trans (_ : tau W i * m i <= _); last by rewrite ler_pimulr ?tau_ge ?decider_le1.
by rewrite ger_addl oppr_le0; apply: Q_ge0.
Qed.

Lemma h_ge i k : rival i k -> (forall j, rival i j -> mass W i j <= mass W i k) ->
  tau W i <= L%:R * h i k.
Proof.
move=> ik max; rewrite /h (tau_rest W_ov exp_pos asm1) /Stage2.Q.
rewrite mulr_suml -sumrB mulrDr.
have part (f : V -> R) : \sum_(y | y != decider i) f y =
    \sum_(y | rival i y) f y + \sum_(y | (y != decider i) && (y \notin sentence i)) f y.
  rewrite (bigID (fun y => y \in sentence i)) /=; congr (_ + _).
  by apply: eq_bigl => y; rewrite /Stage2.rival andbC.
rewrite {1}part; apply: ler_add.
  apply: le_trans (_ : (L%:R - 1) * T W i (n k) <= _); last first.
    by rewrite ler_wpmul2r ?(ltW (T_gt0 _ _ _ exp_pos _ _ _)) // ger_addl oppr_le0 ler01.
  by apply: sum_rivals_le => [|j ij]; [apply/ltW/T_gt0 | apply/T_le/max].
rewrite part mulrDr -[leLHS]add0r; apply: ler_add.
  rewrite mulr_ge0 ?ler0n // sumr_ge0 // => y _; rewrite [_ * T _ _ _]mulrC subr_ge0.
  by rewrite ler_wpmul2l ?lead // ltW ?T_gt0.
rewrite mulr_sumr; apply: ler_sum => y /andP [_ /count_mass ->]; rewrite mul0r subr0 mulrCA.
by rewrite ler_pemulr ?m_large // ltW ?T_gt0.
Qed.

(* The weight of a rival relative to the decider. *)
Definition ratio i j : R := mass W i j / m i.
Lemma massE i j : mass W i j = ratio i j * m i.
Proof. by rewrite divfK // lt0r_neq0 // m_gt0. Qed.
Lemma ratio_ge0 i j : 0 <= ratio i j.
Proof. by rewrite divr_ge0 ?mass_ge0. Qed.
Lemma ratio_gt0 i j : rival i j -> 0 < ratio i j.
Proof. by case/andP=> js _; rewrite divr_gt0 ?m_gt0 ?mass_gt0. Qed.
Lemma ratio_le1 i j : ratio i j <= 1.
Proof. by rewrite ler_pdivr_mulr ?m_gt0 // mul1r lead. Qed.
Lemma m_ratio i : m i * (1 + \sum_(j | rival i j) ratio i j) = 1.
Proof.
rewrite mulrDr mulr1 -[RHS](mass_rivals W i) mulr_sumr; congr (_ + _).
by apply: eq_bigr => j _; rewrite [RHS](massE i j) mulrC.
Qed.

Lemma pull_ge0 i j : rival i j -> 0 <= pull W i j.
Proof.
move=> /rival_neq; exact: (pull_rival_ge0 exp_pos gap asm1 A_gt0 lead).
Qed.

Lemma h_ge0 i j : rival i j -> 0 <= h i j.
Proof.
move=> ij; have := pull_ge0 ij; rewrite pullE // pmulr_rge0 // mulr_gt0 // mass_gt0 //.
by case/andP: ij.
Qed.

(* The worst rival of all. *)
Variables (i0 : I) (j0 : V).
Hypotheses (worst : rival i0 j0) (max0 : forall i j, rival i j -> ratio i j <= ratio i0 j0).
Let r0 := ratio i0 j0.
Let near i : bool := [exists j, rival i j && (r0 <= L%:R * ratio i j)].

Let two_L := length_ge2.
Let kappa : R := L%:R - 1.
Let kappa1 : 1 <= kappa.
Proof. by rewrite ler_subr_addr -[1 + 1]/(2%:R) ler_nat. Qed.
Let kappa0 : 0 <= kappa. Proof. exact: le_trans ler01 kappa1. Qed.

Lemma share_near i j : rival i j -> near i ->
  pull W i j * r0 <= 2%:R * L%:R ^+ 2 * ratio i j * \sum_(k | rival i k) pull W i k.
Proof.
move=> ij /existsP [j1 /andP [ij1 le1]].
have [k ik max] : exists2 k, rival i k & forall j, rival i j -> mass W i j <= mass W i k.
  by case: (@Order.TotalTheory.arg_maxP _ _ _ j (rival i) (mass W i) ij) => k ik max; exists k.
have le0 : r0 <= L%:R * ratio i k.
  apply: le_trans le1 _; rewrite ler_wpmul2l ?ler0n // /ratio ler_pmul2r ?invr_gt0 ?m_gt0 //.
  exact: max.
apply: le_trans (_ : 2%:R * L%:R ^+ 2 * ratio i j * pull W i k <= _); last first.
  apply: ler_wpmul2l; first by rewrite mulr_ge0 ?ratio_ge0 // mulr_ge0 ?exprn_ge0 ?ler0n.
  rewrite (bigD1 k) //= ler_addl.
  by apply: sumr_ge0 => z /andP [iz _]; apply: pull_ge0.
rewrite !pullE // (massE i j) (massE i k).
apply: le_trans (_ : A * (ratio i j * m i) * (2%:R * (L%:R * h i k)) * (L%:R * ratio i k) <= _).
  apply: ler_pmul => //; rewrite ?(ltW (ratio_gt0 worst)) //.
    rewrite -massE -pullE //; exact: pull_ge0.
  apply: ler_wpmul2l; first by rewrite -massE mulr_ge0 ?mass_ge0 // ltW.
  by apply: le_trans (h_le ij) _; rewrite ler_pmul2l ?ltr0n // h_ge.
rewrite le_eqVlt; apply/orP; left; apply/eqP.
move: (L%:R : R) (2%:R : R) (ratio i j) (ratio i k) (m i) (h i k) => a b c d e f; calc.
Qed.

(* A sample all whose rivals are light gives its decider at least the mass of the worst sample, ...
   *)
Lemma far_mass i : ~~ near i -> m i0 <= m i.
Proof.
move=> far; have light j : rival i j -> L%:R * ratio i j <= r0.
  move=> ij; rewrite leNgt; apply: contra far => lt; apply/existsP; exists j.
  by rewrite ij ltW.
have r00 : 0 <= r0 by apply: ratio_ge0.
have L0 : 0 < L%:R :> R by rewrite ltr0n ltnW.
have le1 : \sum_(j | rival i j) ratio i j <= r0.
  rewrite -(ler_pmul2l L0) mulr_sumr; apply: le_trans (sum_rivals_le r00 light) _.
  by rewrite ler_wpmul2r // ger_addl oppr_le0 ler01.
have le2 : r0 <= \sum_(j | rival i0 j) ratio i0 j.
  rewrite (bigD1 j0) //= ler_addl; apply: sumr_ge0 => j _; exact: ratio_ge0.
have pos : 0 < 1 + r0 by rewrite ltr_paddr ?ltr01.
rewrite -(ler_pmul2r pos); apply: le_trans (_ : 1 <= _).
  by rewrite -[X in _ <= X](m_ratio i0) ler_wpmul2l ?(ltW (m_gt0 i0)) // ler_add2l.
by rewrite -[X in X <= _](m_ratio i) ler_wpmul2l ?(ltW (m_gt0 i)) // ler_add2l.
Qed.

(* ... and errs at most L - 1 times as much. *)
Lemma far_odds i : ~~ near i -> total_odds W i <= kappa * total_odds W i0.
Proof.
move=> far; have le_m := far_mass far.
pose Ea := exp (- (A * (m i0 * (1 - r0)))); pose Eb := exp (- (A * m i0)).
have r01 : 0 <= 1 - r0 by rewrite subr_ge0 ratio_le1.
have m0 := ltW (m_gt0 i0).
have Eab : 0 <= Ea - Eb.
  rewrite subr_ge0 exp_le // ler_opp2 ler_pmul2l // ler_pimulr //.
  by rewrite ger_addl oppr_le0 ratio_ge0.
pose N : R := #|[pred y | y != decider i]|%:R.
have NE : N = #|[pred y | y != decider i0]|%:R by rewrite /N !cardC1.
have up : total_odds W i <= N * Eb + kappa * (Ea - Eb).
  apply: le_trans (_ : \sum_(y | y != decider i) (Eb + (if rival i y then Ea - Eb else 0)) <= _).
    apply: ler_sum => y ne; rewrite /odds; case: ifPn => [iy|].
      rewrite [Eb + _]addrC subrK; apply: exp_le; rewrite -mulrN ler_pmul2l // massE.
      rewrite -[X in _ - X]mul1r -mulrBl mulrC -opprB mulrN ler_opp2.
      apply: ler_pmul => //; rewrite ler_add2l ler_opp2; exact: max0.
    rewrite /Stage2.rival ne andbT addr0 => /count_mass ->; apply: exp_le.
    by rewrite add0r mulrN ler_opp2 ler_pmul2l.
  rewrite big_split /= sumr_const -[_ *+ #|_|]mulr_natl ler_add2l -big_mkcondr /=.
  rewrite (eq_bigl (rival i)); last by move=> y; rewrite andbC /Stage2.rival -andbA andbb.
  exact: sum_rivals_le.
have down : N * Eb + (Ea - Eb) <= total_odds W i0.
  apply: le_trans (_ : \sum_(y | y != decider i0) (Eb + (if y == j0 then Ea - Eb else 0)) <= _).
    rewrite big_split /= sumr_const -[_ *+ #|_|]mulr_natl -NE ler_add2l -big_mkcondr /=.
    rewrite (big_pred1 j0) // => y /=; case: (y =P j0) => [->|_]; last by rewrite andbF.
    by rewrite (rival_neq worst).
  apply: ler_sum => y _; rewrite /odds; case: ifPn => [/eqP ->|_].
    rewrite [Eb + _]addrC subrK le_eqVlt; apply/orP; left; apply/eqP; congr exp.
    by rewrite (massE i0 j0) -/r0; calc.
  by rewrite addr0; apply: exp_le; rewrite -mulrN ler_pmul2l // ler_addr mass_ge0.
apply: le_trans up _; apply: le_trans (_ : kappa * (N * Eb + (Ea - Eb)) <= _); last first.
  exact: ler_wpmul2l.
rewrite mulrDr ler_add2r; apply: ler_pemull => //; apply: mulr_ge0; first by rewrite ler0n.
exact/ltW/exp_pos.
Qed.

Lemma far_tau i : ~~ near i -> tau W i <= kappa * tau W i0.
Proof.
move=> /far_odds; have := tau_odds W i; have := tau_odds W i0.
have := total_odds_ge0 W i; have := total_odds_ge0 W i0.
move: (total_odds W i) (total_odds W i0) (tau W i) (tau W i0) => X X0 t t0 X00 X_0 e0 e le.
have pos : 0 < 1 + X by rewrite ltr_paddr ?ltr01.
have pos0 : 0 < 1 + X0 by rewrite ltr_paddr ?ltr01.
have tE : t * (1 + X) = X.
  have -> : t * (1 + X) = t + X - X * (1 - t) by calc.
  by rewrite {1}e; calc.
have t0E : t0 * (1 + X0) = X0.
  have -> : t0 * (1 + X0) = t0 + X0 - X0 * (1 - t0) by calc.
  by rewrite {1}e0; calc.
rewrite -(ler_pmul2r pos) tE -(ler_pmul2r pos0).
have -> : kappa * t0 * (1 + X) * (1 + X0) = kappa * (t0 * (1 + X0)) * (1 + X) by calc.
rewrite t0E !mulrDr !mulr1; apply: ler_add => //.
have -> : kappa * X0 * X = kappa * (X * X0) by move: kappa => k; calc.
by apply: ler_pemull => //; apply: mulr_ge0.
Qed.

Lemma share_far i j : rival i j -> ~~ near i ->
  pull W i j * r0 <= 2%:R * L%:R ^+ 2 * kappa * ratio i j * pull W i0 j0.
Proof.
move=> ij far; have max_mass j' : rival i0 j' -> mass W i0 j' <= mass W i0 j0.
  by move=> /max0; rewrite /ratio ler_pmul2r // invr_gt0 m_gt0.
have h0 := h_ge worst max_mass; rewrite !pullE // (massE i j) (massE i0 j0) -/r0.
have r00 : 0 <= r0 by apply: ratio_ge0.
have Aj : 0 <= A * ratio i j by apply: mulr_ge0; [apply: ltW | apply: ratio_ge0].
have hj : 0 <= h i0 j0.
  by rewrite -(pmulr_rge0 _ (_ : 0 < L%:R)) ?ltr0n ?(ltnW two_L) // (le_trans _ h0) // tau_ge.
apply: le_trans (_ : A * ratio i j * (2%:R * (kappa * (L%:R * h i0 j0))) * r0 <= _).
  rewrite ler_wpmul2r // [A * (_ * _)]mulrA -mulrA ler_wpmul2l //.
  have hge := h_ge0 ij; apply: le_trans (_ : h i j <= _); first by rewrite ler_pimull ?decider_le1.
  apply: le_trans (h_le ij) _; rewrite ler_pmul2l ?ltr0n //.
  by apply: le_trans (far_tau far) _; rewrite ler_wpmul2l.
have -> : 2%:R * L%:R ^+ 2 * kappa * ratio i j * (A * (r0 * m i0) * h i0 j0) =
    A * ratio i j * (2%:R * (kappa * (L%:R * h i0 j0))) * r0 * (L%:R * m i0).
  by move: (L%:R : R) (2%:R : R) kappa (ratio i j) (m i0) (h i0 j0) r0 => a b c d e f g; calc.
rewrite ler_pemulr ?m_large //; apply: mulr_ge0 => //; apply: mulr_ge0 => //.
by rewrite mulr_ge0 ?ler0n // mulr_ge0 // mulr_ge0 ?ler0n.
Qed.

(* Each share of the force, against the weight of its rival. *)
Let push i : R := freq i * \sum_(k | rival i k) pull W i k.
Let top i : R :=
  2%:R * L%:R ^+ 2 * (if near i then push i else kappa * (freq i * pull W i0 j0)).
Notation F := (force W).

Lemma force_rivals : F = \sum_i push i.
Proof.
by apply: eq_bigr => i _; rewrite /push (pull_rivals n body query next W_ov exp_pos W i).
Qed.

Lemma push_ge0 i : 0 <= push i.
Proof.
apply: mulr_ge0; first exact: ltW.
by apply: sumr_ge0 => k; apply: pull_ge0.
Qed.

Lemma top_ge0 i : 0 <= top i.
Proof.
apply: mulr_ge0; first by rewrite mulr_ge0 ?exprn_ge0 ?ler0n.
case: ifP => _; first exact: push_ge0.
by apply: mulr_ge0 => //; apply: mulr_ge0; [apply: ltW | apply: pull_ge0].
Qed.

Lemma share i j : rival i j -> freq i * pull W i j * r0 <= top i * ratio i j.
Proof.
move=> ij; rewrite -mulrA /top /push; case: ifPn => [close|far].
  apply: le_trans (ler_wpmul2l (ltW (freq_gt0 i)) (share_near ij close)) _.
  rewrite le_eqVlt; apply/orP; left; apply/eqP.
  by move: (ratio i j) (freq i) (\sum_(k | _) _) (2%:R : R) (L%:R : R) => a b c d e; calc.
apply: le_trans (ler_wpmul2l (ltW (freq_gt0 i)) (share_far ij far)) _.
rewrite le_eqVlt; apply/orP; left; apply/eqP.
by move: kappa (ratio i j) (freq i) (pull _ _ _) (2%:R : R) (L%:R : R) => k a b c d e; calc.
Qed.

Lemma top_total : freq i0 * (\sum_i top i) <= 2%:R * L%:R ^+ 2 * kappa * F.
Proof.
rewrite /top -mulr_sumr mulrCA -[_ * kappa * F]mulrA.
apply: ler_wpmul2l; first by rewrite mulr_ge0 ?exprn_ge0 ?ler0n.
rewrite (bigID near) /= mulrDr.
rewrite (eq_bigr push) => [|i ->//].
rewrite [X in _ + _ * X](eq_bigr (fun i => kappa * (freq i * pull W i0 j0))) => [|i /negbTE ->//].
rewrite -mulr_sumr -mulr_suml.
have near0 : near i0.
  apply/existsP; exists j0; rewrite worst /= -/r0 ler_pemull ?ratio_ge0 // ler1n; exact: ltnW.
have F0 : 0 <= F by rewrite force_rivals; apply: sumr_ge0 => i _; apply: push_ge0.
have le1 : \sum_(i | near i) push i <= F.
  rewrite force_rivals [X in _ <= X](bigID near) /= ler_addl.
  by apply: sumr_ge0 => i _; apply: push_ge0.
have le2 : freq i0 * pull W i0 j0 <= F.
  rewrite force_rivals (bigD1 i0) //= ler_paddr //; first by apply: sumr_ge0 => i _;
    apply: push_ge0.
  rewrite /push ler_wpmul2l ?(ltW (freq_gt0 i0)) // (bigD1 j0) //= ler_addl.
  by apply: sumr_ge0 => k /andP [ik _]; apply: pull_ge0.
have le3 : \sum_(i | ~~ near i) freq i <= 1 - freq i0.
  rewrite ler_subr_addr; rewrite -(shares_total data) addrC [leRHS](bigID near) /= ler_add2r.
  by rewrite (bigD1 i0) //= ler_addl; apply: sumr_ge0 => i _; apply: ltW.
have f0 := ltW (freq_gt0 i0); have p0 := pull_ge0 worst.
apply: le_trans (_ : freq i0 * (kappa * F) + (1 - freq i0) * (kappa * F) <= _); last first.
  by rewrite -mulrDl addrC subrK mul1r.
apply: ler_add.
  by rewrite ler_wpmul2l //; apply: le_trans le1 _; rewrite ler_pemull.
have -> : freq i0 * (kappa * ((\sum_(i | ~~ near i) freq i) * pull W i0 j0)) =
    (\sum_(i | ~~ near i) freq i) * (kappa * (freq i0 * pull W i0 j0)).
  by move: (\sum_(i | _) _) (pull _ _ _) (freq i0) kappa => a b c d; calc.
apply: ler_pmul => //.
- by apply: sumr_ge0 => i _; apply: ltW.
- by apply: mulr_ge0 => //; apply: mulr_ge0.
by rewrite ler_wpmul2l.
Qed.

(* Margins. *)
Definition margin i j : R := W (query i) (decider i) - W (query i) j.
Notation count i x := ((count_mem x (sentence i))%:R : R).

Lemma count_gt0 i x : x \in sentence i -> 0 < count i x.
Proof. by move=> xs; rewrite ltr0n -has_count has_pred1. Qed.

Lemma margin_ratio i j : exp (margin i j) * ratio i j = count i j / count i (decider i).
Proof.
have /lt0r_neq0 /eqP c0 := count_gt0 (decider_in asm1 i).
have /lt0r_neq0 /eqP Z0 := total_gt0 body query exp_pos W i.
have e0 : exp (W (query i) (decider i)) = exp (margin i j) * exp (W (query i) j).
  by rewrite -exp_add subrK.
have /lt0r_neq0 /eqP E0 := exp_pos (margin i j).
have /lt0r_neq0 /eqP j_0 := exp_pos (W (query i) j).
rewrite /ratio /Stage2.mass /weight e0.
move: (exp (margin i j)) (exp (W (query i) j)) (\sum_(y <- _) _) (count i j)
  (count i (decider i)) c0 Z0 E0 j_0 {e0} => E e Z c d d0 Z0 E0 e0.
by named R; field; do !split.
Qed.

Lemma margin_up i j : rival i j -> exp (margin i j) * ratio i j <= 1.
Proof.
case/andP=> js ne; rewrite margin_ratio ler_pdivr_mulr ?count_gt0 ?decider_in // mul1r ler_nat.
have := often data js; rewrite (is_decider asm1) => /(_ ne) /leq_trans; apply.
by rewrite (eq_count (a2 := pred1 (decider i))) // => x; rewrite (is_decider asm1).
Qed.

Lemma margin_low i j : rival i j -> 1 <= kappa * (exp (margin i j) * ratio i j).
Proof.
case/andP=> js ne; rewrite margin_ratio mulrA ler_pdivl_mulr ?count_gt0 ?decider_in // mul1r.
apply: le_trans (_ : kappa * 1 <= _); last first.
  by rewrite ler_wpmul2l // -[1]/(1%:R) ler_nat -has_count has_pred1.
rewrite mulr1 /kappa ler_subr_addr -[X in _ + X]/(1%:R) -natrD addn1 ler_nat.
apply: leq_trans (L_max i); rewrite -(count_predC (pred1 (decider i)) (sentence i)) -addn1
  leq_add2l.
rewrite -has_count; apply/hasP; exists j => //.
Qed.

Variables (i1 : I) (j1 : V).
Hypothesis least : rival i1 j1.
Variables (pi_min K : R).
Hypotheses (pi_min_gt0 : 0 < pi_min) (pi_minP : forall i j, rival i j -> pi_min <= freq i).
Hypothesis K_large : 2%:R * L%:R ^+ 2 * (L%:R - 1) ^+ 3 / pi_min <= exp K.

Lemma mean_margin :
  \sum_i freq i * (\sum_(j | rival i j) pull W i j * margin i j) <= F * (margin i1 j1 + K).
Proof.
have r00 : 0 <= r0 by apply: ratio_ge0.
have eK := exp_pos K; have eNK := exp_pos (- K).
have low : exp (- margin i1 j1) <= kappa * r0.
  apply: le_trans (_ : exp (- margin i1 j1) * (kappa * (exp (margin i1 j1) * ratio i1 j1)) <= _).
    by rewrite ler_pemulr ?margin_low // ltW.
  have -> : exp (- margin i1 j1) * (kappa * (exp (margin i1 j1) * ratio i1 j1)) =
      kappa * ratio i1 j1 * (exp (margin i1 j1) * exp (- margin i1 j1)).
    by move: kappa (ratio _ _) (exp (margin _ _)) (exp (- _)) => a b c d; calc.
  by rewrite (expN expo) mulr1 ler_wpmul2l ?max0.
have one i j : rival i j -> freq i * pull W i j * (1 + margin i j - margin i1 j1 - K) <=
    kappa * top i * exp (- K).
  move=> ij; have b0 : 0 <= freq i * pull W i j.
    by apply: mulr_ge0; [apply: ltW | apply: pull_ge0].
  apply: le_trans (_ : freq i * pull W i j *
    (exp (margin i j) * exp (- margin i1 j1) * exp (- K)) <= _).
    by rewrite ler_wpmul2l // -!exp_add -!addrA (exponential_tangent expo).
  rewrite [freq i * _ * (_ * exp (- K))]mulrA ler_pmul2r //.
  apply: le_trans (_ : freq i * pull W i j * (exp (margin i j) * (kappa * r0)) <= _).
    by rewrite ler_wpmul2l // ler_pmul2l.
  have -> : freq i * pull W i j * (exp (margin i j) * (kappa * r0)) =
      kappa * (freq i * pull W i j * r0 * exp (margin i j)).
    by move: kappa r0 (freq i * _) (exp _) => a b c d; calc.
  rewrite ler_wpmul2l //.
  apply: le_trans (_ : top i * ratio i j * exp (margin i j) <= _).
    by rewrite ler_pmul2r //; apply: share.
  by rewrite -mulrA [ratio i j * _]mulrC ler_pimulr ?top_ge0 ?margin_up.
have sum1 : \sum_i \sum_(j | rival i j) freq i * pull W i j *
    (1 + margin i j - margin i1 j1 - K) <= F.
  apply: le_trans (_ : \sum_i kappa * (kappa * top i * exp (- K)) <= _).
    apply: ler_sum => i _; apply: sum_rivals_le => [|j ij]; last exact: one.
    by rewrite mulr_ge0 ?(ltW eNK) // mulr_ge0 ?top_ge0.
  have -> : \sum_i kappa * (kappa * top i * exp (- K)) = kappa ^+ 2 * exp (- K) * \sum_i top i.
    rewrite mulr_sumr; apply: eq_bigr => i _.
    by move: kappa (top i) (exp _) => a b c; calc.
  have f0 := freq_gt0 i0; rewrite -(ler_pmul2l f0) mulrCA.
  apply: le_trans (ler_wpmul2l _ top_total) _; first by apply: mulr_ge0;
    [apply: exprn_ge0 | apply: ltW].
  have F0 : 0 <= F by rewrite force_rivals; apply: sumr_ge0 => i _; apply: push_ge0.
  have -> : kappa ^+ 2 * exp (- K) * (2%:R * L%:R ^+ 2 * kappa * F) =
      2%:R * L%:R ^+ 2 * kappa ^+ 3 * exp (- K) * F.
    by move: kappa (L%:R : R) (2%:R : R) F (exp _) => a b c d e; rewrite [a ^+ 3]exprS; calc.
  rewrite ler_wpmul2r //; apply: le_trans (pi_minP worst).
  rewrite -(ler_pmul2r eK) -[_ * exp (- K) * exp K]mulrA [exp (- K) * _]mulrC (expN expo) mulr1.
  by rewrite [pi_min * _]mulrC -ler_pdivr_mulr.
have -> : \sum_i freq i * (\sum_(j | rival i j) pull W i j * margin i j) =
    (\sum_i \sum_(j | rival i j) freq i * pull W i j * (1 + margin i j - margin i1 j1 - K)) +
    F * (margin i1 j1 + K - 1).
  rewrite force_rivals mulr_suml -big_split; apply: eq_bigr => i _ /=.
  rewrite /push mulr_sumr mulr_sumr mulr_suml -big_split; apply: eq_bigr => j _ /=.
  by move: (freq i) (pull _ _ _) (margin i j) (margin _ _) => a b c d; calc.
apply: le_trans (ler_add sum1 (lexx _)) _.
by rewrite le_eqVlt; apply/orP; left; apply/eqP; move: F (margin _ _) => a b; calc.
Qed.
End State.

(* (a), without multipliers: the first-order condition of (12). If all margins of W are at least mu,
   then U + s (W - mu U) is feasible for small s >= 0, so that W - mu U has no part against U. *)
Section Optimum.
Variable U : V -> V -> R.
Hypothesis solU : @solves12 R V n I body query next U.
Notation margin W i j := (W (query i) (decider i) - W (query i) j).

Lemma U_margin i j : rival i j -> 1 <= margin U i j.
Proof.
case/andP=> js ne; apply: solU.1 => //; first exact: decider_in asm1 i.
  exact: decider_next asm1 i.
by apply/eqP; rewrite (is_decider asm1).
Qed.

Theorem optimum_mean W mu : (forall i j, rival i j -> mu <= margin W i j) ->
  mu * Norm2 U <= inner U W.
Proof.
move=> le; pose D q x := W q x + - mu * U q x.
suff: 0 <= inner U D.
  rewrite inner_add mulNr subr_ge0; exact.
rewrite leNgt; apply/negP => neg; have N0 := Norm2_ge0 D.
pose s := Num.min (1 + `|mu|)^-1 (- inner U D / (Norm2 D + 1)).
have pos : 0 < 1 + `|mu| by rewrite ltr_paddr ?normr_ge0 ?ltr01.
have N1 : 0 < Norm2 D + 1 by rewrite ltr_paddl ?ltr01.
have s0 : 0 < s by rewrite lt_minr invr_gt0 pos divr_gt0 // oppr_gt0.
have smu : s * mu <= 1.
  apply: le_trans (_ : s * (1 + `|mu|) <= _).
    by rewrite ler_pmul2l // ler_paddl ?ler01 // ler_norm.
  by rewrite -ler_pdivl_mulr // div1r le_minl lexx.
have sN : s * Norm2 D <= - inner U D.
  apply: le_trans (_ : s * (Norm2 D + 1) <= _); first by rewrite ler_pmul2l // ler_addl ler01.
  by rewrite -ler_pdivl_mulr // le_minl lexx orbT.
have /solU.2 : @feasible12 R V n I body query next (fun q x => U q x + s * D q x).
  move=> i x y xs ys nx ny; have ij : rival i y.
    by rewrite /Stage2.rival ys -(is_decider asm1); apply/eqP.
  have -> : x = decider i by apply/eqP; rewrite -(is_decider asm1) nx.
  have := U_margin ij; have := le _ _ ij; rewrite /D.
  move: (U _ (decider i)) (U _ y) (W _ (decider i)) (W _ y) => uo uj wo wj lw lu.
  rewrite -subr_ge0.
  have -> : uo + s * (wo + - mu * uo) - (uj + s * (wj + - mu * uj)) - 1 =
      (1 - s * mu) * (uo - uj - 1) + s * (wo - wj - mu) by calc.
  by rewrite addr_ge0 // mulr_ge0 // ?subr_ge0 // ltW.
rewrite (Norm2_add U s D) -[X in X <= _]addr0 -addrA ler_add2l leNgt; case/negP.
have -> : 2%:R * s * inner U D + s ^+ 2 * Norm2 D = s * (2%:R * inner U D + s * Norm2 D).
  by move: (2%:R : R) => a; calc.
rewrite pmulr_rlt0 //; apply: le_lt_trans (_ : _ <= inner U D) neg.
by rewrite mulr_natl mulr2n -addrA ger_addl -ler_subr_addl sub0r.
Qed.

(* Theorem A. *)
Variables (pi_min K : R).
Hypotheses (pi_min_gt0 : 0 < pi_min) (pi_minP : forall i j, rival i j -> pi_min <= freq i).
Hypothesis K_large : 2%:R * L%:R ^+ 2 * (L%:R - 1) ^+ 3 / pi_min <= exp K.
Lemma inner_rivals W W' : - inner (gradient W) W' =
  \sum_i freq i * (\sum_(j | rival i j) pull W i j * margin W' i j).
Proof.
rewrite inner_gradient -sumrN; apply: eq_bigr => i _; rewrite -mulrN; congr (_ * _).
transitivity (\sum_x pull W i x * margin W' i x).
  rewrite (eq_bigr _ (fun x _ => mulrBr _ _ _)) sumrB -mulr_suml.
  by rewrite (pull_sum body query next W_ov exp_pos W i) mul0r add0r.
rewrite (bigD1 (decider i)) //= subrr mulr0 add0r (bigID (fun j => j \in sentence i)) /=.
rewrite [X in _ + X]big1 ?addr0 => [|j /andP [_ js]]; last by rewrite pull_absent ?mul0r.
by apply: eq_bigl => j; rewrite /Stage2.rival andbC.
Qed.

(* The pairs have positive weights where deciders lead, and a step of any size keeps that and lowers
   no margin. *)
Theorem pairs W W' (c : R) : leads W -> 0 <= c ->
  (forall q x, W' q x = W q x - c * gradient W q x) ->
  [/\ forall i j, rival i j -> 0 < pull W i j /\ pull W i j = A * mass W i j *
        (T W i (n j) + (tau W i * mass W i (decider i) - Q W i)),
      forall i, 1 <= L%:R * mass W i (decider i),
      leads W' & forall i j, rival i j -> margin W i j <= margin W' i j].
Proof.
move=> lead c0 step; split=> [i j ij|i||i j ij].
- rewrite (pullE W ij); split=> //; apply: mulr_gt0.
    by rewrite mulr_gt0 // mass_gt0 //; case/andP: ij.
  apply: ltr_paddr; last exact: T_gt0.
  by rewrite subr_ge0; exact: (Q_le W_ov exp_pos asm1 i lead).
- exact: m_large lead i.
- exact: (leads_step exp_pos gap asm1 freq_gt0 A_gt0 exp_add exp_le c0 step lead).
rewrite !step -subr_ge0.
have up := ltW (gradient_optimal exp_pos gap asm1 freq_gt0 A_gt0 W ij).
have down := gradient_nonoptimal exp_pos gap asm1 freq_gt0 A_gt0 lead ij.
set a := W _ _; set b := W _ j; set ga := gradient W _ _ in up *; set gb := gradient W _ j in down *.
have -> : a - c * ga - (b - c * gb) - (a - b) = c * (gb - ga) by calc.
by rewrite mulr_ge0 // subr_ge0 (le_trans up).
Qed.

Theorem theorem_A W : leads W ->
  - inner (gradient W) W <= force W * (inner U W / Norm2 U + K).
Proof.
move=> lead; case: (compares data) => i [j ij].
have pairs (f : I * V -> R) : exists2 p, rival p.1 p.2 & forall i j, rival i j -> f (i, j) <= f p.
  case: (@Order.TotalTheory.arg_maxP _ _ _ (i, j) (fun p => rival p.1 p.2) f ij) => p rp max.
  by exists p => // i' j' ij'; apply: (max (i', j')).
have [[i0 j0] worst max0] := pairs (fun p => ratio W p.1 p.2).
have [[i1 j1] least min1] := pairs (fun p => - margin W p.1 p.2).
have {}min1 i' j' : rival i' j' -> margin W i1 j1 <= margin W i' j'.
  by move/min1; rewrite ler_opp2.
rewrite inner_rivals; apply: le_trans (mean_margin lead worst max0 least
  pi_min_gt0 pi_minP K_large) _.
have F0 := force_gt0 exp_pos gap asm1 freq_gt0 A_gt0 (compares data) W.
rewrite ler_pmul2l // ler_add2r ler_pdivl_mulr; first exact: optimum_mean.
rewrite lt_neqAle Norm2_ge0 andbT eq_sym; apply/eqP => /Norm2_eq0 zero.
by have := U_margin ij; rewrite !zero subrr ler10.
Qed.
End Optimum.
End Alignment.
