"""Whether the places of sensors exist."""

from __future__ import annotations

from collections.abc import Iterator

from ..errors import unknown
from .mechanism import Mechanism
from .sensors import SENSOR_KINDS


def places(m: Mechanism, place: str) -> list[str]:
    """Return the names that sensors with this kind of place can be at."""
    if place == "contact":
        return [c.name for c in m.contacts]
    if place == "frame":
        return [*(b.name for b in m.bodies), *(f.name for f in m.frames)]
    found = []
    for j in m.joints:
        if len(j.coordinate_names) == len(j.speed_names):
            found += [*j.coordinate_names]
            if len(j.coordinate_names) == 1 and j.name not in found:
                found.append(j.name)
    return found


def sensor_faults(m: Mechanism) -> Iterator[str]:
    """Yield a sentence for each sensor that is nowhere, or has the name of another one."""
    seen: set[str] = set()
    for sensor in m.sensors:
        place = SENSOR_KINDS[sensor.kind].place
        if sensor.at not in (known := places(m, place)):
            yield f"sensor {sensor.name!r}: {unknown(place, sensor.at, known)}"
        if sensor.name in seen:
            yield f"two sensors have the name {sensor.name!r}"
        seen.add(sensor.name)
