"""A joint kind and a load that catena does not know are added from outside, and go all the way:
file, validation, kernels in every life, every formulation, the certificate, loops, simulation,
pictures, and back into a file.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest

import catena
from catena.errors import FormatError, MechanismError
from catena.model import closure, joint_kinds
from catena.model.closure import POINT
from catena.model.joint_kinds import JointKind, Reverse
from catena.model.loads import LOADS, ROWS, Load, Nonholonomic, keys
from catena.model.motions import X, Y, slide, turn

FILE = """
gravity = [0, 0, -9.81]

[[body]]
name = "carriage"
mass = 2
com = [0.1, 0, 0]
inertia = [0.1, 0.2, 0.3]

[[body]]
name = "bob"
mass = 1
com = [0, 0, -0.5]
inertia = [0.1, 0.1, 0.01]

[[joint]]
name = "drawer"
kind = "toy_drawer"
parent = "ground"
child = "carriage"
damping = [0.1, "0.2 N*m*s/rad"]

[[joint]]
name = "pin"
kind = "revolute"
parent = "carriage"
child = "bob"
at = [0.3, 0, 0]
axis = [0, 1, 0]

[[load]]
name = "magnet"
kind = "toy_magnet"
frame = "bob"
strength = "3 N/m"
centre = [0.2, 0.1, -1.0]
"""


@dataclass(frozen=True)
class ToyMagnet(Load):
    """A pull towards a point of the ground, strength times the distance; its potential is 1/2
    strength distance^2.
    """

    kind = "toy_magnet"
    frame: str = field(metadata=keys.FRAME)
    strength: float = field(metadata=keys.number("stiffness"))
    centre: tuple = field(
        default=(0.0, 0.0, 0.0), metadata=keys.Key("numbers", ("length",) * 3, negative=True).of()
    )

    def faults(self, parameters):
        if self.centre == (9.0, 9.0, 9.0):
            yield "its centre is where nothing may be"

    def act(self, s):
        (p, _), k, c = (
            s.origin(self.frame),
            s.value(self.strength),
            [s.value(x) for x in self.centre],
        )
        away = tuple(x - y for x, y in zip(p, c))
        s.push(self.frame, tuple(-k * x for x in away))
        s.store(0.5 * k * sum(x * x for x in away))


@dataclass(frozen=True)
class ToyKeel(Nonholonomic):
    """The point at (1, 0, 0) of a frame does not move along the frame's z axis."""

    kind = "toy_keel"
    labels = ("leeway",)
    frame: str = field(metadata=keys.FRAME)

    def contact(self, R, value):
        return tuple(row[0] for row in R), (tuple(row[2] for row in R),)


def _drawer(a, h, s):
    return slide(a[0], "out"), turn(a[0], "roll")


@pytest.fixture
def toys():
    """A drawer that slides along and turns about its axis, in the other order than a cylindrical
    joint; a magnet; a keel.
    """
    kind = JointKind(
        "toy_drawer",
        "slide along the axis, then turn about it",
        (X,),
        _drawer,
        lambda a, h, s: (*closure.slideways(a[0]), *closure.aligned(a[0])),
        faults=lambda a, h, s: iter(
            ["a drawer does not stand upright"] if a[0] == (0.0, 0.0, 1.0) else []
        ),
        names={"urdf": ("toy_drawer", "")},
    )
    joint_kinds.register(kind)
    keys.register(ToyMagnet)
    keys.register(ToyKeel)
    yield
    del (
        joint_kinds.CATALOGUE["toy_drawer"],
        joint_kinds.KINDS["toy_drawer"],
        LOADS["toy_magnet"],
        ROWS["toy_keel"],
    )


@pytest.fixture
def mechanism(toys, tmp_path):
    (tmp_path / "toy.toml").write_text(FILE)
    return catena.load(tmp_path / "toy.toml")


def _by_hand():
    """The same mechanism of what catena knows: a cylindrical joint (slide and turn about one axis
    commute).
    """
    spring = catena.Force("magnet", "bob", force=tuple(f"-3*({p})" for p in _bob()))
    bodies = [
        catena.Body("carriage", 2, (0.1, 0, 0), (0.1, 0.2, 0.3)),
        catena.Body("bob", 1, (0, 0, -0.5), (0.1, 0.1, 0.01)),
    ]
    joints = [
        catena.Joint("drawer", "cylindrical", "ground", "carriage", axis=X, damping=[0.2, 0.1]),
        catena.Joint(
            "pin", "revolute", "carriage", "bob", catena.Pose(position=(0.3, 0, 0)), axis=Y
        ),
    ]
    return catena.Mechanism("by hand", bodies, joints, loads=[spring])


def _bob():
    """The bob's origin from the magnet, as texts."""
    return "q_drawer_distance + 0.3 - 0.2", "-0.1", "1.0"


