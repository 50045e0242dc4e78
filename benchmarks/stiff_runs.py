"""What does a run cost whose controller is stiff, relative to the same robot without a controller?

Robots hold a pose by PD with gravity compensation, for 2 s from moving joints, with gains up to 1e6
N m/rad. By the default `auto`: processor time, relative to the free motion; that of dop853, which
takes as many steps as the fastest part needs, and of SciPy's Radau with the same exact Jacobians,
relative to it; and the error at the end relative to a run of `rodas6p` at 1e-12. Asked: at most
three times the free motion or so, and no more than 1e-9.

Then the price of noticing stiffness: steps of `auto` relative to those of dop853 in a free motion.
Asked: below 2 %.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from peers import ROBOTS, robot, size

import catena

UNTIL = size(2.0, 0.02)
ROUNDS = size(9, 1)
GAINS = size((1e2, 1e4, 1e6), (1e4,))
# faster gains make dop853 and radau take minutes
PEERS_UP_TO = 1e4


COLUMNS = (
    ("robot", 8),
    ("kp", 8),
    ("steps", 6),
    ("ms", 8),
    ("/ free", 7),
    ("dop853 /", 9),
    ("radau /", 8),
    ("error", 8),
)


def processor_time(run: Callable[[], object], rounds: int = ROUNDS) -> float:
    """Return the shortest of some times, s, after a first run that compiles."""
    run()
    found = []
    for _ in range(rounds):
        began = time.process_time()
        run()
        found.append(time.process_time() - began)
    return min(found)


def main() -> None:
    print(" ".join(f"{name:>{width}}" for name, width in COLUMNS))
    for name in ROBOTS:
        machine, *_ = robot(name)
        v = 0.3 * np.random.default_rng(1).standard_normal(machine.nv)
        names = [j.name for j in machine.mechanism.joints if j.name in machine.coordinate_names]

        def run(machine=machine, v=v, **more):
            return catena.simulate(
                machine, None, v, UNTIL, limits="ignore", friction="smooth", **more
            )

        free = processor_time(run)
        print(f"{name:8} {'free':>8} {run().ledger.steps:6} {1e3 * free:8.2f} {1.0:7.1f}")
        for kp in GAINS:
            law = catena.control.PD(kp, 0.1 * kp, dict.fromkeys(names, 0.1))
            found = run(control=law)
            spent = processor_time(lambda law=law: run(control=law))
            peers = [
                processor_time(lambda law=law, i=i: run(control=law, integrator=i), 1) / spent
                if kp <= PEERS_UP_TO
                else np.nan
                for i in ("dop853", "radau")
            ]
            fine = run(control=law, integrator="rodas6p", tolerance=1e-12)
            error = np.abs(found.data.q.values[-1] - fine.data.q.values[-1]).max()
            shown = (
                name,
                f"{kp:.0e}",
                found.ledger.steps,
                f"{1e3 * spent:.2f}",
                f"{spent / free:.1f}",
                *(f"{peer:.1f}" for peer in peers),
                f"{error:.1e}",
            )
            print(" ".join(f"{x:>{width}}" for x, (_, width) in zip(shown, COLUMNS)))
            print(f"{'':8} {found.ledger.integrator[:80]}")
    print("\nauto / dop853, the same steps of a free motion:")
    for name in ROBOTS:
        machine, *_ = robot(name)
        print(f"{name:8} {overhead(machine):7.4f}")


def overhead(machine: catena.Machine) -> float:
    """Return the time of a step of `auto` relative to one of dop853, in the same motion; the runs
    take turns.
    """
    v = 0.3 * np.random.default_rng(1).standard_normal(machine.nv)
    options = {"until": 10.0 * UNTIL, "limits": "ignore", "contact": "ignore"}
    spent: dict[str, list[float]] = {"dop853": [], "auto": []}
    for _ in range(6 * ROUNDS):
        for name, times in spent.items():
            began = time.process_time()
            catena.simulate(machine, None, v, integrator=name, **options)
            times.append(time.process_time() - began)
    plain, chosen = (np.sort(times)[: max(1, ROUNDS)].mean() for times in spent.values())
    return float(chosen / plain)


if __name__ == "__main__":
    main()
