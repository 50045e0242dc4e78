"""The readings of the sensors of a run, or of many."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import QuestionError
from ..machine import machine_of
from ..model import SENSOR_KINDS, Sensor
from ..results import Result
from .measurement import measurement
from .reading_errors import ReadingErrors

if TYPE_CHECKING:
    import xarray as xr

Array = np.ndarray


def readings(
    result: Result, sensors: Sequence[Sensor] | None = None, *, seed: int = 0
) -> xr.Dataset:
    """Return what the sensors of a mechanism read during a run.

    Parameters
    ----------
    result : Result
        One run or a batch; its rows are equally spaced where a sensor has a noise, a delay or a
        sample time.
    sensors : sequence of Sensor, optional
        By default those of the mechanism.
    seed : int, default 0
        Of the noise. A run of a batch reads the same whatever the number of runs.

    Returns
    -------
    xarray.Dataset
        For each sensor a variable over ([run,] time, channel), and its true values with ` true`
        behind the name.

    Raises
    ------
    QuestionError
        If there are no sensors, or the rows of the result do not meet their sample times.
    """
    import xarray as xr

    m = result.mechanism
    given = tuple(m.sensors if sensors is None else sensors)
    if not given:
        raise QuestionError(f"mechanism {m.name!r} has no sensors; give it some, or give `sensors`")
    data = result.data
    time = data["time"].values
    many = "run" in data["q"].dims
    lead = ("run",) if many else ()
    runs = np.arange(data.sizes["run"] if many else 1)
    found: dict[str, Any] = {}
    for sensor in given:
        true = _true_values(result, sensor)
        rows = true if many else true[None]
        period = _period(sensor, time)
        errors = ReadingErrors(sensor, runs, period, seed)
        read = np.empty_like(rows)
        for k in range(len(time)):
            read[:, k] = errors.read(rows[:, k])
        names = [c or "value" for c in SENSOR_KINDS[sensor.kind].channels]
        dims = (*lead, "time", f"{sensor.name} channel")
        coords = {"time": time, dims[-1]: names}
        found[sensor.name] = xr.DataArray(read if many else read[0], dims=dims, coords=coords)
        found[f"{sensor.name} true"] = xr.DataArray(true, dims=dims, coords=coords)
    return xr.Dataset(found, attrs={"seed": seed})


def _true_values(result: Result, sensor: Sensor) -> Array:
    """Return the true values ([run,] time, channels) of a sensor."""
    data = result.data
    if not SENSOR_KINDS[sensor.kind].trace:
        force = result.contacts["force"].sel(pair=sensor.at)
        size = (force.fillna(0.0) ** 2).sum("axis") ** 0.5
        lead = ("run", "time") if "run" in size.dims else ("time",)
        return np.asarray(size.transpose(*lead).values)[..., None]
    measure = measurement(machine_of(result.mechanism), [sensor])
    q, v, a, tau = (data[name].values for name in ("q", "v", "a", "tau"))
    parameters = None
    if "parameter" in data and "run" in data["parameter"].dims:
        parameters = data["parameter"].values[:, None]
    return measure(q, v, a, tau, parameters)


def _period(sensor: Sensor, time: Array) -> float:
    """Return the time between the rows, s."""
    gaps = np.diff(time)
    if not len(gaps):
        return 1.0
    if sensor.exact and sensor.sample is None:
        return float(gaps[0])
    if np.ptp(gaps) > 1e-6 * gaps.max():
        raise QuestionError(
            f"sensor {sensor.name!r} is sampled, and the rows of the result are {gaps.min():g} to"
            f" {gaps.max():g} s apart; give `output`, with which they are equally spaced"
        )
    return float(time[-1] - time[0]) / len(gaps)
