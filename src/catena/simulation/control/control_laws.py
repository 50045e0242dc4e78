"""Sums and sequences of controllers, sampling with zero-order hold, and controllers made from
Python functions.

The controllers themselves are in `controllers.py`. A controller is any object with a method
`law(system) -> Law`; see `terms.symbols.SystemSymbols` for the symbols t, q, v, u, p that a law may
use.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import casadi as ca
import numpy as np

from ...compiler import elements, vector
from ...errors import SimulationError, StateError
from ...machine import Machine, machine_of
from ...model import Mechanism
from ..terms.symbols import SystemSymbols
from .traced_law import Law


class Controller:
    """The base class of what `catena.simulate` accepts as `control`.

    A subclass implements `law`, which returns the forces as expressions of the system's symbols.
    Controllers add: `a + b` applies the forces of both.
    """

    def law(self, system: SystemSymbols) -> Law:
        """Return the forces along all speeds (N m or N) and the controller's own states.

        Parameters
        ----------
        system : SystemSymbols
            The system whose symbols t, q, v, u, p the law may use.

        Returns
        -------
        Law
            The forces tau (nv,) with the names, rates and start values of the controller's states.
        """
        raise NotImplementedError

    def __add__(self, other: Controller) -> Controller:
        return Sum((self, other)) if hasattr(other, "law") else NotImplemented


@dataclass(frozen=True)
class Sum(Controller):
    """Several controllers at once, whose forces add.

    Parameters
    ----------
    parts : tuple of Controller
        The controllers.
    """

    parts: tuple[Controller, ...]

    def law(self, system: SystemSymbols) -> Law:
        """Return the sum of the forces, with the states of all parts in order."""
        laws = [part.law(system) for part in self.parts]
        return _concatenate_laws(
            laws, sum((law.tau for law in laws), ca.SX.zeros(system.nv)), [law.rate for law in laws]
        )


def _concatenate_laws(laws: list[Law], tau: ca.SX, rates: list[ca.SX]) -> Law:
    """Return one law with the forces tau, whose states are those of several laws one after another
    and change at `rates`.
    """
    clocks, before = [], 0
    for law in laws:
        clocks += [before + k for k in law.clocks]
        before += len(law.names)
    return Law(
        tau,
        ca.vertcat(*rates),
        ca.vertcat(*(law.state for law in laws)),
        tuple(name for law in laws for name in law.names),
        tuple(x for law in laws for x in law.start),
        (
            ca.vertcat(*(law.state if law.jump is None else law.jump for law in laws))
            if clocks
            else None
        ),
        tuple(clocks),
        tuple(
            k
            for law in laws
            for k in (*law.integrals, *(-1 for _ in law.names[len(law.integrals) :]))
        ),
    )


# --- in time
@dataclass(frozen=True)
class Sequence(Controller):
    """One controller after another, each from its own start time until the next one begins.

    While a controller is inactive its states keep their values. Before the first start time there
    is no force.

    Parameters
    ----------
    parts : tuple of (float, Controller)
        Start time (s) and controller; the times increase.

    Raises
    ------
    StateError
        If `parts` is empty or the times do not increase.
    """

    parts: tuple[tuple[float, Controller], ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", tuple((float(t), part) for t, part in self.parts))
        times = [t for t, _ in self.parts]
        if not times or any(b <= a for a, b in pairwise(times)):
            raise StateError(
                f"Sequence: the times at which controllers begin rise; found {times} s"
            )

    def law(self, system: SystemSymbols) -> Law:
        """Return the forces of the controller that is active, with the states of all of them; the
        states of the others keep their values.
        """
        laws = [part.law(system) for _, part in self.parts]
        begun = [*(system.t >= t for t, _ in self.parts), ca.SX(0)]
        on = [a - b for a, b in pairwise(begun)]
        tau = sum((ca.if_else(x, law.tau, 0.0) for x, law in zip(on, laws)), ca.SX.zeros(system.nv))
        return _concatenate_laws(laws, tau, [x * law.rate for x, law in zip(on, laws)])


@dataclass(frozen=True)
class Hold(Controller):
    """A controller that is sampled at a fixed period, with its forces held in between (zero-order
    hold).

        at t_n = start + n T:      held = tau(t_n, q, v, c),      c = c + T c'(t_n, q, v, c)

    The controller's own states advance by one Euler step per sample. The held forces and the time
    of the next sample are states of the run, so that output rows, resumed runs and batches include
    them.

    Parameters
    ----------
    controller : Controller
        The controller to sample; it must not be sampled already.
    sample : float
        The sample time T, s.

    Raises
    ------
    StateError
        If the sample time is not a finite number above zero.
    """

    controller: Controller
    sample: float

    def __post_init__(self) -> None:
        check_sample_time("Hold", self.sample)
        if self.sample is None:
            raise StateError("Hold: sample is None; it is a time above zero (s)")

    def law(self, system: SystemSymbols) -> Law:
        """Return a law with the inner controller's states, the held forces and the next sample
        time.
        """
        return sample_and_hold(self.sample, system, self.controller.law(system))


def sample_and_hold(sample: float | None, system: SystemSymbols, law: Law) -> Law:
    """Return the law sampled every `sample` seconds with its forces held in between; without a
    sample time the law itself. Raises SimulationError where the law is sampled already.
    """
    if sample is None:
        return law
    if law.clocks:
        raise SimulationError(
            "a controller that is sampled already is held once more; give one sample time"
        )
    acting = [k for k in range(system.nv) if not law.tau[k].is_zero()]
    held = ca.SX.sym("held", len(acting))
    due = ca.SX.sym("due")
    state = ca.vertcat(law.state, held, due)
    fresh = ca.vertcat(
        law.state + sample * law.rate, vector([law.tau[k] for k in acting]), system.t + sample
    )
    speeds = list(system.mechanism.speed_names)
    names = (*law.names, *(f"held {speeds[k]}" for k in acting), f"next sample, every {sample:g} s")
    return Law(
        vector([held[acting.index(k)] if k in acting else ca.SX(0) for k in range(system.nv)]),
        ca.SX.zeros(state.numel()),
        state,
        names,
        (*law.start, *(0.0 for _ in acting), -1e300),  # the first sample is due at once
        ca.if_else(system.t >= due - 1e-6 * sample, fresh, state),
        (len(names) - 1,),
        law.integrals,
    )


# --- Python functions
@dataclass(frozen=True)
class Traced(Controller):
    """A Python function (t, q, v) -> forces (nv,), called once with symbols and compiled."""

    function: Callable[[Any, Any, Any], Any]
    sample: float | None = None

    def law(self, system: SystemSymbols) -> Law:
        """Return the function's forces as expressions, sampled and held where a sample time is
        given.
        """
        tau = _symbolic(self.function, system.t, system.q, system.v, system.nv)
        return sample_and_hold(self.sample, system, Law(tau))


@dataclass(frozen=True)
class Sampled:
    """A Python function (t, q, v) -> forces (nv,) that is called every `sample` seconds of a run;
    the forces are held in between.
    """

    function: Callable[[Any, Any, Any], Any]
    sample: float

    def __call__(self, t: float, q: np.ndarray, v: np.ndarray) -> Any:
        """Return the forces (nv,) at time t (s)."""
        return self.function(t, q, v)


def traced(
    function: Callable[[Any, Any, Any], Any],
    asked: Mechanism | Machine,
    sample: float | None = None,
) -> Traced | Sampled:
    """Make a controller from a Python function, compiled to machine code where that is possible.

    The function is called with arrays of symbols. It can be traced if it computes with + - * / ** @
    and NumPy's sin, cos, sqrt, tanh and so on, does not branch on values (`if`, `math.sin`,
    `np.clip`) and has no memory. Its values at three random states are compared with those of the
    traced expressions. Where they differ or tracing fails, a warning says why, and the function is
    called from Python every `sample` seconds instead.

    Parameters
    ----------
    function : callable
        (t, q, v) -> forces (nv,), N m or N, with t in s, q (nq,) and v (nv,).
    asked : Mechanism or Machine
        The mechanism to be controlled.
    sample : float or None, default None
        The sample time in s; None means a continuous controller.

    Returns
    -------
    Traced or Sampled
        A controller for `catena.simulate`: Traced if the function could be traced, else Sampled.

    Raises
    ------
    SimulationError
        If the function cannot be traced and no sample time is given.
    StateError
        If the sample time is not a finite number above zero.
    """
    machine = machine_of(asked)
    check_sample_time("traced", sample)
    try:
        _check_traced_values(function, machine)
        return Traced(function, sample)
    except Exception as error:  # whatever the user's function raises
        reason = str(error).strip().splitlines()[-1] if str(error).strip() else type(error).__name__
        name = getattr(function, "__name__", type(function).__name__)
        sentence = f"controller {name!r} cannot be traced into machine code ({reason})"
    if sample is None:
        raise SimulationError(
            f"{sentence}; give it a sample time, such as sample=0.001 (s), and it is called from"
            " Python"
        )
    warnings.warn(f"{sentence}; it is called from Python every {sample:g} s", stacklevel=2)
    return Sampled(function, sample)


def _symbolic(function: Callable[..., Any], t: ca.SX, q: ca.SX, v: ca.SX, nv: int) -> ca.SX:
    """Return the function's forces (nv,) as expressions of the symbols t, q (nq,) and v (nv,)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # CasADi's, on NumPy functions of one symbol
        answer = function(t, *(np.array(elements(x), dtype=object) for x in (q, v)))
    entries = (
        elements(answer)
        if isinstance(answer, ca.SX)
        else list(np.ravel(np.asarray(answer, dtype=object)))
    )
    if len(entries) != nv:
        raise SimulationError(f"it returns {len(entries)} values; there are {nv} speeds")
    return vector([ca.SX(x) for x in entries])


