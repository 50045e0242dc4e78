"""How much faster is an optimal motion with our machine code than with CasADi's virtual machine?

Motions from the same straight line by Ipopt with the same exact derivatives: once with all
intervals in lanes, once as plain CasADi does it, the interval's expressions mapped over the
intervals and differentiated by CasADi. Both take the same iterations. Printed: whole solves, what
share of them waits for functions, the functions alone, and what would be left if ours took no time
at all (Amdahl).

    python benchmarks/optimal_motion.py [cart double four_bar ur5 ...]
"""

from __future__ import annotations

import sys
import time
from typing import Any

import casadi as ca
from peers import TINY, size

import catena
from catena.optimization.ipopt import solver
from catena.optimization.motion import Motion
from catena.optimization.motion_problem import MotionProblem
from catena.optimization.program import Program
from robots import urdf

ROUNDS = size(5, 1)
UR5 = {
    "q": [0.0, -1.2, 1.0, 0.0, 0.0, 0.0],
    "end": {"q": [1.5, -0.8, 0.6, 0.5, 0.7, 0.3], "v": "rest"},
    "until": (0.2, 3.0),
    "intervals": 20,
}


def problems() -> dict[str, tuple[catena.Mechanism, dict[str, Any]]]:
    """A cart-pole, a double pendulum, a turn of a four-bar; UR5 from a point to another in the
    least time, torques counted a little.
    """
    found = {
        name: catena.optimization.read_optimize(file)
        for name, file in (
            ("cart", "swing_up"),
            ("double", "double_pendulum"),
            ("four_bar", "four_bar"),
        )
    }
    if TINY:
        return {"cart": found["cart"]}
    return {
        **found,
        "ur5": (catena.load(urdf("ur5")), {**UR5, "cost": {"time": 1.0, "torque squared": 1e-6}}),
    }


def motion_of(mechanism: catena.Mechanism, asked: dict[str, Any], method: str) -> Motion:
    intervals = size(asked.get("intervals", 50), 8)
    problem = MotionProblem.of(
        mechanism,
        asked.get("q"),
        asked.get("v"),
        asked["until"],
        asked.get("actuated"),
        None,
        intervals,
        None,
    )
    return Motion.of(
        problem,
        problem.ranges(asked["end"], asked.get("bounds", {})),
        asked.get("cost", "torque squared"),
        method,
        {},
    )


def plain(program: Program) -> ca.Function:
    """The same program as expressions, in CasADi's virtual machine."""
    z = ca.MX.sym("z", program.size)
    c = program.copies
    y = ca.horzcat(*(z[row.tolist()] for row in program.places))
    rows, costs = c.tape.map(c.count)(y, c.given.T)
    return ca.nlpsol(
        "plain",
        "ipopt",
        {"x": z, "f": ca.sum2(costs), "g": ca.vec(rows)},
        {"print_time": False, "ipopt.print_level": 0, "ipopt.sb": "yes", "ipopt.tol": 1e-8},
    )


def measure(name: str, motion: Motion, method: str) -> None:
    motion.copies.compile()
    program, layout = motion.program()
    z, low, high, rows = motion.arguments(layout)
    given = {"x0": z, "lbx": low, "ubx": high, "lbg": rows[0], "ubg": rows[1]}
    ours, alive = solver(program, 1e-8, 2000)
    sides = {"ours": ours, "plain": plain(program)}
    best: dict[str, tuple[float, float, int, float, bool]] = {}
    for _ in range(ROUNDS):
        for side, function in sides.items():
            began = time.perf_counter()
            found = function(**given)
            seconds = time.perf_counter() - began
            stats = function.stats()
            waited = sum(x for key, x in stats.items() if key.startswith("t_wall_nlp_"))
            if side not in best or seconds < best[side][0]:
                best[side] = (
                    seconds,
                    waited,
                    stats["iter_count"],
                    float(found["f"]),
                    stats["success"],
                )
    del alive
    (a, fa, ia, ca_, oka), (b, fb, ib, cb, okb) = best["ours"], best["plain"]
    print(
        f"{name:9} {method:12} ours {a * 1e3:8.2f} ms, {100 * fa / a:3.0f} % in functions; plain"
        f" {b * 1e3:8.2f} ms, {100 * fb / b:3.0f} %: {b / a:5.2f} times; functions alone"
        f" {fb / ib / (fa / ia):5.2f}; at most {b / (b - fb):5.2f} if they took no time; iterations"
        f" {ia}, {ib}; costs {ca_:.6g}, {cb:.6g}{'' if oka and okb else '; NOT SOLVED'}",
        flush=True,
    )


def main() -> None:
    known = problems()
    for name in [w for w in sys.argv[1:] if w in known] or list(known):
        for method in ("collocation", "shooting")[: 1 if name == "ur5" else 2]:
            measure(name, motion_of(*known[name], method), method)


if __name__ == "__main__":
    main()
