"""Find import cycles between the modules of the package; imports for types alone count too.

    python tools/import_cycles.py [folder]          exits with 1 where there is one

A package's `__init__.py` that imports its own modules is a door: importing a module does not count as
importing the doors above it, but importing a name from a door counts as importing that door.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path


def module_name(path: Path, root: Path) -> str:
    """Return the dotted name of a file below `root`, the folder of the package itself."""
    parts = (root.name, *path.relative_to(root).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(path: Path, name: str, known: set[str]) -> Iterator[str]:
    """Yield the modules of `known` that a file imports: anywhere in it, also for types."""
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parent = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*parent, *([node.module] if node.module else [])])
            for alias in node.names:
                inner = f"{base}.{alias.name}"
                if inner in known:
                    yield inner
                elif base in known:
                    yield base


def graph(root: Path) -> dict[str, set[str]]:
    """Return for each module of a package the modules of it that it imports."""
    files = {module_name(path, root): path for path in sorted(root.rglob("*.py"))}
    return {name: set(imported(path, name, set(files))) - {name} for name, path in files.items()}


def components(edges: dict[str, set[str]]) -> list[list[str]]:
    """Return the strongly connected components of more than one module (Tarjan 1972)."""
    number: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(node: str) -> None:
        number[node] = low[node] = len(number)
        stack.append(node)
        for other in edges[node]:
            if other not in number:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], number[other])
        if low[node] == number[node]:
            part = []
            while not part or part[-1] != node:
                part.append(stack.pop())
            if len(part) > 1:
                found.append(sorted(part))

    sys.setrecursionlimit(10_000)
    for node in edges:
        if node not in number:
            visit(node)
    return found


def main(folder: str) -> int:
    """Print the cycles, and return how many there are."""
    edges = graph(Path(folder))
    cycles = components(edges)
    for cycle in cycles:
        print(f"cycle of {len(cycle)} modules:")
        for name in cycle:
            print(f"  {name} -> {', '.join(sorted(edges[name] & set(cycle)))}")
    print(f"{len(edges)} modules, {sum(map(len, edges.values()))} imports, {len(cycles)} cycles")
    return min(len(cycles), 1)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1] if len(sys.argv) > 1 else "src/catena"))
