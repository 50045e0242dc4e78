"""Drive forces: the forces of the constraints that prescribe the motion of a coordinate, over time.

A drive q = f(t) is a constraint row with one entry, along the speed of its coordinate, so that its
multiplier is the torque or force of the motor behind it: it moves the mechanism and overcomes the
losses of the joints, as tau does where the option `motion` of a run prescribes the same motion.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..machine import least_multipliers, metric, ranks, speeds_of

if TYPE_CHECKING:
    import xarray as xr

    from ..machine import Machine
    from .result import Result


def drive_forces(result: Result) -> xr.DataArray:
    """Return the force of every drive of the mechanism, (..., drive), N m or N; no columns where it
    has none.

    NaN: the force is not determined, because the other rows alone impose the same motion.
    """
    import xarray as xr

    m = result.mechanism
    names = [x.name for x in m.constraints if x.drives()]
    speeds = [speeds_of(m, x.drives())[0] for x in m.constraints if x.drives()]
    lead = tuple(result.data.sizes[x] for x in result._lead)
    found = np.zeros((*lead, 0))
    if names:
        machine, p, t = result.machine, result._parameters, result.time
        q, v = result._rows("q"), result._rows("v")
        lam = least_multipliers(machine, q, v, result._acting, None, p, t, check=False)
        places = [k for k, (name, _) in enumerate(machine.rows) if name in names]
        A = machine.constraint_rows(q, v, p, t=t)[3]
        found = np.where(_determined(machine, A, places), lam[..., places], np.nan)
    units = result.data["force_unit"].values
    return xr.DataArray(
        found,
        {
            **result._labels,
            "drive": names,
            "drive_unit": ("drive", [str(units[k]) for k in speeds]),
            "driven": ("drive", [m.speed_names[k] for k in speeds]),
        },
        (*result._lead, "drive"),
        "drive_forces",
    )


def _determined(machine: Machine, A: np.ndarray, places: list[int]) -> np.ndarray:
    """Return, (..., drives), whether the force of each drive is unique: whether the constraint rows
    have a lower rank without its row.
    """
    by = metric(machine)
    whole = ranks(A, by)
    found = []
    for k in places:
        others = [i for i in range(A.shape[-2]) if i != k]
        rest = ranks(A[..., others, :], by._replace(size=by.size[others]))
        found.append(rest < whole)
    return np.stack(found, axis=-1)
