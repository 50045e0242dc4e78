"""Signed distances in closed form, each with its proof: nearest points that lie in the shapes, and
a plane that keeps them apart.

With h the support function, gap(n) = n . (p_B - p_A) - h_A(n) - h_B(-n) is at most the signed
distance for every unit n. So d is right where gap(n) = d and two points of the shapes are d n
apart; and, of an overlap, where no direction has a larger gap.
"""

from __future__ import annotations

import coal
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from catena.collision import Solid, proximity
from solids import COAL, PAIRS, SIZES, asked, gap, outside, support

N = 300
RNG = np.random.default_rng(3)
WAYS = (lambda x: x / np.linalg.norm(x, axis=1, keepdims=True))(RNG.standard_normal((400, 3)))


def places(n=N, spread=0.45, seed=0):
    rng = np.random.default_rng(seed)
    return [Rotation.random(n, random_state=seed + k).as_matrix() for k in range(2)], [
        spread * rng.standard_normal((n, 3)) for _ in range(2)
    ]


def prove(kinds, sizes, R, p, tolerance=1e-12):
    d, a, b, n = asked(kinds, sizes, R, p)
    assert np.abs(np.linalg.norm(n, axis=1) - 1).max() < 1e-13
    # the direction of what is d apart, by rounding
    vague = np.where(d > 0, 4e-16 / np.maximum(np.abs(d), 1e-12), 0.0)
    assert (np.abs(gap(kinds, sizes, R, p, n) - d) < tolerance + vague).all()
    for k, x in enumerate((a, b)):
        own = np.einsum("bji,bj->bi", R[k], x - p[k])
        assert np.abs(outside(kinds[k], sizes[k], own)).max() < 10 * tolerance, (
            "the nearest points are on the surfaces"
        )
    if "plane" not in kinds:
        assert (gap(kinds, sizes, R, p, WAYS[:, None, :]) <= d + tolerance).all(), (
            "no other direction parts them sooner"
        )
    return d, a, b, n


@pytest.mark.parametrize("kinds", PAIRS, ids="-".join)
def test_random_pairs_are_proved(kinds):
    sizes, (R, p) = [SIZES[k] for k in kinds], places()
    d, *_ = prove(kinds, sizes, R, p)
    assert (d > 0).sum() > 20 and (d < 0).sum() > 20


@pytest.mark.parametrize("kinds", PAIRS, ids="-".join)
def test_pairs_against_coal(kinds):
    """A second library: distances to its tolerance; of overlaps Coal's is never the shorter
    translation.
    """
    sizes, (R, p) = [SIZES[k] for k in kinds], places(80, seed=7)
    d, _, _, n = asked(kinds, sizes, R, p)
    request = coal.DistanceRequest(True, True)
    shapes = [COAL[k](*s) for k, s in zip(kinds, sizes)]
    for i in range(len(d)):
        result = coal.DistanceResult()
        theirs = coal.distance(
            shapes[0],
            coal.Transform3s(R[0][i], p[0][i]),
            shapes[1],
            coal.Transform3s(R[1][i], p[1][i]),
            request,
            result,
        )
        assert d[i] > theirs - 1e-5
        if d[i] > 0:
            assert abs(d[i] - theirs) < 1e-5 and n[i] @ result.normal > 1 - 1e-3


@pytest.mark.parametrize("kinds", PAIRS, ids="-".join)
def test_exchange_rotation_and_scale(kinds):
    """Symmetric under exchange, objective under a motion of both, and the same across twelve orders
    of magnitude.
    """
    sizes, (R, p) = [SIZES[k] for k in kinds], places(60, seed=11)
    d, a, b, n = asked(kinds, sizes, R, p)
    D, A, B, M = asked(kinds[::-1], sizes[::-1], R[::-1], p[::-1])
    assert np.abs(D - d).max() < 1e-14
    if kinds[0] != kinds[1]:
        assert np.abs(np.stack([A - b, B - a, M + n])).max() < 1e-14
    Q = Rotation.from_rotvec([0.3, -1.2, 0.7]).as_matrix()
    t = np.array([0.2, -0.5, 1.1])
    D, A, _, M = asked(kinds, sizes, [Q @ x for x in R], [x @ Q.T + t for x in p])
    assert (
        np.abs(D - d).max() < 1e-12
        and np.abs(A - (a @ Q.T + t)).max() < 1e-9
        and np.abs(M - n @ Q.T).max() < 1e-9
    )
    for k in (1e-6, 1e6):
        D, A, _, M = asked(kinds, [[k * x for x in s] for s in sizes], R, [k * x for x in p])
        assert (
            np.abs(D / k - d).max() < 1e-12
            and np.abs(A / k - a).max() < 1e-9
            and np.abs(M - n).max() < 1e-9
        )


