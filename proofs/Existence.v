(* Every order without confused tokens has a solution of (15), over any ordered field.
   Page: huang2024_s6_max_margin, label ours-block-form; with Matrix.v, huang2024-eq-12.

   No compactness: the solution is put together from blocks. Take the set S of optimal tokens for
   which |N(S)| / |S| is smallest. On S and N(S) the Hall condition holds, so the closed form is
   right there; the other pairs are solved by induction. A pair between the parts has room, since
   the optimal tokens that remain score no less than those of S. *)
From Coq Require Import Ring Field.
From mathcomp Require Import all_ssreflect all_algebra.
From Companion Require Import Fields MaxMargin Hall BlockForm.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Section Step.
Variables (R : realFieldType) (T : finType) (gt : rel T) (S : {set T}).
Hypotheses (clear : unconfused gt) (S_opts : S \subset opts gt) (S_some : (0 < #|S|)%N).
Hypothesis least : forall X : {set T}, X \subset opts gt ->
  (#|below gt S| * #|X| <= #|S| * #|below gt X|)%N.
Implicit Types (x y : T) (X : {set T}).
Add Field scores : (is_field R).

Definition inside : rel T := fun x y => gt x y && (x \in S).
Definition outside : rel T := fun x y => [&& gt x y, x \notin S & y \notin below gt S].

Lemma below_inside X : X \subset S -> below inside X = below gt X.
Proof.
move=> XS; apply/setP => y; apply/belowP/belowP => [[x xX /andP [xy _]]|[x xX xy]].
  by exists x.
by exists x; rewrite // /inside xy (subsetP XS).
Qed.

Lemma opts_inside : opts inside = S.
Proof.
apply/setP => x; apply/optsP/idP => [[y /andP [_ //]]|xS].
by have /optsP [y xy] := subsetP S_opts x xS; exists y; rewrite /inside xy.
Qed.

Lemma nons_inside : nons inside = below gt S.
Proof.
apply/setP => y; apply/nonsP/belowP => [[x /andP [xy xS]]|[x xS xy]]; exists x => //.
by rewrite /inside xy.
Qed.

Lemma clear_inside : unconfused inside.
Proof.
move=> x; rewrite opts_inside nons_inside => xS.
by apply: contra (clear (subsetP S_opts x xS)); apply: below_nons.
Qed.

Lemma clear_outside : unconfused outside.
Proof.
move=> x /optsP [y /and3P [xy _ _]]; apply: contra (clear (gt_opts xy)).
by move=> /nonsP [z /and3P [zx _ _]]; apply: gt_nons zx.
Qed.

Lemma hall_inside : hall inside.
Proof.
move=> X; rewrite opts_inside nons_inside => XS; rewrite below_inside //.
by apply: least; apply: subset_trans S_opts.
Qed.

(* An optimal token outside S has something below it outside N(S), or S would not be the least. *)
Lemma opts_outside x : x \in opts gt -> x \notin S -> x \in opts outside.
Proof.
move=> xo xS; apply/optsP/existsP; apply: contraT; rewrite negb_exists => /forallP none.
have sub : below gt (x |: S) \subset below gt S.
  apply/subsetP => y /belowP [z]; rewrite in_setU1 => /predU1P [->|zS] zy.
    by have := none y; rewrite /outside zy xS /= negbK.
  by apply/belowP; exists z.
have := least (_ : x |: S \subset opts gt); rewrite subUset sub1set xo S_opts => /(_ isT).
rewrite cardsU1 xS add1n mulnS => le.
have := leq_trans le (leq_mul (leqnn _) (subset_leq_card sub)).
rewrite mulnC -[leqRHS]add0n leq_add2r leqn0 cards_eq0 => /eqP none_below.
have /card_gt0P [z zS] := S_some; have /optsP [y zy] := subsetP S_opts z zS.
by have := in_set0 y; rewrite -none_below => <-; apply/belowP; exists z.
Qed.

Lemma card_outside : (#|opts outside| < #|opts gt|)%N.
Proof.
apply: proper_card; apply/properP; split.
  by apply/subsetP => x /optsP [y /and3P [xy _ _]]; apply: gt_opts xy.
have /card_gt0P [z zS] := S_some; exists z; first exact: subsetP zS.
by apply/optsP => -[y /and3P [_ /negP]].
Qed.

(* Ratios outside are no smaller. *)
Lemma least_outside X : X \subset opts outside ->
  (#|below gt S| * #|X| <= #|S| * #|below outside X|)%N.
Proof.
move=> Xo; have X_S : [disjoint S & X].
  rewrite disjoint_sym disjoint_subset; apply/subsetP => x /(subsetP Xo) /optsP [y].
  by case/and3P.
have X_opts : S :|: X \subset opts gt.
  rewrite subUset S_opts; apply/subsetP => x /(subsetP Xo) /optsP [y /and3P [xy _ _]].
  exact: gt_opts xy.
have sub : below gt (S :|: X) \subset below gt S :|: below outside X.
  apply/subsetP => y /belowP [x]; rewrite !in_setU => /orP [xS|xX] xy.
    by apply/orP; left; apply/belowP; exists x.
  have [//|y_S /=] := boolP (y \in below gt S); apply/belowP; exists x => //.
  rewrite /outside xy y_S andbT; have /optsP [z /and3P []] := subsetP Xo x xX; done.
have := least X_opts; rewrite (cardsU S) disjoint_setI0 // cards0 subn0 mulnDr.
have union := leq_trans (subset_leq_card sub) (leq_card_setU _ _).
move=> le; have := leq_trans le (leq_mul (leqnn _) union).
by rewrite mulnDr mulnC leq_add2l.
Qed.

Section Glue.
Variable w2 : T -> R.
Hypotheses (sol2 : solves outside w2).
Hypothesis high : forall x, x \in opts outside ->
  #|below gt S|%:R <= (#|below gt S|%:R + #|S|%:R) * w2 x.
Let w1 : T -> R := closed_form R inside.
Let w x := w1 x + w2 x.
Let k : R := #|S|%:R.
Let m : R := #|below gt S|%:R.

Let km : 0 < k + m.
Proof. by rewrite ltr_paddr ?ler0n ?ltr0n. Qed.

Lemma w1_S x : x \in S -> w1 x = m / (k + m).
Proof. by move=> xS; rewrite /w1 /closed_form opts_inside nons_inside xS. Qed.

Lemma w1_N y : y \in below gt S -> w1 y = - (k / (k + m)).
Proof.
move=> yN; rewrite /w1 /closed_form opts_inside nons_inside yN ifN //.
apply/negP => yS; have := clear (subsetP S_opts y yS).
by rewrite (below_nons yN).
Qed.

Lemma w1_0 x : x \notin S -> x \notin below gt S -> w1 x = 0.
Proof.
by move=> /negbTE xS /negbTE xN; rewrite /w1 /closed_form opts_inside nons_inside xS xN.
Qed.

Lemma w2_S x : x \in S -> w2 x = 0.
Proof.
move=> xS; apply: (not_compared sol2); first by apply/optsP => -[y /and3P [_ /negP]].
apply/nonsP => -[z /and3P [zx _ _]]; have := clear (subsetP S_opts x xS).
by rewrite (gt_nons zx).
Qed.

Lemma w2_N y : y \in below gt S -> w2 y = 0.
Proof.
move=> yN; apply: (not_compared sol2); last by apply/nonsP => -[z /and3P [_ _ /negP]].
by apply/optsP => -[z /and3P [yz _ _]]; have := clear (gt_opts yz); rewrite (below_nons yN).
Qed.

Lemma apart x : w1 x * w2 x = 0.
Proof.
have [xS|xS] := boolP (x \in S); first by rewrite w2_S ?mulr0.
by have [xN|xN] := boolP (x \in below gt S); [rewrite w2_N ?mulr0 | rewrite w1_0 ?mul0r].
Qed.

Lemma glue_feasible : feasible gt w.
Proof.
move=> x y xy; rewrite /w; have yS : y \notin S.
  by apply/negP => yS; have := clear (subsetP S_opts y yS); rewrite (gt_nons xy).
have [xS|xS] := boolP (x \in S).
  have yN : y \in below gt S by apply/belowP; exists x.
  rewrite w2_S // w2_N // !addr0 w1_S // w1_N // opprK -mulrDl addrC divff //.
  exact: lt0r_neq0.
have xN : x \notin below gt S.
  by apply/negP => xN; have := clear (gt_opts xy); rewrite (below_nons xN).
rewrite w1_0 // add0r; have [yN|yN] := boolP (y \in below gt S); last first.
  by rewrite w1_0 // add0r; apply: sol2.1; rewrite /outside xy xS.
have := high (opts_outside (gt_opts xy) xS); rewrite -/k -/m => le.
rewrite (w2_N yN) addr0 (w1_N yN) opprK -(ler_pmul2l km) mulr1 mulrDr.
by rewrite [_ * (k / _)]mulrC divfK ?lt0r_neq0 // [k + m]addrC ler_add2r.
Qed.

Lemma glue_solves : solves gt w.
Proof.
have [//|//] := @stationary_solves R T gt w glue_feasible.
move=> w' feas'; have feas1 : feasible inside w' by move=> x y /andP [xy _]; apply: feas'.
have feas2 : feasible outside w' by move=> x y /and3P [xy _ _]; apply: feas'.
have stat1 := solves_stationary (hall_solves R clear_inside hall_inside).1 feas1.
have := addr_ge0 stat1 (solves_stationary sol2 feas2).
rewrite -big_split; congr (0 <= _); apply: eq_bigr => x _ /=.
rewrite -/w1 /w; have := apart x; move: (w1 x) (w2 x) (w' x) => a b c ab.
have -> : (a + b) * (c - (a + b)) = a * (c - a) + b * (c - b) - 2%:R * (a * b).
  by named R; ring.
by rewrite ab mulr0 subr0.
Qed.
End Glue.
End Step.

Section Existence.
Variables (R : realFieldType) (T : finType).

(* Some set has the least ratio. *)
Lemma least_ratio (gt : rel T) : (0 < #|opts gt|)%N -> exists S : {set T},
  [/\ S \subset opts gt, (0 < #|S|)%N & forall X : {set T}, X \subset opts gt ->
      (#|below gt S| * #|X| <= #|S| * #|below gt X|)%N].
Proof.
move=> some; pose ok (X : {set T}) := (X \subset opts gt) && (0 < #|X|)%N.
pose ratio (X : {set T}) : rat := #|below gt X|%:R / #|X|%:R.
have ok0 : ok (opts gt) by rewrite /ok subxx.
case: (@Order.TotalTheory.arg_minP _ _ _ _ ok ratio ok0) => S /andP [S_opts S0] min.
exists S; split=> // X X_opts; have [->|X0] := posnP #|X|; first by rewrite muln0.
have := min X; rewrite /ok X_opts X0 => /(_ isT); rewrite /ratio.
by rewrite ler_pdivr_mulr ?ltr0n // mulrAC ler_pdivl_mulr ?ltr0n // -!natrM ler_nat
   [(#|below gt X| * _)%N]mulnC.
Qed.

Theorem existence (gt : rel T) : unconfused gt -> exists w : T -> R, solves gt w.
Proof.
move=> clear; suff [w [sol _]] : exists w : T -> R, solves gt w /\ forall a b : nat,
    (forall X : {set T}, X \subset opts gt -> a * #|X| <= b * #|below gt X|)%N ->
    forall x, x \in opts gt -> a%:R <= (a%:R + b%:R) * w x by exists w.
have [N] := ubnP #|opts gt|; elim: N gt clear => // N IH gt clear; rewrite ltnS => size.
have [none|some] := posnP #|opts gt|.
  have no x : x \notin opts gt by rewrite (cards0_eq none) in_set0.
  exists (fun=> 0); split=> [|a b _ x xo]; last by have := no x; rewrite xo.
  split=> [x y xy|w' _]; first by have := no x; rewrite (gt_opts xy).
  by rewrite {1}/norm2 /dot big1 ?norm2_ge0 // => x _; rewrite mul0r.
have [S [S_opts S_some least]] := least_ratio some.
have [w2 [sol2 high]] := IH _ (clear_outside (S := S) clear)
  (leq_trans (card_outside S_opts S_some) size).
have high2 := high _ _ (least_outside S_opts least).
exists (fun x => closed_form R (inside gt S) x + w2 x); split; first exact: glue_solves.
move=> a b ratio x xo; have [xS|xS] := boolP (x \in S).
  rewrite (w2_S clear S_opts sol2 xS) addr0 w1_S //.
  rewrite mulrA ler_pdivl_mulr ?ltr_paddr ?ler0n ?ltr0n // mulrDr mulrDl addrC ler_add2l.
  by rewrite -!natrM ler_nat; apply: ratio.
rewrite w1_0 //; last by apply: contra (clear _ xo); apply: below_nons.
rewrite add0r; apply: high; last exact: opts_outside.
move=> X Xo; rewrite -(leq_pmul2l S_some) mulnCA [leqRHS]mulnCA.
apply: leq_trans (_ : b * (#|below gt S| * #|X|) <= _)%N.
  by rewrite !mulnA leq_mul2r ratio ?orbT.
by rewrite leq_mul2l least_outside ?orbT.
Qed.
End Existence.
