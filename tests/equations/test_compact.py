"""The compact form: on one page, evaluated line by line, and chosen only where the scalar equations
need more than a page.
"""

from __future__ import annotations

import re

import numpy as np
import pytest

import catena
from catena.equations.formulations import ALL_FORMULATIONS, derive
from catena.equations.readable.mathml import mathml
from catena.equations.readable.width import width
from catena.errors import FormulationError
from catena.model.pose import Pose
from catena.teaching.compact import STATEMENTS, compact_form, layout, statement
from catena.teaching.compact.checking import checked, kinematic_errors
from catena.teaching.compact.evaluation import Evaluation
from catena.teaching.compact.given import given
from catena.teaching.compact.language import (
    HALF,
    Cross,
    Dot,
    Equation,
    Family,
    Product,
    Sum,
    Symbol,
    Total,
)
from catena.teaching.compact.letters import FRAMES, SPEEDS
from catena.teaching.compact.page import Statement
from catena.teaching.derivation.board import WrongLineError

SOURCES = (
    "planar_two_link",
    "spatial_six_dof",
    "triple_pendulum",
    "space_manipulator",
    "stanford_arm",
    "four_link_closed",
    "two_links_one_load",
    "high_stiffness_low_mass",
)
ROWS = 60  # rows of displays and tables: what a page has room for


@pytest.fixture(scope="module")
def statements():
    """Each example by each formulation once: its compact statement and its board, with
    accelerations of the O(n) passes, which all formulations share.
    """
    derived: dict[str, object] = {}
    made: dict[tuple[str, str], tuple[Statement, object]] = {}

    def get(name: str, by: str):
        if name not in derived:
            m = catena.load(name)
            # which the triple pendulum's file has as zero
            heavy = {x: 0.1 for x in ("I1", "I2", "I3") if x in m.parameters}
            derived[name] = derive(m.with_(parameters={**m.parameters, **heavy}), "recursive")
        if (name, by) not in made:
            made[name, by] = statement(derived[name].with_(formulation=by))
        return made[name, by]

    return get


def test_every_formulation_has_a_compact_form() -> None:
    assert set(STATEMENTS) == set(ALL_FORMULATIONS)


@pytest.mark.parametrize("by", ALL_FORMULATIONS)
@pytest.mark.parametrize("name", SOURCES)
def test_every_line_holds(statements, name: str, by: str) -> None:
    """Rows with the accelerations (`statement` asks that too), and what is defined on the way
    beside the kernels: to 1e-9 at three random states.
    """
    found, board = statements(name, by)
    assert any(x.row for x in found.equations)
    errors = kinematic_errors(found, board)
    assert errors and max(errors.values()) < 1e-9


@pytest.mark.parametrize("by", ALL_FORMULATIONS)
def test_every_line_holds_with_the_accelerations_of_the_formulation_itself(by: str) -> None:
    for name in ("triple_pendulum", "two_links_one_load"):
        found, board = statement(derive(catena.load(name), by))
        assert checked(found, board) < 1e-9


@pytest.mark.parametrize("by", ALL_FORMULATIONS)
@pytest.mark.parametrize("name", SOURCES)
def test_it_fits_on_a_page(statements, name: str, by: str) -> None:
    """Few enough rows, none wider than the page; balanced; the same text again; no chains of
    intermediates.
    """
    found, board = statements(name, by)
    latex = layout.latex(found, board, "x")
    text = layout.text(found, board, "x")
    rows = [
        row
        for body in re.findall(r"\\begin\{align\*\}\n(.*?)\n\\end", latex, re.DOTALL)
        for row in body.split(" \\\\\n")
    ]
    lines = sum(
        len(body.split("\\\\\n"))
        for body in re.findall(r"\\begin\{tabular\}(.*?)\\end", latex, re.DOTALL)
    )
    assert len(rows) + lines <= ROWS and max(map(width, rows)) <= layout.LINE_EM + 0.5
    assert (
        latex.count("{") == latex.count("}")
        and latex.count("$") % 2 == 0
        and latex.count(r"\left") == latex.count(r"\right")
    )
    assert not re.search(r"\bz\d+ = ", text) and text.count("\n") < 100
    assert (latex, text) == (layout.latex(found, board, "x"), layout.text(found, board, "x"))


