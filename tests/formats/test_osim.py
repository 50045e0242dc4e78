"""OpenSim: inverse dynamics of a leg against OpenSim's own numbers, a joint by splines by four
formulations, muscles, and what is refused.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import catena
from catena import Body, Joint, Mechanism, Mimic, Pose
from catena.errors import FormatError, MechanismError
from catena.formats import mapping
from catena.model.coordinate_functions import CoordinateFunction

HERE = Path(__file__).parent.parent / "reference" / "opensim"
BODY = (
    '<Body name="{}"><mass>1</mass><mass_center>0 0 0</mass_center><inertia>1 1 1 0 0'
    " 0</inertia></Body>"
)


def document(bodies, joints, more="", version=40500):
    return (
        f'<OpenSimDocument Version="{version}"><Model'
        f' name="m"><BodySet><objects>{bodies}</objects></BodySet>'
        f"<JointSet><objects>{joints}</objects></JointSet>{more}</Model></OpenSimDocument>"
    )


def pin(name="j", child="a", kind="PinJoint", more=""):
    return (
        f"<{kind}"
        f' name="{name}"><socket_parent_frame>/ground</socket_parent_frame><socket_child_frame>/bodyset/{child}</socket_child_frame><coordinates><Coordinate'  # noqa: E501
        f' name="{name}_q"/></coordinates>{more}</{kind}>'
    )


def test_a_leg_with_a_knee_by_splines_has_the_inverse_dynamics_of_opensim():
    found = json.loads((HERE / "leg.json").read_text())
    machine = catena.compile(catena.load(HERE / "leg.osim"))
    at = [found["names"].index(name) for name in machine.coordinate_names]
    for state in found["states"]:
        q, v, a, tau = (np.array(state[key])[at] for key in ("q", "v", "a", "tau"))
        np.testing.assert_allclose(
            machine.inverse_dynamics(q, v, a), tau, rtol=0, atol=1e-8 * np.abs(tau).max()
        )


def test_markers_are_frames_and_muscles_pull_when_asked():
    m = catena.load(HERE / "leg.osim", muscles=True)
    machine = catena.compile(m)
    assert m.frame("toe_mark").body == "foot" and m.parameters == {"a_shin_front": 0.0}
    q = np.array([0.1, 0.2, -0.1, -0.5, 0.3])

    def length(q):
        return sum(
            np.linalg.norm(
                machine.pose(q, f"shin_front {k}")[:3, 3]
                - machine.pose(q, f"shin_front {k + 1}")[:3, 3]
            )
            for k in (1, 2)
        )

    arms = np.array([(length(q + e) - length(q - e)) / 2e-6 for e in 1e-6 * np.eye(5)])
    pulled = machine.bias(q, 0 * q, parameters={"a_shin_front": 0.4}) - machine.bias(q, 0 * q)
    # virtual work: minus the tension times the change of length
    np.testing.assert_allclose(pulled, 0.4 * 900 * arms, atol=1e-5)
    assert {
        (e.element, e.outcome) for e in mapping(HERE / "leg.osim") if e.element == "Muscle"
    } == {("Muscle", "refused")}


def functional():
    """A leg whose knee slides and turns by functions of one angle."""
    f = CoordinateFunction("spline", (-4, -1, 0, 0.5, 1, 2, 4), (0.1, 0.3, 0.2, 0.5, 0.1, 0, 0.3))
    g = CoordinateFunction("polynomial", y=(0.1, 0.5, 0.2, -0.1))
    body = lambda name: Body(name, 1.3, (0.1, -0.05, 0.2), (0.05, 0.06, 0.07))  # noqa: E731
    return Mechanism(
        "functional",
        [body("a"), Body.massless("x"), Body.massless("y"), body("b"), body("c")],
        [
            Joint("one", "revolute", "ground", "a", axis=(0, 1, 0)),
            Joint("slide", "prismatic", "a", "x", axis=(1, 0, 0), mimic=Mimic("knee", function=f)),
            Joint("knee", "revolute", "x", "y", axis=(0, 1, 0)),
            Joint("turn", "revolute", "y", "b", axis=(1, 1, 0), mimic=Mimic("knee", function=g)),
            Joint("end", "revolute", "b", "c", Pose(position=(0, 0, 0.5))),
        ],
    )


def test_joints_by_a_function_agree_in_every_formulation_that_treats_them():
    found = catena.check(
        functional(),
        states=3,
        run=False,
        formulations=["recursive", "lagrange", "hamilton", "kane", "variational", "newton_euler"],
    )
    assert found.passed


def test_joints_by_a_function_conserve_energy_and_have_their_derivatives(tmp_path):
    machine = catena.compile(functional())
    rng = np.random.default_rng(0)
    q, v, a = rng.normal(size=(3, 3))
    E = lambda t: sum(machine.energy(q + v * t + a * t * t / 2, v + a * t))  # noqa: E731
    h = 1e-3
    rate = (8 * (E(h) - E(-h)) - (E(2 * h) - E(-2 * h))) / (12 * h)
    assert machine.inverse_dynamics(q, v, a) @ v == pytest.approx(rate, rel=1e-8)
    np.testing.assert_allclose(
        machine.forward_dynamics(q, v, machine.inverse_dynamics(q, v, a)), a, atol=1e-12
    )
    along = np.array(
        [
            (machine.inverse_dynamics(q + e, v, a) - machine.inverse_dynamics(q - e, v, a)) / 2e-6
            for e in 1e-6 * np.eye(3)
        ]
    ).T
    np.testing.assert_allclose(machine.inverse_dynamics_derivatives(q, v, a)[0], along, atol=1e-7)
    catena.save(functional(), tmp_path / "f.toml")
    assert catena.load(tmp_path / "f.toml") == functional()
    with pytest.raises(MechanismError, match="by a spline"):
        catena.save(functional(), tmp_path / "f.urdf")


@pytest.mark.parametrize(
    ("outer", "inner"),
    [
        (
            CoordinateFunction("spline", (-4, -1, 0, 0.5, 4), (0.1, 0.3, 0.2, 0.5, 0)),
            CoordinateFunction("polynomial", y=(0.2, -1.5)),
        ),
        (
            CoordinateFunction("polynomial", y=(0.3, -2)),
            CoordinateFunction("spline", (-4, -1, 0, 0.5, 4), (0.1, 0.3, 0.2, 0.5, 0)),
        ),
        (
            CoordinateFunction("polynomial", y=(0.3, -2, 0.5)),
            CoordinateFunction("polynomial", y=(1, 0, -1)),
        ),
        (
            CoordinateFunction("spline", (-4, -1, 0, 0.5, 4), (0.1, 0.3, 0.2, 0.5, 0)),
            CoordinateFunction("polynomial", y=(0.2,)),
        ),
    ],
)
def test_a_function_of_a_function_obeys_the_chain_rule(outer, inner):
    both = outer.after(inner)
    for x in (-3.1, -0.2, 0.7, 5.0):
        (_, dy, ddy), (z, dz, ddz) = inner(x), outer(inner(x)[0])
        np.testing.assert_allclose(both(x), (z, dz * dy, ddz * dy**2 + dz * ddy), atol=1e-12)
    assert (
        CoordinateFunction("spline", (0, 1, 2), (0, 1, 0)).after(
            CoordinateFunction("polynomial", y=(0, 0, 1))
        )
        is None
    )


def test_a_kneecap_follows_an_angle_that_follows_another(tmp_path):
    axis = (
        '<TransformAxis name="{}"><coordinates>b_q</coordinates><axis>0 0'
        " 1</axis><function>{}</function></TransformAxis>"
    )
    spline = "<SimmSpline><x>-2 0 1 2</x><y>0 0.1 0.3 0.2</y></SimmSpline>"
    custom = pin(
        "b",
        "b",
        "CustomJoint",
        f"<SpatialTransform>{axis.format('rotation1', '<LinearFunction><coefficients>1 0</coefficients></LinearFunction>')}"  # noqa: E501
        f"{axis.format('translation1', spline)}</SpatialTransform>",
    )
    coupled = (
        "<ConstraintSet><objects><CoordinateCouplerConstraint"
        ' name="c"><coupled_coordinates_function>{}</coupled_coordinates_function>'
        "<independent_coordinate_names>a_q</independent_coordinate_names><dependent_coordinate_name>b_q</dependent_coordinate_name>"
        "</CoordinateCouplerConstraint></objects></ConstraintSet><ForceSet><objects><Stop><Stop::Corner/></Stop></objects></ForceSet>"
    )
    bodies = BODY.format("a") + BODY.format("b")
    (tmp_path / "m.osim").write_text(
        document(
            bodies,
            pin("a") + custom,
            coupled.format(
                "<LinearFunction><coefficients>-0.5 0.2</coefficients></LinearFunction>"
            ),
        )
    )
    m = catena.load(tmp_path / "m.osim")
    assert {j.mimic.joint for j in m.joints if j.mimic} == {"a_q"} and catena.compile(
        m
    ).coordinate_names == ("a_q",)
    slide = next(j for j in m.joints if j.kind == "prismatic").mimic.function
    assert slide(0.7) == pytest.approx(
        CoordinateFunction("spline", (-2, 0, 1, 2), (0, 0.1, 0.3, 0.2)).after(
            CoordinateFunction("polynomial", y=(0.2, -0.5))
        )(0.7)
    )
    (tmp_path / "m.osim").write_text(
        document(
            bodies,
            pin("a") + custom,
            coupled.format(
                "<PolynomialFunction><coefficients>1 0 0</coefficients></PolynomialFunction>"
            ),
        )
    )
    with pytest.raises(FormatError, match="one of the two is to be linear"):
        catena.load(tmp_path / "m.osim")


def test_a_spline_is_that_of_opensim():
    """SimmSpline of opensim 4.6 through four points and seven, value and slope inside, at the ends
    and beyond.
    """
    x = (0.0, 0.5, 1.2, 2.0, 2.5)
    y = (0.1, 0.4, -0.2, 0.3, 0.0)
    f = CoordinateFunction("spline", x, y)
    for a, b in zip(x, y):
        assert f(a)[0] == pytest.approx(b, abs=1e-14)
    for k in range(1, 4):  # value, slope and curvature continue
        np.testing.assert_allclose(f(x[k] - 1e-9), f(x[k] + 1e-9), atol=1e-7)
    # a cubic is its own spline
    cubic = CoordinateFunction("spline", x, tuple(1 - t + t**2 - 0.3 * t**3 for t in x))
    np.testing.assert_allclose(
        cubic(0.8), (1 - 0.8 + 0.64 - 0.3 * 0.512, -1 + 1.6 - 0.9 * 0.64, 2 - 1.8 * 0.8), atol=1e-13
    )
    assert f(3.0)[2] == 0.0 and f(-1.0)[1] == f(0.0)[1]
    for wrong, words in (
        ({"kind": "bezier"}, "one of polynomial, spline"),
        ({"kind": "spline", "x": (1, 0), "y": (0, 0)}, "rises"),
        ({"kind": "spline", "x": (0, 1), "y": (0,)}, "as many x as y"),
        ({"kind": "polynomial"}, "coefficients"),
        ({"kind": "spline", "x": (0, 5e-324, 1, 2), "y": (0, 1, 0, 1)}, "too near each other"),
    ):
        with pytest.raises(MechanismError, match=words):
            CoordinateFunction(**wrong)


def test_version_three_keeps_its_joints_inside_bodies(tmp_path):
    inside = (
        '<Joint><PinJoint name="j"><parent_body>ground</parent_body><location_in_parent>0 1'
        " 0</location_in_parent><orientation_in_parent>0 0.1 0</orientation_in_parent>"
        "<location>0 .2 0</location><orientation>0 0"
        ' 0</orientation><CoordinateSet><objects><Coordinate name="q"><range>-1'
        " 1</range><clamped>true</clamped>"
        "<default_value>0.3</default_value></Coordinate></objects></CoordinateSet></PinJoint></Joint>"
    )
    (tmp_path / "m.osim").write_text(
        document(
            '<Body name="ground"/>' + BODY.format("a").replace("</Body>", inside + "</Body>"),
            "",
            version=30000,
        )
    )
    m = catena.load(tmp_path / "m.osim")
    j = m.joint("q")
    assert (
        j.placement.position == (0.0, 1.0, 0.0)
        and j.offset.position == (0.0, 0.2, 0.0)
        and j.upper == (1.0,)
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("<OpenSimDocument/>", "a <Model> in it"),
        ("<OpenSimDocument>", "not XML"),
        (
            "<!DOCTYPE x [<!ENTITY a 'b'>]><OpenSimDocument>&a;</OpenSimDocument>",
            "entities are refused",
        ),
        (document(BODY.format("a"), pin(kind="EllipsoidJoint")), "no joint 'EllipsoidJoint'"),
        (document(BODY.format("a"), pin(child="b")), "'b'"),
        (document(BODY.format("a").replace("<mass>1", "<mass>heavy"), pin()), "a number is wanted"),
        (
            document(
                BODY.format("a"),
                pin(),
                '<ConstraintSet><objects><WeldConstraint name="w"/></objects></ConstraintSet>',
            ),
            "the constraint would be lost",
        ),
        (
            document(
                BODY.format("a"),
                pin(
                    kind="CustomJoint",
                    more=(
                        "<SpatialTransform><TransformAxis"
                        ' name="rotation1"><coordinates>j_q</coordinates><axis>0 0 1</axis>'
                        "<function><GCVSpline/></function></TransformAxis></SpatialTransform>"
                    ),
                ),
            ),
            "its function is a GCVSpline",
        ),
    ],
)
def test_what_cannot_be_taken_is_said(tmp_path, text, words):
    (tmp_path / "m.osim").write_text(text)
    with pytest.raises(FormatError, match=words):
        catena.load(tmp_path / "m.osim")
