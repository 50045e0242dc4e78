"""boltzmann_hamel: Lagrange's equations in inertial quasi-velocities, then in joint coordinates
([Quinn1991] eq. 22-39).

The quasi-velocities are the inertial angular velocities omega_i of the links, each in its own
link's axes, and with them the translation R' of the base. TreeLink i is carried by joint i at O_i;
C_ij turns a vector of link j's axes into link i's. Here ' is the rate in time, ^T the transpose,
and b~ the usual skew matrix.

    tau_i = I_i omega_i' + omega_i x I_i omega_i + S_i x C_iN (R_i'' + g) + sum_c L_c x C_ic F_c
            (22b)
    F_i   = m_i C_iN (R_i'' + g) + A_i(S_i) + sum_c C_ic F_c                                   (22a)
    R_c'' = R_i'' + C_Ni A_i(L_c),      A_i(b) = (omega_i~ omega_i~ + omega_i'~) b             (22c)

c runs over the links that link i carries, L_c leads from O_i to O_c, S_i is the first moment and
I_i the inertia about O_i (7), g the negative of gravity (8). The double sums of the print are
nested here: F_c is their sum over all that lies beyond joint c.

    omega = G Omega,    omega' = G Omega' + h   inertial from relative angular velocities  (30)-(31)
    M = G^T tau                   moments in the joints, constraint moments included       (24)-(26)
    Omega = D v,        Omega' = D a + D' v             a joint of 1, 2 or 3 freedoms      (28)-(35)
    M_c a = D^T M - D^T G^T [tau of (22) at omega' = h + G D' v],     M_c = D^T G^T A G D  (37)-(39)

G is the connectivity matrix (27), A the coefficients of omega' in (22), as (29) has them; D^T M is
the given force along the speeds. For a tree, C_ij stands in G where j lies on the way from i to the
ground.

Extensions. Every joint may slide as the print's base does: L_c then varies, U_c = L_c' (in the axes
of link i) is one more quasi-velocity, R_c'' gains C_Ni (2 omega_i x U_c + U_c'), the row of U_c is
F_c (22a), and D has six rows, Omega over U. So the whole joint catalogue is treated; a free base is
the print's own R'. In A the sums over outboard bodies are taken once: link i carries at each O_c
the mass mu_c of all beyond, which makes its moments S*_i = S_i + sum mu_c L_c and I*_i. Bodies that
bend by modes bring the rates of their amplitudes as further quasi-velocities
(`_boltzmann_hamel_beams`).

Misprints and departures. (4): the print's tilde is the transpose of ours, as (3) shows. (15): F =
sum C_Ni F_i, since (13) has F_i^T C_iN dR. (16): M_i - C_i,i+1 M_i+1 without a transpose, as in
(24) and by the virtual work (10b). (22b): gravity stands inside the braces that L~ multiplies
already, and a second L~ makes its dimension wrong; R'' in there is turned by C_iN, into the axes of
the row, not by C_jN. (39): the last term is D^T G^T A G D' alpha'; the print has lost D', and the
3n columns of G do not match the d_t rates. Everything that (39) subtracts from D^T M equals (22) at
omega' = h + G D' v, which is evaluated instead.

The claim that the inertial form is cheaper is measured: `extra["operations_inertial"]` counts (22)
from omega and omega', `extra["operations_relative"]` counts (26) from Omega and Omega'. It is true
for the equations. For inverse dynamics from joint motion to joint forces,
`extra["operations_inverse"]`, both forms use G, and the gain is lost.
"""

from __future__ import annotations

from typing import NamedTuple

import casadi as ca
import numpy as np

from ...compiler import Tracer, entries, factored, matrix, smallest_change, vector
from ...kernels import layout
from ...model import Mechanism
from ..equations import Equations, assembled, operations, without_inertia
from ..formulation import Formulation, register
from ._boltzmann_hamel_beams import BendingLink, bending_links
from ._boltzmann_hamel_links import Rotations, TreeLink, connectivity, links
from ._joint_cuts import joint_wrenches as cut

# A pivot below this, relative to its diagonal entry, is rounding: the speed has no inertia.
SINGULAR_PIVOT_RATIO = 1e-13

Vectors = list[ca.SX]  # one per link


