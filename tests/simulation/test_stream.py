"""A run that goes to disk: the same rows as one in memory; broken off anywhere and resumed, the same bits."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import xarray as xr

import catena
from catena.errors import CatenaError, SimulationError
from catena.results import storage
from catena.results.result import load_result
from catena.simulation import runner
from catena.simulation.run import simulate
from catena.simulation.scenario import read
from catena.simulation.stream import stream


@pytest.fixture
def short(monkeypatch):
    """Slices so short that a small run has many, each of them written."""
    monkeypatch.setattr(runner, "ROWS", 16)
    monkeypatch.setattr(runner, "STEPS", {"adaptive": 10, "library": 10})
    monkeypatch.setattr(runner, "EQUAL_STEPS", 64)
    monkeypatch.setattr("catena.simulation.stream.EVERY", 0.0)


class Stopped:
    """A progress that presses Ctrl-C once a time is passed."""

    def __init__(self, at: float):
        self.at = at

    def __call__(self, t: float) -> None:
        if t > self.at:
            raise KeyboardInterrupt


def same(a, b) -> None:
    for name in a.data.variables:
        np.testing.assert_array_equal(a.data[name].values, b.data[name].values, err_msg=name)
    assert (a.ledger.steps, a.ledger.evaluations, a.ledger.outcome) == (b.ledger.steps, b.ledger.evaluations, b.ledger.outcome)


def test_the_file_is_the_result_of_simulate(tmp_path):
    m = catena.load("triple_pendulum")
    found = load_result(stream(m, tmp_path / "r.nc", until=1.0, output=0.01).save(tmp_path / "copy.nc"))
    wanted = simulate(m, until=1.0, output=0.01)
    xr.testing.assert_identical(found.data, wanted.data)
    assert found.ledger.complete and found.ledger.outcome == wanted.ledger.outcome


def test_the_ledger_of_the_file_is_that_of_simulate(tmp_path):
    """On a loop that drifts and loses energy by long steps, so that nothing in it is zero."""
    run = {"until": 0.5, "output": 0.01, "integrator": "rk4", "step": 0.01, "stabilise": "none"}
    q, v = catena.assemble(m := catena.load("four_bar"))
    found, wanted = stream(m, tmp_path / "r.nc", q=q, v=v, **run).ledger, simulate(m, q, v, **run).ledger
    for name in ("energy_balance", "relative_energy_balance", "closure"):
        assert getattr(found, name) == pytest.approx(getattr(wanted, name), rel=1e-9) != 0.0, name
    assert found.quaternion == wanted.quaternion


PID = {"kind": "pid", "kp": 100, "ki": 100, "kd": 9, "target": {"elbow": 1}, "sample": 0.01}
PUSH = {"kind": "forces", "table": {"elbow": 15}}
SCENARIOS = {
    "free": ("triple_pendulum", {"until": 1.0}, {}),
    "equal steps": ("triple_pendulum", {"until": 1.0, "integrator": "rk4", "step": 1e-3}, {}),
    "implicit": ("triple_pendulum", {"until": 1.0, "integrator": "midpoint", "step": 1e-3}, {}),
    "stiff": ("triple_pendulum", {"until": 0.5, "integrator": "radau", "tolerance": 1e-6}, {}),
    "loops": ("four_bar", {"until": 0.5}, {}),
    "controlled": ("two_link_arm", {"until": 1.0}, {}),
    "sampled": ("two_link_arm", {"until": 0.5, "control": PID}, {}),
    "stops": ("two_link_arm", {"until": 1.5, "limits": "stop", "restitution": 0.4, "control": PUSH}, {}),
}  # fmt: skip


@pytest.mark.parametrize("name", SCENARIOS)
def test_broken_off_and_resumed_is_the_same_to_the_bit(name, tmp_path, short):
    example, changes, options = SCENARIOS[name]
    asked = read(example, output=0.01, **changes)
    arguments = {**asked.arguments, **options}
    whole = stream(asked.mechanism, tmp_path / "whole.nc", **arguments)
    broken = tmp_path / "broken.nc"
    for k, at in enumerate((0.2 * asked.until, 0.6 * asked.until)):
        with pytest.raises(KeyboardInterrupt):
            stream(asked.mechanism, broken, **arguments, resume=k > 0, progress=Stopped(at))
        part = load_result(broken)
        assert not part.complete and part.ledger.outcome.startswith("interrupted at t = ") and np.isfinite(part.data["q"]).all()
        assert 0 < part.data.sizes["time"] < whole.data.sizes["time"]
    same(whole, stream(asked.mechanism, broken, **arguments, resume=True))


def test_a_python_controller_is_asked_at_the_same_times(tmp_path, short):
    def control(t, q, v):
        return np.array([5 * np.sin(t), -2 * v[1]])

    control.sample = 0.004
    m = catena.load("two_link_arm")
    whole = stream(m, tmp_path / "whole.nc", until=0.5, control=control)
    with pytest.raises(KeyboardInterrupt):
        stream(m, tmp_path / "r.nc", until=0.5, control=control, progress=Stopped(0.2))
    same(whole, stream(m, tmp_path / "r.nc", until=0.5, control=control, resume=True))


CHILD = """
import sys, catena
from catena.simulation.stream import stream
stream(catena.load("triple_pendulum"), sys.argv[1], until=60.0, output=1e-4)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="kill -9 is POSIX")
def test_killed_and_resumed_is_the_same_to_the_bit(tmp_path):
    path = tmp_path / "killed.nc"
    child = subprocess.Popen([sys.executable, "-c", CHILD, str(path)])
    try:
        for _ in range(1200):
            time.sleep(0.05)
            if path.exists() and storage.journal_of(path)["row"] > 50_000:
                break
    finally:
        child.send_signal(signal.SIGKILL)
        child.wait()
    part = load_result(path, lazy=True)
    assert not part.complete and 50_000 < part.data.sizes["time"] < 600_001
    assert part.ledger.outcome.startswith("not finished; it had come to t = ")
    m = catena.load("triple_pendulum")
    resumed = stream(m, path, until=60.0, output=1e-4, resume=True)
    same(stream(m, tmp_path / "whole.nc", until=60.0, output=1e-4), resumed)


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="reads the largest memory from /proc")
def test_memory_does_not_grow_with_the_rows(tmp_path):
    """A million rows stay below 500 MB; the process alone takes about 300."""
    code = (
        CHILD.replace("60.0", "100.0") + "print([x for x in open('/proc/self/status') if x.startswith('VmHWM')][0].split()[1])"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path / "r.nc")], capture_output=True, text=True, check=True)
    assert load_result(tmp_path / "r.nc", lazy=True).data.sizes["time"] == 1_000_001
    assert int(done.stdout) / 1024 < 500


