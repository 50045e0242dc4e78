"""Holding: rows that can be switched on and off while a mechanism moves. Dry friction that sticks, stops, locks.

    M a + bias = tau + A' lambda + B' mu,      z (B a - gamma) = 0,   mu = 0 where z = 0

z is one switch a row. A joint that is held has the row v_k = 0; a frame that is locked to a body has the rows of a loop joint
that closes where the frame is at that instant. The forces mu enter as joint forces, so that every formulation can be held: its
acceleration is linear in them. All switches stand in the tape as inputs (`modes`); nothing is compiled anew when one is thrown.

Of a held joint the modes also have the interval in which its force must stay, lo <= mu <= hi: friction holds up to its limit in
both directions, a stop only pushes, a lock does what it must. Of a free one they have the direction in which it slips. The
guards follow from the modes; an event is a guard that falls to zero:

    free   q - lower,   upper - q,   d v          held   mu - lo,   hi - mu
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from ..compiler.trace import Tracer, elements, vector
from ..kernels.constrained_dynamics import factor_rows, solve_rows
from ..kernels.constraint_rows import Constraints, constraints, loop_rows
from ..kernels.rank import independent
from ..kernels.tree import Layout, layout
from ..model.mechanism import Joint
from ..spatial import rotate

if TYPE_CHECKING:
    from .system import System

BIG = 1e300  # a force without limit
NEAR = 1e-12  # m, rad (and m/s, rad/s): how far a guard's zero lies beyond the place it guards
WEAK = 1e-9  # N, N m beside 1 and the friction: the same for forces
ON, WAY, LOW, HIGH = range(4)  # the modes of a holdable speed: switch, direction of slipping, interval of its force
POSE = 13  # modes of a lock: switch, then rotation by rows and origin of its place


@dataclass(frozen=True)
class Holdable:
    """A speed that may be held. lower, upper: of its coordinate; friction: Coulomb's limit; each a number or expression.

    index: of the speed; coordinate: of its coordinate, -1 for a ball's. name: of the speed.
    """

    name: str
    index: int
    coordinate: int
    lower: Any = -np.inf
    upper: Any = np.inf
    friction: Any = 0.0
    restitution: float = 0.0

    @property
    def guarded(self) -> bool:
        """Whether an event can come from it: it has a limit, or friction."""
        return _nonzero(self.friction) or (self.coordinate >= 0 and (_finite(self.lower) or _finite(self.upper)))


class Holding:
    """The holdable speeds, lockable frames and further guards of a run, and their expressions for one system.

    locks: loop joints whose place on the parent is not known yet: it is a mode. guards: functions of a Tracer to an
    expression. words: equal for two that have the same tapes; None if that cannot be known.
    """

    def __init__(self, speeds: Sequence[Holdable] = (), locks: Sequence[Joint] = (), guards: Sequence[Callable] = (),
                 words: str | None = ""):  # fmt: skip
        self.speeds, self.locks, self.guards, self.words = tuple(speeds), tuple(locks), tuple(guards), words
        self.size = 4 * len(self.speeds) + POSE * len(self.locks)
        self.symbols = ca.SX.sym("modes", self.size)
        self.names = tuple(f"{s.name} {m}" for s in self.speeds for m in ("held", "way", "low", "high"))
        parts = [f"{a}{b}" for a in "xyz" for b in "xyz"] + list("xyz")
        self.names += tuple(f"{j.name} {m}" for j in self.locks for m in ("locked", *parts))

    def start(self) -> np.ndarray:
        """The modes with nothing held."""
        modes = np.zeros(self.size)
        for k in range(len(self.locks)):
            modes[self.lock(k)][[1, 5, 9]] = 1.0  # a rotation, so that rows that are off have numbers
        return modes

    def lock(self, k: int) -> slice:
        """Where the modes of the k-th lock stand."""
        first = 4 * len(self.speeds) + POSE * k
        return slice(first, first + POSE)

    def values(self, s: Tracer) -> tuple[ca.SX, ca.SX, ca.SX]:
        """lower, upper and friction of the holdable speeds, as expressions of the tracer's parameters."""
        found = [[s.value(x) for x in column] for column in zip(*((h.lower, h.upper, h.friction) for h in self.speeds))]
        lower, upper, dry = (vector(c) for c in found) if found else (ca.SX.zeros(0),) * 3
        return lower, upper, dry

    # ------------------------------------------------------------------------------------------------ rows
    def rows(self, s: Tracer) -> tuple[ca.SX, ca.SX, ca.SX, ca.SX, ca.SX]:
        """Residuals, rates, gamma (m,) each, B (m, nv), and the switches z (m,), of the tracer's symbols and the modes."""
        n, modes = len(self.speeds), self.symbols
        z = [modes[4 * k + ON] for k in range(n)]
        B = ca.SX(n, s.layout.nv)
        for k, h in enumerate(self.speeds):
            B[k, h.index] = 1.0
        error, rate, gamma = ca.SX.zeros(n), ca.mtimes(B, s.v), ca.SX.zeros(n)
        for k, joint in enumerate(self.locks):
            e, r, g, A = _loop_rows(s, joint, modes[self.lock(k)])
            error, rate, gamma = ca.vertcat(error, e), ca.vertcat(rate, r), ca.vertcat(gamma, g)
            B = ca.vertcat(B, A)
            z += [modes[self.lock(k)][0]] * e.numel()
        return error, rate, gamma, ca.densify(B), vector(z)

    def row_scales(self, s: Tracer) -> list[float]:
        """N of these rows, where rank is decided (`kernels.rank`)."""
        speeds = [float(s.con.column[h.index]) for h in self.speeds]
        return speeds + [float(x) for joint in self.locks for x in constraints(_closing(s, joint), s.value).size]

    def _kept(self, s: Tracer, B: ca.SX, z: ca.SX, driven: Sequence[int]) -> ca.SX:
        """(m,) 1 for the rows that are on and say more than loops, driven speeds and other rows do, else 0."""
        m = s.layout.mechanism
        A = s.constraint_rows()[3] if m.loops or m.nonholonomic else ca.SX.zeros(0, s.layout.nv)
        still = ca.SX.eye(s.layout.nv)[list(driven), :]
        C, both = ca.diag(ca.SX(s.con.column)), ca.vertcat(ca.diag(z) @ B, A, still)
        G, keep = ca.densify(both @ C @ both.T), np.full(both.shape[0], 0.0, dtype=object)
        size = [*self.row_scales(s), *s.row_scales(), *s.con.column[list(driven)]]
        independent(_entries(G), [x if x != 0.0 else G[k, k] for k, x in enumerate(size)], keep)
        return vector(keep[: B.shape[0]])

    def force(self, system: System, tau: ca.SX) -> tuple[ca.SX, ca.SX]:
        """mu (m,) and B' mu (nv,): what holds, when the joint forces tau act besides."""
        s = Tracer(system.layout)
        given = [s.t, s.q, s.v, s.p]
        _, _, gamma, B, z = self.rows(s)
        keep = self._kept(s, B, z, system.driven.speeds if system.driven is not None else ())
        f = ca.Function("held_rows", [*given, self.symbols], [ca.densify(x) for x in (gamma, B, keep)])
        here = (system.t, system.q, system.v, system.p)
        gamma, B, keep = f(*here, self.symbols)
        push = ca.SX.sym("push", system.nv)
        a, _ = system.under(push)
        response = ca.mtimes(B, ca.jtimes(a, push, B.T))  # B W B', with a = free + W push
        response = 0.5 * (response + response.T)
        mu = _answered(response, gamma - ca.mtimes(B, ca.substitute(a, push, tau)), keep)
        return mu, ca.mtimes(B.T, mu)

    def slipping(self, p: ca.SX, system: System) -> ca.SX:
        """Coulomb's force (nv,) on the joints that slip: against the direction in which each does."""
        s = Tracer(system.layout)
        dry = ca.Function("dry", [s.p], [self.values(s)[2]])(p) if self.speeds else ca.SX.zeros(0)
        force = ca.SX.zeros(system.nv)
        for k, h in enumerate(self.speeds):
            force[h.index] -= dry[k] * self.symbols[4 * k + WAY] * (1.0 - self.symbols[4 * k + ON])
        return force

    # ------------------------------------------------------------------------------------------------ guards
    def guard(self, system: System) -> ca.SX:
        """Three values a holdable speed, then one a further guard; an event is one that falls to zero."""
        s = Tracer(system.layout)
        lower, upper, dry = (ca.Function("value", [s.p], [x])(system.p) for x in self.values(s))
        q, v, found = system.q, system.v, []
        for k, h in enumerate(self.speeds):
            z, d, low, high = (self.symbols[4 * k + i] for i in range(4))
            mu, slack = system.held[0][k], WEAK * (1.0 + dry[k])
            bounded = h.coordinate >= 0
            inside = (q[h.coordinate] - lower[k] if bounded and _finite(h.lower) else ca.SX(1.0),
                      upper[k] - q[h.coordinate] if bounded and _finite(h.upper) else ca.SX(1.0))  # fmt: skip
            found += [
                ca.if_else(z > 0.5, mu - low + slack, inside[0] + NEAR),
                ca.if_else(z > 0.5, high - mu + slack, inside[1] + NEAR),
                (1.0 - z) * d * v[h.index] + NEAR if _nonzero(h.friction) else ca.SX(1.0),
            ]
        for guard in self.guards:
            f = ca.Function("guard", [s.t, s.q, s.v, s.p], [guard(s)])
            found.append(f(system.t, system.q, system.v, system.p))
        return ca.densify(ca.vertcat(*found)) if found else ca.SX.zeros(0)


