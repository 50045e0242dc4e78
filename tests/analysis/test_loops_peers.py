"""Closed loops beside live peers: Pinocchio on point and weld closures, MuJoCo in the stiff limit.

The mechanism goes to both as an arm of revolute joints; the loop is theirs: a 3-D or 6-D rigid
constraint, an equality.
"""

from __future__ import annotations

import mujoco
import numpy as np
import pinocchio as pin
import pytest

from catena.analysis.assembly import assemble
from catena.analysis.hybrid_dynamics import hybrid_dynamics
from catena.machine.machine import compile
from catena.machine.reactions import reactions
from catena.model.mechanism import GROUND, Joint, Mechanism
from catena.model.pose import Pose
from zoo import arm

N = 7
REST = np.linspace(0.2, 1.1, N)


def held(kind: str) -> Mechanism:
    """An arm of seven joints whose last link is pinned (a ball) or welded to the ground, where it
    is at REST.
    """
    m = arm(N)
    X = compile(m).pose(REST, f"link{N}")
    tip = Pose(position=(0.1, -0.2, 0.05))
    at = Pose(tuple(map(tuple, X[:3, :3])), tuple(X[:3, 3])) @ tip
    return m.with_(loops=(Joint("hold", kind, GROUND, f"link{N}", at, offset=tip),))


def state(machine, seed=2):
    rng = np.random.default_rng(seed)
    q, v = assemble(machine, machine.move(REST, 0.1 * rng.normal(size=N)), rng.normal(size=N))
    return q, v, rng.normal(size=N)


def se3(X: Pose) -> pin.SE3:
    return pin.SE3(np.array(X.rotation), np.array(X.position))


def pinocchio_model(m: Mechanism) -> pin.Model:
    model, parent = pin.Model(), {GROUND: 0}
    for j in m.ordered:
        b = m.body(j.child)
        parent[j.child] = model.addJoint(
            parent[j.parent], pin.JointModelRZ(), se3(j.placement), j.name
        )
        xx, xy, xz, yy, yz, zz = b.inertia
        I = pin.Inertia(
            b.mass, np.array(b.com), np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        )
        model.appendBodyToJoint(parent[j.child], I, pin.SE3.Identity())
    return model


@pytest.mark.parametrize(
    ("kind", "contact"),
    [("ball", pin.ContactType.CONTACT_3D), ("fixed", pin.ContactType.CONTACT_6D)],
)
def test_pinocchio_on_point_and_weld_closures(kind, contact):
    machine = compile(held(kind))
    q, v, tau = state(machine)
    model = pinocchio_model(machine.mechanism)
    data = model.createData()
    loop = machine.mechanism.loops[0]
    closure = pin.RigidConstraintModel(
        contact, model, N, se3(loop.offset), 0, se3(loop.placement), pin.ReferenceFrame.LOCAL
    )
    models = pin.StdVec_RigidConstraintModel()
    datas = pin.StdVec_RigidConstraintData()
    models.append(closure)
    datas.append(closure.createData())
    pin.initConstraintDynamics(model, data, models, datas)
    theirs = pin.constraintDynamics(
        model, data, q, v, tau, models, datas, pin.ProximalSettings(1e-14, 1e-12, 40)
    )
    ours = machine.forward_dynamics(q, v, tau)
    np.testing.assert_allclose(ours, theirs, rtol=1e-8, atol=1e-8 * np.abs(ours).max())
    # their force acts on the first frame, the arm's side, in its axes: our wrench on the child at
    # the joint's frame
    W = reactions(machine, q, v, ours, tau, axes="joint")["hold"]
    force = datas[0].contact_force
    np.testing.assert_allclose(W[3:], force.linear, rtol=1e-7, atol=1e-7 * np.abs(W).max())
    if kind == "fixed":
        np.testing.assert_allclose(W[:3], force.angular, rtol=1e-7, atol=1e-7 * np.abs(W).max())


def mjcf(m: Mechanism) -> str:
    """The arm and its closure as MuJoCo reads it; gravity, inertias and placements as they are."""
    number = lambda values: " ".join(repr(float(x)) for x in values)  # noqa: E731
    text, close = "", ""
    for j in m.ordered:
        b = m.body(j.child)
        R = np.array(j.placement.rotation)
        quat = np.zeros(4)
        mujoco.mju_mat2Quat(quat, R.flatten())
        xx, xy, xz, yy, yz, zz = b.inertia
        text += f'<body name="{b.name}" pos="{number(j.placement.position)}" quat="{number(quat)}">'
        text += f'<joint name="{j.name}" axis="0 0 1"/>'
        text += (
            f'<inertial pos="{number(b.com)}" mass="{float(b.mass)!r}"'
            f' fullinertia="{number((xx, yy, zz, xy, xz, yz))}"/>'
        )
        close += "</body>"
    loop = m.loops[0]
    anchor = number(loop.offset.position)
    return f"""<mujoco><option gravity="{number(m.gravity)}" timestep="0.0005" solver="Newton" tolerance="1e-15"/>
    <compiler angle="radian"/><worldbody>{text}{close}</worldbody>
    <equality><connect body1="{loop.child}" body2="world" anchor="{anchor}" solref="0.001 1"/></equality></mujoco>"""  # noqa: E501


def test_mujoco_in_the_stiff_limit():
    """MuJoCo closes loops softly: as its impedance goes to one its accelerations come to ours."""
    machine = compile(held("ball"))
    q, v, tau = state(machine)
    v = 0.1 * v
    model = mujoco.MjModel.from_xml_string(mjcf(machine.mechanism))
    model.eq_data[0, 3:6] = machine.mechanism.loops[0].placement.position
    data = mujoco.MjData(model)
    ours = machine.forward_dynamics(q, v, tau)
    errors = []
    for impedance in (0.99, 0.999, 0.9999):
        model.eq_solimp[0, :2] = impedance
        data.qpos[:], data.qvel[:], data.qfrc_applied[:] = q, v, tau
        mujoco.mj_forward(model, data)
        assert np.abs(data.efc_pos).max() < 1e-9  # our assembly closes their loop
        errors.append(np.abs(data.qacc - ours).max() / np.abs(ours).max())
    slopes = np.log10(np.divide(errors[:-1], errors[1:]))
    assert errors[-1] < 1e-3 and (slopes > 0.95).all()  # first order in 1 - impedance


def test_what_neither_peer_has_hybrid_dynamics():
    """Part of the arm driven, part forced, the end pinned: Pinocchio's inverse dynamics with the
    force found gives the same.
    """
    machine = compile(held("ball"))
    q, v, _ = state(machine, 5)
    tau, a = hybrid_dynamics(
        machine, q, v, motion={"joint1": 0.3, "joint3": -0.2}, force={"joint2": 1.0}
    )
    model = pinocchio_model(machine.mechanism)
    data = model.createData()
    W = reactions(machine, q, v, a, tau, axes="joint")["hold"]
    offset = se3(machine.mechanism.loops[0].offset)
    forces = [pin.Force.Zero() for _ in range(N)] + [offset.act(pin.Force(W[3:], W[:3]))]
    np.testing.assert_allclose(pin.rnea(model, data, q, v, a, forces), tau, atol=1e-9)
    assert a[0] == 0.3 and a[2] == -0.2 and tau[1] == 1.0
