"""The [scenario] table as a whole; its parts are read by the other files of this folder."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import formats
from ...errors import CatenaError, FormatError, unknown
from ...formats import describe
from ...formats.toml import (
    Either,
    FaultLedger,
    FileKey,
    FileTable,
    Flag,
    Inside,
    Map,
    Name,
    Quantity,
    Several,
    Table,
    Text,
    Type,
    Vector,
    Whole,
    Word,
    draft,
    open_file,
    register,
)
from ...machine import Machine
from ...model import Mechanism, parameter_units
from ...model.flexible import discretise
from ..options import RUN_OPTIONS, RunOption
from ..planning.plan import machine_of
from .control import read_control
from .events import read_events
from .initial import INITIAL, read_initial
from .motion import read_motion

Array = NDArray[np.float64]
# drawn unless the scenario names others
PLOTS = ("overview", "coordinates", "energies", "cyclograph")


def _plot_names() -> list[str]:
    from ...results import PLOTS as KINDS

    return list(KINDS)


# options of a run that are tables of the file, or need the mechanism to be read
PARTS: dict[str, Type] = {
    "control": Either((Inside("control"), Inside("control", many=True))),
    "motion": Either((Inside("motion"), Inside("motion", many=True))),
    "events": Inside("events", many=True),
    "parameters": Map("parameter", Quantity("any", symbolic=False)),
}


def _type(option: RunOption) -> Type:
    """Return the type of the value at the key of an option, for the documentation and checks of
    files.
    """
    if option.choices:
        return Word(option.choices)
    types = {
        float: Quantity(option.dimension, symbolic=False),
        int: Whole(option.least),
        bool: Flag(),
        str: Text(),
    }
    return PARTS.get(option.name) or types.get(option.type, Type())


def _option_keys() -> Iterator[FileKey]:
    """Return the keys of a scenario that are options of `simulate`, from the records of these."""
    for option in RUN_OPTIONS.values():
        if option.in_files:
            default = option.none_means() if option.none_means else option.default
            yield FileKey(option.name, _type(option), option.doc, default, shown=option.shown)


_SECONDS = Quantity("time", symbolic=False)
_SIGNALS = Map("name of a controller or joint", Quantity("any", symbolic=False))
SCENARIO = register(
    FileTable(
        "scenario",
        "[scenario]",
        "A run of the mechanism: what `catena.simulate` is asked for.",
        (
            FileKey("until", _SECONDS, "when it ends", needed=True),
            FileKey(
                "initial",
                Either((Inside("initial"), Name(of="named state"))),
                "where it starts",
                shown="all zero",
            ),
            FileKey(
                "gravity",
                Vector("acceleration", symbolic=False),
                "in place of the mechanism's",
                shown="the mechanism's",
            ),
            FileKey("plots", Several(Word(_plot_names)), "pictures that `catena run` draws", PLOTS),
            FileKey("states", Map("name", Inside("state")), "named starts, for `initial`"),
            FileKey(
                "signals", _SIGNALS, "signals of actuators, by their names or those of their joints"
            ),
        ),
        more=_option_keys,
    )
)
STATE = register(
    FileTable(
        "state",
        "states.NAME = { ... }",
        "A named start.",
        (*INITIAL.keys, FileKey("signals", _SIGNALS, "signals of actuators that belong to it")),
    )
)
MECHANISM = register(
    FileTable(
        "mechanism",
        "mechanism = { ... }",
        "The mechanism of a scenario that is a file of its own.",
        (
            FileKey(
                "file", Text("name of a file"), "of any format, or a built-in example", needed=True
            ),
            FileKey("floating", Flag(), "put the root body on a free joint", False),
            FileKey("mimic", Flag(), "whether mimic joints follow", True),
            FileKey("companion", Text("name of a file"), "a TOML file that adds to it"),
            FileKey(
                "armature",
                Quantity("number", symbolic=False),
                "rotor inertia of joints for which the file gives none, kg m2 or kg",
            ),
        ),
    )
)
SEPARATE = register(
    FileTable(
        "scenario file",
        "at the top of a scenario's own file",
        "A file that has a scenario and names a mechanism.",
        (
            FileKey(
                "mechanism",
                Either((Text("name of a file"), Inside("mechanism"))),
                "whose scenario it is",
                needed=True,
            ),
            FileKey("scenario", Inside("scenario"), "how it is run"),
            FileKey(
                "optimize", Inside("optimize"), "the motion of least cost that is wanted of it"
            ),
            FileKey("environment", Inside("environment"), "a task for a learner"),
        ),
    )
)


@dataclass(frozen=True)
class Scenario:
    """A mechanism and the arguments of `catena.simulate` for it.

    q, v: the initial state. near: the guess from which its loops were closed; kept: the names that
    the file gives, {"q": [...], "v": [...]}. options: the other arguments of `simulate`.
    has_scenario: whether the file itself says how long to run.
    """

    mechanism: Mechanism
    until: float
    q: Array
    v: Array
    near: Array
    options: Mapping[str, Any] = field(default_factory=dict)
    plots: tuple[str, ...] = PLOTS
    kept: Mapping[str, list[str]] = field(default_factory=dict)
    has_scenario: bool = True

    @property
    def arguments(self) -> dict[str, Any]:
        """Return the arguments with which `simulate(mechanism, ...)` is called."""
        return {"q": self.q, "v": self.v, "until": self.until, **self.options}


def read(
    file: str | Path,
    *,
    floating: bool = False,
    mimic: bool = True,
    companion: str | Path | None = None,
    armature: float | None = None,
    values: Mapping[str, float | str] | None = None,
    q: Mapping[str, Any] | None = None,
    options: Mapping[str, Any] | None = None,
    otherwise: Mapping[str, Any] | None = None,
    trusted: bool = False,
    **changes: Any,
) -> Scenario:
    """Return the scenario of a file of any format, or of a built-in example by its name.

    floating, mimic, companion, armature: as for `catena.load`. values: of parameters, in place of
    the file's. q: initial coordinates, in place of those that the table gives. options: of the
    reader of the file's format. otherwise: values for keys that the file does not give. trusted:
    whether programs that the file names (FMUs and xacro) may run. changes: values in place of the
    table's, such as until=2.0 or integrator="rk4"; None leaves the table's value.
    """
    path = formats._find(file)
    top = open_file(path) if path.suffix.lower() == ".toml" else Table({}, "", FaultLedger())
    mechanism, said = _mechanism(
        path,
        top,
        {
            "floating": floating,
            "mimic": mimic,
            "companion": companion,
            "armature": armature,
            "parameters": values,
            **(options or {}),
        },
        trusted,
    )
    found = _scenario(
        path, top, mechanism, {**(otherwise or {}), **said}, q or {}, machine_of, changes, trusted
    )
    return replace(found, has_scenario="until" in {**said, **(top.data.get("scenario") or {})})


def read_table(
    path: Path,
    top: Table,
    mechanism: Mechanism,
    machine: Callable[[Mechanism], Machine] = machine_of,
    *,
    trusted: bool = False,
    **changes: Any,
) -> Scenario:
    """Return the scenario of a file whose table was read already, for its mechanism. machine: the
    machine that closes the loops of the start.
    """
    return _scenario(path, top, mechanism, {}, {}, machine, changes, trusted)


def _scenario(
    path: Path,
    top: Table,
    mechanism: Mechanism,
    said: Mapping[str, Any],
    q: Mapping[str, Any],
    machine: Callable[[Mechanism], Machine],
    changes: Mapping[str, Any],
    trusted: bool = False,
) -> Scenario:
    """Return the scenario of a table. said: what a file of another format says about the run, which
    the table overrides; changes: values that override both.
    """
    given = top.table("scenario")
    data = (
        _without_refused(said)
        | dict(given.data if given else {})
        | {k: x for k, x in changes.items() if x is not None}
    )
    table = Table(_with_named_state(data, q), "scenario", FaultLedger())
    scenario = _read(table, mechanism, path.parent, machine, trusted)
    if faults := [*top.ledger.faults, *table.ledger.faults]:
        raise FormatError(
            path,
            f"the scenario has {'a fault' if len(faults) == 1 else f'{len(faults)} faults'}:",
            faults,
        )
    return scenario


def _with_named_state(data: dict[str, Any], q: Mapping[str, Any]) -> dict[str, Any]:
    """Return the table with the named state from which it starts put in place of the state's name,
    with the coordinates q in place of the table's, and with signals passed on to the controllers.
    """
    states = data.get("states")
    initial = data.get("initial")
    if (
        isinstance(initial, str)
        and isinstance(states, Mapping)
        and isinstance(states.get(initial), Mapping)
    ):
        chosen = dict(states[initial])
        own = chosen.pop("signals", {})
        data = {**data, "signals": _merged_signals(own, data.get("signals", {})), "initial": chosen}
    if q and isinstance(start := data.get("initial", {}), Mapping):
        data = {**data, "initial": {**start, "q": {**start.get("q", {}), **q}}}
    if isinstance(signals := data.get("signals"), Mapping) and (laws := _laws(data)):
        data = {**data, "control": [_with_signal(law, signals, laws) for law in laws]}
    return data


def _laws(data: Mapping[str, Any]) -> list[Any]:
    """Return the tables of the controllers: of one table, or of a list of them."""
    control = data.get("control")
    if isinstance(control, list):
        return control if all(isinstance(law, Mapping) for law in control) else []
    return [control] if isinstance(control, Mapping) else []


def _without_refused(said: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a file of another format says, its named states without the signals of actuators
    that its reader has refused and reported.
    """
    names = {law.get("name") for law in _laws(said)}
    states = {
        name: state | {"signals": {k: x for k, x in state.get("signals", {}).items() if k in names}}
        for name, state in said.get("states", {}).items()
    }
    return {**said, **({"states": states} if states else {})}


