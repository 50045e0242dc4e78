"""The texts that people read first: every block of the README runs, every link leads somewhere,
every source is known.
"""

from __future__ import annotations

import configparser
import os
import re
import shlex
from importlib import import_module
from pathlib import Path

import pytest

import catena
from catena import cli
from catena.equations.features import FEATURES
from catena.equations.formulations import formulations
from catena.machine import quantities
from catena.results import plotting
from catena.simulation import options
from catena.simulation.integrators.methods import METHODS
from catena.simulation.scenario.control import CONTROLLERS
from catena.simulation.scenario.motion import TRAJECTORIES
from catena.simulation.terms.stabilisation import STABILISERS

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
TEXTS = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "CHANGELOG.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs" / "extending").glob("*.md")),
]
SETUP = "python3 -m venv .venv && .venv/bin/pip install "


def blocks(language, text=README):
    """The code blocks of a language, plain ones and cells of notebooks."""
    fence = rf"^```(?:\{{code-cell\}} )?{language}\n(.*?)^```$"
    return re.findall(fence, text, re.MULTILINE | re.DOTALL)


def commands():
    """The lines of the sh blocks, without comments."""
    return [
        shlex.join(shlex.split(line, comments=True))
        for block in blocks("sh")
        for line in block.splitlines()
    ]


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    """A folder to work in, as a reader of the README has one."""
    before = Path.cwd()
    folder = tmp_path_factory.mktemp("readme")
    os.chdir(folder)
    yield folder
    os.chdir(before)


def test_python_blocks_and_catena_commands_run_in_their_order(desk, capsys):
    (desk / "arm.toml").unlink(missing_ok=True)  # other tests share the desk
    room: dict = {}
    for block in blocks("python"):
        exec(compile(block, "README.md", "exec"), room)
    assert room["M"].shape == (50, 200, 2, 2) and room["J"].shape == (50, 200, 6, 2)
    assert "tau_elbow" in capsys.readouterr().out
    ours = [command for command in commands() if command.startswith("catena ")]
    assert len(ours) >= 4
    for command in ours:
        with pytest.raises(SystemExit) as left:
            cli.main(shlex.split(command)[1:])
        assert not left.value.code, command
    assert (desk / "build" / "stanford_arm_inverse_dynamics.c").exists()


PAGES = [
    page
    for page in sorted((ROOT / "docs").glob("*.md"))
    if blocks("python", page.read_text(encoding="utf-8"))
]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_blocks_of_the_docs_run(page, desk, robots, capsys):
    room: dict = {}
    known = dict(quantities.QUANTITIES)
    try:
        for block in blocks("python", page.read_text(encoding="utf-8")):
            exec(compile(block, page.name, "exec"), room)
    finally:  # a page adds a quantity
        for name in quantities.QUANTITIES.keys() - known:
            del quantities.QUANTITIES[name]


@pytest.fixture
def robots(desk):
    """Files that the page on files speaks of, small ones."""
    link = (
        '<link name="{}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0"'
        ' ixz="0" iyz="0"/></inertial></link>'
    )
    joint = (
        '<joint name="pin" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 0'
        ' 1"/></joint>'
    )
    for name in ("solo12", "panda", "robot"):
        text = f'<robot name="{name}">{link.format("base")}{link.format("arm")}{joint}</robot>'
        (desk / f"{name}.urdf").write_text(text, encoding="utf-8")
    (desk / "robot_loops.toml").write_text("gravity = [0, 0, -1.62]\n", encoding="utf-8")
    catena.save(catena.load("two_link_arm"), desk / "arm.toml")


def test_the_docs_show_the_tables_of_questions_plots_and_run_options():
    for page, table_of in (
        ("questions.md", catena.analysis.catalogue.markdown),
        ("simulation.md", plotting.markdown),
        ("simulation.md", options.markdown),
    ):
        assert table_of() in (ROOT / "docs" / page).read_text(encoding="utf-8"), page


def test_the_docs_show_every_formulation_and_what_it_treats():
    text = (ROOT / "docs" / "formulations.md").read_text(encoding="utf-8")
    for f in formulations():
        assert f"| `{f.name}` | {f.unknowns} | {f.source} |" in text
    for feature in FEATURES:
        assert (
            f"| {feature} | " + " | ".join(f.treats(feature) for f in formulations()) + " |" in text
        )


