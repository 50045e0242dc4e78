"""Contacts: bodies that may touch the planes of the ground and each other, and pairs that may not.

MuJoCo's contacts are soft, catena's are rigid. The elements correspond as follows:

    plane of the ground, at any pose   the half-space below a frame
    other geoms of the ground          its shapes, height fields among them, with one law for a body
    contype, conaffinity               which bodies touch a plane, or the ground
    pair                               a contact of the two bodies, or of a body and a plane
    exclude                            pairs of bodies left out
    friction, condim, priority         Coulomb's coefficient: the first number; none where condim
                                       is 1. Torsional and rolling friction are not taken
    solref, solmix                     the coefficient of restitution of a spring and damper of this
                                       damping ratio; 0 where that is 1 or more, as by default
    solimp, margin, gap                no counterpart
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ...collision import find_pair
from ...model import GROUND, CollisionFilter, Contact, Frame
from ..mapping import MappingReport
from .geoms import KINDS, MESH, PLANE, SDF, MeshFiles, is_shape
from .names import Names
from .poses import pose

UNASKED = (
    "friction is not taken unless contacts=True asks for rigid contacts with the planes of the"
    " ground and of the pairs of the file"
)


def exclusions(m: Any, names: Names, mapping: MappingReport) -> CollisionFilter:
    """Return the pairs of bodies that the file excludes from collision."""
    pairs = []
    for first, second in _excluded(m):
        a, b = names.body(first), names.body(second)
        mapping.take("exclude", f"{a}, {b}")
        pairs.append((a, b))
    return CollisionFilter(exclude=tuple(pairs))


def touched(
    m: Any, files: MeshFiles, names: Names, mapping: MappingReport, asked: bool
) -> tuple[list[Frame], tuple[Contact, ...]]:
    """Return a frame for each plane of the ground, the contacts of bodies with it, and those of the
    pairs of the file.
    """
    masked = [g for g in range(m.ngeom) if m.geom_contype[g] or m.geom_conaffinity[g]]
    solid = [g for g in masked if is_shape(m, g, files)]
    if not asked:
        if masked or m.npair:
            mapping.refuse("contact", "", UNASKED)
        return [], ()
    paired = [int(g) for p in range(m.npair) for g in (m.pair_geom1[p], m.pair_geom2[p])]
    planes = {
        g: names.surface(m.geom(g).name or f"plane{g}")
        for g in sorted({*solid, *paired})
        if m.geom_type[g] == PLANE and not m.geom_bodyid[g]
    }
    frames = [Frame(s, GROUND, pose(m.geom_pos[g], m.geom_quat[g])) for g, s in planes.items()]
    standing = [g for g in solid if not m.geom_bodyid[g] and m.geom_type[g] != PLANE]
    others = [g for g in masked if g not in planes and g not in standing]
    _report_untouched(m, others, files, names, mapping)
    unshaped = {g for g in range(m.ngeom) if not is_shape(m, g, files)}
    found = [
        *_on_planes(m, solid, planes, names, mapping),
        *_on_ground(m, solid, standing, names, mapping),
        *_pairs(m, unshaped, planes, names, mapping),
    ]
    unique = {c.name: c for c in found}  # what a pair says replaces what masks say
    return frames, tuple(unique.values())


def _on_planes(
    m: Any, solid: list[int], planes: dict[int, str], names: Names, mapping: MappingReport
) -> Iterator[Contact]:
    """Yield the contacts of bodies with planes that contype and conaffinity allow."""
    excluded = {frozenset(pair) for pair in _excluded(m)}
    for plane, surface in planes.items():
        for b in (b for b in range(1, m.nbody) if m.body_weldid[b]):
            own = [g for g in solid if m.geom_bodyid[g] == b]
            meeting = [g for g in own if _meet(m, g, plane)]
            if not meeting or frozenset((0, b)) in excluded:
                continue
            name = f"{names.body(b)} on {surface}"
            laws = [_geom_law(m, g, plane) for g in meeting]
            law = _Law(max(x.friction for x in laws), max(x.restitution for x in laws))
            others = len(own) - len(meeting)
            also = f"; {others} geoms that do not collide with it there do here" if others else ""
            spread = len({*laws}) > 1
            mapping.approximate("contact", name, law.sentence(spread) + also)
            yield Contact(((names.body(b),), surface), law.friction, law.restitution, name=name)


def _on_ground(
    m: Any, solid: list[int], standing: list[int], names: Names, mapping: MappingReport
) -> Iterator[Contact]:
    """Yield the contacts with the shapes of the ground that are no planes."""
    excluded = {frozenset(pair) for pair in _excluded(m)}
    for b in (b for b in range(1, m.nbody) if m.body_weldid[b]):
        meeting = [
            (g, s) for g in solid if m.geom_bodyid[g] == b for s in standing if _meet(m, g, s)
        ]
        if not meeting or frozenset((0, b)) in excluded:
            continue
        name = f"{names.body(b)} on {GROUND}"
        kinds = {(KINDS[int(m.geom_type[s])], KINDS[int(m.geom_type[g])]) for g, s in meeting}
        apart = sorted(pair for pair in kinds if "mesh" in pair or find_pair(*pair) is None)
        if apart:
            surface, touching = apart[0]
            mapping.refuse(
                "contact",
                name,
                f"a {touching} on a {surface} of the ground is not taken; give the body boxes,"
                " spheres or capsules that collide, and contacts of its own",
            )
            continue
        laws = [_geom_law(m, g, s) for g, s in meeting]
        law = _Law(max(x.friction for x in laws), max(x.restitution for x in laws))
        mapping.approximate("contact", name, law.sentence(len({*laws}) > 1))
        yield Contact(((names.body(b),), GROUND), law.friction, law.restitution, name=name)


def _pairs(
    m: Any, unshaped: set[int], planes: dict[int, str], names: Names, mapping: MappingReport
) -> Iterator[Contact]:
    """Yield the contacts of <pair>."""
    for p in range(m.npair):
        geoms = [int(m.pair_geom1[p]), int(m.pair_geom2[p])]
        geoms.sort(key=lambda g: not m.geom_bodyid[g])  # the ground is the surface
        ends = [names.body(int(m.geom_bodyid[g])) for g in geoms]
        surface = planes.get(geoms[1], ends[1])
        name = f"{ends[0]} on {surface}"
        if GROUND in (ends[0], surface) or ends[0] == ends[1] or unshaped & {*geoms}:
            mapping.refuse(
                "pair",
                name,
                "a pair is taken of shapes of two bodies that move, or of one and a plane of the"
                " ground",
            )
            continue
        law = _Law(
            float(m.pair_friction[p, 0]) if m.pair_dim[p] > 1 else 0.0,
            _restitution(m.pair_solref[p]),
        )
        uneven = m.pair_friction[p, 0] != m.pair_friction[p, 1] and m.pair_dim[p] > 1
        mapping.approximate("pair", name, law.sentence(False) + (UNEVEN if uneven else ""))
        yield Contact(((ends[0],), surface), law.friction, law.restitution, name=name)


UNEVEN = "; the friction of its first direction is taken for both"


@dataclass(frozen=True)
class _Law:
    friction: float
    restitution: float

    def sentence(self, spread: bool) -> str:
        """Return a sentence about the rigid contact that replaces MuJoCo's soft contact."""
        largest = "; the largest values of its geoms" if spread else ""
        return (
            f"rigid, with Coulomb friction {self.friction:g}, restitution {self.restitution:.3g} by"
            f" the damping ratio of solref{largest}; MuJoCo's is soft (solimp and torsional and"
            " rolling friction are left out)"
        )


