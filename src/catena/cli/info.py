"""`catena info`: what a mechanism is, and whether its inverse and forward dynamics agree."""

from __future__ import annotations

import json
import warnings
from collections.abc import Collection
from itertools import zip_longest
from typing import Annotated, Any

import typer

from ..errors import MechanismWarning
from ._reading import Arguments, Companion, Csv, File, Floating, Gravity, Set, Start, Trust, Uncoupled, pairs, read, xacro
from ._tables import axes, comma_separated, console, count, number, plain, series, span, table, vector


def info(
    file: File,
    floating: Floating = False,
    no_mimic: Uncoupled = False,
    gravity: Gravity = None,
    companion: Companion = None,
    parameters: Set = None,
    arg: Arguments = None,
    trust: Trust = False,
    q: Start = None,
    csv: Csv = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
    mapped: Annotated[bool, typer.Option("--mapping", help="Say what became of each element of the file, and nothing else.")] = False,
) -> None:
    """Show what a mechanism is, and check forward against inverse dynamics at random states."""
    from ..machine.machine import compile
    from ._description import describe, mobility, round_trip, state

    if mapped:
        return _mapping(file, as_json)
    mechanism = read(file, floating, no_mimic, gravity, companion, parameters, xacro(arg, trust))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MechanismWarning)  # told below, as doubts
        machine = compile(mechanism)
    found = describe(mechanism) | {"mobility": mobility(machine)} | ({"state": state(machine, pairs("--q", q))} if q else {})
    if as_json:
        print(json.dumps(found | {"round_trip": round_trip(machine)}, indent=2, allow_nan=False))
        return
    if csv:
        print("\n".join(f"{title}\n{comma_separated(columns, rows)}" for title, columns, rows in tables(found) if rows), end="")
        return
    screen = console()
    for line in (plain(found["name"]), *heading(found)):
        screen.print(line, markup=False, soft_wrap=True)
    for title, columns, rows in tables(found):
        if rows:
            screen.print(f"\n{title}", style="bold", markup=False, soft_wrap=True)
            screen.print(table(columns, rows))
    for title, sentences in (("notes", found["notes"]), ("doubts", found["doubts"])):
        for k, sentence in enumerate(sentences):
            screen.print(("" if k else f"\n{title}\n") + f"  - {plain(sentence)}", markup=False, soft_wrap=True)
    screen.print()
    screen.print(closing(round_trip(machine)), markup=False, soft_wrap=True)


def _mapping(file: str, as_json: bool) -> None:
    """The mapping report: one row per element, or that the format has none."""
    from dataclasses import asdict

    from ..formats import mapping

    found = mapping(file)
    if as_json:
        print(json.dumps([asdict(e) for e in found], indent=2))
    elif not found:
        console().print("this format says nothing that a mechanism does not hold: there is no mapping to show; see notes in `catena info`")
    else:
        console().print(table(["element", "name", "outcome", "how"], [[e.element, e.name, e.outcome, e.how] for e in found]))


def heading(d: dict[str, Any]) -> list[str]:
    """The mechanism in five lines."""
    loops = f", {count(d['loops'], 'loop', 'loops')}" if d["loops"] else ""
    plane = f"planar, normal to {axes([d['planar']['normal']])}" if d["planar"] else "not planar"
    return [
        f"  {count(d['bodies'], 'body', 'bodies')}, {count(d['joints'], 'joint', 'joints')}{loops}; nq {d['nq']}, nv {d['nv']}",
        f"  {_freedoms(d['mobility'])}",
        f"  total mass {number(d['total_mass'])} kg",
        f"  gravity {vector(d['gravity'])} m/s2",
        f"  {plane}",
    ]


