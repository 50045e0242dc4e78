"""Marker kinematics: points of a known motion give it back; noise is spread over all; loops stay
closed; wrong tables are refused.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import catena
from catena.analysis import marker_kinematics
from catena.errors import FormatError, StateError, UnknownNameError
from catena.simulation.scenario.marker_motion import marked

LEG = Path(__file__).parent.parent / "reference" / "opensim" / "leg.osim"


def motion(machine, T=9):
    t = np.linspace(0, 1, T)
    return t, np.stack(
        [0.4 * np.sin(2 * t), 0.2 * t, -0.1 * t, -0.4 - 0.5 * np.sin(3 * t), 0.2 * np.cos(t)],
        axis=1,
    )


def marks(machine, q):
    return {f.name: machine.pose(q, f.name)[..., :3, 3] for f in machine.mechanism.frames}


def test_the_markers_of_a_leg_give_its_motion_back(tmp_path):
    machine = catena.compile(catena.load(LEG))
    t, q = motion(machine)
    points = marks(machine, q)
    found = marker_kinematics(machine, points, guess=q[0] + 0.05)
    np.testing.assert_allclose(found.q, q, atol=1e-9)
    assert found.error.max() < 1e-10
    columns = {
        f"{name}.p{axis}": p[:, k] for name, p in points.items() for k, axis in enumerate("xyz")
    }
    pd.DataFrame({"time": t, **columns}).to_csv(tmp_path / "m.csv", index=False)
    path = marked(machine.mechanism, tmp_path / "m.csv", dict(zip(machine.coordinate_names, q[0])))
    np.testing.assert_allclose(path(t)[0], q, atol=1e-9)


def test_what_was_not_seen_and_what_is_heavy():
    machine = catena.compile(catena.load(LEG))
    _, q = motion(machine, 3)
    points = marks(machine, q)
    points["toe_mark"] = points["toe_mark"] + [0, 0, 0.02]
    points["heel_mark"][1] = np.nan
    loose, tight = (
        marker_kinematics(machine, points, weights={"toe_mark": w}, guess=q[0]) for w in (1e-6, 1.0)
    )
    np.testing.assert_allclose(loose.q[[0, 2]], q[[0, 2]], atol=1e-5)
    assert tight.error.max() > 1e-4 and loose.worst == "toe_mark"


def test_loops_stay_closed():
    m = catena.load("four_bar")
    machine = catena.compile(
        m.with_(
            frames=(
                *m.frames,
                catena.Frame("mark", m.joints[1].child, catena.Pose(position=(0.3, 0.1, 0))),
            )
        )
    )
    q, _ = catena.assemble(machine, machine.neutral() + 0.4)
    near, _ = catena.assemble(machine, q + 0.1)
    found = marker_kinematics(machine, {"mark": machine.pose(q, "mark")[:3, 3]}, guess=near)
    assert np.abs(machine.constraint_rows(found.q[0], np.zeros(machine.nv))[0]).max() < 1e-9
    assert found.error[0] < 1e-8


def test_what_is_wrong_is_said(tmp_path):
    m = catena.load(LEG)
    with pytest.raises(UnknownNameError, match="toe_mrk"):
        marker_kinematics(m, {"toe_mrk": np.zeros((2, 3))})
    with pytest.raises(StateError, match="as many instants"):
        marker_kinematics(m, {"toe_mark": np.zeros((2, 3)), "heel_mark": np.zeros((3, 3))})
    with pytest.raises(StateError, match="no markers"):
        marker_kinematics(m, {})
    (tmp_path / "m.csv").write_text("time,toe_mark.px\n0,1\n1,2\n")
    with pytest.raises(FormatError, match=r"FRAME.px, FRAME.py and FRAME.pz"):
        marked(m, tmp_path / "m.csv")
