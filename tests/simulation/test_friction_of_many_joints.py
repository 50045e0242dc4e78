"""Many joints with dry friction that stick and slip: against a reference of its own, written here.

The reference takes small equal steps of the classical Runge-Kutta method, with the mass matrix and
the bias of the machine and nothing of `catena.simulation`. It finds an event by bisection of the
step, and the forces of joints at rest by projected Gauss-Seidel sweeps.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import catena
from catena.contact import boxed_forces
from catena.model import Mechanism
from zoo import random_tree

SLIDING = 1e-9  # of the friction: a force nearer to its limit than this lets the joint slip


class SmallSteps:
    """A mechanism of single joints with dry friction F (n,), at q, v (n,), t (s). way (n,): the
    sign of each speed that slips, 0 where it is stuck. events: when joints began to stick or to
    slip, s.
    """

    def __init__(self, mechanism: Mechanism, v: np.ndarray):
        self.machine = catena.compile(mechanism)
        self.F = np.array([x for j in mechanism.moving for x in j.friction])
        self.q, self.v, self.t = np.zeros(len(v)), v.copy(), 0.0
        self.way = np.sign(v)
        self.events: list[float] = []

    def accelerations(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Accelerations, and the forces that hold the joints that are stuck."""
        M, bias = self.machine.mass_matrix(q), self.machine.bias(q, v)
        free = np.flatnonzero(self.way)
        a = np.zeros(len(v))
        a[free] = np.linalg.solve(M[np.ix_(free, free)], (-bias - self.F * self.way)[free])
        return a, np.where(self.way == 0.0, M @ a + bias, 0.0)

    def moved(self, h: float) -> tuple[np.ndarray, np.ndarray]:
        """q and v after a step of h seconds."""
        q, v = self.q, self.v
        a1 = self.accelerations(q, v)[0]
        a2 = self.accelerations(q + h / 2 * v, v + h / 2 * a1)[0]
        a3 = self.accelerations(q + h / 2 * v + h**2 / 4 * a1, v + h / 2 * a2)[0]
        a4 = self.accelerations(q + h * v + h**2 / 2 * a2, v + h * a3)[0]
        return (
            q + h * v + h**2 / 6 * (a1 + a2 + a3),
            v + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4),
        )

    def wrong(self, h: float) -> np.ndarray:
        """Which joints have turned round, or need more than their friction, after h seconds."""
        q, v = self.moved(h)
        return (self.way * v < 0.0) | (np.abs(self.accelerations(q, v)[1]) > self.F)

    def step(self, h: float) -> None:
        """Go h seconds, or to the first event."""
        event = self.wrong(h).any()
        if event:
            low, high = 0.0, h
            for _ in range(60):
                middle = 0.5 * (low + high)
                low, high = (low, middle) if self.wrong(middle).any() else (middle, high)
            which, h = self.wrong(high), high
        self.q, self.v = self.moved(h)
        self.t += h
        if event:
            stuck = self.way == 0.0
            self.v[which | stuck] = 0.0
            self.choose(which | stuck)
            if (stuck != (self.way == 0.0)).any():  # others have only turned round
                self.events.append(self.t)

    def choose(self, rest: np.ndarray) -> None:
        """Let the joints at rest stick, or slip, by projected Gauss-Seidel."""
        M, bias = self.machine.mass_matrix(self.q), self.machine.bias(self.q, self.v)
        W = np.linalg.inv(M)
        mu = np.zeros(len(bias))
        drive = -bias - np.where(rest, 0.0, self.F * self.way)
        for _ in range(3000):
            for k in np.flatnonzero(rest):
                mu[k] = np.clip(mu[k] - W[k] @ (drive + mu) / W[k, k], -self.F[k], self.F[k])
        slips = np.abs(mu) >= self.F * (1.0 - SLIDING)
        self.way = np.where(rest, np.where(slips, -np.sign(mu), 0.0), self.way)


def rough(seed: int, joints: int, friction: float = 1.0) -> Mechanism:
    """A random tree of joints with one freedom, each with dry friction of about so many times the
    moment of its weight.
    """
    rng = np.random.default_rng(seed)
    m = random_tree(seed, [("revolute", "prismatic")[k % 3 == 2] for k in range(joints)])
    weight = 3.0 * friction * np.abs(catena.compile(m).gravity(np.zeros(joints))) + 1.0
    limits = rng.uniform(0.2, 1.0, joints) * weight
    return m.with_(joints=tuple(replace(j, friction=(x,)) for j, x in zip(m.joints, limits)))


@pytest.mark.parametrize("seed, joints", [(1, 2), (2, 4), (3, 8), (4, 12), (5, 20)])
def test_events_are_those_of_small_steps(seed: int, joints: int) -> None:
    until = 0.3
    m = rough(seed, joints)
    v = np.random.default_rng(seed).normal(size=joints)
    run = catena.simulate(m, v=v, until=until)
    reference = SmallSteps(m, v)
    while reference.t < until - 1e-12:
        reference.step(min(1e-3, until - reference.t))
    times = np.unique(np.asarray(run.data["event_time"]))
    assert len(times) == len(reference.events) >= min(2, joints - 1)
    assert np.abs(times - reference.events).max() < 1e-6
    assert np.abs(np.asarray(run.data["q"])[-1] - reference.q).max() < 1e-8
    assert run.ledger.relative_energy_balance < 1e-7


def test_joints_that_stick_do_not_creep() -> None:
    m = rough(6, 20, friction=20.0)
    v = 0.3 * np.random.default_rng(6).normal(size=20)
    run = catena.simulate(m, v=v, until=100.0)
    q = np.asarray(run.data["q"])
    rest = np.flatnonzero(np.asarray(run.data["time"]) > np.asarray(run.data["event_time"])[-1])
    assert len(rest) > 190 and (q[rest] == q[rest[0]]).all()
    assert (np.asarray(run.data["v"])[rest] == 0.0).all()
    assert run.ledger.relative_energy_balance < 1e-7


@pytest.mark.parametrize("rows", [1, 2, 5, 20, 40])
def test_boxed_forces_satisfy_their_conditions(rows: int) -> None:
    rng = np.random.default_rng(rows)
    J = rng.normal(size=(50, rows, rows + 1))
    W, a0 = J @ J.transpose(0, 2, 1), 10.0 * rng.normal(size=(50, rows))
    low = -rng.uniform(0.0, 1.0, (50, rows))
    high = np.where(rng.uniform(size=(50, rows)) < 0.3, 1e300, rng.uniform(0.0, 1.0, (50, rows)))
    x, side = boxed_forces(W, a0, low, high, np.full((50, rows), 1e-11))
    a = a0 + (W @ x[..., None])[..., 0]
    size = np.diagonal(W, axis1=1, axis2=2)
    assert (low <= x + 1e-11).all() and (x <= high + 1e-11).all()
    assert (np.where(side == 0.0, np.abs(a), side * a) <= 1e-9 * size).all()
    assert (x[side < 0.0] == low[side < 0.0]).all() and (x[side > 0.0] == high[side > 0.0]).all()


def test_dependent_rows_share_a_force() -> None:
    """Two joints of one freedom at rest: together they hold twice the friction of one."""
    W = np.ones((1, 2, 2))
    limit = np.ones((1, 2))
    _, side = boxed_forces(W, np.full((1, 2), -1.9), -limit, limit, 1e-10 * limit)
    assert (side == 0.0).any()  # a force within both intervals holds them
    _, side = boxed_forces(W, np.full((1, 2), -2.1), -limit, limit, 1e-10 * limit)
    assert (side == 1.0).all()
