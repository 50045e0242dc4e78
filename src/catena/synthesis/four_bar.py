"""FourBar: a planar four-bar linkage with a coupler point, the unknown of dimensional synthesis.

                 o P = A + p e^(i phi), p in the coupler's axes
              .     .
        A  o----- b -----o  B           A = A0 + a e^(i theta)
          / a             \\ c
      A0 o- - - - - - - - -o B0

Points are complex numbers: x + i y.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..linkages import Circuits, Linkage, circuits, linkage
from ..model import Body, Frame, Joint, Mechanism, Pose, Shape

PARAMETERS = ("x0", "y0", "x1", "y1", "crank", "coupler", "rocker", "px", "py")
# the difference of link lengths, relative to their sum, below which a linkage is a change point
CHANGE_POINT_LENGTH = 1e-9


@dataclass(frozen=True)
class FourBar:
    """A four-bar linkage in the plane z = 0.

    Parameters
    ----------
    pivot, second_pivot : complex
        A0 and B0, the pivots of crank and rocker on the ground, m.
    crank, coupler, rocker : float
        The distances A0-A, A-B and B0-B, m.
    point : complex, default 0
        The coupler point relative to A, along A-B and perpendicular to it, m.
    sign : int, default 1
        The assembly mode: +1 where B lies to the left of the line from A to B0.

    Examples
    --------
    >>> four_bar = FourBar(0, 4, 1, 3.5, 3, 1 + 1j)
    >>> four_bar.kind
    'crank-rocker'
    >>> four_bar.coupler_points(0.5).round(6)
    np.complex128(0.889294+1.893591j)
    """

    pivot: complex
    second_pivot: complex
    crank: float
    coupler: float
    rocker: float
    point: complex = 0.0
    sign: int = 1

    @property
    def ground(self) -> float:
        """The distance of the two pivots, m."""
        return abs(self.second_pivot - self.pivot)

    @property
    def lengths(self) -> tuple[float, float, float, float]:
        """The lengths of ground, crank, coupler and rocker, m."""
        return (self.ground, self.crank, self.coupler, self.rocker)

    @property
    def size(self) -> float:
        """The longest of the links and of the sides of the coupler's triangle, m."""
        return max(*self.lengths, abs(self.point), abs(self.coupler - self.point))

    @property
    def kind(self) -> str:
        """The type after Grashof: which links turn fully."""
        return grashof_type(*self.lengths)

    @property
    def parameters(self) -> dict[str, float]:
        """The values of the parameters of `template`."""
        return dict(zip(PARAMETERS, self.vector.tolist()))

    @property
    def vector(self) -> NDArray[np.float64]:
        """(9,) the dimensions, in the order of PARAMETERS."""
        points = (self.pivot, self.second_pivot)
        ends = [x for p in points for x in (p.real, p.imag)]
        return np.array(
            [*ends, self.crank, self.coupler, self.rocker, self.point.real, self.point.imag], float
        )

    @staticmethod
    def of_vector(x: Any, sign: int) -> FourBar:
        """Return the four-bar of nine dimensions; see `vector`."""
        x = [float(v) for v in x]
        return FourBar(
            complex(x[0], x[1]),
            complex(x[2], x[3]),
            x[4],
            x[5],
            x[6],
            complex(x[7], x[8]),
            int(sign),
        )

    @property
    def linkage(self) -> Linkage:
        """The closed form of the linkage, driven by the crank, with the frame "coupler point"."""
        return template().with_parameters(**self.parameters)

    @cached_property
    def circuits(self) -> Circuits:
        """The branches and circuits of the linkage."""
        return circuits(self.linkage)

    def coupler_points(self, angle: Any) -> Any:
        """Return the coupler point (complex, m) at crank angles (rad); NaN where it cannot be
        assembled.
        """
        found = self.linkage.positions(angle, modes=[self.sign], coordinates=False).points
        return (found[..., 0, :2] @ np.array([1.0, 1j]))[()]

    def rocker_angles(self, angle: Any) -> Any:
        """Return the angles of the rocker B0-B (rad) at crank angles (rad)."""
        found = self.linkage.positions(angle, modes=[self.sign])
        assert found.q is not None
        return found.q[..., template().mechanism.coordinate_names.index("rocker pin")]

    def with_sign(self, sign: int) -> FourBar:
        """Return the same links in the assembly mode with this sign, 1 or -1."""
        return FourBar.of_vector(self.vector, sign)

    def mechanism(self, density: float, name: str = "four-bar") -> Mechanism:
        """Return the linkage as a mechanism of thin bars.

        Parameters
        ----------
        density : float
            Mass per length of the bars, kg/m.
        name : str, default "four-bar"
            The name of the mechanism.

        Returns
        -------
        Mechanism
            With the joints "crank pin", "coupler pin", "rocker pin", the loop "far pin" and the
            frame "coupler point". Gravity is along -y.
        """
        m = template_mechanism(density)
        return m.with_(name=name, parameters={**m.parameters, **self.parameters})


