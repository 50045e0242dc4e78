"""What the studio keeps: edits that were not saved, its address; and what it refuses."""

from __future__ import annotations

import stat
import sys

import pytest

from catena.errors import CatenaError
from catena.formats import examples
from catena.studio.document import Document
from catena.studio.journal import Journal
from catena.studio.server import server_at_last_address
from catena.studio.studio import Studio

pytest.importorskip("tomlkit")

CRANK = """
name = "crank"
gravity = [0, 0, 0]
planar = true
[parameters]
r = "35 mm"
[[body]]
name = "crank"
mass = 1
com = [0, 0, 0]
inertia = [1, 1, 1]
[[joint]]
name = "pin"
kind = "revolute"
parent = "ground"
child = "crank"
[[frame]]
name = "eye"
body = "crank"
at = ["r", "r/2", 0]
[scenario]
until = "0.01 s"
"""


class Page:
    """A browser that remembers what it was told."""

    def __init__(self, editor: bool = True):
        self.editor = editor
        self.heard: list[dict] = []

    def send(self, kind, blob=b"", **data):
        self.heard.append({"kind": kind, **data})

    def of(self, kind):
        return [m for m in self.heard if m["kind"] == kind]


@pytest.fixture
def crank(tmp_path):
    path = tmp_path / "crank.toml"
    path.write_text(CRANK)
    made = []

    def start(page=None):
        session = Studio(Document(path))
        session.auto = False
        made.append(session)
        if page is not None:
            session.opened(page)
        return session

    yield start
    for session in made:
        session.close()


def _set(session, page, path, value):
    session.received(page, {"kind": "set", "path": path, "value": value})


def test_edits_that_were_not_saved_come_back(crank):
    page = Page()
    session = crank(page)
    _set(session, page, ["parameters", "r"], "40 mm")
    edited = session.document.text
    session.close()
    page = Page()
    again = crank(page)
    assert again.document.text == edited and not again.document.saved
    assert "not saved are here again; Undo" in page.of("status")[0]["text"]
    again.received(page, {"kind": "undo"})
    assert again.document.text == CRANK
    again.received(page, {"kind": "redo"})
    again.received(page, {"kind": "save"})
    assert crank().taken_up == ""


def test_a_file_that_was_changed_meanwhile_is_told(crank, tmp_path):
    page = Page()
    _set(crank(page), page, ["parameters", "r"], "40 mm")
    (tmp_path / "crank.toml").write_text(CRANK.replace("35 mm", "36 mm"))
    again = crank()
    assert "though the file was changed on disk since then" in again.taken_up
    again.document.undo()
    assert "36 mm" in again.document.text


@pytest.mark.skipif(sys.platform == "win32", reason="rights are inherited there")
def test_a_journal_is_its_owners_alone(crank):
    page = Page()
    session = crank(page)
    _set(session, page, ["parameters", "r"], "40 mm")
    assert stat.S_IMODE(session.journal.place.parent.stat().st_mode) == 0o700


def test_a_damaged_journal_is_passed_over(crank):
    place = crank().journal.place
    place.parent.mkdir(parents=True, exist_ok=True)
    for text in ("", "{", "[]", '{"edits": 3, "port": "x"}', '{"edits": {"text": 1}}'):
        place.write_text(text)
        journal = Journal(crank().document.path)
        assert journal.edits(CRANK) is None and journal.last_address() is None


def test_the_address_stays(crank):
    pytest.importorskip("websockets")
    session = crank()
    first = server_at_last_address(session, "127.0.0.1", 0, session.journal).start()
    busy = server_at_last_address(session, "127.0.0.1", 0, Journal(session.document.path)).start()
    assert busy.port != first.port and busy.token == first.token
    first.close()
    busy.close()
    session = crank()
    again = server_at_last_address(session, "127.0.0.1", 0, session.journal).start()
    assert again.address == busy.address
    again.close()


def test_a_browser_whose_change_is_refused_is_shown_the_model(crank):
    page, other = Page(), Page(editor=False)
    session = crank(page)
    session.opened(other)
    before = len(other.of("model"))
    with pytest.raises(CatenaError, match="another browser edits"):
        _set(session, other, ["parameters", "r"], "99 mm")
    shown = other.of("model")
    assert len(shown) > before and shown[-1]["data"]["parameters"]["r"] == "35 mm"
    with pytest.raises(CatenaError, match="this change cannot be made"):
        session.received(page, {"kind": "remove", "path": ["body", 7]})
    assert page.of("model")[-1]["text"] == CRANK


def test_a_parameter_keeps_its_dimension(crank):
    session = crank()
    reading = session.model.read(CRANK)
    assert session._model(CRANK, reading)["units"] == {"r": "m"}
    faults = session.model.read(CRANK.replace("35 mm", "35 kg")).faults
    assert faults == (
        "frame 'eye': at.x is 'r', a mass; a length is wanted, such as '3 m' (parameter 'r' is in"
        " kg)",
        "frame 'eye': at.y is 'r/2', a mass; a length is wanted, such as '3 m' (parameter 'r' is in"
        " kg)",
    )


def test_a_pin_on_a_frame_is_written_as_the_frame_is(crank):
    session = crank()
    m = session.model.read(CRANK).mechanism
    assert session._named(m, "crank", [0.035, 0.0175, 0.0]) == ["r", "r/2", 0]
    assert session._named(m, "crank", [0.035, 0.0, 0.0]) is None


def test_other_models_are_opened_and_made(crank, tmp_path):
    page = Page()
    session = crank(page)
    assert page.of("hello")[0]["files"] == ["crank.toml", *examples()]
    _set(session, page, ["parameters", "r"], "40 mm")
    session.received(page, {"kind": "new", "name": "other"})
    assert session.document.path.name == "other.toml" and page.of("opened")
    session.received(page, {"kind": "save"})
    session.received(page, {"kind": "open", "name": "crank"})
    assert '"40 mm"' in session.document.text  # not saved, and not lost
    session.received(page, {"kind": "open", "name": "pendulum"})
    assert session.document.on_disk is None and "pendulum" in session.document.text
    for kind, name, said in (
        ("open", "nothing", "there is no model 'nothing'"),
        ("open", "../crank", "there is no model"),
        ("new", "other", "exists already"),
        ("new", "a/b", "is no name of a file"),
    ):
        with pytest.raises(CatenaError, match=said):
            session.received(page, {"kind": kind, "name": name})
