"""Flexible bodies, and the step that replaces each of them by ordinary bodies, joints and springs.

    discretise         the mechanism with every flexible body replaced; machines and equations are
                       made of such a mechanism
    whole              the way back, to write a file
    strain_energy      what each flexible body stores, J
    doubts             which beams by modes have shapes that do not suit what they carry
    frequency_errors   by how much their first frequencies are too high

Two ways: `segments` (rigid pieces with springs between them, large deflections) and `modes` (shapes
and their amplitudes).
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
    """A valid mechanism with every flexible body replaced by what stands for it: bodies, joints,
    springs, and a frame at its tip.

    What stands on a flexible body at x (m along it) then stands on the piece or place of it that is
    there. `beams` of the result says what became of each body. A mechanism without flexible bodies
    is returned itself. Raises MechanismError where a beam cannot be what it says; `validate` finds
    the same faults, with all others.
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
    """The parts with that flexible body replaced. Its beam has EI as a pair, None where it does not
    bend.
    """
    assert body.flexible is not None
    if body.flexible.segments is not None:
        return segmented(body, parts)
    from .modes import modal

    return modal(body, parts)


def _planes(body: str, beam: Beam, m: Mechanism) -> tuple[Scalar, Scalar]:
    """EI along y and along z. One value bends in the plane of a planar mechanism, where there is
    one, else in both.
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
    """A sentence for each beam by modes whose shapes do not suit what it carries, or are hardly
    different from each other.
    """
    if not any(flexed.modal for flexed in m.beams):
        return []
    from .trust import frequency_doubts, likeness_doubts

    return [*frequency_doubts(m), *likeness_doubts(m)]


def frequency_errors(m: Mechanism, flexed: Flexed) -> dict[str, np.ndarray]:
    """{direction: (k,)}: by how much the first frequencies of a beam by modes are too high with
    what it carries, relative.
    """
    if flexed.modal is None:
        return {}
    from . import trust

    return trust.frequency_errors(m, flexed)


def frequency_error(m: Mechanism) -> float | None:
    """The largest of them in a mechanism; None without beams by modes."""
    found = [
        float(x.max(initial=0.0))
        for flexed in m.beams
        for x in frequency_errors(m, flexed).values()
    ]
    return max(found, default=None)


if TYPE_CHECKING:
    from .shapes import CRAIG_BAMPTON, ENDS, WORDS

__getattr__, __dir__ = door(__name__)
