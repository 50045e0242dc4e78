"""check: all formulations that apply are evaluated at the same random states and compared.

    accelerations   each formulation against the median of all, relative to the largest of the state
    reactions       where two formulations or more give them
    power           dE/dt of the motion found against the power put in
    mass matrix     symmetric and positive definite
    free run        a second of free motion without the losses of joints: its energy drift; a run
                    that takes too many steps is reported as unfinished, not as a disagreement

The reference is the median of the results of all formulations, and not one of them, so that a
single wrong one stands out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..analysis import assemble
from ..compiler import Tracer
from ..equations import Equations
from ..equations import formulations as families
from ..equations.formulations import derive
from ..errors import CatenaError, FormulationError, SingularError
from ..kernels import layout
from ..machine import Machine, compile, reactions
from ..model import Mechanism
from ..registry import loaded

MAX_WITNESS_ERROR = (
    0.1  # stated error, relative to the acceleration, above which agreement proves nothing
)
ACCELERATION_TOLERANCE = 1e-9  # relative to the largest acceleration of a state
REACTION_TOLERANCE = (
    1e-8  # relative to the largest reaction of a state; they vary more between joints
)
ENERGY_DRIFT_TOLERANCE = 1e-6  # relative to the largest kinetic energy of a free run
# The most steps of a free run. A second of motion without losses takes a few hundred; a mechanism
# whose loads are so stiff that it takes more is compared at states alone
FREE_RUN_MAX_STEPS = 20_000

Array = NDArray[np.float64]
Derivation = Callable[[Mechanism], Equations]


@dataclass(frozen=True)
class Finding:
    """The measured differences of one formulation; None where something was not measured."""

    formulation: str
    acceleration: float | None = None
    reactions: float | None = None
    power: float | None = None
    drift: float | None = None
    allowed: float = ACCELERATION_TOLERANCE  # an approximate formulation states its own error
    note: str = ""
    unfinished: str = ""  # why the free run has no result, where it has none

    @property
    def passed(self) -> bool:
        """Whether all measured differences are within their tolerances.

        An approximate formulation is judged by its accelerations alone, against the error that it
        states.
        """
        if self.allowed > ACCELERATION_TOLERANCE:
            return self.acceleration is None or self.acceleration <= self.allowed
        measured = (
            (self.acceleration, self.allowed),
            (self.power, 10 * self.allowed),
            (self.reactions, max(self.allowed, REACTION_TOLERANCE)),
            (self.drift, max(10 * self.allowed, ENERGY_DRIFT_TOLERANCE)),
        )
        return all(value is None or value <= limit for value, limit in measured)


@dataclass(frozen=True)
class Certificate:
    """The findings of all formulations on one mechanism.

    Attributes
    ----------
    mechanism : str
        The name of the mechanism.
    states : int
        The number of random states.
    findings : tuple of Finding
        One per formulation.
    asymmetry : float
        The largest |M - M'| relative to the largest |M|.
    smallest_eigenvalue : float
        The smallest eigenvalue of the mass matrix over the states examined.
    worst : dict
        The state with the largest difference relative to its tolerance: "q", "v", "tau", "p", "a",
        "formulation", "difference" and "score".
    """

    mechanism: str
    states: int
    findings: tuple[Finding, ...]
    asymmetry: float
    smallest_eigenvalue: float
    worst: dict[str, Any] = field(default_factory=dict)

    @property
    def passed(self) -> bool:
        """Whether at least two formulations apply, all agree, and the mass matrix is symmetric and
        positive definite.
        """
        applied = [f for f in self.findings if f.acceleration is not None]
        sound = self.asymmetry <= 1e-12 and self.smallest_eigenvalue > 0
        return sound and len(applied) >= 2 and all(f.passed for f in self.findings)

    @property
    def failed(self) -> tuple[str, ...]:
        """The names of the formulations that differ, and of other tests that failed, such as that
        of the mass matrix.
        """
        found = [f.formulation for f in self.findings if not f.passed]
        applied = sum(f.acceleration is not None for f in self.findings)
        return tuple(
            found
            or (["the mass matrix"] if applied >= 2 else ["fewer than two formulations apply"])
        )

    @property
    def unfinished(self) -> tuple[str, ...]:
        """The formulations whose free runs did not finish; they were compared at random states
        alone.
        """
        return tuple(f.formulation for f in self.findings if f.unfinished)

    HEAD = ("formulation", "accelerations", "reactions", "power", "free run", "")

    def rows(self) -> list[tuple[str, ...]]:
        """Return the cells of the table: formulation, accelerations, reactions, power, drift,
        verdict.
        """

        def shown(x: float | None) -> str:
            return "-" if x is None else f"{x:.1e}"

        return [
            (
                f.formulation,
                shown(f.acceleration),
                shown(f.reactions),
                shown(f.power),
                shown(f.drift),
                f.note or _verdict(f),
            )
            for f in self.findings
        ]

    def _repr_html_(self) -> str:
        return str(
            loaded("catena.results.notebook:report")(
                f"{self.mechanism}: {self.states} random states",
                self.HEAD,
                self.rows(),
                self._lines(),
            )
        )

    def __str__(self) -> str:
        width = max(16, *(len(f.formulation) for f in self.findings))
        lines = [
            "  ".join([f"{row[0]:<{width}}", *(f"{cell:<16}" for cell in row[1:])]).rstrip()
            for row in (self.HEAD, *self.rows())
        ]
        return "\n".join([f"{self.mechanism}: {self.states} random states", *lines, *self._lines()])

    def _lines(self) -> list[str]:
        """Return the lines below the table: the mass matrix, unfinished runs, and the verdict."""
        said = (
            "the formulations agree"
            if self.passed
            else f"they do NOT agree: {', '.join(self.failed)}"
        )
        return [
            (
                f"mass matrix: asymmetry {self.asymmetry:.1e}, smallest eigenvalue"
                f" {self.smallest_eigenvalue:.3g}"
            ),
            *self.doubts(),
            said,
        ]

    def doubts(self) -> list[str]:
        """Return a sentence about free runs that did not finish; empty where all did."""
        if not self.unfinished:
            return []
        why = next(f.unfinished for f in self.findings if f.unfinished)
        return [
            f"free runs without a result: {', '.join(self.unfinished)} ({why}); these were compared"
            " at the random states alone"
        ]


def _verdict(f: Finding) -> str:
    """Return the verdict on one formulation, for the last column of the table."""
    if not f.passed:
        return "DIFFERS"
    if f.allowed > MAX_WITNESS_ERROR:
        return f"approximate: may err by {f.allowed:.0e}, which proves nothing"
    said = (
        "agrees"
        if f.allowed <= ACCELERATION_TOLERANCE
        else f"agrees within its own {f.allowed:.0e}"
    )
    return f"{said} at states; its free run was not finished" if f.unfinished else said


def check(
    mechanism: Mechanism | Machine,
    *,
    formulations: Mapping[str, Derivation] | Sequence[str] | None = None,
    states: int = 100,
    seed: int = 0,
    run: bool = True,
    near: ArrayLike | None = None,
    progress: Callable[[str], None] | None = None,
) -> Certificate:
    """Compare all formulations that apply at the same random states, forces and parameters.

    Parameters
    ----------
    mechanism : Mechanism or Machine
        The mechanism.
    formulations : sequence of str, mapping or None, default None
        Names of formulations, or {name: function from a Mechanism to Equations}; None means all.
    states : int, default 100
        The number of random states.
    seed : int, default 0
        The seed of the random numbers.
    run : bool, default True
        Whether to simulate one second of free motion with each formulation given by its name,
        without the joints' damping and friction, which no formulation treats by itself.
    near : array_like, shape (nq,), or None, default None
        Coordinates (rad or m) around which states are drawn and from which loops are closed; by
        default states are drawn anywhere, and loops are closed from the neutral configuration.
    progress : callable or None, default None
        Called with a short text before each formulation and each free run.

    Returns
    -------
    Certificate
        The findings; `print` shows them as a table, `passed` is the verdict.

    Raises
    ------
    FormulationError
        If the mechanism has no degree of freedom, or no formulation applies.

    Examples
    --------
    >>> import catena
    >>> catena.check(catena.load("two_link_arm"), states=5, run=False).passed
    True
    """
    machine = mechanism if isinstance(mechanism, Machine) else compile(mechanism)
    m = machine.mechanism
    if not machine.nv:
        raise FormulationError(
            f"mechanism {m.name!r} has no motion to check: all its joints are fixed"
        )
    asked = _asked(formulations)
    answers, notes = _answers(m, asked, progress)
    if not answers:
        raise FormulationError(
            f"mechanism {m.name!r}: no formulation applies:\n"
            + "\n".join(f"  - {n}: {why}" for n, why in notes.items())
        )
    at = random_states(machine, states, seed, near)
    first = [x[0] for x in at]
    # raises, with the name of the joint, where no force decides a motion: nothing can agree there
    machine.evaluate("forward_dynamics", *first[:3], parameters=first[3] if len(first[3]) else None)
    evidence = Evidence(machine, answers, at)
    # only formulations that have a name can be simulated by it
    named = not isinstance(formulations, Mapping)
    free = FreeRuns(machine, seed, progress) if run and named else None
    findings = []
    for name in asked:
        if name in notes:
            findings.append(Finding(name, note=notes[name]))
            continue
        drift, why = free.drift(name) if free and not answers[name].error else (None, "")
        findings.append(replace(evidence.finding(name), drift=drift, unfinished=why))
    M = machine.mass_matrix(evidence.q[: min(10, states)])
    asymmetry = float(np.abs(M - np.swapaxes(M, -1, -2)).max() / np.abs(M).max())
    return Certificate(
        m.name,
        states,
        tuple(findings),
        asymmetry,
        float(np.linalg.eigvalsh(M).min()),
        evidence.worst(),
    )


def _answers(
    m: Mechanism, asked: Mapping[str, Derivation], progress: Callable[[str], None] | None
) -> tuple[dict[str, Equations], dict[str, str]]:
    """Return the equations of each formulation that applies, and the reasons why the others do
    not.
    """
    answers, notes = {}, {}
    for name, derived in asked.items():
        if progress:
            progress(name)
        try:
            answers[name] = derived(m)
        except (FormulationError, SingularError) as error:
            notes[name] = f"does not apply: {error}"
    return answers, notes


class Evidence:
    """The accelerations and reactions of all formulations at the same states, and their medians."""

    def __init__(
        self,
        machine: Machine,
        answers: Mapping[str, Equations],
        states: tuple[Array, Array, Array, Array],
    ):
        self.answers, (self.q, self.v, self.tau, self.p) = answers, states
        self.a = {name: _rows(e.acceleration, *states) for name, e in answers.items()}
        exact = [x for name, x in self.a.items() if not answers[name].error]
        self.middle = _middle(exact or list(self.a.values()))
        self.W = {
            name: _wrenches(e, states) for name, e in answers.items() if e.reactions is not None
        }
        witnesses = [W for name, W in self.W.items() if not answers[name].error] or list(
            self.W.values()
        )
        self.between = _middle(witnesses) if len(self.W) > 1 else None
        if self.between is not None and machine.mechanism.loops:
            known = _determined(machine, self.q, self.v, self.middle, self.tau)
            self.between = np.where(known, self.between, np.nan)
        self.rate = energy_rate(machine.mechanism)

    def off(self, name: str) -> Array:
        """Return, per state, the largest difference between a formulation's accelerations and the
        median, relative to the largest acceleration of the state, or to 1 where that is smaller.
        """
        return np.abs(self.a[name] - self.middle).max(axis=1) / np.maximum(
            np.abs(self.middle).max(axis=1), 1.0
        )

    def finding(self, name: str) -> Finding:
        """Return the finding of one formulation, without a free run."""
        reactions = (
            _relative(self.W[name], self.between)
            if self.between is not None and name in self.W
            else None
        )
        power = _power(self.rate, self.q, self.v, self.a[name], self.tau, self.p)
        off = self.off(name)
        return Finding(
            name,
            float(off[_largest(off)]),
            reactions,
            power,
            None,
            max(ACCELERATION_TOLERANCE, self.answers[name].error),
        )

    def worst(self) -> dict[str, Any]:
        """Return the state with the largest difference from the median, relative to its
        tolerance.
        """
        worst: dict[str, Any] = {"score": -1.0}
        for name, a in self.a.items():
            off = self.off(name)
            k = _largest(off)
            score = (
                float(off[k]) / max(ACCELERATION_TOLERANCE, self.answers[name].error)
                if np.isfinite(off[k])
                else np.inf
            )
            if score > worst["score"]:
                worst = {
                    "score": score,
                    "difference": float(off[k]),
                    "formulation": name,
                    "q": self.q[k],
                    "v": self.v[k],
                    "tau": self.tau[k],
                    "p": self.p[k],
                    "a": a[k],
                }
        return worst


def _largest(off: Array) -> int:
    """Return the index of the largest entry; an entry that is not finite counts as largest."""
    return int(np.argmax(np.where(np.isfinite(off), off, np.inf)))


def random_states(
    machine: Machine, states: int, seed: int, near: ArrayLike | None = None
) -> tuple[Array, Array, Array, Array]:
    """Return random q, v, tau and parameters (within a fifth of their values), one row per state.

    With loops, q and v are assembled and the parameters keep their values. near: coordinates (nq,)
    around which q is drawn.
    """
    rng = np.random.default_rng(seed)
    q, v, tau = machine.sample(rng, states), *rng.standard_normal((2, states, machine.nv))
    values = np.array(list(machine.mechanism.parameters.values()))
    p = values * rng.uniform(0.8, 1.2, (states, len(values)))
    start = machine.neutral() if near is None else np.asarray(near, float)
    if near is not None:
        q = machine.move(
            np.broadcast_to(start, q.shape), 0.2 * rng.standard_normal((states, machine.nv))
        )
    if machine.rows:
        p[:] = values  # a loop closes for its own parameters
        for k in range(states):
            q[k], v[k] = assemble(
                machine, machine.move(start, 0.2 * rng.standard_normal(machine.nv)), v[k]
            )
    return q, v, tau, p


def energy_rate(m: Mechanism) -> ca.Function:
    """Return the function (t, q, v, a, tau, p) -> dE/dt of that motion, power of tau and of loads
    (W).
    """
    s = Tracer(layout(m))
    energy = s.energy()
    total = energy[0] + energy[1]
    along = ca.jtimes(total, s.q, s.coordinate_rate()) + ca.jtimes(total, s.v, s.a)
    power = ca.dot(s.tau, s.v)
    if m.loads:
        power += ca.dot(s.applied.generalised(), s.v) + ca.jtimes(
            s.applied.energy, s.q, s.coordinate_rate()
        )
    return ca.Function("energy_rate", [s.t, s.q, s.v, s.a, s.tau, s.p], [along, power])


def _asked(formulations: Mapping[str, Derivation] | Sequence[str] | None) -> dict[str, Derivation]:
    """Return {name: function that derives the equations} of the requested formulations."""
    if isinstance(formulations, Mapping):
        return dict(formulations)
    return {name: partial(derive, by=name) for name in formulations or families.ALL_FORMULATIONS}


def _rows(f: ca.Function, q: Array, v: Array, tau: Array, p: Array) -> Array:
    """Return the values of a traced function at all states and time zero, (states, ...)."""
    n = len(q)
    out = f.map(n)(np.zeros((1, n)), q.T, v.T, tau.T, p.T)
    return np.array(ca.DM(out)).T.reshape(n, -1) if f.size2_out(0) == 1 else _stacked(out, n)


def _wrenches(e: Equations, states: tuple[Array, Array, Array, Array]) -> Array:
    """Return the wrenches in all joints, those of loops last, (states, 6 joints)."""
    loops = e.loop_reactions
    found = [_rows(f, *states) for f in (e.reactions, loops) if f is not None]
    return np.concatenate(found, axis=1)


def _stacked(out: Any, n: int) -> Array:
    """Return a mapped matrix output of CasADi as rows, (n, entries)."""
    rows = np.array(ca.DM(out))
    return np.stack(np.split(rows, n, axis=1)).reshape(n, -1)


def _middle(answers: Sequence[Array]) -> Array:
    """Return the median of the finite values, entry by entry; zero where no value is finite."""
    found = np.stack(answers)
    found = np.where(np.isfinite(found), found, np.nan)
    none = np.isnan(found).all(axis=0)
    return np.nanmedian(np.where(none, 0.0, found), axis=0)


def _determined(machine: Machine, q: Array, v: Array, a: Array, tau: Array) -> Array:
    """Return which components of all joints' wrenches the motion determines, (states, 6 joints).

    Redundant constraint rows leave some undetermined.
    """
    found = reactions(machine, q, v, a, tau)
    m = machine.mechanism
    return np.isfinite(np.concatenate([found[j.name] for j in (*m.ordered, *m.loops)], axis=-1))


def _relative(x: Array, y: Array) -> float:
    """Return the largest difference of x and y, relative to the largest entry of the state or to 1.

    Entries that y does not determine (NaN) are left out; entries of x that are not finite count as
    an infinite difference.
    """
    known = np.isfinite(y)
    scale = np.maximum(np.where(known, np.abs(y), 0.0).max(axis=1, keepdims=True), 1.0)
    off = np.where(np.isfinite(x), np.abs(x - y), np.inf)
    return float(np.where(known, off / scale, 0.0).max(initial=0.0))


def _power(rate: ca.Function, q: Array, v: Array, a: Array, tau: Array, p: Array) -> float:
    """Return the largest residual of the power balance, relative to |a . v|, the power, or 1
    (W).
    """
    n = len(q)
    found = rate.map(n)(np.zeros((1, n)), q.T, v.T, a.T, tau.T, p.T)
    change, power = (np.array(x).ravel() for x in found)
    scale = np.maximum(np.abs(a * v).sum(axis=1), np.maximum(np.abs(power), 1.0))
    return float((np.abs(change - power) / scale).max())


class FreeRuns:
    """One second of free motion by one formulation after another, all from the same start.

    Damping and dry friction of joints are left out. They are added to the forces of every
    formulation in the same way, so that they do not test it, and in many robots they make a run
    stiff.
    """

    def __init__(self, machine: Machine, seed: int, progress: Callable[[str], None] | None = None):
        self.machine = without_losses(machine)
        self.start = random_states(machine, 1, seed + 1)
        self.progress = progress
        self.ended = (
            ""  # the first that did not finish; the others, being the same motion, are not tried
        )

    def drift(self, name: str) -> tuple[float | None, str]:
        """Return the energy drift relative to the largest kinetic energy, or None and the
        reason.
        """
        from ..simulation import simulate

        if self.ended:
            return None, f"that by {self.ended} was not finished"
        if self.progress:
            self.progress(f"{name}, a free run")
        q, v, _, _ = self.start
        try:
            run = simulate(
                self.machine,
                q[0],
                0.1 * v[0],
                until=1.0,
                by=name,
                output=0.1,
                limits="ignore",
                most_steps=FREE_RUN_MAX_STEPS,
            )
            return run.ledger.relative_energy_balance, ""
        except CatenaError as error:
            self.ended = name
            return None, str(error).partition(". What was computed")[0]


def without_losses(machine: Machine) -> Machine:
    """Return the machine of the same mechanism with joints that have no damping and no friction."""
    m = machine.mechanism
    if not any(x != 0.0 for j in (*m.joints, *m.loops) for x in (*j.damping, *j.friction)):
        return machine
    joints, loops = (
        tuple(replace(j, damping=(0.0,) * j.nv, friction=(0.0,) * j.nv) for j in these)
        for these in (m.joints, m.loops)
    )
    return compile(m.with_(joints=joints, loops=loops))
