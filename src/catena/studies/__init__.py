"""Studies: from one run to a million, on one machine or a cluster.

    study --variables, design--> run number k --experiment--> rows --measures--> table --indices, plots--> what matters

definition      Study: what `catena.study` makes, and `run`          variables    what can vary: parameters, starts, loads, gains
ranges          values and distributions, with units                 dimensions   the units of parameters
design          which values run number k has                        listed       lists of runs from CSV
measures        expressions over a run; reductions: over time        experiment   blocks of runs in lanes
closing         loops closed for all runs at once                    rollouts     equal steps, many groups in one call
evaluation      from rows to measures                                store        zarr on disk, shard by shard
engines         threads, processes, Dask                             indices      Sobol indices and others
grids           tables as grids                                      plots        pictures of tables
"""

from __future__ import annotations

from .definition import Estimate, Study, study
from .grids import as_grid
from .indices import METHODS
from .measures import vectorised
from .plotting import PLOTS, plot, save
from .ranges import DISTRIBUTIONS, lognormal, loguniform, normal, triangular, uniform
from .reductions import REDUCTIONS
from .store import open_study

__all__ = [
    "DISTRIBUTIONS", "METHODS", "PLOTS", "REDUCTIONS", "Estimate", "Study", "as_grid", "loguniform", "lognormal", "normal", "open_study", "plot", "save",
    "study", "triangular", "uniform", "vectorised",
]  # fmt: skip
