"""The table `initial = { q = {...}, v = {...}, near = {...} }`: the state in which a run starts.

A coordinate that is not named is zero, or the limit of its joint nearest to zero; quaternions are
the identity. With loops the coordinates named in q keep their values, and the others are found so
that every loop closes, starting from the values in `near`; speeds likewise.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ...errors import CatenaError
from ...formats.toml import ByName, FileKey, FileTable, Table, register
from ...machine import Machine
from ...model import Mechanism
from ..planning.plan import machine_of
from ..planning.starts import assembled, nearest_to_neutral
from .names import named_values, state_entries

Array = NDArray[np.float64]
INITIAL = register(
    FileTable(
        "initial",
        "initial = { ... }",
        "Where a run starts; what is not named is zero, or found so that loops close.",
        (
            FileKey(
                "q", ByName(), "coordinates, by joints or coordinates; a ball's are [w, x, y, z]"
            ),
            FileKey("v", ByName("speed", "angular speed"), "speeds, by joints or speeds"),
            FileKey("near", ByName(), "a guess from which loops are closed"),
        ),
    )
)
UNIT_SLACK = 1e-3  # a quaternion written with four digits has the length one to this


def read_initial(
    t: Table | None,
    m: Mechanism,
    top: Table,
    machine: Callable[[Mechanism], Machine] | None = machine_of,
) -> tuple[Array, Array, dict[str, list[str]], Array]:
    """Return q and v of the start, with loops closed by a machine; the names that the table gives,
    {"q": [...], "v": [...]}; and the guess from which the loops were closed. If machine is None,
    loops are left open.
    """
    q = neutral(m)
    v = np.zeros(len(state_entries(m, "v")))
    kept: dict[str, list[str]] = {"q": [], "v": []}
    if t is not None:
        t.only(INITIAL.names)
        for key, into in (("near", q), ("q", q), ("v", v)):
            table = t.table(key)
            if table is not None:
                letter = "v" if key == "v" else "q"
                given = named_values(table, m, letter)
                kept[key] = [state_entries(m, letter)[k].name for k in given]
                into[list(given)] = list(given.values())
                if key != "v":
                    _unit(table, m, q)
    guess = q
    if machine is not None and m.constrained and not top.ledger.faults:
        try:
            q, v = assembled(machine(m), q, v, kept["q"], kept["v"])
        except CatenaError as why:
            top.fault(f"initial: {why}")
    return q, v, {key: kept[key] for key in "qv"}, guess


def neutral(m: Mechanism) -> Array:
    """Return the coordinates that are zero, or the nearest value within the limits of their joints;
    quaternions are the identity.
    """
    zero = np.array(
        [
            1.0 if p.dimension == "number" and p.label.endswith("qw") else 0.0
            for p in state_entries(m, "q")
        ]
    )
    return nearest_to_neutral(m, zero)


def _unit(t: Table, m: Mechanism, q: Array) -> None:
    """Scale the quaternions of q to length one, in place, because a file gives only a few
    digits.
    """
    for first in (
        p for p in state_entries(m, "q") if p.dimension == "number" and p.label.endswith("qw")
    ):
        part = slice(first.at, first.at + 4)
        length = float(np.linalg.norm(q[part]))
        if abs(length - 1) > UNIT_SLACK:
            t.fault(
                f"the quaternion of {first.joint!r}, [w, x, y, z], has the length {length:.6g}; a"
                " rotation has length one"
            )
        else:
            q[part] /= length
