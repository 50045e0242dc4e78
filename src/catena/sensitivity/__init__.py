"""Sensitivities: derivatives of the outcome of a run, exact across events.

sensitivities      `catena.sensitivities`
directions         the variables: parameters, starts, joint forces; outputs: the quantities
smooth_segments    the nominal run, cut at its events into segments on which the system is smooth
event_maps         the map of the state across an event, traced; saltation: that of a variation
grazing            guards that touch zero between two steps
integration        a segment with its variations; adjoint: the steps of a segment backwards
linearised         a first-order system and its exact derivatives
start_variations   variations of a start that satisfy the constraints there
"""

from typing import TYPE_CHECKING

from ..doors import door

if TYPE_CHECKING:
    from .directions import Variations, find_variations
    from .integration import integrate_segment
    from .linearised import Linearised
    from .outputs import expression, symbols
    from .sensitivities import Sensitivities, planned, sensitivities
    from .smooth_segments import Segment

__getattr__, __dir__ = door(__name__)
