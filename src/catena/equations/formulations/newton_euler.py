"""newton_euler: every body free, and the joints' forces among the unknowns ([Baysec1996] eq. 3-4,
23-46; [Passerello1972] I).

For each link, with u the velocity of its centre of mass in the ground's axes and w its angular
velocity in its own axes,

    m u' = F + m g                       (3), (23-24), (26-27), (29-30)
    I w' + w x I w = T                   (4), (25), (28), (31)

F, T are forces and torques of loads and joints. A joint imposes the rows f = 0 (32-37);
differentiated twice (38-43) they read A V' = -bias with V = (u, w), and by the third law the same A
carries the forces that hold it together, A^T lambda. Along its freedoms a joint moves at v = G V,
so a motor exerts G^T tau on the two bodies, equal and opposite, less J v' for a rotor (armature J).
With v' = G V' + g, this is one linear system:

    [ M + G^T J G   A^T ] [   V'    ]   [ (m g, -w x I w) + loads + G^T (tau - J g) ]
    [      A         0  ] [ -lambda ] = [ -bias                           ]            v' = G V' + g

Joints that mimic another, loops and nonholonomic rows are more rows of A. A body that bends by
modes adds its share to the laws of its link, and one equation per amplitude (`_free_beams`); V then
ends with the rates of all amplitudes.

State: pose and velocity of each link; 6 first-order equations per link in the plane, 13 in space.
[Baysec1996] goes on to eliminate the forces (44-46) and inverts a 9 x 9 matrix for the triple
pendulum; here they remain, as 15 unknowns, because they are results.

The matrix is factored as L D L^T in one fixed order: the links from the leaves to the root, each
followed by the rows of the joint that carries it, other rows last. Then two branches never mix, and
no pivot vanishes as long as the mechanism has a mass matrix: the pivots of a link are inertias,
those of a row are negative. For links that lack inertia (a point mass, a massless frame), A^T W A
is added on the left and -A^T W bias on the right, which changes nothing where A V' = -bias, but
makes their pivots positive; W is the mechanism's mass, for a cosine times the square of its length.
Rows that close the tree may depend on each other: they are solved last, from the response of the
tree to one unit of each, and a row that depends on others (`kernels.rank` decides) has no force.

Departures from the print: (42) needs a minus on the right. Bodies welded together are one link; the
wrench in a weld follows by cutting there. In the plane the same cut gives the forces of joints
across the plane, which three coordinates per body do not determine.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np

from ...compiler import elements, matrix, vector
from ...errors import SingularError
from ...kernels import motion_without_energy, usual_length
from ...model import Mechanism
from ...spatial import add, apply, cross, full, rotate, scale, unrotate
from ..absolute.charts import State, chart, state
from ..absolute.constraint_rows import BodyRows, joint, mimics, nonholonomic, speeds
from ..absolute.joint_constraints import Bodies
from ..equations import Equations, assembled
from ..formulation import Formulation, StateKind, register
from ._free_beams import beam_bias, beam_masses
from ._newton_euler_reactions import reactions
from ._saddle_point import saddle_point, total_mass

ZERO_PIVOT_RATIO = 1e-14  # a pivot below this, relative to its diagonal entry, is rounding


def newton_euler(mechanism: Mechanism) -> Equations:
    """Return Newton's and Euler's equations of every link, with the joints' constraints
    differentiated twice.
    """
    b = Bodies(mechanism)
    x = state(b, [chart(b, k) for k in range(len(b.links))])
    s = b.tracer
    solved, unknowns = _system(b, x)
    _require_inertia(b, solved, unknowns)
    given = [s.t, s.q, s.v, s.tau, s.p]
    _, a, lam, W, _ = solved(*b.motion, *given)
    moved, *_ = solved(x.P, x.R, x.V, s.t, x.q, x.v, s.tau, s.p)
    return assembled(
        s,
        "newton_euler",
        x.names,
        x.x,
        derivative=ca.vertcat(x.rate, moved),
        encode=x.start,
        decode=[x.q, x.v],
        acceleration=a,
        largest=len(unknowns),
        reactions=None if mechanism.constraints else W,
        multipliers=lam if mechanism.constrained else None,
    )


# --- the linear system
def _system(b: Bodies, x: State) -> tuple[ca.Function, list[str]]:
    """Return a function (P, R, V, t, q, v, tau, p) -> w', a, lambda of the closing rows, wrenches
    in the joints, pivots; and the unknowns' names.

    The unknowns are the speeds w of the charts, V = B w with a constant B, and the forces of the
    rows.
    """
    s = b.tracer
    u = speeds(b)
    n = len(b.links)
    tree = [joint(b, pair) for pair in b.pairs]
    tied = list(mimics(b, u))
    closing = [*(joint(b, pair) for pair in b.loops), *nonholonomic(b, u)]
    rows = [*tree, *tied, *closing]
    A = ca.vertcat(*(r.A for r in rows))
    bias = ca.vertcat(*(r.bias for r in rows))
    G = u.G[u.own, :]
    g = u.g[u.own]
    tau = s.tau + s.applied.forces

    J = ca.diag(vector(s.tree.armature))
    rigid = (
        ca.diagcat(link.mass * ca.SX.eye(3), ca.SX(matrix(full(link.inertia)))) for link in b.links
    )
    bent = ca.SX.zeros(b.V.numel() - 6 * n)
    M = ca.diagcat(*rigid, ca.SX(bent.numel(), bent.numel())) + beam_masses(b)
    F = ca.vertcat(*(_load(b, k) for k in range(n)), bent) - beam_bias(b) + G.T @ (tau - J @ g)
    B = ca.diagcat(*(ca.jacobian(c.V, c.w) for c in x.charts))
    W = _weights(b, x, B.T @ M @ B, rows)
    H = B.T @ (M + G.T @ J @ G + A.T @ W @ A) @ B
    AB = A @ B
    order, unknowns = _order(b, x, tree, [*tied, *closing])
    w, lam, D = saddle_point(
        b,
        H,
        AB,
        B.T @ (F - A.T @ W @ bias),
        -bias,
        order[: len(order) - sum(len(r) for r in closing)],
    )
    moved = B @ w
    parts = ca.vertsplit(lam, np.cumsum([0, *(len(r) for r in rows)]).tolist())
    a = G @ moved + g
    effort = ca.SX.zeros(u.u.numel())
    effort[u.own] = tau - J @ a
    effort += sum(
        (r.along.T @ part for r, part in zip(rows, parts) if r.along is not None), ca.SX(0)
    )
    held = [
        _on(k, r.A, part) + _on(k, u.G[c, :], effort[c])
        for k, (r, part, c) in enumerate(zip(tree, parts, u.columns))
    ]
    shut = parts[n + len(tied) :]
    pushed = [
        (r.between, [_on(k, r.A, part) for k in range(n)])
        for r, part in zip(closing, shut)
        if r.between
    ]
    found = [w, a, ca.vertcat(ca.SX(0, 1), *shut), reactions(b, held, pushed, moved), D]
    given = [b.P, b.R, b.V, s.t, s.q, s.v, s.tau, s.p]
    return ca.Function("solved", given, [ca.densify(x) for x in found]), unknowns


def _on(k: int, A: ca.SX, force: ca.SX) -> ca.SX:
    """Return the (force, torque) on link k, about its centre of mass, of forces along constraint
    rows.
    """
    return A[:, 6 * k : 6 * k + 6].T @ force


def _weights(b: Bodies, x: State, M: ca.SX, rows: Sequence[BodyRows]) -> ca.SX:
    """Return W: the mechanism's mass for the rows of joints whose link lacks inertia, or may lack
    it at other parameter values. For a cosine it is multiplied by the square of the mechanism's
    length, so that neither units nor sizes matter.
    """
    weights = [0.0] * sum(len(r) for r in rows)
    i = 0
    turn = usual_length(b.tracer.layout) ** 2
    first = np.cumsum([0, *(len(r) for r in rows)])
    for k, c in enumerate(x.charts[: len(b.links)]):
        block = M[i : i + c.w.numel(), i : i + c.w.numel()]
        if ca.symvar(block) or motion_without_energy(np.array(ca.evalf(block))) is not None:
            weights[first[k] : first[k + 1]] = [
                total_mass(b) * (turn if angle else 1.0) for angle in rows[k].angles
            ]
        i += c.w.numel()
    return ca.sparsify(ca.diag(ca.SX(weights)))


def _order(
    b: Bodies, x: State, tree: Sequence[BodyRows], others: Sequence[BodyRows]
) -> tuple[list[int], list[str]]:
    """Return the unknowns in the order of elimination, leaves to root, and their names: a link's
    speeds, then the rows of its joint; other rows last. The rates of amplitudes come before the
    speeds of the link whose body bends, and therefore after everything attached to that body.
    """
    w = np.cumsum([0, *(c.w.numel() for c in x.charts)])
    first = w[-1] + np.cumsum([0, *(len(r) for r in tree)])
    order: list[int] = []
    names: list[str] = []
    bent: dict[int, list[int]] = {}
    for i, body in enumerate(b.bending, start=len(tree)):
        bent.setdefault(b.frame(body).link, []).append(i)
    for k in reversed(range(-1, len(tree))):
        for i in (*bent.get(k, ()), *([k] if k >= 0 else [])):
            order += range(w[i], w[i + 1])
            names += x.charts[i].names[1]
        if k >= 0:
            order += range(first[k], first[k + 1])
            names += [f"force of {tree[k].name}"] * len(tree[k])
    names += [f"force of {r.name}" for r in others for _ in range(len(r))]
    return [int(k) for k in (*order, *range(first[-1], len(names)))], names


def _require_inertia(b: Bodies, solved: ca.Function, unknowns: list[str]) -> None:
    """Raise an error if some motion has no inertia in every configuration."""
    s = b.tracer
    p = list(b.mechanism.parameters.values())
    pivots = ca.Function(
        "pivots", [s.t, s.q, s.v, s.tau, s.p], [solved(*b.motion, s.t, s.q, s.v, s.tau, s.p)[-1]]
    )
    D = np.max([np.array(pivots(0, *b.sample(seed), 0, p)).ravel() for seed in range(3)], axis=0)
    links = {n: link for link in b.links for n in unknowns if n.startswith(f"{link.name}.")}
    for name, pivot in zip(unknowns, D):
        if name in links and not pivot > ZERO_PIVOT_RATIO:
            body = links[name].name
            j = links[name].joint.name
            raise SingularError(
                f"newton_euler: the mass matrix of {b.mechanism.name!r} is singular in every"
                f" configuration: {name!r} moves no inertia. Give body {body!r} mass and inertia,"
                f" give joint {j!r} an armature, or make it fixed",
                where=j,
            )


def _load(b: Bodies, k: int) -> ca.SX:
    """Return the forces on link k other than those of joints: (m g, -w x I w) plus loads, with the
    torque about its centre of mass in its axes.
    """
    link = b.links[k]
    w = b.spin(k)
    R = b.axes(k)
    f = scale(link.mass, tuple(b.value(x) for x in b.mechanism.gravity))
    t = cross(apply(link.inertia, w), w)
    for x in link.members:
        if x.name in b.tracer.applied.wrenches:
            torque, force = (elements(z) for z in b.tracer.applied.wrenches[x.name])
            f = add(f, force)
            t = add(t, unrotate(R, add(torque, cross(rotate(R, x.origin), force))))
    return ca.vertcat(*f, *t)


register(
    Formulation(
        "newton_euler",
        newton_euler,
        unknowns="every body free; joint forces and moments among the unknowns",
        source="[Baysec1996] eq. 23-46, [Passerello1972] ch. I",
        year=1750,
        state=StateKind.BODIES,
    )
)
