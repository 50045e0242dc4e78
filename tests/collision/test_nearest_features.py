"""Nearest features of cylinders, ellipsoids and other convex shapes: distance and normal by
duality, wherever they are and however thin.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from catena import Shape
from catena.collision.nearest_features import PairFeatures, pair_features
from catena.collision.nearest_normal import farthest_apart
from catena.collision.polyhedra import _faces, _from_faces
from catena.collision.support_features import SupportShape, _of_polyhedron, support_shape
from catena.collision.support_pairs import SupportMeet, SupportPair

KINDS = [("ellipsoid", k) for k in ("ellipsoid", "capsule", "cylinder", "box", "prism")] + [
    ("cylinder", k) for k in ("capsule", "cylinder", "box", "prism")
]
EYE = np.eye(3)


def thin(rng: np.random.Generator) -> float:
    return (
        float(10.0 ** rng.uniform(-2.0, 0.0))
        if rng.random() < 0.3
        else float(rng.uniform(0.3, 1.0))
    )


def some(
    kind: str, rng: np.random.Generator, scale: float = 1.0
) -> tuple[SupportShape, tuple[float, ...]]:
    """A shape, and its sizes; needles and discs among them. A prism stands for meshes: its corners
    have three edges, its faces seven sides.
    """
    size = tuple(scale * thin(rng) for _ in range({"capsule": 2, "cylinder": 2}.get(kind, 3)))
    if kind != "prism":
        return support_shape(Shape(kind, size), {}), size
    ring = (
        np.array([[np.cos(x), np.sin(x), z] for z in (-1, 1) for x in np.arange(7) * 2 * np.pi / 7])
        * size
    )
    return _of_polyhedron(_from_faces(ring, _faces(ring, "prism"))), size


def farthest(kind: str, size: tuple[float, ...], n: np.ndarray) -> float:
    """The support function, as a book has it."""
    across = np.hypot(n[0], n[1])
    if kind == "ellipsoid":
        return float(np.linalg.norm(size * n))
    if kind == "capsule":
        return size[0] + abs(n[2]) * size[1] / 2
    if kind == "cylinder":
        return size[0] * across + abs(n[2]) * size[1] / 2
    if kind == "box":
        return float(np.abs(n) @ size) / 2
    turns = np.arange(7) * 2 * np.pi / 7
    return float(
        (size[0] * n[0] * np.cos(turns) + size[1] * n[1] * np.sin(turns)).max()
        + size[2] * abs(n[2])
    )


def outside(kind: str, size: tuple[float, ...], x: np.ndarray) -> float:
    """How far a point is out of a shape along some direction, beside its half axes; nothing of a
    point of it.
    """
    along = np.hypot(x[0], x[1])
    if kind == "ellipsoid":
        return float(np.linalg.norm(x / size)) - 1.0
    if kind == "capsule":
        return float(np.hypot(along, max(abs(x[2]) - size[1] / 2, 0.0))) / size[0] - 1.0
    if kind == "cylinder":
        return max(along / size[0], abs(x[2]) / size[1] * 2) - 1.0
    if kind == "box":
        return float((2 * np.abs(x) / size).max()) - 1.0
    middles = (np.arange(7) + 0.5) * 2 * np.pi / 7
    return max(
        float((x[0] / size[0] * np.cos(middles) + x[1] / size[1] * np.sin(middles)).max())
        - np.cos(np.pi / 7),
        abs(x[2]) / size[2] - 1.0,
    )


def apart(A: SupportShape, B: SupportShape, R: np.ndarray, u: np.ndarray, d: float) -> np.ndarray:
    """p, so that A is d away from B along u."""
    return u * (d + u @ B.support(u) - u @ R @ A.support(-R.T @ u))


def nearest(found: PairFeatures, R: np.ndarray, p: np.ndarray) -> tuple[SupportPair, SupportMeet]:
    return min(((x.pair, x.placed(R, p)) for x in found.points), key=lambda pair: pair[1].gap)


@pytest.mark.parametrize(("first", "second"), KINDS)
@pytest.mark.parametrize("scale", [1.0, 1e-6, 1e6])
def test_gap_normal_and_places_are_those_of_the_nearest_points(
    first: str, second: str, scale: float
) -> None:
    """A proof for each: points a of A and b of B are a distance apart that no points are nearer
    than, for planes across n part the shapes by as much.
    """
    rng = np.random.default_rng(len(first + second))
    seen = 0
    for _ in range(16 if scale == 1.0 else 4):
        (A, one), (B, other) = some(first, rng, scale), some(second, rng, scale)
        R = Rotation.random(random_state=rng).as_matrix()
        u = rng.normal(size=3)
        size = min(A.radius, B.radius)
        p = apart(A, B, R, u / np.linalg.norm(u), 0.01 * size)
        found = pair_features(A, B, R, p)
        if not found.points:
            assert found.separation > 0.5 * size  # far away
            continue
        _, meet = nearest(found, R, p)
        n = np.array(meet.axes[0])
        a = np.array(meet.place)
        b = a - meet.gap * n
        assert abs(
            -farthest(first, one, R.T @ n) + n @ p - farthest(second, other, n) - meet.gap
        ) < 1e-12 * max(A.radius, B.radius)
        assert np.linalg.norm(n) == pytest.approx(1.0, abs=1e-14) and meet.margin > 0.0
        assert outside(first, one, R.T @ (a - p)) < 1e-10 and outside(second, other, b) < 1e-10
        seen += 1
    assert seen > 2


@pytest.mark.parametrize(("first", "second"), KINDS)
def test_they_are_found_where_shapes_touch_and_hold_until_the_margin_says_otherwise(
    first: str, second: str
) -> None:
    """Moved along the normal to a gap of any size or sign the nearest features stay the nearest;
    turned and shifted, gap and normal are exact while the margin is above zero.
    """
    rng = np.random.default_rng(3 + len(first + second))
    seen = 0
    for _ in range(6):
        (A, _), (B, _) = some(first, rng), some(second, rng)
        R = Rotation.random(random_state=rng).as_matrix()
        u = rng.normal(size=3)
        size = min(A.radius, B.radius)
        p = apart(A, B, R, u / np.linalg.norm(u), 0.01 * size)
        start = pair_features(A, B, R, p)
        if not start.points:
            continue
        d = float(rng.choice([-1e-9, -1e-11, 0.0, 1e-13, 1e-9, 1e-6, 1e-3])) * size
        p = p + (d - start.separation) * start.normal
        found = pair_features(A, B, R, p)
        assert found.points and found.separation == pytest.approx(
            d, abs=1e-12 * max(A.radius, B.radius)
        )
        pair, _ = nearest(found, R, p)
        for small in (0.2, 0.05, 0.01, 1e-3):
            S = Rotation.from_rotvec(rng.normal(size=3) * small).as_matrix() @ R
            q = p + rng.normal(size=3) * small * size
            meet = found.points[0]._replace(pair=pair).placed(S, q)
            if meet.margin <= 0.0 or meet.gap < -1e-3 * size or len(found.points) == 2:
                continue
            n = np.array(meet.axes[0])
            assert abs(n @ (S @ A.support(-S.T @ n) + q - B.support(n)) - meet.gap) < 1e-12 * max(
                A.radius, B.radius
            )
            if pair.free[0]:
                Q = [np.reshape(x, (3, 3)).T for x in (pair.Q_a, pair.Q_b)]
                exact = farthest_apart(
                    S @ pair.p_a + q - pair.p_b, S @ Q[0], Q[1], n, S @ pair.l_a + pair.l_b
                )
                assert n == pytest.approx(exact, abs=1e-9)
            seen += 1
    assert seen > 2


def test_distances_are_those_of_a_peer() -> None:
    """MuJoCo's convex solver, at its own accuracy."""
    mujoco = pytest.importorskip("mujoco")
    rng = np.random.default_rng(0)
    words = {
        "ellipsoid": lambda s: s,
        "capsule": lambda s: (s[0], s[1] / 2, 0),
        "cylinder": lambda s: (s[0], s[1] / 2, 0),
        "box": lambda s: tuple(x / 2 for x in s),
    }
    for first, second in KINDS:
        if second == "prism":
            continue
        (A, one), (B, other) = some(first, rng), some(second, rng)
        R = Rotation.random(random_state=rng)
        u = rng.normal(size=3)
        p = apart(A, B, R.as_matrix(), u / np.linalg.norm(u), 0.05 * min(A.radius, B.radius))
        spec = mujoco.MjSpec()
        spec.option.ccd_tolerance = 1e-10
        spec.option.ccd_iterations = 200
        for k, (kind, size) in enumerate(((first, one), (second, other))):
            spec.worldbody.add_geom(
                type=getattr(mujoco.mjtGeom, f"mjGEOM_{kind.upper()}"),
                size=words[kind](size),
                pos=p if k == 0 else np.zeros(3),
                quat=R.as_quat(scalar_first=True) if k == 0 else [1, 0, 0, 0],
            )
        model = spec.compile()
        data = mujoco.MjData(model)
        mujoco.mj_forward(model, data)
        wanted = mujoco.mj_geomDistance(model, data, 0, 1, 1e3, np.zeros(6))
        assert pair_features(A, B, R.as_matrix(), p).separation == pytest.approx(wanted, abs=1e-7)


