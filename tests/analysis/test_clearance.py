"""Clearance of mechanisms: names, batches, parameters, the pairs of MuJoCo's solver, meshes, and
what is refused.
"""

from __future__ import annotations

import struct

import numpy as np
import pytest

import catena
from catena import Body, CollisionFilter, Joint, Mechanism, Pose, Shape
from catena.errors import MechanismWarning, QuestionError, StateError, UnknownNameError
from catena.model.expressions import parse
from robots import machine_of, panda_in_capsules
from solids import support

KINDS = {
    "sphere": (0.1,),
    "capsule": (0.1, 0.3),
    "box": (0.2, 0.3, 0.4),
    "cylinder": (0.1, 0.3),
    "ellipsoid": (0.1, 0.2, 0.3),
}


def flying(shapes, **more):
    """Bodies that fly freely, each with a shape, over a plane."""
    pose = Pose.rpy(0.1, 0.2, 0.3, position=(0.05, 0, 0))
    bodies = [
        Body(name, 1, (0, 0, 0), (1, 1, 1), (Shape(kind, size, pose, file, collides=True),))
        for name, kind, size, file in shapes
    ]
    return Mechanism(
        "flying",
        bodies,
        [Joint(f"to {b.name}", "free", "ground", b.name) for b in bodies],
        ground=[Shape("plane")],
        **more,
    )


def points_hold(found):
    """The points are as far apart as the distance says, along the normal; the certificate of each
    pair is in test_distance.
    """
    assert np.abs(np.linalg.norm(found.normal, axis=-1) - 1).max() < 1e-9
    assert (
        np.abs(found.second - found.first - found.distance[..., None] * found.normal).max() < 1e-12
    )


def test_two_mechanisms_in_one_scene_see_each_other():
    """Arms of one capsule that face each other: the distance of their tips, and that of each from
    its own ground.
    """
    rod = Shape(
        "capsule", (0.05, 0.5), Pose.rpy(0, np.pi / 2, 0, position=(0.25, 0, 0)), collides=True
    )
    arm = Mechanism(
        "arm",
        (Body("rod", 1, (0.25, 0, 0), (1, 1, 1), (rod,)),),
        (Joint("pin", "revolute", "ground", "rod", axis=(0, 0, 1)),),
    )
    scene = catena.attach(arm, arm, "right_", at=Pose(position=(2.0, 0.3, 0)))
    found = catena.clearance(scene, [[0.0, np.pi], [0.4, np.pi + 0.4]])
    ends = [
        np.array([[np.cos(a), np.sin(a)], [-np.cos(a), -np.sin(a)]]) * 0.5 + [[0, 0], [2.0, 0.3]]
        for a in (0.0, 0.4)
    ]
    assert found.pairs == (("rod", "right_rod"),)
    assert found.distance[:, 0] == pytest.approx(
        [np.linalg.norm(tip[1] - tip[0]) - 0.1 for tip in ends], abs=1e-14
    )


@pytest.fixture(scope="module")
def panda():
    return catena.compile(panda_in_capsules(tips=False))


def test_the_panda_clears_itself_where_pinocchio_says_so(panda):
    """Every pair of capsules of a batch against Coal, with Pinocchio's poses."""
    import coal
    import pinocchio as pin

    from catena.collision.collision_pairs import colliders
    from robots import urdf

    model = pin.buildModelFromUrdf(str(urdf("panda")))
    q = np.random.default_rng(0).uniform(
        model.lowerPositionLimit, model.upperPositionLimit, (3, 4, model.nq)
    )
    found = catena.clearance(panda, q)
    assert found.distance.shape == (3, 4, 40) and ("panda_link0", "panda_hand") in found.pairs
    points_hold(found)
    made = pin.GeometryModel()
    for c in colliders(panda.mechanism):
        frame = model.frames[model.getFrameId(c.body)]
        X = frame.placement * pin.SE3(c.shape.pose.matrix())
        made.addGeometryObject(
            pin.GeometryObject(
                c.name, frame.parentJoint, frame.parentFrame, X, coal.Capsule(*c.shape.size)
            )
        )
    for a, b in found.pairs:
        made.addCollisionPair(pin.CollisionPair(made.getGeometryId(a), made.getGeometryId(b)))
    data = model.createData()
    results = made.createData()
    for i in np.ndindex(3, 4):
        pin.computeDistances(model, data, made, results, q[i])
        assert (
            np.abs(found.distance[i] - [r.min_distance for r in results.distanceResults]).max()
            < 1e-12
        )
        assert (
            np.abs(found.first[i] - [r.getNearestPoint1() for r in results.distanceResults]).max()
            < 1e-9
        )


