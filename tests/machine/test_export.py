"""Kernels as C: compiled by the machine's own compiler without a warning, and compared with the
machine.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess

import numpy as np
import pytest

from catena.errors import CompileError, StateError, UnknownNameError
from catena.formats import load
from catena.machine.export import c_kernel, identifier
from catena.machine.machine import compile
from catena.machine.quantities import QUANTITIES
from catena.model.mechanism import Body, Joint, Mechanism
from catena.model.pose import Pose
from zoo import MOVING, random_tree

STATES = 5
FLAGS = (
    "-std=c99",
    "-O0",
    "-Wall",
    "-Wextra",
    "-Wpedantic",
    "-Wshadow",
    "-Wmissing-prototypes",
    "-Werror",
    "-fPIC",
    "-shared",
)


@pytest.fixture(scope="session")
def cc():
    found = shutil.which("gcc") or shutil.which("cc")
    if found is None:
        pytest.skip("there is no C compiler here: neither gcc nor cc is on the path")
    return found


def built(kernel, cc, folder):
    """The C function of a kernel, as a function of arrays that gives its results, flat."""
    source, _ = kernel.write(folder)
    library = source.with_suffix(".so")
    run = subprocess.run(
        [cc, *FLAGS, str(source), "-o", str(library), "-lm"], capture_output=True, text=True
    )
    assert run.returncode == 0 and not run.stderr, run.stderr
    function = getattr(ctypes.CDLL(str(library)), kernel.name)
    function.restype = None

    def call(*arrays):
        inputs = [
            ctypes.c_double(x) if np.ndim(x) == 0 else pointer(np.ascontiguousarray(x, float))
            for x in arrays
        ]
        results = [np.full(y.size, np.nan) for y in kernel.outputs]
        function(*inputs, *map(pointer, results))
        return results

    return call


def pointer(x):
    return x.ctypes.data_as(ctypes.POINTER(ctypes.c_double))


def state(machine, inputs, rng):
    return [
        machine.sample(rng) if name == "q" else rng.standard_normal(machine.nv) for name in inputs
    ]


def close(found, wanted):
    for x, y in zip(found, wanted, strict=True):
        y = np.asarray(y).ravel()
        assert np.abs(x - y).max() <= 1e-12 * max(1.0, np.abs(y).max())


@pytest.fixture(scope="module")
def tree():
    return compile(random_tree(21, ["free", "universal", "ball", "helical", "fixed", "prismatic"]))


PLAIN = [k for k, x in QUANTITIES.items() if not (x.frame or x.of_rows)]
OF_A_FRAME = {k: x.frame + x.axes for k, x in QUANTITIES.items() if x.frame}
OF_ROWS = [k for k, x in QUANTITIES.items() if x.of_rows]


@pytest.mark.parametrize("quantity", PLAIN)
def test_every_kernel_in_c_is_the_machine(tree, cc, tmp_path, quantity):
    call = built(c_kernel(tree, quantity), cc, tmp_path)
    rng = np.random.default_rng(1)
    f = tree.function(quantity)
    for _ in range(STATES):
        given = state(tree, QUANTITIES[quantity].inputs, rng)
        close(call(*given), [np.array(y) for y in f.call(given)])
    if quantity in ("inverse_dynamics", "forward_dynamics", "mass_matrix", "bias", "gravity"):
        close(call(*given), [getattr(tree, quantity)(*given)])


@pytest.mark.parametrize("quantity", ["inverse_dynamics", "forward_dynamics"])
def test_every_joint_kind_in_c(cc, tmp_path, quantity):
    machine = compile(random_tree(22, [*MOVING, "fixed", "revolute"]))
    given = state(machine, QUANTITIES[quantity].inputs, np.random.default_rng(8))
    close(
        built(c_kernel(machine, quantity), cc, tmp_path)(*given),
        [getattr(machine, quantity)(*given)],
    )


@pytest.mark.parametrize("quantity", OF_A_FRAME)
def test_kernels_of_a_frame_in_c(tree, cc, tmp_path, quantity):
    which = ("body4", "body")[: OF_A_FRAME[quantity]]
    kernel = c_kernel(tree, quantity, *which)
    assert kernel.name == f"tree21_{quantity}_body4"
    given = state(tree, QUANTITIES[quantity].inputs, np.random.default_rng(2))
    wanted = tree.evaluate(quantity, *given, **dict(zip(("frame", "axes"), which)))
    wanted = wanted if isinstance(wanted, tuple) else (wanted,)
    close(
        built(kernel, cc, tmp_path)(*given),
        [wanted[0][:3]] if quantity == "pose" else list(wanted),
    )


def test_external_wrenches_in_c(tree, cc, tmp_path):
    places = [("body3", "body"), ("body5", "world")]
    rng = np.random.default_rng(3)
    given = state(tree, "qva", rng)
    w = rng.standard_normal((2, 6))
    kernel = c_kernel(tree, "inverse_dynamics", wrenches=places)
    assert [x.name for x in kernel.inputs] == ["q", "v", "a", "wrenches"]
    wanted = tree.inverse_dynamics(*given, wrenches=dict(zip(places, w)))
    close(built(kernel, cc, tmp_path)(*given, w), [wanted])


def test_parameters_are_an_argument_or_fixed(cc, tmp_path):
    machine = compile(load("two_link_arm"))
    rng = np.random.default_rng(4)
    given = state(machine, "qva", rng)
    other = {**machine.mechanism.parameters, "m2": 7.5}
    free = built(c_kernel(machine, "inverse_dynamics", name="free_kernel"), cc, tmp_path)
    close(
        free(*given, np.array(list(other.values()))),
        [machine.inverse_dynamics(*given, parameters=other)],
    )
    fixed = c_kernel(machine, "inverse_dynamics", name="fixed_kernel", fixed=True)
    assert (
        fixed.declaration
        == "void fixed_kernel(const double *q, const double *v, const double *a, double *tau)"
    )
    close(built(fixed, cc, tmp_path)(*given), [machine.inverse_dynamics(*given)])


def four_bar():
    """Three bars on pins, the last held to the ground by a loop.

    o---coupler---o
    |             |
    crank       rocker
    |             |
    o ... ground..o
    """
    bar = {"mass": 1.0, "com": (0.5, 0, 0), "inertia": (0.01, 0.1, 0.1)}
    bodies = tuple(Body(name, **bar) for name in ("crank", "coupler", "rocker"))
    pins = [
        ("a", "ground", "crank", (0, 0, 0)),
        ("b", "crank", "coupler", (1, 0, 0)),
        ("c", "coupler", "rocker", (1, 0, 0)),
    ]
    joints = tuple(Joint(n, "revolute", p, c, Pose(position=at)) for n, p, c, at in pins)
    close = Joint(
        "d",
        "revolute",
        "rocker",
        "ground",
        Pose(position=(1, 0, 0)),
        offset=Pose(position=(1.2, 0, 0)),
    )
    return Mechanism("four bar", bodies, joints, loops=(close,), gravity=(0, -9.81, 0))


@pytest.mark.parametrize("quantity", ["forward_dynamics", "multipliers", "constraint_rows"])
def test_kernels_of_a_closed_loop_in_c(cc, tmp_path, quantity):
    machine = compile(four_bar())
    given = state(machine, QUANTITIES[quantity].inputs, np.random.default_rng(5))
    wanted = machine.evaluate(quantity, *given, check=False)  # C takes every state as it is
    close(built(c_kernel(machine, quantity), cc, tmp_path)(*given), list(wanted))


def test_a_result_may_be_written_over_an_argument(tree, cc, tmp_path):
    kernel = c_kernel(tree, "inverse_dynamics")
    built(kernel, cc, tmp_path)
    function = getattr(ctypes.CDLL(str(tmp_path / f"{kernel.name}.so")), kernel.name)
    q, v, a = state(tree, "qva", np.random.default_rng(6))
    wanted = tree.inverse_dynamics(q, v, a)
    function(pointer(q), pointer(v), pointer(a), pointer(a))
    close([a], [wanted])


def test_names_of_a_file_cannot_leave_a_comment(cc, tmp_path):
    evil = 'x */ int y = "; /* ??/\n\\'
    body = Body("b", 1.0, (0, 0, 1), (1, 1, 1))
    machine = compile(
        Mechanism(evil, (body,), (Joint(evil, "revolute", "ground", "b", axis=(0, 1, 0)),))
    )
    kernel = c_kernel(machine, "reactions")
    check = [cc, "-fsyntax-only", *FLAGS[:-2], "-x", "c", "-"]
    run = subprocess.run(check, input=kernel.header, capture_output=True, text=True)
    assert run.returncode == 0 and not run.stderr, run.stderr
    given = state(machine, "qva", np.random.default_rng(7))
    close(built(kernel, cc, tmp_path)(*given), [machine.reactions(*given)[evil]])


def test_header_says_what_each_argument_is():
    header = c_kernel(compile(load("every_joint")), "inverse_dynamics").header
    for line in ("q[27]", "v[25]", "floating.qw, 1", "rail, m", "swing, rad/s", "tau[25]"):
        assert line in header


def test_the_same_kernel_is_the_same_text():
    assert (
        c_kernel(compile(load("stanford_arm")), "bias").source
        == c_kernel(compile(load("stanford_arm")), "bias").source
    )


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (
            ("inverse_dynamic",),
            {},
            "no kernel 'inverse_dynamic' in a machine; kernels are: inverse_dynamics, ",
        ),
        (("pose",), {}, "pose takes a frame; found none"),
        (("bias", "body1"), {}, "bias takes no frame; found 'body1'"),
        (("jacobian", "body1", "wrld"), {}, "no axes 'wrld' in jacobian of 'body1'"),
        (("pose", "body99"), {}, "no frame 'body99' in mechanism 'tree21'"),
        (
            ("gravity",),
            {"wrenches": [("body1", "body")]},
            "kernel 'gravity' does not depend on external wrenches",
        ),
        (("multipliers",), {}, "has no multipliers: it has no loop"),
        (("bias",), {"name": "sin"}, "cannot be called 'sin'"),
        (("bias",), {"name": "two words"}, "cannot be called 'two words'"),
    ],
)
def test_what_export_refuses(tree, arguments, options, message):
    with pytest.raises((CompileError, StateError, UnknownNameError)) as error:
        c_kernel(tree, *arguments, **options)
    assert message in str(error.value)


def test_a_folder_that_cannot_be_made(tree, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(CompileError, match="cannot be made"):
        c_kernel(tree, "bias").write(tmp_path / "file" / "folder")


def test_identifiers():
    assert identifier("Stanford arm") == "stanford_arm"
    assert identifier("3R") == "m_3r"
    assert identifier("腕") == "m_"
