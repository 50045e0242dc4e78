"""The patches of a run at its events: which features (corners, edges, faces) of two shapes are the
contact points that may touch next.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from ...collision import SHALLOW, Found, PatchPair, patch_pair
from ...contact import START_DEPTH, moving
from ...errors import SimulationError, StateError
from ...machine import where
from ..terms.contact_slots import PatchMode, PatchPoint, RoundedMode
from .contact_terms import CLOSED_GAP, ContactTerms

Array = NDArray[np.float64]


class PatchHandler:
    """The contact patches of one run: pairs of shapes that touch at several points. patches: these
    pairs. first: the index of the first patch among the switched constraints. own: the indices of
    the contact points of each patch.
    """

    def __init__(self, terms: ContactTerms):
        self.terms = terms
        self.handler = terms.handler
        constraints = self.handler.constraints
        self.patches, self.first = (
            constraints.patches,
            len(constraints.speeds) + len(constraints.locks),
        )
        begin = next(
            (k for k, p in enumerate(terms.points) if isinstance(p, PatchPoint)), len(terms.points)
        )
        ends = accumulate((x.points for x in self.patches), initial=begin)
        self.own = [range(a, b) for a, b in pairwise(ends)]

    @cached_property
    def pairs(self) -> list[PatchPair]:
        """The geometry of each patch, for the parameters of this run."""
        values = dict(zip(self.handler.machine.mechanism.parameters, self.handler.p))
        return [patch_pair(x.patch, values) for x in self.patches]

    @cached_property
    def _poses(self) -> ca.Function:
        """(t, q, v, p) -> for each body of each patch its rotation, origin, angular velocity and
        velocity.
        """
        s = self.handler.system.tracer()
        bodies = [body for x in self.patches for body, _ in x.patch.pair]
        found = [
            ca.vertcat(*(ca.horzcat(*row) for row in (*R, o, w, v)))
            for R, o, w, v in (moving(s, body) for body in bodies)
        ]
        return ca.Function("poses", [s.t, s.q, s.v, s.p], found)

    def _place(self, t: float, k: int) -> tuple[Array, Array, Array, Array]:
        """Return X_BA of patch k at t (s), as rotation (3, 3) and origin (3,); then the angular
        velocity of A and the velocity of its origin relative to B, in the axes of B.
        """
        X, Y = (
            np.array(x)
            for x in self._poses(t, *self.handler.state_of(), self.handler.p)[2 * k : 2 * k + 2]
        )
        R, d = Y[:3].T, X[3] - Y[3]
        return R @ X[:3], R @ d, R @ (X[4] - Y[4]), R @ (X[5] - Y[5] - np.cross(Y[4], d))

    def has(self, point: int) -> bool:
        """Whether a contact point belongs to a patch."""
        return any(point in own for own in self.own)

    # --- entry points
    def begin(self, t: float) -> None:
        """Choose the features of all patches at the start t (s). Raise StateError where shapes
        penetrate by more than the tolerance.
        """
        for k, x in enumerate(self.patches):
            found = self._choose(t, k)
            depth = -found.separation
            if depth > START_DEPTH * self.terms.length:
                raise StateError(
                    f"simulate: {where(self.handler.machine)}: at the start {x.patch.body!r} is"
                    f" {depth:.3g} m deep in {x.patch.other!r} (contact {x.patch.name!r}); start"
                    " apart, or let assemble(..., contact=True) separate them"
                )
            self._refuse_flat(t, k, found)

    def renew(self, t: float, part: int) -> set[int]:
        """Choose features again for a patch that has left its features at t (s); `part` is the
        index of the patch, or of a point of it. Return the points whose normal is the same as
        before, and whose normal speed may therefore be rounding alone.
        """
        point = part - self.handler.constraints.first_contact
        k = (
            part - self.first
            if point < 0
            else next(k for k, own in enumerate(self.own) if point in own)
        )
        self._renew(t, k)
        # the normal of old and new features is the same
        return (
            self.terms.touching & set(self.own[k])
            if self.patches[k].patch.method.keeps_normal
            else set()
        )

    def renew_near(self, t: float, gap: Array) -> None:
        """Choose features again for all patches that have points whose gaps (k,) have closed."""
        for k, own in enumerate(self.own):
            if (gap[own.start : own.stop] <= CLOSED_GAP * self.terms.length).any():
                self._renew(t, k)

    def _renew(self, t: float, k: int) -> None:
        """Choose the features of patch k again. A point touches afterwards if its feature touched
        before, or if its gap is closed.
        """
        touched = {self._mode(i).key for i in self.terms.touching if i in self.own[k]}
        found, (R, p, _, _) = self._choose(t, k), self._place(t, k)
        self._refuse_flat(t, k, found)
        near = {
            x.key
            for x in found.points
            if self.pairs[k].at(x, R, p)[0] <= CLOSED_GAP * self.terms.length
        }
        now = {
            i for i in self.own[k] if self._mode(i).key in touched | near and self._mode(i).present
        }
        self.terms.touching = {i for i in self.terms.touching if i not in self.own[k]} | now

    def refuse_shallow(self, t: float) -> None:
        """Raise SimulationError where two crossing edges press on each other and are nearly
        parallel, because the point at which they cross then depends on angles below all
        tolerances.
        """
        for k, own in enumerate(self.own):
            for i in sorted(self.terms.touching.intersection(own)):
                mode = self._mode(i)
                if not isinstance(mode, RoundedMode) or not (
                    mode.closed and mode.along_a and mode.along_b
                ):
                    continue
                sine = float(
                    np.linalg.norm(np.cross(self._place(t, k)[0] @ mode.feature.d, mode.feature.g))
                )
                if sine < SHALLOW * (1.0 + 1e-6):
                    x = self.patches[k].patch
                    raise SimulationError(
                        f"at t = {t:.9g} s {x.body!r} and {x.other!r} press where edges of them"
                        f" cross at {sine:.3g} rad (contact {x.name!r}): below {SHALLOW:g} rad the"
                        " point runs along them faster than steps can follow; keep them parallel"
                        " by a joint, or let spheres at the ends touch instead"
                    )

    def _refuse_flat(self, t: float, k: int, found: Found) -> None:
        """Raise SimulationError where the shapes of patch k touch along a face or a line for which
        there are no features.
        """
        if found.flat:
            x = self.patches[k].patch
            raise SimulationError(
                f"at t = {t:.9g} s the {x.shape.kind} of {x.body!r} and the {x.against.kind} of"
                f" {x.other!r} touch (contact {x.name!r}) where they have no single point and no"
                " two ends: the flat end of a cylinder lies on a face or along a line; let it"
                " stand on a half-space (a frame with its z upwards), or let spheres, or frames on"
                " the rim, touch instead"
            )

    # --- features
    def _mode(self, point: int) -> Any:
        """Return the mode record of a contact point."""
        return self.handler.mode(self.handler.constraints.first_contact + point)

    def _choose(self, t: float, k: int) -> Found:
        """Choose the features of patch k at t (s), and store them in the modes of its points.
        Return the result of the search.
        """
        pair, (R, p, w, v) = self.pairs[k], self._place(t, k)
        modes = {i: self._mode(i) for i in self.own[k]}
        first = self.handler.constraints.first_contact
        found = pair.features(
            R, p, w, v, next((mode.feature for mode in modes.values() if mode.present), None)
        )
        self.handler.set_mode(
            self.first + k, PatchMode.of(pair.A, pair.B, found.reach, found.turn, found.yaw, R, p)
        )
        for i, n in self._assign_features(pair, modes, found, R, p).items():
            self.handler.set_mode(
                first + i, modes[i].of_features(None if n is None else found.points[n].numbers)
            )
        return found

    def _assign_features(
        self, pair: PatchPair, modes: dict[int, Any], found: Found, R: Array, p: Array
    ) -> dict[int, int | None]:
        """Return {point: the index of its feature in `found`, or None}. A point keeps its feature
        if that was found again; the others get the nearest of the remaining features.
        """
        points: Sequence[Any] = found.points
        keys = {x.key: n for n, x in enumerate(points)}
        features: dict[int, int | None] = {i: keys.pop(mode.key, None) for i, mode in modes.items()}
        left = set(keys.values())
        places = {
            i: pair.at(mode.feature, R, p)[1]
            for i, mode in modes.items()
            if features[i] is None and mode.present
        }
        apart: list[tuple[Any, ...]] = sorted(
            (float(np.linalg.norm(x - found.places[n])), i, n)
            for i, x in places.items()
            for n in left
        )
        empty = [(0.0, i, n) for n in sorted(left) for i in modes if i not in places]
        for _, i, n in apart + empty:
            if n in left and features[i] is None:
                features[i] = n
                left.remove(n)
        return features
