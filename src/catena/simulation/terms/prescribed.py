"""Prescribed motion: some coordinates follow a trajectory, the others move by the dynamics, and the
forces that the trajectory requires are computed.

With d for the driven speeds and f for the free ones ([Passerello1972] eq. 3.30-3.31, here with
loops):

    [ M_ff  A_f' ] [  a_f ]   [ tau_f - b_f - M_fd a_d ]
    [ A_f    0   ] [ -lam ] = [ gamma - A_d a_d    ]        then        tau_d = (M a + b - A' lam)_d

Driven bodies need no inertia, and their angles may pass a gimbal lock: only M_ff is solved. By
other formulations than `recursive`, whose own accelerations are affine in the forces, a = a_0 + W
tau, the forces come from W_dd tau_d = a_d - a_0d.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from ...compiler import (
    DENSE,
    Tracer,
    elements,
    entries,
    factored,
    kept_tape,
    row_inertia,
    smallest_change,
    solved,
    vector,
)
from ...errors import ClosureError, SimulationError, SingularError, StateError
from ...kernels import CoordinateRange, Layout, dynamics, motion_without_energy, speeds
from ...machine import Metric, spaces, speeds_of
from ...model import Mechanism
from ..trajectories.piecewise import Trajectory, places, trajectory
from .projection import Binding, projected

Array = np.ndarray
LOCKED = "locked"
# residual of a row of a loop, and its rate per second, relative to the length scale of the row:
# with less the loop counts as closed
CLOSED_LOOP = 1e-9


# --- the partition
def partitioned(layout: Layout, driven: list[int]) -> ca.Function:
    """Return the function (t, q, v, p, a_d, tau) -> a, tau, lam: all accelerations; tau with its
    driven entries replaced by the forces that the motion requires; and the multipliers of the
    constraint rows.
    """
    return kept_tape(layout.mechanism, "partitioned", driven, lambda: _partitioned(layout, driven))


def _partitioned(layout: Layout, driven: list[int]) -> ca.Function:
    """Return the function of `partitioned`, uncached. Raise SimulationError where the forces are
    not determined, and SingularError where a free speed moves no inertia.
    """
    s = Tracer(layout)
    nv = layout.nv
    mechanism = layout.mechanism
    f = [k for k in range(nv) if k not in driven]
    a_d = ca.SX.sym("a_d", len(driven))
    rows = mechanism.constrained
    if not f and not rows:  # nothing is free: inverse dynamics
        a = vector([a_d[driven.index(k)] for k in range(nv)])
        given = [s.t, s.q, s.v, s.p, a_d, s.tau]
        return ca.Function(
            "partitioned", given, ca.cse([a, s.inverse_dynamics(a=elements(a)), ca.SX.zeros(0)])
        )
    if not f:
        raise SimulationError(
            f"every coordinate of mechanism {mechanism.name!r} is driven, and its loops leave fewer"
            " free, so the forces are not determined; drive as many as it has freedoms"
        )
    tree = not (rows or s.lift or s.flexible or layout.coupled) and nv > DENSE
    if tree and all(_all_or_none(c, driven) for c in layout.coordinates):
        return _by_articulated_bodies(s, driven, a_d)
    M, b = s.mass_matrix(), s.bias()
    for k in f:
        if M[k, k].is_zero() and not rows:
            raise _without_inertia(mechanism, k)
    whole = np.array(
        [a_d[driven.index(k)] if k in driven else ca.SX(0) for k in range(nv)], dtype=object
    )
    A = ca.SX.zeros(0, nv)
    lam = ca.SX.zeros(0)
    gamma = ca.SX.zeros(0)
    inertia = M[f, f]
    forces = s.tau[f] - b[f] - M[f, driven] @ a_d
    if rows:
        _, _, gamma, A = s.constraint_rows()
    if s.massless:  # the rows decide what moves no inertia: `Driven._require_inertia`
        weighted = row_inertia(s, A[:, f], s.row_scales(), f)
        inertia = inertia + weighted @ A[:, f]
        forces = forces + weighted @ (gamma - A[:, driven] @ a_d)
    L = factored(entries(inertia))
    pushed = solved(L, forces)
    whole[f] = elements(pushed)
    if rows:
        change, lam = smallest_change(
            L, A[:, f], gamma - A @ vector(whole), s.con.column[f], s.row_scales()
        )
        whole[f] = elements(pushed + change)
    total = M @ vector(whole) + b - A.T @ lam
    tau = vector([total[k] if k in driven else s.tau[k] for k in range(nv)])
    return ca.Function(
        "partitioned",
        [s.t, s.q, s.v, s.p, a_d, s.tau],
        ca.cse([vector(whole), tau, ca.densify(lam)]),
    )


def _all_or_none(c: CoordinateRange, driven: list[int]) -> bool:
    """Return whether all speeds of an elementary motion are driven, or none of them."""
    return len({c.vi + k in driven for k in range(speeds(c.motion))}) == 1


def _by_articulated_bodies(s: Tracer, driven: list[int], a_d: ca.SX) -> ca.Function:
    """Return the function of `partitioned` for a tree, in O(n): starting from the motion with a_f =
    0, free nodes respond to the forces as articulated bodies, and driven nodes are rigid.
    """
    nv = s.layout.nv
    x = s.work()
    change = s.blank(s.layout.nv)
    still = [a_d[driven.index(k)] if k in driven else ca.SX(0) for k in range(nv)]
    dynamics.net_forces(s.tree, s.Q, s.V, still, s.loads, x)
    dynamics.rigid_inertias(s.tree, x)
    for i in reversed(range(len(s.layout.nodes))):
        node = s.layout.nodes[i]
        if node.vi in driven:
            dynamics.rigid_node(s.tree, i, x)
            continue
        with np.errstate(divide="ignore", invalid="ignore"):
            dynamics.articulate_node(s.tree, i, x)
        if any(
            ca.SX(x.D[i, k]).is_constant() and not np.isfinite(float(x.D[i, k]))
            for k in range(speeds(node.motion))
        ):
            raise _without_inertia(s.layout.mechanism, node.vi)
    dynamics.respond(s.tree, s.pushed, x, change)
    a = [x if k in driven else y for k, (x, y) in enumerate(zip(still, change))]
    total = s.inverse_dynamics(a=a)
    tau = vector([total[k] if k in driven else s.tau[k] for k in range(nv)])
    return ca.Function(
        "partitioned", [s.t, s.q, s.v, s.p, a_d, s.tau], ca.cse([vector(a), tau, ca.SX.zeros(0)])
    )


def _without_inertia(m: Mechanism, k: int) -> SingularError:
    """Return the error for speed k, whose motion no inertia resists."""
    name = m.speed_names[k]
    return SingularError(
        f"{name!r} of mechanism {m.name!r} moves no inertia, so that forces do not determine its"
        " acceleration; prescribe its motion too",
        name,
    )


# --- what is driven
@dataclass(frozen=True)
class Driven:
    """The driven coordinates: those with a trajectory first, then the speeds of locked joints.

    motion: the trajectory, None where joints are only locked. qi, vi: the places in q and in v of
    the coordinates with a trajectory. locked: the places in v of locked speeds.
    """

    layout: Layout
    motion: Trajectory | None
    qi: list[int]
    vi: list[int]
    locked: list[int]

    @property
    def speeds(self) -> list[int]:
        """The places in v of all driven speeds."""
        return [*self.vi, *self.locked]

    def accelerations(self, aim: tuple[ca.SX, ca.SX, ca.SX]) -> ca.SX:
        """Return a_d of all driven speeds, where aim is q, v, a of the motion."""
        return ca.vertcat(aim[2], ca.SX.zeros(len(self.locked)))

    def placed(self, q: ca.SX, v: ca.SX, q_d: ca.SX, v_d: ca.SX) -> tuple[ca.SX, ca.SX]:
        """Return q and v with the driven entries replaced by q_d and v_d, and locked speeds by
        zero.
        """
        Q, V = elements(q), elements(v)
        for j, (k, l) in enumerate(zip(self.qi, self.vi)):
            Q[k], V[l] = q_d[j], v_d[j]
        for k in self.locked:
            V[k] = ca.SX(0)
        return vector(Q), vector(V)

    def start(self, t: float, q: Array, v: Array, p: Array) -> tuple[Array, Array]:
        """Return q and v of a start that satisfies the prescribed motion: the driven coordinates
        have their values at t (s), and the others close the loops. Raise ClosureError where the
        loops cannot be closed.
        """
        q = np.array(q, float)
        v = np.array(v, float)
        v[self.locked] = 0.0
        if self.motion:
            q[self.qi], v[self.vi], _ = self.motion(t)
        if self.layout.mechanism.constrained:
            q, v = self._closed(t, q, v, p)
        return q, v

    def _closed(self, t: float, q: Array, v: Array, p: Array) -> tuple[Array, Array]:
        """Return q and v with the loops closed by the free coordinates. Raise ClosureError where
        they cannot be closed, and SimulationError where more coordinates are driven than the loops
        leave free.
        """
        m = self.layout.mechanism
        rows = kept_tape(m, "rows", (), lambda: _rows(self.layout))
        self._require_inertia(t, q, v, p)
        onto = self.settled()
        aim = self.motion(t)[:2] if self.motion else (np.zeros(0),) * 2
        for _ in range(50):
            q, v = (np.array(x).ravel() for x in onto(t, q, v, p, *aim))
            error, rate, _, A, column, size = (np.array(x) for x in rows(t, q, v, p))
            by = Metric(column.ravel(), size.ravel())
            gap = float(
                (np.abs(np.hstack([error, rate])) / np.sqrt(by.sizes(A))[:, None]).max(initial=0.0)
            )
            if gap < CLOSED_LOOP:
                break
        free = [k for k in range(self.layout.nv) if k not in self.speeds]
        names = (
            ", ".join(repr(n) for n in (self.motion.names if self.motion else ()))
            or "the locked joints"
        )
        if not gap < CLOSED_LOOP:
            raise ClosureError(
                f"the motion of {names} leaves a loop of mechanism {m.name!r} open by {gap:.3g} of"
                f" its length (or as much per second) at t = {t:g} s; drive fewer coordinates, or"
                " motions that agree",
                {m.name: gap},
            )
        rank = spaces(A, by).rank
        if spaces(A[:, free], by.speeds(free)).rank < rank:
            freedoms = self.layout.nv - rank
            raise SimulationError(
                f"more of mechanism {m.name!r} is driven ({names}) than its loops leave free"
                f" ({freedoms}), so the forces are not determined; drive fewer coordinates"
            )
        return q, v

    def _require_inertia(self, t: float, q: Array, v: Array, p: Array) -> None:
        """Raise SingularError where free speeds move no inertia, unless the constraint rows leave
        them no motion of their own.
        """
        s = Tracer(self.layout)
        if not s.massless:
            return
        free = [k for k in range(self.layout.nv) if k not in self.speeds]
        both = [s.mass_matrix(), s.constraint_rows()[3]]
        at = ca.Function("inertia_and_rows", [s.t, s.q, s.v, s.p], both)
        M, A = (np.array(x) for x in at(t, q, v, p))
        by = Metric(np.asarray(s.con.column, float), np.asarray(s.row_scales(), float))
        T = spaces(A[:, free], by.speeds(free)).T
        if not T.shape[1]:
            return
        way = motion_without_energy(T.T @ M[np.ix_(free, free)] @ T)
        if way is not None:
            raise _without_inertia(self.layout.mechanism, free[int(np.abs(T @ way).argmax())])

    def settled(self) -> ca.Function:
        """Return the function (t, q, v, p, q_d, v_d) -> q, v that satisfy the prescribed motion,
        with unit quaternions and with loops closed by the smallest change of the free speeds.
        """
        return kept_tape(
            self.layout.mechanism, "settled", [self.qi, self.vi, self.locked], self._settled
        )

    def _settled(self) -> ca.Function:
        """Return the function of `settled`, uncached."""
        s = Tracer(self.layout)
        m = self.layout.mechanism
        free = [k for k in range(self.layout.nv) if k not in self.speeds]
        q_d = ca.SX.sym("q_d", len(self.qi))
        v_d = ca.SX.sym("v_d", len(self.vi))
        rows = None
        if m.constrained:
            error, rate, _, A = s.constraint_rows()
            rows = Binding(error, rate, A, ca.SX.ones(A.shape[0]), s.row_scales())
        q, v = projected(s, rows, ca.SX.zeros(0), self.placed(s.q, s.v, q_d, v_d), free)
        return ca.Function("settled", [s.t, s.q, s.v, s.p, q_d, v_d], [q, v])


def _rows(layout: Layout) -> ca.Function:
    """Return the function (t, q, v, p) -> residuals, rates, gamma and A of the constraint rows,
    then the scales of speeds and of rows by which rank is decided.
    """
    s = Tracer(layout)
    return ca.Function(
        "rows",
        [s.t, s.q, s.v, s.p],
        [*s.constraint_rows(), ca.SX(s.con.column), ca.SX(s.row_scales())],
    )


def driven(layout: Layout, motion: Any) -> Driven:
    """Return the `Driven` of a prescribed motion, which may be {coordinate: Trajectory or number},
    {joint: "locked"}, or one Trajectory of several coordinates. Raise StateError for anything else,
    and SimulationError where the motion jumps.
    """
    mechanism = layout.mechanism
    given: Mapping[str, Any] = (
        {n: motion.of([n]) for n in motion.names} if isinstance(motion, Trajectory) else motion
    )
    if not isinstance(given, Mapping):
        raise StateError(
            f"motion is {motion!r}; it is a Trajectory, or {{coordinate: Trajectory}}, or {{joint:"
            " 'locked'}"
        )
    moving = {name: x for name, x in given.items() if not isinstance(x, str)}
    for name, x in given.items():
        if (callable(x) and not isinstance(x, Trajectory)) or (isinstance(x, str) and x != LOCKED):
            raise StateError(
                f"the motion of {name!r} is {x!r}; it is a Trajectory, a number or 'locked'. A text"
                " or a function of time becomes a Trajectory by"
                " trajectories.function({coordinate: text or function}, times)"
            )
    locked = [k for name in given if name not in moving for k in speeds_of(mechanism, name)]
    found = trajectory(moving) if moving else None
    where = places(mechanism, found.names) if found else ()
    vi = [c.vi for c in where]
    if twice := [k for k in [*vi, *locked] if [*vi, *locked].count(k) > 1]:
        names = list(mechanism.speed_names)
        raise StateError(f"the motion of {names[twice[0]]!r} is given twice")
    if found and (faults := found.jumps()):
        raise SimulationError(
            "no finite force makes a mechanism follow this motion: " + "; ".join(faults)
        )
    return Driven(layout, found, [c.qi for c in where], vi, locked)


def forces(
    acceleration: ca.Function, d: list[int], given: list[Any], tau: ca.SX, a_d: ca.SX
) -> ca.SX:
    """Return tau (nv,) with its driven entries replaced by those that make a formulation's own
    accelerations a_d: W_dd tau_d = a_d - a_0d.

    acceleration: (t, q, v, tau, p) -> a. d: the driven speeds. given: t, q, v, p. tau: the joint
    forces, whose driven entries are not read.
    """
    t, q, v, p = given
    x = ca.SX.sym("x", tau.numel())
    a = acceleration(t, q, v, x, p)[d]
    W = ca.jacobian(a, x)[:, d]
    free = vector([ca.SX(0) if k in d else tau[k] for k in range(tau.numel())])
    W, a_0 = ca.substitute([W, a], [x], [free])
    found = dict(zip(d, elements(solved(factored(entries(W)), a_d - a_0))))
    return vector([found.get(k, tau[k]) for k in range(tau.numel())])
