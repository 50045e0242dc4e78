"""Input that is no model: it ends in one message, at once."""

from __future__ import annotations

import os

import pytest

import catena
from catena.compiler import cache
from catena.errors import FormatError
from catena.formats.units import quantity

ARM = """
[[body]]
name = "rod"
mass = 1
com = [0, 0, 0]
inertia = [1, 1, 1]
[[joint]]
name = "pin"
kind = "revolute"
parent = "ground"
child = "rod"
"""
MESH = (
    '<robot name="r"><link name="a"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"'
    ' ixy="0" ixz="0" iyz="0"/></inertial><collision><geometry><mesh filename="{0}"/></geometry>'
    "</collision></link></robot>"
)


@pytest.mark.parametrize("given", [None, 5, b"x.toml", 3.0, []])
@pytest.mark.parametrize("ask", [catena.load, catena.load_result])
def test_what_is_no_path_is_refused(ask, given):
    with pytest.raises(FormatError, match="it is no path .*; the path of a file is wanted"):
        ask(given)


def test_a_number_too_large_for_a_load_is_refused(tmp_path):
    path = tmp_path / "arm.toml"
    load = f'[[load]]\nname = "x"\nkind = "joint_force"\ncoordinate = "pin"\nforce = {10**400}\n'
    path.write_text(ARM + load)
    with pytest.raises(FormatError, match="force is a number of very many digits, which is too"):
        catena.load(path)


@pytest.mark.parametrize("name", ["n" * 4000, "package://n/" + "n" * 4000, "file://" + "n" * 4000])
def test_names_of_meshes_may_be_longer_than_names_of_files(tmp_path, name):
    path = tmp_path / "a.urdf"
    path.write_text(MESH.format(name))
    m = catena.load(path)
    assert m.bodies[0].shapes[0].file == name
    from catena.results.scene import describe

    assert describe(m)  # drawn with something in its place


@pytest.mark.parametrize("name", ["n" * 5000, "n" * 5000 + ".toml"])
def test_a_name_longer_than_files_have_is_refused(name):
    with pytest.raises(catena.CatenaError):
        catena.load(name)


def _nested(outer: str, inner: str, n: int) -> str:
    """max of mins: SymPy compared each of n^2 terms with every other."""
    terms = (f"{inner}({', '.join(f'a*{x} - b*{y}' for x in range(n))})" for y in range(n))
    return f"{outer}({', '.join(terms)})"


@pytest.mark.parametrize(("outer", "inner"), [("max", "min"), ("min", "max"), ("max", "max")])
def test_nested_minima_and_maxima_are_read_at_once(outer, inner):
    """SymPy took 93 s to compare their terms. They stay as they are written."""
    value = {"max": max, "min": min}
    found = quantity(_nested(outer, inner, 20), "number", {"a": 1.5, "b": 0.5})
    expected = value[outer](value[inner](1.5 * x - 0.5 * y for x in range(20)) for y in range(20))
    assert float(found.subs({"a": 1.5, "b": 0.5})) == pytest.approx(expected)
    assert len(found.args) == 20 and all(len(x.args) == 20 for x in found.args)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes are of Unix")
def test_a_pipe_in_the_place_of_compiled_code_is_passed_over(tmp_path, monkeypatch):
    monkeypatch.setenv("CATENA_CACHE_DIR", str(tmp_path))
    monkeypatch.delenv("CATENA_CACHE", raising=False)
    tmp_path.chmod(0o700)
    os.mkfifo(tmp_path / f"k{cache.SUFFIX}", 0o600)
    assert cache.load("k") is None
    cache.store("k", b"code")
    assert cache.load("k") == b"code"
