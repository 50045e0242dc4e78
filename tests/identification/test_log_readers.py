"""Readers of logs: the same log in every format is the same table."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import synthetic_logs as logs
from catena.errors import FormatError, StudyError
from catena.identification import LOG_READERS, read_log
from catena.identification.logs import LogReader, RawLog, condition
from catena.identification.logs.readers import read_raw

JOINTS = logs.JOINTS


@pytest.fixture(scope="module")
def arm():
    return logs.arm()


@pytest.fixture(scope="module")
def log(arm):
    return logs.log(arm, duration=2.0, rate=50.0)


def same(table, log, efforts="tau"):
    assert np.allclose(np.diff(table.time.values), np.diff(log["time"]), atol=1e-6)
    for k, n in enumerate(JOINTS):
        assert np.allclose(table.q.values[:, k], log[f"q {n}"])
        assert np.allclose(table.effort.values[:, k], log[f"{efforts} {n}"])
    return True


def block(log, kind):
    return np.stack([log[f"{kind} {n}"] for n in JOINTS], axis=1)


def test_csv_with_a_header(arm, log, tmp_path):
    pd.DataFrame(log).to_csv(tmp_path / "a.csv", index=False)
    table = read_log(arm, tmp_path / "a.csv")
    assert same(table, log) and table.effort.attrs["units"] == "N m"


@pytest.mark.parametrize("mark", [",", ";", "\t", " "])
def test_csv_without_a_header_is_assigned_by_its_numbers(arm, log, tmp_path, mark):
    columns = [log["time"], *(block(log, k) for k in ("q", "v", "tau"))]
    np.savetxt(tmp_path / "a.csv", np.column_stack(columns), delimiter=mark)
    table = read_log(arm, tmp_path / "a.csv")
    assert same(table, log) and table.effort.attrs["units"] == "unknown"
    assert "column 1 is taken as time, 2 to 3 as positions, 4 to 5 as speeds" in table.notes[0]


def test_columns_by_a_mapping(arm, log, tmp_path):
    columns = [log["time"], block(log, "tau"), block(log, "q")]
    np.savetxt(tmp_path / "a.csv", np.column_stack(columns), delimiter=",")
    table = read_log(arm, tmp_path / "a.csv", "time=1, q=4-5, current=2-3")
    assert same(table, log) and table.effort.attrs["units"] == "A" and "v" not in table
    one = {f"x{k}": x for k, x in enumerate(np.column_stack(columns).T)}
    named = {
        "time": "x0",
        "q shoulder": "x3",
        "q elbow": "x4",
        "tau shoulder": "x1",
        "tau elbow": "x2",
    }
    assert same(read_log(arm, one, named), log)


@pytest.mark.parametrize(
    "columns, words",
    [
        ("time=1, q=2-3, tau=9-10", "no column '9'"),
        ("time=1, q=2-3", "no column 'tau NAME' of shoulder, elbow"),
        ("time=1, q=2-4, tau=5-6", "names 3 columns for 2 joints"),
        ("time=1, q=2-3, tau=3-4", "used twice"),
        ("time=1, place=2-3, tau=4-5", "no quantity 'place'"),
        ("q", "is no entry; write time=1"),
    ],
)
def test_a_bad_mapping_is_refused_by_name(arm, log, tmp_path, columns, words):
    rows = [log["time"], *(block(log, k) for k in ("q", "v", "tau"))]
    np.savetxt(tmp_path / "a.csv", np.column_stack(rows), delimiter=",")
    with pytest.raises(StudyError, match=words):
        read_log(arm, tmp_path / "a.csv", columns)


def test_a_wrong_number_of_columns_is_refused(arm, tmp_path):
    np.savetxt(tmp_path / "a.csv", np.zeros((20, 4)), delimiter=",")
    with pytest.raises(StudyError, match="4 columns and no header; for 2 joints 7 or more"):
        read_log(arm, tmp_path / "a.csv")


def test_npz_and_mat(arm, log, tmp_path):
    from scipy.io import savemat

    arrays = {"time": log["time"], **{k: block(log, k) for k in ("q", "v", "tau")}}
    np.savez(tmp_path / "a.npz", **arrays)
    savemat(tmp_path / "a.mat", {"run": arrays})
    for name in ("a.npz", "a.mat"):
        assert same(read_log(arm, tmp_path / name), log)


def test_parquet(arm, log, tmp_path):
    pytest.importorskip("pyarrow")
    pd.DataFrame(log).to_parquet(tmp_path / "a.parquet")
    assert same(read_log(arm, tmp_path / "a.parquet"), log)


def states(log, store):
    """Messages JointState with the joints in another order than the mechanism's."""
    Header, Stamp, State = (
        store.types[n]
        for n in (
            "std_msgs/msg/Header",
            "builtin_interfaces/msg/Time",
            "sensor_msgs/msg/JointState",
        )
    )
    names = list(reversed(JOINTS))
    for k, t in enumerate(log["time"] + 100.0):
        ns = round(t * 1e9)
        stamp = Stamp(sec=ns // 10**9, nanosec=ns % 10**9)
        extra = {"seq": k} if "seq" in Header.__dataclass_fields__ else {}
        header = Header(stamp=stamp, frame_id="", **extra)
        values = [np.array([log[f"{kind} {n}"][k] for n in names]) for kind in ("q", "v", "tau")]
        yield ns, State(header, names, *values)


@pytest.mark.parametrize("version", [1, 2])
def test_ros_bags(arm, log, tmp_path, version):
    pytest.importorskip("rosbags")
    from rosbags.typesys import Stores, get_typestore

    store = get_typestore(Stores.ROS1_NOETIC if version == 1 else Stores.ROS2_HUMBLE)
    kind = "sensor_msgs/msg/JointState"
    if version == 1:
        from rosbags.rosbag1 import Writer

        path, options, pack = tmp_path / "a.bag", {}, store.serialize_ros1
    else:
        from rosbags.rosbag2 import Writer

        path, options, pack = tmp_path / "bag", {"version": 8}, store.serialize_cdr
    with Writer(path, **options) as writer:
        place = writer.add_connection("/joint_states", kind, typestore=store)
        for ns, message in states(log, store):
            writer.write(place, ns, pack(message, kind))
    table = read_log(arm, path)
    assert same(table, log) and table.effort.attrs["units"] == "unknown"


@pytest.mark.parametrize("encoding", ["json", "cdr"])
def test_mcap(arm, log, tmp_path, encoding):
    pytest.importorskip("mcap")
    pytest.importorskip("rosbags")
    import json

    from mcap.writer import Writer
    from rosbags.typesys import Stores, get_typestore

    store = get_typestore(Stores.ROS2_HUMBLE)
    with (tmp_path / "a.mcap").open("wb") as file:
        writer = Writer(file)
        writer.start()
        schema = writer.register_schema("sensor_msgs/msg/JointState", "ros2msg", b"")
        channel = writer.register_channel("/joint_states", encoding, schema)
        for ns, m in states(log, store):
            if encoding == "json":
                stamp = {"sec": m.header.stamp.sec, "nanosec": m.header.stamp.nanosec}
                parts = {k: list(getattr(m, k)) for k in ("name", "position", "velocity", "effort")}
                data = json.dumps({"header": {"stamp": stamp}, **parts}).encode()
            else:
                data = bytes(store.serialize_cdr(m, "sensor_msgs/msg/JointState"))
            writer.add_message(channel, ns, data, ns)
        writer.finish()
    assert same(read_log(arm, tmp_path / "a.mcap"), log)


def test_files_that_are_no_logs_are_refused(arm, tmp_path):
    for name, text, words in (
        ("a.xlsx", "x", "logs end in .csv"),
        ("a.csv", "", "the log is empty"),
        ("a.npz", "x", "cannot be read"),
        ("a.mat", "x", "no MATLAB file"),
    ):
        (tmp_path / name).write_text(text)
        with pytest.raises(FormatError, match=words):
            read_raw(tmp_path / name)
    with pytest.raises(FormatError, match="no such log"):
        read_raw(tmp_path / "none.csv")
    (tmp_path / "folder").mkdir()
    with pytest.raises(FormatError, match=r"no metadata.yaml"):
        read_raw(tmp_path / "folder")


def test_a_reader_can_be_added_from_outside(arm, log, tmp_path):
    def read(path: Path) -> RawLog:
        return RawLog(log, str(path))

    LOG_READERS.register(LogReader("toy", (".toy",), "a toy", read))
    try:
        (tmp_path / "a.toy").write_text("")
        assert same(read_log(arm, tmp_path / "a.toy"), log)
    finally:
        del LOG_READERS["toy"]


def test_a_mechanism_with_loops_is_refused(log):
    import catena

    with pytest.raises(StudyError, match="loops or free rotations"):
        read_log(catena.compile(catena.load("four_bar")), log)


def test_conditioning_differentiates_without_delay(arm):
    """The filter keeps the phase: speeds and accelerations agree with the motion's own."""
    t, _, v, a = logs.motion()
    found = condition(read_log(arm, logs.log(arm)))
    inner = slice(50, -50)
    assert np.abs(found.v[inner] - v[inner]).max() < 0.01
    assert np.sqrt(np.mean((found.a - a)[inner] ** 2)) < 0.05 * np.sqrt(np.mean(a**2))
    assert 1.0 < found.cutoff < 20.0 and "where their spectra fall to the noise" in found.notes[-1]
    assert len(t) == len(found.t)


def test_outliers_and_gaps_are_treated_and_noted(arm):
    log = {k: np.array(x) for k, x in logs.log(arm).items()}
    log["tau elbow"][300] = 400.0
    keep = (np.arange(800) < 500) | (np.arange(800) > 540)
    found = condition(read_log(arm, {k: x[keep] for k, x in log.items()}))
    assert found.effort[:, 1].max() < 100.0 and found.valid.sum() < len(found.t) - 35
    assert any("1 isolated outliers of effort" in n for n in found.notes)
    assert any("gap of 0.42 s at 4.99 s" in n for n in found.notes)
