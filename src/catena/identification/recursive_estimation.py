"""Recursive estimation: base parameters and friction while the robot moves.

    L = P W' (f S + W P W')^-1,  theta += L (y - W theta),  P = (P - L W P) / f

W (nv, n) has the regressor's base columns and viscous, Coulomb and constant columns of each joint;
y are the joint forces, S their variances, f is the factor of forgetting ([Ljung1999], recursive
least squares).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..compiler import inertial_parameters
from ..errors import StudyError
from ..machine import Machine, machine_of
from ..model import SMOOTH, Mechanism
from .base_parameters import base_parameters

Array = NDArray[np.float64]


@dataclass(frozen=True)
class RecursiveEstimate:
    """An estimate at one time; `update` returns the next.

    Attributes
    ----------
    machine : Machine
        The mechanism.
    names : tuple of str
        The parameters: base parameters, then viscous, Coulomb and constant force of each joint.
    values : array, shape (n,)
        Their estimates.
    covariance : array, shape (n, n)
        Their covariance.
    noise : array, shape (nv,)
        The standard deviation of the forces, N m or N.
    forgetting : float
        The factor by which old data lose weight at each update; 1 keeps them.
    kept : tuple of int
        The columns of the regressor that are base parameters.
    """

    machine: Machine
    names: tuple[str, ...]
    values: Array
    covariance: Array
    noise: Array
    forgetting: float
    kept: tuple[int, ...]

    def update(self, q: Array, v: Array, a: Array, tau: Array) -> RecursiveEstimate:
        """Return the estimate after one more measurement of motion and forces, each (nv,)."""
        W = _row(self.machine, self.kept, np.asarray(q), np.asarray(v), np.asarray(a))
        PW = self.covariance @ W.T
        L = PW @ np.linalg.inv(self.forgetting * np.diag(self.noise**2) + W @ PW)
        values = self.values + L @ (np.asarray(tau) - W @ self.values)
        P = (self.covariance - L @ PW.T) / self.forgetting
        return replace(self, values=values, covariance=0.5 * (P + P.T))


def recursive_estimate(
    mechanism: Mechanism | Machine,
    noise: Array | float,
    *,
    spread: float = 10.0,
    forgetting: float = 1.0,
) -> RecursiveEstimate:
    """Return the estimate before the first measurement: the file's values, widely spread.

    Parameters
    ----------
    mechanism : Mechanism or Machine
        The mechanism, without loops.
    noise : float or array, shape (nv,)
        The standard deviation of the measured forces, N m or N.
    spread : float, default 10.0
        The standard deviation of each parameter before the first measurement, in its SI unit.
    forgetting : float, default 1.0
        The factor by which old data lose weight, above zero and at most one.

    Returns
    -------
    RecursiveEstimate
        Its `update` returns the estimate after a measurement.

    Raises
    ------
    StudyError
        If the mechanism has loops, or an argument is out of range.

    Examples
    --------
    >>> import catena
    >>> estimate = recursive_estimate(catena.load("two_link_arm"), 0.1)
    >>> len(estimate.names)
    12
    """
    machine = machine_of(mechanism)
    if machine.rows:
        raise StudyError(
            f"recursive_estimate: mechanism {machine.mechanism.name!r} has loops, which are not"
            " supported; use catena.fit"
        )
    sigma = np.broadcast_to(np.asarray(noise, float), (machine.nv,)).copy()
    if not (0.0 < forgetting <= 1.0 and spread > 0.0 and (sigma > 0.0).all()):
        raise StudyError(
            f"recursive_estimate: forgetting {forgetting:g}, spread {spread:g}, noise"
            f" {sigma.min():g}; each is above zero, and forgetting at most one"
        )
    base = base_parameters(machine)
    words = ("damping", "friction", "offset")
    names = (*base.combinations, *(f"{w} of {n}" for n in machine.speed_names for w in words))
    own = base.of(inertial_parameters(machine.layout))
    values = np.concatenate([own, np.zeros(3 * machine.nv)])
    kept = tuple(base.reduction.kept)
    return RecursiveEstimate(
        machine, names, values, spread**2 * np.eye(len(values)), sigma, forgetting, kept
    )


def _row(machine: Machine, kept: tuple[int, ...], q: Array, v: Array, a: Array) -> Array:
    """Return the matrix W (nv, n) of the unknowns' columns at one state."""
    Y = machine.regressor(q, v, a)[..., list(kept)]
    friction = np.zeros((machine.nv, 3 * machine.nv))
    for k in range(machine.nv):
        friction[k, 3 * k : 3 * k + 3] = v[k], np.tanh(v[k] / SMOOTH), 1.0
    return np.concatenate([Y, friction], axis=1)
