"""The package of verdicts alone, under another catalogue: five claims of Euler's."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

from euler import CHECKS, CLAIMS

ROOT = Path(__file__).resolve().parents[2]

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
