"""Controllers in a file.

    control = { kind = "pd", kp = 100, kd = 20, target = { elbow = "30 deg" } }

[[scenario.control]] gives several, whose forces add. Each kind is a record: its keys are the
arguments of its function `make`.
"""

from __future__ import annotations

from functools import reduce
from operator import add
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...formats import describe
from ...formats.toml import (
    ByName,
    Either,
    Expression,
    FileTable,
    Flag,
    Inside,
    Map,
    Quantity,
    Several,
    Table,
    Text,
    Vector,
    Word,
    register,
)
from ...model import Mechanism
from .. import control
from .kinds import (
    Context,
    Family,
    Kind,
    Reader,
    TableKey,
    choice,
    flag,
    named,
    number,
    point,
    reads,
    word,
)
from .motion import csv_path, one_or_more, read_trajectory
from .names import DIMENSIONS, by_name, common_dimension

if TYPE_CHECKING:
    from ..control import FMU, Controller


def read_control(
    t: Table, m: Mechanism, folder: Path, trusted: bool = False
) -> Controller | FMU | None:
    """Return the controller, or the sum of several; None where the table has a fault. trusted:
    whether an FMU may be run.
    """
    found = [
        CONTROLLERS.read(table, Context(m, folder, trusted=trusted))
        for table in one_or_more(t, "control")
    ]
    sound = [c for c in found if c is not None]
    return reduce(add, sound) if sound and len(sound) == len(found) else None


# --- readers of keys
_TRAJECTORY = Inside("trajectory")


def gains(letter: str) -> Reader:
    """Read one gain for all coordinates, or a table of gains by joints or coordinates."""
    slides, turns = DIMENSIONS[letter]
    also = turns if turns != slides else ""

    @reads(Either((Quantity(slides, symbolic=False, also=also), ByName(slides, turns))))
    def read(t: Table, key: str, c: Context) -> object:
        if not isinstance(t.data[key], dict):
            return t.number(key, common_dimension(c.mechanism, letter), symbolic=False)
        table = t.table(key)
        return by_name(table, c.mechanism, letter) if table else {}

    return read


def path(letter: str) -> Reader:
    """Return a reader of a trajectory of coordinates ("q") or of forces ("tau")."""

    @reads(_TRAJECTORY)
    def read(t: Table, key: str, c: Context) -> object:
        table = t.table(key)
        return read_trajectory(table, c.mechanism, c.folder, letter) if table else None

    return read


@reads(Either((_TRAJECTORY, Quantity("length", symbolic=False, also="angle"))))
def target(t: Table, key: str, c: Context) -> object:
    """Read a trajectory, or one number for all coordinates."""
    return (
        path("q")(t, key, c)
        if isinstance(t.data[key], dict)
        else t.number(key, common_dimension(c.mechanism, "q"), symbolic=False)
    )


@reads(
    Either(
        (
            Quantity("force", symbolic=False, also="torque"),
            Word(("effort",)),
            ByName("force", "torque"),
        )
    )
)
def limits(t: Table, key: str, c: Context) -> object:
    """Read force limits: the word "effort", one force for all, or a table of forces and of pairs
    [lowest, highest].
    """
    given = t.data[key]
    if given == "effort":
        return given
    if isinstance(given, list):
        t.fault(f"{key} is {describe(given)}; a force, a table by joints, or 'effort' is wanted")
        return None
    table = t.table(key) if isinstance(given, dict) else None
    if table is None:
        return t.number(key, common_dimension(c.mechanism, "tau"), symbolic=False)
    pairs = {name: x for name, x in given.items() if isinstance(x, list)}
    single = Table(
        {name: x for name, x in given.items() if name not in pairs}, table.where, table.ledger
    )
    both = Table(pairs, table.where, table.ledger)
    return by_name(single, c.mechanism, "tau") | by_name(both, c.mechanism, "tau", 2)


@reads(Vector("number", symbolic=False))
def direction(t: Table, key: str, c: Context) -> object:
    """Read three numbers without unit."""
    return t.vector(key, "number", symbolic=False)


