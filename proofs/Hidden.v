(* Two tokens and two sentences, one of them as rare as one likes: training does not touch it for as
   long as one likes. Page: huang2024_s5_lemma_7, label ours-hidden-sentence. *)
From Coq Require Import Ring Field.
From mathcomp Require Import all_ssreflect all_algebra.
From Companion Require Import Fields Exponential Orders MaxMargin Frobenius Stage1 Stage1Law Stage2
  Alignment Algorithm Corrected.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

(* The sentences 0 1 0 and 1 0 1 with their beginnings. The sample (x, false) is x with the next
   token n(x), the sample (x, true) is x n(x) with the next token x. *)
Definition swap : bool -> bool := negb.
Definition samples2 : finType := [finType of bool * bool].
Definition body (i : samples2) : seq bool := if i.2 then [:: i.1] else [::].
Definition query (i : samples2) : bool := if i.2 then ~~ i.1 else i.1.
Definition next (i : samples2) : bool := ~~ query i.
Notation sentence := (@sentence bool_finType samples2 body query).
Notation data2 := (@sampled bool_finType samples2 body query next).
(* The sample that compares two tokens under the query q: the common one for q = 1 and the rare one
   for q = 0. *)
Definition compared (q : bool) : samples2 := (~~ q, true).

Lemma query_next s q z : data2 (rcons s q) z -> z = ~~ q.
Proof. by case=> i [/rcons_inj [_ <-] <-]. Qed.

Lemma above2 q x y : above swap data2 q x y <-> x = q /\ y = ~~ q.
Proof.
split=> [[s [z [/query_next -> _ _]]]|[-> ->]]; first by case: x y q => [] [] [].
exists [:: ~~ q], (~~ q); split; rewrite ?inE ?eqxx ?orbT //; last by case: q.
by exists (compared q); rewrite /sentence /next /query /= negbK.
Qed.

Theorem assumption_1_2 : assumption_1 swap data2.
Proof.
split=> [|s z [i [<- <-]]|q x [[y /above2 [_ ->]] [z /above2 [/esym /eqP]]]].
- exact: negb_inj.
- by exists (query i); rewrite // mem_rcons mem_head.
by rewrite -[q]negbK; case: (~~ q).
Qed.

Theorem assumption_3_2 : assumption_3 swap body query next.
Proof. by case=> [[] []] []. Qed.

Theorem closure_2 : closure data2.
Proof.
move=> s x t z s0 [i [e _]]; exists (i.1, false); move: e; rewrite /sentence /next /query /body /=.
by case: i => [b []]; case: s s0 => [|a [|c s]] // _ /= [<-]; case: t => //; case: s => // <-;
  case: b.
Qed.

Theorem distinct_2 : injective sentence.
Proof. by case=> [[] []] [[] []]. Qed.

Theorem longest_2 : \max_(i : samples2) size (sentence i) = 2%N.
Proof.
apply/eqP; rewrite eqn_leq; apply/andP; split; last exact: (leq_bigmax (true, true)).
by apply/bigmax_leqP => -[b []].
Qed.

Theorem count_2 : #|samples2| = 4%N.
Proof. by rewrite card_prod card_bool. Qed.

Lemma sum_2 (R : zmodType) (f : samples2 -> R) :
  \sum_i f i = f (true, true) + f (true, false) + (f (false, true) + f (false, false)).
Proof.
transitivity (\sum_(x : bool) \sum_(b : bool) f (x, b)).
  by rewrite pair_bigA; apply: eq_bigr => -[].
by rewrite !big_bool.
Qed.

Section Data.
Variables (R : rcfType) (exp log : R -> R).
Hypothesis e : exponential exp.
Implicit Types (q : bool) (W : bool -> bool -> R) (t k : nat).
Add Field scores : (is_field R).
Ltac calc := named R; ring.

(* The two last samples are r times as frequent as the first two. *)
Variable r : R.
Hypothesis r_gt0 : 0 < r.
Definition share q : R := (if q then 1 else r) / (2%:R * (1 + r)).
Definition freq (i : samples2) : R := share (~~ i.1).

