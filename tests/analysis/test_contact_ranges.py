"""Ranges of contact forces: tables, grips and slides in closed form, and programmes over cones by
another solver.
"""

from __future__ import annotations

import numpy as np
import pytest

import catena
from catena.analysis.contact_ranges import contact_ranges
from catena.contact.cone_programmes import Cone, ConeProgramme, NoForces
from catena.errors import QuestionError
from catena.model.loads import Force
from catena.model.mechanism import GROUND, Body, Contact, Frame, Joint, Mechanism
from catena.model.pose import Pose

G = 9.81
UPRIGHT = [0, 0, 0, 1, 0, 0, 0]


def table(
    mu: float, legs, mass: float = 10.0, com=(0.3, 0.2, 0.8), unit: float = 1.0, **more
) -> Mechanism:
    """A plate on legs, at the origin's height; unit: metres of one length."""
    feet = tuple(
        Frame(f"leg {k}", "table", Pose(position=(x * unit, y * unit, 0)))
        for k, (x, y) in enumerate(legs, start=1)
    )
    return Mechanism(
        "table",
        (Body("table", mass, tuple(x * unit for x in com), (mass * unit**2,) * 3),),
        (Joint("free", "free", GROUND, "table"),),
        feet,
        (0, 0, -G * unit),
        contacts=(Contact((tuple(f.name for f in feet), "ground"), mu, 0.0),),
        **more,
    )


SQUARE = [(1, 1), (-1, 1), (-1, -1), (1, -1)]


@pytest.mark.parametrize("mu", [0.0, 0.5])
@pytest.mark.parametrize(("unit", "mass"), [(1.0, 10.0), (1e3, 1e-3), (1e-6, 1e6)])
def test_four_legs_in_any_units(mu: float, unit: float, mass: float) -> None:
    """Least norm W/4 (1 + x px + y py), and t (1, -1, 1, -1) with no force negative."""
    found = contact_ranges(table(mu, SQUARE, mass, unit=unit), UPRIGHT)
    weight = mass * G * unit
    least = weight / 4 * np.array([1 + 0.3 * x + 0.2 * y for x, y in SQUARE])
    assert found.least_norm[:, 0] == pytest.approx(least, rel=1e-12) and found.inside
    down = min(least[0], least[2])
    up = min(least[1], least[3])
    wanted = [[x - down, x + up] if k % 2 == 0 else [x - up, x + down] for k, x in enumerate(least)]
    assert found.normal == pytest.approx(np.array(wanted), rel=1e-9, abs=1e-12 * weight)
    assert (
        found.names == tuple(f"leg {k}-ground" for k in (1, 2, 3, 4)) and not found.determined.any()
    )
    assert (
        (found.friction == 0.0).all()
        if mu == 0.0
        else (np.abs(found.friction) > 0.1 * weight * mu / 4).all()
    )


def test_three_legs_are_determined() -> None:
    found = contact_ranges(table(0.0, SQUARE[:3], com=(-0.3, 0.2, 0.5)), UPRIGHT)
    assert (
        found.determined.all()
        and found.normal[:, 0] == pytest.approx(found.normal[:, 1])
        and found.loose.shape == (0, 3, 3)
    )
    assert found.normal[:, 0] == pytest.approx(10 * G * np.array([0.35, 0.25, 0.4]))
    assert str(found).splitlines()[0] == "leg 1-ground: 34.335 N"


