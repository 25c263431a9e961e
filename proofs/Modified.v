(* The second paper: the modified update (26), E' and its lemmas, the exact part of Theorem 5, and the
   coefficients (88). Pages: tian2023_s4_decoder, tian2023_s4_sampling, tian2023_s4_gradient. *)
From Coq Require Import Ring Field.
From mathcomp Require Import all_ssreflect all_algebra.
From Companion Require Import Fields Exponential Layer.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Definition E_prime (R : fieldType) (K : nat) (E : 'M[R]_K) : 'M[R]_K := 1%:M - invmx (1%:M + E).
Definition eigen (R : fieldType) (K : nat) (E : 'M[R]_K) (a : R) : Prop :=
  exists2 x : 'cV_K, x != 0 & E *m x = a *: x.

Section Inverse.
Variables (R : rcfType) (K : nat) (E : 'M[R]_K).
Hypothesis symmetric : E^T = E.
Notation G := (invmx (1%:M + E)).
Notation Ep := (E_prime E).

(* Where no eigenvalue of E has size one or more, I + E is invertible. *)
Lemma below_one : (forall a, eigen E a -> `|a| < 1) -> 1%:M + E \in unitmx.
Proof.
move=> small; rewrite -row_free_unit -kermx_eq0; apply/rowV0P => v /sub_kermxP vE.
apply/eqP; apply: contraT => v0; have := small (-1); rewrite normrN normr1 ltxx; apply.
exists v^T; first by rewrite -trmx0 (inj_eq (@trmx_inj _ _ _)).
apply/eqP; rewrite scaleN1r -addr_eq0 -{1}symmetric -trmx_mul -linearD /= -{2}[v]mulmx1 -mulmxDr.
by rewrite addrC vE trmx0.
Qed.

Hypothesis inv : 1%:M + E \in unitmx.

Lemma E_prime_left : Ep = E *m G.
Proof. exact: e_prime_corrected. Qed.

Lemma E_prime_right : Ep = G *m E.
Proof.
apply: (can_inj (mulKmx inv)); rewrite mulKVmx // /E_prime mulmxBr mulmx1 mulmxV //.
by rewrite addrAC subrr add0r.
Qed.

Lemma G_symmetric : G^T = G.
Proof. by rewrite trmx_inv linearD /= trmx1 symmetric. Qed.

Lemma E_prime_symmetric : Ep^T = Ep.
Proof. by rewrite /E_prime linearB /= trmx1 G_symmetric. Qed.

Lemma E_prime_back : 1%:M - Ep = G.
Proof. by rewrite /E_prime opprB addrC subrK. Qed.

Lemma undone : (1%:M + E) *m (1%:M - Ep) = 1%:M.
Proof. by rewrite E_prime_back mulmxV. Qed.

Lemma E_E_prime : E *m Ep = E - Ep.
Proof.
have whole : (1%:M + E) *m Ep = E by rewrite E_prime_right mulKVmx.
by move: whole; rewrite mulmxDl mul1mx => /(canRL (addKr _)) ->; rewrite addrC.
Qed.

Lemma E_prime_split : Ep = E - E *m G *m E.
Proof.
by rewrite -mulmxA -E_prime_right E_E_prime opprB addrC subrK.
Qed.
End Inverse.

(* Lemma 14. *)
Theorem lemma_14 (R : rcfType) (K : nat) (E : 'M[R]_K) : E^T = E ->
  (forall a, eigen E a -> `|a| < 1) ->
  [/\ 1%:M + E \in unitmx, invmx (1%:M + E) = 1%:M - E_prime E,
      forall (x : 'cV_K) a, x != 0 -> E *m x = a *: x -> E_prime E *m x = (a / (1 + a)) *: x &
      forall (x : 'cV_K) b, x != 0 -> E_prime E *m x = b *: x ->
        exists2 a, E *m x = a *: x & b = a / (1 + a)].
Proof.
move=> sym small; have inv := below_one sym small.
have back : invmx (1%:M + E) = 1%:M - E_prime E by rewrite E_prime_back.
split=> // x c x0 xE.
  have c1 : 1 + c != 0.
    have c2 : `|c| < 1 by apply: small; exists x.
    by apply: lt0r_neq0; rewrite -ltr_subl_addl sub0r; move: c2; rewrite ltr_norml => /andP [].
  have whole : (1%:M + E) *m x = (1 + c) *: x by rewrite mulmxDl mul1mx xE scalerDl scale1r.
  have Gx : invmx (1%:M + E) *m x = (1 + c)^-1 *: x.
    apply: (can_inj (mulKmx inv)); rewrite mulKVmx // -scalemxAr whole scalerA mulVf //.
    by rewrite scale1r.
  rewrite /E_prime mulmxBl mul1mx Gx -{1}[x]scale1r -scalerBl; congr (_ *: _).
  by apply: (mulIf c1); rewrite mulrBl mul1r mulVf // divfK // addrAC subrr add0r.
have Gx : invmx (1%:M + E) *m x = (1 - c) *: x by rewrite back mulmxBl mul1mx xE scalerBl scale1r.
have xW : x = (1 - c) *: ((1%:M + E) *m x) by rewrite scalemxAr -Gx mulKVmx.
have c1 : 1 - c != 0 by apply: contraNneq x0 => c0; rewrite xW c0 scale0r.
exists (c / (1 - c)).
  have whole : (1%:M + E) *m x = (1 - c)^-1 *: x by rewrite {2}xW scalerA mulVf // scale1r.
  move: whole; rewrite mulmxDl mul1mx => /(canRL (addKr _)) ->.
  rewrite addrC -{2}[x]scale1r -scalerBl; congr (_ *: _).
  by apply: (mulIf c1); rewrite mulrBl mulVf // mul1r divfK // opprB addrC subrK.
have two : 1 + c / (1 - c) = (1 - c)^-1.
  by apply: (mulIf c1); rewrite mulrDl mul1r divfK // mulVf // subrK.
by rewrite two invrK divfK.
Qed.

(* F F' = I + E, E with a zero diagonal where the f_n are unit vectors. *)
Section Gram.
Variables (R : rcfType) (M K : nat) (F : 'M[R]_(M, K)).
Definition overlaps : 'M[R]_K := F^T *m F - 1%:M.
Notation E := overlaps.
Notation G := (invmx (1%:M + E)).
Notation Ep := (E_prime E).
Definition independent : Prop := forall x : 'cV_K, F *m x = 0 -> x = 0.

Lemma gram : F^T *m F = 1%:M + E.
Proof. by rewrite addrC subrK. Qed.

Lemma overlaps_symmetric : E^T = E.
Proof. by rewrite linearB /= trmx_mul trmxK trmx1. Qed.

Lemma length_ge0 k (x : 'cV[R]_k) : 0 <= (x^T *m x) 0 0 /\ ((x^T *m x) 0 0 = 0 -> x = 0).
Proof.
have entry : (x^T *m x) 0 0 = \sum_i x i 0 ^+ 2.
  by rewrite mxE; apply: eq_bigr => i _; rewrite mxE expr2.
rewrite entry; split=> [|/eqP]; first by apply: sumr_ge0 => i _; apply: sqr_ge0.
rewrite psumr_eq0 => [/allP zero|i _]; last exact: sqr_ge0.
apply/matrixP => i j; rewrite ord1 mxE; apply/eqP; rewrite -sqrf_eq0.
exact: (zero i (mem_index_enum i)).
Qed.

Lemma independent_unit : independent -> 1%:M + E \in unitmx.
Proof.
move=> indep; rewrite -gram -row_free_unit -kermx_eq0; apply/rowV0P => v /sub_kermxP vE.
have vv : ((F *m v^T)^T *m (F *m v^T)) 0 0 = 0.
  by rewrite trmx_mul trmxK -!mulmxA [F^T *m _]mulmxA mulmxA vE mul0mx mxE.
have [_ /(_ vv) /indep zero] := length_ge0 (F *m v^T); by rewrite -[v]trmxK zero trmx0.
Qed.

Lemma unit_independent : 1%:M + E \in unitmx -> independent.
Proof.
move=> inv x zero; apply: (can_inj (mulKmx inv)).
by rewrite -gram -mulmxA zero !mulmx0.
Qed.

(* (26): the update of class n moves the row n of W = F' Y alone. *)
Theorem equation_26 n m (eta : R) (r : 'rV[R]_m) : 1%:M + E \in unitmx ->
  F^T *m (eta *: ((col n F - F *m (Ep *m delta_mx n 0)) *m r)) = eta *: (delta_mx n 0 *m r) /\
  forall j v, (F^T *m (eta *: ((col n F - F *m (Ep *m delta_mx n 0)) *m r))) j v =
    eta * (j == n)%:R * r 0 v.
Proof.
move=> inv; have all :
    F^T *m (eta *: ((col n F - F *m (Ep *m delta_mx n 0)) *m r)) = eta *: (delta_mx n 0 *m r).
  rewrite -scalemxAr; congr (_ *: _); rewrite mulmxA; congr (_ *m _).
  rewrite -[col n F]mulmx1 colE mulmx1 -mulmxBr mulmxA gram.
  by rewrite -{1}[delta_mx n 0]mul1mx -mulmxBl mulmxA undone // mul1mx.
split=> // j v; rewrite all !mxE big_ord1 !mxE -mulrA; congr (_ * (_ * _)).
by rewrite andbT.
Qed.

(* Lemma 16 and (92). *)
Lemma diagonal n : 1%:M + E \in unitmx -> E n n = 0 ->
  Ep n n = - ((F *m G *m col n E)^T *m (F *m G *m col n E)) 0 0.
Proof.
move=> inv zero; rewrite (E_prime_split inv) mxE zero add0r mxE; congr (- _).
have entry (A : 'M[R]_K) : A n n = ((delta_mx 0 n : 'rV_K) *m A *m (delta_mx n 0 : 'cV_K)) 0 0.
  by rewrite -rowE -colE !mxE.
rewrite entry colE !trmx_mul trmx_delta (G_symmetric overlaps_symmetric) overlaps_symmetric.
by rewrite -!mulmxA [F^T *m _]mulmxA gram (mulKVmx inv).
Qed.

Lemma diagonal_le0 n : 1%:M + E \in unitmx -> E n n = 0 -> Ep n n <= 0.
Proof. by move=> inv zero; rewrite diagonal // oppr_le0; have [] := length_ge0 (F *m G *m col n E). Qed.

Lemma diagonal_lt0 n : 1%:M + E \in unitmx -> E n n = 0 -> col n E != 0 -> Ep n n < 0.
Proof.
move=> inv zero some; rewrite lt_neqAle diagonal_le0 // andbT; apply: contraNneq some => flat.
have [_ vanish] := length_ge0 (F *m G *m col n E).
move: flat; rewrite diagonal // => /eqP; rewrite oppr_eq0 => /eqP /vanish; rewrite -mulmxA.
move/(unit_independent inv) => Gx; apply/eqP; apply: (can_inj (mulKmx (_ : G \in unitmx))).
  by rewrite unitmx_inv.
by rewrite Gx mulmx0.
Qed.

Theorem lemma_16 : (forall n, E n n = 0) -> (forall a, eigen E a -> `|a| < 1) ->
  forall n, Ep n n <= 0 /\ ((exists2 k, k != n & 0 < E k n) -> Ep n n < 0).
Proof.
move=> unit /(below_one overlaps_symmetric) inv n; split=> [|[k _ kn]].
  exact: diagonal_le0.
apply: diagonal_lt0 => //; apply: contraTneq kn => /matrixP /(_ k 0); rewrite !mxE => ->.
by rewrite ltxx.
Qed.

Lemma trace_of_product n : 1%:M + E \in unitmx -> E n n = 0 ->
  (E *m Ep) n n = \sum_(k | k != n) E n k * Ep n k /\ (E *m Ep) n n = - Ep n n.
Proof.
move=> inv zero; split; last by rewrite E_E_prime // mxE zero add0r mxE.
rewrite mxE (bigD1 n) //= zero mul0r add0r; apply: eq_bigr => k _; congr (_ * _).
by rewrite -{1}(E_prime_symmetric overlaps_symmetric) mxE.
Qed.

(* Assumption 2 without the condition on M, which is not used. *)
Theorem equation_92 : (forall n, E n n = 0) -> (forall a, eigen E a -> `|a| < K%:R^-1) ->
  (forall a, eigen E a -> 6%:R / Num.sqrt M%:R <= `|a|) -> forall n,
  [/\ (E *m Ep) n n = \sum_(k | k != n) E n k * Ep n k + E n n * Ep n n,
      E n n * Ep n n = 0,
      (E *m Ep) n n = \sum_(k | k != n) E n k * Ep n k,
      \sum_(k | k != n) E n k * Ep n k = - Ep n n & 0 < - Ep n n].
Proof.
move=> unit small large n; have K0 : (0 < K)%N by apply: leq_ltn_trans (ltn_ord n).
have below a : eigen E a -> `|a| < 1.
  move/small => lt; apply: lt_le_trans lt _; rewrite invf_le1 ?ltr0n // -[1]/(1%:R) ler_nat.
  exact: K0.
have inv := below_one overlaps_symmetric below.
have [sum tr] := trace_of_product inv (unit n).
split; rewrite ?unit ?mul0r ?addr0 -?sum //.
rewrite oppr_gt0 diagonal_lt0 //; apply/eqP => flat.
have M0 : (0 < M)%N.
  case: (posnP M) => // zero; have := unit n; rewrite /overlaps !mxE eqxx big1 => [|i _].
    by move/eqP; rewrite add0r oppr_eq0 oner_eq0.
  by exfalso; have := leq_ltn_trans (leq0n i) (ltn_ord i); rewrite zero.
have zero : eigen E 0.
  exists (delta_mx n 0); last by rewrite scale0r -colE.
  by apply/eqP => /matrixP /(_ n 0) /eqP; rewrite !mxE !eqxx oner_eq0.
have := large _ zero; rewrite normr0 leNgt divr_gt0 ?ltr0n // sqrtr_gt0 ltr0n.
by rewrite M0.
Qed.
End Gram.

(* Training by (26) from Y = 0, the classes drawn in any order. *)
Section Training.
Variables (R : rcfType) (exp : R -> R) (expo : exponential exp) (eta : R).
Add Field numbers : (is_field R).
Variables (M K : nat) (F : 'M[R]_(M, K)) (out : 'I_K -> 'I_M) (draw : nat -> 'I_K).
Hypothesis inv : 1%:M + overlaps F \in unitmx.
Notation E := (overlaps F).
Notation G := (invmx (1%:M + E)).
Notation Ep := (E_prime E).
Notation m := (M%:R : R).
Notation h s := (@height R exp [finType of 'I_M] eta s).

Definition predicted (Y : 'M[R]_M) n v : R := alpha exp (fun k => (F^T *m Y) n k) v.
Definition residual Y n : 'rV[R]_M := \row_v ((v == out n)%:R - predicted Y n v).
Fixpoint Y26 (t : nat) : 'M[R]_M :=
  if t is t'.+1 then let Y := Y26 t' in let n := draw t' in
    Y + eta *: ((col n F - F *m (Ep *m delta_mx n 0)) *m residual Y n)
  else 0.
Definition drawn n t : nat := count (fun i => draw i == n) (iota 0 t).

Lemma drawn_step n t : drawn n t.+1 = (drawn n t + (draw t == n))%N.
Proof. by rewrite /drawn -addn1 iotaD count_cat /= addn0. Qed.

(* A row of W moves when its class is drawn. *)
Lemma rows_of_W t n v : (F^T *m Y26 t) n v = row exp eta (out n) (drawn n t) v.
Proof.
elim: t n v => [|t IH] n v; first by rewrite /= mulmx0 mxE.
have [_ entry] := equation_26 (draw t) eta (residual (Y26 t) (draw t)) inv.
rewrite /= mulmxDr mxE entry IH drawn_step [draw t == n]eq_sym.
have [->|_] := eqVneq n (draw t); last by rewrite addn0 mulr0 mul0r addr0.
rewrite addn1 mulr1 mxE /=; congr (_ + _ * (_ - _)).
by rewrite /predicted /alpha IH; congr (_ / _); apply: eq_bigr => u _; rewrite IH.
Qed.

Lemma span t : Y26 t = F *m G *m (F^T *m Y26 t).
Proof.
elim: t => [|t IH] /=; first by rewrite !mulmx0.
have [all _] := equation_26 (draw t) eta (residual (Y26 t) (draw t)) inv.
rewrite mulmxDr mulmxDr -IH all; congr (_ + _).
rewrite -scalemxAr [in RHS]mulmxA; congr (_ *: (_ *m _)); rewrite colE -mulmxBr -mulmxA; congr (_ *m _).
by rewrite -E_prime_back [RHS]mulmxBl mul1mx.
Qed.

(* Theorem 5, its exact part: hbar stands for h of the mean number of draws. *)
Variable hbar : R.
Hypotheses (hbar0 : hbar != 0) (two : (1 < M)%N).
Definition theta n t : R := h (drawn n t) / hbar - 1.
Definition Theta t : 'M[R]_K := diag_mx (\row_n theta n t).
Definition W_bar : 'M[R]_(K, M) := \matrix_(n, v) ((m - 1) * hbar * zeta R (out n) v).
(* The conditions of Penrose, which one matrix meets. *)
Definition pseudo_inverse (P : 'M[R]_(K, M)) : Prop :=
  [/\ F *m P *m F = F, P *m F *m P = P, (F *m P)^T = F *m P & (P *m F)^T = P *m F].

Theorem theorem_5_exact t :
  F^T *m Y26 t = (1%:M + Theta t) *m W_bar /\
  Y26 t = F *m (1%:M - Ep) *m (1%:M + Theta t) *m W_bar /\
  exists2 P, pseudo_inverse P & Y26 t = P^T *m (1%:M + Theta t) *m W_bar /\
    forall Q, pseudo_inverse Q -> Q = P.
Proof.
have W : F^T *m Y26 t = (1%:M + Theta t) *m W_bar.
  apply/matrixP => n v; rewrite rows_of_W mulmxDl mul1mx mul_diag_mx !mxE.
  have rowE : row exp eta (out n) (drawn n t) v =
      (m - 1) * h (drawn n t) * zeta R (out n) v.
    rewrite (lemma_5 expo) /zeta card_ord; have M0 : m <> 0 by apply/eqP; rewrite pnatr_eq0 -lt0n ltnW.
    have M1 : m - 1 <> 0 by apply/eqP; rewrite subr_eq0 -[1]/(1%:R) eqr_nat gtn_eqF.
    move: (height _ _ _ _) (m) M0 M1 => x y M0 M1.
    by case: eqP => _; rewrite ?mulr1n ?mulr0n; named R; field.
  rewrite rowE /theta; move/eqP: hbar0; move: (h _) (zeta _ _ _) (m - 1) => a b c d.
  by named R; field.
split=> //; have YE : Y26 t = F *m (1%:M - Ep) *m (1%:M + Theta t) *m W_bar.
  by rewrite E_prime_back -!mulmxA -W mulmxA -span.
split=> //; have sym := G_symmetric (overlaps_symmetric F).
exists (G *m F^T); last split=> [|Q [FQF _ FQ _]].
- split; rewrite ?trmx_mul ?trmxK ?sym.
  + by rewrite -!mulmxA gram mulVmx // mulmx1.
  + by rewrite -[_ *m F]mulmxA gram mulVmx // mul1mx.
  + by rewrite mulmxA.
  + by rewrite mulmxA gram mulmxV // -mulmxA gram mulVmx.
- by rewrite trmx_mul trmxK sym -E_prime_back.
have same : F^T = F^T *m F *m Q by rewrite -mulmxA -FQ -trmx_mul FQF.
by apply: (can_inj (mulKmx inv)); rewrite mulKVmx // -gram -same.
Qed.

(* (88), corrected: the gradient of a sample of class n. *)
Hypothesis injective_out : injective out.
Notation gamma := ((m - 1) ^+ 2 * hbar / (m - 1 + exp (m * hbar))).
Notation q1 := (m / (m - 1)).
Notation q0 := (m / (m - 1) ^+ 2).
Definition sigma n t : R := (m - 1 + exp (m * hbar)) / (m - 1 + exp (m * h (drawn n t))) - 1.
Definition iota_n n t : R := (1 + sigma n t) * (q1 * (1 + theta n t) * (1 - Ep n n) +
  q0 * \sum_(k | k != n) (1 + theta k t) * Ep k n).
Definition beta_n n k t : R := (1 + sigma n t) * (q1 * (1 + theta n t) * Ep n k +
  q0 * (1 + theta k t - \sum_(j | j != n) (1 + theta j t) * Ep j k)).

Lemma zeta_products n k : \sum_v zeta R (out k) v * zeta R (out n) v =
  if k == n then q1 else - q0.
Proof.
have M0 : m <> 0 by apply/eqP; rewrite pnatr_eq0 -lt0n ltnW.
have M1 : m - 1 <> 0 by apply/eqP; rewrite subr_eq0 -[1]/(1%:R) eqr_nat gtn_eqF.
have one (a : 'I_M) : \sum_v (v == a)%:R = 1 :> R.
  by rewrite (bigD1 a) //= eqxx big1 ?addr0 // => v /negbTE ->.
have both : \sum_v (v == out k)%:R * (v == out n)%:R = (k == n)%:R :> R.
  rewrite (bigD1 (out k)) //= eqxx mul1r big1 ?addr0 => [|v /negbTE ->]; last by rewrite mul0r.
  by rewrite (inj_eq injective_out).
transitivity ((m / (m - 1)) ^+ 2 * ((k == n)%:R - 1 / m)); last first.
  by case: eqP => _; rewrite ?mulr1n ?mulr0n; move: (m) M0 M1 => y M0 M1; named R; field.
transitivity (\sum_v (m / (m - 1)) ^+ 2 * ((v == out k)%:R * (v == out n)%:R -
    1 / m * (v == out k)%:R - 1 / m * (v == out n)%:R + (1 / m) ^+ 2)).
  apply: eq_bigr => v _; rewrite /zeta card_ord.
  by move: (m / (m - 1)) (1 / m) (_ == out k)%:R (_ == out n)%:R => a b c d; named R; ring.
rewrite -mulr_sumr big_split !sumrB -!mulr_sumr /= both !one sumr_const card_ord -[_^-1 *+ _]mulr_natl.
congr (_ * _); move: (m) M0 (k == n)%:R => y M0 z; named R; field.
exact: M0.
Qed.

Theorem equation_88_corrected n t l :
  (Y26 t *m (residual (Y26 t) n)^T) l 0 =
  gamma * (iota_n n t * F l n - \sum_(k | k != n) beta_n n k t * F l k).
Proof.
have M0 : m <> 0 by apply/eqP; rewrite pnatr_eq0 -lt0n ltnW.
have M1 : m - 1 <> 0 by apply/eqP; rewrite subr_eq0 -[1]/(1%:R) eqr_nat gtn_eqF.
have pos x : 0 < m - 1 + exp x.
  by rewrite ltr_paddl ?(exp_gt0 expo) // subr_ge0 -[1]/(1%:R) ler_nat ltnW.
have res v : residual (Y26 t) n 0 v = (1 + sigma n t) * ((m - 1) / (m - 1 + exp (m * hbar))) *
    zeta R (out n) v.
  have same : predicted (Y26 t) n v = alpha exp (row exp eta (out n) (drawn n t)) v.
    by rewrite /predicted /alpha rows_of_W; congr (_ / _); apply: eq_bigr => u _; rewrite rows_of_W.
  rewrite mxE same (lemma_5_alpha expo) card_ord /sigma /zeta card_ord.
  have := pos (m * hbar); have := pos (m * h (drawn n t)).
  move=> /lt0r_neq0/eqP a0 /lt0r_neq0/eqP b0.
  move: (exp (m * hbar)) (exp (m * h _)) b0 a0 => a b a0 b0; move: (m) M0 M1 a0 b0 => y M0 M1 a0 b0.
  by case: eqP => _; rewrite ?mulr1n ?mulr0n; named R; field; do !split.
pose c k := gamma * (1 + sigma n t) * ((1 + theta k t) * (if k == n then q1 else - q0)).
have W : (1%:M + Theta t) *m W_bar *m (residual (Y26 t) n)^T = \col_k c k.
  apply/matrixP => k j; rewrite ord1 !mxE /c -zeta_products.
  rewrite !mulr_sumr; apply: eq_bigr => v _; rewrite [_^T v 0]mxE res mulmxDl mul1mx mul_diag_mx.
  rewrite !mxE.
  have := pos (m * hbar) => /lt0r_neq0/eqP a0; move: (exp (m * hbar)) a0 => x a0.
  move: (sigma n t) (theta k t) (zeta R (out k) v) (zeta R (out n) v) (m - 1) M1 a0 => a b d f y M1 a0.
  by named R; field.
have [_ [YE _]] := theorem_5_exact t.
rewrite {1}YE -!mulmxA [(1%:M + Theta t) *m _]mulmxA W mxE.
have epS k j : Ep k j = Ep j k by rewrite -{1}(E_prime_symmetric (overlaps_symmetric F)) mxE.
have entry k : ((1%:M - Ep) *m (\col_j c j)) k 0 =
    if k == n then gamma * iota_n n t else - (gamma * beta_n n k t).
  have cE j : (\col_j c j) j 0 = c j by rewrite mxE.
  have sum : (Ep *m (\col_j c j)) k 0 = gamma * (1 + sigma n t) *
      (q1 * (1 + theta n t) * Ep n k - q0 * \sum_(j | j != n) (1 + theta j t) * Ep j k).
    rewrite mxE (bigD1 n) //= cE /c eqxx epS mulrBr; congr (_ + _).
      by move: (gamma) (1 + sigma n t) (1 + theta n t) (q1) (Ep n k) => a b d f g; named R; ring.
    rewrite !mulr_sumr -sumrN; apply: eq_bigr => j /negbTE jn; rewrite cE /c jn epS.
    by move: (gamma) (1 + sigma n t) (1 + theta j t) (q0) (Ep j k) => a b d f g; named R; ring.
  have -> : ((1%:M - Ep) *m (\col_j c j)) k 0 = c k - (Ep *m (\col_j c j)) k 0.
    by rewrite mulmxBl mul1mx [LHS]mxE cE [X in _ + X = _]mxE.
  rewrite sum /c /iota_n /beta_n; case: (eqVneq k n) => [->|_].
    move: (\sum_(j | _) _) (gamma) (q0) (q1) (1 + sigma n t) (1 + theta n t) (Ep n n).
    by move=> s g z u a b d; named R; ring.
  move: (\sum_(j | _) _) (gamma) (q0) (q1) (1 + sigma n t) (1 + theta n t) (1 + theta k t) (Ep n k).
  by move=> s g z u a b d f; named R; ring.
rewrite (bigD1 n) //= entry eqxx mulrBr; congr (_ + _); first by rewrite mulrC mulrA.
rewrite mulr_sumr -sumrN.
apply: eq_bigr => k /negbTE kn; rewrite entry kn.
by move: (gamma) (beta_n n k t) (F l k) => a b d; named R; ring.
Qed.
End Training.

(* Two classes that overlap by one third. Any number of tokens beside the two will do. *)
Section TwoClasses.
Variable R : rcfType.
Definition third_apart : 'M[R]_2 := \matrix_(i, j) (if i == j then 0 else 3%:R^-1).
Notation E := third_apart.
Definition two_vectors m : 'M[R]_(m.+2, 2) := \matrix_(i, j)
  if i == 0%N :> nat then if j == 0%N :> nat then 1 else 3%:R^-1
  else if i == 1%N :> nat then if j == 0%N :> nat then 0 else Num.sqrt (8%:R / 9%:R) else 0.
Let three : 3%:R != 0 :> R. Proof. by rewrite pnatr_eq0. Qed.

Lemma two_vectors_overlap m : overlaps (two_vectors m) = E.
Proof.
have root : Num.sqrt (8%:R / 9%:R) * Num.sqrt (8%:R / 9%:R) = 8%:R / 9%:R :> R.
  by rewrite -expr2 sqr_sqrtr // divr_ge0 ?ler0n.
have last : 3%:R^-1 * 3%:R^-1 + 8%:R / 9%:R = 1 :> R.
  have nine : 9%:R != 0 :> R by rewrite pnatr_eq0.
  apply: (mulIf nine); rewrite mulrDl divfK // mul1r -[9%:R]/((3 * 3)%:R) natrM mulrACA mulVf //.
  by rewrite mul1r -[8%:R]/((3 * 3 - 1)%:R) natrB // natrM addrC subrK.
apply/matrixP => i j; rewrite !mxE !big_ord_recl big1 => [|k _]; last by rewrite !mxE mul0r.
rewrite !mxE /= addr0; case: i => -[|[|//]] i2; case: j => -[|[|//]] j2; rewrite /=.
- by rewrite !mulr1 mulr0 addr0 subrr.
- by rewrite mul1r mul0r addr0 subr0.
- by rewrite mulr1 mulr0 addr0 subr0.
by rewrite root last subrr.
Qed.

Lemma third_inverse : 1%:M + E \in unitmx /\ forall i j, invmx (1%:M + E) i j =
  if i == j then 9%:R / 8%:R else - (3%:R / 8%:R).
Proof.
have eight : 8%:R != 0 :> R by rewrite pnatr_eq0.
pose H : 'M[R]_2 := \matrix_(i, j) if i == j then 9%:R / 8%:R else - (3%:R / 8%:R).
have one : 9%:R / 8%:R - 3%:R^-1 * (3%:R / 8%:R) = 1 :> R.
  by rewrite mulrA mulVf // -mulrBl -[9%:R]/((8 + 1)%:R) natrD addrK divff.
have nil : - (3%:R / 8%:R) + 3%:R^-1 * (9%:R / 8%:R) = 0 :> R.
  by rewrite -[9%:R]/((3 * 3)%:R) natrM !mulrA mulVf // mul1r addrC subrr.
have prod : (1%:M + E) *m H = 1%:M.
  apply/matrixP => i j; rewrite !mxE !big_ord_recl big_ord0 !mxE /= addr0.
  case: i => -[|[|//]] i2; case: j => -[|[|//]] j2; rewrite /= ?addr0 ?add0r ?mul1r ?mulrN //.
  - by rewrite addrC.
  by rewrite addrC.
have [inv _] := mulmx1_unit prod; split=> // i j.
have -> : invmx (1%:M + E) = H by rewrite -[H](mulKmx inv) prod mulmx1.
by rewrite mxE.
Qed.

(* E' with the sign of the list of symbols serves neither (26) nor Lemma 14 nor Lemma 16. *)
Theorem e_prime_refuted (listed := invmx (1%:M + E) - 1%:M) :
  [/\ forall a, eigen E a -> `|a| = 3%:R^-1,
      forall m, overlaps (two_vectors m) = E,
      (1%:M + E) *m (1%:M - listed) != 1%:M,
      invmx (1%:M + E) != 1%:M - listed &
      forall n, 0 < listed n n].
Proof.
have [inv H] := third_inverse; have off : (1%:M + E) *m (1%:M - listed) != 1%:M.
  rewrite /listed opprB addrA mulmxBr mulmxDr mulmx1 mulmxV //; apply/eqP => /matrixP /(_ 0 1).
  rewrite !mxE /= subr0 add0r => /eqP; rewrite -mulr2n -mulr_natl mulf_eq0 pnatr_eq0 invr_eq0.
  by rewrite pnatr_eq0.
split=> //.
- move=> a [x x0 xE]; have e0 : 3%:R^-1 * x 1 0 = a * x 0 0.
    have /matrixP /(_ 0 0) := xE; rewrite !mxE !big_ord_recl big_ord0 !mxE /= mul0r add0r addr0.
    by move=> <-; congr (_ * x _ _); apply/val_inj.
  have e1 : 3%:R^-1 * x 0 0 = a * x 1 0.
    have /matrixP /(_ 1 0) := xE; rewrite !mxE !big_ord_recl big_ord0 !mxE /= mul0r !addr0.
    by move=> <-; congr (_ * x _ _); apply/val_inj.
  have sq : (a ^+ 2 - 3%:R^-1 ^+ 2) * x 0 0 = 0 /\ (a ^+ 2 - 3%:R^-1 ^+ 2) * x 1 0 = 0.
    by rewrite !mulrBl !expr2 -!mulrA -e0 -e1 ![a * (_ * _)]mulrCA -e0 -e1 !subrr.
  have : a ^+ 2 - 3%:R^-1 ^+ 2 = 0.
    apply/eqP; apply: contraNT x0 => nz; have [s0 s1] := sq.
    have z0 : x 0 0 = 0 by apply: (mulfI nz); rewrite s0 mulr0.
    have z1 : x 1 0 = 0 by apply: (mulfI nz); rewrite s1 mulr0.
    apply/eqP/matrixP => i j; rewrite ord1 mxE; case: i => -[|[|//]] i2.
      by rewrite -[RHS]z0; congr (x _ _); apply/val_inj.
    by rewrite -[RHS]z1; congr (x _ _); apply/val_inj.
  move/eqP; rewrite subr_eq0 -(real_normK (num_real a)) eqr_expn2 ?invr_ge0 ?ler0n // => /eqP.
  by [].
- exact: two_vectors_overlap.
- by apply: contraNneq off => <-; rewrite mulmxV.
move=> n; rewrite !mxE H eqxx subr_gt0 ltr_pdivl_mulr ?ltr0n // mul1r ltr_nat.
by [].
Qed.
End TwoClasses.