def test_another_run_is_not_resumed(tmp_path):
    m = catena.load("triple_pendulum")
    stream(m, tmp_path / "r.nc", until=0.1)
    with pytest.raises(CatenaError, match=r"holds another run, whose until differs: it was 0\.1, and is 0\.2"):
        stream(m, tmp_path / "r.nc", until=0.2, resume=True)
    with pytest.raises(CatenaError, match="there is no run to resume"):
        stream(m, tmp_path / "none.nc", until=0.2, resume=True)
    simulate(m, until=0.1).save(tmp_path / "saved.nc")
    with pytest.raises(CatenaError, match="cannot be resumed"):
        stream(m, tmp_path / "saved.nc", until=0.1, resume=True)
    with pytest.raises(SimulationError, match="a streamed run is one run"):
        stream(m, tmp_path / "x.nc", q=np.zeros((3, 3)), until=0.1)
    with pytest.raises(CatenaError, match=r"a run is written as \.nc"):
        stream(m, tmp_path / "x.h5", until=0.1)


def test_what_fails_keeps_what_was_computed(tmp_path, short):
    def control(t, q, v):
        return np.full(2, np.nan if t > 0.25 else 0.0)

    control.sample = 0.01
    with pytest.raises(SimulationError, match=r"the controller returned nan for 'shoulder' at t = 0\.26 s") as error:
        stream(catena.load("two_link_arm"), tmp_path / "r.nc", until=1.0, output=0.01, control=control)
    part = error.value.result
    assert not part.complete and part.time[-1] == pytest.approx(0.26)
    assert load_result(tmp_path / "r.nc").ledger.outcome.startswith("the controller returned nan")


def test_a_run_that_an_event_ends_has_its_instant_as_last_row(tmp_path):
    from catena.simulation.events import When

    m = catena.load("triple_pendulum")
    event = When(when="q_pin1 + 1", name="one radian", end=True)
    found = stream(m, tmp_path / "r.nc", until=2.0, output=0.1, events=[event])
    assert found.complete and found.data["event"].values.tolist() == ["one radian"]
    np.testing.assert_allclose(found.data["q"].values[-1, 0], -1, atol=1e-9)
    wanted = simulate(m, until=2.0, output=0.1, events=[event])
    xr.testing.assert_identical(load_result(found.save(tmp_path / "s.nc")).data, wanted.data)


def test_verified_by_a_tighter_run(tmp_path):
    found = stream(catena.load("triple_pendulum"), tmp_path / "r.nc", until=1.0, verify=True)
    assert found.ledger.met and found.ledger.verified < 1e-8
    loose = stream(
        catena.load("triple_pendulum"), tmp_path / "s.nc", until=2.0, integrator="rk4", step=0.05, output=0.1, verify=True
    )
    assert loose.ledger.verified > 1e-6


def test_a_torn_slot_of_the_journal_is_not_read():
    slots = np.zeros((2, 4096), "u1")
    for number in range(2):
        text = storage.packed({"row": number + 1, "number": number}, 4096)
        slots[number, : len(text)] = np.frombuffer(text, "u1")
    assert storage.latest(slots)["row"] == 2
    slots[1, 20] ^= 1
    assert storage.latest(slots)["row"] == 1


def test_a_place_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(CatenaError, match=r"the results cannot be written there .*nothing was computed"):
        stream(catena.load("triple_pendulum"), tmp_path / "file" / "r.nc", until=0.1)
    assert os.listdir(tmp_path) == ["file"]
