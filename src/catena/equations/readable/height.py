"""The height in print of LaTeX of the kind that catena writes, in points of 11 pt type on an A4
page with margins of 2.5 cm.

It is estimated from the rows and their tallest parts, within a few per cent;
`benchmarks/printed_pages.py` counts the pages that LaTeX sets.
"""

from __future__ import annotations

import re

PAGE = 702.0  # points: the text of a page
# a row of a display, and the space around one, which shrinks a little where there are several
ROW, DISPLAY = 19.5, 12.0
# rows by their tallest part, fitted to pages that LaTeX has set
TALL = (("pmatrix", 74.0), (r"\frac", 28.5), (r"\sum", 22.0), (r"\left", 18.0))
ENVIRONMENT = re.compile(r"\\begin\{align\*\}(.*?)\\end\{align\*\}", re.DOTALL)


def height(latex: str) -> float:
    """Return the height of a print in points: align* environments, with remarks between them."""
    return sum(
        DISPLAY + sum(_row(row) for row in re.split(r"\\\\\s*\n", body) if row.strip())
        for body in ENVIRONMENT.findall(latex)
    )


def _row(row: str) -> float:
    """Return the height of one row in points, by its tallest part."""
    return next((size for part, size in TALL if part in row), ROW)
