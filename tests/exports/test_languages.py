"""C, a shared library, MATLAB, Julia, Modelica and URDF of whole mechanisms, each run or read by
something that is not ours.
"""

from __future__ import annotations

import shutil
import subprocess

import casadi as ca
import numpy as np
import pytest

from catena.cli import main
from catena.errors import CompileError, StateError
from catena.exports import c_header, library, targets
from catena.exports.c_compiler import find_compiler
from catena.exports.languages import julia, matlab, modelica
from catena.exports.linkage import write_urdf
from catena.exports.plant import plant, plant_of_scenario
from catena.formats import load
from catena.machine.machine import compile
from catena.simulation import simulate
from catena.simulation.scenario.read import read

NAMES = ("triple_pendulum", "four_bar", "top")
compiler = pytest.mark.skipif(find_compiler() is None, reason="there is no C compiler here")


@pytest.fixture(scope="module")
def plants():
    return {name: plant_of_scenario(read(name)) for name in NAMES}


@pytest.fixture(scope="module")
def libraries(plants, tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CFLAGS", "-O0")
        return {
            name: library.Library(library.build(p, tmp_path_factory.mktemp("library")))
            for name, p in plants.items()
        }


def state(p):
    """A state a little later than the start, and forces."""
    u = np.linspace(-0.2, 0.3, len(p.inputs))
    x = (
        p.start
        + 0.01 * np.array(p.derivative(0, p.start, u, [v.start for v in p.parameters])).ravel()
    )
    return x, u


def relative(ours, theirs):
    return np.abs(np.asarray(ours) - theirs).max() / max(1.0, np.abs(theirs).max())


@compiler
@pytest.mark.parametrize("name", NAMES)
def test_c_is_the_machine(plants, libraries, name):
    """Accelerations, energies and frames of the compiled C against the machine; a run of it against
    `simulate`.
    """
    p, c = plants[name], libraries[name]
    x, u = state(p)
    x = c.project(0.0, c.project(0.0, x, u), u)
    m = compile(p.mechanism)
    q, v = x[: m.nq], x[m.nq :]
    assert relative(c.derivative(0.0, x, u)[m.nq :], m.forward_dynamics(q, v, u)) < 1e-12
    y = c.outputs(0.0, x, u)
    assert relative(y[:2], np.array(m.energy(q, v))) < 1e-12
    for k, frame in enumerate(p.mechanism.frames):
        X = m.pose(q, frame.name)
        assert (
            relative(y[2 + 12 * k : 14 + 12 * k], np.concatenate([X[:3, 3], X[:3, :3].ravel()]))
            < 1e-12
        )
    ours = simulate(m, q, v, 0.1, forces=u, tolerance=1e-13, limits="ignore").data
    wanted = np.concatenate([ours.q.values[-1], ours.v.values[-1]])
    assert relative(c.advance(0.0, x, 0.1, 1e-12, u), wanted) < 1e-10
    errors = []
    for count in (50, 100):
        now = x
        for k in range(count):
            now = c.step(k * 0.1 / count, now, 0.1 / count, u)
        errors.append(np.abs(now - wanted).max())
    # RK4: half the step, a sixteenth of the error
    assert errors[0] / errors[1] > 12 or errors[1] < 1e-10


@compiler
def test_the_header_alone_runs_on_c99_without_a_warning(plants, tmp_path):
    p = plants["four_bar"]
    c_header.write(p, tmp_path)
    (tmp_path / "main.c").write_text(f"""#include <stdio.h>
#include "{p.name}.h"
int main(void)
{{
    double x[{p.name}_NX], u[{p.name}_NU] = {{0}}, t = 0.0, h = 0.0;
    int i;
    for (i = 0; i < {p.name}_NX; i++) x[i] = {p.name}_start[i];
    if ({p.name}_advance(&t, x, u, {p.name}_parameters, 0.2, 1e-11, &h)) return 1;
    for (i = 0; i < {p.name}_NX; i++) printf("%.17g ", x[i]);
    return 0;
}}
""")
    flags = [
        "-std=c99",
        "-O0",
        "-Wall",
        "-Wextra",
        "-Wpedantic",
        "-Wshadow",
        "-Wno-unused-function",
        "-Werror",
    ]
    done = subprocess.run(
        [find_compiler(), *flags, "main.c", "-o", "main", "-lm"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0 and not done.stderr, done.stderr
    found = np.array(
        subprocess.run(
            [tmp_path / "main"], capture_output=True, text=True, check=True
        ).stdout.split(),
        float,
    )
    s = read("four_bar")
    ours = simulate(s.mechanism, s.q, s.v, 0.2, tolerance=1e-12).data
    assert relative(found, np.concatenate([ours.q.values[-1], ours.v.values[-1]])) < 1e-9


@compiler
def test_a_library_refuses_arrays_of_other_shapes_and_files_that_are_none(libraries, tmp_path):
    with pytest.raises(StateError, match=r"u has shape \(2,\); it takes \(3,\)"):
        libraries["four_bar"].derivative(0.0, libraries["four_bar"].start, [1.0, 2.0])
    (tmp_path / "x.so").write_text("no")
    with pytest.raises(CompileError, match="is no library of a plant"):
        library.Library(tmp_path / "x.so")


@pytest.mark.skipif(
    shutil.which("octave-cli") is None, reason="Octave is not installed: apt install octave"
)
def test_octave_runs_the_matlab_file(plants, tmp_path):
    p = plants["four_bar"]
    matlab.write(p, tmp_path)
    x, u = state(p)
    given = [0.0, x, u, [v.start for v in p.parameters]]
    asked = (
        f"S = {p.name}(); x = [{' '.join(map(repr, x.tolist()))}]'; u ="
        f" [{' '.join(map(repr, u.tolist()))}]'; p = S.parameters;printf('%.17g ', [S.derivative(0,"
        " x, u, p); S.outputs(0, x, u, p); S.project(0, x, u, p)])"
    )
    done = subprocess.run(
        ["octave-cli", "-q", "--eval", asked], cwd=tmp_path, capture_output=True, text=True
    )
    wanted = np.concatenate(
        [np.array(f(*given)).ravel() for f in (p.derivative, p.output, p.project)]
    )
    assert relative(np.array(done.stdout.split(), float), wanted) < 1e-12, done.stderr


def test_julia_parses(plants):
    tree_sitter = pytest.importorskip("tree_sitter")
    grammar = pytest.importorskip("tree_sitter_julia")
    parser = tree_sitter.Parser(tree_sitter.Language(grammar.language()))
    for p in plants.values():
        text = julia.text(p)
        assert not parser.parse(text.encode()).root_node.has_error
    assert "module FourBarLinkage" in julia.text(plants["four_bar"])


@pytest.mark.parametrize("name", ["pendulum", "cart_pole"])
def test_modelica_is_parsed_and_its_equations_hold(name, monkeypatch):
    """Pymoca makes equations of the model; their solution is our rates. It knows neither noEvent
    nor <>, which are put in its words.
    """
    parser = pytest.importorskip("pymoca.parser")
    generator = pytest.importorskip("pymoca.backends.casadi.generator")
    # pymoca calls it by its name of Python 2
    monkeypatch.setattr(ca.MX, "__div__", ca.MX.__truediv__, raising=False)
    p = plant_of_scenario(read(name), stabilise="baumgarte")
    text = modelica.text(p)
    assert parser.parse(text) is not None
    # what is compared with zero is 0 or 1
    plain = text.replace("noEvent(", "(").replace(" <> 0 ", " > 0.5 ")
    model = generator.generate(parser.parse(plain), p.name.title().replace("_", ""))
    x, u = state(p)
    values = [v.start for v in p.parameters]
    symbols = [s.symbol for s in (*model.der_states, *model.alg_states)]
    known = ca.vertcat(*(s.symbol for s in (*model.states, *model.inputs, *model.parameters)))
    f = ca.Function("f", [ca.vertcat(*symbols), known], [ca.vertcat(*model.equations)]).expand()
    place = {s.name(): k for k, s in enumerate(symbols)}
    z = np.zeros(len(symbols))
    here = np.concatenate([x, u, values])
    # each equation gives its left side from those before
    for k, line in enumerate(text.partition("equation\n")[2].splitlines()[:-1]):
        z[place[line.split("=")[0].strip()]] -= float(f(z, here)[k])
    assert relative(z[: len(x)], np.array(p.derivative(0.0, x, u, values)).ravel()) < 1e-12


@pytest.mark.parametrize("name", ["four_bar", "slider_crank", "two_link_arm"])
def test_urdf_and_companion_are_the_mechanism(name, tmp_path):
    m = read(name).mechanism
    robot, companion = write_urdf(m, tmp_path)
    again = load(robot, companion=companion)
    ours = compile(m)
    theirs = compile(again)
    assert theirs.coordinate_names == ours.coordinate_names and [j.name for j in again.loops] == [
        j.name for j in m.loops
    ]
    s = read(name)
    tau = np.linspace(0.5, 1.0, ours.nv)
    assert (
        relative(theirs.forward_dynamics(s.q, s.v, tau), ours.forward_dynamics(s.q, s.v, tau))
        < 1e-10
    )
    for frame in m.frames:
        assert relative(theirs.pose(s.q, frame.name), ours.pose(s.q, frame.name)) < 1e-13


def test_the_command_says_what_it_can(tmp_path, capsys):
    def said(*words):
        try:
            code = main(["export", *map(str, words)])
        except SystemExit as end:
            code = end.code
        shown = capsys.readouterr()
        return code, " ".join((shown.out + shown.err).split())

    assert (
        "say what to write: --fmu 2, --fmu 3, --to {c, library, matlab, julia, modelica, urdf,"
        " ros2, svg, dxf, csv, parquet, rerun, mcap}, or --kernel NAME"
        in said("pendulum", "--out", tmp_path)[1]
    )
    assert "no export 'fortran'" in said("pendulum", "--to", "fortran", "--out", tmp_path)[1]
    assert (
        "no kind of FMU 'xx'"
        in said("pendulum", "--fmu", 2, "--kind", "xx", "--out", tmp_path / "p.fmu")[1]
    )
    assert (
        "contact 'box-ground'" in said("tumbling_box", "--fmu", 2, "--out", tmp_path / "p.fmu")[1]
    )
    code, text = said(
        "pendulum", "--fmu", 3, "--source", "--kind", "cs", "--out", tmp_path / "p.fmu"
    )
    assert not code and text.endswith("FMI 3, cs, sources alone: asked for")
    code, text = said(
        "pendulum", "--to", "matlab", "--to", "julia", "--set", "l=2", "--out", tmp_path / "both"
    )
    assert not code and sorted(x.name for x in (tmp_path / "both").iterdir()) == [
        "pendulum.jl",
        "pendulum.m",
    ], text
    assert "2.0" in next(
        line
        for line in (tmp_path / "both" / "pendulum.m").read_text().splitlines()
        if "S.parameters = " in line
    )


def test_an_export_can_be_added_from_outside(tmp_path):
    toy = targets.register(targets.Target("toy", lambda asked: [asked.plant().name], "a name"))
    try:
        assert targets.write("toy", targets.Asked("pendulum", str(tmp_path))) == ["pendulum"]
    finally:
        del targets.TARGETS[toy.name]


def test_what_a_language_lacks_is_named():
    m = load("pendulum")
    f = ca.SX.sym("t"), ca.SX.sym("x", 2), ca.SX.sym("u"), ca.SX.sym("p", 0)
    p = plant(m)
    from dataclasses import replace

    odd = replace(p, derivative=ca.Function("derivative", list(f), [ca.erf(f[1])]))
    with pytest.raises(
        CompileError,
        match=(
            "Julia without packages has no erf, which an expression of this mechanism uses; export"
            " C instead"
        ),
    ):
        julia.text(odd)
