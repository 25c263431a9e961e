(* Algorithm 1 from its start: stage 1, then stage 2, with two properties of the exponential.
   Page: huang2024_s5_convergence, labels ours-alignment, ours-direction, ours-trivial-bound. *)
From Coq Require Import Ring Field.
From mathcomp Require Import all_ssreflect all_algebra.
From Companion Require Import Fields Exponential Orders MaxMargin Frobenius Matrix Stage1 Stage1Law
  Stage2 Alignment Direction.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

(* Two directions that are close look alike from any third. *)
Section Cosines.
Variables (R : rcfType) (V : finType).
Implicit Types (W U C : V -> V -> R).
Add Field scores0 : (is_field R).

Definition unit_of W : V -> V -> R := fun q x => (norm W)^-1 * W q x.

Lemma cosine_units W U : cosine W U = inner (unit_of W) (unit_of U).
Proof.
rewrite /cosine inner_scale [inner (unit_of W) U]innerC inner_scale [inner U W]innerC invfM.
by rewrite mulrC -mulrA mulrCA.
Qed.

Lemma unit_norm2 W : 0 < norm W -> Norm2 (unit_of W) = 1.
Proof.
move=> W0; rewrite -norm_sqr norm_scale ger0_norm ?invr_ge0 ?norm_ge0 //.
by rewrite mulVf ?lt0r_neq0 // expr1n.
Qed.

