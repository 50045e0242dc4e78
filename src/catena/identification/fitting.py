"""Fits of a mechanism to measured forces: weighted least squares, with what the data do not
determine.

    tau = known(q, v, a) + W beta,  beta = (W' S^-1 W)^-1 W' S^-1 (tau - known),
            its covariance (W' S^-1 W)^-1

S has the variance of each joint's force, from the residuals of an unweighted fit; with loops both
sides are projected onto the speeds that the loops leave free. Unknowns that depend on others are
estimated in combination with them, as base parameters are. The mechanism's own parameters enter by
exact derivatives of the inverse dynamics, in Gauss-Newton steps.
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
MAX_GAUSS_NEWTON_STEPS = 50  # Gauss-Newton steps
STEP_TOLERANCE = 1e-10  # relative to the values: a smaller step is the last


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
    """Fit parameters of a mechanism to measured motions and forces, by least squares.

    Parameters
    ----------
    mechanism : Mechanism or Machine
        The mechanism.
    data : str, Path, pandas table, mapping, Result or MeasuredMotion
        The log: a .csv file or columns by name; see `catena.identification.measured_motion`.
    unknown : str or iterable of str
        Groups (`catena.identification.GROUPS`: masses, inertial, friction, ...), single unknowns
        ("mass of fore"), and names of the mechanism's parameters.
    cutoff : float or None, default None
        The cutoff frequency of the filter, Hz; by default it follows from the motion.
    thin : int or None, default None
        Take one row in `thin`; by default as many as the filter leaves independent.
    consistent : bool, default False
        With "inertial": whether to find physically consistent inertias of all bodies too (needs
        `pip install catena[identification]`).
    trajectory : bool, default False
        Whether to fit the motion alone, without forces; see `fit_trajectory`.
    **options
        Those of `fit_trajectory`, with trajectory=True.

    Returns
    -------
    Fit
        Estimates with standard deviations, residuals, and the mechanism with the estimates.

    Raises
    ------
    StudyError
        If the log or an unknown cannot be read, or the data determine none of the unknowns.

    Examples
    --------
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
    machine, columns, own = _fit_own_parameters(machine, motion, unknown)
    W, y, classes = _system(machine, motion, columns)
    weights = _weights(W, y, classes, columns.values)
    found = reduced(W / weights[:, None], range(W.shape[1]))
    if not found.rank:
        raise StudyError(
            f"the data determine none of {', '.join(columns.names)}: the parts that these"
            " parameters belong to neither move nor carry a load in them"
        )
    delta, covariance, condition = _solve(W, y, weights, found)
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
        if _check_consistent(consistent, columns)
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


def _fit_own_parameters(
    machine: Machine, motion: MeasuredMotion, unknown: str | Iterable[str]
) -> tuple[Machine, Columns, tuple[str, ...]]:
    """Return the machine with its own parameters fitted by Gauss-Newton, the columns, and their
    names.

    Without such parameters the machine is returned as it is. Raises StudyError without convergence.
    """
    unknown = unknown if isinstance(unknown, str) else tuple(unknown)
    columns, own = chosen(machine, motion, unknown)
    for _ in range(MAX_GAUSS_NEWTON_STEPS if own else 0):
        W, y, classes = _system(machine, motion, columns)
        found = reduced(W, range(W.shape[1]))
        delta, *_ = _solve(W, y, _weights(W, y, classes, columns.values), found)
        step = dict(zip((columns.names[k] for k in found.kept), delta))
        p = {n: machine.mechanism.parameters[n] for n in own}
        machine, last = _line_search(
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
            f"the fit of {', '.join(own)} has not converged after {MAX_GAUSS_NEWTON_STEPS} steps;"
            " start from better values, or leave some of them out"
        )
    return machine, columns, own


def _line_search(
    machine: Machine,
    motion: MeasuredMotion,
    unknown: Any,
    p: dict[str, float],
    step: dict[str, float],
    expected: float,
) -> tuple[Machine, bool]:
    """Return the machine after a step, and whether it was the last one.

    The step is halved until the parameters are valid and the misfit does not grow.
    """
    if all(abs(step[n]) <= STEP_TOLERANCE * max(abs(p[n]), abs(step[n] + p[n])) for n in p):
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
    """Return the norm of the residual forces, with the linear unknowns at their best."""
    columns, own = chosen(machine, motion, unknown)
    W, y, _ = _system(machine, motion, columns)
    linear = [k for k, n in enumerate(columns.names) if n not in own]
    return float(
        np.linalg.norm(y - W[:, linear] @ np.linalg.lstsq(W[:, linear], y, rcond=None)[0])
        if linear
        else np.linalg.norm(y)
    )


def _before(mechanism: Mechanism | Machine, columns: Columns, own: tuple[str, ...]) -> Array:
    """Return the values of the unknowns before the fit."""
    given = (mechanism.mechanism if isinstance(mechanism, Machine) else mechanism).parameters
    return np.array(
        [given[n] if n in own else x for n, x in zip(columns.names, columns.values)], float
    )


def _system(
    machine: Machine, motion: MeasuredMotion, columns: Columns
) -> tuple[Array, Array, NDArray[np.int64]]:
    """Return W (rows, n), y (rows,) and the index of the joint of each row. y is the measured force
    minus the force of the mechanism with its present values.
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
    """Return the standard deviation of each row: that of the residuals of its joint.

    It is found by three rounds of least squares, the first of them unweighted.
    """
    weights = np.ones(len(y))
    # the level of rounding, for data without noise
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


def _solve(W: Array, y: Array, weights: Array, found: Reduction) -> tuple[Array, Array, float]:
    """Return the change of the independent unknowns, its covariance, and the condition number of W.

    The condition number is that of columns of length one.
    """
    A = W[:, found.kept] / weights[:, None]
    b = y / weights
    length = np.linalg.norm(A, axis=0)
    U, s, Vh = np.linalg.svd(A / length, full_matrices=False)
    delta = (Vh.T @ ((U.T @ b) / s)) / length
    spread = Vh.T / s
    return delta, (spread @ spread.T) / np.outer(length, length), float(s[0] / s[-1])


def _structure(machine: Machine, unknown: Any, count: int) -> Reduction:
    """Return the reduction of the same unknowns over random motions, which shows what is
    identifiable at all.
    """
    q, v, a = random_states(machine, 3 * -(-count // machine.nv) + 10)
    motion = MeasuredMotion(np.zeros(len(q)), q, v, a, np.zeros_like(v))
    columns, _ = chosen(machine, motion, unknown)
    (W,) = projected(machine, q, v, columns.matrix)
    return reduced(W.reshape(-1, W.shape[-1]), range(W.shape[-1]))


def _not_excited(structure: Reduction, found: Reduction, names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the combinations of parameters that other motions would determine but the data do not,
    or only within larger combinations.
    """
    if found.rank == structure.rank:
        return ()
    return tuple(
        text
        for text, row in zip(structure.texts(names), structure.K)
        if np.linalg.matrix_rank(np.vstack([found.K, row])) > found.rank
    )


def _check_consistent(consistent: bool, columns: Columns) -> bool:
    """Return `consistent`; raise StudyError where it is set without inertial unknowns."""
    if consistent and not any(n.startswith("m of ") for n in columns.names):
        raise StudyError(
            "consistent inertias are asked for, and 'inertial' is not among the unknowns; add it"
        )
    return consistent
