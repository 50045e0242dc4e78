"""Export: any kernel of a machine as C that stands alone.

    Machine -> tape of one quantity -> one C function of plain arrays, and a header that says what each argument is

    void arm_inverse_dynamics(const double *q, const double *v, const double *a, double *tau);

The C is C99 and needs nothing but math.h: straight-line code, no loops, no branches, no memory of its own, so it may be
called from any thread and from an interrupt. Matrices are stored by rows. A result may be written over an argument.
"""

from __future__ import annotations

import math
import os
import re
import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from pathlib import Path

import casadi as ca

from ..compiler.operations import LIBM, SINCOS
from ..compiler.tape import Tape, read
from ..errors import CompileError, UnknownNameError
from ..model.joints import Motion
from ..model.mechanism import Joint
from .machine import INPUTS, Machine

VERSION = version("catena")

QUANTITIES = tuple(INPUTS)
OF_A_FRAME = {"pose": 1, "jacobian": 2, "jacobian_rate": 2, "frame_velocity": 2, "frame_acceleration": 2}  # frame; frame, axes
OF_ROWS = ("multipliers", "constraint_rows", "row_wrenches")  # of the constraints, where there are any

OUTPUTS: dict[str, tuple[tuple[str, str], ...]] = {  # the results of each quantity: a name in C, and what it is
    "inverse_dynamics": (("tau", "the forces of the motion, M(q) a + bias(q, v)"),),
    "forward_dynamics": (("a", "the accelerations that the forces tau cause"),),
    "multipliers": (("multipliers", "the forces of the loops' rows at the motion of tau"),),
    "constraint_rows": (
        ("error", "residuals of the loops' rows"),
        ("rate", "their rates, A v"),
        ("gamma", "right side of A a = gamma"),
        ("A", "the rows: A v = rate"),
    ),
    "row_wrenches": (("row_wrenches", "the wrench of each row on its two bodies, torque first"),),
    "mass_matrix": (("M", "mass matrix; kinetic energy is 1/2 v' M v"),),
    "coriolis_matrix": (("C", "Coriolis matrix: C v + gravity = bias, and Mdot - 2 C is skew"),),
    "bias": (("bias", "the forces of the motion with a = 0"),),
    "gravity": (("gravity", "the forces that hold the mechanism still"),),
    "energy": (("energy", "kinetic and potential energy, J"),),
    "momentum": (("momentum", "mass (kg), centre of mass (m), its velocity (m/s), angular momentum about it (kg m2/s)"),),
    "pose": (("pose", "rotation and, as fourth column, origin (m) of the frame in the ground"),),
    "jacobian": (("J", "angular velocity (three rows) and velocity of the frame's origin are J v"),),
    "jacobian_rate": (("rate", "Jdot v, angular first"),),
    "frame_velocity": (("velocity", "angular velocity (rad/s), then velocity of the origin (m/s)"),),
    "frame_acceleration": (("acceleration", "angular acceleration (rad/s2), then acceleration of the origin (m/s2)"),),
    "reactions": (("reactions", "the wrench in each joint on its child, torque (N m) first, child body's axes and origin"),),
    "inverse_dynamics_derivatives": (
        ("dtau_dq", "d tau / d q, along the speeds"),
        ("dtau_dv", "d tau / d v"),
        ("dtau_da", "d tau / d a, the mass matrix"),
        ("dtau_dp", "d tau / d parameters"),
    ),
    "forward_dynamics_derivatives": (
        ("da_dq", "d a / d q, along the speeds"),
        ("da_dv", "d a / d v"),
        ("da_dtau", "d a / d tau, the inverse mass matrix"),
        ("da_dp", "d a / d parameters"),
    ),
}

