(* Training data, the orders of Definition 1, the roles of tokens, Assumption 1.
   Pages: huang2024_s4_realizable; huang2024_s4_prefix_closure for the last two hypotheses. *)
From mathcomp Require Import all_ssreflect.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Section Definitions.
(* V is the vocabulary, finite or not; n is the collocation; [D s z] says that the data hold the
   sentence s with the next token z. A sentence that ends in the query q is [rcons s q]. *)
Variables (V : eqType) (n : V -> V) (D : seq V -> V -> Prop).
Implicit Types (q x y z : V) (s t : seq V).

(* Definition 1: x lies above y under the query q. *)
Definition above q x y : Prop := exists s z,
  [/\ D (rcons s q) z, x \in rcons s q, y \in rcons s q, n x = z & n y <> z].

(* The four roles, with the words that the book adds. *)
Inductive role := Optimal | Nonoptimal | Confused | Noncomparable.
Definition plays q x (r : role) : Prop :=
  let beaten := exists y, above q y x in
  let beats := exists y, above q x y in
  match r with
  | Optimal => ~ beaten /\ beats
  | Nonoptimal => beaten /\ ~ beats
  | Confused => beaten /\ beats
  | Noncomparable => ~ beaten /\ ~ beats
  end.
Definition optimal q x : Prop := plays q x Optimal.
Definition confused q x : Prop := plays q x Confused.

(* The same roles by the letter of the paper. *)
Definition printed q x (r : role) : Prop :=
  let beaten := exists y, above q y x in
  let beats := exists y, above q x y in
  match r with
  | Optimal => ~ beaten
  | Nonoptimal => ~ beats
  | Confused => beaten /\ beats
  | Noncomparable => ~ beaten /\ ~ beats
  end.

(* (source): the next token of a sentence is n of one of its tokens. *)
Definition source : Prop := forall s z, D s z -> exists2 o, o \in s & z = n o.

(* Assumption 1, with the condition that the paper uses silently. *)
Definition assumption_1 : Prop :=
  [/\ injective n, source & forall q x, ~ confused q x].

(* (closure): a sentence is there with its beginnings, each followed by what came next. *)
Definition closure : Prop :=
  forall s x t z, s != [::] -> D (s ++ x :: t) z -> D s x.

(* The next token decides a comparison; so nothing lies above itself, and where no token is
   confused nothing can fail to be transitive. *)
Theorem above_irreflexive q x : ~ above q x x.
Proof. by case=> s [z [_ _ _ nx]] []. Qed.

Theorem above_transitive q x y z : (forall u, ~ confused q u) ->
  above q x y -> above q y z -> above q x z.
Proof. by move=> clear xy yz; case: (clear y); split; [exists x | exists z]. Qed.

Section Deciding.
Hypotheses (n_inj : injective n) (src : source).
Variable q : V.
Hypothesis clear : forall x, ~ confused q x.

(* The token that decides a sentence lies above all its other tokens. *)
Lemma decider_above s a y : D (rcons s q) (n a) -> a \in rcons s q -> y \in rcons s q ->
  a <> y -> above q a y.
Proof. by move=> Da a_s y_s ay; exists s, (n a); split=> // /n_inj /esym. Qed.

Lemma decider_optimal s a y : D (rcons s q) (n a) -> a \in rcons s q -> y \in rcons s q ->
  a <> y -> optimal q a.
Proof.
move=> Da a_s y_s ay; have up := decider_above Da a_s y_s ay.
by split; [move=> beaten; apply: (@clear a); split; last exists y | exists y].
Qed.

(* Nothing lies above an optimal token; so in a sentence that holds one, it decides. *)
Lemma optimal_decides s a b : D (rcons s q) (n a) -> a \in rcons s q -> b \in rcons s q ->
  optimal q b -> a = b.
Proof.
move=> Da a_s b_s [top _]; apply/eqP/negPn/negP => /eqP ab; case: top.
by exists a; apply: decider_above Da a_s b_s ab.
Qed.

(* Collocation and orders give back the next tokens. A sentence of one token (repeated or not) is
   followed by n of it; any other sentence holds exactly one optimal token, followed by n of it. *)
Theorem regenerate s z : D (rcons s q) z ->
  (forall x, x \in rcons s q -> x = q) /\ z = n q \/
  exists x, [/\ x \in rcons s q, optimal q x, z = n x &
                forall x', x' \in rcons s q -> optimal q x' -> x' = x].
Proof.
move=> Dz; have [a a_s za] := src Dz; rewrite za in Dz *.
have [one|/allPn [y y_s ay]] := boolP (all (pred1 a) (rcons s q)).
  have q_a : q = a by apply/eqP/(allP one); rewrite mem_rcons mem_head.
  by left; split=> [x /(allP one) /eqP|]; rewrite q_a.
right; exists a; have neq : a <> y by apply/eqP; rewrite eq_sym.
split=> // [|x x_s opt]; first exact: decider_optimal Dz a_s y_s neq.
exact/esym/(optimal_decides Dz a_s x_s opt).
Qed.
End Deciding.

