"""Animation: a film of a result in solid 3-D, as a GIF, as an MP4 where ffmpeg is found, or as one
HTML page with a player.

    animate(result, "swing.gif")  animate(result, "swing.html")         animate(result, "swing.mp4")

The page needs no network; it can be turned and zoomed (drag, wheel), played at any speed, and
stopped at any instant. The pictures of GIF and MP4 are drawn without OpenGL.
"""

from __future__ import annotations

import html
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import CatenaError
from .film import TRACK_POINTS_PER_PICTURE, Film, film
from .forces import forces
from .result import Result
from .scene import wire
from .scene.raster import Painter, camera_of
from .storage import reason

if TYPE_CHECKING:
    from PIL.Image import Image

Progress = Callable[[int, int], None]  # called with how many are done, and how many there are
SIZE = (720, 540)  # pixels of a picture
TRAILS = (
    (0.84, 0.37, 0.0, 1.0),
    (0.0, 0.62, 0.45, 1.0),
    (0.80, 0.47, 0.65, 1.0),
    (0.90, 0.62, 0.0, 1.0),
    (0.34, 0.71, 0.91, 1.0),
)
FORCE = (0.86, 0.12, 0.10, 1.0)  # of contact forces
# the longest animation, s, where no speed is given
LONGEST = {".gif": 12.0, ".html": 60.0, ".mp4": 60.0}
RATE = {".gif": 20, ".html": 30, ".mp4": 30}  # pictures per second


def animate(
    result: Result,
    path: str | Path,
    *,
    speed: float | None = None,
    rate: int | None = None,
    run: int = 0,
    folders: Sequence[Path] | None = None,
    progress: Progress | None = None,
) -> Path:
    """Write an animation of a result to a .gif, .html or .mp4 file, and return its path.

    speed: seconds of the run per second of film, by default 1, or as many as are needed for a film
    of at most 12 s (GIF) or 60 s (page, MP4). rate: pictures per second, by default 20 (GIF) or 30.
    run: the index of the run of a batch. folders: where mesh files are looked for. progress: called
    with the number of pictures drawn and their total. Raises a CatenaError where the file cannot be
    written.
    """
    path = Path(path)
    write = WRITERS.get(path.suffix)
    if write is None:
        raise CatenaError(
            f"{path}: an animation is saved as {', '.join(RATE)}, not"
            f" {path.suffix or 'without a suffix'!r}"
        )
    for name, value in (("speed", speed), ("rate", rate)):
        if value is not None and not 0 < value < np.inf:
            raise CatenaError(f"{name} = {value}; it is a number above zero")
    if path.suffix == ".mp4" and _ffmpeg() is None:
        raise CatenaError(
            f"{path}: an MP4 is made by ffmpeg, which is not on this machine; install it (pip"
            " install 'catena[film]' brings one), or save a .gif or .html"
        )
    shown = result.select(run=run)
    duration = float(shown.time[-1] - shown.time[0])
    if not duration > 0:
        raise CatenaError("this result has one row; an animation needs a motion")
    pace = speed or max(1.0, duration / LONGEST[path.suffix])
    made = film(shown, pace, rate or RATE[path.suffix], folders=folders)
    beside = path.with_name(f".{path.stem}.{os.getpid()}{path.suffix}")  # whole, or not there
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write(made, beside, progress or _no_progress)
        os.replace(beside, path)
    except OSError as error:
        raise CatenaError(f"{path}: the animation could not be written ({reason(error)})") from None
    finally:
        beside.unlink(missing_ok=True)
    return path


@dataclass(frozen=True)
class Playing:
    """An animation in a form that a notebook displays and plays. page: its HTML."""

    page: str

    def _repr_html_(self) -> str:
        from .notebook import player

        return player(self.page)


def playing(result: Result, **options: Any) -> Playing:
    """Return an animation of a result for display in a notebook, with the options of `animate`."""
    with TemporaryDirectory() as folder:
        page = animate(result, Path(folder) / "film.html", **options)
        return Playing(page.read_text(encoding="utf-8"))


