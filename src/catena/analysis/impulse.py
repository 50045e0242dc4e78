"""Impulses: what a blow, a capture or a sudden lock does to the speeds, at once. The equations
themselves are in `impact.py`.

[Passerello1972] chapter IV: momentum changes by the impulses, the configuration does not. With P
the generalised impulse from outside, B the rows that must hold afterwards (loops; locked speeds; a
frame that moves with its target) and e the restitution:

    M dv = P + B' L,        B (v + dv) = -e B v

so that the energy lost between the bodies is (1 - e^2)/2 (B v)' (B M^-1 B')^+ (B v): never negative
for e <= 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
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
from .projection import possible_state

Array = np.ndarray
# how far rows may be missed after a blow, relative to the fastest that the energy allows
CONTRADICTION = 1e-7
Strikes = dict[tuple[str, str], Array]  # (frame, axes): impulse, torque first


@dataclass(frozen=True)
class ImpulseResponse:
    """What a blow did. It unpacks as (dv, impulses).

    dv (nv,): the change of the speeds. impulses: {joint: (6,)}, the impulse that each joint, loops
    included, gave its child, torque first, about the child body's origin in its axes (N m s, N s);
    NaN where it is not determined. before, after: the kinetic energy (J), the target's included.
    caught (6,): what the target gave the frame, about the frame's origin in the ground's axes.
    target (6,): the target's velocity afterwards, angular first.
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
        """Kinetic energy that is gone (J); negative where the blow did work."""
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
    """The change of speeds, dv, impulses = impulse(...): see `ImpulseResponse`.

    at: the frame or body struck, by linear (N s) and angular (N m s) impulses at its origin, along
    the axes of the "world" or of the "body". joint: {coordinate or joint: impulse}, N m s or N s,
    from its motor. lock: joints or coordinates that stop. capture: (frame, Target). restitution: 0
    for what stays together, 1 for what bounces without loss; it holds for locks and captures, and
    the speeds they undo are those before the blow. project: begin with the possible state nearest
    to q and v (`assemble`); without it a ClosureError refuses a state that leaves a loop open, or
    has speeds that open one.
    """
    machine = machine_of(m)
    q, v = state(machine, "impulse", q=q, v=v)
    if not 0.0 <= restitution <= 1.0:
        raise QuestionError(
            f"impulse: restitution is {restitution:g}; it lies between 0 (stay together) and 1"
            " (bounce without loss)"
        )
    q, v = possible_state(machine, "impulse", q, v, project)
    P, strikes = _applied(machine, q, at, linear, angular, axes, joint)
    rows = rows_at(machine, q, v)
    meet = None if capture is None else meeting(machine, q, *capture)
    system = _system(machine, q, v, rows, all_speeds_of(machine, lock), meet)
    change, L = _struck(machine, system, P, -(1.0 + restitution) * system.approach)
    gave = np.zeros(6)
    if meet is not None:
        gave = meet.rows.T @ L[len(L) - len(meet.rows) :]
        strikes[meet.frame, "world"] = strikes.get((meet.frame, "world"), np.zeros(6)) + gave
    after = system.speed + change
    moved = np.zeros(6) if meet is None else after[machine.nv :] if meet.yields else meet.velocity
    impulses = _joint_impulses(machine, q, change[: machine.nv], strikes, rows, L[: len(rows.A)])
    before_energy, after_energy = (0.5 * float(x @ system.M @ x) for x in (system.speed, after))
    return ImpulseResponse(change[: machine.nv], impulses, before_energy, after_energy, gave, moved)


def _applied(
    machine: Machine, q: Array, at: str | None, linear: Any, angular: Any, axes: str, joint: Any
) -> tuple[Array, Strikes]:
    """The generalised impulse P from outside and from motors, and the strikes by frame."""
    P = np.zeros(machine.nv)
    for k, x in by_speed(machine, "impulse", joint).items():
        P[k] += x
    blow = np.concatenate([three("angular", angular), three("linear", linear)])
    if at is None:
        if blow.any():
            raise QuestionError(
                "impulse: it has a size but no place; name the frame or body it strikes with at="
            )
        return P, {}
    if axes not in ("world", "body"):
        raise UnknownNameError("axes", axes, ("world", "body"), "impulse")
    return P + machine.jacobian(q, at, axes).T @ blow, {(at, axes): blow}


@dataclass(frozen=True)
class _System:
    """Mechanism and target side by side: mass matrix, speeds, the rows that must hold, and how fast
    each is approached.
    """

    M: Array
    speed: Array
    B: Array
    approach: Array
    by: Metric  # in which the rank of B is decided


def _system(
    machine: Machine, q: Array, v: Array, rows: Rows, stop: list[int], meet: Meeting | None
) -> _System:
    locks = np.eye(machine.nv)[stop]
    by = metric(machine, acting=False)
    # measured by their entries, as is the target's motion
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


def _struck(machine: Machine, s: _System, P: Array, wanted: Array) -> tuple[Array, Array]:
    """The change of all speeds and the rows' impulses L."""
    pushed = np.concatenate([P, np.zeros(len(s.speed) - len(P))])
    found = impact(machine, s.M, s.B, wanted, pushed, s.by)
    if len(s.B):
        energy = s.speed @ s.M @ s.speed + found.dv @ s.M @ found.dv
        left = np.abs(found.missed)
        if left.max() > CONTRADICTION * np.sqrt(energy):
            worst = float(np.abs(s.B @ found.dv - wanted)[left.argmax()])
            raise QuestionError(
                f"impulse: locks, loops and the target contradict each other in {where(machine)}:"
                f" {worst:.3g} m/s (or rad/s) cannot be met; lock less, or let the target meet"
                " along one direction"
            )
    return found.dv, found.L


def _joint_impulses(
    machine: Machine, q: Array, dv: Array, strikes: Strikes, rows: Rows, L: Array
) -> dict[str, Array]:
    """The impulse in every joint: the reactions of the acceleration dv at rest, without weight,
    under strikes and rows.
    """
    zero = np.zeros(machine.nv)
    (weight,) = machine.evaluate("reactions", q, zero, zero)
    found = machine.evaluate("reactions", q, zero, dv, wrenches=strikes or None)[0] - weight
    if len(L):
        found, _ = under_rows(machine, q, found, rows.A.T @ L, steady=False)
    return {j.name: found[k] for k, j in enumerate(joints_of(machine))}
