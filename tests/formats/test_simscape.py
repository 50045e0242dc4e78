"""Simscape Multibody Import XML: a four-bar with a subassembly, in millimetres and grams."""

from __future__ import annotations

import numpy as np
import pytest

import catena
from catena.errors import FormatError
from catena.simulation.scenario import read

pytestmark = pytest.mark.filterwarnings("ignore::catena.errors.MechanismWarning")

#           B o------ 50 ------o C        mm. The plane of the linkage is xz, joints turn about y.
#       20  /                  | 40       Crank and coupler are a subassembly, whose instance is
#       A o- - - - 55 - - - - -o D        turned and moved; the rocker is a part of the root.
A, B, C, D = (np.array([x, 0.0, z]) for x, z in ((0, 0), (8, 18.330), (50.0, 39.686), (55, 0)))
MASS = {"crank": 20.0, "coupler": 50.0, "rocker": 40.0}
R_WS = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
P_WS = np.array([3.0, -7.0, 11.0])
ABOUT_Y = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])  # z of a joint along y


def along(p, q):
    """The frame of a bar: x from p to q."""
    x = (q - p) / np.linalg.norm(q - p)
    y = np.array([0.0, 1.0, 0.0])
    return np.stack([x, y, np.cross(x, y)], axis=1)


def transform(R, p):
    return (
        f"<Transform><Rotation>{' '.join(map(repr, R.ravel().tolist()))}</Rotation>"
        f"<Translation>{' '.join(map(repr, np.asarray(p, float).tolist()))}</Translation>"
        "</Transform>"
    )


def instance(name, entity, R, p, inside="", more=""):
    return (
        f'<Instance name="{name}" uid="u-{name}" entityUid="{entity}" {more}>'
        f"{transform(R, p)}{inside}</Instance>"
    )


def joint(kind, name, base, follower):
    def end(tag, uids, R, p):
        path = "".join(f"<Uid>u-{u}</Uid>" for u in uids)
        return f"<{tag}><InstancePath>{path}</InstancePath>{transform(R, p)}</{tag}>"

    return (
        f'<{kind} name="{name}">{end("BaseFrame", *base)}{end("FollowerFrame", *follower)}</{kind}>'
    )


def part(name, length):
    m = MASS[name]
    J = m * length**2 / 12
    return (
        f'<Part name="{name}" uid="p-{name}"><MassProperties><Mass>{m}</Mass>'
        f"<CenterOfMass>{length / 2} 0 0</CenterOfMass>"
        f"<Inertia>{J / 50} {J} {J} 0 0 {J / 10}</Inertia></MassProperties>"
        f'<GeometryFile name="{name}.step" type="STEP"/></Part>'
    )


def document(constraints="", units="millimeter", kind="Revolute"):
    """The file; joints are turned about their axes, so that its pose is not at zero."""
    at = {"crank": (A, B), "coupler": (B, C), "rocker": (D, C)}
    R = {n: along(*ends) for n, ends in at.items()}
    size = {n: float(np.linalg.norm(q - p)) for n, (p, q) in at.items()}
    base = np.eye(3)
    inner = "".join(
        instance(n, f"p-{n}", R_WS.T @ R[n], R_WS.T @ (at[n][0] - P_WS))
        for n in ("crank", "coupler")
    )
    end = [np.array([size[n], 0, 0]) for n in ("crank", "coupler", "rocker")]
    crank, coupler, rocker = ("arm", "crank"), ("arm", "coupler"), ("rocker",)
    zero = np.zeros(3)
    outer = [
        joint(kind, "A", (("base",), ABOUT_Y, A), (crank, ABOUT_Y, zero)),
        joint(kind, "D", (rocker, ABOUT_Y, zero), (("base",), ABOUT_Y, D)),
        joint(kind, "C", (coupler, ABOUT_Y, end[1]), (rocker, ABOUT_Y, end[2])),
    ]
    pin = joint("Revolute", "B", (crank[1:], ABOUT_Y, end[0]), (coupler[1:], ABOUT_Y, zero))
    return f"""<?xml version="1.0"?>
<SimscapeMultibodyImportXML xmlns="urn:mathworks:SimscapeMultibody:import" version="2.0">
  <DataUnits length="{units}" mass="gram"/>
  <RootAssembly name="four bar" uid="root">
    <InstanceTree>
      {instance("base", "p-base", base, zero, more='grounded="true"')}
      {instance("arm", "a-arm", R_WS, P_WS, inner)}
      {instance("rocker", "p-rocker", R["rocker"], D)}
    </InstanceTree>
    <Constraints>{constraints}</Constraints>
    <Joints>{"".join(outer)}</Joints>
  </RootAssembly>
  <Assemblies><Assembly name="arm" uid="a-arm"><Joints>{pin}</Joints></Assembly></Assemblies>
  <Parts>
    <Part name="base" uid="p-base"><MassProperties><Mass>1</Mass>
      <CenterOfMass>0 0 0</CenterOfMass><Inertia>1 1 1 0 0 0</Inertia></MassProperties></Part>
    {"".join(part(n, size[n]) for n in MASS)}
  </Parts>
</SimscapeMultibodyImportXML>"""


