"""Reports: what they say of closed loops, flexible bodies, large robots and files without a
scenario; their errors.
"""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

import catena
from catena.cli import main
from catena.equations.readable.mathml import mathml
from catena.errors import CatenaError
from catena.report import chapters, printed
from catena.report.blocks import Cells, Formulas, Paragraph, Picture
from catena.report.chapters import CHAPTERS, Chapter
from catena.report.document import report
from catena.report.subject import Subject
from catena.simulation.scenario.read import read
from robots import urdf


def subject(name, **changes) -> Subject:
    return Subject(read(name, otherwise={"until": 0.1}, **changes), str(name), states=2)


@pytest.fixture(scope="module")
def four_bar(tmp_path_factory):
    """The page of a closed loop, and its subject."""
    s = subject("four_bar", until=0.2)
    return s, report(s, tmp_path_factory.mktemp("report") / "four_bar.html").read_text(
        encoding="utf-8"
    )


def test_everything_of_a_closed_loop_stands_on_one_page(four_bar):
    s, page = four_bar
    # it needs nothing else
    assert "<script" not in page and not re.search(r'(src|href)="(?!data:|#)', page)
    for title in (
        "The mechanism",
        "Parameters and parts",
        "Mobility",
        "Equations of motion",
        "Certificate",
        "Modes",
        "A run",
    ):
        assert f"<h2>{title}</h2>" in page
    assert (
        "1 degree of freedom. 3 speeds, 5 constraint rows (5 of loops), 2 of them independent."
        in page
    )
    assert "The formulations agree." in page and "<td>near pin</td><td>rotation x</td>" in page
    assert f'<td class="number">{s.mechanism.parameters["crank"]:g}</td>' in page
    assert (
        page.count("<img") == 2
        and page.count("<svg") == 2
        and "@media print" in page
        and "doubt>" not in page
    )
    hertz = catena.modes(s.machine, catena.equilibrium(s.machine, s.start)).hertz[0]
    assert f'<td class="number">{hertz:.6g}</td>' in page
    assert f"{s.result.ledger.steps} taken" in page


def test_equations_are_mathml_of_words_and_lines_that_fit(four_bar):
    _, page = four_bar
    lines = re.findall(r"<math.*?</math>", page, re.DOTALL)
    assert len(lines) > 10 and all(ElementTree.fromstring(x).tag.endswith("math") for x in lines)
    text = mathml(
        r"\begin{align*}"
        + "\n"
        + r"& "
        + " + ".join(rf"\frac{{a_{{{k}}}}}{{b}} x_{{{k}}}" for k in range(30))
        + " = 0\n"
        + r"\end{align*}",
        60,
    )
    assert text.count('<div class="equation') > 2  # broken at its sums


def test_large_equations_are_counted_and_a_free_motion_is_said(monkeypatch):
    s = subject(urdf("ur5"))
    monkeypatch.setattr(chapters, "MAX_PRINTED_OPERATIONS", 100)
    said = CHAPTERS["equations"].blocks(s)
    assert (
        isinstance(said[0], Paragraph)
        and "too large to be read: by lagrange they have" in said[0].text
    )
    assert (
        not any(isinstance(x, Formulas) for x in said)
        and isinstance(said[1], Cells)
        and [*said[1].rows[8][:3]] == ["recursive", "12", "1"]
    )
    assert "The file has no scenario: 0.1 s of free motion" in next(chapters.run(s)).text


def test_a_flexible_body_and_what_has_no_answer():
    s = subject("flexible_arm", until=0.01)
    tables = [x.title for x in CHAPTERS["parameters"].blocks(s) if isinstance(x, Cells)]
    assert any(t.startswith("flexible bodies") for t in tables)
    (last,) = CHAPTERS["modes"].blocks(subject("rolling_disc", until=0.01))[-1:]
    assert isinstance(last, Paragraph) and last.doubt and "has no answer" in last.text


def test_a_chapter_from_outside_and_chapters_left_out(tmp_path):
    CHAPTERS.register(
        Chapter(
            "weight",
            "Weight",
            lambda s: iter([Paragraph(f"{sum(b.mass for b in s.mechanism.bodies)} <kg>")]),
            "the weight",
        )
    )
    try:
        path = report(
            subject("pendulum"), tmp_path / "p.html", without=[x for x in CHAPTERS if x != "weight"]
        )
    finally:
        del CHAPTERS["weight"]
    page = path.read_text(encoding="utf-8")
    assert "&lt;kg&gt;" in page and "<h2>A run</h2>" not in page


def test_pdf_by_a_browser_or_a_sentence(tmp_path, monkeypatch):
    if printed.find_browser():
        path = report(
            subject("pendulum"),
            tmp_path / "p.pdf",
            without=[x for x in CHAPTERS if x != "mobility"],
        )
        assert path.read_bytes().startswith(b"%PDF")
    monkeypatch.setattr(printed, "find_browser", lambda: None)
    with pytest.raises(
        CatenaError,
        match=(
            r"a PDF is printed by a browser, and none was found \(looked for chromium.*write a"
            r" \.html and print it"
        ),
    ):
        report(
            subject("pendulum"),
            tmp_path / "q.pdf",
            without=[x for x in CHAPTERS if x != "mobility"],
        )


@pytest.mark.parametrize(
    "arguments, said",
    [
        (["pendulum", "--out", "r.docx"], r"a report is written as \.html or \.pdf, not '\.docx'"),
        (["pendulum", "--out", "nowhere/r.html"], r"folder 'nowhere' is not there"),
        (["pendulum", "--by", "lagrang"], r"Did you mean 'lagrange'"),
        (
            ["pendulum", "--out", "r.html", "--without", "equation"],
            r"no chapter 'equation'.*Did you mean 'equations'",
        ),
        (["pendulm"], r"pendulm"),
    ],
)
def test_bad_input_is_one_message(arguments, said, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as left:
        main(["report", *arguments])
    err = capsys.readouterr().err
    assert (
        left.value.code == 2
        and re.search(said, err)
        and "Traceback" not in err
        and not list(tmp_path.iterdir())
    )


def test_the_command_writes_and_does_not_write_over(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    short = [x for name in ("equations", "certificate", "run") for x in ("--without", name)]
    for code in (0, 2):
        with pytest.raises(SystemExit) as left:
            main(["report", "pendulum", *short])
        assert left.value.code == code
    assert "pendulum_report.html exists already" in capsys.readouterr().err


def test_a_body_that_does_not_move_has_a_drawing_and_reasons(tmp_path):
    (tmp_path / "still.urdf").write_text(
        '<robot name="r"><link name="a"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"'
        ' ixy="0" ixz="0" iyz="0"/></inertial><visual><geometry><mesh'
        ' filename="no.stl"/></geometry></visual></link></robot>'
    )
    s = Subject(read(tmp_path / "still.urdf", otherwise={"until": 0.1}), folders=[tmp_path])
    blocks = CHAPTERS["mechanism"].blocks(s)
    assert any(isinstance(x, Picture) for x in blocks) and any(
        "no.stl" in x.text for x in blocks if isinstance(x, Paragraph)
    )
    for name in ("equations", "certificate", "run"):
        assert CHAPTERS[name].blocks(s)[-1].doubt


def test_a_function_of_a_long_name_stands_apart_from_it():
    assert mathml(r"\cos {\mathrm{far}_{\mathrm{pin}}}").count('<mspace width="0.167em" />') == 1
    assert "mspace" not in mathml(r"\sin{\left(a + b\right)}")
