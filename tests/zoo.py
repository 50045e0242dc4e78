"""Mechanisms for tests: random trees with every joint kind, and a named set that all formulations
are asked about.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from catena.model.joint_kinds import KINDS
from catena.model.mechanism import GROUND, Body, Joint, Mechanism, Mimic
from catena.model.pose import Pose

MOVING = tuple(k for k in KINDS if k != "fixed")
ONE_AXIS = ("revolute", "prismatic", "helical", "cylindrical", "planar")


def random_body(rng: np.random.Generator, name: str) -> Body:
    """A body whose inertia a real body can have: I = tr(J) 1 - J for a positive J."""
    A = rng.normal(size=(3, 3))
    J = A @ A.T + 0.1 * np.eye(3)
    return Body(
        name,
        rng.uniform(0.5, 2.0),
        rng.normal(size=3),
        (0.1 * (np.trace(J) * np.eye(3) - J)).tolist(),
    )


def random_pose(rng: np.random.Generator) -> Pose:
    return Pose.rpy(*rng.normal(size=3), position=rng.normal(size=3))


def random_tree(
    seed: int, kinds: Sequence[str], *, offsets: bool = True, branching: int = 3, **more: object
) -> Mechanism:
    """A tree with these joints, in this order; every `branching`-th body hangs one further back."""
    rng = np.random.default_rng(seed)
    bodies, joints = [], []
    for i, kind in enumerate(kinds):
        parent = (
            GROUND if i == 0 else f"body{max(0, i - 1 - (branching > 0 and i % branching == 0))}"
        )
        bodies.append(random_body(rng, f"body{i}"))
        joints.append(
            Joint(
                f"{kind}{i}",
                kind,
                parent,
                f"body{i}",
                random_pose(rng),
                axis=tuple(rng.normal(size=3)) if kind in ONE_AXIS else None,
                pitch=0.3 if kind == "helical" else 0.0,
                sequence=("Rx", "Rz", "Dx", "Dz") if kind == "general" else (),
                offset=random_pose(rng) if offsets else Pose(),
            )
        )
    return Mechanism(f"tree{seed}", tuple(bodies), tuple(joints), **more).validate()  # type: ignore[arg-type]


def pendulum(n: int, *, slider: bool = False) -> Mechanism:
    """n rods hanging in the x-z plane, each turning about y; with `slider`, from a cart on the x
    axis.

    ground --(cart)-- o
                       \\  rod 1
                        o -- rod 2 ...
    """
    bodies, joints = [], []
    parent, at = GROUND, Pose()
    if slider:
        bodies.append(Body("cart", 2.0, (0, 0, 0), (0.1, 0.1, 0.1)))
        joints.append(Joint("rail", "prismatic", GROUND, "cart", axis=(1, 0, 0)))
        parent = "cart"
    for i in range(1, n + 1):
        length = 1.0 - 0.1 * i
        mass = 1.0 + 0.5 * i
        I = mass * length**2 / 12
        bodies.append(Body(f"rod{i}", mass, (0, 0, -length / 2), (I, I, 0.01 * I)))
        joints.append(Joint(f"pin{i}", "revolute", parent, f"rod{i}", at, axis=(0, 1, 0)))
        parent = f"rod{i}"
        at = Pose(position=(0, 0, -length))
    return Mechanism(
        f"pendulum{n}{'_on_cart' if slider else ''}", tuple(bodies), tuple(joints)
    ).validate()


def arm(n: int, seed: int = 7) -> Mechanism:
    """A spatial arm of n revolute joints with right-angle twists, as industrial arms have."""
    rng = np.random.default_rng(seed)
    bodies, joints = [], []
    for i in range(n):
        twist = (0.0, math.pi / 2, 0.0, -math.pi / 2, math.pi / 2, -math.pi / 2, 0.0, math.pi / 2)[
            i % 8
        ]
        place = Pose.turn(
            "x", twist, position=(0.3 if i in (1, 2) else 0.0, 0.0, 0.2 if i % 2 else 0.0)
        )
        b = random_body(rng, f"link{i + 1}")
        bodies.append(
            Body(b.name, b.mass, tuple(0.1 * x for x in b.com), tuple(0.1 * x for x in b.inertia))
        )
        joints.append(
            Joint(
                f"joint{i + 1}", "revolute", GROUND if i == 0 else f"link{i}", f"link{i + 1}", place
            )
        )
    return Mechanism(f"arm{n}", tuple(bodies), tuple(joints)).validate()


def certificate_set() -> dict[str, Mechanism]:
    """At least twelve mechanisms: planar and spatial chains, trees, free bases, every joint kind,
    one to eight bodies.
    """
    named = {
        "pendulum": pendulum(1),
        "double_pendulum": pendulum(2),
        "triple_pendulum": pendulum(3),
        "cart_pole": pendulum(2, slider=True),
        "planar_tree": planar_tree(),
        "arm3": arm(3),
        "arm6": arm(6),
        "revolute_tree": random_tree(2, ["revolute"] * 5),
        "sliding_chain": random_tree(3, ["prismatic", "revolute", "prismatic"]),
        "screws": random_tree(4, ["helical", "cylindrical", "revolute"]),
        "ball_chain": random_tree(5, ["ball", "revolute", "ball"]),
        "free_base": random_tree(6, ["free", "revolute", "revolute", "revolute"]),
        "gimbals": random_tree(8, ["gimbal", "universal", "revolute"]),
        "general": random_tree(9, ["general", "revolute", "planar"]),
        "every_joint": random_tree(
            10,
            [
                "revolute",
                "universal",
                "prismatic",
                "gimbal",
                "fixed",
                "ball",
                "cylindrical",
                "helical",
            ],
        ),
    }
    return named


def planar_tree() -> Mechanism:
    """A branched planar linkage in the x-y plane: one body carries two arms; gravity along -y."""
    bodies = [
        Body(
            f"b{i}",
            1.0 + 0.3 * i,
            (0.2 + 0.1 * i, 0.05 * i, 0.0),
            (0.02 + 0.01 * i, 0.02, 0.02 + 0.01 * i),
        )
        for i in range(4)
    ]
    place = Pose(position=(0.5, 0.1, 0.0))
    joints = [
        Joint("base", "planar", GROUND, "b0"),
        Joint("left", "revolute", "b0", "b1", place),
        Joint("right", "revolute", "b0", "b2", Pose.turn("z", 2.0, position=(-0.4, 0.2, 0.0))),
        Joint("rod", "prismatic", "b2", "b3", place, axis=(1, 0, 0)),
    ]
    return Mechanism(
        "planar_tree", tuple(bodies), tuple(joints), gravity=(0, -9.81, 0), planar=True
    ).validate()


def follower(armature: float = 0.7, **more: object) -> Mechanism:
    """A leader with a rotor, and a slide that follows it with a rotor of its own."""
    rng = np.random.default_rng(1)
    place = random_pose(rng)
    joints = [
        Joint("leader", "revolute", "ground", "a", place, axis=(1, 2, 3), armature=0.3),
        Joint(
            "slide",
            "prismatic",
            "a",
            "b",
            place,
            axis=(0, 1, 1),
            mimic=Mimic("leader", -2, 0.3),
            armature=armature,
        ),
        Joint("wrist", "ball", "b", "c", place),
    ]
    return Mechanism("follower", [random_body(rng, n) for n in "abc"], joints, **more)  # type: ignore[arg-type]


def still() -> Mechanism:
    """A mechanism in which nothing moves."""
    rng = np.random.default_rng(2)
    joints = [
        Joint("foot", "fixed", "ground", "a", random_pose(rng)),
        Joint("weld", "fixed", "a", "b", random_pose(rng)),
    ]
    return Mechanism("still", [random_body(rng, n) for n in "ab"], joints)


def replaced(joint: Joint, **changes: object) -> Joint:
    """A joint with some fields changed."""
    from dataclasses import replace

    return replace(joint, **changes)  # type: ignore[arg-type]
