"""The gradient of one sample, derived in sympy from softmax and loss: what Lemmas 4 to 6 rest on.

Let o be the optimal token of the sample, m_x the attention mass on a token x of its sentence, T_x
the predicted probability of n(x), A the margin of W_ov. After stage 1 the logit of n(x) is A m_x,
those of all other tokens are 0, up to a common constant. Steps return what they showed; `factor`
multiplies A on the side of the claim and is 1 but for a planted error.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from ntpbook.shared.symbols import at_least_zero, formula, identity
from ntpverdicts.claims import Shown
from ntpverdicts.once import once

# Sentences by tokens 0, 1, 2, 3 with n(x) = x + 1 modulo 4; the next token is n(0).
SENTENCES = ((0, 1), (0, 0, 1), (1, 2, 0, 2))


@dataclass(frozen=True)
class Sample:
    """A sample with any number u of rivals, indexed by k, and any |V|.

    E_x is the number of positions of x times the exponential of its score, so that the softmax (9)
    puts the mass E_x / (sum of all) on x. The logarithm of E_x moves with the speed v_x, the score
    of x in the column of a direction W' at the query.

    Attributes:
        A: the margin of W_ov.
        slope: the derivative of the loss in the direction W'.
        v_o: speed of the optimal token.
        v_k: speed of the rival k.
        m_o: mass of the optimal token.
        m_k: mass of the rival k.
        Z: what normalises the output softmax.
        absent: number of tokens that are n of no token of the sentence.
        rivals: the range of k.
        names: symbols for sums over all rivals, by their terms.
    """

    A: Any
    slope: Any
    v_o: Any
    v_k: Any
    m_o: Any
    m_k: Any
    Z: Any
    absent: Any
    rivals: Any
    names: dict[Any, Any]

    @property
    def T_o(self) -> Any:
        """The probability of the right next token."""
        import sympy as sp

        return sp.exp(self.A * self.m_o) / self.Z

    def pushed(self, term: Any) -> Any:
        """The sum of T_k times a term over all rivals k."""
        import sympy as sp

        return sp.Sum(sp.exp(self.A * self.m_k) * term, self.rivals) / self.Z

    def same(self, name: str, left: Any, right: Any, words: tuple[str, str]) -> Shown:
        """That two expressions agree: the numerator of their difference, multiplied out, is 0."""
        import sympy as sp

        rest = sp.fraction(sp.together(self._named(left) - self._named(right)))[0].expand()
        return Shown(name, words[0], "=", words[1], formula(rest), rest == 0)

    def _named(self, expression: Any) -> Any:
        """The expression with a symbol for each sum over the rivals, constants pulled out of it."""
        import sympy as sp

        if isinstance(expression, sp.Sum):
            index = self.rivals[0]
            total = sp.Integer(0)
            for term in sp.Add.make_args(sp.expand(self._named(expression.function))):
                constant, inner = term.as_independent(index, as_Add=False)
                total += constant * self._symbol(inner, index)
            return total
        if not expression.args or expression.func is sp.Indexed:
            return expression
        return expression.func(*(self._named(part) for part in expression.args))

    def _symbol(self, term: Any, index: Any) -> Any:
        """The symbol of the sum of a term."""
        import sympy as sp

        if not term.has(index):
            return term * self.rivals[2]
        return self.names.setdefault(term, sp.Symbol(f"sum_{len(self.names)}", real=True))


@cache
def sample() -> Sample:
    """The sample, with the derivative of its loss log Z - A m_o along W'."""
    import sympy as sp

    s, v_o = sp.symbols("s v_o", real=True)
    A, E_o = sp.symbols("A E_o", positive=True)
    E_rest, absent = sp.symbols("E_rest absent", nonnegative=True)
    u = sp.Symbol("u", integer=True, nonnegative=True)
    k, i = sp.symbols("k i", integer=True, positive=True)
    E, v = sp.IndexedBase("E", positive=True), sp.IndexedBase("v", real=True)
    # derived from (1) and (9) again: the closed forms of the lemmas are judged by it
    norm = E_o * sp.exp(s * v_o) + sp.Sum(E[i] * sp.exp(s * v[i]), (i, 1, u))  # (9)
    m_o, m_k = E_o * sp.exp(s * v_o) / norm, E[k] * sp.exp(s * v[k]) / norm
    Z = sp.exp(A * m_o) + sp.Sum(sp.exp(A * m_k), (k, 1, u)) + absent
    slope = sp.diff(sp.log(Z) - A * m_o, s)  # (1)
    moved = sp.Symbol("Ev_rest", real=True)
    short = {sp.Sum(E[i], (i, 1, u)): E_rest, sp.Sum(E[i] * v[i], (i, 1, u)): moved}
    slope, m_o, m_k, Z = (one.subs(s, 0).xreplace(short) for one in (slope, m_o, m_k, Z))
    names = {E[k]: E_rest, E[k] * v[k]: moved}
    return Sample(A, slope, v_o, v[k], m_o, m_k, Z, absent, (k, 1, u), names)


@once
def lemma_4(factor: int = 1) -> tuple[Shown, ...]:
    """The derivative of the loss along any W', for any number of rivals and any |V|.

    A [(T_o - 1) m_o (v_o - mean) + sum_k T_k m_k (v_k - mean)], v being the scores of W'.
    """
    import sympy as sp

    one = sample()
    mean = one.m_o * one.v_o + sp.Sum(one.m_k * one.v_k, one.rivals)
    pushed = one.pushed(one.m_k * one.v_k) - one.pushed(one.m_k) * mean
    lemma = (one.T_o - 1) * one.m_o * (one.v_o - mean) + pushed
    words = (
        r"$d\,\text{loss}/ds$",
        r"$A [(T_o - 1) m_o (v_o - \mathrm{mean}) + \sum T_k m_k (v_k - \mathrm{mean})]$",
    )
    return (one.same("the loss along $W + sW'$", one.slope, factor * one.A * lemma, words),)


