"""UsdPhysics: a four-bar with its loop, in centimetres and grams, against the built-in one."""

from __future__ import annotations

import numpy as np
import pytest

import catena
from catena.errors import FormatError

pytest.importorskip("pxr")

#        B o------ 30 ------o C          cm; the bars lie along x, in the pose of the stage at
#     10 /                  | 25         zero coordinates they are folded onto the x axis
#      A o- - - - 28 - - - -o D
BODY = """
    def Xform "{name}" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"])
    {{
        float physics:mass = {mass}
        point3f physics:centerOfMass = ({half}, 0, 0)
        float3 physics:diagonalInertia = ({small}, {J}, {J})
        quatf physics:principalAxes = (1, 0, 0, 0)
        double3 xformOp:translate = ({x}, 0, 0)
        uniform token[] xformOpOrder = ["xformOp:translate"]
    }}
"""
JOINT = """
    def Physics{kind}Joint "{name}" {schemas}
    {{
        uniform token physics:axis = "Z"
        {first}
        rel physics:body1 = </bars/{child}>
        point3f physics:localPos0 = ({p}, 0, 0)
        point3f physics:localPos1 = ({c}, 0, 0)
        quatf physics:localRot0 = (1, 0, 0, 0)
        quatf physics:localRot1 = (1, 0, 0, 0)
        {more}
    }}
"""


LIMITS = """float physics:lowerLimit = -180
        float physics:upperLimit = 180
        custom float physxJoint:armature = 2"""
DRIVE = '(prepend apiSchemas = ["PhysicsDriveAPI:angular"])'


def joint(name, parent, child, p, c=0, kind="Revolute", more="", schemas=""):
    first = f"rel physics:body0 = </bars/{parent}>" if parent else ""
    return JOINT.format(**locals())


def stage(extra="", kind="Revolute", mass=True):
    bodies = ""
    for name, length, x in (("crank", 10, 0), ("coupler", 30, 10), ("rocker", 25, 28)):
        m = 8.0 * length  # g
        text = BODY.format(
            name=name, mass=m, half=length / 2, small=1e-3, J=m * length**2 / 12, x=x
        )
        bodies += text if mass else text.replace("physics:mass", "physics:other")
    joints = [
        joint("A", "", "crank", 0, more=LIMITS, schemas=DRIVE),
        joint("B", "crank", "coupler", 10),
        joint("D", "", "rocker", 28),
        joint("C", "coupler", "rocker", 30, 25, kind=kind),
    ]
    return f"""#usda 1.0
(
    defaultPrim = "bars"
    kilogramsPerUnit = 0.001
    metersPerUnit = 0.01
    upAxis = "Y"
)
def PhysicsScene "scene" {{
    vector3f physics:gravityDirection = (0, -1, 0)
    float physics:gravityMagnitude = 981
}}
def Xform "bars"
{{
{bodies}
{"".join(joints)}
{extra}
    def Sphere "ball" {{ }}
}}
"""


@pytest.fixture
def write(tmp_path):
    def text(content):
        file = tmp_path / "bars.usda"
        file.write_text(content)
        return file

    return text


def test_a_closed_loop_in_other_units(write):
    m = catena.load(write(stage()))
    assert m.gravity == pytest.approx((0, -9.81, 0))
    assert sum(b.mass for b in m.bodies) == pytest.approx(0.52)
    crank = m.body("crank")
    assert crank.com == pytest.approx((0.05, 0, 0))
    assert crank.inertia[3] == pytest.approx(0.08 * 0.1**2 / 12)
    assert m.joint("A").upper[0] == pytest.approx(np.pi)
    assert m.joint("A").armature[0] == pytest.approx(2e-3 * 1e-4)
    assert len(m.loops) == 1


def test_the_loop_closes_and_moves_as_the_example(write):
    m = catena.load(write(stage()))
    machine = catena.compile(m)
    names = list(machine.coordinate_names)
    q = np.zeros(machine.nq)
    q[names.index("A")] = 1.0
    q, _ = catena.assemble(machine, q, fixed=["A"])
    assert np.abs(machine.constraint_rows(q, np.zeros(machine.nv))[0]).max() < 1e-12
    assert catena.mobility(machine, q).degrees_of_freedom == 1
    result = catena.simulate(machine, q=q, until=0.2)
    assert np.isfinite(result.data["q"].values).all()
    linkage = catena.linkages.linkage(m, "A")
    example = catena.linkages.linkage(catena.load("four_bar"), "motor pin")
    ours, theirs = linkage.positions(1.0, modes=[1]), example.positions(1.0, modes=[1])
    assert ours.margins[0] == pytest.approx(theirs.margins[0], rel=1e-6)


def test_what_is_not_read_is_reported(write):
    notes = " ".join(catena.load(write(stage())).notes)
    assert "drive A: refused" in notes and "Sphere ball: refused, geometry is not read" in notes


def test_faults_are_named_together(write):
    extra = joint("rope", "crank", "rocker", 0, kind="Distance")
    with pytest.raises(FormatError) as caught:
        catena.load(write(stage(extra, mass=False)))
    message = str(caught.value)
    assert "joint 'rope' is a PhysicsDistanceJoint" in message
    assert "body 'crank' has no physics:mass" in message
    with pytest.raises(FormatError, match="no prim with PhysicsRigidBodyAPI"):
        catena.load(write("#usda 1.0\n"))
    with pytest.raises(FormatError, match="not a USD stage"):
        catena.load(write("nothing"))
