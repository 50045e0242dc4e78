"""The features by which polyhedra may touch: what patches say of two bodies, whatever these do,
against the separating axis.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from catena import Pose, Shape
from catena.collision.distance import box_box
from catena.collision.facing_faces import facing, moved, separating_axis
from catena.collision.polyhedra import Polyhedron, _faces, _from_faces, polyhedron
from catena.collision.polyhedron_features import margin, on_second, patch_features
from catena.collision.solids import Solid

# of the size: by so much edges that lie on edges may be missed
EYE = np.eye(3)
SAME = 2e-7


def box(*size: float) -> Polyhedron:
    return polyhedron(Shape("box", size), {})


def hull(points: np.ndarray) -> Polyhedron:
    points = points / np.linalg.norm(points, axis=1)[:, None]  # all of them are corners
    return _from_faces(points, _faces(points, "points"))


def prism(sides: int, size: np.ndarray) -> Polyhedron:
    """Along z: of more sides than a point watches."""
    ring = (
        np.array(
            [
                [np.cos(x), np.sin(x), z]
                for z in (-1, 1)
                for x in np.arange(sides) * 2 * np.pi / sides
            ]
        )
        * size
    )
    return _from_faces(ring, _faces(ring, "prism"))


def some(rng: np.random.Generator) -> Polyhedron:
    kind = rng.integers(3)
    size = rng.uniform(0.2, 2.0, 3)
    return (box(*size), prism(7, size / 2), hull(rng.normal(size=(rng.integers(5, 20), 3))))[kind]


def skew(Q: np.ndarray) -> np.ndarray:
    return 0.5 * np.array([Q[2, 1] - Q[1, 2], Q[0, 2] - Q[2, 0], Q[1, 0] - Q[0, 1]])


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_a_hull_is_closed_and_convex(scale: float) -> None:
    """Euler's formula; no corner outside a face; triangles in one plane are one face."""
    rng = np.random.default_rng(3)
    ring = prism(6, np.ones(3)).corners @ Rotation.random(random_state=rng).as_matrix() * scale
    turned = _from_faces(ring, _faces(ring, "prism"))
    assert sorted(map(len, turned.polygons)) == [4] * 6 + [6] * 2
    for P in (turned, box(1, 2, 3), hull(rng.normal(size=(30, 3)))):
        assert len(P.corners) - len(P.edges) + len(P.polygons) == 2 and P.sides.shape == (
            len(P.edges),
            2,
        )
        assert (P.normals @ P.corners.T - P.offsets[:, None]).max() < 1e-12 * P.radius


def test_the_separation_of_boxes_is_that_of_the_closed_form() -> None:
    """In penetration the depth of `kernels.distance`; apart never more than the distance."""
    rng, seen = np.random.default_rng(0), 0
    for _ in range(60):
        sizes = rng.uniform(0.2, 1.0, (2, 3))
        X = (Rotation.random(random_state=rng).as_matrix(), rng.normal(size=3) * 0.4)
        found, n = separating_axis(moved(box(*sizes[0]), *X), box(*sizes[1]))
        wanted = float(
            box_box(Solid(X[0], X[1], sizes[0]), Solid(EYE, np.zeros(3), sizes[1])).distance
        )
        assert (
            found == pytest.approx(wanted, abs=1e-12) if wanted < 0.0 else found <= wanted + 1e-12
        )
        assert np.linalg.norm(n) == pytest.approx(1.0)
        seen += wanted < 0.0
    assert seen > 10


def test_corners_of_the_overlap() -> None:
    """Corners of either face inside the other, and crossings; of two squares turned by an eighth,
    eight crossings.
    """
    A, B = box(1, 1, 1), box(1, 1, 1)
    kinds = lambda *X: [c.kind for c in facing(moved(A, *X), B).overlap]  # noqa: E731
    assert sorted(kinds(EYE, np.array([0.2, 0.3, 1.0]))) == [
        "corner",
        "crossing",
        "crossing",
        "tip",
    ]
    assert (
        kinds(Rotation.from_euler("z", 45, degrees=True).as_matrix(), np.array([0, 0, 1.0]))
        == ["crossing"] * 8
    )
    assert kinds(EYE, np.array([0.0, 0.0, 1.0])) == ["corner"] * 4
    assert kinds(EYE, np.array([2.0, 0.0, 2.0])) == []


