"""System: a mechanism, its losses and its controller as one first-order system, traced and compiled.

    x' = f(t, x, u, p),      x = (state of the formulation, controller's own state, work done)

u is what a sampled controller holds; a traced controller stands inside f. The last entry of x is the work that everything
but gravity and springs has done on the mechanism, so that the energy balance can be checked at every instant.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from ..compile.lanes import LaneKernel, compile_lanes
from ..compile.trace import Tracer
from ..equations import Equations
from ..formulations import derive
from ..kernels.motion import BALL
from ..kernels.tree import layout
from ..mechanism import Mechanism

SMOOTH = 1e-3  # speed (rad/s or m/s) over which smoothed Coulomb friction turns round


@dataclass(frozen=True)
class Law:
    """A traced controller: tau and the rate of its own state c, as expressions of (t, q, v, c, u, p)."""

    tau: Any
    rate: Any
    names: tuple[str, ...] = ()  # of its own state
    start: tuple[float, ...] = ()


class System:
    """The tapes of one simulation.

    law: a function (symbols) -> Law for a controller inside the tape, where symbols has t, q, v, c, u; nu: how many held
    inputs there are: by default one joint force a speed. stabilise: None, or a function (error, rate) -> what is added to
    the rows' right side (Baumgarte).
    """

    def __init__(self, mechanism: Mechanism, by: str = "recursive", law: Any = None, friction: str = "smooth", **options: Any):
        self.mechanism, self.by = mechanism, by
        self.equations: Equations = derive(mechanism, by, **options)
        self.layout = layout(mechanism)
        self.law, self.friction = law, friction
        self.nq, self.nv = self.layout.nq, self.layout.nv
        e = self.equations
        self.nx = len(e.state_names)
        self.t, self.p = ca.SX.sym("t"), ca.SX.sym("p", len(mechanism.parameters))
        self.x, self.u = ca.SX.sym("x", self.nx), ca.SX.sym("u", self.nv)
        self.q, self.v = e.decode(self.x, self.p)
        self.controller: Law = law(self) if law is not None else Law(self.u, ca.SX.zeros(0))
        self.nc = len(self.controller.names)
        self.state_names = (*e.state_names, *self.controller.names, "work")
        self.size = self.nx + self.nc + 1

    @cached_property
    def c(self) -> ca.SX:
        """The controller's own state."""
        return ca.SX.sym("c", len(getattr(self.law, "names", ())))

    @property
    def inputs(self) -> list[ca.SX]:
        """What every tape of this system reads: t, the whole state, u, p."""
        return [self.t, ca.vertcat(self.x, self.c, self.work), self.u, self.p]

    @cached_property
    def work(self) -> ca.SX:
        """The symbol of the work done."""
        return ca.SX.sym("work")

    # ------------------------------------------------------------------------------------------------ tapes
    @cached_property
    def losses(self) -> ca.SX:
        """Joint damping and smoothed Coulomb friction, along the speeds."""
        s = Tracer(self.layout)
        value = ca.Function("value", [s.p], [ca.vertcat(*(s.value(x) for j in self.mechanism.moving for x in j.damping))])
        damping = value(self.p) if self.nv else ca.SX.zeros(0)
        coulomb = [s.value(x) for j in self.mechanism.moving for x in j.friction]
        dry = ca.Function("dry", [s.p], [ca.vertcat(*coulomb)])(self.p) if self.nv else ca.SX.zeros(0)
        smooth = ca.tanh(self.v / SMOOTH) if self.friction == "smooth" and any(_nonzero(x) for x in coulomb) else 0.0
        return -damping * self.v - dry * smooth

    @cached_property
    def tau(self) -> ca.SX:
        """The joint forces that act: the controller's and the losses."""
        return self.controller.tau + self.losses

    @cached_property
    def derivative(self) -> ca.Function:
        """(t, x, u, p) -> x'."""
        rate = self.equations.derivative(self.t, self.x, self.tau, self.p)
        power = ca.dot(self.tau, self.v) + self._load_power()
        return ca.Function("derivative", self.inputs, [ca.cse(ca.densify(ca.vertcat(rate, self.controller.rate, power)))])

    def _load_power(self) -> ca.SX:
        """What loads put in besides the energy of springs."""
        if not self.mechanism.loads:
            return ca.SX(0)
        s = Tracer(self.layout)
        Q = s.applied.generalised()
        stored = ca.jtimes(s.applied.energy, s.q, s.coordinate_rate())
        f = ca.Function("load_power", [s.t, s.q, s.v, s.p], [ca.dot(Q, s.v) + stored])
        return f(self.t, self.q, self.v, self.p)

    @cached_property
    def settle(self) -> ca.Function | None:
        """x -> x on the constraints: unit quaternions, closed loops (mass-weighted), speeds along them. None if nothing to do."""
        balls = [node.qi for node in self.layout.nodes if node.motion == BALL]
        m = self.mechanism
        if not (balls or m.loops or m.nonholonomic) or self.by not in ("recursive", "lagrange", "kane", "boltzmann_hamel"):
            return None
        s = Tracer(self.layout)
        q, v = projected(s, balls)
        f = ca.Function("projected", [s.t, s.q, s.v, s.p], [q, v])
        q, v = f(self.t, self.q, self.v, self.p)
        x = self.equations.encode(q, v, self.p)
        return ca.Function("settle", self.inputs, [ca.cse(ca.densify(ca.vertcat(x, self.c, self.work)))])

    @cached_property
    def step(self) -> ca.Function:
        """Semi-implicit Euler as a map: speeds by the accelerations, then coordinates by the new speeds."""
        h = ca.SX.sym("h")
        s = Tracer(self.layout)
        a = self.equations.acceleration(self.t, self.q, self.v, self.tau, self.p)
        v = self.v + h * a
        move = ca.Function("move", [s.q, s.v, h], [moved(s, h)])
        q = move(self.q, v, h)
        x = self.equations.encode(q, v, self.p)
        more = [self.c + h * self.controller.rate, self.work + h * ca.dot(self.tau, v)]
        return ca.Function("step", [*self.inputs, h], [ca.cse(ca.densify(ca.vertcat(x, *more)))])

    @cached_property
    def observe(self) -> ca.Function:
        """(t, x, u, p) -> q, v, a, tau, (kinetic, potential), the rows' residuals."""
        s = Tracer(self.layout)
        energy = ca.Function("energy", [s.t, s.q, s.v, s.p], [s.energy()])(self.t, self.q, self.v, self.p)
        a = self.equations.acceleration(self.t, self.q, self.v, self.tau, self.p)
        outputs = [self.q, self.v, a, self.controller.tau, energy]
        if self.mechanism.loops or self.mechanism.nonholonomic:
            error, rate, _, _ = s.constraint_rows()
            rows = ca.Function("rows", [s.t, s.q, s.v, s.p], [ca.vertcat(error, rate)])
            outputs.append(rows(self.t, self.q, self.v, self.p))
        return ca.Function("observe", self.inputs, ca.cse([ca.densify(x) for x in outputs]))

    def kernel(self, name: str, width: int | None = None) -> LaneKernel | None:
        """The compiled tape of that name, in lanes; None where there is none."""
        f = getattr(self, name)
        key = (name, width)
        if f is not None and key not in self._kernels:
            self._kernels[key] = compile_lanes(f, width=width)
        return self._kernels.get(key)

    @cached_property
    def _kernels(self) -> dict[tuple, LaneKernel]:
        return {}

    # ------------------------------------------------------------------------------------------------ states
    def start(self, q: np.ndarray, v: np.ndarray, p: np.ndarray) -> np.ndarray:
        """The state x of one (q, v): encoded, the controller's own state, no work done yet."""
        x = np.array(self.equations.encode(q, v, p)).ravel()
        return np.concatenate([x, self.controller.start, [0.0]])


