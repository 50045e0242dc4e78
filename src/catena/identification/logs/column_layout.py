"""The layout of a log: which column holds time, position, speed and effort of which joint. It is
given by a mapping, as the string "time=1, q=2-7, v=8-13, current=14-19" or as {"q elbow":
"column"}; or by the header (`q NAME`, `v NAME`, `tau NAME`, `current NAME`, and the words of
`WORDS`); or, without a header, the number of columns: 1 + 2n or 1 + kn with k of at least 3 for n
joints is time, positions, speeds, efforts, and the numbers have to agree with it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import StudyError, unknown
from .readers import RawLog

Array = NDArray[np.float64]
CLOCKS = ("time", "t", "timestamp", "stamp", "seconds", "time_s")
# words of headers and mappings -> the variable, and the unit of an effort (None: the joint's own)
WORDS = {
    "q": ("q", None),
    "pos": ("q", None),
    "position": ("q", None),
    "angle": ("q", None),
    "v": ("v", None),
    "dq": ("v", None),
    "qd": ("v", None),
    "vel": ("v", None),
    "velocity": ("v", None),
    "speed": ("v", None),
    "tau": ("effort", None),
    "torque": ("effort", None),
    "force": ("effort", None),
    "current": ("effort", "A"),
    "i": ("effort", "A"),
    "effort": ("effort", "unknown"),
}
# a speed column agrees with the derivative of its position column where they correlate more
MIN_SPEED_CORRELATION = 0.9


@dataclass(frozen=True)
class Layout:
    """The meaning of the columns of a log.

    time: the column of times. columns: {"q" | "v" | "effort": {joint: column}}. effort_unit: the
    unit of the efforts, None for the joints' own. notes: what was assumed, in sentences.
    """

    time: str
    columns: Mapping[str, Mapping[str, str]]
    effort_unit: str | None
    notes: tuple[str, ...] = ()


def layout_of(
    joints: Sequence[str], raw: RawLog, columns: str | Mapping[str, Any] | None = None
) -> Layout:
    """Return the layout of a log of these joints; raise StudyError with every fault."""
    if columns:
        return _mapped(joints, raw, columns)
    return _by_header(joints, raw) if raw.header else _by_count(joints, raw)


def _mapped(joints: Sequence[str], raw: RawLog, columns: str | Mapping[str, Any]) -> Layout:
    """Return the layout that a mapping gives."""
    entries = _entries(columns) if isinstance(columns, str) else dict(columns)
    found: dict[str, dict[str, str]] = {"q": {}, "v": {}, "effort": {}}
    time, unit, faults = "", None, list[str]()
    for key, value in entries.items():
        word, _, joint = str(key).strip().partition(" ")
        if word.lower() in CLOCKS:
            time = str(value)
            continue
        if word not in WORDS:
            faults.append(unknown("quantity", word, ["time", *WORDS], "a mapping of columns"))
            continue
        kind, of_effort = WORDS[word]
        unit = of_effort if kind == "effort" else unit
        if joint:
            found[kind][joint] = str(value)
            continue
        numbers = _numbers(str(value))
        if len(numbers) != len(joints):
            faults.append(f"{key}={value} names {len(numbers)} columns for {len(joints)} joints")
        found[kind].update(zip(joints, numbers))
    places = list(raw.columns)
    named = {kind: {j: _name(c, places) for j, c in of.items()} for kind, of in found.items()}
    return _checked(joints, raw, Layout(_name(time, places), named, unit), faults)


def _entries(text: str) -> dict[str, str]:
    """Return {quantity: columns} of "q=2-7, v=8-13"; raise StudyError where it cannot be read."""
    found: dict[str, str] = {}
    for part in re.split(r"[,;]\s*(?=[A-Za-z])", text.strip()):
        key, mark, value = part.partition("=")
        if not mark or not value.strip():
            raise StudyError(
                f"columns {text!r}: {part!r} is no entry; write time=1, q=2-7, v=8-13,"
                " current=14-19"
            )
        found[key.strip()] = value.strip()
    return found


def _numbers(text: str) -> list[str]:
    """Return the columns of "2-7" or "2, 5, 9", or of names separated by commas."""
    found = []
    for part in text.split(","):
        span = re.fullmatch(r"\s*(\d+)\s*-\s*(\d+)\s*", part)
        if span:
            found += [str(k) for k in range(int(span[1]), int(span[2]) + 1)]
        else:
            found.append(part.strip())
    return found


def _name(column: str, places: Sequence[str]) -> str:
    """Return the name of a column that is given by its name, or by its number from one."""
    if column not in places and column.isdigit() and 1 <= int(column) <= len(places):
        return places[int(column) - 1]
    return column


def _by_header(joints: Sequence[str], raw: RawLog) -> Layout:
    """Return the layout that the names of the columns give."""
    time = next((c for c in raw.columns if c.lower() in CLOCKS), "")
    found: dict[str, dict[str, str]] = {"q": {}, "v": {}, "effort": {}}
    units, faults = set(), []
    for column in raw.columns:
        word, joint = _split(column, joints)
        if word not in WORDS or column == time:
            continue
        kind, unit = WORDS[word]
        if joint in joints:
            found[kind][joint] = column
            if kind == "effort":
                units.add(unit)
        elif joint:
            faults.append(f"column {column!r}: " + unknown("joint", joint, joints, raw.source))
    for joint in joints:
        if joint in raw.columns:
            found["q"].setdefault(joint, joint)
    if len(units) > 1:
        faults.append("it has both torques and currents; name the columns to be used by a mapping")
    return _checked(joints, raw, Layout(time, found, next(iter(units), None)), faults)


def _split(column: str, joints: Sequence[str]) -> tuple[str, str]:
    """Return the quantity and the joint of a header such as "q elbow", "elbow_pos", "tau_3"."""
    word, _, rest = column.partition(" ")
    if word.lower() in WORDS and rest:
        joint = rest.strip()
    else:
        found = re.fullmatch(r"(.+?)[_./ ]([A-Za-z]+|\d+)", column)
        if not found:
            return "", ""
        one, two = found.groups()
        word, joint = (one, two) if one.lower() in WORDS else (two, one)
    if joint.isdigit() and joint not in joints and 1 <= int(joint) <= len(joints):
        joint = joints[int(joint) - 1]
    return word.lower(), joint


def _by_count(joints: Sequence[str], raw: RawLog) -> Layout:
    """Return the layout of a log without a header, if the numbers agree with it."""
    n, places = len(joints), list(raw.columns)
    blocks, rest = divmod(len(places) - 1, n)
    if rest or blocks < 2:
        raise StudyError(
            f"{raw.source} has {len(places)} columns and no header; for {n} joints {1 + 3 * n} or"
            " more would be time, positions, speeds and efforts; name them, for example with"
            f" columns='time=1, q=2-{n + 1}, current={n + 2}-{2 * n + 1}'"
        )
    part = [dict(zip(joints, places[1 + k * n : 1 + (k + 1) * n])) for k in range(min(blocks, 3))]
    t = raw.columns[places[0]]
    speeds = blocks >= 3 and _are_speeds(t, raw, part)
    if blocks == 3 and not speeds:
        raise StudyError(
            f"{raw.source} has no header, and columns {n + 2} to {2 * n + 1} are not the rates of"
            f" columns 2 to {n + 1}; name the columns by a mapping"
        )
    found = {"q": part[0], "v": part[1] if speeds else {}, "effort": part[2 if speeds else 1]}
    note = (
        f"no header: column 1 is taken as time, 2 to {n + 1} as positions"
        + (f", {n + 2} to {2 * n + 1} as speeds" if speeds else "")
        + f", {1 + n * (1 + speeds) + 1} to {1 + n * (2 + speeds)} as efforts of an unknown unit;"
        " others are ignored"
    )
    return _checked(joints, raw, Layout(places[0], found, "unknown", (note,)), [])


def _are_speeds(t: Array, raw: RawLog, part: Sequence[Mapping[str, str]]) -> bool:
    """Return whether the second block of columns contains the rates of the first; true for a log at
    rest too.
    """
    if not (np.isfinite(t).all() and (np.diff(t) > 0).all()):
        return True  # the faults of the clock are reported by the checks
    for joint in part[0]:
        q, v = (raw.columns[p[joint]] for p in part[:2])
        rate = np.gradient(np.nan_to_num(q), t)
        if np.std(rate) < 1e-2 or np.std(np.nan_to_num(v)) < 1e-2:  # rad/s: at rest, or stuck
            continue
        if abs(np.corrcoef(rate, np.nan_to_num(v))[0, 1]) > MIN_SPEED_CORRELATION:
            return True
    return all(np.nanstd(raw.columns[part[0][j]]) < 1e-2 for j in part[0])


def _checked(joints: Sequence[str], raw: RawLog, layout: Layout, faults: list[str]) -> Layout:
    """Return a layout without its empty quantities; raise StudyError where something is missing."""
    shown = ", ".join(list(raw.columns)[:12])
    if not layout.time:
        faults.append(f"there is no column 'time' (s); its columns are {shown}")
    for kind, example in (("q", "q NAME"), ("v", "v NAME"), ("effort", "tau NAME")):
        of = layout.columns[kind]
        lacking = [j for j in joints if j not in of]
        if lacking and (of or kind != "v"):
            faults.append(f"there is no column '{example}' of {', '.join(lacking)}")
    used = [layout.time, *(c for of in layout.columns.values() for c in of.values())]
    faults += [f"there is no column {c!r}" for c in used if c and c not in raw.columns]
    faults += [f"column {c!r} is used twice" for c in dict.fromkeys(used) if used.count(c) > 1]
    if faults:
        raise StudyError(f"the columns of {raw.source} cannot be assigned:", faults)
    kept = {kind: of for kind, of in layout.columns.items() if of}
    return Layout(layout.time, kept, layout.effort_unit, layout.notes)
