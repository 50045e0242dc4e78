"""Drawings of linkages: their dimensions are those of the mechanism; DXF opens in ezdxf."""

from __future__ import annotations

import io
from xml.etree import ElementTree

import numpy as np
import pytest

import catena
from catena.errors import CompileError
from catena.exports.drawing import drawing, dxf, svg


def of_four_bar():
    m = catena.load("four_bar")
    q, _ = catena.assemble(m, [1.2, -1.0, -1.5], fixed=["motor pin"])
    return drawing(m, q)


def test_dimensions_are_the_lengths_of_the_links():
    found = of_four_bar()
    assert sorted(text for *_, text in found.texts) == [
        "100",
        "158.1",
        "158.1",
        "250",
        "280",
        "300",
    ]
    lengths = [np.linalg.norm(line[1] - line[0]) for layer, line in found.lines if layer == "links"]
    assert sorted(lengths) == pytest.approx([100, 250, 300])  # the first side of each link


def test_svg_is_xml_in_millimetres():
    root = ElementTree.fromstring(svg(of_four_bar()))
    assert root.get("width").endswith("mm")
    assert [e.text for e in root.iter("{http://www.w3.org/2000/svg}text")]


def test_dxf_opens_in_ezdxf():
    ezdxf = pytest.importorskip("ezdxf")
    document = ezdxf.read(io.StringIO(dxf(of_four_bar())))
    kinds = [e.dxftype() for e in document.modelspace()]
    assert kinds.count("TEXT") == 6 and kinds.count("CIRCLE") == 9
    links = [e for e in document.modelspace().query("LINE") if e.dxf.layer == "links"]
    lengths = sorted(e.dxf.start.distance(e.dxf.end) for e in links)
    assert lengths == pytest.approx([100, 158.11, 158.11, 250, 300], abs=0.01)


def test_a_spatial_mechanism_is_refused():
    m = catena.load("stewart_platform")
    with pytest.raises(CompileError, match="not a planar linkage"):
        drawing(m, catena.compile(m).neutral())
