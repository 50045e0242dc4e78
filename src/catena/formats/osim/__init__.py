"""OpenSim: the reader of .osim models, of version 3 (a joint inside each body) and of version 4 (a
set of joints).

    OpenSim                         catena
    Body                            body
    PinJoint, SliderJoint, ...      joints of one freedom each, slides before turns, with massless
                                    bodies between them
    CustomJoint                     the same; what is a function of a coordinate follows it by a
                                    spline or polynomial
    Coordinate                      the coordinate of that name, its range, and its default value in
                                    the scenario
    CoordinateCouplerConstraint     mimic by a function
    Marker                          frame
    muscles                         with muscles=True a tension along their points, activation times
                                    largest force

Muscles that wrap around surfaces, contact and controllers are not taken; `mapping` names each.
"""

from ..registry import Format
from .reader import read

__all__ = ["FORMAT", "read"]

FORMAT = Format("osim", "OpenSim's model format", (".osim",), read, options=("muscles",))
