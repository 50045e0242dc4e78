"""Every kind of picture is drawn for every sort of mechanism, with the user's names and units on
it; films too.
"""

from __future__ import annotations

import base64
import inspect
import json
import re
import subprocess
import sys
from dataclasses import replace
from importlib import resources
from itertools import pairwise

import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image

import catena
from catena import cli
from catena.cli.plot import places
from catena.errors import CatenaError, UnknownNameError
from catena.registry import loaded
from catena.results import plots, plotting
from catena.results.animation import SIZE, _ffmpeg, animate, pictures
from catena.results.film import film
from catena.results.result import Result
from catena.results.scene.skeleton import skeleton, tips
from catena.results.scene.view import view_of
from catena.simulation.run import simulate
from catena.simulation.scenario import read

MECHANISMS = {
    "planar": "triple_pendulum",
    "spatial": "stanford_arm",
    "closed": "slider_crank",
    "floating": "every_joint",
}


@pytest.fixture(scope="module", params=MECHANISMS)
def result(request) -> Result:
    """A short run of a planar, a spatial, a closed and a floating mechanism."""
    asked = read(MECHANISMS[request.param], until=0.2, output=0.01)
    return simulate(asked.mechanism, **asked.arguments)


@pytest.fixture(scope="module")
def swing() -> Result:
    """The triple pendulum of [Baysec1996] figure 1."""
    return simulate(catena.load("triple_pendulum"), until=1.7, output=0.01)


def test_bending(tmp_path):
    """Pieces make one line without pins; its own coordinates stay out of the way; a rigid mechanism
    has no such picture.
    """
    boom = catena.Body("boom", flexible=catena.Beam(1.0, 0.5, EI=2.0, segments=10))
    m = catena.Mechanism(
        "arm", [boom], [catena.Joint("motor", "revolute", "ground", "boom")], gravity=(0, -9.81, 0)
    )
    result = simulate(m, until=0.2, output=0.01)
    assert [line.get_label() for line in result.plot("coordinates").axes[0].lines] == ["motor"]
    (ax,) = result.plot("deflections").axes
    w = {line.get_label(): line.get_ydata() for line in ax.lines}
    tip, root = (
        result.machine.pose(result.data["q"].values[-1], name) for name in ("boom.tip", "boom")
    )
    assert w["boom along y"][-1] == pytest.approx(root[:3, 1] @ (tip[:3, 3] - root[:3, 3]))
    from catena.results.scene.skeleton import skeleton

    bones = skeleton(m)
    assert sum(len(limb.pins) for limb in bones.limbs) == 1 and all(
        len(limb.lines) == 1 for limb in bones.limbs
    )
    assert "strain, part of potential" in [
        line.get_label() for line in result.plot("energies").axes[0].lines
    ]
    for kind in ("overview", "cyclograph"):
        plots.save(result, tmp_path / f"{kind}.png", kind)
    animate(result, tmp_path / "film.gif", rate=10)
    with pytest.raises(
        catena.CatenaError, match="plot 'deflections' needs a flexible body; mechanism .* has none"
    ):
        simulate(catena.load("two_link_arm"), until=0.1).plot("deflections")


@pytest.mark.parametrize(
    "kind", [kind for kind in plots.PLOTS if kind not in ("deflections", "clearance", "contacts")]
)
def test_every_kind(result, kind, tmp_path):
    figure = result.plot(kind)
    assert isinstance(figure, Figure)
    words = " ".join(t.get_text() for t in figure.findobj(lambda a: hasattr(a, "get_text")))
    assert result.mechanism.name in words
    if figure.axes and kind not in ("cyclograph", "overview", "paths", "free_bodies"):
        assert re.search(r"\((rad|m|J|N|N·m|rad/s|m/s|rad/s²|m/s²)\)", words), words
    plotting.write(tmp_path / "picture.png", "plot", lambda: figure)
    # something is on it
    assert np.asarray(Image.open(tmp_path / "picture.png").convert("L")).std() > 5


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_rounding_is_not_drawn_at_full_scale(size):
    """What stands still but for rounding is a line that is still, in every unit; what moves has its
    panel.
    """
    bob = catena.Body("bob", mass=1.0, com=(0, -size, 0), inertia=[1e-3 * size**2] * 3)
    m = catena.Mechanism(
        "hanging",
        [bob],
        [catena.Joint("pin", "revolute", "ground", "bob")],
        gravity=(0, -9.81 * size, 0),
    )
    rest, swings = (simulate(m, q=[start], until=0.5, output=0.1) for start in (1e-17, 0.1))
    for kind in ("coordinates", "speeds", "accelerations", "reactions", "energies"):
        ax = rest.plot(kind).axes[0]
        lines = [line.get_ydata() for line in ax.lines]
        assert np.ptp(ax.get_ylim()) > 1e5 * max(np.ptp(y) for y in lines), kind
    assert (
        not rest.plot("phase").axes
        and "No coordinate moves" in rest.plot("phase").texts[0].get_text()
    )
    assert len(swings.plot("phase").axes) == 1
    assert "No joint is driven" in swings.plot("torques").texts[0].get_text()


