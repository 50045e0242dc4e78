"""sampling_mpc: model-predictive control by many rollouts in lanes.

At each step the forces of a plan are perturbed at random, all candidates are simulated side by side
from the present state, and the plan is moved towards the better ones:

    mppi    u = sum_k w_k u_k,   w_k ~ exp(-(J_k - min J) / temperature)       [Williams2017]
    cem     u = mean of the best share of the candidates, sigma their deviation [Rubinstein1999]
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..errors import QuestionError, StateError
from ..machine import Machine, all_speeds_of, machine_of
from ..model import Mechanism
from ..registry import Registry
from ..simulation import RunOptions
from ..simulation.integrators import Pieces
from ..simulation.planning import prepare
from ..simulation.runners import Rollout

Array = np.ndarray
Cost = Callable[[Array, Array, Array], Array]


@dataclass(frozen=True)
class PlanUpdate:
    """The rule by which a new plan follows from the candidates. update(mpc, candidates (n,
    intervals, inputs), costs (n,), sigma (inputs,)): returns the new plan and the new deviations.
    """

    name: str
    doc: str
    update: Callable[[SamplingMPC, Array, Array, Array], tuple[Array, Array]]


@dataclass(frozen=True)
class SamplingMPC:
    """Model-predictive control by rollouts; see `sampling_mpc`."""

    machine: Machine
    cost: Cost
    horizon: float
    intervals: int
    samples: int
    motors: tuple[int, ...]
    sigma: Array
    low: Array
    high: Array
    method: str
    temperature: float
    elite: float
    iterations: int
    integrator: str
    step: float
    seed: int

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names of the joint forces that are planned."""
        return tuple(self.machine.speed_names[k] for k in self.motors)

    def start(self) -> Array:
        """Return a plan (intervals, inputs) of zeros."""
        return np.zeros((self.intervals, len(self.motors)))

    def improve(self, q: Any, v: Any, plan: Array, number: int = 0) -> Array:
        """Return a better plan (intervals, inputs) from the state q (nq,), v (nv,).

        number: seeds the random candidates, so that the same number gives the same ones.
        """
        sigma = self.sigma
        for k in range(self.iterations):
            rng = np.random.default_rng((self.seed, number, k))
            noise = rng.standard_normal((self.samples, *plan.shape)) * sigma
            noise[0] = 0.0  # the plan itself is a candidate
            candidates = np.clip(plan + noise, self.low, self.high)
            costs = np.asarray(self.cost(*self.rollout(q, v, candidates), candidates), float)
            if costs.shape != (self.samples,):
                raise QuestionError(
                    f"sampling_mpc: the cost has the shape {costs.shape}; it is one number for each"
                    f" of the {self.samples} candidates"
                )
            costs = np.where(np.isfinite(costs), costs, np.inf)
            if not np.isfinite(costs).any():
                raise QuestionError("sampling_mpc: no candidate has a finite cost at this state")
            plan, sigma = PLAN_UPDATES.find(self.method).update(self, candidates, costs, sigma)
        return plan

    def shifted(self, plan: Array, steps: int = 1) -> Array:
        """Return the plan that remains after some intervals; its last force is repeated."""
        return np.concatenate([plan[steps:], np.repeat(plan[-1:], steps, axis=0)])

    def forces(self, plan: Array) -> Array:
        """Return the joint forces (nv,) of the first interval."""
        tau = np.zeros(self.machine.nv)
        tau[list(self.motors)] = plan[0]
        return tau

    def rollout(self, q: Any, v: Any, candidates: Array) -> tuple[Array, Array]:
        """Return q (n, intervals + 1, nq) and v (n, intervals + 1, nv) of candidates (n, intervals,
        inputs), all from one state.
        """
        roll = self._rollout
        s = roll.plan.system
        W = roll.plan.width
        n = -(-len(candidates) // W) * W
        own = np.minimum(np.arange(n), len(candidates) - 1)
        forces = np.zeros((n, self.intervals, self.machine.nv))
        forces[..., list(self.motors)] = candidates[own]
        p = roll.plan.p[0]
        x0 = np.broadcast_to(s.start(np.asarray(q, float), np.asarray(v, float), p), (n, s.size))
        held = np.zeros((n, s.nu + len(p)))
        held[:, s.nv : s.nu] = s.holding.start()
        held[:, s.nu :] = p
        held[:, : s.nv] = forces[:, 0]
        out = self._memory(n, s.size)

        def part(rows: slice) -> None:
            pieces = Pieces(forces[rows], 0.0, self.horizon / self.intervals)
            roll.drive(np.ascontiguousarray(x0[rows]), held[rows], out[rows], pieces)

        threads = max(1, self.machine.threads or 1)
        each = -(-n // (threads * W)) * W
        rows = [slice(k, min(k + each, n)) for k in range(0, n, each)]
        if len(rows) == 1:
            part(rows[0])
        else:
            with ThreadPoolExecutor(threads) as pool:
                list(pool.map(part, rows))
        nq = self.machine.nq
        found = out[: len(candidates)]
        return found[..., :nq], found[..., nq : nq + self.machine.nv]

    def controller(self, sample: float | None = None) -> SampledPlan:
        """Return a controller for `catena.simulate`, which improves its plan at every sample: by
        default once per interval.
        """
        interval = self.horizon / self.intervals
        return SampledPlan(self, interval if sample is None else sample)

    def _memory(self, n: int, size: int) -> Array:
        """Return an array for the states of n rollouts, which is reused by the next call."""
        held = self._memories
        if n not in held:
            held[n] = np.empty((n, 1 + self.intervals, size))
        return held[n]

    @cached_property
    def _memories(self) -> dict[int, Array]:
        return {}

    @cached_property
    def _rollout(self) -> Rollout:
        """The rollouts of all candidates, as runs with equal steps in lanes."""
        machine = self.machine
        interval = self.horizon / self.intervals
        start = np.repeat(machine.neutral()[None], 8, axis=0)
        options = RunOptions.of(
            "recursive",
            integrator=self.integrator,
            step=self.step,
            output=interval,
            limits="ignore",
            friction="smooth",
            contact="ignore",
            forces=np.zeros((8, self.intervals, machine.nv)),
        )
        plan = prepare(machine, start, np.zeros((8, machine.nv)), self.horizon, options)
        found = Rollout.of(plan)
        if found is None or not plan.system.equations.state_is_qv:
            raise QuestionError(
                f"sampling_mpc: mechanism {machine.mechanism.name!r} cannot be rolled out with"
                f" equal steps by the integrator {self.integrator!r}; choose 'rk4' or"
                " 'semi_implicit'"
            )
        return found


class SampledPlan:
    """A sampled controller that stores its plan from sample to sample."""

    def __init__(self, mpc: SamplingMPC, sample: float):
        self.mpc, self.sample = mpc, sample
        self.plan, self.number = mpc.start(), 0

    def __call__(self, t: float, q: Array, v: Array) -> Array:
        """Return the joint forces (nv,) at time t (s)."""
        self.plan = self.mpc.improve(q, v, self.plan, self.number)
        tau = self.mpc.forces(self.plan)
        self.number += 1
        interval = self.mpc.horizon / self.mpc.intervals
        self.plan = self.mpc.shifted(self.plan, max(1, round(self.sample / interval)))
        return tau


def _mppi(mpc: SamplingMPC, candidates: Array, costs: Array, sigma: Array) -> tuple[Array, Array]:
    """Return the mean of the candidates, weighted by exponentials of their costs."""
    weight = np.exp(-(costs - costs.min()) / mpc.temperature)
    return np.einsum("k,kij->ij", weight / weight.sum(), candidates), sigma


def _cem(mpc: SamplingMPC, candidates: Array, costs: Array, sigma: Array) -> tuple[Array, Array]:
    """Return the mean of the best candidates, and their deviation, which is used for the next
    candidates.
    """
    best = np.argsort(costs, kind="stable")[: max(2, round(mpc.elite * len(costs)))]
    chosen = candidates[best]
    return chosen.mean(axis=0), chosen.std(axis=0).mean(axis=0)


PLAN_UPDATES: Registry[PlanUpdate] = Registry(
    "method of sampling_mpc",
    (
        PlanUpdate("mppi", "model-predictive path integral control", _mppi),
        PlanUpdate("cem", "cross-entropy method", _cem),
    ),
    error=QuestionError,
)


def sampling_mpc(
    mechanism: Mechanism | Machine,
    cost: Cost,
    *,
    horizon: float,
    intervals: int,
    actuated: Iterable[str],
    sigma: Any,
    samples: int = 1024,
    limits: Any = np.inf,
    method: str = "mppi",
    temperature: float = 1.0,
    elite: float = 0.05,
    iterations: int = 1,
    integrator: str = "rk4",
    step: float | None = None,
    seed: int = 0,
) -> SamplingMPC:
    """Return model-predictive control by rollouts in lanes.

    Parameters
    ----------
    mechanism : Mechanism or Machine
        The mechanism, without contacts. A Machine brings its threads.
    cost : callable
        (q (n, T + 1, nq), v (n, T + 1, nv), u (n, T, inputs)) -> costs (n,) of n rollouts over T
        intervals.
    horizon : float
        The time that is looked ahead, s.
    intervals : int
        T, the number of parts of the horizon, in each of which forces are constant.
    actuated : iterable of str
        The joints whose forces are planned.
    sigma : float or array (inputs,)
        The standard deviation of the random changes of the forces, N m or N.
    samples : int, default 1024
        The number of rollouts n.
    limits : float or array (inputs,), default inf
        The largest forces, N m or N.
    method : {"mppi", "cem"}
        How the plan follows from the rollouts, by `PLAN_UPDATES`.
    temperature : float, default 1.0
        Of "mppi", in the unit of the cost: the smaller, the more the best rollout decides.
    elite : float, default 0.05
        Of "cem": the share of rollouts that count as the best.
    iterations : int, default 1
        How often the plan is improved in one call.
    integrator : str, default "rk4"
        A method with equal steps: "rk4", "semi_implicit" and others.
    step : float, optional
        The longest step, s. By default one per interval.
    seed : int, default 0
        Of the random changes; the results do not depend on the number of threads.

    Returns
    -------
    SamplingMPC
        Its `improve(q, v, plan)` returns a better plan; `controller()` is a controller of
        `catena.simulate`.

    Raises
    ------
    StateError
        If an argument is out of its range.

    Examples
    --------
    >>> import catena, numpy as np
    >>> def cost(q, v, u):
    ...     return (1 - np.cos(q[..., 0] - np.pi)).sum(axis=1) + 0.01 * (v[:, -1, 0]) ** 2
    >>> pendulum = catena.load("pendulum")
    >>> mpc = catena.control.sampling_mpc(
    ...     pendulum, cost, horizon=1.0, intervals=25, actuated=["pivot"], sigma=3.0, limits=5.0,
    ...     samples=256, temperature=0.1)
    >>> run = catena.simulate(pendulum, q=[0.1], until=4.0, control=mpc.controller())
    >>> bool(abs(np.cos(run.data["q"].values[-1, 0]) + 1) < 0.05)
    True
    """
    machine = machine_of(mechanism)
    motors = tuple(all_speeds_of(machine, actuated))
    for name, x in (("horizon", horizon), ("temperature", temperature), ("elite", elite)):
        if not 0.0 < x < np.inf:
            raise StateError(f"sampling_mpc: {name} is {x!r}; it is above zero")
    for name, x in (("intervals", intervals), ("samples", samples), ("iterations", iterations)):
        if int(x) != x or x < 1:
            raise StateError(f"sampling_mpc: {name} is {x!r}; it is a whole number above zero")
    PLAN_UPDATES.find(method)
    width = (len(motors),)
    try:
        spread = np.broadcast_to(np.asarray(sigma, float), width)
        most = np.broadcast_to(np.asarray(limits, float), width)
    except ValueError:
        raise StateError(
            f"sampling_mpc: sigma and limits are a number or {len(motors)}, one per input; found"
            f" shapes {np.shape(sigma)} and {np.shape(limits)}"
        ) from None
    return SamplingMPC(
        machine,
        cost,
        float(horizon),
        int(intervals),
        int(samples),
        motors,
        spread,
        -most,
        most,
        method,
        float(temperature),
        float(elite),
        int(iterations),
        integrator,
        float(horizon / intervals if step is None else step),
        seed,
    )
