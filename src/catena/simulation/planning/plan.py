"""The plan of a simulation: its arguments, checked, and everything needed to start or to resume
it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from threading import Lock as Mutex
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import analysis
from ...compiler import default_width, fingerprint, keep
from ...equations import Equations
from ...equations.formulations import DEFAULT
from ...errors import SimulationError
from ...kernels import Layout, usual_length
from ...machine import EquationMachine, Machine, compile, metric
from ...model import Mechanism, mechanism_of, names_in, value_of
from .. import control as controllers
from .. import stepping
from ..events.event_plan import NO_EVENTS, EventPlan, plan_events
from ..integrators.engine import Engine, Pieces
from ..integrators.methods import MOREAU_JEAN, Method, method
from ..options import RunOptions
from ..system.first_order import System
from ..terms.error_scales import ROUND, SHARE, ErrorScales, coordinate_sizes, error_scales
from ..trajectories.courses import of_run
from . import checks
from .friction_choice import FrictionChoice, friction_of

Array = NDArray[np.float64]
MAX_CACHED_VALUES = 64  # machines, systems and bounds of one mechanism, kept for its next run
# steps, at least, of a run that looks for pulses of forces which another has stepped over
SHORTEST = 4096
FIRST = 1e-3  # of the run: the most that the first step of an adaptive method may be
MARGIN = 4.0  # units of rounding of the time that are left out on either side of a switch


@dataclass(frozen=True)
class RunPlan:
    """A simulation whose arguments were checked, with everything needed to start or to resume it.

    x0 (runs, size): initial states. lead: the leading shape of the arguments. varied: whether
    parameters were given. largest: the largest step of an adaptive method, s. refine: the number of
    equal parts into which each step of a fixed length is divided. options: the checked options,
    with the formulation, motion and forces that follow from them. own: the equations that the user
    derived, if these are simulated. friction: how dry friction is treated.
    """

    machine: Machine
    system: System
    how: Method
    scheme: EventPlan
    start: float
    until: float
    times: Array
    x0: Array
    p: Array
    lead: tuple[int, ...]
    varied: bool
    control: Any
    tolerance: float
    step: float
    most: int
    threads: int
    options: RunOptions
    own: Equations | None = None
    largest: float = np.inf
    refine: int = 1
    forces: Array | None = None
    friction: FrictionChoice = FrictionChoice("smooth")

    @cached_property
    def switches(self) -> Array:
        """The times (s) during the run, in increasing order, at which loads jump, begin or end."""
        times = {float(t) for load in self.machine.mechanism.loads for t in load.holding("times")}
        return np.array(sorted(t for t in times if self.start < t < self.until))

    @property
    def forced_in_time(self) -> bool:
        """Whether a load is given as an expression of time."""
        texts = (
            x
            for load in self.machine.mechanism.loads
            for x in load.holding("expression", "expressions", "text")
        )
        return any("t" in names_in(x) for x in texts if isinstance(x, str))

    def before_switch(self, t: float) -> float:
        """The time just before the next switch of a load after t (s). A segment of the integration
        ends there, so that no stage of a step evaluates the other side of the jump.
        """
        later = self.switches[self.switches > t]
        return float(later[0] - MARGIN * np.spacing(later[0])) if len(later) else np.inf

    def at_switch(self, t: float) -> float:
        """The time of the next switch if t is just before it, otherwise t."""
        later = self.switches[self.switches > t]
        return float(later[0]) if len(later) and t >= self.before_switch(t) else t

    def after_switch(self, t: float) -> float:
        """The time just after t if a load switches at t, otherwise t."""
        return float(t + MARGIN * np.spacing(t)) if t in self.switches else t

    @property
    def adaptive(self) -> bool:
        """Whether the method chooses its steps by the tolerance."""
        return self.how.chooses_steps

    @cached_property
    def groups(self) -> list[slice]:
        """The groups of runs that are integrated side by side in lanes."""
        count, width = len(self.x0), self.width
        return [slice(k, min(k + width, count)) for k in range(0, count, width)]

    @cached_property
    def width(self) -> int:
        """The number of runs per group: one if there are events or the integrator is that of a
        library.
        """
        alone = len(self.x0) == 1 or not self.scheme.empty or self.how.kind == "library"
        return 1 if alone else default_width()

    @cached_property
    def batched(self) -> bool:
        """Whether each run in the lanes has its own time, steps and events, so that runs do not
        wait for each other.
        """
        sampled = callable(self.control) and not hasattr(self.control, "law")
        alone = sampled or self.system.clocks or len(self.switches) or self.forces is not None
        return len(self.x0) > 1 and self.how.in_lanes and not alone

    def engine(self, rows: slice) -> Engine:
        """Return an engine with the initial states of these runs; an incomplete group is filled
        with copies of its last run.
        """
        engine = Engine(
            self.system,
            self.how,
            _padded(self.x0[rows], self.width).T,
            _padded(self.p[rows], self.width).T,
            tolerance=self.tolerance,
            step=self.step,
            most=self.most,
            largest=self.largest,
            refine=self.refine,
            scales=self.scales if self.adaptive else None,
        )
        if self.forces is not None:
            own = np.ascontiguousarray(_padded(self.forces[rows], self.width))
            engine.pieces = Pieces(own, self.start, (self.until - self.start) / own.shape[1])
        return engine

    def tighter(self, steps: int) -> RunPlan:
        """Return the same plan with half the step size; or, for an adaptive method, with a
        hundredth of the tolerance and steps of at most half the mean length. The latter matters
        where the tolerance is near rounding, or nothing moves. steps: the number of steps that the
        first run has taken. If a force is an expression of time, at least SHORTEST steps are taken,
        so that a pulse which the first run has stepped over is found.
        """
        if not self.adaptive:
            return replace(self, refine=2 * self.refine)
        half = (self.until - self.start) / max(2 * steps, SHORTEST if self.forced_in_time else 2)
        return replace(
            self, tolerance=max(1e-14, self.tolerance / 100), largest=min(self.largest, half)
        )

    @cached_property
    def scales(self) -> ErrorScales:
        """The scales relative to which errors of the states are judged."""
        return error_scales(self.system, self.natural_rate)

    @cached_property
    def coordinate_sizes(self) -> Array:
        """The scales (nq,) relative to which motions of the coordinates are judged: one for an
        angle, the length of the mechanism otherwise.
        """
        return coordinate_sizes(self.machine.layout, usual_length(self.machine.layout))[0]

    @property
    def rounding(self) -> float:
        """The smallest relative change that steps resolve, divided by the fraction of the tolerance
        that one step may use; zero for a mechanism without length, where the motion itself is the
        scale.
        """
        return ROUND / SHARE if self.system.length else 0.0

    @cached_property
    def start_coordinates(self) -> Array:
        """The coordinates (runs, nq) at which the runs begin."""
        return decoded(self.system, self.x0.T, self.p.T)[0]

    @property
    def natural_rate(self) -> float:
        """The typical rate of motion, 1/s, relative to the length of the mechanism: twice the
        frequency of a pendulum of that length, or one over the duration of the run.
        """
        length = self.system.length or np.inf
        return float(
            max(np.sqrt(self._gravity / length) / np.pi, 1.0 / ((self.until - self.start) or 1.0))
        )

    @cached_property
    def weight(self) -> Array:
        """The weight of the mechanism times its length, J: the scale of the rounding of energies at
        rest.
        """
        m = self.machine.mechanism
        masses = [
            value_of(b.flexible.rigid()[0] if b.flexible else b.mass, m.parameters)
            for b in m.bodies
        ]
        length = usual_length(self.machine.layout)
        if not any(masses):  # kinematics alone: one kilogram at the pace of the run stands for it
            return np.array(length**2 * float(self.pace) ** 2)
        return np.array(float(sum(masses)) * self._gravity * length)

    @cached_property
    def pace(self) -> Array:
        """The rate of a fall through the length of the mechanism, or one over the duration of the
        run, 1/s: the scale of the rounding of speeds at rest.
        """
        return np.array(
            max(
                np.sqrt(self._gravity / usual_length(self.machine.layout)),
                1.0 / ((self.until - self.start) or np.inf),
            )
        )

    @cached_property
    def _gravity(self) -> float:
        m = self.machine.mechanism
        return float(
            np.linalg.norm(np.array([value_of(x, m.parameters) for x in m.gravity], float))
        )

    @cached_property
    def row_sizes(self) -> Array:
        """The scales (rows,) relative to which residuals and rates of the constraint rows are
        judged, by `kernels.rank`; for a row given as an expression, the size of its derivatives at
        the start.
        """
        machine, s = self.machine, self.system
        if not machine.rows:
            return np.zeros(0)
        q, v = (np.array(x).ravel() for x in s.equations.decode(self.x0[0, : s.nx], self.p[0]))
        return np.sqrt(
            metric(machine).sizes(
                machine.constraint_rows(q, v, self.p[0] if self.varied else None, self.start)[3]
            )
        )


def prepare(
    mechanism: Mechanism | Machine, q: Any, v: Any, until: float, options: RunOptions
) -> RunPlan:
    """Return the plan of a run: options that depend on each other are checked, as `simulate`
    documents, and the machine and system are compiled, or reused from an earlier run.
    """
    machine = machine_of(mechanism)
    if not machine.nv:
        raise SimulationError(
            f"mechanism {machine.mechanism.name!r} has no joint that moves, so that there is"
            " nothing to simulate"
        )
    by = options["by"] or usual_formulation(machine)
    own = machine.equations if isinstance(machine, EquationMachine) else None
    if own is not None and (own.formulation != by or options.of_formulation):
        own = None
    start, step, limits = (options[k] for k in ("start", "step", "limits"))
    times = checks.output_times(start, until, options["output"])
    q, v, p, lead = checks.starting_points(machine, q, v, options["parameters"])
    if limits != "ignore":
        checks.within_limits(
            machine, q, cached(("bounds",), machine, lambda: checks.bounds(machine))
        )
    motion = of_run(options["motion"], start, until)
    if options["contact"] == "time_stepping":
        stepped = stepping.stepped_contacts(machine, {**options, "by": by}, cached)
        how, happening = MOREAU_JEAN, NO_EVENTS
        friction = friction_of(machine, options, how, by)
    else:
        checks.no_stepping_options(options)
        stepped = None
        how = method(options["integrator"])
        friction = friction_of(machine, options, how, by)
        happening = plan_events(
            machine,
            options["events"],
            limits,
            friction.method,
            options["restitution"],
            options["contact"],
            driven_speeds(machine.layout, motion),
        )
        checks.events_possible(happening, how, by, start, until)
    control = options["control"]
    if isinstance(control, Mapping):
        control = controllers.controller_of_signals(machine.mechanism, control)
        options = options.with_(control=control)
    driven = control.bound(machine) if hasattr(control, "bound") else control
    forces = options["forces"]
    if forces is not None:
        if control is not None:
            raise SimulationError(
                "both control and forces are given; forces are all that acts besides the loads:"
                " give one of them"
            )
        forces = checks.forces(forces, len(q), machine.nv)
    try:
        system = system_of(
            machine,
            by,
            own,
            law=control if hasattr(control, "law") else None,
            friction=friction.method,
            holding=happening.holding,
            motion=motion,
            stabilise=options["stabilise"],
            stepping=stepped,
            **options.of_formulation,
        )
    except FloatingPointError:  # an inertia that is zero whatever the configuration
        with np.errstate(all="ignore"):
            still = np.zeros(machine.nv)
            machine.evaluate("forward_dynamics", q[0], v[0], still, check=False)  # names it
        raise
    x0 = initial_states(system, start, q, v, p)
    checks.closed(machine, start, *decoded(system, x0.T, p.T), p)
    if motion is None and not happening.holding.contacts:
        checks.accelerated(machine, start, *decoded(system, x0.T, p.T), p)
    x0 = projected_states(system, start, x0, p)
    if stepped is not None:
        stepping.apart(machine, system, start, x0[:, : machine.nq], p)
    checks.steps(step, options["largest_step"], until - start)
    if machine.mechanism.beams and how.stable < np.inf and step is not None:
        _slow_enough(machine, q[0], how, float(step))
    first = -FIRST * (until - start) if how.chooses_steps else (times[0] - start) / 10
    if forces is not None and forces.shape[1] > 1 and not how.chooses_steps:
        first = (until - start) / forces.shape[1]
    return RunPlan(
        machine,
        system,
        how,
        happening,
        float(start),
        float(until),
        times,
        x0,
        p,
        lead,
        options["parameters"] is not None,
        driven,
        options["tolerance"],
        float(step or first),
        options["most_steps"],
        options["threads"] or machine.threads,
        options.with_(by=by, motion=motion, forces=forces),
        own,
        float(options["largest_step"] or np.inf),
        forces=forces,
        friction=friction,
    )


def driven_speeds(layout: Layout, motion: Any) -> Sequence[int]:
    """Return the indices in v of the speeds that a motion prescribes."""
    if motion is None:
        return ()
    from ..terms.prescribed import driven

    return driven(layout, motion).speeds


def usual_formulation(machine: Machine) -> str:
    """Return the formulation of the runs of a machine where the user names none: the machine's own,
    or the default.
    """
    return machine.equations.formulation if isinstance(machine, EquationMachine) else DEFAULT


def _slow_enough(machine: Machine, q: Array, how: Method, step: float) -> None:
    """Raise SimulationError where a fixed step is too long for the highest vibration mode of a
    flexible body.
    """
    fastest = analysis.highest_frequency(machine, q)
    if fastest * step > how.stable:
        raise SimulationError(
            f"step = {step:g} s is too large for {machine.mechanism.name!r}: its fastest mode has"
            f" {fastest:.4g} rad/s, and {how.name} is stable up to {how.stable / fastest:.3g} s."
            " Choose a shorter step, or leave out the integrator: the default is an implicit method"
            " where that is faster"
        )


def machine_of(mechanism: Mechanism | Machine) -> Machine:
    """Return the given machine, or that of a mechanism, which is cached for the next run."""
    if isinstance(mechanism, Machine):
        return mechanism
    mechanism_of("simulate", mechanism)
    return cached(("machine",), mechanism, lambda: compile(mechanism))


def initial_states(system: System, t: float, q: Array, v: Array, p: Array) -> Array:
    """Return the states (runs, size) of initial coordinates and speeds."""
    if system.driven is not None or system.jump is not None or system.pieces:
        return np.stack([system.start(*row, t) for row in zip(q, v, p)])
    own = np.tile([*system.controller.start, 0.0], (len(q), 1))
    return np.concatenate(
        (
            [q, v, own]
            if system.equations.state_is_qv
            else [np.array(system.equations.encode(q.T, v.T, _columns(p.T))).T, own]
        ),
        axis=1,
    )


def _columns(p: Array) -> Array:
    """Return parameters (count, runs) as a CasADi map expects them: CasADi has no matrix with
    several columns and no rows.
    """
    return p if len(p) else np.zeros(0)


def projected_states(system: System, t: float, x: Array, p: Array) -> Array:
    """Return states (runs, size) projected onto their constraints, which removes the errors of
    initial values given with few digits.
    """
    kernel = system.kernel("settle", 1 if len(x) == 1 else None) if system.binds else None
    held = np.tile(np.append(np.zeros(system.nv), system.holding.start()), (len(x), 1))
    for _ in range(2 if kernel is not None else 0):
        (x,), _ = kernel([np.full((len(x), 1), float(t)), x, held, p], len(x))  # type: ignore[misc]
    return x


_cache_lock = Mutex()


def cached(key: tuple[Any, ...], owner: Any, make: Callable[[], Any]) -> Any:
    """Return the cached object of this owner and key, or make it. The cache entry is deleted with
    its owner.
    """
    with _cache_lock:
        return keep(owner, "runs", MAX_CACHED_VALUES, key, make)


def system_of(machine: Machine, by: str, own: Equations | None = None, **options: Any) -> System:
    """Return the system of a machine by a formulation, or by the equations `own`. It is cached for
    the next run if it depends on data alone, its controller included.
    """
    m = machine.mechanism
    words = options["holding"].words
    others = fingerprint(
        {k: x for k, x in options.items() if k not in ("holding", "stepping") and x is not None}
    )

    def make() -> System:
        return System(m, by, equations=own, snap=machine.snap, **options)

    if words is None or others is None:
        return make()
    # it keeps its contacts alive
    return cached(
        ("system", by, machine.snap, words, others, id(options.get("stepping"))),
        own or m,
        make,
    )


def decoded(s: System, x: Array, p: Array) -> tuple[Array, Array]:
    """Return q (W, nq) and v (W, nv) of states x (size, W)."""
    if s.equations.state_is_qv:
        return x[: s.nq].T.copy(), x[s.nq : s.nq + s.nv].T.copy()
    q, v = s.equations.decode(x[: s.nx], _columns(p))
    return np.array(q).T, np.array(v).T


def _padded(rows: Array, width: int) -> Array:
    """Return rows filled up to the number of lanes with copies of the last one."""
    return (
        rows
        if len(rows) == width
        else np.concatenate([rows, np.repeat(rows[-1:], width - len(rows), axis=0)])
    )
