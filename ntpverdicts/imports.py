"""Which files of some packages code needs: found by reading imports, without importing."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path


def imported_names(tree: ast.AST, package: str = "") -> set[str]:
    """Dotted names that code imports anywhere, in functions too, but for types alone.

    Args:
        tree: parsed code.
        package: the package that holds the code, which relative imports start from.

    Returns:
        For `from a import b` both `a` and `a.b`, as nothing tells yet whether `b` is a module.
    """
    names: set[str] = set()
    for node in _statements(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
            # `import ntpcore as ntp` reaches the front door, which is loaded at its first use
            names |= {f"{alias.name}.front" for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parents = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*parents, base] if base else parents)
            names |= {base} | {f"{base}.{alias.name}" for alias in node.names}
    return names


def _statements(tree: ast.AST) -> Iterator[ast.AST]:
    """Every statement that may run, also within others; expressions are left out."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        for part in ("body", "orelse", "finalbody", "handlers", "cases"):
            if part == "body" and for_types(node):
                continue  # nothing runs there
            waiting += getattr(node, part, ())


def for_types(node: ast.AST) -> bool:
    """Whether a statement is `if TYPE_CHECKING:`, whose body never runs."""
    return isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")


class Package:
    """The modules below a folder: which there are, what they hold, what they import.

    Every file is looked for and read once, so that one state of the package answers all questions.
    """

    def __init__(self, packages: Iterable[str], root: Path = Path()) -> None:
        """Nothing is read yet; `root` is the folder that holds these packages."""
        self.packages, self.root = frozenset(packages), root
        self._files: dict[str, Path | None] = {}
        self._contents: dict[Path, bytes] = {}
        self._imports: dict[str, frozenset[str]] = {}

    def file(self, name: str) -> Path | None:
        """File of a module, relative to the root; None when there is none."""
        if name not in self._files:
            path = Path(*name.split("."))
            candidates = (path.with_suffix(".py"), path / "__init__.py")
            there = (file for file in candidates if (self.root / file).is_file())
            self._files[name] = next(there, None)
        return self._files[name]

    def content(self, file: Path) -> bytes:
        """What stands in a file, given relative to the root."""
        if file not in self._contents:
            self._contents[file] = (self.root / file).read_bytes()
        return self._contents[file]

    def closure(self, names: Iterable[str]) -> frozenset[Path]:
        """Files that importing these dotted names loads, relative to the root."""
        return frozenset[Path]().union(*self.rings(names))

    def rings(self, names: Iterable[str]) -> Iterator[frozenset[Path]]:
        """The same files by distance: those of these names, those that these import, and so on."""
        waiting, seen = set(names), set[str]()
        while waiting:
            seen |= waiting
            files, further = set[Path](), set[str]()
            for name in waiting:
                if name.split(".")[0] not in self.packages:
                    continue
                further |= {name.rsplit(".", 1)[0]} if "." in name else set()
                file = self.file(name)
                if file is not None:
                    files.add(file)
                    further |= self._imported_by(name, file)
            yield frozenset(files)
            waiting = further - seen

    def _imported_by(self, name: str, file: Path) -> frozenset[str]:
        """Dotted names that a module imports."""
        if name not in self._imports:
            within = name if file.name == "__init__.py" else name.rpartition(".")[0]
            text = self.content(file).decode("utf-8")
            self._imports[name] = names_in(text, str(file), within)
        return self._imports[name]


def import_closure(trees: Iterable[ast.AST], package: Package) -> frozenset[Path]:
    """Files of our packages that some code imports, directly or through others.

    Args:
        trees: the parsed code.
        package: the modules it may import.

    Returns:
        Paths relative to the package's root; importing `a.b.c` runs the `__init__` files of `a` and
        `a.b` too.
    """
    return package.closure({name for tree in trees for name in imported_names(tree)})


@cache
def names_in(text: str, filename: str, package: str) -> frozenset[str]:
    """Dotted names that the text of a module imports; kept, as many closures ask for the same."""
    return frozenset(imported_names(ast.parse(text, filename=filename), package))
