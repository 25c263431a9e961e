(* The exact law of stage 1, and what it says of equation (8), Lemmas 1 and 3, Propositions 1 and 3
   and Corollary 1. Page: huang2024_s5_stage1.

   The law of the matrix needs of exp only that it is positive; the loss and the printed bounds use
   [exponential] and that log inverts exp. The gradient is the formula (5), which is the derivative
   of the loss (Calculus.gradient_5). *)
From Coq Require Import Ring Field.
From mathcomp Require Import all_ssreflect all_algebra.
From Companion Require Import Fields Exponential MaxMargin Frobenius Stage1.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Section Softmax.
Variables (R : realFieldType) (V : finType) (n : V -> V) (exp : R -> R).
Hypothesis exp_pos : forall x, 0 < exp x.
Implicit Types (W : V -> V -> R) (x v : V).
Add Field scores : (is_field R).
Notation W_star := (@W_star R V n).

(* T_0(x), the predicted probabilities; the gradient (5) of the loss of stage 1. *)
Definition softmax W x v : R := exp (W x v) / \sum_u exp (W x u).
Definition gradient W x v : R := softmax W x v - (v == n x)%:R.
Definition mistakes W : R := \sum_x \sum_(v | v != n x) softmax W x v.

Lemma total_gt0 W x : 0 < \sum_u exp (W x u).
Proof.
rewrite (bigD1 x) //= ltr_paddr ?exp_pos //.
by apply: sumr_ge0 => u _; apply: ltW.
Qed.

Lemma softmax_gt0 W x v : 0 < softmax W x v.
Proof. by rewrite divr_gt0 ?exp_pos ?total_gt0. Qed.

Lemma softmax_sum W x : \sum_v softmax W x v = 1.
Proof. by rewrite -mulr_suml divff ?lt0r_neq0 ?total_gt0. Qed.

Lemma softmax_rest W x : softmax W x (n x) = 1 - \sum_(v | v != n x) softmax W x v.
Proof. by rewrite -(softmax_sum W x) (bigD1 (n x)) //= addrK. Qed.

(* (8), as an equality. *)
Theorem equation_8 W : inner W_star (gradient W) = - mistakes W.
Proof.
rewrite -sumrN; apply: eq_bigr => x _; rewrite dot_W_star.
have s0 := lt0r_neq0 (size_gt0 R x).
rewrite (eq_bigr (fun v => gradient W x (n x) - softmax W x v)) => [|v /negbTE ne]; last first.
  by rewrite [X in _ - X]/gradient ne subr0.
