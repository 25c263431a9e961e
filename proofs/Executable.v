(* Tests on lists for what Hall.v and MaxMargin.v define on finite sets, with proofs that they say
   the same. The tests of the project run them beside ntpcore. *)
From mathcomp Require Import all_ssreflect all_algebra.
From Companion Require Import MaxMargin Hall.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Section Lists.
(* An order as a list of pairs, and multipliers as a list of pairs with numbers. *)
Variables (R : realFieldType) (V : eqType) (tokens : seq V) (pairs : seq (V * V)).
Implicit Types (w : V -> R) (l : seq (V * V * R)) (x y : V).

Fixpoint total (r : seq R) : R := if r is c :: r' then c + total r' else 0.
Definition above_sum l x : R := total [seq e.2 | e <- l & e.1.1 == x].
Definition below_sum l y : R := total [seq e.2 | e <- l & e.1.2 == y].

(* Do the multipliers l prove that w solves (15)? *)
Definition proves w l : bool :=
  [&& all (fun p => 1 <= w p.1 - w p.2) pairs,
      all (fun e => [&& 0 <= e.2, e.1 \in pairs & w e.1.1 - w e.1.2 == 1]) l &
      all (fun x => w x == above_sum l x - below_sum l x) tokens].

(* The closed form, from the numbers k and m of tokens that some pair has above and below. *)
Definition uppers : seq V := undup [seq p.1 | p <- pairs].
Definition lowers : seq V := undup [seq p.2 | p <- pairs].
Definition closed_form_on x : R :=
  let k := (size uppers)%:R in
  let m := (size lowers)%:R in
  if x \in uppers then m / (k + m) else if x \in lowers then - (k / (k + m)) else 0.
End Lists.

Section Same.
Variables (R : realFieldType) (T : finType) (pairs : seq (T * T)).
Definition listed : rel T := fun x y => (x, y) \in pairs.

Lemma totalE (r : seq R) : total r = \sum_(c <- r) c.
Proof. by elim: r => [|c r IH]; rewrite ?big_nil // big_cons -IH. Qed.

Lemma uppersE : uppers pairs =i opts listed.
Proof.
move=> x; rewrite mem_undup; apply/mapP/optsP => [[[u v] uv ->]|[y xy]]; first by exists v.
by exists (x, y).
Qed.
Lemma lowersE : lowers pairs =i nons listed.
Proof.
move=> y; rewrite mem_undup; apply/mapP/nonsP => [[[u v] uv ->]|[x xy]]; first by exists u.
by exists (x, y).
Qed.

Theorem closed_form_onE : @closed_form_on R T pairs =1 closed_form R listed.
Proof.
move=> x; rewrite /closed_form_on /closed_form -uppersE -lowersE.
have sizes (s : seq T) (X : {set T}) : uniq s -> s =i X -> size s = #|X|.
  by move=> u e; rewrite -(eq_card e); apply/esym/card_uniqP.
by rewrite (sizes _ _ (undup_uniq _) uppersE) (sizes _ _ (undup_uniq _) lowersE).
Qed.

Theorem proves_solves tokens (w : T -> R) l : (forall x, x \in tokens) ->
  proves tokens pairs w l -> solves_uniquely listed w.
Proof.
move=> all_tokens /and3P [/allP feas /allP tight /allP sums].
pose f x y : R := \sum_(e <- l | e.1 == (x, y)) e.2.
apply: (@certificate_solves _ _ _ w f) => [x y xy|]; first exact: feas (x, y) xy.
have f_ge0 x y : 0 <= f x y.
  by rewrite /f big_seq_cond sumr_ge0 // => e /andP [/tight /and3P []].
split=> // [x y|x].
  move=> fxy; have /hasP [e el /eqP exy] : has (fun e => e.1 == (x, y)) l.
    apply: contraNT fxy => /hasPn none; rewrite /f big_seq_cond big_pred0 // => e.
    by apply/negbTE/negP => /andP [/none /negbTE ->].
  have /and3P [_ xy /eqP] := tight e el; rewrite exy in xy *; by [].
have := sums x (all_tokens x).
rewrite /above_sum /below_sum !totalE !big_map !big_filter => /eqP ->.
have split (P : T -> T -> T * T) (a : T * T -> T) (b : T * T -> T) :
    (forall u y, (u == P x y) = (a u == x) && (b u == y)) ->
    \sum_(e <- l | a e.1 == x) e.2 = \sum_y \sum_(e <- l | e.1 == P x y) e.2.
  move=> eqP; rewrite (exchange_big_dep xpredT) //= big_mkcond; apply: eq_bigr => e _.
  rewrite (eq_bigl (fun y => (a e.1 == x) && (b e.1 == y))) => [|y]; last exact: eqP.
  by case: ifP => _; [rewrite (big_pred1 (b e.1)) // => y; rewrite eq_sym | rewrite big_pred0].
congr (_ - _); first by apply: (split (fun x y => (x, y)) fst snd) => -[].
by apply: (split (fun x y => (y, x)) snd fst) => -[u v] y; rewrite xpair_eqE andbC.
Qed.
End Same.
