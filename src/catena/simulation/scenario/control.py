"""Controllers in a file.

    control = { kind = "pd", kp = 100, kd = 20, target = { elbow = "30 deg" } }

[[scenario.control]] gives several, whose forces add. Each kind is a record: its keys are the
arguments of what `make` makes.
"""

from __future__ import annotations

from functools import reduce
from operator import add
from pathlib import Path
from typing import Any

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
from ..control.control_laws import Controller
from ..control.controllers import (
    FMU,
    PD,
    PID,
    Actuator,
    ComputedTorque,
    DCMotor,
    Drive,
    Forces,
    Hybrid,
    Impedance,
    Thruster,
)
from ..control.drives import DRIVE_MODES
from ..control.wrenches import wrenches
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
from .motion import beside, one_or_more, read_trajectory
from .names import by_name


def read_control(
    t: Table, m: Mechanism, folder: Path, trusted: bool = False
) -> Controller | FMU | None:
    """The controller, or the sum of several; None where there is a fault. trusted: whether an FMU
    may be run.
    """
    found = [
        CONTROLLERS.read(table, Context(m, folder, trusted=trusted))
        for table in one_or_more(t, "control")
    ]
    sound = [c for c in found if c is not None]
    return reduce(add, sound) if sound and len(sound) == len(found) else None


# --- readers of keys
_TRAJECTORY = Inside("trajectory")


@reads(Either((Quantity("any", symbolic=False), ByName("any", "any"))))
def gains(t: Table, key: str, c: Context) -> object:
    """One gain for all, or a table by joints or coordinates."""
    if not isinstance(t.data[key], dict):
        return t.number(key, "any", symbolic=False)
    table = t.table(key)
    return by_name(table, c.mechanism, "any") if table else {}


def path(letter: str) -> Reader:
    """A trajectory of coordinates ("q") or of forces ("tau")."""

    @reads(_TRAJECTORY)
    def read(t: Table, key: str, c: Context) -> object:
        table = t.table(key)
        return read_trajectory(table, c.mechanism, c.folder, letter) if table else None

    return read


@reads(Either((_TRAJECTORY, Quantity("any", symbolic=False))))
def target(t: Table, key: str, c: Context) -> object:
    """A trajectory, or one number for all coordinates."""
    return (
        path("q")(t, key, c)
        if isinstance(t.data[key], dict)
        else t.number(key, "any", symbolic=False)
    )


@reads(Either((Quantity("any", symbolic=False), Word(("effort",)), ByName("force", "torque"))))
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
    single = Table(
        {name: x for name, x in given.items() if name not in pairs}, table.where, table.ledger
    )
    both = Table(pairs, table.where, table.ledger)
    return by_name(single, c.mechanism, "tau") | by_name(both, c.mechanism, "tau", 2)


@reads(Vector("number", symbolic=False))
def direction(t: Table, key: str, c: Context) -> object:
    """Three numbers without a unit."""
    return t.vector(key, "number", symbolic=False)


@reads(Either((Flag(), Quantity("time", symbolic=False))))
def windup(t: Table, key: str, c: Context) -> object:
    """True, false, or a time."""
    return (
        flag(t, key, c) if isinstance(t.data[key], bool) else t.number(key, "time", symbolic=False)
    )


def _several(count: int) -> Reader:
    @reads(Several(Quantity("any", symbolic=False), count, count))
    def read(t: Table, key: str, c: Context) -> object:
        found = [t.scalar(x, key, "any", symbolic=False) for x in t.items(key)]
        if len(found) != count:
            t.fault(f"{key} has {len(found)} numbers; it takes {count}")
        return tuple(found)

    return read


