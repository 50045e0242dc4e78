"""Margins by closed forms and python-control; regions of attraction and Monte Carlo by single
runs.
"""

import numpy as np
import pytest

import catena
from catena.control import (
    kalman,
    lqg,
    lqr,
    margins,
    monte_carlo,
    plot_margins,
    plot_region,
    region_of_attraction,
)
from catena.errors import QuestionError


def cart():
    mechanism = catena.load("cart_pole")
    system = catena.linearize(mechanism, [0.0, 0.0], actuated=["x"], outputs=["x", "theta"])
    return mechanism, system


def test_what_every_lqr_guarantees():
    """|S| <= 1: gain from 1/2, phase 60 degrees, symmetric disk margin 2/3 ([Anderson1990])."""
    machine = catena.compile(catena.load("triple_pendulum"))
    q = machine.sample(np.random.default_rng(4))
    system = catena.linearize(machine, q, tau=catena.analysis.static_torques(machine, q).tau)
    regulator = lqr(system, 1.0, 0.3)
    for loop in margins(system, regulator):
        assert loop.gain[0] <= 0.5 and loop.gain[1] == np.inf
        assert loop.phase >= np.pi / 3 and loop.disk >= 2 / 3 - 1e-6
        assert (abs(1 + loop.response) >= 1 - 1e-9).all()


def test_margins_of_an_lqg_against_python_control():
    control = pytest.importorskip("control")
    from catena.control.margins import _opened

    _, system = cart()
    law = lqg(lqr(system, 1.0, 0.1), kalman(system, 1.0, 1e-4))
    (mine,) = margins(system, law)
    theirs = control.ss(*_opened(system, law, 0), 0)
    gain, phase, *_ = control.stability_margins(theirs)
    assert min(mine.gain, key=lambda x: abs(np.log(x))) == pytest.approx(gain, rel=1e-6)
    assert np.degrees(mine.phase) == pytest.approx(phase, rel=1e-6)
    # at each margin the closed loop is on the edge of stability
    A, b, c = _opened(system, law, 0)
    poles = np.linalg.eigvals(A - mine.gain[1] * b @ c)
    assert abs(poles.real).min() < 1e-6 * abs(poles).max()


def test_the_delay_margin_by_simulation():
    """A delay a little below the margin decays, one a little above grows: the loop response with
    exp(-s T) passes -1 on the other side.
    """
    _, system = cart()
    (loop,) = margins(system, lqr(system, 1.0, 0.1))
    k = int(np.argmin(abs(abs(loop.response) - 1.0)))
    at = loop.response[k] * np.exp(-1j * loop.frequency[k] * loop.delay)
    assert abs(at + 1.0) < 0.02


def test_a_region_of_attraction_agrees_with_single_runs():
    mechanism, system = cart()
    regulator = lqr(system, 1.0, 0.1, limits=20.0)
    found = region_of_attraction(
        mechanism,
        regulator,
        {"theta": (-1.2, 1.2), "v['theta']": (-6.0, 6.0)},
        target=[0.0, 0.0],
        until=10.0,
        samples=400,
        grid=True,
    )
    assert 0.2 < found.share < 0.9 and found.interval[0] < found.share < found.interval[1]
    for k in (np.flatnonzero(found.success)[5], np.flatnonzero(~found.success)[5]):
        theta, rate = found.values[k]
        run = catena.simulate(
            mechanism, q=[0.0, theta], v=[0.0, rate], until=10.0, control=regulator
        )
        end = np.r_[run.data["q"].values[-1], run.data["v"].values[-1]]
        assert bool((abs(end) < 0.05).all()) == found.success[k]
    axes = plot_region(found)
    assert "400 runs" in axes.get_title()


def test_monte_carlo_over_parameters():
    mechanism, system = cart()
    regulator = lqr(system, 1.0, 0.1, limits=20.0)
    ask = {"q": [0.0, 0.4], "target": [0.0, 0.0], "until": 12.0, "samples": 200}
    near = monte_carlo(mechanism, regulator, {"m": (0.19, 0.21)}, **ask)
    far = monte_carlo(mechanism, regulator, {"m": (0.1, 2.0), "l": (0.2, 2.0)}, **ask)
    assert near.share == 1.0 > far.share
    with pytest.raises(catena.CatenaError, match="mass"):
        monte_carlo(mechanism, regulator, {"mass": (0.1, 0.2)}, **ask)


def test_the_nyquist_plot_shows_the_disk():
    _, system = cart()
    (loop,) = margins(system, lqr(system, 1.0, 0.1))
    axes = plot_margins(loop)
    assert any("disk margin" in text.get_text() for text in axes.get_legend().get_texts())


def test_margins_of_a_sampled_controller_are_refused():
    _, system = cart()
    with pytest.raises(QuestionError, match="sampled"):
        margins(system, lqr(system, 1.0, 0.1, sample=0.01))
