"""The contact problem of one time step and its solution: records of arrays, over scalars of any
kind.

    u = free + W P,      W = J M^-1 J'        speeds and impulses (m,) of the rows

Contacts with friction come first, with three rows each (normal, two tangents), then those with one
row: frictionless contacts and stops of joints, and last the boxed rows, the dry friction of joints:

    |P| <= limit,   and where the joint slips P = -limit sign(u)

"Contacts" includes them where all rows are meant.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ..compiler import WholeNumbers
from ..spatial import kernel

# For more contacts few are expected to touch at once, and the active ones are packed (`selection`).
MAX_UNPACKED_CONTACTS = 4
# Rows, at most, for which a matrix of all rows is made.
MAX_DENSE_ROWS = 288
# A contact whose friction is at least this, relative to the largest possible, slips.
SLIP_CONE_RATIO = 1.0 - 1e-9
# Added to divisors that may be zero.
TINY = 1e-300
# An approach that is faster than this, relative to the change of speed by forces in one step, is an
# impact, and not a resting contact that was open for a step because its point moves on a curve;
# likewise a slip.
IMPACT_SPEED_RATIO = 2.0
# Sweeps in the history of the Anderson acceleration, a power of two.
ANDERSON_DEPTH = 8

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
    "ahead",
)


class ContactProblem(NamedTuple):
    """The contact problem of one time step, with k contacts and m rows.

    gap (k,): gaps in the middle of the step, m. before, free (m,): speeds of the rows at the
    beginning, and at the end without contact impulses, m/s. W: see `response`. P (m,), mode (k,):
    the impulses (N s) and modes of the previous step. e (k,): restitution. static, kinetic:
    friction coefficients of contacts with friction. so_far: the certificate so far. h: the step, s.
    limit: the largest impulses of the boxed rows, N s or N m s. thickness (k,): of the two shapes
    of a contact together, m; infinite where one of them has one side only.

    For n pairs of shapes, whose points are computed by `patches.fill`: pose (n, 32), rotation by
    rows, centre, sizes and bounding radius of both shapes, polyhedra first; before_twist,
    free_twist (n, 6): twists of the touching shape relative to the surface, angular and linear at
    the centre of the second shape; Y (6 n, width): the rows of these twists, as p.W has the rows of
    points. p.W then has only the rows of the other contacts.
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
    limit: Any = None
    thickness: Any = None


class ContactAnswer(NamedTuple):
    """The solution of a ContactProblem.

    P (m,): impulses, N s. shift (m,): impulses that change positions instead of speeds, N s s. mode
    (k,): 0 open, 1 slip, 2 stick. certificate: up to and including this step. work (1,): work of
    the contacts, J. sums (n, 12): for n pairs of shapes the sums of their impulses and of their
    shifts, each as moment about the centre and force.
    """

    P: Any
    shift: Any
    mode: Any
    certificate: Any
    work: Any
    sums: Any = None


class ContactScratch(NamedTuple):
    """Work arrays of the contact solver; k contacts, m rows, `rough` contacts with friction.

    Per contact (k,): took, on: whether it is active; target: the smallest allowed normal speed in
    the step; after: the same for the speeds after the step; mu: the friction coefficient, and for a
    boxed row its limit; lift: the depth that has to be removed.

    Of the active contacts, packed: X (m, width), gap, mode (k,), before, free (m,), and the
    solution impulse, shift (m,), found (k,).

    Of `response`: u (m,), z (width,). Of `gauss_seidel`: own (k, 6), blocks of W; block (rough, 8),
    their inverses, the step along the tangents and the inverse of the mobility along the normal; P,
    last (m,), impulses before a sweep and after the last one.

    Of `anderson`: dF, dG (ANDERSON_DEPTH, m); f, lastf, good (m,); gram, R (ANDERSON_DEPTH,
    ANDERSON_DEPTH); g (ANDERSON_DEPTH,); best, known (1,).

    columns (k,), column (k, width), whole numbers: how many columns of X are not zero in the rows
    of an active contact, and which.

    Of `interior_point`: W, H, L (m, m), the matrix, the scaled one and its factor; scale, b, x, y,
    r, dx, dy, t (m,); w (rough, 8), scalings; unit (1,); wall (boxed, 5), of each boxed row the
    speeds with which its lower and its upper limit push, their changes, and the scaled limit.

    Of `reduced_system`, which also uses f, good and last: K (width, width), the matrix and its
    factor; diagonal (width,), the inverse of the diagonal of the factor; Y (width, 3), rows of one
    contact; first (width,), whole numbers: where the rows of K begin.

    Of n pairs of shapes: axes (n, 9); points (., 4), a gap and a place each; corner (., 3),
    reference and incident (., 3), the corners of one polyhedron and of two faces; hulls, constants.
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
    wall: Any
    axes: Any
    points: Any
    corner: Any
    reference: Any
    incident: Any
    columns: Any
    column: Any
    K: Any
    diagonal: Any
    Y: Any
    first: Any
    hulls: Any = None


def scratch_shapes(
    rough: int,
    smooth: int,
    width: int,
    pairs: int = 0,
    points: int = 0,
    corners: int = 0,
    sides: int = 0,
    boxed: int = 0,
) -> tuple[tuple[int, ...], ...]:
    """Return the shapes of the arrays of a `ContactScratch`. corners, sides: the largest number of
    corners of a polyhedron, and of a face. boxed: how many of the smooth rows are boxed.
    """
    k = rough + smooth
    m = 3 * rough + smooth
    r = max(rough, 1)
    few, rows = (k, m) if k > MAX_UNPACKED_CONTACTS or points else (1, 1)
    n = m if k <= MAX_UNPACKED_CONTACTS and not points else min(m, MAX_DENSE_ROWS)
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
        (ANDERSON_DEPTH, m),
        (ANDERSON_DEPTH, m),
        (m,),
        (m,),
        (m,),
        (ANDERSON_DEPTH, ANDERSON_DEPTH),
        (ANDERSON_DEPTH, ANDERSON_DEPTH),
        (ANDERSON_DEPTH,),
        (1,),
        (1,),
        ((n, n) if width else (1, 1)),
        (n, n),
        (n, n),
        *((m,),) * 8,
        (r, 8),
        (1,),
        (max(boxed, 1), 5),
        *pair_shapes(pairs, points, corners, sides),
        WholeNumbers((few,)),
        WholeNumbers((few, max(width, 1))),
        (max(width, 1), max(width, 1)),
        (max(width, 1),),
        (max(width, 1), 3),
        WholeNumbers((max(width, 1),)),
    )


def pair_shapes(pairs: int, points: int, corners: int, sides: int) -> tuple[tuple[int, ...], ...]:
    """Return the shapes of those arrays of a `ContactScratch` that only pairs of shapes need, the
    last of its fields.
    """
    return (pairs, 9), (points, 4), (corners, 3), (sides, 3), (sides, 3)


@kernel
def strikes(p, n):
    """Return whether row n, the normal of a contact, approaches so fast that it counts as an
    impact.
    """
    return p.before[n] < -IMPACT_SPEED_RATIO * abs(p.free[n] - p.before[n])


@kernel
def normal(i, rough):
    """Return the row of the normal of contact i."""
    return 3 * i if i < rough else 2 * rough + i
