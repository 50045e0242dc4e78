"""Synthesis: exact methods against their own equations and a peer, least squares against known
linkages, published counts of chains, laws of cams.
"""

from __future__ import annotations

import numpy as np
import pytest

import catena
from catena.errors import FormatError, QuestionError, UnknownNameError
from catena.synthesis import (
    DEFECTS,
    MOTION_LAWS,
    Defect,
    Follower,
    FourBar,
    Segment,
    cam,
    cognates,
    dyads,
    fit_path,
    function_generators,
    generic_solutions,
    grashof_type,
    kinematic_chains,
    read_task,
    smallest_base_radius,
)

#            o P
#          .    .
#     A o---------o B        crank 1.3, coupler 3.5, rocker 3
#      /           \
#  A0 o- - - - - - -o B0
KNOWN = FourBar(0.2 + 0.1j, 4 + 0.5j, 1.3, 3.5, 3, 1 + 1j)


def poses_of(four_bar, angles):
    P = four_bar.coupler_points(angles)
    A = four_bar.pivot + four_bar.crank * np.exp(1j * angles)
    return np.stack([P.real, P.imag, np.angle((P - A) / four_bar.point)], axis=1)


@pytest.mark.parametrize("count", [3, 4, 5])
def test_freudenstein_finds_the_linkage_that_made_the_points(count):
    made = FourBar(0, 1, 0.4, 0.9, 0.7)
    phi = np.array([0.5, 0.9, 1.4, 2.1, 2.6])[:count]
    psi = made.rocker_angles(phi)
    references = (0.35 * (count == 5), 0.6 * (count > 3))
    found = function_generators(phi - references[0], psi - references[1])
    miss = [np.abs(np.subtract(f.lengths, made.lengths)).max() for f, _, _ in found]
    _, phi_0, psi_0 = found[int(np.argmin(miss))]
    assert min(miss) < 1e-11
    assert np.allclose((phi_0, psi_0), references, atol=1e-11)
    for four_bar, a, b in found:  # every solution obeys the cosine law at every point
        A = four_bar.crank * np.exp(1j * (phi - references[0] + a))
        B = 1 + four_bar.rocker * np.exp(1j * (psi - references[1] + b))
        assert np.abs(np.abs(B - A) - four_bar.coupler).max() < 1e-9 * four_bar.size


def test_freudenstein_agrees_with_pylinkage():
    peer = pytest.importorskip("pylinkage.synthesis.function_generation")
    phi, psi = np.array([0.5, 1.0, 1.6]), np.array([1.2, 1.5, 2.05])
    K = peer.solve_freudenstein_3_positions(list(zip(phi, psi)))
    ours = next(f for f, _, _ in function_generators(phi, psi))
    d, a, b, c = ours.lengths
    R3 = (a * a - b * b + c * c + d * d) / (2 * a * c)
    assert sorted(np.abs([d / a, d / c, R3])) == pytest.approx(sorted(np.abs(K)), rel=1e-9)


def test_burmester_finds_the_dyads_of_the_linkage_that_took_the_poses():
    poses = poses_of(KNOWN, np.array([0.2, 0.6, 1.1, 1.7, 2.2]))
    found = dyads(poses)
    assert len(found) in (2, 4)
    for centre, length in ((KNOWN.pivot, KNOWN.crank), (KNOWN.second_pivot, KNOWN.rocker)):
        near = min(found, key=lambda d: abs(d.centre - centre))
        assert abs(near.centre - centre) < 1e-9 and abs(near.length - length) < 1e-9


def test_four_poses_give_points_of_burmesters_curve():
    poses = poses_of(KNOWN, np.array([0.2, 0.6, 1.1, 1.7]))
    d, turn = poses[:, 0] + 1j * poses[:, 1], np.exp(1j * poses[:, 2])
    found = dyads(poses)
    assert len(found) > 30
    for x in found:
        assert np.ptp(np.abs(d + turn * x.point - x.centre)) < 1e-7 * (1 + x.length)


