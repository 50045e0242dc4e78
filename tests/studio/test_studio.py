"""`catena studio` in a real browser: a four-bar drawn by mouse, driven and plotted; values, faults,
undo, saving; a file edited by two hands.
"""

from __future__ import annotations

import tomllib

import pytest

pytest.importorskip("tomlkit")
pytest.importorskip("websockets")

from catena.errors import CatenaError
from catena.formats import _find
from catena.studio.document import Document
from catena.studio.studio import Studio, studio

CLICKS = [(-0.2, -0.1), (-0.2, 0.0), (0.1, 0.16), (0.14, -0.1)]


def press(window, x, y):
    box = window.locator("#stage").bounding_box()
    px, py = window.evaluate(
        "([x, y]) => { stage.now = stage.matrices(); return stage.screen([x, y, 0]); }", [x, y]
    )
    window.mouse.move(box["x"] + px - 4, box["y"] + py)
    window.mouse.move(box["x"] + px, box["y"] + py)
    window.mouse.down()
    window.mouse.up()


def test_a_four_bar_is_drawn_driven_and_plotted(window, served, tmp_path):
    window.goto(served(Studio(Document(tmp_path / "mine.toml"))).address)
    window.wait_for_function("window.measured && measured.scenes > 0")
    assert "has no bodies yet" in window.locator("#faults").inner_text()
    window.click("#draw")
    for point in CLICKS:
        press(window, *point)
    window.click("#draw-ground")
    window.wait_for_function("plots.run && plots.run.done")
    window.locator(".node", has_text="pin 1").first.click()
    window.click("#add")
    window.locator("#additions button", has_text="motor").click()
    window.wait_for_function(
        "model.data.scenario.motion !== undefined && plots.run.done && plots.run.series.some(s =>"
        " s.group === 'forces')"
    )
    turned = window.evaluate(
        "(() => { const y = plots.values(plots.run, { group: 'coordinates', name: 'pin 1' });"
        " return y[y.length - 1] - y[0]; })()"
    )
    assert turned == pytest.approx(5 * 3.14159265, rel=1e-4)  # 30 rpm for 5 s
    inked = window.evaluate(
        "(() => { const c = document.querySelector('canvas.plot'), d ="
        " c.getContext('2d').getImageData(0, 0, c.width, c.height).data; let n = 0; for (let k = 0;"
        " k < d.length; k += 4) if (d[k + 2] > 150 && d[k] < 60 && d[k + 3] > 200) n++; return n;"
        " })()"
    )
    assert inked > 200  # a blue curve
    window.click("#save")
    window.wait_for_function("model.saved")
    data = tomllib.loads((tmp_path / "mine.toml").read_text())
    assert (
        len(data["body"]) == 3
        and len(data["joint"]) == 3
        and len(data["loop"]) == 1
        and data["scenario"]["motion"]["kind"] == "uniform"
    )


def test_values_faults_undo_and_saving(window, served, tmp_path):
    path = tmp_path / "bar.toml"
    path.write_text(_find("four_bar").read_text())
    window.goto(served(Studio(Document(path))).address)
    window.wait_for_function("typeof plots !== 'undefined' && plots.run && plots.run.done")
    runs = window.evaluate("measured.runs")
    window.locator(".parameter input[type=range]").first.fill("0.12")  # a slider
    window.wait_for_function("runs => measured.runs > runs", arg=runs)
    window.wait_for_function("model.data.parameters.crank === '12 cm'")
    window.click("#keep")
    window.locator(".node.leaf", has_text="crank").first.click()
    mass = window.locator("#values input[aria-label=mass]")
    mass.fill("3 m")
    mass.press("Enter")
    window.wait_for_function("model.faults.length > 0")
    assert (
        "body 'crank': mass is '3 m', a length; a mass is wanted"
        in window.locator("#faults").inner_text()
    )
    assert (
        window.locator(".node.faulty").count() == 1
        and "a mass is wanted" in window.locator("#values .fault").inner_text()
    )
    window.click("#undo")
    window.wait_for_function("model.faults.length === 0")
    window.click("#save")
    window.wait_for_function("model.saved")
    wanted = _find("four_bar").read_text().replace('crank = "10 cm"', 'crank = "12 cm"')
    assert path.read_text() == wanted  # one value, and nothing else
    path.write_text(wanted.replace("2 s", "1 s"))  # another hand
    window.locator(".parameter input[type=text]").nth(1).fill("31 cm")
    window.locator(".parameter input[type=text]").nth(1).press("Enter")
    window.wait_for_function("model.data.parameters.coupler === '31 cm'")
    window.click("#save")
    window.locator("#banner").wait_for(state="visible")
    assert (
        "was changed on disk" in window.locator("#banner").inner_text()
        and "1 s" in path.read_text()
    )
    window.locator("#banner button", has_text="Take the file").click()
    window.wait_for_function(
        "model.data.scenario.until === '1 s' && model.data.parameters.coupler === '30 cm'"
    )
    window.click("#tab-text")
    window.locator("#text").fill("name = ")
    window.wait_for_function("model.faults.length > 0 && model.faults[0].includes('not TOML')")
    window.click("#tab-tree")
    window.click("#undo")
    window.wait_for_function("model.faults.length === 0")
    window.click("#equations")
    window.locator("#rendered math").first.wait_for()


def test_a_second_browser_looks(browser, window, served, tmp_path):
    session = Studio(Document(tmp_path / "x.toml"))
    server = served(session)
    window.goto(server.address)
    window.wait_for_function("window.measured && measured.scenes > 0")
    other = browser.new_page(bypass_csp=True)
    other.goto(server.address)
    other.wait_for_function("typeof editor !== 'undefined' && editor === false && model !== null")
    assert (
        other.locator("#draw").is_disabled()
        and "another browser edits" in other.locator("#state").inner_text()
    )
    other.evaluate("live.send({ kind: 'add', what: 'body' })")
    other.wait_for_function("element('status').textContent.includes('another browser edits')")
    assert "body" not in session.document.data()
    window.click("#add")
    window.locator("#additions button", has_text="a rod on the selected").click()
    other.wait_for_function("(model.data.body || []).length === 1")
    # the editor goes away in the middle: nothing is lost, the other one edits
    window.goto("about:blank")
    other.wait_for_function("editor === true")
    assert len(session.document.data()["body"]) == 1
    other.close()


def test_what_can_be_opened(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made = studio("four_bar")
    assert (
        made.document.path.name == "four_bar.toml"
        and not made.document.saved
        and not made.document.path.exists()
    )
    made.close()
    (tmp_path / "four_bar.toml").write_text("name = 'mine'\n")
    own = studio("four_bar")
    assert own.document.data() == {"name": "mine"}
    own.close()
    (tmp_path / "folder.toml").mkdir()
    with pytest.raises(CatenaError, match="is a folder"):
        studio("folder.toml")
    with pytest.raises(CatenaError, match="no file, example or robot 'fourbar'"):
        studio("fourbar")
