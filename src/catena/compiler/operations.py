"""The operations of a CasADi function in LLVM: a line of text, or a function of libm lane by lane.

The names are CasADi's (OP_ADD is "ADD"); r is the result, a and b are the operands, V, I and B the
types of a lane vector of doubles, integers and truths. A truth value in CasADi is 1.0 or 0.0, and
everything but zero is true, NaN too.
"""

from __future__ import annotations

from .text import Text, bits_of, splat

# fused multiply-add, and no care for the sign of zero; NaN and infinity stay what they are
FLAGS = "contract nsz"

_ZERO = "zeroinitializer"
_ONE = splat(bits_of(1.0))
_MINUS_ONE = splat(bits_of(-1.0))

LINES = {
    "ADD": "{r} = fadd {flags} {V} {a}, {b}",
    "SUB": "{r} = fsub {flags} {V} {a}, {b}",
    "MUL": "{r} = fmul {flags} {V} {a}, {b}",
    "DIV": "{r} = fdiv {flags} {V} {a}, {b}",
    "NEG": "{r} = fneg {flags} {V} {a}",
    "SQ": "{r} = fmul {flags} {V} {a}, {a}",
    "TWICE": "{r} = fadd {flags} {V} {a}, {a}",
    "INV": f"{{r}} = fdiv {{flags}} {{V}} {_ONE}, {{a}}",
    "SQRT": "{r} = call {V} @llvm.sqrt.v{width}f64({V} {a})",
    "FABS": "{r} = call {V} @llvm.fabs.v{width}f64({V} {a})",
    "FLOOR": "{r} = call {V} @llvm.floor.v{width}f64({V} {a})",
    "CEIL": "{r} = call {V} @llvm.ceil.v{width}f64({V} {a})",
    "FMIN": "{r} = call {V} @llvm.minnum.v{width}f64({V} {a}, {V} {b})",
    "FMAX": "{r} = call {V} @llvm.maxnum.v{width}f64({V} {a}, {V} {b})",
    "COPYSIGN": "{r} = call {V} @llvm.copysign.v{width}f64({V} {a}, {V} {b})",
    "LT": "{r}.t = fcmp olt {V} {a}, {b}\n  {r} = uitofp {B} {r}.t to {V}",
    "LE": "{r}.t = fcmp ole {V} {a}, {b}\n  {r} = uitofp {B} {r}.t to {V}",
    "EQ": "{r}.t = fcmp oeq {V} {a}, {b}\n  {r} = uitofp {B} {r}.t to {V}",
    "NE": "{r}.t = fcmp une {V} {a}, {b}\n  {r} = uitofp {B} {r}.t to {V}",
    "NOT": f"{{r}}.t = fcmp oeq {{V}} {{a}}, {_ZERO}\n  {{r}} = uitofp {{B}} {{r}}.t to {{V}}",
    "AND": (
        f"""{{r}}.a = fcmp une {{V}} {{a}}, {_ZERO}
  {{r}}.b = fcmp une {{V}} {{b}}, {_ZERO}
  {{r}}.t = and {{B}} {{r}}.a, {{r}}.b
  {{r}} = uitofp {{B}} {{r}}.t to {{V}}"""
    ),
    "OR": (
        f"""{{r}}.a = fcmp une {{V}} {{a}}, {_ZERO}
  {{r}}.b = fcmp une {{V}} {{b}}, {_ZERO}
  {{r}}.t = or {{B}} {{r}}.a, {{r}}.b
  {{r}} = uitofp {{B}} {{r}}.t to {{V}}"""
    ),
    "IF_ELSE_ZERO": (
        f"""{{r}}.t = fcmp une {{V}} {{a}}, {_ZERO}
  {{r}} = select {{B}} {{r}}.t, {{V}} {{b}}, {{V}} {_ZERO}"""
    ),
    "SIGN": (
        f"""{{r}}.n = fcmp olt {{V}} {{a}}, {_ZERO}
  {{r}}.p = fcmp ogt {{V}} {{a}}, {_ZERO}
  {{r}}.s = select {{B}} {{r}}.p, {{V}} {_ONE}, {{V}} {{a}}
  {{r}} = select {{B}} {{r}}.n, {{V}} {_MINUS_ONE}, {{V}} {{r}}.s"""
    ),
}

