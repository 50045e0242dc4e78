"""Sensitivities: derivatives of the outcome of a run, exact across events.

sensitivities      `catena.sensitivities`
directions         with respect to what: parameters, starts, joint forces; outputs: of what
smooth_segments    the nominal run, cut at its events into segments on which the system is smooth
event_maps         what an event does to the state, traced; saltation: to a variation of it
grazing            guards that touch zero between two steps
integration        a segment with its variations; adjoint: the steps of a segment backwards
linearised         a first-order system and its exact derivatives as tapes
start_variations   variations of a start that keep what holds there
"""

from typing import TYPE_CHECKING

from ..doors import door

if TYPE_CHECKING:
    from .directions import Wanted, wanted
    from .integration import span
    from .linearised import Linearised
    from .outputs import expression, symbols
    from .sensitivities import Sensitivities, planned, sensitivities
    from .smooth_segments import Leg

__getattr__, __dir__ = door(__name__)
