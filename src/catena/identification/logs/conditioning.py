"""Conditioning: from the table of a log to position, speed, acceleration and effort at even times.

    table -> isolated outliers replaced -> even times -> cutoff from the spectrum -> zero-phase
    filter of positions and speeds -> derivatives

The cutoff is the frequency at which the spectrum of the speeds falls to its noise floor: the
highest frequency below which every part of the spectrum is NOISE_RATIO times the floor that the
upper third of the band has. The efforts are not filtered. What is done is recorded in `notes`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...errors import StudyError

if TYPE_CHECKING:
    import xarray as xr

Array = NDArray[np.float64]
FILTER_ORDER = 4  # of the Butterworth filter, which is applied forwards and backwards
NOISE_RATIO = 4.0  # of the spectrum at the cutoff relative to the noise floor
MIN_CUTOFF = 2.0  # Hz
MAX_CUTOFF_SHARE = 0.2  # of the sample rate
# a value is an outlier where it is so many deviations from the median of its neighbours, both
# estimated robustly, and the value before and after it are not
OUTLIER_DEVIATIONS = 12.0
OUTLIER_WINDOW = 7  # rows
MAX_GAP_STEPS = 5.0  # relative to the usual step: a longer step is a gap


@dataclass(frozen=True)
class Motion:
    """A log at even times.

    t (T,): s, from zero. q, v, a, effort (T, n). cutoff: Hz. valid (T,): False within gaps of the
    log. jitter (n,): the noise of the positions, rad or m. times: of the log's own rows, from zero.
    measured: the efforts at these. source: the file. notes: what was done.
    """

    t: Array
    q: Array
    v: Array
    a: Array
    effort: Array
    cutoff: float
    valid: NDArray[np.bool_]
    jitter: Array
    times: Array
    measured: Array
    source: str
    notes: tuple[str, ...]

    @property
    def step(self) -> float:
        """The time between rows, s."""
        return float(self.t[1] - self.t[0])


def condition(table: xr.Dataset, cutoff: float | None = None) -> Motion:
    """Return the motion of a log.

    Parameters
    ----------
    table : xarray.Dataset
        The log, of `read_log`.
    cutoff : float or None, default None
        The cutoff frequency of the filter of positions and speeds, Hz; by default it follows from
        their spectra.

    Returns
    -------
    Motion
        Position, speed, acceleration and effort at even times.

    Raises
    ------
    StudyError
        If the cutoff is not below half of the sample rate.
    """
    notes = list(table.attrs.get("notes", ()))
    clock = np.asarray(table.time.values, float)
    clock = clock - clock[0]
    values = {
        str(k): without_outliers(np.asarray(table[k].values, float), str(k), notes) for k in table
    }
    step = float(np.median(np.diff(clock)))
    t: Array = step * np.arange(int(clock[-1] / step) + 1, dtype=np.float64)
    even = {k: _interpolated(t, clock, x) for k, x in values.items()}
    valid = _inside(t, clock, step, notes)
    found = cutoff or spectral_cutoff(t, even.get("v"), even["q"])
    if not 0.0 < found < 0.5 / step:
        raise StudyError(
            f"a cutoff of {found:g} Hz for {table.attrs['source']}: it is above zero and below"
            f" {0.5 / step:g} Hz, half of the rate of the log"
        )
    notes.append(
        f"positions and speeds are filtered by a Butterworth filter of order {FILTER_ORDER},"
        f" {found:.3g} Hz, forwards and backwards"
        + ("" if cutoff else "; the cutoff is where their spectra fall to the noise")
    )
    q = low_pass(even["q"], found, step)
    v = low_pass(even["v"], found, step) if "v" in even else derivative(t, q)
    if "v" not in even:
        notes.append("speeds are derivatives of the positions")
    return Motion(
        t,
        q,
        v,
        derivative(t, v),
        even["effort"],
        found,
        valid,
        1.4826 * np.median(np.abs(even["q"] - q), axis=0),
        clock,
        values["effort"],
        str(table.attrs["source"]),
        tuple(notes),
    )


def low_pass(x: Array, cutoff: float, step: float) -> Array:
    """Return values (T, ...) filtered forwards and backwards; cutoff in Hz, step in s."""
    from scipy.signal import butter, sosfiltfilt

    sections = butter(FILTER_ORDER, cutoff, fs=1.0 / step, output="sos")
    return sosfiltfilt(sections, x, axis=0, padlen=min(len(x) - 1, int(3 / (cutoff * step))))


def derivative(t: Array, x: Array) -> Array:
    """Return the derivative of columns (T, n) at even times: that of a spline of degree five."""
    from scipy.interpolate import make_interp_spline

    return make_interp_spline(t, x, k=5)(t, 1)


def _interpolated(t: Array, clock: Array, x: Array) -> Array:
    """Return columns (T, n) at even times, by linear interpolation between rows."""
    return np.stack([np.interp(t, clock, column) for column in x.T], axis=1)


def _inside(t: Array, clock: Array, step: float, notes: list[str]) -> NDArray[np.bool_]:
    """Return, for each of the even times, whether it lies outside all gaps of the log."""
    valid = np.ones(len(t), bool)
    for k in np.flatnonzero(np.diff(clock) > MAX_GAP_STEPS * step):
        valid &= (t <= clock[k]) | (t >= clock[k + 1])
        notes.append(
            f"there is a gap of {clock[k + 1] - clock[k]:.3g} s at {clock[k]:.4g} s, which is left"
            " out"
        )
    return valid


def without_outliers(x: Array, kind: str, notes: list[str]) -> Array:
    """Return columns (T, n) in which isolated outliers are replaced by their neighbours' median. An
    outlier is isolated if its neighbours are not outliers, so that fast motions are preserved.
    """
    from scipy.ndimage import median_filter

    middle = median_filter(x, size=(OUTLIER_WINDOW, 1), mode="nearest")
    away = np.abs(x - middle)
    spread = median_filter(away, size=(8 * OUTLIER_WINDOW + 1, 1), mode="nearest")
    floor = 1e-6 * np.ptp(x, axis=0) + 1.4826 * np.median(away, axis=0)
    far = away > OUTLIER_DEVIATIONS * np.maximum(1.4826 * spread, floor)
    lone = far.copy()
    lone[1:] &= ~far[:-1]
    lone[:-1] &= ~far[1:]
    if count := int(lone.sum()):
        notes.append(f"{count} isolated outliers of {kind} are replaced by the median around them")
    return np.where(lone, middle, x)


def spectral_cutoff(t: Array, v: Array | None, q: Array) -> float:
    """Return the cutoff (Hz) at which the spectra of the speeds fall to their noise.

    Without measured speeds it is that of the differences of the positions.
    """
    from scipy.signal import welch

    step = t[1] - t[0]
    signal = v if v is not None else np.diff(q, axis=0) / step
    moving = signal[:, signal.std(axis=0) > 1e-3 * signal.std(axis=0).max(initial=0.0)]
    upper = MAX_CUTOFF_SHARE / step
    if not moving.shape[1]:
        return upper
    size = min(len(moving), max(64, int(4.0 / step)))
    f, power = welch(moving, fs=1.0 / step, nperseg=size, axis=0)
    floor = np.median(power[f > f[-1] * 2 / 3], axis=0)
    if v is None:  # white noise of positions rises with the square of the frequency
        floor = floor * (np.sin(np.pi * f * step)[:, None] ** 2 + 1e-9)
    below = (power <= NOISE_RATIO * floor + 1e-30).any(axis=1) & (f > 0)
    found = f[int(np.argmax(below))] if below.any() else upper
    return float(np.clip(found, min(MIN_CUTOFF, upper), upper))
