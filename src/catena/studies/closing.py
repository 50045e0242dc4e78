"""Loops of many runs closed at once: each run has its own parameters, and so its own closed
configuration.

From the nominal start, which is closed, parameters and given coordinates are led to those of each
run in a few stages (continuation), with damped Gauss-Newton steps at each, all runs side by side in
lanes. A run so stays on the branch of the nominal start. Those that do not close are told by loop
and gap.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from ..analysis import CLOSED
from ..machine import Machine, metric, position_count

Array = NDArray[np.float64]
STAGES, ROUNDS, LAST_ROUNDS = 4, 6, 40
REACH = 0.5  # the longest step of a round (rad, m)
DAMPING = 1e-12  # beside the trace of A A'
# a row or coordinate whose part beside the others', in the metric of rank, is less says nothing new
INDEPENDENT = 1e-6
TORN = 1e-9  # the rate of a row, beside the speeds, that is left


@dataclass(frozen=True)
class Nominal:
    """The start from which all others are reached: q (nq,), parameters (count,); the speeds that
    coordinates and speeds given by name have, which stay.
    """

    q: Array
    p: Array
    kept: list[int]
    kept_speeds: list[int]


def close(
    machine: Machine, start: Nominal, q: Array, v: Array, p: Array, t: float
) -> tuple[Array, Array, list[str]]:
    """q (runs, nq) and v (runs, nv) on the loops and speed rows, and a sentence for each run that
    cannot be put there.
    """
    said = [""] * len(q)
    if not machine.rows:
        return q, v, said
    if position_count(machine):
        q = _continued(machine, start, q, p, t)
        count = position_count(machine)
        error, _, _, A = (
            x[:, :count] for x in machine.constraint_rows(q, np.zeros_like(v), _given(p), t)
        )
        gap = np.abs(error)
        apart = np.abs(metric(machine).rows(slice(count)).beside(error, A))
        for k in np.flatnonzero(~(apart.max(axis=1) < CLOSED)):
            said[k] = _open(machine, gap[k])
    return q, _consistent(machine, start, q, v, p, t, said), said


def _given(p: Array) -> Array | None:
    return p if p.shape[1] else None


def _continued(machine: Machine, start: Nominal, q: Array, p: Array, t: float) -> Array:
    """Coordinates that close the loops where they can be closed."""
    free = [k for k in range(machine.nv) if k not in start.kept]
    change = _difference(machine, start.q, q, start.kept)
    found = np.broadcast_to(start.q, q.shape).copy()
    for stage in range(1, STAGES + 1):
        part = stage / STAGES
        found = machine.move(found, change / STAGES) if start.kept else found
        here = start.p + part * (p - start.p) if stage < STAGES else p
        found = _newton(machine, found, here, free, t, LAST_ROUNDS if stage == STAGES else ROUNDS)
    return found


def _difference(machine: Machine, q0: Array, q: Array, kept: list[int]) -> Array:
    """(runs, nv): how far each kept coordinate is from its nominal value; quaternions are not
    varied.
    """
    change = np.zeros((len(q), machine.nv))
    for c in machine.spec.layout.coordinates:
        if c.vi in kept and machine.coordinate_names[c.qi] not in _quaternions(machine):
            change[:, c.vi] = q[:, c.qi] - q0[c.qi]
    return change


def _quaternions(machine: Machine) -> set[str]:
    return {machine.coordinate_names[k + j] for k in machine.spec.quaternions for j in range(4)}


def _newton(machine: Machine, q: Array, p: Array, free: list[int], t: float, rounds: int) -> Array:
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
        S += (DAMPING * np.trace(S, axis1=1, axis2=2) + 1e-300)[:, None, None] * np.eye(count)
        step = np.zeros((len(q), machine.nv))
        step[:, free] = -np.einsum("rij,ri->rj", J, np.linalg.solve(S, e[..., None])[..., 0])
        length = np.linalg.norm(step, axis=1)
        step *= np.minimum(1.0, REACH / np.maximum(length, 1e-300))[:, None]
        q = machine.move(q, np.where(np.isfinite(step), step, 0.0))
    return best


def _consistent(
    machine: Machine, start: Nominal, q: Array, v: Array, p: Array, t: float, said: list[str]
) -> Array:
    """The speeds nearest to v in kinetic energy that keep the rows; those given by name stay."""
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
    for k in np.flatnonzero(left.max(axis=1) > TORN * np.maximum(1.0, np.abs(v).max(axis=1))):
        joint, label = machine.rows[int(left[k].argmax())]
        said[k] = (
            said[k]
            or f"the speeds that are given tear {joint!r} open at {left[k].max():.3g} m/s (or 1/s) in its {label}"  # noqa: E501
        )
    return v


def _open(machine: Machine, gap: Array) -> str:
    if not np.isfinite(gap).all():
        return "it cannot be assembled: a row of its loops is not a finite number"
    loop, label = machine.rows[int(gap.argmax())]
    unit = "m" if not label.startswith("rotation") else "(cosine)"
    return (
        f"it cannot be assembled: loop {loop!r} stays open by {gap.max():.3g} {unit} in its {label}"
    )


def independent_rows(A: Array) -> tuple[list[int], float]:
    """Independent rows of a matrix whose rows have a length of about one, and how much the last of
    them says beside the others.
    """
    if not A.size:
        return [], 0.0
    R, order = scipy.linalg.qr(A.T, mode="r", pivoting=True)
    size = np.abs(np.diag(R))
    rank = int((size > INDEPENDENT).sum())
    return sorted(int(k) for k in order[:rank]), float(size[rank - 1]) if rank else 0.0
