"""Tree: a mechanism as the arrays that kernels walk over, one row per elementary node.

A node turns about its z axis, slides along it, does both (screw), or is a ball. A joint of several
freedoms is several nodes, all but the last without mass; bodies on fixed joints are merged into the
node that carries them. A node's axis is mapped to z by a signed permutation where that is possible,
so that most entries of the placements are 0 or 1 and disappear from expressions.

A place on a flexible body by modes is a chain of nodes that follow the amplitudes of its shapes
(`lifting`); their coordinates come after the mechanism's own. The mass of such a body is on no
node: `compiler.beam_sections` and the formulations add it.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

import numpy as np

from .. import spatial
from ..errors import MechanismError
from ..model import (
    GROUND,
    Body,
    CoordinateFunction,
    Freedom,
    Joint,
    Mechanism,
    Motion,
    Pose,
    Shift,
    elementary,
    onto_z,
    per_speed,
    value_of,
)

RIGHT_ANGLE = "1.57079632679489661923132169163975144209858"
ROTATION_ROUNDING = 1e-15  # a few units of rounding of the entries of a rotation
# residues of right angles in placements, up to this size, become zeros: see `_residue`
SNAP = 1.1e-11


class Tree(NamedTuple):
    """Arrays over n nodes, parents first. Floats for compiled code; objects where parameters are
    symbols.
    """

    parent: np.ndarray  # (n,) index of the node below, -1 for the ground
    motion: np.ndarray  # (n,) a Motion
    qi: np.ndarray  # (n,) first coordinate of the node in q
    vi: np.ndarray  # (n,) first speed of the node in v
    # (n,) its own coordinate is ratio * q[qi] + shift: 1 and 0 unless it mimics another
    ratio: np.ndarray
    shift: np.ndarray  # (n,)
    pitch: np.ndarray  # (n,) metres per radian, of a screw
    E: np.ndarray  # (n, 3, 3) from the parent's axes into the node's, at coordinate zero
    r: np.ndarray  # (n, 3) origin in the parent's frame, at coordinate zero
    mass: np.ndarray  # (n,)
    h: np.ndarray  # (n, 3) mass times centre of mass
    J: np.ndarray  # (n, 6) Euler tensor about the node's origin ([Merwe1995] eq. 3.21)
    armature: np.ndarray  # (nv,)
    gravity: np.ndarray  # (3,)


@dataclass(frozen=True)
class Seat:
    """The place of a body: its node (-1: the ground), and its pose X_NB there."""

    node: int
    pose: Pose


@dataclass
class _Node:
    parent: int
    motion: Motion
    pose: Pose
    qi: int
    vi: int
    pitch: Any
    ratio: Any = 1.0
    shift: Any = 0.0


@dataclass(frozen=True)
class Follower:
    """A node's coordinate that follows the amplitudes from q[qi] and v[vi] on, or, by a function,
    the one coordinate q[qi].
    """

    qi: int
    vi: int
    shift: Shift | CoordinateFunction


@dataclass(frozen=True)
class CoordinateRange:
    """The part of q (from index qi on) and of v (from index vi on) that belongs to one elementary
    motion of the mechanism's own coordinates.
    """

    motion: Motion
    qi: int
    vi: int


@dataclass(frozen=True, eq=False)
class Layout:
    """A mechanism's nodes and seats, before its numbers become arrays.

    followers: of the coordinates after the first nq, in order.
    """

    mechanism: Mechanism
    nodes: tuple[_Node, ...]
    seats: dict[str, Seat]
    nq: int
    nv: int
    followers: tuple[Follower, ...] = ()

    @cached_property
    def coordinates(self) -> tuple[CoordinateRange, ...]:
        """The mechanism's own coordinates, in order."""
        found, qi, vi = [], 0, 0
        for f in (f for j in self.mechanism.moving for f in j.freedoms):
            found.append(CoordinateRange(f.motion, qi, vi))
            qi, vi = qi + f.nq, vi + f.nv
        return tuple(found)

    @property
    def coupled(self) -> bool:
        """Whether one coordinate moves several nodes, so that no articulated-body pass exists."""
        return len({node.vi for node in self.nodes}) < len(self.nodes)

    @property
    def modal(self) -> list[Any]:
        """The flexible bodies by modes (`flexible.modes.Modal`)."""
        return [flexed.modal for flexed in self.mechanism.beams if flexed.modal]

    @property
    def rigid(self) -> list[Body]:
        """The bodies that are not flexible bodies by modes."""
        bending = {modal.body for modal in self.modal}
        return [b for b in self.mechanism.bodies if b.name not in bending]

    def seat(self, frame: str) -> Seat:
        """Return the seat of a named frame or body."""
        f = self.mechanism.frame(frame)
        seat = self.seats[f.body]
        return Seat(seat.node, seat.pose @ f.pose)

    def sample(self, rng: np.random.Generator) -> np.ndarray:
        """Return random coordinates (nq,): normal numbers, unit quaternions."""
        q = rng.standard_normal(self.nq)
        for k in (c.qi for c in self.coordinates if c.motion == Motion.BALL):
            q[k : k + 4] /= np.linalg.norm(q[k : k + 4])
        return q

    def somewhere(self, seed: int) -> list[np.ndarray]:
        """Return random coordinates (nq,), and the mechanism's own parameter values (count,)."""
        return [
            self.sample(np.random.default_rng(seed)),
            np.array(list(self.mechanism.parameters.values())),
        ]

    def tree(self, value: Callable[[Any], Any] | None = None, snap: float = SNAP) -> Tree:
        """Return the arrays. `value` turns a scalar into a number or symbol; by default it is
        evaluated at the mechanism's own parameters. snap: the largest residue of a right angle that
        becomes zero.
        """
        if value is None:
            value = lambda x: x if isinstance(x, float) else value_of(x, self.mechanism.parameters)  # noqa: E731
        n, m = len(self.nodes), self.mechanism
        E = [spatial.transpose(node.pose.rotation) for node in self.nodes]
        mass, h, J = _masses(self, value)
        arrays = {
            "ratio": [value(node.ratio) for node in self.nodes],
            "shift": [value(node.shift) for node in self.nodes],
            "pitch": [value(node.pitch) for node in self.nodes],
            "E": [_snapped([[value(x) for x in row] for row in rows], snap) for rows in E],
            "r": [cleaned([value(x) for x in node.pose.position]) for node in self.nodes],
            "mass": mass,
            "h": h,
            "J": J,
            "armature": _armatures(self, value),
            "gravity": [value(x) for x in m.gravity],
        }
        shapes = {
            "E": (n, 3, 3),
            "r": (n, 3),
            "h": (n, 3),
            "J": (n, 6),
            "armature": (self.nv,),
            "gravity": (3,),
        }
        ready = {name: as_array(rows, shapes.get(name, (n,))) for name, rows in arrays.items()}
        ints = {
            k: np.array([getattr(node, k) for node in self.nodes], np.int64)
            for k in ("parent", "motion", "qi", "vi")
        }
        return Tree(**ints, **ready)


