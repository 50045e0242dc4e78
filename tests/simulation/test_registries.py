"""Members from outside the package: an integrator, a controller, a trajectory and a stabiliser,
each by one registration.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np
import pytest

import catena
from catena.errors import FormatError, SimulationError
from catena.simulation.control import Controller, Law
from catena.simulation.integrators import methods as integrators
from catena.simulation.integrators.methods import METHODS, Method
from catena.simulation.scenario import read
from catena.simulation.scenario.control import CONTROLLERS
from catena.simulation.scenario.kinds import Kind, TableKey, number, values
from catena.simulation.scenario.motion import TRAJECTORIES
from catena.simulation.terms import stabilisation
from catena.simulation.terms.stabilisation import STABILISERS, Stabiliser


@dataclass(frozen=True)
class Brake(Controller):
    """tau = -gain v."""

    gain: float

    def law(self, system):
        return Law(-self.gain * system.v)


def ramp(rates):
    return catena.trajectories.cubic(
        [0.0, 1.0], {n: [0.0, x] for n, x in rates.items()}, dict(rates)
    )


@pytest.fixture
def toys():
    heun = Method(
        "heun",
        "fixed",
        2,
        A=np.array([[0, 0], [1.0, 0]]),
        B=np.array([0.5, 0.5]),
        C=np.array([0, 1.0]),
        stable=0.0,
    )
    integrators.register(heun)
    CONTROLLERS.register(
        Kind("brake", Brake, (TableKey("gain", number("any"), needed=True),), "a damper")
    )
    TRAJECTORIES.register(
        Kind(
            "ramp",
            ramp,
            (TableKey("rates", values("v"), needed=True, what="a table"),),
            "a steady motion",
        )
    )

    @stabilisation.register
    @dataclass(frozen=True)
    class Tug(Stabiliser):
        name = "tug"
        pulls = True

        def pull(self, s):
            return ca.SX.zeros(s.layout.nv), ca.SX(0)

    yield
    for family, name in (
        (METHODS, "heun"),
        (CONTROLLERS, "brake"),
        (TRAJECTORIES, "ramp"),
        (STABILISERS, "tug"),
    ):
        del family[name]


def scenario(tmp_path, text):
    (tmp_path / "run.toml").write_text(
        f'mechanism = "two_link_arm"\n[scenario]\nuntil = 0.1\n{text}'
    )
    return read(tmp_path / "run.toml")


def test_a_toy_integrator_and_controller_run_from_a_file(toys, tmp_path):
    assert catena.ALL_INTEGRATORS[-1] == "heun"
    text = (
        'integrator = "heun"\nstep = 0.001\ncontrol = { kind = "brake", gain = 30 }\ninitial = { v'
        " = { shoulder = 1 } }\n"
    )
    asked = scenario(tmp_path, text)
    result = catena.simulate(asked.mechanism, **asked.arguments)
    fine = catena.simulate(asked.mechanism, asked.q, asked.v, 0.1, control=Brake(30.0))
    assert result.ledger.integrator == "heun"
    assert np.abs(result.data["q"].values[-1] - fine.data["q"].values[-1]).max() < 1e-5


def test_the_order_of_a_toy_integrator_is_the_one_it_declares(toys):
    arm = catena.load("two_link_arm")
    exact = (
        catena.simulate(arm, v=[1.0, 0.0], until=0.1, output=0.1, tolerance=1e-12)
        .data["q"]
        .values[-1]
    )
    errors = [
        np.abs(
            catena.simulate(arm, v=[1.0, 0.0], until=0.1, output=0.1, integrator="heun", step=h)
            .data["q"]
            .values[-1]
            - exact
        ).max()
        for h in (0.01, 0.005)
    ]
    assert abs(np.log2(errors[0] / errors[1]) - METHODS["heun"].order) < 0.3


def test_a_toy_trajectory_and_stabiliser_run_from_a_file(toys, tmp_path):
    text = 'stabilise = "tug"\nmotion = { kind = "ramp", rates = { shoulder = 2 } }\n'
    asked = scenario(tmp_path, text)
    result = catena.simulate(asked.mechanism, **asked.arguments)
    assert result.data["q"].values[-1][0] == pytest.approx(0.2)


def test_faults_of_toys_are_told_as_those_of_others(toys, tmp_path):
    with pytest.raises(FormatError, match="gain is missing"):
        scenario(tmp_path, 'control = { kind = "brake" }\n')
    with pytest.raises(FormatError, match=r"rates is missing: a table"):
        scenario(tmp_path, 'motion = { kind = "ramp" }\n')
    with pytest.raises(FormatError, match="Did you mean 'heun'"):
        scenario(tmp_path, 'integrator = "huen"\n')
    with pytest.raises(SimulationError, match="integrator 'rk4' is in the registry already"):
        integrators.register(METHODS["rk4"])
    with pytest.raises(SimulationError, match="no kind of driver"):
        integrators.register(Method("odd", "magic", 1))
