"""Optimization: motions, poses and designs of least cost.

optimize              `catena.optimize`; optimize_file: the table [optimize] of a file
costs, poses          registries of costs of motions and of poses
transcription         discretisations of a motion: collocation, shooting
motion_problem, pose_problem, design
                      the kinds of problems; program, ipopt: how they are solved
optimum               the outcome
"""

from typing import TYPE_CHECKING

from ..doors import door

if TYPE_CHECKING:
    from . import optimize_file
    from .costs import COSTS
    from .design import Design
    from .optimize import optimize
    from .optimize_file import read_optimize
    from .optimum import Optimum
    from .poses import POSE_COSTS
    from .transcription import TRANSCRIPTIONS

__getattr__, __dir__ = door(__name__)
