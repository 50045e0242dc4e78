"""Check the imports of the package: no cycles, and outsiders come through doors.

    python tools/imports.py [folder]          exits with 1 where something is wrong

cycles    modules that import each other, directly or by way of others; imports for types alone
          count too
windows   imports from another room that do not go through a door: a door is the `__init__.py` of a
          room or of one of its floors, and exports what others may use
private   names with a leading underscore that are imported from another module
missing   names that a door does not export: doors load their names on first use, so that neither
          Python nor a type checker finds them at import
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple


class Import(NamedTuple):
    """One imported name: the module that imports it, the module it comes from, and the name."""

    importer: str
    module: str
    name: str


def module_name(path: Path, root: Path) -> str:
    """Return the dotted name of a file below `root`, the folder of the package itself."""
    parts = (root.name, *path.relative_to(root).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def modules(root: Path) -> dict[str, Path]:
    """Return the files of a package by the dotted names of their modules."""
    return {module_name(path, root): path for path in sorted(root.rglob("*.py"))}


def imports(files: dict[str, Path]) -> Iterator[Import]:
    """Yield what the files import of each other: anywhere in them, also for types."""
    for importer, path in files.items():
        package = importer if path.name == "__init__.py" else importer.rpartition(".")[0]
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    if alias.name in files:
                        yield Import(importer, alias.name, "")
            elif isinstance(node, ast.ImportFrom):
                parts = package.split(".")
                parent = parts[: len(parts) - node.level + 1] if node.level else []
                base = ".".join([*parent, *([node.module] if node.module else [])])
                for alias in node.names:
                    if f"{base}.{alias.name}" in files and not _exports(files[base], alias.name):
                        yield Import(importer, f"{base}.{alias.name}", "")
                    elif base in files:
                        yield Import(importer, base, alias.name)


def _exports(door: Path, name: str) -> bool:
    """Whether a package exports an object of the same name as one of its modules."""
    for node in ast.walk(ast.parse(door.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef) and node.name == name:
            return True
        if isinstance(node, ast.ImportFrom) and node.module:
            names = {alias.asname or alias.name for alias in node.names}
            if name in names:
                return True
    return False


def listed_modules(door: Path) -> set[str]:
    """Return the modules that a door lists as such: `from . import bridge`."""
    return {
        alias.asname or alias.name
        for node in ast.walk(ast.parse(door.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.level == 1 and not node.module
        for alias in node.names
    }


def components(edges: dict[str, set[str]]) -> list[list[str]]:
    """Return the strongly connected components of more than one module [Tarjan1972]."""
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


def cycles(files: dict[str, Path]) -> list[str]:
    """Return one sentence for each cycle."""
    edges: dict[str, set[str]] = {name: set() for name in files}
    for found in imports(files):
        if found.module != found.importer:
            edges[found.importer].add(found.module)
    return [
        f"cycle of {len(cycle)} modules: "
        + "; ".join(f"{name} -> {', '.join(sorted(edges[name] & set(cycle)))}" for name in cycle)
        for cycle in components(edges)
    ]


def windows(files: dict[str, Path]) -> list[str]:
    """Return one sentence for each import from another room that misses its door."""
    doors = {name for name, path in files.items() if path.name == "__init__.py"}
    found = []
    for importer, module, name in imports(files):
        parts = module.split(".")
        if len(parts) < 3 or importer.split(".")[1:2] == parts[1:2] or importer == parts[0]:
            continue
        listed = parts[-1] in listed_modules(files[module.rpartition(".")[0]])
        if module not in doors and (name or not listed):
            found.append(f"{importer} imports {name or parts[-1]} from {module}, which is no door")
    return found


def private(files: dict[str, Path]) -> list[str]:
    """Return one sentence for each private name that another module imports."""
    return [
        f"{importer} imports the private name {name} from {module}"
        for importer, module, name in imports(files)
        if name.startswith("_") and not name.startswith("__")
    ]


def missing(files: dict[str, Path]) -> list[str]:
    """Return one sentence for each name that is imported from a door and that it does not have."""
    bound = {name: _bound(path) for name, path in files.items() if path.name == "__init__.py"}
    return [
        f"{importer} imports {name} from {module}, which does not export it"
        for importer, module, name in imports(files)
        if name and name != "*" and module in bound and name not in bound[module]
    ]


def _bound(path: Path) -> set[str]:
    """Return the names that a file binds: by imports, definitions and assignments."""
    found = {"__version__"}
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import | ast.ImportFrom):
            found |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
    return found


def main(folder: str) -> int:
    """Print what is wrong, and return 1 if anything is."""
    files = modules(Path(folder))
    wrong = [*cycles(files), *windows(files), *private(files), *missing(files)]
    print("\n".join(wrong))
    print(f"{len(files)} modules, {sum(1 for _ in imports(files))} imports, {len(wrong)} faults")
    return min(len(wrong), 1)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1] if len(sys.argv) > 1 else "src/catena"))
