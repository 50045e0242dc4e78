"""Contacts in simulations: theorems, paradoxes, bad input.

  |  z
  o      a rod on two slides and a hinge, its ends A and B over the ground; as a ball, of radius R
         about its middle
 /A
------ x
"""

from __future__ import annotations

import re
from functools import cache

import numpy as np
import pytest

import catena
from catena import Body, Contact, Frame, Joint, Mechanism, Pose, Shape, simulate
from catena.errors import MechanismError, SimulationError, StateError

GROUND = "ground"
ORIGIN = (0.0, 0.0, 0.0)
R = 0.1
IMPACTS = ("impact_time", "impact_contact", "approach", "impulse", "impulse_sum")
ENDS = (
    Frame("A", "rod", Pose(position=(-0.5, 0, 0))),
    Frame("B", "rod", Pose(position=(0.5, 0, 0))),
)


def rod(contacts, **more) -> Mechanism:
    bodies = (
        Body("a", 0, ORIGIN, ORIGIN),
        Body("b", 0, ORIGIN, ORIGIN),
        Body("rod", 2.0, ORIGIN, (1 / 6,) * 3),
    )
    joints = (
        Joint("x", "prismatic", GROUND, "a", axis=(1, 0, 0)),
        Joint("z", "prismatic", "a", "b", axis=(0, 0, 1)),
        Joint("turn", "revolute", "b", "rod", axis=(0, 1, 0)),
    )
    return Mechanism("rod", bodies, joints, ENDS, contacts=contacts, **more)


def on_end(**options) -> Contact:
    return Contact(("A", GROUND), **{"friction": 0.3, "restitution": 0.5} | options)


# --- theorems
def test_what_sticks_does_not_move_by_one_digit() -> None:
    """Leaning on a rough floor and a rough wall, for a thousand seconds; two forces more than
    equations.
    """
    wall = Frame("wall", GROUND, Pose.rpy(0, np.pi / 2, 0))
    m = rod((Contact(("B", GROUND), 0.6, 0.0), Contact(("A", "wall"), 0.6, 0.0))).with_(
        frames=(*ENDS, wall)
    )
    start = [0.5 * np.cos(1.1), 0.5 * np.sin(1.1), 1.1]
    run = simulate(m, start, until=1000.0, output=500.0)
    assert (
        np.array_equal(run.q.values[-1], run.q.values[1])
        and run.q.values[-1] == pytest.approx(start, abs=1e-15)
        and not run.v.values.any()
    )
    assert np.isnan(run.contacts.normal_force.values[-1]).all()


@cache
def thrown(length: float, mass: float, time: float):
    """A rod thrown onto its end, in other units: its changes of mode, the times of its first
    impacts, and where it is, in SI.
    """
    m = rod(
        (Contact((("A", "B"), GROUND), 0.3, 0.5),), gravity=(0.0, 0.0, -9.81 * length / time**2)
    )
    frames = tuple(
        Frame(f.name, "rod", Pose(position=tuple(length * float(x) for x in f.pose.position)))
        for f in ENDS
    )
    m = m.with_(
        bodies=(*m.bodies[:2], Body("rod", 2.0 * mass, ORIGIN, (mass * length**2 / 6,) * 3)),
        frames=frames,
    )
    run = simulate(
        m, [0, 0.6 * length, 0.5], [length / time, 0, 2 / time], 1.5 * time, output=0.5 * time
    )
    modes = [
        what.split(",")[0]
        for what in run.event.values
        if "meets" not in what and "struck" not in what
    ]
    return modes, run.impact_time.values[:20] / time, run.q.values / [length, length, 1]


# mm, g, ms; km, t; and far apart
@pytest.mark.parametrize(
    "units", [(1e3, 1e3, 1e3), (1e-3, 1e-3, 1.0), (1e6, 1e-6, 1e-3), (1e-6, 1e6, 1e3)]
)
def test_units_do_not_matter(units: tuple[float, float, float]) -> None:
    (modes, times, places), (same, others, there) = thrown(1.0, 1.0, 1.0), thrown(*units)
    assert len(times) == 20 and len(modes) > 1 and modes == same
    assert others == pytest.approx(times, rel=1e-8) and there == pytest.approx(places, abs=1e-8)


