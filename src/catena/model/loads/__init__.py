"""Loads and speed rows: what acts on a mechanism besides gravity and motors, and what its speeds must obey besides loops.

    keys         Load and Nonholonomic, the two families; the keys that their members have; the registries LOADS and ROWS
    springs      JointSpring, CoordinateSpring, Spring, Cable, Bushing, and the Strain of a flexible body
    forces       Force, JointForce
    tension      Tension
    compliant_contact   CompliantContact
    speed_rows   KnifeEdge, Rolling, SpeedRow

Values are SI or expressions of parameters. Texts in `Force`, `JointForce` and `SpeedRow` may use t, the parameters, and
every coordinate and speed: q_<name> and v_<name>, where a dot in a coordinate's name is written as an underscore (q_base_x).
"""

from .compliant_contact import CompliantContact
from .forces import Force, JointForce
from .keys import LOADS, ROWS, Key, Load, Nonholonomic, Scene, identifier, register
from .speed_rows import KnifeEdge, Rolling, SpeedRow
from .springs import Bushing, Cable, CoordinateSpring, JointSpring, Spring, Strain
from .tension import Tension

__all__ = [
    "LOADS", "ROWS", "Bushing", "Cable", "CompliantContact", "CoordinateSpring", "Force", "JointForce", "JointSpring", "Key", "KnifeEdge", "Load", "Nonholonomic", "Rolling",
    "Scene", "SpeedRow", "Spring", "Strain", "Tension", "identifier", "register",
]  # fmt: skip
