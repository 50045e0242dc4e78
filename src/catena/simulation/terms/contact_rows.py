"""Contacts as rows that switch: a point that may touch a surface, its mode, its rows and its guards
on the tape.

    open     no row                                       guard: gap
    slip     the normal row; friction -mu N d             guards: N, u . d - |u|/2
    stick    the normal row and two tangential ones       guards: N, mu N - |f|

u is the slip speed (2,) along the tangents, d = u/|u| its direction. Beyond the end of a slip,
where u . d has changed its sign, and below `still`, d is that of the mode, so that the tape is
smooth where the integrator looks past an event. A slip that has turned by 60 degrees from the
mode's direction, or has come to zero, is an event; the first only renews the direction.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import casadi as ca
import numpy as np

from ...collision import ContactPoint
from ...compiler import Tracer, elements, entries, vector
from ...contact import Meet, meet
from ...kernels import ROUNDS, factor_rows, independent, solve, usual_length
from ...model import Contact
from .guards import Guard, Meaning

STILL = 1e-10  # of the speed that all energy would give: a slip that is none
NOISE = 1e-3  # of `still`: a slip this slow against its direction is rounding
# rad: a slip this near the direction of its mode has it, so that a slow straight slip is not stiff
# across it
STRAIGHT = 1e-12
# times STRAIGHT and `still`, m/s: so slow across that direction it is rounding, which would turn
# the friction of a slip that comes to rest
ASIDE = 1e8
TURN = 0.5  # the cosine between a slip and the direction of its mode, at which that is renewed


# m: the slack of a contact that is switched off; its gap may be anything
OFF = 1e30


class ContactMode(NamedTuple):
    """The mode of a contact point, of numbers or of symbols.

    closed, stick: 1 or 0. x, y: the direction of its slip along the tangents, where it is slower
    than `still`, m/s. slack: N by which its force may miss its cone; of what is open, m by which
    its gap may be below zero. weight: its share of what rigid bodies do not determine, 0 to 1.
    static, kinetic: coefficients of friction, which are no part of the tape. straight: see
    STRAIGHT; derivatives take zero. N, fx, fy: forces, N, near which those are taken that rigid
    bodies do not determine, at the time `since`, s; N_rate, fx_rate, fy_rate: how these change,
    N/s.
    """

    closed: Any = 0.0
    stick: Any = 0.0
    x: Any = 1.0
    y: Any = 0.0
    still: Any = 0.0
    slack: Any = 0.0
    weight: Any = 1.0
    static: Any = 0.0
    kinetic: Any = 0.0
    straight: Any = STRAIGHT
    N: Any = 0.0
    fx: Any = 0.0
    fy: Any = 0.0
    N_rate: Any = 0.0
    fx_rate: Any = 0.0
    fy_rate: Any = 0.0
    since: Any = 0.0

    @property
    def word(self) -> str:
        """Open, stick or slip."""
        return ("stick" if self.stick > 0.5 else "slip") if self.closed > 0.5 else "open"

    @property
    def opened(self) -> ContactMode:
        """Open."""
        return ContactMode()

    @property
    def present(self) -> bool:
        """Whether it has a place; see `contact_slots.SlotMode`."""
        return True


class RestMode(NamedTuple):
    """1 where nothing can move, and nothing does."""

    rest: Any = 0.0


class SwitchedRows(NamedTuple):
    """Constraint rows that can be switched: residuals, rates, gamma (m,) each, B (m, nv), and the
    switches z (m,), 1: on, 0: off.
    """

    error: ca.SX
    rate: ca.SX
    gamma: ca.SX
    B: ca.SX
    z: ca.SX


@dataclass(frozen=True)
class TouchingPoint:
    """A contact point of a run: where it is, and its contact's friction."""

    point: ContactPoint
    contact: Contact

    mode: ClassVar[Any] = ContactMode()

    @property
    def name(self) -> str:
        """Of the point."""
        return self.point.name

    @property
    def rough(self) -> bool:
        """Whether it has friction."""
        return self.contact.static > 0.0

    @property
    def count(self) -> int:
        """Of its rows."""
        return 3 if self.rough else 1

    def meet(self, s: Tracer, mode: Any = None) -> Meet:
        """Gap and axes at the tracer's symbols."""
        return meet(s, self.point, self.rough)

    def watched(self, s: Tracer, mode: ContactMode) -> Iterator[tuple[Meaning, Any, Any]]:
        """What must stay above zero besides its guards, and the sign of its derivative; 1 of an
        edge.
        """
        return iter(())

    def rows(self, s: Tracer, mode: ContactMode) -> SwitchedRows:
        """The normal row, and the two of the tangents."""
        meet = self.meet(s, mode)
        rate = vector(meet.velocity)
        gamma = -ca.jtimes(rate, s.q, s.coordinate_rate())
        error = vector([meet.gap, *([0.0] * (self.count - 1))])
        z = vector([mode.closed, *([mode.closed * mode.stick] * (self.count - 1))])
        return SwitchedRows(
            ca.densify(error),
            ca.densify(rate),
            ca.densify(gamma),
            ca.densify(ca.jacobian(rate, s.v)),
            z,
        )

    def row_scales(self, s: Tracer) -> list[float]:
        """N of its rows, where rank is decided (`kernels.rank`)."""
        return [usual_length(s.layout) ** 2] * self.count

    def pushed(self, mode: ContactMode, B: ca.SX, u: ca.SX) -> ca.SX:
        """B (count, nv) with the friction of a slip u (count,) added to the normal row: what its
        forces act along.
        """
        if not self.rough:
            return B
        x, y = self.direction(mode, elements(u[1:]))
        mu = mode.kinetic * (1.0 - mode.stick)
        return ca.vertcat(B[0, :] - mu * (x * B[1, :] + y * B[2, :]), B[1:, :])

    def weights(self, mode: ContactMode) -> list[Any]:
        """(count,) of its forces: zero while it is open."""
        w = mode.weight * mode.closed
        return [w, *([mode.static * w * mode.stick] * (self.count - 1))]

    def share(self, mode: ContactMode, t: Any) -> list[Any]:
        """(count,): the forces of the mode near which those that are not determined are taken at t,
        s.
        """
        later = t - mode.since
        near = (mode.N, mode.fx, mode.fy)
        rates = (mode.N_rate, mode.fx_rate, mode.fy_rate)
        return [x + later * rate for x, rate in zip(near[: self.count], rates)]

    def direction(self, mode: ContactMode, u: Sequence[Any]) -> tuple[Any, Any]:
        """Of the slip u (2,), or that of the mode."""
        speed = ca.sqrt(u[0] ** 2 + u[1] ** 2)
        along = u[0] * mode.x + u[1] * mode.y
        across = u[0] * mode.y - u[1] * mode.x
        moving = ca.logic_and(
            ca.logic_and(along > 0.0, speed > mode.still),
            ca.fabs(across) >= mode.straight * (speed + ASIDE * mode.still),
        )
        safe = ca.if_else(moving, speed, 1.0)
        return ca.if_else(moving, u[0] / safe, mode.x), ca.if_else(moving, u[1] / safe, mode.y)

    def guards(
        self, part: int, mode: ContactMode, gap: Any, u: Any, rate: Any, force: Any
    ) -> Iterator[Guard]:
        """Of its gap u, rate: speeds and accelerations, force, each along the normal and the
        tangents.
        """
        closed = mode.closed > 0.5
        slack = mode.slack
        yield Guard(
            Meaning.TOUCHES,
            part,
            _while(ca.logic_not(closed), gap + slack),
            _while(ca.logic_not(closed), u[0]),
        )
        yield Guard(Meaning.LOSES_CONTACT, part, _while(closed, force[0] + slack), ca.SX(-1))
        if self.rough:
            sticks = ca.logic_and(closed, mode.stick > 0.5)
            slips = ca.logic_and(closed, mode.stick < 0.5)
            f = ca.sqrt(force[1] ** 2 + force[2] ** 2)
            speed = ca.sqrt(u[1] ** 2 + u[2] ** 2)
            yield Guard(
                Meaning.LEAVES_CONE,
                part,
                _while(sticks, mode.static * force[0] - f + slack),
                ca.SX(-1),
            )
            along, faster = (x[1] * mode.x + x[2] * mode.y for x in (u, rate))
            yield Guard(
                Meaning.SLIP_TURNS,
                part,
                _while(slips, along - TURN * speed + NOISE * mode.still),
                _while(slips, faster),
            )


