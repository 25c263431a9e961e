(* The second paper along its flows: Lemma 6, (11), (64), (113), (124), (128), (129). All that is used
   of numbers beyond the rules for rates is this: what never falls at any moment does not fall.
   Pages: tian2023_s4_decoder, tian2023_s4_sampling, tian2023_s5_fates, tian2023_s6_snapping. *)
From Coq Require Import Ring Field.
From mathcomp Require Import all_ssreflect all_algebra.
From Companion Require Import Fields Exponential Calculus.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

(* True of real numbers by the mean value theorem (StdMain.v); not true in every field. *)
Definition mean_value (R : rcfType) : Prop := forall f v : R -> R,
  (forall t, 0 <= t -> rate f t (v t)) -> (forall t, 0 <= t -> 0 <= v t) ->
  forall t, 0 <= t -> f 0 <= f t.

Section Flow.
Variables (R : rcfType) (exp log : R -> R).
Hypotheses (e : exponential exp) (logK : forall c, 0 < c -> exp (log c) = c).
Add Field numbers : (is_field R).
Implicit Types (f g h z : R -> R) (s t : R).
Let pos := exp_gt0 e.

(* A rate is the only one. *)
Lemma rate_unique f t a b : rate f t a -> rate f t b -> a = b.
Proof.
move=> [d [C [d0 C0 bound]]] [d' [C' [d'0 C'0 bound']]]; apply/eqP; rewrite -subr_eq0.
apply: contraT => ab0; have n0 : 0 < `|a - b| by rewrite normr_gt0.
pose k := Num.min (Num.min d d') (`|a - b| / (C + C' + 1)).
have D0 : 0 < C + C' + 1 by rewrite ltr_paddl ?ltr01 ?addr_ge0.
have k0 : 0 < k by rewrite !lt_minr d0 d'0 divr_gt0.
have : `|k| <= d by rewrite gtr0_norm // !le_minl lexx.
move/bound => b1; have : `|k| <= d' by rewrite gtr0_norm // !le_minl lexx orbT.
move/bound' => b2; have : `|(a - b) * k| <= (C + C') * k ^+ 2.
  have -> : (a - b) * k = (f (t + k) - f t - b * k) - (f (t + k) - f t - a * k).
    by move: (f (t + k)) (f t) => x y; named R; ring.
  by rewrite mulrDl [C * _ + _]addrC; apply: le_trans (ler_norm_sub _ _) (ler_add b2 b1).
rewrite normrM (gtr0_norm k0) expr2 mulrA ler_pmul2r // leNgt => /negP; case.
apply: lt_le_trans (_ : (C + C' + 1) * k <= _); first by rewrite ltr_pmul2r // ltr_addl ltr01.
by rewrite mulrC -ler_pdivl_mulr // !le_minl lexx orbT.
Qed.

Lemma constant (mv : mean_value R) f : (forall t, 0 <= t -> rate f t 0) ->
  forall t, 0 <= t -> f t = f 0.
Proof.
move=> flat t t0; apply: le_anti; apply/andP; split; last exact: (mv f (fun=> 0)).
rewrite -ler_opp2; apply: (mv (fun s => - f s) (fun=> 0)) => // s s0.
by apply: rate_eq (rate_opp (flat s s0)) => //; rewrite oppr0.
Qed.

(* Lemma 6. *)
Definition height_44 (M eta : R) h : Prop :=
  h 0 = 0 /\ forall t, 0 <= t -> rate h t (eta / (M - 1 + exp (M * h t))).

Lemma denominator M x : 1 <= M -> 0 < M - 1 + exp x.
Proof. by move=> M1; rewrite ltr_paddl // subr_ge0. Qed.

Theorem lemma_6 (mv : mean_value R) M eta h : 1 <= M -> height_44 M eta h ->
  forall t, 0 <= t -> exp (M * h t) + (M - 1) * (M * h t) = M * eta * t + 1.
Proof.
move=> M1 [h0 flow] t t0.
pose g s := exp (M * h s) + (M - 1) * (M * h s) - M * eta * s.
have flat s : 0 <= s -> rate g s 0.
  move=> s0; have hr := rate_scale M (flow s s0).
  have := rate_add (rate_add (rate_exp e hr) (rate_scale (M - 1) hr))
    (rate_opp (rate_linear (M * eta) s)).
  apply: rate_eq => //; have /lt0r_neq0/eqP := denominator (M * h s) M1.
  by move: (exp _) => x x0; named R; field.
have := constant mv flat t0; rewrite /g h0 !mulr0 subr0 addr0 (exp0 e) => /eqP.
by rewrite subr_eq addrC => /eqP ->; rewrite addrC.
Qed.

(* The one solution of (45), by the main branch of Lambert's function. *)
Theorem lambert (W : R -> R) M eta t (c := (M * eta * t + 1) / (M - 1)) :
  (forall y, 0 < y -> 0 <= W y /\ W y * exp (W y) = y) -> 2%:R <= M ->
  forall x, exp x + (M - 1) * x = M * eta * t + 1 <-> x = c - W (exp c / (M - 1)).
Proof.
move=> branch M2; have M1 : 0 < M - 1 by rewrite subr_gt0 (lt_le_trans _ M2) // ltr1n.
set y := exp c / (M - 1); have y0 : 0 < y by rewrite divr_gt0.
have [W0 WE] := branch y y0; have cE : (M - 1) * c = M * eta * t + 1.
  by rewrite mulrC divfK // lt0r_neq0.
have solves : exp (c - W y) = (M - 1) * W y.
  apply: (mulIf (lt0r_neq0 (pos (W y)))); rewrite -(exponential_add e) subrK -mulrA WE /y.
  by rewrite mulrC divfK // lt0r_neq0.
have at_W : exp (c - W y) + (M - 1) * (c - W y) = M * eta * t + 1.
  by rewrite solves mulrBr cE [LHS]addrC subrK.
move=> x; split=> [xE|->//]; rewrite -at_W in xE.
have up a b : a < b -> exp a + (M - 1) * a < exp b + (M - 1) * b.
  by move=> ab; rewrite ltr_add ?(exp_lt e) // ltr_pmul2l.
by case: (ltgtP x (c - W y)) => // /up; rewrite xE ltxx.
Qed.

(* (64), corrected: the speed of the decoder falls. *)
Section Speed.
Variables (M eta : R) (h : R -> R) (s dh : R).
Notation D t := (M - 1 + exp (M * h t)).
Hypotheses (M4 : 4%:R <= M) (eta0 : 0 < eta) (flow : rate h s (eta / D s)).
Notation g := (fun t => 1 / (M - 1 + exp (M * h t))).
Let M1 : 1 <= M. Proof. by apply: le_trans M4; rewrite -[1]/(1%:R) ler_nat. Qed.

Lemma slope_of_g : rate g s (- (g s * (eta * M * exp (M * h s) / D s ^+ 2))).
Proof.
have Dr := rate_add (rate_const (M - 1) s) (rate_exp e (rate_scale M flow)).
apply: rate_eq (rate_inv e logK (fun t => denominator (M * h t) M1) Dr) => [t|].
  by rewrite mul1r.
have /lt0r_neq0/eqP := denominator (M * h s) M1; rewrite -exprVn; move: (exp _) => x x0.
by named R; field.
Qed.

Theorem equation_64_corrected :
  [/\ rate g s (- (g s * (eta * M * exp (M * h s) / D s ^+ 2))),
      g s * (eta * M * exp (M * h s) / D s ^+ 2) <= g s * (eta * M / (4%:R * (M - 1))),
      g s * (eta * M / (4%:R * (M - 1))) <= eta / 3%:R * g s &
      g s * (eta * M * exp (M * h s) / D s ^+ 2) = g s * (eta * M / (4%:R * (M - 1))) ->
      h s = log (M - 1) / M].
Proof.
have D0 := denominator (M * h s) M1; have g0 : 0 < g s by rewrite mul1r invr_gt0 D0.
have M0 : 0 < M by apply: lt_le_trans M4; rewrite ltr0n.
have m0 : 0 < M - 1 by rewrite subr_gt0; apply: lt_le_trans M4; rewrite ltr1n.
have four : 4%:R = 2%:R * 2%:R :> R by rewrite -natrM.
have quot a : a * exp (M * h s) / D s ^+ 2 <= a / (4%:R * (M - 1)) =
    (a * (4%:R * (M - 1) * exp (M * h s)) <= a * D s ^+ 2).
  rewrite ler_pdivr_mulr ?exprn_gt0 // [a / _ * _]mulrAC ler_pdivl_mulr ?mulr_gt0 ?ltr0n //.
  by congr (_ <= _); rewrite -[LHS]mulrA; congr (_ * _); apply: mulrC.
have square : D s ^+ 2 = 4%:R * (M - 1) * exp (M * h s) + (M - 1 - exp (M * h s)) ^+ 2.
  rewrite four; have -> : 2%:R = 1 + 1 :> R by [].
  by move: (exp _) (M - 1) => x m; named R; ring.
split.
- exact: slope_of_g.
- rewrite ler_pmul2l // quot ler_pmul2l ?mulr_gt0 // square ler_addl.
  exact: sqr_ge0.
- rewrite mulrC ler_pmul2r // ler_pdivr_mulr ?mulr_gt0 ?ltr0n // -mulrA ler_pmul2l //.
  rewrite mulrC ler_pdivl_mulr ?ltr0n // -subr_ge0.
  have -> : 4%:R * (M - 1) - M * 3%:R = M - 4%:R.
    have -> : 4%:R = 3%:R + 1 :> R by rewrite -[4%:R]/((3 + 1)%:R) natrD.
    by move: (3%:R : R) => x; named R; ring.
  by rewrite subr_ge0.
move/(mulfI (lt0r_neq0 g0)) => same; have : (M - 1 - exp (M * h s)) ^+ 2 = 0.
  have : eta * M * D s ^+ 2 = eta * M * (4%:R * (M - 1) * exp (M * h s)).
    move: same => /eqP; rewrite eqr_div ?expf_neq0 ?mulf_neq0 ?lt0r_neq0 ?ltr0n // => /eqP <-.
    by rewrite -!mulrA [exp _ * _]mulrC -!mulrA.
  move/(mulfI (lt0r_neq0 (mulr_gt0 eta0 M0))); rewrite square.
  by move/(canRL (addKr _)); rewrite addNr.
move/eqP; rewrite sqrf_eq0 subr_eq0 => /eqP ->; rewrite (expK e logK) [M * _]mulrC mulfK //.
exact: lt0r_neq0.
Qed.

(* As printed, without the sign. *)
Theorem equation_64_refuted : ~ rate g s (g s * (eta * M * exp (M * h s) / D s ^+ 2)).
Proof.
move=> printed; have := rate_unique printed slope_of_g.
have D0 := denominator (M * h s) M1; have M0 : 0 < M by apply: lt_le_trans M4; rewrite ltr0n.
have : 0 < g s * (eta * M * exp (M * h s) / D s ^+ 2).
  apply: mulr_gt0; first by rewrite mul1r invr_gt0.
  by apply: divr_gt0; [rewrite !mulr_gt0 | apply: exprn_gt0].
move: (g s * _) => x x0 /eqP; rewrite -addr_eq0.
by rewrite (gt_eqF (addr_gt0 x0 x0)).
Qed.
End Speed.

(* (11): two tokens of one class that occur in no other; o is the norm of its vector. *)
Theorem equation_11 (mv : mean_value R) (eta P1 P2 : R) (xi o z1 z2 : R -> R)
    (f1 := fun t => P1 * exp (z1 t) / o t) (f2 := fun t => P2 * exp (z2 t) / o t)
    (r := fun t => f1 t ^+ 2 / f2 t ^+ 2 - 1) : P1 != 0 -> P2 != 0 ->
  (forall t, 0 <= t -> o t != 0) ->
  (forall t, 0 <= t -> rate z1 t (eta * f1 t ^+ 2 * xi t) /\ rate z2 t (eta * f2 t ^+ 2 * xi t)) ->
  forall t, 0 <= t -> r t = r 0 * exp (2%:R * (z1 t - z1 0)).
Proof.
move=> P10 P20 o0 flow t t0.
have two : 2%:R = 1 + 1 :> R by [].
have sq z s : exp (2%:R * z s) = exp (z s) ^+ 2 by rewrite two mulrDl mul1r (exponential_add e) expr2.
have back z s : exp (- (2%:R * z s)) = (exp (z s) ^+ 2)^-1.
  apply: (mulfI (lt0r_neq0 (pos (2%:R * z s)))); rewrite (expN e) sq divff //.
  by rewrite expf_neq0 // lt0r_neq0.
pose D s := P2 ^- 2 * exp (- (2%:R * z2 s)) - P1 ^- 2 * exp (- (2%:R * z1 s)).
have one P z s : P != 0 -> 0 <= s -> rate z s (eta * (P * exp (z s) / o s) ^+ 2 * xi s) ->
    rate (fun s => P ^- 2 * exp (- (2%:R * z s))) s (- (2%:R * eta * xi s / o s ^+ 2)).
  move=> P0 s0 zr; apply: rate_eq (rate_scale _ (rate_exp e (rate_opp (rate_scale 2%:R zr)))) => //.
  rewrite back; move/eqP: P0; move/eqP: (o0 s s0); move/lt0r_neq0/eqP: (pos (z s)).
  move: (exp _) (o s) (xi s) (2%:R) => x y u w x0 y0 P0; rewrite -!exprVn; named R; field.
  by do !split.
have flat s : 0 <= s -> rate D s 0.
  move=> s0; have [r1 r2] := flow s s0.
  apply: rate_eq (rate_add (one P2 z2 s P20 s0 r2) (rate_opp (one P1 z1 s P10 s0 r1))) => //.
  by rewrite addrN.
have rE s : 0 <= s -> r s = P1 ^+ 2 * exp (z1 s) ^+ 2 * D s.
  move=> s0; rewrite /r /D !back /f1 /f2; move/eqP: (o0 s s0); move/eqP: P10; move/eqP: P20.
  move/lt0r_neq0/eqP: (pos (z1 s)); move/lt0r_neq0/eqP: (pos (z2 s)).
  move: (exp (z1 s)) (exp (z2 s)) (o s) => x y w y0 x0 b0 a0 w0; rewrite -!exprVn.
  by named R; field; do !split.
have step : exp (z1 t) ^+ 2 = exp (z1 0) ^+ 2 * exp (2%:R * (z1 t - z1 0)).
  by rewrite -!sq -(exponential_add e) -mulrDr addrC subrK.
rewrite rE // rE // (constant mv flat t0) step.
by move: (P1 ^+ 2) (exp (z1 0) ^+ 2) (D 0) (exp _) => a b c d; named R; ring.
Qed.

(* (113): against a common token, which falls. *)
Theorem equation_113 (z z' : R -> R) (p p' : R) t dz dz' :
  p != 0 -> p' != 0 -> rate z t dz -> rate z' t dz' -> 0 < dz -> dz' < 0 ->
  let ratio s := (p * exp (z s)) ^+ 2 / (p' * exp (z' s)) ^+ 2 in
  let speed := p ^+ 2 / p' ^+ 2 * exp (2%:R * (z t - z' t)) * (2%:R * (dz - dz')) in
  [/\ rate (fun s => ratio s - 1) t speed, rate ratio t speed & 0 < speed].
Proof.
move=> p0 p0' zr zr' up down ratio speed.
have two : 2%:R = 1 + 1 :> R by [].
have form s : ratio s = p ^+ 2 / p' ^+ 2 * exp (2%:R * (z s - z' s)).
  have -> : exp (2%:R * (z s - z' s)) = exp (z s) ^+ 2 / exp (z' s) ^+ 2.
    rewrite -expr_div_n; have -> : exp (z s) / exp (z' s) = exp (z s - z' s).
      apply: (mulIf (lt0r_neq0 (pos (z' s)))); rewrite divfK ?lt0r_neq0 //.
      by rewrite -(exponential_add e) subrK.
    by move: (z s - z' s) => x; rewrite two mulrDl mul1r (exponential_add e) expr2.
  by rewrite /ratio !exprMn invfM mulrACA.
have rr : rate ratio t speed.
  apply: rate_eq (rate_scale (p ^+ 2 / p' ^+ 2)
    (rate_exp e (rate_scale 2%:R (rate_add zr (rate_opp zr'))))) => [s|].
    by rewrite form.
  by rewrite mulrA.
split=> //.
  by apply: rate_eq (rate_add rr (rate_const (- 1) t)) => //; rewrite addr0.
have gap : 0 < dz - dz' by rewrite subr_gt0 (lt_trans down).
have sq (x : R) : x != 0 -> 0 < x ^+ 2 by move=> x0; rewrite lt_neqAle sqr_ge0 eq_sym sqrf_eq0 x0.
apply: mulr_gt0; last by rewrite mulr_gt0 ?ltr0n.
by apply: mulr_gt0; rewrite ?pos // divr_gt0 ?sq.
Qed.

(* (128) and (124): (13) taken exactly. *)
Section Snapping.
Variables (M K eta_Y eta_Z : R) (h : R -> R).
Hypotheses (M1 : 1 < M) (K0 : 0 < K) (Y0 : 0 < eta_Y) (Z0 : 0 < eta_Z) (mv : mean_value R)
  (h44 : height_44 M eta_Y h).
Definition gamma t : R := (M - 1) ^+ 2 * h (t / K) / (M - 1 + exp (M * h (t / K))).
Definition Gamma_128 t : R := eta_Z / eta_Y * (K * (M - 1) ^+ 2 / 2%:R) * h (t / K) ^+ 2.

Lemma rate_128 t : 0 <= t -> rate Gamma_128 t (eta_Z * gamma t).
Proof.
move=> t0; have [h0 flow] := h44; have tK : 0 <= t / K by rewrite divr_ge0 // ltW.
have hr : rate (fun s => h (s / K)) t (eta_Y / (M - 1 + exp (M * h (t / K))) * K^-1).
  apply: (@rate_chain _ h (fun s => s / K)); last exact: flow.
  by apply: rate_eq (rate_linear K^-1 t) => // s; rewrite mulrC.
apply: rate_eq (rate_scale _ (rate_chain hr (rate_square _))) => //.
have /lt0r_neq0/eqP := denominator (M * h (t / K)) (ltW M1).
have /eqP := lt0r_neq0 K0; have /eqP := lt0r_neq0 Y0; rewrite /gamma.
have two : 2%:R <> 0 :> R by apply/eqP; rewrite pnatr_eq0.
move: (exp _) => x; move: (h _) => y; move: (2%:R : R) two => w two a0 b0 x0; named R; field.
by do !split.
Qed.

Theorem equation_128 G : G 0 = 0 -> (forall t, 0 <= t -> rate G t (eta_Z * gamma t)) ->
  forall t, 0 <= t -> G t = Gamma_128 t.
Proof.
move=> G0 Gr t t0; apply/eqP; rewrite -subr_eq0; apply/eqP.
pose d s := G s - Gamma_128 s.
have flat s : 0 <= s -> rate d s 0.
  move=> s0; apply: rate_eq (rate_add (Gr s s0) (rate_opp (rate_128 s0))) => //.
  by rewrite addrN.
rewrite -/(d t) (constant mv flat t0) /d G0 /Gamma_128 mul0r (proj1 h44).
by rewrite expr0n mulr0 subrr.
Qed.

(* (13) for the common token, its force, and B, the integral of the force. *)
Definition follows_13 (C0 : R) (z xi B : R -> R) : Prop :=
  [/\ z 0 = 0, B 0 = 0,
      forall t, 0 <= t -> rate z t (- (C0^-1 * eta_Z * gamma t * exp (4%:R * z t))),
      forall t, 0 <= t -> xi t = C0^-1 * gamma t * exp (4%:R * z t) &
      forall t, 0 <= t -> rate B t (eta_Z * xi t)].

Lemma Gamma_ge0 t : 0 <= Gamma_128 t.
Proof.
apply: mulr_ge0 (sqr_ge0 _); apply: mulr_ge0; first by rewrite divr_ge0 ?ltW.
by rewrite divr_ge0 ?ler0n // mulr_ge0 ?sqr_ge0 // ltW.
Qed.

Theorem equation_124_corrected C0 z xi B : 0 < C0 -> follows_13 C0 z xi B -> forall t, 0 <= t ->
  z t = - B t /\ B t = log (1 + 4%:R * Gamma_128 t / C0) / 4%:R.
Proof.
move=> C00 [z0 B0 zr xiE Br] t t0; have four : 4%:R != 0 :> R by rewrite pnatr_eq0.
have sum : z t + B t = 0.
  pose d s := z s + B s; have flat s : 0 <= s -> rate d s 0.
    move=> s0; apply: rate_eq (rate_add (zr s s0) (Br s s0)) => //.
    by rewrite (xiE s s0) addrC !mulrA [eta_Z * _]mulrC subrr.
  by rewrite -/(d t) (constant mv flat t0) /d z0 B0 addr0.
have zB : z t = - B t by apply/eqP; rewrite -addr_eq0 sum.
split=> //; pose g s := exp (- (4%:R * z s)) - 4%:R / C0 * Gamma_128 s.
have flat s : 0 <= s -> rate g s 0.
  move=> s0; apply: rate_eq (rate_add (rate_exp e (rate_opp (rate_scale 4%:R (zr s s0))))
    (rate_opp (rate_scale (4%:R / C0) (rate_128 s0)))) => //.
  have E := expN e (4%:R * z s); have -> : exp (- (4%:R * z s)) * - (4%:R * - (C0^-1 * eta_Z *
      gamma s * exp (4%:R * z s))) = 4%:R * (C0^-1 * eta_Z * gamma s) *
      (exp (4%:R * z s) * exp (- (4%:R * z s))).
    move: (exp (- _)) (exp (4%:R * _)) => x y; move: (4%:R : R) (C0^-1) (gamma s) => w i b.
    by named R; ring.
  by rewrite E; move: (4%:R : R) (C0^-1) (gamma s) => w i b; named R; ring.
have := constant mv flat t0; rewrite /g z0 mulr0 oppr0 (exp0 e) /Gamma_128 mul0r (proj1 h44).
rewrite expr0n mulr0 mulr0 subr0 -/(Gamma_128 t) => /eqP; rewrite subr_eq => /eqP.
rewrite zB mulrN opprK => E; by rewrite mulrAC -E (expK e logK) [4%:R * _]mulrC mulfK.
Qed.

(* As printed, (124) and (129) are wrong at every moment, unless C_0 is one. *)
Theorem equation_124_refuted C0 z xi B : 0 < C0 -> C0 != 1 -> follows_13 C0 z xi B ->
  forall t, 0 <= t ->
  B t != log (C0 + 4%:R * Gamma_128 t) / 4%:R /\
  B t != log (C0 + 2%:R * (eta_Z / eta_Y) * K * (M - 1) ^+ 2 * h (t / K) ^+ 2) / 4%:R.
Proof.
move=> C00 C01 run t t0; have [_ ->] := equation_124_corrected C00 run t0.
have same : 2%:R * (eta_Z / eta_Y) * K * (M - 1) ^+ 2 * h (t / K) ^+ 2 = 4%:R * Gamma_128 t.
  rewrite /Gamma_128; have two : 2%:R <> 0 :> R by apply/eqP; rewrite pnatr_eq0.
  have -> : 4%:R = 2%:R * 2%:R :> R by rewrite -natrM.
  move: (eta_Z / eta_Y) (h _) two => x y; move: (2%:R : R) => w two; named R; field.
  by [].
rewrite same; suff : log (1 + 4%:R * Gamma_128 t / C0) / 4%:R != log (C0 + 4%:R * Gamma_128 t) / 4%:R by [].
have p0 : 0 < 1 + 4%:R * Gamma_128 t / C0.
  apply: ltr_paddr; rewrite ?ltr01 //; apply: divr_ge0 (ltW C00).
  exact: mulr_ge0 (ler0n _ _) (Gamma_ge0 t).
have c0 := lt0r_neq0 C00; have whole : C0 + 4%:R * Gamma_128 t = C0 * (1 + 4%:R * Gamma_128 t / C0).
  by rewrite mulrDr mulr1 [C0 * (_ / _)]mulrC divfK.
apply: contraNneq C01; have four : 4%:R^-1 != 0 :> R by rewrite invr_eq0 pnatr_eq0.
move/(mulIf four) => /(congr1 exp); rewrite whole !logK ?mulr_gt0 // => same2.
apply/eqP; apply: (mulIf (lt0r_neq0 p0)); by rewrite mul1r -same2.
Qed.

(* There is such a motion. *)
Theorem exists_13 C0 : 0 < C0 -> exists z xi B, follows_13 C0 z xi B.
Proof.
move=> C00; pose q s := 1 + 4%:R / C0 * Gamma_128 s.
have q0 s : 0 < q s.
  apply: ltr_paddr; rewrite ?ltr01 //; apply: mulr_ge0 (Gamma_ge0 s).
  exact: divr_ge0 (ler0n _ _) (ltW C00).
pose B s := log (q s) / 4%:R; pose z s := - B s.
have four : 4%:R != 0 :> R by rewrite pnatr_eq0.
have start : B 0 = 0.
  rewrite /B /q /Gamma_128 mul0r (proj1 h44) expr0n !mulr0 addr0.
  by rewrite (log1 e logK) mul0r.
have back s : exp (4%:R * z s) = (q s)^-1.
  have -> : 4%:R * z s = - log (q s) by rewrite /z /B mulrN mulrC divfK.
  by rewrite -(log_inv e logK) // logK // invr_gt0.
have Br s : 0 <= s -> rate B s (eta_Z * (C0^-1 * gamma s * exp (4%:R * z s))).
  move=> s0; have qr := rate_add (rate_const 1 s) (rate_scale (4%:R / C0) (rate_128 s0)).
  apply: rate_eq (rate_scale 4%:R^-1 (rate_log e logK (q0 s) qr)) => [t|]; first exact: mulrC.
  rewrite back; move/eqP: four; move: (q s)^-1 (gamma s) (C0^-1) => x y w; move: (4%:R : R) => u u0.
  by named R; field.
exists z, (fun s => C0^-1 * gamma s * exp (4%:R * z s)), B; split=> //.
  by rewrite /z start oppr0.
move=> s s0; apply: rate_eq (rate_opp (Br s s0)) => //.
by congr (- _); rewrite !mulrA [eta_Z * _]mulrC.
Qed.
End Snapping.
End Flow.
