"""Studio: mechanisms in a browser.

running_page  one HTML file in which the mechanism runs as WebAssembly, without server or network
view          a mechanism to look at and to move by hand
studio        a model file to edit, run and plot
plot_page     the plots of a result as a page to choose, zoom and read values in
widget        the page of view in a cell of a notebook
server        one page and its live connection: this machine only, with a token in the address
"""

from typing import TYPE_CHECKING

from ..doors import door

if TYPE_CHECKING:
    from .plot_page import plot_page
    from .running_page import page, smoothed_friction
    from .server import run
    from .studio import studio
    from .view import viewer
    from .widget import widget

__all__ = ["page", "widget"]

__getattr__, __dir__ = door(__name__)