def test_what_is_printed_lies_within_the_range() -> None:
    """A ladder at its limit has one choice of forces, though those of least norm are others."""
    from scipy.optimize import brentq

    mu = 0.5
    limit = brentq(lambda x: np.tan(x) - (1.0 - mu**2) / (2.0 * mu), 0.1, 1.5, xtol=1e-15)
    rod = Body("rod", 10.0, (0, 0, 0), (10 / 3,) * 3)
    slides = (Body("a", 0, (0, 0, 0), (0, 0, 0)), Body("b", 0, (0, 0, 0), (0, 0, 0)))
    joints = (
        Joint("x", "prismatic", "ground", "a", axis=(1, 0, 0)),
        Joint("z", "prismatic", "a", "b", axis=(0, 0, 1)),
        Joint("turn", "revolute", "b", "rod", axis=(0, 1, 0)),
    )
    frames = (
        Frame("foot", "rod", Pose(position=(1, 0, 0))),
        Frame("top", "rod", Pose(position=(-1, 0, 0))),
        Frame("wall", "ground", Pose.rpy(0, np.pi / 2, 0)),
    )
    ladder = Mechanism(
        "ladder",
        (*slides, rod),
        joints,
        frames,
        contacts=(Contact(("foot", "ground"), mu, 0), Contact(("top", "wall"), mu, 0)),
    )
    found = contact_ranges(ladder, [np.cos(limit), np.sin(limit), limit])
    foot = 10 * G / (1 + mu**2)  # N + mu (mu N) = weight
    assert found.normal == pytest.approx(np.array([[foot] * 2, [mu * foot] * 2]), rel=1e-6)
    assert str(found).splitlines()[0] == f"foot-ground: {foot:.6g} N"
    # farther from the limit there is a range, and what is printed lies in it
    found = contact_ranges(ladder, [np.cos(limit + 0.3), np.sin(limit + 0.3), limit + 0.3])
    for line, (low, high) in zip(str(found).splitlines(), found.normal):
        assert f"{low:.6g} to {high:.6g} N" in line
        if "least norm" in line:
            assert low <= float(line.split()[-2]) <= high


def test_friction_has_a_range_of_its_own() -> None:
    """Two legs along x, pulled apart by nothing: friction along their line is any that the weaker
    cone holds.
    """
    found = contact_ranges(table(0.4, [(1, 0), (-1, 0)], com=(0.0, 0.0, 0.5)), UPRIGHT)
    assert found.normal == pytest.approx(np.full((2, 2), 5 * G)) and found.determined.all()
    assert found.friction[:, 0] == pytest.approx(np.array([[-2.0, 2.0]] * 2) * G, rel=1e-9)
    assert found.friction[:, 1] == pytest.approx(0.0, abs=1e-9)


def gripped(push: float) -> Mechanism:
    """A ball on a slide along x, between two walls."""
    walls = (
        Frame("left", GROUND, Pose.rpy(0, np.pi / 2, 0, position=(-0.1, 0, 0))),
        Frame("right", GROUND, Pose.rpy(0, -np.pi / 2, 0, position=(0.1, 0, 0))),
    )
    contacts = tuple(Contact(("ball", wall.name), 0.0, 0.0, radius=0.1) for wall in walls)
    return Mechanism(
        "grip",
        (Body("ball", 1.0, (0, 0, 0), (1, 1, 1)),),
        (Joint("x", "prismatic", GROUND, "ball", axis=(1, 0, 0)),),
        walls,
        contacts=contacts,
        loads=(Force("push", "ball", force=(push, 0, 0)),),
    )


def test_what_is_squeezed_has_no_bound() -> None:
    found = contact_ranges(gripped(3.0), [0.0])
    assert found.normal == pytest.approx(np.array([[0.0, np.inf], [3.0, np.inf]]))
    assert contact_ranges(gripped(3.0), [0.0], tau=[-3.0]).normal[:, 0] == pytest.approx(0.0)


def test_of_a_run_that_slides() -> None:
    """A box that slides straight has friction mu N against its slip; all of it but the share of the
    corners is determined.
    """
    box = table(0.3, SQUARE, com=(0.0, 0.0, 0.2))
    run = catena.simulate(box, q=UPRIGHT, v=[2, 0, 0, 0, 0, 0], until=0.1, output=0.1)
    found = contact_ranges(run.machine, run.q.values[-1], run.v.values[-1], run.a.values[-1])
    assert found.least_norm[:, 0].sum() == pytest.approx(10 * G) and found.least_norm[
        :, 1
    ] == pytest.approx(-0.3 * found.least_norm[:, 0])
    assert (
        found.friction[:, 0, ::-1] == pytest.approx(-0.3 * found.normal)
        and (found.normal[:, 1] > found.normal[:, 0] + 1).all()
    )


