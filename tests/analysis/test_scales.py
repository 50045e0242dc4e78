"""Questions do not know units: the same mechanism in nanometres and in gigametres has the same
answers.
"""

from __future__ import annotations

import numpy as np
import pytest

import catena
from catena import Body, Frame, Joint, JointSpring, Mechanism, Pose

SCALES = [(1e-9, 1e-24, 1e-6), (1e-6, 1.0, 1e6), (1e9, 1e24, 1e5)]  # of length, mass, time


def rod(name: str, length: float, mass: float) -> Body:
    I = mass * length**2 / 12
    return Body(name, mass, (length / 2, 0, 0), (I, 0, 0, I, 0, I))


def along_x(x: float) -> Pose:
    return Pose(position=(x, 0, 0))


def slider_crank(L: float, M: float, T: float) -> Mechanism:
    """A crank, a rod and a piston on a spring, in a vertical plane; the rod's end closes the
    loop.
    """
    piston = Body("piston", 0.6 * M, (0, 0, 0), (M * L**2, 0, 0, M * L**2, 0, M * L**2))
    return Mechanism(
        "slider crank",
        (rod("crank", 0.1 * L, 0.5 * M), rod("rod", 0.3 * L, 0.8 * M), piston),
        (
            Joint("motor", "revolute", "ground", "crank"),
            Joint("elbow", "revolute", "crank", "rod", along_x(0.1 * L)),
            Joint("guide", "prismatic", "ground", "piston", axis=(1, 0, 0)),
        ),
        loops=(Joint("pin", "revolute", "rod", "piston", along_x(0.3 * L)),),
        gravity=(0, -9.81 * L / T**2, 0),
        loads=(JointSpring("spring", "guide", stiffness=20.0 * M / T**2, rest=0.3 * L),),
        frames=(Frame("end", "rod", along_x(0.3 * L)),),
    )


def answers(L: float, M: float, T: float) -> np.ndarray:
    """Of assembly, statics, vibration and inverse kinematics, in the units of the mechanism."""
    m = slider_crank(L, M, T)
    unit = np.array([1.0, 1.0, L])
    q, v = catena.assemble(
        m, np.array([0.7, -0.9, 0.2]) * unit, np.array([2.0, 0.0, 0.0]) / T, fixed=["motor"]
    )
    rest = catena.equilibrium(m, q)
    reached = catena.inverse_kinematics(m, "end", position=(0.25 * L, 0.0, 0.0), guess=q)
    with pytest.raises(catena.errors.ClosureError, match="stays open"):
        catena.simulate(m, q + np.array([0.0, 1e-3, 0.0]), v, until=0.1 * T)
    with pytest.raises(catena.errors.QuestionError, match="cannot reach the goal"):
        catena.inverse_kinematics(m, "end", position=(0.5 * L, 0.0, 0.0), guess=q)
    with pytest.raises(catena.errors.QuestionError, match="not in equilibrium"):
        catena.modes(m, q)
    return np.concatenate(
        [
            q / unit,
            v * T / unit,
            rest / unit,
            np.ravel(catena.modes(m, rest).frequencies) * T,
            reached / unit,
        ]
    )


@pytest.fixture(scope="module")
def usual() -> np.ndarray:
    return answers(1.0, 1.0, 1.0)


@pytest.mark.parametrize("scale", SCALES)
def test_answers_do_not_depend_on_units(usual, scale):
    np.testing.assert_allclose(answers(*scale), usual, rtol=1e-9, atol=1e-9)


def test_a_rest_is_found_to_rounding_however_weak_the_forces_are():
    """A proof mass of a picogram on a soft spring: it sags by m g / k, 1e-11 m."""
    proof = Mechanism(
        "proof mass",
        (Body("m", 1e-12, (0, 0, 0), (1e-20,) * 3),),
        (Joint("z", "prismatic", "ground", "m"),),
        loads=(JointSpring("k", "z", stiffness=1.0, rest=0.0),),
    )
    assert catena.equilibrium(proof)[0] == pytest.approx(-9.81e-12, rel=1e-12)
