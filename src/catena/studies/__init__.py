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

    log --measured_motion--> q, v, a, tau --unknowns--> W --base_parameters--> what can be told --fitting--> Fit --fitted_mechanism--> Mechanism

fitting         `catena.fit`: least squares with confidence          unknowns     groups of parameters, and their columns
measured_motion logs, filtered and differentiated                    consistency  inertias that a body can have
base_parameters what the structure tells                             excitation   motions that tell much
"""

from __future__ import annotations

from .base_parameters import BaseParameters, base_parameters, inertial_names
from .consistency import Inertias, pseudo_inertia
from .definition import Estimate, Study, study
from .excitation import Excitation, excitation
from .fitting import Fit, FittedValue, fit
from .grids import as_grid
from .indices import METHODS
from .measured_motion import MeasuredMotion, measured_motion
from .measures import vectorised
from .plotting import PLOTS, plot, save
from .ranges import DISTRIBUTIONS, lognormal, loguniform, normal, triangular, uniform
from .reductions import REDUCTIONS
from .store import open_study
from .unknowns import GROUPS

__all__ = [
    "DISTRIBUTIONS", "GROUPS", "METHODS", "PLOTS", "REDUCTIONS", "BaseParameters", "Estimate", "Excitation", "Fit", "FittedValue", "Inertias", "MeasuredMotion", "Study",
    "as_grid", "base_parameters", "excitation", "fit", "inertial_names", "loguniform", "lognormal", "measured_motion", "normal", "open_study", "plot",
    "pseudo_inertia", "save", "study", "triangular", "uniform", "vectorised",
]  # fmt: skip
