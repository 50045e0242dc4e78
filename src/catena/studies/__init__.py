"""Studies: many runs of one mechanism, on one machine or a cluster, and a few numbers of each.

study --variables, design--> run number k --experiment--> rows --measures--> table --indices,
plots--> influence of each variable

definition    Study: what `catena.study` returns, and `run`; specification: the data that define it
variables     what can vary: parameters, starts, loads, gains; ranges: values and distributions
dimensions    the units of parameters
design        which values run number k has; run_lists: lists of runs from CSV files
experiment    blocks of runs in lanes; rollouts: fixed steps, many groups in one call
closing       loops closed for all runs at once
measures      expressions over a run; reductions: over time; evaluation: from rows to measures
store         zarr on disk, shard by shard; engines: threads, processes, Dask
indices       Sobol indices and others; grids: tables as grids; plots: pictures of tables
"""

from typing import TYPE_CHECKING

from ..doors import door

if TYPE_CHECKING:
    from .closing import Nominal, close, independent_rows
    from .definition import Estimate, Study, duration, study
    from .grids import as_grid
    from .indices import METHODS
    from .measures import vectorised
    from .plotting import PLOTS, find, measures, plot, save
    from .ranges import (
        DISTRIBUTIONS,
        Axis,
        lognormal,
        loguniform,
        normal,
        triangular,
        uniform,
        values_of,
    )
    from .reductions import REDUCTIONS
    from .store import open_study
    from .variables import Varied, vary

__getattr__, __dir__ = door(__name__)
