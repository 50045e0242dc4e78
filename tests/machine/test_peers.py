"""Real robots beside real peers: Pinocchio and MuJoCo run live on the same URDF, fixed and
floating.
"""

from __future__ import annotations

import mujoco
import numpy as np
import pinocchio as pin
import pytest

from catena.machine.bridge import bridge
from robots import ROBOTS, close, machine_of, urdf

MUJOCO = ("ur5", "panda", "solo12", "a1", "z1", "double_pendulum")


def states(machine, seed=1):
    rng = np.random.default_rng(seed)
    return (machine.sample(rng), *rng.standard_normal((3, machine.nv)))


@pytest.mark.parametrize("name", ROBOTS)
def test_pinocchio(name):
    path = str(urdf(name))
    floating = ROBOTS[name][1]
    model = (
        pin.buildModelFromUrdf(path, pin.JointModelFreeFlyer())
        if floating
        else pin.buildModelFromUrdf(path)
    )
    data = model.createData()
    machine = machine_of(name)
    b = bridge(machine, "pinocchio")
    assert tuple(model.names)[1:] == b.joint_order
    q, v, a, tau = states(machine)
    qp = b.q_to(q)
    vp = b.v_to(q, v)
    ap = b.a_to(q, v, a)
    close(b.q_to(b.q_from(qp)), qp, 1e-14)
    close(b.v_from(q, vp), v, 1e-13)
    close(b.a_from(q, v, ap), a, 1e-12)
    close(b.tau_to(q, machine.inverse_dynamics(q, v, a)), pin.rnea(model, data, qp, vp, ap))
    close(b.tau_to(q, machine.bias(q, v)), _bias(model, data, b, q, v, qp, vp))
    close(b.tau_to(q, machine.gravity(q)), pin.computeGeneralizedGravity(model, data, qp))
    M = pin.crba(model, data, qp)
    close(b.matrix_to(q, machine.mass_matrix(q)), np.triu(M) + np.triu(M, 1).T)
    taup = b.tau_to(q, tau)
    if np.linalg.cond(np.triu(M) + np.triu(M, 1).T) < 1e9:
        close(b.a_to(q, v, machine.forward_dynamics(q, v, tau)), pin.aba(model, data, qp, vp, taup))
    close(machine.energy(q, v)[0], pin.computeKineticEnergy(model, data, qp, vp))
    close(machine.energy(q, v)[1], pin.computePotentialEnergy(model, data, qp))
    pin.ccrba(model, data, qp, vp)
    m = machine.momentum(q, v)
    close(m["linear"], data.hg.linear)
    close(m["angular"], data.hg.angular)
    close(m["com"], pin.centerOfMass(model, data, qp))
    pin.framesForwardKinematics(model, data, qp)
    pin.computeJointJacobians(model, data, qp)
    for frame in [body.name for body in machine.mechanism.bodies][
        :: max(1, len(machine.mechanism.bodies) // 6)
    ]:
        k = model.getFrameId(frame, pin.FrameType.BODY)
        if k >= model.nframes:
            continue
        close(machine.pose(q, frame), data.oMf[k].homogeneous)
        for axes, reference in (("world", pin.LOCAL_WORLD_ALIGNED), ("body", pin.LOCAL)):
            J = pin.getFrameJacobian(model, data, k, reference)
            close(b.jacobian_to(q, machine.jacobian(q, frame, axes)), np.vstack([J[3:], J[:3]]))


def _bias(model, data, b, q, v, qp, vp):
    """Pinocchio's forces at the motion that has our a = 0: its speeds of a turning base then
    change.
    """
    return pin.rnea(model, data, qp, vp, b.a_to(q, v, np.zeros(model.nv)))


@pytest.mark.parametrize("name", MUJOCO)
def test_mujoco(name):
    text = urdf(name).read_text()
    floating = ROBOTS[name][1]
    spec = mujoco.MjSpec.from_string(_for_mujoco(text))
    if floating:
        root = spec.worldbody.first_body()
        root.add_freejoint()
    model = spec.compile()
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    model.dof_damping[:], model.dof_frictionloss[:], model.dof_armature[:] = 0, 0, 0
    data = mujoco.MjData(model)
    machine = machine_of(name)
    b = bridge(machine, "mujoco")
    assert (model.nq, model.nv) == (machine.nq, machine.nv)
    q, v, a, _ = states(machine, 2)
    data.qpos[:], data.qvel[:], data.qacc[:] = b.q_to(q), b.v_to(q, v), b.a_to(q, v, a)
    mujoco.mj_inverse(model, data)
    close(b.tau_to(q, machine.inverse_dynamics(q, v, a)), data.qfrc_inverse)
    close(b.tau_to(q, machine.bias(q, v)), data.qfrc_bias)
    M = np.zeros((model.nv, model.nv))
    try:
        mujoco.mj_fullM(model, M, data.qM)
    except (TypeError, AttributeError):  # MuJoCo 4 keeps the matrix elsewhere
        mujoco.mj_fullM(model, data, M)
    close(machine.mass_matrix(q), M)


def _for_mujoco(text):
    """The URDF without meshes and with fixed links kept out of the way, as MuJoCo's own compiler
    reads it.
    """
    import re

    text = re.sub(r"<(visual|collision)\b.*?</\1>", "", text, flags=re.S)
    extra = (
        '<mujoco><compiler fusestatic="true" discardvisual="true" balanceinertia="false"'
        ' boundmass="0" boundinertia="0"/></mujoco>'
    )
    return re.sub(r"(<robot\b[^>]*>)", r"\1" + extra, text, count=1)
