"""catena: the dynamics of articulated bodies.

    file or Python -> Mechanism -> Equations (by a formulation) -> Kernel -> question or simulation
    -> Result -> picture, page, study

The public names, in the order of that flow. Each is loaded when it is first used, so that `import
catena` is quick. The rooms behind them can be reached too: `catena.formats.examples()`,
`catena.analysis.static_torques(...)`.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType

_WHERE = {  # public name -> the module it lives in, and its name there if it is another
    "load": "formats",
    "save": "formats",
    "Pose": "model.pose",
    "Shape": "model.mechanism",
    "CollisionFilter": "model.shapes",
    "Body": "model.mechanism",
    "Contact": "model.mechanism",
    "Beam": "model.beams",
    "Joint": "model.mechanism",
    "JOINT_KINDS": "model.joint_kinds:KINDS",
    "Mimic": "model.mechanism",
    "Frame": "model.mechanism",
    "Mechanism": "model.mechanism",
    "attach": "model.scenes",
    "JointSpring": "model.loads",
    "Spring": "model.loads",
    "Bushing": "model.loads",
    "Force": "model.loads",
    "JointForce": "model.loads",
    "KnifeEdge": "model.loads",
    "Rolling": "model.loads",
    "SpeedRow": "model.loads",
    "Equations": "equations.equations",
    "derive": "equations.formulations",
    "ALL_FORMULATIONS": "equations.formulations",
    "check": "certify",
    "compare": "certify",
    "frames": "equations.algebra",
    "variation": "equations.algebra",
    "compile": "machine.machine",
    "Machine": "machine.machine",
    "assemble": "analysis.assembly",
    "mobility": "analysis.mobility",
    "hybrid_dynamics": "analysis.hybrid_dynamics",
    "impulse": "analysis.impulse",
    "equilibrium": "analysis.statics",
    "linearize": "analysis.linearization",
    "modes": "analysis.vibration",
    "inverse_kinematics": "analysis.inverse_kinematics",
    "clearance": "analysis.clearance",
    "contact_ranges": "analysis.contact_ranges",
    "simulate": "simulation",
    "ALL_INTEGRATORS": "simulation",
    "Result": "results.result",
    "load_result": "results.result",
    "interference": "results.interference",
    "study": "studies",
    "Study": "studies",
    "fit": "studies",
    "sensitivities": "studies.sensitivity",
    "optimize": "studies.optimal.optimize",
    "control": "simulation.control",
    "trajectories": "simulation.trajectories",
    "events": "simulation.events",
    "bridge": "machine.bridge",
    "errors": "errors",
    "CatenaError": "errors",
}
# public names that are modules themselves
_MODULES = {"bridge", "control", "errors", "events", "trajectories"}
_ROOMS = (
    "model",
    "formats",
    "kernels",
    "compiler",
    "equations",
    "machine",
    "analysis",
    "results",
    "simulation",
    "certify",
    "studies",
    "exports",
    "cli",
)

__all__ = [*_WHERE]

if TYPE_CHECKING:
    __version__: str
    from . import (
        analysis,
        certify,
        cli,
        compiler,
        equations,
        errors,
        exports,
        formats,
        kernels,
        machine,
        model,
        results,
        simulation,
        studies,
    )
    from .analysis.assembly import assemble
    from .analysis.clearance import clearance
    from .analysis.contact_ranges import contact_ranges
    from .analysis.hybrid_dynamics import hybrid_dynamics
    from .analysis.impulse import impulse
    from .analysis.inverse_kinematics import inverse_kinematics
    from .analysis.linearization import linearize
    from .analysis.mobility import mobility
    from .analysis.statics import equilibrium
    from .analysis.vibration import modes
    from .certify import check, compare
    from .equations.algebra import frames, variation
    from .equations.equations import Equations
    from .equations.formulations import ALL_FORMULATIONS, derive
    from .errors import CatenaError
    from .formats import load, save
    from .machine import bridge
    from .machine.machine import Machine, compile
    from .model.beams import Beam
    from .model.joint_kinds import KINDS as JOINT_KINDS
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
    from .model.mechanism import Body, Contact, Frame, Joint, Mechanism, Mimic, Shape
    from .model.pose import Pose
    from .model.scenes import attach
    from .model.shapes import CollisionFilter
    from .results.interference import interference
    from .results.result import Result, load_result
    from .simulation import ALL_INTEGRATORS, control, events, simulate, trajectories
    from .studies import Study, fit, study
    from .studies.optimal.optimize import optimize
    from .studies.sensitivity import sensitivities


class _PublicModules:
    """Lets `import catena.bridge` find the module that `catena.bridge` is, wherever it lives."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec of a public module by its short name."""
        from importlib.machinery import ModuleSpec

        room, _, own = name.rpartition(".")
        if room != __name__ or own not in _MODULES or _WHERE[own] == own:
            return None
        return ModuleSpec(name, _PublicModules)  # type: ignore[arg-type]  # a loader, as a class

    @staticmethod
    def create_module(spec: ModuleSpec) -> ModuleType:
        """The module itself; the import system then lays the spec of the short name on it."""
        module: ModuleType = __getattr__(spec.name.rpartition(".")[2])
        spec.loader_state = module.__spec__
        return module

    @staticmethod
    def exec_module(module: ModuleType) -> None:
        """Give the module its own spec back: it was run under its full name."""
        assert module.__spec__ is not None
        module.__spec__ = module.__spec__.loader_state


sys.meta_path.append(_PublicModules)  # type: ignore[arg-type]


def _version() -> str:
    """What was installed: the version comes from the tag of the source."""
    from importlib.metadata import version

    return version("catena")


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return _version()
    if name in _ROOMS:
        return import_module(f".{name}", __name__)
    if name not in _WHERE:
        raise AttributeError(f"module 'catena' has no attribute {name!r}")
    path, _, own = _WHERE[name].partition(":")
    module = import_module(f".{path}", __name__)
    value = module if name in _MODULES else getattr(module, own or name)
    if not name.startswith("ALL_"):  # families may grow
        globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_WHERE, *_ROOMS})