def test_motion_generation_ranks_the_known_linkage_first():
    found = catena.synthesize("motion", poses=poses_of(KNOWN, np.array([0.2, 0.6, 1.1, 1.7, 2.2])))
    assert np.allclose(found.best.four_bar.lengths, KNOWN.lengths, atol=1e-9)
    assert not found.best.defects and found.candidates[-1].defects


def test_path_generation_finds_the_linkage_and_its_cognate():
    P = KNOWN.coupler_points(2 * np.pi * np.arange(12) / 12)
    found = fit_path(np.stack([P.real, P.imag], axis=1), starts=200)
    exact = [x.four_bar for x in found if x.error < 1e-11]
    wanted = [KNOWN, *(c for c in cognates(KNOWN) if c.kind == "crank-rocker")]
    lengths = [sorted(x.lengths) for x in exact]
    assert any(np.allclose(sorted(KNOWN.lengths), x, atol=1e-7) for x in lengths)
    assert len(exact) >= len(wanted)


def test_path_gradients_are_exact():
    from catena.synthesis.path_fit import kernel

    x, h = KNOWN.vector, 1e-6
    args = [np.array([0.7]), np.array([1.0]), np.zeros(2)]

    def at(x, angle):
        (r, Jx, Jt), _ = kernel()([x, np.array([angle]), *args[1:]], 1)
        return r[0], Jx[0].reshape(2, 9), Jt[0]

    _, Jx, Jt = at(x, 0.7)
    for k in range(9):
        e = h * np.eye(9)[k]
        assert np.allclose((at(x + e, 0.7)[0] - at(x - e, 0.7)[0]) / (2 * h), Jx[:, k], atol=1e-8)
    assert np.allclose((at(x, 0.7 + h)[0] - at(x, 0.7 - h)[0]) / (2 * h), Jt, atol=1e-8)


def test_path_with_timing():
    t = np.array([0, 0.3, 0.7, 1, 1.5, 2, 2.4, 2.9])
    P = KNOWN.coupler_points(t)
    found = fit_path(np.stack([P.real, P.imag], axis=1), starts=200, timing=t)
    assert found[0].error < 1e-11
    assert np.allclose(found[0].angles - found[0].angles[0], t, atol=1e-12)


def test_five_points_with_given_pivots_have_36_solutions():
    data, found = generic_solutions()
    assert len(found) == 36  # [Morgan1990]
    angles = np.array([0.2, 0.9, 1.9, 3.0, 4.4])
    P = KNOWN.coupler_points(angles)
    ends = {"pivot": (0.2, 0.1), "second_pivot": (4, 0.5)}
    real = catena.synthesize("five points", points=np.stack([P.real, P.imag], 1), **ends)
    assert 1 <= len(real) <= 36
    best = min(real, key=lambda c: abs(c.four_bar.crank - 1.3) + abs(c.four_bar.rocker - 3))
    assert np.allclose(best.four_bar.lengths, KNOWN.lengths, atol=1e-10) and not best.defects
    assert all(c.error < 1e-9 * c.size for c in real)
    from catena.synthesis.five_points import equations

    residual = equations(found, np.broadcast_to(data, (36, 12)))
    assert np.abs(residual).max() < 1e-11


def test_cognates_draw_the_same_curve():
    angles = np.linspace(-3, 3, 200)
    P = KNOWN.coupler_points(angles)
    A = KNOWN.pivot + KNOWN.crank * np.exp(1j * angles)
    B = A + (P - A) / KNOWN.point * KNOWN.coupler
    for cognate, side in zip(cognates(KNOWN), (P - A, P - B)):
        both = [cognate.with_sign(s).coupler_points(np.angle(side)) for s in (1, -1)]
        assert np.nanmin(np.abs(np.array(both) - P), axis=0).max() < 1e-12
    kinds = sorted(c.kind for c in cognates(KNOWN))
    assert kinds == ["double-rocker", "rocker-crank"]  # a crank-rocker has one of each


