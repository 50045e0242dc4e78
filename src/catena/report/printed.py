"""HTML as PDF, printed by a browser of this machine without a window.

A browser renders MathML and SVG as they are on the page, so that there is one layout; Python's PDF
libraries do not render MathML. Without a browser here the page can be printed on another machine.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from ..errors import CatenaError

NAMES = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "microsoft-edge",
    "microsoft-edge-stable",
    "msedge",
    "brave-browser",
)
PLACES = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
    r"C:\Program Files\Google\Chrome\Application\chrome.exe",
    r"C:\Program Files (x86)\Microsoft\Edge\Application\msedge.exe",
)
PRINT_TIMEOUT = 120  # s


def find_browser() -> str | None:
    """Return a browser of Chromium's family: the one that BROWSER names, or the first that is
    installed; None where there is none.
    """
    asked = os.environ.get("BROWSER", "")
    if any(name in Path(asked).name.lower() for name in ("chrom", "edge", "brave")) and (
        found := shutil.which(asked)
    ):
        return found
    return next((found for name in NAMES if (found := shutil.which(name))), None) or next(
        (x for x in PLACES if Path(x).is_file()), None
    )


def print_page(page: str, out: Path) -> None:
    """Write a page as PDF; raise CatenaError where no browser is found or it does not print."""
    browser = find_browser()
    if browser is None:
        raise CatenaError(
            f"{out}: a PDF is printed by a browser, and none was found (looked for"
            f" {', '.join(NAMES)}); install one of them, or write a .html and print it from the"
            " browser you have"
        )
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        source = Path(folder) / "report.html"
        made = Path(folder) / "report.pdf"
        source.write_text(page, encoding="utf-8")
        # the browser's sandbox does not run as root
        own = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
        command = [
            browser,
            "--headless",
            "--disable-gpu",
            *own,
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            f"--user-data-dir={folder}/profile",
            "--no-pdf-header-footer",
            "--print-to-pdf-no-header",
            f"--print-to-pdf={made}",
            source.as_uri(),
        ]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=PRINT_TIMEOUT)
        except (OSError, subprocess.TimeoutExpired) as why:
            raise CatenaError(
                f"{out}: browser {browser!r} did not print: {why}; write a .html and print it by"
                " hand"
            ) from None
        if not made.is_file():
            said = (done.stderr.strip().splitlines() or ["it said nothing"])[-1][:300]
            raise CatenaError(
                f"{out}: browser {browser!r} did not print: {said}; write a .html and print it by"
                " hand"
            )
        shutil.copyfile(made, out)
