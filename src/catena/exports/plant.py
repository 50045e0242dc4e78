"""Plant: a mechanism as a first-order system for export, as CasADi functions.

    x' = f(t, x, u, p),   y = g(t, x, u, p),      x = (q, v)

u: forces of motors (N m or N), y: energies (J), and positions (m) and axes of named frames in the
ground's axes. With loops, speed rows or quaternions a third function projects a state onto its
constraints, by the shortest way in the metric of the mass matrix; it is called after every step of
an integrator. The tangent is the exact directional derivative of f and g.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from ..errors import CompileError
from ..machine import Machine, compile, identifier, speeds_of
from ..model import Mechanism, coordinate_units, parameter_units, rough_joints, speed_units
from ..simulation.planning import checks
from ..simulation.scenario import Scenario
from ..simulation.system import System
from .sticking import Sticking, sticking, sticking_system

VERSION = version("catena")


@dataclass(frozen=True)
class Variable:
    """A named number: its unit ("" where it is not known), its description, and its value at the
    start.
    """

    name: str
    unit: str
    meaning: str
    start: float = 0.0


@dataclass(frozen=True)
class Plant:
    """A mechanism as a first-order system; see the head of this file.

    The functions take (t, x, u, p); `project` returns x, and is None where x has no constraints.
    switches: times (s), increasing, at which f jumps, and which no step of an integrator may cross.
    sticking: the dry friction of joints where it sticks; u then ends with its modes.
    """

    mechanism: Mechanism
    name: str
    states: tuple[Variable, ...]
    inputs: tuple[Variable, ...]
    outputs: tuple[Variable, ...]
    parameters: tuple[Variable, ...]
    derivative: ca.Function
    output: ca.Function
    project: ca.Function | None
    until: float = 1.0
    switches: tuple[float, ...] = ()
    sticking: Sticking | None = None

    @cached_property
    def tangent(self) -> ca.Function:
        """The function (t, x, u, p, dt, dx, du, dp) -> the changes of x' and y that the changes dt,
        dx, du, dp cause.
        """
        given = self.derivative.sx_in()
        change = [ca.SX.sym(f"d{name}", x.shape[0]) for name, x in zip("txup", given)]
        both = ca.vertcat(self.derivative(*given), self.output(*given))
        moved = ca.jtimes(both, ca.vertcat(*given), ca.vertcat(*change))
        n = len(self.states)
        return ca.Function(
            "tangent", [*given, *change], ca.cse([ca.densify(moved[:n]), ca.densify(moved[n:])])
        )

    @property
    def start(self) -> np.ndarray:
        """The state x at the start."""
        return np.array([x.start for x in self.states])

    @property
    def title(self) -> str:
        """The mechanism's name on one line, safe in a comment of any language."""
        plain = "".join(
            c if c.isprintable() and c not in "*/\\%#" else " " for c in self.mechanism.name
        )
        return f"mechanism '{plain}'"


