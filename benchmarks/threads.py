"""From which batch on does a second thread help, and does it rest afterwards? Asked: from 512
states on, with the same bits.

The ratio of one thread's time to two threads'. Where a batch is so short that waking a thread would
take longer than the work, the kernel does not wake it, and the ratio is one. `idle` is the
processor time of the process during a second after the last call.
"""

from __future__ import annotations

import time

import numpy as np
from peers import ROBOTS, interleaved, robot, size, states

BATCHES = size((64, 256, 512, 1024, 4096, 32768), (16,))
QUANTITIES = ("inverse_dynamics", "forward_dynamics", "forward_dynamics_derivatives")


def main() -> None:
    print(f"{'robot':8} {'quantity':30}" + "".join(f"{n:>8}" for n in BATCHES))
    for name in ROBOTS:
        alone, both = (robot(name, threads=threads)[0] for threads in (1, 2))
        for quantity in QUANTITIES:
            ratios = []
            for n in BATCHES:
                given = states(alone, min(n, 1024) if quantity.endswith("derivatives") else n)
                one, two = (getattr(machine, quantity) for machine in (alone, both))
                assert all(
                    map(np.array_equal, np.atleast_1d(one(*given)), np.atleast_1d(two(*given)))
                )
                slow, fast = interleaved(
                    lambda f=one, x=given: f(*x), lambda f=two, x=given: f(*x), 5
                )
                ratios.append(slow / fast)
            print(f"{name:8} {quantity:30}" + "".join(f"{ratio:8.2f}" for ratio in ratios))
    began = time.process_time()
    wait = size(1.0, 0.01)
    time.sleep(wait)
    print(f"idle: {(time.process_time() - began) / wait:.1%} of a processor")


if __name__ == "__main__":
    main()
