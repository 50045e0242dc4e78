"""Sensitivities against closed forms, differences, and each other's way."""

from __future__ import annotations

import numpy as np
import pytest

import catena
from catena.errors import StudyError
from catena.sensitivity import adjoint

G, HEIGHT, E, UNTIL = 9.81, 1.0, 0.8, 0.7
ENDS = np.array([0.0, 1.0])


def ball():
    """A ball above the floor: one slide with a stop at zero."""
    slide = catena.Joint("height", "prismatic", "ground", "ball", axis=(0, 0, 1), lower=0.0)
    return catena.Mechanism("ball", [catena.Body("ball", 1.0, (0, 0, 0), (1, 1, 1))], [slide])


def block(friction=2.0):
    slide = catena.Joint("slide", "prismatic", "ground", "block", axis=(1, 0, 0), friction=friction)
    return catena.Mechanism("block", [catena.Body("block", 1.0, (0, 0, 0), (1, 1, 1))], [slide])


def final(mechanism, until=1.0, **options):
    r = catena.simulate(mechanism, until=until, output=np.array([0.0, until]), **options)
    return np.append(np.asarray(r.q)[-1], np.asarray(r.v)[-1])


def difference(f, h=2e-3):
    """Central, of sixth order."""
    return (45 * (f(h) - f(-h)) - 9 * (f(2 * h) - f(-2 * h)) + (f(3 * h) - f(-3 * h))) / (60 * h)


@pytest.mark.parametrize("way", ["forward", "adjoint"])
@pytest.mark.parametrize("options", [{"integrator": "rk4", "step": 2e-3}, {"integrator": "dop853"}])
def test_parameters_starts_and_forces_against_differences(way, options):
    m = catena.load("double_pendulum")
    q = np.array([0.5, 0.3])
    s = catena.sensitivities(
        m,
        with_respect_to=["m2", "l1", "q.theta2", "v.theta1", "tau.theta2"],
        q=q,
        way=way,
        **options,
    )
    options = {"tolerance": 1e-13, **options}
    p = dict(m.parameters)
    changed = [
        lambda d: final(m, q=q, parameters={**p, "m2": 1 + d}, **options),
        lambda d: final(m, q=q, parameters={**p, "l1": 1 + d}, **options),
        lambda d: final(m, q=q + [0, d], **options),
        lambda d: final(m, q=q, v=[d, 0], **options),
        lambda d: final(m, q=q, control=[0, d], **options),
    ]
    assert s.way == way and ("exactly" in s.method or "variational" in s.method)
    for k, f in enumerate(changed):
        assert (
            np.abs(s.derivatives[:, k] - difference(f)).max() < 1e-8 * np.abs(s.derivatives).max()
        )


def test_both_ways_agree_to_rounding_for_equal_steps():
    m = catena.load("double_pendulum")
    given = {
        "with_respect_to": ["m1", "q0", "v0", "tau"],
        "q": [0.5, 0.3],
        "integrator": "rk4",
        "step": 5e-3,
    }
    forward, back = (catena.sensitivities(m, way=way, **given) for way in ("forward", "adjoint"))
    assert forward.with_respect_to == (
        "m1",
        "q.theta1",
        "q.theta2",
        "v.theta1",
        "v.theta2",
        "tau.theta1",
        "tau.theta2",
    )
    assert (
        np.abs(forward.derivatives - back.derivatives).max()
        < 1e-13 * np.abs(forward.derivatives).max()
    )
    assert back["q.theta1", "m1"] == back.table().sel(of="q.theta1", with_respect_to="m1").item()


def test_checkpoints_change_nothing(monkeypatch):
    given = {
        "with_respect_to": ["m1", "q0"],
        "q": [0.5, 0.3],
        "integrator": "rk4",
        "step": 5e-3,
        "way": "adjoint",
    }
    whole = catena.sensitivities(catena.load("double_pendulum"), **given)
    monkeypatch.setattr(adjoint, "MAX_STAGE_BYTES", 7 * 8 * 4 * 5)  # seven steps at once
    parts = catena.sensitivities(catena.load("double_pendulum"), **given)
    assert np.array_equal(whole.derivatives, parts.derivatives)


