"""The model of a robot's drives: efforts (currents or forces) from a motion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...machine import Machine
from ..base_parameters import BaseParameters
from ..logs import Motion, condition, read_log
from .friction_laws import FRICTION_LAWS
from .joint_columns import Drives, Term, drives, friction_columns

if TYPE_CHECKING:
    import xarray as xr

Array = NDArray[np.float64]


@dataclass(frozen=True)
class DriveModel:
    """Efforts of all drives: effort_j = k_j Y_j theta + F_j c_j.

    Attributes
    ----------
    machine : Machine
        The mechanism.
    base : BaseParameters
        Which combinations of inertial parameters theta has.
    theta : array, shape (b,)
        The base parameters.
    gains : array, shape (nv,)
        Effort per unit of joint force; one where the efforts are forces.
    terms : tuple of tuples of Term
        The friction laws of each joint.
    coefficients : tuple of arrays
        Those of each joint.
    unit : str
        The unit of the efforts.
    coupling : array, shape (nv, nv)
        The speeds of the drives per speed of the joints; the unit matrix where each joint has a
        drive of its own.
    """

    machine: Machine
    base: BaseParameters
    theta: Array
    gains: Array
    terms: tuple[tuple[Term, ...], ...]
    coefficients: tuple[Array, ...]
    unit: str
    coupling: Array

    def loads(self, log: Drives) -> Array:
        """Return the rigid-body forces (T, n) along a log, in units of the efforts."""
        return np.asarray(log.regressor @ self.theta) * self.gains

    def along(self, log: Drives) -> Array:
        """Return the efforts (T, n) at the even times of a log."""
        loads = self.loads(log)
        loaded = log.with_loads(loads)
        friction = [
            friction_columns(x, t) @ c
            for x, t, c in zip(loaded.joints, self.terms, self.coefficients)
        ]
        return loads + np.stack(friction, axis=1)

    def predict(self, data: Any, columns: str | Mapping[str, Any] | None = None) -> xr.DataArray:
        """Return the efforts that the model predicts along the motion of a log.

        Parameters
        ----------
        data : str, Path, mapping, pandas table or xarray.Dataset
            The log, as for `read_log`. Its efforts are not used.
        columns : str, mapping or None, default None
            Which columns hold what, as for `read_log`.

        Returns
        -------
        xarray.DataArray
            Over (time, joint) at the log's own times.
        """
        import xarray as xr

        table = read_log(self.machine, data, columns)
        motion = condition(table)
        return xr.DataArray(
            self.at_rows(motion),
            {"time": table.time, "joint": table.joint},
            ("time", "joint"),
            "predicted effort",
            {"units": self.unit},
        )

    def at_rows(self, motion: Motion) -> Array:
        """Return the predicted efforts at the rows of a log, (rows, n)."""
        log = drives(self.machine, motion, self.base.reduction.kept, self.coupling)
        even = self.along(log)
        return np.stack([np.interp(motion.times, motion.t, x) for x in even.T], axis=1)

    def error(self, motion: Motion) -> Array:
        """Return the rms of measured minus predicted efforts, relative to that of the measured."""
        return relative_error(motion.measured, self.at_rows(motion))

    def rows(self) -> list[dict[str, Any]]:
        """Return one record per friction coefficient: joint, law, equation, name and value."""
        return [
            {
                "joint": joint,
                "law": t.law,
                "shape": list(t.shape),
                "equation": FRICTION_LAWS[t.law].equation,
                "name": name,
                "value": float(x),
            }
            for joint, of, c in zip(self.machine.speed_names, self.terms, self.coefficients)
            for (t, name), x in zip(((t, n) for t in of for n in t.names), c)
        ]


def relative_error(measured: Array, predicted: Array) -> Array:
    """Return rms(measured - predicted) / rms(measured) of each column."""
    size = np.sqrt(np.mean(measured**2, axis=0))
    return np.sqrt(np.mean((measured - predicted) ** 2, axis=0)) / np.where(size > 0.0, size, 1.0)


def columns_of(joint: int, log: Drives, terms: Sequence[Term]) -> Array:
    """Return the columns [Y_j, F_j, effort_j] of a joint along the valid rows of a log."""
    return np.column_stack(
        [
            log.regressor[:, joint],
            friction_columns(log.joints[joint], terms),
            log.motion.effort[:, joint],
        ]
    )[log.motion.valid]
