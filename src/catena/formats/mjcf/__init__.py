"""MJCF: the reader and the writer of MuJoCo's models. MuJoCo itself parses and compiles the file;
every number is one of its compiled model.

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

`mapping` says of every element whether it is taken, approximated or refused. Soft contacts and soft
equalities have no rigid counterpart: their solver parameters are left out.
"""

from ..registry import Format
from .reader import read
from .writer import text

__all__ = ["FORMAT", "read", "text"]

FORMAT = Format(
    "mjcf",
    "MuJoCo's model format",
    (".xml", ".mjcf"),
    read,
    text,
    options=("within", "contacts", "meshes"),
    recognises=lambda head: b"<mujoco" in head,
)
