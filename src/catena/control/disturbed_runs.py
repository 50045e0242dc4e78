"""Many runs of a controlled mechanism: from starts all over a region, or with parameters that
differ from those of the design.

    region_of_attraction    which starts come to rest at the target
    monte_carlo             how often a controller succeeds when parameters are random
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import SimulationError, StateError, UnknownNameError
from ..machine import Machine, machine_of
from ..model import Mechanism, Motion
from ..simulation import simulate

Array = np.ndarray
RUNS_AT_ONCE = 8192  # whose states are in memory together


@dataclass(frozen=True)
class DisturbedRuns:
    """The outcome of many runs.

    Attributes
    ----------
    names : tuple of str
        What varies: coordinates, speeds as v['name'], or parameters.
    values : ndarray (runs, names)
        The value of each in every run, SI.
    success : ndarray (runs,) of bool
        Whether the run ended within the tolerance.
    q, v : ndarray (runs, nq), (runs, nv)
        The states at the end; not finite where a run could not go on.
    """

    names: tuple[str, ...]
    values: Array
    success: Array
    q: Array
    v: Array

    @property
    def share(self) -> float:
        """The fraction of runs that succeeded."""
        return float(self.success.mean())

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % confidence interval of the probability of success, by Wilson's formula."""
        n, p, z = len(self.success), self.share, 1.959963984540054
        middle = (p + z**2 / (2 * n)) / (1 + z**2 / n)
        half = z * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2)) / (1 + z**2 / n)
        return float(middle - half), float(middle + half)

    def volume(self, span: Array) -> float:
        """Return the size of the part of a box of edges `span` from which runs succeed."""
        return self.share * float(np.prod(span))


def region_of_attraction(
    mechanism: Mechanism | Machine,
    controller: Any,
    region: Mapping[str, tuple[float, float]],
    *,
    target: Any,
    until: float,
    samples: int = 10_000,
    within: float = 0.05,
    grid: bool = False,
    integrator: str = "rk4",
    step: float = 0.01,
    seed: int = 0,
    **options: Any,
) -> DisturbedRuns:
    """Find out by simulation from which states a controller reaches its target.

    Parameters
    ----------
    mechanism : Mechanism or Machine
        What moves; a Machine brings its threads.
    controller : controller
        As for `catena.simulate`.
    region : mapping
        {coordinate or v['speed']: (lowest, highest)}: the states from which runs start. All others
        are those of the target.
    target : array (nq,)
        The coordinates to be reached, at rest; angles count modulo one turn.
    until : float
        The time after which a run must have arrived, s.
    samples : int, default 10_000
        The number of runs.
    within : float, default 0.05
        The largest deviation of every coordinate and speed at the end, SI.
    grid : bool, default False
        Use a grid of about `samples` states instead of random ones.
    integrator, step, **options
        As for `catena.simulate`.
    seed : int, default 0
        Of the random states.

    Returns
    -------
    DisturbedRuns
        The starts and whether they arrive; `plot_region` draws them.

    Raises
    ------
    UnknownNameError
        If a name of the region is no coordinate or speed.
    """
    machine = machine_of(mechanism)
    names, q_names = tuple(region), list(machine.coordinate_names)
    v_names = [f"v['{name}']" for name in machine.speed_names]
    for name in names:
        if name not in (*q_names, *v_names):
            where = f"mechanism {machine.mechanism.name!r}"
            raise UnknownNameError("coordinate or speed", name, (*q_names, *v_names), where)
    values = _points(region, samples, grid, seed)
    goal = np.asarray(target, float)
    q = np.repeat(goal[None], len(values), axis=0)
    v = np.zeros((len(values), machine.nv))
    for name, x in zip(names, values.T):
        if name in q_names:
            q[:, q_names.index(name)] = x
        else:
            v[:, v_names.index(name)] = x
    given = {"control": controller, "integrator": integrator, "step": step, **options}
    ends = _end_states(machine, q, v, until, {}, given)
    return DisturbedRuns(names, values, _arrived(machine, ends, goal, within), *ends)


