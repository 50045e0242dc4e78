"""A compiler from a subset of Python, in which kernels are written, to LLVM text over lanes. It
makes generic kernels, which serve mechanisms of any size.

A kernel is written over scalars, tuples, arrays and records of arrays, and branches on structure,
never on values. Therefore its syntax tree can be walked once: what is known at compile time (sizes
of tuples, literal loops, functions) is evaluated now, what is known only at run time becomes an
instruction (`kernel_text`). Calls are expanded in place; loops and branches are common to all
lanes.

A name that is assigned more than once becomes memory on the stack, which LLVM turns back into
registers. The supported syntax is: assignments, if, for over range or a tuple, while, break,
continue, return, arithmetic, comparisons, calls.
"""

from __future__ import annotations

import ast
import builtins
import functools
import inspect
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..errors import CompileError
from .kernel_intrinsics import INTRINSICS, PLAIN
from .kernel_text import Array, KernelText, Slot, Value

# Python 3.11 counts the depth of all syntax trees that are being made together (its issue 106905)
_PARSING = threading.Lock()
MAX_UNROLLED = 6  # literal loops of at most so many rounds are unrolled


class Module(KernelText):
    """The text into which kernels are expanded."""

    def call(self, function: Callable[..., Any], *given: Any) -> Any:
        """Expand a kernel at this point of the text, and return its result."""
        own = INTRINSICS.get(function)
        if own is not None:
            return own(self, *given)
        if function in PLAIN and not any(isinstance(x, Value) for x in given):
            return function(*given)
        if isinstance(function, type) and issubclass(function, tuple):
            return function(*given)
        return _Frame(self, function, given).run()


class _Source(NamedTuple):
    """The syntax of a kernel: its parameters, its statements, the names that are assigned more than
    once, and how it returns.
    """

    parameters: tuple[str, ...]
    defaults: tuple[Any, ...]
    body: list[ast.stmt]
    changing: frozenset[str]
    straight: bool  # whether the only return is the last statement


@functools.cache
def _definitions(path: str) -> dict[int, ast.FunctionDef]:
    """Return the functions of a file, by the line on which they begin, decorators included."""
    with _PARSING:
        tree = ast.parse(Path(path).read_text(encoding="utf-8"))
    return {
        min([node.lineno, *(d.lineno for d in node.decorator_list)]): node
        for node in _functions(tree.body)
    }


def _functions(body: Sequence[ast.stmt]) -> Iterator[ast.FunctionDef]:
    """Yield the functions among statements and inside them."""
    for node in body:
        if isinstance(node, ast.FunctionDef):
            yield node
        yield from _functions(getattr(node, "body", ()))


@functools.cache
def _source(function: Callable[..., Any]) -> _Source:
    plain = inspect.unwrap(function)
    tree = _definitions(inspect.getsourcefile(plain) or "")[plain.__code__.co_firstlineno]
    names = tuple(a.arg for a in tree.args.args)
    times = dict.fromkeys(names, 1)
    returns = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            times[node.id] = times.get(node.id, 0) + 1
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            times[node.target.id] = times.get(node.target.id, 0) + 1
        elif isinstance(node, ast.Return):
            returns.append(node)
    straight = not returns or (len(returns) == 1 and tree.body[-1] is returns[0])
    return _Source(
        names,
        plain.__defaults__ or (),
        tree.body,
        frozenset(n for n, k in times.items() if k > 1),
        straight,
    )


