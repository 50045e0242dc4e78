"""Do the pages of the gallery say what their examples give today?

Runs the worked examples, writes their pages to a scratch folder, and compares their text with
docs/gallery: words exactly, numbers to four digits, and without the column of differences, which is
rounding. Ends with an error that names the first line that differs on each page.

    python tools/gallery_pages.py [name ...]
"""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = ROOT / "docs" / "gallery"
DIGITS = 4
NOISE = 1e-6  # numbers below this are rounding, in the units of a page
NUMBER = re.compile(r"(?<![\w.])-?\d+\.?\d*(?:e[+-]?\d+)?(?![\w])")


def main(names: list[str]) -> int:
    """Compare the pages of these examples, of all if none is named."""
    sys.path.insert(0, str(ROOT))
    from gallery import NAMES, building

    chosen = names or list(NAMES)
    with tempfile.TemporaryDirectory() as folder:
        building.build(folder, chosen)
        faults = [
            f"{name}.md: {fault}"
            for name in chosen
            for fault in [
                difference(
                    (PAGES / f"{name}.md").read_text(encoding="utf-8"),
                    (Path(folder) / f"{name}.md").read_text(encoding="utf-8"),
                )
            ]
            if fault
        ]
        if not names:
            pages = ((PAGES / "index.md"), Path(folder) / "index.md")
            fault = difference(*(page.read_text(encoding="utf-8") for page in pages))
            faults += [f"index.md: {fault}"] if fault else []
    for fault in faults:
        print(fault)
    print(f"{len(chosen)} pages, {len(faults)} differ from their run")
    return 1 if faults else 0


def difference(page: str, made: str) -> str:
    """Return the first line in which a page differs from one that was made now; "" where none does.

    >>> difference("| mass | 1.00000001 | 3e-16 |", "| mass | 1.0 | 2e-15 |")
    ''
    >>> difference("17 rows", "29 rows")
    "line 1: the page has '17 rows', its run gives '29 rows'"
    """
    old, new = page.splitlines(), made.splitlines()
    for k, (a, b) in enumerate(zip(old, new), 1):
        if steady(a) != steady(b):
            return f"line {k}: the page has {a[:90]!r}, its run gives {b[:90]!r}"
    if len(old) != len(new):
        return f"the page has {len(old)} lines, its run gives {len(new)}"
    return ""


def steady(line: str) -> str:
    """Return a line with its numbers rounded, and without the differences of a table of numbers."""
    cells = line.split(" | ")
    if cells[-1].strip(" |") in ("agrees", "**differs**", "print is wrong"):
        line = " | ".join(cells[:-3] + cells[-1:])
    return NUMBER.sub(rounded, line)


def rounded(match: re.Match[str]) -> str:
    """Return a number with DIGITS digits, or 0 where it is rounding."""
    value = float(match.group())
    return "0" if abs(value) < NOISE else f"{value:.{DIGITS}g}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
