(* Example 1 of the paper meets every hypothesis of the theorem on prefix closure, so that this does
   not speak about nothing. (Prediction.v shows with it that the printed roles overlap.)
   Page: huang2024_s4_realizable; labels huang2024-ex-1, huang2024-app-roles. *)
From mathcomp Require Import all_ssreflect.
From Companion Require Import Orders.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Definition S : 'I_4 := @Ordinal 4 0 isT.
Definition V : 'I_4 := @Ordinal 4 1 isT.
Definition O : 'I_4 := @Ordinal 4 2 isT.
Definition P : 'I_4 := @Ordinal 4 3 isT.
Definition next (x : 'I_4) : 'I_4 := nth S [:: V; O; P; S] x.

(* SVOP, VOP, OPP and PSV with their beginnings. *)
Definition example_1 : seq (seq 'I_4 * 'I_4) :=
  [:: ([:: S], V); ([:: S; V], O); ([:: S; V; O], P); ([:: V], O); ([:: V; O], P);
      ([:: O], P); ([:: O; P], P); ([:: P], S); ([:: P; S], V)].

Ltac each := let i := fresh in case=> [[|[|[|[|//]]]] i].

(* Its collocation is the cycle S, V, O, P, and its orders are those that the paper prints. *)
Theorem example_1_collocation x : samples example_1 [:: x] (next x).
Proof. by move: x; each. Qed.

Theorem example_1_orders q x y : above next (samples example_1) q x y <->
  (q, x, y) \in [:: (S, S, P); (V, V, S); (O, O, S); (O, O, V); (P, O, P)].
Proof.
have -> : (q, x, y) \in [:: (S, S, P); (V, V, S); (O, O, S); (O, O, V); (P, O, P)] =
  aboveb next example_1 q x y by move: q x y; do 3 each.
by split=> /aboveP.
Qed.

Theorem example_1_assumption_1 : assumption_1 next (samples example_1).
Proof.
split.
- by apply: (can_inj (g := fun x : 'I_4 => nth S [:: P; S; V; O] x)); each; apply: val_inj.
- have /allP ok : all (fun p => has (fun o => p.2 == next o) p.1) example_1 by [].
  by move=> s z /ok /hasP [o o_s /eqP]; exists o.
by move=> q x /one_role; move: q x; do 2 each.
Qed.

Theorem example_1_closure : closure (samples example_1).
Proof.
pose cut (p : seq 'I_4 * 'I_4) i := (take i p.1, nth S p.1 i).
have /allP ok : all (fun p => all (fun i => cut p i \in example_1) (iota 1 (size p.1).-1))
  example_1 by [].
move=> s x t z s0 /ok /= /allP /(_ (size s)); rewrite /cut /=.
rewrite take_size_cat // nth_cat ltnn subnn size_cat addnS mem_iota; apply.
by rewrite lt0n size_eq0 s0 add1n ltnS leq_addr.
Qed.
