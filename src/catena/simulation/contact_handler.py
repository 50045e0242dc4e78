"""The contacts of a run at its events: impacts where gaps close, and the modes that hold afterwards.

Between events the tape has the modes (`contact_rows.py`). At an event the contacts that touch are looked at together: speeds jump by
a law of impact (`analysis.contact_impact`), then all combinations of modes are tried (`analysis.contact_modes`). What is small is so
beside the largest energy so far, in the metric of the mass matrix; a gap beside the length of the mechanism.
"""

from __future__ import annotations

from dataclasses import asdict, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from ..analysis.contact_impact import Blow, blow, response
from ..analysis.contact_modes import MOST, OPEN, SLIP, STICK, Friction, Solution, row_sizes, solutions
from ..errors import SimulationError, SingularError, StateError
from ..kernels.rank import RANK, usual_length
from ..machine.constraint_rows import Metric, spaces
from ..machine.lookup import where
from ..results.ledger import ContactLedger
from .accumulation import Impacts
from .contact_rows import ContactMode, RestMode

if TYPE_CHECKING:
    from .event_handler import EventHandler

Array = NDArray[np.float64]
DEEP = 1e-9  # m: how deep a run may start in penetration; it is put on the surface
NEAR = 1e-10  # of the mechanism's length: a gap this small at an impact is closed too
STILL = 1e-10  # of the speed that all energy would give: a slip that is none
RESTS = 1e-13  # of that speed: an approach that is none
SLOWER = 4.0  # times the last impact of a series that has come to its limit: as slow is what it sets in motion
WEAK = 2e-11  # of the forces that act: by so much a force may miss its cone before an event
LEAST = 1e-3  # the smallest share of what rigid bodies do not determine, beside the largest


class Terms(NamedTuple):
    """At one state: M; J (3 k, nv) and u = J v (3 k,) of all contact points, rows of smooth ones' tangents zero; gap (k,); gamma
    (3 k,), so that a contact's acceleration is J a - gamma."""

    M: Array
    J: Array
    u: Array
    gap: Array
    gamma: Array


class Hit(NamedTuple):
    """One point in one impact: when (s), which point, speed of approach (m/s), impulse (N s) along normal and tangents, NaN where it is
    not determined, and summed over the points of its contact; mode."""

    time: float
    point: int
    approach: float
    impulse: tuple[float, ...]
    total: tuple[float, ...]
    mode: str


