"""The variables of a sensitivity: their names, and the change of start, parameters and joint
forces per unit of each.
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
# names that stand for all coordinates (along the speeds), all speeds, all constant joint forces
GROUP_NAMES = {"q0": "q", "v0": "v", "tau": "tau"}


@dataclass(frozen=True)
class Directions:
    """The changes per unit of n variables.

    names: (n,). x: (size, n), of the state at the start. p: (parameters, n). u: (pieces, nv, n), of
    the joint forces.
    """

    names: tuple[str, ...]
    x: Array
    p: Array
    u: Array


@dataclass(frozen=True)
class Variations:
    """The variables of a sensitivity.

    varied: the mechanism and controller in which varied numbers are parameters. columns: (name,
    kind, place) of each variable; kind "p", "q", "v" or "tau" with an index, or "piece" with
    (piece, speed).
    """

    varied: Varied
    columns: tuple[tuple[str, str, Any], ...]

    @property
    def places(self) -> list[int]:
        """The indices of the parameters that vary."""
        return [place for _, kind, place in self.columns if kind == "p"]


def find_variations(
    mechanism: Mechanism, control: Any, names: Iterable[str], pieces: int
) -> Variations:
    """Return the variables that the names stand for.

    "q0", "v0" and "tau" stand for all coordinates, speeds and constant joint forces; "forces" for
    every one of `pieces` pieces of given forces. Raises StudyError for unknown names.
    """
    names = [names] if isinstance(names, str) or not isinstance(names, Iterable) else list(names)
    if strange := [name for name in names if not isinstance(name, str)]:
        raise StudyError(
            f"sensitivities: with_respect_to has {strange[0]!r}, a {type(strange[0]).__name__}; it"
            " has names of parameters, 'q0', 'v0', 'tau', 'forces', or one such as 'q.elbow'"
        )
    columns = list[tuple[str, str, Any]]()
    if not names:
        raise StudyError(
            "sensitivities: with_respect_to is empty; name parameters, 'q0', 'v0', 'tau', 'forces',"
            " or one such as 'q.elbow'"
        )
    speeds = mechanism.speed_names
    single = [name for name in names if name not in GROUP_NAMES and name != "forces"]
    varied = vary(mechanism, control, single)
    places = {x.name: (x.goes, x.place) for x in varied.variables}
    for name in names:
        if name in GROUP_NAMES and name not in mechanism.parameters:
            columns += [
                (f"{GROUP_NAMES[name]}.{s}", GROUP_NAMES[name], k) for k, s in enumerate(speeds)
            ]
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
    return Variations(varied, tuple(columns))


def _speed(m: Mechanism, place: int) -> int:
    """Return the index of the speed of a coordinate that does not belong to a quaternion."""
    return next(int(c.vi) for c in layout(m).coordinates if c.qi == place)
