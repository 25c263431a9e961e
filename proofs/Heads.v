(* The second paper: (3), (4) and the gradients of several heads as derivatives of the likelihood (2).
   Pages: tian2023_s3_setting, tian2023_s4_decoder, tian2023_s7_discussion. *)
From Coq Require Import Ring Field.
From mathcomp Require Import all_ssreflect all_algebra.
From Companion Require Import Fields Exponential Stage2 Calculus.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

(* LN(v) = v / |v|. *)
Section Normalized.
Variables (R : rcfType) (V : finType).
Implicit Types (v : V -> R) (l : V).
Definition size2 v : R := \sum_u v u ^+ 2.
Definition LN v l : R := v l / Num.sqrt (size2 v).

Lemma size2_gt0 v : (exists u, v u != 0) -> 0 < size2 v.
Proof.
move=> [u vu]; rewrite /size2 (bigD1 u) //= ltr_paddr //.
  by apply: sumr_ge0 => w _; apply: sqr_ge0.
by rewrite lt_neqAle sqr_ge0 eq_sym sqrf_eq0 vu.
Qed.

Lemma LN_same v w l : v =1 w -> LN v l = LN w l.
Proof. by move=> vw; rewrite /LN vw; congr (_ / Num.sqrt _); apply: eq_bigr => u _; rewrite vw. Qed.

Lemma LN_scale (c : R) v l : 0 < c -> LN (fun u => c * v u) l = LN v l.
Proof.
move=> c0; rewrite /LN; have -> : size2 (fun u => c * v u) = c ^+ 2 * size2 v.
  by rewrite mulr_sumr; apply: eq_bigr => u _; rewrite exprMn.
rewrite sqrtrM ?sqr_ge0 // sqrtr_sqr gtr0_norm // invfM mulrACA divff ?mul1r //.
exact: lt0r_neq0.
Qed.
End Normalized.

Section Rates.
Variables (R : rcfType) (exp log : R -> R).
Hypotheses (e : exponential exp) (logK : forall c, 0 < c -> exp (log c) = c).
Add Field numbers : (is_field R).
Let pos := exp_gt0 e.

Lemma root_exp (x : R) : 0 < x -> Num.sqrt x = exp (log x / 2%:R).
Proof.
move=> x0; rewrite -[LHS]/(Num.sqrt x) -{1}(logK x0).
have -> : exp (log x) = exp (log x / 2%:R) ^+ 2.
  by rewrite expr2 -(exponential_add e) -mulr2n -[_ / _ *+ 2]mulr_natr divfK // pnatr_eq0.
by rewrite sqrtr_sqr gtr0_norm.
Qed.

(* How f = LN(P exp z) moves with the scores z. *)
Section One.
Variables (V : finType) (P : V -> R) (z : V -> R -> R) (dz : V -> R) (s : R).
Hypotheses (some : exists u, P u != 0) (rates : forall u, rate (z u) s (dz u)).
Notation f t := (LN (fun u => P u * exp (z u t))).

Lemma rate_LN l : rate (fun t => f t l) s (f s l * (dz l - \sum_u f s u ^+ 2 * dz u)).
Proof.
pose N t := size2 (fun u => P u * exp (z u t)).
have N0 t : 0 < N t.
  by have [u Pu] := some; apply: size2_gt0; exists u; rewrite mulf_neq0 // lt0r_neq0.
have inv t : (Num.sqrt (N t))^-1 = exp (- (log (N t) / 2%:R)).
  rewrite root_exp //; apply: (mulfI (lt0r_neq0 (pos (log (N t) / 2%:R)))).
  by rewrite expN // divff // lt0r_neq0.
have cr u : rate (fun t => P u * exp (z u t)) s (P u * (exp (z u s) * dz u)).
  by apply: rate_scale; apply: rate_exp.
have Nr : rate N s (\sum_u 2%:R * (P u * exp (z u s)) * (P u * (exp (z u s) * dz u))).
  by apply: rate_sum => u; apply: rate_chain (cr u) (rate_square _).
have ir := rate_exp e (rate_opp (rate_scale 2%:R^-1 (rate_log e logK (N0 s) Nr))).
apply: rate_eq (rate_mul (cr l) ir) => [t|].
  by rewrite /LN -/(N t) inv [log _ / _]mulrC.
