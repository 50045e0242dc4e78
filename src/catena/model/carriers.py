"""Carriers: the rotation of a body about one axis of another body that carries it, or its
translation along that axis, as a sum of coordinates of the tree.

    turn = sum of sign q        over the joints from the body to the carrier, all of which turn
                                about one direction

The carrier may be any body on any branch: a sun gear turns in the arm of a planetary train by its
own angle minus the arm's.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ..errors import MechanismError
from .joints import Joint
from .loads import identifier
from .mechanism import GROUND, Mechanism
from .motions import Motion
from .pose import Vector
from .values import value_of

MOTIONS = {"turning": Motion.TURN, "sliding": Motion.SLIDE}
VERBS = {"turning": "turn about", "sliding": "slide along"}
AXIS_COSINE_TOLERANCE = 1e-9  # the largest 1 - |cosine| of two axes that count as parallel


class Travel(NamedTuple):
    """The motion of a body in its carrier. axis: in the ground's axes where all coordinates are
    zero. terms: (sign, joint), the joints whose coordinates add up.
    """

    axis: Vector
    terms: tuple[tuple[float, Joint], ...]


def travel(m: Mechanism, body: str, carrier: str, sort: str) -> Travel:
    """Return the rotation (sort "turning") or translation ("sliding") of a body relative to its
    carrier. Raise MechanismError where it does not move relative to the carrier, or not about
    (along) one axis of it.
    """
    a = m.frame(body).body
    b = m.frame(carrier).body
    up = _to_ground(m, a)
    down = _to_ground(m, b)
    way = [(1.0, j) for j in up if j not in down] + [
        (-1.0, j) for j in reversed(down) if j not in up
    ]
    moving = [(sign, j) for sign, j in way if j.nv]
    for _, j in moving:
        if [f.motion for f in j.freedoms] != [MOTIONS[sort]] or (j.mimic and j.mimic.function):
            raise MechanismError(
                f"{body!r} does not {VERBS[sort]} an axis of its carrier {carrier!r}: joint"
                f" {j.name!r} ({j.kind}) lies between them"
            )
    if not moving:
        raise MechanismError(
            f"{body!r} does not move in its carrier {carrier!r}; name the body that carries both"
            " wheels, such as the arm or the housing"
        )
    axes = [_axis(m, j) for _, j in moving]
    for (_, j), axis in zip(moving[1:], axes[1:]):
        if 1.0 - abs(float(axes[0] @ axis)) > AXIS_COSINE_TOLERANCE:
            raise MechanismError(
                f"{body!r} does not {VERBS[sort]} an axis of its carrier {carrier!r}: joints"
                f" {moving[0][1].name!r} and {j.name!r}, which lie between them, have different"
                " axes"
            )
    signs = (sign * float(np.sign(axes[0] @ axis)) for (sign, _), axis in zip(moving, axes))
    x, y, z = map(float, axes[0])
    return Travel((x, y, z), tuple((sign, j) for sign, (_, j) in zip(signs, moving)))


def _to_ground(m: Mechanism, body: str) -> list[Joint]:
    """Return the joints of the tree from a body down to the ground."""
    by_child = {j.child: j for j in m.joints}
    found = []
    while body != GROUND and body in by_child:
        found.append(by_child[body])
        body = by_child[body].parent
    return found


def _axis(m: Mechanism, joint: Joint) -> np.ndarray:
    """Return the axis (3,) of a joint with one degree of freedom, in the ground's axes with all
    coordinates zero.
    """
    R = np.eye(3)
    for j in reversed(_to_ground(m, joint.parent)):
        R = R @ _rotation(m, j.placement.rotation) @ _rotation(m, j.offset.rotation).T
    return R @ _rotation(m, joint.placement.rotation) @ np.array(joint.freedoms[0].axis, float)


def _rotation(m: Mechanism, rows: tuple[Any, ...]) -> np.ndarray:
    return np.array([[value_of(x, m.parameters) for x in row] for row in rows], float)


def faults(m: Mechanism) -> Iterator[str]:
    """Yield a sentence for each fault in the carriers of the constraints; all names must be known
    already.
    """
    for x in m.constraints:
        axes: dict[str, Vector] = {}
        for name, key in x.schema().items():
            if key.sort in MOTIONS:
                try:
                    axes[name] = travel(m, getattr(x, name), getattr(x, "carrier"), key.sort).axis  # noqa: B009
                except MechanismError as why:
                    yield f"constraint {x.name!r}: {why}"
        if len(axes) == sum(key.sort in MOTIONS for key in x.schema().values()):
            yield from (f"constraint {x.name!r}: {fault}" for fault in x.misfits(axes))


def place_names(m: Mechanism) -> dict[str, tuple[str, int]]:
    """Return the names that expressions may use for the coordinates of frames and bodies: {"x_tip":
    ("tip", 0), ...}. A parameter of the same name has precedence.
    """
    names = [*(b.name for b in m.bodies), *(f.name for f in m.frames)]
    found = {f"{axis}_{identifier(n)}": (n, k) for n in names for k, axis in enumerate("xyz")}
    return {word: at for word, at in found.items() if word not in m.parameters}
