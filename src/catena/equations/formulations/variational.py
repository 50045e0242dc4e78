"""variational: Hamilton's principle with vectors that are differentiated in rotating frames
([Everett1988] eq. 25-32).

    T = 1/2 sum_i  w_i . I_i . w_i + m_i V_i . V_i  w_i = 0_omega_i, V_i = 0D p_i of the mass centre
            (25)
    V = -sum_i m_i g . p_i                                                                      (26)
    0 = int sum_i  w_i . I_i . i_delta w_i + m_i V_i . 0_delta V_i + m_i (j_delta g . p_i + g .
        j_delta p_i) + dW  dt  (28)

dW is the virtual work of motors and loads. The energies are scalars, so each term is varied in the
frame that suits it: w_i in its own body, where I_i is constant; V_i in the ground; the weight in
any frame j. With i_delta w_i = 0D 0_theta_i (9), j_delta g = j_theta_0 x g (6), and integration by
parts,

    0 = sum_i -0D(I_i . w_i) . 0_theta_i - 0D(m_i V_i) . 0_delta p_i
              + m_i (p_i x g) . 0_theta_j + m_i g . j_delta p_i + dW                            (30)
    0_theta_i = sum_r dw_i/du_r d_r,  0_delta p_i = sum_r dV_i/du_r d_r,
            j_delta p_i = sum_r d(jD p_i)/du_r d_r  (31), (32)

and the factor of the arbitrary d_r is the r-th equation, linear in u'. Every vector of body i is
written along the axes of a frame f of the user's choice, where 0D x = fD x + 0_omega_f x x and fD
I_i = f_omega_i x I_i - I_i x f_omega_i, (14) in time. Whatever is chosen, the same equations come
out; what changes is their length: see `benchmarks/variational_choices.py`. Flexible bodies add
their terms in `_variational_beams`, (33)-(37).

Departures. Rotors add their own 1/2 J v^2 to (25). Where speeds are not the joints' own, v = W u +
X (1), (17); where rows A v + B = 0 make some of them dependent (2), partial velocities are
nonholonomic ones (20)-(22) of combinations that are free.

Misprints, each contradicted by the lines around it, are listed in `docs/algebra.md`: the mass is
missing in (26)-(30); (29) has i_theta_0 for j_theta_0; the index j of (31), (32) is a speed and a
frame at once; Hamilton varies the time integral.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import casadi as ca

from ...compiler import Tracer, matrix, vector
from ...errors import FormulationError, UnknownNameError
from ...kernels import layout
from ...model import GROUND, Mechanism
from ...spatial import add, full, rotate, transpose, unrotate_symmetric
from ..equations import Equations, assembled
from ..formulation import Formulation, register
from ..statement import Statement
from ._independent_speeds import Complement
from ._inertia import require_inertia
from ._joint_cuts import joint_wrenches
from ._variational_beams import Flexible
from ._variational_speeds import own_speeds
from ._variational_vectors import INERTIAL, FrameKinematics, Turning, VariationalSpeeds

Frames = str | Mapping[str, str]


class Mass(NamedTuple):
    """A body, by its name, in the frame of its vectors: m_i, I_i about the mass centre, w_i, the
    velocity V_i of the mass centre, and its node.
    """

    name: str
    node: int
    m: Any
    I: ca.SX
    w: Turning
    V: Turning
    com: ca.SX  # the mass centre, from the node's origin, along the node's axes


def variational(
    mechanism: Mechanism,
    frames: Frames = "body",
    potential: Frames = "ground",
    speeds: Sequence[str] | None = None,
) -> Equations:
    """Return Everett's equations, holonomic or not; the rows of loops are treated as those of
    speeds.

    frames: the axes along which each body's vectors are written and differentiated: "body" (its
    own), "ground", or {body: frame}. potential: the frame j of (28) in which each body's weight is
    varied, likewise. speeds: names of nv generalised speeds, each a joint's speed or a component
    "body.wx" ... "body.vz" of a body's angular velocity or of its origin's velocity along the
    body's axes; by default the joints' speeds. State: the coordinates q and these speeds u; where
    the mechanism has rows, the independent ones are chosen anew at every instant.
    """
    s = Tracer(layout(mechanism))
    u, every, left = own_speeds(s, speeds)
    homes = _homes(s, frames, "frames"), _homes(s, potential, "potential")
    k = FrameKinematics(s, u, homes[0])
    masses = _masses(k)
    flexible = Flexible(s, k)
    M, b, Q = _equations(k, masses, flexible, homes[1])
    require_inertia("variational", s, M, u.independent)
    y = ca.ldl_solve(Q - b, *ca.ldl(M)) if u.independent else ca.SX(0, 1)
    du, a = u.Z @ y + u.z, u.W @ y + u.rate
    lam = (
        ca.SX.zeros(0)
        if left is None
        else _multipliers(FrameKinematics(s, every, homes[0]), homes[1], left, du)
    )
    needed = _needed(k, masses, y) | flexible.needed(y)

    found = [_coordinate_rate(s, u), du, a, lam, ca.vertcat(ca.SX(0, 1), *needed.values())]
    change = ca.Function(
        "change", [s.t, s.q, u.u, s.tau, s.p], ca.cse([ca.densify(z) for z in found])
    )
    n = s.layout.nq
    x = ca.SX.sym("x", n + len(u.names))
    rate, moved, *_ = change(s.t, x[:n], x[n:], s.tau, s.p)
    _, _, at_v, force, wrenches = change(s.t, s.q, u.encode(s.q, s.v, s.p), s.tau, s.p)
    reactions = (
        None
        if mechanism.constraints
        else joint_wrenches(
            s, dict(zip(needed, ca.vertsplit(wrenches, 6))), force if left else None
        )
    )
    energy = ca.Function(
        "energy",
        [s.q, u.u, s.p],
        [ca.densify(_energies(k, masses) + ca.vertcat(*flexible.energies()))],
    )
    return assembled(
        s,
        "variational",
        mechanism.coordinate_names + u.names,
        x,
        derivative=ca.vertcat(rate, moved),
        encode=ca.vertcat(s.q, u.encode(s.q, s.v, s.p)),
        decode=[x[:n], u.decode(x[:n], x[n:], s.p)],
        acceleration=at_v,
        largest=len(u.independent),
        multipliers=force if left else None,
        reactions=reactions,
        extra={"rows": _rows(s, u, M, b, Q), "energy": energy},
        readable=None if speeds or left else (lambda: _statement(s, M, b, Q)),
    )


# --- energies (25)-(27)
def _masses(k: FrameKinematics) -> list[Mass]:
    """Return every rigid body with inertia, in its home frame."""
    found = []
    rigid = {b.name: b for b in k.s.layout.rigid}
    for body in (rigid[j.child] for j in k.s.layout.mechanism.ordered if j.child in rigid):
        node, R, p = k.s.seat(body.name)
        if node == INERTIAL:
            continue
        mass = k.s.value(body.mass)
        com, I = (tuple(k.s.value(x) for x in values) for values in (body.com, body.inertia))
        c = ca.sparsify(vector(add(p, rotate(R, com))))
        I_N = ca.sparsify(matrix(full(unrotate_symmetric(transpose(R), I))))
        if ca.SX(mass).is_zero() and I_N.nnz() == 0:
            continue
        w, V = _at(k, node, c)
        found.append(Mass(body.name, node, mass, _dyadic(k, node, w.frame, I_N), w, V, c))
    return found


def _at(k: FrameKinematics, node: int, c: ca.SX) -> tuple[Turning, Turning]:
    """Return omega of a node, and the velocity of a point c of it that is given along its axes;
    both in the node's home frame.
    """
    w, v = k.angular(node), k.linear(node)
    r = k.turned(node, w.frame, c)
    return w, v + w.cross(r, ca.SX(3, 1) if w.frame == node else ca.cross(w.x - k.spin(w.frame), r))


def _dyadic(k: FrameKinematics, a: int, b: int, I: ca.SX) -> ca.SX:
    """Return a dyadic with components along the axes of frame b, from its components along the axes
    of frame a.
    """
    return k.turned(a, b, k.turned(a, b, I).T).T if a != b else I


def _energies(k: FrameKinematics, masses: list[Mass]) -> ca.SX:
    """Return the kinetic energy T and the potential energy V as a vector (2,)."""
    s = k.s
    v = k.speeds.v
    g = vector(k.s.tree.gravity)
    T = ca.dot(vector(s.tree.armature), v**2) + sum(
        ca.dot(b.w.x, b.I @ b.w.x) + b.m * ca.sumsqr(b.V.x) for b in masses
    )
    V = -sum(
        b.m * ca.dot(g, k.position(b.node, INERTIAL) + k.turned(b.node, INERTIAL, b.com))
        for b in masses
    )
    return ca.densify(ca.vertcat(T / 2, V))


# --- the rows (30)-(32)
def _equations(
    k: FrameKinematics, masses: list[Mass], flexible: Flexible, varied: Callable[[int], int]
) -> tuple[ca.SX, ca.SX, ca.SX]:
    """Return M, b and Q of the rows M u' + b = Q of [Everett1988] eq. 30."""
    s, u = k.s, k.speeds
    M = _inertia(s, u, masses) + flexible.inertia()
    b = _bias(k, masses, varied) + flexible.bias()
    return M, b, u.W.T @ ca.substitute(s.tau + s.applied.forces, s.v, u.v) + _virtual_work(k)


