"""What is made of a mechanism goes with it."""

from __future__ import annotations

import copy
import gc
import pickle
import weakref

import catena
import zoo
from catena.compiler import attached
from catena.compiler.host import Library


def _libraries() -> int:
    gc.collect()
    return sum(isinstance(x, Library) for x in gc.get_objects())


def test_machine_code_of_mechanisms_that_are_gone_is_freed():
    def run(k: int) -> weakref.ref:
        m = zoo.arm(2).with_(gravity=(0.0, 0.0, -9.0 - k))
        catena.simulate(m, until=0.01, output=0.01)
        return weakref.ref(m)

    run(0)
    before = _libraries()
    gone = [run(k) for k in range(1, 5)]
    gc.collect()
    assert [m() for m in gone] == [None] * 4
    assert _libraries() <= before


def test_what_is_kept_is_no_part_of_the_mechanism():
    m, same = zoo.arm(2), zoo.arm(2)
    assert attached.keep(m, "toys", 3, "a", lambda: [1]) is attached.keep(
        m, "toys", 3, "a", lambda: [2]
    )
    for other in (copy.copy(m), copy.deepcopy(m), pickle.loads(pickle.dumps(m)), m.with_()):
        assert other == m == same and hash(other) == hash(same)
        assert attached.keep(other, "toys", 3, "a", lambda: [2]) == [2]


def test_at_most_so_many_are_kept():
    m = zoo.arm(2)
    for k in range(5):
        attached.keep(m, "toys", 3, k, list)
    assert list(attached.attached(m, "toys")) == [2, 3, 4]
