"""A run that goes to disk: the same rows as one in memory; broken off anywhere and resumed, the
same bits.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import signal
import subprocess
import sys
import time
import zlib

import numpy as np
import pytest
import xarray as xr

import catena
from catena.errors import CatenaError, SimulationError
from catena.results import storage
from catena.results.result import load_result
from catena.simulation.run import simulate
from catena.simulation.runners import runner
from catena.simulation.scenario import read


def stream(mechanism, path, **options):
    """A run into a file."""
    return simulate(mechanism, out=path, **options)


@pytest.fixture
def short(monkeypatch):
    """Slices so short that a small run has many, each of them written."""
    monkeypatch.setattr(runner, "ROWS_PER_SLICE", 16)
    monkeypatch.setattr(runner, "STEPS_PER_SLICE", {"adaptive": 10, "library": 10})
    monkeypatch.setattr(runner, "EQUAL_STEPS_PER_SLICE", 64)
    monkeypatch.setattr("catena.simulation.output.result_file.WRITE_INTERVAL", 0.0)


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
    assert (a.ledger.steps, a.ledger.evaluations, a.ledger.outcome) == (
        b.ledger.steps,
        b.ledger.evaluations,
        b.ledger.outcome,
    )


def test_the_file_is_the_result_of_simulate(tmp_path):
    m = catena.load("triple_pendulum")
    found = load_result(
        stream(m, tmp_path / "r.nc", until=1.0, output=0.01).save(tmp_path / "copy.nc")
    )
    wanted = simulate(m, until=1.0, output=0.01)
    xr.testing.assert_identical(found.data, wanted.data)
    assert found.ledger.complete and found.ledger.outcome == wanted.ledger.outcome


def test_the_ledger_of_the_file_is_that_of_simulate(tmp_path):
    """On a loop that drifts and loses energy by long steps, so that nothing in it is zero."""
    run = {"until": 0.5, "output": 0.01, "integrator": "rk4", "step": 0.01, "stabilise": "none"}
    q, v = catena.assemble(m := catena.load("four_bar"))
    found = stream(m, tmp_path / "r.nc", q=q, v=v, **run).ledger
    wanted = simulate(m, q, v, **run).ledger
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
    "stops": (
        "two_link_arm",
        {"until": 1.5, "limits": "stop", "restitution": 0.4, "control": PUSH},
        {},
    ),
}


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
        assert (
            not part.complete
            and part.ledger.outcome.startswith("interrupted at t = ")
            and np.isfinite(part.data["q"]).all()
        )
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
catena.simulate(catena.load("triple_pendulum"), out=sys.argv[1], until=60.0, output=1e-4)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="kill -9 is POSIX")
def test_killed_and_resumed_is_the_same_to_the_bit(tmp_path):
    path = tmp_path / "killed.nc"
    child = subprocess.Popen([sys.executable, "-c", CHILD, str(path)])
    try:
        for _ in range(1200):
            time.sleep(0.05)
            if path.exists() and storage.journal_of(path).row > 50_000:
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


@pytest.mark.skipif(
    not os.path.exists("/proc/self/status"), reason="reads the largest memory from /proc"
)
def test_memory_does_not_grow_with_the_rows(tmp_path):
    """A million rows stay below 500 MB; the process alone takes about 300."""
    code = (
        CHILD.replace("60.0", "100.0")
        + "print([x for x in open('/proc/self/status') if x.startswith('VmHWM')][0].split()[1])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "r.nc")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert load_result(tmp_path / "r.nc", lazy=True).data.sizes["time"] == 1_000_001
    assert int(done.stdout) / 1024 < 500


def test_another_run_is_not_resumed(tmp_path):
    m = catena.load("triple_pendulum")
    stream(m, tmp_path / "r.nc", until=0.1)
    with pytest.raises(
        CatenaError, match=r"holds another run, whose until differs: it was 0\.1, and is 0\.2"
    ):
        stream(m, tmp_path / "r.nc", until=0.2, resume=True)
    with pytest.raises(CatenaError, match="there is no run to resume"):
        stream(m, tmp_path / "none.nc", until=0.2, resume=True)
    simulate(m, until=0.1).save(tmp_path / "saved.nc")
    with pytest.raises(CatenaError, match="cannot be resumed"):
        stream(m, tmp_path / "saved.nc", until=0.1, resume=True)
    with pytest.raises(SimulationError, match="is one run; the start has the leading shape"):
        stream(m, tmp_path / "x.nc", q=np.zeros((3, 3)), until=0.1)
    with pytest.raises(CatenaError, match=r"a run is written as \.nc"):
        stream(m, tmp_path / "x.h5", until=0.1)


def test_what_fails_keeps_what_was_computed(tmp_path, short):
    def control(t, q, v):
        return np.full(2, np.nan if t > 0.25 else 0.0)

    control.sample = 0.01
    with pytest.raises(
        SimulationError, match=r"the controller returned nan for 'shoulder' at t = 0\.26 s"
    ) as error:
        stream(
            catena.load("two_link_arm"), tmp_path / "r.nc", until=1.0, output=0.01, control=control
        )
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
        catena.load("triple_pendulum"),
        tmp_path / "s.nc",
        until=2.0,
        integrator="rk4",
        step=0.05,
        output=0.1,
        verify=True,
    )
    assert loose.ledger.verified > 1e-6


def test_a_torn_slot_of_the_journal_is_not_read():
    slots = np.zeros((2, 4096), "u1")
    for number in range(2):
        text = storage.packed(
            storage.Journal(number, number + 1, {}, [0.0, 0.0], {}, 0.0, {}, {}), 4096
        )
        slots[number, : len(text)] = np.frombuffer(text, "u1")
    assert storage.latest(slots).row == 2
    slots[1, 20] ^= 1
    assert storage.latest(slots).row == 1


def test_a_place_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(
        CatenaError, match=r"the results cannot be written there .*nothing was computed"
    ):
        stream(catena.load("triple_pendulum"), tmp_path / "file" / "r.nc", until=0.1)
    assert os.listdir(tmp_path) == ["file"]


# --- interruptions
class Interruption:
    """A KeyboardInterrupt at the k-th line that a run goes through in these files, as a signal may
    fall there.
    """

    FILES = (
        "runner.py",
        "engine.py",
        "result_file.py",
        "record.py",
        "sinks.py",
        "run.py",
        "storage.py",
        "event_handler.py",
    )

    def __init__(self, k: float = np.inf):
        self.k, self.lines = k, 0

    def __call__(self, frame, event, _):
        if not frame.f_code.co_filename.endswith(self.FILES):
            return None
        if event == "line":
            self.lines += 1
            if self.lines == self.k:
                sys.settrace(None)
                raise KeyboardInterrupt
        return self

    def __enter__(self):
        sys.settrace(self)
        return self

    def __exit__(self, *_):
        sys.settrace(None)


# of libraries, as they are taken down
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("name", ["free", "stops"])
def test_interrupted_at_random_instants_and_resumed_is_the_same_to_the_bit(name, tmp_path, short):
    asked = read(SCENARIOS[name][0], output=0.01, **SCENARIOS[name][1])
    with Interruption() as whole_run:
        whole = stream(asked.mechanism, tmp_path / "whole.nc", **asked.arguments)
    rng, times = np.random.default_rng(0), 0
    for case in range(3):
        path = tmp_path / f"{case}.nc"
        for k in rng.integers(1, 0.4 * whole_run.lines, 5):
            with contextlib.suppress(KeyboardInterrupt), Interruption(k):
                stream(asked.mechanism, path, **asked.arguments, resume=path.exists())
                times -= 1
            times += 1
        same(whole, stream(asked.mechanism, path, **asked.arguments, resume=path.exists()))
    assert times >= 6


def test_an_error_of_the_controller_leaves_what_was_computed(tmp_path, short):
    def control(t, q, v):
        return np.zeros(2) if t < 0.1 else 1 / 0

    control.sample = 0.01
    with pytest.raises(ZeroDivisionError):
        stream(catena.load("two_link_arm"), tmp_path / "r.nc", until=0.2, control=control)
    part = load_result(tmp_path / "r.nc")
    assert (
        part.ledger.outcome == "stopped by ZeroDivisionError: division by zero at t = 0.1 s"
        and not part.complete
    )


def test_a_second_writer_is_refused_in_one_sentence(tmp_path):
    m = catena.load("triple_pendulum")
    before = stream(m, tmp_path / "r.nc", until=0.1).data.load()
    with storage.lock(tmp_path / "r.nc"):
        for resume in (False, True):
            with pytest.raises(
                CatenaError, match=r"r\.nc: another run is writing there; wait for its end"
            ):
                stream(m, tmp_path / "r.nc", until=0.1, resume=resume)
    assert load_result(tmp_path / "r.nc").data.equals(before) and os.listdir(tmp_path) == ["r.nc"]
    stream(m, tmp_path / "r.nc", until=0.1)  # the lock is gone with its holder


# --- the same run
def plan_of(m, **more):
    from catena.simulation import RunOptions
    from catena.simulation.planning.plan import prepare

    return prepare(m, None, None, 0.1, RunOptions.of(**{"most_steps": 1000} | more))


def test_everything_that_decides_a_run_is_in_its_key():
    from catena.simulation.output.fingerprint import key

    PD = catena.control.PD
    When = catena.events.When

    def pushing(force):
        control = lambda t, q, v: np.array([force, 0.0])  # noqa: E731
        control.sample = 0.01
        return control

    m = catena.load("two_link_arm")
    heavy = m.with_(
        bodies=tuple(
            dataclasses.replace(b, mass=2 * b.mass) if b.name == m.bodies[0].name else b
            for b in m.bodies
        )
    )
    damped = m.with_(joints=tuple(dataclasses.replace(j, damping=0.1) for j in m.joints))
    spring = catena.JointSpring("k", m.moving[0].name, 5.0, 0.0)
    others = {
        "heavy": (heavy, {}),
        "damped": (damped, {}),
        "gravity": (m.with_(gravity=(0, -1.62, 0)), {}),
        "load": (m.with_(loads=(spring,)), {}),
        "softer": (m.with_(loads=(dataclasses.replace(spring, stiffness=4.0),)), {}),
        "pd": (m, {"control": PD(10, 1, 0.0)}),
        "pd gain": (m, {"control": PD(11, 1, 0.0)}),
        "function": (m, {"control": pushing(1.0)}),
        "function of more": (m, {"control": pushing(2.0)}),
        "forces": (m, {"control": [1.0, 0.0]}),
        "event": (m, {"events": [When(when="q_elbow", name="e")]}),
        "other event": (m, {"events": [When(when="q_elbow - 1", name="e")]}),
        "stops": (m, {"limits": "stop"}),
        "output": (m, {"output": 0.05}),
        "tolerance": (m, {"tolerance": 1e-8}),
        "parameters": (m, {"parameters": {"m2": 3.0}}),
        "integrator": (m, {"integrator": "dopri5"}),
        "largest step": (m, {"largest_step": 0.01}),
        "contact": (m, {"contact": "ignore"}),
        "forces by step": (m, {"integrator": "rk4", "step": 0.01, "forces": np.ones((10, 2))}),
        "rk4": (m, {"integrator": "rk4", "step": 0.01}),
    }
    keys = {
        name: key(plan_of(mechanism, **more))
        for name, (mechanism, more) in ({"plain": (m, {})} | others).items()
    }
    assert all(keys[a] != keys[b] for a in keys for b in keys if a != b)
    assert keys["function"] == key(plan_of(catena.load("two_link_arm"), control=pushing(1.0)))
    assert keys["plain"] == key(plan_of(catena.load("two_link_arm"), most_steps=5, threads=1))


def test_another_mechanism_is_not_resumed(tmp_path):
    m = catena.load("triple_pendulum")
    stream(m, tmp_path / "r.nc", until=0.1)
    with pytest.raises(
        CatenaError,
        match=(
            r"r\.nc holds another run, whose mechanism differs; resume it as it was, or begin anew"
        ),
    ):
        stream(m.with_(gravity=(0, -1.62, 0)), tmp_path / "r.nc", until=0.1, resume=True)
    with pytest.raises(SimulationError, match="resume continues the run of a file; say which"):
        simulate(m, until=0.1, resume=True)


# --- damaged files
def forged(path, change):
    """Write a journal with a right checksum and another content into both slots."""
    journal = storage.journal_of(path)
    place = storage.places(path)[storage.JOURNAL]
    fields = dataclasses.asdict(journal)
    change(fields)
    text = json.dumps(fields).encode()
    with path.open("r+b") as file:
        for slot in range(2):
            file.seek(place.offset + slot * place.width)
            file.write(storage.HEAD.pack(len(text), zlib.crc32(text)) + text)


FORGERIES = {
    "nan time": lambda j: j["state"].update(t=float("nan")),
    "late time": lambda j: j["state"].update(t=1e9),
    "no step": lambda j: j["state"].update(h=0.0),
    "short state": lambda j: j["state"].update(x=[0.0]),
    "text state": lambda j: j["state"].update(x="abc"),
    "no tally": lambda j: j["state"].update(tally=None),
    "row": lambda j: j.update(row=10**9),
    "row of text": lambda j: j.update(row="3"),
    "no state": lambda j: j.update(state={}),
    "nothing": lambda j: j.clear(),
    "ledger": lambda j: j.update(ledger={"outcome": 3}),
    "log": lambda j: j.update(logged=10**9),
    "checksum of the log": lambda j: j.update(checksum=1),
    "negative log": lambda j: j.update(logged=-1),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_journal_is_one_sentence(name, tmp_path):
    m = catena.load("triple_pendulum")
    stream(m, tmp_path / "r.nc", until=0.1)
    forged(tmp_path / "r.nc", FORGERIES[name])
    if name != "ledger":
        with pytest.raises(CatenaError, match=r"r\.nc: its journal is damaged"):
            stream(m, tmp_path / "r.nc", until=0.1, resume=True)
    with contextlib.suppress(CatenaError):
        repr(load_result(tmp_path / "r.nc"))


# of libraries, as they are taken down
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_damaged_bytes_are_a_result_or_one_sentence(tmp_path):
    whole = stream(catena.load("triple_pendulum"), tmp_path / "r.nc", until=0.1, output=0.05)
    rng = np.random.default_rng(0)
    whole.data.close()
    data = bytearray((tmp_path / "r.nc").read_bytes())
    where = [k for k in range(len(data)) if data[k]]  # bytes that say something
    for k in range(60):
        hurt = data.copy()
        for at in rng.choice(where, 4):
            hurt[at] = rng.integers(256)
        path = tmp_path / f"{k}.nc"
        path.write_bytes(hurt if k % 4 else hurt[: rng.integers(1, len(hurt))])
        try:
            found = load_result(path)
            repr(found), str(found.ledger), found.mechanism
        except CatenaError:
            pass


def test_a_run_of_another_expression_is_not_resumed():
    """Two mechanisms whose numbers differ in an expression of parameters alone have different
    keys.
    """
    import sympy

    from catena.simulation.output.fingerprint import fingerprint

    m, k = sympy.symbols("m k")
    assert len({fingerprint(x) for x in (m, k, 2 * m, 3 * m, m + k)}) == 5
    assert fingerprint(2 * m + k) == fingerprint(k + m * 2)
