"""Payloads: the inertial parameters of a load at the last body, and the scale of the gains.

A log with a load has the efforts of the model plus k_j Y_j theta_load, Y_j being the regressor of
the body that carries the load. With gains that are known up to a common scale, theta_load is known
up to the inverse of that scale; a known mass determines it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...compiler import INERTIAL, inertial_bodies
from ...errors import StudyError, unknown
from ..logs import checked_log, condition, drive_regressor, read_log
from .coloured_noise import autoregression, coloured
from .drive_model import DriveModel
from .drive_record import DriveFit
from .joint_columns import drives, friction_columns

Array = NDArray[np.float64]
MAX_RELATIVE_SIGMA = 0.5  # of the mass: with a larger one it is not determined


@dataclass(frozen=True)
class Payload:
    """A load at a body.

    Attributes
    ----------
    body : str
        The body that carries it.
    mass, mass_sigma : float
        The mass, kg, in the scale of the model's gains, and its standard deviation.
    first_moment, first_moment_sigma : arrays, shape (3,)
        Mass times its centre in the body's frame, kg m.
    scale : float or None
        The known mass relative to the estimate: what the model's inertial parameters have to be
        multiplied by, and its gains divided by. None without a known mass.
    model : DriveModel
        The model, with that scale where there is one.
    sentence : str
        What can be identified.
    """

    body: str
    mass: float
    mass_sigma: float
    first_moment: Array
    first_moment_sigma: Array
    scale: float | None
    model: DriveModel
    sentence: str


def payload(
    found: DriveFit,
    log: Any,
    *,
    body: str | None = None,
    mass: float | None = None,
    columns: str | Mapping[str, Any] | None = None,
) -> Payload:
    """Return the load carried in a log, and with its known mass the absolute gains of the drives.

    Parameters
    ----------
    found : DriveFit
        The fit to logs without the load.
    log : path, mapping or table
        The log with the load, as for `read_log`.
    body : str or None, default None
        The body that carries the load; by default the last one.
    mass : float or None, default None
        The mass of the load, kg, where it is known.
    columns : str, mapping or None, default None
        Which columns hold what.

    Returns
    -------
    Payload
        Mass and first moment with standard deviations, and the model with the scale of its gains.

    Raises
    ------
    StudyError
        If there is no such body, or the log does not determine the mass.
    """
    model = found.model
    machine = model.machine
    names = [b.name for b in inertial_bodies(machine.layout)]
    carrier = names[-1] if body is None else body
    if carrier not in names:
        raise StudyError(unknown("body", carrier, names, machine.mechanism.name))
    motion = condition(checked_log(machine, read_log(machine, log, columns), model.coupling))
    first = 10 * names.index(carrier)
    columns_of_body = slice(first, first + 10)
    Y = drive_regressor(machine, motion.q, motion.v, motion.a, model.coupling, columns_of_body)
    theta, covariance = _fitted(model, motion, Y)
    sigma = np.sqrt(np.diag(covariance))
    if mass is not None and not sigma[0] < MAX_RELATIVE_SIGMA * theta[0]:
        raise StudyError(
            f"the log does not determine the mass at {carrier}: {theta[0]:.3g} kg with a standard"
            f" deviation of {sigma[0]:.3g} kg"
        )
    scale = None if mass is None else float(mass / theta[0])
    scaled = model
    if scale is not None:
        scaled = replace(model, theta=scale * model.theta, gains=model.gains / scale)
    sentence = (
        f"the load at {carrier} has {theta[0]:.3f} kg (standard deviation {sigma[0]:.3f} kg) in the"
        " scale of the model file's masses"
    )
    sentence += (
        "; its mass is not known, so that the scale of the gains is not determined"
        if scale is None
        else f"; with its known mass of {mass:g} kg all gains are divided by {scale:.4f}"
    )
    return Payload(
        carrier, float(theta[0]), float(sigma[0]), theta[1:4], sigma[1:4], scale, scaled, sentence
    )


def _fitted(model: DriveModel, motion: Any, Y: Array) -> tuple[Array, Array]:
    """Return the parameters (10,) of the load and their covariance, with coloured residuals.

    Friction that depends on the load follows the forces of the loaded robot, by fixed-point steps.
    """
    log = drives(model.machine, motion, model.base.reduction.kept, model.coupling)
    theta = np.zeros(len(INERTIAL))
    valid = motion.valid
    H = np.zeros((10, 10))
    B = np.zeros((10, 10))
    for _ in range(3):
        loads = model.loads(log) + (Y @ theta) * model.gains
        loaded = log.with_loads(loads)
        H, B, g = np.zeros((10, 10)), np.zeros((10, 10)), np.zeros(10)
        for j, terms in enumerate(model.terms):
            friction = friction_columns(loaded.joints[j], terms) @ model.coefficients[j]
            y = (motion.effort[:, j] - model.loads(log)[:, j] - friction)[valid]
            X = model.gains[j] * Y[valid][:, j]
            left = y - X @ theta
            variance = float(left.var()) + 1e-300
            a = autoregression([left - left.mean()])
            white = coloured(X, a)
            drive = variance / max(1.0, float(np.sum(coloured(np.eye(1, 2000, 1999)[0], a) ** 2)))
            H += X.T @ X / variance
            B += white.T @ white * drive / variance**2
            g += X.T @ y / variance
        size = np.sqrt(np.maximum(np.diag(H), 1e-300))
        inverse = np.linalg.pinv(H / np.outer(size, size), rcond=1e-9, hermitian=True)
        inverse = inverse / np.outer(size, size)
        theta = inverse @ g
    return theta, inverse @ B @ inverse
