"""Where a study runs, and what it survives: threads, processes and Dask give the same bits; kills,
full disks, lost workers lose nothing.
"""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import threading
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import catena
from catena.errors import CatenaError, FormatError, StudyError
from catena.studies import engines, open_study
from catena.studies.store import Store
from study_tables import same_bits

zarr = pytest.importorskip("zarr", reason="zarr, by which studies are written, is not installed")


@pytest.fixture(scope="module")
def whole(swings):
    """The table of an unbroken run in one thread."""
    return swings.run(threads=1, shard=300)


def test_threads_shards_and_files_give_the_same_bits(swings, whole, tmp_path) -> None:
    assert same_bits(whole, swings.run(threads=2, shard=64))
    told: list[int] = []
    stored = swings.run(
        out=tmp_path / "a.zarr", shard=128, progress=lambda done, of: told.append(done)
    )
    assert (
        same_bits(whole, stored)
        and told[-1] == 300
        and stored.attrs["dimensions"] == ["m2", "sample"]
    )
    assert same_bits(whole, open_study(tmp_path / "a.zarr"))
    # a chunk for each shard
    assert {p.name for p in (tmp_path / "a.zarr" / "end" / "c").iterdir()} == {"0", "1", "2"}


def test_processes_give_the_same_bits(swings, whole) -> None:
    assert same_bits(whole, swings.run(on="processes", threads=2, shard=128))


@pytest.fixture(scope="module")
def cluster():
    distributed = pytest.importorskip("distributed", reason="Dask's distributed is not installed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None
        ) as local,
        distributed.Client(local) as client,
    ):
        yield client


def test_dask_gives_the_same_bits(swings, whole, cluster, tmp_path) -> None:
    assert same_bits(whole, swings.run(on=cluster, out=tmp_path / "a.zarr", shard=64))


def test_a_cluster_by_its_address(swings, whole, cluster) -> None:
    """As `catena sweep --on dask://host:port` has it; its cores are those of the estimate."""
    address = cluster.scheduler_info()["address"].replace("tcp://", "dask://")
    assert (
        same_bits(whole, swings.run(on=address, shard=64))
        and swings.estimate(on=address).cores == 2
    )


def test_a_cluster_that_loses_everything_it_was_given(swings, whole, cluster) -> None:
    """All workers begin anew in the middle, and the study is gone with them: it is sent again."""
    told: list[int] = []

    def restart_once(done: int, of: int) -> None:
        told.append(done)
        if len(told) == 1:
            cluster.restart()

    assert (
        same_bits(whole, swings.run(on=cluster, shard=64, progress=restart_once))
        and told[-1] == 300
    )


def _dies_once(marker: Path, result: catena.Result) -> float:
    """A measure that kills its own process, the first time that it is called anywhere."""
    try:
        marker.touch(exist_ok=False)
    except FileExistsError:
        return float(result.data["q"][-1, 1])
    os.kill(os.getpid(), signal.SIGKILL)
    return 0.0


def test_a_worker_that_is_lost_loses_nothing(swings, cluster, tmp_path) -> None:
    """kill -9 of a worker in the middle of a shard: Dask runs it again elsewhere."""
    s = catena.study(
        swings.varied.mechanism,
        {"m2": np.linspace(1, 2, 130)},
        measures={"end": "final(q['elbow'])", "dies": partial(_dies_once, tmp_path / "died")},
        until=0.02,
        integrator="rk4",
        step=1e-3,
        output=0.01,
    )
    before = set(cluster.run(os.getpid).values())
    found = s.run(on=cluster, shard=64)  # the size of shards is said, so that no pilot runs here
    assert (tmp_path / "died").exists() and before - set(cluster.run(os.getpid).values())
    np.testing.assert_array_equal(found["end"].values, found["dies"].values)
    assert not any(found["failure"].values)


CHILD = """
import os, signal, sys
from catena.studies import store
from study_tables import swings
s = swings()
calls = [0]
def dies(whole):
    def write(self, *given):
        calls[0] += 1
        if calls[0] == int(sys.argv[3]):
            import zarr.storage._local as local
            put = local._put
            def half(path, *more, **words):
                if "angle" in str(path):
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.with_suffix(".partial").write_bytes(b"half")
                    os.kill(os.getpid(), signal.SIGKILL)
                return put(path, *more, **words)
            local._put = half
        return whole(self, *given)
    return write
store.Store.write = dies(store.Store.write)
s.run(out=sys.argv[1], resume=sys.argv[2] == "yes", shard=64)
"""


