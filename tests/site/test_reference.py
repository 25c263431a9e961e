"""The reference of the Python API says what the code says, and leads to it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tiny_book import ROOT

import ntpcore as ntp
from ntpbook.catalogue import CATALOGUE
from tools.site import reference

PAGE = (ROOT / "book/reference.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("module", reference.MODULES)
def test_every_public_name_says_what_it_is(module: str) -> None:
    found = reference.entries(ROOT / reference.module_file(module))
    assert found
    assert [entry.name for entry in found if not entry.sections] == []
    assert f"```{{reference}} {module}\n" in PAGE


def test_a_docstring_is_taken_apart() -> None:
    text = """One sentence.

    More of it,
    on two lines.

    Args:
        one: the first,
            as it goes on.
        two: (n,) the second.

    Raises:
        ValueError: two is wrong.

    Source: huang2024, Proposition 2.

    >>> for one in f(1, 2):
    ...     print(one)
    3
    """
    parts = {part.title: part.paragraphs for part in reference.sections(text)}
    assert parts == {
        "": ("One sentence.", "More of it, on two lines."),
        "Args": ("one: the first, as it goes on.", "two: (n,) the second."),
        "Raises": ("ValueError: two is wrong.",),
        "Source": ("huang2024, Proposition 2.",),
        "Example": (">>> for one in f(1, 2):\n...     print(one)\n3",),
    }
    assert reference.item(parts["Args"][1]) == ("two", "(n,) the second.")


def test_signatures_are_those_of_the_code(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(
        "class A:\n    '''A.'''\n    x: int = 3\n    @property\n    def y(self) -> int:\n"
        "        '''Y.'''\ndef f(a: str, *, b: int = 2) -> None:\n    '''F.'''\ndef _g(): ...\n"
    )
    found = {entry.name: entry.signature for entry in reference.entries(tmp_path / "a.py")}
    assert found == {
        "A": "class A(x: int = 3)",
        "A.y": "A.y -> int",
        "f": "f(a: str, *, b: int=2) -> None",
    }


def test_numbered_statements_lead_to_their_pages() -> None:
    text = "as huang2024, Proposition 2 and huang2024, equations (3) say (huang2024, Section 4.1)"
    assert dict(reference.statements(text, CATALOGUE)) == {
        "huang2024, Proposition 2": "huang2024_s6_max_margin#huang2024-prop-2",
        "huang2024, equations (3)": "huang2024_s6_max_margin#huang2024-eq-3",
        "huang2024, Section 4.1": "huang2024_s4_realizable",
    }
    assert reference.statements("huang2024, Proposition 99", CATALOGUE) == []


def test_the_page_shows_every_name_and_its_links_arrive(book: Path) -> None:
    html = (book / "book/reference.html").read_text(encoding="utf-8")
    for module in reference.MODULES:
        code = (book / f"source/api/{module}.html").read_text(encoding="utf-8")
        for entry in reference.entries(ROOT / reference.module_file(module)):
            assert f'id="api-{module}.{entry.name}"' in html
            for section in entry.sections:
                prompts = sum(text.count(">>> ") for text in section.paragraphs)
                assert prompts == 0 or section.title == reference.EXAMPLE
            assert f'href="../source/api/{module}.html#{entry.name}"' in html
            assert f'<span id="{entry.name}" class="ntp-anchor">' in code
    links = re.findall(r'href="\.\./(pages/\w+\.html)#((?:huang|tian)[\w-]+)"', html)
    assert len(links) >= 6
    for page, anchor in links:
        assert f'id="{anchor}"' in (book / page).read_text(encoding="utf-8")


SCRIPTS = sorted(f"examples/python/{one.name}" for one in (ROOT / "examples/python").glob("*.py"))


@pytest.mark.parametrize(
    "file", ["README.md", "docs/isotonic.md", "notebooks/readers_api.md", *SCRIPTS]
)
def test_what_a_text_imports_is_in_the_reference(file: str) -> None:
    text = (ROOT / file).read_text("utf-8")
    lines = re.findall(r"from ntpcore\.([\w.]+) import (.+)", text)
    used = {
        room if "." in room else f"{room}.{name.split(' as ')[0]}"
        for room, names in lines
        for name in names.split(", ")
    }
    assert used <= set(reference.MODULES)
    front = set(re.findall(r"\bntp\.(\w+)", text)) if "import ntpcore as ntp\n" in text else set()
    assert front <= set(ntp.__all__)
    assert used or front or file == "README.md"
