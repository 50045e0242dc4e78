"""Questions of closed mechanisms for many states at once, beside the same one state at a time:
assembly, a turn of the crank, mobility, linearisation and modes.

1024 starts scattered around the assembled place, with speeds that tear the loops; a turn in 361
instants with speeds and accelerations; the others at the states that were assembled. One by one are
the calls of the same functions with one state.

    python benchmarks/assembly_in_lanes.py
"""

from __future__ import annotations

import numpy as np
from peers import best, size

import catena
from catena.analysis import kinematics

STARTS = size(1024, 8)
INSTANTS = size(361, 20)
ALONE = size(16, 2)


def main() -> None:
    print(
        f"{'':16}{'assembly, lanes':>18}{'one by one':>12}{'turn, lanes':>14}{'one by one':>12}    "
        " (us per state)"
    )
    for name in ("four_bar", "slider_crank", "bricard")[: size(3, 1)]:
        machine = catena.compile(catena.load(name), threads=1)
        rng, (q, _) = np.random.default_rng(0), catena.assemble(machine)
        starts = machine.move(
            np.tile(q, (STARTS, 1)), 0.3 * rng.standard_normal((STARTS, machine.nv))
        )
        speeds = rng.standard_normal((STARTS, machine.nv))
        together = best(lambda: catena.assemble(machine, starts, speeds), 0.0, 3) / STARTS
        alone = (
            best(
                lambda: [catena.assemble(machine, starts[k], speeds[k]) for k in range(ALONE)],
                0.0,
                2,
            )
            / ALONE
        )
        line = f"{name:16}{1e6 * together:18.1f}{1e6 * alone:12.0f}"
        if name != "bricard":  # its coordinates are driven by no single crank
            crank = machine.coordinate_names[0]
            angles = q[0] + np.linspace(0, 2 * np.pi, INSTANTS)
            turn = (
                best(lambda: kinematics(machine, {crank: (angles, 2.0, 0.5)}, q), 0.0, 3) / INSTANTS
            )
            each = (
                best(
                    lambda: [
                        kinematics(machine, {crank: (x, 2.0, 0.5)}, q) for x in angles[:ALONE]
                    ],
                    0.0,
                    2,
                )
                / ALONE
            )
            line += f"{1e6 * turn:14.1f}{1e6 * each:12.0f}"
        print(line)
        questions(machine, *catena.assemble(machine, starts, speeds))


def questions(machine: catena.Machine, q: np.ndarray, v: np.ndarray) -> None:
    """Mobility, linearisation and modes at closed states."""
    tau = machine.bias(q, np.zeros_like(v))  # what holds them at rest
    asked = {
        "mobility": lambda k: catena.mobility(machine, q[k]),
        "linearize": lambda k: catena.linearize(machine, q[k], v[k]),
        "modes": lambda k: catena.modes(machine, q[k], tau[k]),
    }
    for name, ask in asked.items():
        together = best(lambda f=ask: f(slice(None)), 0.0, 3) / len(q)
        alone = best(lambda f=ask: [f(k) for k in range(ALONE)], 0.0, 2) / ALONE
        print(f"    {name:12}{1e6 * together:18.1f}{1e6 * alone:12.0f}")


if __name__ == "__main__":
    main()
