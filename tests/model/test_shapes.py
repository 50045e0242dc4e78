"""Shapes that collide: how files say them, what is refused, which pairs are looked at.

     ___ table (ground)
base --- upper --- lower --- hand, with a tool fixed to it; a ball flies
"""

from __future__ import annotations

import warnings
from dataclasses import replace

import pytest

import catena
from catena.collision.collision_pairs import colliders, collision_pairs
from catena.errors import FormatError, MechanismError, MechanismWarning, UnknownNameError
from catena.model import shapes
from catena.model.mechanism import Body, Joint, Mechanism
from catena.model.pose import Pose
from catena.model.shapes import CollisionFilter, Shape, ShapeKind


def ball(radius=0.1, **more):
    return Shape("sphere", (radius,), collides=True, **more)


def arm(**more):
    names = {
        "base": "ground",
        "upper": "base",
        "lower": "upper",
        "hand": "lower",
        "tool": "hand",
        "ball": "ground",
    }
    kinds = {"base": "fixed", "tool": "fixed", "ball": "free"}
    bodies = [Body(name, 1.0, (0, 0, 0), (1, 1, 1), (ball(),)) for name in names]
    joints = [
        Joint(f"to {name}", kinds.get(name, "revolute"), parent, name)
        for name, parent in names.items()
    ]
    return Mechanism(
        "arm", bodies, joints, ground=[Shape("box", (1, 1, 0.1), name="table")], **more
    )


def again(m, path):
    catena.save(m, path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MechanismWarning)
        return catena.load(path)


def named(pairs):
    return {frozenset((a.name, b.name)) for a, b in pairs}


def pairs(text):
    return {frozenset(pair.split("-")) for pair in text.split()}


def test_neighbours_do_not_collide():
    """The base is rigid with the ground, the tool with the hand; a free joint makes no
    neighbours.
    """
    assert named(collision_pairs(arm())) == pairs(
        "ground-lower ground-hand ground-tool ground-ball base-lower base-hand base-tool base-ball"
        " upper-hand upper-tool upper-ball lower-ball hand-ball tool-ball"
    )


def test_pairs_are_included_excluded_and_grouped():
    default = named(collision_pairs(arm()))
    chosen = CollisionFilter(
        include=[("upper", "ground")],
        exclude=[("fly", "ground"), ("tool", "base")],
        groups={"fly": ["ball"]},
    )
    found = named(collision_pairs(arm(collisions=chosen)))
    assert found - default == pairs("ground-upper") and default - found == pairs(
        "ball-ground tool-base"
    )
    only = CollisionFilter(
        only=[("fly", "grip")], groups={"fly": ["ball"], "grip": ["hand", "tool"]}
    )
    assert named(collision_pairs(arm(collisions=only))) == pairs("hand-ball tool-ball")
    assert named(collision_pairs(arm(), [("hand", "tool")])) == pairs("hand-tool"), (
        "who asks for a pair gets it"
    )
    with pytest.raises(
        UnknownNameError, match="no colliding shape 'hnad' in mechanism 'arm'.*Did you mean 'hand'"
    ):
        collision_pairs(arm(), [("hnad", "ball")])


def test_shapes_of_one_body_have_names():
    m = arm()
    two = replace(m.bodies[-1], shapes=(ball(name="left"), ball(0.2), Shape("line", (1, 0, 0))))
    assert [c.name for c in colliders(m.with_(bodies=(*m.bodies[:-1], two)))][-2:] == [
        "ball.left",
        "ball.2",
    ]


