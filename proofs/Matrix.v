(* The max-margin attention matrix: equation (3) is solved column by column, which is (15); it has
   one and only one solution (12); and what Propositions 2 and 4 say of it.
   Page: huang2024_s6_max_margin; labels huang2024-eq-15, huang2024-eq-12. *)
From mathcomp Require Import all_ssreflect all_algebra.
From Companion Require Import Orders PrefixClosure MaxMargin Hall BlockForm Existence Frobenius.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Section Matrix.
Variables (R : realFieldType) (V : finType) (n : V -> V) (data : seq (seq V * V)).
Implicit Types (W : V -> V -> R) (q x y : V).
(* [W q x] is the score of the token x under the query q, the entry x' W q of the matrix. *)
Notation order q := (aboveb n data q).

(* The constraints of (3): in every sample, for every position i whose token is mapped to the next
   token and every position j whose token is not. *)
Definition feasible3 W : Prop := forall s q z i j, samples data (rcons s q) z ->
  (i < size (rcons s q))%N -> (j < size (rcons s q))%N ->
  n (nth q (rcons s q) i) = z -> n (nth q (rcons s q) j) <> z ->
  1 <= W q (nth q (rcons s q) i) - W q (nth q (rcons s q) j).

Definition solves3 W : Prop :=
  feasible3 W /\ forall W', feasible3 W' -> Norm2 W <= Norm2 W'.

Lemma feasible3P W : feasible3 W <-> forall q, feasible (order q) (W q).
Proof.
split=> [feas q x y /aboveP [s [z [D x_s y_s nx ny]]]|feas s q z i j D i_s j_s ni nj].
  have := feas s q z (index x (rcons s q)) (index y (rcons s q)) D.
  by rewrite !index_mem !nth_index //; apply.
by apply/feas/aboveP; exists s, z; split=> //; apply: mem_nth.
Qed.

(* (3) is (15) for every query. *)
Theorem columns W : solves3 W <-> forall q, solves (order q) (W q).
Proof.
split=> [[/feasible3P feas best] q|sol]; last first.
  split=> [|W' /feasible3P feas']; first by apply/feasible3P => q; case: (sol q).
  by apply: ler_sum => q _; apply: (sol q).2.
split=> // w feas_w; pose W' p := if p == q then w else W p.
have /best : feasible3 W' by apply/feasible3P => p; rewrite /W'; case: eqP => [->|].
have sumE W2 : Norm2 W2 = \sum_p norm2 (W2 p) by [].
rewrite !sumE (bigD1 q) //= [X in _ <= X](bigD1 q) //= {1}/W' eqxx.
have -> : \sum_(p | p != q) norm2 (W' p) = \sum_(p | p != q) norm2 (W p).
  by apply: eq_bigr => p /negbTE ne; rewrite /W' ne.
by rewrite ler_add2r.
Qed.

Hypothesis asm1 : assumption_1 n (samples data).

Lemma unconfused_order q : unconfused (order q).
Proof.
case: asm1 => _ _ clear x /optsP [y /aboveP xy]; apply/nonsP => -[z /aboveP zx].
by apply: (clear q x); split; [exists z | exists y].
Qed.

Lemma optimal_opts q x : optimal n (samples data) q x <-> x \in opts (order q).
Proof.
split=> [[_ [y xy]]|/optsP [y /aboveP xy]]; first by apply/optsP; exists y; apply/aboveP.
case: asm1 => _ _ clear; split; last by exists y.
by case=> z zx; apply: (clear q x); split; [exists z | exists y].
Qed.

Lemma nonoptimal_nons q x : plays n (samples data) q x Nonoptimal <-> x \in nons (order q).
Proof.
split=> [[[y yx] _]|/nonsP [y /aboveP yx]]; first by apply/nonsP; exists y; apply/aboveP.
case: asm1 => _ _ clear; split; first by exists y.
by case=> z xz; apply: (clear q x); split; [exists y | exists z].
Qed.

Theorem one_solution : exists W, solves3 W /\ forall W', solves3 W' -> forall q, W' q =1 W q.
Proof.
have sol q : exists w : {ffun V -> R}, solves (order q) w.
  have [w [feas best]] := existence R (@unconfused_order q); exists [ffun x => w x].
  have same : norm2 [ffun x => w x] = norm2 w by apply: eq_bigr => x _; rewrite ffunE.
  by split=> [x y xy|w' /best]; rewrite ?ffunE ?same //; apply: feas.
have [W solW] := fin_all_exists sol.
exists (fun q => W q); split; first by apply/columns.
by move=> W' /columns solW' q; apply: uniqueness.
Qed.

(* (12): every other matrix that is no longer breaks a constraint. *)
Theorem shorter_breaks W W' : solves3 W -> Norm2 W' <= Norm2 W ->
  ~ (forall q, W' q =1 W q) -> ~ feasible3 W'.
Proof.
move=> sol short other feas'; apply: other.
suff /columns sol' : solves3 W' by move=> q; move/columns: sol => sol; apply: uniqueness.
by split=> // W2 /(sol.2) best; apply: le_trans best.
Qed.
End Matrix.

(* Proposition 2 and Proposition 4, as printed and with prefix closure among the hypotheses. *)
Section Statements.
Variables (R : realFieldType) (V : finType) (n : V -> V) (data : seq (seq V * V)).
Definition closed_form_holds : Prop := forall W : V -> V -> R, solves3 n data W -> forall q x,
  let O := opts (aboveb n data q) in
  let N := nons (aboveb n data q) in
  [/\ x \in O -> W q x = #|N|%:R / (#|O|%:R + #|N|%:R),
      x \in N -> W q x = - (#|O|%:R / (#|O|%:R + #|N|%:R)) &
      x \notin O -> x \notin N -> W q x = 0].
Definition margins_one : Prop := forall W : V -> V -> R, solves3 n data W -> forall q x y,
  above n (samples data) q x y -> W q x - W q y = 1.
Definition others_alike : Prop := forall W : V -> V -> R, solves3 n data W ->
  forall s q z x y, samples data (rcons s q) z -> x \in rcons s q -> y \in rcons s q ->
  n x <> z -> n y <> z -> W q x = W q y.
End Statements.

Definition proposition_2 (R : realFieldType) : Prop :=
  forall (V : finType) n data, assumption_1 n (samples data) -> @closed_form_holds R V n data.
Definition proposition_4 (R : realFieldType) : Prop :=
  forall (V : finType) n data, assumption_1 n (samples data) ->
  [/\ @closed_form_holds R V n data, @margins_one R V n data & @others_alike R V n data].

(* The part on non-comparable tokens is right in general. *)
Theorem noncomparable_zero (R : realFieldType) (V : finType) n data (W : V -> V -> R) q x :
  solves3 n data W -> plays n (samples data) q x Noncomparable -> W q x = 0.
Proof.
move=> /columns sol [not_beaten not_beats]; apply: not_compared (sol q) _ _.
  by apply/optsP => -[y /aboveP xy]; apply: not_beats; exists y.
by apply/nonsP => -[y /aboveP yx]; apply: not_beaten; exists y.
Qed.

(* With prefix closure both propositions are true. *)
Lemma closed_complete (V : finType) n (data : seq (seq V * V)) q :
  assumption_1 n (samples data) -> closure (samples data) -> complete (aboveb n data q).
Proof.
move=> asm1 closed; case: (asm1) => n_inj src unconf; apply: one_opt_complete => x y.
by move=> /(optimal_opts asm1) ox /(optimal_opts asm1); apply: one_optimal_token ox.
Qed.

Theorem closed_data (R : realFieldType) (V : finType) n data :
  assumption_1 n (samples data) -> closure (samples data) ->
  [/\ @closed_form_holds R V n data, @margins_one R V n data & @others_alike R V n data].
Proof.
move=> asm1 closed; have clear q := unconfused_order (q := q) asm1.
have right W q : @solves3 R V n data W -> W q =1 @closed_form R V (aboveb n data q).
  move=> /columns sol; apply: uniqueness (sol q).
  exact: (complete_solves R (clear q) (closed_complete asm1 closed)).1.
have form : @closed_form_holds R V n data.
  move=> W sol q x; rewrite ?[W q x]right //=.
  split=> [xo|xn|/negbTE xo /negbTE xn]; rewrite /closed_form.
  - by rewrite xo.
  - by rewrite (negbTE (nons_opts (@clear q) xn)) xn.
  - by rewrite xo xn.
split=> // [W sol q x y /aboveP xy|W sol s q z x y Dz xs ys nx ny].
  by rewrite !right // closed_form_tight.
have [_ /(_ _ _ Dz) [o os zo] _] := asm1.
have low v : v \in rcons s q -> n v <> z -> v \in nons (aboveb n data q).
  by move=> vs nv; apply: (@gt_nons _ _ o); apply/aboveP; exists s, z.
have [_ Wx _] := form W sol q x; have [_ Wy _] := form W sol q y.
by rewrite Wx ?Wy //; apply: low.
Qed.
