"""The cells of a page, run in the reader's browser one by one, as a notebook runs them.

A cell that needs a name gets it from the last cell above that gives it; if that one has not run
with its present text, it runs first. So a result is what the page gives from top to bottom.
"""

from __future__ import annotations

import ast
import copy
import io
import json
import linecache
import symtable
import sys
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any

from ntpplayground.stand_ins import CELL, Absent
from ntpverdicts.claims import MIME, render_html
from ntpverdicts.imports import imported_names

Output = dict[str, str]  # its kind (text, latex, html, error) and its text


@dataclass(frozen=True)
class Session:
    """What the cells of a page have made so far; it grows.

    Attributes:
        values: the variables.
        made: for every variable the place and the text of the cell that made it.
        claims: number and title of the claims of the page, by label.
    """

    values: dict[str, Any] = field(default_factory=lambda: {"__name__": "__main__"})
    made: dict[str, tuple[int, str]] = field(default_factory=dict)
    claims: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


@cache
def names(code: str) -> tuple[frozenset[str], frozenset[str]]:
    """The names that code needs from outside, and those that it gives; none for a broken one."""
    needs: set[str] = set()
    gives: set[str] = set()
    try:
        statements = ast.parse(code).body
    except SyntaxError:
        return frozenset(), frozenset()
    for statement in statements:
        used, bound = names_of(statement)
        needs |= used - gives
        gives |= bound
    return frozenset(needs), frozenset(gives)


def names_of(statement: ast.stmt) -> tuple[set[str], set[str]]:
    """The same for one statement."""
    alike = _Generators().visit(copy.deepcopy(statement))
    top = symtable.symtable(ast.unparse(alike), "cell", "exec")
    own = top.get_symbols()
    used = {one.get_name() for one in own if one.is_referenced()} | set(_globals(top))
    used |= {
        node.target.id
        for node in ast.walk(statement)
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name)
    }
    bound = {one.get_name() for one in own if one.is_assigned() or one.is_imported()}
    return used, bound | set(_walruses(top))


class _Generators(ast.NodeTransformer):
    """Write every comprehension as a generator, which keeps its variables to itself.

    From Python 3.12 on the others lie in the scope around them, and their variables with them.
    """

    def visit_ListComp(self, node: ast.ListComp | ast.SetComp) -> ast.expr:
        """One that gives values."""
        self.generic_visit(node)
        return ast.GeneratorExp(node.elt, node.generators)

    def visit_SetComp(self, node: ast.SetComp) -> ast.expr:
        """One that gives values, each once."""
        return self.visit_ListComp(node)

    def visit_DictComp(self, node: ast.DictComp) -> ast.expr:
        """One that gives pairs."""
        self.generic_visit(node)
        return ast.GeneratorExp(ast.Tuple([node.key, node.value], ast.Load()), node.generators)


def _globals(table: symtable.SymbolTable) -> Iterator[str]:
    """The names that functions and comprehensions look up outside of themselves."""
    for child in table.get_children():
        for one in child.get_symbols():
            if one.is_global() and one.is_referenced():
                yield one.get_name()
        yield from _globals(child)


def _walruses(table: symtable.SymbolTable) -> Iterator[str]:
    """The names that `:=` in comprehensions gives to the cell around them."""
    for child in table.get_children():
        if child.get_name() == "genexpr":
            for one in child.get_symbols():
                if one.is_global() and one.is_assigned():
                    yield one.get_name()
            yield from _walruses(child)


def pending(session: Session, cells: Sequence[str], at: int) -> list[int]:
    """The cells above that must run before the cell `at`, in their order."""
    stale: dict[int, bool] = {}

    def visit(place: int) -> bool:
        if place not in stale:
            stale[place] = False
            for name in sorted(names(cells[place])[0]):
                source = next((k for k in reversed(range(place)) if name in names(cells[k])[1]), -1)
                if source >= 0 and (
                    visit(source) or session.made.get(name) != (source, cells[source])
                ):
                    stale[source] = stale[place] = True
        return stale[place]

    visit(at)
    return sorted(place for place, due in stale.items() if due and place != at)


