"""From the kernels' own Python to LLVM text over lanes: the generic life, for any mechanism of any size.

A kernel is written over scalars, tuples, arrays and records of arrays, and branches on structure, never on values. So its
syntax tree can be walked once: what is known now (sizes of tuples, literal loops, functions) is done now, what is known only
when the code runs becomes an instruction. Calls are expanded in place. A whole number or a truth is one register, a float is
one vector register with a lane for each state: loops and branches serve all lanes alike.

    value now     Python's own: int, float, bool, tuple, record, function
    value later   Value(kind, register): "int", "truth", "float" (lanes), "mask" (a truth for each lane)
    Array         address, shape and what its items are: "int", "double" (one for all lanes), "lanes", or "window" (doubles, of
                  which a vector is read and written at any place)

A name that is assigned more than once becomes memory on the stack, which LLVM turns back into registers. Supported is what the
kernels use: assignments, if, for over range or a tuple, while, break, continue, return, arithmetic, comparisons, calls.
"""

from __future__ import annotations

import ast
import builtins
import functools
import inspect
import math
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..errors import CompileError
from . import operations, sincos
from .text import Text, bits_of, splat

FLAGS = operations.FLAGS
UNROLLED = 6  # literal loops of at most so many rounds are written out


@dataclass(frozen=True, slots=True)
class Value:
    """What is known when the code runs: a register or a literal of LLVM, and what it is."""

    kind: str
    name: str


@dataclass(frozen=True)
class Array:
    """Numbers in memory, by rows. shape: of ints, known now, or Values."""

    pointer: str
    shape: tuple[Any, ...]
    item: str = "lanes"

    def __len__(self) -> int:
        raise TypeError("the length of an array may be known only when the code runs")


@dataclass(frozen=True, slots=True)
class _Slot:
    """Memory on the stack for a name that is assigned more than once."""

    kind: str
    pointer: str


INSTRUCTIONS: dict[type, str] = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div", ast.FloorDiv: "sdiv", ast.Mod: "srem",
                                 ast.BitAnd: "and"}  # fmt: skip
COMPARISONS: dict[type, tuple[str, str]] = {ast.Lt: ("slt", "olt"), ast.LtE: ("sle", "ole"), ast.Gt: ("sgt", "ogt"), ast.GtE: ("sge", "oge"),
               ast.Eq: ("eq", "oeq"), ast.NotEq: ("ne", "une")}  # fmt: skip
PYTHON: dict[type, Callable[..., Any]] = {
    ast.Add: lambda a, b: a + b, ast.Sub: lambda a, b: a - b, ast.Mult: lambda a, b: a * b, ast.Div: lambda a, b: a / b,
    ast.FloorDiv: lambda a, b: a // b, ast.Mod: lambda a, b: a % b, ast.Pow: lambda a, b: a**b,
    ast.BitAnd: lambda a, b: a & b,
    ast.Lt: lambda a, b: a < b, ast.LtE: lambda a, b: a <= b, ast.Gt: lambda a, b: a > b, ast.GtE: lambda a, b: a >= b,
    ast.Eq: lambda a, b: a == b, ast.NotEq: lambda a, b: a != b, ast.Is: lambda a, b: a is b,
}  # fmt: skip


