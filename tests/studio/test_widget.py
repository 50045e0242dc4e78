"""The notebook widget: its session without a notebook, and a real JupyterLab in a real browser."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
import time
import urllib.request

import numpy as np
import pytest

import catena
from catena.studio.view import Viewer
from catena.studio.widget import bundle, connect


class Notebook:
    """What a notebook is to a widget: it collects what is sent, and passes messages on."""

    def __init__(self, session):
        self.sent = []
        connect(session, self)

    def on_msg(self, hear):
        self.hear = hear

    def send(self, content, buffers):
        size = struct.unpack("<I", buffers[0][:4])[0]
        self.sent.append((content["view"], json.loads(buffers[0][4 : 4 + size])))

    def says(self, view="a", **message):
        self.sent.clear()
        self.hear(self, {"view": view, "text": json.dumps(message)}, [])
        return [m["kind"] for _, m in self.sent]


def test_a_slider_of_a_parameter_repeats_the_run_with_its_options():
    m = catena.load("two_link_arm")
    options = {"q": [0.3, 0.2], "until": 0.4, "control": [0.0, 2.0], "by": "kane"}
    session = Viewer(m, result=catena.simulate(m, **options))
    notebook = Notebook(session)
    assert notebook.says(kind="open") == ["scene", "film", "forces"]
    changed = notebook.says(kind="parameter", name="m2", value=7.0, playing=True)
    assert changed == ["scene", "film", "forces"] and notebook.sent[1][1]["keep"]
    expected = catena.simulate(m, **options, parameters={"m2": 7.0})
    np.testing.assert_array_equal(session.result.q.values, expected.q.values)
    assert notebook.says(kind="parameter", name="m9", value=7.0) == ["fault"]
    assert "m9" in notebook.sent[0][1]["text"]


def test_a_run_begins_from_the_pose_that_is_shown():
    session = Viewer(catena.load("four_bar"))
    notebook = Notebook(session)
    notebook.says(kind="open")
    assert notebook.says(kind="set", name=session.machine.coordinate_names[0], value=0.7) == [
        "pose"
    ]
    q = session.q.copy()
    assert notebook.says(kind="run", until=0.1) == ["scene", "film", "forces"]
    np.testing.assert_allclose(session.result.q.values[0], q, atol=1e-9)
    assert notebook.says(kind="run", until=-1) == ["fault"]


def test_an_impossible_parameter_leaves_all_as_it_was():
    session = Viewer(catena.load("two_link_arm"))
    notebook = Notebook(session)
    notebook.says(kind="open")
    before = session.machine
    assert notebook.says(kind="parameter", name="m1", value=-5.0) == ["fault"]
    assert session.machine is before


def test_two_views_of_one_widget_have_messages_of_their_own():
    notebook = Notebook(Viewer(catena.load("pendulum")))
    notebook.says("a", kind="open")
    notebook.says("b", kind="open")
    assert {view for view, _ in notebook.sent} == {"b"}
    notebook.says("a", kind="home")
    assert {view for view, _ in notebook.sent} == {"a", "b"}
    notebook.hear(notebook, {"view": "b", "closed": True}, [])
    notebook.says("a", kind="home")
    assert {view for view, _ in notebook.sent} == {"a"}


def test_a_result_from_a_file_is_played_but_not_run_again(tmp_path):
    m = catena.load("two_link_arm")
    path = catena.simulate(m, q=[0.3, 0.2], until=0.1, parameters={"l1": 0.6}).save(
        tmp_path / "a.nc"
    )
    session = Viewer(m, result=catena.load_result(path))
    notebook = Notebook(session)
    notebook.says(kind="open")
    assert notebook.sent[0][1]["parameters"] == []
    # drawn at the parameters of its run
    assert session.machine.mechanism.parameters["l1"] == 0.6
    assert notebook.says(kind="parameter", name="m2", value=7.0, playing=True) == ["fault"]


def test_outside_of_notebooks_nothing_changes():
    assert bundle(catena.load("pendulum")) == {}
    assert catena.load("pendulum")._repr_mimebundle_() == {}


@pytest.fixture
def lab(tmp_path):
    """The address of a JupyterLab with a notebook that shows a mechanism and a result."""
    pytest.importorskip("jupyterlab")
    pytest.importorskip("anywidget")
    nbformat = pytest.importorskip("nbformat")
    cells = [
        "import catena\nmechanism = catena.load('two_link_arm')\nmechanism",
        "catena.simulate(mechanism, q=[0.3, 0.2], until=1.0)",
    ]
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in cells])
    book.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
    nbformat.write(book, tmp_path / "book.ipynb")
    own = {
        name: str(tmp_path / name)
        for name in ("JUPYTER_CONFIG_DIR", "JUPYTERLAB_SETTINGS_DIR", "JUPYTERLAB_WORKSPACES_DIR")
    } | {"JUPYTER_DATA_DIR": str(tmp_path / "data"), "JUPYTER_RUNTIME_DIR": str(tmp_path / "rt")}
    with (tmp_path / "log").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"]
            + ["--ServerApp.token=token", "--ServerApp.port=0", "--expose-app-in-browser"]
            + [f"--ServerApp.root_dir={tmp_path}"],
            env=os.environ | own,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        try:
            yield _address(tmp_path)
        finally:
            process.terminate()
            process.wait(30)


def _address(folder):
    """The address that a server writes down when it listens."""
    for _ in range(600):
        for file in (folder / "rt").glob("jpserver-*.json"):
            try:
                url = json.loads(file.read_text())["url"]
                urllib.request.urlopen(f"{url}api?token=token")
                return f"{url}lab/tree/book.ipynb?token=token&reset"
            except (OSError, ValueError):
                pass
        time.sleep(0.1)
    raise AssertionError((folder / "log").read_text())


def test_in_jupyterlab_it_is_dragged_played_and_run_again(lab, window):
    window.set_viewport_size({"width": 1280, "height": 1250})
    window.goto(lab)
    window.wait_for_selector(".jp-Notebook .jp-Cell")
    window.wait_for_function(
        "window.jupyterapp.shell.currentWidget?.sessionContext?.session?.kernel"
    )
    window.evaluate("window.jupyterapp.commands.execute('notebook:run-all-cells')")
    window.wait_for_function("document.querySelectorAll('iframe[title=catena]').length === 2")
    elements = window.query_selector_all("iframe[title=catena]")
    posed, played = (e.content_frame() for e in elements)
    for frame in (posed, played):
        frame.wait_for_function("window.measured && measured.scenes > 0")

    # a body is dragged
    posed.wait_for_function("!dirty && stage.quality === 0")
    values = "[...document.querySelectorAll('#coordinates input[type=text]')].map((e) => +e.value)"
    x, y = posed.evaluate(
        """() => { const box = stage.canvas.getBoundingClientRect();
          for (let y = 20; y < box.height; y += 6) for (let x = 20; x < box.width; x += 6) {
            const hit = stage.pick(x, y);
            if (hit && hit.part && stage.header.bodies[hit.part.body] === 'fore') return [x, y];
          } }"""
    )
    box = elements[0].bounding_box()
    window.mouse.move(box["x"] + x, box["y"] + y)
    window.mouse.down()
    window.mouse.move(box["x"] + x + 30, box["y"] + y + 40, steps=8)
    window.mouse.up()
    posed.wait_for_function(f"{values}.some((x) => Math.abs(x) > 0.05)")

    # a run begins from there, and a result plays
    posed.click("#run")
    posed.wait_for_function("film !== null && film.last === 5 && playing")
    start = played.evaluate("now")
    played.wait_for_function(f"now !== {start}")

    # a slider of a parameter repeats the run of the result
    end = "Array.from(film.at(film.last)).map((x) => x.toFixed(6)).join()"
    before = played.evaluate(end)
    played.locator("#parameters input[type=range]").nth(1).fill("8")
    played.wait_for_function(f"(before) => {end} !== before", arg=before)

    # by day and by night
    paper = "getComputedStyle(document.body).backgroundColor"
    assert posed.evaluate(paper) == "rgb(255, 255, 255)"
    window.evaluate(
        "window.jupyterapp.commands.execute('apputils:change-theme', {theme: 'JupyterLab Dark'})"
    )
    posed.wait_for_function(f"{paper} === 'rgb(27, 33, 40)'")
