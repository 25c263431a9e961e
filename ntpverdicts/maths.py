r"""Words with formulas: text in which TeX stands between dollar signs.

Titles of claims and what checks say of them are such texts. A book typesets the formulas; a
terminal, an attribute of HTML and a search show them in plain letters, as `plain` writes them. A
dollar sign that begins no formula is written `\$`. Statements of a book have displays, too: between
two dollar signs, or in an environment such as `equation*`. `plain` gives each of their rows a line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from decimal import Context, Decimal
from html import escape, unescape

FORMULA = re.compile(r"(?<!\\)\$((?:[^$\\]|\\.)+)\$", re.DOTALL)
DISPLAY = re.compile(
    r"\s*(?:(?<!\\)\$\$((?:[^$\\]|\\.)+)\$\$"
    r"|(\\begin\{(equation|align|gather)(\*?)\}.*?\\end\{\3\4\}))[ \t]*\n?",
    re.DOTALL,
)
FIELD = re.compile(r"\{([A-Za-z_]\w*)\}")
SCIENTIFIC = re.compile(r"([-−]?)(\d+(?:\.\d+)?)e([+-]?\d+)")
# A number with more digits than anyone reads, or with a power of ten as a program prints it.
PRINTED = re.compile(r"(?<![\w.])([-−]?)(\d+(?:\.\d+)?)(e[+-]?\d+)?(?![\w]|\.\d)")
HYPHEN = re.compile(r"(?<=\de)-(?=\d)|(?<!\w)-(?=\d)")  # for a minus sign
MOST_DIGITS = 6  # that a reader meets in a number
AT = "{at}"  # in a text, where the value that names a place belongs
FEW_DIGITS = 4  # to which a longer one is rounded
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
    "surd": "√", "setminus": "∖", "dagger": "†", "angle": "∠",
    "neg": "¬", "lnot": "¬",
}  # fmt: skip
RELATIONS = {
    "le": "≤", "leq": "≤", "ge": "≥", "geq": "≥", "ne": "≠", "neq": "≠", "approx": "≈",
    "sim": "∼", "to": "→", "mapsto": "↦", "in": "∈", "notin": "∉", "subset": "⊂",
    "subseteq": "⊆", "ll": "≪", "gg": "≫", "propto": "∝", "equiv": "≡", "cup": "∪", "cap": "∩",
    "rightarrow": "→", "Rightarrow": "⇒", "iff": "⇔", "succ": "≻", "prec": "≺", "lt": "<",
    "gt": ">", "perp": "⊥", "parallel": "∥", "lesssim": "≲", "gtrsim": "≳", "succeq": "⪰",
    "preceq": "⪯", "leftarrow": "←", "longrightarrow": "→", "implies": "⇒",
    "wedge": "∧", "vee": "∨",
}  # fmt: skip
SPACES = frozenset({",", ";", ":", " ", "quad", "qquad", "thinspace", "enspace"})
NOTHING = re.compile(r"(?:left|right|[bB]igg?[lrm]?|displaystyle|textstyle|limits|!)\Z")
UNWRAPPED = frozenset({
    "mathrm", "mathcal", "mathbf", "mathbb", "mathsf", "mathit", "boldsymbol", "operatorname",
    "operatorname*", "mathtt", "underline",
})  # fmt: skip
WORDED = frozenset({"text", "textrm", "textit", "texttt", "mbox"})  # blanks in them count
QUOTIENTS = frozenset({"frac", "dfrac", "tfrac"})
# Environments whose rows are parts of one thing, with what stands around them. Rows of all others
# are lines.
BLOCKS = {
    "cases": ("{", "}"), "matrix": ("", ""), "smallmatrix": ("", ""), "array": ("", ""),
    "pmatrix": ("(", ")"), "bmatrix": ("[", "]"), "vmatrix": ("|", "|"),
}  # fmt: skip
NEW_ROW = "\n"  # blanks of TeX are single spaces by then
SKIP = re.compile(r"\s*-?[\d.]+\s*(?:pt|em|ex|mm|cm)\s*")  # between rows, in brackets
ACCENTS = {"tilde": "\u0303", "hat": "\u0302", "bar": "\u0304", "dot": "\u0307", "vec": "\u20d7"}
ACCENTS |= {"widetilde": "\u0303", "widehat": "\u0302", "overline": "\u0304"}
VULGAR = {"1/2": "½", "1/3": "⅓", "2/3": "⅔", "1/4": "¼", "3/4": "¾"}
RAISED = {"*": "*", "ᵀ": "ᵀ", "′": "′", "″": "″", "+": "⁺", "-": "⁻", "−": "⁻"}
DIGITS = str.maketrans("0123456789-−", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁻")
TOKEN = re.compile(r"\\[A-Za-z]+\*?|\\.|\s+|.", re.DOTALL)
WORDS = frozenset({
    "log", "ln", "exp", "cos", "sin", "min", "max", "tanh", "arg", "sup", "inf", "tan", "cosh",
    "sinh", "lim", "det", "dim", "ker", "Pr",
})  # fmt: skip
COMPARED = "=<>≤≥≠≈∼→↦∈∉⊂⊆≪≫∝≡∪∩⇒⇔≻≺⊥∥≲≳⪰⪯←"
# Of plain letters: what is enclosed by itself, indices and exponents, accents.
NESTED = r"\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)"
ENCLOSED = r"(?:‖[^‖]*‖|\|[^|]*\||⟨[^⟨⟩]*⟩)"
SCRIPT = rf"(?:[*′ᵀ⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻]|[_^](?:\w+[′*ᵀ]*|{NESTED}))*"
ACCENT = "[\u0300-\u036f\u20d7]?"
WORD = r"[A-Za-z]{4,}"  # the name of a number; fewer letters are a product
SINGLE = re.compile(
    rf"(?:{ENCLOSED}|√\w|√?{NESTED}|\d+|{WORD}|d?[^\W\d_]{ACCENT}(?:_\w+)?){SCRIPT}"
)
FACTOR = re.compile(
    rf"(?:{ENCLOSED}|√\w|√?{NESTED}|\[[^\[\]]*\]|\w[^\W_]*{ACCENT}(?:_\w+)?){SCRIPT}"
)
LARGE = ("∑", "∏", "∫")
# log x / y would be read as log (x / y)
APPLIED = re.compile(rf"\b(?:{'|'.join(sorted(WORDS))})(?:[²³⁴] *| +)[^\s(]")


def parts(text: str) -> list[tuple[str, bool]]:
    r"""The words and the formulas of a text in turn, each with whether it is a formula.

    Dollar signs around formulas are left out, and `\$` in words is a dollar sign.
    """
    return [(part if tex else part.replace(r"\$", "$"), tex) for part, tex in _raw(text) if part]


def verbatim(text: str) -> str:
    """Words that hold no formula, whatever they are: tokens and names of a reader's data."""
    return text.replace("$", r"\$")


