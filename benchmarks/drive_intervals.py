"""How often does the truth lie within the stated 95 % intervals of a drive fit?

Random arms with random masses and lengths, each with offset, viscous and Coulomb friction and one
further law in turn, coloured noise of the forces, noise of positions and speeds, and two logs of
random motions. The law of each robot is known, its coefficients are not. Asked: between 93 and 97 %
of all estimates.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from peers import size

import catena
from catena.identification import FRICTION_LAWS, excitation, fit_drives
from catena.identification.drives import model_search
from catena.identification.drives.friction_laws import JointMotion
from catena.identification.drives.joint_columns import Term

LAWS = {
    "asymmetric": 0.3, "stribeck": 0.8, "power": 0.6, "load": 0.1, "lugre": 0.8, "load_lugre": 0.15,
    "creep": 0.8, "drift": 1.0, "ripple": 0.3,
}  # fmt: skip


def random_arm(rng):
    arm = catena.load("two_link_arm")
    values = {n: x * rng.uniform(0.6, 1.6) for n, x in arm.parameters.items()}
    joints = [replace(j, armature=(0.0,)) for j in arm.joints]
    return catena.compile(arm.with_(parameters=values, joints=joints))


def log(arm, law, shape, truth, colour, rng, step=0.01):
    t = np.arange(0.0, 10.0, step)
    q, v, a = excitation(arm, "inertial", trials=1, seed=int(rng.integers(1e6)))(t)
    load = arm.inverse_dynamics(q, v, a)
    tau = load.copy()
    for k in range(2):
        own = JointMotion(t, q[:, k], v[:, k], a[:, k], load[:, k], q[:, k])
        tau[:, k] += truth[k][0] + truth[k][1] * v[:, k] + truth[k][2] * np.tanh(v[:, k] / 0.01)
        tau[:, k] += truth[k][3] * np.sum(FRICTION_LAWS[law].columns(own, shape), axis=0)
    e = 0.03 * np.sqrt(np.mean(tau**2, axis=0)) * rng.standard_normal(tau.shape)
    for k in range(1, len(t)):
        e[k] += colour * e[k - 1]
    columns = {"time": t}
    for k, n in enumerate(arm.speed_names):
        columns[f"q {n}"] = q[:, k] + 1e-6 * rng.standard_normal(len(t))
        columns[f"v {n}"] = v[:, k] + 1e-4 * rng.standard_normal(len(t))
        columns[f"tau {n}"] = (tau + e)[:, k]
    return columns


inside: dict[str, list[bool]] = {}
robots = size(200, 2)
required = model_search.BASIC
for seed in range(robots):
    rng = np.random.default_rng(seed)
    law = list(LAWS)[seed % len(LAWS)]
    shapes = FRICTION_LAWS[law].shapes or ((float(rng.integers(30, 200)),),)
    term = Term(law, shapes[int(rng.integers(len(shapes)))])
    arm = random_arm(rng)
    truth = rng.uniform(0.5, 1.5, (2, 4)) * [0.2, 0.5, 1.0, LAWS[law]]
    colour = rng.uniform(0.0, 0.9)
    logs = [log(arm, law, term.shape, truth, colour, rng) for _ in range(2)]
    model_search.BASIC = (*required, term)  # the law is known; its coefficients are not
    found = fit_drives(arm, logs, laws=(), cutoff=20.0)
    true = {e.name: e.before for e in found.estimates if "shoulder" not in e.name}
    for k, n in enumerate(arm.speed_names):
        true |= {f"offset of {n}": truth[k][0], f"viscous of {n}": truth[k][1]}
        true |= {f"coulomb (0.01) of {n}": truth[k][2], f"rotor of {n}": 0.0}
        true |= {f"{name} of {n}": truth[k][3] for name in term.names}
    held = [abs(e.value - true[e.name]) < 1.96 * e.sigma for e in found.estimates]
    inside.setdefault(law, []).extend(held)
model_search.BASIC = required
every = [x for of in inside.values() for x in of]
print(
    f"{robots} robots, {len(every)} estimates: {100 * np.mean(every):.1f} % within 95 % intervals"
)
for law, of in inside.items():
    print(f"  {law:12s} {100 * np.mean(of):.1f} % of {len(of)}")
