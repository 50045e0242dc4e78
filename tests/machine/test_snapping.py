"""Right angles that a file writes with a limited number of digits, and nothing else, are taken for
what they mean.
"""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

from catena.formats import load
from catena.kernels.tree import SNAP, _snapped, layout
from catena.machine.bridge import bridge
from catena.machine.machine import compile
from catena.model.pose import Pose
from robots import close, urdf

PRINTED = {
    "g1": "g1_description/urdf/g1_29dof_rev_1_0.urdf",
    "allegro": "allegro_hand_description/urdf/allegro_right_hand.urdf",
}


@pytest.mark.parametrize("name", [*PRINTED, "ur5", "panda"])
def test_snapping_by_default_does_not_change_the_robot(name):
    """The default tree differs from that of every printed digit by right angles written with ten
    decimals or more, and by nothing else.
    """
    path = urdf("ur5").parents[2] / PRINTED[name] if name in PRINTED else urdf(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        m = load(path, mimic=False)
    tree, exact = (layout(m).tree(snap=snap) for snap in (SNAP, 0.0))
    assert np.abs(tree.E - exact.E).max() <= SNAP
    machine = compile(m, threads=1)
    rng = np.random.default_rng(0)
    q, v, a = machine.sample(rng, 20), *rng.standard_normal((2, 20, machine.nv))
    pin = pytest.importorskip("pinocchio")
    model = pin.buildModelFromUrdf(str(path))
    b = bridge(machine, "pinocchio")
    data = model.createData()
    theirs = np.array(
        [pin.rnea(model, data, *x) for x in zip(b.q_to(q), b.v_to(q, v), b.a_to(q, v, a))]
    )
    close(
        b.tau_to(q, machine.inverse_dynamics(q, v, a)), theirs, 1e-12 if name in PRINTED else 2e-11
    )


@pytest.mark.parametrize("digits", range(4, 16))
@pytest.mark.parametrize("angle", [math.pi / 2, -math.pi / 2, math.pi])
def test_only_printed_right_angles_are_snapped(angle, digits):
    printed = round(angle, digits)
    tilt = 3e-13
    for given, certain in ((printed, True), (printed + tilt, False)):
        R = Pose.turn("x", given).rotation
        snapped = np.array(_snapped([list(row) for row in R], 1e-3))
        assert (np.abs(snapped - np.round(snapped)).max() == 0.0) == certain
        kept = np.array(_snapped([list(row) for row in R], SNAP))
        assert np.abs(kept - np.array(R)).max() <= SNAP
