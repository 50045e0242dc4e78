"""How much faster than Pinocchio is one call from Python on one state? Asked for UR5: 4 times
(inverse), 3 (forward dynamics).
"""

from __future__ import annotations

import pinocchio as pin
from peers import ROBOTS, interleaved, robot, size, states

CALLS = size(1000, 2)


def main() -> None:
    print(f"{'robot':8} {'quantity':18} {'Pinocchio':>10} {'catena':>10} {'ratio':>6}")
    for name in ROBOTS:
        machine, model, b = robot(name)
        data = model.createData()
        q, v, a = (x[0].copy() for x in states(machine, 4))
        qp = b.q_to(q)
        vp = b.v_to(q, v)
        ap = b.a_to(q, v, a)

        def many(f, *args):
            def run():
                for _ in range(CALLS):
                    f(*args)

            return run

        for quantity, ours, theirs in (
            ("inverse_dynamics", machine.inverse_dynamics, pin.rnea),
            ("forward_dynamics", machine.forward_dynamics, pin.aba),
        ):
            mine, peer = interleaved(many(ours, q, v, a), many(theirs, model, data, qp, vp, ap))
            print(
                f"{name:8} {quantity:18} {peer / CALLS * 1e9:7.0f} ns {mine / CALLS * 1e9:7.0f} ns"
                f" {peer / mine:6.2f}"
            )


if __name__ == "__main__":
    main()
