"""The flat ends of cylinders on planes at a run's events: which ends stand flat, on which three
points of their rims, and which roll.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from ...contact import ENOUGH, PROVED, RimImpact, RimMotion, lowest, turn
from ...contact import FLAT_END_POINTS as POINTS
from ..integrators.engine import SHARE
from ..terms.contact_rims import ABSENT, FLAT_TILT, ROLLS, STANDS, FlatPoint, RimMode, RimPoint
from .contact_terms import ContactTerms

Array = NDArray[np.float64]
# tilt of an end that touches, relative to `RimHandler.flat`: below it all of its rim touches
TOUCHING_TILT = 1e-2
# difference of speeds around a rim, relative to the fastest: with less, all speeds are equal
EQUAL_SPEED = 1e-10


class End(NamedTuple):
    """A flat end of a cylinder. points: the indices of its contact points, the one on which it
    rolls and two more. side: 1 for the first end, -1 for the second.
    """

    points: tuple[int, ...]
    side: float


class RimHandler:
    """The flat ends of one run. rims: the contact points on which ends roll. ends: all ends. flat:
    the sine of the tilt below which an end counts as flat, no smaller than the tolerance of the
    run.
    """

    def __init__(self, terms: ContactTerms):
        self.terms = terms
        self.handler = terms.handler
        self.rims: list[Any] = [p for p in terms.points if type(p) is RimPoint]
        rims = [i for i, p in enumerate(terms.points) if type(p) is RimPoint]
        flat = [i for i, p in enumerate(terms.points) if isinstance(p, FlatPoint)]
        self.flat = max(FLAT_TILT, terms.handler.engine.rtol / SHARE)
        self.ends = [
            End((rims[n], *flat[n - n % 2 : n - n % 2 + 2]), 1.0 - 2.0 * (n % 2))
            for n in range(len(rims))
        ]

    @cached_property
    def _leans(self) -> ca.Function:
        """The function (t, q, v, p) -> (2, ends), the tilt of each end as a vector; see
        `RimPoint.lean`.
        """
        s = self.handler.system.tracer()
        return ca.Function(
            "leans", [s.t, s.q, s.v, s.p], [ca.horzcat(*(p.lean(s) for p in self.rims))]
        )

    def _lean(self, t: float) -> Array:
        """Return (ends, 2): the tilt of each end at t (s) as a vector; see `RimPoint.lean`."""
        return np.array(self._leans(t, *self.handler.state_of(), self.handler.p)).T

    def _mode(self, point: int) -> RimMode:
        """Return the mode record of a contact point of a rim."""
        mode: RimMode = self.handler.mode(self.terms.handler.constraints.first_contact + point)
        return mode

    def _set(self, point: int, key: float, end: End, direction: Array) -> None:
        """Set in the mode of a point its rule (`key`: ABSENT, ROLLS or STANDS), its end, and its
        direction (2,) from the middle of the end, in the axes of the shape.
        """
        flat = self.flat if point in self.terms.touching else -1.0
        mode = self._mode(point)._replace(
            key=key, end=end.side, rim_x=direction[0], rim_y=direction[1], flat=flat
        )
        self.handler.set_mode(
            self.handler.constraints.first_contact + point, mode if key else mode.opened
        )

    def _stand(self, end: End, angle: float) -> None:
        """Let an end stand on three points, the first at this angle (rad) from the x axis of the
        shape.
        """
        for i, more in zip(end.points, POINTS):
            self._set(i, STANDS, end, np.array([np.cos(angle + more), np.sin(angle + more)]))

    def _angle(self, end: End) -> float:
        """Return the angle (rad) of the first point of an end from the x axis of the shape."""
        mode = self._mode(end.points[0])
        return float(np.arctan2(mode.rim_y, mode.rim_x))

    def stands(self, end: End) -> bool:
        """Whether an end is flat on the plane, and has its three points."""
        return bool(self._mode(end.points[0]).key > 1.5)

    # --- entry points
    def flat_ends(self, t: float, landed: int = -1) -> list[End]:
        """Return the ends that are flat and touch, so that they may either roll or stand. Rims that
        roll get the present direction of their tilt.

        landed: a point whose tilt has come to zero, or -1.
        """
        found = []
        for end, lean in zip(self.ends, self._lean(t) if self.ends else ()):
            size = float(np.hypot(*lean))
            first = end.points[0]
            if self.stands(end):
                continue
            if first == landed or (
                size <= TOUCHING_TILT * self.flat and first in self.terms.touching
            ):
                found.append(end)
            elif size > (2.0 if self._mode(first).flat > 0.0 else TOUCHING_TILT) * self.flat:
                # an end that tips rolls on the point towards which it tips
                self._set(first, ROLLS, end, lean / size)
        return found

    def stand(self, t: float, landed: int = -1) -> None:
        """Let ends that touch and are flat stand on three points, the first where the end comes
        down fastest. `release` undoes it for ends that rise. landed: see `flat_ends`.
        """
        for end in self.flat_ends(t, landed):
            self.terms.touching |= set(end.points)
            self._stand(end, self._angle(end))
            self._stand(end, self._angle(end) + self._lowest_angle(t, end))

    def _lowest_angle(self, t: float, end: End) -> float:
        """Return where the rim of an end approaches the plane fastest, as an angle from its first
        point, rad; zero where all points approach equally fast.
        """
        u = self.terms.at(t).u.reshape(-1, 3)[list(end.points)]
        return lowest(u[:, 0])[1] if np.ptp(u[:, 0]) > EQUAL_SPEED * np.abs(u).max() else 0.0

    def enumerated_points(self, now: list[int]) -> int:
        """Return up to how many points that may begin to slip all combinations of modes are tried
        (the argument `proved` of `contact.modes.solutions`); fewer where an end stands.
        """
        return (
            ENOUGH
            if any(self.stands(end) and set(end.points) <= set(now) for end in self.ends)
            else PROVED
        )

    def turn(self, t: float, now: list[int], problem: RimImpact | RimMotion) -> bool:
        """Rotate the three points of the standing ends among the points `now`, such that they carry
        the load as the whole rims would; an end that touches at one point only rolls on it. Return
        whether anything has changed.
        """
        flat = [end for end in self.ends if self.stands(end) and set(end.points) <= set(now)]
        found = turn([[now.index(i) for i in end.points] for end in flat], problem)
        for end, angle in zip(flat, found.angles):
            if angle:
                self._stand(end, self._angle(end) + angle)
        self.terms.touching -= {now[n] for n in found.alone}
        self.release(t)
        return bool(found.alone) or bool(found.angles.any())

    def remark(self, t: float, now: list[int], u: Array, still: Array) -> None:
        """Set the remark of the ledger where an end slides and turns at once, for its friction then
        depends on how the load is distributed over it. u (3 k,): speeds of the points `now`; still
        (k,): slip speeds that count as zero, m/s.
        """
        for end in self.ends:
            if self.stands(end) and set(end.points) <= set(now) and not self.terms.ledger.remark:
                own = [now.index(i) for i in end.points]
                slip = u.reshape(-1, 3)[own, 1:]
                slides = np.linalg.norm(slip.mean(axis=0))
                turns = np.linalg.norm(slip - slip.mean(axis=0))
                if (
                    min(slides, turns) > max(still[own].max(), EQUAL_SPEED * max(slides, turns))
                    and self.terms.kinetic[end.points[0]] > 0.0
                ):
                    self.terms.remark(
                        f"from t = {t:.9g} s the motion depends on how the rim of"
                        f" {self.terms.points[end.points[0]].name} carries its load, which rigid"
                        " bodies do not determine; three points were taken"
                    )

    def clear_flat(self) -> None:
        """Mark rims that no longer touch as tilted, so that their lowest point follows from the
        tilt alone.
        """
        for i in (end.points[0] for end in self.ends if end.points[0] not in self.terms.touching):
            self.handler.set_mode(
                self.handler.constraints.first_contact + i, self._mode(i)._replace(flat=-1.0)
            )

    def with_whole_ends(self, points: set[int]) -> set[int]:
        """Return these points, together with all points of the standing ends that any of them
        belongs to.
        """
        return points.union(
            *(end.points for end in self.ends if self.stands(end) and points & set(end.points))
        )

    def release(self, t: float) -> None:
        """Return ends that stood, but now touch at one point or none, to rolling on one point: the
        one that touches, or that will touch first.
        """
        for end in self.ends:
            if not self.stands(end):
                continue
            left = set(end.points) & self.terms.touching
            if len(left) > 1:
                self.terms.touching |= set(end.points)
                continue
            angle = self._angle(end) + (
                POINTS[end.points.index(left.pop())] if left else self._lowest_angle(t, end)
            )
            closed = bool(set(end.points) & self.terms.touching)
            self.terms.touching -= set(end.points)
            self.terms.touching |= {end.points[0]} if closed else set()
            for i in end.points[1:]:
                self._set(i, ABSENT, end, np.array([1.0, 0.0]))
            self._set(end.points[0], ROLLS, end, np.array([np.cos(angle), np.sin(angle)]))
