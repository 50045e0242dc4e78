"""What a mechanism can be asked: one file a question, each a function of a Mechanism or a Machine first.

hybrid_dynamics      motion of some coordinates, forces of others: the rest                            hybrid.py
impulse              blows at points and joints, capture, sudden lock                                  blow.py
reactions            the wrench in every joint, loops included                                         reaction.py
inverse_dynamics     the forces of a motion, for a named set of motors, with loops                     actuation.py
equilibrium          where it stays still; static_torques: what holds it                               statics.py
linearize            state matrices, poles                                                             linear.py
modes                natural frequencies, damping ratios, shapes; highest_frequency: for a step        vibration.py
inverse_kinematics   coordinates that bring a frame somewhere; kinematics: drive some, get all         reach.py
routes               constrained dynamics by other routes, to check the machine against                routes.py
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

_WHERE = {
    "hybrid_dynamics": "hybrid",
    "impulse": "blow",
    "Impulse": "blow",
    "Target": "capture",
    "reactions": "reaction",
    "inverse_dynamics": "actuation",
    "Actuation": "actuation",
    "equilibrium": "statics",
    "static_torques": "statics",
    "linearize": "linear",
    "Linear": "linear",
    "modes": "vibration",
    "Modes": "vibration",
    "highest_frequency": "vibration",
    "inverse_kinematics": "reach",
    "kinematics": "drive",
    "Motion": "drive",
}
__all__ = [
    "Actuation",
    "Impulse",
    "Linear",
    "Modes",
    "Motion",
    "Target",
    "equilibrium",
    "highest_frequency",
    "hybrid_dynamics",
    "impulse",
    "inverse_dynamics",
    "inverse_kinematics",
    "kinematics",
    "linearize",
    "modes",
    "reactions",
    "static_torques",
]

if TYPE_CHECKING:
    from .actuation import Actuation, inverse_dynamics
    from .blow import Impulse, impulse
    from .capture import Target
    from .drive import Motion, kinematics
    from .hybrid import hybrid_dynamics
    from .linear import Linear, linearize
    from .reach import inverse_kinematics
    from .reaction import reactions
    from .statics import equilibrium, static_torques
    from .vibration import Modes, highest_frequency, modes


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module 'catena.questions' has no attribute {name!r}")
    return getattr(import_module(f".{_WHERE[name]}", __name__), name)
