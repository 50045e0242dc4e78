"""`catena view` in a real browser: what is dragged moves, loops stay closed, films play."""

from __future__ import annotations

import io
from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

import catena
from catena.errors import CatenaError
from catena.machine.machine import Machine
from catena.model.values import value_of
from catena.studio.posing import pull, set_coordinate
from catena.studio.robots import find
from catena.studio.view import Viewer, swing, viewer


def pixels(window):
    """What is seen, once the page has drawn what it knows."""
    from PIL import Image

    window.wait_for_function("!dirty && stage.quality === 0 && stage.pictures > 0")
    return np.asarray(
        Image.open(io.BytesIO(window.locator("#stage").screenshot())).convert("RGB")
    ).astype(int)


def test_a_closed_loop_stays_closed_by_hand():
    from catena.machine.lookup import coordinates

    viewed = viewer("four_bar")
    machine, q = viewed.machine, viewed.q
    for c, value in zip(coordinates(machine), (0.9, -1.2, -1.8)):
        q = set_coordinate(machine, q, c, value).q
        assert (
            q[c.qi] == pytest.approx(value)
            and np.abs(machine.constraint_rows(q, np.zeros(3))[0]).max() < 1e-9
        )
    far = set_coordinate(machine, q, coordinates(machine)[2], 1.5)
    assert far.said == "far pin cannot go further: the loops would open"
    target = machine.pose(q, "coupler")[:3, 3] + np.array([0.01, 0.0, 0.0])
    pulled = pull(machine, q, "coupler", np.zeros(3), target)
    assert np.abs(machine.constraint_rows(pulled.q, np.zeros(3))[0]).max() < 1e-9
    assert np.linalg.norm(machine.pose(pulled.q, "coupler")[:3, 3] - target) < 0.01


def test_a_hand_is_pulled_to_a_pose_within_limits():
    m = catena.load("stanford_arm")
    machine = catena.compile(m)
    q = np.array([0.1, 0.5, 0.4, 0.2, 0.8])
    body = m.bodies[-1].name
    goal = machine.pose(q + [0.1, -0.2, 0.05, 0.1, 0.2], body)
    found = pull(machine, q, body, np.zeros(3), goal[:3, 3], goal[:3, :3]).q
    np.testing.assert_allclose(machine.pose(found, body), goal, atol=1e-6)
    limited = Machine(
        m.with_(
            joints=tuple(
                replace(j, lower=-0.15, upper=0.15) if j.name == "joint1" else j for j in m.joints
            )
        ),
        life="generic",
    )
    held = pull(limited, q, body, np.zeros(3), goal[:3, 3] + [0.0, 3.0, 0.0]).q
    assert held[0] == pytest.approx(0.15)


def test_the_page(window, served):
    window.goto(served(viewer("four_bar")).address)
    window.wait_for_function("window.measured && measured.scenes > 0")
    seen = pixels(window)
    orange = (seen[..., 0] > 180) & (seen[..., 2] < 110)
    # the coupler, and light on everything
    assert orange.sum() > 500 and len(np.unique(seen.reshape(-1, 3), axis=0)) > 500
    slider = window.locator("#coordinates input[type=range]").first
    slider.fill("0.9")
    window.wait_for_function(
        "Math.abs(document.querySelector('#coordinates input[type=text]').value - 0.9) < 2e-3"
    )
    assert (np.abs(pixels(window) - seen).max(axis=2) > 40).sum() > 2000
    typed = window.locator("#coordinates input[type=text]").first
    typed.fill("1.2")
    typed.press("Enter")
    window.wait_for_function(
        "Math.abs(document.querySelectorAll('#coordinates input[type=range]')[0].value - 1.2) <"
        " 2e-3"
    )
    typed.fill("fast")
    typed.press("Enter")
    assert 'is "fast"; a number is wanted' in window.locator("#said").inner_text()
    window.locator("#layers label", has_text="inertia").locator("input").check()
    window.locator("#layers label", has_text="centres of mass").locator("input").check()
    before = window.evaluate("Array.from(stage.at[2])")
    box = window.locator("#stage").bounding_box()
    x, y = window.evaluate("stage.screen(stage.place(2, [0.2, 0, 0]))")  # a body is dragged
    window.mouse.move(box["x"] + x, box["y"] + y)
    window.mouse.down()
    window.mouse.move(box["x"] + x + 40, box["y"] + y - 20, steps=4)
    window.mouse.up()
    window.wait_for_function(
        "before => Math.abs(stage.at[2][12] - before[12]) + Math.abs(stage.at[2][13] - before[13])"
        " > 1e-3",
        arg=before,
    )
    window.click("#ask-modes")
    window.wait_for_function(
        "element('modes-said').textContent.startsWith('about the rest nearest')"
    )
    window.locator("#modes button").first.click()
    window.wait_for_function("film !== null && film.name === 'mode 1'")


