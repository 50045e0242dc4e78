"""The capability table is true: what it promises can be derived, what it denies is refused by name."""

from __future__ import annotations

import pytest

import flexible
import zoo
from catena.equations.features import FEATURES, needs
from catena.equations.formulations import ALL_FORMULATIONS, derive, formulation
from catena.errors import FormulationError
from catena.model.courses import Course
from catena.model.loads import Coupling, JointSpring, KnifeEdge
from catena.model.mechanism import Joint, Mimic
from catena.model.pose import Pose

CHAIN = zoo.random_tree(1, ["revolute", "revolute", "revolute", "revolute"], branching=0)
CASES = {
    "trees": CHAIN,
    "loops": CHAIN.with_(loops=(Joint("close", "ball", "ground", "body3", Pose(position=(1, 0, 0))),)),
    "position constraints": CHAIN.with_(constraints=(Coupling("gear", ("revolute1", "revolute3"), (1.0, 2.0)),)),
    "speed rows": CHAIN.with_(nonholonomic=(KnifeEdge("skate", "body3", (0, 1, 0)),)),
    "ball joints": zoo.random_tree(2, ["revolute", "ball"]),
    "sliding joints": zoo.random_tree(3, ["prismatic", "helical"]),
    "floating base": zoo.random_tree(4, ["free", "revolute"]),
    "mimic joints": CHAIN.with_(joints=(*CHAIN.joints[:3], zoo.replaced(CHAIN.joints[3], mimic=Mimic("revolute1", 2.0)))),
    "joints by a function": CHAIN.with_(
        joints=(*CHAIN.joints[:3], zoo.replaced(CHAIN.joints[3], mimic=Mimic("revolute1", function=Course("polynomial", y=(0.1, 0.5, 0.2)))))
    ),
    "armature": CHAIN.with_(joints=(*CHAIN.joints[:3], zoo.replaced(CHAIN.joints[3], armature=0.1))),
    "loads": CHAIN.with_(loads=(JointSpring("coil", "revolute0", 1.0, 0.0),)),
    "flexible bodies by modes": flexible.on_hub(modes=1),
}


@pytest.mark.parametrize("name", ALL_FORMULATIONS)
@pytest.mark.parametrize("feature", CASES)
def test_the_table_is_true(name, feature):
    m = CASES[feature]
    assert feature in needs(m)
    record = formulation(name)
    if record.treats(feature) == "yes":
        equations = derive(m, name)
        promised = record.treats("reactions") == "yes" and feature != "position constraints"  # on which bodies one acts is not known there
        assert (equations.reactions is not None) == promised
        assert not record.lacks(m)
    else:
        with pytest.raises(FormulationError, match=name) as refused:
            derive(m, name)
        assert repr(m.name) in str(refused.value)
        advice = {"-": "recursive", "partly": "take another formulation"}  # partly: the fault is of this mechanism, and said so
        assert advice[record.treats(feature)] in str(refused.value)
        assert record.lacks(m) == [feature]


def test_the_features_are_those_of_the_cases():
    assert set(CASES) == set(FEATURES) - {"free parameters", "reactions"}
