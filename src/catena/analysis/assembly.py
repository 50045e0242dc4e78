"""Assembly: find coordinates that close every loop, starting from a guess, and speeds that keep the
loops closed.

Damped Gauss-Newton steps (Levenberg-Marquardt) reduce the residuals e(q) along the speeds:

    d = -A' (A A' + mu)^-1 e,      q <- q moved by d

Residuals are relative to the lengths of their loops, and translations relative to the lengths of
`kernels.rank`, so that the result does not depend on units. The search begins at the guess and
restarts from other configurations around it. Each start is first solved with rotation vectors in
place of the cosines of the rows (`joint_orientation.turns`), and then with the rows themselves,
down to rounding. A loop is closed if the residuals of all its rows vanish, also of those rows that
no joint can change, and if the two sides of its joint point the same way.

Where the guess is within the limits of joints and the configuration found is not, the search is
repeated within them (`limits`); what it finds is preferred.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import ClosureError, StateError
from ..machine import (
    Machine,
    Rows,
    all_speeds_of,
    is_batch,
    least_change,
    machine_of,
    metric,
    openings,
    position_count,
    rows_at,
    spaces,
    state,
    states,
    where,
)
from ..model import Mechanism
from ..registry import loaded
from .assembly_in_lanes import assemble_rows
from .closure_search import (
    CLOSED,
    MAX_STARTS,
    MAX_STARTS_WITHIN_LIMITS,
    MAX_STEP_NORM,
    MAX_STEPS,
    MIN_DAMPING,
    NEARLY_CLOSED,
    OPENING_RATE_TOLERANCE,
    START_SPREADS,
    by_loop,
    called,
    fastest,
    regular,
    search_sizes,
    shortened,
)
from .joint_orientation import turns, upside_down
from .limits import are_within, clamped, limited, movable

Array = np.ndarray
Residual = Callable[["Machine", np.ndarray], tuple[np.ndarray, np.ndarray]]


def assemble(
    m: Mechanism | Machine,
    q: ArrayLike | None = None,
    v: ArrayLike | None = None,
    fixed: Iterable[str] = (),
    *,
    parameters: Mapping[str, ArrayLike] | None = None,
    contact: bool = False,
    t: float = 0.0,
) -> tuple[Array, Array]:
    """Return coordinates that close every loop, and speeds that keep them closed.

    Parameters
    ----------
    m : Mechanism or Machine
        The mechanism, or the machine compiled from it.
    q : array (nq,) or (..., nq), optional
        The guess, rad or m. By default every coordinate is zero.
    v : array (nv,) or (..., nv), optional
        The wanted speeds, rad/s or m/s. By default zero.
    fixed : iterable of str, optional
        Names of joints or coordinates that keep the value and the speed that they have in `q` and
        `v`.
    parameters : mapping of str to float or array, optional
        Values of the mechanism's parameters, one for all starts or one per start.
    contact : bool, default False
        Also separate what penetrates in the contacts of the mechanism. For a single start only.
    t : float, default 0.0
        The time (s) at which drives, constraints and speed rows that depend on time are evaluated.
        For a single start only.

    Returns
    -------
    q : ndarray (nq,) or (..., nq)
        Coordinates near the guess that close every loop; within the limits of joints where the
        guess is and a configuration within them is found.
    v : ndarray (nv,) or (..., nv)
        The speeds that minimise (v - v_given)' M (v - v_given) under A v + B = 0, where B is not
        zero only for speed rows that depend on time.

    Raises
    ------
    ClosureError
        If a loop stays open; `.gaps` says which, and by how much. For a batch, `.failed` gives the
        reason for each start that failed, and `.q` and `.v` hold the others.
    StateError
        If `contact` or `t` is given for a batch, or an argument has the wrong shape.

    Notes
    -----
    Arguments with leading dimensions are a batch: all starts are assembled at once, in lanes.

    Examples
    --------
    >>> import catena
    >>> q, v = catena.assemble(catena.load("four_bar"))
    >>> q.round(3).tolist(), v.tolist()
    ([-2.216, 1.671, 1.775], [0.0, 0.0, 0.0])
    """
    machine = machine_of(m)
    if parameters is not None or is_batch("assemble", q=q, v=v):
        if contact:
            raise StateError(
                "assemble: contact=True works for one start only, without `parameters`; call it"
                " for each start, with parameters set by mechanism.with_(parameters=...)"
            )
        if t:
            raise StateError(
                "assemble: t works for one start only, without `parameters`; call it for each"
                " start, with parameters set by mechanism.with_(parameters=...)"
            )
        return _rows(machine, q, v, all_speeds_of(machine, fixed), parameters)
    if not abs(t) < np.inf:
        raise StateError(f"assemble: t = {t}; it is a time, s")
    q, v = state(machine, "assemble", q=q, v=v)
    held = all_speeds_of(machine, fixed)
    free = [k for k in range(machine.nv) if k not in held]
    q = closed(machine, q, free, t)
    if contact:
        separated: Callable[..., Array] = loaded("catena.analysis.contact_separation:separated")
        q = separated(machine, q, free)
    return q, consistent(machine, q, v, free, t)


def _rows(
    machine: Machine, q: Any, v: Any, held: list[int], parameters: Any
) -> tuple[Array, Array]:
    """Assemble a batch of starts; returns q (..., nq) and v (..., nv)."""
    q, v, p, lead = states(machine, "assemble", q, v, parameters)
    free = [k for k in range(machine.nv) if k not in held]
    # flexible bodies are bent only if necessary, start by start
    if parameters is None and machine.mechanism.elastic:
        pairs = [closed(machine, one, free) for one in q]
        q = np.array(pairs)
        v = np.array([consistent(machine, *both, free) for both in zip(pairs, v)])
    elif parameters is not None:
        q, v = assemble_rows(machine, q, v, free, p)
    else:
        guess, wanted = q, v
        q, v = assemble_rows(machine, q, v, free, None)
        bounds = limited(machine)
        for k in np.flatnonzero(are_within(guess, bounds) & ~are_within(q, bounds)):
            q[k] = preferred(machine, guess[k], q[k], free, 0.0)
            v[k] = consistent(machine, q[k], wanted[k], free)
    return q.reshape(*lead, -1), v.reshape(*lead, -1)


def closed(machine: Machine, q: Array, free: list[int], t: float = 0.0) -> Array:
    """Return coordinates (nq,) near q that close every loop at time t (s); only the speeds with
    indices in `free` move. If a start fails, others around q are tried. Raises a ClosureError if
    none succeeds.
    """
    if not machine.mechanism.closes:
        return q
    inner = set(
        all_speeds_of(machine, [j.name for j in machine.mechanism.elastic if j.mimic is None])
    )
    rigid = [k for k in free if k not in inner]
    if inner and len(rigid) >= _position_rank(machine, q):
        # first keep flexible bodies undeformed: a beam is bent by forces, not by assembly
        try:
            return _close(machine, q, rigid, t)
        except ClosureError:
            pass
    return _close(machine, q, free, t)


def _position_rank(machine: Machine, q: Array) -> int:
    """Return the rank of the constraint rows of positions at q."""
    which = slice(position_count(machine))
    return spaces(
        machine.constraint_rows(q, np.zeros(machine.nv))[3][which], metric(machine).rows(which)
    ).rank


def _close(machine: Machine, q: Array, free: list[int], t: float) -> Array:
    """Return the first configuration, over all starts, that closes every loop; raise a ClosureError
    about the best one if there is none.
    """
    best, least = q, np.inf
    for start in starts(machine, q, free):
        found = gauss_newton(
            machine,
            gauss_newton(machine, start, free, partial(far, t=t)),
            free,
            partial(residual, t=t),
        )
        gap = openings(machine, rows_at(machine, found, t=t)).max(initial=0.0)
        turned = upside_down(machine, found)
        nearly = free and start is q and gap < NEARLY_CLOSED
        if (gap < CLOSED or nearly) and not turned:
            return preferred(machine, q, found, free, t)
        if gap + len(turned) < least:
            best, least = found, gap + len(turned)
        if not free:
            break
    raise _open(machine, best, free, t)


def preferred(machine: Machine, guess: Array, found: Array, free: list[int], t: float) -> Array:
    """Return a configuration near the guess that closes every loop within the limits of joints,
    where the guess is within them; otherwise `found` (nq,), which closes every loop.
    """
    bounds = limited(machine)
    if are_within(found, bounds) or not are_within(guess, bounds):
        return found
    allowed = max(CLOSED, openings(machine, rows_at(machine, found, t=t)).max(initial=0.0))
    for start in starts(machine, guess, free, MAX_STARTS_WITHIN_LIMITS):
        q = clamped(start, bounds)
        for of in (far, residual):
            q = damped_steps(
                machine,
                q,
                partial(of, t=t),
                lambda q, pull: movable(q, pull, bounds, free),
                lambda q: clamped(q, bounds),
            )
        gap = openings(machine, rows_at(machine, q, t=t)).max(initial=0.0)
        if gap < allowed and not upside_down(machine, q):
            return q
    return found


def starts(machine: Machine, q: Array, free: list[int], count: int = MAX_STARTS) -> Iterator[Array]:
    """Yield the guess q, then `count - 1` configurations around it, at the distances of
    START_SPREADS in turn. The random numbers have a fixed seed, so that the sequence is always the
    same.
    """
    yield q
    rng = np.random.default_rng(4)
    unit = np.sqrt(metric(machine).column)
    for k in range(count - 1):
        change = np.zeros(machine.nv)
        change[free] = (
            START_SPREADS[k % len(START_SPREADS)] * rng.standard_normal(len(free)) * unit[free]
        )
        yield machine.move(q, change)


def gauss_newton(machine: Machine, q: Array, free: list[int], of: Residual | None = None) -> Array:
    """Return q (nq,) after damped steps of the free speeds towards e(q) = 0. `of` is the residual
    function, by default `residual`.
    """
    if not position_count(machine) or not free:
        return q
    return damped_steps(machine, q, of or residual, lambda q, pull: free)


def damped_steps(
    machine: Machine,
    q: Array,
    of: Residual,
    free: Callable[[Array, Array], list[int]],
    within: Callable[[Array], Array] = lambda q: q,
    reach: float = MAX_STEP_NORM,
) -> Array:
    """Return q (nq,) after damped Gauss-Newton steps (Levenberg-Marquardt) towards e(q) = 0, taken
    until they no longer reduce |e|.

    of(machine, q) returns e (m,), of order one or less, and its Jacobian (m, nv). free(q, pull)
    returns the indices of the speeds that may move, where `pull` (nv,) is the direction -A' e of
    descent. within(q) returns the admissible configuration nearest to q. reach is the largest norm
    of a step (rad, or lengths of the mechanism).
    """
    unit = np.sqrt(metric(machine).column)
    error, A = of(machine, q)
    mu, size = 1e-3, float(error @ error)
    for _ in range(MAX_STEPS):
        moving = free(q, -A.T @ error)
        step = np.zeros(machine.nv)
        J = A[:, moving] * unit[moving]
        step[moving] = unit[moving] * shortened(
            -J.T @ np.linalg.solve(J @ J.T + mu * np.eye(len(error)), error), reach
        )
        trial = within(machine.move(q, step))
        trial_error, trial_A = of(machine, trial)
        trial_size = float(trial_error @ trial_error)
        if trial_size < size:
            # a small reduction ends the search only if the step was not damped
            still = trial_size > 0.9999 * size and mu <= MIN_DAMPING
            q = trial
            error = trial_error
            A = trial_A
            size = trial_size
            mu = max(0.1 * mu, MIN_DAMPING)
            if still or size < 1e-30:
                break
        else:
            mu *= 8.0
            if mu > 1e8 or size < 1e-30:
                break
    return q


def residual(machine: Machine, q: Array, t: float = 0.0) -> tuple[Array, Array]:
    """Return the residuals of the position rows that can act, relative to the sizes of the rows,
    and the Jacobian A with the same scaling.
    """
    error, _, _, A = machine.constraint_rows(q, np.zeros(machine.nv), t=t)
    count = position_count(machine)
    size = search_sizes(machine, A[:count])
    return error[:count] / size, A[:count] / size[:, None]


def far(machine: Machine, q: Array, t: float = 0.0) -> tuple[Array, Array]:
    """Return residuals and their Jacobian for a search that starts far from the solution: those of
    `residual`, but with rotation vectors in place of cosines for joints whose two sides must point
    the same way.
    """
    (error, A), (vectors, rates, names) = residual(machine, q, t), turns(machine, q)
    keep = [
        k
        for k in range(len(error))
        if machine.rows[k][0] not in names or not machine.rows[k][1].startswith("rotation")
    ]
    return np.concatenate([error[keep], vectors]), np.vstack([A[keep], rates])


def consistent(machine: Machine, q: Array, v: Array, free: list[int], t: float = 0.0) -> Array:
    """Return the speeds nearest to v in kinetic energy that keep the loops closed; only the free
    speeds change.

    The result is v - M_ff^-1 A_f' (A_f M_ff^-1 A_f')^+ (A v + B). Raises a ClosureError if the
    fixed speeds contradict the loops.
    """
    if not machine.mechanism.closes and not machine.rows:
        return v
    rows = rows_at(machine, q, v, t)
    M = machine.mass_matrix(q)
    given, v = v, v.copy()
    if free and rows.names:
        by = metric(machine, acting=False).speeds(free)
        A = rows.A[:, free]
        v[free] -= least_change(regular(M[np.ix_(free, free)], A, by), A, rows.rate, by)[0]
    left = np.abs(rows.rate + rows.A @ (v - given))
    by = metric(machine, acting=False)
    if by.relative(left, rows.A).max(initial=0.0) > OPENING_RATE_TOLERANCE * fastest(
        by, rows.A, rows.rate, given, v
    ):
        gaps = by_loop(rows.names, left)
        worst = max(gaps, key=lambda name: gaps[name])
        raise ClosureError(
            f"{where(machine)}: the fixed speeds open {called(machine.mechanism, worst)} at"
            f" {gaps[worst]:.3g} m/s (or rad/s); fix fewer speeds, or give values that agree with"
            " the loops",
            gaps,
        )
    return v


def _open(machine: Machine, q: Array, free: list[int], t: float) -> ClosureError:
    """Return the ClosureError that says which loops stay open at q, and by how much."""
    rows = rows_at(machine, q, t=t)
    apart = by_loop(rows.names, openings(machine, rows))
    turned = upside_down(machine, q)
    gaps = {n: x for n, x in by_loop(rows.names, np.abs(rows.error)).items() if apart[n] > CLOSED}
    if not gaps:
        text = (
            f"loop {turned[0]!r} closes only with its two sides pointing opposite ways; reverse its"
            " axis"
        )
        return ClosureError(f"{where(machine)}: {text}", dict.fromkeys(turned, 2.0))
    sentences = [
        _sentence(machine, rows, name, free) for name in sorted(gaps, key=lambda n: -apart[n])[:5]
    ]
    tried = "with every coordinate fixed" if not free else f"the best of {MAX_STARTS} starts"
    return ClosureError(
        f"{where(machine)} cannot be assembled: {'; '.join(sentences)} ({tried}). "
        "Check the lengths of the bodies in the loop, or give a better guess",
        gaps,
    )


def _sentence(machine: Machine, rows: Rows, loop: str, free: list[int]) -> str:
    """Return the part of an error message that describes the worst row of one open loop."""
    apart = openings(machine, rows)
    worst = max(
        (k for k, (name, _) in enumerate(rows.names) if name == loop), key=lambda k: apart[k]
    )
    label = rows.names[worst][1]
    size = abs(rows.error[worst])
    if any(x.name == loop for x in machine.mechanism.constraints):
        unit = "(m or rad)"
        label = f"row {label!r}"
    else:
        unit = "m" if not label.startswith("rotation") else "(cosine)"
    stuck = (
        np.abs(metric(machine, acting=False).scaled(rows.A)[worst, free]).max(initial=0.0) < 1e-9
    )
    tail = ", where no joint that is free moves it" if stuck else ""
    return f"{called(machine.mechanism, loop)} stays open by {size:.3g} {unit} in its {label}{tail}"
