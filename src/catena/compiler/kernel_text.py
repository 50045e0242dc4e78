"""Kernel text: values, memory and blocks of the LLVM text into which `kernel_compiler` translates
kernels.

    known now     Python's own: int, float, bool, tuple, record, function
    known later   Value(kind, register): "int", "truth", "float" (lanes), "mask" (a truth for each
                  lane)
    Array         address, shape and the kind of its items: "int", "double" (one for all lanes),
                  "lanes", or "window" (doubles, of which a vector is read and written at any place)

An integer or a truth is one register, a float is one vector register with a lane for each state.
Arithmetic on values that are known now is done now.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import CompileError
from . import operations, sincos
from .text import Text, bits_of, splat

FLAGS = operations.FLAGS


@dataclass(frozen=True, slots=True)
class Value:
    """A value that is known at run time: a register or a literal of LLVM, and its kind."""

    kind: str
    name: str


@dataclass(frozen=True)
class Array:
    """Numbers in memory, by rows. shape: ints, known now, or Values."""

    pointer: str
    shape: tuple[Any, ...]
    item: str = "lanes"

    def __len__(self) -> int:
        raise TypeError("the length of an array may be known only when the code runs")


@dataclass(frozen=True, slots=True)
class Slot:
    """Memory on the stack for a name that is assigned more than once."""

    kind: str
    pointer: str


INSTRUCTIONS: dict[type, str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "div",
    ast.FloorDiv: "sdiv",
    ast.Mod: "srem",
    ast.BitAnd: "and",
    ast.BitXor: "xor",
    ast.RShift: "ashr",
}
COMPARISONS: dict[type, tuple[str, str]] = {
    ast.Lt: ("slt", "olt"),
    ast.LtE: ("sle", "ole"),
    ast.Gt: ("sgt", "ogt"),
    ast.GtE: ("sge", "oge"),
    ast.Eq: ("eq", "oeq"),
    ast.NotEq: ("ne", "une"),
}
PYTHON: dict[type, Callable[..., Any]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
    ast.FloorDiv: lambda a, b: a // b,
    ast.Mod: lambda a, b: a % b,
    ast.Pow: lambda a, b: a**b,
    ast.BitAnd: lambda a, b: a & b,
    ast.BitXor: lambda a, b: a ^ b,
    ast.RShift: lambda a, b: a >> b,
    ast.Lt: lambda a, b: a < b,
    ast.LtE: lambda a, b: a <= b,
    ast.Gt: lambda a, b: a > b,
    ast.GtE: lambda a, b: a >= b,
    ast.Eq: lambda a, b: a == b,
    ast.NotEq: lambda a, b: a != b,
    ast.Is: lambda a, b: a is b,
}


def _types(width: int) -> tuple[str, str]:
    """Return LLVM's types of a float and of a truth for each lane; one lane is a plain double,
    which LLVM handles better.
    """
    return ("double", "i1") if width == 1 else (f"<{width} x double>", f"<{width} x i1>")


class KernelText:
    """The growing text of a module of LLVM, and of the function that is being written."""

    def __init__(self, width: int, fused: bool):
        self.width, self.fused = width, fused
        self.text = Text(width)
        self.V, self.B = _types(width)
        self.text.lines += ["declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)"]
        self.text.lines += [
            f"declare double @llvm.{name}.f64(double)" for name in ("fabs", "floor", "sqrt")
        ]
        operations.declare(self.text, {"SIN", "COS", "ATAN2", "POW"})
        sincos.write(self.text, fused)
        self._names = 0
        self._stack: list[str] = []  # the allocations of the function being written
        self.ended = False  # whether the block being written has its last instruction
        self._angles: dict[str, tuple[Value, Value]] = {}
        self.heap: list[str] = []  # memory to be freed where the function ends
        self.helpers: dict[str, list[str]] = {}  # functions that code here calls

    def __str__(self) -> str:
        return "\n".join(
            [*self.text.lines, *(line for lines in self.helpers.values() for line in lines)]
        )

    # --- functions and blocks
    @contextmanager
    def function(
        self, name: str, *parameters: str, returns: str = "void", linkage: str = ""
    ) -> Iterator[list[str]]:
        """Write a function around what is written inside; parameters such as "ptr x"; yields their
        registers.
        """
        whole = self.text.lines
        self.text.lines = []
        self._stack = []
        self.ended = False
        self._angles = {}
        yield [f"%{p.split()[-1]}" for p in parameters]
        if not self.ended and returns == "void":
            self.do("ret void")
        body = self.text.lines
        self.text.lines = whole
        given = ", ".join(f"{p.rsplit(' ', 1)[0]} %{p.split()[-1]}" for p in parameters)
        self.text.lines += [
            f"define {linkage}{returns} @{name}({given}) nounwind {{",
            "entry:",
            *self._stack,
            *body,
            "}",
            "",
        ]

    def new(self, code: str) -> str:
        """Write an instruction, and return the register of its result."""
        self._names += 1
        self.text.lines.append(f"  %r{self._names} = {code}")
        return f"%r{self._names}"

    def do(self, code: str) -> None:
        """Write an instruction without a result."""
        self.text.lines.append(f"  {code}")

    def label(self, hint: str) -> str:
        """Return a new name for a block."""
        self._names += 1
        return f"{hint}{self._names}"

    def begin(self, block: str) -> None:
        """Begin a block; the one before falls through to it."""
        self.jump(block)
        self.text.lines.append(f"{block}:")
        self.ended, self._angles = False, {}

    def jump(self, block: str) -> None:
        """Jump to a block, unless this one has ended."""
        if not self.ended:
            self.do(f"br label %{block}")
            self.ended = True

    def branch(self, truth: str, then: str, other: str) -> None:
        """Jump to one of two blocks."""
        self.do(f"br i1 {truth}, label %{then}, label %{other}")
        self.ended = True

    def slot(self, kind: str) -> Slot:
        """Return memory on the stack."""
        self._names += 1
        self._stack.append(
            f"  %s{self._names} = alloca {self.llvm(kind)}, align"
            f" {8 * self.width if kind == 'float' else 8}"
        )
        return Slot(kind, f"%s{self._names}")

    def room(self, count: int) -> str:
        """Return memory on the stack for `count` vectors of lanes."""
        self._names += 1
        self._stack.append(
            f"  %s{self._names} = alloca {self.V}, i64 {count}, align {8 * self.width}"
        )
        return f"%s{self._names}"

    @contextmanager
    def lanes(self, width: int) -> Iterator[None]:
        """Use another number of lanes for the code that is written inside this context."""
        before = self.width, self.V, self.B
        self.width, (self.V, self.B) = width, _types(width)
        yield
        self.width, self.V, self.B = before

    # --- values
    def llvm(self, kind: str) -> str:
        """Return LLVM's type of a kind of value."""
        return {"int": "i64", "truth": "i1", "float": self.V, "mask": self.B}[kind]

    def kind(self, x: Any) -> str:
        """Return the kind of a scalar, known now or later."""
        if isinstance(x, Value):
            return x.kind
        if isinstance(x, (bool, np.bool_)):
            return "truth"
        return "int" if isinstance(x, (int, np.integer)) else "float"

    def later(self, x: Any, kind: str | None = None) -> Value:
        """Return a scalar as a run-time value, converted to `kind` if given."""
        have = self.kind(x)
        kind = kind or have
        if not isinstance(x, Value):
            if kind == "float":
                bits = bits_of(float(x))
                return Value("float", splat(bits) if self.width > 1 else f"0x{bits:016X}")
            return Value(kind, str(bool(x)).lower() if kind == "truth" else str(int(x)))
        if kind == have:
            return x
        if kind == "float" and have == "int":
            return self.spread(self.new(f"sitofp i64 {x.name} to double"))
        if kind == "truth" and have == "int":
            return Value("truth", self.new(f"icmp ne i64 {x.name}, 0"))
        if kind == "int" and have == "truth":
            return Value("int", self.new(f"zext i1 {x.name} to i64"))
        raise CompileError(
            f"a kernel needs a {kind} where it has a {have}; kernels branch on structure, not on"
            " values"
        )

    def spread(self, double: str) -> Value:
        """Return one double in all lanes."""
        if self.width == 1:
            return Value("float", double)
        first = self.new(f"insertelement {self.V} poison, double {double}, i64 0")
        zeros = f"<{self.width} x i32> zeroinitializer"
        return Value("float", self.new(f"shufflevector {self.V} {first}, {self.V} poison, {zeros}"))

    def first(self, x: Value) -> str:
        """Return the double in the first lane."""
        return self.new(f"extractelement {self.V} {x.name}, i64 0") if self.width > 1 else x.name

    def arithmetic(self, op: type, a: Any, b: Any) -> Any:
        """Return the result of an arithmetic operation: a op b."""
        if not (isinstance(a, Value) or isinstance(b, Value)):
            return PYTHON[op](a, b)
        if op is ast.Mult and not isinstance(a, Value) and isinstance(a, float) and a == 0.0:
            return 0.0  # how kernels write a zero of any scalar
        if "float" in (self.kind(a), self.kind(b)) or op is ast.Div:
            return self.floats(op, a, b)
        a = self.later(a, "int")
        b = self.later(b, "int")
        name = INSTRUCTIONS[op]
        return Value("int", self.new(f"{name} i64 {a.name}, {b.name}"))

    def floats(self, op: type, a: Any, b: Any) -> Any:
        if op in (ast.Add, ast.Sub) and not isinstance(b, Value) and b == 0.0:
            return a
        if op is ast.Add and not isinstance(a, Value) and a == 0.0:
            return b
        if op is ast.Pow:
            return self.binary("pow", a, b)
        x = self.later(a, "float")
        y = self.later(b, "float")
        return Value("float", self.new(f"f{INSTRUCTIONS[op]} {FLAGS} {self.V} {x.name}, {y.name}"))

    def compared(self, op: type, a: Any, b: Any) -> Any:
        """Return the truth of a comparison: a op b."""
        if not (isinstance(a, Value) or isinstance(b, Value)):
            return PYTHON[op](a, b)
        whole, real = COMPARISONS[op]
        if "float" in (self.kind(a), self.kind(b)):
            x = self.later(a, "float")
            y = self.later(b, "float")
            return Value(
                "mask" if self.width > 1 else "truth",
                self.new(f"fcmp {real} {self.V} {x.name}, {y.name}"),
            )
        x = self.later(a, "int")
        y = self.later(b, "int")
        return Value("truth", self.new(f"icmp {whole} i64 {x.name}, {y.name}"))

    def negated(self, x: Any) -> Any:
        """Return -x."""
        if not isinstance(x, Value):
            return -x
        if x.kind == "float":
            return Value("float", self.new(f"fneg {FLAGS} {self.V} {x.name}"))
        return Value("int", self.new(f"sub i64 0, {x.name}"))

    def inverted(self, x: Any) -> Any:
        """Return not x."""
        if not isinstance(x, Value):
            return not x
        x = self.later(x, "truth") if x.kind != "mask" else x
        return Value(
            x.kind,
            self.new(
                f"xor {self.llvm(x.kind)} {x.name},"
                f" {'true' if x.kind == 'truth' else 'splat (i1 true)'}"
            ),
        )

    def selected(self, condition: Any, a: Any, b: Any) -> Any:
        """Return a where the condition holds, else b; both are computed."""
        if not isinstance(condition, Value):
            return a if condition else b
        if isinstance(a, tuple):
            return tuple(self.selected(condition, x, y) for x, y in zip(a, b))
        kind = "float" if "float" in (self.kind(a), self.kind(b)) else self.kind(a)
        x = self.later(a, kind)
        y = self.later(b, kind)
        t = self.llvm(kind)
        return Value(
            kind,
            self.new(
                f"select {self.llvm(condition.kind)} {condition.name}, {t} {x.name}, {t} {y.name}"
            ),
        )

    def any_lane(self, condition: Any) -> Any:
        """Return whether a truth for each lane holds in at least one of them."""
        if not isinstance(condition, Value) or condition.kind == "truth":
            return condition
        own = f"v{self.width}i1"
        self.helpers.setdefault(
            f"any {own}", [f"declare i1 @llvm.vector.reduce.or.{own}({self.B})"]
        )
        return Value(
            "truth", self.new(f"call i1 @llvm.vector.reduce.or.{own}({self.B} {condition.name})")
        )

    def unary(self, name: str, x: Any) -> Value:
        """Return a function of one float that LLVM has itself."""
        own = f"v{self.width}f64" if self.width > 1 else "f64"
        return Value(
            "float",
            self.new(f"call {self.V} @llvm.{name}.{own}({self.V} {self.later(x, 'float').name})"),
        )

    def binary(self, name: str, x: Any, y: Any) -> Value:
        """Return a function of two floats of the C library, lane by lane."""
        a = self.later(x, "float").name
        b = self.later(y, "float").name
        own = f"lanes_{name}" if self.width > 1 else name
        return Value("float", self.new(f"call {self.V} @{own}({self.V} {a}, {self.V} {b})"))

    def sine_and_cosine(self, x: Any) -> tuple[Value, Value]:
        """Return sine and cosine at once; they are computed only once for an angle within a
        block.
        """
        angle = self.later(x, "float").name
        if angle not in self._angles:
            place = self.room(2)
            self.text.store(angle, place, of=self.V)
            self.sines(place, self.new(f"getelementptr {self.V}, ptr {place}, i64 1"), "1")
            self._angles[angle] = (
                Value("float", self.text.load(place, of=self.V)),
                Value("float", self.text.load(place, 1, self.V)),
            )
        return self._angles[angle]

    def sines(self, s: str, c: str, n: str) -> None:
        """Compute the sines and cosines of the n angles at s, in place and at c."""
        self.do(f"call void @lanes_sines(ptr {s}, ptr {c}, i64 {n})")

    # --- memory
    def product(self, sizes: Sequence[Any]) -> Any:
        """Return the product of sizes, known now or later."""
        return functools.reduce(lambda a, b: self.arithmetic(ast.Mult, a, b), sizes, 1)

    def place(self, x: Array, index: Sequence[Any]) -> Array:
        """Return the subarray of an array at some leading indices."""
        offset: Any = 0
        for k, i in enumerate(index):
            offset = self.arithmetic(
                ast.Add, offset, self.arithmetic(ast.Mult, i, self.product(x.shape[k + 1 :]))
            )
        step = {"int": "i64", "double": "double", "window": "double", "lanes": self.V}[x.item]
        name = self.later(offset, "int").name
        pointer = (
            x.pointer
            if name == "0"
            else self.new(f"getelementptr {step}, ptr {x.pointer}, i64 {name}")
        )
        return Array(pointer, x.shape[len(index) :], x.item)

    def part(self, x: Array, start: Any, stop: Any) -> Array:
        """Return x[start:stop]."""
        size = self.arithmetic(ast.Sub, stop, start)
        return Array(
            self.place(Array(x.pointer, (size, *x.shape[1:]), x.item), (start,)).pointer,
            (size, *x.shape[1:]),
            x.item,
        )

    def read(self, x: Array, index: Sequence[Any]) -> Any:
        """Return an entry, or the part of an array at some leading indices."""
        part = self.place(x, index)
        if part.shape:
            return part
        if x.item == "int":
            return Value("int", self.new(f"load i64, ptr {part.pointer}"))
        if x.item == "double":
            return self.spread(self.new(f"load double, ptr {part.pointer}"))
        return Value("float", self.new(f"load {self.V}, ptr {part.pointer}, align 8"))

    def gathered(self, x: Array, i: Any) -> Value:
        """Return the entry of a table of doubles at another place for each lane."""
        place = self.later(i, "float").name
        if self.width == 1:
            at = self.new(f"fptosi double {place} to i64")
            pointer = self.new(f"getelementptr double, ptr {x.pointer}, i64 {at}")
            return Value("float", self.new(f"load double, ptr {pointer}"))
        places = self.new(f"fptosi {self.V} {place} to <{self.width} x i64>")
        found = "poison"
        for lane in range(self.width):
            at = self.new(f"extractelement <{self.width} x i64> {places}, i64 {lane}")
            pointer = self.new(f"getelementptr double, ptr {x.pointer}, i64 {at}")
            number = self.new(f"load double, ptr {pointer}")
            found = self.new(f"insertelement {self.V} {found}, double {number}, i64 {lane}")
        return Value("float", found)

    def write(self, x: Array, index: Sequence[Any], value: Any) -> None:
        """Set an entry, or copy an array to a part of another."""
        part = self.place(x, index)
        if isinstance(value, Array):
            scale = 8 if value.item != "lanes" else 8 * self.width
            size = self.later(
                self.arithmetic(ast.Mult, scale, self.product(value.shape)), "int"
            ).name
            self.do(
                f"call void @llvm.memcpy.p0.p0.i64(ptr {part.pointer}, ptr {value.pointer}, i64"
                f" {size}, i1 false)"
            )
        elif x.item == "int":
            self.do(f"store i64 {self.later(value, 'int').name}, ptr {part.pointer}")
        elif x.item == "double":
            self.do(f"store double {self.first(self.later(value, 'float'))}, ptr {part.pointer}")
        else:
            self.do(
                f"store {self.V} {self.later(value, 'float').name}, ptr {part.pointer}, align 8"
            )

    def slots(self, x: Any) -> Any:
        """Return memory for a value of this structure."""
        if isinstance(x, tuple):
            return tuple(self.slots(each) for each in x)
        return x if isinstance(x, Array) or x is None else self.slot(self.kind(x))

    def store(self, slot: Any, x: Any) -> None:
        """Store a structure in memory."""
        if isinstance(slot, Slot):
            self.do(
                f"store {self.llvm(slot.kind)} {self.later(x, slot.kind).name}, ptr {slot.pointer}"
            )
        elif isinstance(slot, tuple):
            for each, value in zip(slot, x, strict=True):
                self.store(each, value)

    def load(self, slot: Any) -> Any:
        """Return a structure from memory."""
        if isinstance(slot, Slot):
            return Value(slot.kind, self.new(f"load {self.llvm(slot.kind)}, ptr {slot.pointer}"))
        return tuple(self.load(each) for each in slot) if isinstance(slot, tuple) else slot
