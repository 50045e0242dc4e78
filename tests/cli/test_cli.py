"""The command line: what it prints, how it fails, and that a command is a record in a registry."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest

from catena import __version__, cli, report
from catena.cli import registry
from catena.errors import CatenaError
from catena.formats import examples, load, save
from catena.registry import loaded

BOX = """<robot name="box">
  <link name="base"/>
  <link name="arm"><inertial><mass value="2"/><inertia ixx="{ixx}" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="[red]turn" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="2" effort="30" velocity="4"/></joint>
</robot>"""  # noqa: E501

FOUR_BAR = """
name = "four bar"
gravity = [0, -9.81, 0]
body = [
    { name = "crank", mass = 1, com = [0.5, 0, 0], inertia = [0, 0.1, 0.1] },
    { name = "coupler", mass = 1, com = [0.5, 0, 0], inertia = [0, 0.1, 0.1] },
    { name = "rocker", mass = 1, com = [0.5, 0, 0], inertia = [0, 0.1, 0.1] },
]
joint = [
    { name = "a", kind = "revolute", parent = "ground", child = "crank" },
    { name = "b", kind = "revolute", parent = "crank", child = "coupler", at = [1, 0, 0] },
    { name = "c", kind = "revolute", parent = "coupler", child = "rocker", at = [1, 0, 0] },
]
loop = [{ name = "d", kind = "revolute", parent = "ground", child = "rocker", at = [1.2, 0, 0], child_at = [1, 0, 0] }]
"""  # noqa: E501


@pytest.fixture(autouse=True)
def wide(monkeypatch):
    """A terminal on which no table has to fold."""
    monkeypatch.setenv("COLUMNS", "200")


def run(capsys, *arguments):
    """Exit status, stdout, stderr."""
    with pytest.raises(SystemExit) as left:
        cli.main([str(a) for a in arguments])
    out, err = capsys.readouterr()
    return left.value.code or 0, out, err


# --- info
@pytest.mark.parametrize("example", examples())
def test_info_of_every_example_ends_in_a_round_trip(capsys, example):
    status, out, err = run(capsys, "info", example)
    assert (status, err) == (0, "")
    difference = re.search(r"at 100 random states: largest relative difference (\S+)$", out.strip())
    assert difference and float(difference[1]) < 1e-9


def test_info_shows_what_the_two_link_arm_is(capsys):
    _, out, _ = run(capsys, "info", "two_link_arm")
    for text in (
        "2 bodies, 2 joints; nq 2, nv 2",
        "degrees of freedom 2",
        "total mass 10 kg",
        "gravity (0, -9.81, 0) m/s2",
        "planar, normal to z",
        "-2.61799 to 2.61799",
        "lc2",
        "tip",
    ):
        assert text in out


def test_info_shows_mimicry_sequences_and_every_coordinate(capsys):
    _, out, _ = run(capsys, "info", "every_joint")
    for text in ("-2 swing", "Rx Rz Dy", "floating.qw", "floating.wx", "10-13", "not planar"):
        assert text in out


def test_info_of_a_loop_counts_its_degrees_of_freedom(capsys, tmp_path):
    file = tmp_path / "four_bar.toml"
    file.write_text(FOUR_BAR)
    status, out, _ = run(capsys, "info", file)
    assert status == 0
    assert "degrees of freedom 1: 2 of 5 constraint rows are independent" in out
    assert float(out.split()[-1]) < 1e-10


def test_info_counts_the_rows_of_speeds(capsys):
    """A disc that rolls has six speeds and three rows."""
    status, out, _ = run(capsys, "info", "rolling_disc")
    assert status == 0 and "degrees of freedom 3: 3 of 3 constraint rows are independent" in out


def test_info_as_json(capsys):
    status, out, _ = run(capsys, "info", "every_joint", "--json")
    told = json.loads(out)
    assert status == 0
    assert (told["nq"], told["nv"], len(told["coordinates"]), len(told["speeds"])) == (
        27,
        25,
        27,
        25,
    )
    assert told["joints"][0]["lower"] == [None] * 6
    assert next(j for j in told["joints"] if j["name"] == "gear")["mimic"]["joint"] == "swing"
    assert told["round_trip"]["difference"] < 1e-9
    assert told["mobility"]["degrees_of_freedom"] == 25


def test_info_of_a_urdf_floating_in_another_gravity(capsys, tmp_path):
    file = tmp_path / "box.urdf"
    file.write_text(BOX.format(ixx=1))
    status, out, _ = run(capsys, "info", file, "--floating", "--gravity", "0", "0", "-1.62")
    assert status == 0
    assert "gravity (0, 0, -1.62) m/s2" in out
    assert "degrees of freedom 7" in out
    assert "[red]turn" in out  # a name is a name, not mark-up


def test_info_tells_doubts(capsys, tmp_path):
    file = tmp_path / "box.urdf"
    file.write_text(BOX.format(ixx=9))
    status, out, err = run(capsys, "info", file)
    assert (status, err) == (0, "")
    assert "breaks the triangle inequality" in out


def test_info_says_why_there_is_no_round_trip(capsys, tmp_path):
    file = tmp_path / "ghost.toml"
    file.write_text("""
        body = [{ name = "rod", mass = 1, com = [0, 0, 1], inertia = [1, 1, 1] },
                { name = "ghost", mass = 0, com = [0, 0, 0], inertia = [0, 0, 0] }]
        joint = [{ name = "pin", kind = "revolute", parent = "ground", child = "rod" },
                 { name = "haunt", kind = "revolute", parent = "rod", child = "ghost" }]
    """)
    status, out, _ = run(capsys, "info", file)
    assert status == 0
    assert "not possible" in out.splitlines()[-1] and "'haunt'" in out.splitlines()[-1]


def test_names_cannot_move_the_cursor(capsys, tmp_path):
    file = tmp_path / "sly.toml"
    file.write_text(FOUR_BAR.split("loop")[0].replace('"crank"', r'"\u001b[2Jcrank"'))
    _, out, _ = run(capsys, "info", file)
    assert "\x1b[2J" not in out and r"\x1b[2Jcrank" in out


# --- examples, equations, export
def test_examples_are_listed_with_a_sentence_each(capsys):
    status, out, _ = run(capsys, "examples")
    assert status == 0
    for name in examples():
        assert re.search(rf"^{name} +\S+ \S+", out, re.MULTILINE), name


def test_an_example_can_be_printed(capsys, tmp_path):
    _, out, _ = run(capsys, "examples", "two_link_arm")
    mine = tmp_path / "mine.toml"
    mine.write_text(out)
    assert run(capsys, "info", mine)[0] == 0


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("text", "+ g*lc2*m2*cos(elbow + shoulder) = tau_elbow"),
        ("latex", r"\begin{align*}"),
        ("python", "def acceleration(t, q, v, tau"),
        ("c", "#include <math.h>"),
    ],
)
def test_equations_in_every_form(capsys, form, text):
    status, out, _ = run(capsys, "equations", "two_link_arm", "--by", "lagrange", "--form", form)
    assert status == 0
    assert text in out


def test_export_writes_source_and_header(capsys, tmp_path):
    out = tmp_path / "new" / "folder"
    kernels = ("--kernel", "inverse_dynamics", "--kernel", "mass_matrix")
    status, said, _ = run(capsys, "export", "stanford_arm", *kernels, "--out", out)
    assert status == 0
    wanted = [
        f"stanford_arm_{kernel}.{suffix}"
        for kernel in ("inverse_dynamics", "mass_matrix")
        for suffix in "ch"
    ]
    assert [line.rpartition("/")[2] for line in said.split()] == wanted
    assert sorted(p.name for p in out.iterdir()) == sorted(wanted)


def test_export_of_a_frame_with_a_wrench(capsys, tmp_path):
    status, _, _ = run(
        capsys,
        "export",
        "stanford_arm",
        "--kernel",
        "jacobian",
        "--frame",
        "tip",
        "--out",
        tmp_path,
    )
    assert status == 0 and (tmp_path / "stanford_arm_jacobian_tip.h").exists()
    status, _, _ = run(
        capsys,
        "export",
        "stanford_arm",
        "--kernel",
        "bias",
        "--wrench",
        "tip:world",
        "--out",
        tmp_path,
    )
    assert "at 'tip', in world axes" in (tmp_path / "stanford_arm_bias.h").read_text()


def test_export_writes_nothing_when_one_kernel_is_refused(capsys, tmp_path):
    status, _, err = run(
        capsys,
        "export",
        "stanford_arm",
        "--kernel",
        "bias",
        "--kernel",
        "bais",
        "--out",
        tmp_path / "c",
    )
    assert status == 2
    assert "no kernel 'bais'" in err and "Did you mean 'bias'?" in err
    assert not (tmp_path / "c").exists()


# --- how it fails
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["info", "two_link_amr"], "Did you mean 'two_link_arm'?"),
        (["info", "no/such/file.toml"], "no/such/file.toml: there is no such file"),
        (["info", "arm.stl"], "the suffix '.stl' is not known; known are .toml, .urdf"),
        (["info", "."], "known are .toml, .urdf"),
        (["examples", "nope"], "no example 'nope' in catena; examples are: "),
        (["equations", "two_link_arm", "--by", "kanes"], "Did you mean 'kane'?"),
        (["equations", "two_link_arm", "--form", "word"], "'word' is not one of"),
        (
            ["export", "two_link_arm", "--kernel", "pose", "--out", "x"],
            "kernel 'pose' takes a frame; found none",
        ),
        (["inof"], "no command 'inof' in catena"),
        (["info"], "Missing argument 'FILE'"),
        (
            ["export", "two_link_arm", "--kernel", "jacobian", "--out", "x"],
            "takes a frame; found none. Name it with --frame; frames and bodies are: tip,",
        ),
        (["info", "two_link_arm", "--gravity", "0", "x", "0"], "Invalid value for '--gravity'"),
    ],
)
def test_bad_input_is_one_message_and_status_two(capsys, arguments, message):
    status, out, err = run(capsys, *arguments)
    assert status == 2
    assert message in err and "Traceback" not in err and out == ""


def test_a_name_without_a_suffix_finds_the_file_beside(tmp_path, monkeypatch):
    """As a reader of the README expects who saved double_pendulum.toml."""
    monkeypatch.chdir(tmp_path)
    save(load("two_link_arm").with_(name="mine"), "my_arm.toml")
    assert load("my_arm").name == "mine"
    (tmp_path / "two_link_arm.toml").write_text("")
    assert load("two_link_arm").name != ""  # a built-in example of that name comes first


def test_every_fault_of_a_file_at_once(capsys, tmp_path):
    file = tmp_path / "bad.toml"
    file.write_text(
        'body = [{ name = "rod", mass = "-1 kg", com = [0, 0, 0], inertia = [1, 1, 9] }]\n'
    )
    status, _, err = run(capsys, "info", file)
    assert status == 2
    assert err.startswith(f"catena: {file}: ") and err.count("\n  - ") >= 2


def test_interruption_is_one_line_and_status_130(capsys, monkeypatch):
    def interrupt(mechanism):
        raise KeyboardInterrupt

    monkeypatch.setattr(report, "describe", interrupt, raising=False)
    assert run(capsys, "info", "two_link_arm") == (130, "", "catena: interrupted\n")


def test_version_and_help(capsys):
    assert run(capsys, "--version") == (0, f"catena {__version__}\n", "")
    for arguments in ((), ("-h",), *((name, "--help") for name in cli.COMMANDS)):
        _, out, err = run(capsys, *arguments)
        assert "Usage:" in out + err and "Traceback" not in err


@pytest.fixture
def greeting():
    """A command from outside the package."""

    def greet(name: str, loud: bool = False) -> None:
        """Greet somebody."""
        if name == "nobody":
            raise CatenaError("there is nobody to greet")
        print(f"hello {name}".upper() if loud else f"hello {name}")

    yield registry.register(registry.Command("greet", greet, "Greet somebody in one line."))
    del registry.COMMANDS["greet"]


def test_a_command_from_outside_is_listed_and_runs(capsys, greeting):
    """A record in the registry is all that a command needs; nothing in the package names it."""
    with pytest.raises(CatenaError, match="command 'greet' is in the registry already"):
        registry.register(greeting)
    assert re.search(r"greet +Greet somebody in one line\.", run(capsys, "--help")[1])
    assert "--loud" in run(capsys, "greet", "--help")[1]
    assert run(capsys, "greet", "you", "--loud") == (0, "HELLO YOU\n", "")
    assert run(capsys, "greet", "nobody") == (2, "", "catena: there is nobody to greet\n")


def test_help_loads_no_command_and_no_kernel():
    heavy = (
        "numpy",
        "numba",
        "casadi",
        "xarray",
        "matplotlib",
        "sympy",
        "catena.model",
        "catena.cli.run",
    )
    code = f"""
import sys
from catena.cli import main
try:
    main(["--help"])
finally:
    print([m for m in {heavy!r} if m in sys.modules], file=sys.stderr)"""
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stderr.strip() == "[]" and "Simulate a mechanism" in found.stdout


def test_every_command_says_in_its_docstring_what_it_does():
    for name, command in cli.COMMANDS.items():
        assert command.name == name and command.doc.endswith(".") and len(command.doc) < 72
        assert (loaded(command.function).__doc__ or "").strip()


def test_the_reader_of_a_pipe_may_leave():
    script = "from catena.cli import main; main(['info', 'every_joint'])"
    run = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert run.stdout and run.stderr
    run.stdout.readline()
    run.stdout.close()
    assert "Traceback" not in run.stderr.read()
    run.wait()
