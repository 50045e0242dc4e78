"""Joint orientation: whether the two sides of a joint that closes a loop point the same way, which
the constraint rows cannot distinguish.

A constraint row fixes an angle by its cosine, which is the same for a direction and its opposite: a
pin mounted upside down satisfies every row. A joint that rotates about one axis requires that axis
to point the same way on both sides; one that does not rotate requires this of all three axes.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..machine import Machine
from ..model import GROUND, Joint, Motion, Pose, value_of

Array = np.ndarray


def facing_axes(joint: Joint) -> Array:
    """Return the axes (k, 3) of the joint's frame that must point the same way on both sides:
    three, one, or none.
    """
    turns = [np.array(f.axis) for f in joint.freedoms if f.motion in (Motion.TURN, Motion.SCREW)]
    if any(f.motion == Motion.BALL for f in joint.freedoms):
        return np.zeros((0, 3))
    if not turns:
        return np.eye(3)
    parallel = all(np.linalg.norm(np.cross(turns[0], t)) < 1e-9 for t in turns)
    return turns[0][None] if parallel else np.zeros((0, 3))


def upside_down(machine: Machine, q: Array) -> list[str]:
    """Return the names of the loop joints whose two sides point opposite ways at q."""
    found = []
    for j in machine.mechanism.loops:
        axes = facing_axes(j)
        if len(axes):
            R_P = side_of(machine, q, j.parent, j.placement)
            R_C = side_of(machine, q, j.child, j.offset)
            if (np.einsum("ki,ki->k", axes @ R_P.T, axes @ R_C.T) < 0).any():
                found.append(j.name)
    return found


def turns(machine: Machine, q: Array) -> tuple[Array, Array, set[str]]:
    """Return the rotations between the two sides of the joints that have facing axes, as rotation
    vectors (3 k,), their Jacobian (3 k, nv), and the names of the joints.

    Unlike the cosines of the rows these do not vanish when the sides point opposite ways, so that a
    search from a distant guess finds the right orientation.
    """
    vectors = [np.zeros(0)]
    rates = [np.zeros((0, machine.nv))]
    names = set()
    for j in machine.mechanism.loops:
        axes = facing_axes(j)
        if len(axes):
            R_P = side_of(machine, q, j.parent, j.placement)
            R_C = side_of(machine, q, j.child, j.offset)
            vector, rate = turn_between(
                axes, R_P, R_C, spin_of(machine, q, j.child) - spin_of(machine, q, j.parent)
            )
            vectors.append(vector)
            rates.append(rate)
            names.add(j.name)
    return np.concatenate(vectors), np.vstack(rates), names


def turn_between(axes: Array, R_P: Array, R_C: Array, J: Array) -> tuple[Array, Array]:
    """Return the rotation vector (..., 3) from the parent's side of a joint to the child's, about
    all axes or only across the one they share, and its Jacobian (..., 3, nv). J is the Jacobian of
    the relative angular velocity; R_P, R_C (..., 3, 3) are the axes of both sides.
    """
    if len(axes) == 3:
        return rotation_vector(R_C @ np.swapaxes(R_P, -1, -2)), J
    n = R_P @ axes[0]
    return (
        _between(n, R_C @ axes[0]),
        J - n[..., :, None] * np.einsum("...i,...ij->...j", n, J)[..., None, :],
    )


def _between(a: Array, b: Array) -> Array:
    """Return the shortest rotation that takes the unit vectors a to b, as a rotation vector (...,
    3).
    """
    a, b = np.broadcast_arrays(a, b)
    axis = np.cross(a, b)
    along = np.einsum("...i,...i->...", a, b)
    s = np.linalg.norm(axis, axis=-1)
    # for opposite vectors any perpendicular axis is right
    across = np.cross(a, np.eye(3)[np.abs(a).argmin(axis=-1)])
    opposite = np.pi * across / np.linalg.norm(across, axis=-1)[..., None]
    turn = axis * (np.arctan2(s, along) / np.where(s > 0.0, s, 1.0))[..., None]
    return np.where(((s < 1e-9) & (along < 0.0))[..., None], opposite, turn)


def rotation_vector(R: Array) -> Array:
    """Return the rotation vector (..., 3) of a rotation (..., 3, 3): its axis times its angle in
    [0, pi].

    >>> rotation_vector(np.diag([1.0, -1.0, -1.0])).round(6).tolist()
    [3.141593, 0.0, 0.0]
    """
    from scipy.spatial.transform import Rotation

    return Rotation.from_matrix(R.reshape(-1, 3, 3)).as_rotvec().reshape(R.shape[:-1])


def spin_of(machine: Machine, q: Array, body: str, p: Array | None = None) -> Array:
    """Return the Jacobian (..., 3, nv) of a body's angular velocity."""
    if body == GROUND:
        return np.zeros((*q.shape[:-1], 3, machine.nv))
    return machine.jacobian(q, body, parameters=p)[..., :3, :]


def side_of(machine: Machine, q: Array, body: str, on: Pose, p: Array | None = None) -> Array:
    """Return the axes (..., 3, 3) of a joint on one of its bodies, in the ground's axes. `on` is
    the joint's pose on the body; p (..., count) are parameters that replace the mechanism's.
    """
    m = machine.mechanism

    def at(values: Mapping[str, float]) -> Array:
        return np.array([[value_of(x, values) for x in row] for row in on.rotation], float)

    varies = p is not None and any(
        not isinstance(x, (int, float)) for row in on.rotation for x in row
    )
    own = (
        np.stack([at(dict(zip(m.parameters, row))) for row in p])
        if varies and p is not None
        else at(m.parameters)
    )
    return (
        np.broadcast_to(own, (*q.shape[:-1], 3, 3))
        if body == GROUND
        else machine.pose(q, body, parameters=p)[..., :3, :3] @ own
    )
