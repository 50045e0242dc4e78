"""URDF: the reader and the writer of the Unified Robot Description Format.

    URDF              catena
    link              body; without <inertial> it has no mass
    joint             joint; its axis is x where the file gives none
    root link         fixed to the ground by "root_joint"; a bare root link called "ground" is the
                      ground itself
    visual            shape
    mimic             mimic

Everything else (collision, transmission, gazebo, ...) is not read, and the mechanism's notes say
what there was.
"""

from typing import TYPE_CHECKING

from ...doors import door
from ..registry import Format
from . import xacro
from .reader import read
from .writer import text

__all__ = ["FORMAT", "XACRO", "read", "text"]

FORMAT = Format(
    "urdf",
    "the Unified Robot Description Format",
    (".urdf", ".xml"),
    read,
    text,
    recognises=lambda head: b"<robot" in head,
)
XACRO = Format(
    "xacro", "URDF with macros", (".xacro",), xacro.read, options=("arguments", "trusted", "within")
)

if TYPE_CHECKING:
    from .writer import SAYABLE

__getattr__, __dir__ = door(__name__)
