"""The contact of a sphere and a heightfield: the nearest point of its triangles, over lanes of
runs.

    c, r      centre of the sphere in the axes of the field, and its radius; r = 0 for a point
    d         distance of c from the nearest triangle among the cells around it; negative below the
              surface
    gap       d - r, with the normal from the nearest point to c; on a face it is that of the face

A cell of the grid is two triangles, cut along the diagonal from its corner with the smallest x and
y, as MuJoCo cuts it. In a valley a sphere touches several faces. They are pairs of their own, of
rank 0, 1 and 2, one after another: the first has the nearest point, the next ones the nearest faces
above which c lies and whose normals differ from those before them.
"""

from __future__ import annotations

from ...spatial import (
    add,
    cross,
    dot,
    entry,
    floor,
    kernel,
    larger,
    rotate,
    scale,
    select,
    smaller,
    sqrt,
    sub,
    unrotate,
)
from ..solids import choose, nonzero
from .boxes import HUGE, NO_POINT_GAP
from .polyhedra import put_point, solid_at

# Cosine of the angle between two normals, above which faces count as one plane.
SAME_NORMAL_COSINE = 1.0 - 1e-10
# A centre nearer to an edge than this, relative to a cell, has the normal of the face below it.
EDGE_DISTANCE_RATIO = 1e-9
UP = (0.0, 0.0, 1.0)


@kernel
def sphere_on_heights(pose, s, k, at):
    """Compute the point of one rank into s.points; return the normal."""
    t = s.hulls
    one, two = solid_at(pose, k, 0), solid_at(pose, k, 16)
    c = unrotate(one.R, sub(two.p, one.p))
    rows, columns, ring, rank = t.field[k, 1], t.field[k, 2], t.field[k, 3], t.field[k, 4]
    dx = one.size[0] / (columns - 1)
    dy = one.size[1] / (rows - 1)
    u = (c[0] + 0.5 * one.size[0]) / dx
    w = (c[1] + 0.5 * one.size[1]) / dy
    height, below = _under(t, k, one.size, dx, dy, u, w)
    over_field = smaller(smaller(u, (columns - 1) - u), smaller(w, (rows - 1) - w)) >= 0.0
    deep = select(over_field, c[2] - height, 1.0 + 0.0 * c[2]) < 0.0
    d, n = HUGE + 0.0 * c[0], below
    for i in range(2 * ring + 1):
        for j in range(2 * ring + 1):
            row = smaller(rows - 2.0, larger(0.0, floor(w) + (i - ring)))
            column = smaller(columns - 2.0, larger(0.0, floor(u) + (j - ring)))
            a, b, e, f = _cell(t, k, one.size, dx, dy, row, column)
            d, n = _nearer(s, k, rank, one.R, c, a, b, f, d, n)
            d, n = _nearer(s, k, rank, one.R, c, a, f, e, d, n)
    near = d < EDGE_DISTANCE_RATIO * smaller(dx, dy)
    n = choose(near, below, choose(deep, _upwards(n), n))
    gap = select(deep, -d, d) - two.size[0]
    if rank > 0:
        gap = select(deep, NO_POINT_GAP + 0.0 * gap, gap)
    gap = select(d < 0.5 * HUGE, gap, NO_POINT_GAP + 0.0 * gap)
    put_point(s, at, gap, add(one.p, rotate(one.R, sub(c, scale(two.size[0], n)))))
    return rotate(one.R, n)


@kernel
def _upwards(n):
    """Return the normal or its opposite, whichever points upwards."""
    return scale(select(n[2] < 0.0, -1.0 + 0.0 * n[2], 1.0 + 0.0 * n[2]), n)


@kernel
def _cell(t, k, size, dx, dy, row, column):
    """Return the corners of a cell: at smallest x and y, then x + dx, then y + dy, then both."""
    at = t.field[k, 0] + row * t.field[k, 2] + column
    x = column * dx - 0.5 * size[0]
    y = row * dy - 0.5 * size[1]
    return (
        (x, y, size[2] * entry(t.heights, at)),
        (x + dx, y, size[2] * entry(t.heights, at + 1.0)),
        (x, y + dy, size[2] * entry(t.heights, at + t.field[k, 2])),
        (x + dx, y + dy, size[2] * entry(t.heights, at + t.field[k, 2] + 1.0)),
    )


@kernel
def _under(t, k, size, dx, dy, u, w):
    """Return the height of the surface at (u, w), in cells, and the normal of the face there."""
    row = smaller(t.field[k, 1] - 2.0, larger(0.0, floor(w)))
    column = smaller(t.field[k, 2] - 2.0, larger(0.0, floor(u)))
    a, b, e, f = _cell(t, k, size, dx, dy, row, column)
    x, y = u - column, w - row
    right = x >= y
    p = select(right, b[2] - a[2], f[2] - e[2])
    q = select(right, f[2] - b[2], e[2] - a[2])
    n = (-p / dx, -q / dy, 1.0 + 0.0 * p)
    return a[2] + x * p + y * q, scale(1.0 / sqrt(dot(n, n)), n)


@kernel
def _nearer(s, k, rank, R, c, p, q, r, d, n):
    """Return distance and normal of the triangle p, q, r where it is nearer than d, else d and n.
    Later ranks take faces only.
    """
    m = cross(sub(q, p), sub(r, p))
    m = scale(1.0 / sqrt(dot(m, m)), m)
    x, y, z = sub(c, p), sub(c, q), sub(c, r)
    over = smaller(
        smaller(dot(m, cross(sub(q, p), x)), dot(m, cross(sub(r, q), y))),
        dot(m, cross(sub(p, r), z)),
    )
    height = dot(m, x)
    if rank > 0:
        taken = _alike(s, k - 1, R, m)
        if rank > 1:
            taken = larger(taken, _alike(s, k - 2, R, m))
        face = smaller(smaller(over, height), SAME_NORMAL_COSINE - taken) >= 0.0
        far = select(face, height, HUGE + 0.0 * d)
        direction = m
    else:
        a, b, e = _to_edge(x, sub(q, p)), _to_edge(y, sub(r, q)), _to_edge(z, sub(p, r))
        g = choose(dot(b, b) < dot(a, a), b, a)
        g = choose(dot(e, e) < dot(g, g), e, g)
        edge = sqrt(dot(g, g))
        face = over >= 0.0
        far = select(face, abs(height), edge)
        direction = choose(face, m, scale(1.0 / nonzero(edge), g))
    better = far < d
    return select(better, far, d), choose(better, direction, n)


@kernel
def _alike(s, k, R, m):
    """Return the cosine of the angle between the normal of pair k and m, in the field's axes."""
    return dot(unrotate(R, (s.axes[k, 0], s.axes[k, 1], s.axes[k, 2])), m)


@kernel
def _to_edge(x, edge):
    """Return the vector from the nearest point of an edge to a point at x from its beginning."""
    share = smaller(1.0, larger(0.0, dot(x, edge) / dot(edge, edge)))
    return sub(x, scale(share, edge))
