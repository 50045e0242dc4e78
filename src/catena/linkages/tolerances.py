"""Tolerances: the variation of positions of a linkage due to variations of its dimensions.

    worst case    the largest and smallest value over all corners of the box of dimensions, and the
                  linear bound, sum_k |dy/dp_k| t_k
    Monte Carlo   mean, standard deviation and quantiles over random dimensions
    contributions the share of each dimension in the variance, (dy/dp_k s_k)^2 over their sum

All are computed in lanes, and dy/dp is exact.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..compiler import compile_lanes
from ..errors import QuestionError, UnknownNameError
from .linkage import Linkage

Array = NDArray[np.float64]
MAX_CORNERS = 4096  # corners of the box that are all tried: twelve dimensions
# the standard deviation of a distribution relative to the tolerance, and its samples in (-1, 1)
DISTRIBUTIONS: dict[str, tuple[float, Callable[[Any, tuple[int, ...]], Array]]] = {
    "normal": (1 / 3, lambda rng, shape: rng.standard_normal(shape) / 3),
    "uniform": (1 / np.sqrt(3), lambda rng, shape: rng.uniform(-1.0, 1.0, shape)),
}


@dataclass(frozen=True)
class Tolerances:
    """The result of `tolerances`, at n driven values, for m measures and k dimensions.

    measures, parameters: their names. nominal (n, m). sensitivity (n, m, k): dy/dp. linear_bound
    (n, m): the worst case of the linearised linkage. lowest, highest (n, m): over all corners; NaN
    where there are too many dimensions. mean, deviation (n, m): of the random samples.
    contributions (n, m, k): shares of the variance. unassembled (n,): the fraction of samples that
    cannot be assembled, which mean and deviation leave out.
    """

    measures: tuple[str, ...]
    parameters: tuple[str, ...]
    nominal: Array
    sensitivity: Array
    linear_bound: Array
    lowest: Array
    highest: Array
    mean: Array
    deviation: Array
    contributions: Array
    unassembled: Array

    def ranked(self, measure: str) -> list[tuple[str, float]]:
        """Return the dimensions with their mean share in the variance of a measure, the largest
        first.
        """
        if measure not in self.measures:
            raise UnknownNameError("measure", measure, self.measures, "these tolerances")
        share = self.contributions[:, self.measures.index(measure)].mean(axis=0)
        order = np.argsort(-share, kind="stable")
        return [(self.parameters[k], float(share[k])) for k in order]


def tolerances(
    linkage: Linkage,
    q: ArrayLike,
    dimensions: Mapping[str, float],
    *,
    modes: ArrayLike | None = None,
    distribution: str = "normal",
    samples: int = 10_000,
    seed: int = 0,
) -> Tolerances:
    """Return how far the positions of a linkage vary with its dimensions.

    Parameters
    ----------
    linkage : Linkage
        Its measures are the coordinates of the mechanism and x, y, z of its frames.
    q : array (n,), or (n, driven)
        The driven coordinates, rad or m.
    dimensions : mapping of str to float
        The tolerance t of parameters of the mechanism: each lies within its value plus or minus t,
        SI.
    modes : array (k,), optional
        The signs of the dyads.
    distribution : str, default "normal"
        "normal", with t three standard deviations, or "uniform".
    samples : int, default 10000
        Random samples per driven value.
    seed : int, default 0
        Of the random numbers.

    Returns
    -------
    Tolerances

    Raises
    ------
    UnknownNameError
        Where a parameter does not exist.
    QuestionError
        Where a tolerance is not positive, the distribution does not exist, or the nominal linkage
        cannot be assembled.

    Examples
    --------
    >>> import catena
    >>> four_bar = catena.linkages.linkage(catena.load("four_bar"), "motor pin", frames=["marker"])
    >>> found = tolerances(four_bar, [0.5, 1.0], {"crank": 1e-4, "coupler": 2e-4})
    >>> found.nominal.shape, found.ranked("marker.x")[0][0]
    ((2, 6), 'coupler')
    """
    names = tuple(dimensions)
    values = linkage.mechanism.parameters
    for name in names:
        if name not in values:
            raise UnknownNameError("parameter", name, values, f"{linkage.mechanism.name!r}")
    t = np.array([dimensions[name] for name in names], float)
    if not (np.isfinite(t) & (t > 0)).all() or distribution not in DISTRIBUTIONS:
        raise QuestionError(
            f"tolerances: {dict(dimensions)} with distribution {distribution!r}; tolerances are"
            f" positive numbers, SI, and distributions are: {', '.join(DISTRIBUTIONS)}"
        )
    at = np.atleast_1d(np.asarray(q, float))
    nominal, J = _sensitivity(linkage, at, modes, names)
    if not np.isfinite(nominal).all():
        raise QuestionError(
            f"tolerances: {linkage.mechanism.name!r} cannot be assembled at all of the driven"
            " values; choose others, or other modes"
        )
    relative, draw = DISTRIBUTIONS[distribution]
    low, high = _corners(linkage, at, modes, names, t, nominal)
    shape = (len(at), samples, len(names))
    sampled = _values(linkage, at, modes, names, t * draw(np.random.default_rng(seed), shape))
    missing = ~np.isfinite(sampled).all(axis=-1)
    change = _nearest(linkage, sampled - nominal[:, None])
    variance = (J * t * relative) ** 2
    total = variance.sum(axis=-1, keepdims=True)
    return Tolerances(
        measure_names(linkage),
        names,
        nominal,
        J,
        (np.abs(J) * t).sum(axis=-1),
        low,
        high,
        nominal + np.nanmean(change, axis=1),
        np.nanstd(change, axis=1),
        np.divide(variance, total, out=np.zeros_like(variance), where=total > 0),
        missing.mean(axis=1),
    )


def measure_names(linkage: Linkage) -> tuple[str, ...]:
    """Return the names of the measures: coordinates, then x, y, z of each frame."""
    frames = (f"{f}.{axis}" for f in linkage.frames for axis in "xyz")
    return (*linkage.mechanism.coordinate_names, *frames)


def _nearest(linkage: Linkage, change: Array) -> Array:
    """Return changes of measures, with those of rotations between -pi and pi."""
    turns = linkage.turning_columns
    change[..., turns] = np.mod(change[..., turns] + np.pi, 2 * np.pi) - np.pi
    return change


def _values(linkage: Linkage, q: Array, modes: Any, names: tuple[str, ...], change: Array) -> Array:
    """Return the measures (n, s, m) at changed dimensions (n, s, k)."""
    base = linkage.mechanism.parameters
    given = {name: base[name] + change[..., k] for k, name in enumerate(names)}
    found = linkage.positions(q[:, None], modes=modes, parameters=given)
    assert found.q is not None
    return np.concatenate([found.q, found.points.reshape(*found.q.shape[:-1], -1)], axis=-1)


def _corners(
    linkage: Linkage, q: Array, modes: Any, names: tuple[str, ...], t: Array, nominal: Array
) -> tuple[Array, Array]:
    """Return the smallest and largest measures (n, m) over all corners of the box that the
    tolerances of the dimensions span.
    """
    if 2 ** len(names) > MAX_CORNERS:
        return np.full_like(nominal, np.nan), np.full_like(nominal, np.nan)
    signs = np.array(list(product((-1.0, 1.0), repeat=len(names))))
    change = np.broadcast_to(signs * t, (len(q), *signs.shape))
    found = _nearest(linkage, _values(linkage, q, modes, names, change) - nominal[:, None])
    return nominal + found.min(axis=1), nominal + found.max(axis=1)


def _sensitivity(
    linkage: Linkage, q: Array, modes: Any, names: tuple[str, ...]
) -> tuple[Array, Array]:
    """Return the nominal measures (n, m) and their exact derivatives (n, m, k)."""
    d = linkage.decomposition
    y = ca.vertcat(linkage.coordinates, linkage.points)
    places = [list(linkage.mechanism.parameters).index(name) for name in names]
    J = ca.densify(ca.jacobian(y, d.planar.p)[:, places])
    f = ca.Function("sensitivity", [d.q, d.signs, d.planar.p], [ca.densify(y), J])
    signs = np.ones(linkage.mode_count) if modes is None else np.asarray(modes, float)
    p = np.array(list(linkage.mechanism.parameters.values()), float)
    rows = np.ascontiguousarray(q.reshape(len(q), -1))
    (values, slopes), _ = compile_lanes(f)([rows, signs, p], len(q))
    return values, slopes.reshape(len(q), -1, len(names))
