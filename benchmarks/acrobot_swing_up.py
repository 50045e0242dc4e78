"""The acrobot of the RealAIGym leaderboard: swing-up by an optimised motion, TVLQR along it and LQR
at the top. Which scores does it get?

    python benchmarks/acrobot_swing_up.py

The motion minimises the score's own terms by direct collocation (Ipopt); the two regulators are
those of `catena.control`, with gains of a sampled controller at 500 Hz. Plant and scores are in
`acrobot_plant.py`, which does not use catena. Asked: performance above 0.655, robustness above
0.861.
"""

from __future__ import annotations

import casadi as ca
import numpy as np
from acrobot_plant import (
    DT,
    FINAL_TIME,
    GOAL,
    TORQUE_LIMIT,
    Parameters,
    performance,
    rate,
    robustness,
    step,
)
from peers import size

import catena
from catena.control import lqr, tvlqr

INTERVALS = size(120, 20)
MAX_ITERATIONS = size(600, 3)
Q_TRACK, R_TRACK = np.diag([10.0, 10.0, 1.0, 1.0]), 20.0
Q_TOP, R_TOP = np.diag([1.0, 1.0, 0.1, 0.1]), 50.0


def acrobot(p: Parameters) -> catena.Mechanism:
    """The same double pendulum for catena; inertias about the centres of mass."""
    links = []
    for name, m, r, I in (("upper", p.m1, p.r1, p.I1), ("lower", p.m2, p.r2, p.I2)):
        own = I - m * r**2
        links.append(catena.Body(name, m, com=(0, -r, 0), inertia=(own, own, own)))
    joints = [
        catena.Joint("shoulder", "revolute", "ground", "upper"),
        catena.Joint("elbow", "revolute", "upper", "lower", placement=(0, -p.l1, 0)),
    ]
    return catena.Mechanism("acrobot", links, joints, gravity=(0, -p.g, 0))


def optimise(machine: catena.Machine, seed: int = 2) -> tuple[np.ndarray, ...]:
    """Return t, x (n, 4) and u (n,) of a swing-up that minimises the terms of the score."""
    N = INTERVALS
    X, U, T, S = ca.MX.sym("X", 4, N + 1), ca.MX.sym("U", N + 1), ca.MX.sym("T"), ca.MX.sym("S", 4)
    h = T / N
    x, u = ca.SX.sym("x", 4), ca.SX.sym("u")
    s = catena.compiler.Tracer(machine.layout)
    a = ca.Function("a", [s.q, s.v, s.tau], [s.forward_dynamics()])(x[:2], x[2:], ca.vertcat(0, u))
    f = ca.Function("f", [x, u], [ca.vertcat(x[2:], a)])
    K = f.map(N + 1)(X, U.T)
    middle = 0.5 * (X[:, :-1] + X[:, 1:]) + h / 8 * (K[:, :-1] - K[:, 1:])
    Km = f.map(N)(middle, 0.5 * (U[:-1] + U[1:]).T)
    defects = X[:, 1:] - X[:, :-1] - h / 6 * (K[:, :-1] + 4 * Km + K[:, 1:])
    w = np.r_[0.5, np.ones(N - 1), 0.5]
    changes = (U[1:] - U[:-1]) / h * DT
    sums = ca.vertcat(
        h * ca.sum1(w * U**2),
        h * ca.sum1(w * (X[2, :] ** 2 + X[3, :] ** 2).T),
        h * ca.sum1(w * ca.sqrt((U * X[3, :].T) ** 2 + 1e-4)),
        ca.sum1(changes**2) * (h / DT) * DT / FINAL_TIME,
    )
    terms = (T / 20, S[2] / 60, S[0] / 20, ca.sqrt(S[3] + 1e-8) / 0.1, S[1] / 400)
    cost = sum(ca.tanh(np.pi * y) for y in terms)
    rows = ca.vertcat(ca.vec(defects), X[:, 0], X[:, -1] - GOAL, U[0], U[-1], sums - S)
    solver = ca.nlpsol(
        "swing",
        "ipopt",
        {"x": ca.vertcat(ca.vec(X), U, T, S), "f": cost, "g": rows},
        {"ipopt.print_level": 0, "print_time": 0, "ipopt.max_iter": MAX_ITERATIONS},
    )
    best = None
    for k in range(size(3, 1)):
        rng = np.random.default_rng(seed + k)
        tau = np.linspace(0.0, 1.0, N + 1)
        length, beats = rng.uniform(1.2, 2.5), rng.uniform(1, 4)
        guess = np.zeros((4, N + 1))
        swing = np.sin(2 * np.pi * beats * tau)
        guess[0] = np.pi * tau**2 + 3 * rng.normal() * swing * tau * (1 - tau)
        guess[1] = 2 * rng.normal() * swing * (1 - tau)
        guess[2:] = np.gradient(guess[:2], length / N, axis=1)
        start = np.r_[guess.T.ravel(), rng.normal() * swing, length, 5, 40, 9, 1e-4]
        n = 5 * (N + 1)
        low = np.r_[np.full(4 * (N + 1), -40.0), np.full(N + 1, -5.0), 0.8, np.zeros(4)]
        high = np.r_[np.full(4 * (N + 1), 40.0), np.full(N + 1, 5.0), 8.0, np.full(4, 1e4)]
        found = solver(x0=start, lbx=low, ubx=high, lbg=0, ubg=0)
        value, z = float(found["f"]), np.array(found["x"]).ravel()
        good = solver.stats()["success"]
        print(f"start {k}: {'found' if good else 'failed'}, score {1 - value / 5:.4f}", flush=True)
        if (good or size(0, 1)) and (best is None or value < best[0]):
            best = value, z
    if best is None:
        raise SystemExit("no start led to a swing-up")
    z = best[1]
    t = np.linspace(0.0, z[n], N + 1)
    return t, z[: 4 * (N + 1)].reshape(N + 1, 4), z[4 * (N + 1) : n]


