"""Flexible bodies, and the step that replaces each of them by ordinary bodies, joints and springs.

    discretise         the mechanism with every flexible body replaced; machines and equations are
                       made of such a mechanism
    whole              the reverse, to write a file
    strain_energy      the elastic energy of each flexible body, J
    doubts             warnings about beams by modes whose shapes do not suit what they carry
    frequency_errors   the relative errors of their first frequencies

There are two discretisations: `segments` (rigid pieces with springs between them, for large
deflections) and `modes` (shape functions and their amplitudes).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ...doors import door
from ...errors import MechanismError
from ..beams import Beam, Flexed
from ..mechanism import Body, Mechanism
from ..planarity import normal
from ..pose import Scalar
from ..validation_beams import beam_faults
from .parts import Parts, whole
from .segments import segmented
from .strain import strain_energy

__all__ = ["discretise", "doubts", "frequency_error", "frequency_errors", "strain_energy", "whole"]


def discretise(m: Mechanism) -> Mechanism:
    """Return a valid mechanism with every flexible body replaced by bodies, joints, springs, and a
    frame at its tip.

    Anything that was attached to a flexible body at x (m along it) is then attached to the piece or
    place there. `beams` of the result says what replaces each body. A mechanism without flexible
    bodies is returned itself. Raise MechanismError where a beam is invalid; `validate` finds the
    same faults, with all others.
    """
    flexible = [b for b in m.bodies if b.flexible is not None]
    parts = Parts.of(m)
    for body in flexible:
        beam = _checked(body, m)
        parts = _replaced(
            replace(body, flexible=replace(beam, EI=_planes(body.name, beam, m))), parts
        )
        parts = replace(
            parts,
            beams=tuple(replace(x, beam=beam) if x.body == body.name else x for x in parts.beams),
        )
    return m.with_(**parts.changes()) if flexible else m


def _checked(body: Body, m: Mechanism) -> Beam:
    beam: Beam = body.flexible  # type: ignore[assignment]
    for fault in beam_faults(beam, m.parameters):
        raise MechanismError(f"body {body.name!r}: {fault}")
    return beam


def _replaced(body: Body, parts: Parts) -> Parts:
    """Return the parts with that flexible body replaced. Its beam has EI as a pair, None where it
    does not bend.
    """
    assert body.flexible is not None
    if body.flexible.segments is not None:
        return segmented(body, parts)
    from .modes import modal

    return modal(body, parts)


def _planes(body: str, beam: Beam, m: Mechanism) -> tuple[Scalar, Scalar]:
    """Return EI along y and along z, N m2. A single value bends in the plane of a planar mechanism,
    where there is one, else in both planes.
    """
    if isinstance(beam.EI, tuple) or beam.EI is None:
        return beam.planes
    n, turned = normal(m.ordered, m.parameters)
    held = not any(j.nv for j in m.joints)  # a beam clamped to the ground may bend either way
    if n is None or m.planar is False or (held and not m.planar):
        return beam.planes
    across = [abs(float(x)) for x in turned[body].T @ n]  # the normal in the beam's axes
    return (
        (beam.EI, None)
        if across[2] > 1 - 1e-7
        else (None, beam.EI)
        if across[1] > 1 - 1e-7
        else beam.planes
    )


def doubts(m: Mechanism) -> list[str]:
    """Return a sentence for each beam by modes whose shapes do not suit the bodies that it carries,
    or are nearly linearly dependent.
    """
    if not any(flexed.modal for flexed in m.beams):
        return []
    from .shape_errors import frequency_doubts, likeness_doubts

    return [*frequency_doubts(m), *likeness_doubts(m)]


def frequency_errors(m: Mechanism, flexed: Flexed) -> dict[str, np.ndarray]:
    """Return {direction: (k,)}: the relative errors by which the first frequencies of a beam by
    modes are too high, with the bodies that it carries.
    """
    if flexed.modal is None:
        return {}
    from . import shape_errors

    return shape_errors.frequency_errors(m, flexed)


def frequency_error(m: Mechanism) -> float | None:
    """Return the largest relative frequency error of the beams of a mechanism; None without beams
    by modes.
    """
    found = [
        float(x.max(initial=0.0))
        for flexed in m.beams
        for x in frequency_errors(m, flexed).values()
    ]
    return max(found, default=None)


if TYPE_CHECKING:
    from .shapes import CRAIG_BAMPTON, ENDS, WORDS

__getattr__, __dir__ = door(__name__)
