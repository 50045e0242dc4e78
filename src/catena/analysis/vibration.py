"""Vibration: natural frequencies and mode shapes about an equilibrium, with loops and springs.

K y = omega^2 M y        in the motions that the loops allow, K the stiffness of `statics`
zeta = y' C y / 2 omega   the damping ratio to first order in the damping C; exact where C is
                          proportional to K and M
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import QuestionError, SingularError
from ..kernels import motion_without_energy
from ..machine import Machine, across, is_batch, machine_of, name_of, state, states, where
from ..model import Mechanism
from .linearization import dampings, same_freedoms
from .statics import balance, stiffness, unbalanced
from .tangent import load_damping

Array = np.ndarray
# A remaining force at most this, relative to its scale (`statics.unbalanced`), counts as
# equilibrium.
EQUILIBRIUM_FORCE_RATIO = 1e-6


@dataclass(frozen=True)
class Modes:
    """Small vibrations about an equilibrium, slowest first.

    Attributes
    ----------
    squares : ndarray (d,)
        omega^2, rad2/s2; negative if the equilibrium is unstable.
    shapes : ndarray (nv, d)
        The mode shapes as columns, along the speeds, with shapes' M shapes = 1.
    speeds : tuple of str
        The names of the speeds.
    losses : ndarray (d,)
        y' C y (1/s), with the damping of joints and of loads.

    Notes
    -----
    For a batch of states the arrays have its leading dimensions; `leading` and `str` are for a
    single state only.
    """

    squares: Array
    shapes: Array
    speeds: tuple[str, ...]
    losses: Array

    @property
    def frequencies(self) -> Array:
        """The natural frequencies omega (d,), rad/s; NaN for a mode that grows exponentially."""
        with np.errstate(invalid="ignore"):
            return np.sqrt(self.squares)

    @property
    def hertz(self) -> Array:
        """The natural frequencies in Hz."""
        return self.frequencies / (2 * np.pi)

    @property
    def ratios(self) -> Array:
        """The damping ratio zeta (d,) of each mode; NaN where omega^2 is not positive."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(
                self.squares > 0, self.losses / (2 * np.sqrt(np.abs(self.squares))), np.nan
            )

    @property
    def leading(self) -> tuple[str, ...]:
        """For each mode the name of the speed with the largest component of its shape."""
        return tuple(
            self.speeds[int(np.abs(self.shapes[:, k]).argmax())] for k in range(len(self.squares))
        )

    @property
    def stable(self) -> bool:
        """Whether no mode grows exponentially."""
        return bool((self.squares >= 0).all())

    def __str__(self) -> str:
        lines = [f"{len(self.squares)} mode{'s' if len(self.squares) != 1 else ''}"]
        for k, square in enumerate(self.squares):
            shape = self.shapes[:, k] / np.abs(self.shapes[:, k]).max()
            largest = np.argsort(-np.abs(shape), kind="stable")[:4]
            moves = ", ".join(
                f"{self.speeds[i]} {shape[i]:+.2f}" for i in largest if abs(shape[i]) > 0.01
            )
            rate = f"{self.frequencies[k]:.6g} rad/s, {self.hertz[k]:.6g} Hz"
            if square < 0:
                rate = f"grows as exp({np.sqrt(-square):.4g} t)"
            lines.append(f"  {k + 1}: {rate}: {moves}")
        return "\n".join(lines)


def modes(
    m: Mechanism | Machine, q: ArrayLike | None = None, tau: ArrayLike | None = None
) -> Modes:
    """Return natural frequencies and mode shapes about an equilibrium.

    Parameters
    ----------
    m : Mechanism or Machine
        The mechanism, or the machine compiled from it.
    q : array (nq,) or (..., nq), optional
        The coordinates of the equilibrium, rad or m. By default zero.
    tau : array (nv,) or (..., nv), optional
        The joint forces that hold it there, N m or N. By default zero.

    Returns
    -------
    Modes
        Arguments with leading dimensions are a batch, computed in lanes; its states must have the
        same number of degrees of freedom.

    Raises
    ------
    QuestionError
        If `q` is not an equilibrium (`equilibrium` finds one, `static_torques` finds the forces
        that hold it), or the mechanism has speed rows.
    ClosureError
        If `q` leaves a loop open.

    Examples
    --------
    >>> import catena
    >>> catena.modes(catena.load("pendulum")).frequencies.round(5).tolist()
    [3.13209]
    """
    machine = machine_of(m)
    if is_batch("modes", q=q, tau=tau):
        return _batch(machine, q, tau)
    q, tau = state(machine, "modes", q=q, tau=tau)
    machine.require_possible("modes", q)
    _without_speed_rows(machine)
    from scipy.linalg import eigh

    g, t = balance(machine, q, tau)
    T = t.spaces.T
    left, K = T @ (T.T @ g), stiffness(t)
    if not unbalanced(machine, g, t.M, T, K) <= EQUILIBRIUM_FORCE_RATIO:
        raise _moves(machine, left, "here")
    inertia = T.T @ t.M @ T
    _require_inertia(machine, inertia, T)
    squares, y = eigh(0.5 * (K + K.T), inertia)
    squares = np.where(np.abs(squares) < 1e-12 * np.abs(squares).max(initial=0.0), 0.0, squares)
    shapes = T @ y
    losses = np.einsum("ik,ij,jk->k", shapes, damping_matrix(machine, q), shapes)
    return Modes(squares, shapes, machine.speed_names, losses)


