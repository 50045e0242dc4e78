"""The table [optimize] of a file: the arguments of `catena.optimize`, with units.

    [optimize]
    cost = "torque squared"           # or a table of weights, { time = 1, "torque squared" = 0.01 }
    start = { q = { theta = "180 deg" } }                    # if it is not that of [scenario]
    until = "2 s"                                            # or a range, ["0.5 s", "4 s"]
    end = { q = { x = 0, theta = 0 }, v = "rest" }
    actuated = ["x"]
    bounds = { "q.x" = ["-1 m", "1 m"], "tau.x" = ["-20 N", "20 N"] }
    conditions = { "v_x^2 + v_theta^2" = [0, 4] }           # of texts, at the end of every interval
    contacts = { "foot-ground" = "stick" }      # or "open", or "slip" of a smooth one, all the time
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

from collections.abc import Callable
from pathlib import Path
from typing import Any

from .. import formats
from ..errors import CatenaError, FormatError, QuantityError
from ..formats import in_unit
from ..formats.toml import (
    ByName,
    Either,
    FaultLedger,
    FileKey,
    FileTable,
    Inside,
    Map,
    Name,
    Quantity,
    Several,
    Table,
    Text,
    Whole,
    Word,
    default_of,
    open_file,
    register,
)
from ..model import Mechanism, parameter_units
from ..simulation.scenario import named_values, read, state_entries
from ..studies import Axis, values_of
from .contact_modes import MODE_NAMES
from .optimize import optimize
from .transcription import TRANSCRIPTIONS

_SECONDS, _ANY, _LENGTH = (Quantity(x, symbolic=False) for x in ("time", "any", "length"))
_RANGE = Several(_ANY, 2, 2)
OPTIMIZE = register(
    FileTable(
        "optimize",
        "[optimize]",
        "The motion of least cost from the start of [scenario], or the best design over poses: what"
        " `catena.optimize` is asked for.",
        (
            FileKey(
                "cost",
                Either(
                    (
                        Text(
                            "`time`, `torque squared`, `energy`, `distance`, `shaking force`, or a"
                            " text such as `tau_x^2`"
                        ),
                        Map("cost", Quantity("number", symbolic=False)),
                    )
                ),
                "what is least, or a table of weights",
                default_of(optimize, "cost"),
            ),
            FileKey(
                "until",
                Either((_SECONDS, Several(_SECONDS, 2, 2))),
                "how long a motion takes, or a range in which that is free",
            ),
            FileKey("start", Inside("end"), "where it begins", shown="as [scenario] does"),
            FileKey(
                "end", Inside("end"), "where it ends; what is not named is free", shown="anywhere"
            ),
            FileKey(
                "actuated",
                Several(Name(of="joint")),
                "joints whose forces are free",
                shown="those with a limit of effort, or all",
            ),
            FileKey(
                "bounds",
                Map("q.NAME, v.NAME or tau.NAME", _RANGE),
                "ranges within the limits of the joints",
                shown="the limits of the joints",
            ),
            FileKey(
                "conditions",
                Map("text", Either((_ANY, _RANGE))),
                "values or ranges of texts, at the end of every interval, or in every pose",
            ),
            FileKey(
                "contacts",
                Map("contact", Word(lambda: MODE_NAMES)),
                "what each contact does during the motion",
            ),
            FileKey(
                "design", Map("parameter", _RANGE), "parameters that are unknown, and their ranges"
            ),
            FileKey(
                "intervals",
                Whole(1),
                "how many intervals of constant forces",
                default_of(optimize, "intervals"),
            ),
            FileKey(
                "method",
                Word(lambda: TRANSCRIPTIONS),
                "how motions become equations",
                default_of(optimize, "method"),
            ),
            FileKey(
                "accuracy",
                Quantity("number", symbolic=False),
                "intervals are halved until the forward simulation differs by no more",
                shown="as it comes",
            ),
            FileKey(
                "over",
                Map(
                    "coordinate",
                    Either((Text("a range such as `0..360 deg:13`"), Several(_ANY, 1))),
                ),
                "the poses of a design: values of coordinates",
            ),
            FileKey(
                "points",
                Map("frame", Several(Several(_LENGTH, 2, 3), 1)),
                "where `distance` wants a frame, one point for each pose",
            ),
            FileKey(
                "speeds",
                ByName("speed", "angular speed"),
                "constant speeds of coordinates of `over`",
                shown="at rest",
            ),
            FileKey(
                "free",
                Several(Name(of="coordinate")),
                "coordinates of `over` whose values are first guesses only",
            ),
        ),
        alternatives=(("until",), ("over",)),
    )
)
END = register(
    FileTable(
        "end",
        "end = { ... }",
        "Where an optimal motion begins, or ends.",
        (
            FileKey("q", ByName(), "coordinates"),
            FileKey(
                "v",
                Either((Word(("rest",)), ByName("speed", "angular speed"))),
                "speeds, or `rest`: none",
            ),
        ),
    )
)


def read_optimize(file: str | Path) -> tuple[Mechanism, dict[str, Any]]:
    """Return the mechanism of a file, and the arguments with which to call `optimize(mechanism,
    ...)`.

    Raises FormatError with every fault.
    """
    path = formats._find(file)
    top = open_file(path) if path.suffix.lower() == ".toml" else Table({}, "", FaultLedger())
    given = top.data.get("optimize")
    if not isinstance(given, dict):
        raise FormatError(
            path,
            "it has no table [optimize]; write cost, until, end and others there: see"
            " docs/optimization.md",
        )
    scenario = read(file, until=1.0)
    table = Table(given, "optimize", FaultLedger(dict(scenario.mechanism.parameters)))
    found = _read(table, scenario.mechanism)
    if faults := table.ledger.faults:
        raise FormatError(
            path,
            "its table [optimize] has"
            f" {'a fault' if len(faults) == 1 else f'{len(faults)} faults'}:",
            faults,
        )
    parameters = scenario.options.get("parameters")
    return scenario.mechanism, {
        "q": scenario.q,
        "v": scenario.v,
        **({"parameters": parameters} if parameters else {}),
        **found,
    }


def _read(t: Table, m: Mechanism) -> dict[str, Any]:
    """Return the arguments in the table [optimize]; faults go into the table's ledger."""
    t.only(OPTIMIZE.names)
    found: dict[str, Any] = {key: read(t, key) for key, read in _PLAIN.items() if key in t}
    if ("until" in t) == ("over" in t):
        t.fault(
            'until is missing: how long the motion takes. Write until = "2 s", or a range until ='
            ' ["0.5 s", "4 s"]; or over, the poses of a design'
            if "until" not in t
            else "until and over are both given; until is of a motion, over of a design"
        )
    if "until" in t:
        until = t.data["until"]
        found["until"] = (
            _pair(t, "until", until, "time")
            if isinstance(until, list)
            else t.number("until", "time", instead=1.0, symbolic=False)
        )
    if (start := t.table("start")) is not None:
        found |= {letter: None if x == "rest" else x for letter, x in _state(start, m).items()}
    if (end := t.table("end")) is not None:
        found["end"] = _state(end, m)
    if (bounds := t.table("bounds")) is not None:
        found["bounds"] = {
            name: _pair(bounds, name, value, _dimension(m, name))
            for name, value in bounds.data.items()
        }
    if (conditions := t.table("conditions")) is not None:
        found["conditions"] = {
            text: _range(conditions, text, value) for text, value in conditions.data.items()
        }
    if (contacts := t.table("contacts")) is not None:
        found["contacts"] = {name: contacts.text(name) for name in contacts.data}
    if (design := t.table("design")) is not None:
        units = parameter_units(m)
        found["design"] = {
            name: _ends(design, name, value, units.get(name)) for name, value in design.data.items()
        }
    return found | _poses(t, m)


