(* Formulas (5) and (6) are the derivatives of the losses: along every line, the loss changes at the
   rate of the inner product with them. Over any real closed field, for any exp with the two
   properties of [exponential] and any log that inverts it; no axiom.

   [rate f s l] says more than that l is the derivative: the error is of second order. *)
From Coq Require Import Ring Field.
From mathcomp Require Import all_ssreflect all_algebra.
From Companion Require Import Fields Exponential MaxMargin Frobenius Stage1Law Stage2.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Section Rules.
Variables (R : rcfType) (exp log : R -> R).
Hypotheses (e : exponential exp) (logK : forall c, 0 < c -> exp (log c) = c).
Implicit Types (f g : R -> R) (s : R).
Add Field scores0 : (is_field R).

Definition rate f s (l : R) : Prop := exists d C : R, [/\ 0 < d, 0 <= C &
  forall h, `|h| <= d -> `|f (s + h) - f s - l * h| <= C * h ^+ 2].

(* So it is the derivative, in the usual words. *)
Theorem rate_limit f s l : rate f s l -> forall eps, 0 < eps -> exists2 d, 0 < d &
  forall h, h != 0 -> `|h| <= d -> `|(f (s + h) - f s) / h - l| <= eps.
Proof.
move=> [d [C [d0 C0 bound]]] eps eps0; exists (Num.min d (eps / (C + 1))).
  by rewrite lt_minr d0 divr_gt0 // ltr_paddl ?ltr01.
move=> h h0; rewrite le_minr => /andP [hd he]; have n0 : 0 < `|h| by rewrite normr_gt0.
rewrite -(ler_pmul2r n0) -normrM mulrBl divfK //; apply: le_trans (bound h hd) _.
rewrite -real_normK ?num_real // expr2 mulrA ler_pmul2r //.
apply: le_trans (_ : C * (eps / (C + 1)) <= _); first by rewrite ler_wpmul2l.
by rewrite mulrCA ler_pimulr ?(ltW eps0) // ler_pdivr_mulr ?ltr_paddl ?ltr01 // mul1r ler_addl
  ler01.
Qed.

Lemma rate_eq f g s l m : f =1 g -> l = m -> rate f s l -> rate g s m.
Proof.
by move=> fg -> [d [C [d0 C0 bound]]]; exists d, C; split=> // h /bound; rewrite !fg.
Qed.

Lemma rate_const c s : rate (fun=> c) s 0.
Proof.
exists 1, 0; split=> [||h _]; rewrite ?ltr01 //.
by rewrite subrr mul0r subrr normr0 mul0r.
Qed.

Lemma rate_id s : rate id s 1.
Proof.
exists 1, 0; split=> [||h _]; rewrite ?ltr01 //.
by rewrite mul1r [s + h]addrC addrK subrr normr0 mul0r.
Qed.

Lemma rate_add f g s l m : rate f s l -> rate g s m -> rate (fun t => f t + g t) s (l + m).
Proof.
move=> [d [C [d0 C0 bf]]] [d' [C' [d'0 C'0 bg]]]; exists (Num.min d d'), (C + C').
split=> [||h]; rewrite ?lt_minr ?d0 // ?addr_ge0 // le_minr => /andP [/bf le /bg le'].
rewrite [(C + C') * _]mulrDl; apply: le_trans _ (ler_add le le').
have -> : f (s + h) + g (s + h) - (f s + g s) - (l + m) * h =
    (f (s + h) - f s - l * h) + (g (s + h) - g s - m * h).
  by move: (f (s + h)) (g (s + h)) (f s) (g s) => a b c c'; named R; ring.
exact: ler_norm_add.
Qed.

(* The change itself is of first order. *)
Lemma rate_change f s l : rate f s l -> exists d M : R, [/\ 0 < d, 0 <= M &
  forall h, `|h| <= d -> `|f (s + h) - f s| <= M * `|h|].