class Module:
    """The growing text of a module of LLVM, and of the function that is being written."""

    def __init__(self, width: int, fused: bool):
        self.width, self.fused = width, fused
        self.text = Text(width)
        self.V, self.B = self.text.V, self.text.B
        self.text.lines += ["declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)"]
        operations.declare(self.text, {"SIN", "COS", "ATAN2", "POW"})
        sincos.write(self.text, fused)
        self._names = 0
        self._stack: list[str] = []  # the allocations of the function being written
        self.ended = False  # whether the block being written has its last instruction
        self._angles: dict[str, tuple[Value, Value]] = {}
        self.heap: list[str] = []  # memory to be freed where the function ends
        self.helpers: dict[str, list[str]] = {}  # functions that code here calls

    def __str__(self) -> str:
        return "\n".join([*self.text.lines, *(line for lines in self.helpers.values() for line in lines)])

    # ------------------------------------------------------------------------------------------------ functions and blocks
    @contextmanager
    def function(self, name: str, *parameters: str, returns: str = "void", linkage: str = "") -> Iterator[list[str]]:
        """A function around what is written inside; parameters such as "ptr x"; gives their registers."""
        whole, self.text.lines, self._stack, self.ended = self.text.lines, [], [], False
        self._angles = {}
        yield [f"%{p.split()[-1]}" for p in parameters]
        if not self.ended and returns == "void":
            self.do("ret void")
        body, self.text.lines = self.text.lines, whole
        given = ", ".join(f"{p.rsplit(' ', 1)[0]} %{p.split()[-1]}" for p in parameters)
        self.text.lines += [f"define {linkage}{returns} @{name}({given}) nounwind {{", "entry:", *self._stack, *body, "}", ""]

    def new(self, code: str) -> str:
        """Write an instruction; the register of its result."""
        self._names += 1
        self.text.lines.append(f"  %r{self._names} = {code}")
        return f"%r{self._names}"

    def do(self, code: str) -> None:
        """Write an instruction without a result."""
        self.text.lines.append(f"  {code}")

    def label(self, hint: str) -> str:
        """A name for a block."""
        self._names += 1
        return f"{hint}{self._names}"

    def begin(self, block: str) -> None:
        """Begin a block; the one before falls through to it."""
        self.jump(block)
        self.text.lines.append(f"{block}:")
        self.ended, self._angles = False, {}

    def jump(self, block: str) -> None:
        """Go to a block, unless this one has ended."""
        if not self.ended:
            self.do(f"br label %{block}")
            self.ended = True

    def branch(self, truth: str, then: str, other: str) -> None:
        """Go to one of two blocks."""
        self.do(f"br i1 {truth}, label %{then}, label %{other}")
        self.ended = True

    def slot(self, kind: str) -> _Slot:
        """Memory on the stack."""
        self._names += 1
        self._stack.append(f"  %s{self._names} = alloca {self.llvm(kind)}, align {8 * self.width if kind == 'float' else 8}")
        return _Slot(kind, f"%s{self._names}")

    def room(self, count: int) -> str:
        """Memory on the stack for so many vectors of lanes."""
        self._names += 1
        self._stack.append(f"  %s{self._names} = alloca {self.V}, i64 {count}, align {8 * self.width}")
        return f"%s{self._names}"

    @contextmanager
    def lanes(self, width: int) -> Iterator[None]:
        """Another number of lanes, for what is written inside."""
        before = self.width, self.V, self.B
        self.width, self.V, self.B = width, f"<{width} x double>", f"<{width} x i1>"
        yield
        self.width, self.V, self.B = before

    # ------------------------------------------------------------------------------------------------ values
    def llvm(self, kind: str) -> str:
        """LLVM's type of a kind of value."""
        return {"int": "i64", "truth": "i1", "float": self.V, "mask": self.B}[kind]

    def kind(self, x: Any) -> str:
        """The kind of a scalar, known now or later."""
        if isinstance(x, Value):
            return x.kind
        if isinstance(x, (bool, np.bool_)):
            return "truth"
        return "int" if isinstance(x, (int, np.integer)) else "float"

    def later(self, x: Any, kind: str | None = None) -> Value:
        """A scalar as a value of the code; as another kind where that is asked for."""
        have = self.kind(x)
        kind = kind or have
        if not isinstance(x, Value):
            if kind == "float":
                return Value("float", splat(bits_of(float(x))))
            return Value(kind, str(bool(x)).lower() if kind == "truth" else str(int(x)))
        if kind == have:
            return x
        if kind == "float" and have == "int":
            return self.spread(self.new(f"sitofp i64 {x.name} to double"))
        if kind == "truth" and have == "mask" and self.width == 1:
            return Value("truth", self.new(f"extractelement {self.B} {x.name}, i64 0"))
        if kind == "truth" and have == "int":
            return Value("truth", self.new(f"icmp ne i64 {x.name}, 0"))
        if kind == "int" and have == "truth":
            return Value("int", self.new(f"zext i1 {x.name} to i64"))
        raise CompileError(f"a kernel needs a {kind} where it has a {have}; kernels branch on structure, not on values")

    def spread(self, double: str) -> Value:
        """One double in all lanes."""
        first = self.new(f"insertelement {self.V} poison, double {double}, i64 0")
        if self.width == 1:
            return Value("float", first)
        zeros = f"<{self.width} x i32> zeroinitializer"
        return Value("float", self.new(f"shufflevector {self.V} {first}, {self.V} poison, {zeros}"))

    def first(self, x: Value) -> str:
        """The double in the first lane."""
        return self.new(f"extractelement {self.V} {x.name}, i64 0")

    def arithmetic(self, op: type, a: Any, b: Any) -> Any:
        """a op b."""
        if not (isinstance(a, Value) or isinstance(b, Value)):
            return PYTHON[op](a, b)
        if op is ast.Mult and not isinstance(a, Value) and isinstance(a, float) and a == 0.0:
            return 0.0  # how kernels write a zero of any scalar
        if "float" in (self.kind(a), self.kind(b)) or op is ast.Div:
            return self._floats(op, a, b)
        a, b = self.later(a, "int"), self.later(b, "int")
        name = INSTRUCTIONS[op]
        return Value("int", self.new(f"{name} i64 {a.name}, {b.name}"))

    def _floats(self, op: type, a: Any, b: Any) -> Any:
        if op in (ast.Add, ast.Sub) and not isinstance(b, Value) and b == 0.0:
            return a
        if op is ast.Add and not isinstance(a, Value) and a == 0.0:
            return b
        if op is ast.Pow:
            return self.binary("pow", a, b)
        x, y = self.later(a, "float"), self.later(b, "float")
        return Value("float", self.new(f"f{INSTRUCTIONS[op]} {FLAGS} {self.V} {x.name}, {y.name}"))

    def compared(self, op: type, a: Any, b: Any) -> Any:
        """The truth of a op b."""
        if not (isinstance(a, Value) or isinstance(b, Value)):
            return PYTHON[op](a, b)
        whole, real = COMPARISONS[op]
        if "float" in (self.kind(a), self.kind(b)):
            x, y = self.later(a, "float"), self.later(b, "float")
            mask = Value("mask", self.new(f"fcmp {real} {self.V} {x.name}, {y.name}"))
            return self.later(mask, "truth") if self.width == 1 else mask
        x, y = self.later(a, "int"), self.later(b, "int")
        return Value("truth", self.new(f"icmp {whole} i64 {x.name}, {y.name}"))

    def negated(self, x: Any) -> Any:
        """Minus x."""
        if not isinstance(x, Value):
            return -x
        if x.kind == "float":
            return Value("float", self.new(f"fneg {FLAGS} {self.V} {x.name}"))
        return Value("int", self.new(f"sub i64 0, {x.name}"))

    def inverted(self, x: Any) -> Any:
        """Not x."""
        if not isinstance(x, Value):
            return not x
        x = self.later(x, "truth") if x.kind != "mask" else x
        return Value(x.kind, self.new(f"xor {self.llvm(x.kind)} {x.name}, {'true' if x.kind == 'truth' else 'splat (i1 true)'}"))

    def selected(self, condition: Any, a: Any, b: Any) -> Any:
        """a where the condition holds, else b; both are computed."""
        if not isinstance(condition, Value):
            return a if condition else b
        if isinstance(a, tuple):
            return tuple(self.selected(condition, x, y) for x, y in zip(a, b))
        kind = "float" if "float" in (self.kind(a), self.kind(b)) else self.kind(a)
        x, y, t = self.later(a, kind), self.later(b, kind), self.llvm(kind)
        return Value(kind, self.new(f"select {self.llvm(condition.kind)} {condition.name}, {t} {x.name}, {t} {y.name}"))

    def unary(self, name: str, x: Any) -> Value:
        """A function of one float that LLVM has itself."""
        return Value("float", self.new(f"call {self.V} @llvm.{name}.v{self.width}f64({self.V} {self.later(x, 'float').name})"))

    def binary(self, name: str, x: Any, y: Any) -> Value:
        """A function of two floats of the C library, lane by lane."""
        a, b = self.later(x, "float").name, self.later(y, "float").name
        return Value("float", self.new(f"call {self.V} @lanes_{name}({self.V} {a}, {self.V} {b})"))

    def sine_and_cosine(self, x: Any) -> tuple[Value, Value]:
        """Both at once; an angle whose sine was taken in this block is not taken again for its cosine."""
        angle = self.later(x, "float").name
        if angle not in self._angles:
            place = self.room(2)
            self.text.store(angle, place)
            self.do(f"call void @lanes_sincos(ptr {place}, i64 1)")
            self._angles[angle] = (Value("float", self.text.load(place)), Value("float", self.text.load(place, 1)))
        return self._angles[angle]

    # ------------------------------------------------------------------------------------------------ memory
    def product(self, sizes: Sequence[Any]) -> Any:
        """The product of sizes, known now or later."""
        return functools.reduce(lambda a, b: self.arithmetic(ast.Mult, a, b), sizes, 1)

    def place(self, x: Array, index: Sequence[Any]) -> Array:
        """The part of an array at some leading indices."""
        offset: Any = 0
        for k, i in enumerate(index):
            offset = self.arithmetic(ast.Add, offset, self.arithmetic(ast.Mult, i, self.product(x.shape[k + 1 :])))
        step = {"int": "i64", "double": "double", "window": "double", "lanes": self.V}[x.item]
        name = self.later(offset, "int").name
        pointer = x.pointer if name == "0" else self.new(f"getelementptr {step}, ptr {x.pointer}, i64 {name}")
        return Array(pointer, x.shape[len(index) :], x.item)

    def part(self, x: Array, start: Any, stop: Any) -> Array:
        """x[start:stop]."""
        size = self.arithmetic(ast.Sub, stop, start)
        return Array(self.place(Array(x.pointer, (size, *x.shape[1:]), x.item), (start,)).pointer, (size, *x.shape[1:]), x.item)

    def read(self, x: Array, index: Sequence[Any]) -> Any:
        """An entry, or the part of an array at some leading indices."""
        part = self.place(x, index)
        if part.shape:
            return part
        if x.item == "int":
            return Value("int", self.new(f"load i64, ptr {part.pointer}"))
        if x.item == "double":
            return self.spread(self.new(f"load double, ptr {part.pointer}"))
        return Value("float", self.new(f"load {self.V}, ptr {part.pointer}, align 8"))

    def write(self, x: Array, index: Sequence[Any], value: Any) -> None:
        """Set an entry; or copy an array to a part of another."""
        part = self.place(x, index)
        if isinstance(value, Array):
            scale = 8 if value.item != "lanes" else 8 * self.width
            size = self.later(self.arithmetic(ast.Mult, scale, self.product(value.shape)), "int").name
            self.do(f"call void @llvm.memcpy.p0.p0.i64(ptr {part.pointer}, ptr {value.pointer}, i64 {size}, i1 false)")
        elif x.item == "int":
            self.do(f"store i64 {self.later(value, 'int').name}, ptr {part.pointer}")
        elif x.item == "double":
            self.do(f"store double {self.first(self.later(value, 'float'))}, ptr {part.pointer}")
        else:
            self.do(f"store {self.V} {self.later(value, 'float').name}, ptr {part.pointer}, align 8")

    def slots(self, x: Any) -> Any:
        """Memory for a value of this structure."""
        if isinstance(x, tuple):
            return tuple(self.slots(each) for each in x)
        return x if isinstance(x, Array) or x is None else self.slot(self.kind(x))

    def store(self, slot: Any, x: Any) -> None:
        """Set a structure in memory."""
        if isinstance(slot, _Slot):
            self.do(f"store {self.llvm(slot.kind)} {self.later(x, slot.kind).name}, ptr {slot.pointer}")
        elif isinstance(slot, tuple):
            for each, value in zip(slot, x, strict=True):
                self.store(each, value)

    def load(self, slot: Any) -> Any:
        """A structure from memory."""
        if isinstance(slot, _Slot):
            return Value(slot.kind, self.new(f"load {self.llvm(slot.kind)}, ptr {slot.pointer}"))
        return tuple(self.load(each) for each in slot) if isinstance(slot, tuple) else slot

    # ------------------------------------------------------------------------------------------------ calls
    def call(self, function: Callable[..., Any], *given: Any) -> Any:
        """Expand a kernel here; its result."""
        own = INTRINSICS.get(function)
        if own is not None:
            return own(self, *given)
        if function in PLAIN and not any(isinstance(x, Value) for x in given):
            return function(*given)
        if isinstance(function, type) and issubclass(function, tuple):
            return function(*given)
        return _Frame(self, function, given).run()


