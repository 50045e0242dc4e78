"""Export: any kernel of a machine as C that stands alone.

    Machine -> expression of one quantity -> one C function of plain arrays, with a header
    that documents its arguments

    void arm_inverse_dynamics(const double *q, const double *v, const double *a, double *tau);

The C is C99 and needs nothing but math.h: straight-line code, no loops, no branches, no static
memory, so it may be called from any thread and from an interrupt. Matrices are stored by rows. A
result may be written over an argument.
"""

from __future__ import annotations

import math
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from pathlib import Path

import casadi as ca

from ..compiler import Tape, read
from ..equations.readable import RESERVED, program
from ..errors import CompileError, UnknownNameError
from ..model import coordinate_units, speed_units
from .arguments import AXES, check_frame
from .machine import Machine
from .quantities import Quantity, find
from .request import INPUTS

VERSION = version("catena")

# functions and constants of math.h
MATH = {line.partition("(")[0] for line in program.C.values() if line[0].isalpha()}


@dataclass(frozen=True)
class CArgument:
    """An argument of the C function: its name, its shape, its meaning, and the meaning of each
    entry where these have names.
    """

    name: str
    shape: tuple[int, ...]
    meaning: str
    entries: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """The number of doubles."""
        return math.prod(self.shape)


@dataclass(frozen=True)
class CKernel:
    """One quantity as C. `source` and `header` are the code as strings, `write` writes both into a
    folder.
    """

    name: str
    title: str
    tape: Tape
    inputs: tuple[CArgument, ...]
    outputs: tuple[CArgument, ...]

    @property
    def declaration(self) -> str:
        """The C function's prototype, without the semicolon."""
        return program.c_head(self.name, self._arguments, [y.name for y in self.outputs])

    @property
    def _arguments(self) -> list[program.Argument]:
        names = (
            (x.name, (x.name,) if x.name == "t" else tuple(f"{x.name}{k}" for k in range(x.size)))
            for x in self.inputs
        )
        return [program.Argument(*pair) for pair in names]

    @cached_property
    def operations(self) -> dict[str, int]:
        """How often each operation is computed in a call: always all of them, since the code has no
        branches and no loops.
        """
        silent = {"INPUT", "OUTPUT", "CONST"}
        counts = Counter(node.op.lower() for node in self.tape.nodes if node.op not in silent)
        return dict(sorted(counts.items(), key=lambda item: -item[1]))

    @cached_property
    def header(self) -> str:
        """The header file: the prototype, and a comment that describes every argument entry by
        entry.
        """
        guard = f"{self.name.upper()}_H"
        comment = "\n".join(f" * {line}".rstrip() for line in self._description())
        return (
            f"/*\n{comment}\n */\n#ifndef {guard}\n#define {guard}\n\n#ifdef __cplusplus\n"
            f'extern "C" {{\n#endif\n\n{self.declaration};\n\n'
            "#ifdef __cplusplus\n}\n#endif\n\n#endif\n"
        )

    @cached_property
    def source(self) -> str:
        """The source file: one function of straight-line code."""
        results = [f"{y.name}[{k}]" for y in self.outputs for k in range(y.size)]
        body = program.c_body(self.tape, self._arguments, results, "x")
        return (
            f"/* {self.title}\n * Written by catena {VERSION}. {self.name}.h says what each"
            " argument is. */\n#include"
            f" <math.h>\n\n{self.declaration};\n\n{self.declaration}\n{{\n{body}\n}}\n"
        )

    def write(self, folder: str | os.PathLike[str]) -> tuple[Path, Path]:
        """Write NAME.c and NAME.h into a folder, which is created where it is missing, and return
        the two paths.
        """
        from ..formats import files

        where = Path(folder)
        try:
            where.mkdir(parents=True, exist_ok=True)
        except OSError as why:
            raise CompileError(
                f"folder {str(where)!r} cannot be made: {why.strerror}; choose another"
            ) from None
        paths = where / f"{self.name}.c", where / f"{self.name}.h"
        for path, text in zip(paths, (self.source, self.header)):
            files.write(path, text)
        return paths

    def _description(self) -> Iterator[str]:
        """Yield the lines of the header's comment."""
        yield self.title
        yield (
            f"Written by catena {VERSION}. SI units, matrices by rows. A result may be written over"
            " an argument."
        )
        for heading, arguments in (("Arguments", self.inputs), ("Results", self.outputs)):
            yield from ("", f"{heading}:")
            for x in arguments:
                size = "" if x.name == "t" else f"[{' x '.join(map(str, x.shape))}]"
                yield f"  {x.name}{size}  {x.meaning}"
                yield from (f"    {k:>3}  {entry}" for k, entry in enumerate(x.entries))
        yield ""
        yield f"Operations in every call: {sum(self.operations.values())}"
        yield from (f"  {count:>6}  {op}" for op, count in self.operations.items())


