"""Interference: a ball on a slide falls through a plate.          o   z(t) = 1 - g t^2 / 2
___   plate at 0, 0.02 m thick
"""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import catena
from catena import Body, CollisionFilter, Joint, Mechanism, Pose, Shape
from catena.cli import app
from catena.errors import CatenaError, StateError, UnknownNameError

G, R, H = 9.81, 0.1, 0.01  # gravity, radius, half the plate


@pytest.fixture(scope="module")
def falling():
    ball = Body("ball", 1, (0, 0, 0), (1, 1, 1), (Shape("sphere", (R,), collides=True),))
    wall = Shape("box", (1, 1, 1), Pose(position=(0.75, 0, 0)), name="wall")
    return Mechanism(
        "falling",
        [ball],
        [Joint("z", "prismatic", "ground", "ball")],
        collisions=CollisionFilter(include=[("ball", "ground")]),
        ground=[Shape("box", (2, 2, 2 * H), name="plate"), wall],
    )


@pytest.fixture(scope="module")
def run(falling):
    return catena.simulate(falling, q=[1.0], until=0.7)


def when(z):
    return np.sqrt(2 * (1 - z) / G)


def test_times_are_located_between_the_rows(run):
    """In and out to rounding, deepest where the ball's centre is in the plate's: depth R + H."""
    hits = catena.interference(run, pairs=[("ball", "ground.plate")])
    (hit,) = hits
    assert len(hits) == 1 and hit.pair == ("ground.plate", "ball")
    assert (hit.begin, hit.end) == (
        pytest.approx(when(R + H), abs=1e-12),
        pytest.approx(when(-R - H), abs=1e-12),
    )
    assert hit.deepest.time == pytest.approx(when(0), abs=1e-6) and hit.depth == pytest.approx(
        R + H, abs=1e-6
    )
    assert "overlap from 0.425967 s to 0.47571 s, 0.11 m deep at 0.4515" in str(hits)


