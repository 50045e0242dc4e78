"""A rotor inertia for joints of files that give none: an argument, a flag, a key of scenarios."""

from __future__ import annotations

import numpy as np
import pytest
from typer.testing import CliRunner

import catena
from catena.cli import app
from catena.errors import FormatError, SingularError
from catena.simulation.scenario import read

pytestmark = pytest.mark.filterwarnings("ignore::catena.errors.MechanismWarning")
HAND = """<robot name="hand"><link name="base"/><link name="palm"><inertial><origin xyz=".1 0 0"/>
<mass value="1"/><inertia ixx=".01" ixy="0" ixz="0" iyy=".01" iyz="0" izz=".01"/></inertial></link>
<link name="finger"/><joint name="wrist" type="revolute"><parent link="base"/><child link="palm"/>
<axis xyz="0 1 0"/><limit lower="-9" upper="9" effort="9" velocity="9"/></joint>
<joint name="knuckle" type="revolute"><parent link="palm"/><child link="finger"/>
<axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="9" velocity="9"/></joint></robot>"""


@pytest.fixture
def hand(tmp_path):
    path = tmp_path / "hand.urdf"
    path.write_text(HAND)
    return path


def test_a_finger_without_mass_is_named_when_it_is_loaded_and_when_it_runs(hand):
    with pytest.warns(catena.errors.MechanismWarning, match="'knuckle'.*armature"):
        m = catena.load(hand)
    with pytest.raises(SingularError, match="'knuckle'.*armature"):
        catena.simulate(m, until=0.1)


def test_armature_is_added_to_the_mass_matrix(hand):
    bare, rotors = (catena.compile(catena.load(hand, **more)) for more in ({}, {"armature": 2e-3}))
    q = np.array([0.3, -0.2])
    np.testing.assert_allclose(
        rotors.mass_matrix(q) - bare.mass_matrix(q), 2e-3 * np.eye(2), atol=1e-15
    )
    assert any("armature=0.002" in note for note in rotors.mechanism.notes)
    catena.simulate(rotors, until=0.1)


def test_a_free_base_and_an_armature_of_the_file_stay_as_they_are(hand):
    free = catena.load(hand, floating=True, armature=1e-3)
    assert {j.name: j.armature for j in free.moving} == {
        "root_joint": (0.0,) * 6,
        "wrist": (1e-3,),
        "knuckle": (1e-3,),
    }


@pytest.mark.parametrize("wrong", [-1.0, float("nan"), "much"])
def test_what_is_no_inertia_is_refused(hand, wrong):
    with pytest.raises(FormatError, match="armature is .*zero or more"):
        catena.load(hand, armature=wrong)


def test_the_flag_and_the_key_say_the_same(hand, tmp_path):
    out = tmp_path / "run"
    words = ["run", str(hand), "--armature", "1e-3", "--no-pictures", "--out", str(out)]
    shown = CliRunner().invoke(app, words)
    assert shown.exit_code == 0, shown.output
    assert "hand: 2 s (--until says how long)" in shown.output
    scenario = tmp_path / "swing.toml"
    scenario.write_text(
        'mechanism = { file = "hand.urdf", armature = 1e-3 }\n[scenario]\nuntil = 2\n'
    )
    asked = read(scenario)
    assert asked.mechanism.joint("knuckle").armature == (1e-3,)
    run = catena.simulate(asked.mechanism, **asked.arguments)
    saved = catena.load_result(out / "results.nc")
    np.testing.assert_array_equal(saved.data["q"].values, run.data["q"].values)