Proof.
move=> [d [C [d0 C0 bound]]]; exists d, (`|l| + C * d); split=> // [|h hd].
  by rewrite addr_ge0 ?mulr_ge0 // ltW.
rewrite -[f (s + h) - f s](subrK (l * h)); apply: le_trans (ler_norm_add _ _) _.
rewrite addrC mulrDl normrM ler_add2l; apply: le_trans (bound h hd) _.
by rewrite -real_normK ?num_real // expr2 mulrA ler_wpmul2r // ler_wpmul2l.
Qed.

Lemma rate_chain p f s l m : rate f s l -> rate p (f s) m -> rate (fun t => p (f t)) s (m * l).
Proof.
move=> df; have [d1 [M [d10 M0 change]]] := rate_change df.
move: df => [d [C [d0 C0 bound]]] [d' [C' [d'0 C'0 bp]]].
exists (Num.min (Num.min d d1) (d' / (M + 1))), (C' * M ^+ 2 + `|m| * C).
split=> [||h].
- by rewrite !lt_minr d0 d10 divr_gt0 // ltr_paddl ?ltr01.
- by rewrite addr_ge0 ?mulr_ge0 ?sqr_ge0.
rewrite !le_minr => /andP [/andP [/bound lf /change lk] hd'].
set k := f (s + h) - f s in lf lk; have fE : f (s + h) = f s + k by rewrite [f s + k]addrC subrK.
have kd : `|k| <= d'.
  apply: le_trans lk _; apply: le_trans (_ : (M + 1) * `|h| <= _).
    by rewrite ler_wpmul2r // ler_addl ler01.
  by rewrite mulrC -ler_pdivl_mulr // ltr_paddl ?ltr01.
have -> : p (f (s + h)) - p (f s) - m * l * h = (p (f s + k) - p (f s) - m * k) + m * (k - l * h).
  by rewrite fE; move: (p _) (p _) => a b; named R; ring.
apply: le_trans (ler_norm_add _ _) _; rewrite [(_ + _) * h ^+ 2]mulrDl; apply: ler_add.
  apply: le_trans (bp k kd) _; rewrite -mulrA ler_wpmul2l // -exprMn.
  rewrite -(real_normK (num_real k)) -(real_normK (num_real (M * h))) normrM (ger0_norm M0).
  by rewrite ler_pexpn2r ?nnegrE ?mulr_ge0.
by rewrite normrM -mulrA ler_wpmul2l.
Qed.

Lemma rate_square s : rate (fun t => t ^+ 2) s (2%:R * s).
Proof.
exists 1, 1; split=> [||h _]; rewrite ?ltr01 ?ler01 //.
have -> : (s + h) ^+ 2 - s ^+ 2 - 2%:R * s * h = h ^+ 2.
  by rewrite -[2%:R]/(1 + 1); named R; ring.
by rewrite mul1r ger0_norm ?sqr_ge0.
Qed.

Lemma rate_linear c s : rate (fun t => c * t) s c.
Proof.
exists 1, 0; split=> [||h _]; rewrite ?ltr01 //.
by rewrite mulrDr [c * s + _]addrC addrK subrr normr0 mul0r.
Qed.

Lemma rate_scale c f s l : rate f s l -> rate (fun t => c * f t) s (c * l).
Proof. by move=> df; apply: rate_chain df (rate_linear c (f s)). Qed.

Lemma rate_opp f s l : rate f s l -> rate (fun t => - f t) s (- l).
Proof.
by move=> df; apply: rate_eq (rate_scale (-1) df) => [t|]; rewrite mulN1r.
Qed.

(* A product is half of (f + g)^2 - f^2 - g^2. *)
Lemma rate_mul f g s l m : rate f s l -> rate g s m ->
  rate (fun t => f t * g t) s (f s * m + g s * l).
Proof.
move=> df dg; have two : 2%:R != 0 :> R by rewrite pnatr_eq0.
have sq := rate_chain (rate_add df dg) (rate_square _).
have sf := rate_opp (rate_chain df (rate_square _)).
have sg := rate_opp (rate_chain dg (rate_square _)).
apply: rate_eq (rate_scale 2%:R^-1 (rate_add sq (rate_add sf sg))) => [t|] /=;
  apply: (mulfI two); rewrite mulrA divff // mul1r -[2%:R]/(1 + 1).
  by move: (f t) (g t) => a b; named R; ring.
by move: (f s) (g s) => a b; named R; ring.
Qed.

Let pos := exp_gt0 e.

(* 1 + h <= exp h <= 1 / (1 - h). *)
Lemma rate_exp_at s : rate exp s (exp s).
Proof.
exists 2%:R^-1, (exp s * 2%:R); split=> [||h hd]; first by rewrite invr_gt0 ltr0n.
  by rewrite mulr_ge0 ?ler0n // ltW.
rewrite (exponential_add e) -[X in _ - X - _]mulr1 -mulrBr -mulrBr normrM (gtr0_norm (pos s)).
rewrite -mulrA ler_pmul2l //; have low : 0 <= exp h - 1 - h.
  by rewrite -addrA -opprD subr_ge0; exact: (exponential_tangent e h).
