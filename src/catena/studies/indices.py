"""Which variables matter: global sensitivity indices over the whole ranges of the variables, by
SALib, and one variable at a time.

    sobol     first-order and total indices of the variance ([Saltelli2010]), with confidence
              intervals; n (2 d + 2) runs
    morris    mean and spread of elementary effects along trajectories ([Morris1991]); n (d + 1)
              runs
    tornado   each variable from its 5 % to its 95 % quantile, the others at their medians; 2 d + 1
              runs

A method makes its own design from the distributions of the study (an axis counts as uniform over
its range), runs it, and evaluates the measures. Derivatives at one run are `catena.sensitivities`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import StudyError
from ..registry import Registry
from .design import Design
from .ranges import Distribution, Scipy, uniform

if TYPE_CHECKING:
    import xarray as xr

    from .definition import Study

Array = NDArray[np.float64]
TORNADO_LOW, TORNADO_HIGH = 0.05, 0.95  # the quantiles of a variable in a tornado
QUANTILE_MARGIN = 1e-9  # distance kept from 0 and 1, where unbounded distributions have no quantile


@dataclass(frozen=True)
class Method:
    """A method of sensitivity analysis.

    sample(d, n, seed): the points (runs, d) in the unit cube. analyse(cube, y, names, seed): the
    indices {index: (d,) or (d, d)} of the measure y (runs,). samples: the default of n. doc: one
    line.
    """

    name: str
    sample: Callable[[int, int, int], Array]
    analyse: Callable[[Array, Array, list[str], int], dict[str, Array]]
    samples: int
    doc: str


def sensitivity(
    study: Study,
    method: str = "sobol",
    *,
    samples: int | None = None,
    seed: int | None = None,
    **running: Any,
) -> xr.Dataset:
    """Return the indices of every measure that is one number per run, over `measure` and
    `variable`.

    samples: n of the method. running: arguments of `Study.run`, such as out and on. Raises
    StudyError where a run fails: indices need all of them.
    """
    import xarray as xr

    how = METHODS.find(method)
    seed = study.design.seed if seed is None else seed
    named = _distributions(study)
    cube = how.sample(len(named), how.samples if samples is None else samples, seed)
    made = Design(
        tuple(named),
        (),
        tuple(named.items()),
        len(cube),
        study.design.scheme,
        seed,
        np.clip(cube, QUANTILE_MARGIN, 1 - QUANTILE_MARGIN),
    )
    table = study.with_design(made).run(**running)
    _check_complete(table)
    measures = [m.name for m in study.measures if not m.over_time]
    if not measures:
        raise StudyError(
            "indices are of measures that are one number per run; those of this study are kept over"
            " time: reduce one, max(...)"
        )
    names = list(named)
    each = [how.analyse(cube, np.asarray(table[m].values, float), names, seed) for m in measures]
    dims = {1: ("measure", "variable"), 2: ("measure", "variable", "other")}
    found = {
        index: (dims[np.ndim(each[0][index])], np.stack([one[index] for one in each]))
        for index in each[0]
    }
    return xr.Dataset(
        found,
        {
            "measure": measures,
            "variable": names,
            **({"other": names} if any(x[1].ndim == 3 for x in found.values()) else {}),
        },
        {"method": method, "mechanism": study.varied.mechanism.name, "runs": len(cube)},
    )


def _distributions(study: Study) -> dict[str, Distribution | Scipy]:
    """Return the distribution of each variable; an axis counts as uniform over its range."""
    found: dict[str, Distribution | Scipy] = {}
    drawn = dict(study.design.drawn)
    for name in study.design.names:
        if name in drawn:
            found[name] = drawn[name]
            continue
        grid = next(g for g in study.design.grids if name in g.names)
        values = grid.values[:, grid.names.index(name)]
        if not values.min() < values.max():
            raise StudyError(
                f"{name!r} has one value, {values[0]:g}, and so no influence to be found; give it a"
                " range, or leave it out"
            )
        found[name] = uniform(values.min(), values.max())
    return found


def _check_complete(table: xr.Dataset) -> None:
    """Raise StudyError if a run of the table failed, because indices need all of them."""
    said = [str(x) for x in table["failure"].values if x]
    if said:
        raise StudyError(
            f"{len(said)} of {table.sizes['run']} runs failed, and indices need all of them: narrow"
            f" the ranges, or measure what every run has. The first: {said[0]}"
        )


# --- SALib
def _problem(names: list[str]) -> dict[str, Any]:
    """Return SALib's description of variables in the unit cube."""
    return {"num_vars": len(names), "names": names, "bounds": [[0.0, 1.0]] * len(names)}