have sq u : f s u ^+ 2 = (P u * exp (z u s)) ^+ 2 / N s.
  by rewrite /LN expr_div_n sqr_sqrtr //; apply/ltW/N0.
have -> : \sum_u f s u ^+ 2 * dz u =
    2%:R^-1 * ((\sum_u 2%:R * (P u * exp (z u s)) * (P u * (exp (z u s) * dz u))) / N s).
  rewrite mulr_suml mulr_sumr; apply: eq_bigr => u _; rewrite sq.
  have two : 2%:R <> 0 :> R by apply/eqP; rewrite pnatr_eq0.
  move: (N s)^-1 (P u) (exp _) (dz u) two => a b c d; move: (2%:R : R) => w two.
  by named R; field.
rewrite /LN -/(N s) [2%:R^-1 * log _]mulrC -inv; set X := 2%:R^-1 * _.
move: (P l) (exp _) (dz l) (Num.sqrt _)^-1 => a b c d.
by named R; ring.
Qed.
End One.

(* The likelihood (2) of one sample whose next token is n, as a function of the tables Y and the scores
   z of all heads; the attended tokens of a head are weighed by P exp z. *)
Section Heads.
Variables (H V : finType) (n : V) (P : H -> V -> R).
Hypothesis some : forall h, exists u, P h u != 0.
Implicit Types (Y D : H -> V -> V -> R) (z d : H -> V -> R).
Definition unit_vector z h : V -> R := LN (fun u => P h u * exp (z h u)).
Definition head_logit Y z k : R := \sum_h \sum_l unit_vector z h l * Y h l k.
Definition likelihood (w : V -> R) : R := w n - log (\sum_k exp (w k)).
Definition alpha (w : V -> R) k : R := exp (w k) / \sum_j exp (w j).
Definition gain (Y : V -> V -> R) (w : V -> R) l : R :=
  \sum_k Y l k * ((k == n)%:R - alpha w k).

Lemma rate_likelihood (w : V -> R -> R) (dw : V -> R) s : (forall k, rate (w k) s (dw k)) ->
  rate (fun t => likelihood (fun k => w k t)) s
    (\sum_k ((k == n)%:R - alpha (fun j => w j s) k) * dw k).
Proof.
move=> rates; have tot t : 0 < \sum_k exp (w k t).
  rewrite (bigD1 n) //= ltr_paddr ?pos //.
  by apply: sumr_ge0 => u _; apply/ltW/pos.
