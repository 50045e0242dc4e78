"""The [scenario] table: read with units and names, every fault told at once, every example
complete.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import catena.examples
import zoo
from catena.errors import CatenaError, FormatError
from catena.formats import examples
from catena.model.mechanism import Body, Joint, Mechanism
from catena.simulation import scenario
from catena.simulation.run import simulate
from catena.simulation.scenario import read
from catena.simulation.scenario.inverse import along
from catena.simulation.trajectories import cubic, function


@pytest.mark.filterwarnings("ignore::catena.errors.MechanismWarning")
@pytest.mark.parametrize("name", examples())
def test_every_example_has_a_scenario(name):
    asked = read(name)
    assert asked.until > 0 and asked.plots
    assert asked.q.shape == (sum(j.nq for j in asked.mechanism.moving),)


def written(tmp_path, text: str):
    path = tmp_path / "s.toml"
    path.write_text('mechanism = "two_link_arm"\n[scenario]\n' + text)
    return path


def test_units_names_and_changes(tmp_path):
    asked = read(
        written(
            tmp_path,
            'until = "200 ms"\ninitial = { q = { shoulder = "30 deg" }, v = { elbow = "60 rpm" } }',
        ),
        by="kane",
    )
    np.testing.assert_allclose(asked.q, [np.pi / 6, 0])
    np.testing.assert_allclose(asked.v, [0, 2 * np.pi])
    assert asked.until == 0.2 and asked.options["by"] == "kane"
    assert read(written(tmp_path, "until = 1"), until=3.0).until == 3.0


def test_joints_of_several_freedoms_take_lists_labels_and_full_names(tmp_path):
    path = tmp_path / "s.toml"
    path.write_text(
        'mechanism = "every_joint"\n[scenario]\nuntil = 1\n[scenario.initial.q]\nfloating = [1, 2,'
        ' "30 cm", 1, 0, 0, 0]\ncross.first = "10 deg"\n"table.x" = "5 cm"\nsocket = [0.7071, 0, 0,'
        " 0.7071]\n"
    )
    asked = read(path)
    names = catena.compile(asked.mechanism).coordinate_names
    q = dict(zip(names, asked.q))
    assert (q["floating.x"], q["floating.z"], q["table.x"]) == (1, 0.3, 0.05)
    assert q["cross.first"] == pytest.approx(np.pi / 18) and q["socket.qw"] == pytest.approx(
        np.sqrt(0.5), abs=1e-15
    )


def test_all_faults_at_once(tmp_path):
    text = """untl = 3
