(* What the machine has read, on one page. This file holds definitions and statements and no proof;
   it needs MathComp, and for the last section the file that makes Coq's reals a field of MathComp.
   Audited.v proves each statement; audit.py checks that it proves these, and on which axioms.
   The page "Machine-checked" shows this file beside the words of the paper.

   How to read it. [rcons s q] is the sentence s followed by q, [count_mem y s] is how often y occurs
   in s, [\sum_(y <- s)] runs through the positions of s and [\sum_x] through the vocabulary, [%:R]
   turns a natural number into a number of the field R, [e ^+ k] is a power, [[/\ A, B & C]] is
   "A and B and C"; [x != y] and [x == y] are tests, [x <> y] is the statement. *)
From mathcomp Require Import all_ssreflect all_algebra.
From Coq Require Rdefinitions Rtrigo_def Rpower.
From Companion Require StdReals.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

(* 1. Numbers: R is any real closed field; all that is used of exp and log is this. *)
Definition exp_and_log (R : rcfType) (exp log : R -> R) : Prop :=
  [/\ forall c d, exp (c + d) = exp c * exp d,
      forall c, 1 + c <= exp c &
      forall c, 0 < c -> exp (log c) = c].

Definition derivative (R : rcfType) (f : R -> R) (s l : R) : Prop :=
  forall eps, 0 < eps -> exists2 d, 0 < d &
    forall h, h != 0 -> `|h| <= d -> `|(f (s + h) - f s) / h - l| <= eps.

