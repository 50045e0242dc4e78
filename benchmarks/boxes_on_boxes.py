"""How fast are boxes on boxes by time stepping beside `mujoco.rollout`, on one thread each at the
same step, and how well does each keep the laws?

    stack of 2, of 3     boxes one on another, set down from a millimetre above each other while
                         gravity leans by 0.1 rad, so that friction has to hold them
    pile of 5            dropped one above another, tilted and turned, onto a plane: every box may
                         touch every other

The model of the peer has the same bodies; it runs twice, as it comes and at its best for friction
(see `time_stepping_against_mujoco`). Ratios are of `catena.simulate` whole. Taken from the states
of both sides by the same formulas, over the last fifth of the runs: the deepest overlap of two
boxes, or of a box and the plane, and the creep, the fastest point of a box, when all but a few
piles have come to rest. Our certificate covers all steps; MuJoCo has none.
"""

from __future__ import annotations

import mujoco
import mujoco.rollout
import numpy as np
from peers import size
from time_stepping_against_mujoco import STEP, at_its_best, timed, words

import catena
from catena import Body, Contact, Joint, Mechanism, Shape
from catena.simulation.stepping.stepped_patches import PairLayout, SteppedPair
from touching import SLOPE

BATCH = size(8, 2)
STEPS = size(2000, 20)
GROUND = "ground"
BLOCK = (0.2, 0.15, 0.1)
FRICTION = 0.5
INERTIA = tuple(
    s / 12
    for s in (
        BLOCK[1] ** 2 + BLOCK[2] ** 2,
        BLOCK[0] ** 2 + BLOCK[2] ** 2,
        BLOCK[0] ** 2 + BLOCK[1] ** 2,
    )
)


def boxes(count: int, all_pairs: bool, gravity) -> Mechanism:
    """Free boxes of one kilogram on the plane z = 0."""
    bodies = tuple(
        Body(f"b{i}", 1.0, (0, 0, 0), INERTIA, shapes=(Shape("box", BLOCK, collides=True),))
        for i in range(count)
    )
    names = [(f"b{i}", GROUND) for i in range(count if all_pairs else 1)]
    names += [(f"b{i}", f"b{j}") for i in range(count) for j in range(i) if all_pairs or j == i - 1]
    return Mechanism(
        "boxes",
        bodies,
        tuple(Joint(f"j{i}", "free", GROUND, f"b{i}") for i in range(count)),
        gravity=gravity,
        contacts=tuple(Contact(n, FRICTION, 0.0) for n in names),
    )


