"""Sensors: what is measured on a mechanism, and how wrong it is. Frozen records.

    [[sensor]]
    name = "gyro"
    kind = "gyroscope"
    at = "head"                          # a frame or a body; a joint or coordinate of an encoder
    noise = "0.01 rad/s"

A reading follows from the true value x at the time t - delay:

    y = round_to(resolution, clip(range, x + offset + bias + noise n)),   bias += walk sqrt(T) m

with independent normal numbers n, m of deviation one at each sample, T seconds apart.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import MechanismError
from ..registry import Registry


@dataclass(frozen=True)
class SensorKind:
    """What is particular to a kind of sensor.

    Parameters
    ----------
    name : str
        The word in files.
    doc : str
        What it measures, in a few words.
    place : str
        What `at` names: "coordinate", or "frame".
    channels : tuple of str
        The names of its numbers; ("",) for a single one.
    units : tuple of str
        The SI unit of its numbers; two for what turns and for what slides; "" for none.
    trace : callable or str
        (tracer, sensor) -> its true values as expressions, or "module:name" of that function; ""
        where they are no function of the state.
    """

    name: str
    doc: str
    place: str
    channels: tuple[str, ...]
    units: tuple[str, ...]
    trace: Callable[..., Any] | str


def _traced(name: str) -> str:
    return f"catena.sensors.true_values:{name}"


_XYZ = ("x", "y", "z")
_QUATERNION = ("qw", "qx", "qy", "qz")
SENSOR_KINDS: Registry[SensorKind] = Registry(
    "kind of sensor",
    (
        SensorKind(
            "joint_encoder",
            "a coordinate",
            "coordinate",
            ("",),
            ("rad", "m"),
            _traced("coordinate"),
        ),
        SensorKind(
            "tachometer",
            "the speed of a coordinate",
            "coordinate",
            ("",),
            ("rad/s", "m/s"),
            _traced("speed"),
        ),
        SensorKind(
            "motor_current",
            "the current of a motor: joint force over `constant`",
            "coordinate",
            ("",),
            ("A",),
            _traced("current"),
        ),
        SensorKind(
            "accelerometer",
            "the specific force at a frame, acceleration minus gravity, in its axes",
            "frame",
            _XYZ,
            ("m/s^2",),
            _traced("specific_force"),
        ),
        SensorKind(
            "gyroscope",
            "the angular velocity of a frame, in its axes",
            "frame",
            _XYZ,
            ("rad/s",),
            _traced("angular_velocity"),
        ),
        SensorKind(
            "velocimeter",
            "the velocity of the origin of a frame, in its axes",
            "frame",
            _XYZ,
            ("m/s",),
            _traced("velocity"),
        ),
        SensorKind(
            "attitude",
            "the orientation of a frame in the ground, a unit quaternion, scalar first",
            "frame",
            _QUATERNION,
            ("",),
            _traced("attitude"),
        ),
        SensorKind(
            "pose",
            "position and orientation of a frame in the ground, as a camera finds them",
            "frame",
            (*_XYZ, *_QUATERNION),
            ("m",),
            _traced("pose"),
        ),
        SensorKind(
            "force_torque",
            "force and torque on the body of a frame by what carries it, in the axes of the frame"
            " and about its origin",
            "frame",
            ("fx", "fy", "fz", "tx", "ty", "tz"),
            (
                "N",
                "N*m",
            ),
            _traced("force_torque"),
        ),
        SensorKind(
            "force",
            "the force of `force_torque`",
            "frame",
            _XYZ,
            ("N",),
            _traced("force"),
        ),
        SensorKind(
            "torque",
            "the torque of `force_torque`",
            "frame",
            _XYZ,
            ("N*m",),
            _traced("torque"),
        ),
        SensorKind(
            "position",
            "the origin of a frame in the ground",
            "frame",
            _XYZ,
            ("m",),
            _traced("position"),
        ),
        SensorKind(
            "ray",
            "the distance from the origin of a frame along its z to the nearest shape of another"
            " body; infinite where there is none",
            "frame",
            ("",),
            ("m",),
            _traced("ray_distance"),
        ),
        SensorKind(
            "contact",
            "the size of the force of a contact, by its name; of runs with contacts",
            "contact",
            ("",),
            ("N",),
            "",
        ),
    ),
)


@dataclass(frozen=True)
class Sensor:
    """A sensor of a mechanism.

    Parameters
    ----------
    name : str
        The name of the sensor.
    kind : str
        A kind of `SENSOR_KINDS`.
    at : str
        Where it is: a coordinate or joint, a frame or body, or a contact, as the kind says.
    noise : float, default 0.0
        The standard deviation of each reading, in the unit of the kind.
    walk : float, default 0.0
        The standard deviation by which the bias has changed after one second, unit per sqrt(s).
    offset : float, default 0.0
        What is added to every reading.
    resolution : float, default 0.0
        The step of the readings; zero for none.
    range : (float, float) or None
        The lowest and the highest reading.
    sample : float or None
        The time between two readings, s; None for one at each row of a result or step of an
        environment.
    delay : float, default 0.0
        How old a reading is, s.
    constant : float, default 1.0
        Of `motor_current`: joint force per current, N m/A or N/A.

    Raises
    ------
    MechanismError
        Where a value is not as described.

    Examples
    --------
    >>> Sensor("elbow encoder", "joint_encoder", "elbow", resolution=0.001).resolution
    0.001
    """

    name: str
    kind: str
    at: str
    noise: float = 0.0
    walk: float = 0.0
    offset: float = 0.0
    resolution: float = 0.0
    range: tuple[float, float] | None = None
    sample: float | None = None
    delay: float = 0.0
    constant: float = 1.0

    def __post_init__(self) -> None:
        kind = SENSOR_KINDS.find(self.kind)
        where = f"sensor {self.name!r}"
        for key in ("noise", "walk", "resolution", "delay"):
            if not _number(getattr(self, key)) or getattr(self, key) < 0:
                raise MechanismError(
                    f"{where}: {key} is {getattr(self, key)!r}; it is a number, zero or more"
                )
        if not _number(self.offset) or not _number(self.constant) or self.constant == 0:
            raise MechanismError(f"{where}: offset and constant are numbers, constant not zero")
        if self.sample is not None and not (_number(self.sample) and self.sample > 0):
            raise MechanismError(f"{where}: sample is {self.sample!r}; it is a time above zero, s")
        if self.range is not None:
            low, high = self.range
            if not low < high:
                raise MechanismError(f"{where}: range is {self.range}; the lower value is first")
            object.__setattr__(self, "range", (float(low), float(high)))
        if not self.at:
            raise MechanismError(f"{where}: at is missing; it names a {kind.place}")

    @property
    def channels(self) -> tuple[str, ...]:
        """The names of its readings: its own, or with a channel behind a point."""
        channels = SENSOR_KINDS[self.kind].channels
        return tuple(f"{self.name}.{c}" if c else self.name for c in channels)

    @property
    def exact(self) -> bool:
        """Whether readings are the true values of their instant."""
        plain = (self.noise, self.walk, self.offset, self.resolution, self.delay)
        return not any(plain) and self.range is None


def _number(x: Any) -> bool:
    return isinstance(x, int | float | np.number) and bool(np.isfinite(x))
