"""The map of the state across an event, traced: x+ = J(t, x, p), with the modes that the run has
found.

    v1 = v + dv,  M dv = P + R' L,  R dv = change
            the impulse P of an event; loops, locks and stops R that hold
    v2 = v1 + W J' I,  F(I, G, J v1) = 0
            the impulses I of contacts, by the equations of their modes
    v3 = v2 - W S' (S W S')^-1 S v2                the rows S of contacts that stay closed, or stick

W is the response to impulses under the rows R, G = J W J'. I is one step of Newton's method from
its value in the run, I - F_I^-1 F: that has the derivative of the solution. Which rows are
independent is taken from the run.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from ..contact import DEAD, LIFTED, OPEN, SLIP, STICK, Friction, solutions
from ..errors import StudyError
from ..machine import Metric
from ..model import IMPACT_LAWS
from ..simulation.events import kind_of
from ..simulation.planning import RunPlan
from ..simulation.terms import LOWER, Meaning
from ..studies import independent_rows
from .linearised import Linearised
from .smooth_segments import Transition

Array = NDArray[np.float64]


class Jump:
    """The jump of the state at a transition, as expressions of the inputs of the system's
    functions.

    x (size,): the state before it. p: the parameters of the run.
    """

    def __init__(
        self, tapes: Linearised, plan: RunPlan, transition: Transition, x: Array, p: Array
    ):
        self.tapes = tapes
        self.scheme = plan.scheme
        self.machine = plan.machine
        self.transition = transition
        self.system = tapes.system
        self.given = [transition.t, x, transition.held, p]
        self.before, self.then = (y[tapes.nv :] for y in (transition.held, transition.then))

    def state(self) -> ca.SX:
        """Return x+ (size,); raise StudyError where the jump has no derivative."""
        self._check_differentiable()
        v = self._after_impulses(self.system.v)
        v = self._onto_active_rows(self._after_impacts(v))
        return ca.densify(ca.vertcat(self.q, v, self.tapes.X[self.system.nq + self.system.nv :]))

    def closing(self) -> ca.SX:
        """Return the state with only its speeds projected onto the rows that hold after the
        transition.
        """
        s = self.system
        return ca.densify(
            ca.vertcat(
                s.q, self._onto_active_rows(self._after_impulses(s.v)), self.tapes.X[s.nq + s.nv :]
            )
        )

    def _check_differentiable(self) -> None:
        """Raise StudyError where a frame is locked, or several contacts meet at the same
        instant.
        """
        h, transition = self.system.holding, self.transition
        caught = [
            k
            for k in range(len(h.speeds), len(h.speeds) + len(h.locks))
            if h.mode(k, self.then).locked
        ]
        met = sorted(
            {
                hit.point
                for hit in transition.hits
                if h.mode(h.first_contact + hit.point, self.before).word == OPEN
            }
        )
        why = ""
        if caught:
            why = (
                "a frame that is caught keeps the place where that happens, which is not"
                " differentiated; close a loop there instead"
            )
        elif len(met) > 1:
            names = ", ".join(h.contacts[k].name for k in met)
            why = (
                f"{names} meet at the same instant. Which of them is first in a neighbouring run is"
                " open, and what follows depends on it: there is no derivative"
            )
        if why:
            raise StudyError(f"at t = {transition.t:.9g} s {transition.description}: {why}")

    def value(self, y: ca.SX) -> Array:
        """Return the numerical value of an expression in the run."""
        return np.array(ca.Function("value", self.tapes.inputs, [ca.densify(y)])(*self.given))

    # --- impulses, stops, loops
    @cached_property
    def _stop_state(self) -> tuple[ca.SX, dict[int, ca.SX]]:
        """The coordinates, with one that reaches a stop set to the stop, and {speed: its value
        after the transition}.
        """
        s, guard = self.system, self.transition.guard
        if guard is None or guard.meaning not in (Meaning.REACHES_STOP, Meaning.COMES_TO_REST):
            return s.q, {}
        h = s.holding.speeds[guard.subject]
        if guard.meaning is Meaning.COMES_TO_REST or guard.side is None:
            return s.q, {h.index: ca.SX(0)}
        lower, upper, _ = s.bounds(self.tapes.P)
        place = (lower if guard.side is LOWER else upper)[guard.subject]
        # also where impacts accumulate
        stays = s.holding.mode(guard.subject, self.then).stop is not None
        return ca.vertcat(*(place if k == h.coordinate else s.q[k] for k in range(s.nq))), {
            h.index: ca.SX(0) if stays else -h.restitution * s.v[h.index]
        }

    @property
    def q(self) -> ca.SX:
        """The coordinates after the transition."""
        return self._stop_state[0]

    @cached_property
    def _binding(self) -> tuple[ca.SX, ...]:
        """M, A, A v, B, B v, z of `System.binding` at the state of the transition."""
        s = self.system
        M, A, rate, B, held, z = s.binding(
            self.tapes.t, self.q, s.v, self.tapes.P, self.tapes.U[s.nv :]
        )
        return M, A, rate, B, held, z

    @cached_property
    def _rows(self) -> tuple[ca.SX, ca.SX]:
        """Independent rows R (m, nv), and the changes of R v.

        They are loops and speed rows, and speeds that are locked, rest on a stop, are driven, or
        stop.
        """
        s, stopped_speeds = self.system, self._stop_state[1]
        _, A, rate, *_ = self._binding
        still = {
            h.index: -s.v[h.index] for k, h in enumerate(s.holding.speeds) if self._stays_fixed(k)
        }
        still |= {k: ca.SX(0) for k in (s.driven.speeds if s.driven is not None else ())}
        still |= {k: y - s.v[k] for k, y in stopped_speeds.items()}
        R = ca.densify(ca.vertcat(A, ca.SX.eye(s.nv)[list(still), :]))
        size = np.append(s.row_scales[0][: A.shape[0]], np.zeros(len(still)))
        own, _ = independent_rows(Metric(s.column_scales, size).scaled(self.value(R)))
        return R[own, :], ca.densify(ca.vertcat(-rate, *still.values()))[own]

    def _stays_fixed(self, k: int) -> bool:
        """Return whether a speed is locked, or rests on a stop and does not leave it by an
        impact.
        """
        before, then = (self.system.holding.mode(k, modes) for modes in (self.before, self.then))
        stays = before.stop is not None and (then.stop is not None or not self.transition.hits)
        return bool(before.locked or stays or then.locked)

    @cached_property
    def _row_response(self) -> tuple[ca.SX, ca.SX]:
        """The response M^-1 R' of the speeds to impulses of the rows R, and the inverse of the
        rows' own response, (R M^-1 R')^-1.
        """
        M, R = self._binding[0], self._rows[0]
        MR = ca.solve(M, R.T)
        return MR, ca.inv(R @ MR) if R.shape[0] else ca.SX.zeros(0, 0)

    def _respond(self, F: ca.SX) -> ca.SX:
        """Return W F, the change of the speeds by impulses F (nv, k) while R v stays the same."""
        MF = ca.solve(self._binding[0], F)
        if not self._rows[0].shape[0]:
            return MF
        MR, inverse = self._row_response
        return MF - MR @ (inverse @ (self._rows[0] @ MF))

    def _after_impulses(self, v: ca.SX) -> ca.SX:
        """Return v1, the speeds after the impulses of events, stops and loops."""
        R, change = self._rows
        if R.shape[0]:
            MR, inverse = self._row_response
            v = v + MR @ (inverse @ change)
        tracer = self.system.tracer()
        for event in self._events():
            P = ca.Function(
                "P",
                [tracer.q, tracer.p],
                [ca.densify(kind_of(event).impulse(self.machine, tracer, event))],
            )
            v = v + self._respond(P(self.q, self.tapes.P))
        return v

    def _events(self) -> Iterator[object]:
        """Yield the events that happen at this transition, by their guard or at its time."""
        guard = self.transition.guard
        if guard is not None and guard.meaning is Meaning.HAPPENS:
            yield self.scheme.guarded[guard.subject]
        yield from (event for at, event in self.scheme.timed if at == self.transition.t)

    # --- contacts
    def _contact_jacobian(self, point: int) -> ca.SX:
        """Return the Jacobian J (3, nv) of a contact point, or (1, nv) without friction."""
        return self._binding[3][self.system.holding.contact_rows()[point], :]

    def _speeds(self, point: int, v: ca.SX) -> ca.SX:
        """Return the speeds of a contact point along its normal and its tangents."""
        _, _, _, B, held, _ = self._binding
        at = self.system.holding.contact_rows()[point]
        return held[at] + B[at, :] @ (v - self.system.v)

    def _after_impacts(self, v: ca.SX) -> ca.SX:
        """Return v2, the speeds after the impulses of contacts."""
        points = sorted({hit.point for hit in self.transition.hits})
        if not points:
            return v
        J, u = (
            ca.vertcat(*(self._three_rows(y) for y in ys))
            for ys in (
                [self._contact_jacobian(k) for k in points],
                [self._speeds(k, v) for k in points],
            )
        )
        WJ = self._respond(J.T)
        G = J @ WJ
        P = self._impulses(points, G, u)
        return v + WJ @ P

    @staticmethod
    def _three_rows(y: ca.SX) -> ca.SX:
        """Return three rows of a contact point; the tangents of a frictionless one are zero."""
        return ca.densify(ca.vertcat(y, ca.SX.zeros(3 - y.shape[0], y.shape[1])))

    def _impulses(self, points: list[int], G: ca.SX, u: ca.SX) -> ca.SX:
        """Return I (3 k,) by an impact law in stages: Newton's has one, Poisson's compression and
        expansion.

        G: the Delassus matrix (3 k, 3 k). u: the speeds (3 k,) before the impact.
        """
        h = self.system.holding
        contacts = [h.contacts[k].contact for k in points]
        met = [h.mode(h.first_contact + k, self.before).word == OPEN for k in points]
        # also where impacts accumulate
        stays = [h.mode(h.first_contact + k, self.then).word != OPEN for k in points]
        e = np.array(
            [
                c.restitution if new and not there else 0.0
                for c, new, there in zip(contacts, met, stays)
            ]
        )
        mu = np.array([c.kinetic for c in contacts])
        law = IMPACT_LAWS[contacts[0].law]
        if not law.stages:
            known = " or ".join(other.name for other in IMPACT_LAWS.values() if other.stages)
            raise StudyError(
                f"at t = {self.transition.t:.9g} s {self.transition.description}: impacts by"
                f" {law.name} have no derivatives here; take law = {known}"
            )
        if law.stages == 1:
            rebound = ca.vertcat(
                *(x for x, k in zip(e, range(len(e))) for x in (x * u[3 * k], 0.0, 0.0))
            )
            return self._stage(G, u + rebound, mu, None)
        first = self._stage(G, u, mu, None)
        return (
            first + self._stage(G, u + G @ first, mu, ca.SX(e) * first[::3]) if e.any() else first
        )

    def _stage(self, G: ca.SX, b: ca.SX, mu: Array, base: ca.SX | None) -> ca.SX:
        """Return the impulses f (3 k,) with the modes that `contact_modes.solutions` finds for G f
        + b.

        base: normal impulses (k,) of an earlier stage. Raises StudyError where there is no regular
        solution.
        """
        k = len(mu)
        here = self.value(ca.horzcat(G, b))
        there = None if base is None else self.value(base).ravel()
        found = solutions(here[:, :-1], here[:, -1], Friction.at_rest(mu, mu, there))
        if not found:
            raise StudyError(
                f"at t = {self.transition.t:.9g} s {self.transition.description}: the impact has no"
                " regular solution here, and no derivative"
            )
        f0, one = found[0].force, found[0]
        f = ca.SX.sym("f", 3 * k)
        after, F = G @ f + b, []
        for i, mode in enumerate(one.modes):
            n = 3 * i
            normal = (
                f[n]
                if mode == OPEN
                else f[n] - base[i]
                if mode in LIFTED.values() and base is not None
                else after[n]
            )
            F += [
                normal,
                *self._tangent_equations(
                    mode,
                    f[n : n + 3],
                    after[n : n + 3],
                    mu[i],
                    one.rate[n + 1 : n + 3],
                    here[n : n + 3, n : n + 3],
                ),
            ]
        r = ca.vertcat(*F)
        fixed = ca.Function(
            "stage", [f, *self.tapes.inputs], [ca.densify(r), ca.densify(ca.jacobian(r, f))]
        )
        r, F_f = fixed(ca.DM(f0), *self.tapes.inputs)
        return ca.DM(f0) - ca.DM(np.linalg.inv(self.value(F_f))) @ r

    @staticmethod
    def _tangent_equations(
        mode: str, f: ca.SX, after: ca.SX, mu: float, slip: Array, G: Array
    ) -> list[ca.SX]:
        """Return the two equations of a contact's tangents in its mode: no force, no slip, or
        sliding.
        """
        own = [G[j, j] > DEAD * G[0, 0] for j in (1, 2)]
        if mode == OPEN or mu == 0.0:
            return [f[1], f[2]]
        if mode.endswith(STICK):
            return [after[j] if moves else f[j] for j, moves in zip((1, 2), own)]
        speed = ca.sqrt(ca.sumsqr(after[1:])) if np.any(slip) else ca.SX(1)
        return [
            f[j] + mu * f[0] * after[j] / speed if moves else f[j] for j, moves in zip((1, 2), own)
        ]

    # --- what holds afterwards
    def _onto_active_rows(self, v: ca.SX) -> ca.SX:
        """Return v3, the speeds projected onto the rows of contacts that stay closed and of joints
        that stick.
        """
        h = self.system.holding
        rows = []
        speeds = []
        for k in range(len(h.contacts)):
            mode = h.mode(h.first_contact + k, self.then)
            if mode.word != OPEN:
                count = h.contacts[k].count if mode.word != SLIP else 1
                rows.append(self._contact_jacobian(k)[:count, :])
                speeds.append(self._speeds(k, v)[:count])
        stuck = [
            part.index
            for k, part in enumerate(h.speeds)
            if h.mode(k, self.then).held > 0.5 and not self._stays_fixed(k)
        ]
        rows += [ca.SX.eye(self.system.nv)[stuck, :]]
        S = ca.densify(ca.vertcat(*rows))
        u = ca.densify(ca.vertcat(*speeds, v[stuck]))
        if not S.shape[0]:
            return v
        WS = self._respond(S.T)
        keep = _independent(self.value(S @ WS))
        return v - WS[:, keep] @ ca.solve((S @ WS)[keep, :][:, keep], u[keep]) if keep else v


def _independent(G: Array) -> list[int]:
    """Return the indices of independent rows, given their Gram matrix G (m, m)."""
    size = np.sqrt(np.maximum(np.diag(G), 0.0))
    moving = np.flatnonzero(size > np.sqrt(DEAD) * size.max(initial=0.0))
    w, V = np.linalg.eigh(G[np.ix_(moving, moving)] / np.outer(size[moving], size[moving]))
    own, _ = independent_rows(V * np.sqrt(np.maximum(w, 0.0)))
    return [int(moving[k]) for k in own]