C = {  # operation of the tape -> an expression of a and b
    **{op: f"{name}({{a}})" if arity == 1 else f"{name}({{a}}, {{b}})" for op, (name, arity) in (LIBM | SINCOS).items()},
    **{op: f"{op.lower()}({{a}})" for op in ("SQRT", "FABS", "FLOOR", "CEIL")},
    **{op: f"{op.lower()}({{a}}, {{b}})" for op in ("FMIN", "FMAX", "COPYSIGN")},
    "ADD": "{a} + {b}",
    "SUB": "{a} - {b}",
    "MUL": "{a}*{b}",
    "DIV": "{a}/{b}",
    "NEG": "-{a}",
    "SQ": "{a}*{a}",
    "TWICE": "{a} + {a}",
    "INV": "1.0/{a}",
    "LT": "{a} < {b}",
    "LE": "{a} <= {b}",
    "EQ": "{a} == {b}",
    "NE": "{a} != {b}",
    "NOT": "{a} == 0.0",
    "AND": "{a} != 0.0 && {b} != 0.0",
    "OR": "{a} != 0.0 || {b} != 0.0",
    "IF_ELSE_ZERO": "{a} != 0.0 ? {b} : 0.0",
    "SIGN": "{a} > 0.0 ? 1.0 : {a} < 0.0 ? -1.0 : {a}",
}

KEYWORDS = """auto break case char const continue default do double else enum extern float for goto if inline int long register
restrict return short signed sizeof static struct switch typedef union unsigned void volatile while main"""
RESERVED = {*KEYWORDS.split(), *(expression.partition("(")[0] for expression in C.values() if expression[0].isalpha())}


@dataclass(frozen=True)
class Argument:
    """An argument of the C function: its name, its shape, what it is, and a line for each entry where that helps."""

    name: str
    shape: tuple[int, ...]
    meaning: str
    entries: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """How many doubles."""
        return math.prod(self.shape)


@dataclass(frozen=True)
class CKernel:
    """One kernel as C. `source` and `header` are the texts, `write` puts both into a folder."""

    name: str
    title: str
    tape: Tape
    inputs: tuple[Argument, ...]
    outputs: tuple[Argument, ...]

    @property
    def declaration(self) -> str:
        """The C function's prototype, without the semicolon."""
        taken = ["double t" if x.name == "t" else f"const double *{x.name}" for x in self.inputs]
        return f"void {self.name}({', '.join([*taken, *(f'double *{y.name}' for y in self.outputs)])})"

    @cached_property
    def header(self) -> str:
        """The header: the prototype, and every argument entry by entry."""
        guard = f"{self.name.upper()}_H"
        told = "\n".join(f" * {line}".rstrip() for line in self._told())
        return (f"/*\n{told}\n */\n#ifndef {guard}\n#define {guard}\n\n#ifdef __cplusplus\nextern \"C\" {{\n#endif\n\n"
                f"{self.declaration};\n\n#ifdef __cplusplus\n}}\n#endif\n\n#endif\n")  # fmt: skip

    @cached_property
    def source(self) -> str:
        """The source: one function of straight-line code."""
        body = "\n".join(f"    {line}" for line in _statements(self))
        return (f"/* {self.title}\n * Written by catena {VERSION}. {self.name}.h says what each argument is. */\n"
                f"#include <math.h>\n\n{self.declaration};\n\n{self.declaration}\n{{\n{body}\n}}\n")  # fmt: skip

    def write(self, folder: str | os.PathLike[str]) -> tuple[Path, Path]:
        """Write NAME.c and NAME.h into a folder, which is made if it is not there; the two paths."""
        from ..formats import files

        where = Path(folder)
        try:
            where.mkdir(parents=True, exist_ok=True)
        except OSError as why:
            raise CompileError(f"folder {str(where)!r} cannot be made: {why.strerror}; choose another") from None
        paths = where / f"{self.name}.c", where / f"{self.name}.h"
        for path, text in zip(paths, (self.source, self.header)):
            files.write(path, text)
        return paths

    def _told(self) -> Iterator[str]:
        yield self.title
        yield f"Written by catena {VERSION}. SI units, matrices by rows. A result may be written over an argument."
        for heading, arguments in (("Arguments", self.inputs), ("Results", self.outputs)):
            yield from ("", f"{heading}:")
            for x in arguments:
                size = "" if x.name == "t" else f"[{' x '.join(map(str, x.shape))}]"
                yield f"  {x.name}{size}  {x.meaning}"
                yield from (f"    {k:>3}  {entry}" for k, entry in enumerate(x.entries))


def c_source(machine: Machine, quantity: str, *which: str, **options: object) -> str:
    """The C source of a kernel; see `c_kernel` for the arguments."""
    return c_kernel(machine, quantity, *which, **options).source  # type: ignore[arg-type]


