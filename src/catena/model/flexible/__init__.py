"""Flexible bodies: each is replaced by ordinary bodies, joints and springs, so that every room sees what it knows.

    expand     a mechanism's parts with every flexible body replaced: `Mechanism` calls it when it is made
    folded     the way back: the parts with flexible bodies whole again, to write a file or to cut loops elsewhere
    strain_energy      what each flexible body stores, J
    doubts             which beams by modes have shapes that do not suit what they carry
    frequency_errors   by how much their first frequencies are too high

Two ways: `segments` (rigid pieces with springs between them, large deflections) and `modes` (shapes and their amplitudes).
A beam that is faulty is left as it is, and `validate` says why.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..beams import Beam, Flexed
from ..mechanism import Body, Mechanism, walk
from ..planarity import normal
from ..validation_beams import beam_faults
from .parts import Parts, attached_anew, folded
from .segments import segmented
from .strain import strain_energy

__all__ = ["Parts", "doubts", "expand", "expand_one", "folded", "frequency_error", "frequency_errors", "strain_energy"]


def expand(m: Mechanism) -> Parts:
    """The mechanism's parts, every sound flexible body replaced by what stands for it.

    What is attached later to a body that was replaced (a frame, a joint, by its name) finds its place along it too.
    """
    rigid = folded(m)
    parts = rigid if attached_anew(m) else Parts.of(m)
    for body in (b for b in parts.bodies if b.flexible is not None and not any(beam_faults(b.flexible, m.parameters))):
        assert body.flexible is not None
        whole = replace(body, flexible=replace(body.flexible, EI=_planes(body, rigid, m.planar)))
        parts = expand_one(whole, parts)
        parts = replace(parts, beams=tuple(replace(x, beam=body.flexible) if x.body == body.name else x for x in parts.beams))
    return parts


def expand_one(body: Body, parts: Parts) -> Parts:
    """The parts with that flexible body replaced. Its beam has EI as a pair, None where it does not bend."""
    assert body.flexible is not None
    if body.flexible.segments is not None:
        return segmented(body, parts)
    from .modes import modal

    return modal(body, parts)


def _planes(body: Body, rigid: Parts, planar: bool | None) -> tuple:
    """EI along y and along z. One value bends in the plane of a planar mechanism, where there is one, else in both."""
    beam: Beam = body.flexible  # type: ignore[assignment]
    if isinstance(beam.EI, tuple) or beam.EI is None:
        return beam.planes
    try:
        n, turned = normal(walk(rigid.joints), rigid.parameters)
    except (KeyError, IndexError, TypeError, ValueError):  # joints that validate() will refuse
        return beam.planes
    held = not any(j.nv for j in rigid.joints)  # a beam clamped to the ground may bend either way
    if n is None or planar is False or (held and not planar) or body.name not in turned:
        return beam.planes
    across = [abs(float(x)) for x in turned[body.name].T @ n]  # the normal in the beam's axes
    return (beam.EI, None) if across[2] > 1 - 1e-7 else (None, beam.EI) if across[1] > 1 - 1e-7 else beam.planes


def doubts(m: Mechanism) -> list[str]:
    """A sentence for each beam by modes whose shapes do not suit what it carries, or are hardly different from each other."""
    if not any(flexed.modal for flexed in m.beams):
        return []
    from .trust import frequency_doubts, likeness_doubts

    return [*frequency_doubts(m), *likeness_doubts(m)]


def frequency_errors(m: Mechanism, flexed: Flexed) -> dict[str, np.ndarray]:
    """{direction: (k,)}: by how much the first frequencies of a beam by modes are too high with what it carries, relative."""
    if flexed.modal is None:
        return {}
    from . import trust

    return trust.frequency_errors(m, flexed)


def frequency_error(m: Mechanism) -> float | None:
    """The largest of them in a mechanism; None without beams by modes."""
    found = [float(x.max(initial=0.0)) for flexed in m.beams for x in frequency_errors(m, flexed).values()]
    return max(found, default=None)
