r"""Words with formulas: text in which TeX stands between dollar signs.

Titles of claims and what checks say of them are such texts. A book typesets the formulas; a
terminal, an attribute of HTML and a search show them in plain letters, as `plain` writes them. A
dollar sign that begins no formula is written `\$`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from html import escape, unescape

FORMULA = re.compile(r"(?<!\\)\$((?:[^$\\]|\\.)+)\$", re.DOTALL)
FIELD = re.compile(r"\{([A-Za-z_]\w*)\}")
SCIENTIFIC = re.compile(r"([-−]?)(\d+(?:\.\d+)?)e([+-]?\d+)")
WHOLE = range(-3, 5)  # powers of ten whose zeros nobody has to count, as in `numbers.written`
MARKED = re.compile(r'<span class="ntp-tex" data-tex="([^"]*)">[^<]*</span>')

SIGNS = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "varepsilon": "ε",
    "zeta": "ζ", "eta": "η", "theta": "θ", "kappa": "κ", "lambda": "λ", "mu": "μ", "nu": "ν",
    "xi": "ξ", "pi": "π", "rho": "ρ", "sigma": "σ", "tau": "τ", "phi": "φ", "varphi": "φ",
    "iota": "ι", "chi": "χ", "psi": "ψ", "omega": "ω", "Gamma": "Γ", "Delta": "Δ", "Theta": "Θ",
    "Lambda": "Λ", "Xi": "Ξ", "Pi": "Π", "Sigma": "Σ", "Phi": "Φ", "Psi": "Ψ", "Omega": "Ω",
    "ell": "ℓ", "infty": "∞", "partial": "∂", "nabla": "∇", "emptyset": "∅", "prime": "′",
    "cdot": "·", "times": "×", "pm": "±", "circ": "∘", "odot": "⊙", "otimes": "⊗", "top": "ᵀ",
    "sum": "∑", "prod": "∏", "int": "∫", "langle": "⟨", "rangle": "⟩", "lfloor": "⌊",
    "rfloor": "⌋", "lceil": "⌈", "rceil": "⌉", "dots": "…", "ldots": "…", "cdots": "⋯",
    "|": "‖", "{": "{", "}": "}", "%": "%", "#": "#", "&": "&", "_": "_", "$": "$", "-": "",
    "mid": "|", "ast": "*", "star": "*", "lbrace": "{", "rbrace": "}", "forall": "∀",
    "lVert": "‖", "rVert": "‖", "Vert": "‖", "lvert": "|", "rvert": "|", "vert": "|",
    "surd": "√", "setminus": "∖",
}  # fmt: skip
RELATIONS = {
    "le": "≤", "leq": "≤", "ge": "≥", "geq": "≥", "ne": "≠", "neq": "≠", "approx": "≈",
    "sim": "∼", "to": "→", "mapsto": "↦", "in": "∈", "notin": "∉", "subset": "⊂",
    "subseteq": "⊆", "ll": "≪", "gg": "≫", "propto": "∝", "equiv": "≡", "cup": "∪", "cap": "∩",
    "rightarrow": "→", "Rightarrow": "⇒", "iff": "⇔", "succ": "≻", "prec": "≺", "lt": "<",
    "gt": ">", "perp": "⊥", "parallel": "∥",
}  # fmt: skip
SPACES = frozenset({",", ";", ":", " ", "quad", "qquad", "thinspace", "enspace"})
NOTHING = re.compile(r"(?:left|right|[bB]igg?[lrm]?|displaystyle|textstyle|limits|!)\Z")
UNWRAPPED = frozenset({
    "mathrm", "mathcal", "mathbf", "mathbb", "mathsf", "mathit", "boldsymbol", "operatorname",
    "operatorname*", "text", "textrm", "textit", "texttt", "mathtt", "mbox", "underline",
})  # fmt: skip
ACCENTS = {"tilde": "\u0303", "hat": "\u0302", "bar": "\u0304", "dot": "\u0307", "vec": "\u20d7"}
ACCENTS |= {"widetilde": "\u0303", "widehat": "\u0302", "overline": "\u0304"}
VULGAR = {"1/2": "½", "1/3": "⅓", "2/3": "⅔", "1/4": "¼", "3/4": "¾"}
RAISED = {"*": "*", "ᵀ": "ᵀ", "′": "′", "″": "″", "+": "⁺", "-": "⁻", "−": "⁻"}
DIGITS = str.maketrans("0123456789-−", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁻")
TOKEN = re.compile(r"\\[A-Za-z]+\*?|\\.|\s+|.", re.DOTALL)
WORDS = frozenset({"log", "ln", "exp", "cos", "sin", "min", "max", "tanh", "arg", "sup", "inf"})
COMPARED = "=<>≤≥≠≈∼→↦∈∉⊂⊆≪≫∝≡∪∩⇒⇔≻≺⊥∥"


def parts(text: str) -> list[tuple[str, bool]]:
    r"""The words and the formulas of a text in turn, each with whether it is a formula.

    Dollar signs around formulas are left out, and `\$` in words is a dollar sign.
    """
    return [(part if tex else part.replace(r"\$", "$"), tex) for part, tex in _raw(text) if part]


def verbatim(text: str) -> str:
    """Words that hold no formula, whatever they are: tokens and names of a reader's data."""
    return text.replace("$", r"\$")


