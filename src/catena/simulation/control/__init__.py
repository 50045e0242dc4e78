"""Controllers: laws from time and state to joint forces, traced into a run's machine code.

controllers     PID, PD, computed torque, given forces; force_control: impedance and hybrid control
actuators       affine motors and servos behind a gear, direct-current motors, thrusters
control_laws    how controllers are combined, sampled and held, and made from Python functions
traced_law      Law: a controller as expressions; fmu_control: an FMU as a controller
wrenches        external wrenches over time, from a table
"""

from typing import TYPE_CHECKING

from ...doors import door

if TYPE_CHECKING:
    from .actuators import Actuator, DCMotor, Thruster
    from .control_laws import Controller, Hold, Sequence, Sum, traced
    from .controllers import PD, PID, ComputedTorque, Forces
    from .fmu_control import FMU
    from .force_control import Hybrid, Impedance
    from .traced_law import Law
    from .wrenches import wrenches

__getattr__, __dir__ = door(__name__)
