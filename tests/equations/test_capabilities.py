"""The capability table is true: it has no holes, and every cell agrees with the kernels."""

from __future__ import annotations

import numpy as np
import pytest

from capability_cases import BOBS, CASES, derived, deviations
from catena import Body, Joint, Mechanism, Pose, compile
from catena.equations.features import FEATURES, needs
from catena.equations.formulations import ALL_FORMULATIONS, formulation


@pytest.mark.parametrize("name", ALL_FORMULATIONS)
@pytest.mark.parametrize("feature", CASES)
def test_the_table_is_true(name, feature):
    m = CASES[feature]
    record = formulation(name)
    assert feature in needs(m) and record.treats(feature) == "yes" and not record.lacks(m)
    accelerations, wrenches = deviations(m, derived(m, name))
    assert accelerations < 1e-9
    # on which bodies one acts is not known there
    assert (wrenches is None) == (feature == "position constraints")
    assert wrenches is None or wrenches < 1e-9


@pytest.mark.parametrize("name", ALL_FORMULATIONS)
def test_links_without_inertia_and_free_parameters(name):
    accelerations, wrenches = deviations(BOBS, derived(BOBS, name))
    assert accelerations < 1e-9
    assert wrenches is not None and wrenches < 1e-9


def test_the_features_are_those_of_the_cases():
    assert set(CASES) == set(FEATURES) - {"free parameters", "reactions"}


@pytest.mark.parametrize("name", ALL_FORMULATIONS)
@pytest.mark.parametrize("length", [1e-6, 1e6])
def test_accelerations_keep_their_digits_in_every_unit_of_length(name, length):
    """Two bodies on axes askew, micrometres or thousands of kilometres long, moved at the same
    pace.
    """
    n = (0.65804089, 0.0, 0.75298344)
    bodies = [
        Body("wheel", 2.0, (0, 0, 0), (0.3 * length**2,) * 3),
        Body("disc", 2.0, tuple(0.3 * length * x for x in n), (0.1 * length**2,) * 3),
    ]
    joints = [
        Joint("spin", "revolute", "ground", "wheel", Pose.rpy(0.3, 0.2, 0.1), axis=(1, 2, 3)),
        Joint("turn", "revolute", "wheel", "disc", axis=n),
    ]
    m = Mechanism("askew", bodies, joints)
    given = np.array([0.3, 0.7]), np.array([1.0, -0.5]), np.array([1.0, 2.0]) * length**2
    known = compile(m).forward_dynamics(*given)
    e = derived(m, name)
    assert (
        np.abs(np.array(e.acceleration(0.0, *given, e.parameters)).ravel() - known).max()
        < 1e-11 * np.abs(known).max()
    )