Let two : 0 < 2%:R :> R. Proof. by rewrite ltr0n. Qed.
Let r1 : 0 < 1 + r. Proof. by rewrite addr_gt0 ?ltr01. Qed.

Lemma share_gt0 q : 0 < share q.
Proof. by rewrite /share; case: q; rewrite divr_gt0 ?ltr01 ?mulr_gt0. Qed.

Theorem setting_2 : setting swap body query next freq.
Proof.
split; [exact: assumption_1_2 | exact: assumption_3_2 | by move=> i; apply: share_gt0 | |].
  rewrite sum_2 /freq /share /=; move: (lt0r_neq0 two) (lt0r_neq0 r1) => /eqP a /eqP b.
  rewrite -[2%:R]/(1 + 1) in a *; named R; field; split; [exact: b | exact: a].
by exists (true, true), true; rewrite /rival; vm_compute.
Qed.

(* The solution of (12). *)
Definition U2 (q x : bool) : R := (if x == q then 1 else -1) / 2%:R.

Lemma inner_2 W W' : inner W W' =
  W true true * W' true true + W true false * W' true false +
  (W false true * W' false true + W false false * W' false false).
Proof. by rewrite /inner /dot !big_bool. Qed.

Theorem solution_2 : solves12 swap body query next U2 /\ norm U2 = 1.
Proof.
have half : 1 / 2%:R - -1 / 2%:R = 1 :> R.
  by rewrite mulNr opprK [RHS]splitr.
have norm1 : Norm2 U2 = 1.
  rewrite /Norm2 inner_2 /U2 /=; move: (lt0r_neq0 two) => /eqP a.
  by rewrite -[2%:R]/(1 + 1) in a *; named R; field.
split; last by rewrite /norm norm1 sqrtr1.
have right i x y : swap x = next i -> swap y <> next i -> x = query i /\ y = ~~ query i.
  by rewrite /next /swap; case: x y (query i) => [] [] [].
