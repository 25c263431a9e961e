"""Checks of the page on max-margin attention: equations (2), (3), (14) to (16), Proposition 2."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from itertools import product
from typing import Any

from ntpcore.data.dataset import Dataset, from_samples
from ntpcore.data.order import Pair, PartialOrder, analyse
from ntpcore.exact import margin
from ntpcore.verdicts.claims import Check, Control, Verdict

ORDERS = "partial orders"
FIVE_TOKENS = PartialOrder.of("q", {("a", "c"), ("a", "d"), ("a", "q"), ("b", "q")})


def small_orders(max_optimal: int, max_nonoptimal: int, max_pairs: int) -> Iterator[PartialOrder]:
    """Every bipartite order of these sizes, its tokens named; `max_pairs` bounds k times m.

    The first of the non-optimal tokens is the query.
    """
    for k, m in product(range(1, max_optimal + 1), range(1, max_nonoptimal + 1)):
        if k * m > max_pairs:
            continue
        uppers, lowers = "abcdefgh"[:k], "qtuvwxyz"[:m]
        edges = list(product(uppers, lowers))
        for chosen in product((False, True), repeat=k * m):
            pairs = [edge for edge, keep in zip(edges, chosen, strict=True) if keep]
            if len({a for a, _ in pairs}) == k and len({b for _, b in pairs}) == m:
                yield PartialOrder.of("q", pairs)


def has_data(order: PartialOrder) -> bool:
    """Whether some data set that satisfies Assumption 1 has this order.

    The query ends every sentence. Where it is not optimal itself, it lies below every optimal
    token; where it is, no other token can be.
    """
    if order.query in order.optimal:
        return order.optimal == (order.query,)
    return all(order.query in below for below in order.below.values())


def realize(order: PartialOrder) -> Dataset:
    """A data set with this order: one sentence for each optimal token, all its rivals in it.

    The collocation runs around the tokens in a cycle.

    Raises:
        ValueError: no realizable data set has this order.
    """
    if order.confused or not order.pairs or not has_data(order):
        raise ValueError(f"no realizable data set has the order of query {order.query!r}")
    tokens = sorted(order.compared)
    following = dict(zip(tokens, [*tokens[1:], tokens[0]], strict=True))
    samples: list[tuple[list[str], str]] = [([token], following[token]) for token in tokens]
    for a, below in order.below.items():
        others = [token for token in (a, *below) if token != order.query]
        samples.append(([*others, order.query], following[a]))
    return from_samples(samples, f"order of query {order.query}")


def failure_counts(orders: Iterable[PartialOrder]) -> dict[tuple[int, int], tuple[int, int]]:
    """For each (k, m), on how many orders the closed form fails, and how many there are."""
    counts: dict[tuple[int, int], tuple[int, int]] = {}
    for order in orders:
        size = len(order.optimal), len(order.nonoptimal)
        failed, tried = counts.get(size, (0, 0))
        wrong = margin.closed_form_scores(order) != margin.solve_scores(order)
        counts[size] = failed + wrong, tried + 1
    return counts


def with_most_blocks(orders: Iterable[PartialOrder], most_tokens: int) -> PartialOrder:
    """The order with the most blocks, then the most slack pairs, among those small enough."""
    drawable = [order for order in orders if len(order.compared) <= most_tokens]
    return max(drawable, key=_blocks_and_slack)


def _blocks_and_slack(order: PartialOrder) -> tuple[int, int]:
    """Number of blocks, and number of pairs with a margin above 1."""
    solution = margin.solve(order)
    slack = sum(solution.scores[a] - solution.scores[b] > 1 for a, b in order.pairs)
    return len(solution.blocks), slack


def check_huang2024_asm_2(max_vocabulary: int) -> Check:
    """An orthonormal vocabulary of |V| tokens exists in R^d iff d >= |V| (Assumption 2)."""
    label, unit = "huang2024-asm-2", "pairs of vocabulary size and dimension"
    tried = 0
    for size, dimension in product(range(1, max_vocabulary + 1), repeat=2):
        tried += 1
        if _orthonormal(_one_hot(size, dimension)) != (dimension >= size):
            return Check(
                label,
                Verdict.REFUTED,
                tried,
                unit,
                "One-hot vectors disagree with the rule.",
                witness=f"|V| = {size}, d = {dimension}",
            )
    return Check(
        label,
        Verdict.PROVED,
        tried,
        unit,
        f"One-hot vectors satisfy it exactly when d is at least |V|, for all sizes up to "
        f"{max_vocabulary}; so the assumption can be met, and it can fail.",
        by_hand=("more than d vectors of ℝᵈ are linearly dependent, so d ≥ |V| is needed",),
    )


def control_huang2024_asm_2() -> Control:
    """A repeated token and a token of length two are not orthonormal."""
    planted = [[[1, 0], [1, 0]], [[1, 0], [0, 2]]]
    caught = not any(_orthonormal(vectors) for vectors in planted)
    return Control(
        "Two equal tokens, and a token of length 2.",
        Verdict.REFUTED,
        Verdict.REFUTED if caught else Verdict.PROVED,
    )


def _one_hot(size: int, dimension: int) -> list[list[int]]:
    """The first `size` columns of an identity matrix, repeated once it runs out."""
    return [[int(i == j % dimension) for i in range(dimension)] for j in range(size)]


def _orthonormal(vectors: list[list[int]]) -> bool:
    """Whether the Gram matrix of these vectors is the identity."""
    return all(
        sum(x * y for x, y in zip(u, v, strict=True)) == (i == j)
        for i, u in enumerate(vectors)
        for j, v in enumerate(vectors)
    )


def check_huang2024_eq_2(multiplier: str = "1/n") -> Check:
    """W_ov* x = e_n(x) - (1/|V|) sum e_v solves (2), with squared norm |V| - 1, for every |V|.

    A column has two kinds of entries; its conditions of optimality are checked for a symbolic
    vocabulary size n with the given multiplier on each of its n - 1 constraints.
    """
    import sympy as sp

    n = sp.symbols("n", integer=True, positive=True)
    mu = sp.sympify(multiplier, locals={"n": n})
    right, wrong = 1 - 1 / n, -1 / n
    conditions = {
        "margin - 1": right - wrong - 1,
        "stationarity at n(x)": right - (n - 1) * mu,
        "stationarity elsewhere": wrong + mu,
        "squared norm": n * (right**2 + (n - 1) * wrong**2) - (n - 1),
    }
    return _judge_optimality(
        "huang2024-eq-2",
        "symbolic vocabulary sizes",
        conditions,
        mu,
        "All margins are exactly 1, every multiplier is 1/|V| > 0, and the squared norm is "
        "|V| - 1, for a symbolic size |V|.",
        "entries of a column other than n(x) are alike, so one of them stands for all",
    )


def _judge_optimality(
    label: str, unit: str, conditions: Mapping[str, Any], multiplier: Any, proof: str, *steps: str
) -> Check:
    """Prove a solution optimal: every condition vanishes, and the multiplier is positive.

    Args:
        label: the claim.
        unit: what the symbols range over.
        conditions: sympy expressions that must be identically zero, by name.
        multiplier: the multiplier of every constraint, a sympy expression.
        proof: what is then proved.
        steps: what was done by hand beside uniqueness.
    """
    import sympy as sp

    left = {name: sp.simplify(value) for name, value in conditions.items()}
    broken = [f"{name} = {value}" for name, value in left.items() if value != 0]
    if broken or multiplier.is_positive is not True:
        return Check(
            label,
            Verdict.REFUTED,
            1,
            unit,
            "A condition of optimality fails.",
            witness="; ".join(broken) or f"the multiplier {multiplier} is not positive",
        )
    by_hand = ("strict convexity makes the solution unique", *steps)
    return Check(label, Verdict.PROVED, 1, unit, proof, by_hand=by_hand)


def control_huang2024_eq_2() -> Control:
    """A wrong multiplier must break stationarity."""
    found = check_huang2024_eq_2("1/(n + 1)").verdict
    return Control(
        "The multiplier 1/(|V|+1) in place of 1/|V|.",
        Verdict.REFUTED,
        found,
    )


def check_huang2024_eq_3(datasets: Iterable[Dataset], **parameters: int) -> Check:
    """(3) has a solution with a certificate, and it separates every sample as (3) asks."""
    label, unit = "huang2024-eq-3", "data sets"
    tried = constraints = 0
    for data in datasets:
        tried += 1
        orders = analyse(data).orders or {}
        columns = margin.W_kq_star(orders)
        wrong, count = sample_violations(data, {q: c.scores for q, c in columns.items()})
        constraints += count
        for query, column in columns.items():
            wrong += margin.certificate_errors(orders[query], column.scores, column.multipliers)
        if wrong:
            return Check(
                label, Verdict.REFUTED, tried, unit, "A constraint of (3) fails.", witness=wrong[0]
            )
    if not constraints:
        return Check(label, Verdict.OPEN, 0, unit, "No sample compares two tokens.")
    return Check(
        label,
        Verdict.CONSISTENT,
        tried,
        unit,
        f"On {tried} realizable data sets the exact solution meets all {constraints} constraints, "
        "taken from the samples one by one, and its multipliers certify that it is the smallest.",
        parameters=parameters,
    )


def control_huang2024_eq_3(data: Dataset) -> Control:
    """Scores shrunk by a tenth must violate constraints."""
    columns = margin.W_kq_star(analyse(data).orders or {})
    shrunk = {
        query: {token: score * Fraction(9, 10) for token, score in column.scores.items()}
        for query, column in columns.items()
    }
    wrong, _ = sample_violations(data, shrunk)
    return Control(
        "The solution of Example 1, shrunk by a tenth.",
        Verdict.REFUTED,
        Verdict.REFUTED if wrong else Verdict.CONSISTENT,
    )


def sample_violations(data: Dataset, columns: dict[str, margin.Scores]) -> tuple[list[str], int]:
    """The constraints of (3) that these columns break, sample by sample, and how many there are.

    Written from the samples alone: positions with n(x) = next token against all others.
    """
    collocation = {s.sentence[0]: s.next_token for s in data.samples() if len(s.sentence) == 1}
    wrong, count = [], 0
    for sample in data.samples():
        query = sample.sentence[-1]
        column = columns.get(query, {})
        tokens = dict.fromkeys(sample.sentence)
        for a, b in product(tokens, tokens):
            if collocation[a] == sample.next_token != collocation[b]:
                count += 1
                difference = column.get(a, Fraction(0)) - column.get(b, Fraction(0))
                if difference < 1:
                    wrong.append(f"{' '.join(sample.sentence)}: {a} - {b} = {difference}")
    return wrong, count


def check_huang2024_prop_2(orders: Iterable[PartialOrder], **parameters: int) -> Check:
    """The closed form equals the exact max-margin solution (huang2024, Proposition 2)."""
    return _judge_closed_form("huang2024-prop-2", orders, parameters)


def control_huang2024_prop_2() -> Control:
    """On complete orders the proposition holds, and the check must not refute it."""
    complete = [
        PartialOrder.of("q", product("abc"[:k], "qwxyz"[:m])) for k in (1, 2) for m in (1, 3)
    ]
    return Control(
        "Complete orders only, on which the closed form is right; a check that refutes everything "
        "would refute them, too.",
        Verdict.CONSISTENT,
        check_huang2024_prop_2(complete).verdict,
    )


def check_huang2024_prop_4(orders: Iterable[PartialOrder], **parameters: int) -> Check:
    """Proposition 4 restates Proposition 2 and is judged by the same comparison."""
    return _judge_closed_form("huang2024-prop-4", orders, parameters)


def control_huang2024_prop_4() -> Control:
    """A star is complete, so that the restated proposition holds on it."""
    star = PartialOrder.of("q", {("a", "q"), ("a", "b")})
    return Control(
        "A single optimal token, for which the closed form is right.",
        Verdict.CONSISTENT,
        check_huang2024_prop_4([star]).verdict,
    )


def _judge_closed_form(
    label: str, orders: Iterable[PartialOrder], parameters: dict[str, int]
) -> Check:
    """Compare the closed form with the certified solution, and show the smallest failure."""
    tried = failed = 0
    fewest = 0  # optimal tokens of an order on which it fails
    smallest: PartialOrder | None = None
    for order in orders:
        tried += 1
        solution = margin.solve(order)
        errors = margin.certificate_errors(order, solution.scores, solution.multipliers)
        if errors:
            raise AssertionError(f"query {order.query!r}: {errors[0]}")  # the solver is wrong
        if margin.closed_form_scores(order) != solution.scores:
            failed += 1
            fewest = min(fewest or len(order.optimal), len(order.optimal))
            if smallest is None or _size(order) < _size(smallest):
                smallest = order
    if not tried:
        return Check(
            label, Verdict.OPEN, 0, ORDERS, "No query orders two tokens, nothing to judge."
        )
    if smallest is not None:
        printed = margin.norm_squared(margin.closed_form_scores(smallest))
        true = margin.norm_squared(margin.solve_scores(smallest))
        return Check(
            label,
            Verdict.REFUTED,
            tried,
            ORDERS,
            f"The closed form differs from the certified solution on {failed} of {tried} orders, "
            f"none of which has fewer than {fewest} optimal tokens.",
            witness=f"{describe_order(smallest)}: squared norm {printed} by the closed form, "
            f"{true} at the optimum.",
            numbers={
                "failed": str(failed),
                "tried": str(tried),
                "fewest": str(fewest),
                "printed": str(printed),
                "true": str(true),
            },
            parameters=parameters,
        )
    return Check(
        label,
        Verdict.CONSISTENT,
        tried,
        ORDERS,
        f"The closed form equals the certified solution on all {tried} orders tried.",
        numbers={"failed": "0", "tried": str(tried)},
        parameters=parameters,
    )


def _size(order: PartialOrder) -> tuple[int, int]:
    """Tokens, then pairs: what makes one witness smaller than another."""
    return len(order.compared), len(order.pairs)


def describe_order(order: PartialOrder) -> str:
    """An order in words, cut where it is long."""
    rows = [f"{a} > {', '.join(below)}" for a, below in list(order.below.items())[:6]]
    more = "; ..." if len(order.below) > len(rows) else ""
    text = f"query {order.query}: {'; '.join(rows)}{more}"
    return text if len(text) <= 300 else text[:297] + "..."


def check_huang2024_prop_2_corrected(orders: Iterable[PartialOrder], **parameters: int) -> Check:
    """The closed form is right iff k |N(S)| >= m |S| for every set S of optimal tokens."""
    label = "huang2024-prop-2-corrected"
    tried = right = 0
    for order in orders:
        tried += 1
        is_right = margin.closed_form_scores(order) == margin.solve_scores(order)
        right += is_right
        if is_right != hall_by_subsets(order):
            return Check(
                label,
                Verdict.REFUTED,
                tried,
                ORDERS,
                "Closed form and Hall condition disagree.",
                witness=describe_order(order),
            )
    return Check(
        label,
        Verdict.CONSISTENT,
        tried,
        ORDERS,
        f"The closed form is right on {right} of {tried} orders, and these are exactly the ones "
        "whose subsets all satisfy the Hall condition. Proof on the page.",
        numbers={"right": str(right), "tried": str(tried)},
        parameters=parameters,
        by_hand=("the equivalence for all orders, by a transportation problem",),
    )


def control_huang2024_prop_2_corrected() -> Control:
    """A Hall condition that looks at single tokens only must be caught on some order."""
    caught = any(
        (margin.closed_form_scores(order) == margin.solve_scores(order))
        != hall_by_subsets(order, largest=1)
        for order in small_orders(3, 3, 9)
    )
    return Control(
        "A Hall condition tested on single tokens only.",
        Verdict.REFUTED,
        Verdict.REFUTED if caught else Verdict.CONSISTENT,
    )


def hall_by_subsets(order: PartialOrder, largest: int | None = None) -> bool:
    """The Hall condition, tried on every subset; no flow, so that it can judge the solver."""
    uppers = order.optimal
    k, m = len(uppers), len(order.nonoptimal)
    for chosen in product((False, True), repeat=k):
        subset = [a for a, keep in zip(uppers, chosen, strict=True) if keep]
        near = {b for a in subset for b in order.below[a]}
        if (largest is None or len(subset) <= largest) and k * len(near) < m * len(subset):
            return False
    return True


def check_ours_complete_order(multiplier: str = "1/(k + m)") -> Check:
    """On a complete order the scores m/(k+m), -k/(k+m) are optimal, for symbolic k and m.

    The conditions of Karush, Kuhn and Tucker are evaluated with one explicit multiplier for each
    of the k m pairs; nothing is solved, and no symmetry of the solution is assumed.
    """
    import sympy as sp

    k, m = sp.symbols("k m", integer=True, positive=True)
    each = sp.sympify(multiplier, locals={"k": k, "m": m})
    above, below = m / (k + m), -k / (k + m)
    conditions = {
        "margin - 1": above - below - 1,
        "stationarity, optimal": above - m * each,
        "stationarity, non-optimal": below + k * each,
        "squared norm - km/(k+m)": k * above**2 + m * below**2 - k * m / (k + m),
    }
    return _judge_optimality(
        "ours-complete-order",
        "symbolic sizes (k, m)",
        conditions,
        each,
        "With the multiplier 1/(k+m) > 0 on each pair, every margin is exactly 1 and both "
        "gradients of the Lagrangian vanish identically in k and m; the squared norm is km/(k+m).",
    )


def control_ours_complete_order() -> Control:
    """Twice the right multiplier must break stationarity."""
    return Control(
        "The multiplier 2/(k+m), twice the right one.",
        Verdict.REFUTED,
        check_ours_complete_order("2/(k + m)").verdict,
    )


def check_ours_block_form(orders: Iterable[PartialOrder], **parameters: int) -> Check:
    """Every column is a block form, with an exact certificate and squared norm sum km/(k+m)."""
    label = "ours-block-form"
    tried = most = 0
    for order in orders:
        tried += 1
        solution = margin.solve(order)
        errors = margin.certificate_errors(order, solution.scores, solution.multipliers)
        errors += block_errors(solution)
        most = max(most, len(solution.blocks))
        if errors:
            return Check(
                label, Verdict.REFUTED, tried, ORDERS, errors[0], witness=describe_order(order)
            )
    return Check(
        label,
        Verdict.CONSISTENT,
        tried,
        ORDERS,
        f"Certificate and block form hold on all {tried} orders, which have up to {most} blocks. "
        "Proof on the page.",
        numbers={"tried": str(tried), "blocks": str(most)},
        parameters=parameters,
        by_hand=("the block form for all orders, from the conditions of optimality",),
    )


def control_ours_block_form() -> Control:
    """Two blocks with swapped scores are no longer a block form."""
    solution = margin.solve(FIVE_TOKENS)
    k_and_m_swapped = {token: -score for token, score in solution.scores.items()}
    errors = block_errors(margin.Solution(k_and_m_swapped, solution.blocks, {}))
    return Control(
        "The solution of the five-token order with k and m swapped.",
        Verdict.REFUTED,
        Verdict.REFUTED if errors else Verdict.CONSISTENT,
    )


def block_errors(solution: margin.Solution) -> list[str]:
    """Where scores are not m/(k+m) and -k/(k+m) by block, or the norm not the sum of km/(k+m)."""
    errors = []
    for block in solution.blocks:
        k, m = block.size
        expected = dict.fromkeys(block.optimal, Fraction(m, k + m))
        expected |= dict.fromkeys(block.nonoptimal, Fraction(-k, k + m))
        errors += [
            f"block ({k},{m}): {token} scores {solution.scores[token]}, not {score}"
            for token, score in expected.items()
            if solution.scores[token] != score
        ]
    values = [block.value for block in solution.blocks]
    if values != sorted(set(values), reverse=True):
        errors.append("two blocks share a value, or are out of order")
    total = sum((Fraction(k * m, k + m) for k, m in (b.size for b in solution.blocks)), Fraction(0))
    if margin.norm_squared(solution.scores) != total:
        errors.append(f"squared norm {margin.norm_squared(solution.scores)}, not {total}")
    return errors


def check_huang2024_eq_14(orthogonal: bool = True) -> Check:
    """Rotating the tokens rotates the problem: U W U^T has the same norm and the same margins."""
    import sympy as sp

    label, unit = "huang2024-eq-14", "symbolic dimensions"
    d = sp.symbols("d", integer=True, positive=True)
    u, w = sp.MatrixSymbol("U", d, d), sp.MatrixSymbol("W", d, d)
    x, q = sp.MatrixSymbol("x", d, 1), sp.MatrixSymbol("q", d, 1)
    fact = sp.Q.orthogonal(u) if orthogonal else sp.Q.invertible(u)
    # ||U W U^T||^2 = Tr(U W U^T U W^T U^T) = Tr(U^T U W U^T U W^T), the last step by Tr(AB)=Tr(BA)
    norm = sp.refine(u.T * u * w * u.T * u * w.T, fact)
    score = sp.refine((u * x).T * (u * w * u.T) * (u * q), fact)
    norm, score = norm.doit(), score.doit()
    if norm != w * w.T or score != x.T * w * q:
        return Check(
            label,
            Verdict.REFUTED,
            1,
            unit,
            "The rotated problem is another problem.",
            witness=f"xᵀ W q becomes {score}",
        )
    return Check(
        label,
        Verdict.PROVED,
        1,
        unit,
        "For a symbolic dimension and an orthogonal U, margins and norm of U W Uᵀ on rotated "
        "tokens equal those of W on the tokens themselves.",
        by_hand=("the trace of a product does not change when its factors are cycled",),
    )


def control_huang2024_eq_14() -> Control:
    """A matrix that is only invertible does not keep norms and margins."""
    return Control(
        "U only invertible, not orthogonal.",
        Verdict.REFUTED,
        check_huang2024_eq_14(orthogonal=False).verdict,
    )


def check_huang2024_eq_15(datasets: Iterable[Dataset], **parameters: int) -> Check:
    """The columns, solved apart, solve the problem of the whole matrix.

    All entries (token, query) are the variables of one problem; its conditions of optimality are
    verified at once, for the solutions and multipliers of the columns.
    """
    label, unit = "huang2024-eq-15", "data sets"
    tried = entries = 0
    for data in datasets:
        tried += 1
        orders = analyse(data).orders or {}
        whole, scores, multipliers = _whole_problem(orders, margin.W_kq_star(orders))
        entries += len(scores)
        errors = margin.certificate_errors(whole, scores, multipliers)
        if errors:
            return Check(
                label, Verdict.REFUTED, tried, unit, "The columns do not add up.", witness=errors[0]
            )
    if not entries:
        return Check(label, Verdict.OPEN, 0, unit, "No sample compares two tokens.")
    return Check(
        label,
        Verdict.CONSISTENT,
        tried,
        unit,
        f"On {tried} data sets the columns, solved one by one, satisfy the optimality conditions "
        f"of the whole matrix ({entries} entries that any constraint touches).",
        parameters=parameters,
        by_hand=("no constraint joins two columns, and the squared norm is their sum",),
    )


def control_huang2024_eq_15(data: Dataset) -> Control:
    """A column that is left out must be missed."""
    orders = analyse(data).orders or {}
    columns = margin.W_kq_star(orders)
    columns.pop(next(iter(columns)))
    whole, scores, multipliers = _whole_problem(orders, columns)
    errors = margin.certificate_errors(whole, scores, multipliers)
    return Control(
        "One column of the matrix left out.",
        Verdict.REFUTED,
        Verdict.REFUTED if errors else Verdict.CONSISTENT,
    )


def _whole_problem(
    orders: dict[str, PartialOrder] | object, columns: dict[str, margin.Solution]
) -> tuple[PartialOrder, margin.Scores, margin.Multipliers]:
    """One order whose tokens are the entries "token|query" of the matrix, with all its scores."""
    assert isinstance(orders, dict)
    pairs = {(f"{a}|{q}", f"{b}|{q}") for q, order in orders.items() for a, b in order.pairs}
    scores = {f"{x}|{q}": score for q, col in columns.items() for x, score in col.scores.items()}
    multipliers = {
        (f"{a}|{q}", f"{b}|{q}"): value
        for q, col in columns.items()
        for (a, b), value in col.multipliers.items()
    }
    return PartialOrder.of("all", pairs), scores, multipliers


def check_huang2024_eq_16(orders: Iterable[PartialOrder], **parameters: int) -> Check:
    """The dual is maximal where its gradient vanishes: multipliers that do so are not negative.

    Where the gradient vanishes all constraints are tight. On a tree the multipliers that do this
    are unique and are computed by peeling off leaves; on any order, non-negative ones exist iff
    the Hall condition holds.
    """
    label = "huang2024-eq-16"
    tried = failed = 0
    smallest: PartialOrder | None = None
    for order in orders:
        tried += 1
        if margin.hall_violation(order):
            failed += 1
            if smallest is None or _size(order) < _size(smallest):
                smallest = order
    if not tried:
        return Check(
            label, Verdict.OPEN, 0, ORDERS, "No query orders two tokens, nothing to judge."
        )
    if smallest is None:
        return Check(
            label,
            Verdict.CONSISTENT,
            tried,
            ORDERS,
            f"On all {tried} orders the gradient vanishes at non-negative multipliers.",
            parameters=parameters,
        )
    return Check(
        label,
        Verdict.REFUTED,
        tried,
        ORDERS,
        f"On {failed} of {tried} orders the gradient of the dual vanishes nowhere on the "
        "non-negative multipliers, over which the dual has to be maximised.",
        witness=f"{describe_order(smallest)}: {_negative(smallest)}",
        numbers={"failed": str(failed), "tried": str(tried)},
        parameters=parameters,
    )


def control_huang2024_eq_16() -> Control:
    """On a complete order the multipliers 1/(k+m) are positive, and the check must see it."""
    complete = PartialOrder.of("q", product("ab", "qc"))
    return Control(
        "A complete order, on which all multipliers are positive.",
        Verdict.CONSISTENT,
        check_huang2024_eq_16([complete]).verdict,
    )


def _negative(order: PartialOrder) -> str:
    """The negative multiplier of a tree, or else the set that breaks the Hall condition."""
    multipliers = tight_multipliers(order)
    if multipliers is None:
        stuck = ", ".join(sorted(margin.hall_violation(order))[:10])
        return f"the optimal tokens {stuck} have too few neighbours"
    (a, b), value = min(multipliers.items(), key=lambda item: (item[1], item[0]))
    return f"the multiplier of {a} > {b} would have to be {value}"


def tight_multipliers(order: PartialOrder) -> margin.Multipliers | None:
    """Multipliers that make the closed form stationary, on an order whose graph is a tree.

    A leaf's only edge must carry the leaf's whole score; taking the leaf off leaves a smaller tree.
    None where the graph has a cycle or several components.
    """
    left = {token: abs(score) for token, score in margin.closed_form_scores(order).items()}
    if len(order.pairs) != len(left) - 1:
        return None
    edges: dict[str, set[Pair]] = {token: set() for token in left}
    for pair in order.pairs:
        for token in pair:
            edges[token].add(pair)
    found: margin.Multipliers = {}
    leaves = sorted(token for token in left if len(edges[token]) == 1)
    while leaves:
        leaf = leaves.pop()
        if not edges[leaf]:  # its edge went with the leaf at the other end
            continue
        edge = edges[leaf].pop()
        other = edge[1] if leaf == edge[0] else edge[0]
        found[edge] = left[leaf]
        left[other] -= left[leaf]
        edges[other].remove(edge)
        if len(edges[other]) == 1:
            leaves.append(other)
    if len(found) < len(order.pairs):
        return None
    return found
