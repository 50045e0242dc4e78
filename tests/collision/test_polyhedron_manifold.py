"""Where polyhedra, capsules and spheres touch: against boxes, separating axes by brute force,
distances in closed form, clipped polygons; in lanes, in other units.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.optimize import linprog, nnls
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

from catena.collision.distance import box_box, capsule_box, sphere_box
from catena.collision.polyhedra import Polyhedron
from catena.collision.solids import Solid
from catena.model.shapes import Shape
from catena.simulation.stepping.stepped_hulls import hull_of
from catena.simulation.stepping.stepped_patches import PairLayout, SteppedPair


def mesh(folder, name: str, points) -> Shape:
    """The hull of points, written as a file."""
    import trimesh

    hull = trimesh.convex.convex_hull(np.asarray(points))
    file = folder / f"{name}.obj"
    hull.export(file)
    return Shape("mesh", (1.0, 1.0, 1.0), file=str(file))


@pytest.fixture(scope="module")
def shapes(tmp_path_factory) -> dict[str, Shape]:
    folder = tmp_path_factory.mktemp("meshes")
    rng = np.random.default_rng(0)
    ball = rng.standard_normal((14, 3))
    prism = [(np.cos(a), np.sin(a), z) for a in np.arange(6) * np.pi / 3 for z in (-0.5, 0.5)]
    return {
        "box": Shape("box", (0.7, 0.5, 0.9)),
        "brick": mesh(
            folder, "brick", list(itertools.product((-0.35, 0.35), (-0.25, 0.25), (-0.45, 0.45)))
        ),
        "stone": mesh(folder, "stone", 0.5 * ball / np.linalg.norm(ball, axis=1)[:, None]),
        "prism": mesh(folder, "prism", 0.4 * np.array(prism)),
        "wedge": mesh(folder, "wedge", [(0, 0, 0), (0.8, 0, 0), (0, 0.6, 0), (0, 0, 0.7)]),
    }


def layout(kind: str, first: Shape, second: Shape) -> PairLayout:
    return PairLayout((SteppedPair(0, "pair", "a", second, "b", first, kind),))


def pose(shape: Shape, R, p) -> np.ndarray:
    """(16,) of a shape."""
    size = (1.0, 1.0, 1.0) if shape.kind == "mesh" else (*shape.size, 0.0, 0.0)[:3]
    radius = (
        np.linalg.norm(shape.size) / 2
        if shape.kind == "box"
        else (
            np.linalg.norm(hull_of(shape).corners, axis=1).max()
            if shape.kind == "mesh"
            else size[0] + size[1] / 2
        )
    )
    return np.array([*np.ravel(R), *p, *size, radius])


def random_places(
    count: int, spread: float, seed: int, unit: float = 1.0
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    R = Rotation.random(2 * count, random_state=rng).as_matrix()
    return (
        R[:count],
        unit * rng.uniform(-1, 1, (count, 3)),
        R[count:],
        unit * spread * rng.standard_normal((count, 3)),
    )


def found(
    kind: str, first: Shape, second: Shape, places
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Normals (n, 3), gaps (n, k), places (n, k, 3), in lanes."""
    R, p, S, o = places
    rows = np.array(
        [
            np.concatenate([pose(first, R[i], p[i]), pose(second, S[i], p[i] + o[i]), np.zeros(6)])
            for i in range(len(R))
        ]
    )
    seen = layout(kind, first, second).seen(rows)
    return seen.axes[:, 0, 0], seen.gap, seen.place


def solid(shape: Shape, R, p) -> Solid:
    return Solid(
        tuple(tuple(map(float, row)) for row in R),
        tuple(map(float, p)),
        tuple(map(float, shape.size)),
    )


def corners(shape: Shape, R, p) -> np.ndarray:
    size = shape.size if shape.kind == "box" else (1.0, 1.0, 1.0)
    return hull_of(shape).corners * size @ R.T + p


def least_overlap(one: Shape, two: Shape, R, p, S, o) -> float:
    """The largest separation of all axes, by brute force: normals of faces, and all pairs of
    edges.
    """
    x = corners(one, R, p)
    y = corners(two, S, o)
    a, b = hull_of(one), hull_of(two)
    axes = [*(a.normals @ R.T), *-(b.normals @ S.T)]
    for e, f in itertools.product(_directions(a, x), _directions(b, y)):
        n = np.cross(e, f)
        if np.linalg.norm(n) > 1e-9:
            axes += [n / np.linalg.norm(n), -n / np.linalg.norm(n)]
    n = np.array(axes)
    return float(((y @ n.T).min(axis=0) - (x @ n.T).max(axis=0)).max())


