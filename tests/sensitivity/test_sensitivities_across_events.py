"""Sensitivities through loops, contacts, impulses and locks: closed forms, differences of sixth
order, and each other's way.
"""

from __future__ import annotations

import numpy as np
import pytest

import catena
from catena.errors import StudyError

G = 9.81
WAYS = pytest.mark.parametrize("way", ["forward", "adjoint"])


def final(mechanism, until, **options):
    r = catena.simulate(
        mechanism, until=until, output=np.array([0.0, until]), **{"tolerance": 1e-13, **options}
    )
    return np.append(np.asarray(r.q)[-1], np.asarray(r.v)[-1])


def difference(f, h=1e-3):
    return (45 * (f(h) - f(-h)) - 9 * (f(2 * h) - f(-2 * h)) + (f(3 * h) - f(-3 * h))) / (60 * h)


def stone(friction=0.3, restitution=0.0, **contact):
    """A ball on two slides, x and z, above the floor: it cannot turn."""
    bodies = [
        catena.Body("rail", 0.0, (0, 0, 0), (0, 0, 0)),
        catena.Body(
            "stone",
            2.0,
            (0, 0, 0),
            (1, 1, 1),
            shapes=(catena.Shape("sphere", (0.1,), collides=True),),
        ),
    ]
    joints = [
        catena.Joint("x", "prismatic", "ground", "rail", axis=(1, 0, 0)),
        catena.Joint("z", "prismatic", "rail", "stone", axis=(0, 0, 1)),
    ]
    return catena.Mechanism(
        "stone",
        bodies,
        joints,
        contacts=(catena.Contact(("stone", "ground"), friction, restitution, **contact),),
    )


def test_a_closed_loop_against_differences_of_studies():
    """Both close the loop again for every crank's length, and so differentiate the same motion."""
    m = catena.load("slider_crank")
    h = 1e-3 * np.array([-3, -2, -1, 1, 2, 3])
    pin, last = "shaft", "cylinder"
    given = {"q": {pin: 0.5}, "v": {pin: 1.0}, "until": 0.2, "tolerance": 1e-12}
    forward, back = (
        catena.sensitivities(
            m, with_respect_to=["r", f"v.{pin}"], of={"end": f"v_{last}"}, way=way, **given
        )
        for way in ("forward", "adjoint")
    )
    assert (
        np.abs(forward.derivatives - back.derivatives).max() < 1e-9 * np.abs(back.derivatives).max()
    )
    for name, centre in (("r", 0.3), (f"v.{pin}", 1.0)):
        table = catena.study(
            m, {name: centre + h}, measures={"end": f"final(v['{last}'])"}, **given
        ).run()
        expected = np.asarray(table["end"]) @ [-1, 9, -45, 45, -9, 1] / 60 / 1e-3
        assert back["end", name] == pytest.approx(expected, rel=1e-8)


def test_a_loop_is_not_torn_by_what_is_varied():
    with pytest.raises(
        StudyError,
        match=r"a change of 'q\.\w.*' alone tears 'wrist pin' open .* as many coordinates as",
    ):
        catena.sensitivities(
            catena.load("slider_crank"), with_respect_to=["q0"], q={"shaft": 0.5}, until=0.1
        )


@WAYS
def test_impulses_and_a_lock_against_differences(way):
    m = catena.load("double_pendulum")
    q = np.array([0.5, 0.3])
    p = dict(m.parameters)
    blows = [
        catena.events.Impulse(frame="tip", linear=(0.3, 0.2, 0.1), at=0.4),
        catena.events.Lock(joint="theta2", when="v_theta1 + 0.9"),
    ]
    found = catena.sensitivities(
        m,
        with_respect_to=["l1", "q.theta2"],
        q=q,
        events=blows,
        until=1.0,
        way=way,
        tolerance=1e-12,
    )
    assert len(found.events) == 2
    runs = [
        lambda d: final(m, 1.0, q=q, events=blows, parameters={**p, "l1": p["l1"] + d}),
        lambda d: final(m, 1.0, q=q + [0, d], events=blows),
    ]
    expected = np.stack([difference(f) for f in runs], axis=1)
    assert np.abs(found.derivatives - expected).max() < 1e-9 * np.abs(expected).max()


@WAYS
def test_a_stone_that_lands_slips_and_sticks(way):
    """x = V t1 + u^2 / (2 mu g), t1 = sqrt(2 h / g), u = V - mu g t1 after the impact, which has
    friction too.
    """
    mu, h, V = 0.3, 0.4, 3.0
    found = catena.sensitivities(
        stone(mu), with_respect_to=["v.x", "q.z"], q=[0.0, 0.1 + h], v=[V, 0.0], until=1.5, way=way
    )
    t1 = np.sqrt(2 * h / G)
    u, late = V - mu * G * t1, 1 / (G * t1)
    assert "sticks" in found.events[-1][1]
    assert found.values == pytest.approx([V * t1 + u**2 / (2 * mu * G), 0.1, 0.0, 0.0], abs=1e-9)
    assert (
        np.abs(
            found.derivatives - [[t1 + u / (mu * G), (V - u) * late], [0, 0], [0, 0], [0, 0]]
        ).max()
        < 1e-8
    )