def test_a_floating_body_has_its_turns_along_the_speeds():
    body = catena.Body("stone", 2.0, (0.1, 0, 0), (1.0, 2.0, 3.0))
    m = catena.Mechanism("stone", [body], [catena.Joint("base", "free", "ground", "stone")])
    v = np.array([0.1, 0.2, 0.3, 1.0, -0.5, 0.7])
    given = {
        "with_respect_to": ["q0", "v0", "body.stone.mass"],
        "v": v,
        "until": 0.5,
        "integrator": "rk4",
        "step": 1e-2,
    }
    forward, back = (catena.sensitivities(m, way=way, **given) for way in ("forward", "adjoint"))
    assert forward.derivatives.shape == (13, 13)
    assert np.abs(forward.derivatives - back.derivatives).max() < 1e-13
    shifted = lambda d: final(m, until=0.5, v=v + d * np.eye(6)[4], integrator="rk4", step=1e-2)  # noqa: E731
    assert np.abs(forward.derivatives[:, 10] - difference(shifted)).max() < 1e-9


@pytest.mark.parametrize("way", ["forward", "adjoint"])
def test_a_bouncing_ball_against_its_closed_form(way):
    s = catena.sensitivities(
        ball(),
        with_respect_to=["q.height", "v.height"],
        q=[HEIGHT],
        until=UNTIL,
        limits="stop",
        restitution=E,
        way=way,
    )
    # t1 = (V + sqrt(V^2 + 2 g H))/g; speed after it E sqrt(V^2 + 2 g H) = E w; z = E w (T - t1) -
    # g/2 (T - t1)^2, v = E w - g (T - t1)
    w = np.sqrt(2 * G * HEIGHT)
    t1, late = w / G, UNTIL - w / G
    dw = np.array([G / w, 0.0])
    dt = np.array([1 / w, 1 / G])
    expected = np.array([E * dw * late - E * w * dt + G * late * dt, E * dw + G * dt])
    assert len(s.events) == 1 and s.events[0][0] == pytest.approx(t1, abs=1e-12)
    assert np.abs(s.derivatives - expected).max() < 1e-9


@pytest.mark.parametrize("way", ["forward", "adjoint"])
def test_a_block_that_comes_to_stick(way):
    s = catena.sensitivities(
        block(),
        with_respect_to=["v.slide", "joint.slide.friction"],
        v=[1.0],
        until=2.0,
        friction="stick",
        way=way,
    )
    # x = v^2 / (2 mu)
    assert np.abs(s.derivatives - [[1.0 / 2.0, -1.0 / 8.0], [0, 0]]).max() < 1e-9


@pytest.mark.parametrize("way", ["forward", "adjoint"])
def test_the_time_of_an_event_and_an_integral(way):
    of = {"when": "t", "fast": "v_height", "sum": "integral(v_height^2)"}
    s = catena.sensitivities(
        ball(),
        with_respect_to=["q.height", "v.height"],
        of=of,
        q=[HEIGHT],
        until=5.0,
        limits="ignore",
        way=way,
        events=[catena.events.When(when="q_height - 0.2", end=True)],
    )
    w = np.sqrt(2 * G * 0.8)
    assert s.t == pytest.approx(w / G, abs=1e-10)
    assert s.values == pytest.approx([w / G, -w, w**3 / (3 * G)], rel=1e-9)
    # d/dV of (w^3 - V^3)/(3 g) is 0 at V = 0
    assert np.abs(s.derivatives - [[1 / w, 1 / G], [-G / w, 0], [w, 0.0]]).max() < 1e-8


def test_pieces_of_forces():
    m = catena.load("double_pendulum")
    forces = np.array([[0.5, 0.0], [0.0, -0.3], [0.2, 0.1]])
    given = {
        "with_respect_to": ["forces"],
        "q": [0.5, 0.3],
        "forces": forces,
        "of": "q_theta2",
        "until": 0.6,
    }
    found = catena.sensitivities(m, **given)
    assert found.way == "adjoint" and found.with_respect_to[3] == "tau.theta2[1]"

    def end(d):
        own = forces.copy()
        own[1, 1] += d
        return final(m, until=0.6, q=[0.5, 0.3], forces=own, tolerance=1e-13)[1]

    assert abs(found["q_theta2", "tau.theta2[1]"] - difference(end)) < 1e-8


def pendulum():
    """A rod that swings as far to one side as to the other, where it has a stop."""
    pin = catena.Joint("pin", "revolute", "ground", "rod", axis=(0, 1, 0), lower=-0.5, upper=3.0)
    return catena.Mechanism("pendulum", [catena.Body("rod", 1.0, (0, 0, -1), (0, 0, 0))], [pin])


