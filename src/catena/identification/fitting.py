"""Fits of a mechanism to measured forces: weighted least squares, with what the data cannot tell.

    tau = known(q, v, a) + W beta,  beta = (W' S^-1 W)^-1 W' S^-1 (tau - known),
            its covariance (W' S^-1 W)^-1

S has the variance of each joint's force, from the residuals of an unweighted fit; with loops both
sides are projected onto the speeds that the loops leave free. Unknowns that follow from others are
told in combination with them, as base parameters are. The mechanism's own parameters enter by exact
derivatives of the inverse dynamics, in steps of Gauss and Newton.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import StudyError
from ..machine import Machine, machine_of
from ..model import Mechanism
from .base_parameters import Reduction, projected, random_states, reduced
from .consistency import consistent_inertias
from .fit_record import Fit, FittedValue
from .fitted_mechanism import fitted_mechanism
from .measured_motion import MeasuredMotion, measured_motion
from .trajectory_fit import fit_trajectory
from .unknowns import Columns, chosen

Array = NDArray[np.float64]
STEPS = 50  # of Gauss and Newton
SETTLED = 1e-10  # a step this small beside the values is the last


def fit(
    mechanism: Mechanism | Machine,
    data: object,
    unknown: str | Iterable[str],
    *,
    cutoff: float | None = None,
    thin: int | None = None,
    consistent: bool = False,
    trajectory: bool = False,
    **options: Any,
) -> Fit:
    """Fit parameters of a mechanism to measured motions and forces; with trajectory=True, to the
    motion alone (`fit_trajectory`, which has the options).

    data: a .csv log, a pandas table, columns by name, a Result, or a `MeasuredMotion`; see
    `catena.identification.measured_motion`. unknown: groups (`catena.identification.GROUPS`:
    masses, inertial, friction, ...), single unknowns ("mass of fore"), and names of the mechanism's
    parameters. cutoff: of the filter, Hz. consistent: with "inertial", also the inertias of all
    bodies that a body can have, nearest to the data (needs `pip install catena[identification]`).

    >>> import catena
    >>> arm = catena.load("two_link_arm")
    >>> run = catena.simulate(arm, {"elbow": 1.0}, until=2.0)
    >>> round(fit(arm, run, "masses")["mass of fore"].value, 4)
    4.0
    """
    if trajectory:
        return fit_trajectory(mechanism, data, unknown, **options)
    if options:
        raise StudyError(
            f"fit: {', '.join(map(repr, options))} belong to fits of a trajectory; add"
            " trajectory=True"
        )
    machine = machine_of(mechanism)
    motion = measured_motion(machine, data, cutoff, thin)
    machine, columns, own = _settled(machine, motion, unknown)
    W, y, classes = _system(machine, motion, columns)
    weights = _weights(W, y, classes, columns.values)
    found = reduced(W / weights[:, None], range(W.shape[1]))
    if not found.rank:
        raise StudyError(
            f"the data tell none of {', '.join(columns.names)}: nothing that they act on moves or"
            " carries a load in them"
        )
    delta, covariance, condition = _solved(W, y, weights, found)
    values = found.K @ columns.values + delta
    before = found.K @ _before(mechanism, columns, own)
    sigma = np.sqrt(np.diag(covariance))
    estimates = tuple(
        FittedValue(text, float(x), float(s), columns.units[k], float(b))
        for text, x, s, k, b in zip(found.texts(columns.names), values, sigma, found.kept, before)
    )
    left = y - W[:, found.kept] @ delta
    structure = _structure(machine, unknown, len(columns.names))
    theta = (
        consistent_inertias(machine, W, y, weights, columns)
        if _asked_consistent(consistent, columns)
        else None
    )
    return Fit(
        estimates,
        covariance,
        tuple(columns.names[k] for k in structure.zero),
        _not_excited(structure, found, columns.names),
        np.array(
            [np.sqrt(np.mean(left[classes == k] ** 2)) for k in range(int(classes.max()) + 1)]
        ),
        float(np.linalg.norm(left) / (np.linalg.norm(motion.filtered(motion.tau)) or 1.0)),
        condition,
        len(y),
        motion.notes,
        fitted_mechanism(machine, {e.name: e.value for e in estimates}, theta),
        theta,
    )


def _settled(
    machine: Machine, motion: MeasuredMotion, unknown: str | Iterable[str]
) -> tuple[Machine, Columns, tuple[str, ...]]:
    """The machine at its own parameters as fitted, by steps of Gauss and Newton; without such
    parameters as it is.
    """
    unknown = unknown if isinstance(unknown, str) else tuple(unknown)
    columns, own = chosen(machine, motion, unknown)
    for _ in range(STEPS if own else 0):
        W, y, classes = _system(machine, motion, columns)
        found = reduced(W, range(W.shape[1]))
        delta, *_ = _solved(W, y, _weights(W, y, classes, columns.values), found)
        step = dict(zip((columns.names[k] for k in found.kept), delta))
        p = {n: machine.mechanism.parameters[n] for n in own}
        machine, last = _moved(
            machine,
            motion,
            unknown,
            p,
            {n: step.get(n, 0.0) for n in own},
            float(np.linalg.norm(y - W[:, found.kept] @ delta)),
        )
        columns, own = chosen(machine, motion, unknown)
        if last:
            return machine, columns, own
    if own:
        raise StudyError(
            f"the fit of {', '.join(own)} has not settled after {STEPS} steps; start from better"
            " values, or leave some of them out"
        )
    return machine, columns, own


def _moved(
    machine: Machine,
    motion: MeasuredMotion,
    unknown: Any,
    p: dict[str, float],
    step: dict[str, float],
    expected: float,
) -> tuple[Machine, bool]:
    """The machine after a step, halved until the parameters are possible and the misfit does not
    grow; and whether it was the last.
    """
    if all(abs(step[n]) <= SETTLED * max(abs(p[n]), abs(step[n] + p[n])) for n in p):
        return machine, True
    before = _misfit(machine, motion, unknown)
    for k in range(30):
        try:
            other = machine.at({n: p[n] + step[n] / 2**k for n in p})
        except ValueError:
            continue
        if (now := _misfit(other, motion, unknown)) <= before:
            return other, before - now <= 1e-14 * before
    return machine, True


def _misfit(machine: Machine, motion: MeasuredMotion, unknown: Any) -> float:
    """What is left of the forces, with the linear unknowns at their best."""
    columns, own = chosen(machine, motion, unknown)
    W, y, _ = _system(machine, motion, columns)
    linear = [k for k, n in enumerate(columns.names) if n not in own]
    return float(
        np.linalg.norm(y - W[:, linear] @ np.linalg.lstsq(W[:, linear], y, rcond=None)[0])
        if linear
        else np.linalg.norm(y)
    )


def _before(mechanism: Mechanism | Machine, columns: Columns, own: tuple[str, ...]) -> Array:
    """The values before the fit."""
    given = (mechanism.mechanism if isinstance(mechanism, Machine) else mechanism).parameters
    return np.array(
        [given[n] if n in own else x for n, x in zip(columns.names, columns.values)], float
    )


def _system(
    machine: Machine, motion: MeasuredMotion, columns: Columns
) -> tuple[Array, Array, NDArray[np.int64]]:
    """W (rows, n), y (rows,): measured forces less those of the mechanism as it is; and which joint
    each row belongs to.
    """
    lost = machine.losses(motion.v)
    t = motion.t if machine.spec.timed else 0.0
    left = motion.tau - machine.inverse_dynamics(motion.q, motion.v, motion.a, t=t) + lost
    q = motion.q[motion.kept]
    v = motion.v[motion.kept]
    W, y = projected(machine, q, v, motion.filtered(columns.matrix), motion.filtered(left))
    classes: NDArray[np.int64] = np.zeros(y.shape, np.int64)
    if not machine.rows:
        classes = classes + np.arange(machine.nv)
    return W.reshape(-1, W.shape[-1]), y.reshape(-1), classes.reshape(-1)


def _weights(W: Array, y: Array, classes: NDArray[np.int64], values: Array) -> Array:
    """The standard deviation of each row's force: of the residuals of its joint, from two rounds of
    least squares.
    """
    weights = np.ones(len(y))
    # of data without noise: rounding
    floor = 1e-10 * (max(np.abs(y).max(), (np.abs(W) @ np.abs(values)).max()) or 1.0)
    for _ in range(3):
        A, b = W / weights[:, None], y / weights
        length = np.linalg.norm(A, axis=0)
        length[length == 0.0] = 1.0
        x, _, rank, _ = np.linalg.lstsq(A / length, b, rcond=1e-10)
        left = y - W @ (x / length)
        free = 1.0 - rank / len(y)
        of = [
            max(floor, float(np.sqrt(np.mean(left[classes == k] ** 2) / max(free, 1e-3))))
            for k in range(int(classes.max()) + 1)
        ]
        weights = np.array(of)[classes]
    return weights


def _solved(W: Array, y: Array, weights: Array, found: Reduction) -> tuple[Array, Array, float]:
    """The change of the kept unknowns, its covariance, and the condition of columns of length
    one.
    """
    A = W[:, found.kept] / weights[:, None]
    b = y / weights
    length = np.linalg.norm(A, axis=0)
    U, s, Vh = np.linalg.svd(A / length, full_matrices=False)
    delta = (Vh.T @ ((U.T @ b) / s)) / length
    spread = Vh.T / s
    return delta, (spread @ spread.T) / np.outer(length, length), float(s[0] / s[-1])


def _structure(machine: Machine, unknown: Any, count: int) -> Reduction:
    """What any motions would tell of the same unknowns."""
    q, v, a = random_states(machine, 3 * -(-count // machine.nv) + 10)
    motion = MeasuredMotion(np.zeros(len(q)), q, v, a, np.zeros_like(v))
    columns, _ = chosen(machine, motion, unknown)
    (W,) = projected(machine, q, v, columns.matrix)
    return reduced(W.reshape(-1, W.shape[-1]), range(W.shape[-1]))


def _not_excited(structure: Reduction, found: Reduction, names: tuple[str, ...]) -> tuple[str, ...]:
    """What other motions tell and the data do not: combinations that the data leave out, or only
    tell as parts of others.
    """
    if found.rank == structure.rank:
        return ()
    return tuple(
        text
        for text, row in zip(structure.texts(names), structure.K)
        if np.linalg.matrix_rank(np.vstack([found.K, row])) > found.rank
    )


def _asked_consistent(consistent: bool, columns: Columns) -> bool:
    if consistent and not any(n.startswith("m of ") for n in columns.names):
        raise StudyError(
            "consistent inertias are asked for, and 'inertial' is not among the unknowns; add it"
        )
    return consistent