@WAYS
@pytest.mark.parametrize("law", ["newton", "poisson"])
def test_a_rough_bounce(way, law):
    """Behind it the stone has V - mu (1 + e) g t1 and rises with e g t1."""
    mu, e, h, V, T = 0.2, 0.7, 0.4, 3.0, 0.5
    found = catena.sensitivities(
        stone(mu, e, law=law),
        with_respect_to=["v.x", "q.z"],
        q=[0.0, 0.1 + h],
        v=[V, 0.0],
        until=T,
        way=way,
    )
    t1 = np.sqrt(2 * h / G)
    late = 1 / (G * t1)
    slower = mu * (1 + e) * G * t1
    dx = slower * late - mu * (1 + e) * G * late * (T - t1)  # of x = V T - slower (T - t1)
    dz = e * G * late * (T - t1) - e * G * t1 * late + G * (T - t1) * late
    expected = [[T, dx], [0, dz], [1, -mu * (1 + e) * G * late], [0, (e + 1) * G * late]]
    assert np.abs(found.derivatives - expected).max() < 1e-8


@WAYS
def test_a_contact_that_is_left(way):
    """A bead slides down a smooth ball of radius 1 and leaves it, where the ball pushes no more;
    then it flies.
    """
    bodies = [
        catena.Body("rail", 0.0, (0, 0, 0), (0, 0, 0)),
        catena.Body("bead", 1.0, (0, 0, 0), (0, 0, 0)),
    ]
    joints = [
        catena.Joint("x", "prismatic", "ground", "rail", axis=(1, 0, 0)),
        catena.Joint("z", "prismatic", "rail", "bead", axis=(0, 0, 1)),
    ]
    on = catena.Contact(
        ("grain", "ball"), 0.0, 0.0, radius=0.0, surface="sphere", surface_radius=1.0
    )
    m = catena.Mechanism(
        "bead on a ball",
        bodies,
        joints,
        (catena.Frame("ball", "ground"), catena.Frame("grain", "bead")),
        contacts=(on,),
    )
    start = {"q": [0.0, 1.0], "v": [0.5, 0.0]}
    until = 0.8
    found = catena.sensitivities(
        m, with_respect_to=["v.x"], until=until, way=way, tolerance=1e-12, **start
    )
    assert "opens" in found.events[0][1]
    # v^2 = V^2 + 2 g (1 - c), which at the end is g c: c = (V^2 + 2 g) / (3 g)
    expected = difference(lambda d: final(m, until, q=[0.0, 1.0], v=[0.5 + d, 0.0]))
    assert np.abs(found.derivatives[:, 0] - expected).max() < 1e-7 * np.abs(expected).max()


@WAYS
def test_slip_along_a_line_feels_what_is_across_it(way):
    """A ball that cannot turn slips along x: a little speed across it is braked in the same ratio,
    as V' = V - mu g t.
    """
    mu, V, T = 0.3, 2.0, 0.4
    body = catena.Body(
        "ball",
        1.0,
        (0, 0, 0),
        (1e9, 1e9, 1e9),
        shapes=(catena.Shape("sphere", (0.1,), collides=True),),
    )
    m = catena.Mechanism(
        "ball",
        [body],
        [catena.Joint("base", "free", "ground", "ball")],
        contacts=(catena.Contact(("ball", "ground"), mu, 0.0),),
    )
    found = catena.sensitivities(
        m,
        with_respect_to=["v0"],
        of=["q_base_y", "v_base_vy"],
        q=[0, 0, 0.1, 1, 0, 0, 0],
        v=[V, 0, 0, 0, 0, 0],
        until=T,
        way=way,
    )
    now = V - mu * G * T
    assert found.derivatives[:, 1] == pytest.approx(
        [(V * T - mu * G * T**2 / 2) / V, now / V], rel=1e-7
    )


def test_what_touches_at_the_start():
    m = stone()
    with pytest.raises(
        StudyError,
        match="a change of 'q.z' moves the start away from .*'stone-ground'",
    ):
        catena.sensitivities(m, with_respect_to=["q.z"], q=[0.0, 0.1], v=[1.0, 0.0], until=0.1)
    slide = catena.Joint("slide", "prismatic", "ground", "block", axis=(1, 0, 0), friction=2.0)
    block = catena.Mechanism("block", [catena.Body("block", 1.0, (0, 0, 0), (1, 1, 1))], [slide])
    stuck = catena.sensitivities(
        block, with_respect_to=["q.slide", "v.slide", "tau.slide"], until=1.0, friction="stick"
    )
    # a push of d is stopped after d / mu, on a way of d^2 / (2 mu)
    assert np.array_equal(stuck.derivatives, [[1, 0, 0], [0, 0, 0]])


def test_two_that_meet_at_one_instant_have_no_derivative():
    bodies = [catena.Body("bar", 1.0, (0, 0, 0), (0.1, 0.1, 0.1))]
    ends = (
        catena.Frame("left", "bar", catena.Pose(position=(-0.5, 0, 0))),
        catena.Frame("right", "bar", catena.Pose(position=(0.5, 0, 0))),
    )
    m = catena.Mechanism(
        "bar",
        bodies,
        [catena.Joint("base", "free", "ground", "bar")],
        ends,
        contacts=(catena.Contact((("left", "right"), "ground"), 0.0, 0.5),),
    )
    with pytest.raises(StudyError, match="left-ground, right-ground meet at the same instant"):
        catena.sensitivities(m, with_respect_to=["v0"], q=[0, 0, 0.5, 1, 0, 0, 0], until=0.5)