split=> [i x y _ _ nx ny|U' feas].
  by have [-> ->] := right _ _ _ nx ny; rewrite /U2 eqxx; case: (query i); rewrite /= half.
have low q : 1 / 2%:R <= U' q q * U' q q + U' q (~~ q) * U' q (~~ q).
  have le : 1 <= U' q q - U' q (~~ q).
    by have := feas (compared q) q (~~ q); case: (q) => /(_ isT isT); apply.
  rewrite ler_pdivr_mulr //; apply: le_trans (_ : (U' q q - U' q (~~ q)) ^+ 2 <= _).
    by rewrite -{1}[1](expr1n R 2) ler_pexpn2r ?nnegrE ?ler01 ?(le_trans ler01).
  rewrite -subr_ge0; move: (U' q q) (U' q (~~ q)) => a b.
  have -> : (a * a + b * b) * 2%:R - (a - b) ^+ 2 = (a + b) ^+ 2 by rewrite -[2%:R]/(1 + 1); calc.
  exact: sqr_ge0.
rewrite norm1 /Norm2 inner_2 [X in X <= _]splitr.
apply: le_trans (ler_add (low true) (low false)) _.
by rewrite ler_add2l addrC.
Qed.

(* Any matrix of stage 1 with the gap A. The margin of a query, and the force on it: minus the
   derivative of the loss where W q q and W q (n q) move by 1/2 and -1/2. *)
Variables (W_ov : bool -> bool -> R) (A : R).
Hypotheses (gap : forall x v, v != swap x -> W_ov x (swap x) - W_ov x v = A) (A_gt0 : 0 < A).
Notation gradient := (@gradient R bool_finType exp samples2 body query next freq W_ov).
Notation pull := (@pull R bool_finType exp samples2 body query next W_ov).
Notation mass := (@mass R bool_finType exp samples2 body query).
Notation T := (@Stage2.T R bool_finType exp samples2 body query W_ov).
Notation logit := (@logit R bool_finType exp samples2 body query W_ov).
Notation decider := (@decider bool_finType swap samples2 body query next).
Definition margin W q : R := W q q - W q (~~ q).
Definition push W q : R := - gradient W q q.
Definition widen q (p x : bool) : R := if p == q then U2 p x else 0.

Let pos := exp_gt0 e.

Lemma decider_2 i : decider i = query i.
Proof. by apply/esym/eqP; rewrite -(is_decider assumption_1_2). Qed.

Lemma query_compared q : query (compared q) = q.
Proof. by rewrite /query /= negbK. Qed.

Lemma gradient_2 W q x : gradient W q x = share q * pull W (compared q) x.
Proof.
rewrite gradientE big_mkcond sum_2.
have alone b y : pull W (b, false) y = 0.
  have [->|ne] := eqVneq y b.
    by apply: (pull_alone _ _ pos) => z; rewrite /Stage2.sentence /= inE => /eqP.
  by apply: pull_absent; rewrite /Stage2.sentence inE.
by case: q; rewrite /= !alone !mulr0 ?add0r ?addr0.
Qed.

Lemma gradient_other W q : gradient W q (~~ q) = push W q.
Proof.
rewrite /push !gradient_2 -mulrN; congr (_ * _); apply/eqP.
have := pull_sum body query next W_ov pos W (compared q).
by rewrite big_bool -addr_eq0 => <-; case: (q); rewrite //= addrC.
Qed.

Theorem push_is_slope W q : inner (gradient W) (widen q) = - push W q.
Proof.
have split (a : R) : a * (1 / 2%:R) + - a * (-1 / 2%:R) = a.
  have -> : -1 / 2%:R = - (1 / 2%:R) :> R by rewrite mulNr.
  by rewrite mulrNN -mulrDr -(splitr 1) mulr1.
rewrite inner_2 /widen /U2 /push opprK; case: q => /=; rewrite !mulr0 ?add0r ?addr0.
  by rewrite (gradient_other W true) split.
by rewrite (gradient_other W false) addrC split.
Qed.

(* The weight m of the optimal position, and the probability tau of the wrong token. *)
Definition attended W q : R := mass W (compared q) q.
Definition tau W q : R := T W (compared q) q.

Lemma sum_bool (f : bool -> R) q : \sum_x f x = f q + f (~~ q).
Proof. by rewrite big_bool; case: q; rewrite //= addrC. Qed.

Lemma weight_2 W q x : Stage2.weight exp body query W (compared q) x =
  exp (W q x) / (exp (W q q) + exp (W q (~~ q))).
Proof.
rewrite /Stage2.weight query_compared; congr (_ / _).
by rewrite /Stage2.sentence query_compared /body /= !big_cons big_nil addr0 addrC.
Qed.

Lemma mass_2 W q x : mass W (compared q) x = exp (W q x) / (exp (W q q) + exp (W q (~~ q))).
Proof.
rewrite /Stage2.mass weight_2 /Stage2.sentence query_compared /body /=.
by case: (q) x => [] []; rewrite /= ?addn0 ?add0n mul1r.
Qed.

Lemma rest_2 W q : mass W (compared q) (~~ q) = 1 - attended W q.
Proof.
have := mass_sum body query pos W (compared q); rewrite (sum_bool _ q) -/(attended W q) => <-.
by rewrite addrC addKr.
Qed.

Lemma T_rest W q : T W (compared q) (~~ q) = 1 - tau W q.
Proof.
have := T_sum body query W_ov pos W (compared q); rewrite (sum_bool _ q) -/(tau W q) => <-.
by rewrite addrC addKr.
Qed.

(* The force of the page, 1 - T_o + T_j being 2 tau. *)
Theorem push_2 W q :
  push W q = share q * (A * (attended W q * (1 - attended W q)) * (2%:R * tau W q)).
Proof.
have dq : decider (compared q) = q by rewrite decider_2 query_compared.
rewrite /push gradient_2 -mulrN; congr (_ * _).
have := pull_decider pos gap assumption_1_2 W (compared q); rewrite dq => ->.
have -> : Stage2.tau exp body query next W_ov W (compared q) = tau W q.
  rewrite /Stage2.tau /next query_compared T_rest opprB addrC subrK //.
have -> : Q swap exp body query next W_ov W (compared q) = (1 - attended W q) * tau W q.
  rewrite /Q dq big_mkcond (sum_bool _ q) eqxx add0r -rest_2 /tau /swap.
  by case: (q).
rewrite -/(attended W q) -[2%:R]/(1 + 1); move: (attended W q) (tau W q) => a b; calc.
Qed.

Lemma logit_2 W q :
  logit W (compared q) (~~ q) - logit W (compared q) q = A * (2%:R * attended W q - 1).
Proof.
have lE v : logit W (compared q) v = attended W q * W_ov q v + (1 - attended W q) * W_ov (~~ q) v.
  rewrite /Stage2.logit /Stage2.sentence query_compared /body /= !big_cons big_nil addr0 !weight_2.
  by rewrite -!mass_2 rest_2 addrC.
have g p : W_ov p (~~ p) = A + W_ov p p.
  have d : W_ov p (~~ p) - W_ov p p = A by apply: gap; case: (p).
  by apply/eqP; rewrite -subr_eq d.
have g1 := g q; have := g (~~ q); rewrite negbK => g2.
rewrite !lE g1 g2 -[2%:R]/(1 + 1).
by move: (attended W q) (W_ov q q) (W_ov (~~ q) (~~ q)) => a b c; calc.
Qed.

Lemma m_bounds W q : 0 < attended W q < 1.
Proof.
have pos2 : 0 < exp (W q q) + exp (W q (~~ q)) by rewrite addr_gt0.
by rewrite /attended mass_2 divr_gt0 //= ltr_pdivr_mulr // mul1r ltr_addl.
Qed.

Lemma odds_2 W q : attended W q = (1 - attended W q) * exp (margin W q).
Proof.
rewrite -rest_2 /attended !mass_2 mulrAC -(exponential_add e) [_ + margin W q]addrC.
by rewrite /margin subrK.
Qed.

(* m (1 - m) lies between exp (- d) / 4 and 1/4. *)
Lemma spread_le W q : attended W q * (1 - attended W q) <= 4%:R^-1.
Proof.
rewrite -[_^-1]mul1r ler_pdivl_mulr ?ltr0n // -subr_ge0; move: (attended W q) => a.
have -> : 1 - a * (1 - a) * 4%:R = (1 - 2%:R * a) ^+ 2.
  rewrite (_ : 4%:R = 2%:R * 2%:R :> R); last by rewrite -natrM.
  by rewrite -[2%:R]/(1 + 1); calc.
exact: sqr_ge0.
Qed.

Lemma half_m W q : 0 <= margin W q -> 1 <= 2%:R * attended W q.
Proof.
move=> d0; have /andP [m0 m1] := m_bounds W q.
have : 1 - attended W q <= attended W q.
  rewrite [leRHS]odds_2 ler_pemulr ?subr_ge0 ?(ltW m1) //.
  by apply: le_trans (exponential_tangent e _); rewrite ler_addl.
by rewrite ler_subl_addr mulr_natl mulr2n.
Qed.

Lemma spread_ge W q : 0 <= margin W q ->
  exp (- margin W q) / 4%:R <= attended W q * (1 - attended W q).
Proof.
move=> d0; have h := half_m d0; have /andP [m0 m1] := m_bounds W q.
have -> : 1 - attended W q = attended W q * exp (- margin W q).
  by rewrite [in RHS]odds_2 -mulrA expN // mulr1.
rewrite mulrA mulrC ler_pmul2r ?pos //; rewrite -[_^-1]mul1r ler_pdivr_mulr ?ltr0n //.
apply: le_trans (_ : (2%:R * attended W q) ^+ 2 <= _); first by rewrite exprn_ege1.
by rewrite exprMn -natrX expr2 mulrC.
Qed.

(* tau lies between 1 / (exp A + 1) and 1/2. *)
Lemma T_other W q : exp (A * (2%:R * attended W q - 1)) * tau W q = 1 - tau W q.
Proof.
rewrite -T_rest /tau /Stage2.T mulrA -(exponential_add e) -logit_2 subrK //.
Qed.

Lemma tau_gt0 W q : 0 < tau W q.
Proof. exact: T_gt0. Qed.

Lemma tau_le W q : 0 <= margin W q -> 2%:R * tau W q <= 1.
Proof.
move=> /half_m h; have : tau W q <= 1 - tau W q.
  rewrite -T_other ler_pemull ?(ltW (tau_gt0 _ _)) //.
  apply: le_trans (exponential_tangent e _).
  by rewrite ler_addl mulr_ge0 ?subr_ge0 // ltW.
by rewrite ler_subr_addr mulr_natl mulr2n.
Qed.

Lemma tau_ge W q : 1 <= (exp A + 1) * tau W q.
Proof.
rewrite mulrDl mul1r -ler_subl_addr -T_other ler_pmul2r ?tau_gt0 //; apply: (exp_le e).
have /andP [_ m1] := m_bounds W q; rewrite ger_pmulr // ler_subl_addr -[1 + 1]/(2%:R).
by rewrite ger_pmulr // ltW.
Qed.

Lemma push_gt0 W q : 0 < push W q.
Proof.
have /andP [m0 m1] := m_bounds W q.
rewrite push_2; apply: mulr_gt0; first exact: share_gt0.
apply: mulr_gt0; apply: mulr_gt0 => //; last exact: tau_gt0.
by apply: mulr_gt0; rewrite ?subr_gt0.
Qed.

(* So the rare force is small against the common one. *)
Lemma push_ratio W c : 0 <= margin W true -> 0 <= margin W false -> margin W true <= c ->
  push W false <= (exp A + 1) / 2%:R * exp c * r * push W true.
Proof.
move=> dT dF dc; set s := (2%:R * (1 + r))^-1; have s0 : 0 < s by rewrite invr_gt0 mulr_gt0.
have A1 : 0 < exp A + 1 by rewrite addr_gt0 ?ltr01.
have up : push W false <= r * s * (A * 4%:R^-1 * 1).
  rewrite push_2 /share -/s ler_pmul2l ?mulr_gt0 //.
  have /andP [m0 m1] := m_bounds W false; apply: ler_pmul.
  - by apply: mulr_ge0; [exact: ltW | apply: mulr_ge0; rewrite ?subr_ge0 ltW].
  - by apply: mulr_ge0; rewrite ?ler0n // ltW // tau_gt0.
  - by rewrite ler_pmul2l // spread_le.
  exact: tau_le.
have low : s * (A * (exp (- c) / 4%:R) * (2%:R / (exp A + 1))) <= push W true.
  rewrite push_2 /share -/s mul1r ler_pmul2l //.
  have e0 : 0 <= exp (- c) by apply/ltW/pos.
  apply: ler_pmul.
  - by apply: mulr_ge0; [exact: ltW | apply: divr_ge0; rewrite ?ler0n].
  - by apply: divr_ge0; rewrite ?ler0n // ltW.
  - rewrite ler_pmul2l //; apply: le_trans (spread_ge dT).
    by rewrite ler_pmul2r ?invr_gt0 ?ltr0n //; apply: (exp_le e); rewrite ler_opp2.
  by rewrite ler_pmul2l // -[_^-1]mul1r ler_pdivr_mulr // mulrC tau_ge.
apply: le_trans up _; set K := _ * r.
have K0 : 0 <= K by rewrite !mulr_ge0 ?invr_ge0 ?ler0n ?(ltW (pos _)) ?(ltW A1) ?(ltW r_gt0).
apply: le_trans (ler_wpmul2l K0 low); rewrite le_eqVlt; apply/orP; left; apply/eqP.
rewrite /K; have := expN e c; move: (lt0r_neq0 A1) (lt0r_neq0 two) => /eqP A2 /eqP h.
move: (exp c) (exp (- c)) (exp A) A2 => a b d A2 ab.
have h4 : (4%:R : R) <> 0 by apply/eqP; rewrite pnatr_eq0.
have -> : (d + 1) / 2%:R * a * r * (s * (A * (b / 4%:R) * (2%:R / (d + 1)))) =
    r * s * (A / 4%:R * (a * b)).
  by rewrite -[2%:R]/(1 + 1) in h *; move: (4%:R : R) h4 => f h4; named R; field.
by rewrite ab.
Qed.

(* Stage 2, from zero. *)
Variable eta : R.
Hypothesis eta_gt0 : 0 < eta.
Notation W_kq := (@Stage2.W_kq R bool_finType exp samples2 body query next freq W_ov eta).
Notation root2 := (Num.sqrt (2%:R : R)).
Let pace t : R := eta / norm (gradient (W_kq t)).
Let pace_ge0 t : 0 <= pace t. Proof. by rewrite divr_ge0 ?norm_ge0 ?ltW. Qed.
Let stepE t q x : W_kq t.+1 q x = W_kq t q x - pace t * gradient (W_kq t) q x.
Proof. by rewrite /= /pace mulrAC mulrA. Qed.

Lemma opposite t q : W_kq t q (~~ q) = - W_kq t q q.
Proof.
elim: t => [|t IH]; first by rewrite /= oppr0.
by rewrite !stepE IH gradient_other /push opprD !mulrN.
Qed.

Lemma marginS t q : margin (W_kq t.+1) q = margin (W_kq t) q + 2%:R * (pace t * push (W_kq t) q).
Proof.
rewrite /margin !stepE gradient_other /push -[2%:R]/(1 + 1).
by move: (W_kq t q q) (W_kq t q (~~ q)) (pace t) (gradient _ _ _) => a b c d; calc.
Qed.

Lemma margin0 q : margin (W_kq 0) q = 0.
Proof. by rewrite /margin subrr. Qed.

Lemma grows t q : 0 <= pace t * push (W_kq t) q.
Proof. by apply: mulr_ge0; rewrite // ltW // push_gt0. Qed.

Lemma margin_ge0 t q : 0 <= margin (W_kq t) q.
Proof.
elim: t => [|t IH]; first by rewrite margin0.
by rewrite marginS addr_ge0 // mulr_ge0 ?ler0n ?grows.
Qed.

Lemma margin_norm W q : margin W q <= root2 * norm W.
Proof. by have := entries_ge W q (~~ q) q; rewrite ler_oppl opprB. Qed.

(* A step has the length eta, so that a margin grows by sqrt 2 eta at most. *)
Lemma growth t q : 2%:R * (pace t * push (W_kq t) q) <= root2 * eta.
Proof.
pose D := direction gradient eta (fun _ _ => 0) t.
have -> : 2%:R * (pace t * push (W_kq t) q) = eta * margin D q.
  apply: (addrI (margin (W_kq t) q)); rewrite -marginS /margin.
  rewrite /Stage2.W_kq !descentS -/D.
  by move: (descent _ _ _ _ q q) (descent _ _ _ _ q (~~ q)) (D q q) (D q (~~ q)) => a b c d; calc.
rewrite mulrC ler_pmul2r //; apply: le_trans (margin_norm D q) _.
by rewrite ler_pimulr ?sqrtr_ge0 // norm_direction.
Qed.

Lemma margin_le t q : margin (W_kq t) q <= t%:R * (root2 * eta).
Proof.
elim: t => [|t IH]; first by rewrite margin0 mul0r.
by rewrite marginS -[t.+1]addn1 natrD mulrDl mul1r ler_add ?growth.
Qed.

Definition epsilon t : R := (exp A + 1) / 2%:R * exp (t%:R * (root2 * eta)) * r.

Lemma epsilon_gt0 t : 0 < epsilon t.
Proof. by rewrite /epsilon !mulr_gt0 ?invr_gt0 // addr_gt0 ?ltr01. Qed.

Lemma epsilon_le t t' : (t <= t')%N -> epsilon t <= epsilon t'.
Proof.
move=> le; have c0 : 0 < (exp A + 1) / 2%:R by rewrite divr_gt0 // addr_gt0 ?ltr01.
rewrite /epsilon ler_pmul2r // ler_pmul2l //; apply: (exp_le e).
by rewrite ler_wpmul2r ?ler_nat // mulr_ge0 ?sqrtr_ge0 // ltW.
Qed.

