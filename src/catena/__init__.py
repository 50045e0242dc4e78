"""catena: the dynamics of articulated bodies.

    file or Python -> Mechanism -> Equations (by a formulation) -> Kernel -> question or simulation
    -> Result -> picture, page, study

The public names, in the order of that flow. Each is loaded when it is first used, so that `import
catena` is quick. The packages behind them can be used too: `catena.formats.examples()`,
`catena.analysis.static_torques(...)`.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from .doors import ShortNames, door

if TYPE_CHECKING:
    __version__: str
    from . import (
        analysis,
        certify,
        cli,
        collision,
        compiler,
        contact,
        control,
        env,
        equations,
        errors,
        exports,
        formats,
        identification,
        kernels,
        linkages,
        machine,
        model,
        optimization,
        report,
        results,
        sensitivity,
        sensors,
        simulation,
        studies,
        studio,
        synthesis,
        teaching,
    )
    from .analysis import assemble, equilibrium, linearize, modes
    from .analysis.clearance import clearance
    from .analysis.contact_ranges import contact_ranges
    from .analysis.hybrid_dynamics import hybrid_dynamics
    from .analysis.impulse import impulse
    from .analysis.inverse_kinematics import inverse_kinematics
    from .analysis.mobility import mobility
    from .analysis.operational_space import operational_space
    from .certify import check, compare
    from .equations import ALL_FORMULATIONS, Equations, derive, frames, variation
    from .errors import CatenaError
    from .formats import load, robots, save
    from .identification import fit
    from .machine import Machine, bridge, compile
    from .model import (
        JOINT_KINDS,
        Beam,
        Body,
        CollisionFilter,
        Contact,
        Frame,
        Joint,
        Mechanism,
        Mimic,
        Pose,
        Shape,
        attach,
    )
    from .model.loads import (
        Bushing,
        Force,
        JointForce,
        JointSpring,
        KnifeEdge,
        Rolling,
        SpeedRow,
        Spring,
    )
    from .optimization import optimize
    from .results import Result, interference, load_result
    from .sensitivity import sensitivities
    from .simulation import ALL_INTEGRATORS, events, simulate, trajectories
    from .studies import Study, study
    from .synthesis import synthesize

__all__ = [
    "load",
    "robots",
    "save",
    "Pose",
    "Shape",
    "CollisionFilter",
    "Body",
    "Contact",
    "Beam",
    "Joint",
    "JOINT_KINDS",
    "Mimic",
    "Frame",
    "Mechanism",
    "attach",
    "JointSpring",
    "Spring",
    "Bushing",
    "Force",
    "JointForce",
    "KnifeEdge",
    "Rolling",
    "SpeedRow",
    "Equations",
    "derive",
    "ALL_FORMULATIONS",
    "check",
    "compare",
    "frames",
    "variation",
    "compile",
    "Machine",
    "assemble",
    "mobility",
    "hybrid_dynamics",
    "operational_space",
    "impulse",
    "equilibrium",
    "linearize",
    "modes",
    "inverse_kinematics",
    "clearance",
    "contact_ranges",
    "simulate",
    "ALL_INTEGRATORS",
    "Result",
    "load_result",
    "interference",
    "study",
    "Study",
    "fit",
    "sensitivities",
    "optimize",
    "synthesize",
    "control",
    "trajectories",
    "events",
    "bridge",
    "errors",
    "CatenaError",
]

_load, __dir__ = door(__name__)
sys.meta_path.append(
    ShortNames(
        __name__,
        {
            "bridge": "catena.machine.bridge",
            "events": "catena.simulation.events",
            "trajectories": "catena.simulation.trajectories",
        },
    )
)


def __getattr__(name: str) -> object:
    if name != "__version__":
        return _load(name)
    from importlib.metadata import version  # what was installed: the tag of the source

    return version("catena")
