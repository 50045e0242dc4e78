"""Values by the names of joints, coordinates and speeds, each in the unit of its degree of
freedom.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from ...errors import unknown
from ...formats import describe
from ...formats.toml import Table
from ...model import Mechanism, Motion

DIMENSIONS = {
    "q": ("length", "angle"),
    "v": ("speed", "angular speed"),
    "tau": ("force", "torque"),
    "impulse": ("impulse", "angular impulse"),
    "a": ("acceleration", "angular acceleration"),
    "kp": ("stiffness", "angular stiffness"),
    "ki": ("stiffness per time", "angular stiffness per time"),
    "kd": ("damping", "angular damping"),
    "kp per inertia": ("stiffness per inertia", "stiffness per inertia"),
    "kd per inertia": ("damping per inertia", "damping per inertia"),
    "any": ("any", "any"),
}  # of a slide and of a turn


class StateEntry(NamedTuple):
    """A coordinate or speed: its name, the name of its joint, its label within the joint, its index
    `at` in q or v, and its dimension.
    """

    name: str
    joint: str
    label: str
    at: int
    dimension: str


def state_entries(m: Mechanism, letter: str) -> list[StateEntry]:
    """Return the coordinates ("q") or the speeds ("v" and others), in order."""
    found: list[StateEntry] = []
    for j in m.moving:
        names = j.coordinate_names if letter == "q" else j.speed_names
        each = [
            (f, label) for f in j.freedoms for label in (f.labels if letter == "q" else f.speeds)
        ]
        for name, (f, label) in zip(names, each):
            slides, turns = DIMENSIONS[letter]
            ball = letter == "q" and f.motion == Motion.BALL
            dimension = "number" if ball else slides if f.motion == Motion.SLIDE else turns
            found.append(StateEntry(name, j.name, label, len(found), dimension))
    return found


def common_dimension(m: Mechanism, letter: str) -> str:
    """The dimension of one value for all coordinates or speeds: any of theirs."""
    found = dict.fromkeys(p.dimension for p in state_entries(m, letter))
    return "any" if not found or found.keys() & {"any", "number"} else "|".join(found)


def named_values(t: Table, m: Mechanism, letter: str) -> dict[int, Any]:
    """Return {index: value} of a table such as { elbow = "30 deg", base = [0, 0, 1], arm = { Rz =
    0.3, Dx = "5 cm" } }.
    """
    found: dict[int, Any] = {}
    for place, value, what in _entries(t, state_entries(m, letter), m):
        if place.at in found:
            t.fault(f"{place.name!r} is given twice")
        found[place.at] = t.scalar(value, what, place.dimension, symbolic=False)
    return found


def by_name(t: Table, m: Mechanism, letter: str, count: int | None = None) -> dict[str, Any]:
    """Return {coordinate or speed: number}, or {name: list of `count` numbers} for a table of
    lists.
    """
    known = state_entries(m, letter)
    if count is None:
        values = named_values(t, m, letter)
        return {known[k].name: x for k, x in values.items()}
    found = {}
    for key, values in t.data.items():
        place = next(
            (p for p in known if key in (p.name, p.joint) and (key == p.name or _single(p, known))),
            None,
        )
        if place is None:
            t.fault(unknown("coordinate", key, [p.name for p in known], f"mechanism {m.name!r}"))
            continue
        found[place.name] = t.components(
            values, repr(key), place.dimension, [f"[{k}]" for k in range(count)], symbolic=False
        )
    return found


def _entries(
    t: Table, known: list[StateEntry], m: Mechanism
) -> Iterator[tuple[StateEntry, Any, str]]:
    for key, value in t.data.items():
        own = [p for p in known if p.joint == key]
        exact = [p for p in known if p.name == key]
        if exact and not isinstance(value, (list, Mapping)):
            yield exact[0], value, repr(key)
        elif own and isinstance(value, Mapping):
            yield from _labelled(t, key, own, value)
        elif own and isinstance(value, list) and len(value) == len(own):
            yield from ((p, x, repr(p.name)) for p, x in zip(own, value))
        elif own:
            wanted = (
                f"{len(own)} values are wanted, [{', '.join(p.label for p in own)}]"
                if len(own) > 1
                else "one value is wanted"
            )
            t.fault(f"{key!r} is {describe(value)}; {wanted}")
        else:
            names = list(dict.fromkeys([p.joint for p in known] + [p.name for p in known]))
            t.fault(unknown("coordinate", key, names, f"mechanism {m.name!r}"))


def _labelled(
    t: Table, joint: str, own: list[StateEntry], value: Mapping[str, Any]
) -> Iterator[tuple[StateEntry, Any, str]]:
    """Read a nested table: arm.Rz = 0.3 in TOML is a table `arm` with a key Rz."""
    for label, x in value.items():
        place = next((p for p in own if p.label == label), None)
        if place is None:
            t.fault(unknown("coordinate", label, [p.label for p in own], f"joint {joint!r}"))
        else:
            yield place, x, repr(place.name)


def _single(p: StateEntry, known: list[StateEntry]) -> bool:
    return sum(other.joint == p.joint for other in known) == 1
