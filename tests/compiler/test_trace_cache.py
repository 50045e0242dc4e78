"""Tapes are kept by structure: in memory, on disk, and never for what cannot be hashed."""

from __future__ import annotations

from dataclasses import dataclass, replace

import casadi as ca
import numpy as np
import pytest

import catena
import zoo
from catena.compiler import fingerprint, kept_tape, trace_cache
from catena.simulation import control, trajectories


@pytest.fixture
def fresh(monkeypatch, tmp_path):
    """A memory and a disk of its own."""
    monkeypatch.setenv("CATENA_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("CATENA_CACHE", raising=False)
    return tmp_path


class Counter:
    """A maker of a tape that counts how often it is asked."""

    def __init__(self):
        self.calls = 0

    def __call__(self):
        self.calls += 1
        x = ca.SX.sym("x", 2)
        return ca.Function("f", [x], [x * x, ca.sin(x[0])])


def test_a_tape_is_made_once_and_read_from_the_disk_by_the_next_process(fresh, monkeypatch):
    make, m = Counter(), zoo.arm(2)
    first = kept_tape(m, "toy", [1], make)
    assert kept_tape(m, "toy", [1], make) is first and make.calls == 1
    again = kept_tape(zoo.arm(2), "toy", [1], make)
    assert make.calls == 1
    np.testing.assert_array_equal(np.array(again([3.0, 2.0])[0]), np.array(first([3.0, 2.0])[0]))


def test_another_structure_word_or_source_is_another_tape(fresh, monkeypatch):
    make, m = Counter(), zoo.arm(2)
    kept_tape(m, "toy", [1], make)
    kept_tape(m, "toy", [2], make)
    kept_tape(m, "other", [1], make)
    kept_tape(zoo.arm(3), "toy", [1], make)
    kept_tape(
        m.with_(joints=(replace(m.joints[0], armature=0.25), *m.joints[1:])), "toy", [1], make
    )
    assert make.calls == 5
    monkeypatch.setattr(trace_cache, "_sources", lambda: "other sources")
    kept_tape(zoo.arm(2), "toy", [1], make)
    assert make.calls == 6


def test_what_cannot_be_hashed_is_never_taken_for_the_same(fresh):
    make, m = Counter(), zoo.arm(2)
    for _ in range(2):
        kept_tape(m, "toy", [lambda t: t], make)
    assert make.calls == 2

    @dataclass(frozen=True)
    class Foreign:
        gain: float = 1.0

    assert fingerprint(Foreign()) is None and fingerprint({"a": [Foreign()]}) is None


def test_fingerprints_tell_values_apart():
    pd = [control.PD(10.0, 1.0, {"joint1": x}) for x in (0.1, 0.1, 0.2)]
    assert fingerprint(pd[0]) == fingerprint(pd[1]) != fingerprint(pd[2])
    path = [trajectories.cubic([0, 1], {"joint1": [0, x]}) for x in (1.0, 1.0, 2.0)]
    assert fingerprint(path[0]) == fingerprint(path[1]) != fingerprint(path[2])
    assert fingerprint([1, [2]]) != fingerprint([[1], 2]) and fingerprint(1) != fingerprint(
        1.0
    ) != fingerprint("1.0")
    assert fingerprint(np.zeros(2)) != fingerprint(np.zeros((2, 1)))


def test_a_run_with_another_controller_or_motion_traces_no_dynamics_anew(monkeypatch):
    m = zoo.arm(2)
    name = m.moving[0].coordinate_names[0]
    catena.simulate(
        m, until=0.01, control=control.PD(10.0, 1.0, {name: 0.1}, gravity=False)
    ).data.load()
    catena.simulate(m, until=0.01, motion={name: trajectories.sine({name: 0.1}, 2.0)}).data.load()
    for kernel in ("forward_dynamics", "mass_matrix", "inverse_dynamics", "energy", "constrained"):
        monkeypatch.setattr(
            f"catena.compiler.trace.Tracer.{kernel}", lambda *_, **__: pytest.fail("traced anew")
        )
    one = catena.simulate(m, until=0.01, control=control.PD(20.0, 2.0, {name: 0.2}, gravity=False))
    two = catena.simulate(m, until=0.01, motion={name: trajectories.sine({name: 0.2}, 3.0)})
    assert one.data["q"].shape == two.data["q"].shape
