"""Controllers in a file.

    control = { kind = "pd", kp = 100, kd = 20, target = { elbow = "30 deg" } }

[[scenario.control]] gives several, whose forces add. Each kind is a record: its keys are the arguments of what `make` makes.
"""

from __future__ import annotations

from functools import reduce
from operator import add
from pathlib import Path
from typing import Any

from ...formats.toml.tables import Table
from ...formats.units import describe
from ...model.mechanism import Mechanism
from ..control import FMU, PD, PID, Actuator, ComputedTorque, DCMotor, Forces, Hybrid, Impedance
from ..control_laws import Controller
from ..wrenches import wrenches
from .kinds import Context, Family, Kind, Reader, TableKey, flag, number, point, word
from .motion import beside, one_or_more, read_trajectory
from .names import by_name


def read_control(t: Table, m: Mechanism, folder: Path, trusted: bool = False) -> Controller | FMU | None:
    """The controller, or the sum of several; None where there is a fault. trusted: whether an FMU may be run."""
    found = [CONTROLLERS.read(table, Context(m, folder, trusted=trusted)) for table in one_or_more(t, "control")]
    sound = [c for c in found if c is not None]
    return reduce(add, sound) if sound and len(sound) == len(found) else None


# ---------------------------------------------------------------------------------------------------- readers of keys
def gains(t: Table, key: str, c: Context) -> object:
    """One gain for all, or a table by joints or coordinates."""
    if not isinstance(t.data[key], dict):
        return t.number(key, "any", symbolic=False)
    table = t.table(key)
    return by_name(table, c.mechanism, "any") if table else {}


def path(letter: str) -> Reader:
    """A trajectory of coordinates ("q") or of forces ("tau")."""

    def read(t: Table, key: str, c: Context) -> object:
        table = t.table(key)
        return read_trajectory(table, c.mechanism, c.folder, letter) if table else None

    return read


def target(t: Table, key: str, c: Context) -> object:
    """A trajectory, or one number for all coordinates."""
    return path("q")(t, key, c) if isinstance(t.data[key], dict) else t.number(key, "any", symbolic=False)


def limits(t: Table, key: str, c: Context) -> object:
    """ "effort", one force for all, or a table of forces and of pairs [lowest, highest]."""
    given = t.data[key]
    if given == "effort":
        return given
    if isinstance(given, list):
        t.fault(f"{key} is {describe(given)}; a force, a table by joints, or 'effort' is wanted")
        return None
    table = t.table(key) if isinstance(given, dict) else None
    if table is None:
        return t.number(key, "any", symbolic=False)
    pairs = {name: x for name, x in given.items() if isinstance(x, list)}
    single = Table({name: x for name, x in given.items() if name not in pairs}, table.where, table.ledger)
    both = Table(pairs, table.where, table.ledger)
    return by_name(single, c.mechanism, "tau") | by_name(both, c.mechanism, "tau", 2)


def direction(t: Table, key: str, c: Context) -> object:
    """Three numbers without a unit."""
    return t.vector(key, "number", symbolic=False)


def windup(t: Table, key: str, c: Context) -> object:
    """True, false, or a time."""
    return flag(t, key, c) if isinstance(t.data[key], bool) else t.number(key, "time", symbolic=False)


def _several(count: int) -> Reader:
    def read(t: Table, key: str, c: Context) -> object:
        found = [t.scalar(x, key, "any", symbolic=False) for x in t.items(key)]
        if len(found) != count:
            t.fault(f"{key} has {len(found)} numbers; it takes {count}")
        return tuple(found)

    return read


def _fmu(t: Table, key: str, c: Context) -> object:
    """An .fmu file in the folder of the scenario or below it, which runs where the caller trusts it."""
    path = c.folder / t.text(key)
    if path.suffix.lower() != ".fmu" or not path.resolve().is_relative_to(c.folder.resolve()):
        t.fault(f"{key} is {t.data.get(key)!r}; an .fmu file in the folder of the scenario, or in one below it, is wanted")
    elif not c.trusted:
        t.fault(f"{key} is {t.data.get(key)!r}; an FMU is a program, and it runs where you trust it: --trust on the command line, read(..., trusted=True)")
    return path


