"""Logs of ROS: bags of ROS 1 and ROS 2, and MCAP, with messages sensor_msgs/JointState.

Each message has names, positions, speeds and efforts. The time is that of the message's header, and
that of the recording where the header has none. Columns are named `q NAME`, `v NAME`, `effort
NAME`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from ...errors import FormatError
from .readers import RawLog, checked_columns

JOINT_STATE = "sensor_msgs/msg/JointState"
KINDS = (("q", "position"), ("v", "velocity"), ("effort", "effort"))


def read_bag(path: Path) -> RawLog:
    """Return the joint states of a ROS 1 bag, of the folder of a ROS 2 bag, or of its .db3."""
    AnyReader, store = _rosbags(path)
    place = path.parent if path.suffix == ".db3" else path
    try:
        with AnyReader([place], default_typestore=store) as reader:
            wanted = [c for c in reader.connections if c.msgtype == JOINT_STATE]
            topics = {c.topic: c.msgtype for c in reader.connections}
            messages = [
                (stamp * 1e-9, reader.deserialize(data, c.msgtype))
                for c, stamp, data in (reader.messages(wanted) if wanted else ())
            ]
    except Exception as why:  # the errors of rosbags have no common class
        raise FormatError(path, f"this bag cannot be read: {str(why).splitlines()[0]}") from None
    return _joint_states(path, messages, topics)


def read_mcap(path: Path) -> RawLog:
    """Return the joint states of an MCAP file, in the encodings of ROS 1, ROS 2 and JSON."""
    try:
        from mcap.exceptions import McapError
        from mcap.reader import make_reader
    except ImportError:
        raise FormatError(path, "MCAP needs the package mcap: pip install catena[logs]") from None
    topics: dict[str, str] = {}
    messages = []
    try:
        with path.open("rb") as file:
            for schema, channel, message in make_reader(file).iter_messages():
                kind = schema.name if schema else ""
                topics[channel.topic] = kind
                if kind.rpartition("/")[2] == "JointState":
                    decoded = _decoded(path, channel.message_encoding, message.data)
                    messages.append((message.log_time * 1e-9, decoded))
    except McapError as why:
        raise FormatError(path, f"this MCAP file cannot be read: {why}") from None
    return _joint_states(path, messages, topics)


def _decoded(path: Path, encoding: str, data: bytes) -> Any:
    """Return a message JointState in one of its encodings."""
    if encoding == "json":
        return json.loads(data, object_hook=lambda x: SimpleNamespace(**x))
    _, store = _rosbags(path)
    if encoding == "cdr":
        return store.deserialize_cdr(data, JOINT_STATE)
    if encoding == "ros1":
        return _rosbags(path, ros1=True)[1].deserialize_ros1(data, JOINT_STATE)
    raise FormatError(
        path, f"joint states are encoded as {encoding!r}; cdr, ros1 and json are supported"
    )


_STORES: dict[bool, Any] = {}


def _rosbags(path: Path, ros1: bool = False) -> tuple[Any, Any]:
    """Return the reader of rosbags and a store of message types; raise FormatError without it."""
    try:
        from rosbags.highlevel import AnyReader
        from rosbags.typesys import Stores, get_typestore
    except ImportError:
        raise FormatError(path, "ROS messages need rosbags: pip install catena[logs]") from None
    if ros1 not in _STORES:
        _STORES[ros1] = get_typestore(Stores.ROS1_NOETIC if ros1 else Stores.ROS2_HUMBLE)
    return AnyReader, _STORES[ros1]


def _joint_states(path: Path, messages: list[tuple[float, Any]], topics: dict[str, str]) -> RawLog:
    """Return the columns of joint states; raise FormatError where there are none."""
    if not messages:
        shown = ", ".join(f"{t} ({k})" for t, k in sorted(topics.items())[:8]) or "none"
        raise FormatError(
            path, f"there is no topic of type sensor_msgs/JointState; its topics are {shown}"
        )
    names = list(dict.fromkeys(n for _, m in messages for n in m.name))
    whole = [(t, m) for t, m in messages if set(names) <= set(m.name)]
    if len(whole) < 10:
        raise FormatError(
            path,
            f"{len(whole)} of {len(messages)} joint states have all of {', '.join(names)}; joints"
            " that are published by several nodes have to be merged into one topic first",
        )
    columns = {"time": np.array([_stamp(t, m) for t, m in whole])}
    columns["time"] -= columns["time"][0]
    for name in names:
        columns.update(_columns_of(name, [m for _, m in whole]))
    return checked_columns(columns, str(path))


def _columns_of(name: str, messages: Iterable[Any]) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the columns of one joint: those that the messages have."""
    messages = list(messages)
    places = [list(m.name).index(name) for m in messages]
    for kind, attribute in KINDS:
        values = [getattr(m, attribute) for m in messages]
        if all(len(x) > k for x, k in zip(values, places)):
            column = np.array([float(x[k]) for x, k in zip(values, places)])
            if not np.isnan(column).all():
                yield f"{kind} {name}", column


def _stamp(recorded: float, message: Any) -> float:
    """Return the time of a message's header, s; that of the recording where it is zero."""
    stamp = message.header.stamp
    own = stamp.sec + 1e-9 * (stamp.nanosec if hasattr(stamp, "nanosec") else stamp.nsec)
    return float(own) if own > 0 else recorded
