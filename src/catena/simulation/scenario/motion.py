"""Trajectories in a file, and the motion they prescribe.

    motion = { kind = "sine", amplitude = { crank = "10 deg" }, frequency = "2 rad/s", locked = ["elbow"] }

A table without kind is a place for each coordinate it names. [[scenario.motion]] gives several.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import unknown
from ...formats.toml.tables import Table
from ...model.mechanism import Mechanism
from .names import by_name

if TYPE_CHECKING:
    from ..piecewise import Trajectory

TRAJECTORIES: dict[str, tuple[str, ...]] = {  # kind -> its keys
    "constant": ("values",),
    "sine": ("amplitude", "frequency", "phase", "offset"),
    "cubic": ("times", "positions", "speeds"),
    "quintic": ("times", "positions", "speeds", "accelerations"),
    "cycloid": ("times", "positions"),
    "cosine": ("times", "positions"),
    "spline": ("times", "positions", "ends"),
    "csv": ("file", "ends"),
    "line": ("frame", "to", "start", "times", "law", "upright"),
}
LETTERS = {"values": "q", "amplitude": "q", "offset": "q", "positions": "q", "speeds": "v", "accelerations": "a"}


def read_motion(t: Table, m: Mechanism, folder: Path) -> dict[str, Any]:
    """{coordinate: Trajectory} and {joint: "locked"}."""
    found: dict[str, Any] = {}
    for table in one_or_more(t, "motion"):
        locked = table.items("locked", default=[])
        rest = Table({k: x for k, x in table.data.items() if k != "locked"}, table.where, table.ledger)
        names = [j.name for j in m.moving] + list(m.speed_names)
        for name in locked:
            if name not in names:
                table.fault(f"locked: {unknown('joint', name, dict.fromkeys(names), f'mechanism {m.name!r}')}")
        for name in (*locked, *(path.names if rest.data and (path := read_trajectory(rest, m, folder)) else ())):
            if name in found:
                table.fault(f"the motion of {name!r} is given twice")
            found[name] = "locked" if name in locked else path.of([name])  # type: ignore[union-attr]
    return found


def read_trajectory(t: Table, m: Mechanism, folder: Path, letter: str = "q") -> Trajectory | None:
    """A trajectory, or None where the table has a fault. letter: what its values are, "q" coordinates or "tau" forces."""
    from .. import trajectories

    before = t.faults
    if "kind" not in t:
        values = by_name(t, m, letter)
        return trajectories.constant(values) if t.faults == before else None
    kind = t.text("kind")
    if kind not in TRAJECTORIES:
        t.fault(f"kind: {unknown('trajectory', kind, TRAJECTORIES)}")
        return None
    t.only(("kind", *TRAJECTORIES[kind]))
    values = _values(t, kind, m, folder, letter)
    if t.faults > before:
        return None
    if kind == "line":
        return trajectories.line(m, values.pop("frame"), values.pop("to"), **values)
    if kind == "csv":
        return trajectories.csv(values.pop("file"), **values)
    return getattr(trajectories, kind)(**values)


def _values(t: Table, kind: str, m: Mechanism, folder: Path, letter: str) -> dict[str, Any]:
    """The arguments of a trajectory's function."""
    found: dict[str, Any] = {}
    if "times" in TRAJECTORIES[kind]:
        times = t.items("times")
        found["times"] = [t.scalar(x, "times", "time", symbolic=False) for x in times]
    for key in TRAJECTORIES[kind]:
        if key in LETTERS and (key in t or key in ("values", "amplitude", "positions")):
            table = t.table(key)
            if table is None:
                t.fault(f"{key} is missing: a table of coordinates" if key not in t else f"{key} has no coordinates")
                continue
            own = letter if LETTERS[key] == "q" else LETTERS[key]
            found[key] = by_name(table, m, own, len(found["times"]) if "times" in found else None)
    needed = ("frequency", "frame", "to")
    wanted = [key for key in TRAJECTORIES[kind] if key in t or key in needed]
    numbers = {"frequency": "angular speed", "phase": "angle"}
    found |= {key: t.number(key, numbers[key], symbolic=False) for key in wanted if key in numbers}
    found |= {key: t.text(key) for key in wanted if key in ("ends", "frame", "law")}
    found |= {key: t.vector(key, "length", symbolic=False) for key in wanted if key in ("to", "start")}
    if "upright" in t:
        found["upright"] = t.flag("upright", False)
    if kind == "csv":
        found["file"] = _beside(t, folder)
    return found


def _beside(t: Table, folder: Path) -> Path:
    """The .csv file that a table names: in the folder of the scenario or below it, nowhere else."""
    path = folder / t.text("file")
    if path.suffix.lower() != ".csv" or not path.resolve().is_relative_to(folder.resolve()):
        t.fault(f"file is {t.data.get('file')!r}; a .csv file in the folder of the scenario, or in one below it, is wanted")
    return path


def one_or_more(t: Table, key: str) -> list[Table]:
    """[scenario.key] as one table, [[scenario.key]] as several."""
    if isinstance(t.data[key], list):
        return list(t.tables(key))
    table = t.table(key)
    return [table] if table else []
