"""Momentum observer: external joint forces, and so collisions, without accelerations.

    p = M(q) v,  dp/dt = tau + C(q, v)' v - g(q) + tau_ext
    r = K (p(t) - p(0) - integral of (tau + C'v - g + r))   ->   dr/dt = K (tau_ext - r)

r follows the external forces with the time constant 1 / K ([DeLuca2003]). C'v = (dM/dt) v - C v,
and dM/dt is the derivative of M along v.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..errors import StudyError
from ..machine import Machine, coordinates

Array = NDArray[np.float64]
RELATIVE_STEP = 1e-5  # of the central difference of M along v, relative to 1 + |v|


def external_forces(
    machine: Machine, t: Array, q: Array, v: Array, tau: Array, gain: float = 50.0
) -> Array:
    """Return the external joint forces along a log, delayed by a filter of the first order.

    Parameters
    ----------
    machine : Machine
        The mechanism: an open chain or tree of hinges and slides.
    t : array, shape (T,)
        Times, s.
    q, v : arrays, shape (T, nv)
        Positions and speeds.
    tau : array, shape (T, nv)
        The forces of the drives without friction: measured minus the friction of a model.
    gain : float, default 50.0
        K, 1/s: the bandwidth of the observer.

    Returns
    -------
    array, shape (T, nv)
        The residual r, in units of the forces. A collision is where it leaves its noise.

    Raises
    ------
    StudyError
        If the mechanism has loops or free rotations, or the gain is not above zero.

    Examples
    --------
    >>> import catena
    >>> arm = catena.compile(catena.load("two_link_arm"))
    >>> t = np.linspace(0, 1, 1001)
    >>> q, v = np.zeros((1001, 2)), np.zeros((1001, 2))
    >>> tau = np.tile(arm.gravity(q[0]) - [0.0, 3.0], (1001, 1))  # 3 N m of a hand hold the elbow
    >>> external_forces(arm, t, q, v, tau)[-1].round(3) + 0.0
    array([0., 3.])
    """
    if machine.rows or machine.nq != len(coordinates(machine)):
        raise StudyError(
            f"external_forces: mechanism {machine.mechanism.name!r} has loops or free rotations;"
            " open chains and trees of hinges and slides are supported"
        )
    if not gain > 0.0:
        raise StudyError(f"external_forces: a gain of {gain:g} 1/s; it is above zero")
    t, q, v, tau = (np.asarray(x, float) for x in (t, q, v, tau))
    p = np.einsum("tij,tj->ti", machine.mass_matrix(q), v)
    h = RELATIVE_STEP / (1.0 + np.linalg.norm(v, axis=1, keepdims=True))
    forward, backward = machine.mass_matrix(q + h * v), machine.mass_matrix(q - h * v)
    rate = np.einsum("tij,tj->ti", forward - backward, v) / (2.0 * h)
    known = tau + rate - machine.bias(q, v)
    return _observed(t, p, known, gain)


def _observed(t: Array, p: Array, known: Array, gain: float) -> Array:
    """Return r at all times; each step is exact for a constant external force."""
    r = np.zeros_like(p)
    for k in range(len(t) - 1):
        step = t[k + 1] - t[k]
        external = (p[k + 1] - p[k]) / step - 0.5 * (known[k] + known[k + 1])
        r[k + 1] = external + (r[k] - external) * np.exp(-gain * step)
    return r