Lemma epsilonS t : epsilon t + root2 * eta * epsilon t <= epsilon t.+1.
Proof.
have -> : epsilon t.+1 = exp (root2 * eta) * epsilon t.
  have -> : epsilon t.+1 = (exp A + 1) / 2%:R * exp (t%:R * (root2 * eta) + root2 * eta) * r.
    by rewrite /epsilon -{1}[t.+1]addn1 natrD [X in _ * exp X * _]mulrDl mul1r.
  rewrite (exponential_add e) /epsilon.
  by move: (exp A) (exp (t%:R * _)) (exp (root2 * _)) 2%:R^-1 => a b c d; calc.
rewrite -{1}[epsilon t]mul1r -mulrDl ler_pmul2r ?epsilon_gt0 //.
exact: exponential_tangent e _.
Qed.

Lemma force_hidden t : push (W_kq t) false <= epsilon t * push (W_kq t) true.
Proof. by apply: push_ratio; rewrite ?margin_ge0 ?margin_le. Qed.

Lemma margin_share t t' : (t <= t')%N ->
  margin (W_kq t) false <= epsilon t' * margin (W_kq t) true.
Proof.
elim: t => [|t IH] le; first by rewrite !margin0 mulr0.
rewrite !marginS mulrDr; apply: ler_add; first exact: IH (ltnW le).
rewrite [leRHS]mulrCA ler_pmul2l // [leRHS]mulrCA ler_wpmul2l //.
apply: le_trans (force_hidden t) _.
by apply: ler_wpmul2r; [exact/ltW/push_gt0 | apply: epsilon_le; apply: ltnW].
Qed.

