"""Flexible bodies in files: what is read, written, refused; what is attached where; and what the
commands make of them.
"""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import catena
from catena import Beam, Body, Frame, Joint, Mechanism, Pose, Shape
from catena.analysis.vibration import highest_frequency
from catena.cli import app
from catena.errors import FormatError, MechanismError
from catena.model.flexible import discretise, whole

FILE = """
name = "crane"
gravity = [0, -9.81, 0]

[parameters]
L = "4 m"

[[body]]
name = "boom"
flexible = {{ kind = "beam", length = "L", {beam} }}

[[body]]
name = "load"
mass = "2 kg"
com = [0, 0, 0]
inertia = [0.1, 0.1, 0.1]

[[joint]]
name = "shoulder"
kind = "revolute"
parent = "ground"
child = "boom"

[[joint]]
name = "hook"
kind = "revolute"
parent = "boom"
child = "load"
at = ["{at}", 0, 0]

[[frame]]
name = "marker"
body = "boom"
at = ["L/2", 0.1, 0]
"""
GOOD = 'EI = "900 N m^2", EA = "2e6 N", rhoA = "0.8 kg/m", segments = 5'


def read(tmp_path, beam: str = GOOD, at: str = "L", **more: str) -> Mechanism:
    path = tmp_path / "crane.toml"
    path.write_text(FILE.format(beam=beam, at=at))
    return catena.load(path, **more)


# --- read and written
def test_what_a_file_says_becomes_pieces_and_springs(tmp_path):
    m = read(tmp_path)
    assert [b.name for b in m.bodies] == ["boom", "load"] and [j.name for j in m.ordered] == [
        "shoulder",
        "hook",
    ]
    m = discretise(m)
    assert discretise(m) is m
    assert [b.name for b in m.bodies] == [
        "boom",
        "boom 2",
        "boom 3",
        "boom 4",
        "boom 5",
        "boom 6",
        "load",
    ]
    assert [j.name for j in m.ordered] == [
        "shoulder",
        *(f"boom flex {k}" for k in range(1, 6)),
        "hook",
    ]
    assert sum(float(b.mass.subs(m.parameters)) for b in m.bodies[:6]) == pytest.approx(3.2)
    machine = catena.compile(m)
    q = machine.neutral()
    for frame, place in (
        ("load", (4, 0, 0)),
        ("marker", (2, 0.1, 0)),
        ("boom.tip", (4, 0, 0)),
        ("boom 3", (1.2, 0, 0)),
    ):
        np.testing.assert_allclose(machine.pose(q, frame)[:3, 3], place, atol=1e-12)
    h = 4 / 5
    spring = {x.name: float(x.stiffness.subs(m.parameters)) for x in m.loads}
    assert spring["boom flex 2.Rz"] == pytest.approx(900 / h) and spring[
        "boom flex 2.Dx"
    ] == pytest.approx(2e6 / h)
    longer = machine.pose(q, "load", parameters={"L": 8.0})[:3, 3]
    np.testing.assert_allclose(longer, (8, 0, 0), atol=1e-12)  # its length stays free


BEAMS = [
    GOOD,
    "EI = 900, rhoA = 0.8, modes = 4",
    (
        'EI = ["900 N m^2", "400 N m^2"], rhoA = 0.8, GJ = 300, rhoJ = "1e-3 kg m", damping = 0.01,'
        " segments = 3"
    ),
    'EI = { z = "400 N m^2" }, rhoA = 0.8, segments = 3',
    'EA = "3 kN", rhoA = "1 g/mm", segments = 1',
]


@pytest.mark.parametrize("beam", BEAMS)
def test_the_file_comes_back_as_it_was_given(tmp_path, beam):
    m = read(tmp_path, beam)
    catena.save(m, tmp_path / "again.toml")
    text = (tmp_path / "again.toml").read_text()
    assert text.count("[[body]]") == 2 and text.count("[[joint]]") == 2 and "[[load]]" not in text
    assert catena.load(tmp_path / "again.toml") == m
    catena.save(discretise(m), tmp_path / "made.toml")
    assert (tmp_path / "made.toml").read_text() == text and whole(discretise(m)).bodies == m.bodies


