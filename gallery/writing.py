"""Writing: an example's page as Markdown with its pictures, and the index of all of them."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from matplotlib.figure import Figure

from catena.errors import CatenaError
from catena.formats import files

from . import NAMES, example
from .drawing import house
from .page import Example, Number, Page, Table

DPI = 110
COLOURS = 255  # of a picture: lines on white need no more
LARGEST = 150_000  # bytes of a picture


@dataclass(frozen=True)
class Entry:
    """A line of the index: what was made, and which numbers do not agree. misprints: how many of
    them are shown next to a print that is wrong.
    """

    name: str
    title: str
    shows: str
    picture: str
    numbers: int
    disagreements: tuple[str, ...]
    misprints: int = 0


def make(name: str, folder: Path) -> Entry:
    """Run an example and write its page."""
    told = example(name)
    page = told.run()
    pictures = [f"{name}_{k + 1}.png" for k in range(len(page.pictures))]
    for file, picture in zip(pictures, page.pictures):
        save(picture.figure, folder / file)
    files.write(folder / f"{name}.md", text(name, told, page, pictures))
    wrong = tuple(n.what for n in page.disagreements)
    first = pictures[0] if pictures else ""
    misprints = sum(n.wrong for n in page.numbers)
    return Entry(name, told.title, told.shows, first, len(page.numbers), wrong, misprints)


def save(figure: Figure, path: Path) -> None:
    """Write a picture as a small PNG."""
    from PIL import Image

    raw = io.BytesIO()
    with house():
        figure.savefig(
            raw,
            format="png",
            dpi=DPI,
            metadata={"Software": None},
            pil_kwargs={"compress_level": 1},
        )
    small = (
        Image.open(raw)
        .convert("RGB")
        .quantize(COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    )
    made = io.BytesIO()
    small.save(made, format="png", optimize=True)
    if len(made.getvalue()) > LARGEST:
        raise CatenaError(
            f"{path.name}: a picture of {len(made.getvalue())} bytes; the gallery's have at most"
            f" {LARGEST}"
        )
    path.write_bytes(made.getvalue())


# --- a page
def text(name: str, told: Example, page: Page, pictures: Sequence[str]) -> str:
    """The page in Markdown."""
    main = toml(told.files[0])
    commands = told.commands or tuple(f"catena run {file}" for file in told.files)
    parts = [
        f"# {told.title}",
        f"<!-- made by `catena gallery {name}`; do not edit -->",
        f"*{told.source}*",
        told.shows,
        "```text\n" + drawing(main) + "\n```",
        "```console\n" + "\n".join(f"$ {c}" for c in commands) + "\n```",
        page.text,
        "## Numbers",
        numbers(page.numbers),
    ]
    for table in page.tables:
        parts += [f"## {table.title}", grid(table.columns, table.rows), table.remark]
    parts.append("## Pictures")
    for file, picture in zip(pictures, page.pictures):
        parts += [f"![{alt(picture.caption)}]({file})", picture.caption]
    if told.misprints:
        rows = [(m.where, m.printed, m.right, m.why) for m in told.misprints]
        parts += [
            "## What the print has wrong",
            grid(("where", "printed", "right", "how we know"), rows),
        ]
    if told.departures:
        parts += [
            "## Where we depart from the source",
            "\n".join(f"- {d}" for d in told.departures),
        ]
    parts.append("## The file" if len(told.files) == 1 else "## The files")
    for file in told.files:
        parts.append(
            f"<details><summary>{file}.toml</summary>\n\n```toml\n{toml(file)}```\n\n</details>"
        )
    parts.append("[All examples](index.md)")
    return "\n\n".join(part for part in parts if part) + "\n"


def toml(name: str) -> str:
    """The text of a built-in mechanism."""
    return (resources.files("catena") / "examples" / f"{name}.toml").read_text(encoding="utf-8")


def drawing(file: str) -> str:
    """The drawing in the comment at the head of a file: its first lines that are set in.

    >>> print(drawing("# A bar.\\n#\\n#     o---  1 m\\n#     |\\n#\\n# More.\\n"))
    o---  1 m
    |
    """
    head = [line[1:] for line in file.split("\n\n")[0].splitlines() if line.startswith("#")]
    first = next((k for k, line in enumerate(head) if line.startswith("   ")), len(head))
    last = first
    for k in range(first, len(head)):
        if head[k].startswith("   "):
            last = k + 1
        elif head[k].strip():
            break
    lines = head[first:last]
    margin = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    return "\n".join(line[margin:].rstrip() for line in lines)


def numbers(found: Iterable[Number]) -> str:
    """The table of numbers: print, ours, reference, difference; a sentence on where the references
    come from.
    """
    found = list(found)
    columns = ("quantity", "printed", "catena", "reference", "difference", "allowed", "")
    rows = [
        (
            n.what + (f" ({n.unit})" if n.unit else ""),
            (", ".join(n.printed) + (f" {n.where}" if n.where else "")) if n.printed else "",
            ", ".join(digits(x) for x in n.ours),
            ", ".join(digits(x) for x in n.reference),
            f"{n.difference:.1e}" if n.reference else "",
            f"{n.allowed:.0e}" if n.reference else "as printed",
            "print is wrong" if n.wrong else "agrees" if n.agrees else "**differs**",
        )
        for n in found
    ]
    bases = list(dict.fromkeys(n.basis for n in found if n.basis))
    tail = f"\n\nReference: {'; '.join(bases)}." if bases else ""
    return grid(columns, rows) + tail


def digits(x: float) -> str:
    """Ten digits at most, no minus zero.

    >>> digits(-1e-17), digits(2.26935), digits(1 / 3)
    ('0', '2.26935', '0.3333333333')
    """
    return f"{x:.10g}" if abs(x) > 1e-13 else "0"


def grid(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table, without the columns that are empty in every row."""
    rows = [[cell.replace("|", "\\|").replace("\n", " ") for cell in row] for row in rows]
    kept = [k for k in range(len(columns)) if any(row[k] for row in rows)]
    lines = [
        [columns[k] for k in kept],
        ["---"] * len(kept),
        *([row[k] for k in kept] for row in rows),
    ]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def alt(caption: str) -> str:
    """What a picture is called where it cannot be seen."""
    return re.split(r"\.(?:\s|$)", caption)[0].replace("[", "(").replace("]", ")")


