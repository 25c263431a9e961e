(* Each statement of Audit.v, proved: its definitions are those of the other files, or equivalent.
   *)
From mathcomp Require Import all_ssreflect all_algebra.
From Companion Require Import Exponential Orders MaxMargin Hall Frobenius Matrix Stage1Law Stage2
  Alignment Algorithm Training Calculus StdReals StdMain.
From Companion Require Audit FiveTokens Example1.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Lemma exp_log (R : rcfType) (exp log : R -> R) : Audit.exp_and_log exp log ->
  exponential exp /\ forall c, 0 < c -> exp (log c) = c.
Proof. by case. Qed.

Section Same.
Variables (R : rcfType) (V : finType).
Lemma innerE : @Audit.inner R V = @inner R V. Proof. by []. Qed.
Lemma normE : @Audit.norm R V = @norm R V. Proof. by []. Qed.
Lemma cosineE : @Audit.cosine R V = @cosine R V. Proof. by []. Qed.
Lemma KE : @Audit.K R = @K R. Proof. by []. Qed.
Lemma descentE grad eta t :
  @Audit.descent R V grad eta t = descent grad eta (fun _ _ => 0) t.
Proof. by []. Qed.
End Same.

Section Data.
Variables (R : rcfType) (V : finType) (P : Audit.training_data R V).
Implicit Types (i : Audit.sample P) (q x y : V).
Notation n := (Audit.n P).
Notation body := (@Audit.body R V P).
Notation query := (@Audit.query R V P).
Notation next := (@Audit.next R V P).
Notation freq := (@Audit.freq R V P).
Notation drawn := (sampled body query next).

Lemma audit_aboveP q x y : Audit.above P q x y <-> above n drawn q x y.
Proof.
split=> [[i [<- xs ys nx ny]]|[s [z [[i [e <-]] xs ys nx ny]]]].
  by exists (body i), (next i); split=> //; exists i.
by exists i; case/rcons_inj: (e) => _ <-; rewrite -e in xs ys.
Qed.

Lemma assumption_1P : Audit.assumption_1 P <-> assumption_1 n drawn.
Proof.
have confusedP q x : Audit.confused P q x <-> confused n drawn q x.
  by split=> -[[y /audit_aboveP yx] [z /audit_aboveP xz]]; (split; [exists y | exists z]).
split=> -[inj src clear]; split=> //.
- by move=> _ _ [i [<- <-]]; apply: src.
- by move=> q x /confusedP; apply: clear.
- by move=> i; apply: src; exists i.
by move=> q x /confusedP; apply: clear.
Qed.

Lemma loss_2E exp log W_ov :
  Audit.loss_2 P exp log W_ov = loss exp log body query next freq W_ov.
Proof. by []. Qed.

Lemma gradient_2E exp W_ov :
  Audit.gradient_2 P exp W_ov = gradient exp body query next freq W_ov.
Proof. by []. Qed.

Lemma stage_1E exp eta0 T : Audit.stage_1 P exp eta0 T = Stage1Law.W_ov n exp eta0 T.
Proof. exact: descentE. Qed.

Lemma stage_2E exp eta0 T eta t : Audit.stage_2 P exp eta0 T eta t =
  W_kq exp body query next freq (Stage1Law.W_ov n exp eta0 T) eta t.
Proof. by rewrite /Audit.stage_2 descentE stage_1E gradient_2E. Qed.

Section Realizable.
Hypothesis asm1 : assumption_1 n drawn.

Lemma rivalP i y : Audit.rival i y <-> rival n body query next i y.
Proof.
split=> [[ys /eqP ny]|/andP [ys]]; last by rewrite -(is_decider asm1) => /eqP.
by rewrite /rival ys -(is_decider asm1).
Qed.

Lemma rareP pi_min : (forall i y, Audit.rival i y -> pi_min <= freq i) ->
  forall i y, rival n body query next i y -> pi_min <= freq i.
Proof. by move=> le i y /rivalP; apply: le. Qed.

Lemma forceE exp W_ov W : Audit.force P exp W_ov W = force n exp body query next freq W_ov W.
Proof.
apply: eq_bigr => i _; congr (_ * - _); rewrite /pull /mass big_mkcond sentence_sum.
rewrite (bigD1 (decider n body query next i)) //= (decider_next asm1) eqxx big1 ?addr0 ?mulrA // =>
  y.
