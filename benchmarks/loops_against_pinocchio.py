"""How much faster than Pinocchio's `constraintDynamics` is forward dynamics with closed loops?

A planar parallelogram, a spatial four-bar and a Stewart platform with six legs, closed by points
(what Pinocchio can close). Asked: batches at least 10 times on one thread each; one call from
Python no slower. Also: what a pinned end costs a chain of 1 000 bodies, asked at most twice the
open chain.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from long_chains import chain
from peers import best, interleaved, size

import catena
from catena import Body, Joint, Mechanism, Pose

BATCH = size(1024, 16)
BODIES = size(1000, 80)
CALLS = size(200, 2)


def parallelogram() -> Mechanism:
    hinge = {"axis": (0, 1, 0)}
    rods = tuple(
        Body(n, 1.0, (0, 0, 0.25) if n != "coupler" else (0.5, 0, 0), (0.02, 0.02, 0.02))
        for n in ("a", "coupler", "b")
    )
    joints = (
        Joint("A", "revolute", "ground", "a", **hinge),
        Joint("B", "revolute", "a", "coupler", Pose(position=(0, 0, 0.5)), **hinge),
        Joint("C", "revolute", "ground", "b", Pose(position=(1, 0, 0)), **hinge),
    )
    close = Joint(
        "D", "ball", "coupler", "b", Pose(position=(1, 0, 0)), offset=Pose(position=(0, 0, 0.5))
    )
    return Mechanism("parallelogram", rods, joints, loops=(close,))


def four_bar() -> Mechanism:
    """Crank and rocker on crossed axes, a coupler with a ball at each end."""
    bodies = tuple(
        Body(n, 1.0, (0.2, 0, 0.1), (0.02, 0.02, 0.02)) for n in ("crank", "coupler", "rocker")
    )
    joints = (
        Joint("A", "revolute", "ground", "crank", axis=(0, 0, 1)),
        Joint("B", "ball", "crank", "coupler", Pose(position=(0.4, 0, 0))),
        Joint("C", "revolute", "ground", "rocker", Pose(position=(1.0, 0.2, 0)), axis=(0, 1, 0)),
    )
    close = Joint(
        "D",
        "ball",
        "coupler",
        "rocker",
        Pose(position=(0.8, 0, 0)),
        offset=Pose(position=(0, 0, 0.6)),
    )
    return Mechanism("spatial four-bar", bodies, joints, loops=(close,))


def stewart() -> Mechanism:
    """A platform on six legs: two hinges and a slide each, a ball at the platform."""
    bodies = [Body("platform", 20.0, (0, 0, 0), (1.0, 1.0, 2.0))]
    joints = [Joint("base", "free", "ground", "platform")]
    loops = []
    for k in range(6):
        low = np.radians(60 * (k // 2) * 2 + (20 if k % 2 else -20))
        high = np.radians(60 * ((k + 1) // 2) * 2 - 60 + (20 if k % 2 else -20))
        foot = Pose(position=(np.cos(low), np.sin(low), 0))
        bodies += [
            Body(f"fork{k}", 0.2, (0, 0, 0), (1e-3, 1e-3, 1e-3)),
            Body(f"tube{k}", 2.0, (0, 0, 0.3), (0.1, 0.1, 0.01)),
            Body(f"rod{k}", 1.0, (0, 0, -0.2), (0.05, 0.05, 0.005)),
        ]
        joints += [
            Joint(f"x{k}", "revolute", "ground", f"fork{k}", foot, axis=(1, 0, 0)),
            Joint(f"y{k}", "revolute", f"fork{k}", f"tube{k}", axis=(0, 1, 0)),
            Joint(f"z{k}", "prismatic", f"tube{k}", f"rod{k}", Pose(position=(0, 0, 0.8))),
        ]
        at = Pose(position=(0.5 * np.cos(high), 0.5 * np.sin(high), 0))
        loops.append(Joint(f"ball{k}", "ball", "platform", f"rod{k}", at))
    return Mechanism("Stewart platform", tuple(bodies), tuple(joints), loops=tuple(loops))


def pinocchio_model(m: Mechanism) -> tuple[pin.Model, object, object]:
    """The same tree and point closures in Pinocchio; joints are added in our order, so that the
    coordinates are ours.
    """
    kinds = {"free": pin.JointModelFreeFlyer, "ball": pin.JointModelSpherical}
    model, ids = pin.Model(), {"ground": 0}
    for j in m.ordered:
        made = (
            kinds[j.kind]()
            if j.kind in kinds
            else (
                pin.JointModelRevoluteUnaligned
                if j.kind == "revolute"
                else pin.JointModelPrismaticUnaligned
            )(np.array(j.axis[0]))
        )
        place = pin.SE3(np.array(j.placement.rotation), np.array(j.placement.position))
        ids[j.child] = model.addJoint(ids[j.parent], made, place, j.name)
        b = m.body(j.child)
        xx, xy, xz, yy, yz, zz = b.inertia
        model.appendBodyToJoint(
            ids[j.child],
            pin.Inertia(
                b.mass, np.array(b.com), np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
            ),
            pin.SE3.Identity(),
        )
    models = pin.StdVec_RigidConstraintModel()
    for j in m.loops:
        ends = [pin.SE3(np.eye(3), np.array(X.position)) for X in (j.placement, j.offset)]
        models.append(
            pin.RigidConstraintModel(
                pin.ContactType.CONTACT_3D, model, ids[j.parent], ends[0], ids[j.child], ends[1]
            )
        )
    datas = pin.StdVec_RigidConstraintData()
    for c in models:
        datas.append(c.createData())
    return model, models, datas


def main() -> None:
    print(f"{'mechanism':18} {'':8} {'Pinocchio':>10} {'catena':>10} {'ratio':>6} {'error':>8}")
    for build in size((parallelogram, four_bar, stewart), (parallelogram,)):
        m = build()
        machine = catena.compile(m, threads=1)
        model, models, datas = pinocchio_model(m)
        data = model.createData()
        pin.initConstraintDynamics(model, data, models, datas)
        settings = pin.ProximalSettings(1e-12, 1e-10, 10)
        b = catena.bridge.bridge(machine, "pinocchio", [j.name for j in m.moving])
        q0, v0 = catena.assemble(machine, guess(machine))
        rng = np.random.default_rng(0)
        q = np.tile(q0, (BATCH, 1))
        v = np.zeros((BATCH, machine.nv))
        for k in range(BATCH):
            v[k] = v0 + catena.assemble(machine, q0, rng.standard_normal(machine.nv))[1]
        tau = rng.standard_normal((BATCH, machine.nv))
        bare = bridge_plain(b)
        Q = bare(b.q_to(q))
        V = b.v_to(q, v)
        T = b.tau_to(q, tau)

        def theirs(
            Q=Q, V=V, T=T, model=model, data=data, models=models, datas=datas, settings=settings
        ):
            for k in range(BATCH):
                pin.constraintDynamics(model, data, Q[k], V[k], T[k], models, datas, settings)

        expected = pin.constraintDynamics(
            model, data, Q[0], V[0], T[0], models, datas, settings
        ).copy()
        got = b.a_to(q[0], v[0], machine.forward_dynamics(q, v, tau)[0])
        error = np.abs(got - expected).max() / np.abs(expected).max()
        mine, peer = interleaved(lambda f=machine.forward_dynamics, s=(q, v, tau): f(*s), theirs)
        print(
            f"{m.name:18} {'batch':8} {peer / BATCH * 1e9:7.0f} ns {mine / BATCH * 1e9:7.0f} ns"
            f" {peer / mine:6.1f} {error:8.0e}"
        )
        one = (q[0].copy(), v[0].copy(), tau[0].copy())
        single, other = interleaved(
            lambda f=machine.forward_dynamics, s=one: [f(*s) for _ in range(CALLS)],
            lambda s=(Q[0], V[0], T[0]), e=(model, data, models, datas, settings): [
                pin.constraintDynamics(e[0], e[1], *s, e[2], e[3], e[4]) for _ in range(CALLS)
            ],
        )
        print(
            f"{'':18} {'one call':8} {other / CALLS * 1e9:7.0f} ns {single / CALLS * 1e9:7.0f} ns"
            f" {other / single:6.2f}"
        )
    open_chain = chain(BODIES)
    pinned = open_chain.with_(
        loops=(
            Joint(
                "pin",
                "ball",
                "ground",
                f"rod{BODIES - 1}",
                Pose(position=(0, 0, -0.1 * BODIES)),
                offset=Pose(position=(0, 0, -0.1)),
            ),
        )
    )
    costs = []
    for m in (open_chain, pinned):
        machine = catena.compile(m)
        q, v, tau = np.zeros((3, BODIES))
        costs.append(best(lambda f=machine.forward_dynamics, s=(q, v, tau): f(*s)) / BODIES)
    print(
        f"a chain of {BODIES} bodies: {costs[0] * 1e9:.0f} ns a body open, {costs[1] * 1e9:.0f} ns"
        f" with its end pinned, ratio {costs[1] / costs[0]:.2f}"
    )


def guess(machine: catena.Machine) -> np.ndarray:
    """Somewhere near a closed place."""
    q = machine.neutral()
    if "base.z" in machine.coordinate_names:
        q[machine.coordinate_names.index("base.z")] = 1.0
    return q


def bridge_plain(b: object) -> object:
    """Pinocchio's revolute joints here have one angle, though unlimited: take the cosines back
    out.
    """

    def out(Q: np.ndarray) -> np.ndarray:
        columns = []
        for j in b.joints:  # type: ignore[attr-defined]
            part = Q[..., j.peer_q : j.peer_q + j.peer_nq]
            columns.append(
                np.arctan2(part[..., 1:], part[..., :1]) if j.kind == "continuous" else part
            )
        return np.ascontiguousarray(np.concatenate(columns, axis=-1))

    return out


if __name__ == "__main__":
    main()
