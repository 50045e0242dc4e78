"""Labels: names and units of the variables of a result, and the mechanism in TOML form among its
attributes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import MechanismError
from ..model import Motion

if TYPE_CHECKING:
    import xarray as xr

    from ..model import Joint, Mechanism

TEXT = "mechanism_toml"  # the attribute that holds the mechanism


@dataclass(frozen=True)
class Labels:
    """The names along dimensions, the units and the attributes that all results of one mechanism
    have in common.
    """

    names: xr.Coordinates
    units: dict[str, str]
    attributes: dict[str, str]


def labels(mechanism: Mechanism, by: str, **more: Iterable[str]) -> Labels:
    """Return the labels of a mechanism's results: names of coordinates and speeds, `more` names by
    dimension, units, and the mechanism's text. by: the formulation.
    """
    import xarray as xr

    q, v = units(mechanism.moving)
    beside = {
        "coordinate_unit": ("coordinate", q),
        "speed_unit": ("speed", [f"{u}/s" for u in v]),
        "acceleration_unit": ("speed", [f"{u}/s2" for u in v]),
        "force_unit": ("speed", ["N" if u == "m" else "N m" for u in v]),
    }
    names = {
        "coordinate": list(mechanism.coordinate_names),
        "speed": list(mechanism.speed_names),
    } | {name: list(x) for name, x in more.items()}
    known = dict.fromkeys(("kinetic", "potential", "strain", "work", "energy_error"), "J")
    known |= {
        name: ", ".join(dict.fromkeys(beside[unit][1]))
        for name, unit in zip(("q", "v", "a", "tau"), beside)
    }
    text = write_text(mechanism)
    attributes = {"mechanism": mechanism.name, "formulation": by, **({TEXT: text} if text else {})}
    return Labels(xr.Coordinates({**names, **beside}), known, attributes)


def labelled(
    variables: dict[str, tuple[Any, ...]], along: dict[str, Any], labels: Labels
) -> xr.Dataset:
    """Return the dataset of variables {name: (dims, values)}. along: labels of its rows, such as
    time, in addition to the labels in common.
    """
    import xarray as xr

    own = xr.Coordinates(along)
    names = labels.names
    both = xr.Coordinates({**names.variables, **own.variables}, {**names.xindexes, **own.xindexes})
    units = labels.units
    return xr.Dataset(
        {k: (*x, {"units": units[k]}) if k in units else x for k, x in variables.items()},
        both,
        labels.attributes,
    )


def units(joints: Iterable[Joint]) -> tuple[list[str], list[str]]:
    """Return the units of coordinates (rad, m, or 1 for a quaternion's component), and those of
    speeds without "/s" (rad or m).
    """
    freedoms = [f for j in joints for f in j.freedoms]
    names = {Motion.SLIDE: "m", Motion.BALL: "1"}
    q = [names.get(f.motion, "rad") for f in freedoms for _ in f.labels]
    return q, ["m" if f.motion == Motion.SLIDE else "rad" for f in freedoms for _ in f.speeds]


def write_text(mechanism: Mechanism) -> str:
    """Return the mechanism as TOML; "" where TOML cannot express it."""
    from ..formats import toml

    try:
        return toml.text(mechanism)
    except MechanismError:
        return ""


def read_text(text: str) -> Mechanism:
    """Return the mechanism of a TOML text, with its flexible bodies discretised."""
    from ..formats.toml import draft, parsed
    from ..model.flexible import discretise

    path = Path("mechanism.toml")  # for messages
    found = draft(path, parsed(path, str(text).encode("utf-8", "surrogatepass")))
    found.check_dimensions = False  # it ran, so that it is given back whatever its numbers mean
    return discretise(found.finish())
