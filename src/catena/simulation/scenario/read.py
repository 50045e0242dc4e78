"""The [scenario] table as a whole; its parts are read by the files beside this one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import formats
from ...equations.formulations import formulation
from ...errors import CatenaError, FormatError, unknown
from ...formats.toml.reader import draft, open_file
from ...formats.toml.tables import FaultLedger, Table
from ...formats.units import describe
from ...model.flexible import discretise
from ...model.mechanism import Mechanism
from ..integrators import method
from ..stabilisation import stabiliser
from .control import read_control
from .events import read_events
from .initial import read_initial
from .motion import read_motion

Array = NDArray[np.float64]
KEYS = ("until", "start", "output", "initial", "by", "integrator", "tolerance", "step", "largest_step", "control", "motion", "events", "limits",
        "restitution", "friction", "stabilise", "gravity", "parameters", "plots")  # fmt: skip
FILE_KEYS = ("mechanism", "scenario")
MECHANISM_KEYS = ("file", "floating", "mimic", "companion")
PLOTS = ("overview", "coordinates", "energies", "cyclograph")  # drawn unless the scenario names others
MEMBERS: dict[str, Callable[[str], object]] = {"by": formulation, "integrator": method, "stabilise": stabiliser}
WORDS = {"limits": ("check", "ignore", "stop"), "friction": ("smooth", "stick")}


@dataclass(frozen=True)
class Scenario:
    """A mechanism, and what `catena.simulate` is to do with it.

    q, v: the start. near: the guess from which its loops were closed; kept: the names that were given, {"q": [...], "v": [...]}. options: the other arguments of `simulate`.
    """

    mechanism: Mechanism
    until: float
    q: Array
    v: Array
    near: Array
    options: Mapping[str, Any] = field(default_factory=dict)
    plots: tuple[str, ...] = PLOTS
    kept: Mapping[str, list[str]] = field(default_factory=dict)

    @property
    def arguments(self) -> dict[str, Any]:
        """What to call `simulate(mechanism, ...)` with."""
        return {"q": self.q, "v": self.v, "until": self.until, **self.options}


def read(file: str | Path, **changes: Any) -> Scenario:
    """The scenario of a .toml or .urdf file, or of a built-in example by its name.

    changes: values in place of the table's, such as until=2.0 or integrator="rk4"; None leaves what stands there.
    """
    path = formats._find(file)
    top = open_file(path) if path.suffix.lower() == ".toml" else Table({}, "", FaultLedger())
    mechanism = _mechanism(path, top)
    given = top.table("scenario")
    data = dict(given.data if given else {}) | {k: x for k, x in changes.items() if x is not None}
    table = Table(data, "scenario", FaultLedger())
    scenario = _read(table, mechanism, path.parent)
    if faults := [*top.ledger.faults, *table.ledger.faults]:
        raise FormatError(path, f"the scenario has {'a fault' if len(faults) == 1 else f'{len(faults)} faults'}:", faults)
    return scenario


def near(file: str | Path, mechanism: Mechanism) -> Array | None:
    """The guess that the scenario of a file closes the loops of a mechanism from; None where it has no scenario."""
    path = formats._find(file)
    given = open_file(path).table("scenario") if path.suffix.lower() == ".toml" else None
    if given is None or "initial" not in given:
        return None
    *_, found = read_initial(given.table("initial"), mechanism, given, close=False)
    if given.ledger.faults:
        raise FormatError(path, "the scenario's initial state has a fault:", given.ledger.faults)
    return found


def _mechanism(path: Path, top: Table) -> Mechanism:
    """The mechanism of the file itself, or of the one it names."""
    if "mechanism" not in top:
        return discretise(draft(path, top).finish() if path.suffix.lower() == ".toml" else formats.load(path))
    top.only(FILE_KEYS)
    named = top.data["mechanism"]
    table = Table(
        {"file": named} if isinstance(named, str) else named if isinstance(named, dict) else {}, "mechanism", top.ledger
    )
    if not isinstance(named, (str, dict)):
        table.fault(f"it is {describe(named)}; a file or a table with file, floating, mimic, companion is wanted")
    table.only(MECHANISM_KEYS)
    name, options = (
        table.text("file"),
        {key: table.flag(key, default) for key, default in (("floating", False), ("mimic", True))},
    )
    companion = table.text("companion", default="")
    if top.ledger.faults:
        raise FormatError(path, "the scenario does not say which mechanism it is of:", top.ledger.faults)
    beside = path.parent / name
    where = beside if beside.suffix or beside.exists() else name
    return discretise(formats.load(where, **options, companion=path.parent / companion if companion else None))


def _read(t: Table, m: Mechanism, folder: Path) -> Scenario:
    t.only(KEYS)
    if "gravity" in t:
        m = m.with_(gravity=t.vector("gravity", "acceleration", symbolic=False))
    if "until" not in t:
        t.fault('until is missing: how long to run. Write until = "5 s" under [scenario], or say --until 5')
    until = t.number("until", "time", 1.0, instead=1.0, symbolic=False)
    q, v, kept, near = read_initial(t.table("initial"), m, t)
    options: dict[str, Any] = {}
    for key in ("start", "output", "step", "largest_step"):
        if key in t:
            options[key] = t.number(key, "time", instead=1.0, symbolic=False)
    for key in ("tolerance", "restitution"):
        if key in t:
            options[key] = t.number(key, "number", instead=1e-9, symbolic=False)
    options |= _words(t)
    for key, reader in (("control", read_control), ("motion", read_motion), ("events", read_events)):
        if key in t and (found := _careful(t, key, reader, m, folder)) is not None:
            options[key] = found
    if "parameters" in t:
        options["parameters"] = _parameters(t, m)
    return Scenario(m, until, q, v, near, options, _plots(t), kept)


def _careful(t: Table, key: str, reader: Any, m: Mechanism, folder: Path) -> Any:
    """What a part's reader finds; what a controller or trajectory itself refuses is a fault of that part."""
    try:
        return reader(t, m, folder)
    except CatenaError as why:
        t.fault(f"{key}: {why}")
        return None


def _words(t: Table) -> dict[str, str]:
    """The words of a scenario: members of families, looked up in their registries, and others."""
    found = {key: t.text(key) for key in (*MEMBERS, *WORDS) if key in t}
    for key, word in found.items():
        try:
            if word and key in MEMBERS:
                MEMBERS[key](word)
            elif word and word not in WORDS[key]:
                t.fault(f"{key}: {unknown('word', word, WORDS[key])}")
        except CatenaError as why:
            t.fault(f"{key}: {why}")
    return found


def _parameters(t: Table, m: Mechanism) -> dict[str, float]:
    table = t.table("parameters")
    found = {}
    for name in table.data if table else ():
        if name not in m.parameters:
            table.fault(unknown("parameter", name, m.parameters, f"mechanism {m.name!r}"))  # type: ignore[union-attr]
        else:
            found[name] = table.number(name, "any", symbolic=False)  # type: ignore[union-attr]
    return found


def _plots(t: Table) -> tuple[str, ...]:
    from ...results.plotting import PLOTS as KINDS

    names = t.items("plots", default=list(PLOTS))
    for name in names:
        if name not in KINDS:
            t.fault(f"plots: {unknown('plot', name, KINDS)}")
    return tuple(name for name in names if name in KINDS)
