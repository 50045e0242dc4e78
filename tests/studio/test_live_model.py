"""Live models: numbers become parameters of one compiled system, and the motion is that of
`simulate`; drawn chains close where they were drawn.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import catena
from catena.errors import CatenaError
from catena.formats import _find
from catena.machine.machine import Machine
from catena.model.joint_kinds import KINDS
from catena.studio import additions, linkage
from catena.studio.document import Document
from catena.studio.live_model import LiveModel, lifted
from zoo import random_tree


@pytest.mark.parametrize("seed", [3, 4])
def test_lifting_changes_nothing(seed):
    m = random_tree(seed, KINDS)
    made, values = lifted(m)
    assert len(values) > 10 * len(m.bodies) - 5 and dict(made.parameters) == values
    own = Machine(m, life="generic")
    other = Machine(made)
    rng = np.random.default_rng(seed)
    q, v, tau = own.sample(rng), *rng.standard_normal((2, own.nv))
    np.testing.assert_allclose(
        other.forward_dynamics(q, v, tau), own.forward_dynamics(q, v, tau), rtol=1e-9, atol=1e-9
    )


def test_a_machine_at_other_parameters():
    m = catena.load("four_bar")
    base = catena.compile(m)
    tuned = base.at({"crank": 0.13})
    own = catena.compile(m.with_(parameters={**m.parameters, "crank": 0.13}))
    q = np.array([0.3, -0.2, 0.5])
    v = np.array([1.0, 0.2, -0.3])
    np.testing.assert_allclose(tuned.mass_matrix(q), own.mass_matrix(q), rtol=1e-12)
    np.testing.assert_allclose(
        tuned.constraint_rows(q, v)[0], own.constraint_rows(q, v)[0], atol=1e-14
    )
    np.testing.assert_allclose(tuned.pose(q, "coupler"), own.pose(q, "coupler"), atol=1e-14)
    assert (
        base.mechanism.parameters["crank"] == 0.1
        and tuned._router.lanes.kernels is base._router.lanes.kernels
    )
    with pytest.raises(CatenaError, match="no parameter 'crnk'"):
        base.at({"crnk": 1.0})
    with pytest.raises(CatenaError, match="it is zero or more"):
        base.at({"density": -1.0})


def test_edits_of_numbers_compile_nothing():
    text = _find("four_bar").read_text()
    model = LiveModel(Path("four_bar.toml"))
    ends = []
    for length in ("10 cm", "11 cm", "12 cm"):
        read = model.read(text.replace('crank = "10 cm"', f'crank = "{length}"'))
        assert not read.faults
        result = model.run(read.scenario, until=0.5)
        ends.append(result.data["q"].values[-1])
    own = catena.simulate(
        read.scenario.mechanism, q=read.scenario.q, v=read.scenario.v, until=0.5, tolerance=1e-9
    )
    np.testing.assert_allclose(result.data["q"].values[-1], own.data["q"].values[-1], atol=1e-5)
    assert model.compiled == 1 and np.abs(ends[0] - ends[2]).max() > 1e-3
    model.at(
        model.read(
            text.replace('at = ["coupler/2", "5 cm", 0]', 'at = ["coupler/2", "5 cm", "1 cm"]')
        ).mechanism
    )
    assert model.compiled == 2  # a zero is structure


def test_faults_are_the_sentences_of_info():
    model = LiveModel(Path("four_bar.toml"))
    text = _find("four_bar").read_text()
    broken = model.read(
        text.replace('mass = "density*crank"', 'mass = "3 m"').replace(
            'child = "coupler"', 'child = "couplr"'
        )
    )
    assert broken.mechanism is None and any(
        "body 'crank': mass is '3 m', a length" in f for f in broken.faults
    )
    late = model.read(text.replace('until = "2 s"', 'until = "2 kg"'))
    assert (
        late.mechanism is not None
        and late.scenario is None
        and any("until is '2 kg', a mass" in f for f in late.faults)
    )
    assert model.read("name = ").faults[0].startswith("four_bar.toml: the file is not TOML")


def test_arrows_are_the_reactions_of_the_run():
    """They carry the weight: at rest the pins of a hanging pendulum hold what hangs below."""
    from catena.results.forces import forces

    text = _find("triple_pendulum").read_text()
    model = LiveModel(Path("x.toml"))
    read = model.read(text)
    result = model.run(read.scenario, until=0.2)
    found = forces(result, model.at(read.mechanism))
    names = list(found.joints)
    force = found.pull
    own = catena.compile(read.mechanism).reactions(
        *(result.data[x].values[5] for x in "qva"), t=result.time[5]
    )
    X = catena.compile(read.mechanism).pose(
        result.data["q"].values[5], read.mechanism.joints[0].child
    )
    assert (
        names == [j.name for j in read.mechanism.joints] and found.joints[names[0]][0] == "ground"
    )
    np.testing.assert_allclose(force[5, 0], X[:3, :3] @ own[names[0]][3:], atol=1e-8)
    loop = LiveModel(Path("y.toml"))
    read = loop.read(_find("four_bar").read_text())
    result = loop.run(read.scenario, until=0.1)
    found = forces(result, loop.at(read.mechanism))
    names = list(found.joints)
    force = found.pull
    assert names[-1] == "near pin" and np.isfinite(force).all() and np.abs(force[:, -1]).max() > 0.1


# --- drawing
GROUND = linkage.Anchor()
POINTS = [(-0.2, -0.1), (-0.2, 0.0), (0.1, 0.16), (0.14, -0.1)]


def drawn(tmp_path, points=POINTS, end=GROUND, plane="x-y"):
    document = Document(tmp_path / "drawn.toml")
    made = linkage.chain(points, linkage.Anchor(), end, 0.0, set(), linkage.PLANES[plane])
    document.add(made.tables, {**made.parameters, "density": linkage.DENSITY})
    additions.drawn_start(document, made.angles, first=True)
    return document


def test_a_drawn_four_bar_stands_where_it_was_drawn(tmp_path):
    pytest.importorskip("tomlkit")
    document = drawn(tmp_path)
    model = LiveModel(document.path)
    read = model.read(document.text)
    assert not read.faults
    machine = catena.compile(read.mechanism)
    for k, point in enumerate(POINTS[:-1], start=1):
        np.testing.assert_allclose(
            machine.pose(read.scenario.q, f"link {k}")[:2, 3], point, atol=1e-4
        )
    assert catena.mobility(read.mechanism, read.scenario.q).degrees_of_freedom == 1
    additions.ADDITIONS.find("motor").add(document, read.mechanism, "pin 1", 0.3)
    read = model.read(document.text)
    assert not read.faults
    result = model.run(read.scenario)
    t = result.time
    # 30 rpm
    np.testing.assert_allclose(result.data["q"].values[:, 0], math.pi / 2 + math.pi * t, atol=1e-6)
    assert np.abs(result.data["closure"].values).max() < 1e-7


@pytest.mark.parametrize("plane", linkage.PLANES)
def test_every_plane_has_the_same_linkage(tmp_path, plane):
    """Drawn in any plane it stands where it was drawn, its pins turn about the normal, and with
    gravity downwards it has the same energy and mass matrix.
    """
    pytest.importorskip("tomlkit")
    own = linkage.PLANES[plane]
    read, flat = (
        LiveModel(tmp_path / "x.toml").read(
            drawn(tmp_path, plane=name).text.replace(
                "[0, -9.81, 0]", str(linkage.PLANES[name].down)
            )
        )
        for name in (plane, "x-y")
    )
    assert not read.faults
    m = Machine(read.mechanism, life="generic")
    q = read.scenario.q
    for k, point in enumerate(POINTS[:-1], start=1):
        np.testing.assert_allclose(m.pose(q, f"link {k}")[list(own.axes), 3], point, atol=1e-4)
        assert own.angle(m.pose(q, f"link {k}")) == pytest.approx(
            math.atan2(*np.subtract(POINTS[k], point)[::-1]), abs=1e-3
        )
    np.testing.assert_allclose(m.pose(q, "link 1")[:3, :3] @ own.normal, own.normal, atol=1e-12)
    other = Machine(flat.mechanism, life="generic")
    np.testing.assert_allclose(q, flat.scenario.q, atol=1e-12)
    np.testing.assert_allclose(m.mass_matrix(q), other.mass_matrix(q), atol=1e-12)
    np.testing.assert_allclose(m.gravity(q), other.gravity(q), atol=1e-12)


@pytest.mark.parametrize("plane", linkage.PLANES)
def test_an_added_contact_is_with_a_floor_below(tmp_path, plane):
    """The half-space lies below, wherever gravity points: its normal is against gravity."""
    pytest.importorskip("tomlkit")
    down = linkage.PLANES[plane].down
    document = drawn(tmp_path, plane=plane)
    document.set(["gravity"], down)
    additions.ADDITIONS.find("contact").add(
        document, LiveModel(document.path).read(document.text).mechanism, "link 3", 0.2
    )
    read = LiveModel(document.path).read(document.text)
    assert not read.faults
    floor = read.mechanism.frame("floor 1").pose
    np.testing.assert_allclose(
        [row[2] for row in floor.rotation], -np.array(down) / 9.81, atol=1e-12
    )
    assert np.dot(floor.position, down) > 0


def test_an_open_chain_and_bad_points(tmp_path):
    pytest.importorskip("tomlkit")
    read = LiveModel(tmp_path / "x.toml").read(drawn(tmp_path, end=None).text)
    assert not read.faults and not read.mechanism.loops and len(read.mechanism.bodies) == 3
    with pytest.raises(CatenaError, match="two points at least"):
        linkage.chain([(0, 0)], linkage.Anchor(), None, 0.0, ())
    with pytest.raises(CatenaError, match="coincide"):
        linkage.chain([(0, 0), (0, 0), (1, 0)], linkage.Anchor(), None, 0.0, ())


def test_everything_in_the_menu_can_be_added(tmp_path):
    pytest.importorskip("tomlkit")
    document = drawn(tmp_path)
    model = LiveModel(tmp_path / "x.toml")
    for name, addition in additions.ADDITIONS.items():
        before = document.text
        if name == "joint":
            with pytest.raises(CatenaError, match="every body has a joint that carries it already"):
                addition.add(document, model.read(document.text).mechanism, "link 2", 0.2)
            continue
        addition.add(document, model.read(document.text).mechanism, "link 2", 0.2)
        read = model.read(document.text)
        mechanical = [f for f in read.faults if "cannot be assembled" not in f and "rank" not in f]
        assert document.text != before and not mechanical, (name, read.faults)
        if name in ("loop", "motor"):
            document.undo()  # one that would tie it, one that drives it
            if name == "motor":
                document.undo()
    empty = Document(tmp_path / "empty.toml")
    for name in ("joint", "loop", "spring", "motor", "torque", "contact"):
        with pytest.raises(CatenaError, match="first|already"):
            additions.ADDITIONS.find(name).add(empty, None, "", 0.3)
