"""Measured motions: from a log to q, v, a and tau at the same instants.

    CSV -> columns by name -> even steps -> zero-phase Butterworth -> derivatives -> both sides of
    the equations filtered and thinned

A log has a column `time` (s) and, for each coordinate, `q NAME` (or NAME alone); `tau NAME` for
each motor; `v NAME` and `a NAME` if they were measured too. That is what
`Result.to_pandas().to_csv()` writes. Everything is in SI units. What is done to the log is recorded
in `notes`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import FormatError, StudyError, unknown
from ..machine import Machine, coordinates

Array = NDArray[np.float64]
# of the Butterworth filter; applied forwards and backwards it has twice the order and no delay
FILTER_ORDER = 4
MIN_LOG_ROWS = 10  # rows of a log
# the filter's cutoff relative to the frequency below which 99 % of the motion's power lies
CUTOFF_RATIO = 10.0
KINDS = ("q", "v", "a", "tau")


@dataclass(frozen=True)
class MeasuredMotion:
    """A motion with its forces: q (T, nq), v, a, tau (T, nv) at the times t (T,), SI units.

    notes: what was done to the log, one sentence each. cutoff: the cutoff frequency (Hz) of the
    filter that is applied to both sides of the equations of motion, forces and columns alike, so
    that the filter introduces no bias. kept: the rows that are used after filtering.
    """

    t: Array
    q: Array
    v: Array
    a: Array
    tau: Array
    notes: tuple[str, ...] = ()
    cutoff: float | None = None
    kept: slice = field(default_factory=lambda: slice(None))

    def filtered(self, x: Array) -> Array:
        """Return values (T, ...) along the motion, filtered and thinned."""
        return (x if self.cutoff is None else _smooth(self.t, x, self.cutoff))[self.kept]


def measured_motion(
    machine: Machine, data: Any, cutoff: float | None = None, thin: int | None = None
) -> MeasuredMotion:
    """Return the motion in a log.

    Parameters
    ----------
    machine : Machine
        The mechanism.
    data : str, Path, pandas table, mapping, Result or MeasuredMotion
        The log; a MeasuredMotion is returned as it is.
    cutoff : float or None, default None
        The cutoff frequency of the filter, Hz; by default ten times the frequency below which 99 %
        of the motion's power lies, and no filter where speeds and accelerations are given.
    thin : int or None, default None
        Take one row in `thin`; by default as many as the filter leaves independent.

    Returns
    -------
    MeasuredMotion
        q, v, a and tau at even times.

    Raises
    ------
    StudyError
        If columns are missing, unknown or not finite.
    """
    if isinstance(data, MeasuredMotion):
        return data
    table, source = columns_of(data)
    names = _columns(machine, table, source)
    t = table[names["time"]]
    values = {kind: {n: table[c] for n, c in names[kind].items()} for kind in KINDS}
    even, values, notes = _even(t, values)
    given = all(len(values[kind]) >= machine.nv for kind in ("v", "a"))
    if cutoff is None and not given:
        cutoff = _cutoff(even, values["q"])
    if cutoff is not None:
        values = {
            k: of if k == "tau" else {n: _smooth(even, x, cutoff) for n, x in of.items()}
            for k, of in values.items()
        }
        notes.append(
            f"filtered by a Butterworth filter of order {FILTER_ORDER}, {cutoff:.4g} Hz, forwards"
            " and backwards (no delay): coordinates, and then both sides of the equations"
        )
    q, v, a = _motion(machine, even, values, notes)
    tau = np.stack([values["tau"].get(n, np.zeros(len(even))) for n in machine.speed_names], axis=1)
    return MeasuredMotion(
        even,
        q,
        v,
        a,
        tau,
        kept=_used_rows(even, cutoff, thin, notes),
        notes=tuple(notes),
        cutoff=cutoff,
    )


def columns_of(data: Any) -> tuple[dict[str, Array], str]:
    """Return {column: numbers} of a log, and its source for messages.

    Raises StudyError where columns have different lengths or too few rows.
    """
    if hasattr(data, "to_pandas") and hasattr(data, "data"):
        data = data.to_pandas()
    source = "the data"
    if isinstance(data, (str, Path)):
        data, source = _read(Path(data)), str(data)
    if hasattr(data, "reset_index"):
        data = data.reset_index()
    columns = {
        str(k).strip(): data[k] for k in (data.columns if hasattr(data, "columns") else data)
    }
    found, faults = {}, []
    for name, column in columns.items():
        try:
            found[name] = np.asarray(column, float)
        except (TypeError, ValueError):
            found[name] = np.full(len(column), np.nan)
    lengths = {len(x) for x in found.values()}
    if len(lengths) > 1:
        faults.append(
            f"its columns have {', '.join(map(str, sorted(lengths)))} rows; they have as many each"
        )
    if min(lengths, default=0) < MIN_LOG_ROWS:
        faults.append(f"it has {min(lengths, default=0)} rows; a fit needs at least {MIN_LOG_ROWS}")
    if faults:
        raise StudyError(f"{source} is no log of a motion:", faults)
    return found, source


def _read(path: Path) -> Any:
    """Return the table in a .csv file; raise FormatError where there is none."""
    import pandas as pd  # type: ignore[import-untyped]

    try:
        return pd.read_csv(path, comment="#", skipinitialspace=True)
    except FileNotFoundError:
        raise FormatError(
            path,
            "there is no such file; a log is a .csv with the columns time, 'q NAME' and 'tau NAME'",
        ) from None
    except (ValueError, OSError) as why:
        raise FormatError(path, f"this is no table: {str(why).splitlines()[0]}") from None


def _columns(machine: Machine, table: Mapping[str, Array], source: str) -> dict[str, Any]:
    """Return the column of each quantity; raise StudyError with every fault."""
    faults: list[str] = []
    clock = next((c for c in table if c.lower() in ("time", "t")), None)
    if clock is None:
        faults.append(
            f"there is no column 'time' (s); its columns are {', '.join(list(table)[:12])}"
        )
    found: dict[str, Any] = {"time": clock} | {kind: {} for kind in KINDS}
    allowed = {
        "q": machine.coordinate_names,
        "v": machine.speed_names,
        "a": machine.speed_names,
        "tau": machine.speed_names,
    }
    for column in table:
        kind, _, name = column.partition(" ")
        if kind in KINDS and name and column not in machine.coordinate_names:
            if name in allowed[kind]:
                found[kind][name] = column
            else:
                faults.append(
                    f"column {column!r}: "
                    + unknown(
                        "coordinate" if kind == "q" else "speed",
                        name,
                        allowed[kind],
                        f"mechanism {machine.mechanism.name!r}",
                    )
                )
        elif column in machine.coordinate_names:
            found["q"].setdefault(column, column)
    faults += [
        f"there is no column 'q {n}' for the coordinate {n!r}"
        for n in machine.coordinate_names
        if n not in found["q"] and not machine.rows
    ]
    faults += [
        f"there is no column 'tau {n}' for the force of {n!r}; a joint without a motor has zeros"
        " there"
        for n in machine.speed_names
        if n not in found["tau"] and not machine.rows
    ]
    if machine.rows and not found["tau"]:
        faults.append(
            "there is no column 'tau NAME'; with loops those of the motors are needed, other joints"
            " have none"
        )
    used = [clock, *(c for kind in KINDS for c in found[kind].values())]
    faults += [
        not_finite(c, table[c]) for c in used if c is not None and not np.isfinite(table[c]).all()
    ]
    if (
        clock is not None
        and np.isfinite(table[clock]).all()
        and not (np.diff(table[clock]) > 0).all()
    ):
        k = int(np.argmax(np.diff(table[clock]) <= 0))
        faults.append(
            f"times rise; row {k + 3} has {table[clock][k + 1]:g} s after {table[clock][k]:g} s"
        )
    if faults:
        raise StudyError(f"{source} is no log of mechanism {machine.mechanism.name!r}:", faults)
    return found


def not_finite(column: str, x: Array) -> str:
    """Return a sentence that names the rows of a column without a finite number."""
    bad = np.flatnonzero(~np.isfinite(x))
    return (
        f"column {column!r} has no finite number in row {bad[0] + 2}"
        + (f" and {len(bad) - 1} more" if len(bad) > 1 else "")
        + "; leave such rows out or fill them"
    )


def _even(
    t: Array, values: dict[str, dict[str, Array]]
) -> tuple[Array, dict[str, dict[str, Array]], list[str]]:
    """Return even times, the values at these, and notes; uneven rows are interpolated linearly."""
    step = np.diff(t)
    if np.abs(step - step.mean()).max() <= 1e-3 * step.mean():
        return np.linspace(t[0], t[-1], len(t)), values, []
    even = np.linspace(t[0], t[-1], len(t))
    notes = [
        f"times are uneven ({step.min():.3g} to {step.max():.3g} s); values are taken every"
        f" {even[1] - even[0]:.4g} s, on lines between rows"
    ]
    return (
        even,
        {kind: {n: np.interp(even, t, x) for n, x in of.items()} for kind, of in values.items()},
        notes,
    )


def _cutoff(t: Array, q: Mapping[str, Array]) -> float | None:
    """Return CUTOFF_RATIO times the frequency (Hz) below which 99 % of the motion's power lies.

    None where nothing moves, or where it is above a third of the sample rate.
    """
    rate = 1.0 / (t[1] - t[0])
    window = np.hanning(len(t))
    f = np.fft.rfftfreq(len(t), 1.0 / rate)
    power = sum(np.abs(np.fft.rfft((x - x.mean()) * window)) ** 2 for x in q.values())
    total = np.cumsum(power)
    if total[-1] == 0.0:
        return None
    found = CUTOFF_RATIO * max(f[1], f[int(np.searchsorted(total, 0.99 * total[-1]))])
    return float(found) if found < rate / 3 else None


def _smooth(t: Array, x: Array, cutoff: float) -> Array:
    """Return values (T, ...) filtered forwards and backwards; cutoff: Hz."""
    from scipy.signal import butter, sosfiltfilt

    rate = 1.0 / (t[1] - t[0])
    if not 0 < cutoff < rate / 2:
        raise StudyError(
            f"a cutoff of {cutoff:g} Hz: it is above zero and below {rate / 2:g} Hz, half the rate"
            " of the log"
        )
    return sosfiltfilt(
        butter(FILTER_ORDER, cutoff, fs=rate, output="sos"),
        x,
        axis=0,
        padlen=min(len(t) - 1, int(3 * rate / cutoff)),
    )


def _motion(
    machine: Machine, t: Array, values: dict[str, dict[str, Array]], notes: list[str]
) -> tuple[Array, Array, Array]:
    """Return q, v, a; what the log lacks is differentiated.

    With loops, coordinates that the log lacks follow from the others.
    """
    scalar = {c.name: c for c in coordinates(machine)}
    if left := [n for n in machine.coordinate_names if n not in scalar and n in values["q"]]:
        lacking = [
            n
            for n in machine.speed_names
            if n not in {c.speed for c in scalar.values()}
            and (n not in values["v"] or n not in values["a"])
        ]
        if lacking:
            raise StudyError(
                f"the rates of the quaternion of {left[0]!r} are not differentiated; the log needs"
                f" 'v NAME' and 'a NAME' of {', '.join(lacking)}"
            )
    motions = {
        n: [x, *_rates(t, n, scalar.get(n), values)] for n, x in values["q"].items() if n in scalar
    }
    if any(
        c.speed not in values["v"] or c.speed not in values["a"]
        for n, c in scalar.items()
        if n in motions
    ):
        notes.append(
            "speeds and accelerations that the log does not have are derivatives of a spline"
            " through the coordinates"
        )
    if machine.rows and len(values["q"]) < machine.nq:
        from ..analysis import kinematics

        notes.append(
            f"coordinates that the log does not have follow {', '.join(motions)} through the loops"
        )
        moved = kinematics(machine, {n: tuple(x) for n, x in motions.items()})
        return moved.q, moved.v, moved.a
    q, v, a = (np.zeros((len(t), n)) for n in (machine.nq, machine.nv, machine.nv))
    for k, n in enumerate(machine.coordinate_names):
        q[:, k] = values["q"][n]
    for k, n in enumerate(machine.speed_names):
        v[:, k], a[:, k] = (values[kind].get(n, 0.0) for kind in ("v", "a"))
    for n, (_, dq, ddq) in motions.items():
        v[:, scalar[n].vi], a[:, scalar[n].vi] = dq, ddq
    return q, v, a


def _rates(t: Array, name: str, c: Any, values: dict[str, dict[str, Array]]) -> tuple[Array, Array]:
    """Return speed and acceleration of a coordinate: those of the log, or derivatives of a
    spline.
    """
    from scipy.interpolate import make_interp_spline

    x = values["q"][name]
    speed = values["v"].get(c.speed)
    acceleration = values["a"].get(c.speed)
    if speed is None:
        path = make_interp_spline(t, x, k=min(5, len(t) - 1))
        return path(t, 1), path(t, 2) if acceleration is None else acceleration
    return speed, (
        make_interp_spline(t, speed, k=min(5, len(t) - 1))(t, 1)
        if acceleration is None
        else acceleration
    )


def _used_rows(t: Array, cutoff: float | None, thin: int | None, notes: list[str]) -> slice:
    """Return which rows are used. Rows near the ends, where the filter is inaccurate, are left out,
    and of the others as many are used as are independent after filtering.
    """
    if cutoff is None:
        return slice(None, None, thin or 1)
    rate = 1.0 / (t[1] - t[0])
    edge = min(int(rate / cutoff), len(t) // 4)
    every = thin or max(1, int(rate / (2 * cutoff)))
    notes.append(
        f"{edge} rows at each end are left out, and of the others one in {every} is taken, so that"
        " their errors are independent"
    )
    return slice(edge, len(t) - edge, every)
