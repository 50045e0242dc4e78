"""Statics: equilibria of a mechanism, and the joint forces that hold it at rest elsewhere.

Equilibrium in the motions T that the loops allow (A T = 0) is T' g(q) = 0, with g the joint forces
that rest requires, less those given. The Newton step uses the stiffness of the constrained
mechanism, including the forces of the loops:

    K = T' (dg/dq - d(A' lam)/dq) T,        dq = -T |K|^-1 T' g

with translations relative to the length of the mechanism (`kernels.rank`). Whether a force is zero
is decided by `unbalanced`, relative to the force that a change of position by that length, or the
moving weight, would cause. So neither units nor ratios of inertia decide what is at rest.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import QuestionError
from ..kernels import BALL
from ..machine import Machine, across, machine_of, metric, name_of, openings, rows_at, state, where
from ..model import Mechanism, value_of
from .actuation import Actuation, inverse_dynamics
from .assembly import closed, gauss_newton
from .closure_search import CLOSED, shortened
from .tangent import Rest, rest, row_forces

Array = np.ndarray
# Displacement from an unstable equilibrium, along which the search goes on: rad, or lengths.
UNSTABLE_NUDGE = 1e-2
# An eigenvalue of the stiffness above minus this, relative to the largest, is not negative.
ZERO_STIFFNESS_RATIO = 1e-9
# Newton steps of the search for an equilibrium.
MAX_NEWTON_STEPS = 200
# Norm of one Newton step, at most: rad, or lengths of the mechanism.
MAX_STEP_NORM = 0.5
# A remaining force at most this, relative to its scale (`unbalanced`), is zero.
BALANCED_FORCE_RATIO = 1e-10


def equilibrium(
    m: Mechanism | Machine,
    guess: ArrayLike | None = None,
    tau: ArrayLike | None = None,
    stable: bool = True,
) -> Array:
    """Return a configuration near the guess at which the mechanism is in static equilibrium.

    Parameters
    ----------
    m : Mechanism or Machine
        The mechanism, or the machine compiled from it.
    guess : array (nq,), optional
        The coordinates to start from, rad or m; by default zero. Loops that they leave open are
        closed first.
    tau : array (nv,), optional
        Constant joint forces, N m or N. By default zero.
    stable : bool, default True
        Search for a stable equilibrium, going downhill also from a guess that is an unstable
        equilibrium. False finds the nearest equilibrium of any kind (the upright pendulum).

    Returns
    -------
    ndarray (nq,)
        The coordinates of the equilibrium.

    Raises
    ------
    QuestionError
        If no equilibrium is found; the message names the coordinate with the largest remaining
        force.
    ClosureError
        If the loops cannot be closed from the guess.

    Examples
    --------
    >>> import catena
    >>> pendulum = catena.load("pendulum")
    >>> catena.equilibrium(pendulum, [3.0], stable=False).round(6).tolist()
    [3.141593]
    """
    machine = machine_of(m)
    q, tau = state(machine, "equilibrium", guess=guess, tau=tau)
    everything = list(range(machine.nv))
    if openings(machine, rows_at(machine, q)).max(initial=0.0) > CLOSED:
        q = closed(machine, q, everything)
    best, least = q, np.inf
    for _ in range(MAX_NEWTON_STEPS):
        g, t = balance(machine, q, tau)
        left = t.spaces.T @ (t.spaces.T.T @ g)
        size = float(unbalanced(machine, g, t.M, t.spaces.T, stiffness(t)))
        # Newton steps go on until rounding stops the decrease
        if size == 0.0 or (least <= BALANCED_FORCE_RATIO and size > 0.1 * least):
            best, least = (q, size) if size < least else (best, least)
            way = downhill(machine, balance(machine, best, tau)[1]) if stable else None
            if way is None:
                return best
            q = gauss_newton(machine, machine.move(best, UNSTABLE_NUDGE * way), everything)
            least = np.inf
            continue
        if size < least:
            best, least = q, size
        q = _step(machine, q, tau, g, t, stable)
    name, size = name_of(machine, left)
    raise QuestionError(
        f"equilibrium: {where(machine)} has no equilibrium that was found: after"
        f" {MAX_NEWTON_STEPS} steps {size:.4g} (N m or N) along {name!r} are not balanced; hold it"
        " with a spring, a joint force or a fixed joint, or start from another guess"
    )


def downhill(machine: Machine, t: Rest) -> Array | None:
    """Return the direction (nv,) in which the stiffness at an equilibrium is most negative, as a
    motion of norm one (rad, or lengths of the mechanism); None if the equilibrium is stable.
    """
    unit, T, K = _stiffness(machine, t)
    values, V = np.linalg.eigh(0.5 * (K + K.T)) if K.size else (np.zeros(1), np.zeros((0, 0)))
    if values[0] >= -ZERO_STIFFNESS_RATIO * np.abs(values).max():
        return None
    way = T @ V[:, 0]
    # of both signs the one whose largest entry is positive
    return unit * way * np.sign(way[np.abs(way).argmax()])


def static_torques(
    m: Mechanism | Machine, q: Any, actuated: Iterable[str] | None = None, wrenches: Any = None
) -> Actuation:
    """Return the joint forces with which the motors at the joints or coordinates `actuated` hold
    the mechanism at rest at q (nq,); see `inverse_dynamics`.
    """
    machine = machine_of(m)
    still = np.zeros(machine.nv)
    return inverse_dynamics(machine, q, still, still, actuated, wrenches)


def balance(machine: Machine, q: Array, tau: Array) -> tuple[Array, Rest]:
    """Return g (..., nv), the joint forces that rest at q requires beyond tau, and the derivatives
    there, including the forces of the loops.
    """
    still = np.zeros((*q.shape[:-1], machine.nv))
    g = machine.bias(q, still) - tau
    return g, rest(machine, q, row_forces(machine, q, still, g))


def stiffness(t: Rest) -> Array:
    """Return the stiffness K (..., d, d) in the motions that the loops allow."""
    T = t.spaces.T
    return across(T) @ t.r_q @ T


def unbalanced(machine: Machine, g: Array, M: Array, T: Array, K: Array) -> Array:
    """Return (...,): the largest of the forces g (..., nv) that the loops do not carry, T' g, each
    relative to a typical force along its speed.

    A typical force is the largest of the loads there, of K times the length of the mechanism (or
    one radian), and of the weight that the speed moves; all as the work of a rotation by one radian
    or of a translation by that length.
    """
    if not T.shape[-1]:
        return np.zeros(g.shape[:-1])
    unit = np.sqrt(metric(machine).column)
    ways, back = np.linalg.qr(T / unit[:, None])  # of order one, independent of units
    back = np.linalg.inv(back)
    gravity = np.linalg.norm(
        [value_of(x, machine.mechanism.parameters) for x in machine.mechanism.gravity]
    )
    # the motion of a body of mass m contributes at most sqrt(m M)
    weight = gravity * np.sqrt(carried(machine) * np.einsum("...ii->...i", M))
    springs = np.abs(ways @ (across(back) @ K @ back) @ across(ways)).max(axis=-1)
    scale = np.max([np.abs(unit * g), unit * weight, springs], axis=0)
    left = np.abs(np.einsum("...ij,...kj,...k->...i", ways, ways, unit * g))
    return (left / np.where(scale > 0.0, scale, 1.0)).max(axis=-1)


def carried(machine: Machine) -> Array:
    """Return (nv,): the mass that each speed moves, kg. Bodies moved only by joints that follow
    another one (mimic) are not counted for that one.
    """
    layout = machine.layout
    found = np.zeros(machine.nv)
    for b in machine.mechanism.bodies:
        i = layout.seats[b.name].node
        mass = value_of(b.mass, machine.mechanism.parameters)
        while i >= 0:
            node = layout.nodes[i]
            if node.vi < machine.nv:
                found[node.vi : node.vi + (3 if node.motion == BALL else 1)] += mass
            i = node.parent
    return found


def _stiffness(machine: Machine, t: Rest) -> tuple[Array, Array, Array]:
    """Return the scales (nv,) of the speeds, an orthonormal basis (nv, d) of the motions that the
    loops allow, relative to these scales, and the stiffness K (d, d) in this basis.
    """
    unit = np.sqrt(metric(machine).column)
    T = np.linalg.qr(t.spaces.T / unit[:, None])[0]
    return unit, T, T.T @ (unit[:, None] * t.r_q * unit) @ T


def _step(machine: Machine, q: Array, tau: Array, g: Array, t: Rest, stable: bool) -> Array:
    """Return q after one Newton step. The step is limited to the norm MAX_STEP_NORM, and halved
    until it no longer passes far beyond the point along it where the unbalanced force is least.
    """
    unit, T, K = _stiffness(machine, t)
    f = T.T @ (unit * g)
    if stable:  # downhill along each eigenvector of K
        values, V = np.linalg.eigh(0.5 * (K + K.T))
        size = np.maximum(np.abs(values), 1e-9 * np.abs(values).max(initial=0.0))
        # without any stiffness a step of one length
        way = -T @ (V @ ((V.T @ f) / np.where(size > 0.0, size, np.abs(f).max(initial=0.0) or 1.0)))
    else:
        way = -T @ np.linalg.lstsq(K, f, rcond=1e-12)[0]
    step = unit * shortened(way, MAX_STEP_NORM)
    slope = abs(g @ step)
    for _ in range(30):
        trial = gauss_newton(machine, machine.move(q, step), list(range(machine.nv)))
        push = (machine.bias(trial, np.zeros(machine.nv)) - tau) @ step
        if not stable or push <= 0.9 * slope:  # not beyond the lowest point, or not far
            return trial
        step, slope = 0.5 * step, 0.5 * slope
    return trial
