"""The outcome of a fit: estimates with their confidence, and what the data do not determine."""

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
# relative to the value: with a larger standard deviation the data do not determine it
MAX_RELATIVE_SIGMA = 0.5


@dataclass(frozen=True)
class FittedValue:
    """One estimate.

    Attributes
    ----------
    name : str
        A parameter, or a combination of some.
    value : float
        The estimate.
    sigma : float
        Its standard deviation.
    unit : str
        Its unit.
    before : float
        The value before the fit.
    """

    name: str
    value: float
    sigma: float
    unit: str
    before: float

    @property
    def determined(self) -> bool:
        """Whether the data determine the parameter: whether the standard deviation is at most half
        of its value, by the estimate or by the value before.
        """
        return self.sigma <= MAX_RELATIVE_SIGMA * max(abs(self.value), abs(self.before))


@dataclass(frozen=True)
class Fit:
    """The outcome of a fit.

    Attributes
    ----------
    estimates : tuple of FittedValue
        In order; `fit["mass of fore"]` returns one by its name.
    covariance : array, shape (n, n)
        The covariance of their values.
    without_effect : tuple of str
        Unknowns on which no force of the mechanism depends.
    not_excited : tuple of str
        Unknowns, or combinations, that other motions would determine and these data do not.
    residual : array
        The root mean square of the residual of each joint's force, in its unit; of a fit to a
        trajectory, of each measured column.
    share : float
        The norm of the residual relative to that of the force, or of the measured columns.
    condition : float
        The condition number of W with columns of length one.
    rows : int
        The number of equations.
    notes : tuple of str
        What was done to the log.
    mechanism : Mechanism
        The mechanism with the estimates.
    inertias : Inertias or None
        The physically consistent inertias of all bodies, where they were asked for.
    measured : tuple of str
        The measured columns of a fit to a trajectory.
    result : Result or None
        The run with the estimates, of a fit to a trajectory.
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
        """Return the estimate of a name; raise StudyError where there is none."""
        found = {e.name: e for e in self.estimates}
        if name not in found:
            raise StudyError(f"the fit has no estimate {name!r}; it has {', '.join(found)}")
        return found[name]

    @property
    def not_determined(self) -> tuple[str, ...]:
        """The names of the parameters that the data do not determine: not excited, or with a
        standard deviation that is large relative to the value.
        """
        return (*self.not_excited, *(e.name for e in self.estimates if not e.determined))

    def to_pandas(self) -> Any:
        """Return a table with one row per estimate: value, sigma, 95 % interval, unit, value
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
        """Half of the 95 % interval of a single estimate, in standard deviations."""
        return self._quantile(0.95)

    @property
    def width_together(self) -> float:
        """Half of intervals that hold for all estimates at once with at least 95 % probability, in
        standard deviations, whatever the correlations ([Sidak1967]).
        """
        return self._quantile(0.95 ** (1 / len(self.estimates)))

    def _quantile(self, level: float) -> float:
        """Return the two-sided quantile of Student's t distribution at a confidence level."""
        from scipy.stats import t

        return float(t.ppf(0.5 + 0.5 * level, max(1, self.rows - len(self.estimates))))
