"""Switched constraints: constraint rows that are on or off while a mechanism moves. Dry friction
that sticks, stops, locks, contacts.

    M a + bias = tau + A' lambda + B' mu,      z (B a - gamma) = 0,   mu = 0 where z = 0

z is one switch per row. A speed that is held has the row v_k = 0; a frame that is locked to a body
has the rows of a loop joint that closes where the frame was at that instant. The forces mu enter as
joint forces, so that this works with every formulation: its accelerations are linear in them. The
modes are inputs of the compiled equations, so that a change of mode needs no new compilation.

A part that can be switched (`HoldableSpeed`, `LockableFrame`, contacts) defines the record of its
mode, its rows, and its guards. The events are guards that fall to zero (`guards.py`):

    free   q - lower,   upper - q,   d v          held   mu - low,   high - mu
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import casadi as ca
import numpy as np

from ...compiler import Tracer, elements, entries, factored, looped, solved, vector
from ...kernels import Constraints, constraints, layout
from ...model import Joint
from ...spatial import rotate
from .contact_rows import (
    JointShare,
    Rest,
    RestMode,
    SwitchedRows,
    TouchingPoint,
    constraint_forces,
    independent_rows,
    no_rows,
    weighted_forces,
)
from .guards import LOWER, UPPER, Bound, Guard, Meaning
from .projection import with_unit_quaternions

if TYPE_CHECKING:
    from .contact_slots import TouchingPatch
    from .symbols import SystemSymbols

NO_LIMIT = 1e300  # N or N m: stands for no limit of a force
# most rows of contacts that are written out on the tape, whose size grows with their cube; for more
# rows it calls loops (`compiler.looped`)
WRITTEN_OUT_ROWS = 6


# --- modes
class SpeedMode(NamedTuple):
    """The mode of a holdable speed, as numbers or symbols.

    held: 1 or 0. way: the sign of the speed while the joint slips. low, high (N m or N): the
    interval in which the force that holds it must stay. Friction holds up to its limit in both
    directions, a stop pushes in one direction only, and a lock has no limits.
    """

    held: Any = 0.0
    way: Any = 0.0
    low: Any = 0.0
    high: Any = 0.0

    @property
    def locked(self) -> bool:
        """Whether the speed is held by a lock, which ends only when the lock is released."""
        return bool(self.held > 0.5 and self.low <= -NO_LIMIT and self.high >= NO_LIMIT)

    @property
    def stop(self) -> Bound | None:
        """The stop on which the coordinate rests, or None."""
        if self.held < 0.5 or self.locked:
            return None
        return LOWER if self.high >= NO_LIMIT else UPPER if self.low <= -NO_LIMIT else None


LOCKED = SpeedMode(1.0, 0.0, -NO_LIMIT, NO_LIMIT)


class FrameMode(
    namedtuple(
        "FrameMode",
        "locked xx xy xz yx yy yz zx zy zz x y z",
        defaults=(0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0),
    )
):
    """The mode of a lockable frame: locked (1 or 0), and its pose on the other body: rotation by
    rows, then the origin (m).
    """

    __slots__ = ()

    @staticmethod
    def at(X: np.ndarray) -> FrameMode:
        """Return the mode of a frame that is locked at the pose X (4, 4)."""
        return FrameMode(1.0, *X[:3, :3].ravel(), *X[:3, 3])

    @property
    def rotation(self) -> tuple[tuple[Any, ...], ...]:
        """The rotation of the pose, as rows."""
        return tuple(tuple(self[1 + 3 * i : 4 + 3 * i]) for i in range(3))

    @property
    def origin(self) -> tuple[Any, ...]:
        """The origin (3,) of the pose, m."""
        return tuple(self[10:])


# --- parts
@dataclass(frozen=True)
class HoldableSpeed:
    """A speed that may be held by dry friction, a stop or a lock.

    name: of the speed. index: its place in v. coordinate: the place of its coordinate in q, -1 for
    a speed of a ball joint. unit: of the coordinate, m or rad. lower, upper: limits of the
    coordinate; friction: Coulomb's limit (N or N m); each a number or an expression. restitution:
    of its stops, which the compiled equations do not contain.
    """

    name: str
    index: int
    coordinate: int
    unit: str = ""
    lower: Any = -np.inf
    upper: Any = np.inf
    friction: Any = 0.0
    restitution: float = 0.0

    mode = SpeedMode()  # not held

    @property
    def sides(self) -> tuple[Bound, ...]:
        """The sides on which its coordinate has a stop."""
        if self.coordinate < 0:
            return ()
        return tuple(side for side in (LOWER, UPPER) if _finite(self.limit(side)))

    @property
    def guarded(self) -> bool:
        """Whether it can cause an event: it has a stop, or friction."""
        return bool(self.sides) or nonzero(self.friction)

    def limit(self, side: Bound) -> Any:
        """Return the coordinate's limit on that side."""
        return self.lower if side is LOWER else self.upper

    def rows(self, s: Tracer, mode: SpeedMode) -> SwitchedRows:
        """Return the constraint row that sets the speed to zero."""
        B = ca.SX(1, s.layout.nv)
        B[0, self.index] = 1.0
        return SwitchedRows(ca.SX.zeros(1), s.v[self.index], ca.SX.zeros(1), B, ca.SX(mode.held))

    def row_scales(self, s: Tracer) -> np.ndarray:
        """Return the scale of its row, by which rank is decided (N of `kernels.rank`)."""
        return s.con.column[[self.index]]

    def guards(
        self,
        system: SystemSymbols,
        part: int,
        mode: SpeedMode,
        mu: ca.SX,
        limits: tuple[ca.SX, ca.SX],
    ) -> Iterator[Guard]:
        """Yield its guards. While it is free: the distance to each stop, and the speed of slipping.
        While it is held: the distance of its force mu from each end of its interval.
        """
        free = mode.held < 0.5
        v = system.v[self.index]
        for side, limit in zip((LOWER, UPPER), limits):
            if side in self.sides:
                gap = side.sign * (system.q[self.coordinate] - limit)
                yield Guard(
                    Meaning.REACHES_STOP, part, _while(free, gap), _while(free, side.sign * v), side
                )
        if nonzero(self.friction):
            slip = mode.way * v
            faster = mode.way * system.acceleration[self.index]
            yield Guard(Meaning.COMES_TO_REST, part, _while(free, slip), _while(free, faster))
        if self.guarded:
            yield Guard(
                Meaning.LETS_GO, part, _while(mode.held > 0.5, mu - mode.low), ca.SX(-1), LOWER
            )
            yield Guard(
                Meaning.LETS_GO, part, _while(mode.held > 0.5, mode.high - mu), ca.SX(-1), UPPER
            )


