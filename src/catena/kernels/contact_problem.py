"""The problem of contact impulses in one time step, and what its solver fills in: records of arrays, over scalars of any kind.

    u = free + W P,      W = J M^-1 J'        speeds and impulses (m,) of the rows

Contacts with friction come first, three rows each (normal, two tangents), then those of one row: smooth ones, stops of joints.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ..spatial import kernel

MANY = 4  # contacts, above which few are expected to touch at once: those that take part are put together (`contact_selection`)
WHOLE = 288  # rows at most that are solved together
ON_CONE = 1.0 - 1e-9  # of the friction that is possible: a contact that slips
TINY = 1e-300

CERTIFICATE = ("residual", "worst_residual", "unconverged", "depth", "complementarity", "cone", "angle", "dissipated", "gained", "impacts",
               "changes")  # fmt: skip


class ContactProblem(NamedTuple):
    """Of k contacts with m rows: gap (k,) in the middle of the step, m; speeds of the rows before and without impulses, m/s; W; the impulses of
    the step before, N s, and its modes (k,); e (k,), mu static and kinetic (of those with friction); the certificate so far; h, s.

    Of n pairs of boxes, whose points are `contact_patches.fill`'s to write: pose (n, 30), rotation by rows, middle and sizes of the surface and of what touches it; twists (n, 6) of the
    second against the first, angular and linear at its middle, before and without impulses; Y (6 n, width): what p.W has of points, of these twists. p.W
    has the rows of other contacts alone."""

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
    pose: Any = None
    before_twist: Any = None
    free_twist: Any = None
    Y: Any = None


class ContactAnswer(NamedTuple):
    """Impulses P (m,), N s; shift (k,), as impulses are but of positions; modes (k,): 0 open, 1 slip, 2 stick; the certificate up to now;
    the work (1,) of the contacts, J; of n pairs of boxes the sums (n, 12) of their impulses and shifts, each as moment about the middle and force."""

    P: Any
    shift: Any
    mode: Any
    certificate: Any
    work: Any
    sums: Any = None


class ContactScratch(NamedTuple):
    """Whether a contact takes part, with which normal speed at least, its friction, what has to be lifted (k,) each. Of those that take part, where they
    are put together: matrix (m, width), gap, mode (k,), speeds before and without impulses (m,), and an answer (m,), (k,), (k,). Speeds u (m,), z (width,) of
    `contact_response`; own blocks of W (k, 6), their inverses, step of their tangents, one over the mobility along the normal (rough, 8); impulses
    and speeds before a sweep (m,) each. Of `contact_interior`: W, the scaled matrix and its factor (m, m); scales, b, x, y, r, dx, dy and a right
    side (m,) each; scalings of contacts with friction (rough, 8); a unit (1,). Of n pairs of boxes: axes (n, 9) and places of their points against the
    middle (12 n, 3)."""

    took: Any
    on: Any
    target: Any
    mu: Any
    lift: Any
    X: Any
    gap: Any
    mode: Any
    before: Any
    free: Any
    impulse: Any
    shift: Any
    found: Any
    u: Any
    z: Any
    own: Any
    block: Any
    P: Any
    last: Any
    W: Any
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
    axes: Any
    arm: Any


def scratch_shapes(rough: int, smooth: int, width: int, pairs: int = 0) -> tuple[tuple[int, ...], ...]:
    """Of the arrays of a `ContactScratch`."""
    k, m, r = rough + smooth, 3 * rough + smooth, max(rough, 1)
    few, rows = (k, m) if k > MANY else (1, 1)
    n = m if k <= MANY else min(m, WHOLE)
    return ((few,), (k,), (k,), (k,), (k,), (rows, width or rows), (few,), (few,), (rows,), (rows,), (rows,), (few,), (few,), (m,), (width or 1,), (k, 6), (r, 8),
            (m,), (m,), ((n, n) if width else (1, 1)), (n, n), (n, n), *((m,),) * 8, (r, 8), (1,), (pairs, 9), (12 * pairs, 3))  # fmt: skip


@kernel
def normal(i, rough):
    """The row of a contact's normal."""
    return 3 * i if i < rough else 2 * rough + i