def test_grashof_types():
    assert grashof_type(4, 1, 3.5, 3) == "crank-rocker"
    assert grashof_type(4, 3, 3.5, 1) == "rocker-crank"
    assert grashof_type(4, 3.5, 1, 3) == "double-rocker"
    assert grashof_type(1, 3, 3.5, 3) == "double-crank"
    assert grashof_type(5, 2, 2, 2) == "triple-rocker"
    assert grashof_type(4, 2, 4, 2) == "change point"


def test_every_defect_is_named():
    poses = poses_of(KNOWN, np.array([0.2, 0.6, 1.1, 1.7, 2.2]))
    swapped = poses[[0, 2, 1, 3, 4]]
    found = catena.synthesize(
        "motion", poses=swapped, full_turn=True, transmission_angle=np.radians(80), size=2.0,
        box=(0, 0, 1, 1)
    )  # fmt: skip
    names = {name for c in found for name in c.defects}
    assert {"order", "grashof", "transmission angle", "size", "branch"} <= names
    sentence = found.candidates[0].defects["transmission angle"]
    assert "below 80.0 deg" in sentence


def test_positions_on_two_circuits():
    poses = poses_of(KNOWN, np.array([0.2, 0.6, 1.1]))
    other = poses_of(KNOWN.with_sign(-1), np.array([1.7, 2.2]))
    found = catena.synthesize("motion", poses=np.concatenate([poses, other]))
    assert any("another circuit" in c.defects.get("circuit", "") for c in found)


def test_a_defect_can_be_added_from_outside():
    DEFECTS.register(Defect("toy", "always", lambda x: "it is a toy"))
    try:
        poses = poses_of(KNOWN, np.array([0.2, 0.6, 1.1, 1.7, 2.2]))
        assert "toy" in catena.synthesize("motion", poses=poses).best.defects
    finally:
        del DEFECTS["toy"]


def test_a_candidate_can_be_simulated_and_saved(tmp_path):
    poses = poses_of(KNOWN, np.array([0.2, 0.6, 1.1, 1.7, 2.2]))
    found = catena.synthesize("motion", poses=poses)
    mechanism = found.best.mechanism(0.8)
    machine = catena.compile(mechanism)
    q = [found.best.start()[name] for name in machine.coordinate_names]
    assert np.abs(machine.constraint_rows(q, np.zeros(3))[0]).max() < 1e-12
    result = catena.simulate(machine, q=q, until=0.2)
    assert result.data.sizes["time"] > 1
    files = found.save(tmp_path / "out", 0.8, count=1)
    again = catena.load(files[0])
    assert again.parameters["crank"] == pytest.approx(1.3) and files[-1].stat().st_size > 5000


def test_counts_of_kinematic_chains():
    pytest.importorskip("networkx")
    assert [len(kinematic_chains(n)) for n in (4, 6, 8)] == [1, 2, 16]  # [Mruthyunjaya2003]
    with pytest.raises(QuestionError, match="4, 6, 8"):
        kinematic_chains(5)


# [Norton2009], table 8-3: peak velocity and acceleration for unit rise in unit time
PEAKS = {
    "harmonic": (1.571, 4.945),
    "cycloidal": (2.0, 6.283),
    "3-4-5": (1.875, 5.777),
    "4-5-6-7": (2.188, 7.526),
    "modified sine": (1.760, 5.528),
}


@pytest.mark.parametrize("name", PEAKS)
def test_motion_laws(name):
    u = np.linspace(0, 1, 20001)
    s, v, a = MOTION_LAWS[name].values(u)
    assert s[0] == pytest.approx(0) and s[-1] == pytest.approx(1)
    assert np.abs(np.gradient(s, u)[1:-1] - v[1:-1]).max() < 1e-6
    assert np.abs(np.gradient(v, u)[2:-2] - a[2:-2]).max() < 1e-2
    assert (v.max(), a.max()) == pytest.approx(PEAKS[name], rel=3e-3)


