"""Wrenches over time read from a table, such as the ground reaction forces of force plates.

    time, foot.fx, foot.fy, foot.fz, foot.px, foot.py, foot.pz, foot.tx, foot.ty, foot.tz

fx, fy, fz: the force on the body of the frame, N. px, py, pz: the point at which it acts, m; the
frame's origin where these columns are missing. tx, ty, tz: an additional torque, N m. All are given
in the ground's axes and interpolated linearly between rows; before the first and after the last row
there is no force.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from ...compiler import elements
from ...errors import FormatError, UnknownNameError
from ...machine import Machine, where
from ...model import GROUND, Mechanism
from ..terms.symbols import SystemSymbols
from ..trajectories.courses import csv_table
from ..trajectories.piecewise import Trajectory, from_scipy
from .control_laws import Controller
from .traced_law import Law

Array = NDArray[np.float64]
PARTS = ("f", "p", "t")  # the letters of force, point and torque in column names
COLUMNS = tuple(part + axis for part in PARTS for axis in "xyz")


@dataclass(frozen=True)
class Wrenches(Controller):
    """External wrenches over time, applied to a run in the way of a controller.

    Parameters
    ----------
    table : Trajectory
        The columns, named FRAME.fx and so on; `wrenches` reads one from a file.
    """

    table: Trajectory

    def law(self, system: SystemSymbols) -> Law:
        """Return the joint forces of all wrenches at the time of the system; there is no state."""
        series = self.table
        t, last = system.t, series.breaks[-1]
        x = dict(zip(series.names, elements(system.follow(series).at(t)[0])))
        on = ca.if_else(t >= series.breaks[0], 1.0, 0.0) * ca.if_else(t <= last, 1.0, 0.0)
        tau = ca.SX.zeros(system.nv)
        s = system.tracer()
        for frame in frames_of(system.mechanism, series.names):
            kinematics = ca.Function(
                "place", [s.t, s.q, s.p], [s.pose(frame)[:, 3], s.jacobian(frame, "world")]
            )
            origin, J = kinematics(system.t, system.q, system.p)
            force, point, torque = (
                ca.vertcat(*(x.get(f"{frame}.{part}{axis}", 0.0) for axis in "xyz"))
                for part in PARTS
            )
            arm = point - origin[:3] if f"{frame}.px" in x else ca.SX.zeros(3)
            tau += J[:3, :].T @ (torque + ca.cross(arm, force)) + J[3:, :].T @ force
        return Law(on * tau)


def wrenches(file: str | Path) -> Wrenches:
    """Read wrenches over time from a .csv file.

    Parameters
    ----------
    file : str or Path
        A table with a column `time` (s) and columns FRAME.fx, FRAME.fy, FRAME.fz (N), optionally
        FRAME.px, .py, .pz (m) and FRAME.tx, .ty, .tz (N m), in the ground's axes.

    Returns
    -------
    Wrenches
        A controller for `catena.simulate`; it adds to others by +.

    Raises
    ------
    FormatError
        If a column has another name, or one of three components is missing.
    """
    from scipy.interpolate import PPoly

    names, times, values = csv_table(Path(file))
    slopes = np.diff(values, axis=0) / np.diff(times)[:, None]
    faults = [
        f"column {n!r}: a column of wrenches is called FRAME.fx, and so on: {', '.join(COLUMNS)}"
        for n in names
        if n.rpartition(".")[2] not in COLUMNS
    ]
    for frame in dict.fromkeys(n.rpartition(".")[0] for n in names):
        for part in PARTS:
            given = [axis for axis in "xyz" if f"{frame}.{part}{axis}" in names]
            if given and len(given) < 3:
                faults.append(
                    f"frame {frame!r}: {part}{', '.join(given)} alone; {part}x, {part}y and {part}z"
                    " belong together"
                )
    if faults:
        raise FormatError(Path(file), "these are not wrenches over time:", faults)
    return Wrenches(from_scipy(tuple(names), PPoly(np.stack([slopes, values[:-1]]), times)))


def frames_of(m: Mechanism, names: tuple[str, ...]) -> list[str]:
    """Return the frames named by the columns of a table.

    Raises UnknownNameError for a frame that the mechanism does not have or that is on the ground.
    """
    found = list(dict.fromkeys(n.rpartition(".")[0] for n in names))
    for frame in found:
        if m.frame(frame).body == GROUND:
            known = [b.name for b in m.bodies] + [f.name for f in m.frames if f.body != GROUND]
            raise UnknownNameError("moving frame", frame, known, f"mechanism {m.name!r}")
    return found


def along_states(machine: Machine, series: Trajectory, times: Array, q: Array) -> dict[Any, Array]:
    """Return {(frame, "world"): wrenches (T, 6), torque first, about the frames' origins}.

    times (T,) in s and coordinates q (T, nq) are those of a motion; `Machine.inverse_dynamics`
    takes the result. Raises FormatError where the motion lasts longer than the table.
    """
    found: dict[Any, Array] = {}
    values = dict(zip(series.names, series(times)[0].T))
    if times[0] < series.breaks[0] or times[-1] > series.breaks[-1]:
        raise FormatError(
            "wrenches",
            f"the table of wrenches lasts from {series.breaks[0]:g} to {series.breaks[-1]:g} s; the"
            f" motion of {where(machine)} lasts from {times[0]:g} to {times[-1]:g} s",
        )
    none = np.zeros(len(times))
    for frame in frames_of(machine.mechanism, series.names):
        force, point, torque = (
            np.stack([values.get(f"{frame}.{part}{axis}", none) for axis in "xyz"], axis=-1)
            for part in PARTS
        )
        arm = point - machine.pose(q, frame)[..., :3, 3] if f"{frame}.px" in values else 0 * force
        found[frame, "world"] = np.concatenate([torque + np.cross(arm, force), force], axis=-1)
    return found
