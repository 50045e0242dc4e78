"""control = {name: value}: signals of the actuators that came with the mechanism's file, by their
names or those of their joints, and constant forces at joints without an actuator.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from operator import add
from typing import Any

from ...errors import StateError, UnknownNameError
from ...machine import coordinates, where
from ...model import Mechanism
from .actuators import Actuator, Thruster
from .control_laws import Controller

# controllers that files of other formats describe, by the kind that their readers give
OF_FILES: Mapping[str, type[Controller]] = {"actuator": Actuator, "thruster": Thruster}


def controller_of_signals(mechanism: Mechanism, signals: Mapping[str, Any]) -> Controller | None:
    """Return the controller of a run in which the actuators of `mechanism` have these signals, and
    those that are not named the signal of their file.

    signals: {name: number or Trajectory}. A name is that of an actuator, or of a joint that one
    actuator alone drives: there the value is what the actuator takes, such as the angle (rad) of a
    position servo. A joint that no actuator drives takes a force, N m or N. None where there is
    neither an actuator nor a signal.
    """
    actuators: dict[str, dict[str, Any]] = {str(t["name"]): dict(t) for t in mechanism.actuators}
    on: dict[str, list[str]] = {}
    for name, table in actuators.items():
        for coordinate in table.get("gear", ()):
            on.setdefault(coordinate, []).append(name)
    free = {c.name for c in coordinates(mechanism)} - set(on)
    forces: dict[str, Any] = {}
    named: dict[str, str] = {}
    for name, value in signals.items():
        target = name if name in actuators else _of_joint(mechanism, name, on, actuators)
        if target is None and name in free:
            forces[name] = value
            continue
        if target is None:
            known = dict.fromkeys((*actuators, *on, *sorted(free)))
            raise UnknownNameError("actuator or joint", name, known, where(mechanism))
        if target in named:
            raise StateError(
                f"control: actuator {target!r} is given two signals, by the names"
                f" {named[target]!r} and {name!r}; give it one"
            )
        named[target] = name
        actuators[target]["signal"] = value
    parts = [_made(table) for table in actuators.values()]
    parts += [Actuator({name: 1.0}, x, name=name) for name, x in forces.items()]
    return reduce(add, parts) if parts else None


def _of_joint(
    mechanism: Mechanism, joint: str, on: Mapping[str, list[str]], actuators: Mapping[str, Any]
) -> str | None:
    """Return the actuator that alone drives a joint, and it no other; None where none drives it."""
    found = on.get(joint, [])
    if not found:
        return None
    if len(found) > 1 or len(actuators[found[0]]["gear"]) > 1:
        raise StateError(
            f"control: the joint {joint!r} of {where(mechanism)} is not driven by one actuator of"
            f" its own; give the signals of {', '.join(map(repr, found))} by their names"
        )
    return found[0]


def _made(table: Mapping[str, Any]) -> Controller:
    """Return the controller that a table of a file describes."""
    keys = {k: tuple(x) if isinstance(x, list) else x for k, x in table.items() if k != "kind"}
    return OF_FILES[table["kind"]](**keys)
