"""Blocks: the parts of a chapter, independent of the output format."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Paragraph:
    """A paragraph of sentences. doubt: whether they report something missing or wrong."""

    text: str
    doubt: bool = False


@dataclass(frozen=True)
class Cells:
    """A table of strings with a title ("" for none). Columns that are empty in every row are left
    out.
    """

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Formulas:
    """Equations as LaTeX, in an align* environment."""

    latex: str


@dataclass(frozen=True)
class Picture:
    """A picture: the bytes of a PNG or the text of an SVG, with a caption."""

    data: bytes | str
    caption: str


Block = Paragraph | Cells | Formulas | Picture