rewrite ger0_norm //; have h1 : 2%:R^-1 <= 1 - h.
  rewrite ler_subr_addr -ler_subr_addl; apply: le_trans (ler_norm h) (le_trans hd _).
  rewrite ler_subr_addr -mulr2n -[_^-1 *+ 2]mulr_natr mulVf // pnatr_eq0.
  by [].
have h0 : 0 < 1 - h by apply: lt_le_trans h1; rewrite invr_gt0 ltr0n.
have up : exp h * (1 - h) <= 1.
  rewrite -[X in _ <= X](expN e h) ler_pmul2l //; exact: (exponential_tangent e (- h)).
rewrite -(ler_pmul2r h0); apply: le_trans (_ : h ^+ 2 <= _).
  have -> : (exp h - 1 - h) * (1 - h) = exp h * (1 - h) - 1 + h ^+ 2.
    by move: (exp h) => a; named R; ring.
  by rewrite ger_addr subr_le0.
rewrite mulrAC -[X in X <= _]mul1r ler_wpmul2r ?sqr_ge0 //.
by rewrite -ler_pdivr_mull ?ltr0n // mulr1.
Qed.

Lemma rate_exp f s l : rate f s l -> rate (fun t => exp (f t)) s (exp (f s) * l).
Proof. by move=> df; apply: rate_chain df (rate_exp_at _). Qed.

Lemma log_step v h : 0 < v -> 0 < v + h -> log (v + h) <= log v + h / v.
Proof.
move=> v0 vh; apply: (log_le_exp e logK) => //.
rewrite (exponential_add e) logK //; apply: le_trans (_ : v * (1 + h / v) <= _).
  by rewrite mulrDr mulr1 mulrCA divff ?mulr1 ?lt0r_neq0.
by rewrite ler_pmul2l //; exact: (exponential_tangent e _).
Qed.

Lemma rate_log_at v : 0 < v -> rate log v v^-1.
Proof.
move=> v0; exists (v / 2%:R), (2%:R / v ^+ 2); have two : 0 < 2%:R :> R by rewrite ltr0n.
split=> [||h hd]; first by rewrite divr_gt0.
  by rewrite divr_ge0 ?ler0n ?sqr_ge0.
have half : v / 2%:R + v / 2%:R = v.
  by rewrite -mulr2n -[_ / _ *+ 2]mulr_natr divfK // pnatr_eq0.
have [lo _] := ler_normlP _ _ hd; have vh2 : v / 2%:R <= v + h.
  by rewrite -ler_subl_addl -{2}half opprD addrA subrr sub0r ler_oppl.
have h2 : 0 < v / 2%:R by rewrite divr_gt0.
have vh : 0 < v + h by apply: lt_le_trans vh2.
have up := log_step v0 vh.
have down : log v <= log (v + h) - h / (v + h).
  by have := @log_step (v + h) (- h) vh; rewrite addrK mulNr; apply.
have v1 := lt0r_neq0 v0; have vh1 := lt0r_neq0 vh.
rewrite -[v^-1 * h]mulrC -normrN ger0_norm; last first.
  by rewrite oppr_ge0 -addrA -opprD subr_le0.
rewrite opprB; apply: le_trans (_ : h / v - h / (v + h) <= _).
  by rewrite ler_add2l ler_oppl opprK ler_subr_addl -ler_subr_addr.
have -> : h / v - h / (v + h) = h ^+ 2 / (v * (v + h)).
  have gen (a b : R) : a <> 0 -> b <> 0 -> (b - a) / a - (b - a) / b = (b - a) ^+ 2 / (a * b).
    by move=> a0 b0; named R; field.
  by move/eqP: v1 => v1; move/eqP: vh1 => vh1; have := gen v (v + h) v1 vh1;
    rewrite addrAC subrr add0r.
rewrite mulrC ler_wpmul2r ?sqr_ge0 // ler_pdivl_mulr ?exprn_gt0 // mulrC.
rewrite ler_pdivr_mulr ?mulr_gt0 // expr2 mulrCA ler_pmul2l //.
by rewrite mulrC -ler_pdivr_mulr.
Qed.

Lemma rate_log f s l : 0 < f s -> rate f s l -> rate (fun t => log (f t)) s (l / f s).
Proof. by move=> f0 df; rewrite mulrC; apply: rate_chain df (rate_log_at f0). Qed.

(* The inverse of a positive function, by exp and log. *)
Lemma rate_inv f s l : (forall t, 0 < f t) -> rate f s l ->
  rate (fun t => (f t)^-1) s (- (f s) ^- 2 * l).
Proof.
move=> f0 df; have inv t : exp (- log (f t)) = (f t)^-1 by rewrite -(log_inv e logK) ?logK
  ?invr_gt0.