@dataclass(frozen=True)
class LockableFrame:
    """A frame that a lock may hold on another body. joint: the loop joint that a lock closes; the
    pose at which it closes is part of the mode.
    """

    joint: Joint

    mode = FrameMode()  # the identity, so that rows that are off are finite

    @property
    def name(self) -> str:
        """The name of the lock."""
        return self.joint.name

    def rows(self, s: Tracer, mode: FrameMode) -> SwitchedRows:
        """Return the rows of the loop joint at the pose of the mode."""
        con = self._constraints(s)
        p = con.p.astype(object)
        p[:, 0] = mode.origin
        both = zip(*((row.a, row.b) for row in self.joint.closure))
        a, c = (np.array([rotate(mode.rotation, x) for x in rows], object) for rows in both)
        error, rate, gamma, B = s.rows_of(con._replace(p=p, a=a, c=c))
        return SwitchedRows(error, rate, gamma, B, ca.repmat(ca.SX(mode.locked), error.numel(), 1))

    def row_scales(self, s: Tracer) -> np.ndarray:
        """Return the scales of its rows, by which rank is decided (N of `kernels.rank`)."""
        return self._constraints(s).size

    def _constraints(self, s: Tracer) -> Constraints:
        """Return the constraints of the mechanism with this loop joint and no other."""
        return constraints(layout(s.layout.mechanism.with_(loops=(self.joint,))), s.value)


