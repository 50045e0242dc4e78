"""A result is labelled, saved and read back as it was; what follows from its rows agrees with the
machine.
"""

from __future__ import annotations

import dataclasses
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
import xarray as xr

import catena
from catena.errors import CatenaError, FormatError
from catena.results.result import Result, load_result
from catena.simulation.run import simulate


@pytest.fixture(scope="module")
def swing() -> Result:
    """Half a second of the triple pendulum."""
    return simulate(catena.load("triple_pendulum"), until=0.5, output=0.01)


@pytest.fixture(scope="module")
def every() -> Result:
    """A mechanism with every kind of joint: metres, radians and quaternions."""
    machine = catena.compile(catena.load("every_joint"))
    return simulate(machine, v=np.full(machine.nv, 0.1), until=0.05, output=0.01, limits="ignore")


def test_units_stand_beside_the_names(every):
    units = dict(zip(every.data["coordinate"].values, every.data["coordinate_unit"].values))
    assert units["swing"] == "rad" and units["rail"] == "m" and units["socket.qw"] == "1"
    assert dict(zip(every.data["speed"].values, every.data["force_unit"].values))["rail"] == "N"
    assert every.data["time"].attrs["units"] == "s" and every.kinetic.attrs["units"] == "J"


@pytest.mark.parametrize("name", ["swing", "every"])
def test_saved_and_loaded_is_the_same(name, tmp_path, request):
    result = request.getfixturevalue(name)
    found = load_result(result.save(tmp_path / "run.nc"))
    xr.testing.assert_identical(found.data, result.data)
    assert found.ledger == result.ledger and found.mechanism == result.mechanism


def test_a_batch_keeps_its_runs_and_parameters(tmp_path):
    arm = catena.load("two_link_arm")
    result = simulate(
        arm, q=np.zeros((3, 2)), until=0.1, parameters={"m2": np.array([1.0, 2.0, 3.0])}
    )
    found = load_result(result.save(tmp_path / "runs.nc"))
    xr.testing.assert_identical(found.data, result.data)
    assert found.poses(["tip"])["position"].sizes["run"] == 3
    heavy = catena.compile(arm).reactions(
        *(found.data[k].values[2, -1] for k in "qva"), parameters={"m2": 3.0}
    )["shoulder"]
    np.testing.assert_allclose(
        found.reactions().sel(joint="shoulder").values[2, -1], heavy, atol=1e-9
    )
    assert "run" not in found.select(run=1).data.dims
    with pytest.raises(CatenaError, match="run 7 was asked for; this result has runs 0 to 2"):
        found.select(run=7)


def test_poses_momentum_and_reactions_are_the_machines(swing):
    machine = catena.compile(swing.mechanism)
    q, v, a = (swing.data[k].values for k in "qva")
    np.testing.assert_allclose(
        swing.poses(["tip"])["position"].values[:, 0], machine.pose(q, "tip")[:, :3, 3]
    )
    np.testing.assert_allclose(swing.momentum()["linear"].values, machine.momentum(q, v)["linear"])
    np.testing.assert_allclose(
        swing.reactions().sel(joint="pin2").values, machine.reactions(q, v, a)["pin2"]
    )
    # the first pin carries what the centre of mass needs: m a_com = F + m g
    F = swing.reactions("world").sel(joint="pin1").values[:, 3:]
    rate = np.gradient(swing.momentum()["linear"].values, swing.time, axis=0, edge_order=2)
    np.testing.assert_allclose(F[2:-2] + np.array([0, -9.81 * 3, 0]), rate[2:-2], atol=0.05)


def test_multipliers_close_the_four_bar():
    from catena.simulation.scenario import read

    asked = read("four_bar")
    result = simulate(asked.mechanism, q=asked.q, v=asked.v, until=0.2)
    machine = result.machine
    data = result.data
    q, v, a, tau = (data[k].values for k in ("q", "v", "a", "tau"))
    left = machine.inverse_dynamics(q, v, a) - tau
    A = machine.constraint_rows(q, v)[3]
    np.testing.assert_allclose(
        np.einsum("trv,tr->tv", A, result.multipliers().values), left, atol=1e-7
    )


