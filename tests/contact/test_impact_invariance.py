"""Laws of impact do not know how contacts are numbered, how their tangents lie, in which units they
are measured, nor a mirror: for every law, one contact or several, at once or one after the other.
"""

from __future__ import annotations

import numpy as np
import pytest

from catena.contact.impact_laws import blow
from catena.errors import QuestionError, SingularError
from catena.model.impact_laws import IMPACT_LAWS

CASES = [
    (law, impacts, count)
    for law in IMPACT_LAWS
    for impacts in ("simultaneous", "sequential")
    for count in (1, 2, 3)
    if count == 1 or impacts == "sequential" or not IMPACT_LAWS[law].one_point
]


def other_axes(rng: np.random.Generator, count: int) -> tuple[np.ndarray, np.ndarray]:
    """T (3 k, 3 k), and the order: contacts renumbered, the tangents of each turned and some
    mirrored.
    """
    order = rng.permutation(count)
    T = np.zeros((3 * count, 3 * count))
    for new, old in enumerate(order):
        c, s = np.cos(x := rng.uniform(0, 2 * np.pi)), np.sin(x)
        turn = np.array([[c, -s], [s, c]]) @ np.diag([1.0, rng.choice([-1.0, 1.0])])
        T[3 * new, 3 * old] = 1.0
        T[3 * new + 1 : 3 * new + 3, 3 * old + 1 : 3 * old + 3] = turn
    return T, order


@pytest.mark.parametrize(("law", "impacts", "count"), CASES)
def test_impulses_are_those_of_other_numbers_axes_and_units(
    law: str, impacts: str, count: int
) -> None:
    rng = np.random.default_rng(5)
    answered = 0
    for _ in range(12):
        J = rng.standard_normal((3 * count, 6))
        G, u = J @ J.T, rng.standard_normal(3 * count)
        u[0] -= 1.0
        e, mu = rng.uniform(0, 1, count), rng.uniform(0, 0.6, count)
        T, order = other_axes(rng, count)
        mass, speed = 10.0 ** rng.uniform(-6, 6, 2)
        other = (T @ G @ T.T / mass, speed * T @ u, e[order], mu[order], law, impacts)
        try:
            one = blow(G, u, e, mu, law, impacts)
        except (SingularError, QuestionError):
            with pytest.raises((SingularError, QuestionError)):
                blow(*other)
            continue
        answered += 1
        seen = blow(*other)
        size = np.abs(one.P).max()
        assert T.T @ seen.P / (mass * speed) == pytest.approx(one.P, abs=1e-8 * size)
        assert [seen.modes[list(order).index(i)] for i in range(count)] == list(one.modes)
    assert answered >= 6


@pytest.mark.parametrize("law", IMPACT_LAWS)
def test_a_rod_that_lands_flat_and_askew_is_its_own_mirror_image(law: str) -> None:
    """Both ends approach alike: no end is the first.

    A ====== B      rotation about y, slip along x
    """
    J = np.array(
        [
            [0, 1, x * 12**0.5] if row == 0 else [float(row == 1), 0, 0]
            for x in (-0.5, 0.5)
            for row in range(3)
        ]
    )
    G = J @ J.T
    for slip in (0.0, 0.7):
        one = blow(
            G,
            np.array([-1.0, slip, 0, -1.0, slip, 0]),
            np.full(2, 0.4),
            np.full(2, 0.3),
            law,
            "sequential",
        )
        assert one.P[:3] == pytest.approx(one.P[3:], abs=1e-12)
        assert one.after[::3] == pytest.approx([0.4, 0.4], rel=1e-9)