def _poses(t: Table, m: Mechanism) -> dict[str, Any]:
    """Return over, points and speeds of a design."""
    found: dict[str, Any] = {}
    if (over := t.table("over")) is not None:
        units = {e.name: "m" if e.dimension == "length" else "rad" for e in state_entries(m, "q")}
        found["over"] = {
            name: _values(over, name, x, units.get(name)) for name, x in over.data.items()
        }
    if (points := t.table("points")) is not None:
        found["points"] = {
            name: [_point(points, name, x) for x in points.items(name)] for name in points.data
        }
    if (speeds := t.table("speeds")) is not None:
        names = [e.name for e in state_entries(m, "v")]
        found["speeds"] = {names[k]: x for k, x in named_values(speeds, m, "v").items()}
    return found


def _values(t: Table, key: str, value: Any, unit: str | None) -> tuple[float, ...]:
    """Return the values of a coordinate: a list, or a string such as "0..360 deg:13"."""
    if not isinstance(value, str):
        return tuple(float(t.scalar(x, key, "any", symbolic=False)) for x in t.items(key))
    try:
        found = values_of(value, unit, key)
    except CatenaError as why:
        t.fault(str(why))
        return (0.0,)
    if not isinstance(found, Axis) or not found.values:
        t.fault(f'{key} is {value!r}; poses are a list, or a text such as "0..360 deg:13"')
        return (0.0,)
    return found.values