# --- the index
def index(entries: Sequence[Entry]) -> str:
    """The index of pages in Markdown, with a small picture each."""
    order = sorted(entries, key=lambda e: NAMES.index(e.name))
    rows = [
        (
            f"[![{e.title}]({e.picture})]({e.name}.md)",
            f"[**{e.name}**]({e.name}.md)<br>{e.title}",
            e.shows,
            verdict(e),
        )
        for e in order
    ]
    head = (
        "The worked examples of the documents catena comes from, and a few classics: each runs from"
        " a file, and its page was made by running it."
    )
    parts = [
        "# Gallery",
        "<!-- made by `catena gallery`; do not edit -->",
        head,
        grid((" ", "example", "shows", "numbers"), rows),
    ]
    parts.append(
        "Make the pages again with `catena gallery --out docs/gallery`; run one with `catena run"
        " NAME`."
    )
    return "\n\n".join(parts) + "\n"


def verdict(e: Entry) -> str:
    """How many numbers agree, and next to how many the print is wrong."""
    prints = f", {e.misprints} misprint{'s' * (e.misprints != 1)}" if e.misprints else ""
    return (
        f"{e.numbers - e.misprints} agree{prints}"
        if not e.disagreements
        else f"{e.numbers - len(e.disagreements)} of {e.numbers} agree"
    )


__all__ = ["Entry", "Table", "index", "make", "save", "text"]
