"""Runs of a study beside `catena.simulate`, one by one: everything that can vary, loops, failures,
events, Python measures.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import catena
from catena.errors import StudyError
from catena.simulation.scenario import read

PD = catena.control.PD
ARM = catena.load("two_link_arm")
ARM = ARM.with_(
    loads=(catena.JointSpring("spring", "elbow", stiffness=3.0, rest=0.0),),
    bodies=(*ARM.bodies, catena.Body("plain", 0.3, (0.2, 0, 0), (0.01, 0.01, 0.01))),
    joints=(
        *ARM.joints,
        catena.Joint("weld", "fixed", "fore", "plain", catena.Pose(position=(0.1, 0, 0))),
    ),
)
RK4 = {"until": 0.2, "integrator": "rk4", "step": 1e-3, "output": 0.01}
END = {"a": "final(q['shoulder'])", "b": "final(q['elbow'])"}


def ends(table) -> np.ndarray:
    assert not any(table["failure"].values)
    return np.stack([table["a"].values, table["b"].values], axis=-1)


def last(m, **options) -> np.ndarray:
    return catena.simulate(m, **{**RK4, **options}).data["q"].values[-1]


def test_equal_steps_have_the_bits_of_simulate() -> None:
    q0 = np.linspace(-1, 1, 11)
    m2 = np.linspace(1.0, 2.0, 11)
    table = catena.study(
        ARM, {"q.shoulder": q0, "m2": m2}, measures=END, q={"elbow": 0.3}, **RK4
    ).run()
    q = np.stack([np.repeat(q0, 11), np.full(121, 0.3)], axis=-1)
    r = catena.simulate(ARM, q=q, parameters={"m2": np.tile(m2, 11)}, **RK4)
    np.testing.assert_array_equal(ends(table), r.data["q"].values[:, -1])


def test_numbers_of_records_and_starts() -> None:
    """Beside a mechanism that has these numbers from the beginning."""
    values = {
        "joint.elbow.damping": 0.9,
        "load.spring.stiffness": 11.0,
        "body.plain.com.x": 0.31,
        "body.plain.mass": 0.9,
        "v.elbow": 0.7,
    }
    table = catena.study(
        ARM,
        {name: [x, 1.1 * x] for name, x in values.items()},
        measures=END,
        q={"elbow": 0.4},
        **RK4,
    ).run()
    changed = ARM.with_(
        joints=[replace(j, damping=0.9) if j.name == "elbow" else j for j in ARM.joints],
        loads=(replace(ARM.loads[0], stiffness=11.0),),
        bodies=(*ARM.bodies[:-1], replace(ARM.bodies[-1], com=(0.31, 0, 0), mass=0.9)),
    )
    np.testing.assert_allclose(
        ends(table)[0], last(changed, q={"elbow": 0.4}, v={"elbow": 0.7}), rtol=1e-12, atol=1e-14
    )
    assert len(np.unique(table["b"].values)) == 32  # each of the five counts


def test_gains_of_a_controller() -> None:
    control = PD(20.0, {"shoulder": 2.0, "elbow": 1.0}, 0.5) + PD(
        {"elbow": 1.0}, 0.0, {"elbow": 0.2}, gravity=False
    )
    table = catena.study(
        ARM,
        {
            "control.0.kp": [20.0, 35.0],
            "control.0.kd.elbow": [1.0, 3.0],
            "control.1.kp.elbow": [1.0, 4.0],
        },
        measures=END,
        control=control,
        **RK4,
    ).run()
    by_hand = PD(35.0, {"shoulder": 2.0, "elbow": 3.0}, 0.5) + PD(
        {"elbow": 4.0}, 0.0, {"elbow": 0.2}, gravity=False
    )
    np.testing.assert_allclose(
        ends(table)[[0, -1]],
        [last(ARM, control=control), last(ARM, control=by_hand)],
        rtol=1e-12,
        atol=1e-14,
    )


def test_joint_forces_that_act_all_the_time() -> None:
    table = catena.study(
        ARM, {"tau.elbow": [0.0, 2.0]}, measures=END, control=np.array([1.0, 0.5]), **RK4
    ).run()
    np.testing.assert_allclose(
        ends(table), [last(ARM, control=np.array([1.0, 0.5 + x])) for x in (0.0, 2.0)], rtol=1e-13
    )
    with pytest.raises(StudyError, match="write it as a load"):
        catena.study(
            ARM, {"tau.elbow": [1.0]}, measures=END, control=PD(1.0, 1.0, 0.0), **RK4
        ).run()


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("body.for.mass", "no body 'for'.*Did you mean 'fore'"),
        ("body.fore.weight", "no number 'weight' in body 'fore'"),
        ("joint.elbow.mass", "no number 'mass' in joint 'elbow'"),
        ("load.spring.length", "no number 'length' in load 'spring'"),
        ("control.kp", "a gain of a controller; this study has no controller"),
        ("q.wrist", "no coordinate 'wrist'"),
        ("body.fore.com.x", "is the expression 'lc2' of parameters; vary one of lc2"),
    ],
)
def test_what_cannot_vary(name: str, words: str) -> None:
    with pytest.raises(StudyError, match=words):
        catena.study(ARM, {name: [1.0]}, measures=END)
    with pytest.raises(StudyError, match="no gain 'kq'"):
        catena.study(ARM, {"control.kq": [1.0]}, measures=END, control=PD(1.0, 1.0, 0.0))
    with pytest.raises(StudyError, match="part of a quaternion|one number of a quaternion"):
        catena.study(
            "every_joint",
            {
                f"q.{next(n for n in catena.load('every_joint').coordinate_names if n.endswith('qw'))}": [  # noqa: E501
                    1.0
                ]
            },
            measures="max(kinetic)",
            until=0.1,
        )


def test_adaptive_runs_agree_with_simulate_to_the_tolerance() -> None:
    asked = read("triple_pendulum", until=0.3)
    first = asked.mechanism.coordinate_names[0]
    table = catena.study(
        "triple_pendulum",
        {f"q.{first}": np.linspace(0.5, 1.5, 11)},
        measures={"k": "final(kinetic)", "e": "max(abs(energy_error))"},
        until=0.3,
        tolerance=1e-10,
    ).run()
    for k in (0, 10):
        q = asked.q.copy()
        q[0] = np.linspace(0.5, 1.5, 11)[k]
        r = catena.simulate(asked.mechanism, **{**asked.arguments, "q": q, "tolerance": 1e-12})
        assert table["k"].values[k] == pytest.approx(float(r.data["kinetic"][-1]), rel=1e-8)
    assert table["e"].values.max() < 1e-8


def test_loops_are_closed_for_each_run() -> None:
    """Each crank has its own closed start: that of `assemble`, on the branch of the nominal one;
    those too long are told by loop and gap.
    """
    cranks = np.linspace(0.02, 0.5, 16)
    s = catena.study(
        "four_bar",
        {"crank": cranks},
        until=0.05,
        measures={"open": "max(abs(x['marker']))", "q": "first(q['upper pin'])"},
    )
    table = s.run()
    failed = table["failure"].values != ""
    assert failed.any() and not failed.all()
    assert all(
        "cannot be assembled: loop 'near pin' stays open by" in str(x)
        for x in table["failure"].values[failed]
    )
    # recorded, not dropped
    assert np.isnan(table["open"].values[failed]).all() and len(table["crank"]) == 16
    m = catena.load("four_bar")
    near = read("four_bar").q
    for k in np.flatnonzero(~failed)[::4]:
        q, _ = catena.assemble(
            m.with_(parameters={**m.parameters, "crank": cranks[k]}), near, fixed=["motor pin"]
        )
        assert table["q"].values[k] == pytest.approx(q[1], abs=1e-9)
    opening = s.result([int(k) for k in np.flatnonzero(~failed)]).data["closure"].values
    assert np.abs(opening).max() < 1e-9
    with pytest.raises(StudyError, match=r"run 15 has no result: it cannot be assembled"):
        s.result(15)


def test_runs_that_fail_leave_their_neighbours_alone() -> None:
    """A step far too long for some stiffnesses, a mass below zero: each has its sentence, and the
    others their bits.
    """
    stiff = np.where(np.arange(24) % 5 == 3, 1e9, 10.0 + np.arange(24))
    table = catena.study(
        ARM,
        {"load.spring.stiffness": stiff},
        measures=END,
        q={"elbow": 0.4},
        **{**RK4, "step": 0.01},
    ).run()
    failed = stiff > 1e8
    assert [str(x) != "" for x in table["failure"].values] == failed.tolist()
    assert "became infinite or not a number at t = " in str(table["failure"].values[3])
    only = catena.study(
        ARM,
        {"load.spring.stiffness": stiff[~failed]},
        measures=END,
        q={"elbow": 0.4},
        **{**RK4, "step": 0.01},
    ).run()
    np.testing.assert_array_equal(table["b"].values[~failed], only["b"].values)
    masses = catena.study(ARM, {"m2": [1.0, -1.0, 2.0]}, measures=END, **RK4).run()
    assert [bool(x) for x in masses["failure"].values] == [
        False,
        True,
        False,
    ] and "it is zero or more" in str(masses["failure"].values[1])
    limits = catena.study(ARM, {"q.elbow": [0.0, 3.0]}, measures=END, **RK4).run()
    assert "'elbow' starts at 3, its limits are" in str(limits["failure"].values[1])


def test_events_and_measures_that_fail_for_some_runs() -> None:
    table = catena.study(
        ARM,
        {"v.elbow": [0.0, 6.0, 12.0]},
        until=0.6,
        limits="stop",
        q={"elbow": 1.5},
        control=np.zeros(2),
        measures={"hit": "event['elbow']", "top": "max(q['elbow'])"},
    ).run()
    r = catena.simulate(
        ARM, q={"elbow": 1.5}, v={"elbow": 12.0}, until=0.6, limits="stop", control=np.zeros(2)
    )
    first = next(
        float(t)
        for t, what in zip(r.data["event_time"].values, r.data["event"].values)
        if "elbow" in str(what)
    )
    assert table["hit"].values[2] == pytest.approx(first, rel=1e-12)
    assert (
        np.isnan(table["hit"].values[0])
        and str(table["failure"].values[0]) == "measure 'hit' is nan"
    )
    assert np.isfinite(table["top"].values).all()


def test_python_measures() -> None:
    def furthest(result: catena.Result) -> float:
        if float(result.data["q"][0, 0]) > 0.9:
            raise ValueError("too far")
        return float(abs(result.data["v"].values).max())

    @catena.studies.vectorised
    def ends_all(result: catena.Result) -> np.ndarray:
        return result.data["q"].values[:, -1, 1]

    s = catena.study(
        ARM,
        {"q.shoulder": [0.0, 0.5, 1.0]},
        measures={"f": furthest, "g": ends_all, "h": "final(q['elbow'])"},
        **RK4,
    )
    table = s.run()
    np.testing.assert_array_equal(table["g"].values, table["h"].values)
    assert [str(x) for x in table["failure"].values] == ["", "", "measure 'f': ValueError: too far"]
    r = s.result(1)
    assert table["f"].values[1] == np.abs(r.data["v"].values).max() and r.ledger.complete


def test_an_estimate_and_a_result_by_its_number(swings) -> None:
    cost = swings.estimate()
    assert (
        cost.runs == 300
        and cost.bytes == 300 * (8 * (3 + 2 + 11) + 16)
        and cost.seconds > 0
        and not cost.large
    )
    assert "300 runs, about" in str(cost) and "core hours" in str(cost)
    table = swings.run()
    r = swings.result([7, 250])
    np.testing.assert_array_equal(r.data["q"].values[:, -1, 1], table["end"].values[[7, 250]])
    np.testing.assert_array_equal(table["angle"].values[[7, 250]], r.data["q"].values[:, :, 1])
    grid = catena.studies.as_grid(table)
    assert grid["end"].dims == ("m2", "sample") and grid["angle"].dims == ("m2", "sample", "time")
    assert float(grid["end"].sel(m2=1.5)[7]) == table["end"].values[107]
    with pytest.raises(StudyError, match="runs 0 to 299"):
        swings.result(300)
