"""Time stepping: contacts by steps of equal length instead of events.

time_stepping     the step: two compiled functions, and between them the contact problem
stepping_plan     the options, checked; tolerances: the defaults of the solver's options
stepped_patches, stepped_hulls, stepped_rims
                  the contact points of pairs of shapes in a step
"""

from typing import TYPE_CHECKING

from ...doors import door

if TYPE_CHECKING:
    from .stepped_patches import pair_pose, pair_twist
    from .stepping_plan import apart, stepped_contacts
    from .time_stepping import Stepper, stepper

__getattr__, __dir__ = door(__name__)
