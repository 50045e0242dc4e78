"""URDF: the reader and the writer of the Unified Robot Description Format.

    URDF              catena
    link              body; without <inertial> it has no mass
    joint             joint; its axis is x where the file gives none
    root link         fixed to the ground by "root_joint"; a bare root link called "ground" is the
                      ground itself
    visual, collision shapes
    mimic             mimic
    transmission      motors in the scenario, and armature of the joint

Other elements (gazebo, ...) are not read, and the mechanism's notes name them.
"""

from typing import TYPE_CHECKING

from ...doors import door
from ..registry import Format

FORMAT = Format(
    "urdf",
    "the Unified Robot Description Format",
    (".urdf", ".xml"),
    "catena.formats.urdf.reader:read",
    "catena.formats.urdf.writer:text",
    recognises=lambda head: b"<robot" in head,
)
XACRO = Format(
    "xacro",
    "URDF with macros",
    (".xacro",),
    "catena.formats.urdf.xacro:read",
    options=("arguments", "trusted", "within"),
)

if TYPE_CHECKING:
    from .reader import read
    from .writer import SAYABLE, text

__getattr__, __dir__ = door(__name__)