by rewrite -(is_decider asm1) => /negbTE ->; rewrite mulr0.
Qed.

Lemma leadsP exp W : Audit.optimal_leads P exp W -> leads n exp body query next W.
Proof. by move=> le i y; apply: le; [exact: decider_in asm1 i | exact: decider_next asm1 i]. Qed.
End Realizable.

Lemma settingP : Audit.setting P <-> setting n body query next freq.
Proof.
split=> [[/assumption_1P asm1 asm3 pos total [i [y iy]]]|[asm1 asm3 pos total [i [y iy]]]].
  split=> //; last by exists i, y; apply/(rivalP asm1).
  by move=> j z zs /eqP; apply: asm3.
split=> //; first exact/assumption_1P; last by exists i, y; apply/(rivalP asm1).
by move=> j z zs /eqP; apply: asm3.
Qed.

Lemma is_aboveE data : (forall s z, samples data s z <-> drawn s z) ->
  forall q x y, Audit.is_above P q x y = aboveb n data q x y.
Proof.
move=> same q x y; apply/existsP/aboveP => [[i /and5P [/eqP <- xs ys /eqP nx /eqP ny]]|].
  by exists (body i), (next i); split=> //; apply/same; exists i.
move=> [s [z [/same [i [e ez]] xs ys nx ny]]]; exists i; case/rcons_inj: (e) => _ iq.
by rewrite -e in xs ys; apply/and5P; split; rewrite ?iq //; apply/eqP; rewrite ez.
Qed.

Lemma closed_formE data : (forall s z, samples data s z <-> drawn s z) ->
  forall q x, Audit.closed_form P q x = closed_form R (aboveb n data q) x.
Proof.
move=> same q x; have e := is_aboveE same q.
have eo : Audit.optimal P q = opts (aboveb n data q).
  by apply/setP => u; rewrite !inE; apply: eq_existsb => v.
have en : Audit.nonoptimal P q = nons (aboveb n data q).
  by apply/setP => u; rewrite !inE; apply: eq_existsb => v.
by rewrite /Audit.closed_form eo en.
Qed.

Lemma closed_formP U : assumption_1 n drawn -> Audit.prefix_closed P -> Audit.max_margin P U ->
  forall q x, U q x = Audit.closed_form P q x.
Proof.
move=> asm1 closed sol q x; have same := listedP body query next.
have closed' : closure (samples (listed body query next)).
  move=> s y r z s0 /same [i [e _]]; apply/same; have [j e1 e2] := closed i s y r s0 e.
  by exists j.
