"""penalty: springs instead of constraints, [Baysec1996]'s "approximate dynamics" after Rooney and Rai (eq. 16-22, 66-77).

Every link has Newton's second law to itself (16). What a joint forbids, f = 0 (17), is not forbidden but pulled back, by a
spring of stiffness beta and a damper (20), (77):

    m w' = Q - beta A^T (f + gamma f')               (18), (21), (22), (77); A = df'/dw; Q (69) is all that acts beside joints

m has one block per link, its inertia, so nothing larger than a block is ever inverted: in the plane nothing larger than a number
(70-76). A link joined to the ground keeps its joint's coordinates (theta_1 in 66, I_A1 in 70), so its joint holds exactly;
every other link has its pose and velocity. The triple pendulum has 2 + 6 + 6 = 14 first-order equations.

As beta grows beta (f + gamma f') becomes minus the multiplier of (9), and the springs stretch by multiplier / beta. Asked for
accelerations at a state (q, v), where by definition nothing is stretched yet, the springs would be silent. So `acceleration`
grants them a time T of 1 s to take up their load, f = T^2 f'':

    (m + beta T^2 A^T A) w' = Q - beta T^2 A^T bias,            f'' = A w' + bias

solved with the forces beta T^2 f'' as further unknowns, which loses no digits however large beta is. The answer differs from
the exact acceleration by a part that falls as 1 / (beta T^2). `error` is a bound for this part: the largest at some states,
told by the answers with beta and 4 beta, times ten for the states not met. A run of `derivative` deviates in proportion to the
stretch, so as 1 / beta too.

beta by default makes the stiffest spring of the mechanism ring at 1 / step: beta = 1 / (step^2 s), s the largest eigenvalue of
A m^-1 A^T; gamma = 2 / sqrt(beta s) damps it critically. An explicit integrator is then stable at that step. Rows that are
angles are multiplied by the mechanism's length, so that one beta (N/m) serves all.

Departures from the print: (67) measures each bob from the ground along all angles below it; here each row is between the two
bodies of one joint, which is (67) with rows 1 and 2 subtracted from 3 and 4. In (67) x2 is followed by minus signs, and the
cosines of (68) are negative. (71) and (72) divide by I2 and I3, which figure 1 sets to zero: a link without inertia is refused.
Rows of speeds (a knife edge, a rolling disc) have no f to pull back, only the damper.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import casadi as ca
import numpy as np

from ...compiler.trace import matrix
from ...errors import FormulationError
from ...model.mechanism import Mechanism
from ...model.values import value_of
from ...spatial import full
from ..absolute.charts import State, chart, hinged, state
from ..absolute.constraint_rows import joint, nonholonomic, speeds
from ..absolute.joint_constraints import Bodies, Pair
from ..equations import Equations, assembled, operations
from ..formulation import Formulation, StateKind, register

STEP = 1e-3  # s, which the default beta and gamma are made for
TIME = 1.0  # s, T above
STATES, MARGIN = 30, 10.0  # at so many the springs' frequencies and the error are measured; what the error is multiplied by


def penalty(mechanism: Mechanism, beta: float | None = None, gamma: float | None = None, step: float = STEP) -> Equations:
    """Newton's equations of every link, with springs and dampers for joints.

    beta: their stiffness, N/m. gamma: their damping beside it, s. step: s, of the integrator that the defaults of both suit.
    """
    b = Bodies(mechanism)
    for fault in _faults(b, beta, gamma, step):
        raise FormulationError(f"penalty: {fault}")
    x, s = state(b, [hinged(b, k) if _grounded(pair) else chart(b, k) for k, pair in enumerate(b.pairs)]), b.tracer
    pulled, settled, inside, largest = _system(b, x)
    stiffest = _stiffest(b, x, inside)
    beta = 1.0 / (step**2 * stiffest) if beta is None else float(beta)
    gamma = 2.0 / math.sqrt(beta * stiffest) if gamma is None else float(gamma)

    moved = pulled(x.P, x.R, x.V, s.t, x.q, x.v, s.tau, s.p, beta, gamma)
    found = assembled(
        s, "penalty", x.names, x.x,
        derivative=ca.vertcat(x.rate, moved), encode=x.start, decode=[x.q, x.v], largest=largest, error=_error(b, settled, beta),
        acceleration=settled(*b.motion, s.t, s.q, s.v, s.tau, s.p, beta),
    )  # fmt: skip
    counts = replace(found.counts, operations=operations(found.derivative))
    return replace(found, counts=counts, extra={"beta": beta, "gamma": gamma, "acceleration_operations": found.counts.operations})


def _grounded(pair: Pair) -> bool:
    """Whether a joint holds its link to the ground."""
    return pair.parent.link < 0 and len(pair.rows) > 0


def _faults(b: Bodies, beta: float | None, gamma: float | None, step: float) -> Iterator[str]:
    """What it cannot treat, and what can."""
    m = b.mechanism
    for name, value, unit in (("beta", beta, "N/m"), ("step", step, "s")):
        if value is not None and not 0.0 < value < np.inf:
            yield f"{name} is {value:g}; it is a number above zero, {unit}"
    if gamma is not None and not 0.0 <= gamma < np.inf:
        yield f"gamma is {gamma:g}; it is a number from zero up, s"
    for pair in b.pairs:
        j = pair.joint
        if not _grounded(pair) and any(value_of(z, m.parameters) for z in j.armature):
            yield (f"joint {j.name!r} of {m.name!r} has an armature, which ties the accelerations of two bodies together, and "
                   "here each has its own equation; take another formulation")  # fmt: skip


def _system(b: Bodies, x: State) -> tuple[ca.Function, ca.Function, ca.Function, int]:
    """Of (P, R, V, t, q, v, tau, p): w' by springs (beta, gamma); a with springs settled (beta); A, m. And m's largest block.

    w are the speeds of the charts: V = B w and V' = B w' + d.
    """
    s, u, beta, gamma = b.tracer, speeds(b), ca.SX.sym("beta"), ca.SX.sym("gamma")
    loose = [pair for pair in reversed(b.pairs) if not _grounded(pair)]  # leaves first: no fill when they are eliminated
    rows = [*(joint(b, pair) for pair in (*loose, *b.loops)), *nonholonomic(b, u)]
    B = ca.diagcat(*(ca.jacobian(c.V, c.w) for c in x.charts))
    d = ca.vertcat(*(ca.jtimes(c.V, c.y, c.rate) for c in x.charts))
    L = ca.diag(ca.vertcat(ca.SX(0, 1), *(_length(b) if angle else 1.0 for r in rows for angle in r.angles)))
    f, rate, bias = (L @ ca.vertcat(ca.SX(0, 1), *(getattr(r, name) for r in rows)) for name in ("f", "rate", "bias"))
    A = L @ ca.vertcat(ca.SX(0, B.shape[0]), *(r.A for r in rows))
    A, bias = A @ B, bias + A @ d
    G, g = _speeds(b, x, u.G @ B, u.g + u.G @ d)

    J = ca.diagcat(*(_rotors(b, k) if c.hinged else ca.SX(c.w.numel(), c.w.numel()) for k, c in enumerate(x.charts)))
    M = ca.diagcat(*(ca.diagcat(link.mass * ca.SX.eye(3), ca.SX(matrix(full(link.inertia)))) for link in b.links))
    m = _tidy(B.T @ M @ B + J)
    Q = B.T @ (ca.vertcat(*(_load(b, k) for k in range(len(b.links)))) - M @ d) + G.T @ (s.tau + s.applied.forces)
    pulled = _solve(m, Q - beta * A.T @ (f + gamma * rate))
    slack = ca.SX.eye(A.shape[0]) / (beta * TIME**2)
    K = _tidy(ca.vertcat(ca.horzcat(m, A.T), ca.horzcat(A, -slack)))
    settled = G @ _solve(K, ca.vertcat(Q, -bias))[: B.shape[1]] + g
    given = [b.P, b.R, b.V, s.t, s.q, s.v, s.tau, s.p]
    return (
        ca.Function("pulled", [*given, beta, gamma], [ca.densify(pulled)]),
        ca.Function("settled", [*given, beta], [ca.densify(settled)]),
        ca.Function("inside", given, [ca.densify(A), ca.densify(m)]),
        max(int(z) for z in np.diff(m.sparsity().scc()[2])),
    )


def _speeds(b: Bodies, x: State, G: ca.SX, g: ca.SX) -> tuple[ca.SX, ca.SX]:
    """v' = G w' + g of the joints; a link that keeps its joint's speeds has them in w."""
    column = 0
    for c, pair in zip(x.charts, b.pairs):
        if c.hinged:
            G[pair.v, :], g[pair.v] = ca.SX(c.w.numel(), G.shape[1]), 0.0
            G[pair.v, column : column + c.w.numel()] = ca.SX.eye(c.w.numel())
        column += c.w.numel()
    return ca.sparsify(G), ca.sparsify(g)