def test_a_changed_piece_is_not_lost(tmp_path):
    m = discretise(read(tmp_path))
    heavier = m.with_(
        bodies=tuple(
            b if b.name != "boom 3" else Body("boom 3", 9.0, (0, 0, 0), (1, 1, 1)) for b in m.bodies
        )
    )
    catena.save(heavier, tmp_path / "again.toml")
    assert catena.load(tmp_path / "again.toml").body("boom 3").mass == 9.0


def test_one_stiffness_bends_in_the_plane_or_in_both():
    boom = Body("boom", flexible=Beam(1, 1, EI=5.0, segments=2))
    sequences = {
        "planar, about z": Joint("j", "revolute", "ground", "boom"),
        "planar, about y": Joint("j", "revolute", "ground", "boom", axis=(0, 1, 0)),
        "in space": Joint("j", "universal", "ground", "boom"),
        "clamped": Joint("j", "fixed", "ground", "boom"),
        "turned": Joint("j", "revolute", "ground", "boom", offset=Pose.turn("x", np.pi / 2)),
    }

    def bends(j: Joint, **more) -> tuple[str, ...]:
        return discretise(Mechanism("m", [boom], [j], **more)).elastic[0].sequence

    found = {what: bends(j) for what, j in sequences.items()}
    both = ("Ry", "Rz")
    assert found == {
        "planar, about z": ("Rz",),
        "planar, about y": ("Ry",),
        "in space": both,
        "clamped": both,
        "turned": ("Ry",),
    }
    assert bends(sequences["clamped"], planar=True) == ("Rz",)
    assert bends(sequences["planar, about z"], planar=False) == both


# --- attached
def test_a_beam_that_is_held_in_its_middle():
    """Both halves bend away from where it is held; it balances, and its two halves are alike."""
    middle = Pose(position=(0.5, 0, 0))
    boom = Body(
        "boom",
        flexible=Beam(1, 1, EI=(5.0, None), segments=16),
        shapes=(Shape("sphere", (0.1,), pose=Pose(position=(0.9, 0, 0))),),
    )
    m = Mechanism(
        "wings",
        [boom],
        [Joint("hold", "fixed", "ground", "boom", offset=middle)],
        [Frame("left", "boom")],
        gravity=(0, -9.81, 0),
    )
    assert m.validate() is m and m.joint("hold").child == "boom"
    m = discretise(m)
    assert m.validate() is m and m.joint("hold").child == "boom 9"
    assert [m.joint(f"boom flex {k}").child for k in (1, 2, 9, 16)] == [
        "boom",
        "boom 2",
        "boom 10",
        "boom 17",
    ]
    assert [b.name for b in m.bodies if any(s.kind == "sphere" for s in b.shapes)] == ["boom 15"]
    machine = catena.compile(m)
    q = catena.equilibrium(machine)
    left, right = (machine.pose(q, name)[:3, 3] for name in ("left", "boom.tip"))
    np.testing.assert_allclose(left, right * (-1, 1, 1), atol=1e-12)
    assert left[1] == pytest.approx(-9.81 * 0.5**4 / 8 / 5, rel=0.02)
    assert whole(m).joints[0].offset == middle


@pytest.mark.parametrize("way", [{"segments": 6}, {"modes": 2}])
def test_what_is_attached_finds_its_place_before_the_body_is_discretised(way):
    boom = Body("boom", flexible=Beam(1, 1, EI=(5.0, None), **way))
    m = Mechanism("m", [boom], [Joint("clamp", "fixed", "ground", "boom")])
    marker = Frame("marker", "boom", Pose(position=(0.9, 0, 0)))
    assert discretise(m.with_(frames=(marker,))).frame("marker").body != "boom"
    with pytest.raises(
        MechanismError,
        match=r"frame 'marker': it is attached to body 'boom' at x = 0.9 m; .* before discretise",
    ):
        discretise(m).with_(frames=(marker,)).validate()


def four_bar(coupler: Body, **more) -> Mechanism:
    bars = [
        Body("crank", 0.2, (0.05, 0, 0), (0, 1e-4, 1e-4)),
        coupler,
        Body("rocker", 0.3, (0.125, 0, 0), (0, 1e-3, 1e-3)),
    ]
    joints = [
        Joint("A", "revolute", "ground", "crank"),
        Joint("B", "revolute", "coupler", "crank", offset=Pose(position=(0.1, 0, 0))),
        Joint(
            "C",
            "revolute",
            "rocker",
            "coupler",
            Pose(position=(0.25, 0, 0)),
            offset=Pose(position=(0.3, 0, 0)),
        ),
        Joint("D", "revolute", "ground", "rocker", Pose(position=(0.28, 0, 0))),
    ]
    return Mechanism("four bar", bars, joints, gravity=(0, -9.81, 0), **more)


