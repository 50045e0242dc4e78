"""The impacts of a run's contacts: where gaps close, speeds jump by a law of impact
(`analysis.contact_impact`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...contact import ENOUGH, Blow, RimImpact, blow
from ...errors import QuestionError, SimulationError, SingularError
from ...model import IMPACT_LAWS
from .accumulation import Impacts
from .contact_terms import ContactTerms
from .rim_handler import RimHandler
from .touching_stops import TouchingStops

Array = NDArray[np.float64]
RESTS = 1e-13  # of the speed that all energy would give: an approach that is none
# of the mobility of free bodies: none; and of their speed, what is no approach of bodies that
# cannot give way
HELD, SLOW = 1e-12, 1e-9
# times the last impact of a series that has come to its limit: as slow is what it sets in motion
SLOWER = 4.0


class Hit(NamedTuple):
    """One point in one impact: when (s), which point, speed of approach (m/s), impulse (N s) along
    normal and tangents, NaN where it is not determined, and summed over the points of its contact;
    mode.
    """

    time: float
    point: int
    approach: float
    impulse: tuple[float, ...]
    total: tuple[float, ...]
    mode: str


class ContactImpacts:
    """The impacts of one run. series: of impacts at each point. hits: all impacts."""

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
        """Let the speeds jump where contacts that touch approach; those that separate touch no
        more. landed: a rim that has come down flat.
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
    ) -> tuple[Array, Array, Array, Array]:
        """W, J (3 k, nv) and speeds (3 k,) of these points and of stops, and normal speeds (k,)
        that are none.
        """
        terms = self.terms.at(t)
        rows = np.array([3 * i + j for i in now for j in range(3)])
        W = self.terms.response(t, terms.M, True, stops=False)
        J = np.vstack([terms.J[rows], stops.J])
        return W, J, np.append(terms.u[rows], stops.speeds), self._small(J @ W @ J.T, J, terms.M)

    def _small(self, G: Array, J: Array, M: Array) -> Array:
        """Normal speeds that are none; where locks and prescribed motion hold both bodies, beside
        what they would be if nothing did.
        """
        free = J @ np.linalg.solve(M, J.T)
        held = np.diagonal(G)[::3] <= HELD * np.diagonal(free)[::3]
        return np.where(
            held,
            self.terms.small(free, slice(None, None, 3), SLOW),
            self.terms.small(G, slice(None, None, 3), RESTS),
        )

    def _ended(self, now: list[int], stops: TouchingStops, u: Array, size: Array) -> Array:
        """Speeds that are none where a series of impacts has come to its limit: that of its last,
        also where another point lifts because of it, as a block that rocks from one edge to the
        other without rebound.
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
        return SLOWER * size * max((-u[n] / size[n] for n in over), default=0.0)

    def _jump(
        self,
        t: float,
        now: list[int],
        stops: TouchingStops,
        W: Array,
        J: Array,
        u: Array,
        small: Array,
    ) -> tuple[list[int], Array, Array]:
        """The impact of contacts `now` and of stops of joints: the contacts that took part, speeds
        that are none, and the speeds after.
        """
        for i, speed, limit in zip(now, u[::3], small):
            if speed < -limit:
                self.series[i] = self.series.get(i, Impacts()).then(t, -speed, self._place(i))
        c = self.points[now[0]].contact
        proved = self.rims.proved(now)
        back = stops.meet(t, u[::3][len(now) :], small[len(now) :])
        e = self._restitution(now, back)
        mu = self._friction(now, stops)
        if not self._over(now) and self.rims.turn(
            t, now, RimImpact(W, J, u, e, mu, c.law, c.impacts)
        ):
            now = sorted(self.terms.touching)
            (W, J, u, small), e, mu = (
                self._problem(t, now, stops),
                self._restitution(now, back),
                self._friction(now, stops),
            )
        # without rebound the laws of several points are one
        G = J @ W @ J.T
        law = "newton" if self._over(now) and proved == ENOUGH else c.law
        try:
            one = blow(G, u, e, mu, law, c.impacts, proved)
        except QuestionError as why:
            raise SimulationError(
                f"at t = {t:.9g} s the impact at {self.terms.named(now)} has no answer by {c.law}:"
                f" {why}"
            ) from None
        except SingularError as why:
            e = np.zeros(len(mu))
            one = self._jammed(t, now, G, u, mu, str(why))
        if one.several:
            self.terms.remark(
                f"at t = {t:.9g} s the impact at {self.terms.named(now)} has several solutions, one"
                " of which was taken"
            )
        (q, v), dv = self.handler.state_of(), W @ (J.T @ one.P)
        work = float(one.P @ (u + one.after) / 2.0)
        self.handler.put(q, v + dv, work + self._driving(t, v, dv, J.T @ one.P))
        self.handler.engine.restart_scales()
        self._count(u, e, mu, one, work)
        self._log_hits(t, now, u, one)
        stops.log(t, u[::3][len(now) :], one.after[::3][len(now) :], small[len(now) :])
        return (
            now,
            np.maximum(small, self._ended(now, stops, u[::3], np.sqrt(np.diagonal(G)[::3]))),
            one.after,
        )

    def _restitution(self, now: list[int], back: Array) -> Array:
        """(k,): none where a series has come to its limit; then that of stops."""
        over = self._over(now)
        return np.append(np.where([i in over for i in now], 0.0, self.terms.e[now]), back)

    def _friction(self, now: list[int], stops: TouchingStops) -> Array:
        """(k,): then none of stops."""
        return np.append(self.terms.kinetic[now], np.zeros(len(stops.keys)))

    def _over(self, now: list[int]) -> set[int]:
        """Points whose series has come to its limit."""
        return self.rims.together(
            {i for i in now if i in self.series and self.series[i].limit is not None}
        )

    def _driving(self, t: float, v: Array, dv: Array, P: Array) -> float:
        """Work of what drives the mechanism, J, in a jump of v by dv under impulses P (nv,) of
        contacts; other rows do none.
        """
        h = self.handler
        if h.system.driven is None and not h.machine.spec.rheonomic:
            return 0.0
        return float((v + 0.5 * dv) @ (self.terms.at(t).M @ dv - P))

    def _jammed(self, t: float, now: list[int], G: Array, u: Array, mu: Array, why: str) -> Blow:
        """Where no impulse of the law rebounds: stop, or an impact without rebound."""
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
            one = blow(G, u, np.zeros(len(mu)), mu, c.law, c.impacts)
        except SingularError:
            raise SimulationError(f"{what}; nor has it one without rebound") from None
        self.terms.remark(f"{what}; an impact without rebound was taken")
        return one

    def _count(self, u: Array, e: Array, mu: Array, one: Blow, work: float) -> None:
        """Keep what an impact says of the laws."""
        N = one.P[::3]
        t = one.P.reshape(-1, 3)[:, 1:]
        k = self.terms.kept
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
        self.terms.kept = replace(
            k,
            complementarity=max(k.complementarity, left),
            cone=max(k.cone, outside),
            gain=max(k.gain, gain),
            dissipated=k.dissipated - work,
            impacts=k.impacts + 1,
        )

    def _log_hits(self, t: float, now: list[int], u: Array, one: Blow) -> None:
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
        """Enter an impact without collision (Painleve) among the impacts: points `now` with speeds
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

    def _place(self, i: int) -> float:
        """A length beside which the gap of a point is rounded."""
        p = self.points[i].point
        q, _ = self.handler.state_of()
        slides = [abs(q[c.qi]) for c in self.handler.machine.layout.coordinates if c.motion == 1]
        return max(self.terms.length, p.radius, p.size, *slides)