class SwingUp:
    """The controller, for many runs side by side."""

    def __init__(self, machine: catena.Machine, motion: tuple[np.ndarray, ...]):
        t, x, u = motion
        tau = np.stack([0 * u, u], axis=1)
        upright = catena.linearize(machine, GOAL[:2], actuated=["elbow"])
        self.top = lqr(upright, Q_TOP, R_TOP, sample=DT)
        self.track = tvlqr(
            machine,
            (t, x[:, :2], x[:, 2:], tau),
            Q_TRACK,
            R_TRACK,
            final=10 * self.top.P,
            actuated=["elbow"],
            sample=DT,
        )
        m = self.track.motion
        self.x, self.u = np.hstack([m.q, m.v]), m.tau[:, 1]
        self.before = np.zeros((1, 4))  # angles at the last sample, mean speeds before it

    def __call__(self, t: float, x: np.ndarray) -> np.ndarray:
        """Return the torques (n,) of the elbow for measured states (n, 4)."""
        k = round(t / DT)
        # angles are measured exactly, speeds are not: the speed between two samples, continued by
        # half a sample with the last acceleration
        if k == 0:
            self.before = np.hstack([x[:, :2], 0 * x[:, :2]])
        mean = (x[:, :2] - self.before[:, :2]) / DT
        v = 1.5 * mean - 0.5 * self.before[:, 2:4] if k else x[:, 2:]
        self.before = np.hstack([x[:, :2], mean])
        x = np.hstack([x[:, :2], v])
        if k < len(self.u) - 1:
            e = x - self.x[k]
            u = self.u[k] - e @ self.track.K[k, 0]
        else:
            e = x - GOAL
            e[:, :2] = (e[:, :2] + np.pi) % (2 * np.pi) - np.pi
            u = -e @ self.top.K[0]
        return np.clip(u, -TORQUE_LIMIT, TORQUE_LIMIT)


def simulate(p: Parameters, controller: SwingUp) -> tuple[np.ndarray, ...]:
    """Return t, x and u of one run."""
    count = round(FINAL_TIME / DT)
    x, u = np.zeros((count + 1, 4)), np.zeros(count + 1)
    for k in range(count):
        u[k] = controller(k * DT, x[k : k + 1].copy())[0]
        x[k + 1] = step(p, x[k : k + 1], u[k])[0]
    u[count] = u[count - 1]
    return DT * np.arange(count + 1), x, u


def main() -> None:
    p = Parameters()
    machine = catena.compile(acrobot(p))
    rng = np.random.default_rng(0)
    x, u = rng.standard_normal((5, 4)), rng.standard_normal(5)
    mine = machine.forward_dynamics(x[:, :2], x[:, 2:], np.stack([0 * u, u], axis=1))
    print(f"catena against the written-out plant: {np.abs(mine - rate(p, x, u)[:, 2:]).max():.1e}")
    motion = optimise(machine)
    controller = SwingUp(machine, motion)
    scores = {"performance": performance(p, *simulate(p, controller))}
    if size(True, False):
        scores["robustness"] = robustness(p, controller)
    for title, found in scores.items():
        print(title)
        for name, value in found.items():
            print(f"    {name:24s} {value:8.4f}")


if __name__ == "__main__":
    main()
