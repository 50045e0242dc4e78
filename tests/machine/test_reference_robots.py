"""Stored values of four robots (tests/reference/robots), on which Pinocchio, Drake and MuJoCo
agree.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from catena.machine.bridge import bridge
from robots import ROBOTS, close, machine_of

FILES = {"ur5": "ur5", "panda": "panda", "solo12": "solo12", "talos": "talos_reduced"}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("case", range(3))
def test_stored_state(name, case):
    stored = json.loads(
        (Path(__file__).parents[1] / "reference" / "robots" / f"{FILES[name]}.json").read_text()
    )
    c = stored["cases"][case]
    machine = machine_of(name)
    b = bridge(machine, "pinocchio", stored["joint_names"])
    q = b.q_from(np.array(c["q_pin"]))
    v = b.v_from(q, np.array(c["v"]))
    a = b.a_from(q, v, np.array(c["a"]))
    tau = b.tau_from(q, np.array(c["tau"]))
    close(b.tau_to(q, machine.inverse_dynamics(q, v, a)), np.array(c["rnea"]))
    close(b.tau_to(q, machine.gravity(q)), np.array(c["gravity"]))
    close(b.a_to(q, v, machine.forward_dynamics(q, v, tau)), np.array(c["aba"]))
    close(b.matrix_to(q, machine.mass_matrix(q)), np.array(c["M"]))
    kinetic, potential = machine.energy(q, v)
    close(kinetic, c["T"])
    close(potential, c["V"])
    m = machine.momentum(q, v)
    close(m["com"], np.array(c["com"]))
    close(m["com_velocity"], np.array(c["vcom"]))
    close(m["linear"], np.array(c["h_centroidal_lin"]))
    close(m["angular"], np.array(c["h_centroidal_ang"]))
    close(m["mass"], c["mass"])
    for frame, value in c["frames"].items():
        X = machine.pose(q, frame)
        close(X[:3, 3], np.array(value["p"]))
        close(X[:3, :3], np.array(value["R"]))
        J = np.array(value["J_world_aligned"])
        close(b.jacobian_to(q, machine.jacobian(q, frame)), np.vstack([J[3:], J[:3]]))
    assert ROBOTS[name][1] == stored["floating"]
