(* Stage 2 of Algorithm 1: Lemmas 4, 5 and 6. Page: huang2024_s5_stage2_lemmas.

   The gradient is the formula (6), by its entries. The exponential is any function that is
   positive, increasing and turns sums into products. *)
From Coq Require Import Ring Field.
From mathcomp Require Import all_ssreflect all_algebra.
From Companion Require Import Fields Orders MaxMargin Frobenius Stage1Law.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Section Model.
Variables (R : rcfType) (V : finType) (n : V -> V) (exp : R -> R).
(* The samples i: the sentence [rcons (body i) (query i)], its next token, its frequency. *)
Variables (I : finType) (body : I -> seq V) (query next : I -> V) (freq : I -> R).
(* The matrix of stage 1, [W_ov x v] being the logit of v after x. *)
Variable W_ov : V -> V -> R.
Implicit Types (W : V -> V -> R) (i : I) (q x y v : V).
Add Field scores : (is_field R).
Ltac calc := named R; ring.

Definition sentence i : seq V := rcons (body i) (query i).
Definition sampled (s : seq V) (z : V) : Prop := exists i, sentence i = s /\ next i = z.

(* (9): the weight of a position of the sentence that holds x. Sums over a sentence run through
   its positions. *)
Definition weight W i x : R := exp (W (query i) x) / \sum_(y <- sentence i) exp (W (query i) y).

(* The output: logits, probabilities T. *)
Definition logit W i v : R := \sum_(x <- sentence i) weight W i x * W_ov x v.
Definition T W i v : R := exp (logit W i v) / \sum_u exp (logit W i u).

(* (6), entry by entry: column q, row x. *)
Definition error W i x : R := \sum_(v : V) W_ov x v * (T W i v - (v == next i)%:R).
Definition mean_error W i : R := \sum_(y <- sentence i) weight W i y * error W i y.
Definition gradient W q x : R :=
  \sum_(i | query i == q) freq i *
    \sum_(y <- sentence i | y == x) weight W i y * (error W i y - mean_error W i).

Hypothesis exp_pos : forall c : R, 0 < exp c.
Variable A : R.
Hypothesis gap : forall x v, v != n x -> W_ov x (n x) - W_ov x v = A.

(* Sums over a sentence, token by token. *)
Lemma sentence_sum (s : seq V) (f : V -> R) :
  \sum_(y <- s) f y = \sum_y (count_mem y s)%:R * f y.
Proof.
elim: s => [|x s IH]; first by rewrite big_nil big1 // => y _; rewrite mul0r.
rewrite big_cons IH (bigD1 x) //= [in RHS](bigD1 x) //= eqxx addrA natrD mulrDl mul1r.
by congr (_ + _); apply: eq_bigr => y /negbTE ne; rewrite eq_sym ne.
Qed.

Definition mass W i x : R := (count_mem x (sentence i))%:R * weight W i x.

Lemma total_gt0 W i : 0 < \sum_(y <- sentence i) exp (W (query i) y).
Proof.
rewrite /sentence -cats1 big_cat big_seq1 /= ltr_paddl ?exp_pos //.
by apply: sumr_ge0 => y _; apply: ltW.
Qed.
Lemma weight_gt0 W i x : 0 < weight W i x.
Proof. by rewrite divr_gt0 ?exp_pos ?total_gt0. Qed.
Lemma mass_ge0 W i x : 0 <= mass W i x.
Proof. by rewrite mulr_ge0 ?ler0n // ltW ?weight_gt0. Qed.
Lemma mass_sum W i : \sum_x mass W i x = 1.
Proof.
by rewrite -sentence_sum -mulr_suml divff // lt0r_neq0 ?total_gt0.
Qed.
Lemma T_gt0 W i v : 0 < T W i v.
Proof.
rewrite divr_gt0 ?exp_pos // (bigD1 v) //= ltr_paddr ?exp_pos //.
by apply: sumr_ge0 => u _; apply: ltW.
Qed.
Lemma T_sum W i : \sum_v T W i v = 1.
Proof.
rewrite -mulr_suml divff // lt0r_neq0 // (bigD1 (query i)) //= ltr_paddr ?exp_pos //.
by apply: sumr_ge0 => u _; apply: ltW.
Qed.

(* A constant in a column of W_ov drops out, since T and the next token both sum to one. *)
Lemma errorE W i x : error W i x = A * (T W i (n x) - (n x == next i)%:R).
Proof.
have split v : W_ov x v = W_ov x (n x) - A + (if v == n x then A else 0).
  have [->|/gap <-] := eqVneq v (n x); first by rewrite subrK.
  by rewrite addr0 opprB addrC subrK.
