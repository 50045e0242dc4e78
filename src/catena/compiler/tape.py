"""The tape: a CasADi SX function as a list of nodes, ordered and cut into chunks for the emitter.

    casadi.Function -> read -> Tape -> plan -> Plan -> (emit) LLVM text

A tape is straight-line code. Two things are done to it here, both about *order*, neither about
arithmetic:

- sines and cosines are grouped. All angles that are known at the same moment form one group, which
  a small loop computes (see `sincos`), instead of forty instructions and a branch in the middle of
  the tape for each of them;
- a long tape is cut into chunks, because LLVM's time grows faster than the length of a block. A
  value that one chunk computes and a later one reads is stored in a slot of the work array; slots
  are reused when no later chunk reads them.

A call of a kernel with loops (`looped`) is a node too; where it cannot be called, and for other
functions, it is unrolled.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import accumulate, chain
from typing import NamedTuple

import casadi as ca

from ..errors import CompileError
from .looped import Callee, callee
from .operations import COMMUTATIVE, SUPPORTED
from .text import bits_of

OPERATIONS = {
    getattr(ca, name): name.removeprefix("OP_") for name in dir(ca) if name.startswith("OP_")
}

# operations whose result may be finite though an operand is infinite or not a number
HIDES_NAN = {
    *(
        "LT",
        "LE",
        "EQ",
        "NE",
        "NOT",
        "AND",
        "OR",
        "IF_ELSE_ZERO",
        "SIGN",
        "FMIN",
        "FMAX",
        "COPYSIGN",
    ),
    # these may turn an infinite operand into a finite number
    *("INV", "EXP", "POW", "CONSTPOW", "ATAN", "ATAN2", "TANH", "ERF", "CALL"),
}

# steps in a chunk: LLVM's time is proportional up to here; smaller chunks pass more through memory
CHUNK = 1500
# steps in a chunk of a tape that fills matrices: so many values are alive at once that LLVM would
# spill most of them
WIDE_CHUNK = 200
MAX_ANGLES = 64  # angles in one step


class Node(NamedTuple):
    """One instruction, identified by its index in the tape. `args` are the indices of its operands.

    `at` is the index into x of an INPUT and into y of an OUTPUT, and the 64 bits of a CONST; of a
    CALL the index of the kernel, and of a RESULT the index among the results of its CALL.
    """

    op: str
    args: tuple[int, ...] = ()
    at: int = 0


class Tape(NamedTuple):
    """A whole SX function: nodes in an order that computes before it uses, the (rows, columns) of
    each argument, and the kernels that it calls.
    """

    name: str
    nodes: list[Node]
    input_shapes: tuple[tuple[int, int], ...]
    output_shapes: tuple[tuple[int, int], ...]
    called: tuple[Callee, ...] = ()


class Angles(NamedTuple):
    """A step that computes sine and cosine of several nodes at once.

    Angle k of n is written to slot base + k; its sine then replaces it, and its cosine is stored in
    base + n + k.
    """

    angles: tuple[int, ...]
    base: int


Step = int | Angles


@dataclass(frozen=True)
class Plan:
    """The order of emission: chunks of steps, the slot of every node that is stored in memory, the
    number of slots.
    """

    chunks: list[list[Step]]
    slots: dict[int, int]
    n_slots: int


def read(f: ca.Function, calls: bool = False) -> Tape:
    """Return the tape of a dense SX function. calls: whether kernels with loops can be called;
    otherwise they are unrolled.

    CasADi numbers the entries of a matrix by columns, we by rows: entry k of an r x c argument is
    entry (k mod r) c + k div r here, so that a result reshapes to (batch, r, c) without a copy.
    """
    if not f.is_a("SXFunction"):
        raise CompileError(
            f"function '{f.name()}' is a {f.class_name()}; only SX functions become lanes: call"
            " .expand()"
        )
    sparse = [f.name_in(k) for k in range(f.n_in()) if not f.sparsity_in(k).is_dense()]
    sparse += [f.name_out(k) for k in range(f.n_out()) if not f.sparsity_out(k).is_dense()]
    if sparse:
        raise CompileError(
            f"function '{f.name()}' has sparse arguments: {', '.join(sparse)}; densify them first"
        )
    input_shapes = tuple(f.size_in(k) for k in range(f.n_in()))
    output_shapes = tuple(f.size_out(k) for k in range(f.n_out()))
    reader = _Reader(calls)
    places_in = _places(input_shapes)
    found = reader.read(f, lambda k, entry: reader.number(Node("INPUT", at=places_in[k][entry])))
    for places, own in zip(_places(output_shapes), found):
        for place, n in zip(places, own):
            reader.number(Node("OUTPUT", (n,), at=place))
    if reader.unknown:
        raise CompileError(
            f"function '{f.name()}' uses {', '.join(sorted(reader.unknown))}, which cannot be done"
            f" in lanes; what can: {', '.join(sorted(SUPPORTED))}"
        )
    return Tape(
        f.name(), _inverted(reader.nodes), input_shapes, output_shapes, tuple(reader.called)
    )


class _Reader:
    """Value numbering: a value that CasADi's function computes twice is computed once."""

    def __init__(self, calls: bool):
        self.calls = calls
        self.nodes: list[Node] = []
        self.known: dict[Node, int] = {}
        self.called: list[Callee] = []
        self.unknown: set[str] = set()

    def number(self, node: Node) -> int:
        """Return the index of a node in the tape; an equal node that exists already is reused."""
        found = self.known.setdefault(node, len(self.nodes))
        if found == len(self.nodes):
            self.nodes.append(node)
        return found

    def read(self, f: ca.Function, given: Callable[[int, int], int]) -> list[list[int]]:
        """Return the places of a function's results, for `given(k, entry)` of its arguments; both
        numbered as CasADi does.
        """
        holder: dict[int, int] = {}  # CasADi's register -> the node whose value it holds now
        results: list[list[int]] = [[0] * f.nnz_out(k) for k in range(f.n_out())]
        targets: ca.SX | None = None
        for n in range(f.n_instructions()):
            op = OPERATIONS[f.instruction_id(n)]
            source = f.instruction_input(n)
            target = f.instruction_output(n)
            if op == "ASSIGN":
                holder[target[0]] = holder[source[0]]
            elif op == "INPUT":
                holder[target[0]] = given(*source)
            elif op == "CONST":
                holder[target[0]] = self.number(Node(op, at=bits_of(f.instruction_constant(n))))
            elif op == "OUTPUT":
                results[target[0]][target[1]] = holder[source[0]]
            elif op == "CALL":
                targets = f.instructions_sx() if targets is None else targets
                holder.update(
                    zip(
                        target, self._call(targets[n].which_function(), [holder[s] for s in source])
                    )
                )
            else:
                if op not in SUPPORTED:
                    self.unknown.add(op)
                args = (holder[s] for s in source)
                holder[target[0]] = self.number(
                    Node(op, tuple(sorted(args) if op in COMMUTATIVE else args))
                )
        return results

    def _call(self, f: ca.Function, args: list[int]) -> list[int]:
        """Return the places of the results of a call, for those of its operands; all numbered as
        CasADi does.
        """
        kernel = callee(f) if self.calls else None
        if kernel is None:
            starts = list(accumulate((f.nnz_in(k) for k in range(f.n_in())), initial=0))
            return [
                n
                for own in self.read(f.expand(), lambda k, entry: args[starts[k] + entry])
                for n in own
            ]
        if kernel not in self.called:
            self.called.append(kernel)
        placed = [0] * len(args)
        for place, n in zip(chain(*_places(kernel.inputs)), args):
            placed[place] = n
        node = self.number(Node("CALL", tuple(placed), self.called.index(kernel)))
        return [self.number(Node("RESULT", (node,), k)) for k in range(kernel.outputs)]


