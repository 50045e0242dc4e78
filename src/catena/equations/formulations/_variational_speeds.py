"""The generalised speeds of `variational` ([Everett1988] eq. 1-2, 17-22).

    u = Y(q) v,   v = W u,  W = Y^-1              every u a joint's speed, or a component of a body's motion along its axes  (1)
    u_r = A_rs u_s + B_r                          r dependent, s independent: the rows A v + B = 0, solved                   (2)
    v = (W_s + W_r A_rs) u_s + W_r B_r                                                                                      (20)

B moves the mechanism but is no virtual displacement (21). Speeds that are components of omega make (25) and (31) short: there a
component is a symbol, its partial velocity a unit vector.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np
from scipy.linalg import qr

from ...compiler.trace import Tracer, vector
from ...errors import FormulationError, SingularError, UnknownNameError
from ...kernels.motion import BALL
from ...model.mechanism import GROUND
from ._variational_vectors import INERTIAL, Kinematics, Speeds

COMPONENTS = ("wx", "wy", "wz", "vx", "vy", "vz")


def own_speeds(s: Tracer, names: Sequence[str] | None) -> Speeds:
    """The independent speeds: the joints' own, or those named; less those that the mechanism's rows determine."""
    own = _joint_speeds(s)
    chosen = own if names is None else _named(s, own, list(names))
    return _independent(s, chosen) if s.layout.mechanism.nonholonomic else chosen


def somewhere(s: Tracer, seed: int) -> list[np.ndarray]:
    """A random place: coordinates with unit quaternions, and the mechanism's own parameters."""
    q = np.random.default_rng(seed).standard_normal(s.layout.nq)
    for node in s.layout.nodes:
        if node.motion == BALL:
            q[node.qi : node.qi + 4] /= np.linalg.norm(q[node.qi : node.qi + 4])
    return [q, np.array(list(s.layout.mechanism.parameters.values()))]


def _joint_speeds(s: Tracer) -> Speeds:
    """u = v."""
    n, names = s.layout.nv, tuple(f"{x}'" for j in s.layout.mechanism.moving for x in j.speed_names)
    same = ca.Function("same", [s.q, s.v, s.p], [s.v])
    return Speeds(names, s.v, s.v, ca.SX(n, 1), ca.SX.eye(n), {}, same, same)


def _named(s: Tracer, own: Speeds, names: list[str]) -> Speeds:
    """u = Y v by the names of its rows; Y is inverted once, symbolically."""
    n, k, joints = s.layout.nv, Kinematics(s, own, lambda i: i), [x.removesuffix("'") for x in own.names]
    if len(names) != n or len(set(names)) != n:
        raise FormulationError(f"variational: {s.layout.mechanism.name!r} has {n} speeds, and as many different ones are "
                               f"chosen; found {', '.join(names) or 'none'}")  # fmt: skip
    Y, known = ca.SX(n, n), {}
    for row, name in enumerate(names):
        if name in joints:
            Y[row, joints.index(name)] = 1
        else:
            Y[row, :], at = _component(k, name, joints)
            if at:
                known[at[0]] = (at[1], row)
    _require_regular(s, Y, names)
    W, u = ca.sparsify(ca.solve(Y, ca.SX.eye(n))), ca.SX.sym("u", n)
    v = W @ u
    encode = ca.Function("encode", [s.q, s.v, s.p], [ca.densify(Y @ s.v)])
    return _mapped(s, tuple(names), u, v, W, known, encode)


