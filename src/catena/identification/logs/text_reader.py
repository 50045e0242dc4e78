"""Logs in text files: numbers separated by commas, semicolons, tabs or spaces."""

from __future__ import annotations

from pathlib import Path

from ...errors import FormatError
from .readers import RawLog, checked_columns


def read_text(path: Path) -> RawLog:
    """Return the columns of a text file; without a header they are named "1", "2", ..."""
    import pandas as pd  # type: ignore[import-untyped]

    try:
        with path.open(encoding="utf-8-sig") as lines:
            first = next((x for x in lines if x.strip() and not x.startswith("#")), "")
    except UnicodeDecodeError:
        raise FormatError(path, "this is no text file; its suffix says so") from None
    if not first:
        raise FormatError(path, "the log is empty")
    mark = next((m for m in ("\t", ";", ",") if m in first), None)
    header = not all(_is_number(x) for x in (first.split(mark)))
    try:
        table = pd.read_csv(
            path,
            sep=mark or r"\s+",
            header=0 if header else None,
            comment="#",
            skipinitialspace=True,
            encoding="utf-8-sig",
            decimal="," if mark == ";" and "," in first else ".",
        )
    except (ValueError, OSError) as why:
        raise FormatError(path, f"this is no table: {str(why).splitlines()[0]}") from None
    names = [str(c).strip() if header else str(c + 1) for c in table.columns]
    return checked_columns(
        {n: pd.to_numeric(table[c], errors="coerce") for n, c in zip(names, table.columns)},
        str(path),
        header,
    )


def _is_number(text: str) -> bool:
    """Return whether a cell of the first row is a number, or empty."""
    try:
        float(text.strip().replace(",", ".") or "0")
    except ValueError:
        return False
    return True
