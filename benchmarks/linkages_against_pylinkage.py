"""How many positions of a planar linkage per second and core, against pylinkage in the same run?

The same linkages with the same dimensions: a four-bar with a coupler point, a Stephenson six-bar
and Jansen's leg. pylinkage runs its compiled loop (Numba) without the objects around it; it
computes velocities only together with accelerations, so that both do. `equal`: the largest
difference of positions over one turn, relative to the size of the linkage. Times are those of the
processor, and the two are measured in turns.
"""

from __future__ import annotations

import time

import numba  # noqa: F401  without it pylinkage runs its loop in plain Python, some 40 times slower
import numpy as np
from peers import size
from pylinkage.solver.simulation import simulate, simulate_with_kinematics

import catena

N = size(10_000, 200)
ROUNDS = size(30, 1)
STATIC, CRANK, REVOLUTE, FIXED = 0, 1, 2, 3
# our file, driven joint, signs; the points: (kind, the points it is found from). Points are frames
# of ours, or numbers for the ground.
LINKAGES = {
    "four_bar": (
        "motor pin",
        [1],
        {
            "motor pin": (STATIC, ()),
            "near": (STATIC, ()),
            "upper pin": (CRANK, ("motor pin",)),
            "far pin": (REVOLUTE, ("upper pin", "near")),
            "marker": (FIXED, ("upper pin", "far pin")),
        },
    ),
    "stephenson_linkage": (
        "A",
        [-1, -1],
        {
            "A": (STATIC, ()),
            "G": (STATIC, ()),
            "F": (STATIC, ()),
            "B": (CRANK, ("A",)),
            "C": (REVOLUTE, ("B", "G")),
            "D": (FIXED, ("B", "C")),
            "E": (REVOLUTE, ("D", "F")),
        },
    ),
    "jansen_linkage": (
        "O",
        [-1, 1, -1],
        {
            "O": (STATIC, ()),
            "P upper": (STATIC, ()),
            "C upper": (CRANK, ("O",)),
            "J1": (REVOLUTE, ("C upper", "P upper")),
            "J2": (REVOLUTE, ("C upper", "P upper")),
            "J3": (FIXED, ("P upper", "J1")),
            "J4": (REVOLUTE, ("J3", "J2")),
            "foot": (FIXED, ("J2", "J4")),
        },
    ),
}


class Peer:
    """The arrays of pylinkage's loop, with dimensions measured at our first position."""

    def __init__(self, points: dict, start: np.ndarray):
        names = list(points)
        at = dict(zip(names, start @ [1, 1j]))
        values = []
        for name, (kind, parents) in points.items():
            p = [at[x] for x in parents]
            values.append(
                {
                    STATIC: lambda: (),
                    CRANK: lambda: (abs(at[name] - p[0]), 2 * np.pi / N),
                    REVOLUTE: lambda: tuple(abs(at[name] - x) for x in p),
                    FIXED: lambda: (
                        abs(at[name] - p[0]),
                        np.angle((at[name] - p[0]) / (p[1] - p[0])),
                    ),
                }[kind]()
            )
        self.start = np.ascontiguousarray(start)
        places = [[*(names.index(x) for x in p), -1, -1, -1][:3] for _, p in points.values()]
        self.same = (
            np.array([x for v in values for x in v], float),
            np.array([kind for kind, _ in points.values()], np.int32),
            np.array(places, np.int32),
            np.cumsum([0, *map(len, values[:-1])]).astype(np.int32),
            np.arange(len(names), dtype=np.int32),
        )
        self.cranks = np.flatnonzero(self.same[1] == CRANK).astype(np.int32)

    def positions(self) -> np.ndarray:
        return simulate(self.start.copy(), *self.same, N, 1.0)

    def rates(self) -> tuple:
        zeros = [np.zeros_like(self.start) for _ in range(2)]
        one = np.ones(1)
        return simulate_with_kinematics(
            self.start.copy(), *zeros, *self.same, one, 0.0 * one, self.cranks, N, 1.0
        )


def fastest(*functions) -> list[float]:
    """The shortest processor time of each, measured in turns."""
    times = [[] for _ in functions]
    for _ in range(ROUNDS + 1):
        for f, own in zip(functions, times):
            begin = time.process_time()
            f()
            own.append(time.process_time() - begin)
    return [max(min(own[1:]), 1e-9) for own in times]


def main() -> None:
    print(f"{'linkage':20} {'asked':17} {'ours, M/s':>10} {'theirs':>8} {'ratio':>7} {'equal':>9}")
    for name, (driven, signs, points) in LINKAGES.items():
        m = catena.load(name)
        frames = [x for x in points if x != "near"]
        ours = catena.linkages.linkage(m, driven, frames=frames)
        angle = 0.5 + 2 * np.pi * np.arange(1, N + 1) / N
        speed, still = np.ones(N), np.zeros(N)
        first = dict(zip(frames, ours.positions(0.5, modes=signs).points[:, :2]))
        first |= {"near": np.array([m.parameters.get("span", 0.0), 0.0])}
        peer = Peer(points, np.array([first[x] for x in points]))
        theirs = peer.positions()[:, [list(points).index(x) for x in frames]]
        mine = ours.positions(angle, modes=signs).points[..., :2]
        equal = np.abs(theirs - mine).max() / np.ptp(mine, axis=(0, 1)).max()
        pairs = {
            "with velocities": (
                lambda: ours.positions(angle, speed, modes=signs, coordinates=False),
                peer.rates,
            ),
            "points alone": (
                lambda: ours.positions(angle, modes=signs, coordinates=False),
                peer.positions,
            ),
            "accelerations too": (
                lambda: ours.positions(angle, speed, still, modes=signs, coordinates=False),
                peer.rates,
            ),
            "joint angles too": (
                lambda: ours.positions(angle, speed, still, modes=signs),
                peer.rates,
            ),
        }
        for asked, both in pairs.items():
            a, b = fastest(*both)
            print(
                f"{name:20} {asked:17} {N / a / 1e6:10.1f} {N / b / 1e6:8.2f} {b / a:7.1f}"
                f" {equal:9.1e}"
            )


if __name__ == "__main__":
    main()
