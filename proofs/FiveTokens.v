(* Five tokens, without prefix closure, on which Propositions 2 and 4 and equation (16) fail:
   examples/five_tokens.jsonl. With prefix closure all three hold (Matrix.v, Dual.v).
   Page: huang2024_s6_max_margin; labels huang2024-prop-2, huang2024-prop-4, huang2024-eq-16. *)
From Coq Require Import Ring Field.
From mathcomp Require Import all_ssreflect all_algebra.
From Companion Require Import Fields Orders MaxMargin Hall Existence Matrix Dual.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Definition a : 'I_5 := @Ordinal 5 0 isT.
Definition b : 'I_5 := @Ordinal 5 1 isT.
Definition c : 'I_5 := @Ordinal 5 2 isT.
Definition d : 'I_5 := @Ordinal 5 3 isT.
Definition q : 'I_5 := @Ordinal 5 4 isT.

(* The collocation a -> b -> c -> d -> q -> a, and the data. *)
Definition next (x : 'I_5) : 'I_5 := nth a [:: b; c; d; q; a] x.
Definition five_tokens : seq (seq 'I_5 * 'I_5) :=
  [:: ([:: a], b); ([:: b], c); ([:: c], d); ([:: d], q); ([:: q], a);
      ([:: a; c; q], b); ([:: a; d; q], b); ([:: b; q], c)].

Ltac each := let i := fresh in case=> [[|[|[|[|[|//]]]]] i].

(* Under the query q, a lies above c, d and q, and b above q. *)
Definition gt5 : rel 'I_5 := aboveb next five_tokens q.
Lemma gt5E x y : gt5 x y = ((x, y) \in [:: (a, c); (a, d); (a, q); (b, q)]).
Proof. by move: x y; do 2 each. Qed.

Theorem five_assumption_1 : assumption_1 next (samples five_tokens).
Proof.
split.
- by apply: (can_inj (g := fun x : 'I_5 => nth a [:: q; a; b; c; d] x)); each; apply: val_inj.
- have /allP ok : all (fun p => has (fun o => p.2 == next o) p.1) five_tokens by [].
  by move=> s z /ok /hasP [o o_s /eqP]; exists o.
move=> p x /one_role; move: p x; by do 2 each.
Qed.

(* Two optimal tokens under one query: without closure PrefixClosure.v would be wrong. *)
Theorem closure_needed : [/\ assumption_1 next (samples five_tokens),
  optimal next (samples five_tokens) q a, optimal next (samples five_tokens) q b & a <> b].
Proof. by split=> //; [exact: five_assumption_1 | apply/one_role | apply/one_role]. Qed.

Lemma clear5 : unconfused gt5.
Proof. by have := unconfused_order (q := q) five_assumption_1. Qed.

Lemma opts5 : opts gt5 = [set a; b].
Proof.
apply/setP => x; rewrite !inE; apply/existsP/orP => [[y]|].
  by rewrite gt5E !inE => /or4P [] /eqP [-> _]; rewrite eqxx; [left | left | left | right].
by case=> /eqP ->; [exists c | exists q]; rewrite gt5E.
Qed.

Lemma nons5 : nons gt5 = [set c; d; q].
Proof.
apply/setP => x; rewrite !inE -orbA; apply/existsP/or3P => [[y]|].
  rewrite gt5E !inE => /or4P [] /eqP [_ ->]; rewrite eqxx;
    by [apply: Or31 | apply: Or32 | apply: Or33].
by case=> /eqP ->; exists a; rewrite gt5E.
Qed.

Lemma cards5 : #|opts gt5| = 2%N /\ #|nons gt5| = 3%N.
Proof. by rewrite opts5 nons5 cards2 -setUA cardsU1 cards2 !inE. Qed.

Section Scores.
Variable R : realFieldType.
Implicit Type l : 'I_5 -> 'I_5 -> R.
Add Field scores : (is_field R).

(* Numerals as sums of ones, which [field] can read; and why they are not zero. *)
Lemma two : 2%:R = 1 + 1 :> R. Proof. by []. Qed.
Lemma three : 3%:R = 1 + (1 + 1) :> R. Proof. by []. Qed.
Lemma six : 6%:R = (1 + 1) * (1 + (1 + 1)) :> R.
Proof. by rewrite -two -three -natrM. Qed.
Lemma seven : 7%:R = 1 + (1 + 1) * (1 + (1 + 1)) :> R.
Proof. by rewrite -six -(natrD _ 1). Qed.
Let nonzero i : i.+1%:R <> 0 :> R. Proof. by apply/eqP; rewrite pnatr_eq0. Qed.
Lemma two_nonzero : 1 + 1 <> 0 :> R. Proof. exact: (@nonzero 1). Qed.
Lemma three_nonzero : 1 + (1 + 1) <> 0 :> R. Proof. exact: (@nonzero 2). Qed.
Lemma six_nonzero : (1 + 1) * (1 + (1 + 1)) <> 0 :> R.
Proof. by rewrite -six; apply: (@nonzero 5). Qed.
Ltac numbers := rewrite ?seven ?six ?three ?two; named R; field; repeat split;
  first [exact two_nonzero | exact three_nonzero | exact six_nonzero].

(* The solution under q, and multipliers that prove it. *)
Definition best (x : 'I_5) : R :=
  nth 0 [:: 2%:R / 3%:R; 1 / 2%:R; - (1 / 3%:R); - (1 / 3%:R); - (1 / 2%:R)] x.
Definition multipliers (x y : 'I_5) : R :=
  if (x, y) \in [:: (a, c); (a, d)] then 1 / 3%:R else
  if (x, y) == (b, q) then 1 / 2%:R else 0.

Lemma best_margin x y : gt5 x y ->
  best x - best y = if (x, y) == (a, q) then 7%:R / 6%:R else 1.
Proof. by rewrite gt5E !inE => /or4P [] /eqP [-> ->]; rewrite /best /=; numbers. Qed.

Lemma best_feasible : feasible gt5 best.
Proof.
move=> x y /best_margin ->; case: ifP => // _.
by rewrite ler_pdivl_mulr ?ltr0n // mul1r ler_nat.
Qed.

Lemma best_certificate : certificate gt5 best multipliers.
Proof.
split=> [x y|x y|x].
- by rewrite /multipliers; case: ifP => _; last case: ifP => _; rewrite ?divr_ge0 ?ler01 ?ler0n.
- have some : multipliers x y != 0 -> (x, y) \in [:: (a, c); (a, d); (b, q)].
    by move: x y; do 2 each; rewrite /multipliers /= ?eqxx.
  move/some => xy; have gt : gt5 x y by rewrite gt5E; move: xy; rewrite !inE => /or3P [] ->;
    rewrite ?orbT.
  by split=> //; rewrite (best_margin gt); move: xy; rewrite !inE => /or3P [] /eqP [-> ->].
rewrite !big_ord_recl !big_ord0 /multipliers /best.
by move: x; each => /=; numbers.
Qed.

Theorem five_optimum : solves_uniquely gt5 best.
Proof. exact: certificate_solves best_feasible best_certificate. Qed.

Theorem five_norms :
  norm2 best = 7%:R / 6%:R /\ norm2 (@closed_form R _ gt5) = 6%:R / 5%:R.
Proof.
split; first by rewrite /norm2 /dot !big_ord_recl big_ord0 /best /=; numbers.
by rewrite (closed_form_norm2 R clear5) !cards5.1 !cards5.2 -natrM -natrD.
Qed.

Lemma column_q W : solves3 next five_tokens W -> W q =1 best.
Proof.
by move/columns=> sol; apply: (@uniqueness R _ gt5) (sol q); case: five_optimum.
Qed.

(* Both propositions fail: a has to score 2/3, and the closed form says 3/5; the margin of a over q
   is 7/6, and Proposition 4 says 1. *)
Theorem proposition_2_refuted : ~ proposition_2 R.
Proof.
move=> claim; have [W [sol _]] := one_solution R five_assumption_1.
have [/(_ _) at_a _ _] := claim _ _ _ five_assumption_1 W sol q a.
have Wq := column_q sol.
have := at_a; rewrite -/gt5 opts5 !inE eqxx => /(_ isT).
rewrite -opts5 cards5.1 cards5.2 Wq /best /= => /eqP.
rewrite -natrD eqr_div ?pnatr_eq0 // -!natrM eqr_nat. done.
Qed.

Theorem margins_refuted : ~ forall (V : finType) n data, assumption_1 n (samples data) ->
  @margins_one R V n data.
Proof.
move=> claim; have [W [sol _]] := one_solution R five_assumption_1.
have aq : gt5 a q by rewrite gt5E.
have := claim _ _ _ five_assumption_1 W sol q a q (aboveP _ _ _ _ _ aq).
rewrite !(column_q sol) (best_margin aq) eqxx => one.
by have := ltxx (1 : R); rewrite -{2}one ltr_pdivl_mulr ?ltr0n // mul1r ltr_nat.
Qed.

Theorem proposition_4_refuted : ~ proposition_4 R.
Proof. by move=> claim; apply: margins_refuted => V n data /claim []. Qed.

(* (16): where all slopes vanish, the multiplier of a > q is -1/5. *)
Theorem equation_16_refuted : ~ equation_16 R.
Proof.
move=> claim; have [l [l0 _ flat]] := claim _ _ _ five_assumption_1 q.
suff neg : l a q * 5%:R + 1 = 0.
  have : 0 < l a q * 5%:R + 1 by rewrite ltr_spaddr ?mulr_ge0 ?ltr01 ?ler0n.
  by rewrite neg ltxx.
have pair x y : gt5 x y -> row gt5 l x + col gt5 l y - 1 = 0.
  move=> /(flat x y) zero; apply: (mulfI (_ : 2%:R != 0)); first by rewrite pnatr_eq0.
  rewrite mulr0 -[RHS](subrr (slope gt5 l x y)) {1}zero sub0r /slope.
  by move: (row _ _ _) (col _ _ _) => r s; named R; ring.
have sum f : \sum_(y : 'I_5) f y = f a + (f b + (f c + (f d + f q))) :> R.
  rewrite !big_ord_recl big_ord0 addr0.
  by congr (f _ + (f _ + (f _ + (f _ + f _)))); apply: val_inj.
have e1 := pair a c (gt5E a c); have e2 := pair a d (gt5E a d).
have e3 := pair a q (gt5E a q); have e4 := pair b q (gt5E b q).
have rowE x : row gt5 l x = \sum_y (if gt5 x y then l x y else 0) by rewrite -big_mkcond.
have colE y : col gt5 l y = \sum_x (if gt5 x y then l x y else 0) by rewrite -big_mkcond.
rewrite !rowE !colE !sum !gt5E /= ?add0r ?addr0 in e1 e2 e3 e4.
move: e1 e2 e3 e4; move: (l a c) (l a d) (l a q) (l b q) => A B C D e1 e2 e3 e4.
have five : 5%:R = 1 + (1 + 1) + (1 + 1) :> R by rewrite -three -two -natrD.
rewrite -[RHS](_ : 6%:R * (A + (B + C) + (C + D) - 1) - 2%:R * (A + (B + C) + A - 1)
  - 2%:R * (A + (B + C) + B - 1) - 3%:R * (D + (C + D) - 1) = 0).
  by rewrite five six three; named R; ring.
by rewrite e1 e2 e3 e4 !mulr0 !subr0.
Qed.
End Scores.
