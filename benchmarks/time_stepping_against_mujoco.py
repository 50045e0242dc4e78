"""How much faster than `mujoco.rollout` is contact by time stepping in lanes, on one thread each,
and how well does each keep the laws?

A box on its corners, a hopper on its foot, Solo12 on four feet (servos hold their joints): dropped
from a few millimetres onto a plane while gravity leans by 0.1 rad, so that friction has to hold
them; runs of 1 ms steps, every state written down. The model of the peer is written out of ours,
and their mass matrices are compared. MuJoCo runs twice: as it comes (Newton, pyramidal cones: its
fastest), and at its best for friction (elliptic cones, impratio 100, stiff contacts of two steps,
noslip). Ratios are of `catena.simulate` whole, against both. "rough" robots, Solo12 and Talos on
eight points, have dry friction and limits of their joints on both sides, in batches of 1024.

Residuals are taken from the states of both sides by the same formulas, over the last fifth of the
runs, when everything has come to stand: the deepest penetration of a contact point, and the creep,
the fastest slip of a point that touches (it should stand: friction suffices). Our certificate
(complementarity, cone, solver) covers all steps; MuJoCo has none. Asked: 10 times, at equal or
better residual.
"""

from __future__ import annotations

import time

import mujoco
import mujoco.rollout
import numpy as np
from peers import size

import catena
from catena import Mechanism
from catena.collision.contact_points import contact_points
from touching import MECHANISMS, SLOPE, gains, servos, starts

RUNS = size(64, 8)
LENGTH = size(1000, 20)  # steps
STEP = 1e-3
ROUNDS = size(3, 1)
NAMES = size(
    ("box", "hopper", "solo12", "rough_solo12", "rough_talos"), ("box", "hopper", "rough_solo12")
)
ROUGH = size((1024, 500), (8, 20))  # runs and steps of the rough robots
KINDS = {"revolute": "hinge", "continuous": "hinge", "prismatic": "slide"}


def words(*values: float) -> str:
    return " ".join(f"{float(x):.17g}" for x in values)


def quaternion(rotation) -> str:
    found = np.zeros(4)
    mujoco.mju_mat2Quat(found, np.array(rotation, float).ravel())
    return words(*found)


def limits(j: catena.Joint) -> str:
    """The limits of a joint with dry friction; those of others are ignored on both sides."""
    return f' limited="true" range="{words(*j.lower, *j.upper)}"' if any(j.friction) else ""


def mjcf(m: Mechanism, gains: tuple[dict, dict, dict]) -> str:
    """The mechanism as MuJoCo reads it: bodies, joints, spheres and boxes that touch a plane,
    servos.
    """
    contact = m.contacts[0]

    def body(name: str) -> str:
        b = m.body(name)
        j = next(j for j in m.joints if j.child == name)
        xx, xy, xz, yy, yz, zz = b.inertia
        xx, yy, zz = (x or 1e-9 for x in (xx, yy, zz))  # of a point, which MuJoCo refuses
        text = (
            f'<body name="{name}" pos="{words(*j.placement.position)}"'
            f' quat="{quaternion(j.placement.rotation)}">'
        )
        if b.mass:  # a frame has none
            text += (
                f'<inertial pos="{words(*b.com)}" mass="{words(b.mass)}"'
                f' fullinertia="{words(xx, yy, zz, xy, xz, yz)}"/>'
            )
        if j.kind == "free":
            text += f'<freejoint name="{j.name}"/>'
        elif j.kind in KINDS:
            text += (
                f'<joint name="{j.name}" type="{KINDS[j.kind]}" axis="{words(*j.axis[0])}"'
                f' armature="{words(*j.armature)}" frictionloss="{words(*j.friction)}"{limits(j)}/>'
            )
        for s in b.shapes:
            half = [x / 2 for x in s.size] if s.kind == "box" else s.size
            text += (
                f'<geom type="{s.kind}" size="{words(*half)}" pos="{words(*s.pose.position)}"'
                f' contype="1" conaffinity="0" friction="{contact.static} 0 0"/>'
            )
        return text + "".join(body(k.child) for k in m.joints if k.parent == name) + "</body>"

    kp, kd, _ = gains
    actuators = "".join(f'<position joint="{j}" kp="{kp[j]}" kv="{kd[j]}"/>' for j in kp)
    floor = (
        f'<geom type="plane" size="5 5 1" contype="0" conaffinity="1" friction="{contact.static} 0'
        ' 0"/>'
    )
    roots = "".join(body(j.child) for j in m.joints if j.parent == "ground")
    return (
        '<mujoco><compiler angle="radian" balanceinertia="false" boundmass="0"'
        f' boundinertia="0"/><option timestep="{STEP}" '
        f'gravity="{words(*m.gravity)}"/><worldbody>{floor}{roots}</worldbody><actuator>{actuators}</actuator></mujoco>'
    )


