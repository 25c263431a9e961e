(* Both papers at once: optimal tokens are distinct, and none is more frequent in its class.
   Page: two_papers; labels ours-two-layer, ours-two-optimal-distinct, ours-two-most-frequent. *)
From mathcomp Require Import all_ssreflect all_algebra.
From Companion Require Import Orders Stage2.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Section Classes.
Variables (V : eqType) (n : V -> V) (D : seq V -> V -> Prop).
Hypothesis asm1 : assumption_1 n D.

(* The class (q, z) holds the sentences that end in q and are followed by z. An optimal token o
   occurs in every sentence of the class (q, n o), and in no sentence of another class of q. *)
Theorem optimal_distinct q o s z : optimal n D q o -> D (rcons s q) z ->
  (z = n o -> o \in rcons s q) /\ (z <> n o -> o \notin rcons s q).
Proof.
case: asm1 => inj src clear opt Dz; split=> [zo|zo].
  by have [a a_s za] := src _ _ Dz; have <- : a = o by apply: inj; rewrite -za zo.
apply/negP => o_s; have [a a_s za] := src _ _ Dz; rewrite za in Dz zo.
by apply: zo; rewrite (optimal_decides inj Dz a_s o_s opt).
Qed.
End Classes.

(* The converse is false: in one sentence of one token nothing is optimal, and its token is
   distinct. *)
Theorem distinct_not_optimal : exists (V : eqType) (n : V -> V) (data : seq (seq V * V)) (q o : V),
  [/\ assumption_1 n (samples data), ~ optimal n (samples data) q o &
      forall s z, samples data (rcons s q) z ->
      (z = n o -> o \in rcons s q) /\ (z <> n o -> o \notin rcons s q)].
Proof.
exists [eqType of bool], id, [:: ([:: true], true)], true, true.
have one s z : samples [:: ([:: true], true)] s z -> s = [:: true] /\ z = true.
  by rewrite /samples inE xpair_eqE => /andP [/eqP -> /eqP ->].
have none q x y : ~ above id (samples [:: ([:: true], true)]) q x y.
  move=> [s [z [/one [e ->] xs ys nx ny]]]; apply: ny.
  by move: ys; rewrite e inE => /eqP.
split=> [|[_ [y xy]]|s z /one [-> ->]]; last by split.
- split=> // [s z /one [-> ->]|q x [[y yx] _]]; first by exists true.
  exact: none yx.
exact: none xy.
Qed.

Section Frequent.
Variables (R : rcfType) (V : finType) (n : V -> V).
Variables (I : finType) (body : I -> seq V) (query next : I -> V).
Notation sentence := (@sentence V I body query).
Hypotheses (asm1 : assumption_1 n (sampled body query next))
  (asm3 : @assumption_3 V n I body query next).

(* Positions drawn uniformly from the sentences of the class, or with any weights >= 0 of the
   sentences: no token is drawn more often than o. *)
Theorem most_frequent q o y (w : I -> R) : (forall i, 0 <= w i) ->
  \sum_(i | (query i == q) && (next i == n o)) w i * (count_mem y (sentence i))%:R <=
  \sum_(i | (query i == q) && (next i == n o)) w i * (count_mem o (sentence i))%:R.
Proof.
move=> w0; apply: ler_sum => i /andP [_ /eqP no]; rewrite ler_wpmul2l // ler_nat.
have [->//|yo] := eqVneq y o; have [ys|/count_memPn -> //] := boolP (y \in sentence i).
case: asm1 => inj _ _; have ny : n y != next i by rewrite no (inj_eq inj).
apply: leq_trans (asm3 ys ny) _; apply: sub_count => x /= /eqP nx.
by apply/eqP/inj; rewrite nx.
Qed.

(* The layer of both papers: Huang's logits are Y' b with b_x = N_x e^{Z_qx} / sum, the mass of
   attention of a token, N_x the number of its positions. *)
Variables (exp : R -> R) (W_ov : V -> V -> R).
Theorem logits_by_tokens W i v :
  logit exp body query W_ov W i v = \sum_x mass exp body query W i x * W_ov x v /\
  forall x, mass exp body query W i x = (count_mem x (sentence i))%:R * exp (W (query i) x) /
    \sum_y (count_mem y (sentence i))%:R * exp (W (query i) y).
Proof.
split=> [|x]; first by rewrite /logit sentence_sum; apply: eq_bigr => x _; rewrite mulrA.
by rewrite /mass /weight mulrA sentence_sum.
Qed.

(* Tian et al. leave the last position out and divide by the length: the sum over positions of
   attention times one-hot vector is b, so what follows is Y' b / |b|. *)
Definition combined W i l : R := \sum_(y <- body i) (y == l)%:R *
  (exp (W (query i) y) / \sum_(u <- body i) exp (W (query i) u)).
Definition tian_logit W (Y : V -> V -> R) i v : R :=
  \sum_l combined W i l / Num.sqrt (\sum_u combined W i u ^+ 2) * Y l v.
Theorem tian_logits_by_tokens W (Y : V -> V -> R) i v
    (b := fun x => (count_mem x (body i))%:R * exp (W (query i) x) /
      \sum_y (count_mem y (body i))%:R * exp (W (query i) y)) :
  tian_logit W Y i v = (\sum_l b l * Y l v) / Num.sqrt (\sum_l b l ^+ 2).
Proof.
have bE l : combined W i l = b l.
  rewrite /combined /b -[in RHS]sentence_sum; set Z := \sum_(u <- body i) exp _.
  rewrite sentence_sum (bigD1 l) //= eqxx mul1r big1 => [|y /negbTE ->].
    by rewrite addr0 mulrA.
  by rewrite mul0r mulr0.
have -> : tian_logit W Y i v = \sum_l b l / Num.sqrt (\sum_u b u ^+ 2) * Y l v.
  rewrite /tian_logit; under [X in Num.sqrt X]eq_bigr => u _ do rewrite bE.
  by apply: eq_bigr => l _; rewrite bE.
by rewrite mulr_suml; apply: eq_bigr => l _; rewrite mulrAC.
Qed.
End Frequent.
