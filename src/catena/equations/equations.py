"""Equations: the record that every formulation returns.

The canonical form and the sign conventions of all of catena are stated here, once:

    M(q) a + bias(q, v) = tau + J_ext' wrench + A' lambda          n_v rows:  motion
    A(q) a              = gamma(q, v, t)              n_c rows:  loops and nonholonomic rows, if any

    q' = N(q) v          coordinates; N is the identity but for quaternions
    tau                  the whole generalised force along the speeds v: motors, springs, losses
    lambda               the force of the constraint on the mechanism, so that A' lambda is a
                         generalised force
    reaction             the wrench of the parent on the child through a joint, motor included,
                         about the child body's origin in the child body's axes, torque first

A formulation is one function, `name(mechanism) -> Equations`, in one file. It may choose any state
x to integrate; `encode` and `decode` convert between (q, v) and x, so that all formulations can be
evaluated at the same state.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from ..compiler import Tracer
from ..errors import SingularError
from ..model import Mechanism
from ..registry import loaded
from .statement import Statement

if TYPE_CHECKING:
    from .readable import Readable

EFFORT = 4_000_000  # products of terms to spend on the textbook's form


@dataclass(frozen=True)
class Counts:
    """The cost of a formulation: the number of first-order equations to integrate, the size of the
    largest linear system that is solved, and the number of scalar operations.
    """

    first_order: int
    largest_matrix: int
    operations: int


@dataclass(frozen=True)
class Later:
    """A traced function, or None, that is computed when it is first read."""

    make: Callable[[], ca.Function | None]


Made = TypeVar("Made", bound="ca.Function | None")


class Tape(Generic[Made]):
    """A field of `Equations` that holds a traced function. It is set to a function or to a `Later`,
    and read as the function. required: the field has no default; otherwise the default is None.
    """

    def __init__(self, required: bool = False):
        self.required = required

    def __set_name__(self, owner: type, name: str) -> None:
        self.name, self.kept = name, f"_{name}"

    def __get__(self, e: Any, owner: type | None = None) -> Made:
        if e is None and self.required:
            raise AttributeError(self.name)
        found: Any = None if e is None else e.__dict__[self.kept]
        if isinstance(found, Later):
            found = e.__dict__[self.kept] = found.make()
        return cast("Made", found)

    def __set__(self, e: Any, value: Made | Later) -> None:
        e.__dict__[self.kept] = value


@dataclass(frozen=True)
class Equations:
    """The equations of motion of one mechanism by one formulation, as traced CasADi functions.

    `derive` makes them. All functions take the time t (s), the generalised forces tau (nv,) and the
    parameters p (count,), besides the state.

    Parameters
    ----------
    mechanism : Mechanism
        The mechanism, discretised.
    formulation : str
        The name of the formulation.
    state_names : tuple of str
        The names of the entries of the state x.
    derivative : casadi.Function
        (t, x, tau, p) -> x', the first-order system.
    encode : casadi.Function
        (q, v, p) -> x.
    decode : casadi.Function
        (x, p) -> q, v.
    acceleration : casadi.Function
        (t, q, v, tau, p) -> a, (nv,).
    counts : Counts
        What an evaluation costs.
    reactions : casadi.Function, optional
        (t, q, v, tau, p) -> (joints, 6), torque first, in the order of `mechanism.ordered`; None
        where the formulation does not find them. `loop_reactions` has the joints that close loops.
    multipliers : casadi.Function, optional
        (t, q, v, tau, p) -> lambda; None without loops and nonholonomic rows.
    error : float, default 0.0
        For an approximate formulation, the relative size of what it neglects.
    extra : dict
        What only this formulation provides, by name: operation counts of its variants, its penalty
        factor.
    options : dict
        The options that `derive` was given for this formulation.
    readable : callable, optional
        A function that returns the `Statement` to print; None prints the accelerations.
    written : callable, optional
        A function that returns the same equations with the size of gravity as a symbol.

    Examples
    --------
    >>> import catena
    >>> catena.derive(catena.load("two_link_arm"), "lagrange")
    Equations('two-link arm' by lagrange: 4 first-order equations, largest matrix 2, 110 operations)
    """

    mechanism: Mechanism
    formulation: str
    state_names: tuple[str, ...]
    derivative: Tape[ca.Function] = Tape(required=True)
    encode: Tape[ca.Function] = Tape(required=True)
    decode: Tape[ca.Function] = Tape(required=True)
    acceleration: Tape[ca.Function] = Tape(required=True)
    counts: Counts = field(kw_only=True)
    reactions: Tape[ca.Function | None] = Tape()
    multipliers: Tape[ca.Function | None] = Tape()
    error: float = 0.0
    extra: dict[str, ca.Function | float | str] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    # what `catena.equations.readable` makes readable; None: the accelerations
    readable: Callable[[], Statement] | None = None
    # the same with the size of gravity as a symbol, for people
    written: Callable[[], Equations] | None = None

    def __repr__(self) -> str:
        c = self.counts
        return (
            f"Equations({self.mechanism.name!r} by {self.formulation}: {c.first_order} first-order"
            f" equations, largest matrix {c.largest_matrix}, {c.operations} operations)"
        )

    def with_(self, **fields: Any) -> Equations:
        """Return the same equations with other fields; functions that have not been traced yet are
        still traced when they are first read.

        Parameters
        ----------
        **fields
            New values of fields, by name.

        Returns
        -------
        Equations
            A copy.
        """
        made = copy(self)
        for name, value in fields.items():
            object.__setattr__(made, name, value)
        return made

    @property
    def parameters(self) -> NDArray[np.float64]:
        """The mechanism's own parameter values in the order of p, an ndarray of shape (count,)."""
        return np.array(list(self.mechanism.parameters.values()), dtype=float)

    @cached_property
    def state_is_qv(self) -> bool:
        """Whether the state x is (q, v) itself, entry by entry."""
        q, v, p = self.encode.sx_in()
        x = self.encode(q, v, p)
        plain = ca.vertcat(q, v)
        return x.shape == plain.shape and all(ca.is_equal(x[k], plain[k]) for k in range(x.numel()))

    @cached_property
    def loop_reactions(self) -> ca.Function | None:
        """The wrenches in the joints that close loops, a function (t, q, v, tau, p) -> (loops, 6).

        They follow from this formulation's multipliers, in the order of `mechanism.loops`. None
        without loops or without multipliers. Where rows are redundant the multipliers are not
        unique; `catena.analysis.reactions` says which components the motion determines.
        """
        from .loop_wrenches import loop_wrenches

        return (
            loop_wrenches(self.mechanism, self.multipliers)
            if self.mechanism.loops and self.multipliers is not None
            else None
        )

    # --- the form people read
    def sympy(self, effort: int = EFFORT) -> Readable:
        """Return the equations in SymPy, with the names of the mechanism as symbols.

        Parameters
        ----------
        effort : int, default 4_000_000
            The number of operations to spend on the textbook's form. Operations are counted, not
            time, so that the result is the same on every machine. With 0, or where that form is not
            found, the computation is returned with its intermediate variables.

        Returns
        -------
        Readable
            The rows, as SymPy expressions.
        """
        from .readable import read

        source = self.written() if self.written and effort else self
        return read(source, effort)

    def text(self, effort: int = EFFORT, full: bool = False) -> str:
        """Return the equations as plain text, on one page.

        The scalar equations are printed where they fit on a page, else the compact statement of the
        formulation with the quantities in it.

        Parameters
        ----------
        effort : int, default 4_000_000
            As in `sympy`.
        full : bool, default False
            Print the scalar equations in any case, on as many pages as they need.

        Returns
        -------
        str
            The text.

        Examples
        --------
        >>> import catena
        >>> print(catena.derive(catena.load("pendulum"), by="lagrange").text())
        l^2*m*pivot'' + g*l*m*sin(pivot) = tau_pivot
        """
        return self._shown("text", effort, full)

    def latex(self, effort: int = EFFORT, full: bool = False) -> str:
        """Return the equations as LaTeX (amsmath), on one page.

        Parameters
        ----------
        effort, full
            As in `text`.

        Returns
        -------
        str
            The LaTeX, one or more align* environments.
        """
        return self._shown("latex", effort, full)

    def _repr_latex_(self) -> str | None:
        shown = self.latex()
        # a notebook has no tables in mathematics
        return None if r"\begin{tabular}" in shown else shown

    def _repr_html_(self) -> str | None:
        from .readable.mathml import mathml

        shown = self.latex()
        return mathml(shown) if r"\begin{tabular}" in shown else None

    def _shown(self, how: str, effort: int, full: bool) -> str:
        if effort:
            printed = loaded("catena.teaching:printed")
            return printed(self, lambda: self.sympy(effort), how, full)
        return getattr(self.sympy(effort), how)()

    def steps(self) -> Any:
        """Return the derivation of the equations, step by step.

        Returns
        -------
        catena.teaching.Derivation
            Steps of equations, each with one sentence of explanation; every line has been checked
            at random states.

        Raises
        ------
        FormulationError
            If the formulation has no derivation that can be read.
        """
        return loaded("catena.teaching:derivation")(self)

    def python(self, what: str = "acceleration") -> str:
        """Return the source of a Python function that imports only `math`.

        Parameters
        ----------
        what : {"acceleration", "derivative"}, default "acceleration"
            Which function is written.

        Returns
        -------
        str
            The source.

        Raises
        ------
        UnknownNameError
            If `what` is another word.
        """
        from .readable import python

        return python(self, what)

    def c(self, what: str = "acceleration") -> str:
        """Return the source of a C function that needs only math.h.

        Parameters
        ----------
        what : {"acceleration", "derivative"}, default "acceleration"
            Which function is written.

        Returns
        -------
        str
            The source.

        Raises
        ------
        UnknownNameError
            If `what` is another word.
        """
        from .readable import c

        return c(self, what)


