"""What `run`, `inverse`, `info` and `check` take besides a file: parameters, coordinates, gravity,
companions, numbers with commas.
"""

from __future__ import annotations

import io
import json

import numpy as np
import pandas as pd
import pytest

import catena
from catena import cli

PENDULUM = """<robot name="p"><link name="base"/><link name="bob"><inertial><origin xyz="0 0 -.5"/><mass value="2"/>
<inertia ixx=".1" iyy=".1" izz=".1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="pin" type="continuous"><parent link="base"/><child link="bob"/><axis xyz="0 1 0"/></joint></robot>"""  # noqa: E501


@pytest.fixture
def catch(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def call(*words):
        with pytest.raises(SystemExit) as left:
            cli.main(list(words))
        out, err = capsys.readouterr()
        return left.value.code or 0, out, err

    return call


def test_info_at_other_parameters_and_coordinates(catch):
    code, out, _ = catch(
        "info", "triple_pendulum", "--set", "m1=3 kg", "--q", "pin1=90 deg", "--json"
    )
    found = json.loads(out)
    m = catena.load("triple_pendulum", parameters={"m1": 3.0})
    machine = catena.compile(m)
    q = machine.neutral()
    q[0] = np.pi / 2
    assert code == 0 and found["parameters"]["m1"] == 3.0
    np.testing.assert_allclose(
        list(found["state"]["holding"].values()), machine.gravity(q), atol=1e-12
    )
    assert found["state"]["q"]["pin1"] == pytest.approx(np.pi / 2)


def test_info_and_check_as_commas(catch):
    code, out, _ = catch("info", "two_link_arm", "--csv")
    assert code == 0 and "bodies\nname,mass (kg)" in out
    code, out, _ = catch(
        "check",
        "two_link_arm",
        "--states",
        "2",
        "--no-run",
        "--csv",
        "--gravity",
        "0",
        "0",
        "0",
        "--q",
        "elbow=0.3",
    )
    table = pd.read_csv(io.StringIO(out))
    assert code == 0 and "recursive" in set(table["formulation"])


def test_options_of_readers(catch, tmp_path):
    (tmp_path / "m.xml").write_text(
        '<mujoco><worldbody><geom type="plane" size="1 1 1"/><body name="ball" pos="0 0'
        ' 1"><freejoint/><geom size=".1"/></body></worldbody></mujoco>'
    )
    code, out, err = catch(
        "info",
        "m.xml",
        "--mapping",
        "--json",
        "--option",
        "contacts=true",
        "--option",
        f"within={tmp_path}",
    )
    assert code == 0, err
    assert {e["outcome"] for e in json.loads(out) if e["element"] == "contact"} == {"approximated"}
    assert "no option 'contact'" in catch("info", "m.xml", "--option", "contact=true")[2]


def test_a_run_with_everything(catch, tmp_path):
    (tmp_path / "p.urdf").write_text(PENDULUM)
    (tmp_path / "more.toml").write_text(
        '[[frame]]\nname = "tip"\nbody = "bob"\nat = [0, 0, -1]\n[[joint]]\nname = "pin"\ndamping ='
        " 0.3\n"
    )
    code, _, err = catch(
        "run",
        "p.urdf",
        "--until",
        "0.2",
        "--q",
        "pin=0.4",
        "--gravity",
        "0",
        "0",
        "-1.6",
        "--companion",
        "more.toml",
        "--csv",
        "--no-pictures",
        "--out",
        "o",
    )
    assert code == 0, err
    table = pd.read_csv(tmp_path / "o" / "results.csv")
    m = catena.load(tmp_path / "p.urdf", gravity=(0, 0, -1.6), companion=tmp_path / "more.toml")
    again = catena.simulate(m, q={"pin": 0.4}, until=0.2)
    assert table["q pin"].iloc[-1] == pytest.approx(again.data["q"].values[-1, 0], abs=1e-8)


def test_inverse_with_wrenches_and_coordinates_that_rest(catch, tmp_path):
    """A force at a point of the hand, told by a table, is the force of virtual work."""
    t = np.linspace(0, 1, 11)
    pd.DataFrame({"time": t, "shoulder": 0.3 * t}).to_csv(tmp_path / "path.csv", index=False)
    force = np.array([1.0, 2.0, 3.0])
    point = np.array([0.5, 0.1, 0.2])
    columns = {f"fore.f{a}": np.full(11, x) for a, x in zip("xyz", force)} | {
        f"fore.p{a}": np.full(11, x) for a, x in zip("xyz", point)
    }
    pd.DataFrame({"time": t, **columns}).to_csv(tmp_path / "grf.csv", index=False)
    plain, pushed = (
        catch(
            "inverse",
            "two_link_arm",
            "--trajectory",
            "path.csv",
            "--q",
            "elbow=30 deg",
            "--step",
            "0.5",
            "--csv",
            *more,
        )
        for more in ((), ("--wrenches", "grf.csv"))
    )
    assert plain[0] == pushed[0] == 0, (plain[2], pushed[2])
    tables = [pd.read_csv(io.StringIO(x[1])) for x in (plain, pushed)]
    machine = catena.compile(catena.load("two_link_arm"))
    for row, other in zip(tables[0].itertuples(), tables[1].to_dict("records")):
        q = np.array([tables[0]["q shoulder"][row.Index], tables[0]["q elbow"][row.Index]])
        J = machine.jacobian(q, "fore")
        arm = point - machine.pose(q, "fore")[:3, 3]
        tau = J[:3].T @ np.cross(arm, force) + J[3:].T @ force
        ours = [tables[0][f"tau {n}"][row.Index] - other[f"tau {n}"] for n in ("shoulder", "elbow")]
        np.testing.assert_allclose(ours, tau, atol=1e-10)


def test_a_run_is_pushed_by_a_table(tmp_path):
    """A free ball under a force that grows linearly and ends: speed and spin in closed form."""
    from catena.simulation.control.wrenches import wrenches

    ball = catena.Mechanism(
        "ball",
        [catena.Body("b", 2.0, (0, 0, 0), (0.1, 0.1, 0.1))],
        [catena.Joint("j", "free", "ground", "b")],
        gravity=(0, 0, 0),
    )
    pd.DataFrame(
        {
            "time": [0, 1],
            "b.fx": [0, 4],
            "b.fy": [0, 0],
            "b.fz": [0, 0],
            "b.tx": [0, 0],
            "b.ty": [0, 0],
            "b.tz": [0.2, 0.2],
        }
    ).to_csv(tmp_path / "w.csv", index=False)
    run = catena.simulate(
        ball, until=2.0, control=wrenches(tmp_path / "w.csv"), tolerance=1e-11, largest_step=0.05
    )
    v = run.data["v"].values[-1]
    np.testing.assert_allclose(v, [1.0, 0, 0, 0, 0, 2.0], atol=1e-7)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("info", "two_link_arm", "--set", "l1"), "NAME=VALUE"),
        (("info", "triple_pendulum", "--set", "m9=1"), "no parameter 'm9'"),
        (("info", "triple_pendulum", "--set", "m1=1", "--set", "m1=2"), "twice"),
        (("info", "triple_pendulum", "--set", "m1=1 parsec2"), "parsec2"),
        (("info", "two_link_arm", "--q", "elbw=1"), "Did you mean 'elbow'"),
        (("run", "two_link_arm", "--q", "elbow=1 kg", "--until", "1"), "elbow"),
        (("run", "two_link_arm", "--initial", "home", "--until", "1"), "no state 'home'"),
        (("run", "two_link_arm", "--companion", "none.toml"), "there is no such file"),
    ],
)
def test_what_is_wrong_is_said_in_a_line(catch, words, said):
    code, _, err = catch(*words)
    assert code == 2 and said in err


