"""The table of claims is found by formulas as one types them."""

from __future__ import annotations

from ntpverdicts.ledger_table import typed


def test_formulas_are_found_as_one_types_them() -> None:
    text = r"at $1/\pi_{\min}$, \$5, and $\|W_{\mathrm{kq}}\| \le \eta$"
    assert typed(text) == "1/pi_min |W_kq| le eta"
    assert typed("no formula") == ""
