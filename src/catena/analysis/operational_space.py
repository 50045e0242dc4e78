"""Operational space: the dynamics of a mechanism as a frame of it sees them.

    x'' = J v' + Jdot v                              the acceleration of the frame, angular first
    Lambda x'' + mu = F + Jbar' tau                  the equation of motion of the frame
    Lambda^-1 = J M^-1 J',  Jbar = M^-1 J' Lambda,   mu = -Lambda x''(tau = 0)

M^-1 is the response of the accelerations to forces along the speeds, which obeys loops and speed
rows. Jbar is the dynamically consistent inverse of J: a force tau = (1 - J' Jbar') tau0 does not
accelerate the frame ([Khatib1987]; [Merwe1995] eq. 5.12-5.30, Lilly's method). The frame may be on
any body: on the reference member of several chains, Lambda and mu are the left side of [Merwe1995]
eq. 6.30.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..errors import QuestionError
from ..machine import Machine, machine_of
from ..model import Mechanism

Array = np.ndarray
# A direction has no response below this, relative to the largest, after lengths and angles are made
# comparable by the sizes of the rows themselves.
NO_RESPONSE_RATIO = 1e-10


@dataclass(frozen=True)
class OperationalSpace:
    """The result of `operational_space`. Arrays have the leading shape of the states.

    Attributes
    ----------
    Lambda : ndarray (..., k, k)
        The inertia that the frame has along the k directions (kg m2, kg m, kg); the inverse of the
        response on the directions in which the frame can accelerate, zero on the others.
    bias : ndarray (..., k)
        The force, along the directions, that the motion, gravity and loads require at x'' = 0 and
        tau = 0 (N m, N).
    inverse : ndarray (..., nv, k)
        Jbar, the dynamically consistent inverse of the Jacobian.
    jacobian : ndarray (..., k, nv)
        J along the directions.
    response : ndarray (..., k, k)
        Lambda^-1, the acceleration of the frame per unit of force on it.
    open_acceleration : ndarray (..., k)
        x'' without force on the frame and without motors.
    rank : ndarray of int (...)
        The number of directions in which the frame can accelerate.
    """

    Lambda: Array
    bias: Array
    inverse: Array
    jacobian: Array
    response: Array
    open_acceleration: Array
    rank: Array
    _omega: Array

    def null_space(self) -> Array:
        """Return 1 - J' Jbar', the projection of forces along the speeds onto those that do not
        accelerate the frame.

        Returns
        -------
        ndarray (..., nv, nv)
            The projection.
        """
        n = self.jacobian.shape[-1]
        return np.eye(n) - np.swapaxes(self.jacobian, -1, -2) @ np.swapaxes(self.inverse, -1, -2)

    def contact(
        self,
        directions: ArrayLike,
        *,
        coupling: ArrayLike | None = None,
        acceleration: ArrayLike | None = None,
        tau: ArrayLike | None = None,
    ) -> tuple[Array, Array]:
        """Return the force of the frame on its surroundings that holds it along some directions,
        and the change of the accelerations that it causes.

        Parameters
        ----------
        directions : array_like, shape (k, nc)
            The constrained directions, as columns.
        coupling : array_like, shape (k, nc), optional
            A further force for each unit of the constraint's force, such as sliding friction
            against the motion: contact of class II ([Merwe1995] 5.2.4). Default: none, class I.
        acceleration : array_like, shape (nc,), optional
            The acceleration of the surroundings along the directions. Default: zero.
        tau : array_like, shape (..., nv), optional
            Forces of the motors (N m, N). Default: zero.

        Returns
        -------
        force : ndarray (..., k)
            On the surroundings (N m, N).
        change : ndarray (..., nv)
            What it changes the accelerations by (rad/s2, m/s2).

        Raises
        ------
        QuestionError
            If the frame cannot be held along the directions: the contact equation is singular and
            has no solution there.
        """
        phi = np.asarray(directions, dtype=float)
        k = self.response.shape[-1]
        if phi.ndim != 2 or phi.shape[0] != k:
            raise QuestionError(
                f"contact: directions have shape {phi.shape}; they are columns of {k} entries, the"
                " directions of this operational space"
            )
        F = np.zeros(phi.shape) if coupling is None else np.asarray(coupling, dtype=float)
        held = np.zeros(phi.shape[1]) if acceleration is None else np.asarray(acceleration, float)
        free = self.open_acceleration
        if tau is not None:
            free = free + _times(np.swapaxes(self._omega, -1, -2), np.asarray(tau, dtype=float))
        left = phi.T @ self.response @ (phi + F)
        right = _times(phi.T, free) - held
        # relative to the terms that cancel in the contact equation
        size = (np.abs(phi).T @ np.abs(self.response) @ (np.abs(phi) + np.abs(F))).max((-2, -1))
        h = _times(_pseudo_inverse(left, NO_RESPONSE_RATIO * size), right)
        missed = np.abs(_times(left, h) - right).max(initial=0.0)
        if missed > 1e-8 * max(np.abs(right).max(initial=0.0), 1e-300):
            raise QuestionError(
                "contact: no force holds the frame along these directions; with this coupling the"
                " contact equation is singular, as at the angle of friction where a tip jams"
            )
        f = _times(phi + F, h)
        return f, -_times(self._omega, f)


def operational_space(
    mechanism: Mechanism | Machine,
    q: ArrayLike,
    v: ArrayLike | None = None,
    *,
    frame: str,
    directions: str | Sequence[Sequence[float]] | Array = "pose",
    axes: str = "world",
) -> OperationalSpace:
    """Return the inertia, the bias force and the consistent inverse of the Jacobian of a frame.

    Parameters
    ----------
    mechanism : Mechanism or Machine
        The mechanism, open or with loops.
    q : array_like, shape (..., nq)
        Coordinates; any leading shape is a batch.
    v : array_like, shape (..., nv), optional
        Speeds (rad/s, m/s). Default: at rest.
    frame : str
        A frame or a body; on any member of the mechanism.
    directions : {"pose", "position", "rotation"} or array_like, shape (6, k), default "pose"
        The rows of the task: all six, the last three, the first three, or columns in the order
        angular, linear.
    axes : {"world", "body"}, default "world"
        Along whose axes the components are.

    Returns
    -------
    OperationalSpace
        Lambda, bias, inverse, and what belongs to them.

    Raises
    ------
    QuestionError
        If `directions` is none of these.

    Examples
    --------
    >>> import catena
    >>> arm = catena.load("two_link_arm")
    >>> space = catena.operational_space(arm, [0.3, 0.8], frame="tip", directions="position")
    >>> space.Lambda.shape, int(space.rank)
    ((3, 3), 2)
    """
    machine = machine_of(mechanism)
    phi = _columns(directions)
    q = np.asarray(q, dtype=float)
    v = np.zeros((*q.shape[:-1], machine.nv)) if v is None else np.asarray(v, dtype=float)
    response, omega, free, J = machine.evaluate("operational_space", q, v, frame=frame, axes=axes)
    response, omega = phi.T @ response @ phi, omega @ phi
    J, free = phi.T @ J, _times(phi.T, free)
    Lambda, rank = _inverse(response)
    return OperationalSpace(
        Lambda, -_times(Lambda, free), omega @ Lambda, J, response, free, rank, omega
    )


def _columns(directions: str | Sequence[Sequence[float]] | Array) -> Array:
    """Return the directions as columns (6, k)."""
    named = {"pose": slice(0, 6), "rotation": slice(0, 3), "position": slice(3, 6)}
    if isinstance(directions, str) and directions in named:
        return np.eye(6)[:, named[directions]]
    found = None if isinstance(directions, str) else np.asarray(directions, dtype=float)
    if found is None or found.ndim != 2 or found.shape[0] != 6:
        raise QuestionError(
            f"operational_space: directions are {directions!r}; they are one of"
            f" {', '.join(map(repr, named))}, or columns of six numbers, angular first"
        )
    return found


def _inverse(response: Array) -> tuple[Array, Array]:
    """Return the pseudo-inverse of the response and its rank. The rank is decided on rows that are
    scaled by their own response, so that radians and metres are comparable.
    """
    size = np.sqrt(np.abs(np.diagonal(response, axis1=-2, axis2=-1)))
    size = np.where(size > 0, size, 1.0)
    value = np.linalg.eigvalsh(response / size[..., :, None] / size[..., None, :])
    largest = np.max(value, axis=-1, keepdims=True, initial=0.0)
    rank = (value > NO_RESPONSE_RATIO * largest).sum(-1)
    value, U = np.linalg.eigh(response)  # in ascending order
    k = value.shape[-1]
    kept = np.arange(k) >= k - rank[..., None]
    inverse = np.where(kept, 1.0 / np.where(kept, value, 1.0), 0.0)
    return (U * inverse[..., None, :]) @ np.swapaxes(U, -1, -2), rank


def _pseudo_inverse(A: Array, least: Array) -> Array:
    """Return the pseudo-inverse without singular values below `least`, one per matrix."""
    U, s, V = np.linalg.svd(A, full_matrices=False)
    kept = s > least[..., None]
    inverse = np.where(kept, 1.0 / np.where(kept, s, 1.0), 0.0)
    return np.swapaxes(V, -1, -2) * inverse[..., None, :] @ np.swapaxes(U, -1, -2)


def _times(A: Array, x: Array) -> Array:
    return (A @ x[..., None])[..., 0]
