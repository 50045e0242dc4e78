"""FMUs of FMI 2 and 3: silent in FMPy's validator, and in FMPy and CasADi the same motion as
`simulate`.
"""

from __future__ import annotations

import ctypes
import subprocess
import warnings
import zipfile
from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

from catena.errors import CompileError, UnknownNameError
from catena.exports.c_compiler import find_compiler
from catena.exports.fmi import write_fmu
from catena.exports.plant import plant, plant_of_scenario
from catena.formats import load
from catena.machine.machine import compile
from catena.model.loads import JointForce
from catena.simulation import simulate
from catena.simulation.scenario.read import read
from robots import urdf

pytest.importorskip("fmpy.validation", reason="FMPy is not installed: pip install 'catena[fmi]'")
import fmpy
import fmpy.fmi2
import fmpy.validation

pytestmark = pytest.mark.skipif(find_compiler() is None, reason="there is no C compiler here")

# backward differences of FMPy's CVode are 1e4 times as far off as their tolerance
TIGHT = {"ModelExchange": 1e-14, "CoSimulation": 1e-12}
KINDS = {"me": "ModelExchange", "cs": "CoSimulation"}


@pytest.fixture(autouse=True)
def quick_compiler(monkeypatch):
    monkeypatch.setenv("CFLAGS", "-O0")