(* 2. Matrices, by columns: [W q x] is the entry x' W q, tokens being one-hot (Assumption 2). *)
Section Matrices.
Variables (R : rcfType) (V : finType).
Implicit Types W U D G : V -> V -> R.
Definition inner W U : R := \sum_q \sum_x W q x * U q x.
Definition norm W : R := Num.sqrt (inner W W).
Definition cosine W U : R := inner W U / (norm W * norm U).
Definition line W D (s : R) q x : R := W q x + s * D q x.

(* t steps of normalized gradient descent from zero, (7) and (10). *)
Variables (grad : (V -> V -> R) -> V -> V -> R) (eta : R).
Fixpoint descent (t : nat) : V -> V -> R :=
  if t is t'.+1 then fun q x =>
    let W := descent t' in W q x - eta * (grad W q x / norm (grad W))
  else fun _ _ => 0.
End Matrices.

(* 3. Training data (Sections 3 and 4.1). *)
Record training_data (R : rcfType) (V : finType) : Type := TrainingData {
  n : V -> V;                (* the collocation *)
  sample : finType;          (* the samples i *)
  body : sample -> seq V;    (* the sentence without its last token *)
  query : sample -> V;       (* its last token *)
  next : sample -> V;        (* the next token *)
  freq : sample -> R }.      (* the frequency pi_i *)

Section Data.
Variables (R : rcfType) (V : finType) (P : training_data R V).
Implicit Types (i : sample P) (q x y : V) (W U : V -> V -> R).
Notation n := (n P).
Definition sentence i : seq V := rcons (body i) (query i).

(* Definition 1. *)
Definition above q x y : Prop := exists i, [/\ query i = q, x \in sentence i, y \in sentence i,
  n x = next i & n y <> next i].
Definition confused q x : Prop := (exists y, above q y x) /\ (exists y, above q x y).

(* Assumption 1 (Realizable), with what Section 4.1 derives: the next token is n of a token. *)
Definition assumption_1 : Prop :=
  [/\ injective n, forall i, exists2 o, o \in sentence i & next i = n o &
      forall q x, ~ confused q x].

(* Assumption 3: no other token of a sentence occurs more often than its optimal token. *)
Definition assumption_3 : Prop := forall i y, y \in sentence i -> n y <> next i ->
  (count_mem y (sentence i) <= count (fun x => n x == next i) (sentence i))%N.

(* A rival of a sample: a token of the sentence that does not give the next token. *)
Definition rival i y : Prop := y \in sentence i /\ n y <> next i.

Definition setting : Prop := [/\ assumption_1, assumption_3, forall i : sample P, 0 < freq i,
  \sum_(i : sample P) freq i = 1 & exists i y, rival i y].

(* Prefix closure (Section 3: all prefixes of a training sentence are samples). *)
Definition prefix_closed : Prop := forall i s x r, s != [::] -> sentence i = s ++ x :: r ->
  exists2 j, sentence j = s & next j = x.

(* (12), the max-margin problem, and its solution W_kq*. *)
Definition feasible W : Prop := forall i x y, x \in sentence i -> y \in sentence i ->
  n x = next i -> n y <> next i -> 1 <= W (query i) x - W (query i) y.
Definition max_margin U : Prop :=
  feasible U /\ forall W, feasible W -> inner U U <= inner W W.

(* Proposition 2: the closed form, with the numbers of optimal and of non-optimal tokens. *)
Definition is_above q x y : bool :=
  [exists i, [&& query i == q, x \in sentence i, y \in sentence i, n x == next i & n y != next i]].
Definition optimal q : {set V} := [set x | [exists y, is_above q x y]].
Definition nonoptimal q : {set V} := [set y | [exists x, is_above q x y]].
Definition closed_form q x : R :=
  let k := #|optimal q|%:R in let m := #|nonoptimal q|%:R in
  if x \in optimal q then m / (k + m) else if x \in nonoptimal q then - (k / (k + m)) else 0.

(* 4. The model (Sections 3 and 4.2). Here [W_ov x v] is the logit of v after x. *)
Variables exp log : R -> R.
Definition predicted W x v : R := exp (W x v) / \sum_u exp (W x u).
Definition loss_1 W : R := - \sum_x log (predicted W x (n x)).
(* (5), entry by entry. *)
Definition gradient_1 W x v : R := predicted W x v - (v == n x)%:R.

Variable W_ov : V -> V -> R.
Definition attention W i x : R :=
  exp (W (query i) x) / \sum_(y <- sentence i) exp (W (query i) y).
Definition logit W i v : R := \sum_(x <- sentence i) attention W i x * W_ov x v.
Definition output W i v : R := exp (logit W i v) / \sum_u exp (logit W i u).
Definition loss_2 W : R := - \sum_i freq i * log (output W i (next i)).
Definition error W i x : R := \sum_v W_ov x v * (output W i v - (v == next i)%:R).
Definition mean_error W i : R := \sum_(y <- sentence i) attention W i y * error W i y.
(* (6), entry by entry. *)
Definition gradient_2 W q x : R := \sum_(i | query i == q) freq i *
  \sum_(y <- sentence i | y == x) attention W i y * (error W i y - mean_error W i).

(* How much the samples pull at their optimal tokens, all together; the attention to a token. *)
Definition force W : R := \sum_i freq i *
  - \sum_(y <- sentence i | n y == next i) attention W i y * (error W i y - mean_error W i).
Definition mass W i x : R := (count_mem x (sentence i))%:R * attention W i x.
Definition optimal_leads W : Prop := forall i x y, x \in sentence i -> n x = next i ->
  mass W i y <= mass W i x.
End Data.

(* Algorithm 1: T >= 1 steps of length eta0 in stage 1, then t steps of length eta. *)
Definition stage_1 (R : rcfType) (V : finType) (P : training_data R V) (exp : R -> R) eta0 T :=
  descent (gradient_1 P exp) eta0 T.
Definition stage_2 (R : rcfType) (V : finType) (P : training_data R V) (exp : R -> R)
    eta0 T eta t :=
  descent (gradient_2 P exp (stage_1 P exp eta0 T)) eta t.

(* What the theorems on Algorithm 1 assume: L bounds the lengths of the sentences, pi_min the
   frequencies of the samples with a rival, U is the solution of (12). *)
Definition assumed (R : rcfType) (V : finType) (P : training_data R V) (exp log : R -> R)
    (eta0 eta : R) (T L : nat) (pi_min : R) U : Prop :=
  [/\ exp_and_log exp log, setting P, [/\ (0 < T)%N, 0 < eta0 & 0 < eta],
      [/\ forall i : sample P, (size (sentence i) <= L)%N, 0 < pi_min &
          forall (i : sample P) y, rival i y -> pi_min <= freq i] &
      max_margin P U].
Definition K (R : rcfType) (log : R -> R) (L : nat) (pi_min : R) : R :=
  log (2%:R * L%:R ^+ 2 * (L%:R - 1) ^+ 3 / pi_min).

(* 5. The statements. *)
Notation root2 := (Num.sqrt 2%:R).
(* These hypotheses can be met: for all step sizes some data satisfy all of them, and so do some
   data with prefix closure those of Proposition 2. *)
Definition statement_assumptions_are_met : Prop :=
  forall (R : rcfType) (exp log : R -> R) eta0 eta T, exp_and_log exp log ->
  0 < eta0 -> 0 < eta -> (0 < T)%N ->
  (exists V (P : training_data R V) L pi_min U, assumed P exp log eta0 eta T L pi_min U) /\
  (exists V (P : training_data R V), [/\ assumption_1 P, prefix_closed P &
    exists (i : sample P) y, rival i y]).

Definition statement_gradient_5 : Prop :=
  forall (R : rcfType) V (P : training_data R V) (exp log : R -> R), exp_and_log exp log ->
  forall W D s, derivative (fun r => loss_1 P exp log (line W D r)) s
    (inner (gradient_1 P exp (line W D s)) D).

Definition statement_gradient_6 : Prop :=
  forall (R : rcfType) V (P : training_data R V) (exp log : R -> R) W_ov, exp_and_log exp log ->
  forall W D s, derivative (fun r => loss_2 P exp log W_ov (line W D r)) s
    (inner (gradient_2 P exp W_ov (line W D s)) D).

Definition statement_equation_12 : Prop :=
  forall (R : rcfType) V (P : training_data R V), assumption_1 P ->
  exists U, max_margin P U /\ forall W, max_margin P W -> forall q x, W q x = U q x.

Definition statement_theorem_A : Prop :=
  forall (R : rcfType) V (P : training_data R V) (exp log : R -> R) eta0 eta T L pi_min U,
  assumed P exp log eta0 eta T L pi_min U ->
  forall W (W_ov := stage_1 P exp eta0 T), optimal_leads P exp W ->
  let G := gradient_2 P exp W_ov W in
  let F := force P exp W_ov W in
  let K := K log L pi_min in
  [/\ 0 < F,
      inner (fun q x => - G q x / F) W <= inner U W / inner U U + K &
      0 < norm W ->
      (1 + K * norm U / norm W) * inner G U * (norm W / norm U) <= inner G W].

Definition statement_theorem_B : Prop :=
  forall (R : rcfType) V (P : training_data R V) (exp log : R -> R) eta0 eta T L pi_min U,
  assumed P exp log eta0 eta T L pi_min U ->
  forall t, (0 < t)%N ->
  let W := stage_2 P exp eta0 T eta t in
  let x := inner U W / norm U in
  let y q v := W q v + - (x / norm U) * U q v in
  let K := K log L pi_min in
  let S := inner U U in
  [/\ inner y y <= 2%:R * K * norm U * x + eta ^+ 2 * t%:R,
      inner y y / x ^+ 2 <= 2%:R * S / t%:R * (1 + root2 * K / eta),
      1 - cosine W U <= S / t%:R * (1 + root2 * K / eta) &
      32%:R * S ^+ 2 * Num.max 1 (root2 * K / eta) <= t%:R ->
      forall (i : sample P) o j, o \in sentence i -> n P o = next i -> rival i j ->
      x / (2%:R * norm U) <= W (query i) o - W (query i) j /\
      t%:R * eta / (2%:R * root2 * S) <= x / (2%:R * norm U)].

Definition statement_trivial_bound : Prop :=
  forall (R : rcfType) V (P : training_data R V) (exp log : R -> R) eta0 eta T L pi_min U,
  assumed P exp log eta0 eta T L pi_min U ->
  forall t, (0 < t)%N -> 1 / (root2 * norm U) <= cosine (stage_2 P exp eta0 T eta t) U.

Definition statement_theorem_1_corrected : Prop :=
  forall (R : rcfType) V (P : training_data R V) (exp log : R -> R) eta0 eta T L pi_min U,
  assumed P exp log eta0 eta T L pi_min U ->
  forall t (W := stage_2 P exp eta0 T eta t), (1 < t)%N -> eta <= norm U / exp 1 ->
  [/\ t%:R * eta / (2%:R * L%:R * norm U) <= norm W, norm W <= t%:R * eta &
      1 - cosine W U <=
        54%:R * L%:R ^+ 4 * norm U ^+ 4 * log t%:R ^+ 2 / (pi_min * (t%:R * eta))].

(* On some data of the setting, the solution of (12) is not the closed form of Proposition 2: their
   directions differ. *)
Definition statement_proposition_2_refuted : Prop :=
  forall R : rcfType, exists (V : finType) (P : training_data R V), setting P /\
  forall U, max_margin P U -> cosine U (closed_form P) ^+ 2 = 35%:R / 36%:R.

(* With prefix closure it is true. *)
Definition statement_proposition_2_closed : Prop :=
  forall (R : rcfType) V (P : training_data R V), assumption_1 P -> prefix_closed P ->
  forall U, max_margin P U -> forall q x, U q x = closed_form P q x.

(* 6. Coq's real numbers: the field, its exp and ln are those of Coq's library, ... *)
Notation Reals := StdReals.R_rcfType.
Definition statement_reals : Prop :=
  [/\ forall x y : Reals, x + y = Rdefinitions.Rplus x y,
      forall x y : Reals, x * y = Rdefinitions.Rmult x y,
      forall x y : Reals, x <= y <-> Rdefinitions.Rle x y &
      @exp_and_log Reals Rtrigo_def.exp Rpower.ln].

(* ... and the direction of stage 2 converges, for every step size. *)
Definition statement_direction_converges : Prop :=
  forall V (P : training_data Reals V) eta0 eta T L pi_min U,
  assumed P Rtrigo_def.exp Rpower.ln eta0 eta T L pi_min U ->
  forall eps : Reals, 0 < eps -> exists N, forall t, (N <= t)%N ->
  1 - eps <= cosine (stage_2 P Rtrigo_def.exp eta0 T eta t) U.
