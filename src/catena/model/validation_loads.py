"""What can be wrong with loads and speed rows; the second page of `validate`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..errors import ExpressionError, unknown
from .loads import Bushing, Force, JointForce, JointSpring, KnifeEdge, Load, Nonholonomic, Rolling, SpeedRow, Spring, identifier
from .mechanism import GROUND, Mechanism


def load_faults(m: Mechanism) -> Iterator[str]:
    """Every fault of the loads and rows of a mechanism whose bodies and joints are sound."""
    coordinates = [n for j in m.moving for n in j.coordinate_names]
    speeds = [n for j in m.moving for n in j.speed_names]
    known = set(speeds)
    alike = dict.fromkeys(n for n in coordinates if n in known)  # a quaternion has no speed of its name
    frames = [GROUND, *m._bodies, *m._frames]
    names = ["t", *m.parameters, *(f"q_{identifier(n)}" for n in coordinates), *(f"v_{identifier(n)}" for n in speeds)]
    for k, thing in enumerate((*m.loads, *m.nonholonomic)):
        here = f"{'load' if k < len(m.loads) else 'row'} {thing.name!r}"
        for frame in _frames(thing):
            if frame not in frames:
                yield f"{here}: {unknown('frame', frame, frames)}"
        coordinate = getattr(thing, "coordinate", None)
        both = alike if isinstance(thing, JointSpring) else dict.fromkeys(speeds)
        if coordinate is not None and coordinate not in both:
            yield f"{here}: {unknown('coordinate', coordinate, both)}"
        for text in _texts(thing):
            yield from (f"{here}: {fault}" for fault in _text_faults(text, names))
        yield from (f"{here}: {fault}" for fault in _number_faults(thing, m.parameters))


def _frames(thing: Load | Nonholonomic) -> tuple[str, ...]:
    if isinstance(thing, (Spring, Bushing)):
        return thing.start, thing.end
    return (thing.frame,) if isinstance(thing, (Force, KnifeEdge, Rolling)) else ()


def _texts(thing: Load | Nonholonomic) -> tuple[Any, ...]:
    if isinstance(thing, Force):
        return (*thing.torque, *thing.force)
    if isinstance(thing, JointForce):
        return (thing.force,)
    return (thing.expression,) if isinstance(thing, SpeedRow) else ()


def _text_faults(text: Any, names: list[str]) -> Iterator[str]:
    from .expressions import parse

    if isinstance(text, str):
        try:
            parse(text, names)
        except ExpressionError as why:
            yield str(why)


def _number_faults(thing: Load | Nonholonomic, parameters: Any) -> Iterator[str]:
    from .validation import value_of

    if isinstance(thing, (Spring, Bushing)) and thing.start == thing.end:
        yield f"it joins {thing.start!r} to itself; a spring has two ends"
    if isinstance(thing, Force) and (len(thing.torque) != 3 or len(thing.force) != 3):
        yield f"torque and force have three components each, found {len(thing.torque)} and {len(thing.force)}"
    if isinstance(thing, Force) and thing.axes not in ("world", "body"):
        yield unknown("axes", thing.axes, ("world", "body"))
    if isinstance(thing, Bushing) and (len(thing.stiffness) != 6 or len(thing.damping) != 6):
        yield "stiffness and damping have six values each: three for turning, three for displacement"
        return
    for name in ("stiffness", "damping", "length", "radius"):
        given = getattr(thing, name, 0.0)
        for x in given if isinstance(given, tuple) else (given,):
            value = value_of(x, parameters)
            if value is not None and not value >= 0:
                yield f"{name} is {value:g}; it is zero or more"
    if isinstance(thing, Rolling) and value_of(thing.radius, parameters) == 0:
        yield "radius is 0; a disc that rolls has one above zero"