def test_a_pair_is_found_by_its_names(panda):
    found = catena.clearance(panda)
    k = found.index("panda_hand", "panda_link0")
    assert found.pairs[k] == ("panda_link0", "panda_hand") and f"{found.distance[k]:.6g} m" in str(
        found
    )
    alone = catena.clearance(panda, pairs=[("panda_link0", "panda_hand")])
    assert alone.pairs == (("panda_link0", "panda_hand"),) and alone.distance[0] == pytest.approx(
        found.distance[k], abs=1e-15
    )
    with pytest.raises(
        UnknownNameError, match="no pair 'panda_link0 - panda_link1' in this clearance"
    ):
        found.index("panda_link0", "panda_link1")
    with pytest.raises(UnknownNameError, match="no colliding shape 'panda_hnd'"):
        catena.clearance(panda, pairs=[("panda_hnd", "panda_link0")])
    with pytest.raises(StateError, match="q holds values that are not finite"):
        catena.clearance(panda, np.full(panda.nq, np.nan))


def test_sizes_and_places_may_be_parameters():
    """A ball of radius r on a slide, r and the height of the ball's place free: d = x + h - r, in a
    batch of parameters.
    """
    r = parse("r", ["r", "h"])
    h = parse("h", ["r", "h"])
    body = Body(
        "ball",
        1,
        (0, 0, 0),
        (1, 1, 1),
        (Shape("sphere", (r,), Pose(position=(0, 0, h)), collides=True),),
    )
    m = Mechanism(
        "slide",
        [body],
        [Joint("z", "prismatic", "ground", "ball")],
        parameters={"r": 0.1, "h": 0.5},
        ground=[Shape("plane")],
        collisions=CollisionFilter(include=[("ball", "ground")]),
    )
    assert catena.clearance(m, [1.0]).distance == pytest.approx([1.4], abs=1e-15)
    many = catena.clearance(m, [1.0], parameters={"r": np.array([0.2, 0.3]), "h": 1.0})
    assert many.distance[:, 0] == pytest.approx([1.8, 1.7], abs=1e-15) and many.first.shape == (
        2,
        1,
        3,
    )


def test_convex_pairs_have_their_proof():
    """Pairs without a closed form, by MuJoCo: the gap along the normal is the distance, and no
    other direction has a larger one.
    """
    m = catena.compile(flying([(kind, kind, size, "") for kind, size in KINDS.items()]))
    rng = np.random.default_rng(4)
    q = m.sample(rng, 20)
    for k in range(len(KINDS)):
        q[:, 7 * k : 7 * k + 3] *= 0.25
    pairs = [
        ("cylinder", "ellipsoid"),
        ("capsule", "cylinder"),
        ("box", "ellipsoid"),
        ("ground", "cylinder"),
    ]
    found = catena.clearance(m, q, pairs=pairs)
    points_hold(found)
    ways = rng.standard_normal((300, 1, 3))
    ways /= np.linalg.norm(ways, axis=-1, keepdims=True)
    for k, names in enumerate(found.pairs[1:], start=1):
        X = [m.pose(q, name) @ m.mechanism.body(name).shapes[0].pose.matrix() for name in names]

        def apart(n, X=X, names=names):
            return np.einsum("...bi,bi->...b", n, X[1][:, :3, 3] - X[0][:, :3, 3]) - sum(
                support(name, KINDS[name], np.einsum("bji,...bj->...bi", X[i][:, :3, :3], n))
                for i, name in enumerate(names)
            )

        assert np.abs(apart(found.normal[:, k]) - found.distance[:, k]).max() < 1e-7
        assert (apart(np.broadcast_to(ways, (300, 20, 3))) < found.distance[:, k] + 1e-7).all()


