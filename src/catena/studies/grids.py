"""Tables as grids: runs arranged over the axes of their design."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..errors import StudyError

if TYPE_CHECKING:
    import xarray as xr


def as_grid(table: xr.Dataset) -> xr.Dataset:
    """Return the table over the axes of its design in place of `run`.

    Measures have dimensions such as (crank, density), with the values of each axis as coordinates;
    random draws have the dimension `sample`, the rows of a list the dimension `row`. Raises
    StudyError for another table.
    """
    import xarray as xr

    if "dimensions" not in table.attrs or "run" not in table.dims:
        raise StudyError(
            "this is no table of a study; it comes from study.run() or catena.studies.open_study()"
        )
    names = list(table.attrs["dimensions"])
    shape = [int(n) for n in table.attrs["shape"]]
    found, along = {}, {}
    for name in table.variables:
        own = table[name]
        if "run" not in own.dims:
            along[name] = own.variable
            continue
        values = own.values.reshape(*shape, *own.shape[1:])
        if name in names:
            k = names.index(str(name))
            along[name] = xr.Variable(
                name, np.moveaxis(values, k, 0).reshape(shape[k], -1)[:, 0], own.attrs
            )
        else:
            found[name] = xr.Variable((*names, *own.dims[1:]), values, own.attrs)
    return xr.Dataset(found, along, table.attrs)
