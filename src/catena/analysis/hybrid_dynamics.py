"""Hybrid dynamics: for each coordinate either its motion is given or its force, the other is asked
for.

[Passerello1972] eq. 3.30-3.31, here with loops. With f for the coordinates whose force is given and
d for those driven:

    [ M_ff  A_f' ] [  a_f ]   [ tau_f - b_f - M_fd a_d ]
    [ A_f    0   ] [ -lam ] = [ gamma - A_d a_d    ]        then        tau_d = (M a + b - A' lam)_d

b contains the losses of the joints, with their sign, so that tau is what the motors give, as in a
simulation and in `catena inverse`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..errors import QuestionError
from ..machine import (
    Machine,
    Terms,
    by_speed,
    least_change,
    machine_of,
    metric,
    spaces,
    state,
    terms,
    where,
)
from ..model import Mechanism
from .projection import possible_state, require_apart

Array = np.ndarray


def hybrid_dynamics(
    m: Mechanism | Machine,
    q: Any,
    v: Any,
    motion: Mapping[str, Any] | None = None,
    force: Mapping[str, Any] | None = None,
    wrenches: Any = None,
    t: float = 0.0,
    project: bool = False,
) -> tuple[Array, Array]:
    """(tau, a), each (nv,): all forces and all accelerations, from some of each.

    motion: {coordinate or joint: acceleration}, rad/s2 or m/s2. force: {coordinate or joint:
    force}, N m or N. Every speed that is in neither has the force zero. A joint of several freedoms
    takes one value for each. t: the time, s, for loads that depend on it. tau is what the motors
    give: damping and friction of the joints (`machine.losses(v)`) act besides, as in `simulate`.
    project: take the possible state nearest to q and v (`assemble`); without it a ClosureError
    refuses a state that leaves a loop open, or has speeds that open one. A QuestionError says why a
    mixture has no answer (the motion tears a loop), or more than one (more is driven than the
    mechanism has freedoms).
    """
    machine = machine_of(m)
    q, v = state(machine, "hybrid dynamics", q=q, v=v)
    driven = by_speed(machine, "hybrid dynamics", motion)
    forced = by_speed(machine, "hybrid dynamics", force)
    if both := sorted(driven.keys() & forced.keys()):
        raise QuestionError(
            f"hybrid dynamics: {machine.speed_names[both[0]]!r} has both a motion and a force; give"
            " one, ask the other"
        )
    q, v = possible_state(machine, "hybrid dynamics", q, v, project, t)
    if wrenches is None:  # else what touches may be among them
        require_apart(machine, "hybrid dynamics", q)
    at = terms(machine, q, v, wrenches, t)
    at = replace(at, b=at.b - machine.losses(v))
    d = sorted(driven)
    f = [k for k in range(machine.nv) if k not in driven]
    a = np.zeros(machine.nv)
    tau = np.zeros(machine.nv)
    a[d], tau[f] = [driven[k] for k in d], [forced.get(k, 0.0) for k in f]
    _inertia(machine, at, f)
    lam = _solve(machine, at, f, d, a, tau)
    tau[d] = (at.M @ a + at.b - at.A.T @ lam)[d]
    return tau, a


def _inertia(machine: Machine, t: Terms, f: list[int]) -> None:
    """Refuse forces on coordinates that have no inertia."""
    if not f:
        return
    values, U = np.linalg.eigh(t.M[np.ix_(f, f)])
    if values[0] < 1e-13 * max(values[-1], 1e-300):
        names = [machine.speed_names[f[k]] for k in np.flatnonzero(np.abs(U[:, 0]) > 0.1)]
        raise QuestionError(
            f"hybrid dynamics: {where(machine)} has no inertia along {', '.join(map(repr, names))},"
            " so no force there answers for its motion; give its motion instead, or take a ball"
            " joint if its axes are in one line"
        )


def _solve(machine: Machine, t: Terms, f: list[int], d: list[int], a: Array, tau: Array) -> Array:
    """Fill a of the forced coordinates; return the multipliers."""
    A, Ad = t.A[:, f], t.A[:, d]
    push = tau[f] - t.b[f] - t.M[np.ix_(f, d)] @ a[d]
    wanted = t.rows.gamma - Ad @ a[d]
    if not len(wanted):
        a[f] = np.linalg.solve(t.M[np.ix_(f, f)], push) if f else 0.0
        return np.zeros(0)
    lam = np.zeros(len(wanted))
    if f:
        M = t.M[np.ix_(f, f)]
        free = np.linalg.solve(M, push)
        change, lam = least_change(M, A, wanted - A @ free, metric(machine, acting=False).speeds(f))
        a[f] = free + change
    left = np.abs(t.A @ a - t.rows.gamma)
    if left.max() > 1e-7 * max(1.0, np.abs(wanted).max(), np.abs(a).max()):
        joint, direction = t.rows.names[int(left.argmax())]
        names = ", ".join(repr(machine.speed_names[k]) for k in d)
        raise QuestionError(
            f"hybrid dynamics: the motion given to {names} tears loop {joint!r} open,"
            f" {left.max():.3g} m/s2 (or 1/s2) in its {direction}; the mechanism has"
            f" {machine.nv - t.spaces.rank} degrees of freedom: drive so many"
        )
    inner = np.linalg.norm(Ad.T @ spaces(A, metric(machine, acting=False).speeds(f)).N, axis=1)
    if inner.max(initial=0.0) > 1e-8 * max(1.0, np.abs(t.A).max()):
        names = ", ".join(repr(machine.speed_names[d[k]]) for k in np.flatnonzero(inner > 1e-8))
        raise QuestionError(
            f"hybrid dynamics: the forces in {names} are not determined: more of the loop is driven"
            f" than its {machine.nv - t.spaces.rank} degrees of freedom; drive fewer and give the"
            " others a force"
        )
    return lam
