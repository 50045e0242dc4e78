"""Find words of a dialect of our own in the docs, docstrings, comments and messages.

    python tools/words.py [file or folder ...]

WORDS maps a pattern to the usual words. A line that quotes a word to speak about it ends in the
comment `words: quoted`. Without arguments the docs, the README and the package are read; the exit
status is 1 where something was found.
"""

from __future__ import annotations

import io
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

WORDS = {
    r"\bbeside\b": '"relative to", "compared with" or "next to"',
    r"\btold\b": '"identified", "given" or "distinguished"',
    r"\baskew\b": '"skew" or "not parallel"',
    r"\blet past\b": '"allowed" or "tolerated"',
    r"\bof no row\b": '"without constraint rows"',
    r"\btoo much of something\b": "what there is too much of",
    r"\btheirs to give\b": '"which contacts cannot do"',
    r"\beach for itself\b": '"each separately"',
    r"\bit is told\b": '"it is given"',
    r"\bseed 00[0-4]\b": "author and year of the source",
}
QUOTED = "words: quoted"


def texts(path: Path) -> Iterator[tuple[int, str]]:
    """Yield (line number, line) of everything in a file that people read."""
    source = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        yield from enumerate(source.splitlines(), 1)
        return
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type in (tokenize.STRING, tokenize.COMMENT):
            yield from enumerate(token.string.splitlines(), token.start[0])


def found(path: Path) -> Iterator[str]:
    """Yield one sentence for each word in a file that is on the list."""
    for number, line in texts(path):
        if QUOTED in line:
            continue
        for pattern, usual in WORDS.items():
            for match in re.finditer(pattern, line, re.IGNORECASE):
                yield f"{path}:{number}: {match.group()!r}; write {usual}"


def files(arguments: list[str]) -> Iterator[Path]:
    """Yield the files to read."""
    root = Path(__file__).parent.parent
    places = map(Path, arguments) if arguments else (root / p for p in ("docs", "README.md", "src"))
    for place in places:
        inside = place.rglob("*") if place.is_dir() else [place]
        yield from (p for p in inside if p.suffix in (".py", ".md", ".toml"))


def main(arguments: list[str]) -> int:
    """Print what was found; return the exit status."""
    sentences = [sentence for path in sorted(files(arguments)) for sentence in found(path)]
    print("\n".join(sentences) or "no words of a dialect found")
    return 1 if sentences else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
