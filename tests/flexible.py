"""Mechanisms with flexible bodies by modes, for tests."""

from __future__ import annotations

import numpy as np

from catena import Beam, Body, Joint, Mechanism, Pose

HUB = Body("hub", 0.3, (0, 0, 0), (0.1, 0.1, 0.1))


def on_hub(modes=4, J=0.1, m=0.0, **more) -> Mechanism:
    """The arm of `reference/flexible_beams.json`: a beam of 1 m on a hub that turns about z; no
    gravity.
    """
    beam = Beam(1.0, 0.5, EI=(2.0, None), modes=modes, **more)
    return Mechanism(
        "arm on a hub",
        [Body("hub", 1.0, (0, 0, 0), (J, J, J)), Body("boom", flexible=beam)],
        [Joint("hub", "revolute", "ground", "hub"), Joint("root", "fixed", "hub", "boom")],
        gravity=(0, 0, 0),
    )


def planar() -> Mechanism:
    """Two flexible links in a vertical plane, the second stretches too, and a load welded beside
    it.

    ground --hub==boom==--elbow--==fore==--
                                      |_ load
    """
    boom = Beam(1.0, 0.5, EI=2.0, modes=2)
    fore = Beam(0.7, 0.4, EI=1.0, EA=500.0, modes={"y": 1, "x": 1})
    load = Body("load", 0.1, (0.1, 0.02, 0), (0.001, 0.002, 0.002))
    joints = [
        Joint("hub", "revolute", "ground", "hub"),
        Joint("root", "fixed", "hub", "boom", Pose(position=(0.1, 0, 0))),
        Joint("elbow", "revolute", "boom", "fore", Pose(position=(1.0, 0, 0))),
        Joint("hand", "fixed", "fore", "load", Pose.turn("z", 0.3, position=(0.5, 0.1, 0))),
    ]
    return Mechanism(
        "flexible planar arm",
        [HUB, Body("boom", flexible=boom), Body("fore", flexible=fore), load],
        joints,
        gravity=(0, -9.81, 0),
    )


def spatial(**more) -> Mechanism:
    """A free hub with a boom that bends both ways, stretches and twists, and bodies on its side and
    its tip.
    """
    beam = Beam(
        1.2,
        0.5,
        EI=(2.0, 3.0),
        GJ=1.5,
        EA=100.0,
        rhoJ=0.01,
        modes={"y": 2, "z": 1, "x": 1, "twist": 1},
        **more,
    )
    bodies = [
        Body("hub", 2.0, (0.1, 0, 0.05), (0.3, 0.2, 0.4)),
        Body("boom", flexible=beam),
        Body("tip", 0.1, (0.1, 0.02, 0), (0.01, 0.02, 0.02)),
        Body("wheel", 0.1, (0.1, 0.02, 0), (0.01, 0.02, 0.02)),
    ]
    joints = [
        Joint("base", "free", "ground", "hub"),
        Joint(
            "root",
            "universal",
            "hub",
            "boom",
            Pose.rpy(0.3, 0.4, 0.5, position=(0.1, 0.2, 0)),
            offset=Pose.rpy(0.1, 0.2, 0.3, position=(0, 0.1, 0.05)),
        ),
        Joint("wrist", "ball", "boom", "tip", Pose.rpy(0.1, 0.2, 0.3, position=(1.2, 0.1, 0))),
        Joint("axle", "revolute", "boom", "wheel", Pose.rpy(0.1, 0.2, 0.3, position=(0.5, 0.1, 0))),
    ]
    return Mechanism("flexible satellite", bodies, joints)


def four_bar() -> Mechanism:
    """A four-bar whose coupler is a flexible beam; its tip closes the loop.

         B ~~~~coupler~~~~ C
        /                   \\
       A crank               \\ rocker, on the ground at D
    """
    crank = Body("crank", 0.4, (0.15, 0, 0), (0.0, 0.004, 0.004))
    rocker = Body("rocker", 0.6, (0.35, 0, 0), (0.0, 0.03, 0.03))
    coupler = Body("coupler", flexible=Beam(1.0, 0.6, EI=(40.0, None), modes=2))
    joints = [
        Joint("A", "revolute", "ground", "crank"),
        Joint("B", "revolute", "crank", "coupler", Pose(position=(0.3, 0, 0))),
        Joint("D", "revolute", "ground", "rocker", Pose(position=(0.9, 0, 0))),
    ]
    close = Joint(
        "C",
        "revolute",
        "coupler",
        "rocker",
        Pose(position=(1.0, 0, 0)),
        offset=Pose(position=(0.7, 0, 0)),
    )
    return Mechanism(
        "flexible four-bar", [crank, coupler, rocker], joints, loops=[close], gravity=(0, -9.81, 0)
    )


