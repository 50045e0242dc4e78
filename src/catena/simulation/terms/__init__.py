"""The terms of the equations of a run, as expressions.

symbols                 the interface by which a term reads the system that it is part of
switched_constraints    rows that events switch on and off: stops, friction, locks, contacts
contact_rows, contact_slots, contact_rims, contact_state, smooth_pairs, touching_pairs
                        contacts as rows that switch
guards, guard_sides     quantities whose fall to zero is an event; their last sides of zero
power                   the power of loads and of rows that depend on time
prescribed              coordinates that follow a trajectory
projection, stabilisation, error_scales
                        keeping loops closed, and the scales on which errors are judged
"""

from typing import TYPE_CHECKING

from ...doors import door

if TYPE_CHECKING:
    from .contact_rims import ROLLS, RimPoint, with_rims
    from .contact_rows import ContactMode
    from .error_scales import FINEST, SHARE
    from .guards import LOWER, Guard, Meaning
    from .symbols import SystemSymbols
    from .touching_pairs import touching_pairs

__getattr__, __dir__ = door(__name__)
