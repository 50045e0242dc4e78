"""Trajectories in a file, and the motion they prescribe.

    motion = { kind = "sine", amplitude = { crank = "10 deg" }, frequency = "2 rad/s", locked =
    ["elbow"] }

A table without `kind` gives each coordinate that it names a constant value. [[scenario.motion]]
gives several.
"""

from __future__ import annotations

from pathlib import Path

from ...errors import unknown
from ...formats.toml import ByName, FileKey, FileTable, Name, Several, Table, Text, register
from ...model import Mechanism
from ..trajectories import courses as trajectories
from ..trajectories.piecewise import Trajectory
from .kinds import (
    Context,
    Family,
    Kind,
    TableKey,
    choice,
    flag,
    named,
    number,
    numbers,
    point,
    reads,
    values,
)
from .names import by_name

_COORDINATES = "a table of coordinates"
_TIMES = TableKey("times", numbers("time"), needed=True, doc="when, rising")
_POSITIONS = TableKey(
    "positions",
    values(along="times"),
    needed=True,
    what=_COORDINATES,
    doc="where, one list per coordinate",
)
_SPEEDS = TableKey("speeds", values("v", along="times"), doc="how fast there; at rest unless given")
_ACCELERATIONS = TableKey(
    "accelerations", values("a", along="times"), doc="accelerations there; zero unless given"
)
_ENDS = TableKey(
    "ends",
    choice("rest", "natural", "free"),
    doc="no speed at the ends, no acceleration, or neither",
)


@reads(Text("name of a .csv file"))
def csv_path(t: Table, key: str, c: Context) -> Path:
    """Read the path of a .csv file, which must be in the folder of the scenario or below it."""
    path = c.folder / t.text(key)
    if path.suffix.lower() != ".csv" or not path.resolve().is_relative_to(c.folder.resolve()):
        t.fault(
            f"{key} is {t.data.get(key)!r}; a .csv file in the folder of the scenario, or in one"
            " below it, is wanted"
        )
    return path


_OFFSET = TableKey("offset", values(), doc="where it is without the rest")


def _csv(file: Path, ends: str = "natural") -> Trajectory:
    return trajectories.csv(file, ends)


TRAJECTORIES: Family[Trajectory] = Family(
    "trajectory",
    (
        Kind(
            "constant",
            trajectories.constant,
            (TableKey("values", values(), True, _COORDINATES, "where"),),
            "a place",
        ),
        Kind(
            "uniform",
            trajectories.uniform,
            (TableKey("speed", values("v"), True, "a table of speeds", "how fast"), _OFFSET),
            "offset + speed t",
        ),
        Kind(
            "sine",
            trajectories.sine,
            (
                TableKey("amplitude", values(), True, _COORDINATES, "greatest way from the offset"),
                TableKey("frequency", number("angular speed"), True, doc="angular frequency"),
                TableKey("phase", number("angle"), doc="angle at t = 0"),
                _OFFSET,
            ),
            "amplitude sin(frequency t + phase) + offset",
        ),
        Kind(
            "cubic",
            trajectories.cubic,
            (_TIMES, _POSITIONS, _SPEEDS),
            "polynomials of degree 3 from place to place",
        ),
        Kind(
            "quintic",
            trajectories.quintic,
            (_TIMES, _POSITIONS, _SPEEDS, _ACCELERATIONS),
            "the same of degree 5",
        ),
        Kind("cycloid", trajectories.cycloid, (_TIMES, _POSITIONS), "cycloids from rest to rest"),
        Kind("cosine", trajectories.cosine, (_TIMES, _POSITIONS), "half waves from rest to rest"),
        Kind(
            "spline",
            trajectories.spline,
            (_TIMES, _POSITIONS, _ENDS),
            "a cubic spline through all places",
        ),
        Kind(
            "csv",
            _csv,
            (
                TableKey(
                    "file",
                    csv_path,
                    True,
                    doc="rows of t and coordinates, next to this file or below its folder",
                ),
                _ENDS,
            ),
            "a spline through the rows of a file",
        ),
        Kind(
            "line",
            trajectories.line,
            (
                TableKey("frame", named("frame"), True, doc="which goes"),
                TableKey("to", point, True, doc="where to, in the ground"),
                TableKey("start", point, doc="where from; where it is, unless given"),
                _TIMES,
                TableKey("law", choice(*trajectories.LAWS), doc="how the speed changes on the way"),
                TableKey("upright", flag, doc="keep the orientation"),
            ),
            "a straight line of a frame, by inverse kinematics",
            of_mechanism=True,
        ),
    ),
)


register(
    FileTable(
        "trajectory",
        "{ kind = ... }",
        "A motion over time; a table without kind is a place for each coordinate that it names.",
        (),
        TRAJECTORIES.described,
        otherwise=ByName(),
    )
)
register(
    FileTable(
        "motion",
        "[scenario.motion]",
        "Coordinates whose motion is prescribed. It takes the keys of a"
        " [trajectory](#keys-of-trajectory), and its own.",
        (FileKey("locked", Several(Name(of="joint")), "joints that stay where they are"),),
        TRAJECTORIES.described,
        otherwise=ByName(),
    )
)


def read_motion(t: Table, m: Mechanism, folder: Path) -> dict[str, Trajectory | str]:
    """Return the prescribed motion, {coordinate: Trajectory} and {joint: "locked"}."""
    found: dict[str, Trajectory | str] = {}
    for table in one_or_more(t, "motion"):
        locked = table.items("locked", default=[])
        rest = Table(
            {k: x for k, x in table.data.items() if k != "locked"}, table.where, table.ledger
        )
        names = [j.name for j in m.moving] + list(m.speed_names)
        for name in locked:
            if name not in names:
                table.fault(
                    "locked:"
                    f" {unknown('joint', name, dict.fromkeys(names), f'mechanism {m.name!r}')}"
                )
        path = read_trajectory(rest, m, folder) if rest.data else None
        for name in (*locked, *(path.names if path is not None else ())):
            if name in found:
                table.fault(f"the motion of {name!r} is given twice")
            found[name] = path.of([name]) if path is not None and name not in locked else "locked"
    return found


def read_trajectory(t: Table, m: Mechanism, folder: Path, letter: str = "q") -> Trajectory | None:
    """Return a trajectory, or None where the table has a fault. letter: whether its values are
    coordinates ("q") or forces ("tau").
    """
    if "kind" in t:
        return TRAJECTORIES.read(t, Context(m, folder, letter))
    before = t.faults
    at = by_name(t, m, letter)
    return trajectories.constant(at) if t.faults == before else None


def one_or_more(t: Table, key: str) -> list[Table]:
    """Return the tables under a key: one for [scenario.key], several for [[scenario.key]]."""
    if isinstance(t.data[key], list):
        return list(t.tables(key))
    table = t.table(key)
    return [table] if table else []
