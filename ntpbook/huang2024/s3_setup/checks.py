"""Checks of the setup: equation (1), the reparametrisation, sentences of one token (huang2024)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ntpbook.shared.symbols import identity, matrices
from ntpcore.data import dataset
from ntpcore.huang2024 import transformer
from ntpverdicts import arrays
from ntpverdicts.claims import Shown
from ntpverdicts.compare import Said, equal, most
from ntpverdicts.vocabulary import Variant, by_hand, check, executed

Floats = NDArray[np.float64]

REPEATED = ("S V O P", "S V O P", "S V O P", "V O P", "O P P", "P S V")

# Equation (1)


@dataclass(frozen=True)
class Matrices:
    """W_ov and W_kq, (4, 4) each, at which both forms of the loss are computed."""

    name: str
    W_ov: Floats
    W_kq: Floats


def random_matrices(seed: int = 7, trials: int = 40) -> Iterator[Matrices]:
    """Random matrices of Example 1's size, entries with standard deviation 2."""
    rng = np.random.default_rng(seed)
    for trial in range(trials):
        yield Matrices(f"trial {trial}", *(rng.normal(size=(2, 4, 4)) * 2))


def loss_of_one_sample(plus: bool = False) -> Iterator[Shown]:
    """Minus the logarithm of a softmax is the logarithm of its denominator minus one logit.

    Args:
        plus: whether the right logit is added, a planted error.
    """
    import sympy as sp

    t, rest = sp.symbols("t", real=True), sp.symbols("rest", positive=True)
    Z = sp.exp(t) + rest  # the exponentials of all logits, the right one apart
    right = sp.log(Z) + t if plus else sp.log(Z) - t
    yield identity("the loss of one sample", -sp.log(sp.exp(t) / Z), right)


@check(
    "huang2024-eq-1",
    over="random pairs of matrices",
    instances=random_matrices,
    says="On Example 1 with one sentence repeated three times, the mean cross-entropy and (1) "
    "agree for {tried} random pairs of matrices.",
    tolerance=1e-12,  # some thirty terms of order one, each rounded a few times at 2.2e-16
    proof=(
        executed(
            r"$-\log(\mathrm{softmax})$ is $\log Z$ minus the logit of the correct token, for "
            "two or more tokens",
            loss_of_one_sample,
            planted={r"$\log Z$ plus the logit of the correct token.": {"plus": True}},
        ),
        by_hand("each distinct sample counts with its frequency in the mean", at="collected"),
    ),
    planted={
        "The same weight for every distinct sentence, although one sentence is repeated.": {
            "weighted": False
        },
    },
)
def check_huang2024_eq_1(one: Matrices, weighted: bool = True) -> Iterator[Said]:
    """The mean cross-entropy over all samples is the sum (1) over distinct sentences."""
    data, tokens = dataset.from_sentences(REPEATED, "Example 1 with repetitions"), np.eye(4)
    mean = transformer.cross_entropy(data, one.W_ov, one.W_kq, tokens)
    yield equal(transformer.loss(data, one.W_ov, one.W_kq, tokens, weighted=weighted), mean)


# The reparametrisation


@dataclass(frozen=True)
class FourMatrices:
    """A sentence X, (d, L), and W_k, W_q (d_1, d), W_v (d_2, d), W_o (|V|, d_2)."""

    name: str
    X: Floats
    W_k: Floats
    W_q: Floats
    W_v: Floats
    W_o: Floats

    def probabilities(self) -> Floats:
        """The transformer of Section 3 with its four matrices: next-token probabilities, (|V|,)."""
        keys, query = self.W_k @ self.X, self.W_q @ self.X[:, -1]
        mixed = (self.W_v @ self.X) @ transformer.softmax(keys.T @ query)
        return transformer.softmax(self.W_o @ mixed)


def random_four(seed: int = 7, trials: int = 40) -> Iterator[FourMatrices]:
    """Random sentences and matrices of all shapes with sides from 2 to 6."""
    rng = np.random.default_rng(seed)
    for trial in range(trials):
        d, length, d_1, d_2, size = (int(side) for side in rng.integers(2, 7, size=5))
        shapes = ((d, length), (d_1, d), (d_1, d), (d_2, d), (size, d_2))
        made = [rng.normal(size=shape) for shape in shapes]
        yield FourMatrices(f"trial {trial}, $d = {d}$, $d_1 = {d_1}$", *made)


