"""Joint orientation: whether the two sides of a joint that closes a loop point the same way, which its rows cannot tell.

A constraint row keeps an angle by its cosine, which is the same for a direction and its opposite: a pin put in upside down
satisfies every row. A joint that turns about one axis needs that axis to point the same way on both sides; one that does not
turn needs all three axes to.
"""

from __future__ import annotations

import numpy as np

from ..machine.machine import Machine
from ..model.mechanism import GROUND, Joint
from ..model.motions import Motion
from ..model.pose import Pose
from ..model.values import value_of

Array = np.ndarray


def facing_axes(joint: Joint) -> Array:
    """(k, 3): the axes of the joint's frame that its two sides share: three, one, or none."""
    turns = [np.array(f.axis) for f in joint.freedoms if f.motion in (Motion.TURN, Motion.SCREW)]
    if any(f.motion == Motion.BALL for f in joint.freedoms):
        return np.zeros((0, 3))
    if not turns:
        return np.eye(3)
    parallel = all(np.linalg.norm(np.cross(turns[0], t)) < 1e-9 for t in turns)
    return turns[0][None] if parallel else np.zeros((0, 3))


def upside_down(machine: Machine, q: Array) -> list[str]:
    """The names of the loop joints whose two sides point opposite ways at q."""
    found = []
    for j in machine.mechanism.loops:
        axes = facing_axes(j)
        if len(axes):
            R_P, R_C = _side(machine, q, j.parent, j.placement), _side(machine, q, j.child, j.offset)
            if (np.einsum("ki,ki->k", axes @ R_P.T, axes @ R_C.T) < 0).any():
                found.append(j.name)
    return found


def turns(machine: Machine, q: Array) -> tuple[Array, Array, set[str]]:
    """The rotations between the two sides of such joints, as rotation vectors (3 k,), their Jacobian (3 k, nv), the joints' names.

    Unlike the rows' cosines these do not vanish when the sides point opposite ways, so that a guess far away finds the right
    orientation.
    """
    vectors, rates, names = [np.zeros(0)], [np.zeros((0, machine.nv))], set()
    for j in machine.mechanism.loops:
        axes = facing_axes(j)
        if len(axes):
            R_P, R_C = _side(machine, q, j.parent, j.placement), _side(machine, q, j.child, j.offset)
            J = _spin(machine, q, j.child) - _spin(machine, q, j.parent)
            if len(axes) == 3:
                vectors.append(rotation_vector(R_C @ R_P.T))
            else:
                n = R_P @ axes[0]
                vectors.append(_between(n, R_C @ axes[0]))
                J = J - np.outer(n, n @ J)
            rates.append(J)
            names.add(j.name)
    return np.concatenate(vectors), np.vstack(rates), names


def _between(a: Array, b: Array) -> Array:
    """The shortest rotation that takes the unit vector a to b, as a rotation vector."""
    axis = np.cross(a, b)
    s = np.linalg.norm(axis)
    if s < 1e-9 and a @ b < 0:  # opposite: any axis across will do
        axis = np.cross(a, np.eye(3)[np.abs(a).argmin()])
        return np.pi * axis / np.linalg.norm(axis)
    return axis * (np.arctan2(s, a @ b) / s) if s > 0 else axis


def rotation_vector(R: Array) -> Array:
    """The axis of a rotation times its angle, in [0, pi].

    >>> rotation_vector(np.diag([1.0, -1.0, -1.0])).round(6).tolist()
    [3.141593, 0.0, 0.0]
    """
    from scipy.spatial.transform import Rotation

    return Rotation.from_matrix(R).as_rotvec()


def _spin(machine: Machine, q: Array, body: str) -> Array:
    return np.zeros((3, machine.nv)) if body == GROUND else machine.jacobian(q, body)[:3]


def _side(machine: Machine, q: Array, body: str, on: Pose) -> Array:
    own = np.array([[value_of(x, machine.mechanism.parameters) for x in row] for row in on.rotation], float)
    return own if body == GROUND else machine.pose(q, body)[:3, :3] @ own