def test_the_overview_shows_every_unit_and_what_moves_most():
    """`every_joint` has more lengths than a panel holds, and angles; a floating mechanism's hinges
    are not left out for its quaternion.
    """
    asked = read("every_joint", until=0.05, output=0.01)
    figure = simulate(asked.mechanism, **asked.arguments).plot("overview")
    shown = {
        ax.get_ylabel(): [t.get_text() for t in ax.get_legend().get_texts()]
        for ax in figure.axes
        if ax.get_legend()
    }
    assert {"distance (m)", "angle (rad)", "speed (m/s)", "angular speed (rad/s)"} <= set(shown)
    assert (
        "floating.z" in shown["distance (m)"]
        and "swing" in shown["angle (rad)"]
        and max(map(len, shown.values())) <= 7
    )
    assert "more coordinates are in the plot" in figure._supxlabel.get_text()


def test_names_and_degrees(swing):
    figure = swing.plot("coordinates", only=["pin2"], degrees=True)
    ax = figure.axes[0]
    assert [t.get_text() for t in ax.get_legend().get_texts()] == [
        "pin2"
    ] and ax.get_ylabel() == "angle (deg)"
    np.testing.assert_allclose(ax.lines[0].get_ydata(), np.degrees(swing.data["q"].values[:, 1]))


def test_the_cyclograph_has_eighteen_figures_as_printed(swing):
    """[Baysec1996] figure 1: the first 1.7 s in intervals of 0.1 s."""
    from catena.results.plots.cyclograph import Cyclograph

    scene = Cyclograph(swing, every=0.1, until=1.7)
    np.testing.assert_allclose(scene.times, np.arange(18) * 0.1, atol=1e-12)
    tip = scene.at["link3"][:, :3, :3] @ [1.0, 0, 0] + scene.at["link3"][:, :3, 3]
    np.testing.assert_allclose(np.linalg.norm(tip[0]), 3.0)  # all links horizontal
    np.testing.assert_allclose(tip[0], [3, 0, 0], atol=1e-12)


def test_skeletons_follow_joints_frames_and_shapes():
    bones = {limb.body: limb for limb in skeleton(catena.load("triple_pendulum")).limbs}
    # the line and the joint are one
    np.testing.assert_allclose(bones["link1"].lines, [[[0, 0, 0], [1, 0, 0]]])
    closed = catena.load("slider_crank")
    assert len(skeleton(closed).guides) == 1  # the piston slides
    (body, point), *_ = tips(catena.load("two_link_arm"))
    assert body == "fore"
    np.testing.assert_allclose(point, [0.4, 0, 0])


def test_views_have_gravity_downwards():
    v = view_of(catena.load("triple_pendulum"))
    assert v.planar
    np.testing.assert_allclose([v.right, v.up], [[1, 0, 0], [0, 1, 0]])
    v = view_of(catena.load("stanford_arm"))
    assert not v.planar and v.up[1] > 0.9
    np.testing.assert_allclose(np.cross(v.right, v.up), v.towards, atol=1e-12)


