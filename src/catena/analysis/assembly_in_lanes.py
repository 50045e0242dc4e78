"""Assembly of many starts at once: the search of `assembly.py` over arrays, with residuals and
Jacobians evaluated in lanes.

Each start takes the steps that it would take alone, and tries the same restarts; starts whose loops
are closed drop out. Parameters may differ from start to start. A row here is one start of the
batch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import ClosureError
from ..machine import Machine, least_change, metric, position_count, where
from .closure_search import (
    CLOSED,
    MAX_STARTS,
    MAX_STEP_NORM,
    MAX_STEPS,
    MIN_DAMPING,
    NEARLY_CLOSED,
    OPENING_RATE_TOLERANCE,
    START_SPREADS,
    by_loop,
    called,
    fastest,
    regular,
    search_sizes,
)
from .joint_orientation import facing_axes, side_of, spin_of, turn_between

Array = np.ndarray
# (q (n, nq), the rows of the batch that they belong to) -> e (n, m), A (n, m, nv)
Residual = Callable[[Array, Array], tuple[Array, Array]]
# Rows that an error message names.
MAX_ROWS_IN_MESSAGE = 5


def assemble_rows(
    machine: Machine, q: Array, v: Array, free: list[int], p: Array | None
) -> tuple[Array, Array]:
    """Return q (n, nq) and v (n, nv) that close every loop, for parameters p (n, count) or None.
    Raises a ClosureError that names the rows that stay open.
    """
    found = np.array(q)
    failed = _close(machine, found, free, p)
    v, torn = _consistent(machine, found, v, free, p)
    failed |= {k: text for k, text in torn.items() if k not in failed}
    if not failed:
        return found, v
    found[list(failed)], v[list(failed)] = np.nan, np.nan
    said = "; ".join(f"row {k}: {text}" for k, text in sorted(failed.items())[:MAX_ROWS_IN_MESSAGE])
    more = (
        f"; and {len(failed) - MAX_ROWS_IN_MESSAGE} more"
        if len(failed) > MAX_ROWS_IN_MESSAGE
        else ""
    )
    raise ClosureError(
        f"{where(machine)}: {len(failed)} of {len(q)} rows cannot be assembled: {said}{more}. The"
        " others are in this error's `.q` and `.v`, where the failed rows are NaN; `.failed` has"
        " all of them",
        rows=failed,
        q=found,
        v=v,
    )


def _close(machine: Machine, q: Array, free: list[int], p: Array | None) -> dict[int, str]:
    """Close the loops of every row of q in place, with restarts; return {row: reason} for those
    that stay open.
    """
    left = np.arange(len(q))
    best = q.copy()
    least = np.full(len(q), np.inf)
    if not machine.mechanism.closes:
        return {}
    rng = np.random.default_rng(4)
    unit = np.sqrt(metric(machine).column)
    for attempt in range(MAX_STARTS if free else 1):
        start = q[left]
        if attempt:
            change = np.zeros(machine.nv)
            change[free] = (
                START_SPREADS[(attempt - 1) % len(START_SPREADS)]
                * rng.standard_normal(len(free))
                * unit[free]
            )
            start = machine.move(start, np.broadcast_to(change, (len(left), machine.nv)))
        found = _damped(
            machine,
            _damped(machine, start, left, free, _far(machine, p)),
            left,
            free,
            _near(machine, p),
        )
        gap = np.abs(_near(machine, p)(found, left)[0]).max(axis=1, initial=0.0)
        opposite = opposite_sides(machine, found, None if p is None else p[left])
        better = gap + opposite < least[left]
        best[left[better]], least[left[better]] = found[better], (gap + opposite)[better]
        allowed = NEARLY_CLOSED if free and not attempt else CLOSED
        left = left[(gap >= allowed) | (opposite > 0)]
        if not len(left):
            break
    q[:] = best
    return {
        int(k): _reason(machine, best[k : k + 1], least[k], None if p is None else p[k : k + 1])
        for k in left
    }


def closed_rows(machine: Machine, q: Array, free: list[int]) -> tuple[Array, Array]:
    """Return q (n, nq) after damped steps of the free speeds towards closed loops, without
    restarts, and the largest remaining residual (n,).
    """
    rows = np.arange(len(q))
    near = _near(machine, None)
    found = _damped(machine, q, rows, free, near)
    return found, np.abs(near(found, rows)[0]).max(axis=1, initial=0.0)


def _reason(machine: Machine, q: Array, gap: float, p: Array | None) -> str:
    """Return the reason why one row (1, nq) stays open."""
    (apart,) = _near(machine, p)(q, np.arange(1))[0]
    if np.abs(apart).max(initial=0.0) < CLOSED:
        return "a loop closes only with its two sides pointing opposite ways; reverse its axis"
    (error,) = machine.constraint_rows(q, np.zeros((1, machine.nv)), p)[0]
    relative = by_loop(machine.rows[: len(apart)], np.abs(apart))
    gaps = by_loop(machine.rows, np.abs(error))
    worst = max(relative, key=lambda name: relative[name])
    return f"{called(machine.mechanism, worst)} stays open by {gaps[worst]:.3g} (m, or a cosine)"


def _damped(machine: Machine, q: Array, rows: Array, free: list[int], of: Residual) -> Array:
    """Return q after damped Gauss-Newton steps of all rows, each until its residual no longer
    decreases; as `assembly.damped_steps`.
    """
    if not position_count(machine) or not free:
        return q
    q = q.copy()
    unit = np.sqrt(metric(machine).column)
    error, A = of(q, rows)
    mu = np.full(len(q), 1e-3)
    size = np.einsum("ni,ni->n", error, error)
    going = np.arange(len(q))
    for _ in range(MAX_STEPS):
        J = A[going][:, :, free] * unit[free]
        e = error[going]
        S = np.einsum("nik,njk->nij", J, J) + mu[going, None, None] * np.eye(e.shape[1])
        step = np.zeros((len(going), machine.nv))
        step[:, free] = -np.einsum("nik,ni->nk", J, np.linalg.solve(S, e[..., None])[..., 0])
        length = np.linalg.norm(step, axis=1)
        trial = machine.move(
            q[going],
            unit
            * step
            * np.where(
                length > MAX_STEP_NORM, MAX_STEP_NORM / np.where(length > 0, length, 1.0), 1.0
            )[:, None],
        )
        trial_error, trial_A = of(trial, rows[going])
        trial_size = np.einsum("ni,ni->n", trial_error, trial_error)
        better = trial_size < size[going]
        done = np.where(
            better,
            (trial_size > 0.9999 * size[going]) & (mu[going] <= MIN_DAMPING),
            mu[going] * 8.0 > 1e8,
        )
        improved = going[better]
        q[improved], error[improved], A[improved], size[improved] = (
            trial[better],
            trial_error[better],
            trial_A[better],
            trial_size[better],
        )
        mu[going] = np.where(better, np.maximum(0.1 * mu[going], MIN_DAMPING), 8.0 * mu[going])
        going = going[~(done | (size[going] < 1e-30))]
        if not len(going):
            break
    return q


def _near(machine: Machine, p: Array | None) -> Residual:
    """Return a function for the residuals of the position rows that can act, relative to the sizes
    of the rows, and for their Jacobian A with the same scaling.
    """
    count = position_count(machine)

    def of(q: Array, rows: Array) -> tuple[Array, Array]:
        error, _, _, A = machine.constraint_rows(
            q, np.zeros((len(q), machine.nv)), None if p is None else p[rows]
        )
        size = search_sizes(machine, A[:, :count])
        return error[:, :count] / size, A[:, :count] / size[..., None]

    return of


def _far(machine: Machine, p: Array | None) -> Residual:
    """Return a function as `_near` does, with rotation vectors in place of cosines for joints whose
    two sides must point the same way.
    """
    near = _near(machine, p)
    facing = [(j, facing_axes(j)) for j in machine.mechanism.loops if len(facing_axes(j))]
    names = {j.name for j, _ in facing}
    keep = [
        k
        for k, (name, label) in enumerate(machine.rows[: position_count(machine)])
        if name not in names or not label.startswith("rotation")
    ]

    def of(q: Array, rows: Array) -> tuple[Array, Array]:
        (error, A), own = near(q, rows), None if p is None else p[rows]
        vectors = [error[:, keep]]
        rates = [A[:, keep]]
        for j, axes in facing:
            sides = (
                side_of(machine, q, j.parent, j.placement, own),
                side_of(machine, q, j.child, j.offset, own),
            )
            J = spin_of(machine, q, j.child, own) - spin_of(machine, q, j.parent, own)
            vector, rate = turn_between(axes, *sides, J)
            vectors.append(vector)
            rates.append(rate)
        return np.concatenate(vectors, axis=1), np.concatenate(rates, axis=1)

    return of if facing else near


def opposite_sides(machine: Machine, q: Array, p: Array | None = None) -> Array:
    """Return (n,): the number of loop joints whose two sides point opposite ways."""
    found = np.zeros(len(q))
    for j in machine.mechanism.loops:
        axes = facing_axes(j)
        if len(axes):
            R_P = side_of(machine, q, j.parent, j.placement, p)
            R_C = side_of(machine, q, j.child, j.offset, p)
            found += (np.einsum("ka,...ia,kb,...ib->...k", axes, R_P, axes, R_C) < 0).any(axis=-1)
    return found


def _consistent(
    machine: Machine, q: Array, v: Array, free: list[int], p: Array | None
) -> tuple[Array, dict[int, str]]:
    """Return the speeds nearest to v in kinetic energy that keep the loops closed, and {row:
    reason} for rows whose fixed speeds contradict the loops. A row is one start of the batch.
    """
    if not machine.rows:
        return v, {}
    _, rate, _, A = machine.constraint_rows(q, v, p)
    M = machine.mass_matrix(q, parameters=p)
    change = np.zeros_like(v)
    if free:
        own = metric(machine).speeds(free)
        pairs = zip(M[:, free][:, :, free], A[:, :, free])
        inner = np.stack([regular(one, rows, own) for one, rows in pairs])
        change[:, free] = -least_change(inner, A[:, :, free], rate, own)[0]
    left = np.abs(rate + np.einsum("nij,nj->ni", A, change))
    by = metric(machine)
    torn = by.relative(left, A).max(axis=1, initial=0.0) > OPENING_RATE_TOLERANCE * fastest(
        by, A, rate, v, v + change
    )
    text: dict[int, str] = {}
    for k in np.flatnonzero(torn):
        gaps: dict[str, Any] = by_loop(machine.rows, left[k])
        worst = max(gaps, key=lambda name: gaps[name])
        text[int(k)] = (
            f"the speeds that are fixed tear {called(machine.mechanism, worst)} open at"
            f" {gaps[worst]:.3g} m/s (or rad/s)"
        )
    return v + change, text