class _Source(NamedTuple):
    """A kernel's syntax: parameters, statements, the names that are assigned more than once, how it returns."""

    parameters: tuple[str, ...]
    defaults: tuple[Any, ...]
    body: list[ast.stmt]
    changing: frozenset[str]
    straight: bool  # whether the only return is the last statement


@functools.cache
def _source(function: Callable[..., Any]) -> _Source:
    plain = inspect.unwrap(function)
    tree = ast.parse(textwrap.dedent(inspect.getsource(plain))).body[0]
    assert isinstance(tree, ast.FunctionDef)
    names = tuple(a.arg for a in tree.args.args)
    times = dict.fromkeys(names, 1)
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            times[node.id] = times.get(node.id, 0) + 1
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            times[node.target.id] = times.get(node.target.id, 0) + 1
    returns = [node for node in ast.walk(tree) if isinstance(node, ast.Return)]
    straight = not returns or (len(returns) == 1 and tree.body[-1] is returns[0])
    return _Source(names, plain.__defaults__ or (), tree.body, frozenset(n for n, k in times.items() if k > 1), straight)


class _Frame:
    """One expansion of a kernel: its names, and where it goes when it returns."""

    def __init__(self, module: Module, function: Callable[..., Any], given: Sequence[Any]):
        self.m, self.function, self.source = module, function, _source(function)
        self.globals = inspect.unwrap(function).__globals__
        self.names: dict[str, Any] = {}
        missing = len(self.source.parameters) - len(given)
        for name, value in zip(self.source.parameters, [*given, *self.source.defaults[len(self.source.defaults) - missing :]], strict=True):
            self.assign(name, value)
        self.result: Any = None
        self.done = ""
        self.loops: list[tuple[str, str]] = []  # where continue and break go

    def run(self) -> Any:
        """Write the body; the result."""
        if not self.source.straight:
            self.done = self.m.label("done")
        self.statements(self.source.body)
        if self.source.straight:
            return self.result
        self.m.begin(self.done)
        return self.m.load(self.result)

    def statements(self, body: Sequence[ast.stmt]) -> None:
        """Write statements, up to one that leaves the block."""
        for statement in body:
            if self.m.ended:
                return
            handler = getattr(self, f"do_{type(statement).__name__}", None)
            self.refuse(statement) if handler is None else handler(statement)

    def refuse(self, node: ast.AST) -> Any:
        """Say what cannot be compiled."""
        where = f"{self.function.__module__}.{self.function.__qualname__}, line {getattr(node, 'lineno', '?')} of it"
        raise CompileError(f"{where}: {type(node).__name__} ({ast.unparse(node)[:60]}) is not part of what kernels may use")

    # ------------------------------------------------------------------------------------------------ statements
    def assign(self, name: str, value: Any) -> None:
        """Bind a name, or set its memory."""
        if name not in self.source.changing or not _runs(value):
            self.names[name] = value
            return
        if name not in self.names or not _fits(self.names[name], value):
            self.names[name] = self.m.slots(value)  # the first time, or another kind of thing under the same name
        self.m.store(self.names[name], value)

    def target(self, node: ast.expr, value: Any) -> None:
        """Assign to a name, an entry, or a tuple of such."""
        if isinstance(node, ast.Name):
            self.assign(node.id, value)
        elif isinstance(node, ast.Tuple):
            for each, part in zip(node.elts, value, strict=True):
                self.target(each, part)
        elif isinstance(node, ast.Subscript):
            array = self.value(node.value)
            whole = isinstance(node.slice, ast.Slice) and node.slice.lower is None and node.slice.upper is None
            self.m.write(array, () if whole else self.index(node.slice), value)
        else:
            self.refuse(node)

    def do_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):
            self.value(node.value)

    def do_Assign(self, node: ast.Assign) -> None:
        value = self.value(node.value)
        for each in node.targets:
            self.target(each, value)

    def do_AugAssign(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Name):
            before = self.value(ast.Name(node.target.id, ast.Load()))
            self.target(node.target, self.m.arithmetic(type(node.op), before, self.value(node.value)))
            return
        assert isinstance(node.target, ast.Subscript)
        part = self.m.place(self.value(node.target.value), self.index(node.target.slice))
        before = self.m.read(part, ())
        self.m.write(part, (), self.m.arithmetic(type(node.op), before, self.value(node.value)))

    def do_If(self, node: ast.If) -> None:
        truth = self.value(node.test)
        if not isinstance(truth, Value):
            self.statements(node.body if truth else node.orelse)
            return
        then, other, after = (self.m.label(hint) for hint in ("then", "else", "after"))
        self.m.branch(self.m.later(truth, "truth").name, then, other if node.orelse else after)
        ends = []
        for label, body in ((then, node.body), (other, node.orelse)):
            if body:
                self.m.begin(label)
                self.statements(body)
                ends.append(self.m.ended)
                self.m.jump(after)
        if len(ends) < 2 or not all(ends):
            self.m.begin(after)

    def do_For(self, node: ast.For) -> None:
        over = self.value(node.iter)
        rounds = list(over) if isinstance(over, (range, tuple)) else None
        if rounds is not None and len(rounds) <= UNROLLED and not (isinstance(node.target, ast.Name) and node.target.id == "_"):
            after = self.m.label("after")
            for each in rounds:
                again = self.m.label("again")
                self.loops.append((again, after))
                self.target(node.target, each)
                self.statements(node.body)
                self.loops.pop()
                if self.m.ended or _leaves(node):
                    self.m.begin(again)
            if _leaves(node):
                self.m.begin(after)
            return
        start, stop, step = (over.start, over.stop, over.step) if isinstance(over, range) else over
        counter = self.m.slot("int")
        self.m.store(counter, start)

        def more(i: Value) -> Any:
            return self.m.compared(ast.Lt if step > 0 else ast.Gt, i, stop)

        def body() -> None:
            self.target(node.target, self.m.load(counter))
            self.statements(node.body)

        def forward() -> None:
            self.m.store(counter, self.m.arithmetic(ast.Add, self.m.load(counter), step))

        self.loop(lambda: more(self.m.load(counter)), body, forward)

    def do_While(self, node: ast.While) -> None:
        self.loop(lambda: self.value(node.test), lambda: self.statements(node.body), lambda: None)

    def loop(self, test: Callable[[], Any], body: Callable[[], None], forward: Callable[[], None]) -> None:
        """Write a loop."""
        head, inside, again, after = (self.m.label(hint) for hint in ("head", "inside", "again", "after"))
        self.m.begin(head)
        self.m.branch(self.m.later(test(), "truth").name, inside, after)
        self.m.begin(inside)
        self.loops.append((again, after))
        body()
        self.loops.pop()
        self.m.begin(again)
        forward()
        self.m.jump(head)
        self.m.begin(after)

    def do_Continue(self, node: ast.Continue) -> None:
        self.m.jump(self.loops[-1][0])

    def do_Break(self, node: ast.Break) -> None:
        self.m.jump(self.loops[-1][1])

    def do_Pass(self, node: ast.Pass) -> None:
        pass

    def do_Return(self, node: ast.Return) -> None:
        value = None if node.value is None else self.value(node.value)
        if self.source.straight:
            self.result = value
            return
        if self.result is None and value is not None:
            self.result = self.m.slots(value)
        self.m.store(self.result, value)
        self.m.jump(self.done)

    # ------------------------------------------------------------------------------------------------ expressions
    def value(self, node: ast.expr) -> Any:
        """The value of an expression: known now, or a register."""
        handler = getattr(self, f"of_{type(node).__name__}", None)
        return handler(node) if handler else self.refuse(node)

    def of_Constant(self, node: ast.Constant) -> Any:
        return node.value

    def of_Name(self, node: ast.Name) -> Any:
        if node.id in self.names:
            found = self.names[node.id]
            return self.m.load(found) if _is_slot(found) else found
        if node.id in self.globals:
            return self.globals[node.id]
        return getattr(builtins, node.id)

    def of_Tuple(self, node: ast.Tuple) -> Any:
        return tuple(self.value(each) for each in node.elts)

    def of_Attribute(self, node: ast.Attribute) -> Any:
        return getattr(self.value(node.value), node.attr)

    def index(self, node: ast.expr) -> tuple[Any, ...]:
        """Indices as a tuple."""
        if isinstance(node, ast.Slice):
            return ([0 if node.lower is None else self.value(node.lower), self.value(node.upper) if node.upper else self.refuse(node)],)
        return tuple(self.value(each) for each in node.elts) if isinstance(node, ast.Tuple) else (self.value(node),)

    def of_Subscript(self, node: ast.Subscript) -> Any:
        base, index = self.value(node.value), self.index(node.slice)
        if isinstance(base, Array):
            return self.m.part(base, *index[0]) if isinstance(index[0], list) else self.m.read(base, index)
        (i,) = index
        if not isinstance(i, Value):
            return base[i]
        found = base[-1]
        for k in range(len(base) - 2, -1, -1):  # a tuple has no address: choose among its entries
            found = self.m.selected(self.m.compared(ast.Eq, i, k), base[k], found)
        return found

    def of_BinOp(self, node: ast.BinOp) -> Any:
        return self.m.arithmetic(type(node.op), self.value(node.left), self.value(node.right))

    def of_UnaryOp(self, node: ast.UnaryOp) -> Any:
        value = self.value(node.operand)
        if isinstance(node.op, ast.USub):
            return self.m.negated(value)
        return self.m.inverted(value) if isinstance(node.op, ast.Not) else self.refuse(node)

    def of_Compare(self, node: ast.Compare) -> Any:
        if len(node.ops) != 1:
            return self.refuse(node)
        return self.m.compared(type(node.ops[0]), self.value(node.left), self.value(node.comparators[0]))

    def of_BoolOp(self, node: ast.BoolOp) -> Any:
        """As Python: the second operand only where the first does not decide."""
        wanted = isinstance(node.op, ast.Or)
        result, after = self.m.slot("truth"), self.m.label("decided")
        for k, each in enumerate(node.values):
            truth = self.value(each)
            if not isinstance(truth, Value) and bool(truth) == wanted and k == 0:
                return wanted
            if isinstance(truth, Value) and truth.kind == "mask":
                return self._masks(node, truth, node.values[k + 1 :])
            self.m.store(result, truth)
            if k + 1 < len(node.values):
                go_on = self.m.label("else")
                name = self.m.later(truth, "truth").name
                self.m.branch(name, *((after, go_on) if wanted else (go_on, after)))
                self.m.begin(go_on)
        self.m.begin(after)
        return self.m.load(result)

    def _masks(self, node: ast.BoolOp, mask: Value, rest: Sequence[ast.expr]) -> Value:
        """Truths lane by lane: all operands are computed."""
        for each in rest:
            name = "or" if isinstance(node.op, ast.Or) else "and"
            mask = Value("mask", self.m.new(f"{name} {self.m.B} {mask.name}, {self.value(each).name}"))
        return mask

    def of_IfExp(self, node: ast.IfExp) -> Any:
        truth = self.value(node.test)
        if not isinstance(truth, Value):
            return self.value(node.body if truth else node.orelse)
        if truth.kind == "mask":
            return self.m.selected(truth, self.value(node.body), self.value(node.orelse))
        then, other, after = (self.m.label(hint) for hint in ("then", "else", "after"))
        self.m.branch(self.m.later(truth, "truth").name, then, other)
        self.m.begin(then)
        a = self.value(node.body)
        slots = self.m.slots(a)
        self.m.store(slots, a)
        self.m.jump(after)
        self.m.begin(other)
        self.m.store(slots, self.value(node.orelse))
        self.m.begin(after)
        return self.m.load(slots)

    def of_Call(self, node: ast.Call) -> Any:
        function = self.value(node.func)
        given: list[Any] = []
        for each in node.args:
            if isinstance(each, ast.Starred):
                given += self.value(each.value)
            else:
                given.append(self.value(each))
        if node.keywords:
            self.refuse(node)
        return self.m.call(function, *given)