@pytest.fixture
def swept():
    """A plot from outside the package: the way that one coordinate has swept."""

    def draw(result, coordinate="pin1"):
        figure = Figure()
        figure.subplots().plot(
            result.time,
            np.abs(np.diff(result.q.sel(coordinate=coordinate), prepend=0)).cumsum(),
            label=coordinate,
        )
        return figure

    yield plots.register(
        plots.Plot(
            "swept",
            draw,
            "the way swept by a coordinate",
            ("coordinate",),
            "coordinate",
            "three bodies",
            lambda m: len(m.bodies) == 3,
        )
    )
    del plots.PLOTS["swept"]


def test_a_plot_from_outside_is_found_everywhere(swing, swept, tmp_path, capsys):
    """In `Result.plot`, in `save`, in a scenario, in the list of the documentation, in `catena
    plot` and in its help.
    """
    with pytest.raises(CatenaError, match="plot 'swept' is in the registry already"):
        plots.register(swept)
    assert swing.plot("swept", coordinate="pin2").axes[0].lines[0].get_label() == "pin2"
    assert plots.save(swing, tmp_path / "swept.svg", "swept").stat().st_size > 1000
    with pytest.raises(UnknownNameError, match="no option 'only' in the plot 'swept'"):
        swing.plot("swept", only="pin2")
    assert (
        "| `swept` | the way swept by a coordinate | `coordinate` | three bodies |"
        in plotting.markdown()
    )
    text = (
        resources.files("catena")
        .joinpath("examples/triple_pendulum.toml")
        .read_text(encoding="utf-8")
    )
    (tmp_path / "own.toml").write_text(
        re.sub(r"^plots = .*\n", "", text, flags=re.M).replace(
            "[scenario]", '[scenario]\nplots = ["swept"]'
        )
    )
    assert read(tmp_path / "own.toml").plots == ("swept",)
    swing.save(tmp_path / "results.nc")
    with pytest.raises(SystemExit) as left:
        cli.main(["plot", str(tmp_path), "--what", "swept", "--only", "pin3"])
    assert not left.value.code and (tmp_path / "swept.png").exists()
    capsys.readouterr()


def test_a_plot_goes_into_a_file_of_a_known_kind_or_into_a_folder(swing, tmp_path, capsys):
    """A file of another kind is refused, and no folder of its name is made; "all" leaves out what
    does not apply.
    """
    swing.save(tmp_path / "results.nc")
    with pytest.raises(SystemExit) as left:
        cli.main(["plot", str(tmp_path), "--out", str(tmp_path / "x.jpg")])
    assert left.value.code == 2 and not (tmp_path / "x.jpg").exists()
    assert "x.jpg: a plot is saved as .png, .pdf, .svg, not '.jpg'" in capsys.readouterr().err
    applying = [name for name, kind in plots.PLOTS.items() if kind.applies(swing.mechanism)]
    assert "deflections" not in applying and "phase" in applying
    assert (
        places(tmp_path, [plots.PLOTS[name] for name in applying])[-1]
        == tmp_path / "cyclograph.png"
    )


def test_records_of_plots_say_what_their_functions_take():
    for kind in plots.PLOTS.values():
        taken = [*inspect.signature(loaded(kind.draw)).parameters][1:]
        assert list(kind.options) == taken and kind.select in ("", *taken), kind.name


def test_wrong_words_are_told(swing):
    with pytest.raises(UnknownNameError, match="Did you mean 'energies'"):
        swing.plot("energys")
    with pytest.raises(UnknownNameError, match="no option 'degree' in the plot 'coordinates'"):
        swing.plot("coordinates", degree=True)
    with pytest.raises(
        UnknownNameError, match="no coordinate 'pin4' in mechanism 'triple pendulum'"
    ):
        swing.plot("coordinates", only="pin4")
    with pytest.raises(CatenaError, match=r"until = 9 s; this result goes from 0 to 1\.7 s"):
        swing.plot("cyclograph", until=9)
    with pytest.raises(CatenaError, match=r"saved as \.png, \.pdf, \.svg, not '\.bmp'"):
        plots.save(swing, "x.bmp")


def test_gif(swing, tmp_path):
    film = Image.open(animate(swing, tmp_path / "swing.gif", rate=5))
    assert film.n_frames in (9, 10)
    assert film.info["duration"] == 200


