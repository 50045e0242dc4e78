"""Best designs against closed forms: a balanced arm, counterweights, a linkage whose coupler passes
points.
"""

from __future__ import annotations

import numpy as np
import pytest
import sympy

import catena
from catena.errors import FormatError, StudyError


def solved(name, **changes):
    mechanism, asked = catena.optimization.read_optimize(name)
    return catena.optimize(mechanism, **{**asked, **changes})


def test_the_spring_that_balances_an_arm():
    """k = m g l / (h a): no torque at any angle."""
    d = solved("balanced_arm")
    assert d.parameters["k"] == pytest.approx(2 * 9.81 * 0.5 / (0.25 * 0.1), rel=1e-9)
    assert np.abs(d.tau).max() < 1e-8
    machine = catena.compile(d.mechanism)  # the same from the mechanism that comes out
    still = np.zeros((5, 1))
    assert (
        np.abs(machine.inverse_dynamics(np.linspace(-1.5, 1.5, 5)[:, None], still, still)).max()
        < 1e-8
    )


def test_the_counterweight_of_an_engine():
    """Half of what goes to and fro: (m + mr/3)/2 = 0.3 kg, from another guess."""
    d = solved("balanced_engine", parameters={"balance": 0.05})
    assert d.parameters["balance"] == pytest.approx(0.3, rel=1e-8)
    assert d.difference < 1e-12


def four_bar_with_counterweights():
    """Uniform rods a, b, c over a ground d, with point masses mc, mr at radius 5 cm behind the
    fixed pins.
    """
    a, b, c, d, rho, r = 0.1, 0.3, 0.25, 0.28, 0.8, 0.05
    mc, mr = sympy.symbols("mc mr")

    def rod(name, length, extra):
        mass = rho * length + extra
        return catena.Body(
            name, mass, ((rho * length**2 / 2 - extra * r) / mass, 0, 0), (0, mass, mass)
        )

    joints = [
        catena.Joint("motor", "revolute", "ground", "crank"),
        catena.Joint("near", "revolute", "ground", "rocker", catena.Pose(position=(d, 0, 0))),
        catena.Joint("pin", "revolute", "crank", "coupler", catena.Pose(position=(a, 0, 0))),
    ]
    far = catena.Joint(
        "far",
        "revolute",
        "coupler",
        "rocker",
        catena.Pose(position=(b, 0, 0)),
        offset=catena.Pose(position=(c, 0, 0)),
    )
    bodies = [
        rod("crank", a, mc),
        rod("rocker", c, mr),
        catena.Body("coupler", rho * b, (b / 2, 0, 0), (0, 1, 1)),
    ]
    return catena.Mechanism(
        "four-bar", bodies, joints, loops=[far], parameters={"mc": 0.1, "mr": 0.1}
    ), (a, b, c, rho, r)


def test_counterweights_that_balance_all_shaking_force_of_a_four_bar():
    """[Berkof1969]: half of the coupler at each of its pins, balanced with the crank and the rocker
    about theirs.
    """
    m, (a, b, c, rho, r) = four_bar_with_counterweights()
    q = catena.assemble(m, [1.0, 2.0, -1.0], fixed=["motor"])[0]
    d = catena.optimize(
        m,
        cost="shaking force",
        q=q,
        over={"motor": np.linspace(1.0, 6.5, 12)},
        speeds={"motor": 10.0},
        design={"mc": (0, 2), "mr": (0, 3)},
    )
    assert d.parameters["mc"] == pytest.approx((rho * a + rho * b) * a / (2 * r), rel=1e-6)
    assert d.parameters["mr"] == pytest.approx((rho * c + rho * b) * c / (2 * r), rel=1e-6)
    assert d.cost < 1e-9
    with pytest.raises(StudyError, match=r"the condition 'mc' in pose \d+ \(motor = .*\), by"):
        catena.optimize(
            m,
            cost="shaking force",
            q=q,
            over={"motor": [1.0, 2.0]},
            speeds={"motor": 1.0},
            design={"mc": (0, 2), "mr": (0, 3)},
            conditions={"mc": (5, 6)},
        )


@pytest.mark.parametrize("free", [False, True])
def test_a_coupler_that_passes_given_points(free):
    """The linkage that made the points is found again, with the angles of its crank given or not;
    points are rounded to 0.01 mm.
    """
    changes = (
        {"free": ["motor pin"], "over": {"motor pin": np.radians(np.arange(90, 421, 30) + 4.0)}}
        if free
        else {}
    )
    d = solved("coupler_points", **changes)
    want = {"crank": 0.1, "coupler": 0.3, "rocker": 0.25, "span": 0.28, "u": 0.15, "w": 0.05}
    assert d.parameters == pytest.approx(want, abs=1e-4 if not free else 2e-3)
    assert d.difference < 1e-8 and np.sqrt(d.cost) < 1e-5
    marker = catena.compile(d.mechanism).pose(d.q, "marker")[:, :2, 3]
    assert np.abs(marker[0] - [0.10526, 0.21799]).max() < 2e-5


def test_what_cannot_be_designed_is_said(tmp_path):
    mechanism, asked = catena.optimization.read_optimize("balanced_arm")
    with pytest.raises(StudyError, match="something must be unknown"):
        catena.optimize(mechanism, over={"shoulder": [0.0]})
    with pytest.raises(StudyError) as said:
        catena.optimize(
            mechanism,
            design={"k": (0, 1)},
            over={"elbow": [0.0, 1.0]},
            speeds={"shoulder": 1.0},
            points={"tip": [(0, 0, 0, 0)]},
        )
    for words in (
        "over: no coordinate 'elbow'",
        "speeds: 'shoulder' is not among",
        "points: no frame 'tip'",
        "shape (1, 4)",
        "2 of elbow, 1 of tip",
    ):
        assert words in str(said.value)
    with pytest.raises(StudyError, match='cost "distance" is that of frames from points'):
        catena.optimize(mechanism, **{**asked, "cost": "distance"})
    text = (catena.formats._find("balanced_arm")).read_text()
    (tmp_path / "bad.toml").write_text(
        text.replace('"-80..80 deg:17"', '"uniform(0, 1)"').replace('"0 N/m"', '"0 kg*furlong"')
    )
    with pytest.raises(FormatError, match="poses are a list, or a text such as"):
        catena.optimization.read_optimize(tmp_path / "bad.toml")
