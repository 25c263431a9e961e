"""The columns of a sweep's table: name, type and meaning, in order."""

from __future__ import annotations

from dataclasses import dataclass

# Claims on training, by label: a sweep holds them against every run, and `ntpcore check --steps`
# against the one on a reader's data.
CLAIMS = (
    "huang2024-lem-5",
    "huang2024-lem-6",
    "huang2024-lem-7",
    "huang2024-lem-7-corrected",
    "huang2024-thm-1",
    "huang2024-thm-1-corrected",
    "huang2024-thm-2",
    "huang2024-thm-2-corrected",
    "huang2024-eq-4",
    "huang2024-eq-13",
    "huang2024-thm-3",
)
# Those that presume Assumption 3.
FREQUENT = frozenset(CLAIMS)
HOLDS, FAILS, SILENT, OUTSIDE = "holds", "fails", "silent", "outside"

Row = dict[str, int | float | bool | str | None]


def number_of(row: Row) -> int:
    """Which run a row is of."""
    number = row["run"]
    assert isinstance(number, int)
    return number


@dataclass(frozen=True)
class Column:
    """One column.

    Attributes:
        name: its name.
        kind: int, float, bool or str; every column may be empty.
        meaning: what it holds.
    """

    name: str
    kind: type
    meaning: str


COLUMNS = (
    Column("run", int, "number of the run, from 0, in the order of the grids"),
    Column("grid", int, "which [[grid]] of the file, from 1"),
    Column("generator", str, "what made the data"),
    Column("vocab_size", int, "|V| asked for"),
    Column("sentences", int, "sentences or sessions drawn"),
    Column("max_length", int, "longest sentence asked for"),
    Column("frequent", bool, "whether Assumption 3 was asked for"),
    Column("max_depth", int, "brackets open at once"),
    Column("max_requests", int, "most requests in a session"),
    Column("repair", str, "none, or greedy: trained on a large realizable part"),
    Column("seed", int, "seed of the data"),
    Column("eta0", float, "step size of stage 1"),
    Column("eta", float, "step size of stage 2"),
    Column("steps1", int, "T, steps of stage 1"),
    Column("steps", int, "steps of stage 2"),
    Column("status", str, "ok or failed"),
    Column("error", str, "kind of the failure"),
    Column("message", str, "what failed"),
    Column("share_kept", float, "share of next tokens that were trained on"),
    Column("tokens", int, "|V| of the data"),
    Column("samples", int, "N, distinct samples"),
    Column("longest", int, "L_max, tokens of the longest sentence"),
    Column("entries", int, "entries of W_kq that can move"),
    Column("pairs", int, "comparable pairs of all queries"),
    Column("idle_pairs", int, "tight pairs without force; with one a logarithm appears"),
    Column("prefix_closed", bool, "whether every beginning of a sample is a sample"),
    Column("assumption_3", bool, "whether Assumption 3 holds"),
    Column("log_pi_min", float, "log of the smallest frequency of a sample, in nats"),
    Column("norm_ov_star", float, "||W_ov_star||"),
    Column("norm_kq_star", float, "||W_kq_star||"),
    Column("gap", float, "A after stage 1"),
    Column("loss", float, "L after the last step, in nats"),
    Column("log_excess", float, "log(L - L_star) after the last step"),
    Column("norm", float, "||W_kq|| after the last step"),
    Column("one_minus_cos", float, "1 - cos of the angle to W_kq_star after the last step"),
    Column("least_attention", float, "smallest attention on an optimal token after the last step"),
    Column("attention_fell", bool, "whether the optimal attention of a sample ever decreased"),
    Column("direction_exponent", float, "slope of log(1 - cos) by log t, last two decades"),
    Column("direction_exponent_last", float, "the same over the last decade"),
    Column("bound_exponent", float, "the same of the bound of Theorem 1, last two decades"),
    Column("residual_growth", float, "growth of W across W_kq_star by log t, last decade"),
    Column("loss_rate", float, "rate of log(L - L_star), last decade, by eta / ||W_kq_star||"),
    Column("loss_rate_bound", float, "rate of equation (4), in the same unit"),
    Column("thm_1_eta_allowed", bool, "whether eta <= ||W_kq_star|| / e, as Theorem 1 needs"),
    Column("thm_1_slack", float, "smallest relative slack of Theorem 1 as stated"),
    Column("thm_1_corrected_slack", float, "the same with 1 / pi_min for N"),
    Column("thm_1_used_log10", float, "log10 of the largest (1 - cos) / bound, corrected form"),
    Column("thm_1_bites_log10", float, "log10 of the step from which it beats the norms"),
    *(Column(label, str, "holds, fails, silent (says nothing of it), outside") for label in CLAIMS),
    Column("version", str, "version of ntpcore"),
    Column("code", str, "hash of the code that made the row"),
    Column("sweep", str, "hash of the runs of the sweep"),
)