@pytest.mark.parametrize(
    "family",
    [METHODS, CONTROLLERS, TRAJECTORIES, STABILISERS],
    ids=["integrators", "controllers", "trajectories", "stabilisers"],
)
def test_the_docs_name_every_member(family):
    text = (ROOT / "docs" / "simulation.md").read_text(encoding="utf-8")
    assert [name for name in family if f"`{name}`" not in text] == []


def test_the_first_screen_has_the_two_commands():
    first, second = re.findall(rf"^{re.escape(SETUP)}.*$", README, re.MULTILINE)
    assert README.index(second) < README.index("## ")
    assert (
        found := re.fullmatch(
            r"\. && \.venv/bin/catena run (\w+) --out results", first.removeprefix(SETUP)
        )
    )
    assert found[1] in catena.formats.examples()
    assert second.removeprefix(SETUP).startswith('".[test]" && .venv/bin/python -m pytest')


def test_ci_runs_the_readme_command_for_tests():
    (command,) = re.findall(r"^.*-m pytest.*$", README, re.MULTILINE)
    lines = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    assert any(line.strip().startswith(command) for line in lines)  # in an order of its own


def test_the_flow_is_one_sentence_everywhere():
    assert catena.__doc__
    (flow,) = re.findall(r"    (file or Python -> .*?)\n\n", catena.__doc__, re.DOTALL)
    for text in (README, (ROOT / "docs" / "index.md").read_text(encoding="utf-8")):
        assert " ".join(flow.split()) in " ".join(text.split())


@pytest.mark.parametrize("text", TEXTS, ids=lambda p: p.name)
def test_links_lead_somewhere(text):
    for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", text.read_text(encoding="utf-8")):
        assert target.startswith("https://") or (text.parent / target).exists(), target


def found(name: str):
    """A dotted name of catena, with the modules on its way imported."""
    value = catena
    for k, part in enumerate(parts := name.split(".")[1:]):
        if not hasattr(value, part):
            import_module(".".join(["catena", *parts[: k + 1]]))
        value = getattr(value, part)
    return value


@pytest.mark.parametrize("text", TEXTS, ids=lambda p: p.name)
def test_names_and_paths_that_are_written_exist(text):
    words = text.read_text(encoding="utf-8")
    if text.name != "CHANGELOG.md":  # history keeps its old names
        for name in set(re.findall(r"`(catena(?:\.\w+)+)", words)) - {"catena.analysis.NAME"}:
            assert found(name) is not None, name
        for path in re.findall(r"`((?:src|tests|docs|tools|benchmarks)/[\w./]+)`", words):
            assert (ROOT / path).exists(), path


def test_the_files_of_the_architecture_exist():
    words = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    paths = re.findall(r"\b((?:[a-z_]{3,}/)+(?:[a-z_]+\.py)?)", words)
    assert len(paths) > 60
    for path in paths:
        assert any(
            (ROOT / "src" / "catena" / folder / path).exists()
            for folder in ("", "..", "../..", "simulation", "equations")
        ), path
    rooms = configparser.ConfigParser()
    rooms.read(ROOT / ".importlinter")
    order = re.findall(r"[a-z]+", rooms["importlinter:contract:flow"]["layers"])
    listed = [
        name.strip("/").removesuffix(".py")
        for row in re.findall(r"^\| (`[a-z].*?) \|", words, re.M)
        for name in re.findall(r"`([a-z./]+)`", row)
    ]
    assert listed[: len(order)] == order


def test_every_source_that_is_cited_is_in_the_bibliography():
    key = re.compile(r"\[[A-Z][A-Za-z]+(?:19|20)\d\d[a-z]?\]")
    known = set(key.findall((ROOT / "docs" / "references.md").read_text(encoding="utf-8")))
    suffixes = {".py", ".toml", ".md"}
    files = [
        p
        for folder in ("src", "tests", "docs")
        for p in (ROOT / folder).rglob("*")
        if p.suffix in suffixes
    ]
    cited = {found: p for p in files for found in key.findall(p.read_text(encoding="utf-8"))}
    assert not {found: str(p) for found, p in cited.items() if found not in known}
