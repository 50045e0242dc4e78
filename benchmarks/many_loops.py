"""Does the first simulation of a closed mechanism cost in proportion to its loops?

Problem A02 of the IFToMM library with N four-bars side by side. Each line is a process of its own;
processor time of the first and the second `simulate` in it, with an empty cache and with the one
that it left: free, with a PD controller, with a prescribed motion.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time

from peers import size

import catena
import closed

LOOPS = size((5, 10, 20, 40), (2,))
KINDS = size(("free", "control", "motion"), ("free",))


def options(kind: str, first: str, last: str) -> dict:
    if kind == "control":
        return {"control": catena.control.PD(2.0, 1.0, {first: 0.0, last: 0.0})}
    return {"motion": {first: "0.3*sin(t)"}} if kind == "motion" else {}


def measure(n: int, kind: str) -> None:
    """Print the processor time of two calls, s."""
    m = closed.windows(n)
    v = [-1.0 if j.name.startswith("A") else 1.0 for j in m.moving]
    for _ in range(2):
        begun = time.process_time()
        result = catena.simulate(
            m, v=v, until=0.2, **options(kind, m.coordinate_names[0], m.coordinate_names[-1])
        )
        assert result.ledger.opening < 1e-12
        print(time.process_time() - begun)


def main() -> None:
    print(
        f"{'loops':>5} {'':8} {'empty cache':>12} {'again':>8} {'warm cache':>12} {'again':>8}   s"
        " of processor time"
    )
    for kind in KINDS:
        for n in LOOPS:
            with tempfile.TemporaryDirectory() as cache:
                os.chmod(cache, 0o700)
                told = [
                    float(x)
                    for _ in range(2)
                    for x in subprocess.run(
                        [sys.executable, __file__, str(n), kind],
                        env=os.environ | {"CATENA_CACHE_DIR": cache},
                        capture_output=True,
                        text=True,
                        check=True,
                    ).stdout.split()
                ]
            print(f"{n:5} {kind:8} {told[0]:12.2f} {told[1]:8.3f} {told[2]:12.2f} {told[3]:8.3f}")


if __name__ == "__main__":
    measure(int(sys.argv[1]), sys.argv[2]) if sys.argv[2:] else main()
