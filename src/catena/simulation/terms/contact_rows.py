"""Contacts as constraint rows that switch: a point that may touch a surface, with its mode, its
rows and its guards as expressions.

    open     no row                                       guard: gap
    slip     the normal row; friction -mu N d             guards: N, u . d - |u|/2
    stick    the normal row and two tangential ones       guards: N, mu N - |f|

u is the slip velocity (2,) along the tangents, d = u/|u| its direction. Beyond the end of a slip,
where u . d has changed its sign, and at speeds below `still`, d is the direction stored in the
mode, so that the equations are smooth where the integrator evaluates them past an event. A slip
that has turned by 60 degrees from the mode's direction, or has come to zero, is an event; the first
only renews the direction.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import casadi as ca
import numpy as np

from ... import contact
from ...compiler import Tracer, elements, entries, vector
from ...kernels import ROUNDS, factor_rows, independent, solve, usual_length
from ...model import Contact
from .guards import Guard, Meaning

if TYPE_CHECKING:
    from ...collision import ContactPoint
    from ...contact import Meet

# slip speed relative to the speed that the largest energy so far would give: a slower one is none
ZERO_SLIP = 1e-10
# slip speed against the direction of the mode, relative to `still`: a slower one is rounding
REVERSED_SLIP = 1e-3
# angle (rad) between a slip and the direction of its mode: below it the slip has the direction of
# the mode, so that a slow straight slip is not stiff across it
STRAIGHT_SLIP_ANGLE = 1e-12
# slip speed across the direction of the mode, relative to STRAIGHT_SLIP_ANGLE times `still`: a
# slower one is rounding, which would turn the friction of a slip that comes to rest
ACROSS_SLIP = 1e8
# cosine between a slip and the direction of its mode: below it the direction is renewed
RENEWED_SLIP_COSINE = 0.5
# m: the slack of the gap of a contact that is switched off, whose gap may have any value
OFF_SLACK = 1e30


class ContactMode(NamedTuple):
    """The mode of a contact point, as numbers or as symbols.

    closed, stick: 1 or 0: whether the contact is closed, and whether it sticks. x, y: the direction
    of its slip along the tangents, used where the slip is slower than `still`, m/s. slack: by how
    much the force of a closed contact may leave its cone, N, or the gap of an open one may be below
    zero, m. weight: its weight in the choice of forces that rigid bodies do not determine, 0 to 1.
    static, kinetic: coefficients of friction, which are inputs of the compiled equations rather
    than constants. straight: see STRAIGHT_SLIP_ANGLE; zero where derivatives are taken. N, fx, fy:
    forces (N) at the time `since` (s) near which the forces that rigid bodies do not determine are
    taken; N_rate, fx_rate, fy_rate: their rates, N/s.
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
    straight: Any = STRAIGHT_SLIP_ANGLE
    N: Any = 0.0
    fx: Any = 0.0
    fy: Any = 0.0
    N_rate: Any = 0.0
    fx_rate: Any = 0.0
    fy_rate: Any = 0.0
    since: Any = 0.0

    @property
    def word(self) -> str:
        """The mode as a word: "open", "stick" or "slip"."""
        return ("stick" if self.stick > 0.5 else "slip") if self.closed > 0.5 else "open"

    @property
    def opened(self) -> ContactMode:
        """The mode of the same point with the contact open."""
        return ContactMode()

    @property
    def present(self) -> bool:
        """Whether the point exists: always true here; points with features may have none, see
        `contact_slots.SlotMode`.
        """
        return True


class RestMode(NamedTuple):
    """The mode of `Rest`. rest: 1 where the contacts leave no motion free, and nothing moves;
    otherwise 0. inertia: 1 while motions without inertia are given some (`light_motions.py`), so
    that accelerations exist with all contacts open; otherwise 0.
    """

    rest: Any = 0.0
    inertia: Any = 0.0


