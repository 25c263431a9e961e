(* From scores to probabilities: what margins of the attention give for the next token, on samples
   and on new sentences. So data that satisfy Assumption 1 have losses near zero, the printed roles
   overlap on data that meet all that the paper assumes there, and Theorem 3 holds in both parts.
   Pages: huang2024_s4_realizable, huang2024_s6_generalization. *)
From Coq Require Import Ring Field.
From mathcomp Require Import all_ssreflect all_algebra.
From Companion Require Import Fields Exponential Orders MaxMargin BlockForm Frobenius Matrix Stage1
  Stage1Law Stage2 Alignment Direction Algorithm Calculus Corrected Training.
From Companion Require Example1.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Section Sentences.
Variables (R : rcfType) (V : finType) (n : V -> V) (exp log : R -> R).
Hypotheses (e : exponential exp) (logK : forall c, 0 < c -> exp (log c) = c).
Hypothesis n_inj : injective n.
Add Field scores : (is_field R).
(* Any sentences i, samples or not. *)
Variables (I : finType) (body : I -> seq V) (query : I -> V).
Notation sentence := (@sentence V I body query).
Notation mass := (mass exp body query).
Implicit Types W : V -> V -> R.
Let pos := exp_gt0 e.

(* A token that leads all others of its sentence by c. *)
Theorem attention_of_margin W i x (c : R) (L : nat) : x \in sentence i ->
  (forall y, y \in sentence i -> y != x -> c <= W (query i) x - W (query i) y) ->
  (size (sentence i) <= L)%N -> 1 / (1 + L%:R * exp (- c)) <= mass W i x.
