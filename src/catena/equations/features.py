"""Features: the properties of a mechanism that a formulation may be unable to treat, as data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..model import Joint, Mechanism, Motion
from ..model.flexible import discretise

Finder = Callable[[Mechanism], list[str]]


@dataclass(frozen=True)
class Feature:
    """A property of mechanisms that some formulations cannot treat. name: its name.
    among(mechanism): the parts of a discretised mechanism that have it, as a phrase. cure: what a
    user can do whose formulation does not treat it.
    """

    name: str
    among: Finder
    cure: str = ""


def _joints(has: Callable[[Joint], object]) -> Finder:
    """Return a function that lists the joints of a mechanism with a property, without those inside
    flexible bodies.
    """
    return lambda m: [f"joint {j.name!r}" for j in m.joints if not j.deflection and has(j)]


def _motions(*kinds: Motion) -> Finder:
    return _joints(lambda j: {f.motion for f in j.freedoms} & set(kinds))


def _bending(m: Mechanism) -> list[str]:
    return [f"body {x.body!r}" for x in m.beams if x.modal]


FEATURES = {
    feature.name: feature
    for feature in (
        Feature("trees", lambda m: [f"mechanism {m.name!r}"]),
        Feature("loops", lambda m: [f"joint {j.name!r}" for j in m.loops]),
        Feature(
            "position constraints", lambda m: [f"constraint {x.name!r}" for x in m.constraints]
        ),
        Feature("speed rows", lambda m: [f"row {row.name!r}" for row in m.nonholonomic]),
        Feature("ball joints", _motions(Motion.BALL)),
        Feature("sliding joints", _motions(Motion.SLIDE, Motion.SCREW)),
        Feature("floating base", _joints(lambda j: j.nv == 6)),
        Feature("mimic joints", _joints(lambda j: j.mimic and not j.mimic.function)),
        Feature("joints by a function", _joints(lambda j: j.mimic and j.mimic.function)),
        Feature("armature", _joints(lambda j: any(x != 0.0 for x in j.armature))),
        Feature("loads", lambda m: [f"load {x.name!r}" for x in m.loads]),
        Feature("free parameters", lambda m: [f"parameter {name!r}" for name in m.parameters]),
        Feature("reactions", lambda m: []),
        Feature("flexible bodies by modes", _bending, "make the body of segments"),
    )
}


def needs(m: Mechanism) -> list[str]:
    """Return the names of the features that a mechanism has."""
    made = discretise(m)
    return [feature.name for feature in FEATURES.values() if feature.among(made)]
