"""The contacts of a run at its events: impacts where gaps close, and the modes that hold
afterwards.

Between events the modes are inputs of the compiled equations (`contact_rows.py`). At an event all
contacts that touch are treated together: speeds jump by a law of impact (`contact.impact_laws`),
then the combinations of modes are searched (`contact.modes`). Speeds count as zero relative to the
speed that the largest energy so far would give, in the metric of the mass matrix; gaps count as
zero relative to the mechanism's length.
"""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...contact import (
    ENOUGH,
    MOST,
    OPEN,
    SLIP,
    START_DEPTH,
    STICK,
    Friction,
    Response,
    RimMotion,
    Solution,
    row_sizes,
    solutions,
)
from ...errors import SimulationError, StateError
from ...kernels import RANK
from ...machine import Metric, spaces, where
from ...results import ContactLedger
from ..terms.contact_rows import OFF_SLACK, ZERO_SLIP, ContactMode, RestMode
from .accumulation import Impacts
from .contact_impacts import GRAZING_SPEED, REST_SPEED, ContactImpacts, Hit
from .contact_shares import ClosedContacts, ContactShares
from .contact_terms import CLOSED_GAP, ContactMotion, ContactTerms, Terms
from .context import HandlerContext
from .massless_motions import refuse_to_pull, require_determined
from .patch_handler import PatchHandler
from .resting_joints import NO_JOINTS, RestingJoints, resting_joints

Array = NDArray[np.float64]
# acceleration along a row, relative to the sum of the magnitudes of its terms: a smaller one is
# their rounding, and counts as zero
CANCELLED_ACCELERATION = 1e-13
# distance of a force from its cone, relative to the forces that act: no event before it is larger
CONE_SLACK = 2e-11
# gap relative to the mechanism's length: below zero by less, the gap of a point that lifts off is
# rounding
LIFTED_GAP = 1e-14
# weight of a contact in forces that rigid bodies do not determine, relative to the largest weight:
# none is smaller, so that every closed contact can take a share
SMALLEST_SHARE = 1e-3