def _multipliers(
    k: FrameKinematics, varied: Callable[[int], int], left: Complement, du: ca.SX
) -> ca.SX:
    """Return the multipliers of the rows, from the residual of [Everett1988] eq. 30 with all
    speeds varied, at the rates found.
    """
    M, b, Q = _equations(k, _masses(k), Flexible(k.s, k), varied)
    return left.multipliers(M @ du + b - Q)


def _needed(k: FrameKinematics, masses: list[Mass], y: ca.SX) -> dict[str, ca.SX]:
    """Return {body: wrench} that the motion requires at the rates y: 0D(I . w) and 0D(m V) - m g,
    about the ground's origin; for a fixed body, the wrench that carries its weight.
    """
    g = vector(k.s.tree.gravity)
    found = {}
    s = k.s
    for body in (b for b in s.layout.rigid if s.seat(b.name)[0] == INERTIAL and b.name != GROUND):
        _, R, p = s.seat(body.name)
        f = -s.value(body.mass) * g
        found[body.name] = ca.vertcat(
            ca.cross(vector(add(p, rotate(R, tuple(s.value(x) for x in body.com)))), f), f
        )
    for b in masses:
        torque = b.I @ (b.w.P @ y + k.rate(b.w)) + ca.cross(b.w.x, b.I @ b.w.x)
        t, f = (k.turned(b.w.frame, INERTIAL, z) for z in (torque, b.m * (b.V.P @ y + k.rate(b.V))))
        f = f - b.m * g
        c = k.position(b.node, INERTIAL) + k.turned(b.node, INERTIAL, b.com)
        found[b.name] = ca.vertcat(t + ca.cross(c, f), f)
    return found