def test_page_stands_alone(result, tmp_path):
    text = animate(result, tmp_path / "film.html").read_text()
    assert "http://" not in text and "https://" not in text and "src=" not in text
    film = json.loads(re.search(r'id="film">(.*?)</script>', text, re.S).group(1))
    names = film["scene"]["bodies"]
    poses = np.frombuffer(base64.b64decode(film["poses"]), np.float32).reshape(
        len(film["times"]), len(names), 7
    )
    last = result.poses()["position"].values[-1]
    shown = [poses[-1, names.index(b.name), :3] for b in result.mechanism.bodies]
    np.testing.assert_allclose(shown, last, atol=2e-5 * max(1.0, np.abs(last).max()))


def test_a_page_does_not_run_what_a_name_says(swing, tmp_path):
    data = swing.data.assign_attrs(mechanism="</script><script>alert(1)</script>")
    text = animate(Result(data, swing.ledger, swing.model), tmp_path / "x.html").read_text()
    assert "<script>alert" not in text


def test_mp4_by_ffmpeg(swing, tmp_path, monkeypatch):
    """What ffmpeg gets: pictures of the right size and number; what it says when it fails."""
    tool = tmp_path / "ffmpeg"
    tool.write_text(
        f"#!{sys.executable}\nimport sys\ndata = sys.stdin.buffer.read()\nopen(sys.argv[-1],"
        " 'wb').write(str(len(data)).encode())\n"
    )
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    written = animate(swing, tmp_path / "swing.mp4", rate=3)
    w, h = SIZE
    assert int(written.read_text()) in (3 * w * h * 6, 3 * w * h * 7)
    tool.write_text(
        f"#!{sys.executable}\nimport sys\nsys.stderr.write('no codec here')\nsys.exit(1)\n"
    )
    with pytest.raises(CatenaError, match="ffmpeg could not make the film: no codec here"):
        animate(swing, tmp_path / "swing.mp4", rate=3)


def test_a_real_mp4(swing, tmp_path):
    """A real ffmpeg makes the film, and reads from it again the pictures that were drawn."""
    tool = _ffmpeg()
    if tool is None:
        pytest.skip("no ffmpeg on this machine")
    written = animate(swing, tmp_path / "swing.mp4", rate=4)
    read = subprocess.run(
        [
            tool,
            "-loglevel",
            "error",
            "-i",
            str(written),
            "-f",
            "rawvideo",
            "-pix_fmt",
            "rgb24",
            "-",
        ],
        capture_output=True,
        check=True,
    )
    w, h = SIZE
    seen = np.frombuffer(read.stdout, np.uint8).reshape(-1, h, w, 3).astype(float)
    drawn = np.stack([np.asarray(p, float) for p in pictures(film(swing, 1.0, 4))])
    assert len(seen) == len(drawn) and np.abs(seen - drawn).mean() < 3.0  # of 255: what H.264 costs
    assert not list(tmp_path.glob(".*"))


def test_films_that_cannot_be(swing, tmp_path, monkeypatch):
    with pytest.raises(CatenaError, match=r"saved as \.gif, \.html, \.mp4, not '\.avi'"):
        animate(swing, tmp_path / "x.avi")
    with monkeypatch.context() as without:
        without.setenv("PATH", str(tmp_path))
        without.setitem(sys.modules, "imageio_ffmpeg", None)
        with pytest.raises(
            CatenaError,
            match=(
                r"made by ffmpeg, which is not on this machine; install it \(pip install"
                r" 'catena\[film\]' brings one\), or save a .gif or .html"
            ),
        ):
            animate(swing, tmp_path / "x.mp4")
    with pytest.raises(CatenaError, match="speed = -1; it is a number above zero"):
        animate(swing, tmp_path / "x.gif", speed=-1)


def words_of(figure) -> str:
    return " ".join(t.get_text() for t in figure.findobj(lambda a: hasattr(a, "get_text")))


def test_reactions_of_a_planar_mechanism_say_once_what_is_not_determined():
    """Pins of a slider-crank in space carry what nobody knows across its plane: one line says so,
    and no name of a joint; torques that are zero have no line.
    """
    asked = read("slider_crank", until=0.2, output=0.01)
    result = simulate(asked.mechanism, **asked.arguments)
    figure = result.plot("reactions")
    words = words_of(figure)
    assert "in part" not in words and words.count("are not determined and not shown") == 1
    (ax,) = figure.axes
    assert [line.get_label() for line in ax.lines] == [
        "shaft",
        "crank pin",
        "cylinder",
        "wrist pin",
    ]
    (ax,) = result.plot("reactions", joints="crank pin").axes
    assert [line.get_label() for line in ax.lines] == ["x (joint axes)", "y (joint axes)"]