def _answered(S: ca.SX, r: ca.SX, keep: ca.SX) -> ca.SX:
    """mu with S mu = r in the rows that are kept, and zero in the others."""
    L, y = _entries(ca.densify(S)), np.full(keep.numel(), 0.0, dtype=object)
    factor_rows(L, elements(keep), y)
    mu = ca.SX.zeros(keep.numel())
    for _ in range(2):
        y[:] = elements(ca.densify(r - S @ mu))
        solve_rows(L, y)
        mu = mu + vector(y)
    return mu


def _entries(S: ca.SX) -> np.ndarray:
    """A matrix as an array of its entries."""
    found = np.empty(S.shape, dtype=object)
    for k in range(S.shape[0]):
        found[k] = elements(S[k, :])
    return found


def _closing(s: Tracer, joint: Joint) -> Layout:
    """The mechanism with this loop joint, and no other."""
    return layout(s.layout.mechanism.with_(loops=(joint,)))


def _loop_rows(s: Tracer, joint: Joint, modes: ca.SX) -> tuple[ca.SX, ...]:
    """Residuals, rates, gamma and rows of a loop joint whose place on its parent's node is a mode."""
    con: Constraints = constraints(_closing(s, joint), s.value)
    R, p = tuple(tuple(modes[1 + 3 * i + j] for j in range(3)) for i in range(3)), con.p.astype(object)
    p[:, 0] = [modes[10 + i] for i in range(3)]
    a, c = (np.array([rotate(R, x) for x in rows], object) for rows in zip(*((row.a, row.b) for row in loop_rows(joint))))
    return s.rows_of(con._replace(p=p, a=a, c=c))


def _finite(x: Any) -> bool:
    return not isinstance(x, (int, float)) or bool(np.isfinite(x))


def _nonzero(x: Any) -> bool:
    return not isinstance(x, (int, float)) or x != 0.0
