"""The description, the modes and the travel of a run as rows of tables: for `catena info`,
`modes`, `run` and for reports.
"""

from __future__ import annotations

from collections.abc import Collection
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import numpy as np

from .numbers import axes, count, number, plain, series, span, vector

if TYPE_CHECKING:
    from ..analysis import Modes
    from ..results import Result

MODE_HEAD = ["mode", "Hz", "rad/s", "damping ratio", "moves most", ""]
TRAVEL_HEAD = ["coordinate", "start", "end", "least", "largest", "unit"]


def heading(d: dict[str, Any]) -> list[str]:
    """Return five lines that describe the mechanism."""
    loops = f", {count(d['loops'], 'loop', 'loops')}" if d["loops"] else ""
    plane = f"planar, normal to {axes([d['planar']['normal']])}" if d["planar"] else "not planar"
    return [
        (
            f"  {count(d['bodies'], 'body', 'bodies')},"
            f" {count(d['joints'], 'joint', 'joints')}{loops}; nq {d['nq']}, nv {d['nv']}"
        ),
        f"  {_freedoms(d['mobility'])}",
        f"  total mass {number(d['total_mass'])} kg",
        f"  gravity {vector(d['gravity'])} m/s2",
        f"  {plane}",
    ]


def tables(d: dict[str, Any]) -> list[tuple[str, list[str], list[list[str]]]]:
    """Return title, columns and rows of each table."""
    joint_columns = [
        "name",
        "kind",
        "parent",
        "child",
        "axis",
        "q",
        "v",
        "limits",
        "effort",
        "speed",
        "damping",
        "friction",
        "armature",
        "follows",
    ]
    inner = {
        name for beam in d["beams"] for name in (*beam["bodies"], *beam["joints"], *beam["loads"])
    }
    both = enumerate(zip_longest(d["coordinates"], d["speeds"]))
    coordinates = [
        [*_entry(k, c), *_entry(k, s)]
        for k, (c, s) in both
        if not {x["joint"] for x in (c, s) if x} & inner
    ]
    return [
        (
            "bodies",
            ["name", "mass (kg)", "centre of mass (m)", "principal inertia about it (kg m2)"],
            [
                [b["name"], number(b["mass"]), vector(b["com"]), series(b["principal_inertia"])]
                for b in d["bodies"]
                if b["name"] not in inner
            ],
        ),
        (
            "flexible bodies (kg, m, kg/m, N m2, N), their insides not shown",
            [
                "name",
                "made of",
                "mass",
                "length",
                "rhoA",
                "EI",
                "EA",
                "GJ",
                "damping",
                "frequencies too high by",
            ],
            [_beam(b) for b in d["beams"]],
        ),
        ("joints (rad, m, N m, N, s)", joint_columns, _joints(d["joints"], inner)),
        ("loops", joint_columns, _joints(d["loops"])),
        ("coordinates and speeds", ["q", "coordinate", "unit", "v", "speed", "unit"], coordinates),
        (
            "loads, speed rows and constraints",
            ["name", "kind", "what"],
            [
                [
                    x["name"],
                    x["kind"],
                    ", ".join(f"{k} {v}" for k, v in x.items() if k not in ("name", "kind")),
                ]
                for x in (*d["loads"], *d["nonholonomic"], *d["constraints"])
                if x["name"] not in inner
            ],
        ),
        (
            "parameters (SI)",
            ["name", "value", "unit"],
            [
                [name, number(x), d["parameter_units"].get(name, "").replace("*", " ")]
                for name, x in d["parameters"].items()
            ],
        ),
        ("frames", ["name", "body"], [[f["name"], f["body"]] for f in d["frames"]]),
        (
            "at these coordinates: what holds the mechanism still (N m, N)",
            ["coordinate", "force"],
            [[name, number(x)] for name, x in d.get("state", {}).get("holding", {}).items()],
        ),
        (
            "at these coordinates: bodies and frames in the ground's axes (m)",
            ["name", "position"],
            [[name, vector(x)] for name, x in d.get("state", {}).get("positions", {}).items()],
        ),
        (
            "formulations",
            ["name", "equations of motion"],
            [
                [name, f"no: it cannot treat {' or '.join(lacks)}" if lacks else "yes"]
                for name, lacks in d["formulations"].items()
            ],
        ),
    ]


def closing(trip: dict[str, Any]) -> str:
    """Return a sentence with the result of the comparison of inverse and forward dynamics."""
    if trip["difference"] is None:
        return f"inverse then forward dynamics: not possible. {plain(trip['why'])}"
    asked = (
        "forward then inverse dynamics, less the constraints' forces,"
        if trip["rows"]
        else "inverse then forward dynamics"
    )
    return (
        f"{asked} at {trip['states']} random states: largest relative difference"
        f" {trip['difference']:.1g}"
    )


