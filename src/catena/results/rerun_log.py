"""A result as a recording of Rerun: solids that move, traces of tips, and all quantities over time.

mechanism/BODY/...      the solids of a body, and its pose over time
mechanism/spans/...     springs, cables and other elements between two bodies
traces/...              the paths of the tips
q/NAME, v/NAME, tau/NAME, energy/NAME
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.spatial.transform import Rotation

from ..errors import CatenaError
from .own_parameters import with_own_parameters
from .result import ENERGIES, Result
from .scene import describe
from .scene.description import LAYERS, Scene, poses
from .scene.skeleton import moved

if TYPE_CHECKING:
    import rerun

TIMELINE = "time"


def recording(result: Result) -> rerun.RecordingStream:
    """Return the recording of one run."""
    rr = _rerun()
    if "run" in result.data.dims:
        raise CatenaError(
            f"this result is a batch of {result.data.sizes['run']} runs, and a recording shows"
            " one; choose it: result.select(run=0)"
        )
    stream = rr.RecordingStream(f"catena {result.data.attrs.get('mechanism', '')}".strip())
    scene = describe(with_own_parameters(result))
    own = result.data["parameters"].values if "parameters" in result.data else None
    at = poses(scene, result.machine, result.data["q"].values, own)
    stream.log("mechanism", _up(rr, scene), static=True)
    _log_solids(rr, stream, scene)
    _log_motion(rr, stream, scene, at, result.time)
    _log_quantities(rr, stream, result)
    stream.log("ledger", rr.TextDocument(str(result.ledger)), static=True)
    return stream


def write(result: Result, path: Path) -> None:
    """Write the recording of one run as an .rrd file."""
    stream = recording(result)
    stream.save(path)
    stream.disconnect()


def _rerun() -> Any:
    try:
        import rerun
    except ImportError:
        raise CatenaError(
            "a recording for Rerun needs the package rerun-sdk: pip install 'catena[rerun]'"
        ) from None
    return rerun


def _up(rr: Any, scene: Scene) -> Any:
    """Return the direction that is up in the viewer: the axis nearest to the scene's own."""
    views = (
        (rr.ViewCoordinates.LEFT_HAND_X_DOWN, rr.ViewCoordinates.RIGHT_HAND_X_UP),
        (rr.ViewCoordinates.RIGHT_HAND_Y_DOWN, rr.ViewCoordinates.RIGHT_HAND_Y_UP),
        (rr.ViewCoordinates.RIGHT_HAND_Z_DOWN, rr.ViewCoordinates.RIGHT_HAND_Z_UP),
    )
    k = int(np.abs(scene.up).argmax())
    return views[k][int(scene.up[k] > 0)]


def _log_solids(rr: Any, stream: Any, scene: Scene) -> None:
    """Log the solids of the bodies in the layers that are visible at first."""
    for k, part in enumerate(scene.parts):
        if not LAYERS[part.layer]:
            continue
        solid = scene.geometries[part.geometry].moved(part.pose)
        mesh = rr.Mesh3D(
            vertex_positions=solid.points,
            vertex_normals=solid.normals,
            triangle_indices=solid.faces,
            albedo_factor=part.colour,
        )
        stream.log(
            f"mechanism/{_word(part.body)}/{_word(part.name or 'solid')}_{k}", mesh, static=True
        )


def _log_motion(rr: Any, stream: Any, scene: Scene, at: np.ndarray, t: np.ndarray) -> None:
    """Log the poses of the bodies (rows, bodies, 4, 4), what spans between them, and traces."""
    index = [rr.TimeColumn(TIMELINE, duration=t)]
    places = {name: k for k, name in enumerate(scene.bodies)}
    for name, k in places.items():
        turn = Rotation.from_matrix(at[:, k, :3, :3].copy()).as_quat()
        columns = rr.Transform3D.columns(translation=at[:, k, :3, 3], quaternion=turn)
        stream.send_columns(f"mechanism/{_word(name)}", index, columns)
    for k, span in enumerate(scene.spans):
        ends = [moved(at[:, places[span.start]], span.at), moved(at[:, places[span.end]], span.to)]
        columns = rr.LineStrips3D.columns(strips=np.stack(ends, axis=1)[:, None].reshape(-1, 2, 3))
        colour = rr.LineStrips3D.from_fields(radii=0.5 * span.width, colors=span.colour)
        path = f"mechanism/spans/{_word(span.name or 'span')}_{k}"
        stream.log(path, colour, static=True)
        stream.send_columns(path, index, columns)
    for name, (body, point) in scene.tips.items():
        trace = moved(at[:, places[body]], point)
        stream.log(f"traces/{_word(name)}", rr.LineStrips3D([trace]), static=True)


def _log_quantities(rr: Any, stream: Any, result: Result) -> None:
    """Log coordinates, speeds, forces and energies over time."""
    index = [rr.TimeColumn(TIMELINE, duration=result.time)]
    for name in ("q", "v", "tau"):
        values = result.data[name]
        for k, label in enumerate(values[values.dims[-1]].values):
            columns = rr.Scalars.columns(scalars=values.values[:, k])
            stream.send_columns(f"{name}/{_word(str(label))}", index, columns)
    for name in (n for n in ENERGIES if n in result.data):
        columns = rr.Scalars.columns(scalars=result.data[name].values)
        stream.send_columns(f"energy/{name}", index, columns)


def _word(name: str) -> str:
    """Return a name as one part of a path of entities."""
    return name.replace("/", "_").replace(" ", "_")