Lemma margin_hidden t : margin (W_kq t) false <= epsilon t.
Proof.
elim: t => [|t IH]; first by rewrite margin0 ltW ?epsilon_gt0.
apply: le_trans (epsilonS t); rewrite marginS ler_add //.
apply: le_trans (_ : 2%:R * (pace t * (epsilon t * push (W_kq t) true)) <= _).
  by rewrite ler_pmul2l // ler_wpmul2l ?force_hidden.
have -> : 2%:R * (pace t * (epsilon t * push (W_kq t) true)) =
    2%:R * (pace t * push (W_kq t) true) * epsilon t.
  by move: (2%:R : R) (pace t) (push _ _) (epsilon t) => a b c d; calc.
by apply: ler_wpmul2r; [exact/ltW/epsilon_gt0 | exact: growth].
Qed.

Lemma Norm2_kq t : 2%:R * Norm2 (W_kq t) = margin (W_kq t) true ^+ 2 + margin (W_kq t) false ^+ 2.
Proof.
have oT := opposite t true; have oF := opposite t false; rewrite /= in oT oF.
rewrite /Norm2 inner_2 /margin /= oT oF -[2%:R]/(1 + 1).
by move: (W_kq t true true) (W_kq t false false) => a b; calc.
Qed.

Lemma inner_kq t : 2%:R * inner (W_kq t) U2 = margin (W_kq t) true + margin (W_kq t) false.
Proof.
rewrite inner_2 /U2 /margin /=.
have h : 2%:R != 0 :> R by rewrite pnatr_eq0.
move/eqP: h; rewrite -[2%:R]/(1 + 1) => h.
by move: (W_kq t _ _) (W_kq t _ _) (W_kq t _ _) (W_kq t _ _) => a b c d; named R; field.
Qed.

