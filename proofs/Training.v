(* The theorems on data that are written down: Example 1 and the five tokens. So the hypotheses can
   be met, and on the five tokens training converges to another direction than that of the closed
   form of Proposition 2. Page: huang2024_s5_convergence, label ours-true-optimum. *)
From Coq Require Import Ring Field.
From mathcomp Require Import all_ssreflect all_algebra.
From Companion Require Import Fields Orders MaxMargin Hall BlockForm Existence Frobenius Matrix
  Exponential Stage1 Stage1Law Stage2 Alignment Direction Algorithm.
From Companion Require Example1 FiveTokens.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

(* A list of samples as a family, all of the same frequency. *)
Section Listed.
Variables (R : rcfType) (V : finType) (n : V -> V) (x0 : V) (data : seq (seq V * V)).
Hypothesis some : all (fun p => p.1 != [::]) data.
Let I := [finType of 'I_(size data)].
Definition sample (i : I) : seq V * V := nth ([::], x0) data i.
Definition body (i : I) : seq V := if (sample i).1 is x :: s then belast x s else [::].
Definition query (i : I) : V := if (sample i).1 is x :: s then last x s else x0.
Definition next (i : I) : V := (sample i).2.
Definition uniform (i : I) : R := (size data)%:R^-1.

Lemma sample_in i : sample i \in data. Proof. exact: mem_nth. Qed.
Lemma sentenceE i : sentence body query i = (sample i).1.
Proof.
have := allP some _ (sample_in i); rewrite /sentence /body /query.
by case: (sample i).1 => // x s _; rewrite -lastI.
Qed.

Lemma sampledP s z : sampled body query next s z <-> samples data s z.
Proof.
split=> [[i [<- <-]]|D].
  by rewrite sentenceE /samples /next -surjective_pairing sample_in.
have lt : (index (s, z) data < size data)%N by rewrite index_mem.
exists (Ordinal lt); rewrite sentenceE /next /sample /=.
by have -> : nth ([::], x0) data (index (s, z) data) = (s, z) by apply: nth_index.
Qed.

Definition often_test : bool := all (fun p => all (fun y => (n y == p.2) ||
  (count_mem y p.1 <= count (fun x => n x == p.2) p.1)%N) p.1) data.
Definition compares_test : bool := has (fun p => has (fun y => n y != p.2) p.1) data.

Theorem listed_setting : assumption_1 n (samples data) -> often_test -> compares_test ->
  setting n body query next uniform.
Proof.
move=> [inj src clear] often compares.
have asm1 : assumption_1 n (sampled body query next).
  split=> // [s z /sampledP /src //|q x [[y [s [z [/sampledP D ? ? ? ?]]]]
    [y' [s' [z' [/sampledP D' ? ? ? ?]]]]]].
  by apply: (clear q x); split; [exists y, s, z | exists y', s', z'].
have size0 : (0 < size data)%N by move: compares; rewrite /compares_test; case: data.
split=> //.
- move=> i y; rewrite sentenceE => ys ny; have := allP often _ (sample_in i).
  by move=> /allP /(_ y ys); rewrite (negbTE ny).
- by move=> i; rewrite invr_gt0 ltr0n.
- by rewrite sumr_const card_ord -[_^-1 *+ _]mulr_natr mulVf // pnatr_eq0 -lt0n.
case/hasP: compares => p p_in /hasP [y yp ny].
have lt : (index p data < size data)%N by rewrite index_mem.
have e : sample (Ordinal lt) = p by apply: nth_index.
exists (Ordinal lt), y; rewrite /rival sentenceE e yp /=.
by rewrite -(is_decider asm1) /next e.
Qed.
End Listed.

Section Examples.
Variable R : rcfType.
Add Field scores2 : (is_field R).

Theorem example_1_setting : setting Example1.next
  (@body _ Example1.S Example1.example_1) (@query _ Example1.S Example1.example_1)
  (@next _ Example1.S Example1.example_1) (@uniform R _ Example1.example_1).
Proof. by apply: listed_setting => //; apply: Example1.example_1_assumption_1. Qed.

Notation five_body := (@body _ FiveTokens.a FiveTokens.five_tokens).
Notation five_query := (@query _ FiveTokens.a FiveTokens.five_tokens).
Notation five_next := (@next _ FiveTokens.a FiveTokens.five_tokens).
Notation five_freq := (@uniform R _ FiveTokens.five_tokens).

Theorem five_setting : setting FiveTokens.next five_body five_query five_next five_freq.
Proof. by apply: listed_setting => //; apply: FiveTokens.five_assumption_1. Qed.

(* The closed form of Proposition 2, query by query. *)
Definition five_closed (p : 'I_5) : 'I_5 -> R :=
  closed_form R (aboveb FiveTokens.next FiveTokens.five_tokens p).

Ltac each := let i := fresh in case=> [[|[|[|[|[|//]]]]] i].
Import FiveTokens.

Lemma other_queries p x y : p != FiveTokens.q -> aboveb FiveTokens.next five_tokens p x y = false.
Proof. by move: p x y; do 3 each. Qed.

Lemma others_none p : p != FiveTokens.q ->
  opts (aboveb FiveTokens.next five_tokens p) = set0 /\
  nons (aboveb FiveTokens.next five_tokens p) = set0.
Proof.
by move=> pq; split; apply/setP => x; rewrite !inE; apply/existsP => -[y]; rewrite other_queries.
Qed.

Lemma closed_others p x : p != FiveTokens.q -> five_closed p x = 0.
Proof. by move=> /others_none [o n]; rewrite /five_closed /closed_form o n !inE. Qed.

Lemma only_q (U : 'I_5 -> 'I_5 -> R) : inner U five_closed = dot (U FiveTokens.q) (five_closed
  FiveTokens.q).
Proof.
rewrite /inner (bigD1 FiveTokens.q) //= big1 ?addr0 // => p pq.
by apply: big1 => x _; rewrite closed_others ?mulr0.
Qed.

Lemma closed_norm2 : Norm2 five_closed = 6%:R / 5%:R.
Proof. by rewrite /Norm2 only_q; case: (five_norms R). Qed.

Variable U : 'I_5 -> 'I_5 -> R.
Hypothesis solU : solves12 FiveTokens.next five_body five_query five_next U.

Lemma five_solves3 : solves3 FiveTokens.next five_tokens U.
Proof.
apply/(solves12P FiveTokens.next (body := five_body) (query := five_query) (next := five_next)) =>
  //.
by move=> s z; rewrite sampledP.
Qed.

Lemma U_others p x : p != FiveTokens.q -> U p x = 0.
Proof.
by move=> /others_none [o n]; have /columns sol := five_solves3; apply: (not_compared (sol p));
  rewrite ?o ?n inE.
Qed.

Lemma U_norm2 : Norm2 U = 7%:R / 6%:R.
Proof.
rewrite /Norm2 /inner (bigD1 FiveTokens.q) //= big1 ?addr0 => [|p pq]; last first.
  by apply: big1 => x _; rewrite U_others ?mulr0.
case: (five_norms R) => <- _; apply: eq_bigr => x _.
by rewrite (column_q five_solves3).
Qed.

Lemma U_closed : inner U five_closed = 7%:R / 6%:R.
Proof.
rewrite only_q; have [_ _ sums] := best_certificate R.
have -> : dot (U FiveTokens.q) (five_closed FiveTokens.q) = dot (best R) (five_closed FiveTokens.q).
  by apply: eq_bigr => x _; rewrite (column_q five_solves3).
case: (five_norms R) => <- _; rewrite (dot_margins _ sums) /norm2 (dot_margins _ sums).
apply: eq_bigr => x _; apply: eq_bigr => y _; have [_ tight _] := best_certificate R.
have [->|/tight [xy ->]] := eqVneq (multipliers R x y) 0; first by rewrite !mul0r.
by rewrite closed_form_tight //; apply: clear5.
Qed.

Theorem five_angle : cosine U five_closed ^+ 2 = 35%:R / 36%:R.
Proof.
rewrite /cosine expr_div_n exprMn !norm_sqr U_norm2 closed_norm2 U_closed.
have gen (x y z : R) : x <> 0 -> y <> 0 -> z <> 0 ->
    (x / y) ^+ 2 / (x / y * (y / z)) = (x * z) / (y * y).
  by move=> x0 y0 z0; named R; field.
have nz i : i.+1%:R <> 0 :> R by apply/eqP; rewrite pnatr_eq0.
by rewrite (gen _ _ _ (nz 6%N) (nz 5%N) (nz 4%N)) -!natrM.
Qed.

(* Training turns to the max-margin solution, and stays away from the closed form: the squared
   cosine
   between the two is 35/36. *)
Theorem five_tokens_training (exp log : R -> R) (T : nat) (eta0 eta eps : R)
    (run := @W_kq R _ exp _ five_body five_query five_next five_freq
      (Stage1Law.W_ov FiveTokens.next exp eta0 T) eta) :
  exponential exp -> (forall c, 0 < c -> exp (log c) = c) ->
  (forall c : R, exists N : nat, c < N%:R) ->
  (0 < T)%N -> 0 < eta0 -> 0 < eta -> 0 < eps ->
  cosine U five_closed ^+ 2 = 35%:R / 36%:R /\
  exists N, forall t, (N <= t)%N ->
    1 - eps <= cosine (run t) U /\ `|cosine (run t) five_closed - cosine U five_closed| <= eps.
Proof.
move=> e logK arch T0 e0 e1 eps0; split; first exact: five_angle.
have L_max i : (size (sentence five_body five_query i) <= 3)%N.
  rewrite sentenceE //.
  have /allP ok : all (fun p => size p.1 <= 3)%N FiveTokens.five_tokens by [].
  exact/ok/sample_in.
have p0 : 0 < 8%:R^-1 :> R by rewrite invr_gt0 ltr0n.
have pP i j : rival FiveTokens.next five_body five_query five_next i j -> 8%:R^-1 <= five_freq i.
  by [].
have [N1 le1] := direction_converges e logK five_setting T0 e0 e1 L_max p0 pP solU arch eps0.
have U0 : 0 < norm U by rewrite sqrtr_gt0 U_norm2 // divr_gt0 ?ltr0n.
have C0 : 0 < norm five_closed by rewrite sqrtr_gt0 closed_norm2 divr_gt0 ?ltr0n.
have [N2 le2] := cosines_converge e logK five_setting T0 e0 e1 L_max p0 pP solU arch U0 C0 eps0.
exists (maxn N1 N2) => t; rewrite geq_max => /andP [t1 t2].
by split; [apply: le1 | apply: le2].
Qed.
End Examples.
