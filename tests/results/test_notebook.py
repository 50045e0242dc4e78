"""What a notebook shows: HTML and pictures of mechanisms, equations, results and answers, each
once, without scripts but the player's.
"""

from __future__ import annotations

import numpy as np
import pytest

import catena
from catena.results.animation import Playing


@pytest.fixture(scope="module")
def result():
    return catena.simulate(catena.load("pendulum"), q=[0.5], until=0.2)


def test_a_mechanism_is_drawn_and_listed():
    shown = catena.load("four_bar")._repr_html_()
    assert (
        "data:image/png;base64," in shown
        and "<td" in shown
        and "closes a loop" in shown
        and "<script" not in shown
    )


def test_names_are_escaped():
    m = catena.load("pendulum").with_(name="<script>alert(1)</script>")
    assert "<script" not in m._repr_html_()


def test_equations_are_set_by_latex():
    assert "align" in catena.derive(catena.load("pendulum"), by="lagrange")._repr_latex_()


def test_a_result_shows_its_overview_and_its_ledger(result):
    shown = result._repr_html_()
    assert (
        "data:image/png" in shown
        and "energy balance" in shown
        and "energy balance" in result.ledger._repr_html_()
    )


def test_a_figure_shows_itself(result):
    assert result.plot("coordinates")._repr_png_().startswith(b"\x89PNG")


def test_answers_print_as_they_do(result):
    m = catena.load("pendulum")
    for answer in (catena.mobility(m), catena.check(m, states=1, run=False)):
        assert str(answer).splitlines()[0] in answer._repr_html_()


def test_an_animation_plays_inside_the_notebook(result):
    playing = result.animate(rate=5)
    assert (
        isinstance(playing, Playing)
        and "srcdoc" in playing._repr_html_()
        and "pendulum" in playing.page
    )


@pytest.mark.parametrize("name", ["four_bar", "slider_crank"])
def test_a_closed_mechanism_is_drawn_with_its_loops_closed(name):
    from catena.results.notebook import standing

    machine = catena.compile(catena.load(name))
    q = standing(machine)
    assert np.abs(machine.constraint_rows(q, np.zeros(machine.nv))[0]).max() < 1e-9
