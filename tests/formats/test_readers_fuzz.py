"""Readers under nonsense: whatever the bytes, a mechanism or a CatenaError comes out, and soon."""

from __future__ import annotations

import re
import tomllib
import warnings
from importlib import resources
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from catena.errors import CatenaError, MechanismWarning
from catena.formats import examples, load, save
from catena.formats.units import DIMENSIONS, quantity
from catena.model.expressions import constant, parse
from catena.model.mechanism import Mechanism

few = settings(
    max_examples=120,
    derandomize=True,
    deadline=20_000,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
TOMLS = [
    (resources.files("catena") / "examples" / f"{name}.toml").read_text() for name in examples()
]
URDF = """<robot name="r"><material name="m"><color rgba="1 0 0 1"/></material>
<link name="a"><inertial><origin xyz="0 0 1" rpy="0.1 0 0"/><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
<visual><geometry><box size="1 1 1"/></geometry><material name="m"/></visual></link><link name="b"/><link name="c"/>
<joint name="j" type="revolute"><origin xyz="1 0 0"/><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/><dynamics damping="0.1" friction="0"/></joint>
<joint name="k" type="prismatic"><parent link="b"/><child link="c"/><limit lower="-1" upper="1" effort="1" velocity="1"/>
<mimic joint="j" multiplier="2"/></joint></robot>"""  # noqa: E501
NASTY = [
    "nan",
    "inf",
    "-inf",
    "1e308",
    "-1e308",
    "1e999",
    "0",
    "-0.0",
    "1,0",
    "",
    " ",
    "a",
    "ground",
    "&amp;",
    "9" * 400,
    "1e-400",
    "[",
    "{}",
    "true",
    '"3 kg"',
    '"m1"',
    "[1, 2, 3]",
    "[[1, 0, 0], [0, 1, 0], [0, 0, 1]]",
    '"' + "(" * 300 + '"',
    "\x00",
    "\u2028",
    "'9**9**9**9'",
    "1979-05-27",
]


def survives(path: Path, data: bytes) -> None:
    """Load the bytes; what comes out is valid and can be written, or says why not."""
    path.write_bytes(data)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", MechanismWarning)
        try:
            m = load(path)
        except CatenaError as refused:
            assert str(refused)
            return
    assert isinstance(m, Mechanism)
    save(m, path.with_name("again.toml"))


@st.composite
def damaged(draw, texts: list[str]) -> bytes:
    """A good text with one or more pieces cut, doubled, exchanged or replaced."""
    text = draw(st.sampled_from(texts))
    for _ in range(draw(st.integers(1, 3))):
        i, j = sorted((draw(st.integers(0, len(text))), draw(st.integers(0, len(text)))))
        how = draw(st.sampled_from(["cut", "end", "double", "replace", "word"]))
        if how == "cut":
            text = text[:i] + text[min(j, i + 20) :]
        elif how == "end":
            text = text[:j]
        elif how == "double":
            text = text[:i] + text[i : i + 200] * 2 + text[i + 200 :]
        elif how == "replace":
            text = text[:i] + draw(st.text(max_size=5)) + text[i + 3 :]
        else:
            words = text.split(" ")
            words[draw(st.integers(0, len(words) - 1))] = draw(st.sampled_from(NASTY))
            text = " ".join(words)
    return text.encode("utf-8", "surrogatepass")


@pytest.mark.parametrize("suffix", [".toml", ".urdf", ".sdf", ".osim", ".xml", ".xacro"])
@few
@given(data=st.binary(max_size=300))
@example(data=b"\xff\xfe<\x00r\x00/\x00>\x00")
@example(data=b"\xef\xbb\xbf<robot/>")
@example(data=b"<robot>\x00</robot>")
@example(data=b"a = " + b"{a = " * 2000)
def test_random_bytes(tmp_path, suffix, data):
    survives(tmp_path / f"x{suffix}", data)


@few
@given(data=damaged(TOMLS))
def test_damaged_toml(tmp_path, data):
    survives(tmp_path / "x.toml", data)


@few
@given(data=damaged([URDF]))
def test_damaged_urdf(tmp_path, data):
    survives(tmp_path / "x.urdf", data)


@few
@given(
    attribute=st.integers(0, 60),
    value=st.one_of(st.sampled_from(NASTY), st.text(max_size=8), st.floats().map(repr)),
)
def test_any_value_in_any_attribute_of_urdf(tmp_path, attribute, value):
    pieces = URDF.split('"')
    k = 2 * (attribute % (len(pieces) // 2)) + 1
    pieces[k] = value.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")
    survives(tmp_path / "x.urdf", '"'.join(pieces).encode("utf-8", "surrogatepass"))


SDF = """<sdf version="1.7"><model name="m"><link name="a"><pose>0 0 1 0 0 0</pose><inertial><pose>.1 0 0 .3 0 0</pose><mass>2</mass><inertia>
<ixx>.1</ixx><iyy>.2</iyy><izz>.25</izz></inertia></inertial><visual name="v"><geometry><box><size>1 1 1</size></box></geometry></visual></link>
<link name="b"/><frame name="f" attached_to="a"><pose relative_to="b">1 0 0 0 0 0</pose></frame>
<joint name="j" type="revolute"><parent>world</parent><child>a</child><axis><xyz expressed_in="f">0 0 1</xyz><limit><lower>-1</lower><upper>1</upper></limit>
<dynamics><damping>.1</damping><spring_stiffness>3</spring_stiffness></dynamics></axis></joint>
<joint name="k" type="universal"><parent>a</parent><child>b</child><axis><xyz>0 0 1</xyz></axis><axis2><xyz>0 1 0</xyz></axis2></joint></model></sdf>"""  # noqa: E501
MJCF = """<mujoco model="m"><compiler angle="radian"/><worldbody><body name="a"><joint name="j" axis="0 1 0" ref=".1" stiffness="2"/><geom size=".1"/><site name="s"/>
<body name="b" pos="1 0 0"><joint name="k" type="slide" axis="1 0 0" range="-1 1"/><geom type="box" size=".1 .1 .1"/></body></body></worldbody>
<equality><joint joint1="j" joint2="k" polycoef="0 1 2 0 0"/></equality><actuator><motor name="m" joint="j" gear="2"/></actuator>
<keyframe><key name="home" qpos=".1 .2"/></keyframe></mujoco>"""  # noqa: E501
OSIM = (Path(__file__).parent.parent / "reference" / "opensim" / "leg.osim").read_text()


@pytest.mark.parametrize(("suffix", "text"), [(".sdf", SDF), (".xml", MJCF), (".osim", OSIM)])
@settings(few, max_examples=60)
@given(data=st.data())
def test_damaged_files_of_other_tools(tmp_path, suffix, text, data):
    survives(tmp_path / f"x{suffix}", data.draw(damaged([text])))


@pytest.mark.parametrize(("suffix", "text"), [(".sdf", SDF), (".osim", OSIM)])
@settings(few, max_examples=60)
@given(
    k=st.integers(0, 10_000),
    value=st.one_of(st.sampled_from(NASTY), st.text(max_size=8), st.floats().map(repr)),
)
def test_any_text_in_any_element(tmp_path, suffix, text, k, value):
    pieces = re.split(r">([^<>]+)<", text)
    k = 2 * (k % (len(pieces) // 2)) + 1
    pieces[k] = value.replace("&", "&amp;").replace("<", "&lt;")
    survives(
        tmp_path / f"x{suffix}",
        "".join(f">{x}<" if i % 2 else x for i, x in enumerate(pieces)).encode(
            "utf-8", "surrogatepass"
        ),
    )


_values = st.recursive(
    st.one_of(
        st.booleans(),
        st.integers(),
        st.floats(),
        st.text(max_size=6),
        st.dates(),
        st.sampled_from(["3 kg", "m1", "ground", "link1", "90 deg", "Rx"]),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(
            st.sampled_from(["x", "rpy", "axis", "angle", "joint", "lower"]), inner, max_size=3
        ),
    ),
    max_leaves=6,
)


@few
@given(data=st.data())
def test_any_value_in_any_field_of_toml(tmp_path, data):
    tree = tomllib.loads(data.draw(st.sampled_from(TOMLS)))
    rows = [
        row
        for rows in tree.values()
        if isinstance(rows, list)
        for row in rows
        if isinstance(row, dict)
    ]
    table = data.draw(st.sampled_from([tree, *rows]))
    known = [
        "axis",
        "rotate",
        "dh",
        "mimic",
        "limits",
        "damping",
        "sequence",
        "pitch",
        "shapes",
        "child_at",
        "planar",
        "notes",
        "as_found",
    ]
    table[data.draw(st.sampled_from([*table, *known]))] = data.draw(_values)
    survives(tmp_path / "x.toml", "\n".join(_written(tree)).encode("utf-8", "surrogatepass"))


def _written(tree: dict) -> list[str]:
    lines = [f"{_text(key)} = {_inline(value)}" for key, value in tree.items()]
    return lines


def _inline(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_text(k)} = {_inline(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_inline, value)) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    return _text(value) if isinstance(value, str) else str(value)


def _text(text: str) -> str:
    return (
        '"'
        + "".join(
            (
                c
                if (c.isalnum() and c.isascii()) or c in " _.*/^+-"
                else f"\\u{min(ord(c), 0xD7FF):04x}"
            )
            for c in text
        )
        + '"'
    )


@few
@given(
    text=st.text(alphabet="0123456789.eE+-*/^() mkgNsradpinl1°²,", max_size=25),
    dimension=st.sampled_from([*DIMENSIONS, "any"]),
)
def test_any_text_as_a_quantity(text, dimension):
    for parameters in ({}, {"m": 1.0, "l1": 0.0}):
        try:
            quantity(text, dimension, parameters)
        except CatenaError as refused:
            assert str(refused)


@few
@given(text=st.text(alphabet="0123456789.eE+-*/^() ab,sinqrtmaxpi_", max_size=40))
@example(text="9**9**9**9")
@example(text="(-1)**0.5**a")
@example(text="a**a**a**a**a**99")
def test_any_text_as_an_expression(text):
    for read in (constant, lambda t: parse(t, ["a", "b"])):
        try:
            read(text)
        except CatenaError as refused:
            assert str(refused)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ('quat="nan 0 0 0"', "only finite numbers are taken; found <body> b: quat = 'nan 0 0 0'"),
        ('pos="0 -inf 0"', "found <body> b: pos = '0 -inf 0'"),
        ('quat="1e300 0 1e300 0"', "its numbers are too large: body_quat"),
    ],
)
def test_a_model_of_mujoco_with_numbers_that_are_none(tmp_path, wrong, message):
    """MuJoCo's own compiler does not come back from a quaternion that is no number."""
    pytest.importorskip("mujoco")
    path = tmp_path / "m.xml"
    path.write_text(
        f"""<mujoco><worldbody><body name="b" {wrong}><joint name="j" ref="0" range="-inf inf"/><geom size="1"/></body></worldbody></mujoco>"""  # noqa: E501
    )
    with pytest.raises(CatenaError, match=message):
        load(path)
