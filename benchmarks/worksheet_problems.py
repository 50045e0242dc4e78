"""Is there a worksheet of every problem from the classics by every method it is asked by?

Prints for each problem its methods, the number of lines to fill in, the largest error found when
they were checked, and the processor time. Ends with an error where a worksheet cannot be written.

    python benchmarks/worksheet_problems.py [--tiny]
"""

from __future__ import annotations

import sys
import time
import warnings

from catena.equations.formulations import derive
from catena.errors import CatenaError
from catena.teaching.worksheets import PROBLEMS, worksheet


def main() -> None:
    """Print one row per problem."""
    warnings.simplefilter("ignore")
    failed, sheets = [], 0
    names = list(PROBLEMS)[: 2 if "--tiny" in sys.argv else None]
    for name in names:
        start, lines, error = time.process_time(), 0, 0.0
        for by in PROBLEMS[name].methods:
            try:
                sheet = worksheet(derive(PROBLEMS[name].load(), by), name)
                sheet.write("html")
            except CatenaError as why:
                failed.append(f"{name} by {by}: {why}")
                continue
            sheets += 1
            lines += sum(len(step.lines) for step in sheet.derivation)
            error = max(error, sheet.derivation.error)
        took = time.process_time() - start
        methods = len(PROBLEMS[name].methods)
        print(f"{name:22} {methods} methods {lines:4} lines, error {error:.0e}, {took:5.1f} s")
    print(f"{sheets} worksheets of {len(names)} problems; {len(failed)} refused")
    if failed:
        raise SystemExit("; ".join(failed))


if __name__ == "__main__":
    main()