def _with_signal(
    law: dict[str, Any], signals: Mapping[str, Any], control: list[Any]
) -> dict[str, Any]:
    """Return the table of a controller, with its signal: the one given under the controller's name,
    or under the name of the only joint that it drives.
    """
    if law.get("name") in signals:
        return {**law, "signal": signals[law["name"]]}
    joint = _driven_alone(control).get(law.get("name"), "")
    return {**law, "signal": signals[joint]} if joint in signals else law


def _driven_alone(control: list[Any]) -> dict[Any, str]:
    """Return {controller: joint} for each joint that only one controller drives and that is the
    only joint of this controller.
    """
    driven = [
        (law.get("name"), joint)
        for law in control
        if isinstance(law, Mapping)
        and isinstance(law.get("gear"), Mapping)
        and len(law["gear"]) == 1
        for joint in law["gear"]
    ]
    joints = [joint for _, joint in driven]
    names = {name for name, _ in driven}
    return {
        name: joint for name, joint in driven if joints.count(joint) == 1 and joint not in names
    }


def _merged_signals(below: Any, above: Any) -> Any:
    """Return the signals of a state, overridden by those of the scenario. A value that is not a
    table is returned as it is, so that the check of its type reports it.
    """
    return (
        {**below, **above}
        if isinstance(below, Mapping) and isinstance(above, Mapping)
        else above
        if isinstance(below, Mapping)
        else below
    )


