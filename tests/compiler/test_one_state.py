"""The call for one state: what it takes, what it leaves to the long way, and that it leaks nothing."""

from __future__ import annotations

import gc
import sys
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import catena
import zoo
from catena.compiler import cache, fastcall, numba_cache, one_state
from catena.errors import StateError

QUANTITIES = {"inverse_dynamics": 3, "forward_dynamics": 3, "mass_matrix": 1, "bias": 2, "gravity": 1}


@pytest.fixture(scope="module")
def machine() -> catena.Machine:
    return catena.compile(zoo.random_tree(5, ("ball", "revolute", "prismatic", "universal", "revolute")), threads=1)


def given(machine: catena.Machine, count: int) -> list[np.ndarray]:
    rng = np.random.default_rng(3)
    return [machine.sample(rng), rng.standard_normal(machine.nv), rng.standard_normal(machine.nv)][:count]


@pytest.mark.parametrize("quantity", QUANTITIES)
def test_it_answers_what_the_rows_answer(machine, quantity):
    assert fastcall.available()
    x = given(machine, QUANTITIES[quantity])
    one = getattr(machine, f"_one_{quantity}")(*x)
    assert type(one) is np.ndarray and one.flags.owndata and one.flags.writeable
    np.testing.assert_allclose(one, getattr(machine, quantity)(*(y[None] for y in x))[0], rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize(
    "changed",
    [
        lambda q: q[None], lambda q: q[:-1], lambda q: q.astype(np.float32), lambda q: list(q), lambda q: np.repeat(q, 2)[::2],
        lambda q: q.view(type("Own", (np.ndarray,), {})), lambda q: np.full_like(q, np.nan), lambda q: None, lambda q: q.astype(">f8"),
        lambda q: 1.001 * q,  # its quaternion is not of length one
        lambda q: np.frombuffer(b"\0" + q.tobytes(), "u1")[1:].view("f8"),
    ],
)  # fmt: skip
def test_what_is_not_a_plain_good_vector_goes_the_long_way(machine, changed):
    q, v, a = given(machine, 3)
    assert machine._one_inverse_dynamics(changed(q), v, a) is None
    assert machine._one_inverse_dynamics(q, v) is None


def test_the_long_way_takes_it_or_says_what_is_wrong(machine):
    q, v, a = given(machine, 3)
    wanted = machine.inverse_dynamics(q, v, a)
    for same in (list(q), q.astype(">f8"), np.repeat(q, 2)[::2]):
        np.testing.assert_allclose(machine.inverse_dynamics(same, v, a), wanted, rtol=1e-11)
    q.flags.writeable = False
    np.testing.assert_array_equal(machine.inverse_dynamics(q, v, a), wanted)
    with pytest.raises(StateError, match="v has shape"):
        machine.inverse_dynamics(q, v[1:], a)
    with pytest.raises(StateError, match="finite"):
        machine.inverse_dynamics(q, v, a * np.inf)
    with pytest.raises(StateError, match="quaternion"):
        machine.inverse_dynamics(1.001 * q, v, a)


def test_it_leaks_neither_arrays_nor_none(machine):
    q, v, a = given(machine, 3)
    bad, f = np.full_like(a, np.nan), machine._one_inverse_dynamics
    f(q, v, a)
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0], sys.getrefcount(q), sys.getrefcount(None)
    for _ in range(2000):
        f(q, v, a)
        f(q, v, bad)
        f(q)
    after = tracemalloc.get_traced_memory()[0], sys.getrefcount(q), sys.getrefcount(None)
    tracemalloc.stop()
    assert after[0] - before[0] < 10_000 and after[1] == before[1] and abs(after[2] - before[2]) < 100


def test_single_states_and_batches_in_many_threads_do_not_meet(machine):
    rng = np.random.default_rng(0)
    generic = catena.compile(machine.mechanism, threads=2, life="generic")
    q, v, a = generic.sample(rng, 500), *rng.standard_normal((2, 500, machine.nv))
    wanted = generic.inverse_dynamics(q, v, a)

    def work(k: int) -> bool:
        if k % 2:
            return bool((generic.inverse_dynamics(q, v, a) == wanted).all())
        return all((generic.inverse_dynamics(q[i], v[i], a[i]) == wanted[i]).all() for i in range(0, 500, 5))

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(24)))


def test_without_the_call_everything_is_the_same(machine, monkeypatch):
    monkeypatch.setattr(fastcall, "available", lambda: False)
    plain = catena.compile(machine.mechanism, threads=1)
    q, v, a = given(machine, 3)
    assert plain._one_inverse_dynamics(q, v, a) is None
    np.testing.assert_allclose(plain.inverse_dynamics(q, v, a), machine.inverse_dynamics(q, v, a), rtol=1e-12)


def test_a_batch_does_not_wait_for_the_single_state(machine, monkeypatch):
    wanted = machine.inverse_dynamics(*given(machine, 3))  # before single states are forbidden
    fresh = catena.compile(machine.mechanism, threads=1)
    monkeypatch.setattr(one_state, "bound", lambda *_: pytest.fail("compiled for nothing"))
    q, v, a = (np.tile(x, (3, 1)) for x in given(machine, 3))
    np.testing.assert_allclose(fresh.inverse_dynamics(q, v, a)[0], wanted, rtol=1e-11)


def test_kept_code_is_found_again_and_damaged_code_is_built_anew(monkeypatch, tmp_path):
    monkeypatch.setenv("CATENA_CACHE_DIR", str(tmp_path))
    monkeypatch.delenv("CATENA_CACHE", raising=False)

    def made():
        return numba_cache.njit(*one_state.SIGNATURE.args, **{"nogil": True})(_sum)

    first = made()
    (file,) = tmp_path.glob("*" + cache.SUFFIX)
    again = made()
    assert sum(first.stats.cache_hits.values()) == 0 and sum(again.stats.cache_hits.values()) == 1
    file.write_bytes(file.read_bytes()[:-7] + b"damaged")
    third = made()
    assert sum(third.stats.cache_hits.values()) == 0 and third(1, 2, 3) == again(1, 2, 3) == 6


def _sum(a, b, c):
    return a + b + c
