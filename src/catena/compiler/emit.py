"""A tape (the instructions of a function, see `tape`) as a module of LLVM text.

    fixed, fixed_and_read  void (y)          stores outputs that are constant; those of them that
                           are read when rows are written
    chunk0, chunk1, ...    void (x, y, w)    the straight-line code; inputs x, outputs y, work w,
                                             each [n][W]
    tape                   void (x, y, w)    all of these in turn
    block                  void (x, y)       exported: W states that are in lanes already
    batch                  i64 (...)         exported: rows of states, gathered and scattered; 1 if
                                             some number is not finite
    share, finished                          exported: the same piece by piece, by as many threads
                                             as call it; whether all pieces are done
    single                                   exported in place of the last four: one state, called
                                             by the interpreter (`single_state`)

The text is emitted in its final form: no optimisation pass of LLVM runs over it, only code
generation. Measured, the standard pipelines take half as much time again to compile and gain
nothing on code without branches that CasADi and the value numbering of `tape` have already
simplified.
"""

from __future__ import annotations

from . import operations, sincos, single_state, transpose
from .single_state import Single
from .tape import Angles, Plan, Step, Tape, silent
from .text import Text

MAX_STACK = 65536  # bytes: larger work memory comes from the heap
# the largest number of blocks of lanes that go through one piece of a tape before the next, as long
# as they need no more than BLOCK_BYTES
BLOCKS = 4
BLOCK_BYTES = 16384  # half of a first-level cache
LINE = 8  # doubles in a line of the cache
# the largest number of inputs and outputs of a state whose lines are prefetched: more would push
# out of the cache what is in use
MAX_PREFETCHED = 400
TESTED_TOGETHER = 8  # inputs that are tested for finiteness at once


def sines(width: int, fused: bool) -> str:
    """Return the text of the module that tapes of `width` lanes call for sines and cosines:
    `lanes_sines`, see `sincos`.
    """
    t = Text(width)
    _declare(t)
    operations.declare(t, {"SIN", "COS"})
    sincos.write(t, fused, linkage="")
    t.table()
    return str(t)


def module(tape: Tape, plan: Plan, width: int, single: Single | None = None) -> str:
    """Return the text of the module for lanes of `width` states."""
    t = Text(width)
    _declare(t)
    operations.declare(t, {node.op for node in tape.nodes})
    if any(isinstance(step, Angles) for chunk in plan.chunks for step in chunk):
        t.lines.append("declare void @lanes_sines(ptr, ptr, i64)")  # of `sines`, one for all tapes
    t.lines += [f"declare void @{kernel.name}(ptr, ptr)" for kernel in tape.called]
    for k, steps in enumerate(plan.chunks):
        # without alignstack registers are spilled across the borders of cache lines, which costs up
        # to a fifth
        head = (
            f"internal void @chunk{k}(ptr noalias %x, ptr noalias %y, ptr noalias %w) noinline"
            f" alignstack({8 * width})"
        )
        with t.function(head):
            _chunk(t, tape, steps, plan.slots)
            t.do("ret void")
    fixed = {
        node.at: tape.nodes[node.args[0]].at
        for node in tape.nodes
        if node.op == "OUTPUT" and tape.nodes[node.args[0]].op == "CONST"
    }
    n_out = [r * c for r, c in tape.output_shapes]
    zeros = _zeros(fixed, n_out)
    unread = _unread(zeros, n_out, width)
    for name, left_out in (("fixed", frozenset()), ("fixed_and_read", unread)):
        with t.function(f"internal void @{name}(ptr noalias %y) noinline"):
            for at, bits in fixed.items():
                if at not in left_out:
                    t.store(t.constant(bits), "%y", at)
            t.do("ret void")
    unseen = silent(tape)
    pieces = [f"@chunk{k}(" for k in range(len(plan.chunks))]
    _around(
        t, pieces, [r * c for r, c in tape.input_shapes], n_out, plan.n_slots, unseen, single, zeros
    )
    t.table()
    return str(t)


def _zeros(fixed: dict[int, int], n_out: list[int]) -> list[frozenset[int]]:
    """Return for each output the entries that are zero (and not minus zero) at every state."""
    starts = [sum(n_out[:k]) for k in range(len(n_out))]
    return [
        frozenset(at - start for at, bits in fixed.items() if start <= at < start + n and bits == 0)
        for start, n in zip(starts, n_out)
    ]


def _unread(zeros: list[frozenset[int]], n_out: list[int], width: int) -> frozenset[int]:
    """Return the indices of outputs that are written as zeros without being read."""
    found = [(sum(n_out[:k]), transpose.runs(own, n_out[k], width)) for k, own in enumerate(zeros)]
    return frozenset(
        start + j
        for start, runs in found
        for first, last, empty in runs
        if empty
        for j in range(first, last)
    )


