"""Sensors: [[sensor]] tables, read and written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import MISSING, fields
from typing import Any

from ...errors import MechanismError, QuantityError
from ...model import SENSOR_KINDS, Sensor
from ..units import in_unit
from .schema import SENSOR
from .tables import Table

READINGS = ("noise", "offset", "resolution")
TIMES = ("sample", "delay")
NUMBERS = ("walk", "constant")


def read_sensor(t: Table) -> Sensor | None:
    """Return the sensor of a [[sensor]] table; None where it has a fault."""
    t.only(SENSOR.names)
    before = t.faults
    given: dict[str, Any] = {key: t.text(key) for key in ("name", "kind", "at")}
    if t.faults > before or given["kind"] not in SENSOR_KINDS:
        if t.faults == before:
            t.fault(f"kind is {given['kind']!r}; kinds are {', '.join(SENSOR_KINDS)}")
        return None
    units = SENSOR_KINDS[given["kind"]].units
    given |= {key: _reading(t, key, t.data[key], units) for key in READINGS if key in t}
    given |= {key: t.number(key, "time", symbolic=False) for key in TIMES if key in t}
    given |= {key: t.number(key, "number", symbolic=False) for key in NUMBERS if key in t}
    if "range" in t:
        ends = t.items("range")
        if len(ends) != 2:
            t.fault(f"range is {ends!r}; it is [lowest, highest]")
            return None
        given["range"] = tuple(_reading(t, "range", x, units) for x in ends)
    if t.faults > before:
        return None
    try:
        return Sensor(**given)
    except MechanismError as why:
        t.fault(str(why))
        return None


def _reading(t: Table, key: str, value: Any, units: tuple[str, ...]) -> float:
    """Return a number in SI units, of one of the units of a kind."""
    faults = []
    for unit in units:
        try:
            return in_unit(value, unit or None, key)
        except QuantityError as why:
            faults.append(str(why))
    t.fault(faults[-1])
    return 0.0


def sensor_pairs(
    s: Sensor, value: Callable[[Any], str], string: Callable[[str], str]
) -> Iterator[tuple[str, str]]:
    """Yield the keys of a sensor and their values as TOML; defaults are left out."""
    for f in fields(s):
        given = getattr(s, f.name)
        if f.default is MISSING or given != f.default:
            if isinstance(given, tuple):
                yield f.name, f"[{', '.join(map(value, given))}]"
            else:
                yield f.name, string(given) if isinstance(given, str) else value(given)
