"""The capability table, cell by cell: a mechanism for each feature, and how far each formulation
lies from the O(n) kernels there.
"""

from __future__ import annotations

import functools

import numpy as np

import catena
import flexible
import zoo
from catena.certify.certificate import random_states
from catena.equations.equations import Equations
from catena.equations.formulations import derive, formulation
from catena.machine.machine import compile
from catena.model.coordinate_functions import CoordinateFunction
from catena.model.flexible import discretise
from catena.model.loads import Coupling, JointSpring, KnifeEdge
from catena.model.mechanism import Joint, Mechanism, Mimic
from catena.model.pose import Pose

CHAIN = zoo.random_tree(1, ["revolute", "revolute", "revolute", "revolute"], branching=0)
CASES = {
    "trees": CHAIN,
    "loops": CHAIN.with_(
        loops=(Joint("close", "ball", "ground", "body3", Pose(position=(1, 0, 0))),)
    ),
    "position constraints": CHAIN.with_(
        constraints=(Coupling("gear", ("revolute1", "revolute3"), (1.0, 2.0)),)
    ),
    "speed rows": CHAIN.with_(nonholonomic=(KnifeEdge("skate", "body3", (0, 1, 0)),)),
    "ball joints": zoo.random_tree(2, ["revolute", "ball"]),
    "sliding joints": zoo.random_tree(3, ["prismatic", "helical"]),
    "floating base": zoo.random_tree(4, ["free", "revolute"]),
    "mimic joints": CHAIN.with_(
        joints=(*CHAIN.joints[:3], zoo.replaced(CHAIN.joints[3], mimic=Mimic("revolute1", 2.0)))
    ),
    "joints by a function": CHAIN.with_(
        joints=(
            *CHAIN.joints[:3],
            zoo.replaced(
                CHAIN.joints[3],
                mimic=Mimic(
                    "revolute1", function=CoordinateFunction("polynomial", y=(0.1, 0.5, 0.2))
                ),
            ),
        )
    ),
    "armature": CHAIN.with_(
        joints=(*CHAIN.joints[:3], zoo.replaced(CHAIN.joints[3], armature=0.1))
    ),
    "loads": CHAIN.with_(loads=(JointSpring("coil", "revolute0", 1.0, 0.0),)),
    "flexible bodies by modes": flexible.on_hub(modes=1),
}
BOBS = catena.load("triple_pendulum")  # links without rotational inertia, and named parameters
STIFF = 1e13  # N/m: with springs so stiff the penalty method is exact to rounding


def derived(m: Mechanism, by: str) -> Equations:
    """The equations; with very stiff springs where the formulation has springs."""
    return derive(m, by, **({"beta": STIFF} if formulation(by).takes("beta") else {}))


@functools.cache
def _asked(m: Mechanism, states: int, seed: int) -> tuple[list[tuple], np.ndarray, np.ndarray]:
    """Random states of a mechanism, and by the kernels the accelerations and the wrenches in all
    joints there, NaN where not determined.
    """
    machine = compile(discretise(m))
    q, v, tau, _ = random_states(machine, states, seed)
    a = machine.forward_dynamics(q, v, tau)
    joints = (*machine.mechanism.ordered, *machine.mechanism.loops)
    W = {} if machine.mechanism.constraints else machine.reactions(q, v, a, tau=tau)
    return (
        [(0.0, q[k], v[k], tau[k]) for k in range(states)],
        a,
        np.stack([W[j.name] for j in joints], 1) if W else np.empty(0),
    )


def deviations(
    m: Mechanism, e: Equations, states: int = 2, seed: int = 3
) -> tuple[float, float | None]:
    """How far accelerations and the wrenches in all joints lie from those of the kernels, beside
    the largest of a state.
    """
    given, a, W = _asked(m, states, seed)
    asked = [(*one, e.parameters) for one in given]
    worst = max(_off(np.array(e.acceleration(*one)).ravel(), known) for one, known in zip(asked, a))
    if e.reactions is None:
        return worst, None
    found = [
        np.vstack([np.array(f(*one)) for f in (e.reactions, e.loop_reactions) if f is not None])
        for one in asked
    ]
    return worst, max(_off(x, known) for x, known in zip(found, W))


def _off(found: np.ndarray, known: np.ndarray) -> float:
    """The largest difference beside the largest entry; entries that are not determined do not
    count.
    """
    return float(np.nanmax(np.abs(found - known)) / max(np.nanmax(np.abs(known)), 1.0))
