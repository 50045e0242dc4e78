"""Draw docstrings of the package at random, for a reader who judges them without the code.

python tools/docstring_sample.py [seed] [count]
"""

from __future__ import annotations

import ast
import random
import sys
from pathlib import Path


def docstrings(root: Path) -> list[tuple[str, str]]:
    """Return (module: name, docstring) of every function, class and module that has one."""
    found = []
    for path in sorted(root.rglob("*.py")):
        module = ".".join(path.relative_to(root.parent).with_suffix("").parts)
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                text = ast.get_docstring(node)
                if text:
                    found.append((f"{module}: {getattr(node, 'name', '(module)')}", text))
    return found


def main(seed: int, count: int) -> None:
    """Print the seed and the docstrings that it draws."""
    every = docstrings(Path("src/catena"))
    print(f"seed {seed}, {count} of {len(every)} docstrings\n")
    for number, (name, text) in enumerate(random.Random(seed).sample(every, count), start=1):
        print(f"--- {number}. {name}\n{text}\n")


if __name__ == "__main__":
    given = sys.argv[1:]
    if len(given) > 2 or not all(x.isdigit() for x in given):
        sys.exit("usage: python tools/docstring_sample.py [SEED [COUNT]], two whole numbers")
    main(*map(int, [*given, 1, 100][:1] + [*given[1:], 100][:1]))
