"""FMUs as controllers: PD laws compiled here from C, and a mechanism of our own as the model inside
one, against the same laws in Python.
"""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path

import numpy as np
import pytest

import catena
from catena.errors import FormatError, SimulationError, StateError
from catena.exports.c_compiler import find_compiler, shared_library
from catena.exports.fmi import write_fmu
from catena.exports.fmi.package import platform_folder
from catena.exports.plant import plant
from catena.simulation import control
from catena.simulation.scenario.read import read

pytest.importorskip("fmpy")
pytestmark = pytest.mark.skipif(find_compiler() is None, reason="no C compiler here")

# A PID law of FMI 2.0 with all functions that an importer of co-simulation asks for. References: 0
# angle, 1 rate, 2 goal, 3 torque, 4 kp, 5 kd, 6 ki.
SOURCE = r"""
#include <stdlib.h>
typedef struct { double v[7], sum; } C;
#define F __attribute__((visibility("default")))
F const char *fmi2GetTypesPlatform(void) { return "default"; }
F const char *fmi2GetVersion(void) { return "2.0"; }
F int fmi2SetDebugLogging(void *c, int on, size_t n, const char *const *s) { return 0; }
static void law(C *c) { c->v[3] = c->v[4] * (c->v[2] - c->v[0]) - c->v[5] * c->v[1] + c->v[6] * c->sum; }
F void *fmi2Instantiate(const char *n, int k, const char *g, const char *r, const void *f, int v, int l)
{ C *c = calloc(1, sizeof(C)); c->v[4] = 30; c->v[5] = 4; return c; }
F void fmi2FreeInstance(void *c) { free(c); }
F int fmi2SetupExperiment(void *c, int a, double t, double s, int b, double e) { return 0; }
F int fmi2EnterInitializationMode(void *c) { return 0; }
F int fmi2ExitInitializationMode(void *c) { law(c); return 0; }
F int fmi2Terminate(void *c) { return 0; }
F int fmi2Reset(void *c) { return 0; }
F int fmi2GetReal(void *c, const unsigned *r, size_t n, double *x) { for (size_t k = 0; k < n; k++) x[k] = ((C *)c)->v[r[k]]; return 0; }
F int fmi2SetReal(void *c, const unsigned *r, size_t n, const double *x) { for (size_t k = 0; k < n; k++) ((C *)c)->v[r[k]] = x[k]; return 0; }
F int fmi2DoStep(void *c, double t, double h, int n) { C *m = c; if (m->v[0] > 100) return 3; m->sum += h * (m->v[2] - m->v[0]); law(m); return 0; }
#define N(x) F int fmi2##x() { return 3; }
N(GetInteger) N(GetBoolean) N(GetString) N(SetInteger) N(SetBoolean) N(SetString) N(GetFMUstate) N(SetFMUstate) N(FreeFMUstate)
N(SerializedFMUstateSize) N(SerializeFMUstate) N(DeSerializeFMUstate) N(GetDirectionalDerivative) N(SetRealInputDerivatives)
N(GetRealOutputDerivatives) N(CancelStep) N(GetStatus) N(GetRealStatus) N(GetIntegerStatus) N(GetBooleanStatus) N(GetStringStatus)
"""  # noqa: E501
VARIABLES = [
    ("angle", "input", 0.0),
    ("rate", "input", 0.0),
    ("goal", "input", 0.0),
    ("torque", "output", None),
    ("kp", "parameter", 30.0),
    ("kd", "parameter", 4.0),
    ("ki", "parameter", 0.0),
]


def description(version: str = "2.0", kind: str = "CoSimulation") -> str:
    def variable(k: int, name: str, causality: str, start: float | None) -> str:
        varies = "tunable" if causality == "parameter" else "continuous"
        real = "<Real/>" if start is None else f'<Real start="{start}"/>'
        return (
            f'<ScalarVariable name="{name}" valueReference="{k}" causality="{causality}"'
            f' variability="{varies}">{real}</ScalarVariable>'
        )

    variables = "".join(variable(k, *x) for k, x in enumerate(VARIABLES))
    return (
        f'<?xml version="1.0" encoding="UTF-8"?><fmiModelDescription fmiVersion="{version}"'
        f' modelName="pid" guid="1"><{kind}'
        f' modelIdentifier="pid"/><ModelVariables>{variables}</ModelVariables><ModelStructure><Outputs><Unknown'  # noqa: E501
        ' index="4"/></Outputs></ModelStructure></fmiModelDescription>'
    )