(* The cosine falls with epsilon. *)
Lemma cosine_hidden t eps : margin (W_kq t) false <= eps * margin (W_kq t) true -> 0 <= eps ->
  eps <= 1 -> cosine (W_kq t) U2 <= (1 + eps) / Num.sqrt (2%:R + 2%:R * eps ^+ 2).
Proof.
move=> share_le eps0 eps1; rewrite /cosine (solution_2.2) mulr1.
have s0 : 0 < 2%:R + 2%:R * eps ^+ 2 by rewrite ltr_spaddl // mulr_ge0 ?sqr_ge0 ?ler0n.
have [->|W0] := eqVneq (norm (W_kq t)) 0.
  by rewrite invr0 mulr0 divr_ge0 ?sqrtr_ge0 // addr_ge0 ?ler01.
have Wp : 0 < norm (W_kq t) by rewrite lt_neqAle eq_sym W0 norm_ge0.
rewrite ler_pdivr_mulr // mulrAC ler_pdivl_mulr ?sqrtr_gt0 //.
have a0 := margin_ge0 t true; have b0 := margin_ge0 t false.
have i0 : 0 <= inner (W_kq t) U2.
  by rewrite -(pmulr_rge0 _ two) inner_kq addr_ge0.
rewrite -(ler_pexpn2r (n := 2)) ?nnegrE ?mulr_ge0 ?sqrtr_ge0 ?norm_ge0 ?addr_ge0 ?ler01 //.
rewrite !exprMn sqr_sqrtr ?(ltW s0) // norm_sqr -(ler_pmul2l (ltr0n R 4 : 0 < 4%:R)).
have -> : 4%:R * (inner (W_kq t) U2 ^+ 2 * (2%:R + 2%:R * eps ^+ 2)) =
    (2%:R * inner (W_kq t) U2) ^+ 2 * (2%:R + 2%:R * eps ^+ 2).
  by rewrite exprMn -natrX mulrA.
