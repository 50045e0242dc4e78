"""The double pendulum of the RealAIGym leaderboard, written out independently of catena: its
equations, its integration by RK4 with steps of 2 ms, and its scores.

Parameters are those of design C.1, model 1.0 of dfki-ric-underactuated-lab/double_pendulum, without
friction and motor inertia, as in the simulation track; the scores are those of its leaderboard
`simulation_v2` for the acrobot. Angles are zero when it hangs; the second is relative to the first
link. All functions take many runs side by side: states (n, 4) = (q1, q2, v1, v2), torques (n,).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

DT, FINAL_TIME, TORQUE_LIMIT = 0.002, 10.0, 6.0
GOAL = np.array([np.pi, 0.0, 0.0, 0.0])


@dataclass(frozen=True)
class Parameters:
    """Numbers, or arrays (n,) of n runs: masses, lengths, centres of mass, inertias about the
    joints, damping, dry friction, motor inertia; SI.
    """

    m1: object = 0.5234602302310271
    m2: object = 0.6255677234174437
    l1: float = 0.2
    l2: float = 0.3
    r1: object = 0.2
    r2: object = 0.25569305436052964
    I1: object = 0.031887199591513114
    I2: object = 0.05086984812807257
    g: float = 9.81
    b1: object = 0.0
    b2: object = 0.0
    cf1: object = 0.0
    cf2: object = 0.0
    Ir: object = 0.0
    gr: float = 6.0


def rate(p: Parameters, x: np.ndarray, tau2: np.ndarray, tau1: np.ndarray | float = 0.0):
    """Return the rate (n, 4) of states (n, 4) under the torques of the two joints."""
    q1, q2, v1, v2 = x.T
    c, s = np.cos(q2), np.sin(q2)
    h = p.m2 * p.l1 * p.r2
    M11 = p.I1 + p.I2 + p.m2 * p.l1**2 + 2 * h * c + p.gr**2 * p.Ir + p.Ir
    M12 = p.I2 + h * c - p.gr * p.Ir
    M22 = p.I2 + p.gr**2 * p.Ir
    G1 = p.m1 * p.g * p.r1 * np.sin(q1) + p.m2 * p.g * (p.l1 * np.sin(q1) + p.r2 * np.sin(q1 + q2))
    G2 = p.m2 * p.g * p.r2 * np.sin(q1 + q2)
    f1 = p.b1 * v1 + p.cf1 * np.arctan(100 * v1)
    f2 = p.b2 * v2 + p.cf2 * np.arctan(100 * v2)
    e1 = tau1 - G1 - f1 + h * s * (2 * v1 * v2 + v2**2)
    e2 = tau2 - G2 - f2 - h * s * v1**2
    d = M11 * M22 - M12**2
    return np.stack([v1, v2, (M22 * e1 - M12 * e2) / d, (M11 * e2 - M12 * e1) / d], axis=1)


def step(p: Parameters, x: np.ndarray, tau2: np.ndarray, tau1: np.ndarray | float = 0.0):
    """Return the states after DT, by RK4 with constant torques."""
    k1 = rate(p, x, tau2, tau1)
    k2 = rate(p, x + 0.5 * DT * k1, tau2, tau1)
    k3 = rate(p, x + 0.5 * DT * k2, tau2, tau1)
    k4 = rate(p, x + DT * k3, tau2, tau1)
    return x + DT / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def performance(p: Parameters, t: np.ndarray, x: np.ndarray, u: np.ndarray) -> dict[str, float]:
    """Return the terms and the score of one run: t (n,), x (n, 4), u (n,) of the elbow."""
    height = -p.l1 * np.cos(x[:, 0]) - p.l2 * np.cos(x[:, 0] + x[:, 1])
    up = height > 0.9 * (p.l1 + p.l2)
    first = len(t) - 1
    while first > 1 and up[first - 1]:
        first -= 1
    dt = np.diff(t)
    terms = {
        "swing-up time, s": (t[first], 20.0),
        "energy, J": (np.abs(np.diff(x[:, 1]) * u[:-1]).sum(), 60.0),
        "torque cost, N2m2s": ((dt * u[:-1] ** 2).sum(), 20.0),
        "smoothness, N m": (np.std(np.diff(u)), 0.1),
        "velocity cost, 1/s": ((dt[:, None] * x[:-1, 2:] ** 2).sum(), 400.0),
    }
    lost = sum(np.tanh(np.pi * value / norm) for value, norm in terms.values()) / len(terms)
    found = {name: float(value) for name, (value, _) in terms.items()}
    return {**found, "score": float(t[first] < t[-1]) * (1.0 - lost)}


def arrived(x: np.ndarray) -> np.ndarray:
    """Return whether the last states (n, 4) count as upright in the robustness track."""
    e = x - GOAL
    e[:, :2] = (e[:, :2] + np.pi) % (2 * np.pi) - np.pi
    return (np.abs(e) < [0.35, 0.35, 1.0, 1.0]).all(axis=1)


@dataclass(frozen=True)
class Disturbances:
    """What the robustness track varies, for n runs: the plant, the deviations of measured speeds
    (n,) and of torques (n,), the response of the motor (n,), the delay in steps (n,), and torques
    (steps, n, 2) that push both joints.
    """

    plant: Parameters
    speed_noise: np.ndarray
    torque_noise: np.ndarray
    response: np.ndarray
    delay: np.ndarray
    pushes: np.ndarray


GROUPS = ("model", "measurement_noise", "u_noise", "u_responsiveness", "delay", "perturbation")
VALUES, REPEATS, PUSHED_RUNS = 21, 10, 50


def disturbances(p: Parameters, rng: np.random.Generator) -> tuple[Disturbances, np.ndarray]:
    """Return all runs of the robustness track `robustness_v2`, and the group of each (n,)."""
    sizes = (10 * VALUES, VALUES * REPEATS, VALUES * REPEATS, VALUES, VALUES, PUSHED_RUNS)
    group = np.repeat(np.arange(6), sizes)
    n = len(group)
    share, wide = np.linspace(0.75, 1.25, VALUES), np.linspace(-1.0, 1.0, VALUES)
    table = {name: np.full(n, float(getattr(p, name))) for name in Parameters.__annotations__}
    changes = (
        ("Ir", np.linspace(0.0, 1e-4, VALUES)),
        ("r1", p.r1 * share),
        ("I1", p.I1 * share),
        ("b1", 0.1 * wide),
        ("cf1", 0.2 * wide),
        ("r2", p.r2 * share),
        ("m2", p.m2 * share),
        ("I2", p.I2 * share),
        ("b2", 0.1 * wide),
        ("cf2", 0.2 * wide),
    )
    for k, (name, values) in enumerate(changes):
        rows = slice(k * VALUES, (k + 1) * VALUES)
        table[name][rows] = values
    levels = np.repeat(np.linspace(0.0, 1.0, VALUES), REPEATS)
    speed, torque, response = np.zeros(n), np.zeros(n), np.ones(n)
    speed[group == 1], torque[group == 2] = 0.5 * levels, 1.1 * levels
    response[group == 3] = np.linspace(0.1, 2.0, VALUES)
    delay = np.zeros(n, int)
    delay[group == 4] = (np.linspace(0.0, 0.04, VALUES) / DT + 1e-9).astype(int)
    pushes = np.zeros((round(FINAL_TIME / DT), n, 2))
    t = DT * np.arange(len(pushes))
    for k in np.flatnonzero(group == 5):
        at = np.cumsum(1.0 + rng.random(6) * (FINAL_TIME - 7.0) / 6.0)
        rng.shuffle(at)
        width = rng.uniform(0.05, 0.1, 6)
        force = rng.uniform(-4.5, 4.5, 6)
        force += 0.5 * np.sign(force)
        for i in range(6):
            pushes[:, k, i // 3] += force[i] * np.exp(-((t - at[i]) ** 2) / (2 * width[i] ** 2))
    return Disturbances(Parameters(**table), speed, torque, response, delay, pushes), group


def robustness(p: Parameters, controller, seed: int = 0) -> dict[str, float]:
    """Return the score of each group, and their mean. controller(t, x (n, 4)) -> torques (n,)."""
    rng = np.random.default_rng(seed)
    d, group = disturbances(p, rng)
    n = len(group)
    x, last = np.zeros((n, 4)), np.zeros(n)
    past = np.zeros((int(d.delay.max()) + 1, n, 4))
    runs = np.arange(n)
    for k in range(len(d.pushes)):
        past[k % len(past)] = x
        seen = past[(k - np.minimum(d.delay, k)) % len(past), runs]
        seen[:, 2:] += d.speed_noise[:, None] * rng.standard_normal((n, 2))
        u = last + d.response * (controller(k * DT, seen) - last)
        u = np.clip(u + d.torque_noise * rng.standard_normal(n), -TORQUE_LIMIT, TORQUE_LIMIT)
        last = u + d.pushes[k, :, 1]
        x = step(d.plant, x, last, d.pushes[k, :, 0])
    good = arrived(x)
    found = {}
    for k, name in enumerate(GROUPS):
        own = good[group == k]
        if name in ("measurement_noise", "u_noise"):  # a level counts if most of its runs arrive
            own = own.reshape(VALUES, REPEATS).mean(axis=1) > 0.5
        found[name] = float(own.mean())
    return {**found, "score": float(np.mean(list(found.values())))}


def energy(p: Parameters, x: np.ndarray) -> np.ndarray:
    """Return the energies (n,) of states (n, 4), J."""
    q1, q2, v1, v2 = x.T
    M12 = p.I2 + p.m2 * p.l1 * p.r2 * np.cos(q2)
    M11 = p.I1 + p.m2 * p.l1**2 + 2 * M12 - p.I2
    kinetic = 0.5 * (M11 * v1**2 + 2 * M12 * v1 * v2 + p.I2 * v2**2)
    height = p.m1 * p.r1 * np.cos(q1) + p.m2 * (p.l1 * np.cos(q1) + p.r2 * np.cos(q1 + q2))
    return kinetic - p.g * height


if __name__ == "__main__":
    p, x = Parameters(), np.array([[1.0, 0.5, 0.0, 0.0]])
    before = energy(p, x)
    for _ in range(500):
        x = step(p, x, np.zeros(1))
    print(f"energy that one second of a free swing loses: {abs(energy(p, x) - before)[0]:.1e} J")
