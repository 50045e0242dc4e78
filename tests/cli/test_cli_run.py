"""The commands on runs and results, as a user types them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import catena
from catena.cli import app

runner = CliRunner()


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """Every test in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def say(*arguments: str):
    return runner.invoke(app, list(arguments))


def test_run_writes_results_pictures_and_the_ledger():
    done = say("run", "triple_pendulum", "--out", "out", "--verify")
    assert done.exit_code == 0, done.output
    said = " ".join(done.output.split())  # however wide the console
    for words in ("the end was reached", "energy balance", "pin1", "-2.90668", "accuracy met: "):
        assert words in said
    assert sorted(os.listdir("out")) == [
        "coordinates.png",
        "cyclograph.png",
        "energies.png",
        "overview.png",
        "reactions.png",
        "results.nc",
    ]
    result = catena.load_result("out/results.nc")
    theta = np.cumsum(result.data["q"].values[-1])  # independently computed, t = 5 s
    np.testing.assert_allclose(
        theta, [-2.906675255006, -2.568998349367, -3.661862425641], atol=1e-7
    )
    assert result.ledger.relative_energy_balance < 1e-9


def test_plot_and_animate_what_run_wrote():
    assert (
        say("run", "two_link_arm", "--until", "0.3", "--out", "out", "--no-pictures").exit_code == 0
    )
    assert os.listdir("out") == ["results.nc"]
    done = say("plot", "out", "--what", "torques", "--what", "paths")
    assert done.exit_code == 0 and done.output.split() == ["out/torques.png", "out/paths.png"]
    assert (
        say(
            "plot",
            "out/results.nc",
            "--what",
            "coordinates",
            "--only",
            "elbow",
            "--degrees",
            "--out",
            "e.pdf",
        ).exit_code
        == 0
    )
    assert say("animate", "out", "--out", "film.html").exit_code == 0
    assert say("animate", "out", "--out", "film.gif", "--rate", "5").exit_code == 0
    assert Path("film.gif").read_bytes()[:3] == b"GIF" and Path("e.pdf").read_bytes()[:4] == b"%PDF"


def test_inverse_along_a_file():
    Path("p.csv").write_text("time,shoulder,elbow\n0,0,0\n0.5,0.5,0.2\n1,1,0.8\n")
    done = say("inverse", "two_link_arm", "--trajectory", "p.csv", "--out", "inv")
    assert done.exit_code == 0, done.output
    assert {"torques.csv", "reactions.csv", "torques.png", "reactions.png", "results.nc"} <= set(
        os.listdir("inv")
    )
    head = Path("inv/reactions.csv").read_text().splitlines()[0].split(",")
    assert head[:3] == ["time", "shoulder torque x", "shoulder torque y"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", "tripple_pendulum"], "Did you mean 'triple_pendulum'"),
        (["run", "nothing.toml"], "there is no such file"),
        (["run", "triple_pendulum", "--until", "-3"], "until = -3.0 s"),
        (["run", "triple_pendulum", "--integrator", "rk5"], "Did you mean 'rk4'"),
        (["run", "triple_pendulum", "--by", "lagrang"], "Did you mean 'lagrange'"),
        (["run", "triple_pendulum", "--tolerance", "5"], "it lies between"),
        (["run", "triple_pendulum", "--resume"], "there is no run to resume"),
        (
            ["run", "triple_pendulum", "--out", "full"],
            "full holds files already; give another --out, or --force",
        ),
        (["run", "triple_pendulum", "--out", "full/file"], "is a file; results go into a folder"),
        (["plot", "nothing.nc"], "there is no such file"),
        (["plot", "full/file"], "this is not a result of catena"),
        (["animate", "nothing.nc", "--out", "x.gif"], "there is no such file"),
        (["inverse", "two_link_arm", "--trajectory", "none.csv"], "there is no such file"),
    ],
)
def test_bad_input_is_one_message_and_status_two(arguments, words):
    Path("full").mkdir()
    Path("full/file").write_text("mine")
    done = say(*arguments)
    assert done.exit_code == 2 and words in done.output, done.output
    assert os.listdir() == ["full"] and os.listdir("full") == ["file"]


