"""Problems of contact with an answer of their own: closed forms and quadratures of textbooks, at
default settings.

ball on a turntable      a ball that rolls on it goes round in circles at 2/7 of its speed
edge of a table          a smooth ball leaves it where cos(angle) = (2 + v^2/(g r))/3
wheel at a step          it keeps its angular momentum about the edge, and rolls over
rocking block            each impact leaves 1 - 3/2 sin^2(alpha) of its rate           [Housner1963]
block on a belt          sticks, slips and sticks again: a period in closed form
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq

from catena import Body, Contact, Frame, Joint, Mechanism, Pose, Shape, simulate
from catena.model.loads import JointForce

GROUND = "ground"
ORIGIN = (0.0, 0.0, 0.0)
G = 9.81


def in_plane(name: str, mass: float, inertia: float, contacts, shapes=(), **more) -> Mechanism:
    """A body that slides along x and z and turns about y."""
    bodies = (
        Body("a", 0, ORIGIN, ORIGIN),
        Body("b", 0, ORIGIN, ORIGIN),
        Body(name, mass, ORIGIN, (inertia,) * 3, shapes=shapes),
    )
    joints = (
        Joint("x", "prismatic", GROUND, "a", axis=(1, 0, 0)),
        Joint("z", "prismatic", "a", "b", axis=(0, 0, 1)),
        Joint("turn", "revolute", "b", name, axis=(0, 1, 0)),
    )
    return Mechanism(name, bodies, joints, contacts=contacts, **more)


def times(run, words: str) -> list[float]:
    return [
        t
        for t, what in zip(run.data["event_time"].values.tolist(), run.event.values)
        if words in what
    ]


def test_a_ball_on_a_turntable_goes_round_at_two_sevenths_of_its_speed() -> None:
    turn = 2.0
    R = 0.1
    at = np.array([0.5, 0.0])
    v = np.array([0.3, 0.2])
    bodies = (Body("table", 1.0, ORIGIN, (1, 1, 1)), Body("ball", 1.0, ORIGIN, (0.4 * R**2,) * 3))
    m = Mechanism(
        "turntable",
        bodies,
        (
            Joint("spin", "revolute", GROUND, "table", axis=(0, 0, 1)),
            Joint("free", "free", GROUND, "ball"),
        ),
        contacts=(Contact(("ball", "table"), 1.0, 0.0, radius=R),),
    )
    # of the table against the middle: what the ball's turn has to give at its lowest point
    slip = turn * np.array([-at[1], at[0]]) - v
    run = simulate(
        m,
        [0, *at, R, 1, 0, 0, 0],
        [turn, *v, 0, slip[1] / R, -slip[0] / R, 1.3],
        3.0,
        motion={"spin": "2*t"},
        output=[1.0, 2.0, 3.0],
    )
    for t, found in zip(run.time[1:], run.q.values[1:, 1:3]):
        angle = 2 / 7 * turn * t
        rate = 2 / 7 * turn
        circle = (
            np.array([[np.sin(angle), np.cos(angle) - 1], [1 - np.cos(angle), np.sin(angle)]])
            / rate
        )
        assert found == pytest.approx(at + circle @ v, abs=1e-9)
    assert run.contacts["mode"].values[-1, 0] == "stick"


def test_a_smooth_ball_leaves_the_edge_of_a_table() -> None:
    r, v = 0.1, 0.5
    table = Shape("box", (2.0, 1.0, 0.2), Pose(position=(-1.0, 0, -0.1)), collides=True)
    ball = in_plane(
        "ball",
        1.0,
        0.004,
        (Contact(("ball", GROUND), 0.0, 0.0),),
        (Shape("sphere", (r,), collides=True),),
        ground=(table,),
    )
    run = simulate(ball, [-0.2, r, 0], [v, 0, 0], 0.6, output=0.6)
    ends = np.arccos((2 + v**2 / (G * r)) / 3)
    round_it = quad(
        lambda a: r / np.sqrt(v**2 + 2 * G * r * (1 - np.cos(a))), 0, ends, epsabs=1e-13
    )[0]
    assert times(run, "opens") == pytest.approx([0.2 / v + round_it], rel=1e-9)


def test_a_wheel_rolls_over_a_step() -> None:
    R, h, m, rate, start = 0.3, 0.05, 2.0, 4.5, -1.0
    inertia = 0.5 * m * R**2
    shapes = (
        Shape("plane", collides=True),
        Shape("box", (2.0, 1.0, h), Pose(position=(1.0, 0, h / 2)), collides=True),
    )
    wheel = in_plane(
        "wheel",
        m,
        inertia,
        (Contact(("wheel", GROUND), 2.0, 0.0),),
        (Shape("sphere", (R,), collides=True),),
        ground=shapes,
    )
    run = simulate(wheel, [start, R, 0], [rate * R, 0, rate], 2.0, output=2.0)
    about = inertia + m * R**2  # the edge
    angle = np.arccos((R - h) / R)
    after = rate * (about - m * R * h) / about
    meets = (-R * np.sin(angle) - start) / (rate * R)

    def turning(a: float) -> float:
        return np.sqrt(after**2 - 2 * m * G * R * (np.cos(a) - np.cos(angle)) / about)

    over = meets + quad(lambda a: 1 / turning(a), 0, angle, epsabs=1e-13)[0]
    assert run.impact_time.values == pytest.approx([meets], rel=1e-12)
    assert run.q.values[-1, :2] == pytest.approx([turning(0) * R * (2.0 - over), R + h], abs=1e-9)


def test_a_block_rocks_as_housner_says() -> None:
    b, h, m = 0.1, 0.4, 5.0
    # about a corner
    R = np.hypot(b, h)
    alpha = np.arctan2(b, h)
    inertia = 4 / 3 * m * (b**2 + h**2)
    frames = (
        Frame("left", "block", Pose(position=(-b, 0, -h))),
        Frame("right", "block", Pose(position=(b, 0, -h))),
    )
    block = in_plane(
        "block",
        m,
        inertia - m * R**2,
        (Contact((("left", "right"), GROUND), 1.0, 0.0),),
        frames=frames,
    )
    tilt = 0.5 * alpha
    p2 = m * G * R / inertia

    def quarter(top: float) -> float:
        """From rest at an angle of the diagonal with cosine `top`, to upright."""
        most = alpha - np.arccos(top)

        def slowness(s: float) -> float:  # with angle = most - s^2
            return (
                2 * s / np.sqrt(2 * p2 * max(top - np.cos(alpha - most + s * s), 1e-300))
                if s > 1e-7
                else 2 / np.sqrt(2 * p2 * np.sin(alpha - most))
            )

        return quad(slowness, 0, np.sqrt(most), epsabs=1e-13, limit=200)[0]

    top, wanted = np.cos(alpha - tilt), []
    for k in range(4):
        wanted.append((wanted[-1] if k else 0.0) + quarter(top) * (2 if k else 1))
        top = np.cos(alpha) + (1 - 1.5 * np.sin(alpha) ** 2) ** 2 * (top - np.cos(alpha))
    run = simulate(
        block,
        [b - R * np.sin(alpha - tilt), R * np.cos(alpha - tilt), tilt],
        None,
        1.01 * wanted[-1],
        output=[1.01 * wanted[-1]],
    )
    assert np.unique(run.impact_time.values) == pytest.approx(wanted, rel=1e-8)


def test_a_block_on_a_belt_sticks_and_slips() -> None:
    m, k, belt, static, kinetic = 1.0, 100.0, 0.2, 0.5, 0.3
    bodies = (
        Body("belt", 1, ORIGIN, (1, 1, 1)),
        Body("a", 0, ORIGIN, ORIGIN),
        Body("block", m, ORIGIN, (1, 1, 1)),
    )
    joints = (
        Joint("belt", "prismatic", GROUND, "belt", axis=(1, 0, 0)),
        Joint("x", "prismatic", GROUND, "a", axis=(1, 0, 0)),
        Joint("z", "prismatic", "a", "block", axis=(0, 0, 1)),
    )
    model = Mechanism(
        "belt",
        bodies,
        joints,
        contacts=(Contact(("block", "belt"), (static, kinetic), 0.0),),
        loads=(JointForce("spring", "x", "-100*q_x"),),
    )
    run = simulate(model, {}, {"belt": belt, "x": belt}, 3.0, motion={"belt": "0.2*t"}, output=3.0)
    rate = np.sqrt(k / m)
    most = static * m * G / k
    middle = kinetic * m * G / k
    swing = most - middle
    slip = brentq(
        lambda s: -swing * rate * np.sin(rate * s) + belt * (np.cos(rate * s) - 1),
        0.5 * np.pi / rate,
        2 * np.pi / rate - 1e-6,
        xtol=1e-15,
    )
    caught = middle + swing * np.cos(rate * slip) + belt / rate * np.sin(rate * slip)
    period = slip + (most - caught) / belt
    wanted = np.arange(most / belt, 3.0, period)
    assert len(wanted) > 3 and times(run, "belt slips") == pytest.approx(wanted, rel=1e-9)
    assert times(run, "belt sticks")[-len(wanted) + 1 :] == pytest.approx(
        (wanted + slip)[wanted + slip < 3.0], rel=1e-9
    )