def test_the_profile_of_a_cam_touches_its_roller():
    up = [Segment("3-4-5", np.pi, 0.02), Segment("modified sine", np.pi, -0.02)]
    found = cam(up, 0.04, Follower(0.01, 0.005))
    assert np.abs(np.abs(found.profile - found.pitch) - 0.01).max() < 1e-15
    # the roller overlaps the cam nowhere: every point of the profile is at least 10 mm away
    distance = np.abs(found.pitch[::20, None] - found.profile[None])
    assert distance.min() > 0.01 - 1e-12
    # the pressure angle is that between the normal of the profile and the follower's line
    normal = (found.pitch - found.profile) * np.exp(1j * found.angle)
    assert np.abs(np.abs(np.angle(normal / 1j)) - np.abs(found.pressure_angle)).max() < 1e-12


def test_undercut_and_the_smallest_base_circle():
    up = [Segment("cycloidal", np.pi / 2, 0.03), Segment("dwell", np.pi / 2),
          Segment("cycloidal", np.pi, -0.03)]  # fmt: skip
    seen = set()
    for roller in (0.005, 0.015, 0.03, 0.04):  # undercut: the roller would cut the profile away
        found = cam(up, 0.01, Follower(roller), samples=1440)
        nearest = np.abs(found.pitch[:, None] - found.profile[None]).min()
        assert found.undercut.any() == (nearest < roller * (1 - 1e-6))
        seen.add(bool(found.undercut.any()))
    assert seen == {True, False}
    flat = cam(up, 0.02, Follower(None))
    assert flat.undercut.any() == (flat.curvature_radius < 0).any()
    limit = np.radians(30)
    radius = smallest_base_radius(up, Follower(0.005), limit, 0.5)
    assert cam(up, radius, Follower(0.005)).largest_pressure_angle == pytest.approx(limit, abs=1e-6)
    with pytest.raises(QuestionError, match="360 deg"):
        cam(up[:2], 0.02)


def test_refusals():
    with pytest.raises(QuestionError, match="no task of synthesis 'pth'.*'path'"):
        catena.synthesize("pth")
    with pytest.raises(UnknownNameError, match="no value 'point'"):
        catena.synthesize("path", point=[[0, 0]])
    with pytest.raises(QuestionError, match="needs 'poses'"):
        catena.synthesize("motion")
    with pytest.raises(QuestionError, match="four or five"):
        catena.synthesize("motion", poses=[[0, 0, 0]])
    with pytest.raises(QuestionError, match="three, four or five"):
        catena.synthesize("function", inputs=[1, 2], outputs=[1, 2])


TASK = """
[synthesize]
task = "function"
inputs = ["30 deg", "60 deg", "90 deg"]
outputs = ["50 deg", "70 deg", "100 deg"]
ground = "20 cm"
density = "0.8 kg/m"
"""


def test_a_task_from_a_file(tmp_path):
    file = tmp_path / "task.toml"
    file.write_text(TASK)
    asked = read_task(file)
    assert asked["ground"] == 0.2 and asked["inputs"] == pytest.approx(np.radians([30, 60, 90]))
    file.write_text(TASK.replace("inputs", "input").replace("20 cm", "20 kg"))
    with pytest.raises(FormatError) as caught:
        read_task(file)
    assert "no key 'input'" in str(caught.value) and "20 kg" in str(caught.value)


def test_the_command(tmp_path, monkeypatch, capsys):
    from catena.cli import main

    monkeypatch.chdir(tmp_path)
    (tmp_path / "task.toml").write_text(TASK)
    with pytest.raises(SystemExit) as status:
        main(["synthesize", "task.toml"])
    assert status.value.code in (0, None)
    assert "four-bars" in capsys.readouterr().out
    assert catena.load(tmp_path / "task_linkages" / "candidate_1.toml").loops