def boltzmann_hamel(mechanism: Mechanism) -> Equations:
    """Return the equations in minimal order ([Quinn1991] eq. 39), with multipliers where loops and
    speed rows close the tree. State: q and v.
    """
    s = Tracer(layout(mechanism))
    chain = links(s, melt=True)
    still = ca.SX(s.layout.nv, 1)
    M_c = configuration_inertia(s, chain)
    a = solve(s, M_c, s.tau + given_forces(s, chain) - inverse_forces(s, chain, still))
    lam = ca.SX.zeros(0)
    held = bool(mechanism.constrained)
    if held:  # of all motions that the rows allow, the nearest to the free one in the metric M_c
        _, _, gamma, rows = s.constraint_rows()
        change, lam = smallest_change(
            factored(entries(M_c)), rows, gamma - rows @ a, s.con.column, s.row_scales()
        )
        a = a + change

    x = ca.vertcat(s.q, s.v)
    W = joint_wrenches(s)
    push = ca.SX.sym("lam", lam.numel())
    moments = ca.Function("inverse", [s.q, s.v, s.a, s.p], [ca.cse(W[:, :3])])
    wrenches = ca.Function(
        "wrenches",
        [s.t, s.q, s.v, s.a, s.p, push],
        [ca.cse(W + cut(s, {}, push if held else None))],
    )
    return assembled(
        s,
        "boltzmann_hamel",
        mechanism.coordinate_names + tuple(f"{name}'" for name in mechanism.speed_names),
        x,
        derivative=ca.vertcat(s.coordinate_rate(), a),
        encode=x,
        decode=[s.q, s.v],
        acceleration=a,
        largest=max(s.layout.nv, lam.numel()),
        reactions=None if mechanism.constraints else wrenches(s.t, s.q, s.v, a, s.p, lam),
        multipliers=lam if held else None,
        extra={"joint_moments": moments, **measured(s, chain)},
    )


# --- equations (22)-(31)
class Motion(NamedTuple):
    """The motion of each link in its axes: omega, omega', U = L', U' (in the parent's), and R'' + g
    of O_i.
    """

    w: Vectors
    dw: Vectors
    U: Vectors
    dU: Vectors
    acceleration: Vectors


def moved(
    s: Tracer, chain: list[TreeLink], w: Vectors, dw: Vectors, U: Vectors, dU: Vectors
) -> Motion:
    """Return the accelerations of the O_i ([Quinn1991] eq. 22c), root to leaves, from inertial
    angular velocities, sliding velocities and their rates.
    """
    g = -vector(s.tree.gravity)
    acceleration = Vectors()
    for i, link in enumerate(chain):
        R = g
        if (k := link.parent) >= 0:
            R = acceleration[k] + A(w[k], dw[k], link.L) + 2 * ca.cross(w[k], U[i])
        acceleration.append(link.C.T @ (R + dU[i]))
    return Motion(w, dw, U, dU, acceleration)


def inertial(chain: list[TreeLink], x: Motion) -> tuple[Vectors, Vectors]:
    """Return the moment about O_i and the force that the motion of each rigid link alone requires,
    in its axes: the terms of (22b) and (22a) without sums. Equation numbers: [Quinn1991].
    """
    force, moment = Vectors(), Vectors()
    for link, w, dw, R in zip(chain, x.w, x.dw, x.acceleration):
        force.append(link.m * R + A(w, dw, link.S))
        moment.append(link.I @ dw + ca.cross(w, link.I @ w) + ca.cross(link.S, R))
    return moment, force


def A(w: ca.SX, dw: ca.SX, b: ca.SX) -> ca.SX:
    """Return A_i(b) of [Quinn1991] eq. 22c: the acceleration of the tip of a vector b that
    rotates with its link.
    """
    return ca.cross(dw, b) + ca.cross(w, ca.cross(w, b))


def gathered(chain: list[TreeLink], moment: Vectors, force: Vectors) -> tuple[Vectors, Vectors]:
    """Return tau_i and F_i, leaves to root, from moments about O_i and forces that act on each link
    alone (15), (16). Equation numbers: [Quinn1991].
    """
    moment = list(moment)
    force = list(force)
    for i, link in reversed(list(enumerate(chain))):
        if (k := link.parent) >= 0:
            F = link.C @ force[i]
            force[k], moment[k] = force[k] + F, moment[k] + ca.cross(link.L, F)
    return moment, force


def absolute(chain: list[TreeLink], Omega: Vectors, dOmega: Vectors) -> tuple[Vectors, Vectors]:
    """Return omega = G Omega and omega' = G Omega' + h, root to leaves: h_i = C_ik h_k + omega_i x
    Omega_i, the sum [Quinn1991] eq. 30a nested.
    """
    w, dw = Vectors(), Vectors()
    for i, link in enumerate(chain):
        k = link.parent
        w.append(Omega[i] + (link.C.T @ w[k] if k >= 0 else 0))
        dw.append(dOmega[i] + (link.C.T @ dw[k] + ca.cross(w[i], Omega[i]) if k >= 0 else 0))
    return w, dw


