"""Our times for benchmark problems that others have published theirs for, with the error of each
run beside its reference.

A01 pendulum, A02 two four-bars, A04 Bricard's linkage: IFToMM library of multibody benchmarks, 10 s
each. Car axis: IVP test set, index 3, 3 s. Each at the loosest tolerance that reaches the error
asked, and at the default of 1e-9. The published times are for orientation: other machines, other
programs, and accuracies of their own.
"""

from __future__ import annotations

import numpy as np
from peers import best, size
from test_loops_in_time import car_axis, reference

import catena
import closed
from catena.model.mechanism import GROUND, Body, Joint, Mechanism

LIBRARY = "OpenSim 3.2, i5-4570"


def pendulum() -> Mechanism:
    """A bob of 1 kg on a massless bar of 1 m."""
    bob = Body("bob", 1.0, (1, 0, 0), (0, 0, 0))
    return Mechanism(
        "A01", (bob,), (Joint("pin", "revolute", GROUND, "bob"),), gravity=(0, -9.81, 0)
    )


def problems():
    """Name, mechanism, start (q, v), times, places known (rows, n), frame and its coordinates,
    error asked, what is published.
    """
    both = reference("A01_A02_N2.json")
    known = both["A01"]
    yield (
        "A01",
        pendulum(),
        ([np.pi], [0.0]),
        known["t"],
        np.array(known["x_y_vx_vy"])[:, :2],
        _bob,
        1e-3,
        f"0.637 s ({LIBRARY})",
    )
    known = both["A02_N2"]
    windows = closed.windows(2)
    speeds = [-1.0 if j.name.startswith("A") else 1.0 for j in windows.moving]
    yield (
        "A02",
        windows,
        (None, speeds),
        known["t"],
        np.array(known["B0_x_y_vx_vy"])[:, :2],
        _post,
        1e-3,
        f"0.455 s ({LIBRARY}); Exudyn 0.078 s, 0.114 J off (i9)",
    )
    known = reference("A04_bricard.json")
    yield (
        "A04",
        closed.bricard(),
        (None, None),
        known["t"],
        np.array(known["q"]),
        lambda r: r.q.values,
        1e-3,
        f"0.258 s ({LIBRARY})",
    )
    known = reference("ivp_car_axis.json")
    start = [0.0, 0.5, 0.0], [1.0, 0.0, -1.0]
    yield (
        "car axis",
        car_axis(),
        start,
        known["t"],
        np.array(known["p_v"])[:, :4],
        _masses,
        1e-6,
        "-",
    )


def _bob(r: catena.Result) -> np.ndarray:
    q = r.q.values[:, 0]
    return np.stack([np.cos(q), np.sin(q)], axis=1)


def _post(r: catena.Result) -> np.ndarray:
    q = r.q.values[:, 0]
    return np.stack([-np.sin(q), np.cos(q)], axis=1)


def _masses(r: catena.Result) -> np.ndarray:
    places = r.poses(["left", "hub"])["position"].values
    return places[:, :, :2].reshape(len(places), 4)


def main() -> None:
    print(
        f"{'problem':10} {'asked':>7} {'tolerance':>9} {'error':>8} {'time':>9} {'steps':>6} "
        " published"
    )
    for name, mechanism, (q, v), times, known, seen, asked, published in [*problems()][
        : size(4, 1)
    ]:
        machine = catena.compile(mechanism)

        def run(tolerance: float) -> catena.Result:
            return catena.simulate(machine, q, v, times[-1], output=times, tolerance=tolerance)

        def wrong(tolerance: float) -> float:
            return float(np.abs(seen(run(tolerance)) - known).max())

        loose = next(
            x
            for x in 10.0 ** np.arange(-2.0, -9.0, -0.5)
            if wrong(x) < asked and wrong(x / 3) < asked
        )
        for tolerance in (loose, 1e-9):
            time = best(lambda: run(tolerance))
            words = published if tolerance == loose else ""
            print(
                f"{name:10} {asked:7.0e} {tolerance:9.1e} {wrong(tolerance):8.1e} {time * 1e3:6.2f}"
                f" ms {run(tolerance).ledger.steps:6}  {words}"
            )


if __name__ == "__main__":
    main()
