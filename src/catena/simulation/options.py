"""Run options: the arguments of `simulate` other than the mechanism, its start and its end.

    RUN_OPTIONS     one record per option: its type, default, documentation and check
    RunOptions      the values of one run, checked

The keys of [scenario], flags of the command line, what studies take and the fingerprint of a run
follow from the records. The signature of `simulate` is written out for readers and type checkers; a
test compares it with them. `RUN_OPTIONS.register(RunOption(...))` adds an option from outside.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from numbers import Integral, Real
from typing import Any

from ..errors import SimulationError, unknown
from ..registry import Registry, loaded

# What is slow to import is named as a text and imported where it is used: the completion of
# `catena run` by the shell reads these records.
Check = Callable[[str, Any], Any]


@dataclass(frozen=True)
class RunOption:
    """An option of a run.

    Parameters
    ----------
    name
        The keyword of `simulate`, the key of [scenario], and the flag, with hyphens.
    doc
        What it is, in a few words that follow its name in the list of keys of files.
    type
        float, int, bool or str; object for anything else, which `check` or the plan judges.
    default
        Its value where it is not given.
    dimension
        Of a float: "number", or "time" in seconds, as `catena.formats.units` names them.
    least
        Of an int in files: the smallest that is allowed.
    choices
        Of a text: the words that are allowed, or a function that returns them where they are the
        members of a registry, which may grow.
    check
        (name, value) -> the value as the run takes it; raises SimulationError. Without one, the
        value has to be of the type, or one of the choices, or the default.
    decides
        Whether the numbers of the result depend on it, so that it is part of the fingerprint.
    of_one_call
        Whether it says what `simulate` does with one run (where rows go, whether to run again);
        studies and sensitivities, which make runs of their own, refuse it.
    in_files
        Whether it is a key of [scenario].
    flag
        The help of its flag of `catena run` and `catena sweep`; "" where there is none.
    none_means
        A function that returns the value that None stands for.
    shown
        What people read in place of the default.
    """

    name: str
    doc: str
    type: type = object
    default: Any = None
    dimension: str = "number"
    least: int | None = None
    choices: Iterable[str] | Callable[[], Any] = ()
    check: Check | None = None
    decides: bool = True
    of_one_call: bool = False
    in_files: bool = True
    flag: str = ""
    none_means: Callable[[], Any] | None = None
    shown: str = ""

    def words(self) -> list[str]:
        """Return the allowed words; the list may be a function, so that registered additions are
        included.
        """
        return list(self.choices() if callable(self.choices) else self.choices)

    def checked(self, value: Any) -> Any:
        """Return the value in the form that the run uses; raise SimulationError where it is not
        allowed.
        """
        if self.check is not None:
            return self.check(self.name, value)
        if value is self.default or self.type is object:
            return value
        if words := self.words():
            return _one_of(self.name, words, self.name, value)
        if not _is_a(self.type, value):
            raise SimulationError(f"{self.name} = {value!r}; it is {TYPES[self.type]}")
        return value


TYPES = {float: "a number", int: "a whole number", bool: "true or false", str: "a text"}


def _is_a(type: type, value: Any) -> bool:
    """Return whether a value of Python or NumPy is of one of the TYPES; a boolean does not count as
    a number.
    """
    import numpy as np

    known = {float: (Real,), int: (Integral,), bool: (bool, np.bool_), str: (str,)}
    return isinstance(value, known[type]) and (type is bool or not isinstance(value, bool))


# --- checks
def _with_others(name: str, value: Any) -> Any:
    """Accept any value: the plan of the run checks it together with other options."""
    return value


def _one_of(what: str, words: Iterable[str], name: str, value: Any) -> str:
    if not isinstance(value, str) or value not in words:
        raise SimulationError(unknown(what, value, words))
    return str(value)


def _between(low: float, high: float, name: str, value: Any) -> float:
    if not (isinstance(value, Real) and low <= float(value) <= high):
        raise SimulationError(f"{name} = {value}; it lies between {low:g} and {high:g}")
    return float(value)


def _count(name: str, value: Any) -> int:
    if not (isinstance(value, Real) and float(value) >= 1 and float(value).is_integer()):
        raise SimulationError(f"{name} = {value}; it is a whole number from 1 on")
    return int(float(value))


def _records(name: str, value: Any) -> tuple[Any, ...]:
    try:
        return tuple(value)
    except TypeError:
        raise SimulationError(
            f"{name} is a {type(value).__name__}; it is a list of records of catena.events"
        ) from None


def _accepted_by(by: str, name: str, value: Any) -> Any:
    """Return a value that is None or that a function, named "package.module:name", does not
    reject.
    """
    if value is not None:
        loaded(by)(value)
    return value


def _integrator(name: str, value: Any) -> Any:
    """Check the name of an integrator; those of time stepping are checked together with
    `contact`.
    """
    from .integrators.methods import METHODS, MOREAU_JEAN

    return (
        value if isinstance(value, str) and value == MOREAU_JEAN.name else METHODS.find(value).name
    )


def _choice(name: str, what: str, doc: str, words: tuple[str, ...], **more: Any) -> RunOption:
    """Return the record of an option whose value is one of a few words, the first of them by
    default.
    """
    check = partial(_one_of, what, words)
    return RunOption(name, doc, str, words[0], choices=words, check=check, **more)


def _seconds(name: str, doc: str, default: Any = None, **more: Any) -> RunOption:
    """Return the record of an option that is a time in seconds, which the plan checks together with
    the end of the run.
    """
    return RunOption(name, doc, float, default, "time", check=_with_others, **more)


def _of_call(name: str, doc: str, type: type = object, default: Any = None) -> RunOption:
    """Return the record of an option that exists only in the call of `simulate`, not in files or on
    the command line.
    """
    return RunOption(name, doc, type, default, decides=False, of_one_call=True, in_files=False)


# in the order in which `simulate` lists them
_BUILT_IN = (
    RunOption("control", "the controller, or the joint forces, that drive the mechanism"),
    RunOption("forces", "joint forces in place of a controller", in_files=False),
    RunOption(
        "by",
        "the formulation whose equations are run",
        str,
        choices=partial(loaded, "catena.equations.formulations:ALL_FORMULATIONS"),
        check=partial(_accepted_by, "catena.equations.formulations:formulation"),
        flag="The formulation, such as recursive.",
        shown="`recursive`",
    ),
    RunOption(
        "integrator",
        "the method of integration",
        str,
        "auto",
        choices=partial(loaded, "catena.simulation.integrators.methods:METHODS"),
        check=_integrator,
        flag="The integrator, such as auto or dop853; rk4 with --step for many runs.",
    ),
    RunOption(
        "tolerance",
        "the error that a step may have, relative to the scale of the state",
        float,
        1e-9,
        check=partial(_between, 1e-14, 0.1),
        flag="Error that a step may have, relative to the scale of the state.",
    ),
    _seconds(
        "step",
        "the step of integrators with a fixed step, and of time stepping",
        flag="Seconds, for integrators of equal steps.",
        shown="chosen",
    ),
    _seconds(
        "largest_step",
        "the longest step of adaptive integrators",
        flag="Seconds, for adaptive integrators.",
        shown="none",
    ),
    _seconds(
        "output",
        "time between the rows of the result",
        flag="Seconds between the rows of the result.",
        shown="200 rows",
    ),
    RunOption(
        "parameters",
        "values of parameters, in place of the mechanism's own",
        shown="the mechanism's",
    ),
    _seconds("start", "the time at which the run begins", 0.0),
    RunOption("motion", "coordinates whose motion is prescribed"),
    RunOption("events", "impulses, stops, locks and other events", default=(), check=_records),
    _choice(
        "limits",
        "limits method",
        "joint limits: check the initial state only, ignore them, or stop the joint there",
        ("check", "ignore", "stop"),
    ),
    RunOption(
        "restitution",
        "coefficient of restitution of stops at joint limits, 0 to 1",
        float,
        0.0,
        check=partial(_between, 0.0, 1.0),
    ),
    RunOption(
        "friction",
        "dry friction of joints: it sticks and slips, or is smoothed about zero speed",
        str,
        choices=("smooth", "stick"),
        none_means=partial(str, "stick"),
        shown="`stick`; `smooth` where a run cannot locate events",
    ),
    _choice(
        "contact",
        "contact method",
        "how contacts are simulated: located as events, by time stepping, or left out",
        ("events", "time_stepping", "ignore"),
        flag="Contacts by events, by time_stepping (with --step), or ignore.",
    ),
    RunOption(
        "iterations",
        "the largest number of solver sweeps in one step of time stepping",
        int,
        least=1,
        check=_with_others,
        none_means=partial(loaded, "catena.simulation.stepping.tolerances:ITERATIONS"),
    ),
    RunOption(
        "residual",
        "the tolerance of the contact solver of time stepping, relative to the fastest contact",
        float,
        check=_with_others,
        none_means=partial(loaded, "catena.simulation.stepping.tolerances:RESIDUAL"),
    ),
    RunOption(
        "stabilise",
        "how loops are kept closed",
        str,
        "project",
        choices=partial(loaded, "catena.simulation.terms.stabilisation:STABILISERS"),
        check=partial(_accepted_by, "catena.simulation.terms.stabilisation:stabiliser"),
    ),
    RunOption(
        "threads",
        "threads for a batch of runs; by default those of the Machine",
        int,
        check=partial(_accepted_by, "catena.machine.arguments:threads"),
        decides=False,
        in_files=False,
    ),
    RunOption(
        "most_steps",
        "steps after which one run stops",
        int,
        10_000_000,
        check=_count,
        decides=False,
        in_files=False,
    ),
    _of_call("verify", "whether to run again at a tighter tolerance", bool, False),
    _of_call("out", "the file (.nc) into which the rows of one run are written as they come"),
    _of_call("resume", "whether to continue the run that the file holds", bool, False),
    _of_call("progress", "a function that is called with the time reached, in s"),
)
RUN_OPTIONS: Registry[RunOption] = Registry("run option", _BUILT_IN, SimulationError)


def markdown() -> str:
    """Return the table of run options as docs/simulation.md shows it."""
    rows = []
    for option in RUN_OPTIONS.values():
        default = option.none_means() if option.none_means else option.default
        usual = option.shown or ("none" if default in (None, ()) else f"`{default!r}`")
        unit = " (s)" if option.dimension == "time" else ""
        words = option.words() if option.type is str else []
        allowed = f": {', '.join(f'`{word}`' for word in words)}" if len(words) in (2, 3) else ""
        rows.append(f"| `{option.name}` | {option.doc}{allowed}{unit} | {usual} |")
    return "\n".join(["| option | meaning | default |", "|---|---|---|", *rows])


@dataclass(frozen=True, eq=False)
class RunOptions(Mapping[str, Any]):
    """The options of one run, {name: value}, with a value for every record of RUN_OPTIONS.

    of_formulation: the options of the formulation, such as `beta` of the penalty method.
    """

    settings: Mapping[str, Any]
    of_formulation: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, usual: str | None = None, /, **given: Any) -> RunOptions:
        """Return the given options, checked, with defaults for all others. usual: the formulation
        where `by` is not given; None for the default one. Raises SimulationError for a name that is
        an option neither of runs nor of the formulation, with the nearest existing name, and for a
        value that is not allowed.
        """
        others = {name: x for name, x in given.items() if name not in RUN_OPTIONS}
        _refuse_unknown(others, usual if given.get("by") is None else given["by"])
        settings = {
            name: option.checked(given[name]) if name in given else option.default
            for name, option in RUN_OPTIONS.items()
        }
        return cls(settings, others)

    @classmethod
    def of_many(cls, **given: Any) -> RunOptions:
        """Return the options of runs that are started by another function than `simulate`, such as
        those of a study.
        """
        for name in given:
            if name in RUN_OPTIONS and RUN_OPTIONS[name].of_one_call:
                raise SimulationError(
                    f"{name} belongs to one call of simulate; studies, sensitivities, fits and"
                    f" optimal motions make runs of their own: leave {name} out"
                )
        return cls.of(**given)

    def __getitem__(self, name: str) -> Any:
        return self.settings[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.settings)

    def __len__(self) -> int:
        return len(self.settings)

    def with_(self, **changes: Any) -> RunOptions:
        """Return the same options with some values changed; the new values are not checked."""
        return replace(self, settings={**self.settings, **changes})

    @property
    def affecting_results(self) -> dict[str, Any]:
        """The options on which the numbers of the result depend."""
        return {name: x for name, x in self.items() if RUN_OPTIONS[name].decides}


def _refuse_unknown(options: Mapping[str, Any], by: str | None) -> None:
    if not options:
        return
    from ..equations.formulations import DEFAULT, formulation

    by = by or DEFAULT
    own = [
        name
        for name in inspect.signature(formulation(by).derive).parameters
        if name not in ("mechanism", "snap")
    ]
    for name in options:
        if name not in own:
            words = dict.fromkeys(("q", "v", "until", *RUN_OPTIONS, *own))
            raise SimulationError(unknown("option", name, words, f"simulate(by={by!r})"))