class JointShareMode(NamedTuple):
    """The mode of a `JointShare`. on: 1 where the share is used, else 0. force: the share at the
    time `since` (s), N or N m; rate: its rate, N/s or N m/s.
    """

    on: Any = 0.0
    force: Any = 0.0
    rate: Any = 0.0
    since: Any = 0.0

    def at(self, t: Any) -> Any:
        """Return the share at t, s; zero where it is not used."""
        return self.on * (self.force + (t - self.since) * self.rate)


class SwitchedRows(NamedTuple):
    """Constraint rows that can be switched: residuals, rates and gamma (m,) each, the Jacobian B
    (m, nv), and the switches z (m,), 1: on, 0: off.
    """

    error: ca.SX
    rate: ca.SX
    gamma: ca.SX
    B: ca.SX
    z: ca.SX


@dataclass(frozen=True)
class TouchingPoint:
    """A contact point of a run. point: its geometry. contact: its laws of friction and impact."""

    point: ContactPoint
    contact: Contact

    mode: ClassVar[Any] = ContactMode()

    @property
    def name(self) -> str:
        """The name of the point."""
        return self.point.name

    @property
    def rough(self) -> bool:
        """Whether the contact has friction."""
        return self.contact.static > 0.0

    @property
    def count(self) -> int:
        """The number of its rows: a normal, and two tangents where it has friction."""
        return 3 if self.rough else 1

    def meet(self, s: Tracer, mode: Any = None) -> Meet:
        """Return the gap, the contact axes, the place and the velocity at the tracer's symbols."""
        return contact.meet(s, self.point, self.rough)

    def watched(self, s: Tracer, mode: ContactMode) -> Iterator[tuple[Meaning, Any, Any]]:
        """Yield further guards of the point as (meaning, value, rate): the event is that the value
        falls to zero; the rate has the sign of its derivative, or is 1 for an edge (`guards.py`).
        """
        return iter(())

    def rows(self, s: Tracer, mode: ContactMode) -> SwitchedRows:
        """Return the normal row, and the two rows of the tangents where it has friction."""
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
        """Return the scales of its rows, by which their rank is decided (N of `kernels.rank`)."""
        return [usual_length(s.layout) ** 2] * self.count

    def force_directions(self, mode: ContactMode, B: ca.SX, u: ca.SX) -> ca.SX:
        """Return the directions (count, nv) in which its forces act: the rows B, with friction in
        the direction of the slip u (count,) added to the normal row.
        """
        if not self.rough:
            return B
        x, y = self.direction(mode, elements(u[1:]))
        mu = mode.kinetic * (1.0 - mode.stick)
        return ca.vertcat(B[0, :] - mu * (x * B[1, :] + y * B[2, :]), B[1:, :])

    def weights(self, mode: ContactMode) -> list[Any]:
        """Return the weights (count,) of its forces where rigid bodies do not determine them: zero
        while it is open.
        """
        w = mode.weight * mode.closed
        return [w, *([mode.static * w * mode.stick] * (self.count - 1))]

    def share(self, mode: ContactMode, t: Any) -> list[Any]:
        """Return forces (count,) at time t (s), N, which are stored in the mode. Where rigid bodies
        do not determine the contact forces, those nearest to these are used.
        """
        later = t - mode.since
        near = (mode.N, mode.fx, mode.fy)
        rates = (mode.N_rate, mode.fx_rate, mode.fy_rate)
        return [x + later * rate for x, rate in zip(near[: self.count], rates)]

    def direction(self, mode: ContactMode, u: Sequence[Any]) -> tuple[Any, Any]:
        """Return the direction of the slip u (2,), or that of the mode where the slip is too slow,
        reversed or nearly straight.
        """
        speed = ca.sqrt(u[0] ** 2 + u[1] ** 2)
        along = u[0] * mode.x + u[1] * mode.y
        across = u[0] * mode.y - u[1] * mode.x
        moving = ca.logic_and(
            ca.logic_and(along > 0.0, speed > mode.still),
            ca.fabs(across) >= mode.straight * (speed + ACROSS_SLIP * mode.still),
        )
        safe = ca.if_else(moving, speed, 1.0)
        return ca.if_else(moving, u[0] / safe, mode.x), ca.if_else(moving, u[1] / safe, mode.y)

    def guards(
        self, part: int, mode: ContactMode, gap: Any, u: Any, rate: Any, force: Any
    ) -> Iterator[Guard]:
        """Yield the guards of the point from its gap and, each along the normal and the tangents,
        its velocity u, its acceleration `rate` and its force.
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
                _while(slips, along - RENEWED_SLIP_COSINE * speed + REVERSED_SLIP * mode.still),
                _while(slips, faster),
            )


@dataclass(frozen=True)
class Rest:
    """A switched part without constraint rows, which marks that the whole mechanism is at rest and
    stays so.
    """

    name = "rest"
    mode = RestMode()

    def rows(self, s: Tracer, mode: RestMode) -> SwitchedRows:
        """Return an empty set of constraint rows."""
        return no_rows(s)

    def row_scales(self, s: Tracer) -> list[float]:
        """Return an empty list of scales, because there are no rows."""
        return []


@dataclass(frozen=True)
class JointShare:
    """A switched part without constraint rows, for a joint at rest that is held both by dry
    friction and by contacts. Where rigid bodies do not determine how they share the load, its mode
    stores the friction force near which the choice is made.
    """

    name: str
    mode: ClassVar[Any] = JointShareMode()

    def rows(self, s: Tracer, mode: JointShareMode) -> SwitchedRows:
        """Return an empty set of constraint rows."""
        return no_rows(s)

    def row_scales(self, s: Tracer) -> list[float]:
        """Return an empty list of scales, because there are no rows."""
        return []


def no_rows(s: Tracer) -> SwitchedRows:
    """Return the SwitchedRows of a part that has no rows."""
    return SwitchedRows(*(ca.SX.zeros(0),) * 3, ca.SX.zeros(0, s.layout.nv), ca.SX.zeros(0))


def _while(mode: Any, value: Any) -> ca.SX:
    """Return the value while the part is in this mode, else 1, so that a guard with this value
    causes no event.
    """
    return ca.if_else(mode, value, 1.0)


# --- forces
def weighted_forces(
    B: ca.SX, Y: ca.SX, r: ca.SX, keep: ca.SX, weight: ca.SX, share: ca.SX
) -> ca.SX:
    """Return the forces f with S f = r in the rows with keep = 1, S = B Y; where these are not
    unique, those with the least sum of (f - share)^2 / weight.

    A row with weight 0 is off, and its share must be 0. Y (nv, m) is the response to the forces; S
    need not be symmetric, because it includes the friction of contacts that slip.

        f = share + D S' y,      S D S' y = r - S share,      D = diag(weight)

    S D S' is computed as B (Y D Y') B', which takes far fewer operations where there are more rows
    than speeds.
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


def independent_rows(
    B: ca.SX, z: ca.SX, others: ca.SX, size: Sequence[float], column: np.ndarray
) -> ca.SX:
    """Return (m,): 1 for each active row of B (z = 1) that is independent of the rows `others` and
    of the rows before it, else 0. size: the scales of all rows; column (nv,): those of the speeds.
    """
    both = ca.vertcat(ca.diag(z) @ B, others)
    G = ca.densify(both @ ca.diag(ca.SX(column)) @ both.T)
    keep = np.full(both.shape[0], 0.0, dtype=object)
    independent(entries(G), [x if x != 0.0 else G[k, k] for k, x in enumerate(size)], keep)
    return vector(keep[: B.shape[0]])


def constraint_forces(S: ca.SX, r: ca.SX, keep: ca.SX) -> ca.SX:
    """Return the forces mu (m,) with S mu = r in the rows with keep = 1, and zero in the others."""
    L = entries(S)
    y = np.full(keep.numel(), 0.0, dtype=object)
    factor_rows(L, elements(keep), y)
    mu = ca.SX.zeros(keep.numel())
    for _ in range(2):
        y[:] = elements(ca.densify(r - S @ mu))
        solve(L, y)
        mu = mu + vector(y)
    return mu
