"""The gallery: every example runs, agrees with the print and the references, and makes pictures
that are not blank.
"""

from __future__ import annotations

import io
import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import gallery
from catena import cli
from catena.errors import CatenaError, UnknownNameError
from catena.formats import examples
from catena.machine.machine import compile
from gallery import building, page, writing

ROOT = Path(__file__).parents[1]
REFERENCE = ROOT / "tests" / "reference" / "gallery"


# --- densely, against references
def triple_pendulum(ref):
    from gallery import triple_pendulum as own

    body = own.profiles(own.load("triple_pendulum"), own.motion())
    return {name: (body[name][::10], ref[name]) for name in body}


def four_link_closed(ref):
    from gallery import four_link_closed as own

    run = own.motion()
    force = own.tip_force(run)
    return {
        "q": (run.q.values[::5], ref["q"]),
        "v": (run.v.values[::5], ref["v"]),
        "force": (force[::5], ref["force"]),
    }


def space_manipulator(ref):
    from gallery import space_manipulator as own

    machine = compile(own.load("space_manipulator"))
    hold = own.held(machine, own.arms(), ref["t"])
    return {
        "hull": (own.place(own.drift().q.values)[::5], ref["hull"]),
        "hold": (hold, ref["hold"]),
    }


def rolling_disc(ref):
    from gallery import rolling_disc as own

    q = own.motion().q.values[::10]
    v = own.motion().v.values[::10]
    # of two attitudes that are the same: one
    turned = np.abs(np.sum(q[:, 3:] * ref["quaternion"], axis=1))
    return {
        "centre": (q[:, :3], ref["centre"]),
        "spin": (v[:, 3:], ref["spin"]),
        "attitude": (turned, np.ones(len(q))),
    }


def knife_edge(ref):
    from gallery import knife_edge as own

    u, w = own.speeds(own.motion())
    place = np.stack([ref["x"], ref["y"], ref["theta"]], axis=1)
    return {
        "place": (own.motion().q.values[::20], place),
        "u": (u[::20], ref["u"]),
        "w": (w[::20], ref["w"]),
    }


def bricard(ref):
    from gallery import bricard as own

    q = own.motion().q.values[::20]
    return {
        "q": (q, ref["q"]),
        "corner": (own.motion().machine.pose(q, "corner")[:, :3, 3], ref["corner"]),
    }


def two_four_bars(ref):
    from gallery import four_bar as own

    run = own.benchmark()
    q = run.q.values[::20]
    v = run.v.values[::20]
    place = run.machine.pose(q, "top")[:, :2, 3]
    speed = run.machine.frame_velocity(q, v, "top")[:, 3:5]
    return {"top": (np.hstack([place, speed]), ref["top"])}


def planar_two_link(ref):
    from gallery import planar_two_link as own

    machine = compile(own.load("planar_two_link"))
    q, v, a = own.way(machine)(ref["t"])
    return {
        "q": (q, ref["q"]),
        "v": (v, ref["v"]),
        "tau": (machine.inverse_dynamics(q, v, a), ref["tau"]),
    }


DENSE = {
    "triple_pendulum": triple_pendulum,
    "four_link_closed": four_link_closed,
    "space_manipulator": space_manipulator,
    "rolling_disc": rolling_disc,
    "knife_edge": knife_edge,
    "bricard": bricard,
    "four_bar": two_four_bars,
    "planar_two_link": planar_two_link,
}
FILES = {"four_bar": "two_four_bars"}
WITHIN = {"bricard": 1e-6, "four_bar": 1e-6}  # as the references claim; 1e-8 elsewhere


@pytest.mark.parametrize("name", gallery.NAMES)
def test_an_example_agrees_and_makes_its_page(name, tmp_path):
    """One run: the page's numbers, its text and pictures, and the whole course of the motion."""
    told = gallery.example(name)
    found = told.run()
    assert found.numbers and not found.disagreements, [
        (n.what, n.ours, n.printed, n.reference) for n in found.disagreements
    ]
    assert found.pictures and set(told.files) <= set(examples())
    for k, picture in enumerate(found.pictures):
        file = tmp_path / f"{k}.png"
        writing.save(picture.figure, file)
        assert file.stat().st_size < 150_000
        ink = np.asarray(Image.open(file).convert("L")) < 200
        assert 0.002 < ink.mean() < 0.6, f"picture {k} of {name} is blank or black"
        assert picture.caption.endswith(".")
    text = writing.text(name, told, found, [f"{k}.png" for k in range(len(found.pictures))])
    for part in (f"# {told.title}", "```text", "$ catena ", "## Numbers", "## Pictures", "```toml"):
        assert part in text
    assert "**differs**" not in text and not re.search(r"\bnan\b", text)
    if name in DENSE:
        data = json.loads((REFERENCE / f"{FILES.get(name, name)}.json").read_text())
        ref = {key: np.array(x) for key, x in data.items() if key != "source"}
        for what, (mine, theirs) in DENSE[name](ref).items():
            off = np.abs(mine - theirs).max() / max(1.0, np.abs(theirs).max())
            assert mine.shape == theirs.shape and off < WITHIN.get(name, 1e-8), (what, off)


