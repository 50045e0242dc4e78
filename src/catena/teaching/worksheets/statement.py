"""What a problem says before anything is asked: bodies, coordinates with their zero and sense,
parameters, forces.
"""

from __future__ import annotations

import re
from dataclasses import fields

import numpy as np

from ...equations.readable import names_of
from ...model import GROUND, Joint, Mechanism, Motion, plane, value_of

AXES = {0: "x", 1: "y", 2: "z"}


def given(mechanism: Mechanism) -> list[str]:
    """Return the sentences of a statement, one for each body, coordinate and force."""
    m = mechanism
    return [
        *(_body(m, b.name) for b in m.bodies),
        *(x for j in m.ordered for x in _joint(m, j)),
        *(f"Joint {j.name} closes a loop between {j.parent} and {j.child}." for j in m.loops),
        *(f"The speeds obey the row {_record(r)}." for r in m.nonholonomic),
        *(f"There is the load {_record(x)}." for x in m.loads),
        _gravity(m),
        f"The force of a motor along a coordinate is {', '.join(_forces(m))}.",
    ]


def _body(m: Mechanism, name: str) -> str:
    body = next(b for b in m.bodies if b.name == name)
    if value_of(body.mass, m.parameters) == 0:
        return f"Body {name} has no mass."
    place = ", ".join(map(_shown, body.com))
    xx, xy, xz, yy, yz, zz = body.inertia
    products = any(value_of(x, m.parameters) for x in (xy, xz, yz))
    shown = body.inertia if products else (xx, yy, zz)
    letters = "xx, xy, xz, yy, yz, zz" if products else "xx, yy, zz"
    still = all(value_of(x, m.parameters) == 0 for x in body.inertia)
    about = "" if still else f", inertia about it ({letters}) = ({', '.join(map(_shown, shown))})"
    return f"Body {name}: mass {_shown(body.mass)}, centre of mass ({place}) from its joint{about}."


def _record(x: object) -> str:
    """Return a load or a row by its name, and its values other than those it has by default."""
    given = {
        f.name: getattr(x, f.name)
        for f in fields(x)  # type: ignore[arg-type]
        if f.name != "name" and getattr(x, f.name) != f.default
    }
    values = ", ".join(f"{name} = {_shown(value)}" for name, value in given.items())
    return f"{x.name} ({words(type(x).__name__)}): {values}"  # type: ignore[attr-defined]


def words(name: str) -> str:
    """Return the name of a class as words.

    >>> words("JointSpring")
    'joint spring'
    """
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()


def _shown(x: object) -> str:
    return f"{x:g}" if isinstance(x, float) else str(x)


def _joint(m: Mechanism, j: Joint) -> list[str]:
    own = [n for n in m.coordinate_names if n == j.name or n.startswith(f"{j.name}.")]
    carrier = "the ground" if j.parent == GROUND else j.parent
    at = ", ".join(map(_shown, j.placement.position))
    where = f"at ({at}) of {carrier}"
    if len(j.freedoms) != 1 or not own:
        said = f" with the coordinates {', '.join(own)}" if own else ""
        return [f"Joint {j.name} ({j.kind}) carries {j.child} {where}{said}."]
    f = j.freedoms[0]
    if f.motion == Motion.SLIDE:
        return [
            f"{own[0]}: the displacement of {j.child} along {_axis(f.axis)}, zero {where},"
            " positive along that axis."
        ]
    if f.motion == Motion.TURN:
        sense = "counter-clockwise" if plane(m) is not None else "by the right-hand rule"
        return [
            f"{own[0]}: the angle of {j.child} about {_axis(f.axis)} {where}, zero where its axes"
            f" are parallel to those of {carrier}, positive {sense}{_seen(m, f.axis)}."
        ]
    return [f"Joint {j.name} ({j.kind}) carries {j.child} {where} by {', '.join(own)}."]


def _seen(m: Mechanism, axis: object) -> str:
    """Return from where a turn in the plane is seen."""
    return f" seen from the tip of {_axis(axis)}" if plane(m) is not None else ""


def _axis(axis: object) -> str:
    v = np.array(axis, float)
    k = int(np.argmax(np.abs(v)))
    if abs(abs(v[k]) - 1) < 1e-12:
        return f"{'-' if v[k] < 0 else ''}{AXES[k]}"
    return f"({', '.join(f'{x:.4g}' for x in v)})"


def _gravity(m: Mechanism) -> str:
    g = np.array([value_of(x, m.parameters) for x in m.gravity], float)
    if not np.any(g):
        return "There is no gravity."
    return f"Gravity g acts along {_axis(g / np.linalg.norm(g))}."


def _forces(m: Mechanism) -> list[str]:
    return [n.text for n in names_of(m)["tau"]]
