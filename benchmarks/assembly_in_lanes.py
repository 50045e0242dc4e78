"""Questions of closed mechanisms for many states at once, beside the same one state at a time: assembly, and a turn of the crank.

1024 starts scattered around the assembled place, with speeds that tear the loops; a turn in 361 instants with speeds and
accelerations. One by one are the calls of the same functions with one state.

    python benchmarks/assembly_in_lanes.py
"""

from __future__ import annotations

import numpy as np
from peers import best, size

import catena
from catena.analysis import kinematics

STARTS, INSTANTS, ALONE = size(1024, 8), size(361, 20), size(16, 2)


def main() -> None:
    print(f"{'':16}{'assembly, lanes':>18}{'one by one':>12}{'turn, lanes':>14}{'one by one':>12}     (us per state)")
    for name in ("four_bar", "slider_crank", "bricard")[: size(3, 1)]:
        machine = catena.compile(catena.load(name), threads=1)
        rng, (q, _) = np.random.default_rng(0), catena.assemble(machine)
        starts = machine.move(np.tile(q, (STARTS, 1)), 0.3 * rng.standard_normal((STARTS, machine.nv)))
        speeds = rng.standard_normal((STARTS, machine.nv))
        together = best(lambda: catena.assemble(machine, starts, speeds), 0.0, 3) / STARTS
        alone = best(lambda: [catena.assemble(machine, starts[k], speeds[k]) for k in range(ALONE)], 0.0, 2) / ALONE
        line = f"{name:16}{1e6 * together:18.1f}{1e6 * alone:12.0f}"
        if name != "bricard":  # its coordinates are driven by no single crank
            crank, angles = machine.coordinate_names[0], q[0] + np.linspace(0, 2 * np.pi, INSTANTS)
            turn = best(lambda: kinematics(machine, {crank: (angles, 2.0, 0.5)}, q), 0.0, 3) / INSTANTS
            each = best(lambda: [kinematics(machine, {crank: (x, 2.0, 0.5)}, q) for x in angles[:ALONE]], 0.0, 2) / ALONE
            line += f"{1e6 * turn:14.1f}{1e6 * each:12.0f}"
        print(line)


if __name__ == "__main__":
    main()