Proof.
move=> xs lead size_L; set s := sentence i in xs lead size_L *.
have Z0 : 0 < \sum_(y <- s) exp (W (query i) y) by exact: (total_gt0 body query pos W i).
pose a := (count_mem x s)%:R * exp (W (query i) x).
have a0 : 0 < a by rewrite mulr_gt0 ?pos // ltr0n -has_count has_pred1.
have D0 : 0 < 1 + L%:R * exp (- c) by rewrite ltr_paddr ?ltr01 // mulr_ge0 ?ler0n ?ltW ?pos.
rewrite ler_pdivr_mulr // mulrC /Stage2.mass /weight mulrA -/s -/a mulrA ler_pdivl_mulr // mul1r.
rewrite (bigID (pred1 x)) /= mulrDl mul1r; apply: ler_add.
  rewrite (eq_bigr (fun=> exp (W (query i) x))) => [|y /eqP -> //].
  by rewrite big_const_seq iter_addr_0 -[_ *+ _]mulr_natl.
apply: le_trans (_ : \sum_(y <- s) exp (W (query i) x - c) <= _).
  rewrite [leRHS](bigID (pred1 x)) /= ler_paddl //; first by apply: sumr_ge0 => y _; apply/ltW/pos.
  rewrite big_seq_cond [leRHS]big_seq_cond; apply: ler_sum => y /andP [ys yx].
  by apply: (exp_le e); rewrite ler_subr_addr -ler_subr_addl; apply: lead.
rewrite big_const_seq iter_addr_0 count_predT -[_ *+ _]mulr_natl (exponential_add e) mulrA.
rewrite mulrAC; apply: ler_pmul; rewrite ?mulr_ge0 ?ler0n ?(ltW (pos _)) //.
  by rewrite ler_pmul2r ?pos // ler_nat.
by rewrite /a ler_pemull ?(ltW (pos _)) // ler1n -has_count has_pred1.
Qed.

Variables (W_ov : V -> V -> R) (A : R).
Hypotheses (gap : forall x v, v != n x -> W_ov x (n x) - W_ov x v = A) (A_ge0 : 0 <= A).
Notation T := (T exp body query W_ov).

Lemma logit_mass W i y : logit exp body query W_ov W i (n y) =
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

(* A token with the attention m makes n of it likely. *)
Theorem probability_of_attention W i x (m : R) : m <= mass W i x ->
  1 / (1 + #|V|%:R * exp (- (A * (2%:R * m - 1)))) <= T W i (n x).
Proof.
move=> le_m; set B := exp _; have B0 : 0 < B by apply: pos.
rewrite /Stage2.T; set C := \sum_(x <- sentence i) weight exp body query W i x * (W_ov x (n x) - A).
have [g ng gn] : bijective n by apply: injF_bij.
have -> : \sum_u exp (logit exp body query W_ov W i u) = \sum_y exp (C + A * mass W i y).
  rewrite (reindex n) /=; last by exists g => y _; [exact: ng | exact: gn].
  by apply: eq_bigr => y _; rewrite logit_mass.
rewrite logit_mass -/C.
have Z0 : 0 < \sum_y exp (C + A * mass W i y).
  by rewrite (bigD1 x) //= ltr_paddr ?pos // sumr_ge0 // => y _; apply/ltW/pos.
have D0 : 0 < 1 + #|V|%:R * B by rewrite ltr_paddr ?ltr01 // mulr_ge0 ?ler0n ?ltW.
rewrite ler_pdivr_mulr // mulrAC ler_pdivl_mulr // mul1r (bigD1 x) //= mulrDr mulr1 ler_add2l.
rewrite mulrCA mulr_natl -sumr_const.
apply: le_trans (_ : \sum_(y | y != x) exp (C + A * mass W i x) * B <= _); last first.
  by rewrite [leRHS](bigD1 x) //= ler_addr mulr_ge0 ?(ltW (pos _)) // ltW.
apply: ler_sum => y yx; rewrite -(exponential_add e); apply: (exp_le e).
rewrite -addrA ler_add2l -mulrN -mulrDr ler_wpmul2l // opprB.
have : mass W i y + mass W i x <= 1.
  rewrite -(mass_sum body query pos W i) (bigD1 x) //= addrC ler_add2l.
  by rewrite (bigD1 y) //= ler_addl; apply: sumr_ge0 => z _; apply: mass_ge0.
move: (mass W i y) (mass W i x) le_m => a b le_m sum1.
apply: le_trans (_ : 1 - b <= _); first by rewrite ler_subr_addr.
rewrite -subr_ge0; have -> : b + (1 - 2%:R * m) - (1 - b) = 2%:R * (b - m).
  by rewrite -[2%:R]/(1 + 1); named R; ring.
by rewrite mulr_ge0 ?ler0n // subr_ge0.
Qed.
End Sentences.

(* Assumption 1 lets the loss come near zero: in every sentence attention can go to the token that
   decides it, as this one decides no other sentence of the query against it. *)
Section NearZero.
Variables (R : rcfType) (V : finType) (n : V -> V) (exp log : R -> R).
Variables (I : finType) (body : I -> seq V) (query next : I -> V) (freq : I -> R).
Notation sentence := (@sentence V I body query).
Notation loss := (loss exp log body query next freq).
Definition near_zero : Prop := forall eps, 0 < eps -> exists W_ov W, 0 <= loss W_ov W <= eps.

Hypotheses (e : exponential exp) (logK : forall c, 0 < c -> exp (log c) = c).
Hypothesis asm1 : assumption_1 n (sampled body query next).
Hypotheses (freq_ge0 : forall i, 0 <= freq i) (total : \sum_i freq i = 1).
Add Field numbers : (is_field R).
Let pos := exp_gt0 e.
Let n_inj : injective n. Proof. by case: asm1. Qed.

Lemma three_quarters (x : R) : 0 <= x -> 3%:R * x <= 1 -> 3%:R / 4%:R <= 1 / (1 + x).
Proof.
move=> x0 le; rewrite ler_pdivl_mulr ?ltr_paddr ?ltr01 // mulrAC ler_pdivr_mulr ?ltr0n // mul1r.
by rewrite mulrDr mulr1 (_ : 4%:R = 3%:R + 1 :> R) ?ler_add2l // -[1]/(1%:R) -natrD.
Qed.
Lemma three_quarters_left : 2%:R * (3%:R / 4%:R) - 1 = 2%:R^-1 :> R.
Proof.
have -> : 4%:R = 2%:R * 2%:R :> R by rewrite -natrM.
have -> : 3%:R = 1 + 2%:R :> R by rewrite -[1 in RHS]/(1%:R) -natrD.
have : 2%:R <> 0 :> R by apply/eqP; rewrite pnatr_eq0.
by move: (2%:R : R) => t t0; named R; field.
Qed.
Lemma exp_large (a c : R) : 0 <= a -> a <= c -> a * exp (- c) <= 1.
Proof.
move=> a0 ac; rewrite -(expN e c) ler_pmul2r ?pos //; apply: le_trans ac _.
by apply: le_trans (exponential_tangent e c); rewrite ler_addr ler01.
Qed.

Theorem loss_near_zero : near_zero.
Proof.
move=> eps eps0; have clear q : unconfused (aboveb n (listed body query next) q).
  exact: unconfused_order (assumption_1_same (listedP body query next) asm1) q.
pose L := \max_i size (sentence i); pose c : R := 3%:R * L%:R; pose A : R := 2%:R * (#|V|%:R / eps).
pose W_ov x v : R := if v == n x then A else 0.
pose W q x : R := if x \in opts (aboveb n (listed body query next) q) then c else 0.
have A0 : 0 <= A by rewrite mulr_ge0 ?ler0n // divr_ge0 ?ler0n // ltW.
have gap x v : v != n x -> W_ov x (n x) - W_ov x v = A.
  by rewrite /W_ov eqxx => /negbTE ->; rewrite subr0.
exists W_ov, W; have T1 i : T exp body query W_ov W i (next i) <= 1.
  rewrite -(T_sum body query W_ov pos W i) (bigD1 (next i)) //= ler_addl.
  by apply: sumr_ge0 => v _; apply/ltW/T_gt0.
have Teps i : - log (T exp body query W_ov W i (next i)) <= eps.
  pose d := decider n body query next i.
  have m34 : 3%:R / 4%:R <= mass exp body query W i d.
    apply: le_trans (attention_of_margin e (c := c) (L := L) (decider_in asm1 i) _ _).
    - apply: three_quarters; first by rewrite mulr_ge0 ?ler0n ?(ltW (pos _)).
      by rewrite mulrA; apply: exp_large; rewrite ?mulr_ge0 ?ler0n.
    - move=> y ys yd; have : rival n body query next i y by rewrite /rival ys.
      move=> /(rival_above asm1) [s [z [D xs' ys' nx ny]]].
      have dy : aboveb n (listed body query next) (query i) d y.
        by apply/aboveP; exists s, z; split=> //; apply/listedP.
      rewrite /W (gt_opts dy) (negbTE (nons_opts (@clear _) (gt_nons dy))) subr0.
      exact: lexx.
    exact: leq_bigmax.
  have := probability_of_attention e n_inj gap A0 m34; rewrite (decider_next asm1).
  rewrite three_quarters_left.
  have -> : A * 2%:R^-1 = #|V|%:R / eps by rewrite /A mulrC mulKf ?pnatr_eq0.
  set B := exp _ => le; have D0 : 0 < 1 + #|V|%:R * B.
    by rewrite ltr_paddr ?ltr01 // mulr_ge0 ?ler0n ?(ltW (pos _)).
  rewrite ler_oppl; apply: le_trans (log_le e logK _ le); last by rewrite divr_gt0 ?ltr01.
  rewrite div1r (log_inv e logK) // ler_opp2.
  apply: le_trans (log1_le e logK _) _; first by rewrite mulr_ge0 ?ler0n ?(ltW (pos _)).
  rewrite -[eps]mulr1 -ler_pdivr_mull // mulrA [_^-1 * _]mulrC.
  by apply: exp_large; rewrite // divr_ge0 ?ler0n // ltW.
apply/andP; split; rewrite /Calculus.loss -sumrN.
  apply: sumr_ge0 => i _; rewrite -mulrN mulr_ge0 // oppr_ge0.
  by apply: (log_le_exp e logK); rewrite ?T_gt0 // (exp0 e).
rewrite -[eps]mul1r -total mulr_suml; apply: ler_sum => i _; rewrite -mulrN.
by rewrite ler_wpmul2l.
Qed.
End NearZero.

(* The printed roles overlap on data that meet all that is in force there: a collocation, a loss that
   comes near zero, prefix closure, strict orders, and even Assumption 1. *)
Section Roles.
Variables (R : rcfType) (exp log : R -> R).
Hypotheses (e : exponential exp) (logK : forall c, 0 < c -> exp (log c) = c).
Definition four_disjoint_types : Prop := forall (V : finType) (n : V -> V) (v0 : V)
    (data : seq (seq V * V)),
  all (fun p => p.1 != [::]) data ->
  near_zero exp log (@body V v0 data) (@query V v0 data) (@next V v0 data) (@uniform R V data) ->
  assumption_1 n (samples data) -> closure (samples data) ->
  forall q x r r', printed n (samples data) q x r -> printed n (samples data) q x r' -> r = r'.

Theorem printed_roles_refuted : ~ four_disjoint_types.
Proof.
move=> claim; have data := @Training.example_1_setting R.
have none : plays Example1.next (samples Example1.example_1) Example1.S Example1.V Noncomparable.
  by apply/one_role.
have [_ top bottom] := printed_roles_overlap none.
suff : Optimal = Nonoptimal by [].
apply: (claim _ Example1.next Example1.S) top bottom => //.
- by apply: (loss_near_zero e logK (collocation data)) (shares_total data) => i;
    apply/ltW/(shares data).
- exact: Example1.example_1_assumption_1.
exact: Example1.example_1_closure.
Qed.
End Roles.

(* Theorem 3: the scores of optimal and of non-optimal tokens move apart linearly, with those of
   non-comparable tokens between them; so a sentence of a non-comparable token and non-optimal ones
   is followed by n of the former. *)
Lemma least_of (R : rcfType) (X : finType) (P : pred X) (f : X -> R) :
  (forall x, P x -> 0 < f x) -> exists2 u, 0 < u & forall x, P x -> u <= f x.
Proof.
move=> f0; have S0 : 0 <= \sum_(x | P x) (f x)^-1.
  by apply: sumr_ge0 => x /f0 fx; rewrite invr_ge0 ltW.
exists (1 + \sum_(x | P x) (f x)^-1)^-1; first by rewrite invr_gt0 ltr_paddr ?ltr01.
move=> x Px; have fx := f0 x Px; rewrite -[leRHS]invrK lef_pinv ?posrE ?invr_gt0 ?ltr_paddr ?ltr01 //.
rewrite (bigD1 x) //= addrCA ler_addl addr_ge0 ?ler01 //.
by apply: sumr_ge0 => y /andP [/f0 fy _]; rewrite invr_ge0 ltW.
Qed.

Section Theorem3.
Variables (R : rcfType) (V : finType) (n : V -> V) (exp log : R -> R).
Add Field scores3 : (is_field R).
Variables (I : finType) (body : I -> seq V) (query next : I -> V) (freq : I -> R).
Hypotheses (e : exponential exp) (logK : forall c, 0 < c -> exp (log c) = c).
Hypothesis data : setting n body query next freq.
Variables (eta0 eta : R).
Hypotheses (eta0_gt0 : 0 < eta0) (eta_gt0 : 0 < eta).
Notation order q := (aboveb n (listed body query next) q).
Definition free q x : Prop := x \notin opts (order q) /\ x \notin nons (order q).
(* After T steps of stage 1 and t steps of stage 2: the attention scores, and the probability of v
   after the sentence s followed by q. *)
Definition scores T t : V -> V -> R := @W_kq R V exp I body query next freq
  (Stage1Law.W_ov n exp eta0 T) eta t.
Definition predicts T t s q v : R := @Stage2.T R V exp [finType of unit] (fun=> s) (fun=> q)
  (Stage1Law.W_ov n exp eta0 T) (scores T t) tt v.

(* From the attention to the probability, for stage 1 that is long enough. *)
Theorem theorem_3_probability (delta : R) : delta < 2%:R^-1 -> exists2 a, 0 < a &
  forall (eps : R) T, 0 < eps -> eps <= 2%:R^-1 -> a * log eps^-1 <= T%:R ->
  let bound := 1 / (1 + #|V|%:R * exp (- (T%:R * eta0 / Num.sqrt (#|V|%:R - 1) *
    (1 - 2%:R * delta)))) in
  1 - eps <= bound /\ forall W s q x0, (0 < T)%N ->
    1 - delta <= mass exp (fun=> s) (fun=> q) W tt x0 ->
    bound <= @Stage2.T R V exp [finType of unit] (fun=> s) (fun=> q)
      (Stage1Law.W_ov n exp eta0 T) W tt (n x0).
Proof.
move=> small; pose r := 1 - 2%:R * delta.
have r0 : 0 < r by rewrite subr_gt0 -ltr_pdivl_mull ?ltr0n // mulr1.
pose g := eta0 / Num.sqrt (#|V|%:R - 1) * r.
have V2 : 1 < #|V|%:R :> R by rewrite ltr1n (two_tokens data).
have V0 : 0 < #|V|%:R :> R by apply: lt_trans V2; apply: ltr01.
have g0 : 0 < g by rewrite mulr_gt0 // divr_gt0 // sqrtr_gt0 subr_gt0.
have lV : 0 <= log #|V|%:R by apply: (log_ge0 e logK); apply: ltW.
exists ((2%:R * log #|V|%:R + 1) / g).
  by rewrite divr_gt0 // ltr_paddl ?ltr01 // mulr_ge0 ?ler0n.
move=> eps T eps0 eps1 late_T bound; split; last first.
  move=> W s q x0 T0 le; have n_inj : injective n by case: (collocation data).
  have A0 : 0 <= T%:R * eta0 / Num.sqrt (#|V|%:R - 1) := ltW (A_gt0 data T0 eta0_gt0).
  have gapA x v : v != n x -> _ := @gap R V n exp I body query next freq e data T eta0 x v.
  have := probability_of_attention e n_inj gapA A0 le.
  have -> : 2%:R * (1 - delta) - 1 = 1 - 2%:R * delta by rewrite -[2%:R]/(1 + 1); named R; ring.
  by [].
rewrite /bound -/r; set A := T%:R * eta0 / Num.sqrt (#|V|%:R - 1).
pose x : R := #|V|%:R * exp (- (A * r)); change (1 - eps <= 1 / (1 + x)).
have le2 : 2%:R^-1 <= log eps^-1.
  by apply: (log_half e logK); rewrite -[leLHS]invrK lef_pinv ?posrE ?invr_gt0 ?ltr0n.
have x_ge0 : 0 <= x by rewrite mulr_ge0 ?ler0n ?(ltW (exp_gt0 e _)).
have late : log #|V|%:R + log eps^-1 <= A * r.
  rewrite (_ : A * r = T%:R * g); last by rewrite /A /g !mulrA.
  rewrite -ler_pdivr_mulr //; apply: le_trans late_T.
  rewrite [leRHS]mulrAC ler_pmul2r ?invr_gt0 // mulrDl mul1r ler_add2r.
  by rewrite [leRHS]mulrAC [leRHS]mulrC ler_pemulr // -ler_pdivr_mull ?ltr0n // mulr1.
have le_x : x <= eps.
  rewrite /x; have := exp_le e late; rewrite (exponential_add e) !logK ?invr_gt0 //.
  rewrite ler_pdivr_mulr // => le; apply: le_trans (_ : exp (A * r) * eps * exp (- (A * r)) <= _).
    by rewrite ler_pmul2r ?(exp_gt0 e).
  by rewrite mulrAC (expN e) mul1r.
rewrite ler_pdivl_mulr ?ltr_paddr ?ltr01 // -subr_ge0.
have -> : 1 - (1 - eps) * (1 + x) = (eps - x) + eps * x by named R; ring.
by rewrite addr_ge0 ?subr_ge0 // mulr_ge0 // ltW.
Qed.

(* The scores, with the times and the constants of the book: mu is below every score of the solution
   that is not zero. *)
Section Separation.
Variables (L : nat) (pi_min mu : R) (U : V -> V -> R).
Hypotheses (L_max : forall i, (size (sentence body query i) <= L)%N) (pi_min_gt0 : 0 < pi_min).
Hypothesis pi_minP : forall i j, rival n body query next i j -> pi_min <= freq i.
Hypothesis solU : solves12 n body query next U.
Hypotheses (mu_gt0 : 0 < mu) (muP : forall q x, x \in opts (order q) \/ x \in nons (order q) ->
  mu <= `|U q x|).
Notation root2 := (Num.sqrt (2%:R : R)).
Lemma clear q : unconfused (order q).
Proof.
exact: unconfused_order (assumption_1_same (listedP body query next) (collocation data)) q.
Qed.

Theorem separation T t q o x m (C0 := mu * eta / (2%:R * root2 * Norm2 U)) :
  (0 < T)%N -> (0 < t)%N ->
  8%:R * Norm2 U ^+ 2 / mu ^+ 2 * (1 + root2 * K log L pi_min / eta) <= t%:R ->
  o \in opts (order q) -> x \in nons (order q) -> free q m ->
  t%:R * C0 <= scores T t q o - scores T t q m /\ t%:R * C0 <= scores T t q m - scores T t q x.
Proof.
move=> T0 t0 late oo xn [mo mn]; have sol_q := U_solves solU q.
have [u'0 /(_ t0)] := theorem_3_scores e logK data T0 eta0_gt0 eta_gt0 L_max pi_min_gt0 pi_minP solU
  t oo xn mo mn.
have S0 : 0 < Norm2 U.
  by rewrite -norm_sqr exprn_gt0 // (U_gt0 e data T0 eta0_gt0 eta_gt0 solU).
have r0 : 0 < root2 by rewrite sqrtr_gt0 ltr0n.
have K0 : 0 <= K log L pi_min :=
  K_ge0 e data L_max pi_min_gt0 pi_minP (K_large logK data L_max pi_min_gt0).
set u := Num.min _ _ in u'0 *; have uu : mu <= u.
  rewrite le_minr; apply/andP; split.
    by rewrite -(gtr0_norm (opts_gt0 sol_q (@clear q) oo)); apply: muP; left.
  by rewrite -(ltr0_norm (nons_lt0 sol_q (@clear q) xn)); apply: muP; right.
have step : t%:R * C0 <= t%:R * (eta * u / (2%:R * root2 * Norm2 U)).
  rewrite ler_wpmul2l ?ler0n // /C0 ler_pmul2r ?invr_gt0 ?mulr_gt0 ?ltr0n // mulrC.
  by rewrite ler_pmul2l.
case; last by move=> le1 le2; split; apply: le_trans step _.
apply: le_trans late; rewrite [leRHS]mulrAC; apply: ler_wpmul2l.
  rewrite !mulr_ge0 ?ler0n ?exprn_ge0 ?(ltW S0) // addr_ge0 ?ler01 //.
  by rewrite divr_ge0 ?mulr_ge0 ?(ltW r0) ?(ltW eta_gt0).
by rewrite lef_pinv ?posrE ?exprn_gt0 // ler_pexpn2r ?nnegrE ?(ltW mu_gt0) ?(ltW u'0).
Qed.
End Separation.

Theorem theorem_3 : exists2 C0 : R, 0 < C0 & exists2 b0 : R, 0 <= b0 &
  (forall T t q o x m, (0 < T)%N -> (0 < t)%N -> b0 <= t%:R ->
    o \in opts (order q) -> x \in nons (order q) -> free q m ->
    t%:R * C0 <= scores T t q o - scores T t q m /\
    t%:R * C0 <= scores T t q m - scores T t q x) /\
  forall l : nat, exists a b : R, [/\ 0 < a, b0 < b &
    forall eps T t s q x0, 0 < eps -> eps <= 2%:R^-1 ->
    a * log (eps^-1) <= T%:R -> b * log (eps^-1) <= t%:R ->
    (size (rcons s q) <= l)%N -> x0 \in rcons s q -> free q x0 ->
    (forall y, y \in rcons s q -> y != x0 -> y \in nons (order q)) ->
    1 - eps <= predicts T t s q (n x0)].
Proof.
have [U [solU _]] := optimum R (collocation data).
pose L := \max_i size (sentence body query i).
have L_max i : (size (sentence body query i) <= L)%N by apply: leq_bigmax.
have [pi_min pi0 piP] := @least_of R I xpredT freq (fun i _ => shares data i).
have rare i j : rival n body query next i j -> pi_min <= freq i by move=> _; apply: piP.
have sol_q := U_solves solU; have clear := clear.
have [mu mu0 muP] : exists2 u, 0 < u & forall p : V * V,
    (p.2 \in opts (order p.1)) || (p.2 \in nons (order p.1)) -> u <= `|U p.1 p.2|.
  apply: least_of => p /orP [h|h]; rewrite normr_gt0.
    exact: lt0r_neq0 (opts_gt0 (sol_q p.1) (@clear p.1) h).
  by rewrite lt_eqF // (nons_lt0 (sol_q p.1) (@clear p.1) h).
have {}muP q x : x \in opts (order q) \/ x \in nons (order q) -> mu <= `|U q x|.
  by move=> /orP; apply: (muP (q, x)).
have apart T t q o x m := @separation L pi_min mu U L_max pi0 rare solU mu0 muP T t q o x m.
have S0 : 0 < Norm2 U.
  by rewrite -norm_sqr exprn_gt0 // (U_gt0 e data (ltn0Sn 0) eta0_gt0 eta_gt0 solU).
have r0 : 0 < Num.sqrt (2%:R : R) by rewrite sqrtr_gt0 ltr0n.
have K0 : 0 <= K log L pi_min := K_ge0 e data L_max pi0 rare (K_large logK data L_max pi0).
set C0 := mu * eta / (2%:R * Num.sqrt 2%:R * Norm2 U) in apart.
set b0 := _ / mu ^+ 2 * _ in apart.
have C1 : 0 < C0 by rewrite divr_gt0 ?mulr_gt0 ?ltr0n.
have b00 : 0 <= b0.
  rewrite /b0 mulr_ge0 //; first by rewrite divr_ge0 ?mulr_ge0 ?ler0n ?exprn_ge0 ?(ltW S0) ?(ltW mu0).
  by rewrite addr_ge0 ?ler01 // divr_ge0 ?mulr_ge0 ?(ltW r0) ?(ltW eta_gt0).
exists C0 => //; exists b0 => //; split=> // l.
have quarter : 4%:R^-1 < 2%:R^-1 :> R by rewrite ltf_pinv ?posrE ?ltr0n // ltr_nat.
have [a a0 likely] := theorem_3_probability quarter.
have b10 : 0 <= 3%:R * l%:R / C0 by apply: divr_ge0; [rewrite mulr_ge0 ?ler0n | exact: ltW C1].
exists a, (2%:R * b0 + 2%:R * (3%:R * l%:R / C0) + 2%:R); split=> //.
  rewrite mulr_natl mulr2n -!addrA ltr_addl ltr_paddl // ltr_paddl ?ltr0n //.
  by rewrite mulr_ge0 ?ler0n.
move=> eps T t s q x0 eps0 eps1 late_T late_t size_l xs xfree low.
have le2 : 2%:R^-1 <= log eps^-1.
  by apply: (log_half e logK); rewrite -[leLHS]invrK lef_pinv ?posrE ?invr_gt0 ?ltr0n.
have large (x y : R) : 0 <= x -> x * log eps^-1 <= y -> x <= 2%:R * y.
  move=> x_ge0 le; apply: le_trans (_ : 2%:R * (x * log eps^-1) <= _).
    by rewrite mulrCA ler_pemulr // -ler_pdivr_mull ?ltr0n // mulr1.
  by rewrite ler_pmul2l ?ltr0n.
have T0 : (0 < T)%N.
  rewrite -(ltr0n R); apply: lt_le_trans late_T; rewrite mulr_gt0 //.
  by apply: lt_le_trans le2; rewrite invr_gt0 ltr0n.
have tb : b0 + 3%:R * l%:R / C0 + 1 <= t%:R.
  rewrite -(ler_pmul2l (ltr0Sn R 1)) !mulrDr mulr1; apply: large late_t.
  by apply: addr_ge0; [apply: addr_ge0; apply: mulr_ge0 => // | ]; apply: ler0n.
have t0 : (0 < t)%N.
  by rewrite -(ltr0n R); apply: lt_le_trans tb; rewrite ltr_paddl ?ltr01 // addr_ge0.
have tc : b0 <= t%:R by apply: le_trans tb; rewrite -addrA ler_addl addr_ge0 ?ler01.
have tl : 3%:R * l%:R <= t%:R * C0.
  rewrite -ler_pdivr_mulr //; apply: le_trans tb; rewrite addrAC ler_addr addr_ge0 ?ler01 //.
have m34 : 1 - 4%:R^-1 <= mass exp (fun=> s) (fun=> q) (scores T t) tt x0.
  apply: le_trans (attention_of_margin e (c := t%:R * C0) (L := l) xs _ size_l).
    rewrite (_ : 1 - 4%:R^-1 = 3%:R / 4%:R :> R).
      apply: three_quarters; first by rewrite mulr_ge0 ?ler0n ?(ltW (exp_gt0 e _)).
      by rewrite mulrA; apply: exp_large; rewrite ?mulr_ge0 ?ler0n.
    have f0 : 4%:R != 0 :> R by rewrite pnatr_eq0.
    by apply: (mulIf f0); rewrite mulrBl mul1r mulVf // divfK // -[1]/(1%:R) -natrB.
  move=> y ys yx; have yn := low y ys yx; have [o oy] := nonsP _ _ yn.
  by have [] := apart T t q o y x0 T0 t0 tc (gt_opts oy) yn xfree.
have [le prob] := likely eps T eps0 eps1 late_T.
by apply: le_trans le _; apply: prob m34.
Qed.
End Theorem3.
