"""Bodies that are connected more often than their motion needs, by lengths with few digits: no
configuration closes them down to rounding, and they move nevertheless.

        o-----------o-----------o      a platform on three parallel rods; the pins at its end are
       /           /           /       1 and 2 + misfit from its first
      o           o           o
"""

from __future__ import annotations

import numpy as np
import pytest

import catena
from catena import Body, Joint, Mechanism, Pose
from catena.errors import ClosureError

UP = (0.0, -1.0, 0.0)


def platform(misfit: float) -> Mechanism:
    """The platform on rods of 0.5 m."""
    rods = [Body(f"rod{k}", 1.0, (0, 0, 0.25), (0.02, 0.02, 1e-3)) for k in range(3)]
    plate = Body("plate", 2.0, (1.0, 0, 0), (1e-3, 0.5, 0.5))
    pins = [
        Joint(
            f"pin{k}",
            "revolute",
            "ground",
            f"rod{k}",
            axis=UP,
            placement=Pose(position=(float(k), 0, 0)),
        )
        for k in range(3)
    ]
    top = Pose(position=(0, 0, 0.5))
    first = Joint("top0", "revolute", "rod0", "plate", axis=UP, placement=top)
    loops = [
        Joint(
            f"top{k}",
            "revolute",
            f"rod{k}",
            "plate",
            axis=UP,
            placement=top,
            offset=Pose(position=(k + misfit * (k - 1), 0, 0)),
        )
        for k in (1, 2)
    ]
    return Mechanism("platform", [*rods, plate], [*pins, first], loops=loops)


GUESS = {"pin0": 0.4}


def test_a_misfit_of_digits_moves_as_the_exact_platform():
    exact = catena.simulate(platform(0.0), q=GUESS, until=0.35)
    cut = catena.simulate(platform(3e-8), q=GUESS, until=0.35)
    assert abs(exact.data["q"].values[-1, 0] - 0.4) > 0.1
    np.testing.assert_allclose(cut.data["q"].values, exact.data["q"].values, atol=1e-5)


def test_it_is_assembled_as_nearly_as_its_lengths_allow():
    machine = catena.compile(platform(3e-8))
    guess = np.array([0.4, -0.3, 0.5, 0.4])
    q, _ = catena.assemble(machine, guess)
    gap = np.abs(machine.constraint_rows(q, np.zeros(4))[0]).max()
    assert 1e-9 < gap < 3e-8
    both, _ = catena.assemble(machine, [guess, guess])
    np.testing.assert_allclose(both, [q, q], atol=1e-6)


def test_a_misfit_that_can_be_measured_is_refused():
    with pytest.raises(ClosureError, match="stays open"):
        catena.assemble(platform(1e-3), [0.4, 0.3, 0.5, -0.4], fixed=["pin0"])