def _runs(x: Any) -> bool:
    """Whether a value can live in memory: scalars, and tuples of them."""
    if isinstance(x, tuple):
        return type(x) is tuple and all(_runs(each) for each in x)
    return isinstance(x, (Value, bool, int, float, np.integer, np.floating))


def _is_slot(x: Any) -> bool:
    return isinstance(x, _Slot) or (type(x) is tuple and bool(x) and all(_is_slot(each) for each in x))


def _fits(slot: Any, x: Any) -> bool:
    """Whether memory has the structure of a value."""
    if isinstance(slot, tuple):
        return isinstance(x, tuple) and len(x) == len(slot) and all(map(_fits, slot, x))
    return isinstance(slot, _Slot) and not isinstance(x, tuple)


def _leaves(loop: ast.For) -> bool:
    """Whether a loop's own body has a break or continue."""
    return any(isinstance(node, (ast.Break, ast.Continue)) for node in ast.walk(loop))


# ---------------------------------------------------------------------------------------------------- functions known here
def _length(m: Module, x: Any) -> Any:
    return x.shape[0] if isinstance(x, Array) else len(x)


def _range(m: Module, *given: Any) -> Any:
    if not any(isinstance(x, Value) for x in given):
        return range(*given)
    start, stop, step = (0, *given, 1) if len(given) == 1 else (*given, 1)[:3]
    return [start, stop, step]


def _extreme(op: type) -> Callable[..., Any]:
    def of(m: Module, *given: Any) -> Any:
        found = given[0]
        for x in given[1:]:
            found = m.selected(m.compared(op, x, found), x, found)
        return found

    return of


def _absolute(m: Module, x: Any) -> Any:
    return m.unary("fabs", x) if isinstance(x, Value) else abs(x)


def _finite(m: Module, x: Any) -> Any:
    return m.compared(ast.Eq, m._floats(ast.Sub, m.later(x, "float"), m.later(x, "float")), 0.0)


INTRINSICS: dict[Any, Callable[..., Any]] = {
    len: _length,
    range: _range,
    abs: _absolute,
    max: _extreme(ast.Gt),
    min: _extreme(ast.Lt),
    np.isfinite: _finite,
}
PLAIN = {math.sqrt, float, int, bool}


def intrinsic(function: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register how a function is written as instructions: `of(module, *arguments)`."""

    def register(of: Callable[..., Any]) -> Callable[..., Any]:
        INTRINSICS[function] = of
        return of

    return register
