"""The agenda of a run: what happens when something does.

Between events nothing of this is looked at: the tape has the modes, the driver the guards. At an event speeds jump,

    M dv = P + R' L,      R (v + dv) = wanted

P the blow, R the rows that hold through it: loops, locks, and stops as far as they push (L of the right sign). Friction is a
finite force and takes no part in a blow. Afterwards every joint at rest is tried: it is held if the force it takes lies in the
interval that friction and stops allow, otherwise it starts to slip, the one that is farthest outside first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from ..compiler.trace import Tracer, matrix
from ..errors import SimulationError
from ..machine.constraint_rows import Metric, least_change
from ..machine.lookup import by_speed, speeds_of
from ..machine.machine import Machine
from .engine import Engine
from .event_plan import Scheme
from .events import Happening, Impulse, Lock, Release, When
from .switched_constraints import BIG, HIGH, LOW, ON, WAY, WEAK, Holdable

Array = np.ndarray
REST = 1e-5  # m/s, rad/s: a rebound slower than this is none
STILL = 1e-9  # m/s, rad/s: at rest, for friction
TOUCH = 1e-9  # m, rad: at a stop
CROWD = 100  # events at one instant, after which a run gives up


@dataclass(frozen=True)
class Occurrence:
    """What happened, when (s)."""

    time: float
    what: str


class Agenda:
    """The events of one run. It reads and writes the engine's state and modes; what happened is in `log`."""

    def __init__(self, plan: Scheme, machine: Machine, engine: Engine):
        self.plan, self.machine, self.engine = plan, machine, engine
        self.log: list[Occurrence] = []
        self.holding, self.system = plan.holding, engine.system
        self.p = engine.p[:, 0].copy()
        self.lower, self.upper, self.dry = (np.array(x).ravel() for x in self.system.bounds(self.p))
        self._last, self._crowd = -np.inf, 0
        self._done: set[int] = set()  # scheduled happenings that have happened

    # ------------------------------------------------------------------------------------------------ to continue later
    def checkpoint(self) -> dict[str, Any]:
        """What a continued run must know, as JSON has it; the modes stand in the engine."""
        return {"last": self._last, "crowd": self._crowd, "done": sorted(self._done), "log": [(o.time, o.what) for o in self.log]}

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from there."""
        self._last, self._crowd, self._done = state["last"], state["crowd"], set(state["done"])
        self.log = [Occurrence(t, what) for t, what in state["log"]]

    # ------------------------------------------------------------------------------------------------ the three doors
    def begin(self, t: float) -> bool:
        """Before the first step: which joints rest, and what is scheduled for the start. Whether the run ends at once."""
        self.choose(t)
        return self.due(t)

    def next(self, t: float) -> float:
        """The next scheduled instant after t."""
        return next((at for at, _ in self.plan.timed if at > t), np.inf)

    def due(self, t: float) -> bool:
        """Everything that is scheduled for this instant. Whether the run ends."""
        now = [k for k, (at, _) in enumerate(self.plan.timed) if at == t and k not in self._done]
        self._done.update(now)
        ends = [self._happen(t, self.plan.timed[k][1]) for k in now]
        return any(ends)

    def fell(self, t: float, guard: int) -> bool:
        """A guard fell to zero. Whether the run ends."""
        self._crowd = self._crowd + 1 if t - self._last <= 1e-12 * max(1.0, abs(t)) else 0
        self._last = t
        if self._crowd > CROWD:
            last = self.log[-1].what if self.log else "a guard that falls"
            raise SimulationError(f"more than {CROWD} events at t = {t:.9g} s, the last: {last}; the run cannot get past it")
        n, ended = len(self.holding.speeds), False
        if guard >= 3 * n:
            ended = self._happen(t, self.plan.guarded[guard - 3 * n])
        else:
            self._turn(t, *divmod(guard, 3))
        return self.due(t) or ended

    def _turn(self, t: float, k: int, which: int) -> None:
        """A holdable speed meets a stop, comes to rest, or leaves the interval of its force."""
        if which < 2 and self._modes(k)[ON] < 0.5:
            self._meet(t, k, 1.0 if which == 0 else -1.0)
        elif which == 2:
            self._jump(t, wanted={self.holding.speeds[k].index: 0.0})
        self.choose(t)

    # ------------------------------------------------------------------------------------------------ states
    def _modes(self, k: int) -> Array:
        return self.engine.modes[4 * k : 4 * k + 4, 0]

    @property
    def state(self) -> tuple[Array, Array]:
        """q and v."""
        e, x = self.system.equations, self.engine.x[: self.system.nx, 0]
        q, v = e.decode(x, self.p)
        return np.array(q).ravel(), np.array(v).ravel()

    def _put(self, q: Array, v: Array, work: float = 0.0) -> None:
        x = self.engine.x
        x[: self.system.nx, 0] = np.array(self.system.equations.encode(q, v, self.p)).ravel()
        x[-1, 0] += work

    def _say(self, t: float, what: str) -> None:
        self.log.append(Occurrence(float(t), what))

    # ------------------------------------------------------------------------------------------------ happenings
    def _happen(self, t: float, e: Happening) -> bool:
        """Let one thing happen."""
        if isinstance(e, Impulse):
            self._strike(t, e)
        elif isinstance(e, Lock):
            self._lock(t, e)
        elif isinstance(e, Release):
            self._release(e)
            self._say(t, f"{e.lock} is released")
        else:
            self._say(t, e.title)
        self.choose(t)
        return isinstance(e, When) and e.end

    def _strike(self, t: float, e: Impulse) -> None:
        q, _ = self.state
        P = np.zeros(self.machine.nv)
        for k, x in by_speed(self.machine, e.title, e.joint).items():
            P[k] += x
        if e.frame:
            J = self.machine.jacobian(q, e.frame, e.axes, parameters=self._parameters)
            P += J.T @ np.array([*e.angular, *e.linear], float)
        self._say(t, e.title if e.name else f"impulse at {e.frame or ', '.join(e.joint)}")
        self._jump(t, P)

    def _lock(self, t: float, e: Lock) -> None:
        if e.joint:
            for l in speeds_of(self.machine, e.joint):
                self._modes(self._index(l))[:] = 1.0, 0.0, -BIG, BIG
        else:
            k = self.plan.locks.index(e)
            X = self._place(e, self.state[0])
            self.engine.modes[self.holding.lock(k), 0] = [1.0, *X[:3, :3].ravel(), *X[:3, 3]]
        self._say(t, e.title)
        self._jump(t)

    def _release(self, e: Release) -> None:
        for k, lock in enumerate(self.plan.locks):
            if e.lock in (lock.name, lock.frame):
                self.engine.modes[self.holding.lock(k).start, 0] = 0.0
        for other in (*(x for _, x in self.plan.timed), *self.plan.guarded):
            if isinstance(other, Lock) and other.joint and e.lock in (other.name, other.joint):
                for l in speeds_of(self.machine, other.joint):
                    self._modes(self._index(l))[:] = 0.0

    def _place(self, e: Lock, q: Array) -> Array:
        """Where the frame is on the node of the body that catches it, (4, 4)."""
        seat = self.machine.layout.seats[e.to]
        body = np.eye(4) if e.to == "ground" else self.machine.pose(q, e.to, parameters=self._parameters)
        s = Tracer(self.machine.layout)
        rows = [[s.value(x) for x in (*row, p)] for row, p in zip(seat.pose.rotation, seat.pose.position)]
        X = np.vstack([np.array(ca.Function("own", [s.p], [matrix(rows)])(self.p)), [0, 0, 0, 1.0]])
        return X @ np.linalg.solve(body, self.machine.pose(q, e.frame, parameters=self._parameters))

    @property
    def _parameters(self) -> Array | None:
        return self.p if len(self.p) else None

    def _index(self, speed: int) -> int:
        return next(k for k, h in enumerate(self.holding.speeds) if h.index == speed)

    # ------------------------------------------------------------------------------------------------ impacts
    def _meet(self, t: float, k: int, side: float) -> None:
        """A coordinate meets its stop: side 1 its lower one, -1 its upper one."""
        h, (q, v) = self.holding.speeds[k], self.state
        q[h.coordinate] = self.lower[k] if side > 0 else self.upper[k]
        self._put(q, v)
        speed = v[h.index]
        if side * speed < 0:
            bounce = -h.restitution * speed
            self._say(t, f"{h.name} meets its {'lower' if side > 0 else 'upper'} stop at {speed:.6g}")
            self._jump(t, wanted={h.index: bounce if abs(bounce) > REST else 0.0})

    def _jump(self, t: float, P: Array | None = None, wanted: dict[int, float] | None = None) -> None:
        """The speeds jump by an impulse P, and to the values wanted; the work of all impulses is booked."""
        q, v = self.state
        M, R, r, side, size = self._binding(t, q, v, wanted or {})
        P = np.zeros(len(v)) if P is None else P
        keep = np.ones(len(R), bool)
        while True:
            dv, L = np.linalg.solve(M, P), np.zeros(0)
            if keep.any():
                more, L = least_change(M, R[keep], r[keep] - R[keep] @ dv, Metric(self.system.column_scales, size[keep]))
                dv = dv + more
            pulls = L * side[keep]
            if not (pulls < -1e-12 * np.abs(L).max(initial=1e-300)).any():
                break
            keep[np.flatnonzero(keep)[pulls.argmin()]] = False
        self._put(q, v + dv, float((P + R[keep].T @ L) @ (v + 0.5 * dv)))

    def _binding(self, t: float, q: Array, v: Array, wanted: dict[int, float]) -> tuple[Array, ...]:
        """M; the rows R that hold through a blow; R dv; for a row that only pushes its direction, else 0; N of `kernels.rank`."""
        nv, modes = len(v), self.engine.modes[:, 0]
        M, A, rate, B, held, z = (np.array(x) for x in self.system.binding(t, q, v, self.p, modes))
        rows = [(a, -float(b), 0.0) for a, b in zip(A, rate.ravel())]
        n = len(self.holding.speeds)
        rows += [(B[k], -float(held.ravel()[k]), 0.0) for k in range(n, len(B)) if z.ravel()[k] > 0.5]
        for k, h in enumerate(self.holding.speeds):
            on, _, low, high = self._modes(k)
            stops, catches = high >= BIG, low <= -BIG
            if on > 0.5 and (stops or catches) and h.index not in wanted:
                rows.append((np.eye(nv)[h.index], -v[h.index], 0.0 if stops and catches else 1.0 if stops else -1.0))
        driven = self.system.driven.speeds if self.system.driven is not None else []
        rows += [(np.eye(nv)[k], 0.0, 0.0) for k in driven]
        rows += [(np.eye(nv)[k], to - v[k], 0.0) for k, to in wanted.items()]
        R = np.array([row for row, _, _ in rows]).reshape(len(rows), nv)
        closing, locks = self.system.row_scales
        sizes = [*closing[: len(A)], *(x for x, on in zip(locks[n:], z.ravel()[n:]) if on > 0.5)]
        sizes += [0.0] * (len(rows) - len(sizes))  # the others are speeds
        return M, R, np.array([x for _, x, _ in rows]), np.array([x for _, _, x in rows]), np.array(sizes)

    # ------------------------------------------------------------------------------------------------ who rests
    def choose(self, t: float) -> None:
        """Throw the switches: which joints are held, and which way the others slip."""
        if not self.holding.speeds:
            return
        before = [self._modes(k).copy() for k in range(len(self.holding.speeds))]
        q, v = self.state
        for k, h in enumerate(self.holding.speeds):
            self._modes(k)[:] = self._rest(k, h, q, v)
        for _ in range(4 * len(self.holding.speeds)):
            if not self._let_go(t):
                break
        for k, h in enumerate(self.holding.speeds):
            self._tell(t, k, h, before[k])

    def _rest(self, k: int, h: Holdable, q: Array, v: Array) -> tuple[float, float, float, float]:
        """The modes of a speed if all that could hold it does."""
        on, _, low, high = self._modes(k)
        if on > 0.5 and low <= -BIG and high >= BIG:
            return 1.0, 0.0, -BIG, BIG  # locked
        F, speed = self.dry[k], v[h.index]
        if abs(speed) > STILL:
            return 0.0, float(np.sign(speed)), -F, F
        low, high = -F, F
        if h.coordinate >= 0:
            high = BIG if q[h.coordinate] - self.lower[k] <= TOUCH else high
            low = -BIG if self.upper[k] - q[h.coordinate] <= TOUCH else low
        return float(F > 0 or high >= BIG or low <= -BIG), 0.0, low, high

    def _let_go(self, t: float) -> bool:
        """Let go the joint whose force is farthest outside what holds it; whether there was one."""
        forces = self.engine.evaluate("forces", t)[1][:, 0]
        worst, most, way = -1, 0.0, 0.0
        for k in range(len(self.holding.speeds)):
            on, _, low, high = self._modes(k)
            slack = WEAK * (1.0 + self.dry[k])
            outside = max(low - forces[k], forces[k] - high)
            if on > 0.5 and outside > max(most, 0.5 * slack):
                worst, most = k, outside
                way = 1.0 if low - forces[k] > forces[k] - high else -1.0
        if worst < 0:
            return False
        self._modes(worst)[[ON, WAY]] = 0.0, way
        return True

    def _tell(self, t: float, k: int, h: Holdable, before: Array) -> None:
        on, _, low, high = self._modes(k)
        if (on > 0.5) == (before[ON] > 0.5) or (on > 0.5 and high >= BIG and low <= -BIG):
            return  # a lock says so itself
        if on < 0.5:
            low, high = before[LOW], before[HIGH]
        stop = "lower" if high > self.dry[k] else "upper" if low < -self.dry[k] else ""
        if on > 0.5:
            self._say(t, f"{h.name} rests on its {stop} stop" if stop else f"{h.name} sticks")
        else:
            self._say(t, f"{h.name} leaves its {stop} stop" if stop else f"{h.name} slips")
