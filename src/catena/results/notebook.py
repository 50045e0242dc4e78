"""What a notebook shows of mechanisms, results and answers: HTML without scripts, found by the objects' `_repr_html_`.

The objects live in lower rooms; they name the functions here as text and load them when a notebook asks (`registry.loaded`).
"""

from __future__ import annotations

import base64
import html
from collections.abc import Iterable, Sequence
from io import BytesIO
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..model.mechanism import Mechanism
    from .ledger import Ledger
    from .result import Result

TABLE = "border-collapse:collapse;margin:0.4em 0;font-size:0.92em"
CELL = "padding:2px 10px;text-align:left;border-bottom:1px solid #8883"


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table of texts."""
    top = "".join(f"<th style='{CELL}'>{html.escape(x)}</th>" for x in head)
    body = "".join("<tr>" + "".join(f"<td style='{CELL}'>{html.escape(str(x))}</td>" for x in row) + "</tr>" for row in rows)
    return f"<table style='{TABLE}'>{f'<thead><tr>{top}</tr></thead>' if head else ''}<tbody>{body}</tbody></table>"


def plain(answer: object) -> str:
    """What an answer prints, as it prints it."""
    return f"<pre style='line-height:1.3'>{html.escape(str(answer))}</pre>"


def picture(figure: Figure, dpi: int = 90) -> str:
    """A figure inside the page."""
    with BytesIO() as file:
        figure.savefig(file, format="png", dpi=dpi)
        return f"<img style='max-width:100%' src='data:image/png;base64,{base64.b64encode(file.getvalue()).decode()}'>"


def mechanism(m: Mechanism) -> str:
    """A drawing with all coordinates at zero, and tables of bodies and joints."""
    bodies = [(b.name, "by its beam" if b.flexible else b.mass, "" if b.flexible else ", ".join(f"{x}" for x in b.com)) for b in m.bodies]
    joints = [(j.name, j.kind, j.parent, j.child, ", ".join(j.coordinate_names)) for j in m.ordered]
    loops = [(j.name, f"{j.kind}, closes a loop", j.parent, j.child, "") for j in m.loops]
    tables = table(("body", "mass (kg)", "centre of mass (m)"), bodies) + table(("joint", "kind", "parent", "child", "coordinates"), joints + loops)
    return f"<b>{html.escape(m.name)}</b><br>{drawing(m)}{tables}"


def drawing(m: Mechanism) -> str:
    """Its stick figure; nothing where it cannot be drawn, as of a mechanism with faults."""
    import matplotlib as mpl
    import numpy as np

    from ..errors import CatenaError
    from ..machine.machine import compile
    from .plots import sticks
    from .plots.style import HOUSE, TIMES, fitted
    from .plots.view import dress
    from .scene.skeleton import placed, skeleton
    from .scene.view import view_of

    try:
        machine = compile(m)
    except CatenaError:
        return ""
    bones, view = skeleton(m), view_of(m)
    at = placed(machine, np.atleast_2d(machine.neutral()), None)
    reach = sticks.reach(bones, at, view)
    with mpl.rc_context(HOUSE):
        figure = fitted(reach.min(axis=0), reach.max(axis=0), most=3.2)
        ax = figure.subplots()
        sticks.stick(ax, bones, {body: X[0] for body, X in at.items()}, view, TIMES(0.8), True)
        sticks.ground(ax, bones, view)
        dress(ax, view, reach)
        return picture(figure)


def result(r: Result) -> str:
    """The overview and the ledger; of a batch, that of its first run."""
    return picture(r.plot("overview")) + ledger(r.ledger)


def ledger(book: Ledger) -> str:
    """Its rows as a table."""
    return table((), book.rows())


def player(page: str, height: int = 560) -> str:
    """A page of its own inside a notebook, without a server."""
    return f"<iframe style='width:100%;height:{height}px;border:0' srcdoc=\"{html.escape(page)}\"></iframe>"
