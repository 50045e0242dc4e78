"""Lookup: the machine that answers a question, the indices of names in q and v, and checked states.

Every question takes a Mechanism or a Machine first. A Mechanism is compiled for the call, so
compile it once for several questions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import StateError, UnknownNameError
from ..model import Mechanism, Motion
from ..model.flexible import discretise
from . import arguments
from .machine import Machine

Array = np.ndarray


def machine_of(asked: Mechanism | Machine) -> Machine:
    """Return a Machine as it is, or the Machine compiled from a Mechanism."""
    if isinstance(asked, Machine):
        return asked
    if isinstance(asked, Mechanism):
        return Machine(asked)
    raise StateError(
        f"a question is put to a Mechanism or a Machine, not to a {type(asked).__name__}"
    )


@dataclass(frozen=True)
class Coordinate:
    """A scalar coordinate whose rate is a speed: its name, the name of the speed, their indices in
    q and v, its joint, and its limits (rad, m).
    """

    name: str
    speed: str
    qi: int
    vi: int
    joint: str
    lower: float
    upper: float


def coordinates(asked: Mechanism | Machine) -> tuple[Coordinate, ...]:
    """Return the coordinates whose rate is a speed: all but those of quaternions."""
    found, qi, vi = [], 0, 0
    for j in _mechanism(asked).moving:
        names = j.coordinate_names
        speeds = j.speed_names
        q = 0
        v = 0
        for f in j.freedoms:
            if f.motion != Motion.BALL:
                found.append(
                    Coordinate(
                        names[q],
                        speeds[v],
                        qi + q,
                        vi + v,
                        j.name,
                        float(j.lower[v]),
                        float(j.upper[v]),
                    )
                )
            q, v = q + f.nq, v + f.nv
        qi, vi = qi + q, vi + v
    return tuple(found)


def _mechanism(asked: Mechanism | Machine) -> Mechanism:
    return discretise(asked) if isinstance(asked, Mechanism) else asked.mechanism


def speeds_of(asked: Mechanism | Machine, name: str) -> list[int]:
    """Return the indices in v that a name refers to: all speeds of a joint, or the one speed of a
    coordinate or speed.
    """
    first, m = 0, _mechanism(asked)
    called = name if isinstance(name, str) else None  # an array compares with no name
    for j in m.moving:
        if called == j.name:
            return list(range(first, first + j.nv))
        first += j.nv
    names = list(m.speed_names)
    if called in names:
        return [names.index(name)]
    for c in coordinates(m):
        if called == c.name:
            return [c.vi]
    raise UnknownNameError(
        "coordinate", name, dict.fromkeys((*(j.name for j in m.moving), *names)), where(m)
    )


def all_speeds_of(machine: Machine, names: Iterable[str] | str) -> list[int]:
    """Return the indices in v that several names refer to, without repetitions, in increasing
    order.
    """
    if isinstance(names, str) or not isinstance(names, Iterable):
        names = [names]
    return sorted({k for name in names for k in speeds_of(machine, name)})


def by_speed(machine: Machine, question: str, given: Mapping[str, Any] | None) -> dict[int, float]:
    """Return {index in v: value} for a mapping by names. A joint with several speeds takes one
    value for each. question: the name of the question, for messages.
    """
    found: dict[int, float] = {}
    if not (given is None or isinstance(given, Mapping)):
        raise StateError(
            f"{question}: values by name are a {type(given).__name__}; give a mapping of joints or"
            " coordinates to numbers"
        )
    for name, value in (given or {}).items():
        places = speeds_of(machine, name)
        values = np.atleast_1d(arguments.numbers(question, f"the value of {name!r}", value))
        if values.shape != (len(places),) or not np.isfinite(values).all():
            raise StateError(
                f"{question}: {name!r} is given {value!r}; it takes {len(places)} finite number(s)"
            )
        for k, x in zip(places, values):
            if k in found:
                raise StateError(f"{question}: {machine.speed_names[k]!r} is given twice")
            found[k] = float(x)
    return found


def is_batch(question: str, **given: Any) -> bool:
    """Whether one of these states has a leading dimension; None is none. question: for error
    messages.
    """
    return any(
        x is not None and arguments.numbers(question, name, x).ndim > 1 for name, x in given.items()
    )


def state(machine: Machine, question: str, **given: Any) -> list[Array]:
    """Return the arrays of one state, checked: q or guess (nq,), and others (nv,). None becomes the
    neutral q, or zeros. question: for error messages.
    """
    found = []
    for name, x in given.items():
        if x is None:
            x = machine.neutral() if name in ("q", "guess") else np.zeros(machine.nv)
        y = arguments.array(machine, question, "q" if name in ("q", "guess") else name, x)
        if y.ndim != 1:
            raise StateError(
                f"{question}: {name} has shape {y.shape}; this question takes one state at a time"
            )
        if not np.isfinite(y).all():
            raise StateError(f"{question}: {name} is not finite: {y}")
        found.append(np.array(y))
    return found


def states(
    machine: Machine, question: str, q: Any, v: Any, parameters: Any
) -> tuple[Array, Array, Array, tuple[int, ...]]:
    """Return q, v and parameters as arrays with one row per state, and their leading shape. None
    becomes the neutral q, zero speeds, the mechanism's own parameters. question: the name of the
    question, for messages.
    """
    q = machine.neutral() if q is None else arguments.array(machine, question, "q", q)
    v = np.zeros(machine.nv) if v is None else arguments.array(machine, question, "v", v)
    p = arguments.parameters(machine, parameters)
    p = np.array(list(machine.mechanism.parameters.values())) if p is None else p
    for name, x, names in (("q", q, machine.coordinate_names), ("v", v, machine.speed_names)):
        if not np.isfinite(x).all():
            raise StateError(
                f"{question}: {name} of {names[np.argwhere(~np.isfinite(x))[0][-1]]!r} is not a"
                " finite number"
            )
    if not np.isfinite(p).all():
        name = machine.parameter_names[np.argwhere(~np.isfinite(p))[0][-1]]
        raise StateError(f"{question}: parameter {name!r} is not a finite number")
    lead = np.broadcast_shapes(q.shape[:-1], v.shape[:-1], p.shape[:-1])
    count = int(np.prod(lead))
    if not count:
        raise StateError(
            f"{question}: the start has the leading shape {lead}, so that there is nothing to run"
        )
    flat = [
        np.ascontiguousarray(np.broadcast_to(x, (*lead, x.shape[-1])).reshape(count, x.shape[-1]))
        for x in (q, v, p)
    ]
    return flat[0], flat[1], flat[2], lead


def where(asked: Mechanism | Machine) -> str:
    """Return the name of the mechanism, for messages."""
    return f"mechanism {_mechanism(asked).name!r}"
