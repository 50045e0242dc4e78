"""Does every robot of the shelf run with default options, and how long does its first run take?

    python benchmarks/robots_by_default.py [WORD ...] [--source NAME] [--case NAME] [--out FILE]
    python benchmarks/robots_by_default.py --table FILE      a table of an earlier output

Every robot that `catena robots` lists (each file once; MJCF scenes, which repeat a robot with a
floor, are left out) runs for 2 s from a random state within its limits:

    defaults   no options: dry friction as in the file, joint limits checked at the start only
    stops      limits="stop": joints stop at their limits
    hold       limits="stop", and a PD controller with gravity compensation that holds the start
    friction   limits="stop", and dry friction in every joint: that of the file, else 2 per cent of
               the torque of gravity at the start

Each case has a process of its own with an empty cache and at most LIMIT seconds of processor time.
Columns: `first`, processor time of the process up to the end of the first run, with imports and
loading; `again`, processor time of the same run once more (the better of two), relative to
the simulated time;
steps and events; `energy`, the error of the energy balance relative to the largest kinetic energy;
`tighter`, the difference of the coordinates to a run with a tighter tolerance (rad or m), with a
question mark where the ledger says that it is too large. Asked: first below 5 s, again below 1,
energy below 1e-7, and a verdict of the ledger on the difference.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

UNTIL = 2.0  # s
SEED = 26
SPEED = 0.5  # standard deviation of the initial speeds, rad/s or m/s
LIMIT = 30  # s of processor time of one process
ASKED = {"first": 5.0, "again": 1.0, "energy": 1e-7}
FRICTION_SHARE = 0.02  # dry friction of joints without any, relative to the torque of gravity
CASES = ("defaults", "stops", "hold", "friction")


@dataclass(frozen=True)
class Outcome:
    """What became of one case of one robot. Numbers that are missing are None."""

    robot: str
    case: str
    source: str = ""
    outcome: str = ""
    freedoms: int | None = None
    dry: bool | None = None  # whether the file has dry friction
    load: float | None = None
    first: float | None = None
    again: float | None = None
    steps: int | None = None
    events: int | None = None
    energy: float | None = None
    tighter: float | None = None
    met: bool | None = None  # whether the tighter run agrees, as the ledger says
    verdict: str = ""

    @property
    def is_good(self) -> bool:
        """Whether everything that is asked holds."""
        within = [
            (x := getattr(self, name)) is not None and x <= limit for name, limit in ASKED.items()
        ]
        return self.ended and all(within) and self.met is not None

    @property
    def ended(self) -> bool:
        """Whether the first run reached its end."""
        return self.outcome.startswith("the end was reached")


# --- one case, in a process of its own
def measure(file: str, case: str) -> None:
    """Print what is found as JSON, one line for each stage."""
    import numpy as np

    import catena

    warnings.simplefilter("ignore")
    mechanism = catena.load(file)
    machine = catena.compile(mechanism)
    say(freedoms=machine.nv, dry=has_friction(mechanism), load=time.process_time())
    q, v = start(machine)
    options: dict[str, Any] = {} if case == "defaults" else {"limits": "stop"}
    if case == "friction":
        mechanism = rubbing(mechanism, np.abs(machine.gravity(q)))
        machine = catena.compile(mechanism)
    if case == "hold":
        options["control"] = catena.control.hold(machine, q)
    result = catena.simulate(machine, q=q, v=v, until=UNTIL, **options)
    say(first=time.process_time(), **numbers(result))
    again = []
    for _ in range(2):  # code that has run for a while is compiled again, with optimisation
        began = time.process_time()
        catena.simulate(machine, q=q, v=v, until=UNTIL, **options)
        again.append(time.process_time() - began)
        say(again=min(again) / UNTIL)
    ledger = catena.simulate(machine, q=q, v=v, until=UNTIL, verify=True, **options).ledger
    say(tighter=ledger.verified, met=ledger.met, verdict=ledger.verdict)


def start(machine: Any) -> tuple[Any, Any]:
    """A random state within the limits, with loops closed."""
    import numpy as np

    import catena

    rng = np.random.default_rng(SEED)
    q, v = machine.sample(rng), SPEED * rng.standard_normal(machine.nv)
    return catena.assemble(machine, q, v) if machine.mechanism.constrained else (q, v)


def say(**found: Any) -> None:
    print(json.dumps(found), flush=True)


def has_friction(mechanism: Any) -> bool:
    return any(x != 0.0 for j in mechanism.moving for x in j.friction)


def rubbing(mechanism: Any, gravity: Any) -> Any:
    """The mechanism with dry friction in every joint of one freedom."""
    least = FRICTION_SHARE * float(gravity.max())
    joints, k = {}, 0
    for j in mechanism.moving:
        n = len(j.friction)
        if n == 1 and j.mimic is None and j.friction[0] == 0.0:
            joints[j.name] = replace(j, friction=max(FRICTION_SHARE * gravity[k], 1e-3 * least))
        k += 0 if j.mimic is not None else n
    return mechanism.with_(joints=tuple(joints.get(j.name, j) for j in mechanism.joints))


def numbers(result: Any) -> dict[str, Any]:
    ledger = result.ledger
    return {
        "outcome": ledger.outcome,
        "steps": ledger.steps,
        "events": int(result.data["event_time"].size) if "event_time" in result.data else 0,
        "energy": ledger.relative_energy_balance,
    }


# --- all cases
def run(robot: Any, case: str) -> Outcome:
    """Measure one case in a process of its own, with an empty cache."""
    with tempfile.TemporaryDirectory() as cache:
        process = subprocess.run(
            [sys.executable, __file__, "--measure", str(robot.file), case],
            capture_output=True,
            text=True,
            env={**os.environ, "CATENA_CACHE_DIR": cache, "OMP_NUM_THREADS": "1"},
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT + 1)),
        )
    found: dict[str, Any] = {}
    for line in process.stdout.splitlines():
        if line.startswith("{"):
            found |= json.loads(line)
    if "outcome" not in found:
        words = (process.stderr.strip().splitlines() or [""])[-1]
        found["outcome"] = (
            f"does not end in {LIMIT} s" if process.returncode < 0 else f"refused: {words[:300]}"
        )
    return Outcome(robot.name, case, robot.source, **found)


def files(words: list[str], source: str | None) -> list[Any]:
    """The robots of the shelf, each file once, without scenes."""
    import catena

    by_file: dict[Path, Any] = {}
    for robot in catena.robots().values():
        if not robot.file.stem.startswith("scene") and source in (None, robot.source):
            by_file.setdefault(robot.file, robot)
    return [r for r in by_file.values() if not words or any(w in r.name for w in words)]


def line(o: Outcome) -> str:
    def shown(x: float | None, how: str) -> str:
        return format(x, how) if x is not None else "-"

    return (
        f"{o.robot:44} {o.case:9} {shown(o.freedoms, 'd'):>4} {shown(o.first, '.2f'):>6}"
        f" {shown(o.again, '.3f'):>7} {shown(o.steps, 'd'):>7} {shown(o.events, 'd'):>6}"
        f" {shown(o.energy, '.0e'):>6} {shown(o.tighter, '.0e'):>6}"
        f"{'? ' if o.met is False else '  '}{'' if o.is_good else '! '}{o.outcome[:90]}"
    )


def table(outcomes: list[Outcome]) -> str:
    """A summary: one row for each case and each source."""
    rows = [
        "| robots | case | of | ended | within all bounds | first run, median (largest) |"
        " again / real time, median (largest) | events, most |",
        "|---|---|---|---|---|---|---|---|",
    ]
    groups: dict[tuple[str, str], list[Outcome]] = {}
    for o in outcomes:
        groups.setdefault((o.source, o.case), []).append(o)
        if o.case == "defaults" and o.dry:
            groups.setdefault((o.source, "defaults, dry friction in the file"), []).append(o)
    for (source, case), group in sorted(groups.items()):
        loaded = [o for o in group if not o.outcome.startswith("refused")]
        first, again = (
            [x for o in group if (x := getattr(o, name)) is not None] for name in ("first", "again")
        )
        rows.append(
            f"| {source} | {case} | {len(loaded)} | {sum(o.ended for o in loaded)} |"
            f" {sum(o.is_good for o in loaded)} | {_middle(first)} s | {_middle(again)} |"
            f" {max((o.events or 0 for o in group), default=0)} |"
        )
    return "\n".join(rows)


def _middle(x: list[float]) -> str:
    return f"{statistics.median(x):.2g} ({max(x):.2g})" if x else "-"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("words", nargs="*")
    parser.add_argument("--source")
    parser.add_argument("--case", action="append", choices=CASES)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--table", type=Path)
    parser.add_argument("--measure", nargs=2, metavar=("FILE", "CASE"))
    parser.add_argument("--tiny", action="store_true")
    given = parser.parse_args()
    if given.measure:
        measure(*given.measure)
        return
    if given.table:
        outcomes = [Outcome(**json.loads(x)) for x in given.table.read_text().splitlines()]
    else:
        outcomes = []
        print("robot, case, freedoms, first (s), again, steps, events, energy, tighter, outcome")
        for robot in files(["two_link"] if given.tiny else given.words, given.source):
            for case in given.case or CASES:
                outcomes.append(run(robot, case))
                print(line(outcomes[-1]), flush=True)
                if given.out:
                    with given.out.open("a") as out:
                        out.write(json.dumps(vars(outcomes[-1])) + "\n")
    print(table(outcomes))


if __name__ == "__main__":
    main()
