"""Inverse dynamics for a named set of motors, with loops: unique, or the least of many and said so,
or impossible and said so.

    S' tau + A' lam = M a + b  in the motions T that the loops allow (A T = 0):
            (T' S') tau = T' (M a + b)        b with the losses of the joints

d equations, one per degree of freedom. Fewer independent motors cannot drive the mechanism; more of
them share the load, and tau of least norm is the one with the smallest internal load.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import QuestionError
from ..machine import Machine, Terms, all_speeds_of, machine_of, name_of, state, terms, where
from ..model import Mechanism
from .projection import require_apart

Array = np.ndarray


@dataclass(frozen=True)
class Actuation:
    """tau (nv,), zero where there is no motor; whether it is the only answer; a sentence on that.
    NumPy takes it for tau.
    """

    tau: Array
    unique: bool
    sentence: str

    def __array__(self, dtype: Any = None, copy: Any = None) -> Array:
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
    """The forces of a motion, from the motors at the `actuated` joints or coordinates (by default
    all of the tree's). They overcome damping and friction of the joints too, as in `simulate`.

    A QuestionError says which coordinate the motors cannot hold, and what is missing there; or that
    the motion itself tears a loop. A ClosureError refuses a state that leaves a loop open, or has
    speeds that open one. Where several tau give the motion, the one with the least sum of squares
    comes back, with `unique` False.
    """
    machine = machine_of(m)
    q, v, a = state(machine, "inverse dynamics", q=q, v=v, a=a)
    motors = list(range(machine.nv)) if actuated is None else all_speeds_of(machine, actuated)
    machine.require_possible("inverse dynamics", q, v, t=t)
    if wrenches is None:  # else what touches may be among them
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
    if np.abs(left).max(initial=0.0) > 1e-8 * max(1.0, np.abs(need).max(initial=0.0)):
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
    """Refuse a motion that the loops do not allow."""
    left = np.abs(t.A @ a - t.rows.gamma)
    if left.max(initial=0.0) > 1e-6 * max(1.0, np.abs(a).max(initial=0.0)):
        joint, direction = t.rows.names[int(left.argmax())]
        raise QuestionError(
            f"inverse dynamics: this motion tears loop {joint!r} open, {left.max():.3g} m/s2 (or"
            f" 1/s2) in its {direction}; kinematics(...) finds the accelerations that belong"
            " together"
        )
