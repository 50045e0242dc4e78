"""Checks of logs: faults of a log, found from its numbers, each with a name.

A check is a record of `LOG_CHECKS`. One that is fatal makes `checked_log` refuse the log with all
fatal findings at once; the findings of others are kept in the table and shown with the fit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...errors import StudyError
from ...machine import Machine, coordinates
from ...registry import Registry
from .coupled_drives import drive_regressor

if TYPE_CHECKING:
    import xarray as xr

Array = NDArray[np.float64]
SMOOTHING_TIME = 0.03  # s
REST = 1e-2  # rad/s or m/s: slower is rest
MAX_DELAY = 30  # rows by which an effort may be delayed
MAX_ROWS = 1500  # of a log, of which efforts are explained
MIN_ROWS = 5 * MAX_DELAY  # of a log whose efforts are explained


@dataclass(frozen=True)
class LogCase:
    """A log under check, with quantities that several checks use."""

    machine: Machine
    table: xr.Dataset
    coupling: Array  # R (n, n): drives turn at the speeds R v

    @cached_property
    def t(self) -> Array:
        """The times, s."""
        return np.asarray(self.table.time.values, float)

    @cached_property
    def q(self) -> Array:
        """The positions (T, n)."""
        return np.asarray(self.table.q.values, float)

    @cached_property
    def v(self) -> Array | None:
        """The measured speeds (T, n), or None."""
        return np.asarray(self.table.v.values, float) if "v" in self.table else None

    @cached_property
    def effort(self) -> Array:
        """The efforts (T, n)."""
        return np.asarray(self.table.effort.values, float)

    @cached_property
    def names(self) -> list[str]:
        """The names of the joints."""
        return [str(n) for n in self.table.joint.values]

    @cached_property
    def limits(self) -> tuple[Array, Array, Array]:
        """The lower and upper limits of the positions, and the largest speeds."""
        places = coordinates(self.machine)
        speed = [float(x) for j in self.machine.mechanism.moving for x in j.speed]
        lower, upper = (
            np.array([float(getattr(c, k)) for c in places]) for k in ("lower", "upper")
        )
        return lower, upper, np.array(speed)

    @cached_property
    def sound_clock(self) -> bool:
        """Whether rates can be computed: times are finite and rise, values are finite."""
        whole: bool | np.bool = np.isfinite(self.t).all() and np.isfinite(self.q).all()
        whole = whole and np.isfinite(self.effort).all()
        whole = whole and (self.v is None or bool(np.isfinite(self.v).all()))
        return bool(whole and (np.diff(self.t) > 0).all())

    def smooth(self, x: Array) -> Array:
        """Return columns averaged over SMOOTHING_TIME, and over five rows at least.

        Efforts and accelerations are compared so: the derivative of a quantised speed at a high
        sample rate is noise.
        """
        from scipy.ndimage import uniform_filter1d

        step = float(np.median(np.diff(self.t)))
        return uniform_filter1d(x, max(5, round(SMOOTHING_TIME / step)), axis=0)

    @cached_property
    def smooth_effort(self) -> Array:
        """The smoothed efforts (T, n)."""
        return self.smooth(self.effort)

    @cached_property
    def rate(self) -> Array:
        """The derivative of the positions, smoothed over five rows."""
        from scipy.ndimage import uniform_filter1d

        return uniform_filter1d(np.gradient(self.q, self.t, axis=0), 5, axis=0)

    @cached_property
    def speed(self) -> Array:
        """The measured speeds, or the derivative of the positions."""
        return self.rate if self.v is None else self.v

    @cached_property
    def unit_unknown(self) -> bool:
        """Whether the efforts are no forces, so that their size is not that of the model's."""
        return self.table.effort.attrs.get("units") in ("A", "unknown")

    @cached_property
    def model_force(self) -> Array:
        """The forces (T, n) of the model file at the drives along the motion."""
        a = np.gradient(self.smooth(self.speed), self.t, axis=0)
        tau = self.machine.inverse_dynamics(self.q, self.speed, a)
        return np.asarray(tau @ np.linalg.inv(self.coupling))

    @cached_property
    def model_size(self) -> Array:
        """The rms (n,) of the forces of the model file."""
        return np.asarray(np.sqrt(np.mean(self.model_force**2, axis=0)))

    @cached_property
    def explanations(self) -> tuple[Explanation, ...]:
        """For each joint, the part of an effort that its motion can explain."""
        a = np.gradient(self.smooth(self.speed), self.t, axis=0)
        rows = np.arange(MAX_DELAY, len(self.t) - MAX_DELAY, max(1, len(self.t) // MAX_ROWS))
        q, v = self.q[rows], self.speed[rows]
        Y = drive_regressor(self.machine, q, v, a[rows], self.coupling, slice(None))
        V = v @ self.coupling.T
        return tuple(Explanation.of(rows, V[:, k], Y[:, k]) for k in range(len(self.names)))


@dataclass(frozen=True)
class Explanation:
    """The part of an effort that the motion of a joint can explain: by its regressor, friction and
    a constant.

    rows: of the log. v: the joint's speed there. A: columns of friction (two), constant and
    regressor, all of length one. Q: an orthonormal basis of them.
    """

    rows: NDArray[np.int64]
    v: Array
    A: Array
    Q: Array

    @staticmethod
    def of(rows: NDArray[np.int64], v: Array, Y: Array) -> Explanation:
        """Return the Explanation for the motion of a joint with the regressor Y (rows, n)."""
        size = np.linalg.norm(Y, axis=0)
        Y = Y[:, size > 1e-9 * size.max(initial=1e-300)]
        A = np.column_stack([np.tanh(v / REST), v, np.ones(len(v)), Y])
        length = np.linalg.norm(A, axis=0)
        A = A / np.where(length > 0, length, 1.0)
        values, V = np.linalg.eigh(A.T @ A)  # far cheaper than a singular value decomposition
        kept = values > 1e-10 * values[-1]
        return Explanation(rows, v, A, A @ (V[:, kept] / np.sqrt(values[kept])))

    def share(self, effort: Array, shift: int = 0) -> float:
        """Return the fraction of the power of an effort (all rows), shifted by some rows, that is
        explained.
        """
        y = effort[self.rows + shift]
        y = y - y.mean()
        inside = self.Q.T @ y
        return float(inside @ inside) / max(float(y @ y), 1e-300)

    def friction_power(self, effort: Array) -> tuple[float, float]:
        """Return the mean power that friction takes, and its standard deviation."""
        y = effort[self.rows]
        x = np.linalg.pinv(self.A.T @ self.A, rcond=1e-10, hermitian=True) @ (self.A.T @ y)
        left = y - self.A @ x
        power = float(np.mean((self.A[:, :2] @ x[:2]) * self.v))
        # residuals are correlated over some ten rows
        return power, float(np.std(left) * np.std(self.v) / np.sqrt(len(y) / 10))


@dataclass(frozen=True)
class LogCheck:
    """A check of logs.

    name: its name. doc: what it finds, for docs/logs.md. fatal: whether the log is refused. sound:
    whether the check needs a sound clock and finite values. find: from a case to sentences.
    """

    name: str
    doc: str
    find: Callable[[LogCase], list[str]]
    fatal: bool = True
    sound: bool = True


LOG_CHECKS: Registry[LogCheck] = Registry("check of logs", error=StudyError)
MODULES = ("clock_checks", "motion_checks", "effort_checks")


def every_check() -> Registry[LogCheck]:
    """Return all checks; the modules that hold them are loaded once."""
    for module in MODULES:
        import_module(f".{module}", __package__)
    return LOG_CHECKS


def findings(
    machine: Machine, table: xr.Dataset, coupling: Array | None = None
) -> list[tuple[LogCheck, str]]:
    """Return what the checks find in a log: pairs of the check and a sentence."""
    case = LogCase(machine, table, np.eye(machine.nv) if coupling is None else coupling)
    return [
        (check, sentence)
        for check in every_check().values()
        if case.sound_clock or not check.sound
        for sentence in check.find(case)
    ]


def checked_log(machine: Machine, table: xr.Dataset, coupling: Array | None = None) -> xr.Dataset:
    """Return a log with the findings of the checks added; raise StudyError with all fatal
    findings.
    """
    found = findings(machine, table, coupling)
    source = table.attrs.get("source", "the log")
    if fatal := [f"{check.name}: {text}" for check, text in found if check.fatal]:
        raise StudyError(f"{source} cannot be used to fit:", fatal)
    return table.assign_attrs(findings=[f"{check.name}: {text}" for check, text in found])


def markdown() -> str:
    """Return the checks as a Markdown table, which docs/logs.md includes."""
    rows = [
        f"| {c.name} | {c.doc} | {'refused' if c.fatal else 'reported'} |"
        for c in every_check().values()
    ]
    return "\n".join(["| finding | what it means | the log is |", "|---|---|---|", *rows])