have -> : 4%:R * ((1 + eps) ^+ 2 * Norm2 (W_kq t)) =
    2%:R * (1 + eps) ^+ 2 * (2%:R * Norm2 (W_kq t)).
  rewrite (_ : 4%:R = 2%:R * 2%:R :> R); last by rewrite -natrM.
  by move: (2%:R : R) (Norm2 _) => a b; calc.
rewrite inner_kq Norm2_kq -subr_ge0; move: (margin _ true) (margin _ false) a0 b0 share_le => a b.
move=> a0 b0 ba; have -> : 2%:R * (1 + eps) ^+ 2 * (a ^+ 2 + b ^+ 2) -
    (a + b) ^+ 2 * (2%:R + 2%:R * eps ^+ 2) = 2%:R * (2%:R * ((eps * a - b) * (a - eps * b))).
  by rewrite -[2%:R]/(1 + 1); calc.
do 2!(apply: mulr_ge0; first exact: ler0n); apply: mulr_ge0; rewrite subr_ge0 //.
apply: le_trans (ler_wpmul2l eps0 ba) _; rewrite mulrA -[leRHS]mul1r ler_wpmul2r //.
by rewrite mulr_ile1.
Qed.

(* A rare sentence stays hidden. *)
Theorem hidden_sentence t (eps := epsilon t) :
  [/\ forall k, (k <= t)%N -> push (W_kq k) false <= eps * push (W_kq k) true /\
        margin (W_kq k) false <= eps * margin (W_kq k) true,
      margin (W_kq t) false <= eps,
      margin (W_kq t) true <= root2 * norm (W_kq t) &
      eps <= 1 ->
        1 - (1 + eps) / Num.sqrt (2%:R + 2%:R * eps ^+ 2) <= 1 - cosine (W_kq t) U2].
Proof.
split=> [k le|||eps1].
- split; last exact: margin_share.
  apply: le_trans (force_hidden k) _.
  by apply: ler_wpmul2r; [exact/ltW/push_gt0 | apply: epsilon_le].
- exact: margin_hidden.
- exact: margin_norm.
by rewrite ler_add2l ler_opp2; apply: cosine_hidden; rewrite ?margin_share // ltW ?epsilon_gt0.
Qed.
End Data.
