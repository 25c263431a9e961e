(* (14): an orthogonal matrix that takes the tokens to other vectors, say to basis vectors, takes the
   solution of the max-margin problem to the solution of the problem for those vectors.
   Page: huang2024_s6_max_margin, label huang2024-eq-14. *)
From mathcomp Require Import all_ssreflect all_algebra.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Section Rotation.
Variables (R : realFieldType) (d : nat) (V : Type).
Implicit Types (W U : 'M[R]_d) (token : V -> 'cV[R]_d) (q x y : V).
(* [compares q x y]: some sample that ends in q has the optimal token x and the other token y. *)
Variable compares : V -> V -> V -> Prop.

Definition score token W q x : R := ((token x)^T *m W *m token q) 0 0.
Definition norm2 W : R := \tr (W^T *m W).
Definition feasible token W : Prop := forall q x y, compares q x y ->
  1 <= score token W q x - score token W q y.
Definition solves token W : Prop :=
  feasible token W /\ forall W', feasible token W' -> norm2 W <= norm2 W'.

Variable U : 'M[R]_d.
Hypothesis orthogonal : U^T *m U = 1%:M.
Variable token : V -> 'cV[R]_d.
Definition rotated x : 'cV[R]_d := U *m token x.
Definition turn W : 'M[R]_d := U *m W *m U^T.
Definition back W : 'M[R]_d := U^T *m W *m U.

Lemma orthogonal' : U *m U^T = 1%:M.
Proof. exact: mulmx1C orthogonal. Qed.

Lemma turnK W : back (turn W) = W.
Proof.
by rewrite /back /turn !mulmxA orthogonal mul1mx -mulmxA orthogonal mulmx1.
Qed.
Lemma backK W : turn (back W) = W.
Proof.
by rewrite /back /turn !mulmxA orthogonal' mul1mx -mulmxA orthogonal' mulmx1.
Qed.

Lemma score_turn W q x : score rotated (turn W) q x = score token W q x.
Proof.
rewrite /score /rotated /turn trmx_mul -!mulmxA [U^T *m (U *m token q)]mulmxA orthogonal mul1mx.
by rewrite [U^T *m (U *m _)]mulmxA orthogonal mul1mx.
Qed.

Lemma norm2_turn W : norm2 (turn W) = norm2 W.
Proof.
rewrite /norm2 /turn !trmx_mul trmxK -!mulmxA [U^T *m (U *m _)]mulmxA orthogonal mul1mx.
by rewrite mxtrace_mulC -!mulmxA orthogonal mulmx1.
Qed.

Lemma feasible_turn W : feasible rotated (turn W) <-> feasible token W.
Proof. by split=> feas q x y /feas; rewrite !score_turn. Qed.

Theorem equation_14 W : solves token W <-> solves rotated (turn W).
Proof.
split=> -[feas best]; split.
- exact: (proj2 (feasible_turn W) feas).
- move=> W'; rewrite -(backK W') => /(proj1 (feasible_turn (back W'))) /best.
  by rewrite !norm2_turn.
- exact: (proj1 (feasible_turn W) feas).
by move=> W' /(proj2 (feasible_turn W')) /best; rewrite !norm2_turn.
Qed.
End Rotation.
