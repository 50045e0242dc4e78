"""Two planar linkages with every quantity a symbol, as textbooks have them; gravity along -y."""

from __future__ import annotations

from collections.abc import Mapping

import sympy as sp

from catena.model.mechanism import GROUND, Body, Joint, Mechanism
from catena.model.pose import Pose

g = sp.Symbol("g")


def triple_pendulum(n: int = 3, *, inertia: bool = True) -> Mechanism:
    """[Baysec1996] figure 3: mass m_i (and inertia I_i about it) at the end of a rod l_i, angles
    from the x axis.

    y
    |        o m2 --- l3 --- o m3
    |   l1  / l2
    o----- o m1
    """
    m, l, I = (sp.symbols(f"{letter}1:{n + 1}") for letter in "mlI")
    bodies = [
        Body(f"link{i + 1}", m[i], (l[i], 0, 0), (0, I[i], I[i]) if inertia else (0, 0, 0))
        for i in range(n)
    ]
    return _chain(
        "triple_pendulum",
        bodies,
        l,
        {**dict.fromkeys(map(str, m), 1.2), **dict.fromkeys(map(str, l), 0.7)}
        | (dict.fromkeys(map(str, I), 0.1) if inertia else {}),
    )


def two_link_arm() -> Mechanism:
    """Link i: length l_i, mass m_i at the distance lc_i from its joint, inertia I_i about its
    centre; angles theta1, theta2.
    """
    m, l, lc, I = (sp.symbols(f"{letter}1:3") for letter in ("m", "l", "lc", "I"))
    bodies = [Body(f"link{i + 1}", m[i], (lc[i], 0, 0), (0, I[i], I[i])) for i in range(2)]
    return _chain("two_link_arm", bodies, l, {str(s): 0.5 for s in (*m, l[0], *lc, *I)})


def _chain(name: str, bodies: list[Body], l: tuple, values: Mapping[str, float]) -> Mechanism:
    joints, parent, at = [], GROUND, Pose()
    for i, body in enumerate(bodies):
        joints.append(Joint(f"theta{i + 1}", "revolute", parent, body.name, at))
        parent = body.name
        at = Pose(position=(l[i], 0, 0))
    return Mechanism(
        name, tuple(bodies), tuple(joints), gravity=(0, -g, 0), parameters={**values, "g": 9.81}
    ).validate()
