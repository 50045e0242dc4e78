"""Sensors against MuJoCo's, against differences, and their errors against their definitions."""

from dataclasses import replace

import mujoco
import numpy as np
import pytest

import catena
from catena import env, sensors
from catena.errors import FormatError, MechanismError, QuestionError
from catena.model import SENSOR_KINDS, Sensor, SensorKind
from catena.simulation.scenario import read as read_scenario

MJCF = """
<mujoco><option gravity="0.3 -0.2 -9.7"><flag contact="disable"/></option>
<worldbody>
<geom name="floor" type="plane" size="0 0 .1"/>
<geom type="sphere" size=".3" pos="1 0.2 .5"/>
<geom type="box" size=".2 .3 .4" pos="-1 0.2 .5" euler="10 20 30"/>
<geom type="capsule" size=".2 .3" pos="0 1.2 .5" euler="50 20 30"/>
<geom type="cylinder" size=".2 .3" pos="0 -1.2 .5" euler="50 20 30"/>
<geom type="ellipsoid" size=".2 .3 .4" pos="1 -1.2 .5" euler="50 20 30"/>
<body name="base" pos="0 0 1" euler="5 10 20"><freejoint name="root"/>
 <geom type="box" size=".1 .2 .05" density="500"/>
 <site name="imu" pos=".05 .02 .01" euler="30 40 50"/>
 <site name="down" pos="0 0 -.06" euler="170 5 0"/>
 <body name="link" pos=".1 0 0" euler="0 20 0"><joint name="j1" axis="0 1 .2" damping=".1"/>
  <geom type="capsule" size=".03" fromto="0 0 0 .3 0 0"/>
  <site name="ft" pos=".02 .01 0" euler="20 0 10"/>
  <body name="link2" pos=".3 0 0"><joint name="j2" type="slide" axis="1 0 0"/>
   <geom type="sphere" size=".05" pos=".1 0 0"/>
   <site name="eye" pos=".2 0 0" euler="0 100 0"/></body></body></body>
</worldbody>
<sensor><accelerometer name="acc" site="imu" noise="0.1" cutoff="60"/>
<gyro name="gyr" site="imu"/><velocimeter name="vel" site="imu"/>
<force name="f" site="ft"/><torque name="t" site="ft"/>
<rangefinder name="r1" site="down"/><rangefinder name="r2" site="eye"/>
<jointpos name="p1" joint="j1"/><jointvel name="v2" joint="j2"/>
<framequat name="fq" objtype="site" objname="eye"/>
<framepos name="fp" objtype="xbody" objname="link"/>
<subtreecom name="com" body="base"/></sensor>
</mujoco>
"""


def test_sensors_of_mjcf_read_what_mujoco_reads(tmp_path):
    """At 300 random states; of rays, most hit one of six kinds of shapes."""
    (tmp_path / "m.xml").write_text(MJCF)
    mechanism = catena.load(tmp_path / "m.xml")
    assert any("sensor com" in note and "subtreecom" in note for note in mechanism.notes)
    assert mechanism.sensors[0].noise == 0.1 and mechanism.sensors[0].range == (-60.0, 60.0)
    m = mujoco.MjModel.from_xml_string(MJCF)
    m.sensor_cutoff[:] = 0.0
    d = mujoco.MjData(m)
    measure = sensors.measurement(mechanism)
    rng = np.random.default_rng(0)
    hits = 0
    for _ in range(300):
        d.qpos[:] = 0.7 * rng.standard_normal(m.nq)
        d.qpos[2] = 1.5
        d.qpos[3:7] /= np.linalg.norm(d.qpos[3:7])
        d.qvel[:] = rng.standard_normal(m.nv)
        mujoco.mj_forward(m, d)
        mujoco.mj_rnePostConstraint(m, d)
        found = dict(
            zip(measure.channels, measure(d.qpos, d.qvel, d.qacc, np.zeros(m.nv)), strict=False)
        )
        for sensor in mechanism.sensors:
            k = m.sensor(sensor.name)
            theirs = d.sensordata[k.adr[0] : k.adr[0] + k.dim[0]].copy()
            mine = np.array([found[c] for c in sensor.channels])
            if sensor.kind == "ray":
                assert np.isinf(mine[0]) == (theirs[0] < 0)
                if theirs[0] < 0:
                    continue
                hits += 1
            if sensor.kind == "attitude" and theirs[0] < 0:
                theirs *= -1
            assert np.abs(mine - theirs).max() < 1e-10 * max(1.0, np.abs(theirs).max())
    assert hits > 200