# --- pictures
def pictures(made: Film) -> Iterator[Image]:
    """Yield every picture of a film, with its title and the time."""
    from PIL import ImageDraw, ImageFont

    box = made.box()
    painter = Painter(made.scene, camera_of(made.scene, box, SIZE), box)
    face = ImageFont.load_default(15)
    pace = f", {made.pace:.3g} times real time" if made.pace != 1 else ""
    arrows = made.arrows()
    for k, time in enumerate(made.times):
        forces = [(pair, FORCE) for pair in arrows[k] if np.isfinite(pair).all()]
        trails = [
            (track[: TRACK_POINTS_PER_PICTURE * k + 1], TRAILS[i % len(TRAILS)])
            for i, track in enumerate(made.tracks.values())
        ]
        image = painter.picture(dict(zip(made.scene.bodies, made.at[k])), trails, forces)
        ImageDraw.Draw(image).text(
            (16, 12), f"{made.title}, {time:.2f} s{pace}", fill=(70, 82, 96), font=face
        )
        yield image


def _no_progress(done: int, of: int) -> None:
    """Ignore the progress; the default of the argument `progress`."""


def _with_progress(made: Film, progress: Progress) -> Iterator[Image]:
    """Yield the pictures, and report progress after each."""
    for k, picture in enumerate(pictures(made), start=1):
        progress(k, len(made.times))
        yield picture


def _gif(made: Film, path: Path, progress: Progress) -> None:
    """Write a GIF. All pictures use the 128 colours of the last one, which shows the complete
    paths.
    """
    from PIL import Image

    drawn = list(_with_progress(made, progress))
    colours = drawn[-1].quantize(128, method=Image.Quantize.MEDIANCUT)
    flat = [picture.quantize(palette=colours, dither=Image.Dither.NONE) for picture in drawn]
    delay = round(100 / made.rate) * 10  # ms; a GIF counts in hundredths of a second
    flat[0].save(
        path,
        save_all=True,
        append_images=flat[1:],
        duration=delay,
        loop=0,
        optimize=True,
        disposal=1,
    )


def _ffmpeg() -> str | None:
    """Return the path of the system's ffmpeg, or of the one in the package imageio-ffmpeg; None
    without both.
    """
    if found := shutil.which("ffmpeg"):
        return found
    try:
        from imageio_ffmpeg import get_ffmpeg_exe

        return str(get_ffmpeg_exe())
    except (ImportError, RuntimeError):  # no package, or none for this machine
        return None


def _mp4(made: Film, path: Path, progress: Progress) -> None:
    """Write an MP4 (H.264) by sending the pictures through a pipe to ffmpeg."""
    w, h = SIZE
    command = [
        _ffmpeg() or "ffmpeg",
        "-y",
        "-loglevel",
        "error",
        "-f",
        "rawvideo",
        "-pix_fmt",
        "rgb24",
        "-s",
        f"{w}x{h}",
        "-r",
        str(made.rate),
        "-i",
        "-",
        "-an",
        "-c:v",
        "libx264",
        "-pix_fmt",
        "yuv420p",
        "-movflags",
        "+faststart",
        str(path),
    ]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as ffmpeg:
        assert ffmpeg.stdin is not None and ffmpeg.stderr is not None
        try:
            for picture in _with_progress(made, progress):
                ffmpeg.stdin.write(picture.tobytes())
            ffmpeg.stdin.close()
        except BrokenPipeError:
            pass  # what it says, and its status, tell why
        said = ffmpeg.stderr.read().decode(errors="replace").strip()
        if ffmpeg.wait():
            raise CatenaError(
                "ffmpeg could not make the film:"
                f" {said.splitlines()[-1] if said else 'no reason given'}"
            )


def _page(made: Film, path: Path, progress: Progress) -> None:
    """Write a page with the player and the numbers of the film; the browser draws the pictures."""
    player = (resources.files("catena.results.scene") / "player.html").read_text(encoding="utf-8")
    scene, triangles = wire.header(made.scene, made.at[0], made.box())
    kept = [name for name in made.tracks if name in made.scene.tips]
    scene["tips"] = [tip for tip in scene["tips"] if tip["name"] in kept]
    data = {
        "scene": scene,
        "triangles": wire.packed(triangles),
        "times": np.round(made.times, 6).tolist(),
        "pace": made.pace,
        "poses": wire.packed(wire.film_numbers(made.at)),
        "tracks": [wire.packed(made.tracks[t["name"]].astype(np.float32)) for t in scene["tips"]],
    }
    data["forces"], pushes = forces(made.result).wire(made.scene)
    data["pushes"] = wire.packed(pushes)
    text = wire.page(player, title=html.escape(made.title), data=wire.text(data))
    path.write_text(text, encoding="utf-8")


WRITERS: dict[str, Callable[[Film, Path, Progress], None]] = {
    ".gif": _gif,
    ".html": _page,
    ".mp4": _mp4,
}