def test_refusals() -> None:
    with pytest.raises(QuestionError, match="'table' has no contacts"):
        contact_ranges(
            Mechanism(
                "table",
                (Body("b", 1, (0, 0, 0), (1, 1, 1)),),
                (Joint("x", "prismatic", GROUND, "b", axis=(1, 0, 0)),),
            ),
            [0.0],
        )
    with pytest.raises(
        QuestionError,
        match=(r"'table' that touch cannot cause this motion: 'free.vz' lacks 98.1 \(N m or N\)"),
    ):
        contact_ranges(table(0.5, SQUARE), [0, 0, 1, 1, 0, 0, 0])
    with pytest.raises(QuestionError, match="cause this motion: some contact opens or slips"):
        contact_ranges(table(0.5, SQUARE, com=(1.5, 0, 0.5)), UPRIGHT)  # it tips
    with pytest.raises(QuestionError, match="some contact opens or slips"):
        # it slides
        contact_ranges(
            table(0.5, SQUARE, loads=(Force("push", "table", force=(60.0, 0, 0)),)), UPRIGHT
        )


# --- programmes
def random_programme(seed: int, k: int = 4) -> tuple[list[Cone], np.ndarray, np.ndarray]:
    """Contacts of one body in space, which hold its weight."""
    random = np.random.default_rng(seed)
    J = np.zeros((3 * k, 6))
    for i in range(k):
        axes = np.linalg.qr(random.normal(size=(3, 3)) + 4 * np.eye(3))[0]
        r = random.normal(size=3)
        J[3 * i : 3 * i + 3] = np.hstack([axes.T, np.cross(r, axes.T)])
    cones = [Cone(float(random.uniform(0.2, 1.0)), (1, 2)) for _ in range(k)]
    f = np.concatenate([[1.0, *(0.5 * c.mu * random.uniform(-0.7, 0.7, 2))] for c in cones])
    return cones, f, np.linalg.svd(J.T)[2][6:].T


@pytest.mark.parametrize("seed", range(6))
def test_cones_against_an_interior_point_method(seed: int) -> None:
    clarabel = pytest.importorskip("clarabel")
    from scipy import sparse

    cones, f, Z = random_programme(seed)
    programme = ConeProgramme(cones, f, Z)
    k = len(cones)
    n = Z.shape[1]
    A = np.vstack([-np.diag([c.mu, 1, 1]) @ Z[3 * i : 3 * i + 3] for i, c in enumerate(cones)])
    b = np.concatenate([np.diag([c.mu, 1, 1]) @ f[3 * i : 3 * i + 3] for i, c in enumerate(cones)])
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = 1e-11
    settings.tol_gap_rel = 1e-11
    settings.tol_feas = 1e-11
    for row in np.eye(3 * k)[:5]:
        other = clarabel.DefaultSolver(
            sparse.csc_matrix((n, n)),
            row @ Z,
            sparse.csc_matrix(A),
            b,
            [clarabel.SecondOrderConeT(3)] * k,
            settings,
        ).solve()
        if "Solved" not in str(other.status):
            assert programme.least(row) == -np.inf
            continue
        assert programme.least(row) == pytest.approx(other.obj_val + row @ f, abs=1e-8)


def test_the_limit_of_friction_has_no_inside() -> None:
    """A point on a slope of just its friction angle, with a second one that takes any share: planes
    find what the barrier cannot.
    """
    cones = [Cone(0.5, (1, 2))] * 2
    f = np.array([1.0, 0.5, 0.0, 1.0, 0.5, 0.0])
    Z = np.zeros((6, 3))
    Z[0, 0], Z[3, 0], Z[1, 1], Z[4, 1], Z[2, 2], Z[5, 2] = 1, -1, 1, -1, 1, -1
    programme = ConeProgramme(cones, f, Z)
    assert programme.start is None
    assert programme.least(np.eye(6)[0]) == pytest.approx(0.0, abs=1e-6) and -programme.least(
        -np.eye(6)[0]
    ) == pytest.approx(2.0, abs=1e-6)
    assert programme.least(np.eye(6)[2]) == pytest.approx(0.0, abs=1e-4)
    with pytest.raises(NoForces):
        ConeProgramme(cones, f + [0, 0.1, 0, 0, 0, 0], Z)