Theorem cosine_close W U C : 0 < norm W -> 0 < norm U -> 0 < norm C ->
  `|cosine W C - cosine U C| <= Num.sqrt (2%:R * (1 - cosine W U)).
Proof.
move=> W0 U0 C0; pose d q x := unit_of W q x + -1 * unit_of U q x.
have -> : cosine W C - cosine U C = inner (unit_of C) d.
  by rewrite inner_add mulN1r -!cosine_units /cosine ![inner C _]innerC ![norm C * _]mulrC.
have -> : 2%:R * (1 - cosine W U) = Norm2 d.
  rewrite Norm2_add !unit_norm2 // -cosine_units; move: (cosine W U) => c.
  by rewrite -[2%:R]/(1 + 1); named R; ring.
have := inner_norm_abs (unit_of C) d.
by rewrite {1}/norm unit_norm2 // sqrtr1 mul1r.
Qed.
End Cosines.

Section Setting.
Variables (R : rcfType) (V : finType) (n : V -> V).
Variables (I : finType) (body : I -> seq V) (query next : I -> V).
Notation sentence := (@sentence V I body query).

(* (12) is (3) for any list of the samples; so it has one and only one solution. *)
Definition listed : seq (seq V * V) := [seq (sentence i, next i) | i <- enum I].
Lemma listedP s z : samples listed s z <-> sampled body query next s z.
Proof.
split=> [/mapP [i _ [-> ->]]|[i [<- <-]]]; first by exists i.
by apply/mapP; exists i; rewrite // mem_enum.
Qed.

Lemma solves12P data U : (forall s z, samples data s z <-> sampled body query next s z) ->
  solves12 n body query next U <-> @solves3 R V n data U.
Proof.
move=> samplesP; have same U' : feasible12 n body query next U' <-> feasible3 n data U'.
  split=> [feas s q z a b /samplesP [i [e <-]] a_s b_s na nb|feas i x y xs ys nx ny].
    have eq : query i = q by case/rcons_inj: e.
    have := feas i (nth q (rcons s q) a) (nth q (rcons s q) b); rewrite e eq.
    by apply=> //; apply: mem_nth.
  have := feas (body i) (query i) (next i) (index x (sentence i)) (index y (sentence i)).
  rewrite -/(sentence i) !index_mem !nth_index //; apply=> //.
  by apply/samplesP; exists i.
by split=> -[feas best]; split=> [|U' /same /best //]; apply/same.
Qed.

Lemma assumption_1_same data :
  (forall s z, samples data s z <-> sampled body query next s z) ->
  assumption_1 n (sampled body query next) -> assumption_1 n (samples data).
Proof.
move=> same [inj src clear]; split=> // [s z /same /src //|q x].
move=> [[y [s [z [/same D ? ? ? ?]]]] [y' [s' [z' [/same D' ? ? ? ?]]]]].
by apply: (clear q x); split; [exists y, s, z | exists y', s', z'].
Qed.

Theorem optimum : assumption_1 n (sampled body query next) ->
  exists U : V -> V -> R, solves12 n body query next U /\
    forall U', solves12 n body query next U' -> forall q, U' q =1 U q.
Proof.
move=> /(assumption_1_same listedP) asm1; have [U [sol once]] := one_solution R asm1.
exists U; split; first by apply/(solves12P _ listedP).
by move=> U' /(solves12P _ listedP); apply: once.
Qed.
End Setting.

Section Algorithm.
Variables (R : rcfType) (V : finType) (n : V -> V) (exp log : R -> R).
Add Field scores : (is_field R).
Variables (I : finType) (body : I -> seq V) (query next : I -> V) (freq : I -> R).
Notation sentence := (@sentence V I body query).
Notation rival := (@rival V n I body query next).
Hypotheses (e : exponential exp) (logK : forall c, 0 < c -> exp (log c) = c).
Hypothesis data : setting n body query next freq.

(* Algorithm 1: T steps of length eta0 in stage 1, at least one; then stage 2 with steps of length
   eta, both from zero. *)
Variables (T : nat) (eta0 eta : R).
Hypotheses (T_gt0 : (0 < T)%N) (eta0_gt0 : 0 < eta0) (eta_gt0 : 0 < eta).
Let W_ov : V -> V -> R := Stage1Law.W_ov n exp eta0 T.
Let W_kq : nat -> V -> V -> R := @W_kq R V exp I body query next freq W_ov eta.

(* L bounds the lengths and pi_min the frequencies of the samples that compare. *)
Variables (L : nat) (pi_min : R) (U : V -> V -> R).
Hypotheses (L_max : forall i, (size (sentence i) <= L)%N) (pi_min_gt0 : 0 < pi_min).
Hypothesis pi_minP : forall i j, rival i j -> pi_min <= freq i.
Hypothesis solU : solves12 n body query next U.
Definition K : R := log (2%:R * L%:R ^+ 2 * (L%:R - 1) ^+ 3 / pi_min).
Notation S := (Norm2 U).
Notation root2 := (Num.sqrt (2%:R : R)).

Notation pos := (exp_gt0 e).

Lemma two_tokens : (1 < #|V|)%N.
Proof.
case: (compares data) => i [j /andP [_ ne]]; rewrite (cardD1 j) (cardD1 (decider n body query next
  i)).
by rewrite !inE eq_sym ne.
Qed.

(* The gap that stage 1 leaves. *)
Let A : R := T%:R * eta0 / Num.sqrt (#|V|%:R - 1).
Lemma gap x v : v != n x -> W_ov x (n x) - W_ov x v = A.
Proof. exact: equal_margins two_tokens pos T x v. Qed.
Lemma A_gt0 : 0 < A.
Proof.
rewrite divr_gt0 ?mulr_gt0 ?ltr0n // sqrtr_gt0 subr_gt0 ltr1n; exact: two_tokens.
Qed.

Lemma K_large : 2%:R * L%:R ^+ 2 * (L%:R - 1) ^+ 3 / pi_min <= exp K.
Proof.
rewrite /K logK // divr_gt0 //; have L2 := length_ge2 data L_max.
by rewrite !mulr_gt0 ?exprn_gt0 ?ltr0n ?(ltnW L2) // subr_gt0 ltr1n.
Qed.

Theorem theorem_A W (G := gradient exp body query next freq W_ov W)
    (F := force n exp body query next freq W_ov W) : leads n exp body query next W ->
  [/\ 0 < F,
      inner (fun q x => - G q x / F) W <= inner U W / S + K &
      0 < norm W ->
      (1 + K * norm U / norm W) * inner G U * (norm W / norm U) <= inner G W].
Proof.
move=> lead; have F0 : 0 < F.
  exact: (force_gt0 pos gap (collocation data) (shares data) A_gt0 (compares data) W).
split=> //; last first.
  exact: (theorem_A_cosine e data gap A_gt0 L_max solU pi_min_gt0 pi_minP K_large eta_gt0 lead).
have -> : inner (fun q x => - G q x / F) W = - inner G W / F.
  rewrite innerC [inner G W]innerC mulNr mulrC -mulNr -inner_scale.
  by apply: eq_inner => // q x; rewrite mulNr -mulrN mulrC.
rewrite ler_pdivr_mulr // mulrC.
exact: (theorem_A e data gap A_gt0 L_max solU pi_min_gt0 pi_minP K_large lead).
Qed.

Theorem theorem_B t (x := inner U (W_kq t) / norm U)
    (y := fun q v => W_kq t q v + - (x / norm U) * U q v) : (0 < t)%N ->
  [/\ Norm2 y <= 2%:R * K * norm U * x + eta ^+ 2 * t%:R,
      Norm2 y / x ^+ 2 <= 2%:R * S / t%:R * (1 + root2 * K / eta) &
      1 - cosine (W_kq t) U <= S / t%:R * (1 + root2 * K / eta)].
Proof.
move=> t0; split.
- exact: (across_upper e data gap A_gt0 L_max solU pi_min_gt0 pi_minP K_large eta_gt0 t).
- exact: (tangent_upper e data gap A_gt0 L_max solU pi_min_gt0 pi_minP K_large eta_gt0 t0).
exact: (theorem_B e data gap A_gt0 L_max solU pi_min_gt0 pi_minP K_large eta_gt0 t0).
Qed.

(* Margins, from t_A on. *)
Theorem theorem_B_margins t i j (x := inner U (W_kq t) / norm U) : rival i j ->
  32%:R * S ^+ 2 * Num.max 1 (root2 * K / eta) <= t%:R ->
  x / (2%:R * norm U) <=
    W_kq t (query i) (decider n body query next i) - W_kq t (query i) j /\
  t%:R * eta / (2%:R * root2 * S) <= x / (2%:R * norm U).
Proof.
have S2 : 0 <= 32%:R * S ^+ 2 by rewrite mulr_ge0 ?ler0n ?sqr_ge0.
rewrite maxr_pmulr // le_maxl mulr1 => ij /andP [t1 t2].
exact: (theorem_B_margins e data gap A_gt0 L_max solU pi_min_gt0 pi_minP K_large eta_gt0 ij t1 t2).
Qed.

Theorem norm_bounds t (x := inner U (W_kq t) / norm U) :
  [/\ t%:R * eta / (root2 * norm U) <= x, x <= norm (W_kq t) & norm (W_kq t) <= t%:R * eta].
Proof. exact: (norm_bounds e data gap A_gt0 solU eta_gt0). Qed.

Theorem trivial_bound t : (0 < t)%N -> 1 / (root2 * norm U) <= cosine (W_kq t) U.
Proof.
exact: (trivial_bound e data gap A_gt0 solU eta_gt0).
Qed.

Lemma one_minus_cosine t : (0 < t)%N ->
  1 - cosine (W_kq t) U <= S / t%:R * (1 + root2 * K / eta).
Proof. by move=> t0; case: (theorem_B t0). Qed.

(* So the direction converges, for every step size, where no number exceeds all natural ones. *)
Hypothesis archimedes : forall c : R, exists N : nat, c < N%:R.
Theorem direction_converges (eps : R) : 0 < eps ->
  exists N, forall t, (N <= t)%N -> 1 - eps <= cosine (W_kq t) U.
Proof.
move=> eps0; pose C := Norm2 U * (1 + Num.sqrt 2%:R * K / eta).
have [N lt] := archimedes (`|C| / eps); exists N.+1 => t le.
have t0 : (0 < t)%N by exact: leq_trans le.
have tR : 0 < t%:R :> R by rewrite ltr0n.
rewrite ler_subl_addr addrC -ler_subl_addr; apply: le_trans (one_minus_cosine t0) _.
rewrite mulrAC -/C ler_pdivr_mulr //; apply: le_trans (ler_norm C) _.
rewrite mulrC -ler_pdivr_mulr //; apply: ltW.
by apply: lt_le_trans lt _; rewrite ler_nat ltnW.
Qed.

