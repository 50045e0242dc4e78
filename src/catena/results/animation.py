"""Animation: a result as a GIF, or as one HTML page with a player in it that needs no network.

    animate(result, "swing.gif")          animate(result, "swing.html")

The page can be turned and zoomed (drag, wheel), played at any speed, and stopped at any instant.
"""

from __future__ import annotations

import html
import json
from collections.abc import Callable, Mapping
from importlib import resources
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg

from ..errors import CatenaError
from .plots import sticks
from .plots.contact_arrows import draw_arrows
from .plots.frames import FINER, Film, film
from .plots.style import COLOURS, FAINT, HOUSE, fitted
from .plots.view import dress
from .result import Result
from .storage import reason

LONGEST = {".gif": 12.0, ".html": 60.0}  # the longest animation, s, where no speed is given
RATE = {".gif": 20, ".html": 30}  # pictures per second


def animate(result: Result, path: str | Path, *, speed: float | None = None, rate: int | None = None, run: int = 0) -> Path:
    """Write an animation, .gif or .html.

    speed: times real time, by default 1, or as fast as it takes for the animation to last at most 12 s (GIF) or 60 s (page).
    rate: pictures per second, by default 20 or 30. run: which of a batch.
    """
    path = Path(path)
    if path.suffix not in RATE:
        raise CatenaError(f"{path}: an animation is saved as {' or '.join(RATE)}, not {path.suffix or 'without a suffix'!r}")
    for name, value in (("speed", speed), ("rate", rate)):
        if value is not None and not 0 < value < np.inf:
            raise CatenaError(f"{name} = {value}; it is a number above zero")
    shown = result.select(run=run)
    duration = float(shown.time[-1] - shown.time[0])
    if not duration > 0:
        raise CatenaError("this result has one row; an animation needs a motion")
    pace = speed or max(1.0, duration / LONGEST[path.suffix])
    made = film(shown, pace, rate or RATE[path.suffix])
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write = _gif if path.suffix == ".gif" else _page
        write(made, path)
    except OSError as error:
        raise CatenaError(f"{path}: the animation could not be written ({reason(error)})") from None
    return path


def _gif(made: Film, path: Path) -> None:
    """Each picture drawn by matplotlib and put into 64 colours, those of the last one, which has everything on it."""
    from PIL import Image

    with mpl.rc_context(HOUSE):
        draw = _painter(made)
        last = len(made.times) - 1
        colours = Image.fromarray(draw(last)).quantize(64, method=Image.Quantize.MEDIANCUT)
        table = np.array(colours.getpalette()).reshape(-1, 3)
        table[table.min(axis=1) > 245] = 255  # the paper; averages, and Pillow's search among them, make it darker
        colours.putpalette(table.ravel().tolist())
        drawn = (Image.fromarray(draw(k)) for k in range(len(made.times)))
        pictures = [picture.quantize(palette=colours, dither=Image.Dither.NONE) for picture in drawn]
    delay = round(100 / made.rate) * 10  # ms; a GIF counts in hundredths of a second
    pictures[0].save(path, save_all=True, append_images=pictures[1:], duration=delay, loop=0, optimize=True, disposal=1)


def _painter(made: Film) -> Callable[[int], np.ndarray]:
    """A function that draws the k-th picture, (height, width, 3) bytes, on axes that stand still."""
    reach = made.reach()
    figure = fitted(reach.min(axis=0), reach.max(axis=0), most=5.5)
    canvas = FigureCanvasAgg(figure)
    ax = figure.subplots()
    dress(ax, made.view, reach)
    sticks.ground(ax, made.bones, made.view)
    paths = [made.view.flat(track) for track in made.tracks.values()]
    trails = [ax.plot([], [], color=COLOURS[1], linewidth=0.9)[0] for _ in paths]
    said = ax.set_title(" ", loc="left", color=FAINT)
    pace = f", {made.pace:.3g} times real time" if made.pace != 1 else ""
    figure.draw_without_rendering()
    figure.set_layout_engine("none")

    arrows = made.arrows()

    def draw(k: int) -> np.ndarray:
        for trail, path in zip(trails, paths):
            trail.set_data(*path[: FINER * k + 1].T)
        said.set_text(f"{made.title}, {made.times[k]:.2f} s{pace}")
        drawn = sticks.stick(ax, made.bones, {body: X[k] for body, X in made.at.items()}, made.view)
        drawn = [*drawn, *draw_arrows(ax, arrows[k], made.view)]
        canvas.draw()
        seen = np.asarray(canvas.buffer_rgba())[..., :3].copy()
        for artist in drawn:
            artist.remove()
        return seen

    return draw


def _page(made: Film, path: Path) -> None:
    """The player with the film's numbers written into it."""
    player = (resources.files("catena.results.plots") / "player.html").read_text(encoding="utf-8")
    path.write_text(filled(player, made.title, drawing(made)), encoding="utf-8")


def filled(page: str, title: str, data: Mapping[str, object]) -> str:
    """A page with its title, the drawing code and its data written into it."""
    scene = (resources.files("catena.results.plots") / "scene.js").read_text(encoding="utf-8")
    text = json.dumps(data, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
    return page.replace("{{scene}}", scene).replace("{{title}}", html.escape(title)).replace("{{data}}", text)


def drawing(made: Film) -> dict[str, Any]:
    """What a page needs to draw it, rounded to a hundred-thousandth of what is seen."""
    reach = made.reach()
    digits = int(np.ceil(5 - np.log10(max(np.ptp(reach, axis=0).max(), 1e-6))))

    def short(x: np.ndarray) -> Any:
        return np.round(np.asarray(x, float), digits).tolist()

    names = [limb.body for limb in made.bones.limbs]
    bodies = [
        {
            "lines": short(limb.lines),
            "pins": short(limb.pins),
            "solids": [{"corners": short(s.corners), "radius": round(s.radius, digits), "colour": list(s.colour[:3])}
                       for s in limb.solids],
        }
        for limb in made.bones.limbs
    ]  # fmt: skip
    places = {name: k for k, name in enumerate(names)}
    guides = [[places.get(g.start, -1), short(g.at), places.get(g.end, -1), short(g.to)] for g in made.bones.guides]
    return {
        "title": made.title,
        "times": np.round(made.times, 6).tolist(),
        "bodies": bodies,
        "guides": guides,
        "ground": short(made.bones.ground),
        "positions": [short(made.at[name][:, :3, 3]) for name in names],
        "turns": [np.round(made.turns[name], 6).tolist() for name in names],
        "tracks": [{"body": places[made.tips[name][0]], "tip": short(made.tips[name][1]), "points": short(track)}
                   for name, track in made.tracks.items()],
        "forces": [[short(pair) for pair in now if np.isfinite(pair).all()] for now in made.arrows()],
        "view": {"right": made.view.right.tolist(), "up": made.view.up.tolist(), "planar": made.view.planar,
                 "vertical": made.vertical.tolist()},
        "middle": short(made.middle()),
        "size": np.maximum(np.ptp(reach, axis=0), 1e-3 * np.ptp(reach)).tolist(),
        "pace": made.pace,
    }  # fmt: skip
