"""Laws: how controllers are combined, sampled and held, and made from Python functions. The
controllers are in `control.py`.

A controller is any object with `law(system) -> Law`; see `terms.symbols.SystemSymbols` for the
symbols t, q, v, u, p that a law may use.
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
    """What can stand as `control` in `catena.simulate`: `law` gives the forces as expressions of
    the system's symbols.
    """

    def law(self, system: SystemSymbols) -> Law:
        """The forces along all speeds, and the controller's own state."""
        raise NotImplementedError

    def __add__(self, other: Controller) -> Controller:
        return Sum((self, other)) if hasattr(other, "law") else NotImplemented


@dataclass(frozen=True)
class Sum(Controller):
    """Controllers side by side; their forces add."""

    parts: tuple[Controller, ...]

    def law(self, system: SystemSymbols) -> Law:
        """The sum of the forces, the states one after another."""
        laws = [part.law(system) for part in self.parts]
        return _beside(
            laws, sum((law.tau for law in laws), ca.SX.zeros(system.nv)), [law.rate for law in laws]
        )


def _beside(laws: list[Law], tau: ca.SX, rates: list[ca.SX]) -> Law:
    """One law out of several: their states side by side."""
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
    """One controller after another: ((time it begins, controller), ...), s, rising. One that rests
    keeps its integrals.
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
        """All states; the forces and rates of the one that is on."""
        laws = [part.law(system) for _, part in self.parts]
        begun = [*(system.t >= t for t, _ in self.parts), ca.SX(0)]
        on = [a - b for a, b in pairwise(begun)]
        tau = sum((ca.if_else(x, law.tau, 0.0) for x, law in zip(on, laws)), ca.SX.zeros(system.nv))
        return _beside(laws, tau, [x * law.rate for x, law in zip(on, laws)])


@dataclass(frozen=True)
class Hold(Controller):
    """A controller sampled every `sample` seconds: its forces are held in between (zero-order
    hold), its integrals are sums.

        at t_n = start + n T:      held = tau(t_n, q, v, c),      c = c + T c'(t_n, q, v, c)

    What is held and when the next sample is due are states of the run, so that rows, resumed runs
    and batches have them.
    """

    controller: Controller
    sample: float

    def __post_init__(self) -> None:
        sampling("Hold", self.sample)
        if self.sample is None:
            raise StateError("Hold: sample is None; it is a time above zero (s)")

    def law(self, system: SystemSymbols) -> Law:
        """The inner controller's state, the held forces, the time of the next sample."""
        return held(self.sample, system, self.controller.law(system))


def held(sample: float | None, system: SystemSymbols, law: Law) -> Law:
    """The law, sampled and held; as it is where there is no sample time."""
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
        (*law.start, *(0.0 for _ in acting), -1e300),  # due at once
        ca.if_else(system.t >= due - 1e-6 * sample, fresh, state),
        (len(names) - 1,),
        law.integrals,
    )


# --- Python functions
@dataclass(frozen=True)
class Traced(Controller):
    """A Python function (t, q, v) -> forces (nv,), called once with symbols."""

    function: Callable[[Any, Any, Any], Any]
    sample: float | None = None

    def law(self, system: SystemSymbols) -> Law:
        """No state of its own."""
        tau = _symbolic(self.function, system.t, system.q, system.v, system.nv)
        return held(self.sample, system, Law(tau))


@dataclass(frozen=True)
class Sampled:
    """A Python function (t, q, v) -> forces (nv,), called every `sample` seconds and held in
    between.
    """

    function: Callable[[Any, Any, Any], Any]
    sample: float

    def __call__(self, t: float, q: np.ndarray, v: np.ndarray) -> Any:
        """The forces at t."""
        return self.function(t, q, v)


def traced(
    function: Callable[[Any, Any, Any], Any],
    asked: Mechanism | Machine,
    sample: float | None = None,
) -> Traced | Sampled:
    """A controller out of a Python function (t, q, v) -> forces (nv,); in machine code if it can
    be.

    The function is called with arrays of symbols. It can be traced if it computes with + - * / **
    @, NumPy's sin, cos, sqrt, tanh ..., and does not decide by the values (if, math.sin, np.clip)
    or remember anything; a few random states tell whether what came out is the same. If not, a
    warning says why, and the function is called every `sample` seconds instead.
    """
    machine = machine_of(asked)
    sampling("traced", sample)
    try:
        _agreed(function, machine)
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


def _symbolic(function: Callable, t: ca.SX, q: ca.SX, v: ca.SX, nv: int) -> ca.SX:
    """The function's answer to symbols, (nv,)."""
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


def _agreed(function: Callable, machine: Machine) -> None:
    """Raise unless the traced function gives the function's own values at a few states."""
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


def sampling(what: str, sample: float | None) -> None:
    """Refuse a sample time that is none."""
    if sample is not None and not (isinstance(sample, int | float) and 0 < sample < np.inf):
        raise StateError(
            f"{what}: sample = {sample!r}; it is a time above zero (s), or None for a continuous"
            " controller"
        )