def test_derivatives_are_those_of_differences():
    arm = catena.load("spatial_six_dof")
    kinds = ("accelerometer", "gyroscope", "velocimeter", "attitude", "pose", "force_torque")
    body = arm.bodies[-1].name
    c = arm.coordinate_names[2]
    own = [Sensor(k, k, body) for k in kinds]
    own += [Sensor("e", "joint_encoder", c), Sensor("i", "motor_current", c, constant=0.3)]
    measure = sensors.measurement(arm, own)
    rng = np.random.default_rng(1)
    nv = measure.machine.nv
    state = [measure.machine.sample(rng), *rng.standard_normal((3, nv))]
    h = 1e-6
    for k, J in enumerate(measure.derivatives(*state)):
        for i in range(nv):
            ends = []
            for step in (h, -h):
                moved = list(state)
                e = step * np.eye(nv)[i]
                moved[k] = state[k] + e
                ends.append(measure(*moved))
            differences = (ends[0] - ends[1]) / (2 * h)
            assert np.abs(differences - J[:, i]).max() < 1e-6 * max(1, np.abs(J).max())


def _arm(*own):
    return replace(catena.load("two_link_arm"), sensors=own)


def test_a_run_reads_the_same_alone_and_in_a_batch():
    arm = _arm(
        Sensor("enc", "joint_encoder", "elbow", resolution=0.01, noise=0.001),
        Sensor("acc", "accelerometer", "tip", walk=0.1, noise=0.2),
        Sensor("late", "tachometer", "elbow", delay=0.02, sample=0.04),
    )
    q = [[0.3, 0.5], [0.3, 0.5], [0.1, 0.2]]
    many = sensors.readings(catena.simulate(arm, q=q, until=1.0, output=0.01), seed=4)
    one = sensors.readings(catena.simulate(arm, q=q[0], until=1.0, output=0.01), seed=4)
    for name in ("enc", "acc", "late"):
        assert (many[name].values[0] == one[name].values).all()
    assert (many["acc"].values[0] != many["acc"].values[1]).any()
    steps = one["enc"].values / 0.01
    assert np.abs(steps - np.round(steps)).max() < 1e-9
    late, true = one["late"].values[:, 0], one["late true"].values[:, 0]
    assert (late[4:8] == true[2]).all() and (late[8:12] == true[6]).all()


def test_noise_and_bias_have_the_deviations_that_are_given():
    """Noise over all readings; the bias grows with the root of time."""
    errors = sensors.ReadingErrors(
        Sensor("s", "joint_encoder", "elbow", noise=0.3, walk=2.0, offset=5.0),
        np.arange(4000),
        0.01,
        seed=1,
    )
    read = np.array([errors.read(np.zeros((4000, 1)))[:, 0] for _ in range(101)])
    assert read.mean() == pytest.approx(5.0, abs=0.05)
    assert read[0].std() == pytest.approx(0.3, rel=0.03)
    assert read[-1].std() == pytest.approx(np.hypot(0.3, 2.0), rel=0.04)  # after one second
    assert abs(np.corrcoef(read[0], read[1])[0, 1]) < 0.05


def test_range_is_applied_before_resolution():
    errors = sensors.ReadingErrors(
        Sensor("s", "ray", "tip", range=(0.1, 2.0), resolution=0.5), np.arange(3), 0.1, 0
    )
    assert errors.read(np.array([[np.inf], [0.9], [0.2]])).tolist() == [[2.0], [1.0], [0.0]]


def test_contact_sensor_reads_the_force_of_a_contact():
    box = catena.load("tumbling_box")
    (contact,) = {c.name for c in box.contacts}
    box = replace(box, sensors=[Sensor("feet", "contact", contact)])
    start = read_scenario("tumbling_box")
    given = {**start.arguments, "until": 0.4}
    run = catena.simulate(box, **given)
    found = sensors.readings(run)["feet"].values[:, 0]
    force = run.contacts["force"].fillna(0.0)
    assert found == pytest.approx(np.sqrt((force.values[:, 0] ** 2).sum(axis=-1)))