def plain(text: str) -> str:
    r"""A text with its formulas in plain letters: `$\|W_{\mathrm{ov}}\|$` as ‖W_ov‖.

    Each row of a display stands in an indented line of its own.
    """
    lines, end = [], 0
    for match in DISPLAY.finditer(text):
        lines.append(_plain(text[end : match.start()]))
        lines += [f"  {row}" for row in rows_of(match[1] or match[2])]
        end = match.end()
    lines.append(_plain(text[end:]))
    return "\n".join(line for line in lines if line) if end else lines[0]


def _plain(text: str) -> str:
    """As `plain`, of a text without displays."""
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


def few_digits(text: str, *, words: bool = True) -> str:
    r"""A text whose decimal numbers have few digits, with powers of ten set as formulas.

    `1.0e-20` becomes `$10^{-20}$`, and `z = 0.015848931924611134` becomes `z = 0.01585`. A whole
    number keeps its digits.

    Args:
        text: the text.
        words: whether numbers in words change, too; words may be those of a reader's data.
    """

    def in_formula(found: re.Match[str]) -> str:
        return in_tex(_shortened(found))

    def in_sentence(found: re.Match[str]) -> str:
        return in_words(_shortened(found))

    return "".join(
        f"${PRINTED.sub(in_formula, part)}$"
        if tex
        else PRINTED.sub(in_sentence, part)
        if words
        else part
        for part, tex in _raw(text)
    )