def test_wrong_tables_of_wrenches_are_refused(catch, tmp_path):
    pd.DataFrame({"time": [0, 1], "shoulder": [0, 1], "elbow": [0, 1]}).to_csv(
        tmp_path / "path.csv", index=False
    )
    for columns, said in (
        ({"fore.gx": [0, 1]}, "called FRAME.fx"),
        ({"fore.fx": [0, 1]}, "belong together"),
        ({"hnd.fx": [0, 1], "hnd.fy": [0, 1], "hnd.fz": [0, 1]}, "no frame 'hnd'"),
    ):
        pd.DataFrame({"time": [0, 1], **columns}).to_csv(tmp_path / "w.csv", index=False)
        code, _, err = catch(
            "inverse", "two_link_arm", "--trajectory", "path.csv", "--wrenches", "w.csv", "--csv"
        )
        assert code == 2 and said in err


def test_the_shell_completes_commands_and_examples(monkeypatch, capsys):
    from catena.cli._reading import _completed

    assert "triple_pendulum" in _completed("trip")
    monkeypatch.setenv("_CATENA_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "catena inv")
    monkeypatch.setenv("COMP_CWORD", "1")
    with pytest.raises(SystemExit):
        cli.main([])
    assert "inverse" in capsys.readouterr().out


def test_charts_of_turns(catch):
    """[Passerello1972] figure 4: the axis of a turn is a line, the angle below it."""
    code, out, _ = catch("info", "gyroscope", "--chart")
    first = out.splitlines()
    assert code == 0 and first[0] == "outer pin: ground -> outer"
    assert "---" in first[3] and first[4].strip() == "outer pin" and first[5].strip() == "2/1"


def test_derive_in_absolute_angles_and_by_dependent_speeds(catch):
    words = ("derive", "triple_pendulum", "--coordinates", "absolute")
    code, out, _ = catch(*words, "--by", "lagrange")
    assert code == 0 and "measured from the ground" in out and "= tau_pin1 - tau_pin2" in out
    code, _, err = catch(*words, "--by", "kane")
    assert code and "kane has no such option; lagrange, hamilton have it" in err
    code, out, _ = catch("derive", "knife_edge", "--by", "kane", "--dependent", "plane.y")
    assert code == 0 and "plane.x' = u1" in out
    code, _, err = catch("derive", "knife_edge", "--by", "kane", "--dependent", "plane.q")
    assert code and "no speed 'plane.q'" in err and "plane.angle" in err


def test_latex_files_are_documents_unless_a_fragment_is_asked_for(catch):
    for words, whole in (((), True), (("--fragment",), False)):
        code, _, _ = catch("derive", "pendulum", "--by", "kane", "-o", "x.tex", *words)
        with open("x.tex", encoding="utf-8") as file:
            text = file.read()
        assert code == 0 and text.startswith(r"\documentclass") == whole
        assert text.rstrip().endswith(r"\end{document}") == whole
