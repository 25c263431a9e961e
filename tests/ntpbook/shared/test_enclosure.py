"""Enclosed runs contain what high precision gives; certificates hold; refutations are certified."""

import math
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import plain_example_1
import pytest
from flint import arb, ctx
from mpmath import mp

from ntpbook.shared import digits, enclosure
from ntpbook.shared import plain_stage2 as model
from ntpbook.shared.enclosed_setting import paper_setting
from ntpcore.data.dataset import from_samples
from ntpcore.data.examples import example_1
from ntpcore.data.order import analyse

HALF, THIRD = Fraction(1, 2), Fraction(1, 3)
COLLOCATION = {"S": "V", "V": "O", "O": "P", "P": "S"}
LINES = ("SVOP", "VOP", "OPP", "PSV")  # the sentences of the paper's Example 1
EXAMPLE_1 = enclosure.EnclosedSetting(
    4,
    enclosure.merge(
        sorted({(line[:end], line[end], 1) for line in LINES for end in range(1, len(line))}),
        COLLOCATION,
    ),
    {
        **{(q, q): HALF for q in "SV"},
        **{("S", "P"): -HALF, ("V", "S"): -HALF, ("P", "O"): HALF, ("P", "P"): -HALF},
        **{("O", "O"): 2 * THIRD, ("O", "S"): -THIRD, ("O", "V"): -THIRD},
    },
    Fraction(2700),  # (900 * 0.1 / sqrt(3))^2
    Fraction(1, 1600),
)
REPEATED = from_samples(
    [("0", "1", 3), ("1", "0", 3), ("0 0 1", "1", 3), ("1 1 0", "0", 2)], "twice"
)


def two_tokens(weights, counts, A_squared, eta_squared):
    """n swaps 0 and 1; o ... o j, query j, for o = 0 and 1."""
    terms = tuple(
        enclosure.Terms(str(1 - o), str(o), count, ((str(1 - o), 1),), weight)
        for o, (weight, count) in enumerate(zip(weights, counts, strict=True))
    )
    star = {(str(1 - o), str(t)): HALF if t == o else -HALF for o in (0, 1) for t in (0, 1)}
    return enclosure.EnclosedSetting(2, terms, star, A_squared, eta_squared)


def random_setting(rng, vocab_size, sentences):
    """Random prefix-closed data under Assumptions 1 and 3 at the paper's step sizes, T = 900."""
    n = {str(x): str(y) for x, y in enumerate(rng.permutation(vocab_size))}
    optimal, below, samples = {}, {}, {((x,), y) for x, y in n.items()}
    for _ in range(sentences):
        words = [str(rng.integers(vocab_size))]
        words.append(n[words[0]])
        while len(words) < 7:
            q = words[-1]
            o = optimal.get(q, str(rng.choice(words)))
            rivals = set(words) - {o}
            counts = Counter(words)
            most = max((counts[j] for j in rivals), default=0)
            if o not in words or o in below.get(q, set()) or most > counts[o]:
                break
            if rivals:
                optimal[q] = o
                below.setdefault(q, set()).update(rivals)
            samples.add((tuple(words), n[o]))
            words.append(n[o])
    star = {}
    for q, o in optimal.items():
        m = len(below[q])
        star[q, o] = Fraction(m, 1 + m)
        star.update({(q, j): Fraction(-1, 1 + m) for j in below[q]})
    return enclosure.EnclosedSetting(
        vocab_size,
        enclosure.merge(sorted((*sample, 1) for sample in samples), n),
        star,
        Fraction(900**2 * 4, 100 * vocab_size * (vocab_size - 1)),
        Fraction(25, 10_000 * vocab_size),
    )