apply: rate_eq (rate_exp (rate_opp (rate_log (f0 s) df))) => //; rewrite inv.
by rewrite expr2 invfM mulrN mulNr -mulrA [l / _]mulrC.
Qed.

Lemma rate_sum (T : Type) (r : seq T) (P : pred T) (f : T -> R -> R) (l : T -> R) s :
  (forall i, rate (f i) s (l i)) ->
  rate (fun t => \sum_(i <- r | P i) f i t) s (\sum_(i <- r | P i) l i).
Proof.
move=> df; elim: r => [|i r IH].
  by apply: rate_eq (rate_const 0 s) => [t|]; rewrite big_nil.
have [Pi|nPi] := boolP (P i); last first.
  by apply: rate_eq IH => [t|]; rewrite big_cons (negbTE nPi).
by apply: rate_eq (rate_add (df i) IH) => [t|]; rewrite big_cons Pi.
Qed.

Section Softmax.
Variables (T : Type) (r : seq T) (z : T -> R -> R) (l : T -> R) (s : R).
Hypothesis rates : forall u, rate (z u) s (l u).
Hypothesis total : forall t, 0 < \sum_(u <- r) exp (z u t).
Notation Z t := (\sum_(u <- r) exp (z u t)).

Lemma rate_total : rate (fun t => Z t) s (\sum_(u <- r) exp (z u s) * l u).
Proof. by apply: rate_sum => u; apply: rate_exp. Qed.

Lemma rate_log_sum : rate (fun t => log (Z t)) s (\sum_(u <- r) exp (z u s) / Z s * l u).
Proof.
apply: rate_eq (rate_log (total s) rate_total) => //.
by rewrite mulr_suml; apply: eq_bigr => u _; rewrite mulrAC.
Qed.

Lemma rate_loss a : rate (fun t => - log (exp (z a t) / Z t)) s
  ((\sum_(u <- r) exp (z u s) / Z s * l u) - l a).
Proof.
apply: rate_eq (rate_add rate_log_sum (rate_opp (rates a))) => // t /=.
by rewrite (log_div e logK) ?(expK e logK) // opprB.
Qed.

Lemma rate_weight a : rate (fun t => exp (z a t) / Z t) s
  (exp (z a s) / Z s * (l a - \sum_(u <- r) exp (z u s) / Z s * l u)).
Proof.
apply: rate_eq (rate_mul (rate_exp (rates a)) (rate_inv total rate_total)) => //.
have -> : \sum_(u <- r) exp (z u s) / Z s * l u = (\sum_(u <- r) exp (z u s) * l u) / Z s.
  by rewrite mulr_suml; apply: eq_bigr => u _; rewrite mulrAC.
have := lt0r_neq0 (total s); move: (\sum_(u <- r) exp (z u s) * l u) (Z s) (exp _) (l a) => b d c x
  d0.
rewrite mulrBr addrC; congr (_ + _); first by rewrite mulrCA mulrA.
rewrite mulNr mulrN; congr (- _).
by rewrite expr2 invfM -[RHS]mulrA -[d^-1 * d^-1 * b]mulrA [d^-1 * b]mulrC.
Qed.
End Softmax.

Section Losses.
Variables (V : finType) (n : V -> V).
Implicit Types (W D : V -> V -> R) (t : R).
Definition line W D t : V -> V -> R := fun q x => W q x + t * D q x.

Lemma rate_entry W D q x s : rate (fun t => line W D t q x) s (D q x).
Proof.
apply: rate_eq (rate_add (rate_const (W q x) s) (rate_scale (D q x) (rate_id s))) => [t|] /=.
  by rewrite mulrC.
by rewrite add0r mulr1.
Qed.

(* (5) is the gradient of the loss of stage 1. *)
Theorem gradient_5 W D s : rate (fun t => loss0 n exp log (line W D t)) s
  (inner (Stage1Law.gradient n exp (line W D s)) D).
Proof.
have sum_pos (f : V -> R) : V -> 0 < \sum_u exp (f u).
  move=> x; rewrite (bigD1 x) //= ltr_paddr ?pos //.
  by apply: sumr_ge0 => u _; apply/ltW/pos.
have one x := rate_loss (fun v => rate_entry W D x v s)
  (fun t => sum_pos (fun v => line W D t x v) x) (n x).
apply: rate_eq (rate_sum (index_enum V) xpredT one) => [t|]; first by rewrite sumrN.
apply: eq_bigr => x _; rewrite /dot /Stage1Law.gradient /Stage1Law.softmax.
rewrite (eq_bigr _ (fun v _ => mulrBl _ _ _)) sumrB; congr (_ - _).
by rewrite (bigD1 (n x)) //= eqxx mul1r big1 ?addr0 // => v /negbTE ->; rewrite mul0r.
Qed.

