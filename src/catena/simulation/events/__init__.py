"""Events: what happens at instants of a run.

records        Impulse, Lock, Release, SwitchContact, When, Stop: frozen records
event_kinds    how each kind is read, checked and handled: a registry
context        what an event may read and do when it happens
event_plan     the events of one run, checked against its mechanism
"""

from typing import TYPE_CHECKING

from ...doors import door

if TYPE_CHECKING:
    from .event_kinds import kind_of
    from .event_plan import plan_events
    from .records import Impulse, InstantEvent, Lock, Release, Stop, SwitchContact, When

__getattr__, __dir__ = door(__name__)