def _component(k: Kinematics, name: str, joints: list[str]) -> tuple[ca.SX, tuple[tuple[int, str, int], float] | None]:
    """A component's row of Y; and the node's axis it lies along, with its sign, where the body's axes are the node's."""
    body, _, part = name.rpartition(".")
    m = k.s.layout.mechanism
    if part not in COMPONENTS or body not in {b.name for b in m.bodies} - {GROUND}:
        components = [f"{b.name}.{part}" for b in m.bodies for part in COMPONENTS]
        raise UnknownNameError("speed", name, [*joints, *components], f"speeds of variational({m.name!r})")
    node, R, p = k.s.seat(body)
    if node == INERTIAL:
        raise FormulationError(f"variational: speed {name!r} is no speed: body {body!r} is fixed to the ground")
    axis, r = vector([row["xyz".index(part[1])] for row in R]), ca.sparsify(vector(p))
    P = k.angular(node).P if part[0] == "w" else k.linear(node).P - ca.skew(r) @ k.angular(node).P
    signs = [float(x) if x.is_constant() else 0.0 for x in (axis[i] for i in range(3))]
    along = [i for i in range(3) if abs(abs(signs[i]) - 1) < 1e-14]
    stated = along and (part[0] == "w" or r.nnz() == 0)
    return ca.sparsify(axis.T @ P), ((node, part[0], along[0]), round(signs[along[0]])) if stated else None


def _independent(s: Tracer, c: Speeds) -> Speeds:
    """The speeds that the mechanism's rows A v + B = 0 leave free, (2) and (20)."""
    rows, _ = s.applied.rows()
    if ca.depends_on(rows, s.t):
        raise FormulationError(f"variational: rows of {s.layout.mechanism.name!r} depend on time, and v cannot then be read "
                               "from the state alone; make what moves in time a joint, or take lagrange")  # fmt: skip
    J, B = ca.jacobian(rows, s.v) @ c.W, ca.substitute(rows, s.v, ca.SX.zeros(s.layout.nv))
    r = _determined(s, J)
    free = [k for k in range(len(c.names)) if k not in r]
    u, known = ca.SX.sym("u", len(free)), {at: (sign, free.index(k)) for at, (sign, k) in c.known.items() if k in free}
    solved = ca.solve(J[:, r], -ca.horzcat(J[:, free], B))
    W = ca.sparsify(c.W[:, free] + c.W[:, r] @ solved[:, :-1])
    v = W @ u + c.W[:, r] @ solved[:, -1]
    encode = ca.Function("encode", [s.q, s.v, s.p], [c.encode(s.q, s.v, s.p)[free]])
    return _mapped(s, tuple(c.names[k] for k in free), u, v, W, known, encode)


def _mapped(s: Tracer, names: tuple[str, ...], u: ca.SX, v: ca.SX, W: ca.SX, known: dict, encode: ca.Function) -> Speeds:
    """Speeds u with these maps; the rate of v while u stays comes from differentiating W."""
    rate = ca.jtimes(v, s.q, ca.substitute(s.coordinate_rate(), s.v, v))
    decode = ca.Function("decode", [s.q, u, s.p], [ca.densify(v)])
    return Speeds(names, u, v, ca.sparsify(rate), W, known, encode, decode)


def _determined(s: Tracer, J: ca.SX) -> list[int]:
    """The speeds that the rows determine best at a random place: the first pivots of a QR factorisation."""
    value = np.array(ca.Function("J", [s.q, s.p], [ca.densify(J)])(*somewhere(s, 0)))
    _, R, order = qr(value, mode="economic", pivoting=True)
    size = np.abs(np.diag(R))
    rank = int((size > 1e-10 * size[0]).sum())
    if rank < len(value):
        raise SingularError(f"variational: only {rank} of the {len(value)} nonholonomic rows of {s.layout.mechanism.name!r} "
                            "are independent; leave out those that follow from the others")  # fmt: skip
    return sorted(int(k) for k in order[:rank])


def _require_regular(s: Tracer, Y: ca.SX, names: list[str]) -> None:
    """Refuse speeds that do not determine the motion anywhere, (1): name one that follows from the others."""
    f = ca.Function("Y", [s.q, s.p], [ca.densify(Y)])
    values = [np.array(f(*somewhere(s, seed))) for seed in range(3)]
    if all(np.linalg.cond(value) > 1e10 for value in values):
        left = np.linalg.svd(values[0])[0][:, -1]
        dependent = [names[k] for k in np.flatnonzero(np.abs(left) > 1e-6)]
        raise FormulationError(f"variational: the speeds {', '.join(names)} do not determine the motion of "
                               f"{s.layout.mechanism.name!r}: {', '.join(dependent)} follow from each other; replace one by a "
                               "joint's speed")  # fmt: skip