class _Frame:
    """One expansion of a kernel: the values of its names, and the block in which it continues after
    `return`.
    """

    def __init__(self, module: Module, function: Callable[..., Any], given: Sequence[Any]):
        self.m, self.function, self.source = module, function, _source(function)
        self.globals = inspect.unwrap(function).__globals__
        self.names: dict[str, Any] = {}
        missing = len(self.source.parameters) - len(given)
        for name, value in zip(
            self.source.parameters,
            [*given, *self.source.defaults[len(self.source.defaults) - missing :]],
            strict=True,
        ):
            self.assign(name, value)
        self.result: Any = None
        self.done = ""
        self.loops: list[tuple[str, str]] = []  # where continue and break go

    def run(self) -> Any:
        """Write the body, and return the result."""
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
        """Return the error for syntax that cannot be compiled."""
        where = (
            f"{self.function.__module__}.{self.function.__qualname__}, line"
            f" {getattr(node, 'lineno', '?')} of it"
        )
        raise CompileError(
            f"{where}: {type(node).__name__} ({ast.unparse(node)[:60]}) is not part of what kernels"
            " may use"
        )

    # --- statements
    def assign(self, name: str, value: Any) -> None:
        """Bind a name to a value, or write the value to the name's memory."""
        if name not in self.source.changing or not _runs(value):
            self.names[name] = value
            return
        if name not in self.names or not _fits(self.names[name], value):
            # the first time, or another kind of thing under the same name
            self.names[name] = self.m.slots(value)
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
            whole = (
                isinstance(node.slice, ast.Slice)
                and node.slice.lower is None
                and node.slice.upper is None
            )
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
            self.target(
                node.target, self.m.arithmetic(type(node.op), before, self.value(node.value))
            )
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
        if (
            rounds is not None
            and len(rounds) <= MAX_UNROLLED
            and not (isinstance(node.target, ast.Name) and node.target.id == "_")
        ):
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

    def loop(
        self, test: Callable[[], Any], body: Callable[[], None], forward: Callable[[], None]
    ) -> None:
        """Write a loop."""
        head, inside, again, after = (
            self.m.label(hint) for hint in ("head", "inside", "again", "after")
        )
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

    # --- expressions
    def value(self, node: ast.expr) -> Any:
        """Return the value of an expression: a Python value known now, or a register."""
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
        """Return indices as a tuple."""
        if isinstance(node, ast.Slice):
            return (
                [
                    0 if node.lower is None else self.value(node.lower),
                    self.value(node.upper) if node.upper else self.refuse(node),
                ],
            )
        return (
            tuple(self.value(each) for each in node.elts)
            if isinstance(node, ast.Tuple)
            else (self.value(node),)
        )

    def of_Subscript(self, node: ast.Subscript) -> Any:
        base = self.value(node.value)
        index = self.index(node.slice)
        if isinstance(base, Array):
            return (
                self.m.part(base, *index[0])
                if isinstance(index[0], list)
                else self.m.read(base, index)
            )
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
        return self.m.compared(
            type(node.ops[0]), self.value(node.left), self.value(node.comparators[0])
        )

    def of_BoolOp(self, node: ast.BoolOp) -> Any:
        """Return the value of `and` and `or` as Python defines it: the second operand is evaluated
        only where the first does not decide.
        """
        wanted = isinstance(node.op, ast.Or)
        result = self.m.slot("truth")
        after = self.m.label("decided")
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
        """Return the truth of `and` or `or` for each lane; all operands are computed."""
        for each in rest:
            name = "or" if isinstance(node.op, ast.Or) else "and"
            mask = Value(
                "mask", self.m.new(f"{name} {self.m.B} {mask.name}, {self.value(each).name}")
            )
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
    """Return whether a value can be stored in memory: a scalar, or a tuple of scalars."""
    if isinstance(x, tuple):
        return type(x) is tuple and all(_runs(each) for each in x)
    return isinstance(x, (Value, bool, int, float, np.integer, np.floating))


def _is_slot(x: Any) -> bool:
    return isinstance(x, Slot) or (
        type(x) is tuple and bool(x) and all(_is_slot(each) for each in x)
    )


def _fits(slot: Any, x: Any) -> bool:
    """Return whether memory has the structure of a value."""
    if isinstance(slot, tuple):
        return isinstance(x, tuple) and len(x) == len(slot) and all(map(_fits, slot, x))
    return isinstance(slot, Slot) and not isinstance(x, tuple)


def _leaves(loop: ast.For) -> bool:
    """Return whether the body of a loop itself, not an inner loop, has a break or continue."""
    return any(isinstance(node, (ast.Break, ast.Continue)) for node in ast.walk(loop))
