"""Times with units on the command line, warnings without paths, studies without zarr, --force."""

from __future__ import annotations

import numpy as np
import pytest

import catena
from catena.cli import main
from catena.cli._reading import seconds
from catena.cli.sweep import FILE

DOUBTFUL = """
as_found = true
[[body]]
name = "rod"
mass = 1
com = [0, 0, 0]
inertia = [1, 1, 9]
[[joint]]
name = "pin"
kind = "revolute"
parent = "ground"
child = "rod"
[scenario]
until = 0.01
"""


def _run(*words: str) -> int:
    with pytest.raises(SystemExit) as found:
        main(list(words))
    return int(found.value.code or 0)


@pytest.mark.parametrize(
    ("text", "value"), [("2", 2.0), ("2s", 2.0), ("2 s", 2.0), ("20 ms", 0.02)]
)
def test_times_are_read_as_files_read_them(text, value):
    assert seconds(text) == pytest.approx(value)


def test_until_takes_a_unit(tmp_path, capsys):
    out = str(tmp_path / "run")
    assert _run("run", "pendulum", "--until", "20ms", "--out", out) == 0
    assert catena.load_result(tmp_path / "run" / "results.nc").data["time"].values[-1] == 0.02
    assert _run("run", "pendulum", "--until", "2 kg", "--out", str(tmp_path / "b")) == 2
    assert "the time is '2 kg', a mass; a time is wanted" in capsys.readouterr().err


def test_warnings_name_no_file_of_the_library(tmp_path, capsys):
    path = tmp_path / "rod.toml"
    path.write_text(DOUBTFUL)
    assert _run("run", str(path), "--out", str(tmp_path / "run")) == 0
    said = capsys.readouterr().err
    assert "breaks the triangle inequality" in said
    assert "MechanismWarning" not in said and ".py:" not in said


def test_a_study_without_zarr_is_a_netcdf_file(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("catena.cli.sweep.find_spec", lambda name: None)
    out = tmp_path / "study"
    words = ("--set", "crank=8..12 cm:3", "--measure", "E=max(kinetic)", "--until", "50 ms")
    assert _run("sweep", "four_bar", *words, "--out", str(out), "--no-pictures") == 0
    assert "zarr is not installed" in capsys.readouterr().err
    table = catena.studies.open_study(out / FILE)
    again = catena.study(
        "four_bar", {"crank": "8..12 cm:3"}, measures={"E": "max(kinetic)"}, until=0.05
    ).run()
    np.testing.assert_array_equal(table["E"], again["E"])
    assert table.attrs == again.attrs and table["crank"].attrs["units"] == "m"
    assert _run("plot", str(out)) == 0


def test_optimize_writes_over_what_is_there_when_told(tmp_path, capsys):
    out = tmp_path / "optimum"
    out.mkdir()
    (out / "design.toml").write_text("old")
    words = ("optimize", "balanced_arm", "--out", str(out))
    assert _run(*words) == 2 and "--force to overwrite it" in capsys.readouterr().err
    assert _run(*words, "--force") == 0
    assert (out / "design.toml").read_text() != "old"
