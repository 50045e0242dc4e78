"""Variations of a start that satisfy the constraints there: loops, speed rows, closed contacts,
joints that stick.

    A_f dq_f = -(A_k dq_k + e_p dp)                  least change of the coordinates f not given by
                                                     name
    A_f dv_f = -(A_k dv_k + r_q dq + r_p dp)         least change in kinetic energy

e: the residuals of loops, r = A v + ...: the rates of all rows; k: what is given by name, or
varied. Starts are found in the same way in studies (`closing.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from ..errors import StudyError
from ..machine import Machine, Metric, all_speeds_of, least_change, metric, position_count
from ..simulation.planning import RunPlan
from ..simulation.system import System
from .directions import Directions, Variations
from .event_maps import Jump
from .linearised import Linearised
from .smooth_segments import Segment, Transition

Array = NDArray[np.float64]
# residual of a row, relative to the sum of its terms, above which a loop is torn open
ROW_RESIDUAL_TOLERANCE = 1e-9
# change of a gap or a stop's distance, relative to the sum of its terms
GAP_CHANGE_TOLERANCE = 1e-9
# change of the state before the first step, relative to its largest entry
START_CHANGE_TOLERANCE = 1e-7


def directions(
    asked: Variations, plan: RunPlan, tapes: Linearised, given: tuple[Any, Any]
) -> Directions:
    """Return the changes per unit of each variable.

    given: q and v of the start; coordinates given there by name do not change when loops are closed
    again.
    """
    s, n = plan.system, len(asked.columns)
    pieces = plan.forces.shape[1] if plan.forces is not None else 1
    dq = np.zeros((s.nv, n))
    dv = np.zeros((s.nv, n))
    dp = np.zeros((tapes.np, n))
    du = np.zeros((pieces, s.nv, n))
    kept = [all_speeds_of(plan.machine, list(x)) if isinstance(x, Mapping) else [] for x in given]
    for k, (_, kind, place) in enumerate(asked.columns):
        if kind in ("q", "v", "p"):
            {"q": dq, "v": dv, "p": dp}[kind][place, k] = 1.0
        else:
            at = slice(None) if kind == "tau" else place[0]
            du[at, place if kind == "tau" else place[1], k] = 1.0
    for own, letter in zip(kept, "qv"):
        own += [place for _, kind, place in asked.columns if kind == letter]
    names = tuple(name for name, _, _ in asked.columns)
    dq, dv = on_rows(plan, names, dq, dv, dp, (kept[0], kept[1]))
    x = np.zeros((tapes.size, n))
    x[: s.nq], x[s.nq : s.nq + s.nv] = _rates(s, plan.x0[0], dq), dv
    return Directions(names, x, dp, du)


def _rates(s: System, x: Array, dq: Array) -> Array:
    """Return changes along the speeds as changes of the coordinates, (nq, n)."""
    tracer = s.tracer()
    N = ca.Function("N", [tracer.q], [ca.densify(ca.jacobian(tracer.coordinate_rate(), tracer.v))])
    return np.array(N(x[: s.nq])) @ dq


def on_rows(
    plan: RunPlan,
    names: Sequence[str],
    dq: Array,
    dv: Array,
    dp: Array,
    kept: tuple[list[int], list[int]],
) -> tuple[Array, Array]:
    """Return changes (nv, n) of coordinates and of speeds that satisfy loops and speed rows.

    dq and dv are along the speeds. kept: the indices of the speeds whose coordinates, and which
    themselves, do not change beyond what is given.
    """
    machine, s = plan.machine, plan.system
    if not machine.rows:
        return dq, dv
    tracer = s.tracer()
    count = position_count(machine)
    x = plan.x0[0]
    p = plan.p[0]
    e, r, _, own = tracer.constraint_rows()
    N = ca.jacobian(tracer.coordinate_rate(), tracer.v)
    out = [
        own,
        ca.jacobian(e[:count], tracer.p),
        ca.jacobian(r, tracer.q) @ N,
        ca.jacobian(r, tracer.p),
        tracer.mass_matrix(),
    ]
    f = ca.Function("start", [tracer.t, tracer.q, tracer.v, tracer.p], [ca.densify(y) for y in out])
    A, e_p, r_q, r_p, M = (np.array(y) for y in f(plan.start, x[: s.nq], x[s.nq : s.nq + s.nv], p))
    by = metric(machine)
    dq = _solved(
        machine, names, A[:count], dq, -e_p @ dp, kept[0], by.rows(slice(count)), np.eye(s.nv)
    )
    dv = _solved(machine, names, A, dv, -r_q @ dq - r_p @ dp, kept[1], by, M)
    return dq, dv


def _solved(
    machine: Machine,
    names: Sequence[str],
    A: Array,
    given: Array,
    wanted: Array,
    kept: list[int],
    by: Metric,
    M: Array,
) -> Array:
    """Return d (nv, n) with A d = wanted, equal to `given` in the kept entries and nearest to it in
    the others.

    Distances are measured in the metric M. Raises StudyError where no such d exists.
    """
    free = [k for k in range(A.shape[1]) if k not in kept]
    found = given.copy()
    missing = wanted - A @ given
    for j in range(given.shape[1]) if len(A) and free else ():
        found[free, j] += least_change(
            M[np.ix_(free, free)], A[:, free], missing[:, j], by.speeds(free)
        )[0]
    left = np.abs(wanted - A @ found)
    size = np.abs(A) @ np.abs(found) + np.abs(wanted)
    if len(left) and (left > ROW_RESIDUAL_TOLERANCE * np.maximum(size, size.max(axis=0))).any():
        row, column = (
            int(k)
            for k in np.unravel_index(
                int(np.argmax(left / np.maximum(size.max(axis=0), 1e-300))), left.shape
            )
        )
        joint, label = machine.rows[row]
        raise StudyError(
            f"sensitivities: a change of {names[column]!r} alone tears {joint!r} open ({label}):"
            " name in q as many coordinates as the mechanism has degrees of freedom, in v as many"
            " speeds, and vary those; the others follow"
        )
    return found


# --- contacts, stops and friction
def onto_active_constraints(
    plan: RunPlan, tapes: Linearised, along: Directions, x: Array, segment: Segment
) -> Directions:
    """Return the directions with the speeds projected onto the active constraints at the start x
    (size,).

    Raises StudyError where a direction leaves a contact or a stop.
    """
    s = plan.system
    h = plan.system.holding
    p = plan.p[0]
    own = segment.held[s.nv :]
    before = plan.x0[0]
    if not h.size or not h.held(own):
        return along
    moved = np.delete(x[: s.size] - before, s.size - 1)
    if np.abs(moved).max() > START_CHANGE_TOLERANCE * np.abs(before).max():
        raise StudyError(
            f"sensitivities: at the start, t = {segment.begin:g} s, something strikes at once, so"
            " that neighbouring starts differ; start before or after that"
        )
    transition = Transition(
        segment.begin,
        None,
        -1,
        x[: s.size],
        x[: s.size],
        segment.held,
        segment.held,
        False,
        "the start",
    )
    jump = Jump(tapes, replace(plan, scheme=replace(plan.scheme, timed=())), transition, x, p)
    after = jump.closing()
    gaps = []
    labels = list[str]()
    lower, upper, _ = s.bounds(tapes.P)
    for k, part in enumerate(h.speeds):
        stop = h.mode(k, own).stop
        if stop is not None:
            gaps.append(s.q[part.coordinate] - (lower if stop.name == "lower" else upper)[k])
            labels.append(f"the {stop.name} stop of {part.name!r}")
    if h.contacts:
        error = s.touching(tapes.t, s.q, s.v, tapes.P, tapes.U[s.nv :])[0]
        closed = [
            k for k in range(len(h.contacts)) if h.mode(h.first_contact + k, own).closed > 0.5
        ]
        gaps += [error[k] for k in closed]
        labels += [f"the contact {h.contacts[k].name!r}" for k in closed]
    gap = ca.densify(ca.vertcat(*gaps)) if gaps else ca.SX.zeros(0)
    J = [ca.densify(ca.jacobian(y, w)) for y in (after, gap) for w in (tapes.X, tapes.P)]
    X, P, gap_x, gap_p = (
        np.array(y) for y in ca.Function("start", tapes.inputs, J)(plan.start, x, segment.held, p)
    )
    change = gap_x @ along.x + gap_p @ along.p
    scale = np.abs(gap_x) @ np.abs(along.x) + np.abs(gap_p) @ np.abs(along.p)
    if (bad := np.argwhere(np.abs(change) > GAP_CHANGE_TOLERANCE * scale)).size:
        k, j = bad[0]
        raise StudyError(
            f"sensitivities: a change of {along.names[j]!r} moves the start away from {labels[k]}"
            " on one side, and beyond it on the other, so that there is no derivative; vary"
            " quantities that stay on it, or start away from it"
        )
    return replace(along, x=X @ along.x + P @ along.p)
