"""The points where two boxes touch: against separating axes, clipped polygons, finite differences,
and in lanes.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

from catena.collision.distance import box_box
from catena.collision.manifolds.boxes import POINTS, box_manifold
from catena.collision.solids import Solid
from catena.model.shapes import Shape
from catena.simulation.stepping.stepped_patches import PairLayout, SteppedPair


def solid(R, p, size) -> Solid:
    return Solid(
        tuple(tuple(float(x) for x in row) for row in R),
        tuple(float(x) for x in p),
        tuple(float(x) for x in size),
    )


def random_pair(rng, spread: float, unit: float = 1.0) -> tuple[Solid, Solid]:
    one, two = Rotation.random(2, random_state=rng).as_matrix()
    return (
        solid(one, unit * rng.uniform(-1, 1, 3), unit * rng.uniform(0.3, 1.0, 3)),
        solid(two, unit * spread * rng.standard_normal(3), unit * rng.uniform(0.3, 1.0, 3)),
    )


def found(one: Solid, two: Solid) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Normal, gaps (12,), places (12, 3)."""
    n, points = box_manifold(one, two)
    flat = [point for group in points for point in group]
    return np.array(n), np.array([gap for gap, _ in flat]), np.array([place for _, place in flat])


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
def test_the_deepest_point_is_as_deep_as_the_least_overlap(unit: float) -> None:
    rng = np.random.default_rng(0)
    overlapping = 0
    apart = 0
    for _ in range(600):
        one, two = random_pair(rng, 0.4, unit)
        distance, (n, gap, place) = box_box(one, two).distance, found(one, two)
        there = np.isfinite(gap)
        assert (
            np.linalg.norm(n) == pytest.approx(1.0, abs=1e-12)
            and there.sum() <= 8
            and np.isfinite(place).all()
        )
        if distance < 0.0:
            overlapping += 1
            # axes that differ by less are alike
            assert gap.min() == pytest.approx(distance, abs=1e-7 * unit)
        else:
            apart += 1
            assert gap.min() > 0.0
    assert overlapping > 150 and apart > 150


def clipped(polygon: np.ndarray, size) -> np.ndarray:
    """A convex polygon within |x| <= size_x/2, |y| <= size_y/2, one side after another."""
    for k, sign in ((0, 1), (0, -1), (1, 1), (1, -1)):
        limit, kept = size[k] / 2, []
        for a, b in zip(polygon, np.roll(polygon, -1, axis=0)):
            u = limit - sign * a[k]
            v = limit - sign * b[k]
            if u >= 0:
                kept.append(a)
            if u * v < 0:
                kept.append(a + u / (u - v) * (b - a))
        polygon = np.array(kept).reshape(-1, 2)
    return polygon


def test_points_of_parallel_faces_are_the_corners_of_their_intersection() -> None:
    rng = np.random.default_rng(1)
    seen = set()
    for _ in range(300):
        a = rng.uniform(0.4, 1.2, 3)
        b = rng.uniform(0.4, 1.2, 3)
        shift = rng.uniform(-0.5, 0.5, 2)
        turn = rng.uniform(0, 2 * np.pi)
        R = Rotation.from_euler("z", turn).as_matrix()
        _, gap, place = found(
            solid(np.eye(3), (0, 0, 0), a), solid(R, (*shift, (a[2] + b[2]) / 2 + 1e-3), b)
        )
        corners = shift + np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * b[:2] / 2 @ R[:2, :2].T
        want = clipped(corners, a)
        there = place[np.isfinite(gap), :2]
        if len(want) < 3:
            continue
        assert gap[np.isfinite(gap)] == pytest.approx(1e-3, abs=1e-12) and len(there) == len(want)
        # sides count as flush within 1e-8 of the sizes
        assert ConvexHull(there).volume == pytest.approx(ConvexHull(want).volume, abs=2e-7)
        seen.add(len(want))
    assert seen >= {3, 4, 5, 6, 7}


