"""The texts that people read first: every block of the README runs, every link leads somewhere, every source is known."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path

import pytest

import catena
from catena import cli
from catena.equations.formulations.capabilities import FEATURES, table

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
TEXTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]
SETUP = "python3 -m venv .venv && .venv/bin/pip install "


def blocks(language, text=README):
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def commands():
    """The lines of the sh blocks, without comments."""
    return [shlex.join(shlex.split(line, comments=True)) for block in blocks("sh") for line in block.splitlines()]


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    """A folder to work in, as a reader of the README has one."""
    before, folder = Path.cwd(), tmp_path_factory.mktemp("readme")
    os.chdir(folder)
    yield folder
    os.chdir(before)


def test_python_blocks_and_catena_commands_run_in_their_order(desk, capsys):
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


@pytest.mark.parametrize("page", ["algebra.md", "flexible.md", "formulations.md", "questions.md", "simulation.md"])
def test_python_blocks_of_the_docs_run(page, desk, capsys):
    room: dict = {}
    for block in blocks("python", (ROOT / "docs" / page).read_text(encoding="utf-8")):
        exec(compile(block, page, "exec"), room)


def test_the_docs_show_the_capability_table():
    text = (ROOT / "docs" / "formulations.md").read_text(encoding="utf-8")
    for k, feature in enumerate(FEATURES):
        assert f"| {feature} | " + " | ".join(row[k + 1] for row in table()) + " |" in text


def test_the_first_screen_has_the_two_commands():
    first, second = re.findall(rf"^{re.escape(SETUP)}.*$", README, re.MULTILINE)
    assert README.index(second) < README.index("## ")
    assert (found := re.fullmatch(r"\. && \.venv/bin/catena run (\w+) --out results", first.removeprefix(SETUP)))
    assert found[1] in catena.formats.examples()
    assert second.removeprefix(SETUP).startswith('".[test]" && .venv/bin/python -m pytest')


def test_ci_runs_the_readme_command_for_tests():
    (command,) = re.findall(r"^.*-m pytest.*$", README, re.MULTILINE)
    assert command in (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()


def test_the_flow_is_one_sentence_everywhere():
    assert catena.__doc__
    (flow,) = re.findall(r"^    (file or Python -> .*)$", catena.__doc__, re.MULTILINE)
    for text in (README, (ROOT / "docs" / "index.md").read_text(encoding="utf-8")):
        assert f"    {flow}\n" in text


@pytest.mark.parametrize("text", TEXTS, ids=lambda p: p.name)
def test_links_lead_somewhere(text):
    for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", text.read_text(encoding="utf-8")):
        assert target.startswith("https://") or (text.parent / target).exists(), target


def test_every_source_that_is_cited_is_in_the_bibliography():
    key = re.compile(r"\[[A-Z][A-Za-z]+(?:19|20)\d\d[a-z]?\]")
    known = set(key.findall((ROOT / "docs" / "references.md").read_text(encoding="utf-8")))
    suffixes = {".py", ".toml", ".md"}
    files = [p for folder in ("src", "tests", "docs") for p in (ROOT / folder).rglob("*") if p.suffix in suffixes]
    cited = {found: p for p in files for found in key.findall(p.read_text(encoding="utf-8"))}
    assert not {found: str(p) for found, p in cited.items() if found not in known}
