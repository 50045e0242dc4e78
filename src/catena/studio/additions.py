"""Additions: the entries of the studio's menu that add to a model, as tables of its file: a body, a
joint, a loop, a spring, a motor and so on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import CatenaError
from ..model import GROUND, Mechanism
from ..registry import Registry
from ..results.scene import upward
from .document import Document

SPEED = "30 rpm"  # of a new motor


@dataclass(frozen=True)
class Addition:
    """An entry of the menu.

    name, doc: its label and its description. add(document, mechanism, selected, size): changes a
    document; selected: the name of the selected part; size: a typical length of the model, m.
    """

    name: str
    doc: str
    add: Callable[[Document, Mechanism | None, str, float], None]


ADDITIONS: Registry[Addition] = Registry("addition")
register = ADDITIONS.register


def _fresh(data: Mapping[str, Any], word: str) -> str:
    """Return the word with the first number that makes a name not yet used in the file."""
    taken = {
        row.get("name")
        for kind in ("body", "joint", "loop", "load", "frame", "contact", "row")
        for row in data.get(kind, [])
    }
    return next(f"{word} {k}" for k in range(1, 10_000) if f"{word} {k}" not in taken)


def _carrier(m: Mechanism | None, selected: str) -> str:
    """Return the body to which a new part is attached: the selected one, the child of the selected
    joint, or the ground.
    """
    if m is not None:
        for j in (*m.joints, *m.loops):
            if j.name == selected:
                return j.child
        if selected in m._bodies:
            return selected
    return GROUND


def _length(x: float) -> str:
    """Return a length (m) as text in mm with two digits."""
    return f"{float(f'{1000 * x:.2g}'):g} mm"


def _body(document: Document, m: Mechanism | None, selected: str, size: float) -> None:
    """Add a rod with a pin on the selected body or the ground."""
    data = document.data()
    on = _carrier(m, selected)
    name = _fresh(data, "body")
    pin = _fresh(data, "joint")
    I = float(f"{size**2 / 12:.3g}")
    at = [] if on == GROUND else _tip(data, on)
    joint = {
        "name": pin,
        "kind": "revolute",
        "parent": on,
        "child": name,
        **({"at": at} if at else {}),
    }
    body = {
        "name": name,
        "mass": "1 kg",
        "com": [_length(size / 2), 0, 0],
        "inertia": [float(f"{I / 100:.3g}"), I, I],
    }
    shape = {"shapes": [{"kind": "line", "size": [_length(size), 0, 0]}]}
    document.add([("body", {**body, **shape}), ("joint", joint)])


def _tip(data: Mapping[str, Any], body: str) -> list[Any]:
    """Return the far end of a body: that of its line, or twice its centre of mass."""
    found: Mapping[str, Any] = next((b for b in data.get("body", []) if b.get("name") == body), {})
    line = next((s for s in found.get("shapes", []) if s.get("kind") == "line"), None)
    if line:
        return list(line["size"])
    return [
        f"2*({x})" if isinstance(x, str) and not x[:1].isdigit() else x
        for x in found.get("com", [0, 0, 0])
    ]


def _joint(document: Document, m: Mechanism | None, selected: str, size: float) -> None:
    """Add a joint for a body that has none."""
    data = document.data()
    carried = {j.get("child") for j in data.get("joint", [])}
    loose = [b.get("name") for b in data.get("body", []) if b.get("name") not in carried]
    if not loose:
        raise CatenaError(
            "every body has a joint that carries it already; add a body, or a loop between two"
            " bodies"
        )
    document.add(
        [
            (
                "joint",
                {
                    "name": _fresh(data, "joint"),
                    "kind": "revolute",
                    "parent": _carrier(m, selected),
                    "child": loose[0],
                },
            )
        ]
    )


def _loop(document: Document, m: Mechanism | None, selected: str, size: float) -> None:
    """Add a pin that closes a loop between a body and the ground."""
    data = document.data()
    on = _carrier(m, selected)
    if on == GROUND:
        bodies = [b.get("name") for b in data.get("body", [])]
        if not bodies:
            raise CatenaError("a loop joins two bodies, or a body and the ground; add a body first")
        on = str(bodies[-1])
    document.add(
        [
            (
                "loop",
                {
                    "name": _fresh(data, "loop"),
                    "kind": "revolute",
                    "parent": on,
                    "child": GROUND,
                    "at": _tip(data, on),
                    "child_at": [_length(size), 0, 0],
                },
            )
        ]
    )


def _spring(document: Document, m: Mechanism | None, selected: str, size: float) -> None:
    """Add a spring and damper from the ground to a body, with frames at its ends."""
    data = document.data()
    on = _carrier(m, selected)
    bodies = [str(b.get("name")) for b in data.get("body", [])]
    if not bodies:
        raise CatenaError("a spring has two ends, on bodies or frames; add a body first")
    on = on if on != GROUND else bodies[-1]
    frame = _fresh(data, "point")
    foot = _fresh(data, "foot")
    frames = [
        ("frame", {"name": frame, "body": on, "at": _tip(data, on)}),
        ("frame", {"name": foot, "body": GROUND, "at": [_length(size), _length(size), 0]}),
    ]
    spring = {
        "name": _fresh(data, "spring"),
        "kind": "spring",
        "start": foot,
        "end": frame,
        "stiffness": "200 N/m",
        "length": _length(size / 2),
        "damping": "2 N*s/m",
    }
    document.add([*frames, ("load", spring)])


def _motor(document: Document, m: Mechanism | None, selected: str, size: float) -> None:
    """Add a constant speed of the selected joint, or of the first with one degree of freedom, from
    its start value.
    """
    if m is None or not m.coordinate_names:
        raise CatenaError("a motor drives a joint; add a joint that moves first")
    single = [j for j in m.moving if j.nv == 1]
    chosen = next((j for j in single if j.name == selected), single[0] if single else None)
    if chosen is None:
        raise CatenaError("a motor drives a joint of one freedom; none is here")
    data = document.data()
    initial = data.get("scenario", {}).get("initial", {})
    begin = initial.get("q", {}).get(chosen.name, initial.get("near", {}).get(chosen.name, 0))
    slides = chosen.freedoms[0].motion.name == "SLIDE"
    motion = {
        "kind": "uniform",
        "speed": {chosen.name: "100 mm/s" if slides else SPEED},
        "offset": {chosen.name: begin},
    }
    given = data.get("scenario", {}).get("motion")
    if isinstance(given, dict) and given.get("kind") == "uniform":
        document.set(["scenario", "motion", "speed", chosen.name], motion["speed"][chosen.name])  # type: ignore[index]
        document.set(["scenario", "motion", "offset", chosen.name], begin)
    elif given is None:
        document.set(["scenario", "motion"], motion)
    else:
        raise CatenaError(
            "the scenario has a motion of another kind already; edit it under Scenario"
        )


def _frame(document: Document, m: Mechanism | None, selected: str, size: float) -> None:
    """Add a frame at the far end of the selected body."""
    data = document.data()
    on = _carrier(m, selected)
    document.add(
        [
            (
                "frame",
                {
                    "name": _fresh(data, "frame"),
                    "body": on,
                    "at": _tip(data, on) if on != GROUND else [0, 0, 0],
                },
            )
        ]
    )


def _contact(document: Document, m: Mechanism | None, selected: str, size: float) -> None:
    """Add a contact between the far end of a body and a floor below."""
    data = document.data()
    on = _carrier(m, selected)
    bodies = [str(b.get("name")) for b in data.get("body", [])]
    if not bodies:
        raise CatenaError("a contact is between a body and a surface; add a body first")
    on = on if on != GROUND else bodies[-1]
    frame = _fresh(data, "foot")
    floor = _fresh(data, "floor")
    up = upward(m) if m is not None else np.array([0.0, 0.0, 1.0])
    k = int(np.argmax(np.abs(up)))
    turned: dict[str, Any] = (
        {}
        if k == 2 and up[2] > 0
        else {
            "rotate": {
                "axis": [[0, 1, 0], [1, 0, 0], [1, 0, 0]][k],
                "angle": f"{[90, -90, 180][k] * int(np.sign(up[k]))} deg",
            }
        }
    )
    below = [0 if x != k else _length(-size * float(np.sign(up[k]))) for x in range(3)]
    frames: list[tuple[str, dict[str, Any]]] = [
        ("frame", {"name": frame, "body": on, "at": _tip(data, on)}),
        ("frame", {"name": floor, "body": GROUND, "at": below, **turned}),
    ]
    document.add(
        [
            *frames,
            (
                "contact",
                {
                    "between": [frame, floor],
                    "friction": 0.5,
                    "restitution": 0.2,
                    "radius": _length(size / 20),
                },
            ),
        ]
    )


def _torque(document: Document, m: Mechanism | None, selected: str, size: float) -> None:
    """Add a joint force given by an expression of time."""
    if m is None or not m.speed_names:
        raise CatenaError("a torque acts along a joint; add a joint that moves first")
    chosen = selected if selected in m.speed_names else m.speed_names[0]
    document.add(
        [
            (
                "load",
                {
                    "name": _fresh(document.data(), "torque"),
                    "kind": "joint_force",
                    "coordinate": chosen,
                    "force": "0.1*sin(3*t)",
                },
            )
        ]
    )


def _parameter(document: Document, m: Mechanism | None, selected: str, size: float) -> None:
    """Add a parameter."""
    taken = document.data().get("parameters", {})
    document.set(
        ["parameters", next(f"p{k}" for k in range(1, 10_000) if f"p{k}" not in taken)],
        _length(size),
    )


for _name, _doc, _add in (
    ("body", "a rod on the selected body, or on the ground, with a pin", _body),
    ("joint", "a joint for a body that has none", _joint),
    ("loop", "a joint that closes a loop", _loop),
    ("spring", "a spring and damper from the ground to the selected body", _spring),
    ("motor", "a constant speed of the selected joint", _motor),
    ("torque", "a force along a coordinate, as an expression", _torque),
    ("frame", "a named point of the selected body", _frame),
    ("contact", "the end of the selected body may touch a floor below", _contact),
    ("parameter", "a number with a name, and a slider", _parameter),
):
    register(Addition(_name, _doc, _add))


def drawn_start(document: Document, angles: Mapping[str, float], first: bool) -> None:
    """Write the angles (rad) at which a linkage was drawn as the start of the scenario.

    The first pin's angle is kept exactly if `first`; the others are first guesses (`near`).
    """
    degrees = {name: f"{float(f'{np.degrees(x):.5g}'):g} deg" for name, x in angles.items()}
    names = list(degrees)
    for k, name in enumerate(names):
        document.set(
            ["scenario", "initial", "q" if k == 0 and first else "near", name], degrees[name]
        )
