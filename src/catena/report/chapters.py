"""The registry of chapters of a report. A chapter is a record with a function Subject -> blocks.

register(Chapter("weights", "Weights", write, "the weight of every body"))
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from ..analysis import equilibrium, mobility, modes
from ..certify import check
from ..equations import Equations
from ..equations.readable import names_of
from ..errors import CatenaError
from ..model import Mechanism
from ..registry import Registry
from ..results import PLOTS
from ..simulation.scenario import PLOTS as USUAL
from .blocks import Block, Cells, Formulas, Paragraph, Picture
from .numbers import number
from .pictures import drawing, instants, svg
from .subject import MAX_SPEEDS_FOR_ALL, Subject
from .tables import MODE_HEAD, TRAVEL_HEAD, closing, heading, mode_rows, tables, travel_rows

# characters of LaTeX, about three printed pages; longer equations are not printed
MAX_PRINTED_LATEX = 16_000
MAX_PRINTED_OPERATIONS = 4_000  # of the accelerations; longer equations are not printed
MOST_MODES = 12
MOST_ROWS = 80
MOST_EVENTS = 20
MOST_REACTIONS = 8
INSTANTS = 4


@dataclass(frozen=True)
class Chapter:
    """A chapter.

    name: the value of `--without` that leaves it out. title: its heading. write: a generator of
    blocks; a CatenaError becomes a sentence. doc: one line.
    """

    name: str
    title: str
    write: Callable[[Subject], Iterator[Block]]
    doc: str

    def blocks(self, s: Subject) -> list[Block]:
        """Return the blocks; where one cannot be computed, a paragraph with the reason follows
        instead.
        """
        found: list[Block] = []
        try:
            found.extend(self.write(s))
        except CatenaError as why:
            found.append(
                Paragraph(
                    f"{'The rest of this chapter' if found else 'This chapter'} has no answer:"
                    f" {why}",
                    True,
                )
            )
        return found


CHAPTERS: Registry[Chapter] = Registry("chapter")
register = CHAPTERS.register


def mechanism(s: Subject) -> Iterator[Block]:
    """Yield a drawing, and the mechanism in a few lines."""
    yield Paragraph("; ".join(line.strip() for line in heading(s.facts)) + ".")
    yield Picture(drawing(s), "The mechanism where its run starts.")
    yield from (Paragraph(x) for x in s.scene.notes)
    yield from (Paragraph(f"Note: {x}") for x in s.facts["notes"][:MOST_ROWS])
    yield from (Paragraph(f"Doubt: {x}", True) for x in s.facts["doubts"])


def parameters(s: Subject) -> Iterator[Block]:
    """Yield tables of parameters, bodies, joints, loads and frames."""
    order = {"parameters (SI)": -1}
    for title, head, rows in sorted(
        (t for t in tables(s.facts) if t[0] != "formulations"), key=lambda t: order.get(t[0], 0)
    ):
        if rows:
            yield Cells(title, head, rows[:MOST_ROWS])
            if len(rows) > MOST_ROWS:
                yield Paragraph(
                    f"... and {len(rows) - MOST_ROWS} more rows; `catena info` shows them all."
                )


def freedom(s: Subject) -> Iterator[Block]:
    """Yield the degrees of freedom and redundant rows."""
    found = mobility(s.machine, s.start)
    first, *rest = str(found).splitlines()
    yield Paragraph(
        f"{first.partition(': ')[2]}.{''.join(f' {line.strip()}.' for line in rest if not line.startswith('    ') and not line.endswith(':'))}".capitalize()  # noqa: E501
    )
    if found.redundant:
        yield Cells(
            "rows that repeat others", ["joint or constraint", "direction"], found.redundant
        )


def equations(s: Subject) -> Iterator[Block]:
    """Yield the equations of motion, or only their sizes where they are too long to be read."""
    e = s.derived[s.by]
    if isinstance(e, CatenaError):
        raise e
    latex = e.latex() if e.counts.operations <= MAX_PRINTED_OPERATIONS else ""
    if latex and len(latex) <= MAX_PRINTED_LATEX:
        note = latex.partition("\n")[0].removeprefix("% ") if latex.startswith("%") else ""
        yield Paragraph(f"By {s.by}, in SI units.{f' {note.capitalize()}.' if note else ''}")
        yield Formulas(latex)
        yield Cells("letters", ["coordinate", "symbol"], _letters(s.mechanism))
    else:
        size = (
            f"{len(latex)} characters"
            if latex
            else f"{e.counts.operations} operations for the accelerations"
        )
        yield Paragraph(
            f"These equations are too large to be read: by {s.by} they have {size}. Their sizes"
            f" stand here instead; `catena equations --by {s.by} --form c` writes them as a"
            " program, `catena export` the whole system."
        )
    yield Cells(
        "sizes by formulation",
        ["formulation", "first-order equations", "largest linear system", "operations"],
        [
            [
                name,
                str(x.counts.first_order),
                str(x.counts.largest_matrix),
                str(x.counts.operations),
            ]
            for name, x in s.derived.items()
            if isinstance(x, Equations)
        ],
    )


def certificate(s: Subject) -> Iterator[Block]:
    """Yield whether the formulations agree."""
    found = check(
        s.machine,
        formulations={name: _derived_before(x) for name, x in s.derived.items()},
        states=s.states,
        near=s.start if s.machine.rows else None,
    )
    yield Paragraph(
        f"The largest relative differences from the middle answer at {found.states} random states."
        f" {'The formulations agree.' if found.passed else 'They do NOT agree: ' + ', '.join(found.failed) + '.'}"  # noqa: E501
        f" Mass matrix: asymmetry {found.asymmetry:.1e}, smallest eigenvalue"
        f" {found.smallest_eigenvalue:.3g}.",
        not found.passed,
    )
    yield Cells(
        "",
        ["formulation", "accelerations", "reactions", "power", "verdict"],
        [(*row[:4], row[5]) for row in found.rows()],
    )
    if s.large:
        yield Paragraph(
            f"The mechanism has more than {MAX_SPEEDS_FOR_ALL} speeds; the other formulations were"
            " not asked: `catena check` does."
        )
    yield Paragraph(closing(s.round_trip).capitalize() + ".")


def vibration(s: Subject) -> Iterator[Block]:
    """Yield the natural frequencies about the nearest equilibrium."""
    q = equilibrium(s.machine, s.start)
    found = modes(s.machine, q)
    yield Paragraph(
        "Small vibrations about the equilibrium nearest to the start of the run, without the forces"
        " of motors."
    )
    moved = [(n, x) for n, x in zip(s.machine.coordinate_names, q) if abs(x) > 1e-6]
    if moved and len(moved) <= MOST_MODES:
        yield Paragraph(
            "There "
            + ", ".join(f"{n} = {number(float(x))}" for n, x in moved)
            + " (rad, m); other coordinates are zero."
        )
    yield Cells("", MODE_HEAD, mode_rows(found, MOST_MODES))
    if len(found.squares) > MOST_MODES:
        yield Paragraph(
            f"... and {len(found.squares) - MOST_MODES} faster ones, up to"
            f" {number(float(found.hertz[-1]))} Hz."
        )


def run(s: Subject) -> Iterator[Block]:
    """Yield pictures of a run, the travel of the coordinates, the events and the ledger."""
    yield Paragraph(
        f"{s.scenario.until:g} s as the file's scenario says."
        if s.scenario.has_scenario
        else (
            f"The file has no scenario: {s.scenario.until:g} s of free motion from the start shown"
            " above, without forces of motors and beyond the joints' limits."
        )
    )
    result = s.result
    if len(result.time) > 1:
        times = np.linspace(result.time[0], result.time[-1], INSTANTS)
        yield Picture(
            instants(s, times.tolist()), f"At {', '.join(f'{t:.3g}' for t in times)} s, row by row."
        )
        for name in _plots(s):
            yield Picture(svg(result.plot(name, title="")), f"{PLOTS[name].doc.capitalize()}.")
    rows, still = travel_rows(result)
    if rows:
        yield Cells("travel of the coordinates", TRAVEL_HEAD, rows[:MOST_ROWS])
    if still:
        yield Paragraph(f"Coordinates that stay where they are: {still}.")
    if result.data.sizes.get("occurrence", 0):
        happened = list(zip(result.data["event_time"].values, result.data["event"].values))
        yield Cells(
            "events",
            ["time (s)", "event"],
            [[number(float(t)), str(w)] for t, w in happened[:MOST_EVENTS]],
        )
        if len(happened) > MOST_EVENTS:
            yield Paragraph(f"... and {len(happened) - MOST_EVENTS} more events.")
    yield Cells("ledger", ["", ""], [row for row in result.ledger.rows() if row[0] != "wall time"])


def _plots(s: Subject) -> list[str]:
    """Return the names of the plots: the overview, those that the scenario names in addition to the
    default, and the reactions of a small mechanism.
    """
    asked = ["overview", *(p for p in s.scenario.plots if p not in USUAL)]
    asked += ["reactions"] * (len(s.mechanism.moving) + len(s.mechanism.loops) <= MOST_REACTIONS)
    return [p for p in dict.fromkeys(asked) if PLOTS[p].applies(s.mechanism)]


def _letters(m: Mechanism) -> list[tuple[str, str]]:
    """Return (coordinate, symbol in the equations) where they differ."""
    return [
        (name, x.text) for name, x in zip(m.coordinate_names, names_of(m)["q"]) if name != x.text
    ]


def _derived_before(e: Equations | CatenaError) -> Callable[[Mechanism], Equations]:
    """Return a function in the place of a formulation that returns equations derived before, or
    raises their error.
    """

    def derived(_: Mechanism) -> Equations:
        if isinstance(e, CatenaError):
            raise e
        return e

    return derived


for _chapter in (
    Chapter("mechanism", "The mechanism", mechanism, "a drawing, and what it is in a few lines"),
    Chapter(
        "parameters",
        "Parameters and parts",
        parameters,
        "parameters, bodies, joints, loads, constraints and frames",
    ),
    Chapter("mobility", "Mobility", freedom, "degrees of freedom and redundant rows"),
    Chapter(
        "equations",
        "Equations of motion",
        equations,
        "as a textbook prints them, or their sizes where they are large",
    ),
    Chapter(
        "certificate",
        "Certificate",
        certificate,
        "how far apart the formulations are at random states",
    ),
    Chapter("modes", "Modes", vibration, "natural frequencies about the nearest equilibrium"),
    Chapter("run", "A run", run, "pictures, travel of the coordinates, events and the ledger"),
):
    register(_chapter)
