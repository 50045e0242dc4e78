"""Page: the mechanism inside goes through the states of `simulate`, in an engine and in a real browser; and its errors."""

from __future__ import annotations

import numpy as np
import pytest
from typer.testing import CliRunner

import catena
from catena.errors import CatenaError
from catena.simulation.scenario import read
from catena.studio import page
from catena.studio.running_page import program

STEP, STEPS = 1e-3, 200


def simulated(name):
    asked = read(name, until=1.0)
    found = catena.simulate(asked.mechanism, q=asked.q, v=asked.v, until=STEP * STEPS, integrator="rk4", step=STEP, output=STEP * STEPS)
    return asked, np.concatenate([found.data["q"].values[-1], found.data["v"].values[-1]])


@pytest.mark.parametrize("name", ["triple_pendulum", "four_bar", "rolling_disc"])
def test_the_module_goes_through_the_states_of_simulate(name):
    pytest.importorskip("wasmtime")
    from wasm import Instance

    asked, end = simulated(name)
    made = program(asked.mechanism)
    run, n = Instance(made.wasm), made.sizes
    p = list(asked.mechanism.parameters.values())

    def call(function, t, x):
        return run.call(function, np.array([t, *x, *np.zeros(n["u"]), *p]), n["x"])

    x = np.array([*asked.q, *asked.v, 0.0])
    for k in range(STEPS):
        t = k * STEP
        a = call("derivative", t, x)
        b = call("derivative", t + STEP / 2, x + STEP / 2 * a)
        c = call("derivative", t + STEP / 2, x + STEP / 2 * b)
        d = call("derivative", t + STEP, x + STEP * c)
        x = x + STEP * (a / 6 + b / 3 + c / 3 + d / 6)
        x = call("settle", t + STEP, x) if "settle" in made.tapes else x
    np.testing.assert_allclose(x[: len(end)], end, rtol=0, atol=1e-11)


def test_a_page_is_one_small_file(tmp_path):
    written = CliRunner().invoke(_app(), ["page", "four_bar", "--out", str(tmp_path / "p.html")])
    assert written.exit_code == 0, written.output
    text = (tmp_path / "p.html").read_text()
    assert len(text) < 1e6 and "http" not in text.replace("http-equiv", "") and "{{" not in text
    again = CliRunner().invoke(_app(), ["page", "four_bar", "--out", str(tmp_path / "p.html")])
    assert again.exit_code != 0


def test_a_step_that_is_none_is_refused(tmp_path):
    with pytest.raises(CatenaError, match="above zero"):
        page(catena.load("triple_pendulum"), tmp_path / "p.html", step=0.0)


def test_a_browser_runs_it(browser, tmp_path):
    asked, end = simulated("four_bar")
    path = page(asked.mechanism, tmp_path / "p.html", q=asked.q, v=asked.v)
    window = browser.new_page(viewport={"width": 1200, "height": 700})
    errors = []
    window.on("pageerror", lambda e: errors.append(str(e)))
    window.goto(f"{path.as_uri()}#still")
    window.wait_for_function("window.catena !== undefined")
    window.click("#reset")
    reached = window.evaluate(f"catena.advance({STEPS})")
    np.testing.assert_allclose(reached[: len(end)], end, rtol=0, atol=1e-11)
    seen = window.screenshot()
    window.click("#play")
    window.wait_for_timeout(600)
    assert window.evaluate("catena.time()") > STEP * STEPS and window.screenshot() != seen
    window.click("#play")
    before = window.evaluate("catena.state()")
    box = window.locator("#stage").bounding_box()
    coupler = window.evaluate("(() => { const at = poses(); return flat(placed(at[1], film.bodies[1].lines[0][1])); })()")
    window.mouse.move(box["x"] + coupler[0], box["y"] + coupler[1])
    window.mouse.down()
    window.mouse.move(box["x"] + coupler[0] + 25, box["y"] + coupler[1] + 15, steps=5)
    window.mouse.up()
    after = window.evaluate("catena.state()")
    assert np.abs(np.subtract(after, before)).max() > 1e-3  # the hand moved it
    gap = catena.compile(asked.mechanism).constraint_rows(np.array(after[:3]), np.zeros(3))[0]
    assert np.abs(gap).max() < 1e-6  # and its loop is closed
    window.locator("#sliders input").first.fill("0.11")
    assert not errors
    window.close()


def _app():
    from catena.cli import app

    return app
