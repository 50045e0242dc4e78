"""Closed mechanisms for tests: the worked examples of [Merwe1995], benchmark linkages, platforms.
Each has its drawing.
"""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np

from catena.model.loads import Rolling
from catena.model.mechanism import GROUND, Body, Frame, Joint, Mechanism
from catena.model.pose import Pose

MOTIONS = Path(__file__).parent / "reference" / "motions"  # recorded motions to compare with
Y = (0.0, 1.0, 0.0)


def at(x: float, y: float = 0.0, z: float = 0.0) -> Pose:
    return Pose(position=(x, y, z))


def four_link(closed: bool = True, **more: object) -> Mechanism:
    """Seed 004, figure 5.2: four links in the x-z plane, all turning about y; closed, the tip is
    pinned to the ground.

    2 m up, 1 m right, 1 m up, 1 m right:            3 --- 4 --- (tip, at 2, 0, 3)
                                                     |
                                               2 ----+
                                               |
                                             ground
    """
    bodies = (
        Body("link1", 2.0, (0, 0, 1), (1, 1, 0.1)),
        Body("link2", 1.0, (0.5, 0, 0), (0.02, 0.2, 0.2)),
        Body("link3", 1.0, (0, 0, 0.5), (0.2, 0.2, 0.02)),
        Body("link4", 1.0, (0.5, 0, 0), (0.02, 0.2, 0.2)),
    )
    places = (at(0), at(0, 0, 2), at(1), at(0, 0, 1))
    parents = (GROUND, "link1", "link2", "link3")
    joints = tuple(
        Joint(f"joint{k}", "revolute", parent, f"link{k}", place, axis=Y)
        for k, (parent, place) in enumerate(zip(parents, places), 1)
    )
    loops = (
        (Joint("tip", "revolute", GROUND, "link4", at(2, 0, 3), axis=Y, offset=at(1)),)
        if closed
        else ()
    )
    frames = (Frame("end", "link4", at(1)),)
    return Mechanism("four_link", bodies, joints, frames, gravity=(0, 0, -10), loops=loops, **more)  # type: ignore[arg-type]


def two_link_load() -> Mechanism:
    """Seed 004, figure 6.2: two equal links hang 0.8 m apart and carry a load between their ends; g
    = 10.

    ground o-------o ground
            \\       \\           1.5 m each, 45 degrees
             o=load==o
    """
    link = lambda name: Body(name, 1.0, (0.75, 0, 0), (0.025, 0.25, 0.25))  # noqa: E731
    return Mechanism(
        "two_link_load",
        (link("link1"), link("link2"), Body("load", 5.0, (0, 0, 0), (0.5, 0.5, 0.5))),
        (
            Joint("joint1", "revolute", GROUND, "link1", axis=Y),
            Joint("carry1", "revolute", "link1", "load", at(1.5), axis=Y, offset=at(-0.4)),
            Joint("joint2", "revolute", GROUND, "link2", at(0.8), axis=Y),
        ),
        gravity=(0, 0, -10),
        loops=(Joint("carry2", "revolute", "link2", "load", at(1.5), axis=Y, offset=at(0.4)),),
    )


def two_link_state() -> np.ndarray:
    return np.array([math.pi / 4, -math.pi / 4, math.pi / 4])


LEG = 1.0874871  # m, the length of a leg of chapter 8 in its default configuration
ELEVATION = 1.1669367
AZIMUTHS = (-math.pi / 6, -5 * math.pi / 6, math.pi / 2)
POINTS = ((-0.05, 0.0, -0.025), (0.05, 0.0, -0.025), (0.0, 0.0, 0.05))


def leg(k: int) -> tuple[tuple[Body, Body], tuple[Joint, Joint]]:
    """Chain k of chapter 8: turn about y and z, slide along x; then turn about y and z. Its tip is
    0.1 m along the second link.

    The coordinates are those of table 8.1, except that the slide counts from the default length
    (the centre of mass of the first link is 0.5 m from its joint there).
    """
    anchor = Pose.turn(
        "y", 0.0, position=tuple(np.subtract(POINTS[k - 1], _reach(AZIMUTHS[k - 1])))
    )
    bodies = (
        Body(f"upper{k}", 2.0, (0.5, 0, 0), (0.05, 0.5, 0.5)),
        Body(f"lower{k}", 0.5, (0.05, 0, 0), (0.00006, 0.0006, 0.0006)),
    )
    joints = (
        Joint(f"hip{k}", "general", GROUND, f"upper{k}", anchor, sequence=("Ry", "Rz", "Dx")),
        Joint(f"knee{k}", "general", f"upper{k}", f"lower{k}", at(LEG), sequence=("Ry", "Rz")),
    )
    return bodies, joints


def _reach(azimuth: float) -> np.ndarray:
    """From the anchor to the tip of a leg in the default configuration."""
    down = Pose.turn("y", azimuth) @ Pose.turn("z", -ELEVATION)
    return np.array(down.point((LEG, 0, 0))) + np.array(Pose.turn("y", azimuth).point((0.1, 0, 0)))