def monte_carlo(
    mechanism: Mechanism | Machine,
    controller: Any,
    parameters: Mapping[str, Any],
    *,
    q: Any,
    target: Any,
    until: float,
    samples: int = 1000,
    within: float = 0.05,
    integrator: str = "rk4",
    step: float = 0.01,
    seed: int = 0,
    **options: Any,
) -> DisturbedRuns:
    """Find out how often a controller succeeds when parameters of the mechanism are random.

    Parameters
    ----------
    mechanism : Mechanism or Machine
        The mechanism, with the parameters of the design.
    controller : controller
        As for `catena.simulate`; it does not know the changed parameters.
    parameters : mapping
        {parameter: (lowest, highest)}, uniform between them, or a function (rng, n) -> n values,
        SI.
    q : array (nq,)
        The start, at rest.
    target, until, within, integrator, step, seed, **options
        As for `region_of_attraction`.
    samples : int, default 1000
        The number of runs.

    Returns
    -------
    DisturbedRuns
        The values and whether each run succeeded.

    Raises
    ------
    UnknownNameError
        If the mechanism has no such parameter.
    """
    machine = machine_of(mechanism)
    rng = np.random.default_rng(seed)
    for name in parameters:
        if name not in machine.mechanism.parameters:
            where = f"mechanism {machine.mechanism.name!r}"
            raise UnknownNameError("parameter", name, machine.mechanism.parameters, where)
    drawn = {}
    for name, how in parameters.items():
        values = how(rng, samples) if callable(how) else rng.uniform(how[0], how[1], samples)
        drawn[name] = np.asarray(values, float)
    starts = np.repeat(np.asarray(q, float)[None], samples, axis=0)
    given = {"control": controller, "integrator": integrator, "step": step, **options}
    ends = _end_states(machine, starts, np.zeros((samples, machine.nv)), until, drawn, given)
    success = _arrived(machine, ends, np.asarray(target, float), within)
    return DisturbedRuns(tuple(drawn), np.stack(list(drawn.values()), axis=1), success, *ends)


def _points(
    region: Mapping[str, tuple[float, float]], samples: int, grid: bool, seed: int
) -> Array:
    """Return the points (n, names) of a region, at random or on a grid."""
    for name, (low, high) in region.items():
        if not low < high:
            raise StateError(f"region: {name!r} is ({low}, {high}); the lower value is first")
    if not grid:
        low, high = np.array(list(region.values()), float).T
        return np.random.default_rng(seed).uniform(low, high, (samples, len(region)))
    each = max(2, round(samples ** (1 / len(region))))
    axes = [np.linspace(low, high, each) for low, high in region.values()]
    return np.stack([x.ravel() for x in np.meshgrid(*axes, indexing="ij")], axis=1)


def _end_states(
    machine: Machine,
    q: Array,
    v: Array,
    until: float,
    parameters: dict[str, Array],
    options: dict[str, Any],
) -> tuple[Array, Array]:
    """Return q and v at the end of all runs; NaN for a run that could not go on."""
    ends = np.full((len(q), machine.nq), np.nan), np.full((len(q), machine.nv), np.nan)

    def run(rows: slice) -> None:
        own = {name: x[rows] for name, x in parameters.items()}
        more: dict[str, Any] = {"parameters": own} if own else {}
        try:
            found = simulate(
                machine,
                q=q[rows],
                v=v[rows],
                until=until,
                output=until,
                limits="ignore",
                **more,
                **options,
            ).data
        except SimulationError:
            if rows.stop - rows.start == 1:
                return  # this run cannot go on
            middle = (rows.start + rows.stop) // 2
            run(slice(rows.start, middle))
            run(slice(middle, rows.stop))
            return
        for end, name in zip(ends, ("q", "v")):
            end[rows] = found[name].values[:, -1]

    for k in range(0, len(q), RUNS_AT_ONCE):
        run(slice(k, min(k + RUNS_AT_ONCE, len(q))))
    return ends


def _arrived(machine: Machine, ends: tuple[Array, Array], goal: Array, within: float) -> Array:
    """Return whether each end is within the tolerance of the goal, at rest."""
    q, v = ends
    off = np.abs(q - goal)
    for c in machine.layout.coordinates:
        if c.motion == Motion.TURN:
            off[:, c.qi] = np.abs(np.angle(np.exp(1j * (q[:, c.qi] - goal[c.qi]))))
    with np.errstate(invalid="ignore"):
        return (off < within).all(axis=1) & (np.abs(v) < within).all(axis=1)
