"""Mechanism synthesis: which linkage draws this path, carries a body through these poses, gives
this function?

    four_bar            FourBar: dimensions, Grashof's type, coupler curve, mechanism
    freudenstein        function generation, exact at three to five points
    burmester           motion generation, exact at four or five poses
    five_points         paths through five points with given pivots, all solutions by homotopy
    path_fit            path generation, least squares from many starts in lanes
    cognates            the three four-bars with the same coupler curve
    defects             the registry of defects of a linkage that satisfies its equations
    tasks               the kinds of tasks: a registry
    synthesis           synthesize: linkages for a task, ranked; pictures draws them
    task_file           the same from a file
    kinematic_chains    type synthesis: all chains with so many links
    cams                cam profiles from motion laws
"""

from typing import TYPE_CHECKING

from ..doors import door

if TYPE_CHECKING:
    from .burmester import Dyad, dyads
    from .cams import (
        MOTION_LAWS,
        CamProfile,
        Follower,
        MotionLaw,
        Segment,
        cam,
        smallest_base_radius,
    )
    from .cognates import cognates
    from .defects import DEFECTS, Defect, Limits
    from .five_points import four_bars_through, generic_solutions
    from .four_bar import FourBar, grashof_type
    from .freudenstein import function_generators
    from .kinematic_chains import kinematic_chains
    from .path_fit import PathFit, fit_path
    from .synthesis import Candidate, Synthesis, synthesize
    from .task_file import read_task
    from .tasks import TASKS, Proposal, Task

__getattr__, __dir__ = door(__name__)
