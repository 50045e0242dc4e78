"""natural_coordinates: points and unit vectors for coordinates, a constant mass matrix
([GarciaDeJalon1994]).

Every link is described by its centre of mass P and three unit vectors, the columns of R: y = (P,
R), 12 numbers, Cartesian all of them. A point of the link is linear in y, so that the mass matrix
is constant and inertia forces contain no velocities:

    r = P + R x,  T = 1/2 m P'.P' + 1/2 sum_i R_i' J R_i'^T,
            J = integral rho x x^T = 1/2 tr(I) 1 - I  (R_i: rows of R)

    rigidity     R_j . R_k - delta_jk = 0                 of the columns, 6 rows per link, quadratic
    joints       dot products of vectors of two links, and differences of their points, quadratic at
                 most (screws apart)

    M y'' + Phi_y^T mu = Q,      Phi_y y'' = -(Phi_y y')_y y'      the rows Phi differentiated twice

Angular velocity is not a coordinate; where it is wanted (motors, torques, speed rows, joints that
follow others) it is read from R' = R tilde(w): w = the axial vector of R^T R', so that w' = the
axial vector of R^T R'', linear in y'': V' = L y''.

A body that bends by modes has its amplitudes for further coordinates; its own mass matrix is not
constant (`_natural_beams`).

Where a link's own block of M is singular (a rod has J of rank one), M + Phi_y^T W Phi_y replaces M,
with the rows' right side times Phi_y^T W added to Q: where the rows hold this changes nothing, and
the matrix becomes regular. This is not a penalty method: the result does not depend on W. The state
is that of the joints: y and y' follow from q and v at every instant, so that no row ever drifts.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np

from ...compiler import matrix, vector
from ...kernels import usual_length
from ...model import Mechanism, RowKind
from ...spatial import full
from ..absolute.constraint_rows import joint, mimics, nonholonomic, speeds
from ..absolute.joint_constraints import Bodies, Pair
from ..equations import Equations, assembled
from ..formulation import Formulation, register
from ._free_links import loads, needed
from ._inertia import require_inertia
from ._joint_cuts import joint_wrenches
from ._natural_beams import natural_beams
from ._saddle_point import saddle_point, total_mass

# Ratio of the least to the largest eigenvalue of J up to which a body is thin. Pivots that are
# filled without need cost operations and nothing else.
THIN_EXTENT_RATIO = 1e-3
PAIRS = ((0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (2, 0))  # of columns of R


def natural_coordinates(mechanism: Mechanism) -> Equations:
    """Return Garcia de Jalon's equations, solved with the multipliers of all rows. State:
    coordinates q and speeds v of the joints.
    """
    b = Bodies(mechanism, planar=False)
    s = b.tracer
    require_inertia("natural_coordinates", b.tracer, b.tracer.mass_matrix())
    system, size = _system(b)
    given = [b.P, b.R, b.V, s.t, s.q, s.v, s.tau, s.p]
    found = ca.Function("found", given, [ca.densify(z) for z in ca.cse(system)])
    a, lam, moved = found(*b.motion, s.t, s.q, s.v, s.tau, s.p)
    closed = bool(mechanism.constrained)
    V = ca.SX.sym("moved", moved.numel())
    force = ca.SX.sym("lam", lam.numel())
    cut = ca.Function(
        "cut", [*given, V, force], [joint_wrenches(s, needed(b, V), force if closed else None)]
    )
    x = ca.vertcat(s.q, s.v)
    place = ca.Function("place", [s.q, s.p], [ca.vertcat(*b.motion[:2])])
    constant = (
        {}
        if b.bending
        else {"mass_matrix": ca.Function("mass_matrix", [s.p], [ca.densify(_masses(b))])}
    )
    return assembled(
        s,
        "natural_coordinates",
        mechanism.coordinate_names + tuple(f"{name}'" for name in mechanism.speed_names),
        x,
        derivative=ca.vertcat(s.coordinate_rate(), a),
        encode=x,
        decode=[s.q, s.v],
        acceleration=a,
        largest=size,
        multipliers=lam if closed else None,
        reactions=(
            None if mechanism.constraints else cut(*b.motion, s.t, s.q, s.v, s.tau, s.p, moved, lam)
        ),
        extra={"natural_coordinates": place, **constant},
    )


# --- rows of y
@dataclass(frozen=True)
class Rows:
    """Some rows A y'' = right. weight (rows,): W of the module's docstring, kg or kg m2."""

    A: ca.SX
    right: ca.SX
    weight: list[float]

    def __len__(self) -> int:
        return self.A.shape[0]


