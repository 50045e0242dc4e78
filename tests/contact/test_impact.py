"""The impact equations on random problems: complementarity, the loss of energy, and that units do
not matter.
"""

from __future__ import annotations

import numpy as np
import pytest

import zoo
from catena.contact.impact import impact, row_sizes
from catena.machine.constraint_rows import Metric
from catena.machine.machine import Machine

MACHINE = Machine(zoo.pendulum(2))  # for names alone


def own(B: np.ndarray) -> Metric:
    """Rows measured by their entries."""
    return Metric(np.ones(B.shape[1]), np.zeros(len(B)))


def problem(seed: int, n: int = 6, m: int = 4):
    rng = np.random.default_rng(seed)
    L = rng.standard_normal((n, n))
    return (
        L @ L.T + 0.1 * np.eye(n),
        rng.standard_normal((m, n)),
        rng.standard_normal(m),
        rng.standard_normal(n),
    )


@pytest.mark.parametrize("seed", range(20))
def test_one_sided_rows_push_or_open(seed: int) -> None:
    M, B, change, P = problem(seed)
    side = np.array([1.0, -1.0, 1.0, 0.0])
    dv, L, missed = impact(MACHINE, M, B, change, P, own(B), side)
    opening = B @ dv - change
    assert M @ dv == pytest.approx(P + B.T @ L, abs=1e-10)
    assert (
        (side * L >= -1e-12).all() and (side * opening >= -1e-10).all() and abs(opening[3]) < 1e-10
    )
    assert np.abs(L * opening).max() < 1e-10
    assert missed * row_sizes(MACHINE, M, B) == pytest.approx(opening, abs=1e-10)


@pytest.mark.parametrize("seed", range(5))
def test_restitution_takes_the_known_energy(seed: int) -> None:
    """(1 - e^2)/2 (B v)' (B M^-1 B')^-1 (B v)."""
    (M, B, _, v), e = problem(seed), 0.3
    dv, _, _ = impact(MACHINE, M, B, -(1 + e) * (B @ v), np.zeros(6), own(B))
    lost = 0.5 * (v @ M @ v - (v + dv) @ M @ (v + dv))
    assert lost == pytest.approx(
        0.5 * (1 - e**2) * (B @ v) @ np.linalg.solve(B @ np.linalg.solve(M, B.T), B @ v)
    )


@pytest.mark.parametrize("scale", [1e-6, 1e-3, 1e3, 1e6])
def test_units_and_repeated_rows_do_not_matter(scale: float) -> None:
    """Some speeds, rows and masses in other units, and one row said twice: the same change of
    speeds.
    """
    M, B, change, P = problem(3)
    B = np.vstack([B, 2.0 * B[0]])
    change = np.append(change, 2.0 * change[0])
    side = np.array([1.0, 0.0, -1.0, 0.0, 1.0])
    # v = u v', row' = r row
    u = np.array([1.0, 1, scale, scale, 1, scale])
    r = np.array([scale, 1.0, 1, scale, 1])
    known = impact(MACHINE, M, B, change, P, own(B), side).dv
    other = impact(
        MACHINE,
        scale * u[:, None] * M * u,
        r[:, None] * B * u,
        r * change,
        scale * u * P,
        Metric(1 / u**2, np.zeros(5)),
        side,
    ).dv
    assert u * other == pytest.approx(known, rel=1e-9)
