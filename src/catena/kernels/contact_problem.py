"""The problem of contact impulses in one time step, and what its solver fills in: records of arrays, over scalars of any kind.

    u = free + W P,      W = J M^-1 J'        speeds and impulses (m,) of the rows

Contacts with friction come first, three rows each (normal, two tangents), then those of one row: smooth ones, stops of joints.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ..spatial import any_lane, kernel

ON_CONE = 1.0 - 1e-9  # of the friction that is possible: a contact that slips
TINY = 1e-300

CERTIFICATE = ("residual", "worst_residual", "unconverged", "depth", "complementarity", "cone", "angle", "dissipated", "gained", "impacts",
               "changes")  # fmt: skip


class ContactProblem(NamedTuple):
    """Of k contacts with m rows: gap (k,) in the middle of the step, m; speeds of the rows before and without impulses, m/s; W; the impulses of
    the step before, N s, and its modes (k,); e (k,), mu static and kinetic (of those with friction); the certificate so far; h, s."""

    gap: Any
    before: Any
    free: Any
    W: Any
    P: Any
    mode: Any
    e: Any
    static: Any
    kinetic: Any
    so_far: Any
    h: Any


class ContactAnswer(NamedTuple):
    """Impulses P (m,), N s; shift (k,), as impulses are but of positions; modes (k,): 0 open, 1 slip, 2 stick; the certificate up to now;
    the work (1,) of the contacts, J."""

    P: Any
    shift: Any
    mode: Any
    certificate: Any
    work: Any


class ContactScratch(NamedTuple):
    """W, where it is not given; speeds (m,); targets, whether a contact takes part, and friction (k,) each; inverses of the blocks and step of their tangents
    (rough, 7); what has to be lifted (k,); impulses and speeds before a sweep (m,) each. Of `contact_interior`: the matrix and its factor (m, m); scales,
    b, x, y, r, dx, dy and a right side (m,) each; scalings of contacts with friction (rough, 8); a unit (1,)."""

    W: Any
    u: Any
    target: Any
    on: Any
    mu: Any
    block: Any
    lift: Any
    P: Any
    last: Any
    H: Any
    L: Any
    scale: Any
    b: Any
    x: Any
    y: Any
    r: Any
    dx: Any
    dy: Any
    t: Any
    w: Any
    unit: Any


def scratch_shapes(rough: int, smooth: int, width: int) -> tuple[tuple[int, ...], ...]:
    """Of the arrays of a `ContactScratch`."""
    k, m, r = rough + smooth, 3 * rough + smooth, max(rough, 1)
    return (((m, m) if width else (1, 1)), (m,), (k,), (k,), (k,), (r, 7), (k,), (m,), (m,),
            (m, m), (m, m), (m,), (m,), (m,), (m,), (m,), (m,), (m,), (m,), (r, 8), (1,))  # fmt: skip


@kernel
def normal(i, rough):
    """The row of a contact's normal."""
    return 3 * i if i < rough else 2 * rough + i


@kernel
def speeds(p, P, s, rough, smooth):
    """u = free + W P."""
    m = 3 * rough + smooth
    for r in range(m):
        s.u[r] = p.free[r]
    for i in range(rough):
        if any_lane(s.on[i] > 0.5):
            push(p, s, rough, smooth, 3 * i, P[3 * i])
            push(p, s, rough, smooth, 3 * i + 1, P[3 * i + 1])
            push(p, s, rough, smooth, 3 * i + 2, P[3 * i + 2])
    for i in range(rough, rough + smooth):
        if any_lane(s.on[i] > 0.5):
            push(p, s, rough, smooth, 2 * rough + i, P[2 * rough + i])


@kernel
def push(p, s, rough, smooth, row, more):
    """Let an impulse `more` of one row act on the speeds of contacts that take part."""
    for j in range(rough):
        if any_lane(s.on[j] > 0.5):
            s.u[3 * j] += p.W[row, 3 * j] * more
            s.u[3 * j + 1] += p.W[row, 3 * j + 1] * more
            s.u[3 * j + 2] += p.W[row, 3 * j + 2] * more
    for j in range(rough, rough + smooth):
        if any_lane(s.on[j] > 0.5):
            s.u[2 * rough + j] += p.W[row, 2 * rough + j] * more
