"""Messages that say why a run could not go on: when, where, the likely reason, and what to do."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ... import analysis
from ...errors import CatenaError, SingularError
from ...kernels import EXACT, RANK
from ...machine import Machine, metric, spaces
from ..integrators import drivers
from ..integrators.engine import Engine
from ..integrators.lane_stiffness import IMPLICIT
from ..integrators.stiffness import largest_rate, methods_sentence
from .dead_positions import DEAD_POSITION_VALUE, deadlock

Array = np.ndarray
# rate of a decay or vibration (1/s): with a faster one, and speeds (m/s, rad/s) below the second, a
# system is called stiff
STIFF_RATE, CALM_SPEED = 1e8, 1e4
# singular value of the constraint rows in the metric of `kernels.rank`: with a smaller one that is
# not zero, a singular configuration is near
SINGULAR_ROWS = 1e-3
# eigenvalue of the mass matrix scaled to a unit diagonal: a smaller one is close to rounding
SINGULAR_INERTIA = 1e-10
# steps to the end at the pace of the last slice, relative to the steps that are allowed: with more
# a slice makes no progress, and after so many such slices in a row a run ends
HOPELESS_STEPS, HOPELESS_SLICES = 1e3, 10
MANY_STEPS = 100_000  # with more steps the ledger says where a run took them
# step times the largest rate: with more, stability limits the steps of an explicit method
STABLE_STEP = 0.5


def sentence(machine: Machine, engine: Engine, status: int, t: float) -> str:
    """Return a message with what happened at t (s), the state there, and the likely reason. status:
    see `drivers.OUTCOMES`.
    """
    message = f"{drivers.OUTCOMES[status]} at t = {t:.9g} s"
    if status in (drivers.REACHED, drivers.EVENT):
        return drivers.OUTCOMES[status]
    try:
        q, v = _last(engine)
        why = _reason(machine, engine, status, t, q, v)
    except SingularError as error:
        return f"the run cannot go on at t = {t:.9g} s: {error}"
    except (CatenaError, ArithmeticError, np.linalg.LinAlgError) as error:
        return f"{message}; {error}"
    return f"{message}, {_where(machine, q, v)}; {why}"


@dataclass
class SlowestSlice:
    """The slice in which a run advanced most slowly. span: the shortest time (s) in which it took
    all the steps of a slice; t, x: the time (s) and the state at the end of that slice. stuck: the
    number of consecutive slices without progress.
    """

    span: float = np.inf
    t: float = 0.0
    x: Array = field(default_factory=lambda: np.zeros(0))
    stuck: int = 0

    def compare(self, began: float, ended: float, engine: Engine) -> None:
        """Update the record after a slice that ended because of its number of steps."""
        if ended - began < self.span:
            self.span, self.t, self.x = ended - began, ended, engine.x[:, 0].copy()

    def is_hopeless(self, began: float, ended: float, until: float, steps: int, most: int) -> bool:
        """Return whether the run would not reach `until` (s), extrapolated from this slice and
        those before it: where rounding decides the steps, as at a singular configuration, they stay
        tiny. steps: of the slice. most: the number of steps that the run is allowed.
        """
        slow = (until - ended) * steps > HOPELESS_STEPS * most * (ended - began)
        self.stuck = self.stuck + 1 if slow else 0
        return self.stuck >= HOPELESS_SLICES

    def sentence(self, machine: Machine, engine: Engine) -> str:
        """Return a message that the run needed many steps, where, and the likely reason; "" if it
        did not.
        """
        taken = engine.tally.accepted + engine.tally.rejected
        if taken < MANY_STEPS or not len(self.x):
            return ""
        s, p = engine.system, engine.p[:, 0]
        q, v = (np.array(a).ravel() for a in s.equations.decode(self.x[: s.nx], p))
        given = p if len(p) else None
        try:
            why = _dead(machine, engine, self.t, q, v, given) or _condition(
                machine, q, v, given, self.t
            )
        except (CatenaError, ArithmeticError, np.linalg.LinAlgError):
            why = ""
        why = why or "something stiff, or a force that jumps, is likely there"
        return f"it took {taken} steps, the shortest near t = {self.t:.6g} s: {why}"


def _last(engine: Engine) -> tuple[Array, Array]:
    """Return q and v of the lane that explains the failure: one whose speeds are not finite, else
    the fastest one.
    """
    s = engine.system
    pairs = [s.equations.decode(engine.x[: s.nx, l], engine.p[:, l]) for l in range(engine.W)]
    states = [tuple(np.array(x).ravel() for x in pair) for pair in pairs]
    size = [np.inf if not np.isfinite(v).all() else np.abs(v).max(initial=0.0) for _, v in states]
    q, v = states[int(np.argmax(size))]
    return q, v


def _where(machine: Machine, q: Array, v: Array) -> str:
    """Return a text with the values of the first coordinates, or with the name of one that is not
    finite.
    """
    for names, x in ((machine.coordinate_names, q), (machine.speed_names, v)):
        bad = [n for n, y in zip(names, x) if not np.isfinite(y)]
        if bad:
            return (
                f"{'where' if names is machine.coordinate_names else 'where the speed of'}"
                f" {bad[0]!r} is not finite"
            )
    shown = ", ".join(f"{n} = {x:.6g}" for n, x in list(zip(machine.coordinate_names, q))[:6])
    fastest = int(np.abs(v).argmax()) if len(v) else 0
    more = ", ..." if len(q) > 6 else ""
    return f"at {shown}{more}" + (
        f", fastest {machine.speed_names[fastest]!r} at {v[fastest]:.4g}" if len(v) else ""
    )


def _reason(machine: Machine, engine: Engine, status: int, t: float, q: Array, v: Array) -> str:
    """Return the likely reason for this status at the state (q, v), and what to do."""
    if status == drivers.TOO_MANY:
        return _too_many(engine, t)
    if status == drivers.NOT_SOLVED:
        return (
            f"the step is {engine.step:.3g} s: take a smaller one, about a tenth of the fastest"
            " vibration's period"
        )
    if not (np.isfinite(q).all() and np.isfinite(v).all()):
        return _blown_up(machine, engine)
    p = engine.p[:, 0] if len(engine.p) else None
    if message := _dead(machine, engine, t, q, v, p) or _condition(machine, q, v, p, t):
        return message
    still = np.zeros(machine.nv)
    machine.evaluate("forward_dynamics", q, v, still, parameters=p, t=t, check=False)  # may raise
    if (
        not _is_implicit(engine)
        and fastest(engine, t) > STIFF_RATE
        and np.abs(v).max(initial=0.0) < CALM_SPEED
    ):
        return _stiff(engine, t)
    return (
        "a force is likely to jump or to grow without bound there: make it smoother, or end the run"
        " before, with an event"
    )


def _is_implicit(engine: Engine) -> bool:
    """Whether an implicit method advances the run."""
    return engine.method.kind == "library" or bool(engine.watch[0, IMPLICIT])


def _too_many(engine: Engine, t: float) -> str:
    """Return the message for a run that reached its limit of steps: what was tried, the likely
    reason, and what to do.
    """
    rate = fastest(engine, t)
    if not _is_implicit(engine) and rate * engine.h > STABLE_STEP:
        return f"{engine.most} steps were allowed: {_stiff(engine, t)}"
    tried = methods_sentence(engine.method, engine.tally.switches)
    return (
        f"{engine.most} steps were allowed, by {tried}; its fastest part changes within"
        f" {1.0 / rate if rate else np.inf:.2g} s, and its steps were {abs(engine.h):.2g} s: raise"
        " most_steps, or loosen the tolerance"
    )


def _dead(machine: Machine, engine: Engine, t: float, q: Array, v: Array, p: Array | None) -> str:
    """Return a message if a loop is close to a dead position, in which the joints that are not
    driven cannot follow; else "".
    """
    found = deadlock(machine, engine.system, t, q, v, p)
    if found is None or found.value > DEAD_POSITION_VALUE:
        return ""
    d = engine.system.driven
    driven = [] if d is None else [f"{machine.coordinate_names[k]} = {q[k]:.6g}" for k in d.qi]
    at = f" at {', '.join(driven)}" if driven else ""
    return (
        f"the loop that {found.loop!r} closes is close to a dead position{at}: {found.joint!r}"
        f" would have to move infinitely fast there (smallest singular value {found.value:.2g}"
        " relative to the largest). Keep away from it, or change the lengths of that loop"
    )


def _condition(machine: Machine, q: Array, v: Array, p: Array | None, t: float) -> str:
    """Return a message if the constraint rows or the mass matrix nearly lose rank at this state;
    else "". It is tried before explanations by large forces.
    """
    if machine.rows:
        by = metric(machine)
        A = machine.constraint_rows(q, v, p, t)[3]
        here = spaces(A, by, np.sqrt(RANK))
        least = here.values[(here.values > EXACT) & (here.values < SINGULAR_ROWS)]
        if len(least) or analysis.highest_rank(machine, q, spaces(A, by).T) > here.rank:
            left = (
                f"{here.rank} of {len(A)} rows are left, the others were dropped"
                if here.rank < len(A)
                else "none was dropped yet"
            )
            return (
                "a singular configuration is likely: the rows of loops all but lose rank there, so"
                " that branches of motion meet (smallest singular value"
                f" {least.min(initial=EXACT):.2g}; {left})"
            )
    M = machine.mass_matrix(q, p)
    size = np.sqrt(np.diag(M))
    if (size > 0).all() and (
        least_inertia := np.linalg.eigvalsh(M / np.outer(size, size))[0]
    ) < SINGULAR_INERTIA:
        return (
            f"the mass matrix is all but singular there (smallest eigenvalue {least_inertia:.2g}"
            f" relative to its diagonal): {_weakest(machine, M / np.outer(size, size))} move"
            " together with no inertia behind them, because their axes are in one line or their"
            " bodies have no inertia. Give such joints a rotor inertia: load(..., armature=1e-4),"
            " kg m2 or kg"
        )
    return ""


def _weakest(machine: Machine, S: Array) -> str:
    """Return the names of the speeds that take part in the motion with the least inertia. S (nv,
    nv): the mass matrix, scaled to a unit diagonal.
    """
    motion = np.abs(np.linalg.eigh(S)[1][:, 0])
    names = [machine.speed_names[k] for k in np.argsort(-motion) if motion[k] > 0.3]
    return " and ".join(repr(name) for name in names[:3])


def _stiff(engine: Engine, t: float) -> str:
    """Return the message for a stiff system, with its shortest time constant."""
    partner = engine.method.stiff
    what = (
        f"{partner} would take over after some more steps: raise most_steps"
        if partner
        else "integrator='rodas6p', to which the default 'auto' changes, is made for it"
    )
    return (
        "a stiff spring, damper or controller is likely: something changes within"
        f" {1.0 / fastest(engine, t):.2g} s; {what}"
    )


def _blown_up(machine: Machine, engine: Engine) -> str:
    """Return the message for a state that is not finite."""
    if not engine.method.chooses_steps:
        return (
            f"the step of {engine.step:.3g} s may be too long: halve it, or take an adaptive"
            " integrator such as dop853"
        )
    return (
        "an inertia may vanish or a force grow without bound;"
        " catena.compile(mechanism).forward_dynamics names the joint"
    )


def fastest(engine: Engine, t: float) -> float:
    """Return the largest |eigenvalue| of the Jacobian at the engine's state, 1/s; NaN where the
    Jacobian is not finite.
    """
    size = len(engine.x)
    J = engine.evaluate("jacobian", t)[0][:, 0].reshape(size, size)
    return largest_rate(J)