LIBM = {  # operation -> function of the C library and how many arguments it takes
    **{
        op: (op.lower(), 1)
        for op in ("EXP", "LOG", "LOG1P", "EXPM1", "TAN", "ASIN", "ACOS", "ATAN", "ERF")
    },
    **{op: (op.lower(), 1) for op in ("SINH", "COSH", "TANH", "ASINH", "ACOSH", "ATANH")},
    **{op: (op.lower(), 2) for op in ("POW", "ATAN2", "FMOD", "HYPOT", "REMAINDER")},
    "CONSTPOW": ("pow", 2),
}
SINCOS = {"SIN": ("sin", 1), "COS": ("cos", 1)}  # beyond the range of the polynomials

SUPPORTED = {*LINES, *LIBM, *SINCOS, "ASSIGN", "CONST", "INPUT", "OUTPUT"}
COMMUTATIVE = {"ADD", "MUL", "EQ", "NE", "AND", "OR", "FMIN", "FMAX", "HYPOT"}

# every C function that emitted code may call; the last ones where the processor lacks an
# instruction
EXTERNAL = (
    *sorted({name for name, _ in (LIBM | SINCOS).values()}),
    *("malloc", "free", "floor", "ceil", "fmin", "fmax", "sqrt"),
)


def templates(width: int) -> dict[str, str]:
    """Return the text of each operation, with only {r}, {a} and {b} left to fill in."""
    v = f"<{width} x double>"
    b = f"<{width} x i1>"
    lines = LINES | {
        op: f"{{r}} = call {{V}} @lanes_{name}({'{V} {a}' if arity == 1 else '{V} {a}, {V} {b}'})"
        for op, (name, arity) in LIBM.items()
    }
    return {
        op: (
            line.replace("{V}", v)
            .replace("{B}", b)
            .replace("{width}", str(width))
            .replace("{flags}", FLAGS)
        )
        for op, line in lines.items()
    }


def declare(t: Text, ops: set[str]) -> None:
    """Declare LLVM's intrinsics and what `sincos` calls, and write `lanes_f` for each other
    function f of libm that `ops` need.
    """
    for name, arity in (
        ("sqrt", 1),
        ("fabs", 1),
        ("floor", 1),
        ("ceil", 1),
        ("minnum", 2),
        ("maxnum", 2),
        ("copysign", 2),
    ):
        t.lines.append(f"declare {t.V} @llvm.{name}.v{t.width}f64({', '.join([t.V] * arity)})")
    if ops & SINCOS.keys():
        t.lines += [f"declare double @{name}(double) nounwind" for name, _ in SINCOS.values()]
    for name, arity in sorted({LIBM[op] for op in ops & LIBM.keys()}):
        _lane_by_lane(t, name, arity)


def _lane_by_lane(t: Text, name: str, arity: int) -> None:
    """Write a function of lanes that calls a C function of doubles for each lane."""
    arguments = ["%a", "%b"][:arity]
    t.lines.append(f"declare double @{name}({', '.join(['double'] * arity)}) nounwind")
    head = f"internal {t.V} @lanes_{name}({', '.join(f'{t.V} {a}' for a in arguments)}) noinline"
    with t.function(head):
        lanes = "poison"
        for l in range(t.width):
            scalars = [t(f"extractelement {t.V} {a}, i64 {l}") for a in arguments]
            value = t(f"call double @{name}({', '.join(f'double {s}' for s in scalars)})")
            lanes = t(f"insertelement {t.V} {lanes}, double {value}, i64 {l}")
        t.do(f"ret {t.V} {lanes}")
