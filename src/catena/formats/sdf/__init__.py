"""SDF: the reader of the Simulation Description Format of Gazebo, which holds closed loops.

    SDF                         catena
    link                        body
    joint                       joint; joints that reach a link twice close loops, cut where the
                                fewest properties are lost
    axis dynamics, limit        damping, friction, limits; spring_stiffness: a joint_spring
    frame                       frame
    visual, collision           shapes
    gravity of a world          gravity

A model that is joined to nothing is held by its first link, as a URDF's root; `floating=True`
releases it, as Gazebo does.
"""

from typing import TYPE_CHECKING

from ...doors import door
from ..registry import Format

FORMAT = Format(
    "sdf",
    "the Simulation Description Format of Gazebo",
    (".sdf", ".world"),
    "catena.formats.sdf.reader:read",
)

if TYPE_CHECKING:
    from .reader import read

__getattr__, __dir__ = door(__name__)
