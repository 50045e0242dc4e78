"""Assur groups: a planar linkage taken apart into driven joints and dyads, which are solved one
after the other.

Links whose relative poses are known form a rigid group. At first every link is a group of its own.
A driven or rigid joint joins two groups. Three groups, each pair of which is joined by one
elementary joint, form a triangle (`triangles`) and are joined, until one group is left. Where the
ground is one of the three, the other two are a dyad in the usual sense. A triangle without the
ground is solved too; a solver that begins at the ground cannot solve such a linkage.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import casadi as ca

from ..errors import QuestionError
from ..model import GROUND
from .planar_elements import UNMOVED, PlanarElement, PlanarMechanism, PlanarPose, compose, inverse
from .triangles import TRIANGLES, Side, solve


@dataclass(frozen=True)
class AssurGroup:
    """One dyad: its kind, such as "RRR", in the order base - first - second - base; the joints in
    this order; the links of its base and of its two groups. modes: how many ways there are to
    assemble it.
    """

    kind: str
    joints: tuple[str, str, str]
    links: tuple[tuple[str, ...], tuple[str, ...]]
    base: tuple[str, ...]
    modes: int

    def __str__(self) -> str:
        links = " and ".join(", ".join(x) for x in self.links)
        return f"{self.kind}  {links}  at joints {', '.join(self.joints)}"


@dataclass(frozen=True)
class Decomposition:
    """The dyads of a linkage, in the order in which they are solved, and the closed form.

    driven: the names of the driven coordinates. poses: {link: planar pose in the ground}, as
    expressions of `q` (driven coordinates), `signs` (one per dyad with two modes) and the
    parameters. margins: one per sign.
    """

    planar: PlanarMechanism
    driven: tuple[str, ...]
    groups: tuple[AssurGroup, ...]
    q: ca.SX
    signs: ca.SX
    poses: dict[str, PlanarPose]
    margins: tuple[Any, ...]

    @property
    def signed(self) -> tuple[AssurGroup, ...]:
        """The dyads with two modes, one for each sign."""
        return tuple(g for g in self.groups if g.modes > 1)

    def __str__(self) -> str:
        m = self.planar.mechanism
        lines = [f"{m.name}: driven by {', '.join(self.driven)}; {len(self.groups)} dyad(s)"]
        return "\n".join([*lines, *(f"  {g}" for g in self.groups)])


def decompose(planar: PlanarMechanism, driven: tuple[str, ...]) -> Decomposition:
    """Return the dyads of a planar mechanism in the order of their solution.

    Raises
    ------
    QuestionError
        Where freedoms are left, where joints over-constrain links, or where links form a group
        that dyads do not solve.
    """
    return _Worker(planar, driven).run()


class _Worker:
    """The groups of links, which are joined until one is left."""

    def __init__(self, planar: PlanarMechanism, driven: tuple[str, ...]):
        self.planar = planar
        self.driven = driven
        self.q = ca.SX.sym("q", len(driven))
        self.motions = self._driven_motions()
        # {group: {link: pose in the group}}; a group is called by its first link
        self.groups: dict[str, dict[str, PlanarPose]] = {
            link: {link: UNMOVED} for link in planar.links
        }
        self.where = {link: link for link in planar.links}
        self.found: list[AssurGroup] = []
        self.signs: list[Any] = []
        self.margins: list[Any] = []

    def _driven_motions(self) -> dict[str, Any]:
        """Return {coordinate: value} of the driven coordinates and of those that follow them."""
        m = self.planar.mechanism
        known: dict[str, Any] = dict(zip(self.driven, ca.vertsplit(self.q)))
        for name, mimic in m.following.items():
            if mimic.joint in known and mimic.function is None:
                table = dict(zip(m.parameters, ca.vertsplit(self.planar.p)))
                known[name] = _number(mimic.multiplier, table) * known[mimic.joint] + _number(
                    mimic.offset, table
                )
        if missing := [name for name in m.following if name not in known]:
            raise QuestionError(
                f"positions of {m.name!r} by dyads: joint {missing[0]!r} follows"
                f" {m.following[missing[0]].joint!r}, which is not driven or not followed"
                " linearly; drive that joint"
            )
        return known

    def run(self) -> Decomposition:
        for e in self.planar.elements:
            if not e.motion or (e.coordinate is not None and e.coordinate in self.motions):
                self._join_known(e)
        while len(self.groups) > 1:
            self._join_triangle()
        poses = self.groups[GROUND]
        return Decomposition(
            self.planar,
            self.driven,
            tuple(self.found),
            self.q,
            ca.vertcat(*self.signs) if self.signs else ca.SX.zeros(0),
            poses,
            tuple(self.margins),
        )

    def _join_known(self, e: PlanarElement) -> None:
        """Join the two groups of an element whose displacement is known."""
        A, B = self.where[e.first], self.where[e.second]
        if A == B:
            raise QuestionError(
                f"positions of {self.planar.mechanism.name!r} by dyads: joint {e.joint!r} is driven"
                " between links that other driven joints connect already; drive fewer"
            )
        value = self.motions[e.coordinate] if e.motion and e.coordinate is not None else 0.0
        X_AB = compose(
            compose(self._frame(A, e.first, e.X_aF), e.displacement(value)),
            inverse(self._frame(B, e.second, e.X_bF)),
        )
        if B == GROUND:
            A, B, X_AB = B, A, inverse(X_AB)
        self._absorb(A, B, X_AB)

    def _frame(self, group: str, link: str, X: PlanarPose) -> PlanarPose:
        return compose(self.groups[group][link], X)

    def _absorb(self, A: str, B: str, X_AB: PlanarPose) -> None:
        """Put the links of group B into group A."""
        for link, X in self.groups.pop(B).items():
            self.groups[A][link] = compose(X_AB, X)
            self.where[link] = A

    def _open(self) -> dict[frozenset[str], PlanarElement]:
        """Return the elements between different groups, by the pair of groups."""
        found: dict[frozenset[str], PlanarElement] = {}
        for e in self.planar.elements:
            A, B = self.where[e.first], self.where[e.second]
            if A == B:
                continue
            pair = frozenset((A, B))
            if pair in found:
                raise QuestionError(
                    f"positions of {self.planar.mechanism.name!r} by dyads: joints"
                    f" {found[pair].joint!r} and {e.joint!r} connect the same two rigid groups"
                    f" ({self._named(A)}; {self._named(B)}), which leaves no motion in general;"
                    " take one of them out, or drive another joint"
                )
            found[pair] = e
        return found

    def _named(self, group: str) -> str:
        return ", ".join(self.groups[group])

    def _join_triangle(self) -> None:
        """Solve the first triangle, one with the ground if there is one, and join its groups."""
        open_ = self._open()
        for A, B, C in _triples(list(self.groups), open_):
            sides = [self._side(open_, *pair) for pair in ((A, B), (B, C), (C, A))]
            kind = "".join(side.motion for side, _ in sides)
            if kind in TRIANGLES:
                break
        else:
            raise self._no_triangle(len(open_))
        modes = TRIANGLES[kind].modes
        sign = ca.SX.sym(f"sign{len(self.signs)}") if modes > 1 else 1.0
        solved = solve([side for side, _ in sides], sign)
        self.found.append(
            AssurGroup(
                kind,
                (sides[0][1], sides[1][1], sides[2][1]),
                (tuple(self.groups[B]), tuple(self.groups[C])),
                tuple(self.groups[A]),
                modes,
            )
        )
        if modes > 1:
            self.signs.append(sign)
            self.margins.append(solved.margin)
        self._absorb(A, B, solved.X_AB)
        self._absorb(A, C, solved.X_AC)

    def _side(
        self, open_: Mapping[frozenset[str], PlanarElement], A: str, B: str
    ) -> tuple[Side, str]:
        """Return the joint between two groups, from A to B, and its name."""
        e = open_[frozenset((A, B))]
        first = self.where[e.first]
        second = self.where[e.second]
        side = Side(
            e.motion,
            self._frame(first, e.first, e.X_aF),
            self._frame(second, e.second, e.X_bF),
            e.direction,
        )
        return (side if first == A else side.reversed()), e.joint

    def _no_triangle(self, joints: int) -> QuestionError:
        m = self.planar.mechanism
        left = 3 * (len(self.groups) - 1) - 2 * joints
        names = "; ".join(self._named(g) for g in self.groups if g != GROUND)
        if left > 0:
            return QuestionError(
                f"positions of {m.name!r} by dyads: driving {', '.join(self.driven)} leaves"
                f" {left} freedom(s) of {names}; drive {left} more coordinate(s). Coordinates are:"
                f" {', '.join(m.coordinate_names)}"
            )
        return QuestionError(
            f"positions of {m.name!r} by dyads: the links {names} form an Assur group of a higher"
            " class, which is not made of dyads; drive another joint, or follow it by Newton's"
            " method with catena.analysis.kinematics(...)"
        )


def _triples(
    groups: list[str], open_: Mapping[frozenset[str], PlanarElement]
) -> Iterator[tuple[str, str, str]]:
    """Yield three groups, each pair of which is joined; those with the ground first."""
    order = sorted(groups, key=lambda g: g != GROUND)
    for A, B, C in combinations(order, 3):
        if all(frozenset(pair) in open_ for pair in ((A, B), (B, C), (C, A))):
            yield A, B, C


def _number(x: Any, table: Mapping[str, Any]) -> Any:
    from ..model import evaluate

    return x if isinstance(x, (int, float)) else evaluate(x, table)
