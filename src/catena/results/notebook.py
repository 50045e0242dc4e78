"""HTML for notebooks: what `_repr_html_` of mechanisms, results and answers returns, without
scripts.

The objects are defined in packages that do not import this one: they hold the names of these
functions as strings, and load them when a notebook displays them (`registry.loaded`).
"""

from __future__ import annotations

import base64
import html
from collections.abc import Iterable, Sequence
from io import BytesIO
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.figure import Figure

    from ..machine import Machine
    from ..model import Mechanism
    from .ledger import Ledger
    from .result import Result

TABLE = "border-collapse:collapse;margin:0.4em 0;font-size:0.92em"
CELL = "padding:2px 10px;text-align:left;border-bottom:1px solid #8883"


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return an HTML table of strings."""
    top = "".join(f"<th style='{CELL}'>{html.escape(x)}</th>" for x in head)
    body = "".join(
        "<tr>" + "".join(f"<td style='{CELL}'>{html.escape(str(x))}</td>" for x in row) + "</tr>"
        for row in rows
    )
    return (
        "<table"
        f" style='{TABLE}'>{f'<thead><tr>{top}</tr></thead>' if head else ''}<tbody>{body}</tbody></table>"  # noqa: E501
    )


def plain(answer: object) -> str:
    """Return the printed form of an object as preformatted HTML."""
    return f"<pre style='line-height:1.3'>{html.escape(str(answer))}</pre>"


def report(
    title: str, head: Sequence[str], rows: Iterable[Sequence[object]], notes: Iterable[str] = ()
) -> str:
    """Return HTML with a title, a table, and sentences below it."""
    return (
        (f"<b>{html.escape(title)}</b>" if title else "")
        + table(head, rows)
        + "".join(f"<div>{html.escape(x)}</div>" for x in notes)
    )


def picture(figure: Figure, dpi: int = 90) -> str:
    """Return a matplotlib figure as an embedded image."""
    with BytesIO() as file:
        figure.savefig(file, format="png", dpi=dpi)
        return _image(file.getvalue())


def _image(png: bytes) -> str:
    return (
        f"<img style='max-width:100%' src='data:image/png;base64,{base64.b64encode(png).decode()}'>"
    )


def mechanism(m: Mechanism) -> str:
    """Return a drawing of a mechanism with its loops closed, and tables of its bodies and
    joints.
    """
    bodies = [
        (
            b.name,
            "by its beam" if b.flexible else b.mass,
            "" if b.flexible else ", ".join(f"{x}" for x in b.com),
        )
        for b in m.bodies
    ]
    joints = [(j.name, j.kind, j.parent, j.child, ", ".join(j.coordinate_names)) for j in m.ordered]
    loops = [(j.name, f"{j.kind}, closes a loop", j.parent, j.child, "") for j in m.loops]
    tables = table(("body", "mass (kg)", "centre of mass (m)"), bodies) + table(
        ("joint", "kind", "parent", "child", "coordinates"), joints + loops
    )
    return f"<b>{html.escape(m.name)}</b><br>{drawing(m)}{tables}"


def drawing(m: Mechanism, size: tuple[int, int] = (560, 380)) -> str:
    """Return a picture of a mechanism as an embedded image; "" where it cannot be drawn. size:
    pixels.
    """
    found = png(m, size)
    return _image(found) if found else ""


def png(m: Mechanism, size: tuple[int, int] = (560, 380)) -> bytes:
    """Return a picture of a mechanism near its neutral configuration, with loops closed, as a PNG;
    nothing where it cannot be drawn, such as for an invalid mechanism. size: pixels.
    """
    from ..errors import CatenaError
    from ..machine import compile
    from .scene import describe
    from .scene.raster import Painter, camera_of
    from .scene.skeleton import placed

    try:
        machine = compile(m)
        at = placed(machine, standing(machine))
    except CatenaError:
        return b""
    scene = describe(m)
    box = scene.box(at)
    with BytesIO() as file:
        Painter(scene, camera_of(scene, box, size), box).picture(at).save(file, format="png")
        return file.getvalue()


def standing(machine: Machine) -> np.ndarray:
    """Return q with loops closed, found from the neutral configuration or from the first of some
    random starts that succeeds; the neutral configuration where none does.
    """
    import numpy as np

    from ..analysis import assemble
    from ..errors import CatenaError

    zero = machine.neutral()
    if not machine.mechanism.closes:
        return zero
    starts = np.random.default_rng(0)
    for spread in (0.0, 0.3, 0.6, 1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 3.0):
        try:
            return assemble(
                machine, machine.move(zero, spread * starts.uniform(-1, 1, machine.nv))
            )[0]
        except CatenaError:
            continue
    return zero


def result(r: Result) -> str:
    """Return the overview of a result (of a batch, of its first run) and its ledger."""
    return picture(r.plot("overview")) + ledger(r.ledger)


def ledger(book: Ledger) -> str:
    """Return the rows of a ledger as a table."""
    return table((), book.rows())


def player(page: str, height: int = 560) -> str:
    """Return a page embedded in a notebook, without a server. height: pixels."""
    return (
        f"<iframe style='width:100%;height:{height}px;border:0'"
        f' srcdoc="{html.escape(page)}"></iframe>'
    )
