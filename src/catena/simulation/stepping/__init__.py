"""Time stepping: contacts by steps of equal length instead of events.

time_stepping     the step: two tapes, and between them the contact problem
stepping_plan     what was asked, checked
stepped_patches, stepped_hulls, stepped_rims
                  the contact points of pairs of shapes in a step
"""

from typing import TYPE_CHECKING

from ...doors import door

if TYPE_CHECKING:
    from .time_stepping import Stepper, stepper

__getattr__, __dir__ = door(__name__)
