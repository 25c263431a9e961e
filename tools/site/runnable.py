"""Which cells of a page need no more than the browser brings: found by reading, not by running.

From a cell the names lead to functions, and these to further ones, through all modules of ours. A
cell on whose way some other package stands does not run in the page; all others do. Cells whose
code the reader does not see run when others need them, without the statements that cannot. A cell
that asks numpy itself for no more than `ntpplayground.small_numpy` has gets that instead.
"""

from __future__ import annotations

import ast
import itertools
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ntpverdicts.imports import for_types, imported_names
from tools.pipeline.source import OURS

ROOT = Path(__file__).resolve().parents[2]
BROUGHT = frozenset({"sympy", "mpmath", "networkx"})
TWIN = "ntpplayground.small_numpy"
INNER = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
Chain = tuple[str, ...]  # a name and the attributes asked of it


@dataclass(frozen=True)
class Scope:
    """The names of a module: what defines them, or where they come from."""

    definitions: Mapping[str, tuple[ast.AST, ...]]
    imports: Mapping[str, str]


@dataclass(frozen=True)
class Runnable:
    """A cell for the browser.

    Attributes:
        code: its text, or for a cell that the reader does not see what of it can run.
        run: whether the reader may change and run it.
    """

    code: str
    run: bool


def cells_of(notebook: Mapping[str, Any]) -> list[Runnable]:
    """The code cells of an executed notebook, in order."""
    lacking: dict[str, frozenset[str]] = {}
    imports: dict[str, str] = {}
    kept: list[tuple[Sequence[str], list[ast.stmt], str, bool]] = []
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            continue
        source = "".join(cell["source"])
        tags = cell["metadata"].get("tags", [])
        good, whole = available(source, imports, lacking)
        kept.append((tags, good, source, whole))
    wanted = {name for _, good, _, _ in kept for one in good for name, *_ in chains(one)}
    return [judged(tags, good, source, whole, wanted) for tags, good, source, whole in kept]


def judged(
    tags: Sequence[str], good: list[ast.stmt], source: str, whole: bool, wanted: set[str]
) -> Runnable:
    """One cell: whole where it can run and the code is in the page, else what of it can."""
    hidden = {"remove-input", "remove-cell"} & set(tags)
    if whole and source.strip() and not hidden:
        return Runnable(source, True)
    lines = [ast.unparse(one) for statement in good if (one := pruned(statement, wanted))]
    return Runnable("\n".join(lines), False)


def pruned(statement: ast.stmt, wanted: set[str]) -> ast.stmt | None:
    """A statement that makes something; an import without the names that nobody wants."""
    if isinstance(statement, ast.Expr):
        return None
    if isinstance(statement, ast.Import | ast.ImportFrom):
        names = [one for one in statement.names if bound(one) in wanted]
        if not names:
            return None
        if isinstance(statement, ast.ImportFrom):
            return ast.ImportFrom(statement.module, names, statement.level)
        return ast.Import(names)
    return statement


def bound(alias: ast.alias) -> str:
    """The name that an import binds."""
    return alias.asname or alias.name.partition(".")[0]


def available(
    source: str, imports: dict[str, str], lacking: dict[str, frozenset[str]]
) -> tuple[list[ast.stmt], bool]:
    """The statements of a cell that need no other package, and whether these are all.

    Args:
        source: the code.
        imports: what names of earlier cells stand for modules and their parts; grows.
        lacking: for variables of earlier cells the packages that they need; grows.
    """
    try:
        statements = ast.parse(source).body
    except SyntaxError:
        return [], False
    good = []
    statements = [one for statement in statements for one in split(statement)]
    replaced = False
    for statement in statements:
        if isinstance(statement, ast.Import) and [one.name for one in statement.names] == ["numpy"]:
            folder, _, module = TWIN.rpartition(".")
            alias = ast.alias(module, statement.names[0].asname or "numpy")
            statement, replaced = ast.ImportFrom(folder, [alias], 0), True
        found = frozenset(imported_from(statement, imports))
        if not found:
            known = [chain for chain in chains(statement) if chain[0] in imports]
            found = frozenset(packages((imports[c[0]], *c[1:]) for c in known))
            for name, *_ in chains(statement):
                found |= lacking.get(name, frozenset())
        for name in assigned(statement):
            lacking[name] = found
            if not isinstance(statement, ast.Import | ast.ImportFrom):
                imports.pop(name, None)
        if not found:
            good.append(statement)
    return good, not replaced and len(good) == len(statements)