def _check_traced_values(function: Callable[..., Any], machine: Machine) -> None:
    """Raise SimulationError unless the traced function equals the function itself at three states.

    The comparison allows 1e-9 relative to each value and 1e-12 absolutely.
    """
    t = ca.SX.sym("t")
    q = ca.SX.sym("q", machine.nq)
    v = ca.SX.sym("v", machine.nv)
    f = ca.Function("f", [t, q, v], [_symbolic(function, t, q, v, machine.nv)])
    rng = np.random.default_rng(0)
    for at in (0.0, 0.37, 1.9):
        state = at, machine.sample(rng), rng.standard_normal(machine.nv)
        mine = np.array(f(*state)).ravel()
        theirs = np.asarray(function(*state), float)
        if theirs.shape != (machine.nv,) or not np.allclose(mine, theirs, rtol=1e-9, atol=1e-12):
            raise SimulationError("traced, it gives other values than called with numbers")


def check_sample_time(what: str, sample: float | None) -> None:
    """Raise StateError where the sample time (s) is neither None nor a finite number above zero."""
    if sample is not None and not (isinstance(sample, int | float) and 0 < sample < np.inf):
        raise StateError(
            f"{what}: sample = {sample!r}; it is a time above zero (s), or None for a continuous"
            " controller"
        )