(* Sentences of length two, a token with its next one: if every token starts a sentence, those of
   prefix-closed data are the collocation and nothing else. *)
Theorem length_two : source -> closure -> (forall x, exists t z, D (x :: t) z) ->
  forall x z, D [:: x] z <-> z = n x.
Proof.
move=> src closed starts x.
have follows z : D [:: x] z -> z = n x by case/src=> o; rewrite inE => /eqP ->.
have [y Dy] : exists y, D [:: x] y.
  have [[|y t] [z Dz]] := starts x; first by exists z.
  by exists y; apply: (closed [:: x] y t z).
by move=> z; split=> [/follows //|->]; rewrite -(follows y Dy).
Qed.
End Definitions.

(* A finite data set, as a list of sentences with their next tokens; and the same notions as tests
   that can be run. The tests of the project run them beside ntpcore. *)
Section Finite.
Variables (V : eqType) (n : V -> V) (data : seq (seq V * V)).
Implicit Types (q x y : V) (p : seq V * V).

Definition samples (s : seq V) (z : V) : Prop := (s, z) \in data.
Definition ends q p : bool := if p.1 is x :: s then last x s == q else false.
Definition aboveb q x y : bool :=
  has (fun p => [&& ends q p, x \in p.1, y \in p.1, n x == p.2 & n y != p.2]) data.
Definition beatsb q x : bool :=
  has (fun p => [&& ends q p, x \in p.1, n x == p.2 & has (fun y => n y != p.2) p.1]) data.
Definition beatenb q x : bool :=
  has (fun p => [&& ends q p, x \in p.1, n x != p.2 & has (fun y => n y == p.2) p.1]) data.
Definition role_of q x : role :=
  match beatenb q x, beatsb q x with
  | false, true => Optimal
  | true, false => Nonoptimal
  | true, true => Confused
  | false, false => Noncomparable
  end.

Lemma endsP q p : reflect (exists s, p.1 = rcons s q) (ends q p).
Proof.
rewrite /ends; case: p => -[|x s] z /=; first by constructor=> -[[]].
apply: (iffP eqP) => [<-|[t e]]; first by exists (belast x s); rewrite -lastI.
by move: (congr1 (last x) e); rewrite last_rcons.
Qed.

Theorem aboveP q x y : reflect (above n samples q x y) (aboveb q x y).
Proof.
apply: (iffP hasP) => [[[r z] /= D /and5P [/endsP [s /= e] x_s y_s]]|[s [z [D x_s y_s nx ny]]]].
  by move=> /eqP nx /eqP ny; subst r; exists s, z.
exists (rcons s q, z) => //=.
by apply/and5P; split=> //; [apply/endsP; exists s | apply/eqP | apply/eqP].
Qed.

Lemma beatsP q x : reflect (exists y, above n samples q x y) (beatsb q x).
Proof.
apply: (iffP hasP) => [[p D /and4P [p_q x_p nx /hasP [y y_p ny]]]|[y /aboveP /hasP [p D]]].
  by exists y; apply/aboveP/hasP; exists p; rewrite ?p_q ?x_p ?y_p ?nx.
by move=> /and5P [p_q x_p y_p nx ny]; exists p; rewrite // p_q x_p nx; apply/hasP; exists y.
Qed.

Lemma beatenP q x : reflect (exists y, above n samples q y x) (beatenb q x).
Proof.
apply: (iffP hasP) => [[p D /and4P [p_q x_p nx /hasP [y y_p ny]]]|[y /aboveP /hasP [p D]]].
  by exists y; apply/aboveP/hasP; exists p; rewrite ?p_q ?x_p ?y_p ?ny.
by move=> /and5P [p_q y_p x_p ny nx]; exists p; rewrite // p_q x_p nx; apply/hasP; exists y.
Qed.

(* Every token has exactly one of the four roles, the one that [role_of] finds. *)
Theorem one_role q x r : plays n samples q x r <-> r = role_of q x.
Proof.
rewrite /role_of; case: (beatenP q x) => [up|up]; case: (beatsP q x) => [down|down];
  by split=> [|->]; case: r => //= -[].
Qed.

(* Three categories: where no token is confused, one of the three others. *)
Theorem three_categories q x : (forall y, ~ confused n samples q y) ->
  exists r, [/\ r <> Confused, plays n samples q x r &
                forall r', plays n samples q x r' -> r' = r].
Proof.
move=> clear; exists (role_of q x); split; last by move=> r /one_role.
  by move=> e; apply: (clear x); apply/one_role.
exact/one_role.
Qed.

(* By the letter of the paper a token that is not compared has three roles. *)
Theorem printed_roles_overlap q x : plays n samples q x Noncomparable ->
  [/\ printed n samples q x Noncomparable, printed n samples q x Optimal &
      printed n samples q x Nonoptimal].
Proof. by case. Qed.
End Finite.
