"""`catena schema`: the keys that a model file may have, for editors and for people."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from .derive import Out, emit


class Form(StrEnum):
    """The forms in which the schema is written."""

    json = "json"
    markdown = "markdown"


def schema(
    form: Annotated[
        Form,
        typer.Option(help="json: a JSON Schema, draft 2020-12; markdown: a page of every key."),
    ] = Form.json,
    companion: Annotated[
        bool,
        typer.Option("--companion", help="Of companions, which add to files of other formats."),
    ] = False,
    out: Out = None,
) -> None:
    """Write the JSON Schema of catena's TOML files, by which editors complete and check them."""
    import json

    from ..env import environment_file  # noqa: F401  # registers [environment]
    from ..formats.toml import json_schema, markdown
    from ..optimization import optimize_file  # noqa: F401  # registers [optimize]
    from ..simulation.scenario import read  # noqa: F401  # registers [scenario] and what it holds

    emit(
        (
            markdown()
            if form is Form.markdown
            else json.dumps(json_schema(companion), indent=1, ensure_ascii=False)
        ),
        out,
    )
