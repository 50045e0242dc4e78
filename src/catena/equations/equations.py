"""Equations: what every formulation returns, with one face.

The canonical form and the signs of the whole house, drawn once:

    M(q) a + bias(q, v) = tau + J_ext' wrench + A' lambda          n_v rows:  motion
    A(q) a              = gamma(q, v, t)              n_c rows:  loops and nonholonomic rows, if any

    q' = N(q) v          coordinates; N is the identity but for quaternions
    tau                  the whole generalised force along the speeds v: motors, springs, losses
    lambda               what the constraint does to the mechanism, so that A' lambda is a
                         generalised force
    reaction             what the parent does to the child through a joint, motor included, about
                         the child body's origin in the child body's axes, torque first

A formulation is one function, `name(mechanism) -> Equations`, in one file. It may choose any state
x to integrate; `encode` and `decode` lead from (q, v) to x and back, so that all formulations can
be asked the same question at the same state.
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
    """What a formulation costs: first-order equations to integrate, the largest linear system
    solved, scalar operations.
    """

    first_order: int
    largest_matrix: int
    operations: int


@dataclass(frozen=True)
class Later:
    """A tape, or None, that is traced when it is first asked for."""

    make: Callable[[], ca.Function | None]


Made = TypeVar("Made", bound="ca.Function | None")


class Tape(Generic[Made]):
    """A field of `Equations` that takes a tape, or a Later, and gives the tape. required: it has no
    default; else that is None.
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
    """The equations of motion of one mechanism by one formulation, as traced functions.

    derivative: (t, x, tau, p) -> x'. encode: (q, v, p) -> x. decode: (x, p) -> q, v. acceleration:
    (t, q, v, tau, p) -> a. reactions: (t, q, v, tau, p) -> (joints, 6) in the order of
    `mechanism.ordered`, where the formulation finds them; `loop_reactions` has the joints that
    close loops. multipliers: (t, q, v, tau, p) -> lambda, where it has loops or nonholonomic rows.
    error: for an approximate formulation, the relative size of what it neglects; zero for an exact
    one. extra: what only this formulation knows (operation counts of its variants, its penalty
    factor), by name.
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
        """The same with other fields; what was not traced yet is still traced when it is asked
        for.
        """
        made = copy(self)
        for name, value in fields.items():
            object.__setattr__(made, name, value)
        return made

    @property
    def parameters(self) -> NDArray[np.float64]:
        """The mechanism's own parameter values, in the order of p."""
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
        """(t, q, v, tau, p) -> (loops, 6): the wrench in each joint of `mechanism.loops`, from this
        formulation's multipliers.

        None without loops or without multipliers. Of rows that repeat others the multipliers are
        one choice of many; `catena.analysis.reactions` says which components the motion determines.
        """
        from .loop_wrenches import loop_wrenches

        return (
            loop_wrenches(self.mechanism, self.multipliers)
            if self.mechanism.loops and self.multipliers is not None
            else None
        )

    # --- the form people read
    def sympy(self, effort: int = EFFORT) -> Readable:
        """The equations in SymPy, with the user's own symbols, in the textbook's form where that is
        found.

        effort: how many operations to spend on it, counted and not timed; 0 shows the computation,
        with its intermediate values.
        """
        from .readable import read

        source = self.written() if self.written and effort else self
        return read(source, effort)

    def text(self, effort: int = EFFORT, full: bool = False) -> str:
        """The equations as plain text, on one page.

        Where the scalar equations fit on a page they are shown; else the formulation's compact
        statement with the quantities it is made of. full: the scalar equations in any case, on as
        many pages as they need. effort: as in `sympy`.
        """
        return self._shown("text", effort, full)

    def latex(self, effort: int = EFFORT, full: bool = False) -> str:
        """The equations as LaTeX (amsmath), on one page; the choice is that of `text`."""
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
        """The derivation, step by step: each line with one sentence of why, and checked at random
        states before it is shown: a `catena.teaching.Derivation`.
        """
        return loaded("catena.teaching:derivation")(self)

    def python(self, what: str = "acceleration") -> str:
        """The source of a Python function that needs nothing but math: the "acceleration" or the
        "derivative".
        """
        from .readable import python

        return python(self, what)

    def c(self, what: str = "acceleration") -> str:
        """The source of a C function that needs nothing but math.h: the "acceleration" or the
        "derivative".
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
    """Equations out of expressions of the symbols of a tracer and of the state x, whose entries
    have these names.

    largest: of the linear systems solved. more: other fields of `Equations`.
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
    """The sentence for a speed of a mechanism that nothing resists, found by a formulation."""
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
    """How many arithmetic operations a tape has: its instructions without inputs, outputs and
    constants.
    """
    trivial = {ca.OP_INPUT, ca.OP_OUTPUT, ca.OP_CONST, ca.OP_PARAMETER}
    return sum(f.instruction_id(k) not in trivial for k in range(f.n_instructions()))
