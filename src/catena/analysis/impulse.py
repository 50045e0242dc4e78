"""Impulses: the sudden change of the speeds caused by a blow, a capture or a sudden lock. The
equations themselves are in `contact/impact.py`.

[Passerello1972] chapter IV: momentum changes by the impulses, the configuration does not. With P
the generalised impulse from outside, B the rows that must hold afterwards (loops; locked speeds; a
frame that moves with its target) and e the coefficient of restitution:

    M dv = P + B' L,        B (v + dv) = -e B v

so that the energy lost between the bodies is (1 - e^2)/2 (B v)' (B M^-1 B')^+ (B v): never negative
for e <= 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

import numpy as np

from ..contact import impact
from ..errors import QuestionError, UnknownNameError
from ..machine import (
    Machine,
    Metric,
    Rows,
    all_speeds_of,
    by_speed,
    joints_of,
    machine_of,
    metric,
    rows_at,
    state,
    under_rows,
    where,
)
from ..model import Mechanism
from .capture import NONE, Meeting, Target, meeting, three
from .projection import possible_state, require_apart

Array = np.ndarray
# Rows that are missed by more after an impact contradict each other; relative to the fastest rate
# that the energy allows.
CONTRADICTION_RATIO = 1e-7
Strikes = dict[tuple[str, str], Array]  # (frame, axes): impulse, torque first


@dataclass(frozen=True)
class ImpulseResponse:
    """The result of `impulse`. It unpacks as (dv, impulses).

    Attributes
    ----------
    dv : ndarray (nv,)
        The change of the speeds, rad/s or m/s.
    impulses : dict of str to ndarray (6,)
        The impulse that each joint, also those that close loops, applies to its child, moment
        first, about the origin of the child body and in its axes (N m s, N s); NaN if it is not
        determined.
    before, after : float
        The kinetic energy before and after (J), including the target's.
    caught : ndarray (6,)
        The impulse of the target on the frame, moment first, about the frame's origin and in the
        ground's axes.
    target : ndarray (6,)
        The velocity of the target afterwards, angular first.
    """

    dv: Array
    impulses: dict[str, Array]
    before: float
    after: float
    caught: Array = field(default_factory=lambda: np.zeros(6))
    target: Array = field(default_factory=lambda: np.zeros(6))

    def __iter__(self) -> Iterator[Any]:
        return iter((self.dv, self.impulses))

    @property
    def lost(self) -> float:
        """The kinetic energy lost (J); negative if the blow did work on the mechanism."""
        return self.before - self.after


def impulse(
    m: Mechanism | Machine,
    q: Any,
    v: Any = None,
    *,
    at: str | None = None,
    linear: Sequence[float] = NONE,
    angular: Sequence[float] = NONE,
    axes: str = "world",
    joint: Mapping[str, Any] | None = None,
    lock: Iterable[str] = (),
    capture: tuple[str, Target] | None = None,
    restitution: float = 0.0,
    project: bool = False,
) -> ImpulseResponse:
    """Return the change of the speeds caused by blows, locks and captures at one instant.

    Parameters
    ----------
    m : Mechanism or Machine
        The mechanism, or the machine compiled from it.
    q : array (nq,)
        Coordinates, rad or m.
    v : array (nv,), optional
        Speeds before, rad/s or m/s. By default zero.
    at : str, optional
        The frame or body that is struck, at its origin.
    linear, angular : sequence of 3 floats, default (0, 0, 0)
        The linear (N s) and angular (N m s) impulse at `at`.
    axes : {"world", "body"}, default "world"
        The axes along which `linear` and `angular` are given.
    joint : mapping of str to float or array, optional
        Impulses of motors by coordinate or joint, N m s or N s.
    lock : iterable of str, optional
        Joints or coordinates that stop suddenly.
    capture : tuple (str, Target), optional
        A frame, and the target that it meets.
    restitution : float, default 0.0
        The coefficient of restitution of locks and captures: 0 if they hold together, 1 for a
        rebound without loss. It multiplies the speeds before the blow.
    project : bool, default False
        Use the admissible state nearest to `q` and `v` (`assemble`) instead of refusing one that
        violates the loops.

    Returns
    -------
    ImpulseResponse
        It unpacks as ``dv, impulses``.

    Raises
    ------
    ClosureError
        If the state leaves a loop open or its speeds open one, and `project` is False.
    QuestionError
        If `restitution` is not between 0 and 1, an impulse has no frame, a contact touches, which
        would answer the blow, or locks, loops and the target contradict each other.

    Examples
    --------
    >>> import catena
    >>> pendulum = catena.load("pendulum")
    >>> dv, impulses = catena.impulse(pendulum, [0.0], [2.0], lock=["pivot"])
    >>> dv.tolist()
    [-2.0]
    """
    machine = machine_of(m)
    q, v = state(machine, "impulse", q=q, v=v)
    if not (isinstance(restitution, Real) and 0.0 <= restitution <= 1.0):
        raise QuestionError(
            f"impulse: restitution is {restitution!r}; it lies between 0 (stay together) and 1"
            " (bounce without loss)"
        )
    q, v = possible_state(machine, "impulse", q, v, project)
    require_apart(machine, "impulse", q)
    P, strikes = _applied_impulse(machine, q, at, linear, angular, axes, joint)
    rows = rows_at(machine, q, v)
    meet = None if capture is None else meeting(machine, q, *capture)
    system = _system(machine, q, v, rows, all_speeds_of(machine, lock), meet)
    change, L = _solve_impact(machine, system, P, -(1.0 + restitution) * system.approach)
    gave = np.zeros(6)
    if meet is not None:
        gave = meet.rows.T @ L[len(L) - len(meet.rows) :]
        strikes[meet.frame, "world"] = strikes.get((meet.frame, "world"), np.zeros(6)) + gave
    after = system.speed + change
    moved = np.zeros(6) if meet is None else after[machine.nv :] if meet.yields else meet.velocity
    impulses = _joint_impulses(machine, q, change[: machine.nv], strikes, rows, L[: len(rows.A)])
    before_energy, after_energy = (0.5 * float(x @ system.M @ x) for x in (system.speed, after))
    return ImpulseResponse(change[: machine.nv], impulses, before_energy, after_energy, gave, moved)


def _applied_impulse(
    machine: Machine, q: Array, at: str | None, linear: Any, angular: Any, axes: str, joint: Any
) -> tuple[Array, Strikes]:
    """Return the generalised impulse P (nv,) from outside and from motors, and the impulses (6,) by
    (frame, axes).
    """
    P = np.zeros(machine.nv)
    for k, x in by_speed(machine, "impulse", joint).items():
        P[k] += x
    blow = np.concatenate([three("angular", angular), three("linear", linear)])
    if at is None:
        if blow.any():
            raise QuestionError(
                "impulse: `linear` or `angular` is given, but not where it acts; name the frame"
                " or body with at="
            )
        return P, {}
    if axes not in ("world", "body"):
        raise UnknownNameError("axes", axes, ("world", "body"), "impulse")
    return P + machine.jacobian(q, at, axes).T @ blow, {(at, axes): blow}


@dataclass(frozen=True)
class _System:
    """The mechanism and its target as one system: mass matrix, speeds, the rows B that must hold
    afterwards, and the rates B v at which these are approached.
    """

    M: Array
    speed: Array
    B: Array
    approach: Array
    by: Metric  # the metric in which the rank of B is decided


def _system(
    machine: Machine, q: Array, v: Array, rows: Rows, stop: list[int], meet: Meeting | None
) -> _System:
    """Build the system of the mechanism, the speeds in `stop` that are locked, and the target."""
    locks = np.eye(machine.nv)[stop]
    by = metric(machine, acting=False)
    # rows of the target have size zero: they are measured by their entries
    more = 0 if meet is None else len(meet.rows)
    by = Metric(by.column, np.concatenate([by.size, by.column[stop], np.zeros(more)]))
    if meet is None:
        B = np.vstack([rows.A, locks])
        return _System(machine.mass_matrix(q), v, B, np.concatenate([rows.rate, locks @ v]), by)
    approach = np.concatenate([rows.rate, locks @ v, meet.rows @ (meet.J @ v - meet.velocity)])
    B = np.vstack([rows.A, locks, meet.rows @ meet.J])
    if not meet.yields:
        return _System(machine.mass_matrix(q), v, B, approach, by)
    nv = machine.nv
    zeros = np.zeros((len(B) - len(meet.rows), 6))
    M = np.zeros((nv + 6, nv + 6))
    M[:nv, :nv], M[nv:, nv:] = machine.mass_matrix(q), meet.inertia
    return _System(
        M,
        np.concatenate([v, meet.velocity]),
        np.hstack([B, np.vstack([zeros, -meet.rows])]),
        approach,
        Metric(np.concatenate([by.column, np.ones(6)]), by.size),
    )


def _solve_impact(machine: Machine, s: _System, P: Array, wanted: Array) -> tuple[Array, Array]:
    """Return the change of all speeds and the impulses L of the rows, with B dv = wanted; raise a
    QuestionError if the rows contradict each other.
    """
    pushed = np.concatenate([P, np.zeros(len(s.speed) - len(P))])
    found = impact(machine, s.M, s.B, wanted, pushed, s.by)
    if len(s.B):
        energy = s.speed @ s.M @ s.speed + found.dv @ s.M @ found.dv
        left = np.abs(found.missed)
        if left.max() > CONTRADICTION_RATIO * np.sqrt(energy):
            worst = float(np.abs(s.B @ found.dv - wanted)[left.argmax()])
            raise QuestionError(
                f"impulse: locks, loops and the target contradict each other in {where(machine)}:"
                f" {worst:.3g} m/s (or rad/s) remain; lock fewer joints, or let the target act"
                " along one direction"
            )
    return found.dv, found.L


def _joint_impulses(
    machine: Machine, q: Array, dv: Array, strikes: Strikes, rows: Rows, L: Array
) -> dict[str, Array]:
    """Return the impulse (6,) in every joint: the reactions to the acceleration dv at rest, without
    weight, under the applied impulses and those of the rows.
    """
    zero = np.zeros(machine.nv)
    (weight,) = machine.evaluate("reactions", q, zero, zero)
    found = machine.evaluate("reactions", q, zero, dv, wrenches=strikes or None)[0] - weight
    if len(L):
        found, _ = under_rows(machine, q, found, rows.A.T @ L, steady=False)
    return {j.name: found[k] for k, j in enumerate(joints_of(machine))}
