"""The capability table is true: it has no holes, and every cell agrees with the kernels."""

from __future__ import annotations

import pytest

from capability_cases import BOBS, CASES, derived, deviations
from catena.equations.features import FEATURES, needs
from catena.equations.formulations import ALL_FORMULATIONS, formulation


@pytest.mark.parametrize("name", ALL_FORMULATIONS)
@pytest.mark.parametrize("feature", CASES)
def test_the_table_is_true(name, feature):
    m, record = CASES[feature], formulation(name)
    assert feature in needs(m) and record.treats(feature) == "yes" and not record.lacks(m)
    accelerations, wrenches = deviations(m, derived(m, name))
    assert accelerations < 1e-9
    assert (wrenches is None) == (feature == "position constraints")  # on which bodies one acts is not known there
    assert wrenches is None or wrenches < 1e-9


@pytest.mark.parametrize("name", ALL_FORMULATIONS)
def test_links_without_inertia_and_free_parameters(name):
    accelerations, wrenches = deviations(BOBS, derived(BOBS, name))
    assert accelerations < 1e-9
    assert wrenches is not None and wrenches < 1e-9


def test_the_features_are_those_of_the_cases():
    assert set(CASES) == set(FEATURES) - {"free parameters", "reactions"}
