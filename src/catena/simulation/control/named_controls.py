"""Controllers that have a name and need no numbers: what `catena run --control NAME` takes.

A record makes the controller for a machine and its start; `NAMED_CONTROLS.register` adds one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...errors import StateError
from ...machine import Machine, coordinates, machine_of
from ...model import Mechanism
from ...registry import Registry
from .control_laws import Controller
from .controllers import PD

# of each joint alone at the start, rad/s: 1.6 oscillations per second, as of a robot's slow servo
HOLD_FREQUENCY = 10.0
# a joint with less inertia than this share of the largest one of its kind is held as if it had it
LEAST_INERTIA = 1e-6


@dataclass(frozen=True)
class NamedControl:
    """A controller by name. make(machine, q): the controller of a run that starts at q (nq,); None
    where nothing drives it.
    """

    name: str
    doc: str
    make: Callable[[Machine, np.ndarray], Controller | None]


def hold(
    mechanism: Mechanism | Machine, q: np.ndarray, frequency: float = HOLD_FREQUENCY
) -> Controller:
    """Return a controller that holds every joint where it is, with gravity compensated.

        kp = w^2 M_ii(q),      kd = 2 w M_ii(q)

    so that each joint alone, with the others locked, is critically damped. Free and ball joints are
    not driven: a robot on a free base is held in its posture, and its base falls.

    Parameters
    ----------
    mechanism : Mechanism or Machine
        What is held.
    q : array_like, shape (nq,)
        Where it is held.
    frequency : float, default 10.0
        The frequency w of each joint alone, rad/s.

    Returns
    -------
    Controller
        A PD controller with gravity compensation.

    Raises
    ------
    StateError
        If no joint can be driven, or the frequency is not above zero.

    Examples
    --------
    >>> import catena
    >>> arm = catena.load("two_link_arm")
    >>> still = catena.control.hold(arm, [0.3, 0.5])
    >>> run = catena.simulate(arm, q=[0.3, 0.5], until=1.0, control=still)
    >>> run.data["q"].values[-1].round(6)
    array([0.3, 0.5])
    """
    machine = machine_of(mechanism)
    if not frequency > 0:
        raise StateError(f"hold: frequency is {frequency!r}; it is a number above zero, rad/s")
    at = np.asarray(q, float)
    free = {j.name for j in machine.mechanism.moving if j.kind == "free"}
    held = [c for c in coordinates(machine) if c.joint not in free]
    if not held:
        raise StateError(
            f"hold: mechanism {machine.mechanism.name!r} has no joint that a motor could hold"
        )
    inertia = np.diagonal(machine.mass_matrix(at))
    inertia = np.maximum(inertia, LEAST_INERTIA * inertia.max())
    return PD(
        {c.name: frequency**2 * float(inertia[c.vi]) for c in held},
        {c.name: 2 * frequency * float(inertia[c.vi]) for c in held},
        {c.name: float(at[c.qi]) for c in held},
    )


NAMED_CONTROLS: Registry[NamedControl] = Registry(
    "controller",
    (
        NamedControl("hold", "PD about the start, with gravity compensated", hold),
        NamedControl("none", "nothing drives it, whatever the file says", lambda machine, q: None),
    ),
)
