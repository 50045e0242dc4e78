"""Documents: comments and order stay, steps are undone, files are written whole and never over
another's changes.
"""

from __future__ import annotations

import pytest

pytest.importorskip("tomlkit")

from catena.errors import CatenaError, FormatError
from catena.studio.document import ChangedOnDisk, Document, value_of_text

TEXT = """# A pendulum.
name = "pendulum"   # its name

[parameters]
l = "1 m"      # length
m = 2.0

# the rod
[[body]]
name = "rod"
mass = "m"   # kg
com = ["l/2", 0, 0]
inertia = [0.0, 0.1, 0.1]

[[joint]]
name = "pin"
kind = "revolute"
parent = "ground"
child = "rod"

[scenario]   # what happens
until = "2 s"
initial = { q = { pin = "30 deg" } }
"""


@pytest.fixture
def document(tmp_path):
    (tmp_path / "p.toml").write_text(TEXT)
    return Document(tmp_path / "p.toml")


def test_a_value_changes_and_nothing_else(document):
    document.set(["parameters", "l"], "75 cm")
    document.set(["body", 0, "com", 1], "1 cm")
    wanted = TEXT.replace('l = "1 m" ', 'l = "75 cm" ').replace(
        '["l/2", 0, 0]', '["l/2", "1 cm", 0]'
    )
    assert document.text == wanted and not document.saved
    document.undo()
    document.undo()
    assert document.text == TEXT and not document.undo() and document.saved
    document.redo()
    assert document.data()["parameters"]["l"] == "75 cm"
    document.set(["parameters", "m"], 3)
    assert not document.redo()


def test_a_slider_is_one_step(document):
    for x in range(20):
        document.set(["parameters", "m"], x, "slide m")
    document.undo()
    assert document.text == TEXT


def test_tables_are_added_before_the_scenario(document):
    document.add(
        [
            ("frame", {"name": "tip", "body": "rod", "at": ["l", 0, 0]}),
            ("body", {"name": "bob", "mass": "1 kg"}),
        ],
        {"k": "3 N/m"},
    )
    text = document.text
    assert (
        text.index("[[frame]]") < text.index("[scenario]")
        and "# the rod" in text
        and "# what happens" in text
    )
    assert [b["name"] for b in document.data()["body"]] == ["rod", "bob"] and document.data()[
        "parameters"
    ]["k"] == "3 N/m"
    document.undo()
    assert document.text == TEXT  # one step


def test_renaming_reaches_references(document):
    document.rename(["body", 0], "bar")
    document.rename(["joint", 0], "hinge")
    data = document.data()
    assert data["joint"][0] == {
        "name": "hinge",
        "kind": "revolute",
        "parent": "ground",
        "child": "bar",
    } and data["scenario"]["initial"]["q"] == {"hinge": "30 deg"}


def test_removing(document):
    document.remove(["joint", 0])
    assert "joint" not in document.data()
    document.remove(["scenario", "until"])
    assert "until" not in document.data()["scenario"]
    with pytest.raises(CatenaError, match="this change cannot be made"):
        document.remove(["joint", 7])
    with pytest.raises(CatenaError, match="this change cannot be made"):
        document.set(["body", 9, "mass"], 1)


def test_saving_never_overwrites_another_s_changes(document):
    document.set(["parameters", "m"], 5)
    document.save()
    assert document.path.read_text() == document.text and document.saved
    document.path.write_text(TEXT)  # somebody else
    document.set(["parameters", "m"], 6)
    with pytest.raises(
        ChangedOnDisk,
        match=r"p\.toml was changed on disk since it was read here; it was not written",
    ):
        document.save()
    assert document.path.read_text() == TEXT
    mine = document.text
    document.reload()
    assert document.text == TEXT
    document.undo()
    assert document.text == mine
    document.save(force=True)
    assert document.path.read_text() == mine
    # nothing half written is left
    assert [p.name for p in document.path.parent.iterdir()] == ["p.toml"]


def test_a_new_file_and_a_bad_one(tmp_path):
    new = Document(tmp_path / "new.toml")
    assert new.data()["name"] == "new" and not new.saved and not new.path.exists()
    new.save()
    assert new.path.exists()
    (tmp_path / "bad.toml").write_text("name = = 3")
    with pytest.raises(FormatError, match="the file is not TOML"):
        Document(tmp_path / "bad.toml").data()
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(FormatError, match="not text in UTF-8"):
        Document(tmp_path / "bytes.toml")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3", 3),
        ("2.5e-3", 0.0025),
        ("10 cm", "10 cm"),
        ("true", True),
        ('[1, "2 cm"]', [1, "2 cm"]),
        ("l/2", "l/2"),
        ("inf", "inf"),
    ],
)
def test_what_is_typed(text, value):
    assert value_of_text(text) == value
    with pytest.raises(CatenaError, match="not a list or table of TOML"):
        value_of_text("[1, 2")


def test_a_model_that_takes_long_to_read_says_so_and_leaves_the_page_alive(tmp_path, monkeypatch):
    """A length that cannot be closed is searched for seconds: the page is told, and the studio
    takes messages meanwhile; the sign goes away.
    """
    import threading
    from importlib import import_module

    from catena.formats import _find
    from catena.studio.live_model import LiveModel, Reading

    path = tmp_path / "bar.toml"
    path.write_text(_find("four_bar").read_text())
    go_on = threading.Event()
    monkeypatch.setattr(import_module("catena.studio.studio"), "SLOW_READING_SECONDS", 0.05)

    def read(self, text):
        go_on.wait(20)
        return Reading()

    monkeypatch.setattr(LiveModel, "read", read)
    said, waits, over = [], threading.Event(), threading.Event()

    class Page:
        editor = True

        def send(self, kind, blob=b"", **data):
            if kind == "status":
                said.append(data["text"])
                (over if data["text"] == "" else waits).set()

    made = import_module("catena.studio.studio").Studio(Document(path))
    try:
        page = Page()
        made.opened(page)  # takes the lock
        assert waits.wait(10) and said[-1] == "closing the loops ..."
        assert made._lock.acquire(timeout=5)
        made._lock.release()
        go_on.set()
        assert over.wait(10) and said[-1] == ""
    finally:
        go_on.set()
        made.close()
