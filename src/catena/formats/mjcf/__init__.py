"""MJCF: the reader of MuJoCo's models. MuJoCo itself parses and compiles the file; every number is one of its compiled model.

    MJCF                        catena
    body                        body; without a joint it is fixed to its parent
    joints of a body            joints; several on one body become a chain with massless bodies between them
    joint stiffness, springref  joint_spring
    connect, weld               a ball joint, a fixed joint that closes a loop
    equality joint              mimic, where it is linear
    tendon, fixed or spatial    tendon_spring, cable
    site                        frame
    geom                        shape; it collides where its contype or conaffinity lets it
    gravity, gravcomp           gravity, a force at the centre of mass

`mapping` says of every element whether it is taken, approximated or refused. Soft contacts and soft equalities have no rigid
counterpart: their solver parameters are left out.
"""

from ..registry import Format
from .reader import read

__all__ = ["FORMAT", "read"]

FORMAT = Format(
    "mjcf", "MuJoCo's model format", (".xml", ".mjcf"), read, options=("within",),
    recognises=lambda head: b"<mujoco" in head,
)  # fmt: skip
