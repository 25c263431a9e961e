(* Two inequalities behind the rate of stage 2: the harmonic inequality over a bipartite order, and
   the pointwise inequality of the descent lemma.

   A token here is a pair of a query and a token, so that one order holds the pairs of all queries
   and a vector w is a matrix; T may be any finite type. *)
From Coq Require Import Ring Field.
From mathcomp Require Import all_ssreflect all_algebra.
From Companion Require Import Fields MaxMargin.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Section Harmonic.
Variables (R : realFieldType) (T : finType) (gt : rel T) (p : T -> T -> R).
Hypotheses (clear : unconfused gt) (p_ge0 : forall x y, 0 <= p x y).
Hypothesis on_pairs : forall x y, ~~ gt x y -> p x y = 0.
Implicit Types (w : T -> R) (x y : T).
Add Field scores : (is_field R).
Ltac calc := named R; ring.

(* The vector B' p, each pair pulling its two tokens apart by its weight, and G = B B' p, its
   margins. *)
Definition pull x : R := \sum_y p x y - \sum_y p y x.
Definition G x y : R := pull x - pull y.

Let above x : R := \sum_y p x y.
Let under y : R := \sum_x p x y.

Lemma above_ge0 x : 0 <= above x. Proof. by apply: sumr_ge0. Qed.
Lemma under_ge0 y : 0 <= under y. Proof. by apply: sumr_ge0. Qed.

Lemma pull_opts x : x \in opts gt -> pull x = above x.
Proof.
move=> xo; rewrite /pull [X in _ - X]big1 ?subr0 // => y _; apply: on_pairs.
by apply: contra (clear xo); apply: gt_nons.
Qed.
Lemma pull_nons y : y \in nons gt -> pull y = - under y.
Proof.
move=> yn; rewrite /pull [X in X - _]big1 ?sub0r // => x _; apply: on_pairs.
by apply: contra (nons_opts clear yn); apply: gt_opts.
Qed.

Lemma GE x y : gt x y -> G x y = above x + under y.
Proof. by move=> xy; rewrite /G (pull_opts (gt_opts xy)) (pull_nons (gt_nons xy)) opprK. Qed.

(* One pair, by Cauchy. It needs no sign of the scores. *)
Lemma one_pair (a b u v : R) : 0 < a -> 0 < b -> 1 <= u - v ->
  1 / (a + b) <= u ^+ 2 / a + v ^+ 2 / b.
Proof.
move=> a0 b0 uv; have ab := addr_gt0 a0 b0; rewrite ler_pdivr_mulr // -subr_ge0.
have -> : (u ^+ 2 / a + v ^+ 2 / b) * (a + b) - 1 =
    (u * b + v * a) ^+ 2 / (a * b) + ((u - v) ^+ 2 - 1).
  move: a0 b0 => /lt0r_neq0 /eqP a0 /lt0r_neq0 /eqP b0.
  by named R; field.
apply: addr_ge0; first by rewrite divr_ge0 ?sqr_ge0 // mulr_ge0 ?ltW.
by rewrite subr_ge0 exprn_ege1.
Qed.

(* Lemma H, for every feasible vector, of which the shortest is the max-margin solution. *)
Theorem harmonic w : feasible gt w ->
  \sum_x \sum_(y | p x y != 0) p x y / G x y <= norm2 w.
Proof.
move=> feas; have share_up x y : p x y != 0 -> 0 < above x.
  move=> pxy; rewrite /above (bigD1 y) //= ltr_paddr ?lt_neqAle 1?eq_sym ?pxy ?p_ge0 //.
  by apply: sumr_ge0.
have share_low x y : p x y != 0 -> 0 < under y.
  move=> pxy; rewrite /under (bigD1 x) //= ltr_paddr ?lt_neqAle 1?eq_sym ?pxy ?p_ge0 //.
  by apply: sumr_ge0.
have term x y : (if p x y != 0 then p x y / G x y else 0) <=
    w x ^+ 2 * (p x y / above x) + w y ^+ 2 * (p x y / under y).
  case: (eqVneq (p x y) 0) => [->|pxy] /=; first by rewrite !mul0r !mulr0 addr0.
  have xy : gt x y by apply: contraNT pxy => /on_pairs ->.
  have := one_pair (share_up _ _ pxy) (share_low _ _ pxy) (feas x y xy).
  move=> /(ler_wpmul2l (p_ge0 x y)); rewrite GE // mul1r => le; apply: le_trans le _.
  by rewrite le_eqVlt; apply/orP; left; apply/eqP; calc.
have -> : \sum_x \sum_(y | p x y != 0) p x y / G x y =
    \sum_x \sum_y (if p x y != 0 then p x y / G x y else 0).
  by apply: eq_bigr => x _; rewrite big_mkcond.