output = "10 m"
integrator = "dop835"
limits = "stopp"
plots = ["energy"]
initial = { q = { sholder = 1, elbow = "3 m" }, v = { elbow = [1, 2] } }
control = { kind = "pdd" }
[[scenario.events]]
event = "impuls"
[scenario.motion]
kind = "sine"
amplitude = { elbw = 1 }
frequency = "3 Hz"
"""
    with pytest.raises(FormatError) as found:
        read(written(tmp_path, text))
    said = str(found.value)
    for words in (
        "no key 'untl'",
        "Did you mean 'until'",
        "until is missing",
        "no coordinate 'sholder'",
        "is '3 m', a length; an angle",
        "one value is wanted",
        "output is '10 m', a length; a time is wanted",
        "Did you mean 'dop853'",
        "Did you mean 'stop'",
        "no controller 'pdd'",
        "no coordinate 'elbw'",
        "'3 Hz', a frequency",
        "no event 'impuls'",
        "no plot 'energy'",
    ):
        assert words in said
    assert len(found.value.faults) == 13


def test_a_loop_is_closed_around_what_is_given(tmp_path):
    asked = read("four_bar")
    machine = catena.compile(asked.mechanism)
    assert np.abs(machine.constraint_rows(asked.q, asked.v)[0]).max() < 1e-9
    assert asked.q[machine.coordinate_names.index("motor pin")] == pytest.approx(
        np.pi / 2, abs=1e-12
    )
    path = tmp_path / "s.toml"
    path.write_text(
        'mechanism = "four_bar"\n[scenario]\nuntil = 1\ninitial = { q = { "motor pin" = 0, "upper'
        ' pin" = 0, "far pin" = 0 } }\n'
    )
    with pytest.raises(FormatError, match=r"initial: .*near pin"):
        read(path)


def test_other_mechanisms_gravity_and_parameters(tmp_path):
    path = written(tmp_path, 'until = 1\ngravity = [0, 0, 0]\nparameters = { m2 = "8 lb", m3 = 1 }')
    with pytest.raises(FormatError, match="no parameter 'm3' in mechanism 'two-link arm'"):
        read(path)
    asked = read(written(tmp_path, 'until = 1\ngravity = [0, 0, 0]\nparameters = { m2 = "8 lb" }'))
    assert asked.mechanism.gravity == (0.0, 0.0, 0.0)
    assert asked.options["parameters"] == {"m2": pytest.approx(3.62873896)}
    path.write_text("mechanism = 3\n[scenario]\nuntil = 1")
    with pytest.raises(FormatError, match="a file or a table with file"):
        read(path)


CONTROLS = {
    "pd": 'kind = "pd"\nkp = 200\nkd = 30\ntarget = { shoulder = "30 deg", elbow = "-20 deg" }',
    "pid": (
        'kind = "pid"\nkp = 200\nki = 300\nkd = 30\nsample = "2 ms"\ntarget = { shoulder = "30'
        ' deg", elbow = "-20 deg" }'
    ),
    "computed_torque": (
        'kind = "computed_torque"\nkp = 400\nkd = 40\ntrajectory = { shoulder = "30 deg", elbow ='
        ' "-20 deg" }'
    ),
}


@pytest.mark.parametrize("kind", CONTROLS)
def test_controllers_bring_the_arm_to_its_target(tmp_path, kind):
    asked = read(
        written(
            tmp_path,
            'until = "6 s"\noutput = "0.1 s"\ntolerance ='
            f" 1e-6\n[scenario.control]\n{CONTROLS[kind]}",
        )
    )
    result = simulate(asked.mechanism, **asked.arguments)
    np.testing.assert_allclose(result.data["q"].values[-1], np.radians([30, -20]), atol=2e-3)


LAW = '{ kind = "actuator", name = "motor", gear = { elbow = 2.0 }, gain = 3.0 }'


@pytest.mark.parametrize("control", [LAW, f"[{LAW}]"], ids=["one table", "a list"])
@pytest.mark.parametrize("name", ["motor", "elbow"])
@pytest.mark.parametrize("where", ["scenario", "state"])
def test_a_signal_reaches_its_actuator(tmp_path, control, name, where):
    signals = f"signals = {{ {name} = 0.5 }}"
    stated = f'states = {{ ready = {{ {signals} }} }}\ninitial = "ready"'
    text = f"until = 0.01\ncontrol = {control}\n{stated if where == 'state' else signals}"
    asked = read(written(tmp_path, text))
    assert simulate(asked.mechanism, **asked.arguments).tau.values[-1, 1] == pytest.approx(3.0)


@pytest.mark.parametrize(
    "more",
    [
        "signals = { motr = 1.0 }",
        f"control = {LAW}\nsignals = {{ motr = 1.0 }}",
        f'control = {LAW}\nstates = {{ a = {{ signals = {{ motr = 1.0 }} }} }}\ninitial = "a"',
    ],
)
def test_a_signal_for_no_actuator_is_refused(tmp_path, more):
    with pytest.raises(FormatError, match="signals: no actuator 'motr' in the scenario"):
        read(written(tmp_path, f"until = 0.01\n{more}"))


PD = 'control = {{ kind = "pd", target = "30 deg", kp = {}, kd = {} }}'
MOTOR = (
    'control = {{ kind = "dc_motor", gear = {{ elbow = 1.0 }}, voltage = {}, resistance = {},'
    " inductance = {}, constant = {} }}"
)
EVENT = "events = [{{ {} }}]"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (PD.format('"5 kg"', 1), "kp is '5 kg', a mass; an angular stiffness is wanted"),
        (PD.format(1, '{ elbow = "2 N*s/m" }'), "kd: 'elbow' is '2 N*s/m', a damping; an angular"),
        (
            'control = { kind = "pid", target = 0.5, kp = 1, ki = "3 N*m", kd = 1 }',
            "ki is '3 N*m', a torque; an angular stiffness per time",
        ),
        (
            'control = { kind = "computed_torque", kp = "1 N*m", kd = 1, trajectory = {'
            ' kind = "cubic", times = [0, 1], positions = { shoulder = [0, 1] } } }',
            "kp is '1 N*m', a torque; a stiffness per inertia is wanted, such as '100/s^2'",
        ),
        (MOTOR.format('"6 A"', 1, 1, 1), "voltage is '6 A', a current; a voltage"),
        (MOTOR.format(6, 1, '"1 s"', 1), "inductance is '1 s', a time; an inductance"),
        (
            EVENT.format('event = "impulse", at = 0.1, joint = { elbow = "1 N*s" }'),
            "'elbow' is '1 N*s', a momentum; an angular impulse is wanted",
        ),
        (
            EVENT.format('event = "impulse", at = 0.1, frame = "tip", linear = ["1 kg", 0, 0]'),
            "linear.x is '1 kg', a mass; an impulse is wanted, such as '3 N*s'",
        ),
        (
            EVENT.format('event = "when", when = "q_elbow - l1"'),
            "it adds 'q_elbow', a number without unit, and '-l1', a length",
        ),
    ],
)
def test_gains_motors_impulses_and_guards_have_dimensions(tmp_path, text, said):
    with pytest.raises(FormatError) as refused:
        read(written(tmp_path, f"until = 0.01\n{text}"))
    assert said in str(refused.value)


@pytest.mark.parametrize(
    "text",
    [
        PD.format('"5 N*m"', '"3 N*m*s/rad"'),
        MOTOR.format('"6 V"', '"2 ohm"', '"10 mH"', '"0.05 V*s/rad"'),
        EVENT.format('event = "when", when = "l1*q_elbow - 0.2"'),
        EVENT.format('event = "impulse", at = 0.1, joint = { elbow = "1 N*m*s" }'),
    ],
)
def test_gains_motors_impulses_and_guards_in_their_units_are_read(tmp_path, text):
    assert read(written(tmp_path, f"until = 0.01\n{text}")).until == 0.01


def test_prescribed_motion_and_locks(tmp_path):
    text = """until = "1 s"
