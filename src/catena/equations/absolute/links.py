"""Links: bodies that move as one. A link is the body that a moving joint carries, with everything
welded to it; the ground has welded bodies too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ...model import GROUND, Joint, Mechanism, Pose, value_of
from ...spatial import add, dot, neg, outer, rotate, sadd, scale, sub, transpose, unrotate_symmetric

# residues of right angles in placements; finer than the kernels', because every joint here snaps on
# its own
SNAP = 1e-12


@dataclass(frozen=True)
class Member:
    """A body of a link, in the link's axes and relative to the link's centre of mass: axes R,
    origin, com (m), inertia (kg m2).

    A member of the ground is relative to the ground's origin. A body that bends by modes is
    included without its mass, which moves relative to its frame.
    """

    name: str
    mass: Any
    R: tuple[Any, ...]
    origin: tuple[Any, ...]
    com: tuple[Any, ...]
    inertia: tuple[Any, ...]


@dataclass(frozen=True)
class Link:
    """One free body, in the axes of the body that its joint carries. inertia: about the centre of
    mass, (xx, xy, xz, yy, yz, zz).

    at: the centre of mass in the carried body's frame, or that frame's origin where nothing has
    mass.
    """

    joint: Joint
    members: tuple[Member, ...]
    mass: Any
    inertia: tuple[Any, ...]
    at: tuple[Any, ...]

    @property
    def name(self) -> str:
        """The name of the body that its joint carries."""
        return self.joint.child


@dataclass(frozen=True)
class JointSide:
    """One side of a joint: a frame on a link (-1: the ground), in the link's axes and relative to
    its centre of mass.
    """

    link: int
    R: tuple[Any, ...]
    p: tuple[Any, ...]


class Welded:
    """The links of a mechanism, `ground` (the members that are fixed), and the side of a joint on
    any body.
    """

    def __init__(self, m: Mechanism, value: Callable[[Any], Any]):
        self._value = value
        self._bending = {x.modal.body for x in m.beams if x.modal}
        home: dict[str, tuple[int, Pose]] = {GROUND: (-1, Pose())}
        carried: list[Joint] = []
        for j in m.ordered:
            if j.nv:
                home[j.child] = (len(carried), Pose())
                carried.append(j)
            else:
                k, X = home[j.parent]
                home[j.child] = (k, X @ j.pose(()))
        self._home = home
        seen = [self._member(m, name) for name in home if name != GROUND]
        self.ground = tuple(x for x in seen if home[x.name][0] < 0)
        groups = [tuple(x for x in seen if home[x.name][0] == k) for k in range(len(carried))]
        heavy = {
            b.name
            for b in m.bodies
            if b.name not in self._bending and value_of(b.mass, m.parameters)
        }
        self.links = [_link(j, group, heavy) for j, group in zip(carried, groups)]

    def _member(self, m: Mechanism, name: str) -> Member:
        """Return a body in its link's frame."""
        b = m.body(name)
        pose = self._home[name][1]
        R, p = self._seen(pose)
        if name in self._bending:
            return Member(name, 0.0, R, p, p, (0.0,) * 6)
        com, inertia = (tuple(self._value(x) for x in values) for values in (b.com, b.inertia))
        turned = inertia if pose == Pose() else unrotate_symmetric(transpose(R), inertia)
        return Member(name, self._value(b.mass), R, p, add(p, rotate(R, com)), turned)

    def _seen(self, X: Pose) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        R, p = (
            [snapped(self._value(x)) for x in values]
            for values in ([x for row in X.rotation for x in row], X.position)
        )
        return (tuple(R[:3]), tuple(R[3:6]), tuple(R[6:])), tuple(p)

    def side(self, body: str, frame: Pose) -> JointSide:
        """Return the side of a joint whose frame has this pose on this body."""
        k, X = self._home[body]
        R, p = self._seen(X @ frame)
        return JointSide(k, R, sub(p, self.links[k].at) if k >= 0 else p)


def snapped(x: Any) -> Any:
    """Return a number of a placement, rounded to a whole number if it differs from one by rounding
    only.
    """
    return float(round(x)) if isinstance(x, float) and abs(x - round(x)) < SNAP else x


def _link(j: Joint, members: Sequence[Member], heavy: set[str]) -> Link:
    """Return the link that the members form, about their common centre of mass. heavy: the bodies
    that have mass.
    """
    if len(members) == 1:
        (only,) = members
        mass, at = only.mass, only.com
    elif any(x.name in heavy for x in members):
        mass = sum(x.mass for x in members)
        moment = (0.0, 0.0, 0.0)
        for x in members:
            moment = add(moment, scale(x.mass, x.com))
        at = scale(1.0 / mass, moment)
    else:
        mass, at = 0.0, (0.0, 0.0, 0.0)
    seen = tuple(
        Member(x.name, x.mass, x.R, sub(x.origin, at), sub(x.com, at), x.inertia) for x in members
    )
    inertia = (0.0,) * 6
    for x in seen:
        inertia = sadd(
            inertia, sadd(x.inertia, _parallel(x.mass, x.com)) if len(seen) > 1 else x.inertia
        )
    return Link(j, seen, mass, inertia, at)


def _parallel(mass: Any, c: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return m (c.c 1 - c c'), the term that a centre of mass at c adds to an inertia (parallel
    axes).
    """
    d = dot(c, c)
    return tuple(
        mass * x for x in sadd((d, 0.0, 0.0, d, 0.0, d), neg(outer(c)[:3]) + neg(outer(c)[3:]))
    )