def test_a_folder_that_is_there_is_kept_unless_forced():
    assert (
        say("run", "triple_pendulum", "--until", "0.1", "--out", "out", "--no-pictures").exit_code
        == 0
    )
    before = Path("out/results.nc").read_bytes()
    done = say("run", "triple_pendulum", "--until", "0.2", "--out", "out", "--no-pictures")
    assert done.exit_code == 2 and "--resume goes on with if it was broken off" in done.output
    assert Path("out/results.nc").read_bytes() == before
    assert (
        say(
            "run", "triple_pendulum", "--until", "0.2", "--out", "out", "--no-pictures", "--force"
        ).exit_code
        == 0
    )
    assert say("plot", "out", "--what", "energies", "--out", "e.png").exit_code == 0
    assert say("plot", "out", "--what", "energies", "--out", "e.png").exit_code == 2
    assert say("plot", "out", "--what", "energies", "--out", "e.png", "--force").exit_code == 0


def test_accuracy_that_is_not_met_is_status_one():
    options = [
        "--integrator",
        "semi_implicit",
        "--step",
        "0.01",
        "--tolerance",
        "1e-9",
        "--verify",
        "--no-pictures",
    ]
    done = say("run", "triple_pendulum", "--until", "1", "--out", "out", *options)
    assert done.exit_code == 1 and "NOT met" in done.output


def test_a_run_that_cannot_go_on_is_status_one_and_keeps_its_rows():
    Path("s.toml").write_text(
        'mechanism = "two_link_arm"\n[scenario]\nuntil = 1\nintegrator = "rk4"\nstep = 0.05\noutput'
        ' = 0.05\nlimits = "ignore"\ninitial = { v = { elbow = 1e4 } }\n'
    )
    done = say("run", "s.toml", "--out", "out", "--no-pictures")
    assert done.exit_code == 1 and "not a number" in done.output, done.output
    assert not catena.load_result("out/results.nc").complete


@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_then_resumed(how):
    options = [
        "--until",
        "15",
        "--output",
        "0.001",
        "--integrator",
        "rk4",
        "--step",
        "1e-5",
        "--out",
        "out",
        "--no-pictures",
    ]
    # a background shell starts its children with SIGINT ignored; a terminal does not
    program = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler);"
        " from catena.cli import main; main()"
    )
    command = [sys.executable, "-c", program, "run", "triple_pendulum", *options]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not Path("out/results.nc").exists():
        time.sleep(0.05)
    time.sleep(0.3)
    child.send_signal(how)
    _, error = child.communicate(timeout=60)
    assert child.returncode == 130 and "with --resume goes on from there" in error
    part = catena.load_result("out/results.nc")
    assert not part.complete
    done = subprocess.run([*command, "--resume"], capture_output=True, text=True, check=True)
    assert "the end was reached" in done.stdout
    assert catena.load_result("out/results.nc", lazy=True).data.sizes["time"] == 15_001


@pytest.mark.skipif(sys.platform == "win32", reason="closes a file descriptor in a POSIX shell")
def test_a_closed_stdout_is_no_traceback():
    command = [sys.executable, "-c", "from catena.cli import main; main()", "examples"]
    done = subprocess.run(
        ["sh", "-c", '"$@" >&-', "sh", *command], stderr=subprocess.PIPE, text=True, check=False
    )
    assert done.returncode == 0 and done.stderr == ""


def test_a_run_parses_its_file_once_and_compiles_one_machine(monkeypatch):
    from catena.formats import files
    from catena.machine.machine import Machine

    count = {"read": 0, "made": 0}
    reading = files.read
    making = Machine.__init__

    def read(path):
        count["read"] += 1
        return reading(path)

    def made(self, *arguments, **options):
        count["made"] += 1
        making(self, *arguments, **options)

    monkeypatch.setattr(files, "read", read)
    monkeypatch.setattr(Machine, "__init__", made)
    assert (
        say("run", "four_bar", "--until", "0.02", "--output", "0.01", "--out", "out").exit_code == 0
    )
    assert count == {"read": 1, "made": 1}