def test_a_flexible_coupler_of_a_four_bar():
    """The loop is cut at a pin, not in the beam; stiff, it swings as the rigid one; its
    formulations agree.
    """
    from catena.model.spanning_tree import cut

    rod = Body("coupler", 0.24, (0.15, 0, 0), (0, 0.24 * 0.3**2 / 12, 0.24 * 0.3**2 / 12))
    rigid = cut(four_bar(rod))
    found = []
    for EI in (2e1, 2e2, 2e3):
        soft = cut(four_bar(Body("coupler", flexible=Beam(0.3, 0.8, EI=EI, segments=3))))
        assert (
            len(soft.loops) == 1
            and soft.loops[0].name in "ABCD"
            and len(discretise(soft).elastic) == 3
        )
        q = catena.equilibrium(soft)
        found.append(catena.modes(soft, q).frequencies[0])
    exact = catena.modes(rigid, catena.equilibrium(rigid)).frequencies[0]
    errors = np.array(found) / exact - 1
    assert np.abs(errors[2]) < 1e-5
    np.testing.assert_allclose(errors[:-1] / errors[1:], 10, rtol=0.02)  # as 1/EI
    q, _ = catena.assemble(soft)
    assert not q[
        [k for k, n in enumerate(catena.compile(soft).coordinate_names) if "flex" in n]
    ].any()
    assert catena.check(soft, states=2, run=False).passed


def test_the_formulations_agree_on_a_beam_in_space():
    boom = Body(
        "boom",
        flexible=Beam(1, 1, EI=(5.0, 3.0), EA=1e3, GJ=2.0, rhoJ=1e-2, damping=0.01, segments=1),
    )
    m = Mechanism("m", [boom], [Joint("j", "universal", "ground", "boom")])
    assert catena.check(m, states=3, run=False).passed


# --- refused
FAULTS = {
    'EI = "-900 N m^2", rhoA = 0.8, segments = 5': (
        "body 'boom': EI is -900 N m2; a stiffness is above zero"
    ),
    "EI = [900, 0], rhoA = 0.8, segments = 5": (
        "body 'boom': EI along z is 0 N m2; a stiffness is above zero"
    ),
    "rhoA = 0.8, segments = 5": "body 'boom': EI, EA and GJ are all left out",
    "EI = 900, segments = 5": "body 'boom': flexible: rhoA is missing",
    "EI = 900, rhoA = 0, segments = 5": "body 'boom': rhoA is 0 kg/m; a beam has a rhoA above zero",
    "EI = 900, rhoA = 0.8": "body 'boom': neither modes nor segments is given; give one",
    "EI = 900, rhoA = 0.8, modes = 2, segments = 5": (
        "body 'boom': both modes and segments are given; give one"
    ),
    "EI = 900, rhoA = 0.8, segments = 0": (
        "body 'boom': segments is 0; it is a whole number from 1 to 10000"
    ),
    "EI = 900, rhoA = 0.8, segments = 2.5": (
        "body 'boom': flexible: segments is 2.5; a whole number is wanted"
    ),
    "EI = 900, rhoA = 0.8, modes = { y = 2, z = -1 }": (
        "body 'boom': modes.z is -1; it is a whole number from 0 to 100"
    ),
    "EI = 900, rhoA = 0.8, modes = { w = 2 }": (
        "body 'boom': modes has the key 'w'; it has some of y, z, x, twist"
    ),
    "EI = 900, rhoA = 0.8, modes = { x = 2 }": (
        "body 'boom': modes.x is 2, but EA is left out: it is rigid that way"
    ),
    'EI = "900 N", rhoA = 0.8, segments = 5': (
        "body 'boom': flexible: EI is '900 N', a force; a bending stiffness is wanted"
    ),
    "EI = 900, rhoA = 0.8, GJ = 10, segments = 5": "body 'boom': GJ lets it twist, but rhoJ is 0",
    "EI = 900, rhoA = 0.8, damping = -0.1, segments = 5": (
        "body 'boom': damping is -0.1; it is zero or more"
    ),
    "EI = 900, rhoA = 0.8, segmets = 5": "body 'boom': flexible: no key 'segmets'",
}