@once
def lemma_4_by_positions(factor: int = 1) -> tuple[Shown, ...]:
    """The same for sentences written out, from (1) and (9), W_ov having any c_x beside A.

    Column x of W_ov, |V| = 4, has the entry c_x + A in row n(x) and c_x elsewhere.
    """
    return tuple(_by_positions(sentence, factor) for sentence in SENTENCES)


def _by_positions(sentence: tuple[int, ...], factor: int) -> Shown:
    """One sentence: minus the log of the softmax, differentiated, against Lemma 4."""
    import sympy as sp

    s, A = sp.Symbol("s", real=True), sp.Symbol("A", positive=True)
    c, v, y = (sp.symbols(f"{name}:4", real=True) for name in "cvy")  # y_x = e^score
    W_ov = sp.Matrix(4, 4, lambda row, x: c[x] + (A if row == (x + 1) % 4 else 0))
    # (1) and (9) once more, by positions: they judge the sums over rivals
    raised = [y[x] * sp.exp(s * v[x]) for x in sentence]
    phi = sp.Matrix([one / sum(raised) for one in raised])  # (9)
    logits = W_ov[:, list(sentence)] * phi
    slope = sp.diff(sp.log(sum(map(sp.exp, logits))) - logits[1], s).subs(s, 0)  # (1), n(0) = 1
    at, right = phi.subs(s, 0), [sp.exp(logit.subs(s, 0)) for logit in logits]
    T = [one / sum(right) for one in right]
    mean = sum(at[place] * v[x] for place, x in enumerate(sentence))
    lemma = sum(
        (T[(x + 1) % 4] - int(x == 0)) * at[place] * (v[x] - mean)
        for place, x in enumerate(sentence)
    )
    named = {one: sp.Symbol(f"e_{place}", positive=True) for place, one in enumerate(right)}
    rest = sp.cancel(sp.together((slope - factor * A * lemma).xreplace(named)))
    words = f"the loss of the sentence {' '.join(map(str, sentence))} along $W + sW'$"
    return Shown(words, r"$d\,\text{loss}/ds$", "=", "Lemma 4", formula(rest), rest == 0)


@once
def signs(factor: int = 1) -> tuple[Shown, ...]:
    """The gradient of one sample in pairs, and why its entries have the signs of Lemma 5.

    With M = sum_k T_k m_k, h_k = (1 - T_o) m_o + T_k - M and b_k = A m_k h_k it is
    sum_k b_k (e_k - e_o) e_q^T, and h_k = T_k + m_o T_absent + sum_i T_i (m_o - m_i).
    """
    import sympy as sp

    one = sample()
    k = one.rivals[0]
    M, T_k = one.pushed(one.m_k), sp.exp(one.A * one.m_k) / one.Z
    h_k = (1 - one.T_o) * one.m_o + T_k - M
    b_k = factor * one.A * one.m_k * h_k
    pairs = sp.Sum(b_k * (one.v_k - one.v_o), (k, *one.rivals[1:]))
    pull = factor * one.A * one.m_o * ((1 - one.m_o) * (1 - one.T_o) + M)
    led = one.pushed(one.m_o - one.m_k)
    spread = T_k + one.m_o * one.absent / one.Z + led
    T, lead, mass = sp.symbols("T_i lead_i m_o", nonnegative=True)
    both = sp.Symbol("T_k", positive=True)
    return (
        one.same(
            "the loss along $W + sW'$",
            one.slope,
            pairs,
            (r"$d\,\text{loss}/ds$", r"$\sum b_k (v_k - v_o)$"),
        ),
        one.same(
            "the entry of $o$ is minus the sum of the others",
            sp.Sum(b_k, one.rivals),
            pull,
            (r"$\sum b_k$", "$A m_o [(1 - m_o) (1 - T_o) + M]$"),
        ),
        one.same(
            "the bracket",
            h_k,
            spread,
            (
                "$(1 - T_o) m_o + T_k - M$",
                r"$T_k + m_o T_{\mathrm{absent}} + \sum T_i (m_o - m_i)$",
            ),
        ),
        at_least_zero(
            r"its terms, $\mathrm{lead}_i = m_o - m_i$", both + mass * T + T * lead, strictly=True
        ),
    )


@once
def squares(most: int = 2) -> tuple[Shown, ...]:
    """sum b^2 <= (sum b)^2 for any number of b >= 0, hence (sum b)^2 + sum b^2 <= 2 (sum b)^2.

    By induction on their number: S their sum, S^2 - D the sum of their squares with D >= 0, and b
    one more. `most` stands for the 2 and is another number only for a planted error.
    """
    import sympy as sp

    S, D, b = sp.symbols("S D b", nonnegative=True)
    Q = S**2 - D
    return (
        identity("one more number", (S + b) ** 2 - (Q + b**2), D + 2 * S * b),
        at_least_zero(r"$(\sum b)^2 - \sum b^2$ stays at least 0", D + 2 * S * b),
        at_least_zero(
            rf"${most} (\sum b)^2 - (\sum b)^2 - \sum b^2$", sp.expand(most * S**2 - S**2 - Q)
        ),
    )
