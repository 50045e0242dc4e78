"""Tables of logs: one xarray table with units, for all file formats.

dimensions  time (s), joint (names of the mechanism's speeds)
variables   q (rad or m), v (rad/s or m/s) where it was measured, effort (A, N m, N or unknown)
attributes  source: the file; notes: what was done to it, in sentences
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...errors import StudyError
from ...machine import Machine, coordinates
from .column_layout import Layout, layout_of
from .readers import RawLog, read_raw

if TYPE_CHECKING:
    import xarray as xr

Array = NDArray[np.float64]
UNITS = {"HINGE": ("rad", "rad/s", "N m"), "SLIDE": ("m", "m/s", "N")}


def read_log(
    machine: Machine, data: Any, columns: str | Mapping[str, Any] | None = None
) -> xr.Dataset:
    """Return a log as a table with units, checked against the mechanism.

    Parameters
    ----------
    machine : Machine
        The mechanism: an open chain or tree of hinges and slides.
    data : str, Path, mapping of columns, pandas table or xarray.Dataset
        A file of a format in `LOG_READERS`, or the columns themselves. A table that this function
        returned is returned as it is.
    columns : str, mapping or None, default None
        Which columns hold what, such as "time=1, q=2-7, v=8-13, current=14-19" (columns counted
        from one), or {"q elbow": "joint 3 position"}. By default it follows from the header
        (`time`, `q NAME`, `v NAME`, `tau NAME` or `current NAME`); without a header, from the
        number of columns, and the numbers are compared with this guess.

    Returns
    -------
    xarray.Dataset
        q, effort and, where it was measured, v over (time, joint), with units and notes.

    Raises
    ------
    StudyError
        If columns are missing or unknown, or the mechanism has loops or free rotations.

    Examples
    --------
    >>> import catena
    >>> arm = catena.compile(catena.load("two_link_arm"))
    >>> t = np.linspace(0, 1, 20)
    >>> log = {"time": t, "q shoulder": t, "q elbow": -t, "tau shoulder": t, "tau elbow": t}
    >>> table = read_log(arm, log)
    >>> table.effort.attrs["units"], table.sizes["time"]
    ('N m', 20)
    """
    if hasattr(data, "data_vars"):
        return data
    _check_machine(machine)
    raw = read_raw(data)
    layout = layout_of(machine.speed_names, raw, columns)
    return _table(machine, raw, layout)


def _check_machine(machine: Machine) -> None:
    """Raise StudyError where coordinates and speeds do not correspond one to one."""
    if machine.rows or machine.nq != len(coordinates(machine)):
        raise StudyError(
            f"a log of joints is read for mechanism {machine.mechanism.name!r}, which has loops or"
            " free rotations; open chains and trees of hinges and slides are supported; use"
            " catena.fit with columns 'q NAME' and 'tau NAME' for others"
        )


def joint_units(machine: Machine) -> list[tuple[str, str, str]]:
    """Return the units of position, speed and force of each speed."""
    kinds = [
        f.motion.name for j in machine.mechanism.moving for f in j.freedoms for _ in range(f.nv)
    ]
    return [UNITS.get(kind, UNITS["HINGE"]) for kind in kinds]


def _table(machine: Machine, raw: RawLog, layout: Layout) -> xr.Dataset:
    """Return the table of columns that a layout names."""
    import xarray as xr

    names = list(machine.speed_names)
    per_joint = joint_units(machine)
    both = [" or ".join(dict.fromkeys(u[k] for u in per_joint)) for k in range(3)]
    units = {"q": both[0], "v": both[1], "effort": layout.effort_unit or both[2]}
    variables = {}
    for kind, of in layout.columns.items():
        values = np.stack([raw.columns[of[n]] for n in names], axis=1)
        variables[kind] = (("time", "joint"), values, {"units": units[kind]})
    table = xr.Dataset(
        variables,
        {"time": ("time", raw.columns[layout.time], {"units": "s"}), "joint": names},
        {"source": raw.source, "notes": list(layout.notes)},
    )
    return table
