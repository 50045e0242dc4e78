"""Designs: which values run number k has, whoever asks for it; values with units; lists of runs."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats

import catena
from catena.errors import CatenaError, FormatError, StudyError
from catena.model.dimension_analysis import parameter_units
from catena.studies.design import SCHEMES, design
from catena.studies.ranges import DISTRIBUTIONS, Axis, uniform, values_of


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_run_has_the_same_values_whoever_asks(scheme: str) -> None:
    made = design(
        {
            "a": uniform(0, 1),
            "b": Axis((1.0, 2.0, 3.0)),
            "c": values_of("normal(2, 0.1)", None, "c"),
        },
        None,
        50,
        scheme,
        4,
    )
    whole = made.rows(0, made.runs)
    assert made.shape == (3, 50) and whole.shape == (150, 3) and np.isfinite(whole).all()
    np.testing.assert_array_equal(
        np.concatenate([made.rows(k, min(k + 7, 150)) for k in range(0, 150, 7)]), whole
    )
    # every point of the axes meets the same draws
    np.testing.assert_array_equal(whole[:50, [0, 2]], whole[50:100, [0, 2]])
    np.testing.assert_array_equal(whole[::50, 1], [1, 2, 3])
    other = design({"a": uniform(0, 1)}, None, 50, scheme, 5).rows(0, 50)
    assert not np.isin(other[:, 0], whole[:, 0]).any()


def test_a_latin_hypercube_has_one_draw_in_each_part() -> None:
    found = design({"a": uniform(0, 1), "b": uniform(0, 1)}, None, 40, "lhs", 0).rows(0, 40)
    assert (np.sort((40 * found).astype(int), axis=0) == np.arange(40)[:, None]).all()


def test_a_sobol_sequence_fills_boxes_evenly() -> None:
    """256 points of a scrambled (0, 2)-sequence: one in each of 16 x 16 boxes
    ([Niederreiter1992]).
    """
    found = design({"a": uniform(0, 1), "b": uniform(0, 1)}, None, 256, "sobol", 3).rows(0, 256)
    boxes = (16 * found).astype(int)
    assert len(np.unique(boxes[:, 0] * 16 + boxes[:, 1])) == 256


@pytest.mark.parametrize(
    ("name", "numbers"),
    [
        ("uniform", (1, 3)),
        ("loguniform", (1, 100)),
        ("normal", (2, 0.5)),
        ("lognormal", (2, 0.3)),
        ("triangular", (0, 1, 4)),
    ],
)
def test_draws_have_their_distribution(name: str, numbers: tuple) -> None:
    text = f"{name}({', '.join(map(str, numbers))})"
    how = values_of(text, None, "x")
    draws = design({"x": how}, None, 4000, "random", 1).rows(0, 4000)[:, 0]
    assert scipy.stats.kstest(draws, DISTRIBUTIONS[name].make(*numbers).cdf).pvalue > 1e-3
    frozen = values_of(DISTRIBUTIONS[name].make(*numbers), None, "x")
    np.testing.assert_array_equal(
        design({"x": frozen}, None, 4000, "random", 1).rows(0, 4000)[:, 0], draws
    )


def test_values_with_units() -> None:
    np.testing.assert_allclose(
        values_of("8..12 cm:5", "m", "crank").values, [0.08, 0.09, 0.10, 0.11, 0.12]
    )
    assert values_of("8 mm..12 cm", "m", "crank") == uniform(0.008, 0.12)
    assert values_of("1, 2, 5 cm", "m", "crank") == Axis((0.01, 0.02, 0.05))
    assert values_of("uniform(8 cm, 120 mm):3", "m", "crank") == Axis(
        drawn=uniform(0.08, 0.12), count=3
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("8..12 kg:5", "crank is '8 kg', a mass; a length is wanted"),
        ("12..8 cm:5", "from a lower value to a higher one"),
        ("unifrm(1, 2)", "no distribution 'unifrm'.*Did you mean 'uniform'"),
        ("uniform(2, 1)", "lowest is below highest"),
        ("normal(1)", "normal takes 2 numbers, mean, deviation; found 1"),
        ("8..12 cm:0", "an axis has 1 to"),
        ("8 cm:5", "a count belongs to a range or a distribution"),
        ("", "not a number"),
    ],
)
def test_values_that_cannot_be(text: str, words: str) -> None:
    with pytest.raises(CatenaError, match=words):
        values_of(text, "m", "crank")


def test_units_of_parameters_follow_from_where_they_stand() -> None:
    assert parameter_units(catena.load("four_bar")) == {
        "crank": "m",
        "coupler": "m",
        "rocker": "m",
        "span": "m",
        "density": "kg/m",
    }


def test_a_list_of_runs(tmp_path) -> None:
    path = tmp_path / "runs.csv"
    path.write_text("crank [cm], density\n8, 0.7\n9, 0.8\n")
    s = catena.study(
        "four_bar", {"q.motor pin": [1.2, 1.3]}, rows=path, measures="max(kinetic)", until=0.02
    )
    np.testing.assert_allclose(
        s.design.rows(0, 4),
        [[0.08, 0.7, 1.2], [0.08, 0.7, 1.3], [0.09, 0.8, 1.2], [0.09, 0.8, 1.3]],
    )
    path.write_text("crank [kg], density\n8, high\n")
    with pytest.raises(
        FormatError, match=r"(?s)'crank' is '1 kg', a mass.*'density' holds what is no number"
    ):
        catena.study("four_bar", rows=path, measures="max(kinetic)")
    with pytest.raises(FormatError, match="no such file"):
        catena.study("four_bar", rows=tmp_path / "none.csv", measures="max(kinetic)")


def test_designs_that_cannot_be() -> None:
    for options, words in (
        ({}, "how often is not said"),
        ({"samples": 0}, "whole number from 1 on"),
        ({"samples": 5, "sampling": "grid"}, "no sampling scheme 'grid'"),
        ({"samples": 5, "seed": -1}, "seed is -1"),
    ):
        with pytest.raises(CatenaError, match=words):
            catena.study(
                "four_bar", {"crank": uniform(0.08, 0.12)}, measures="max(kinetic)", **options
            )
    with pytest.raises(StudyError, match="none has a distribution"):
        catena.study("four_bar", {"crank": [0.1]}, samples=4, measures="max(kinetic)")
    with pytest.raises(
        StudyError,
        match=(
            r"(?s)'crnk'.*Did you mean 'crank'.*body.NAME.mass.*'motr pin'.*Did you mean 'motor"
            r" pin'"
        ),
    ):
        catena.study("four_bar", {"crnk": [0.1], "q.motr pin": [1]}, measures="max(kinetic)")
    with pytest.raises(
        StudyError, match=r"(?s)crank is '8 kg', a mass.*density is '1 m', a length; a line density"
    ):
        catena.study("four_bar", {"crank": "8..12 kg:2", "density": "1 m"}, measures="max(kinetic)")
    with pytest.raises(StudyError, match="nothing is varied"):
        catena.study("four_bar", measures="max(kinetic)")