apply: rate_eq (rate_add (rates n) (rate_opp (rate_log_sum e logK rates tot))) => [t //|].
rewrite (eq_bigr _ (fun k _ => mulrBl _ _ _)) sumrB; congr (_ - _).
by rewrite (bigD1 n) //= eqxx mul1r big1 ?addr0 // => k /negbTE ->; rewrite mul0r.
Qed.

Theorem heads Y D z d s
    (Ys := fun h l k => Y h l k + s * D h l k) (zs := fun h l => z h l + s * d h l)
    (f := unit_vector zs) (w := head_logit Ys zs) (g := fun h => gain (Ys h) w) :
  rate (fun t => likelihood (head_logit (fun h l k => Y h l k + t * D h l k)
                                        (fun h l => z h l + t * d h l))) s
    (\sum_h (\sum_l \sum_k f h l * ((k == n)%:R - alpha w k) * D h l k +
             \sum_l f h l * (g h l - f h l * \sum_i f h i * g h i) * d h l)).
Proof.
have entry (a b : R) : rate (fun t => a + t * b) s b.
  apply: rate_eq (rate_add (rate_const a s) (rate_scale b (rate_id s))) => [t|].
    by rewrite mulrC.
  by rewrite add0r mulr1.
have fr h l : rate (fun t => unit_vector (fun h l => z h l + t * d h l) h l) s
    (f h l * (d h l - \sum_u f h u ^+ 2 * d h u)).
  exact: (rate_LN (z := fun u t => z h u + t * d h u) (some h) (fun u => entry _ _)).
have wr k : rate (fun t => head_logit (fun h l k => Y h l k + t * D h l k)
      (fun h l => z h l + t * d h l) k) s
    (\sum_h \sum_l (f h l * D h l k + Ys h l k * (f h l * (d h l - \sum_u f h u ^+ 2 * d h u)))).
  apply: rate_sum => h; apply: rate_sum => l.
  exact: rate_mul (fr h l) (entry _ _).
apply: rate_eq (rate_likelihood wr) => //; rewrite -/w.
under eq_bigr => k _ do rewrite mulr_sumr.
rewrite exchange_big; apply: eq_bigr => h _ /=.
under eq_bigr => k _ do rewrite mulr_sumr.
rewrite exchange_big /=.
transitivity (\sum_l (\sum_k f h l * ((k == n)%:R - alpha w k) * D h l k +
    \sum_k ((k == n)%:R - alpha w k) *
      (Ys h l k * (f h l * (d h l - \sum_u f h u ^+ 2 * d h u))))).
  apply: eq_bigr => l _; rewrite -big_split; apply: eq_bigr => k _ /=.
  by rewrite mulrDr; congr (_ + _); rewrite mulrA [f h l * _]mulrC.
rewrite big_split /=; congr (_ + _).
have step l : \sum_k ((k == n)%:R - alpha w k) *
      (Ys h l k * (f h l * (d h l - \sum_u f h u ^+ 2 * d h u))) =
    f h l * g h l * d h l - f h l * g h l * \sum_u f h u ^+ 2 * d h u.
  rewrite -mulrBr [f h l * g h l]mulrC -[RHS]mulrA; move: (f h l * _) => x.
  by rewrite [LHS](eq_bigr _ (fun k _ => mulrA _ _ _)) -mulr_suml; congr (_ * _);
    apply: eq_bigr => k _; rewrite mulrC.
rewrite (eq_bigr _ (fun l _ => step l)) sumrB -mulr_suml.
have split l : f h l * (g h l - f h l * \sum_i f h i * g h i) * d h l =
    f h l * g h l * d h l - (\sum_i f h i * g h i) * (f h l ^+ 2 * d h l).
  by move: (f h l) (g h l) (d h l) (\sum_i _) => a b c x; named R; ring.
by rewrite [RHS](eq_bigr _ (fun l _ => split l)) sumrB -mulr_sumr.
Qed.
End Heads.

(* (1) and (2) for a sequence s, whose query q does not attend to itself, and its next token n. *)
Section Sequence.
Variables (H V : finType) (s : seq V) (q n : V).
Hypothesis tokens : s != [::].
Implicit Types (Y D : H -> V -> V -> R) (Z E : H -> V -> V -> R).
Definition b Z h y : R := exp (Z h q y) / \sum_(u <- s) exp (Z h q u).
Definition Xb Z h l : R := \sum_(y <- s) (y == l)%:R * b Z h y.
Definition X_diag_b_X Z h i l : R := \sum_(y <- s) (y == i)%:R * b Z h y * (y == l)%:R.
Definition perp (v : V -> R) i j : R := (i == j)%:R - v i * v j / size2 v.
Definition logits Y Z k : R := \sum_h \sum_l LN (Xb Z h) l * Y h l k.
Definition J Y Z : R := likelihood n (logits Y Z).
Definition error Y Z k : R := (k == n)%:R - alpha (logits Y Z) k.
(* (3), entry by entry, for each head. *)
Definition dY Y Z h l k : R := LN (Xb Z h) l * error Y Z k.
Definition dZ Y Z h m l : R := (m == q)%:R * \sum_j (\sum_k error Y Z k * Y h j k) *
  \sum_i perp (Xb Z h) j i / Num.sqrt (size2 (Xb Z h)) * X_diag_b_X Z h i l.

Lemma total_gt0 Z h : 0 < \sum_(u <- s) exp (Z h q u).
Proof.
case: s tokens => [//|y r] _; rewrite big_cons ltr_paddr ?pos //.
by apply: sumr_ge0 => u _; apply/ltW/pos.
Qed.

Lemma XbE Z h l : Xb Z h l =
  (\sum_(u <- s) exp (Z h q u))^-1 * ((count_mem l s)%:R * exp (Z h q l)).
Proof.
rewrite /Xb [LHS]sentence_sum [LHS](bigD1 l) //= eqxx mul1r.
rewrite [X in _ + X]big1 => [|y /negbTE ->]; last by rewrite mul0r mulr0.
by rewrite addr0 /b mulrA mulrC.
Qed.

Lemma some_token (h : H) : exists u, (count_mem u s)%:R != 0 :> R.
Proof.
case: s tokens => [//|y r] _; exists y.
by rewrite /= eqxx add1n pnatr_eq0.
Qed.

Lemma LN_Xb Z h l : LN (Xb Z h) l =
  unit_vector (fun _ u => (count_mem u s)%:R) (fun h => Z h q) h l.
Proof.
rewrite (LN_same _ (XbE Z h)); apply: LN_scale.
by rewrite invr_gt0 total_gt0.
Qed.

Lemma Xb_diagonal Z h i l : X_diag_b_X Z h i l = (i == l)%:R * Xb Z h l.
Proof.
rewrite /X_diag_b_X /Xb mulr_sumr; apply: eq_bigr => y _.
have [->|yi] := eqVneq y i; first by rewrite mul1r mulrC; case: eqP => _; rewrite ?mul1r ?mul0r.
rewrite !mul0r; have [yl|_] := eqVneq y l; last by rewrite mul0r mulr0.
by rewrite -yl eq_sym (negbTE yi) mul0r.
Qed.

(* The row of Z at the query is that of the dynamics of f. *)
Lemma dZ_row Y Z h l (f := LN (Xb Z h)) (g := gain n (Y h) (logits Y Z)) :
  dZ Y Z h q l = f l * (g l - f l * \sum_i f i * g i).
Proof.
have gE j : \sum_k error Y Z k * Y h j k = g j by apply: eq_bigr => k _; apply: mulrC.
rewrite /dZ eqxx mul1r; under eq_bigr => j _ do rewrite gE.
have v0 : 0 < size2 (Xb Z h).
  apply: size2_gt0; have [u u0] := some_token h; exists u.
  rewrite XbE; apply: mulf_neq0; first by rewrite invr_eq0 lt0r_neq0 // total_gt0.
  by apply: mulf_neq0 => //; rewrite lt0r_neq0 // pos.
have one j : \sum_i perp (Xb Z h) j i / Num.sqrt (size2 (Xb Z h)) * X_diag_b_X Z h i l =
    (j == l)%:R * f l - f l * f l * f j.
  rewrite (bigD1 l) //= big1 ?addr0 => [|i /negbTE il]; last first.
    by rewrite Xb_diagonal il mul0r mulr0.
  rewrite Xb_diagonal eqxx mul1r /perp mulrDl mulrDl /f /LN; congr (_ + _).
    by rewrite -mulrA [_^-1 * _]mulrC.
  rewrite -{1}(sqr_sqrtr (ltW v0)); move: (Xb Z h j) (Xb Z h l) (Num.sqrt _) => a c r.
  by rewrite expr2 invfM; move: r^-1 => i; named R; ring.
under eq_bigr => j _ do rewrite one mulrBr.
rewrite sumrB (bigD1 l) //= eqxx mul1r big1 ?addr0 => [|j /negbTE ->]; last first.
  by rewrite mul0r mulr0.
rewrite [f l * (_ - _)]mulrBr [g l * _]mulrC; congr (_ - _).
rewrite mulrA mulr_sumr; apply: eq_bigr => j _.
by rewrite mulrC mulrA.
Qed.

(* (3): the derivative of (2) along every line in all tables at once. *)
Theorem equation_3_heads Y D Z E r
    (Yr := fun h l k => Y h l k + r * D h l k) (Zr := fun h m l => Z h m l + r * E h m l) :
  rate (fun t => J (fun h l k => Y h l k + t * D h l k) (fun h m l => Z h m l + t * E h m l)) r
    (\sum_h (\sum_l \sum_k dY Yr Zr h l k * D h l k +
             \sum_m \sum_l dZ Yr Zr h m l * E h m l)).
Proof.
have same Y' Z' k : logits Y' Z' k =
    head_logit (fun _ u => (count_mem u s)%:R) Y' (fun h => Z' h q) k.
  by apply: eq_bigr => h _; apply: eq_bigr => l _; rewrite LN_Xb.
have aS w w' k : w =1 w' -> alpha w k = alpha w' k.
  by move=> ww; rewrite /alpha ww; congr (_ / _); apply: eq_bigr => j _; rewrite ww.
have lS w w' : w =1 w' -> likelihood n w = likelihood n w'.
  by move=> ww; rewrite /likelihood ww; congr (_ - log _); apply: eq_bigr => j _; rewrite ww.
apply: rate_eq (heads n some_token Y D (fun h => Z h q) (fun h => E h q) r) => [t|].
  by apply: lS => k; rewrite same.
have gS Y' Z' h l : gain n (Y' h) (head_logit (fun _ u => (count_mem u s)%:R) Y' (fun h => Z' h q)) l =
    gain n (Y' h) (logits Y' Z') l.
  by apply: eq_bigr => k _; congr (_ * (_ - _)); apply: aS => j; rewrite same.
apply: eq_bigr => h _; congr (_ + _).
  apply: eq_bigr => l _; apply: eq_bigr => k _; rewrite /dY LN_Xb /error; congr (_ * (_ - _) * _).
  by apply: aS => j; rewrite same.
rewrite [RHS](bigD1 q) //= [X in _ = _ + X]big1 ?addr0 => [|m /negbTE mq]; last first.
  by rewrite big1 // => l _; rewrite /dZ mq !mul0r.
apply: eq_bigr => l _; congr (_ * _); rewrite dZ_row -[Zr]/Zr LN_Xb -(gS Yr Zr).
congr (_ * (_ - _ * _)); by apply: eq_bigr => i _; rewrite LN_Xb -(gS Yr Zr).
Qed.
End Sequence.

(* One head: Lemma 1, (3) and (4). *)
Section OneHead.
Variables (V : finType) (s : seq V) (q n : V).
Hypothesis tokens : s != [::].
Implicit Types Y Z D E : V -> V -> R.
Notation one := (fun A (_ : unit) => A).
Definition attended Z : V -> R := Xb s q (one Z) tt.
Definition objective Y Z : R := J s q n (one Y) (one Z).
Definition logit_error Y Z k : R := error s q n (one Y) (one Z) k.
Definition speed_Y Y Z l k : R := LN (attended Z) l * logit_error Y Z k.
Definition speed_Z Y Z m l : R := (m == q)%:R * \sum_j (\sum_k logit_error Y Z k * Y j k) *
  \sum_i perp (attended Z) j i / Num.sqrt (size2 (attended Z)) * X_diag_b_X s q (one Z) tt i l.

Lemma sum_unit (F : unit -> R) : \sum_h F h = F tt.
Proof. by rewrite (bigD1 tt) //= big1 ?addr0 // => -[]. Qed.

Theorem equation_3 Y D Z E r (Yr := fun l k => Y l k + r * D l k) (Zr := fun m l => Z m l + r * E m l) :
  rate (fun t => objective (fun l k => Y l k + t * D l k) (fun m l => Z m l + t * E m l)) r
    (\sum_l \sum_k speed_Y Yr Zr l k * D l k + \sum_m \sum_l speed_Z Yr Zr m l * E m l).
Proof.
apply: rate_eq (equation_3_heads q n tokens (one Y) (one D) (one Z) (one E) r) => [t //|].
by rewrite sum_unit.
Qed.

Theorem equation_4 Y Z m l : speed_Z Y Z m l = (m == q)%:R *
  \sum_i X_diag_b_X s q (one Z) tt l i * \sum_j perp (attended Z) i j /
    Num.sqrt (size2 (attended Z)) * \sum_k Y j k * logit_error Y Z k.
Proof.
rewrite /speed_Z; congr (_ * _); under eq_bigr => j _ do rewrite mulr_sumr.
rewrite exchange_big; apply: eq_bigr => i _; rewrite mulr_sumr; apply: eq_bigr => j _ /=.
have -> : X_diag_b_X s q (one Z) tt i l = X_diag_b_X s q (one Z) tt l i.
  by apply: eq_bigr => y _; rewrite mulrAC [(y == i)%:R * _]mulrC mulrAC.
have -> : perp (attended Z) j i = perp (attended Z) i j.
  by rewrite /perp eq_sym [attended Z j * _]mulrC.
have -> : \sum_k logit_error Y Z k * Y j k = \sum_k Y j k * logit_error Y Z k.
  by apply: eq_bigr => k _; apply: mulrC.
move: (\sum_k _) (perp _ _ _) (Num.sqrt _) (X_diag_b_X _ _ _ _ _ _) => a b' c d.
by rewrite mulrCA [RHS]mulrCA [a * d]mulrC.
Qed.

Theorem one_row Y Z Z' : Z q =1 Z' q -> objective Y Z = objective Y Z'.
Proof.
move=> same; have bE h y : b s q (one Z) h y = b s q (one Z') h y.
  by rewrite /b same; congr (_ / _); apply: eq_bigr => u _; rewrite same.
have lE k : logits s q (one Y) (one Z) k = logits s q (one Y) (one Z') k.
  apply: eq_bigr => h _; apply: eq_bigr => l _; congr (_ * _); apply: LN_same => u.
  by apply: eq_bigr => y _; rewrite bE.
by rewrite /objective /J /likelihood lE; congr (_ - log _); apply: eq_bigr => k _; rewrite lE.
Qed.
End OneHead.

(* Heads that share one decoder: each moves as a single head does. *)
Theorem shared_decoder (H V : finType) (n : V) (P : H -> V -> R)
    (some : forall h, exists u, P h u != 0) (Y : V -> V -> R) (z d : H -> V -> R) r
    (zr := fun h l => z h l + r * d h l) (f := unit_vector P zr)
    (g := gain n Y (head_logit P (fun _ => Y) zr)) :
  rate (fun t => likelihood n (head_logit P (fun _ => Y) (fun h l => z h l + t * d h l))) r
    (\sum_h \sum_l f h l * (g l - f h l * \sum_i f h i * g i) * d h l).
Proof.
have S w w' : w =1 w' -> likelihood n w = likelihood n w'.
  by move=> ww; rewrite /likelihood ww; congr (_ - log _); apply: eq_bigr => j _; rewrite ww.
have still (A : H -> V -> R) t k : head_logit P (fun _ l k => Y l k + t * 0) A k =
    head_logit P (fun _ => Y) A k.
  by apply: eq_bigr => h _; apply: eq_bigr => l _; rewrite mulr0 addr0.
apply: rate_eq (heads n some (fun _ => Y) (fun _ _ _ => 0) z d r) => [t|]; first exact: S.
have aE k : alpha (head_logit P (fun _ l k => Y l k + r * 0) zr) k =
    alpha (head_logit P (fun _ => Y) zr) k.
  by rewrite /alpha still; congr (_ / _); apply: eq_bigr => j _; rewrite still.
apply: eq_bigr => h _; rewrite [X in X + _]big1 ?add0r => [|l _]; last first.
  by rewrite big1 // => k _; rewrite mulr0.
have gE l : gain n (fun l k => Y l k + r * 0) (head_logit P (fun _ l k => Y l k + r * 0) zr) l = g l.
  by apply: eq_bigr => k _; rewrite aE mulr0 addr0.
apply: eq_bigr => l _; congr (_ * (_ - _ * _) * _); first exact: gE.
by apply: eq_bigr => i _; congr (_ * _); apply: gE.
Qed.

(* (8): gradient ascent on the rows of W, whose logits of the class n are the row n. *)
Theorem equation_8 (V C : finType) (out : C -> V) (W D : C -> V -> R) (n : C) r
    (Wr := fun j k => W j k + r * D j k) :
  rate (fun t => likelihood (out n) (fun k => W n k + t * D n k)) r
    (\sum_j \sum_k (j == n)%:R * ((k == out n)%:R - alpha (Wr n) k) * D j k).
Proof.
have entry k : rate (fun t => W n k + t * D n k) r (D n k).
  apply: rate_eq (rate_add (rate_const (W n k) r) (rate_scale (D n k) (rate_id r))) => [t|].
    by rewrite mulrC.
  by rewrite add0r mulr1.
apply: rate_eq (rate_likelihood (out n) entry) => //.
rewrite [RHS](bigD1 n) //= [X in _ = _ + X]big1 ?addr0 => [|j /negbTE jn]; last first.
  by rewrite big1 // => k _; rewrite jn !mul0r.
by apply: eq_bigr => k _; rewrite eqxx mul1r.
Qed.
End Rates.

(* |U' b| and |b|: the same for orthonormal embeddings, near for others. *)
Section Embedded.
Variables (R : rcfType) (V dim : finType) (U : V -> dim -> R).
Implicit Types v : V -> R.
Definition embed v a : R := \sum_l U l a * v l.
Definition gram l k : R := \sum_a U l a * U k a.

Lemma size2_embed v : size2 (embed v) = \sum_l \sum_k v l * gram l k * v k.
Proof.
rewrite /size2 /embed; under eq_bigr => a _ do rewrite expr2 mulr_suml.
rewrite exchange_big; apply: eq_bigr => l _ /=; under eq_bigr => a _ do rewrite mulr_sumr.
rewrite exchange_big; apply: eq_bigr => k _ /=; rewrite mulr_sumr mulr_suml.
by apply: eq_bigr => a _; rewrite [U l a * v l]mulrC -!mulrA.
Qed.

Theorem same_length v : (forall l k, gram l k = (l == k)%:R) ->
  size2 (embed v) = size2 v /\ forall a, LN (embed v) a = embed (LN v) a.
Proof.
move=> orth; have same : size2 (embed v) = size2 v.
  rewrite size2_embed; apply: eq_bigr => l _; rewrite (bigD1 l) //= big1 => [|k /negbTE kl].
    by rewrite addr0 orth eqxx mulr1 expr2.
  by rewrite orth eq_sym kl mulr0 mul0r.
split=> // a; rewrite /LN same /embed mulr_suml; apply: eq_bigr => l _.
by rewrite mulrA.
Qed.

(* near is any bound for the quadratic form of U U' - I, the least of which is its spectral norm. *)
Theorem near_length v (near : R) : (exists l, v l != 0) ->
  (forall w : V -> R, `|\sum_l \sum_k w l * (gram l k - (l == k)%:R) * w k| <= near * size2 w) ->
  `|size2 (embed v) / size2 v - 1| <= near.
Proof.
move=> some bound; have v0 := size2_gt0 some.
have -> : size2 (embed v) / size2 v - 1 =
    (\sum_l \sum_k v l * (gram l k - (l == k)%:R) * v k) / size2 v.
  have -> : \sum_l \sum_k v l * (gram l k - (l == k)%:R) * v k = size2 (embed v) - size2 v.
    rewrite size2_embed -sumrB; apply: eq_bigr => l _.
    under eq_bigr => k _ do rewrite mulrBr mulrBl.
    rewrite sumrB; congr (_ - _); rewrite (bigD1 l) //= big1 => [|k /negbTE kl].
      by rewrite addr0 eqxx mulr1 expr2.
    by rewrite eq_sym kl mulr0 mul0r.
  by rewrite mulrBl divff // lt0r_neq0.
by rewrite normrM normfV (gtr0_norm v0) ler_pdivr_mulr.
Qed.
End Embedded.

(* (137): equal tokens of a sequence are added up. *)
Theorem equation_137 (R : rcfType) (V : finType) (s : seq V) (h : V -> R) (l k : V)
    (share := fun u => (count_mem u s)%:R / (size s)%:R) :
  (size s)%:R^-1 * (\sum_(y <- s) (y == l)%:R * h y) = share l * h l /\
  (size s)%:R^-1 * (\sum_(y <- s) h y * ((y == l)%:R * (y == k)%:R)) =
    (l == k)%:R * (share l * h l).
Proof.
have one : (size s)%:R^-1 * (\sum_(y <- s) (y == l)%:R * h y) = share l * h l.
  rewrite sentence_sum (bigD1 l) //= eqxx mul1r big1 => [|y /negbTE ->].
    by rewrite addr0 mulrA [_^-1 * _]mulrC.
  by rewrite mul0r mulr0.
split=> //; rewrite -one mulrCA; congr (_ * _); rewrite mulr_sumr; apply: eq_bigr => y _.
have [->|] := eqVneq y l; last by rewrite !mul0r !mulr0.
by rewrite !mul1r mulrC.
Qed.
