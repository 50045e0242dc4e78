"""Initial states by name: q = {"shoulder": 0.3}, v = {"base": [0, 0, 1]}. A coordinate that is not
named is zero, or the limit of its joint nearest to zero; quaternions are the identity.

With loops the coordinates named in q are kept and the others are found so that every loop closes;
speeds likewise.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import analysis
from ...errors import ClosureError, StateError, UnknownNameError
from ...machine import Machine, coordinates, numbers, where
from ...model import Mechanism, Motion

Array = NDArray[np.float64]
NEARLY = 1e-3  # m: a state given in full that misses a loop by less is one whose digits were cut


def from_names(machine: Machine, q: Any, v: Any) -> tuple[Any, Any]:
    """Return q and v as arrays if they were given by names, with loops closed; otherwise as they
    were given. A q that is None is the configuration nearest to the neutral one.
    """
    if q is None and not isinstance(v, Mapping):
        q = nearest_to_neutral(machine, machine.neutral())
        return (analysis.assemble(machine, q)[0] if machine.mechanism.closes else q), v
    q = {} if q is None else q
    if not isinstance(q, Mapping) and not isinstance(v, Mapping):
        return q, v
    kept = {letter: list(x) for letter, x in (("q", q), ("v", v)) if isinstance(x, Mapping)}
    q, v = (
        _filled(machine, letter, x) if letter in kept else x for letter, x in (("q", q), ("v", v))
    )
    if not machine.rows:
        return q, v
    q = np.asarray(q, float)
    v = np.zeros(machine.nv) if v is None else np.asarray(v, float)
    lead = np.broadcast_shapes(q.shape[:-1], v.shape[:-1])
    each = [np.broadcast_to(x, (*lead, x.shape[-1])).reshape(-1, x.shape[-1]) for x in (q, v)]
    found = [assembled(machine, a, b, kept.get("q"), kept.get("v", ())) for a, b in zip(*each)]
    q, v = (np.reshape(x, (*lead, -1)) for x in zip(*found))
    return q, v


def nearest_to_neutral(asked: Mechanism | Machine, neutral: Array) -> Array:
    """Return the neutral coordinates (nq,), with each one that lies outside the limits of its joint
    moved to the nearer limit.
    """
    found = neutral.copy()
    for c in coordinates(asked):
        found[c.qi] = min(max(found[c.qi], c.lower), c.upper)
    return found


def assembled(
    machine: Machine, q: Array, v: Array, kept: Iterable[str] | None, kept_speeds: Iterable[str]
) -> tuple[Array, Array]:
    """Return q and v that satisfy the loops and speed rows: the coordinates `kept` (None: all) and
    the speeds `kept_speeds` stay, the others are computed.
    """
    if machine.mechanism.closes and kept is not None:
        try:
            q, _ = analysis.assemble(machine, q, fixed=_held(machine, kept))
        except ClosureError as error:
            if not 0 < max(error.gaps.values(), default=np.inf) < NEARLY:
                raise
            q, _ = analysis.assemble(machine, q)
    return analysis.assemble(machine, q, v, fixed=kept_speeds)


def _filled(machine: Machine, letter: str, given: Mapping[str, Any]) -> Array:
    """Return the neutral coordinates or speeds with the given values in place of some of them. A
    value for a joint of several coordinates is an array (..., count).
    """
    names = machine.coordinate_names if letter == "q" else machine.speed_names
    neutral = (
        nearest_to_neutral(machine, machine.neutral()) if letter == "q" else np.zeros(machine.nv)
    )
    joints = dict(_joints(machine, letter))
    parts = {}
    for name, value in given.items():
        if name not in joints and name not in names:
            raise UnknownNameError(
                "coordinate" if letter == "q" else "speed",
                name,
                dict.fromkeys((*joints, *names)),
                where(machine),
            )
        at = [names.index(name)] if name in names else joints[name]
        x = numbers("simulate", f"{letter} of {name!r}", value)
        x = x[..., None] if len(at) == 1 else x
        if x.ndim == 0 or x.shape[-1] != len(at):
            raise StateError(
                f"simulate: {letter} of {name!r} has shape {x.shape}; it takes {len(at)} numbers, "
                f"{', '.join(names[k] for k in at)}"
            )
        for k, column in zip(at, np.moveaxis(x, -1, 0)):
            if k in parts:
                raise StateError(f"simulate: {letter} of {names[k]!r} is given twice")
            parts[k] = column
    filled = np.array(
        np.broadcast_to(
            neutral, (*np.broadcast_shapes(*(x.shape for x in parts.values())), len(neutral))
        )
    )
    for k, column in parts.items():
        filled[..., k] = column
    return filled


def _joints(machine: Machine, letter: str) -> Iterator[tuple[str, list[int]]]:
    first = 0
    for j in machine.mechanism.moving:
        count = j.nq if letter == "q" else j.nv
        yield j.name, list(range(first, first + count))
        first += count


def _held(machine: Machine, names: Iterable[str]) -> list[str]:
    """Return the names by which `assemble` holds coordinates: for a quaternion the name of its
    joint.
    """
    balls = {
        n: j.name
        for j in machine.mechanism.moving
        for n, f in zip(j.coordinate_names, _freedoms(j))
        if f == Motion.BALL
    }
    return list(dict.fromkeys(balls.get(name, name) for name in names))


def _freedoms(joint: Any) -> list[Motion]:
    return [f.motion for f in joint.freedoms for _ in f.labels]
