"""Forces along a run, to be drawn as arrows: those of each joint on its child, and those of each
contact at its point.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import CatenaError
from ..machine import Machine
from .own_parameters import with_own_parameters
from .result import Result
from .scene import Scene
from .scene.placement import placement

Array = np.ndarray
ARROW_ROWS = 400  # the largest number of rows for which forces are computed


@dataclass(frozen=True)
class Forces:
    """Forces at times (n,), to be drawn as arrows.

    joints: {name: (parent, point (3,))}, the place of each joint. pull: (n, joints, 3), N in the
    ground's axes, on the child. contacts: names. place, push: (n, contacts, 3), m and N, in the
    ground's axes, on the contact's first body; zero where it is open. said: a sentence that says
    why the forces of the joints are missing, if they are.
    """

    times: Array
    joints: Mapping[str, tuple[str, Array]]
    pull: Array
    contacts: tuple[str, ...]
    place: Array
    push: Array
    said: str = ""

    def wire(self, scene: Scene) -> tuple[dict[str, Any], bytes]:
        """Return (plain data, numbers as float32), the form in which a page that shows this scene
        receives them.
        """
        bodies = list(scene.bodies)
        head = {
            "times": self.times.round(6).tolist(),
            "joints": list(self.joints),
            "bodies": [bodies.index(body) for body, _ in self.joints.values()],
            "points": [np.round(p, 9).tolist() for _, p in self.joints.values()],
            "contacts": list(self.contacts),
            "said": self.said,
        }
        rows = [x.reshape(len(self.times), -1) for x in (self.pull, self.place, self.push)]
        return head, np.concatenate(rows, axis=1).astype("<f4").tobytes()


def forces(result: Result, machine: Machine | None = None, joints: bool = True) -> Forces:
    """Return the forces of one run. machine: the mechanism compiled at the run's parameters, if
    there is one. joints: whether to include the forces of the joints.

    Forces that rigid bodies do not determine are zero here, so that no arrow is drawn.
    """
    thin = result.thinned(ARROW_ROWS)
    n = len(thin.time)
    said = ""
    found = dict[str, Array]()
    if joints:
        try:
            found = _in_joints(thin, machine)
        except CatenaError as why:
            said = str(why)
    m = thin.mechanism if machine is None else machine.mechanism
    value = placement(with_own_parameters(thin) if machine is None else m).value
    seats = {
        j.name: (j.parent, np.array([value(x) for x in j.placement.position]))
        for j in (*m.joints, *m.loops)
        if j.name in found
    }
    pull = np.stack([found[name] for name in seats], axis=1) if seats else np.zeros((n, 0, 3))
    return Forces(thin.time, seats, np.nan_to_num(pull), *_at_contacts(thin), said)


def _in_joints(result: Result, machine: Machine | None) -> dict[str, Array]:
    """Return {joint: (n, 3)}: the force on the child, N, in the ground's axes."""
    from ..machine import reactions

    touching = "contact_mode" in result.data and bool(result.data["contact_mode"].values.any())
    if machine is not None and not touching:
        q, v, a = (result.data[name].values for name in "qva")
        found = reactions(
            machine, q, v, a, result._acting, axes="world", t=result.time, check=False
        )
        return {name: W[:, 3:] for name, W in found.items()}
    if result.mechanism.constrained or result._parameters is None:
        W = result.reactions("world")
        return {str(name): W.sel(joint=name).values[:, 3:] for name in W["joint"].values}
    W = result.reactions("body")
    child = {j.name: j.child for j in result.mechanism.joints}
    poses = {
        name: result.machine.pose(
            result.data["q"].values, child[name], parameters=result._parameters
        )
        for name in map(str, W["joint"].values)
    }
    return {
        name: np.einsum("nij,nj->ni", X[:, :3, :3], W.sel(joint=name).values[:, 3:])
        for name, X in poses.items()
    }


def _at_contacts(result: Result) -> tuple[tuple[str, ...], Array, Array]:
    """Return the names, places and forces of the contact points."""
    n = len(result.time)
    if "contact_push" not in result.data:
        return (), np.zeros((n, 0, 3)), np.zeros((n, 0, 3))
    closed = result.data["contact_mode"].values > 0.0
    place, push = (
        np.nan_to_num(result.data[f"contact_{name}"].values) for name in ("place", "push")
    )
    return (
        tuple(str(name) for name in result.data["contact"].values),
        place,
        np.where(closed[..., None], push, 0.0),
    )
