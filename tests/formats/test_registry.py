"""A file format that catena does not know is added from outside, with its reader, its writer and an
option.
"""

from __future__ import annotations

import json

import pytest

import catena
from catena.errors import FormatError, UnknownNameError
from catena.formats import FORMATS, Format, files, register
from catena.formats.draft import Draft


def read(path, heavier=1.0):
    """A pendulum from {"length": m, "mass": kg}."""
    given = json.loads(files.read(path))
    faults = [] if given["mass"] > 0 else [f"mass is {given['mass']}; a bob has one"]
    bob = catena.Body(
        "bob", abs(given["mass"]) * heavier, (0, 0, -given["length"]), (0.1, 0.1, 0.1)
    )
    return Draft(
        path,
        catena.Mechanism(
            path.stem, [bob], [catena.Joint("pin", "revolute", "ground", "bob", axis=(0, 1, 0))]
        ),
        faults,
    )


def text(mechanism):
    bob = mechanism.body("bob")
    return json.dumps({"length": -bob.com[2], "mass": bob.mass})


@pytest.fixture
def toy():
    form = Format(
        "toy",
        "a pendulum in two numbers",
        (".toy", ".xml"),
        read,
        text,
        options=("heavier",),
        recognises=lambda head: head.startswith(b"{"),
    )
    yield register(form)
    del FORMATS["toy"]


def test_a_toy_format_is_read_run_and_written(toy, tmp_path):
    path = tmp_path / "pendulum.toy"
    path.write_text('{"length": 0.5, "mass": 2}')
    m = catena.load(path, heavier=1.5)
    assert m.body("bob").mass == 3.0
    assert catena.load(path, floating=False, gravity=(0, 0, 0)).gravity == (
        0,
        0,
        0,
    ), "what load itself takes holds for every format"
    catena.save(m, tmp_path / "again.toy")
    assert json.loads((tmp_path / "again.toy").read_text()) == {"length": 0.5, "mass": 3.0}
    catena.save(m, tmp_path / "as.toml")
    assert catena.load(tmp_path / "as.toml").bodies == m.bodies


def test_its_faults_and_options_are_told_like_any_other(toy, tmp_path):
    path = tmp_path / "pendulum.toy"
    path.write_text('{"length": 0.5, "mass": -2}')
    with pytest.raises(FormatError, match="a bob has one"):
        catena.load(path)
    with pytest.raises(
        UnknownNameError, match="no option 'haevier' in the reader of toy.*Did you mean 'heavier'"
    ):
        catena.load(path, haevier=2)
    with pytest.raises(FormatError, match=r"known are \.toml, \.urdf, \.xml.*, \.toy"):
        catena.load(tmp_path / "x.step")


def test_two_formats_that_share_a_suffix_are_told_apart_by_their_beginning(toy, tmp_path):
    (tmp_path / "a.xml").write_text('{"length": 0.5, "mass": 2}')
    (tmp_path / "b.xml").write_text('<robot name="r"><link name="base"/></robot>')
    assert catena.load(tmp_path / "a.xml").body("bob").mass == 2.0
    assert catena.load(tmp_path / "b.xml").name == "r"


def test_a_name_that_is_taken_is_refused(toy):
    with pytest.raises(FormatError, match="known already"):
        register(toy)
