"""Linked code and threads: given back when they are no longer used, and working to the very end."""

from __future__ import annotations

import gc
import subprocess
import sys
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

from catena.compiler import lanes, tape, threads
from catena.compiler.lanes import compile_lanes, object_code

X = ca.SX.sym("x", 3)


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the memory of a process is told otherwise")
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
from catena.compiler.threads import in_threads
@atexit.register
def last():
    print(in_threads(lambda k: k * k, range(4)))
print(in_threads(lambda k: k + 1, range(3)))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.splitlines() == ["[1, 2, 3]", "[0, 1, 4, 9]"] and not done.stderr


def test_parts_are_answered_in_order():
    assert threads.in_threads(lambda k: -k, [3, 1, 2]) == [-3, -1, -2] and threads.in_threads(abs, []) == []
    nested = threads.in_threads(lambda k: threads.in_threads(lambda l: 10 * k + l, range(3)), range(20))
    assert nested == [[10 * k + l for l in range(3)] for k in range(20)]


@pytest.mark.parametrize("bad", [0, 1, 5])
def test_a_failure_in_any_thread_is_raised_here(bad):
    with pytest.raises(ZeroDivisionError):
        threads.in_threads(lambda k: 1 / (k - bad), range(6))
    assert threads.in_threads(abs, [-1, 2, -3]) == [1, 2, 3]


@pytest.mark.parametrize("expression", [X[1], ca.fmin(X[0], 1.0) + X[1], ca.if_else(X[0] > 0, X[1], X[1]), X[1] / X[0], ca.atan(X[0]) * X[1]])
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
