"""Contact forces as wrenches on bodies, which are loads when the reactions of joints are
computed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..collision import ContactPatch, ContactPoint, contact_patches, contact_points, rims
from ..errors import CatenaError
from ..machine import reactions
from ..model import GROUND, Mechanism

if TYPE_CHECKING:
    from .result import Result

Array = np.ndarray


def contact_wrenches(result: Result, q: Array) -> dict[str, Array]:
    """Return {body: (..., 6)}: the sum of the contact forces on each body, torque first, about its
    origin in its own axes (N m, N).
    """
    names = [str(n) for n in result.data["contact"].values]
    points = touching(result.mechanism, names)
    if unknown := [n for n in names if n not in points]:
        raise CatenaError(
            f"the reactions of joints in a run with {', '.join(unknown)} are not supported: the"
            " force of the stop of a joint that closes a loop is not recorded as a load on its"
            " bodies"
        )
    # a point of a patch without a place has no force
    push = result._rows("contact_push")
    place = np.nan_to_num(result._rows("contact_place"))
    found: dict[str, Array] = {}
    for k, name in enumerate(names):
        for body, sign in ((points[name].body, 1.0), (points[name].other, -1.0)):
            if body == GROUND:
                continue
            X = result.machine.pose(q, body, parameters=result._parameters)
            f = np.einsum("...ji,...j->...i", X[..., :3, :3], sign * push[..., k, :])
            r = np.einsum("...ji,...j->...i", X[..., :3, :3], place[..., k, :] - X[..., :3, 3])
            found[body] = found.get(body, 0.0) + np.concatenate([np.cross(r, f), f], axis=-1)
    return found


def touching(m: Mechanism, names: list[str]) -> dict[str, ContactPoint | ContactPatch]:
    """Return {name: contact point or patch} for the names of the contact points of a result. Points
    of a pair of shapes, or of a rim in time stepping, have names such as "pair point 3".
    """
    pairs: dict[str, ContactPoint | ContactPatch] = {
        p.name: p for p in contact_patches(m, by_features=True)
    }
    pairs |= {
        p.name: p
        for p in (*contact_points(m, by_features=True), *(p for own in rims(m) for p in own))
    }
    return pairs | {
        name: pairs[name.rpartition(" point ")[0]]
        for name in names
        if name.rpartition(" point ")[0] in pairs
    }


def shared(result: Result) -> Array:
    """Return, (...,), whether undetermined contact forces act on more than one body, so that joints
    carry them.
    """
    names = [str(n) for n in result.data["contact"].values]
    bodies = {
        name: frozenset((p.body, p.other)) for name, p in touching(result.mechanism, names).items()
    }
    N = result._rows("contact_normal_force")
    f = result._rows("contact_friction_force")
    open_ = np.isnan(N) | np.isnan(f).any(axis=-1)
    pairs = sorted({bodies.get(n, frozenset()) for n in names}, key=sorted)
    involved = np.stack(
        [
            open_[..., [k for k, n in enumerate(names) if bodies.get(n) == pair]].any(axis=-1)
            for pair in pairs
        ],
        axis=-1,
    )
    alone = np.array([GROUND in pair for pair in pairs])
    held = bool(result.mechanism.loops)
    one_rigid = (involved.sum(axis=-1) <= 1) & ~(involved & ~alone).any(axis=-1)
    return involved.any(axis=-1) & ~(one_rigid & ~held & _free(result, pairs, involved))


def _free(result: Result, pairs: list[frozenset[str]], involved: Array) -> Array:
    """Return whether the body with undetermined contact forces moves by a free joint alone, so that
    their sum is determined, (...,).
    """
    loose = {j.child for j in result.mechanism.joints if j.nv == 6}
    own = np.array([bool((pair - {GROUND}) & loose) for pair in pairs])
    return ~(involved & ~own).any(axis=-1)


def reactions_with_contacts(
    result: Result, axes: str, q: Array, v: Array, a: Array, acting: Array
) -> dict[str, Array]:
    """Return {joint: (..., 6)} with the contact forces as loads; NaN where contact forces that pass
    through joints are not determined.
    """
    if "contact_residual" in result.data:
        raise CatenaError(
            "the reactions of joints in a run by time stepping are not known yet: its contact"
            " forces are means over steps; run it by events"
        )
    wrenches = contact_wrenches(result, q)
    t = result.time
    own = result._parameters
    if axes == "body" and not result.mechanism.constrained:
        found = result.machine.reactions(q, v, a, wrenches, own, t)
    elif own is not None:
        raise CatenaError(
            "the reactions of joints in a run with contacts and parameters are known in the axes of"
            " bodies, without loops; put the numbers into the mechanism for others"
        )
    else:
        felt = result.machine.inverse_dynamics(q, v, a, t=t) - result.machine.inverse_dynamics(
            q, v, a, wrenches, t=t
        )
        found = reactions(
            result.machine, q, v, a, acting - felt, wrenches, axes=axes, t=t, check=False
        )
    return {joint: np.where(shared(result)[..., None], np.nan, W) for joint, W in found.items()}