def stl(path, points, faces):
    """A binary STL."""
    rows = b"".join(
        struct.pack("<12fH", 0, 0, 0, *np.array(points, np.float32)[list(f)].ravel(), 0)
        for f in faces
    )
    path.write_bytes(bytes(80) + struct.pack("<I", len(faces)) + rows)


CUBE = np.array([[i, j, k] for i in (0, 1) for j in (0, 1) for k in (0, 1)]) - 0.5
FACES = [
    (0, 1, 3),
    (0, 3, 2),
    (4, 6, 7),
    (4, 7, 5),
    (0, 4, 5),
    (0, 5, 1),
    (2, 3, 7),
    (2, 7, 6),
    (0, 2, 6),
    (0, 6, 4),
    (1, 5, 7),
    (1, 7, 3),
]


def test_a_mesh_is_its_hull(tmp_path):
    """A cube as a mesh, scaled, is where the box is; a dented one is told of. Paths are from the
    model's own folder.
    """
    stl(tmp_path / "cube.stl", CUBE, FACES)
    m = flying(
        [
            ("mesh", "mesh", (0.2, 0.3, 0.4), "cube.stl"),
            ("twin", "box", (0.2, 0.3, 0.4), ""),
            ("other", "box", (0.3, 0.3, 0.3), ""),
        ]
    )
    catena.save(m, tmp_path / "m.toml")
    machine = catena.compile(catena.load(tmp_path / "m.toml"))
    q = machine.sample(np.random.default_rng(1), 6)
    q[:, :7] = q[:, 7:14]
    found = catena.clearance(machine, q)
    d = dict(zip(found.pairs, found.distance.T))
    # its points are in single precision
    assert np.abs(d["mesh", "other"] - d["twin", "other"]).max() < 1e-6
    assert np.abs(d["ground", "mesh"] - d["ground", "twin"]).max() < 1e-6
    points_hold(found)
    dented = tmp_path / "dented"  # of its own: MuJoCo keeps meshes by path and time
    dented.mkdir()
    catena.save(m, dented / "m.toml")
    stl(
        dented / "cube.stl",
        [*CUBE, (0, 0, 0.1)],
        [*FACES[:10], (1, 5, 8), (5, 7, 8), (7, 3, 8), (3, 1, 8)],
    )
    with pytest.warns(
        MechanismWarning, match="of 'mesh' is not convex: its hull has .* more volume"
    ):
        catena.clearance(catena.load(dented / "m.toml"), pairs=[("mesh", "other")])
    (tmp_path / "cube.stl").unlink()
    with pytest.raises(QuestionError, match="the mesh 'cube.stl' of 'mesh' is not there"):
        catena.clearance(catena.load(tmp_path / "m.toml"))


def test_a_robot_of_meshes_has_clearance():
    with pytest.warns(MechanismWarning, match="is not convex"):
        found = catena.clearance(machine_of("ur5"))
    assert found.distance[found.index("base_link", "upper_arm_link")] == pytest.approx(
        0.01434, abs=1e-4
    )


def test_nothing_to_ask():
    with pytest.raises(
        QuestionError,
        match="mechanism 'double pendulum' has no pair of shapes that may collide; give shapes",
    ):
        catena.clearance(
            Mechanism(
                "double pendulum", [Body.massless("a")], [Joint("j", "revolute", "ground", "a")]
            )
        )
