"""Figures in a notebook."""

from __future__ import annotations

import subprocess
import sys

import pytest

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