def products_of_matrices(turned: bool = False) -> Iterator[Shown]:
    """Scores and logits by the four matrices and by the two products, for symbolic shapes.

    Args:
        turned: whether W_q^T W_k takes the place of W_k^T W_q, a planted error.
    """
    import sympy as sp

    d, L, d_1, d_2, n = sp.symbols("d L d_1 d_2 n", integer=True, positive=True)
    X, phi = sp.MatrixSymbol("X", d, L), sp.MatrixSymbol("phi", L, 1)
    x = sp.MatrixSymbol("x", d, 1)
    W_k, W_q = sp.MatrixSymbol("W_k", d_1, d), sp.MatrixSymbol("W_q", d_1, d)
    W_v, W_o = sp.MatrixSymbol("W_v", d_2, d), sp.MatrixSymbol("W_o", n, d_2)
    W_kq = W_q.T * W_k if turned else W_k.T * W_q
    pairs = (
        ("scores", (W_k * X).T * (W_q * x), X.T * W_kq * x),
        ("logits", W_o * ((W_v * X) * phi), (W_o * W_v) * X * phi),
    )
    yield from (matrices(*pair) for pair in pairs)


def every_pair_is_reached(zeros: bool = True) -> Iterator[Shown]:
    """Factors reach every product, for symbolic d: without padding, and with r or s rows more.

    W_k = (I; 0) and W_q = (W_kq; 0) have the product W_kq; W_v = (I; 0) and W_o = (W_ov, 0) have
    W_ov.

    Args:
        zeros: whether the identity stands above zeros, and not above other rows, a planted error.
    """
    import sympy as sp

    d, n, r, s = sp.symbols("d n r s", integer=True, positive=True)
    W_kq, W_ov = sp.MatrixSymbol("W_kq", d, d), sp.MatrixSymbol("W_ov", n, d)
    below, beside = sp.ZeroMatrix(r, d), sp.ZeroMatrix(n, s)
    if not zeros:
        below, beside = sp.MatrixSymbol("R", r, d), sp.MatrixSymbol("S", n, s)
    W_k = sp.BlockMatrix([[sp.Identity(d)], [below]])
    W_q = sp.BlockMatrix([[W_kq], [below]])
    W_v = sp.BlockMatrix([[sp.Identity(d)], [sp.MatrixSymbol("Q", s, d)]])
    W_o = sp.BlockMatrix([[W_ov, beside]])
    one = sp.Identity(d)
    for name, product, wanted in (
        (r"$W_k^\top W_q$", W_k.T * W_q, W_kq),
        ("$W_o W_v$", W_o * W_v, W_ov),
        (r"$W_k^\top W_q$ for $d_1 = d$", one.T * W_kq, W_kq),
        ("$W_o W_v$ for $d_2 = d$", W_ov * one, W_ov),
    ):
        found = sp.block_collapse(product)
        found = found.blocks[0, 0] if isinstance(found, sp.BlockMatrix) else found
        yield matrices(name, found, wanted)


@check(
    "huang2024-app-reparameterization",
    over="random sets of matrices",
    instances=random_four,
    says="The four matrices and their two products give the same probabilities for {tried} "
    "random sets of matrices of random shapes.",
    tolerance=1e-11,  # a few dozen sums of products of order one to ten
    proof=(
        executed(
            "factors and products give equal scores to the inner softmax and, for any attention "
            "weights, equal logits to the outer one",
            products_of_matrices,
        ),
        executed(
            r"every $W_{\mathrm{kq}}$ and every $W_{\mathrm{ov}}$ is a product, with the identity "
            "as one factor, and with factors padded by zeros if $d_1 > d$ or $d_2 > d$",
            every_pair_is_reached,
            planted={"Padding with entries that are not zero.": {"zeros": False}},
        ),
    ),
    planted={
        r"The product $W_{\mathrm q}^\top W_{\mathrm k}$ in place of $W_{\mathrm k}^\top "
        r"W_{\mathrm q}$.": {"turned": True}
    },
)
def check_huang2024_app_reparameterization(
    one: FourMatrices, turned: bool = False
) -> Iterator[Said]:
    """softmax(W_o W_v X softmax(X^T W_k^T W_q x_L)) by its factors and by their products."""
    W_kq = one.W_q.T @ one.W_k if turned else one.W_k.T @ one.W_q
    found = transformer.softmax(transformer.logits(one.X, one.W_o @ one.W_v, W_kq))
    yield arrays.equal(found, one.probabilities(), scale=1.0)
    yield most("longest", one.X.shape[1])


