r"""Formulas in titles and evidence: in plain letters, in HTML, and filled with numbers."""

from __future__ import annotations

import pytest

from ntpverdicts import maths


@pytest.mark.parametrize(
    ("tex", "words"),
    [
        (r"at $\frac12 \log(M\eta)$", "at ½ log(Mη)"),
        (r"$e^{-C_1 t} \le x^{2}$", "e^(−C_1 t) ≤ x²"),
        (r"$\|W_{\mathrm{kq}}^*\|$", "‖W_kq*‖"),
        (r"$\iota$, $-d\Psi/d\Gamma$", "ι, −dΨ/dΓ"),
        (r"$\sum_{k \ne n} E^\prime_{kn}$", "∑_(k ≠ n) E′_kn"),
        (r"$\frac{t\eta}{2 L_{\max} \|W_{\mathrm{ov}}\|}$", "tη/(2 L_max ‖W_ov‖)"),
        (r"$\frac{a + b}{c}, \frac{a}{\|x\|}$", "(a + b)/c, a/‖x‖"),
        (r"$W_{\mathrm{ov}}x$", "W_ov x"),
        (r"$W_{\mathrm{kq}}^{(t)\top} x^\top$", "W_kq^(t)ᵀ xᵀ"),
        (r"$2\cdot 10^{-7}$ or $\sqrt{t\eta}$, $\sqrt 2$", "2·10⁻⁷ or √(tη), √2"),
        (r"$\bigl\langle \nabla\mathcal L, W \bigr\rangle > 0$", "⟨∇L, W⟩ > 0"),
        (r"$(|\mathcal V|-1)\,2\log t$", "(|V|−1) 2 log t"),
        (r"$\tilde x \in \{0, 1\}$, $\operatorname{rank} A$", "x̃ ∈ {0, 1}, rank A"),
        (r"$\frac{1}{2\eta}\,y$, $\frac{ab}{2\|x\|}$", "(1/(2η)) y, ab/(2‖x‖)"),
        (
            r"$\frac{\log t}{t}$, $\log\frac1t$, $\frac{\log^2 t}{t}$",
            "(log t)/t, log(1/t), (log² t)/t",
        ),
        (r"$2\sqrt2S$, $\mathbf 1\mathbf 1^\top$, $\frac{dh}{dt}$", "2√2 S, 𝟏𝟏ᵀ, dh/dt"),
        (r"$P^\perp_v$, $x >_q y$, $f := \lceil \frac xy \rceil$", "P^⊥_v, x >_q y, f := ⌈x/y⌉"),
        (r"$x \le 1 \text{ for } y = 2,\ \text{all } z$", "x ≤ 1 for y = 2, all z"),
        (r"$\begin{cases} 1 & \text{if } x,\\ 0 & \text{else} \end{cases}$", "{1 if x; 0 else}"),
        (r"$A = \begin{pmatrix} 1 & 2 \\[2pt] 3 & 4 \end{pmatrix}$", "A = (1, 2; 3, 4)"),
        (r"$\left(\begin{array}{cc} a & b \\ c & d \end{array}\right)$", "(a, b; c, d)"),
        (r"$\begin{aligned} a &= b,\\ c &= d \end{aligned}$", "a = b, c = d"),
        (r"$\begin{pmatrix}x & 1\\2 & \frac{a}{b}\end{pmatrix}$", "(x, 1; 2, a/b)"),
        (r"$a \wedge \neg b$", "a ∧ ¬ b"),
        ("no formula_here {x}", "no formula_here {x}"),
        (r"\$5 and \$6, or $5", "$5 and $6, or $5"),
        (r"$\unknown{x}^{2", "$\\unknown{x}^{2"),
    ],
)
def test_formulas_in_plain_letters(tex: str, words: str):
    assert maths.plain(tex) == words


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("Then\n$$ a_n \\le b. $$\nSo $a$ and $b$.", ["Then", "  a_n ≤ b.", "So a and b."]),
        ("For $x$, $$ \\frac12 x $$ 3. For $y$", ["For x,", "  ½ x", "3. For y"]),
        (
            r"\begin{equation*} \begin{aligned} x &= \tfrac13 && \text{for } n,\\[1ex] y &\ge 2"
            r" \end{aligned} \tag{2-3} \end{equation*}",
            ["  x = ⅓ for n,", "  y ≥ 2 (2–3)"],
        ),
        (
            r"\begin{gather} a\\ b \end{gather}" "\n" r"\begin{equation} c \end{equation}",
            ["  a", "  b", "  c"],
        ),
    ],
)
def test_each_row_of_a_display_is_a_line(text: str, lines: list[str]):
    assert maths.plain(text).splitlines() == lines


