"""Figures in a notebook."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]

AFTER_A_CELL = """
from IPython.terminal.interactiveshell import TerminalInteractiveShell

shell = TerminalInteractiveShell.instance()
shell.enable_matplotlib("inline")
shell.run_cell("from ntpbook.look import plots; plots.use_book_style()")
shell.run_cell("{planted}")
shell.run_cell("fig, ax = plots.new_figure();")
print(*(one.__name__ for one in shell.events.callbacks["post_execute"]))
"""
ANEW = "import matplotlib.pyplot as plt; plt.switch_backend('inline')"


@pytest.mark.parametrize("planted", ["", ANEW])
def test_a_figure_is_drawn_when_it_is_written_and_not_at_the_end_of_its_cell_too(planted) -> None:
    command = [sys.executable, "-c", AFTER_A_CELL.format(planted=planted)]
    said = subprocess.check_output(command, text=True).splitlines()[-1]
    assert "flush_figures" in said, "what writes the figures of a cell"
    assert ("_draw_all_if_interactive" in said) == bool(planted)


def test_settings_in_the_folder_of_a_notebook_change_no_figure(tmp_path) -> None:
    (tmp_path / "matplotlibrc").write_text("axes.facecolor: pink\nlines.linewidth: 9\n")
    looks = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "import matplotlib as mpl\n"
        "from ntpbook.look import plots\n"
        "print(mpl.rcParams['axes.facecolor'], mpl.rcParams['lines.linewidth'])\n"
        "plots.use_book_style()\n"
        "print(mpl.rcParams['axes.facecolor'], mpl.rcParams['lines.linewidth'])\n"
    )
    command = [sys.executable, "-c", looks, str(ROOT)]
    said = subprocess.check_output(command, text=True, cwd=tmp_path).splitlines()
    assert said == ["pink 9.0", "white 1.5"], "read by Matplotlib, and set aside by the book"
