"""Worksheets: problems with a sketch, fields that grade in the page, notebooks, exam sheets."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import catena
from catena import CatenaError
from catena.cli import app
from catena.equations.formulations import ALL_FORMULATIONS, derive
from catena.teaching.worksheets import PROBLEMS, answer_key, free_bodies, sketch, worksheet

GRADER = Path(catena.__file__).parent / "teaching" / "worksheets" / "grader.js"


@pytest.fixture(scope="module")
def crane():
    return worksheet(derive(PROBLEMS["crane"].load(), "lagrange"), "crane")


def test_there_are_forty_problems_with_several_methods_each() -> None:
    assert len(PROBLEMS) >= 40
    for problem in PROBLEMS.values():
        assert len(problem.methods) >= 2 and set(problem.methods) <= set(ALL_FORMULATIONS)
        assert problem.text.endswith(".") and problem.source
        assert problem.load().bodies


@pytest.mark.parametrize("name", ["spring_mass", "two_discs", "upright_disc"])
def test_a_problem_has_a_worksheet_by_every_method(name: str) -> None:
    for by in PROBLEMS[name].methods:
        sheet = worksheet(derive(PROBLEMS[name].load(), by), name)
        assert sheet.derivation.error < 1e-9 and "________" in sheet.write()


def test_the_statement_has_zero_and_sense_of_every_coordinate(crane) -> None:
    said = "\n".join(crane.given)
    assert "theta: the angle of rope about z" in said
    assert "positive counter-clockwise seen from the tip of z" in said
    assert "l: the displacement of load along -y, zero at (0, 0, 0) of rope" in said
    assert "Body rope has no mass." in said and "Gravity g acts along -y." in said


def test_a_sheet_does_not_show_its_solutions_and_the_other_does(crane) -> None:
    solved = crane.write(solutions=True)
    result = "(M + m)*x'"
    assert result in solved
    for form in ("text", "latex", "html", "notebook"):
        assert result not in crane.write(form) and "m*cos" not in crane.write(form)
    with pytest.raises(CatenaError, match="forms are: text, latex, html, notebook"):
        crane.write("word")


def test_the_notebook_grades(crane, capsys) -> None:
    cells = [c["source"] for c in json.loads(crane.write("notebook"))["cells"]]
    code = [c for c in cells if "import catena" in c or c.startswith("#  ") or "check(" in c]
    world: dict[str, object] = {}
    exec(next(c for c in code if "import catena" in c), world)
    line = next(c for c in code if 'check("1.2"' in c)
    exec(line, world)
    exec(line.replace('""', '"x + l*sin(theta), -l*cos(theta)"'), world)
    exec(line.replace('""', '"x - l*sin(theta), -l*cos(theta)"'), world)
    said = capsys.readouterr().out
    assert said.startswith("to be filled in\nright\nnot yet right")


def test_the_exam_sheet_is_balanced(crane) -> None:
    for solutions in (False, True):
        source = crane.write("latex", solutions)
        assert source.count("{") == source.count("}")
        assert source.count(r"\begin{") == source.count(r"\end{")
    assert r"\begin{tikzpicture}" in crane.write("latex")


def test_an_arc_begins_at_zero_and_ends_at_the_body() -> None:
    m = catena.load("pendulum")
    arc = next(x for x in sketch(m).marks if x.kind == "arrow" and x.text == "pivot")
    link = next(x for x in sketch(m).marks if x.kind == "link")
    first, last = arc.points[0] / np.linalg.norm(arc.points[0]), arc.points[-1]
    assert np.allclose(first, [0, -1]) and arc.points[-1][0] > 0  # hangs; counter-clockwise
    assert np.cross([*last, 0], [*link.points[1], 0])[2] == pytest.approx(0, abs=1e-12)


def test_loops_of_a_sketch_are_closed() -> None:
    marks = sketch(catena.load("four_bar")).marks
    pins = [x.points[0] for x in marks if x.kind in ("pin", "ground")]
    links = np.vstack([x.points for x in marks if x.kind == "link"])
    for pin in pins:
        assert np.linalg.norm(links - pin, axis=1).min() < 1e-6


def test_free_bodies_have_the_forces_of_the_steps() -> None:
    m = catena.load("double_pendulum")
    drawn = {x.text for x in free_bodies(m).marks if x.kind == "arrow"}
    steps = derive(m, "newton_euler").steps().text()
    for name in ("Fx_theta1", "Fy_theta1", "Fx_theta2", "Fy_theta2"):
        assert name in drawn and name in steps
    assert {"-Fx_theta2", "-Fy_theta2", "m g"} <= drawn


ANSWERS = {  # answers to lines of the crane by lagrange, and whether they are right
    ("1.2", "x + l sin θ, -l cos θ"): True,
    ("1.2", r"\begin{pmatrix} x + l\sin\theta \\ -l\cos\theta \\ 0 \end{pmatrix}"): True,
    ("1.2", "x - l*sin(theta), -l*cos(theta)"): False,
    ("2.2", "d/dt(x + l*sin(theta)), -d/dt(l*cos(theta)), 0"): True,
    ("4.1", "7 - m*g*l*cos(theta)"): True,
    ("4.1", "m*g*(1 - l)*cos(theta)"): False,
    ("5.1", "l*m*(l*theta' + x'*cos(theta))"): False,
    ("8.1", "2*(d/dt((M+m)*x' + m*l*theta'*cos(theta) + m*l'*sin(theta)) - tau_x) = 0"): True,
    ("8.1", "x*(d/dt((M+m)*x' + m*l*theta'*cos(theta) + m*l'*sin(theta)) - tau_x) = 0"): False,
    ("8.1", "d/dt((M+m)*x' + m*l*theta'*cos(theta) + 1.000001*m*l'*sin(theta)) = tau_x"): False,
}


@pytest.mark.skipif(shutil.which("node") is None, reason="node runs the script of the page")
def test_the_page_grades_as_python_does(crane, tmp_path) -> None:
    from catena.teaching.derivation import grade

    asked = [[number, answer] for number, answer in ANSWERS]
    (tmp_path / "asked.json").write_text(json.dumps([answer_key(crane.derivation), asked]))
    script = (
        f"const {{grade}} = require({json.dumps(str(GRADER))});"
        f"const [key, asked] = JSON.parse(require('fs').readFileSync('{tmp_path}/asked.json'));"
        "console.log(JSON.stringify(asked.map(([n, a]) => grade(key, n, a))));"
    )
    out = subprocess.run(["node", "-e", script], capture_output=True, text=True, check=True).stdout
    found = [x["right"] for x in json.loads(out)]
    assert found == list(ANSWERS.values())
    assert [grade(crane.derivation, *x).right for x in asked] == found


def test_the_page_needs_nothing_else(crane) -> None:
    page = crane.write("html")
    assert not re.search(r"""(?:src|href)=["'](?!data:)""", page) and "<svg" in page
    assert page.count('class="line"') == sum(len(step.lines) for step in crane.derivation)


def test_the_command_line(tmp_path) -> None:
    run = CliRunner().invoke
    listed = run(app, ["worksheet", "--list"])
    assert listed.exit_code == 0 and "elastic_pendulum" in listed.output
    sheet = run(app, ["worksheet", "spring_mass"])
    assert "a block" in sheet.output.lower() and "________" in sheet.output
    for suffix in ("html", "ipynb", "tex"):
        out = tmp_path / f"sheet.{suffix}"
        assert run(app, ["worksheet", "spring_mass", "-o", str(out)]).exit_code == 0
        assert out.stat().st_size > 1000
    assert run(app, ["grade", "spring_mass", "3.1", "m*x'^2/2"]).output.strip() == "right"
