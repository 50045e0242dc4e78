"""initial = { q = {...}, v = {...}, near = {...} }: where a run starts.

What is not named is zero, quaternions the identity. With loops the coordinates named in q are kept, the others are found so
that every loop closes, from the values in `near`; speeds likewise.
"""

from __future__ import annotations

import numpy as np

from ...errors import CatenaError, ClosureError
from ...formats.toml.tables import Table
from ...model.mechanism import Mechanism
from .names import named_values, places

KEYS = ("q", "v", "near")
UNIT_SLACK = 1e-3  # a quaternion written with four digits has the length one to this
NEARLY = 1e-3  # m: a state given in full that misses a loop by less is one whose digits were cut


def read_initial(t: Table | None, m: Mechanism, top: Table) -> tuple[np.ndarray, np.ndarray]:
    """q and v of the start."""
    q, v = neutral(m), np.zeros(len(places(m, "v")))
    given: dict[str, dict[int, float]] = {"q": {}, "v": {}, "near": {}}
    if t is not None:
        t.only(KEYS)
        for key, into in (("near", q), ("q", q), ("v", v)):
            table = t.table(key)
            if table is not None:
                given[key] = named_values(table, m, "v" if key == "v" else "q")
                into[list(given[key])] = list(given[key].values())
                if key != "v":
                    _unit(table, m, q)
    if (m.loops or m.nonholonomic) and not top.ledger.faults:
        try:
            q, v = _assembled(m, q, v, given)
        except CatenaError as why:
            top.fault(f"initial: {why}")
    return q, v


def neutral(m: Mechanism) -> np.ndarray:
    """Zeros, and the identity for quaternions."""
    return np.array([1.0 if p.dimension == "number" and p.label.endswith("qw") else 0.0 for p in places(m, "q")])


def _unit(t: Table, m: Mechanism, q: np.ndarray) -> None:
    """Quaternions have length one; those cut to a few digits are stretched."""
    for first in (p for p in places(m, "q") if p.dimension == "number" and p.label.endswith("qw")):
        part = slice(first.at, first.at + 4)
        length = float(np.linalg.norm(q[part]))
        if abs(length - 1) > UNIT_SLACK:
            t.fault(f"the quaternion of {first.joint!r}, [w, x, y, z], has the length {length:.6g}; a rotation has length one")
        else:
            q[part] /= length


def _assembled(m: Mechanism, q: np.ndarray, v: np.ndarray, given: dict[str, dict[int, float]]) -> tuple[np.ndarray, np.ndarray]:
    from ...analysis.assembly import assemble
    from ...machine.machine import compile

    machine = compile(m)
    kept = {letter: [places(m, letter)[k].name for k in given[letter]] for letter in ("q", "v")}
    if m.loops:
        try:
            q, _ = assemble(machine, q, fixed=_speeds(m, kept["q"]))
        except ClosureError as error:
            if not 0 < max(error.gaps.values(), default=np.inf) < NEARLY:
                raise
            q, _ = assemble(machine, q)
    return assemble(machine, q, v, fixed=kept["v"])


def _speeds(m: Mechanism, coordinates: list[str]) -> list[str]:
    """The names by which `assemble` holds coordinates: those of a quaternion by its joint."""
    joints = {p.name: p for p in places(m, "q")}
    return list(dict.fromkeys(joints[c].joint if joints[c].dimension == "number" else c for c in coordinates))
