"""Phase portrait: each speed over its coordinate."""

from __future__ import annotations

from matplotlib.figure import Figure

from ...errors import CatenaError
from ...machine.lookup import coordinates
from ..result import Result, chosen
from .series import QUANTITY, Names, labels
from .style import COLOURS, FAINT, degrees_of, named, page


def draw(result: Result, only: Names = None, degrees: bool = False) -> Figure:
    """One panel per coordinate that has a speed of its own: all but quaternions. A dot marks the start, a ring the end."""
    paired = {c.name: c for c in coordinates(result.machine)}
    if not paired:
        raise CatenaError("a phase portrait needs a coordinate whose rate is a speed; this mechanism has quaternions only")
    names = chosen(only, paired, "coordinate", "the phase portrait")
    q_unit, v_unit = (dict(zip(*labels(result, name))) for name in ("q", "v"))
    columns = min(3, len(names))
    rows = -(-len(names) // columns)
    figure = page(rows, each=2.2)
    panels = figure.subplots(rows, columns, squeeze=False).ravel()
    for ax, name in zip(panels, names):
        c = paired[name]
        q, unit = degrees_of(result.data["q"].values[:, c.qi], q_unit[name], degrees)
        v, rate = degrees_of(result.data["v"].values[:, c.vi], v_unit[c.speed], degrees)
        ax.plot(q, v, color=COLOURS[0], linewidth=1.0)
        ax.plot(q[0], v[0], "o", color=COLOURS[1], markersize=4)
        ax.plot(q[-1], v[-1], "o", color=COLOURS[1], markersize=4, markerfacecolor="white")
        ax.margins(0.05)
        ax.axhline(0.0, color=FAINT, linewidth=0.6, zorder=0)
        ax.set(title=name, xlabel=named(QUANTITY[q_unit[name]], unit), ylabel=named("speed", rate))
    for ax in panels[len(names) :]:
        ax.set_visible(False)
    return figure