def c_kernel(
    machine: Machine, quantity: str, *which: str, wrenches: Sequence[tuple[str, str]] = (), name: str | None = None,
    fixed: bool = False,
) -> CKernel:  # fmt: skip
    """A kernel of a machine as C.

    quantity: one of `QUANTITIES`, named as the machine's methods. which: the frame, then "world" or "body" axes, for
    quantities of a frame. wrenches: the (frame, axes) of external wrenches, for a kernel that takes them. name: of the C
    function, by default the mechanism's name and the quantity. fixed: the parameters' present values go into the code;
    otherwise a mechanism with parameters has a kernel that takes them.
    """
    if quantity not in OUTPUTS:
        raise UnknownNameError("kernel", quantity, QUANTITIES, "a machine")
    if quantity in OF_ROWS and not machine.rows:
        raise CompileError(f"mechanism {machine.mechanism.name!r} has no {quantity}: it has no loop and no row on its speeds")
    _check_frames(machine, quantity, which, wrenches)
    f = machine.function(quantity, *which, wrenches=tuple(wrenches))
    inputs = _inputs(machine, quantity, wrenches, f)
    if fixed and machine.parameter_names:
        k = [x.name for x in inputs].index("parameters")
        f, inputs = _fix(f, k, list(machine.mechanism.parameters.values())), inputs[:k] + inputs[k + 1 :]
    tape = read(f)
    outputs = tuple(
        Argument(label, shape if shape[1] > 1 else shape[:1], meaning, _entries(machine, quantity))
        for (label, meaning), shape in zip(OUTPUTS[quantity], tape.output_shapes)
    )
    chosen = name or identifier("_".join([machine.mechanism.name, quantity, *which[:1]]))
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", chosen) or chosen in RESERVED:
        raise CompileError(f"a C function cannot be called {chosen!r}; give letters, digits and _, and no word of C or math.h")
    title = " ".join([quantity, *(f"at {w!r}" for w in which[:1]), *(f"in {w} axes" for w in which[1:])])
    return CKernel(chosen, _comment(f"{title} of mechanism {machine.mechanism.name!r}"), tape, inputs, outputs)


def identifier(text: str) -> str:
    """A name for C: lower-case letters, digits and underscores.

    >>> identifier("two-link arm_mass_matrix")
    'two_link_arm_mass_matrix'
    """
    words = re.sub(r"[^a-z0-9_]+", "_", text.lower()).strip("_")
    return f"m_{words}" if not words or words[0].isdigit() else words


def coordinate_units(joint: Joint) -> list[str]:
    """The unit of each coordinate: rad, m, or 1 for a quaternion's parts."""
    names = {Motion.SLIDE: "m", Motion.BALL: "1"}
    return [names.get(f.motion, "rad") for f in joint.freedoms for _ in f.labels]


def speed_units(joint: Joint) -> list[str]:
    """The unit of each speed: rad/s or m/s."""
    return ["m/s" if f.motion == Motion.SLIDE else "rad/s" for f in joint.freedoms for _ in f.speeds]


# ----------------------------------------------------------------------------------------------- arguments
def _check_frames(machine: Machine, quantity: str, which: Sequence[str], wrenches: Sequence[tuple[str, str]]) -> None:
    wanted = OF_A_FRAME.get(quantity, 0)
    if len(which) != wanted:
        takes = ("no frame", "a frame", 'a frame, then axes "world" or "body"')[wanted]
        raise CompileError(f"kernel {quantity!r} takes {takes}; found {', '.join(map(repr, which)) or 'none'}")
    if wrenches and INPUTS[quantity] not in ("qva", "qvt") and quantity != "bias":
        raise CompileError(f"kernel {quantity!r} does not depend on external wrenches; leave them out")
    for frame, axes in [*([which] if wanted == 2 else [(which[0], "world")] if wanted else []), *wrenches]:
        machine.mechanism.frame(frame)
        if axes not in ("world", "body"):
            raise UnknownNameError("axes", axes, ("world", "body"), f"{quantity} of {frame!r}")