PARALLEL = [
    ((0.0, 0.0, 0.0), "concentric"),
    ((0.0, 0.0, 2.0), "in line"),
    ((0.31, 0.0, 0.0), "side by side"),
    ((0.5, 0.0, 0.3), "beside"),
    ((0.4, 0.6, 0.9), "corner on corner"),
    ((0.0, 0.0, 0.85), "end on end"),
    ((1e-9, 0.0, 0.0), "nearly concentric"),
]


@pytest.mark.parametrize("kinds", [k for k in PAIRS if k[0] != "plane"], ids="-".join)
def test_what_is_parallel_touching_or_concentric(kinds):
    """Degenerate places have an answer with its proof too: along axes, with turns of 0, 90 and
    nearly 0 degrees.
    """
    turns = Rotation.from_euler(
        "xyz",
        [[0, 0, 0], [90, 0, 0], [0, 90, 0], [45, 0, 0], [1e-7, 0, 0], [180, 0, 0]],
        degrees=True,
    ).as_matrix()
    at = [(R, np.array(x)) for R in turns for x, _ in PARALLEL]
    R = [np.tile(np.eye(3), (len(at), 1, 1)), np.array([x for x, _ in at])]
    prove(
        kinds,
        [SIZES[k] for k in kinds],
        R,
        [np.zeros((len(at), 3)), np.array([x for _, x in at])],
        tolerance=2e-9,
    )


def test_shapes_that_lie_on_a_plane():
    """A face, an edge or an axis that lies flat touches in its middle."""
    low = -np.array([0.0, 0.0, 0.45])
    for kind, size in SIZES.items():
        if kind != "plane":
            R = [np.eye(3)[None], np.eye(3)[None]]
            d, _, b, n = asked(
                ("plane", kind), [(), size], R, [np.zeros((1, 3)), np.array([[0.0, 0.0, 2.0]])]
            )
            h = support(kind, size, np.array([0.0, 0.0, -1.0]))
            assert (
                d[0] == pytest.approx(2.0 - h)
                and np.abs(n - [0, 0, 1]).max() == 0
                and np.abs(b[0] - [0, 0, 2.0 - h]).max() < 1e-15
            ), low


def test_plain_numbers_are_a_life_too():
    """The same functions called with floats give what the tape gives."""
    R, p = places(5, seed=2)
    for kinds in PAIRS:
        sizes = [SIZES[k] for k in kinds]
        d, a, _, n = asked(kinds, sizes, R, p)
        for i in range(5):
            one = proximity(
                kinds,
                *(
                    Solid(tuple(map(tuple, R[k][i].tolist())), tuple(p[k][i].tolist()), sizes[k])
                    for k in range(2)
                ),
            )
            assert one.distance == pytest.approx(d[i], abs=1e-14)
            assert (
                np.abs(np.array(one.a) - a[i]).max() < 1e-12
                and np.abs(np.array(one.normal) - n[i]).max() < 1e-12
            )


ROUND = {
    "sphere": (0.3,),
    "capsule": (0.3, 0.4),
    "box": (0.3, 0.3, 0.4),
    "cylinder": (0.3, 0.4),
    "ellipsoid": (0.4, 0.3, 0.2),
}


@pytest.mark.parametrize("kind", ROUND)
def test_derivatives_on_axes_and_planes_of_symmetry(kind):
    """A ball exactly above the middle of a surface, or on a plane of symmetry: gap and normal
    change as differences say.
    """
    import casadi as ca

    upright = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    p = ca.SX.sym("p", 3)
    h = 1e-5
    found = proximity(
        (kind, "sphere"),
        Solid(upright, (0.0, 0.0, 0.0), ROUND[kind]),
        Solid(upright, (p[0], p[1], p[2]), (0.1,)),
    )
    value = ca.vertcat(found.distance, *found.normal)
    f = ca.Function("f", [p], [value])
    J = ca.Function("J", [p], [ca.jacobian(value, p)])
    for x in np.array(
        [[0, 0, 0.9], [0.9, 0, 0], [0, 0.9, 0], [0, 0, -0.9], [0.9, 0.2, 0], [0.05, 0, 0.9]], float
    ):
        differences = np.column_stack(
            [np.array(f(x + h * e) - f(x - h * e)) / (2 * h) for e in np.eye(3)]
        )
        np.testing.assert_allclose(np.array(J(x)), differences, atol=1e-8)
