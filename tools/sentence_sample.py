"""Draw sentences of the docs at random, for a reader who judges whether each is clear at once.

python tools/sentence_sample.py [seed] [count]
"""

from __future__ import annotations

import random
import re
import sys
from pathlib import Path

END = re.compile(r"(?<=[.!?:])\s+(?=[A-Z`\[*(])")


def sentences(page: str) -> list[str]:
    """Return the sentences in the prose of a Markdown page: no code, tables, headings or maths."""
    text = re.sub(r"^(`{3,}|~{3,}|:{3,}).*?^\1\s*$", "", page, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"\$\$.*?\$\$", "", text, flags=re.DOTALL)
    found = []
    for paragraph in re.split(r"\n\s*\n", text):
        first = paragraph.lstrip()[:1]
        if not first or first in "#|<(" or paragraph.startswith("    ") or "---" in paragraph:
            continue
        items = re.split(r"\n\s*(?=[-*+] |\d+\. )", paragraph)
        for item in items:
            flat = " ".join(re.sub(r"^\s*([-*+]|\d+\.) ", "", item).split())
            found += [s for s in END.split(flat) if len(s.split()) >= 4]
    return found


def main(seed: int, count: int) -> None:
    """Print the seed and the sentences that it draws, each with its page."""
    pages = sorted(Path("docs").rglob("*.md"))
    every = [(str(p), s) for p in pages for s in sentences(p.read_text(encoding="utf-8"))]
    print(f"seed {seed}, {count} of {len(every)} sentences\n")
    for number, (page, text) in enumerate(random.Random(seed).sample(every, count), start=1):
        print(f"{number}. [{page}] {text}")


if __name__ == "__main__":
    main(
        int(sys.argv[1]) if len(sys.argv) > 1 else 1, int(sys.argv[2]) if len(sys.argv) > 2 else 100
    )