class ContactHandler:
    """The contacts of one run: their terms, their impacts, and the choice of their modes.

    terms: Jacobian, speeds and gaps of the points. points: all contact points of the run. first:
    the index of the first point among the switched constraints. impacts, patches, shares: the
    handlers of impacts, of features of pairs of shapes, and of forces that rigid bodies do not
    determine. stopped: the points that did not slip at the last choice of modes.
    """

    def __init__(self, handler: HandlerContext):
        self.handler, self.terms = handler, ContactTerms(handler)
        self.points = self.terms.points
        self.first = handler.constraints.first_contact
        self.impacts, self.patches = ContactImpacts(self.terms), PatchHandler(self.terms)
        self.shares = ContactShares(self.terms, self._problem)
        self.stopped: list[int] = []

    # --- to continue later
    def checkpoint(self) -> dict[str, Any]:
        """Return the state of the contacts as JSON values, without the modes, which are stored by
        the engine.
        """
        return {
            "touching": sorted(self.terms.touching),
            "series": [[k, *x] for k, x in self.impacts.series.items()],
            "hits": list(self.impacts.hits),
            "kept": asdict(self.terms.ledger),
            "off": sorted(self.terms.off),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Restore the state that `checkpoint` returned."""
        self.terms.touching, self.impacts.series = (
            set(state["touching"]),
            {k: Impacts(*x) for k, *x in state["series"]},
        )
        self.impacts.hits = [
            Hit(t, k, v, tuple(P), tuple(sums), mode) for t, k, v, P, sums, mode in state["hits"]
        ]
        self.terms.ledger = ContactLedger(**state["kept"])
        self.terms.off = set(state.get("off", ()))

    def ledger(self) -> ContactLedger:
        """Return how well the contact laws were satisfied in the impacts; `output` adds the
        violations found in the rows of the result.
        """
        return self.terms.ledger

    # --- entry points
    def begin(self, t: float) -> None:
        """Find the contacts that touch at the start t (s), and handle the impact of those that
        approach. Raise StateError where bodies penetrate by more than the tolerance.
        """
        self.patches.begin(t)
        gap = self.terms.at(t).gap
        worst = int(gap.argmin())
        if gap[worst] < -START_DEPTH * self.terms.length:
            p = self.points[worst].point
            h = self.handler
            raise StateError(
                f"simulate: {where(h.machine)}: at the start {p.body!r} is {-gap[worst]:.3g} m deep"
                f" in {p.other!r} (contact {p.name!r}); start apart, or let assemble(...,"
                " contact=True) separate them"
            )
        self.terms.touching = {k for k, g in enumerate(gap) if g <= CLOSED_GAP * self.terms.length}
        self.impacts.strike(t)

    def touch(self, t: float, point: int) -> None:
        """Handle the closing of the gap of one point at t (s): an impact of all points that touch
        at this instant.
        """
        self.patches.renew_near(t, self.terms.at(t).gap)
        near = np.flatnonzero(self.terms.at(t).gap <= CLOSED_GAP * self.terms.length).tolist()
        self.terms.touching |= {*near, *([] if self.patches.has(point) else [point])}
        self.impacts.strike(t)

    def switch(self, t: float, contact: str, on: bool) -> None:
        """Switch the contact of that name on or off at t (s). Raise SimulationError where its
        bodies penetrate each other when it is switched on, or where its shapes touch by features
        that are chosen at events.
        """
        own = {i for i, p in enumerate(self.points) if p.contact.name == contact}
        if any(not isinstance(self.points[i].mode, ContactMode) for i in own):
            raise SimulationError(
                f"contact {contact!r} cannot be switched: its shapes touch by features that are"
                " chosen on the way (boxes, meshes, ends of cylinders); points, spheres and"
                " half-spaces can be"
            )
        if not on:
            self.terms.off |= own
            self.terms.touching -= own
            for i in own:
                self.impacts.series.pop(i, None)
            return
        self.terms.off -= own
        gap = self.terms.at(t).gap
        for i in own:
            if gap[i] < -START_DEPTH * self.terms.length:
                p = self.points[i].point
                raise SimulationError(
                    f"contact {contact!r} is switched on at t = {t:.9g} s, where {p.body!r} is"
                    f" {-gap[i]:.3g} m deep in {p.other!r}; switch it on while they are apart"
                )
        self.terms.touching |= {i for i in own if gap[i] <= CLOSED_GAP * self.terms.length}
        self.impacts.strike(t)

    def renew_features(self, t: float, part: int) -> None:
        """Choose the features of a part (a patch, or a point of one) again at t (s), and handle the
        impact of points that approach.

        A point that touched before, and whose new feature has the same normal, stays in contact if
        its normal speed is as small as the error with which the instant of the event is known;
        otherwise that error would count as a separation.
        """
        near = sorted(self.patches.renew(t, part))
        terms = self.terms.at(t)
        rows = [3 * i for i in near]
        G = terms.J[rows] @ self.terms.response(t, terms.M, True).W @ terms.J[rows].T
        grazing = {
            i
            for i, u, limit in zip(
                near, terms.u[rows], self.terms.small(G, slice(None), GRAZING_SPEED)
            )
            if abs(u) <= limit
        }
        self.impacts.strike(t)
        self.terms.touching |= grazing

    # --- modes
    def choose(self, t: float, again: bool = True) -> None:
        """Find the modes of all contacts at t (s), set them, and log the changes. again: whether an
        impact without collision (Painleve) may be followed by a second choice.
        """
        before = [self.handler.mode(self.first + k) for k in range(len(self.points))]
        if self.impacts.rims.flat_ends(t):
            self.impacts.strike(t)
        self._open_all()
        now = sorted(self.terms.touching)
        if now:
            self._stop_slow(t, now)
            self._find_modes(t, now, again)
            self._give_slack_to_open(now)
        self.impacts.rims.clear_flat()
        self.patches.refuse_shallow(t)
        if self.terms.light:
            require_determined(self.terms, t)
        for k in (self.first + i for i in self.terms.off):
            self.handler.set_mode(k, self.handler.mode(k)._replace(slack=OFF_SLACK))
        for k, old in enumerate(before):
            self._log_change(t, k, old)

    def _open_all(self) -> None:
        """Set the modes of all points to open, and the run to not being at rest."""
        for k in range(len(self.points)):
            self.handler.set_mode(self.first + k, self.handler.mode(self.first + k).opened)
        self.handler.set_mode(self.first + len(self.points), RestMode())

    def _give_slack_to_open(self, now: list[int]) -> None:
        """Tolerate gaps slightly below zero at those points of `now` that open: while a point lifts
        off with zero speed, its gap is only rounding, which must not count as an impact.
        """
        for k in (self.first + i for i in now):
            if not (mode := self.handler.mode(k)).closed:
                self.handler.set_mode(k, mode._replace(slack=LIFTED_GAP * self.terms.length))

    def _stop_slow(self, t: float, now: list[int]) -> None:
        """Set normal speeds of the points `now`, and slip speeds that are below the tolerance, to
        exactly zero, by an impulse without rebound.
        """
        terms = self.terms.at(t)
        self.terms.free(t, terms)
        W = self.terms.response(t, terms.M, True).W
        G = terms.J @ W @ terms.J.T
        slow = self.stopped = [i for i in now if self._slow(G, terms.u, i)]
        rows = [3 * i for i in now] + [
            3 * i + j for i in slow for j in (1, 2) if self.points[i].rough
        ]
        u = terms.u[rows]
        if not u.any():
            return
        J, (q, v) = terms.J[rows], self.handler.state_of()
        P = np.linalg.lstsq(G[np.ix_(rows, rows)], -u, rcond=RANK)[0]
        self.handler.put(q, v + W @ J.T @ P, float(P @ (u + J @ (v + W @ J.T @ P)) / 2.0))

    def _slow(self, G: Array, u: Array, i: int) -> bool:
        """Return whether the slip speed of point i is zero relative to the speed that the largest
        energy so far would give. G: the Delassus matrix. u: the speeds of all rows.
        """
        t = slice(3 * i + 1, 3 * i + 3)
        return bool(np.linalg.norm(u[t]) <= self.terms.small(G, t, ZERO_SLIP).max())

    def _problem(self, t: float, now: list[int], joints: RestingJoints) -> ContactMotion:
        """Return what determines the accelerations of the contact points `now` and of joints at
        rest, for the state at t (s) with all contacts open.
        """
        joints.release(self.handler)
        terms = self.terms.at(t)
        rows = np.array([3 * i + j for i in now for j in range(3)])
        none = np.zeros(3 * len(joints.parts))
        W = self.terms.response(t, terms.M, False)
        J = np.vstack([terms.J[rows], joints.rows(len(terms.M))])
        free = self.terms.free(t, terms)
        gamma = np.append(terms.gamma[rows], none)
        G = J @ W.W @ J.T
        b = J @ free - gamma
        acting = np.abs(J) @ np.abs(free) + np.abs(gamma)
        b[np.abs(b) <= CANCELLED_ACCELERATION * acting] = 0.0  # bodies that fall together and touch
        still = np.array(
            [
                self.terms.small(G, slice(3 * n + 1, 3 * n + 3), ZERO_SLIP).max()
                for n in range(len(now) + len(joints.parts))
            ]
        )
        exact = W.rows(J, b, self.terms.choice_inertia * free if self.terms.light else None)
        # the normal force of a joint is given, and moves nothing: it is measured as the friction is
        for n in range(3 * len(now), len(J), 3):
            G[n, n] = exact.G[n, n] = G[n + 1, n + 1]
        one = np.ones(len(joints.parts))
        static, kinetic = (np.append(x[now], one) for x in (self.terms.static, self.terms.kinetic))
        u = np.append(terms.u[rows], none)
        return ContactMotion(
            terms, W, J, acting, RimMotion(G, b, u, static, kinetic, still), exact, joints
        )

    def _find_modes(self, t: float, now: list[int], again: bool) -> None:
        """Find modes of the points `now` that satisfy the laws of contact, and set them. Raise
        SimulationError where there are none.
        """
        rims = self.impacts.rims
        proved = rims.enumerated_points(now)
        joints = NO_JOINTS if proved == ENOUGH else self._joints(t, now)
        problem = self._problem(t, now, joints)
        if rims.turn(t, now, problem.rows):
            now = sorted(self.terms.touching)
            problem = self._problem(t, now, joints)
        terms, W, J, acting, (G, b, u, static, kinetic, still), exact, _ = problem
        friction = self.shares.friction(now, problem)
        found = solutions(G, b, friction, proved, exact)
        shared = bool(found) and found[0].loose.shape[1] > 0
        rims.remark(t, now, u, still)
        if shared and len(found) > 1 and not self.terms.ledger.remark:
            self.terms.remark(
                f"from t = {t:.9g} s the motion depends on how {self.terms.named(now)} share the"
                " load, which rigid bodies do not determine; the most even shares were taken"
            )
        if not found and self.terms.light:
            refuse_to_pull(self.terms, t, now)
        odd = not found or (len(found) > 1 and not shared and (static == kinetic).all())
        own = 3 * len(now)  # friction of joints has no part in an impact
        if odd and self._paradox(t, now, found, u[:own], W, J[:own]) and again:
            self.choose(t, False)
            return
        if not found:
            raise SimulationError(self._no_motion(t, now, found))
        acts = b if b.any() else acting
        self._apply(now, found[0], G, acts, still)
        joints.apply(self.handler, found[0], self._slack(G, acts, static)[len(now) :])
        if found[0].loose.shape[1]:
            self.shares.choose(self._closed_contacts(t, now, found[0], problem))
        elif (
            not self.terms.light
            and not joints.parts
            and (other := self._terms_of_tape(t, now, G, b)) is not None
            and (beyond := solutions(G, other, friction, proved))
        ):
            found = beyond
            self._open_all()
            self._apply(now, found[0], G, other, still)
        self.terms.touching = {i for i, mode in zip(now, found[0].modes) if mode != OPEN}
        self.impacts.rims.release(t)
        self._keep_at_rest(t, now, terms, found[0])

    def _apply(self, now: list[int], one: Solution, G: Array, b: Array, still: Array) -> None:
        """Set the modes of the points `now` to those of a solution, with the slack of their guards
        relative to the terms b.
        """
        own = slice(3 * len(now))
        slack = self._slack(G[own, own], b[own], self.terms.static[now])
        most = float(one.force[: 3 * len(now) : 3].max(initial=0.0))
        for n, (i, mode) in enumerate(zip(now, one.modes)):
            if mode == OPEN:
                continue
            weight = max(SMALLEST_SHARE, one.force[3 * n] / most) if most > 0.0 else 1.0
            d = one.direction[n] if one.direction[n].any() else np.array([1.0, 0.0])
            new = self.handler.mode(self.first + i)._replace(
                closed=1.0,
                stick=float(mode == STICK),
                x=d[0],
                y=d[1],
                still=still[n],
                slack=slack[n],
                weight=weight,
                static=self.terms.static[i],
                kinetic=self.terms.kinetic[i],
            )
            self.handler.set_mode(self.first + i, new)

    def _joints(self, t: float, now: list[int]) -> RestingJoints:
        """Return the joints at rest with dry friction that are treated with the points `now`."""
        if not self.handler.constraints.speeds:
            return NO_JOINTS
        return resting_joints(self.handler, self.terms.at(t).M, len(now))

    def _slack(self, G: Array, b: Array, static: Array) -> Array:
        """Return the tolerance (k,), in N, by which a force may leave its friction cone before that
        is an event.
        """
        size = row_sizes(G)
        scale = float(np.abs(b / size).max())
        return CONE_SLACK * scale / size[::3] * (1.0 + static)

    def _closed_contacts(
        self, t: float, now: list[int], one: Solution, problem: ContactMotion
    ) -> ClosedContacts:
        """Return the solved modes and their problem as a `ClosedContacts`, from which contact
        forces that rigid bodies do not determine are chosen.
        """
        G, b = problem.rows.G, problem.rows.b
        acts = b if b.any() else problem.acting
        scale = float(np.abs(acts / row_sizes(G)).max())
        slack = self._slack(G, acts, problem.rows.static)
        return ClosedContacts(t, now, one, problem, scale, slack)

    def _terms_of_tape(self, t: float, now: list[int], G: Array, b: Array) -> Array | None:
        """Return b as the compiled equations of the run compute it, if by these a contact force
        would pull that pushes in the chosen modes; else None.

        The curvature of a gap jumps where a sphere rolls from the side of a cylinder over its rim,
        or a capsule over its end. At that instant the solver of the modes and the compiled
        equations may be on different sides of the jump because of rounding, and the run continues
        with the latter. A closed contact has no acceleration, so that b = -G f along its rows.
        """
        force = self.handler.engine.evaluate("forces", t)[1][:, 0]
        f = np.zeros(len(b))
        rows: list[int] = []
        pulls = False
        for n, i in enumerate(now):
            mode = self.handler.mode(self.first + i)
            if mode.closed:
                own = force[self.terms.places[i]]
                f[3 * n : 3 * n + len(own)] = own
                rows.append(3 * n)
                pulls |= bool(own[0] < -mode.slack)
        if not pulls:
            return None
        found = b.copy()
        found[rows] = -(G @ f)[rows]
        return found

    def _keep_at_rest(self, t: float, now: list[int], terms: Terms, one: Solution) -> None:
        """Set all speeds to zero and mark the run as at rest, if the closed contacts leave no
        motion free and the speeds are zero relative to the largest energy so far. Rounding then
        moves nothing.
        """
        h = self.handler
        q, v = h.state_of()
        if (
            h.system.driven is not None
            or h.machine.mechanism.nonholonomic
            or h.machine.spec.rheonomic
            or float(v @ terms.M @ v) > REST_SPEED**2 * self.terms.energy
        ):
            return
        R, by = h.bilateral(t, False)
        on = [
            3 * i + j
            for i, mode in zip(now, one.modes)
            if mode != OPEN
            for j in range(3 if mode == STICK else int(self.terms.static[i] == 0.0))
        ]
        A = np.vstack([R, terms.J[on]])
        if len(A) and spaces(
            A,
            Metric(by.column, np.append(by.size, np.full(len(on), self.terms.length**2))),
            np.sqrt(RANK),
        ).rank == len(v):
            h.put(q, np.zeros(len(v)))
            h.set_mode(self.first + len(self.points), RestMode(1.0))

    def _log_change(self, t: float, k: int, before: Any) -> None:
        """Log what has changed in the mode of point k since the mode `before`."""
        mode = self.handler.mode(self.first + k)
        now = mode.word
        name = self.points[k].name
        if now == before.word:
            turned = before.x * mode.x + before.y * mode.y < 0.0
            if now == SLIP and turned and k in self.stopped and self.points[k].rough:
                self.handler.say(t, f"{name} slips the other way")
            return
        if now == OPEN:
            self.terms.ledger = replace(self.terms.ledger, changes=self.terms.ledger.changes + 1)
            self.handler.say(t, f"{name} opens")
            return
        self.terms.ledger = replace(self.terms.ledger, changes=self.terms.ledger.changes + 1)
        series = self.impacts.series.get(k) if before.word == OPEN else None
        limit = series.limit if series is not None else None
        # a series without a limit may go on: a rocking body closes and opens again
        if limit is not None:
            del self.impacts.series[k]
        self.terms.ledger = replace(
            self.terms.ledger, accumulations=self.terms.ledger.accumulations + (limit is not None)
        )
        series_note = (
            f", the limit of {series.number} impacts"
            if series is not None and limit is not None
            else ""
        )
        closes = " closes and" if before.word == OPEN else ""
        self.handler.say(t if limit is None else limit, f"{name}{closes} {now}s{series_note}")

    # --- paradoxes
    def _no_motion(self, t: float, now: list[int], found: list[Solution]) -> str:
        """Return the message of the error where there is no motion, or more than one."""
        what = "no motion" if not found else f"{len(found)} motions"
        if len(now) > MOST:
            return (
                f"at t = {t:.9g} s no consistent modes (open, stick, slip) were found for the"
                f" {len(now)} contacts {self.terms.named(now)}; with more than {MOST} contacts at"
                " one instant the search is not exhaustive: lower the friction, or let fewer"
                " points touch"
            )
        return (
            f"at t = {t:.9g} s rigid bodies with Coulomb friction have {what} at"
            f" {self.terms.named(now)}, as Painleve found; lower the friction, or say paradox ="
            " 'impact'"
        )

    def _paradox(
        self,
        t: float,
        now: list[int],
        found: list[Solution],
        u: Array,
        W: Response,
        J: Array,
    ) -> bool:
        """Apply the contact's `paradox` option where there is no motion, or more than one, at the
        points `now`. Return whether an impact without collision has changed the speeds; raise
        SimulationError where the option is 'stop'.
        """
        if self.points[now[0]].contact.paradox == "stop":
            raise SimulationError(self._no_motion(t, now, found))
        rows = W.rows(J, u)
        friction = Friction.at_rest(self.terms.kinetic[now], self.terms.kinetic[now])
        blows = solutions(J @ W.W @ J.T, u, friction, rows=rows)
        P, y = max(
            ((one.force, one.light) for one in blows),
            key=lambda one: float(np.abs(one[0]).max()),
            default=(np.zeros(len(u)), np.zeros(len(rows.D))),
        )
        self.terms.remark(
            f"at t = {t:.9g} s there were {len(found)} motions at {self.terms.named(now)}"
            " (Painleve): an impact without collision was taken"
        )
        self.handler.say(t, f"impact without collision at {self.terms.named(now)}")
        (q, v), after = self.handler.state_of(), rows.rate(P, y)
        self.impacts.without_collision(t, now, u, P)
        self.handler.put(q, v + W.change(J.T @ P, y), float(P @ (u + after) / 2.0))
        return bool(P.any())
