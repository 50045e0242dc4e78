"""A real browser for the tests of pages; they say that they were skipped where there is none."""

from __future__ import annotations

import shutil

import pytest

BROWSER = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)


@pytest.fixture(autouse=True)
def state(tmp_path, monkeypatch):
    """Journals of a test's own."""
    monkeypatch.setenv("CATENA_STATE_DIR", str(tmp_path / "state"))


@pytest.fixture(scope="session")
def browser():
    api = pytest.importorskip("playwright.sync_api")
    if BROWSER is None:
        pytest.skip("no Chromium on this machine")
    with api.sync_playwright() as p:
        opened = p.chromium.launch(
            executable_path=BROWSER,
            args=["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"],
        )
        yield opened
        opened.close()


@pytest.fixture
def window(browser):
    """A page of the browser that fails the test on any error of its own."""
    errors = []
    # playwright itself evaluates texts
    page = browser.new_page(viewport={"width": 1200, "height": 760}, bypass_csp=True)
    page.on("pageerror", lambda e: errors.append(str(e)))
    page.set_default_timeout(240_000)  # a busy machine compiles slowly
    yield page
    page.close()
    assert not errors


@pytest.fixture
def served():
    """Serve sessions for the length of a test."""
    pytest.importorskip("websockets")
    from catena.studio.server import Server

    made = []

    def start(session, **options):
        server = Server(session, **options).start()
        made.append((server, session))
        return server

    yield start
    for server, session in made:
        server.close()
        if hasattr(session, "close"):
            session.close()