def test_a_turned_world_has_the_same_motion() -> None:
    """A ball thrown onto a plane that is turned together with gravity and its start."""
    X = Pose.rpy(0.4, -0.7, 1.1)
    T = np.array([[float(x) for x in row] for row in X.rotation])
    q = np.array([0, 0, 0.4])
    v = np.array([1.0, 0.5, 0])
    w = np.array([3.0, -5.0, 1.0])
    g = np.array([0, 0, -9.81])
    found = []
    for Q, pose in ((np.eye(3), Pose()), (T, X)):
        m = Mechanism(
            "ball",
            (Body("ball", 1.0, ORIGIN, (0.004,) * 3),),
            (Joint("free", "free", GROUND, "ball"),),
            (Frame("floor", GROUND, pose),),
            tuple(Q @ g),
            contacts=(Contact(("ball", "floor"), 0.2, 0.5, radius=R),),
        )
        run = simulate(m, [*(Q @ q), 1, 0, 0, 0], [*(Q @ v), *(Q @ w)], 2.0, output=0.5)
        found.append(
            (
                run.q.values[:, :3] @ Q,
                run.data["event_time"].values,
                run.contacts.force.values[-1, 0] @ Q,
            )
        )
    for one, other in zip(*found):
        assert one == pytest.approx(other, abs=1e-9)


def test_static_friction_above_kinetic() -> None:
    """A rod pulled along: it sticks up to the static limit, and then slips under the kinetic
    one.
    """
    from catena.model.loads import JointForce

    m = rod(
        (Contact((("A", "B"), GROUND), (0.5, 0.3), 0.0),), loads=(JointForce("pull", "x", "4*t"),)
    )
    run = simulate(m, [0, 0, 0], until=4.0, output=0.5)
    slips = 0.5 * 2 * 9.81 / 4
    assert run.data["event_time"].values[-1] == pytest.approx(slips, rel=1e-9)
    t = 4.0 - slips
    assert run.v.values[-1, 0] == pytest.approx(
        ((0.5 - 0.3) * 2 * 9.81 * t + 2 * t**2) / 2, rel=1e-9
    )


def test_a_blow_on_a_resting_rod_is_answered_by_its_contacts() -> None:
    m = rod((Contact((("A", "B"), GROUND), 0.0, 0.0),))
    run = simulate(
        m,
        [0, 0, 0],
        until=0.2,
        output=0.1,
        events=[catena.events.Impulse(frame="A", linear=(0, 0, -3.0), at=0.1)],
    )
    assert np.abs(run.v.values[-1]).max() < 1e-12 and run.impulse.values[
        :, 0
    ].sum() == pytest.approx(3.0)


def test_a_run_that_is_written_and_resumed(tmp_path) -> None:
    m = rod((on_end(), Contact(("B", GROUND), 0.3, 0.5)))
    start = ([0, 0.8, 0.4], [0.5, 0, 1])
    whole = simulate(m, *start, 1.5, output=0.1)
    file = simulate(m, *start, 1.5, output=0.1, out=tmp_path / "run.nc")
    assert file.ledger.contact == whole.ledger.contact and np.array_equal(
        file.contacts.gap, whole.contacts.gap
    )
    assert len(whole.impact_time) and all(
        np.array_equal(file.data[name], whole.data[name], equal_nan=name == "impulse")
        for name in IMPACTS
    )
    whole.save(tmp_path / "saved.nc")
    again = catena.load_result(tmp_path / "saved.nc")
    assert (
        again.ledger.contact == whole.ledger.contact
        and (again.contacts["mode"].values == whole.contacts["mode"].values).all()
    )
    assert "penetration" in str(whole.ledger) and "newton" in str(whole.ledger)


