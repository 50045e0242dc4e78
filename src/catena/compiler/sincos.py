"""Sine and cosine in lanes, both at once, as LLVM text.

Reduction after Cody and Waite: k = round(2x/pi), r = x - k pi/2, with pi/2 in three or four parts
so that nothing is lost where r is small. Then fdlibm's minimax polynomials on |r| <= pi/4, with z =
r r:

    sin r = r + r z S(z)  cos r = 1 - z/2 + z z C(z)
            (what rounding took from 1 - z/2 is carried along)

The quadrant k mod 4 says which of the two is wanted and with which sign. Largest error found for
|x| <= LIMIT, in 14 million points, random and next to the multiples of pi/2: 1.50 units in the last
place, 1.18e-16 absolute, with fused multiply-add; 2.30 and 1.55e-16 without.

A lane beyond LIMIT, or infinite, goes through libm, by a branch that is hardly ever taken. The
other lanes of that vector keep the polynomials' values, because the result of a state must not
depend on the states in neighbouring lanes.
"""

from __future__ import annotations

import functools

from .text import Text, whole

LIMIT = 1e6  # rad: beyond it libm computes sine and cosine
INTERLEAVED = 3  # angles that are computed at once, so that the latency of one is used by others
PACKED = 8  # lanes for the angles of a single state

# pi/2 in parts of 53 bits, whose products with k are exact inside a fused multiply-add, and in
# parts of 33 bits, whose products with k < 2^20 are exact anyway; the sum of all parts is pi/2 to
# more than 100 bits
PI_HALF_FUSED = (1.5707963267948966, 6.123233995736765e-17, 1.0828566739219139e-32)
PI_HALF = (1.5707963267341256, 6.077100506303966e-11, 2.0222662487111665e-21, 8.4784276603689e-32)
TWO_OVER_PI = 0.6366197723675814
# adding it rounds to an integer, whose low bits are then the low bits of the sum
ROUND = 1.5 * 2.0**52

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


def write(t: Text, fused: bool, linkage: str = "internal ") -> None:
    """Write `void lanes_sines(ptr s, ptr c, i64 n)`: the n angles at s are replaced by their sines,
    and their cosines are stored at c.

    It needs libm's `sin` and `cos`. `fused`: whether the machine has fused multiply-add. The angles
    of a single lane are contiguous, and are packed into lanes of their own. linkage: of LLVM, empty
    where other modules call it.
    """
    pi_half = PI_HALF_FUSED if fused else PI_HALF
    if t.width > 1:
        _far(t)
        _in_lanes(t, pi_half, linkage)
    else:
        packed = Text(PACKED, "angles")
        packed.lines.append(
            f"declare {packed.V} @llvm.masked.load.v{PACKED}f64.p0(ptr, i32, {packed.B},"
            f" {packed.V})"
        )
        packed.lines.append(f"declare {packed.V} @llvm.fabs.v{PACKED}f64({packed.V})")
        _far(packed)
        _side_by_side(packed, pi_half, linkage)
        packed.table()
        t.lines += packed.lines
    t.lines.append('!0 = !{!"branch_weights", i32 1, i32 1000000}')


def _in_lanes(t: Text, pi_half: tuple[float, ...], linkage: str) -> None:
    """Write `lanes_sines` for angles [n][W]: INTERLEAVED vectors at a time, then the remaining
    ones.
    """
    with t.function(f"{linkage}void @lanes_sines(ptr noalias %s, ptr noalias %c, i64 %n) noinline"):
        rounds = t(f"sdiv i64 %n, {INTERLEAVED}")
        done = t(f"mul i64 {rounds}, {INTERLEAVED}")
        left = t(f"sub i64 %n, {done}")
        with t.when("several", t(f"icmp sgt i64 {rounds}, 0")), t.loop("round", rounds) as k:
            _angles(t, "several", t(f"mul i64 {k}, {INTERLEAVED}"), INTERLEAVED, pi_half)
        for count in range(1, INTERLEAVED):
            with t.when(f"left{count}", t(f"icmp eq i64 {left}, {count}")):
                _angles(t, f"last{count}", done, count, pi_half)
        t.do("ret void")


def _side_by_side(t: Text, pi_half: tuple[float, ...], linkage: str) -> None:
    """Write `lanes_sines` of angles [n]: W of them in the lanes; the last ones are read by a mask,
    and written one by one.
    """
    with t.function(f"{linkage}void @lanes_sines(ptr noalias %s, ptr noalias %c, i64 %n) noinline"):
        t.do(*(f"%{name} = alloca {t.V}, align 64" for name in ("sines", "cosines")))
        done = t(f"and i64 %n, {-t.width}")
        with (
            t.when("several", t(f"icmp sgt i64 {done}, 0")),
            t.loop("round", done, step=t.width) as k,
        ):
            places = [t.at(base, k, "double") for base in ("%s", "%c")]
            _store(t, "several", [places], [t.load(places[0])], pi_half)
        left = t(f"sub i64 %n, {done}")
        with t.when("last", t(f"icmp sgt i64 {left}, 0")):
            one = t(f"insertelement {t.I} poison, i64 {left}, i64 0")
            spread = t(
                f"shufflevector {t.I} {one}, {t.I} poison, <{t.width} x i32> zeroinitializer"
            )
            mask = t(f"icmp slt {t.I} <{', '.join(f'i64 {k}' for k in range(t.width))}>, {spread}")
            ends = [t.at(base, done, "double") for base in ("%s", "%c")]
            angles = t(
                f"call {t.V} @llvm.masked.load.v{t.width}f64.p0(ptr {ends[0]}, i32 8, {t.B} {mask},"
                f" {t.V} zeroinitializer)"
            )
            _store(t, "last", [["%sines", "%cosines"]], [angles], pi_half)
            with t.loop("each", left) as k:
                for source, end in zip(("%sines", "%cosines"), ends):
                    t.store(t.load(source, k, "double"), end, k, "double")
        t.do("ret void")