rewrite /error (eq_bigr _ (fun v _ => congr1 ( *%R^~ _) (split v))).
rewrite (eq_bigr _ (fun v _ => mulrDl _ _ _)) big_split /= -mulr_sumr sumrB T_sum.
rewrite -natr_sum (eq_bigr (fun v => if v == next i then 1%N else 0%N)) => [|v _]; last first.
  by case: eqP.
rewrite -big_mkcond sum1_card card1 subrr mulr0 add0r (bigD1 (n x)) //= eqxx big1 ?addr0 //.
by move=> v /negbTE ->; rewrite mul0r.
Qed.

Theorem lemma_4 W W' : inner (gradient W) W' = A * \sum_i freq i * (
  let o y := n y == next i in
  let mean := \sum_(y <- sentence i) weight W i y * W' (query i) y in
  (T W i (next i) - 1) *
    (\sum_(y <- sentence i | o y) weight W i y * (W' (query i) y - mean)) +
  \sum_(y <- sentence i | ~~ o y) T W i (n y) * weight W i y * (W' (query i) y - mean)).
Proof.
have -> : inner (gradient W) W' = \sum_i freq i * \sum_(y <- sentence i)
    weight W i y * (error W i y - mean_error W i) * W' (query i) y.
  transitivity (\sum_q \sum_(i | query i == q) freq i * \sum_(y <- sentence i)
      weight W i y * (error W i y - mean_error W i) * W' q y).
    apply: eq_bigr => q _; rewrite /dot.
    rewrite (eq_bigr _ (fun x _ => mulr_suml _ _ _ _)) exchange_big; apply: eq_bigr => i _ /=.
    rewrite (eq_bigr _ (fun x _ => esym (mulrA _ _ _))) -mulr_sumr; congr (_ * _).
    rewrite (eq_bigr _ (fun x _ => mulr_suml _ _ _ _)) (exchange_big_dep xpredT) //=.
    by apply: eq_bigr => y _; rewrite (big_pred1 y) // => x; rewrite eq_sym.
  rewrite (exchange_big_dep xpredT) //=; apply: eq_bigr => i _.
  by rewrite (big_pred1 (query i)) // => q; rewrite eq_sym.
rewrite mulr_sumr; apply: eq_bigr => i _; rewrite mulrCA; congr (_ * _) => /=.
set mean := \sum_(y <- _) weight W i y * W' _ y.
(* a covariance is symmetric *)
have -> : \sum_(y <- sentence i) weight W i y * (error W i y - mean_error W i) * W' (query i) y =
    \sum_(y <- sentence i) weight W i y * error W i y * (W' (query i) y - mean).
  have e1 y : weight W i y * (error W i y - mean_error W i) * W' (query i) y =
      weight W i y * error W i y * W' (query i) y -
      mean_error W i * (weight W i y * W' (query i) y) by calc.
  have e2 y : weight W i y * error W i y * (W' (query i) y - mean) =
      weight W i y * error W i y * W' (query i) y - mean * (weight W i y * error W i y) by calc.
  rewrite (eq_bigr _ (fun y _ => e1 y)) [RHS](eq_bigr _ (fun y _ => e2 y)) !sumrB -!mulr_sumr.
  by congr (_ - _); apply: mulrC.
rewrite (bigID (fun y => n y == next i)) /= mulrDr !mulr_sumr; congr (_ + _).
  by apply: eq_bigr => y /eqP ny; rewrite errorE ny eqxx mulr1n; calc.
by apply: eq_bigr => y /negbTE ny; rewrite errorE ny subr0; calc.
Qed.

(* The same gradient by tokens: each sample pulls at its tokens, with a force that sums to zero. *)
Definition pull W i x : R := mass W i x * (error W i x - mean_error W i).

Lemma mean_errorE W i : mean_error W i = \sum_y mass W i y * error W i y.
Proof. by rewrite /mean_error sentence_sum; apply: eq_bigr => y _; rewrite mulrA. Qed.

Lemma gradientE W q x : gradient W q x = \sum_(i | query i == q) freq i * pull W i x.
Proof.
apply: eq_bigr => i _; congr (_ * _); rewrite big_mkcond sentence_sum (bigD1 x) //= eqxx big1.
  by rewrite addr0 mulrA.
by move=> y /negbTE ->; rewrite mulr0.
Qed.

Lemma pull_sum W i : \sum_x pull W i x = 0.
Proof.
rewrite (eq_bigr _ (fun x _ => mulrBr _ _ _)) sumrB -mulr_suml mass_sum mul1r.
by rewrite mean_errorE subrr.
Qed.

Lemma inner_gradient W W' :
  inner (gradient W) W' = \sum_i freq i * \sum_x pull W i x * W' (query i) x.
Proof.
transitivity (\sum_q \sum_(i | query i == q) freq i * \sum_x pull W i x * W' q x).
  apply: eq_bigr => q _; rewrite /dot (eq_bigr _ (fun x _ => congr1 ( *%R^~ _) (gradientE W q x))).
  rewrite (eq_bigr _ (fun x _ => mulr_suml _ _ _ _)) exchange_big; apply: eq_bigr => i _ /=.
  by rewrite mulr_sumr; apply: eq_bigr => x _; rewrite mulrA.
rewrite (exchange_big_dep xpredT) //=; apply: eq_bigr => i _.
by rewrite (big_pred1 (query i)) // => q; rewrite eq_sym.
Qed.

(* The hypotheses of Lemma 5: Assumption 1, positive frequencies, a positive gap. *)
Hypotheses (asm1 : assumption_1 n sampled) (freq_gt0 : forall i, 0 < freq i) (A_gt0 : 0 < A).

Let n_inj : injective n. Proof. by case: asm1. Qed.

(* The token that decides a sentence. *)
Definition decider i : V := nth (query i) (sentence i) (find (fun x => n x == next i) (sentence i)).
Lemma decider_has i : has (fun x => n x == next i) (sentence i).
Proof.
case: asm1 => _ src _; have [|o o_s zo] := src (sentence i) (next i); first by exists i.
by apply/hasP; exists o => //; apply/eqP.
Qed.
Lemma decider_in i : decider i \in sentence i.
Proof. by rewrite mem_nth // -has_find decider_has. Qed.
Lemma decider_next i : n (decider i) = next i.
Proof. exact/eqP/(nth_find (query i) (decider_has i)). Qed.
Lemma is_decider i x : (n x == next i) = (x == decider i).
Proof. by rewrite -decider_next (inj_eq n_inj). Qed.

(* A rival of a sentence is another token of it. *)
Definition rival i x : bool := (x \in sentence i) && (x != decider i).

Lemma count_mass W i x : x \notin sentence i -> mass W i x = 0.
Proof. by move=> /count_memPn; rewrite /mass => ->; rewrite mul0r. Qed.
Lemma mass_gt0 W i x : x \in sentence i -> 0 < mass W i x.
Proof. by move=> xs; rewrite mulr_gt0 ?weight_gt0 // ltr0n -has_count has_pred1. Qed.

(* Roles are those of the order: the decider of a sentence with a rival is above it. *)
Lemma rival_above i j : rival i j -> above n sampled (query i) (decider i) j.
Proof.
case/andP=> js jo; exists (body i), (next i); split=> //; first by exists i.
- exact: decider_in.
- exact: decider_next.
by apply/eqP; rewrite is_decider.
Qed.
Lemma decides_everywhere i j i' : rival i j -> query i' = query i ->
  decider i \in sentence i' -> decider i = decider i'.
Proof.
move=> ij q o_s; apply/eqP/negPn/negP => ne; case: asm1 => _ _ clear.
have := @rival_above i' (decider i); rewrite /rival o_s ne q => /(_ isT) up.
apply: (clear (query i) (decider i)); split; first by exists (decider i').
by exists j; apply: rival_above.
Qed.
Lemma rival_everywhere i j i' : rival i j -> query i' = query i -> j \in sentence i' ->
  rival i' j \/ forall x, x \in sentence i' -> x = j.
Proof.
move=> ij q js; have [jo|jo] := eqVneq j (decider i'); last by left; rewrite /rival js.
right=> x xs; apply/eqP/negPn/negP => ne; case: asm1 => _ _ clear.
have := @rival_above i' x; rewrite /rival xs -jo ne q => /(_ isT) down.
apply: (clear (query i) j); split; first by exists (decider i); apply: rival_above.
by exists x.
Qed.

(* What a sample does: with m the mass and T the probability of the decider, tau = 1 - T and Q the
   sum of T m over the other tokens, it pulls the decider by - A m (tau (1 - m) + Q) and any other
   token by A m_j (T_j + tau m - Q). *)
Definition tau W i : R := 1 - T W i (next i).
Definition Q W i : R := \sum_(y | y != decider i) mass W i y * T W i (n y).

Lemma tau_rest W i : tau W i = \sum_(y | y != decider i) T W i (n y).
Proof.
have [g ng gn] : bijective n by apply: injF_bij.
have all : \sum_y T W i (n y) = 1.
  rewrite -(T_sum W i) [RHS](reindex n) //; exists g => x _; [exact: ng | exact: gn].
by rewrite /tau -all (bigD1 (decider i)) //= decider_next addrAC subrr add0r.
Qed.
Lemma tau_ge0 W i : 0 <= tau W i.
Proof. by rewrite tau_rest; apply: sumr_ge0 => y _; rewrite ltW ?T_gt0. Qed.
Lemma Q_ge0 W i : 0 <= Q W i.
Proof. by apply: sumr_ge0 => y _; rewrite mulr_ge0 ?mass_ge0 // ltW ?T_gt0. Qed.

Lemma mean_errorQ W i : mean_error W i = A * (Q W i - tau W i * mass W i (decider i)).
Proof.
rewrite mean_errorE (bigD1 (decider i)) //= errorE decider_next eqxx mulr1n /tau.
have -> : \sum_(y | y != decider i) mass W i y * error W i y = A * Q W i.
  rewrite mulr_sumr; apply: eq_bigr => y /negbTE ne.
  by rewrite errorE is_decider ne subr0 mulrCA.
by move: (mass _ _ _) (T _ _ _) (Q _ _) => m t s; calc.
Qed.

Lemma pull_decider W i (m := mass W i (decider i)) :
  pull W i (decider i) = - (A * m * (tau W i * (1 - m) + Q W i)).
Proof.
rewrite /pull mean_errorQ errorE decider_next eqxx mulr1n /tau -/m.
by move: m (T _ _ _) (Q _ _) => m t s; calc.
Qed.
Lemma pull_other W i j (m := mass W i (decider i)) : j != decider i ->
  pull W i j = A * mass W i j * (T W i (n j) + (tau W i * m - Q W i)).
Proof.
move=> /negbTE ne; rewrite /pull mean_errorQ errorE is_decider ne subr0 -/m.
by move: m (mass _ _ _) (T _ _ _) (tau _ _) (Q _ _) => m mj t u s; calc.
Qed.

Lemma decider_le1 W i : mass W i (decider i) <= 1.
Proof.
rewrite -(mass_sum W i) (bigD1 (decider i)) //= ler_addl.
by apply: sumr_ge0 => y _; apply: mass_ge0.
Qed.

Lemma pull_decider_le0 W i : pull W i (decider i) <= 0.
Proof.
rewrite pull_decider oppr_le0; apply: mulr_ge0; first by rewrite mulr_ge0 ?mass_ge0 ?ltW.
by rewrite addr_ge0 ?Q_ge0 // mulr_ge0 ?tau_ge0 // subr_ge0 decider_le1.
Qed.

(* The invariant of Lemma 5: in every sentence the decider has at least the mass of any rival. *)
Definition leads W : Prop := forall i y, mass W i y <= mass W i (decider i).

Lemma Q_le W i : leads W -> Q W i <= tau W i * mass W i (decider i).
Proof.
move=> lead; rewrite tau_rest mulr_suml; apply: ler_sum => y _; rewrite mulrC.
by rewrite ler_wpmul2l // ltW ?T_gt0.
Qed.

Lemma pull_rival_ge0 W i j : leads W -> j != decider i -> 0 <= pull W i j.
Proof.
move=> lead ne; rewrite pull_other //; apply: mulr_ge0; first by rewrite mulr_ge0 ?mass_ge0 ?ltW.
by rewrite addr_ge0 ?subr_ge0 ?Q_le // ltW ?T_gt0.
Qed.

(* A sentence of one token does not pull. *)
Lemma pull_alone W i j : (forall x, x \in sentence i -> x = j) -> pull W i j = 0.
Proof.
move=> alone; rewrite -(pull_sum W i) (bigD1 j) //= big1 ?addr0 // => y ne.
rewrite /pull count_mass ?mul0r //; apply: contra ne => /alone ->; exact: eqxx.
Qed.
Lemma pull_absent W i x : x \notin sentence i -> pull W i x = 0.
Proof. by move=> xs; rewrite /pull count_mass ?mul0r. Qed.

(* The display in the proof of Lemma 5. All samples of a query agree on the sign of an entry: it is
   negative for optimal tokens, and not negative for their rivals if deciders lead. *)
Lemma pull_decider_lt0 W i j : rival i j -> pull W i (decider i) < 0.
Proof.
case/andP=> js ne; rewrite pull_decider oppr_lt0; apply: mulr_gt0.
  by rewrite mulr_gt0 ?mass_gt0 ?decider_in.
apply: ltr_paddl; first by rewrite mulr_ge0 ?tau_ge0 // subr_ge0 decider_le1.
rewrite /Q (bigD1 j) //=; apply: ltr_paddr; last by rewrite mulr_gt0 ?mass_gt0 ?T_gt0.
by apply: sumr_ge0 => y _; rewrite mulr_ge0 ?mass_ge0 // ltW ?T_gt0.
Qed.

Theorem gradient_optimal W i j : rival i j -> gradient W (query i) (decider i) < 0.
Proof.
move=> ij; rewrite gradientE (bigD1 i) //=.
apply: le_lt_trans (_ : _ <= freq i * pull W i (decider i)) _; last first.
  by rewrite pmulr_rlt0 ?(pull_decider_lt0 W ij).
rewrite ger_addl -oppr_ge0 -sumrN; apply: sumr_ge0 => i' /andP [/eqP q _].
rewrite -mulrN; apply: mulr_ge0; [exact: ltW | rewrite oppr_ge0].
have [o_s|o_s] := boolP (decider i \in sentence i'); last by rewrite pull_absent.
by rewrite (decides_everywhere ij q o_s) pull_decider_le0.
Qed.

Theorem gradient_nonoptimal W i j : leads W -> rival i j -> 0 <= gradient W (query i) j.
Proof.
move=> lead ij; rewrite gradientE; apply: sumr_ge0 => i' /eqP q.
apply: mulr_ge0; first exact: ltW.
have [js|js] := boolP (j \in sentence i'); last by rewrite pull_absent.
have [/andP [_ ne]|alone] := rival_everywhere ij q js; last by rewrite pull_alone.
exact: pull_rival_ge0.
Qed.

(* A step (10), of any length. *)
Hypotheses (exp_add : forall c d : R, exp (c + d) = exp c * exp d)
  (exp_le : forall c d : R, c <= d -> exp c <= exp d).
Variable eta : R.
Hypothesis eta_gt0 : 0 < eta.
Definition W_kq : nat -> V -> V -> R := descent gradient eta (fun _ _ => 0).

Section Step.
Variables (W W' : V -> V -> R) (c : R).
Hypotheses (c0 : 0 <= c) (step : forall q x, W' q x = W q x - c * gradient W q x).
Hypothesis lead : leads W.

(* The odds of any token against the decider do not rise. *)
Lemma odds_fall i y : y \in sentence i ->
  exp (W' (query i) y) * exp (W (query i) (decider i)) <=
  exp (W (query i) y) * exp (W' (query i) (decider i)).
Proof.
move=> ys; have [->|ne] := eqVneq y (decider i); first by rewrite mulrC.
have ij : rival i y by rewrite /rival ys.
rewrite -!exp_add; apply: exp_le; rewrite !step -subr_ge0.
have -> : W (query i) y + (W (query i) (decider i) - c * gradient W (query i) (decider i)) -
    (W (query i) y - c * gradient W (query i) y + W (query i) (decider i)) =
  c * (gradient W (query i) y - gradient W (query i) (decider i)) by calc.
apply: mulr_ge0 => //; rewrite subr_ge0.
exact: le_trans (ltW (gradient_optimal W ij)) (gradient_nonoptimal lead ij).
Qed.

(* So its attention does not fall, ... *)
Lemma weight_rises i : weight W i (decider i) <= weight W' i (decider i).
Proof.
rewrite /weight ler_pdivr_mulr ?total_gt0 // mulrAC ler_pdivl_mulr ?total_gt0 //.
rewrite [leLHS]mulrC [leRHS]mulrC !mulr_suml big_seq [leRHS]big_seq.
by apply: ler_sum => y ys; apply: odds_fall.
Qed.

(* ... and it still leads. *)
Lemma leads_step : leads W'.
Proof.
have odds U i y : (mass U i y <= mass U i (decider i)) =
    ((count_mem y (sentence i))%:R * exp (U (query i) y) <=
     (count_mem (decider i) (sentence i))%:R * exp (U (query i) (decider i))).
  by rewrite /mass /weight !mulrA ler_pmul2r // invr_gt0 total_gt0.
move=> i y; have [ys|ys] := boolP (y \in sentence i); last by rewrite count_mass ?mass_ge0.
have := lead i y; rewrite !odds => le.
rewrite -(ler_pmul2r (exp_pos (W (query i) (decider i)))) -mulrA.
apply: le_trans (_ : (count_mem y (sentence i))%:R *
  (exp (W (query i) y) * exp (W' (query i) (decider i))) <= _).
  by rewrite ler_wpmul2l ?ler0n ?odds_fall.
by rewrite mulrA [leRHS]mulrAC ler_pmul2r.
Qed.
End Step.

(* Assumption 3: in every sample the optimal positions are no fewer than those of any other token.
   No sentence is longer than L. *)
Definition assumption_3 : Prop := forall i y, y \in sentence i -> n y != next i ->
  (count_mem y (sentence i) <= count (fun x => n x == next i) (sentence i))%N.
Hypothesis asm3 : assumption_3.
Variable L : nat.
Hypothesis L_max : forall i, (size (sentence i) <= L)%N.

Let pace W : R := eta / norm (gradient W).
Let pace_ge0 W : 0 <= pace W. Proof. by rewrite divr_ge0 ?norm_ge0 ?ltW. Qed.
Let stepE t q x : W_kq t.+1 q x = W_kq t q x - pace (W_kq t) * gradient (W_kq t) q x.
Proof. by rewrite /= /pace mulrAC mulrA. Qed.

Lemma start_leads : leads (fun _ _ => 0).
Proof.
move=> i y; have [ys|ys] := boolP (y \in sentence i); last by rewrite count_mass ?mass_ge0.
rewrite /mass ler_wpmul2r ?(ltW (weight_gt0 _ _ _)) // ler_nat.
have [->//|ne] := eqVneq y (decider i).
have := asm3 ys; rewrite is_decider => /(_ ne) /leq_trans; apply.
by rewrite (eq_count (a2 := pred1 (decider i))) // => x; rewrite is_decider.
Qed.

Lemma always_leads t : leads (W_kq t).
Proof. by elim: t => [|t IH]; [exact: start_leads | apply: leads_step (stepE t) IH]. Qed.

Theorem lemma_5 t i x : x \in sentence i -> n x = next i ->
  1 / L%:R <= weight (W_kq t) i x /\ weight (W_kq t) i x <= weight (W_kq t.+1) i x.
Proof.
move=> xs /eqP; rewrite is_decider => /eqP ->.
have up u : weight (W_kq u) i (decider i) <= weight (W_kq u.+1) i (decider i).
  exact: weight_rises (pace_ge0 _) (stepE u) (always_leads u) i.
split=> //; elim: t => [|t IH]; last exact: le_trans (up t).
have s0 : 0 < (size (sentence i))%:R :> R by rewrite size_rcons ltr0n.
have -> : weight (W_kq 0) i (decider i) = 1 / (size (sentence i))%:R.
  rewrite /weight /= big_const_seq count_predT iter_addr_0 -[_ *+ _]mulr_natl.
  by rewrite invfM mulrA mulrAC divff ?lt0r_neq0 ?exp_pos.
rewrite !mul1r lef_pinv ?posrE ?ler_nat ?L_max //.
by rewrite ltr0n (leq_trans _ (L_max i)) // size_rcons.
Qed.

(* Lemma 6. The constraints (12), and a solution U of them: W_kq_star. Some sample compares two
   tokens; else the gradient is zero and (10) is not defined. *)
Definition feasible12 (U : V -> V -> R) : Prop := forall i x y,
  x \in sentence i -> y \in sentence i -> n x = next i -> n y <> next i ->
  1 <= U (query i) x - U (query i) y.
Definition solves12 (U : V -> V -> R) : Prop :=
  feasible12 U /\ forall U', feasible12 U' -> Norm2 U <= Norm2 U'.
Variable U : V -> V -> R.
Hypotheses (solU : solves12 U) (compared : exists i j, rival i j).

(* The total force on the deciders. *)
Definition force W : R := \sum_i freq i * - pull W i (decider i).

Lemma force_gt0 W : 0 < force W.
Proof.
case: compared => i [j ij]; rewrite /force (bigD1 i) //=; apply: ltr_paddr.
  apply: sumr_ge0 => i' _; rewrite mulr_ge0 ?oppr_ge0 ?pull_decider_le0 //; exact: ltW.
by rewrite mulr_gt0 // oppr_gt0 (pull_decider_lt0 W ij).
Qed.

Lemma pull_others W i : \sum_(x | x != decider i) pull W i x = - pull W i (decider i).
Proof.
have := pull_sum W i; rewrite (bigD1 (decider i)) //= addrC => /eqP.
by rewrite addr_eq0 => /eqP.
Qed.

Lemma pull_rivals W i : \sum_(j | rival i j) pull W i j = - pull W i (decider i).
Proof.
rewrite -pull_others [in RHS](bigID (fun j => j \in sentence i)) /=.
rewrite [X in _ = _ + X]big1 ?addr0 => [|j /andP [_ js]]; last exact: pull_absent.
by apply: eq_bigl => j; rewrite /rival andbC.
Qed.

(* Each rival scores at least one less than the decider in U; so the gradient has a part against U
   that is at least the force, ... *)
Lemma along_U W : leads W -> force W <= - inner (gradient W) U.
Proof.
move=> lead; rewrite inner_gradient -sumrN; apply: ler_sum => i _.
rewrite -[leRHS]mulrN ler_wpmul2l ?(ltW (freq_gt0 i)) //.
have -> : - (\sum_x pull W i x * U (query i) x) =
    \sum_x pull W i x * (U (query i) (decider i) - U (query i) x).
  rewrite (eq_bigr _ (fun x _ => mulrBr _ _ _)) sumrB -mulr_suml pull_sum mul0r.
  by rewrite add0r.
rewrite (bigD1 (decider i)) //= subrr mulr0 add0r -pull_others; apply: ler_sum => x ne.
have [xs|xs] := boolP (x \in sentence i); last by rewrite pull_absent ?mul0r.
rewrite ler_pemulr ?pull_rival_ge0 //; apply: solU.1 => //.
- exact: decider_in.
- exact: decider_next.
by apply/eqP; rewrite is_decider.
Qed.

(* ... and it is no longer than sqrt 2 times the force. *)
Lemma gradient_norm W : leads W -> norm (gradient W) <= Num.sqrt 2%:R * force W.
Proof.
move=> lead; pose col i q x : R := if query i == q then pull W i x else 0.
rewrite (eq_norm (U := fun q x => \sum_i freq i * col i q x)) => [|q x]; last first.
  rewrite gradientE big_mkcond; apply: eq_bigr => i _; rewrite /col.
  by case: ifP => _; rewrite ?mulr0.
apply: le_trans (norm_sum _ _ _) _ => [i|]; first exact: ltW.
rewrite /force mulr_sumr; apply: ler_sum => i _; rewrite mulrCA ler_wpmul2l ?(ltW (freq_gt0 i)) //.
set a := - pull W i (decider i); have a0 : 0 <= a by rewrite oppr_ge0 pull_decider_le0.
apply: norm_le; first by rewrite mulr_ge0 ?sqrtr_ge0.
rewrite exprMn sqr_sqrtr ?ler0n // /Norm2 /inner (bigD1 (query i)) //= [X in _ + X]big1; last first.
  move=> q /negbTE ne; apply: big1 => x _.
  by rewrite /col eq_sym ne mul0r.
rewrite addr0 /dot /col eqxx (bigD1 (decider i)) //= mulr_natl mulr2n -{1}mulrNN -expr2 ler_add2l.
have aE : a = \sum_(x | x != decider i) pull W i x by rewrite pull_others.
rewrite expr2 {1}aE mulr_suml; apply: ler_sum => x ne.
rewrite ler_wpmul2l ?pull_rival_ge0 // aE (bigD1 x) //= ler_addl.
by apply: sumr_ge0 => y /andP [ny _]; apply: pull_rival_ge0.
Qed.

Let root2 : 0 < Num.sqrt 2%:R :> R. Proof. by rewrite sqrtr_gt0 ltr0n. Qed.

Lemma gradient_part W : leads W -> 0 < norm (gradient W) /\
  (Num.sqrt 2%:R)^-1 * norm (gradient W) <= - inner (gradient W) U.
Proof.
move=> lead; have along := along_U lead; have F0 := force_gt0 W; split.
  rewrite lt_neqAle norm_ge0 eq_sym andbT; apply/eqP => zero.
  have := inner_norm_abs (gradient W) U; rewrite zero mul0r normr_le0 => /eqP e.
  by move: along; rewrite e oppr0 leNgt F0.
apply: le_trans along; rewrite mulrC ler_pdivr_mulr // mulrC; exact: gradient_norm.
Qed.

Lemma norm_U_gt0 : 0 < norm U.
Proof.
have [g0 le] := gradient_part (always_leads 0).
rewrite lt_neqAle norm_ge0 eq_sym andbT; apply/eqP => zero.
have := inner_norm_abs (gradient (W_kq 0)) U; rewrite zero mulr0 normr_le0 => /eqP e.
by move: le; rewrite e oppr0 leNgt mulr_gt0 ?invr_gt0.
Qed.

(* The cosine, and the norm; the first bound of each is the paper's, the second the book's. *)
Theorem lemma_6_cosine t (G := gradient (W_kq t)) :
  [/\ forall i, mass (W_kq t) i (decider i) / (2%:R * norm U) <= - inner G U / (norm G * norm U),
      forall i, 1 / (2%:R * L%:R * norm U) <= mass (W_kq t) i (decider i) / (2%:R * norm U) &
      1 / (Num.sqrt 2%:R * norm U) <= - inner G U / (norm G * norm U)].
Proof.
have [g0 le] := gradient_part (always_leads t); have U0 := norm_U_gt0.
have sharp : 1 / (Num.sqrt 2%:R * norm U) <= - inner G U / (norm G * norm U).
  rewrite mul1r !invfM mulrA ler_pmul2r ?invr_gt0 // ler_pdivl_mulr //.
split=> // i; last first.
  have -> : 1 / (2%:R * L%:R * norm U) = 1 / L%:R / (2%:R * norm U).
    by rewrite !mul1r -!invfM [2%:R * _]mulrC mulrA.
  rewrite ler_pmul2r ?invr_gt0 ?mulr_gt0 ?ltr0n //.
  have [low _] := @lemma_5 t i _ (decider_in i) (decider_next i).
  apply: le_trans low _; rewrite /mass ler_pemull ?ler1n -?has_count ?has_pred1 ?decider_in //.
  by rewrite divr_ge0 ?ltW // total_gt0.
apply: le_trans sharp; apply: ler_pmul; rewrite ?mass_ge0 ?invr_ge0 //.
- by rewrite mulr_ge0 ?norm_ge0 ?ler0n.
- exact: decider_le1.
rewrite lef_pinv ?posrE ?mulr_gt0 ?ltr0n // ler_pmul2r //.
apply: le_trans (_ : Num.sqrt 2%:R * Num.sqrt 2%:R <= _); last by rewrite -expr2 sqr_sqrtr ?ler0n.
by rewrite ler_pemulr ?sqrtr_ge0 // -{1}[1]sqrtr1 ler_wsqrtr // ler1n.
Qed.

Theorem lemma_6 t : [/\ norm (W_kq t) <= t%:R * eta,
  t%:R * eta / (2%:R * L%:R * norm U) <= norm (W_kq t) &
  t%:R * eta / (Num.sqrt 2%:R * norm U) <= norm (W_kq t)].
Proof.
have zero : norm (fun _ _ : V => 0 : R) = 0.
  apply: le_anti; rewrite norm_ge0 andbT; apply: norm_le => //.
  by rewrite expr0n /Norm2 /inner big1 // => q _; apply: big1 => x _; rewrite mul0r.
have U0 := norm_U_gt0; have te : 0 <= t%:R * eta by rewrite mulr_ge0 ?ler0n ?ltW.
have sharp : t%:R * eta / (Num.sqrt 2%:R * norm U) <= norm (W_kq t).
  rewrite invfM mulrA ler_pdivr_mulr //.
  have := @norm_lower R V gradient eta (fun _ _ => 0) (ltW eta_gt0) U (Num.sqrt 2%:R)^-1 t.
  rewrite zero mul0r subr0; apply=> i _; exact: gradient_part (always_leads i).
split=> //; first by have := norm_upper gradient (fun _ _ => 0) (ltW eta_gt0) t; rewrite zero addr0.
apply: le_trans sharp; apply: ler_wpmul2l => //.
case: compared => i _; have L1 : (0 < L)%N by rewrite (leq_trans _ (L_max i)) // size_rcons.
rewrite lef_pinv ?posrE ?mulr_gt0 ?ltr0n // ler_pmul2r //.
apply: le_trans (_ : 2%:R <= _); last by rewrite ler_pemulr ?ler0n ?ler1n.
apply: le_trans (_ : Num.sqrt 2%:R * Num.sqrt 2%:R <= _); last by rewrite -expr2 sqr_sqrtr ?ler0n.
by rewrite ler_pemulr ?sqrtr_ge0 // -{1}[1]sqrtr1 ler_wsqrtr // ler1n.
Qed.

End Model.
