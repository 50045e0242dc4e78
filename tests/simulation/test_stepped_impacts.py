"""The impact of a time step is that of runs with events: the same law, wherever in the step a gap
closes. Measured over the step.
"""

from __future__ import annotations

import numpy as np
import pytest

import catena
from catena import Body, Contact, Frame, Joint, Mechanism, Pose

ANGLE = 0.8  # rad, of the rod to the ground
UNTIL = 0.05


def rod(contact: Contact) -> Mechanism:
    r"""A slender rod of 1 m and 1 kg in space; A is its lower end.

         /
        /  0.8 rad
    ___A____ ground
    """
    return Mechanism(
        "rod",
        (Body("rod", 1.0, (0, 0, 0), (1e-3, 1 / 12, 1 / 12)),),
        (Joint("free", "free", "ground", "rod"),),
        (Frame("A", "rod", Pose(position=(-0.5, 0, 0))),),
        contacts=(contact,),
    )


def falling(step: float, count: int) -> np.ndarray:
    """Starts (count, 7) of which the impacts are spread over somewhat more than one step."""
    turn = [np.cos(ANGLE / 2), 0.0, -np.sin(ANGLE / 2), 0.0]
    heights = np.linspace(0.02, 0.02 + 1.5 * step, count)
    return np.array([[0.0, 0.0, 0.5 * np.sin(ANGLE) + z, *turn] for z in heights])


def worst(mechanism: Mechanism, vx: float, step: float, count: int = 12) -> float:
    """The largest difference of speeds from those of events, relative to the fastest."""
    v = np.array([vx, 0.0, -1.0, 0.0, 0.0, 0.0])
    asked = {"until": UNTIL, "output": UNTIL}
    q = falling(step, count)
    many = catena.simulate(
        mechanism, q=q, v=np.tile(v, (count, 1)), contact="time_stepping", step=step, **asked
    )
    exact = np.array([catena.simulate(mechanism, q=x, v=v, **asked).v.values[-1] for x in q])
    return float(np.abs(many.v.values[:, -1] - exact).max() / np.abs(exact).max())


@pytest.mark.parametrize(
    ("friction", "restitution", "vx"),
    [
        (0.1, 0.0, 0.2),  # its slip reverses
        (0.1, 0.0, -0.2),  # it keeps its direction
        (0.6, 0.0, 0.2),
        (0.6, 0.0, 0.9),  # it comes to rest
        (0.1, 0.5, 0.2),
        (0.0, 0.0, 0.2),
        ((0.9, 0.1), 0.0, 0.2),  # an impact has the friction of what slips
        ((0.9, 0.1), 0.5, 0.9),
    ],
)
def test_an_impact_converges_wherever_in_a_step_it_happens(
    friction: float | tuple[float, float], restitution: float, vx: float
) -> None:
    m = rod(Contact(("A", "ground"), friction, restitution))
    steps = np.array([1e-3, 1e-4, 1e-5])
    errors = np.array([worst(m, vx, h) for h in steps])
    assert (errors < 10.0 * steps).all(), errors


def test_a_landing_is_one_impact_of_the_ledger() -> None:
    """Also where the rod goes on to slide, and its gap is open by rounding in some steps."""
    m = rod(Contact(("A", "ground"), 0.1, 0.0))
    run = catena.simulate(
        m,
        q=falling(1e-4, 1)[0],
        v=[0.2, 0, -1, 0, 0, 0],
        until=UNTIL,
        contact="time_stepping",
        step=1e-4,
    )
    assert run.ledger.contact.impacts == 1
    assert run.ledger.contact.penetration < 1e-9