@pytest.mark.parametrize("name", ["four_bar", "slider_crank", "pendulum"])
def test_a_mode_that_swings_keeps_its_loops_closed_and_is_seen(name):
    """Of a size that does not depend on units: some of what is seen, and loops stay closed all the
    way.
    """
    viewed = viewer(name)
    machine, found = viewed.machine, []
    rest = catena.equilibrium(machine, viewed.q)
    shape = catena.modes(machine, rest).shapes[:, 0]
    at = swing(viewed.scene, machine, rest, shape)
    np.testing.assert_allclose(at[0], at[-1], atol=1e-9)
    value = machine.mechanism.parameters
    for j in machine.mechanism.loops:
        ends = [
            (
                at[:, viewed.scene.bodies.index(body)]
                @ [*(float(value_of(x, value)) for x in X.position), 1.0]
            )[:, :3]
            for body, X in ((j.parent, j.placement), (j.child, j.offset))
        ]
        found.append(np.abs(ends[0] - ends[1]).max())
    size = np.ptp(viewed.scene.box(dict(zip(viewed.scene.bodies, at[0]))), axis=0).max()
    assert len(found) == len(machine.mechanism.loops) and all(gap < 1e-8 * size for gap in found)
    moved = np.linalg.norm(at[:, :, :3, 3] - at[0, :, :3, 3], axis=-1).max() / size
    turned = np.abs(at[:, :, :3, :3] - at[0, :, :3, :3]).max()
    assert 0.02 < max(moved, turned) < 0.6


def test_a_result_plays(window, served, tmp_path):
    result = catena.simulate(catena.load("two_link_arm"), q=[0.3, 0.2], until=0.5, output=0.05)
    result.save(tmp_path / "run.nc")
    window.goto(served(viewer(str(tmp_path / "run.nc"))).address)
    window.wait_for_function("typeof film !== 'undefined' && film !== null")
    first = window.evaluate("now")
    window.wait_for_function("first => now !== first", arg=first)
    window.click("#play")
    window.locator("#seek").fill("1000")
    machine = catena.compile(catena.load("two_link_arm"))
    last = machine.pose(result.data["q"].values[-1], machine.mechanism.bodies[-1].name)
    shown = window.evaluate("Array.from(stage.at[stage.at.length - 1])")
    np.testing.assert_allclose([shown[12], shown[13]], last[:2, 3], atol=1e-5)
    window.click("#stop")


def test_forces_of_a_result(window, served, hanging):
    """Arrows of a pendulum that hangs still: upwards at its pins, as long as the weights below
    them.
    """
    window.goto(served(viewer(str(hanging))).address)
    window.wait_for_function("typeof film !== 'undefined' && film !== null")
    window.locator("#joint-forces input").check()
    window.wait_for_function("forces && forces.known")
    window.click("#play")
    shown = np.array(window.evaluate("stage.arrows.map((a) => V.add(a.to, a.from, -1))"))
    assert len(shown) == 3 and np.abs(shown[:, [0, 2]]).max() < 1e-6
    np.testing.assert_allclose(shown[:, 1] / shown[2, 1], [3.0, 2.0, 1.0], rtol=1e-5)


@pytest.fixture(scope="module")
def hanging(tmp_path_factory):
    """The triple pendulum at rest below its pin, its links of equal mass."""
    m = catena.load("triple_pendulum")
    result = catena.simulate(m, q=[-np.pi / 2, 0.0, 0.0], until=0.1, output=0.05)
    return result.save(tmp_path_factory.mktemp("run") / "hang.nc")


def test_drafts_and_full_pictures_show_the_same(window, served):
    """In every quality the coupler is orange and where it was; solids of a draft are few."""
    window.goto(served(viewer("four_bar")).address)
    window.wait_for_function("window.measured && measured.scenes > 0")
    window.evaluate("stage.rest = () => false")
    inked = []
    for quality in range(4):
        window.evaluate("(q) => { stage.quality = q; stage.draw(); }", quality)
        inked.append(
            window.evaluate(
                """(() => { const gl = stage.gl, w = stage.canvas.width, h = stage.canvas.height, d = new Uint8Array(4 * w * h); stage.draw();
            gl.readPixels(0, 0, w, h, gl.RGBA, gl.UNSIGNED_BYTE, d); let n = 0, x = 0, y = 0; for (let k = 0; k < w * h; k++) if (d[4 * k] > 150 && d[4 * k + 2] < 110 && d[4 * k + 3] > 200) { n++; x += k % w; y += Math.floor(k / w); }
            return [n / w / h, x / n / w, y / n / h]; })()"""  # noqa: E501
            )
        )
    assert inked[0][0] > 0.005
    np.testing.assert_allclose(np.array(inked)[:, 1:], inked[0][1:] * np.ones((4, 1)), atol=0.02)
    np.testing.assert_allclose(np.array(inked)[:, 0], inked[0][0], rtol=0.35)


def test_names(tmp_path):
    assert find("four_bar") == "four_bar" and find("some/where.urdf") == "some/where.urdf"
    with pytest.raises(CatenaError, match="no file, example or robot 'tallos' in catena"):
        find("tallos")
    from catena.cli import app

    said = CliRunner().invoke(app, ["view", str(tmp_path / "none.urdf"), "--no-browser"])
    assert said.exit_code == 2


def test_free_joints_have_sliders():
    m = catena.load("human_in_free_fall")
    viewed = Viewer(m)
    names = [row["name"] for row in viewed._coordinates()]
    ball = next(n for n in names if n.endswith(".yaw"))

    class Deaf:
        editor = True

        def send(self, *_, **__):
            pass

    viewed.received(Deaf(), {"kind": "set", "name": ball, "value": 0.4})
    assert viewed._values()[ball] == pytest.approx(0.4)
    with pytest.raises(CatenaError, match="there is no coordinate 'x.y'"):
        viewed.received(Deaf(), {"kind": "set", "name": "x.y", "value": 0.4})
    with pytest.raises(CatenaError, match="does not know 'dance'"):
        viewed.received(Deaf(), {"kind": "dance"})
