"""The armature, damping and friction that joints which follow others (`mimic`) add to the joint
that leads them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .mechanism import Mechanism
    from .pose import Scalar

# how a value of a follower, which moves at ratio v, counts along the speed v of its leader
SHARES: Mapping[str, Callable[[Any], Any]] = {
    "armature": lambda ratio: ratio * ratio,
    "damping": lambda ratio: ratio * ratio,
    "friction": abs,
}


def per_speed(m: Mechanism, name: str) -> list[Scalar]:
    """Return the armature, damping or friction (`name`) along each speed, (nv,): a joint's own
    value plus those of its followers (mimic), reflected to it. A follower moves at `ratio` times v,
    and its force f acts as `ratio` times f: inertia and damping are multiplied by the square of the
    ratio, dry friction by its magnitude. A joint that follows by a function has none of these
    (`validation_joints`).
    """
    found = {j.name: list(getattr(j, name)) for j in m.moving}
    for j in m.ordered:
        if j.mimic and not j.mimic.function and getattr(j, name)[0] != 0.0:
            found[j.mimic.joint][0] = found[j.mimic.joint][0] + getattr(j, name)[0] * SHARES[name](
                j.mimic.multiplier
            )
    return [x for own in found.values() for x in own]


def rough_joints(m: Mechanism) -> list[str]:
    """Return the names of the joints with dry friction."""
    return [j.name for j in m.ordered if any(x != 0.0 for x in j.friction)]
