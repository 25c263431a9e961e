"""Mutants: every small change of a module that `make mutants` plants, found in its syntax tree.

Left alone are texts that only people read (strings with a blank, f-strings, the messages of
errors), annotations, decorators and assertions, which state our own invariants.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

_COMPARE: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
_ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
_TWINS = [
    *(("min", "max"), ("any", "all"), ("floor", "ceil"), ("minimum", "maximum")),
    *(("argmin", "argmax"), ("log", "log1p"), ("exp", "expm1"), ("zeros", "ones")),
    *(("startswith", "endswith"), ("zeros_like", "ones_like")),
]
_CALLS = {a: b for pair in _TWINS for a, b in (pair, pair[::-1])}
_ORDERED = {"Fraction", "outer", "subtract", "divide", "pow"}  # calls whose two arguments differ
_TYPE_MAKERS = {"TypeVar", "NewType", "NamedTuple"}


@dataclass(frozen=True)
class Mutant:
    """One change.

    Attributes:
        id: `module:function+line:column:operator`; the line is counted from that of the function,
            so that a change elsewhere in the file renames nothing.
        module: dotted name of the module.
        lines: first and last line that the changed expression or statement takes up.
        function: first and last line of the function around it; 0 and 0 outside any.
        span: first and last byte that are replaced.
        before: what stands there, on one line.
        after: what is put there.
    """

    id: str
    module: str
    lines: tuple[int, int]
    function: tuple[int, int]
    span: tuple[int, int]
    before: str
    after: str

    def apply(self, source: str) -> str:
        """The module with this change."""
        text = source.encode()
        return (text[: self.span[0]] + self.after.encode() + text[self.span[1] :]).decode()


def module_name(path: Path, root: Path) -> str:
    """Dotted name of the module in a file below `root`."""
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def find_mutants(source: str, module: str) -> list[Mutant]:
    """All mutants of a module, in order of their place."""
    walk = _Walk(source, module)
    walk.body(ast.parse(source).body, _Scope("", 1, (0, 0)))
    names = [mutant.id for mutant in walk.found]
    assert len(set(names)) == len(names), "two mutants share an id"
    return sorted(walk.found, key=lambda mutant: (mutant.span, mutant.id))


@dataclass(frozen=True)
class _Scope:
    """The function or class around a node: its name, first line, and the lines of the function."""

    name: str
    line: int
    function: tuple[int, int]


@dataclass
class _Walk:
    """A walk over one module that collects its mutants."""

    source: str
    module: str
    found: list[Mutant] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.bytes = self.source.encode()
        self.starts = [0]
        for line in self.bytes.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))

    def body(self, statements: Iterable[ast.stmt], scope: _Scope) -> None:
        for statement in statements:
            self.statement(statement, scope)

    def statement(self, node: ast.stmt, scope: _Scope) -> None:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            name = f"{scope.name}.{node.name}" if scope.name else node.name
            inner = _Scope(name, node.lineno, scope.function)
            if isinstance(node, ast.FunctionDef):
                assert node.end_lineno is not None
                inner = _Scope(name, node.lineno, (node.lineno, node.end_lineno))
                for default in [*node.args.defaults, *node.args.kw_defaults]:
                    self.expressions(default, inner)
            self.body(node.body, inner)
            return
        if isinstance(node, ast.Import | ast.ImportFrom | ast.Assert) or _is_text(node):
            return
        for operator, after in _statement_changes(node):
            self.note(node, scope, operator, after, (node.lineno, node.col_offset))
        self.negate(node, scope)
        if isinstance(node, ast.Raise):
            return
        for name, value in ast.iter_fields(node):
            if name == "annotation":
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.stmt):
                    self.statement(child, scope)
                elif isinstance(child, ast.ExceptHandler | ast.match_case):
                    self.body(child.body, scope)
                else:
                    self.expressions(child, scope)

    def expressions(self, node: object, scope: _Scope) -> None:
        if not isinstance(node, ast.AST) or isinstance(node, ast.JoinedStr):
            return
        if isinstance(node, ast.expr):
            for operator, new, place in _expression_changes(node):
                self.note(node, scope, operator, f"({ast.unparse(new)})", place)
        self.negate(node, scope)
        if isinstance(node, ast.Call) and _called(node) in _TYPE_MAKERS:
            return
        for child in ast.iter_child_nodes(node):
            self.expressions(child, scope)

    def negate(self, node: ast.AST, scope: _Scope) -> None:
        for test in _conditions(node):
            place = test.lineno, test.col_offset
            self.note(test, scope, "condition-negated", f"(not {ast.unparse(test)})", place)

    def note(
        self,
        node: ast.expr | ast.stmt,
        scope: _Scope,
        operator: str,
        after: str,
        place: tuple[int, int],
    ) -> None:
        """Keep a change, if it is one and leaves Python."""
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        start = self.starts[node.lineno - 1] + node.col_offset
        end = self.starts[node.end_lineno - 1] + node.end_col_offset
        name = f"{self.module}:{scope.name}+{place[0] - scope.line}:{place[1]}:{operator}"
        before = " ".join(self.bytes[start:end].decode().split())
        lines = node.lineno, node.end_lineno
        span = start, end
        mutant = Mutant(name, self.module, lines, scope.function, span, before, after)
        try:
            compile(mutant.apply(self.source), self.module, "exec", dont_inherit=True)
        except SyntaxError:
            return
        self.found.append(mutant)


def _is_text(node: ast.stmt) -> bool:
    """Whether a statement is a docstring."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _statement_changes(node: ast.stmt) -> Iterator[tuple[str, str]]:
    """Operators on statements: guards, effects and results that are lost."""
    if isinstance(node, ast.Raise):
        yield "raise-dropped", "pass"
    elif isinstance(node, ast.Return) and node.value is not None:
        if not isinstance(node.value, ast.Constant):
            yield "return-none", "return None"
    elif isinstance(node, ast.Expr):
        if isinstance(node.value, ast.Yield):
            yield "yield-none", "yield None"
        elif isinstance(node.value, ast.Call):
            yield "call-dropped", "pass"
    elif isinstance(node, ast.Assign):
        if all(isinstance(target, ast.Subscript | ast.Attribute) for target in node.targets):
            yield "assignment-dropped", "pass"
    elif isinstance(node, ast.Delete):
        yield "del-dropped", "pass"
    elif isinstance(node, ast.Break):
        yield "break-continue", "continue"
    elif isinstance(node, ast.Continue):
        yield "continue-break", "break"
    elif isinstance(node, ast.AugAssign) and type(node.op) in _ARITHMETIC:
        new = copy.copy(node)
        new.op = _ARITHMETIC[type(node.op)]()
        yield f"{_short(node.op)}-{_short(new.op)}", ast.unparse(new)