def peers(m: Mechanism, gains: tuple[dict, dict, dict]) -> dict[str, mujoco.MjModel]:
    """MuJoCo as it comes, and at its best for friction."""
    plain, best = (mujoco.MjModel.from_xml_string(mjcf(m, gains)) for _ in range(2))
    return {"as it comes": plain, "at its best": at_its_best(best)}


def at_its_best(model: mujoco.MjModel) -> mujoco.MjModel:
    """With elliptic cones, impratio 100, stiff contacts of two steps, noslip."""
    model.opt.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    model.opt.impratio = 100.0
    model.opt.noslip_iterations = 10
    model.geom_solref[:] = (2 * STEP, 1.0)
    model.geom_solimp[:] = (0.99, 0.9999, 1e-4, 0.5, 2)
    return model


def same_model(machine: catena.Machine, model: mujoco.MjModel) -> float:
    """The largest difference of the mass matrices at a random place, beside the largest entry."""
    q = machine.sample(np.random.default_rng(1), 1)[0]
    data = mujoco.MjData(model)
    data.qpos[:] = q
    mujoco.mj_forward(model, data)
    M = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, M)
    ours = machine.mass_matrix(q)
    return float(np.abs(M - ours).max() / np.abs(ours).max())


def residuals(machine: catena.Machine, q: np.ndarray, v: np.ndarray) -> tuple[float, float]:
    """Deepest penetration (m) and fastest creep (m/s) of states (n, ...), for spheres and corners
    on the plane z = 0.
    """
    deepest, creep = 0.0, 0.0
    for p in contact_points(machine.mechanism):
        X = machine.pose(q, p.body)
        J = machine.jacobian(q, p.body)
        arm = X[..., :3, :3] @ np.array(p.centre) - np.array([0, 0, p.radius])
        gap = X[..., 2, 3] + arm[..., 2]
        twist = np.einsum("nij,nj->ni", J, v)
        speed = twist[:, 3:] + np.cross(twist[:, :3], arm)
        near = gap < 1e-4
        deepest = max(deepest, float(-gap.min()))
        creep = max(creep, float(np.linalg.norm(speed[near, :2], axis=1).max(initial=0.0)))
    return deepest, creep


def timed(f) -> float:
    """Seconds of the processor, the best of some."""
    times = []
    for _ in range(ROUNDS):
        began = time.process_time()
        f()
        times.append(time.process_time() - began)
    return min(times)


def main() -> None:
    print(
        f"{'':12} {'points':>6} {'':22} {'per step':>10} {'ratio':>6} {'penetration':>12}"
        f" {'creep':>12}"
    )
    for name in NAMES:
        rough = name.startswith("rough")
        runs, steps = ROUGH if rough else (RUNS, LENGTH)
        late = slice(-max(1, steps // 5), None)
        m = MECHANISMS[name](gravity=SLOPE)
        machine = catena.compile(m, threads=1)
        q, v = starts(name, machine, runs)
        control = servos(name)

        def ours(machine=machine, q=q, v=v, control=control, rough=rough, steps=steps):
            return catena.simulate(
                machine,
                q=q,
                v=v,
                until=steps * STEP,
                contact="time_stepping",
                step=STEP,
                output=STEP,
                control=control,
                limits="stop" if rough else "ignore",
                threads=1,
            )

        run = ours()
        mine = timed(ours) / runs / steps
        nq, nv = machine.nq, machine.nv
        found = residuals(
            machine, run.q.values[:, late].reshape(-1, nq), run.v.values[:, late].reshape(-1, nv)
        )
        c = run.ledger.contact
        print(
            f"{name:12} {len(contact_points(m)):6} {'catena':22} {mine * 1e9:7.0f} ns {'':6}"
            f" {found[0]:10.1e} m {found[1]:8.1e} m/s   residual {c.residual:.0e} ({c.unconverged}"
            f" steps above {c.asked:.0e}), complementarity {c.complementarity:.0e}, cone"
            f" {c.cone:.0e}"
        )
        for title, model in peers(m, gains(name)).items():
            data = mujoco.MjData(model)
            state = np.zeros((runs, steps, 1 + nq + nv))
            first = np.concatenate([np.zeros((runs, 1)), q, v], axis=1)
            aim = np.tile(list(gains(name)[2].values()), (runs, steps, 1)) if model.nu else None

            def go(model=model, data=data, first=first, aim=aim, state=state, steps=steps):
                return mujoco.rollout.rollout(model, data, first, aim, nstep=steps, state=state)

            theirs = timed(go) / runs / steps
            rows = state[:, late, 1:].reshape(-1, nq + nv)
            found = residuals(machine, rows[:, :nq], rows[:, nq:])
            print(
                f"{'':12} {'':6} {'MuJoCo ' + title:22} {theirs * 1e9:7.0f} ns {theirs / mine:6.1f}"
                f" {found[0]:10.1e} m {found[1]:8.1e} m/s   (mass matrices differ by"
                f" {same_model(machine, model):.0e})"
            )


if __name__ == "__main__":
    main()
