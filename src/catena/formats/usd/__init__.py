"""USD: the reader of UsdPhysics, the physics schema of Universal Scene Description.

    USD                                  catena
    prim with PhysicsRigidBodyAPI        body; its frame is that of the prim
    PhysicsMassAPI                       mass, centre of mass, inertia
    Physics{Revolute,Prismatic,Spherical,Fixed}Joint
                                         joint; joints that reach a body twice close loops
    physics:lowerLimit, upperLimit       limits (degrees of a revolute joint become radians)
    physxJoint:armature                  armature
    PhysicsScene                         gravity

Units of the stage (metersPerUnit, kilogramsPerUnit) become SI. Drives and geometry are not read;
the mapping report names each of them. A model that no joint connects to the world is held by its
first body, as a URDF's root; `floating=True` releases it, as USD does. It needs the extra `usd`.
"""

from typing import TYPE_CHECKING

from ...doors import door
from ..registry import Format

FORMAT = Format(
    "usd",
    "UsdPhysics, the physics schema of Universal Scene Description",
    (".usda", ".usd", ".usdc"),
    "catena.formats.usd.reader:read",
)

if TYPE_CHECKING:
    from .reader import read

__getattr__, __dir__ = door(__name__)
