"""From an environment to compiled code: the system, its step, and the tape of what is observed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import casadi as ca
import numpy as np

from ..analysis import OUTPUT_WORDS, OutputWord, trace_expression
from ..compiler import LaneKernel, Tracer, compile_lanes
from ..errors import QuestionError, unknown
from ..machine import Machine, compile
from ..model import Sensor
from ..sensors import trace_sensor
from ..simulation import RunOptions
from ..simulation.control import Controller, HeldInput, Law
from ..simulation.planning import RunPlan, checks, decoded, prepare, projected_states
from .definition import Environment, Motor
from .spreads import middle

PREVIOUS = "previous_"  # before a quantity: its value before the step
LARGEST_SQUARE = 1e200  # of a state that counts as finite
LIMITED_BY_MAP = "semi_implicit"  # the integrator whose step is a map that clips speeds itself


@dataclass(frozen=True)
class Motors(Controller):
    """The motors of an environment, whose signals are the first inputs of the system."""

    motors: tuple[Motor, ...]

    def law(self, system: Any) -> Law:
        """Return the sum of the forces of all motors."""
        total: Controller | None = None
        for k, motor in enumerate(self.motors):
            word = "voltage" if hasattr(motor, "voltage") else "signal"
            own = replace(motor, **{word: HeldInput(k)})  # type: ignore[arg-type]
            total = own if total is None else total + own
        assert total is not None
        return total.law(system)


def observed(environment: Environment) -> list[tuple[tuple[str, ...], Sensor | None]]:
    """Return for each observation its texts, and the sensor whose readings it is."""
    known = {sensor.name: sensor for sensor in environment.mechanism.sensors}
    return [
        (tuple(f"sensor['{c}']" for c in known[text].channels), known[text])
        if text in known
        else ((text,), None)
        for text in environment.observations
    ]


def sensor_word(environment: Environment) -> OutputWord:
    """Return the quantity sensor['name'], the true value of a channel of a sensor."""
    channels = {
        name: (sensor, k)
        for sensor in environment.mechanism.sensors
        for k, name in enumerate(sensor.channels)
    }

    def sensed(s: Tracer, name: str) -> Any:
        if name not in channels:
            raise QuestionError(f"sensor['{name}']: {unknown('sensor', name, channels)}")
        sensor, k = channels[name]
        return trace_sensor(s, sensor)[k]

    return OutputWord("sensor", "the true value of a sensor, such as gyro.x", sensed)


class CompiledEnvironment:
    """The code of an environment, for any number of worlds."""

    def __init__(self, environment: Environment):
        self.environment = environment
        self.machine: Machine = compile(environment.mechanism, threads=1)
        self.plan = self._plan()
        self.system = self.plan.system
        self._check()
        self._kernels: dict[str, LaneKernel] = {}
        self.observed = observed(environment)
        self.texts = tuple(text for texts, _ in self.observed for text in texts)
        self.rewarded = isinstance(environment.reward, str)

    def _plan(self) -> RunPlan:
        """Return the plan of a run of one action, which brings the system."""
        e = self.environment
        machine = self.machine
        stepping = e.contact == "time_stepping"
        options = RunOptions.of(
            "recursive",
            step=e.step,
            output=e.time_step,
            limits=e.limits,
            friction="stick" if stepping else "smooth",
            contact=e.contact,
            control=Motors(e.actions),
            **({} if stepping else {"integrator": e.integrator}),
        )
        return prepare(machine, self.neutral[None], np.zeros((1, machine.nv)), e.time_step, options)

    @cached_property
    def neutral(self) -> np.ndarray:
        """The coordinates about which episodes start: the middles of their distributions."""
        q: np.ndarray = np.array(self.machine.neutral(), float)
        names = list(self.machine.coordinate_names)
        for name, spread in self.environment.start.items():
            if name in names:
                q[names.index(name)] = middle(name, spread)
        return q

    def _check(self) -> None:
        """Raise a QuestionError for what worlds that share no time cannot do."""
        s, e = self.system, self.environment
        where = f"environment {e.name!r}"
        if self.plan.how.kind not in ("fixed", "map", "stepping"):
            raise QuestionError(
                f"{where}: integrator {e.integrator!r} has no equal explicit steps; choose 'rk4',"
                " 'semi_implicit' or 'euler'"
            )
        if s.clocks or s.pieces or s.jump is not None or not s.equations.state_is_qv:
            raise QuestionError(
                f"{where}: a motor is sampled or follows a trajectory; leave that out"
            )
        if s.derivative.jac_sparsity(0, 0).nnz():
            raise QuestionError(
                f"{where}: a load of mechanism {self.machine.mechanism.name!r} depends on time, and"
                " worlds have times of their own; leave that load out"
            )

    # --- steps
    @cached_property
    def settle(self) -> ca.Function | None:
        """The tape that ends a step: rows are met, quaternions have length one, speeds are within
        their limits.
        """
        own = self.system.settle
        if not self.environment.speed_limits or self.environment.integrator == LIMITED_BY_MAP:
            return own if self.plan.how.kind == "fixed" or self.system.binds else None
        inputs = self.system.inputs
        x = inputs[1] if own is None else own(*inputs)
        return ca.Function("settle", inputs, [ca.densify(self._limited(x))])

    @cached_property
    def step(self) -> ca.Function:
        """The tape of one semi-implicit step, with speeds clipped before coordinates follow."""
        s = self.system
        if not self.environment.speed_limits:
            return s.step
        *inputs, h = [*s.inputs, ca.SX.sym("h")]
        v = self._clipped(s.v + h * s.acceleration)
        t = s.tracer()
        rate = ca.Function("rate", [t.q, t.v], [t.coordinate_rate()])
        q = s.q + h * rate(s.q, v)
        x = ca.vertcat(q, v, s.c + h * s.controller.rate, s.work + h * s.power)
        return ca.Function("step", [*inputs, h], [ca.cse(ca.densify(x))])

    def _limited(self, x: Any) -> Any:
        s = self.system
        return ca.vertcat(x[: s.nq], self._clipped(x[s.nq : s.nq + s.nv]), x[s.nq + s.nv :])

    def _clipped(self, v: Any) -> Any:
        """Return speeds within their limits."""
        names = list(self.machine.speed_names)
        parts = ca.vertsplit(v)
        for name, (low, high) in self.environment.speed_limits.items():
            if name not in names:
                raise QuestionError(f"speed_limits: {unknown('speed', name, names)}")
            k = names.index(name)
            parts[k] = ca.fmin(ca.fmax(parts[k], low), high)
        return ca.vertcat(*parts)

    def kernel(self, name: str) -> LaneKernel | None:
        """Return a tape of this environment, compiled for lanes; None where there is none."""
        f = getattr(self, name)
        if f is None:
            return None
        if name not in self._kernels:
            self._kernels[name] = compile_lanes(f)
        return self._kernels[name]

    @cached_property
    def derivative(self) -> ca.Function:
        """The tape (t, x, u, p) -> x'."""
        return self.system.derivative

    def closed(self, x: np.ndarray, p: np.ndarray) -> np.ndarray:
        """Return states (n, size) with their loops closed; raise a ClosureError where they are
        wide open.
        """
        if not self.system.binds:
            return x
        p = np.ascontiguousarray(p)
        checks.closed(self.machine, 0.0, *decoded(self.system, x.T, p.T), p)
        return projected_states(self.system, 0.0, x, p)

    # --- observations
    @cached_property
    def observe(self) -> ca.Function:
        """The tape (t, x, u, p, x before) -> observations, the reward where it is a text, and
        whether the episode ends (1 or 0).
        """
        s, e = self.system, self.environment
        inputs, before = s.inputs, ca.SX.sym("before", s.size)
        now = Tracer(self.machine.layout, self.machine.snap)
        then = Tracer(self.machine.layout, self.machine.snap)
        signals = ca.SX.sym("signals", len(e.actions))
        words = {**OUTPUT_WORDS, **self._further_words(then, signals)}
        ended = ca.SX.sym("ended")  # 1 in the step that ends the episode, otherwise 0
        symbols: dict[str, Any] = {"ended": ended}
        trace = partial(trace_expression, self.machine, now, words=words, symbols=symbols)
        texts = [*self.texts, *([e.reward] if isinstance(e.reward, str) else [])]
        y = [trace(text) for text in texts]
        # a state that is not finite any more ends the episode: NaN is inside of no range
        finite = ca.sumsqr(ca.vertcat(now.q, now.v)) < LARGEST_SQUARE
        inside = ca.SX(finite)
        for text, (low, high) in e.alive.items():
            value = trace(text)
            inside = inside * (value >= low) * (value <= high)
        y = [ca.substitute(ca.SX(x), ended, 1 - inside) for x in y]
        if self.rewarded:
            y[-1] = ca.if_else(finite, y[-1], 0.0)  # a step into nowhere is worth nothing
        y.append(1 - inside)
        parts = [now.q, now.v, now.a, now.tau, now.p, now.t, then.q, then.v, signals]
        f = ca.Function("texts", parts, [ca.densify(ca.vertcat(*y))], {"allow_free": False})
        low, high = e.signals.T
        u = ca.fmin(ca.fmax(s.u[: len(e.actions)], low), high)
        # tapes without accelerations are short
        needed = any(f.jac_sparsity(0, k).nnz() for k in (2, 3))
        a = s.acceleration if needed else ca.SX.zeros(s.nv)
        tau = s.controller.tau if needed else ca.SX.zeros(s.nv)
        found = f(s.q, s.v, a, tau, s.p, s.t, before[: s.nq], before[s.nq : s.nq + s.nv], u)
        return ca.Function("observe", [*inputs, before], [ca.cse(ca.densify(found))])

    @cached_property
    def erring(self) -> list[tuple[slice, Sensor]]:
        """The sensors whose readings differ from the true values, with their places among the
        observations.
        """
        found, at = [], 0
        for texts, sensor in self.observed:
            if sensor is not None and not (sensor.exact and sensor.sample is None):
                found.append((slice(at, at + len(texts)), sensor))
            at += len(texts)
        return found

    def _further_words(self, then: Tracer, signals: ca.SX) -> dict[str, OutputWord]:
        """Return the quantities before the step, the signals of the motors, and sensors."""
        names = [motor.name for motor in self.environment.actions]

        def signal(_: Tracer, name: str) -> Any:
            if name not in names:
                raise QuestionError(f"action['{name}']: {unknown('motor', name, names)}")
            return signals[names.index(name)]

        def earlier(word: OutputWord) -> OutputWord:
            return OutputWord(
                PREVIOUS + word.name,
                f"{word.doc}, before the step",
                lambda _, name: word.traced(then, name),
            )

        kinematic = [w for w in OUTPUT_WORDS.values() if w.name not in ("a", "tau")]
        return {
            **{PREVIOUS + w.name: earlier(w) for w in kinematic},
            "sensor": sensor_word(self.environment),
            "action": OutputWord("action", "the signal of a motor, within its range", signal),
        }
