"""Handlers: what is done when a guard falls to zero or a scheduled instant comes.

event_handler       one run; batch_events: many runs in lanes; context: what handlers read of a run
inertia             the mass matrix at an event; open_impact: impacts without loops and contacts
mode_choice         which joints stick, slip or rest on a stop afterwards
accumulation        infinitely many impacts in a finite time (Zeno); event_storm: events without end
touching_stops      stops that share an impact with contacts
contact_handler     contacts: impacts, then modes; contact_terms: their Jacobian, speeds and gaps
contact_impacts     impacts where gaps close; contact_shares: forces that are not determined
patch_handler       the features by which two shapes touch; rim_handler: round ends on planes
"""

from typing import TYPE_CHECKING

from ...doors import door

if TYPE_CHECKING:
    from .contact_impacts import Hit
    from .event_handler import EventHandler, Occurrence

__getattr__, __dir__ = door(__name__)
