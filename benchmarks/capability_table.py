"""Is every cell of the capability table true? Each formulation on a mechanism that has the feature,
against the O(n) kernels.

    python benchmarks/capability_table.py [--tiny]

A cell is the larger of two numbers, at random states: how far accelerations lie from those of the
kernels, and how far the wrenches in all joints do, those that close loops included, beside the
largest. The bar is 1e-9; a cell without a number has its reason below the table. The penalty method
is asked with springs of 1e13 N/m; what it errs by with its own is in the last row.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from capability_cases import BOBS, CASES, derived, deviations
from catena.equations.formulations import derive, formulations

TINY = "--tiny" in sys.argv


def main() -> None:
    """The table, the worst cell, and the reasons."""
    warnings.simplefilter("ignore")
    cases = {**CASES, "free parameters": BOBS}
    cases, ways = (
        ({"trees": CASES["trees"]}, formulations()[:2]) if TINY else (cases, formulations())
    )
    worst, reasons = 0.0, {}
    wrenches = dict.fromkeys((f.name for f in ways), 0.0)
    print(f"{'':26s}" + " ".join(f"{f.name[:9]:>9s}" for f in ways))
    for feature, m in cases.items():
        cells = []
        for f in ways:
            if feature in f.cannot:
                reasons.setdefault((feature, f.cannot[feature]), []).append(f.name)
                cells.append("-")
                continue
            a, w = deviations(m, derived(m, f.name))
            worst, wrenches[f.name] = max(worst, a, w or 0.0), max(wrenches[f.name], w or 0.0)
            cells.append(f"{max(a, w or 0.0):.0e}")
        print(f"{feature:26s}" + " ".join(f"{x:>9s}" for x in cells), flush=True)
    print(f"{'reactions':26s}" + " ".join(f"{x:>9.0e}" for x in wrenches.values()))
    for (feature, why), names in reasons.items():
        print(f"{feature} by {', '.join(names)}: {why}")
    if not TINY:
        print(
            "penalty with its own springs states an error of"
            f" {derive(CASES['trees'], 'penalty').error:.0e} for trees"
        )
    print(f"worst cell {worst:.1e} of 1e-9")


if __name__ == "__main__":
    main()