def test_the_log_of_a_file_takes_all_impacts_or_says_how_many_more_there_were(
    tmp_path, monkeypatch
) -> None:
    """A lively ball: its events fill more than a slot of the journal. With less room the first are
    there, and the rest is counted.
    """
    from catena.results import storage

    ball = rod((Contact(("rod", GROUND), 0.0, 0.95, radius=R),))
    run = simulate(ball, [0, 0.5, 0], until=12.0, output=6.0, out=tmp_path / "run.nc")
    assert (
        len(run.impact_time) == run.ledger.contact.impacts > 250
        and len(run.event) == len(run.impact_time) + 1
    )
    monkeypatch.setattr(storage, "LOG_BYTES", 4096)
    monkeypatch.setattr(storage, "LOGGED_STATES", 0)
    short = simulate(ball, [0, 0.5, 0], until=12.0, output=6.0, out=tmp_path / "short.nc")
    n = len(short.impact_time)
    left = 2 * len(run.impact_time) + 1 - n - (len(short.event) - 1)
    assert (
        0 < n < 40
        and short.event.values[-1]
        == f"and {left} more events and impacts, for which the file has no room"
    )
    assert short.ledger.contact == run.ledger.contact and np.array_equal(
        short.impact_time, run.impact_time[:n]
    )


def test_the_ledger_of_several_runs_counts_them_all() -> None:
    starts = [[0, 0.6, 0.5], [0, 0.7, 0.2]]
    both = simulate(rod((on_end(),)), starts, None, 0.5, output=0.5)
    each = [simulate(rod((on_end(),)), q, None, 0.5, output=0.5).ledger.contact for q in starts]
    assert (
        both.ledger.contact.impacts == sum(k.impacts for k in each) > max(k.impacts for k in each)
    )
    assert both.ledger.contact.dissipated == pytest.approx(sum(k.dissipated for k in each))
    assert [both.data["impact_run"].values.tolist().count(k) for k in (0, 1)] == [
        k.impacts for k in each
    ]


# --- paradoxes
# on its end A, which is pushed along x: more than 1.3 of friction is too much for it
STEEP = [0.0, 0.5 * np.sin(1.0), -1.0]


def test_painleve_stops_with_a_sentence_that_names_the_bodies() -> None:
    with pytest.raises(
        SimulationError,
        match=(
            r"Coulomb friction have .* motions? at A-ground \(of 'rod' and 'ground'\), as Painleve"
            r" found"
        ),
    ):
        simulate(rod((on_end(friction=3.0),)), STEEP, [-4.0, 0.0, 0.0], 1.0)


def test_painleve_as_an_impact_without_collision() -> None:
    run = simulate(rod((on_end(friction=3.0, paradox="impact"),)), STEEP, [-4.0, 0.0, 0.0], 0.05)
    assert (
        "impact without collision" in " ".join(run.event.values)
        and "Painleve" in run.ledger.contact.remark
    )
    # its impulse is among the impacts, and is what the momentum changes by
    at = next(n for n, what in enumerate(run.event.values) if "without collision" in what)
    hit = run.data["impact_time"].values == run.data["event_time"].values[at]
    gained = run.data["event_v_after"].values[at] - run.data["event_v_before"].values[at]
    P = run.data["impulse"].values[hit].sum(axis=0)
    assert P[0] > 0.0 and np.linalg.norm(P) == pytest.approx(
        2.0 * np.linalg.norm(gained[:2]), rel=1e-9
    )
    assert (
        np.isfinite(run.q.values).all()
        and run.work.values[-1] < 0.0
        and run.ledger.imbalance < 1e-9
    )


# --- bad input
def test_a_start_in_penetration_names_the_pair_and_the_depth() -> None:
    with pytest.raises(
        StateError, match=r"at the start 'rod' is 0\.1 m deep in 'ground' \(contact 'A-ground'\)"
    ):
        simulate(rod((on_end(),)), [0, -0.1, 0], until=1.0)


