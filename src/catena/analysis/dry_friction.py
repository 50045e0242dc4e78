"""Dry friction of joints at one state, as runs have it: a joint that moves is opposed by the whole
of its friction, and one at rest is held by as much as it takes, up to its limit.

Which joints at rest are held is one boxed complementarity problem (`contact.boxed_problem`).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..contact import boxed_forces
from ..machine import Machine
from ..model import SMOOTH, per_speed, value_of

Array = np.ndarray
# force outside the interval of friction, relative to its limit: a joint is released where it is
# larger
INTERVAL_SLACK = 1e-10


def limits(machine: Machine) -> Array:
    """Return the limits (nv,) of the dry friction of the joints, N m or N, at the mechanism's own
    parameters.
    """
    m = machine.mechanism
    return np.array([float(value_of(x, m.parameters)) for x in per_speed(m, "friction")])


def losses_in_motion(machine: Machine, v: Array) -> Array:
    """Return the forces (nv,) of damping and of the dry friction of joints that move at the speeds
    v (nv,): friction is not smoothed. Joints at rest have none here.
    """
    return np.asarray(
        machine.losses(v) + limits(machine) * np.tanh(v / SMOOTH) + sliding(machine, v)
    )


def sliding(machine: Machine, v: Array) -> Array:
    """Return the dry friction (..., nv) of joints that move at the speeds v (..., nv); zero where
    they are at rest.
    """
    return np.asarray(-limits(machine) * np.sign(v))


def held(
    machine: Machine, v: Array, free: list[int], accelerations: Callable[[Array], Array]
) -> Array:
    """Return the friction (nv,) of those joints among the speeds `free` that are at rest, v = 0.

    accelerations: a (nv,) as a function of additional joint forces (nv,), to which it is affine.
    """
    F = limits(machine)
    rest = [k for k in free if v[k] == 0.0 and F[k] > 0.0]
    force = np.zeros(machine.nv)
    if not rest:
        return force
    a = accelerations(force)[rest]
    unit = np.eye(machine.nv)
    W = np.array([accelerations(unit[k])[rest] - a for k in rest]).T
    W = 0.5 * (W + W.T)
    x, _ = boxed_forces(
        W[None], a[None], -F[None, rest], F[None, rest], INTERVAL_SLACK * F[None, rest]
    )
    force[rest] = x[0]
    return force
