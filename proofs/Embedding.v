(* (5) and (6) for any embedding of the tokens, orthonormal or not: the gradients of the losses as
   functions of the matrices W_ov (|V| x d) and W_kq (d x d).
   Page: huang2024_a_gradients, labels huang2024-eq-5, huang2024-eq-6. *)
From Coq Require Import Ring Field.
From mathcomp Require Import all_ssreflect all_algebra.
From Companion Require Import Fields Exponential MaxMargin Frobenius Stage1Law Stage2 Calculus.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Section Embedding.
Variables (R : rcfType) (exp log : R -> R).
Hypotheses (e : exponential exp) (logK : forall c, 0 < c -> exp (log c) = c).
Variables (V : finType) (n : V -> V).
(* The token x is the vector E x, whose coordinates are numbered by dim. *)
Variables (dim : finType) (E : V -> dim -> R).
Add Field numbers : (is_field R).
Implicit Types (x y v : V) (a b : dim) (s t : R).

(* Stage 1: the logits W x, the loss, and (5) as printed. *)
Definition logits (W : V -> dim -> R) x v : R := \sum_a W v a * E x a.
Definition loss_1 W : R := loss0 n exp log (logits W).
Definition printed_5 W v a : R :=
  \sum_x (softmax exp (logits W) x v - (v == n x)%:R) * E x a.

Lemma softmax_same W W' x v : (forall x, W x =1 W' x) -> softmax exp W x v = softmax exp W' x v.
Proof. by move=> same; rewrite /softmax same; congr (_ / _); apply: eq_bigr => u _; rewrite same. Qed.

Lemma logits_line W D t x v :
  logits (fun u a => W u a + t * D u a) x v = line (logits W) (logits D) t x v.
Proof.
rewrite /line /logits mulr_sumr -big_split; apply: eq_bigr => a _ /=.
by rewrite mulrDl mulrA.
Qed.

Theorem gradient_5_embedded W D s :
  rate (fun t => loss_1 (fun v a => W v a + t * D v a)) s
    (\sum_v \sum_a printed_5 (fun v a => W v a + s * D v a) v a * D v a).
Proof.
apply: rate_eq (gradient_5 e logK n (logits W) (logits D) s) => [t|].
  congr (- _); apply: eq_bigr => x _; congr log; apply: softmax_same => y u.
  by rewrite logits_line.
rewrite /inner /dot exchange_big; apply: eq_bigr => v _ /=.
transitivity (\sum_x \sum_a Stage1Law.gradient n exp (line (logits W) (logits D) s) x v * E x a * D v a).
  apply: eq_bigr => x _; rewrite /logits mulr_sumr; apply: eq_bigr => a _.
  by rewrite mulrCA mulrC.
rewrite exchange_big; apply: eq_bigr => a _ /=; rewrite mulr_suml; apply: eq_bigr => x _.
congr (_ * _ * _); congr (_ - _); apply: softmax_same => y u.
by rewrite logits_line.
Qed.

(* Stage 2: the scores x' W q, the loss, and (6) as printed, entry by entry. *)
Variables (I : finType) (body : I -> seq V) (query next : I -> V) (freq : I -> R).
Variable W_ov : V -> dim -> R.
Definition scores (W : dim -> dim -> R) q x : R := \sum_a \sum_b E x a * W a b * E q b.
Definition loss_2 W : R := loss exp log body query next freq (logits W_ov) (scores W).
Definition printed_6 W a b : R := \sum_i freq i *
  (\sum_(y <- sentence body query i) weight exp body query (scores W) i y *
    (error exp body query next (logits W_ov) (scores W) i y -
     mean_error exp body query next (logits W_ov) (scores W) i) * E y a) * E (query i) b.

Lemma scores_line W D t q x :
  scores (fun a b => W a b + t * D a b) q x = line (scores W) (scores D) t q x.
Proof.
rewrite /line /scores mulr_sumr -big_split; apply: eq_bigr => a _ /=.
rewrite mulr_sumr -big_split; apply: eq_bigr => b _ /=.
by move: (E x a) (W a b) (D a b) (E q b) => f g h k; named R; ring.
Qed.

Section Same.
Variables W W' : V -> V -> R.
Hypothesis same : forall q, W q =1 W' q.

Lemma weight_same i x : weight exp body query W i x = weight exp body query W' i x.
Proof. by rewrite /weight same; congr (_ / _); apply: eq_bigr => y _; rewrite same. Qed.

Lemma T_same U i v : T exp body query U W i v = T exp body query U W' i v.
Proof.
have logit_same u : logit exp body query U W i u = logit exp body query U W' i u.
  by apply: eq_bigr => y _; rewrite weight_same.
by rewrite /T logit_same; congr (_ / _); apply: eq_bigr => u _; rewrite logit_same.
Qed.

Lemma error_same U i x : error exp body query next U W i x = error exp body query next U W' i x.
Proof. by apply: eq_bigr => v _; rewrite T_same. Qed.

Lemma mean_error_same U i :
  mean_error exp body query next U W i = mean_error exp body query next U W' i.
Proof. by apply: eq_bigr => y _; rewrite weight_same error_same. Qed.
End Same.

Theorem gradient_6_embedded W D s :
  rate (fun t => loss_2 (fun a b => W a b + t * D a b)) s
    (\sum_a \sum_b printed_6 (fun a b => W a b + s * D a b) a b * D a b).
Proof.
apply: rate_eq (gradient_6 e logK body query next freq (logits W_ov) (scores W) (scores D) s).
  move=> t; congr (- _); apply: eq_bigr => i _; congr (_ * log _); apply: T_same => q x.
  by rewrite scores_line.
set Ws := line (scores W) (scores D) s; pose W' a b := W a b + s * D a b.
have same q : Ws q =1 scores W' q by move=> x; rewrite /Ws -scores_line.
rewrite inner_gradient.
pose force i y := weight exp body query (scores W') i y *
  (error exp body query next (logits W_ov) (scores W') i y -
   mean_error exp body query next (logits W_ov) (scores W') i).
transitivity (\sum_i \sum_a \sum_b freq i *
    (\sum_(y <- sentence body query i) force i y * E y a) * E (query i) b * D a b).
  apply: eq_bigr => i _.
  have -> : \sum_x pull exp body query next (logits W_ov) Ws i x * scores D (query i) x =
      \sum_(y <- sentence body query i) force i y * scores D (query i) y.
    rewrite [RHS]sentence_sum; apply: eq_bigr => y _; rewrite /pull /mass /force mulrA.
    rewrite (weight_same same) (error_same same) (mean_error_same same).
    by rewrite !mulrA.
  rewrite mulr_sumr; under eq_bigr => y _ do rewrite /scores !mulr_sumr.
  rewrite exchange_big; apply: eq_bigr => a _ /=.
  under eq_bigr => y _ do rewrite !mulr_sumr.
  rewrite exchange_big; apply: eq_bigr => b _ /=.
  rewrite mulr_sumr !mulr_suml; apply: eq_bigr => y _.
  by move: (freq i) (force i y) (E y a) (D a b) (E _ b) => f g c d k; named R; ring.
rewrite exchange_big; apply: eq_bigr => a _ /=; rewrite exchange_big; apply: eq_bigr => b _ /=.
by rewrite mulr_suml.
Qed.
End Embedding.