@pytest.mark.parametrize("beam", FAULTS)
def test_what_cannot_be_is_said_in_one_sentence(tmp_path, beam):
    with pytest.raises(FormatError) as caught:
        read(tmp_path, beam)
    assert caught.value.faults[0].startswith(FAULTS[beam]), caught.value.faults
    assert len(caught.value.faults) == 1, caught.value.faults


def test_what_is_attached_beside_the_beam(tmp_path):
    with pytest.raises(
        FormatError,
        match=(
            r"joint 'hook': it is attached to body 'boom' at x = 4.4 m; the beam goes from 0 to 4 m"
        ),
    ):
        read(tmp_path, at="1.1*L")


def test_a_length_of_zero_and_numbers_that_are_none():
    def faults(**beam) -> str:
        m = Mechanism(
            "m",
            [
                Body(
                    "boom",
                    flexible=Beam(**{"length": 1, "rhoA": 1, "EI": 1, "segments": 2, **beam}),
                )
            ],
            [Joint("j", "fixed", "ground", "boom")],
        )
        with pytest.raises(MechanismError) as caught:
            m.validate()
        return "; ".join(caught.value.faults)

    assert "length is 0 m; a beam has a length above zero" in faults(length=0)
    assert "length is 'long' m" in faults(length="long")
    assert "EI has 3 values" in faults(EI=(1, 2, 3))
    assert "segments is True" in faults(segments=True)
    with pytest.raises(
        MechanismError, match="mass, com and inertia of a flexible body come from its beam"
    ):
        Body("boom", 2.0, (0, 0, 0), (1, 1, 1), flexible=Beam(1, 1, EI=1, segments=2))


def test_mass_beside_a_beam_is_refused(tmp_path):
    path = tmp_path / "m.toml"
    path.write_text(FILE.format(beam=GOOD, at="L").replace("flexible", "mass = 2\nflexible", 1))
    with pytest.raises(
        FormatError, match="body 'boom': mass of a flexible body come from its beam"
    ):
        catena.load(path)


# --- commands
def test_the_command_modes(tmp_path):
    read(tmp_path)
    file = str(tmp_path / "crane.toml")
    runner = CliRunner()
    shown = runner.invoke(app, ["modes", file, "--count", "3"])
    assert shown.exit_code == 0, shown.output
    assert "12 modes about its equilibrium" in shown.output and "and 9 faster ones" in shown.output
    found = json.loads(runner.invoke(app, ["modes", file, "--lock", "shoulder", "--json"]).output)
    m = catena.load(file)
    held = m.with_(joints=(Joint("shoulder", "fixed", "ground", "boom"), *m.joints[1:]))
    wanted = catena.modes(held, catena.equilibrium(held)).hertz
    np.testing.assert_allclose([x["Hz"] for x in found["modes"]], wanted[:11], rtol=1e-6)
    assert runner.invoke(app, ["modes", "two_link_arm"]).exit_code == 0


def test_the_command_info_shows_the_beam_and_not_its_pieces(tmp_path):
    read(tmp_path)
    shown = CliRunner().invoke(app, ["info", str(tmp_path / "crane.toml")]).output
    assert (
        "5 segments" in shown
        and "boom flex" not in shown
        and "boom 2" not in shown
        and "hook" in shown
    )
    found = json.loads(
        CliRunner().invoke(app, ["info", str(tmp_path / "crane.toml"), "--json"]).output
    )
    assert (
        found["beams"][0]["EI"] == 900.0
        and len(found["beams"][0]["bodies"]) == 6
        and len(found["bodies"]) == 7
    )


def test_the_highest_frequency_bounds_an_explicit_step():
    m = Mechanism(
        "m",
        [Body("boom", flexible=Beam(1, 1, EI=(1.0, None), segments=6))],
        [Joint("j", "fixed", "ground", "boom")],
        gravity=(0, 0, 0),
    )
    omega = highest_frequency(m)
    assert omega == pytest.approx(catena.modes(m).frequencies[-1])
    start = {
        "q": np.full(6, 1e-3),
        "until": 1000 / omega,
        "integrator": "rk4",
        "output": 100 / omega,
    }
    calm = catena.simulate(m, step=2.7 / omega, **start)
    assert np.abs(calm.data["q"].values).max() < 0.1
    with pytest.raises(catena.CatenaError):
        catena.simulate(m, step=3.2 / omega, **start)