def _inputs(machine: Machine, quantity: str, wrenches: Sequence[tuple[str, str]], f: ca.Function) -> tuple[Argument, ...]:
    moving, p = machine.mechanism.moving, machine.mechanism.parameters
    coordinates = _lines(machine.coordinate_names, [u for j in moving for u in coordinate_units(j)])
    speeds = _lines(machine.speed_names, [u for j in moving for u in speed_units(j)])
    quaternions = "; a quaternion has length one and its scalar part first" if machine.nq > machine.nv else ""
    known = {
        "q": Argument("q", (machine.nq,), f"coordinates{quaternions}", coordinates),
        "v": Argument("v", (machine.nv,), "speeds", speeds),
        "a": Argument("a", (machine.nv,), "accelerations: the rates of the speeds, in their order"),
        "t": Argument("tau", (machine.nv,), "forces (N m or N), in the order of the speeds"),
    }
    places = tuple(_comment(f"at {frame!r}, in {axes} axes") for frame, axes in wrenches)
    more = [Argument("wrenches", (len(wrenches), 6), "external wrenches, torque (N m) first", places)] if wrenches else []
    values = _lines(p, [f"at present {x!r}" for x in p.values()])
    more += [Argument("parameters", (len(p),), "values of the mechanism's parameters", values)] if p else []
    found = [*(known[k] for k in INPUTS[quantity]), *more]
    return (*found, *([Argument("t", (1,), "time, s")] if f.n_in() > len(found) else []))


def _entries(machine: Machine, quantity: str) -> tuple[str, ...]:
    """The rows of a result that have names."""
    if quantity == "reactions":
        return tuple(_comment(j.name) for j in machine.mechanism.ordered)
    return tuple(_comment(str(row)) for row in machine.rows) if quantity == "multipliers" else ()


def _lines(names: Iterable[str], units: Sequence[str]) -> tuple[str, ...]:
    return tuple(f"{_comment(name)}, {unit}" for name, unit in zip(names, units))


def _fix(f: ca.Function, k: int, values: Sequence[float]) -> ca.Function:
    """The function with its k-th argument at these values."""
    symbols = f.sx_in()
    given = [ca.SX(ca.DM(values)) if i == k else x for i, x in enumerate(symbols)]
    rest = [x for i, x in enumerate(symbols) if i != k]
    return ca.Function(f.name(), rest, [ca.densify(y) for y in ca.cse(f.call(given))])


# ----------------------------------------------------------------------------------------------- text
def _statements(kernel: CKernel) -> Iterator[str]:
    """The body, in the order of the tape; results are stored last, so that they may lie over the arguments."""
    places = [("t" if x.name == "t" else f"{x.name}[{k}]", x.name) for x in kernel.inputs for k in range(x.size)]
    results = [f"{y.name}[{k}]" for y in kernel.outputs for k in range(y.size)]
    text: dict[int, str] = {}
    used: set[str] = set()
    stores, count = [""] * len(results), 0
    for n, node in enumerate(kernel.tape.nodes):
        if node.op == "CONST":
            text[n] = _number(node.at)
        elif node.op == "OUTPUT":
            stores[node.at] = f"{results[node.at]} = {text[node.args[0]]};"
        else:
            if node.op == "INPUT":
                value, name = places[node.at]
                used.add(name)
            elif node.op in C:
                a, b = (text[node.args[0]], text[node.args[-1]])
                value = C[node.op].format(a=a, b=b)
            else:
                raise CompileError(f"kernel {kernel.name!r} uses {node.op}, which export does not write in C")
            text[n] = f"x{count}"
            count += 1
            yield f"const double {text[n]} = {value};"
    yield from stores
    yield from (f"(void){x.name};" for x in kernel.inputs if x.name not in used)


def _number(bits: int) -> str:
    """A double of 64 bits as C reads it back exactly."""
    (x,) = struct.unpack("<d", struct.pack("<Q", bits & (2**64 - 1)))
    if math.isnan(x):
        return "NAN"
    if math.isinf(x):
        return "INFINITY" if x > 0 else "(-INFINITY)"
    return repr(x) if math.copysign(1.0, x) > 0 else f"({x!r})"


def _comment(text: str) -> str:
    """A text that may stand in a C comment and on one line."""
    line = "".join(c if c.isprintable() else "?" for c in text)
    return line.replace("*/", "* /").replace("/*", "/ *").replace("??", "? ?").replace("\\", "/")