# by the id of a mechanism, which its layout keeps alive
_layouts: WeakValueDictionary[int, Layout] = WeakValueDictionary()


def layout(m: Mechanism) -> Layout:
    """Return the nodes of a valid mechanism: depth first, coordinates in the order of the file. The
    result is cached.

    Raise MechanismError where a flexible body is not discretised yet, and so has no coordinates.
    """
    found = _layouts.get(id(m))
    if found is None:
        found = _layouts[id(m)] = _laid_out(m)
    return found


def _laid_out(m: Mechanism) -> Layout:
    if left := next((b.name for b in m.bodies if b.flexible is not None), ""):
        raise MechanismError(
            f"body {left!r} is flexible and not yet made of pieces or modes; call"
            " discretise(mechanism) first"
        )
    first_q, first_v, nq, nv = {}, {}, 0, 0
    for j in m.moving:
        first_q[j.name], first_v[j.name] = nq, nv
        nq, nv = nq + j.nq, nv + j.nv
    nodes: list[_Node] = []
    followers: list[Follower] = []
    seats = {GROUND: Seat(-1, Pose())}
    for j in m.ordered:
        if j.deflection:
            leader = j.mimic.joint if j.mimic else j.name
            base = Seat(seats[j.parent].node, seats[j.parent].pose @ j.placement)
            place = _follow(
                nodes,
                followers,
                base,
                j.deflection.shifts,
                (first_q[leader], first_v[leader]),
                (nq, nv),
            )
            seats[j.child] = Seat(place.node, place.pose @ j.offset.inverse())
        elif j.mimic and j.mimic.function:
            leader = j.mimic.joint
            node, X = _node(
                nodes,
                j.freedoms[0],
                seats[j.parent].node,
                seats[j.parent].pose @ j.placement,
                nq + len(followers),
                nv + len(followers),
            )
            followers.append(Follower(first_q[leader], first_v[leader], j.mimic.function))
            seats[j.child] = Seat(node, X @ j.offset.inverse())
        else:
            seats[j.child] = _add(nodes, seats[j.parent], j, first_q, first_v)
    return Layout(m, tuple(nodes), seats, nq, nv, tuple(followers))


