"""Exports: a whole mechanism for other tools.

    Mechanism -> Plant (a first-order system as CasADi functions) -> C, FMU, MATLAB, Julia, Modelica

plant         the first-order system x' = f(t, x, u, p), its outputs, its projection, its tangent
c_header      all of it in one C header, with integrators
library       that header compiled, and called from Python
fmi/          functional mock-up units, FMI 2 and 3
languages     MATLAB, Julia, Modelica
linkage       URDF, with the rest in a companion file
ros2          a ROS 2 package: kernels as C, a C++ header, a plugin
controller    controllers as C
targets       the registry of exports
"""

from typing import TYPE_CHECKING

from ..doors import door

if TYPE_CHECKING:
    from .controller import c_controller
    from .plant import VERSION
    from .targets import TARGETS, Asked, write

__getattr__, __dir__ = door(__name__)