@pytest.mark.parametrize(
    "name, by",
    [
        ("triple_pendulum", "kane"),
        ("stanford_arm", "hamilton"),
        ("stanford_arm", "maggi"),
        ("four_link_closed", "newton_euler"),
    ],
)
def test_a_wrong_line_is_not_shown(statements, name: str, by: str) -> None:
    """Any sign of any term that is turned round makes a row fail, so that no line is decoration."""
    found, board = statements(name, by)
    turned = 0
    for b, block in enumerate(found.blocks):
        for k, x in enumerate(block.equations):
            # of the energy, see below
            if (
                x.row
                or not isinstance(x.right, Sum | Product | Cross | Symbol)
                or x.left.text() == "H"
            ):
                continue
            wrong = Equation(x.left, -x.right, x.each)
            equations = (*block.equations[:k], wrong, *block.equations[k + 1 :])
            other = Statement(
                found.frames,
                (*found.blocks[:b], type(block)(block.words, equations), *found.blocks[b + 1 :]),
            )
            try:
                failed = max(kinematic_errors(other, board).values()) > 1e-6
                failed = checked(other, board) > 1e-9 or failed
            except (WrongLineError, ValueError):
                failed = True
            turned += 1
            assert failed, f"{x.left.text()} = {x.right.text()} may have either sign"
    assert turned > 6


def test_energies_and_matrices_are_those_of_the_kernels(statements) -> None:
    """T, V and the mass matrix of the lagrange page, the mass matrix of maggi's; the Gibbs function
    by its derivatives.
    """
    for name in ("stanford_arm", "space_manipulator", "four_link_closed"):
        machine = catena.compile(catena.load(name))
        for by in ("lagrange", "maggi"):
            found, board = statements(name, by)
            state = given(board, found.frames, found)[0]
            values = Evaluation(found.frames, found.definitions, state)
            q = state.numbers["q"]
            j = found.frames.freedoms
            M = np.block(
                [
                    [
                        np.reshape(
                            values.value("M", ("j", "l"), {"j": a, "l": b}),
                            (found.frames.all[a].nv, found.frames.all[b].nv),
                        )
                        for b in j
                    ]
                    for a in j
                ]
            )
            assert np.allclose(M, machine.mass_matrix(q), rtol=1e-10, atol=1e-12)
        found, board = statements(name, "lagrange")
        state = given(board, found.frames, found)[0]
        values = Evaluation(found.frames, found.definitions, state)
        kinetic, potential = machine.energy(state.numbers["q"], state.numbers["v"])
        assert np.allclose(
            [values.value("T", (), {}), values.value("V", (), {})], [kinetic, potential], rtol=1e-10
        )


def test_the_gibbs_function_has_the_derivatives_that_are_printed(statements) -> None:
    found, board = statements("stanford_arm", "gibbs_appell")
    state = given(board, found.frames, found)[0]

    def S(a: np.ndarray) -> float:
        return float(
            Evaluation(
                found.frames, found.definitions, type(state)({**state.numbers, "a": a}, {})
            ).value("S", (), {})
        )

    values = Evaluation(found.frames, found.definitions, state)
    for j in found.frames.freedoms:
        step = np.zeros(len(state.numbers["a"]))
        step[found.frames.all[j].v] = 1.0
        # exact: S is quadratic
        slope = (S(state.numbers["a"] + step) - S(state.numbers["a"] - step)) / 2
        assert slope == pytest.approx(values.value("dS/dq''", ("j",), {"j": j}), rel=1e-9)