if TYPE_CHECKING:
    Part = HoldableSpeed | LockableFrame | TouchingPatch | TouchingPoint | Rest | JointShare


# --- all of a run
class SwitchedConstraints:
    """The switched parts and the conditions of events of a run, and their expressions for one
    system.

    speeds, locks, patches, contacts: the parts, indexed in this order; with contacts, a part for
    rest and one for the share of each speed follow. conditions: of events, functions of a Tracer to
    an expression. words: the key under which compiled functions are cached, equal where these are
    the same; None where that cannot be known. slots: the slice of the modes (size,) that belongs to
    each part. symbols (size,): of the modes. first_contact: the index of the first contact point
    among the parts; rest: the index of the part for rest, after which the shares of the speeds
    follow.
    """

    def __init__(
        self,
        speeds: Sequence[HoldableSpeed] = (),
        locks: Sequence[LockableFrame] = (),
        conditions: Sequence[Callable[[Tracer], Any]] = (),
        words: str | None = "",
        contacts: Sequence[TouchingPoint] = (),
        patches: Sequence[TouchingPatch] = (),
    ):
        self.speeds, self.locks, self.conditions, self.words = (
            tuple(speeds),
            tuple(locks),
            tuple(conditions),
            words,
        )
        self.contacts, self.patches = tuple(contacts), tuple(patches)
        self.parts: tuple[Part, ...] = (
            *self.speeds,
            *self.locks,
            *self.patches,
            *self.contacts,
            *((Rest(),) if contacts else ()),
            *(JointShare(f"{h.name} share") for h in self.speeds if contacts),
        )
        self.first_contact = len(self.speeds) + len(self.locks) + len(self.patches)
        self.rest = self.first_contact + len(self.contacts)
        ends = list(accumulate((len(part.mode) for part in self.parts), initial=0))
        # the place of each part's mode among the modes
        self.slots = tuple(slice(a, b) for a, b in pairwise(ends))
        self.size = ends[-1]
        self.symbols = ca.SX.sym("modes", self.size)
        self.names = tuple(
            f"{part.name} {field}" for part in self.parts for field in part.mode._fields
        )
        self._traced: tuple[Tracer, SwitchedRows] | None = None

    def start(self) -> np.ndarray:
        """Return the modes (size,) with nothing held."""
        return np.array([x for part in self.parts for x in part.mode], float)

    def held(self, modes: np.ndarray) -> Any:
        """Return (...,): whether any part is switched on, for modes (..., size)."""
        return np.any(modes[..., self._switches] > 0.5, axis=-1)

    def released(self, modes: ca.SX) -> ca.SX:
        """Return the modes with every switch off."""
        return vector([0.0 if k in self._switches else x for k, x in enumerate(elements(modes))])

    @property
    def _switches(self) -> list[int]:
        """The indices of the parts' switches among the modes: the first number of each part."""
        return [slot.start for slot in self.slots]

    def mode(self, part: int, modes: np.ndarray) -> Any:
        """Return the mode record of a part, from the modes (size,) of a run."""
        return type(self.parts[part].mode)(*modes[self.slots[part]])

    def _symbolic(self, part: int) -> Any:
        """Return the mode record of a part, as symbols."""
        return type(self.parts[part].mode)(*elements(self.symbols[self.slots[part]]))

    @property
    def rest_mode(self) -> RestMode:
        """The mode record of the part for rest, as symbols; it exists only with contacts."""
        return RestMode(*self._symbolic(self.rest))

    def values(self, s: Tracer) -> tuple[ca.SX, ca.SX, ca.SX]:
        """Return lower limits, upper limits and dry friction of the holdable speeds, as expressions
        of the tracer's parameters.
        """
        found = [
            [s.value(x) for x in column]
            for column in zip(*((h.lower, h.upper, h.friction) for h in self.speeds))
        ]
        lower, upper, dry = (vector(c) for c in found) if found else (ca.SX.zeros(0),) * 3
        return lower, upper, dry

    # --- rows
    def rows(self, s: Tracer) -> SwitchedRows:
        """Return the constraint rows of all parts, as expressions of the tracer's symbols and the
        modes. They are cached for the last tracer, because several functions use them.
        """
        if self._traced is None or self._traced[0] is not s:
            found = [part.rows(s, self._symbolic(k)) for k, part in enumerate(self.parts)]
            self._traced = (
                s,
                (
                    SwitchedRows(*(ca.densify(ca.vertcat(*column)) for column in zip(*found)))
                    if found
                    else no_rows(s)
                ),
            )
        return self._traced[1]

    def row_scales(self, s: Tracer) -> list[float]:
        """Return the scales of these rows, by which rank is decided (N of `kernels.rank`)."""
        return [float(x) for part in self.parts for x in part.row_scales(s)]

    def _others(self, s: Tracer, driven: Sequence[int]) -> tuple[ca.SX, list[float]]:
        """Return the rows (k, nv) that always hold, those of loops and of driven speeds; and the
        scales of all rows, first of the switched ones, then of these.
        """
        A = (
            s.constraint_rows()[3]
            if s.layout.mechanism.constrained
            else ca.SX.zeros(0, s.layout.nv)
        )
        still = ca.SX.eye(s.layout.nv)[list(driven), :]
        return ca.densify(ca.vertcat(A, still)), [
            *self.row_scales(s),
            *s.row_scales(),
            *s.con.column[list(driven)],
        ]

    def force(self, system: SystemSymbols, tau: ca.SX) -> tuple[ca.SX, ca.SX]:
        """Return mu (m,), the forces of the active rows, and the joint forces (nv,) that they
        cause, while the joint forces tau (nv,) act as well.
        """
        rows = system.mechanism.constrained or system.driven is not None
        if len(self.parts) == len(self.speeds) and not rows:
            return self._held_speeds(system, tau)
        s = system.tracer()
        _, rate, gamma, B, z = self.rows(s)
        others, size = self._others(s, system.driven.speeds if system.driven is not None else ())
        F, weight, share = self._force_directions(s, rate, B, z)
        keep = z if self.many else independent_rows(B, z, others, size, s.con.column)
        f = ca.Function(
            "held_rows",
            [s.t, s.q, s.v, s.p, self.symbols],
            [ca.densify(x) for x in (gamma, B, keep, F, weight, share, others)],
        )
        gamma, B, keep, F, weight, share, others = f(
            system.t, system.q, system.v, system.p, self.symbols
        )
        push = ca.SX.sym("push", system.nv)
        a, _ = system.under(push)
        free = ca.substitute(a, push, tau)
        if self.many:
            given = (
                B,
                F,
                ca.jacobian(a, push),
                free,
                gamma,
                keep,
                weight,
                share,
                others,
                size,
                s.con.column,
            )
            mu, along = looped.call("row_forces", (*B.shape, others.shape[0]), *given)
            return mu, along
        r = gamma - ca.mtimes(B, free)
        if self.contacts:
            mu = weighted_forces(B, ca.mtimes(ca.jacobian(a, push), F.T), r, keep, weight, share)
        else:
            response = ca.mtimes(B, ca.jtimes(a, push, B.T))  # B W B', with a = free + W push
            mu = constraint_forces(0.5 * (response + response.T), r, keep)
        return mu, ca.mtimes(F.T, mu)

    def _held_speeds(self, system: SystemSymbols, tau: ca.SX) -> tuple[ca.SX, ca.SX]:
        """Return the result of `force` where only single speeds are held and there are no other
        rows.

        With z = 1 for each held speed, else 0, and Z = diag(z), the accelerations a with a = 0 of
        the held speeds solve a system of the structure of the mass matrix M:

            ((I - Z) M (I - Z) + Z) a = (I - Z) M a_free,      mu = Z M (a - a_free)

        a_free: the accelerations under tau alone. This takes about as many operations as forward
        dynamics, where the Schur complement of the held rows grows with their cube.
        """
        index = [h.index for h in self.speeds]
        z = ca.SX.zeros(system.nv)
        for k, i in enumerate(index):
            z[i] = self._symbolic(k).held
        (M,) = system.tape("mass matrix", "", lambda s: [s.mass_matrix()]).call(
            [system.t, system.q, system.v, system.p]
        )
        M = ca.sparsify(M)
        free = 1.0 - z
        f = M @ system.under(tau)[0]
        inner = entries(ca.densify(ca.diag(free) @ M @ ca.diag(free) + ca.diag(z)))
        along = z * (M @ solved(factored(inner), free * f) - f)
        return along[index], along

    @property
    def many(self) -> bool:
        """Whether contacts have so many rows that the compiled code uses loops for them."""
        return sum(c.count for c in self.contacts) > WRITTEN_OUT_ROWS

    def contact_rows(self) -> list[slice]:
        """Return the slice of the rows of each contact point among all rows, counted from the end:
        they are the last.
        """
        ends = list(accumulate((c.count for c in self.contacts), initial=0))
        return [slice(a - ends[-1], b - ends[-1] or None) for a, b in pairwise(ends)]

    def _force_directions(
        self, s: Tracer, rate: ca.SX, B: ca.SX, z: ca.SX
    ) -> tuple[ca.SX, ca.SX, ca.SX]:
        """Return the directions (m, nv) in which the forces of the rows act, including the friction
        of contacts that slip; the weights (m,) of the forces; and the forces (m,) near which they
        are chosen where rigid bodies do not determine them.
        """
        if not self.contacts:
            return B, z, ca.SX.zeros(B.shape[0])
        others = range(B.shape[0] - sum(c.count for c in self.contacts))
        places = self.contact_rows()
        modes = [self._symbolic(self.first_contact + k) for k in range(len(self.contacts))]
        F = [
            c.force_directions(mode, B[at, :], rate[at])
            for c, mode, at in zip(self.contacts, modes, places)
        ]
        weights = [w for c, mode in zip(self.contacts, modes) for w in c.weights(mode)]
        near = [x for c, mode in zip(self.contacts, modes) for x in c.share(mode, s.t)]
        held = [z[k] * self._symbolic(self.rest + 1 + k).at(s.t) for k in range(len(self.speeds))]
        return (
            ca.vertcat(*(B[k, :] for k in others), *F),
            ca.vertcat(*(z[k] for k in others), *weights),
            ca.vertcat(*held, *(0.0 for _ in others[len(held) :]), *near),
        )

    def slipping(self, p: ca.SX, system: SystemSymbols) -> ca.SX:
        """Return Coulomb friction (nv,) on the joints that slip, opposed to the speed of each."""
        s = system.tracer()
        dry = ca.Function("dry", [s.p], [self.values(s)[2]])(p) if self.speeds else ca.SX.zeros(0)
        force = ca.SX.zeros(system.nv)
        for k, h in enumerate(self.speeds):
            mode = self._symbolic(k)
            force[h.index] -= dry[k] * mode.way * (1.0 - mode.held)
        return force

    def frozen(self, rate: ca.SX, nq: int) -> ca.SX:
        """Return the rate of a state (q, v) with the rates of held speeds and their coordinates set
        to exactly zero; all rates are zero where everything is at rest.
        """
        for k, h in enumerate(self.speeds):
            for entry in (nq + h.index, h.coordinate) if h.coordinate >= 0 else (nq + h.index,):
                rate[entry] = _while(self._symbolic(k).held < 0.5, rate[entry], 0.0)
        if self.contacts:
            rest = self.rest_mode.rest
            rate = vector([_while(rest < 0.5, x, 0.0) for x in elements(rate)])
        return rate

    # --- guards
    def guards(self, system: SystemSymbols) -> tuple[Guard, ...]:
        """Return the guards of all parts, then those of the conditions of events."""
        s = system.tracer()
        lower, upper, _ = (ca.Function("value", [s.p], [x])(system.p) for x in self.values(s))
        found: list[Guard] = []
        for k, h in enumerate(self.speeds):
            found += h.guards(system, k, self._symbolic(k), system.held[0][k], (lower[k], upper[k]))
        found += self._contact_guards(system)
        # conditions see unit quaternions, as in the state onto which a step is projected
        q = with_unit_quaternions(system.layout, system.q)
        for k, condition in enumerate(self.conditions):
            f = ca.Function("guard", [s.t, s.q, s.v, s.p], [condition(s)])
            found.append(Guard(Meaning.HAPPENS, k, f(system.t, q, system.v, system.p)))
        return tuple(found)

    def watched_values(self, s: Tracer) -> list[ca.SX]:
        """Return the gaps of contacts and the conditions of events: the values that may reach zero
        and leave it again within a step while joints turn.
        """
        gaps = self.contact_terms(s).error if self.contacts else ca.SX.zeros(0)
        return [
            *(gaps[at.start] for at in self.contact_rows()),
            *(condition(s) for condition in self.conditions),
        ]

    def contact_terms(self, s: Tracer) -> SwitchedRows:
        """Return the rows of the contacts alone."""
        count = sum(c.count for c in self.contacts)
        return SwitchedRows(*(x[x.shape[0] - count :, :] for x in self.rows(s)))

    def _contact_guards(self, system: SystemSymbols) -> Iterator[Guard]:
        """Yield the guards of contact points and of patches."""
        if not self.contacts:
            return
        s = system.tracer()
        here = (system.t, system.q, system.v, system.p, self.symbols)
        given = [s.t, s.q, s.v, s.p, self.symbols]
        error, rate, gamma, B, _ = ca.Function("rows", given, list(self.contact_terms(s)))(*here)
        faster = ca.mtimes(B, system.acceleration) - gamma
        force = system.held[0][-rate.numel() :]
        for k, (c, at) in enumerate(zip(self.contacts, self.contact_rows())):
            part = self.first_contact + k
            seen = (elements(x[at]) for x in (rate, faster, force))
            yield from c.guards(part, self._symbolic(part), error[at][0], *seen)
            for meaning, value, way in c.watched(s, self._symbolic(part)):
                yield Guard(
                    meaning, part, *ca.Function("watched", given, [ca.SX(value), ca.SX(way)])(*here)
                )
        for k, patch in enumerate(self.patches):
            part = self.first_contact - len(self.patches) + k
            yield Guard(
                Meaning.MOVES_AWAY,
                part,
                ca.Function("moved", given, [patch.moved(s, self._symbolic(part))])(*here),
            )


def _while(mode: ca.SX, value: Any, otherwise: Any = 1.0) -> ca.SX:
    """Return the value while the part is in this mode, else `otherwise`; with the value 1 a guard
    causes no event.
    """
    return ca.if_else(mode, value, otherwise)


def _finite(x: Any) -> bool:
    """Return whether a limit is finite; an expression counts as finite."""
    return not isinstance(x, (int, float)) or bool(np.isfinite(x))


def nonzero(x: Any) -> bool:
    """Return whether a value is not zero; an expression counts as nonzero."""
    return not isinstance(x, (int, float)) or x != 0.0
