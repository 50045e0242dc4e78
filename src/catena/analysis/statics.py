"""Statics: equilibria of a mechanism, and the joint forces that hold it at rest elsewhere.

Equilibrium in the motions T that the loops allow (A T = 0): T' g(q) = 0, with g the joint forces that rest needs, less those
given. Newton's step uses the stiffness of the constrained mechanism, the loops' forces included:

    K = T' (dg/dq - d(A' lam)/dq) T,        dq = -T |K|^-1 T' g
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import QuestionError
from ..machine.constraint_rows import across, rows_at
from ..machine.lookup import machine_of, state, where
from ..machine.machine import Machine
from ..machine.terms import name_of
from ..model.mechanism import Mechanism
from .actuation import Actuation, inverse_dynamics
from .assembly import closed, gauss_newton
from .closure_search import CLOSED, shortened
from .tangent import Rest, rest, row_forces

Array = np.ndarray
STEPS, REACH, STILL = 200, 0.5, 1e-10  # Newton steps, how far one may go (rad, m), what force is none (beside the largest)


def equilibrium(m: Mechanism | Machine, guess: ArrayLike | None = None, tau: ArrayLike | None = None, stable: bool = True) -> Array:
    """q (nq,) near the guess at which the mechanism stays still under gravity, its springs and the joint forces tau.

    guess: by default every coordinate zero; loops that it leaves open are closed first. stable: go downhill, to where a small
    push is answered by a force back; False takes the nearest equilibrium of any kind (the upright pendulum). A QuestionError
    says which coordinate still moves where there is none.
    """
    machine = machine_of(m)
    q, tau = state(machine, "equilibrium", guess=guess, tau=tau)
    everything = list(range(machine.nv))
    if np.abs(rows_at(machine, q).error).max(initial=0.0) > CLOSED:
        q = closed(machine, q, everything)
    for _ in range(STEPS):
        g, t = balance(machine, q, tau)
        left = t.spaces.T @ (t.spaces.T.T @ g)
        if np.abs(left).max(initial=0.0) <= STILL * max(1.0, np.abs(g).max(initial=0.0)):
            return q
        q = _step(machine, q, tau, g, t, stable)
    name, size = name_of(machine, left)
    raise QuestionError(f"equilibrium: {where(machine)} finds no rest: after {STEPS} steps {name!r} still needs {size:.4g} (N "
                        "m or N); hold it with a spring, a joint force or a fixed joint, or start from another guess")  # fmt: skip


def static_torques(m: Mechanism | Machine, q: Any, actuated: Iterable[str] | None = None, wrenches: Any = None) -> Actuation:
    """The joint forces that hold the mechanism still at q, from the motors at `actuated`: see `inverse_dynamics`."""
    machine = machine_of(m)
    still = np.zeros(machine.nv)
    return inverse_dynamics(machine, q, still, still, actuated, wrenches)


def balance(machine: Machine, q: Array, tau: Array) -> tuple[Array, Rest]:
    """g (nv,), the joint forces that rest at q needs beyond tau, and the derivatives there, the loops' forces included; of one or many."""
    still = np.zeros((*q.shape[:-1], machine.nv))
    g = machine.bias(q, still) - tau
    return g, rest(machine, q, row_forces(machine, q, still, g))


def stiffness(t: Rest) -> Array:
    """K (..., d, d) in the motions that the loops allow."""
    T = t.spaces.T
    return across(T) @ t.r_q @ T


def _step(machine: Machine, q: Array, tau: Array, g: Array, t: Rest, stable: bool) -> Array:
    T, K = t.spaces.T, stiffness(t)
    if stable:  # along the eigenvectors of K, downhill in each
        values, V = np.linalg.eigh(0.5 * (K + K.T))
        size = np.maximum(np.abs(values), 1e-9 * np.abs(values).max(initial=1e-300))
        step = -T @ (V @ ((V.T @ (T.T @ g)) / np.maximum(size, 1e-12)))
    else:
        step = -T @ np.linalg.lstsq(K, T.T @ g, rcond=1e-12)[0]
    step = shortened(step, REACH)
    slope = abs(g @ step)
    for _ in range(30):
        trial = gauss_newton(machine, machine.move(q, step), list(range(machine.nv)))
        push = (machine.bias(trial, np.zeros(machine.nv)) - tau) @ step
        if not stable or push <= 0.9 * slope:  # not yet over the lowest point, or not far beyond it
            return trial
        step, slope = 0.5 * step, 0.5 * slope
    return trial
