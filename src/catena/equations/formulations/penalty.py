"""penalty: springs instead of constraints, [Baysec1996]'s "approximate dynamics" after Rooney and
Rai (eq. 16-22, 66-77).

Every link obeys Newton's second law by itself (16). The constraint of a joint, f = 0 (17), is
replaced by a spring of stiffness beta and a damper (20), (77):

    m w' = Q - beta A^T (f + gamma f')               (18), (21), (22), (77); A = df'/dw; Q (69) is
                                                     all forces but those of joints

m has one block per link, its inertia, so nothing larger than a block is ever inverted: in the plane
nothing larger than a number (70-76). A link joined to the ground keeps its joint's coordinates
(theta_1 in 66, I_A1 in 70), so its joint holds exactly; every other link has its pose and velocity.
The triple pendulum has 2 + 6 + 6 = 14 first-order equations.

As beta grows beta (f + gamma f') becomes minus the multiplier of (9), and the springs stretch by
multiplier / beta. At a state (q, v) no spring is stretched by definition, so that the springs would
have no force. Therefore `acceleration` lets them take up their load during a time T of 1 s, f = T^2
f'':

    (m + beta T^2 A^T A) w' = Q - beta T^2 A^T bias,            f'' = A w' + bias

solved with the forces beta T^2 f'' as further unknowns, which loses no digits however large beta
is. The result differs from the exact acceleration by a part that falls as 1 / (beta T^2). `error`
is a bound for this part: the largest value at some states, estimated from the results with beta and
4 beta, times a margin of ten for other states. A run with `derivative` deviates in proportion to
the stretch of the springs, and therefore also as 1 / beta.

By default, beta is chosen such that the stiffest spring of the mechanism oscillates at the
frequency 1 / step: beta = 1 / (step^2 s), s the largest eigenvalue of A m^-1 A^T; gamma = 2 /
sqrt(beta s) damps it critically. An explicit integrator is then stable at that step. Rows that are
angles are multiplied by the mechanism's length, so that one beta (N/m) serves all.

A joint that mimics another is a spring between the two, a rotor between two moving links turns by
itself on a spring, and links that lack inertia are given some in a run (`_penalty_ties`);
`acceleration` needs none: with A^T W A on the left and -A^T W bias on the right, W the mechanism's
mass, its pivots are positive and its result is the same. `multipliers` and `reactions` are those of
the springs loaded in this way.

Departures from the print: (67) measures each bob from the ground along all angles below it; here
each row is between the two bodies of one joint, which is (67) with rows 1 and 2 subtracted from 3
and 4. In (67) x2 is followed by minus signs, and the cosines of (68) are negative. (71) and (72)
divide by I2 and I3, which figure 1 sets to zero: such links are given inertia, see above. Rows of
speeds (a knife edge, a rolling disc) have no f, so that they have only the damper.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import casadi as ca
import numpy as np

from ...compiler import vector
from ...errors import FormulationError
from ...model import Mechanism
from ..absolute.charts import State, chart, hinged, state
from ..absolute.constraint_rows import joint, nonholonomic, speeds
from ..absolute.joint_constraints import Bodies, Pair
from ..equations import Equations, assembled, operations
from ..formulation import Formulation, StateKind, register
from ._free_links import gyration, loads, masses, needed, weights
from ._inertia import require_inertia
from ._joint_cuts import joint_wrenches
from ._penalty_ties import Ties, added_inertia, regular, ties
from ._saddle_point import total_mass

DEFAULT_STEP = 1e-3  # s, the step of the integrator for which beta and gamma are chosen by default
TIME = 1.0  # s, T above
INERTIA_CHECK_STATES = 3  # the number of states at which the inertia of a grounded link is checked
# the number of states at which the springs' frequencies and the error are measured, and the factor
# by which the error is multiplied
STATES, ERROR_MARGIN = 30, 10.0


def penalty(
    mechanism: Mechanism,
    beta: float | None = None,
    gamma: float | None = None,
    step: float = DEFAULT_STEP,
) -> Equations:
    """Return Newton's equations of every link, with springs and dampers in place of joints.

    beta: stiffness of the springs, N/m. gamma: damping relative to the stiffness, s. step: of the
    integrator for which the defaults of both are chosen, s.
    """
    b = Bodies(mechanism)
    for fault in _faults(beta, gamma, step):
        raise FormulationError(f"penalty: {fault}")
    require_inertia("penalty", b.tracer, b.tracer.mass_matrix())
    x = state(
        b, [hinged(b, k) if _grounded(pair) else chart(b, k) for k, pair in enumerate(b.pairs)]
    )
    s = b.tracer
    system = _system(b, x, step / TIME)
    stiffest = _stiffest(b, system.inside)
    beta = 1.0 / (step**2 * stiffest) if beta is None else float(beta)
    gamma = 2.0 / math.sqrt(beta * stiffest) if gamma is None else float(gamma)

    tied = system.tied
    moved, slips = system.pulled(
        x.P, x.R, x.V, s.t, x.q, x.v, s.tau, s.p, tied.slip, tied.spin, beta, gamma
    )
    a, lam, W = system.settled(*b.motion, s.t, s.q, s.v, s.tau, s.p, beta)
    n, m = x.rate.numel(), tied.slip.numel()
    names = (*x.names[:n], *tied.names[0], *x.names[n:], *tied.names[1])
    found = assembled(
        s,
        "penalty",
        names,
        ca.vertcat(x.x[:n], tied.slip, x.x[n:], tied.spin),
        derivative=ca.vertcat(x.rate, slips, moved),
        encode=ca.vertcat(x.start[:n], ca.SX.zeros(m), x.start[n:], tied.start),
        decode=[x.q, x.v],
        largest=system.largest,
        error=_error(b, system.settled, beta),
        acceleration=a,
        reactions=None if mechanism.constraints else W,
        multipliers=lam if mechanism.constrained else None,
    )
    counts = replace(found.counts, operations=operations(found.derivative))
    return replace(
        found,
        counts=counts,
        extra={"beta": beta, "gamma": gamma, "acceleration_operations": found.counts.operations},
    )


def _grounded(pair: Pair) -> bool:
    """Whether a joint holds its link to the ground, and has coordinates of its own."""
    return (
        pair.parent.link < 0
        and len(pair.rows) > 0
        and pair.joint.mimic is None
        and not pair.joint.deflection
    )


def _faults(beta: float | None, gamma: float | None, step: float) -> Iterator[str]:
    """Return a sentence for each of the given numbers that is not allowed."""
    for name, value, unit in (("beta", beta, "N/m"), ("step", step, "s")):
        if value is not None and not 0.0 < value < np.inf:
            yield f"{name} is {value:g}; it is a number above zero, {unit}"
    if gamma is not None and not 0.0 <= gamma < np.inf:
        yield f"gamma is {gamma:g}; it is a number from zero up, s"


class _System(NamedTuple):
    """Functions of (P, R, V, t, q, v, tau, p): w' by the springs, with the rates of slips (further
    arguments: slip, spin, beta, gamma); a, multipliers and wrenches with settled springs (further
    argument: beta); and A, m. Also the size of the largest block of m.
    """

    pulled: ca.Function
    settled: ca.Function
    inside: ca.Function
    largest: int
    tied: Ties


def _system(b: Bodies, x: State, share: float) -> _System:
    """Return the springs between links. w are the speeds of the charts and of the rotors: V = B w
    and V' = B w' + d.
    """
    s = b.tracer
    u = speeds(b)
    beta = ca.SX.sym("beta")
    gamma = ca.SX.sym("gamma")
    length = _length(b)
    hinged_speeds = {
        k
        for c, pair in zip(x.charts, b.pairs)
        if c.hinged
        for k in range(pair.v.start, pair.v.stop)
    }
    tied = ties(b, u, length, hinged_speeds)
    # leaves first: no fill when they are eliminated
    loose = [joint(b, pair) for pair in reversed(b.pairs) if not _grounded(pair)]
    closing = [*(joint(b, pair) for pair in b.loops), *nonholonomic(b, u)]
    rows = [*loose, *closing]
    spins = tied.spin.numel()
    bent = b.V.numel() - 6 * len(b.links)
    B = ca.horzcat(
        ca.diagcat(*(ca.jacobian(c.V, c.w) for c in x.charts)), ca.SX(b.V.numel(), spins)
    )
    d = ca.vertcat(*(ca.jtimes(c.V, c.y, c.rate) for c in x.charts))
    L = ca.diag(
        ca.vertcat(
            ca.SX(0, 1),
            *(length if angle else 1.0 for r in rows for angle in r.angles),
            *tied.scale,
        )
    )
    f, rate, bias = (
        L @ ca.vertcat(ca.SX(0, 1), *(getattr(r, name) for r in rows), own)
        for name, own in (("f", tied.slip), ("rate", tied.rate), ("bias", tied.bias))
    )
    A = L @ ca.vertcat(ca.SX(0, B.shape[0]), *(r.A for r in rows), tied.A)
    spun = L @ ca.vertcat(ca.SX(A.shape[0] - tied.S.shape[0], spins), tied.S)
    A, bias = A @ B + ca.horzcat(ca.SX(A.shape[0], B.shape[1] - spins), spun), bias + A @ d
    G, g = _speeds(b, x, u.G[u.own, :] @ B, u.g[u.own] + u.G[u.own, :] @ d)

    own = ca.diagcat(
        *(
            (
                ca.diag(vector(s.tree.armature)[pair.v])
                if c.hinged
                else ca.SX(c.w.numel(), c.w.numel())
            )
            for c, pair in zip(x.charts, b.pairs)
        ),
        ca.SX(bent, bent),
        ca.diag(tied.J),
    )
    M = masses(b)
    m = _tidy(B.T @ M @ B + own)
    added = added_inertia(b, share, _sound(b, x, m))
    Q = B.T @ (weights(b) + gyration(b) + loads(b) - M @ d) + G.T @ (s.tau + s.applied.forces)
    heavy = _tidy(m + B.T @ added @ B)
    pulled = _solve(heavy, Q - B.T @ (added @ d) - beta * A.T @ (f + gamma * rate))
    settled, force = _settled(m, A, Q, bias, beta, total_mass(b) if added.nnz() else 0.0)
    first = sum(len(r) for r in loose)
    moved = B @ settled + d
    lam = -(L @ force)[first : first + sum(len(r) for r in closing), :]
    W = joint_wrenches(s, needed(b, moved), lam if closing else None)
    given = [b.P, b.R, b.V, s.t, s.q, s.v, s.tau, s.p]
    return _System(
        ca.Function(
            "pulled",
            [*given, tied.slip, tied.spin, beta, gamma],
            [ca.densify(pulled), ca.densify(tied.rate)],
        ),
        ca.Function("settled", [*given, beta], [ca.densify(z) for z in (G @ settled + g, lam, W)]),
        ca.Function("inside", given, [ca.densify(A), ca.densify(heavy)]),
        max(int(z) for z in np.diff(heavy.sparsity().scc()[2])),
        tied,
    )


def _sound(b: Bodies, x: State, m: ca.SX) -> set[int]:
    """Return the links on the ground whose joint coordinates have inertia, so that none needs to be
    added.
    """
    s, found, first = b.tracer, set(), 0
    given = [b.P, b.R, b.V, s.t, s.q, s.v, s.tau, s.p]
    for k, c in enumerate(x.charts):
        own = slice(first, first + c.w.numel())
        first = first + c.w.numel()
        if c.hinged:
            block = ca.Function("block", given, [ca.densify(m[own, own])])(
                *b.motion, 0, s.q, s.v, 0, s.p
            )
            at = ca.Function("at", [s.q, s.v, s.p], [block])
            if all(
                regular(np.array(at(*b.sample(seed), list(b.mechanism.parameters.values()))))
                for seed in range(INERTIA_CHECK_STATES)
            ):
                found.add(k)
    return found


def _settled(
    m: ca.SX, A: ca.SX, Q: ca.SX, bias: ca.SX, beta: ca.SX, weight: float
) -> tuple[ca.SX, ca.SX]:
    """Return w' and the forces beta T^2 f'' of the springs after their oscillation has decayed.
    weight: W, which makes pivots positive where a link lacks inertia; it is below beta T^2 / 2.
    """
    W = ca.fmin(weight, 0.5 * beta * TIME**2) if weight else ca.SX(0)
    c = 1.0 - W / (beta * TIME**2)
    slack = c * ca.SX.eye(A.shape[0]) / (beta * TIME**2)
    H = _tidy(m + W * (A.T @ A)) if weight else m
    K = _tidy(ca.vertcat(ca.horzcat(H, c * A.T), ca.horzcat(c * A, -slack)))
    found = _solve(K, ca.vertcat(Q - W * (A.T @ bias), -c * bias))
    return found[: m.shape[0], :], found[m.shape[0] :, :]


def _speeds(b: Bodies, x: State, G: ca.SX, g: ca.SX) -> tuple[ca.SX, ca.SX]:
    """Return G and g with v' = G w' + g, for the speeds v of the joints. The speeds of a link on
    the ground are part of w itself.
    """
    column = 0
    for c, pair in zip(x.charts, b.pairs):
        if c.hinged:
            G[pair.v, :], g[pair.v] = ca.SX(c.w.numel(), G.shape[1]), 0.0
            G[pair.v, column : column + c.w.numel()] = ca.SX.eye(c.w.numel())
        column += c.w.numel()
    return ca.sparsify(G), ca.sparsify(g)


def _length(b: Bodies) -> float:
    """Return the mechanism's length, m: the longest distance from a centre of mass to a joint."""
    ways = ca.horzcat(
        *(
            ca.vertcat(*side.p)
            for pair in b.pairs
            for side in (pair.parent, pair.child)
            if side.link >= 0
        )
    )
    found = ca.Function("ways", [b.tracer.p], [ways])(list(b.mechanism.parameters.values()))
    return float(np.linalg.norm(np.array(found), axis=0).max()) or 1.0