def test_a_start_in_penetration_is_separated() -> None:
    from catena import assemble
    from catena.errors import ClosureError

    m = rod((on_end(),))
    q, v = assemble(m, [0.3, -0.1, 0.2], [1.0, 0.0, 0.0], contact=True)
    assert (
        q[0] == 0.3 and abs(q[1] + 0.5 * np.sin(q[2])) < 1e-10 * 2 and v.tolist() == [1.0, 0.0, 0.0]
    )
    assert simulate(m, q, [0, 0, 0], until=0.01).contacts.gap.values[0, 0] == pytest.approx(
        0.0, abs=1e-10
    )
    apart, _ = assemble(m, [0.3, 1.0, 0.2], contact=True)
    assert apart.tolist() == [0.3, 1.0, 0.2]  # what does not penetrate stays
    with pytest.raises(
        ClosureError,
        match=r"'rod' stays 0\.1 m deep in 'ground' \(contact 'A-ground'\), and no motion of",
    ):
        assemble(m, [0.0, -0.1, 0.0], fixed=[j.name for j in m.joints], contact=True)
    with pytest.raises(StateError, match="contact=True works for one start only"):
        assemble(m, np.zeros((2, 3)), contact=True)


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (
            {"friction": -0.1},
            "contact 'A-ground': friction is -0.1; it is a coefficient of zero or more",
        ),
        ({"friction": (0.2, 0.3)}, "its static friction 0.2 is below its kinetic friction 0.3"),
        ({"restitution": 1.2}, "restitution is 1.2; it lies between 0 and 1"),
        ({"law": "hertz"}, "law is 'hertz'; it is one of newton, poisson"),
        ({"paradox": "nan"}, "paradox is 'nan'; it is one of stop, impact"),
        ({"surface": "bowl"}, "surface_radius is 0.0; a bowl has one above zero"),
        ({"radius": -1.0}, "radius is -1.0; it is zero or more"),
        ({"radius": "10 mm"}, "radius is '10 mm'; it is zero or more, m"),
        ({"radius": np.inf}, "radius is inf; it is zero or more"),
        ({"friction": "0.5"}, "friction is '0.5'; it is a coefficient of zero or more"),
        (
            {"surface": "bowl", "surface_radius": "1 m"},
            "surface_radius is '1 m'; a bowl has one above zero",
        ),
    ],
)
def test_each_fault_is_said(change: dict, fault: str) -> None:
    with pytest.raises(MechanismError, match=re.escape(fault)):
        on_end(**change)


def test_names_and_laws_are_checked_with_the_mechanism() -> None:
    with pytest.raises(MechanismError, match="contact 'C-ground': no frame 'C'"):
        rod((Contact(("C", GROUND), 0.1, 0.1),)).validate()
    with pytest.raises(MechanismError, match="contacts have several values of law"):
        rod((on_end(), Contact(("B", GROUND), 0.1, 0.1, law="poisson"))).validate()


@pytest.mark.parametrize(
    ("contacts", "fault"),
    [
        (
            (Contact(("A", "B"), 0.1, 0.1),),
            "contact 'A-B': 'A' and 'B' are both on 'rod', and do not move against each other",
        ),
        (
            (Contact((GROUND, "rod"), 0.1, 0.1),),
            (
                "'ground' comes first, as what touches; the surface comes last: between = ['rod',"
                " 'ground']"
            ),
        ),
        (
            (on_end(), on_end(name="again")),
            "contact 'again': 'A' touches 'ground' in contact 'A-ground' already; once is enough",
        ),
        (
            (Contact((("A", "A"), GROUND), 0.1, 0.1),),
            "'A' touches 'ground' in contact 'A, A-ground' already",
        ),
    ],
)
def test_pairs_that_mean_nothing_are_refused(contacts: tuple, fault: str) -> None:
    with pytest.raises(MechanismError, match=re.escape(fault)):
        rod(contacts).validate()


def test_numbers_of_numpy_are_numbers() -> None:
    c = Contact(("A", GROUND), np.array([0.5, 0.4]), np.int64(1), radius=np.float32(0.5))
    assert c == Contact(("A", GROUND), (0.5, 0.4), 1, radius=0.5) and Contact(
        ("A", GROUND), np.int64(1), 0
    ).friction == (1, 1)


def solid(shape: Shape, other: str = GROUND) -> Mechanism:
    body = Body("stone", 1.0, ORIGIN, (1, 1, 1), shapes=(shape,))
    return Mechanism(
        "stone",
        (body,),
        (Joint("free", "free", GROUND, "stone"),),
        contacts=(Contact(("stone", other), 0.1, 0.1),),
    )


