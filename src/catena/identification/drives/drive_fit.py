"""Fits of a robot's drives to logs: gains, inertial parameters and friction, chosen between logs.

logs -> motions -> viscous and Coulomb friction, gains -> loads -> laws by cross-validation ->
all logs together -> covariance with coloured residuals -> prediction of held-out logs
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ...errors import StudyError
from ...machine import Machine, machine_of
from ...model import Mechanism
from ..logs import Coupling, checked_log, condition, coupling_matrix, read_log
from .covariance import covariance, maximum_likelihood, noise_model
from .drive_record import DriveFit, LogError, estimates_of
from .friction_laws import FRICTION_LAWS
from .model_search import BASIC, search


def fit_drives(
    mechanism: Mechanism | Machine,
    logs: Any,
    *,
    validate: Iterable[Any] = (),
    columns: str | Mapping[str, Any] | None = None,
    laws: Sequence[str] | None = None,
    cutoff: float | None = None,
    likelihood: bool = False,
    coupling: Coupling | None = None,
) -> DriveFit:
    """Fit drive gains, inertial parameters and friction to logs, and predict logs not used.

    The model of each joint is effort = k Y(q, v, a) theta + friction: k is the drive's gain
    (effort per force, one where the log has forces), theta the base parameters of the mechanism,
    the friction a sum of laws of `FRICTION_LAWS`. Offset, viscous and Coulomb friction and the
    rotor's inertia are always in it; cross-validation between the logs decides on the others.

    Parameters
    ----------
    mechanism : Mechanism or Machine
        The robot: an open chain or tree of hinges and slides.
    logs : path, mapping, table, or a sequence of them
        The logs to fit, as for `read_log`.
    validate : iterable, default ()
        Held-out logs. They are predicted and not used for anything else.
    columns : str, mapping or None, default None
        Which columns hold what, as for `read_log`.
    laws : sequence of str or None, default None
        The friction laws to choose from; by default all but `asymmetric`. An empty sequence: none
        but viscous and Coulomb friction, offset and rotor inertia.
    cutoff : float or None, default None
        The cutoff frequency of the filter, Hz; by default it follows from each log.
    likelihood : bool, default False
        Whether to estimate by maximum likelihood for the coloured noise of the residuals, which is
        more accurate where the model is complete, in place of least squares, which predicts better
        where it is not. The intervals count the colour of the noise in both.
    coupling : mapping or None, default None
        Drives that turn with other joints too: with {"joint_6": {"joint_5": 1.0}} the drive of
        joint_6 turns at v6 + v5. The efforts are those of the drives, and friction and rotor
        inertia act on them. By default each joint has a drive of its own.

    Returns
    -------
    DriveFit
        The model, its estimates with standard deviations, and its errors on all logs.

    Raises
    ------
    StudyError
        If a log has faults that make it useless, or the mechanism has loops.

    Examples
    --------
    >>> import catena
    >>> import numpy as np
    >>> arm = catena.compile(catena.load("two_link_arm"))
    >>> t = np.arange(0, 10, 0.01)
    >>> way = catena.identification.excitation(arm, "inertial", trials=2)
    >>> q, v, a = way(t)
    >>> tau = arm.inverse_dynamics(q, v, a) + 0.7 * v + 0.3 * np.tanh(v / 0.01)
    >>> log = {"time": t, "q shoulder": q[:, 0], "q elbow": q[:, 1]}
    >>> log |= {"tau shoulder": tau[:, 0], "tau elbow": tau[:, 1]}
    >>> found = fit_drives(arm, log)
    >>> bool(found.cross_validated.max() < 0.02)
    True
    """
    machine = machine_of(mechanism)
    wanted = _wanted(laws)
    R = coupling_matrix(machine, coupling)
    tables = [checked_log(machine, read_log(machine, x, columns), R) for x in _several(logs)]
    units = sorted({str(t.effort.attrs["units"]) for t in tables})
    if len(units) > 1:
        raise StudyError(f"the logs have efforts in {' and '.join(units)}; they need one unit")
    motions = [condition(t, cutoff) for t in tables]
    free = units[0] in ("A", "unknown")
    searched = search(machine, motions, wanted, units[0], free, R)
    model, noise = searched.model, noise_model(searched.model, searched.logs)
    if likelihood:
        model = maximum_likelihood(model, searched.logs, noise, free)
    matrix = covariance(model, searched.logs, noise, free, likelihood)
    held = [condition(read_log(machine, x, columns), cutoff) for x in validate]
    errors = [LogError.of(model, m, held_out=False) for m in motions]
    errors += [LogError.of(model, m, held_out=True) for m in held]
    return DriveFit(
        model,
        estimates_of(model, matrix, free),
        matrix,
        searched.basic,
        searched.before,
        searched.after,
        tuple(errors),
        tuple(str(x) for t in tables for x in t.attrs.get("findings", ())),
        free,
        noise.orders,
    )


def _wanted(laws: Sequence[str] | None) -> list[str]:
    """Return the laws from which to choose; raise StudyError for unknown names."""
    required = {t.law for t in BASIC}
    if laws is None:
        kept = required - {"coulomb"}  # which has other widths than the required one
        return [n for n, law in FRICTION_LAWS.items() if law.by_default and n not in kept]
    return [FRICTION_LAWS.find(n).name for n in laws]


def _several(logs: Any) -> list[Any]:
    """Return the logs as a list: one log, or a sequence of them."""
    found = list(logs) if isinstance(logs, (list, tuple)) else [logs]
    if not found:
        raise StudyError("no log is given to fit; give at least one")
    return found