@pytest.mark.parametrize("way", ["forward", "adjoint"])
@pytest.mark.parametrize("options", [{}, {"integrator": "dopri5"}])
def test_a_stop_that_is_grazed_between_two_steps(way, options):
    def swing(beyond):
        return catena.sensitivities(
            pendulum(),
            with_respect_to=["q.pin"],
            q=[0.5 + beyond],
            until=1.6,
            limits="stop",
            way=way,
            **options,
        )

    for beyond in (0.0, 1e-9, -1e-9):
        with pytest.raises(StudyError, match=r"t = 1\.0189\d* s .*'pin' grazes.* change the start"):
            swing(beyond)
    assert "pin meets its lower stop at -0.5 rad" in swing(1e-7).events[0][1]
    missed = swing(-1e-6)
    free = catena.sensitivities(
        pendulum(),
        with_respect_to=["q.pin"],
        q=[0.5 - 1e-6],
        until=1.6,
        limits="ignore",
        way=way,
        **options,
    )
    assert not missed.events and np.array_equal(missed.derivatives, free.derivatives)


@pytest.mark.parametrize("size", [1e-9, 1e-3, 1.0, 1e6])
@pytest.mark.parametrize("step", [1.0, 0.1, 1 / 15])
def test_grazing_has_no_unit(size, step):
    """A ball thrown up to a ceiling, which it reaches at half of its time: within a step, or at the
    end of one.
    """
    slide = catena.Joint("height", "prismatic", "ground", "ball", axis=(0, 0, 1), upper=size)
    m = catena.Mechanism("ball", [catena.Body("ball", 1.0, (0, 0, 0), (1, 1, 1))], [slide])
    until = 2.0 * np.sqrt(2 * size / G)

    def throw(part):
        return catena.sensitivities(
            m,
            with_respect_to=["v.height"],
            v=[np.sqrt(2 * G * size * part)],
            until=until,
            limits="stop",
            largest_step=step * until,
        )

    for part in (1 - 1e-9, 1.0):
        with pytest.raises(StudyError, match="'height' grazes"):
            throw(part)
    assert throw(1 - 1e-6).derivatives == pytest.approx(np.array([[until], [1.0]]), rel=1e-9)


def test_a_start_on_a_stop_does_not_graze_it():
    lifted = catena.sensitivities(
        ball(), with_respect_to=["tau.height"], q=[0.0], control=[2 * G], until=1.0, limits="stop"
    )
    assert lifted.derivatives == pytest.approx(np.array([[0.5], [1.0]]), rel=1e-9)


def test_what_has_no_derivative_is_refused_by_name():
    m = pendulum()
    with pytest.raises(
        StudyError, match=r"'pin' grazes, it comes to zero with a rate of .* change the start"
    ):
        catena.sensitivities(
            m,
            with_respect_to=["q.pin"],
            q=[0.5 + 1e-8],
            until=1.1,
            largest_step=1e-4,
            limits="stop",
            restitution=0.5,
        )
    m = catena.load("double_pendulum")
    with pytest.raises(StudyError, match="no parameter 'm3' in mechanism .*m1, m2"):
        catena.sensitivities(m, with_respect_to=["m3"])
    with pytest.raises(
        StudyError,
        match="integrator 'radau' is not differentiated; take one of euler, rk4, dopri5, dop853",
    ):
        catena.sensitivities(m, with_respect_to=["m1"], integrator="radau")
    with pytest.raises(StudyError, match="Python function, whose derivative is not known"):
        control = lambda t, q, v: 0 * v  # noqa: E731
        control.sample = 0.01
        catena.sensitivities(m, with_respect_to=["m1"], control=control)
    with pytest.raises(StudyError, match="no forces are given"):
        catena.sensitivities(m, with_respect_to=["forces"])
    with pytest.raises(StudyError, match="no way 'backward'"):
        catena.sensitivities(m, with_respect_to=["m1"], way="backward")
    with pytest.raises(StudyError, match="measure 'q_elbow'.*no name 'q_elbow'"):
        catena.sensitivities(m, with_respect_to=["m1"], of="q_elbow")
    with pytest.raises(StudyError, match="with_respect_to is empty"):
        catena.sensitivities(m, with_respect_to=[])
