"""TOML files: named expressions, units of a mimic, and files that no model would be."""

from __future__ import annotations

import os

import pytest

import catena
from catena.errors import FormatError

BODIES = "".join(
    f'[[body]]\nname = "{n}"\nmass = 1\ncom = [0, 0, 0]\ninertia = [1, 1, 1]\n'
    for n in ("rack", "pinion")
)
RACK = (
    BODIES
    + """
[[joint]]
name = "slide"
kind = "prismatic"
parent = "ground"
child = "rack"
axis = [1, 0, 0]
mimic = { joint = "turn", multiplier = "30 mm/rad", offset = "1 cm" }
[[joint]]
name = "turn"
kind = "revolute"
parent = "ground"
child = "pinion"
"""
)


@pytest.fixture
def read(tmp_path):
    def _read(text: str):
        (tmp_path / "m.toml").write_text(text)
        return catena.load(tmp_path / "m.toml")

    return _read


def faults_of(read, text: str) -> str:
    with pytest.raises(FormatError) as caught:
        read(text)
    return str(caught.value)


# --- mimic
def test_the_multiplier_of_a_mimic_has_the_unit_of_what_it_does(read):
    mimic = read(RACK).joint("slide").mimic
    assert (mimic.multiplier, mimic.offset) == (0.03, 0.01)
    turned = RACK.replace(
        'mimic = { joint = "turn", multiplier = "30 mm/rad", offset = "1 cm" }\n', ""
    )
    assert (
        read(turned + 'mimic = { joint = "slide", multiplier = "2 rad/cm", offset = "90 deg" }')
        .joint("turn")
        .mimic.multiplier
        == 200
    )
    assert read(RACK.replace('"30 mm/rad"', "0.03")).joint("slide").mimic == mimic


def test_a_multiplier_of_another_unit_is_refused(read):
    assert "multiplier is '30 mm', a length; a pitch is wanted" in faults_of(
        read, RACK.replace("30 mm/rad", "30 mm")
    )
    both = RACK.replace('kind = "revolute"', 'kind = "prismatic"')
    assert "multiplier is '30 mm/rad', a pitch; a number without unit is wanted" in faults_of(
        read, both
    )
    assert "unit" not in faults_of(read, RACK.replace('joint = "turn"', 'joint = "trn"')), (
        "of a leader that is not there only that is said"
    )


# --- named expressions
PARTS = """
[parameters]
r = "30 mm"
k = 5

[expressions]
area = "pi*r^2"
stiff = "k*area"
wave = "sin(2*pi*t) + q_turn"
"""
LOADS = """
[[load]]
name = "drive"
kind = "joint_force"
coordinate = "turn"
force = "stiff*wave"
"""


def test_named_expressions_stand_for_what_they_say(read):
    m = read(PARTS + RACK.replace("mass = 1", 'mass = "stiff + 1"', 1) + LOADS)
    written = (
        PARTS.split("[expressions]")[0]
        + RACK.replace("mass = 1", 'mass = "k*pi*r^2 + 1"', 1)
        + LOADS.replace("stiff*wave", "(k*(pi*r^2))*(sin(2*pi*t) + q_turn)")
    )
    assert m == read(written)
    a, b = (catena.compile(x).forward_dynamics([0.3], [0.0], [0.0]) for x in (m, read(written)))
    assert a == b


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ('r = "k^2"', "expression 'r' needs another name"),
        ('sin = "k"', "expression 'sin' needs another name"),
        ('q_turn = "k"', "expression 'q_turn' needs another name"),
        ('late = "later + 1"\nlater = "k"', "expression 'late': 'later + 1': no name 'later'"),
        ('own = "own + 1"', "no name 'own'"),
        ("list = [1]", "expression 'list' holds a list of 1"),
        ('broken = "k +"', "check its operators"),
    ],
)
def test_faults_of_named_expressions_are_told(read, line, fault):
    assert fault in faults_of(read, PARTS + line + "\n" + RACK)


def test_expressions_that_multiply_each_other_do_not_fill_the_memory(read):
    doubling = "".join(f'e{i} = "e{i - 1}*e{i - 1}"\n' for i in range(1, 60))
    assert "letters when its named expressions are written out; 10000 are allowed" in faults_of(
        read, PARTS + 'e0 = "k"\n' + doubling + RACK
    )


def test_a_long_sum_is_an_expression(read):
    long = " + ".join(["r"] * 2000)
    assert read(PARTS + RACK.replace("mass = 1", f'mass = "1.0*({long})"', 1)).body(
        "rack"
    ).mass.subs({"r": 0.03}) == pytest.approx(60)


# --- no model
@pytest.mark.parametrize(
    "text",
    [
        "a" + ".a" * 50_000 + " = 1",
        "x = { a" + " . 'a'" * 50_000 + " = 1 }",
        "[a" + '."a"' * 50_000 + "]",
    ],
)
def test_a_key_of_very_many_parts_is_refused_at_once(read, text):
    assert "has more than 50 parts" in faults_of(read, text)


def test_dots_in_texts_and_comments_are_no_key(read):
    dots = "a." * 200
    assert read(f'notes = ["{dots}", \'{dots}\', """{dots}"""]  # {dots}\n' + RACK).notes[0] == dots


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_a_pipe_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe.toml")
    with pytest.raises(FormatError, match="it is a pipe or a device; give a file"):
        catena.load(tmp_path / "pipe.toml")


@pytest.mark.parametrize("kind", ["universal", "gimbal"])
@pytest.mark.parametrize("axis", ["[]", "[1, 0, 0]", "[[1, 0, 0]]"])
@pytest.mark.parametrize(
    "more",
    ["", '[[joint]]\nname = "again"\nkind = "revolute"\nparent = "ground"\nchild = "pinion"\n'],
)
def test_too_few_axes_are_told(read, kind, axis, more):
    text = RACK.replace('kind = "revolute"', f'kind = "{kind}"\naxis = {axis}') + more
    assert f"joint 'turn': a {kind} joint takes" in faults_of(read, text)


def test_a_tiny_direction_is_one(read):
    row = '[[row]]\nname = "k"\nkind = "knife_edge"\nframe = "rack"\ndirection = [1e-12, 0, 0]\n'
    assert read(RACK + row).nonholonomic[0].direction == (1, 0, 0)
    assert "direction has no direction" in faults_of(read, RACK + row.replace("1e-12", "0"))
