"""Board: the symbols of one mechanism, their printed names, and the random states at which every
line is checked.

Printing involves simplification by SymPy. Therefore the printed form itself is evaluated, and
compared with the same number from another route: finite differences of the bodies' poses for
kinematics, the kernels' recursive passes, the formulation's own accelerations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np
import sympy as sp

from ...compiler import Tracer
from ...equations import Derived, Statement
from ...equations.readable import (
    Budget,
    EquationRow,
    Name,
    NotHarmonic,
    OutOfBudget,
    Term,
    names_of,
    sx_to_sympy,
    symbols,
    textbook,
    with_letter,
)
from ...errors import FormulationError
from ...kernels import BALL, layout
from .observed_motion import Observed, observed
from .rounding import magnitudes, without_rounding
from .steps import Label, Line, Terms

STATES = 3  # the number of random states at which every line is checked
TOLERANCE = 1e-9  # on a line, relative to the sizes of its terms
# budget of simplification: products of terms for a whole derivation, and terms in one expression
EFFORT, TERMS = 4_000_000, 1500
# rounding of expressions, and of finite differences, relative to the numbers that cancel in a line
EXPRESSION_ROUNDING, DIFFERENCE_ROUNDING = 1e-15, 1e-11
LONGEST_LINE = 300  # the largest number of operations in a line that is printed as it was computed


class WrongLineError(FormulationError):
    """A line of a derivation differs from the same number by another route. This is a fault of
    catena, and is never hidden.
    """


class Board:
    """Turns expressions into lines, and checks them. lean: for Euler angles, the coordinate that
    must stay below a bound, and that bound, rad; else None.
    """

    def __init__(self, equations: Derived, lean: tuple[int, float] | None = None):
        self.lean = lean
        m = with_letter(equations.mechanism)
        self.equations, self.mechanism, self.s = equations, m, Tracer(layout(m))
        s = self.s
        if s.flexible:
            raise FormulationError(
                f"steps: mechanism {m.name!r} has flexible bodies by modes, whose derivation is too"
                " long to read; ask for the equations themselves, or take a beam of rigid segments"
            )
        held = m.constrained or self._given_rows is not None
        self.A, self.gamma = self._rows() if held else (ca.SX(0, s.layout.nv), ca.SX(0, 1))
        self.lam = ca.SX.sym("lam", self.A.shape[0])
        self.symbols = {
            "t": s.t,
            "q": s.q,
            "v": s.v,
            "a": s.a,
            "tau": s.tau,
            "p": s.p,
            "lam": self.lam,
        }
        self.names: dict[str, tuple[Name, ...]] = names_of(m, self.lam.numel())
        self.budget = Budget(EFFORT, TERMS)
        self.values = [self._state(k) for k in range(STATES)]

    @property
    def _given_rows(self) -> Any:
        """The option `rows` of kane, (t, q, p) -> A, B, in place of the mechanism's; else None."""
        return getattr(self.equations, "options", {}).get("rows")

    def _rows(self) -> tuple[ca.SX, ca.SX]:
        """Return A and gamma of the constraint rows A a = gamma."""
        s = self.s
        if self._given_rows is None and not self.mechanism.nonholonomic:
            _, _, gamma, A = s.constraint_rows()
            return A, gamma
        A, B = self.own_rows
        rate = A @ s.v + B
        return A, -(ca.jtimes(rate, s.q, s.coordinate_rate()) + ca.jacobian(rate, s.t))

    @cached_property
    def own_rows(self) -> tuple[ca.SX, ca.SX]:
        """Return A and B of the rows A v + B = 0 of loops and speed constraints."""
        s = self.s
        if self._given_rows is not None:
            A, B = self._given_rows(s.t, s.q, s.p)
            return ca.SX(A), ca.SX(B)
        if not self.mechanism.constrained:
            return ca.SX(0, s.layout.nv), ca.SX(0, 1)
        _, rate, _, A = s.constraint_rows()
        B = ca.substitute(rate, s.v, ca.SX.zeros(s.layout.nv))
        return (self._simplified(A), B) if self.mechanism.nonholonomic else (A, B)

    def _simplified(self, A: ca.SX) -> ca.SX:
        """Return a matrix of q and p in the textbook's form; A itself where it has none. A root may
        have been simplified with the sign that it has on one side of a right angle only; therefore
        the result is compared with A at random states in the range of the angles.
        """
        s = self.s
        names = names_of(self.mechanism)
        symbols_of = {"q": s.q, "p": s.p}
        try:
            statement = Statement.of(symbols_of, ca.SX.zeros(A.numel()), ca.vec(ca.densify(A)))
            rows = textbook(statement, names, Budget(EFFORT, TERMS))
        except (NotHarmonic, OutOfBudget):
            return A
        inputs = [x for role in symbols_of for x in symbols(names[role])]
        values = [sp.Add(*(term.value for term in row.right)) for row in rows]
        f = sp.lambdify(inputs, values, {"sin": ca.sin, "cos": ca.cos, "sqrt": ca.sqrt})
        found = ca.vertcat(*map(ca.SX, f(*(x[k] for x in (s.q, s.p) for k in range(x.numel())))))
        found = ca.sparsify(ca.reshape(found, *A.shape))
        both = ca.Function("both", [s.q, s.p], [ca.densify(found - A), ca.densify(A)])
        for seed in range(STATES):
            missed, size = both(*self._somewhere(seed))
            if np.abs(np.array(missed)).max() > 1e-12 * np.abs(np.array(size)).max():
                return A
        return found

    @property
    def loops_held(self) -> bool:
        """Whether loops or other conditions on positions are among the rows."""
        return self._given_rows is None and bool(self.mechanism.loops or self.mechanism.constraints)

    @property
    def freedoms(self) -> list[Name]:
        """The names that forces along the speeds have: that of the coordinate, or of the speed
        where it has a name of its own.
        """
        places = dict(zip(self.mechanism.coordinate_names, self.names["q"]))
        return [places.get(n, v) for n, v in zip(self.mechanism.speed_names, self.names["v"])]

    # --- states
    def _state(self, seed: int) -> dict[str, np.ndarray]:
        """Return a random state, with the accelerations of the formulation there and the
        multipliers that belong to them.
        """
        s = self.s
        rng = np.random.default_rng(seed + 17)
        q, p = self._somewhere(seed)
        v, tau = rng.normal(size=(2, s.layout.nv))
        t = rng.uniform(size=1)
        v = self._allowed(t, q, v, p)
        inertia = np.diag(np.array(self._passes(q, v, 0 * v, p)[2]))
        # so that it moves at its own pace, whatever its size: finite differences must follow
        tau = tau * np.where(inertia > 0, inertia, 1.0)
        own = p[: len(self.equations.mechanism.parameters)]
        a = self._accelerations(t, q, v, tau, own, p)
        given = {"t": t, "q": q, "v": v, "a": a, "tau": tau, "p": p}
        given["lam"] = np.zeros(self.lam.numel())
        if self.lam.numel():
            excess, A = self._missing(*given.values())
            given["lam"] = np.linalg.lstsq(np.array(A).T, np.array(excess).ravel(), rcond=None)[0]
        return given

    def _somewhere(self, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """Return random coordinates and the parameters; the lean of a chart of Euler angles stays
        within its range.
        """
        q, p = self.s.layout.somewhere(seed)
        lean = self.lean
        if lean is not None:
            q[lean[0]] = lean[1] * np.sin(q[lean[0]])
        return q, p

    def _allowed(self, t: Any, q: Any, v: np.ndarray, p: Any) -> np.ndarray:
        """Return the speeds nearest to v that obey the rows."""
        if not self.A.shape[0]:
            return v
        s = self.s
        A, B = ca.Function("rows", [s.t, s.q, s.p], [ca.densify(x) for x in self.own_rows])(t, q, p)
        return (
            v - np.linalg.lstsq(np.array(A), np.array(A) @ v + np.array(B).ravel(), rcond=None)[0]
        )

    def _accelerations(self, t: Any, q: Any, v: Any, tau: Any, own: Any, p: Any) -> np.ndarray:
        """Return the accelerations by the formulation itself where it is exact, else by the
        kernels.
        """
        if getattr(self.equations, "error", 0.0):
            f = ca.Function(
                "a",
                [self.s.t, self.s.q, self.s.v, self.s.tau, self.s.p],
                [self.s.forward_dynamics()],
            )
            return np.array(f(t, q, v, tau, p)).ravel()
        return np.array(self.equations.acceleration(t, q, v, tau, own)).ravel()

    @cached_property
    def _missing(self) -> ca.Function:
        s = self.s
        return ca.Function(
            "missing", [*self.symbols.values()], [s.inverse_dynamics() - s.tau, self.A]
        )

    def numbers(self, x: ca.SX) -> np.ndarray:
        """Return the values of an expression, (states, entries)."""
        roles = [role for role in self.symbols if role in self.values[0]]
        f = ca.Function("x", [self.symbols[role] for role in roles], [ca.densify(x)])
        return np.array(
            [np.array(f(*(state[role] for role in roles))).ravel("F") for state in self.values]
        )

    def more(self, role: str, names: Sequence[Name], values: ca.SX) -> ca.SX:
        """Return further symbols, such as the reactions of joints, with the given values at the
        states.
        """
        self.names[role] = tuple(names)
        found = self.numbers(values)
        x = ca.SX.sym(role, len(names))
        self.symbols[role] = x
        for state, row in zip(self.values, found):
            state[role] = row
        return x

    @cached_property
    def loads(self) -> ca.SX:
        """The generalised forces of loads along the speeds, (nv,): written out where they are
        short, else as symbols Q with a step of their own.
        """
        if not self.mechanism.loads:
            return ca.SX.zeros(self.s.layout.nv)
        Q = self.s.applied.generalised()
        try:
            textbook(Statement.of(self.symbols, ca.SX.zeros(Q.numel()), Q), self.names, self.budget)
        except (NotHarmonic, OutOfBudget):
            names = [
                Name(f"Q_{x.symbol}", f"Q_{x.text}", f"Q_{{{x.latex}}}") for x in self.freedoms
            ]
            return self.more("Q", names, self.pushed - self.s.tau)
        return Q

    # --- second routes
    @cached_property
    def _passes(self) -> ca.Function:
        """A function (q, v, a, p) -> the recursive pass without loads at the motion, the same at
        rest, and the mass matrix.
        """
        s = Tracer(layout(self.mechanism.with_(loads=())))
        return ca.Function(
            "passes", [s.q, s.v, s.a, s.p], [s.inverse_dynamics(), s.gravity(), s.mass_matrix()]
        )

    @cached_property
    def _passed(self) -> Any:
        return self._passes(self.s.q, self.s.v, self.s.a, self.s.p)

    @property
    def weight(self) -> ca.SX:
        """The forces that hold the mechanism at rest against gravity, (nv,)."""
        return self._passed[1]

    @property
    def inertial(self) -> ca.SX:
        """The forces that the motion alone requires, without weight and loads, (nv,)."""
        return self._passed[0] - self._passed[1]

    @property
    def inertia(self) -> ca.SX:
        """The mass matrix, (nv, nv)."""
        return self._passed[2]

    @property
    def pushed(self) -> ca.SX:
        """tau plus the loads along the speeds, (nv,). The loads are found as the difference that
        they make to the recursive pass.
        """
        return self.s.tau + self._passed[0] - self.s.inverse_dynamics()

    # --- lines
    def terms(self, left: ca.SX, right: ca.SX) -> list[EquationRow]:
        """Return rows left = right in the textbook's form, or as they were computed where there is
        none. Raise a FormulationError where that is too long to read.
        """
        statement = Statement.of(self.symbols, ca.densify(left), ca.densify(right))
        try:
            found = textbook(statement, self.names, self.budget, self._units)
            return without_rounding(
                found, lambda: self._sizes(left) + self._sizes(right), self._symbol_values
            )
        except (NotHarmonic, OutOfBudget) as why:
            if statement.tape.n_instructions() > LONGEST_LINE:
                raise FormulationError(
                    f"steps: a line of the derivation of {self.mechanism.name!r} by"
                    f" {self.equations.formulation} is too long to read ({why}); ask for the"
                    " equations themselves, `text()`, or take a smaller part of the mechanism"
                ) from None
            inputs = [symbols(self.names[role]) for role in statement.roles]
            sides, _ = sx_to_sympy(statement.tape, inputs)
            one = sp.Integer(1)
            return [
                EquationRow(*((Term(x, one),) if x != 0 else () for x in pair))
                for pair in zip(*sides)
            ]

    def _sizes(self, x: ca.SX) -> np.ndarray:
        """Return the values (states, entries) that the entries would have if no terms cancelled:
        sums of absolute values, relative to which rounding is judged.
        """
        f = ca.Function("x", list(self.symbols.values()), [ca.densify(x)])
        return np.array(
            [magnitudes(f, [state[role] for role in self.symbols]) for state in self.values]
        )

    @property
    def _symbol_values(self) -> list[dict[Any, float]]:
        """{symbol: number} at the states."""
        return [
            {
                s: float(x)
                for role in self.symbols
                for s, x in zip(symbols(self.names[role]), state[role])
            }
            for state in self.values
        ]

    @cached_property
    def _units(self) -> list[list[Any]]:
        """The symbols of the quaternions among the coordinates."""
        q = symbols(self.names["q"])
        return [q[c.qi : c.qi + 4] for c in self.s.layout.coordinates if c.motion == BALL]

    def line(
        self,
        label: Label,
        x: ca.SX,
        reference: ca.SX | np.ndarray,
        means: Label | None = None,
        axes: str = "",
        seen: np.ndarray | None = None,
        scale: ca.SX | None = None,
    ) -> Line:
        """Return the line label = x, for a number or a vector, checked. reference: the same
        quantity by another route; seen (states, entries): its values by a third route. scale: terms
        that cancel in the reference, relative to which its rounding is measured. means: the
        definition of the label. axes: the body along whose axes the components are given.
        """
        right = tuple(row.right for row in self.terms(ca.SX.zeros(x.numel()), x))
        known = reference if isinstance(reference, np.ndarray) else self.numbers(reference)
        floor = 0.0 if scale is None else np.abs(self.numbers(scale)).sum(1)
        met = (x,) if isinstance(reference, np.ndarray) else (x, reference)
        own = self._difference(
            label.text,
            right,
            known,
            floor,
            lambda: EXPRESSION_ROUNDING * np.sum([self._sizes(e) for e in met], axis=0),
        )
        other = (
            0.0
            if seen is None
            else self._difference(
                label.text, right, seen, floor, lambda: DIFFERENCE_ROUNDING * self._sizes(x)
            )
        )
        return Line(label, right, means, axes, max(own, other))

    @cached_property
    def observed(self) -> dict[str, Observed]:
        """The motion of the bodies by finite differences of their poses."""
        return observed(self.s, self.values, self.numbers)

    def lines(
        self,
        labels: Sequence[Label],
        x: ca.SX,
        reference: ca.SX,
        means: Sequence[Label] | None = None,
        scale: ca.SX | None = None,
    ) -> list[Line]:
        """Return one line for each entry of x, checked. scale: terms that cancel in the reference,
        relative to which its rounding is measured.
        """
        rows = self.terms(ca.SX.zeros(x.numel()), x)
        known = self.numbers(reference)
        found = []
        floor = self._floor(known, scale)
        for k, (label, row) in enumerate(zip(labels, rows)):
            error = self._difference(label.text, (row.right,), known[:, [k]], floor[:, k])
            found.append(Line(label, (row.right,), means[k] if means else None, "", error))
        return found

    def _floor(self, known: np.ndarray, scale: ca.SX | None) -> np.ndarray:
        """Return a size for each entry, (states, entries): the sum over all entries, converted to
        the unit of each by the inertia along the speeds.
        """
        n, nv = known.shape[1], self.s.layout.nv
        sizes = np.abs(known) + (
            0.0 if scale is None else np.abs(self.numbers(scale)).reshape(STATES, -1, n).sum(1)
        )
        if n != nv:
            return sizes
        root = np.sqrt(np.abs(self.numbers(ca.diag(self.inertia))))
        unit = np.where(root > 0, root, 1.0)
        return unit * (sizes / unit).sum(1, keepdims=True)

    def rows(self, left: ca.SX, right: ca.SX, scale: ca.SX | None = None) -> list[Line]:
        """Return the equations left = right as lines, evaluated with the formulation's own
        accelerations.

        scale: a positive size, such as the sum of all weights, for rows whose terms may all
        vanish.
        """
        found = []
        floor = 0.0 if scale is None else self.numbers(scale)[:, 0]
        for row in self.terms(left, right):
            # (states, terms)
            sides = [np.array(self._evaluated(side)) for side in (row.left, row.right)]
            error = _relative(
                sides[0].sum(1) - sides[1].sum(1), np.abs(np.hstack(sides)).sum(1) + floor
            )
            found.append(
                Line(
                    row.left,
                    (row.right,),
                    None,
                    "",
                    self._held("a row of the equations of motion", error),
                )
            )
        return found

    # --- checking
    def _difference(
        self,
        what: str,
        right: Sequence[Terms],
        known: np.ndarray,
        floor: Any = 0.0,
        rounding: Callable[[], np.ndarray] | None = None,
    ) -> float:
        """Return the relative difference between a result and the same number by another route.
        rounding: a function that returns the rounding error of both, used where all terms cancel.
        """
        parts = [np.array(self._evaluated(terms)) for terms in right]
        found = np.column_stack([x.sum(1) for x in parts])
        size = np.abs(np.hstack(parts)).sum(1) + np.abs(known).sum(1) + floor
        error = _relative(np.abs(found - known).max(1), size)
        if error > TOLERANCE and rounding:
            error = _relative(np.abs(found - known).max(1), size + rounding().sum(1) / TOLERANCE)
        return self._held(what, error)

    def _held(self, what: str, error: float) -> float:
        """Raise a WrongLineError, which quotes the description `what`, where the error of a line
        exceeds the tolerance; else return the error.
        """
        if not error <= TOLERANCE:
            raise WrongLineError(
                f"steps: {what} of {self.mechanism.name!r} by {self.equations.formulation} differs"
                f" by {error:.1e} of its size from the same number by another route, more than"
                f" {TOLERANCE:g}; the derivation is not shown. Please report it."
            )
        return error

    def _evaluated(self, terms: Terms) -> list[list[float]]:
        """Return the value of every term at every state; one zero where there is none."""
        inputs = [s for role in self.symbols for s in symbols(self.names[role])]
        f = sp.lambdify(
            inputs, [x for term in terms for x in sp.Add.make_args(term.value)] or [0.0], "math"
        )
        return [
            [float(x) for x in f(*np.concatenate([state[role] for role in self.symbols]))]
            for state in self.values
        ]


def _relative(difference: np.ndarray, size: np.ndarray) -> float:
    return float(np.max(np.abs(difference) / np.where(size > 0, size, 1.0)))