def _require_inertia(machine: Machine, inertia: Array, T: Array) -> None:
    """Raise a SingularError where a motion T y has no inertia, so that it has no frequency.

    inertia (d, d): T' M T. T (nv, d): the motions that the rows allow.
    """
    y = motion_without_energy(inertia) if len(inertia) else None
    if y is not None:
        name = machine.speed_names[int(np.argmax(np.abs(T @ y)))]
        raise SingularError(
            f"modes: {where(machine)} moves no inertia along {name!r}, so that this motion has no"
            " frequency; give what it moves mass and inertia, or its joint an armature",
            where=name,
        )


def _batch(machine: Machine, q: Any, tau: Any) -> Modes:
    """Return the modes of many equilibria, with stiffness and mass matrix evaluated in lanes."""
    q, tau, _, lead = states(machine, "modes", q, tau, None)
    _without_speed_rows(machine)
    g, K, C, M, T = _closed_rests(machine, q, tau) if machine.rows else _open_rests(machine, q, tau)
    left = np.einsum("nij,nkj,nk->ni", T, T, g)
    for k in np.flatnonzero(~(unbalanced(machine, g, M, T, K) <= EQUILIBRIUM_FORCE_RATIO))[:1]:
        raise _moves(machine, left[k], f"in row {k}")
    inertia = across(T) @ M @ T
    for k in range(len(inertia)):
        _require_inertia(machine, inertia[k], T[k])
    inverse = np.linalg.inv(np.linalg.cholesky(inertia))  # the inverse of L, M = L L'
    squares, y = np.linalg.eigh(inverse @ (0.5 * (K + across(K))) @ across(inverse))
    squares = np.where(
        np.abs(squares) < 1e-12 * np.abs(squares).max(axis=1, initial=0.0)[:, None], 0.0, squares
    )
    shapes = T @ (across(inverse) @ y)
    losses = np.einsum("nik,nij,njk->nk", shapes, C + np.diag(dampings(machine)), shapes)
    squares, shapes, losses = (x.reshape(*lead, *x.shape[1:]) for x in (squares, shapes, losses))
    return Modes(squares, shapes, machine.speed_names, losses)


def _open_rests(machine: Machine, q: Array, tau: Array) -> tuple[Array, Array, Array, Array, Array]:
    """Return g, K, the damping C of loads, M and T at equilibria (n, nq) of a mechanism without
    loops.
    """
    still = np.zeros_like(tau)
    g, (K, C, M, *_) = (
        machine.inverse_dynamics(q, still, still),
        machine.inverse_dynamics_derivatives(q, still, still),
    )
    return g - tau, K, C, M, np.broadcast_to(np.eye(machine.nv), M.shape)


def _closed_rests(
    machine: Machine, q: Array, tau: Array
) -> tuple[Array, Array, Array, Array, Array]:
    """Return g, K, the damping C of loads, M and T at equilibria (n, nq) of a
    mechanism with loops.
    """
    machine.require_possible("modes", q)
    same_freedoms(machine, "modes", q)
    g, t = balance(machine, q, tau)
    return g, stiffness(t), np.broadcast_to(load_damping(machine, q), t.M.shape), t.M, t.spaces.T


def _without_speed_rows(machine: Machine) -> None:
    """Raise a QuestionError if the mechanism has speed rows."""
    if machine.mechanism.nonholonomic:
        raise QuestionError(
            f"modes: {where(machine)} has speed rows, for which vibration modes are not defined;"
            " use linearize(...).poles"
        )


def _moves(machine: Machine, left: Array, here: str) -> QuestionError:
    """Return the error for a state that is not an equilibrium, because the forces `left` (nv,) are
    not balanced there.
    """
    name, size = name_of(machine, left)
    return QuestionError(
        f"modes: {where(machine)} is not in equilibrium {here}: {size:.4g} (N m or N) along"
        f" {name!r} are not balanced; take q from equilibrium(mechanism, q), or give the forces"
        " that hold it as tau"
    )


def highest_frequency(m: Mechanism | Machine, q: Any = None) -> float:
    """Return the largest |pole| of the linearised springs and dampers at q (by default zero),
    rad/s.

    An explicit method is stable while this times its step stays below a number of the method, 2.78
    for rk4. Without damping it is the highest natural frequency; an overdamped mode decays faster
    than it would vibrate.
    """
    machine = machine_of(m)
    (q,) = state(machine, "highest_frequency", q=q)
    _, t = balance(machine, q, np.zeros(machine.nv))
    T = t.spaces.T
    K = stiffness(t)
    C = damping_matrix(machine, q)
    d = T.shape[1]
    rates = np.linalg.solve(T.T @ t.M @ T, np.hstack([K, T.T @ C @ T])) if d else np.zeros((0, 0))
    A = np.block([[np.zeros((d, d)), np.eye(d)], [-rates[:, :d], -rates[:, d:]]])
    return float(np.abs(np.linalg.eigvals(A)).max(initial=0.0))


def damping_matrix(machine: Machine, q: Array) -> Array:
    """Return the damping matrix C (nv, nv) at rest: the viscous damping of the joints and that of
    loads.
    """
    return np.diag(dampings(machine)) + load_damping(machine, q)