@pytest.fixture
def file(tmp_path):
    def write(**options):
        path = tmp_path / "four_bar.xml"
        path.write_text(document(**options))
        return path

    return write


def test_parts_stand_where_the_file_has_them(file):
    """The start of the scenario is the pose of the file, loops closed."""
    asked = read(file(), until=1.0)
    m = asked.mechanism
    assert catena.mobility(m).degrees_of_freedom == 1 and len(m.loops) == 1
    machine = catena.compile(m)
    q = catena.assemble(machine, asked.q)[0]
    for name, (p, R) in {
        "crank": (A, along(A, B)), "coupler": (B, along(B, C)), "rocker": (D, along(D, C)),
    }.items():  # fmt: skip
        X = machine.pose(q, name)
        np.testing.assert_allclose(X[:3, 3], 1e-3 * p, atol=2e-6)  # the loop of the file: 1 um
        np.testing.assert_allclose(X[:3, :3], R, atol=1e-4)


def test_masses_and_motion_are_those_of_bars(file):
    """Kinetic energy at the pose of the file by the motion of each bar, written out by hand."""
    m = catena.load(file())
    machine = catena.compile(m)
    assert sum(b.mass for b in m.bodies) == pytest.approx(0.111)
    turning = np.eye(machine.nv)[m.speed_names.index("A")]
    q, v = catena.assemble(machine, read(file(), until=1.0).q, turning, fixed=["A"])
    T = float(machine.energy(q, v)[0])
    at = {n: machine.pose(q, n) for n in MASS}
    rate = {n: machine.jacobian(q, n) @ v for n in MASS}
    length = {
        n: float(np.linalg.norm(q - p))
        for n, (p, q) in {"crank": (A, B), "coupler": (B, C), "rocker": (D, C)}.items()
    }
    found = 0.0
    for n, mass in MASS.items():
        w, u = rate[n][:3], rate[n][3:]
        size = length[n]
        c = at[n][:3, :3] @ [size * 0.5e-3, 0, 0]
        J = 1e-9 * mass * size**2 / 12
        found += 0.5e-3 * mass * np.sum((u + np.cross(w, c)) ** 2) + 0.5 * J * w @ w
    assert found == pytest.approx(T, rel=1e-9)
    run = catena.simulate(m, q=q, v=v, until=0.05)
    assert run.ledger.relative_energy_balance < 1e-8


def test_products_of_inertia_are_yz_zx_xy(file):
    body = catena.load(file()).body("crank")
    J = 20e-3 * np.sum((B - A) ** 2) * 1e-6 / 12
    np.testing.assert_allclose(body.inertia, (J / 50, J / 10, 0, J, 0, J), rtol=1e-12)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"constraints": '<Concentric name="c"/>'}, "CAD constraints \\(Concentric\\)"),
        ({"units": "furlongs per week"}, "DataUnits"),
        ({"kind": "Bushing"}, "a joint of kind Bushing; kinds that are read are Weld, Revolute"),
    ],
)
def test_what_is_refused(file, options, words):
    with pytest.raises(FormatError, match=words):
        catena.load(file(**options))


def test_parts_without_joints_are_free_and_said(file, tmp_path):
    text = document()
    loose = instance("loose", "p-crank", np.eye(3), np.array([0.0, 0.0, 500.0]))
    path = tmp_path / "loose.xml"
    path.write_text(text.replace("</InstanceTree>", loose + "</InstanceTree>"))
    m = catena.load(path)
    assert catena.mobility(m).degrees_of_freedom == 7
    assert any("it is free, as in Simscape" in note for note in m.notes)
    np.testing.assert_allclose(
        catena.compile(m).pose(read(path, until=1.0).q, "loose")[:3, 3], [0, 0, 0.5], atol=1e-12
    )
