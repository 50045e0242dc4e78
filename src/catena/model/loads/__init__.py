"""Loads (forces on a mechanism other than gravity and motors), and speed rows and position rows
(constraints of its speeds and coordinates other than loops).

    keys         Load, Nonholonomic and Holonomic, the three families; the keys that their members
                 have; LOADS, ROWS, CONSTRAINTS
    actions      Action: where on bodies the force of a position row acts
    springs      JointSpring, CoordinateSpring, Spring, Cable, Bushing, and the Strain of a flexible
                 body
    forces       Force, JointForce
    tension      Tension
    compliant_contact   CompliantContact
    machines     Drag, Clutch, Freewheel
    fluid        Fluid
    speed_rows   KnifeEdge, Rolling, SpeedRow
    position_rows   Constraint, Drive, Coupling
    gears        GearPair, Belt, RackAndPinion, Screw
    cams         Cam

Values are SI or expressions of parameters. Expressions in `Force`, `JointForce` and `SpeedRow` may
use t, the parameters, and every coordinate and speed: q_<name> and v_<name>, where a dot in a
coordinate's name is written as an underscore (q_base_x).
"""

from typing import TYPE_CHECKING

from ...doors import door
from .actions import Action, Freedom, Line, Sites
from .cams import Cam
from .compliant_contact import CompliantContact
from .fluid import Fluid
from .forces import Force, JointForce
from .gears import Belt, GearPair, RackAndPinion, Screw
from .keys import (
    CONSTRAINTS,
    LOADS,
    ROWS,
    Holonomic,
    Key,
    Load,
    Nonholonomic,
    Places,
    Scene,
    identifier,
    register,
)
from .machines import Clutch, Drag, Freewheel
from .position_rows import Constraint, Coupling, Drive
from .speed_rows import KnifeEdge, Rolling, SpeedRow
from .springs import Bushing, Cable, CoordinateSpring, JointSpring, Spring, Strain
from .tension import Tension

__all__ = [
    "CONSTRAINTS",
    "LOADS",
    "ROWS",
    "Action",
    "Belt",
    "Bushing",
    "Cable",
    "Cam",
    "Clutch",
    "CompliantContact",
    "Constraint",
    "CoordinateSpring",
    "Coupling",
    "Drag",
    "Drive",
    "Fluid",
    "Force",
    "Freedom",
    "Freewheel",
    "GearPair",
    "Holonomic",
    "JointForce",
    "JointSpring",
    "Key",
    "KnifeEdge",
    "Line",
    "Load",
    "Nonholonomic",
    "Places",
    "RackAndPinion",
    "Rolling",
    "Scene",
    "Screw",
    "Sites",
    "SpeedRow",
    "Spring",
    "Strain",
    "Tension",
    "identifier",
    "register",
]

if TYPE_CHECKING:
    from .keys import Keyed

__getattr__, __dir__ = door(__name__)
