"""How quick are view, studio and page, beside what a person asks of them?

Asked: edit to motion below 100 ms (10 bodies); a coordinate of a closed loop, and a pull at the
Panda's hand, below 20 ms; `catena view talos` below 3 s, the second time; 60 pictures per second of
Talos with its meshes, as the page measures them; a page below 1 MB whose triple pendulum takes less
than 5 % of a frame at 1 ms steps. Pages are measured in Chromium where there is one; without a
graphics card it draws in software.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from peers import TINY, best, size

import catena
from catena.machine.lookup import coordinates
from catena.results.film import film
from catena.results.scene import describe, wire
from catena.results.scene.description import poses
from catena.studio import page
from catena.studio.live_model import LiveModel
from catena.studio.posing import pull, set_coordinate
from catena.studio.server import Server
from catena.studio.view import viewer

BROWSER = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
SOFTWARE = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]


def chain(n: int) -> str:
    text = 'name = "chain"\ngravity = [0, -9.81, 0]\n[parameters]\nL = "20 cm"\n'
    for i in range(n):
        text += (
            f'[[body]]\nname = "b{i}"\nmass = "{1 + 0.1 * i:.1f} kg"\ncom = ["10 cm", 0,'
            " 0]\ninertia = [0.001, 0.01, 0.01]\n"
        )
        text += (
            f'[[joint]]\nname = "j{i}"\nkind = "revolute"\nparent ='
            f' "{f"b{i - 1}" if i else "ground"}"\nchild = "b{i}"\n'
            + ('at = ["L", 0, 0]\n' if i else "")
        )
    return text + '[scenario]\nuntil = "5 s"\ninitial = { q = { j0 = "30 deg" } }\n'


def edits() -> None:
    """From a changed number of the file to a film of its motion."""
    n = size(10, 2)
    model = LiveModel(Path("chain.toml"))
    text = chain(n)

    def edit(mass: float) -> None:
        read = model.read(text.replace('mass = "1.1 kg"', f'mass = "{mass} kg"'))
        assert read.scenario is not None and read.mechanism is not None
        film(model.run(read.scenario), 1.0, 60, scene=describe(read.mechanism))

    edit(1.1)
    masses = iter(np.linspace(1.2, 9.0, 10_000))
    print(
        f"edit to 5 s of motion, {n} bodies: {1e3 * best(lambda: edit(float(next(masses)))):.1f}"
        f" ms; structures compiled: {model.compiled}"
    )


def hands() -> None:
    """A coordinate of a closed loop, and a body that is pulled."""
    viewed = viewer("four_bar")
    c = coordinates(viewed.machine)[0]
    q = viewed.q
    values = iter(np.tile(np.linspace(1.5, 1.8, 30), 1000))
    print(
        "a coordinate of the four-bar, its loop closed:"
        f" {1e3 * best(lambda: set_coordinate(viewed.machine, q, c, float(next(values)))):.2f} ms"
    )
    try:
        viewed = viewer(size("panda", "stanford_arm"))
    except catena.CatenaError:
        print("panda: not installed")
        return
    machine = viewed.machine
    body = size("panda_hand", viewed.machine.mechanism.bodies[-1].name)
    q = viewed.q + 0.3
    goal = machine.pose(q, body)
    pull(machine, q, body, np.zeros(3), goal[:3, 3] + 0.01)
    rng = np.random.default_rng(0)
    times = []
    for _ in range(size(200, 2)):
        target = goal[:3, 3] + 0.05 * rng.standard_normal(3)
        began = time.perf_counter()
        pull(machine, q, body, np.zeros(3), target, goal[:3, :3])
        times.append(time.perf_counter() - began)
    print(
        f"a pull at {machine.mechanism.name}'s {body}, place and orientation: median"
        f" {1e3 * np.median(times):.2f} ms, worst {1e3 * max(times):.2f} ms"
    )


def pages() -> None:
    """The page that runs by itself: its size; in a browser its share of a frame, and its end beside
    that of `simulate`.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = page(catena.load("triple_pendulum"), Path(folder) / "p.html")
        print(f"page of the triple pendulum: {path.stat().st_size / 1e3:.0f} kB")
        if TINY or BROWSER is None:
            return
        from playwright.sync_api import sync_playwright

        with sync_playwright() as p:
            window = p.chromium.launch(executable_path=BROWSER, args=SOFTWARE).new_page()
            window.goto(f"{path.as_uri()}#still")
            window.wait_for_function("window.catena !== undefined")
            end = np.array(window.evaluate("catena.advance(2000)"))
            took = window.evaluate(
                "(() => { const t = performance.now(); for (let k = 0; k < 5000; k++)"
                " rk4(film.step); return (performance.now() - t) / 5000; })()"
            )
        own = catena.simulate(
            catena.load("triple_pendulum"), until=2.0, integrator="rk4", step=1e-3, output=2.0
        )
        reached = np.concatenate([own.data["q"].values[-1], own.data["v"].values[-1]])
        print(
            f"  1 ms steps in real time: {100 * took:.2f} % of a frame; end after 2 s differs from"
            f" simulate by {np.abs(end[: len(reached)] - reached).max():.1e}"
        )


def talos() -> None:
    """Time until the robot is seen, and pictures per second of a film of it."""
    if TINY or BROWSER is None:
        print("talos: not measured (no browser, or --tiny)")
        return
    from playwright.sync_api import sync_playwright

    command = [
        sys.executable,
        "-c",
        "from catena.cli import main; main()",
        "view",
        "talos",
        "--no-browser",
    ]
    viewer("talos")  # warm: meshes are kept
    with sync_playwright() as p:
        browser = p.chromium.launch(executable_path=BROWSER, args=SOFTWARE)
        window = browser.new_page(viewport={"width": 1000, "height": 640}, bypass_csp=True)
        began = time.perf_counter()
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            window.goto(process.stdout.readline().split()[0])
            window.wait_for_function("window.measured && measured.scenes > 0")
            print(f"catena view talos: seen after {time.perf_counter() - began:.2f} s")
            process.kill()
        viewed = viewer("talos")
        server = Server(viewed).start()
        window.goto(server.address)
        window.wait_for_function("window.measured && measured.scenes > 0")
        t = np.linspace(0, 4, 240)
        q = viewed.q + 0.4 * np.sin(2 * t)[:, None] * np.sin(np.arange(len(viewed.q)))
        numbers = wire.film_numbers(poses(viewed.scene, viewed.machine, q)).astype("<f4").tobytes()
        viewed.clients[0].send(
            "film", numbers, times=t.tolist(), tracks=[], name="swing", loop=True
        )
        window.wait_for_timeout(6000)
        rates = []
        for _ in range(4):
            window.wait_for_timeout(1100)
            rates.append(window.evaluate("measured.fps"))
        triangles = window.evaluate("stage.list().reduce((s, o) => s + o[0].count / 3, 0)")
        card = window.evaluate(
            "(() => { const e = stage.gl.getExtension('WEBGL_debug_renderer_info'); return e ?"
            " stage.gl.getParameter(e.UNMASKED_RENDERER_WEBGL) : 'unknown'; })()"
        )
        print(
            f"talos plays: {np.median(rates):.0f} pictures per second at quality"
            f" {window.evaluate('stage.quality')} of 3, {triangles:.0f} triangles at full quality;"
            f" {card}"
        )
        server.close()
        browser.close()


if __name__ == "__main__":
    edits()
    hands()
    pages()
    talos()
