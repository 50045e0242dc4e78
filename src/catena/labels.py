"""Labels: units beside the names of a result, and the mechanism itself as a text among its attributes."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import xarray as xr

from .errors import MechanismError
from .joints import Motion

if TYPE_CHECKING:
    from .mechanism import Joint, Mechanism

TEXT = "mechanism_toml"  # the attribute that holds the mechanism


def labelled(data: xr.Dataset, mechanism: Mechanism) -> xr.Dataset:
    """The dataset with units beside its names, and the mechanism's text among its attributes."""
    q, v = units(mechanism.moving)
    beside = {"coordinate_unit": ("coordinate", q), "speed_unit": ("speed", [f"{u}/s" for u in v]),
              "acceleration_unit": ("speed", [f"{u}/s2" for u in v]),
              "force_unit": ("speed", ["N" if u == "m" else "N m" for u in v])}  # fmt: skip
    data = data.assign_coords(beside)
    for name in ("kinetic", "potential", "work", "energy_error"):
        data[name].attrs["units"] = "J"
    data["time"].attrs["units"] = "s"
    for name, unit in zip(("q", "v", "a", "tau"), beside):
        known = list(dict.fromkeys(beside[unit][1]))
        data[name].attrs["units"] = ", ".join(known)
    text = write_text(mechanism)
    return data.assign_attrs({TEXT: text} if text else {})


def units(joints: Iterable[Joint]) -> tuple[list[str], list[str]]:
    """rad, m or 1 (a quaternion's part) for each coordinate; rad or m for each speed, a second left out."""
    freedoms = [f for j in joints for f in j.freedoms]
    names = {Motion.SLIDE: "m", Motion.BALL: "1"}
    q = [names.get(f.motion, "rad") for f in freedoms for _ in f.labels]
    return q, ["m" if f.motion == Motion.SLIDE else "rad" for f in freedoms for _ in f.speeds]


def write_text(mechanism: Mechanism) -> str:
    """The mechanism as TOML, or nothing where a file has no words for what it holds."""
    from .formats import toml

    try:
        return toml.text(mechanism)
    except MechanismError:
        return ""


def read_text(text: str) -> Mechanism:
    """The mechanism of a TOML text."""
    from .formats import load

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "mechanism.toml"
        path.write_text(text, encoding="utf-8")
        return load(path)
