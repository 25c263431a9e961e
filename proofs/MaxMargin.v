(* The max-margin problem (15) of one query: what a solution is, that there is at most one, and how
   multipliers prove one. Page: huang2024_s6_max_margin. *)
From Coq Require Import Ring Field.
From mathcomp Require Import all_ssreflect all_algebra.
From Companion Require Import Fields.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Section Problem.
(* Scores are numbers of an ordered field, say the rationals or the reals. [gt x y] says that the
   query puts the token x above the token y. *)
Variables (R : realFieldType) (T : finType) (gt : rel T).
Implicit Types (w d : T -> R) (x y : T).
Add Field scores : (is_field R).
Ltac calc := named R; ring.

Definition dot w d : R := \sum_x w x * d x.
Definition norm2 w : R := dot w w.
Definition feasible w : Prop := forall x y, gt x y -> 1 <= w x - w y.

(* (15): w is feasible and no feasible vector is shorter. *)
Definition solves w : Prop := feasible w /\ forall w', feasible w' -> norm2 w <= norm2 w'.
(* The same, and every other feasible vector is longer. *)
Definition solves_uniquely w : Prop :=
  solves w /\ forall w', feasible w' -> norm2 w' <= norm2 w -> w' =1 w.

Lemma dotD w d d' : dot w (fun x => d x + d' x) = dot w d + dot w d'.
Proof. by rewrite -big_split; apply: eq_bigr => x _; rewrite mulrDr. Qed.

Lemma dotZ w c d : dot w (fun x => c * d x) = c * dot w d.
Proof. by rewrite mulr_sumr; apply: eq_bigr => x _; rewrite mulrCA. Qed.

Lemma norm2_ge0 w : 0 <= norm2 w.
Proof. by apply: sumr_ge0 => x _; rewrite -expr2 sqr_ge0. Qed.

Lemma norm2_eq0 w : norm2 w = 0 -> forall x, w x = 0.
Proof.
move/eqP; rewrite psumr_eq0 => [/allP zero x|x _]; last by rewrite -expr2 sqr_ge0.
by have := zero x (mem_index_enum x); rewrite /= mulf_eq0 orbb => /eqP.
Qed.

(* The length of w + t d. *)
Lemma norm2_along w d t :
  norm2 (fun x => w x + t * d x) = norm2 w + t * (2%:R * dot w d + t * norm2 d).
Proof.
rewrite /norm2 /dot mulr_sumr [t * \sum_x _]mulr_sumr -big_split mulr_sumr -big_split.
by apply: eq_bigr => x _ /=; calc.
Qed.

Lemma norm2_towards w w' (d := fun x => w' x - w x) :
  norm2 w' = norm2 w + (2%:R * dot w d + norm2 d).
Proof.
have := norm2_along w d 1; rewrite !mul1r => <-.
by apply: eq_bigr => x _; rewrite /d mul1r addrC subrK.
Qed.

