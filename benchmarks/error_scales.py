"""How well is a motion resolved at the default tolerance, whatever its size? A pendulum of 1 um to
1000 km, swings of 1e-9 to 1 rad.

The exact motion is by elliptic functions. Errors of q and v are the largest over 20 radians of the
small swing, beside their amplitudes. Asked: what the tolerance says, 1e-9, times ten, or what
rounding leaves of the motion (ledger.resolution).

    python benchmarks/error_scales.py
"""

from __future__ import annotations

import numpy as np
from peers import size
from scipy.special import ellipj, ellipk

from catena import simulate
from catena.model.mechanism import GROUND, Body, Joint, Mechanism

G = 9.81
LENGTHS = size((1e-6, 1e-3, 1.0, 1e3, 1e6), (1e-6, 1.0))
AMPLITUDES = size((1e-9, 1e-6, 1e-3, 1.0), (1e-6, 1.0))


def pendulum(length: float) -> Mechanism:
    """A point mass on a rod of no mass."""
    return Mechanism(
        "pendulum",
        (Body("rod", 1.0, (0, 0, -length), (0, 0, 0)),),
        (Joint("pin", "revolute", GROUND, "rod", axis=(0, 1, 0)),),
    )


def exact(amplitude: float, rate: float, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """q and v after a release from rest."""
    k = np.sin(0.5 * amplitude)
    sn, cn, _, _ = ellipj(rate * t + ellipk(k * k), k * k)
    return 2.0 * np.arcsin(k * sn), 2.0 * k * rate * cn


def main() -> None:
    """Print the table."""
    print(f"{'length, m':>10} {'amplitude, rad':>15} {'steps':>6} {'error':>9} {'asked':>9}")
    for length in LENGTHS:
        rate = np.sqrt(G / length)
        for amplitude in AMPLITUDES:
            run = simulate(pendulum(length), q=[amplitude], until=20.0 / rate, output=0.4 / rate)
            q, v = exact(amplitude, rate, run.time)
            worst = max(
                np.abs(run.q.values[:, 0] - q).max() / amplitude,
                np.abs(run.v.values[:, 0] - v).max() / (amplitude * rate),
            )
            asked = max(1e-8, run.ledger.resolution)
            print(
                f"{length:10.0e} {amplitude:15.0e} {run.ledger.steps:6d} {worst:9.1e}"
                f" {asked:9.1e}{'' if worst <= asked else '  MISSED'}"
            )


if __name__ == "__main__":
    main()