def moved(s: Tracer, h: Any) -> ca.SX:
    """q after moving with the speeds v for a time h: turns of balls exactly, quaternions kept at length one."""
    q = [s.q[k] for k in range(s.layout.nq)]
    for node in s.layout.nodes:
        k, l = node.qi, node.vi
        if node.motion == BALL:
            half = 0.5 * h * s.v[l : l + 3]
            angle = ca.sqrt(ca.sumsqr(half) + 1e-300)
            c, w = ca.cos(angle), ca.sin(angle) / angle * half
            a, b = q[k], ca.vertcat(*q[k + 1 : k + 4])
            turned = ca.vertcat(a * c - ca.dot(b, w), a * w + c * b + ca.cross(b, w))
            turned = turned / ca.sqrt(ca.sumsqr(turned))
            q[k : k + 4] = [turned[i] for i in range(4)]
        else:
            q[k] = s.q[k] + h * s.v[l]
    return ca.vertcat(*q)


def projected(s: Tracer, balls: list[int]) -> tuple[ca.SX, ca.SX]:
    """One mass-weighted Newton step onto the constraints, for positions and then for speeds."""
    q, v = s.q, s.v
    if s.layout.mechanism.loops:
        shift = ca.Function("shift", [s.t, s.q, s.v, s.p], [_nearest(s, 0)])
        change = shift(s.t, s.q, s.v, s.p)
        q = ca.Function("moved", [s.q, s.v], [moved(s, 1.0)])(q, change)
    for k in balls:
        unit = q[k : k + 4] / ca.sqrt(ca.sumsqr(q[k : k + 4]))
        q = ca.vertcat(q[:k], unit, q[k + 4 :])
    if s.layout.mechanism.loops or s.layout.mechanism.nonholonomic:
        slow = ca.Function("slow", [s.t, s.q, s.v, s.p], [_nearest(s, 1)])
        v = v + slow(s.t, q, v, s.p)
    return q, v


def _nearest(s: Tracer, which: int) -> ca.SX:
    """The smallest change (by kinetic energy) that takes away the rows' residuals (0) or their rates (1)."""
    rows = s.constraint_rows()
    return s.smallest_change(rows[3], -rows[which])[0]


def _nonzero(x: Any) -> bool:
    return not isinstance(x, float) or x != 0.0
