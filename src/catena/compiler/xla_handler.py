"""A kernel as a function that XLA calls: machine code from XLA's frame of pointers to the kernel,
without the interpreter.

    ptr handler(ptr frame)      null: done; calls that it does not handle go to `rest`, a function
                                of the same signature

XLA passes a frame of pointers: to its functions, to the buffers of the arguments and to those of
the results (xla/ffi/api/c_api.h). The buffers are read and written in place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import host
from .lanes import WORTH_A_THREAD, LaneKernel
from .single_state import LARGEST, require, unit, within
from .text import Text

# words of a frame; the last two: how many there are, types, pointers
EXTENSION = 1
FUNCTIONS = 2
STAGE = 4
ARGUMENTS = 7
RESULTS = 12
DATA, RANK, DIMENSIONS = 3, 4, 5  # words of a buffer
EXECUTE = 3  # the stage in which results are wanted


@dataclass(frozen=True)
class Handler:
    """The XLA handler of a kernel. kernel: its inputs are the arguments of the call in this
    `order`, then the arrays `same`, one row for all states. quaternions: where they begin in the
    first input. limit: calls whose results are larger or not finite, and batches for several
    threads, go to `rest`.
    """

    kernel: LaneKernel
    order: Sequence[int]
    same: Sequence[NDArray[np.float64]]
    rest: int
    quaternions: Sequence[int] = ()
    limit: float = LARGEST
    _library: list[Any] = field(default_factory=list)

    @property
    def address(self) -> int:
        """The address of the code, valid as long as this object lives."""
        if not self._library:
            self._library.append(host.link(host.assemble(self.text(), optimise=1), "handler"))
        return int(self._library[0]["handler"])

    def text(self) -> str:
        """Return the LLVM text."""
        t = Text(1)
        t.lines.append("declare double @llvm.fabs.f64(double)")
        with t.function("ptr @handler(ptr %frame)"):
            require(t, t(f"icmp eq i64 {t.load('%frame', EXTENSION, 'i64')}, 0"))
            require(t, t(f"icmp eq i32 {t.load('%frame', 2 * STAGE, 'i32')}, {EXECUTE}"))
            given, results = (t.load("%frame", at + 2, "ptr") for at in (ARGUMENTS, RESULTS))
            buffers = [t.load(given, k, "ptr") for k in self.order]
            count = self._states(t, buffers)
            data = [t.load(b, DATA, "ptr") for b in buffers]
            self._units(t, data[0], count)
            outs = [
                t.load(t.load(results, k, "ptr"), DATA, "ptr")
                for k in range(len(self.kernel.output_sizes))
            ]
            self._call(t, count, data, outs)
            self._bounded(t, outs, count)
            t.do("ret ptr null")
            t.label("rest")
            t.do(f"%done = call ptr inttoptr (i64 {self.rest} to ptr)(ptr %frame)", "ret ptr %done")
        return str(t)

    def _states(self, t: Text, buffers: list[str]) -> str:
        """Return the number of states: the same in each argument, at least one, and few enough for
        one thread.
        """
        totals = []
        for k, buffer in enumerate(buffers):
            rank = t.load(buffer, RANK, "i64")
            dimensions = t.load(buffer, DIMENSIONS, "ptr")
            require(t, t(f"icmp sgt i64 {rank}, 0"))
            t.do(f"%total{k} = alloca i64", f"store i64 1, ptr %total{k}")
            with t.loop(f"rank{k}", rank) as i:
                t.store(
                    t(f"mul i64 {t.load(f'%total{k}', 0, 'i64')}, {t.load(dimensions, i, 'i64')}"),
                    f"%total{k}",
                    0,
                    "i64",
                )
            totals.append(t.load(f"%total{k}", 0, "i64"))
        count = t(f"sdiv i64 {totals[0]}, {self.kernel.input_sizes[0]}")
        for total, size in zip(totals, self.kernel.input_sizes):
            require(t, t(f"icmp eq i64 {total}, {t(f'mul i64 {count}, {size}')}"))
        require(t, t(f"icmp sgt i64 {count}, 0"))
        require(t, t(f"icmp slt i64 {count}, {2 * WORTH_A_THREAD // max(1, self.kernel.cost)}"))
        return count

    def _units(self, t: Text, q: str, count: str) -> None:
        """Write the test that quaternions have length one; others go to `rest`."""
        size = self.kernel.input_sizes[0]
        for k in self.quaternions:
            with t.loop(f"unit{k}", count) as i:
                require(t, unit(t, t.at(q, t(f"mul i64 {i}, {size}"), "double"), k))

    def _call(self, t: Text, count: str, data: list[str], outs: list[str]) -> None:
        rows = [*data, *(f"inttoptr (i64 {x.ctypes.data} to ptr)" for x in self.same)]
        t.do(
            *(
                f"%{name} = alloca ptr, i64 {max(n, 1)}"
                for name, n in (("in", len(rows)), ("strides", len(rows)), ("out", len(outs)))
            )
        )
        for k, row in enumerate(rows):
            t.store(row, "%in", k, "ptr")
            t.store(str(self.kernel.input_sizes[k] if k < len(data) else 0), "%strides", k, "i64")
        for k, out in enumerate(outs):
            t.store(out, "%out", k, "ptr")
        face = f"i64 inttoptr (i64 {self.kernel.batch_address} to ptr)"
        broken = t(f"call {face}(i64 0, i64 {count}, i64 {count}, ptr %in, ptr %strides, ptr %out)")
        require(t, t(f"icmp eq i64 {broken}, 0"))

    def _bounded(self, t: Text, outs: list[str], count: str) -> None:
        """Write the test that no result is beyond the limit; the kernel itself has tested that they
        are finite.
        """
        for k, (out, size) in enumerate(
            zip(outs, self.kernel.output_sizes) if self.limit < LARGEST else ()
        ):
            with t.loop(f"bound{k}", t(f"mul i64 {count}, {size}")) as i:
                require(t, within(t, t.load(out, i, "double"), self.limit))
