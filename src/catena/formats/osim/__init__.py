"""OpenSim: the reader of .osim models, of version 3 (a joint inside each body) and of version 4 (a
set of joints).

    OpenSim                         catena
    Body                            body
    PinJoint, SliderJoint, ...      joints of one freedom each, slides before turns, with massless
                                    bodies between them
    CustomJoint                     the same; motions that are functions of a coordinate follow it
                                    by a spline or polynomial
    Coordinate                      the coordinate of that name, its range, and its default value in
                                    the scenario
    CoordinateCouplerConstraint     mimic by a function
    Marker                          frame
    muscles                         with muscles=True a tension along their points, activation times
                                    largest force

Muscles that wrap around surfaces, contact and controllers are not taken; `mapping` names each.
"""

from typing import TYPE_CHECKING

from ...doors import door
from ..registry import Format

FORMAT = Format(
    "osim",
    "OpenSim's model format",
    (".osim",),
    "catena.formats.osim.reader:read",
    options=("muscles",),
)

if TYPE_CHECKING:
    from .reader import read

__getattr__, __dir__ = door(__name__)
