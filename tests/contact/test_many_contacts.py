"""Modes of more contacts at one instant than are enumerated: every answer is one, and the only one
where there is but one.
"""

from __future__ import annotations

import numpy as np
import pytest

from catena.contact import modes as contact_modes
from catena.contact.impact_laws import blow
from catena.contact.modes import MAX_ENUMERATED_CONTACTS, Friction, Solution, solutions
from catena.contact.splitting import split


def problem(seed: int, k: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """G and b of k contacts on n speeds."""
    random = np.random.default_rng(seed)
    J = random.normal(size=(3 * k, n))
    L = random.normal(size=(n, n))
    return J @ np.linalg.inv(L @ L.T + n * np.eye(n)) @ J.T, J @ random.normal(size=n)


def corners(points: np.ndarray, mass: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """J (3 k, 6) of points of one body above a plane, and the inverse of its inertia."""
    J = np.zeros((3 * len(points), 6))
    for i, r in enumerate(points):
        for j, axis in enumerate(np.eye(3)[[2, 0, 1]]):  # normal, two tangents
            J[3 * i + j] = [*axis, *np.cross(r, axis)]
    return J, np.diag([1 / mass] * 3 + [12 / mass] * 3)


def stack(boxes: int) -> tuple[np.ndarray, np.ndarray]:
    """G and b of boxes of 1 m, one on the other, each on four corners: their weights."""
    feet = np.array([(x, y, -0.5) for x, y in ((0.5, 0.5), (-0.5, 0.5), (-0.5, -0.5), (0.5, -0.5))])
    own, W = corners(feet)
    below = corners(feet + [0, 0, 1.0])[0]
    J = np.zeros((12 * boxes, 6 * boxes))
    for i in range(boxes):
        J[12 * i : 12 * i + 12, 6 * i : 6 * i + 6] = own
        if i:
            J[12 * i : 12 * i + 12, 6 * i - 6 : 6 * i] = -below
    return J @ np.kron(np.eye(boxes), W) @ J.T, J @ np.tile([0, 0, -9.81, 0, 0, 0], boxes)


def keeps_the_laws(one: Solution, G: np.ndarray, b: np.ndarray, mu: np.ndarray) -> None:
    """By the laws alone, without a look at modes."""
    a = G @ one.force + b
    f = one.force.reshape(-1, 3)
    fast = np.abs(b).max()
    strong = np.abs(f).max() or 1.0
    rate = a[::3]
    slip = a.reshape(-1, 3)[:, 1:]
    assert (
        (f[:, 0] >= -1e-9 * strong).all()
        and (rate >= -1e-9 * fast).all()
        and np.abs(f[:, 0] * rate).max() <= 1e-9 * strong * fast
    )
    drag = np.linalg.norm(f[:, 1:], axis=1)
    speed = np.linalg.norm(slip, axis=1)
    assert (drag <= mu * f[:, 0] + 1e-9 * strong).all()
    goes = speed > 1e-8 * fast
    against = f[goes, 1:] + (mu * f[:, 0] / np.where(goes, speed, 1.0))[goes, None] * slip[goes]
    assert np.abs(against).max(initial=0.0) <= 1e-7 * strong


def lemke(M: np.ndarray, q: np.ndarray) -> np.ndarray:
    """z >= 0, M z + q >= 0, complementary: Lemke's pivots from a covering vector of ones."""
    n = len(q)
    T = np.hstack([np.eye(n), -M, -np.ones((n, 1)), q[:, None]])
    basis = list(range(n))
    enters = 2 * n
    row = int(q.argmin())
    if q[row] >= 0:
        return np.zeros(n)
    for _ in range(50 * n):
        T[row] /= T[row, enters]
        for i in range(n):
            if i != row:
                T[i] -= T[i, enters] * T[row]
        basis[row], left = enters, basis[row]
        if left == 2 * n:
            return np.array(
                [T[basis.index(n + i), -1] if n + i in basis else 0.0 for i in range(n)]
            )
        enters = left + n if left < n else left - n
        ratio = np.where(
            T[:, enters] > 1e-10,
            T[:, -1] / np.where(T[:, enters] > 1e-10, T[:, enters], 1.0),
            np.inf,
        )
        row = int(ratio.argmin())
    raise AssertionError("Lemke's pivots have no end")


@pytest.mark.parametrize(
    ("seed", "k", "n"),
    [(s, k, n) for s in range(3) for k, n in ((10, 40), (16, 60), (16, 20), (20, 70))],
)
def test_smooth_contacts_against_lemke(seed: int, k: int, n: int) -> None:
    G, b = problem(seed, k, n)
    (one,) = solutions(G, b, Friction.at_rest(np.zeros(k), np.zeros(k)))
    N = lemke(G[::3, ::3], b[::3])
    assert (
        one.rate[::3] == pytest.approx(G[::3, ::3] @ N + b[::3], abs=1e-9)
        and not one.force[1::3].any()
    )
    if n >= k:
        assert one.force[::3] == pytest.approx(N, abs=1e-8 * np.abs(N).max())


@pytest.mark.parametrize("mu", [0.3, 0.8])
@pytest.mark.parametrize(
    ("seed", "k", "n"),
    [(s, k, n) for s in range(4) for k, n in ((10, 40), (16, 60), (16, 20), (20, 12))],
)
def test_rough_contacts_keep_the_laws(seed: int, k: int, n: int, mu: float) -> None:
    G, b = problem(seed, k, n)
    (one,) = solutions(G, b, Friction.at_rest(np.full(k, mu), np.full(k, mu)))
    keeps_the_laws(one, G, b, np.full(k, mu))


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("k", [2, 3])
def test_the_search_finds_what_the_enumeration_proves(
    seed: int, k: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    G, b = problem(seed, k, 12)
    mu = np.full(k, 0.5)
    proved = solutions(G, b, Friction.at_rest(mu, mu))
    monkeypatch.setattr(contact_modes, "MAX_ENUMERATED_CONTACTS", 0)
    (one,) = solutions(G, b, Friction.at_rest(mu, mu))
    assert (
        len(proved) == 1
        and one.force == pytest.approx(proved[0].force, abs=1e-10)
        and one.modes == proved[0].modes
    )


@pytest.mark.parametrize("seed", range(6))
def test_what_slips_already(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Known directions of slip, some of it at rest: as the enumeration."""
    random = np.random.default_rng(seed)
    G, b = problem(seed, 4, 16)
    angle = random.uniform(0, 2 * np.pi, 4)
    mu = np.full(4, 0.4)
    d = np.column_stack([np.cos(angle), np.sin(angle)])
    d[seed % 4] = np.nan
    friction = Friction(mu, mu, d, np.zeros(4))
    proved = solutions(G, b, friction)
    monkeypatch.setattr(contact_modes, "MAX_ENUMERATED_CONTACTS", 0)
    (one,) = solutions(G, b, friction)
    assert len(proved) == 1 and one.force == pytest.approx(proved[0].force, abs=1e-10)


@pytest.mark.parametrize("boxes", [3, 4, 5, 6])
def test_a_stack_of_boxes_rests(boxes: int) -> None:
    """12 to 24 corners whose forces are not determined; the sums are weights, in any units."""
    G, b = stack(boxes)
    for unit in (1.0, 1e-9, 1e9):
        k = 4 * boxes
        (one,) = solutions(G / unit, b, Friction.at_rest(np.full(k, 0.5), np.full(k, 0.5)))
        assert (
            k > MAX_ENUMERATED_CONTACTS
            and set(one.modes) == {"stick"}
            and one.loose.shape[1] == 6 * boxes
        )
        assert (
            one.force[::3].reshape(boxes, 4).sum(axis=1)
            == pytest.approx(9.81 * unit * np.arange(boxes, 0, -1))
            and (one.force[::3] >= 0).all()
        )


def test_a_table_of_sixteen_legs_that_is_pushed() -> None:
    """It stands up to mu m g and slides beyond; a weight beyond its legs lifts those of the other
    side.
    """
    x = np.linspace(-1, 1, 4)
    J, W = corners(np.array([(a, c, -0.1) for a in x for c in x]))
    G, mu = J @ W @ J.T, np.full(16, 0.5)
    for push, mode in ((4.8, "stick"), (5.2, "slip")):
        (one,) = solutions(G, J @ W @ [push, 0, -9.81, 0, 0, 0], Friction.at_rest(mu, mu))
        assert set(one.modes) == {mode} and one.force[::3].sum() == pytest.approx(9.81)
        assert one.force[1::3].sum() == pytest.approx(-min(push, 0.5 * 9.81))
    (tips,) = solutions(G, J @ W @ [0, 0, -9.81, 0, 9.81 * 1.2, 0], Friction.at_rest(mu, mu))
    assert [m != "open" for m in tips.modes] == [False] * 12 + [True] * 4
    keeps_the_laws(tips, G, J @ W @ [0, 0, -9.81, 0, 9.81 * 1.2, 0], mu)


@pytest.mark.parametrize("law", ["newton", "poisson"])
@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
def test_many_corners_land_flat(law: str, e: float) -> None:
    """Momentum of the whole: it rebounds with e, and friction is that of a block, of which it slips
    or stops.
    """
    random = np.random.default_rng(5)
    J, W = corners(np.column_stack([random.uniform(-1, 1, (16, 2)), np.full(16, -0.01)]))
    J[:, 3:] = 0.0  # a block that does not turn
    for speed, mu in ((1.0, 0.1), (0.1, 0.5)):
        u = J @ [speed, 0, -2.0, 0, 0, 0]
        one = blow(J @ W @ J.T, u, np.full(16, e), np.full(16, mu), law)
        P = (1 + e) * 2.0
        assert one.P[::3].sum() == pytest.approx(P) and one.after[::3] == pytest.approx(2.0 * e)
        assert (
            one.P[1::3].sum() == pytest.approx(-min(mu * P, speed))
            and one.P @ (u + one.after) <= 1e-12
        )


def test_forces_by_splitting_converge() -> None:
    G, b = problem(3, 20, 12)
    mu = np.full(20, 0.8)
    found = list(split(G, b, Friction.at_rest(mu, mu)))
    assert np.abs(G @ (found[-2] - found[-1])).max() < 1e-10 * np.abs(b).max()
