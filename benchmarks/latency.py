"""How late can an answer be in a control loop: percentiles of single calls, from Python with `out=`
and from C?

Asked at 1 kHz: inverse dynamics of a Panda below 2 us and a closed loop (four-bar) below 10 us at
the percentile 99.99. Calls are timed one by one, each after other work has used the caches, as in a
loop that also does something else; the clock's own time is included. Interruptions by other
programs count too, so a busy machine shows in the last column: the first row is a call that does
nothing.

    python benchmarks/latency.py
"""

from __future__ import annotations

import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
from peers import robot, size

import catena
from catena.exports.c_compiler import find_compiler
from catena.machine import Machine, c_kernel

CALLS = size(100_000, 200)
PERCENTILES = (50, 99, 99.99)
MAIN = """
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "%(name)s.h"
static double x[3][%(n)d], y[%(n)d], other[4096];
static int by(const void* a, const void* b) {
  double d = *(const double*)a - *(const double*)b; return (d > 0) - (d < 0); }
int main(void) {
  double* t = malloc(%(calls)d * sizeof(double));
%(start)s
  for (int k = 0; k < %(calls)d; ++k) {
    for (int i = 0; i < 4096; ++i) other[i] += x[0][0] * i;
    struct timespec a, b;
    clock_gettime(CLOCK_MONOTONIC, &a);
    %(name)s(%(arguments)s, y);
    clock_gettime(CLOCK_MONOTONIC, &b);
    t[k] = (b.tv_sec - a.tv_sec) * 1e9 + (b.tv_nsec - a.tv_nsec);
  }
  qsort(t, %(calls)d, sizeof(double), by);
  printf("%%g %%g %%g %%g", t[%(calls)d / 2], t[(long)(%(calls)d * 0.99)],
         t[(long)(%(calls)d * 0.9999)], y[0] + other[7]);
  return 0;
}
"""


def from_python(call, given: tuple[np.ndarray, ...], out: np.ndarray) -> np.ndarray:
    """Return the percentiles of a call, ns."""
    clock = time.perf_counter_ns
    found = np.empty(CALLS, np.int64)
    other = np.zeros(4096)
    call(*given, out=out)
    for k in range(CALLS):
        other += 1.0
        begin = clock()
        call(*given, out=out)
        found[k] = clock() - begin
    return np.percentile(found, PERCENTILES)


def from_c(machine: Machine, quantity: str, given: tuple[np.ndarray, ...]) -> np.ndarray | None:
    """Return the percentiles of the exported C, ns; None without a compiler."""
    compiler = find_compiler()
    if compiler is None:
        return None
    kernel = c_kernel(machine, quantity, name="kernel", fixed=True)
    n = max(machine.nq, machine.nv)
    start = "\n".join(
        f"  x[{i}][{k}] = {float(value)!r};"
        for i, x in enumerate(given)
        for k, value in enumerate(x)
    )
    words = {
        "name": "kernel",
        "n": n,
        "calls": CALLS,
        "start": start,
        "arguments": "x[0], x[1], x[2]",
    }
    with tempfile.TemporaryDirectory() as folder:
        kernel.write(folder)
        (Path(folder) / "main.c").write_text(MAIN % words)
        command = [compiler, "-std=gnu99", "-O2", "main.c", "kernel.c", "-lm", "-o", "main"]
        subprocess.run(command, cwd=folder, check=True)
        text = subprocess.run(["./main"], cwd=folder, check=True, capture_output=True).stdout
    return np.array(text.split()[:3], float)


def main() -> None:
    panda = robot("panda")[0]
    rng = np.random.default_rng(0)
    loop = catena.compile(catena.load("four_bar"), threads=1)
    q, v = catena.assemble(loop, [0.7, *[0.3] * (loop.nq - 1)], np.zeros(loop.nv))
    cases = [
        ("Panda", panda, "inverse_dynamics", tuple(0.3 * rng.standard_normal((3, panda.nv)))),
        ("Panda", panda, "forward_dynamics", tuple(0.3 * rng.standard_normal((3, panda.nv)))),
        ("four-bar", loop, "forward_dynamics", (q, v, np.zeros(loop.nv))),
    ]
    print(f"{CALLS} calls each; ns at the percentiles {', '.join(map(str, PERCENTILES))}")
    nothing = from_python(lambda out: out, (), np.empty(1))
    print(f"{'nothing':9} {'':17} {'Python':7}" + "".join(f"{x:10.0f}" for x in nothing))
    for name, machine, quantity, given in cases:
        given = tuple(np.ascontiguousarray(x) for x in given)
        rows = {
            "Python": from_python(getattr(machine, quantity), given, np.empty(machine.nv)),
            "C": from_c(machine, quantity, given),
        }
        for where, found in rows.items():
            if found is not None:
                print(f"{name:9} {quantity:17} {where:7}" + "".join(f"{x:10.0f}" for x in found))


if __name__ == "__main__":
    main()
