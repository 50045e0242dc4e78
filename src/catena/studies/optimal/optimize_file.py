"""The table [optimize] of a file: the arguments of `catena.optimize`, with units. The start is that of its [scenario].

    [optimize]
    cost = "torque squared"                                  # or a table of weights, { time = 1, "torque squared" = 0.01 }
    until = "2 s"                                            # or a range, ["0.5 s", "4 s"]
    start = { q = { theta = "180 deg" } }                    # if it is not that of [scenario]
    end = { q = { x = 0, theta = 0 }, v = "rest" }
    actuated = ["x"]
    bounds = { "q.x" = ["-1 m", "1 m"], "tau.x" = ["-20 N", "20 N"] }
    conditions = { "v_x^2 + v_theta^2" = [0, 4] }            # of texts, at the end of every interval
    design = { l = ["30 cm", "60 cm"] }
    intervals = 60
    method = "collocation"
    accuracy = 1e-4

or, a best design over poses,

    cost = "shaking force"
    over = { shaft = "0..345 deg:24" }                       # or a list
    speeds = { shaft = "3000 rpm" }
    points = { marker = [["10 cm", "20 cm"], ...] }
    free = ["shaft"]                                         # its values are first guesses only
    design = { balance = ["0 kg", "0.6 kg"] }
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ... import formats
from ...errors import CatenaError, FormatError
from ...formats.toml.reader import open_file
from ...formats.toml.tables import FaultLedger, Table
from ...model.mechanism import Mechanism
from ...simulation.scenario.names import named_values, state_entries
from ...simulation.scenario.read import read
from ..ranges import Axis, values_of

KEYS = ("cost", "over", "points", "speeds", "free", "start", "until", "end", "actuated", "bounds", "conditions", "design", "intervals", "method", "accuracy")


def read_optimize(file: str | Path) -> tuple[Mechanism, dict[str, Any]]:
    """The mechanism of a file, and what `optimize(mechanism, ...)` is to be called with. A FormatError has every fault."""
    path = formats._find(file)
    top = open_file(path) if path.suffix.lower() == ".toml" else Table({}, "", FaultLedger())
    given = top.data.get("optimize")
    if not isinstance(given, dict):
        raise FormatError(path, "it has no table [optimize]; write cost, until, end and others there: see docs/optimization.md")
    scenario = read(file, until=1.0)
    table = Table(given, "optimize", FaultLedger(dict(scenario.mechanism.parameters)))
    found = _read(table, scenario.mechanism)
    if faults := table.ledger.faults:
        raise FormatError(path, f"its table [optimize] has {'a fault' if len(faults) == 1 else f'{len(faults)} faults'}:", faults)
    parameters = scenario.options.get("parameters")
    return scenario.mechanism, {"q": scenario.q, "v": scenario.v, **({"parameters": parameters} if parameters else {}), **found}


def _read(t: Table, m: Mechanism) -> dict[str, Any]:
    t.only(KEYS)
    found: dict[str, Any] = {key: t.data[key] for key in ("cost", "actuated", "free", "method", "intervals", "accuracy") if key in t}
    if (start := t.table("start")) is not None:
        found |= {letter: None if x == "rest" else x for letter, x in _state(start, m).items()}
    if "over" in t:
        found |= _poses(t, m)
    elif "until" not in t:
        t.fault('until is missing: how long the motion takes. Write until = "2 s", or a range until = ["0.5 s", "4 s"]')
    else:
        until = t.data["until"]
        found["until"] = _pair(t, "until", until, "time") if isinstance(until, list) else t.number("until", "time", instead=1.0, symbolic=False)
    if (end := t.table("end")) is not None:
        found["end"] = _state(end, m)
    if (bounds := t.table("bounds")) is not None:
        found["bounds"] = {name: _pair(bounds, name, value, _dimension(m, name)) for name, value in bounds.data.items()}
    if (conditions := t.table("conditions")) is not None:
        found["conditions"] = {text: _range(conditions, text, value) for text, value in conditions.data.items()}
    if (design := t.table("design")) is not None:
        found["design"] = {name: _pair(design, name, value, "any") for name, value in design.data.items()}
    return found


def _poses(t: Table, m: Mechanism) -> dict[str, Any]:
    """over, points and speeds of a design."""
    found: dict[str, Any] = {}
    if (over := t.table("over")) is not None:
        units = {e.name: "m" if e.dimension == "length" else "rad" for e in state_entries(m, "q")}
        found["over"] = {name: _values(over, name, x, units.get(name)) for name, x in over.data.items()}
    if (points := t.table("points")) is not None:
        found["points"] = {name: [[float(points.scalar(y, name, "length", symbolic=False)) for y in x] for x in given] for name, given in points.data.items()}
    if (speeds := t.table("speeds")) is not None:
        names = [e.name for e in state_entries(m, "v")]
        found["speeds"] = {names[k]: x for k, x in named_values(speeds, m, "v").items()}
    return found


def _values(t: Table, key: str, value: Any, unit: str | None) -> tuple[float, ...]:
    """The values of a coordinate: a list, or a text such as "0..360 deg:13"."""
    try:
        found = values_of(value if isinstance(value, str) else [float(t.scalar(x, key, "any", symbolic=False)) for x in value], unit, key)
    except CatenaError as why:
        t.fault(str(why))
        return (0.0,)
    if not isinstance(found, Axis) or not found.values:
        t.fault(f'{key} is {value!r}; poses are a list, or a text such as "0..360 deg:13"')
        return (0.0,)
    return found.values


def _range(t: Table, key: str, value: Any) -> float | tuple[float, float]:
    """A value, or [low, high]."""
    return _pair(t, key, value, "any") if isinstance(value, list) else float(t.scalar(value, key, "any", symbolic=False))


def _pair(t: Table, key: str, value: Any, dimension: str) -> tuple[float, float]:
    """[low, high] with units."""
    if not (isinstance(value, list) and len(value) == 2):
        t.fault(f"{key} is {value!r}; a range is [low, high]")
        return 0.0, 1.0
    low, high = (float(t.scalar(x, key, dimension, symbolic=False)) for x in value)
    return low, high


def _dimension(m: Mechanism, name: str) -> str:
    """What a state or force measures; anything where there is none of that name."""
    letter, _, rest = name.partition(".")
    known = state_entries(m, letter) if letter in ("q", "v", "tau") else []
    return next((e.dimension for e in known if e.name == rest), "any")


def _state(t: Table, m: Mechanism) -> dict[str, Any]:
    t.only(("q", "v"))
    found: dict[str, Any] = {}
    for letter in "qv":
        if letter == "v" and t.data.get("v") == "rest":
            found["v"] = "rest"
        elif (own := t.table(letter)) is not None:
            names = [e.name for e in state_entries(m, letter)]
            found[letter] = {names[k]: x for k, x in named_values(own, m, letter).items()}
    return found
