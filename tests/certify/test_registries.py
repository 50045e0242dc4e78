"""A formulation from outside the package: one registration, and everything knows it."""

from __future__ import annotations

from dataclasses import replace

import pytest

import catena
import zoo
from catena.equations.formulation import FORMULATIONS, Formulation, StateKind, register
from catena.equations.formulations import derive, formulations
from catena.errors import FormulationError
from catena.model.mechanism import Joint
from catena.simulation.scenario import read


def mirror(mechanism):
    """A toy: the equations of another under a new name, whose loads come as generalised forces."""
    return replace(
        derive(mechanism.with_(loads=()), by="boltzmann_hamel"),
        mechanism=mechanism,
        formulation="mirror",
    )


@pytest.fixture
def toy():
    yield register(
        Formulation(
            "mirror",
            mirror,
            unknowns="none",
            source="nowhere",
            year=3000,
            own_loads=False,
            cannot=dict.fromkeys(
                ("loops", "speed rows", "flexible bodies by modes"), "it is a toy"
            ),
        )
    )
    del FORMULATIONS["mirror"]


def test_a_toy_formulation_is_derived_checked_compared_and_simulated(toy, tmp_path):
    arm = catena.load("two_link_arm")
    assert catena.ALL_FORMULATIONS[-1] == "mirror"
    assert catena.derive(arm, by="mirror").formulation == "mirror"
    assert catena.check(arm, formulations=("recursive", "mirror"), states=3).passed
    found = catena.compare(arm, formulations=("recursive", "mirror"), until=0.05)
    assert [row[0] for row in found.rows()] == ["recursive", "mirror"]
    (tmp_path / "swing.toml").write_text(
        'mechanism = "two_link_arm"\n[scenario]\nuntil = 0.05\nby = "mirror"\n'
    )
    asked = read(tmp_path / "swing.toml")
    result = catena.simulate(asked.mechanism, **asked.arguments)
    assert result.ledger.formulation == "mirror"


def test_what_a_toy_cannot_treat_is_refused_by_its_record(toy):
    arm = catena.load("two_link_arm")
    last = arm.bodies[-1].name
    closed = arm.with_(loops=(Joint("hook", "ball", "ground", last),))
    with pytest.raises(
        FormulationError,
        match=(
            r"mirror does not treat loops, and mechanism 'two-link arm' has joint 'hook': it is a"
            r" toy; take"
        ),
    ):
        catena.derive(closed, by="mirror")


def test_a_name_is_given_once_and_help_lists_all(toy):
    with pytest.raises(FormulationError, match="known already"):
        register(replace(toy, year=3001))
    with pytest.raises(FormulationError, match="is no feature"):
        register(
            Formulation(
                "other", mirror, unknowns="", source="", year=1, cannot={"magic": "nobody can"}
            )
        )
    with pytest.raises(FormulationError, match="mirror"):
        catena.derive(catena.load("two_link_arm"), by="miror")


def test_records_are_true_of_what_is_derived():
    arm = zoo.arm(2)
    for f in formulations():
        e = derive(arm, by=f.name)
        assert (f.state is StateKind.SPEEDS) == e.state_is_qv
        assert f.approximate == (e.error > 0)