def grashof_type(ground: float, crank: float, coupler: float, rocker: float) -> str:
    """Return the type of a four-bar after Grashof.

    Parameters
    ----------
    ground, crank, coupler, rocker : float
        Lengths, m.

    Returns
    -------
    str
        "crank-rocker", "double-crank", "double-rocker" or "rocker-crank" where the shortest link
        turns fully relative to the others, "triple-rocker" where none does, and "change point"
        where shortest plus longest equal the sum of the others.

    Examples
    --------
    >>> grashof_type(4, 1, 3.5, 3), grashof_type(1, 3, 3.5, 3), grashof_type(5, 2, 2, 2)
    ('crank-rocker', 'double-crank', 'triple-rocker')
    """
    lengths = {
        "double-crank": ground,
        "crank-rocker": crank,
        "double-rocker": coupler,
        "rocker-crank": rocker,
    }
    short, long = min(lengths.values()), max(lengths.values())
    total = sum(lengths.values())
    excess = total - 2 * (short + long)
    if abs(excess) < CHANGE_POINT_LENGTH * total:
        return "change point"
    return min(lengths, key=lambda k: lengths[k]) if excess > 0 else "triple-rocker"


def template_mechanism(density: float) -> Mechanism:
    """Return the four-bar whose dimensions are the parameters PARAMETERS."""
    import sympy

    s: Mapping[str, Any] = {name: sympy.Symbol(name) for name in PARAMETERS}

    def bar(name: str, length: Any, *ends: Any) -> Body:
        J = density * length**3 / 12
        lines = tuple(Shape("line", (x, y, 0.0)) for x, y in ((length, 0.0), *ends))
        return Body(name, density * length, (length / 2, 0, 0), (0, J, J), shapes=lines)

    return Mechanism(
        "four-bar",
        (
            bar("crank", s["crank"]),
            bar("coupler", s["coupler"], (s["px"], s["py"])),
            bar("rocker", s["rocker"]),
        ),
        (
            Joint("crank pin", "revolute", "ground", "crank", (s["x0"], s["y0"], 0)),
            Joint("coupler pin", "revolute", "crank", "coupler", (s["crank"], 0, 0)),
            Joint("rocker pin", "revolute", "ground", "rocker", (s["x1"], s["y1"], 0)),
        ),
        loops=(
            Joint(
                "far pin",
                "revolute",
                "coupler",
                "rocker",
                (s["coupler"], 0, 0),
                offset=(s["rocker"], 0, 0),
            ),
        ),
        frames=(Frame("coupler point", "coupler", Pose(position=(s["px"], s["py"], 0))),),
        gravity=(0.0, -9.81, 0.0),
        planar=True,
        parameters=dict(zip(PARAMETERS, (0, 0, 4, 0, 1, 3.5, 3, 1, 1))),
        units=dict.fromkeys(PARAMETERS, "m"),
    )


@cache
def template() -> Linkage:
    """Return the closed form of all four-bars: their dimensions are its parameters."""
    return linkage(template_mechanism(1.0), "crank pin", frames=["coupler point"])