Variables (I : finType) (body : I -> seq V) (query next : I -> V) (freq : I -> R).
Variable W_ov : V -> V -> R.
Notation sentence := (@sentence V I body query).
Notation weight := (@weight R V exp I body query).
Notation T := (@T R V exp I body query W_ov).
Notation error := (@error R V exp I body query next W_ov).
Notation mean_error := (@mean_error R V exp I body query next W_ov).
Notation gradient := (@gradient R V exp I body query next freq W_ov).

(* The loss of stage 2. *)
Definition loss W : R := - \sum_i freq i * log (T W i (next i)).

(* (6) is its gradient. *)
Theorem gradient_6 W D s : rate (fun t => loss (line W D t)) s
  (inner (gradient (line W D s)) D).
Proof.
set Ws := line W D s.
pose mean i := \sum_(y <- sentence i) weight Ws i y * D (query i) y.
have weights i x : rate (fun t => weight (line W D t) i x) s
    (weight Ws i x * (D (query i) x - mean i)).
  apply: (@rate_weight V (sentence i) (fun v t => line W D t (query i) v)) => [v|t].
    exact: rate_entry.
  exact: (total_gt0 body query pos (line W D t) i).
pose l i v := \sum_(x <- sentence i) weight Ws i x * (D (query i) x - mean i) * W_ov x v.
have logits i v : rate (fun t => logit exp body query W_ov (line W D t) i v) s (l i v).
  apply: rate_sum => x; apply: rate_eq (rate_scale (W_ov x v) (weights i x)) => [t|].
    exact: mulrC.
  exact: mulrC.
have one i : rate (fun t => - log (T (line W D t) i (next i))) s
    ((\sum_v T Ws i v * l i v) - l i (next i)).
  apply: (@rate_loss V (index_enum V) (fun v t => logit _ body query W_ov (line W D t) i v)).
    exact: logits.
  move=> t; rewrite (bigD1 (query i)) //= ltr_paddr ?pos //.
  by apply: sumr_ge0 => u _; apply/ltW/pos.
apply: rate_eq (rate_sum (index_enum I) xpredT (fun i => rate_scale (freq i) (one i))) => [t|].
  by rewrite /loss -sumrN; apply: eq_bigr => i _; rewrite mulrN.
rewrite inner_gradient; apply: eq_bigr => i _; congr (_ * _).
have -> : \sum_v T Ws i v * l i v - l i (next i) =
    \sum_(x <- sentence i) weight Ws i x * error Ws i x * (D (query i) x - mean i).
  have -> : l i (next i) = \sum_v (v == next i)%:R * l i v.
    by rewrite (bigD1 (next i)) //= eqxx mul1r big1 ?addr0 // => v /negbTE ->; rewrite mul0r.
  rewrite -sumrB; under eq_bigr => v _ do rewrite -mulrBl mulr_sumr.
  rewrite exchange_big; apply: eq_bigr => x _ /=; rewrite /Stage2.error mulr_sumr mulr_suml.
  apply: eq_bigr => v _; move: (T _ _ _) (_%:R) (weight _ _ _) (D _ _) (mean _) (W_ov _ _) => a b c
    d m w.
  by named R; ring.
(* a covariance is symmetric *)
have -> : \sum_x pull exp body query next W_ov Ws i x * D (query i) x =
    \sum_(x <- sentence i) weight Ws i x * (error Ws i x - mean_error Ws i) * D (query i) x.
  rewrite [RHS](sentence_sum (sentence i)); apply: eq_bigr => x _.
  by rewrite /pull /mass !mulrA.
have e1 x : weight Ws i x * error Ws i x * (D (query i) x - mean i) =
    weight Ws i x * error Ws i x * D (query i) x - mean i * (weight Ws i x * error Ws i x).
  by rewrite mulrBr [mean i * _]mulrC.
have e2 x : weight Ws i x * (error Ws i x - mean_error Ws i) * D (query i) x =
    weight Ws i x * error Ws i x * D (query i) x - mean_error Ws i * (weight Ws i x * D (query i)
      x).
  by move: (weight _ _ _) (error _ _ _) (mean_error _ _) (D _ _) => a b c d; named R; ring.
rewrite (eq_bigr _ (fun x _ => e1 x)) [RHS](eq_bigr _ (fun x _ => e2 x)) !sumrB -!mulr_sumr.
by congr (_ - _); apply: mulrC.
Qed.
End Losses.
End Rules.
