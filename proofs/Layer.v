(* The second paper: the attention layer of Tian et al. (2023), its finite and algebraic part.
   Pages: tian2023_s3_setting, tian2023_s4_decoder, tian2023_s4_gradient, tian2023_s5_fates,
   tian2023_s6_snapping, tian2023_s7_discussion. *)
From Coq Require Import Ring Field.
From mathcomp Require Import all_ssreflect all_algebra.
From Companion Require Import Fields Exponential MaxMargin Stage1Law Stage2 Calculus.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

(* (5): the length T of the sequence cancels; a bias added to the scores is a prior. *)
Section Attention.
Variables (R : rcfType) (exp : R -> R) (V : finType).
Implicit Types (P z b : V -> R) (l : V).
Definition attention P z l : R := P l * exp (z l) / \sum_k P k * exp (z k).

Theorem equation_5 (T : R) P z l : T != 0 ->
  T * P l * exp (z l) / (\sum_k T * P k * exp (z k)) = attention P z l.
Proof.
move=> T0; have -> : \sum_k T * P k * exp (z k) = T * \sum_k P k * exp (z k).
  by rewrite mulr_sumr; apply: eq_bigr => k _; rewrite mulrA.
by rewrite -[T * P l * _]mulrA invfM mulrACA divff // mul1r.
Qed.

(* The positions of a sequence that hold one token have equal weights, which add up: P is the share
   of the token among them, or the number of its positions. *)
Theorem positions_add_up (s : seq V) z l :
  (\sum_(y <- s | y == l) exp (z y)) / (\sum_(y <- s) exp (z y)) =
  attention (fun k => (count_mem k s)%:R) z l.
