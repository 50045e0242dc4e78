"""The problem of contact impulses in one time step, and what its solver fills in: records of
arrays, over scalars of any kind.

    u = free + W P,      W = J M^-1 J'        speeds and impulses (m,) of the rows

Contacts with friction come first, three rows each (normal, two tangents), then those of one row:
smooth ones, stops of joints.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ..spatial import kernel

# contacts, above which few are expected to touch at once: those that take part are put together
# (`contact_selection`)
MANY = 4
WHOLE = 288  # rows at most that are solved together
ON_CONE = 1.0 - 1e-9  # of the friction that is possible: a contact that slips
TINY = 1e-300
# times the speed that forces give in one step: an approach that is faster is an impact, and not a
# resting contact that has been open for a step because its point moves on a curve; so is a slip
STRIKES = 2.0
DEPTH = 8  # sweeps that the acceleration of sweeps looks back, a power of two

CERTIFICATE = (
    "residual",
    "worst_residual",
    "unconverged",
    "depth",
    "complementarity",
    "cone",
    "angle",
    "dissipated",
    "gained",
    "impacts",
    "changes",
)


class ContactProblem(NamedTuple):
    """Of k contacts with m rows: gap (k,) in the middle of the step, m; speeds of the rows before
    and without impulses, m/s; W; the impulses of the step before, N s, and its modes (k,); e (k,),
    mu static and kinetic (of those with friction); the certificate so far; h, s.

    Of n pairs of shapes, whose points are `contact_patches.fill`'s to write: pose (n, 32), rotation
    by rows, middle, sizes and radius of a ball about both, polyhedra first; twists (n, 6) of what
    touches against the surface, angular and linear at the middle of the second shape, before and
    without impulses; Y (6 n, width): what p.W has of points, of these twists. p.W has the rows of
    other contacts alone.
    """

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
    """Impulses P (m,), N s; shift (m,), as impulses are but of positions; modes (k,): 0 open, 1
    slip, 2 stick; the certificate up to now; the work (1,) of the contacts, J; of n pairs of shapes
    the sums (n, 12) of their impulses and shifts, each as moment about the middle and force.
    """

    P: Any
    shift: Any
    mode: Any
    certificate: Any
    work: Any
    sums: Any = None


class ContactScratch(NamedTuple):
    """Whether a contact takes part, with which normal speed at least, and with which where it has
    closed, its friction, what has to be lifted (k,) each. Of those that take part, where they are
    put together: matrix (m, width), gap, mode (k,), speeds before and without impulses (m,), and an
    answer (m,), (m,), (k,). Speeds u
    (m,), z (width,) of `contact_response`; own blocks of W (k, 6), their inverses, step of their
    tangents, one over the mobility along the normal (rough, 8); impulses before a sweep and after
    the last one (m,) each. Of `contact_acceleration`: changes (depth, m) twice, (m,) three times,
    (depth, depth) twice, (depth,), and two numbers of a lane. Of `contact_interior`: W, the scaled
    matrix and its factor (m, m); scales, b, x, y, r, dx, dy and a right side (m,) each; scalings of
    contacts with friction (rough, 8); a unit (1,). Of n pairs of shapes: axes (n, 9), points (.,
    4), a gap and a place each; of `polyhedron_manifold` the corners of one (., 3) and of two faces
    (., 3), and its constants.
    """

    took: Any
    on: Any
    target: Any
    after: Any
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
    dF: Any
    dG: Any
    f: Any
    lastf: Any
    good: Any
    gram: Any
    R: Any
    g: Any
    best: Any
    known: Any
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
    points: Any
    corner: Any
    reference: Any
    incident: Any
    hulls: Any = None


def scratch_shapes(
    rough: int,
    smooth: int,
    width: int,
    pairs: int = 0,
    points: int = 0,
    corners: int = 0,
    sides: int = 0,
) -> tuple[tuple[int, ...], ...]:
    """Of the arrays of a `ContactScratch`. corners, sides: of a polyhedron and of its faces, at
    most.
    """
    k = rough + smooth
    m = 3 * rough + smooth
    r = max(rough, 1)
    few, rows = (k, m) if k > MANY or points else (1, 1)
    n = m if k <= MANY and not points else min(m, WHOLE)
    return (
        (few,),
        (k,),
        (k,),
        (k,),
        (k,),
        (k,),
        (rows, width or rows),
        (few,),
        (few,),
        (rows,),
        (rows,),
        (rows,),
        (rows,),
        (few,),
        (m,),
        (width or 1,),
        (k, 6),
        (r, 8),
        (m,),
        (m,),
        (DEPTH, m),
        (DEPTH, m),
        (m,),
        (m,),
        (m,),
        (DEPTH, DEPTH),
        (DEPTH, DEPTH),
        (DEPTH,),
        (1,),
        (1,),
        ((n, n) if width else (1, 1)),
        (n, n),
        (n, n),
        *((m,),) * 8,
        (r, 8),
        (1,),
        *pair_shapes(pairs, points, corners, sides),
    )


def pair_shapes(pairs: int, points: int, corners: int, sides: int) -> tuple[tuple[int, ...], ...]:
    """Of the last of them, which pairs of shapes need."""
    return (pairs, 9), (points, 4), (corners, 3), (sides, 3), (sides, 3)


@kernel
def strikes(p, n):
    """Whether row n, a contact's normal, approaches with the speed of an impact."""
    return p.before[n] < -STRIKES * abs(p.free[n] - p.before[n])


@kernel
def normal(i, rough):
    """The row of a contact's normal."""
    return 3 * i if i < rough else 2 * rough + i