def test_faces_that_are_flush_have_four_points() -> None:
    """Equal boxes one on another, with sides and corners in common to rounding."""
    rng = np.random.default_rng(2)
    for _ in range(50):
        R = Rotation.random(random_state=rng).as_matrix()
        p = rng.uniform(-5, 5, 3)
        _, gap, _ = found(
            solid(R, p, (1, 0.7, 0.4)),
            solid(R, p + R @ [0, 0, 0.4] + 1e-13 * rng.standard_normal(3), (1, 0.7, 0.4)),
        )
        assert np.isfinite(gap).sum() == 4 and np.abs(gap[np.isfinite(gap)]).max() < 1e-11


def test_gaps_change_with_the_normal_speed_of_their_points() -> None:
    """Corners of the incident face and crossings, by finite differences."""
    rng = np.random.default_rng(3)
    h = 1e-6
    corners = 0
    crossings = 0
    for _ in range(400):
        one, two = random_pair(rng, 0.55)
        w, v = rng.standard_normal((2, 3))
        n, gap, place = found(one, two)
        moved = []
        for s in (-h, h):
            turned = Rotation.from_rotvec(s * w).as_matrix() @ np.array(two.R)
            moved.append(found(one, solid(turned, np.array(two.p) + s * v, two.size)))
        alone = np.isfinite(gap).sum() == 1
        for i in np.flatnonzero(np.isfinite(gap)):
            tip = min(_to_corner(one, place[i]), _to_corner(two, place[i])) < 1e-9 and i < 4
            if not (tip or alone) or any(np.abs(m[0] - n).max() > 20 * h for m in moved):
                continue
            rate = (moved[1][1][i] - moved[0][1][i]) / (2 * h)
            u = v + np.cross(w, place[i] - np.array(two.p))
            assert rate == pytest.approx(n @ u, abs=1e-5)
            corners = corners + tip
            crossings = crossings + (not tip)
    assert corners > 100 and crossings > 30


def _to_corner(s: Solid, x: np.ndarray) -> float:
    """From a point to the nearest corner of a box."""
    y = np.abs(np.array(s.R).T @ (x - np.array(s.p))) - np.array(s.size) / 2
    return float(np.linalg.norm(y))


def test_either_box_may_be_the_first() -> None:
    rng = np.random.default_rng(4)
    for _ in range(100):
        one, two = random_pair(rng, 0.6)
        (n, gap, _), (m, other, _) = found(one, two), found(two, one)
        assert n == pytest.approx(-m, abs=1e-9) and gap.min() == pytest.approx(
            other.min(), abs=1e-9
        )


def test_lanes_have_the_same_points() -> None:
    rng = np.random.default_rng(5)
    pairs = [[random_pair(rng, 0.6) for _ in range(3)] for _ in range(11)]
    pose = np.array(
        [
            [
                [
                    x
                    for s in pair
                    for part in (*s.R, s.p, s.size, [np.linalg.norm(s.size) / 2])
                    for x in part
                ]
                for pair in row
            ]
            for row in pairs
        ]
    )
    twist = rng.standard_normal((11, 3, 6))
    unit = Shape("box", (1.0, 1.0, 1.0))
    layout = PairLayout(
        tuple(SteppedPair(0, f"pair {k}", "a", unit, "b", unit, "boxes") for k in range(3))
    )
    seen = layout.seen(np.concatenate([pose.reshape(11, -1), twist.reshape(11, -1)], axis=1))
    for k, row in enumerate(pairs):
        for j, pair in enumerate(row):
            n, gap, place = found(*pair)
            own = slice(POINTS * j, POINTS * (j + 1))
            there = np.isfinite(gap)
            assert np.array_equal(np.isfinite(seen.gap[k, own]), there) and seen.gap[k, own][
                there
            ] == pytest.approx(gap[there], abs=1e-12)
            assert seen.place[k, own] == pytest.approx(place, abs=1e-12) and seen.axes[
                k, own, 0
            ] == pytest.approx(np.tile(n, (POINTS, 1)), abs=1e-12)
            u = twist[k, j, 3:] + np.cross(twist[k, j, :3], place - np.array(pair[1].p))
            assert seen.speed[k, own] == pytest.approx(
                np.einsum("ka,kra->kr", u, seen.axes[k, own]), abs=1e-12
            )
