"""The generalised speeds of `variational` ([Everett1988] eq. 1-2, 17-22).

    u = Y(q) v,  v = W u,  W = Y^-1
            every u a joint's speed, or a component of a body's motion along its axes  (1)
    A W u + B = 0                                 rows that the speeds obey                      (2)
    u' = Z y + z,  v' = W Z y + ...  y the rates of independent speeds, chosen anew at every instant
            (20)

B moves the mechanism but is not a virtual displacement (21). For Z and z see `_independent_speeds`.
Speeds that are components of omega make (25) and (31) short: there a component is a symbol, its
partial velocity a unit vector.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np

from ...compiler import Tracer, vector
from ...errors import FormulationError, SingularError, UnknownNameError
from ...model import GROUND
from ._independent_speeds import Complement, complement, measures, own_rows, units
from ._variational_vectors import INERTIAL, FrameKinematics, VariationalSpeeds

COMPONENTS = ("wx", "wy", "wz", "vx", "vy", "vz")


def own_speeds(
    s: Tracer, names: Sequence[str] | None
) -> tuple[VariationalSpeeds, VariationalSpeeds, Complement | None]:
    """Return: the speeds that are independent under the mechanism's rows; all speeds, the joints'
    own or those named; and the complement of the rows.
    """
    own = _joint_speeds(s)
    m = s.layout.mechanism
    chosen = own if names is None else _named(s, own, list(names))
    if not m.constrained:
        return chosen, chosen, None
    free, left = _independent(s, chosen)
    return free, chosen, left


def _joint_speeds(s: Tracer) -> VariationalSpeeds:
    """Return the joints' own speeds as u, so that u = v."""
    n = s.layout.nv
    names = tuple(f"{x}'" for x in s.layout.mechanism.speed_names)
    same = ca.Function("same", [s.q, s.v, s.p], [s.v])
    return VariationalSpeeds(
        names, s.v, s.v, ca.SX(n, 1), ca.SX.eye(n), {}, same, same, ca.SX.eye(n), ca.SX(n, 1), names
    )


def _named(s: Tracer, own: VariationalSpeeds, names: list[str]) -> VariationalSpeeds:
    """Return the speeds u = Y v that a user has named; the rows of Y follow from the names, and Y
    is inverted once, symbolically.
    """
    n = s.layout.nv
    k = FrameKinematics(s, own, lambda i: i)
    joints = [x.removesuffix("'") for x in own.names]
    if len(names) != n or len(set(names)) != n:
        raise FormulationError(
            f"variational: {s.layout.mechanism.name!r} has {n} speeds, and as many different ones"
            f" are chosen; found {', '.join(names) or 'none'}"
        )
    Y, known = ca.SX(n, n), {}
    for row, name in enumerate(names):
        if name in joints:
            Y[row, joints.index(name)] = 1
        else:
            Y[row, :], at = _component(k, name, joints)
            if at:
                known[at[0]] = (at[1], row)
    _require_regular(s, Y, names)
    W = ca.sparsify(ca.solve(Y, ca.SX.eye(n)))
    u = ca.SX.sym("u", n)
    v = W @ u
    encode = ca.Function("encode", [s.q, s.v, s.p], [ca.densify(Y @ s.v)])
    return _mapped(s, tuple(names), u, v, W, known, encode)


def _component(
    k: FrameKinematics, name: str, joints: list[str]
) -> tuple[ca.SX, tuple[tuple[int, str, int], float] | None]:
    """Return the row of Y for a component of a body's motion; and the axis of the node along which
    it is, with its sign, if the body's axes are those of the node.
    """
    body, _, part = name.rpartition(".")
    m = k.s.layout.mechanism
    if part not in COMPONENTS or body not in {b.name for b in m.bodies} - {GROUND}:
        components = [f"{b.name}.{part}" for b in m.bodies for part in COMPONENTS]
        raise UnknownNameError(
            "speed", name, [*joints, *components], f"speeds of variational({m.name!r})"
        )
    node, R, p = k.s.seat(body)
    if node == INERTIAL:
        raise FormulationError(
            f"variational: speed {name!r} is no speed: body {body!r} is fixed to the ground"
        )
    axis = vector([row["xyz".index(part[1])] for row in R])
    r = ca.sparsify(vector(p))
    P = k.angular(node).P if part[0] == "w" else k.linear(node).P - ca.skew(r) @ k.angular(node).P
    signs = [float(x) if x.is_constant() else 0.0 for x in (axis[i] for i in range(3))]
    along = [i for i in range(3) if abs(abs(signs[i]) - 1) < 1e-14]
    stated = along and (part[0] == "w" or r.nnz() == 0)
    return ca.sparsify(axis.T @ P), (
        (
            (node, part[0], along[0]),
            round(signs[along[0]]),
        )
        if stated
        else None
    )