def test_a_meeting_that_no_row_has_seen(falling):
    """Rows that all have the ball clear of the plate: the cubics between them know, also without
    speeds.
    """
    t = np.array([0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    q = (1 - G * t**2 / 2)[:, None]
    v = (-G * t)[:, None]
    assert catena.clearance(falling, q, pairs=[("ground.plate", "ball")]).distance.min() > 0
    for speeds in (v, None):
        (hit,) = catena.interference(falling, t, q, speeds, pairs=[("ball", "ground.plate")])
        assert hit.begin == pytest.approx(when(R + H), abs=1e-9) and hit.end == pytest.approx(
            when(-R - H), abs=1e-9
        )


def test_the_closest_approach_of_those_that_do_not_meet(run):
    hits = catena.interference(run, pairs=[("ball", "ground.wall")])
    (near,) = hits.closest
    assert (
        len(hits) == 0
        and near.distance == pytest.approx(0.15, abs=1e-12)
        and near.second - near.first == pytest.approx([-0.15, 0, 0])
    )
    assert "nothing meets; ground.wall and ball come closest, 0.15 m" in str(hits)


def test_each_run_of_a_batch(falling):
    many = catena.simulate(falling, q=np.array([[1.0], [2.0]]), until=0.5)
    hits = catena.interference(many)
    assert [(x.run, x.pair[0]) for x in hits] == [(0, "ground.plate")] and len(hits.closest) == 4


def test_a_quaternion_between_rows_keeps_its_length():
    """A rod of half length 1 turns about x over a pole: its tip's height is sin of the angle."""
    rod = Body("rod", 1, (0, 0, 0), (1, 1, 1), (Shape("capsule", (0.05, 2.0), collides=True),))
    m = Mechanism("rod", [rod], [Joint("b", "free", "ground", "rod")], ground=[Shape("plane")])
    t = np.linspace(0, 1.0, 9)
    half = 0.5 * (np.pi / 2 - t)  # the axis z of the rod leans by pi/2 - t
    q = np.stack([0 * t, 0 * t, 0 * t + 0.5, np.cos(half), np.sin(half), 0 * t, 0 * t], axis=1)
    (hit,) = catena.interference(m, t, q)
    assert hit.begin == pytest.approx(np.arcsin(0.45), abs=1e-5) and hit.end == 1.0


def test_what_is_asked_wrongly(run, falling):
    with pytest.raises(StateError, match="a mechanism was given without a motion"):
        catena.interference(falling)
    with pytest.raises(StateError, match="a result has its own motion"):
        catena.interference(run, time=[0, 1])
    with pytest.raises(StateError, match="time rises over at least two rows"):
        catena.interference(falling, [0.0, 0.0], [[0.0], [0.0]])


def test_the_plot_shows_the_closest(run):
    figure = run.plot("clearance")
    assert [line.get_label() for line in figure.axes[0].lines][:2] == [
        "ground.plate - ball",
        "ground.wall - ball",
    ]
    with pytest.raises(UnknownNameError, match="no pair 'ball'"):
        run.plot("clearance", pairs="ball")
    bare = run.mechanism.with_(ground=())
    with pytest.raises(CatenaError, match="needs two shapes that may collide"):
        catena.Result(run.data, run.ledger, bare).plot("clearance")


def test_the_command(run, falling, tmp_path):
    catena.save(falling, tmp_path / "m.toml")
    run.save(tmp_path / "run.nc")
    ask = lambda *more: CliRunner().invoke(app, ["clearance", str(tmp_path / "m.toml"), *more])  # noqa: E731
    said = ask("--result", str(tmp_path / "run.nc")).output
    assert (
        "closest approach of every pair" in said
        and "ground.plate and ball overlap from 0.425967 s" in said
    )
    rows = json.loads(ask("--pair", "ball,ground.wall", "--json").output)["pairs"]
    assert rows == [
        {
            "pair": ["ground.wall", "ball"],
            "distance": pytest.approx(0.15),
            "first": pytest.approx([0.25, 0, 0]),
            "second": pytest.approx([0.1, 0, 0]),
            "overlap": False,
        }
    ]


def test_what_rests_on_the_ground_touches_it_and_does_not_overlap():
    """A ball at rest is in the ground by rounding, in any unit of length."""
    for unit in (1e-6, 1.0, 1e6):
        ball = catena.Body(
            "ball",
            1.0,
            (0, 0, 0),
            (0.1, 0.1, 0.1),
            shapes=(catena.Shape("sphere", (0.1 * unit,), collides=True),),
        )
        m = catena.Mechanism(
            "m",
            (ball,),
            (catena.Joint("z", "prismatic", "ground", "ball", axis=(0, 0, 1)),),
            ground=(catena.Shape("plane", collides=True),),
            collisions=catena.CollisionFilter(include=(("ball", "ground"),)),
        )
        heights = np.array([0.1, np.nextafter(0.1, 0), 0.1 - 1e-6]) * unit
        assert catena.clearance(m, heights[:, None]).overlaps[:, 0].tolist() == [False, False, True]
        assert not len(
            catena.interference(m, [0.0, 1.0, 2.0], heights[[0, 1, 0], None], np.zeros((3, 1)))
        )
        assert (
            len(catena.interference(m, [0.0, 1.0, 2.0], heights[[0, 2, 1], None], np.zeros((3, 1))))
            == 1
        )


def test_a_result_of_another_mechanism_with_the_same_coordinates_is_told_of(run, falling, tmp_path):
    catena.save(falling.with_(name="other"), tmp_path / "m.toml")
    run.save(tmp_path / "run.nc")
    said = (
        CliRunner()
        .invoke(app, ["clearance", str(tmp_path / "m.toml"), "--result", str(tmp_path / "run.nc")])
        .output
    )
    assert (
        "is of mechanism 'falling', which has the same coordinates; distances are those of 'other'"
        in " ".join(said.split())
    )
