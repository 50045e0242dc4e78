"""Pictures of studies: each of them, on tables for which it is and is not; the command line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

import catena
from catena import cli
from catena.errors import CatenaError
from catena.studies import PLOTS, plot, plotting, save


@pytest.fixture(scope="module")
def tables(swings):
    """A table of axes and draws; one of two axes; indices of three kinds."""
    grid = catena.study(
        "two_link_arm",
        {"m2": "1..2 kg:4", "q.elbow": "0..60 deg:5"},
        measures={"top": "max(q['elbow'])", "k": "max(kinetic)"},
        control=None,
        until=0.05,
        integrator="rk4",
        step=1e-3,
        output=0.01,
    )
    return {
        "draws": swings.run(),
        "grid": grid.run(),
        **{
            m: grid.sensitivity(m, samples=n)
            for m, n in (("sobol", 8), ("morris", 4), ("tornado", 1))
        },
    }


SUITED = {
    "heatmap": {"grid"},
    "response": {"draws", "grid"},
    "scatter": {"draws", "grid"},
    "fan": {"draws"},
    "sobol": {"sobol"},
    "morris": {"morris"},
    "tornado": {"tornado"},
}


@pytest.mark.parametrize("kind", PLOTS)
def test_every_picture_of_every_table(kind: str, tables, tmp_path) -> None:
    for name, table in tables.items():
        if name in SUITED[kind]:
            figure = plot(table, kind)
            assert (
                isinstance(figure, Figure)
                and figure.axes
                and figure.get_suptitle() == "two-link arm"
            )
            assert save(table, tmp_path / f"{kind}.png", kind).stat().st_size > 5000
        else:
            with pytest.raises(
                CatenaError, match=f"picture {kind!r} needs .*; this table has none"
            ):
                plot(table, kind)


def test_labels_have_units_and_options_are_checked(tables) -> None:
    ax = plot(tables["grid"]).axes[0]
    assert ax.get_xlabel() == "m2 (kg)" and ax.get_ylabel() == "q.elbow (rad)"
    np.testing.assert_allclose(
        ax.collections[0].get_array().reshape(5, 4),
        catena.studies.as_grid(tables["grid"])["top"].values.T,
    )
    assert (
        plot(tables["grid"], "response", over="q.elbow", measures="k")
        .axes[0]
        .get_legend()
        .get_texts()[0]
        .get_text()
        == "m2 = 1 kg"
    )
    with pytest.raises(CatenaError, match="no option 'over' in the picture 'heatmap'"):
        plot(tables["grid"], "heatmap", over="m2")
    with pytest.raises(CatenaError, match="no measure 'peak' in this table"):
        plot(tables["grid"], "response", measures="peak")
    with pytest.raises(CatenaError, match=r"a picture is saved as .png"):
        save(tables["grid"], "a.jpg")


def test_documentation_has_the_pictures() -> None:
    assert plotting.markdown() in (Path(__file__).parents[2] / "docs" / "studies.md").read_text()


def test_runs_laid_over_each_other(swings) -> None:
    r = swings.result([0, 100, 200])
    for kind in ("coordinates", "energies", "phase", "paths", "cyclograph", "overview"):
        one = r.plot(kind, run=0)
        all_ = r.plot(kind, run="all")
        count = [
            sum(len(ax.lines) + len(ax.collections) for ax in figure.axes) for figure in (one, all_)
        ]
        assert count[1] > 1.5 * count[0]
        for a, b in zip(one.axes, all_.axes):
            assert (
                b.get_xlim()[0] <= a.get_xlim()[0] + 1e-12
                and b.get_ylim()[1] >= a.get_ylim()[1] - 1e-12
            )
    lines = r.plot("coordinates", run=[2, 0]).axes[0].lines
    np.testing.assert_array_equal(lines[0].get_ydata(), r.data["q"].values[2, :, 0])
    np.testing.assert_array_equal(lines[2].get_ydata(), r.data["q"].values[0, :, 0])
    assert [
        t.get_text() for t in r.plot("coordinates", run="all").axes[0].get_legend().get_texts()
    ] == ["shoulder", "elbow"]
    assert r.plot("coordinates", run="all").get_suptitle() == "two-link arm, runs 0 to 2 of 3"
    with pytest.raises(CatenaError, match="run 3 was asked for"):
        r.plot("coordinates", run=[0, 3])
    with pytest.raises(CatenaError, match="run is 'every'"):
        r.plot("coordinates", run="every")


# --- the command line
def sweep(*words: str) -> int:
    with pytest.raises(SystemExit) as leaving:
        cli.main(["sweep", "four_bar", "--until", "0.05", *words])
    return int(leaving.value.code or 0)


def test_sweep(tmp_path, capfd, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")  # a wide terminal: cells stay in one line
    asked = [
        "--set",
        "crank=8..12 cm:4",
        "--set",
        "density=uniform(0.6, 1.0):3",
        "--measure",
        "peak=max(abs(v['motor pin']))",
        "--measure",
        "max(torque['motor pin'])",
        "--out",
        "study",
    ]
    assert sweep(*asked) == 0
    out = " ".join(capfd.readouterr().out.split())  # lines break where the terminal ends
    assert "12 runs, about" in out and "core hours" in out and "the same in all runs" in out
    assert {p.name for p in Path("study").iterdir()} == {
        "study.zarr",
        "heatmap.png",
        "response.png",
        "scatter.png",
    }
    table = catena.studies.open_study("study/study.zarr")
    assert (
        list(table.data_vars) == ["peak", "max(torque['motor pin'])", "failure"]
        and table.sizes["run"] == 12
    )
    assert (
        sweep(*asked) == 2
        and "study holds a study, which --resume goes on with" in capfd.readouterr().err
    )
    assert sweep(*asked, "--resume") == 0
    with pytest.raises(SystemExit):
        cli.main(["plot", "study", "--what", "heatmap", "--out", "pictures"])
    assert Path("pictures/heatmap.png").exists()


def test_sweep_tells_what_failed_and_asks_before_large_ones(tmp_path, capfd, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert (
        sweep("--set", "crank=0.1, 0.6", "--measure", "max(kinetic)", "--no-pictures", "--out", "a")
        == 1
    )
    assert (
        "1 of 2 runs failed:\n  run 1: it cannot be assembled: loop 'near pin'"
        in capfd.readouterr().out
    )
    assert (
        sweep(
            "--set",
            "crank=8..12 cm:100000",
            "--set",
            "span=28..29 cm:100000",
            "--measure",
            "max(kinetic)",
        )
        == 2
    )
    assert "add --yes to run it" in capfd.readouterr().err
    for words, said in (
        (["--set", "crank"], "it is NAME=VALUES"),
        (["--set", "crank=1", "--set", "crank=2"], "'crank' is given twice"),
        (["--set", "crank=8..12 kg:2"], "a mass; a length is wanted"),
    ):
        assert sweep(*words, "--measure", "max(kinetic)") == 2
        assert said in capfd.readouterr().err