def c_kernel(
    machine: Machine,
    quantity: str,
    *which: str,
    wrenches: Sequence[tuple[str, str]] = (),
    name: str | None = None,
    fixed: bool = False,
) -> CKernel:
    """Return a quantity of a machine as C.

    quantity: a name of the table in `quantities`. which: the frame, then "world" or "body" axes,
    for quantities of a frame. wrenches: the (frame, axes) of external wrenches, for a function that
    takes them. name: of the C function, by default the mechanism's name and the quantity. fixed:
    whether the parameters' present values are written into the code; otherwise the function of a
    mechanism with parameters takes them.
    """
    found = find(quantity, "kernel")
    sizes = machine.spec.sizes
    if found.of_rows and not machine.rows:
        raise CompileError(
            f"mechanism {machine.mechanism.name!r} has no {quantity}: it has no loop and no row on"
            " its speeds"
        )
    _check_frames(machine, found, which, wrenches)
    f = machine.function(quantity, *which, wrenches=tuple(wrenches))
    inputs = _inputs(machine, found, wrenches)
    if fixed and machine.parameter_names:
        k = [x.name for x in inputs].index("parameters")
        f = _fix(f, k, list(machine.mechanism.parameters.values()))
        inputs = inputs[:k] + inputs[k + 1 :]
    entries = _entries(machine, found)
    outputs = tuple(
        CArgument(y.name, y.size(sizes) or (1,), y.meaning, entries)
        for y in found.outputs_of(sizes)
    )
    tape = read(f)
    chosen = name or identifier("_".join([machine.mechanism.name, quantity, *which[:1]]))
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", chosen) or chosen in RESERVED | MATH:
        raise CompileError(
            f"a C function cannot be called {chosen!r}; give letters, digits and _, and no word of"
            " C or math.h"
        )
    title = " ".join(
        [quantity, *(f"at {w!r}" for w in which[:1]), *(f"in {w} axes" for w in which[1:])]
    )
    return CKernel(
        chosen, _comment(f"{title} of mechanism {machine.mechanism.name!r}"), tape, inputs, outputs
    )


def identifier(text: str) -> str:
    """Return a name for C: lower-case letters, digits and underscores.

    >>> identifier("two-link arm_mass_matrix")
    'two_link_arm_mass_matrix'
    """
    words = re.sub(r"[^a-z0-9_]+", "_", text.lower()).strip("_")
    return f"m_{words}" if not words or words[0].isdigit() else words


# --- arguments
def _check_frames(
    machine: Machine, quantity: Quantity, which: Sequence[str], wrenches: Sequence[tuple[str, str]]
) -> None:
    check_frame(machine.spec, quantity, tuple(which))
    if wrenches and not quantity.wrenches:
        raise CompileError(
            f"kernel {quantity.name!r} does not depend on external wrenches; leave them out"
        )
    for frame, axes in wrenches:
        machine.mechanism.frame(frame)
        if axes not in AXES:
            raise UnknownNameError("axes", axes, AXES, f"{quantity.name} of {frame!r}")


def _inputs(
    machine: Machine, quantity: Quantity, wrenches: Sequence[tuple[str, str]]
) -> tuple[CArgument, ...]:
    moving = machine.mechanism.moving
    p = machine.mechanism.parameters
    entries = {
        "q": _lines(machine.coordinate_names, [u for j in moving for u in coordinate_units(j)]),
        "v": _lines(machine.speed_names, [u for j in moving for u in speed_units(j)]),
    }
    quaternions = (
        "; a quaternion has length one and its scalar part first" if machine.nq > machine.nv else ""
    )
    found = [
        CArgument(
            x,
            (machine.nq if x == "q" else machine.nv,),
            INPUTS[x] + (quaternions if x == "q" else ""),
            entries.get(x, ()),
        )
        for x in quantity.inputs
    ]
    if wrenches:
        places = tuple(_comment(f"at {frame!r}, in {axes} axes") for frame, axes in wrenches)
        found.append(
            CArgument(
                "wrenches", (len(wrenches), 6), "external wrenches, torque (N m) first", places
            )
        )
    if p:
        values = _lines(p, [f"at present {x!r}" for x in p.values()])
        found.append(
            CArgument("parameters", (len(p),), "values of the mechanism's parameters", values)
        )
    return (*found, *([CArgument("t", (1,), "time, s")] if machine.spec.timed else []))


def _entries(machine: Machine, quantity: Quantity) -> tuple[str, ...]:
    """Return the names of the entries of a result along its first dimension: joints or constraint
    rows; nothing for other results.
    """
    (first, *_), *more = [y.shape or ("",) for y in quantity.outputs]
    if first == "joints":
        return tuple(_comment(j.name) for j in machine.mechanism.ordered)
    return tuple(_comment(str(row)) for row in machine.rows) if first == "rows" and not more else ()


def _lines(names: Iterable[str], units: Sequence[str]) -> tuple[str, ...]:
    return tuple(f"{_comment(name)}, {unit}" for name, unit in zip(names, units))


def _fix(f: ca.Function, k: int, values: Sequence[float]) -> ca.Function:
    """Return the function with its k-th argument replaced by these values."""
    symbols = f.sx_in()
    given = [ca.SX(ca.DM(values)) if i == k else x for i, x in enumerate(symbols)]
    rest = [x for i, x in enumerate(symbols) if i != k]
    return ca.Function(f.name(), rest, [ca.densify(y) for y in ca.cse(f.call(given))])


def _comment(text: str) -> str:
    """Return a string in which everything is replaced that is not allowed in a one-line C
    comment.
    """
    line = "".join(c if c.isprintable() else "?" for c in text)
    return line.replace("*/", "* /").replace("/*", "/ *").replace("??", "? ?").replace("\\", "/")
