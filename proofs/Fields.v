(* Coq's [ring] and [field] for the numbers of MathComp: any ordered field, with its own names for
   the operations, which the two tactics can tell apart. *)
From Coq Require Import Ring Field.
From mathcomp Require Import all_ssreflect all_algebra.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Section Operations.
Variable F : realFieldType.
Definition plus (x y : F) : F := x + y.
Definition times (x y : F) : F := x * y.
Definition minus (x y : F) : F := x - y.
Definition opposite (x : F) : F := - x.
Definition over (x y : F) : F := x / y.
Definition inverse (x : F) : F := x^-1.
Definition nought : F := 0.
Definition unity : F := 1.

Lemma is_ring : ring_theory nought unity plus times minus opposite eq.
Proof.
rewrite /nought /unity /plus /times /minus /opposite; split=> [x|x y|x y z|x|x y|x y z|x y z|//|x].
- exact: add0r.
- exact: addrC.
- exact: addrA.
- exact: mul1r.
- exact: mulrC.
- exact: mulrA.
- exact: mulrDl.
- exact: subrr.
Qed.

Lemma is_field : field_theory nought unity plus times minus opposite over inverse eq.
Proof.
split; [exact: is_ring | by apply/eqP/oner_neq0 | by [] | ].
by move=> x /eqP; apply: mulVf.
Qed.
End Operations.
Arguments plus : simpl never.
Arguments times : simpl never.
Arguments minus : simpl never.
Arguments opposite : simpl never.
Arguments over : simpl never.
Arguments inverse : simpl never.
Arguments nought : simpl never.
Arguments unity : simpl never.

(* Rewrite an equation between numbers of F with these names. *)
Ltac named F :=
  rewrite ?expr2 ?mulr2n;
  repeat match goal with
  | |- context [@GRing.zero ?G] => change (@GRing.zero G) with (nought F)
  | |- context [@GRing.one ?G] => change (@GRing.one G) with (unity F)
  | |- context [@GRing.inv ?G ?x] => change (@GRing.inv G x) with (inverse F x)
  | |- context [@GRing.opp ?G ?x] => change (@GRing.opp G x) with (opposite F x)
  | |- context [@GRing.mul ?G ?x ?y] => change (@GRing.mul G x y) with (times F x y)
  | |- context [@GRing.add ?G ?x ?y] => change (@GRing.add G x y) with (plus F x y)
  end;
  match goal with |- @eq _ ?x ?y => change (@eq (Num.RealField.sort F) x y) | _ => idtac end.
