"""The bridge to other people's conventions of coordinates: planar joints."""

from __future__ import annotations

import numpy as np
import pytest

import catena
from catena.errors import StateError

PLANAR = """<robot name="r"><link name="base"/>{links}
<joint name="table" type="planar"><parent link="base"/><child link="l1"/><origin xyz="0.1 0.2 0.3" rpy="0.3 0.2 0.1"/><axis xyz="{axis}"/></joint>
<joint name="arm" type="revolute"><parent link="l1"/><child link="l2"/><origin xyz="0.1 0.2 0.3" rpy="0.3 0.2 0.1"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""  # noqa: E501
LINK = """<link name="{}"><inertial><origin xyz="0.1 0 0.3" rpy="0.1 0.2 0.3"/><mass value="1"/>
<inertia ixx="1" ixy="0.1" ixz="0" iyy="1.2" iyz="0" izz="1.1"/></inertial></link>"""


def test_planar_joints_cross_the_bridge_to_pinocchio(tmp_path):
    pin = pytest.importorskip("pinocchio")
    text = PLANAR.format(links=LINK.format("l1") + LINK.format("l2"), axis="0 0 1")
    (tmp_path / "r.urdf").write_text(text)
    machine = catena.compile(catena.load(tmp_path / "r.urdf"))
    model = pin.buildModelFromXML(text)
    over = catena.bridge.bridge(machine, "pinocchio")
    rng = np.random.default_rng(0)
    q, v, a = rng.standard_normal((3, machine.nv))
    assert over.peer_nq == model.nq
    found = pin.rnea(model, model.createData(), over.q_to(q), over.v_to(q, v), over.a_to(q, v, a))
    np.testing.assert_allclose(over.tau_to(q, machine.inverse_dynamics(q, v, a)), found, atol=1e-12)
    np.testing.assert_allclose(over.q_from(over.q_to(q)), q, atol=1e-12)
    np.testing.assert_allclose(over.v_from(q, over.v_to(q, v)), v, atol=1e-12)
    np.testing.assert_allclose(over.a_from(q, v, over.a_to(q, v, a)), a, atol=1e-12)
    (tmp_path / "tilted.urdf").write_text(
        text.replace('<axis xyz="0 0 1"/>', '<axis xyz="1 0 0"/>')
    )
    with pytest.raises(StateError, match="'table' is planar with a normal that is not z"):
        catena.bridge.bridge(catena.compile(catena.load(tmp_path / "tilted.urdf")), "pinocchio")