def case(name):
    """A mechanism, its start, the forces of its motors and a time."""
    if name != "panda":
        s = read(name)
        return (
            s.mechanism,
            s.q,
            s.v,
            np.zeros(len(s.v)),
            {"triple_pendulum": 1.0, "four_bar": 0.5, "top": 0.3}[name],
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        m = load(urdf("panda"))
    q = np.array([0.1, -0.3, 0.2, -1.5, 0.1, 1.2, 0.3, 0.01])
    return m, q, np.zeros(8), compile(m).gravity(q) + 0.3, 0.4


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """(name, version) -> the plant and its FMU, each made once."""
    folder = tmp_path_factory.mktemp("fmu")
    made = {}

    def one(name, version):
        if (name, version) not in made:
            m, q, v, _, until = case(name)
            p = plant(m, q, v, until=until)
            made[name, version] = p, write_fmu(p, folder / f"{name}{version}.fmu", version)
        return made[name, version]

    return one


@pytest.mark.parametrize(
    "name, version",
    [
        ("triple_pendulum", 2),
        ("triple_pendulum", 3),
        ("four_bar", 2),
        ("four_bar", 3),
        ("panda", 2),
        ("panda", 3),
        ("top", 2),
    ],
)
def test_fmpy_moves_it_as_we_do(written, name, version):
    p, fmu = written(name, version)
    m, q, v, tau, until = case(name)
    assert fmu.binary
    assert fmpy.validation.validate_fmu(str(fmu.path)) == []
    ours = simulate(m, q, v, until, forces=tau, tolerance=1e-13, output=0.1, limits="ignore").data
    wanted = np.concatenate([ours.q.values, ours.v.values], axis=1)
    names = [x.name for x in (*p.states, *p.outputs[:2])]
    for kind in KINDS.values():
        found = fmpy.simulate_fmu(
            str(fmu.path),
            stop_time=until,
            output_interval=0.005,
            relative_tolerance=TIGHT[kind],
            fmi_type=kind,
            output=names,
            start_values={x.name: float(f) for x, f in zip(p.inputs, tau)},
        )
        at = [int(np.argmin(np.abs(found["time"] - t))) for t in ours.time.values]
        table = np.stack([found[n] for n in names], axis=1)[at]
        assert np.abs(table[:, : wanted.shape[1]] - wanted).max() < 1e-8
        energy = np.stack([ours.kinetic.values, ours.potential.values], axis=1)
        assert np.abs(table[:, wanted.shape[1] :] - energy).max() < 1e-8 * max(
            1.0, np.abs(energy).max()
        )


@pytest.mark.parametrize("version", [2, 3])
def test_casadi_loads_it_too(written, version):
    """Rates, outputs and Jacobians (from our directional derivatives) through CasADi's importer,
    against our own tapes.
    """
    p, fmu = written("four_bar", version)
    dae = ca.DaeBuilder("four_bar", str(fmu.path), {})
    assert dae.x() == [x.name for x in p.states] and dae.u() == [x.name for x in p.inputs]
    here = [p.start, np.array([0.1, -0.2, 0.3])]
    values = [x.start for x in p.parameters]
    ode, y = dae.create("f", ["x", "u"], ["ode", "y"])(*here)
    assert (
        np.abs(np.array(ode - p.derivative(0, *here, values))).max()
        < 1e-12 * np.abs(np.array(ode)).max()
    )
    assert np.abs(np.array(y[6:] - p.output(0, *here, values))).max() < 1e-13
    J = np.array(dae.create("J", ["x", "u"], ["jac_ode_x"])(*here))
    f = p.derivative
    exact = np.array(
        ca.Function("J", f.sx_in(), [ca.jacobian(f(*f.sx_in()), f.sx_in()[1])])(0, *here, values)
    )
    assert np.abs(J - exact).max() < 1e-11 * np.abs(exact).max()


def test_parameters_are_tunable_and_loops_follow_them(written):
    """Another length of the crank: the state is put onto the new loop when initialisation ends."""
    p, fmu = written("four_bar", 2)
    found = fmpy.simulate_fmu(
        str(fmu.path),
        stop_time=0.2,
        fmi_type="CoSimulation",
        relative_tolerance=1e-12,
        start_values={"crank": 0.11},
        output=[x.name for x in p.states],
    )
    x = np.array([found[-1][x.name] for x in p.states])
    values = [0.11 if v.name == "crank" else v.start for v in p.parameters]
    machine = compile(p.mechanism)
    error, rate, *_ = machine.constraint_rows(x[:3], x[3:], values)
    assert max(np.abs(error).max(), np.abs(rate).max()) < 1e-12
    again = simulate(
        p.mechanism,
        *(np.array([found[0][s.name] for s in part]) for part in (p.states[:3], p.states[3:])),
        0.2,
        parameters={"crank": 0.11},
        tolerance=1e-12,
    ).data
    assert np.abs(np.concatenate([again.q.values[-1], again.v.values[-1]]) - x).max() < 1e-8


def test_directional_derivatives_of_parameters_and_states_saved_and_restored(written, tmp_path):
    """Through FMPy's thin layer: d(rates)/dp against differences, and a step taken twice from a
    saved state.
    """
    p, fmu = written("triple_pendulum", 2)
    folder = fmpy.extract(str(fmu.path), str(tmp_path))
    model = fmpy.read_model_description(str(fmu.path))
    reference = {v.name: v.valueReference for v in model.modelVariables}
    one = fmpy.fmi2.FMU2Slave(
        guid=model.guid,
        unzipDirectory=folder,
        modelIdentifier=model.coSimulation.modelIdentifier,
        instanceName="one",
    )
    one.instantiate()
    one.setupExperiment(tolerance=1e-12, startTime=0.0)
    one.enterInitializationMode()
    one.exitInitializationMode()
    one.doStep(0.0, 0.1)
    rates = [reference[f"der({x.name})"] for x in p.states]
    m2 = reference["m2"]
    exact = np.array(one.getDirectionalDerivative(rates, [m2], [1.0]))
    h, sides = 1e-6, []
    for sign in (1, -1):
        one.setReal([m2], [1.0 + sign * h])
        sides.append(np.array(one.getReal(rates)))
    one.setReal([m2], [1.0])
    assert np.abs((sides[0] - sides[1]) / (2 * h) - exact).max() < 1e-7
    saved = one.getFMUstate()
    one.doStep(0.1, 0.1)
    first = one.getReal(rates)
    bytes_ = one.serializeFMUstate(saved)
    one.setFMUstate(one.deSerializeFMUstate(bytes_))
    one.doStep(0.1, 0.1)
    assert one.getReal(rates) == first
    with pytest.raises(Exception, match="fmi2SetReal failed"):
        one.setReal([reference["kinetic energy"]], [1.0])
    one.terminate()
    one.freeInstance()


def test_start_values_that_close_no_loop_are_refused_in_words(written, capfd):
    _, fmu = written("four_bar", 2)
    with pytest.raises(Exception, match="failed with status 3"):
        fmpy.simulate_fmu(
            str(fmu.path), stop_time=0.1, fmi_type="CoSimulation", start_values={"span": 5.0}
        )
    assert "leave loops open" in capfd.readouterr().out


def test_sources_compile_without_a_warning(written, tmp_path):
    for version in (2, 3):
        _, fmu = written("four_bar", version)
        with zipfile.ZipFile(fmu.path) as archive:
            archive.extractall(tmp_path / str(version))
        command = [
            find_compiler(),
            "-std=c99",
            "-O0",
            "-Wall",
            "-Wextra",
            "-Wpedantic",
            "-Wshadow",
            "-Wno-cast-function-type",
            "-Werror",
            "-fsyntax-only",
            f"fmi{version}.c",
        ]
        done = subprocess.run(
            command, capture_output=True, text=True, cwd=tmp_path / str(version) / "sources"
        )
        assert done.returncode == 0 and not done.stderr, done.stderr


def test_without_a_compiler_the_sources_are_written_and_it_is_said(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    made = write_fmu(plant(load("pendulum")), tmp_path / "p.fmu", 3)
    assert (
        made.binary == ""
        and made.why == "no C compiler was found (cc, gcc or clang, or what CC names)"
    )
    with zipfile.ZipFile(made.path) as archive:
        assert sorted(archive.namelist()) == [
            "modelDescription.xml",
            "sources/buildDescription.xml",
            "sources/fmi3.c",
            "sources/friction.h",
            "sources/instance.h",
            "sources/pendulum.h",
        ]
    assert fmpy.validation.validate_fmu(str(made.path)) == []


def test_one_kind_alone_and_motors_by_name(tmp_path):
    p = plant(load("two_link_arm"), motors=["elbow"])
    assert [u.name for u in p.inputs] == ["tau.elbow"]
    made = write_fmu(p, tmp_path / "arm.fmu", 2, ["cs"])
    model = fmpy.read_model_description(str(made.path))
    assert model.modelExchange is None and model.coSimulation is not None
    library = ctypes.CDLL(fmpy.extract(str(made.path), str(tmp_path / "x")) / made.binary)
    library.fmi2Instantiate.restype = ctypes.c_void_p
    # it has no model exchange
    assert library.fmi2Instantiate(b"a", 0, model.guid.encode(), b"", None, 0, 0) is None
    assert library.fmi2Instantiate(b"a", 1, b"another", b"", None, 0, 0) is None


def test_what_cannot_be_an_fmu_is_refused_by_name(tmp_path):
    p = plant(load("pendulum"))
    with pytest.raises(UnknownNameError, match="no kind of FMU 'mee'.*me, cs"):
        write_fmu(p, tmp_path / "p.fmu", 2, ["mee"])
    with pytest.raises(CompileError, match="FMI 4 was asked; versions are: 2, 3"):
        write_fmu(p, tmp_path / "p.fmu", 4)
    with pytest.raises(CompileError, match=r"ends in \.fmu; .*p.zip"):
        write_fmu(p, tmp_path / "p.zip")
    with pytest.raises(
        CompileError, match=r"mechanism '.*' has contact 'box-ground'.*holds no events"
    ):
        plant(load("tumbling_box"))
    stopped = replace(read("pendulum"), options={"limits": "stop", "friction": "stick"})
    with pytest.raises(CompileError, match="its scenario has limits = 'stop', friction = 'stick'"):
        plant_of_scenario(stopped)
    with pytest.raises(CompileError, match=r"leading shape \(3,\)"):
        plant(load("pendulum"), np.zeros((3, 1)))
    assert not list(tmp_path.iterdir())


def pulsed():
    """A pendulum with a torque of 5 N m from 0.1037 s to 0.2231 s, and a push that ends at 0.31
    s.
    """
    m = load("pendulum")
    joint = m.joints[0].name
    return m.with_(
        loads=(
            *m.loads,
            JointForce(
                "pulse",
                joint,
                "1.25*(1 + sign(t - 0.1037))*(1 + sign(0.2231 - t))",
                switches=(0.1037, 0.2231),
            ),
            JointForce("push", joint, "1.5*cos(20*t)*(1 + sign(0.31 - t))", switches=(0.31,)),
        )
    )


@pytest.mark.parametrize("version", [2, 3])
def test_switches_of_loads_are_time_events(tmp_path, version):
    """The importer steps onto the instants that the model declares: both kinds agree with simulate,
    which does so too.
    """
    m = pulsed()
    p = plant(m, q=[0.3], until=0.5, switching=True)
    assert p.switches == (0.1037, 0.2231, 0.31)
    fmu = write_fmu(p, tmp_path / "pulsed.fmu", version)
    assert fmpy.validation.validate_fmu(str(fmu.path)) == []
    ours = simulate(m, [0.3], until=0.5, tolerance=1e-13, output=0.05).data
    wanted = np.concatenate([ours.q.values, ours.v.values], axis=1)
    names = [x.name for x in p.states]
    for kind in KINDS.values():
        found = fmpy.simulate_fmu(
            str(fmu.path),
            stop_time=0.5,
            output_interval=0.05,
            relative_tolerance=1e-12,
            fmi_type=kind,
            output=names,
            record_events=True,
        )
        at = [int(np.argmin(np.abs(found["time"] - t))) for t in ours.time.values]
        assert np.abs(np.stack([found[n] for n in names], axis=1)[at] - wanted).max() < 1e-8, kind
        if kind == "ModelExchange":
            assert set(p.switches) <= {round(t, 12) for t in found["time"]}


def test_what_cannot_hold_switches_refuses_them(tmp_path):
    with pytest.raises(
        CompileError, match=r"load 'pulse', which switches at instants \(an FMU can hold that\)"
    ):
        plant(pulsed(), q=[0.3])