def test_a_cylinder_on_a_face_has_both_ends_of_what_is_over_it() -> None:
    """Rims on the face; the side across an edge where it hangs over; one point where it leans."""
    roller = support_shape(Shape("cylinder", (0.1, 0.6)), {})
    table = support_shape(Shape("box", (1.0, 1.0, 0.2)), {})
    lying = Rotation.from_euler("y", 90, degrees=True).as_matrix()
    places = lambda R, x: pair_features(roller, table, R, np.array([x, 0.1, 0.2])).places  # noqa: E731
    assert np.sort(places(lying, 0.1)[:, 0]) == pytest.approx([-0.2, 0.4], abs=1e-12)
    # beyond x = 0.5 there is no table
    assert np.sort(places(lying, 0.4)[:, 0]) == pytest.approx([0.1, 0.5], abs=1e-12)
    assert np.sort(places(lying, -0.4)[:, 0]) == pytest.approx([-0.5, -0.1], abs=1e-12)
    leans = Rotation.from_euler("y", 60, degrees=True).as_matrix()
    assert len(pair_features(roller, table, leans, np.array([0.0, 0.0, 0.4])).points) == 1
    # seen from the roller
    other = pair_features(table, roller, lying.T, -lying.T @ np.array([0.4, 0.1, 0.2]))
    assert np.sort((other.places @ lying.T)[:, 0] + 0.4) == pytest.approx(
        [0.1, 0.5], abs=1e-12
    ) and other.separation == pytest.approx(0.0, abs=1e-15)