def stacked(count: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    one = [
        np.column_stack(
            [
                rng.uniform(-0.01, 0.01, (BATCH, 2)),
                np.full(BATCH, 0.05 + 0.101 * i + 0.001),
                np.tile([1, 0, 0, 0], (BATCH, 1)),
            ]
        )
        for i in range(count)
    ]
    return np.concatenate(one, axis=1)


def dropped(count: int) -> np.ndarray:
    rng, one = np.random.default_rng(1), []
    for i in range(count):
        turn = np.array([1, 0, 0, 0]) + 0.3 * rng.standard_normal((BATCH, 4))
        one.append(
            np.column_stack(
                [
                    rng.uniform(-0.05, 0.05, (BATCH, 2)),
                    np.full(BATCH, 0.15 + 0.25 * i),
                    turn / np.linalg.norm(turn, axis=1)[:, None],
                ]
            )
        )
    return np.concatenate(one, axis=1)


def peer(m: Mechanism) -> str:
    """The same boxes as MuJoCo reads them."""
    half = words(*(x / 2 for x in BLOCK))
    I = words(*INERTIA)
    bodies = "".join(
        f'<body name="{b.name}"><inertial pos="0 0 0" mass="1" diaginertia="{I}"/><freejoint/><geom'
        f' type="box" size="{half}" friction="{FRICTION} 0 0"/></body>'
        for b in m.bodies
    )
    return (
        f'<mujoco><option timestep="{STEP}" gravity="{words(*m.gravity)}"/><worldbody><geom'
        f' type="plane" size="5 5 1" friction="{FRICTION} 0 0"/>{bodies}</worldbody></mujoco>'
    )


def residuals(count: int, q: np.ndarray, v: np.ndarray) -> tuple[float, float]:
    """The deepest overlap (m) and the fastest point (m/s) of states (n, ...)."""
    w, x, y, z = np.moveaxis(q.reshape(len(q), count, 7)[..., 3:], -1, 0)
    R = np.stack(
        [
            1 - 2 * (y * y + z * z),
            2 * (x * y - w * z),
            2 * (x * z + w * y),
            2 * (x * y + w * z),
            1 - 2 * (x * x + z * z),
            2 * (y * z - w * x),
            2 * (x * z - w * y),
            2 * (y * z + w * x),
            1 - 2 * (x * x + y * y),
        ],
        axis=-1,
    )
    p = q.reshape(len(q), count, 7)[..., :3]
    radius = float(np.linalg.norm(BLOCK)) / 2
    lowest = p[..., 2] - np.abs(R[..., 6:] * np.array(BLOCK) / 2).sum(axis=-1)
    pose = np.concatenate([R, p, np.broadcast_to([*BLOCK, radius], (*p.shape[:2], 4))], axis=-1)
    shape = Shape("box", BLOCK)
    pairs = [(i, j) for i in range(count) for j in range(i)]
    layout = PairLayout(
        tuple(SteppedPair(0, f"{i} {j}", "a", shape, "b", shape, "boxes") for i, j in pairs)
    )
    given = np.concatenate(
        [np.concatenate([pose[:, j], pose[:, i]], axis=-1) for i, j in pairs]
        + [np.zeros((len(q), 6 * len(pairs)))],
        axis=-1,
    )
    speed = v.reshape(len(v), count, 6)
    fast = np.linalg.norm(speed[..., :3], axis=-1) + radius * np.linalg.norm(
        speed[..., 3:], axis=-1
    )
    return max(0.0, -float(layout.seen(given).gap.min()), -float(lowest.min())), float(fast.max())


def main() -> None:
    print(f"{'':12} {'':22} {'per step':>11} {'ratio':>6} {'overlap':>12} {'creep':>12}")
    late = slice(-max(1, STEPS // 5), None)
    for name, count, pile in (
        ("stack of 2", 2, False),
        ("stack of 3", 3, False),
        ("pile of 5", size(5, 3), True),
    ):
        m = boxes(count, pile, (0.0, 0.0, -9.81) if pile else SLOPE)
        machine = catena.compile(m, threads=1)
        q = dropped(count) if pile else stacked(count)
        v = np.zeros((BATCH, machine.nv))

        def ours(machine=machine, q=q, v=v):
            return catena.simulate(
                machine,
                q=q,
                v=v,
                until=STEPS * STEP,
                contact="time_stepping",
                step=STEP,
                output=STEP,
                threads=1,
            )

        run = ours()
        mine = timed(ours) / BATCH / STEPS
        nq, nv = machine.nq, machine.nv
        deep, creep = residuals(
            count, run.q.values[:, late].reshape(-1, nq), run.v.values[:, late].reshape(-1, nv)
        )
        c = run.ledger.contact
        print(
            f"{name:12} {'catena':22} {mine * 1e6:8.2f} us {'':6} {deep:10.1e} m {creep:8.1e} m/s  "
            f" residual {c.residual:.0e} ({c.unconverged} steps above {c.asked:.0e} in the worst"
            " run)"
        )
        plain, best = (mujoco.MjModel.from_xml_string(peer(m)) for _ in range(2))
        for title, model in {"as it comes": plain, "at its best": at_its_best(best)}.items():
            data = mujoco.MjData(model)
            state = np.zeros((BATCH, STEPS, 1 + nq + nv))
            first = np.concatenate([np.zeros((BATCH, 1)), q, v], axis=1)
            theirs = (
                timed(
                    lambda model=model, data=data, first=first, state=state: mujoco.rollout.rollout(
                        model, data, first, None, nstep=STEPS, state=state
                    )
                )
                / BATCH
                / STEPS
            )
            deep, creep = residuals(
                count,
                state[:, late, 1 : 1 + nq].reshape(-1, nq),
                state[:, late, 1 + nq :].reshape(-1, nv),
            )
            print(
                f"{'':12} {'MuJoCo ' + title:22} {theirs * 1e6:8.2f} us {theirs / mine:6.2f}"
                f" {deep:10.1e} m {creep:8.1e} m/s"
            )


if __name__ == "__main__":
    main()