def _independent(s: Tracer, c: VariationalSpeeds) -> tuple[VariationalSpeeds, Complement]:
    """Return the same speeds under the rows A v + B = 0 of loops and of the mechanism's speed rows,
    by (2) and (20); and the complement of the rows. Equation numbers: [Everett1988].
    """
    own, m = own_rows(s), s.layout.mechanism
    A, gamma = (ca.substitute(x, s.v, c.v) for x in (own.A, own.gamma))
    J = ca.sparsify(A @ c.W)
    if not m.loops and not m.constraints and len(own.kept) < J.shape[0]:
        raise SingularError(
            f"variational: only {len(own.kept)} of the {J.shape[0]} nonholonomic rows of {m.name!r}"
            " are independent; leave out those that follow from the others"
        )
    f = ca.Function(
        "at", [s.t, s.q, s.p], [ca.densify(J), ca.densify(c.W.T @ s.mass_matrix() @ c.W)]
    )
    found = [[np.array(x) for x in f(0.0, *place)] for place in own.places]
    elsewhere = [np.array(f(0.0, *s.layout.somewhere(seed))[0]) for seed in range(3)]
    unit = units(np.array([*(value for value, _ in found), *elsewhere]))
    left = complement(
        J, found[0][0], measures(np.array([M for _, M in found])), len(own.kept), unit
    )
    Z = left.Z
    z = left.particular(gamma - A @ c.rate)
    names = tuple(c.names[k] for k in left.free)
    return (
        c._replace(
            W=ca.sparsify(c.W @ Z), rate=ca.sparsify(c.rate + c.W @ z), Z=Z, z=z, independent=names
        ),
        left,
    )


def _mapped(
    s: Tracer,
    names: tuple[str, ...],
    u: ca.SX,
    v: ca.SX,
    W: ca.SX,
    known: dict[tuple[int, str, int], tuple[float, int]],
    encode: ca.Function,
) -> VariationalSpeeds:
    """Return speeds u with these maps. The rate of v at constant u follows by differentiation
    of W.
    """
    rate = ca.jtimes(v, s.q, ca.substitute(s.coordinate_rate(), s.v, v))
    decode = ca.Function("decode", [s.q, u, s.p], [ca.densify(v)])
    Z = ca.SX.eye(len(names))
    z = ca.SX(len(names), 1)
    return VariationalSpeeds(names, u, v, ca.sparsify(rate), W, known, encode, decode, Z, z, names)


def _require_regular(s: Tracer, Y: ca.SX, names: list[str]) -> None:
    """Raise an error where the speeds do not determine the motion at any configuration,
    [Everett1988] eq. 1, and name one that depends on the others.
    """
    f = ca.Function("Y", [s.q, s.p], [ca.densify(Y)])
    values = [np.array(f(*s.layout.somewhere(seed))) for seed in range(3)]
    if all(np.linalg.cond(value) > 1e10 for value in values):
        left = np.linalg.svd(values[0])[0][:, -1]
        dependent = [names[k] for k in np.flatnonzero(np.abs(left) > 1e-6)]
        raise FormulationError(
            f"variational: the speeds {', '.join(names)} do not determine the motion of"
            f" {s.layout.mechanism.name!r}: {', '.join(dependent)} follow from each other; replace"
            " one by a joint's speed"
        )