def _rotors(b: Bodies, k: int) -> ca.SX:
    """The armature of a joint to the ground, a part of its own link's inertia."""
    return ca.diag(ca.vertcat(*(b.value(z) for z in b.pairs[k].joint.armature)))


def _load(b: Bodies, k: int) -> ca.SX:
    """Force on the centre of mass of link k in the ground's axes, torque about it in the link's: weight, gyration, loads."""
    link, R, w, loads = b.links[k], matrix(b.axes(k)), ca.vertcat(*b.spin(k)), b.tracer.applied.wrenches
    f = link.mass * ca.vertcat(*(b.value(z) for z in b.mechanism.gravity))
    t = -ca.cross(w, matrix(full(link.inertia)) @ w)
    for x in (x for x in link.members if x.name in loads):
        torque, force = loads[x.name]
        f, t = f + force, t + R.T @ torque + ca.cross(ca.vertcat(*x.origin), R.T @ force)
    return ca.vertcat(f, t)


def _length(b: Bodies) -> float:
    """The mechanism's length, m: the longest way from a centre of mass to a joint."""
    ways = ca.horzcat(*(ca.vertcat(*side.p) for pair in b.pairs for side in (pair.parent, pair.child) if side.link >= 0))
    found = ca.Function("ways", [b.tracer.p], [ways])(list(b.mechanism.parameters.values()))
    return float(np.linalg.norm(np.array(found), axis=0).max()) or 1.0


