"""Loops of many runs closed at once: each run has its own parameters, and so its own closed
configuration.

Parameters and given coordinates are changed from the nominal start, which is closed, to those of
each run in a few stages (continuation), with damped Gauss-Newton iterations at each stage, all runs
in lanes. A run thus stays on the branch of the nominal start. A run that does not close is reported
with the loop and its gap.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from ..analysis import CLOSED
from ..machine import Machine, metric, position_count

Array = NDArray[np.float64]
CONTINUATION_STAGES = 4  # steps from the nominal values to those of a run
STAGE_ITERATIONS = 6  # Gauss-Newton iterations of a stage, at most
FINAL_ITERATIONS = 40  # Gauss-Newton iterations of the last stage, at most
MAX_ITERATION_STEP = 0.5  # the longest step of one iteration (rad, m)
GRAM_DAMPING = 1e-12  # relative to the trace of A A'
# pivot, in the metric of rank (rows of length one), below which a row depends on the others
INDEPENDENT_ROW_PIVOT = 1e-6
ROW_RATE_TOLERANCE = 1e-9  # residual rate of a row, relative to the largest speed or 1


@dataclass(frozen=True)
class Nominal:
    """The nominal start of a study, from which the starts of all runs are reached.

    q: (nq,) rad or m. p: the parameters (count,). kept, kept_speeds: the indices of the speeds
    whose coordinates, or which themselves, are given by name and are not changed to close loops.
    """

    q: Array
    p: Array
    kept: list[int]
    kept_speeds: list[int]


def close(
    machine: Machine, start: Nominal, q: Array, v: Array, p: Array, t: float
) -> tuple[Array, Array, list[str]]:
    """Return q (runs, nq), v (runs, nv) on the loops and speed rows, and the reason for each
    failure.

    The reasons have one entry per run, "" where the run could be closed. t: the time of the start,
    s.
    """
    reasons = [""] * len(q)
    if not machine.rows:
        return q, v, reasons
    if position_count(machine):
        q = _continue_to_runs(machine, start, q, p, t)
        count = position_count(machine)
        error, _, _, A = (
            x[:, :count] for x in machine.constraint_rows(q, np.zeros_like(v), _given(p), t)
        )
        gap = np.abs(error)
        apart = np.abs(metric(machine).rows(slice(count)).relative(error, A))
        for k in np.flatnonzero(~(apart.max(axis=1) < CLOSED)):
            reasons[k] = _gap_sentence(machine, gap[k])
    return q, _consistent_speeds(machine, start, q, v, p, t, reasons), reasons


def _given(p: Array) -> Array | None:
    """Return the parameters (runs, count), or None if the mechanism has none."""
    return p if p.shape[1] else None


def _continue_to_runs(machine: Machine, start: Nominal, q: Array, p: Array, t: float) -> Array:
    """Return coordinates (runs, nq) that close the loops, or come closest to it, by
    continuation.
    """
    free = [k for k in range(machine.nv) if k not in start.kept]
    change = _difference(machine, start.q, q, start.kept)
    found = np.broadcast_to(start.q, q.shape).copy()
    for stage in range(1, CONTINUATION_STAGES + 1):
        part = stage / CONTINUATION_STAGES
        found = machine.move(found, change / CONTINUATION_STAGES) if start.kept else found
        here = start.p + part * (p - start.p) if stage < CONTINUATION_STAGES else p
        found = _newton(
            machine,
            found,
            here,
            free,
            t,
            FINAL_ITERATIONS if stage == CONTINUATION_STAGES else STAGE_ITERATIONS,
        )
    return found


def _difference(machine: Machine, q0: Array, q: Array, kept: list[int]) -> Array:
    """Return the difference (runs, nv) of each kept coordinate from its nominal value.

    Quaternions are not varied.
    """
    change = np.zeros((len(q), machine.nv))
    for c in machine.spec.layout.coordinates:
        if c.vi in kept and machine.coordinate_names[c.qi] not in _quaternions(machine):
            change[:, c.vi] = q[:, c.qi] - q0[c.qi]
    return change


def _quaternions(machine: Machine) -> set[str]:
    """Return the names of the coordinates that are entries of quaternions."""
    return {machine.coordinate_names[k + j] for k in machine.spec.quaternions for j in range(4)}


def _newton(machine: Machine, q: Array, p: Array, free: list[int], t: float, rounds: int) -> Array:
    """Return the coordinates with the smallest residual after damped Gauss-Newton iterations.

    Only the speeds `free` are changed; rounds: the most iterations.
    """
    count = position_count(machine)
    still = np.zeros((len(q), machine.nv))
    best, least = q, np.full(len(q), np.inf)
    for _ in range(rounds):
        error, _, _, A = machine.constraint_rows(q, still, _given(p), t)
        e = error[:, :count]
        J = A[:, :count][:, :, free]
        size = np.abs(e).max(axis=1)
        better = size < least
        best = np.where(better[:, None], q, best)
        least = np.where(better, size, least)
        if (size < 1e-15).all() or not better.any():
            break
        S = J @ J.transpose(0, 2, 1)
        S += (GRAM_DAMPING * np.trace(S, axis1=1, axis2=2) + 1e-300)[:, None, None] * np.eye(count)
        step = np.zeros((len(q), machine.nv))
        step[:, free] = -np.einsum("rij,ri->rj", J, np.linalg.solve(S, e[..., None])[..., 0])
        length = np.linalg.norm(step, axis=1)
        step *= np.minimum(1.0, MAX_ITERATION_STEP / np.maximum(length, 1e-300))[:, None]
        q = machine.move(q, np.where(np.isfinite(step), step, 0.0))
    return best


def _consistent_speeds(
    machine: Machine, start: Nominal, q: Array, v: Array, p: Array, t: float, reasons: list[str]
) -> Array:
    """Return the speeds nearest to v in kinetic energy that satisfy the rows; those given by name
    do not change. Where that is impossible, the reason is stored in `reasons`.
    """
    _, rate, _, A = machine.constraint_rows(q, v, _given(p), t)
    if not np.abs(rate).max(initial=0.0) > 0.0:
        return v
    free = [k for k in range(machine.nv) if k not in start.kept_speeds]
    given, v = v, v.copy()
    M = machine.mass_matrix(q, _given(p))[:, free][:, :, free]
    J = A[:, :, free]
    MJ = np.linalg.solve(M, J.transpose(0, 2, 1))
    lam = np.einsum("rij,rj->ri", np.linalg.pinv(J @ MJ, rcond=1e-12, hermitian=True), rate)
    v[:, free] -= np.einsum("rij,rj->ri", MJ, lam)
    left = np.abs(rate + np.einsum("rij,rj->ri", A, v - given))
    for k in np.flatnonzero(
        left.max(axis=1) > ROW_RATE_TOLERANCE * np.maximum(1.0, np.abs(v).max(axis=1))
    ):
        joint, label = machine.rows[int(left[k].argmax())]
        reasons[k] = (
            reasons[k]
            or f"the speeds that are given tear {joint!r} open at {left[k].max():.3g} m/s (or 1/s) in its {label}"  # noqa: E501
        )
    return v


def _gap_sentence(machine: Machine, gap: Array) -> str:
    """Return a sentence that names the loop with the largest gap."""
    if not np.isfinite(gap).all():
        return "it cannot be assembled: a row of its loops is not a finite number"
    loop, label = machine.rows[int(gap.argmax())]
    unit = "m" if not label.startswith("rotation") else "(cosine)"
    return (
        f"it cannot be assembled: loop {loop!r} stays open by {gap.max():.3g} {unit} in its {label}"
    )


def independent_rows(A: Array) -> tuple[list[int], float]:
    """Return indices of independent rows of A, whose rows have lengths of about one, and the last
    pivot.

    The pivot is the length of the part of the last independent row that is orthogonal to the
    others.
    """
    if not A.size:
        return [], 0.0
    R, order = scipy.linalg.qr(A.T, mode="r", pivoting=True)
    size = np.abs(np.diag(R))
    rank = int((size > INDEPENDENT_ROW_PIVOT).sum())
    return sorted(int(k) for k in order[:rank]), float(size[rank - 1]) if rank else 0.0
