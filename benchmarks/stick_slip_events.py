"""Are the events of stick and slip of many joints those of an independent reference, and does
nothing creep?

Sixteen random trees of twenty joints with dry friction, from random speeds. The reference
(`tests/simulation/test_friction_of_many_joints.py`) takes small equal steps of the classical
Runge-Kutta method with the mass matrix and the bias of the machine, finds an event by bisection of
the step, and the forces of joints at rest by projected Gauss-Seidel sweeps. Then the same trees
with so much friction that all joints come to rest run for 100 s, by events and by time stepping.

Asked: event times to 1e-6 s, and a drift of exactly zero.

    python benchmarks/stick_slip_events.py            sixteen trees
    python benchmarks/stick_slip_events.py --tiny     two trees of four joints
"""

from __future__ import annotations

import time

import numpy as np
from peers import size
from test_friction_of_many_joints import SmallSteps, rough

import catena

TREES = size(16, 2)
JOINTS = size(20, 4)
UNTIL = size(0.3, 0.1)
STEP = size(2.5e-4, 1e-3)  # s, of the reference
REST = size(100.0, 5.0)  # s, of the runs in which everything comes to rest


def compare(seed: int) -> tuple[int, int, float, float, float]:
    """The number of event times of both, their largest difference (s), the difference of the last
    coordinates, and the seconds of processor time of the run.
    """
    m = rough(seed, JOINTS)
    v = np.random.default_rng(seed).normal(size=JOINTS)
    machine = catena.compile(m)
    catena.simulate(machine, v=v, until=UNTIL, output=UNTIL)
    began = time.process_time()
    run = catena.simulate(machine, v=v, until=UNTIL, output=UNTIL)
    seconds = time.process_time() - began
    reference = SmallSteps(m, v)
    while reference.t < UNTIL - 1e-12:
        reference.step(min(STEP, UNTIL - reference.t))
    found = np.unique(np.asarray(run.data["event_time"]))
    same = len(found) == len(reference.events)
    apart = float(np.abs(found - reference.events).max(initial=0.0)) if same else np.inf
    last = float(np.abs(np.asarray(run.q)[-1] - reference.q).max())
    return len(found), len(reference.events), apart, last, seconds


def drift(seed: int, **options: object) -> float:
    """How far joints move in the second half of a run in which all come to rest, rad or m."""
    m = rough(seed, JOINTS, friction=20.0)
    v = 0.3 * np.random.default_rng(seed).normal(size=JOINTS)
    q = np.asarray(catena.simulate(m, v=v, until=REST, output=REST / 20, **options).q)
    return float(np.abs(q[10:] - q[10]).max())


def main() -> None:
    """Print one line per tree."""
    print(
        f"{'tree':>4} {'events':>7} {'reference':>10} {'times differ':>13} {'q differs':>10}"
        f" {'run':>8} {'drift':>8} {'stepped':>8}"
    )
    worst = 0.0
    for seed in range(1, TREES + 1):
        ours, theirs, apart, last, seconds = compare(seed)
        by_events = drift(seed)
        stepped = drift(seed, contact="time_stepping", step=2e-3)
        worst = max(worst, apart)
        print(
            f"{seed:4} {ours:7} {theirs:10} {apart:11.1e} s {last:10.1e} {seconds:6.3f} s"
            f" {by_events:8.1g} {stepped:8.1g}",
            flush=True,
        )
    print(f"worst difference of event times {worst:.1e} s; asked 1e-6 s")


if __name__ == "__main__":
    main()