def _solve(K: ca.SX, right: ca.SX) -> ca.SX:
    """K^-1 right for a symmetric K, positive on top and negative below, eliminated as it stands."""
    return ca.ldl_solve(right, *ca.ldl(K, False))


def _tidy(K: ca.SX) -> ca.SX:
    """A symmetric matrix without entries that are zero on both sides of its diagonal."""
    K = ca.sparsify(K)
    return ca.project(K, K.sparsity() + K.T.sparsity())


# ----------------------------------------------------------------------------------------------- numbers
def _stiffest(b: Bodies, x: State, inside: ca.Function) -> float:
    """The largest eigenvalue of A m^-1 A^T at some states, 1/kg: beta times it is the square of a spring's frequency."""
    s, found = b.tracer, [0.0]
    at = ca.Function("at", [s.q, s.v, s.p], list(inside(*b.motion, 0, s.q, s.v, 0, s.p)))
    for seed in range(STATES):
        A, m = (np.array(z) for z in at(*b.sample(seed), list(b.mechanism.parameters.values())))
        _require_inertia(b, x, m)
        if len(A):
            found.append(float(np.linalg.eigvalsh(A @ np.linalg.solve(m, A.T))[-1]))
    return max(found) or 1.0


def _require_inertia(b: Bodies, x: State, m: np.ndarray) -> None:
    """Refuse a link whose own equation has nothing to divide by."""
    k = 0
    for link, c in zip(b.links, x.charts):
        size = c.w.numel()
        block = m[k : k + size, k : k + size]
        scale = np.sqrt(np.where(np.diag(block) > 0, np.diag(block), 1.0))
        values, vectors = np.linalg.eigh(block / np.outer(scale, scale))
        if not values[0] > 1e-12:
            name = c.names[1][int(np.argmax(np.abs(vectors[:, 0])))]
            raise FormulationError(
                f"penalty: body {link.name!r} of {b.mechanism.name!r} has no inertia along {name!r}, and its equation divides "
                "by that; give it some, or take another formulation"
            )
        k += size


def _error(b: Bodies, settled: ca.Function, beta: float) -> float:
    """A bound for the relative error of accelerations: 4/3 of what those at beta and at 4 beta differ by, with a margin."""
    s, k, rng = b.tracer, ca.SX.sym("k"), np.random.default_rng(0)
    a = ca.Function("a", [s.q, s.v, s.tau, s.p, k], [settled(*b.motion, 0, s.q, s.v, s.tau, s.p, k)])
    worst = 0.0
    for seed in range(STATES):
        given = *b.sample(seed), rng.standard_normal(s.layout.nv), list(b.mechanism.parameters.values())
        soft, stiff = (np.array(a(*given, z)) for z in (beta, 4.0 * beta))
        worst = max(worst, 4.0 / 3.0 * np.abs(soft - stiff).max() / max(np.abs(stiff).max(), 1e-300))
    return MARGIN * float(worst)


register(Formulation(
    "penalty",
    penalty,
    unknowns="body coordinates held together by stiff springs and dampers",
    source="[Baysec1996] eq. 16-22, 77",
    year=1996,
    cannot=frozenset({"joints by a function", "mimic joints", "reactions", "flexible bodies by modes"}),
    partly=frozenset({"armature"}),
    state=StateKind.BODIES,
    approximate=True,
))  # fmt: skip
