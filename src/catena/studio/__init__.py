"""Studio: mechanisms in a browser.

    page     one file in which the mechanism itself runs, as WebAssembly, without a server or a network
"""

from .page import page

__all__ = ["page"]