def _add(
    nodes: list[_Node], base: Seat, j: Joint, first_q: Mapping[str, int], first_v: Mapping[str, int]
) -> Seat:
    """Append the nodes of one joint; return the seat of its child."""
    leader = j.mimic.joint if j.mimic else j.name
    parent = base.node
    X = base.pose @ j.placement
    qi = first_q.get(leader, 0)
    vi = first_v.get(leader, 0)
    for f in j.freedoms:
        parent, X = _node(nodes, f, parent, X, qi, vi)
        if j.mimic:
            nodes[-1].ratio = j.mimic.multiplier
            nodes[-1].shift = j.mimic.offset
        qi, vi = qi + f.nq, vi + f.nv
    return Seat(parent, X @ j.offset.inverse())


def _follow(
    nodes: list[_Node],
    followers: list[Follower],
    base: Seat,
    shifts: tuple[Shift, ...],
    leader: tuple[int, int],
    own: tuple[int, int],
) -> Seat:
    """Append nodes that follow amplitudes, and return the seat that they carry. own: the
    mechanism's own numbers of q and v.
    """
    parent, X = base.node, base.pose
    for shift in shifts:
        parent, X = _node(
            nodes,
            elementary(shift.motion),
            parent,
            X,
            own[0] + len(followers),
            own[1] + len(followers),
        )
        followers.append(Follower(*leader, shift))
    return Seat(parent, X)


def _node(
    nodes: list[_Node], f: Freedom, parent: int, X: Pose, qi: int, vi: int
) -> tuple[int, Pose]:
    """Append the node of one elementary motion at X on its parent; return its index, and the pose
    of the next one on it.
    """
    Z = onto_z(f.axis) if f.motion != Motion.BALL else Pose()
    nodes.append(_Node(parent, f.motion, X @ Z, qi, vi, f.pitch))
    return len(nodes) - 1, Z.inverse()


# --- numbers
def _masses(self: Layout, value: Callable[[Any], Any]) -> tuple[list[Any], list[Any], list[Any]]:
    """Return mass, first moment and Euler tensor of each node: the sums over the bodies that it
    carries.
    """
    n = len(self.nodes)
    mass = [0.0] * n
    h = [(0.0, 0.0, 0.0)] * n
    J = [(0.0,) * 6] * n
    for b in self.rigid:
        seat = self.seats[b.name]
        i = seat.node
        if i < 0:
            continue
        m, hb, Jb = seated(b, seat, value)
        mass[i], h[i], J[i] = mass[i] + m, spatial.add(h[i], hb), spatial.sadd(J[i], Jb)
    return mass, [cleaned(x) for x in h], [cleaned(x) for x in J]


