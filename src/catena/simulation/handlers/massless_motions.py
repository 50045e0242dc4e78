"""Error messages for motions without inertia that nothing determines, such as a massless leg that
swings freely or a hub without inertia that flies.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...errors import SingularError
from ...machine import where
from .contact_terms import ContactTerms

Array = NDArray[np.float64]
# a motion is determined where the closed contacts oppose it by more than this, relative to the
# largest motion of a contact point along it
DETERMINED_SHARE = 1e-7


def require_determined(terms: ContactTerms, t: float) -> None:
    """Raise SingularError where the closed contacts at t (s) leave a motion without inertia free,
    and name the speed with the largest part in it.
    """
    first = terms.handler.constraints.first_contact
    modes = [terms.handler.mode(first + i) for i in range(len(terms.points))]
    rows = [
        3 * i + j
        for i, mode in enumerate(modes)
        if mode.closed > 0.5
        for j in range(3 if mode.stick > 0.5 else 1)
    ]
    motion = _free_motion(terms, t, rows)
    if motion is not None:
        raise _refusal(terms, t, motion, "no closed contact determines")


def refuse_to_pull(terms: ContactTerms, t: float, now: list[int]) -> None:
    """Raise SingularError where no modes were found for the contact points `now` at t (s) because a
    motion has no inertia: the contact that would determine it is open, or would have to pull.
    """
    motion = _free_motion(terms, t, [3 * i + j for i in now for j in range(3)])
    if motion is not None:
        raise _refusal(terms, t, motion, "no closed contact determines")
    motion = _free_motion(terms, t, [])
    if motion is not None:
        what = f"only {terms.named(now)} could determine, by pulling or by more friction,"
        raise _refusal(terms, t, motion, what)


def _free_motion(terms: ContactTerms, t: float, rows: list[int]) -> Array | None:
    """Return a motion (nv,) without inertia that these rows of contacts leave free, in the scales
    of the mechanism; None where there is none.
    """
    now = terms.at(t)
    N = terms.response(t, now.M, False).massless
    count = N.shape[1]
    if not count:
        return None
    _, s, V = np.linalg.svd(np.vstack([now.J[rows] @ N, np.zeros((count, count))]))
    size = np.sqrt(((now.J @ N) ** 2).sum(axis=1).max(initial=0.0))
    if s[count - 1] > DETERMINED_SHARE * size:
        return None
    return np.asarray((N @ V[count - 1]) * np.sqrt(terms.choice_inertia))


def _refusal(terms: ContactTerms, t: float, motion: Array, what: str) -> SingularError:
    """Return the error that names the speed with the largest part in a motion."""
    machine = terms.handler.machine
    name = machine.speed_names[int(np.abs(motion).argmax())]
    joint = next(j for j in machine.mechanism.moving if name in j.speed_names)
    return SingularError(
        f"at t = {t:.9g} s {what} the speed {name!r} of {where(machine)}, which moves no inertia:"
        f" give body {joint.child!r} or what it carries mass and inertia, or give joint"
        f" {joint.name!r} an armature",
        where=name,
    )
