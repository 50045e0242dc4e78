"""Writing LLVM assembly as text: LLVM parses it far faster than a tree of builder objects is
constructed.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import contextmanager


class Text:
    """The growing text of a module over lanes. Calling it writes an instruction and returns the
    name of the result.

    `V`, `I` and `B` are the types of `width` doubles, integers and truths, one for each lane.

    >>> t = Text(4)
    >>> t.add("%a", "%b")
    '%t1'
    >>> print(t)
      %t1 = fadd contract <4 x double> %a, %b
    """

    def __init__(self, width: int, table: str = "table"):
        self.width, self._name = width, table
        self.V, self.I, self.B = (f"<{width} x {scalar}>" for scalar in ("double", "i64", "i1"))
        self.lines: list[str] = []
        self._table: dict[int, int] = {}  # bits of a constant -> its place in the table
        self._names = 0

    def __str__(self) -> str:
        return "\n".join(self.lines)

    def __call__(self, code: str) -> str:
        self._names += 1
        name = f"%t{self._names}"
        self.lines.append(f"  {name} = {code}")
        return name

    def do(self, *code: str) -> None:
        """Write instructions that have no result, or that contain the name of their result."""
        self.lines += [f"  {line}" for line in code]

    def label(self, name: str) -> None:
        """Begin a basic block."""
        self.lines.append(f"{name}:")

    @contextmanager
    def function(self, head: str) -> Iterator[None]:
        """Write a function around the code that is written inside this context. No function here
        throws, so that none has unwind tables.
        """
        self.lines.append(f"define {head} nounwind {{\nentry:")
        yield
        self.lines.append("}\n")

    @contextmanager
    def loop(
        self, name: str, stop: int | str, step: int = 1, start: int | str = 0
    ) -> Iterator[str]:
        """Write a loop around the code that is written inside this context, which runs at least
        once; yields the name of the counter.
        """
        self.do(f"br label %{name}.enter")
        self.label(f"{name}.enter")
        self.do(f"br label %{name}")
        self.label(name)
        self.do(f"%{name}.i = phi i64 [ {start}, %{name}.enter ], [ %{name}.next, %{name}.again ]")
        yield f"%{name}.i"
        self.do(f"br label %{name}.again")
        self.label(f"{name}.again")
        self.do(
            f"%{name}.next = add i64 %{name}.i, {step}",
            f"%{name}.more = icmp slt i64 %{name}.next, {stop}",
        )
        self.do(f"br i1 %{name}.more, label %{name}, label %{name}.leave")
        self.label(f"{name}.leave")

    @contextmanager
    def when(self, name: str, truth: str, hint: str = "") -> Iterator[None]:
        """Write a branch around the code that is written inside this context."""
        self.do(f"br i1 {truth}, label %{name}.then, label %{name}.else{hint}")
        self.label(f"{name}.then")
        yield
        self.do(f"br label %{name}.else")
        self.label(f"{name}.else")

    def at(self, pointer: str, index: int | str, of: str = "") -> str:
        """Return the address of element `index` in an array of lane vectors, or of things of type
        `of`.
        """
        return self(f"getelementptr {of or self.V}, ptr {pointer}, i64 {index}")

    def load(self, pointer: str, index: int | str = 0, of: str = "") -> str:
        """Read element `index`. Memory of callers is aligned to a double only."""
        return self(f"load {of or self.V}, ptr {self.at(pointer, index, of)}, align 8")

    def store(self, value: str, pointer: str, index: int | str = 0, of: str = "") -> None:
        """Write element `index`."""
        self.do(f"store {of or self.V} {value}, ptr {self.at(pointer, index, of)}, align 8")

    def add(self, a: str, b: str) -> str:
        """Return the sum a + b."""
        return self(f"fadd contract {self.V} {a}, {b}")

    def mul(self, a: str, b: str) -> str:
        """Return the product a b, which may be fused with a following sum."""
        return self(f"fmul contract {self.V} {a}, {b}")

    def fma(self, a: str, b: str, c: str) -> str:
        """Return a b + c: one rounding where the machine has fused multiply-add, two where it has
        not.
        """
        return self.add(self.mul(a, b), c)

    def constant(self, value: float | int) -> str:
        """Return a double (or the 64 bits of one), the same in every lane, read from the table of
        constants.

        An arithmetic instruction takes one operand directly from memory. A literal would instead
        cost an instruction that broadcasts it to the lanes: on large tapes a tenth of all.
        """
        bits = value if isinstance(value, int) else bits_of(value)
        place = self._table.setdefault(bits, len(self._table))
        address = f"getelementptr ({self.V}, ptr @{self._name}, i64 {place})"
        return self(f"load {self.V}, ptr {address}, align {8 * self.width}")

    def table(self) -> None:
        """Write the table of all constants that were used."""
        rows = (f"{self.V} {splat(bits)}" for bits in self._table)
        size = f"{len(self._table)} x {self.V}"
        align = 8 * self.width
        self.lines.append(
            f"@{self._name} = internal constant [{size}] [{', '.join(rows)}], align {align}"
        )


def bits_of(value: float) -> int:
    """Return the 64 bits of a double as an integer; unlike the double itself it distinguishes 0
    from -0, and equals itself if NaN.
    """
    bits: int = struct.unpack("<Q", struct.pack("<d", value))[0]
    return bits


def splat(bits: int) -> str:
    """Return a double, given by its bits, as a literal in every lane."""
    return f"splat (double 0x{bits:016X})"


def whole(value: int) -> str:
    """Return an integer as a literal in every lane."""
    return f"splat (i64 {value})"
