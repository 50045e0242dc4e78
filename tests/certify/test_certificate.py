"""All formulations agree, one test over ALL_FORMULATIONS x mechanisms; and one that lies is
caught.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import casadi as ca
import numpy as np
import pytest

import catena
import zoo
from catena.certify import check, compare
from catena.certify.certificate import _middle
from catena.equations.formulations import ALL_FORMULATIONS, derive
from catena.equations.formulations.lagrange import lagrange
from catena.equations.formulations.recursive import recursive
from catena.model.loads import JointSpring

MECHANISMS = zoo.certificate_set()
EXACT = tuple(name for name in ALL_FORMULATIONS if name != "penalty")


@pytest.mark.parametrize("name", MECHANISMS)
def test_the_formulations_agree(name):
    certificate = check(MECHANISMS[name], formulations=EXACT, run=False)
    assert certificate.passed, str(certificate)
    applied = [f for f in certificate.findings if f.acceleration is not None]
    assert len(applied) == len(EXACT), str(certificate)
    assert max(f.acceleration for f in applied) < 1e-9


def wrong(mechanism):
    """A lagrange whose last acceleration has its sign turned."""
    e = lagrange(mechanism)
    inputs = [ca.SX.sym(f"i{k}", e.acceleration.size1_in(k)) for k in range(5)]
    a = e.acceleration(*inputs)
    a[-1] = -a[-1]
    return replace(e, acceleration=ca.Function("acceleration", inputs, [a]))


def test_a_formulation_that_lies_fails_the_certificate():
    asked = {name: lambda m, name=name: derive(m, name) for name in ("kane", "boltzmann_hamel")}
    certificate = check(
        MECHANISMS["arm3"],
        formulations={**asked, "recursive": recursive, "wrong": wrong},
        run=False,
    )
    assert not certificate.passed
    assert certificate.worst["formulation"] == "wrong"
    assert "NOT agree" in str(certificate)
    assert [f.passed for f in certificate.findings] == [True, True, True, False]


def test_the_worst_state_can_be_looked_at():
    certificate = check(
        MECHANISMS["pendulum"], formulations=("recursive", "kane"), states=10, run=False
    )
    assert certificate.worst["q"].shape == (1,) and certificate.worst["difference"] < 1e-12


def test_free_runs_keep_their_energy():
    certificate = check(MECHANISMS["double_pendulum"], states=10)
    drifts = [f.drift for f in certificate.findings if f.drift is not None]
    assert len(drifts) >= 5 and max(drifts) < 1e-8


def test_counts_of_the_triple_pendulum():
    """First-order equations as [Baysec1996] counts them: 18, 14, 6, 6."""
    m = MECHANISMS["triple_pendulum"]
    counted = {
        name: derive(m, name).counts.first_order
        for name in ("newton_euler", "penalty", "hamilton", "lagrange")
    }
    assert counted == {"newton_euler": 18, "penalty": 14, "hamilton": 6, "lagrange": 6}


def test_the_comparison_has_a_line_for_each():
    found = compare(
        MECHANISMS["double_pendulum"],
        until=0.2,
        formulations=("recursive", "lagrange", "newton_euler"),
    )
    assert [c.formulation for c in found.costs] == ["recursive", "lagrange", "newton_euler"]
    assert min(c.simulation for c in found.costs) == pytest.approx(1.0)
    assert all(c.deviation < 1e-6 for c in found.costs)


def test_closed_loops_agree():
    """A planar four-bar by every formulation that takes loops."""
    from catena.model.mechanism import Body, Joint, Mechanism
    from catena.model.pose import Pose

    rod = lambda name, length: Body(name, 1.0, (length / 2, 0, 0), (0.01, 0.1, 0.1))  # noqa: E731
    hinge = {"axis": (0, 1, 0)}
    four_bar = Mechanism(
        "four_bar",
        (rod("crank", 0.5), rod("coupler", 1.2), rod("rocker", 0.9)),
        (
            Joint("a", "revolute", "ground", "crank", **hinge),
            Joint("b", "revolute", "crank", "coupler", Pose(position=(0.5, 0, 0)), **hinge),
            Joint("c", "revolute", "ground", "rocker", Pose(position=(1.0, 0, 0)), **hinge),
        ),
        loops=(
            Joint(
                "d",
                "revolute",
                "coupler",
                "rocker",
                Pose(position=(1.2, 0, 0)),
                offset=Pose(position=(0.9, 0, 0)),
                **hinge,
            ),
        ),
    )
    certificate = check(four_bar, states=20, run=False)
    applied = {
        f.formulation: f.acceleration for f in certificate.findings if f.acceleration is not None
    }
    assert {"recursive", "lagrange"} <= set(applied), str(certificate)
    assert all(np.isfinite(x) for x in applied.values())
    assert max(x for n, x in applied.items() if n != "penalty") < 1e-9, str(certificate)


@pytest.mark.parametrize("name", ["four_bar", "slider_crank"])
def test_closed_examples_have_their_certificate_with_free_runs(name):
    certificate = check(catena.load(name), states=20)
    assert certificate.passed, str(certificate)
    assert sum(f.reactions is not None for f in certificate.findings) >= 2


def test_the_formulations_agree_on_the_rotor_of_a_follower():
    certificate = catena.check(zoo.follower(), formulations=EXACT, states=20, run=False)
    assert certificate.passed, str(certificate)


@pytest.mark.parametrize("name", ["bricard", "two_four_bars"])
def test_the_certificate_holds_for_closed_examples(name):
    """bricard has a row too many where it is closed, and only there."""
    certificate = catena.check(catena.load(name), formulations=EXACT, states=20, run=False)
    assert certificate.passed, str(certificate)
    assert sum(f.reactions is not None for f in certificate.findings) >= 2


def test_one_answer_that_is_no_number_does_not_hide_the_others():
    np.testing.assert_array_equal(
        _middle([np.array([1.0, 2.0]), np.array([np.nan, 2.0]), np.array([1.0, np.inf])]),
        [1.0, 2.0],
    )


def test_reactions_that_are_no_numbers_do_not_agree():
    """A formulation that leaves out the wrench of a joint that the others determine is named."""

    def blind(m):
        e = derive(m, "kane")
        t, q, v, tau, p = e.reactions.sx_in()
        return e.with_(
            reactions=ca.Function(
                "blind", [t, q, v, tau, p], [e.reactions(t, q, v, tau, p) * float("nan")]
            )
        )

    certificate = check(
        zoo.pendulum(2),
        formulations={
            "kane": partial(derive, by="kane"),
            "lagrange": partial(derive, by="lagrange"),
            "blind": blind,
        },
        states=3,
    )
    assert certificate.failed == ("blind",)


def rubbing_arm():
    """An arm whose joints damp and rub as those of real robots do beside their light links."""
    arm = zoo.arm(3)
    return arm.with_(joints=[replace(j, damping=10.0, friction=1.0) for j in arm.joints])


def test_a_robot_with_much_damping_and_friction_is_certified_in_few_steps(monkeypatch):
    """Losses are added to every formulation alike: free runs leave them out, and are not stiff."""
    from catena.certify import certificate

    monkeypatch.setattr(certificate, "FREE_RUN_MAX_STEPS", 500)
    found = check(rubbing_arm(), formulations=("recursive", "kane", "lagrange"), states=10)
    assert found.passed and found.unfinished == ()
    assert max(f.drift for f in found.findings) < 1e-8


def test_a_stiff_free_run_is_finished():
    """A damper that would take an explicit method millions of steps."""
    damper = JointSpring("damper", zoo.arm(2).joints[0].name, 0.0, 0.0, 1e9)
    found = check(zoo.arm(2).with_(loads=[damper]), formulations=("recursive", "kane"), states=10)
    assert found.passed and found.unfinished == ()
    assert max(f.drift for f in found.findings) < 1e-8


def test_a_free_run_that_cannot_be_finished_is_no_disagreement(monkeypatch):
    """Runs that end at the most steps of a free run: the formulations agree at all states, and the
    certificate says that their runs were not finished, and asks for one alone.
    """
    monkeypatch.setattr("catena.certify.certificate.FREE_RUN_MAX_STEPS", 3)
    found = check(zoo.arm(2), formulations=("recursive", "kane"), states=10)
    assert found.passed
    assert found.unfinished == ("recursive", "kane")
    assert all(f.drift is None for f in found.findings)
    assert "that by recursive was not finished" in found.findings[1].unfinished
    assert "agrees at states; its free run was not finished" in str(found)
    assert "compared at the random states alone" in str(found)
    assert str(found).endswith("the formulations agree")
