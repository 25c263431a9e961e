(* Stage 1 of Algorithm 1: the max-margin problem (2), the law of stage 1, and what follows from it.
   Pages: huang2024_s6_max_margin for (2), huang2024_s5_stage1 for the rest. *)
From Coq Require Import Ring Field.
From mathcomp Require Import all_ssreflect all_algebra.
From Companion Require Import Fields MaxMargin Frobenius.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Section Problem2.
Variables (R : realFieldType) (V : finType) (n : V -> V).
Implicit Types (x v : V) (W : V -> V -> R).
Add Field scores : (is_field R).
Ltac calc := named R; ring.
Let size : R := #|V|%:R.

(* A matrix by its columns: [W x v] is the logit of v after the token x, the entry e_v' W x.
   (2): the next token leads every other one by one. *)
Definition feasible2 W : Prop := forall x v, v != n x -> 1 <= W x (n x) - W x v.
Definition solves2 W : Prop := feasible2 W /\ forall W', feasible2 W' -> Norm2 W <= Norm2 W'.

(* The solution: the next token less the mean of all tokens. *)
Definition W_star x v : R := (v == n x)%:R - 1 / size.

Lemma size_gt0 x : 0 < size.
Proof. by rewrite ltr0n; apply/card_gt0P; exists x. Qed.

Lemma size_pred x : #|V|.-1%:R = size - 1.
Proof.
have := size_gt0 x; rewrite ltr0n => pos.
by rewrite /size -{2}(prednK pos) -addn1 natrD addrK.
Qed.

Lemma W_star_margin x v : v != n x -> W_star x (n x) - W_star x v = 1.
Proof. by move=> /negbTE ne; rewrite /W_star eqxx ne opprB addrA subrK subr0. Qed.

(* The inner product with a matrix is the mean of its margins, column by column. *)
Lemma dot_W_star x (f : V -> R) :
  dot (W_star x) f = 1 / size * \sum_(v | v != n x) (f (n x) - f v).
Proof.
have /lt0r_neq0 s0 := size_gt0 x; rewrite sumrB sumr_const -[#|_|]/#|predC1 (n x)| cardC1.
rewrite -mulr_natl (size_pred x) /dot (bigD1 (n x)) //= {1}/W_star eqxx mulr1n.
have -> : \sum_(v | v != n x) W_star x v * f v = - (1 / size) * \sum_(v | v != n x) f v.
  by rewrite mulr_sumr; apply: eq_bigr => v /negbTE ne; rewrite /W_star ne sub0r.
by move/eqP: s0; move: size (\sum_(v | _) _) (f _) => a b c a0; named R; field.
Qed.

Lemma W_star_feasible : feasible2 W_star.
Proof. by move=> x v /W_star_margin ->. Qed.

(* Column x of (2) is a problem (15), in which n(x) lies above all other tokens. *)
Definition leads x : rel V := fun v v' => (v == n x) && (v' != n x).

Lemma column x : solves_uniquely (leads x) (W_star x).
Proof.
apply: stationary_solves => [v v' /andP [/eqP -> /W_star_feasible //]|w feas_w].
rewrite dot_W_star; apply: mulr_ge0; first by rewrite divr_ge0 ?ler01 ?ler0n.
apply: sumr_ge0 => v ne.
have -> : w (n x) - W_star x (n x) - (w v - W_star x v) =
  w (n x) - w v - (W_star x (n x) - W_star x v) by calc.
by rewrite W_star_margin // subr_ge0; apply: feas_w; rewrite /leads eqxx ne.
Qed.

Theorem W_star_optimal : solves2 W_star.
Proof.
split=> [|W margins]; first exact: W_star_feasible.
apply: ler_sum => x _; apply: (column x).1.2 => v v' /andP [/eqP -> ne]; exact: margins.
Qed.

Theorem W_star_unique W : solves2 W -> forall x, W x =1 W_star x.
Proof.
move=> [feas best] x; pose W' y := if y == x then W_star x else W y.
have /best : feasible2 W'.
  move=> y v ne; rewrite /W'; case: eqP => [e|_]; last exact: feas.
  by subst y; apply: W_star_feasible.
rewrite /Norm2 /inner (bigD1 x) //= [leRHS](bigD1 x) //= {1 2}/W' eqxx.
rewrite [X in _ <= _ + X](eq_bigr (fun y => dot (W y) (W y))) => [|y /negbTE ne]; last first.
  by rewrite /W' ne.
rewrite ler_add2r; apply: (column x).2 => v v' /andP [/eqP -> ne]; exact: feas.
Qed.

Theorem W_star_norm2 (x0 : V) : Norm2 W_star = size - 1.
Proof.
have /lt0r_neq0 s0 := size_gt0 x0.
rewrite /Norm2 /inner (eq_bigr (fun=> (size - 1) / size)) => [|x _].
  by rewrite sumr_const -mulr_natl mulrCA divff ?mulr1.
rewrite dot_W_star (eq_bigr (fun=> 1)) => [|v]; last exact: W_star_margin.
by rewrite sumr_const -[#|_|]/#|predC1 (n x)| cardC1 (size_pred x) mul1r mulrC.
Qed.
End Problem2.