apply: le_trans (_ : \sum_x \sum_y (w x ^+ 2 * (p x y / above x) + w y ^+ 2 * (p x y / under y))
  <= _); first by apply: ler_sum => x _; apply: ler_sum => y _.
have -> : \sum_x \sum_y (w x ^+ 2 * (p x y / above x) + w y ^+ 2 * (p x y / under y)) =
    \sum_x w x ^+ 2 * (above x / above x) + \sum_y w y ^+ 2 * (under y / under y).
  rewrite [X in _ = _ + X](_ : _ = \sum_x \sum_y w y ^+ 2 * (p x y / under y)).
    rewrite -big_split; apply: eq_bigr => x _; rewrite big_split; congr (_ + _).
    by rewrite {1}/above mulr_suml mulr_sumr.
  rewrite exchange_big; apply: eq_bigr => y _ /=.
  by rewrite {1}/under mulr_suml mulr_sumr.
rewrite -big_split; apply: ler_sum => x _ /=; rewrite -expr2 -mulrDr -[leRHS]mulr1.
apply: ler_wpmul2l; first exact: sqr_ge0.
have le1 (b : R) : b / b <= 1.
  by have [->|b0] := eqVneq b 0; rewrite ?mul0r ?ler01 // divff.
have [xo|xo] := boolP (x \in opts gt).
  rewrite [under x](_ : _ = 0) ?mul0r ?addr0 // /under big1 // => y _; apply: on_pairs.
  by apply: contra (clear xo); apply: gt_nons.
rewrite [above x](_ : _ = 0) ?mul0r ?add0r // /above big1 // => y _; apply: on_pairs.
by apply: contra xo; apply: gt_opts.
Qed.
End Harmonic.

(* Equality at the multipliers of the solution (scaled to any total). *)
Theorem harmonic_equality (R : realFieldType) (T : finType) (gt : rel T) (w : T -> R) l :
  unconfused gt -> certificate gt w l ->
  \sum_x \sum_(y | l x y != 0) l x y / G l x y = norm2 w.
Proof.
move=> clear [_ tight sums]; rewrite /norm2 (dot_margins w sums); apply: eq_bigr => x _.
rewrite big_mkcond; apply: eq_bigr => y _; have [->|/tight [xy w1]] /= := eqVneq (l x y) 0.
  by rewrite mul0r.
by rewrite /G /pull -!sums w1 divr1 mulr1.
Qed.

(* Lemma D, pointwise: z is G / gamma^2 - 1, S the squared norm, t the step by the norm. *)
Section Pointwise.
Variable R : realFieldType.
Add Field scores2 : (is_field R).

Theorem pointwise (z t S : R) (c := (1 - t) / (1 - t + 2%:R * t * S)) :
  -1 < z -> z <= 2%:R * S - 1 -> 1 / 2%:R <= S -> 0 < t -> t <= 1 ->
  c * z + (1 - c) * (z / (1 + z)) <= z / (1 + t * z).
Proof.
move=> z1 zS S2 t0 t1; have two : 0 < 2%:R :> R by rewrite ltr0n.
have z0 : 0 < 1 + z by rewrite -ltr_subl_addl sub0r.
have S0 : 0 < S by apply: lt_le_trans S2; rewrite divr_gt0 ?ltr01.
have tz0 : 0 < 1 + t * z.
  rewrite (_ : 1 + t * z = (1 - t) + t * (1 + z)); last by named R; ring.
  by rewrite ltr_paddl ?subr_ge0 // mulr_gt0.
have d0 : 0 < 1 - t + 2%:R * t * S by rewrite ltr_paddl ?subr_ge0 // !mulr_gt0.
have c0 : 0 <= c by rewrite divr_ge0 ?subr_ge0 // ltW.
have bracket : 0 <= 1 - c - t - c * t * z.
  have <- : 1 - c - t - c * t * (2%:R * S - 1) = 0.
    move: d0 => /lt0r_neq0 /eqP; rewrite /c; move: 2%:R => b d0; named R; field.
    by [].
  by rewrite ler_add2l ler_opp2 ler_wpmul2l // mulr_ge0 // ltW.
rewrite -subr_ge0.
have -> : z / (1 + t * z) - (c * z + (1 - c) * (z / (1 + z))) =
    z ^+ 2 * (1 - c - t - c * t * z) / ((1 + z) * (1 + t * z)).
  move: z0 tz0 => /lt0r_neq0 /eqP z0 /lt0r_neq0 /eqP tz0; move: c {c0 bracket} => c.
  by named R; field.
by apply: divr_ge0; [rewrite mulr_ge0 ?sqr_ge0 | rewrite mulr_ge0 ?ltW].
Qed.
End Pointwise.
