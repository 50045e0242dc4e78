"""Linked code and threads: given back when they are no longer used, and working to the very end."""

from __future__ import annotations

import gc
import io
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import casadi as ca
import llvmlite.binding as llvm
import numpy as np
import pytest

from catena.compiler import emit, generic, host, lanes, tape, threads
from catena.compiler.lanes import compile_lanes, object_code

X = ca.SX.sym("x", 3)


@pytest.mark.skipif(
    not Path("/proc/self/statm").exists(), reason="the memory of a process is told otherwise"
)
def test_kernels_that_are_gone_leave_nothing_behind():
    f = ca.Function("f", [X], [ca.sin(X) * X])
    code = object_code(f, 2)

    def resident() -> int:
        gc.collect()
        return 4 * int(Path("/proc/self/statm").read_text().split()[1])

    for _ in range(100):
        lanes._of(f, 2, code, None)
    before = resident()
    for _ in range(300):
        lanes._of(f, 2, code, None)
    assert resident() - before < 600  # kB; a library that stays costs ten of them


def test_threads_work_while_the_interpreter_ends():
    program = """
import atexit
import casadi as ca
import numpy as np
from catena.compiler import lanes
lanes.WORTH_A_THREAD = lanes.PIECE = 1
x = ca.SX.sym("x", 2)
kernel = lanes.compile_lanes(ca.Function("f", [x], [2 * x]), cache=False)
@atexit.register
def last():
    (y,), finite = kernel([np.ones((1000, 2))], 1000, threads=4)
    print(y.sum(), finite)
last()
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.splitlines() == ["4000.0 True"] * 2 and not done.stderr


def test_a_requested_helper_works_and_is_idle_again():
    """Also after a task that failed; and there is never more than one worker for each core but the
    first.
    """
    came = threading.Event()
    for task in (lambda: 1 / 0, came.set):
        threads.request_helpers(task, 1)
    for _ in range(100):
        threads.request_helpers(came.set, 1)
        if came.wait(0.1):
            break
    assert came.is_set() or (os.cpu_count() or 1) == 1
    assert sum(thread.name == "catena" for thread in threading.enumerate()) < max(
        2, os.cpu_count() or 1
    )


def test_a_batch_is_whole_whoever_comes(monkeypatch):
    """All by this thread where nobody comes; by others where this one is late; many at once."""
    monkeypatch.setattr(lanes, "WORTH_A_THREAD", 1)
    monkeypatch.setattr(lanes, "PIECE", 1)
    kernel = compile_lanes(ca.Function("f", [X], [ca.sin(X)]))
    x = np.linspace(0, 1, 3 * 4001).reshape(-1, 3)
    alone, _ = kernel([x], len(x))
    answers: list[bool] = []

    def ask():
        for _ in range(20):
            (y,), finite = kernel([x], len(x), threads=3)
            answers.append(finite and np.array_equal(y, alone[0]))

    crowd = [threading.Thread(target=ask) for _ in range(4)]
    for thread in crowd:
        thread.start()
    for thread in crowd:
        thread.join()
    monkeypatch.setattr(lanes, "request_helpers", lambda work, helpers: None)
    ask()
    monkeypatch.setattr(lanes, "request_helpers", lambda work, helpers: work())
    ask()
    assert len(answers) == 120 and all(answers)


@pytest.mark.parametrize(
    "expression",
    [
        X[1],
        ca.fmin(X[0], 1.0) + X[1],
        ca.if_else(X[0] > 0, X[1], X[1]),
        X[1] / X[0],
        ca.atan(X[0]) * X[1],
    ],
)
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_inputs_that_no_result_shows_are_looked_at(expression, bad):
    f = ca.Function("f", [X], [expression])
    kernel = compile_lanes(f, width=4)
    states = np.ones((9, 3))
    assert kernel([states], 9)[1]
    for entry in (0, 2):
        for state in (0, 4, 8):
            given = states.copy()
            given[state, entry] = bad
            assert not kernel([given], 9)[1]


def test_only_what_no_result_shows_is_looked_at():
    f = ca.Function("f", [X], [ca.sin(X[0]) * X[1]])
    assert tape.silent(tape.read(f)) == [2]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "silent", "lines"), [(Terminal, 0.0, 1), (Terminal, 60.0, 0), (io.StringIO, 0.0, 0)]
)
def test_a_long_compilation_says_so_once_and_on_a_terminal_only(monkeypatch, stream, silent, lines):
    seen = stream()
    monkeypatch.setattr(sys, "stderr", seen)
    monkeypatch.setattr(host, "SILENT", silent)
    monkeypatch.setattr(host, "_waited", {"seconds": 0.0, "printed": False})
    for _ in range(2):
        with host._patience():
            time.sleep(0.05)
    assert (
        seen.getvalue().count("catena: compiling machine code")
        == seen.getvalue().count("\n")
        == lines
    )


FIRST = """
from catena.compiler import host
host.SILENT = 0.02
from catena.formats import load
from catena.machine.machine import compile
machine = compile(load("two_link_arm"))
print(machine.forward_dynamics([[0.1, 0.2]] * 9, [[0, 0]] * 9, [[0, 0]] * 9).shape)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="pseudoterminals are another thing there")
def test_a_first_answer_says_on_a_terminal_that_it_compiles(tmp_path):
    """On a terminal of its own, with an empty cache; the next process finds the code and says
    nothing.
    """
    import pty

    said = []
    for _ in range(2):
        ours, theirs = pty.openpty()
        subprocess.run(
            [sys.executable, "-c", FIRST],
            stderr=theirs,
            check=True,
            env=os.environ | {"CATENA_CACHE_DIR": str(tmp_path)},
        )
        os.write(theirs, b".")
        said.append(os.read(ours, 10_000).decode())
        os.close(ours)
        os.close(theirs)
    assert (
        said[0].count(
            "catena: compiling machine code; it is kept, so that the next time does not wait"
        )
        == 1
        and said[1] == "."
    )


