"""The refusal of motions without inertia that nothing determines: a leg that is a point mass at the
hip and swings freely, a hub without inertia that flies.
"""

from __future__ import annotations

import numpy as np

from ...errors import SingularError
from ...machine import where
from .contact_terms import ContactTerms

# a motion is determined where the closed contacts oppose it by more than this, relative to the
# largest motion of a contact point along it
DETERMINED_SHARE = 1e-7


def require_determined(terms: ContactTerms, t: float) -> None:
    """Raise SingularError where the closed contacts at t (s) leave a motion without inertia free,
    and name the speed with the largest part in it.
    """
    now = terms.at(t)
    found = terms.response(t, now.M, False)
    N = found.N[:, found.D == 0.0]
    if not N.shape[1]:
        return
    B = now.J[_closed_rows(terms)] @ N
    _, s, V = np.linalg.svd(np.vstack([B, np.zeros((N.shape[1], N.shape[1]))]))
    size = np.sqrt(((now.J @ N) ** 2).sum(axis=1).max(initial=0.0))
    if s[N.shape[1] - 1] > DETERMINED_SHARE * size:
        return
    motion = (N @ V[N.shape[1] - 1]) * np.sqrt(terms.choice_inertia)
    machine = terms.handler.machine
    name = machine.speed_names[int(np.abs(motion).argmax())]
    joint = next(j for j in machine.mechanism.moving if name in j.speed_names)
    raise SingularError(
        f"at t = {t:.9g} s no closed contact determines the speed {name!r} of {where(machine)},"
        f" which moves no inertia: give body {joint.child!r} or what it carries mass and inertia,"
        f" or give joint {joint.name!r} an armature",
        where=name,
    )


def _closed_rows(terms: ContactTerms) -> list[int]:
    """Return the rows of the closed contacts: normals, and the tangents of those that stick."""
    first = terms.handler.constraints.first_contact
    modes = [terms.handler.mode(first + i) for i in range(len(terms.points))]
    return [
        3 * i + j
        for i, mode in enumerate(modes)
        if mode.closed > 0.5
        for j in range(3 if mode.stick > 0.5 else 1)
    ]