def relative(chain: list[TreeLink], tau: Vectors) -> Vectors:
    """Return M = G^T tau, leaves to root: M_i = tau_i + sum_c C_ic M_c, the sum [Quinn1991] eq.
    25 nested.
    """
    M = list(tau)
    for i, link in reversed(list(enumerate(chain))):
        if link.parent >= 0:
            M[link.parent] = M[link.parent] + link.C @ M[i]
    return M


def inverse(s: Tracer, chain: list[TreeLink], a: ca.SX) -> tuple[Vectors, Vectors, ca.SX]:
    """Return M_i and F_i in every joint for the accelerations a, which is inverse dynamics with
    constraint moments and forces; and the generalised forces (nv) along amplitudes, which belong to
    no joint.
    """
    d = [link.D @ a for link in chain]
    w, dw = absolute(
        chain, [link.Omega for link in chain], [link.dOmega + x[:3] for link, x in zip(chain, d)]
    )
    x = moved(
        s, chain, w, dw, [link.U for link in chain], [link.dU + x[3:] for link, x in zip(chain, d)]
    )
    moment, force = inertial(chain, x)
    rows = ca.SX.zeros(s.layout.nv)
    still = ca.SX.zeros(3)
    for beam in bending_links(s, chain):
        i, own = beam.link, beam.beam.own
        at = (
            (x.w[i], x.dw[i], x.acceleration[i])
            if i >= 0
            else (still, still, -vector(s.tree.gravity))
        )
        M, F, rows[own] = beam.needed(*at, s.v[own], a[own])
        if i >= 0:
            moment[i], force[i] = moment[i] + M, force[i] + F
    tau, forces = gathered(chain, moment, force)
    return relative(chain, tau), forces, rows


def inverse_forces(s: Tracer, chain: list[TreeLink], a: ca.SX) -> ca.SX:
    """Return the generalised forces (nv) that the motion with the accelerations a requires."""
    M, F, rows = inverse(s, chain, a)
    return project(chain, M, F, s.layout.nv) + rows


def project(chain: list[TreeLink], M: Vectors, F: Vectors, nv: int) -> ca.SX:
    """Return D^T (M, F), the generalised forces (nv) of moments and forces in the joints."""
    return sum(
        (link.D.T @ ca.vertcat(M[i], link.C @ F[i]) for i, link in enumerate(chain)), ca.SX(nv, 1)
    )


# --- equations (27)-(37)
def configuration_inertia(s: Tracer, chain: list[TreeLink]) -> ca.SX:
    """Return M_c = D^T G^T A G D ([Quinn1991] eq. 37), with the rotors' own inertia on its
    diagonal.
    """
    C = connectivity(chain)
    D = ca.vertcat(*(link.D[:3, :] for link in chain), *(link.D[3:, :] for link in chain))
    GD = joined(chain, C) @ D
    M_c = GD.T @ (quasi_inertia(chain, C) @ GD) + ca.diag(vector(s.tree.armature))
    bending = bending_links(s, chain)
    V = origin_velocities(chain) if bending else []
    for beam in bending:
        J = _quasi_velocities(s, beam, GD, V)
        M_c += J.T @ beam.quasi_inertia() @ J
    return M_c


def origin_velocities(chain: list[TreeLink]) -> Vectors:
    """Return R' of the O_i, each in its link's axes, root to leaves."""
    (w, _), V = (
        absolute(chain, [link.Omega for link in chain], [link.dOmega for link in chain]),
        Vectors(),
    )
    for link in chain:
        k = link.parent
        V.append(link.C.T @ (link.U + (V[k] + ca.cross(w[k], link.L) if k >= 0 else 0)))
    return V


def _quasi_velocities(s: Tracer, beam: BendingLink, GD: ca.SX, V: Vectors) -> ca.SX:
    """Return (6 + n, nv): (omega, V, e') of a flexible body, along its own axes, from the
    speeds.
    """
    w = ca.SX(3, s.layout.nv)
    O = ca.SX(3, s.layout.nv)
    E = ca.SX(len(beam.beam.own), s.layout.nv)
    if (i := beam.link) >= 0:
        w = GD[3 * i : 3 * i + 3, :]
        O = ca.jacobian(V[i], s.v)
    for k, column in enumerate(beam.beam.own):
        E[k, column] = 1.0
    return ca.sparsify(ca.vertcat(beam.R.T @ w, beam.R.T @ (O - ca.skew(beam.p) @ w), E))