def plain(text: str) -> str:
    r"""A text with its formulas in plain letters: `$\|W_{\mathrm{ov}}\|$` as ‖W_ov‖."""
    return "".join(spelled(part) if tex else part for part, tex in parts(text))


def in_html(text: str) -> str:
    """A text as HTML: formulas in plain letters, marked with their TeX for `typeset`."""
    return "".join(
        f'<span class="ntp-tex" data-tex="{escape(part)}">{escape(spelled(part))}</span>'
        if tex
        else escape(part)
        for part, tex in parts(text)
    )


def in_tex(number: str) -> str:
    r"""A number as TeX: `3e-07` as `3\cdot 10^{-7}`, `2.62e+03` as `2620`; others stay."""
    match = SCIENTIFIC.fullmatch(number)
    if match is None:
        return number
    size = Decimal(f"{match[2]}e{match[3]}")
    if size.adjusted() in WHOLE:
        return f"{match[1]}{size:f}"
    factor = "" if float(match[2]) == 1 else rf"{match[2]}\cdot "
    return rf"{match[1]}{factor}10^{{{int(match[3])}}}"


def in_words(number: str) -> str:
    """A number in a text: one with a power of ten as a formula; others stay."""
    return f"${in_tex(number)}$" if SCIENTIFIC.fullmatch(number) else number


def shorten(text: str, longest: int) -> str:
    """A text cut at a word and outside of formulas where more than `longest` letters would show."""
    text = " ".join(text.split())
    if len(plain(text)) <= longest:
        return text
    kept, room = "", longest
    for part, tex in parts(text):
        shown = spelled(part) if tex else part
        if len(shown) > room:
            if not tex:
                kept += verbatim(part[:room].rsplit(" ", 1)[0])
            break
        kept, room = kept + (f"${part}$" if tex else verbatim(part)), room - len(shown)
    return kept.rstrip(" ,;:") + " …"


def filled(text: str, words: Mapping[str, str]) -> str:
    """A text with the values of the names that it holds in braces.

    Outside of formulas a brace that belongs to no name is doubled, as `str.format` has it; inside
    formulas braces are TeX's, but for those around a name that is known.

    Raises:
        KeyError: it names an unknown value outside of formulas.
    """
    numbers = {name: in_words(value) for name, value in words.items()}

    def value(match: re.Match[str]) -> str:
        known = match[1] in words
        return f"{{{in_tex(words[match[1]])}}}" if known else match[0]

    return "".join(
        f"${FIELD.sub(value, part)}$" if tex else part.format(**numbers) for part, tex in _raw(text)
    )


def outside(text: str) -> str:
    """A text without its formulas."""
    return FORMULA.sub("", text)


def _raw(text: str) -> list[tuple[str, bool]]:
    r"""As `parts`, with `\$` left in words."""
    # What a pattern with a group splits is words and, at every other place, what the group holds.
    return [(part, number % 2 == 1) for number, part in enumerate(FORMULA.split(text))]


