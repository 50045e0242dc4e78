"""Constraints as MuJoCo has them, for the writer: linear sums of coordinates (couplings, gear
pairs, belts, racks, screws), each a fixed tendon and its equality.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple
from xml.etree.ElementTree import Element, SubElement

from ...errors import MechanismError
from ...model import Mechanism, Motion, Scalar, Vector, travel
from ...model.loads import Holonomic
from .numbers import number


class Combination(NamedTuple):
    """A linear constraint: sum of ratio q = value."""

    ratios: dict[str, float]
    value: float


class _Numbers:
    """The interface `Places` with numbers for the coordinates of a mechanism; a quantity that is
    not a sum of coordinates raises an error.
    """

    def __init__(self, m: Mechanism, q: Mapping[str, float]):
        self.m, self.q = m, q

    def value(self, x: Scalar) -> Scalar:
        return float(x)

    def text(self, where: str, x: str | float) -> Scalar:
        if isinstance(x, str):
            raise MechanismError("MJCF has no constraint by a text")
        return float(x)

    def profile(self, where: str, x: str, angle: Scalar) -> Scalar:
        raise MechanismError("MJCF has no cam")

    def coordinate(self, name: str) -> Scalar:
        return self.q.get(name, 0.0)

    def travel(self, body: str, carrier: str, sort: str) -> tuple[Scalar, Vector]:
        found = travel(self.m, body, carrier, sort)
        return (
            sum((sign * self.q.get(j.coordinate_names[0], 0.0) for sign, j in found.terms), 0.0),
            found.axis,
        )


LINEAR = ("coupling", "gear_pair", "belt", "rack_and_pinion", "screw")


def unsayable(m: Mechanism, x: Holonomic) -> str:
    """Return the reason why MJCF cannot express a constraint; "" where it can."""
    if x.kind not in LINEAR:
        return "MJCF has no constraint of that kind"
    simple = {
        name
        for j in m.joints
        if j.nq == j.nv and not j.mimic
        for name, f in zip(j.coordinate_names, j.freedoms)
        if f.motion in (Motion.TURN, Motion.SLIDE)
    }
    odd = [name for name in combination(m, x).ratios if name not in simple]
    return (
        f"MJCF's tendons go over hinges and slides of their own; not so {', '.join(odd)}"
        if odd
        else ""
    )


def combination(m: Mechanism, x: Holonomic) -> Combination:
    """Return a linear constraint as a sum of coordinates."""
    (zero,) = x.residual(_Numbers(m, {}))
    found = {
        name: float(x.residual(_Numbers(m, {name: 1.0}))[0] - zero) for name in m.coordinate_names
    }
    return Combination({name: r for name, r in found.items() if r}, -float(zero))


def equalities(root: Element, m: Mechanism) -> None:
    """Write the fixed tendons and their equalities into a document that already contains the other
    elements.
    """
    if not m.constraints:
        return
    tendons, equal = (
        e if (e := root.find(tag)) is not None else SubElement(root, tag)
        for tag in ("tendon", "equality")
    )
    for x in m.constraints:
        ratios, value = combination(m, x)
        fixed = SubElement(tendons, "fixed", name=f"{x.name} sum")
        for name, ratio in ratios.items():
            SubElement(fixed, "joint", joint=name, coef=number(ratio))
        SubElement(
            equal,
            "tendon",
            name=x.name,
            tendon1=f"{x.name} sum",
            polycoef=f"{number(value)} 0 0 0 0",
        )