def test_reactions_name_the_constraint_whose_forces_are_not_known():
    asked = read("planetary_gear", until=0.1, output=0.05)
    known = simulate(asked.mechanism, **asked.arguments)
    assert "not determined" not in words_of(known.plot("reactions"))
    bare = asked.mechanism.with_(
        constraints=[replace(x, pressure_angle=None) for x in asked.mechanism.constraints]
    )
    result = simulate(bare, **asked.arguments)
    words = words_of(result.plot("reactions"))
    assert "sun (not determined)" in words and "'planet and ring': its pressure_angle" in words
    said = result.reactions().attrs["undetermined"]
    assert "planet: 'sun and planet': its pressure_angle is not known" in said
    assert "undetermined" not in known.reactions().attrs


def test_torques_of_zero_have_no_scale():
    """A heavy machine: the axis of a torque that is zero has one number, 0, and not 4000 N m."""
    asked = read("slider_crank", until=0.2, output=0.01)
    m = asked.mechanism
    heavy = m.with_(bodies=[replace(b, mass=1e3 * b.mass) for b in m.bodies])
    (ax,) = simulate(heavy, **asked.arguments).plot("torques", only="crank pin").axes
    assert [t.get_text() for t in ax.get_yticklabels()] == ["0"]


@pytest.mark.parametrize("width", [1.6, 2.4, 3.4])
@pytest.mark.parametrize("end", [(-0.0304, 0.00704), (0.0, 0.0113), (-1234.0, 777.0), (0.0, 2.0)])
def test_numbers_along_an_axis_do_not_collide(width, end):
    """Also where they are long and the picture is narrow, as that of a path straight upwards."""
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    from catena.results.plots.style import HOUSE, plain_ticks

    with matplotlib.rc_context(HOUSE):
        figure = Figure(figsize=(width, 2), layout="constrained")
        ax = figure.subplots()
        ax.set_xlim(*end)
        plain_ticks(figure)
        drawn = FigureCanvasAgg(figure).get_renderer()
        figure.draw(drawn)
        ticks = zip(ax.xaxis.get_majorticklocs(), ax.get_xticklabels())
        boxes = [t.get_window_extent(drawn) for x, t in ticks if end[0] <= x <= end[1]]
    assert len(boxes) > 1 and all(a.x1 < b.x0 for a, b in pairwise(boxes))


def test_paths_of_a_closed_mechanism_are_called_as_its_pins():
    """The crank pin of a slider-crank is called that; what does not move has no path, and what two
    names would have is drawn once.
    """
    asked = read("slider_crank", until=0.2, output=0.01)
    result = simulate(asked.mechanism, **asked.arguments)
    (ax,) = result.plot("paths").axes
    lines = {x.get_label(): x for x in ax.lines if not x.get_label().startswith("_")}
    assert list(lines) == ["crank pin", "piston"]
    rod = result.machine.pose(result.data["q"].values, "rod")[:, :2, 3]
    np.testing.assert_allclose(np.stack(lines["crank pin"].get_data(), axis=1), rod, atol=1e-12)
    asked = read("four_bar", until=0.05, output=0.01)
    bar = simulate(asked.mechanism.with_(frames=()), **asked.arguments)
    names = [line.get_label() for line in bar.plot("paths").axes[0].lines]
    pins = [j.name for j in bar.mechanism.ordered[1:]]
    assert [n for n in names if not n.startswith("_")] == pins  # the others are on the ground


def test_a_film_tells_how_many_of_its_pictures_are_drawn(tmp_path):
    """A GIF of many pictures takes minutes: whoever waits sees them counted."""
    swing = simulate(catena.load("pendulum"), q=[0.3], until=0.5, output=0.05)
    told = []
    animate(swing, tmp_path / "film.gif", rate=10, progress=lambda *x: told.append(x))
    assert told == [(k, len(told)) for k in range(1, len(told) + 1)] and len(told) >= 5
