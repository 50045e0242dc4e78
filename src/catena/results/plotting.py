"""The registry of plots: one record per plot holds what `Result.plot`, files, the command line and
the documentation need.

The function that draws is imported when the plot is drawn, so that a list of plots costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import CatenaError, UnknownNameError
from ..registry import Registry, loaded

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..model import Mechanism

PLOTTED_ROWS = 4000  # the largest number of rows that a plot shows
LARGEST_OVERLAY = 100  # the largest number of runs in one plot
SUFFIXES = (".png", ".pdf", ".svg")  # of the files a plot is saved as


def _always(mechanism: Mechanism) -> bool:
    return True


@dataclass(frozen=True)
class Plot:
    """A plot of a result.

    name: its name. draw(result, **options): the function that makes the matplotlib Figure, or its
    place ("package.module:function"), from which it is imported when it draws. doc: one line of
    description. options: the keywords of draw. select: the option that names the coordinates,
    joints or frames to show; `catena plot --only` sets it. needs: a phrase that says what the
    mechanism must have; applies(mechanism): whether it has it.
    """

    name: str
    draw: Callable[..., Figure] | str
    doc: str
    options: tuple[str, ...] = ()
    select: str = ""
    needs: str = ""
    applies: Callable[[Mechanism], bool] = _always

    def check(self, mechanism: Mechanism, options: Iterable[str]) -> None:
        """Raise an error where an option is not known, or the mechanism has nothing that this plot
        shows.
        """
        for name in options:
            if name not in self.options:
                raise UnknownNameError("option", name, self.options, f"the plot {self.name!r}")
        if not self.applies(mechanism):
            raise CatenaError(
                f"plot {self.name!r} needs {self.needs}; mechanism {mechanism.name!r} has none"
            )


PLOTS: Registry[Plot] = Registry("plot")
register = PLOTS.register
find = PLOTS.find


def plot(
    result: Any,
    what: str = "overview",
    *,
    run: int | Iterable[int] | str = 0,
    title: str | None = None,
    style: str = "house",
    **options: Any,
) -> Figure:
    """Return a plot of a result as a matplotlib Figure, which is not shown.

    what: one of `PLOTS`. run: the index of a run of a batch; several, or "all", are overlaid, with
    the first of them in front. Of more than LARGEST_OVERLAY runs only some are drawn, at equal
    intervals of the index. title: by default the mechanism's name, "" for none. style: one of
    `catena.results.plots.paper.STYLES`, such as "ieee": the width of a column and its letters;
    those of papers have no title. options: those of the plot. Raises an UnknownNameError where
    there is no such plot or option.
    """
    import matplotlib as mpl

    from .plots.overlay import overlay
    from .plots.paper import STYLES, settings
    from .plots.style import HOUSE, plain_ticks

    kind = find(what)
    kind.check(result.mechanism, options)
    look = STYLES.find(style)
    runs = _runs(result, run)
    with mpl.rc_context({**HOUSE, **settings(style)}):
        figures = []
        for k in runs:
            shown = result.select(run=k).thinned(PLOTTED_ROWS)
            shown.data.load()
            figures.append(loaded(kind.draw)(shown, **options))
        figure = overlay(figures[0], figures[1:])
        plain_ticks(figure)
        look.fit(figure)
        if title is None:
            title = _title(result, shown.time[-1], runs) if look.width is None else ""
        if title:
            figure.suptitle(title, x=0.01, ha="left")
    return figure


def _runs(result: Any, run: int | Iterable[int] | str) -> list[int]:
    """Return the indices of the runs to draw."""
    count = result.data.sizes.get("run", 1)
    if isinstance(run, str) and run != "all":
        raise CatenaError(f"run is {run!r}; it is a number, several of them, or 'all'")
    asked = (
        list(range(count))
        if isinstance(run, str)
        else [int(run)]
        if not isinstance(run, Iterable)
        else [int(k) for k in run]
    )
    if not asked:
        raise CatenaError("no run was asked for; it is a number, several of them, or 'all'")
    every = -(-len(asked) // LARGEST_OVERLAY)
    return asked[::every]


def save(result: Any, path: str | Path, what: str = "overview", **options: Any) -> Path:
    """Draw a plot and write it to a .png, .pdf or .svg file. The folder is created where it is
    missing.
    """
    from .plots.paper import settings

    own = settings(options.get("style", "house"))
    return write(path, "plot", lambda: plot(result, what, **options), own)


def write(
    path: str | Path,
    word: str,
    draw: Callable[[], Figure],
    settings: Mapping[str, Any] | None = None,
) -> Path:
    """Write the figure that `draw` returns to a file. word: the name of the picture in messages."""
    import matplotlib as mpl

    from .plots.style import HOUSE
    from .storage import reason

    path = Path(path)
    if path.suffix.lower() not in SUFFIXES:
        raise CatenaError(
            f"{path}: a {word} is saved as {', '.join(SUFFIXES)}, not"
            f" {path.suffix or 'without a suffix'!r}"
        )
    figure = draw()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with mpl.rc_context({**HOUSE, **(settings or {})}):
            figure.savefig(path)
    except OSError as error:
        raise CatenaError(f"{path}: the {word} could not be written ({reason(error)})") from None
    return path


def markdown() -> str:
    """Return the table of plots as docs/simulation.md shows it."""
    return table("plot", PLOTS.values())


def table(word: str, plots: Iterable[Any]) -> str:
    """Return a Markdown table of records of plots."""
    rows = [
        f"| `{p.name}` | {p.doc} | {', '.join(f'`{x}`' for x in p.options)} | {p.needs} |"
        for p in plots
    ]
    return "\n".join([f"| {word} | shows | options | needs |", "|---|---|---|---|", *rows])


def _title(result: Any, end: float, drawn: list[int]) -> str:
    from .plots.overlay import listed

    runs = result.data.sizes.get("run")
    batch = f", {'run' if len(drawn) == 1 else 'runs'} {listed(drawn)} of {runs}" if runs else ""
    partial = "" if result.complete else f" (partial, until {end:g} s)"
    return f"{result.data.attrs.get('mechanism', '')}{batch}{partial}"


# --- those of catena
def _bends(mechanism: Mechanism) -> bool:
    return bool(mechanism.beams)


def _has_rates(mechanism: Mechanism) -> bool:
    return any(f.nv == 1 for j in mechanism.moving for f in j.freedoms)


def _touches(mechanism: Mechanism) -> bool:
    return bool(mechanism.contacts)


def _collides(mechanism: Mechanism) -> bool:
    from ..collision import collision_pairs

    return bool(collision_pairs(mechanism))


_HERE = "catena.results.plots"
_LINES = ("only", "degrees")
for _plot in (
    Plot(
        "overview",
        f"{_HERE}.overview:draw",
        "stick figures, coordinates, speeds and energies on one page",
        ("degrees",),
    ),
    Plot(
        "coordinates",
        f"{_HERE}.series:coordinates",
        "q over time, one panel per unit",
        _LINES,
        "only",
    ),
    Plot("speeds", f"{_HERE}.series:speeds", "v over time, one panel per unit", _LINES, "only"),
    Plot(
        "accelerations",
        f"{_HERE}.series:accelerations",
        "a over time, one panel per unit",
        _LINES,
        "only",
    ),
    Plot(
        "torques",
        f"{_HERE}.series:torques",
        "tau over time: joint torques and forces",
        ("only",),
        "only",
    ),
    Plot(
        "energies",
        f"{_HERE}.energies:draw",
        "kinetic, potential and total energy, and the balance error",
    ),
    Plot(
        "reactions",
        f"{_HERE}.reactions:draw",
        "force and torque in every joint",
        ("joints", "axes"),
        "joints",
    ),
    Plot("free_bodies", f"{_HERE}.free_bodies:draw", "every body apart, with its forces by name"),
    Plot("paths", f"{_HERE}.paths:draw", "the paths of the tips", ("frames",), "frames"),
    Plot(
        "phase",
        f"{_HERE}.phase:draw",
        "phase portrait: speed over coordinate",
        _LINES,
        "only",
        "a coordinate whose rate is a speed",
        _has_rates,
    ),
    Plot(
        "cyclograph",
        f"{_HERE}.cyclograph:draw",
        "stick figures at equal times",
        ("every", "until", "frames"),
        "frames",
    ),
    Plot(
        "clearance",
        f"{_HERE}.clearance:draw",
        "signed distances of the shapes that come closest",
        ("pairs",),
        "pairs",
        "two shapes that may collide",
        _collides,
    ),
    Plot(
        "contacts",
        f"{_HERE}.contacts:draw",
        "normal force and friction of contact points, their modes as bands",
        ("points",),
        "points",
        "a contact",
        _touches,
    ),
    Plot(
        "deflections",
        f"{_HERE}.bending:draw",
        "deflection of the tips of flexible bodies",
        (),
        "",
        "a flexible body",
        _bends,
    ),
):
    register(_plot)
