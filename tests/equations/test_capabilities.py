"""The capability table is true: what it promises can be derived, what it denies is refused by name."""

from __future__ import annotations

import pytest

import flexible
import zoo
from catena.equations.formulations import ALL_FORMULATIONS, derive
from catena.equations.formulations.capabilities import CAPABILITIES, FEATURES, applicable, needs, table
from catena.errors import FormulationError
from catena.model.loads import JointSpring, KnifeEdge
from catena.model.mechanism import Joint, Mimic
from catena.model.pose import Pose

CHAIN = zoo.random_tree(1, ["revolute", "revolute", "revolute", "revolute"], branching=0)
CASES = {
    "trees": CHAIN,
    "loops": CHAIN.with_(loops=(Joint("close", "ball", "ground", "body3", Pose(position=(1, 0, 0))),)),
    "speed rows": CHAIN.with_(nonholonomic=(KnifeEdge("skate", "body3", (0, 1, 0)),)),
    "ball joints": zoo.random_tree(2, ["revolute", "ball"]),
    "sliding joints": zoo.random_tree(3, ["prismatic", "helical"]),
    "floating base": zoo.random_tree(4, ["free", "revolute"]),
    "mimic joints": CHAIN.with_(joints=(*CHAIN.joints[:3], zoo.replaced(CHAIN.joints[3], mimic=Mimic("revolute1", 2.0)))),
    "armature": CHAIN.with_(joints=(*CHAIN.joints[:3], zoo.replaced(CHAIN.joints[3], armature=0.1))),
    "loads": CHAIN.with_(loads=(JointSpring("coil", "revolute0", 1.0, 0.0),)),
    "flexible bodies by modes": flexible.on_hub(modes=1),
}
UNPLACED = {  # forces that the formulation has as generalised ones: where on the bodies they act, and so the reactions, is not known
    "kane": {"loops", "speed rows", "loads"},
    "boltzmann_hamel": {"loads"},
    "recursive": {"speed rows"},
}


def test_the_table_has_every_formulation_and_feature():
    assert set(CAPABILITIES) == set(ALL_FORMULATIONS)
    assert all(len(row) == len(FEATURES) + 1 for row in table())


@pytest.mark.parametrize("name", ALL_FORMULATIONS)
@pytest.mark.parametrize("feature", CASES)
def test_the_table_is_true(name, feature):
    m = CASES[feature]
    assert feature in needs(m)
    if feature in CAPABILITIES[name]:
        equations = derive(m, name)
        promised = "reactions" in CAPABILITIES[name] and feature not in UNPLACED.get(name, ())
        assert (equations.reactions is not None) == promised
        assert name in applicable(m)
    else:
        with pytest.raises(FormulationError) as refused:
            derive(m, name)
        assert name in str(refused.value) or "recursive" in str(refused.value)
        assert name not in applicable(m)
