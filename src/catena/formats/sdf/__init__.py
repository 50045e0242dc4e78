"""SDF: the reader of the Simulation Description Format of Gazebo, which holds closed loops.

    SDF                         catena
    link                        body
    joint                       joint; joints that reach a link twice close loops, cut where least
                                is lost
    axis dynamics, limit        damping, friction, limits; spring_stiffness: a joint_spring
    frame                       frame
    visual, collision           shapes
    gravity of a world          gravity

A model that is joined to nothing is held by its first link, as a URDF's root; `floating=True` lets
it go, as Gazebo does.
"""

from ..registry import Format
from .reader import read

__all__ = ["FORMAT", "read"]

FORMAT = Format("sdf", "the Simulation Description Format of Gazebo", (".sdf", ".world"), read)