def test_the_table_has_the_numbers_of_the_mechanism() -> None:
    """Places, rotations, axes, masses, centres of mass and inertias, read back from the text."""
    m = catena.load("spatial_six_dof")
    page = compact_form(derive(m, "recursive"), "text").split("\n")
    head = next(k for k, line in enumerate(page) if line.startswith("  i  p  body"))
    for joint, line in zip(m.ordered, page[head + 1 :]):
        body = m.body(joint.child)
        at = joint.placement.position
        turn = re.search(r"x (-?\d+) deg", line)
        angle = float(turn[1]) if turn else 0.0
        assert np.allclose(
            Pose.turn("x", np.radians(angle)).rotation, joint.placement.rotation, atol=1e-12
        )
        vectors = [[float(x) for x in v.split(",")] for v in re.findall(r"\(([^)]*)\)", line)]
        diagonal = tuple(body.inertia[k] for k in (0, 3, 5))
        known = [
            np.round(v, 9).tolist() for v in (at, body.com, diagonal) if np.abs(v).max() > 1e-12
        ]
        assert (
            vectors == known
            and "turn z" in line
            and (not body.mass or f" {body.mass:g} " in f"{line} ")
        )


# --- which form is printed
def test_small_systems_stay_multiplied_out() -> None:
    for name, by in (
        ("cart_pole", "kane"),
        ("double_pendulum", "maggi"),
        ("spherical_pendulum", "newton_euler"),
        ("triple_pendulum", "lagrange"),
    ):
        assert "tabular" not in derive(catena.load(name), by).latex()


def test_large_ones_are_compact_unless_asked_for_in_full() -> None:
    e = derive(catena.load("two_links_one_load"), "kane")
    page, full = e.text(), e.text(full=True)
    assert (
        page.startswith("# two links, one load by kane")
        and "F_j + F*_j = 0" in page
        and "text(full=True)" in page
    )
    assert (
        "# generalised inertia forces" in full
        and "F*_joint1 = -sum of (v_r . m a" in full
        and "z1 =" not in full
    )
    assert "z1 = " in e.text(effort=0)


def test_parameters_stay_free() -> None:
    page = compact_form(derive(catena.load("triple_pendulum"), "kane"), "text")
    assert "l1" in page and "(0, I1, I1)" in page and "G = (0, -g, 0), gravity" in page
    assert "platform" in compact_form(
        derive(catena.load("high_stiffness_low_mass"), "recursive"), "text"
    )


def test_what_the_compact_form_does_not_treat_is_said_by_name() -> None:
    for name, what in (
        ("two_link_flexible", "flexible bodies by modes"),
        ("rolling_disc", "rows of speeds"),
    ):
        with pytest.raises(FormulationError, match=what):
            compact_form(derive(catena.load(name), "kane"), "text")
    e = derive(catena.load("pendulum"), "kane").with_(formulation="magic")
    with pytest.raises(
        FormulationError,
        match="no compact form is written down for 'magic'; those that have one are: lagrange, ",
    ):
        compact_form(e, "text")


def test_the_browser_and_the_notebook_show_it() -> None:
    e = derive(catena.load("four_link_closed"), "recursive")
    shown = mathml(compact_form(e, "latex"))
    assert (
        shown.count("<table>") == 2
        and "<pre>" not in shown
        and "$" not in shown
        and "noindent" not in shown
    )


# --- the language
def test_expressions_print_with_no_more_brackets_than_they_need() -> None:
    a, b, m = (Family(x, x) for x in "abm")
    x = m("i") * (a("i") - b("i")) + Cross(a("i"), Cross(a("p"), m("i") * b("i")))
    assert x.text() == "m_i (a_i - b_i) + a_i x (a_p x m_i b_i)"
    assert (
        x.latex()
        == r"m_{i}\,\left(a_{i} - b_{i}\right) + a_{i}\times \left(a_{p}\times m_{i}\,b_{i}\right)"
    )
    assert Total(SPEEDS, HALF * Dot(a("j"), a("j"))).text() == "sum_{j} 1/2 (a_j . a_j)"
    assert x.open_letters() == {"i", "p"} and FRAMES.letter == "i"
