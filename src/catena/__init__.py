"""catena: the dynamics of articulated bodies.

    file or Python -> Mechanism -> Equations (by a formulation) -> Kernel -> question or simulation -> Result -> picture

The public names, in the order of that flow. Each is loaded when it is first used, so that `import catena` is quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_WHERE = {  # public name -> the room it lives in
    "load": "formats",
    "save": "formats",
    "Pose": "pose",
    "Shape": "mechanism",
    "Body": "mechanism",
    "Beam": "beams",
    "Joint": "mechanism",
    "Mimic": "mechanism",
    "Frame": "mechanism",
    "Mechanism": "mechanism",
    "JointSpring": "loads",
    "Spring": "loads",
    "Bushing": "loads",
    "Force": "loads",
    "JointForce": "loads",
    "KnifeEdge": "loads",
    "Rolling": "loads",
    "SpeedRow": "loads",
    "Equations": "equations",
    "derive": "formulations",
    "ALL_FORMULATIONS": "formulations",
    "check": "certify",
    "compare": "certify",
    "frames": "algebra",
    "variation": "algebra",
    "compile": "machine",
    "Machine": "machine",
    "assemble": "loops",
    "mobility": "loops",
    "hybrid_dynamics": "questions",
    "impulse": "questions",
    "equilibrium": "questions",
    "linearize": "questions",
    "modes": "questions",
    "inverse_kinematics": "questions",
    "simulate": "simulate",
    "ALL_INTEGRATORS": "simulate",
    "Result": "results",
    "load_result": "results",
    "control": "simulate.control",
    "trajectories": "simulate.trajectories",
    "events": "simulate.events",
    "bridge": "bridge",
    "errors": "errors",
    "CatenaError": "errors",
}
_ROOMS = {"bridge", "control", "errors", "events", "simulate", "trajectories"}  # names that are modules themselves

__all__ = [*_WHERE]

if TYPE_CHECKING:
    from . import bridge, errors
    from .algebra import frames, variation
    from .beams import Beam
    from .certify import check, compare
    from .equations import Equations
    from .errors import CatenaError
    from .formats import load, save
    from .formulations import ALL_FORMULATIONS, derive
    from .loads import Bushing, Force, JointForce, JointSpring, KnifeEdge, Rolling, SpeedRow, Spring
    from .loops import assemble, mobility
    from .machine import Machine, compile
    from .mechanism import Body, Frame, Joint, Mechanism, Mimic, Shape
    from .pose import Pose
    from .questions import equilibrium, hybrid_dynamics, impulse, inverse_kinematics, linearize, modes
    from .results import Result, load_result
    from .simulate import ALL_INTEGRATORS, control, events, simulate, trajectories


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module 'catena' has no attribute {name!r}")
    room = import_module(f".{_WHERE[name]}", __name__)
    value = room if name in _ROOMS else getattr(room, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_WHERE])
