"""What each formulation can treat, as data: shown by `catena info` and in the documentation, and proved by the tests."""

from __future__ import annotations

from ..joints import Motion
from ..mechanism import Mechanism

FEATURES = ("trees", "loops", "speed rows", "ball joints", "sliding joints", "floating base", "mimic joints", "armature",
            "loads", "free parameters", "reactions")  # fmt: skip

CAPABILITIES: dict[str, frozenset[str]] = {
    "newton_euler": frozenset(FEATURES),
    "lagrange": frozenset(FEATURES) - {"reactions"},
    "hamilton": frozenset(FEATURES) - {"reactions"},
    "kane": frozenset(FEATURES),
    "boltzmann_hamel": frozenset(FEATURES) - {"loops", "speed rows"},
    "penalty": frozenset(FEATURES) - {"mimic joints", "armature", "reactions"},
    "recursive": frozenset(FEATURES),
    "variational": frozenset(FEATURES) - {"loops", "reactions"},
}


def needs(m: Mechanism) -> set[str]:
    """The features that a mechanism asks of a formulation."""
    motions = {f.motion for j in m.moving for f in j.freedoms}
    asked = {
        "loops": bool(m.loops),
        "speed rows": bool(m.nonholonomic),
        "ball joints": Motion.BALL in motions,
        "sliding joints": bool(motions & {Motion.SLIDE, Motion.SCREW}),
        "floating base": any(j.kind == "free" for j in m.joints),
        "mimic joints": any(j.mimic for j in m.joints),
        "armature": any(x != 0.0 for j in m.moving for x in j.armature),
        "loads": bool(m.loads),
        "free parameters": bool(m.parameters),
    }
    return {"trees", *(name for name, wanted in asked.items() if wanted)}


def applicable(m: Mechanism) -> list[str]:
    """The formulations that can treat a mechanism."""
    return [name for name, can in CAPABILITIES.items() if needs(m) <= can]


def table() -> list[tuple[str, ...]]:
    """A row a formulation, a mark a feature."""
    return [(name, *("yes" if feature in can else "-" for feature in FEATURES)) for name, can in CAPABILITIES.items()]