@dataclass(frozen=True)
class Rest:
    """A part without rows: whether everything is at rest, and must stay so."""

    name = "rest"
    mode = RestMode()

    def rows(self, s: Tracer, mode: RestMode) -> SwitchedRows:
        """None."""
        return no_rows(s)

    def row_scales(self, s: Tracer) -> list[float]:
        """Of no row."""
        return []


def no_rows(s: Tracer) -> SwitchedRows:
    """Of a part that has none."""
    return SwitchedRows(*(ca.SX.zeros(0),) * 3, ca.SX.zeros(0, s.layout.nv), ca.SX.zeros(0))


def _while(mode: Any, value: Any) -> ca.SX:
    return ca.if_else(mode, value, 1.0)


# --- forces
def weighted_forces(
    B: ca.SX, Y: ca.SX, r: ca.SX, keep: ca.SX, weight: ca.SX, share: ca.SX
) -> ca.SX:
    """f with S f = r in the rows that are kept, S = B Y; where that leaves a choice, the f of least
    sum (f - share)^2 / weight (weight 0: off, and no share).

    Y (nv, m) is what the forces do: S need not be symmetric, for friction of what slips is a part
    of it. f = share + D S' y, S D S' y = r - S share; the last is B (Y D Y') B', which takes far
    fewer operations where there are more rows than speeds.
    """
    size = ca.fabs(ca.sum2(B * Y.T))
    D = ca.diag(weight)
    unit = ca.diag(keep / ca.if_else(size > 0.0, size, 1.0))
    r, own = unit @ r, unit @ B
    L = entries(ca.densify(own @ (Y @ D @ Y.T) @ own.T))
    y = np.full(keep.numel(), 0.0, dtype=object)
    factor_rows(L, elements(keep), y)
    f = share
    for _ in range(ROUNDS):
        y[:] = elements(ca.densify(r - own @ (Y @ f)))
        solve(L, y)
        f = f + D @ (Y.T @ (own.T @ vector(y)))
    return f


def kept_rows(
    B: ca.SX, z: ca.SX, others: ca.SX, size: Sequence[float], column: np.ndarray
) -> ca.SX:
    """(m,) 1 for the rows B that are on and say more than other rows do, else 0."""
    both = ca.vertcat(ca.diag(z) @ B, others)
    G = ca.densify(both @ ca.diag(ca.SX(column)) @ both.T)
    keep = np.full(both.shape[0], 0.0, dtype=object)
    independent(entries(G), [x if x != 0.0 else G[k, k] for k, x in enumerate(size)], keep)
    return vector(keep[: B.shape[0]])


def answered(S: ca.SX, r: ca.SX, keep: ca.SX) -> ca.SX:
    """mu with S mu = r in the rows that are kept, and zero in the others."""
    L = entries(S)
    y = np.full(keep.numel(), 0.0, dtype=object)
    factor_rows(L, elements(keep), y)
    mu = ca.SX.zeros(keep.numel())
    for _ in range(2):
        y[:] = elements(ca.densify(r - S @ mu))
        solve(L, y)
        mu = mu + vector(y)
    return mu