def _expression_changes(node: ast.expr) -> Iterator[tuple[str, ast.expr, tuple[int, int]]]:
    """Operators on expressions, each with the new expression and the place that names it."""
    here = node.lineno, node.col_offset
    new: ast.expr
    if isinstance(node, ast.Compare):
        left = node.left
        for number, old in enumerate(node.ops):
            for other in _COMPARE[type(old)]:
                new = copy.copy(node)
                new.ops = [*node.ops[:number], other(), *node.ops[number + 1 :]]
                yield f"{_short(old)}-{_short(other())}", new, _end(left)
            left = node.comparators[number]
    elif isinstance(node, ast.BinOp) and type(node.op) in _ARITHMETIC:
        new = ast.BinOp(node.left, _ARITHMETIC[type(node.op)](), node.right)
        yield f"{_short(node.op)}-{_short(new.op)}", new, _end(node.left)
    elif isinstance(node, ast.BoolOp):
        new = ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
        yield f"{_short(node.op)}-{_short(new.op)}", new, _end(node.values[0])
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
        yield f"{_short(node.op)}-dropped", node.operand, here
    elif isinstance(node, ast.Constant):
        for operator, value in _constant_changes(node.value):
            yield operator, ast.Constant(value), here
    elif isinstance(node, ast.Call):
        yield from ((name, changed, here) for name, changed in _call_changes(node))
    elif isinstance(node, ast.Attribute) and node.attr == "T":
        yield "transpose-dropped", node.value, here


def _constant_changes(value: object) -> Iterator[tuple[str, bool | int | float | str]]:
    """Other constants; a string with a blank is prose."""
    if isinstance(value, bool):
        yield ("true-false" if value else "false-true"), not value
    elif isinstance(value, int | float) and value + 1 != value:  # 1e300 stays what it is
        yield "number+1", value + 1
    elif isinstance(value, str) and " " not in value:
        yield "string+?", value + "?"


def _call_changes(node: ast.Call) -> Iterator[tuple[str, ast.expr]]:
    """A call of the opposite function, or with its arguments swapped, or no sorting."""
    name = _called(node)
    if name in _CALLS:
        new = copy.copy(node)
        if isinstance(node.func, ast.Attribute):
            new.func = ast.Attribute(node.func.value, _CALLS[name], ast.Load())
        else:
            new.func = ast.Name(_CALLS[name], ast.Load())
        yield f"{name}-{_CALLS[name]}", new
    if name == "sorted":
        yield "sorted-list", ast.Call(ast.Name("list", ast.Load()), node.args, [])
    if name in _ORDERED and len(node.args) == len(set(map(ast.dump, node.args))) == 2:
        new = copy.copy(node)
        new.args = node.args[::-1]
        yield "arguments-swapped", new


def _called(node: ast.Call) -> str:
    """Last name of what is called."""
    if isinstance(node.func, ast.Attribute):
        return node.func.attr
    return node.func.id if isinstance(node.func, ast.Name) else ""


def _conditions(node: ast.AST) -> list[ast.expr]:
    """Conditions of a statement or expression that no other operator turns round."""
    tests = [node.test] if isinstance(node, ast.If | ast.While | ast.IfExp) else []
    tests += node.ifs if isinstance(node, ast.comprehension) else []
    return [test for test in tests if isinstance(test, ast.Name | ast.Attribute | ast.Call)]


def _end(node: ast.expr) -> tuple[int, int]:
    """Where an expression ends: an operator stands behind it."""
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    return node.end_lineno, node.end_col_offset


def _short(operator: ast.AST) -> str:
    """Name of an operator."""
    return type(operator).__name__.lower()
