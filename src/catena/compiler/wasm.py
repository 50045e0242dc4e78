"""WebAssembly: tapes as one binary module of straight-line functions.

    {name: Tape} -> module -> bytes

Each tape becomes an exported function (x, y) of two addresses in the exported memory: it reads its
inputs, doubles in the order of the tape, from x on, and writes its outputs from y on. Sine and
cosine are computed inside, by the polynomials of `sincos`; the other functions of math.h are
imported from "math" by their names there, as far as they are used. Nothing else is needed to run
it.

The encoding is that of the WebAssembly core specification, version 1 with several results of a
function.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ..errors import CompileError
from .operations import LIBM
from .sincos import COSINE, LIMIT, PI_HALF, ROUND, SINE, TWO_OVER_PI
from .tape import Node, Tape

I32, I64, F64 = 0x7F, 0x7E, 0x7C
GET = 0x20
SET = 0x21
TEE = 0x22
CALL = 0x10
IF = 0x04
ELSE = 0x05
END = 0x0B
SELECT = 0x1B
LOAD, STORE, CONST, I64_CONST = 0x2B, 0x39, 0x44, 0x42
EQ, NE, LT, GT, LE = 0x61, 0x62, 0x63, 0x64, 0x65
ABS = 0x99
NEG = 0x9A
CEIL = 0x9B
FLOOR = 0x9C
SQRT = 0x9F
ADD = 0xA0
SUB = 0xA1
MUL = 0xA2
DIV = 0xA3
MIN = 0xA4
MAX = 0xA5
COPYSIGN = 0xA6
I32_AND = 0x71
I32_OR = 0x72
I64_ADD = 0x7C
I64_AND = 0x83
I64_SHL = 0x86
I64_XOR = 0x85
I64_EQZ = 0x50
# i32 -> f64; f64 <-> i64, bit by bit
FROM_TRUTH = 0xB8
BITS = 0xBD
FROM_BITS = 0xBF

TAPE, ONE, TWO, PAIR, NONE_PAIR = range(5)  # the types of functions
TYPES = (
    ((I32, I32), ()),
    ((F64,), (F64,)),
    ((F64, F64), (F64,)),
    ((F64,), (F64, F64)),
    ((), (F64, F64)),
)
PAGE = 65536  # bytes
FOREIGN = {"erf", "remainder"}  # functions of math.h that a browser's Math does not have

PLAIN = {
    "ADD": ADD,
    "SUB": SUB,
    "MUL": MUL,
    "DIV": DIV,
    "NEG": NEG,
    "SQRT": SQRT,
    "FABS": ABS,
    "FLOOR": FLOOR,
    "CEIL": CEIL,
    "FMIN": MIN,
    "FMAX": MAX,
    "COPYSIGN": COPYSIGN,
}
COMPARED = {"LT": LT, "LE": LE, "EQ": EQ, "NE": NE}


def module(tapes: Mapping[str, Tape], pages: int = 16) -> bytes:
    """Return the binary module of some tapes, with so many pages of memory (64 KiB each).

    Raise CompileError where a tape uses a function that browsers do not have.
    """
    used = {node.op for tape in tapes.values() for node in tape.nodes}
    libm = sorted({LIBM[op] for op in used & LIBM.keys()} | {("sin", 1), ("cos", 1)})
    if missing := sorted(name for name, _ in libm if name in FOREIGN):
        raise CompileError(
            f"a tape uses {', '.join(missing)}, which WebAssembly does not have; leave it out of"
            " the mechanism's loads"
        )
    functions = {name: k for k, (name, _) in enumerate(libm)}
    sincos = len(libm)
    bodies = [_sincos(functions), *(_body(tape, functions, sincos) for tape in tapes.values())]
    imports = [
        _name("math") + _name(name) + b"\x00" + _u(ONE if arity == 1 else TWO)
        for name, arity in libm
    ]
    exports = [
        _name("memory") + b"\x02\x00",
        *(_name(name) + b"\x00" + _u(sincos + 1 + k) for k, name in enumerate(tapes)),
    ]
    kinds = [_u(PAIR), *(_u(TAPE) for _ in tapes)]
    types = [
        b"\x60" + _vector(bytes([t]) for t in a) + _vector(bytes([t]) for t in r) for a, r in TYPES
    ]
    sections = (
        (1, types),
        (2, imports),
        (3, kinds),
        (5, [b"\x00" + _u(pages)]),
        (7, exports),
        (10, [_u(len(b)) + b for b in bodies]),
    )
    return b"\0asm\1\0\0\0" + b"".join(_section(k, items) for k, items in sections)


# --- one tape
def _body(tape: Tape, functions: Mapping[str, int], sincos: int) -> bytes:
    """Return the code of a tape. A value that is read later is stored in a local, which is reused
    after its last reader.
    """
    nodes, local = tape.nodes, _Locals()
    last = {a: k for k, node in enumerate(nodes) for a in node.args}
    code = bytearray()
    for k, node in enumerate(nodes):
        args = [_push(nodes, a, local) for a in node.args]
        if node.op == "OUTPUT":
            code += bytes([GET, 1]) + args[0] + _access(STORE, node.at)
        elif node.op in ("SIN", "COS"):
            pair = local.pairs.get(node.args[0])
            if pair is None:  # both are made together, and keep their locals
                pair = local.pairs[node.args[0]] = {"SIN": local.fresh(), "COS": local.fresh()}
                code += (
                    args[0]
                    + bytes([CALL])
                    + _u(sincos)
                    + bytes([SET])
                    + _u(pair["COS"])
                    + bytes([SET])
                    + _u(pair["SIN"])
                )
            local.of[k] = pair[node.op]
        elif node.op != "CONST" and k in last:
            code += (
                bytes([GET, 0]) + _access(LOAD, node.at)
                if node.op == "INPUT"
                else _value(node, args, functions)
            )
            local.free += [
                local.of[a]
                for a in set(node.args)
                if last[a] == k and nodes[a].op not in ("SIN", "COS", "CONST")
            ]
            local.of[k] = local.fresh()
            code += bytes([SET]) + _u(local.of[k])
    return _function([(local.count - 2, F64)], bytes(code))


@dataclass
class _Locals:
    """The local variables of a function, after its two addresses: which node each holds, and which
    are free.
    """

    of: dict[int, int] = field(default_factory=dict)
    # angle -> those of its sine and cosine
    pairs: dict[int, dict[str, int]] = field(default_factory=dict)
    free: list[int] = field(default_factory=list)
    count: int = 2

    def fresh(self) -> int:
        """Return a local variable whose value is not read any more, or a new one."""
        if self.free:
            return self.free.pop()
        self.count += 1
        return self.count - 1


def _push(nodes: list[Node], a: int, local: _Locals) -> bytes:
    node = nodes[a]
    return (
        bytes([CONST]) + node.at.to_bytes(8, "little")
        if node.op == "CONST"
        else bytes([GET]) + _u(local.of[a])
    )


def _value(node: Node, args: list[bytes], functions: Mapping[str, int]) -> bytes:
    """Return the code that leaves the value of a node on the stack."""
    op, a, b = node.op, args[0], args[-1]
    if op in PLAIN:
        return b"".join(args) + bytes([PLAIN[op]])
    if op in COMPARED:
        return a + b + bytes([COMPARED[op], FROM_TRUTH])
    if op in LIBM:
        return b"".join(args) + bytes([CALL]) + _u(functions[LIBM[op][0]])
    zero, one = _f(0.0), _f(1.0)
    return {
        "SQ": a + a + bytes([MUL]),
        "TWICE": a + a + bytes([ADD]),
        "INV": one + a + bytes([DIV]),
        "NOT": a + zero + bytes([EQ, FROM_TRUTH]),
        "AND": a + zero + bytes([NE]) + b + zero + bytes([NE, I32_AND, FROM_TRUTH]),
        "OR": a + zero + bytes([NE]) + b + zero + bytes([NE, I32_OR, FROM_TRUTH]),
        "IF_ELSE_ZERO": b + zero + a + zero + bytes([NE, SELECT]),
        "SIGN": (
            one + _f(-1.0) + a + a + zero + bytes([LT, SELECT]) + a + zero + bytes([GT, SELECT])
        ),
    }[op]


# --- sine and cosine
def _sincos(functions: Mapping[str, int]) -> bytes:
    """Return the function x -> sin x, cos x: Cody and Waite's reduction and fdlibm's polynomials,
    as `sincos` does it without fused multiply-add.
    """
    x, r, z, s, c, w, quadrant = range(7)
    get = lambda k: bytes([GET]) + _u(k)  # noqa: E731
    to = lambda k: bytes([SET]) + _u(k)  # noqa: E731
    shifted = get(x) + _f(TWO_OVER_PI) + bytes([MUL]) + _f(ROUND) + bytes([ADD])
    code = (
        shifted
        + bytes([TEE])
        + _u(w)
        + bytes([BITS])
        + to(quadrant)
        + get(w)
        + _f(ROUND)
        + bytes([SUB])
        + to(w)
        + get(x)
        + to(r)
    )
    for part in PI_HALF:
        code += get(r) + get(w) + _f(part) + bytes([MUL, SUB]) + to(r)
    code += get(r) + get(r) + bytes([MUL]) + to(z)
    code += (
        get(r)
        + get(z)
        + bytes([MUL])
        + _horner(SINE, get(z))
        + bytes([MUL])
        + get(r)
        + bytes([ADD])
        + to(s)
    )
    code += _f(1.0) + get(z) + _f(0.5) + bytes([MUL, SUB]) + to(w)
    lost = _f(1.0) + get(w) + bytes([SUB]) + get(z) + _f(0.5) + bytes([MUL, SUB])
    code += (
        get(w)
        + get(z)
        + get(z)
        + bytes([MUL])
        + _horner(COSINE, get(z))
        + bytes([MUL])
        + lost
        + bytes([ADD, ADD])
        + to(c)
    )
    odd = get(quadrant) + _i64(1) + bytes([I64_AND, I64_EQZ])  # true where the quadrant is even
    sine = get(s) + get(c) + odd + bytes([SELECT])
    cosine = get(c) + get(s) + odd + bytes([SELECT])
    near = _turned(sine, get(quadrant)) + _turned(
        cosine, get(quadrant) + _i64(1) + bytes([I64_ADD])
    )
    far = (
        get(x)
        + bytes([CALL])
        + _u(functions["sin"])
        + get(x)
        + bytes([CALL])
        + _u(functions["cos"])
    )
    choose = (
        get(x)
        + bytes([ABS])
        + _f(LIMIT)
        + bytes([LE, IF])
        + _u(NONE_PAIR)
        + code
        + near
        + bytes([ELSE])
        + far
        + bytes([END])
    )
    return _function([(5, F64), (1, I64)], choose)


def _turned(value: bytes, quadrant: bytes) -> bytes:
    """Return the value, negated where bit 1 of the quadrant is set."""
    sign = quadrant + _i64(2) + bytes([I64_AND]) + _i64(62) + bytes([I64_SHL])
    return value + bytes([BITS]) + sign + bytes([I64_XOR, FROM_BITS])


def _horner(coefficients: Iterable[float], z: bytes) -> bytes:
    first, *rest = coefficients
    return _f(first) + b"".join(z + bytes([MUL]) + _f(c) + bytes([ADD]) for c in rest)


# --- encoding
def _u(n: int) -> bytes:
    """Return an unsigned integer in the encoding LEB128."""
    out = bytearray()
    while True:
        n, low = n >> 7, n & 0x7F
        out.append(low | (0x80 if n else 0))
        if not n:
            return bytes(out)


def _i64(n: int) -> bytes:
    """Return a small constant: 0 to 63 is one byte."""
    return bytes([I64_CONST, n])


def _f(x: float) -> bytes:
    return bytes([CONST]) + struct.pack("<d", x)


def _access(op: int, index: int) -> bytes:
    """Return a load or store of the double of that index: aligned to eight bytes."""
    return bytes([op, 3]) + _u(8 * index)


def _name(text: str) -> bytes:
    data = text.encode()
    return _u(len(data)) + data


def _vector(items: Iterable[bytes]) -> bytes:
    found = list(items)
    return _u(len(found)) + b"".join(found)


def _section(number: int, items: list[bytes]) -> bytes:
    content = _vector(items)
    return bytes([number]) + _u(len(content)) + content


def _function(local: list[tuple[int, int]], code: bytes) -> bytes:
    return _vector(_u(n) + bytes([kind]) for n, kind in local) + code + bytes([END])
