"""Tolerances against a closed form and brute force."""

from __future__ import annotations

import numpy as np
import pytest

import catena
from catena.errors import QuestionError, UnknownNameError
from catena.linkages import tolerances


def test_a_slider_crank_against_its_closed_form():
    """x = r cos(t) + sqrt(l^2 - r^2 sin(t)^2)."""
    linkage = catena.linkages.linkage(catena.load("slider_crank"), "shaft")
    t, r, l, dr, dl = np.array([0.4, 1.1, 2.0]), 0.3, 1.0, 1e-3, 2e-3
    found = tolerances(linkage, t, {"r": dr, "l": dl}, samples=20_000)
    k = found.measures.index("cylinder")
    root = np.sqrt(l**2 - (r * np.sin(t)) ** 2)
    by_r, by_l = np.cos(t) - r * np.sin(t) ** 2 / root, l / root
    assert np.allclose(found.nominal[:, k], r * np.cos(t) + root, atol=1e-14)
    assert np.allclose(found.sensitivity[:, k], np.stack([by_r, by_l], 1), atol=1e-13)
    assert np.allclose(found.linear_bound[:, k], np.abs(by_r) * dr + np.abs(by_l) * dl, atol=1e-15)
    sigma = np.hypot(by_r * dr, by_l * dl) / 3
    assert np.allclose(found.deviation[:, k], sigma, rtol=0.02)
    share = (by_r * dr / 3) ** 2 / sigma**2
    assert np.allclose(found.contributions[:, k, 0], share, atol=1e-12)
    assert dict(found.ranked("cylinder"))["l"] == pytest.approx(1 - share.mean())


def test_worst_case_and_scatter_against_brute_force():
    m = catena.load("four_bar")
    linkage = catena.linkages.linkage(m, "motor pin", frames=["marker"])
    t = {"crank": 1e-3, "coupler": 1e-3, "rocker": 2e-3, "span": 1e-3}
    angle = np.array([0.5, 2.0])
    found = tolerances(linkage, angle, t, distribution="uniform", samples=4000, seed=3)
    k = found.measures.index("marker.y")
    rng = np.random.default_rng(11)
    values = []
    for _ in range(300):
        changed = {name: m.parameters[name] + rng.uniform(-x, x) for name, x in t.items()}
        one = m.with_(parameters={**m.parameters, **changed})
        machine = catena.compile(one)
        q = linkage.positions(angle, parameters=changed).q
        values.append(machine.pose(q, "marker")[:, 1, 3])
    values = np.array(values)
    assert (values >= found.lowest[:, k] - 1e-9).all() and (
        values <= found.highest[:, k] + 1e-9
    ).all()
    assert np.allclose(values.std(axis=0), found.deviation[:, k], rtol=0.12)
    half = 0.5 * (found.highest - found.lowest)[:, k]
    assert np.allclose(half, found.linear_bound[:, k], rtol=0.02)


def test_refusals():
    linkage = catena.linkages.linkage(catena.load("four_bar"), "motor pin")
    with pytest.raises(UnknownNameError, match="no parameter 'cranck'.*'crank'"):
        tolerances(linkage, [0.1], {"cranck": 1e-3})
    with pytest.raises(QuestionError, match="positive"):
        tolerances(linkage, [0.1], {"crank": 0.0})
