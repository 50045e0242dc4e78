"""Friction followed along an impact, against other ways to follow it and the theorems of its
path.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from catena.contact.impact_laws import blow
from catena.errors import QuestionError, SingularError
from catena.model.impact_laws import IMPACT_LAWS, ImpactLaw

LAWS = tuple(law.name for law in IMPACT_LAWS.values() if law.one_point)


def problem(
    seed: int, mu: float | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """G, u, e, mu of one point in space that approaches."""
    random = np.random.default_rng(seed)
    A = random.normal(size=(3, 3))
    u = random.normal(size=3)
    u[0] = -abs(u[0])
    return (
        A @ A.T,
        u,
        random.uniform(size=1),
        np.array([random.uniform(0.1, 1.2) if mu is None else mu]),
    )


def planar(G_nn: float, G_nt: float, G_tt: float) -> np.ndarray:
    return np.array([[G_nn, G_nt, 0.0], [G_nt, G_tt, 0.0], [0.0, 0.0, 0.0]])


def over_impulse(G: np.ndarray, u: np.ndarray, e: float, mu: float, law: str) -> np.ndarray:
    """P by integration over the normal impulse itself, friction regularised within a slip of 1e-10:
    stiff, and without any events of slip.
    """
    inverse = np.linalg.inv(G)
    size = float(np.abs(u).max())

    def rate(_: float, y: np.ndarray) -> np.ndarray:
        return np.append(
            G @ [1.0, *(-mu * y[1:3] / np.sqrt(y[1] ** 2 + y[2] ** 2 + (1e-10 * size) ** 2))], y[0]
        )

    def run(y: np.ndarray, ends) -> tuple[float, np.ndarray]:
        ends.terminal, ends.direction = True, 1.0
        found = solve_ivp(
            rate, (0.0, 1e3), y, method="Radau", rtol=1e-11, atol=1e-13 * size, events=ends
        )
        return float(found.t[-1]), found.y[:, -1]

    p, turned = run(np.append(u, 0.0), lambda _, y: y[0])
    ends = {
        "routh_poisson": lambda t, y: t - e * p,
        "routh_newton": lambda _, y: y[0] + e * u[0],
        "routh_stronge": lambda _, y: y[3] - (1 - e**2) * turned[3],
    }
    return inverse @ (run(turned, ends[law])[1][:3] - u)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("seed", [0, 2, 3, 5])
def test_the_path_against_a_stiff_integration_over_the_impulse(law: str, seed: int) -> None:
    G, u, e, mu = problem(seed)
    one = blow(G, u, e, mu, law)
    assert (
        pytest.approx(over_impulse(G, u, e[0], mu[0], law), abs=2e-8 * np.abs(one.P).max()) == one.P
    )
    assert one.after == pytest.approx(u + G @ one.P, abs=1e-13)


@pytest.mark.parametrize("law", LAWS)
def test_finer_steps_without_any_path_come_nearer_in_first_order(law: str) -> None:
    """Small implicit steps of the normal impulse, each with its friction by projection."""
    G, u, e, mu = problem(2)
    wanted = blow(G, u, e, mu, law).P

    def stepped(n: int) -> float:
        now = u.copy()
        P = np.zeros(3)
        dp = -u[0] / G[0, 0] / n
        work = 0.0
        turn = None
        most = np.linalg.eigvalsh(G[1:, 1:])[-1]
        while True:
            f = -np.linalg.solve(G[1:, 1:], now[1:] + G[1:, 0] * dp)
            for _ in range(40 if np.hypot(*f) > mu[0] * dp else 0):
                g = f - (now[1:] + G[1:, 0] * dp + G[1:, 1:] @ f) / most
                f = g * mu[0] * dp / np.hypot(*g)
            before = now[0]
            now = now + G @ [dp, *f]
            P = P + [dp, *f]
            work += dp * (before + now[0]) / 2
            turn = (P[0], work) if turn is None and now[0] >= 0 else turn
            if (
                turn
                and {
                    "routh_poisson": P[0] >= (1 + e[0]) * turn[0],
                    "routh_newton": now[0] >= -e[0] * u[0],
                    "routh_stronge": work >= (1 - e[0] ** 2) * turn[1],
                }[law]
            ):
                return float(np.abs(P - wanted).max())

    coarse, fine = stepped(10), stepped(160)
    assert fine < 0.02 * np.abs(wanted).max() and fine < coarse / 4


@pytest.mark.parametrize("seed", range(25))
def test_energy_is_never_gained(seed: int) -> None:
    """Also with e = 1 and much friction; by Newton's end the law is refused where it would be."""
    for mu in (0.05, 0.4, 2.0):
        G, u, _, m = problem(seed, mu)
        for law in LAWS:
            try:
                one = blow(G, u, np.ones(1), m, law)
            except SingularError as why:
                assert law == "routh_newton" and "gain energy" in str(why)
                continue
            assert one.P @ (u + one.after) / 2 <= 1e-13 * float(u @ u) / G[0, 0]
            assert np.hypot(*one.P[1:]) <= mu * one.P[0] * (1 + 1e-12) and one.after[0] >= 0.0


def test_newtons_end_is_refused_where_it_gains_energy() -> None:
    """A slip that stops, with a rebound as fast as the approach: what Kane and Levinson found."""
    G = planar(1.0, -0.45, 1.0)
    u = np.array([-1.0, 0.6, 0.0])
    with pytest.raises(SingularError, match="gain energy"):
        blow(G, u, np.ones(1), np.full(1, 0.5), "routh_newton")
    for law in ("routh_poisson", "routh_stronge"):
        one = blow(G, u, np.ones(1), np.full(1, 0.5), law)
        assert one.P @ (u + one.after) < 0.0


