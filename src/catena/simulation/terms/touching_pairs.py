"""The pairs of shapes of a mechanism whose features are chosen at events, with the contact points
that each may have.
"""

from __future__ import annotations

from ...collision import contact_patches, patch_points
from ...model import Mechanism
from ...registry import loaded
from .contact_slots import PatchPoint, TouchingPatch


def touching_pairs(m: Mechanism) -> tuple[list[TouchingPatch], list[PatchPoint]]:
    """Return all pairs of shapes of a mechanism whose features are chosen at events, and all their
    contact points.
    """
    found = [(patch, patch_points(m, patch)) for patch in contact_patches(m, by_features=True)]
    return [TouchingPatch(x, len(own)) for x, own in found], [
        loaded(x.method.point)(p, m.contacts[x.contact], x) for x, own in found for p in own
    ]