def plant(
    mechanism: Mechanism | Machine,
    q: ArrayLike | Mapping[str, Any] | None = None,
    v: ArrayLike | Mapping[str, Any] | None = None,
    *,
    parameters: Mapping[str, float] | None = None,
    motors: Sequence[str] | None = None,
    until: float = 1.0,
    stabilise: str = "project",
    switching: bool = False,
    friction: str | None = None,
) -> Plant:
    """Return the plant of a mechanism.

    q, v: its start, as for `simulate`. parameters: values in place of the mechanism's. motors: the
    joints, coordinates or speeds with a force as input, by default all. until: the default duration
    (s) for importing tools. stabilise: how loops stay closed, as for `simulate`; "baumgarte" is
    part of f, for tools that cannot project. switching: whether the export holds events: loads that
    switch at times, and dry friction of joints that sticks. friction: "smooth" replaces dry
    friction of joints by a smooth function of the speed, as for `simulate`. Raises CompileError for
    contacts, without `switching` for such loads, and for dry friction that is neither smoothed nor
    can stick.
    """
    machine = mechanism if isinstance(mechanism, Machine) else compile(mechanism)
    m = machine.mechanism
    refuse(m, switching, friction)
    sticks = friction != "smooth" and bool(rough_joints(m))
    s = (
        sticking_system(machine, stabilise)
        if sticks
        else System(m, "recursive", snap=machine.snap, stabilise=stabilise)
    )
    driven = (
        list(range(s.nv)) if motors is None else [k for name in motors for k in speeds_of(m, name)]
    )
    u = ca.SX.sym("u", len(driven))
    tau = ca.SX.zeros(s.nv)
    for i, k in enumerate(driven):
        tau[k] += u[i]
    modes = s.holding.symbols
    here = [s.t, s.x, ca.vertcat(u, modes), s.p]
    inside = [s.t, ca.vertcat(s.x, 0), ca.vertcat(tau, modes), s.p]
    names, g = _observed(s)
    settled = None if s.settle is None else _function("project", here, s.settle(*inside)[: s.nx])
    x, p = _start(machine, q, v, parameters, settled, here[2].numel())
    units = parameter_units(m)
    return Plant(
        m,
        identifier(m.name),
        _states(machine, x),
        tuple(_forces(machine, driven)),
        names,
        tuple(
            Variable(name, _unit(units.get(name, "")), "parameter", value)
            for name, value in zip(m.parameters, p)
        ),
        _function("derivative", here, s.derivative(*inside)[: s.nx]),
        _function("output", here, g),
        settled,
        until,
        tuple(sorted({float(t) for load in m.loads for t in load.holding("times")})),
        sticking(s, here, inside) if sticks else None,
    )


def plant_of_scenario(
    scenario: Scenario,
    motors: Sequence[str] | None = None,
    stabilise: str = "project",
    switching: bool = False,
    friction: str | None = None,
) -> Plant:
    """Return the plant of a file's mechanism, from the start of its [scenario].

    friction: in place of the scenario's own. Raises CompileError, with the names, where the
    scenario has events or a prescribed motion.
    """
    options = scenario.options if friction is None else {**scenario.options, "friction": friction}
    found = [
        f"{word} = {options[word]!r}"
        for word, refused in (("limits", "stop"), ("friction", "stick"))
        if options.get(word) == refused and not (word == "friction" and switching)
    ]
    found += [f"event {e.name or type(e).__name__!r}" for e in options.get("events", ())]
    if options.get("motion"):
        found.append("prescribed motion")
    if found:
        raise CompileError(
            f"mechanism {scenario.mechanism.name!r}: its scenario has {', '.join(found)}; an export"
            " is a smooth system with forces as inputs and holds no events. Take them out of the"
            " scenario, or model them in the tool that imports it"
        )
    return plant(
        scenario.mechanism,
        scenario.q,
        scenario.v,
        parameters=options.get("parameters"),
        motors=motors,
        until=scenario.until,
        stabilise=stabilise,
        switching=switching,
        friction=options.get("friction"),
    )


def refuse(m: Mechanism, switching: bool = False, friction: str | None = None) -> None:
    """Raise CompileError with the names of all contacts, of joints with dry friction that is
    neither smoothed nor can stick and, without `switching`, of loads that switch.
    """
    if friction != "smooth" and (m.constrained or not switching):
        _refuse_dry_friction(m, switching)
    found = [f"contact {c.name!r}" for c in m.contacts]
    found += [
        f"load {getattr(x, 'name', '') or type(x).__name__!r}, which switches at instants (an FMU"
        " can hold that)"
        for x in m.loads
        if x.holding("times") and not switching
    ]
    if not m.moving:
        found.append("no moving joint")
    if found:
        raise CompileError(
            f"mechanism {m.name!r} has {', '.join(found)}; an export is a smooth system x' = f(t,"
            " x, u) and holds no events. Take them out, or simulate it here: catena.simulate"
        )


def _refuse_dry_friction(m: Mechanism, switching: bool) -> None:
    """Raise CompileError with the names of the joints that have dry friction."""
    rough = rough_joints(m)
    if rough:
        why = (
            "an FMU holds that only for trees of joints, and this mechanism has loops or other"
            " constraints"
            if switching
            else "this export is a smooth system that holds no events (an FMU does)"
        )
        raise CompileError(
            f"mechanism {m.name!r}: dry friction of {', '.join(map(repr, rough))} sticks and slips"
            f" in a run, and {why}. Say friction ="
            ' "smooth" (in the [scenario] of the file, or --friction smooth) to replace it by a'
            " steep function of the speed, under which joints creep"
        )


