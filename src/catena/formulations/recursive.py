"""recursive: the O(n) passes of the foundation behind the common face ([Merwe1995] chapters 4 and 5).

State: coordinates q and speeds v. Nothing is solved but one pivot a joint.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from ..compiler.trace import Tracer
from ..equations import Counts, Equations, operations
from ..kernels.tree import layout
from ..mechanism import Mechanism


def recursive(mechanism: Mechanism) -> Equations:
    """Articulated-body forward dynamics, and the joints' wrenches by the outward pass at the acceleration found."""
    s = Tracer(layout(mechanism))
    t, nq, nv = s.t, s.layout.nq, s.layout.nv
    a = s.forward_dynamics()
    given = [t, s.q, s.v, s.tau, s.p]
    acceleration = ca.Function("acceleration", given, [ca.cse(a)])
    wrenches = ca.Function("wrenches", [t, s.q, s.v, s.a, s.p], [s.reactions()])
    x = ca.SX.sym("x", nq + nv)
    q, v = x[:nq], x[nq:]
    rate = ca.Function("rate", [s.q, s.v], [s.coordinate_rate()])
    derivative = ca.vertcat(rate(q, v), acceleration(t, q, v, s.tau, s.p))
    names = tuple(n for j in mechanism.moving for n in j.coordinate_names)
    speeds = tuple(f"{n}'" for j in mechanism.moving for n in j.speed_names)
    balls = np.any([j.kind in ("ball", "free") for j in mechanism.moving])
    return Equations(
        mechanism,
        "recursive",
        names + speeds,
        derivative=ca.Function("derivative", [t, x, s.tau, s.p], [ca.cse(derivative)]),
        encode=ca.Function("encode", [s.q, s.v, s.p], [ca.vertcat(s.q, s.v)]),
        decode=ca.Function("decode", [x, s.p], [q, v]),
        acceleration=acceleration,
        reactions=ca.Function("reactions", given, [ca.cse(wrenches(t, s.q, s.v, a, s.p))]),
        counts=Counts(nq + nv, 3 if balls else 1, operations(acceleration)),
    )
