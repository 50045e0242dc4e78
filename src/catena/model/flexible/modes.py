"""Assumed modes in a floating frame: a beam as shapes with amplitudes, [Everett1988] eq. 33-37.

    root ------------------- tip          the body's own frame, carried by its joint at x = 0
        \\__  ____-----  each place x of the beam moves in it with the amplitudes e: y1, y2, ...,
            z1, ..., x1, ...,
           \\----                          twist1, ..., m and rad; they are coordinates of the
                                           mechanism like others

The amplitudes belong to one modal joint, which carries the tip; wherever else something is
attached, a further modal joint follows it. Those places turn with the slopes and the twist. The
elastic forces of the beam are a load `Strain`: EI phi''^2, EA phi'^2, GJ phi'^2. Damping is
proportional to them, as for segments.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...errors import MechanismError
from ..beams import DIRECTIONS, Beam
from ..loads import Strain
from ..mechanism import Body, Frame
from .integrals import Basis, integrals
from .modal_beam import Modal, scaled
from .parts import Parts
from .places import Places
from .shapes import ends_of, given, uniform


def modal(body: Body, parts: Parts) -> Parts:
    """Return the parts with one flexible body replaced by an ordinary body and modal joints."""
    beam: Beam = body.flexible  # type: ignore[assignment]
    model = Modal(
        body.name,
        f"{body.name} flex",
        integrals(_basis(body.name, beam)),
        beam.length,
        beam.rhoA,
        (beam.rhoJ, beam.rhoJ / 2, beam.rhoJ / 2),
    )
    places = Places(model, body, parts)
    carrier = parts.carrier(body.name)
    if carrier and abs(places.s(carrier.offset)) > 1e-9:
        raise MechanismError(
            f"body {body.name!r}: joint {carrier.name!r} carries it at x ="
            f" {places.s(carrier.offset):g} L, and a beam by modes is carried at x = 0; turn it"
            " round, or make it of segments"
        )
    tip = Frame(f"{body.name}.tip", places.names[-1])
    return places.replaced(
        places.bodies(), places.joints(), tuple(_strains(model, beam)), tip, model
    )


# --- what a beam says
def _basis(name: str, beam: Beam) -> Basis:
    """Return the modes that the record of a beam specifies."""
    try:
        return _shapes(name, beam, ends_of(beam.ends))
    except MechanismError as why:
        raise MechanismError(f"body {name!r}: {why}") from None


def _shapes(name: str, beam: Beam, ends: str) -> Basis:
    counts = {d: n for d in DIRECTIONS if (n := beam.counts.get(d, 0))}
    own = _given(beam)
    if any(own.values()) and not isinstance(beam.length, float):
        raise MechanismError(
            "shapes of your own are functions of x in metres, so the length is a number; found"
            f" {beam.length}"
        )
    shapes: dict[str, Any] = {}
    for d, n in counts.items():
        kind = "bending" if d in ("y", "z") else "stretching"
        if not own.get(d):
            shapes[d] = uniform(kind, ends, n)
            continue
        if n > len(own[d]):
            raise MechanismError(
                f"{n} modes are asked for in {d}, and {len(own[d])} shapes are given; give more"
                " shapes, or ask for fewer modes"
            )
        shapes[d] = given(f"shapes in {d}", own[d][:n], ends, kind, beam.length)
    return Basis(shapes, counts, beam.stiffening)


def _given(beam: Beam) -> dict[str, tuple[Any, ...]]:
    """Return {direction: the user's shapes}; a single list is used for both planes."""
    found = beam.shapes or ()
    table = isinstance(found, tuple) and bool(found) and isinstance(found[0], tuple)
    own: dict[str, Any] = dict(found) if table else dict.fromkeys("yz", found)
    for key, shapes in own.items():
        if key not in DIRECTIONS:
            raise MechanismError(
                f"shapes has the key {key!r}; it has some of {', '.join(DIRECTIONS)}"
            )
        if not isinstance(shapes, tuple) or not all(
            isinstance(f, str) or callable(f) for f in shapes
        ):
            raise MechanismError(
                f"shapes is {shapes!r}; it is a list of texts of x or of functions of x, or a table"
                " of such lists"
            )
    return own


def _strains(model: Modal, beam: Beam) -> Iterator[Strain]:
    """Yield the elastic loads of the beam, one per direction; each is damped so that the first
    mode, clamped at x = 0, has the beam's damping ratio.
    """
    I = model.integrals
    for d in I.basis.shapes:
        unit = beam.stiffness[d] / model.length ** (3 if d in ("y", "z") else 1)
        rows = [i for i, name in enumerate(I.basis.directions) if name == d]
        K = tuple(tuple(scaled(float(I.bent[i, j]), unit) for j in rows) for i in rows)
        yield Strain(
            f"{model.body}.{d}",
            tuple(f"{model.body}.{I.basis.labels[i]}" for i in rows),
            K,
            beam.lag(d),
        )