# Sentences of one token


@dataclass(frozen=True)
class Twice:
    """A sentence X, (d, L), one W_ov, (|V|, d), and two attention matrices, (d, d)."""

    name: str
    X: Floats
    W_ov: Floats
    W_kq: Floats
    other: Floats


def drawn(seed: int, trials: int, lengths: tuple[int, ...], *, alike: bool = True) -> list[Twice]:
    """Random sentences of these lengths, of one token or of different ones, and matrices."""
    rng = np.random.default_rng(seed)
    made = []
    for trial in range(trials):
        d, size = (int(side) for side in rng.integers(2, 7, size=2))
        length = lengths[trial % len(lengths)]
        X = rng.normal(size=(d, length))
        X = X[:, :1].repeat(length, axis=1) if alike else X
        W_ov, (W_kq, other) = rng.normal(size=(size, d)), rng.normal(size=(2, d, d))
        made.append(Twice(f"trial {trial}, $L = {length}$, $d = {d}$", X, W_ov, W_kq, other))
    return made


def one_position(seed: int = 7, trials: int = 40) -> list[Twice]:
    """Sentences of length one."""
    return drawn(seed, trials, (1,))


def one_token_repeated(seed: int = 7, trials: int = 40) -> list[Twice]:
    """Sentences of one token, said two to five times."""
    return drawn(seed, trials, (2, 3, 4, 5))


def different_tokens(seed: int = 7, trials: int = 40) -> list[Twice]:
    """Sentences of two to five different tokens."""
    return drawn(seed, trials, (2, 3, 4, 5), alike=False)


def one_weight(rivals: bool = False) -> Iterator[Shown]:
    """The attention on a token that stands alone L times, for any L and any score s.

    All positions have one score s = x^T W_kq x, so each gets exp(s) / (L exp(s)).

    Args:
        rivals: whether another token has a share of the denominator, a planted error.
    """
    import sympy as sp

    s, u = sp.symbols("s u", real=True)
    L = sp.symbols("L", integer=True, positive=True)
    weight = sp.exp(s) / (L * sp.exp(s) + (sp.exp(u) if rivals else 0))
    yield identity(r"$L$ positions together, so that $X\phi = x$", L * weight, sp.Integer(1))


@check(
    "huang2024-app-one-token",
    over="random sentences",
    instances=one_position,
    says="In a sentence of one token the attention weight of this token is 1, whatever "
    r"$W_{\mathrm{kq}}$ is: two different $W_{\mathrm{kq}}$ give the same next-token "
    "probabilities on {tried} random sentences.",
    tolerance=1e-12,  # a softmax of one number is 1 exactly; the logits are sums of few products
    proof=(
        executed(
            r"the weights on the only token add up to 1, so the logits are $W_{\mathrm{ov}} x$",
            one_weight,
            planted={"A second, different token in the sentence.": {"rivals": True}},
        ),
    ),
    planted={
        "Sentences of different tokens.": Variant(instances=different_tokens),
        r"With the second $W_{\mathrm{kq}}$, the rows of $W_{\mathrm{ov}}$ are permuted.": {
            "values": 1
        },
    },
    readings={
        "a sentence that repeats one token": Variant(instances=one_token_repeated),
    },
)
def check_huang2024_app_one_token(one: Twice, values: int = 0) -> Iterator[Said]:
    """T(X) is the same for two attention matrices if X holds one token.

    Args:
        one: sentence and matrices.
        values: by how many rows W_ov is turned beside the other attention matrix.
    """
    W_ov = np.roll(one.W_ov, values, axis=0)
    found = transformer.softmax(transformer.logits(one.X, W_ov, one.other))
    first = transformer.softmax(transformer.logits(one.X, one.W_ov, one.W_kq))
    yield arrays.equal(found, first, scale=1.0)