def in_high_precision(setting, steps):
    """W after so many steps by the plain code of the book, at 60 digits, token names as numbers."""
    names = sorted({token for place in setting.star for token in place})
    number = {name: place for place, name in enumerate(names)}
    total = sum(n.weight for n in setting.terms)
    data = model.Data(
        setting.vocab_size,
        tuple(
            model.Sample(
                number[n.query],
                number[n.optimal],
                n.count,
                tuple((number[j], count) for j, count in n.rivals),
                mp.mpf(n.weight) / total,
            )
            for n in setting.terms
        ),
    )
    A, eta = (mp.sqrt(model.as_real(x)) for x in (setting.A_squared, setting.eta_squared))
    *_, W = model.run(data, A, eta, steps)
    return {(q, x): W[number[q], number[x]] for q, x in setting.star}


def in_floats(setting, steps):
    """W after so many steps of equation (6), in floats, term by term."""
    A, eta = math.sqrt(setting.A_squared), math.sqrt(setting.eta_squared)
    W = dict.fromkeys(setting.star, 0.0)
    for _ in range(steps):
        G = dict.fromkeys(W, 0.0)
        for n in setting.terms:
            tokens, counts = zip((n.optimal, n.count), *n.rivals, strict=True)
            m = np.array(counts) * np.exp([W[n.query, x] for x in tokens])
            m /= m.sum()
            z = np.exp(A * m)
            pull = A * z / (z.sum() + setting.vocab_size - len(z))
            pull[0] -= A
            for x, g in zip(tokens, n.weight * m * (pull - m @ pull), strict=True):
                G[n.query, x] += g
        norm = math.hypot(*G.values())
        W = {place: W[place] - eta * G[place] / norm for place in W}
    return W


def misses(state, W):
    """Entries whose ball does not hold the number, widened by the 60 digits of that."""
    slack = arb(0, 1e-50)
    with ctx.workprec(state.bits):
        return [
            place
            for place in W
            if not (state.W[place] + slack).contains(arb(mp.nstr(W[place], 58)))
        ]


def test_example_1_has_five_terms_and_its_norm():
    assert len(EXAMPLE_1.terms) == 5
    assert {n.weight for n in EXAMPLE_1.terms} == {1}
    assert (Fraction(13, 6), 3) == (EXAMPLE_1.S, EXAMPLE_1.max_length)


def test_a_next_token_must_follow_a_token_of_the_sentence():
    with pytest.raises(ValueError, match="follows no token"):
        enclosure.merge([("SV", "P", 1)], COLLOCATION)


def test_the_first_step_by_hand():
    """One pair: the step goes along (1, -1) / sqrt(2)."""
    setting = enclosure.EnclosedSetting(
        2,
        (enclosure.Terms("1", "0", 1, (("1", 1),), 1),),
        {("1", "0"): HALF, ("1", "1"): -HALF},
        Fraction(9),
        Fraction(2),
    )
    start, after = enclosure.enclose(setting, 1, (0, 1))
    assert all(value.is_zero() for value in start.W.values())
    assert after.W["1", "0"].contains(1)
    assert after.W["1", "1"].contains(-1)
    assert all(value.rad() < 1e-60 for value in after.W.values())


