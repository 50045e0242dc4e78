"""The faults of flexible bodies; a part of `validation`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from .beams import DIRECTIONS, Beam
from .mechanism import Mechanism
from .pose import Scalar
from .values import value_of

STIFFNESSES = {"EI along y": "N m2", "EI along z": "N m2", "EA": "N", "GJ": "N m2"}
MOST_SEGMENTS = 10_000  # more of them are a slip of the pen


def flexible_faults(m: Mechanism) -> Iterator[str]:
    """Yield the faults of beams, and of objects attached outside the length of a flexible body or
    of one of its pieces.
    """
    # of each body along which something may be attached: where it ends, the beam's length
    spans: dict[str, tuple[Scalar, Scalar]] = {}
    for b in m.bodies:
        if b.flexible is not None:
            found = list(beam_faults(b.flexible, m.parameters))
            yield from (f"body {b.name!r}: {fault}" for fault in found)
            spans |= {} if found else {b.name: (b.flexible.length, b.flexible.length)}
    for flexed in m.beams:
        ends = flexed.stations if flexed.modal else (*flexed.stations[1:], flexed.beam.length)
        spans |= {
            name: (end - x, flexed.beam.length)
            for name, x, end in zip(flexed.bodies, flexed.stations, ends)
        }
    yield from _attached(m, spans)


def beam_faults(beam: Beam, parameters: Mapping[str, float]) -> Iterator[str]:
    """Yield every fault of one beam."""
    yield from _numbers(beam, parameters)
    yield from _way(beam)


def _numbers(beam: Beam, parameters: Mapping[str, float]) -> Iterator[str]:
    for name, unit in (("length", "m"), ("rhoA", "kg/m")):
        given = getattr(beam, name)
        value = _value(given, parameters)
        if given is None or value is None or not 0 < value < math.inf:
            found = "is missing" if given is None else f"is {_shown(given, value)} {unit}"
            yield f"{name} {found}; a beam has a {name} above zero"
    if isinstance(beam.EI, tuple) and len(beam.EI) != 2:
        yield f"EI has {len(beam.EI)} values; it is one, or two: along y and along z"
        return
    stiffness = dict(zip(STIFFNESSES, beam.stiffness.values()))
    for name, given in stiffness.items():
        value = None if given is None else _value(given, parameters)
        if given is not None and (value is None or not 0 < value < math.inf):
            one = name.partition(" ")[0] if not isinstance(beam.EI, tuple) else name
            if one != "EI" or name.endswith("y"):
                yield (
                    f"{one} is {_shown(given, value)} {STIFFNESSES[name]}; a stiffness is above"
                    " zero, and infinite where it is left out"
                )
    if all(given is None for given in stiffness.values()):
        yield (
            "EI, EA and GJ are all left out; a flexible body needs at least one of them, or is a"
            " rigid body with mass and inertia"
        )
    for name in ("rhoJ", "damping"):
        value = _value(getattr(beam, name), parameters)
        if value is None or not 0 <= value < math.inf:
            yield f"{name} is {_shown(getattr(beam, name), value)}; it is zero or more"
    if beam.GJ is not None and not _value(beam.rhoJ, parameters):
        yield (
            "GJ lets it twist, but rhoJ is 0: twisting has no inertia; give rhoJ in kg m, or leave"
            " GJ out"
        )


def _way(beam: Beam) -> Iterator[str]:
    """Yield the faults of `segments` and `modes`: exactly one must be given, and it must be a
    positive count.
    """
    if (beam.modes is None) == (beam.segments is None):
        found = (
            "neither modes nor segments is" if beam.modes is None else "both modes and segments are"
        )
        yield (
            f"{found} given; give one: segments = 20 for pieces with springs, or modes = 4 for"
            " shapes with amplitudes"
        )
    if beam.segments is not None and not (
        _whole(beam.segments) and 1 <= beam.segments <= MOST_SEGMENTS
    ):
        yield f"segments is {beam.segments!r}; it is a whole number from 1 to {MOST_SEGMENTS}"
    if beam.modes is None:
        return
    table = isinstance(beam.modes, tuple)
    for name, count in beam.modes if table else (("", beam.modes),):
        here = f"modes.{name}" if table else "modes"
        if table and name not in DIRECTIONS:
            yield f"modes has the key {name!r}; it has some of {', '.join(DIRECTIONS)}"
        elif not (_whole(count) and (0 if table else 1) <= count <= 100):
            yield f"{here} is {count!r}; it is a whole number from {0 if table else 1} to 100"
        elif table and count and len(beam.planes) == 2 and beam.stiffness[name] is None:
            stiffness = dict(zip(DIRECTIONS, STIFFNESSES))[name]
            yield (
                f"{here} is {count}, but {stiffness} is left out: it is rigid that way; give"
                f" {stiffness}, or no such modes"
            )
    if table and not any(_whole(count) and count > 0 for _, count in beam.modes):
        yield "modes is a table without a mode; give some of y, z, x, twist, such as { y = 4 }"


def _attached(m: Mechanism, spans: Mapping[str, tuple[Scalar, Scalar]]) -> Iterator[str]:
    """Yield the faults of objects that are attached to a flexible body, or to a piece of one, but
    not between its ends.
    """
    places = [
        (f"joint {j.name!r}", body, X)
        for j in (*m.joints, *m.loops)
        for body, X in ((j.parent, j.placement), (j.child, j.offset))
    ]
    places += [(f"frame {f.name!r}", f.body, f.pose) for f in m.frames]
    modal_joints = {f"joint {j.name!r}" for j in m.elastic if j.deflection}
    for what, body, X in places:
        if body in spans and what not in modal_joints:
            x, end, length = (value_of(y, m.parameters) for y in (X.position[0], *spans[body]))
            if x is not None and not -1e-8 * length <= x <= end + 1e-8 * length:
                piece = "" if end == length else "; attach it to the whole body, before discretise"
                yield (
                    f"{what}: it is attached to body {body!r} at x = {x:g} m; the beam goes from 0"
                    f" to {end:g} m{piece}"
                )


def _value(x: Any, parameters: Mapping[str, float]) -> Any:
    """Return the number of a scalar; None where it is no number, or a parameter has no value."""
    if isinstance(x, bool) or not (isinstance(x, (int, float)) or hasattr(x, "free_symbols")):
        return None
    return value_of(x, parameters)


def _shown(given: Any, value: Any) -> str:
    return (
        f"{value:g}"
        if value is not None
        else repr(given)
        if isinstance(given, (str, bool, int, float))
        else str(given)
    )


def _whole(x: Any) -> bool:
    return isinstance(x, int) and not isinstance(x, bool)
