(* The closed form of Proposition 2 solves (15) if and only if the Hall condition holds; complete
   orders. Page: huang2024_s6_max_margin; labels huang2024-prop-2-corrected, ours-complete-order. *)
From Coq Require Import Ring Field.
From mathcomp Require Import all_ssreflect all_algebra.
From Companion Require Import Fields MaxMargin.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

(* If the weight on every level set {d <= v} is not negative, and all of it is zero, then the
   weighted sum of d is not positive. Proof: lift the lowest level to the next one. *)
Section Levels.
Variables (R : realFieldType) (T : finType) (c : T -> R).
Implicit Type d : T -> R.
Add Field scores : (is_field R).

Lemma levels d : (forall v, 0 <= \sum_(x | d x <= v) c x) -> \sum_x c x = 0 ->
  \sum_x c x * d x <= 0.
Proof.
move=> low total; case: (pickP T) => [x0 _|none]; last by rewrite big1 // => x; have := none x.
pose least d := [arg min_(x < x0) d x]%O.
have leastP d' x : d' (least d') <= d' x by rewrite /least; case: arg_minP => // y _; apply.
have [k] := ubnP #|[set x | d (least d) < d x]|; elim: k d low => // k IH d low.
rewrite ltnS => size; set v := d (least d) in size.
have [/forallP flat|] := boolP [forall x, d x <= v].
  have same x : d x = v by apply: le_anti; rewrite flat leastP.
  by rewrite (eq_bigr (fun x => c x * v)) -?mulr_suml ?total ?mul0r // => x _; rewrite same.
rewrite negb_forall => /existsP [x1]; rewrite -ltNge => v_x1.
pose x2 := [arg min_(x < x1 | v < d x) d x]%O.
have [v_x2 next] : v < d x2 /\ forall x, v < d x -> d x2 <= d x by rewrite /x2; case: arg_minP.
pose d' x := if d x <= v then d x2 else d x.
have x2_d' x : d x2 <= d' x by rewrite /d'; have [|/next] := leP (d x) v.
have bottom : d' (least d') = d x2.
  by apply: le_anti; rewrite x2_d' andbT (le_trans (leastP d' x2)) // /d' ifN // -ltNge.
have lift : \sum_x c x * d x = \sum_x c x * d' x - (d x2 - v) * \sum_(x | d x <= v) c x.
  rewrite [\sum_(x | d x <= v) _]big_mkcond mulr_sumr -sumrB; apply: eq_bigr => x _.
  rewrite /d'; case: ifP => dx.
    have -> : d x = v by apply: le_anti; rewrite dx leastP.
    by named R; ring.
  by rewrite mulr0 subr0.
