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