@reads(Either((Flag(), Quantity("time", symbolic=False))))
def windup(t: Table, key: str, c: Context) -> object:
    """Read the option of anti-windup: true, false, or a time."""
    return (
        flag(t, key, c) if isinstance(t.data[key], bool) else t.number(key, "time", symbolic=False)
    )


def _several(count: int, dimension: str = "any") -> Reader:
    @reads(Several(Quantity(dimension, symbolic=False), count, count))
    def read(t: Table, key: str, c: Context) -> object:
        found = [t.scalar(x, key, dimension, symbolic=False) for x in t.items(key)]
        if len(found) != count:
            t.fault(f"{key} has {len(found)} numbers; it takes {count}")
        return tuple(found)

    return read


@reads(Text("path of an .fmu file"))
def _fmu(t: Table, key: str, c: Context) -> object:
    """Read the path of an .fmu file in the folder of the scenario or below it. It is run only where
    the caller trusts it.
    """
    path = c.folder / t.text(key)
    if path.suffix.lower() != ".fmu" or not path.resolve().is_relative_to(c.folder.resolve()):
        t.fault(
            f"{key} is {t.data.get(key)!r}; an .fmu file in the folder of the scenario, or in one"
            " below it, is wanted"
        )
    elif not c.trusted:
        t.fault(
            f"{key} is {t.data.get(key)!r}; an FMU is a program, and it runs where you trust it:"
            " --trust on the command line, read(..., trusted=True)"
        )
    return path


def _made_fmu(file: Path, **rest: Any) -> FMU:
    return control.FMU(file, **rest)


def _texts(t: Table, key: str, c: Context) -> object:
    """Read a table of strings or numbers by name."""
    table = t.table(key)
    for name, x in (table.data if table else {}).items():
        if not isinstance(x, str | int | float) or isinstance(x, bool):
            t.fault(f"{key}.{name} is {describe(x)}; a text or a number is wanted")
    return dict(table.data) if table else {}


_three, _span = _several(3), _several(2)


def along_axes(dimension: str) -> Reader:
    """Read one number, or one for each axis of the ground."""
    three = _several(3, dimension)
    one = Quantity(dimension, symbolic=False)

    @reads(Either((one, Several(one, 3, 3))))
    def read(t: Table, key: str, c: Context) -> object:
        if isinstance(t.data[key], list):
            return three(t, key, c)
        return t.number(key, dimension, symbolic=False)

    return read


@reads(Several(Several(Quantity("any", symbolic=False), 2, 2), 1))
def _points(t: Table, key: str, c: Context) -> object:
    """Pairs of numbers."""
    rows = [row if isinstance(row, list) and len(row) == 2 else None for row in t.items(key)]
    if None in rows:
        t.fault(f"{key} is {describe(t.data[key])}; it is a list of pairs [speed, force]")
        return ((0.0, 0.0),)
    return tuple(
        tuple(float(t.scalar(x, key, "any", symbolic=False)) for x in row) for row in rows if row
    )


_GAIN = {
    "kp": "force per error",
    "ki": "force per integral of the error",
    "kd": "force per error of speed",
}
_KP, _KI, _KD = (TableKey(name, gains(name), needed=True, doc=doc) for name, doc in _GAIN.items())
_FREE_GAINS = tuple(
    TableKey(name, gains(f"{name} per inertia"), needed=True, doc=doc)
    for name, doc in {
        "kp": "acceleration per error",
        "kd": "acceleration per error of speed",
    }.items()
)
_TARGET = TableKey(
    "target", target, needed=True, doc="the motion that is wanted, or a place for each coordinate"
)
_LIMITS = TableKey(
    "limits", limits, doc="largest force, pairs [lowest, highest], or those of the joints"
)
_GRAVITY = TableKey("gravity", flag, doc="add the forces that hold the mechanism still")
_SMOOTH = TableKey("smooth", flag, doc="limit by a tanh instead of a corner")
_SAMPLE = TableKey("sample", number("time"), doc="time between samples; continuous unless given")
_OF_FRAME = (
    TableKey("frame", named("frame"), True, doc="which is led"),
    TableKey("target", point, True, doc="where to, in the ground"),
)
_GEAR = TableKey("gear", gains("any"), True, doc="ratio of each coordinate it drives")
_ACTUATOR = TableKey("name", word, doc="what results call it")


