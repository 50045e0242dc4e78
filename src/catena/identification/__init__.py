"""Identification: from a log of a motion to the parameters of a mechanism.

log --measured_motion--> q, v, a, tau --unknowns--> W --base_parameters--> identifiable combinations
--fitting--> Fit --fitted_mechanism--> Mechanism

fitting               `catena.fit`: least squares with confidence; fit_record: its outcome
unknowns              groups of parameters, and their columns of the regressor
measured_motion       logs, filtered and differentiated; measured_trajectory: logs without changes
base_parameters       the combinations of parameters on which the forces depend
consistency           physically consistent inertias
excitation            motions along which the unknowns are identified best
trajectory_fit        fits of any parameter to a measured trajectory, by multiple shooting
momentum_observer     external forces without accelerations, for collisions
recursive_estimation  parameters while the robot moves
logs/                 logs of any format, checked, at even times
drives/               `fit_drives`: motor currents or forces, predicted from a motion
"""

from typing import TYPE_CHECKING

from ..doors import door

if TYPE_CHECKING:
    from .base_parameters import BaseParameters, base_parameters, inertial_names
    from .consistency import Inertias, pseudo_inertia
    from .drives import (
        FRICTION_LAWS,
        DriveFit,
        DriveModel,
        LogError,
        Payload,
        feasible,
        fit_drives,
        payload,
    )
    from .excitation import Excitation, excitation
    from .fit_record import Fit, FittedValue
    from .fitting import fit
    from .logs import LOG_READERS, condition, coupling_matrix, read_log
    from .measured_motion import MeasuredMotion, measured_motion
    from .momentum_observer import external_forces
    from .recursive_estimation import RecursiveEstimate, recursive_estimate
    from .unknowns import GROUPS

__getattr__, __dir__ = door(__name__)
