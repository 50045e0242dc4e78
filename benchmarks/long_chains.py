"""Does forward dynamics of a serial chain of n bodies cost the same for every body, from 10 to 10
000? Asked: within 1.5.
"""

from __future__ import annotations

import tracemalloc

import numpy as np
from peers import best, size

import catena


def chain(n: int) -> catena.Mechanism:
    """n rods hinged end to end, axes turned by a right angle from one to the next."""
    bodies = [catena.Body(f"rod{i}", 1.0, (0, 0, -0.05), (1e-3, 1e-3, 1e-4)) for i in range(n)]
    joints = [
        catena.Joint(
            f"hinge{i}",
            "revolute",
            "ground" if i == 0 else f"rod{i - 1}",
            f"rod{i}",
            catena.Pose(position=(0, 0, -0.1 if i else 0)),
            axis=(1, 0, 0) if i % 2 else (0, 1, 0),
        )
        for i in range(n)
    ]
    return catena.Mechanism(f"chain{n}", tuple(bodies), tuple(joints))


def main() -> None:
    rng = np.random.default_rng(0)
    catena.compile(chain(3)).forward_dynamics(np.zeros(3), np.zeros(3), np.zeros(3))
    costs = []
    print(f"{'bodies':>7} {'a body':>9} {'memory a body':>14}")
    for n in size((10, 100, 1000, 10_000), (100, 200)):
        tracemalloc.start()
        machine = catena.compile(chain(n))
        memory = tracemalloc.get_traced_memory()[0] / n
        tracemalloc.stop()
        q, v, tau = 0.1 * rng.standard_normal((3, n))
        cost = best(lambda m=machine, s=(q, v, tau): m.forward_dynamics(*s)) / n
        costs.append(cost)
        print(f"{n:7} {cost * 1e9:6.0f} ns {memory / 1024:11.1f} kB")
    print(f"largest over smallest: {max(costs) / min(costs):.2f}")


if __name__ == "__main__":
    main()
