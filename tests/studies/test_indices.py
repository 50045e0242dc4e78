"""Indices of sensitivity beside closed forms."""

from __future__ import annotations

import numpy as np
import pytest

import catena
from catena.errors import StudyError

pytest.importorskip("SALib", reason="SALib, by which indices are computed, is not installed")

A, B = 7.0, 0.1
ROD = catena.Mechanism(
    "rod",
    [catena.Body("rod", 1.0, (0, 0, -0.5), (0.1, 0.1, 0.0))],
    [catena.Joint("pin", "revolute", "ground", "rod", axis=(0, 1, 0))],
    parameters={"x1": 0.0, "x2": 0.0, "x3": 0.0},
)
RANGES = {f"x{k}": catena.studies.uniform(-np.pi, np.pi) for k in (1, 2, 3)}
QUICK = {"until": 1e-3, "integrator": "rk4", "step": 1e-3, "output": 1e-3}


def test_ishigami() -> None:
    """sin x1 + a sin^2 x2 + b x3^4 sin x1: its indices in closed form ([Ishigami1990])."""
    text = f"sin(x1) + {A}*sin(x2)^2 + {B}*x3^4*sin(x1)"
    s = catena.study(
        ROD, RANGES, measures={"ishigami": text, "nothing": "x1 - x1"}, samples=8, **QUICK
    )
    found = s.sensitivity("sobol", samples=2048)
    own = found.sel(measure="ishigami")
    pi = np.pi
    V1 = 0.5 * (1 + B * pi**4 / 5) ** 2
    V2 = A**2 / 8
    V13 = B**2 * pi**8 * (1 / 18 - 1 / 50)
    V = V1 + V2 + V13
    np.testing.assert_allclose(own["S1"], [V1 / V, V2 / V, 0.0], atol=0.03)
    np.testing.assert_allclose(own["ST"], [(V1 + V13) / V, V2 / V, V13 / V], atol=0.03)
    assert float(own["S2"].sel(variable="x1", other="x3")) == pytest.approx(V13 / V, abs=0.05)
    for index, exact in (("S1", [V1 / V, V2 / V, 0.0]), ("ST", [(V1 + V13) / V, V2 / V, V13 / V])):
        assert (np.abs(own[index].values - exact) < 2 * own[f"{index}_conf"].values + 1e-3).all()
    assert not found.sel(measure="nothing")["ST"].values.any()
    assert found.attrs["runs"] == 2048 * 8


def test_morris_and_tornado_of_a_plane() -> None:
    s = catena.study(
        ROD, {**RANGES, "x3": [0.0, 1.0]}, measures={"plane": "2*x1 - x2 + 5"}, samples=8, **QUICK
    )
    morris = s.sensitivity("morris", samples=10).sel(measure="plane")
    np.testing.assert_allclose(morris["mu_star"], [4 * np.pi, 2 * np.pi, 0.0], rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(morris["sigma"], 0.0, atol=1e-9)
    tornado = s.sensitivity("tornado").sel(measure="plane")
    np.testing.assert_allclose(
        tornado["high"] - tornado["low"], [2 * 0.9 * 2 * np.pi, -0.9 * 2 * np.pi, 0.0], atol=1e-9
    )
    assert tornado["nominal"].values == pytest.approx(5.0)


def test_indices_that_cannot_be() -> None:
    s = catena.study(ROD, RANGES, measures={"m": "sqrt(x1)"}, samples=8, **QUICK)
    with pytest.raises(
        StudyError, match=r"of 8192 runs failed, and indices need all of them.*measure 'm' is nan"
    ):
        s.sensitivity()
    with pytest.raises(StudyError, match="need a power of two"):
        s.sensitivity(samples=100)
    with pytest.raises(
        catena.CatenaError, match="no method of sensitivity 'sobel'.*Did you mean 'sobol'"
    ):
        s.sensitivity("sobel")
    with pytest.raises(StudyError, match="'x1' has one value, 1, and so no influence"):
        catena.study(ROD, {"x1": [1.0]}, measures={"m": "x1"}, **QUICK).sensitivity()