# --- the whole way
def test_a_toy_joint_and_a_toy_load_go_through_every_life(mechanism):
    assert mechanism.coordinate_names == ("drawer.out", "drawer.roll", "pin")
    assert mechanism.joint("drawer").damping == (0.1, 0.2)
    known = catena.compile(_by_hand())
    toy = catena.compile(mechanism)
    rng = np.random.default_rng(0)
    q, v, tau = rng.normal(size=(3, 5, 3))
    swap = [1, 0, 2]  # the cylindrical joint turns first
    for states in ((q, v, tau), (q[0], v[0], tau[0])):  # lanes, and one state
        want = known.forward_dynamics(*(x[..., swap] for x in states))[..., swap]
        np.testing.assert_allclose(toy.forward_dynamics(*states), want, atol=1e-12)
    free, generic = (
        catena.Machine(m.with_(loads=()), life="generic") for m in (_by_hand(), mechanism)
    )
    np.testing.assert_allclose(
        generic.forward_dynamics(q, v, tau),
        free.forward_dynamics(q[:, swap], v[:, swap], tau[:, swap])[:, swap],
        atol=1e-12,
    )


def test_every_formulation_agrees_about_the_toys(mechanism):
    certificate = catena.check(mechanism, states=3)
    assert certificate.passed, str(certificate)


def test_a_toy_runs_is_drawn_and_is_written_again(mechanism, tmp_path):
    result = catena.simulate(mechanism, q=[0.1, 0.2, 0.3], until=0.5)
    assert result.ledger.energy_balance < 1e-7
    assert result.plot("overview") is not None
    catena.save(mechanism, tmp_path / "again.toml")
    assert catena.load(tmp_path / "again.toml") == mechanism
    with pytest.raises(MechanismError, match="ToyMagnet|toy_magnet"):
        catena.save(mechanism, tmp_path / "no.urdf")
    catena.save(
        mechanism.with_(loads=(), joints=_without_damping(mechanism)), tmp_path / "yes.urdf"
    )
    assert catena.load(tmp_path / "yes.urdf").joint("drawer").kind == "toy_drawer"


def _without_damping(m):
    return [
        catena.Joint(j.name, j.kind, j.parent, j.child, j.placement, axis=j.axis) for j in m.joints
    ]


def test_a_toy_closes_a_loop_and_is_walked_backwards(toys):
    body = catena.Body("carriage", 2, (0.1, 0, 0), (0.1, 0.2, 0.3))
    joints = [
        catena.Joint("plane", "planar", "ground", "carriage"),
        catena.Joint("drawer", "toy_drawer", "carriage", "ground"),
    ]
    m = catena.Mechanism("cycle", [body], joints).validate()
    assert [j.name for j in m.joints] == ["drawer"], "it carries the body, as it has fewer freedoms"
    assert m.joints[0].parent == "ground" and m.joints[0].axis == ((-1.0, 0.0, 0.0),)
    loop = catena.Mechanism("loop", [body], joints[:1], loops=joints[1:])
    assert {name for name, _ in catena.compile(loop).rows} == {"drawer"}
    assert [catena.mobility(x).degrees_of_freedom for x in (m, loop)] == [
        1,
        1,
    ], "the drawer slides in the plane and cannot roll there"


def test_a_toy_row_holds_in_every_formulation(toys):
    body = catena.Body("boat", 2, (0.1, 0, 0), (0.1, 0.2, 0.3))
    m = catena.Mechanism(
        "boat",
        [body],
        [catena.Joint("sea", "free", "ground", "boat")],
        nonholonomic=[ToyKeel("keel", "boat")],
    )
    assert catena.check(m, states=2, run=False).passed
    machine = catena.compile(m)
    assert machine.rows == (("keel", "leeway"),)


# --- what is wrong with them
@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (
            ('kind = "toy_drawer"', 'kind = "toy_drawer"\naxis = [0, 0, 2]'),
            "joint 'drawer': a drawer does not stand upright",
        ),
        (('kind = "toy_drawer"', 'kind = "toy_drawr"'), "Did you mean 'toy_drawer'?"),
        (
            ('"3 N/m"', '"3 N"'),
            "load 'magnet': strength is '3 N', a force; a stiffness is wanted, such as '200 N/m'",
        ),
        (('"3 N/m"', "-3"), "load 'magnet': strength is -3; it is zero or more"),
        (('frame = "bob"', 'frame = "bib"'), "load 'magnet': no frame 'bib'"),
        (("[0.2, 0.1, -1.0]", "[9, 9, 9]"), "load 'magnet': its centre is where nothing may be"),
        (('strength = "3 N/m"', "strenght = 3"), "Did you mean 'strength'?"),
    ],
)
def test_faults_of_toys_are_told_like_any_other(toys, tmp_path, change, fault):
    (tmp_path / "toy.toml").write_text(FILE.replace(*change))
    with pytest.raises(FormatError) as caught:
        catena.load(tmp_path / "toy.toml")
    assert fault in str(caught.value)


def test_a_word_that_is_taken_is_refused(toys):
    with pytest.raises(MechanismError, match="in the catalogue already"):
        joint_kinds.register(
            JointKind(
                "revolute", "", (), lambda a, h, s: (), lambda a, h, s: POINT, Reverse(lambda a: a)
            )
        )
    with pytest.raises(MechanismError, match="exists already"):
        keys.register(ToyMagnet)
