"""How much faster than `mujoco.rollout` are fixed-step rollouts in lanes, on one thread each?

Semi-implicit Euler for UR5, RK4 for UR5 and Panda, 1024 runs of 1000 steps; contacts and
constraints off, every state written down. The driver alone, and `catena.simulate` with all it does
around it (states by run and time in one array). Asked: 15 times, and `simulate` within 1.3 times
the driver.
"""

from __future__ import annotations

import re
from dataclasses import replace

import mujoco
import mujoco.rollout
import numpy as np
from peers import interleaved, robot, size

import catena
from catena import Mechanism
from catena.simulation.integrators import fixed_step
from catena.simulation.integrators.methods import method
from catena.simulation.system.first_order import System
from robots import urdf

BATCH = size(1024, 8)
STEPS = size(1000, 10)
STEP = 1e-3


def mujoco_model(name: str, integrator: int) -> mujoco.MjModel:
    """The same robot in MuJoCo: no meshes, no damping, no contacts."""
    text = re.sub(r"<(visual|collision)\b.*?</\1>", "", urdf(name).read_text(), flags=re.S)
    options = (
        '<mujoco><compiler fusestatic="true" balanceinertia="false" boundmass="0"'
        ' boundinertia="0"/></mujoco>'
    )
    model = mujoco.MjModel.from_xml_string(
        re.sub(r"(<robot\b[^>]*>)", r"\1" + options, text, count=1)
    )
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    model.opt.integrator, model.opt.timestep = integrator, STEP
    model.dof_damping[:], model.dof_frictionloss[:], model.dof_armature[:] = 0, 0, 0
    return model


def undamped(m: Mechanism) -> Mechanism:
    """Without the losses in the joints, as the peer runs it."""
    return m.with_(joints=tuple(replace(j, damping=0.0, friction=0.0) for j in m.joints))


def main() -> None:
    print(
        f"{'robot':6} {'method':14} {'MuJoCo':>10} {'driver':>9} {'ratio':>6} {'simulate':>9}"
        f" {'ratio':>6} {'/ driver':>8} {'difference':>10}"
    )
    cases = (
        ("ur5", "semi_implicit", mujoco.mjtIntegrator.mjINT_EULER),
        ("ur5", "rk4", mujoco.mjtIntegrator.mjINT_RK4),
        ("panda", "rk4", mujoco.mjtIntegrator.mjINT_RK4),
    )
    for name, how, integrator in cases[: size(3, 2)]:
        machine, _, _ = robot(name)
        model = mujoco_model(name, integrator)
        data = mujoco.MjData(model)
        rng = np.random.default_rng(0)
        q, v = rng.standard_normal((2, BATCH, machine.nv))
        start = np.concatenate([np.zeros((BATCH, 1)), q, v], axis=1)
        out = np.zeros((BATCH, STEPS, start.shape[1]))
        system = System(undamped(machine.mechanism))
        m = method(how)
        kernel = system.kernel("step" if how == "semi_implicit" else "derivative")
        W = kernel.width
        x0 = np.stack([system.start(q[k], v[k], np.zeros(0)) for k in range(BATCH)])
        ours = np.zeros((BATCH, STEPS, system.size))
        none = np.zeros((W, 0, system.nv))
        buffer = np.zeros(sum(kernel.input_sizes) * W)
        K = np.zeros((4, system.size * W))

        def mine(kernel=kernel, x0=x0, ours=ours, none=none, buffer=buffer, K=K, m=m, W=W):
            kernel.used(BATCH // W * STEPS)
            for g in range(BATCH // W):
                x = np.ascontiguousarray(x0[g * W : (g + 1) * W].T).reshape(-1)
                out = ours[g * W : (g + 1) * W]
                fixed_step.explicit(
                    kernel.block_address,
                    0,
                    m.A,
                    m.B[None],
                    m.C,
                    x,
                    buffer,
                    K,
                    none,
                    1,
                    0,
                    0.0,
                    STEP,
                    STEPS,
                    1,
                    out,
                    0,
                    W,
                )

        def theirs(model=model, data=data, start=start, out=out):
            mujoco.rollout.rollout(model, data, start, nstep=STEPS, state=out)

        mine()
        theirs()
        nv = machine.nv
        difference = np.abs(ours[:, -1, :nv] - out[:, -1, 1 : 1 + nv]).max()
        whole = catena.compile(system.mechanism, threads=1)

        def public(whole=whole, q=q, v=v, how=how):
            return catena.simulate(
                whole,
                q=q,
                v=v,
                until=STEPS * STEP,
                integrator=how,
                step=STEP,
                output=STEP,
                limits="ignore",
                threads=1,
            )

        public()
        _, b = interleaved(mine, theirs, 1)
        a, c = interleaved(mine, public, 3)
        n = BATCH * STEPS
        print(
            f"{name:6} {how:14} {b / n * 1e9:7.0f} ns {a / n * 1e9:6.0f} ns {b / a:6.1f}"
            f" {c / n * 1e9:6.0f} ns {b / c:6.1f} {c / a:8.2f} {difference:10.1e}"
        )


if __name__ == "__main__":
    main()