have gap : 0 <= (d x2 - v) * \sum_(x | d x <= v) c x by rewrite mulr_ge0 // subr_ge0 ltW.
rewrite lift; apply: le_trans (_ : \sum_x c x * d' x <= 0); first by rewrite ger_addl oppr_le0.
apply: IH => [u|]; last first.
  apply: leq_trans size; apply: proper_card; rewrite bottom; apply/properP; split.
    apply/subsetP => x; rewrite !inE /d'; have [_|//] := leP (d x) v; by rewrite ltxx.
  by exists x2; rewrite inE // /d' ifN -?ltNge // ltxx.
have [x2_u|u_x2] := lerP (d x2) u.
  rewrite (eq_bigl (fun x => d x <= u)) // => x; rewrite /d'.
  by case: ifP => // dx; rewrite x2_u (le_trans dx) // (le_trans (ltW v_x2)).
by rewrite big_pred0 // => x; apply/negbTE; rewrite -ltNge (lt_le_trans u_x2).
Qed.
End Levels.

Section Hall.
Variables (R : realFieldType) (T : finType) (gt : rel T).
Implicit Types (w d : T -> R) (S X : {set T}).
Add Field scores : (is_field R).
Ltac calc := named R; ring.
Notation opts := (opts gt).
Notation nons := (nons gt).
Let k : R := #|opts|%:R.
Let m : R := #|nons|%:R.

(* The scores that Proposition 2 prints. *)
Definition closed_form (x : T) : R :=
  if x \in opts then m / (k + m) else if x \in nons then - (k / (k + m)) else 0.

(* N(S), the tokens below some token of S, and the condition k |N(S)| >= m |S|. *)
Definition below S : {set T} := [set y | [exists x in S, gt x y]].
Definition hall : Prop :=
  forall S, S \subset opts -> (#|nons| * #|S| <= #|opts| * #|below S|)%N.

Hypothesis clear : unconfused gt.

Lemma belowP S y : reflect (exists2 x, x \in S & gt x y) (y \in below S).
Proof. by rewrite inE; apply: exists_inP. Qed.
Lemma below_nons S y : y \in below S -> y \in nons.
Proof. by case/belowP=> x _; apply: gt_nons. Qed.

Lemma total_gt0 x y : gt x y -> 0 < k + m.
Proof.
by move=> /gt_opts xo; rewrite ltr_paddr ?ler0n // ltr0n; apply/card_gt0P; exists x.
Qed.

(* At the closed form every comparison is tight. *)
Lemma closed_form_tight x y : gt x y -> closed_form x - closed_form y = 1.
Proof.
move=> xy; have yn := gt_nons xy; rewrite /closed_form (gt_opts xy) yn.
rewrite (negbTE (nons_opts clear yn)) opprK -mulrDl addrC divff //.
exact: lt0r_neq0 (total_gt0 xy).
Qed.

Lemma closed_form_feasible : feasible gt closed_form.
Proof. by move=> x y /closed_form_tight ->. Qed.

Lemma dot_closed_form d :
  dot closed_form d = (m * (\sum_(x in opts) d x) - k * (\sum_(x in nons) d x)) / (k + m).
Proof.
rewrite big_mkcond [\sum_(x in nons) _]big_mkcond !mulr_sumr -sumrB mulr_suml.
apply: eq_bigr => x _; rewrite /closed_form.
have [/clear /negbTE ->|_] := boolP (x \in opts); first by rewrite mulr0 subr0 mulrAC.
by case: ifP => _; rewrite ?mulr0 ?sub0r ?oppr0 ?mul0r // !mulNr mulrAC.
Qed.

(* Hall => closed form: along a feasible way d is monotone; so what lies below a low optimal token
   is low, and Hall's condition is that of [levels] for the weights k and -m. *)
Theorem hall_solves : hall -> solves_uniquely gt closed_form.
Proof.
move=> H; apply: stationary_solves => [|w' feas]; first exact: closed_form_feasible.
set d := fun x => _; rewrite dot_closed_form.
apply: divr_ge0; last by rewrite addr_ge0 ?ler0n.
have mono x y : gt x y -> d y <= d x.
  move=> xy; rewrite -subr_ge0 /d; have := feas _ _ xy; rewrite -subr_ge0.
  by rewrite -(closed_form_tight xy); congr (0 <= _); calc.
pose c x : R := (if x \in nons then k else 0) - (if x \in opts then m else 0).
have count (X : {set T}) (P : pred T) (b : R) :
    \sum_(x | P x) (if x \in X then b else 0) = b * #|[set x in X | P x]|%:R.
  by rewrite -big_mkcondr -sum1dep_card natr_sum mulr_sumr (eq_bigl _ _ (fun x => andbC _ _));
     apply: eq_bigr => x _; rewrite mulr1.
have -> : m * (\sum_(x in opts) d x) - k * (\sum_(x in nons) d x) = - \sum_x c x * d x.
  rewrite big_mkcond [\sum_(x in nons) _]big_mkcond !mulr_sumr -sumrB -sumrN.
  by apply: eq_bigr => x _; rewrite /c; do 2 case: ifP => _; calc.
rewrite oppr_ge0; apply: levels => [v|].
  rewrite sumrB !count subr_ge0 -!natrM ler_nat; apply: leq_trans (H _ _) _.
    by apply/subsetP => x; rewrite inE => /andP [].
  rewrite leq_mul2l subset_leq_card ?orbT //; apply/subsetP => y /belowP [x].
  rewrite !inE => /andP [_ low] xy.
  by rewrite (le_trans (mono _ _ xy) low) andbT; apply/existsP; exists x.
rewrite sumrB !count; have all_of (X : {set T}) : [set x in X | true] = X.
  by apply/setP => x; rewrite inE andbT.
by rewrite !all_of mulrC subrr.
Qed.

(* Closed form => Hall: lowering S and N(S) together keeps all margins. *)
Theorem solves_hall : solves gt closed_form -> hall.
Proof.
move=> sol S S_opts; pose U := S :|: below S; pose w' x := closed_form x - (x \in U)%:R.
have in_U x y : gt x y -> x \in U -> y \in U.
  move=> xy; rewrite in_setU => /orP [xS|/below_nons xn].
    by rewrite in_setU; apply/orP; right; apply/belowP; exists x.
  by have := clear (gt_opts xy); rewrite xn.
have feas : feasible gt w'.
  move=> x y xy; have -> : w' x - w' y = closed_form x - closed_form y +
    ((y \in U)%:R - (x \in U)%:R) by rewrite /w'; calc.
  rewrite closed_form_tight // ler_addl subr_ge0 ler_nat.
  by case: (boolP (x \in U)) => // /(in_U _ _ xy) ->.
have [->|[x xS]] := set_0Vmem S; first by rewrite cards0 muln0.
have /optsP [y xy] := subsetP S_opts x xS.
have := solves_stationary sol feas; rewrite dot_closed_form.
rewrite pmulr_lge0 ?invr_gt0 ?(total_gt0 xy) // subr_ge0.
have count (X Y : {set T}) : Y \subset X -> (forall x, x \in X -> (x \in U) = (x \in Y)) ->
    \sum_(x in X) (w' x - closed_form x) = - #|Y|%:R.
  move=> /subsetP YX same; rewrite -sum1_card natr_sum -sumrN.
  rewrite big_mkcond [RHS]big_mkcond; apply: eq_bigr => z _ /=.
  have [z_in|z_out] := ifP; last by case: ifP => // /YX; rewrite z_out.
  by rewrite /w' addrAC subrr add0r (same z z_in); case: (z \in Y); rewrite ?oppr0.
rewrite (count opts S) // => [|z z_o]; last first.
  rewrite in_setU; case: (boolP (z \in below S)) => [/below_nons zn|_]; last by rewrite orbF.
  by have := clear z_o; rewrite zn.
rewrite (count nons (below S)) => [||z zn]; first 1 last.
- by apply/subsetP => z /below_nons.
- rewrite in_setU; case: (boolP (z \in S)) => // zS.
  by have := nons_opts clear zn; rewrite (subsetP S_opts).
by rewrite !mulrN ler_opp2 -!natrM ler_nat.
Qed.

(* Proposition 2, corrected. *)
Theorem closed_form_iff_hall : solves gt closed_form <-> hall.
Proof. by split; [apply: solves_hall | move=> /hall_solves []]. Qed.

(* Complete orders: each optimal token lies above each non-optimal one. *)
Definition complete : Prop := forall x y, x \in opts -> y \in nons -> gt x y.

Lemma complete_hall : complete -> hall.
Proof.
move=> all_pairs S S_opts; have [->|[x xS]] := set_0Vmem S; first by rewrite cards0 muln0.
rewrite mulnC leq_mul ?subset_leq_card //; apply/subsetP => y yn.
by apply/belowP; exists x => //; apply: all_pairs; rewrite ?(subsetP S_opts).
Qed.

Theorem complete_solves : complete -> solves_uniquely gt closed_form.
Proof. by move/complete_hall/hall_solves. Qed.

Theorem closed_form_norm2 : norm2 closed_form = k * m / (k + m).
Proof.
have sum X (b : R) : \sum_(x in X) b = b * #|X|%:R by rewrite sumr_const mulr_natr.
rewrite /norm2 dot_closed_form (eq_bigr (fun=> m / (k + m))) => [|x xo]; last first.
  by rewrite /closed_form xo.
rewrite [\sum_(x in nons) _](eq_bigr (fun=> - (k / (k + m)))) => [|x xn]; last first.
  by rewrite /closed_form (negbTE (nons_opts clear xn)) xn.
rewrite !sum -/k -/m; have [->|/eqP km] := eqVneq (k + m) 0; first by rewrite invr0 !mulr0.
by named R; field.
Qed.

Lemma one_opt_complete : (forall x y, x \in opts -> y \in opts -> x = y) -> complete.
Proof. by move=> one x y xo /nonsP [z zy]; rewrite (one x z) ?(gt_opts zy). Qed.
End Hall.
