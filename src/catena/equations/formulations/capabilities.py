"""What each formulation can treat, as data: shown by `catena info` and in the documentation, and proved by the tests."""

from __future__ import annotations

from ...model.mechanism import Mechanism
from ...model.motions import Motion

FEATURES = ("trees", "loops", "speed rows", "ball joints", "sliding joints", "floating base", "mimic joints", "armature",
            "loads", "free parameters", "reactions", "flexible bodies by modes")  # fmt: skip
RIGID = frozenset({"flexible bodies by modes"})  # what those cannot whose bodies are rigid; segments they can

CAPABILITIES: dict[str, frozenset[str]] = {
    "newton_euler": frozenset(FEATURES) - RIGID,
    "lagrange": frozenset(FEATURES) - {"reactions"},
    "hamilton": frozenset(FEATURES) - {"reactions"},
    "kane": frozenset(FEATURES) - RIGID,
    "boltzmann_hamel": frozenset(FEATURES) - {"loops", "speed rows"} - RIGID,
    "penalty": frozenset(FEATURES) - {"mimic joints", "armature", "reactions"} - RIGID,
    "recursive": frozenset(FEATURES),
    "variational": frozenset(FEATURES) - {"loops", "reactions"},
}


def needs(m: Mechanism) -> set[str]:
    """The features that a mechanism asks of a formulation."""
    motions = {f.motion for j in m.moving for f in j.freedoms if not j.deflection}
    asked = {
        "loops": bool(m.loops),
        "speed rows": bool(m.nonholonomic),
        "ball joints": Motion.BALL in motions,
        "sliding joints": bool(motions & {Motion.SLIDE, Motion.SCREW}),
        "floating base": any(j.nv == 6 for j in m.joints if not j.deflection),
        "mimic joints": any(j.mimic and not j.deflection for j in m.joints),
        "armature": any(x != 0.0 for j in m.moving for x in j.armature),
        "loads": bool(m.loads),
        "free parameters": bool(m.parameters),
        "flexible bodies by modes": any(flexed.modal for flexed in m.beams),
    }
    return {"trees", *(name for name, wanted in asked.items() if wanted)}


def applicable(m: Mechanism) -> list[str]:
    """The formulations that can treat a mechanism."""
    return [name for name, lacks in missing(m).items() if not lacks]


def missing(m: Mechanism) -> dict[str, list[str]]:
    """For each formulation what the mechanism has that it cannot treat: nothing where it applies."""
    return {name: [feature for feature in FEATURES if feature in needs(m) - can] for name, can in CAPABILITIES.items()}


def table() -> list[tuple[str, ...]]:
    """A row a formulation, a mark a feature."""
    return [(name, *("yes" if feature in can else "-" for feature in FEATURES)) for name, can in CAPABILITIES.items()]