(* And so do the cosines with any other matrix. *)
Theorem cosines_converge (C : V -> V -> R) (eps : R) : 0 < norm U -> 0 < norm C -> 0 < eps ->
  exists N, forall t, (N <= t)%N -> `|cosine (W_kq t) C - cosine U C| <= eps.
Proof.
move=> U0 C0 eps0; have eps1 : 0 < eps ^+ 2 / 2%:R by rewrite divr_gt0 ?exprn_gt0 ?ltr0n.
have [N le] := direction_converges eps1; exists N.+1 => t Nt.
have t0 : (0 < t)%N by apply: leq_trans Nt.
have low := trivial_bound t0.
have W0 : 0 < norm (W_kq t).
  rewrite lt_neqAle norm_ge0 andbT eq_sym; apply/eqP => zero; move: low.
  rewrite /cosine zero mul0r invr0 mulr0 leNgt => /negP; apply.
  by rewrite divr_gt0 ?ltr01 // mulr_gt0 // sqrtr_gt0 ltr0n.
apply: le_trans (cosine_close W0 U0 C0) _.
rewrite -[leRHS](gtr0_norm eps0) -sqrtr_sqr ler_wsqrtr //.
have := le t (ltnW Nt); rewrite ler_subl_addr addrC -ler_subl_addr => le1.
by rewrite mulrC -ler_pdivl_mulr ?ltr0n.
Qed.
(* Theorem 1, corrected (huang2024-thm-1-corrected), with its constants. *)
Let L2 : 2%:R <= L%:R :> R := L_ge2 data L_max.

Lemma pi_min_le1 : pi_min <= 1.
Proof.
case: (compares data) => i [j ij]; apply: le_trans (pi_minP ij) _.
by rewrite -(shares_total data) (bigD1 i) //= ler_addl; apply: sumr_ge0 => k _;
  apply/ltW/(shares data).
Qed.

Lemma K_upper : K <= 5%:R * L%:R - 8%:R + pi_min^-1.
Proof.
have L0 : 0 < L%:R :> R by apply: lt_le_trans L2; rewrite ltr0n.
have k1 : 1 <= L%:R - 1 :> R by rewrite ler_subr_addr.
have k0 : 0 < L%:R - 1 :> R by apply: lt_le_trans k1; rewrite ltr01.
have p0 : 0 < pi_min^-1 by rewrite invr_gt0.
apply: (log_le_exp e logK); first by rewrite divr_gt0 // !mulr_gt0 ?exprn_gt0 ?ltr0n // -(ltr_nat
  R).
have -> : 5%:R * L%:R - 8%:R + pi_min^-1 = 1 + (L%:R - 1) + (L%:R - 1) + (L%:R - 1 - 1) +
    (L%:R - 1 - 1) + (L%:R - 1 - 1) + (pi_min^-1 - 1).
  rewrite (_ : 5%:R = 1 + 1 + 1 + 1 + 1 :> R); last by rewrite -[1]/(1%:R) -!natrD.
  rewrite (_ : 8%:R = 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 :> R); last by rewrite -[1]/(1%:R) -!natrD.
  by named R; ring.
have low c : c <= exp (c - 1).
  by apply: le_trans (exponential_tangent e _); rewrite addrC subrK.
have low2 : 2%:R <= exp 1 by apply: exponential_tangent e _.
have split (a b c d f g h : R) : exp (a + b + c + d + f + g + h) =
    exp a * exp b * exp c * exp d * exp f * exp g * exp h by rewrite !(exponential_add e).
rewrite split; have le1 := low L%:R; have le2 := low (L%:R - 1); have le3 := low pi_min^-1.
move: (exp _) (exp _) (exp (L%:R - 1 - 1)) (exp _) low2 le1 le2 le3 => x1 x2 x3 x4 low2 le1 le2 le3.
rewrite expr2 [_ ^+ 3]exprS expr2 !mulrA.
have l0 := ltW L0; have k2 := ltW k0; have p1 := ltW p0; have n0 : 0 <= 2%:R :> R := ler0n R 2.
by do 6?(apply: ler_pmul => //; try by rewrite !mulr_ge0).
Qed.

Theorem theorem_1_corrected t : (1 < t)%N -> eta <= norm U / exp 1 ->
  [/\ t%:R * eta / (2%:R * L%:R * norm U) <= norm (W_kq t), norm (W_kq t) <= t%:R * eta &
      1 - cosine (W_kq t) U <=
        54%:R * L%:R ^+ 4 * norm U ^+ 4 * log t%:R ^+ 2 / (pi_min * (t%:R * eta))].
Proof.
move=> t1 eta_small; have t0 : (0 < t)%N by apply: ltnW.
have [up low sharp] := lemma_6 pos gap (collocation data) (shares data) A_gt0 (exponential_add e)
  (exp_le e) eta_gt0 (often data) L_max solU (compares data) t.
split=> //; case: (theorem_B t0) => _ _ /le_trans; apply.
have tR : 0 < t%:R :> R by rewrite ltr0n.
have te : 0 < t%:R * eta by rewrite mulr_gt0.
have w0 : 0 < norm U.
  exact: (norm_U_gt0 pos gap (collocation data) (shares data) A_gt0 (exponential_add e)
    (exp_le e) eta_gt0 (often data) solU (compares data)).
have two : 0 < 2%:R :> R by rewrite ltr0n.
have r0 : 0 < root2 by rewrite sqrtr_gt0.
have r_sqr : root2 ^+ 2 = 2%:R by rewrite sqr_sqrtr ?ler0n.
have r1 : 1 <= root2 by rewrite -{1}[1]sqrtr1 ler_wsqrtr // ler1n.
have r2 : root2 <= 2%:R by rewrite -[X in _ <= X]r_sqr expr2 ler_pemull // ltW.
have rw1 : 1 <= root2 * norm U.
  have := le_trans sharp up; rewrite ler_pdivr_mulr ?mulr_gt0 //.
  by rewrite -{1}[t%:R * eta]mulr1 ler_pmul2l.
have S1 : 1 <= 2%:R * S by rewrite -r_sqr -norm_sqr -exprMn exprn_ege1.
have S0 : 0 < S by rewrite -norm_sqr exprn_gt0.
have eta_S : eta <= S.
  apply: le_trans eta_small _; rewrite ler_pdivr_mulr ?pos //.
  apply: le_trans (_ : S * 2%:R <= _); last by rewrite ler_pmul2l //;
    apply: exponential_tangent e _.
  rewrite -norm_sqr expr2 -mulrA ler_pemulr // ?(ltW w0) // mulrC; apply: le_trans rw1 _.
  by rewrite ler_pmul2r.
have P0 : 0 < pi_min^-1 by rewrite invr_gt0.
have P1 : 1 <= pi_min^-1 by rewrite invf_ge1 // pi_min_le1.
have L0 : 0 < L%:R :> R by apply: lt_le_trans L2.
have L4 : 8%:R * L%:R <= L%:R ^+ 4 :> R.
  have -> : L%:R ^+ 4 = L%:R ^+ 3 * L%:R :> R by rewrite -exprSr.
  rewrite ler_pmul2r // (_ : 8%:R = 2%:R ^+ 3 :> R); last by rewrite -natrX.
  by rewrite ler_pexpn2r ?nnegrE // ltW.
have L41 : 1 <= L%:R ^+ 4 :> R by rewrite exprn_ege1 // (le_trans _ L2) // ler1n.
set Z := L%:R ^+ 4 * S * pi_min^-1.
have Z0 : 0 < Z by rewrite !mulr_gt0 ?exprn_gt0.
have SZ : S <= Z.
  rewrite /Z mulrAC; apply: ler_pemull; [exact: ltW | exact: mulr_ege1].
have LZ : 4%:R * L%:R <= Z.
  rewrite -(ler_pmul2l two) mulrA -natrM; apply: le_trans L4 _.
  have -> : 2%:R * Z = L%:R ^+ 4 * (2%:R * S * pi_min^-1).
    by rewrite /Z; move: (L%:R ^+ 4) S pi_min^-1 (2%:R : R) => a b c d; named R; ring.
  by apply: ler_pemulr; [exact: le_trans ler01 L41 | exact: mulr_ege1].
have PZ : pi_min^-1 <= 2%:R * Z.
  have -> : 2%:R * Z = pi_min^-1 * (2%:R * S * L%:R ^+ 4).
    by rewrite /Z; move: (L%:R ^+ 4) S pi_min^-1 (2%:R : R) => a b c d; named R; ring.
  by apply: ler_pemulr; [exact: ltW | exact: mulr_ege1].
have small : eta + root2 * K <= 8%:R * Z.
  have B0 : 0 <= 5%:R * L%:R - 8%:R + pi_min^-1.
    rewrite addr_ge0 ?(ltW P0) // subr_ge0; apply: le_trans (_ : 5%:R * 2%:R <= _).
      by rewrite -natrM ler_nat.
    by rewrite ler_pmul2l ?ltr0n.
  have rK : root2 * K <= 3%:R * Z + 4%:R * Z.
    apply: le_trans (_ : 2%:R * (5%:R * L%:R - 8%:R + pi_min^-1) <= _).
      apply: le_trans (_ : root2 * (5%:R * L%:R - 8%:R + pi_min^-1) <= _).
        by rewrite ler_pmul2l // K_upper.
      by rewrite ler_wpmul2r.
    rewrite mulrDr; apply: ler_add; last first.
      rewrite (_ : 4%:R = 2%:R * 2%:R :> R); last by rewrite -natrM.
      by rewrite -mulrA ler_pmul2l.
    apply: le_trans (_ : 3%:R * (4%:R * L%:R) <= _); last by rewrite ler_pmul2l ?ltr0n.
    apply: le_trans (_ : 10%:R * L%:R <= _).
      by rewrite mulrBr ler_subl_addr mulrA -[2%:R * 5%:R]natrM ler_addl mulr_ge0 ?ler0n.
    by rewrite mulrA -[3%:R * 4%:R]natrM ler_pmul2r // ler_nat.
  apply: le_trans (ler_add (le_trans eta_S SZ) rK) _.
  by rewrite -mulrDl -natrD -{1}[Z]mul1r -mulrDl -(natrD _ 1 7).
have l2 : 1 <= 4%:R * log t%:R ^+ 2.
  have half : 2%:R^-1 <= log t%:R by apply: (log_half e logK); rewrite ler_nat.
  have h0 : 0 <= 2%:R^-1 :> R by rewrite invr_ge0 ler0n.
  apply: le_trans (_ : 4%:R * 2%:R^-1 ^+ 2 <= _).
    by rewrite exprVn -natrX divff // pnatr_eq0.
  by rewrite ler_pmul2l ?ltr0n // ler_pexpn2r ?nnegrE // (le_trans h0).
have -> : S / t%:R * (1 + root2 * K / eta) = S * (eta + root2 * K) / (t%:R * eta).
  move: tR eta_gt0 => /lt0r_neq0 /eqP t2 /lt0r_neq0 /eqP e2.
  by move: (t%:R : R) S root2 K t2 => a b c d a0; named R; field.
have -> : 54%:R * L%:R ^+ 4 * norm U ^+ 4 * log t%:R ^+ 2 / (pi_min * (t%:R * eta)) =
    S * (54%:R * (Z * log t%:R ^+ 2)) / (t%:R * eta).
  rewrite /Z -norm_sqr (_ : norm U ^+ 4 = norm U ^+ 2 * norm U ^+ 2); last by rewrite -exprD.
  rewrite invfM.
  move: (54%:R : R) (L%:R ^+ 4) (norm U ^+ 2) (log _ ^+ 2) pi_min^-1 (t%:R * eta)^-1.
  by move=> a b c d f g; named R; ring.
rewrite ler_pmul2r ?invr_gt0 // ler_pmul2l //; apply: le_trans small _.
apply: le_trans (_ : 8%:R * Z * (4%:R * log t%:R ^+ 2) <= _).
  by rewrite ler_pemulr // mulr_ge0 ?ler0n // ltW.
have -> : 8%:R * Z * (4%:R * log t%:R ^+ 2) = 32%:R * (Z * log t%:R ^+ 2).
  by rewrite mulrACA -natrM.
by rewrite ler_wpmul2r ?ler_nat // mulr_ge0 ?sqr_ge0 // ltW.
Qed.
End Algorithm.
