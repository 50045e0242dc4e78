"""Tables and numbers on the terminal."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..report import count, number, plain, vector

__all__ = ["comma_separated", "console", "count", "number", "plain", "table", "vector"]

PIPE_COLUMNS = 160  # where the output is a file or a pipe


def console(stderr: bool = False) -> Console:
    """Return the console for tables: as wide as the terminal, or PIPE_COLUMNS where there is none.

    stderr: whether it writes to stderr, for progress.
    """
    stream = sys.stderr if stderr else sys.stdout
    unseen = not stream.isatty() and "COLUMNS" not in os.environ
    return Console(width=PIPE_COLUMNS if unseen else None, highlight=False, stderr=stderr)


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    """Return a table without columns that are empty in every row; numeric columns are aligned
    right.
    """
    rows = [[plain(cell) for cell in row] for row in rows]
    kept = [k for k in range(len(columns)) if k == 0 or any(row[k] for row in rows)]
    made = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for k in kept:
        numeric = all(re.fullmatch(r"-?[\d.e+-]*", row[k]) for row in rows)
        made.add_column(Text(columns[k]), justify="right" if numeric else "left", overflow="fold")
    for row in rows:
        made.add_row(*(Text(row[k]) for k in kept))
    return made


def comma_separated(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return a table as comma-separated values, one line per row."""
    import csv
    import io

    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([columns, *rows])
    return text.getvalue()