def _armatures(self: Layout, value: Callable[[Any], Any]) -> list[Any]:
    """Return the rotor inertia at each speed: a joint's own, and those of its followers times their
    ratio squared.
    """
    return [value(x) for x in per_speed(self.mechanism, "armature")]


def seated(
    b: Body, seat: Seat, value: Callable[[Any], Any]
) -> tuple[Any, tuple[Any, ...], tuple[Any, ...]]:
    """Return mass, first moment and Euler tensor of a body about the origin of its node, in the
    node's axes.
    """
    R = tuple(tuple(value(x) for x in row) for row in seat.pose.rotation)
    p = tuple(value(x) for x in seat.pose.position)
    m = value(b.mass)
    c = spatial.add(p, spatial.rotate(R, tuple(value(x) for x in b.com)))
    Jc = spatial.euler_tensor(tuple(value(x) for x in b.inertia))
    turned = spatial.unrotate_symmetric(spatial.transpose(R), Jc)
    shifted = tuple(m * x for x in spatial.outer(c))  # parallel axes, [Merwe1995] eq. 3.33
    return m, spatial.scale(m, c), spatial.sadd(turned, shifted)


def _snapped(rows: Any, snap: float) -> list[list[Any]]:
    """Return a rotation in which rounding errors of right angles are replaced by zeros, and entries
    by ones where the rest of their row is zero.
    """
    found = [
        [0.0 if isinstance(x, float) and _residue(x, snap) else x for x in row] for row in rows
    ]
    for row in found if snap else ():
        where = [k for k, x in enumerate(row) if not isinstance(x, float) or x != 0.0]
        if len(where) == 1 and isinstance(row[where[0]], float):
            row[where[0]] = math.copysign(1.0, row[where[0]])
    return found


def _residue(x: float, snap: float) -> bool:
    """Return whether an entry is the rounding error of a right angle that was computed, or printed
    with a limited number of digits. In a file, 1.57079632679 means pi/2, written with eleven
    decimals; its cosine 4.897e-12 is not an intended tilt. An entry counts only if it equals such a
    residue to the last units of rounding (or sums of a few: placements are multiplied), and is at
    most `snap` large.
    """
    size = abs(x)
    if size > snap:
        return False
    return size <= ROTATION_ROUNDING or any(
        abs(size - n * r) <= ROTATION_ROUNDING for r in _residues() if r <= snap for n in (1, 2, 3)
    )


@functools.cache
def _residues() -> tuple[float, ...]:
    """Return the cosines and sines that are not exactly zero although they should be, for pi/2, pi
    and 3 pi/2 printed with two to fifteen decimals, rounded or truncated.
    """
    angles = [k * Fraction(RIGHT_ANGLE) for k in (1, 2, 3)]
    cut = (
        (angle, Fraction(math.floor(angle * 10**digits) + up, 10**digits))
        for angle in angles
        for digits in range(2, 16)
        for up in (0, 1)
    )
    return tuple(sorted({float(abs(angle - printed)) for angle, printed in cut}))


def cleaned(row: Any) -> list[Any]:
    """Return a row with entries set to zero that are below 1e-14 relative to its largest entry."""
    size = max((abs(x) for x in row if isinstance(x, float)), default=0.0)
    return [0.0 if isinstance(x, float) and abs(x) <= 1e-14 * size else x for x in row]


def as_array(rows: Any, shape: tuple[int, ...]) -> np.ndarray:
    """Return nested rows as an array: doubles where all are numbers, objects where some are
    symbols.
    """
    flat = np.empty(int(np.prod(shape)), dtype=object)
    for k, x in enumerate(_flatten(rows)):
        flat[k] = x
    numeric = all(isinstance(x, (float, int)) for x in flat)
    return flat.reshape(shape).astype(np.float64) if numeric else flat.reshape(shape)


def _flatten(rows: Any) -> Any:
    for row in rows:
        if isinstance(row, (list, tuple)):
            yield from _flatten(row)
        else:
            yield row