def typeset(html: str, setter: Callable[[str], str]) -> str:
    """HTML with the formulas that `in_html` marked as a setter of TeX gives them."""
    return MARKED.sub(lambda match: f'<span class="math">{setter(unescape(match[1]))}</span>', html)


def spelled(tex: str) -> str:
    """A formula in plain letters."""
    found = _row(TOKEN.findall(tex), [])
    found = re.sub(rf"\s*([{COMPARED}])\s*", r" \1 ", found)
    found = re.sub(r"(?<=⟨)\s+|\s+(?=⟩)|\s*(?=·)|(?<=·)\s*", "", found)
    return re.sub(r"\s+", " ", found).strip()


def _row(tokens: list[str], ends: list[str]) -> str:
    """What the tokens up to one of `ends` look like; they are taken off the list."""
    found, indexed = "", False
    while tokens and tokens[0] not in ends:
        token = tokens[0]
        if token in ("^", "_"):
            tokens.pop(0)
            found, indexed = found.rstrip() + _script(token, _argument(tokens)), True
            continue
        if token == "'":
            tokens.pop(0)
            found += "′"
        else:
            piece = _argument(tokens)
            named = token[1:] in WORDS and found[-1:].isalnum()
            found += (" " if piece[:1].isalnum() and (indexed or named) else "") + piece
        indexed = False
    return found


def _argument(tokens: list[str]) -> str:
    """One piece: a group in braces, a command with what it takes, or a sign."""
    while tokens and tokens[0].isspace():
        if len(tokens) > 1 and tokens[1] in ("^", "_"):
            tokens.pop(0)
            continue
        tokens.pop(0)
        return " "
    if not tokens:
        return ""
    token = tokens.pop(0)
    if token == "{":
        inner = _row(tokens, ["}"])
        if tokens:
            tokens.pop(0)
        return inner
    if not token.startswith("\\"):
        return "−" if token == "-" else " " if token == "~" else token
    return _command(token[1:], tokens)


def _command(name: str, tokens: list[str]) -> str:
    """What a command looks like, with the arguments that it takes."""
    if name in ("frac", "dfrac", "tfrac"):
        above, below = _next(tokens), _next(tokens)
        quotient = f"{_grouped(above)}/{_grouped(below, products=True)}"
        return VULGAR.get(quotient, quotient)
    if name == "sqrt":
        inner = _next(tokens)
        return f"√{inner}" if len(inner) == 1 or inner.isdigit() else f"√({inner})"
    if name in UNWRAPPED:
        return _next(tokens)
    if name in ACCENTS:
        inner = _next(tokens)
        return inner[:1] + ACCENTS[name] + inner[1:]
    if NOTHING.match(name):
        return ""
    if name in SPACES:
        return " "
    if name in RELATIONS:
        return f" {RELATIONS[name]} "
    return SIGNS.get(name, name)


def _next(tokens: list[str]) -> str:
    """The argument of a command; blanks before it do not count."""
    while tokens and tokens[0].isspace():
        tokens.pop(0)
    return _argument(tokens).strip()


def _script(sign: str, content: str) -> str:
    """An index or an exponent."""
    content = content.strip()
    if sign == "^":
        if content in RAISED:
            return RAISED[content]
        if re.fullmatch(r"[-−]?\d+", content):
            return content.translate(DIGITS)
        if re.fullmatch(r"\([^()]*\)", content):
            return f"^{content}"
    simple = r"[^\W\d_]|\d+|." if sign == "^" else r"\w+|."  # e^(2B), and W_kq
    return f"{sign}{content}" if re.fullmatch(simple, content) else f"{sign}({content})"


def _grouped(text: str, products: bool = False) -> str:
    """A part of a fraction, in parentheses where it has several parts."""
    whole = r"[\w.′*⁰¹²³⁴⁵⁶⁷⁸⁹‖|^]+" if products else r"[\w.′*⁰¹²³⁴⁵⁶⁷⁸⁹‖|^ ·√]+"
    closed = re.fullmatch(r"‖[^‖]*‖[*²³⁴]?", text)
    return text if closed or re.fullmatch(whole, text) else f"({text})"