def imported_from(statement: ast.stmt, imports: dict[str, str]) -> Iterator[str]:
    """Note what an import binds; the packages it names that are not brought along."""
    for name, target in aliases(statement).items():
        imports[name] = target
        top = target.partition(".")[0]
        if top in OURS:
            yield from to_load(resolved(target)[0])
        elif not here(top):
            yield top


def split(statement: ast.stmt) -> list[ast.stmt]:
    """An import as imports of one name each; any other statement as it is."""
    if isinstance(statement, ast.ImportFrom):
        return [ast.ImportFrom(statement.module, [one], statement.level) for one in statement.names]
    return [statement]


def here(package: str) -> bool:
    """Whether the browser has a package that is not ours."""
    return package in BROUGHT or package in sys.stdlib_module_names


def assigned(statement: ast.stmt) -> set[str]:
    """The names that a statement gives a value where it stands, and not within its functions."""
    names = set(aliases(statement))
    waiting: list[ast.AST] = [statement]
    while waiting:
        one = waiting.pop()
        if isinstance(one, ast.FunctionDef | ast.ClassDef):
            names.add(one.name)
        elif isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store):
            names.add(one.id)
        elif not isinstance(one, INNER):
            waiting += ast.iter_child_nodes(one)
    return names


def aliases(node: ast.AST) -> dict[str, str]:
    """For an import, every name that it binds and what that stands for."""
    if isinstance(node, ast.Import):
        return {bound(one): one.name if one.asname else bound(one) for one in node.names}
    if isinstance(node, ast.ImportFrom):
        return {bound(one): f"{node.module}.{one.name}" for one in node.names}
    return {}


def chains(node: ast.AST) -> Iterator[Chain]:
    """Every name that runs when a piece of code runs, with the attributes asked of it.

    Types in signatures are never computed in our modules, and do not count.
    """
    waiting = [node]
    while waiting:
        one = waiting.pop()
        attributes: list[str] = []
        inner = one
        while isinstance(inner, ast.Attribute):
            attributes.insert(0, inner.attr)
            inner = inner.value
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Load):
            yield (inner.id, *attributes)
        elif inner is not one:
            waiting.append(inner)
        else:
            for name, part in ast.iter_fields(one):
                if name not in ("annotation", "returns"):
                    parts = part if isinstance(part, list) else [part]
                    waiting += [child for child in parts if isinstance(child, ast.AST)]


def packages(starts: Iterable[Chain]) -> set[str]:
    """The packages that are not brought along and that code needs which uses these names.

    Args:
        starts: dotted names, followed by the attributes asked of them.
    """
    found: set[str] = set()
    waiting = [resolved(*chain) for chain in starts]
    seen: set[tuple[str, str]] = set()
    while waiting:
        module, name = waiting.pop()
        if (module, name) in seen:
            continue
        seen.add((module, name))
        top = module.partition(".")[0]
        if top not in OURS:
            found |= set() if here(top) else {top}
        else:
            waiting += uses(module, name)
    return found


def resolved(target: str, *attributes: str) -> tuple[str, str]:
    """A module and the name in it that dotted names stand for."""
    parts = [*target.split("."), *attributes]
    if parts[0] not in OURS:
        return target, ""
    module, rest = parts[0], parts[1:]
    while rest and file_of(f"{module}.{rest[0]}"):
        module, rest = f"{module}.{rest[0]}", rest[1:]
    return module, rest[0] if rest else ""


