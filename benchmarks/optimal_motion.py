"""How much faster is an optimal motion with our machine code than with CasADi's virtual machine?

The swing-up of a cart's pole, solved by Ipopt from the same straight line with the same exact derivatives: once with all intervals in lanes, once as plain
CasADi does it, the interval's expressions mapped over the intervals. Both take the same iterations; whole solves are compared.

    python benchmarks/optimal_motion.py
"""

from __future__ import annotations

import time

import casadi as ca
import numpy as np
from peers import size

import catena
from catena.studies import TRANSCRIPTIONS
from catena.studies.costs import cost_rate
from catena.studies.nlp import Program
from catena.studies.optimisation import QUIET, _Problem
from catena.studies.transcription import Interval

INTERVALS, ROUNDS = size(60, 10), size(5, 1)


def main() -> None:
    mechanism, asked = catena.studies.read_optimize("swing_up")
    problem = _Problem.of(mechanism, asked["q"], asked["v"], asked["until"], None, None, "collocation", INTERVALS, None)
    s = problem.plan.system
    interval = Interval(s, cost_rate(s, asked["cost"]), TRANSCRIPTIONS["collocation"], INTERVALS, actuated=problem.actuated, unknown=[], p=problem.plan.p[0],
                        free_time=False, until=asked["until"])  # fmt: skip
    program = Program(interval)
    program.compile()
    low, high = problem.ranges(asked["end"], {})
    given = {"x0": problem.guess(low, high), "lbx": low, "ubx": high, "lbg": 0.0, "ubg": 0.0}
    ours, alive = program.solver(QUIET)
    z = ca.MX.sym("z", program.size)
    y = ca.horzcat(*(z[row.tolist()] for row in program.places))
    defects, costs = interval.tape.map(INTERVALS)(y, program.s.T)
    plain = ca.nlpsol("plain", "ipopt", {"x": z, "f": ca.sum2(costs), "g": ca.vec(defects)}, QUIET)
    best = {}
    for _ in range(ROUNDS):
        for name, solver in (("ours", ours), ("plain", plain)):
            began = time.perf_counter()
            found = solver(**given)
            seconds = time.perf_counter() - began
            best[name] = min(best.get(name, (np.inf, 0, 0))[0], seconds), solver.stats()["iter_count"], float(found["f"])
    del alive
    for name, (seconds, iterations, cost) in best.items():
        print(f"{name:6} {seconds * 1e3:8.2f} ms, {iterations} iterations, cost {cost:.6f}")
    print(f"plain CasADi takes {best['plain'][0] / best['ours'][0]:.2f} times as long")


if __name__ == "__main__":
    main()