[scenario.motion]
kind = "sine"
amplitude = { shoulder = "20 deg" }
frequency = "3 rad/s"
locked = ["elbow"]
"""
    asked = read(written(tmp_path, text))
    result = simulate(asked.mechanism, **asked.arguments)
    np.testing.assert_allclose(
        result.data["q"].values[:, 0], np.radians(20) * np.sin(3 * result.time), atol=1e-9
    )
    assert np.ptp(result.data["q"].values[:, 1]) < 1e-9


def test_events_and_stops(tmp_path):
    text = """until = "1 s"
limits = "stop"
restitution = 0.5
[[scenario.events]]
event = "impulse"
joint = { elbow = 0.5 }
at = "0.2 s"
[[scenario.events]]
event = "when"
when = "q_shoulder + 1"
name = "down"
"""
    asked = read(written(tmp_path, text))
    result = simulate(asked.mechanism, **asked.arguments)
    said = dict(zip(result.data["event"].values, result.data["event_time"].values))
    assert said["down"] == pytest.approx(
        np.interp(1, -result.data["q"].values[:, 0], result.time), abs=1e-2
    )
    assert said["an impulse strikes elbow"] == 0.2


def test_inverse_dynamics_along_a_run_gives_its_torques_back(tmp_path):
    asked = read("two_link_arm", until=0.9, output=0.005)
    run = simulate(asked.mechanism, **asked.arguments)
    found = along(asked.mechanism, run.save(tmp_path / "run.csv"), step=0.005)
    inner = slice(5, -5)  # the spline's ends are free
    np.testing.assert_allclose(
        found.data["tau"].values[inner], run.data["tau"].values[inner], atol=0.05
    )
    # of a natural spline, whose ends are not accelerated
    assert found.ledger.relative_energy_balance < 2e-3


def test_inverse_dynamics_has_a_balance_and_does_not_doubt_rows_that_are_far_apart():
    """Motors that move a pendulum along a polynomial do the work that its energy gains; a wrong
    mass would be seen.
    """
    m = zoo.pendulum(1)
    path = cubic([0.0, 1.0, 2.0], {m.joints[0].name: [0.0, 1.0, 0.3]})
    fine = along(m, path)
    error = fine.data["kinetic"] + fine.data["potential"] - fine.data["work"]
    assert (
        0.0 < np.ptp(error.values) < 1e-6 * float(fine.data["work"].max())
        and fine.ledger.verdict == ""
    )
    assert (
        fine.ledger.energy_balance == pytest.approx(float(np.abs(fine.data["energy_error"]).max()))
        and "far apart" not in fine.ledger.outcome
    )
    for step in (0.5, 1.0, 2.0):
        coarse = along(m, path, step).ledger
        assert coarse.verdict == "" and coarse.outcome.endswith(
            "too far apart for an energy balance"
        )


def test_inverse_dynamics_of_a_body_that_turns():
    """A symmetric top without torques: (A - C) cos(theta) precession = C spin; no forces come out,
    others with another spin.
    """
    top = Body("top", 1.0, (0, 0, 0), (1.0, 1.0, 2.0))
    m = Mechanism("top", [top], [Joint("base", "free", "ground", "top")], gravity=(0, 0, 0))

    def forces(spin):
        # q = turn about z by t, about x by 0.6, about z by spin t
        fast = 0.5 * (1 + spin)
        slow = 0.5 * (1 - spin)
        quaternion = {
            "qw": f"cos(0.3)*cos({fast}*t)",
            "qx": f"sin(0.3)*cos({slow}*t)",
            "qy": f"sin(0.3)*sin({slow}*t)",
            "qz": f"cos(0.3)*sin({fast}*t)",
        }
        path = function(
            {
                "base.x": "0",
                "base.y": "3*t",
                "base.z": "0",
                **{f"base.{k}": x for k, x in quaternion.items()},
            },
            [0, 2],
        )
        return along(m, path, 0.05)

    free = forces(-0.5 * np.cos(0.6))
    assert (
        np.abs(free.tau.values).max() < 1e-6
        and np.abs(np.linalg.norm(free.q.values[:, 3:], axis=1) - 1).max() < 1e-12
    )
    assert np.abs(forces(1.0).tau.values).max() > 0.5
    with pytest.raises(
        CatenaError, match="no column for 'base.x', 'base.y', 'base.z' of mechanism 'top'"
    ):
        along(m, function({f"base.q{k}": str(int(k == "w")) for k in "wxyz"}, [0, 1]))
    with pytest.raises(CatenaError, match="has length 0.* without changes of sign"):
        flips = {f"base.q{k}": [1, -1] if k == "w" else [0, 0] for k in "wxyz"}
        along(m, cubic([0, 1], {"base.x": [0, 0], "base.y": [0, 0], "base.z": [0, 0], **flips}))


def test_inverse_dynamics_of_a_closed_mechanism(tmp_path):
    path = tmp_path / "crank.csv"
    t = np.linspace(0, 1, 41)
    path.write_text("time,motor pin\n" + "\n".join(f"{x},{1.5 + 0.4 * x**2}" for x in t))
    asked = read("four_bar")
    found = along(asked.mechanism, path, step=0.1)
    tau = found.data["tau"].values
    assert np.abs(tau[:, 0]).max() > 0 and np.abs(tau[:, 1:]).max() == 0
    machine = found.machine
    a = machine.forward_dynamics(*(found.data[k].values for k in ("q", "v", "tau")))
    np.testing.assert_allclose(a, found.data["a"].values, atol=1e-6)


def test_a_trajectory_that_lacks_a_coordinate(tmp_path):
    (tmp_path / "p.csv").write_text("time,shoulder\n0,0\n1,1\n")
    with pytest.raises(CatenaError, match="no column for 'elbow' of mechanism 'two-link arm'"):
        along(catena.load("two_link_arm"), tmp_path / "p.csv")


def test_inverse_dynamics_takes_the_assembly_that_the_run_takes(tmp_path):
    """Two ways to put a four-bar together; the scenario's `near` says which."""
    text = (Path(catena.examples.__path__[0]) / "four_bar.toml").read_text()
    (tmp_path / "crank.csv").write_text("time,motor pin\n0,1.5707963267948966\n1,1.8\n")
    found = []
    for k, near in enumerate(
        (
            '"upper pin" = "-70 deg", "far pin" = "-90 deg"',
            '"upper pin" = "70 deg", "far pin" = "90 deg"',
        )
    ):
        path = tmp_path / f"{k}.toml"
        path.write_text(text.replace('"upper pin" = "-70 deg", "far pin" = "-90 deg"', near))
        asked = read(path)
        result = along(
            asked.mechanism,
            tmp_path / "crank.csv",
            step=0.5,
            near=scenario.near(path, asked.mechanism),
        )
        np.testing.assert_allclose(result.q.values[0], asked.q, atol=1e-8)
        found.append(asked.q)
    assert np.abs(found[0] - found[1]).max() > 0.5


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("../secret.csv", "in the folder of the scenario"),
        ("/etc/passwd", "in the folder of the scenario"),
        ("latin.csv", "is not UTF-8 text"),
        ("notes.txt", "a .csv file in the folder"),
        ("odd.csv", "columns are called 'time'"),
    ],
)
def test_a_csv_stands_beside_its_scenario(name, words, tmp_path):
    (tmp_path / "secret.csv").write_text("time,elbow\n0,0\n1,1\n")
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "latin.csv").write_bytes("time,elbow,größe\n0,0,0\n".encode("latin-1"))
    (folder / "odd.csv").write_text("x" * 5000 + "\n0\n1\n")
    (folder / "notes.txt").write_text("mine")
    (folder / "s.toml").write_text(
        'mechanism = "two_link_arm"\n[scenario]\nuntil = 1\ncontrol = { kind = "forces", table ='
        f' {{ kind = "csv", file = "{name}" }} }}\n'
    )
    with pytest.raises(CatenaError, match=words) as error:
        read(folder / "s.toml")
    assert len(str(error.value)) < 600


def test_a_csv_has_the_limit_of_all_files(tmp_path, monkeypatch):
    monkeypatch.setattr("catena.formats.files.MAX_FILE_SIZE", 100)
    (tmp_path / "p.csv").write_text("time,elbow\n" + "0,0\n" * 100)
    with pytest.raises(CatenaError, match="the file is larger than"):
        catena.trajectories.csv(tmp_path / "p.csv")