def placed(text: str, value: object) -> str:
    """A text that names a place with the value that stands for `{at}` in it.

    A float has few digits there, unless it is a whole number.
    """
    shown = str(value)
    if isinstance(value, float):
        whole = value.is_integer() and abs(value) < 10**MOST_DIGITS
        shown = f"{value:.0f}" if whole else f"{value:.{FEW_DIGITS}g}"
    return "".join(
        f"${part.replace(AT, in_tex(shown))}$" if tex else part.replace(AT, in_words(shown))
        for part, tex in _raw(text)
    )


def _shortened(found: re.Match[str]) -> str:
    """A number that was found in a text, rounded where it has too many digits."""
    sign, digits, power = found.groups()
    if not power and re.fullmatch(r"\d+\.0+", digits):
        return f"{sign}{digits.split('.')[0]}"
    if "." not in digits or len(digits.replace(".", "").lstrip("0")) <= MOST_DIGITS:
        return found[0]
    shorter = Context(prec=FEW_DIGITS).create_decimal(digits + (power or ""))
    return f"{sign}{shorter.normalize():g}"


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


def unbroken(text: str) -> str:
    """Words or a cell with true minus signs in their numbers; lines would break after a hyphen."""
    return "".join(f"${part}$" if tex else HYPHEN.sub("−", part) for part, tex in _raw(text))


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
    """A formula in plain letters; rows are parted by semicolons where nothing else parts them."""
    first, *others = rows_of(tex) or [""]
    return first + "".join(
        f"{'' if before[-1] in ',;.:' else ';'} {row}"
        for before, row in zip([first, *others], others, strict=False)
    )


def rows_of(tex: str) -> list[str]:
    """The rows of a formula in plain letters: as many as its outermost environments have."""
    found = _row(TOKEN.findall(tex), [])
    return [row for row in map(_spaced, found.split(NEW_ROW)) if row]


def _spaced(row: str) -> str:
    """A row with blanks around its relations, and none where they would be too many."""
    found = re.sub(rf"\s*(?<![_^])([{COMPARED}])\s*", r" \1 ", row)
    found = re.sub(rf"(?<=[{COMPARED}])\s+(?=[_^])", "", found)  # >_q
    found = re.sub(r"(?<=[⟨(\[])\s+|\s+(?=[⟩)\]])|\s*(?=·)|(?<=·)\s*", "", found)
    found = re.sub(r"\s+(?=[,;.](?:\s|$))|(?<=[⌈⌊])\s+|\s+(?=[⌉⌋])|(?<=:)\s+(?==)", "", found)
    return re.sub(r"\s+", " ", found).strip()


def _row(tokens: list[str], ends: list[str]) -> str:
    """What the tokens up to one of `ends` look like; they are taken off the list."""
    found, indexed, word = "", False, False
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
            if token[1:] in QUOTIENTS and "/" in piece and (word or _multiplied(found, tokens)):
                piece, word = f"({piece})", False
            named = token[1:] in WORDS and found[-1:].isalnum()
            parted = piece[:1].isalnum() and (indexed or named)
            parted |= piece[:1].isalnum() and found[-2:-1] == "√"
            parted |= word and (piece[:1].isalpha() or piece[:1] in "∠√‖|")
            parted |= piece[:1] in LARGE and (word or found[-1:].isalnum() or found[-1:] == ")")
            found += (" " if piece and parted else "") + piece
        if not NOTHING.match(token[1:]):
            word = token[1:] in WORDS or (word and (token.isspace() or token[1:] in SPACES))
            indexed = False
    return found


