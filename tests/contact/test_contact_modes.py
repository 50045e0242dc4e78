"""Modes of contacts and laws of impact as small problems of matrices, against other ways to solve
them.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.optimize import nnls

from catena.contact.impact_laws import blow
from catena.contact.modes import Friction, solutions


def problem(seed: int, k: int, n: int = 12) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """G = J M^-1 J', J, and b of k contacts on n speeds."""
    random = np.random.default_rng(seed)
    J = random.normal(size=(3 * k, n))
    L = random.normal(size=(n, n))
    return J @ np.linalg.inv(L @ L.T + n * np.eye(n)) @ J.T, J, random.normal(size=3 * k)


def gauss_seidel(G: np.ndarray, b: np.ndarray, mu: np.ndarray) -> np.ndarray:
    """The forces by projection onto the cones, contact by contact, until nothing changes."""
    f = np.zeros(len(b))
    for _ in range(20_000):
        before = f.copy()
        for i, m in enumerate(mu):
            own = slice(3 * i, 3 * i + 3)
            step = 0.5 / np.linalg.eigvalsh(G[own, own])[-1]
            a = G[own] @ f + b[own]
            N = max(0.0, f[own][0] - step * a[0])
            t = f[own][1:] - step * a[1:]
            t *= min(1.0, m * N / max(np.linalg.norm(t), 1e-300))
            f[own] = N, *t
        if np.abs(f - before).max() < 1e-15:
            break
    return f


@pytest.mark.parametrize("seed", range(8))
def test_smooth_contacts_are_a_quadratic_programme(seed: int) -> None:
    G, _, b = problem(seed, 4)
    (one,) = solutions(G, b, Friction.at_rest(np.zeros(4), np.zeros(4)))
    L = np.linalg.cholesky(G[::3, ::3])
    N, _ = nnls(L.T, -np.linalg.solve(L, b[::3]))
    assert one.force[::3] == pytest.approx(N, abs=1e-9) and not one.force[1::3].any()


@pytest.mark.parametrize(("seed", "k"), [(s, k) for s in range(6) for k in (1, 2, 3)])
def test_friction_against_projected_gauss_seidel(seed: int, k: int) -> None:
    G, _, b = problem(seed, k)
    mu = np.full(k, 0.3)
    found = solutions(G, b, Friction.at_rest(mu, mu))
    assert len(found) == 1  # proved by enumeration
    assert found[0].force == pytest.approx(gauss_seidel(G, b, mu), abs=1e-8)


@pytest.mark.parametrize("seed", range(40))
def test_sliding_contacts_against_all_bases_of_the_complementarity_problem(seed: int) -> None:
    """With much friction some have several solutions, and some none: as many as there are
    complementary bases.
    """
    k = 2
    G, _, b = problem(seed, k, 4)
    random = np.random.default_rng(seed + 1000)
    angle = random.uniform(0, 2 * np.pi, k)
    mu = random.uniform(0, 4, k)
    d = np.column_stack([np.cos(angle), np.sin(angle)])
    F = np.zeros((3 * k, k))
    for i in range(k):
        F[3 * i : 3 * i + 3, i] = 1.0, *(-mu[i] * d[i])
    S, r, other = G[::3] @ F, b[::3], []
    for on in product((False, True), repeat=k):
        N, on = np.zeros(k), np.array(on)
        if on.any():
            N[on] = np.linalg.solve(S[np.ix_(on, on)], -r[on])
        if (N >= 0).all() and (S @ N + r >= -1e-12).all():
            other.append(N)
    found = solutions(G, b, Friction(mu, mu, d, np.zeros(k)))
    assert sorted(tuple(np.round(one.force[::3], 9)) for one in found) == sorted(
        tuple(np.round(N, 9) + 0.0) for N in other
    )


def test_painleve() -> None:
    """One contact whose friction pushes it down harder than its normal force lifts it: two motions,
    or none.
    """
    G = np.array([[1.0, 0.8, 0.0], [0.8, 1.0, 0.0], [0.0, 0.0, 1.0]])
    slip = np.array([[1.0, 0.0]])
    mu, none = np.array([2.0]), np.zeros(1)
    assert len(solutions(G, np.array([1.0, 0.0, 0.0]), Friction(mu, mu, slip, none))) == 2
    assert len(solutions(G, np.array([-1.0, 0.0, 0.0]), Friction(mu, mu, slip, none))) == 0
    assert len(solutions(G, np.array([-1.0, 0.0, 0.0]), Friction(mu, mu, -slip, none))) == 1


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_four_legs_are_not_determined_and_units_do_not_matter(scale: float) -> None:
    """A table: height, roll and pitch; of four normal forces one combination moves nothing."""
    x = np.array([1, -1, -1, 1.0])
    y = np.array([1, 1, -1, -1.0])
    J = np.zeros((12, 3))
    J[::3] = np.column_stack([np.ones(4), y, -x])
    G = J @ J.T / scale
    (one,) = solutions(
        G, J @ np.array([-9.81, 0.3, 0.2]), Friction.at_rest(np.zeros(4), np.zeros(4))
    )
    assert one.loose.shape == (12, 1) and np.abs(G @ one.loose).max() < 1e-12 / scale
    assert one.force[::3].sum() == pytest.approx(9.81 * scale) and (one.force[::3] > 0).all()


@pytest.mark.parametrize(
    ("law", "impacts"), list(product(("newton", "poisson"), ("simultaneous", "sequential")))
)
@pytest.mark.parametrize("seed", range(5))
def test_impacts_dissipate_and_leave_nothing_that_approaches(
    law: str, impacts: str, seed: int
) -> None:
    G, _, u = problem(seed, 3)
    e, mu = np.full(3, 0.4), np.full(3, 0.2)
    one = blow(G, u, e, mu, law, impacts)
    assert one.P @ (u + one.after) / 2 <= 1e-12  # the work of the impulses, by Kelvin
    assert (one.P[::3] >= 0).all() and (one.after[::3] >= -1e-9).all()
    assert (
        np.hypot(one.P[1::3], one.P[2::3]) <= mu * one.P[::3] + 1e-12
    ).all() or impacts == "sequential"


@pytest.mark.parametrize("law", ["newton", "poisson"])
def test_smooth_elastic_impacts_keep_the_energy(law: str) -> None:
    G, _, u = problem(3, 3)
    u[::3] = -np.abs(u[::3])
    one = blow(G, u, np.ones(3), np.zeros(3), law)
    assert one.P @ (u + one.after) == pytest.approx(0.0, abs=1e-12)
