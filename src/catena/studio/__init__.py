"""Studio: mechanisms in a browser.

running_page  one file in which the mechanism itself runs, as WebAssembly, without a server or a
              network
view         a mechanism to look at and to move by hand  studio   a model file to edit, run and plot
server        one page and its live connection: this machine alone, a token in the address
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .running_page import page

__all__ = ["page"]


def __getattr__(name: str) -> Any:
    """What is slow to import is imported when it is used."""
    if name == "page":
        from .running_page import page

        return page
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
