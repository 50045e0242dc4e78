"""The constraint rows of free bodies, each with its rates.

    f = 0,   f' = A V + f_t = 0,   f'' = A V' + bias = 0

Joints of the tree, of loops and constraints have f. Rows of a joint that mimics another and rows of
speed constraints (a knife edge, a rolling disc, an expression) begin with f'. The force of a row
acts on one body, and its opposite on another; or it acts along the speeds of joints.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import casadi as ca
import numpy as np

from ...model import GROUND, Joint, RowKind
from ...model.loads import Holonomic, Nonholonomic
from ...spatial import add, cross, dot, select
from .joint_constraints import Bodies, Pair


@dataclass(frozen=True)
class BodyRows:
    """Constraint rows with one name. f: residuals (m or cosines), zero where the rows begin with
    f'. angles: which of them are cosines.

    between: the two bodies on which they act, for rows that act on bodies. along: the rows in terms
    of the speeds u of all joints, for rows that act along speeds.
    """

    name: str
    f: ca.SX
    rate: ca.SX
    A: ca.SX
    bias: ca.SX
    angles: tuple[bool, ...]
    between: tuple[str, str] | None = None
    along: ca.SX | None = None

    def __len__(self) -> int:
        return self.A.shape[0]


@dataclass(frozen=True)
class JointSpeeds:
    """The speeds of all joints, those that mimic others included: u = G V, u' = G V' + g.

    own: the indices of the mechanism's own speeds, v = u[own]. columns: the indices of the speeds
    of each joint, in the order of the pairs. first: the first speed of each joint, by name.
    """

    u: ca.SX
    G: ca.SX
    g: ca.SX
    own: list[int]
    columns: list[slice]
    first: dict[str, int]


def speeds(b: Bodies) -> JointSpeeds:
    """Return the speeds of all joints, from the motion of the bodies."""
    u = ca.vertcat(*(x for pair in b.pairs for x in b.speeds(pair)))
    starts = np.cumsum([0, *(pair.joint.nv for pair in b.pairs)]).tolist()
    columns = [slice(*ends) for ends in pairwise(starts)]
    first = {pair.joint.name: k for pair, k in zip(b.pairs, starts)}
    own = [first[j.name] + k for j in b.mechanism.moving for k in range(j.nv)]
    return JointSpeeds(u, ca.jacobian(u, b.V), b.rate(u), own, columns, first)


def joint(b: Bodies, pair: Pair) -> BodyRows:
    """Return the rows that a joint of the tree, or of a loop, imposes."""
    f, j = b.residual(pair), pair.joint
    rate = b.rate(f)
    angles = tuple(r.kind == RowKind.ANGLE for r in pair.rows)
    return BodyRows(
        j.name, f, rate, ca.jacobian(rate, b.V), b.rate(rate), angles, between=(j.parent, j.child)
    )


def mimics(b: Bodies, s: JointSpeeds) -> Iterator[BodyRows]:
    """Return one row for each joint that mimics another: its speed minus the ratio times the
    leader's speed. For a joint that follows by a function f, the ratio is f'(q).
    """
    for j in (pair.joint for pair in b.pairs):
        if j.mimic is not None and not j.deflection:
            ratio, drift = follows(b, j)
            along = ca.SX(1, s.u.numel())
            along[s.first[j.name]], along[s.first[j.mimic.joint]] = 1.0, -ratio
            yield _along(j.name, along, -ca.SX(drift), s, ca.SX.zeros(1), ca.SX.zeros(1))


def follows(b: Bodies, j: Joint) -> tuple[Any, Any]:
    """Return ratio and drift of a joint that mimics another, with u' = ratio u_leader' + drift. The
    drift comes from the second derivative of the function by which it follows.
    """
    assert j.mimic is not None
    if j.mimic.function is None:
        return b.value(j.mimic.multiplier), 0.0

    s = b.tracer
    leader = next(pair for pair in b.pairs if pair.joint.name == j.mimic.joint)
    _, slope, bend = j.mimic.function(s.q[leader.q.start], select)
    return slope, bend * s.v[leader.v.start] ** 2


def nonholonomic(b: Bodies, s: JointSpeeds) -> Iterator[BodyRows]:
    """Return the rows of constraints and of speed rows, in their order: velocities of points of
    bodies, or rows in the joints' speeds.
    """
    t, k = b.tracer, 0
    texts, f = (
        (t.applied.rows()[0], t.applied.positions())
        if b.mechanism.row_records
        else (ca.SX(0, 1), ca.SX(0, 1))
    )
    for row in b.mechanism.row_records:
        if isinstance(row, Holonomic) or row.text is not None:
            part = slice(k, k + len(row.labels))
            along = ca.SX(len(row.labels), s.u.numel())
            along[:, s.own] = ca.jacobian(texts[part], t.v)
            drift = ca.jtimes(texts[part], t.q, t.coordinate_rate()) + ca.jacobian(texts[part], t.t)
            found = _along(
                row.name,
                along,
                drift,
                s,
                f[part],
                ca.substitute(texts[part], t.v, ca.SX.zeros(t.v.numel())),
            )
        else:
            rate = ca.vertcat(*_slip(b, row))
            found = BodyRows(
                row.name,
                ca.SX.zeros(rate.numel()),
                rate,
                ca.jacobian(rate, b.V),
                b.rate(rate),
                (False,) * rate.numel(),
                between=(GROUND, b.mechanism.frame(row.frame).body),
            )
        yield found
        k += len(found)


def _along(name: str, along: ca.SX, drift: ca.SX, s: JointSpeeds, f: ca.SX, B: ca.SX) -> BodyRows:
    """Return rows f with f' = along u + B and f'' = along u' + drift."""
    return BodyRows(
        name,
        f,
        along @ s.u + B,
        along @ s.G,
        along @ s.g + drift,
        (False,) * along.shape[0],
        along=along,
    )


def _slip(b: Bodies, row: Nonholonomic) -> tuple[Any, ...]:
    """Return those velocities of the contact point that the row sets to zero."""
    side = b.frame(row.frame)
    R, p = b.pose(side)
    arm, directions = row.contact(R, b.value)
    velocity = add(tuple(b.rate(x) for x in p), cross(b.turning(side), arm))
    return tuple(dot(d, velocity) for d in directions)
