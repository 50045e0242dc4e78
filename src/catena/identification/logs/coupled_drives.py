"""Drives that turn with several joints, as in the wrists of many robots.

Where the joints move at speeds v, the drives turn at R v. The power of the drives is that of the
joints, so that the forces at the drives are f = R^-T tau. Friction and
rotor inertia act on the drives.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ...errors import StudyError, unknown
from ...machine import Machine

Array = NDArray[np.float64]
Coupling = Mapping[str, Mapping[str, float]]


def coupling_matrix(machine: Machine, given: Coupling | None) -> Array:
    """Return R (nv, nv) of drives that turn with other joints.

    Parameters
    ----------
    machine : Machine
        The robot.
    given : mapping or None
        For the joint of a drive, how fast the drive turns per speed of other joints: with
        {"joint_6": {"joint_5": 1.0}} the drive of joint_6 turns at v6 + v5.

    Returns
    -------
    array, shape (nv, nv)
        The speeds of the drives per speed of the joints.

    Raises
    ------
    StudyError
        If a joint is unknown, a factor is no finite number, or drives turn together in all motions.
    """
    names = list(machine.speed_names)
    R = np.eye(len(names))
    for drive, factors in (given or {}).items():
        for joint, factor in factors.items():
            for name in (drive, joint):
                if name not in names:
                    raise StudyError(unknown("joint", name, names, machine.mechanism.name))
            if not np.isfinite(factor):
                raise StudyError(
                    f"the drive of {drive!r} turns with {joint!r} by a factor of {factor}; it is a"
                    " finite number"
                )
            R[names.index(drive), names.index(joint)] = float(factor)
    if np.linalg.matrix_rank(R) < len(R):
        raise StudyError(
            f"with the coupling {dict(given or {})} the drives cannot move all joints: each joint"
            " needs a drive of its own; change a factor"
        )
    return R


def drive_regressor(
    machine: Machine, q: Array, v: Array, a: Array, coupling: Array, columns: Sequence[int] | slice
) -> Array:
    """Return columns of the regressor (T, n, b) of the forces at the drives."""
    Y = np.asarray(machine.regressor(q, v, a)[..., columns])
    if np.array_equal(coupling, np.eye(machine.nv)):
        return Y
    return np.asarray(np.einsum("jk,tjb->tkb", np.linalg.inv(coupling), Y))