@pytest.mark.parametrize(
    ("setting", "steps"),
    [
        (EXAMPLE_1, 900),
        (random_setting(np.random.default_rng(1), 20, 40), 40),
        (two_tokens((3, 2), (4, 4), Fraction(8100), Fraction(9)), 50),
    ],
    ids=("Example 1", "|V| = 20", "large steps"),
)
def test_an_enclosed_run_holds_the_run_in_high_precision(setting, steps):
    (state,) = enclosure.enclose(setting, steps, (steps,))
    with mp.workdps(60 + steps // 5):  # the run in high precision loses digits, too
        W = in_high_precision(setting, steps)
    assert not misses(state, W)
    n, *others = setting.terms
    more = enclosure.Terms(n.query, n.optimal, n.count, n.rivals, n.weight + 1)
    planted = enclosure.EnclosedSetting(
        setting.vocab_size, (more, *others), setting.star, setting.A_squared, setting.eta_squared
    )
    (wrong,) = enclosure.enclose(planted, steps, (steps,))
    assert misses(wrong, W)


@pytest.mark.parametrize(
    ("data", "eta"), [(example_1(), Fraction(1, 2)), (REPEATED, Fraction(9, 25))]
)
def test_an_enclosed_run_of_data_holds_dense_steps_of_equation_10(data, eta):
    steps, A = 4, 3
    setting = replace(paper_setting(data), A_squared=Fraction(A**2), eta_squared=eta**2)
    (state,) = enclosure.enclose(setting, steps, (steps,))
    n, names = analyse(data).collocation, data.vocabulary
    with mp.workdps(60):
        W_ov = digits.exact(np.zeros((len(names), len(names))))
        for x, token in enumerate(names):
            W_ov[names.index(n[token]), x] = mp.mpf(A)
        E, W = digits.exact(np.eye(len(names))), 0 * W_ov
        for _ in range(steps):
            G = digits.attention_gradient(data, W_ov, W, E)
            W = W - model.as_real(eta) * G / digits.norm(G)
        found = {(q, x): W[names.index(x), names.index(q)] for q, x in setting.star}
        other = {place: entry * mp.mpf("1.000000001") for place, entry in found.items()}
    assert not misses(state, found)
    assert misses(state, other) == list(found)


def test_the_paper_setting_of_example_1_is_that_by_hand():
    assert paper_setting(example_1()) == EXAMPLE_1


def test_a_run_of_20_tokens_is_enclosed_for_900_steps():
    setting = random_setting(np.random.default_rng(1), 20, 40)
    assert len(setting.terms) > 15
    (state,) = enclosure.enclose(setting, 900, (900,))
    value = enclosure.one_minus_cos(state)
    assert value.rad() < 2.0**-enclosure.START_BITS  # what is left if a step costs a bit
    W, star = in_floats(setting, 900), setting.star
    u, v = (np.array([float(one[place]) for place in star]) for one in (W, star))
    apart = u / np.linalg.norm(u) - v / np.linalg.norm(v)
    # 1 - T is 19 e^-A = 2e-3, and a float loses eps of that in each of the 900 steps
    assert float(value) == pytest.approx(apart @ apart / 2, rel=900 * 2e-16 / 2e-3)


def test_a_run_that_is_no_longer_enclosed_is_refused():
    with pytest.raises(ArithmeticError, match="begin with more than 60"):
        enclosure.enclose(EXAMPLE_1, 900, (900,), bits=60)


def test_the_certificate_of_example_1_holds_at_later_steps():
    early, first, last = enclosure.enclose(EXAMPLE_1, 1600, (100, 1000, 1600))
    assert enclosure.certify(early, Fraction(1, 100)) is None
    made = enclosure.certify(first, Fraction(1, 100))
    assert made is not None
    low, high = made.bounds(1600)
    value = enclosure.one_minus_cos(last)
    assert low < value < high
    with pytest.raises(ValueError, match="says nothing of 999"):
        made.bounds(999)
    # at step 1000 of the length 1/40: 1 / (2 (625 + 4)) and 4 / (2 (25 - 3)^2)
    by_hand = enclosure.Certificate(first, 1, 2, 3).bounds(1000)
    assert by_hand == pytest.approx((1 / 1258, 1 / 242), rel=1e-12)
    # omega of `certify` from a plain run: y is within omega of R from step 1000 on
    *_, W = plain_example_1.far(0.025, 1000)
    R = plain_example_1.residual()
    along = plain_example_1.along_star(W)
    y = {q: W[q] - along * np.array(plain_example_1.star(q)) for q in W}
    limit = {q: np.array([R[q, x] for x in plain_example_1.TOKENS[q]]) for q in W}
    excess = plain_example_1.log_missed(y) - plain_example_1.log_missed(limit)
    S, h = 13 / 6, 0.025 / math.sqrt(13 / 6)
    c = max((1 - h) / (1 - h + 2 * h * S), 1 - h * S / 2)
    away = sum(column @ column for column in (y[q] - limit[q] for q in W))
    omega = math.sqrt(away + h * S / c * excess) + 2 / 100
    size = math.sqrt(2 * plain_example_1.constant())
    assert float(made.least) == pytest.approx(size - omega, rel=1e-9)
    assert float(made.most) == pytest.approx(size + omega, rel=1e-9)
    # ||R||^2 / 2 of Example 1, which (t eta)^2 (1 - cos) tends to, by hand
    with ctx.workprec(first.bits):
        found = enclosure.residual(EXAMPLE_1)
        assert all(abs(float(found[place]) - R[place]) < 1e-12 for place in R)
    assert made.bounds(10**7)[0] * (10**7 * 0.025) ** 2 < plain_example_1.constant()
    assert made.bounds(10**7)[1] * (10**7 * 0.025) ** 2 > plain_example_1.constant()


def test_large_step_sizes_and_several_optimal_tokens_have_no_certificate():
    setting = two_tokens((1, 1), (1, 1), Fraction(9), Fraction(9))
    (state,) = enclosure.enclose(setting, 5, (5,))
    with pytest.raises(ValueError, match="step size"):
        enclosure.certify(state, Fraction(1))
    star = {("q", x): HALF if x in "ab" else -HALF for x in "abq"}
    terms = tuple(enclosure.Terms("q", x, 1, (("q", 1),), 1) for x in "ab")
    with pytest.raises(ValueError, match="several optimal tokens"):
        enclosure.residual(enclosure.EnclosedSetting(3, terms, star, Fraction(1), Fraction(1)))


# Refutations with error bars


def test_the_sketch_fails_on_example_1_at_the_papers_step_size():
    """The cosine of a step is not larger than the least optimal weight: from step 437 on."""
    before, after = enclosure.enclose(EXAMPLE_1, 437, (436, 437))
    assert enclosure.step_cosine(before) > 1 - max(enclosure.missed_attention(before), key=float)
    assert all(enclosure.step_cosine(after) < 1 - m for m in enclosure.missed_attention(after))


def test_no_sample_keeps_the_weight_that_the_proof_of_lemma_7_needs():
    """0 0 1 and 1 1 0, the second two thirds as often: from t_0 = 67 on phi_- is below it."""
    setting = two_tokens((3, 2), (2, 2), Fraction(8100), Fraction(36, 100) ** 2)
    t_0 = math.ceil(8 * 3 / 0.36)
    (state,) = enclosure.enclose(setting, t_0, (t_0,))
    assert enclosure.one_minus_cos(state) > 0  # W is no multiple of W*
    with ctx.workprec(state.bits):
        claimed = (-enclosure.norm(state)).exp()  # ||W*|| = 1
        assert all(m < claimed for m in enclosure.missed_attention(state))
        assert any(m > claimed / 3 for m in enclosure.missed_attention(state))  # 1 / L repairs it


@pytest.mark.parametrize(("rarity", "fails"), [("N", True), ("1/pi_min", False)])
def test_lemma_7_fails_as_printed_on_two_sentences(rarity, fails):
    """0 1 is 2^4000 times rarer than 1 0, eta = .36 < 1 / e; N = 4, L = 2, ||W*|| = 1, factor 4."""
    setting = two_tokens((2**4000, 1), (1, 1), Fraction(16_200), Fraction(36, 100) ** 2)
    steps = 5000
    (state,) = enclosure.enclose(setting, steps, (steps,))
    with ctx.workprec(state.bits):
        A, size = arb(16_200).sqrt(), enclosure.norm(state)
        G = enclosure.pull(setting, enclosure.forces(setting, state.W, A))
        star = {place: enclosure.exact(score) for place, score in setting.star.items()}
        many = arb(4) if rarity == "N" else arb(2) ** 4000
        alpha = 4 * many * 4 / size * (1 + (4 * size).log())
        left, right = -enclosure.inner(G, state.W), -(1 + alpha) * enclosure.inner(G, star) * size
        assert (left < right) if fails else (left > right)
        assert not ((left > right) if fails else (left < right))