def around(
    n_in: tuple[int, ...],
    n_out: tuple[int, ...],
    n_slots: int,
    width: int,
    single: Single | None = None,
) -> str:
    """Return the text of a module in which another function, `generic_kernel`, takes the place of
    the tape; its first argument is `generic_table`, before x, y and w.
    """
    t = Text(width)
    _declare(t)
    t.lines += [
        "declare void @generic_kernel(ptr, ptr, ptr, ptr)",
        "@generic_table = external global i8",
    ]
    for name in ("fixed", "fixed_and_read"):
        with t.function(f"internal void @{name}(ptr noalias %y)"):
            t.do("ret void")
    _around(
        t,
        ["@generic_kernel(ptr @generic_table, "],
        list(n_in),
        list(n_out),
        n_slots,
        None,
        single,
        [frozenset()] * len(n_out),
    )
    return str(t)


def _declare(t: Text) -> None:
    t.lines += [
        "declare ptr @malloc(i64)",
        "declare void @free(ptr)",
        "declare ptr @llvm.ptrmask.p0.i64(ptr, i64)",
    ]
    t.lines += ["declare i64 @llvm.smin.i64(i64, i64)", "declare double @llvm.fabs.f64(double)"]
    t.lines += ["declare void @llvm.prefetch.p0(ptr, i32, i32, i32)"]


def _around(
    t: Text,
    pieces: list[str],
    n_in: list[int],
    n_out: list[int],
    n_slots: int,
    unseen: list[int] | None,
    single: Single | None,
    zeros: list[frozenset[int]],
) -> None:
    """Write the exported functions for a tape that consists of these pieces of code, one after the
    other: the functions for lanes, or the call for one state.
    """
    with t.function("internal void @tape(ptr noalias %x, ptr noalias %y, ptr noalias %w)"):
        t.do(
            "call void @fixed(ptr %y)",
            *(f"call void {piece}ptr %x, ptr %y, ptr %w)" for piece in pieces),
            "ret void",
        )
    if single is not None:
        single_state.write(t, single, n_slots, unseen)
        return
    _block(t, n_slots)
    _batch(t, pieces, n_in, n_out, n_slots, unseen, zeros)
    _share(t)


def _chunk(t: Text, tape: Tape, steps: list[Step], slots: dict[int, int]) -> None:
    """Write straight-line code for some steps. A node that was computed in another chunk is read
    from memory at its first use.
    """
    nodes = tape.nodes
    lines = t.lines
    template = operations.templates(t.width)
    align = 8 * t.width
    names: dict[int, str] = {}

    def operand(n: int) -> str:
        if n not in names:
            node = nodes[n]
            if node.op == "CONST":
                names[n] = t.constant(node.at)
            elif node.op == "INPUT":
                names[n] = t.load("%x", node.at)
            else:
                names[n] = t(f"load {t.V}, ptr {t.at('%w', slots[n])}, align {align}")
        return names[n]

    def keep(value: str, slot: int) -> None:
        t.do(f"store {t.V} {value}, ptr {t.at('%w', slot)}, align {align}")

    for step in steps:
        if isinstance(step, Angles):
            n = len(step.angles)
            for k, angle in enumerate(step.angles):
                keep(operand(angle), step.base + k)
            t.do(
                f"call void @lanes_sines(ptr {t.at('%w', step.base)}, ptr"
                f" {t.at('%w', step.base + n)}, i64 {n})"
            )
        elif nodes[step].op == "OUTPUT":
            if nodes[nodes[step].args[0]].op != "CONST":
                t.store(operand(nodes[step].args[0]), "%y", nodes[step].at)
        elif nodes[step].op == "CALL":
            args = nodes[step].args
            for k, a in enumerate(args):
                keep(operand(a), slots[step] + k)
            t.do(
                f"call void @{tape.called[nodes[step].at].name}(ptr {t.at('%w', slots[step])}, ptr"
                f" {t.at('%w', slots[step] + len(args))})"
            )
        elif nodes[step].op != "RESULT":  # which is in its slot
            operands = [operand(a) for a in nodes[step].args]
            names[step] = r = f"%v{step}"
            lines.append("  " + template[nodes[step].op].format(r=r, a=operands[0], b=operands[-1]))
            if step in slots:
                keep(r, slots[step])