Proof.
rewrite /attention -(sentence_sum s (fun y => exp (z y))); congr (_ / _).
rewrite (eq_bigr (fun=> exp (z l))) => [|y /eqP -> //].
by rewrite big_const_seq iter_addr_0 -[_ *+ _]mulr_natl.
Qed.

Theorem bias_is_prior (exp_add : forall c d, exp (c + d) = exp c * exp d) P z b l :
  attention P (fun k => z k + b k) l = attention (fun k => P k * exp (b k)) z l.
Proof.
have one k : P k * exp (z k + b k) = P k * exp (b k) * exp (z k).
  by rewrite exp_add [exp (z k) * _]mulrC mulrA.
by rewrite /attention one; congr (_ / _); apply: eq_bigr => k _; apply: one.
Qed.
End Attention.

(* The dynamics (10) of one query: classes n with unit vectors f_n. *)
Section Dynamics.
Variables (R : rcfType) (V C : finType) (f : C -> V -> R).
Add Field numbers : (is_field R).
Variables (eta gamma : R) (iota : C -> R) (beta : C -> C -> R).
Implicit Types (n k : C) (l : V).
Hypothesis unit : forall n, dot (f n) (f n) = 1.

(* (9), the projected form, and (10). *)
Definition back n l : R := gamma * (iota n * f n l - \sum_(k | k != n) beta n k * f k l).
Definition projected n (g : V -> R) l : R := f n l * (g l - f n l * dot (f n) g).
Definition equation_10 l : R := eta * gamma * \sum_n f n l *
  \sum_(k | k != n) beta n k * (f n l * dot (f n) (f k) - f k l).
Definition xi n : R := gamma * \sum_(k | k != n) beta n k * dot (f n) (f k).

Lemma dot_back n : dot (f n) (back n) =
  gamma * (iota n - \sum_(k | k != n) beta n k * dot (f n) (f k)).
Proof.
rewrite /back dotZ; congr (_ * _).
transitivity (\sum_l (iota n * (f n l * f n l) -
    \sum_(k | k != n) beta n k * (f n l * f k l))).
  apply: eq_bigr => l _; rewrite mulrBr mulr_sumr; congr (_ - _); first by rewrite mulrCA.
  by apply: eq_bigr => k _; rewrite mulrCA.
rewrite sumrB -mulr_sumr -/(dot (f n) (f n)) unit mulr1 exchange_big; congr (_ - _).
by apply: eq_bigr => k _; rewrite -mulr_sumr.
Qed.

(* (10) is the sum of the projected gradients, whatever the coefficients. *)
Theorem equation_10_projected l : equation_10 l = eta * \sum_n projected n (back n) l.
Proof.
rewrite /equation_10 -mulrA; congr (_ * _); rewrite mulr_sumr; apply: eq_bigr => n _.
rewrite /projected dot_back /back mulrCA; congr (_ * _).
have -> : \sum_(k | k != n) beta n k * (f n l * dot (f n) (f k) - f k l) =
    f n l * (\sum_(k | k != n) beta n k * dot (f n) (f k)) - \sum_(k | k != n) beta n k * f k l.
  rewrite mulr_sumr -sumrB; apply: eq_bigr => k _.
  by rewrite mulrBr mulrCA.
by move: (\sum_(k | _) _) (\sum_(k | _) beta n k * f k l) => a b; named R; ring.
Qed.

(* The same from (4): with c_n = |c_n| f_n the limit of X' diag(b) X P / |X' b| is this. *)
Theorem from_equation_4 n (c g : V -> R) (r : R) l : r != 0 -> (forall u : V, c u = r * f n u) ->
  c l * (g l - c l * dot c g / r ^+ 2) / r = projected n g l.
Proof.
move=> r0 cE; have -> : dot c g = r * dot (f n) g.
  by rewrite -dotZ; apply: eq_bigr => k _; rewrite cE -mulrA mulrCA.
rewrite cE /projected; move/eqP: r0; move: (f n l) (dot _ _) (g l) => a b d r1.
by named R; field.
Qed.

(* A token that occurs in one class only moves with the sign of xi. *)
Theorem distinct_token n l : (forall k, k != n -> f k l = 0) ->
  equation_10 l = eta * f n l ^+ 2 * xi n.
Proof.
move=> only; rewrite /equation_10 (bigD1 n) //= [X in _ + X]big1 ?addr0; last first.
  by move=> k kn; rewrite (only k) ?mul0r.
have -> : \sum_(k | k != n) beta n k * (f n l * dot (f n) (f k) - f k l) =
    f n l * \sum_(k | k != n) beta n k * dot (f n) (f k).
  by rewrite mulr_sumr; apply: eq_bigr => k kn; rewrite (only k) // subr0 mulrCA.
by rewrite /xi; move: (\sum_(k | _) _) => a; named R; ring.
Qed.

(* (100): every other token occurs in one class only. *)
Definition single_common l : Prop := forall u n k, u != l -> n != k -> f n u * f k u = 0.

Lemma common_overlap l n k : single_common l -> n != k -> dot (f n) (f k) = f n l * f k l.
Proof.
move=> single nk; rewrite /dot (bigD1 l) //= big1 ?addr0 // => u ul; exact: single.
Qed.

Theorem equation_100 l : single_common l ->
  equation_10 l = - (eta * \sum_n (1 - f n l ^+ 2) * xi n).
Proof.
move=> single; rewrite /equation_10 -mulrA -mulrN; congr (_ * _); rewrite -sumrN mulr_sumr.
apply: eq_bigr => n _; rewrite /xi !mulr_sumr -sumrN; apply: eq_bigr => k kn.
rewrite (common_overlap single) 1?eq_sym //; move: (f n l) (f k l) (beta n k) => a b c.
by named R; ring.
Qed.

(* Theorem 2, from the signs of xi. *)
Theorem theorem_2_distinct n l : 0 < eta -> 0 < xi n -> (forall k, k != n -> f k l = 0) ->
  f n l != 0 -> 0 < equation_10 l.
Proof.
move=> e0 x0 only fl; rewrite (distinct_token only) mulr_gt0 // mulr_gt0 // lt_neqAle.
by rewrite sqr_ge0 eq_sym sqrf_eq0 fl.
Qed.

Theorem theorem_2_common n l u : 0 < eta -> (forall k, 0 < xi k) -> single_common l ->
  u != l -> f n u != 0 -> equation_10 l < 0.
Proof.
move=> e0 x0 single ul fu; rewrite (equation_100 single) oppr_lt0 mulr_gt0 //.
have le k : 0 <= 1 - f k l ^+ 2.
  rewrite -(unit k) /dot (bigD1 l) //= -expr2 addrAC subrr add0r.
  by apply: sumr_ge0 => v _; rewrite -expr2 sqr_ge0.
rewrite (bigD1 n) //= ltr_paddr //.
  by apply: sumr_ge0 => k _; rewrite mulr_ge0 // ltW.
rewrite mulr_gt0 // -(unit n) /dot (bigD1 l) //= -expr2 addrAC subrr add0r (bigD1 u) //=.
rewrite ltr_paddr //; first by apply: sumr_ge0 => v _; rewrite -expr2 sqr_ge0.
by rewrite -expr2 lt_neqAle sqr_ge0 eq_sym sqrf_eq0 fu.
Qed.

(* (13), corrected: K classes, one common token with the same entry c = e^z / rho in all. *)
Theorem equation_13_corrected l (c ez rho : R) : single_common l -> rho != 0 ->
  (forall n, f n l = c) -> c = ez / rho -> (forall n k, beta n k = dot (f n) (f k)) ->
  (forall n, xi n = (#|C|%:R - 1) / rho ^+ 4 * gamma * ez ^+ 4) /\
  equation_10 l = - (#|C|%:R * ((#|C|%:R - 1) / rho ^+ 4) * (1 - ez ^+ 2 / rho ^+ 2) *
    eta * gamma * ez ^+ 4).
Proof.
move=> single r0 same cE betaE; have xiE n :
    xi n = (#|C|%:R - 1) / rho ^+ 4 * gamma * ez ^+ 4.
  rewrite /xi (eq_bigr (fun=> c ^+ 4)) => [|k kn]; last first.
    rewrite betaE (common_overlap single) 1?eq_sym // !same.
    by rewrite -!expr2 -exprM.
  rewrite sumr_const -[#|_|]/#|predC1 n| cardC1 -[_ *+ _]mulr_natl.
  have -> : #|C|.-1%:R = #|C|%:R - 1 :> R.
    have C0 : (0 < #|C|)%N by apply/card_gt0P; exists n.
    by rewrite -{2}(prednK C0) -addn1 natrD addrK.
  rewrite cE expr_div_n; move: (ez ^+ 4) (rho ^+ 4)^-1 (#|C|%:R : R) => a b d.
  by named R; ring.
split=> //; rewrite (equation_100 single).
rewrite (eq_bigr (fun=> (1 - c ^+ 2) * ((#|C|%:R - 1) / rho ^+ 4 * gamma * ez ^+ 4))) => [|n _].
  rewrite sumr_const -[_ *+ _]mulr_natl cE expr_div_n.
  move: (ez ^+ 4) ((#|C|%:R - 1) / rho ^+ 4) (#|C|%:R : R) (ez ^+ 2 / rho ^+ 2) => a b d g.
  by named R; ring.
by rewrite same xiE.
Qed.

(* (13) with one sample a step, its class drawn uniformly, so that the mean of the steps of one class
   is (10) with eta / K: what both approximations miss. *)
Definition mean_step l : R := (\sum_n eta * projected n (back n) l) / #|C|%:R.
Theorem equation_13_misses l (c ez rho : R) (C0 := rho ^+ 4 / #|C|%:R) n :
  single_common l -> rho != 0 -> ez != 0 -> eta != 0 -> gamma != 0 -> (1 < #|C|)%N ->
  (forall k, f k l = c) -> c = ez / rho -> (forall k j, beta k j = dot (f k) (f j)) ->
  [/\ forall k, k != n -> dot (f n) (f k) = ez ^+ 2 / rho ^+ 2,
      mean_step l = equation_10 l / #|C|%:R,
      1 - - mean_step l / (eta * xi n) = ez ^+ 2 / rho ^+ 2 &
      1 - C0 * xi n / ez ^+ 4 / gamma = 1 / #|C|%:R].
Proof.
move=> single r0 z0 e0 g0 two same cE betaE.
have [xiE eqE] := equation_13_corrected single r0 same cE betaE.
have meanE : mean_step l = equation_10 l / #|C|%:R by rewrite equation_10_projected mulr_sumr.
have C1 : #|C|%:R != 0 :> R by rewrite pnatr_eq0 -lt0n ltnW.
have C2 : (#|C|%:R - 1) != 0 :> R by rewrite subr_eq0 -[1]/(1%:R) eqr_nat gtn_eqF.
split=> // [k kn||]; first by rewrite (common_overlap single) 1?eq_sym // !same cE -expr2 expr_div_n.
- rewrite meanE eqE xiE; have r4 := expf_neq0 4 r0; have z4 := expf_neq0 4 z0.
  move: (ez ^+ 2 / rho ^+ 2) (#|C|%:R : R) C1 C2 (rho ^+ 4) r4 (ez ^+ 4) z4 => s k.
  move=> /eqP k0 /eqP k1 r /eqP r1 z /eqP z1; move/eqP: e0 => e0; move/eqP: g0 => g0.
  by named R; field; do !split.
rewrite xiE /C0; have r4 := expf_neq0 4 r0; have z4 := expf_neq0 4 z0.
move: (#|C|%:R : R) C1 C2 (rho ^+ 4) r4 (ez ^+ 4) z4 => k.
move=> /eqP k0 /eqP k1 r /eqP r1 z /eqP z1; move/eqP: g0 => g0.
by named R; field; do !split.
Qed.
End Dynamics.

(* The decoder: softmax, its positive entries; rows of the gradient add up to zero. *)
Section Decoder.
Variables (R : rcfType) (exp : R -> R) (V : finType).
Hypothesis expo : exponential exp.
Add Field numbers2 : (is_field R).
Implicit Types (w y : V -> R) (u v n : V).
Definition alpha w v : R := exp (w v) / \sum_u exp (w u).

Lemma alpha_total w : V -> 0 < \sum_u exp (w u).
Proof.
move=> v; rewrite (bigD1 v) //= ltr_paddr ?(exp_gt0 expo) //.
by apply: sumr_ge0 => u _; apply/ltW/(exp_gt0 expo).
Qed.

Lemma alpha_sum w (v : V) : \sum_u alpha w u = 1.
Proof. by rewrite -mulr_suml divff // lt0r_neq0 // alpha_total. Qed.

(* With two tokens no finite logits predict a token with certainty. *)
Theorem no_critical_point w n : (1 < #|V|)%N -> ~ (forall v, alpha w v = (v == n)%:R).
Proof.
move=> two e; have /card_gt0P [v vn] : (0 < #|predC1 n|)%N by rewrite cardC1 -ltnS prednK // ltnW.
have := e v; rewrite (negbTE (vn : v != n)) => zero.
have : 0 < alpha w v by rewrite divr_gt0 ?(exp_gt0 expo) // alpha_total.
by rewrite zero ltxx.
Qed.

(* If the f_n are independent, a sum of f_n r_n' vanishes only if all rows r_n do. *)
Theorem critical_rows (C U : finType) (f : C -> V -> R) (r : C -> U -> R) :
  (forall c : C -> R, (forall l, \sum_k c k * f k l = 0) -> forall k, c k = 0) ->
  (forall l i, \sum_k f k l * r k i = 0) -> forall k i, r k i = 0.
Proof.
move=> independent zero k i; apply: (independent (fun k => r k i)) => l.
by rewrite -[RHS](zero l i); apply: eq_bigr => j _; apply: mulrC.
Qed.

(* The rows of (3) add up to zero: those of Y by e_n - alpha, those of Z as P_v v = 0. *)
Theorem row_sum_Y (c : R) w n : \sum_v c * ((v == n)%:R - alpha w v) = 0.
Proof.
rewrite -mulr_sumr sumrB (alpha_sum w n) (bigD1 n) //= eqxx big1 ?addr0 ?subrr ?mulr0 //.
by move=> v /negbTE ->.
Qed.

Theorem row_sum_Z (g b : V -> R) : dot b b != 0 ->
  \sum_l b l * (g l - b l * dot b g / dot b b) = 0.
Proof.
move=> b0; have -> : \sum_l b l * (g l - b l * dot b g / dot b b) =
    dot b g - dot b b * (dot b g / dot b b).
  rewrite /dot mulr_suml -sumrB; apply: eq_bigr => l _.
  by rewrite mulrBr; congr (_ - _); rewrite !mulrA.
by rewrite mulrCA divff // mulr1 subrr.
Qed.

(* So row sums stay what they were, under any steps that add up to zero. *)
Theorem row_sums_stay (W : nat -> V -> R) : \sum_v W 0%N v = 0 ->
  (forall s, \sum_v (W s.+1 v - W s v) = 0) -> forall s, \sum_v W s v = 0.
Proof.
move=> start step; elim=> [//|s IH]; have := step s.
by rewrite sumrB IH subr0.
Qed.

(* Lemma 5 and (33): the row of class n after s draws of it. *)
Variable eta : R.
Notation M := (#|V|%:R : R).
Fixpoint height (s : nat) : R :=
  if s is s'.+1 then height s' + eta / (M - 1 + exp (M * height s')) else 0.
Fixpoint row n (s : nat) : V -> R :=
  if s is s'.+1 then fun v => row n s' v + eta * ((v == n)%:R - alpha (row n s') v) else fun=> 0.

Theorem lemma_5 n s v :
  row n s v = (if v == n then M - 1 else - 1) * height s.
Proof.
elim: s v => [|s IH] v; first by rewrite /= mulr0.
set h := height s in IH *; have E (c : R) : exp ((M - 1) * h) = exp (M * h) * exp (- h).
  by rewrite -(exponential_add expo); congr exp; named R; ring.
have M1 : M = 1 + (#|V|.-1)%:R :> R.
  have V0 : (0 < #|V|)%N by apply/card_gt0P; exists n.
  by rewrite -{1}(prednK V0) -addn1 natrD addrC.
have Z : \sum_u exp (row n s u) = (M - 1 + exp (M * h)) * exp (- h).
  rewrite (bigD1 n) //= IH eqxx E // (eq_bigr (fun=> exp (- h))) => [|u /negbTE un].
    rewrite sumr_const -[#|_|]/#|predC1 n| cardC1 -[exp _ *+ _]mulr_natl mulrDl addrC.
    by congr (_ * _ + _); rewrite M1 addrAC subrr add0r.
  by rewrite IH un mulN1r.
have pos : 0 < M - 1 + exp (M * h).
  by rewrite ltr_paddl ?(exp_gt0 expo) // M1 addrAC subrr add0r ler0n.
rewrite /= -/h IH /alpha Z IH; have e0 := lt0r_neq0 (exp_gt0 expo (- h)).
case: eqP => [_|_]; last first.
  rewrite mulr0n !mulN1r; move/lt0r_neq0/eqP: pos; move/eqP: e0.
  move: (exp (- h)) (M - 1 + _) => a b a0 b0; named R; field; by split.
have gen (a b m x : R) : a <> 0 -> m - 1 + b <> 0 ->
    (m - 1) * x + eta * (1 - b * a / ((m - 1 + b) * a)) = (m - 1) * (x + eta / (m - 1 + b)).
  by move=> a0 b0; named R; field; split.
by rewrite mulr1n E //; apply: gen; apply/eqP; rewrite ?e0 // lt0r_neq0.
Qed.
(* What the decoder predicts then, from the second draw on. *)
Theorem lemma_5_alpha n s v : alpha (row n s) v =
  (if v == n then exp (M * height s) else 1) / (M - 1 + exp (M * height s)).
Proof.
have E : exp ((M - 1) * height s) = exp (M * height s) * exp (- height s).
  by rewrite -(exponential_add expo); congr exp; named R; ring.
have entry u : exp (row n s u) =
    (if u == n then exp (M * height s) else 1) * exp (- height s).
  by rewrite lemma_5; case: eqP => _; rewrite ?mulN1r ?mul1r.
rewrite /alpha; under eq_bigr => u _ do rewrite entry.
rewrite -mulr_suml entry -mulf_div divff ?mulr1 ?lt0r_neq0 ?(exp_gt0 expo) //; congr (_ / _).
rewrite (bigD1 n) //= eqxx (eq_bigr (fun=> 1)) => [|u /negbTE -> //].
have -> : \sum_(u | u != n) 1 = M - 1 :> R; last by rewrite addrC.
have V0 : (0 < #|V|)%N by apply/card_gt0P; exists n.
rewrite sumr_const -[#|_|]/#|predC1 n| cardC1.
by rewrite -{2}(prednK V0) -addn1 natrD addrK.
Qed.

(* All of Lemma 5 in its words: the rows of (8), of which only that of the class moves. *)
Definition zeta n v : R := M / (M - 1) * ((v == n)%:R - 1 / M).
Fixpoint rows n (s : nat) j : V -> R :=
  if s is s'.+1 then fun v =>
    rows n s' j v + (j == n)%:R * (eta * ((v == n)%:R - alpha (rows n s' j) v))
  else fun=> 0.
Theorem lemma_5_rows n s : (1 < #|V|)%N ->
  [/\ forall v, rows n s n v = (M - 1) * height s * zeta n v,
      forall j v, j != n -> rows n s j v = 0 &
      forall v, (v == n)%:R - alpha (rows n s n) v =
        (M - 1) / (M - 1 + exp (M * height s)) * zeta n v].
Proof.
move=> two; have M0 : M <> 0 :> R by apply/eqP; rewrite pnatr_eq0 -lt0n ltnW.
have M1 : M - 1 <> 0 :> R by apply/eqP; rewrite subr_eq0 -[1]/(1%:R) eqr_nat gtn_eqF.
have rowE : rows n s n =1 row n s.
  elim: s => [//|s IH] v /=; rewrite eqxx mul1r IH /alpha; congr (_ + _ * (_ - exp _ / _)) => //.
  by apply: eq_bigr => u _; rewrite IH.
have alphaE v : alpha (rows n s n) v = alpha (row n s) v.
  by rewrite /alpha rowE; congr (_ / _); apply: eq_bigr => u _; rewrite rowE.
have pos : M - 1 + exp (M * height s) <> 0.
  apply/eqP/lt0r_neq0; rewrite ltr_paddl ?(exp_gt0 expo) // subr_ge0 -[1]/(1%:R) ler_nat.
  exact: ltnW.
split=> [v|j v jn|v].
- rewrite rowE lemma_5 /zeta; move: (height s) M0 M1 => h; move: (M) => m m0 m1.
  by case: eqP => _; rewrite ?mulr1n ?mulr0n; named R; field.
- by elim: s {rowE alphaE pos} v => [//|s IH] v /=; rewrite (negbTE jn) mul0r addr0.
rewrite alphaE lemma_5_alpha /zeta; move: (exp _) pos M0 M1 => h; move: (M) => m pos m0 m1.
by case: eqP => _; rewrite ?mulr1n ?mulr0n; named R; field; do !split.
Qed.
End Decoder.

(* (9): with constant attention and Y(0) = 0, Y stays a combination of the f_n, so that the gradient
   of a sample is one. The update is that of (7), or any other along the f_n. *)
Section Combination.
Variables (R : rcfType) (V C : finType) (f : C -> V -> R).
(* Each step adds a combination of the f_n, times some row: f_n (e_n - alpha_n)' in (7), and
   (f_n - F E' e_n) (e_n - alpha_n)' in (26). *)
Variables (mix : nat -> C -> R) (step : nat -> V -> R).
Fixpoint Y (s : nat) : V -> V -> R :=
  if s is s'.+1 then fun l v => Y s' l v + (\sum_k mix s' k * f k l) * step s' v
  else fun _ _ => 0.

Theorem equation_9 s n (d : V -> R) : exists (iota : R) (beta : C -> R), forall l,
  \sum_v Y s l v * d v = iota * f n l - \sum_(k | k != n) beta k * f k l.
Proof.
suff [a e] : exists a : C -> R, forall l, \sum_v Y s l v * d v = \sum_k a k * f k l.
  exists (a n), (fun k => - a k) => l; rewrite e (bigD1 n) //=; congr (_ + _).
  by rewrite -sumrN; apply: eq_bigr => k _; rewrite mulNr opprK.
elim: s => [|s [a IH]].
  by exists (fun=> 0) => l; rewrite !big1 // => [k _|v _]; rewrite mul0r.
exists (fun k => a k + mix s k * \sum_v step s v * d v) => l.
under eq_bigr => v _ do rewrite /= mulrDl.
rewrite big_split /= IH; under [in RHS]eq_bigr => k _ do rewrite mulrDl.
rewrite big_split /=; congr (_ + _); under eq_bigr => v _ do rewrite -mulrA.
by rewrite -mulr_sumr mulr_suml; apply: eq_bigr => k _; rewrite mulrAC.
Qed.
End Combination.

(* (102-106), corrected: classes whose distinct tokens correspond have vectors of equal norm. *)
Theorem equation_106_corrected (R : rcfType) (exp : R -> R) (V : finType) (P1 P2 z : V -> R)
    (phi : V -> V) : injective phi -> (forall l, P1 l = P2 (phi l)) ->
  (forall l, P1 l != 0 -> z l = z (phi l)) ->
  \sum_l (P1 l * exp (z l)) ^+ 2 = \sum_l (P2 l * exp (z l)) ^+ 2.
Proof.
move=> inj same zs; rewrite [RHS](reindex_inj inj); apply: eq_bigr => l _ /=.
rewrite -same; have [->|P0] := eqVneq (P1 l) 0; first by rewrite !mul0r.
by rewrite -zs.
Qed.

(* (112), corrected: the derivative of the relative gain (11). *)
Theorem equation_112_corrected (R : rcfType) (exp log : R -> R) (e : exponential exp)
    (logK : forall c, 0 < c -> exp (log c) = c) (z : R -> R) (r0 t dz : R) :
  rate z t dz -> 0 < r0 -> 0 < dz ->
  rate (fun s => r0 * exp (2%:R * (z s - z 0))) t (2%:R * r0 * exp (2%:R * (z t - z 0)) * dz) /\
  0 < 2%:R * r0 * exp (2%:R * (z t - z 0)) * dz.
Proof.
move=> dzt r1 dz0; split; last by rewrite !mulr_gt0 ?ltr0n ?(exp_gt0 e).
have shifted : rate (fun s => 2%:R * (z s - z 0)) t (2%:R * dz).
  apply: rate_eq (rate_scale 2%:R (rate_add dzt (rate_const (- z 0) t))) => //.
  by rewrite addr0.
apply: rate_eq (rate_scale r0 (rate_exp e shifted)) => //.
by rewrite !mulrA [2%:R * r0]mulrC [r0 * 2%:R * _]mulrAC.
Qed.

(* E' = I - (I + E)^-1 = E (I + E)^-1. *)
Theorem e_prime_corrected (R : fieldType) (k : nat) (E : 'M[R]_k) : 1%:M + E \in unitmx ->
  1%:M - invmx (1%:M + E) = E *m invmx (1%:M + E).
Proof.
move=> inv; apply: (can_inj (mulmxK inv)).
by rewrite mulmxBl mul1mx mulVmx // mulmxKV // addrAC subrr add0r.
Qed.
