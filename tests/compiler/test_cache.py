"""The cache of machine code: found again, never trusted when damaged, harmless when it cannot be
written.
"""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import time
import warnings
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

from catena.compiler import cache, host, lanes
from catena.compiler.lanes import compile_lanes

X = ca.SX.sym("x", 2)
F = ca.Function("f", [X], [ca.sin(X) * X[1] + 0.25])
STATES = np.linspace(-1, 1, 10).reshape(5, 2)


@pytest.fixture(scope="module", autouse=True)
def sines() -> None:
    """The code that all tapes share is there before entries are counted."""
    for width in (1, 2, 4, 8):
        lanes._sines(width)


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.delenv("CATENA_CACHE", raising=False)
    monkeypatch.setenv("CATENA_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def compilations(monkeypatch) -> list[int]:
    """One entry for each time LLVM is asked to make code."""
    made: list[int] = []
    assemble = host.assemble

    def counted(text: str, **options: int) -> bytes:
        made.append(len(text))
        return assemble(text, **options)

    monkeypatch.setattr(host, "assemble", counted)
    return made


def check(kernel: lanes.LaneKernel) -> None:
    (y,), finite = kernel([STATES], 5)
    np.testing.assert_allclose(y, np.sin(STATES) * STATES[:, 1:] + 0.25, atol=1e-15)
    assert finite


def entries(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.lanes"))


def test_the_second_time_nothing_is_compiled(folder, compilations, monkeypatch):
    check(compile_lanes(F))
    assert len(compilations) == 1 and len(entries(folder)) == 1
    monkeypatch.setattr(lanes.tape, "read", None)  # a hit does not even read the tape
    check(compile_lanes(F))
    assert len(compilations) == 1


def test_another_function_or_width_is_another_entry(folder, compilations):
    compile_lanes(F, width=2)
    compile_lanes(F, width=4)
    # the same, built again
    check(compile_lanes(ca.Function("f", [X], [ca.sin(X) * X[1] + 0.25]), width=4))
    compile_lanes(ca.Function("f", [X], [ca.sin(X) * X[1] + 0.26]), width=4)
    assert len(compilations) == 3 and len(entries(folder)) == 3


def test_another_processor_or_emitter_is_another_entry(folder, compilations, monkeypatch):
    compile_lanes(F)
    monkeypatch.setattr(host, "description", lambda: ("another", "machine"))
    compile_lanes(F)
    monkeypatch.setattr(lanes, "_origin", lambda: ("another", "emitter"))
    compile_lanes(F)
    assert len(compilations) == 3 and len(entries(folder)) == 3


def test_it_can_be_switched_off(folder, compilations, monkeypatch):
    check(compile_lanes(F, cache=False))
    monkeypatch.setenv("CATENA_CACHE", "off")
    check(compile_lanes(F))
    assert len(compilations) == 2 and not folder.exists()


def test_the_folder_is_the_users_own(folder, monkeypatch):
    compile_lanes(F)
    if os.name == "posix":
        assert folder.stat().st_mode & 0o077 == 0
    monkeypatch.delenv("CATENA_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    found = cache.folder()
    assert found is not None and "catena" in found.parts


DAMAGE = {
    "a byte of the code": lambda data: data[:-20] + bytes([data[-20] ^ 1]) + data[-19:],
    "a byte of the checksum": lambda data: data[:20] + bytes([data[20] ^ 1]) + data[21:],
    "another file": lambda data: b"x" * len(data),
    "the end missing": lambda data: data[: len(data) // 2],
    "only a head": lambda data: data[:47],
    "nothing at all": lambda data: b"",
    "more than all": lambda data: data + b"x",
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_entries_are_built_again(folder, compilations, damage):
    compile_lanes(F)
    (entry,) = entries(folder)
    good = entry.read_bytes()
    entry.write_bytes(DAMAGE[damage](good))
    check(compile_lanes(F))
    assert len(compilations) == 2 and entry.read_bytes() == good


def test_code_that_does_not_link_is_built_again(folder, compilations):
    """An entry that is whole but is no object code (a bad day of the linker) does not stop
    anybody.
    """
    compile_lanes(F)
    (entry,) = entries(folder)
    cache.store(entry.stem, b"this is not object code")
    check(compile_lanes(F))
    assert len(compilations) == 2


def test_a_folder_that_cannot_be_written_is_told_once(tmp_path, monkeypatch, compilations):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("CATENA_CACHE_DIR", str(tmp_path / "file" / "cache"))
    with pytest.warns(
        UserWarning,
        match="cannot be kept in .*compiled anew in every session; set CATENA_CACHE_DIR",
    ):
        check(compile_lanes(F))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check(compile_lanes(F))
    assert len(compilations) == 2


def test_two_entries_exchanged_are_built_again(folder, compilations):
    """An entry is bound to its name: the code of another function under it is not taken for this
    one.
    """
    compile_lanes(F)
    compile_lanes(ca.Function("f", [X], [ca.cos(X)]))
    one, two = entries(folder)
    first = one.read_bytes()
    second = two.read_bytes()
    one.write_bytes(second)
    two.write_bytes(first)
    check(compile_lanes(F))
    assert len(compilations) == 3


@pytest.mark.skipif(os.name != "posix", reason="rights of files are told otherwise")
@pytest.mark.parametrize("mode", [0o777, 0o770, 0o702])
def test_a_folder_that_others_may_write_is_not_used(folder, compilations, mode):
    compile_lanes(F)
    folder.chmod(mode)
    cache._warned.clear()
    with pytest.warns(
        UserWarning, match=r"others may write to it .*not used; make it yours and run chmod 700"
    ):
        check(compile_lanes(F))
    assert len(compilations) == 2
    folder.chmod(0o755)
    check(compile_lanes(F))
    assert len(compilations) == 2


@pytest.mark.skipif(os.name != "posix", reason="rights of files are told otherwise")
def test_what_another_user_owns_or_may_write_is_not_used(folder, compilations, monkeypatch):
    compile_lanes(F)
    (entry,) = entries(folder)
    entry.chmod(0o666)
    check(compile_lanes(F))
    assert len(compilations) == 2 and entry.stat().st_mode & 0o022 == 0
    if os.geteuid() == 0:
        os.chown(folder, 12345, 12345)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: 12345)
    cache._warned.clear()
    with pytest.warns(UserWarning, match="belongs to another user"):
        check(compile_lanes(F))
    assert len(compilations) == 3


def test_the_oldest_go_first(folder, monkeypatch):
    monkeypatch.setattr(cache, "LIMIT", 3000)
    monkeypatch.setattr(cache, "SWEEP", 1)
    for age, name in enumerate("abc"):
        cache.store(name, bytes(900))
        os.utime(folder / f"{name}.lanes", (1000 + age, 1000 + age))
    assert cache.load("a") == bytes(900)  # a is young again
    cache.store("d", bytes(900))
    assert [entry.stem for entry in entries(folder)] == ["a", "c", "d"]
    assert cache.load("b") is None


def test_few_entries_look_for_old_ones(folder, monkeypatch):
    """A look at a folder of many entries takes long; it is not taken at each of them, but often
    enough.
    """
    looks: list[Path] = []
    monkeypatch.setattr(cache, "_evict", looks.append)
    for k in range(512):
        cache.store(cache.key(str(k)), b"code")
    assert 2 <= len(looks) <= 24


def test_nothing_half_written_stays(folder, monkeypatch):
    monkeypatch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.warns(UserWarning, match="disk full"):
        cache.store("a", b"code")
    assert list(folder.iterdir()) == []


def write_and_read(folder: str, times: int, wrong: multiprocessing.Queue) -> None:
    os.environ["CATENA_CACHE_DIR"] = folder
    codes = {bytes([k]) * (50_000 + k) for k in range(8)}
    for k in range(times):
        cache.store("shared", bytes([k % 8]) * (50_000 + k % 8))
        found = cache.load("shared")
        if found not in codes:
            wrong.put(None if found is None else len(found))


def test_two_processes_write_the_same_entry(folder):
    """Whoever reads finds one of the two, whole."""
    context = multiprocessing.get_context("spawn" if os.name == "nt" else "fork")
    wrong = context.Queue()
    workers = [
        context.Process(target=write_and_read, args=(str(folder), 200, wrong)) for _ in range(2)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0, 0]
    assert wrong.empty() and [path.name for path in folder.iterdir()] == ["shared.lanes"]


def test_another_session_finds_it(folder):
    """The key is the same in a new process, and loading there does not call LLVM's compiler."""
    program = f"""
import casadi as ca, numpy as np
from catena.compiler import host
from catena.compiler.lanes import compile_lanes
def assemble(text): raise SystemExit("compiled")
host.assemble = assemble if {{again}} else host.assemble
x = ca.SX.sym("x", 2)
kernel = compile_lanes(ca.Function("f", [x], [ca.sin(x) * x[1] + 0.25]))
print(kernel([np.array({STATES.tolist()})], 5)[0][0].tobytes().hex())
"""
    results = []
    for again in (False, True):
        started = time.time() - 1
        done = subprocess.run(
            [sys.executable, "-c", program.format(again=again)],
            capture_output=True,
            text=True,
            env=os.environ.copy(),
        )
        assert done.returncode == 0, done.stderr
        results.append(done.stdout)
        found = entries(folder)  # of the tape, and of the sines that all tapes call
        # made, then used
        assert len(found) == 2 and all(entry.stat().st_mtime >= started for entry in found)
    assert results[0] == results[1]