(* First-order condition: no way to a feasible vector begins by getting shorter. *)
Definition stationary w : Prop :=
  forall w', feasible w' -> 0 <= dot w (fun x => w' x - w x).

Lemma stationary_solves w : feasible w -> stationary w -> solves_uniquely w.
Proof.
move=> feas stat; have two0 a : 0 <= a -> 0 <= 2%:R * a :> R by move=> a0; rewrite mulr_ge0.
split=> [|w' feas'].
  split=> // w' feas'; rewrite (norm2_towards w w') ler_addl addr_ge0 ?norm2_ge0 //.
  exact/two0/stat.
rewrite (norm2_towards w w') ger_addl => le0 x; apply/eqP; rewrite -subr_eq0; apply/eqP.
apply: (@norm2_eq0 (fun x => w' x - w x)); apply: le_anti; rewrite norm2_ge0 andbT.
by apply: le_trans le0; rewrite ler_addr; apply/two0/stat.
Qed.

Lemma feasible_between w w' t : feasible w -> feasible w' -> 0 <= t -> t <= 1 ->
  feasible (fun x => w x + t * (w' x - w x)).
Proof.
move=> feas feas' t0 t1 x y xy; rewrite -subr_ge0.
have -> : w x + t * (w' x - w x) - (w y + t * (w' y - w y)) - 1 =
          (1 - t) * (w x - w y - 1) + t * (w' x - w' y - 1) by calc.
by rewrite addr_ge0 // mulr_ge0 // subr_ge0 ?feas ?feas'.
Qed.

(* With c < 0 and N >= 0, the vector gets shorter at t = - c / (N - c), as t N <= - c. *)
Lemma solves_stationary w : solves w -> stationary w.
Proof.
move=> [feas best] w' feas'; set d := fun x => _; rewrite leNgt; apply/negP => neg.
have N0 := norm2_ge0 d; have pos : 0 < norm2 d - dot w d by rewrite subr_gt0 (lt_le_trans neg).
have [t [t0 t1 tN]] : exists t, [/\ 0 < t, t <= 1 & t * norm2 d <= - dot w d].
  exists (- dot w d / (norm2 d - dot w d)).
  rewrite divr_gt0 ?oppr_gt0 // ler_pdivr_mulr // mul1r ler_addr N0; split=> //.
  rewrite mulrAC ler_pdivr_mulr // ler_pmul2l ?oppr_gt0 //.
  by rewrite ler_addl oppr_ge0 ltW.
have := best _ (feasible_between feas feas' (ltW t0) t1).
rewrite norm2_along ler_addl pmulr_rge0 // leNgt; case/negP.
apply: le_lt_trans neg; rewrite -subr_ge0.
have -> : dot w d - (2%:R * dot w d + t * norm2 d) = - dot w d - t * norm2 d.
  by move: (t * _) => a; calc.
by rewrite subr_ge0.
Qed.

Theorem solves_once w : solves w -> solves_uniquely w.
Proof. by move=> sol; apply: stationary_solves (solves_stationary sol); case: sol. Qed.

Theorem uniqueness w w' : solves w -> solves w' -> w' =1 w.
Proof.
by move=> sol [feas' best']; apply: (solves_once sol).2 => //; apply: best'; case: sol.
Qed.

(* The conditions of Karush, Kuhn and Tucker: multipliers are not negative, they are zero but on
   tight pairs, and the score of a token is their sum above minus their sum below. *)
Definition certificate w (l : T -> T -> R) : Prop :=
  [/\ forall x y, 0 <= l x y,
      forall x y, l x y != 0 -> gt x y /\ w x - w y = 1 &
      forall x, w x = \sum_y l x y - \sum_y l y x].

(* Against them, w weighs the margins of d. *)
Lemma dot_margins w l d : (forall x, w x = \sum_y l x y - \sum_y l y x) ->
  dot w d = \sum_x \sum_y l x y * (d x - d y).
Proof.
move=> sums; have -> : dot w d = \sum_x (\sum_y l x y * d x - \sum_y l y x * d x).
  by apply: eq_bigr => x _; rewrite sums mulrBl !mulr_suml.
rewrite sumrB [X in _ - X]exchange_big -sumrB; apply: eq_bigr => x _.
by rewrite -sumrB; apply: eq_bigr => y _; rewrite mulrBr.
Qed.

Theorem certificate_solves w l : feasible w -> certificate w l -> solves_uniquely w.
Proof.
move=> feas [l0 tight sums]; apply: stationary_solves => // w' feas'.
rewrite (dot_margins _ sums); apply: sumr_ge0 => x _; apply: sumr_ge0 => y _.
have [->|/tight [xy w1]] := eqVneq (l x y) 0; first by rewrite mul0r.
rewrite mulr_ge0 //; have -> : w' x - w x - (w' y - w y) = w' x - w' y - (w x - w y) by calc.
by rewrite w1 subr_ge0 feas'.
Qed.

(* Optimal and non-optimal tokens of the order, where no token is both. *)
Definition opts : {set T} := [set x | [exists y, gt x y]].
Definition nons : {set T} := [set y | [exists x, gt x y]].
Definition unconfused : Prop := forall x, x \in opts -> x \notin nons.

Lemma optsP x : reflect (exists y, gt x y) (x \in opts).
Proof. by rewrite inE; apply: existsP. Qed.
Lemma nonsP y : reflect (exists x, gt x y) (y \in nons).
Proof. by rewrite inE; apply: existsP. Qed.
Lemma gt_opts x y : gt x y -> x \in opts.
Proof. by move=> xy; apply/optsP; exists y. Qed.
Lemma gt_nons x y : gt x y -> y \in nons.
Proof. by move=> xy; apply/nonsP; exists x. Qed.
Lemma nons_opts y : unconfused -> y \in nons -> y \notin opts.
Proof. by move=> clear y_n; apply/negP => /clear; rewrite y_n. Qed.
End Problem.
