"""Solvers of nonlinear programs that come with CasADi: Ipopt for any, fatrop for motions, whose stages it eliminates one after the other. A registry.

They are given functions of CasADi's kind (`Callback`) whose insides are our machine code over lanes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from ...errors.registry import Registry
from .layout import Layout, chained, staged
from .program import Program

Array = NDArray[np.float64]
Fill = Callable[[list[Array], list[Array | None]], None]
QUIET = {"print_time": False, "calc_lam_p": False}


@dataclass(frozen=True)
class Found:
    """What a solver says: z, whether it is an optimum, iterations, the status in its words, the seconds that its functions took."""

    z: Array
    solved: bool
    iterations: int
    status: str
    evaluation: float


@dataclass(frozen=True)
class Solver:
    """A solver: its name; how it wants a motion's unknowns laid out; make(program, layout, tolerance, iterations) -> a function of CasADi, and what
    must live as long; whether it wants the whole Hessian; one line."""

    name: str
    layout: Callable[[int, int, int, int, int], Layout]
    make: Callable[[Program, Layout | None, float, int], tuple[ca.Function, list[Any]]]
    symmetric: bool
    doc: str

    def solve(self, program: Program, layout: Layout | None, z: Array, low: Array, high: Array, rows: tuple[Array, Array], tolerance: float, iterations: int) -> Found:
        """From z, within low and high; rows: the range of each row."""
        function, alive = self.make(program, layout, tolerance, iterations)
        found = function(x0=z, lbx=low, ubx=high, lbg=rows[0], ubg=rows[1])
        stats = function.stats()
        del alive
        spent = sum(x for key, x in stats.items() if key.startswith("t_wall_nlp_"))
        return Found(np.array(found["x"]).ravel(), bool(stats["success"]), int(stats["iter_count"]), str(stats["return_status"]), spent)


class _Compiled(ca.Callback):
    """A function of CasADi that writes its outputs by a function of arrays."""

    def __init__(self, name: str, inputs: Sequence[ca.Sparsity], outputs: dict[str, ca.Sparsity], fill: Fill):
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
        self._fill(arrays, [np.frombuffer(x, np.float64) if x is not None and len(x) else None for x in results])
        return 0


class _Functions:
    """The functions of a program, of the signatures that solvers ask for."""

    def __init__(self, program: Program):
        self.program, dense = program, ca.Sparsity.dense
        self.z, self.g, self.one, self.none = dense(program.size, 1), dense(program.count, 1), dense(1, 1), dense(0, 1)
        self.outputs: dict[str, tuple[ca.Sparsity, Callable[..., Any]]] = {
            "f": (self.one, program.cost),
            "g": (self.g, program.constraints),
            "grad_f_x": (self.z, program.gradient),
            "jac_g_x": (program.jacobian_sparsity, program.jacobian),
        }

    def of(self, name: str, *outputs: str) -> _Compiled:
        """(x, p) -> some of f, g, grad_f_x, jac_g_x."""
        makers = [self.outputs[key][1] for key in outputs]

        def fill(given: list[Array], out: list[Array | None]) -> None:
            for own, make in zip(out, makers):
                if own is not None:
                    own[:] = make(given[0])

        return _Compiled(name, [self.z, self.none], {key: self.outputs[key][0] for key in outputs}, fill)

    def lagrangian(self, name: str, *outputs: str) -> _Compiled:
        """(x, p, lam_f, lam_g) -> some of those before, and grad_gamma_x, hess_gamma_x_x of lam_f f + lam_g g."""
        p = self.program
        known = {key: (sparsity, lambda z, sigma, lam, own=own: own(z)) for key, (sparsity, own) in self.outputs.items()}
        known |= {"grad_gamma_x": (self.z, p.lagrangian_gradient), "grad_gamma_p": (self.none, None), "hess_gamma_x_x": (p.hessian_sparsity, p.hessian)}
        makers = [known[key][1] for key in outputs]

        def fill(given: list[Array], out: list[Array | None]) -> None:
            where = given[0], float(given[2][0]), given[3]
            for own, make in zip(out, makers):
                if own is not None and make is not None:
                    own[:] = make(*where)

        return _Compiled(name, [self.z, self.none, self.one, self.g], {key: known[key][0] for key in outputs}, fill)


def _ipopt(program: Program, layout: Layout | None, tolerance: float, iterations: int) -> tuple[ca.Function, list[Any]]:
    f = _Functions(program)
    parts = {"grad_f": f.of("nlp_grad_f", "f", "grad_f_x"), "jac_g": f.of("nlp_jac_g", "g", "jac_g_x"), "hess_lag": f.lagrangian("nlp_hess_l", "hess_gamma_x_x")}
    nlp = f.of("nlp", "f", "g")
    options = {"ipopt.print_level": 0, "ipopt.sb": "yes", "ipopt.tol": tolerance, "ipopt.max_iter": iterations}
    return ca.nlpsol("optimum", "ipopt", nlp, {**QUIET, "no_nlp_grad": True, **options, **parts}), [nlp, *parts.values()]


def _fatrop(program: Program, layout: Layout | None, tolerance: float, iterations: int) -> tuple[ca.Function, list[Any]]:
    assert layout is not None
    f = _Functions(program)
    parts = {"nlp_f": f.of("nlp_f", "f"), "nlp_g": f.of("nlp_g", "g"), "nlp_grad_f": f.of("nlp_grad_f", "grad_f_x"),
             "nlp_jac_g": f.of("nlp_jac_g", "g", "jac_g_x"), "nlp_hess_l": f.lagrangian("nlp_hess_l", "grad_gamma_x", "hess_gamma_x_x"),
             "nlp_grad": f.lagrangian("nlp_grad", "f", "g", "grad_gamma_x", "grad_gamma_p")}  # fmt: skip
    nlp = f.of("nlp", "f", "g")
    nx, nu, ng = ([s[k] for s in layout.stages] for k in range(3))
    structure = {"structure_detection": "manual", "N": len(nx) - 1, "nx": nx, "nu": nu, "ng": ng}
    own = {"print_level": 0, "tolerance": tolerance, "max_iter": iterations}
    return ca.nlpsol("optimum", "fatrop", nlp, {**QUIET, **structure, "fatrop": own, "cache": parts}), [nlp, *parts.values()]


SOLVERS: Registry[Solver] = Registry("solver", [
    Solver("fatrop", staged, _fatrop, True, "interior points, stage by stage: the quickest; it has no way out of a place where rows contradict"),
    Solver("ipopt", chained, _ipopt, False, "interior points with a sparse factorisation; where rows contradict it looks for the least contradiction"),
])  # fmt: skip
