"""The table [environment] of a file: a task for a learner.

[environment]
actions = ["x"]                              # or the motors of [scenario.control]
choices = [[-10], [10]]
observations = ["x", "v['x']", "theta", "v['theta']"]
reward = "1"
alive = { x = ["-2.4 m", "2.4 m"], theta = ["-12 deg", "12 deg"] }
start = { q = [-0.05, 0.05], v = [-0.05, 0.05] }
parameters = { m = ["80 g", "120 g"] }
time_step = "20 ms"
longest = 500
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .. import formats
from ..errors import FormatError, QuantityError
from ..formats import in_unit
from ..formats.toml import (
    Either,
    FaultLedger,
    FileKey,
    FileTable,
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
from ..simulation.scenario import read, state_entries
from .definition import Environment
from .tasks import motors

_SECONDS, _ANY = (Quantity(x, symbolic=False) for x in ("time", "any"))
_PAIR = Several(_ANY, 2, 2)
_SPREAD = Either((_ANY, _PAIR, Map("mean, deviation", _ANY)))
INTEGRATORS = ("rk4", "semi_implicit", "euler")
ENVIRONMENT = register(
    FileTable(
        "environment",
        "[environment]",
        "A task for a learner: what `catena.env.read_environment` reads.",
        (
            FileKey(
                "actions",
                Several(Name(of="joint")),
                "joints on which the learner acts with a force, within their limits of effort",
                shown="the motors of [scenario.control]",
            ),
            FileKey(
                "choices",
                Several(Several(_ANY, 1), 1),
                "rows of signals, of which an action chooses one",
            ),
            FileKey(
                "observations",
                Several(Text("a quantity such as `q['elbow']`"), 1),
                "what the learner sees",
                needed=True,
            ),
            FileKey("reward", Text("a text"), "what a step is worth", "1"),
            FileKey("alive", Map("text", _PAIR), "ranges within which an episode goes on"),
            FileKey(
                "start",
                Map("coordinate, v['NAME'], q or v", _SPREAD),
                "numbers or distributions at the start of an episode",
            ),
            FileKey(
                "parameters",
                Map("parameter", _SPREAD),
                "parameters that are drawn for each episode",
            ),
            FileKey(
                "time_step",
                _SECONDS,
                "time between two actions",
                default_of(Environment, "time_step"),
            ),
            FileKey("step", _SECONDS, "step of the integrator", shown="the time step"),
            FileKey(
                "integrator",
                Word(INTEGRATORS),
                "the method",
                default_of(Environment, "integrator"),
            ),
            FileKey("speed_limits", Map("speed", _PAIR), "ranges to which speeds are clipped"),
            FileKey("longest", Whole(1), "after how many actions an episode is truncated"),
            FileKey(
                "contact",
                Word(("ignore", "time_stepping")),
                "how contacts act",
                default_of(Environment, "contact"),
            ),
            FileKey(
                "limits",
                Word(("ignore", "stop")),
                "what limits of joints do",
                default_of(Environment, "limits"),
            ),
        ),
    )
)


def read_environment(file: str | Path, **changes: Any) -> Environment:
    """Return the environment that a file describes in its table [environment].

    Parameters
    ----------
    file : str or Path
        The model file (.toml), or the name of a built-in example.
    **changes
        Fields of `Environment` in place of those of the file.

    Returns
    -------
    Environment
        The task.

    Raises
    ------
    FormatError
        With every fault of the table.
    """
    path = formats._find(file)
    top = open_file(path) if path.suffix.lower() == ".toml" else Table({}, "", FaultLedger())
    given = top.data.get("environment")
    if not isinstance(given, dict):
        raise FormatError(
            path,
            "it has no table [environment]; write actions, observations, reward and others there:"
            " see docs/environments.md",
        )
    scenario = read(file, until=1.0)
    table = Table(given, "environment", FaultLedger(dict(scenario.mechanism.parameters)))
    found = _read(table, scenario.mechanism)
    if "actions" not in found:
        found["actions"] = motors(scenario.options.get("control"))
        if not found["actions"]:
            table.fault("actions is missing, and [scenario.control] has no motors")
    if faults := table.ledger.faults:
        raise FormatError(path, "its table [environment] has faults:", faults)
    return Environment(scenario.mechanism, **{**found, **changes})


def _read(t: Table, m: Mechanism) -> dict[str, Any]:
    """Return the fields of an environment; faults go into the table's ledger."""
    t.only(ENVIRONMENT.names)
    found: dict[str, Any] = {}
    for key in ("actions", "observations"):
        if key in t:
            found[key] = [str(x) for x in t.items(key)]
    if "observations" not in t:
        t.fault("observations is missing: a list of what the learner sees")
        found["observations"] = []
    if "choices" in t:
        found["choices"] = [
            [float(t.scalar(x, "choices", "any", symbolic=False)) for x in row]
            for row in t.items("choices")
        ]
    for key in ("reward", "integrator", "contact", "limits"):
        if key in t:
            found[key] = t.text(key)
    for key in ("time_step", "step"):
        if key in t:
            found[key] = t.number(key, "time", instead=1.0, symbolic=False)
    if "longest" in t:
        found["longest"] = int(t.number("longest", "number", instead=1.0, symbolic=False))
    units = _state_units(m)
    if (alive := t.table("alive")) is not None:
        found["alive"] = {
            name: _pair(alive, name, x, units.get(name)) for name, x in alive.data.items()
        }
    if (limits := t.table("speed_limits")) is not None:
        found["speed_limits"] = {
            name: _pair(limits, name, x, units.get(f"v['{name}']"))
            for name, x in limits.data.items()
        }
    if (start := t.table("start")) is not None:
        found["start"] = {
            name: _spread(start, name, x, units.get(name)) for name, x in start.data.items()
        }
    if (parameters := t.table("parameters")) is not None:
        units = parameter_units(m)
        found["parameters"] = {
            name: _spread(parameters, name, x, units.get(name))
            for name, x in parameters.data.items()
        }
    return found


def _state_units(m: Mechanism) -> dict[str, str]:
    """Return the units of coordinates by name, and of speeds as v['name']."""
    found = {}
    for letter, length, angle, form in (("q", "m", "rad", "{}"), ("v", "m/s", "rad/s", "v['{}']")):
        for e in state_entries(m, letter):
            if e.dimension == "number":  # of a quaternion
                continue
            unit = length if e.dimension in ("length", "speed") else angle
            found[form.format(e.name)] = unit
    return found


def _number(t: Table, key: str, value: Any, unit: str | None) -> float:
    """Return a number in SI units: of a unit where one is known."""
    if unit is None:
        return float(t.scalar(value, key, "any", symbolic=False))
    try:
        return in_unit(value, unit, key)
    except QuantityError as why:
        t.fault(str(why))
        return 0.0


def _pair(t: Table, key: str, value: Any, unit: str | None) -> tuple[float, float]:
    if not (isinstance(value, list) and len(value) == 2):
        t.fault(f"{key} is {value!r}; a range is [low, high]")
        return 0.0, 1.0
    low, high = (_number(t, key, x, unit) for x in value)
    return low, high


def _spread(t: Table, key: str, value: Any, unit: str | None) -> Any:
    """Return a number, a range, or a mean and a deviation."""
    if isinstance(value, dict):
        return {name: _number(t, key, x, unit) for name, x in value.items()}
    return _pair(t, key, value, unit) if isinstance(value, list) else _number(t, key, value, unit)
