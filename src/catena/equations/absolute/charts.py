"""Charts: the coordinates and speeds of one link, and the pose and velocity of the link as
functions of them.

    flat  two coordinates of the centre of mass and the angle about the plane's normal; their rates
            3 and 3
    free  the centre of mass in the ground and a unit quaternion; its velocity in the ground's axes
        and the angular
            velocity in the link's own, the speeds of a free joint                           7 and 6
    hinged  the coordinates and speeds of the joint itself, for a link joined to the ground
            nq and nv
    bent  the amplitudes of a modal flexible body, in addition to its link's chart; their rates
            n and n

The angle of a flat link is zero where all joint coordinates are zero. It is not reduced to one
turn, so that joint angles of more than a turn are preserved.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca

from ...compiler import elements
from ...spatial import add, dot, product, quaternion_matrix, rotate, scale, unrotate
from .attitude import quaternion, rotation
from .joint_constraints import Bodies


@dataclass(frozen=True)
class Chart:
    """Coordinates y and speeds w of one link as symbols, and the expressions P, R (of y), V (of y
    and w, linear in w) and y'.

    start: y and w as functions of the joints' q and v. angle: the angle about the plane's normal,
    in a flat chart. hinged: whether y and w are the joint's own coordinates and speeds.
    """

    names: tuple[tuple[str, ...], tuple[str, ...]]
    y: ca.SX
    w: ca.SX
    P: ca.SX
    R: ca.SX
    V: ca.SX
    rate: ca.SX
    start: tuple[ca.SX, ca.SX]
    angle: Any = 0.0
    hinged: bool = False


def free(bodies: Bodies, k: int) -> Chart:
    """Return the chart of position and quaternion, with velocity and angular velocity as speeds."""
    name, (P, R, V) = bodies.links[k].name, _motion(k, *bodies.motion)
    y = ca.SX.sym("y", 7)
    w = ca.SX.sym("w", 6)
    Q, spin = y[3:], w[3:]
    R_Q = quaternion_matrix(*elements(Q / ca.sqrt(ca.sumsqr(Q))))
    turned = 0.5 * ca.vertcat(-ca.dot(Q[1:], spin), Q[0] * spin + ca.cross(Q[1:], spin))
    labels = ("x", "y", "z", "qw", "qx", "qy", "qz"), ("vx", "vy", "vz", "wx", "wy", "wz")
    names = tuple(tuple(f"{name}.{label}" for label in group) for group in labels)
    return Chart(
        names,  # type: ignore[arg-type]
        y,
        w,
        y[:3],
        _column(R_Q),
        w,
        ca.vertcat(w[:3], turned),
        (ca.vertcat(P, *quaternion(R)), V),
    )


def flat(bodies: Bodies, k: int) -> Chart:
    """Return the chart of two coordinates along `bodies.directions` and an angle, with their rates
    as speeds.
    """
    name, s, (e, f) = bodies.links[k].name, bodies.tracer, bodies.directions
    n: tuple[Any, ...] = bodies.normal or ()
    P, R, V = _motion(k, *bodies.motion)
    P0, R0, _ = _motion(k, *bodies.rest, bodies.V)
    y = ca.SX.sym("y", 3)
    w = ca.SX.sym("w", 3)
    place = add(scale(dot(n, elements(P0)), n), add(scale(y[0], e), scale(y[1], f)))
    velocity = add(scale(w[0], e), scale(w[1], f))
    spin = dot(n, rotate(R, elements(V[3:])))
    # turns add up
    angle = ca.substitute(spin, ca.vertcat(s.q, s.v), ca.vertcat(ca.SX.zeros(s.layout.nq), s.q))
    start = [
        ca.vertcat(dot(e, elements(z)), dot(f, elements(z)), last)
        for z, last in ((P, angle), (V[:3], spin))
    ]
    names = tuple(f"{name}.{label}" for label in (*bodies.labels, "angle"))
    return Chart(
        (names, tuple(f"{x}'" for x in names)),
        y,
        w,
        ca.vertcat(*place),
        _column(product(rotation(n, y[2]), R0)),
        ca.vertcat(*velocity, *scale(w[2], unrotate(R0, n))),
        w,
        (start[0], start[1]),
        y[2],
    )


def hinged(bodies: Bodies, k: int) -> Chart:
    """Return the chart of the joint's own coordinates and speeds, for a link on the ground, which
    no other joint moves.
    """
    s, pair = bodies.tracer, bodies.pairs[k]
    y, w = s.q[pair.q], s.v[pair.v]
    j, (P, R, V) = pair.joint, _motion(k, *bodies.motion)
    angle = 0.0 if bodies.normal is None else flat(bodies, k).start[0][2]
    names = j.coordinate_names, tuple(f"{n}'" for n in j.speed_names)
    return Chart(
        names, y, w, P, _column(R), V, s.coordinate_rate()[pair.q], (y, w), angle, hinged=True
    )


def bent(bodies: Bodies, body: str) -> Chart:
    """Return the chart of the amplitudes of a flexible body; its speeds are entries of V."""
    s = bodies.tracer
    at = bodies.bending[body]
    names = bodies.mechanism.speed_names[at.v]
    n = at.v.stop - at.v.start
    y = ca.SX.sym("e", n)
    w = ca.SX.sym("e_rate", n)
    none = ca.SX(0, 1)
    return Chart(
        (names, tuple(f"{x}'" for x in names)),
        y,
        w,
        none,
        none,
        w,
        w,
        (s.q[at.q], s.v[at.v]),
        hinged=True,
    )


@dataclass(frozen=True)
class State:
    """The charts of all links, then those of bodies that bend, as one state x = (all y, all w).

    names: of x. P, R, V: motion of the links. rate: y'. q, v: the joints' coordinates and speeds,
    from the bodies. start: x as a function of q and v.
    """

    charts: tuple[Chart, ...]
    names: tuple[str, ...]
    x: ca.SX
    P: ca.SX
    R: ca.SX
    V: ca.SX
    rate: ca.SX
    q: ca.SX
    v: ca.SX
    start: ca.SX


def state(bodies: Bodies, charts: Sequence[Chart]) -> State:
    """Return one state made of the charts of all links."""
    amplitudes = {body: bent(bodies, body) for body in bodies.bending}
    s = bodies.tracer
    own = [(c, pair) for c, pair in zip(charts, bodies.pairs) if pair.joint.mimic is None]
    charts = (*charts, *amplitudes.values())
    y, w, P, R, V, rate = (
        ca.vertcat(*(getattr(c, name) for c in charts))
        for name in ("y", "w", "P", "R", "V", "rate")
    )
    turned = [c.angle for c in charts]
    own = [
        (amplitudes[pair.joint.deflection.body] if pair.joint.deflection else c, pair)
        for c, pair in own
    ]
    q = ca.vertcat(
        *(
            z
            for c, pair in own
            for z in (elements(c.y) if c.hinged else bodies.coordinates(pair, turned))
        )
    )
    v = ca.vertcat(
        *(z for c, pair in own for z in (elements(c.w) if c.hinged else bodies.speeds(pair)))
    )
    q = ca.substitute(q, ca.vertcat(bodies.P, bodies.R), ca.vertcat(P, R))
    v = ca.substitute(v, ca.vertcat(bodies.P, bodies.R, bodies.V, s.q), ca.vertcat(P, R, V, q))
    names = tuple(n for kind in (0, 1) for c in charts for n in c.names[kind])
    start = ca.vertcat(*(c.start[kind] for kind in (0, 1) for c in charts))
    return State(tuple(charts), names, ca.vertcat(y, w), P, R, V, rate, q, v, start)


def chart(bodies: Bodies, k: int) -> Chart:
    """Return the chart of a free link: flat where the mechanism is planar."""
    make: Callable[[Bodies, int], Chart] = free if bodies.normal is None else flat
    return make(bodies, k)


def _motion(k: int, P: ca.SX, R: ca.SX, V: ca.SX) -> tuple[ca.SX, tuple[Any, ...], ca.SX]:
    """Return P, three rows of R, and V of link k, from those of all links."""
    r = elements(R[9 * k : 9 * k + 9])
    return P[3 * k : 3 * k + 3], (tuple(r[:3]), tuple(r[3:6]), tuple(r[6:])), V[6 * k : 6 * k + 6]


def _column(R: tuple[Any, ...]) -> ca.SX:
    return ca.vertcat(*(x for row in R for x in row))
