"""Controllers as C, compiled and called, against the same controllers in Python and in runs."""

import ctypes

import numpy as np
import pytest

import catena
from catena import control
from catena.errors import CompileError
from catena.exports.c_compiler import find_compiler, shared_library
from catena.exports.controller import c_controller
from catena.machine import c_kernel

needs_compiler = pytest.mark.skipif(find_compiler() is None, reason="no C compiler")


def compiled(kernel, folder):
    """The C function as a Python function of arrays that returns arrays."""
    source, _ = kernel.write(folder)
    library = folder / f"{kernel.name}.so"
    # the function is not static, and -fvisibility=hidden would hide it
    text = source.read_text().replace("void ", '__attribute__((visibility("default"))) void ', 1)
    source.write_text(text)
    shared_library(source, library)
    function = getattr(ctypes.CDLL(str(library)), kernel.name)

    def call(*given):
        outputs = [np.empty(y.size) for y in kernel.outputs]
        arrays = [np.ascontiguousarray(x, float) for x in given]
        arguments = [
            ctypes.c_double(float(x[0])) if k.name == "t" else ctypes.c_void_p(x.ctypes.data)
            for k, x in zip(kernel.inputs, arrays, strict=False)
        ]
        function(*arguments, *(ctypes.c_void_p(y.ctypes.data) for y in outputs))
        return outputs

    return call


@needs_compiler
def test_lqr_in_c_is_the_regulator(tmp_path):
    cart = catena.load("cart_pole")
    system = catena.linearize(cart, [0.0, 0.0], actuated=["x"], outputs=["x", "theta"])
    regulator = control.lqr(system, Q=1.0, R=0.1)
    kernel = c_controller(cart, regulator, "regulator")
    assert set(kernel.operations) <= {"add", "sub", "mul", "neg"}
    assert "Operations in every call" in kernel.header
    run = compiled(kernel, tmp_path)
    rng = np.random.default_rng(0)
    for q, v in rng.standard_normal((5, 2, 2)):
        (tau,) = run(0.0, q, v)
        assert np.abs(tau - regulator.forces(cart, q, v)).max() < 1e-12


@needs_compiler
def test_filter_and_regulator_in_c_act_as_in_a_run(tmp_path):
    """LQG: the C is called with the states of a run at its samples, and gives its forces."""
    cart = catena.load("cart_pole")
    system = catena.linearize(cart, [0.0, 0.0], actuated=["x"], outputs=["x", "theta"])
    estimate = control.kalman(
        system, process={"v['x']": 0.1, "v['theta']": 0.1}, measurement=1e-4, sample=0.01
    )
    held = control.lqg(control.lqr(system, Q=1.0, R=0.1, sample=0.01), estimate)
    found = catena.simulate(cart, q=[0.0, 0.1], until=0.5, control=held, output=0.01).data
    kernel = c_controller(cart, held, "lqg")
    step = compiled(kernel, tmp_path)
    _, _start = found["state"].values, None
    names = [str(n) for n in found["state_name"].values]
    first = names.index(kernel.outputs[1].entries[0])
    after = np.array([0.0] * (kernel.outputs[1].size - 1) + [-1e300])
    for k in range(len(found["time"]) - 1):
        tau, after = step(
            float(found["time"][k]), found["q"].values[k], found["v"].values[k], after
        )
        theirs = found["state"].values[k + 1, first : first + len(after)]
        if k:
            assert np.abs(after - theirs)[:-1].max() < 1e-8
    assert np.abs(tau).max() > 0


@needs_compiler
def test_operational_space_and_closed_loops_in_c(tmp_path):
    arm = catena.load("two_link_arm")
    goal = np.eye(4)
    goal[:3, 3] = [0.4, 0.5, 0.0]
    tip = control.FrameTask("tip", position=[1, 1, 0], orientation=0)
    law = control.OperationalSpace(tip, goal, 100, 20)
    run = compiled(c_controller(arm, law, "tip_law"), tmp_path)
    (tau,) = run(0.0, [0.3, 0.8], [0.1, -0.2])
    start = catena.simulate(arm, q=[0.3, 0.8], v=[0.1, -0.2], until=1e-3, control=law)
    assert np.abs(tau - start.data["tau"].values[0]).max() < 1e-9
    machine = catena.compile(catena.load("four_bar"))
    q, v = catena.assemble(machine, [0.7, *[0.3] * (machine.nq - 1)], np.zeros(machine.nv))
    dynamics = compiled(c_kernel(machine, "forward_dynamics", fixed=True), tmp_path)
    (a,) = dynamics(q, v, np.zeros(machine.nv))
    assert np.abs(a - machine.forward_dynamics(q, v, np.zeros(machine.nv))).max() < 1e-9


def test_controllers_without_c_are_refused():
    cart = catena.load("cart_pole")
    with pytest.raises(CompileError, match="called from Python"):
        c_controller(cart, lambda t, q, v: np.zeros(2))
    with pytest.raises(CompileError, match="change between samples"):
        c_controller(cart, control.PID(1.0, 1.0, 1.0, {"x": 0.0}))
    c_controller(cart, control.Hold(control.PID(1.0, 1.0, 1.0, {"x": 0.0}), 0.01))
