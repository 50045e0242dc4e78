"""`catena mcp`: a server of the Model Context Protocol, by which a language model uses catena."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import CatenaError

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer

INSTRUCTIONS = (
    "catena computes the dynamics of articulated bodies: robots, mechanisms, vehicles. Write a"
    " model with `load` (see `example`), check it with `info`, then `simulate`, `values`,"
    " `picture`, `derive`. Every answer of `simulate` has a ledger; report what it doubts."
)


def mcp(
    folder: Annotated[
        Path, typer.Argument(help="The folder whose files may be read and written.")
    ] = Path("."),
    seconds: Annotated[
        float, typer.Option(help="How long one request may take, s.", min=1.0)
    ] = 120.0,
) -> None:
    """Serve tools to a language model by the Model Context Protocol, on standard input and output:
    load, info, simulate, derive, check, picture, on the files of one folder.
    """
    if not folder.is_dir():
        raise CatenaError(f"{folder} is no folder; make it first, or give another")
    server(folder.resolve(), seconds).run("stdio")


def server(folder: Path, seconds: float = 120.0) -> MCPServer:
    """Return the server of a folder."""
    try:
        from mcp.server.mcpserver import Image, MCPServer
        from mcp.server.mcpserver.exceptions import ToolError
    except ImportError:
        raise CatenaError(
            "a server for language models needs the package mcp: pip install 'catena[mcp]'"
        ) from None
    from ._mcp_tools import TOOLS, Workspace

    space = Workspace(folder, seconds)
    made = MCPServer("catena", instructions=INSTRUCTIONS)

    def as_tool(work: Callable[..., Any]) -> Callable[..., Any]:
        """Return a tool whose errors reach the language model as messages."""

        @functools.wraps(work)
        def tool(*args: Any, **options: Any) -> Any:
            try:
                found = work(*args, **options)
            except (CatenaError, OSError) as error:
                raise ToolError(str(error)) from None
            return Image(data=found, format="png") if isinstance(found, bytes) else found

        tool.__annotations__ = {**work.__annotations__}
        if tool.__annotations__.get("return") == "bytes":
            tool.__annotations__.pop("return")
        return tool

    for name in TOOLS:
        work = getattr(space, name)
        made.add_tool(
            as_tool(work),
            name=name,
            description=" ".join(work.__doc__.split()),
            structured_output=False,
        )
    return made
