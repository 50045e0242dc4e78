"""kane: partial velocities, generalised active forces and generalised inertia forces
([Passerello1972] chapters I-III).

Every vector is written along the ground's axes n_0k. With x_j' = v_j the mechanism's speeds
([Passerello1972] has three angles per joint; here a joint is a sequence of elementary turns and
slides, and a ball's speeds are its angular velocity in its own axes),

    S0K  the shifter matrix from the axes of node k to the ground's, by the chain rule        (1.13)
    d/dt S0K = W0K S0K  W0K the skew matrix of omega_k, so that every rate is a product
            (1.28)-(1.29)
    omega_i = omega_ijk v_j,  alpha_i = omega_ijk a_j + omega'_ijk v_j  turning of body i
            (2.24)-(2.26)
    V_i  = V_ijk v_j,  a_i  = V_ijk a_j   + V'_ijk v_j  motion of its mass centre G_i  (2.27)-(2.29)

    F_r + F*_r = 0         active and inertia forces, r = 1 ... nv                      (1.7), (3.1)
    F_r  = sum_i V_ir . m_i g + tau_r                                                  (3.2), (3.18)
    F*_r = sum_i V_ir . (-m_i a_i) + omega_ir . (-I_i alpha_i - omega_i x I_i omega_i)        (3.19)

which is linear in the accelerations:

    A_rj a_j = f_r + F_r                                                                      (3.27)
    A_rj = sum_i m_i V_ij . V_ir + omega_ir . I_i omega_ij                                    (3.28)
    f_r  = -sum_i m_i V_ir . V'_ij v_j + omega_ir . (I_i omega'_ij v_j + omega_i x I_i omega_i)
            (3.29)

omega_ijk and V_ijk of body i are a 3 x nv matrix each, rows k, columns j; columns off the way to
the ground are empty.

Departures. By nodes, (2.4) and (2.6) are one line: the column of a turn is its axis, shifted; a
joint's second and third angle are nodes of their own. Slides add what [Passerello1972] has for its
base alone: V_ijk is the axis. A free base is three slides and a ball.

Misprints, each contradicted by the lines around it. (1.16): the first row is 1 0 0, since n_k1 =
N_k1 in (1.15). (2.13), (2.15): dots are lost on S0I and S0K, a velocity is a rate. (2.19), (2.23):
e_kmn, not e_imn, k being free on the left. (2.26), (2.28): alpha_ik and a_ik, for the same reason.
(3.7): V_jrk, the sum runs over j. (3.14): r = 3k+1 ... 3k+3, the coordinates of B_k; its own do
turn B_j (2.4). (3.27): the matrix is A_rj, as (3.28) says. (3.29): a minus, since (3.26) is F*_r =
-{...}; and omega_isn omega_ijl I_iml as in (3.26): the printed omega_iml leaves the j of x_j'
without a partner.

Nonholonomic rows A v + B = 0 and other generalised speeds are a second, smaller step: see
`_kane_speeds`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from ...compiler import Tracer, matrix, vector
from ...kernels import kinematics, layout, motion
from ...model import GROUND, Mechanism
from ...spatial import add, full, rotate, transpose, unrotate_symmetric
from ..equations import Equations, assembled, without_inertia
from ..formulation import Formulation, register
from ._beams import TracedBeam, beams
from ._independent_speeds import own_rows
from ._joint_cuts import joint_wrenches as cut
from ._kane_beams import BendingPartials, bending
from ._kane_speeds import KaneSpeeds, Map, adapted_speeds, own_speeds

# A pivot below this, relative to its diagonal entry, is rounding: the speed has no inertia.
SINGULAR_PIVOT_RATIO = 1e-13


class Partials(NamedTuple):
    """omega_ijk and V_ijk (3 x nv) of a body and a point of it, with their rates; S0I, and the
    point O in the ground.
    """

    w: ca.SX
    dw: ca.SX
    V: ca.SX
    dV: ca.SX
    S: ca.SX
    O: ca.SX

    def at(self, r: ca.SX, v: ca.SX) -> Partials:
        """Return the partials of another point of the same body, at a distance r and fixed in it:
        V_ijk adds omega_ij x r, (2.16); its rate is (2.23). Equation numbers: [Passerello1972].
        """
        rate = ca.cross(self.w @ v, r)
        V = self.V - ca.skew(r) @ self.w
        dV = self.dV - ca.skew(r) @ self.dw - ca.skew(rate) @ self.w
        return self._replace(V=V, dV=dV, O=self.O + r)


class MassCentre(NamedTuple):
    """A body at its mass centre: its name, m_i, I_i about G_i in the ground's axes, and the partial
    velocities of G_i.
    """

    name: str
    m: Any
    I: ca.SX
    G: Partials


def kane(
    mechanism: Mechanism,
    rows: Map | None = None,
    speeds: Map | None = None,
    dependent: tuple[int, ...] | None = None,
) -> Equations:
    """Return Kane's equations, with simple nonholonomic rows if there are any; the rows of loops
    are treated as such.

    State: the coordinates q and the speeds v. Under the rows of the mechanism's loops and its speed
    rows the independent speeds are chosen anew at every instant. rows: (t, q, p) -> A, B with A v +
    B = 0, in place of these. speeds: (t, q, p) -> W, X with v = W u + X. dependent: which of u the
    rows determine. With any of the three, the state has only the independent speeds, chosen once
    for all configurations; the default choice of dependent speeds are those that the rows determine
    best at a random configuration. With rows, `multipliers` are their forces on the mechanism; with
    `rows`, `reactions` are absent, because it is not known where on the bodies such a row acts.
    """
    s = Tracer(layout(mechanism))
    t, moving = s.t, bodies(s)
    A = inertia(s, moving)
    f = forces(s, moving)
    own = own_rows(s) if rows is None and mechanism.constrained else None
    if own and speeds is None and dependent is None:
        u = adapted_speeds(s, own.complement(s, A), own.gamma)
    else:
        u = own_speeds(s, t, own.map(s) if own else rows, speeds, dependent)

    #  Gamma' (A (Gamma u' + gamma) - f) = 0: F~_r + F~*_r = 0 with nonholonomic partial velocities
    du = solve(s, u, u.Gamma.T @ A @ u.Gamma, u.Gamma.T @ (f - A @ u.gamma))
    a = u.Gamma @ du + u.gamma
    lam = u.multipliers(A @ a - f)
    if own and lam.numel() < own.A.shape[0]:
        lam = own.spread(lam)

    n, held = s.layout.nq, bool(rows or own)
    x = ca.SX.sym("x", n + len(u.state))
    q = x[:n]
    v = u.decode(x[:n], x[n:], s.p)
    W = None if rows or mechanism.constraints else _reactions(s, moving, a, lam if held else None)
    change = ca.Function(
        "change",
        [t, s.q, s.v, s.tau, s.p],
        [s.coordinate_rate(), ca.densify(du if u.state == u.names else a)],
    )
    rate, moved = change(t, q, v, s.tau, s.p)
    return assembled(
        s,
        "kane",
        mechanism.coordinate_names + u.state,
        x,
        derivative=ca.vertcat(rate, moved),
        encode=ca.vertcat(s.q, u.encode(s.q, s.v, s.p)),
        decode=[q, v],
        acceleration=a,
        largest=u.size,
        reactions=W,
        multipliers=lam if held else None,
    )


# --- chapter II: kinematics
def partials(s: Tracer) -> dict[int, Partials]:
    """Return omega_ijk, V_ijk and their rates for the origin of every node, from the ground (-1) to
    the leaves.
    """
    found = _by_nodes(s)
    return found if not s.lift else {i: _lifted(s, at) for i, at in found.items()}


def _lifted(s: Tracer, at: Partials) -> Partials:
    """Return the columns of nodes that follow coordinates (`kernels.lifting`) expressed in the
    mechanism's speeds: V W, and V' W + V W'.
    """
    n, own = len(s.V), s.layout.nv
    W, dW = ca.SX(n, own), ca.SX(n, own)
    W[:own, :] = ca.SX.eye(own)
    for into, rows in ((W, s.lift.F), (dW, s.lift.rates(s.OWN[1]))):
        for k, row in enumerate(rows, own):
            for column, c in row.items():
                into[k, column] = c
    w, V = at.w @ W, at.V @ W
    return at._replace(
        w=ca.sparsify(w), dw=at.dw @ W + at.w @ dW, V=ca.sparsify(V), dV=at.dV @ W + at.V @ dW
    )


def _by_nodes(s: Tracer) -> dict[int, Partials]:
    """Return the partial velocities along the speeds of all nodes, including those that follow
    others.
    """
    none = ca.SX(3, len(s.V))
    speeds = vector(s.V)
    found = {-1: Partials(none, none, none, none, ca.SX.eye(3), ca.SX.zeros(3))}
    for i, node in enumerate(s.layout.nodes):
        below = found[node.parent]
        S = ca.SX(matrix(s.posed.R[i]))
        O = ca.SX(vector(s.posed.p[i]))
        turning = ca.SX(none)
        sliding = ca.SX(none)
        for k in range(motion.speeds(s.tree.motion[i])):
            turn, slide = motion.direction(s.tree, i, k)
            turning[:, node.vi + k] = S @ vector(turn)
            sliding[:, node.vi + k] = S @ vector(slide)
        turning = ca.sparsify(turning)
        sliding = ca.sparsify(sliding)
        rho = O - below.O
        w = below.w + turning
        V = below.V - ca.skew(rho) @ below.w + sliding
        W0I = ca.skew(w @ speeds)
        drho = (V - below.V) @ speeds
        dw = below.dw + W0I @ turning  # the axes of a motion stand still in its node: (1.28)
        dV = below.dV - ca.skew(rho) @ below.dw - ca.skew(drho) @ below.w + W0I @ sliding
        found[i] = Partials(w, dw, V, dV, S, O)
    return found


class MovingBodies(NamedTuple):
    """The rigid bodies in the order of `mechanism.ordered`, and the modal flexible bodies."""

    rigid: list[MassCentre]
    bending: list[BendingPartials]


def bodies(s: Tracer) -> MovingBodies:
    """Return all bodies with their partial velocities."""
    found = partials(s)
    return MovingBodies(mass_centres(s, found), [_bending(s, found, beam) for beam in beams(s)])


def _bending(s: Tracer, found: dict[int, Partials], beam: TracedBeam) -> BendingPartials:
    """Return a modal flexible body with its partial velocities, from those of its frame."""
    node, R, p = s.seat(beam.body)
    at = found[node].at(found[node].S @ vector(p), s.v)
    return bending(s, beam, at.S @ matrix(R), at.O, at.w, at.dw, at.V, at.dV)


def mass_centres(s: Tracer, found: dict[int, Partials]) -> list[MassCentre]:
    """Return every rigid body at its mass centre G_i, in the order of `mechanism.ordered`."""
    m = s.layout.mechanism
    masses = []
    rigid = {b.name for b in s.layout.rigid}
    for joint in (j for j in m.ordered if j.child in rigid):
        body = m.body(joint.child)
        node, R, p = s.seat(body.name)
        com, I = (tuple(s.value(x) for x in values) for values in (body.com, body.inertia))
        at = found[node]
        # to the node's axes, to the ground's: (3.24)
        for shifter in (R, [[at.S[j, k] for k in range(3)] for j in range(3)]):
            I = unrotate_symmetric(transpose(shifter), I)
        r = at.S @ vector(add(p, rotate(R, com)))
        masses.append(MassCentre(body.name, s.value(body.mass), matrix(full(I)), at.at(r, s.v)))
    return masses


# --- chapter III: equations
def inertia(s: Tracer, moving: MovingBodies) -> ca.SX:
    """Return A_rj (nv x nv) of [Passerello1972] eq. 3.28, with the rotors' own inertia on the
    diagonal.
    """
    A = ca.sparsify(ca.diag(vector(s.tree.armature)))
    for b in moving.rigid:
        A += b.m * b.G.V.T @ b.G.V + b.G.w.T @ b.I @ b.G.w
    return sum((x.inertia() for x in moving.bending), A)


def loads(s: Tracer, masses: list[MassCentre], a: ca.SX) -> list[tuple[ca.SX, ca.SX]]:
    """Return F_i + F*_i = m_i (g - a_i) and T*_i = -I_i alpha_i - omega_i x I_i omega_i of every
    body (3.20), (3.21). Equation numbers: [Passerello1972].
    """
    g, found = vector(s.tree.gravity), []
    for b in masses:
        omega = b.G.w @ s.v
        alpha = b.G.w @ a + b.G.dw @ s.v
        found.append(
            (b.m * (g - b.G.V @ a - b.G.dV @ s.v), -b.I @ alpha - ca.cross(omega, b.I @ omega))
        )
    return found


def forces(s: Tracer, moving: MovingBodies) -> ca.SX:
    """Return f_r + F_r (nv), the right side of (3.27): weight and inertia at a = 0, and the motors,
    which (3.18) shows to be tau. Equation numbers: [Passerello1972].
    """
    still = ca.SX(s.layout.nv, 1)
    g = vector(s.tree.gravity)
    bent = sum((x.active(s.v, still, g) for x in moving.bending), s.tau + _applied(s))
    return sum(
        (
            b.G.V.T @ F + b.G.w.T @ T
            for b, (F, T) in zip(moving.rigid, loads(s, moving.rigid, still))
        ),
        bent,
    )


def _applied(s: Tracer) -> ca.SX:
    """Return F_r (nv) of springs, dampers and forces at points: V_r . F + omega_r . T of the bodies
    on which they act, [Passerello1972] eq. 3.7.
    """
    Q = s.applied.forces
    found = partials(s) if s.applied.wrenches else {}
    for body, (T, F) in s.applied.wrenches.items():
        node, _, p = s.seat(body)
        at = found[node].at(found[node].S @ vector(p), s.v)
        Q = Q + at.V.T @ F + at.w.T @ T
    return Q


def generalised_force(mechanism: Mechanism, frame: str) -> ca.Function:
    """Return a function (q, F, p) -> Q_r = V_r . F, [Passerello1972] eq. 3.7: the generalised
    force Q (nv) of a force F (3, N, ground's axes) at a frame's origin. Add it to tau.
    """
    s = Tracer(layout(mechanism))
    F = ca.SX.sym("F", 3)
    node, _, p = s.seat(frame)
    at = partials(s)[node]
    Q = at.at(at.S @ vector(p), s.v).V.T @ F
    return ca.Function(
        "generalised_force", [s.q, F, s.p], [ca.cse(ca.densify(Q))], ["q", "F", "p"], ["Q"]
    )


def joint_wrenches(s: Tracer, moving: MovingBodies) -> ca.SX:
    """Return the wrench of each joint on its child, (joints, 6), at the accelerations s.a.

    A joint's own reaction is non-contributing. Six auxiliary speeds that carry the joint's child
    and all beyond it as one rigid piece bring it into evidence: their partial velocities sum F_i +
    F*_i over that piece, and the joint balances it.
    """
    m = s.layout.mechanism
    g = vector(s.tree.gravity)
    place = {j.child: kinematics.frame_pose(*s.seat(j.child), s.posed) for j in m.ordered}
    origin = {body: vector(p) for body, (_, p) in place.items()}
    total = {x.name: x.wrench(s.v, s.a, g) for x in moving.bending}
    for b, (F, T) in zip(moving.rigid, loads(s, moving.rigid, s.a)):
        total[b.name] = (-T - ca.cross(b.G.O - origin[b.name], F), -F)
    for joint in (j for j in reversed(m.ordered) if j.parent != GROUND):
        (T, F), (t, f) = total[joint.child], total[joint.parent]
        total[joint.parent] = (
            t + T + ca.cross(origin[joint.child] - origin[joint.parent], F),
            f + F,
        )
    found = [(*total[j.child], matrix(place[j.child][0])) for j in m.ordered]
    return ca.densify(ca.vertcat(*(ca.horzcat(T.T @ R, F.T @ R) for T, F, R in found)))


def _reactions(s: Tracer, moving: MovingBodies, a: ca.SX, lam: ca.SX | None) -> ca.SX:
    """Return the joints' wrenches at the accelerations a, less the wrenches of loads and rows."""
    force = ca.SX.sym("lam", 0 if lam is None else lam.numel())
    found = joint_wrenches(s, moving) + cut(s, {}, None if lam is None else force)
    return ca.Function("wrenches", [s.t, s.q, s.v, s.a, s.p, force], [found])(
        s.t, s.q, s.v, a, s.p, force if lam is None else lam
    )


# --- the linear system
def solve(s: Tracer, u: KaneSpeeds, M: ca.SX, b: ca.SX) -> ca.SX:
    """Return x (p) with M x = b, by M = L' D L with L unit lower triangular, leaves first, so that
    branches that do not meet stay apart.

    Only the lower triangle of M is read. A pivot that vanishes everywhere is a speed without
    inertia, and raises.
    """
    n = u.size
    L = [[M[k, i] for i in range(k + 1)] for k in range(n)]
    x = [b[k] for k in range(n)]
    for k in reversed(range(n)):  # leaves to root: M = L' D L, L' z = b
        if L[k][k].is_zero():
            raise without_inertia("kane", s.layout.mechanism, u.names[k])
        for i in (i for i in reversed(range(k)) if not L[k][i].is_zero()):
            l = L[k][i] / L[k][k]
            for j in range(i + 1):
                L[i][j] -= l * L[k][j]
            x[i] -= l * x[k]
            L[k][i] = l
    pivots = ca.Function(
        "pivots", [s.t, s.q, s.p], [ca.vertcat(*(L[k][k] for k in range(n))) / ca.diag(M)]
    )
    dead = np.all(
        [
            np.abs(np.array(pivots(0.0, *s.layout.somewhere(seed)))) < SINGULAR_PIVOT_RATIO
            for seed in range(3)
        ],
        axis=0,
    )
    if dead.any():
        raise without_inertia("kane", s.layout.mechanism, u.names[int(np.argmax(dead))])
    for k in range(n):  # root to leaves: D L x = z
        x[k] = x[k] / L[k][k] - sum((L[k][i] * x[i] for i in range(k)), ca.SX(0))
    return ca.vertcat(*x)


register(
    Formulation(
        "kane",
        kane,
        unknowns="speeds, with partial velocities by recursion over the tree",
        source="[Passerello1972] ch. I-III",
        year=1961,
    )
)
