"""Machine code over lanes: every operation against CasADi's own evaluation, every size of batch,
every way to call.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import casadi as ca
import numpy as np
import pytest

import catena
from catena.compiler import emit, host, lanes, operations, sincos, tape
from catena.compiler.lanes import compile_lanes
from catena.compiler.machine_function import call_block, machine_function
from catena.errors import CompileError, StateError
from catena.machine import lanes_life
from catena.machine.quantities import find

X, Y = ca.SX.sym("x"), ca.SX.sym("y")
ANY = np.array([-2.5, -1.0, -0.3, -0.0, 0.0, 0.3, 1.0, 2.5, 7.0, np.nan, np.inf, -np.inf])
POSITIVE = np.array([1e-3, 0.5, 1.0, 3.0, 40.0])
UNIT = np.linspace(-0.99, 0.99, 9)
ABOVE_ONE = np.linspace(1.0, 9.0, 7)
MODERATE = np.linspace(-6.0, 6.0, 13)

UNARY = {  # operation: its expression, where it is tried
    "NEG": (-X, ANY),
    "SQ": (X * X, ANY),
    "TWICE": (2 * X, ANY),
    "INV": (1 / X, ANY),
    "SQRT": (ca.sqrt(X), POSITIVE),
    "FABS": (ca.fabs(X), ANY),
    "FLOOR": (ca.floor(X), ANY),
    "CEIL": (ca.ceil(X), ANY),
    "SIGN": (ca.sign(X), ANY),
    "NOT": (ca.logic_not(X), ANY),
    "EXP": (ca.exp(X), ANY),
    "LOG": (ca.log(X), POSITIVE),
    "LOG1P": (ca.log1p(X), POSITIVE),
    "EXPM1": (ca.expm1(X), ANY),
    "SIN": (ca.sin(X), ANY),
    "COS": (ca.cos(X), ANY),
    "TAN": (ca.tan(X), MODERATE),
    "ASIN": (ca.asin(X), UNIT),
    "ACOS": (ca.acos(X), UNIT),
    "ATAN": (ca.atan(X), ANY),
    "SINH": (ca.sinh(X), ANY),
    "COSH": (ca.cosh(X), ANY),
    "TANH": (ca.tanh(X), ANY),
    "ASINH": (ca.asinh(X), ANY),
    "ACOSH": (ca.acosh(X), ABOVE_ONE),
    "ATANH": (ca.atanh(X), UNIT),
    "ERF": (ca.erf(X), ANY),
    "CONSTPOW": (X**2.5, POSITIVE),
}
BINARY = {
    "ADD": X + Y,
    "SUB": X - Y,
    "MUL": X * Y,
    "DIV": X / Y,
    "LT": X < Y,
    "LE": X <= Y,
    "EQ": X == Y,
    "NE": X != Y,
    "AND": ca.logic_and(X, Y),
    "OR": ca.logic_or(X, Y),
    "IF_ELSE_ZERO": ca.if_else(X, Y, 0),
    "FMIN": ca.fmin(X, Y),
    "FMAX": ca.fmax(X, Y),
    "COPYSIGN": ca.copysign(X, Y),
    "POW": X**Y,
    "ATAN2": ca.atan2(X, Y),
    "FMOD": ca.fmod(X, Y),
    "HYPOT": ca.hypot(X, Y),
    "REMAINDER": ca.remainder(X, Y),
}
EXACT = {
    "FABS",
    "FLOOR",
    "CEIL",
    "SIGN",
    "NOT",
    "LT",
    "LE",
    "EQ",
    "NE",
    "AND",
    "OR",
    "FMIN",
    "FMAX",
    "COPYSIGN",
}


def by_casadi(f: ca.Function, inputs: list[np.ndarray], batch: int) -> list[np.ndarray]:
    """The same function, one state after the other, by CasADi's interpreter; matrices flat by
    rows.
    """
    rows = []
    for i in range(batch):
        arguments = [x if x.ndim == 1 else x[i] for x in inputs]
        shaped = [a.reshape(f.size_in(k)) for k, a in enumerate(arguments)]
        rows.append([np.array(y).ravel() for y in f.call([ca.DM(a) for a in shaped])])
    return [np.array([row[k] for row in rows]).reshape(batch, -1) for k in range(f.n_out())]


def chain(links: int) -> ca.Function:
    """A tape with the shape of a recursion: angles, products along a chain, forces on the way back;
    two outputs.
    """
    q = ca.SX.sym("q", links)
    v = ca.SX.sym("v", links)
    g = ca.SX.sym("g")
    speed, bodies = ca.SX.zeros(2), []
    for k in range(links):
        c, s = ca.cos(q[k]), ca.sin(q[k])
        speed = ca.vertcat(
            c * speed[0] + s * speed[1], c * speed[1] - s * speed[0] + v[k] * (1 + 0.1 * k)
        )
        bodies.append((c, s, speed * v[k] + ca.vertcat(0, g * c)))
    force, torque = ca.SX.zeros(2), []
    for c, s, f in reversed(bodies):
        force = (
            ca.vertcat(c * force[0] - s * force[1], s * force[0] + c * force[1]) / (1 + g**2) + f
        )
        torque.append(force[0] + force[1])
    return ca.Function("chain", [q, v, g], [ca.vertcat(*torque), ca.mtimes(speed, v[:3].T)])


def states(f: ca.Function, batch: int, seed: int = 0) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.standard_normal((batch, f.numel_in(k))) for k in range(f.n_in())]


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("CATENA_CACHE_DIR", str(tmp_path / "cache"))


# --- operations


def test_every_supported_operation_is_tried():
    assert {*UNARY, *BINARY} == operations.SUPPORTED - {"ASSIGN", "CONST", "INPUT", "OUTPUT"}


@pytest.mark.parametrize("width", [1, 2, 4, 8])
def test_every_operation_agrees_with_casadi(width):
    """One function with an output for each operation, on a grid of points; NaN and infinity behave
    alike.
    """
    unary = {op: ca.Function(op, [X], [e]) for op, (e, _) in UNARY.items()}
    binary = {op: ca.Function(op, [X, Y], [e]) for op, e in BINARY.items()}
    for op, f in (unary | binary).items():
        assert op in {node.op for node in tape.read(f).nodes}, op
    one = compile_lanes(
        ca.Function("unary", [X], [ca.vertcat(*(e for e, _ in UNARY.values()))]), width=width
    )
    two = compile_lanes(ca.Function("binary", [X, Y], [ca.vertcat(*BINARY.values())]), width=width)
    for k, (op, (_, points)) in enumerate(UNARY.items()):
        (got,), _ = one([points.reshape(-1, 1)], len(points))
        expected = np.array([float(unary[op](p)) for p in points])
        np.testing.assert_allclose(
            got[:, k], expected, rtol=0 if op in EXACT else 1e-15, atol=3e-16, err_msg=op
        )
    x, y = (a.reshape(-1, 1).copy() for a in np.meshgrid(ANY, ANY))
    (got,), _ = two([x, y], len(x))
    for k, (op, f) in enumerate(binary.items()):
        expected = np.array([float(f(a, b)) for a, b in zip(x[:, 0], y[:, 0])])
        np.testing.assert_allclose(
            got[:, k], expected, rtol=0 if op in EXACT else 1e-15, atol=3e-16, err_msg=op
        )


def test_constants_and_copies():
    """Outputs that are constants (NaN among them), bare inputs, or the same value twice."""
    e = ca.vertcat(0.0, -0.0, np.nan, np.inf, 1e-310, X, X, 3.5, X + 1, X + 1)
    (y,), finite = compile_lanes(ca.Function("f", [X], [e]))([np.array([[2.0], [3.0]])], 2)
    expected = [[0.0, -0.0, np.nan, np.inf, 1e-310, x, x, 3.5, x + 1, x + 1] for x in (2.0, 3.0)]
    np.testing.assert_array_equal(y, expected)
    assert not finite


def test_what_cannot_be_compiled_is_named():
    with pytest.raises(
        CompileError, match=r"'f' uses ERFINV, which cannot be done in lanes; what can: .*SQRT"
    ):
        compile_lanes(ca.Function("f", [X], [ca.erfinv(X)]))
    with pytest.raises(CompileError, match="'g' has sparse arguments: o0; densify"):
        compile_lanes(ca.Function("g", [X], [ca.diag(ca.vertcat(X, X))]))
    m = ca.MX.sym("m")
    with pytest.raises(
        CompileError, match=r"'h' is a MXFunction; only SX functions become lanes: call \.expand"
    ):
        compile_lanes(ca.Function("h", [m], [m + 1]))
    with pytest.raises(
        CompileError, match="lanes of 3 states were asked; the width is a power of two"
    ):
        compile_lanes(ca.Function("f", [X], [X]), width=3)


# --- sine and cosine


@pytest.fixture(scope="module")
def circle():
    return compile_lanes(
        ca.Function("circle", [X], [ca.vertcat(ca.sin(X), ca.cos(X))]), cache=False
    )


@pytest.mark.parametrize("reach", [0.8, 4.0, 1e3, 1e5, sincos.LIMIT])
def test_sine_and_cosine_are_accurate(circle, reach):
    """Against extended precision: 1.5 units in the last place, also beside the multiples of pi/2
    (2.5 without FMA).
    """
    if np.finfo(np.longdouble).nmant < 63:
        pytest.skip("no extended precision to compare with")
    rng = np.random.default_rng(1)
    k = rng.integers(1, max(2, int(reach / np.pi * 2)), 20_000) * (np.pi / 2)
    x = np.concatenate(
        [
            rng.uniform(-reach, reach, 200_000),
            k,
            np.nextafter(k, 0),
            k + 1e-7 * rng.standard_normal(k.size),
        ]
    )
    (got,), finite = circle([x.reshape(-1, 1)], x.size)
    assert finite
    exact = np.stack([np.sin(x.astype(np.longdouble)), np.cos(x.astype(np.longdouble))], axis=1)
    error = np.abs(got - exact)
    ulp = np.spacing(np.abs(exact.astype(float)))
    assert (error / ulp).max() < (1.6 if host.has_fma() else 2.6)
    assert error.max() < (1.3e-16 if host.has_fma() else 1.8e-16)


def test_far_and_odd_angles(circle):
    """Huge angles go to libm, lane by lane; their neighbours keep every bit."""
    near = np.array([0.3, -0.0, 2.0, 1e5])
    odd = np.array([1e22, -3e8, np.inf, np.nan, sincos.LIMIT * 1.001, 1.7e308])
    (alone,), _ = circle([near.reshape(-1, 1)], 4)
    for x in odd:
        mixed = np.array([*near[:2], x, *near[2:], x, x])
        (got,), finite = circle([mixed.reshape(-1, 1)], mixed.size)
        np.testing.assert_array_equal(got[[0, 1, 3, 4]], alone)
        with np.errstate(invalid="ignore"):
            np.testing.assert_allclose(got[2], [np.sin(x), np.cos(x)], rtol=1e-15)
        assert finite == bool(np.isfinite(x))


def test_sines_of_sines():
    """Angles that depend on sines of other angles come in levels; equal angles are computed
    once.
    """
    e = ca.sin(ca.cos(X) + ca.sin(ca.sin(X) * Y)) + ca.cos(ca.sin(X) * Y)
    f = ca.Function("f", [X, Y], [e, ca.sin(X), ca.cos(Y)])
    groups = [
        step.angles
        for chunk in tape.plan(tape.read(f)).chunks
        for step in chunk
        if isinstance(step, tape.Angles)
    ]
    assert [len(g) for g in groups] == [2, 1, 1]
    inputs = states(f, 9)
    for got, expected in zip(compile_lanes(f)(inputs, 9)[0], by_casadi(f, inputs, 9)):
        np.testing.assert_allclose(got, expected, atol=1e-15)


# --- batches


@pytest.mark.parametrize("width", [1, 2, 4, 8])
def test_every_size_of_batch(width):
    """Each batch from 1 to 17, and a state gives the same bits wherever it stands."""
    f = chain(5)
    kernel = compile_lanes(f, width=width)
    inputs = states(f, 17)
    expected = by_casadi(f, inputs, 17)
    whole, _ = kernel(inputs, 17)
    for batch in range(1, 18):
        outs, finite = kernel([x[17 - batch :].copy() for x in inputs], batch)
        assert finite
        for got, reference, bits in zip(outs, expected, whole):
            np.testing.assert_allclose(got, reference[17 - batch :], rtol=1e-13, atol=1e-14)
            np.testing.assert_array_equal(got, bits[17 - batch :])


@pytest.mark.parametrize("width", [1, 2, 4, 8])
@pytest.mark.parametrize("sizes", [(1, 1), (2, 3), (5, 6), (7, 9), (17, 16), (13, 33), (40, 128)])
def test_rows_and_lanes(sizes, width):
    """The transposition in and out: tiles written out and in a loop, overlapping ones, pairs,
    single columns, rows in halves.
    """
    a = ca.SX.sym("a", sizes[0])
    b = ca.SX.sym("b", sizes[1])
    kernel = compile_lanes(ca.Function("f", [a, b], [2 * b, a, ca.sum1(a) + b]), width=width)
    x = np.arange(9.0 * sizes[0]).reshape(9, -1)
    y = -np.arange(9.0 * sizes[1]).reshape(9, -1)
    # nothing may be written outside the rows of the batch
    fences = [np.full((11, n), -0.5) for n in kernel.output_sizes]
    (twice, same, total), _ = kernel([x, y], 9, [fence[1:10] for fence in fences])
    np.testing.assert_array_equal(twice, 2 * y)
    np.testing.assert_array_equal(same, x)
    np.testing.assert_array_equal(total, x.sum(axis=1, keepdims=True) + y)
    assert all((fence[[0, 10]] == -0.5).all() for fence in fences)


def test_matrices_are_flat_by_rows():
    a = ca.SX.sym("a", 2, 3)
    b = ca.SX.sym("b", 3, 4)
    kernel = compile_lanes(ca.Function("product", [a, b], [a @ b, b.T, ca.sum1(a)]))
    assert kernel.input_shapes == ((2, 3), (3, 4)) and kernel.output_shapes == (
        (2, 4),
        (4, 3),
        (1, 3),
    )
    assert kernel.input_sizes == (6, 12) and kernel.output_sizes == (8, 12, 3)
    rng = np.random.default_rng(2)
    A = rng.standard_normal((7, 2, 3))
    B = rng.standard_normal((7, 3, 4))
    (product, transposed, total), _ = kernel([A.reshape(7, 6), B.reshape(7, 12)], 7)
    np.testing.assert_allclose(product.reshape(7, 2, 4), A @ B, atol=1e-14)
    np.testing.assert_array_equal(transposed.reshape(7, 4, 3), B.swapaxes(1, 2))
    np.testing.assert_allclose(total.reshape(7, 1, 3), A.sum(axis=1, keepdims=True), atol=1e-15)


def test_one_row_for_all_states():
    f = chain(4)
    kernel, (q, v, g) = compile_lanes(f), states(f, 11)
    alike, _ = kernel([q, v[0], g[0]], 11)
    repeated, _ = kernel([q, np.tile(v[0], (11, 1)), np.tile(g[0], (11, 1))], 11)
    for got, expected in zip(alike, repeated):
        np.testing.assert_array_equal(got, expected)


def test_results_go_where_they_are_wanted():
    """Given outputs are written; inputs may be read-only; empty arguments and empty batches are
    nothing special.
    """
    x = ca.SX.sym("x", 3)
    nothing = ca.SX.sym("n", 0)
    kernel = compile_lanes(ca.Function("f", [x, nothing], [2 * x, nothing]))
    data = np.arange(15.0).reshape(5, 3)
    data.flags.writeable = False
    given = [np.zeros((5, 3)), np.zeros((5, 0))]
    outs, finite = kernel([data, np.zeros((5, 0))], 5, given)
    assert outs[0] is given[0] and finite
    np.testing.assert_array_equal(given[0], 2 * data)
    outs, finite = kernel([np.zeros((0, 3)), np.zeros((0, 0))], 0)
    assert outs[0].shape == (0, 3) and finite


def test_wrong_arrays_are_refused():
    kernel = compile_lanes(chain(3))
    q, v, g = states(chain(3), 4)
    with pytest.raises(StateError, match=r"has shape \(4, 2\); it must be \(4, 3\) or \(3,\)"):
        kernel([q[:, :2], v, g], 4)
    with pytest.raises(StateError, match="2 inputs and 2 outputs"):
        kernel([q, v], 4)
    with pytest.raises(StateError, match=r"float32.*must be C-contiguous float64"):
        kernel([q.astype(np.float32), v, g], 4)
    with pytest.raises(StateError, match="must be C-contiguous float64"):
        kernel([np.asfortranarray(q), v, g], 4)
    with pytest.raises(StateError, match=r"output of .*chain.* has shape \(4, 9\)"):
        kernel([q, v, g], 4, [np.empty((4, 9)), np.empty((4, 6))])
    frozen = np.empty((4, 3))
    frozen.flags.writeable = False
    with pytest.raises(StateError, match="and writable"):
        kernel([q, v, g], 4, [frozen, np.empty((4, 6))])


@pytest.mark.parametrize("count", [7, 19, 128])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_noticed(bad, count):
    """In any state, any output, any place; and not when everything is finite, however large."""
    x = ca.SX.sym("x", count)
    kernel = compile_lanes(ca.Function("f", [x], [x] if count == 128 else [x[:3], x[3:]]))
    fine = np.full((10, count), 1.7e308)
    assert kernel([fine], 10)[1]
    for state in range(10):
        for entry in range(count):
            spoiled = fine.copy()
            spoiled[state, entry] = bad
            assert not kernel([spoiled], 10)[1]


@pytest.mark.parametrize("threads", [2, 3, 7])
def test_threads_change_nothing(monkeypatch, threads):
    monkeypatch.setattr(lanes, "WORTH_A_THREAD", 1000)
    f = chain(6)
    kernel = compile_lanes(f)
    for batch in (1, 5, 64, 1001):
        inputs = states(f, batch)
        alone, _ = kernel(inputs, batch)
        shared, finite = kernel(inputs, batch, threads=threads)
        assert finite
        for a, b in zip(alone, shared):
            np.testing.assert_array_equal(a, b)
    inputs[0][-1, 0] = np.nan
    assert not kernel(inputs, batch, threads=threads)[1]


# --- two tiers


def every_operation() -> ca.Function:
    return ca.Function(
        "all", [ca.vertcat(X, Y)], [ca.vertcat(*(f for f, _ in UNARY.values()), *BINARY.values())]
    )


def of_a_mechanism(name: str, quantity: str) -> ca.Function:
    return lanes_life.tape(catena.compile(catena.load(name)).spec, find(quantity))


TIERS = {
    "operations": every_operation,
    "chain": lambda: chain(12),
    "tree": lambda: of_a_mechanism("every_joint", "inverse_dynamics"),
    "loop": lambda: of_a_mechanism("slider_crank", "forward_dynamics"),
}


@pytest.mark.parametrize("width", [1, 2, 8])
@pytest.mark.parametrize("name", TIERS)
def test_quick_code_has_the_bits_of_optimised_code(name, width):
    """A run may begin with one and go on with the other, in this process or in the next."""
    f = TIERS[name]()
    inputs, batch = states(f, 50), 50
    quick, optimised = (
        lanes._of(f, width, lanes.object_code(f, width, quick=tier))(inputs, batch)[0]
        for tier in (True, False)
    )
    for a, b in zip(quick, optimised):
        np.testing.assert_array_equal(a, b)


def test_code_that_runs_for_long_is_optimised_once(monkeypatch):
    monkeypatch.setattr(lanes, "WORTH_OPTIMISING", 100)
    tiers: list[bool] = []
    monkeypatch.setattr(
        lanes,
        "object_code",
        lambda *a, quick=False, make=lanes.object_code, **k: (
            tiers.append(quick) or make(*a, quick=quick, **k)
        ),
    )
    f = chain(5)
    kernel = compile_lanes(f, width=4)
    inputs = states(f, 100)
    first, (few, _) = kernel.block_address, kernel(inputs, 100)
    assert kernel.block_address == first and tiers == [True]
    kernel.used(1000)  # a driver's evaluations
    assert kernel.block_address != first and tiers == [True, False]
    kernel.used(1e9)
    for a, b in zip(few, kernel(inputs, 100)[0]):
        np.testing.assert_array_equal(a, b)
    again = compile_lanes(f, width=4)  # finds the optimised code
    again.used(1e9)
    assert tiers == [True, False]


def test_threads_that_run_while_code_is_optimised_do_not_notice(monkeypatch):
    monkeypatch.setattr(lanes, "WORTH_OPTIMISING", 200)
    f = chain(5)
    kernel = compile_lanes(f, width=4)
    inputs = states(f, 200)
    wanted = compile_lanes(f, width=4, quick=False)(inputs, 200)[0]
    with ThreadPoolExecutor(4) as pool:
        for found, _ in pool.map(lambda _: kernel(inputs, 200), range(40)):
            for a, b in zip(found, wanted):
                np.testing.assert_array_equal(a, b)


# --- long tapes


@pytest.mark.parametrize("chunk", [1, 7, 60])
def test_cutting_a_tape_changes_nothing_but_rounding(chunk):
    """A product and a sum that a cut separates are not fused, hence the tolerance."""
    f = chain(12)
    whole, cut = (lanes._of(f, 4, lanes.object_code(f, 4, size), None) for size in (10**9, chunk))
    inputs = states(f, 6)
    for a, b in zip(whole(inputs, 6)[0], cut(inputs, 6)[0]):
        np.testing.assert_allclose(a, b, rtol=1e-13, atol=1e-14)


def test_blocks_that_share_a_piece_of_code_change_nothing(monkeypatch):
    """A cut tape takes several blocks of lanes through each piece: every bit is as if a state were
    alone, whoever its neighbours are and however many threads there are; also where one row serves
    all states.
    """
    monkeypatch.setattr(lanes, "WORTH_A_THREAD", 1000)
    f, most = chain(12), 4 * emit.BLOCKS
    kernel = lanes._of(f, 4, lanes.object_code(f, 4, 60), None)
    q, v, g = states(f, 2 * most + 3)
    whole, _ = kernel([q, v, g[0]], len(q))
    for batch in (1, 5, most - 1, most, most + 1, 2 * most + 2):
        for threads in (1, 3):
            for a, b in zip(
                kernel([q[-batch:].copy(), v[-batch:].copy(), g[0]], batch, threads=threads)[0],
                whole,
            ):
                np.testing.assert_array_equal(a, b[-batch:])


def test_a_divisor_is_inverted_once():
    f = ca.Function("f", [X, Y], [ca.vertcat(X / Y, (X + 1) / Y, 1 / Y, Y / X)])
    ops = [node.op for node in tape.read(f).nodes]
    assert ops.count("DIV") + ops.count("INV") == 3  # by y, by y where it stands alone, by x
    inputs = states(f, 5)
    np.testing.assert_allclose(
        compile_lanes(f)(inputs, 5)[0][0], by_casadi(f, inputs, 5)[0], rtol=4e-16
    )


def test_slots_are_used_again():
    """A work array of slots for what is alive, not for all that crosses a cut."""
    nodes = tape.read(chain(80))
    plan = tape.plan(nodes, 40)
    crossing = set(plan.slots) - {
        n for n, node in enumerate(nodes.nodes) if node.op in ("SIN", "COS")
    }
    assert len(plan.chunks) > 20 and max(map(len, plan.chunks)) <= 40
    assert plan.n_slots < 2 * 80 + len(crossing)


def test_large_work_memory_comes_from_the_heap():
    x = ca.SX.sym("x", 2000)
    angles = np.linspace(0, 1, 6000)
    kernel = compile_lanes(ca.Function("f", [x], [ca.sin(x)]))
    assert 8 * kernel.width * 4000 > emit.MAX_STACK
    (y,), finite = kernel([angles.reshape(3, -1)], 3)
    np.testing.assert_allclose(y.ravel(), np.sin(angles), atol=3e-16)
    assert finite


# --- other ways


@machine_function()
def call_often(address, x, y, times):
    for _ in range(times):
        call_block(address, x, y)
        for l in range(x.shape[1]):
            x[0, l] += y[0, l]


@pytest.mark.parametrize("width", [1, 2, 4, 8])
def test_blocks_are_called_from_machine_functions(width):
    """One compiled driver serves every kernel: the address is a value."""
    x = ca.SX.sym("x", 2)
    for factor in (2.0, -3.0):
        kernel = compile_lanes(
            ca.Function("f", [x], [factor * x[0] + x[1], ca.sin(x[1])]), width=width
        )
        memory = np.arange(2.0 * width).reshape(2, width)
        result = np.zeros((2, width))
        expected = memory.copy()
        out = None
        call_often(kernel.block_address, memory, result, 3)
        for _ in range(3):
            out = factor * expected[0] + expected[1]
            expected[0] += out
        np.testing.assert_allclose(result[0], out, rtol=1e-14)
        np.testing.assert_allclose(result[1], np.sin(expected[1]), atol=3e-16)
        np.testing.assert_allclose(memory, expected, rtol=1e-14)
    assert len(call_often._codes) == 1


def test_one_lane_if_several_fail(monkeypatch):
    assemble = host.assemble

    def fail_on_vectors(text, **options):
        if "<1 x double>" not in text:
            raise RuntimeError("no vectors today")
        return assemble(text)

    monkeypatch.setattr(host, "assemble", fail_on_vectors)
    f = ca.Function("f", [X], [X + 1])
    with pytest.warns(
        UserWarning, match="'f' is compiled to one lane only, not 4: no vectors today"
    ):
        kernel = compile_lanes(f, width=4, cache=False)
    assert kernel.width == 1 and kernel([np.array([[1.0], [2.0]])], 2)[0][0].tolist() == [
        [2.0],
        [3.0],
    ]
    monkeypatch.setattr(
        host,
        "assemble",
        lambda text, **options: (_ for _ in ()).throw(RuntimeError("nothing at all")),
    )
    with pytest.raises(CompileError, match="LLVM cannot compile function 'f': nothing at all"):
        compile_lanes(f, width=4, cache=False)


def test_a_kernel_says_what_it_is():
    kernel = compile_lanes(chain(3), width=2)
    assert repr(kernel) == "<LaneKernel chain: (3x1, 3x1, 1x1) -> (3x1, 2x3), 2 lanes>"
    assert kernel.name == "chain" and host.default_width() in (2, 4, 8)


@pytest.mark.parametrize(("n", "width"), [(70, 8), (256, 8), (91, 4), (128, 2), (33, 1)])
def test_runs_of_zeros_are_written_without_being_read(n: int, width: int) -> None:
    """Rows with a few entries that are not zero, in tiles, at the edges of runs and in the rest;
    memory that held something else.
    """
    x = ca.SX.sym("x", 3)
    y = ca.SX.zeros(n)
    rng = np.random.default_rng(n)
    for i in rng.choice(n, 6, replace=False):
        y[i] = x[int(i) % 3] + int(i)
    y[n - 2] = -3.0
    f = ca.Function("f", [x], [ca.densify(y), 2 * x])
    kernel = compile_lanes(f, width=width, cache=False)
    for batch in (1, 3, 17):
        given = rng.standard_normal((batch, 3))
        outs = [np.full((batch, n), np.nan), np.full((batch, 3), np.nan)]
        found, finite = kernel([given], batch, outs)
        assert finite
        for ours, theirs in zip(found, by_casadi(f, [given], batch)):
            np.testing.assert_array_equal(ours, theirs)