def _far(t: Text) -> None:
    """Write the code for lanes beyond the range of the polynomials: they call libm one by one; the
    others keep their values.
    """
    with t.function(
        f"internal void @lanes_sincos_far(ptr %s, ptr %c, {t.V} %x, {t.V} %near_s, {t.V} %near_c,"
        f" {t.B} %far) cold noinline"
    ):
        for name, function in (("s", "sin"), ("c", "cos")):
            exact = "poison"
            for l in range(t.width):
                value = t(
                    f"call double @{function}(double {t(f'extractelement {t.V} %x, i64 {l}')})"
                )
                exact = t(f"insertelement {t.V} {exact}, double {value}, i64 {l}")
            t.store(t(f"select {t.B} %far, {t.V} {exact}, {t.V} %near_{name}"), f"%{name}")
        t.do("ret void")


def _angles(t: Text, name: str, first: str, count: int, pi_half: tuple[float, ...]) -> None:
    """Write the code for several angles, interleaved, from the first on."""
    places = [[t.at(t.at(base, first), n) for base in ("%s", "%c")] for n in range(count)]
    _store(t, name, places, [t.load(p) for p, _ in places], pi_half)


def _store(
    t: Text, name: str, places: list[list[str]], x: list[str], pi_half: tuple[float, ...]
) -> None:
    """Store sines and cosines of angles at their addresses."""
    near = _near(t, x, pi_half)
    for pair, values in zip(places, near):
        for p, value in zip(pair, values):
            t.store(value, p)
    limit = t.constant(LIMIT)
    far = [
        t(f"fcmp ogt {t.V} {t(f'call {t.V} @llvm.fabs.v{t.width}f64({t.V} {each})')}, {limit}")
        for each in x
    ]
    some = functools.reduce(lambda a, b: t(f"or {t.B} {a}, {b}"), far)
    mask = t(f"bitcast {t.B} {some} to i{t.width}")
    with t.when(f"{name}.far", t(f"icmp ne i{t.width} {mask}, 0"), ", !prof !0"):
        for (s, c), angle, (sine, cosine), beyond in zip(places, x, near, far):
            t.do(
                f"call void @lanes_sincos_far(ptr {s}, ptr {c}, {t.V} {angle}, {t.V} {sine}, {t.V}"
                f" {cosine}, {t.B} {beyond})"
            )


def _near(t: Text, x: list[str], pi_half: tuple[float, ...]) -> list[tuple[str, str]]:
    """Return sines and cosines for |x| <= LIMIT; NaN stays NaN, and larger angles give wrong
    values.
    """
    shifted = _fma(t, x, TWO_OVER_PI, [t.constant(ROUND)] * len(x))
    quadrant = [t(f"bitcast {t.V} {each} to {t.I}") for each in shifted]
    k = [t(f"fsub {t.V} {each}, {t.constant(ROUND)}") for each in shifted]
    r = x
    for part in pi_half:
        r = _fma(t, k, -part, r)
    z = [t.mul(each, each) for each in r]
    S = _polynomial(t, SINE, z)
    C = _polynomial(t, COSINE, z)
    s = [t.fma(t.mul(a, b), p, a) for a, b, p in zip(r, z, S)]
    one = t.constant(1.0)
    w = _fma(t, z, -0.5, [one] * len(x))
    lost = _fma(t, z, -0.5, [t(f"fsub {t.V} {one}, {each}") for each in w])
    c = [t.add(a, t.fma(t.mul(b, b), p, l)) for a, b, p, l in zip(w, z, C, lost)]
    return [_turned(t, *each) for each in zip(quadrant, s, c)]


def _turned(t: Text, quadrant: str, s: str, c: str) -> tuple[str, str]:
    """Return sine and cosine of the angle, from those of the reduced angle and its quadrant."""
    odd = t(f"icmp slt {t.I} {t(f'shl {t.I} {quadrant}, {whole(63)}')}, zeroinitializer")
    sine = t(f"select {t.B} {odd}, {t.V} {c}, {t.V} {s}")
    cosine = t(f"select {t.B} {odd}, {t.V} {s}, {t.V} {c}")
    # the sine turns its sign in quadrants 2 and 3, the cosine one quadrant earlier
    low = t(f"shl {t.I} {quadrant}, {whole(62)}")
    return _signed(t, sine, low), _signed(t, cosine, t(f"add {t.I} {low}, {whole(1 << 62)}"))


def _fma(t: Text, a: list[str], b: float, c: list[str]) -> list[str]:
    """Write a fused multiply-add for each angle, and return the sums a b + c."""
    factor = t.constant(b)
    return [t.fma(x, factor, y) for x, y in zip(a, c)]


def _polynomial(t: Text, coefficients: tuple[float, ...], z: list[str]) -> list[str]:
    """Return a polynomial by Horner's rule, highest power first."""
    value = [t.constant(coefficients[0])] * len(z)
    for c in coefficients[1:]:
        term = t.constant(c)
        value = [t.fma(v, each, term) for v, each in zip(value, z)]
    return value


def _signed(t: Text, value: str, sign: str) -> str:
    """Return the value, negated where the highest bit of `sign` is set."""
    turn = t(f"and {t.I} {sign}, {whole(-(1 << 63))}")
    pattern = t(f"bitcast {t.V} {value} to {t.I}")
    return t(f"bitcast {t.I} {t(f'xor {t.I} {pattern}, {turn}')} to {t.V}")
