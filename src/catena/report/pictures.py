"""Pictures of a report: the mechanism in 3-D, once or at several instants, and plots of the run."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO, StringIO

import numpy as np
from matplotlib.figure import Figure

from ..results import Result, between
from ..results.scene import Painter, Scene, camera_of, poses
from .subject import Subject

Array = np.ndarray
# pixels of the drawing, and of one of several pictures
SIZE = (1200, 760)
SMALL = (600, 400)


def drawing(s: Subject) -> bytes:
    """Return a PNG of the mechanism at the start of its run."""
    return _png(np.asarray(_painted(s.scene, poses(s.scene, s.machine, s.start[None]), SIZE)[0]))


def instants(s: Subject, times: Sequence[float]) -> bytes:
    """Return a PNG of the mechanism at four times (s) of its run, in two rows."""
    at = poses(s.scene, s.machine, between(s.result, np.asarray(times)), _own(s.result))
    a, b, c, d = _painted(s.scene, at, SMALL)
    return _png(np.concatenate([np.concatenate([a, b], axis=1), np.concatenate([c, d], axis=1)]))


def svg(figure: Figure) -> str:
    """Return a figure as SVG with letters as outlines, which has the same bytes every time."""
    import matplotlib as mpl

    with StringIO() as text, mpl.rc_context({"svg.fonttype": "path", "svg.hashsalt": "catena"}):
        figure.savefig(text, format="svg", metadata={"Date": None})
        found = text.getvalue()
    return found[found.index("<svg") :]


def _painted(scene: Scene, at: Array, size: tuple[int, int]) -> list[Array]:
    """Return pictures (h, w, 3) of a scene with its bodies at poses (n, bodies, 4, 4), by one
    camera.
    """
    box = scene.box({name: at[:, k] for k, name in enumerate(scene.bodies)})
    painter = Painter(scene, camera_of(scene, box, size), box)
    return [np.asarray(painter.picture(dict(zip(scene.bodies, here)))) for here in at]


def _own(result: Result) -> Array | None:
    """Return the parameters of a run, or None where all runs have those of the mechanism."""
    return (
        np.asarray(result.data["parameters"].values, float) if "parameters" in result.data else None
    )


def _png(pixels: Array) -> bytes:
    """Return pixels as a PNG of 256 colours."""
    from PIL import Image

    with BytesIO() as file:
        Image.fromarray(pixels).quantize(256, method=Image.Quantize.MEDIANCUT).save(
            file, "png", optimize=True
        )
        return file.getvalue()