def run(session: Session, cells: Sequence[str], at: int) -> dict[int, list[Output]]:
    """Run a cell, after what it needs; what each cell showed, by its place.

    Args:
        session: what has been made; what is made now is added.
        cells: the text of every cell, as it is now.
        at: place of the cell.
    """
    shown: dict[int, list[Output]] = {}
    for place in [*pending(session, cells, at), at]:
        shown[place] = execute(session, cells[place], place)
        if any(one["kind"] == "error" for one in shown[place]):
            break
    return shown


@cache
def only_session(claims: str) -> Session:
    """The session of the page, which knows how the claims of the page are called."""
    return Session(claims=json.loads(claims))


def answer(request: str) -> str:
    """What the page is told, as JSON, when it asks for a cell and names all cells and claims."""
    asked = json.loads(request)
    session = only_session(json.dumps(asked["claims"]))
    return json.dumps(run(session, asked["cells"], asked["at"]), ensure_ascii=False)


def execute(session: Session, code: str, place: int) -> list[Output]:
    """Run one cell; the value of its last line is shown, as in a notebook."""
    name, outputs, written = f"{CELL} {place}>", list[Output](), io.StringIO()
    linecache.cache[name] = (len(code), None, code.splitlines(keepends=True), name)
    session.values["display"] = lambda *values: outputs.extend(
        show(session, value) for value in values
    )
    for given in names(code)[1]:
        session.made.pop(given, None)
    failure: Output | None = None
    with redirect_stdout(written), redirect_stderr(written):
        try:
            value = evaluate(session, code, name)
            last = [] if value is None else [show(session, value)]
        except BaseException as error:  # also an exit: the page stays
            last, failure = [], {"kind": "error", "text": told(error)}
        else:
            session.made.update(dict.fromkeys(names(code)[1], (place, code)))
    printed = written.getvalue()
    texts = [{"kind": "text", "text": printed}] if printed else []
    return [*texts, *outputs, *last, *([failure] if failure else [])]


def evaluate(session: Session, code: str, name: str) -> object:
    """The value of the last line, if it is an expression.

    Raises:
        ModuleNotFoundError: the code imports what is not here.
    """
    tree = ast.parse(code, filename=name)
    for module in sorted(imported_names(tree)):
        if isinstance(sys.modules.get(module), Absent):  # only for our own modules
            raise ModuleNotFoundError(f"No module named {module!r}", name=module)
    final = tree.body[-1] if tree.body else None
    if not isinstance(final, ast.Expr):
        exec(compile(tree, name, "exec"), session.values)
        return None
    del tree.body[-1]
    exec(compile(tree, name, "exec"), session.values)
    return eval(compile(ast.Expression(final.value), name, "eval"), session.values)


def show(session: Session, value: Any) -> Output:
    """A value as a notebook shows it: a verdict as a card, HTML, a formula, or text."""
    drawn = not isinstance(value, type)  # a class has the methods, too, but nobody to call them on
    bundle = value._repr_mimebundle_() if drawn and hasattr(value, "_repr_mimebundle_") else {}
    if MIME in bundle:
        data = bundle[MIME]
        return {"kind": "html", "text": render_html(data | session.claims.get(data["label"], {}))}
    for kind in ("html", "latex"):
        text = bundle.get(f"text/{kind}")
        method = getattr(value, f"_repr_{kind}_", None)
        if text is None and method is not None and drawn:
            text = method()
        if text is not None:
            return {"kind": kind, "text": str(text)}
    return {"kind": "text", "text": printer()(value)}


@cache
def printer() -> Any:
    """What writes a value as text: that of notebooks."""
    from IPython.lib.pretty import pretty

    return partial(pretty, max_width=79)


def told(error: BaseException) -> str:
    """An error with the way to it, from the cell on."""
    way = error.__traceback__
    while way is not None and not way.tb_frame.f_code.co_filename.startswith(CELL):
        way = way.tb_next
    return "".join(traceback.format_exception(type(error), error, way)).rstrip("\n")
