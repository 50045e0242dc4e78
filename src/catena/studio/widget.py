"""Widget: the page of `catena view` in a cell of a notebook, connected to the kernel.

    page in a frame --messages--> notebook --comm--> Viewer --> poses, scenes, films

The session is the `Viewer` that `catena view` serves; only the way of its messages differs.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import CatenaError
from ..model import Mechanism
from ..results import Result
from .server import Client, packed
from .view import Viewer

if TYPE_CHECKING:
    from anywidget import AnyWidget

SWITCH = "CATENA_WIDGETS"  # the environment variable that turns widgets off


class NotebookClient(Client):
    """One view of a widget, in the place of a browser."""

    def __init__(self, widget: AnyWidget, view: str):
        super().__init__(widget)
        self.view = view
        self.editor = True

    def send(self, kind: str, blob: bytes = b"", **data: Any) -> None:
        """Send a message to this view of the widget."""
        self.connection.send({"view": self.view}, [packed(kind, blob, data)])


def widget(
    shown: Mechanism | Result,
    *,
    q: ArrayLike | None = None,
    height: int = 480,
    folders: Sequence[Path] | None = None,
) -> AnyWidget:
    """Return a live widget of a mechanism or of a result, for Jupyter, VS Code and marimo.

    Bodies are dragged and coordinates are set by sliders, with closed loops; a run begins from the
    pose that is shown, without a controller. A result is played.
    Parameters of the mechanism have
    sliders: a change draws it anew, and repeats the run that is played, with all of its options.

    Parameters
    ----------
    shown : Mechanism or Result
        What is shown; of a batch, its first run.
    q : array_like, optional
        The first pose (nq,) of a mechanism, rad or m; by default the neutral one with closed loops.
    height : int, default 480
        The height in pixels.
    folders : sequence of Path, optional
        Where mesh files may be.

    Returns
    -------
    anywidget.AnyWidget
        The widget; a notebook shows it where it is the value of a cell.

    Raises
    ------
    CatenaError
        If anywidget is not installed.

    Examples
    --------
    >>> from catena.studio import widget
    >>> widget(catena.load("two_link_arm"), q=[0.3, 0.2])  # doctest: +SKIP
    """
    try:
        import anywidget
        import traitlets
    except ImportError:
        raise CatenaError(
            "widgets in notebooks need the package anywidget: pip install 'catena[notebook]'"
        ) from None
    if isinstance(shown, Result):
        session = Viewer(
            shown.mechanism,
            q=shown.select(run=0).data["q"].values[0],
            folders=folders,
            result=shown,
        )
    else:
        session = Viewer(shown, q=None if q is None else np.asarray(q, float), folders=folders)
    folder = resources.files("catena.studio")

    class Widget(anywidget.AnyWidget):
        """The widget: its page, its height, and the session behind it."""

        _esm = (folder / "widget.js").read_text(encoding="utf-8")
        page = traitlets.Unicode().tag(sync=True)
        height = traitlets.Int().tag(sync=True)

    link = (folder / "frame_link.js").read_text(encoding="utf-8")
    made = Widget(page=session.page(link), height=height)
    connect(session, made)
    return made


def connect(session: Viewer, made: AnyWidget) -> None:
    """Pass the messages of all views of a widget on to a session."""
    clients: dict[str, NotebookClient] = {}

    def hear(_: Any, content: dict[str, Any], __: Any) -> None:
        name = str(content["view"])
        if content.get("closed"):
            if name in clients:
                session.closed(clients.pop(name))
            return
        message = json.loads(content["text"])
        if message.get("kind") == "open":
            if name not in clients:
                clients[name] = NotebookClient(made, name)
                session.opened(clients[name])
            return
        try:
            session.received(clients[name], message)
        except (CatenaError, ValueError, KeyError, TypeError, ArithmeticError) as why:
            clients[name].send("fault", text=str(why) or type(why).__name__)

    made.on_msg(hear)


def bundle(shown: Mechanism | Result) -> dict[str, Any]:
    """Return what a notebook needs to show the widget of a mechanism or a result; nothing where
    anywidget is not installed, where no notebook listens, or where CATENA_WIDGETS=off.
    """
    if os.environ.get(SWITCH, "").lower() in ("off", "0") or not _in_notebook():
        return {}
    try:
        return dict(widget(shown)._repr_mimebundle_()[0])
    except CatenaError:  # not installed, or a mechanism that cannot be drawn
        return {}


def _in_notebook() -> bool:
    """Whether this process is the kernel of a notebook."""
    import sys

    if "ipykernel" not in sys.modules:
        return False
    from IPython import get_ipython

    return hasattr(get_ipython(), "kernel")
