"""Companion: a TOML file that adds to a mechanism of another format what that format cannot
express.

Loops, frames, loads, rows, constraints, gravity, parameters, shapes of the ground, collisions; for
existing bodies: shapes; and for existing joints: limits, damping, friction, armature.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ...errors import FormatError, unknown
from ...model import Body, Joint, Mechanism, slides
from ..draft import Draft
from .contacts import read_contact
from .joints import read_limits, read_loop, read_losses
from .loads import read_constraint, read_load, read_row
from .reader import open_file, read_expressions, read_frame, read_parameters
from .schema import COMPANION, COMPANION_BODY, COMPANION_JOINT
from .sensors import read_sensor
from .shapes import read_collisions, read_shape
from .tables import Table


def add(draft: Draft, path: Path) -> None:
    """Add the contents of the companion to the draft; raise FormatError for its own faults."""
    top = open_file(path)
    top.only(COMPANION.names)
    read_parameters(top)
    read_expressions(top)
    m = draft.mechanism
    top.ledger.slides |= slides(m.joints)
    changed = {j.name: j for t in top.tables("joint") if (j := _changed(t, m))}
    shaped = {b.name: b for t in top.tables("body") if (b := _shaped(t, m))}
    draft.change(
        bodies=tuple(shaped.get(b.name, b) for b in m.bodies),
        ground=(*m.ground, *(read_shape(t, collides=True) for t in top.tables("ground"))),
        collisions=read_collisions(top) if "collisions" in top else m.collisions,
        joints=tuple(changed.get(j.name, j) for j in m.joints),
        frames=(*m.frames, *(read_frame(t) for t in top.tables("frame"))),
        loops=(*m.loops, *(read_loop(t) for t in top.tables("loop"))),
        loads=(*m.loads, *(load for t in top.tables("load") if (load := read_load(t)))),
        nonholonomic=(*m.nonholonomic, *(row for t in top.tables("row") if (row := read_row(t)))),
        constraints=(
            *m.constraints,
            *(tie for t in top.tables("constraint") if (tie := read_constraint(t))),
        ),
        contacts=(
            *m.contacts,
            *(contact for t in top.tables("contact") if (contact := read_contact(t))),
        ),
        sensors=(
            *m.sensors,
            *(sensor for t in top.tables("sensor") if (sensor := read_sensor(t))),
        ),
        gravity=top.vector("gravity", "acceleration", default=m.gravity),
        parameters={**m.parameters, **top.ledger.parameters},
        units={**m.units, **top.ledger.units},
    )
    draft.check_dimensions &= top.flag("check_dimensions", True) is True
    if top.ledger.faults:
        count = "a fault" if len(top.ledger.faults) == 1 else f"{len(top.ledger.faults)} faults"
        raise FormatError(
            path, f"the companion of {draft.path.name} has {count}:", top.ledger.faults
        )


def _shaped(t: Table, m: Mechanism) -> Body | None:
    """Return the body of the mechanism with the shapes of a companion's [[body]] added."""
    t.only(COMPANION_BODY.names)
    name = t.text("name")
    shapes = tuple(read_shape(s) for s in t.tables("shapes"))
    if name not in m._bodies:
        if name:
            t.fault(unknown("body", name, m._bodies, f"mechanism {m.name!r}"))
        return None
    return replace(m.body(name), shapes=(*m.body(name).shapes, *shapes))


def _changed(t: Table, m: Mechanism) -> Joint | None:
    """Return the joint of the mechanism with the values of a companion's [[joint]]."""
    t.only(COMPANION_JOINT.names)
    name = t.text("name")
    joint = next((j for j in m.joints if j.name == name), None)
    if joint is None:
        if name:
            t.fault(
                f"{unknown('joint', name, [j.name for j in m.joints], f'mechanism {m.name!r}')}"
            )
        return None
    return (
        replace(joint, **read_limits(t, joint), **read_losses(t, joint)) if joint.sound else joint
    )
