"""Commands look at linkages with their loops closed, where the scenario starts or as --q says."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import catena
from catena import Body, Joint, Mechanism, Pose, Shape
from catena.cli import app

pytestmark = pytest.mark.filterwarnings("ignore::catena.errors.MechanismWarning")
TURN = {"axis": (0, 0, 1)}


def asked(*words: object) -> dict:
    found = CliRunner().invoke(app, [*map(str, words), "--json"])
    assert found.exit_code == 0, found.output
    return json.loads(found.output)


def link(name: str, length: float, **more) -> Body:
    return Body(name, 0.4, (length / 2, 0, 0), (0, 0.003, 0.003), **more)


def parallelogram(**more) -> Mechanism:
    """The one of docs/howto/close_a_loop: with every coordinate zero it is folded, and singular."""
    ball = {"shapes": (Shape("sphere", (0.01,), Pose(position=(0.5, 0, 0)), collides=True),)}
    bodies = (link("left", 0.3), link("bar", 0.5, **(ball if more else {})), link("right", 0.3))
    joints = (
        Joint("A", "revolute", "ground", "left", **TURN),
        Joint("B", "revolute", "left", "bar", Pose(position=(0.3, 0, 0)), **TURN),
        Joint("D", "revolute", "ground", "right", Pose(position=(0.5, 0, 0)), **TURN),
    )
    at, child_at = Pose(position=(0.5, 0, 0)), Pose(position=(0.3, 0, 0))
    loop = Joint("C", "revolute", "bar", "right", at, offset=child_at, **TURN)
    return Mechanism("parallelogram", bodies, joints, loops=(loop,), **more)


def scissors(cells: int) -> Mechanism:
    """A scissor lift of equal bars: each cell adds two bars and a loop, and no freedom.

    Bars cross in their middles; the left foot is a pin, the right one slides. Folded flat, with
    every coordinate zero, its cells turn freely: another way to put it together.
    """
    bodies, joints, loops = [], [], []
    for k in range(cells):
        for side in "ab":
            bodies.append(link(f"{side}{k}", 1.0))
        first = "ground" if k == 0 else f"b{k - 1}"
        at = Pose() if k == 0 else Pose(position=(1.0, 0, 0))
        joints.append(Joint(f"foot {k}", "revolute", first, f"a{k}", at, **TURN))
        middle = Pose(position=(0.5, 0, 0))
        joints.append(
            Joint(f"cross {k}", "revolute", f"a{k}", f"b{k}", middle, offset=middle, **TURN)
        )
        if k:
            top = Pose(position=(1.0, 0, 0))
            loops.append(Joint(f"knee {k}", "revolute", f"a{k - 1}", f"b{k}", top, **TURN))
    bodies.append(Body("slider", 0.1, (0, 0, 0), (0, 0.001, 0.001)))
    joints.append(Joint("slide", "prismatic", "ground", "slider", axis=(1, 0, 0)))
    loops.append(Joint("pin", "revolute", "b0", "slider", **TURN))
    return Mechanism("scissors", tuple(bodies), tuple(joints), loops=tuple(loops))


def test_info_of_a_folded_parallelogram_says_that_it_is_singular_there(tmp_path):
    path = tmp_path / "parallelogram.toml"
    catena.save(parallelogram(), path)
    told = asked("info", path)["mobility"]
    assert told["degrees_of_freedom"] == 1 and told["singular"] and told["here"] == 2
    assert told["elsewhere"] == []
    said = CliRunner().invoke(app, ["info", str(path)]).output
    assert "degrees of freedom 1: 2 of 5 constraint rows are independent; singular here: 2" in said
    told = asked("info", path, "--q", "A=1")["mobility"]
    assert told["degrees_of_freedom"] == told["here"] == 1 and not told["singular"]


def test_info_begins_where_the_scenario_does(tmp_path):
    path = tmp_path / "parallelogram.toml"
    catena.save(parallelogram(), path)
    lines = ["[scenario]", "until = 1", "initial = { q = { A = 1.0 }, near = { B = -1, D = 1 } }"]
    path.write_text(path.read_text() + "\n".join(["", *lines, ""]))
    told = asked("info", path)["mobility"]
    assert told["here"] == told["degrees_of_freedom"] == 1 and not told["singular"]
    told = asked("info", "two_links_one_load")["mobility"]
    assert told["degrees_of_freedom"] == 1


@pytest.mark.parametrize("cells", [1, 2, 3])
def test_a_scissor_lift_has_one_freedom(tmp_path, cells):
    path = tmp_path / "scissors.toml"
    catena.save(scissors(cells), path)
    turn = 0.6
    near = {f"cross {k}": np.pi - 2 * turn for k in range(cells)} | {"slide": np.cos(turn)}
    near |= {f"foot {k}": 2 * turn - np.pi for k in range(1, cells)}
    words = ", ".join(f'"{n}" = {float(x)!r}' for n, x in near.items())
    initial = f'initial = {{ q = {{ "foot 0" = {turn} }}, near = {{ {words} }} }}'
    path.write_text("\n".join([path.read_text(), "[scenario]", "until = 1", initial, ""]))
    told = asked("info", path)["mobility"]
    assert told["degrees_of_freedom"] == told["here"] == 1 and not told["singular"]


def test_mobility_counts_here_and_nearby():
    folded = catena.mobility(parallelogram())
    assert (folded.degrees_of_freedom, folded.nearby, folded.singular) == (2, 1, True)
    assert "2 degrees of freedom here, 1 nearby" in str(folded)
    both = catena.mobility(parallelogram(), [[0.0, 0, 0], [1.0, -1.0, 1.0]])
    assert both.nearby.tolist() == [1, 1] and both.degrees_of_freedom.tolist() == [2, 1]


def test_clearance_closes_loops_and_takes_coordinates(tmp_path):
    """A ball at the end of the bar, and a wall along x = 0 of the ground."""
    wall = Shape("box", (0.1, 2.0, 2.0), Pose(position=(-0.05, 0, 0)), name="wall", collides=True)
    m = parallelogram(ground=(wall,))
    path = tmp_path / "parallelogram.toml"
    catena.save(m, path)
    for angle in (0.3, 1.2):
        told = asked("clearance", path, "--q", f"A={angle}")
        assert told["pairs"][0]["distance"] == pytest.approx(0.5 + 0.3 * np.cos(angle) - 0.01)
        assert told["q"]["A"] == pytest.approx(angle) and "loops closed" in told["where"]
    told = asked("clearance", path)
    q = np.array(list(told["q"].values()))
    assert np.abs(catena.compile(m).constraint_rows(q, 0 * q)[0]).max() < 1e-9
    with pytest.raises(catena.errors.ClosureError, match="clearance: loop 'C' .* stays open by"):
        catena.clearance(m, [1.0, 0.0, 0.0])
    refused = CliRunner().invoke(app, ["clearance", str(path), "--q", "A=1", "--result", "x.nc"])
    assert refused.exit_code
