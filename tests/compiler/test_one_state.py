"""The call for one state: what it takes, what it leaves to the long way, and that it leaks
nothing.
"""

from __future__ import annotations

import gc
import importlib
import sys
import tracemalloc
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import catena
import zoo
from catena.compiler import cache, generic_binding, lanes, single_state
from catena.compiler.machine_function import machine_function
from catena.errors import StateError
from catena.machine import router
from catena.machine.quantities import QUANTITIES

COUNTS = {"inverse_dynamics": 3, "forward_dynamics": 3, "mass_matrix": 1, "bias": 2, "gravity": 1}


@pytest.fixture(scope="module")
def machine() -> catena.Machine:
    return catena.compile(
        zoo.random_tree(5, ("ball", "revolute", "prismatic", "universal", "revolute")), threads=1
    )


def given(machine: catena.Machine, count: int) -> list[np.ndarray]:
    rng = np.random.default_rng(3)
    return [machine.sample(rng), rng.standard_normal(machine.nv), rng.standard_normal(machine.nv)][
        :count
    ]


def call(machine: catena.Machine, quantity: str, rest=None, kind: str = "tape"):
    """The built-in of a quantity; what it refuses goes to `rest`, by default to a text."""
    rest = rest or (lambda *_: "passed on")
    if kind == "tape":
        return router._tape_call(machine.spec, QUANTITIES[quantity], rest)
    return router._generic_call(machine._router, QUANTITIES[quantity], rest)


def timed(quantity: str, x: list[np.ndarray]) -> list:
    return [*x, 0.0] if QUANTITIES[quantity].time else x


@pytest.mark.parametrize("kind", ["tape", "generic"])
@pytest.mark.parametrize("quantity", COUNTS)
def test_it_answers_what_the_rows_answer(machine, quantity, kind):
    assert single_state.available()
    x = given(machine, COUNTS[quantity])
    one = call(machine, quantity, kind=kind)(*timed(quantity, x))
    assert type(one) is np.ndarray and one.flags.owndata and one.flags.writeable
    np.testing.assert_allclose(
        one, getattr(machine, quantity)(*(y[None] for y in x))[0], rtol=1e-11, atol=1e-12
    )


@pytest.mark.parametrize(
    "changed",
    [
        lambda q: q[None],
        lambda q: q[:-1],
        lambda q: q.astype(np.float32),
        lambda q: list(q),
        lambda q: np.repeat(q, 2)[::2],
        lambda q: q.view(type("Own", (np.ndarray,), {})),
        lambda q: np.full_like(q, np.nan),
        lambda q: None,
        lambda q: q.astype(">f8"),
        lambda q: 1.001 * q,  # its quaternion is not of length one
        lambda q: np.frombuffer(b"\0" + q.tobytes(), "u1")[1:].view("f8"),
    ],
)
def test_what_is_not_a_plain_good_vector_is_passed_on_as_it_is(machine, changed):
    q, v, a = given(machine, 3)
    f = call(machine, "inverse_dynamics", lambda *x: x)
    other = changed(q)
    assert f(other, v, a, 1.5)[0] is other and f(other, v, a, 1.5)[3] == 1.5
    assert f(q, v) == (q, v)


def test_an_exception_of_the_rest_is_its_own(machine):
    def rest(*_):
        raise KeyError("said by the rest")

    with pytest.raises(KeyError, match="said by the rest"):
        call(machine, "mass_matrix", rest)(None)


def test_a_call_outlives_its_machine():
    """The call holds the arrays and the function it needs; nothing else holds them here."""
    fresh = catena.compile(zoo.random_tree(6, ("revolute", "ball")), threads=1)
    q = fresh.neutral()
    wanted = fresh.mass_matrix(q)
    f = fresh._single["mass_matrix"]
    gone = weakref.ref(fresh)
    del fresh
    assert gone() is None  # no cycle keeps a machine
    gc.collect()
    filler = [np.full(n, 7.0) for n in range(1, 400)]
    np.testing.assert_array_equal(f(q), wanted)
    np.testing.assert_allclose(f(q[None])[0], wanted, rtol=1e-12)
    assert len(filler) == 399


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
    bad = np.full_like(a, np.nan)
    f = call(machine, "inverse_dynamics", lambda *_: None)
    f(q, v, a, 0.0)
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0], sys.getrefcount(q), sys.getrefcount(None)
    for _ in range(2000):
        f(q, v, a, 0.0)
        f(q, v, bad, 0.0)
        f(q)
    after = tracemalloc.get_traced_memory()[0], sys.getrefcount(q), sys.getrefcount(None)
    tracemalloc.stop()
    assert (
        after[0] - before[0] < 10_000 and after[1] == before[1] and abs(after[2] - before[2]) < 100
    )


def test_single_states_and_batches_in_many_threads_do_not_meet(machine):
    rng = np.random.default_rng(0)
    generic = catena.compile(machine.mechanism, threads=2, life="generic")
    q, v, a = generic.sample(rng, 500), *rng.standard_normal((2, 500, machine.nv))
    wanted = generic.inverse_dynamics(q, v, a)

    def work(k: int) -> bool:
        if k % 2:
            return bool((generic.inverse_dynamics(q, v, a) == wanted).all())
        return all(
            (generic.inverse_dynamics(q[i], v[i], a[i]) == wanted[i]).all()
            for i in range(0, 500, 5)
        )

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(24)))


