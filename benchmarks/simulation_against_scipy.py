"""How much faster is one adaptive simulation than SciPy's `solve_ivp` with Pinocchio's forward
dynamics inside?

A UR5 falls from rest for 10 s, by DOP853 on both sides, 201 rows of output each. Both are held
against a run at tolerance 1e-12; ours is asked for the same tolerance, and then for the loosest
that is still as accurate as SciPy's. "with rows": the labelled dataset is made too, which a Result
does when it is first looked at. Asked: 30 times, at tolerance 1e-8.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from peers import interleaved, robot, size
from scipy.integrate import solve_ivp

import catena

UNTIL = size(10.0, 0.2)
ROWS = size(201, 5)
TOLERANCE = 1e-8
STARTS = {
    "from its zero": np.zeros(6),
    "from a bent pose": np.array([0.0, -0.5, 0.8, 0.2, 0.4, 0.0]),
}
COLUMNS = (
    ("", 16),
    ("tolerance", 10),
    ("SciPy", 9),
    ("error", 8),
    ("calls", 6),
    ("catena", 9),
    ("error", 8),
    ("calls", 6),
    ("ratio", 6),
    ("with rows", 10),
)


def main() -> None:
    machine, model, _ = robot("ur5")
    data, n = model.createData(), machine.nv
    still = np.zeros(n)
    times = np.linspace(0.0, UNTIL, ROWS)

    def rate(t: float, x: np.ndarray) -> np.ndarray:
        return np.concatenate((x[n:], pin.aba(model, data, x[:n], x[n:], still)))

    print(" ".join(f"{name:>{width}}" for name, width in COLUMNS))
    for words, q in STARTS.items():
        x0 = np.concatenate((q, still))

        def theirs(tolerance: float):
            return solve_ivp(
                rate, (0.0, UNTIL), x0, "DOP853", times, rtol=tolerance, atol=tolerance
            )

        def ours(tolerance: float) -> catena.Result:
            return catena.simulate(machine, q, until=UNTIL, tolerance=tolerance, output=times)

        exact = ours(1e-12).q.values
        found = theirs(TOLERANCE)
        wrong = np.abs(found.y[:n].T - exact).max()
        looser = TOLERANCE * 10.0 ** np.arange(3.0, -3.0, -0.5)
        same = next(x for x in looser if np.abs(ours(x).q.values - exact).max() < wrong)
        for asked in (TOLERANCE, same):
            run = ours(asked)
            a, b = interleaved(lambda: ours(asked), lambda: theirs(TOLERANCE))
            c, d = interleaved(lambda: ours(asked).data, lambda: theirs(TOLERANCE))
            error = np.abs(run.q.values - exact).max()
            print(
                f"{words:>16} {asked:10.1e} {min(b, d) * 1e3:6.1f} ms {wrong:8.1e} {found.nfev:6}"
                f" {a * 1e3:6.2f} ms {error:8.1e} {run.ledger.evaluations:6} {min(b, d) / a:6.1f}"
                f" {min(b, d) / c:10.1f}"
            )


if __name__ == "__main__":
    main()
