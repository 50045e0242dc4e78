"""How long do derivations step by step take? Twelve classics by every formulation that treats them,
each line checked.

    python benchmarks/derivation_steps.py [--tiny]

The bar is 10 s for one derivation. The unit of the ratio is the time that the equations themselves
take in the same run.
"""

from __future__ import annotations

import sys
import time
import warnings

import catena
from catena.equations.formulations import derive
from catena.teaching.derivation import DERIVATIONS

CLASSICS = (
    "pendulum",
    "double_pendulum",
    "cart_pole",
    "furuta_pendulum",
    "spherical_pendulum",
    "bead_on_hoop",
    "top",
    "gyroscope",
    "atwood_machine",
    "acrobot",
    "two_link_arm",
    "slider_crank",
)
TINY = "--tiny" in sys.argv


def main() -> None:
    """A row for each mechanism and formulation: seconds of the equations and of the steps, lines,
    the largest error, characters.
    """
    warnings.simplefilter("ignore")
    slowest, worst = ("", 0.0), 0.0
    for name in CLASSICS[:1] if TINY else CLASSICS:
        mechanism = catena.load(name)
        for by in ("lagrange", "kane") if TINY else DERIVATIONS:
            start = time.perf_counter()
            try:
                equations = derive(mechanism, by)
            except catena.CatenaError as refusal:
                print(f"{name:20s}{by:18s}refused: {str(refusal)[:70]}")
                continue
            middle = time.perf_counter()
            found = equations.steps()
            seconds = time.perf_counter() - middle
            print(
                f"{name:20s}{by:18s}{middle - start:7.2f} s {seconds:7.2f} s"
                f" {sum(len(s.lines) for s in found):4d} lines error {found.error:.0e}"
                f" {len(found.text()):6d} characters",
                flush=True,
            )
            slowest = max(slowest, (f"{name} by {by}", seconds), key=lambda x: x[1])
            worst = max(worst, found.error)
    print(f"slowest: {slowest[0]}, {slowest[1]:.2f} s of 10 s; largest error {worst:.0e} of 1e-9")


if __name__ == "__main__":
    main()