def _directions(p: Polyhedron, x: np.ndarray) -> np.ndarray:
    d = x[p.edges[:, 1]] - x[p.edges[:, 0]]
    return d / np.linalg.norm(d, axis=1)[:, None]


PAIRS = [
    ("box", "brick"),
    ("brick", "box"),
    ("stone", "prism"),
    ("wedge", "stone"),
    ("prism", "box"),
]


@pytest.mark.parametrize(("one", "two"), PAIRS)
def test_the_deepest_point_is_as_deep_as_the_least_overlap(shapes, one: str, two: str) -> None:
    places = random_places(60, 0.4, 1)
    n, gap, place = found("polyhedra", shapes[one], shapes[two], places)
    overlapping = 0
    for i in range(60):
        R, p, S, o = (x[i] for x in places)
        want = least_overlap(shapes[one], shapes[two], R, p, S, p + o)
        assert np.linalg.norm(n[i]) == pytest.approx(1.0, abs=1e-12) and np.isfinite(place[i]).all()
        if want < 0.0:
            overlapping += 1
            assert gap[i].min() == pytest.approx(want, abs=1e-7)
            x = corners(shapes[one], R, p)
            y = corners(shapes[two], S, p + o)
            # along the normal, from the first to the second
            assert (y @ n[i]).min() - (x @ n[i]).max() == pytest.approx(want, abs=1e-7)
        else:
            assert gap[i].min() > 0.0
    assert overlapping > 15


def test_a_mesh_of_a_box_is_that_box(shapes) -> None:
    places = random_places(80, 0.45, 2)
    size = Shape("box", (0.7, 0.5, 0.9))
    n, gap, _ = found("polyhedra", shapes["brick"], size, places)
    m, other, _ = found("boxes", size, size, places)
    deep = other.min(axis=1) < 0
    assert (
        deep.sum() > 20
        and gap.min(axis=1)[deep] == pytest.approx(other.min(axis=1)[deep], abs=1e-7)
        and n[deep] == pytest.approx(m[deep], abs=1e-6)
    )
    both = np.isfinite(gap).sum(axis=1), np.isfinite(other).sum(axis=1)
    assert (both[0][deep] == both[1][deep]).mean() > 0.95
    for i in np.flatnonzero(deep)[:20]:
        assert box_box(
            solid(size, places[0][i], places[1][i]),
            solid(size, places[2][i], places[1][i] + places[3][i]),
        ).distance == pytest.approx(gap[i].min(), abs=1e-7)


def test_points_of_parallel_faces_are_the_corners_of_their_intersection(shapes) -> None:
    """A prism stands on a box: six sides and four."""
    rng, n = np.random.default_rng(3), 40
    R = np.tile(np.eye(3), (n, 1, 1))
    S = Rotation.from_euler("z", rng.uniform(0, 2 * np.pi, (n, 1))).as_matrix()
    o = np.column_stack([rng.uniform(-0.4, 0.4, (n, 2)), np.full(n, 0.45 + 0.2 + 1e-3)])
    _, gap, place = found("polyhedra", shapes["box"], shapes["prism"], (R, np.zeros((n, 3)), S, o))
    seen = set()
    for i in range(n):
        hexagon = corners(shapes["prism"], S[i], o[i])
        want = _common(hexagon[np.abs(hexagon[:, 2] - hexagon[:, 2].min()) < 1e-9, :2], 0.35, 0.25)
        there = place[i, np.isfinite(gap[i]), :2]
        assert gap[i, np.isfinite(gap[i])] == pytest.approx(1e-3, abs=1e-12) and len(there) == len(
            want.vertices
        )
        assert ConvexHull(there).volume == pytest.approx(want.volume, abs=2e-7)
        seen.add(len(there))
    assert len(seen) > 2


def _common(polygon: np.ndarray, x: float, y: float) -> ConvexHull:
    """Of a polygon and |x|, |y| below limits: by half-planes."""
    from scipy.spatial import HalfspaceIntersection

    planes = np.vstack(
        [ConvexHull(polygon).equations, [[1, 0, -x], [-1, 0, -x], [0, 1, -y], [0, -1, -y]]]
    )
    size = np.linalg.norm(planes[:, :2], axis=1)[:, None]
    inside = linprog(
        [0, 0, -1],
        np.hstack([planes[:, :2], size]),
        -planes[:, 2],
        bounds=[(None, None), (None, None), (0, None)],
    ).x
    return ConvexHull(HalfspaceIntersection(planes, inside[:2]).intersections, qhull_options="Q12")


