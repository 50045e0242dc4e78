"""Statics: equilibria of a mechanism, and the joint forces that hold it at rest elsewhere.

Equilibrium in the motions T that the loops allow (A T = 0): T' g(q) = 0, with g the joint forces
that rest needs, less those given. Newton's step uses the stiffness of the constrained mechanism,
the loops' forces included:

    K = T' (dg/dq - d(A' lam)/dq) T,        dq = -T |K|^-1 T' g

with slides beside the mechanism's length (`kernels.rank`). A force is none by `unbalanced`: beside
what a change of position by that length, or the weight that moves, would make of it. So neither
units nor ratios of inertia decide what rests.
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
# off a rest that is not stable (rad, or lengths); a stiffness this small beside the largest is none
NUDGE, FLAT = 1e-2, 1e-9
# Newton steps, how far one may go (rad, or lengths), what force is none (beside its scale)
STEPS, REACH, STILL = 200, 0.5, 1e-10


def equilibrium(
    m: Mechanism | Machine,
    guess: ArrayLike | None = None,
    tau: ArrayLike | None = None,
    stable: bool = True,
) -> Array:
    """q (nq,) near the guess at which the mechanism stays still under gravity, its springs and the
    joint forces tau.

    guess: by default every coordinate zero; loops that it leaves open are closed first. stable: go
    downhill, to where a small push is answered by a force back, also from a guess that is at rest
    and would fall; False takes the nearest equilibrium of any kind (the upright pendulum). A
    QuestionError says which coordinate still moves where there is none.
    """
    machine = machine_of(m)
    q, tau = state(machine, "equilibrium", guess=guess, tau=tau)
    everything = list(range(machine.nv))
    if openings(machine, rows_at(machine, q)).max(initial=0.0) > CLOSED:
        q = closed(machine, q, everything)
    best, least = q, np.inf
    for _ in range(STEPS):
        g, t = balance(machine, q, tau)
        left = t.spaces.T @ (t.spaces.T.T @ g)
        size = float(unbalanced(machine, g, t.M, t.spaces.T, stiffness(t)))
        # Newton's steps go on as far as rounding lets them
        if size == 0.0 or (least <= STILL and size > 0.1 * least):
            best, least = (q, size) if size < least else (best, least)
            way = downhill(machine, balance(machine, best, tau)[1]) if stable else None
            if way is None:
                return best
            q = gauss_newton(machine, machine.move(best, NUDGE * way), everything)
            least = np.inf
            continue
        if size < least:
            best, least = q, size
        q = _step(machine, q, tau, g, t, stable)
    name, size = name_of(machine, left)
    raise QuestionError(
        f"equilibrium: {where(machine)} finds no rest: after {STEPS} steps {name!r} still needs"
        f" {size:.4g} (N m or N); hold it with a spring, a joint force or a fixed joint, or start"
        " from another guess"
    )


def downhill(machine: Machine, t: Rest) -> Array | None:
    """(nv,): the motion, of one radian or length, along which the stiffness is most negative at a
    rest, so that a push grows; None where it is stable.
    """
    unit, T, K = _stiffness(machine, t)
    values, V = np.linalg.eigh(0.5 * (K + K.T)) if K.size else (np.zeros(1), np.zeros((0, 0)))
    if values[0] >= -FLAT * np.abs(values).max():
        return None
    way = T @ V[:, 0]
    # of its two senses the one that is written with a plus
    return unit * way * np.sign(way[np.abs(way).argmax()])


def static_torques(
    m: Mechanism | Machine, q: Any, actuated: Iterable[str] | None = None, wrenches: Any = None
) -> Actuation:
    """The joint forces that hold the mechanism still at q, from the motors at `actuated`: see
    `inverse_dynamics`.
    """
    machine = machine_of(m)
    still = np.zeros(machine.nv)
    return inverse_dynamics(machine, q, still, still, actuated, wrenches)


def balance(machine: Machine, q: Array, tau: Array) -> tuple[Array, Rest]:
    """g (nv,), the joint forces that rest at q needs beyond tau, and the derivatives there, the
    loops' forces included; of one or many.
    """
    still = np.zeros((*q.shape[:-1], machine.nv))
    g = machine.bias(q, still) - tau
    return g, rest(machine, q, row_forces(machine, q, still, g))


def stiffness(t: Rest) -> Array:
    """K (..., d, d) in the motions that the loops allow."""
    T = t.spaces.T
    return across(T) @ t.r_q @ T


def unbalanced(machine: Machine, g: Array, M: Array, T: Array, K: Array) -> Array:
    """(...,): the largest of the forces g (..., nv) that the loops do not take, T' g, beside what
    would be a force along its speed.

    That is the largest of the loads there, of K over the mechanism's length (a turn of one), and of
    the weight that the speed moves; all as the work of a turn of one, or of a slide by the length.
    """
    if not T.shape[-1]:
        return np.zeros(g.shape[:-1])
    unit = np.sqrt(metric(machine).column)
    ways, back = np.linalg.qr(T / unit[:, None])  # of order one, whatever the units
    back = np.linalg.inv(back)
    gravity = np.linalg.norm(
        [value_of(x, machine.mechanism.parameters) for x in machine.mechanism.gravity]
    )
    # no body of mass m has more than sqrt(m M) by its motion
    weight = gravity * np.sqrt(carried(machine) * np.einsum("...ii->...i", M))
    springs = np.abs(ways @ (across(back) @ K @ back) @ across(ways)).max(axis=-1)
    scale = np.max([np.abs(unit * g), unit * weight, springs], axis=0)
    left = np.abs(np.einsum("...ij,...kj,...k->...i", ways, ways, unit * g))
    return (left / np.where(scale > 0.0, scale, 1.0)).max(axis=-1)


def carried(machine: Machine) -> Array:
    """(nv,): the mass that each speed moves, kg; of joints that others follow, without the
    followers.
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
    """The sizes of the speeds (nv,), the motions that the loops allow beside them (nv, d), of order
    one whatever the units, and K (d, d) in these.
    """
    unit = np.sqrt(metric(machine).column)
    T = np.linalg.qr(t.spaces.T / unit[:, None])[0]
    return unit, T, T.T @ (unit[:, None] * t.r_q * unit) @ T


def _step(machine: Machine, q: Array, tau: Array, g: Array, t: Rest, stable: bool) -> Array:
    unit, T, K = _stiffness(machine, t)
    f = T.T @ (unit * g)
    if stable:  # along the eigenvectors of K, downhill in each
        values, V = np.linalg.eigh(0.5 * (K + K.T))
        size = np.maximum(np.abs(values), 1e-9 * np.abs(values).max(initial=0.0))
        # without any stiffness, one length
        way = -T @ (V @ ((V.T @ f) / np.where(size > 0.0, size, np.abs(f).max(initial=0.0) or 1.0)))
    else:
        way = -T @ np.linalg.lstsq(K, f, rcond=1e-12)[0]
    step = unit * shortened(way, REACH)
    slope = abs(g @ step)
    for _ in range(30):
        trial = gauss_newton(machine, machine.move(q, step), list(range(machine.nv)))
        push = (machine.bias(trial, np.zeros(machine.nv)) - tau) @ step
        if not stable or push <= 0.9 * slope:  # not yet over the lowest point, or not far beyond it
            return trial
        step, slope = 0.5 * step, 0.5 * slope
    return trial
