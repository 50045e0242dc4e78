"""Results in files of other tools, read back by readers that are not their writers."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

import catena
from catena.errors import CatenaError
from catena.results.file_kinds import FILE_KINDS, FileKind


@pytest.fixture(scope="module")
def result():
    return catena.simulate(catena.load("two_link_arm"), q=[0.3, 0.2], until=0.3)


def test_parquet_holds_the_table_and_what_it_is_of(result, tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    found = pandas.read_parquet(result.save(tmp_path / "run.parquet"))
    assert found.equals(result.to_pandas()) and found.index.name == "time"
    assert json.loads(found.attrs["ledger"])["outcome"] == result.ledger.outcome


def test_mcap_is_a_log_that_catena_reads(result, tmp_path):
    pytest.importorskip("mcap")
    from catena.identification.logs.ros_readers import read_mcap

    log = read_mcap(result.save(tmp_path / "run.mcap"))
    for k, name in enumerate(result.mechanism.coordinate_names):
        np.testing.assert_array_equal(log.columns[f"q {name}"], result.q.values[:, k])
        np.testing.assert_array_equal(log.columns[f"v {name}"], result.v.values[:, k])
        np.testing.assert_array_equal(log.columns[f"effort {name}"], result.tau.values[:, k])
    np.testing.assert_allclose(log.columns["time"], result.time, atol=1e-9)


def test_mcap_has_the_poses_of_bodies_in_any_joint(tmp_path):
    """The poses against the machine; a ball joint has no entry among the joint states."""
    reader = pytest.importorskip("mcap.reader")
    from scipy.spatial.transform import Rotation

    result = catena.simulate(catena.load("every_joint"), until=0.02, output=0.02)
    path = result.save(tmp_path / "run.mcap")
    with path.open("rb") as file:
        rows = [
            (channel.topic, json.loads(m.data))
            for _, channel, m in reader.make_reader(file).iter_messages()
        ]
    last = [m for topic, m in rows if topic == "/tf"][-1]["transforms"]
    assert [x["child_frame_id"] for x in last] == [b.name for b in result.mechanism.bodies]
    for x in last:
        X = result.machine.pose(result.q.values[-1], x["child_frame_id"])
        np.testing.assert_allclose([x["translation"][k] for k in "xyz"], X[:3, 3], atol=1e-12)
        turn = Rotation.from_quat([x["rotation"][k] for k in "xyzw"]).as_matrix()
        np.testing.assert_allclose(turn, X[:3, :3], atol=1e-12)
    states = next(m for topic, m in rows if topic == "/joint_states")
    single = sum(f.nq == 1 for j in result.mechanism.moving for f in j.freedoms)
    assert len(states["name"]) == len(states["position"]) == single


def test_a_recording_of_rerun_is_sound(result, tmp_path):
    pytest.importorskip("rerun")
    path = result.save(tmp_path / "run.rrd")
    done = subprocess.run(
        [sys.executable, "-m", "rerun", "rrd", "verify", str(path)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "without error" in done.stdout + done.stderr
    with pytest.raises(CatenaError, match="a batch of 2 runs"):
        catena.simulate(catena.load("pendulum"), q=[[0.1], [0.2]], until=0.1).to_rerun()


def test_a_kind_of_file_is_added_from_outside(result, tmp_path):
    FILE_KINDS.register(
        FileKind(".npy", lambda r, path: path.write_bytes(r.q.values.tobytes()), "")
    )
    try:
        path = result.save(tmp_path / "run.npy")
        assert path.read_bytes() == result.q.values.tobytes()
    finally:
        del FILE_KINDS[".npy"]
    with pytest.raises(CatenaError, match=r"\.nc, \.csv, \.parquet, \.rrd or \.mcap, not '\.npy'"):
        result.save(tmp_path / "run.npy")


def test_the_style_of_a_journal_sets_width_and_letters(result, tmp_path):
    from matplotlib import font_manager

    figure = result.plot("coordinates", style="ieee")
    assert figure.get_size_inches()[0] == 3.5 and figure.get_suptitle() == ""
    sizes = {text.get_fontsize() for text in figure.axes[0].get_xticklabels()}
    assert sizes == {8.0}
    family = figure.axes[0].xaxis.label.get_fontfamily()
    assert "STIX" in font_manager.findfont(font_manager.FontProperties(family=family))
    assert result.plot("coordinates").get_size_inches()[0] == 7.0
    with pytest.raises(CatenaError, match="styles are: house, ieee"):
        result.plot("coordinates", style="nature")