class Natural:
    """y and y' of all links and then of amplitudes, with y' as a function of the bodies' motion; L
    with V' = L y''.
    """

    def __init__(self, b: Bodies):
        self.b, n = b, len(b.links)
        bent = list(b.bending.values())
        self.y = ca.vertcat(
            *(z for k in range(n) for z in (b.P[3 * k : 3 * k + 3], b.R[9 * k : 9 * k + 9])),
            *(b.tracer.q[x.q] for x in bent),
        )
        axes = [matrix(b.axes(k)) for k in range(n)]
        turned = [ca.vec((axes[k] @ ca.skew(vector(b.spin(k)))).T) for k in range(n)]
        self.rate = ca.vertcat(
            *(z for k in range(n) for z in (b.V[6 * k : 6 * k + 3], turned[k])), b.V[6 * n :]
        )
        self.L = ca.sparsify(
            ca.diagcat(
                *(ca.diagcat(ca.SX.eye(3), _axial(R)) for R in axes), ca.SX.eye(b.V.numel() - 6 * n)
            )
        )
        m = total_mass(b)
        self.weight = (m, m * usual_length(b.tracer.layout) ** 2)  # of a displacement, of a cosine

    def quadratic(self, f: ca.SX, angles: tuple[bool, ...]) -> Rows:
        """Return rows f(y) = 0, differentiated twice along y', with y' constant in the second
        derivative.
        """
        still = ca.SX.sym("rate", self.y.numel())
        twice = ca.jtimes(ca.jtimes(f, self.y, still), self.y, still)
        A = ca.sparsify(ca.jacobian(f, self.y))
        return Rows(
            A, -ca.substitute(twice, still, self.rate), [self.weight[angle] for angle in angles]
        )

    def rigid(self, k: int) -> Rows:
        """Return the rows that keep the three unit vectors of link k at unit length and at right
        angles.
        """
        R = matrix(self.b.axes(k))
        f = ca.vertcat(*(ca.dot(R[:, i], R[:, j]) - (1.0 if i == j else 0.0) for i, j in PAIRS))
        return self.quadratic(f, (True,) * len(PAIRS))

    def along(self, A: ca.SX, bias: ca.SX, angles: tuple[bool, ...]) -> Rows:
        """Return rows A V' + bias = 0 as rows of y''."""
        return Rows(ca.sparsify(A @ self.L), -bias, [self.weight[angle] for angle in angles])


def _axial(R: ca.SX) -> ca.SX:
    """Return the matrix (3, 9) that maps R'' (row by row) to the axial vector of R^T R''."""
    D = ca.SX.sym("D", 9)
    S = R.T @ ca.reshape(D, 3, 3).T
    return ca.jacobian(0.5 * ca.vertcat(S[2, 1] - S[1, 2], S[0, 2] - S[2, 0], S[1, 0] - S[0, 1]), D)


def _masses(b: Bodies) -> ca.SX:
    """Return M (12 n, 12 n) of rigid links, constant: m for the point, J for each row of R."""
    blocks = []
    for link in b.links:
        I = ca.SX(matrix(full(link.inertia)))
        J = 0.5 * ca.trace(I) * ca.SX.eye(3) - I
        blocks.append(ca.diagcat(link.mass * ca.SX.eye(3), J, J, J))
    return ca.sparsify(ca.diagcat(*blocks))


