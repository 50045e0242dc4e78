"""Variables of a study: the values that change from run to run, and the part of a run that each
belongs to.

    crank                     a parameter of the mechanism
    q.elbow, v.elbow          a coordinate or a speed of the start (rad, m; rad/s, m/s)
    tau.elbow                 a joint force that acts all the time (N m, N)
    body.rod.mass             a number of a body, a joint or a load: body.rod.com.x,
                              joint.elbow.damping, load.spring.stiffness
    control.kp                a gain of the controller; control.kp.elbow of one joint, control.1.kp
                              of the second of several

A number of the mechanism or a gain becomes a new parameter, so that all runs share one compiled
function. Kinds of variables are a registry.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

from ..errors import CatenaError, StudyError, UnknownNameError, unknown
from ..model import DIMENSIONS, Mechanism, fit_name, measure_of, parameter_units, value_of
from ..registry import Registry
from ..simulation.control import Sum
from ..simulation.scenario import state_entries


@dataclass(frozen=True)
class Variable:
    """A variable of a study.

    goes: the vector that it belongs to: the parameters ("p"), the start ("q", "v") or the joint
    forces ("tau"). place: its index in that vector. unit: its SI unit, None where that is not
    known.
    """

    name: str
    goes: str
    place: int
    unit: str | None


@dataclass(frozen=True)
class Varied:
    """A mechanism and a controller in which varied numbers are parameters, and the variables found
    so far.
    """

    mechanism: Mechanism
    control: Any
    variables: tuple[Variable, ...] = ()
    units: Mapping[str, str] | None = None

    def with_parameter(self, path: str, value: float, unit: str | None, **changes: Any) -> Varied:
        """Return the same with one more parameter, for the number at a path. changes: the mechanism
        or the controller in which the parameter already replaces the number.
        """
        m = changes.get("mechanism", self.mechanism)
        own = m.with_(parameters={**m.parameters, symbol(path): value})
        found = Variable(path, "p", len(self.mechanism.parameters), unit)
        return replace(
            self,
            mechanism=own,
            control=changes.get("control", self.control),
            variables=(*self.variables, found),
        )

    def with_variable(self, name: str, goes: str, place: int, unit: str | None) -> Varied:
        """Return the same with one more variable."""
        return replace(self, variables=(*self.variables, Variable(name, goes, place, unit)))


@dataclass(frozen=True)
class VariableKind:
    """A kind of variable.

    name: the word before the first dot. find(varied, path, rest): adds the variable of a path. doc:
    how it is written.
    """

    name: str
    find: Callable[[Varied, str, str], Varied]
    doc: str


def vary(mechanism: Mechanism, control: Any, names: Iterable[str]) -> Varied:
    """Return the mechanism and controller with these variables.

    Raises StudyError with every name that does not exist.
    """
    found = Varied(mechanism, control, (), parameter_units(mechanism))
    faults = []
    for name in names:
        try:
            found = _one(found, name)
        except CatenaError as why:
            faults.append(str(why))
    if faults:
        raise StudyError(f"a study of {mechanism.name!r} cannot vary what it names:", faults)
    return found


def _one(varied: Varied, name: str) -> Varied:
    """Return `varied` with one more variable, found by its name."""
    m = varied.mechanism
    if name in m.parameters:
        unit = (varied.units or {}).get(name)
        return varied.with_variable(name, "p", list(m.parameters).index(name), unit)
    kind, dot, rest = name.partition(".")
    if dot and kind in KINDS:
        return KINDS[kind].find(varied, name, rest)
    hint = f" Others are written {', '.join(k.doc for k in KINDS.values())}."
    raise StudyError(unknown("parameter", name, m.parameters, f"mechanism {m.name!r}") + hint)


def symbol(path: str) -> str:
    """Return the name of the parameter that a path becomes."""
    found = re.sub(r"\W", "_", path)
    return found if fit_name(found) else f"{found}_"


# --- the start and joint forces
_STATE_UNITS = {
    "length": "m",
    "angle": "rad",
    "speed": "m/s",
    "angular speed": "rad/s",
    "force": "N",
    "torque": "N*m",
}


def _state(letter: str) -> Callable[[Varied, str, str], Varied]:
    """Return the function that finds a variable of the start or a joint force; letter: "q", "v",
    "tau".
    """

    def find(varied: Varied, path: str, name: str) -> Varied:
        known = state_entries(varied.mechanism, letter)
        own = [e for e in known if e.name == name] or [e for e in known if e.joint == name]
        if not own:
            raise UnknownNameError(
                "coordinate" if letter == "q" else "speed",
                name,
                [e.name for e in known],
                f"mechanism {varied.mechanism.name!r}",
            )
        if len(own) > 1:
            raise StudyError(
                f"{path!r}: joint {name!r} has {len(own)} of them; name one:"
                f" {', '.join(f'{letter}.{e.name}' for e in own)}"
            )
        if own[0].dimension == "number":
            raise StudyError(
                f"{path!r} is one number of a quaternion, which cannot change alone; vary the"
                " speeds, or the placement of the joint"
            )
        return varied.with_variable(path, letter, own[0].at, _STATE_UNITS[own[0].dimension])

    return find


# --- numbers of records
_BODY = {"mass": "mass", **{f"com.{x}": "length" for x in "xyz"}}
_JOINT = ("damping", "friction", "armature")


def _body(varied: Varied, path: str, rest: str) -> Varied:
    """Return `varied` with one more variable: a number of a body, replaced by a parameter."""
    name, field = _named(rest, [b.name for b in varied.mechanism.bodies], "body", varied, path)
    if field not in _BODY:
        raise StudyError(f"{path!r}: {unknown('number', field, _BODY, f'body {name!r}')}")
    body, key, _, axis = varied.mechanism.body(name), *field.partition(".")
    if body.flexible is not None:
        raise StudyError(
            f"{path!r}: body {name!r} is flexible; its numbers are those of its beam, which may be"
            " expressions of parameters"
        )
    old = getattr(body, key) if not axis else body.com["xyz".index(axis)]
    new: Any = (
        _symbol(path)
        if not axis
        else tuple(_symbol(path) if a == axis else x for a, x in zip("xyz", body.com))
    )
    bodies = tuple(
        replace(b, **cast(Any, {key: new})) if b.name == name else b
        for b in varied.mechanism.bodies
    )
    return _replaced(varied, path, old, DIMENSIONS[_BODY[field]].unit, bodies=bodies)


def _joint(varied: Varied, path: str, rest: str) -> Varied:
    """Return `varied` with one more variable: a number of a joint, replaced by a parameter."""
    m = varied.mechanism
    name, field = _named(rest, [j.name for j in (*m.joints, *m.loops)], "joint", varied, path)
    if field not in _JOINT:
        raise StudyError(f"{path!r}: {unknown('number', field, _JOINT, f'joint {name!r}')}")
    old = getattr(m.joint(name), field)
    if len({str(x) for x in old}) != 1:
        raise StudyError(
            f"{path!r}: joint {name!r} has different values of it for its {len(old)} speeds; write"
            " them as expressions of parameters"
        )
    both = {
        key: tuple(
            replace(j, **{field: (_symbol(path),) * len(old)}) if j.name == name else j
            for j in getattr(m, key)
        )
        for key in ("joints", "loops")
    }
    return _replaced(varied, path, old[0], None, **both)


def _load(varied: Varied, path: str, rest: str) -> Varied:
    """Return `varied` with one more variable: a number of a load, replaced by a parameter."""
    m = varied.mechanism
    name, field = _named(rest, [x.name for x in m.loads], "load", varied, path)
    load = next(x for x in m.loads if x.name == name)
    known = {key: k for key, k in load.schema().items() if k.sort in ("number", "expression")}
    if field not in known:
        raise StudyError(f"{path!r}: {unknown('number', field, known, f'load {name!r}')}")
    measure = measure_of(load, known[field], m)
    unit = DIMENSIONS[measure].unit if measure in DIMENSIONS else None
    new: Any = _symbol(path) if known[field].sort == "number" else symbol(path)
    loads = tuple(replace(x, **{field: new}) if x.name == name else x for x in m.loads)
    return _replaced(varied, path, getattr(load, field), unit, loads=loads)


def _replaced(varied: Varied, path: str, old: Any, unit: str | None, **changes: Any) -> Varied:
    """Return `varied` with a parameter in place of the number `old`; changes: fields of the
    mechanism.

    Raises StudyError where `old` is an expression.
    """
    value = None if isinstance(old, str) else value_of(old, varied.mechanism.parameters)
    if value is None:
        raise StudyError(f"{path!r} is the expression {str(old)!r}; vary a parameter in it")
    if not isinstance(old, int | float):
        raise StudyError(
            f"{path!r} is the expression {str(old)!r} of parameters; vary one of"
            f" {', '.join(sorted(map(str, old.free_symbols)))}"
        )
    return varied.with_parameter(
        path, float(value), unit, mechanism=varied.mechanism.with_(**changes)
    )


def _symbol(path: str) -> Any:
    """Return the SymPy symbol of the parameter that a path becomes."""
    import sympy

    return sympy.Symbol(symbol(path))


def _named(rest: str, known: list[str], what: str, varied: Varied, path: str) -> tuple[str, str]:
    """Return the name of a record and the field that follows it in a path; names may contain
    dots.
    """
    for name in sorted(known, key=len, reverse=True):
        if rest.startswith(f"{name}."):
            return name, rest[len(name) + 1 :]
    raise StudyError(
        f"{path!r}: "
        + unknown(what, rest.partition(".")[0], known, f"mechanism {varied.mechanism.name!r}")
    )


# --- gains
def _control(varied: Varied, path: str, rest: str) -> Varied:
    """Return `varied` with one more variable: a gain of the controller, replaced by a parameter."""
    if varied.control is None or not hasattr(varied.control, "law"):
        found = "no controller" if varied.control is None else f"a {type(varied.control).__name__}"
        raise StudyError(
            f"{path!r} is a gain of a controller; this study has {found}:"
            " control=catena.control.PD(...)"
        )
    control, value = _gain(varied.control, rest.split("."), path)
    return varied.with_parameter(path, value, None, control=control)


def _gain(controller: Any, words: list[str], path: str) -> tuple[Any, float]:
    """Return the controller with a parameter in place of one gain, and the value of that gain."""
    first, *more = words
    if isinstance(controller, Sum):
        count = len(controller.parts)
        if not first.isdecimal() or int(first) >= count:
            raise StudyError(
                f"{path!r}: there are {count} controllers; say which, control.0.{first} to"
                f" control.{count - 1}.{first}"
            )
        part, value = _gain(controller.parts[int(first)], more, path)
        return (
            replace(
                controller,
                parts=tuple(part if k == int(first) else p for k, p in enumerate(controller.parts)),
            ),
            value,
        )
    gains = [name for name in ("kp", "ki", "kd") if hasattr(controller, name)]
    if first not in gains:
        raise StudyError(f"{path!r}: {unknown('gain', first, gains, type(controller).__name__)}")
    old = getattr(controller, first)
    key = ".".join(more)
    if isinstance(old, Mapping) != bool(key) or (key and key not in old):
        known = (
            [f"{path.removesuffix('.' + key)}.{name}" for name in old]
            if isinstance(old, Mapping)
            else [path.removesuffix("." + key)]
        )
        raise StudyError(f"{path!r}: its controller has {', '.join(known)}")
    new = _symbol(path) if not key else {**old, key: _symbol(path)}
    return replace(controller, **{first: new}), float(old[key] if key else old)


KINDS: Registry[VariableKind] = Registry(
    "kind of variable",
    [
        VariableKind("q", _state("q"), "q.COORDINATE"),
        VariableKind("v", _state("v"), "v.SPEED"),
        VariableKind("tau", _state("tau"), "tau.SPEED"),
        VariableKind("body", _body, "body.NAME.mass"),
        VariableKind("joint", _joint, "joint.NAME.damping"),
        VariableKind("load", _load, "load.NAME.NUMBER"),
        VariableKind("control", _control, "control.GAIN"),
    ],
)
