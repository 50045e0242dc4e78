"""Chains: the joints that carry each body of a MuJoCo model, which may have several joints of its
own.
"""

from __future__ import annotations

from typing import NamedTuple

from ...model import Body, Freedom, Joint, Mechanism, Pose


class Step(NamedTuple):
    """One MuJoCo joint: the catena joint that it belongs to, its motion, its name, and the pose K
    of its frame in the body.
    """

    joint: Joint
    freedom: Freedom
    name: str
    K: Pose
    speeds: slice


class Chains:
    """The joints that carry each MuJoCo body: its own, and those of the massless bodies between it
    and its parent.
    """

    def __init__(self, m: Mechanism):
        self.m = m
        self.carried: dict[str, list[Joint]] = {}
        for j in m.joints:
            self.carried.setdefault(j.parent, []).append(j)
        self.held = {j.child: j for j in m.joints}
        named = {f.body for f in m.frames} | {b for j in m.loops for b in (j.parent, j.child)}
        named |= {name for x in m.loads for name in x.holding("frame", "frames")}
        self.absorbed = {
            b.name
            for b in m.bodies
            if not (b.mass or any(b.inertia) or b.shapes)
            and b.name not in named
            and len(self.carried.get(b.name, ())) == 1
            and self.held[b.name].nv
            and self.carried[b.name][0].nv
        }

    def row(self, body: str) -> list[Joint]:
        """Return the joints of a body, root to leaf."""
        found = [self.held[body]]
        while found[0].parent in self.absorbed:
            found.insert(0, self.held[found[0].parent])
        return found

    def parent(self, body: str) -> str:
        """Return the name of the body, or the ground, that carries it."""
        return self.row(body)[0].parent

    def rest(self, body: str) -> Pose:
        """Return X_PB where all coordinates are zero."""
        X = Pose()
        for j in self.row(body):
            X = X @ j.placement @ j.offset.inverse()
        return X

    def steps_of(self, body: str) -> list[Step]:
        """Return its joints, one for each elementary motion, root to leaf."""
        found: list[Step] = []
        after = Pose()  # from behind the motions of a joint to the body
        for j in reversed(self.row(body)):
            after = j.offset.inverse() @ after
            names = iter(_step_names(j))
            k = 0
            own = []
            for f in j.freedoms:
                own.append(Step(j, f, next(names), after.inverse(), slice(k, k + f.nv)))
                k += f.nv
            found = own + found
            after = j.placement @ after
        return found

    def welded(self, body: str) -> list[Body]:
        """Return the body and those fixed to it."""
        found = [self.m.body(body)]
        for j in self.carried.get(body, ()):
            found += self.welded(j.child) if not j.nv else []
        return found


def _step_names(j: Joint) -> list[str]:
    """Return one name for each elementary motion: the joint's own where there is one motion."""
    if len(j.freedoms) == 1:
        return [j.name]
    return [f"{j.name}.{f.labels[0] if f.nq == 1 else 'turn'}" for f in j.freedoms]