def _block(t: Text, n_slots: int) -> None:
    """Write `void block(const double* x, double* y)`: one block of W states, structure of
    arrays.
    """
    with t.function("void @block(ptr noalias %x, ptr noalias %y)"):
        heap = _memory(t, w=n_slots)
        t.do("call void @tape(ptr %x, ptr %y, ptr %w)")
        t.do(*(f"call void @free(ptr {p})" for p in heap), "ret void")


def _batch(
    t: Text,
    pieces: list[str],
    n_in: list[int],
    n_out: list[int],
    n_slots: int,
    unseen: list[int] | None,
    zeros: list[frozenset[int]],
) -> None:
    """Write `i64 batch(i64 start, i64 stop, i64 batch, double** in, i64* strides, double** out)`:
    states start to stop.

    unseen: the inputs that may be infinite or NaN without any output showing it, so that they are
    tested themselves; None: all inputs. zeros: the zero entries of each output.

    The rows of input k are strides[k] doubles apart; 0 gives every state the same row. Beyond the
    end of the batch, lanes repeat its last row: any batch size is handled without a second piece of
    code for its tail. A tape of several pieces takes BLOCKS blocks of W states through one piece
    before the next, while its code is in the cache.
    """
    sizes = {"x": sum(n_in), "y": sum(n_out), "w": n_slots}
    most = (
        max(1, min(BLOCKS, BLOCK_BYTES // (8 * t.width * max(1, sum(sizes.values())))))
        if len(pieces) > 1
        else 1
    )
    with t.function(
        "i64 @batch(i64 %start, i64 %stop, i64 %batch, ptr %in, ptr %strides, ptr %out)"
    ):
        heap = _memory(t, **{name: most * size for name, size in sizes.items()})
        t.do(f"%seen = alloca {t.V}, align 64", f"store {t.V} zeroinitializer, ptr %seen")
        inputs = [(t.load("%in", k, "ptr"), t.load("%strides", k, "i64")) for k in range(len(n_in))]
        outputs = [(t.load("%out", k, "ptr"), str(n)) for k, n in enumerate(n_out)]
        last = t("sub i64 %batch, 1")

        def at(b: str) -> list[str]:
            """Return where x, y and w of block b begin."""
            return [t.at(f"%{name}", t(f"mul i64 {b}, {size}")) for name, size in sizes.items()]

        def states(i: str, b: str) -> list[str]:
            """Return the states of block b, from i on."""
            first = t(f"add i64 {i}, {t(f'mul i64 {b}, {t.width}')}")
            return [
                t(f"call i64 @llvm.smin.i64(i64 {t(f'add i64 {first}, {l}')}, i64 {last})")
                for l in range(t.width)
            ]

        with t.loop("fixed", most) as b:
            t.do(f"call void @fixed_and_read(ptr {at(b)[1]})")
        with t.loop("blocks", "%stop", step=most * t.width, start="%start") as i:
            left = t(f"sub i64 {t(f'add i64 %stop, {t.width - 1}')}, {i}")
            count = t(
                f"call i64 @llvm.smin.i64(i64 {t(f'sdiv i64 {left}, {t.width}')}, i64 {most})"
            )
            first = t(f"icmp eq i64 {i}, %start")
            with t.loop("gather", count) as b:
                (x, y, _), rows = at(b), states(i, b)
                for k, n in enumerate(n_in):
                    # one row for all is there already
                    changes = t(f"or i1 {first}, {t(f'icmp ne i64 {inputs[k][1]}, 0')}")
                    with t.when(f"in{k}", changes):
                        starts = _rows(t, *inputs[k], rows)
                        see = _see if unseen is None else None
                        transpose.gather(t, f"in{k}", starts, n, t.at(x, sum(n_in[:k])), see)
                for k in range(0, len(unseen or ()), TESTED_TOGETHER):
                    _see(t, [t.load(x, j) for j in (unseen or [])[k : k + TESTED_TOGETHER]])
            for k, piece in enumerate(pieces):
                with t.loop(f"piece{k}", count) as b:
                    if sum(n_in) + sum(n_out) <= MAX_PREFETCHED:
                        here = t(f"add i64 {i}, {t(f'mul i64 {b}, {t.width}')}")
                        there = t(f"add i64 {here}, {most * t.width}")
                        for arrays, sizes_of, state, write in (
                            (inputs, n_in, there, 0),
                            (outputs, n_out, here, 1),
                        ):
                            for (base, stride), n in zip(arrays, sizes_of):
                                _fetch(
                                    t, _rows(t, base, stride, [state])[0], n, write, k, len(pieces)
                                )
                    t.do(f"call void {piece}{', '.join(f'ptr {pointer}' for pointer in at(b))})")
            with t.loop("scatter", count) as b:
                (x, y, _), rows = at(b), states(i, b)
                for k, n in enumerate(n_out):
                    transpose.scatter(
                        t,
                        f"out{k}",
                        _rows(t, *outputs[k], rows),
                        n,
                        t.at(y, sum(n_out[:k])),
                        _see,
                        zeros[k],
                    )
        t.do(*(f"call void @free(ptr {p})" for p in heap), f"ret i64 {_broken(t)}")


def _share(t: Text) -> None:
    """Write `void share(i64* desk, i64 step, i64 batch, in, strides, out)`: evaluate `step` states
    at a time as long as any are left.

    `desk` holds the next state, the number of states done, and whether some number was not finite.
    `i64 finished(i64* desk, i64 batch, i64 looks)` is 1 as soon as all are done, 0 if they are not
    after polling `looks` times.
    """
    done = "getelementptr i64, ptr %desk, i64 1"
    broken = "getelementptr i64, ptr %desk, i64 2"
    with t.function(
        "void @share(ptr %desk, i64 %step, i64 %batch, ptr %in, ptr %strides, ptr %out)"
    ):
        t.do(f"%done = {done}", f"%broken = {broken}", "br label %next")
        t.label("next")
        t.do(
            "%start = atomicrmw add ptr %desk, i64 %step seq_cst",
            "%more = icmp slt i64 %start, %batch",
            "br i1 %more, label %work, label %end",
        )
        t.label("work")
        stop = t(f"call i64 @llvm.smin.i64(i64 {t('add i64 %start, %step')}, i64 %batch)")
        bad = t(
            f"call i64 @batch(i64 %start, i64 {stop}, i64 %batch, ptr %in, ptr %strides, ptr %out)"
        )
        t(f"atomicrmw or ptr %broken, i64 {bad} seq_cst")
        t(f"atomicrmw add ptr %done, i64 {t(f'sub i64 {stop}, %start')} seq_cst")
        t.do("br label %next")
        t.label("end")
        t.do("ret void")
    with t.function("i64 @finished(ptr %desk, i64 %batch, i64 %looks)"):
        t.do(f"%done = {done}")
        with t.loop("look", "%looks"):
            count = t("load atomic i64, ptr %done seq_cst, align 8")
            with t.when("all", t(f"icmp sge i64 {count}, %batch")):
                t.do("ret i64 1")
                t.label("never")
        t.do("ret i64 0")


def _fetch(t: Text, row: str, n: int, write: int, share: int, shares: int) -> None:
    """Prefetch a block's rows of n numbers from memory, or (write: 1) the memory for them, while
    other work is done: the given share of their cache lines.
    """
    lines = -(-t.width * n // LINE)
    for line in range(share * lines // shares, (share + 1) * lines // shares):
        t.do(
            f"call void @llvm.prefetch.p0(ptr {t.at(row, LINE * line, 'double')}, i32 {write}, i32"
            " 3, i32 1)"
        )


def _rows(t: Text, base: str, stride: str, states: list[str]) -> list[str]:
    """Return the addresses of the rows of some states."""
    return [t.at(base, t(f"mul i64 {state}, {stride}"), "double") for state in states]


def _see(t: Text, columns: list[str]) -> None:
    """Record in %seen whether a value is infinite or not a number: 0 times such a value is not
    zero, and neither is a sum with it. There are two sums, because each addition waits for the one
    before it.
    """
    total = t.load("%seen"), "zeroinitializer"
    for column in columns:
        total = total[1], t.fma(column, "zeroinitializer", total[0])
    t.store(t.add(*total), "%seen")


def _broken(t: Text) -> str:
    """Return 1 if any recorded value was infinite or not a number, else 0."""
    bad = t(f"fcmp uno {t.V} {t.load('%seen')}, zeroinitializer")
    some = t(f"icmp ne i{t.width} {t(f'bitcast <{t.width} x i1> {bad} to i{t.width}')}, 0")
    return t(f"zext i1 {some} to i64")


def _memory(t: Text, **sizes: int) -> list[str]:
    """Allocate memory called %name for so many lane vectors, for each name; on the stack unless it
    is large.

    Return the pointers that have to be freed.
    """
    heap: list[str] = []
    small = 8 * t.width * sum(sizes.values()) <= MAX_STACK
    for name, size in sizes.items():
        if small:
            t.do(f"%{name} = alloca {t.V}, i64 {max(1, size)}, align 64")
        else:
            heap.append(t(f"call ptr @malloc(i64 {8 * t.width * size + 64})"))
            beyond = t(f"getelementptr i8, ptr {heap[-1]}, i64 63")
            t.do(f"%{name} = call ptr @llvm.ptrmask.p0.i64(ptr {beyond}, i64 -64)")
    return heap
