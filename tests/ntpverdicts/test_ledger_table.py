"""The table of claims is found by formulas as one types them."""

from __future__ import annotations

from ntpverdicts.ledger_table import LONGEST, first_sentences, typed


def test_formulas_are_found_as_one_types_them() -> None:
    text = r"at $1/\pi_{\min}$, \$5, and $\|W_{\mathrm{kq}}\| \le \eta$"
    assert typed(text) == "1/pi_min |W_kq| le eta"
    assert typed("no formula") == ""


def test_evidence_is_shown_in_whole_sentences() -> None:
    long = f"It holds {'again ' * LONGEST}at all times."
    assert first_sentences(long) == long
    assert first_sentences(f"It holds.  {long} Next.") == "It holds."
    short = r"In (3) $x. Y$ is 0.5, as Prop. 2 says. $x$ is the rest."
    assert first_sentences(short) == short
