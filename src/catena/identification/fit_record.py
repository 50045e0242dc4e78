"""What a fit found: estimates with their confidence, and what the data cannot tell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import StudyError
from ..model import Mechanism
from ..results import Result
from .consistency import Inertias

Array = NDArray[np.float64]
VAGUE = 0.5  # a standard deviation beyond this part of the value says that the data do not tell it


@dataclass(frozen=True)
class FittedValue:
    """One number that was found: its name (a parameter, or a combination of some), value, standard
    deviation, unit, and the value before.
    """

    name: str
    value: float
    sigma: float
    unit: str
    before: float

    @property
    def told(self) -> bool:
        """Whether the data tell it: the deviation is at most half of the value, the one found or
        the one before.
        """
        return self.sigma <= VAGUE * max(abs(self.value), abs(self.before))


@dataclass(frozen=True)
class Fit:
    """What a fit found.

    estimates: in order. covariance (n, n) of their values. without_effect: unknowns on which no
    force of the mechanism depends. not_excited: unknowns, or combinations, that other motions would
    tell and these data do not. residual: root mean square of what is left of each joint's force, in
    its unit; share: of the force itself. condition: of W with columns of length one. notes: what
    was done to the log. mechanism: with what was found put in. inertias: of all bodies, physically
    consistent, where that was asked. Of a fit to a trajectory residual and share are of the
    measured columns (`measured`), and result is the run of what was found.
    """

    estimates: tuple[FittedValue, ...]
    covariance: Array
    without_effect: tuple[str, ...]
    not_excited: tuple[str, ...]
    residual: Array
    share: float
    condition: float
    rows: int
    notes: tuple[str, ...]
    mechanism: Mechanism
    inertias: Inertias | None = None
    measured: tuple[str, ...] = ()
    result: Result | None = None

    def __getitem__(self, name: str) -> FittedValue:
        found = {e.name: e for e in self.estimates}
        if name not in found:
            raise StudyError(f"the fit has no estimate {name!r}; it has {', '.join(found)}")
        return found[name]

    @property
    def not_told(self) -> tuple[str, ...]:
        """What the data cannot tell, by name: what was not excited, and estimates as uncertain as
        they are large.
        """
        return (*self.not_excited, *(e.name for e in self.estimates if not e.told))

    def to_pandas(self) -> Any:
        """One row for each estimate: value, standard deviation, 95 % interval, unit, value
        before.
        """
        import pandas as pd  # type: ignore[import-untyped]

        rows = [
            (
                e.name,
                e.value,
                e.sigma,
                e.value - self.width * e.sigma,
                e.value + self.width * e.sigma,
                e.unit,
                e.before,
            )
            for e in self.estimates
        ]
        return pd.DataFrame(
            rows, columns=["name", "value", "sigma", "lower", "upper", "unit", "before"]
        ).set_index("name")

    @property
    def width(self) -> float:
        """Standard deviations to either side of a 95 % interval, each estimate for itself."""
        return self._quantile(0.95)

    @property
    def width_together(self) -> float:
        """The same for intervals that hold all at once in at least 95 % of cases, whatever the
        correlations ([Sidak1967]).
        """
        return self._quantile(0.95 ** (1 / len(self.estimates)))

    def _quantile(self, level: float) -> float:
        from scipy.stats import t

        return float(t.ppf(0.5 + 0.5 * level, max(1, self.rows - len(self.estimates))))