def test_words_of_a_reader_hold_no_formula():
    tokens = "'$a' > '$b', cost $5 \\$"
    assert maths.plain(maths.verbatim(tokens)) == tokens
    assert maths.in_html(maths.verbatim("$x$ < 1")) == "$x$ &lt; 1"


def test_html_keeps_the_tex_for_a_book():
    html = maths.in_html(r'a < $x_{"1"} < y$')
    assert html == (
        'a &lt; <span class="ntp-tex" data-tex="x_{&quot;1&quot;} &lt; y">'
        "x_(&quot;1&quot;) &lt; y</span>"
    )
    assert maths.typeset(html, lambda tex: f"<math>{tex}</math>") == (
        'a &lt; <span class="math"><math>x_{"1"} < y</math></span>'
    )


def test_numbers_are_filled_in_inside_and_outside_of_formulas():
    words = {"tried": "5", "worst": "2e-07", "one": "1e+06"}
    text = r"{tried} of {{a}}: $L_{\max}^{tried} \le {worst}$, {one}, $\frac{a}{b}$, \$1"
    assert maths.filled(text, words) == (
        r"5 of {a}: $L_{\max}^{5} \le {2\cdot 10^{-7}}$, $10^{6}$, $\frac{a}{b}$, \$1"
    )
    with pytest.raises(KeyError):
        maths.filled("{other}", words)


@pytest.mark.parametrize(
    ("number", "tex"),
    [
        ("2.62e+03", "2620"),
        ("-7.2e+04", "-72000"),
        ("9.5e-03", "0.0095"),
        ("1e+05", "10^{5}"),
        ("-3e-04", r"-3\cdot 10^{-4}"),
        ("17", "17"),
    ],
)
def test_a_power_of_ten_stands_only_where_zeros_would_have_to_be_counted(number: str, tex: str):
    assert maths.in_tex(number) == tex


@pytest.mark.parametrize(
    ("printed", "text"),
    [
        ("1.0e-20", "$10^{-20}$"),
        ("-1.38586e-35", r"$-1.38586\cdot 10^{-35}$"),
        ("$t = 166265.0783737812$", r"$t = 1.663\cdot 10^{5}$"),
        ("$\\delta = 1e-10$, at 0.015848931924611134", r"$\delta = 10^{-10}$, at 0.01585"),
        ("0.500000000000000 and -2.0", "0.5 and -2"),
        ("0.0101658, 12345678901, 3/4, $10^{20}$", "0.0101658, 12345678901, 3/4, $10^{20}$"),
    ],
)
def test_a_number_that_a_program_printed_has_few_digits_in_a_text(printed: str, text: str):
    assert maths.few_digits(printed) == text


def test_words_of_a_reader_keep_their_digits():
    assert maths.few_digits("token 1e-05, $x = 1e-05$", words=False) == "token 1e-05, $x = 10^{-5}$"


@pytest.mark.parametrize(
    ("text", "value", "found"),
    [
        ("$t = {at}$", 0.2763102111592855, "$t = 0.2763$"),
        ("$t = {at}$", "2.466e+07", r"$t = 2.466\cdot 10^{7}$"),
        ("step {at}", 90000.0, "step 90000"),
        ("step {at}", 7.9e9, r"step $7.9\cdot 10^{9}$"),
        ("step {at} of {b}", 1234567, "step 1234567 of {b}"),
    ],
)
def test_the_place_of_a_slack_has_few_digits(text: str, value: object, found: str):
    assert maths.placed(text, value) == found


def test_a_long_text_is_cut_outside_of_formulas():
    text = r"at all the $W_{\mathrm{kq}} \le 2$ of the words"
    assert maths.shorten(text, 22) == r"at all the $W_{\mathrm{kq}} \le 2$ …"
    assert maths.shorten(text, 15) == "at all the …"
    assert maths.shorten("one two  three", 9) == "one two …"
    assert maths.shorten("one two", 9) == "one two"
    assert maths.shorten(r"\$1 two three", 6) == r"\$1 …"
