"""Ipopt, called through CasADi with functions (`Callback`) that call catena's machine code over
lanes.

The stagewise solver fatrop was tried in its place: its iterations are quicker, but it takes longer
to set up than it saves, and it did not find motions of least time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from .program import Program

Array = NDArray[np.float64]
Fill = Callable[[list[Array], list[Array | None]], None]


@dataclass(frozen=True)
class Found:
    """The outcome of Ipopt.

    z: the unknowns. solved: whether they are an optimum. iterations: their number. status: Ipopt's
    message. evaluation: the time (s) that its functions took.
    """

    z: Array
    solved: bool
    iterations: int
    status: str
    evaluation: float


def solve(
    program: Program,
    z: Array,
    low: Array,
    high: Array,
    rows: tuple[Array, Array],
    tolerance: float,
    iterations: int,
) -> Found:
    """Run Ipopt from z, with z between low and high, and each row of the program within its
    range.
    """
    function, alive = solver(program, tolerance, iterations)
    found = function(x0=z, lbx=low, ubx=high, lbg=rows[0], ubg=rows[1])
    stats = function.stats()
    del alive
    spent = sum(x for key, x in stats.items() if key.startswith("t_wall_nlp_"))
    return Found(
        np.array(found["x"]).ravel(),
        bool(stats["success"]),
        int(stats["iter_count"]),
        str(stats["return_status"]).replace("_", " ").lower(),
        spent,
    )


class _Compiled(ca.Callback):
    """A CasADi function whose outputs are computed by a function of arrays."""

    def __init__(
        self, name: str, inputs: Sequence[ca.Sparsity], outputs: dict[str, ca.Sparsity], fill: Fill
    ):
        ca.Callback.__init__(self)
        self._names = list(outputs)
        self._inputs, self._outputs, self._fill = list(inputs), list(outputs.values()), fill
        self.construct(name, {})

    def get_n_in(self) -> int:
        return len(self._inputs)

    def get_n_out(self) -> int:
        return len(self._outputs)

    def get_name_in(self, i: int) -> str:
        return ("x", "p", "lam_f", "lam_g")[i]

    def get_name_out(self, i: int) -> str:
        return self._names[i]

    def get_sparsity_in(self, i: int) -> ca.Sparsity:
        return self._inputs[i]

    def get_sparsity_out(self, i: int) -> ca.Sparsity:
        return self._outputs[i]

    def has_eval_buffer(self) -> bool:
        return True

    def eval_buffer(self, given: Any, results: Any) -> int:
        arrays = [np.frombuffer(x, np.float64) if x is not None else np.zeros(0) for x in given]
        self._fill(
            arrays,
            [np.frombuffer(x, np.float64) if x is not None and len(x) else None for x in results],
        )
        return 0


def solver(program: Program, tolerance: float, iterations: int) -> tuple[ca.Function, list[Any]]:
    """Return Ipopt for a program, and the objects that must live as long as it."""
    dense = ca.Sparsity.dense
    none = ca.Sparsity.dense(0, 1)
    z = dense(program.size, 1)
    g = dense(program.count, 1)
    one = dense(1, 1)
    known: dict[str, tuple[ca.Sparsity, Callable[[Array], Any]]] = {
        "f": (one, program.cost),
        "g": (g, program.constraints),
        "grad_f_x": (z, program.gradient),
        "jac_g_x": (program.jacobian_sparsity, program.jacobian),
    }

    def of(name: str, *outputs: str) -> _Compiled:
        def fill(given: list[Array], out: list[Array | None]) -> None:
            for own, key in zip(out, outputs):
                if own is not None:
                    own[:] = known[key][1](given[0])

        return _Compiled(name, [z, none], {key: known[key][0] for key in outputs}, fill)

    def hessian(given: list[Array], out: list[Array | None]) -> None:
        if out[0] is not None:
            out[0][:] = program.hessian(given[0], float(given[2][0]), given[3])

    nlp = of("nlp", "f", "g")
    parts = {
        "grad_f": of("nlp_grad_f", "f", "grad_f_x"),
        "jac_g": of("nlp_jac_g", "g", "jac_g_x"),
        "hess_lag": _Compiled(
            "nlp_hess_l", [z, none, one, g], {"hess": program.hessian_sparsity}, hessian
        ),
    }
    options: dict[str, Any] = {
        "print_time": False,
        "no_nlp_grad": True,
        "calc_lam_p": False,
        "ipopt.print_level": 0,
        "ipopt.sb": "yes",
        "ipopt.tol": tolerance,
        "ipopt.max_iter": iterations,
    }
    return ca.nlpsol("optimum", "ipopt", nlp, {**options, **parts}), [nlp, *parts.values()]
