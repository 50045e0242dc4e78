"""Attitude: rotations made of turns about given axes, and the turns read back from a rotation.

For R = Rot(a1, q1) Rot(a2, q2) Rot(a3, q3) the axes may be any, as long as neighbouring ones are
not parallel.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import casadi as ca

from ...spatial import cos, cross, dot, rotate, sin, unrotate


def rotation(axis: Sequence[float], angle: Any) -> tuple[Any, ...]:
    """Return Rot(axis, angle), three rows (Rodrigues): cos 1 + sin tilde(a) + (1 - cos) a a'."""
    (x, y, z), c, s = axis, cos(angle), sin(angle)
    k = 1.0 - c
    return (
        (c + x * x * k, x * y * k - z * s, x * z * k + y * s),
        (y * x * k + z * s, c + y * y * k, y * z * k - x * s),
        (z * x * k - y * s, z * y * k + x * s, c + z * z * k),
    )


def quaternion(R: Any) -> list[Any]:
    """Return the unit quaternion (w, x, y, z) of a rotation by Shepperd's method (1978): the column
    of 4 Q Q' with the largest diagonal entry, divided by the root of that entry, so that no angle
    is singular. Of Q and -Q, the one whose largest entry is positive is returned.
    """
    (a, b, c), (d, e, f), (g, h, i) = R
    K = [
        [1.0 + a + e + i, h - f, c - g, d - b],
        [h - f, 1.0 + a - e - i, b + d, c + g],
        [c - g, b + d, 1.0 - a + e - i, f + h],
        [d - b, c + g, f + h, 1.0 - a - e + i],
    ]
    best, largest = K[0], K[0][0]
    for k in (1, 2, 3):
        better = K[k][k] > largest
        best = [ca.if_else(better, new, old) for new, old in zip(K[k], best)]
        largest = ca.if_else(better, K[k][k], largest)
    return [x / (2.0 * ca.sqrt(largest)) for x in best]


def between(axis: Any, a: Any, b: Any) -> Any:
    """Return the angle about a unit axis that turns the vector a into b. Both must make the same
    angle with the axis.
    """
    return ca.atan2(dot(axis, cross(a, b)), dot(a, b) - dot(axis, a) * dot(axis, b))


def angles(axes: Sequence[Any], R: Any) -> list[Any]:
    """Return the angles of up to three rotations about given axes whose product is R, each between
    -pi and pi. With three rotations, the second angle has two solutions; the branch that contains
    zero is taken. Where the first and the third axis coincide (gimbal lock), only the sum of their
    angles is determined, and the values are not reliable.
    """
    if len(axes) < 2:
        sine = (R[2][1] - R[1][2], R[0][2] - R[2][0], R[1][0] - R[0][1])
        cosine = R[0][0] + R[1][1] + R[2][2] - 1.0
        return [ca.atan2(dot(a, sine), cosine) for a in axes]
    first, last = axes[0], axes[-1]
    if len(axes) == 2:
        return [between(first, last, rotate(R, last)), between(last, unrotate(R, first), first)]
    # first . R last = A + B cos q2 + C sin q2, what the middle turn does to the angle between its
    # neighbours
    middle = axes[1]
    A = dot(first, middle) * dot(middle, last)
    B = dot(first, last) - A
    C = dot(first, cross(middle, last))
    k = dot(first, rotate(R, last)) - A
    away = (1.0 if C <= 0.0 else -1.0) * ca.sqrt(ca.fmax(B * B + C * C - k * k, 0.0))
    q2 = ca.atan2(C * k + B * away, B * k - C * away)
    turned = rotation(middle, q2)
    q1 = between(first, rotate(turned, last), rotate(R, last))
    q3 = between(last, unrotate(R, first), unrotate(turned, first))
    return [q1, q2, q3]


def components(w: Any, axes: Sequence[Any], cosine: Any) -> list[Any]:
    """Return the components of a vector w along up to three axes. Their sum equals w if w lies in
    the span of the axes. cosine: of the angle between two axes, which a joint keeps constant.
    """
    if len(axes) < 2:
        return [dot(a, w) for a in axes]
    if len(axes) == 2:
        x, y = (dot(a, w) for a in axes)
        k = 1.0 / (1.0 - cosine * cosine)
        return [k * (x - cosine * y), k * (y - cosine * x)]
    a, b, c = axes
    k = 1.0 / dot(a, cross(b, c))
    return [k * dot(cross(b, c), w), k * dot(cross(c, a), w), k * dot(cross(a, b), w)]
