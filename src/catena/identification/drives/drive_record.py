"""The outcome of a drive fit: the model, its estimates with intervals, and its errors on logs."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...compiler import UNITS, inertial_parameters
from ..fit_record import FittedValue
from ..logs import Motion, joint_units
from .drive_model import DriveModel, relative_error

Array = NDArray[np.float64]


@dataclass(frozen=True)
class LogError:
    """The errors of a model on one log.

    source: the file. held_out: whether the log was not used. error (n,): the rms of measured minus
    predicted efforts relative to the rms of the measured ones. motion: the log. predicted: the
    efforts (rows, n) at its rows.
    """

    source: str
    held_out: bool
    error: Array
    motion: Motion = field(repr=False)
    predicted: Array = field(repr=False)

    @staticmethod
    def of(model: DriveModel, motion: Motion, held_out: bool) -> LogError:
        """Return the errors of a model on a log."""
        predicted = model.at_rows(motion)
        return LogError(
            motion.source,
            held_out,
            relative_error(motion.measured, predicted),
            motion,
            predicted,
        )

    @property
    def at_rest(self) -> bool:
        """Whether no joint moves in the log; static friction cannot be predicted then."""
        return bool(np.abs(self.motion.v).max() < 1e-2)


@dataclass(frozen=True)
class DriveFit:
    """The outcome of `fit_drives`.

    Attributes
    ----------
    model : DriveModel
        The model; `model.predict(log)` returns efforts.
    estimates : tuple of FittedValue
        Base parameters, gains and coefficients of friction, each with its standard deviation.
    covariance : array
        Of theta, the logarithms of the gains, and the coefficients of friction.
    basic : DriveModel
        The model with offset, viscous and Coulomb friction and rotor inertia alone.
    basic_cross_validated, cross_validated : arrays, shape (nv,)
        The errors of both on held-out folds, relative to the rms of the effort.
    errors : tuple of LogError
        The errors on each log.
    findings : tuple of str
        What the checks of the logs found, in sentences.
    free_gains : bool
        Whether the gains were unknown.
    orders : tuple of int
        The order of the noise model of each joint.
    """

    model: DriveModel = field(repr=False)
    estimates: tuple[FittedValue, ...]
    covariance: Array = field(repr=False)
    basic: DriveModel = field(repr=False)
    basic_cross_validated: Array
    cross_validated: Array
    errors: tuple[LogError, ...]
    findings: tuple[str, ...]
    free_gains: bool
    orders: tuple[int, ...]

    @property
    def joints(self) -> tuple[str, ...]:
        """The names of the joints."""
        return self.model.machine.speed_names

    @property
    def not_determined(self) -> tuple[str, ...]:
        """The estimates that the data do not determine."""
        return tuple(e.name for e in self.estimates if not e.determined)

    def to_pandas(self) -> Any:
        """Return a table with one row per estimate: value, sigma, 95 % interval, unit, before."""
        import pandas as pd  # type: ignore[import-untyped]

        rows = [
            (
                e.name,
                e.value,
                e.sigma,
                e.value - 1.96 * e.sigma,
                e.value + 1.96 * e.sigma,
                e.unit,
                e.before,
            )
            for e in self.estimates
        ]
        names = ["name", "value", "sigma", "lower", "upper", "unit", "before"]
        return pd.DataFrame(rows, columns=names).set_index("name")

    def sentences(self) -> list[str]:
        """Return sentences about what the data do not determine."""
        found = []
        if self.free_gains:
            found.append(
                "The common scale of gains and inertial parameters cannot be identified from"
                " efforts alone: it is set so that rigid-body forces have the size of those of the"
                " model file. A log with a known load would determine it. The intervals of gains"
                " hold for their ratios."
            )
        if self.not_determined:
            found.append(
                f"These data do not determine {len(self.not_determined)} of {len(self.estimates)}"
                f" estimates (standard deviation above half of the value): "
                f"{', '.join(self.not_determined)}."
            )
        still = [Path(e.source).name for e in self.errors if e.at_rest]
        if still:
            found.append(
                f"No joint moves in {', '.join(still)}: the force that friction holds at rest"
                " depends on how the robot came there, which the log does not show; there only"
                " gravity and offsets are predicted."
            )
        coupling = self.model.coupling
        if shared := [n for n, own in zip(self.joints, coupling) if (own != 0).sum() > 1]:
            found.append(
                f"The drives of {', '.join(shared)} turn with several joints; their friction and"
                " rotor inertia are in the model and not in the fitted mechanism."
            )
        base = self.model.base
        if base.without_effect:
            found.append(
                f"No effort depends on {len(base.without_effect)} of {len(base.names)} inertial"
                f" parameters, and the others enter in {base.rank} combinations."
            )
        return found


def estimates_of(model: DriveModel, matrix: Array, free_gains: bool) -> tuple[FittedValue, ...]:
    """Return all estimates with their standard deviations: theta, gains, friction."""
    sigma = np.sqrt(np.maximum(np.diag(matrix), 0.0))
    b, n = len(model.theta), len(model.gains)
    file_values = model.base.of(inertial_parameters(model.machine.layout))
    units = [UNITS[k % 10] for k in model.base.reduction.kept]
    found = [
        FittedValue(name, float(x), float(s), u, float(before))
        for name, x, s, u, before in zip(
            model.base.combinations, model.theta, sigma, units, file_values
        )
    ]
    if free_gains:
        found += [
            FittedValue(
                f"gain of {j}", float(k), float(k * s), f"{model.unit} / ({u[2]})", float(k)
            )
            for j, k, s, u in zip(
                model.machine.speed_names, model.gains, sigma[b:], joint_units(model.machine)
            )
        ]
    found += [
        FittedValue(f"{row['name']} of {row['joint']}", row["value"], float(s), model.unit, 0.0)
        for row, s in zip(model.rows(), sigma[b + n :])
    ]
    return tuple(found)