def _solve(K: ca.SX, right: ca.SX) -> ca.SX:
    """Return K^-1 right for a symmetric K, positive definite on top and negative below, eliminated
    in the given order.
    """
    return ca.ldl_solve(right, *ca.ldl(K, False))


def _tidy(K: ca.SX) -> ca.SX:
    """Return a symmetric matrix without entries that are zero on both sides of its diagonal."""
    K = ca.sparsify(K)
    return ca.project(K, K.sparsity() + K.T.sparsity())


# --- numbers
def _stiffest(b: Bodies, inside: ca.Function) -> float:
    """Return the largest eigenvalue of A m^-1 A^T at some states, 1/kg: beta times it is the square
    of a spring's frequency.
    """
    s, found = b.tracer, [0.0]
    at = ca.Function("at", [s.q, s.v, s.p], list(inside(*b.motion, 0, s.q, s.v, 0, s.p)))
    for seed in range(STATES):
        A, m = (np.array(z) for z in at(*b.sample(seed), list(b.mechanism.parameters.values())))
        if len(A):
            found.append(float(np.linalg.eigvalsh(A @ np.linalg.solve(m, A.T))[-1]))
    return max(found) or 1.0


def _error(b: Bodies, settled: ca.Function, beta: float) -> float:
    """Return a bound for the relative error of accelerations: 4/3 of the difference between the
    results at beta and at 4 beta, times a margin.
    """
    s = b.tracer
    k = ca.SX.sym("k")
    rng = np.random.default_rng(0)
    a = ca.Function(
        "a", [s.q, s.v, s.tau, s.p, k], [settled(*b.motion, 0, s.q, s.v, s.tau, s.p, k)[0]]
    )
    worst = 0.0
    for seed in range(STATES):
        given = (
            *b.sample(seed),
            rng.standard_normal(s.layout.nv),
            list(b.mechanism.parameters.values()),
        )
        soft, stiff = (np.array(a(*given, z)) for z in (beta, 4.0 * beta))
        worst = max(
            worst, 4.0 / 3.0 * np.abs(soft - stiff).max() / max(np.abs(stiff).max(), 1e-300)
        )
    return ERROR_MARGIN * float(worst)


register(
    Formulation(
        "penalty",
        penalty,
        unknowns="body coordinates held together by stiff springs and dampers",
        source="[Baysec1996] eq. 16-22, 77",
        year=1996,
        state=StateKind.BODIES,
        approximate=True,
    )
)
