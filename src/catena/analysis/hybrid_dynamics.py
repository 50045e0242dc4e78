"""Hybrid dynamics: for each coordinate either the motion or the force is given, and the other is
computed.

[Passerello1972] eq. 3.30-3.31, here with loops. With f for the coordinates whose force is given and
d for those whose motion is given:

    [ M_ff  A_f' ] [  a_f ]   [ tau_f - b_f - M_fd a_d ]
    [ A_f    0   ] [ -lam ] = [ gamma - A_d a_d    ]        then        tau_d = (M a + b - A' lam)_d

b includes the damping and friction of the joints, so that tau is what the motors provide, as in a
simulation and in `catena inverse`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..errors import QuestionError
from ..kernels import motion_without_energy
from ..machine import (
    Machine,
    Terms,
    by_speed,
    least_change,
    machine_of,
    metric,
    spaces,
    state,
    terms,
    torn_row,
    where,
)
from ..model import Mechanism
from .dry_friction import held, losses_in_motion
from .projection import possible_state, require_apart

Array = np.ndarray
# Accelerations that open a loop, relative to the terms that cancel in its rows, tear it above this.
TEARING_RATIO = 1e-7
# A driven speed whose row entries have a larger share in combinations of rows that the other speeds
# do not feel, relative to all of its entries, has a force that is not determined.
UNDETERMINED_RATIO = 1e-8


def hybrid_dynamics(
    m: Mechanism | Machine,
    q: Any,
    v: Any,
    motion: Mapping[str, Any] | None = None,
    force: Mapping[str, Any] | None = None,
    wrenches: Any = None,
    t: float = 0.0,
    project: bool = False,
) -> tuple[Array, Array]:
    """Return all joint forces and all accelerations, where some of each are given.

    Parameters
    ----------
    m : Mechanism or Machine
        The mechanism, or the machine compiled from it.
    q : array (nq,)
        Coordinates, rad or m.
    v : array (nv,)
        Speeds, rad/s or m/s.
    motion : mapping of str to float or array, optional
        Given accelerations by coordinate or joint, rad/s2 or m/s2; one value per speed of a joint.
    force : mapping of str to float or array, optional
        Given forces by coordinate or joint, N m or N; one value per speed of a joint. A speed that
        is in neither mapping has the force zero.
    wrenches : mapping, optional
        External wrenches on frames, as in `Machine.inverse_dynamics`.
    t : float, default 0.0
        The time (s), for loads that depend on it.
    project : bool, default False
        Use the admissible state nearest to `q` and `v` (`assemble`) instead of refusing one that
        violates the loops.

    Returns
    -------
    tau : ndarray (nv,)
        The forces of the motors, N m or N. Damping and friction of the joints act in addition, as
        in `simulate`: a joint at rest that is not driven is held by its dry friction where that
        suffices. `machine.losses(v)` has the friction smoothed over small speeds.
    a : ndarray (nv,)
        The accelerations, rad/s2 or m/s2.

    Raises
    ------
    ClosureError
        If the state leaves a loop open or its speeds open one, and `project` is False.
    QuestionError
        If there is no answer (the given motion tears a loop open, or a coordinate with a given
        force has no inertia), or more than one (more coordinates are driven than the mechanism has
        degrees of freedom), or a contact touches and no wrenches are given.

    Examples
    --------
    >>> import catena
    >>> arm = catena.load("two_link_arm")
    >>> tau, a = catena.hybrid_dynamics(arm, [0.3, 0.5], [0.0, 0.0], motion={"shoulder": 0.0})
    >>> bool(tau[1] == 0.0), bool(a[0] == 0.0)
    (True, True)
    """
    machine = machine_of(m)
    q, v = state(machine, "hybrid dynamics", q=q, v=v)
    driven = by_speed(machine, "hybrid dynamics", motion)
    forced = by_speed(machine, "hybrid dynamics", force)
    if both := sorted(driven.keys() & forced.keys()):
        raise QuestionError(
            f"hybrid dynamics: {machine.speed_names[both[0]]!r} has both a motion and a force;"
            " give one of them, the other is computed"
        )
    q, v = possible_state(machine, "hybrid dynamics", q, v, project, t)
    if wrenches is None:  # else they may include the contact forces
        require_apart(machine, "hybrid dynamics", q)
    at = terms(machine, q, v, wrenches, t)
    at = replace(at, b=at.b - losses_in_motion(machine, v))
    d = sorted(driven)
    f = [k for k in range(machine.nv) if k not in driven]
    a = np.zeros(machine.nv)
    tau = np.zeros(machine.nv)
    a[d], tau[f] = [driven[k] for k in d], [forced.get(k, 0.0) for k in f]
    weighted = _weighted_rows(machine, at, f)

    def accelerations(more: Array) -> Array:
        """Return the accelerations of the motion that result if additional joint forces act."""
        found = a.copy()
        _solve(machine, at, weighted, f, d, found, tau + more)
        return found

    friction = held(machine, v, f, accelerations)
    lam = _solve(machine, at, weighted, f, d, a, tau + friction)
    tau[d] = (at.M @ a + at.b - at.A.T @ lam)[d]
    return tau, a


def _weighted_rows(machine: Machine, t: Terms, f: list[int]) -> Array | None:
    """Return A' W (f, rows) where some of the coordinates f, whose force is given, move no inertia
    but rows determine them (`compiler.massless`); None where all move inertia.

    Raises a QuestionError where nothing determines one of them.
    """
    M = t.M[np.ix_(f, f)]
    if not f or motion_without_energy(M) is None:
        return None
    A = t.A[:, f]
    sizes = metric(machine, acting=False).sizes(t.A)
    inertia = np.abs(t.M).max() or 1.0
    weighted = inertia * A.T / np.where(sizes > 0.0, sizes, 1.0)
    y = motion_without_energy(M + weighted @ A)
    if y is not None:
        names = [machine.speed_names[f[k]] for k in np.flatnonzero(np.abs(y) > 0.1)]
        raise QuestionError(
            f"hybrid dynamics: {where(machine)} has no inertia along"
            f" {', '.join(map(repr, names))}, so that forces do not determine its acceleration;"
            " give its motion instead, or use a ball joint if its axes are in one line"
        )
    return weighted


def _solve(
    machine: Machine,
    t: Terms,
    weighted: Array | None,
    f: list[int],
    d: list[int],
    a: Array,
    tau: Array,
) -> Array:
    """Fill in the accelerations of the coordinates f, in place, and return the multipliers of the
    rows. weighted: those of `_weighted_rows`.
    """
    A, Ad = t.A[:, f], t.A[:, d]
    push = tau[f] - t.b[f] - t.M[np.ix_(f, d)] @ a[d]
    wanted = t.rows.gamma - Ad @ a[d]
    if not len(wanted):
        a[f] = np.linalg.solve(t.M[np.ix_(f, f)], push) if f else 0.0
        return np.zeros(0)
    lam = np.zeros(len(wanted))
    if f:
        M = t.M[np.ix_(f, f)]
        if weighted is not None:
            M, push = M + weighted @ A, push + weighted @ wanted
        free = np.linalg.solve(M, push)
        change, lam = least_change(M, A, wanted - A @ free, metric(machine, acting=False).speeds(f))
        a[f] = free + change
    row = torn_row(machine, t, a, TEARING_RATIO)
    if row is not None:
        joint, direction = t.rows.names[row]
        left = abs(float(t.A[row] @ a - t.rows.gamma[row]))
        names = ", ".join(repr(machine.speed_names[k]) for k in d)
        raise QuestionError(
            f"hybrid dynamics: with the accelerations given for {names} loop {joint!r} does not"
            f" stay closed: it opens with {left:.3g} m/s2 (or 1/s2) in its {direction}; give the"
            f" motion of at most {machine.nv - t.spaces.rank} independent coordinates, the number"
            " of degrees of freedom"
        )
    inner = np.linalg.norm(Ad.T @ spaces(A, metric(machine, acting=False).speeds(f)).N, axis=1)
    spare = inner > UNDETERMINED_RATIO * np.linalg.norm(Ad, axis=0)
    if spare.any():
        names = ", ".join(repr(machine.speed_names[d[k]]) for k in np.flatnonzero(spare))
        raise QuestionError(
            f"hybrid dynamics: the forces in {names} are not determined: more of the loop is driven"
            f" than its {machine.nv - t.spaces.rank} degrees of freedom; drive fewer and give the"
            " others a force"
        )
    return lam
