"""The impacts of a run's contacts: where gaps close, speeds jump by a law of impact
(`contact.impact_laws`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...contact import ENOUGH, Blow, ContactRows, Response, RimImpact, blow
from ...errors import QuestionError, SimulationError, SingularError
from ...model import IMPACT_LAWS
from .accumulation import Impacts
from .contact_terms import ContactTerms
from .rim_handler import RimHandler
from .touching_stops import TouchingStops

Array = NDArray[np.float64]
# normal speed relative to the speed that the largest energy so far would give: a slower approach
# counts as none
REST_SPEED = 1e-13
# mobility along a normal relative to that of the bodies without locks and prescribed motion: below
# it these hold both bodies
HELD_MOBILITY = 1e-12
# normal speed relative to the speed that the largest energy so far would give, where it has the
# error of prescribed motion or of the instant of an event: a slower approach counts as none
GRAZING_SPEED = 1e-9
# speed after the last impact of a series that has come to its limit, relative to the last speed of
# approach: a point that this impact sets in motion more slowly stays in contact
SERIES_END_SPEEDS = 4.0


class Hit(NamedTuple):
    """One contact point in one impact.

    time: s. point: the number of the contact point. approach: its normal speed of approach, m/s.
    impulse (3,): along the normal and the two tangents, N s, NaN where rigid bodies do not
    determine it. total (3,): the sum of the impulses over the points of the same contact, N s.
    mode: that of the point in the impact, such as "stick" or "slip".
    """

    time: float
    point: int
    approach: float
    impulse: tuple[float, ...]
    total: tuple[float, ...]
    mode: str


class ContactImpacts:
    """The impacts of one run. series: the series of impacts at each point, {point: Impacts}. hits:
    all impacts so far. rims: the handler of the flat ends of cylinders.
    """

    def __init__(self, terms: ContactTerms):
        self.terms, self.handler, self.points, self.rims = (
            terms,
            terms.handler,
            terms.points,
            RimHandler(terms),
        )
        self.series: dict[int, Impacts] = {}
        self.hits: list[Hit] = []

    def strike(self, t: float, landed: int = -1) -> None:
        """Let the speeds jump at t (s) if points that touch approach each other; points that
        separate no longer touch.

        landed: the number of the point of a rim that has just come down flat, or -1.
        """
        self.rims.stand(t, landed)
        now = sorted(self.terms.touching)
        if not now:
            return
        stops = TouchingStops(self.handler)
        W, J, u, small = self._problem(t, now, stops)
        if (u[::3] < -small).any():
            now, small, u = self._jump(t, now, stops, W, J, u, small)
            stops.leave(u[::3][len(now) :], small[len(now) :])
        self.terms.touching = {i for i, speed, limit in zip(now, u[::3], small) if speed <= limit}
        self.rims.release(t)

    def _problem(
        self, t: float, now: list[int], stops: TouchingStops
    ) -> tuple[Response, Array, Array, Array]:
        """Return the response, J (3 k, nv) and the speeds J v (3 k,) of the points `now` and of the
        stops after them, and the normal speeds (k,) below which a speed counts as zero.
        """
        terms = self.terms.at(t)
        rows = np.array([3 * i + j for i in now for j in range(3)])
        W = self.terms.response(t, terms.M, True, stops=False)
        J = np.vstack([terms.J[rows], stops.J])
        return W, J, np.append(terms.u[rows], stops.speeds), self._small(J @ W.W @ J.T, J, terms.M)

    def _small(self, G: Array, J: Array, M: Array) -> Array:
        """Return the normal speeds (k,) below which a speed counts as zero, relative to the speed
        that the largest energy so far would give. Where locks and prescribed motion hold both
        bodies, the response of the bodies without these is used.
        """
        free = self.terms.without_rows(M, J)
        held = np.diagonal(G)[::3] <= HELD_MOBILITY * np.diagonal(free)[::3]
        return np.where(
            held,
            self.terms.small(free, slice(None, None, 3), GRAZING_SPEED),
            self.terms.small(G, slice(None, None, 3), REST_SPEED),
        )

    def _series_end_speeds(
        self, now: list[int], stops: TouchingStops, u: Array, size: Array
    ) -> Array:
        """Return the normal speeds (k,) below which a speed counts as zero at the limit of a series
        of impacts: a few times the last speed of the series. The threshold also applies to other
        points that lift because of that impact, as in a block that rocks from one edge to the other
        without rebound. u (k,): normal speeds before the impact; size (k,): square roots of the
        diagonal of the Delassus matrix.
        """
        series = [
            *(self.series.get(i) for i in now),
            *(self.handler.impacts.get(key) for key in stops.keys),
        ]
        over = [
            n
            for n, one in enumerate(series)
            if u[n] < 0.0 and one is not None and one.limit is not None
        ]
        return SERIES_END_SPEEDS * size * max((-u[n] / size[n] for n in over), default=0.0)

    def _jump(
        self,
        t: float,
        now: list[int],
        stops: TouchingStops,
        W: Response,
        J: Array,
        u: Array,
        small: Array,
    ) -> tuple[list[int], Array, Array]:
        """Handle the impact of the contact points `now` and of the stops of joints, and set the
        speeds after it. Return the points that took part, the normal speeds below which a speed
        counts as zero, and the speeds after the impact.
        """
        for i, speed, limit in zip(now, u[::3], small):
            if speed < -limit:
                self.series[i] = self.series.get(i, Impacts()).then(t, -speed, self._gap_scale(i))
        c = self.points[now[0]].contact
        proved = self.rims.enumerated_points(now)
        back = stops.meet(t, u[::3][len(now) :], small[len(now) :])
        e = self._restitution(now, back)
        mu = self._friction(now, stops)
        if not self._accumulated(now) and self.rims.turn(
            t, now, RimImpact(W.W, J, u, e, mu, c.law, c.impacts)
        ):
            now = sorted(self.terms.touching)
            (W, J, u, small), e, mu = (
                self._problem(t, now, stops),
                self._restitution(now, back),
                self._friction(now, stops),
            )
        # without rebound all laws for several points agree
        G = J @ W.W @ J.T
        rows = W.rows(J, u)
        law = "newton" if self._accumulated(now) and proved == ENOUGH else c.law
        try:
            one = blow(G, u, e, mu, law, c.impacts, proved, rows)
        except QuestionError as why:
            raise SimulationError(
                f"at t = {t:.9g} s the impact at {self.terms.named(now)} cannot be solved by the"
                f" law {c.law}: {why}"
            ) from None
        except SingularError as why:
            e = np.zeros(len(mu))
            one = self._without_rebound(t, now, G, rows, mu, str(why))
        if one.several:
            self.terms.remark(
                f"at t = {t:.9g} s the impact at {self.terms.named(now)} has several solutions, one"
                " of which was taken"
            )
        (q, v), dv = self.handler.state_of(), W.change(J.T @ one.P, one.light)
        work = float(one.P @ (u + one.after) / 2.0)
        self.handler.put(q, v + dv, work + self._drive_work(t, v, dv, J.T @ one.P))
        self.handler.engine.restart_scales()
        self._update_ledger(u, e, mu, one, work)
        self._log_hits(t, now, u, one)
        stops.log(t, u[::3][len(now) :], one.after[::3][len(now) :], small[len(now) :])
        return (
            now,
            np.maximum(
                small, self._series_end_speeds(now, stops, u[::3], np.sqrt(np.diagonal(G)[::3]))
            ),
            one.after,
        )

    def _restitution(self, now: list[int], back: Array) -> Array:
        """Return the coefficients of restitution (k,): of the points `now`, zero where a series of
        impacts has come to its limit, then those of the stops, `back`.
        """
        over = self._accumulated(now)
        return np.append(np.where([i in over for i in now], 0.0, self.terms.e[now]), back)

    def _friction(self, now: list[int], stops: TouchingStops) -> Array:
        """Return the coefficients of friction (k,): kinetic ones of the points `now`, then zeros
        for the stops.
        """
        return np.append(self.terms.kinetic[now], np.zeros(len(stops.keys)))

    def _accumulated(self, now: list[int]) -> set[int]:
        """Return the points among `now` whose series of impacts has reached its limit, with all
        points of the flat ends that they belong to.
        """
        return self.rims.with_whole_ends(
            {i for i in now if i in self.series and self.series[i].limit is not None}
        )

    def _drive_work(self, t: float, v: Array, dv: Array, P: Array) -> float:
        """Return the work (J) that prescribed motion does while the speeds v change by dv under the
        impulses P (nv,) of contacts. Constraints that do not depend on time do no work.
        """
        h = self.handler
        if h.system.driven is None and not h.machine.spec.rheonomic:
            return 0.0
        return float((v + 0.5 * dv) @ (self.terms.at(t).M @ dv - P))

    def _without_rebound(
        self, t: float, now: list[int], G: Array, rows: ContactRows, mu: Array, why: str
    ) -> Blow:
        """Handle an impact for which the law has no solution, for the reason `why`: return the
        impact without rebound, or raise SimulationError where the contact's `paradox` option is
        'stop'.
        """
        c = self.points[now[0]].contact
        what = (
            f"at t = {t:.9g} s the impact at {self.terms.named(now)} has no solution by {c.law}:"
            f" {why}"
        )
        if c.paradox == "stop":
            raise SimulationError(
                f"{what}; lower friction or restitution, or say paradox = 'impact', which lets it"
                " come to rest"
            )
        try:
            one = blow(G, rows.b, np.zeros(len(mu)), mu, c.law, c.impacts, rows=rows)
        except SingularError:
            raise SimulationError(f"{what}; nor has it one without rebound") from None
        self.terms.remark(f"{what}; an impact without rebound was taken")
        return one

    def _update_ledger(self, u: Array, e: Array, mu: Array, one: Blow, work: float) -> None:
        """Add to the ledger how well an impact keeps the laws: complementarity, cone, energy gained
        and dissipated.
        """
        N = one.P[::3]
        t = one.P.reshape(-1, 3)[:, 1:]
        k = self.terms.ledger
        most = float(N.max()) or 1.0
        fast = float(np.abs(u[::3]).max()) or 1.0
        by_newton = IMPACT_LAWS[self.points[0].contact.law].by_speeds and not one.order
        left = (
            float(np.abs(N * (one.after[::3] + e * np.minimum(u[::3], 0.0))).max()) / (most * fast)
            if by_newton
            else 0.0
        )
        outside = float(np.maximum(np.linalg.norm(t, axis=1) - mu * N, 0.0).max()) / most
        gain = max(work, 0.0) / (0.5 * self.terms.energy or 1.0)
        self.terms.ledger = replace(
            k,
            complementarity=max(k.complementarity, left),
            cone=max(k.cone, outside),
            gain=max(k.gain, gain),
            dissipated=k.dissipated - work,
            impacts=k.impacts + 1,
        )

    def _log_hits(self, t: float, now: list[int], u: Array, one: Blow) -> None:
        """Log the impact of each of the points `now` that received an impulse, and record it as a
        `Hit`. u: speeds before it.
        """
        P = np.where(one.known, one.P, np.nan)
        after = one.after
        for n, i in enumerate(now):
            approach = -u[3 * n]
            back = after[3 * n]
            name = self.points[i].name
            if one.P[3 * n] == 0.0:
                continue
            own = [
                3 * j
                for j, other in enumerate(now)
                if self.points[other].point.contact == self.points[i].point.contact
            ]
            total = tuple(float(sum(one.P[j + axis] for j in own)) for axis in range(3))
            self.hits.append(
                Hit(
                    float(t),
                    i,
                    float(approach),
                    tuple(P[3 * n : 3 * n + 3].tolist()),
                    total,
                    one.modes[n],
                )
            )
            least = 1e-9 * np.abs(u[::3]).max()
            rebound = f"rebounds with {back:.6g} m/s" if back > least else "does not rebound"
            met = (
                f"meets with {approach:.6g} m/s and {rebound}"
                if approach > least
                else f"is struck from elsewhere and {rebound}"
            )
            self.handler.say(t, f"{name} {met}")

    def without_collision(self, t: float, now: list[int], u: Array, P: Array) -> None:
        """Record an impact without collision (Painleve) among the impacts: points `now` with speeds
        u (3 k,) before it and impulses P (3 k,).
        """
        for n, i in enumerate(now):
            if P[3 * n] == 0.0:
                continue
            own = [
                3 * j
                for j, other in enumerate(now)
                if self.points[other].point.contact == self.points[i].point.contact
            ]
            total = tuple(float(sum(P[j + axis] for j in own)) for axis in range(3))
            impulse = tuple(P[3 * n : 3 * n + 3].tolist())
            self.hits.append(Hit(float(t), i, float(-u[3 * n]), impulse, total, "slip"))

    def _gap_scale(self, i: int) -> float:
        """Return the length (m) relative to which the rounding of the gap of point i is judged: the
        largest of the mechanism's length, the sizes of the shapes, and the present values of
        sliding coordinates.
        """
        p = self.points[i].point
        q, _ = self.handler.state_of()
        slides = [abs(q[c.qi]) for c in self.handler.machine.layout.coordinates if c.motion == 1]
        return max(self.terms.length, p.radius, p.size, *slides)