def test_a_study_that_is_killed_in_the_middle_of_a_write_is_resumed(
    swings, whole, tmp_path
) -> None:
    path = tmp_path / "a.zarr"
    died = subprocess.run(
        [sys.executable, "-c", CHILD, str(path), "no", "3"],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[1],
    )
    assert died.returncode == -signal.SIGKILL, died.stderr
    assert open_study(path).attrs["missing"] == 300 - 128
    computed: list[int] = []
    found = swings.run(out=path, resume=True, progress=lambda done, of: computed.append(done))
    assert same_bits(whole, found) and "missing" not in found.attrs and computed[0] > 128
    assert same_bits(whole, swings.run(out=path, resume=True))  # nothing is left to do


def test_a_folder_of_another_study_and_places_that_are_taken(swings, tmp_path) -> None:
    path = tmp_path / "a.zarr"
    swings.run(out=path)
    with pytest.raises(StudyError, match=r"exists already; go on with it by resume=True"):
        swings.run(out=path)
    other = catena.study(
        "two_link_arm", {"m2": "1..2 kg:4"}, measures="final(q['elbow'])", until=0.1, control=None
    )
    with pytest.raises(
        StudyError, match=r"holds another study, whose variables and measures and run differ"
    ):
        other.run(out=path, resume=True)
    with pytest.raises(FormatError, match="there is no study to resume"):
        swings.run(out=tmp_path / "none.zarr", resume=True)
    zarr.open_group(str(tmp_path / "b.zarr"), mode="w")
    with pytest.raises(FormatError, match="a zarr group, but no study of catena"):
        swings.run(out=tmp_path / "b.zarr", resume=True)
    (tmp_path / "c.zarr").mkdir()
    with pytest.raises(FormatError, match="this is no study of catena"):
        open_study(tmp_path / "c.zarr")
    with pytest.raises(StudyError, match="say which: out="):
        swings.run(resume=True)


def test_one_writer_at_a_time(swings, tmp_path) -> None:
    path = tmp_path / "a.zarr"
    swings.run(out=path)
    with (
        Store(path, (), 300, 64, np.zeros(1)).locked(),
        pytest.raises(CatenaError, match="another run is writing there"),
    ):
        swings.run(out=path, resume=True)


def test_a_disk_that_fills(swings, whole, tmp_path, monkeypatch) -> None:
    import zarr.storage._local as local

    put = local._put
    path = tmp_path / "a.zarr"

    def full(where: Path, *more, **words):
        if "fastest" in str(where) and where.name == "2":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return put(where, *more, **words)

    monkeypatch.setattr(local, "_put", full)
    with pytest.raises(
        StudyError,
        match=(
            r"shard 2 could not be written \(No space left on device\); 2 of 5 shards are there and"
            r" stay.*--resume"
        ),
    ):
        swings.run(out=path, shard=64)
    monkeypatch.undo()
    assert same_bits(whole, swings.run(out=path, resume=True))
    with pytest.raises(StudyError, match=r"cannot be written there .*nothing was computed"):
        swings.run(out="/proc/nowhere/a.zarr")


def test_engines_that_are_none(swings, monkeypatch) -> None:
    monkeypatch.setattr(engines, "SCHEDULER_TIMEOUT", "1s")
    for on, words in (
        ("cloud", "on is 'cloud'; a study runs on None"),
        (3, "on is a int"),
        ("dask://127.0.0.1:1", "no Dask scheduler at dask://127.0.0.1:1"),
    ):
        with pytest.raises(StudyError, match=words):
            swings.run(on=on, shard=64)
    for options, words in (({"threads": 0}, "threads is 0"), ({"shard": 0}, "shard is 0")):
        with pytest.raises(StudyError, match=words):
            swings.run(**options)


def test_a_study_that_cannot_be_sent(swings, monkeypatch) -> None:
    lock = threading.Lock()
    s = catena.study(
        swings.varied.mechanism,
        {"m2": [1.0, 2.0]},
        measures={"m": lambda result: lock.locked()},
        until=0.01,
    )
    with pytest.raises(
        StudyError, match="cannot be sent to other processes .*functions of a module"
    ):
        s.run(on="processes", shard=64)


def test_processes_that_die_are_begun_anew(swings, monkeypatch) -> None:
    from concurrent.futures.process import BrokenProcessPool

    tried: list[list[int]] = []

    def fragile(text: bytes, spans, count):
        tried.append([k for k, *_ in spans])
        for n, (k, first, last) in enumerate(spans):
            if n == 2 and len(tried) < 3:
                raise BrokenProcessPool
            yield k, engines.run_shard(swings, first, last)

    monkeypatch.setattr(engines, "_run_pool", fragile)
    found = swings.run(on="processes", shard=64)
    assert tried == [[0, 1, 2, 3, 4], [2, 3, 4], [4]] and not any(found["failure"].values)
