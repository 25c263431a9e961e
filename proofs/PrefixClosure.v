(* Prefix closure leaves one optimal token, and only the last token counts.
   Page: huang2024_s4_prefix_closure; labels ours-prefix-closure, ours-last-token.

   The three steps of the page are [reached], [path], [one_optimal_token]. The heart is [path]: from
   the token that decides a sentence, n leads to the query without leaving the sentence. Neither a
   finite vocabulary nor a map n onto the vocabulary is needed. *)
From mathcomp Require Import all_ssreflect.
From Companion Require Import Orders.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Section Closure.
Variables (V : eqType) (n : V -> V) (D : seq V -> V -> Prop).
Hypotheses (n_inj : injective n) (src : source n D) (closed : closure D).
Implicit Types (q x y : V) (s t : seq V).

(* [steps s x i]: one can go i steps along n from x without leaving the sentence s. *)
Definition steps s x i : Prop := forall j, j <= i -> iter j n x \in s.

Lemma steps_sub s t x i : {subset s <= t} -> steps s x i -> steps t x i.
Proof. by move=> st in_s j /in_s /st. Qed.

Lemma iter_inj i : injective (iter i n).
Proof. by elim: i => // i IH x y /n_inj /IH. Qed.

Lemma drop_last s x z : s != [::] -> D (rcons s x) z -> D s x.
Proof. by move=> s0; rewrite -cats1; apply: closed. Qed.

(* Each token of a sentence is reached in this way from the first one. *)
Lemma reached x s z : D (x :: s) z ->
  forall y, y \in x :: s -> exists2 i, iter i n x = y & steps (x :: s) x i.
Proof.
elim/last_ind: s z => [|s y IH] z.
  by move=> _ y; rewrite inE => /eqP ->; exists 0 => // -[]; rewrite ?mem_head.
rewrite -rcons_cons => /(drop_last (s := x :: s) isT) Dy.
have wider : {subset x :: s <= rcons (x :: s) y} by move=> v v_s; rewrite mem_rcons inE v_s orbT.
move=> v; rewrite mem_rcons inE => /predU1P [->|/(IH _ Dy) [i e /steps_sub in_s]]; last first.
  by exists i => //; apply: in_s.
