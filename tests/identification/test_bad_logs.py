"""Bad logs: each fault is found and named; a sound log has none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import catena
import synthetic_logs as logs
from catena.errors import StudyError
from catena.identification.logs import checked_log, every_check, findings, read_log

DEGREES = 180 / np.pi


@pytest.fixture(scope="module")
def arm():
    return logs.arm()


@pytest.fixture(scope="module")
def sound(arm):
    return logs.log(arm)


def changed(name, change):
    """A fault of one column: its values become change(values)."""

    def spoil(log):
        log[name] = change(np.array(log[name]))

    return spoil


def put(where, value):
    def change(x):
        x[where] = value
        return x

    return change


def swap(one, two):
    def spoil(log):
        log[one], log[two] = log[two], log[one]

    return spoil


def both(kind, change):
    def spoil(log):
        for n in logs.JOINTS:
            log[f"{kind} {n}"] = change(np.array(log[f"{kind} {n}"]))

    return spoil


def everything(change):
    def spoil(log):
        for name in log:
            log[name] = change(np.array(log[name]))

    return spoil


def without_speeds(then):
    def spoil(log):
        for n in logs.JOINTS:
            del log[f"v {n}"]
        then(log)

    return spoil


def dropped_out(x):
    x[300:400] = x[300]
    return x


def jumped(x):
    x[500:] += 0.4
    return x


def wrapped(x):
    return (x - x.mean()) % (2 * np.pi)


def keep_rows(mask):
    return everything(lambda x: x[mask(len(x))])


def one_way(log):
    log["q elbow"] = np.linspace(-0.5, 0.5, len(log["time"]))
    log["v elbow"] = np.full(len(log["time"]), 1.0 / 7.99) + 1e-4 * np.sin(log["time"])


FAULTS = {
    "time goes backwards": (
        "time falls",
        changed("time", put(slice(400, 500), np.arange(100) / 100.0)),
    ),
    "time stands still": ("time repeats", changed("time", put(400, 3.99))),
    "one time for all rows": ("time repeats", changed("time", lambda x: 0 * x)),
    "no number in the time": ("numbers missing", changed("time", put(9, np.nan))),
    "no number in a position": ("numbers missing", changed("q elbow", put(slice(9, 20), np.nan))),
    "no number in a speed": ("numbers missing", changed("v elbow", put(7, np.inf))),
    "no number in an effort": ("numbers missing", changed("tau elbow", put(7, np.nan))),
    "milliseconds": ("unit of time", changed("time", lambda x: 1e3 * x)),
    "microseconds": ("unit of time", changed("time", lambda x: 1e6 * x)),
    "nanoseconds": ("unit of time", changed("time", lambda x: 1e9 * x)),
    "a second per row without speeds": (
        "unit of time",
        without_speeds(changed("time", lambda x: 1e3 * x)),
    ),
    "a gap": ("gaps", keep_rows(lambda n: (np.arange(n) < 300) | (np.arange(n) > 360))),
    "mostly gaps": (
        "mostly gaps",
        keep_rows(lambda n: (np.arange(n) < 150) | (np.arange(n) > 600)),
    ),
    "uneven times": ("uneven times", keep_rows(lambda n: np.random.default_rng(0).random(n) < 0.6)),
    "a log of a second": ("too short", keep_rows(lambda n: np.arange(n) < 100)),
    "two rows per second": ("sample rate", keep_rows(lambda n: np.arange(n) % 50 == 0)),
    "a stuck encoder": ("stuck encoder", changed("q elbow", lambda x: 0 * x + 0.1)),
    "an encoder that drops out": ("encoder dropped out", changed("q elbow", dropped_out)),
    "a wrapped position": ("wrapped position", changed("q shoulder", wrapped)),
    "lost counts": ("lost counts", changed("q elbow", jumped)),
    "a dead speed": ("dead speed", changed("v elbow", lambda x: 0 * x)),
    "a speed of the opposite sign": ("sign of speed", changed("v elbow", lambda x: -x)),
    "a position of the opposite sign": ("sign of speed", changed("q shoulder", lambda x: -x)),
    "speeds in another order": ("order of speeds", swap("v shoulder", "v elbow")),
    "positions in degrees": ("unit of speed", both("q", lambda x: DEGREES * x)),
    "speeds in degrees": ("unit of speed", both("v", lambda x: DEGREES * x)),
    "a speed of the motor": ("unit of speed", changed("v elbow", lambda x: 10 * x)),
    "degrees without speeds": ("degrees", without_speeds(both("q", lambda x: DEGREES * x))),
    "a speed of something else": (
        "speed without position",
        changed("v elbow", lambda x: np.random.default_rng(0).standard_normal(len(x))),
    ),
    "no motion": ("no motion", lambda log: [both(k, lambda x: 0 * x)(log) for k in ("q", "v")]),
    "a joint at rest": (
        "little motion",
        lambda log: [changed(f"{k} elbow", lambda x: 0 * x)(log) for k in ("q", "v")],
    ),
    "one direction": ("one direction", one_way),
    "a column twice": (
        "same positions",
        lambda log: log.update({f"{k} elbow": log[f"{k} shoulder"] for k in "qv"}),
    ),
    "positions with two digits": ("coarse positions", both("q", lambda x: np.round(x, 2))),
    "late speeds": ("delay of speeds", both("v", lambda x: np.roll(x, 12))),
    "a dead effort": ("dead effort", changed("tau elbow", lambda x: 0 * x)),
    "a clipped effort": ("clipped effort", changed("tau shoulder", lambda x: np.clip(x, -20, 20))),
    "an effort that drops out": ("effort dropped out", changed("tau elbow", dropped_out)),
    "spikes": ("spikes", changed("tau elbow", put([200, 500], 500.0))),
    "an effort of the opposite sign": ("sign of effort", changed("tau elbow", lambda x: -x)),
    "efforts in another order": ("order of efforts", swap("tau shoulder", "tau elbow")),
    "an effort of something else": (
        "effort without motion",
        changed("tau elbow", lambda x: np.random.default_rng(0).standard_normal(len(x))),
    ),
    "late efforts": ("delay of efforts", both("tau", lambda x: np.roll(x, 15))),
    "millinewton metres": ("unit of force", both("tau", lambda x: 1e3 * x)),
}


def test_a_sound_log_has_no_findings(arm, sound):
    assert findings(arm, read_log(arm, sound)) == []
    table = checked_log(arm, read_log(arm, sound))
    assert table.attrs["findings"] == [] and table.q.attrs["units"] == "rad"


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_named(arm, sound, fault):
    name, spoil = FAULTS[fault]
    log = {k: np.array(x) for k, x in sound.items()}
    spoil(log)
    found = findings(arm, read_log(arm, log))
    assert name in [check.name for check, _ in found], found
    fatal = [check.name for check, _ in found if check.fatal]
    if fatal:
        with pytest.raises(StudyError, match=fatal[0]):
            checked_log(arm, read_log(arm, log))
    else:
        assert any(x.startswith(name) for x in checked_log(arm, read_log(arm, log)).findings)


def test_every_check_but_those_of_limits_is_provoked():
    named = {name for name, _ in FAULTS.values()}
    assert set(every_check()) - named == {"beyond limits", "above speed limit"}
    assert len(FAULTS) >= 30


def test_a_joint_that_swings_freely_is_no_fault(arm):
    """Sampled at 500 Hz with quantised speeds, one joint driven by pulses, the other one free: its
    measured force is noise of its sensor.
    """
    step, rows = 0.002, 4000
    rng = np.random.default_rng(3)
    bare = arm.mechanism.with_(
        joints=[replace(j, damping=(0.3,), friction=(0.0,)) for j in arm.mechanism.joints]
    )
    pulses = 12.0 * np.repeat(rng.choice([-1.0, 0.0, 1.0], rows // 200), 200)
    tau = np.stack([pulses, np.zeros(rows)], axis=1)
    run = catena.simulate(
        bare, q=[0.4, -0.8], until=step * rows, output=step, forces=tau, limits="ignore"
    )
    log = {"time": run.data.time.values[:-1]}
    for k, n in enumerate(logs.JOINTS):
        log[f"q {n}"] = np.round(run.q.values[:-1, k], 5)
        log[f"v {n}"] = np.round(run.v.values[:-1, k] / 0.0055) * 0.0055
        log[f"tau {n}"] = tau[:, k] + 0.05 * rng.standard_normal(rows)
    found = findings(arm, read_log(arm, log))
    assert [check.name for check, _ in found if check.fatal] == []