have [form _ _] := closed_data R (assumption_1_same same asm1) closed'.
have [o m z] := form U ((solves12P n U same).1 sol) q x.
rewrite (closed_formE same) /closed_form.
by case: ifP => [/o //|/negbT xo]; case: ifP => [/m //|/negbT xn]; apply: z.
Qed.
End Data.

Theorem gradient_5 : Audit.statement_gradient_5.
Proof.
move=> R V P exp log /exp_log [e logK] W D s.
exact: (rate_limit (gradient_5 e logK (Audit.n P) W D s)).
Qed.

Theorem gradient_6 : Audit.statement_gradient_6.
Proof.
move=> R V P exp log W_ov /exp_log [e logK] W D s.
rewrite loss_2E gradient_2E.
exact: (rate_limit (gradient_6 e logK _ _ _ _ W_ov W D s)).
Qed.

Theorem equation_12 : Audit.statement_equation_12.
Proof. by move=> R V P /assumption_1P /optimum; apply. Qed.

Theorem theorem_A : Audit.statement_theorem_A.
Proof.
move=> R V P exp log eta0 eta T L pi_min U [/exp_log [e logK] /settingP data [T0 e0 e1]
  [L_max p0 pP] sol] W /= /(leadsP (collocation data)) lead.
rewrite (forceE (collocation data)) gradient_2E stage_1E innerE normE KE.
exact: (theorem_A e logK data T0 e0 e1 L_max p0 (rareP (collocation data) pP) sol lead).
Qed.

Theorem theorem_B : Audit.statement_theorem_B.
Proof.
move=> R V P exp log eta0 eta T L pi_min U [/exp_log [e logK] /settingP data [T0 e0 e1]
  [L_max p0 pP] sol] t t0 /=.
rewrite stage_2E innerE normE cosineE KE.
have asm1 := collocation data; have pP' := rareP asm1 pP.
have [b1 b2 b3] := theorem_B e logK data T0 e0 e1 L_max p0 pP' sol t0; split=> //.
move=> late i o j os /eqP; rewrite (is_decider asm1) => /eqP -> /(rivalP asm1) ij.
exact: (theorem_B_margins e logK data T0 e0 e1 L_max p0 pP' sol ij late).
Qed.

Theorem trivial_bound : Audit.statement_trivial_bound.
Proof.
move=> R V P exp log eta0 eta T L pi_min U [/exp_log [e _] /settingP data [T0 e0 e1] _ sol] t t0.
rewrite stage_2E normE cosineE.
exact: (trivial_bound e data T0 e0 e1 sol t0).
Qed.

Theorem theorem_1_corrected : Audit.statement_theorem_1_corrected.
Proof.
move=> R V P exp log eta0 eta T L pi_min U [/exp_log [e logK] /settingP data [T0 e0 e1]
  [L_max p0 pP] sol] t /= t1 small.
rewrite stage_2E normE cosineE in small *.
exact: (theorem_1_corrected e logK data T0 e0 e1 L_max p0 (rareP (collocation data) pP) sol t1
  small).
Qed.

Theorem proposition_2_refuted : Audit.statement_proposition_2_refuted.
Proof.
move=> R; pose a := FiveTokens.a; pose data := FiveTokens.five_tokens.
pose P := Audit.TrainingData FiveTokens.next (@body _ a data) (@query _ a data) (@next _ a data)
  (@uniform R _ data).
exists _, P; split; first by apply/settingP; exact: five_setting.
move=> U sol; rewrite -(five_angle sol); congr (_ ^+ 2).
have same q : Audit.closed_form P q =1 five_closed R q.
  by move=> x; apply: closed_formE => s z; apply: iff_sym; apply: sampledP.
have e : inner U (Audit.closed_form P) = inner U (five_closed R).
  by apply: eq_inner => // q x; apply: same.
by rewrite /cosine -(eq_norm same) -e.
Qed.

Theorem proposition_2_closed : Audit.statement_proposition_2_closed.
Proof. by move=> R V P /assumption_1P asm1 closed U; apply: closed_formP. Qed.

(* What the theorems assume can be met, by the five tokens and by Example 1. *)
Theorem assumptions_are_met : Audit.statement_assumptions_are_met.
Proof.
move=> R exp log eta0 eta T el e0 e1 T0; split.
  have [V [P [data _]]] := proposition_2_refuted R.
  have [asm1 _ pos _ [i0 _]] := data; have [U [sol _]] := equation_12 asm1.
  case: (arg_minP (@Audit.freq R V P) (isT : xpredT i0)) => j _ least.
  exists V, P, (\max_(i : Audit.sample P) size (Audit.sentence i))%N, (Audit.freq j), U.
  split=> //; split=> [i||i y _]; [exact: (leq_bigmax i) | exact: pos | exact: least].
pose a := Example1.S; pose data := Example1.example_1; pose next1 := Example1.next.
pose P := Audit.TrainingData next1 (@body _ a data) (@query _ a data) (@next _ a data)
  (@uniform R _ data).
have [asm1 _ _ _ rival] : Audit.setting P.
  by apply/settingP; apply: listed_setting => //; exact: Example1.example_1_assumption_1.
have same := @sampledP _ a data isT; exists _, P; split=> // i s x r s0 e.
have /same D : sampled (@body _ a data) (@query _ a data) (@next _ a data) (s ++ x :: r)
  (Audit.next i) by exists i.
by have /same [j [sj nj]] := Example1.example_1_closure s0 D; exists j.
Qed.

Theorem reals : Audit.statement_reals.
Proof.
split=> // [x y|]; first by split=> /lebP.
split; [exact: (exponential_add coq_exponential) | exact: (exponential_tangent coq_exponential) |].
exact: coq_log.
Qed.

Theorem direction_converges : Audit.statement_direction_converges.
Proof.
move=> V P eta0 eta T L pi_min U [_ /settingP data [T0 e0 e1] [L_max p0 pP] sol] eps eps0.
have [N late] := real_direction_converges data T0 e0 e1 L_max p0 (rareP (collocation data) pP) sol
  eps0.
by exists N => t tN; rewrite stage_2E cosineE; exact: late tN.
Qed.
