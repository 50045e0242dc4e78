"""A joint that moves no inertia is refused by name, whatever the formulation whose mass matrix it
makes singular.
"""

import pytest

import zoo
from catena import Body, derive
from catena.errors import SingularError


@pytest.mark.parametrize(
    "by",
    [
        "boltzmann_hamel",
        "gibbs_appell",
        "jourdain",
        "kane",
        "maggi",
        "natural_coordinates",
        "udwadia_kalaba",
        "variational",
    ],
)
def test_a_leaf_without_inertia_is_named(by):
    m = zoo.pendulum(2)
    light = m.bodies[-1].name
    joint = m.joints[-1].name
    m = m.with_(bodies=(*m.bodies[:-1], Body.massless(light)))
    with pytest.raises(
        SingularError,
        match=(
            f"{by}: .* no body resists '{joint}'; give body '{light}' mass and inertia, joint"
            f" '{joint}' an armature"
        ),
    ):
        derive(m, by=by)