def _point(t: Table, key: str, value: Any) -> list[float]:
    """Return a point of two or three lengths, m."""
    if not isinstance(value, list) or len(value) not in (2, 3):
        t.fault(f"{key} holds {value!r}; a point is a list of two or three lengths")
        return [0.0, 0.0]
    return [float(t.scalar(x, key, "length", symbolic=False)) for x in value]


def _range(t: Table, key: str, value: Any) -> float | tuple[float, float]:
    """Return a value, or [low, high] as a tuple."""
    return (
        _pair(t, key, value, "any")
        if isinstance(value, list)
        else float(t.scalar(value, key, "any", symbolic=False))
    )


def _cost(t: Table, key: str) -> str | dict[str, float]:
    """Return a cost: a name or an expression, or a table of weights."""
    weights = t.table(key) if isinstance(t.data[key], dict) else None
    return (
        {name: float(weights.number(name, "number", symbolic=False)) for name in weights.data}
        if weights
        else str(t.text(key))
    )


def _names(t: Table, key: str) -> list[str]:
    """Return a list of names."""
    names = t.items(key)
    if wrong := [x for x in names if not isinstance(x, str)]:
        t.fault(f"{key} holds {wrong[0]!r}; it takes names")
    return list(map(str, names))


def _whole(t: Table, key: str) -> int:
    """Return a whole number."""
    count = t.number(key, "number", instead=1.0, symbolic=False)
    if count != int(count):
        t.fault(f"{key} is {count:g}; a whole number is wanted")
    return int(count)


_PLAIN: dict[str, Callable[[Table, str], Any]] = {
    "cost": _cost,
    "actuated": _names,
    "free": _names,
    "method": lambda t, key: t.text(key),
    "intervals": _whole,
    "accuracy": lambda t, key: t.number(key, "number", instead=1.0, symbolic=False),
}


def _pair(t: Table, key: str, value: Any, dimension: str) -> tuple[float, float]:
    """Return [low, high] in SI units; dimension: what they measure."""
    if not (isinstance(value, list) and len(value) == 2):
        t.fault(f"{key} is {value!r}; a range is [low, high]")
        return 0.0, 1.0
    low, high = (float(t.scalar(x, key, dimension, symbolic=False)) for x in value)
    return low, high


def _ends(t: Table, key: str, value: Any, unit: str | None) -> tuple[float, float]:
    """Return [low, high] of a parameter with this unit, in SI units."""
    if not (isinstance(value, list) and len(value) == 2):
        t.fault(f"{key} is {value!r}; a range is [low, high]")
        return 0.0, 1.0
    try:
        return in_unit(value[0], unit, key), in_unit(value[1], unit, key)
    except QuantityError as why:
        t.fault(str(why))
        return 0.0, 1.0


def _dimension(m: Mechanism, name: str) -> str:
    """Return the dimension of a state or force; "any" for an unknown name."""
    letter, _, rest = name.partition(".")
    known = state_entries(m, letter) if letter in ("q", "v", "tau") else []
    return next((e.dimension for e in known if e.name == rest), "any")


def _state(t: Table, m: Mechanism) -> dict[str, Any]:
    """Return q and v of a state at the start or the end."""
    t.only(END.names)
    found: dict[str, Any] = {}
    for letter in "qv":
        if letter == "v" and t.data.get("v") == "rest":
            found["v"] = "rest"
        elif (own := t.table(letter)) is not None:
            names = [e.name for e in state_entries(m, letter)]
            found[letter] = {names[k]: x for k, x in named_values(own, m, letter).items()}
    return found
