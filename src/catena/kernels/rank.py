"""The metric in which the rank of constraint rows is decided. Every such decision uses it.

    A~ = N^-1/2 A C^1/2,      rank A = number of singular values of A~ that are not small relative
                              to one

C scales the speeds: 1 for a turn, l^2 for a slide. N scales the rows: 1 for the angle of two
directions, l^2 for a displacement or a screw. l is the length of the links of the loop, at the
mechanism's own parameters; a slide in several loops takes the shortest. A row that is given as an
expression has no natural size and is scaled by its entries.

No mass enters here, so that ratios of inertia do not matter. A change of the unit of length from m
to mm changes displacement rows, slides and l together, and A~ not at all. Entries of A~ are of
order one, and the rounding errors of entries that cancel are about 1e-16. They are never magnified,
as they would be if rows were normalised.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from .. import collision
from ..model import Motion, value_of
from ..model.loads import Holonomic
from ..spatial import filled, select, sweep

if TYPE_CHECKING:
    from ..model import Joint, Pose, Scalar
    from .tree import Layout

# a row whose squared distance from the span of the rows after it is smaller, relative to N and in
# this metric, is redundant: an angle of 1.7e-4
RANK = 3e-8
# eigenvalues of a mass matrix, scaled to a unit diagonal, that are smaller are rounding
SINGULAR = 1e-12
# singular values of A~ that are smaller count as zero where the configuration is exact, as for a
# question about mobility
EXACT = 1e-9
_LENGTHS: WeakKeyDictionary[Layout, float] = WeakKeyDictionary()  # `own_length`, computed once


@sweep
def independent(G, size, keep):
    """Fill keep (m,): 1 where a row is independent of the rows after it, else 0. G = A C A' (m, m),
    lower half, is overwritten.

    size (m,): N. If a loop is open by a small d, a redundant row has a pivot of about d^2 and a
    right side of about d, whose ratio would disturb the motion. Therefore rows are dropped at
    pivots far above rounding.
    """
    for k in range(len(keep) - 1, -1, -1):
        one = 1.0 + 0.0 * G[k, k]
        zero = 0.0 * G[k, k]
        kept = G[k, k] > RANK * size[k]
        keep[k] = select(kept, one, zero)
        d = keep[k] / select(kept, G[k, k], one)
        pushed = G[k]
        for i in filled(pushed, k):
            row, g = G[i], d * pushed[i]
            for j in filled(pushed, i + 1):
                row[j] -= g * pushed[j]


def motion_without_energy(M: np.ndarray) -> np.ndarray | None:
    """Return the speeds (n,) of a motion in which a mass matrix M (n, n) has no kinetic energy;
    None where M is regular.

    M is scaled to a unit diagonal first, and the speeds are in these scales, so that neither units
    nor ratios of inertia matter.
    """
    size = np.sqrt(np.abs(np.diag(M)))
    if (size == 0).any():
        return np.eye(len(M))[int(np.argmax(size == 0))]
    values, vectors = np.linalg.eigh(M / np.outer(size, size))
    return vectors[:, 0] if len(values) and values[0] < SINGULAR else None


# --- lengths
def column_scales(layout: Layout) -> np.ndarray:
    """Return C (nv,): 1 for the speed of a turn, the squared length of its shortest loop for that
    of a slide.
    """
    found = np.ones(layout.nv)
    usual = usual_length(layout)
    nearest: dict[int, float] = {}
    for j in layout.mechanism.loops:
        length = loop_length(layout, j)
        for vi in (layout.nodes[i].vi for path in _paths(layout, j) for i in path):
            nearest[vi] = min(length, nearest.get(vi, length))
    for place in layout.coordinates:
        if place.motion == Motion.SLIDE:
            found[place.vi] = nearest.get(place.vi, usual) ** 2
    return found


def speed_row_scales(layout: Layout) -> list[float]:
    """Return N of constraints and speed rows, in order: the squared length of the mechanism; 0 for
    constraints and expressions, which are scaled by their entries.
    """
    size = usual_length(layout) ** 2
    return [
        0.0 if isinstance(row, Holonomic) or row.text is not None else size
        for row in layout.mechanism.row_records
        for _ in row.labels
    ]


def loop_length(layout: Layout, loop: Joint) -> float:
    """Return l of a loop, m: the root of the sum of squares of its links' lengths, each from joint
    to joint; never zero.
    """
    seats = [(layout.seats[loop.parent], loop.placement), (layout.seats[loop.child], loop.offset)]
    links, feet = [], []
    for (seat, pose), path in zip(seats, _paths(layout, loop)):
        steps = [
            _position(layout, seat.pose @ pose),
            *(_position(layout, layout.nodes[i].pose) for i in path),
        ]
        feet.append(steps.pop())
        links += steps
    length = float(np.linalg.norm([*links, feet[0] - feet[1]]))
    return length or usual_length(layout)


def usual_length(layout: Layout) -> float:
    """Return a length (m) for loops that have no length of their own: `own_length`, or one where
    that is zero.
    """
    return own_length(layout) or 1.0


def own_length(layout: Layout) -> float:
    """Return a characteristic length of the mechanism, m: of all its links, or a wheel's radius, or
    of its bodies; zero for a point that slides.
    """
    if layout not in _LENGTHS:
        _LENGTHS[layout] = _length_of_links(layout)
    return _LENGTHS[layout]


def _length_of_links(layout: Layout) -> float:
    links = [_position(layout, node.pose) for node in layout.nodes if node.parent >= 0]
    lengths = (
        (row, name)
        for row in layout.mechanism.row_records
        for name, key in row.schema().items()
        if key.measure == "length"
    )
    wheels = [_number(layout, getattr(row, name)) for row, name in lengths]
    return (
        float(np.linalg.norm(links))
        or max(wheels, default=0.0)
        or _reach_of_contacts(layout)
        or _reach_of_bodies(layout)
    )


def _reach_of_bodies(layout: Layout) -> float:
    """Return the largest distance of a mass from its body's origin, m: the centre of mass, and the
    radius of gyration about it.
    """
    found = [0.0]
    for body in layout.mechanism.bodies:
        mass, *inertia = (
            _number(layout, x) for x in (body.mass, *(body.inertia[k] for k in (0, 3, 5)))
        )
        about = np.sqrt(max(inertia) / mass) if mass > 0.0 and max(inertia) > 0.0 else 0.0
        found.append(float(np.hypot(np.linalg.norm([_number(layout, x) for x in body.com]), about)))
    return max(found)


def _reach_of_contacts(layout: Layout) -> float:
    """Return the largest distance of a contact from its body's origin, m."""
    m = layout.mechanism
    if not m.contacts:
        return 0.0
    found = [
        float(np.hypot(np.linalg.norm([_number(layout, x) for x in p.centre]), p.radius))
        for p in collision.contact_points(m)
    ]
    found += [x.reach(m.parameters) for x in collision.contact_patches(m)]
    return max(found, default=0.0)


def _paths(layout: Layout, loop: Joint) -> tuple[list[int], list[int]]:
    """Return the nodes from each end of a loop towards their common ancestor, which is excluded,
    ends first.
    """
    both = []
    for body in (loop.parent, loop.child):
        path, i = [], layout.seats[body].node
        while i >= 0:
            path.append(i)
            i = layout.nodes[i].parent
        both.append(path)
    one, other = both
    return [i for i in one if i not in other], [i for i in other if i not in one]


def _position(layout: Layout, pose: Pose) -> np.ndarray:
    return np.array([_number(layout, x) for x in pose.position])


def _number(layout: Layout, x: Scalar) -> float:
    """Return the value of a scalar at the mechanism's own parameters."""
    return float(value_of(x, layout.mechanism.parameters) or 0.0)
