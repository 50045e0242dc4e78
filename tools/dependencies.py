"""Print what each dependency costs: megabytes on disk, and seconds of processor time to import it.

    python tools/dependencies.py

Times are those of a fresh interpreter, less that of an empty one, the least of three; a package
that imports others counts them too. docs/dependencies.md has the table.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

PROJECT = Path(__file__).parent.parent / "pyproject.toml"
MODULES = {"matplotlib": "matplotlib.figure", "llvmlite": "llvmlite.binding"}


def seconds(code: str) -> float:
    """Return the least processor time of three fresh interpreters that run the code, s."""
    found = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-c", code], check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        found.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(found)


def megabytes(name: str) -> float:
    """Return the size of the files of an installed distribution, MB."""
    files = metadata.files(name) or []
    paths = [Path(str(file.locate())) for file in files]
    return sum(path.stat().st_size for path in paths if path.is_file()) / 2**20


def main() -> None:
    """Print the table in Markdown."""
    needs = tomllib.loads(PROJECT.read_text())["project"]["dependencies"]
    empty = seconds("pass")
    print("| package | MB | s |")
    print("|---|---|---|")
    for need in needs:
        name = need.partition(">")[0]
        spent = max(0.0, seconds(f"import {MODULES.get(name, name)}") - empty)
        print(f"| {name} | {megabytes(name):.0f} | {spent:.2f} |")


if __name__ == "__main__":
    main()
