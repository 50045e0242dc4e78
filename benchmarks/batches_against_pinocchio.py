"""How much faster than Pinocchio are inverse and forward dynamics over a batch, thread for thread?

Input and output in (batch, n) arrays on our side, conversions included; Pinocchio gets the (n,
batch) layout it wants. 32 768 states: smaller batches end before a second thread is awake. Asked,
with one thread: 52 and 67 times for UR5, 40 and 41 for Panda, 30 for Talos.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from peers import ROBOTS, interleaved, robot, size, states


def main() -> None:
    print(
        f"{'robot':8} {'threads':>7} {'quantity':18} {'Pinocchio':>10} {'catena':>9} {'ratio':>6}"
        f" {'error':>8}"
    )
    for name in ROBOTS:
        for threads in (1, 2):
            machine, model, b = robot(name, threads=threads)
            q, v, a = states(machine, size(1 << 15, 64))
            pool = pin.ModelPool(model, threads)
            Q, V, A = (np.asfortranarray(x.T) for x in (b.q_to(q), b.v_to(q, v), b.a_to(q, v, a)))
            for quantity, ours, theirs in (
                ("inverse_dynamics", machine.inverse_dynamics, pin.rneaInParallel),
                ("forward_dynamics", machine.forward_dynamics, pin.abaInParallel),
            ):
                result = b.v_to(q, ours(q, v, a))
                expected = theirs(threads, pool, Q, V, A).T
                error = np.abs(result - expected).max() / np.abs(expected).max()
                mine, peer = interleaved(
                    lambda f=ours: f(q, v, a), lambda f=theirs: f(threads, pool, Q, V, A)
                )
                n = len(q)
                print(
                    f"{name:8} {threads:7} {quantity:18} {peer / n * 1e9:7.0f} ns"
                    f" {mine / n * 1e9:6.1f} ns {peer / mine:6.1f} {error:8.0e}"
                )


if __name__ == "__main__":
    main()