def high_stiffness() -> Mechanism:
    """Seed 004, chapter 8: three legs of five freedoms hold a platform of 5 kg (its mass is
    inferred); y is up, g = 10.
    """
    legs = [leg(k) for k in (1, 2, 3)]
    on = [Pose.turn("y", azimuth, position=point) for azimuth, point in zip(AZIMUTHS, POINTS)]
    weld = lambda k: Joint(f"weld{k}", "fixed", f"lower{k}", "platform", at(0.1), offset=on[k - 1])  # noqa: E731
    platform = Body("platform", 5.0, (0, 0, 0), (0.01, 0.01, 0.01))
    return Mechanism(
        "high_stiffness",
        (*(b for bodies, _ in legs for b in bodies), platform),
        (*(j for _, joints in legs for j in joints), weld(1)),
        gravity=(0, -10, 0),
        loops=(weld(2), weld(3)),
    )


def high_stiffness_state() -> np.ndarray:
    return np.concatenate([[azimuth, -ELEVATION, 0.0, 0.0, ELEVATION] for azimuth in AZIMUTHS])


def bricard() -> Mechanism:
    """IFToMM A04: five rods of 1 m and 1 kg, 0.1 m square, on the edges of a cube; hinges about y z
    x y z x.
    """
    corners = [(0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1)]
    axes = [(0, 1, 0), (0, 0, 1), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 0, 0)]
    bodies, joints = [], []
    for k in range(5):
        along = np.subtract(corners[k + 1], corners[k])
        across = (0.1**2 + 1.0) / 12
        lengthwise = 0.1**2 / 6
        bodies.append(
            Body(
                f"rod{k + 1}",
                1.0,
                tuple(along / 2),
                tuple(np.where(along != 0, lengthwise, across)),
            )
        )
        before = (0, 0, 0) if k == 0 else np.subtract(corners[k], corners[k - 1])
        parent = GROUND if k == 0 else f"rod{k}"
        joints.append(
            Joint(f"hinge{k + 1}", "revolute", parent, f"rod{k + 1}", at(*before), axis=axes[k])
        )
    end = np.subtract(corners[5], corners[4])
    loop = Joint(
        "hinge6", "revolute", GROUND, "rod5", at(*corners[5]), axis=axes[5], offset=at(*end)
    )
    return Mechanism("bricard", tuple(bodies), tuple(joints), gravity=(0, -9.81, 0), loops=(loop,))


def windows(n: int = 2) -> Mechanism:
    """IFToMM A02: n four-bars side by side, 2n + 1 uniform rods of 1 m and 1 kg in the x-y plane,
    upright at zero.

    B0 ---- B1 ---- B2
    |       |       |
    A0      A1      A2     ground
    """
    I = 1.0 / 12
    bodies, joints, loops = [], [], []
    for k in range(n + 1):
        bodies.append(Body(f"post{k}", 1.0, (0, 0.5, 0), (I, 0.0, I)))
        joints.append(Joint(f"A{k}", "revolute", GROUND, f"post{k}", at(float(k))))
        if k < n:
            bodies.append(Body(f"beam{k}", 1.0, (0.5, 0, 0), (0.0, I, I)))
            joints.append(Joint(f"B{k}", "revolute", f"post{k}", f"beam{k}", at(0, 1)))
            loops.append(
                Joint(f"C{k}", "revolute", f"beam{k}", f"post{k + 1}", at(1), offset=at(0, 1))
            )
    return Mechanism(
        f"windows{n}", tuple(bodies), tuple(joints), gravity=(0, -9.81, 0), loops=tuple(loops)
    )


def four_bar(
    kind: str = "revolute", lengths: tuple[float, ...] = (1.0, 2.0, 1.5, 1.8), **more: object
) -> Mechanism:
    """A graph, not a tree: crank, coupler, rocker in the x-y plane, the ground 1.8 m long; bodies
    and joints in no order.

        B ------ C
       /          \\
      A --ground-- D
    """
    crank, coupler, rocker, ground = lengths
    bar = lambda name, L: Body(name, L, (L / 2, 0, 0), (0.001 * L**3, L**3 / 12, L**3 / 12))  # noqa: E731
    joints = (
        Joint("D", "revolute", "rocker", GROUND, offset=at(ground)),
        Joint("C", kind, "coupler", "rocker", at(coupler), offset=at(rocker)),
        Joint("A", "revolute", GROUND, "crank"),
        Joint("B", "revolute", "crank", "coupler", at(crank)),
    )
    bodies = (bar("rocker", rocker), bar("coupler", coupler), bar("crank", crank))
    return Mechanism("four_bar", bodies, joints, gravity=(0, -9.81, 0), **more)  # type: ignore[arg-type]


