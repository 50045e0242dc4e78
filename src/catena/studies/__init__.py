"""Studies: from one run to a million, on one machine or a cluster.

    study --variables, design--> run number k --experiment--> rows --measures--> table --indices,
    plots--> what matters

definition  Study: what `catena.study` makes, and `run`  variables
        what can vary: parameters, starts, loads, gains
ranges          values and distributions, with units            dimensions   the units of parameters
design          which values run number k has                    listed       lists of runs from CSV
measures   expressions over a run; reductions: over time        experiment   blocks of runs in lanes
closing         loops closed for all runs at once  rollouts     equal steps, many groups in one call
evaluation      from rows to measures                      store        zarr on disk, shard by shard
engines         threads, processes, Dask                       indices      Sobol indices and others
grids           tables as grids                                      plots        pictures of tables

    log --measured_motion--> q, v, a, tau --unknowns--> W --base_parameters--> what can be told
    --fitting--> Fit --fitted_mechanism--> Mechanism

fitting  `catena.fit`: least squares with confidence  unknowns
        groups of parameters, and their columns
measured_motion logs, filtered and differentiated         consistency  inertias that a body can have
base_parameters what the structure tells                         excitation   motions that tell much
sensitivity  derivatives of a run: `catena.sensitivities`  linearised
        a system's tapes and their derivatives
directions  with respect to what; outputs: of what  legs
        a run cut at its events; saltation: across them
optimal/  optimal motions and designs: `catena.optimize`  optimize_file
        the table [optimize] of a file
integration     a leg with its variations                  adjoint      the steps of a leg backwards
"""

from __future__ import annotations

from .base_parameters import BaseParameters, base_parameters, inertial_names
from .consistency import Inertias, pseudo_inertia
from .definition import Estimate, Study, study
from .excitation import Excitation, excitation
from .fit_record import Fit, FittedValue
from .fitting import fit
from .grids import as_grid
from .indices import METHODS
from .measured_motion import MeasuredMotion, measured_motion
from .measures import vectorised
from .optimal.costs import COSTS
from .optimal.design import Design
from .optimal.optimize import optimize
from .optimal.optimum import Optimum
from .optimal.poses import POSE_COSTS
from .optimal.transcription import TRANSCRIPTIONS
from .optimize_file import read_optimize
from .plotting import PLOTS, plot, save
from .ranges import DISTRIBUTIONS, lognormal, loguniform, normal, triangular, uniform
from .reductions import REDUCTIONS
from .sensitivity import Sensitivities, sensitivities
from .store import open_study
from .unknowns import GROUPS

__all__ = [
    "COSTS",
    "DISTRIBUTIONS",
    "GROUPS",
    "METHODS",
    "PLOTS",
    "POSE_COSTS",
    "REDUCTIONS",
    "TRANSCRIPTIONS",
    "BaseParameters",
    "Design",
    "Estimate",
    "Excitation",
    "Fit",
    "FittedValue",
    "Inertias",
    "MeasuredMotion",
    "Optimum",
    "Sensitivities",
    "Study",
    "as_grid",
    "base_parameters",
    "excitation",
    "fit",
    "inertial_names",
    "lognormal",
    "loguniform",
    "measured_motion",
    "normal",
    "open_study",
    "optimize",
    "plot",
    "pseudo_inertia",
    "read_optimize",
    "save",
    "sensitivities",
    "study",
    "triangular",
    "uniform",
    "vectorised",
]
