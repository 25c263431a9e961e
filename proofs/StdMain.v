(* The same for Coq's real numbers, exponential and logarithm: the derivatives are those of Coq's
   library, and the direction of stage 2 converges. This file and StdReals.v rest on the axioms of
   Coq's reals. Page: huang2024_s5_convergence, labels ours-direction, ours-true-optimum. *)
From Coq Require Rdefinitions Raxioms Rtrigo_def Rpower RIneq Exp_prop Ranalysis1 MVT.
From mathcomp Require Import all_ssreflect all_algebra.
From Companion Require Import Exponential MaxMargin Frobenius Orders Stage1 Stage1Law Stage2
  Alignment Direction Algorithm Training Calculus Flow StdReals.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.
Notation R := (Num.RealClosedField.sort R_rcfType).
Notation expR := (Rtrigo_def.exp : R -> R).
Notation ln := (Rpower.ln : R -> R).

(* Coq's exp and ln have the properties that the proofs use. *)
Theorem coq_exponential : exponential expR.
Proof.
by split=> [c d|c]; [exact: Exp_prop.exp_plus | apply/lebP; exact: Rpower.exp_ineq1_le].
Qed.
Theorem coq_log c : 0 < c -> expR (ln c) = c.
Proof. by move=> /ltbP; apply: Rpower.exp_ln. Qed.

(* A rate in the sense of Calculus.v is a derivative in the sense of Coq's library. *)
Theorem rate_derivable (f : R -> R) (s l : R) :
  rate f s l -> Ranalysis1.derivable_pt_lim f s l.
Proof.
move=> df eps /ltbP eps0; have e2 : 0 < eps / 2%:R by rewrite divr_gt0 ?ltr0n.
have [d d0 close] := rate_limit df e2.
exists (RIneq.mkposreal _ (elimT (ltbP 0 d) d0)) => h h0 hd; apply/ltbP.
have h1 : h != 0 :> R by apply/eqP.
have hd1 : `|h : R| <= d by apply: ltW; apply/ltbP.
have half : eps / 2%:R < eps by rewrite ltr_pdivr_mulr ?ltr0n // ltr_pmulr ?ltr1n.
by have := le_lt_trans (close h h1 hd1) half; rewrite {1}/GRing.inv /= /invr (negbTE h1).
Qed.

(* What the flows of the second paper need of numbers. *)
Theorem real_mean_value : mean_value R_rcfType.
Proof.
move=> f v fr v0 t t0; have [<- //|tn] := eqVneq 0 t.
have tp : 0 < t by rewrite lt_neqAle tn.
have dl (c : R) : Rdefinitions.Rle 0 c /\ Rdefinitions.Rle c t ->
    Ranalysis1.derivable_pt_lim f c (v c).
  by move=> [/lebP c0 _]; apply: rate_derivable; apply: fr.
have [c [E [/ltbP c0 _]]] := MVT.MVT_cor2 f v 0 t (elimT (ltbP _ _) tp) dl.
rewrite -subr_ge0 (E : f t - f 0 = v c * (t - 0)) subr0.
by rewrite mulr_ge0 // v0 // ltW.
Qed.

Section Derivatives.
Variables (V : finType) (n : V -> V) (I : finType) (body : I -> seq V) (query next : I -> V).
Variables (freq : I -> R) (W_ov : V -> V -> R).

Theorem derivative_5 W D s : Ranalysis1.derivable_pt_lim (fun t => loss0 n expR ln (line W D t)) s
  (inner (Stage1Law.gradient n expR (line W D s)) D).
Proof. by apply: rate_derivable; exact: (gradient_5 coq_exponential coq_log). Qed.

Theorem derivative_6 W D s :
  Ranalysis1.derivable_pt_lim (fun t => loss expR ln body query next freq W_ov (line W D t)) s
  (inner (Stage2.gradient expR body query next freq W_ov (line W D s)) D).
Proof. by apply: rate_derivable; exact: (gradient_6 coq_exponential coq_log). Qed.
End Derivatives.

Lemma archimedes (c : R) : exists N : nat, c < N%:R.
Proof.
have nat_R k : Raxioms.INR k = k%:R :> R.
  by elim: k => [//|k IH]; rewrite RIneq.S_INR IH -addn1 natrD.
have pos : 0 < 1 + `|c| by rewrite ltr_paddr ?normr_ge0 ?ltr01.
have inv : 0 < (1 + `|c|)^-1 by rewrite invr_gt0.
have [N [lt /ssrnat.ltP N0]] := Rtrigo_def.archimed_cor1 _ (elimT (ltbP _ _) inv).
have N1 : 0 < N%:R :> R by rewrite ltr0n.
exists N; apply: le_lt_trans (ler_norm c) _; apply: lt_trans (_ : 1 + `|c| < _).
  by rewrite ltr_addr ltr01.
rewrite -ltf_pinv ?posrE //; apply/ltbP.
by rewrite {1}/GRing.inv /= /invr gt_eqF // -nat_R.
Qed.

Section Real.
Variables (V : finType) (n : V -> V).
Variables (I : finType) (body : I -> seq V) (query next : I -> V) (freq : I -> R).
Hypothesis data : setting n body query next freq.
Variables (T : nat) (eta0 eta : R).
Hypotheses (T_gt0 : (0 < T)%N) (eta0_gt0 : 0 < eta0) (eta_gt0 : 0 < eta).
Variables (L : nat) (pi_min : R) (U : V -> V -> R).
Hypotheses (L_max : forall i, (size (sentence body query i) <= L)%N) (pi_min_gt0 : 0 < pi_min).
Hypothesis pi_minP : forall i j, rival n body query next i j -> pi_min <= freq i.
Hypothesis solU : solves12 n body query next U.

(* The direction of stage 2 converges, for every step size. *)
Theorem real_direction_converges (eps : R) : 0 < eps -> exists N, forall t, (N <= t)%N ->
  1 - eps <= cosine (W_kq expR body query next freq (Stage1Law.W_ov n expR eta0 T) eta t) U.
Proof.
exact: (direction_converges coq_exponential coq_log data T_gt0 eta0_gt0 eta_gt0 L_max pi_min_gt0
  pi_minP solU archimedes).
Qed.
End Real.