def _inverted(nodes: list[Node]) -> list[Node]:
    """Return the nodes with products in place of divisions: for each divisor that several nodes
    share there is one division, because a division takes the time of ten products. CasADi writes a
    (1/b) as a / b.
    """
    shared = Counter(node.args[1] for node in nodes if node.op == "DIV")
    found: list[Node] = []
    places: list[int] = []  # of the nodes, in what is found
    inverses: dict[int, int] = {}
    for node in nodes:
        args = tuple(places[a] for a in node.args)
        if node.op == "DIV" and shared[node.args[1]] > 1:
            if args[1] not in inverses:
                inverses[args[1]] = len(found)
                found.append(Node("INV", args[1:]))
            node = Node("MUL")
            args = tuple(sorted((args[0], inverses[args[1]])))
        places.append(len(found))
        found.append(node._replace(args=args))
    return found


def chooses(tape: Tape) -> bool:
    """Return whether the tape has so many selections that LLVM's own pass over comparisons, which
    makes them twice as fast, is worth its time.
    """
    return 50 * sum(node.op == "IF_ELSE_ZERO" for node in tape.nodes) > len(tape.nodes)


def silent(tape: Tape) -> list[int]:
    """Return the inputs that may be infinite or NaN without any output showing it: unused ones, and
    those that only comparisons read.
    """
    heard: set[int] = set()
    for k in reversed(range(len(tape.nodes))):
        node = tape.nodes[k]
        if node.op == "OUTPUT" or (k in heard and node.op not in HIDES_NAN):
            # one over infinity is a number
            heard.update(node.args[:1] if node.op == "DIV" else node.args)
    seen = {node.at for k, node in enumerate(tape.nodes) if node.op == "INPUT" and k in heard}
    return [k for k in range(sum(r * c for r, c in tape.input_shapes)) if k not in seen]


def _places(shapes: tuple[tuple[int, int], ...]) -> list[list[int]]:
    """Return, for each argument, the indices in the concatenated row-major memory of its
    column-major entries.
    """
    places, start = [], 0
    for rows, columns in shapes:
        places.append([start + r * columns + c for c in range(columns) for r in range(rows)])
        start += rows * columns
    return places


