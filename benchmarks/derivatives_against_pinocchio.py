"""How much faster than Pinocchio are the derivatives of forward dynamics over a batch, on one
thread? Asked: 25 times for Panda, 15 for Talos.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from peers import ROBOTS, interleaved, robot, size, states


def main() -> None:
    print(f"{'robot':8} {'Pinocchio':>10} {'catena':>10} {'ratio':>6} {'error':>8}")
    for name in ROBOTS:
        machine, model, b = robot(name, threads=1)
        data = model.createData()
        q, v, tau = states(machine, size(256 if name == "talos" else 1024, 16))
        Q = b.q_to(q)
        V = b.v_to(q, v)
        TAU = b.tau_to(q, tau)

        def theirs():
            for k in range(len(Q)):
                pin.computeABADerivatives(model, data, Q[k], V[k], TAU[k])

        ours = machine.forward_dynamics_derivatives(q, v, tau)
        pin.computeABADerivatives(model, data, Q[0], V[0], TAU[0])
        expected = data.ddq_dq.copy()
        error = np.abs(b.matrix_to(q[0], ours[0][0]) - expected).max() / np.abs(expected).max()
        mine, peer = interleaved(lambda: machine.forward_dynamics_derivatives(q, v, tau), theirs)
        n = len(q)
        print(
            f"{name:8} {peer / n * 1e9:7.0f} ns {mine / n * 1e9:7.0f} ns {peer / mine:6.1f}"
            f" {error:8.0e}"
        )


if __name__ == "__main__":
    main()