# --- variables
def _function(name: str, given: list[ca.SX], found: ca.SX) -> ca.Function:
    """Return a CasADi function of (t, x, u, p) with these outputs and with names for inputs and
    outputs.
    """
    return ca.Function(name, given, [ca.cse(ca.densify(found))])


def _start(
    machine: Machine, q: Any, v: Any, parameters: Any, project: ca.Function | None, nu: int
) -> tuple[list[float], list[float]]:
    """Return x and p at the start, with x on its constraints."""
    q, v, p, lead = checks.starting_points(machine, q, v, parameters)
    if lead:
        raise CompileError(
            f"the start has the leading shape {lead}; an export starts from one state: give q"
            f" ({machine.nq},) and v ({machine.nv},)"
        )
    checks.closed(machine, 0.0, q, v, p)
    x = np.concatenate([q[0], v[0]])
    for _ in range(2):
        x = x if project is None else np.array(project(0.0, x, np.zeros(nu), p[0])).ravel()
    return x.tolist(), p[0].tolist()


def _unit(text: str) -> str:
    """Return a unit as Modelica and FMI write it: "kg*m^2" becomes "kg.m2"."""
    return text.replace("*", ".").replace("^", "")


def _states(machine: Machine, x: list[float]) -> tuple[Variable, ...]:
    """Return the variables of the state: coordinates, then speeds."""
    m, nq = machine.mechanism, machine.nq
    units = (
        [u for j in m.moving for u in coordinate_units(j)],
        [u for j in m.moving for u in speed_units(j)],
    )
    coordinates = [
        Variable(*x) for x in zip(machine.coordinate_names, units[0], ["coordinate"] * nq, x[:nq])
    ]
    speeds = [
        Variable(name, unit, "speed", x)
        for name, unit, x in zip(_speed_names(machine), units[1], x[nq:])
    ]
    return (*coordinates, *speeds)


def _speed_names(machine: Machine) -> list[str]:
    """Return the names of the speeds; one that a coordinate has already becomes NAME.speed."""
    return [
        f"{name}.speed" if name in machine.coordinate_names else name
        for name in machine.speed_names
    ]


def _forces(machine: Machine, driven: Sequence[int]) -> Iterator[Variable]:
    """Yield the variables of the motors' forces."""
    units = [u for j in machine.mechanism.moving for u in speed_units(j)]
    for k in driven:
        turns = units[k] == "rad/s"
        yield Variable(
            f"tau.{machine.speed_names[k]}", "N.m" if turns else "N", "torque" if turns else "force"
        )


def _observed(s: System) -> tuple[tuple[Variable, ...], ca.SX]:
    """Return names and expressions of the outputs: energies, and position and axes of every named
    frame.
    """
    here = s.t, s.q, s.v, s.p
    names = [
        Variable("kinetic energy", "J", "kinetic energy"),
        Variable("potential energy", "J", "potential energy"),
    ]
    found = [ca.vec(s.tape("energy", "", lambda t: [t.energy()])(*here))]
    for frame in s.mechanism.frames:
        X = _pose(s, frame.name)(*here)
        names += [Variable(f"{frame.name}.{a}", "m", f"place of frame {frame.name}") for a in "xyz"]
        names += [
            Variable(
                f"{frame.name}.R{i}{j}", "1", f"axes of frame {frame.name}, row {i}, column {j}"
            )
            for i in (1, 2, 3)
            for j in (1, 2, 3)
        ]
        found += [X[:3, 3], ca.vec(X[:3, :3].T)]
    return tuple(names), ca.vertcat(*found)


def _pose(s: System, frame: str) -> ca.Function:
    """Return the function (t, q, v, p) -> pose of a frame."""
    return s.tape("pose", frame, lambda t: [t.pose(frame)])