def test_reactions_of_runs_with_their_own_parameters():
    """Two masses at once, and each alone: the same reactions, in every way to give them."""
    arm = catena.load("two_link_arm")
    both = simulate(arm, [0.3, -0.5], until=0.2, parameters={"m2": [1.0, 4.0]})
    for k, m2 in enumerate((1.0, 4.0)):
        alone = simulate(arm.with_(parameters={**arm.parameters, "m2": m2}), [0.3, -0.5], until=0.2)
        for axes in ("body", "world"):
            np.testing.assert_allclose(
                both.reactions(axes).values[k], alone.reactions(axes).values, atol=1e-6
            )


def test_dataset_and_ledger_are_made_once_and_when_they_are_looked_at(monkeypatch):
    from catena.simulation.output import record

    made = []

    def counted(f):
        return lambda *x: made.append(f.__name__) or f(*x)

    for f in (record.observe, record.dataset):
        monkeypatch.setattr(record, f.__name__, counted(f))
    result = simulate(catena.load("two_link_arm"), [0.3, -0.5], until=0.1)
    assert made == []
    again = dataclasses.replace(result, model=result.mechanism)
    assert result.complete and result.ledger.relative_energy_balance < 1e-9 and made == ["observe"]
    assert (
        again.q.identical(result.q)
        and again.ledger is result.ledger
        and made == ["observe", "dataset"]
    )
    copied = pickle.loads(pickle.dumps(result))
    assert (
        copied.data.identical(result.data)
        and copied.ledger == result.ledger
        and copied.mechanism == result.mechanism
    )


def test_csv_is_a_trajectory_again(swing, tmp_path):
    from catena.simulation.trajectories import csv

    motion = csv(swing.save(tmp_path / "run.csv"))
    assert motion.names == ("pin1", "pin2", "pin3")
    np.testing.assert_allclose(motion(swing.time)[0], swing.data["q"].values, atol=1e-12)


def test_files_that_are_none(tmp_path, swing):
    with pytest.raises(FormatError, match="there is no such file"):
        load_result(tmp_path / "nothing.nc")
    (tmp_path / "text.nc").write_text("no")
    with pytest.raises(FormatError, match="this is not a result of catena"):
        load_result(tmp_path / "text.nc")
    xr.Dataset({"x": ("time", [1.0])}).to_netcdf(tmp_path / "other.nc", engine="h5netcdf")
    with pytest.raises(FormatError, match="this is not a result of catena: it lacks 'ledger'"):
        load_result(tmp_path / "other.nc")
    with pytest.raises(CatenaError, match=r"saved as \.nc, .*, not '\.txt'"):
        swing.save(tmp_path / "run.txt")
    with pytest.raises(FormatError, match="this is a folder"):
        load_result(tmp_path)
    with pytest.raises(AttributeError, match="a result has no 'velocity'; it has: q, v"):
        _ = swing.velocity
    assert not [p for p in os.listdir(tmp_path) if "partial" in p]


@pytest.mark.skipif(sys.platform == "win32", reason="limits of file sizes are POSIX")
def test_a_full_disk_is_one_sentence(tmp_path, swing):
    path = swing.save(tmp_path / "run.nc")
    code = (
        "import resource, signal, catena\n"
        f"result = catena.load_result({str(path)!r})\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "for name in ('again.nc', 'again.csv'):\n"
        "    try:\n"
        f"        result.save({str(tmp_path)!r} + '/' + name)\n"
        "    except catena.CatenaError as error:\n"
        "        print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert done.stdout.count("could not be written (File too large); it is still in memory") == 2
    assert sorted(os.listdir(tmp_path)) == ["run.nc"]
