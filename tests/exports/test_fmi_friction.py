"""Dry friction in FMUs: joints stick and slip by state events, in FMPy as in `simulate`."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from catena import Body, Joint, Mechanism, load
from catena.errors import CompileError
from catena.exports.c_compiler import find_compiler
from catena.exports.fmi import write_fmu
from catena.exports.plant import plant
from catena.simulation import simulate

from ..simulation.test_friction_of_many_joints import rough

pytest.importorskip("fmpy.validation", reason="FMPy is not installed: pip install 'catena[fmi]'")
import fmpy
import fmpy.validation

pytestmark = pytest.mark.skipif(find_compiler() is None, reason="there is no C compiler here")
KINDS = ("ModelExchange", "CoSimulation")
UNTIL = 0.5


@pytest.fixture(autouse=True)
def quick_compiler(monkeypatch):
    monkeypatch.setenv("CFLAGS", "-O0")


def block() -> Mechanism:
    """A slide of 2 kg with friction of 5 N."""
    return Mechanism(
        "block",
        (Body("b", 2.0, (0, 0, 0), (1, 1, 1)),),
        (Joint("x", "prismatic", "ground", "b", axis=(1, 0, 0), friction=(5.0,)),),
    )


def run(fmu, p, kind, until=UNTIL, **options):
    return fmpy.simulate_fmu(
        str(fmu.path),
        stop_time=until,
        relative_tolerance=1e-12,
        fmi_type=kind,
        output=[x.name for x in p.states],
        **options,
    )


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("seed, joints", [(2, 4), (3, 8)])
def test_joints_stick_and_slip_as_in_a_run(tmp_path, version: int, seed: int, joints: int) -> None:
    m = rough(seed, joints)
    v = np.random.default_rng(seed).normal(size=joints)
    ours = simulate(m, v=v, until=UNTIL, output=0.05, tolerance=1e-12)
    events = np.asarray(ours.data["event_time"])
    assert len(events) >= 2
    wanted = np.concatenate([ours.q.values, ours.v.values], axis=1)
    p = plant(m, None, v, until=UNTIL, switching=True)
    fmu = write_fmu(p, tmp_path / "rough.fmu", version)
    assert fmpy.validation.validate_fmu(str(fmu.path)) == []
    for kind in KINDS:
        found = run(fmu, p, kind, output_interval=0.005)
        at = [int(np.argmin(np.abs(found["time"] - t))) for t in ours.time]
        table = np.stack([found[x.name] for x in p.states], axis=1)
        assert np.abs(table[at] - wanted).max() < 1e-8
        if kind == "ModelExchange":  # a row before and one after each event
            twice = found["time"][1:][np.diff(found["time"]) == 0.0]
            assert all(np.abs(twice - t).min() < 1e-6 for t in events)
        for k in range(joints):  # what is stuck at the end has not crept since it stuck
            if wanted[-1, joints + k] == 0.0:
                assert table[-1, joints + k] == 0.0 and table[-1, k] == table[-4, k]


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_an_input_breaks_it_loose_and_it_stops_again(tmp_path, version: int, kind: str) -> None:
    """4 N hold, 9 N accelerate by 2 m/s^2 for 0.1 s, then friction stops it at 2.5 m/s^2."""
    p = plant(block(), until=1.0, switching=True)
    fmu = write_fmu(p, tmp_path / "block.fmu", version)
    times = [0.0, 0.1, 0.1, 0.2, 0.2, 1.0]
    force = np.array(
        list(zip(times, [4.0, 4.0, 9.0, 9.0, 0.0, 0.0])),
        dtype=[("time", "f8"), (p.inputs[0].name, "f8")],
    )
    found = run(fmu, p, kind, until=1.0, input=force, output_interval=0.01)
    x, v = (found[s.name] for s in p.states)
    time = found["time"]
    assert (x[time < 0.0999] == 0.0).all()
    assert x[-1] == pytest.approx(0.5 * 2.0 * 0.1**2 + 0.2**2 / (2 * 2.5), abs=1e-8)
    assert v[-1] == 0.0 and (x[time > 0.3] == x[-1]).all()


def test_a_start_value_that_turns_the_speed_round_slips_the_other_way(tmp_path) -> None:
    p = plant(block(), v=[1.0], until=1.0, switching=True)
    fmu = write_fmu(p, tmp_path / "block.fmu", 2)
    for kind in KINDS:
        found = run(fmu, p, kind, until=1.0, start_values={p.states[1].name: -2.0})
        assert found[p.states[0].name][-1] == pytest.approx(-(2.0**2) / (2 * 2.5), abs=1e-8)


def test_what_an_fmu_cannot_hold_is_refused_by_name() -> None:
    m = load("four_bar")
    m = m.with_(joints=tuple(replace(j, friction=(0.1,)) for j in m.joints))
    with pytest.raises(CompileError, match="'motor pin'.* only for trees of joints"):
        plant(m, switching=True)
    with pytest.raises(CompileError, match="'x' sticks and slips.*holds no events .an FMU does"):
        plant(block())
    assert plant(block(), friction="smooth", switching=True).sticking is None
