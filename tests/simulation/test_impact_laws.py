"""Laws of impact by name: in files, runs and refusals."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import catena
from catena.errors import CatenaError, MechanismError, SimulationError
from catena.model.impact_laws import IMPACT_LAWS
from catena.model.mechanism import GROUND, Body, Contact, Frame, Joint, Mechanism
from catena.model.pose import Pose

DOCS = Path(__file__).parents[2] / "docs"


def rod(
    law: str,
    e: float = 0.5,
    mu: float = 0.6,
    ends: tuple[str, ...] = ("A",),
    impacts: str = "simultaneous",
    paradox: str = "stop",
) -> Mechanism:
    """A slender rod of 1 m in space; A and B are its ends."""
    frames = (
        Frame("A", "rod", Pose(position=(-0.5, 0, 0))),
        Frame("B", "rod", Pose(position=(0.5, 0, 0))),
    )
    return Mechanism(
        "rod",
        (Body("rod", 2.0, (0, 0, 0), (1e-3, 1 / 6, 1 / 6)),),
        (Joint("free", "free", GROUND, "rod"),),
        frames,
        contacts=(Contact((ends, "ground"), mu, e, law, impacts, paradox),),
    )


def leaning(angle: float) -> list[float]:
    """On its end A, at an angle to the ground."""
    return [0, 0, 0.5 * np.sin(angle), np.cos(angle / 2), 0, -np.sin(angle / 2), 0]


def test_the_page_has_the_table_of_the_registry() -> None:
    page = (DOCS / "contact.md").read_text()
    for law in IMPACT_LAWS.values():
        assert f"| `{law.name}`{' (default)' * (law.name == 'newton')} | {law.doc} |\n" in page


def test_a_file_names_the_law_and_a_wrong_one_is_refused(tmp_path: Path) -> None:
    catena.save(rod("routh_stronge"), tmp_path / "rod.toml")
    assert catena.load(tmp_path / "rod.toml").contacts[0].law == "routh_stronge"
    with pytest.raises(
        MechanismError,
        match=(
            "law is 'stronge'; it is one of newton, poisson, routh_poisson, routh_newton,"
            " routh_stronge"
        ),
    ):
        rod("stronge")


@pytest.mark.parametrize("law", IMPACT_LAWS)
def test_a_rod_that_meets_the_ground_askew(law: str) -> None:
    """Its slip turns on the way; momentum, energy and the cone of the whole impulse."""
    v = np.array([1.2, -0.7, -3.0, 0.3, 0.5, -1.0])
    run = catena.simulate(rod(law), q=leaning(1.0), v=v, until=1e-6, output=1e-6)
    P, (kept, R) = (
        run.impulse.values[0],
        (run.ledger.contact, run.machine.pose(leaning(1.0), "rod")[:3, :3]),
    )
    assert 2.0 * (run.v.values[-1, 2] - v[2]) == pytest.approx(P[0] - 2.0 * 9.81e-6, abs=1e-9)
    assert 2.0 * np.hypot(*(run.v.values[-1, :2] - v[:2])) == pytest.approx(
        np.hypot(*P[1:]), abs=1e-9
    )
    assert np.abs(R @ np.diag([1e-3, 1 / 6, 1 / 6]) @ (run.v.values[-1, 3:] - v[3:])).max() > 0.1
    assert (
        np.hypot(*P[1:]) <= 0.6 * P[0] * (1 + 1e-12)
        and kept.gain == 0.0
        and kept.dissipated > 0.0
        and law in kept.law
    )


def test_two_points_at_one_instant() -> None:
    lying = [0, 0, 0, 1, 0, 0, 0]
    with pytest.raises(
        SimulationError,
        match=(
            r"(?s)A-ground.*B-ground.*by the law routh_poisson: .*single point, and here 2 .*"
            r"impacts = 'sequential'"
        ),
    ):
        catena.simulate(
            rod("routh_poisson", ends=("A", "B")), q=lying, v=[0.3, 0, -1, 0, 0.1, 0], until=0.1
        )
    run = catena.simulate(
        rod("routh_poisson", ends=("A", "B"), impacts="sequential"),
        q=lying,
        v=[0.3, 0, -1, 0, 0.1, 0],
        until=1e-6,
        output=1e-6,
    )
    assert run.ledger.contact.gain == 0.0 and (run.contacts.gap.values[-1] > 0.0).all()


def test_newtons_end_that_would_gain_energy_stops_the_run_or_takes_no_rebound() -> None:
    start = {"q": leaning(1.0), "v": [0.6, 0, -1.0, 0, 0, 0], "until": 1e-6, "output": 1e-6}
    lost = [
        catena.simulate(rod(law, 1.0, 0.5), **start).ledger.contact.dissipated
        for law in ("routh_poisson", "routh_stronge")
    ]
    assert min(lost) >= 0.0
    with pytest.raises(
        SimulationError,
        match=(
            "by routh_newton: its slip stops or reverses, and a rebound .* would gain energy; lower"
            " friction"
        ),
    ):
        catena.simulate(rod("routh_newton", 1.0, 0.5), **start)
    run = catena.simulate(rod("routh_newton", 1.0, 0.5, paradox="impact"), **start)
    assert (
        "an impact without rebound was taken" in run.ledger.contact.remark
        and run.ledger.contact.gain == 0.0
    )


def test_time_stepping_and_sensitivities_refuse_by_name() -> None:
    with pytest.raises(
        SimulationError, match="law = 'routh_stronge'.*only law = newton and impacts = simultaneous"
    ):
        catena.simulate(
            rod("routh_stronge"), q=leaning(1.0), until=0.01, contact="time_stepping", step=1e-3
        )
    with pytest.raises(
        CatenaError,
        match="impacts by routh_poisson have no derivatives here; take law = newton or poisson",
    ):
        catena.sensitivities(
            rod("routh_poisson"),
            with_respect_to=["v.free.vx"],
            q=[0, 0, 0.6, *leaning(1.0)[3:]],
            v=[1, 0, -1, 0, 0, 0],
            until=0.3,
        )
