"""MJCF written: MuJoCo reads from the file the mass matrix, bias and loads of the mechanism it was
written from.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import catena
from catena.errors import MechanismError, MechanismWarning
from catena.formats.mjcf.writer import text
from catena.model.loads import Cable, CoordinateSpring, Coupling, JointSpring
from mjcf_models import TREE

mujoco = pytest.importorskip("mujoco")
SAYABLE = (
    "bricard",
    "four_bar",
    "hanging_chain",
    "human_in_free_fall",
    "slider_crank",
    "stanford_arm",
    "two_links_one_load",
)


def written(m):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MechanismWarning)
        return text(m.validate())


def compared(m, mj, seed=0):
    """The largest relative difference of mass matrix, bias and loads between a mechanism and a
    MuJoCo model of it.
    """
    bare = m.with_(
        loads=(),
        loops=(),
        nonholonomic=(),
        contacts=(),
        joints=[catena.model.mechanism.replace(j, mimic=None) for j in m.joints],
    )
    free = catena.compile(bare)
    loaded = catena.compile(bare.with_(loads=m.loads))
    d = mujoco.MjData(mj)
    worst = 0.0
    rng = np.random.default_rng(seed)
    for _ in range(3):
        q = free.layout.sample(rng)
        v = rng.normal(size=free.nv)
        d.qpos[:], d.qvel[:] = q, v
        mujoco.mj_forward(mj, d)
        M = np.zeros((mj.nv, mj.nv))
        mujoco.mj_fullM(mj, d, M)
        size = np.abs(M).max()
        own = np.concatenate([np.broadcast_to(j.damping, j.nv) for j in bare.moving])
        worst = max(
            worst,
            np.abs(M - free.mass_matrix(q)).max() / size,
            np.abs(d.qfrc_bias - free.bias(q, v)).max() / size,
            np.abs(free.bias(q, v) - loaded.bias(q, v) - own * v - d.qfrc_passive).max() / size,
        )
    return worst


@pytest.mark.parametrize("name", SAYABLE)
def test_mujoco_moves_as_the_mechanism_does(name):
    m = catena.load(name)
    assert compared(m, mujoco.MjModel.from_xml_string(written(m))) < 1e-12


def test_every_freedom_with_offsets_springs_and_massless_bodies_between():
    """A body on a planar joint, one on a universal behind an offset, a ball with a displaced
    centre; springs of every kind.
    """
    turn = catena.Pose.rpy(0.3, -0.4, 0.5, position=(0.1, 0.2, 0.3))

    def body(name):
        return catena.Body(
            name,
            1.3,
            (0.1, -0.05, 0.2),
            ((0.05, 0.004, 0.001), (0.004, 0.06, -0.003), (0.001, -0.003, 0.07)),
        )

    m = catena.Mechanism(
        "mixed",
        [body("a"), catena.Body.massless("between"), body("b"), body("c"), body("d")],
        [
            catena.Joint("plane", "planar", "ground", "a", turn, damping=0.2, armature=0.01),
            catena.Joint("first", "revolute", "a", "between", turn, axis=(1, 2, 3), offset=turn),
            catena.Joint(
                "second", "prismatic", "between", "b", turn.inverse(), axis=(0, 1, 1), offset=turn
            ),
            catena.Joint(
                "third",
                "ball",
                "b",
                "c",
                turn,
                offset=catena.Pose(position=(0.3, 0, 0.1)),
                damping=0.3,
            ),
            catena.Joint("base", "free", "ground", "d"),
        ],
        frames=[
            catena.Frame("tip", "c", turn),
            catena.Frame("post", "ground", catena.Pose(position=(1, 1, 1))),
        ],
        gravity=(1, -2, -9),
        loads=[
            JointSpring("s", "first", 5.0, 0.3, 0.7),
            CoordinateSpring("belt", ("first", "second"), (2.0, -3.0), 11.0, 0.2, 0.5),
            Cable("cord", ("post", "tip", "d"), 13.0, 0.1, 0.4, "both"),
            Cable("rope", ("post", "tip"), 17.0, 0.5, pulls="tension"),
            catena.Spring("bar", "a", "c", 19.0, 0.2, 0.1),
        ],
    )
    assert compared(m, mujoco.MjModel.from_xml_string(written(m))) < 1e-12


def test_a_file_that_is_read_and_written_is_the_same_model(tmp_path):
    (tmp_path / "tree.xml").write_text(TREE)
    m = catena.load(tmp_path / "tree.xml")
    catena.save(m, tmp_path / "again.xml")
    again = catena.load(tmp_path / "again.xml")
    assert (
        again.coordinate_names == m.coordinate_names
        and [f.name for f in again.frames][:3] == [f.name for f in m.frames][:3]
    )
    assert compared(m, mujoco.MjModel.from_xml_path(str(tmp_path / "again.xml"))) < 1e-12


def test_loops_and_mimics_have_the_rows_of_the_mechanism(tmp_path):
    m = catena.load("four_bar")
    with pytest.warns(MechanismWarning, match="loops are soft in MuJoCo"):
        catena.save(m, tmp_path / "four_bar.xml")
    again = catena.load(tmp_path / "four_bar.xml")
    assert catena.mobility(again).degrees_of_freedom == catena.mobility(m).degrees_of_freedom == 1


def test_what_mjcf_cannot_say_is_refused_by_name():
    with pytest.raises(MechanismError) as refused:
        text(catena.load("every_joint"))
    assert "joint 'thread': MJCF has no helical joint" in str(refused.value)
    with pytest.raises(MechanismError, match="KnifeEdge 'edge': MJCF has no rows of speeds"):
        text(catena.load("knife_edge"))
    with pytest.raises(MechanismError, match="body 'boom': MJCF has no beams"):
        text(catena.load("spinning_boom"))
    with pytest.raises(MechanismError, match="Force 'tap': MJCF has no force"):
        text(catena.load("stanford_valve"))
    arm = catena.load("two_link_arm")
    with pytest.raises(MechanismError, match=r"body 'upper' moves and has no mass"):
        text(
            arm.with_(
                bodies=[
                    catena.Body.massless(
                        "upper", arm.body("upper").shapes or (catena.Shape("sphere", (0.1,)),)
                    ),
                    *arm.bodies[1:],
                ]
            ).validate()
        )


def test_gears_and_couplings_become_equalities_of_tendons(tmp_path):
    """A planetary train and a hoist with an offset: the rows of MuJoCo and of the mechanism that is
    read back are those of the mechanism.
    """
    gear = catena.load("planetary_gear")
    m = gear.with_(
        loads=(),
        constraints=(
            *gear.constraints,
            Coupling("tie", tuple(gear.coordinate_names[:2]), (0.5, -2.0), 0.3),
        ),
    )
    (tmp_path / "m.xml").write_text(written(m))
    again = catena.load(tmp_path / "m.xml")
    mj = mujoco.MjModel.from_xml_path(str(tmp_path / "m.xml"))
    q = np.array([0.3, -0.7, 1.1][: len(gear.coordinate_names)])
    d = mujoco.MjData(mj)
    zero = np.zeros(len(q))
    d.qpos[:] = q
    mujoco.mj_forward(mj, d)
    error, *_, J = catena.compile(m).constraint_rows(q, zero)
    np.testing.assert_allclose(
        d.efc_J.reshape(-1, len(q))[:3] if not mujoco.mj_isSparse(mj) else J, J, atol=1e-14
    )
    np.testing.assert_allclose(d.efc_pos[:3], error, atol=1e-14)
    back = catena.compile(again).constraint_rows(q, zero)
    np.testing.assert_allclose(back[3], J, atol=1e-14)
    np.testing.assert_allclose(back[0], error, atol=1e-14)
    with pytest.raises(MechanismError, match="Cam 'cam': MJCF has no constraint of that kind"):
        written(catena.load("cycloidal_cam"))
