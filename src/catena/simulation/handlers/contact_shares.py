"""Contact forces that rigid bodies do not determine: the choice of one solution that stays within
all friction cones as long as any solution does.

The compiled equations of a run contain one choice of such forces: the one nearest to given forces,
the shares, which are stored in the modes (`contact_rows.weighted_forces`). Guards watch whether it
stays within the cones. The most even shares are used as long as they are admissible. Where they
leave a cone although other solutions do not, the centre of all admissible forces is used
(`contact.force_shares`), extrapolated at the rate at which it moves; where that leaves a cone in
turn, the next choice is made.

As the limit of friction comes near, the set of admissible forces shrinks to a point, and the error
of such a choice is quadratic in the time for which it is used: the instants of these choices
converge to the limit from before, as Newton's method does. At the limit no admissible forces are
left, and something slips or opens.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...contact import (
    OPEN,
    STICK,
    Cones,
    Friction,
    Solution,
    centre,
    centre_to_first_order,
    cones_of,
    deepest,
    row_sizes,
    slip_directions,
    with_directions,
)
from ..terms.contact_rows import JointShareMode
from .contact_terms import ContactMotion, ContactTerms
from .resting_joints import RestingJoints

if TYPE_CHECKING:
    from .context import HandlerContext

Array = NDArray[np.float64]
# time of a difference quotient, relative to the time in which the accelerations at the contacts
# cover the mechanism's length
DIFFERENCE_TIME = 1e-6


class ClosedContacts(NamedTuple):
    """The contact points `now` at t (s) whose modes are set. one: the solution of these modes.
    problem: the ContactMotion of these points and of joints at rest. scale: the typical size of the
    forces, relative to which a force counts as zero. slack (k,): the tolerance of their guards,
    N.
    """

    t: float
    now: list[int]
    one: Solution
    problem: ContactMotion
    scale: float
    slack: Array


class ContactShares:
    """The choice of indeterminate contact forces of one run.

    motion: a function (t, points, joints at rest) that returns their `ContactMotion` with all
    contacts open.
    """

    def __init__(
        self,
        terms: ContactTerms,
        motion: Callable[[float, list[int], RestingJoints], ContactMotion],
    ):
        self.terms, self.motion = terms, motion
        self.handler: HandlerContext = terms.handler
        self.first = self.handler.constraints.first_contact

    def choose(self, held: ClosedContacts) -> None:
        """Choose the shares so that the forces of the compiled equations are admissible now and for
        some time from now. The ledger records how far the most admissible forces are inside their
        cones.
        """
        one, rows = held.one, held.problem.rows
        friction = self.friction(held.now, held.problem)
        cones = cones_of(one.modes, friction, one.force, row_sizes(rows.G), held.scale)
        self._note_margin(deepest(one.force, one.loose, cones).margin)
        if self._admitted(held):
            return
        # a force outside its cone by less than the slack is admitted: a table whose load is exactly
        # above one of its legs has no force inside all cones
        cones = cones._replace(room=0.5 * held.slack / (1.0 + rows.static))
        found = centre(one.force, one.loose, cones)
        rate = np.zeros(len(one.force))
        if found is not None:
            rate = self._rate(held, friction, found, cones)
        self._set(held, one.force if found is None else found, rate)

    def _note_margin(self, margin: float) -> None:
        """Record in the ledger the smallest margin so far between undetermined contact forces and
        their friction limit.
        """
        ledger = self.terms.ledger
        least = margin if ledger.margin is None else min(ledger.margin, margin)
        self.terms.ledger = replace(ledger, margin=float(least))

    def friction(self, now: list[int], problem: ContactMotion) -> Friction:
        """Return the coefficients and slip directions of the points `now`, and the friction of the
        joints at rest.
        """
        rows, joints = problem.rows, problem.joints
        base = np.append(np.zeros(len(now)), joints.limit)
        d = slip_directions(rows.u, rows.still)
        return Friction(rows.static, rows.kinetic, d, base, len(joints.parts))

    def _admitted(self, held: ClosedContacts) -> bool:
        """Return whether the contact forces of the compiled equations lie within their cones now,
        up to half the tolerance of the guards.
        """
        force = self.handler.engine.evaluate("forces", held.t)[1][:, 0]
        for n, (i, mode) in enumerate(zip(held.now, held.one.modes)):
            if mode == OPEN:
                continue
            f = force[self.terms.places[i]]
            static = held.problem.rows.static[n]
            beyond = np.linalg.norm(f[1:]) - static * f[0] if mode == STICK else 0.0
            if max(-f[0], beyond) > 0.5 * held.slack[n]:
                return False
        joints = held.problem.joints
        # the force of a joint that slips is zero here
        over = np.abs(force[joints.parts]) - joints.limit
        return bool((over <= 0.5 * held.slack[len(held.now) :]).all())

    def _set(self, held: ClosedContacts, force: Array, rate: Array) -> None:
        """Set the shares in the modes to `force` (3 k,), N, changing at `rate` (3 k,), N/s."""
        for n, (i, mode) in enumerate(zip(held.now, held.one.modes)):
            if mode == OPEN:
                continue
            own = np.where([True, mode == STICK, mode == STICK], force[3 * n : 3 * n + 3], 0.0)
            later = np.where([True, mode == STICK, mode == STICK], rate[3 * n : 3 * n + 3], 0.0)
            names = ("N", "fx", "fy", "N_rate", "fx_rate", "fy_rate")
            share = dict(zip(names, (*own.tolist(), *later.tolist())), since=held.t)
            mode_now = self.handler.mode(self.first + i)
            self.handler.set_mode(self.first + i, mode_now._replace(**share))
        for n, k in enumerate(held.problem.joints.parts, len(held.now)):
            on = float(self.handler.mode(k).held)
            joint = JointShareMode(on, force[3 * n + 1], rate[3 * n + 1], held.t)
            self.handler.set_mode(self.handler.constraints.rest + 1 + k, joint)

    def _rate(self, held: ClosedContacts, friction: Friction, found: Array, cones: Cones) -> Array:
        """Return the rate (3 k,), in N/s, at which the centre of the admissible forces moves, by a
        difference quotient; zero where no force acts, or where a short time later the forces have
        another number of undetermined directions.
        """
        fastest = float(np.abs(held.problem.rows.b).max())
        if not fastest > 0.0:
            return np.zeros(len(found))
        soon = DIFFERENCE_TIME * np.sqrt(self.terms.length / fastest)
        later = self._later(held, soon)
        rows = later.rows
        one = held.one
        d = slip_directions(rows.u, rows.still)
        d = np.where(np.isnan(d) | np.isnan(friction.direction), one.direction, d)
        size = row_sizes(rows.G)
        then = with_directions(later.exact, friction, one.modes, d, size, np.inf)
        if then is None or then.loose.shape != one.loose.shape:
            return np.zeros(len(found))
        return (centre_to_first_order(found, then.force, then.loose, cones) - found) / soon

    def _later(self, held: ClosedContacts, soon: float) -> ContactMotion:
        """Return the `ContactMotion` a short time `soon` (s) later, by one Euler step; the state
        and modes of the run are restored.
        """
        engine, handler, terms = self.handler.engine, self.handler, self.terms
        x, modes = engine.x.copy(), engine.modes.copy()
        known = handler.energy, terms.available
        try:
            engine.x[:] += soon * engine.evaluate("derivative", held.t)[0]
            for i in range(len(terms.points)):
                handler.set_mode(self.first + i, handler.mode(self.first + i).opened)
            return self.motion(held.t + soon, held.now, held.problem.joints)
        finally:
            engine.x[:], engine.modes[:] = x, modes
            handler.energy, terms.available = known
