"""Numbers as a sentence says them."""

from __future__ import annotations

from fractions import Fraction

import pytest

from ntpverdicts.numbers import (
    amount,
    counted,
    interval,
    power_of_e,
    to_digits,
    whole,
    written,
    written_power,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (0.0123, "0.012"),
        (37019.0, "37000"),
        (-2.5e7, "−2.5·10⁷"),
        (1e-4, "10⁻⁴"),
        (9.99e9, "10¹⁰"),
    ],
)
def test_numbers_of_sentences_are_readable(value: float, text: str) -> None:
    assert written(value) == text


@pytest.mark.parametrize(
    ("value", "digits", "side", "text"),
    [
        (5.15, 1, 0, "5"),
        (5.15, 1, 1, "6"),
        (0.9855, 2, -1, "0.98"),
        (-1.7691, 3, 1, "-1.76"),
        (9.6e-7, 1, 1, "1e-06"),
        (1 + 1e-12, 2, 1, "1"),
        (19.9999999999999, 2, -1, "20"),
        (0.0, 2, 1, "0"),
    ],
)
def test_a_bound_is_rounded_to_its_own_side(
    value: float, digits: int, side: int, text: str
) -> None:
    assert to_digits(value, digits, side) == text


def test_powers_beyond_all_floats_are_readable() -> None:
    assert written_power(1234.5) == "3.2·10¹²³⁴"
    assert written_power(2.0) == "100"


def test_a_fraction_that_nobody_reads_is_a_decimal() -> None:
    assert amount(Fraction(156001, 160801)) == "156001/160801"
    assert amount(Fraction(6446273, 500000000)) == "0.0129"
    assert amount(Fraction(-1, 10**400)) == "−10⁻⁴⁰⁰"
    assert amount(39) == "39"


def test_a_power_of_e_has_three_digits_in_its_exponent() -> None:
    found = [power_of_e(one) for one in (2.5, 200.0, 2361.0, 4_461_000.0)]
    assert found == ["e^{2.5}", "e^{200}", "e^{2360}", r"e^{4.46\cdot 10^{6}}"]


def test_one_thing_is_counted_in_the_singular() -> None:
    assert counted(1, "common tokens") == "1 common token"
    assert counted(1, "queries") == "1 query"
    assert counted(0, "queries") == "0 queries"


def test_a_whole_number_beyond_a_billion_is_a_power_of_ten() -> None:
    assert whole(999_999_999) == "999999999"
    assert whole(1095481027102553601) == r"$1.095\cdot 10^{18}$"
    assert whole(10**400) == "$10^{400}$"


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (0.12498335865, 0.12498335866, "$[0.1249, 0.125]$"),
        (-0.00266301, -0.00266300, "$[-0.002664, -0.002663]$"),
        (-1e-20, Fraction(1, 3), "$[-10^{-20}, 0.3334]$"),
        (Fraction(1, 2), Fraction(1, 2), "$0.5$"),
        (-1, 0, "$[-1, 0]$"),
    ],
)
def test_an_interval_contains_what_it_shows(
    low: Fraction | float, high: Fraction | float, text: str
) -> None:
    assert interval(low, high) == text
