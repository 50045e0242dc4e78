"""Drives: from logs of a robot to a model that predicts its motor currents or joint forces.

logs --joint_columns--> columns --normal_equations--> sums --model_search, selection--> laws
--drive_fit--> DriveFit

drive_fit             `fit_drives`; drive_record: its outcome; drive_model: the model of efforts
friction_laws         the family of friction laws
joint_columns         the columns of each joint along a log
normal_equations      least squares with shared inertial parameters, from sums of products
model_search          the basic model, loads, candidates; selection: cross-validation between logs
payload               loads, and the scale of gains by a known mass
feasible              consistent inertias, and the mechanism with what was found
covariance            intervals; coloured_noise: the autoregression of residuals
"""

from typing import TYPE_CHECKING

from ...doors import door

if TYPE_CHECKING:
    from .drive_fit import fit_drives
    from .drive_model import DriveModel
    from .drive_record import DriveFit, LogError
    from .feasible import feasible
    from .friction_laws import FRICTION_LAWS, FrictionLaw
    from .payload import Payload, payload

__getattr__, __dir__ = door(__name__)
