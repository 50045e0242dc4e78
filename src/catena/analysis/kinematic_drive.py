"""Kinematic drive: the motion of some coordinates is given; positions, velocities and accelerations
of all are computed.

    e(q) = 0 with the driven ones held,      A_f v_f = -A_d v_d,      A_f a_f = gamma - A_d a_d

Masses do not matter. The driven coordinates must determine all others and must not contradict the
loops.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import QuestionError, StateError, UnknownNameError
from ..kernels import EXACT
from ..machine import Machine, Metric, coordinates, machine_of, metric, spaces, state, where
from ..model import Mechanism
from .assembly import closed, gauss_newton, residual
from .assembly_in_lanes import closed_rows, opposite_sides
from .closure_search import CLOSED, called

Array = np.ndarray
# Moments between two that are found in sequence; those between are found at once.
SEQUENTIAL_STRIDE = 8
# Two configurations whose coordinates differ by less (rad, or relative to the mechanism's length)
# are the same assembly.
SAME_ASSEMBLY_DISTANCE = 1e-9
# A larger rate of opening of a loop, relative to the fastest motion, is not rounding.
OPENING_RATE_TOLERANCE = 1e-8


@dataclass(frozen=True)
class DrivenMotion:
    """The result of `kinematics`: coordinates q (..., nq), speeds v and accelerations a (..., nv).
    It unpacks as q, v, a.
    """

    q: Array
    v: Array
    a: Array

    def __iter__(self) -> Iterator[Array]:
        return iter((self.q, self.v, self.a))


def kinematics(
    m: Mechanism | Machine, driven: Mapping[str, Any], guess: Any = None
) -> DrivenMotion:
    """Return the motion of all coordinates, where the motion of some is given.

    Parameters
    ----------
    m : Mechanism or Machine
        The mechanism, or the machine compiled from it.
    driven : mapping of str to (q, v, a)
        The position, speed and acceleration of each driven coordinate, in rad or m and s; speed and
        acceleration are zero if omitted. Each may be an array over instants.
    guess : array (nq,), optional
        The coordinates from which the first instant is assembled, by default zero; each other
        instant is assembled from the one before.

    Returns
    -------
    DrivenMotion
        It unpacks as ``q, v, a``.

    Raises
    ------
    QuestionError
        If a degree of freedom is not determined by the driven coordinates, if they contradict a
        loop, or if the mechanism has speed rows or constraints that depend on time.
    ClosureError
        If a loop cannot be closed.
    """
    machine = machine_of(m)
    (q,) = state(machine, "kinematics", guess=guess)
    if machine.mechanism.nonholonomic:
        raise QuestionError(
            f"kinematics: {where(machine)} has constraints of speeds, from which positions do not"
            " follow; use simulate(...)"
        )
    if machine.spec.rheonomic:
        raise QuestionError(
            f"kinematics: constraint {machine.spec.rheonomic[0]!r} of {where(machine)} depends on"
            " time, which this question does not have; leave it out and drive its coordinate, or"
            " use simulate(...)"
        )
    if not isinstance(driven, Mapping):
        raise StateError(
            f"kinematics: what is driven is a {type(driven).__name__}; it is a mapping of"
            " coordinates to their values, such as {'crank': angles}"
        )
    table = {c.name: c for c in coordinates(machine)} | {c.speed: c for c in coordinates(machine)}
    places, motions = [], []
    for name, values in driven.items():
        if name not in table:
            raise UnknownNameError(
                "coordinate",
                name,
                [c.name for c in coordinates(machine)],
                f"{where(machine)}, to be driven",
            )
        places.append(table[name])
        motions.append(_triple(name, values))
    if not motions and machine.nv:
        raise QuestionError(
            f"kinematics: nothing of {where(machine)} is driven; give the motion of at least one"
            " coordinate"
        )
    shape = np.broadcast_shapes(*(x.shape for three in motions for x in three))
    if len(shape) > 1:
        raise StateError(
            f"kinematics: the driven values have shape {shape}; they are numbers, or arrays of one"
            " dimension, over instants"
        )
    # (driven, 3, moments)
    moments = np.array(
        [[np.broadcast_to(x, shape).reshape(-1) for x in three] for three in motions]
    )
    held = [c.vi for c in places]
    free = [k for k in range(machine.nv) if k not in held]
    found = _positions(machine, q, [c.qi for c in places], moments[:, 0].T, free)
    v, a = _rates(machine, found, held, free, moments[:, 1].T, moments[:, 2].T)
    q, v, a = (x.reshape(*shape, -1) for x in (found, v, a))
    return DrivenMotion(q, v, a)


def _triple(name: str, values: Any) -> list[Array]:
    """Return position, speed and acceleration of a driven coordinate as arrays, zero
    where omitted.
    """
    three = list(values) if isinstance(values, (tuple, list)) else [values]
    if not 1 <= len(three) <= 3:
        raise StateError(
            f"kinematics: {name!r} is given {len(three)} values; give its position, speed and"
            " acceleration"
        )
    found = [np.asarray(x, float) for x in three] + [np.zeros(())] * (3 - len(three))
    if not all(np.isfinite(x).all() for x in found):
        raise StateError(f"kinematics: the motion of {name!r} is not finite")
    return found


def _positions(
    machine: Machine, q: Array, driven: list[int], values: Array, free: list[int]
) -> Array:
    """Return the coordinates (moments, nq), each assembled from the moment before.

    Every SEQUENTIAL_STRIDE-th moment is found in sequence, and the others at once from
    interpolation between them. Then every moment is assembled again from its predecessor, all at
    once; those for which this leads to another configuration are recomputed in sequence.
    """
    if len(values) <= SEQUENTIAL_STRIDE or machine.nq != machine.nv or not machine.rows:
        return _follow(machine, q, driven, values, free)
    ends = np.arange(0, len(values), SEQUENTIAL_STRIDE)
    nodes = _follow(machine, q, driven, values[ends], free)
    line = np.stack([np.interp(np.arange(len(values)), ends, column) for column in nodes.T], axis=1)
    line[:, driven] = values
    found, _ = closed_rows(machine, line, free)
    found[0] = nodes[0]
    start = found[:-1].copy()
    start[:, driven] = values[1:]
    after, gap = closed_rows(machine, start, free)
    near = SAME_ASSEMBLY_DISTANCE * np.sqrt(metric(machine).column)
    proved = (gap < CLOSED) & (np.abs(after - found[1:]) < near).all(axis=1)
    changed = False
    for k in range(1, len(values)):
        if changed or not proved[k - 1]:
            one = _follow(machine, found[k - 1], driven, values[k : k + 1], free, first=False)[0]
            changed, found[k] = bool((np.abs(one - found[k]) >= near).any()), one
    return found


def _follow(
    machine: Machine,
    q: Array,
    driven: list[int],
    values: Array,
    free: list[int],
    first: bool = True,
) -> Array:
    """Return the coordinates (moments, nq), each assembled from the moment before by local steps.
    Restarts are used where these fail, and for the first moment if `first`.
    """
    found = np.empty((len(values), machine.nq))
    for k, value in enumerate(values):
        q = q.copy()
        q[driven] = value
        near = gauss_newton(machine, q, free) if (k or not first) and machine.rows else None
        q = (
            closed(machine, q, free)
            if near is None or np.abs(residual(machine, near)[0]).max() >= CLOSED
            else near
        )
        found[k] = q
    # small steps cannot reverse a joint whose sides point opposite ways, so restart at each moment
    if opposite_sides(machine, found).any():
        for k, value in enumerate(values):
            q = found[max(k - 1, 0)].copy()
            q[driven] = value
            found[k] = closed(machine, q, free)
    return found


def _rates(
    machine: Machine,
    q: Array,
    held: list[int],
    free: list[int],
    speeds: Array,
    accelerations: Array,
) -> tuple[Array, Array]:
    """Return speeds and accelerations (moments, nv), for all moments at once."""
    v, a = np.zeros((2, len(q), machine.nv))
    v[:, held], a[:, held] = speeds, accelerations
    by = metric(machine)
    unit = np.sqrt(metric(machine).column)
    none = np.zeros((len(q), 0))
    _, rate, _, A = (
        machine.constraint_rows(q, v)
        if machine.rows
        else (none, none, none, np.zeros((len(q), 0, machine.nv)))
    )
    inverse = _inverses(machine, A[:, :, free], by.speeds(free), free)
    v[:, free] = -np.einsum("nij,nj->ni", inverse, rate)
    fastest = np.abs(v / unit).max(axis=1, initial=0.0)
    _require_closed(
        machine, A, by, rate + np.einsum("nij,nj->ni", A[:, :, free], v[:, free]), fastest, "speeds"
    )
    gamma = machine.constraint_rows(q, v)[2] if machine.rows else np.zeros((len(q), 0))
    a[:, free] = np.einsum("nij,nj->ni", inverse, gamma - np.einsum("nij,nj->ni", A, a))
    size = fastest**2 + np.abs(a / unit).max(axis=1, initial=0.0)
    _require_closed(machine, A, by, np.einsum("nij,nj->ni", A, a) - gamma, size, "accelerations")
    return v, a


def _inverses(machine: Machine, A: Array, by: Metric, free: list[int]) -> Array:
    """Return (moments, free, rows): the pseudo-inverses that give the free speeds from the rates of
    the rows, as `Spaces.inverse`. Raises a QuestionError if some free speed is not determined.
    """
    n, m, count = A.shape
    if not count:
        return np.zeros((n, 0, m))
    U, s, Vt = (
        np.linalg.svd(by.scaled(A), full_matrices=False)
        if m
        else (np.zeros((n, 0, 0)), np.zeros((n, 0)), np.zeros((n, 0, count)))
    )
    loose = count - (s > EXACT).sum(axis=1)
    if loose.any():
        k = int(np.flatnonzero(loose)[0])
        left = spaces(A[k], by).T
        names = [
            machine.speed_names[free[i]]
            for i in np.argsort(-np.linalg.norm(left, axis=1), kind="stable")
        ]
        raise QuestionError(
            f"kinematics: {left.shape[1]} degree(s) of freedom are left free in {where(machine)};"
            f" drive {left.shape[1]} more coordinate(s), such as {names[0]!r}"
        )
    V = np.swapaxes(Vt, 1, 2) * np.sqrt(by.column)[:, None]
    W = U / np.sqrt(by.sizes(A))[..., None]
    return V / s[:, None, :] @ np.swapaxes(W, 1, 2)


def _require_closed(
    machine: Machine, A: Array, by: Metric, gap: Array, fastest: Array, what: str
) -> None:
    """Raise a QuestionError if a motion opens a loop at a rate above the tolerance, relative to the
    fastest part of the motion at that moment, both in the metric `by`.
    """
    left = np.abs(gap) / np.sqrt(by.sizes(A))
    torn = left.max(axis=1, initial=0.0) > OPENING_RATE_TOLERANCE * fastest
    for n in np.flatnonzero(torn)[:1]:
        k = int(left[n].argmax())
        raise QuestionError(
            f"kinematics: the {what} of the driven coordinates do not keep"
            f" {called(machine.mechanism, machine.rows[k][0])} of {where(machine)} closed: it"
            f" opens by {abs(gap[n, k]):.3g} in SI units; drive fewer coordinates, or give motions"
            " that agree"
        )