def test_sensors_of_environments_have_errors_of_their_own():
    m = replace(
        catena.load("cart_pole"),
        sensors=[
            Sensor("enc", "joint_encoder", "theta", resolution=0.01),
            Sensor("gyro", "gyroscope", "pole", noise=0.1, walk=0.5, offset=1.0),
            Sensor("slow", "tachometer", "x", sample=0.06, delay=0.04, noise=0.01),
        ],
    )
    seen = ["x", "enc", "gyro", "slow", "sensor['gyro.z']"]
    e = env.Environment(
        m, ["x"], seen, start={"q": (-0.2, 0.2)}, alive={"theta": (-0.5, 0.5)}, longest=40
    )
    few, many = env.Worlds(e, 7, seed=3), env.Worlds(e, 50, seed=3, threads=2)
    few.reset(), many.reset()
    for _ in range(60):
        few.step(np.ones((7, 1))), many.step(np.ones((50, 1)))
        assert (few.observations == many.observations[:7]).all()
        assert (few.final_observations == many.final_observations[:7]).all()
    assert few.episodes.min() > 0
    off = many.observations[:, 4] - many.observations[:, 6]
    assert off.mean() == pytest.approx(1.0, abs=0.2) and off.std() > 0.05
    many.close()


def test_sensors_of_a_file_are_written_and_read(tmp_path):
    arm = _arm(
        Sensor("enc", "joint_encoder", "elbow", resolution=0.01, range=(-1.0, 2.0)),
        Sensor("imu", "accelerometer", "tip", noise=0.1, sample=0.01, delay=0.002),
    )
    catena.save(arm, tmp_path / "arm.toml")
    assert catena.load(tmp_path / "arm.toml").sensors == arm.sensors
    text = (tmp_path / "arm.toml").read_text()
    (tmp_path / "arm.toml").write_text(text.replace("resolution = 0.01", 'resolution = "1 deg"'))
    assert catena.load(tmp_path / "arm.toml").sensors[0].resolution == pytest.approx(np.pi / 180)
    (tmp_path / "arm.toml").write_text(text.replace("resolution = 0.01", 'resolution = "1 kg"'))
    with pytest.raises(FormatError, match="1 kg"):
        catena.load(tmp_path / "arm.toml")


def test_a_part_brings_its_sensors_into_a_scene():
    arm = _arm(Sensor("enc", "joint_encoder", "elbow"), Sensor("gyro", "gyroscope", "tip"))
    scene = catena.attach(catena.load("pendulum"), arm, prefix="arm_")
    assert [s.at for s in scene.sensors] == ["arm_elbow", "arm_tip"]
    assert sensors.measurement(scene).channels[0] == "arm_enc"


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda: Sensor("s", "gyro", "tip"), "kind of sensor"),
        (lambda: Sensor("s", "gyroscope", "tip", noise=-1.0), "noise is -1.0"),
        (lambda: Sensor("s", "gyroscope", "tip", range=(1.0, 0.0)), "lower value is first"),
        (lambda: catena.compile(_arm(Sensor("s", "gyroscope", "tipp"))), "tipp"),
        (lambda: sensors.measurement(catena.load("pendulum")), "has no sensors"),
        (
            lambda: sensors.ReadingErrors(Sensor("s", "ray", "t", delay=0.015), [0], 0.01, 0),
            "delay",
        ),
        (
            lambda: (
                sensors.measurement(
                    catena.load("four_bar"), [Sensor("s", "force_torque", "coupler")]
                ).function
            ),
            "closed loops",
        ),
    ],
)
def test_wrong_sensors_are_refused(make, words):
    with pytest.raises((MechanismError, QuestionError, KeyError, catena.CatenaError), match=words):
        make()


def test_a_kind_is_added_from_outside():
    kind = SensorKind(
        "doubled", "twice a coordinate", "coordinate", ("",), ("rad",), lambda s, x: [2 * s.q[1]]
    )
    SENSOR_KINDS.register(kind)
    try:
        found = sensors.measurement(catena.load("two_link_arm"), [Sensor("d", "doubled", "elbow")])
        assert found([0.1, 0.2], [0.0, 0.0]).tolist() == [0.4]
    finally:
        del SENSOR_KINDS["doubled"]