def _made_fmu(file: Path, **rest: Any) -> FMU:
    return FMU(file, **rest)


def _texts(t: Table, key: str, c: Context) -> object:
    """Texts or numbers by name."""
    table = t.table(key)
    for name, x in (table.data if table else {}).items():
        if not isinstance(x, str | int | float) or isinstance(x, bool):
            t.fault(f"{key}.{name} is {describe(x)}; a text or a number is wanted")
    return dict(table.data) if table else {}


_three, _span = _several(3), _several(2)
_KP, _KI, _KD = (TableKey(name, gains, needed=True) for name in ("kp", "ki", "kd"))
_TARGET, _LIMITS = TableKey("target", target, needed=True), TableKey("limits", limits)
_GRAVITY, _SMOOTH, _SAMPLE = TableKey("gravity", flag), TableKey("smooth", flag), TableKey("sample", number("time"))

_OF_FRAME = TableKey("frame", word, True), TableKey("target", point, True)

CONTROLLERS: Family[Controller | FMU] = Family("controller", (
    Kind("pid", PID, (_KP, _KI, _KD, _TARGET, _LIMITS, TableKey("anti_windup", windup), _GRAVITY, _SMOOTH, _SAMPLE),
         "tau = kp e + ki z + kd e', z' = e, e = target - q"),
    Kind("pd", PD, (_KP, _KD, _TARGET, _LIMITS, _GRAVITY, _SMOOTH, _SAMPLE),
         "the same without z, with the forces that hold the mechanism still"),
    Kind("computed_torque", ComputedTorque, (TableKey("trajectory", path("q"), True), _KP, _KD, _LIMITS, _SMOOTH, _SAMPLE),
         "the forces of the accelerations a* + kd e' + kp e"),
    Kind("impedance", Impedance, (*_OF_FRAME, TableKey("stiffness", gains, True), TableKey("damping", gains, True), _GRAVITY),
         "a frame that is drawn to a place as by a spring and a damper"),
    Kind("hybrid", Hybrid, (*_OF_FRAME, TableKey("normal", direction, True), TableKey("force", gains, True), TableKey("stiffness", gains, True),
                            TableKey("damping", gains, True), TableKey("approach", gains, True), _GRAVITY),
         "a force along a normal, a place across it"),
    Kind("actuator", Actuator, (TableKey("gear", gains, True), TableKey("signal", number("any")), TableKey("gain", number("any")),
         TableKey("bias", _three), TableKey("signals", _span), TableKey("forces", _span), TableKey("name", word)),
         "tau = gear clip(gain clip(signal) + b0 + b1 l + b2 l'), l = sum of gear q"),
    Kind("dc_motor", DCMotor, (TableKey("gear", gains, True), TableKey("voltage", number("any"), True), TableKey("resistance", number("any"), True),
         TableKey("inductance", number("any"), True), TableKey("constant", number("any"), True), TableKey("current", number("any")),
         TableKey("name", word)), "L i' = voltage - R i - k l', tau = gear k i, l = sum of gear q; i is a state"),
    Kind("wrenches", wrenches, (TableKey("file", beside, True),), "forces from outside over time, from a .csv file"),
    Kind("fmu", _made_fmu, (TableKey("file", _fmu, True), TableKey("inputs", _texts, True), TableKey("outputs", _texts, True), TableKey("sample", number("time"), True),
                      TableKey("parameters", _texts)), "a functional mock-up unit for co-simulation, sampled and held"),
    Kind("forces", Forces, (TableKey("table", path("tau"), True),), "forces as functions of time"),
))  # fmt: skip