def joined(chain: list[TreeLink], C: Rotations) -> ca.SX:
    """Return G ([Quinn1991] eq. 27), with the identity for the sliding velocities, which stay
    relative: (omega, U) = G (Omega, U).
    """
    n = len(chain)
    blocks = {(i, j): C[i][j] for i in range(n) for j in range(n) if j in C[i]}
    return matrix_of(2 * n, blocks | {(n + i, n + i): ca.SX.eye(3) for i in range(n)})


def quasi_inertia(chain: list[TreeLink], C: Rotations) -> ca.SX:
    """Return A (29), the symmetric matrix of the quasi-velocities (omega_1 ... omega_n, U_1 ...
    U_n). Equation numbers: [Quinn1991].

        omega_i omega_i   I*_i                   omega_i omega_j   S*_i~^T C_ij L_j~       j below i
        U_i omega_j  -C_kj S*_j~   j from i outward      U_i omega_j      -mu_i C_kj L_j~  j below i
        U_i U_j           mu_j C_kl     j from i outward

    with k and l the parents of i and j, and L_j leading from O_j towards i. Twice the kinetic
    energy (6), (17) is its quadratic form.
    """
    n, half = len(chain), {}
    mu = [k.m for k in chain]
    S = [k.S for k in chain]
    I = [k.I for k in chain]
    # leaves to root: all that is beyond i has been added to it
    for i, link in reversed(list(enumerate(chain))):
        k = link.parent
        L = ca.skew(link.L)
        S_i = ca.skew(S[i])
        half[i, i], half[n + i, n + i], half[n + i, i] = I[i], mu[i] * ca.SX.eye(3), -link.C @ S_i
        if k >= 0:
            mu[k], S[k], I[k] = mu[k] + mu[i], S[k] + mu[i] * link.L, I[k] + mu[i] * (L.T @ L)
        j = k
        while j >= 0:
            l = chain[j].parent
            half[i, j], half[n + i, j] = S_i.T @ C[i][j] @ L, -mu[i] * C[k][j] @ L
            half[n + j, i], half[n + i, n + j] = -C[i][l].T @ S_i, mu[i] * C[k][l]
            j, L = l, ca.skew(chain[j].L)
    return matrix_of(2 * n, half | {(j, i): block.T for (i, j), block in half.items()})


def matrix_of(n: int, blocks: dict[tuple[int, int], ca.SX]) -> ca.SX:
    """Return a matrix of n x n blocks of 3 x 3; blocks that are not given are empty."""
    return ca.blockcat([[blocks.get((i, j), ca.SX(3, 3)) for j in range(n)] for i in range(n)])


# --- questions
def joint_wrenches(s: Tracer) -> ca.SX:
    """Return (joints, 6): M_i and F_i of every joint at the accelerations s.a, about the child's
    origin in the child's axes.
    """
    chain, rows = links(s, melt=False), []
    for link, M, F in zip(chain, *inverse(s, chain, s.a)[:2]):
        _, R, p = s.seat(link.name)
        R = matrix(R)
        M = M - ca.cross(vector(p), F)
        rows.append(ca.horzcat(M.T @ R, F.T @ R))
    return ca.densify(ca.vertcat(*rows))


def generalised_force(mechanism: Mechanism, frame: str) -> ca.Function:
    """Return a function (q, F, p) -> Q = D^T G^T tau with tau of (13)-(16): the generalised force Q
    (nv) of a force F (3, N, ground's axes) at a frame's origin rho. Equation numbers: [Quinn1991].

    Add it to tau.
    """
    s = Tracer(layout(mechanism))
    F = ca.SX.sym("F", 3)
    chain = links(s, melt=True)
    C, (node, _, rho) = connectivity(chain), s.seat(frame)
    own = [C[i][-1] @ F if link.node == node else ca.SX.zeros(3) for i, link in enumerate(chain)]
    tau, total = gathered(chain, [ca.cross(vector(rho), x) for x in own], own)
    Q = project(chain, relative(chain, tau), total, s.layout.nv)
    return ca.Function(
        "generalised_force", [s.q, F, s.p], [ca.cse(ca.densify(Q))], ["q", "F", "p"], ["Q"]
    )