def _salib(what: str) -> Any:
    """Return a module of SALib; raise StudyError where SALib is not installed."""
    from importlib import import_module

    try:
        return import_module(f"SALib.{what}")
    except ImportError:
        raise StudyError(
            "indices are computed by SALib, which is not installed: pip install 'catena[studies]'"
        ) from None


def _sobol_sample(d: int, n: int, seed: int) -> Array:
    """Return Saltelli's points in the unit cube; n must be a power of two."""
    if n < 1 or n & (n - 1):
        raise StudyError(f"samples is {n}; Sobol indices need a power of two, such as 1024")
    names = [str(k) for k in range(d)]
    return np.asarray(
        _salib("sample.sobol").sample(_problem(names), n, calc_second_order=d > 1, seed=seed)
    )


def _sobol(cube: Array, y: Array, names: list[str], seed: int) -> dict[str, Array]:
    """Return first-order, total and pairwise Sobol indices; zeros for a measure that does not
    vary.
    """
    if not np.ptp(y) > 0:
        zero = np.zeros(len(names))
        return {
            "S1": zero,
            "S1_conf": zero,
            "ST": zero,
            "ST_conf": zero,
            **({"S2": np.full((len(names),) * 2, np.nan)} if len(names) > 1 else {}),
        }
    found = _salib("analyze.sobol").analyze(
        _problem(names), y, calc_second_order=len(names) > 1, seed=seed
    )
    return {
        key: np.asarray(found[key], float)
        for key in ("S1", "S1_conf", "ST", "ST_conf", *(["S2"] if len(names) > 1 else []))
    }


def _morris_sample(d: int, n: int, seed: int) -> Array:
    """Return the points of n trajectories of Morris in the unit cube."""
    names = [str(k) for k in range(d)]
    return np.asarray(_salib("sample.morris").sample(_problem(names), n, num_levels=4, seed=seed))


def _morris(cube: Array, y: Array, names: list[str], seed: int) -> dict[str, Array]:
    """Return mean, mean size with confidence, and spread of the elementary effects."""
    found = _salib("analyze.morris").analyze(_problem(names), cube, y, num_levels=4, seed=seed)
    return {
        key: np.asarray(found[key], float) for key in ("mu", "mu_star", "mu_star_conf", "sigma")
    }


# --- one at a time
def _tornado_sample(d: int, n: int, seed: int) -> Array:
    """Return the points of the tornado method: all variables at their medians, then each variable
    in turn at its low and at its high quantile.
    """
    cube = np.full((2 * d + 1, d), 0.5)
    for k in range(d):
        cube[1 + 2 * k, k], cube[2 + 2 * k, k] = TORNADO_LOW, TORNADO_HIGH
    return cube


def _tornado(cube: Array, y: Array, names: list[str], seed: int) -> dict[str, Array]:
    """Return the measure at the medians, and with each variable low and high."""
    return {"nominal": np.full(len(names), y[0]), "low": y[1::2], "high": y[2::2]}


METHODS: Registry[Method] = Registry(
    "method of sensitivity",
    [
        Method(
            "sobol",
            _sobol_sample,
            _sobol,
            1024,
            "parts of the variance: first-order S1, total ST and pairs S2, with confidence",
        ),
        Method(
            "morris",
            _morris_sample,
            _morris,
            50,
            "elementary effects: mu, mu_star and sigma, cheap",
        ),
        Method(
            "tornado",
            _tornado_sample,
            _tornado,
            1,
            "each variable from its 5 % to its 95 % quantile, the others at their medians",
        ),
    ],
)
