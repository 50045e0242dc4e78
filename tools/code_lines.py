"""Count the code lines of the package: lines that hold a token of code.

Blank lines, comments and docstrings do not count. Count after `ruff format`.

    python tools/code_lines.py [folder ...]
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from collections import Counter
from pathlib import Path

IGNORED = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}


def docstring_lines(tree: ast.Module) -> set[int]:
    """Return the numbers of the lines that docstrings take."""
    found: set[int] = set()
    for node in ast.walk(tree):
        if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            continue
        if ast.get_docstring(node, clean=False) is not None:
            text = node.body[0]
            found |= set(range(text.lineno, (text.end_lineno or text.lineno) + 1))
    return found


def code_lines(source: str) -> int:
    """Return how many lines of a file's source hold code."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in IGNORED:
            lines |= set(range(token.start[0], token.end[0] + 1))
    return len(lines - docstring_lines(ast.parse(source)))


def main(folders: list[str]) -> None:
    """Print the code lines of each room and of all."""
    rooms: Counter[str] = Counter()
    for folder in map(Path, folders):
        for path in folder.rglob("*.py"):
            room = path.relative_to(folder).parts[0]
            rooms[room] += code_lines(path.read_text(encoding="utf-8"))
    for room, lines in sorted(rooms.items()):
        print(f"{room:20}{lines:8d}")
    print(f"{'all':20}{sum(rooms.values()):8d}")


if __name__ == "__main__":
    main(sys.argv[1:] or ["src/catena"])