@cache
def file_of(module: str) -> Path | None:
    """The file of one of our modules."""
    path = ROOT / module.replace(".", "/")
    places = (path.with_suffix(".py"), path / "__init__.py")
    return next((one for one in places if one.is_file()), None)


@cache
def tree_of(module: str) -> ast.Module:
    """The code of a module of ours."""
    file = file_of(module)
    return ast.parse(file.read_bytes() if file else b"")


@cache
def names_for_types(module: str) -> frozenset[str]:
    """Names that a module imports for types alone: loading it does not load what they stand for."""
    return frozenset(
        name
        for statement in tree_of(module).body
        if for_types(statement)
        for inner in ast.walk(statement)
        for name in aliases(inner)
    )


@cache
def scope(module: str) -> Scope:
    """The names of a module of ours."""
    definitions: dict[str, tuple[ast.AST, ...]] = {}
    imports: dict[str, str] = {}
    for statement in tree_of(module).body:
        for inner in (
            ast.walk(statement) if isinstance(statement, ast.If | ast.Try) else [statement]
        ):
            imports |= aliases(inner)
        for name in assigned(statement) - set(aliases(statement)):
            definitions[name] = (*definitions.get(name, ()), statement)
    return Scope(definitions, imports)


@cache
def to_load(module: str) -> frozenset[str]:
    """The packages not brought along that a module of ours uses as soon as it is loaded.

    Stand-ins take the place of what it only imports; what counts is what it calls.
    """
    found: set[str] = set()
    waiting, seen = [module], set[str]()
    while waiting:
        name = waiting.pop()
        file = file_of(name)
        if name in seen or file is None:
            continue
        seen.add(name)
        found |= called_for(name)
        types = names_for_types(name)
        waiting += {
            resolved(target)[0] for one, target in scope(name).imports.items() if one not in types
        }
        waiting.append(name.rpartition(".")[0])
    return frozenset(found)


@cache
def called_for(module: str) -> frozenset[str]:
    """The packages not brought along that the calls need which loading one module makes."""
    known = scope(module)
    targets = set()
    for first, *rest in called(tree_of(module)):
        if first in known.imports:
            targets.add(resolved(known.imports[first], *rest))
        elif first in known.definitions:
            targets.add((module, first))
    ours = [target for target in targets if target[0].partition(".")[0] in OURS]
    return frozenset(packages(ours))


def called(tree: ast.Module) -> Iterator[Chain]:
    """What is called while a module is loaded, its decorators included."""
    waiting: list[ast.AST] = list(tree.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield from (chain for one in node.decorator_list for chain in chains(one)
                        if not isinstance(one, ast.Call))  # fmt: skip
            waiting += node.decorator_list
            waiting += node.body if isinstance(node, ast.ClassDef) else []
        elif not isinstance(node, ast.Lambda | ast.arg):
            if isinstance(node, ast.Call):
                yield from itertools.islice(chains(node.func), 1)
            waiting += ast.iter_child_nodes(node)


@cache
def uses(module: str, name: str) -> list[tuple[str, str]]:
    """What a name of a module of ours uses: pairs of a module and a name."""
    if module == TWIN and name not in scope(module).definitions:
        return [("numpy", name)]
    known = scope(module)
    if name in known.imports and name not in known.definitions:
        return [resolved(known.imports[name])]
    found = []
    for node in known.definitions.get(name, ()):
        within = known.imports | {
            key: target for one in ast.walk(node) for key, target in aliases(one).items()
        }
        for first, *rest in chains(node):
            if first in within:
                found.append(resolved(within[first], *rest))
            elif first in known.definitions:
                found.append((module, first))
    return found


def wanted_modules(cells: Iterable[Runnable]) -> set[str]:
    """The names that the cells of a page import, modules among them."""
    return {name for cell in cells for name in imported_names(ast.parse(cell.code))}
