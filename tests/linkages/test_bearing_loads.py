"""Bearing loads against sums over the bodies, and balancing against Berkof and Lowen."""

from __future__ import annotations

import csv

import numpy as np
import pytest

import catena
from catena.errors import QuestionError
from catena.linkages import balance_force, bearing_loads


def four_bar(**changes):
    m = catena.load("four_bar")
    return m.with_(parameters={**m.parameters, **changes})


def test_forces_balance_the_inertia_of_every_body():
    m = four_bar()
    linkage = catena.linkages.linkage(m, "motor pin")
    angle = np.linspace(0, 2 * np.pi, 25)
    found = bearing_loads(linkage, angle, 20.0)
    motion = linkage.positions(angle, np.full(25, 20.0), np.zeros(25))
    # the shaking force is minus the sum of m (a - g), by accelerations of the centres of mass
    frames = [catena.Frame(f"com {b.name}", b.name, b.com) for b in m.bodies]
    moved = catena.linkages.linkage(m.with_(frames=frames), "motor pin", [f.name for f in frames])
    at = moved.positions(angle, np.full(25, 20.0), np.zeros(25))
    mass = np.array([0.8 * m.parameters[b.name] for b in m.bodies])
    force = -np.einsum("b,nbi->ni", mass, at.point_accelerations - np.array(m.gravity))
    assert np.abs(found.shaking_force - force[:, :2]).max() < 1e-10 * np.abs(force).max()
    inertia = np.array([0.8 * m.parameters[b.name] ** 3 / 12 for b in m.bodies])
    spin = np.cumsum(motion.a, axis=1)  # the angular accelerations of a chain of turns
    names = [b.name for b in m.bodies]
    assert names == ["crank", "coupler", "rocker"]
    lever = np.cross(at.points, at.point_accelerations - np.array(m.gravity))[..., 2]
    moment = -(lever * mass + spin * inertia).sum(axis=1)
    assert np.abs(found.shaking_moment - moment).max() < 1e-9 * np.abs(moment).max()
    assert found.peaks[0].force == found.magnitude.max()
    assert np.allclose(np.linalg.norm(found.link, axis=-1), found.magnitude)
    # the power of the motor is the rate of the energy
    machine, h = catena.compile(m), 1e-5
    up, down = (linkage.positions(angle + x, np.full(25, 20.0)) for x in (h, -h))
    rate = (sum(machine.energy(up.q, up.v)) - sum(machine.energy(down.q, down.v))) / (2 * h) * 20.0
    assert np.abs(found.torque * 20.0 - rate).max() < 1e-6 * np.abs(rate).max()


def test_csv_has_units_and_axes(tmp_path):
    found = bearing_loads(
        catena.linkages.linkage(four_bar(), "motor pin"), np.linspace(0, 6, 5), 3.0
    )
    found.to_csv(tmp_path / "loads.csv")
    rows = list(csv.reader((tmp_path / "loads.csv").open()))
    assert "near pin: force on child, ground axis 1 [N]" in rows[0] and len(rows) == 6
    assert float(rows[2][0]) == found.q[1]
    assert "far pin" in str(found) and found.plot() is not None


def test_a_value_beyond_a_dead_point_is_refused():
    linkage = catena.linkages.linkage(catena.load("watt_linkage"), "left pin")
    with pytest.raises(QuestionError, match="left pin = 2"):
        bearing_loads(linkage, [0.0, 2.0], 1.0)


def test_counterweights_of_berkof_and_lowen_cancel_the_shaking_force():
    m = four_bar()
    linkage = catena.linkages.linkage(m, "motor pin")
    found = balance_force(linkage, ["crank", "rocker"], {"crank": 0.03, "rocker": 0.05})
    assert found.after < 1e-9 * found.before
    balanced = catena.linkages.linkage(found.mechanism.with_(gravity=(0, 0, 0)), "motor pin")
    force = bearing_loads(balanced, np.linspace(0, 6, 13), 20.0).shaking_force
    plain = catena.linkages.linkage(m.with_(gravity=(0, 0, 0)), "motor pin")
    before = bearing_loads(plain, np.linspace(0, 6, 13), 20.0).shaking_force
    assert np.abs(force).max() < 1e-9 * np.abs(before).max()
    # [Berkof1969]: the crank's counterweight cancels its own moment and the coupler's share at it
    share = 0.8 * 0.3 * (1 - 0.5)
    moment = found.moments["crank"]
    assert moment[0] == pytest.approx(-(0.8 * 0.1 * 0.05 + share * 0.1), rel=1e-9)
    with pytest.raises(QuestionError, match="does not turn about a fixed pivot"):
        balance_force(linkage, ["coupler"], {"coupler": 0.05})
