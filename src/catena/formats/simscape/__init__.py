"""Simscape: the reader of Simscape Multibody Import XML, which exporters of CAD programs write
(Onshape's, and the free plug-ins for SolidWorks, Inventor and Creo).

    XML                                     catena
    Instance of a Part                      body; its frame is that of the part
    Instance of an Assembly                 nothing of its own; its parts and joints are read
    MassProperties                          mass, centre of mass, inertia
    Revolute, Prismatic, Cylindrical, Planar, Spherical, PinSlot, Rectangular, Cartesian,
    Universal, Gimbal, SixDof, Weld         joint; joints that close a cycle of parts close loops
    grounded="true"                         a fixed joint to the ground
    Transform of the instances              the start of the [scenario] (turning and sliding joints)

Units of the file (DataUnits) become SI. A group of parts that no joint connects to the ground is
free, as in Simscape. Geometry is not read. Files whose parts are held by CAD constraints
(Concentric, Coincident, ...) in place of joints are refused by name.
"""

from typing import TYPE_CHECKING

from ...doors import door
from ..registry import Format

FORMAT = Format(
    "simscape",
    "Simscape Multibody Import XML, which CAD programs export",
    (".xml",),
    "catena.formats.simscape.reader:read",
    recognises=lambda head: b"<SimscapeMultibodyImportXML" in head,
)

if TYPE_CHECKING:
    from .reader import read

__getattr__, __dir__ = door(__name__)
