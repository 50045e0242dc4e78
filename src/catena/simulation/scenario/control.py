"""control = { kind = "pd", kp = 100, kd = 20, target = { elbow = "30 deg" } }; [[scenario.control]] gives several, which add.

kind               keys                                                                      see `catena.control`
pid                kp, ki, kd, target, limits, anti_windup, gravity, smooth, sample
pd                 kp, kd, target, limits, gravity, smooth, sample
computed_torque    trajectory, kp, kd, limits, smooth, sample
forces             table
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ...errors import unknown
from ...formats.toml.tables import Table
from ...formats.units import describe
from ...model.mechanism import Mechanism
from .motion import one_or_more, read_trajectory
from .names import by_name

KINDS: dict[str, tuple[str, tuple[str, ...]]] = {  # kind -> its class, its keys
    "pid": ("PID", ("kp", "ki", "kd", "target", "limits", "anti_windup", "gravity", "smooth", "sample")),
    "pd": ("PD", ("kp", "kd", "target", "limits", "gravity", "smooth", "sample")),
    "computed_torque": ("ComputedTorque", ("trajectory", "kp", "kd", "limits", "smooth", "sample")),
    "forces": ("Forces", ("table",)),
}
NEEDED = ("kp", "ki", "kd", "target", "trajectory", "table")


def read_control(t: Table, m: Mechanism, folder: Path) -> Any:
    """The controller, or the sum of several; None where there is a fault."""
    found = [_one(table, m, folder) for table in one_or_more(t, "control")]
    if not found or any(c is None for c in found):
        return None
    total = found[0]
    for other in found[1:]:
        total = total + other
    return total


def _one(t: Table, m: Mechanism, folder: Path) -> Any:
    from .. import control

    before = t.faults
    kind = t.text("kind")
    if kind not in KINDS:
        if kind:
            t.fault(f"kind: {unknown('controller', kind, KINDS)}")
        return None
    name, keys = KINDS[kind]
    t.only(("kind", *keys))
    for key in keys:
        if key in NEEDED and key not in t:
            t.fault(f"{key} is missing")
    values = {key: _value(t, key, m, folder) for key in keys if key in t}
    return getattr(control, name)(**values) if t.faults == before else None


def _value(t: Table, key: str, m: Mechanism, folder: Path) -> Any:
    given = t.data[key]
    if key in ("kp", "ki", "kd"):
        return by_name(t.table(key), m, "any") if isinstance(given, dict) else t.number(key, "any", symbolic=False)  # type: ignore[arg-type]
    if key in ("target", "trajectory", "table"):
        if not isinstance(given, dict) and key == "target":
            return t.number(key, "any", symbolic=False)
        table = t.table(key)
        return read_trajectory(table, m, folder, "tau" if key == "table" else "q") if table else None
    if key == "limits":
        return _limits(t, m)
    if key == "sample":
        return t.number(key, "time", symbolic=False)
    if key == "anti_windup" and not isinstance(given, bool):
        return t.number(key, "time", symbolic=False)
    return t.flag(key, False)


def _limits(t: Table, m: Mechanism) -> Any:
    """ "effort", one force for all, or a table of forces and of pairs [lowest, highest]."""
    given = t.data["limits"]
    if given == "effort":
        return given
    if not isinstance(given, dict):
        if isinstance(given, list):
            t.fault(f"limits is {describe(given)}; a force, a table by joints, or 'effort' is wanted")
            return None
        return t.number("limits", "any", symbolic=False)
    table = t.table("limits")
    assert table is not None
    pairs = {name: x for name, x in given.items() if isinstance(x, list)}
    single = Table({name: x for name, x in given.items() if name not in pairs}, table.where, table.ledger)
    return by_name(single, m, "tau") | by_name(Table(pairs, table.where, table.ledger), m, "tau", 2)
