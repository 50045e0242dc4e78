"""Controllers: laws that map time and state to joint forces, traced into the machine code of a
run.

controllers     PID, PD, computed torque, forces given over time
force_control   impedance control and hybrid force/position control of a frame
drives          motors and servos with limits, delay, backlash, elasticity, friction and heat
actuators       affine motors and servos behind a gear, direct-current motors, thrusters
control_laws    sums, sequences, zero-order hold, and controllers made from Python functions
traced_law      Law: a controller as expressions
named_controls  controllers by name: hold
named_signals   signals of a file's actuators by name, {joint: value}
fmu_control     a functional mock-up unit (FMU) as a controller
wrenches        external wrenches over time, read from a table
"""

from typing import TYPE_CHECKING

from ...doors import door

if TYPE_CHECKING:
    from .actuators import Actuator, DCMotor, HeldInput, Thruster
    from .control_laws import (
        Controller,
        Hold,
        Sequence,
        Sum,
        check_sample_time,
        sample_and_hold,
        traced,
    )
    from .controllers import PD, PID, ComputedTorque, Forces, clip_forces
    from .drives import DRIVE_MODES, Drive, DriveMode
    from .fmu_control import FMU
    from .force_control import Hybrid, Impedance
    from .named_controls import NAMED_CONTROLS, NamedControl, hold
    from .named_signals import controller_of_signals
    from .traced_law import Law
    from .wrenches import wrenches

__getattr__, __dir__ = door(__name__)