class ContactHandler:
    """The contacts of one run. touching: the points whose gap is closed. series: of impacts at each point. hits: all impacts."""

    def __init__(self, handler: EventHandler):
        self.handler, self.points = handler, handler.constraints.contacts
        self.first, self.places = handler.constraints.first_contact, handler.constraints.contact_rows()
        self.touching: set[int] = set()
        self.series: dict[int, Impacts] = {}
        self.hits: list[Hit] = []
        self.length = usual_length(handler.machine.layout)
        self.static, self.kinetic = (np.array([getattr(p.contact, x) for p in self.points]) for x in ("static", "kinetic"))
        self.e = np.array([p.contact.restitution for p in self.points])
        self.available = 0.0  # twice the energy that forces have to give, J
        self.stopped: list[int] = []  # points that did not slip at the last choice of modes
        self.kept = ContactLedger(f"{handler.constraints.contacts[0].contact.law}, {handler.constraints.contacts[0].contact.impacts}")

    # ------------------------------------------------------------------------------------------------ to continue later
    def checkpoint(self) -> dict[str, Any]:
        """The state as JSON values; the modes are in the engine."""
        return {"touching": sorted(self.touching), "series": [[k, *x] for k, x in self.series.items()], "hits": self.hits,
                "kept": asdict(self.kept)}  # fmt: skip

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from a `checkpoint`."""
        self.touching, self.series = set(state["touching"]), {k: Impacts(*x) for k, *x in state["series"]}
        self.hits = [Hit(t, k, v, tuple(P), tuple(sums), mode) for t, k, v, P, sums, mode in state["hits"]]
        self.kept = ContactLedger(**state["kept"])

    def ledger(self) -> ContactLedger:
        """How well the laws were kept in impacts; rows add theirs."""
        return self.kept

    # ------------------------------------------------------------------------------------------------ entry points
    def begin(self, t: float) -> None:
        """Which contacts touch at the start; those that approach have their impact."""
        gap = self.terms(t).gap
        worst = int(gap.argmin())
        if gap[worst] < -DEEP:
            p, h = self.points[worst].point, self.handler
            raise StateError(f"simulate: {where(h.machine)}: at the start {p.body!r} is {-gap[worst]:.3g} m deep in {p.other!r} (contact "
                             f"{p.name!r}); start apart, or with the contact closed")  # fmt: skip
        self.touching = {k for k, g in enumerate(gap) if g <= max(NEAR * self.length, DEEP * (g < 0.0))}
        self.impact(t)

    def touch(self, t: float, point: int) -> None:
        """The gap of a point has closed: an impact, with all that touch at this instant."""
        near = self.terms(t).gap <= NEAR * self.length
        self.touching |= {point, *np.flatnonzero(near).tolist()}
        self.impact(t)

    @cached_property
    def _tilts(self) -> dict[int, Any]:
        """Of rims, by point."""
        s = self.handler.system.tracer()
        return {i: ca.Function("tilt", [s.t, s.q, s.v, s.p], [p.tilt(s)]) for i, p in enumerate(self.points) if p.rim}

    def lies_flat(self, t: float, point: int) -> None:
        """The end of a cylinder is flat on a plane: its rim has no lowest point."""
        p = self.points[point].point
        raise SimulationError(f"at t = {t:.9g} s an end of the cylinder of {p.body!r} lies flat on {p.other!r} (contact {p.name!r}): its rim has no "
                              "lowest point there; let three or four frames on the rim touch instead")  # fmt: skip

    # ------------------------------------------------------------------------------------------------ terms
    def terms(self, t: float) -> Terms:
        """Of the present state."""
        h = self.handler
        (q, v), modes = h.state_of(), h.engine.modes[:, 0]
        M, _, _, B, rate, _ = (np.array(x) for x in h.system.binding(t, q, v, h.p, modes))
        gap, gamma = (np.array(x).ravel() for x in h.system.touching(t, q, v, h.p, modes))
        k = len(self.points)
        J, u, drift = np.zeros((3 * k, len(v))), np.zeros(3 * k), np.zeros(3 * k)
        for i, at in enumerate(self.places):
            own = slice(3 * i, 3 * i + self.points[i].count)
            J[own], u[own], drift[own] = B[at], rate.ravel()[at], gamma[at]
        h.energy = max(h.energy, float(v @ M @ v), 2.0 * abs(float(h.engine.x[-1, 0])))
        return Terms(M, J, u, gap, drift)

    def response(self, t: float, M: Array, impulsive: bool) -> Array:
        """W (nv, nv): the answer to impulses, or to forces, of all but the contacts."""
        R, by = self.handler.bilateral(t, impulsive)
        return response(M, R, by.column, by.size)

    def _small(self, G: Array, rows: Any, of: float) -> Array:
        """Speeds along rows that are none."""
        return of * np.sqrt(np.maximum(np.diagonal(G)[rows], 0.0) * self.energy)

    @property
    def energy(self) -> float:
        """Twice the largest energy so far, J: of motion and work, or what the forces would do along the mechanism's length."""
        return max(self.handler.energy, self.available)

    def _free(self, t: float, terms: Terms) -> Array:
        """a (nv,) without contacts, which are all open; and what energy the forces have to give."""
        a = self.handler.engine.evaluate("forces", t)[0][:, 0]
        fastest = float(np.abs(terms.J @ a - terms.gamma).max())
        self.available = float(a @ terms.M @ a) * self.length / fastest if fastest > 0.0 else 0.0
        return a

    # ------------------------------------------------------------------------------------------------ impacts
    def impact(self, t: float) -> None:
        """Let the speeds jump where contacts that touch approach; those that separate touch no more."""
        now = sorted(self.touching)
        if not now:
            return
        terms = self.terms(t)
        for i in now:
            if self.points[i].rim and self._tilts[i](t, *self.handler.state_of(), self.handler.p) <= 0.0:
                self.lies_flat(t, i)
        rows = np.array([3 * i + j for i in now for j in range(3)])
        W, J = self.response(t, terms.M, True), terms.J[rows]
        G, u = J @ W @ J.T, terms.u[rows]
        small = self._small(G, slice(None, None, 3), RESTS)
        if (u[::3] < -small).any():
            before, u = u, self._strike(t, now, W, J, G, u, small)
            small = np.maximum(small, self._ended(now, before[::3], np.sqrt(np.diagonal(G)[::3])))
        self.touching = {i for i, speed, limit in zip(now, u[::3], small) if speed <= limit}

    def _ended(self, now: list[int], u: Array, size: Array) -> Array:
        """Speeds that are none where a series of impacts has come to its limit: that of its last, also where another point lifts
        because of it, as a block that rocks from one edge to the other without rebound."""
        over = [n for n, i in enumerate(now) if u[n] < 0.0 and i in self.series and self.series[i].limit is not None]
        return SLOWER * size * max((-u[n] / size[n] for n in over), default=0.0)

    def _strike(self, t: float, now: list[int], W: Array, J: Array, G: Array, u: Array, small: Array) -> Array:
        """The impact of contacts `now`; the speeds after."""
        self._few(now)
        for i, speed, limit in zip(now, u[::3], small):
            if speed < -limit:
                self.series[i] = self.series.get(i, Impacts()).then(t, -speed, self._place(i))
        over = [i in self.series and self.series[i].limit is not None for i in now]
        e, c = np.where(over, 0.0, self.e[now]), self.points[now[0]].contact
        try:
            one = blow(G, u, e, self.kinetic[now], c.law, c.impacts)
        except SingularError:
            e = np.zeros(len(now))
            one = self._jammed(t, now, G, u)
        if one.several:
            self._remark(f"at t = {t:.9g} s the impact at {self._named(now)} has several solutions, one of which was taken")
        (q, v), dv = self.handler.state_of(), W @ (J.T @ one.P)
        work = float(one.P @ (u + one.after) / 2.0)
        self.handler.put(q, v + dv, work)
        self._count(u, e, self.kinetic[now], one, work)
        self._log_hits(t, now, u, one)
        return one.after

    def _jammed(self, t: float, now: list[int], G: Array, u: Array) -> Blow:
        """Where friction lets no impulse of the law rebound: stop, or an impact without rebound."""
        c, what = self.points[now[0]].contact, f"at t = {t:.9g} s the impact at {self._named(now)} jams: no impulse within its friction cone"
        if c.paradox == "stop":
            raise SimulationError(f"{what} gives the rebound of {c.law}'s law; lower friction or restitution, or say paradox = 'impact', "
                                  "which lets it come to rest")  # fmt: skip
        try:
            one = blow(G, u, np.zeros(len(now)), self.kinetic[now], c.law)
        except SingularError:
            raise SimulationError(f"{what}, nor without rebound, keeps the law of {c.law}") from None
        self._remark(f"{what} gives the rebound of {c.law}'s law; an impact without rebound was taken")
        return one

    def _count(self, u: Array, e: Array, mu: Array, one: Blow, work: float) -> None:
        """Keep what an impact says of the laws."""
        N, t, k = one.P[::3], one.P.reshape(-1, 3)[:, 1:], self.kept
        most, fast = float(N.max()) or 1.0, float(np.abs(u[::3]).max()) or 1.0
        by_newton = self.points[0].contact.law == "newton" and not one.order
        left = float(np.abs(N * (one.after[::3] + e * np.minimum(u[::3], 0.0))).max()) / (most * fast) if by_newton else 0.0
        outside = float(np.maximum(np.linalg.norm(t, axis=1) - mu * N, 0.0).max()) / most if one.known.all() else 0.0
        gain = max(work, 0.0) / (0.5 * self.energy or 1.0)
        self.kept = replace(k, complementarity=max(k.complementarity, left), cone=max(k.cone, outside), gain=max(k.gain, gain),
                            dissipated=k.dissipated - work, impacts=k.impacts + 1)  # fmt: skip

    def _remark(self, words: str) -> None:
        self.kept = replace(self.kept, remark=words)

    def _log_hits(self, t: float, now: list[int], u: Array, one: Blow) -> None:
        P, after = np.where(one.known, one.P, np.nan), one.after
        for n, i in enumerate(now):
            approach, back, name = -u[3 * n], after[3 * n], self.points[i].name
            if one.P[3 * n] == 0.0:
                continue
            own = [3 * j for j, other in enumerate(now) if self.points[other].point.contact == self.points[i].point.contact]
            total = tuple(float(sum(one.P[j + axis] for j in own)) for axis in range(3))
            self.hits.append(Hit(float(t), i, float(approach), tuple(P[3 * n : 3 * n + 3].tolist()), total, one.modes[n]))
            least = 1e-9 * np.abs(u[::3]).max()
            rebound = f"rebounds with {back:.6g} m/s" if back > least else "does not rebound"
            met = f"meets with {approach:.6g} m/s and {rebound}" if approach > least else f"is struck from elsewhere and {rebound}"
            self.handler.say(t, f"{name} {met}")

    def _place(self, i: int) -> float:
        """A length beside which the gap of a point is rounded."""
        p = self.points[i].point
        q, _ = self.handler.state_of()
        slides = [abs(q[c.qi]) for c in self.handler.machine.layout.coordinates if c.motion == 1]
        return max(self.length, p.radius, p.size, *slides)

    def _few(self, now: list[int]) -> None:
        if len(now) > MOST:
            raise SimulationError(f"{len(now)} contacts touch at one instant, and the modes of at most {MOST} are enumerated")

    # ------------------------------------------------------------------------------------------------ modes
    def choose(self, t: float, again: bool = True) -> None:
        """Find the modes of all contacts, and log what has changed."""
        before = [self.handler.mode(self.first + k) for k in range(len(self.points))]
        self._open_all()
        now = sorted(self.touching)
        if now:
            self._stop_slow(t, now)
            self._hold(t, now, again)
        for k, old in enumerate(before):
            self._tell(t, k, old)

    def _open_all(self) -> None:
        for k in range(len(self.points)):
            self.handler.set_mode(self.first + k, ContactMode())
        self.handler.set_mode(self.first + len(self.points), RestMode())

    def _stop_slow(self, t: float, now: list[int]) -> None:
        """Slips that are none become zero, and normal speeds too: by an impulse without rebound."""
        terms = self.terms(t)
        self._free(t, terms)
        W = self.response(t, terms.M, True)
        G = terms.J @ W @ terms.J.T
        slow = self.stopped = [i for i in now if self._slow(G, terms.u, i)]
        rows = [3 * i for i in now] + [3 * i + j for i in slow for j in (1, 2) if self.points[i].rough]
        u = terms.u[rows]
        if not u.any():
            return
        J, (q, v) = terms.J[rows], self.handler.state_of()
        P = np.linalg.lstsq(G[np.ix_(rows, rows)], -u, rcond=RANK)[0]
        self.handler.put(q, v + W @ J.T @ P, float(P @ (u + J @ (v + W @ J.T @ P)) / 2.0))

    def _slow(self, G: Array, u: Array, i: int) -> bool:
        t = slice(3 * i + 1, 3 * i + 3)
        return bool(np.linalg.norm(u[t]) <= self._small(G, t, STILL).max())

    def _hold(self, t: float, now: list[int], again: bool) -> None:
        self._few(now)
        terms = self.terms(t)
        rows = np.array([3 * i + j for i in now for j in range(3)])
        W, J = self.response(t, terms.M, False), terms.J[rows]
        free = self._free(t, terms)
        G, b, u = J @ W @ J.T, J @ free - terms.gamma[rows], terms.u[rows]
        still = np.array([self._small(G, slice(3 * n + 1, 3 * n + 3), STILL).max() for n in range(len(now))])
        found = solutions(G, b, Friction(self.static[now], self.kinetic[now], self._directions(u, still), np.zeros(len(now))))
        shared = bool(found) and found[0].loose.shape[1] > 0
        if shared and len(found) > 1 and not self.kept.remark:
            self._remark(f"from t = {t:.9g} s the motion depends on how {self._named(now)} share the load, which rigid bodies do not "
                         "determine; the most even shares were taken")  # fmt: skip
        odd = not found or (len(found) > 1 and not shared and (self.static[now] == self.kinetic[now]).all())
        if odd and self._paradox(t, now, found, G, u, W, J) and again:
            self.choose(t, False)
            return
        if not found:
            raise SimulationError(self._no_motion(t, now, found))
        self._set(t, now, found[0], G, b, u, still)
        self.touching = {i for i, mode in zip(now, found[0].modes) if mode != OPEN}
        self._rest(t, now, terms, found[0])

    def _directions(self, u: Array, still: Array) -> Array:
        """(k, 2) of slips, NaN of what is at rest."""
        t = u.reshape(-1, 3)[:, 1:]
        speed = np.linalg.norm(t, axis=1)
        return np.where((speed > still)[:, None], t / np.where(speed > 0.0, speed, 1.0)[:, None], np.nan)

    def _set(self, t: float, now: list[int], one: Solution, G: Array, b: Array, u: Array, still: Array) -> None:
        size = row_sizes(G)
        scale, most = float(np.abs(b / size).max()), float(one.force[::3].max(initial=0.0))
        for n, (i, mode) in enumerate(zip(now, one.modes)):
            if mode == OPEN:
                continue
            slack = WEAK * scale / size[3 * n] * (1.0 + self.static[i])
            weight = max(LEAST, one.force[3 * n] / most) if most > 0.0 else 1.0
            d = one.direction[n] if one.direction[n].any() else np.array([1.0, 0.0])
            new = ContactMode(1.0, float(mode == STICK), d[0], d[1], still[n], slack, weight, self.static[i], self.kinetic[i])
            self.handler.set_mode(self.first + i, new)
        if one.loose.shape[1]:
            self._widen(t, now)

    def _widen(self, t: float, now: list[int]) -> None:
        """Of forces that are not determined the tape has one choice; where that misses a cone by little, others do not: more slack."""
        force = self.handler.engine.evaluate("forces", t)[1][:, 0]
        for i in now:
            f, mode = force[self.places[i]], self.handler.mode(self.first + i)
            missed = max(-f[0], np.linalg.norm(f[1:]) - self.static[i] * f[0] if mode.stick else 0.0)
            if mode.closed and missed > 0.5 * mode.slack:
                self.handler.set_mode(self.first + i, mode._replace(slack=2.0 * missed + mode.slack))

    def _rest(self, t: float, now: list[int], terms: Terms, one: Solution) -> None:
        """Where rows hold every speed, and none moves, nothing shall move by rounding either."""
        h = self.handler
        q, v = h.state_of()
        if h.system.driven is not None or h.machine.mechanism.nonholonomic or h.machine.spec.rheonomic or float(v @ terms.M @ v) > RESTS**2 * self.energy:
            return
        R, by = h.bilateral(t, False)
        on = [3 * i + j for i, mode in zip(now, one.modes) if mode != OPEN for j in range(3 if mode == STICK else int(self.static[i] == 0.0))]
        A = np.vstack([R, terms.J[on]])
        if len(A) and spaces(A, Metric(by.column, np.append(by.size, np.full(len(on), self.length**2))), np.sqrt(RANK)).rank == len(v):
            h.put(q, np.zeros(len(v)))
            h.set_mode(self.first + len(self.points), RestMode(1.0))

    def _tell(self, t: float, k: int, before: ContactMode) -> None:
        now, name = self.handler.mode(self.first + k).word, self.points[k].name
        if now == before.word:
            if now == SLIP and k in self.stopped and self.points[k].rough:
                self.handler.say(t, f"{name} slips the other way")
            return
        if now == OPEN:
            self.kept = replace(self.kept, changes=self.kept.changes + 1)
            self.handler.say(t, f"{name} opens")
            return
        self.kept = replace(self.kept, changes=self.kept.changes + 1)
        series = self.series.get(k) if before.word == OPEN else None
        limit = series.limit if series is not None else None
        if limit is not None:  # otherwise it may go on: what rocks closes and opens again
            del self.series[k]
        self.kept = replace(self.kept, accumulations=self.kept.accumulations + (limit is not None))
        said = f", the limit of {series.number} impacts" if series is not None and limit is not None else ""
        closes = " closes and" if before.word == OPEN else ""
        self.handler.say(t if limit is None else limit, f"{name}{closes} {now}s{said}")

    # ------------------------------------------------------------------------------------------------ paradoxes
    def _named(self, now: list[int]) -> str:
        return ", ".join(f"{self.points[i].name} (of {self.points[i].point.body!r} and {self.points[i].point.other!r})" for i in now)

    def _no_motion(self, t: float, now: list[int], found: list[Solution]) -> str:
        what = "no motion" if not found else f"{len(found)} motions"
        return (f"at t = {t:.9g} s rigid bodies with Coulomb friction have {what} at {self._named(now)}, as Painleve found; "
                "lower the friction, or say paradox = 'impact'")  # fmt: skip

    def _paradox(self, t: float, now: list[int], found: list[Solution], G: Array, u: Array, W: Array, J: Array) -> bool:
        """What to do where there is no motion, or several; True where an impact without collision has changed the speeds."""
        if self.points[now[0]].contact.paradox == "stop":
            raise SimulationError(self._no_motion(t, now, found))
        blows = solutions(G, u, Friction.at_rest(self.kinetic[now], self.kinetic[now]))
        P = max((one.force for one in blows), key=lambda f: float(np.abs(f).max()), default=np.zeros(len(u)))
        self._remark(f"at t = {t:.9g} s there were {len(found)} motions at {self._named(now)} (Painleve): an impact without collision was taken")
        self.handler.say(t, f"impact without collision at {self._named(now)}")
        (q, v), after = self.handler.state_of(), u + G @ P
        self.handler.put(q, v + W @ (J.T @ P), float(P @ (u + after) / 2.0))
        return bool(P.any())
