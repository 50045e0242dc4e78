"""How much faster than Pinocchio are inverse and forward dynamics of large trees over a batch, on
one thread? Asked: 8 times.

Random trees of 100 and 300 bodies on turning joints with axes in any direction, placed anywhere:
nothing folds away. `auto` is what a batch gets by itself; `generic` compiles nothing for a
mechanism, `lanes` its own tape.
"""

from __future__ import annotations

import sys
import time

import numpy as np
import pinocchio as pin
from loops_against_pinocchio import pinocchio_model
from peers import interleaved, size

import catena
from catena import Body, Joint, Mechanism, Pose

BATCH = size(512, 16)


def tree(n: int) -> Mechanism:
    """n bodies, each on one of the three before it."""
    rng = np.random.default_rng(n)
    bodies = [
        Body(
            f"b{i}", rng.uniform(0.5, 1.5), 0.1 * rng.standard_normal(3), rng.uniform(0.01, 0.02, 3)
        )
        for i in range(n)
    ]
    joints = []
    for i in range(n):
        parent = f"b{max(0, i - 1 - rng.integers(3))}" if i else "ground"
        axis = rng.standard_normal(3)
        place = Pose(position=0.2 * rng.standard_normal(3))
        joints.append(
            Joint(f"j{i}", "revolute", parent, f"b{i}", place, axis=axis / np.linalg.norm(axis))
        )
    return Mechanism(f"tree{n}", tuple(bodies), tuple(joints))


def main(lives: list[str]) -> None:
    print(
        f"{'bodies':>6} {'life':8} {'quantity':18} {'first':>7} {'Pinocchio':>10} {'catena':>10}"
        f" {'ratio':>6} {'error':>8}"
    )
    for n in size((100, 300), (80,)):
        mechanism = tree(n)
        rng = np.random.default_rng(1)
        model = pinocchio_model(mechanism)[0]
        pool = pin.ModelPool(model, 1)
        for life in lives:
            machine = catena.compile(mechanism, threads=1, life=life)
            q, v, a = rng.standard_normal((3, BATCH, n))
            Q, V, A = (np.asfortranarray(x.T) for x in (q, v, a))
            for quantity, theirs in (
                ("inverse_dynamics", pin.rneaInParallel),
                ("forward_dynamics", pin.abaInParallel),
            ):
                ours = getattr(machine, quantity)
                began = time.perf_counter()
                result = ours(q, v, a)
                first = time.perf_counter() - began
                expected = theirs(1, pool, Q, V, A).T
                error = np.abs(result - expected).max() / np.abs(expected).max()
                mine, peer = interleaved(
                    lambda f=ours, s=(q, v, a): f(*s),
                    lambda f=theirs, s=(Q, V, A): f(1, pool, *s),
                    15,
                )
                print(
                    f"{n:6} {life:8} {quantity:18} {first:5.2f} s {peer / BATCH * 1e9:7.0f} ns"
                    f" {mine / BATCH * 1e9:7.0f} ns {peer / mine:6.1f} {error:8.0e}"
                )


if __name__ == "__main__":
    main(
        [word for word in sys.argv[1:] if word != "--tiny"]
        or size(["auto", "generic"], ["generic"])
    )