def near(file: str | Path, mechanism: Mechanism) -> Array | None:
    """Return the guess from which the scenario of a file closes the loops of a mechanism; None
    where the file has no scenario.
    """
    found = _initial_of_file(file, mechanism, None)
    return None if found is None else found[3]


def start(file: str | Path, machine: Machine) -> Array | None:
    """Return the coordinates (nq,) at which the scenario of a file starts, with loops closed; None
    where the file does not give a start.
    """
    found = _initial_of_file(file, machine.mechanism, machine)
    return None if found is None else found[0]


def _initial_of_file(
    file: str | Path, mechanism: Mechanism, machine: Machine | None
) -> tuple[Array, Array, dict[str, list[str]], Array] | None:
    path = formats._find(file)
    given = open_file(path).table("scenario") if path.suffix.lower() == ".toml" else None
    if given is None or "initial" not in given:
        return None
    closing = None if machine is None else lambda _: machine
    found = read_initial(given.table("initial"), mechanism, given, closing)
    if given.ledger.faults:
        raise FormatError(path, "the scenario's initial state has a fault:", given.ledger.faults)
    return found


def mechanism_of_table(path: Path, top: Table) -> Mechanism:
    """Return the mechanism of a file whose table was read already, or of the file that it names."""
    return _mechanism(
        path, top, {"floating": False, "mimic": True, "companion": None, "armature": None}
    )[0]


def _mechanism(
    path: Path, top: Table, options: dict[str, Any], trusted: bool = False
) -> tuple[Mechanism, Mapping[str, Any]]:
    """Return the mechanism of the file itself, or of the file that it names; and what a file of
    another format says about a run.
    """
    word = {"trusted": True} if trusted else {}
    if "mechanism" not in top:
        found = (
            formats.changed(draft(path, top), **options)
            if path.suffix.lower() == ".toml"
            else formats.drafted(path, **options, **_of_xacro(path, word))
        )
        return discretise(found.finish()), found.scenario
    top.only(SEPARATE.names)
    for key in ("optimize", "environment"):
        top.table(key)  # read by those who optimise or learn; here it is a table or a fault
    named = top.data["mechanism"]
    table = Table(
        {"file": named} if isinstance(named, str) else named if isinstance(named, dict) else {},
        "mechanism",
        top.ledger,
    )
    if not isinstance(named, (str, dict)):
        table.fault(
            f"it is {describe(named)}; a file or a table with file, floating, mimic, companion,"
            " armature is wanted"
        )
    table.only(MECHANISM.names)
    name = table.text("file")
    companion = table.text("companion", default="")
    own = {
        "floating": table.flag("floating", False) or options["floating"],
        "mimic": table.flag("mimic", True) and options["mimic"],
        "armature": options["armature"],
    }
    if "armature" in table and own["armature"] is None:
        own["armature"] = table.number("armature", "number", 0.0, symbolic=False)
    if top.ledger.faults:
        raise FormatError(
            path, "the scenario does not say which mechanism it is of:", top.ledger.faults
        )
    beside = path.parent / name
    where = beside if beside.suffix or os.path.exists(beside) else name
    own["companion"] = options["companion"] or (path.parent / companion if companion else None)
    found = formats.drafted(where, **{**options, **own, **_of_xacro(Path(where), word)})
    return discretise(found.finish()), found.scenario