@pytest.mark.parametrize("seed", range(3))
def test_nothing_penetrates_while_the_points_of_a_patch_do_not(seed: int) -> None:
    """Where no point has a negative gap or is off its face, and nothing has moved farther than it
    may, two polyhedra do not penetrate.
    """
    rng = np.random.default_rng(seed)
    looked = 0
    for _ in range(30):
        A, B = some(rng), some(rng)
        size = min(A.radius, B.radius)
        R = (
            Rotation.random(random_state=rng).as_matrix()
            if rng.integers(2)
            else Rotation.from_rotvec(rng.normal(size=3) * 10.0 ** rng.uniform(-8, 0)).as_matrix()
        )
        p = rng.normal(size=3)
        target = rng.choice([0.0, 0.0, 1e-3, 0.05])
        for _ in range(60):
            apart, n = separating_axis(moved(A, R, p), B)
            p = p + (target - apart) * n
        if abs(separating_axis(moved(A, R, p), B)[0] - target) > 1e-12:
            continue
        found = patch_features(A, B, R, p)
        assert min(found.reach) > 0.0 and all(margin(x, R, p) > 0.0 for x in found.points)
        for _ in range(30):
            R2, p2 = _moved_at_random(rng, A, R, p, found, size)
            if _allows(found, A, B, (R, p), (R2, p2)):
                looked += 1
                assert separating_axis(moved(A, R2, p2), B)[0] > -SAME * size
    assert looked > 150


def _moved_at_random(rng, A, R, p, found, size) -> tuple[np.ndarray, np.ndarray]:
    """Another place, on which the deepest point often just touches."""
    much = 10.0 ** rng.uniform(-4, 0.3)
    Q = Rotation.from_rotvec(rng.normal(size=3) * much * rng.integers(2)).as_matrix()
    about = (
        found.places[rng.integers(len(found.points))]
        if found.points and rng.integers(2)
        else R @ A.corners.mean(axis=0) + p
    )
    R2 = Q @ R
    p2 = Q @ (p - about) + about + rng.normal(size=3) * much * rng.integers(2) * size
    for _ in range(4 * bool(found.points)):
        p2 = p2 - min(on_second(x, R2, p2).gap for x in found.points) * found.facing.normal
    return R2, p2


def _allows(found, A, B, before, after) -> bool:
    (R, p), (R2, p2) = before, after
    Q = R2 @ R.T
    far = (
        np.linalg.norm(A.extents @ (R2 - R).T + p2 - p, axis=1).max(),
        np.linalg.norm((B.extents - p2) @ R2 - (B.extents - p) @ R, axis=1).max(),
    )
    still = (
        far[0] < found.reach[0]
        and far[1] < found.reach[1]
        and np.linalg.norm(skew(Q)) < found.turn
        and np.trace(Q) > 1.0
        and abs(found.yaw @ skew(Q)) < 1.0
    )
    return bool(
        still
        and all(
            on_second(x, R2, p2).gap >= -1e-13 and margin(x, R2, p2) > 0.0 for x in found.points
        )
    )


def test_a_corner_that_leaves_a_face_is_none() -> None:
    """At the very edge it is a point of the patch where it moves inward, and not where it moves out
    and down.
    """
    A, B = box(0.2, 0.2, 0.2), box(1, 1, 1)
    R = Rotation.from_euler("y", 0.3).as_matrix()
    p = np.zeros(3)
    # its trailing lower edge lies on the edge of B
    p = np.array([0.5, 0.0, 0.5]) - R @ np.array([-0.1, 0.0, -0.1])
    inward, outward = (
        patch_features(A, B, R, p, np.zeros(3), np.array([x, 0.0, -0.3])) for x in (-1.0, 1.0)
    )
    assert any(
        abs(on_second(x, R, p).gap) < 1e-12 and x.corner and abs(x.first[2]) > 0.9
        for x in inward.points
    )
    assert not any(x.corner and abs(x.first[2]) > 0.9 for x in outward.points)


def test_places_do_not_depend_on_where_a_shape_sits_on_its_body() -> None:
    R = Rotation.from_rotvec([0.1, 0.2, 0.3]).as_matrix()
    p = np.array([0.1, 0.2, 0.75])
    X = Pose.rpy(0.4, 0.5, 0.6, (1.0, 2.0, 3.0))
    moved_shape = polyhedron(Shape("box", (1.0, 1.0, 0.5), X), {})
    Y = np.array(X.rotation), np.array(X.position)
    one = patch_features(box(1, 1, 0.5), box(1, 1, 1), R, p)
    other = patch_features(moved_shape, box(1, 1, 1), R @ Y[0].T, p - R @ Y[0].T @ Y[1])
    assert np.sort(other.places, axis=0) == pytest.approx(
        np.sort(one.places, axis=0), abs=1e-12
    ) and other.reach == pytest.approx(one.reach)
