"""How much does the choice of frames and speeds change the equations of the same arm?

[Everett1988]: vectors left in the rotating frames they live in, weights varied in a frame of one's
choice, and speeds other than the joint rates make shorter equations. Counted: scalar operations of
the state's rate (q, u) -> (q', u'), all derived in one run; the last column is beside the first
line of the same arm. All lines of an arm give the same accelerations (`tests/test_variational.py`).
"""

from __future__ import annotations

import time

from peers import size

from catena.equations.equations import operations
from catena.equations.formulations.variational import variational
from zoo import arm, pendulum

CHOICES = {
    "spatial arm, 3 links": (
        arm(3),
        {
            "own axes, joint rates": {},
            "ground's axes, joint rates": {"frames": "ground"},
            "all in link 2's axes": {"frames": {"link1": "link2", "link3": "link2"}},
            "own axes, weights varied in each body": {"potential": "body"},
            "own axes; link 3's w_z for joint 3": {"speeds": ("joint1", "joint2", "link3.wz")},
            "own axes; link 2's w_y, link 3's w_z": {"speeds": ("link2.wy", "joint2", "link3.wz")},
            "ground's axes; link 3's w_z": {
                "speeds": ("joint1", "joint2", "link3.wz"),
                "frames": "ground",
            },
        },
    ),
    "spatial arm, 6 links": (
        arm(6),
        {
            "own axes, joint rates": {},
            "ground's axes, joint rates": {"frames": "ground"},
            "own axes; link 3's w_z for joint 3": {
                "speeds": ("joint1", "joint2", "link3.wz", "joint4", "joint5", "joint6")
            },
            "own axes; link 6's w for the wrist": {
                "speeds": ("joint1", "joint2", "link3.wz", "link6.wx", "link6.wy", "link6.wz")
            },
        },
    ),
    "planar pendulum, 3 rods": (
        pendulum(3),
        {
            "own axes, joint rates": {},
            "ground's axes, joint rates": {"frames": "ground"},
            "own axes, each rod's own w": {"speeds": ("rod1.wy", "rod2.wy", "rod3.wy")},
        },
    ),
}


def main() -> None:
    for name, (mechanism, choices) in [*CHOICES.items()][size(0, 2) :]:
        print(f"{name:40} {'derived in':>10} {'operations':>11} {'ratio':>6}")
        first = 0
        for words, choice in choices.items():
            began = time.perf_counter()
            count = operations(variational(mechanism, **choice).derivative)
            first = first or count
            print(
                f"  {words:38} {time.perf_counter() - began:8.2f} s {count:11} {count / first:6.2f}"
            )


if __name__ == "__main__":
    main()