# --- spheres and capsules
def nearest(x: np.ndarray, y: np.ndarray) -> float:
    """The distance of two hulls that are apart, as a problem of least squares with weights that add
    up to one.
    """
    big = 1e4
    A = np.vstack(
        [
            np.hstack([x.T, -y.T]),
            np.concatenate([big * np.ones(len(x)), np.zeros(len(y))]),
            np.concatenate([np.zeros(len(x)), big * np.ones(len(y))]),
        ]
    )
    w = nnls(A, np.array([0, 0, 0, big, big]), maxiter=1000)[0]
    a, b = w[: len(x)], w[len(x) :]
    return float(np.linalg.norm(x.T @ a / a.sum() - y.T @ b / b.sum()))


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
def test_a_capsule_and_a_box_have_the_distance_of_the_closed_form(unit: float) -> None:
    box = Shape("box", (0.7 * unit, 0.5 * unit, 0.9 * unit))
    rod = Shape("capsule", (0.15 * unit, 0.6 * unit))
    places = random_places(200, 0.5, 4, unit)
    n, gap, place = found("capsule", box, rod, places)
    for i in range(200):
        R, p, S, o = (x[i] for x in places)
        want = capsule_box(solid(rod, S, p + o), solid(box, R, p))
        assert gap[i].min() / unit == pytest.approx(want.distance / unit, abs=2e-8), i
        if want.distance > -0.14 * unit and want.distance != gap[i, :2].min():
            assert n[i] == pytest.approx(-np.array(want.normal), abs=1e-6)
            assert np.linalg.norm(place[i, gap[i].argmin()] - want.a) < 2e-7 * unit
    assert (gap.min(axis=1) < 0).sum() > 30


def test_spheres_and_a_mesh(shapes) -> None:
    """Of a brick as of the box; of a stone by least squares."""
    ball = Shape("sphere", (0.1,))
    places = random_places(120, 0.6, 5)
    n, gap, _ = found("sphere", shapes["brick"], ball, places)
    for i in range(120):
        want = sphere_box(
            solid(ball, places[2][i], places[1][i] + places[3][i]),
            solid(Shape("box", (0.7, 0.5, 0.9)), places[0][i], places[1][i]),
        )
        assert gap[i, 0] == pytest.approx(want.distance, abs=1e-9) and n[i] == pytest.approx(
            -np.array(want.normal), abs=1e-7
        )
    _, gap, _ = found("sphere", shapes["stone"], ball, places)
    for i in np.flatnonzero(gap[:, 0] > -0.09):
        x = corners(shapes["stone"], places[0][i], places[1][i])
        assert gap[i, 0] + 0.1 == pytest.approx(
            nearest(x, (places[1][i] + places[3][i])[None]), abs=1e-6
        )


@pytest.mark.parametrize("name", ["stone", "prism", "wedge"])
def test_capsules_and_meshes(shapes, name: str) -> None:
    rod = Shape("capsule", (0.15, 0.6))
    places = random_places(100, 0.7, 6)
    _, gap, _ = found("capsule", shapes[name], rod, places)
    for i in np.flatnonzero(gap.min(axis=1) > -0.14):
        R, p, S, o = (x[i] for x in places)
        x = corners(shapes[name], R, p)
        y = p + o + np.array([[-0.3], [0.3]]) * S[:, 2]
        assert gap[i].min() + 0.15 == pytest.approx(nearest(x, y), abs=1e-6)


def test_a_capsule_that_lies_flat_has_two_points() -> None:
    """Where its axis lies over the face, whether it ends there or not."""
    box = Shape("box", (0.7, 0.5, 0.9))
    rod = Shape("capsule", (0.1, 0.6))
    lying = Rotation.from_euler("y", np.pi / 2).as_matrix()
    for shift, ends in ((0.0, (-0.3, 0.3)), (0.2, (-0.1, 0.35)), (-0.5, (-0.35, -0.2))):
        for tilt in (0.0, 1e-13, -1e-13):
            turned = Rotation.from_euler("y", tilt).as_matrix() @ lying
            n, gap, place = found(
                "capsule",
                box,
                rod,
                (
                    np.eye(3)[None],
                    np.zeros((1, 3)),
                    turned[None],
                    np.array([[shift, 0.05, 0.45 + 0.1 + 1e-4]]),
                ),
            )
            there = np.isfinite(gap[0])
            assert (
                there.sum() == 2
                and sorted(place[0, there, 0]) == pytest.approx(ends, abs=1e-6)
                and gap[0, there] == pytest.approx(1e-4, abs=1e-9)
            )
            assert n[0] == pytest.approx([0, 0, 1], abs=1e-9)