def test_the_commands_of_the_pages_are_commands():
    for name in gallery.NAMES:
        for command in gallery.example(name).commands:
            words = command.split()
            assert words[0] == "catena" and words[1] in cli.COMMANDS and words[2] in examples(), (
                command
            )


def test_every_file_of_the_gallery_has_a_drawing():
    for name in gallery.NAMES:
        for file in gallery.example(name).files:
            assert len(writing.drawing(writing.toml(file)).splitlines()) >= 3, file


# --- numbers and words
def test_printed_digits_are_met_or_not():
    assert page.number("x", 2.269351, printed="2.26935").agrees
    assert not page.number("x", 2.269357, printed="2.26935").agrees
    assert page.number("x", 2.269357, printed="2.26935", last=1.0).agrees
    assert page.number("x", 5.0, printed="3.02", wrong=True).agrees
    assert page.number("x", [1.0, 2.0], reference=[1.0, 2.0 + 1e-9]).agrees
    assert not page.number("x", [1.0, 2.0], reference=[1.0, 2.0 + 1e-6]).agrees
    assert not page.number("x", np.nan, reference=0.0).agrees
    with pytest.raises(ValueError, match="2 numbers of ours for 1"):
        page.number("x", [1.0, 2.0], printed="1")


def test_a_table_is_markdown_without_empty_columns():
    assert (
        writing.grid(("a", "b", "c"), [("1", "", "x|y")])
        == "| a | c |\n| --- | --- |\n| 1 | x\\|y |"
    )


def entry(name, wrong=()):
    return writing.Entry(name, f"Title of {name}", "shows", f"{name}_1.png", 3, wrong)


def test_the_index_has_every_page_in_order():
    text = writing.index([entry(name) for name in reversed(gallery.NAMES)])
    places = [text.index(f"[**{name}**]({name}.md)") for name in gallery.NAMES]
    assert places == sorted(places) and text.count("[![") == len(gallery.NAMES)


# --- building
def run(capsys, *arguments):
    with pytest.raises(SystemExit) as left:
        cli.main([str(a) for a in arguments])
    out, err = capsys.readouterr()
    return left.value.code or 0, out, err


def test_one_page_from_the_command_line(capsys, tmp_path):
    status, out, err = run(
        capsys, "gallery", "stanford_worked", "--source", ROOT, "--out", tmp_path / "pages"
    )
    assert (status, err) == (0, "")
    assert "stanford_worked: 19 of 19 numbers agree" in out and "1 page in" in out
    made = sorted(p.name for p in (tmp_path / "pages").iterdir())
    # no index of a part
    assert made == ["stanford_worked.md", "stanford_worked_1.png", "stanford_worked_2.png"]
    text = (tmp_path / "pages" / "stanford_worked.md").read_text()
    assert "2.26935, 18.25191, -4.40825, 2.16351, 0.0015 (4.62)" in text
    for file in re.findall(r"\]\((\S+\.png)\)", text):
        assert Image.open(io.BytesIO((tmp_path / "pages" / file).read_bytes())).size[0] > 500


def test_an_unknown_name_lists_the_names(capsys, tmp_path):
    status, _, err = run(capsys, "gallery", "stanford_valv", "--source", ROOT, "--out", tmp_path)
    assert status == 2 and "no example 'stanford_valv' in the gallery" in err
    assert "triple_pendulum" in err and "Did you mean 'stanford_valve'?" in err
    with pytest.raises(UnknownNameError):
        gallery.example("none")


def test_a_folder_that_cannot_be_written_is_told_before_anything_is_computed(
    capsys, tmp_path, monkeypatch
):
    monkeypatch.setattr(building, "make", lambda *_: pytest.fail("computed"))
    (tmp_path / "taken").write_text("a file")
    status, _, err = run(capsys, "gallery", "--source", ROOT, "--out", tmp_path / "taken" / "pages")
    assert (
        status == 2 and "the pages cannot be written there" in err and "nothing was computed" in err
    )
    assert (tmp_path / "taken").read_text() == "a file"


def test_numbers_that_disagree_are_an_error_after_everything_is_written(tmp_path, monkeypatch):
    told = gallery.example("stanford_worked")
    wrong = page.number("the joint forces", 1.0, reference=2.0)
    monkeypatch.setattr(
        writing, "example", lambda name: replace(told, run=lambda: page.Page((wrong,), ()))
    )
    with pytest.raises(CatenaError, match="stanford_worked: the joint forces"):
        building.build(tmp_path, ["stanford_worked"])
    assert "**differs**" in (tmp_path / "stanford_worked.md").read_text()


def test_all_pages_make_an_index(tmp_path, monkeypatch):
    monkeypatch.setattr(building, "make", lambda name, folder: entry(name))
    seen = []
    building.build(tmp_path, processes=1, progress=lambda e: seen.append(e.name))
    assert seen == list(gallery.NAMES) and (tmp_path / "index.md").exists()