have [o /(IH _ Dy) [i <- in_s] yo] := src Dy; exists i.+1; first by rewrite yo.
move=> j; rewrite leq_eqVlt ltnS => /predU1P [->|/in_s /wider //].
by rewrite iterS -yo mem_rcons mem_head.
Qed.

(* A sentence with the query inside, cut at the first place where it stands. *)
Lemma first_place q t : q \in t -> exists u v, t = u ++ q :: v /\ q \notin u.
Proof.
elim: t => // y t IH; rewrite inE; have [<- _|ne /= /IH [u [v [-> q_u]]]] := eqVneq q y.
  by exists [::], t.
by exists (y :: u), v; rewrite inE negb_or ne.
Qed.

Section Query.
Variable q : V.
Hypothesis clear : forall x, ~ confused n D q x.

Let q_last s : q \in rcons s q. Proof. by rewrite mem_rcons mem_head. Qed.

(* From the token that decides a sentence, n leads to the query inside the sentence. *)
Lemma path s a : D (rcons s q) (n a) -> a \in rcons s q ->
  exists2 i, iter i n a = q & steps (rcons s q) a i.
Proof.
have [->|aq] := eqVneq a q; first by exists 0 => // -[].
case: s => [|x s] Da; first by rewrite inE (negbTE aq).
move=> a_s; have Dq := drop_last (s := x :: s) isT Da.
have wide v : v \in x :: s -> v \in rcons (x :: s) q by move=> v_s; rewrite mem_rcons inE v_s orbT.
have {}a_s : a \in x :: s by move: a_s; rewrite mem_rcons inE (negbTE aq).
have [xq|xq] := eqVneq x q.
  (* The sentence begins with q, and its last q is n of one of its tokens: n runs in a circle. *)
  rewrite {}xq in Da Dq a_s wide *.
  have [p /(reached Dq) [c cp in_s] qp] := src Dq.
  have round : iter c.+1 n q = q by rewrite iterS cp.
  have orbit i : iter i n q \in q :: s.
    have -> : iter i n q = iter (i %% c.+1) n q.
      by rewrite {1}(divn_eq i c.+1) addnC iterD iterM (iter_fix _ round).
    by apply: in_s; rewrite -ltnS ltn_pmod.
  have [i <- _] := reached Dq a_s; exists (i * c) => [|j _].
    by rewrite -iterD addnC -mulnS iterM (iter_fix _ round).
  by rewrite -iterD wide.
(* Otherwise cut at the first q. Some token decides the shorter sentence. It is not alone there,
   so it is optimal; and then it is a. *)
have [u [v [e q_u]]] := first_place (q_last (x :: s)).
case: u e q_u => [|x' u] e q_u; first by move: xq; case: e => ->; rewrite eqxx.
have ? : x' = x by case: e. subst x'.
have Du : D (x :: u) q by move: Da; rewrite e; apply: closed.
have [z Dz] : exists z, D (rcons (x :: u) q) z.
  case: v => [|y v] in e *; first by exists (n a); rewrite -cats1 -e.
  exists y; apply: (closed (t := v) (z := n a)); first by rewrite -size_eq0 size_rcons.
  by rewrite cat_rcons -e.
have sub w : w \in rcons (x :: u) q -> w \in rcons (x :: s) q.
  by rewrite e mem_rcons mem_cat !inE; case/or3P=> ->; rewrite ?orbT.
have [o o_u zo] := src Dz; rewrite {}zo in Dz.
have ox : exists2 y, y \in rcons (x :: u) q & o <> y.
  have [ox|/eqP ox] := eqVneq o x; last by exists x; rewrite ?mem_head.
  by exists q => //; apply/eqP; rewrite ox.
have {ox} opt : optimal n D q o by case: ox => y; apply: decider_optimal Dz o_u.
have ao := optimal_decides n_inj Da (wide _ a_s) (sub _ o_u) opt; rewrite -{}ao in Dz o_u opt.
(* In the shorter sentence a and then q are reached from x, the last only at its end. *)
have {}o_u : a \in x :: u by move: o_u; rewrite mem_rcons inE (negbTE aq).
have [i ia in_i] := reached Du o_u.
have [p /(reached Du) [l lp in_l] qp] := src Du.
have lq : iter l.+1 n x = q by rewrite iterS lp.
have il : i <= l.
  by rewrite leqNgt; apply: contra q_u => /in_i; rewrite lq.
exists (l.+1 - i); first by rewrite -ia -iterD subnK // leqW.
move=> j; rewrite (leq_subRL _ (leqW il)) => le; apply: sub.
rewrite -ia -iterD [(j + i)%N]addnC mem_rcons inE.
move: le; rewrite leq_eqVlt ltnS => /predU1P [->|le]; first by rewrite lq eqxx.
by rewrite (in_l _ le) orbT.
Qed.

(* The theorem. Of two optimal tokens let a be the one with the longer path to q. By injectivity
   the other one lies on this path, so in the sentence that a decides. *)
Theorem one_optimal_token a b : optimal n D q a -> optimal n D q b -> a = b.
Proof.
have sentence x : optimal n D q x -> exists s, D (rcons s q) (n x) /\ x \in rcons s q.
  by case=> _ [y [s [z [Dz x_s _ zx _]]]]; exists s; rewrite zx.
move=> oa ob; have [s [Da a_s]] := sentence a oa; have [t [Db b_t]] := sentence b ob.
have [i ia in_s] := path Da a_s; have [j jb in_t] := path Db b_t.
have meet k l c d : l <= k -> iter k n c = q -> iter l n d = q -> iter (k - l) n c = d.
  by move=> le kc ld; apply: (@iter_inj l); rewrite -iterD subnKC ?kc.
have [le|/ltnW le] := leqP j i.
  by apply: optimal_decides Da a_s _ ob => //; rewrite -(meet _ _ _ _ le ia jb) in_s ?leq_subr.
by apply/esym/(optimal_decides n_inj Db b_t _ oa); rewrite -(meet _ _ _ _ le jb ia) in_t ?leq_subr.
Qed.

(* The corollary. With f q = n a if a is optimal for q, and f q = n q if nothing is, each sentence
   of two or more tokens that ends in q is followed by f q. *)
Lemma repeated s z : s != [::] -> D (rcons s q) z -> (forall x, x \in rcons s q -> x = q) ->
  n q = q.
Proof.
case: s => // x s _ Dz all_q; have := drop_last (s := x :: s) isT Dz.
have xq : x = q by apply: all_q; rewrite mem_head.
rewrite xq => Ds; have [y Dy] : exists y, D [:: q] y /\ y = q.
  case: s => [|y s] in Dz all_q Ds *; first by exists q.
  exists y; split; first by apply: (@closed [:: q] y s q).
  by apply: all_q; rewrite mem_rcons !inE eqxx !orbT.
by case: Dy => /src [o]; rewrite inE => /eqP -> ->.
Qed.

Lemma fixed_point a : n q = q -> ~ optimal n D q a.
Proof.
move=> fix_q [_ [y [[|x s] [z [Dz a_s y_s az yz]]]]].
  by move: a_s y_s yz; rewrite -az !inE => /eqP -> /eqP ->.
have all_q w : w \in rcons (x :: s) q -> w = q.
  rewrite rcons_cons in Dz * => /(reached Dz) [i <- _].
  have [j jq _] := reached Dz (q_last (x :: s)).
  have -> : x = q by apply: (@iter_inj j); rewrite jq iter_fix.
  by rewrite iter_fix.
by apply: yz; rewrite -az (all_q _ a_s) (all_q _ y_s).
Qed.

Theorem next_token_optimal s z a : s != [::] -> D (rcons s q) z -> optimal n D q a -> z = n a.
Proof.
move=> s0 Dz oa; have [[one _]|[x [_ ox -> _]]] := regenerate n_inj src clear Dz.
  by case: (fixed_point (repeated s0 Dz one) oa).
by rewrite (one_optimal_token ox oa).
Qed.

Theorem next_token_none s z : D (rcons s q) z -> ~ (exists a, optimal n D q a) -> z = n q.
Proof.
move=> Dz none; have [[_ //]|[x [_ ox _ _]]] := regenerate n_inj src clear Dz.
by case: none; exists x.
Qed.

Theorem last_token s z t z' : s != [::] -> t != [::] ->
  D (rcons s q) z -> D (rcons t q) z' -> z = z'.
Proof.
move=> s0 t0 Ds Dt; have [[_ zs]|[x [_ ox -> _]]] := regenerate n_inj src clear Ds.
  have [[_ ->] //|[x [_ ox -> _]]] := regenerate n_inj src clear Dt.
  exact: next_token_optimal s0 Ds ox.
by rewrite (next_token_optimal t0 Dt ox).
Qed.
End Query.

(* A sentence is determined by its first token and its length; so N <= |V| L_max. *)
Hypothesis clear : forall q x, ~ confused n D q x.

Theorem determined x s z t z' : D (x :: s) z -> D (x :: t) z' -> size s = size t ->
  s = t /\ z = z'.
Proof.
elim/last_ind: s z t z' => [|s y IH] z t z'.
  by case: t => // /src [o + ->] /src [o' + ->]; rewrite !inE => /eqP -> /eqP ->.
case/lastP: t => [|t y'] Ds Dt; rewrite !size_rcons // => -[st].
have dropped u v w : D (x :: rcons u v) w -> D (x :: u) v by apply: (drop_last (s := x :: u)).
have [e ye] := IH _ _ _ (dropped _ _ _ Ds) (dropped _ _ _ Dt) st; subst t y'.
by split=> //; apply: (last_token (@clear y) (s := x :: s) (t := x :: s)).
Qed.
End Closure.

Theorem number_of_sentences (V : finType) (n : V -> V) (D : seq V -> V -> Prop) L
    (X : seq (seq V)) : assumption_1 n D -> closure D -> uniq X ->
  (forall s, s \in X -> size s <= L /\ exists z, D s z) -> size X <= #|V| * L.
Proof.
case=> n_inj src clear closed X_uniq in_X.
(* the number of a sentence: its first token and its length *)
pose code (s : seq V) := if s is x :: t then Some (x, size t) else None.
have sentence s : s \in X -> exists x t z, [/\ s = x :: t, D s z & size t < L].
  by move=> /in_X []; case: s => [|x t] le [z Dz]; [case/src: Dz | exists x, t, z].
have code_inj : {in X &, injective code}.
  move=> _ _ /sentence [x [s [z [-> Ds _]]]] /sentence [y [t [z' [-> Dt _]]]] [xy st].
  by rewrite -xy in Dt *; have [->] := determined n_inj src closed clear Ds Dt st.
have -> : #|V| * L = size [seq Some (x, i) | x <- enum V, i <- iota 0 L].
  by rewrite size_allpairs size_iota -cardE.
rewrite -(size_map code); apply: uniq_leq_size; first by rewrite map_inj_in_uniq.
move=> _ /mapP [_ /sentence [x [t [z [-> _ lt]]]] ->].
by apply/allpairsP; exists (x, size t); rewrite mem_enum mem_iota.
Qed.
