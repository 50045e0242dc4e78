"""Friction that rigid bodies do not determine: it holds as long as any forces within their cones
do, and no longer.

tripod   pulled beside its centre: the limit by the theorem of plasticity, a rate of turn about the
         centre for which friction does no less work than the pull
ladder   pulled at its foot: both ends slip at once, in closed form; and at rest near its limit
cart     held by the dry friction of its joint and by its feet: they give way together
arm      held by the dry friction of its pivot and by two feet whose shares of the load are free: it
         holds as long as the outer one could carry everything
"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.optimize import brentq, minimize

from catena import Body, Contact, Force, Frame, Joint, Mechanism, Pose, simulate
from catena.simulation.output.contact_record import ContactRows, residuals

ORIGIN = (0.0, 0.0, 0.0)
G = 9.81
FEET = 0.5 * np.array([[np.cos(a), np.sin(a)] for a in 0.3 + 2.0 * np.pi / 3.0 * np.arange(3)])
HOOK = np.array([0.1, 1.0])


def tripod(scale: float = 1.0) -> Mechanism:
    """A table of 10 kg; scale: of lengths, and of the time in which the pull grows."""
    feet = tuple(
        Frame(f"foot {k}", "table", Pose(position=(*(scale * p), 0.0))) for k, p in enumerate(FEET)
    )
    inertia = tuple(scale**2 * x for x in (1.0, 1.0, 2.0))
    return Mechanism(
        "tripod",
        (Body("table", 10.0, ORIGIN, inertia),),
        (Joint("free", "free", "ground", "table"),),
        (*feet, Frame("hook", "table", Pose(position=(*(scale * HOOK), 0.0)))),
        loads=(Force("pull", "hook", force=("10*t", 0.0, 0.0)),),
        contacts=(Contact((tuple(f.name for f in feet), "ground"), 0.4, 0.0),),
    )


def pull_of_tripod() -> float:
    """The least pull along x for which some motion of the table in its plane has friction do less
    work: feet and hook with speeds c + w x p, each foot pressed by a third of the weight.
    """

    def pull(x: np.ndarray) -> float:
        c, w = np.array([1.0 + HOOK[1] * x[0], x[1]]), x[0]  # the hook moves by 1 along x
        speeds = c + w * np.column_stack([-FEET[:, 1], FEET[:, 0]])
        return 0.4 * 10.0 * G / 3.0 * float(np.hypot(*speeds.T).sum())

    starts = ([w, c] for w in (-2.0, -1.0, 0.0) for c in (-0.5, 0.0, 0.5))
    options = {"xatol": 1e-14, "fatol": 1e-15, "maxiter": 4000, "maxfev": 4000}
    return min(minimize(pull, x, method="Nelder-Mead", options=options).fun for x in starts)


def ladder(mu: float, pull: str = "0*t") -> Mechanism:
    """A rod of 2 m and 10 kg in a plane, its foot on the floor, its top at a wall at x = 0."""
    bodies = (
        Body("a", 0, ORIGIN, ORIGIN),
        Body("b", 0, ORIGIN, ORIGIN),
        Body("rod", 10.0, ORIGIN, (10.0 / 3.0,) * 3),
    )
    joints = (
        Joint("x", "prismatic", "ground", "a", axis=(1, 0, 0)),
        Joint("z", "prismatic", "a", "b", axis=(0, 0, 1)),
        Joint("turn", "revolute", "b", "rod", axis=(0, 1, 0)),
    )
    frames = (
        Frame("foot", "rod", Pose(position=(1.0, 0, 0))),
        Frame("top", "rod", Pose(position=(-1.0, 0, 0))),
        Frame("wall", "ground", Pose.rpy(0, np.pi / 2, 0)),
    )
    return Mechanism(
        "ladder",
        bodies,
        joints,
        frames,
        loads=(Force("pull", "foot", force=(pull, 0.0, 0.0)),),
        contacts=(Contact(("foot", "ground"), mu, 0.0), Contact(("top", "wall"), mu, 0.0)),
    )


def pull_of_ladder(mu: float, angle: float) -> float:
    """With both ends at their limits: N_top = mu N_foot - pull, N_foot + mu N_top = weight, and
    moments about the middle.
    """
    c, s = np.cos(angle), np.sin(angle)
    top = c / (2.0 * s + mu * c)  # of the force at the foot
    return (mu - top) * 10.0 * G / (1.0 + mu * top)


def times(run, words: str) -> list[float]:
    log = zip(run.data["event_time"].values.tolist(), run.event.values)
    return [t for t, what in log if words in what]


def in_cones(run, mu: float) -> float:
    """By how much the forces that the run had miss their cones, N, at worst."""
    push = run.contacts["push"].values
    closed = run.contacts["mode"].values != "open"
    N = push[..., 2]
    return float(np.where(closed, np.hypot(push[..., 0], push[..., 1]) - mu * N, 0.0).max())


@pytest.mark.parametrize("scale", [1.0, 1e-3, 1e3])
def test_a_tripod_slips_where_no_forces_hold_it(scale: float) -> None:
    wanted = pull_of_tripod() / 10.0
    assert wanted == pytest.approx(1.5230, abs=5e-5)
    run = simulate(tripod(scale), q=[0, 0, 0, 1, 0, 0, 0], until=1.57, output=0.01)
    first = times(run, "slips")
    assert first[0] == pytest.approx(wanted, rel=1e-9)
    # forces that are not determined have been within their cones all the time, and the ledger looks
    assert in_cones(run, 0.4) < 1e-9
    assert run.ledger.contact.cone < 1e-10


def test_the_ledger_counts_forces_that_are_not_determined() -> None:
    """They may be chosen, but not outside their cones."""
    run = simulate(tripod(), q=[0, 0, 0, 1, 0, 0, 0], until=1.0, output=0.5)
    assert np.isnan(run.contacts["friction_force"].values[-1]).any()
    one, three = np.zeros((1, 1)), np.zeros((1, 1, 3))
    rows = ContactRows(
        gap=one,
        rate=one,
        normal=np.array([[32.7]]),
        friction=np.array([[[14.54, 0.0, 0.0]]]),
        slip=three,
        place=three,
        mode=np.full((1, 1), 2.0),
        known=np.zeros((1, 1, 4), bool),
        total=three,
        centre=three,
        push=three,
    )
    contacts = (SimpleNamespace(contact=run.machine.mechanism.contacts[0]),)
    plan = SimpleNamespace(
        machine=run.machine, system=SimpleNamespace(holding=SimpleNamespace(contacts=contacts))
    )
    assert residuals(plan, rows)["outside"] == pytest.approx(14.54 - 13.08)
    assert residuals(plan, rows._replace(normal=-rows.normal))["pulling"] == pytest.approx(32.7)


@pytest.mark.parametrize("mu", [0.4, 0.5, 0.7])
def test_a_ladder_slips_where_both_ends_are_at_their_limits(mu: float) -> None:
    angle = 0.9
    run = simulate(
        ladder(mu, "10*t"), [np.cos(angle), np.sin(angle), angle], None, 3.5, output=0.05
    )
    wanted = pull_of_ladder(mu, angle) / 10.0
    assert times(run, "slips")[:2] == pytest.approx([wanted, wanted], rel=1e-9)
    assert run.ledger.contact.cone < 1e-10


@pytest.mark.parametrize("mu", [0.3, 0.5, 0.9])
@pytest.mark.parametrize("beyond", [1e-2, 1e-3, 1e-6, -1e-6, -1e-3])
def test_a_ladder_rests_up_to_its_limit(mu: float, beyond: float) -> None:
    limit = brentq(lambda x: pull_of_ladder(mu, x), 0.01, 1.5, xtol=1e-15)
    angle = limit + beyond
    run = simulate(ladder(mu), [np.cos(angle), np.sin(angle), angle], None, 0.2, output=0.2)
    modes = run.contacts["mode"].values[-1].tolist()
    assert modes == (["stick"] * 2 if beyond > 0.0 else ["slip"] * 2)


def test_forces_are_given_along_the_axes_in_which_they_are_determined() -> None:
    """A beam on two feet, each a contact of its own, pulled across: along the line of the feet
    friction may be shared in any way, across it and upwards it may not.
    """
    frames = (
        Frame("left", "beam", Pose(position=(-1.0, 0, -0.1))),
        Frame("right", "beam", Pose(position=(1.0, 0, -0.1))),
        Frame("prop", "beam", Pose(position=(0.0, 1.0, -0.1))),
        Frame("hook", "beam", Pose(position=(0.0, 0.0, -0.1))),
    )
    beam = Mechanism(
        "beam",
        (Body("beam", 10.0, (0.2, 0.2, 0), (1, 1, 1)),),
        (Joint("free", "free", "ground", "beam"),),
        frames,
        loads=(Force("pull", "hook", force=(0.0, 5.0, 0.0)),),
        contacts=(
            Contact(("left", "ground"), 0.6, 0.0),
            Contact(("right", "ground"), 0.6, 0.0),
            Contact(("prop", "ground"), 0.0, 0.0),
        ),
    )
    run = simulate(beam, [0, 0, 0.1, 1, 0, 0, 0], None, 0.1, output=0.1)
    assert run.contacts["mode"].values[-1, :2].tolist() == ["stick", "stick"]
    force = run.contacts["force"].values[-1]
    weight = 10.0 * G
    assert np.isnan(force[:2, 0]).all()
    assert force[:2, 1] == pytest.approx([-2.5, -2.5])
    assert force[:, 2] == pytest.approx([weight * 0.3, weight * 0.5, weight * 0.2])
    assert force[2, :2].tolist() == [0.0, 0.0]
    friction = run.contacts["friction_force"].values[-1]
    assert np.isnan(friction[:2, 0]).all() and friction[:2, 1] == pytest.approx([-2.5, -2.5])
    # each contact is a point, and that is where it presses
    assert run.contacts["pressure_centre"].values[-1] == pytest.approx(
        np.array([[-1.0, 0, 0], [1.0, 0, 0], [0, 1.0, 0]]), abs=1e-12
    )


def spokes(inertia: float) -> Mechanism:
    """A hub of 1 kg with eight spokes of 1 m, in a plane."""
    turns = np.pi / 4.0 * np.arange(8)
    feet = tuple(
        Frame(f"spoke {k}", "wheel", Pose(position=(np.sin(a), 0.0, -np.cos(a))))
        for k, a in enumerate(turns)
    )
    bodies = (
        Body("a", 0, ORIGIN, ORIGIN),
        Body("b", 0, ORIGIN, ORIGIN),
        Body("wheel", 1.0, ORIGIN, (inertia,) * 3),
    )
    joints = (
        Joint("x", "prismatic", "ground", "a", axis=(1, 0, 0)),
        Joint("z", "prismatic", "a", "b", axis=(0, 0, 1)),
        Joint("turn", "revolute", "b", "wheel", axis=(0, 1, 0)),
    )
    gravity = (G * np.sin(0.08), 0.0, -G * np.cos(0.08))
    contact = Contact((tuple(f.name for f in feet), "ground"), 1.0, 0.0)
    return Mechanism("wheel", bodies, joints, feet, gravity, contacts=(contact,))


@pytest.mark.parametrize("inertia", [1e-2, 1e-5, 1e-7, 1e-8, 1e-9, 1e-12])
def test_a_wheel_of_spokes_rests_on_two_whatever_its_inertia(inertia: float) -> None:
    """Two spokes leave one friction open; that is no matter of inertia, and no paradox."""
    start = [0.0, np.cos(np.pi / 8), np.pi / 8]
    run = simulate(spokes(inertia), start, None, 1.0, output=1.0)
    assert run.contacts["mode"].values[-1, :2].tolist() == ["stick", "stick"]
    assert run.q.values[-1].tolist() == run.q.values[0].tolist()


@pytest.mark.parametrize("inertia", [1e-2, 1e-4, 1e-6])
def test_a_wheel_of_spokes_keeps_its_moment_about_the_next(inertia: float) -> None:
    run = simulate(spokes(inertia), [0.0, 1.0, 0.0], [0.5, 0.0, 0.5], 1.0, output=1.0)
    hit = float(run.impact_time.values[0])
    before, after = (
        simulate(spokes(inertia), [0.0, 1.0, 0.0], [0.5, 0.0, 0.5], t, output=[t]).v.values[-1, 2]
        for t in (hit - 1e-9, hit + 1e-9)
    )
    kept = (np.cos(np.pi / 4) + inertia) / (1.0 + inertia)
    assert after / before == pytest.approx(kept, rel=1e-7)


DRY, MU, MASS = 5.0, 0.3, 2.0


def slips(run) -> list[float]:
    """The instants at which something begins to slip, s."""
    log = zip(run.data["event_time"].values, run.data["event"].values)
    return [float(t) for t, what in log if "slips" in str(what)]


@pytest.mark.parametrize("feet, way", [(1, 1.0), (1, -1.0), (3, 1.0)])
def test_a_joint_and_contacts_give_way_together(feet, way):
    """The pull 10 t exceeds the sum of both frictions at t0; then v = int (10 t - sum) dt / m."""
    frames = tuple(
        Frame(f"foot {k}", "cart", Pose(position=(x, 0, 0)))
        for k, x in enumerate(np.linspace(0.0, 1.0, feet))
    )
    m = Mechanism(
        "cart",
        (Body("slide", 0, ORIGIN, ORIGIN), Body("cart", MASS, ORIGIN, (1.0, 1.0, 1.0))),
        (
            Joint("x", "prismatic", "ground", "slide", axis=(1, 0, 0), friction=DRY),
            Joint("z", "prismatic", "slide", "cart", axis=(0, 0, 1)),
        ),
        (*frames, Frame("hook", "cart")),
        loads=(Force("pull", "hook", force=(f"{10.0 * way}*t", 0.0, 0.0)),),
        contacts=(Contact((tuple(f.name for f in frames), "ground"), MU, 0.0),),
    )
    limit = DRY + MU * MASS * G
    t0 = limit / 10.0
    run = simulate(m, [0.0, 0.0], until=2.0, output=0.05)
    assert len(slips(run)) == feet + 1
    np.testing.assert_allclose(slips(run), t0, rtol=1e-8)
    wanted = way * (5.0 * (2.0**2 - t0**2) - limit * (2.0 - t0)) / MASS
    assert run.data["v"].values[-1, 0] == pytest.approx(wanted, rel=1e-8)
    assert 0.0 <= run.ledger.contact.margin < 1e-3
    assert not run.ledger.doubts()


def test_a_pivot_and_feet_hold_while_some_forces_do():
    """Feet at 0.5 and 1 m from a pivot with dry friction, pulled at 2 m: the weight may rest on the
    outer foot alone, so that it slips at 2 P = T + mu m g.
    """
    frames = tuple(
        Frame(f"foot {k}", "arm", Pose(position=(x, 0, 0))) for k, x in enumerate((0.5, 1.0))
    )
    m = Mechanism(
        "arm",
        (Body("hub", 0, ORIGIN, ORIGIN), Body("arm", MASS, ORIGIN, (1.0, 1.0, 1.0))),
        (
            Joint("turn", "revolute", "ground", "hub", axis=(0, 0, 1), friction=DRY),
            Joint("z", "prismatic", "hub", "arm", axis=(0, 0, 1)),
        ),
        (*frames, Frame("hook", "arm", Pose(position=(2.0, 0, 0)))),
        loads=(Force("pull", "hook", force=(0.0, "10*t", 0.0)),),
        contacts=(Contact((tuple(f.name for f in frames), "ground"), MU, 0.0),),
    )
    t0 = (DRY + MU * MASS * G) / 20.0
    held = simulate(m, [0.0, 0.0], until=0.999 * t0, output=0.999 * t0)
    assert not held.data["v"].values.any() and 0.0 < held.ledger.contact.margin < 0.5
    run = simulate(m, [0.0, 0.0], until=1.1 * t0, output=1.1 * t0)
    assert min(slips(run)) == pytest.approx(t0, rel=1e-7)
