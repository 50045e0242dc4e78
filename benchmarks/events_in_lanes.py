"""What do events cost in a batch? 1024 runs of a double pendulum over 2 s, with stops at the limits
of both joints and without.

Two rods of 1 kg and 1 m; the shoulder turns by 1.2 rad to either side, the elbow by 0.8; starts are
drawn inside. Both are whole `simulate` calls at the default tolerance, adaptive, warm, on one
thread each, measured in turns. Asked: within 3 times. The same batch with dry friction that sticks,
and one run at a time in a loop of calls, stand beside it.

    python benchmarks/events_in_lanes.py
"""

from __future__ import annotations

import numpy as np
from peers import best, size

import catena
from catena.model.mechanism import GROUND, Body, Joint, Mechanism
from catena.model.pose import Pose

RUNS = size(1024, 8)
UNTIL = size(2.0, 0.2)
ASKED = 3.0


def double_pendulum(friction: float = 0.0) -> Mechanism:
    """Two rods that swing in the plane x-z.

    o shoulder, |q1| <= 1.2
    |
    o elbow, |q2| <= 0.8
    |
    """
    rods = tuple(
        Body(name, 1.0, (0, 0, -0.5), (1 / 12, 1 / 12, 1e-3)) for name in ("upper", "lower")
    )
    joints = (
        Joint(
            "shoulder",
            "revolute",
            GROUND,
            "upper",
            axis=(0, 1, 0),
            lower=-1.2,
            upper=1.2,
            friction=friction,
        ),
        Joint(
            "elbow",
            "revolute",
            "upper",
            "lower",
            axis=(0, 1, 0),
            placement=Pose(position=(0, 0, -1)),
            lower=-0.8,
            upper=0.8,
            friction=friction,
        ),
    )
    return Mechanism("double pendulum", rods, joints)


def starts() -> tuple[np.ndarray, np.ndarray]:
    """q and v of every run, within the stops."""
    rng = np.random.default_rng(0)
    return rng.uniform(-1.0, 1.0, (RUNS, 2)) * [1.2, 0.8], rng.uniform(-4.0, 4.0, (RUNS, 2))


def main() -> None:
    q, v = starts()
    plain = catena.compile(double_pendulum(), threads=1)
    rough = catena.compile(double_pendulum(friction=0.5), threads=1)
    cases = {
        "without stops": lambda: catena.simulate(plain, q, v, UNTIL, limits="ignore"),
        "stops, no rebound": lambda: catena.simulate(plain, q, v, UNTIL, limits="stop"),
        "stops, restitution 0.5": lambda: catena.simulate(
            plain, q, v, UNTIL, limits="stop", restitution=0.5
        ),
        "dry friction that sticks": lambda: catena.simulate(
            rough, q, v, UNTIL, limits="ignore", friction="stick"
        ),
        "the same, smooth": lambda: catena.simulate(rough, q, v, UNTIL, limits="ignore"),
    }
    events = {name: sum(1 for _ in run().data.get("event", ())) for name, run in cases.items()}
    spent = {
        name: min(t)
        for name, t in zip(
            cases, zip(*[[best(run, 0.0, 1) for run in cases.values()] for _ in range(size(3, 1))])
        )
    }
    print(
        f"{RUNS} runs of {UNTIL:g} s, default tolerance, one"
        f" thread{'':6}{'a call':>10}{'events a run':>14}{'beside none':>13}"
    )
    for name, seconds in spent.items():
        beside = seconds / spent["without stops"]
        print(f"  {name:46}{1e3 * seconds:8.1f} ms{events[name] / RUNS:14.2f}{beside:13.2f}")
    single = size(16, 2)

    def one_by_one():
        for k in range(single):
            catena.simulate(plain, q[k], v[k], UNTIL, limits="stop")

    each = best(one_by_one, 0.0, 2) / single
    print(f"  {'stops, no rebound, by single calls':46}{1e3 * each * RUNS:8.1f} ms")
    print(
        f"stops cost {spent['stops, no rebound'] / spent['without stops']:.2f} times the same"
        f" without; asked: {ASKED:g}"
    )


if __name__ == "__main__":
    main()
