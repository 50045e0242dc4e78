"""Time series: coordinates, speeds, accelerations and joint forces, one panel per unit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ..result import Result, chosen
from .resolution import widen
from .style import by_unit, degrees_of, legend, named, pen, said, stacked

Names = Iterable[str] | str | None

UNIT = {"q": "coordinate_unit", "v": "speed_unit", "a": "acceleration_unit", "tau": "force_unit"}
QUANTITY = {
    "rad": "angle",
    "m": "distance",
    "1": "quaternion",
    "rad/s": "angular speed",
    "m/s": "speed",
    "rad/s2": "angular acceleration",
    "m/s2": "acceleration",
    "N m": "joint torque",
    "N": "joint force",
}


def coordinates(result: Result, only: Names = None, degrees: bool = False) -> Figure:
    """Draw q over time."""
    return draw(result, "q", only, degrees)


def speeds(result: Result, only: Names = None, degrees: bool = False) -> Figure:
    """Draw v over time."""
    return draw(result, "v", only, degrees)


def accelerations(result: Result, only: Names = None, degrees: bool = False) -> Figure:
    """Draw a over time."""
    return draw(result, "a", only, degrees)


def torques(result: Result, only: Names = None) -> Figure:
    """Draw the joint torques and forces over time, and those of drives. only: names; by default all
    joints where some force is not zero.
    """
    every = [str(x) for x in result.data[result.data["tau"].dims[-1]].values]
    drives = [str(x) for x in result.drive_forces()["drive"].values]
    if only is None:
        values = result.data["tau"].values.reshape(-1, len(every))
        joints = [name for name, x in zip(every, values.T) if np.any(x)]
    else:
        asked = [only] if isinstance(only, str) else list(only)
        drives = [name for name in asked if name in drives]
        joints = [name for name in asked if name not in drives or name in every]
    if drives:
        return _with_drives(result, joints, drives)
    if only is None and not joints:
        return said("No joint is driven: all joint torques and forces are zero.")
    return draw(result, "tau", joints)


def _with_drives(result: Result, joints: Sequence[str], drives: Sequence[str]) -> Figure:
    """Draw the forces of joints and of drives, one panel per unit."""
    names, units = labels(result, "tau", joints) if joints else ([], [])
    lines = [
        (name, unit, result.data["tau"].sel(speed=name).values) for name, unit in zip(names, units)
    ]
    for force in result.drive_forces().sel(drive=list(drives)).transpose("drive", ...):
        label = f"{force['driven'].item()} (drive {force['drive'].item()!r})"
        lines.append((label, str(force["drive_unit"].item()), force.values))
    panels = by_unit([unit for _, unit, _ in lines])
    figure, axes = stacked(len(panels), each=2.3 if len(panels) < 3 else 1.9)
    for ax, (unit, places) in zip(axes, panels):
        for k, place in enumerate(places):
            ax.plot(result.time, lines[place][2], label=lines[place][0], **pen(k))
        largest = np.abs([lines[place][2] for place in places])
        widen(ax, result, unit, float(np.nan_to_num(largest).max(initial=0.0)))
        ax.set_ylabel(named(QUANTITY[unit], unit))
        legend(ax)
    return figure


def draw(result: Result, name: str, only: Names = None, degrees: bool = False) -> Figure:
    """Draw panels below each other, one per unit and with at most seven lines each."""
    names, units = labels(result, name, only)
    panels = by_unit(units)
    figure, axes = stacked(len(panels), each=2.3 if len(panels) < 3 else 1.9)
    for ax, (_, places) in zip(axes, panels):
        panel(ax, result, name, [names[k] for k in places], degrees)
    return figure


def panel(ax: Axes, result: Result, name: str, names: Sequence[str], degrees: bool = False) -> None:
    """Draw the lines of some names of one unit."""
    data = result.data
    every = [str(x) for x in data[data[name].dims[-1]].values]
    unit = str(data[UNIT[name]].values[every.index(names[0])])
    for k, label in enumerate(names):
        values, shown = degrees_of(data[name].values[:, every.index(label)], unit, degrees)
        ax.plot(result.time, values, label=label, **pen(k))
    same = data[UNIT[name]].values == unit
    widen(
        ax,
        result,
        shown,
        np.abs(degrees_of(data[name].values[:, same], unit, degrees)[0]).max(initial=0.0),
    )
    ax.set_ylabel(named(QUANTITY[unit], shown))
    legend(ax)


def labels(result: Result, name: str, only: Names = None) -> tuple[list[str], list[str]]:
    """Return the names asked for, and their units."""
    unit = units(result, name)
    where = f"mechanism {result.data.attrs.get('mechanism')!r}"
    names = chosen(
        _default_names(result, list(unit)) if only is None else only,
        unit,
        "coordinate" if name == "q" else "speed",
        where,
    )
    return names, [unit[n] for n in names]


def units(result: Result, name: str) -> dict[str, str]:
    """Return {name: unit} for all coordinates, speeds, accelerations or forces."""
    data = result.data
    return dict(zip(map(str, data[data[name].dims[-1]].values), map(str, data[UNIT[name]].values)))


def _default_names(result: Result, every: Sequence[str]) -> Sequence[str]:
    """Return the names to plot by default: those outside flexible bodies; about seven of all where
    there are no others.
    """
    inner = (
        {n for j in result.mechanism.elastic for n in (*j.coordinate_names, *j.speed_names)}
        if result.mechanism.beams
        else ()
    )
    own = [n for n in every if n not in inner]
    return own or every[:: max(1, len(every) // 7)]
