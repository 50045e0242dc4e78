"""What a sensitivity is with respect to: names, and the change of start, parameters and joint
forces that one unit of each makes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import StudyError
from ..kernels import layout
from ..model import Mechanism
from ..studies import Varied, vary

Array = NDArray[np.float64]
# every coordinate along the speeds, every speed, every constant joint force
WHOLE = {"q0": "q", "v0": "v", "tau": "tau"}


@dataclass(frozen=True)
class Directions:
    """names (n,); x (size, n): of the start; p (parameters, n); u (pieces, nv, n)."""

    names: tuple[str, ...]
    x: Array
    p: Array
    u: Array


@dataclass(frozen=True)
class Wanted:
    """A mechanism and a controller with what varies made parameters, and (name, kind, place) of
    each: p, q, v, tau, or (piece, speed).
    """

    varied: Varied
    columns: tuple[tuple[str, str, Any], ...]

    @property
    def places(self) -> list[int]:
        """The parameters that vary."""
        return [place for _, kind, place in self.columns if kind == "p"]


def wanted(mechanism: Mechanism, control: Any, names: Iterable[str], pieces: int) -> Wanted:
    """What the names mean. q0, v0 and tau stand for all of them; forces for every piece of given
    forces.
    """
    names = [names] if isinstance(names, str) else list(names)
    columns = list[tuple[str, str, Any]]()
    if not names:
        raise StudyError(
            "sensitivities: with_respect_to is empty; name parameters, 'q0', 'v0', 'tau', 'forces',"
            " or one such as 'q.elbow'"
        )
    speeds = mechanism.speed_names
    single = [name for name in names if name not in WHOLE and name != "forces"]
    varied = vary(mechanism, control, single)
    places = {x.name: (x.goes, x.place) for x in varied.variables}
    for name in names:
        if name in WHOLE and name not in mechanism.parameters:
            columns += [(f"{WHOLE[name]}.{s}", WHOLE[name], k) for k, s in enumerate(speeds)]
        elif name == "forces":
            if not pieces:
                raise StudyError(
                    "sensitivities with respect to 'forces' were asked, and no forces are given:"
                    " forces=(pieces, speeds), or 'tau' for constant ones"
                )
            columns += [
                (f"tau.{s}[{k}]", "piece", (k, j))
                for k in range(pieces)
                for j, s in enumerate(speeds)
            ]
        else:
            kind, place = places[name]
            columns.append((name, kind, _speed(mechanism, place) if kind == "q" else place))
    return Wanted(varied, tuple(columns))


def _speed(m: Mechanism, place: int) -> int:
    """The speed of a coordinate that is not a quaternion's."""
    return next(int(c.vi) for c in layout(m).coordinates if c.qi == place)