def slider_crank() -> Mechanism:
    """A crank of 0.3 m, a rod of 1 m, and a piston on the x axis: the wrist pin closes the loop."""
    return Mechanism(
        "slider_crank",
        (
            Body("crank", 1.0, (0.1, 0, 0), (0.001, 0.02, 0.02)),
            Body("rod", 0.8, (0.4, 0, 0), (0.001, 0.07, 0.07)),
            Body("piston", 0.5, (0, 0, 0), (0.001, 0.001, 0.001)),
        ),
        (
            Joint("shaft", "revolute", GROUND, "crank"),
            Joint("crank_pin", "revolute", "crank", "rod", at(0.3)),
            Joint("cylinder", "prismatic", GROUND, "piston", axis=(1, 0, 0)),
        ),
        gravity=(0, -9.81, 0),
        loops=(Joint("wrist_pin", "revolute", "rod", "piston", at(1.0)),),
    )


def spatial_four_bar() -> Mechanism:
    """A crank about z, a rod on a ball and a universal joint, a rocker about x; the universal
    closes the loop.
    """
    return Mechanism(
        "spatial_four_bar",
        (
            Body("crank", 1.0, (0.2, 0, 0), (0.01, 0.03, 0.03)),
            Body("rod", 0.7, (0.5, 0, 0.02), (0.004, 0.06, 0.06)),
            Body("rocker", 1.2, (0, 0.25, 0.3), (0.05, 0.04, 0.03)),
        ),
        (
            Joint("motor", "revolute", GROUND, "crank"),
            Joint("ball", "ball", "crank", "rod", at(0.4)),
            Joint("pivot", "revolute", GROUND, "rocker", at(1.2, -0.5, 0), axis=(1, 0, 0)),
        ),
        loops=(
            Joint(
                "cross",
                "universal",
                "rod",
                "rocker",
                at(1.1),
                axis=((0, 1, 0), (0, 0, 1)),
                offset=at(0, 0.4, 0.6),
            ),
        ),
    )


def stewart() -> Mechanism:
    """A platform on a free joint and six legs, each a universal, a slide and a ball that closes the
    loop.
    """
    angles = np.radians([10, 110, 130, 230, 250, 350])
    upper = np.radians([50, 70, 170, 190, 290, 310])
    bodies = [Body("platform", 3.0, (0, 0, 0.02), (0.1, 0.12, 0.2))]
    joints = [Joint("base", "free", GROUND, "platform")]
    loops = []
    for k, (a, b) in enumerate(zip(angles, upper), 1):
        bodies.append(Body(f"cylinder{k}", 1.0, (0, 0, 0.2), (0.02, 0.02, 0.002)))
        bodies.append(Body(f"rod{k}", 0.5, (0, 0, -0.15), (0.01, 0.01, 0.001)))
        joints += [
            Joint(f"foot{k}", "universal", GROUND, f"cylinder{k}", at(math.cos(a), math.sin(a), 0)),
            Joint(f"leg{k}", "prismatic", f"cylinder{k}", f"rod{k}", at(0, 0, 1.0)),
        ]
        loops.append(
            Joint(
                f"head{k}",
                "ball",
                f"rod{k}",
                "platform",
                offset=at(0.6 * math.cos(b), 0.6 * math.sin(b), 0),
            )
        )
    return Mechanism("stewart", tuple(bodies), tuple(joints), loops=tuple(loops))


def cut_four_bar() -> Mechanism:
    """The four-bar as a tree with one loop, at pin C."""
    from catena.model.spanning_tree import cut

    return cut(four_bar())


def damped_four_link() -> Mechanism:
    """Seed 004, section 5.5.5: 0.25 N m s/rad in every joint."""
    m = four_link()
    return m.with_(joints=tuple(replace(j, damping=0.25) for j in m.joints))


def bicycle() -> Mechanism:
    """Whipple's bicycle with the numbers of Meijaard et al. 2007, z up, the rear frame's origin at
    the rear wheel's centre.
    """
    tilt = math.pi / 10
    rear = 0.3
    front = 0.35
    return Mechanism(
        "bicycle",
        (
            Body.massless("place"),
            Body("frame", 85.0, (0.3, 0, 0.6), (9.2, 0, -2.4, 11.0, 0, 2.8)),
            Body("rear", 2.0, (0, 0, 0), (0.0603, 0.12, 0.0603)),
            Body("fork", 4.0, (-0.2, 0, 0.7), (0.05892, 0, 0.00756, 0.06, 0, 0.00708)),
            Body("front", 3.0, (0, 0, 0), (0.1405, 0.28, 0.1405)),
        ),
        (
            Joint("at", "general", GROUND, "place", sequence=("Dx", "Dy", "Dz")),
            Joint("turn", "gimbal", "place", "frame", axis=((0, 0, 1), (1, 0, 0), (0, 1, 0))),
            Joint("rear_axle", "revolute", "frame", "rear", axis=(0, 1, 0)),
            Joint(
                "steer",
                "revolute",
                "frame",
                "fork",
                at(1.1, 0, -rear),
                axis=(-math.sin(tilt), 0, math.cos(tilt)),
            ),
            Joint("front_axle", "revolute", "fork", "front", at(-0.08, 0, front), axis=(0, 1, 0)),
        ),
        nonholonomic=(Rolling("rear_road", "rear", rear), Rolling("front_road", "front", front)),
    )