@reads(Text("path of an .fmu file"))
def _fmu(t: Table, key: str, c: Context) -> object:
    """An .fmu file in the folder of the scenario or below it, which runs where the caller trusts
    it.
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
    return FMU(file, **rest)


def _texts(t: Table, key: str, c: Context) -> object:
    """Texts or numbers by name."""
    table = t.table(key)
    for name, x in (table.data if table else {}).items():
        if not isinstance(x, str | int | float) or isinstance(x, bool):
            t.fault(f"{key}.{name} is {describe(x)}; a text or a number is wanted")
    return dict(table.data) if table else {}


_three, _span = _several(3), _several(2)


@reads(Either((Quantity("any", symbolic=False), Several(Quantity("any", symbolic=False), 3, 3))))
def along_axes(t: Table, key: str, c: Context) -> object:
    """One number, or one per axis of the ground."""
    return (
        _three(t, key, c) if isinstance(t.data[key], list) else t.number(key, "any", symbolic=False)
    )


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
    "kp": "force per error, or 1/s^2",
    "ki": "force per integral of the error",
    "kd": "force per error of speed, or 1/s",
}
_KP, _KI, _KD = (TableKey(name, gains, needed=True, doc=doc) for name, doc in _GAIN.items())
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
_GEAR = TableKey("gear", gains, True, doc="ratio of each coordinate it drives")
_ACTUATOR = TableKey("name", word, doc="what results call it")


def _of(dimension: str, **keys: str) -> tuple[TableKey, ...]:
    """Numbers that are needed."""
    return tuple(TableKey(name, number(dimension), True, doc=doc) for name, doc in keys.items())


CONTROLLERS: Family[Controller | FMU] = Family(
    "controller",
    (
        Kind(
            "pid",
            PID,
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
                TableKey("integral", gains, doc="of the error at the start"),
            ),
            "tau = kp e + ki z + kd e', z' = e, e = target - q",
        ),
        Kind(
            "pd",
            PD,
            (_KP, _KD, _TARGET, _LIMITS, _GRAVITY, _SMOOTH, _SAMPLE),
            "the same without z, with the forces that hold the mechanism still",
        ),
        Kind(
            "computed_torque",
            ComputedTorque,
            (
                TableKey("trajectory", path("q"), True, doc="the motion that is wanted"),
                _KP,
                _KD,
                _LIMITS,
                _SMOOTH,
                _SAMPLE,
            ),
            "the forces of the accelerations a* + kd e' + kp e",
        ),
        Kind(
            "impedance",
            Impedance,
            (
                *_OF_FRAME,
                TableKey("stiffness", along_axes, True, doc="N/m, one or one per axis"),
                TableKey("damping", along_axes, True, doc="N s/m, one or one per axis"),
                _GRAVITY,
            ),
            "a frame that is drawn to a place as by a spring and a damper",
        ),
        Kind(
            "hybrid",
            Hybrid,
            (
                *_OF_FRAME,
                TableKey("normal", direction, True, doc="out of the wall, in the ground"),
                *_of(
                    "any",
                    force="into the wall, N",
                    stiffness="across the normal, N/m",
                    damping="across the normal, N s/m",
                    approach="along the normal, N s/m: it comes to the wall at force / approach",
                ),
                _GRAVITY,
            ),
            "a force along a normal, a place across it",
        ),
        Kind(
            "actuator",
            Actuator,
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
            Drive,
            (
                TableKey("joint", named("joint"), True, doc="what it drives"),
                TableKey(
                    "mode",
                    choice(*DRIVE_MODES),
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
            Thruster,
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
            DCMotor,
            (
                _GEAR,
                *_of(
                    "any",
                    voltage="V",
                    resistance="ohm",
                    inductance="H",
                    constant="N m/A, which is V s/rad",
                ),
                TableKey("current", number("any"), doc="at the start, A"),
                _ACTUATOR,
            ),
            "L i' = voltage - R i - k l', tau = gear k i, l = sum of gear q; i is a state",
        ),
        Kind(
            "wrenches",
            wrenches,
            (
                TableKey(
                    "file",
                    beside,
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
            Forces,
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