def test_files_say_everything(tmp_path):
    pose = Pose.rpy(0.1, 0.2, 0.3, position=(0.1, 0, 0))
    each = [
        Shape(
            k,
            (0.1, 0.2, 0.3)[: len(x.sizes)],
            pose,
            "part.stl" if x.from_file else "",
            collides=x.solid,
            drawn=k == "box",
            name=k,
            heights=((0.0, 0.5), (0.25, 1.0)) if x.has_grid else (),
        )
        for k, x in shapes.KINDS.items()
    ]
    chosen = CollisionFilter(
        [("upper", "base")], [("all of it", "ball")], (), {"all of it": ["hand", "tool"]}
    )
    m = arm(collisions=chosen)
    m = m.with_(
        bodies=(*m.bodies[:-1], replace(m.bodies[-1], shapes=each)),
        ground=(*m.ground, Shape("plane")),
    )
    assert again(m, tmp_path / "arm.toml") == m
    with pytest.raises(
        MechanismError, match=r"(?s)URDF has no capsule.*URDF has no shapes of the ground"
    ):
        catena.save(m, tmp_path / "arm.urdf")
    plain = arm().with_(ground=())
    assert again(plain, tmp_path / "arm.urdf").body("hand").collision == (
        replace(ball(), drawn=False),
    )


def test_a_companion_adds_shapes(tmp_path):
    catena.save(arm().with_(ground=()), tmp_path / "arm.urdf")
    extra = tmp_path / "extra.toml"
    extra.write_text("""[[body]]
name = "hand"
shapes = [{ kind = "capsule", size = ["2 cm", "10 cm"], collides = true, name = "palm" }]
[[ground]]
kind = "plane"
at = [0, 0, -1]
[collisions]
exclude = [["hand", "ground"]]
""")
    m = catena.load(tmp_path / "arm.urdf", companion=extra)
    assert [s.kind for s in m.body("hand").shapes] == ["sphere", "sphere", "capsule"] and m.ground[
        0
    ].collides
    assert m.body("hand").collision[1].size == (0.02, 0.1) and m.collisions.exclude == (
        ("hand", "ground"),
    )
    extra.write_text(extra.read_text().replace('"hand"', '"hnd"', 1))
    with pytest.raises(FormatError, match="no body 'hnd' in mechanism 'arm'.*Did you mean 'hand'"):
        catena.load(tmp_path / "arm.urdf", companion=extra)


@pytest.mark.parametrize(
    "shape, said",
    [
        (
            Shape("sphere", (), collides=True),
            "shape number 1: a sphere has 1 sizes (radius), found 0",
        ),
        (
            Shape("capsule", (0.1, 0.0), collides=True),
            "its length is 0.0; a capsule that collides has sizes that are finite",
        ),
        (Shape("box", (1, float("nan"), 1), collides=True), "its y is nan"),
        (
            Shape("line", (1, 0, 0), collides=True, name="rod"),
            "shape rod: a line does not collide; what does: box, sphere",
        ),
        (Shape("sphre", (1,), collides=True), "no shape kind 'sphre'; shape kinds are: box"),
        (
            Shape("sphere", (1,), Pose(rotation=((1, 0, 0), (0, 1, 0), (0, 0, 2))), collides=True),
            "its pose",
        ),
    ],
)
def test_what_cannot_be_is_refused(shape, said):
    m = arm()
    with pytest.raises(MechanismError, match="body 'ball'") as caught:
        m.with_(bodies=(*m.bodies[:-1], replace(m.bodies[-1], shapes=(shape,)))).validate()
    assert said in str(caught.value)


def test_filters_name_what_exists():
    rules = CollisionFilter(exclude=[("hnad", "ball")], groups={"hand": ["ball"], "g": ["nobody"]})
    with pytest.raises(MechanismError) as caught:
        arm(collisions=rules).validate()
    for said in (
        "group 'hand' has the name of a body",
        "group 'g': no body 'nobody'",
        "exclude: no body or group 'hnad'",
    ):
        assert said in str(caught.value)
    with pytest.raises(MechanismError, match="exclude is .*; it is a list of pairs of names"):
        CollisionFilter(exclude=["hand"])


def test_a_kind_from_outside(tmp_path):
    shapes.register(ShapeKind("toy_ring", ("radius",)))
    try:
        m = arm()
        m = m.with_(ground=[Shape("toy_ring", (0.3,))])
        assert again(m, tmp_path / "m.toml").ground[0].kind == "toy_ring"
        with pytest.raises(MechanismError, match="in the registry already"):
            shapes.register(ShapeKind("toy_ring", ()))
    finally:
        del shapes.KINDS["toy_ring"]