# --- the linear system
def _system(b: Bodies) -> tuple[list[ca.SX], int]:
    """Return v' of the joints, lambda of the closing rows, V' of the links, and the number of
    unknowns.
    """
    s = b.tracer
    u = speeds(b)
    y = Natural(b)
    n = len(b.links)
    tree = [
        (y.rigid(k), y.quadratic(b.residual(pair), _angles(pair))) for k, pair in enumerate(b.pairs)
    ]
    tied = [y.along(r.A, r.bias, r.angles) for r in mimics(b, u)]
    closing = [
        y.along(r.A, r.bias, r.angles)
        for r in (*(joint(b, pair) for pair in b.loops), *nonholonomic(b, u))
    ]
    rows = [*(r for both in tree for r in both), *tied, *closing]
    A = ca.vertcat(*(r.A for r in rows))
    right = ca.vertcat(*(r.right for r in rows))
    G = u.G[u.own, :] @ y.L
    g = u.g[u.own]
    J = ca.diag(vector(s.tree.armature))
    bends, bias = natural_beams(b, y.y, y.rate, y.L)
    bent = ca.SX.zeros(y.y.numel() - 12 * n)
    weight = ca.vertcat(
        *(
            link.mass * vector([b.value(z) for z in b.mechanism.gravity] + [0.0] * 9)
            for link in b.links
        ),
        bent,
    )
    Q = weight - bias + y.L.T @ loads(b) + G.T @ (s.tau + s.applied.forces - J @ g)
    M = _masses(b)
    last = sum(len(r) for r in closing)
    W = _fill(M, tree, A.shape[0])
    H = ca.diagcat(M, ca.SX(bent.numel(), bent.numel())) + bends + G.T @ J @ G + A.T @ W @ A
    order = _order(b, tree, sum(len(r) for r in tied))
    moved, lam, _ = saddle_point(b, H, A, Q + A.T @ (W @ right), right, order)
    V = y.L @ moved
    return [u.G[u.own, :] @ V + g, lam[A.shape[0] - last :], V], len(order) + last


def _angles(pair: Pair) -> tuple[bool, ...]:
    """Return which rows of a joint are cosines."""
    return tuple(r.kind == RowKind.ANGLE for r in pair.rows)


def _thin(J: np.ndarray) -> bool:
    """Return whether the mass distribution of a body is flat, a rod or a point, or nearly so:
    whether the least eigenvalue of J is at most THIN_EXTENT_RATIO of the largest.
    """
    sizes = np.linalg.eigvalsh(J)
    return not sizes[0] > THIN_EXTENT_RATIO * np.abs(sizes).max()


def _fill(M: ca.SX, tree: list[tuple[Rows, Rows]], rows: int) -> ca.SX:
    """Return W of the module's documentation, for the rows of rigidity and of the joint of each
    link whose own mass matrix is singular, or may be at other parameter values.
    """
    weights: list[float] = []
    for k, both in enumerate(tree):
        m = M[12 * k, 12 * k]
        J = M[12 * k + 3 : 12 * k + 6, 12 * k + 3 : 12 * k + 6]
        light = (
            ca.symvar(ca.vertcat(m, ca.vec(J)))
            or not float(m) > 0.0
            or _thin(np.array(ca.evalf(J)))
        )
        weights += [w if light else 0.0 for r in both for w in r.weight]
    return ca.sparsify(ca.diag(ca.SX(weights + [0.0] * (rows - len(weights)))))


def _order(b: Bodies, tree: list[tuple[Rows, Rows]], tied: int) -> list[int]:
    """Return the unknowns in the order of elimination, leaves to root: amplitudes on a link, its
    coordinates, its rigidity, its joint; rows that couple joints last.
    """
    n = len(tree)
    first = b.V.numel() + 6 * n + np.cumsum([0, *(len(r) + len(j) for r, j in tree)])
    order: list[int] = []
    for k in reversed(range(-1, n)):
        for x in (x for body, x in b.bending.items() if b.frame(body).link == k):
            order += range(x.V.start + 6 * n, x.V.stop + 6 * n)
        if k >= 0:
            order += [*range(12 * k, 12 * k + 12), *range(first[k], first[k + 1])]
    return [int(k) for k in (*order, *range(first[-1], first[-1] + tied))]


register(
    Formulation(
        "natural_coordinates",
        natural_coordinates,
        unknowns="points and unit vectors of bodies; forces of rigidity and of joints",
        source="[GarciaDeJalon1994]",
        year=1994,
    )
)
