"""Sine and cosine in lanes, both at once, as LLVM text.

Reduction after Cody and Waite: k = round(2x/pi), r = x - k pi/2, with pi/2 in three or four parts so that nothing is
lost where r is small. Then fdlibm's minimax polynomials on |r| <= pi/4, with z = r r:

    sin r = r + r z S(z)        cos r = 1 - z/2 + z z C(z)        (what rounding took from 1 - z/2 is carried along)

The quadrant k mod 4 says which of the two is wanted and with which sign. Largest error found for |x| <= LIMIT, in 14
million points, random and beside the multiples of pi/2: 1.50 units in the last place, 1.18e-16 absolute, with fused
multiply-add; 2.30 and 1.55e-16 without.

A lane beyond LIMIT, or infinite, goes through libm, by a branch that is hardly ever taken. The other lanes of that
vector keep the polynomials' values: a state must give the same bits whoever its neighbours are.
"""

from __future__ import annotations

from .text import Text, whole

LIMIT = 1e6

# pi/2 in parts of 53 bits, whose products with k are exact inside a fused multiply-add, and in parts of 33 bits, whose
# products with k < 2^20 are exact anyway; the sum of all parts is pi/2 to more than 100 bits
PI_HALF_FUSED = (1.5707963267948966, 6.123233995736765e-17, 1.0828566739219139e-32)
PI_HALF = (1.5707963267341256, 6.077100506303966e-11, 2.0222662487111665e-21, 8.4784276603689e-32)
TWO_OVER_PI = 0.6366197723675814
ROUND = 1.5 * 2.0**52  # adding it rounds to an integer, whose low bits are then the low bits of the sum

SINE = (  # S, highest power first
    1.58969099521155010221e-10,
    -2.50507602534068634195e-08,
    2.75573137070700676789e-06,
    -1.98412698298579493134e-04,
    8.33333333332248946124e-03,
    -1.66666666666666324348e-01,
)
COSINE = (  # C, highest power first
    -1.13596475577881948265e-11,
    2.08757232129817482790e-09,
    -2.75573143513906633035e-07,
    2.48015872894767294178e-05,
    -1.38888888888741095749e-03,
    4.16666666666666019037e-02,
)


def write(t: Text, fused: bool) -> None:
    """Write `void lanes_sincos(ptr w, i64 n)`: angle k, read at w[2k], becomes its sine there and its cosine at w[2k + 1].

    It needs `lanes_sin` and `lanes_cos`, libm's functions lane by lane. `fused` says that the machine has fused
    multiply-add.
    """
    with t.function(f"internal void @lanes_sincos_far(ptr %p, {t.V} %x, {t.V} %s, {t.V} %c, {t.B} %far) cold noinline"):
        for k, (name, near) in enumerate((("sin", "%s"), ("cos", "%c"))):
            exact = t(f"call {t.V} @lanes_{name}({t.V} %x)")
            t.store(t(f"select {t.B} %far, {t.V} {exact}, {t.V} {near}"), "%p", k)
        t.do("ret void")

    with t.function("internal void @lanes_sincos(ptr noalias %w, i64 %n) noinline"):
        with t.loop("angle", "%n") as counter:
            _angle(t, counter, fused)
        t.do("ret void")
    t.lines.append('!0 = !{!"branch_weights", i32 1, i32 1000000}')


def _angle(t: Text, k: str, fused: bool) -> None:
    """The body of the loop: one angle."""
    p = t.at("%w", t(f"shl i64 {k}, 1"))
    x = t.load(p)
    sine, cosine = _near(t, x, PI_HALF_FUSED if fused else PI_HALF)
    t.store(sine, p)
    t.store(cosine, p, 1)
    size = t(f"call {t.V} @llvm.fabs.v{t.width}f64({t.V} {x})")
    far = t(f"fcmp ogt {t.V} {size}, {t.constant(LIMIT)}")
    mask = t(f"bitcast {t.B} {far} to i{t.width}")
    t.do(f"br i1 {t(f'icmp ne i{t.width} {mask}, 0')}, label %far, label %near, !prof !0")
    t.label("far")
    t.do(f"call void @lanes_sincos_far(ptr {p}, {t.V} {x}, {t.V} {sine}, {t.V} {cosine}, {t.B} {far})")
    t.do("br label %near")
    t.label("near")


def _near(t: Text, x: str, pi_half: tuple[float, ...]) -> tuple[str, str]:
    """Sine and cosine for |x| <= LIMIT; what is not a number stays so, what is larger comes out wrong."""
    shifted = t.fma(x, t.constant(TWO_OVER_PI), t.constant(ROUND))
    quadrant = t(f"bitcast {t.V} {shifted} to {t.I}")
    k = t(f"fsub {t.V} {shifted}, {t.constant(ROUND)}")
    r = x
    for part in pi_half:
        r = t.fma(k, t.constant(-part), r)
    z = t.mul(r, r)
    s = t.fma(t.mul(r, z), _polynomial(t, SINE, z), r)
    one, half = t.constant(1.0), t.mul(z, t.constant(0.5))
    w = t(f"fsub {t.V} {one}, {half}")
    lost = t(f"fsub {t.V} {t(f'fsub {t.V} {one}, {w}')}, {half}")
    c = t.add(w, t.fma(t.mul(z, z), _polynomial(t, COSINE, z), lost))

    odd = t(f"icmp slt {t.I} {t(f'shl {t.I} {quadrant}, {whole(63)}')}, zeroinitializer")
    sine = t(f"select {t.B} {odd}, {t.V} {c}, {t.V} {s}")
    cosine = t(f"select {t.B} {odd}, {t.V} {s}, {t.V} {c}")
    return _signed(t, sine, quadrant), _signed(t, cosine, t(f"add {t.I} {quadrant}, {whole(1)}"))


def _polynomial(t: Text, coefficients: tuple[float, ...], z: str) -> str:
    """Horner's rule, highest power first."""
    value = t.constant(coefficients[0])
    for c in coefficients[1:]:
        value = t.fma(value, z, t.constant(c))
    return value


def _signed(t: Text, value: str, quadrant: str) -> str:
    """The value with its sign turned in quadrants 2 and 3."""
    turn = t(f"shl {t.I} {t(f'and {t.I} {quadrant}, {whole(2)}')}, {whole(62)}")
    pattern = t(f"bitcast {t.V} {value} to {t.I}")
    return t(f"bitcast {t.I} {t(f'xor {t.I} {pattern}, {turn}')} to {t.V}")