def _inertia(s: Tracer, u: VariationalSpeeds, masses: list[Mass]) -> ca.SX:
    """Return the coefficients of u' in the equations (30): the momenta I_i . w_i and m_i V_i change
    with u, along (31). Equation numbers: [Everett1988].
    """
    M = u.W.T @ ca.sparsify(ca.diag(vector(s.tree.armature))) @ u.W
    for b in masses:
        M += b.w.P.T @ (b.I @ b.w.P) + b.m * (b.V.P.T @ b.V.P)
    return ca.sparsify(M)


def _bias(k: FrameKinematics, masses: list[Mass], varied: Callable[[int], int]) -> ca.SX:
    """Return the terms of the equations [Everett1988] eq. 30 without u': the inertia terms with
    constant u, and the weight.
    """
    u = k.speeds
    g = vector(k.s.tree.gravity)
    rows = u.W.T @ (vector(k.s.tree.armature) * u.rate)
    for b in masses:
        f, j = b.w.frame, varied(b.node)
        h = b.I @ b.w.x  # 0D h = I . 0D w + (w x I - I x w) . w, (14) in time
        torque = b.I @ k.rate(b.w) + ca.cross(b.w.x, h)
        force = b.m * k.rate(b.V)
        if j == INERTIAL:  # 0_theta_0 = 0: g . 0_delta p alone is left of the weight
            force = force - b.m * k.turned(INERTIAL, f, g)
        else:
            rows -= _weight(k, b, j, g)
        rows += b.w.P.T @ torque + b.V.P.T @ force
    return ca.densify(rows)