def given_forces(s: Tracer, chain: list[TreeLink]) -> ca.SX:
    """Return D^T G^T tau (nv) of the mechanism's loads, with tau of (13)-(16), and their forces
    along the speeds. Equation numbers: [Quinn1991].
    """
    C = connectivity(chain)
    force, moment = ([ca.SX.zeros(3) for _ in chain] for _ in range(2))
    for body, (t, f) in s.applied.wrenches.items():
        node, _, rho = s.seat(body)
        for i in (i for i, link in enumerate(chain) if link.node == node):
            F = C[i][-1] @ f
            force[i], moment[i] = force[i] + F, moment[i] + C[i][-1] @ t + ca.cross(vector(rho), F)
    tau, total = gathered(chain, moment, force)
    return s.applied.forces + project(chain, relative(chain, tau), total, s.layout.nv)


def measured(s: Tracer, chain: list[TreeLink]) -> dict[str, int]:
    """Return the numbers of operations of the inertial form (22), of the relative form (26), and of
    inverse dynamics from q, v, a to tau. The counts of the first two begin with the joint
    coordinates and the quasi-velocities of the form. Sliding velocities and their rows are counted
    where joints slide. Equation numbers: [Quinn1991].
    """
    w, dw, U, dU = ([ca.SX.sym(name, 3) for _ in chain] for name in ("w", "dw", "U", "dU"))
    slides = [link.D[3:, :].nnz() > 0 for link in chain]
    U, dU = ([x if moves else ca.SX.zeros(3) for x, moves in zip(y, slides)] for y in (U, dU))
    free = ca.vertcat(*(x for y in (w, dw, U, dU) for x in y if not x.is_constant()))

    def count(tau: Vectors, F: Vectors) -> int:
        rows = ca.vertcat(*tau, *(link.C @ x for link, x, moves in zip(chain, F, slides) if moves))
        return operations(ca.Function("form", [s.q, free, s.p], [ca.cse(rows)]))

    def forces(w: Vectors, dw: Vectors) -> tuple[Vectors, Vectors]:
        return gathered(chain, *inertial(chain, moved(s, chain, w, dw, U, dU)))

    tau, F = forces(*absolute(chain, w, dw))
    joints = ca.Function("joints", [s.q, s.v, s.a, s.p], [ca.cse(inverse_forces(s, chain, s.a))])
    return {
        "operations_inertial": count(*forces(w, dw)),
        "operations_relative": count(relative(chain, tau), F),
        "operations_inverse": operations(joints),
    }


# --- the linear system
def solve(s: Tracer, M: ca.SX, b: ca.SX) -> ca.SX:
    """Return a (nv) with M a = b. Leaves first, each row is solved for its own acceleration, which
    is substituted into the rows below it.

    row k:  M_kk a_k + sum_{i<k} M_ki a_i = b_k;
            M is symmetric, so its lower triangle is enough, and two branches never mix.
    """
    n = s.layout.nv
    names = list(s.layout.mechanism.speed_names)
    row = [[M[k, i] for i in range(k + 1)] for k in range(n)]
    right = [b[k] for k in range(n)]
    pivots = [ca.SX()] * n
    for k in reversed(range(n)):
        pivots[k] = row[k][k]
        if pivots[k].is_zero():
            raise without_inertia("boltzmann_hamel", s.layout.mechanism, names[k])
        scaled, right[k] = [x / pivots[k] for x in row[k][:k]], right[k] / pivots[k]
        for i in (i for i in range(k) if not scaled[i].is_zero()):
            right[i] -= row[k][i] * right[k]
            for j in range(i + 1):
                row[i][j] -= row[k][i] * scaled[j]
        row[k] = scaled
    found = ca.Function("pivots", [s.q, s.p], [ca.vertcat(*pivots) / ca.diag(M)])
    vanishing = np.all(
        [
            np.abs(np.array(found(*s.layout.somewhere(seed)))) < SINGULAR_PIVOT_RATIO
            for seed in range(3)
        ],
        axis=0,
    )
    if vanishing.any():
        raise without_inertia(
            "boltzmann_hamel", s.layout.mechanism, names[int(np.argmax(vanishing))]
        )
    a: list[ca.SX] = []
    for k in range(n):
        a.append(right[k] - sum((x * y for x, y in zip(row[k], a)), ca.SX(0)))
    return ca.densify(ca.vertcat(*a))


register(
    Formulation(
        "boltzmann_hamel",
        boltzmann_hamel,
        unknowns="angular velocities as quasi-velocities",
        source="[Quinn1991] eq. 22-39",
        year=1904,
    )
)