def assembled(
    s: Tracer,
    formulation: str,
    names: tuple[str, ...],
    x: ca.SX,
    *,
    derivative: ca.SX,
    encode: ca.SX,
    decode: Sequence[ca.SX],
    acceleration: ca.SX,
    largest: int,
    reactions: ca.SX | None = None,
    multipliers: ca.SX | None = None,
    **more: Any,
) -> Equations:
    """Return Equations from expressions of a tracer's symbols and of the state x, whose entries
    have these `names`.

    largest: the size of the largest linear system that is solved. more: other fields of
    `Equations`.
    """

    given = [s.t, s.q, s.v, s.tau, s.p]

    def function(name: str, inputs: Sequence[ca.SX], *outputs: ca.SX) -> ca.Function:
        return ca.Function(name, inputs, [ca.densify(y) for y in ca.cse(list(outputs))])

    def later(name: str, inputs: Sequence[ca.SX], *outputs: ca.SX) -> Later:
        return Later(lambda: function(name, inputs, *outputs))

    found = function("acceleration", given, acceleration)
    return Equations(
        s.layout.mechanism,
        formulation,
        names,
        derivative=later("derivative", [s.t, x, s.tau, s.p], derivative),
        encode=later("encode", [s.q, s.v, s.p], encode),
        decode=later("decode", [x, s.p], *decode),
        acceleration=found,
        counts=Counts(x.numel(), largest, operations(found)),
        reactions=None if reactions is None else later("reactions", given, reactions),
        multipliers=None if multipliers is None else later("multipliers", given, multipliers),
        **more,
    )


def without_inertia(by: str, m: Mechanism, speed: str) -> SingularError:
    """Return the error for a speed that no inertia resists, found by the formulation `by`."""
    name = speed.removesuffix("'")
    joint = next((j for j in m.moving if name in j.speed_names), None)
    cure = (
        f"; give body {joint.child!r} mass and inertia, joint {joint.name!r} an armature, or fix it"
        if joint
        else ""
    )
    return SingularError(
        f"{by}: the mass matrix of {m.name!r} is singular everywhere: no body resists"
        f" {name!r}{cure}",
        name,
    )


def operations(f: ca.Function) -> int:
    """Return the number of arithmetic operations of a CasADi function: its instructions without
    inputs, outputs and constants.
    """
    trivial = {ca.OP_INPUT, ca.OP_OUTPUT, ca.OP_CONST, ca.OP_PARAMETER}
    return sum(f.instruction_id(k) not in trivial for k in range(f.n_instructions()))
