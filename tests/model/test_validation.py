"""What a mechanism cannot be: every fault is refused by name, and what is only doubtful is told."""

from __future__ import annotations

import numpy as np
import pytest
import sympy

import zoo
from catena import Body, Joint, Mechanism, Mimic, Pose
from catena.errors import MechanismError
from catena.model.validation import doubts


def closed(**more: object) -> dict:
    """A body on two joints, the second a loop."""
    rng = np.random.default_rng(3)
    pin = {"placement": Pose(position=(1, 0, 0)), "axis": (0, 1, 0)}
    return {
        "bodies": [zoo.random_body(rng, n) for n in "abc"],
        "joints": [
            Joint("first", "revolute", "ground", "a", axis=(0, 1, 0)),
            Joint("second", "revolute", "a", "b", **pin),
            Joint("third", "revolute", "b", "c", **pin, mimic=more.get("mimic")),
        ],
        "loops": [
            Joint(
                "closing",
                "revolute",
                "ground",
                "b",
                **pin,
                offset=Pose(position=(1, 0, 0)),
                **more.get("loop", {}),
            )
        ],
    }


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"mimic": Mimic("closing")}, "'third' mimics 'closing', which closes a loop"),
        ({"mimic": Mimic("first", float("nan"))}, "both are finite"),
        ({"loop": {"mimic": Mimic("first")}}, "loop 'closing' mimics 'first'"),
    ],
)
def test_mimics_that_have_no_coordinate_are_refused(more, words):
    with pytest.raises(MechanismError, match=words):
        Mechanism("m", **closed(**more)).validate()


def test_what_a_loop_cannot_use_is_a_doubt():
    m = Mechanism("m", **closed(loop={"damping": 2.0, "lower": -1.0}))
    assert any("'closing'" in d and "damping and lower limit are not used" in d for d in doubts(m))


def test_a_loop_that_closes_nothing_is_refused():
    with pytest.raises(MechanismError, match="loop 'nothing' is free"):
        zoo.follower(loops=[Joint("nothing", "free", "ground", "c")]).validate()


def test_two_coordinates_of_one_name_are_refused():
    rng = np.random.default_rng(0)
    joints = [Joint("u", "universal", "ground", "a"), Joint("u.first", "revolute", "a", "b")]
    with pytest.raises(MechanismError, match=r"both have a coordinate called 'u\.first'"):
        Mechanism("m", [zoo.random_body(rng, n) for n in "ab"], joints).validate()


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: Body("rod", "10 kg", (0, 0, 0), (1, 1, 1)), "body 'rod': mass is '10 kg'"),
        (lambda: Body("rod", 1, (0, 0), (1, 1, 1)), "body 'rod': com"),
        (lambda: Body("rod", 1, (0, 0, 0), (1, 1)), "body 'rod': an inertia has"),
        (lambda: Joint("pin", "revolute", "ground", "a", axis="x"), "joint 'pin': axis is 'x'"),
        (
            lambda: Joint("pin", "revolute", "ground", "a", axis=(sympy.Symbol("l"), 0, 0)),
            "joint 'pin': axis",
        ),
        (lambda: Mechanism("m", [Body.massless("a")], [], gravity=(0, 0)), "gravity"),
        (lambda: Mechanism("m", Body.massless("a"), []), "bodies is a Body"),
    ],
)
def test_what_cannot_be_read_is_named(build, words):
    with pytest.raises(MechanismError, match=words):
        build()
