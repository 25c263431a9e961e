"""The package of verdicts alone, under another catalogue: five claims of Euler's."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

CLAIMS = """
[euler-thm-1]
number = "Theorem 1"
title = "n^2 + n + 41 is prime for n below 40"
where = "letter to Bernoulli"

[euler-thm-2]
number = "Theorem 2"
title = "every even perfect number is 2^(p-1) (2^p - 1)"
where = "De numeris amicabilibus"

[euler-lem-1]
number = "Lemma 1"
title = "sigma is multiplicative"
where = "De numeris amicabilibus"
paper_page = 86

[euler-prop-1]
number = "Proposition 1"
title = "2^(2^n) + 1 is prime, as Fermat believed"
where = "E26"
about = ["euler-thm-1"]

[euler-cor-1]
number = "Corollary 1"
title = "sigma of a prime p is p + 1"
where = "De numeris amicabilibus"
uses = ["euler-lem-1"]
"""

CHECKS = """
from verdicts.claims import Verdict
from verdicts.compare import assume, equal, holds, left_out
from verdicts.vocabulary import Variant, by_hand, check, executed, relation, uses


def divisors(n):
    return [d for d in range(1, n + 1) if n % d == 0]


def is_prime(n):
    return n > 1 and all(n % d for d in range(2, int(n**0.5) + 1))


def numbers(most=40):
    return range(most)


@check("euler-thm-1", over="numbers", instances=numbers, name=str,
       says="The value is prime for all {tried} numbers.",
       planted={"The constant 42.": {"constant": 42},
                "One number more.": Variant(instances=lambda most=40: range(most + 1))})
def check_euler_thm_1(n, constant=41):
    yield holds(is_prime(n * n + n + constant), f"n = {n}")


def small_sums(other=4):
    left = sum(divisors(3)) * sum(divisors(other))
    yield relation("sigma(3) sigma(4) = sigma(12)", left, "=", 28, left - sum(divisors(12)))


@check("euler-lem-1", over="pairs", says="sigma(a b) = sigma(a) sigma(b) for {tried} pairs.",
       instances=lambda most=12: [(a, b) for a in range(1, most) for b in range(1, most)], name=str,
       proof=(executed("an example", small_sums, planted={"6 in the place of 4.": {"other": 6}}),
              by_hand("unique factorization", at="factors")),
       planted={"Pairs that share a factor, too.": {"coprime": False}})
def check_euler_lem_1(pair, coprime=True):
    a, b = pair
    if coprime and any(d > 1 for d in set(divisors(a)) & set(divisors(b))):
        yield left_out("the two share a factor")
    else:
        yield equal(sum(divisors(a * b)), sum(divisors(a)) * sum(divisors(b)))


@check("euler-thm-2", over="numbers", instances=lambda most=500: range(2, most, 2), name=str,
       says="No counterexample.", planted={"p need not be prime.": {"any_p": True}})
def check_euler_thm_2(n, any_p=False):
    shape = {2 ** (p - 1) * (2**p - 1) for p in range(2, 8) if any_p or is_prime(2**p - 1)}
    yield equal(int(sum(divisors(n)) == 2 * n), int(n in shape), f"n = {n}")


@check("euler-prop-1", over="numbers", instances=lambda most=6: range(most), name=str,
       says="All are prime.", hypotheses=("n is a natural number",),
       planted={"Only the first five.": Variant(
           instances=lambda: range(5), expected=Verdict.NOT_CONTRADICTED)})
def check_euler_prop_1(n):
    yield assume("n is a natural number", n >= 0)
    yield holds(is_prime(2 ** (2**n) + 1), f"n = {n}")


@check("euler-cor-1", over="primes", instances=lambda: [2, 3, 5, 7], name=str,
       proof=(uses("euler-lem-1", "a prime has no other divisors, and sigma is multiplicative"),),
       says="Right for {tried} primes.", planted={"p in the place of p + 1.": {"add": 0}})
def check_euler_cor_1(p, add=1):
    yield equal(sum(divisors(p)), p + add)
"""

USE = """
import json
from pathlib import Path
import checks
from verdicts import catalogue, document, graph, ledger, ledger_table

claims = catalogue.gather([(Path("chapter"), "primes")])
found = [getattr(checks, one.function)().to_json() for one in claims]
rows = document.known_rows(claims, found, {}, {}, {"euler": "Opera omnia"})
standings = ledger.standings_of(rows.values())
shown = graph.connected_to("euler", rows)
made = document.publish(claims, found, versions={"python": "3"},
                        editions={"euler": "Opera omnia"})
Path("claims.json").write_text(document.to_text(made))
Path("out.json").write_text(json.dumps({
    "verdicts": {label: row["verdict"] for label, row in rows.items()},
    "graph": graph.draw(rows, standings, shown, lambda row: "#", name="Euler"),
    "table": ledger_table.table(rows.values(), standings, lambda r: "", lambda r: "",
                                {"euler": "Euler"}, anchors=True),
    "counts": ledger.count_verdicts(rows.values()),
}))
"""


def test_another_catalogue_gets_its_ledger_graph_and_document(tmp_path: Path) -> None:
    # the package under another name, so that nothing of ours can be imported by it
    target = tmp_path / "verdicts"
    shutil.copytree(ROOT / "ntpverdicts", target, ignore=shutil.ignore_patterns("__pycache__"))
    for file in target.glob("*.py"):
        text = file.read_text(encoding="utf-8")
        file.write_text(text.replace("ntpverdicts", "verdicts"), encoding="utf-8")
    (tmp_path / "chapter").mkdir()
    (tmp_path / "chapter/claims.toml").write_text(CLAIMS, encoding="utf-8")
    (tmp_path / "checks.py").write_text(CHECKS, encoding="utf-8")
    (tmp_path / "use.py").write_text(USE, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-I", "-c", "import sys; sys.path.insert(0, '.'); import use"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    out = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    assert out["verdicts"] == {
        "euler-thm-1": "not contradicted",
        "euler-thm-2": "not contradicted",
        "euler-lem-1": "proved",
        "euler-prop-1": "refuted",
        "euler-cor-1": "proved",
    }
    assert out["counts"] == (
        "2 proved (2 by hand), 2 not contradicted, 1 refuted (1 exact witness)"
    )
    assert "Lemma 1" in out["graph"]
    assert "<svg" in out["graph"]
    assert "n = 5" in out["table"]  # 2^32 + 1 = 641 * 6700417
    document = json.loads((tmp_path / "claims.json").read_text(encoding="utf-8"))
    lemma, corollary = document["claims"][2], document["claims"][4]
    assert (lemma["edition"], lemma["paper_page"]) == ("Opera omnia, page 86", 86)
    assert corollary["edition"] == "Opera omnia"
    assert corollary["certainty"]["by_hand"] == ["step-euler-lem-1-factors"]  # inherited
    assert lemma["left_out"]["the two share a factor"] > 0
    assert lemma["proof"][0]["shown"][0]["left"] == "28"
    schema = json.loads((target / "claims.schema.json").read_text(encoding="utf-8"))
    import jsonschema

    jsonschema.Draft202012Validator(schema).validate(document)


def test_the_package_imports_nothing_else_of_ours() -> None:
    for file in (ROOT / "ntpverdicts").glob("*.py"):
        lines = file.read_text(encoding="utf-8").splitlines()
        others = [
            line
            for line in lines
            if line.strip().startswith(("from ntp", "import ntp")) and "ntpverdicts" not in line
        ]
        assert others == [], file