def plan(tape: Tape, chunk: int = 0) -> Plan:
    """Order the tape, cut it into equal chunks of at most `chunk` steps, and assign a slot to each
    value that must be stored in memory.
    """
    entries_in, entries_out = (
        sum(r * c for r, c in shapes) for shapes in (tape.input_shapes, tape.output_shapes)
    )
    chunk = chunk or (WIDE_CHUNK if entries_out > entries_in else CHUNK)
    steps, slots, n_angles = _order(tape.nodes)
    chunks = _cut(tape.nodes, steps, chunk)
    n_slots = _allot(tape.nodes, chunks, slots, _lay(tape, slots, 2 * n_angles))
    return Plan(chunks, slots, n_slots)


def _lay(tape: Tape, slots: dict[int, int], first: int) -> int:
    """Assign slots, from `first` on, to the operands of each call, one after the other, and to its
    results after them; return the next free slot.
    """
    for n, node in enumerate(tape.nodes):
        if node.op == "CALL":
            kernel, slots[n] = tape.called[node.at], first
            first += len(node.args) + kernel.outputs + kernel.behind
        elif node.op == "RESULT":
            slots[n] = slots[node.args[0]] + len(tape.nodes[node.args[0]].args) + node.at
    return first


def _weight(nodes: list[Node], step: Step) -> int:
    """Return the cost of a step: 1, but 4 for each angle and 2 for each operand of a call, since
    these go through memory.
    """
    if isinstance(step, Angles):
        return 4 * len(step.angles)
    return 2 * len(nodes[step].args) if nodes[step].op == "CALL" else 1


def _cut(nodes: list[Node], steps: list[Step], chunk: int) -> list[list[Step]]:
    """Cut the steps into chunks of about the same weight, at most `chunk`."""
    weights = [_weight(nodes, step) for step in steps]
    pieces = max(1, -(-sum(weights) // chunk))
    most = -(-sum(weights) // pieces)
    chunks: list[list[Step]] = [[]]
    weight = 0
    for step, w in zip(steps, weights):
        if chunks[-1] and (weight + w > most or isinstance(chunks[-1][-1], Angles)):
            chunks.append([])
            weight = 0
        chunks[-1].append(step)
        weight += w
    return chunks


def _order(nodes: list[Node]) -> tuple[list[Step], dict[int, int], int]:
    """Return the steps with angles first: level by level, first the steps on which the angles
    depend, then these angles together; the remaining steps keep their order.

    The level of a node is the number of sines on the longest path that leads to it; angles of one
    level are independent.
    """
    level = [0] * len(nodes)
    groups: dict[int, dict[int, list[int]]] = {}  # level -> angle -> its SIN and COS nodes
    for n, node in enumerate(nodes):
        level[n] = max((level[a] for a in node.args), default=0)
        if node.op in ("SIN", "COS"):
            groups.setdefault(level[n], {}).setdefault(node.args[0], []).append(n)
            level[n] += 1
    steps: list[Step] = []
    slots: dict[int, int] = {}
    # these are no steps: made where they are read
    done = [node.op in ("INPUT", "CONST", "SIN", "COS") for node in nodes]
    n_angles = 0
    for _, group in sorted(groups.items()):
        steps += sorted(_ancestors(nodes, group, done))
        for k in range(0, len(group), MAX_ANGLES):
            angles = tuple(group)[k : k + MAX_ANGLES]
            steps.append(Angles(angles, 2 * n_angles))
            for j, angle in enumerate(angles):
                slots |= {
                    n: 2 * n_angles + j + len(angles) * (nodes[n].op == "COS") for n in group[angle]
                }
            n_angles += len(angles)
    steps += [n for n in range(len(nodes)) if not done[n]]
    return steps, slots, n_angles


def _ancestors(nodes: list[Node], roots: dict[int, list[int]], done: list[bool]) -> list[int]:
    """Return the nodes that must be computed before `roots` and are not `done`, and mark them
    done.
    """
    found, stack = [], list(roots)
    while stack:
        n = stack.pop()
        if not done[n]:
            done[n] = True
            found.append(n)
            stack += nodes[n].args
    return found


def _allot(nodes: list[Node], chunks: list[list[Step]], slots: dict[int, int], first: int) -> int:
    """Assign slots, from `first` on, to the nodes whose values cross chunks, and return the number
    of slots.
    """
    born: dict[int, int] = {}
    dies: dict[int, int] = {}  # node -> last chunk that reads it from memory
    for c, chunk in enumerate(chunks):
        for step in chunk:
            if isinstance(step, Angles):
                reads: tuple[int, ...] = step.angles
            else:
                reads = nodes[step].args
                born[step] = c
            for a in reads:
                if born.get(a, c) != c:
                    dies[a] = c
    ending: dict[int, list[int]] = {}
    free: list[int] = []
    n_slots = first
    for c, chunk in enumerate(chunks):
        # free only after the chunk: inside it reads and writes keep any order
        free += ending.pop(c - 1, [])
        for step in chunk:
            if isinstance(step, int) and step in dies and step not in slots:
                if not free:
                    free.append(n_slots)
                    n_slots += 1
                slots[step] = free.pop()
                ending.setdefault(dies[step], []).append(slots[step])
    return n_slots
