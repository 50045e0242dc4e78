"""`catena new`, `convert` and `doctor`: the first commands of a new user."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

import pytest
from typer.testing import CliRunner

import catena
from catena.cli import app
from catena.cli.doctor import EXTRAS, FOR_DEVELOPERS
from catena.simulation.scenario import read


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def say(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, list(arguments))
    return done.exit_code, " ".join(done.output.split())


def test_the_starter_file_runs_and_keeps_its_energy():
    status, text = say("new", "arm")
    assert status == 0 and "catena run arm.toml" in text
    scenario = read("arm.toml")
    assert scenario.mechanism.name == "arm"
    result = catena.simulate(
        scenario.mechanism, scenario.q, scenario.v, scenario.until, **scenario.options
    )
    assert result.ledger.relative_energy_balance < 1e-9


def test_a_file_that_exists_is_kept():
    Path("arm.toml").write_text("mine")
    status, text = say("new", "arm")
    assert status == 2 and "arm.toml exists already" in text and "--force" in text
    assert Path("arm.toml").read_text() == "mine"


def test_a_copy_of_an_example():
    assert say("new", "mine", "--like", "four_bar")[0] == 0
    assert catena.load("mine.toml") == catena.load("four_bar")
    status, text = say("new", "other", "--like", "four_baar")
    assert status == 2 and "Did you mean 'four_bar'?" in text


@pytest.mark.filterwarnings("ignore::catena.errors.MechanismWarning")
def test_convert_says_what_the_new_file_holds():
    assert "is equal to the mechanism of the first file" in say("convert", "four_bar", "a.toml")[1]
    status, text = say("convert", "two_link_arm", "arm.xml")
    assert status == 0 and "its mass matrix differs" in text
    status, text = say("convert", "two_link_arm", "arm.urdf")
    assert status == 2 and "URDF has no parameters" in text
    status, text = say("convert", "two_link_arm", "arm.step")
    assert status == 2 and "the suffix '.step' is not known" in text


def test_doctor_knows_every_extra():
    status, text = say("doctor")
    assert status == 0 and "doubles in a vector register" in text
    extras = set(metadata.metadata("catena").get_all("Provides-Extra") or ())
    assert extras - FOR_DEVELOPERS == set(EXTRAS)