def _of_xacro(path: Path, word: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the caller's permission to run xacro as an argument, if the reader of the file takes
    it.
    """
    return word if path.suffix.lower() == ".xacro" else {}


def _read(
    t: Table,
    m: Mechanism,
    folder: Path,
    machine: Callable[[Mechanism], Machine],
    trusted: bool = False,
) -> Scenario:
    t.only(SCENARIO.names)
    if "gravity" in t:
        m = m.with_(gravity=t.vector("gravity", "acceleration", symbolic=False))
    if "until" not in t:
        t.fault(
            'until is missing: how long to run. Write until = "5 s" under [scenario], or say'
            " --until 5"
        )
    until = t.number("until", "time", 1.0, instead=1.0, symbolic=False)
    q, v, kept, near = read_initial(_initial(t), m, t, machine)
    _check_states(t)
    options: dict[str, Any] = {}
    parts = {
        "control": partial(read_control, trusted=trusted),
        "motion": read_motion,
        "events": read_events,
        "parameters": _parameters,
    }
    for option in RUN_OPTIONS.values():
        if not option.in_files or option.name not in t:
            continue
        if option.name not in parts:
            options[option.name] = _value(t, option)
        elif (found := _read_part(t, option.name, parts[option.name], m, folder)) is not None:
            options[option.name] = found
    return Scenario(m, until, q, v, near, options, _plots(t), kept)


def _initial(t: Table) -> Table | None:
    """Return the table of the start; the name of a state that does not exist is a fault."""
    if not isinstance(t.data.get("initial"), str):
        return t.table("initial")
    states = t.table("states")
    t.fault(
        "initial:"
        f" {unknown('state', t.data['initial'], states.data if states else (), 'the scenario')}"
    )
    return None


def _check_states(t: Table) -> None:
    """Check the form of named states and of signals; the values of a state are read where it is
    used.
    """
    states = t.table("states")
    signals = t.table("signals")
    for state in [states.table(name) for name in states.data] if states else []:
        if state is not None:
            state.only(STATE.names)
    control = t.data.get("control")
    laws = control if isinstance(control, list) else [control] if control else []
    known = [str(law.get("name")) for law in laws if isinstance(law, Mapping) and "name" in law]
    known += _driven_alone(laws).values()
    for name in signals.data if signals else ():
        signals.number(name, "any", symbolic=False)  # type: ignore[union-attr]
        if name not in known:
            t.fault(f"signals: {unknown('actuator', name, known, 'the scenario')}")


def _read_part(t: Table, key: str, reader: Any, m: Mechanism, folder: Path) -> Any:
    """Return what a reader finds at a key; an error that a controller or trajectory raises is
    reported as a fault of that key.
    """
    try:
        return reader(t, m, folder)
    except CatenaError as why:
        t.fault(f"{key}: {why}")
        return None


def _value(t: Table, option: RunOption) -> Any:
    """Return the value at the key of an option that is one number, word or boolean."""
    key = option.name
    if option.type is bool:
        return t.flag(key, option.default)
    if option.type in (float, int):
        x = t.number(key, option.dimension, symbolic=False)
        return int(x) if option.type is int and x == int(x) else x
    if option.type is not str:
        return t.data[key]
    word = t.text(key)
    try:
        if word and not callable(option.choices) and word not in (option.choices or (word,)):
            t.fault(f"{key}: {unknown('word', word, option.choices)}")
        elif word:
            option.checked(word)
    except CatenaError as why:
        t.fault(f"{key}: {why}")
    return word


def _parameters(t: Table, m: Mechanism, folder: Path) -> dict[str, float]:
    table = t.table("parameters")
    found = {}
    units = parameter_units(m) if table else {}
    for name in table.data if table else ():
        if name not in m.parameters:
            table.fault(unknown("parameter", name, m.parameters, f"mechanism {m.name!r}"))  # type: ignore[union-attr]
        else:
            found[name] = table.in_unit(name, units.get(name))  # type: ignore[union-attr]
    return found


def _plots(t: Table) -> tuple[str, ...]:
    KINDS = _plot_names()
    names = t.items("plots", default=list(PLOTS))
    for name in names:
        if name not in KINDS:
            t.fault(f"plots: {unknown('plot', name, KINDS)}")
    return tuple(name for name in names if name in KINDS)