def _weight(k: FrameKinematics, b: Mass, j: int, g: ca.SX) -> ca.SX:
    """Return the terms m (p x g) . 0_theta_j + m g . j_delta p of [Everett1988] eq. 30, varied in
    a frame j that rotates.
    """
    p = k.position(b.node, j) + k.turned(b.node, j, b.com)
    g_j = k.turned(INERTIAL, j, g)
    theta = k.angular(j, j).P
    moved = k.turned(b.V.frame, j, b.V.P) + ca.skew(p) @ theta  # d(jD p)/du, jD p = V - omega_j x p
    return b.m * (theta.T @ ca.cross(p, g_j) + moved.T @ g_j)


def _virtual_work(k: FrameKinematics) -> ca.SX:
    """Return the virtual work of the loads on bodies, torque . 0_theta + force . 0_delta p,
    (nv).
    """
    total = ca.SX.zeros(k.speeds.Z.shape[1])
    for body, wrench in k.s.applied.wrenches.items():
        node, _, p = k.s.seat(body)
        if node != INERTIAL:
            w, V = _at(k, node, ca.sparsify(vector(p)))
            t, f = (
                k.turned(INERTIAL, w.frame, ca.substitute(part, k.s.v, k.speeds.v))
                for part in wrench
            )
            total += w.P.T @ t + V.P.T @ f
    return total


# --- what is asked
def _homes(s: Tracer, frames: Frames, option: str) -> Callable[[int], int]:
    """Return {node: the frame of its body's vectors} from the user's option."""
    if frames == "body":
        return lambda i: i
    if frames == GROUND:
        return lambda i: INERTIAL
    if not isinstance(frames, Mapping):
        raise FormulationError(
            f"variational: {option}={frames!r}; it is 'body' (each body's own axes), 'ground', or "
            "{body: frame}"
        )
    m, homes = s.layout.mechanism, {}
    known = {b.name for b in m.bodies}
    for body, frame in frames.items():
        for name in (body, frame):
            if name not in known and (name != GROUND or body == GROUND):
                raise UnknownNameError(
                    "body", name, sorted(known), f"{option} of variational({m.name!r})"
                )
        if body != frame:
            homes[s.layout.seats[body].node] = s.layout.seats[frame].node
    return lambda i: homes.get(i, i)


# --- what is handed over
def _coordinate_rate(s: Tracer, u: VariationalSpeeds) -> ca.SX:
    return ca.substitute(s.coordinate_rate(), s.v, u.v)


def _rows(s: Tracer, u: VariationalSpeeds, M: ca.SX, b: ca.SX, Q: ca.SX) -> ca.Function:
    """Return a function (t, q, u, y, tau, p) -> the equations [Everett1988] eq. 30, each zero, in
    the form before they are solved.
    """
    y = ca.SX.sym("y", len(u.independent))
    return ca.Function("rows", [s.t, s.q, u.u, y, s.tau, s.p], [ca.cse(ca.densify(M @ y + b - Q))])


def _statement(s: Tracer, M: ca.SX, b: ca.SX, Q: ca.SX) -> Statement:
    """Return the statement M a + b = Q."""
    symbols = {"t": s.t, "q": s.q, "v": s.v, "a": s.a, "tau": s.tau, "p": s.p}
    return Statement.of(symbols, M @ s.a + b, Q)


register(
    Formulation(
        "variational",
        variational,
        unknowns="variations of vectors in the frames they live in",
        source="[Everett1988] eq. 25-32, [algebra.md](algebra.md)",
        year=1988,
    )
)