def _beam(b: dict[str, Any]) -> list[str]:
    """Return the row of a flexible body."""
    modes = b.get("modes")
    kinds = (
        f"{modes} modes"
        if isinstance(modes, int)
        else "modes " + ", ".join(f"{k} {n}" for k, n in modes or ())
    )
    way = count(range(b["segments"]), "segment", "segments") if "segments" in b else kinds
    EI = b["EI"] if isinstance(b["EI"], list) else [b["EI"]]
    return [
        b["name"],
        way,
        *(number(b[key]) for key in ("mass", "length", "rhoA")),
        series(EI),
        number(b["EA"]),
        number(b["GJ"]),
        number(b["damping"] or None),
        ", ".join(f"{d} {100 * max(x):.2g} %" for d, x in b["frequency_errors"].items()),
    ]


def _joints(joints: list[dict[str, Any]], hidden: Collection[str] = ()) -> list[list[str]]:
    """Return the rows of joints, without hidden ones."""
    rows, k, l = [], 0, 0
    for j in joints:
        nq = len(j["coordinates"])
        nv = len(j["speeds"])
        losses = [
            series(j[name]) if any(j[name]) else "" for name in ("damping", "friction", "armature")
        ]
        if j["name"] not in hidden:
            rows.append(
                [
                    j["name"],
                    j["kind"],
                    j["parent"],
                    j["child"],
                    axes(j["axes"]) or " ".join(j["sequence"]),
                    span(k, nq),
                    span(l, nv),
                    _limits(j),
                    series(j["effort"]),
                    series(j["speed"]),
                    *losses,
                    _follows(j),
                ]
            )
        k, l = k + nq, l + nv
    return rows


def _freedoms(m: dict[str, Any]) -> str:
    """Return the degrees of freedom as a sentence."""
    if m["degrees_of_freedom"] is None:
        return f"degrees of freedom not known: {plain(m['why'])}"
    less = f": {m['rank']} of {m['rows']} constraint rows are independent" if m["rows"] else ""
    here = f"; singular here: {m['here']} in this configuration" if m.get("singular") else ""
    others = ", ".join(map(str, m.get("elsewhere", ())))
    elsewhere = f"; put together otherwise it has {others}" if others else ""
    return f"degrees of freedom {m['degrees_of_freedom']}{less}{here}{elsewhere}"


def _limits(j: dict[str, Any]) -> str:
    """Return the limits of a joint as text."""
    if not any(x is not None for x in (*j["lower"], *j["upper"])):
        return ""
    return "; ".join(
        f"{number(a) or '-inf'} to {number(b) or 'inf'}" for a, b in zip(j["lower"], j["upper"])
    )


def _follows(j: dict[str, Any]) -> str:
    """Return the mimic relation of a joint as text, "" where it has none."""
    mimic = j["mimic"]
    return (
        f"{number(mimic['multiplier'])} {mimic['joint']} + {number(mimic['offset'])}"
        if mimic
        else ""
    )


def _entry(k: int, x: dict[str, str] | None) -> list[str]:
    """Return index, name and unit of a coordinate or speed as cells; empty cells for None."""
    return [str(k), x["name"], x["unit"]] if x else ["", "", ""]


# --- modes and runs
def mode_rows(found: Modes, most: int) -> list[list[str]]:
    """Return a row for each of the slowest modes: frequency, damping, the speed that moves most,
    and the growth of an unstable one.
    """
    rows = list(zip(found.frequencies, found.hertz, found.ratios, found.squares, found.leading))[
        :most
    ]
    return [
        [
            str(k + 1),
            number(hertz) if square >= 0 else "",
            number(rate) if square >= 0 else "",
            number(ratio) if ratio == ratio else "",
            leading,
            "" if square >= 0 else f"grows as exp({(-square) ** 0.5:.4g} t)",
        ]
        for k, (rate, hertz, ratio, square, leading) in enumerate(rows)
    ]


def travel_rows(result: Result) -> tuple[list[list[str]], int]:
    """Return the rows of coordinates that moved and of the tips of flexible bodies, and how many
    did not move.
    """
    q = result.data["q"]
    inner = {name for j in result.mechanism.elastic for name in j.coordinate_names}
    q = q.isel(coordinate=[str(name) not in inner for name in q["coordinate"].values])
    values = q.values
    moved = np.ptp(values, axis=0) > 1e-9
    labels = zip(
        q["coordinate"].values[moved], q["coordinate_unit"].values[moved], values[:, moved].T
    )
    rows = [[str(name), *_span_of(x), str(unit)] for name, unit, x in labels]
    rows += [[name, *_span_of(x), "m"] for name, x in _tip_deflections(result).items()]
    return rows, int(np.count_nonzero(~moved))


def _span_of(x: np.ndarray) -> list[str]:
    """Return start, end, least and largest value as text; values below 1e-12 are shown as zero."""
    return [number(0.0 if abs(y) < 1e-12 else float(y)) for y in (x[0], x[-1], x.min(), x.max())]


def _tip_deflections(result: Result) -> dict[str, np.ndarray]:
    """Return the deflections of the tips of flexible bodies, m."""
    if not result.mechanism.beams:
        return {}
    from ..results.plots import deflections

    return {f"tip of {name}": w for name, w in deflections(result).items()}
