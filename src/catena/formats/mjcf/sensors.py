"""Sensors of MJCF: which kinds have a counterpart, and where they are."""

from __future__ import annotations

from typing import Any

from ...model import Sensor
from ..mapping import MappingReport
from .names import Names

# mjtSensor -> the kind here, by the names of MuJoCo
KINDS = {
    "JOINTPOS": "joint_encoder",
    "JOINTVEL": "tachometer",
    "ACCELEROMETER": "accelerometer",
    "GYRO": "gyroscope",
    "VELOCIMETER": "velocimeter",
    "FORCE": "force",
    "TORQUE": "torque",
    "RANGEFINDER": "ray",
    "FRAMEPOS": "position",
    "FRAMEQUAT": "attitude",
}
POSITIVE = 1  # mjtDataType: a reading that is cut off at zero below


def sensors(m: Any, names: Names, mapping: MappingReport) -> tuple[Sensor, ...]:
    """Return the sensors of a compiled model, and record those without a counterpart."""
    import mujoco

    found: list[Sensor] = []
    for k in range(m.nsensor):
        word = mujoco.mjtSensor(m.sensor_type[k]).name.removeprefix("mjSENS_")
        own = mujoco.mj_id2name(m, mujoco.mjtObj.mjOBJ_SENSOR, k) or f"sensor{k}"
        at = _place(m, k, names)
        kind = KINDS.get(word)
        if kind is None or at is None or m.sensor_refid[k] >= 0:
            why = (
                "it is relative to another frame"
                if kind and at
                else "it is no encoder, tachometer, accelerometer, gyroscope, velocimeter, force,"
                " torque, range finder, or position or orientation of a body or site"
            )
            mapping.refuse("sensor", own, f"{word.lower()}: {why}")
            continue
        cut = float(m.sensor_cutoff[k])
        low = 0.0 if m.sensor_datatype[k] == POSITIVE else -cut
        found.append(
            Sensor(
                own,
                kind,
                at,
                noise=float(m.sensor_noise[k]),
                range=(low, cut) if cut > 0 else None,
            )
        )
        mapping.take("sensor", own)
    return tuple(found)


def _place(m: Any, k: int, names: Names) -> str | None:
    """Return the name of the joint or frame of a sensor; None for other places."""
    import mujoco

    number = int(m.sensor_objid[k])
    kind = mujoco.mjtObj(m.sensor_objtype[k])
    if kind == mujoco.mjtObj.mjOBJ_SITE:
        return names.site(number)
    if kind == mujoco.mjtObj.mjOBJ_XBODY and number > 0:
        return names.body(number)
    return names.joint(number) if kind == mujoco.mjtObj.mjOBJ_JOINT else None