@pytest.mark.parametrize(
    ("shape", "fault"),
    [
        (Shape("sphere", collides=True), "shape number 1: .*sphere"),
        (
            Shape("box", size=(0.0, 1.0, 1.0), collides=True),
            "its x is 0.0; a box that collides has sizes that are finite and greater than zero",
        ),
        (Shape("mesh", file="stone.stl", collides=True), "mesh"),
    ],
)
def test_shapes_that_cannot_touch_are_named(shape: Shape, fault: str) -> None:
    with pytest.raises(MechanismError, match="'stone'.*" + fault):
        solid(shape).validate()


def test_a_pair_that_does_not_exist_is_named() -> None:
    with pytest.raises(
        MechanismError,
        match="contact 'stone-wall': no frame 'wall' in mechanism 'stone'; frames are: stone",
    ):
        solid(Shape("sphere", size=(0.1,), collides=True), "wall").validate()


def test_what_cannot_take_contacts_says_what_can() -> None:
    with pytest.raises(
        SimulationError,
        match=(
            "contacts, stops, locks and friction that sticks need another formulation: .*recursive"
        ),
    ):
        simulate(rod((on_end(),)), [0, 1, 0], until=0.1, by="penalty")
    with pytest.raises(
        SimulationError,
        match="contacts, friction that sticks and `when` need one that chooses its steps: .*dop853",
    ):
        simulate(rod((on_end(),)), [0, 1, 0], until=0.1, integrator="rk4")
    ignored = simulate(rod((on_end(),)), [0, 0.1, 0], until=0.5, contact="ignore")
    assert len(ignored.event) == 0 and "contact_gap" not in ignored.data


def test_reactions_have_the_contact_forces_among_the_loads() -> None:
    """A beam on a pin, its tip on the floor: the pin and the floor carry half of it each; where
    both hold it, nothing is determined.
    """
    beam = Mechanism(
        "beam",
        (Body("beam", 2.0, (0.5, 0, 0), (0.0, 1 / 6, 1 / 6)),),
        (Joint("pin", "revolute", GROUND, "beam", axis=(0, 1, 0)),),
        (Frame("tip", "beam", Pose(position=(1, 0, 0))),),
        contacts=(Contact(("tip", GROUND), 0.0, 0.0),),
    )
    run = simulate(beam, [0.0], until=0.1, output=0.1)
    assert run.contacts.normal_force.values[-1, 0] == pytest.approx(9.81)
    assert run.reactions("world").sel(joint="pin").values[-1, 3:] == pytest.approx(
        [0, 0, 9.81], abs=1e-9
    )
    rough = simulate(
        beam.with_(contacts=(Contact(("tip", GROUND), 0.5, 0.0),)), [0.0], until=0.1, output=0.1
    )
    assert np.isnan(rough.contacts.normal_force.values[-1, 0]) or rough.reactions("world").sel(
        joint="pin"
    ).values[-1, 5] == pytest.approx(9.81)


def test_files_say_contacts() -> None:
    m = rod(
        (
            on_end(friction=(0.4, 0.3), law="poisson", impacts="sequential"),
            Contact(
                (("A", "B"), GROUND), 0.0, 0.0, law="poisson", impacts="sequential", radius=0.02
            ),
        )
    )
    from catena.formats import toml
    from catena.results.labels import read_text

    assert read_text(toml.text(m)).contacts == m.contacts


def test_a_run_may_end_where_a_contact_opens() -> None:
    """A ball leaves a larger one at the instant at which the run ends, or a little before or after:
    what is left of the gap is rounding.
    """
    ball = Shape("sphere", (0.05,), collides=True)
    fixed = Shape("sphere", (0.3,), collides=True)
    m = Mechanism(
        "balls",
        (Body("ball", 1.0, (0, 0, 0), (0.001,) * 3, shapes=(ball,)),),
        (Joint("free", "free", "ground", "ball"),),
        ground=(fixed,),
        contacts=(Contact(("ball", "ground"), 0.0, 0.0),),
    )
    machine = catena.compile(m)
    q = [0.35 * np.sin(0.5), 0, 0.35 * np.cos(0.5), 1, 0, 0, 0]
    leaves = simulate(machine, q, until=0.3).event_time.values[-1]
    for more in (-1e-12, -1e-14, 0.0, 1e-14, 1e-13, 1e-12):
        run = simulate(machine, q, until=leaves + more)
        assert run.ledger.contact.penetration < 1e-13 and len(run.event_time) <= 2