def test_lines_along_each_other_have_the_ends_of_what_they_share() -> None:
    """Two cylinders, a capsule on a cylinder, a cylinder on the edge of a box; crossed by a little
    they have one point.
    """
    roller = support_shape(Shape("cylinder", (0.1, 0.6)), {})
    edge = (
        Rotation.from_euler("z", 45, degrees=True).as_matrix()
        @ Rotation.from_euler("y", 90, degrees=True).as_matrix()
    )
    for shape, R, p in (
        ("cylinder", EYE, (0.2, 0.0, 0.25)),
        ("capsule", EYE, (0.2, 0.0, 0.25)),
        ("box", edge, (0.1 + 0.05 * np.sqrt(2), 0.0, 0.25)),
    ):
        other = support_shape(Shape(shape, {"box": (0.6, 0.1, 0.1)}.get(shape, (0.1, 0.6))), {})
        found = pair_features(other, roller, R, np.array(p))
        assert found.separation == pytest.approx(0.0, abs=1e-15) and np.sort(
            found.places[:, 2]
        ) == pytest.approx([-0.05, 0.3], abs=1e-12)
        assert (
            len(
                pair_features(
                    other, roller, Rotation.from_euler("x", 1e-3).as_matrix() @ R, np.array(p)
                ).points
            )
            == 1
        )


def test_a_flat_end_over_a_face_has_no_points_until_it_touches() -> None:
    can = support_shape(Shape("cylinder", (0.1, 0.2)), {})
    table = support_shape(Shape("box", (1.0, 1.0, 0.2)), {})
    above, on = (pair_features(can, table, EYE, np.array([0.0, 0.0, z])) for z in (0.21, 0.2))
    assert not above.points and above.reach[0] == pytest.approx(0.005) and not above.flat
    assert on.flat and not on.points and on.separation == pytest.approx(0.0, abs=1e-12)


def test_depth_is_that_of_the_shortest_way_out() -> None:
    """Of shapes that are deep in each other: what parts them, to tell a start in penetration by."""
    table = support_shape(Shape("box", (1.0, 1.0, 0.2)), {})
    ball = support_shape(Shape("ellipsoid", (0.1, 0.1, 0.1)), {})
    assert pair_features(ball, table, EYE, np.array([0.2, 0.1, 0.15])).separation == pytest.approx(
        -0.05, abs=1e-9
    )
    assert pair_features(ball, table, EYE, np.array([0.55, 0.1, 0.02])).separation == pytest.approx(
        -0.05, abs=1e-9
    )
