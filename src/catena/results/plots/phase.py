"""Phase portrait: each speed over its coordinate."""

from __future__ import annotations

from matplotlib.figure import Figure

from ...errors import CatenaError
from ...machine import Coordinate, coordinates
from ..result import Result, chosen
from .resolution import still
from .series import QUANTITY, Names, labels, units
from .style import COLOURS, FAINT, degrees_of, named, page, said


def draw(result: Result, only: Names = None, degrees: bool = False) -> Figure:
    """Draw one panel for each coordinate that moves and whose rate is a speed, which excludes
    quaternions. A dot marks the start, a ring the end.
    """
    paired = {c.name: c for c in coordinates(result.machine)}
    if not paired:
        raise CatenaError(
            "a phase portrait needs a coordinate whose rate is a speed; this mechanism has"
            " quaternions only"
        )
    q_unit, v_unit = (units(result, name) for name in ("q", "v"))
    names = (
        chosen(only, paired, "coordinate", "the phase portrait")
        if only is not None
        else _moving_coordinates(result, paired, q_unit)
    )
    if not names:
        return said("No coordinate moves by more than the run can tell.")
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
        ax.set(
            title=name,
            xlabel=named(QUANTITY[q_unit[name]], unit),
            ylabel=named(QUANTITY[v_unit[c.speed]], rate),
        )
    for ax in panels[len(names) :]:
        ax.set_visible(False)
    at_rest = [name for name in paired if name not in names]
    if only is None and at_rest:
        listed = ", ".join(at_rest) if len(at_rest) < 6 else f"{len(at_rest)} coordinates"
        figure.supxlabel(
            f"without a panel: {listed}, at rest or inside flexible bodies",
            fontsize=7.5,
            color=FAINT,
            x=0.01,
            ha="left",
        )
    return figure


def _moving_coordinates(
    result: Result, paired: dict[str, Coordinate], unit: dict[str, str]
) -> list[str]:
    """Return the coordinates that move, without those inside flexible bodies."""
    own = [name for name in labels(result, "q")[0] if name in paired]
    return [
        name
        for name in own
        if not still(result, result.data["q"].values[:, paired[name].qi], unit[name])
    ]
