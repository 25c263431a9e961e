(* The spectral theorem for symmetric matrices over any real closed field, and what the second paper
   derives from it: Lemmas 13, 15 and 17, (90) and (93), corrected. Page: tian2023_s4_gradient. *)
From Coq Require Import Ring Field.
From mathcomp Require Import all_ssreflect all_algebra.
From Companion Require Import Fields Modified.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Definition orthogonal (R : rcfType) k (Q : 'M[R]_k) : Prop := Q^T *m Q = 1%:M.
Definition diagonalizable (R : rcfType) k (A : 'M[R]_k) : Prop :=
  exists Q : 'M[R]_k, exists2 d : 'rV_k, orthogonal Q & A = Q *m diag_mx d *m Q^T.

(* What a symmetric matrix is that has orthonormal eigenvectors. *)
Section Bounds.
Variables (R : rcfType) (K : nat) (E Q : 'M[R]_K) (d : 'rV[R]_K).
Hypotheses (orth : orthogonal Q) (EQ : E = Q *m diag_mx d *m Q^T).
Add Field numbers : (is_field R).

Lemma orth_right : Q *m Q^T = 1%:M.
Proof. exact: mulmx1C. Qed.

Lemma eigen_d i : eigen E (d 0 i).
Proof.
exists (col i Q); last first.
  have EQQ : E *m Q = Q *m diag_mx d by rewrite EQ -!mulmxA orth mulmx1.
  rewrite colE mulmxA EQQ -!colE mul_mx_diag; apply/matrixP => j k; rewrite !mxE.
  by rewrite mulrC.
apply/eqP => zero; have : (Q^T *m Q) i i = 0.
  by rewrite mxE big1 // => k _; have /matrixP /(_ k 0) := zero; rewrite !mxE => ->; rewrite mulr0.
by rewrite orth mxE eqxx => /eqP; rewrite oner_eq0.
Qed.

Definition by_values (g : 'rV[R]_K) i j : R := \sum_k Q i k * g 0 k * Q j k.

Lemma by_valuesE (g : 'rV[R]_K) i j : (Q *m diag_mx g *m Q^T) i j = by_values g i j.
Proof.
rewrite mxE; apply: eq_bigr => k _; rewrite [Q^T k j]mxE; congr (_ * _).
rewrite mxE (bigD1 k) //= big1 => [|l /negbTE lk]; last by rewrite mxE lk mulr0n mulr0.
by rewrite addr0 mxE eqxx mulr1n.
Qed.

Lemma row_one i : \sum_k Q i k * Q i k = 1.
Proof.
transitivity ((Q *m Q^T) i i); last by rewrite orth_right mxE eqxx.
by rewrite mxE; apply: eq_bigr => k _; rewrite mxE.
Qed.

Lemma by_values_le (g : 'rV[R]_K) r i j : (forall k, `|g 0 k| <= r) -> `|by_values g i j| <= r.
Proof.
move=> gr; apply: le_trans (ler_norm_sum _ _ _) _.
have -> : r = \sum_k r * ((Q i k * Q i k + Q j k * Q j k) / 2%:R).
  rewrite -mulr_sumr -mulr_suml big_split /= !row_one -[1 + 1]/(2%:R) divff ?mulr1 //.
  by rewrite pnatr_eq0.
apply: ler_sum => k _; rewrite mulrAC normrM [X in X <= _]mulrC.
apply: ler_pmul => //; rewrite ler_pdivl_mulr ?ltr0n // normrM.
rewrite -[Q i k * Q i k]expr2 -[Q j k * Q j k]expr2 -(real_normK (num_real (Q i k))).
rewrite -(real_normK (num_real (Q j k))) -subr_ge0; move: `|Q i k| `|Q j k| => a b.
have -> : a ^+ 2 + b ^+ 2 - a * b * 2%:R = (a - b) ^+ 2.
  by have -> : 2%:R = 1 + 1 :> R by []; named R; ring.
exact: sqr_ge0.
Qed.

Hypothesis small : forall a, eigen E a -> `|a| < 1.
Let one_d k : 0 < 1 + d 0 k.
Proof. by rewrite -ltr_subl_addl sub0r; move: (small (eigen_d k)); rewrite ltr_norml => /andP []. Qed.

Lemma values_mul (g h : 'rV[R]_K) : (Q *m diag_mx g *m Q^T) *m (Q *m diag_mx h *m Q^T) =
  Q *m diag_mx (\row_k (g 0 k * h 0 k)) *m Q^T.
Proof.
by rewrite -!mulmxA [Q^T *m (Q *m _)]mulmxA orth mul1mx [diag_mx g *m (_ *m _)]mulmxA mulmx_diag.
Qed.

Lemma E_symmetric : E^T = E.
Proof. by rewrite EQ !trmx_mul trmxK tr_diag_mx mulmxA. Qed.

Lemma G_values : invmx (1%:M + E) = Q *m diag_mx (\row_k (1 + d 0 k)^-1) *m Q^T.
Proof.
have inv := below_one E_symmetric small; apply: (can_inj (mulKmx inv)); rewrite mulmxV //.
have whole : 1%:M + E = Q *m diag_mx (\row_k (1 + d 0 k)) *m Q^T.
  rewrite EQ -orth_right -{1}[Q]mulmx1 -mulmxDl -mulmxDr; congr (_ *m _ *m _).
  by apply/matrixP => i j; rewrite !mxE mulrnDl.
rewrite whole values_mul (_ : \row_k _ = const_mx 1) ?diag_const_mx ?mulmx1 ?orth_right //.
by apply/rowP => k; rewrite !mxE divff // lt0r_neq0.
Qed.

(* The product E G E of Lemmas 16 and 17. *)
Lemma EGE_values i j : (E *m invmx (1%:M + E) *m E) i j =
  by_values (\row_k (d 0 k ^+ 2 / (1 + d 0 k))) i j.
Proof.
rewrite -by_valuesE G_values [in LHS]EQ !values_mul; congr (fun_of_matrix (_ *m diag_mx _ *m _) i j).
by apply/rowP => k; rewrite !mxE expr2 mulrAC.
Qed.
End Bounds.

(* Every symmetric matrix has orthonormal eigenvectors. *)
Section Spectral.
Variable R : rcfType.
Add Field numbers2 : (is_field R).

(* Where all b differ from zero and all d from each other, the equation of the eigenvalues of a matrix
   with the diagonal c, d and the border b has a solution above all d. *)
Lemma secular k (d b : 'I_k -> R) c : (forall i, b i != 0) -> injective d ->
  exists2 a, (forall i, a != d i) & c + \sum_i b i * (b i / (a - d i)) = a.
Proof.
case: k d b => [|k] d b b0 inj; first by exists c => [[]|]; rewrite ?big_ord0 ?addr0.
pose p : {poly R} := ('X - c%:P) * \prod_i ('X - (d i)%:P) -
  \sum_i (b i ^+ 2)%:P * \prod_(j | j != i) ('X - (d j)%:P).
have pE x : p.[x] = (x - c) * \prod_i (x - d i) -
    \sum_i b i ^+ 2 * \prod_(j | j != i) (x - d j).
  rewrite /p hornerD hornerN hornerM hornerXsubC horner_prod horner_sum; congr (_ * _ - _).
    by apply: eq_bigr => i _; rewrite hornerXsubC.
  apply: eq_bigr => i _; rewrite hornerM hornerC horner_prod; congr (_ * _).
  by apply: eq_bigr => j _; rewrite hornerXsubC.
have [m mP] : exists m, forall i, d i <= d m.
  pose best := [arg max_(i > (ord0 : 'I_k.+1)) d i]%O; exists best => i.
  by rewrite /best; case: Order.TotalTheory.arg_maxP => // j _ le; apply: le.
have sq i : 0 < b i ^+ 2 by rewrite lt_neqAle sqr_ge0 eq_sym sqrf_eq0 b0.
have low : p.[d m] < 0.
  have first : (d m - c) * \prod_i (d m - d i) = 0 by rewrite (bigD1 m) //= subrr mul0r mulr0.
  rewrite pE first sub0r oppr_lt0 (bigD1 m) //= [X in _ + X]big1 => [|i im]; last first.
    by rewrite (bigD1 m) 1?eq_sym //= subrr mul0r mulr0.
  rewrite addr0 mulr_gt0 //; apply: prodr_gt0 => j jm; rewrite subr_gt0 lt_neqAle mP andbT.
  by apply: contraNneq jm => /inj ->.
(* far to the right p is positive *)
pose t := 1 + `|c| + `|d m| + \sum_i b i ^+ 2.
have s0 : 0 <= \sum_i b i ^+ 2 by apply: sumr_ge0 => i _; apply: ltW.
have up : d m <= t /\ forall i, 1 <= t - d i.
  have le : d m + 1 <= t.
    rewrite addrC /t -!addrA ler_add2l; apply: le_trans (ler_norm (d m)) _.
    by rewrite addrCA ler_addl addr_ge0.
  split=> [|i]; first by apply: le_trans le; rewrite ler_addl ler01.
  by rewrite ler_subr_addl; apply: le_trans le; rewrite ler_add2r.
have [mt td] := up; have right_of : 0 <= p.[t].
  have P0 : 0 <= \prod_i (t - d i) by apply: prodr_ge0 => i _; apply: le_trans (td i).
  rewrite pE subr_ge0; apply: le_trans (_ : (\sum_i b i ^+ 2) * \prod_i (t - d i) <= _).
    rewrite mulr_suml; apply: ler_sum => i _; rewrite ler_pmul2l // [X in _ <= X](bigD1 i) //=.
    rewrite ler_pemull //; apply: prodr_ge0 => j _; exact: le_trans (td j).
  rewrite ler_wpmul2r // ler_subr_addr [X in X <= _]addrC /t -!addrA.
  have cn := ler_norm c; apply: le_trans (_ : `|c| + (\sum_i b i ^+ 2) <= _).
    by rewrite ler_add2r.
  by rewrite [X in _ <= X]addrA [1 + _]addrC -!addrA ler_add2l addrA ler_addr addr_ge0 ?ler01.
have signs : p.[d m] <= 0 <= p.[t] by rewrite ltW.
have [a ab ra] := poly_ivt mt signs; have /andP [am _] := ab; have /rootP root := ra.
have ne i : a != d i.
  apply: contraTneq low => ad; rewrite -leNgt.
  have e : a = d m by apply: le_anti; rewrite am ad mP.
  by rewrite -e root.
exists a => //; have P0 : \prod_i (a - d i) != 0 by apply/prodf_neq0 => i _; rewrite subr_eq0.
apply: (mulIf P0); move/eqP: root; rewrite pE subr_eq0 => /eqP; rewrite mulrBl => /eqP.
rewrite subr_eq => /eqP ->; rewrite mulrDl addrC; congr (_ + _); rewrite mulr_suml.
apply: eq_bigr => i _; rewrite (bigD1 i) //= expr2 -!mulrA mulKf // subr_eq0.
exact: ne.
Qed.

(* One eigenvector, if the matrix without its first row and column has a basis of them. *)
Lemma eigenvector k (A : 'M[R]_(1 + k)) : A^T = A -> diagonalizable (drsubmx A) ->
  exists2 v : 'cV_(1 + k), v != 0 & exists a, A *m v = a *: v.
Proof.
move=> sym [Q [d orth BQ]]; have orth' := orth_right orth.
have [b AE] : exists b : 'cV_k,
    A = block_mx (ulsubmx A) (b^T *m Q^T) (Q *m b) (Q *m diag_mx d *m Q^T).
  exists (Q^T *m dlsubmx A); rewrite -BQ mulmxA orth' mul1mx trmx_mul trmxK -mulmxA orth' mulmx1.
  by rewrite trmx_dlsub sym submxK.
pose be i := b i 0.
(* what an eigenvector needs, in the basis of Q *)
have build (x : 'M[R]_1) (y : 'cV[R]_k) a : (x != 0) || (y != 0) ->
    ulsubmx A *m x + b^T *m y = a *: x -> b *m x + diag_mx d *m y = a *: y ->
    exists2 v : 'cV_(1 + k), v != 0 & exists a, A *m v = a *: v.
  move=> xy ex ey; exists (col_mx x (Q *m y)).
    apply: contraTneq xy => zero; rewrite negb_or !negbK; have [x0 y0] := eq_col_mx (etrans zero (esym (col_mx0 _ _ _ _))).
    rewrite x0 eqxx /=; apply/eqP; apply: (can_inj (mulKmx (_ : Q \in unitmx))).
      by have [] := mulmx1_unit orth'.
    by rewrite y0 mulmx0.
  exists a; rewrite {1}AE mul_block_col -!mulmxA [Q^T *m (Q *m _)]mulmxA orth mul1mx.
  by rewrite -mulmxDr ex ey scale_col_mx scalemxAr.
have dy i (y : 'cV[R]_k) : (diag_mx d *m y) i 0 = d 0 i * y i 0 by rewrite mul_diag_mx mxE.
have by_ (y : 'cV[R]_k) : (b^T *m y) 0 0 = \sum_i be i * y i 0.
  by rewrite mxE; apply: eq_bigr => i _; rewrite mxE.
have [/existsP [i /eqP bi]|nz] := boolP [exists i, be i == 0].
  apply: (build 0 (delta_mx i 0) (d 0 i)).
  - rewrite eqxx /=; apply/eqP => /matrixP /(_ i 0) /eqP; by rewrite !mxE !eqxx oner_eq0.
  - rewrite mulmx0 add0r scaler0; apply/matrixP => p q; rewrite [p]ord1 [q]ord1 by_ mxE big1 // => j _.
    by rewrite mxE andbT; case: eqP => [->|_]; rewrite ?bi ?mul0r ?mulr0.
  rewrite mulmx0 add0r; apply/matrixP => p q; rewrite [q]ord1 dy !mxE andbT.
  by case: eqP => [->|_]; rewrite ?mulr0.
have b0 i : be i != 0 by apply: contraNneq nz => bi; apply/existsP; exists i; rewrite bi.
have [inj|] := boolP [forall i, forall j, (d 0 i == d 0 j) ==> (i == j)].
  have inj' : injective (fun i => d 0 i).
    by move=> i j /eqP e; move: inj => /forallP /(_ i) /forallP /(_ j) /implyP /(_ e) /eqP.
  have [a ad aE] := secular ((ulsubmx A) 0 0) b0 inj'.
  apply: (build 1%:M (\col_i (be i / (a - d 0 i))) a).
  - by apply/orP; left; apply/eqP => /matrixP /(_ 0 0) /eqP; rewrite !mxE oner_eq0.
  - apply/matrixP => p q; rewrite [p]ord1 [q]ord1 mulmx1 mxE by_ !mxE mulr1 -[RHS]aE; congr (_ + _).
      by rewrite !mxE.
    by apply: eq_bigr => i _; rewrite mxE.
  apply/matrixP => p q; rewrite [q]ord1 mulmx1 mxE dy !mxE -/(be p).
  have ap : a - d 0 p != 0 by rewrite subr_eq0.
  apply: (mulIf ap); rewrite mulrDl -!mulrA mulVf // !mulr1 mulrBr [d 0 p * _]mulrC subrK.
  by rewrite mulrC.
rewrite negb_forall => /existsP [i]; rewrite negb_forall => /existsP [j].
rewrite negb_imply => /andP [/eqP dij ij].
apply: (build 0 (be j *: delta_mx i 0 - be i *: delta_mx j 0) (d 0 i)).
- rewrite eqxx /=; apply/eqP => /matrixP /(_ i 0) /eqP; rewrite !mxE !eqxx (negbTE ij) mulr0 subr0.
  by rewrite mulr1 (negbTE (b0 j)).
- rewrite mulmx0 add0r scaler0; apply/matrixP => p q; rewrite [p]ord1 [q]ord1 by_ mxE.
  rewrite (bigD1 i) //= (bigD1 j) 1?eq_sym //= big1 => [|l /andP [li lj]].
    by rewrite !mxE !eqxx (negbTE ij) eq_sym (negbTE ij) !mulr0 !mulr1 subr0 sub0r addr0 mulrN mulrC
      subrr.
  by rewrite !mxE (negbTE li) (negbTE lj) !mulr0 subrr mulr0.
rewrite mulmx0 add0r; apply/matrixP => p q; rewrite [q]ord1 dy !mxE !andbT.
have [->|pj] := eqVneq p j; last by rewrite mulr0 subr0; case: eqP => [->|_] //;
  rewrite !mulr0.
by rewrite dij.
Qed.

(* A reflection takes a unit vector to the first of the basis. *)
Lemma reflection k (v : 'cV[R]_(1 + k)) : v^T *m v = 1%:M ->
  exists H : 'M[R]_(1 + k), [/\ H^T = H, H *m H = 1%:M & H *m v = delta_mx 0 0].
Proof.
move=> vv; set e := delta_mx 0 0 : 'cV[R]_(1 + k).
have ee : e^T *m e = 1%:M.
  by rewrite /e trmx_delta mul_delta_mx; apply/matrixP => p q; rewrite [p]ord1 [q]ord1 !mxE.
pose w := v - e; have [w0|w0] := eqVneq w 0.
  exists 1%:M; split; rewrite ?trmx1 ?mulmx1 ?mul1mx //.
  by apply/eqP; rewrite -subr_eq0 -/w w0.
pose s := (v^T *m e) 0 0.
have ve : v^T *m e = s%:M by rewrite [LHS]mx11_scalar.
have ev : e^T *m v = s%:M by rewrite -[v in LHS]trmxK -trmx_mul ve tr_scalar_mx.
have wT : w^T = v^T - e^T by rewrite /w linearB.
have ww : w^T *m w = (2%:R * (1 - s))%:M.
  rewrite wT /w mulmxBl !mulmxBr vv ee ve ev -!raddfB /=; congr (_%:M).
  by have -> : 2%:R = 1 + 1 :> R by []; named R; ring.
have wv : w^T *m v = (1 - s)%:M by rewrite wT mulmxBl vv ev -raddfB.
have s0 : 1 - s != 0.
  apply: contraNneq w0 => s1; have [_ vanish] := length_ge0 w; apply/eqP/vanish.
  by rewrite ww s1 mulr0 mxE mul0rn.
pose H := 1%:M - (1 - s)^-1 *: (w *m w^T); exists H; split.
- by rewrite /H linearB linearZ /= trmx_mul trmxK trmx1.
- set X := (1 - s)^-1 *: (w *m w^T) in H *; have XX : X *m X = X + X.
    rewrite /X -scalemxAl -scalemxAr -mulmxA [w^T *m (w *m _)]mulmxA ww mul_scalar_mx -scalemxAr.
    by rewrite !scalerA -scalerDl [2%:R * _]mulrC mulKf // mulr_natr mulr2n.
  by rewrite /H mulmxBl mul1mx mulmxBr mulmx1 XX opprB addrK subrK.
rewrite /H mulmxBl mul1mx -scalemxAl -mulmxA wv mul_mx_scalar scalerA mulVf // scale1r /w.
by rewrite opprB addrC subrK.
Qed.

Lemma one_more k : (forall A : 'M[R]_k, A^T = A -> diagonalizable A) ->
  forall A : 'M[R]_(1 + k), A^T = A -> diagonalizable A.
Proof.
move=> IH A sym; have symD : (drsubmx A)^T = drsubmx A by rewrite trmx_drsub sym.
have [v v0 [a Av]] := eigenvector sym (IH _ symD).
pose N := (v^T *m v) 0 0; have [N0 vanish] := length_ge0 v.
have Np : 0 < N by rewrite lt_neqAle N0 eq_sym andbT; apply: contraNneq v0 => /vanish ->.
pose u := (Num.sqrt N)^-1 *: v.
have uu : u^T *m u = 1%:M.
  have uT : u^T = (Num.sqrt N)^-1 *: v^T by rewrite /u linearZ.
  rewrite uT /u -scalemxAl -scalemxAr scalerA [v^T *m v]mx11_scalar -/N scale_scalar_mx.
  congr (_%:M); rewrite -invfM -expr2 sqr_sqrtr ?mulVf ?lt0r_neq0 //; exact: ltW.
have Au : A *m u = a *: u by rewrite /u -scalemxAr Av !scalerA mulrC.
have [H [Hs HH Hu]] := reflection uu; set e := delta_mx 0 0 in Hu.
have [B BE] : exists B, B = H *m A *m H by exists (H *m A *m H).
have Bs : B^T = B by rewrite BE !trmx_mul Hs sym mulmxA.
have He : H *m e = u by rewrite -Hu mulmxA HH mul1mx.
have Be : B *m e = a *: e by rewrite BE -!mulmxA He Au -scalemxAr Hu.
have first : dlsubmx B = 0.
  apply/matrixP => p q; rewrite [q]ord1 mxE.
  have := congr1 (fun M : 'cV_(1 + k) => M (rshift 1 p) 0) Be; rewrite -colE !mxE /= mulr0 => <-.
  by congr (fun_of_matrix B _ _); apply/val_inj.
have second : ursubmx B = 0 by rewrite -Bs -trmx_dlsub first trmx0.
have symB : (drsubmx B)^T = drsubmx B by rewrite trmx_drsub Bs.
have [Q [d orth BQ]] := IH _ symB.
pose T : 'M[R]_(1 + k) := block_mx 1%:M 0 0 Q.
exists (H *m T), (row_mx (ulsubmx B) d).
  rewrite /orthogonal trmx_mul Hs -mulmxA [H *m (H *m _)]mulmxA HH mul1mx /T tr_block_mx.
  by rewrite !trmx0 trmx1 mulmx_block !mulmx0 !mul0mx !addr0 add0r mulmx1 orth -scalar_mx_block.
have BT : B = T *m diag_mx (row_mx (ulsubmx B) d) *m T^T.
  rewrite /T tr_block_mx !trmx0 trmx1 diag_mx_row !mulmx_block.
  rewrite !mulmx0 !mul0mx !addr0 !add0r !mul1mx !mulmx1 -BQ.
  rewrite -[LHS]submxK first second; congr block_mx; last by rewrite mul0mx.
  by apply/matrixP => p q; rewrite [p]ord1 [q]ord1 !mxE eqxx mulr1n.
rewrite trmx_mul Hs -!mulmxA [T *m (_ *m (T^T *m H))]mulmxA [T *m _ *m (T^T *m H)]mulmxA -BT.
by rewrite BE -!mulmxA HH mulmx1 mulmxA HH mul1mx.
Qed.

Theorem spectral k (A : 'M[R]_k) : A^T = A -> diagonalizable A.
Proof.
elim: k A => [|k IH] A sym; last exact: (one_more IH).
by exists 1%:M, 0; [rewrite /orthogonal trmx1 mulmx1 | apply/matrixP => -[]].
Qed.
End Spectral.

(* Lemmas 13, 15 and 17: r is any bound of the eigenvalues of E, the least of which is |lambda_1|. *)
Section Lemmas.
Variables (R : rcfType) (K : nat).
Implicit Types (E : 'M[R]_K) (r : R).
Add Field numbers3 : (is_field R).

Theorem lemma_13 E r : E^T = E -> (forall a, eigen E a -> `|a| <= r) -> forall i j, `|E i j| <= r.
Proof.
move=> sym le i j; have [Q [d orth EQ]] := spectral sym.
rewrite EQ by_valuesE; apply: by_values_le => // k; apply: le; exact: (eigen_d orth EQ).
Qed.

Theorem lemma_15 E r l : E^T = E -> (forall a, eigen E a -> `|a| <= r) -> r <= l -> l < 1 ->
  (forall b, eigen (E_prime E) b -> `|b| <= r / (1 - l)) /\ r / (1 - l) <= l / (1 - l).
Proof.
move=> sym le rl l1; have l0 : 0 < 1 - l by rewrite subr_gt0.
split; last by rewrite ler_wpmul2r // invr_ge0 ltW.
have small a : eigen E a -> `|a| < 1 by move=> /le ar; apply: le_lt_trans ar (le_lt_trans rl l1).
have [_ _ _ back] := lemma_14 sym small; move=> b [x x0 xE].
have [a aE ->] := back x b x0 xE; have ar : `|a| <= r by apply: le; exists x.
have a1 : 1 - l <= 1 + a.
  by rewrite ler_add2l ler_oppl; apply: le_trans (ler_norm (- a)) _; rewrite normrN (le_trans ar).
rewrite normrM normfV; apply: ler_pmul; rewrite ?normr_ge0 ?invr_ge0 //.
have p1 : 0 < 1 + a by apply: lt_le_trans a1.
by rewrite (gtr0_norm p1) lef_pinv ?posrE.
Qed.

(* What both E' and its square root of the length are made of. *)
Lemma EGE_le E r i j : E^T = E -> (forall a, eigen E a -> `|a| <= r) -> r < 1 ->
  `|(E *m invmx (1%:M + E) *m E) i j| <= r ^+ 2 / (1 - r).
Proof.
move=> sym le r1; have [Q [d orth EQ]] := spectral sym.
have small a : eigen E a -> `|a| < 1 by move=> /le ar; apply: le_lt_trans r1.
rewrite (EGE_values orth EQ small); apply: by_values_le => // k; rewrite mxE.
have dr := le _ (eigen_d orth EQ k); have r0 : 0 < 1 - r by rewrite subr_gt0.
have d1 : 1 - r <= 1 + d 0 k.
  by rewrite ler_add2l ler_oppl; apply: le_trans (ler_norm _) _; rewrite normrN.
rewrite normrM normfV normrX; apply: ler_pmul; rewrite ?exprn_ge0 ?normr_ge0 ?invr_ge0 //.
  by rewrite ler_pexpn2r ?nnegrE ?normr_ge0 // (le_trans _ dr) ?normr_ge0.
have p1 : 0 < 1 + d 0 k by apply: lt_le_trans d1.
by rewrite (gtr0_norm p1) lef_pinv ?posrE.
Qed.

Theorem lemma_17 E r : E^T = E -> (forall a, eigen E a -> `|a| <= r) -> r < 1 ->
  forall n k, `|E_prime E k n - E n k| <= r ^+ 2 / (1 - r).
Proof.
move=> sym le r1 n k; have small a : eigen E a -> `|a| < 1.
  by move=> /le ar; apply: le_lt_trans r1.
have inv := below_one sym small; rewrite (E_prime_split inv) -[in E n k]sym !mxE.
rewrite addrAC subrr add0r normrN; have := EGE_le k n sym le r1.
by rewrite mxE.
Qed.

Theorem equation_90 E r : (1 < K)%N -> E^T = E -> (forall a, eigen E a -> `|a| <= r) ->
  r < K%:R^-1 ->
  [/\ forall m, (forall b, eigen (E_prime E) b -> `|b| <= m) -> forall k n, `|E_prime E k n| <= m,
      forall b, eigen (E_prime E) b -> `|b| <= r / (1 - K%:R^-1) &
      r / (1 - K%:R^-1) <= (K%:R - 1)^-1].
Proof.
move=> K1 sym le rK; have K0 : 0 < K%:R :> R by rewrite ltr0n ltnW.
have K2 : K%:R^-1 < 1 :> R by rewrite invf_lt1 // ltr1n.
have [first second] := lemma_15 sym le (ltW rK) K2; split=> //.
  by move=> m bound k n; apply: lemma_13 => //; apply: E_prime_symmetric.
apply: le_trans second _; rewrite le_eqVlt; apply/orP; left; apply/eqP.
have K3 : K%:R - 1 <> 0 :> R by apply/eqP; rewrite subr_eq0 -[1]/(1%:R) eqr_nat gtn_eqF.
move/lt0r_neq0/eqP: K0 K3; move: (K%:R : R) => x x0 x1; named R; field.
by do !split.
Qed.
End Lemmas.

(* (93), corrected, and the size of the correction in Lemma 3. *)
Section Gram.
Variables (R : rcfType) (M K : nat) (F : 'M[R]_(M, K)) (r : R).
Add Field numbers4 : (is_field R).
Notation E := (overlaps F).
Notation Ep := (E_prime E).
Hypotheses (le : forall a, eigen E a -> `|a| <= r) (r1 : r < 1).

Theorem lemma_3 n (v := F *m (Ep *m delta_mx n 0) : 'cV_M) :
  Num.sqrt ((v^T *m v) 0 0) <= r / Num.sqrt (1 - r).
Proof.
have sym := overlaps_symmetric F; have small a : eigen E a -> `|a| < 1.
  by move=> /le ar; apply: le_lt_trans r1.
have inv := below_one sym small; have r0 : 0 < 1 - r by rewrite subr_gt0.
have -> : (v^T *m v) 0 0 = (E *m invmx (1%:M + E) *m E) n n.
  have entry (A : 'M[R]_K) : A n n = ((delta_mx 0 n : 'rV_K) *m A *m (delta_mx n 0 : 'cV_K)) 0 0.
    by rewrite -rowE -colE !mxE.
  rewrite entry /v !trmx_mul trmx_delta (E_prime_symmetric sym) -!mulmxA [F^T *m _]mulmxA gram.
  by rewrite {1}(E_prime_left inv) (E_prime_right inv) -!mulmxA (mulKVmx inv).
have bound := EGE_le n n sym le r1; have pos : 0 <= r.
  have [Q [d orth EQ]] := spectral sym; apply: le_trans (le (eigen_d orth EQ n)); exact: normr_ge0.
have -> : r / Num.sqrt (1 - r) = Num.sqrt (r ^+ 2 / (1 - r)).
  by rewrite sqrtrM ?sqr_ge0 // sqrtr_sqr ger0_norm // sqrtrV // ltW.
by apply: ler_wsqrtr; apply: le_trans (ler_norm _) bound.
Qed.

Hypothesis unit : forall n, E n n = 0.

Theorem equation_93_corrected n :
  (E *m E) n n / (1 + r) <= \sum_(k | k != n) E n k * Ep n k /\
  (forall m, (forall a, eigen E a -> m <= a ^+ 2) -> m / (1 + r) <= (E *m E) n n / (1 + r)).
Proof.
have sym := overlaps_symmetric F; have small a : eigen E a -> `|a| < 1.
  by move=> /le ar; apply: le_lt_trans r1.
have inv := below_one sym small; have [<- ->] := trace_of_product inv (unit n).
have [Q [d orth EQ]] := spectral sym; have pos : 0 <= r.
  by apply: le_trans (le (eigen_d orth EQ n)); apply: normr_ge0.
have p1 : 0 < 1 + r by rewrite ltr_paddr ?ltr01.
have square : (E *m E) n n = by_values Q (\row_k (d 0 k * d 0 k)) n n.
  by rewrite {1 2}EQ (values_mul orth) by_valuesE.
split=> [|m mP].
  have -> : - Ep n n = (E *m invmx (1%:M + E) *m E) n n.
    by rewrite (E_prime_split inv) mxE unit add0r mxE opprK.
  rewrite (EGE_values orth EQ small) square /by_values mulr_suml; apply: ler_sum => k _.
  rewrite !mxE; move: (Q n k) (small _ (eigen_d orth EQ k)) (le (eigen_d orth EQ k)) => x.
  move: (d 0 k) => y y1 yr; have -> : x * (y * y) * x / (1 + r) = x ^+ 2 * y ^+ 2 / (1 + r).
    by move: (_^-1) => c; named R; ring.
  have -> : x * (y ^+ 2 / (1 + y)) * x = x ^+ 2 * y ^+ 2 / (1 + y).
    by move: (_^-1) => c; named R; ring.
  apply: ler_wpmul2l; first by rewrite mulr_ge0 ?sqr_ge0.
  have y0 : 0 < 1 + y by rewrite -ltr_subl_addl sub0r; move: y1; rewrite ltr_norml => /andP [].
  by rewrite lef_pinv ?posrE // ler_add2l; apply: le_trans (ler_norm _) yr.
apply: ler_wpmul2r; first by rewrite invr_ge0 ltW.
rewrite square -[m]mulr1 -(row_one orth n) mulr_sumr; apply: ler_sum => k _; rewrite mxE.
have := mP _ (eigen_d orth EQ k); move: (Q n k) (d 0 k) => x y my.
have -> : x * (y * y) * x = y ^+ 2 * (x * x) by named R; ring.
by apply: ler_wpmul2r; rewrite -?expr2 ?sqr_ge0.
Qed.

(* Under Assumption 2 this is more than the paper needs. *)
Theorem enough m : (1 < K)%N -> (0 < M)%N -> 0 <= r -> r < K%:R^-1 ->
  (forall a, eigen E a -> 6%:R / Num.sqrt M%:R <= `|a|) -> (exists2 a, eigen E a & m = a ^+ 2) ->
  4%:R * K%:R * r / M%:R < m / (1 + r).
Proof.
move=> K1 M0 pos rK large [a aE ->]; have p1 : 0 < 1 + r by rewrite ltr_paddr ?ltr01.
have K0 : 0 < K%:R :> R by rewrite ltr0n ltnW.
have m0 : 0 < M%:R :> R by rewrite ltr0n.
have big : 36%:R / M%:R <= a ^+ 2.
  have s0 : 0 <= 6%:R / Num.sqrt M%:R :> R by rewrite divr_ge0 ?ler0n ?sqrtr_ge0.
  have -> : 36%:R / M%:R = (6%:R / Num.sqrt M%:R) ^+ 2 :> R.
    by rewrite expr_div_n sqr_sqrtr ?ler0n // -natrX.
  by rewrite -(real_normK (num_real a)) ler_pexpn2r ?nnegrE ?normr_ge0 // large.
rewrite ltr_pdivl_mulr //; apply: lt_le_trans big; rewrite mulrAC ltr_pmul2r ?invr_gt0 //.
have Kr : K%:R * r < 1 by rewrite mulrC -ltr_pdivl_mulr // mul1r.
apply: lt_trans (_ : 4%:R * (1 + r) < _).
  by rewrite ltr_pmul2r // -mulrA gtr_pmulr ?ltr0n.
apply: lt_trans (_ : 4%:R * 2%:R < _); last by rewrite -natrM ltr_nat.
by rewrite ltr_pmul2l ?ltr0n // ltr_add2l.
Qed.
End Gram.

(* (93) as printed fails for two unit vectors that overlap by one third. *)
Theorem equation_93_refuted (R : rcfType) m n (F := two_vectors R m) (E := overlaps F) :
  [/\ forall a, eigen E a -> `|a| = 3%:R^-1,
      \sum_(k | k != n) E_prime E n k * E n k = 8%:R^-1 &
      \sum_(k | k != n) E_prime E n k * E n k < (3%:R^-1) ^+ 2 / (1 - 3%:R^-1)].
Proof.
have EE : E = third_apart R by apply: two_vectors_overlap.
have [inv H] := third_inverse R; have [sizes _ _ _ _] := e_prime_refuted R.
have sum : \sum_(k | k != n) E_prime E n k * E n k = 8%:R^-1.
  have inv' : 1%:M + overlaps F \in unitmx by rewrite -/E EE.
  have zero : overlaps F n n = 0 by rewrite -/E EE mxE eqxx.
  have [one two] := trace_of_product inv' zero; under eq_bigr => k _ do rewrite mulrC.
  rewrite -one two -/E EE /E_prime !mxE H !eqxx opprB mulr1n.
  have eight : 8%:R != 0 :> R by rewrite pnatr_eq0.
  by rewrite -[9%:R]/((1 + 8)%:R) natrD mulrDl divff // addrK mul1r.
split=> //; first by move=> a; rewrite EE; apply: sizes.
rewrite sum; have three : 3%:R != 0 :> R by rewrite pnatr_eq0.
have -> : 3%:R^-1 ^+ 2 / (1 - 3%:R^-1) = 6%:R^-1 :> R.
  have -> : 1 - 3%:R^-1 = 2%:R / 3%:R :> R.
    by apply: (mulIf three); rewrite mulrBl mulVf // mul1r divfK // -[3%:R]/((2 + 1)%:R) natrD addrK.
  by rewrite invf_div expr2 -mulrA [3%:R^-1 * (_ / _)]mulrA mulVf // mul1r -invfM -natrM.
by rewrite ltf_pinv ?posrE ?ltr0n // ltr_nat.
Qed.
