"""Studies: a small one that tests of where it runs share, and what makes two tables equal."""

from __future__ import annotations

import numpy as np

import catena


def swings() -> catena.Study:
    """300 runs of the two-link arm, hanging without motors: masses along an axis, starts drawn; one
    measure is kept over time.
    """
    return catena.study(
        "two_link_arm",
        {"m2": "1..2 kg:3", "q.shoulder": "uniform(-1, 1)", "v.elbow": "normal(0, 0.5)"},
        samples=100,
        seed=3,
        control=None,
        until=0.1,
        integrator="rk4",
        step=1e-3,
        output=0.01,
        measures={
            "end": "final(q['elbow'])",
            "fastest": "max(abs(v['elbow']))",
            "angle": "q['elbow']",
        },
    )


def same_bits(a, b) -> bool:
    """Whether two tables are equal to the last bit."""
    numbers = [n for n in a.variables if a[n].dtype.kind == "f"]
    alike = all(
        np.asarray(a[n].values).tobytes() == np.asarray(b[n].values).tobytes() for n in numbers
    )
    return (
        set(a.variables) == set(b.variables)
        and alike
        and all(str(x) == str(y) for x, y in zip(a["failure"].values, b["failure"].values))
    )
