"""The space manipulator of [Passerello1972], figures 8 to 10, in its own units: slug, inch, second;
without gravity.
"""

from __future__ import annotations

from catena.model.mechanism import GROUND, Body, Joint, Mechanism
from catena.model.pose import Pose


def manipulator(shoulder: str = "gimbal") -> Mechanism:
    """A main body B1 on a free joint and two arms of two rods, each with a disc at its end;
    shoulders by angles x, y, z.

        B1 (10 slug)
       /  \\               shoulders 6 in below its centre
    B2      B4             rods of 36 in and 0.5 slug
    |       |              hinges about y
    B3+disc B5+disc        discs of 0.25 slug at the ends
    """
    rod, disc = 0.5, 0.25
    mass = rod + disc
    z = (rod * -18 + disc * -36) / mass
    # across the rod, about the common centre
    about = 54 + rod * (-18 - z) ** 2 + 0.5 + disc * (-36 - z) ** 2
    bodies = [Body("B1", 10.0, (0, 0, 0), (240, 240, 240))]
    joints = [Joint("base", "free", GROUND, "B1")]
    for name, upper, lower in (("right", "B2", "B3"), ("left", "B4", "B5")):
        bodies.append(Body(upper, rod, (0, 0, -18), (54, 54, 0)))
        bodies.append(Body(lower, mass, (0, 0, z), (about, about, 1.0)))
        joints.append(Joint(name, shoulder, "B1", upper, Pose(position=(0, 0, -6))))
        joints.append(
            Joint(
                f"{name}_elbow",
                "revolute",
                upper,
                lower,
                Pose(position=(0, 0, -36)),
                axis=(0, 1, 0),
            )
        )
    return Mechanism("space_manipulator", tuple(bodies), tuple(joints), gravity=(0, 0, 0))
