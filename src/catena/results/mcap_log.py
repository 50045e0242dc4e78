"""A result as an MCAP file, with messages in JSON for Foxglove, Rerun and tools of ROS.

    /joint_states   sensor_msgs/JointState: coordinates of one number, their speeds and forces
    /tf             foxglove.FrameTransforms: the pose of every body in the ground
    /energy         kinetic, potential, work and the error of the balance, J

The file's metadata hold the ledger and the text of the mechanism. `catena fit` reads the joint
states as a log.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from ..errors import CatenaError
from ..model import GROUND
from .result import ENERGIES, Result

Schema = dict[str, Any]
NUMBER: Schema = {"type": "number"}
STAMP: Schema = {
    "type": "object",
    "properties": {"sec": {"type": "integer"}, "nsec": {"type": "integer"}},
}


def _object(**properties: Schema) -> Schema:
    return {"type": "object", "properties": properties}


def _array(items: Schema) -> Schema:
    return {"type": "array", "items": items}


SCHEMAS: dict[str, tuple[str, Schema]] = {
    "/joint_states": (
        "sensor_msgs/JointState",
        _object(
            header=_object(stamp=STAMP, frame_id={"type": "string"}),
            name=_array({"type": "string"}),
            **{key: _array(NUMBER) for key in ("position", "velocity", "effort")},
        ),
    ),
    "/tf": (
        "foxglove.FrameTransforms",
        _object(
            transforms=_array(
                _object(
                    timestamp=STAMP,
                    parent_frame_id={"type": "string"},
                    child_frame_id={"type": "string"},
                    translation=_object(x=NUMBER, y=NUMBER, z=NUMBER),
                    rotation=_object(x=NUMBER, y=NUMBER, z=NUMBER, w=NUMBER),
                )
            )
        ),
    ),
    "/energy": ("catena.Energy", _object(**dict.fromkeys(ENERGIES, NUMBER))),
}


def write(result: Result, path: Path) -> None:
    """Write one run as an MCAP file."""
    try:
        from mcap.writer import Writer
    except ImportError:
        raise CatenaError(
            f"{path}: MCAP needs the package mcap: pip install 'catena[logs]'"
        ) from None
    if "run" in result.data.dims:
        raise CatenaError(
            f"{path}: this result is a batch of {result.data.sizes['run']} runs, and an MCAP file"
            " holds one; choose it: result.select(run=0)"
        )
    with path.open("wb") as file:
        writer = Writer(file)
        writer.start(profile="", library="catena")
        channels = {}
        for topic, (name, schema) in SCHEMAS.items():
            at = writer.register_schema(name, "jsonschema", json.dumps(schema).encode())
            channels[topic] = writer.register_channel(topic, "json", at)
        rows = zip(*(make(result) for make in (_joint_states, _transforms, _energies)))
        for t, messages in zip(result.time, rows):
            stamp = round(1e9 * float(t))
            for topic, message in zip(SCHEMAS, messages):
                data = json.dumps(message, separators=(",", ":")).encode()
                writer.add_message(channels[topic], stamp, data, stamp)
        attributes = {str(k): str(x) for k, x in result.with_ledger().attrs.items()}
        writer.add_metadata("catena", attributes)
        writer.finish()


def _stamp(t: float, fraction: str) -> dict[str, int]:
    """Return a time as whole seconds and nanoseconds, under the name that the message uses."""
    seconds, rest = divmod(round(1e9 * t), 10**9)
    return {"sec": seconds, fraction: rest}


def _joint_states(result: Result) -> Iterator[dict[str, Any]]:
    """Yield the joint states, of the coordinates whose rate is one speed."""
    m = result.mechanism
    qi, vi, names = [], [], []
    q = v = 0
    for joint in m.moving:
        for freedom in joint.freedoms:
            if freedom.nq == 1:
                names.append(m.coordinate_names[q])
                qi.append(q)
                vi.append(v)
            q += freedom.nq
            v += freedom.nv
    data = result.data
    for t, *state in zip(
        result.time, data["q"].values[:, qi], data["v"].values[:, vi], data["tau"].values[:, vi]
    ):
        position, velocity, effort = (x.tolist() for x in state)
        yield {
            "header": {"stamp": _stamp(float(t), "nanosec"), "frame_id": GROUND},
            "name": names,
            "position": position,
            "velocity": velocity,
            "effort": effort,
        }


def _transforms(result: Result) -> Iterator[dict[str, Any]]:
    """Yield the poses of all bodies in the ground."""
    found = result.poses()
    names = [str(name) for name in found["frame"].values]
    position = found["position"].values
    R = found["rotation"].values
    turn = Rotation.from_matrix(R.reshape(-1, 3, 3)).as_quat().reshape(*R.shape[:-2], 4)
    for t, places, turns in zip(result.time, position, turn):
        stamp = _stamp(float(t), "nsec")
        yield {
            "transforms": [
                {
                    "timestamp": stamp,
                    "parent_frame_id": GROUND,
                    "child_frame_id": name,
                    "translation": dict(zip("xyz", p.tolist())),
                    "rotation": dict(zip("xyzw", x.tolist())),
                }
                for name, p, x in zip(names, places, turns)
            ]
        }


def _energies(result: Result) -> Iterator[dict[str, float]]:
    """Yield the energies."""
    names = [name for name in ENERGIES if name in result.data]
    for row in np.stack([result.data[name].values for name in names], axis=-1):
        yield dict(zip(names, row.tolist()))
