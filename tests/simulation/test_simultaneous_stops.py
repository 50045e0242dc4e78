"""Stops that several coordinates reach at one instant: one impact, whichever is located first.

left o----+----o right      two arms on a carriage that slides; mirror images of each other,
     |  [   ]  |            so that the carriage stays where it is
"""

from __future__ import annotations

import numpy as np
import pytest

import catena
from catena import Body, Joint, Mechanism, Pose


def carriage(mirror: float = 1.0) -> Mechanism:
    """The carriage with arms whose stops are at 0.3 and -0.3 rad."""
    arm = {"mass": 1.0, "com": (0, 0, -0.4), "inertia": (0.05, 0.05, 0.001)}
    axis = (0.0, 1.0, 0.0)
    return Mechanism(
        "carriage",
        [Body("base", 2.0, (0, 0, 0), (0.1, 0.1, 0.1)), Body("right", **arm), Body("left", **arm)],
        [
            Joint("slide", "prismatic", "ground", "base", axis=(1, 0, 0)),
            Joint(
                *("right", "revolute", "base", "right"),
                axis=axis,
                placement=Pose(position=(0.2, 0, 0)),
                **{"lower": -0.3, "upper": 1.5},
            ),
            Joint(
                *("left", "revolute", "base", "left"),
                axis=axis,
                placement=Pose(position=(-0.2, 0, 0)),
                **{"lower": -1.5, "upper": 0.3 * mirror},
            ),
        ],
    )


START = np.array([[0.0, 0.7, -0.7], [0.0, 1.1, -1.1]])


def test_a_mirrored_impact_leaves_the_middle_where_it_is():
    run = catena.simulate(carriage(), q=START[0], until=3.0, limits="stop")
    said = [str(x) for x in run.data["event"].values]
    assert sum("meets" in x for x in said) >= 2
    assert np.abs(run.data["q"].values[:, 0]).max() < 1e-9
    np.testing.assert_allclose(run.data["q"].values[:, 1], -run.data["q"].values[:, 2], atol=1e-9)
    assert run.ledger.relative_energy_balance < 1e-9


def test_a_batch_has_the_same_impacts():
    both = catena.simulate(carriage(), q=START, until=2.0, limits="stop")
    assert np.abs(both.data["q"].values[:, :, 0]).max() < 1e-9
    for k, q in enumerate(START):
        alone = catena.simulate(carriage(), q=q, until=2.0, limits="stop")
        np.testing.assert_allclose(both.data["q"].values[k], alone.data["q"].values, atol=1e-9)


@pytest.mark.parametrize("mirror", [1.0 - 1e-6, 1.0 + 1e-6])
def test_an_impact_later_is_one_of_its_own(mirror):
    run = catena.simulate(carriage(mirror), q=START[0], until=3.0, limits="stop")
    assert np.abs(run.data["q"].values[:, 0]).max() > 1e-5
