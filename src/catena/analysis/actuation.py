"""Inverse dynamics for a given set of motors, with loops. The result is unique, or of least norm
among many, or there is none; the result or the error says which.

    S' tau + A' lam = M a + b  in the motions T that the loops allow (A T = 0):
            (T' S') tau = T' (M a + b)        b with the losses of the joints

These are d equations, one per degree of freedom. Fewer independent motors cannot drive the
mechanism; more of them share the load, and tau of least norm has the smallest internal load.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import QuestionError
from ..machine import (
    Machine,
    Terms,
    all_speeds_of,
    machine_of,
    name_of,
    state,
    terms,
    torn_row,
    where,
)
from ..model import Mechanism
from .projection import require_apart

Array = np.ndarray
# A force that is missing, relative to the forces that act, is not rounding above this.
MISSING_FORCE_RATIO = 1e-8
# Accelerations that open a loop, relative to the terms that cancel in its rows, tear it above this.
TEARING_RATIO = 1e-6


@dataclass(frozen=True)
class Actuation:
    """The result of `inverse_dynamics`. NumPy converts it to the array tau.

    Attributes
    ----------
    tau : ndarray (nv,)
        The motor forces, N m or N; zero for speeds without a motor.
    unique : bool
        Whether they are the only solution.
    sentence : str
        A sentence that says so.
    """

    tau: Array
    unique: bool
    sentence: str

    def __array__(self, dtype: Any = None, copy: Any = None) -> Array:
        """Return a copy of tau."""
        return np.array(self.tau, dtype=dtype)


def inverse_dynamics(
    m: Mechanism | Machine,
    q: Any,
    v: Any,
    a: Any,
    actuated: Iterable[str] | None = None,
    wrenches: Any = None,
    t: float = 0.0,
) -> Actuation:
    """Return the motor forces of a motion, with loops, damping and friction of the joints.

    Parameters
    ----------
    m : Mechanism or Machine
        The mechanism, or the machine compiled from it.
    q, v, a : array (nq,), (nv,), (nv,)
        Coordinates, speeds and accelerations, in rad or m and s.
    actuated : iterable of str, optional
        The joints or coordinates that have a motor. By default all joints of the tree.
    wrenches : mapping, optional
        External wrenches on frames.
    t : float, default 0.0
        The time (s), for loads that depend on it.

    Returns
    -------
    Actuation
        If several tau cause the motion, the one with the least sum of squares, and `unique` is
        False.

    Raises
    ------
    QuestionError
        If the motors cannot cause the motion (the message names the coordinate and the missing
        force), if the motion tears a loop open, or if a contact touches and no wrenches are given.
    ClosureError
        If the state leaves a loop open or its speeds open one.
    """
    machine = machine_of(m)
    q, v, a = state(machine, "inverse dynamics", q=q, v=v, a=a)
    motors = list(range(machine.nv)) if actuated is None else all_speeds_of(machine, actuated)
    machine.require_possible("inverse dynamics", q, v, t=t)
    if wrenches is None:  # else they may include the contact forces
        require_apart(machine, "inverse dynamics", q)
    at = terms(machine, q, v, wrenches, t)
    _moves(machine, at, a)
    T = at.spaces.T
    need = T.T @ (at.M @ a + at.b - machine.losses(v))
    share = T[motors].T  # (d, motors)
    tau = np.zeros(machine.nv)
    rank = 0
    if motors:
        tau[motors], _, rank, _ = np.linalg.lstsq(share, need, rcond=1e-10)
    left = T @ (need - T.T @ tau)
    acting = np.abs(at.M) @ np.abs(a) + np.abs(at.b) + np.abs(machine.losses(v))
    most = (np.abs(T) @ (np.abs(T.T) @ acting)).max(initial=0.0)
    if np.abs(left).max(initial=0.0) > MISSING_FORCE_RATIO * most:
        name, size = name_of(machine, left)
        names = ", ".join(repr(machine.speed_names[k]) for k in motors) or "none"
        raise QuestionError(
            f"inverse dynamics: the motors of {where(machine)} ({names}) cannot make this motion:"
            f" they drive {rank} of its {T.shape[1]} degrees of freedom, and {name!r} is short of"
            f" {size:.4g} (N m or N); give a motor to more joints"
        )
    spare = len(motors) - int(rank)
    if spare:
        return Actuation(
            tau,
            False,
            f"{len(motors)} motors drive {rank} degrees of freedom: {spare} of them are spare, and "
            "this is the least of all answers (sum of squares)",
        )
    return Actuation(
        tau,
        True,
        f"{len(motors)} motors drive {rank} degrees of freedom: the answer is the only one",
    )


def _moves(machine: Machine, t: Terms, a: Array) -> None:
    """Raise a QuestionError if the loops cannot stay closed with the accelerations a."""
    row = torn_row(machine, t, a, TEARING_RATIO)
    if row is not None:
        joint, direction = t.rows.names[row]
        left = abs(float(t.A[row] @ a - t.rows.gamma[row]))
        raise QuestionError(
            f"inverse dynamics: with these accelerations loop {joint!r} does not stay closed: it"
            f" opens with {left:.3g} m/s2 (or 1/s2) in its {direction}; kinematics(...) computes"
            " accelerations that are consistent with the loops"
        )