def _multiplied(before: str, tokens: list[str]) -> bool:
    """Whether the quotient between `before` and `tokens` is raised, or a factor follows it."""
    rest = [token for token in tokens if not (token.isspace() or token[1:] in SPACES)]
    while rest and NOTHING.match(rest[0][1:]) and rest[0] != "\\right":
        rest.pop(0)
    if not rest:
        return False
    token, name = rest[0], rest[0][1:]
    if token in (r"\|", "|"):  # it closes what is open
        return before.count("‖" if token == r"\|" else "|") % 2 == 0
    if not token.startswith("\\"):
        return token.isalnum() or token in ("^", "(", "[", "{")
    parted = {"right", "end", "begin", "tag", "\\", "}", "rangle", "rVert", "rvert", "rfloor"}
    parted |= {"rceil", "cdot", "cdots", "dots", "ldots", "pm", "mid", "times"} | WORDED
    return name not in parted | RELATIONS.keys()


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
        return {"-": "−", "~": " ", "&": " "}.get(token, token)
    return _command(token[1:], tokens)


def _command(name: str, tokens: list[str]) -> str:
    """What a command looks like, with the arguments that it takes."""
    if name == "begin":
        return _environment(_next(tokens), tokens)
    if name == "\\":
        _drop_skip(tokens)
        return NEW_ROW
    if name == "tag":
        return f" ({_next(tokens).replace('−', '–')})"
    if name in WORDED:
        while tokens and tokens[0].isspace():
            tokens.pop(0)
        return _argument(tokens)
    if name in QUOTIENTS:
        above, below = _next(tokens), _next(tokens)
        quotient = f"{_grouped(above)}/{_grouped(below, products=True)}"
        return VULGAR.get(quotient, quotient)
    if name == "sqrt":
        inner = _next(tokens)
        return f"√{inner}" if len(inner) == 1 or inner.isdigit() else f"√({inner})"
    if name in UNWRAPPED:
        inner = _next(tokens)
        return "𝟏" if inner == "1" and name in ("mathbf", "mathbb") else inner  # 𝟏𝟏ᵀ, not 11ᵀ
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


def _environment(name: str, tokens: list[str]) -> str:
    """What stands between the begin, which is gone, and the end of an environment."""
    if name == "array":
        _next(tokens)  # how its columns are set
    cells = [""]
    while tokens:
        cells[-1] += _row(tokens, ["&", r"\end"])
        if not tokens:
            break
        if tokens.pop(0) == r"\end":
            _next(tokens)
            break
        cells.append("")
    if name not in BLOCKS:
        return " ".join(cells)
    first, last = BLOCKS[name]
    comma = " " if name == "cases" else ", "
    inner = comma.join(cell.strip(" ") for cell in cells)
    rows = (re.sub(r"^[, ]+|[, ]+$", "", row) for row in inner.split(NEW_ROW))
    return first + "; ".join(row for row in rows if row) + last


def _drop_skip(tokens: list[str]) -> None:
    """Take the length in brackets off that may follow the end of a row."""
    if tokens[:1] == ["["] and "]" in tokens:
        end = tokens.index("]")
        if SKIP.fullmatch("".join(tokens[1:end])):
            del tokens[: end + 1]


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
        if re.fullmatch(r"\([^()]*\)ᵀ?", content):
            return f"^{content}"
    simple = r"[^\W\d_]|\d+|." if sign == "^" else r"\w+|."  # e^(2B), and W_kq
    return f"{sign}{content}" if re.fullmatch(simple, content) else f"{sign}({content})"


def _grouped(text: str, products: bool = False) -> str:
    """A part of a fraction, in parentheses where it has several parts.

    Args:
        text: the part in plain letters.
        products: whether a product is several parts, too, as it is below the line.
    """
    text = re.sub(r"\s+", " ", text)
    if products:
        whole = SINGLE.fullmatch(text) is not None
    else:
        whole = _is_product(text) and not APPLIED.search(text)
    return text if whole else f"({text})"


def _is_product(text: str) -> bool:
    """Whether plain letters are factors side by side, with a sign at most before them."""
    at = len(text) - len(text.removeprefix("−"))
    while at < len(text) and (factor := FACTOR.match(text, at)):
        at = factor.end() + (text[factor.end() : factor.end() + 1] in (" ", "·"))
    return at >= len(text)