rewrite sumrB sumr_const -[#|_|]/#|predC1 (n x)| cardC1.
rewrite -[gradient _ _ _ *+ _]mulr_natl (size_pred R x).
rewrite /gradient eqxx mulr1n softmax_rest; move/eqP: s0; move: (\sum_(v | _) _) #|V|%:R => a b b0.
by named R; field.
Qed.

(* The gradient is never zero, so that (7) is defined; its norm is at most twice the mistakes. *)
Lemma column_norm2 W x : norm2 (gradient W x) <= 2%:R * (\sum_(v | v != n x) softmax W x v) ^+ 2.
Proof.
set s := \sum_(v | _) _; rewrite /norm2 /dot (bigD1 (n x)) //=.
rewrite {1 2}/gradient eqxx mulr1n softmax_rest -/s.
rewrite (eq_bigr (fun v => softmax W x v * softmax W x v)) => [|v /negbTE ne]; last first.
  by rewrite /gradient ne subr0.
rewrite addrAC subrr add0r mulrNN mulr_natl mulr2n expr2 ler_add2l mulr_suml.
apply: ler_sum => v ne; rewrite ler_pmul2l ?softmax_gt0 // /s (bigD1 v) //= ler_addl.
by apply: sumr_ge0 => u _; apply/ltW/softmax_gt0.
Qed.
End Softmax.

Section Algebra.
Variable F : realFieldType.
Add Field scores2 : (is_field F).
Implicit Types (b e h l t s x z : F).

(* An entry of the gradient at s W_star, for the right token and for a wrong one. *)
Lemma entry_right b l t : b <> 0 -> t <> 0 ->
  (t - (b - 1) * l) / t - 1 = - (b * l / t * (1 - 1 / b)).
Proof. by move=> *; named F; field. Qed.
Lemma entry_wrong b l t : b <> 0 -> t <> 0 -> l / t - 0 = - (b * l / t * (0 - 1 / b)).
Proof. by move=> *; named F; field. Qed.
Lemma next_step c e s t z : c <> 0 -> s <> 0 ->
  t * e / s * z - e * (- (c * z) / (c * s)) = (t + 1) * e / s * z.
Proof. by move=> *; named F; field. Qed.
Lemma inverse_odds b e h : h <> 0 -> h + (b - 1) * (h * e) <> 0 ->
  (h / (h + (b - 1) * (h * e)))^-1 = 1 + (b - 1) * e.
Proof. by move=> *; named F; field. Qed.
Lemma margin_law b e s t : s <> 0 -> t * e / s * (1 - 1 / b) - t * e / s * (0 - 1 / b) = t * e / s.
Proof. by move=> s0; rewrite -mulrBr opprB addrA subrK subr0 mulr1. Qed.
End Algebra.

Section Law.
Variables (R : rcfType) (V : finType) (n : V -> V) (exp log : R -> R) (eta : R).
Hypotheses (two_tokens : (1 < #|V|)%N) (eta_gt0 : 0 < eta).
(* The law of the matrix needs that exp is positive, and nothing else of it. *)
Hypothesis pos : forall c, 0 < exp c.
Implicit Types (W : V -> V -> R) (x v : V).
Add Field scores3 : (is_field R).
Notation W_star := (@W_star R V n).
Let size : R := #|V|%:R.

(* The loss of stage 1, and normalised gradient descent (7) from zero. *)
Definition loss0 W : R := - \sum_x log (softmax exp W x (n x)).
Definition W_ov : nat -> V -> V -> R := descent (gradient n exp) eta (fun _ _ => 0).

Lemma some_token : V.
Proof. by move: two_tokens; case: (pickP V) => // /eq_card0 ->. Qed.

Lemma size_gt1 : 0 < size - 1.
Proof. by rewrite subr_gt0 ltr1n. Qed.

Lemma norm_star : norm W_star = Num.sqrt (size - 1).
Proof. by rewrite /norm (W_star_norm2 _ _ some_token). Qed.

Lemma norm_star_ge1 : 1 <= norm W_star.
Proof. by rewrite norm_star -{1}[1]sqrtr1 ler_wsqrtr // ler_subr_addr -[1 + 1]/(2%:R) ler_nat. Qed.

Lemma norm_star_gt0 : 0 < norm W_star.
Proof. exact: lt_le_trans ltr01 norm_star_ge1. Qed.

(* At s W_star each column has one high odds and, elsewhere, one low odds. *)
Lemma odds W s (high := exp (s * (1 - 1 / size))) (low := exp (s * (0 - 1 / size))) x v :
  (forall x v, W x v = s * W_star x v) ->
  exp (W x v) = (if v == n x then high else low) /\
  \sum_u exp (W x u) = high + (size - 1) * low.
Proof.
move=> ray; have logit u : exp (W x u) = if u == n x then high else low.
  by rewrite ray /Stage1.W_star -/size; case: ifP.
split=> //; rewrite (bigD1 (n x)) //= logit eqxx (eq_bigr (fun=> low)) => [|u /negbTE ne].
  by rewrite sumr_const -[#|_|]/#|predC1 (n x)| cardC1 -[low *+ _]mulr_natl (size_pred R x).
by rewrite logit ne.
Qed.

(* So there the gradient points back along W_star. *)
Lemma gradient_on_ray W s : (forall x v, W x v = s * W_star x v) ->
  exists2 c, 0 < c & forall x v, gradient n exp W x v = - (c * W_star x v).
Proof.
move=> ray; set high := exp (s * (1 - 1 / size)); set low := exp (s * (0 - 1 / size)).
have low0 : 0 < low by apply: pos.
have total0 : 0 < high + (size - 1) * low by rewrite addr_gt0 ?mulr_gt0 ?pos ?size_gt1.
exists (size * low / (high + (size - 1) * low)).
  by apply: divr_gt0 => //; apply: mulr_gt0 => //; apply: (size_gt0 R some_token).
move=> x v; rewrite /gradient /softmax; have [-> ->] := odds x v ray; rewrite -/high -/low.
have /eqP s0 := lt0r_neq0 (size_gt0 R x); have /eqP t0 := lt0r_neq0 total0.
rewrite /Stage1.W_star -/size; case: ifP => _; rewrite ?mulr1n ?mulr0n; last exact: entry_wrong.
by rewrite -entry_right // addrK.
Qed.

Theorem law t x v : W_ov t x v = t%:R * eta / norm W_star * W_star x v.
Proof.
elim: t x v => [|t IH] x v; first by rewrite /= !mul0r.
have [c c0 grad] := gradient_on_ray IH; rewrite /= -/(W_ov t) IH.
have -> : norm (gradient n exp (W_ov t)) = c * norm W_star.
  rewrite -[c in RHS](gtr0_norm c0) -normrN -norm_scale; apply: eq_norm => y u.
  by rewrite grad mulNr.
have /eqP c1 := lt0r_neq0 c0; have /eqP s1 := lt0r_neq0 norm_star_gt0.
by rewrite grad next_step // -addn1 natrD.
Qed.

Theorem law_norm t : norm (W_ov t) = t%:R * eta.
Proof.
rewrite (eq_norm (law t)) norm_scale ger0_norm; last first.
  by rewrite divr_ge0 ?mulr_ge0 ?ler0n ?norm_ge0 // ltW.
by rewrite divfK ?lt0r_neq0 ?norm_star_gt0.
Qed.

(* For the loss: the low odds are e^-s times the high. *)
Hypotheses (expo : exponential exp) (logK : forall c, 0 < c -> exp (log c) = c).

Theorem law_loss t :
  loss0 (W_ov t) = size * log (1 + (size - 1) * exp (- (t%:R * eta / Num.sqrt (size - 1)))).
Proof.
rewrite -norm_star; set s := t%:R * eta / norm W_star.
set high := exp (s * (1 - 1 / size)); set low := exp (s * (0 - 1 / size)).
have low_high : low = high * exp (- s).
  by rewrite -(exponential_add expo); congr exp; named R; ring.
have h0 : 0 < high by apply: pos.
have total0 : 0 < high + (size - 1) * low by rewrite addr_gt0 ?mulr_gt0 ?pos ?size_gt1.
rewrite /loss0 -sumrN (eq_bigr (fun=> log (1 + (size - 1) * exp (- s)))) => [|x _].
  by rewrite sumr_const -mulr_natl.
rewrite /softmax; have [-> ->] := odds x (n x) (law t); rewrite eqxx -/s -/high -/low.
rewrite low_high in total0 *.
rewrite -(log_inv expo logK) ?divr_gt0 //; congr log; apply: inverse_odds; apply/eqP;
  exact: lt0r_neq0.
Qed.

(* The cosine of W_ov(t) and W_star. *)
Definition cosine W U : R := inner W U / (norm W * norm U).

Theorem law_cosine t : (0 < t)%N -> cosine (W_ov t) W_star = 1.
Proof.
move=> t0; have s0 := lt0r_neq0 norm_star_gt0.
rewrite /cosine law_norm innerC (eq_inner (fun q => frefl _) (law t)) inner_scale.
rewrite -/(Norm2 _) -norm_sqr expr2 mulrA divfK // divff //.
by rewrite !mulf_neq0 // ?pnatr_eq0 -?lt0n // lt0r_neq0.
Qed.

(* Lemma 3. *)
Theorem lemma_3 t x i i' : i != n x -> i' != n x -> W_ov t x i - W_ov t x i' = 0.
Proof. by move=> /negbTE ni /negbTE ni'; rewrite !law /Stage1.W_star ni ni' subrr. Qed.

(* Propositions 1 and 3, for every t >= 1; the paper asks for t >= 2. *)
Theorem proposition_3 t : (0 < t)%N ->
  [/\ t%:R * eta / (2%:R * norm W_star) <= norm (W_ov t), norm (W_ov t) <= t%:R * eta &
      1 - 12%:R * norm W_star ^+ 3 * log (2%:R * size) * log t%:R / (t%:R * eta)
        <= cosine (W_ov t) W_star].
Proof.
move=> t0; have te : 0 < t%:R * eta by rewrite mulr_gt0 ?ltr0n.
rewrite law_norm (law_cosine t0) lexx; split=> //.
  rewrite ler_pdivr_mulr ?mulr_gt0 ?ltr0n ?norm_star_gt0 //.
  by apply: ler_pemulr; [apply: ltW | rewrite mulr_ege1 ?norm_star_ge1 ?ler1n].
rewrite ger_addl oppr_le0 divr_ge0 ?(ltW te) // !mulr_ge0 ?exprn_ge0 ?norm_ge0 ?ler0n //.
  by apply: (log_ge0 expo logK); rewrite /size -natrM ler1n muln_gt0 (ltn_trans _ two_tokens).
by apply: (log_ge0 expo logK); rewrite ler1n.
Qed.

(* The constant of O(...) depends on the size of the vocabulary only. *)
Theorem proposition_1_loss : exists2 C, 0 <= C & forall t,
  loss0 (W_ov t) <= C * exp (- (eta * t%:R / (4%:R * norm W_star))).
Proof.
have s0 : 0 <= size - 1 by apply: ltW size_gt1.
exists (size * (size - 1)) => [|t]; first by rewrite mulr_ge0 ?ler0n.
rewrite law_loss -norm_star -[leRHS]mulrA ler_wpmul2l ?ler0n //.
apply: le_trans (log1_le expo logK _) _; first by rewrite mulr_ge0 // ltW.
rewrite ler_wpmul2l // (exp_le expo) // ler_opp2 [eta * _]mulrC.
have te : 0 <= t%:R * eta by rewrite mulr_ge0 ?ler0n // ltW.
apply: ler_wpmul2l => //; rewrite lef_pinv ?posrE ?mulr_gt0 ?ltr0n ?norm_star_gt0 //.
by apply: ler_pemull; [apply: norm_ge0 | rewrite ler1n].
Qed.

(* Corollary 1. All margins are t eta / |W_star|, which is 4 sqrt(|V| - 1) times the printed A. *)
Definition A (T : nat) : R := T%:R * eta / (4%:R * norm W_star ^+ 2).

Theorem equal_margins T x i : i != n x ->
  W_ov T x (n x) - W_ov T x i = T%:R * eta / Num.sqrt (size - 1).
Proof.
move=> /negbTE ne; rewrite !law /Stage1.W_star eqxx ne mulr1n mulr0n -/size -norm_star.
by apply: margin_law; apply/eqP/lt0r_neq0/norm_star_gt0.
Qed.

Theorem margins_and_A T : T%:R * eta / Num.sqrt (size - 1) = 4%:R * Num.sqrt (size - 1) * A T.
Proof.
rewrite /A -norm_star; have := norm_star_gt0 => /lt0r_neq0 /eqP; move: (norm _) => s s0.
have f0 : 4%:R <> 0 :> R by apply/eqP; rewrite pnatr_eq0.
by move: (T%:R) (4%:R) f0 => a b b0; named R; field.
Qed.

(* The corollary as printed, for the exponent k (5 in the text, 7 in the displayed proof). *)
Definition corollary_1 (k : nat) : Prop := forall T : nat, (0 < T)%N ->
  384%:R * norm W_star ^+ k * log (2%:R * size) * log T%:R / eta <= T%:R ->
  forall x i, i != n x -> A T < W_ov T x (n x) - W_ov T x i < 3%:R * A T.

Theorem above_three_A T x i : (0 < T)%N -> i != n x ->
  3%:R * A T < W_ov T x (n x) - W_ov T x i.
Proof.
move=> T0 /equal_margins ->; rewrite margins_and_A -norm_star.
have A0 : 0 < A T by rewrite divr_gt0 ?mulr_gt0 ?exprn_gt0 ?norm_star_gt0 ?ltr0n.
rewrite ltr_pmul2r //; apply: lt_le_trans (_ : 4%:R <= _); first by rewrite ltr_nat.
by rewrite ler_pemulr ?norm_star_ge1 ?ler0n.
Qed.

(* T = 1 meets the printed condition, as log 1 = 0; and every other T that meets it fails, too. *)
Theorem corollary_1_refuted k : ~ corollary_1 k.
Proof.
have [x [i ne]] : exists x i, i != n x.
  have x := some_token; have : (0 < #|predC1 (n x)|)%N by rewrite cardC1 -ltnS prednK // ltnW.
  by case/card_gt0P=> i ne; exists x, i.
move=> claim; have := claim 1%N isT; rewrite (log1 expo logK) mulr0 mul0r ler0n => /(_ isT x i ne).
by case/andP=> _ /lt_trans /(_ (above_three_A (ltn0Sn 0) ne)); rewrite ltxx.
Qed.

(* The lower bound holds for every T >= 1. *)
Theorem above_A T x i : (0 < T)%N -> i != n x -> A T < W_ov T x (n x) - W_ov T x i.
Proof.
move=> T0 ne; apply: le_lt_trans (above_three_A T0 ne); rewrite ler_pemull ?ler1n //.
by rewrite divr_ge0 ?mulr_ge0 ?exprn_ge0 ?norm_ge0 ?ler0n // ltW.
Qed.

(* Lemma 1, from any start, and the cosine of each step in its proof. *)
Lemma mistakes_gt0 U : 0 < mistakes n exp U.
Proof.
have x0 := some_token; rewrite /mistakes (bigD1 x0) //= ltr_paddr //.
  apply: sumr_ge0 => x _; apply: sumr_ge0 => v _; exact/ltW/softmax_gt0.
have /card_gt0P [v ne] : (0 < #|predC1 (n x0)|)%N by rewrite cardC1 -ltnS prednK // ltnW.
rewrite (bigD1 v) //= ltr_paddr ?softmax_gt0 //.
by apply: sumr_ge0 => u _; exact/ltW/softmax_gt0.
Qed.

Lemma along_step U (G := gradient n exp U) :
  inner W_star (fun x v => - G x v / norm G) = - inner G W_star / norm G.
Proof.
rewrite (@eq_inner _ _ W_star W_star _ (fun x v => - (norm G)^-1 * G x v)) => // [|x v].
  by rewrite inner_scale innerC !mulNr mulrC.
by rewrite !mulNr mulrC.
Qed.

Theorem lemma_1_cosine U (G := gradient n exp U) : [/\ 0 < norm G,
  1 / Num.sqrt 2%:R <= inner W_star (fun x v => - G x v / norm G) &
  1 / 2%:R <= 1 / Num.sqrt 2%:R :> R].
Proof.
have s1 := mistakes_gt0 U; have r0 : 0 < Num.sqrt 2%:R :> R by rewrite sqrtr_gt0 ltr0n.
have G0 : 0 < norm G.
  rewrite lt_neqAle norm_ge0 eq_sym andbT; apply/eqP => zero.
  have := inner_norm_abs W_star G; rewrite zero mulr0 normr_le0 (equation_8 n pos) oppr_eq0.
  by move=> /eqP e; move: s1; rewrite e ltxx.
have up : norm G <= Num.sqrt 2%:R * mistakes n exp U.
  apply: norm_le; first by rewrite mulr_ge0 ?ltW.
  rewrite exprMn sqr_sqrtr ?ler0n //.
  apply: le_trans (ler_sum _ (fun x _ => column_norm2 n pos U x)) _.
  rewrite -mulr_sumr ler_wpmul2l ?ler0n // expr2 mulr_suml; apply: ler_sum => x _.
  have s_ge0 y : 0 <= \sum_(v | v != n y) softmax exp U y v.
    by apply: sumr_ge0 => v _; exact/ltW/softmax_gt0.
  by rewrite expr2 ler_wpmul2l // /mistakes [leRHS](bigD1 x) //= ler_addl sumr_ge0.
rewrite along_step -/G innerC (equation_8 n pos) opprK.
split=> //; first by rewrite ler_pdivr_mulr // mulrAC ler_pdivl_mulr // mul1r mulrC.
rewrite !mul1r lef_pinv ?posrE ?ltr0n //.
apply: le_trans (_ : Num.sqrt 2%:R * Num.sqrt 2%:R <= _); last by rewrite -expr2 sqr_sqrtr ?ler0n.
by rewrite ler_pemulr ?sqrtr_ge0 // -{1}[1]sqrtr1 ler_wsqrtr // ler1n.
Qed.

Theorem lemma_1 start t (W := descent (gradient n exp) eta start t) :
  norm W <= t%:R * eta + norm start /\
  t%:R * eta / (2%:R * norm W_star) - norm start <= norm W.
Proof.
split; first by apply: norm_upper; apply: ltW.
have s0 := norm_star_gt0; rewrite -(ler_pmul2r s0) mulrBl.
have -> : t%:R * eta / (2%:R * norm W_star) * norm W_star = t%:R * eta * (1 / 2%:R).
  have two : 2%:R <> 0 :> R by apply/eqP; rewrite pnatr_eq0.
  move: s0 => /lt0r_neq0 /eqP; move: two; move: (norm _) 2%:R (t%:R * eta) => a b c b0 a0.
  by named R; field.
apply: norm_lower => [|i _]; first exact: ltW.
set U := descent _ _ _ _; have [G0 sharp half] := lemma_1_cosine U; split=> //.
rewrite -ler_pdivl_mulr //; by apply: le_trans (le_trans half sharp) _; rewrite along_step.
Qed.
End Law.