# --- targets
STATES = """
import numpy as np
from catena.compiler import host
from catena.formats import load
from catena.machine.machine import compile
from catena.simulation import simulate
machine, rng = compile(load("every_joint"), threads=1), np.random.default_rng(0)
q, v, a = machine.sample(rng, 5), rng.standard_normal((5, machine.nv)), rng.standard_normal((5, machine.nv))
found = [machine.inverse_dynamics(q, v, a), machine.forward_dynamics(q, v, a), machine.forward_dynamics(q[0], v[0], a[0])]
arm = simulate(load("two_link_arm"), q=0.1 * q[:, :2], until=0.2, integrator="rk4", step=0.01, output=0.1)
print(host.default_width(), host.has_fma(), *np.concatenate([x.ravel() for x in [*found, arm.data["state"].values]]))
"""  # noqa: E501


def told(target: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"CATENA_TARGET": target}
    return subprocess.run(
        [sys.executable, "-c", STATES], capture_output=True, text=True, env=environment
    )


def test_narrower_targets_agree():
    has = llvm.get_host_cpu_features()
    names = ["", *(name for name, (*_, needed) in host.TARGETS.items() if has.get(needed))]
    answers = {}
    for name in names:
        done = told(name)
        # a crash has no words but its signal
        assert done.returncode == 0, (name, done.returncode, done.stderr)
        answers[name] = done.stdout.split()
    wanted = np.array(answers[""][2:], float)
    assert wanted.size > 100 and len(names) > 1
    for name in names[1:]:
        _, width, fused, _ = host.TARGETS[name]
        assert answers[name][:2] == [str(width), str(fused)]
        np.testing.assert_allclose(
            np.array(answers[name][2:], float),
            wanted,
            rtol=1e-12,
            atol=1e-12 * np.abs(wanted).max(),
        )


def test_a_target_that_cannot_run_here_is_refused():
    foreign = "neon" if llvm.get_host_cpu_features().get("sse2") else "sse2"
    assert f"CATENA_TARGET={foreign} cannot run on this processor" in told(foreign).stderr


@pytest.mark.parametrize(
    ("name", "triple", "machine"),
    [("neon", "aarch64-unknown-linux-gnu", 183), ("avx512", "x86_64-unknown-linux-gnu", 62)],
)
def test_code_for_other_processors_is_assembled(name, triple, machine):
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    cpu, width, fused, _ = host.TARGETS[name]
    made = host.machine_of(host.Target(triple, cpu, "", width, fused))
    f = ca.Function("f", [X], [ca.sin(X) * X + ca.atan2(X[0], X[1])])
    nodes = tape.read(f)
    texts = [
        emit.module(nodes, tape.plan(nodes), width),
        emit.sines(width, fused),
        generic.text("forward_dynamics", width),
    ]
    for code in (host.assemble(text, optimise, made) for optimise, text in zip((0, 0, 2), texts)):
        assert code[:4] == b"\x7fELF" and int.from_bytes(code[18:20], "little") == machine