@pytest.mark.parametrize("seed", range(5))
def test_without_restitution_the_ends_are_one(seed: int) -> None:
    G, u, _, mu = problem(seed)
    first, *others = (blow(G, u, np.zeros(1), mu, law) for law in LAWS)
    assert abs(first.after[0]) < 1e-13
    for one in others:
        assert pytest.approx(first.P, rel=1e-12) == one.P


def test_where_slip_keeps_its_direction_all_laws_agree() -> None:
    G = planar(1.0, 0.3, 1.4)
    u = np.array([-1.0, 5.0, 0.0])
    e = np.full(1, 0.6)
    mu = np.full(1, 0.2)
    wanted = blow(G, u, e, mu, "newton")
    for law in IMPACT_LAWS:
        assert pytest.approx(wanted.P, abs=1e-13) == blow(G, u, e, mu, law).P and wanted.modes == (
            "slip",
        )


@pytest.mark.parametrize("law", LAWS)
def test_a_plane_of_motion_is_space_without_its_normal(law: str) -> None:
    """Stops, then sticks, by hand; with tangents turned about the normal; and nearly in a plane."""
    G = planar(1.0, 0.3, 1.0)
    u = np.array([-2.0, 0.5, 0.0])
    e = np.full(1, 0.5)
    mu = np.full(1, 0.8)
    stop = 0.5 / (0.8 - 0.3)
    at_stop = -2.0 + (1.0 - 0.8 * 0.3) * stop
    rise = 1.0 - 0.3**2
    turn = stop - at_stop / rise
    work = (-2.0 + at_stop) / 2 * stop + at_stop / 2 * (turn - stop)
    p = {
        "routh_poisson": 1.5 * turn,
        "routh_newton": turn + 1.0 / rise,
        "routh_stronge": turn + np.sqrt(2 * 0.25 * -work / rise),
    }[law]
    one = blow(G, u, e, mu, law)
    assert pytest.approx(
        [p, -0.8 * stop - 0.3 * (p - stop), 0.0], rel=1e-14
    ) == one.P and one.modes == ("stick",)
    R = np.array([[1, 0, 0], [0, np.cos(0.7), -np.sin(0.7)], [0, np.sin(0.7), np.cos(0.7)]])
    assert pytest.approx(R @ one.P, abs=1e-14) == blow(R @ G @ R.T, R @ u, e, mu, law).P
    near = G + np.diag([0.0, 0.0, 1.0])
    assert pytest.approx(one.P, abs=1e-7) == blow(near, u + [0, 0, 1e-9], e, mu, law).P


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("seed", range(4))
def test_neither_axes_nor_units_matter(law: str, seed: int) -> None:
    G, u, e, mu = problem(seed)
    one = blow(G, u, e, mu, law)
    R = np.array([[1, 0, 0], [0, np.cos(2.0), -np.sin(2.0)], [0, np.sin(2.0), np.cos(2.0)]])
    assert pytest.approx(R @ one.P, rel=1e-11) == blow(R @ G @ R.T, R @ u, e, mu, law).P
    for mass, speed in ((1e-9, 1e6), (1e12, 1e-9), (1.0, 1e-12)):
        assert (
            pytest.approx(one.P * mass * speed, rel=1e-12)
            == blow(G / mass, u * speed, e, mu, law).P
        )


def test_slip_departs_along_the_direction_that_it_keeps() -> None:
    """From rest, with too little friction to hold it: along d with G_tn - mu G_tt d parallel to
    d.
    """
    G, u, _, mu = problem(7, 0.05)
    u[1:] = 0.0
    one = blow(G, u, np.full(1, 0.3), mu, "routh_poisson")
    d = one.after[1:] / np.hypot(*one.after[1:])
    push = G[1:, 0] - mu[0] * G[1:, 1:] @ d
    assert (
        abs(push[0] * d[1] - push[1] * d[0]) < 1e-13 and push @ d > 0.0 and one.modes == ("slip",)
    )
    assert one.P[1:] == pytest.approx(-mu[0] * one.P[0] * d, rel=1e-12)


def test_several_points_strike_one_after_the_other_or_by_themselves() -> None:
    random = np.random.default_rng(1)
    J = random.normal(size=(6, 8))
    e = np.full(2, 0.4)
    mu = np.full(2, 0.3)
    G = J @ J.T
    u = np.array([-1.0, 0.4, 0.2, -0.5, -0.3, 0.6])
    with pytest.raises(QuestionError, match="2 coupled points touch; use impacts = 'sequential'"):
        blow(G, u, e, mu, "routh_stronge")
    one = blow(G, u, e, mu, "routh_stronge", "sequential")
    assert len(one.order) >= 2 and (one.after[::3] > -1e-11).all() and one.P @ (u + one.after) < 0.0
    apart = np.zeros((6, 6))
    apart[:3, :3], apart[3:, 3:] = G[:3, :3], G[3:, 3:]
    both = blow(apart, u, e, mu, "routh_stronge")
    assert (
        pytest.approx(blow(apart, u, e, mu, "routh_stronge", "sequential").P, rel=1e-12) == both.P
    )


def test_a_law_from_outside() -> None:
    """A member of the registry is a law of contacts at once."""
    from catena.model.mechanism import Contact

    toy = IMPACT_LAWS.register(
        ImpactLaw("toy", lambda G, u, e, mu: blow(G, u, 0.0 * e, mu), "nothing rebounds")
    )
    try:
        assert Contact(("ball", "ground"), 0.1, 0.5, "toy").law == "toy"
        G, u, e, mu = problem(0)
        assert abs(blow(G, u, e, mu, "toy").after[0]) < 1e-12
    finally:
        del IMPACT_LAWS[toy.name]