def test_without_the_call_everything_is_the_same(machine, monkeypatch):
    monkeypatch.setattr(single_state, "available", lambda: False)
    plain = catena.compile(machine.mechanism, threads=1)
    q, v, a = given(machine, 3)
    np.testing.assert_allclose(
        plain.inverse_dynamics(q, v, a), machine.inverse_dynamics(q, v, a), rtol=1e-12
    )


def test_a_batch_does_not_wait_for_the_single_state(machine, monkeypatch):
    wanted = machine.inverse_dynamics(*given(machine, 3))  # before single states are forbidden
    fresh = catena.compile(machine.mechanism, threads=1)
    q, v, a = (np.tile(x, (3, 1)) for x in given(machine, 3))
    for way in ("_tape_call", "_generic_call"):
        monkeypatch.setattr(router, way, lambda *_: pytest.fail("compiled for nothing"))
    np.testing.assert_allclose(fresh.inverse_dynamics(q, v, a)[0], wanted, rtol=1e-11)


def test_the_time_comes_in_where_loads_depend_on_it():
    m = zoo.pendulum(1)
    machine = catena.compile(m.with_(loads=(catena.JointForce("push", m.moving[0].name, "3*t"),)))
    q = np.zeros(machine.nv)
    at = [machine.gravity(q, t=t)[0] for t in (0.0, 1.0, np.float64(2.0), 2)]
    np.testing.assert_allclose(np.diff(at), [-3.0, -3.0, 0.0], atol=1e-12)


@pytest.mark.parametrize(
    "made",
    [lambda: _sum(1, 2, 3.5), lambda: generic_binding.library.__wrapped__("energy", 2)["kernel"]],
)
def test_kept_code_is_found_again_and_damaged_code_is_built_anew(monkeypatch, tmp_path, made):
    monkeypatch.setenv("CATENA_CACHE_DIR", str(tmp_path))
    monkeypatch.delenv("CATENA_CACHE", raising=False)
    stored = []
    monkeypatch.setattr(
        cache,
        "store",
        lambda name, code, store=cache.store: stored.append(name) or store(name, code),
    )
    for _ in range(2):
        _sum._codes.clear()
        assert made()
    assert len(stored) == 1
    (file,) = tmp_path.glob("*" + cache.SUFFIX)
    file.write_bytes(file.read_bytes()[:-7] + b"damaged")
    _sum._codes.clear()
    assert made() and stored == stored[:1] * 2


@machine_function()
def _sum(a, b, c):
    return a + b + c, c


@machine_function(quick=True)
def _third(a, b):
    return a / (b + 3.0) * b - a * b


def test_a_function_made_quickly_is_optimised_when_it_has_run_for_some_time(monkeypatch, tmp_path):
    """The same bits, and each code once on disk; another process begins with the optimised one."""
    monkeypatch.setenv("CATENA_CACHE_DIR", str(tmp_path))
    assert _third(0.1, 0.7) == _third(0.1, 0.7) and not _third._codes
    module = importlib.import_module("catena.compiler.machine_function")
    monkeypatch.setattr(module, "WORTH_OPTIMISING", 0.0)
    found = [_third(0.1, 0.7) for _ in range(3)]
    assert found[0] == found[1] == found[2] == (0.1 / 3.7 * 0.7 - 0.1 * 0.7,)
    assert (
        len(_third._quick_codes) == len(_third._codes) == 1
        and len([*tmp_path.glob("*" + cache.SUFFIX)]) == 2
    )
    for codes in (_third._quick_codes, _third._codes):
        codes.clear()
    assert _third(0.1, 0.7) == found[0] and len(_third._codes) == 1


def test_what_the_stack_cannot_hold_goes_to_the_rest(machine, monkeypatch):
    """Scratch memory of a single call is on the stack: a long mechanism's would break it."""
    monkeypatch.setattr(router, "SINGLE_CALL_STACK_BYTES", 0)
    q, v, a = given(machine, 3)
    assert call(machine, "inverse_dynamics", kind="generic")(q, v, a, 0.0) == "passed on"


def test_after_many_calls_optimised_code_takes_over_with_the_same_bits(monkeypatch, tmp_path):
    """Tiers: quick code at first, kept on disk as such; what it refuses goes to the rest before and
    after.
    """
    monkeypatch.setenv("CATENA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(lanes, "WORTH_OPTIMISING", 20)
    tiers: list[bool] = []
    monkeypatch.setattr(
        lanes,
        "object_code",
        lambda *a, quick=False, make=lanes.object_code, **k: (
            tiers.append(quick) or make(*a, quick=quick, **k)
        ),
    )
    machine = catena.compile(zoo.random_tree(6, ("ball", "revolute")), threads=1)
    q, v, a = given(machine, 3)
    first = machine.inverse_dynamics(q, v, a)
    quick = machine._single["inverse_dynamics"]
    answers = [machine.inverse_dynamics(q, v, a) for _ in range(100)]
    assert tiers == [True, False] and machine._single["inverse_dynamics"] is not quick
    assert all(np.array_equal(x, first) for x in (*answers, quick(q, v, a, 0.0)))
    with pytest.raises(StateError):
        machine.inverse_dynamics(q[:-1], v, a)
    again = catena.compile(zoo.random_tree(6, ("ball", "revolute")), threads=1)
    assert np.array_equal(again.inverse_dynamics(q, v, a), first) and tiers == [True, False]
