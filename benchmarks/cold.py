"""How long does a newcomer wait? First answers on an empty cache, and commands on a warm one, each
in a fresh process.

Each figure stands beside what was asked, wall and processor time (user and system) of the whole
process with its imports, of the best of some runs; on a busy machine the processor time is the one
to look at. Words on the command line choose the cases.

    python benchmarks/cold.py tour run
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
ROBOT = """
import sys, warnings
warnings.simplefilter("ignore")
sys.path.insert(0, {tests!r})
import numpy as np, catena
from robots import urdf
machine = catena.compile(catena.load(urdf({name!r}), floating={floating}))
q, z = machine.neutral(), np.zeros(machine.nv)
"""
BOXES = """
from catena import Body, Contact, Joint, Mechanism, Shape, simulate
box = Shape("box", (0.2, 0.2, 0.1), collides=True)
names = [f"box{{k}}" for k in range({count})]
bodies = tuple(Body(name, 1.0, (0.0, 0.0, 0.0), (0.0042, 0.0042, 0.0067), shapes=(box,)) for name in names)
joints = tuple(Joint(f"joint of {{name}}", "free", "ground", name) for name in names)
pairs = list(zip(names[1:], names)) + [(names[0], "ground")] * {ground}
m = Mechanism("boxes", bodies, joints, contacts=tuple(Contact(pair, 0.5, 0.0) for pair in pairs), gravity=(0.0, 0.0, -9.81 * {ground}))
q = [x for k in range({count}) for x in (0.01 * k, 0.02 * k, 0.05 + 0.1 * k, 1.0, 0.0, 0.0, 0.0)]
simulate(m, q, until=0.1, output=0.05)
"""  # noqa: E501


def robot(name: str, call: str, floating: bool = False) -> str:
    return ROBOT.format(tests=str(ROOT / "tests"), name=name, floating=floating) + call


def boxes(count: int, ground: bool) -> str:
    """Boxes that stand on each other with friction, and on the ground or, without gravity,
    nowhere.
    """
    return BOXES.format(count=count, ground=int(ground))


def tour() -> str:
    """The Python blocks of the README."""
    blocks = (ROOT / "README.md").read_text().split("```python\n")[1:]
    return "\n".join(block.partition("```")[0] for block in blocks)


def command(words: str) -> str:
    return (
        f"import sys; sys.argv = {['catena', *words.split()]!r}; from catena.cli import main;"
        " main()"
    )


@dataclass(frozen=True)
class Case:
    """A figure: its name, the program, the seconds that were asked, and whether the cache is
    empty.
    """

    name: str
    code: str
    asked: float
    cold: bool = True


CASES = (
    Case("import catena", "import catena", 0.3, cold=False),
    Case("UR5: first inverse dynamics", robot("ur5", "machine.inverse_dynamics(q, z, z)"), 0.5),
    Case("UR5: first forward dynamics", robot("ur5", "machine.forward_dynamics(q, z, z)"), 0.5),
    Case("UR5: first mass matrix", robot("ur5", "machine.mass_matrix(q)"), 0.5),
    Case("UR5: loaded only", robot("ur5", ""), 0.5),
    Case(
        "Talos: loaded and first inverse dynamics",
        robot("talos", "machine.inverse_dynamics(q, z, z)", True),
        1.5,
    ),
    Case(
        "first simulate: two_link_arm",
        "import catena; catena.simulate(catena.load('two_link_arm'), q=[0.3, -0.5], until=2.0)",
        1.0,
    ),
    Case(
        "first simulate: four_bar, with assemble",
        "import catena; m = catena.load('four_bar'); q, v = catena.assemble(m); catena.simulate(m,"
        " q=q, v=v, until=2.0)",
        1.5,
    ),
    Case("first simulate: two boxes that touch, friction", boxes(2, False), 3.0),
    Case("first simulate: two boxes on the ground, friction", boxes(2, True), 8.0),
    Case("first simulate: three boxes on the ground, friction", boxes(3, True), 20.0),
    Case("README tour", tour(), 5.0),
    Case(
        "catena run triple_pendulum, with pictures",
        command("run triple_pendulum --out results"),
        4.0,
    ),
    Case("catena --help", command("--help"), 0.3, cold=False),
    Case("catena info two_link_arm", command("info two_link_arm"), 0.8, cold=False),
    Case("catena equations two_link_arm", command("equations two_link_arm"), 1.0, cold=False),
)


def run(code: str, cache: str) -> tuple[float, float]:
    """Wall and processor time of a program in a process and a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"CATENA_CACHE_DIR": cache, "MPLBACKEND": "agg"}
        # what is installed is compiled to bytecode
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        began = time.perf_counter()
        done = subprocess.run(
            [sys.executable, "-c", code],
            env=environment,
            cwd=folder,
            capture_output=True,
            text=True,
        )
        wall = time.perf_counter() - began
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise SystemExit(done.stderr)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measured(case: Case, rounds: int = 3) -> tuple[float, float]:
    """The best of some runs; a warm case has one before them that does not count."""
    times = []
    with tempfile.TemporaryDirectory() as warm:
        for _ in range(rounds + (not case.cold)):
            with tempfile.TemporaryDirectory() as cold:
                times.append(run(case.code, cold if case.cold else warm))
    counted = times[not case.cold :]
    return min(wall for wall, _ in counted), min(processor for _, processor in counted)


def main() -> None:
    tiny = "--tiny" in sys.argv  # the quickest case, once
    words = ["import catena"] if tiny else sys.argv[1:]
    print(f"{'':56}{'wall':>8}{'processor':>11}{'asked':>8}")
    for case in CASES:
        if not words or any(word in case.name for word in words):
            wall, processor = measured(case, 1 if tiny else 3)
            print(
                f"{case.name + (', cold' if case.cold else ', warm'):58}{wall:6.2f}"
                f" s{processor:9.2f} s{case.asked:6.1f} s",
                flush=True,
            )


if __name__ == "__main__":
    main()
