"""recursive: the O(n) passes of the kernels as a formulation ([Merwe1995] chapters 4 and 5).

State: coordinates q and speeds v. Only one pivot per joint has to be inverted. With modal flexible
bodies, whose mass moves with all their amplitudes at once, the mass matrix is factorised instead.
"""

from __future__ import annotations

from typing import Any

import casadi as ca

from ...compiler import Tracer, elements, kept_tape
from ...kernels import SNAP, layout
from ...model import Mechanism, Motion
from ...spatial import add, cross, neg, rotate
from ..equations import Counts, Equations, Later, operations
from ..formulation import Formulation, register
from ._joint_cuts import joint_wrenches


def recursive(mechanism: Mechanism, snap: float = SNAP) -> Equations:
    """Return the equations of articulated-body forward dynamics. The joints' wrenches come from the
    outward pass at the accelerations found.
    """
    s = Tracer(layout(mechanism), snap)
    t = s.t
    nq = s.layout.nq
    nv = s.layout.nv
    given = [t, s.q, s.v, s.tau, s.p]
    rows = len(s.con.kind) > 0 or bool(mechanism.row_records)
    solved = kept_tape(
        mechanism,
        "constrained dynamics",
        snap,
        lambda: ca.Function(
            "solved",
            given,
            ca.cse(list(s.constrained() if rows else (s.forward_dynamics(), ca.SX.zeros(0)))),
        ),
    )
    a, lam = solved(*given)
    acceleration = ca.Function("acceleration", given, [a])

    def reactions() -> ca.Function:
        wrenches = kept_tape(mechanism, "joint wrenches", snap, lambda: _wrenches(s, lam.numel()))
        return ca.Function("reactions", given, [ca.cse(wrenches(t, s.q, s.v, a, s.p, lam))])

    x = ca.SX.sym("x", nq + nv)
    q, v = x[:nq], x[nq:]
    rate = ca.Function("rate", [s.q, s.v], [s.coordinate_rate()])
    derivative = ca.vertcat(rate(q, v), acceleration(t, q, v, s.tau, s.p))
    names = mechanism.coordinate_names
    speeds = tuple(f"{n}'" for n in mechanism.speed_names)
    balls = any(f.motion == Motion.BALL for j in mechanism.moving for f in j.freedoms)
    return Equations(
        mechanism,
        "recursive",
        names + speeds,
        derivative=Later(
            lambda: ca.Function("derivative", [t, x, s.tau, s.p], [ca.cse(derivative)])
        ),
        encode=ca.Function("encode", [s.q, s.v, s.p], [ca.vertcat(s.q, s.v)]),
        decode=ca.Function("decode", [x, s.p], [q, v]),
        acceleration=acceleration,
        reactions=None if mechanism.constraints else Later(reactions),
        multipliers=(
            Later(lambda: ca.Function("multipliers", given, [ca.cse(lam)])) if rows else None
        ),
        counts=Counts(nq + nv, nv if s.flexible else 3 if balls else 1, operations(acceleration)),
    )


def _wrenches(s: Tracer, rows: int) -> ca.Function:
    """Return a function (t, q, v, a, p, lam) -> the wrenches of the joints, by the outward pass."""
    force = ca.SX.sym("lam", rows)
    if s.layout.mechanism.nonholonomic:
        found = s.reactions() + joint_wrenches(s, {}, force, loads=False)
    else:
        found = s.reactions(_held(s, force) if len(s.con.kind) else {})
    return ca.Function("wrenches", [s.t, s.q, s.v, s.a, s.p, force], [found])


def _held(s: Tracer, lam: ca.SX) -> dict[str, tuple[Any, Any]]:
    """Return the wrenches of the loops' rows on the bodies that these rows join: torque about the
    node's origin and force, in the node's axes.
    """
    W = s.row_wrenches()
    found: dict[str, tuple[Any, Any]] = {}
    for k, loop in enumerate(s.con.loop):
        joint = s.layout.mechanism.loops[loop]
        sides = [elements(lam[k] * W[k, :6]), elements(lam[k] * W[k, 6:])]
        for side, other, body in ((0, 1, joint.parent), (1, 0, joint.child)):
            w = sides[side]
            node = int(s.con.node[k, other])
            # a body welded to the ground bears the opposite of the other side
            if s.con.node[k, side] < 0 and node >= 0:
                N, p = s.posed.R[node], s.posed.p[node]
                force = rotate(N, sides[other][3:])
                w = [*neg(add(rotate(N, sides[other][:3]), cross(p, force))), *neg(force)]
            t, f = found.get(body, ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0)))
            found[body] = (add(t, w[:3]), add(f, w[3:]))
    return found


register(
    Formulation(
        "recursive",
        recursive,
        unknowns="none: two passes over the tree, O(n)",
        source="[Merwe1995] ch. 3-6",
        year=1980,
        by_blocks=True,
    )
)
