"""Page: the mechanism inside goes through the states of `simulate`, in an engine and in a real
browser; and its errors.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

import catena
from catena.errors import CatenaError
from catena.results.scene import describe
from catena.simulation import trajectories
from catena.simulation.scenario import read
from catena.studio import page
from catena.studio.running_page import program, smoothed_friction

STEP, STEPS = 1e-3, 200


def simulated(name):
    asked = read(name, until=1.0)
    found = catena.simulate(
        asked.mechanism,
        q=asked.q,
        v=asked.v,
        until=STEP * STEPS,
        integrator="rk4",
        step=STEP,
        output=STEP * STEPS,
    )
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


def test_contacts_are_refused_or_left_out_with_a_word(tmp_path):
    """A page in which bodies would go through each other says so, or is not written."""
    refused = CliRunner().invoke(_app(), ["page", "gripper", "--out", str(tmp_path / "p.html")])
    assert (
        refused.exit_code != 0
        and "it has contacts" in refused.output
        and not (tmp_path / "p.html").exists()
    )
    asked = read("gripper", until=1.0)
    path = page(asked.mechanism, tmp_path / "p.html", q=asked.q, v=asked.v, contact="ignore")
    assert "bodies go through each other" in path.read_text()


MOTIONS = {  # of the crank: one piece, a few, and many
    "uniform": trajectories.uniform({"motor pin": 3.0}, offset={"motor pin": 0.3}),
    "quintic": trajectories.quintic([0.0, 0.05, 0.13, 0.3], {"motor pin": [0.3, 0.4, 0.2, 0.9]}),
    "spline": trajectories.spline(
        np.linspace(0, 0.3, 31), {"motor pin": 0.3 + 0.1 * np.sin(np.linspace(0, 9, 31))}
    ),
}


def follows(motion):
    """The scenario of the four-bar, and the states of `simulate` after every tenth step."""
    asked = read("four_bar", until=1.0)
    found = catena.simulate(
        asked.mechanism,
        q=asked.q,
        v=asked.v,
        until=STEP * STEPS,
        motion=motion,
        output=STEP * STEPS,
        tolerance=1e-12,
    )
    q, v = found.data["q"].values, found.data["v"].values
    return asked, (q[0], v[0]), np.concatenate([q[-1], v[-1]])


@pytest.mark.parametrize("kind", MOTIONS)
def test_prescribed_motion_runs_in_the_page(window, tmp_path, kind):
    """A driven crank goes where `simulate` has it, and its linkage with it. Every piece of the
    motion begins at a whole step, so that Runge-Kutta keeps its order.
    """
    asked, _, end = follows(MOTIONS[kind])
    path = page(
        asked.mechanism, tmp_path / "p.html", q=asked.q, v=asked.v, motion=MOTIONS[kind], step=STEP
    )
    opened(window, path)
    window.click("#reset")
    reached = window.evaluate(f"catena.advance({STEPS})")
    np.testing.assert_allclose(reached[: len(end)], end, rtol=0, atol=1e-8)
    named = window.evaluate(
        "[...document.querySelectorAll('#sliders .row')].map((r) => r.innerText)"
    )
    assert not any(text.startswith("motor pin\n") for text in named)  # it has no start of its own


def test_the_command_carries_the_motion_of_the_scenario(tmp_path):
    """And does not say that it was left out."""
    out = tmp_path / "p.html"
    written = CliRunner().invoke(_app(), ["page", "bead_on_hoop", "--out", str(out)])
    assert written.exit_code == 0, written.output
    text = out.read_text()
    assert '"driven"' in text and "motion are left out" not in text


def test_a_page_names_the_joints_whose_friction_it_smooths(tmp_path):
    """And so does the command; a mechanism without dry friction calls for no word."""
    model, out = tmp_path / "rough.toml", tmp_path / "p.html"
    m = catena.load("two_link_arm")
    first, *others = m.joints
    catena.save(m.with_(joints=(replace(first, friction=(0.3,)), *others)), model)
    written = CliRunner().invoke(_app(), ["page", str(model), "--out", str(out)])
    assert written.exit_code == 0, written.output
    said = f"Dry friction of '{first.name}' is smoothed about zero speed"
    assert said in written.output
    assert said.replace("'", "\\u0027") in out.read_text() or said in out.read_text()
    assert smoothed_friction(m) == []


@pytest.fixture(scope="module")
def bar(tmp_path_factory):
    """A page of the four-bar, and where `simulate` is after as many steps."""
    asked, end = simulated("four_bar")
    return (
        asked,
        end,
        page(asked.mechanism, tmp_path_factory.mktemp("page") / "p.html", q=asked.q, v=asked.v),
    )


def opened(window, path):
    window.goto(f"{path.as_uri()}#still")
    window.wait_for_function("window.catena !== undefined")


def test_a_browser_runs_it(window, bar):
    asked, end, path = bar
    opened(window, path)
    window.click("#reset")
    reached = window.evaluate(f"catena.advance({STEPS})")
    np.testing.assert_allclose(reached[: len(end)], end, rtol=0, atol=1e-11)
    machine = catena.compile(asked.mechanism)
    for k, b in enumerate(asked.mechanism.bodies):  # what is drawn is where the machine says
        drawn = np.array(window.evaluate(f"Array.from(stage.at[{k + 1}])")).reshape(4, 4).T
        np.testing.assert_allclose(drawn, machine.pose(end[:3], b.name), atol=1e-6)
    window.click("#play")
    window.wait_for_function(f"catena.time() > {STEP * STEPS} + 0.05")
    window.click("#play")
    before = window.evaluate("catena.state()")
    drag(window)
    after = window.evaluate("catena.state()")
    assert np.abs(np.subtract(after, before)).max() > 1e-3  # the hand moved it
    gap = machine.constraint_rows(np.array(after[:3]), np.zeros(3))[0]
    assert np.abs(gap).max() < 1e-6  # and its loop is closed


def drag(window):
    """Pull at the middle of the coupler."""
    box = window.locator("#stage").bounding_box()
    x, y = window.evaluate(
        "(() => { stage.draw(); return stage.screen(stage.place(2, [0.15, 0, 0])); })()"
    )
    window.mouse.move(box["x"] + x, box["y"] + y)
    window.mouse.down()
    window.mouse.move(box["x"] + x + 25, box["y"] + y + 15, steps=3)
    window.mouse.up()


def test_the_drawing_follows_the_parameters(window, bar):
    """A longer crank: its rod is as long, and the pin at its end is where the coupler begins."""
    asked, _, path = bar
    opened(window, path)
    slider = window.locator("#sliders input").first
    slider.fill("0.12")
    value = window.evaluate("P[0]")
    m = asked.mechanism.with_(parameters={**asked.mechanism.parameters, "crank": value})
    own = describe(m, unit=describe(asked.mechanism).unit)
    rod = next(
        k for k, p in enumerate(own.parts) if p.body == "crank" and p.geometry.startswith("rod")
    )
    wanted = own.geometries[own.parts[rod].geometry].points
    index = window.evaluate(
        "scene.parts.findIndex((p) => p.body === 1 &&"
        " scene.geometries[p.geometry].key.startsWith('rod'))"
    )
    drawn = window.evaluate(f"Array.from(stage.geometries[scene.parts[{index}].geometry].vertices)")
    np.testing.assert_allclose(np.array(drawn).reshape(-1, 6)[:, :3], wanted, atol=2e-6)


def test_without_webgl_it_is_painted_flat(window, bar):
    window.add_init_script(
        "HTMLCanvasElement.prototype.getContext = ((old) => function (kind, ...rest) { return kind"
        " === 'webgl2' ? null : old.call(this, kind, ...rest);"
        " })(HTMLCanvasElement.prototype.getContext);"
    )
    opened(window, bar[2])
    assert window.evaluate("stage instanceof FlatStage")
    window.evaluate("stage.draw()")
    inked = window.evaluate(
        "(() => { const c = stage.canvas, d = stage.pen.getImageData(0, 0, c.width, c.height).data;"
        " let n = 0; for (let k = 0; k < d.length; k += 4) if (d[k] > 150 && d[k + 2] < 110 && d[k"
        " + 3] > 200) n++; return n; })()"
    )
    assert inked > 500  # the orange coupler
    before = window.evaluate("catena.state()")
    drag(window)
    assert np.abs(np.subtract(window.evaluate("catena.state()"), before)).max() > 1e-3


def _app():
    from catena.cli import app

    return app
