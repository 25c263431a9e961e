"""The closed form of Proposition 2, blocks, and the Hall condition, for orders of your own."""

import sympy as sp

import ntpcore as ntp
from ntpcore.data.order import PartialOrder
from ntpcore.exact import margin

k, m = sp.symbols("k m", positive=True)
above, below = ntp.closed_form(k, m)
print("closed form:", above, "and", below)
print("margin:", sp.simplify(above - below), "  sum:", sp.simplify(k * above + m * below))
print("squared norm:", sp.factor(k * above**2 + m * below**2))

orders = {
    "all pairs": PartialOrder.of("q", [(a, b) for a in "ab" for b in "cde"]),
    "five tokens": PartialOrder.of("q", [("a", "c"), ("a", "d"), ("a", "q"), ("b", "q")]),
}
for name, order in orders.items():
    solution = margin.solve(order)
    assert margin.certificate_errors(order, solution.scores, solution.multipliers) == []
    print(f"\n{name}: closed form right: {margin.satisfies_hall(order)}")
    if violation := margin.hall_violation(order):
        reached = {low for token in violation for low in order.below[token]}
        print(f"  S = {sorted(violation)} reaches only N(S) = {sorted(reached)}")
    for block in solution.blocks:
        upper, lower = ntp.closed_form(*block.size)
        print(f"  block {block.size}: {block.optimal} {upper}, {block.nonoptimal} {lower}")
    exact, printed = solution.scores, margin.closed_form_scores(order)
    print("  squared norms:", margin.norm_squared(exact), "and", margin.norm_squared(printed))