def tables(d: dict[str, Any]) -> list[tuple[str, list[str], list[list[str]]]]:
    """Title, columns and rows of each table."""
    joint_columns = ["name", "kind", "parent", "child", "axis", "q", "v", "limits", "effort", "speed", "damping", "friction",
                     "armature", "follows"]  # fmt: skip
    inner = {name for beam in d["beams"] for name in (*beam["bodies"], *beam["joints"], *beam["loads"])}
    both = enumerate(zip_longest(d["coordinates"], d["speeds"]))
    coordinates = [[*_entry(k, c), *_entry(k, s)] for k, (c, s) in both if not {x["joint"] for x in (c, s) if x} & inner]
    return [
        ("bodies", ["name", "mass (kg)", "centre of mass (m)", "principal inertia about it (kg m2)"],
         [[b["name"], number(b["mass"]), vector(b["com"]), series(b["principal_inertia"])] for b in d["bodies"] if b["name"] not in inner]),
        ("flexible bodies (kg, m, kg/m, N m2, N), their insides not shown", ["name", "made of", "mass", "length", "rhoA", "EI", "EA", "GJ", "damping", "frequencies too high by"],
         [_beam(b) for b in d["beams"]]),
        ("joints (rad, m, N m, N, s)", joint_columns, _joints(d["joints"], inner)),
        ("loops", joint_columns, _joints(d["loops"])),
        ("coordinates and speeds", ["q", "coordinate", "unit", "v", "speed", "unit"], coordinates),
        ("loads, speed rows and constraints", ["name", "kind", "what"],
         [[x["name"], x["kind"], ", ".join(f"{k} {v}" for k, v in x.items() if k not in ("name", "kind"))]
          for x in (*d["loads"], *d["nonholonomic"], *d["constraints"]) if x["name"] not in inner]),
        ("parameters (SI)", ["name", "value"], [[name, number(x)] for name, x in d["parameters"].items()]),
        ("frames", ["name", "body"], [[f["name"], f["body"]] for f in d["frames"]]),
        ("at these coordinates: what holds the mechanism still (N m, N)", ["coordinate", "force"],
         [[name, number(x)] for name, x in d.get("state", {}).get("holding", {}).items()]),
        ("at these coordinates: bodies and frames in the ground's axes (m)", ["name", "position"],
         [[name, vector(x)] for name, x in d.get("state", {}).get("positions", {}).items()]),
        ("formulations", ["name", "equations of motion"],
         [[name, f"no: it cannot treat {' or '.join(lacks)}" if lacks else "yes"] for name, lacks in d["formulations"].items()]),
    ]  # fmt: skip


def closing(trip: dict[str, Any]) -> str:
    """The round trip in one sentence."""
    if trip["difference"] is None:
        return f"inverse then forward dynamics: not possible. {plain(trip['why'])}"
    asked = "forward then inverse dynamics, less the constraints' forces," if trip["rows"] else "inverse then forward dynamics"
    return f"{asked} at {trip['states']} random states: largest relative difference {trip['difference']:.1g}"


def _beam(b: dict[str, Any]) -> list[str]:
    modes = b.get("modes")
    kinds = f"{modes} modes" if isinstance(modes, int) else "modes " + ", ".join(f"{k} {n}" for k, n in modes or ())
    way = count(range(b["segments"]), "segment", "segments") if "segments" in b else kinds
    EI = b["EI"] if isinstance(b["EI"], list) else [b["EI"]]
    return [b["name"], way, *(number(b[key]) for key in ("mass", "length", "rhoA")), series(EI), number(b["EA"]), number(b["GJ"]),
            number(b["damping"] or None), ", ".join(f"{d} {100 * max(x):.2g} %" for d, x in b["frequency_errors"].items())]  # fmt: skip


def _joints(joints: list[dict[str, Any]], hidden: Collection[str] = ()) -> list[list[str]]:
    rows, k, l = [], 0, 0
    for j in joints:
        nq, nv = len(j["coordinates"]), len(j["speeds"])
        losses = [series(j[name]) if any(j[name]) else "" for name in ("damping", "friction", "armature")]
        if j["name"] not in hidden:
            rows.append([j["name"], j["kind"], j["parent"], j["child"], axes(j["axes"]) or " ".join(j["sequence"]), span(k, nq),
                         span(l, nv), _limits(j), series(j["effort"]), series(j["speed"]), *losses, _follows(j)])  # fmt: skip
        k, l = k + nq, l + nv
    return rows


def _freedoms(m: dict[str, Any]) -> str:
    if m["degrees_of_freedom"] is None:
        return f"degrees of freedom not known: {plain(m['why'])}"
    less = f": {m['rank']} of {m['rows']} constraint rows are independent" if m["rows"] else ""
    return f"degrees of freedom {m['degrees_of_freedom']}{less}"


def _limits(j: dict[str, Any]) -> str:
    if not any(x is not None for x in (*j["lower"], *j["upper"])):
        return ""
    return "; ".join(f"{number(a) or '-inf'} to {number(b) or 'inf'}" for a, b in zip(j["lower"], j["upper"]))


def _follows(j: dict[str, Any]) -> str:
    mimic = j["mimic"]
    return f"{number(mimic['multiplier'])} {mimic['joint']} + {number(mimic['offset'])}" if mimic else ""


def _entry(k: int, x: dict[str, str] | None) -> list[str]:
    return [str(k), x["name"], x["unit"]] if x else ["", "", ""]
