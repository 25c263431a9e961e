(* Coq's real numbers as a real closed field of MathComp; no package beyond MathComp's algebra. *)
From Coq Require Import Reals Epsilon Lra.
From mathcomp Require Import all_ssreflect all_algebra.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Local Open Scope R_scope.
Definition eqr (x y : R) : bool := if Req_EM_T x y is left _ then true else false.
Lemma eqrP : Equality.axiom eqr.
Proof. by move=> x y; rewrite /eqr; case: Req_EM_T => ?; constructor. Qed.
Canonical R_eqType := EqType R (EqMixin eqrP).

Definition findr (P : pred R) (k : nat) : option R :=
  let x := epsilon (inhabits 0) P in if P x then Some x else None.
Lemma findrP P k x : findr P k = Some x -> P x.
Proof. by rewrite /findr; case: ifP => // Px [<-]. Qed.
Lemma findr_ex (P : pred R) : (exists x, P x) -> exists k, findr P k.
Proof. by move=> ex; exists 0%nat; rewrite /findr (epsilon_spec (inhabits 0) P ex). Qed.
Lemma eq_findr (P Q : pred R) : P =1 Q -> findr P =1 findr Q.
Proof.
move=> e k; rewrite /findr (_ : epsilon _ P = epsilon (inhabits 0) Q) ?e //.
by congr epsilon; apply: FunctionalExtensionality.functional_extensionality => x; rewrite e.
Qed.
Canonical R_choiceType := ChoiceType R (Choice.Mixin findrP findr_ex eq_findr).

Definition R_zmodMixin := ZmodMixin (fun x y z => esym (Rplus_assoc x y z)) Rplus_comm Rplus_0_l
  Rplus_opp_l.
Canonical R_zmodType := ZmodType R R_zmodMixin.
Lemma one_neq0 : (1 : R) != 0. Proof. by apply/eqP; exact: R1_neq_R0. Qed.
Definition R_ringMixin := RingMixin (fun x y z => esym (Rmult_assoc x y z)) Rmult_1_l Rmult_1_r
  Rmult_plus_distr_r Rmult_plus_distr_l one_neq0.
Canonical R_ringType := RingType R R_ringMixin.
Canonical R_comRingType := ComRingType R Rmult_comm.

Definition invr (x : R) : R := if x == 0 then 0 else / x.
Lemma invr_mul (x : R) : x != 0 -> invr x * x = 1.
Proof. by move=> x0; rewrite /invr (negbTE x0); apply: Rinv_l; apply/eqP. Qed.
Lemma invr0 : invr 0 = 0. Proof. by rewrite /invr eqxx. Qed.
Definition R_unitMixin := FieldUnitMixin invr_mul invr0.
Canonical R_unitRingType := UnitRingType R R_unitMixin.
Canonical R_comUnitRingType := [comUnitRingType of R].
Definition R_fieldMixin := @FieldMixin R_comRingType invr invr_mul invr0.
Canonical R_idomainType := IdomainType R (FieldIdomainMixin R_fieldMixin).
Canonical R_fieldType := FieldType R R_fieldMixin.

Definition ler (x y : R) : bool := if Rle_dec x y is left _ then true else false.
Definition ltr (x y : R) : bool := if Rlt_dec x y is left _ then true else false.
Lemma lebP x y : reflect (x <= y) (ler x y).
Proof. by rewrite /ler; case: Rle_dec => ?; constructor. Qed.
Lemma ltbP x y : reflect (x < y) (ltr x y).
Proof. by rewrite /ltr; case: Rlt_dec => ?; constructor. Qed.

Lemma ler_add x y : ler 0 x -> ler 0 y -> ler 0 (x + y).
Proof. by move=> /lebP ? /lebP ?; apply/lebP; lra. Qed.
Lemma ler_mul x y : ler 0 x -> ler 0 y -> ler 0 (x * y).
Proof. by move=> /lebP ? /lebP ?; apply/lebP; apply: Rmult_le_pos. Qed.
Lemma ler_anti x : ler 0 x -> ler x 0 -> x = 0.
Proof. by move=> /lebP ? /lebP ?; lra. Qed.
Lemma ler_sub x y : ler 0 (y - x) = ler x y.
Proof. by apply/lebP/lebP => ?; lra. Qed.
Lemma ler_total x : ler 0 x || ler x 0.
Proof. by case: (lebP 0 x) => //= ?; apply/lebP; lra. Qed.
Lemma ler_total2 x y : ler x y || ler y x.
Proof. by case: (lebP x y) => //= ?; apply/lebP; lra. Qed.
Lemma normr_opp x : Rabs (- x) = Rabs x. Proof. exact: Rabs_Ropp. Qed.
Lemma normr_pos x : ler 0 x -> Rabs x = x.
Proof. by move=> /lebP ?; apply: Rabs_pos_eq. Qed.
Lemma ltr_def x y : ltr x y = (y != x) && ler x y.
Proof.
apply/ltbP/andP => [?|[/eqP ? /lebP ?]]; last by lra.
by split; [apply/eqP; lra | apply/lebP; lra].
Qed.

Definition R_leMixin : realLeMixin R_idomainType :=
  RealLeMixin ler_add ler_mul ler_anti ler_sub ler_total normr_opp normr_pos ltr_def.
Canonical R_porderType := POrderType ring_display R R_leMixin.
Canonical R_latticeType := LatticeType R R_leMixin.
Canonical R_distrLatticeType := DistrLatticeType R R_leMixin.
Canonical R_orderType := OrderType R ler_total2.
Canonical R_numDomainType := NumDomainType R R_leMixin.
Canonical R_normedZmodType := NormedZmodType R R R_leMixin.
Canonical R_numFieldType := [numFieldType of R].
Canonical R_realDomainType := [realDomainType of R].
Canonical R_realFieldType := [realFieldType of R].

Import GRing.Theory Num.Theory Order.TTheory.
Lemma same_function (f g : R -> R) : f =1 g -> f = g.
Proof. exact: FunctionalExtensionality.functional_extensionality. Qed.

Lemma poly_continuous (p : {poly R}) : continuity (fun x => p.[x])%R.
Proof.
elim/poly_ind: p => [|p c IH].
  have -> : (fun x => (0 : {poly R}).[x])%R = (fun=> 0) by apply: same_function => x;
    rewrite horner0.
  by apply: continuity_const.
have -> : (fun x => (p * 'X + c%:P).[x])%R = (fun x => (fun x => p.[x])%R x * id x + c).
  by apply: same_function => x; rewrite hornerMXaddC.
apply: continuity_plus; last exact: continuity_const.
by apply: continuity_mult => //; apply: derivable_continuous derivable_id.
Qed.

Lemma R_closed : Num.real_closed_axiom R_numDomainType.
Proof.
move=> p a b /lebP ab /andP [/lebP pa /lebP pb].
have sign : p.[a]%R * p.[b]%R <= 0.
  have neg (u v : R) : u <= 0 -> 0 <= v -> u * v <= 0 by move=> ? ?; nra.
  exact: neg pa pb.
have [z [[az zb] pz]] := IVT_cor _ a b (poly_continuous p) ab sign.
by exists z; [apply/andP; split; apply/lebP | apply/rootP].
Qed.
Canonical R_rcfType := RcfType R R_closed.
