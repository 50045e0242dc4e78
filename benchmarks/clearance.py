"""How much faster than Coal is the self-clearance of a Panda over a batch, on one thread?

100 000 configurations within the joints' limits, every pair of capsules (and the box around the
finger tips) that are not neighbours; poses included on both sides. Pinocchio's `computeDistances`
is a loop in C++ over the pairs of one configuration. Both in seconds of the processor, which a busy
machine does not stretch. Asked: at least 20 times.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import coal
import numpy as np
import pinocchio as pin
from peers import size, urdf

import catena
from catena.collision.collision_pairs import Collider, colliders
from robots import panda_in_capsules

BATCH = size(100_000, 64)
PEER = size(200, 8)
ROUNDS = size(5, 1)


def geometry(
    model: pin.Model, machine: catena.Machine, pairs: tuple[tuple[str, str], ...]
) -> pin.GeometryModel:
    """The same shapes and pairs for Pinocchio."""
    made = pin.GeometryModel()
    for c in colliders(machine.mechanism):
        frame = model.frames[model.getFrameId(c.body)]
        X = frame.placement * pin.SE3(c.shape.pose.matrix())
        made.addGeometryObject(
            pin.GeometryObject(c.name, frame.parentJoint, frame.parentFrame, X, solid(c))
        )
    for a, b in pairs:
        made.addCollisionPair(pin.CollisionPair(made.getGeometryId(a), made.getGeometryId(b)))
    return made


def best(f: Callable[[], object], least: int = 3) -> float:
    """The shortest of some runs, in seconds of this thread."""
    times = []
    for _ in range(least):
        began = time.thread_time()
        f()
        times.append(time.thread_time() - began)
    return min(times)


def solid(c: Collider) -> coal.ShapeBase:
    return {"capsule": coal.Capsule, "box": coal.Box}[c.shape.kind](*c.shape.size)


def main() -> None:
    model = pin.buildModelFromUrdf(str(urdf("panda")))
    rng = np.random.default_rng(0)
    print(
        f"{'shapes':16} {'pairs':>5} {'asked':22} {'Coal':>9} {'catena':>9} {'ratio':>6}"
        f" {'error':>8}"
    )
    for title, tips in (("capsules", False), ("capsules, a box", True))[: size(2, 1)]:
        machine = catena.compile(panda_in_capsules(tips), threads=1)
        q = rng.uniform(model.lowerPositionLimit, model.upperPositionLimit, (BATCH, model.nq))
        asked = catena.clearance(machine, q)
        shapes = geometry(model, machine, asked.pairs)
        data = model.createData()
        found = shapes.createData()
        exact = np.empty((PEER, len(asked.pairs)))

        def theirs(fill: bool = False) -> None:
            for k in range(PEER):
                pin.computeDistances(model, data, shapes, found, q[k])
                if fill:
                    exact[k] = [r.min_distance for r in found.distanceResults]

        theirs(True)
        error = np.abs(asked.distance[:PEER] - exact).max()
        for what, points in (("distances", False), ("distances and points", True)):

            def ours(points: bool = points) -> object:
                answer = catena.clearance(machine, q)
                return answer.normal if points else answer.distance

            ours()
            rounds = [(best(ours) / BATCH, best(theirs) / PEER) for _ in range(ROUNDS)]
            mine, peer = (min(x) for x in zip(*rounds))
            print(
                f"{title:16} {len(asked.pairs):5} {what:22} {peer * 1e6:6.2f} us {mine * 1e6:6.3f}"
                f" us {peer / mine:6.1f} {error:8.0e}"
            )


if __name__ == "__main__":
    main()
