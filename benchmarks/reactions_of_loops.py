"""What do the reactions of all joints of closed mechanisms cost, per state of a batch of 4096, on
one thread? Asked: 2 us for a four-bar.
"""

from __future__ import annotations

import numpy as np
from peers import BATCH, best, size

import catena
from catena.machine.reactions import reactions
from closed import cut_four_bar, spatial_four_bar, stewart


def main() -> None:
    print(f"{'mechanism':20} {'joints':>6} {'rows':>5} {'a state':>10}")
    for make in size((cut_four_bar, spatial_four_bar, stewart), (cut_four_bar,)):
        machine = catena.compile(make(), threads=1)
        rng = np.random.default_rng(0)
        q, v = catena.assemble(machine, None, rng.normal(size=machine.nv))
        states = (
            np.tile(q, (BATCH, 1)),
            v * rng.uniform(0.5, 1.5, (BATCH, 1)),
            rng.normal(size=(BATCH, machine.nv)),
        )
        a = machine.forward_dynamics(*states)
        found = reactions(machine, *states[:2], a, states[2])
        cost = best(lambda m=machine, s=states, a=a: reactions(m, *s[:2], a, s[2])) / BATCH
        print(
            f"{machine.mechanism.name:20} {len(found):6} {machine.spec.sizes.every_row:5}"
            f" {cost * 1e6:7.2f} us"
        )


if __name__ == "__main__":
    main()
