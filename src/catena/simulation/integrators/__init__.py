"""Integrators: methods as data, and the compiled drivers that step them over lanes.

methods          tableaux, orders and drivers of all methods, a registry
engine           advances one system by one method from an instant to a later one
lane_driver      adaptive steps; lane_events: zeros of guards; lane_records, lane_arithmetic
rosenbrock       adaptive steps of stiff systems; stiffness: when a run goes over to them, and back
fixed_step       equal steps, explicit and implicit; radau: that of SciPy; adjoint_steps: backwards
world_steps      equal steps of many worlds in place, with what is observed of them
lane_runs        the states of many runs, advanced together
sampling         sampled controllers: from one sample to the next
"""

from typing import TYPE_CHECKING

from ...doors import door

if TYPE_CHECKING:
    from . import drivers, fixed_step, world_steps
    from .adjoint_steps import backward, record
    from .engine import Pieces
    from .lane_runs import AdaptiveRuns
    from .methods import METHODS, Method

__getattr__, __dir__ = door(__name__)
