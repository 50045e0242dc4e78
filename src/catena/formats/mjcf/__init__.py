"""MJCF: the reader and the writer of MuJoCo's models. MuJoCo itself parses and compiles the file;
all numbers are read from the compiled model.

    MJCF                        catena
    body                        body; without a joint it is fixed to its parent
    joints of a body            joints; several on one body become a chain with massless bodies
                                between them
    joint stiffness, springref  joint_spring
    connect, weld               a ball joint, a fixed joint that closes a loop
    equality joint              mimic, by a function where it is not linear
    equality of fixed tendons   coupling
    tendon, fixed or spatial    coordinate_spring, cable
    site                        frame
    geom, exclude               shape; it collides where its contype or conaffinity lets it;
                                contacts=True: rigid contacts with friction
    gravity, gravcomp           gravity, a force at the centre of mass
    density, viscosity, wind    fluid
    actuator, keyframe          controllers and named states of the scenario, as is the time step

`mapping` reports for every element whether it is taken, approximated or refused. Soft contacts and
soft equalities have no rigid counterpart: their solver parameters are left out.
"""

from typing import TYPE_CHECKING

from ...doors import door
from ..registry import Format

FORMAT = Format(
    "mjcf",
    "MuJoCo's model format",
    (".xml", ".mjcf"),
    "catena.formats.mjcf.reader:read",
    "catena.formats.mjcf.writer:text",
    options=("within", "contacts", "meshes"),
    recognises=lambda head: b"<mujoco" in head,
)

if TYPE_CHECKING:
    from .reader import read
    from .writer import text

__getattr__, __dir__ = door(__name__)