def _report_untouched(
    m: Any, others: list[int], files: MeshFiles, names: Names, mapping: MappingReport
) -> None:
    """Report the geoms that collide in MuJoCo but have no contact in the mechanism."""
    for g in others:
        name = m.geom(g).name or f"of {names.body(int(m.geom_bodyid[g]))}"
        if m.geom_type[g] == MESH and m.mesh(int(m.geom_dataid[g])).name not in files:
            mapping.refuse("geom", name, "nothing touches a mesh without a file here")
        elif m.geom_type[g] == SDF:
            mapping.refuse("geom", name, "nothing touches a signed distance field here")
        elif m.geom_type[g] == PLANE:
            mapping.refuse("geom", name, "a plane that moves is no surface here")
        elif not m.body_weldid[m.geom_bodyid[g]]:
            mapping.refuse(
                "geom",
                name,
                "a plane of a body that does not move touches nothing here"
                if m.geom_type[g] == PLANE
                else "it is on a body that does not move, and not on the world",
            )


def _excluded(m: Any) -> list[tuple[int, int]]:
    return [(int(s) >> 16, int(s) & 0xFFFF) for s in m.exclude_signature]


def _meet(m: Any, a: int, b: int) -> bool:
    return bool(
        m.geom_contype[a] & m.geom_conaffinity[b] or m.geom_contype[b] & m.geom_conaffinity[a]
    )


def _geom_law(m: Any, a: int, b: int) -> _Law:
    """Return the law of two geoms: that of the one with the higher priority, else the larger
    friction, and the solref mixed by the weights solmix.
    """
    first, second = int(m.geom_priority[a]), int(m.geom_priority[b])
    chosen = [a, b] if first == second else [a if first > second else b]
    sticks = max(int(m.geom_condim[g]) for g in chosen) > 1
    friction = max(float(m.geom_friction[g, 0]) for g in chosen) if sticks else 0.0
    solref = [m.geom_solref[g] for g in chosen]
    if len(chosen) == 1:
        return _Law(friction, _restitution(solref[0]))
    if min(float(x[0]) for x in solref) <= 0:  # given by stiffness and damping
        return _Law(friction, _restitution([min(x[k] for x in solref) for k in (0, 1)]))
    weights = [max(float(m.geom_solmix[g]), 0.0) for g in chosen]
    share = weights[0] / sum(weights) if sum(weights) else 0.5
    mixed = [share * float(solref[0][k]) + (1 - share) * float(solref[1][k]) for k in (0, 1)]
    return _Law(friction, _restitution(mixed))


def _restitution(solref: Any) -> float:
    """Return the ratio of the speeds after and before the impact of a mass on a spring and damper
    of damping ratio z that can only push:

        exp(-z / w atan2(2 z w, 2 z^2 - 1)),      w = sqrt(1 - z^2)      [Schwager2007]

    solref: time constant and z, or minus stiffness and minus damping. Where z is 1 or more, as by
    default, the result is 0, in place of the exact ratio, which is at most 0.135.

    >>> _restitution([0.02, 1.0]), round(_restitution([0.02, 0.1]), 4)
    (0.0, 0.7441)
    >>> round(_restitution([-100.0, -2.0]), 4)
    0.7441
    """
    first, second = (float(x) for x in solref[:2])
    z = second if first > 0 else -second / (2 * math.sqrt(-first)) if first < 0 else 1.0
    if not 0 <= z < 1:
        return 0.0
    w = math.sqrt(1 - z * z)
    return math.exp(-z / w * math.atan2(2 * z * w, 2 * z * z - 1))