@pytest.fixture(scope="module")
def fmu(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("pid")
    (folder / "pid.c").write_text(SOURCE)
    shared_library(folder / "pid.c", folder / "pid.so")
    return packed(folder / "pid.fmu", description(), folder / "pid.so")


def packed(path: Path, text: str, library: Path | None, where: str = "") -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("modelDescription.xml", text)
        if library:
            archive.write(library, f"binaries/{where or platform_folder(2)}/pid.so")
    return path


WIRES = {"angle": "q_elbow", "rate": "v_elbow", "goal": "0.5 + 0.1*sin(t)"}


def test_a_law_without_memory_is_the_same_in_python(fmu):
    """tau = 30 (goal - q) - 4 v at the same samples: the same motion to rounding."""
    arm = catena.load("two_link_arm")

    def law(t, q, v):
        return np.array([0.0, 30.0 * (0.5 + 0.1 * np.sin(t) - q[1]) - 4.0 * v[1]])

    law.sample = 0.005
    asked = control.FMU(fmu, WIRES, {"elbow": "torque"}, sample=0.005)
    ours, theirs = (
        catena.simulate(arm, q=[0.3, -0.4], until=0.2, control=c, limits="ignore").data
        for c in (law, asked)
    )
    np.testing.assert_allclose(theirs.q.values, ours.q.values, rtol=0, atol=1e-12)
    np.testing.assert_allclose(theirs.tau.values, ours.tau.values, rtol=0, atol=1e-12)
    assert np.ptp(ours.tau.values[:, 1]) > 1.0


def test_memory_and_parameters_and_several_runs_at_once(fmu):
    """ki acts on the sum of errors, each run has an instance of its own, and a second run begins
    anew.
    """
    arm = catena.load("two_link_arm")
    asked = control.FMU(
        fmu, WIRES, {"elbow": "torque"}, sample=0.01, parameters={"kp": 20.0, "ki": 8.0}
    )
    starts = np.array([[0.3, -0.4], [0.1, 0.2], [-0.2, 0.6]])

    def alone(q):
        sums = []

        def law(t, q, v):
            error = 0.5 + 0.1 * np.sin(t) - q[1]
            sums.append(error * 0.01 if sums else 0.0)  # its first sample initialises
            return np.array([0.0, 20.0 * error - 4.0 * v[1] + 8.0 * sum(sums)])

        law.sample = 0.01
        return catena.simulate(
            arm, q=q, until=0.1, control=law, limits="ignore", integrator="rk4", step=1e-3
        ).data.q.values

    together = catena.simulate(
        arm, q=starts, until=0.1, control=asked, limits="ignore", integrator="rk4", step=1e-3
    ).data.q.values
    again = catena.simulate(
        arm, q=starts, until=0.1, control=asked, limits="ignore", integrator="rk4", step=1e-3
    ).data.q.values
    np.testing.assert_array_equal(together, again)
    for k, q in enumerate(starts):
        np.testing.assert_allclose(together[k], alone(q), rtol=0, atol=1e-12)


@pytest.mark.parametrize("version", [2, 3])
def test_a_mechanism_of_our_own_inside_a_controller(tmp_path, version):
    """An exported pendulum as a model that is driven by what is measured: its speed is fed back;
    the same by our own C library.
    """
    pendulum = catena.load("pendulum")
    model = plant(pendulum, q=[0.4])
    made = write_fmu(model, tmp_path / "model.fmu", version, ["cs"])
    (out,), (force,) = (
        [x.name for x in model.states if x.name.endswith("speed")],
        [x.name for x in model.inputs],
    )
    joint = catena.compile(pendulum).speed_names[0]
    asked = control.FMU(made.path, {force: f"-2*q_{joint}"}, {joint: out}, sample=0.01)
    found = catena.simulate(pendulum, q=[0.7], until=0.1, control=asked, output=0.01).data
    from catena.exports.library import Library, build

    inside = Library(build(model, tmp_path))
    x = np.array(model.start)
    for k in range(1, 11):
        x = inside.advance(0.01 * (k - 1), x, 0.01 * k, 1e-9, u=[-2 * found.q.values[k, 0]])
        if k < 10:
            assert found.tau.values[k + 1, 0] == pytest.approx(x[1], abs=1e-12)


def test_in_a_file_on_the_callers_word(fmu, tmp_path):
    shutil.copy(fmu, tmp_path / "pid.fmu")
    text = (
        'mechanism = "two_link_arm"\n[scenario]\nuntil = 0.05\ncontrol = { kind = "fmu", file ='
        ' "pid.fmu", sample = "5 ms", inputs = { angle = "q_elbow", rate = "v_elbow", goal = 0.5 },'
        ' outputs = { elbow = "torque" }, parameters = { kp = 10 } }\n'
    )
    (tmp_path / "arm.toml").write_text(text)
    with pytest.raises(
        FormatError, match=r"an FMU is a program, and it runs where you trust it: --trust"
    ):
        read(tmp_path / "arm.toml")
    asked = read(tmp_path / "arm.toml", trusted=True)
    assert asked.options["control"].parameters == {"kp": 10}
    assert catena.simulate(asked.mechanism, **asked.arguments).ledger.complete
    (tmp_path / "arm.toml").write_text(text.replace("pid.fmu", "../pid.fmu"))
    with pytest.raises(FormatError, match=r"an \.fmu file in the folder of the scenario"):
        read(tmp_path / "arm.toml", trusted=True)


def test_every_fault_of_an_fmu_is_told(fmu, tmp_path):
    with pytest.raises(
        StateError,
        match=(
            r"no input 'angel'.*Did you mean 'angle'(.|\n)*'torque' has the causality output,"
            r" parameter is wanted"
        ),
    ):
        control.FMU(fmu, {"angel": "q_elbow"}, {"elbow": "torque"}, 0.01, {"torque": 1.0})
    with pytest.raises(StateError, match=r"no output 'push' in the FMU"):
        control.FMU(fmu, WIRES, {"elbow": "push"}, 0.01)
    for text, where, said in (
        (description("1.0"), "", r"of FMI 1\.0; versions 2\.0 and 3\.0 are taken"),
        (description(kind="ModelExchange"), "", r"no co-simulation, only model exchange"),
        (description(), "amiga68k", r"no binary for this machine \(.*\); it holds amiga68k"),
    ):
        path = packed(tmp_path / "other.fmu", text, fmu.parent / "pid.so", where)
        with pytest.raises(StateError, match=said):
            control.FMU(path, WIRES, {"elbow": "torque"}, 0.01)
    with pytest.raises(StateError, match=r"it holds none; it may hold sources"):
        control.FMU(
            packed(tmp_path / "bare.fmu", description(), None), WIRES, {"elbow": "torque"}, 0.01
        )
    with pytest.raises(StateError, match="there is no such file"):
        control.FMU(tmp_path / "none.fmu", {}, {}, 0.01)
    (tmp_path / "text.fmu").write_text("no archive")
    with pytest.raises(StateError, match="no model description that can be read"):
        control.FMU(tmp_path / "text.fmu", {}, {}, 0.01)
    with pytest.raises(StateError, match=r"sample = 0; it is a time above zero"):
        control.FMU(fmu, WIRES, {"elbow": "torque"}, 0)


def test_faults_that_show_with_a_mechanism(fmu):
    arm = catena.load("two_link_arm")
    for wires, out, said in (
        ({"angle": "q_elbw"}, {"elbow": "torque"}, "q_elbw"),
        (WIRES, {"elbw": "torque"}, "Did you mean 'elbow'"),
    ):
        with pytest.raises((StateError, KeyError, ValueError), match=said):
            catena.simulate(arm, until=0.1, control=control.FMU(fmu, wires, out, 0.01))
    with pytest.raises(SimulationError, match=r"pid\.fmu' failed at t = 0\.01 s"):
        catena.simulate(
            arm,
            until=0.1,
            control=control.FMU(fmu, {"angle": "200 + t"}, {"elbow": "torque"}, 0.01),
        )
    with pytest.raises(StateError, match="an FMU cannot be added to another controller"):
        control.PD(1.0, 1.0, {"elbow": 0.0}) + control.FMU(fmu, WIRES, {"elbow": "torque"}, 0.01)
