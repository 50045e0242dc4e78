"""Blocks as one self-contained HTML page: no script, no network; it can be printed as well."""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Sequence
from importlib import resources

from ..equations.readable import mathml
from .blocks import Block, Cells, Formulas, Paragraph, Picture
from .numbers import plain

NUMERIC = re.compile(r"-?[\d.]*(e[+-]?\d+)?")
EQUATION_LINE_LETTERS = 120  # longer equations are broken
CODE = re.compile(r"`([^`]*)`")


def page(
    title: str, about: str, chapters: Sequence[tuple[str, str, Sequence[Block]]], foot: str
) -> str:
    """Return a whole page. chapters: (name, title, blocks); about: a line below the title; foot:
    the last line.
    """
    css = resources.files("catena.report").joinpath("style.css").read_text(encoding="utf-8")
    links = "".join(f'<a href="#{name}">{_text(head)}</a>' for name, head, _ in chapters)
    inside = "\n".join(
        f'<section id="{name}">\n<h2>{_text(head)}</h2>\n{_blocks(blocks)}\n</section>'
        for name, head, blocks in chapters
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="viewport"'
        ' content="width=device-width, initial-scale=1">\n'
        f"<title>{_text(title)}</title>\n<style>\n{css}</style>\n</head>\n<body>\n<header><h1>{_text(title)}</h1><p>{_text(about)}</p></header>\n"
        f"<nav>{links}</nav>\n{inside}\n<footer>{_text(foot)}</footer>\n</body>\n</html>\n"
    )


def _text(text: str) -> str:
    """Return a text as HTML, with `code` marked."""
    return CODE.sub(r"<code>\1</code>", html.escape(plain(text)))


def _blocks(blocks: Sequence[Block]) -> str:
    """Return blocks as HTML."""
    return "\n".join(_written(x) for x in blocks)


def _written(x: Block) -> str:
    """Return one block as HTML."""
    if isinstance(x, Paragraph):
        return f"<p{' class=doubt' if x.doubt else ''}>{_text(x.text)}</p>"
    if isinstance(x, Cells):
        return _table(x)
    if isinstance(x, Formulas):
        return f'<div class="equations">{mathml(x.latex, EQUATION_LINE_LETTERS)}</div>'
    return _figure(x)


def _figure(x: Picture) -> str:
    """Return a picture with its caption as HTML."""
    if isinstance(x.data, str):
        shown = x.data
    else:
        shown = (
            f'<img alt="{html.escape(x.caption)}"'
            f' src="data:image/png;base64,{base64.b64encode(x.data).decode()}">'
        )
    return f"<figure>{shown}<figcaption>{_text(x.caption)}</figcaption></figure>"


def _table(x: Cells) -> str:
    """Return a table as HTML, without empty columns; numbers are aligned to the right."""
    kept = [k for k in range(len(x.head)) if any(row[k] for row in x.rows)]
    if not kept:
        return ""
    kind = {
        k: ' class="number"' if all(NUMERIC.fullmatch(row[k]) for row in x.rows) else ""
        for k in kept
    }
    top = "".join(f"<th{kind[k]}>{_text(x.head[k])}</th>" for k in kept)
    rows = "\n".join(
        "<tr>" + "".join(f"<td{kind[k]}>{_text(row[k])}</td>" for k in kept) + "</tr>"
        for row in x.rows
    )
    title = f"<h3>{_text(x.title[:1].upper() + x.title[1:])}</h3>\n" if x.title else ""
    return (
        f"{title}<div"
        f' class="wide"><table>{f"<thead><tr>{top}</tr></thead>" if any(x.head) else ""}<tbody>\n{rows}\n</tbody></table></div>'  # noqa: E501
    )