def slider_crank() -> Mechanism:
    """A slider-crank whose rod bends between its pins: the beam turns at both, so that the loop
    closes on a place that follows.
    """
    rod = Beam(length=1.0, rhoA=1.0, EI=(10.0, None), modes=2, ends="pinned-pinned")
    bodies = [
        Body("crank", 1, (0.1, 0, 0), (0.01,) * 3),
        Body("slider", 1, (0, 0, 0), (0.01,) * 3),
        Body("rod", flexible=rod),
    ]
    joints = [
        Joint("shaft", "revolute", "ground", "crank"),
        Joint("pin", "revolute", "crank", "rod", Pose(position=(0.3, 0, 0))),
        Joint("slide", "prismatic", "ground", "slider", axis=(1, 0, 0)),
    ]
    loops = [Joint("end", "revolute", "rod", "slider", Pose(position=(1.0, 0, 0)))]
    return Mechanism("flexible slider-crank", bodies, joints, loops=loops)


def pinned() -> Mechanism:
    """A beam with shapes of a pin at its root: its frame there is not the beam's own; a weight
    hangs on its middle.
    """
    beam = Beam(1.0, 0.5, EI=(2.0, 1.0), modes={"y": 1, "z": 2}, ends="pinned-free", rhoJ=0.02)
    weight = Body("weight", 0.3, (0.05, 0, 0), (0.01, 0.01, 0.01))
    joints = [
        Joint("root", "ball", "ground", "boom"),
        Joint("link", "revolute", "boom", "weight", Pose(position=(0.0, 0.1, 0)), axis=(1, 1, 0)),
    ]
    return Mechanism("pinned boom", [Body("boom", flexible=beam), weight], joints)


def polynomial() -> Mechanism:
    """Shapes of one's own that are not orthogonal, damped; a free parameter among the rest."""
    beam = Beam(
        1.5, 0.5, EI=(2.0, None), modes={"y": 2}, shapes=["(x/L)^2", "(x/L)^3"], damping=0.02
    )
    return Mechanism(
        "polynomial boom",
        [HUB, Body("boom", flexible=beam)],
        [
            Joint("hub", "revolute", "ground", "hub", axis=(0, 1, 1)),
            Joint("root", "fixed", "hub", "boom"),
        ],
    )


def parametric() -> Mechanism:
    """A boom whose length, mass and stiffness are named parameters."""
    import sympy

    L, EI, rhoA, z = sympy.symbols("L EI rhoA zeta")
    beam = Beam(L, rhoA, EI=(EI, 2 * EI), modes={"y": 2, "z": 1}, damping=z)
    tip = Body("tip", 0.1, (0, 0, 0), (0.001, 0.001, 0.001))
    joints = [
        Joint("root", "revolute", "ground", "boom"),
        Joint("end", "fixed", "boom", "tip", Pose(position=(L, 0, 0))),
    ]
    return Mechanism(
        "parametric boom",
        [Body("boom", flexible=beam), tip],
        joints,
        parameters={"L": 1.3, "EI": 4.0, "rhoA": 0.6, "zeta": 0.01},
    )


ALL = {
    "planar": planar,
    "spatial": spatial,
    "linear": lambda: spatial(stiffening=False),
    "four_bar": four_bar,
    "pinned": pinned,
    "polynomial": polynomial,
    "parametric": parametric,
}


def states(machine, count: int = 4, seed: int = 1):
    """Random q, v, a with moderate bending; loops not closed."""
    rng = np.random.default_rng(seed)
    return machine.sample(rng, count), *rng.standard_normal((2, count, machine.nv))
