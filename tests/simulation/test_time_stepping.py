"""Contacts by time stepping: theorems, the event life beside it, reference numbers to the order of
the step, bad input.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import catena
from catena import Body, Contact, Frame, Joint, Mechanism, Pose, Shape, simulate
from catena.contact.modes import Friction, solutions
from catena.contact.problem import (
    CERTIFICATE,
    ContactAnswer,
    ContactProblem,
    ContactScratch,
    scratch_shapes,
)
from catena.contact.solvers.gauss_seidel import solve_contacts
from catena.errors import CatenaError, SimulationError, StateError
from catena.simulation.scenario import read
from touching import LEGS, SLOPE, box, servos, solo12, starts

GROUND = "ground"
ORIGIN = (0.0, 0.0, 0.0)
R = 0.1
FOLDER = Path(__file__).parents[1] / "reference/contact"


def stepped(m, *given, step=1e-3, **options):
    return simulate(m, *given, contact="time_stepping", step=step, **options)


def ball(
    friction=0.2,
    restitution=0.6,
    k=0.4,
    mass=0.5,
    gravity=(0.0, 0.0, -9.81),
    plane="ground",
    frames=(),
) -> Mechanism:
    """A free ball of radius R; inertia k m R^2."""
    body = Body(
        "ball", mass, ORIGIN, (k * mass * R**2,) * 3, shapes=(Shape("sphere", (R,), collides=True),)
    )
    return Mechanism(
        "ball",
        (body,),
        (Joint("base", "free", GROUND, "ball"),),
        frames,
        gravity,
        contacts=(Contact(("ball", plane), friction, restitution),),
    )


def at_height(z: float) -> list[float]:
    return [0, 0, R + z, 1, 0, 0, 0]


def expected(file: str, case: str) -> dict:
    found = json.loads((FOLDER / f"{file}.json").read_text())
    return next(c for c in found["cases"] if c["name"] == case)["expected"]


# --- beside the event life
def test_both_lives_converge_to_each_other_with_order_one() -> None:
    """Sixteen balls that bounce, slip and roll: the mean difference falls with the step."""
    m = ball()
    rng = np.random.default_rng(0)
    q = np.tile(at_height(0.0), (16, 1))
    q[:, 2] += rng.uniform(0.05, 0.2, 16)
    v = np.concatenate([rng.uniform(-1, 1, (16, 3)), rng.uniform(-20, 20, (16, 3))], axis=1)
    exact = np.stack([simulate(m, q[i], v[i], 0.5, output=0.5).q.values[-1, :3] for i in range(16)])
    steps = 4e-3 / 2.0 ** np.arange(6)
    errors = [
        np.abs(stepped(m, q, v, until=0.5, step=h, output=0.5).q.values[:, -1, :3] - exact).mean()
        for h in steps
    ]
    slope = np.polyfit(np.log(steps), np.log(errors), 1)[0]
    assert 0.8 < slope < 1.5 and errors[-1] < 5e-4


def test_loops_are_closed_while_contacts_act() -> None:
    """A four-bar linkage whose lowest pin is put on a floor under its way: as by events, to the
    order of the step.
    """
    m = catena.load("four_bar")
    q, _ = catena.assemble(m)
    machine = catena.compile(m)
    free = simulate(machine, q, until=0.6, output=0.01)
    heights = {b.name: machine.pose(free.q.values, b.name)[:, 1, 3] for b in m.bodies}
    name = max(heights, key=lambda b: heights[b][0] - heights[b].min())
    level = float(0.5 * (heights[name][0] + heights[name].min()))
    # gravity is along -y
    floor = Frame("floor", GROUND, Pose.rpy(-np.pi / 2, 0, 0, position=(0, level, 0)))
    tip = m.with_(frames=(*m.frames, floor), contacts=(Contact((name, "floor"), 0.3, 0.2),))
    event = simulate(tip, q, until=0.6, output=0.3).q.values[-1]
    errors = []
    for h in (4e-3, 5e-4):
        run = stepped(tip, q, until=0.6, step=h, output=0.3)
        assert run.ledger.closure < 1e-9 and run.ledger.contact.impacts > 0
        errors.append(np.abs(run.q.values[-1] - event).max())
    assert errors[1] < 0.5 * errors[0] < 0.05


def test_a_stop_of_a_joint_bounces_by_its_restitution() -> None:
    """A slide falls onto its lower limit: speeds after are e times those before, as by events."""
    m = Mechanism(
        "drop",
        (Body("b", 2.0, ORIGIN, (1, 1, 1)),),
        (Joint("z", "prismatic", GROUND, "b", axis=(0, 0, 1), lower=0.0, upper=3.0),),
    )
    run = stepped(m, [1.0], until=0.8, limits="stop", restitution=0.5)
    apex = run.q.values[run.time > 0.5].max()
    assert apex == pytest.approx(0.25, rel=5e-3) and run.q.values.min() > -1e-9
    event = simulate(m, [1.0], until=0.8, limits="stop", restitution=0.5)
    assert np.abs(run.q.values - event.q.values).max() < 5e-3


# --- theorems
def test_momentum_is_kept_and_dissipation_is_never_negative() -> None:
    """Two balls on one line without gravity: momentum to rounding, energy never grows, and what is
    lost is booked.
    """
    balls = tuple(
        Body(n, m, ORIGIN, (1, 1, 1), shapes=(Shape("sphere", (R,), collides=True),))
        for n, m in (("a", 1.0), ("b", 3.0))
    )
    joints = tuple(Joint(f"x{n}", "prismatic", GROUND, n, axis=(1, 0, 0)) for n in "ab")
    m = Mechanism("pair", balls, joints, gravity=ORIGIN, contacts=(Contact(("a", "b"), 0.0, 0.7),))
    run = stepped(m, [0.0, 1.0], [2.0, -0.5], until=1.0)
    p = run.v.values @ [1.0, 3.0]
    assert p == pytest.approx(p[0], abs=1e-14) and run.v.values[-1] @ [-1, 1] == pytest.approx(
        0.7 * 2.5, rel=1e-12
    )
    T = run.kinetic.values
    assert np.diff(T).max() < 1e-14 and run.ledger.contact.dissipated == pytest.approx(
        T[0] - T[-1], rel=1e-12
    )
    assert run.ledger.contact.gain == 0.0 and run.ledger.energy_balance < 1e-14


def test_an_elastic_ball_keeps_its_energy_over_many_bounces() -> None:
    run = stepped(ball(0.0, 1.0), at_height(0.3), until=20.0, step=2e-3)
    E = run.kinetic.values + run.potential.values
    assert np.ptp(E) < 1e-10 * E[0] and run.ledger.contact.impacts > 30


def test_tumbling_boxes_lose_energy_and_come_to_rest() -> None:
    rng = np.random.default_rng(1)
    q = np.tile([0, 0, 0.25, 1, 0, 0, 0.0], (16, 1))
    q[:, 3:] = rng.standard_normal((16, 4))
    q[:, 3:] /= np.linalg.norm(q[:, 3:], axis=1)[:, None]
    run = stepped(box(0.5, 0.2), q, rng.standard_normal((16, 6)), until=2.0)
    E = run.kinetic.values + run.potential.values
    assert (np.diff(E, axis=1) < 2e-3).all() and np.abs(run.v.values[:, -1]).max() < 1e-9
    assert (
        run.contacts.gap.values.min() > -1e-6
        and (np.diff(run.contacts.residual.values, axis=1) >= 0).all()
    )
    assert run.contacts.force.values[:, -1, 0, 2] == pytest.approx(9.81, rel=1e-6)
    c = run.ledger.contact
    assert c.cone < 1e-12 and c.gain < 1e-3 and c.penetration < 1e-6


def test_a_symmetric_rod_stays_symmetric() -> None:
    ends = (
        Frame("A", "rod", Pose(position=(-0.5, 0, 0))),
        Frame("B", "rod", Pose(position=(0.5, 0, 0))),
    )
    m = Mechanism(
        "rod",
        (Body("rod", 2.0, ORIGIN, (1 / 6,) * 3),),
        (Joint("free", "free", GROUND, "rod"),),
        ends,
        contacts=(Contact((("A", "B"), GROUND), 0.3, 0.5),),
    )
    run = stepped(m, [0, 0, 0.3, 1, 0, 0, 0], until=2.0, residual=1e-14)
    still = run.q.sel(coordinate=["free.x", "free.y", "free.qx", "free.qy", "free.qz"]).values
    # a gap below a thousandth of the way of a step is closed
    assert np.abs(still).max() < 1e-10 and 0.0 <= run.q.values[-1, 2] < 1e-8
    N = run.contacts.normal_force.values
    assert N[:, 0] == pytest.approx(N[:, 1], rel=1e-6, abs=1e-9)


def test_a_turned_world_has_the_same_motion() -> None:
    X = Pose.rpy(0.4, -0.7, 1.1)
    T = np.array([[float(x) for x in row] for row in X.rotation])
    level = stepped(ball(), at_height(0.2), [1, 0.3, 0, 5, -20, 3], until=1.0)
    tilted = ball(
        gravity=tuple(T @ [0, 0, -9.81]), plane="plane", frames=(Frame("plane", GROUND, X),)
    )
    q = np.concatenate([T @ at_height(0.2)[:3], [1, 0, 0, 0]])
    run = stepped(tilted, q, np.concatenate([T @ [1, 0.3, 0], T @ [5, -20, 3]]), until=1.0)
    assert run.q.values[:, :3] == pytest.approx(level.q.values[:, :3] @ T.T, abs=1e-9)


@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_units_of_mass_and_length_do_not_matter(unit: float) -> None:
    q = np.array([0, 0, 0.2, 0.9, 0.3, 0.2, 0.1])
    v = np.array([1, 0, 0, 2, 3, 1.0])
    q[3:] /= np.linalg.norm(q[3:])
    plain = stepped(box(0.4, 0.3), q, v, until=0.5, output=0.1).q.values
    heavy = stepped(box(0.4, 0.3, mass=unit), q, v, until=0.5, output=0.1).q.values
    assert heavy == pytest.approx(plain, abs=1e-7)
    scale = np.array([unit] * 3 + [1.0] * 4)
    long = box(0.4, 0.3, gravity=(0, 0, -9.81 * unit), size=(0.2 * unit, 0.2 * unit, 0.1 * unit))
    assert stepped(
        long, q * scale, v * scale[:6], until=0.5, output=0.1
    ).q.values / scale == pytest.approx(plain, abs=1e-7)


def test_what_sticks_does_not_creep() -> None:
    """A box on a slope below its angle of friction, for ten thousand steps."""
    run = stepped(box(0.5, 0.0, gravity=SLOPE), [0, 0, 0.05, 1, 0, 0, 0], until=10.0, output=5.0)
    start, middle, end = run.q.values
    assert (
        np.abs(end - middle).max() < 1e-16
        and np.abs(end - start).max() < 1e-13
        and np.abs(run.v.values[-1]).max() < 1e-16
    )


def test_a_run_knows_nothing_of_its_neighbours_and_threads() -> None:
    rng = np.random.default_rng(2)
    m = box(0.5, 0.3)
    q = np.tile([0, 0, 0.2, 1, 0, 0, 0.0], (24, 1))
    q[:, 3:] += 0.3 * rng.standard_normal((24, 4))
    q[:, 3:] /= np.linalg.norm(q[:, 3:], axis=1)[:, None]
    v = rng.standard_normal((24, 6))
    one = stepped(m, q, v, until=0.6, threads=1, output=0.1)
    mixed = rng.permutation(24)  # other neighbours
    two = stepped(m, q[mixed], v[mixed], until=0.6, threads=2, output=0.1)
    assert np.array_equal(one.state.values[mixed], two.state.values)


# --- reference numbers, to the order of the step
def test_bouncing_ball_of_the_reference() -> None:
    want = expected("bouncing_ball", "drop_e0p8")
    run = stepped(ball(0.0, 0.8), at_height(1.0), until=4.5, step=2e-4, output=1e-3)
    assert run.ledger.contact.dissipated == pytest.approx(want["dissipated"]["value"], rel=2e-3)
    gap = run.contacts.gap.values[:, 0]
    apex = [
        gap[(run.time > a) & (run.time < b)].max()
        for a, b in zip(want["impact_times"]["value"][:5], want["impact_times"]["value"][1:6])
    ]
    assert apex == pytest.approx(want["apex_heights"]["value"][:5], rel=5e-3)
    first_rest = run.time[np.flatnonzero(np.abs(run.v.values[:, 2]) > 1e-6)[-1]]
    assert first_rest == pytest.approx(want["rest_time"]["value"], rel=5e-3)


def test_sphere_that_slides_then_rolls_of_the_reference() -> None:
    want = expected("sphere_slide_roll", "solid_sphere_thrown")
    run = stepped(
        ball(0.25, 0.0, mass=3.0), at_height(0.0), [4.0, 0, 0, 0, 0, 0], until=1.0, output=1e-3
    )
    mode = run.contacts["mode"].values[:, 0]
    t = run.time[np.flatnonzero(mode == "stick")[0]]
    assert (
        t == pytest.approx(want["t_roll"]["value"], abs=2e-3)
        and set(mode[1:450]) == {"slip"}
        and set(mode[480:]) == {"stick"}
    )
    assert run.v.values[-1, 0] == pytest.approx(want["v_roll"]["value"], rel=1e-3)
    assert run.ledger.contact.dissipated == pytest.approx(want["dissipated"]["value"], rel=2e-3)


def test_block_on_an_incline_of_the_reference() -> None:
    for case, beta, mu in (
        ("sticks", 0.3490658503988659, 0.4),
        ("slides_from_rest", 0.5235987755982989, 0.3),
    ):
        want = expected("block_incline", case)
        gravity = (9.81 * np.sin(beta), 0.0, -9.81 * np.cos(beta))
        run = stepped(box(mu, 0.0, gravity, mass=2.0), [0, 0, 0.05, 1, 0, 0, 0], until=2.0)
        if case == "sticks":
            assert -run.contacts.force.values[-1, 0, 0] == pytest.approx(
                want["friction_force_uphill"]["value"], rel=1e-9
            )
            assert run.contacts.force.values[-1, 0, 2] == pytest.approx(
                want["normal_force"]["value"], rel=1e-9
            )
            assert run.contacts.pressure_centre.values[-1, 0, 0] == pytest.approx(
                want["shift_of_pressure_centre_downhill"]["value"], rel=1e-6
            )
        else:
            assert run.v.values[-1, 0] == pytest.approx(want["vx_at_2s"]["value"], rel=1e-6)
            assert run.q.values[-1, 0] == pytest.approx(want["x_at_2s"]["value"], rel=1e-3)


# --- the solver
def solved(W, free, mu, iterations=2000, tolerance=1e-12):
    k, m = len(mu), 3 * len(mu)
    p = ContactProblem(
        np.full(k, -1.0),
        free,
        free,
        W,
        np.zeros(m),
        np.zeros(k),
        np.zeros(k),
        mu,
        mu,
        np.zeros(len(CERTIFICATE)),
        np.array([1e-3]),
        thickness=np.full(k, np.inf),
    )
    a = ContactAnswer(
        np.zeros(m), np.zeros(m), np.zeros(k), np.zeros(len(CERTIFICATE)), np.zeros(1)
    )
    s = ContactScratch(*(np.zeros(shape) for shape in scratch_shapes(k, 0, 0)))
    solve_contacts(p, a, s, k, 0, 0, iterations, tolerance)
    return a


def test_the_solver_finds_what_the_enumeration_of_modes_finds() -> None:
    """Two contacts on random bodies: where the law has one solution, that is it."""
    rng = np.random.default_rng(3)
    unique = 0
    for _ in range(40):
        J = rng.standard_normal((6, 8))
        W = J @ J.T
        free = rng.standard_normal(6)
        mu = rng.uniform(0.05, 0.6, 2)
        free[::3] -= 0.5
        found = solutions(W, free.copy(), Friction.at_rest(mu, mu))
        a = solved(W, free, mu)
        assert a.certificate[0] < 1e-9
        if len(found) == 1:
            unique += 1
            assert pytest.approx(found[0].force, abs=1e-7) == a.P
    assert unique > 30


def test_frictionless_contacts_are_the_linear_complementarity_problem() -> None:
    """Against the enumeration of all active sets."""
    rng = np.random.default_rng(4)
    for _ in range(20):
        J = rng.standard_normal((4, 6))
        G, b = J @ J.T, rng.standard_normal(4)
        W = np.zeros((12, 12))
        free = np.zeros(12)
        W[::3, ::3], free[::3] = G, b
        P = solved(W, free, np.zeros(4)).P[::3]
        sets = [[i for i in range(4) if n >> i & 1] for n in range(16)]
        for on in sets:
            x = np.zeros(4)
            x[on] = np.linalg.solve(G[np.ix_(on, on)], -b[on]) if on else []
            if (x >= 0).all() and (G @ x + b > -1e-12).all():
                assert pytest.approx(x, abs=1e-8) == P
                break


# --- robots, files, verdicts
def test_solo12_stands_on_its_feet() -> None:
    m = solo12()
    machine = catena.compile(m)
    q, v = starts("solo12", machine, 8)
    run = stepped(machine, q, v, until=0.5, control=servos("solo12"), limits="ignore")
    assert list(run.contacts.contact.values) == [f"{leg}_FOOT-ground" for leg in LEGS]
    assert (run.contacts["mode"].values[:, -1] != "open").all() and run.contacts.gap.values[
        :, -1
    ] == pytest.approx(0.0, abs=1e-6)
    weight = 9.81 * sum(b.mass for b in m.bodies)
    assert run.contacts.force.values[:, -1, 0, 2] == pytest.approx(weight, rel=0.05)
    assert run.ledger.contact.unconverged == 0


def test_a_result_in_a_file_is_the_same(tmp_path) -> None:
    asked = read("tumbling_box", until=0.3)
    assert asked.options["contact"] == "time_stepping" and asked.options["step"] == 1e-3
    plain = simulate(asked.mechanism, **asked.arguments)
    kept = simulate(asked.mechanism, **asked.arguments, out=tmp_path / "run.nc")
    assert np.array_equal(plain.q.values, kept.q.values) and str(kept.ledger.contact) == str(
        plain.ledger.contact
    )


def test_the_verdict_names_steps_that_were_not_solved() -> None:
    q = [0, 0, 0.2, 0.9, 0.3, 0.3, 0.1] / np.linalg.norm([0.9, 0.3, 0.3, 0.1])
    q[:3] = 0, 0, 0.2
    run = stepped(box(), q, [1, 0, 0, 3, 2, 1], until=1.0, iterations=1)
    assert (
        run.ledger.contact.unconverged > 0
        and "steps of the contact solver ended above the residual 1e-08 asked" in run.ledger.verdict
    )


# --- bad input
@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"step": None}, "step is missing; time stepping takes equal steps"),
        ({"integrator": "rk4"}, "integrator = 'rk4' does not apply"),
        ({"events": [catena.events.When(at=0.1)]}, "events are not supported"),
        ({"iterations": 0}, "iterations = 0; it is a whole number of sweeps"),
        ({"residual": 2.0}, "residual = 2.0; it lies between"),
        ({"by": "hamilton"}, "hamilton does not integrate coordinates and speeds; take one of"),
    ],
)
def test_what_does_not_go_with_it_is_refused_in_one_sentence(options: dict, words: str) -> None:
    with pytest.raises(SimulationError) as error:
        simulate(
            ball(),
            at_height(0.1),
            until=1.0,
            **{"contact": "time_stepping", "step": 1e-3} | options,
        )
    assert words in str(error.value)


def test_all_faults_are_told_at_once() -> None:
    m = ball().with_(contacts=(Contact(("ball", GROUND), 0.2, 0.5, law="poisson"),))
    with pytest.raises(
        SimulationError,
        match=r"step is missing.*law = 'poisson'.*only law = newton and impacts = simultaneous",
    ):
        simulate(m, at_height(0.1), contact="time_stepping")
    with pytest.raises(
        SimulationError, match="has no contacts, no limits that stop joints, and no dry friction"
    ):
        stepped(m.with_(contacts=()), at_height(0.1))
    with pytest.raises(
        SimulationError, match="residual is of contact = 'time_stepping', which was not asked for"
    ):
        simulate(m, at_height(0.1), residual=1e-6)


def test_a_start_in_penetration_is_named_with_its_depth() -> None:
    q = np.stack([at_height(0.1), at_height(-0.02)])
    with pytest.raises(
        StateError,
        match=r"\(run 1\) 'ball' is 0.02 m deep in 'ground' \(contact 'ball-ground'\); start apart",
    ):
        stepped(ball(), q)
    assert issubclass(StateError, CatenaError)
