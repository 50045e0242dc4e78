"""Kernels with loops that tapes call: against the same written out, against their own bodies in
CasADi, in lanes, with derivatives, across units.
"""

from __future__ import annotations

from typing import NamedTuple

import casadi as ca
import numpy as np
import pytest

from catena.compiler import looped, tape
from catena.compiler.lanes import compile_lanes
from catena.compiler.trace import entries, factored, matrix, smallest_change
from catena.kernels.rank import RANK
from catena.simulation.terms.contact_rows import independent_rows, weighted_forces

M, N, K = 15, 6, 1  # rows, speeds, rows that always hold


class Case(NamedTuple):
    """Rows of five contact points that stick or slip, consistent right sides, a mass matrix; of one
    body, whose lengths are in some unit.
    """

    B: np.ndarray
    F: np.ndarray
    W: np.ndarray
    a: np.ndarray
    gamma: np.ndarray
    z: np.ndarray
    weight: np.ndarray
    share: np.ndarray
    others: np.ndarray
    size: np.ndarray
    column: np.ndarray


def case(seed: int, on: int, unit: float = 1.0, mass: float = 1.0) -> Case:
    """on: points that touch, the first of which slips; four of them are one more than a body can
    feel.
    """
    rng = np.random.default_rng(seed)
    B = np.zeros((M, N))
    B[:, :3] = np.tile(np.eye(3)[[2, 0, 1]], (M // 3, 1))  # normal, tangents
    for k, p in enumerate(rng.uniform(-1.0, 1.0, (M // 3, 3)) * unit):
        B[3 * k : 3 * k + 3, 3:] = np.cross(p, B[3 * k : 3 * k + 3, :3])
    F = B.copy()
    F[0] -= 0.3 * B[1]
    root = rng.normal(size=(N, N)) + 2.0 * np.eye(N)
    scale = np.array([1.0] * 3 + [unit] * 3)
    W = np.linalg.inv(root @ root.T * mass * np.outer(scale, scale))
    z = np.repeat(np.arange(M // 3) < on, 3).astype(float)
    if on:
        z[1:3] = 0.0
    column = np.array([unit**2] * 3 + [1.0] * 3)
    others = np.zeros((K, N))
    others[0, 3] = 1.0  # it cannot turn about x
    a, wanted = (rng.normal(size=N) * [1, 1, 1, 0, 1 / unit, 1 / unit] for _ in range(2))
    return Case(
        B,
        F,
        W,
        a,
        B @ wanted,
        z,
        z * rng.uniform(0.5, 1.0, M),
        z * unit * rng.normal(size=M),
        others,
        np.array([unit**2] * M + [0.0]),
        column,
    )


def written_out(c: Case) -> np.ndarray:
    B, z = ca.SX(c.B), ca.SX(c.z)
    keep = independent_rows(B, z, ca.SX(c.others), c.size.tolist(), c.column)
    return np.array(
        ca.evalf(
            weighted_forces(
                B,
                ca.SX(c.W @ c.F.T),
                ca.SX(c.gamma - c.B @ c.a),
                keep,
                ca.SX(c.weight),
                ca.SX(c.share),
            )
        )
    ).ravel()


def tape_of(name: str, sizes: tuple[int, ...]) -> ca.Function:
    given = [
        ca.SX.sym(f"x{k}", *looped.function(name, *sizes).size_in(k))
        for k in range(looped.function(name, *sizes).n_in())
    ]
    return ca.Function("called", given, looped.call(name, sizes, *given))


def flat(cases: list) -> list[np.ndarray]:
    return [np.array([np.ravel(x) for x in column]) for column in zip(*cases)]


@pytest.mark.parametrize("width", [1, 4])
@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("mass", [1e-6, 1.0, 1e6])
def test_forces_are_those_written_out_in_any_unit(width: int, unit: float, mass: float) -> None:
    """As many states as lanes and one more, other rows on in each; none depends on its
    neighbours.
    """
    cases = [case(seed, on, unit, mass) for seed, on in enumerate((0, 1, 2, 3, 4))]
    kernel = compile_lanes(tape_of("row_forces", (M, N, K)), width=width)
    (found, along), finite = kernel(flat(cases), len(cases))
    assert finite and not found[0].any() and not along[0].any()
    for c, f, push in zip(cases, found, along):
        size = np.abs(f).max() + 1e-300
        assert f == pytest.approx(written_out(c), abs=1e-11 * size, rel=1e-9)
        assert f == pytest.approx(
            np.array(looped.function("row_forces", M, N, K)(*c)[0]).ravel(),
            abs=1e-11 * size,
            rel=1e-9,
        )
        assert push == pytest.approx(c.F.T @ f, rel=1e-9, abs=1e-12 * np.abs(c.F).max() * size)
        (alone, _), _ = kernel([np.ravel(x)[None] for x in c], 1)
        assert f.tolist() == alone[0].tolist()  # to the last digit


def test_forces_meet_their_rows_and_are_the_least() -> None:
    """Two points stick and one slips on a body that may turn about two axes: more forces than it
    can feel, S f = r and no smaller sum (f - share)^2 / weight.
    """
    c = case(7, 3)
    (found, _), _ = compile_lanes(tape_of("row_forces", (M, N, K)), width=1)(
        [np.ravel(x)[None] for x in c], 1
    )
    on, f = c.z > 0.5, found[0]
    S = (c.B @ c.W @ c.F.T)[np.ix_(on, on)]
    kept = written_out(c)  # which rows are kept is decided there, and these are met
    met = np.abs(S @ f[on] - (c.gamma - c.B @ c.a)[on]) < 1e-9
    assert met.sum() >= N - K and np.abs(S @ kept[on] - S @ f[on]).max() < 1e-9
    _, values, null = np.linalg.svd(S[met])
    loose = null[np.sum(values > 1e-9) :]
    assert len(loose) and np.abs(loose @ ((f - c.share)[on] / c.weight[on])).max() < 1e-9


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
def test_the_smallest_change_is_that_written_out(unit: float) -> None:
    cases = [case(seed, on, unit) for seed, on in enumerate((0, 1, 2, 3, 5))]
    kernel = compile_lanes(tape_of("row_change", (M, N)), width=4)
    given = []
    for c in cases:
        L = factored(entries(ca.SX(np.linalg.inv(c.W))))
        wanted, _ = smallest_change(
            L, ca.SX(np.diag(c.z) @ c.B), ca.SX(c.z * c.gamma), c.column, c.size[:M].tolist()
        )
        given.append(
            (
                c.B,
                np.array(ca.evalf(matrix(L))),
                c.gamma,
                c.z,
                c.size[:M],
                c.column,
                np.array(ca.evalf(wanted)).ravel(),
            )
        )
    (found,), _ = kernel(flat([g[:-1] for g in given]), len(cases))
    scale = np.array([1.0] * 3 + [unit] * 3)  # angular speeds times the unit are linear ones
    for (*rows, wanted), v in zip(given, found):
        assert scale * v == pytest.approx(scale * wanted, rel=1e-9, abs=1e-11)
        assert scale * v == pytest.approx(
            scale * np.array(looped.function("row_change", M, N)(*rows)).ravel(),
            rel=1e-9,
            abs=1e-11,
        )
        on = rows[3] > 0.5
        assert rows[0][on] @ v == pytest.approx(rows[2][on], rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(("tilt", "kept"), [(3.0, True), (0.3, False)])
def test_the_rank_is_decided_where_all_other_rows_are_decided(tilt: float, kept: bool) -> None:
    """A row nearer to the one after it than the threshold of `kernels.rank` says nothing new: then
    the one after it is met alone.
    """
    angle = np.sqrt(RANK) * tilt
    B = np.zeros((7, 2))
    B[0], B[1] = (np.cos(angle), np.sin(angle)), (1.0, 0.0)
    z = np.array([1.0, 1.0, 0, 0, 0, 0, 0])
    f = tape_of("row_change", (7, 2))
    (v,), _ = compile_lanes(f, width=1)(
        [np.ravel(x)[None] for x in (B, np.eye(2), z, z, np.ones(7), np.ones(2))], 1
    )
    assert v[0, 0] == pytest.approx(1.0) and (
        v[0, 1] == pytest.approx(np.tan(angle / 2)) if kept else v[0, 1] == 0.0
    )


def test_derivatives_are_those_of_the_body_and_of_differences() -> None:
    """Through a tape that calls both kernels: forward in machine code, where the calls' derivatives
    are written out, and backward.
    """
    c = case(3, 3)
    x = ca.SX.sym("x", N)
    d = ca.SX.sym("d", N)
    W = ca.SX(c.W) * (1.0 + ca.sumsqr(x))
    f, push = looped.call(
        "row_forces",
        (M, N, K),
        c.B,
        c.F,
        W,
        ca.sin(x),
        c.gamma,
        c.z,
        c.weight,
        c.share,
        c.others,
        c.size,
        c.column,
    )
    (v,) = looped.call(
        "row_change",
        (M, N),
        c.B,
        ca.diag(1.0 + x**2),
        ca.SX(c.gamma) + 0.1 * push[0],
        c.z,
        c.size[:M],
        c.column,
    )
    out = ca.vertcat(f, v)
    lam = ca.SX.sym("lam", M + N)
    forward = ca.Function("forward", [x, d], [ca.densify(ca.jtimes(out, x, d))])
    backward = ca.Function("backward", [x, lam], [ca.densify(ca.jtimes(out, x, lam, True))])
    rng = np.random.default_rng(2)
    at = rng.normal(size=(1, N))
    along = rng.normal(size=(1, N))
    dual = rng.normal(size=(1, M + N))
    (found,), _ = compile_lanes(forward, width=1)([at, along], 1)
    value = ca.Function("value", [x], [out])
    h = 1e-6
    differences = np.array(value(at + h * along) - value(at - h * along)).ravel() / (2 * h)
    assert found[0] == pytest.approx(differences, rel=1e-6, abs=1e-6) and np.abs(found).max() > 0.1
    assert dual[0] @ found[0] == pytest.approx(np.array(backward(at, dual)).ravel() @ along[0])


def test_a_call_is_one_node_and_can_be_written_out_and_kept() -> None:
    f = tape_of("row_change", (M, N))
    called = tape.read(f, calls=True)
    out = tape.read(f)
    assert [kernel.name for kernel in called.called] == ["row_change_15_6"] and not out.called
    assert (
        sum(node.op == "CALL" for node in called.nodes) == 1
        and sum(node.op == "RESULT" for node in called.nodes) == N
    )
    assert not {"CALL", "RESULT"} & {node.op for node in out.nodes} and len(out.nodes) > 5 * len(
        called.nodes
    )
    again = ca.Function.deserialize(f.serialize())
    assert tape.read(again, calls=True) == called


def test_what_is_not_finite_is_told_where_a_kernel_would_not_show_it() -> None:
    """An infinite entry of a row that is off."""
    c = case(1, 2)
    c.gamma[-1] = np.inf
    assert c.z[-1] == 0.0
    _, finite = compile_lanes(tape_of("row_forces", (M, N, K)), width=1)(
        [np.ravel(x)[None] for x in c], 1
    )
    assert not finite