def _needed(**keys: tuple[str, str]) -> tuple[TableKey, ...]:
    """Return the records of keys that must be given, each a number of this dimension."""
    return tuple(
        TableKey(name, number(dimension), True, doc=doc) for name, (dimension, doc) in keys.items()
    )


CONTROLLERS: Family[Controller | FMU] = Family(
    "controller",
    (
        Kind(
            "pid",
            "catena.simulation.control:PID",
            (
                _KP,
                _KI,
                _KD,
                _TARGET,
                _LIMITS,
                TableKey(
                    "anti_windup",
                    windup,
                    doc="lead the integral back while a limit holds, in this time",
                ),
                _GRAVITY,
                _SMOOTH,
                _SAMPLE,
                TableKey("integral", gains("any"), doc="of the error at the start"),
            ),
            "tau = kp e + ki z + kd e', z' = e, e = target - q",
        ),
        Kind(
            "pd",
            "catena.simulation.control:PD",
            (_KP, _KD, _TARGET, _LIMITS, _GRAVITY, _SMOOTH, _SAMPLE),
            "the same without z, with the forces that hold the mechanism still",
        ),
        Kind(
            "computed_torque",
            "catena.simulation.control:ComputedTorque",
            (
                TableKey("trajectory", path("q"), True, doc="the motion that is wanted"),
                *_FREE_GAINS,
                _LIMITS,
                _SMOOTH,
                _SAMPLE,
            ),
            "the forces of the accelerations a* + kd e' + kp e",
        ),
        Kind(
            "impedance",
            "catena.simulation.control:Impedance",
            (
                *_OF_FRAME,
                TableKey("stiffness", along_axes("stiffness"), True, doc="one or one per axis"),
                TableKey("damping", along_axes("damping"), True, doc="one or one per axis"),
                _GRAVITY,
            ),
            "a frame that is drawn to a place as by a spring and a damper",
        ),
        Kind(
            "hybrid",
            "catena.simulation.control:Hybrid",
            (
                *_OF_FRAME,
                TableKey("normal", direction, True, doc="out of the wall, in the ground"),
                *_needed(
                    force=("force", "into the wall"),
                    stiffness=("stiffness", "across the normal"),
                    damping=("damping", "across the normal"),
                    approach=(
                        "damping",
                        "along the normal: it comes to the wall at force / approach",
                    ),
                ),
                _GRAVITY,
            ),
            "a force along a normal, a place across it",
        ),
        Kind(
            "actuator",
            "catena.simulation.control:Actuator",
            (
                _GEAR,
                TableKey("signal", number("any"), doc="its input signal"),
                TableKey("gain", number("any"), doc="force per signal"),
                TableKey("gain_slopes", _span, doc="g1, g2: the gain is gain + g1 l + g2 l'"),
                TableKey("bias", _three, doc="b0, b1, b2"),
                TableKey("signals", _span, doc="range of the signal"),
                TableKey("forces", _span, doc="range of the force"),
                _ACTUATOR,
                TableKey(
                    "time_constant",
                    number("time"),
                    doc=(
                        "T of an activation w, on which the gain then acts: T w' = clip(signal) - w"
                    ),
                ),
                TableKey("integrates", flag, doc="T w' = clip(signal)"),
                TableKey("activation", number("any"), doc="w at the start"),
                TableKey("activations", _span, doc="range of w"),
            ),
            "tau = gear clip(gain clip(signal) + b0 + b1 l + b2 l'), l = sum of gear q",
        ),
        Kind(
            "drive",
            "catena.simulation.control:Drive",
            (
                TableKey("joint", named("joint"), True, doc="what it drives"),
                TableKey(
                    "mode",
                    choice("force", "position", "velocity"),
                    doc="what the signal is: a force, or a servo's target",
                ),
                TableKey("signal", number("any"), doc="its input signal"),
                TableKey("signals", _span, doc="range of the signal"),
                TableKey("kp", number("any"), doc="force per error of position"),
                TableKey("kd", number("any"), doc="force per error of speed"),
                TableKey("effort", number("any"), doc="largest force of the motor"),
                TableKey("speed", number("any"), doc="speed at which it has no more force left"),
                TableKey("curve", _points, doc="largest force over speed, [[speed, force], ...]"),
                TableKey("delay", number("time"), doc="of the command, in whole samples"),
                _SAMPLE,
                TableKey("stiffness", number("any"), doc="of the gear; rigid unless given"),
                TableKey("damping", number("any"), doc="of the elastic gear"),
                TableKey("backlash", number("any"), doc="whole play of the gear"),
                TableKey("inertia", number("any"), doc="of the rotor, seen from the joint"),
                TableKey("friction", number("any"), doc="dry friction of motor and gear"),
                TableKey("viscous", number("any"), doc="force per speed of motor and gear"),
                TableKey("heating", number("any"), doc="K/s per square of the force"),
                TableKey("cooling", number("time"), doc="time constant of the winding"),
                TableKey("hottest", number("any"), doc="rise of temperature without force, K"),
                TableKey("winding", number("any"), doc="how far the rotor is ahead at the start"),
                _ACTUATOR,
            ),
            "a motor or servo with limits, delay, backlash, elasticity, friction and heat",
        ),
        Kind(
            "thruster",
            "catena.simulation.control:Thruster",
            (
                TableKey(
                    "frame",
                    named("frame"),
                    True,
                    doc="at whose origin and along whose axes it acts",
                ),
                TableKey("force", _three, doc="N per unit of the signal"),
                TableKey("torque", _three, doc="N m per unit"),
                TableKey("signal", number("any"), doc="its input signal"),
                TableKey("signals", _span, doc="range of the signal"),
                _ACTUATOR,
            ),
            "a force and a torque at a frame, along its axes, times a signal",
        ),
        Kind(
            "dc_motor",
            "catena.simulation.control:DCMotor",
            (
                _GEAR,
                *_needed(
                    voltage=("voltage", "between its terminals"),
                    resistance=("resistance", "R, of its winding"),
                    inductance=("inductance", "L, of its winding"),
                    constant=("motor constant", "k, N m/A, which is V s/rad"),
                ),
                TableKey("current", number("current"), doc="at the start"),
                _ACTUATOR,
            ),
            "L i' = voltage - R i - k l', tau = gear k i, l = sum of gear q; i is a state",
        ),
        Kind(
            "wrenches",
            "catena.simulation.control:wrenches",
            (
                TableKey(
                    "file",
                    csv_path,
                    True,
                    doc="rows over time, next to this file or below its folder",
                ),
            ),
            "forces from outside over time, from a .csv file",
        ),
        Kind(
            "fmu",
            _made_fmu,
            (
                TableKey(
                    "file",
                    _fmu,
                    True,
                    doc=(
                        "an .fmu next to this file or below its folder; it runs where the caller"
                        " trusts it"
                    ),
                ),
                TableKey(
                    "inputs",
                    reads(Map("input of the unit", Expression()))(_texts),
                    True,
                    doc="the signal of each input of the unit",
                ),
                TableKey(
                    "outputs",
                    reads(Map("joint, coordinate or speed", Text("name of an output of the unit")))(
                        _texts
                    ),
                    True,
                    doc="whose force each output is, N m or N",
                ),
                TableKey("sample", number("time"), True, doc="time between samples"),
                TableKey(
                    "parameters",
                    reads(Map("parameter of the unit", Expression()))(_texts),
                    doc="values of the unit's parameters",
                ),
            ),
            "a functional mock-up unit for co-simulation, sampled and held",
        ),
        Kind(
            "forces",
            "catena.simulation.control:Forces",
            (TableKey("table", path("tau"), True, doc="a trajectory of forces, N m or N"),),
            "forces as functions of time",
        ),
    ),
)
register(
    FileTable(
        "control",
        "[scenario.control]",
        "A controller; as [[scenario.control]] several, whose forces add.",
        (),
        CONTROLLERS.described,
    )
)
