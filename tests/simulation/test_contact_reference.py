"""The reference numbers of contact, impact and dry friction (`tests/reference/contact/`), each at
its own tolerance.

Every file has a function here that builds its problem, runs a case and returns what it found, {name
of an entry: value}; what it returns is compared, and it returns all: 579 of 579 entries.
"""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import sympy
from scipy.interpolate import CubicSpline
from scipy.spatial.transform import Rotation

from catena.analysis import impulse, rows_at, spaces
from catena.analysis.contact_ranges import contact_ranges
from catena.contact.impact_laws import blow
from catena.machine import compile
from catena.machine.constraint_rows import metric
from catena.machine.reactions import rotated
from catena.model.loads import Force, JointForce
from catena.model.mechanism import GROUND, Body, Contact, Frame, Joint, Mechanism
from catena.model.pose import Pose
from catena.simulation import run as pipeline

FOLDER = Path(__file__).parents[1] / "reference/contact"
G = 9.81
ORIGIN = (0.0, 0.0, 0.0)


def reference(name: str) -> dict:
    return json.loads((FOLDER / f"{name}.json").read_text())


def excess(entry: dict, x) -> float:
    """The error over what is allowed; a number passes up to one."""
    if entry.get("exact"):
        return 0.0 if x == entry["value"] else np.inf
    wanted = np.asarray(entry["value"], float)
    x = np.asarray(x, float)
    if x.shape != wanted.shape or not np.isfinite(x).all():
        return np.inf
    allowed = entry.get("abs", 0.0) + entry.get("rel", 0.0) * np.abs(wanted)
    error = np.abs(x - wanted)
    return float(
        np.max(np.where(error == 0.0, 0.0, error / np.where(allowed > 0.0, allowed, 1e-300)))
    )


# --- runs
def simulate(*given, **options):
    """The run, whose own certificate must be clean."""
    run = pipeline.simulate(*given, **options)
    kept = run.ledger.contact
    if kept is not None:
        residuals = {
            name: getattr(kept, name)
            for name in ("penetration", "complementarity", "cone", "angle", "gain")
        }
        assert {name: x for name, x in residuals.items() if not x < 1e-10} == {}, run.ledger
        # the second where nothing moves
        assert run.ledger.imbalance < 1e-9 or run.ledger.relative_energy_balance < 1e-14
        assert kept.remark == ""
    return run


def times(run, words: str) -> list[float]:
    return [
        t
        for t, what in zip(run.data["event_time"].values.tolist(), run.event.values)
        if words in what
    ]


def row(run, t: float) -> int:
    return int(np.abs(run.time - t).argmin())


def in_plane(
    name: str, mass: float, inertia: float, contacts, frames=(), gravity=(0.0, 0.0, -G), **more
) -> Mechanism:
    """A body that slides along x and z and turns about y."""
    bodies = (
        Body("a", 0, ORIGIN, ORIGIN),
        Body("b", 0, ORIGIN, ORIGIN),
        Body(name, mass, ORIGIN, (inertia,) * 3),
    )
    joints = (
        Joint("x", "prismatic", GROUND, "a", axis=(1, 0, 0)),
        Joint("z", "prismatic", "a", "b", axis=(0, 0, 1)),
        Joint("turn", "revolute", "b", name, axis=(0, 1, 0)),
    )
    return Mechanism(name, bodies, joints, frames, gravity, contacts=contacts, **more)


def free_body(
    name: str, mass: float, inertia, contacts, frames=(), com=ORIGIN, **more
) -> Mechanism:
    return Mechanism(
        name,
        (Body(name, mass, com, inertia),),
        (Joint("free", "free", GROUND, name),),
        frames,
        contacts=contacts,
        **more,
    )


# --- block
@cache
def block(mu: float) -> Mechanism:
    """A point on three slides over the plane z = 0, which is inclined by beta; pulled by c t."""
    beta = sympy.Symbol("beta")
    bodies = (
        Body("a", 0, ORIGIN, ORIGIN),
        Body("b", 0, ORIGIN, ORIGIN),
        Body("block", 2.0, ORIGIN, (0.1, 0.1, 0.1)),
    )
    axes = {
        "x": (GROUND, "a", (1, 0, 0)),
        "y": ("a", "b", (0, 1, 0)),
        "z": ("b", "block", (0, 0, 1)),
    }
    joints = tuple(
        Joint(n, "prismatic", parent, child, axis=axis) for n, (parent, child, axis) in axes.items()
    )
    return Mechanism(
        "block",
        bodies,
        joints,
        gravity=(G * sympy.sin(beta), 0.0, -G * sympy.cos(beta)),
        parameters={"beta": 0.0, "c": 0.0},
        loads=(JointForce("pull", "x", "c*t"),),
        contacts=(Contact(("block", "ground"), mu, 0.0),),
    )


def block_incline(case: dict) -> dict:
    p = case["parameters"]
    start = case["initial"]
    wanted = case["expected"]
    found = {}
    if case["name"] == "threshold":
        for which in ("below", "above"):
            run = simulate(
                block(p["mu"]),
                until=1.0,
                output=1.0,
                parameters={"beta": p[f"beta_{which}"], "c": 0.0},
            )
            found[f"acceleration_{which}"] = run.v.values[-1, 0]
        # where the acceleration of what slides comes to zero, from two of them
        more = 2 * p["beta_above"] - p["beta_below"]
        faster = simulate(
            block(p["mu"]), until=1.0, output=1.0, parameters={"beta": more, "c": 0.0}
        ).v.values[-1, 0]
        slope = (faster - found["acceleration_above"]) / (more - p["beta_above"])
        return found | {"beta_critical": p["beta_above"] - found["acceleration_above"] / slope}
    asked = wanted.get("states", {}).get("times", [])
    later = [
        wanted[k]["value"] + more
        for k, more in (("t_slip", 2.0), ("t_back_at_start", 0.0))
        if k in wanted
    ]
    later += [wanted["t_stop"]["value"]] if "t_back_at_start" in wanted else []
    until = 1000.0 if case["name"] == "sticks" else 5.0
    run = simulate(
        block(p["mu"]),
        [0, 0, 0],
        [start["vx"], start["vy"], 0.0],
        until,
        output=sorted({*asked, *later, 2.0, until}),
        parameters={"beta": p["beta"], "c": p.get("c", 0.0)},
        tolerance=1e-11,
    )
    q = run.q.values
    v = run.v.values
    two = row(run, 2.0)
    if "sticks" in case["name"]:
        touch = run.contacts.isel(time=-1)
        N = float(touch.normal_force[0])
        f = np.linalg.norm(touch.friction_force[0])
        found = {
            "displacement_after_1000_s": np.abs(q[-1]).max(),
            "normal_force": N,
            "friction_force_uphill": f,
            "cone_margin": p["mu"] * N - f,
        }
        return found | (
            {"shift_of_pressure_centre_downhill": _shift(p)}
            if "shift_of_pressure_centre_downhill" in wanted
            else {}
        )
    if "path_length" in wanted:  # the way along which friction has done its work
        found["path_length"] = run.work.values[-1] / (
            -p["mu"] * float(run.contacts.normal_force[-1, 0])
        )
    if "limit_speed" in wanted:
        found["limit_speed"] = (np.hypot(*v[-1, :2]) + v[-1, 0]) / 2
    if "t_stop" in wanted:
        found["t_stop"] = (times(run, "ground sticks") + times(run, "the other way"))[0]
    if "x_stop" in wanted:
        found["x_stop"] = q[-1, 0]
    if "y_stop" in wanted:
        found |= {"y_stop": q[-1, 1]}
    if "distance" in wanted:
        found["distance"] = (
            np.hypot(*q[-1, :2])
            if "stays" in case["name"] or "level" in case["name"]
            else -q[:, 0].min()
        )
    if "dissipated" in wanted:
        found["dissipated"] = -run.work.values[-1]
    if "friction_force_after_stop" in wanted:
        found["friction_force_after_stop"] = abs(run.contacts.friction_force.values[-1, 0, 0])
    if "acceleration" in wanted:
        found |= {
            "acceleration": run.a.values[two, 0],
            "x_at_2s": q[two, 0],
            "vx_at_2s": v[two, 0],
            "dissipated_at_2s": -run.work.values[two],
        }
    if "states" in wanted:
        found["states"] = [[*q[row(run, t), :2], *v[row(run, t), :2]] for t in asked]
    if "t_slip" in wanted:
        k = row(run, later[0])
        found |= {"t_slip": times(run, "slips")[0], "x_2s_later": q[k, 0], "v_2s_later": v[k, 0]}
    if "speed_back_at_start" in wanted:
        k = row(run, wanted["t_back_at_start"]["value"])
        found |= {
            "speed_back_at_start": v[k, 0],
            "t_back_at_start": run.time[k] - q[k, 0] / v[k, 0],
            "distance": -q[row(run, found["t_stop"]), 0],
        }
    return found


def _shift(p: dict) -> float:
    """Of the pressure centre of the box itself, on its corners."""
    corners = tuple(
        Frame(f"{k}", "box", Pose(position=(x, y, -0.05)))
        for k, (x, y) in enumerate([(0.1, 0.1), (-0.1, 0.1), (-0.1, -0.1), (0.1, -0.1)])
    )
    box = free_body(
        "box",
        2.0,
        (1 / 120, 1 / 120, 1 / 75),
        (Contact((tuple(c.name for c in corners), "ground"), p["mu"], 0.0),),
        corners,
        gravity=(G * np.sin(p["beta"]), 0.0, -G * np.cos(p["beta"])),
    )
    return simulate(
        box, [0, 0, 0.05, 1, 0, 0, 0], None, 0.1, output=0.1
    ).contacts.pressure_centre.values[-1, 0, 0]


# --- balls
def bouncing_ball(case: dict) -> dict:
    start = case["initial"]
    e = case["parameters"]["e"]
    wanted = case["expected"]
    ball = in_plane("ball", 0.5, 0.002, (Contact(("ball", "ground"), 0.0, e, radius=0.1),))
    rest = wanted.get("rest_time", {"value": 9.0})["value"]
    run = simulate(
        ball,
        [start["x"], start["z"], 0.0],
        [start["vx"], start["vz"], 0.0],
        1.2 * rest,
        output=[rest, 1.2 * rest],
    )
    n = len(wanted["impact_times"]["value"])
    hits = run.impact_time.values[:n]
    found = {"impact_times": hits, "speeds_after": e * run.approach.values[:n]}
    if "apex_heights" in wanted:
        found["apex_heights"] = (e * run.approach.values[:n]) ** 2 / (2 * G)
    if "rest_time" not in wanted:
        assert run.ledger.contact.accumulations == 0
        return found | {"energy": run.energy.values[-1] - 0.5 * G * 0.1}
    assert run.ledger.contact.accumulations == (0 if e == 0.0 else 1)
    closed = times(run, "closes")[0]
    # the contact carries the weight from its last impact on
    rest_of_series = 0.5 * G * (closed - run.impact_time.values[-1])
    found |= {
        "rest_time": closed,
        "sum_of_impulses": run.impulse.values[:, 0].sum() + rest_of_series,
        "dissipated": -run.work.values[-1],
        "height_of_centre_at_rest": run.q.values[-1, 1],
        "contact_force_at_rest": run.contacts.normal_force.values[-1, 0],
    }
    if "x_at_rest_time" in wanted:
        found["x_at_rest_time"] = run.q.values[1, 0]
    return found


def sphere_slide_roll(case: dict) -> dict:
    p = case["parameters"]
    start = case["initial"]
    wanted = case["expected"]
    m = 3.0
    R = 0.1
    k = p["k"]
    beta = p.get("beta", 0.0)
    up = -1.0 if "thrown_up" in case["name"] else 1.0
    slope, inertia = sympy.symbols("slope I")
    ball = in_plane(
        "ball",
        m,
        inertia,
        (Contact(("ball", "ground"), p["mu"], 0.0, radius=R),),
        parameters={"slope": 0.0, "I": 1.0},
        gravity=(G * sympy.sin(slope), 0.0, -G * sympy.cos(slope)),
    )
    asked = sorted(
        {2.0, 3.0, 4.0, *(wanted[t]["value"] for t in ("t_roll", "t_top", "t_back") if t in wanted)}
    )
    run = simulate(
        ball,
        [0, R, 0],
        [start["v"], 0, start["omega"]],
        4.0,
        output=asked,
        parameters={"slope": up * beta, "I": k * m * R**2},
    )
    found = (
        _rolling(run, wanted)
        | (_at_three(run, m, R, k) if "x_3s" in wanted else {})
        | (_at_two(run) if "x_2s" in wanted else {})
    )
    # it slips; with more friction it would not
    if wanted.keys() - found.keys() == {"mu_needed_to_roll"}:
        held = simulate(
            replace(ball, contacts=(replace(ball.contacts[0], friction=2.0),)),
            [0, R, 0],
            [start["v"], 0, start["omega"]],
            2.0,
            output=2.0,
            parameters={"slope": up * beta, "I": k * m * R**2},
        )
        found |= {"mu_needed_to_roll": _at_two(held)["mu_needed_to_roll"]}
    return found


def _rolling(run, wanted: dict) -> dict:
    found = {}
    q = run.q.values
    v = run.v.values
    if "t_roll" in wanted:
        k = row(run, wanted["t_roll"]["value"])
        found = {
            "t_roll": times(run, "ground sticks")[0],
            "v_roll": v[k, 0],
            "omega_roll": v[k, 2],
            "x_roll": q[k, 0],
        }
    for name in ("t_top", "t_turn"):  # where v comes to zero
        if name in wanted:
            k = row(run, wanted[name]["value"])
            found |= {name: run.time[k] - v[k, 0] / run.a.values[k, 0], f"x_{name[2:]}": q[k, 0]}
    for name in ("t_back", "t_back_at_start"):  # where x does
        if name in wanted:
            k = row(run, wanted[name]["value"])
            found |= {name: run.time[k] - q[k, 0] / v[k, 0], "v_back": v[k, 0]}
    return {name: x for name, x in found.items() if name in wanted}


def _at_three(run, m: float, R: float, k: float) -> dict:
    at, v = row(run, 3.0), run.v.values
    return {
        "x_3s": run.q.values[at, 0],
        "dissipated": -run.work.values[at],
        "friction_after": run.contacts.friction_force.values[at, 0, 0],
        "angular_momentum_about_track": m * v[at, 0] * R + k * m * R**2 * v[at, 2],
    }


def _at_two(run) -> dict:
    at, touch = row(run, 2.0), run.contacts
    force = abs(touch.friction_force.values[at, 0, 0]), float(touch.normal_force[at, 0])
    needed = (
        {"mu_needed_to_roll": force[0] / force[1]} if touch["mode"].values[at, 0] == "stick" else {}
    )
    return needed | {
        "x_2s": run.q.values[at, 0],
        "acceleration": run.a.values[at, 0],
        "angular_acceleration": run.a.values[at, 2],
        "friction": force[0],
        "slip_speed_2s": touch.slip.values[at, 0, 0],
    }


def sphere_backspin(case: dict) -> dict:
    start = case["initial"]
    wanted = case["expected"]
    R = 0.05
    m = 0.2
    ball = in_plane("ball", m, 0.4 * m * R**2, (Contact(("ball", "ground"), 0.2, 0.0, radius=R),))
    asked = sorted(
        {4.0, *(wanted[t]["value"] for t in ("t_roll", "t_turn", "t_back_at_start") if t in wanted)}
    )
    run = simulate(ball, [0, R, 0], [start["v"], 0, start["omega"]], 4.0, output=asked)
    return _rolling(run, wanted) | {"dissipated": -run.work.values[-1]}


def cradle(case: dict) -> dict:
    p = case["parameters"]
    v = np.array(case["initial"]["v"], float)
    if v.ndim == 2:
        return _one_against_two(case)
    n = len(v)
    r = p.get("radius", 0.05)
    masses = np.array(p["masses"], float)

    def balls(law: str, impacts: str) -> Mechanism:
        bodies = tuple(Body(f"b{k}", masses[k], ORIGIN, (1, 1, 1)) for k in range(n))
        joints = tuple(
            Joint(f"x{k}", "prismatic", GROUND, f"b{k}", axis=(1, 0, 0)) for k in range(n)
        )
        contacts = tuple(
            Contact(
                (f"b{k + 1}", f"b{k}"),
                0.0,
                p["e"][k],
                law,
                impacts,
                radius=r,
                surface="sphere",
                surface_radius=r,
            )
            for k in range(n - 1)
        )
        return Mechanism("cradle", bodies, joints, gravity=ORIGIN, contacts=contacts)

    if "gap" in p:
        run = simulate(balls("newton", "simultaneous"), case["initial"]["x"], v, 20.0, output=20.0)
        return {
            "impact_times": run.impact_time.values,
            "velocities_after": run.v.values[-1],
            "contacts": [int(name[1]) for name in run.impact_contact.values],
        }
    found, energy = {}, []
    for name, law, impacts in (
        ("simultaneous_newton", "newton", "simultaneous"),
        ("simultaneous_poisson", "poisson", "simultaneous"),
        ("sequential", "newton", "sequential"),
    ):
        run = simulate(balls(law, impacts), 2 * r * np.arange(n), v, 1e-6, output=1e-6)
        found[name] = run.v.values[-1]
        energy.append(run.energy.values[-1])
    J = np.zeros((3 * (n - 1), n))
    J[::3] = np.diff(np.eye(n), axis=0)
    order = blow(
        J / masses @ J.T, J @ v, np.array(p["e"]), np.zeros(n - 1), "newton", "sequential"
    ).order
    return found | {
        "momentum": float(masses @ found["sequential"]),
        "kinetic_energy_after": energy,
        "sequential_number_of_impacts": len(order),
    }


def _one_against_two(case: dict) -> dict:
    e, r = case["parameters"]["e"][0], 0.1
    bodies = tuple(
        Body(f"{axis}{k}", float(axis == "y"), ORIGIN, (float(axis == "y"),) * 3)
        for k in range(3)
        for axis in "xy"
    )
    joints = tuple(
        Joint(
            f"{axis}{k}", "prismatic", GROUND if axis == "x" else f"x{k}", f"{axis}{k}", axis=along
        )
        for k in range(3)
        for axis, along in (("x", (1, 0, 0)), ("y", (0, 1, 0)))
    )
    pairs = ((1, 0), (2, 0), (1, 2))
    contacts = tuple(
        Contact((f"y{i}", f"y{j}"), 0.0, e, radius=r, surface="sphere", surface_radius=r)
        for i, j in pairs
    )
    x = 2 * r * np.cos(np.pi / 6)
    run = simulate(
        Mechanism("balls", bodies, joints, gravity=ORIGIN, contacts=contacts),
        [0, 0, x, r, x, -r],
        [1, 0, 0, 0, 0, 0],
        1e-6,
        output=1e-6,
    )
    return {
        "simultaneous_newton": run.v.values[-1].reshape(3, 2),
        "kinetic_energy_after": run.energy.values[-1],
    }


# --- rods
@cache
def rod(
    mu: float,
    e: float,
    ends: tuple[str, ...] = ("A", "B"),
    radius: float = 0.0,
    law: str = "newton",
) -> Mechanism:
    """Of length 1 along its x; the turn about y is clockwise in the plane x-z."""
    frames = (
        Frame("A", "rod", Pose(position=(-0.5, 0, 0))),
        Frame("B", "rod", Pose(position=(0.5, 0, 0))),
    )
    return in_plane(
        "rod", 2.0, 1 / 6, (Contact((ends, "ground"), mu, e, law, radius=radius),), frames
    )


def rod_drop(case: dict) -> dict:
    p = case["parameters"]
    start = case["initial"]
    wanted = case["expected"]
    if "theta" in p:
        return _dropped(p, start, wanted)
    if "omega" in start:
        t = wanted["impact_time"]["value"]
        run = simulate(
            rod(0.0, p["e"]),
            [0, start["y"], -start["theta"]],
            [0, start["vy"], -start["omega"]],
            0.66,
            output=[t + 1e-9, 0.66],
        )
        v = run.v.values[1]
        return {
            "impact_time": run.impact_time.values[0],
            "normal_velocity_before": -run.approach.values[0],
            "impulse": run.impulse.values[0, 0],
            "after": [v[1] + 1e-9 * G, -v[2]],
            "kinetic_energy_lost": -run.work.values[1],
            "angle": -run.q.values[1, 2] + 1e-9 * v[2],
        }
    phi = p["phi0"]
    end = wanted["t_horizontal"]["value"]
    asked = np.append(
        np.linspace(0, end, 1001)[1:], wanted.get("event_times", {"value": []})["value"]
    )
    run = simulate(
        rod(p["mu"], 0.0, ("A",)),
        [0.5 * np.sin(phi), 0.5 * np.cos(phi), phi - np.pi / 2],
        None,
        end,
        output=np.unique(asked),
    )
    q = run.q.values
    v = run.v.values
    N = run.contacts.normal_force.values[:, 0]
    level = {"t_horizontal": end - q[-1, 2] / v[-1, 2]}
    if "event_times" not in wanted:
        N_of_t = CubicSpline(run.time, N)
        return level | {
            "omega_horizontal": v[-1, 2],
            "normal_force_horizontal": N[-1],
            "smallest_normal_force": N_of_t(N_of_t.derivative().roots(extrapolate=False)).min(),
        }
    slips = [what for what in run.event.values if "ground slips" in what]
    angles = [q[row(run, t), 2] + np.pi / 2 for t in wanted["event_times"]["value"]]
    return level | {
        "event_times": times(run, "ground slips"),
        "angles_at_events": angles,
        "first_slip_angle": angles[0],
        "event_kinds": [
            "slip reverses" if "other way" in what else "stick->slip" for what in slips
        ],
        "state_at_horizontal": [
            q[-1, 0] - 0.5 * np.cos(q[-1, 2]),
            v[-1, 0] + 0.5 * np.sin(q[-1, 2]) * v[-1, 2],
            v[-1, 2],
        ],
    }


def _dropped(p: dict, start: dict, wanted: dict) -> dict:
    """By every law of which the file has a column."""
    a = p["theta"]
    r = p.get("radius", 0.0)
    found = {}
    q = [0, 0.5 * np.sin(a) + r, -a]
    before = np.array([*start["v"], start["omega"]])
    for law in (column for column, x in wanted.items() if "impulse" in x):
        named = "newton" if law == "moreau_newton" else law
        run = simulate(
            rod(p["mu"], p["e"], ("A",), r, named),
            q,
            [*start["v"], -start["omega"]],
            1e-6,
            output=1e-6,
        )
        N, t = run.impulse.values[0, :2]
        turn = (-0.5 * np.cos(a) * N + (0.5 * np.sin(a) + r) * t) * 6
        after = before + [t / 2, N / 2, turn]
        J = run.machine.jacobian(q, "A")[[3, 5]] * [1, 1, -1]
        J[0, 2] += r  # the point below the middle of the end
        lost = (before**2 - after**2) @ [1, 1, 1 / 12]
        found |= {
            (law, "impulse"): [t, N],
            (law, "after"): after,
            (law, "kinetic_energy_lost"): lost,
            (law, "contact_velocity_after"): J @ after,
        }
    return (
        found
        | {"contact_velocity_before": J @ before}
        | ({"mu_to_stick": _to_stick(p, start)} if "mu_to_stick" in wanted else {})
    )


def _to_stick(p: dict, start: dict) -> float:
    """What friction holds where there is enough of it."""
    N, t = simulate(
        rod(9.0, p["e"], ("A",)),
        [0, 0.5 * np.sin(p["theta"]), -p["theta"]],
        [*start["v"], -start["omega"]],
        1e-6,
        output=1e-6,
    ).impulse.values[0, :2]
    return abs(t) / N


def leaning_rod(case: dict) -> dict:
    a = case["initial"]["theta"]
    wanted = case["expected"]
    L = 2.0
    frames = (
        Frame("wall", GROUND, Pose.rpy(0, np.pi / 2, 0)),
        Frame("top", "rod", Pose(position=(-1, 0, 0))),
        Frame("foot", "rod", Pose(position=(1, 0, 0))),
    )
    contacts = (Contact(("top", "wall"), 0.0, 0.0), Contact((("foot", "top"), "ground"), 0.0, 0.0))
    leave = wanted["t_leave"]["value"]
    end = wanted["t_floor"]["value"]
    run = simulate(
        in_plane("rod", 3.0, 1.0, contacts, frames),
        [np.cos(a), np.sin(a), a],
        None,
        1.01 * end,
        output=[1e-12, leave, end - 1e-9],
    )
    q = run.q.values
    v = run.v.values
    last = run.v.values[3] + 1e-9 * run.a.values[3]
    N = run.contacts.normal_force.values
    return {
        "t_leave": times(run, "top-wall opens")[0],
        "theta_leave": q[2, 2],
        "theta_dot_leave": v[2, 2],
        "vx_leave": v[2, 0],
        "sin_theta_leave": np.sin(q[2, 2]),
        "wall_force_start": N[1, 0],
        "floor_force_start": N[1, 1],
        "floor_force_leave": N[2, 1],
        "t_floor": times(run, "top-ground meets")[0],
        "theta_dot_floor": last[2],
        "centre_vy_floor": last[1] * L / 2,
        "x_centre_floor": q[3, 0] + 1e-9 * v[3, 0],
        "energy": run.energy.values[3],
    }


# --- mechanisms
SHORT = 1e-9  # s: rows so much before and after an impact
LATER = 1e-5  # s: rows so much after a change of mode, from which its state is followed back


def around(wanted: dict, end: float) -> np.ndarray:
    """Times of rows: before and after each impact, and the end."""
    return np.sort(
        np.append([t + dt for t in wanted["impact_times"]["value"] for dt in (-SHORT, SHORT)], end)
    )


def speeds(run, wanted: dict) -> tuple[np.ndarray, np.ndarray]:
    """Before and after each impact, from the rows of `around` and their accelerations."""
    n = 2 * len(wanted["impact_times"]["value"])
    v = run.v.values[1 : n + 1]
    a = run.a.values[1 : n + 1]
    return v[::2] + SHORT * a[::2], v[1::2] - SHORT * a[1::2]


def double_pendulum_stop(case: dict) -> dict:
    p, start, wanted, (m, L) = (
        case["parameters"],
        case["initial"],
        case["expected"],
        ((1.0, 0.7), (1.0, 0.8)),
    )
    rods = tuple(
        Body(f"rod{k}", m[k], (0, 0, -L[k] / 2), (m[k] * L[k] ** 2 / 12,) * 2 + (0.0,))
        for k in range(2)
    )
    elbow = {} if "wall_x" in p else {"lower": 0.0}
    joints = (
        Joint("q1", "revolute", GROUND, "rod0", axis=(0, -1, 0)),
        Joint(
            "q2",
            "revolute",
            "rod0",
            "rod1",
            axis=(0, -1, 0),
            placement=Pose(position=(0, 0, -L[0])),
            **elbow,
        ),
    )
    if "wall_x" not in p:
        run = simulate(
            Mechanism("arm", rods, joints),
            start["q"],
            start["qd"],
            2.0,
            limits="stop",
            restitution=p["e"],
            output=around(wanted, 2.0),
        )
        n = len(wanted["impact_times"]["value"])
        before, after = speeds(run, wanted)
        M = run.machine.mass_matrix(run.q.values[1:-1:2])
        words = {"rests": "closed", "leaves": "opens"}
        later = [
            next(word for said, word in words.items() if said in what)
            for what in run.event.values
            if any(said in what for said in words)
        ]
        return {
            "qd_after": after,
            "angular_impulse": np.einsum("tij,tj->ti", M, after - before)[:, 1],
            "later_events": later[-2:],
            "impact_times": times(run, "meets")[:n],
            "state_at_end": [run.q.values[-1], run.v.values[-1]],
            "later_event_times": [times(run, "rests")[-1], times(run, "leaves")[-1]],
        }
    frames = (
        Frame("wall", GROUND, Pose.rpy(0, -np.pi / 2, 0, position=(p["wall_x"], 0, 0))),
        Frame("tip", "rod1", Pose(position=(0, 0, -L[1]))),
    )
    arm = Mechanism(
        "arm",
        rods,
        joints,
        frames,
        contacts=(Contact(("tip", "wall"), p["mu"], p["e"], radius=p["tip_radius"]),),
    )
    run = simulate(
        arm, start["q"], start["qd"], p["t_end"], output=around(wanted, p["t_end"]), tolerance=1e-10
    )
    before, after = speeds(run, wanted)
    N = run.impulse.values[:, 0]
    t = np.linalg.norm(run.impulse.values[:, 1:], axis=1)
    turned = run.q.values[1:-1:2] + SHORT * run.v.values[1:-1:2]
    # of the point that touches
    rise = [
        run.machine.jacobian(q, "tip")[5] @ w + p["tip_radius"] * w.sum()
        for q, w in zip(turned, after)
    ]
    modes = ["frictionless" if p["mu"] == 0.0 else f"slip{np.sign(x):+.0f}" for x in rise]
    return {
        "contact_modes": modes,
        "qd_before": before,
        "qd_after": after,
        "impact_times": run.impact_time.values,
        "impulse": np.column_stack([t, N]),
        "energy_at_end": run.energy.values[-1],
        "state_at_end": [run.q.values[-1], run.v.values[-1]],
    }


def fourbar(p: dict) -> tuple[Mechanism, dict]:
    """Crank AB, coupler BC with its extension to P, rocker DC; a constant torque on the crank; and
    its start.
    """
    L, m = (0.3, 0.9, 0.6), (0.5, 1.2, 0.8)
    bars = tuple(
        Body(n, m[k], (L[k] / 2, 0, 0), (0, m[k] * L[k] ** 2 / 12, m[k] * L[k] ** 2 / 12))
        for k, n in enumerate(("crank", "coupler", "rocker"))
    )

    def pin(name, parent, child, x):
        return Joint(
            name, "revolute", parent, child, axis=(0, -1, 0), placement=Pose(position=(x, 0, 0))
        )

    loop = Joint(
        "C",
        "revolute",
        "coupler",
        "rocker",
        axis=(0, -1, 0),
        placement=Pose(position=(L[1], 0, 0)),
        offset=Pose(position=(L[2], 0, 0)),
    )
    frames = (
        Frame("wall", GROUND, Pose.rpy(0, -np.pi / 2, 0, position=(p["wall_x"], 0, 0))),
        Frame("P", "coupler", Pose(position=(L[1] + 0.25, 0, 0))),
    )
    linkage = Mechanism(
        "fourbar",
        bars,
        (
            pin("A", GROUND, "crank", 0),
            pin("B", "crank", "coupler", L[0]),
            pin("D", GROUND, "rocker", 1.0),
        ),
        frames,
        loops=(loop,),
        loads=(JointForce("motor", "A", str(p["torque"])),),
        contacts=(Contact(("P", "wall"), p["mu"], p.get("e", 0.0)),),
    )
    a = p.get("theta", p.get("theta0"))
    B = L[0] * np.array([np.cos(a), np.sin(a)])
    span = np.array([1.0, 0.0]) - B
    d = np.linalg.norm(span)
    along = (L[1] ** 2 - L[2] ** 2 + d**2) / (2 * d)
    C = B + along * span / d + np.sqrt(L[1] ** 2 - along**2) * np.array([-span[1], span[0]]) / d
    return linkage, {"A": a, "B": np.arctan2(*(C - B)[::-1]) - a, "D": np.arctan2(C[1], C[0] - 1.0)}


def fourbar_stop(case: dict) -> dict:
    p = case["parameters"]
    wanted = case["expected"]
    linkage, q = fourbar(p)
    run = simulate(
        linkage,
        q,
        None,
        0.6 if "e" in p else 0.1,
        output=around(wanted, 0.6) if "impact_times" in wanted else 0.1,
    )
    if "normal_force_range" in wanted:  # one equation for two forces
        assert (
            np.isnan(run.contacts.normal_force.values[-1, 0])
            and str(run.contacts.mode.values[-1, 0]) == "stick"
        )
        ranges = contact_ranges(run.machine, run.q.values[-1])
        way = spaces(rows_at(run.machine, run.q.values[-1]).A, metric(run.machine, acting=False)).T[
            :, 0
        ]
        J = run.machine.jacobian(run.q.values[-1], "P")[[3, 5]] @ way / way[0] * [-1, 1]
        force = ranges.least_norm[0] @ ranges.axes[0]
        return {
            "normal_force_range": ranges.normal[0],
            "power_row": J,
            "right_side": force[[0, 2]] * [-1, 1] @ J,
        }
    force = run.contacts.normal_force.values[-1, 0]
    if "contact_force" in wanted:
        W = run.reactions("world").isel(time=-1)
        pins = [
            sign * W.sel(joint=name).values[[3, 5]]
            for name, sign in (("A", 1), ("B", -1), ("C", -1), ("D", 1))
        ]
        return {"contact_force": force, "pin_forces": pins}
    before, after = speeds(run, wanted)
    first = (
        0.5 * before[0] @ run.machine.mass_matrix(run.q.values[1] + SHORT * before[0]) @ before[0]
    )
    _, blows = impulse(  # the blow of the contact is given, as that of any other body
        compile(run.machine.mechanism.with_(contacts=())),
        run.q.values[1] + SHORT * before[0],
        before[0],
        at="P",
        linear=(-run.impulse.values[0, 0], 0, 0),
    )
    pins = [
        sign * rotated(run.machine.pose(run.q.values[1], child)[:3, :3], blows[pin])[[3, 5]]
        for pin, child, sign in (
            ("A", "crank", 1),
            ("B", "coupler", -1),
            ("C", "rocker", -1),
            ("D", "rocker", 1),
        )
    ]
    return {
        "pin_impulses_first": pins,
        "crank_rate_before": before[:, 0],
        "crank_rate_after": after[:, 0],
        "energy_before_first": first,
        "impact_times": run.impact_time.values[:10],
        "impulse": run.impulse.values[:10, 0],
        "accumulation_time": times(run, "the limit of")[0],
        "force_after": force,
    }


def leg_landing(case: dict) -> dict:
    p = case["parameters"]
    start = case["initial"]
    wanted = case["expected"]
    f = reference("leg_landing")["parameters"]["foot"]
    limbs = (
        Body("thigh", 7.0, (0, 0, -0.225), (0.118125, 0.118125, 0.0)),
        Body("shank", 3.5, (0, 0, -0.215), (0.05392916666666666,) * 2 + (0.0,)),
    )
    bodies = (
        Body("a", 0, ORIGIN, ORIGIN),
        Body("hip", 10.0, ORIGIN, ORIGIN),
        *limbs,
        Body("foot", 1.0, (0.05, 0, -0.05), (0.004,) * 3),
    )
    joints = [
        Joint("x", "prismatic", GROUND, "a", axis=(1, 0, 0)),
        Joint("y", "prismatic", "a", "hip", axis=(0, 0, 1)),
    ]
    joints += [
        Joint(n, "revolute", parent, child, axis=(0, -1, 0), placement=Pose(position=(0, 0, -z)))
        for n, parent, child, z in (
            ("hip", "hip", "thigh", 0.0),
            ("knee", "thigh", "shank", 0.45),
            ("ankle", "shank", "foot", 0.43),
        )
    ]
    frames = tuple(Frame(n, "foot", Pose(position=(f[n][0], 0, f[n][1]))) for n in ("heel", "toe"))
    leg = Mechanism(
        "leg",
        bodies,
        tuple(joints),
        frames,
        contacts=(Contact((("heel", "toe"), "ground"), p["mu"], p["e"], name="sole"),),
    )
    run = simulate(leg, start["q"], start["qd"], 1e-6, output=[1e-13, 1e-6])
    found = {
        "velocities_after": run.v.values[1],
        "kinetic_energy_lost": -run.work.values[1],
        "mass_matrix": run.machine.mass_matrix(start["q"]),
    }
    P = run.impulse.values
    touch = run.contacts.isel(time=1)
    ends = ("toe",) if "impulse" in wanted else ("heel", "toe")
    # x and z of each
    J = np.vstack([run.machine.jacobian(start["q"], end)[[3, 5]] for end in ends])
    slip = J[::2] @ run.v.values[1]
    word = "stick" if np.abs(slip).max() < 1e-9 else f"slip{np.sign(slip[0]):+.0f}"
    found |= {
        "jacobian": J,
        "contact_velocity_before": J @ start["qd"],
        "mode": word if len(ends) == 1 else f"{word}, both ends",
    }
    if "impulse" in wanted:
        assert J[1] @ start["qd"] == pytest.approx(-run.approach.values[0], rel=1e-9)
        found |= (
            {"impulse": P[0, [1, 0]]}
            | ({"ratio": abs(P[0, 1]) / P[0, 0]} if "ratio" in wanted else {})
            | ({"slip_after": slip[0]} if "slip_after" in wanted else {})
        )
    if "foot_rate_after" in wanted:
        found["foot_rate_after"] = run.v.values[1, 2:].sum()
    if "acceleration_just_after" in wanted:
        found |= {
            "acceleration_just_after": run.a.values[1],
            "opens_after": bool(touch.mode[1] == "open"),
        }
    if "normal_impulses" in wanted:
        # of heel and toe apart, tangential impulses are not determined
        assert np.isnan(P[:, 1]).all()
        found |= {
            "normal_impulses": P[:, 0],
            "sum_of_tangential": run.impulse_sum.values[0, 1],
            "foot_stays": bool((touch.mode == "stick").all()),
        }
    if wanted.get("foot_stays", {}).get("value"):
        # along the foot alone: across its plane and upwards there is none
        assert np.isnan(touch.friction_force[:, 0]).all()
        assert (touch.friction_force[:, 1:] == 0.0).all()
        found["forces_just_after"] = [touch.force.values[0, 0], *touch.normal_force.values]
    elif "forces_just_after" in wanted:
        found["forces_just_after"] = _if_held(run, [("heel", 3), ("heel", 5), ("toe", 5)])
    if "force_if_held" in wanted:
        found["force_if_held"] = _if_held(run, [("toe", 3), ("toe", 5)])
        found["toe_normal_acceleration"] = run.machine.frame_acceleration(
            run.q.values[1], run.v.values[1], run.a.values[1], "toe"
        )[5]
    return found


def _if_held(run, rows: list[tuple[str, int]]) -> np.ndarray:
    """The forces along rows that would keep them as they are, with the speeds after the impact: of
    modes that do not hold.
    """
    q = run.q.values[1]
    v = run.v.values[1]
    machine = run.machine
    free = machine.forward_dynamics(q, v, np.zeros(machine.nv))
    J = np.array([machine.jacobian(q, frame)[k] for frame, k in rows])
    goes = np.array([machine.frame_acceleration(q, v, free, frame)[k] for frame, k in rows])
    return np.linalg.solve(J @ np.linalg.solve(machine.mass_matrix(q), J.T), -goes)


def tree_two_contacts(case: dict) -> dict:
    p, start, wanted, (l, m) = (
        case["parameters"],
        case["initial"],
        case["expected"],
        ((1.2, 0.9), (3.0, 2.0, 4.0)),
    )

    def thin(k):
        return (0.0, m[k] * l[k] ** 2 / 12, m[k] * l[k] ** 2 / 12)

    apex = Pose(position=(l[0], 0, 0))
    Y = (0, -1, 0)
    bodies = (
        Body("a", 0, ORIGIN, ORIGIN),
        Body("foot", 0, ORIGIN, ORIGIN),
        Body("rod1", m[0], (l[0] / 2, 0, 0), thin(0)),
        Body("rod2", m[1], (-l[1] / 2, 0, 0), thin(1)),
        Body("hung", m[2], (0, 0, -0.5), ORIGIN),
    )
    joints = (
        Joint("x", "prismatic", GROUND, "a", axis=(1, 0, 0)),
        Joint("y", "prismatic", "a", "foot", axis=(0, 0, 1)),
        Joint("t1", "revolute", "foot", "rod1", axis=Y),
        Joint("t2", "revolute", "rod1", "rod2", axis=Y, placement=apex),
        Joint("string", "revolute", "rod1", "hung", axis=Y, placement=apex),
    )
    contacts = (Contact(("foot", "ground"), p["mu"], 0.0), Contact(("tip", "ground"), p["mu"], 0.0))
    a_frame = Mechanism(
        "A-frame",
        bodies,
        joints,
        (Frame("tip", "rod2", Pose(position=(-l[1], 0, 0))),),
        contacts=contacts,
        parameters={"tau": 0.0},
        loads=(JointForce("motor", "t2", "tau"),),
    )
    a, b = start["theta1"], start["theta2"]
    run = simulate(
        a_frame,
        [0, 0, a, b - a, -a],
        None,
        1e-6,
        output=[1e-9, 1e-6],
        parameters={"tau": p.get("motor_moment", 0.0)},
    )
    touch = run.contacts.isel(time=1)
    N = touch.normal_force.values
    f = touch.friction_force.values[:, 0]
    if "normal_forces" in wanted:

        def pull(joint, body):
            R = run.machine.pose(run.q.values[1], body, parameters=run.data["parameters"].values)[
                :3, :3
            ]
            return R @ run.reactions().sel(joint=joint).values[1, 3:]

        apex = -pull("t2", "rod2") - pull("string", "hung")  # all that rod 1 feels there
        ratio = np.abs(f) / N
        return {
            "mu_needed": ratio.max(),
            "foot_that_slips_first": int(ratio.argmax()) + 1,
            "normal_forces": N,
            "friction_forces": f,
            "apex_force_on_rod1": apex[[0, 2]],
            "pendulum_force": np.linalg.norm(pull("string", "hung")),
        }
    acc = run.a.values[1]
    ways = np.sign(touch.slip.values[:, 0])
    modes = [
        f"slip{way:+.0f}" if mode == "slip" else str(mode)
        for mode, way in zip(touch.mode.values, ways)
    ]
    return {
        "modes": modes,
        "angular_accelerations": [acc[2], acc[2] + acc[3]],
        "normal_force_at_slipping_foot": N[0],
        "normal_force_at_sticking_foot": N[1],
        "friction_at_sticking_foot": f[1],
    }


# --- in space
@cache
def box_on(feet: tuple) -> Mechanism:
    """A box on feet, on a plane that is inclined by beta; pushed, and lifted at its first foot."""
    beta, (cx, cy, hz) = sympy.Symbol("beta"), (0.03, -0.02, 0.1)
    frames = tuple(
        Frame(f"foot {k}", "box", Pose(position=(x, y, 0)))
        for k, (x, y) in enumerate(feet, start=1)
    )
    return free_body(
        "box",
        5.0,
        (0.05, 0.06, 0.07),
        (Contact((tuple(f.name for f in frames), "ground"), 0.5, 0.0, name="base"),),
        (*frames, Frame("hand", "box", Pose(position=(0, cy, 0.15)))),
        (cx, cy, hz),
        parameters={"beta": 0.0, "push": 0.0, "lift": 0.0},
        gravity=(G * sympy.sin(beta), 0.0, -G * sympy.cos(beta)),
        loads=(
            Force("push", "hand", force=("push", 0.0, 0.0)),
            Force("lift", "foot 1", force=(0.0, 0.0, "lift*t")),
        ),
    )


def box_corners(case: dict) -> dict:
    p, wanted, (hx, hy) = case["parameters"], case["expected"], (0.2, 0.15)
    box = box_on(tuple(map(tuple, p.get("feet", [(hx, hy), (-hx, hy), (-hx, -hy), (hx, -hy)]))))
    values = {"beta": p.get("beta", 0.0), "push": p.get("F", 0.0), "lift": 0.0}
    if "P_lift" in wanted:
        lifts = wanted["P_lift"]["value"] / 20.0
        run = simulate(
            box,
            [0, 0, 0, 1, 0, 0, 0],
            None,
            1.1,
            output=[lifts - 1e-11, 1.1],
            parameters=values | {"lift": 20.0},
        )
        opens = {
            what.split("-")[0]: t
            for t, what in zip(run.data["event_time"].values, run.event.values)
            if what.endswith("opens")
        }
        assert opens.keys() == {"foot 1", "foot 2"}
        stay = "y = -hy" if {"foot 3", "foot 4"}.isdisjoint(opens) else ""
        push, place = (run.contacts[name].values[1] for name in ("push", "place"))
        return {
            "P_lift": 20.0 * opens["foot 1"],
            "edge": stay,
            "pressure_centre_at_P_lift": push[:, 2] @ place[:, :2] / push[:, 2].sum(),
        }
    run = simulate(box, [0, 0, 0, 1, 0, 0, 0], None, 10.0, output=10.0, parameters=values)
    touch = run.contacts.isel(time=-1)
    assert np.array_equal(run.q.values[-1], run.q.values[0])
    if "normal_forces" in wanted:
        return {"normal_forces": touch.normal_force.values}
    # friction lies in the plane of the feet
    assert np.isnan(touch.normal_force).all() and np.isnan(touch.friction_force[:, :2]).all()
    assert (touch.friction_force[:, 2] == 0.0).all()
    # one choice of forces; their moment about the normal is that of all
    push = touch["push"].values
    place = touch["place"].values
    ranges = contact_ranges(run.machine.at(values), run.q.values[-1])
    # the one direction of normal forces among all that move nothing
    free = np.linalg.svd(ranges.loose[:, :, 0])[2][0]
    assert np.linalg.matrix_rank(ranges.loose[:, :, 0], 1e-9) == 1 and ranges.inside
    found = {
        "least_norm": ranges.least_norm[:, 0],
        "range_of_each": ranges.normal,
        "null_vector": np.round(free / free[0], 12).tolist(),
    }
    found |= (
        {"height_of_centre": run.machine.mechanism.body("box").com[2]}
        if "height_of_centre" in wanted
        else {}
    )
    found |= _limits_of_push(box, values, touch) if "force_to_tip" in wanted else {}
    found |= (
        {"moment_of_tangential_about_base_middle": np.cross(place, push)[:, 2].sum()}
        if "moment_of_tangential_about_base_middle" in wanted
        else {}
    )
    return found | {
        "sum_of_normal_forces": touch.force.values[0, 2],
        "pressure_centre": touch.pressure_centre.values[0, :2],
        "tangential_sum": touch.force.values[0, :2],
    }


def _limits_of_push(box: Mechanism, values: dict, touch) -> dict:
    """Where the sum of friction comes to its limit, and the pressure centre to the front edge: both
    grow with the push.
    """
    level = simulate(
        box, [0, 0, 0, 1, 0, 0, 0], None, 0.1, output=0.1, parameters=values | {"push": 0.0}
    ).contacts.isel(time=-1)
    start, now = (float(x.pressure_centre[0, 0]) for x in (level, touch))
    return {
        "force_to_slip": (
            values["push"] * 0.5 * float(touch.force[0, 2]) / abs(float(touch.force[0, 0]))
        ),
        "force_to_tip": values["push"] * (0.2 - start) / (now - start),
    }


def spinning_tripod(case: dict) -> dict:
    start = case["initial"]
    wanted = case["expected"]
    h = case["parameters"]["h"]
    r = 0.1
    feet = tuple(
        Frame(
            f"{k}",
            "disc",
            Pose(
                position=(
                    r * np.cos(2.0943951023931953 * (k - 1)),
                    r * np.sin(2.0943951023931953 * (k - 1)),
                    -h,
                )
            ),
        )
        for k in (1, 2, 3)
    )
    disc = free_body(
        "disc",
        0.5,
        (0.00125, 0.00125, 0.0025),
        (Contact((("1", "2", "3"), "ground"), 0.2, 0.0),),
        feet,
    )
    asked = [1e-9, *([wanted["t_foot_sticks"]["value"]] if "t_foot_sticks" in wanted else []), 1.0]
    run = simulate(
        disc,
        [0, 0, h, 1, 0, 0, 0],
        [*start["v"], 0, 0, 0, start["omega"]],
        1.0,
        output=asked,
        tolerance=1e-11,
    )

    def pose(k):
        return [
            *run.q.values[k, :2],
            2 * np.arctan2(run.q.values[k, 6], run.q.values[k, 3]) % (2 * np.pi),
        ]

    stuck = times(run, "ground sticks")
    found = {}
    found["t_stop"] = stuck[-1]
    if "t_foot_sticks" in wanted:
        touch = run.contacts.isel(time=2)
        held = next(what for what in run.event.values if "ground sticks" in what)
        found |= {
            "foot": int(held[0]),
            "t_foot_sticks": stuck[0],
            "state_then": [*pose(2), *run.v.values[2, :2], run.v.values[2, 5]],
            "pose_at_rest": pose(-1),
            "work_until_stick": -run.work.values[2],
        }
        sticks = touch["mode"].values == "stick"
        found["friction_ratio_of_held_foot"] = (
            np.linalg.norm(touch.friction_force.values[sticks][0])
            / touch.normal_force.values[sticks][0]
        )
    elif "pose" in wanted:
        found |= {"pose": pose(-1), "work_of_friction": -run.work.values[-1]}
    elif "angle" in wanted:
        found |= {"angle": pose(-1)[2], "deceleration": -run.a.values[1, 5]}
    else:
        found |= {
            "position": pose(-1)[:2],
            "normal_forces": run.contacts.normal_force.values[1],
            "angular_acceleration": run.a.values[1, 5],
        }
    return found


def ball_in_bowl(case: dict) -> dict:
    p, start, wanted, (R, r, m) = (
        case["parameters"],
        case["initial"],
        case["expected"],
        (0.5, 0.05, 0.3),
    )
    rho, inertia = R - r, 0.4 * m * r**2
    if "theta" in start:
        return _in_trough(p, start, wanted, rho, inertia)
    surface = "trough" if "cylinder" in case["name"] else "bowl"
    contact = Contact(("ball", "hollow"), p["mu"], 0.0, radius=r, surface=surface, surface_radius=R)
    ball = free_body("ball", m, (inertia,) * 3, (contact,), (Frame("hollow", GROUND),))
    asked = next((wanted[k]["times"] for k in ("position", "z") if k in wanted), [1.0])
    if "z" in wanted:
        return _in_cylinder(ball, start, wanted)
    run = simulate(
        ball,
        [*start["position"], 1, 0, 0, 0],
        [*start["velocity"], *start["omega"]],
        asked[-1],
        output=asked,
        tolerance=1e-11,
    )
    q = run.q.values[1:]
    v = run.v.values[1:]
    if "position" in wanted:
        spin = Rotation.from_quat(q[-1, 3:], scalar_first=True).apply(v[-1, 3:]) @ q[-1, :3] / rho
        return {
            "position": q[:, :3],
            "velocity": v[:, :3],
            "energy": run.energy.values[-1],
            "omega_n": spin,
        }
    touch = run.contacts.isel(time=-1)
    turn = np.arctan2(q[-1, 1], q[-1, 0])
    out = np.hypot(*run.q.values[0, :2])
    # beyond that of a circle
    towards = (
        run.a.values[0, :2] @ run.q.values[0, :2] / out
        + run.v.values[0, :2] @ run.v.values[0, :2] / out
    )
    return {
        "residual_acceleration": [towards, run.a.values[0, 2]],
        "Omega": (
            (turn + 2 * np.pi * np.round((wanted["Omega"]["value"] - turn) / (2 * np.pi)))
            / asked[-1]
        ),
        "mu_needed": np.linalg.norm(touch.friction_force[0]) / float(touch.normal_force[0]),
    }


def _in_cylinder(ball: Mechanism, start: dict, wanted: dict) -> dict:
    """Down and up again: the time at its lowest place is half a period."""
    half = np.pi / wanted["vertical_frequency"]["value"]
    run = simulate(
        ball,
        [*start["position"], 1, 0, 0, 0],
        [*start["velocity"], *start["omega"]],
        max(*wanted["z"]["times"], half),
        output=np.unique([*wanted["z"]["times"], half]),
        tolerance=1e-11,
    )
    k = row(run, half)
    touch = run.contacts.isel(time=row(run, half))
    lowest = run.time[k] - run.v.values[k, 2] / run.a.values[k, 2]
    return {
        "z": [run.q.values[row(run, t), 2] for t in wanted["z"]["times"]],
        "lowest": run.q.values[k, 2],
        "vertical_frequency": np.pi / lowest,
        "mu_needed": np.linalg.norm(touch.friction_force[0]) / float(touch.normal_force[0]),
    }


def _in_trough(p: dict, start: dict, wanted: dict, rho: float, inertia: float) -> dict:
    contact = Contact(
        ("ball", "trough"), p["mu"], 0.0, radius=0.05, surface="trough", surface_radius=0.5
    )
    ball = in_plane(
        "ball", 0.3, inertia, (contact,), (Frame("trough", GROUND, Pose.rpy(np.pi / 2, 0, 0)),)
    )
    a = start["theta"]
    end = wanted["period"]["value"] if "period" in wanted else p["t_end"]
    at = (
        [t + LATER for t in wanted["event_times"]["value"]]
        if "event_times" in wanted
        else [end / 4]
    )
    run = simulate(
        ball,
        [rho * np.sin(a), -rho * np.cos(a), 0.0],
        None,
        end,
        output=[*at, end],
        tolerance=1e-11,
    )
    (x, z), (vx, vz, spin) = run.q.values[-1, :2], run.v.values[-1]
    if "period" in wanted:  # back where it started, at rest: the phase that is missing, as a time
        bottom = run.v.values[1]
        k = run.contacts.isel(time=1)
        assert np.arctan2(x, -z) == pytest.approx(a, rel=1e-9)
        first = run.contacts.isel(time=0)
        needed = np.linalg.norm(first.friction_force[0]) / float(first.normal_force[0])
        # of the pendulum that it is
        pull = run.a.values[0, :2] @ [np.cos(a), np.sin(a)] / (-rho * np.sin(a))
        return {
            "omega_small": np.sqrt(pull),
            "mu_needed": needed,
            "period": end + vx / (5 / 7 * G * np.sin(a) * np.cos(a)),
            "speed_at_bottom": np.hypot(*bottom[:2]),
            "spin_at_bottom": abs(bottom[2]),
            "normal_force_at_bottom": float(k.normal_force[0]),
        }
    angle = np.arctan2(x, -z)
    changes = [
        (t, what) for t, what in zip(run.data["event_time"].values, run.event.values) if t > 0.0
    ]
    back = (run.q.values - LATER * run.v.values + LATER**2 / 2 * run.a.values)[1:-1]
    return {
        "theta_at_events": np.arctan2(back[:, 0], -back[:, 1]),
        "event_times": [t for t, _ in changes],
        "event_kinds": ["slip->roll" if "sticks" in what else "roll->slip" for _, what in changes],
        "state_at_end": [angle, (vx * np.cos(angle) + vz * np.sin(angle)) / rho, -spin],
        "energy_at_end": run.energy.values[-1] + 0.3 * G * rho,
    }


FILES = {
    f.__name__: f
    for f in (
        block_incline,
        bouncing_ball,
        sphere_slide_roll,
        sphere_backspin,
        cradle,
        rod_drop,
        leaning_rod,
        double_pendulum_stop,
        fourbar_stop,
        leg_landing,
        tree_two_contacts,
        box_corners,
        spinning_tripod,
        ball_in_bowl,
    )
}
CASES = [(name, case) for name in FILES for case in reference(name)["cases"]]


def entries(case: dict) -> dict:
    """{name, or (law, name): what a case expects}."""
    plain = {key: entry for key, entry in case["expected"].items() if "value" in entry}
    return plain | {
        (key, k): x
        for key, entry in case["expected"].items()
        if "value" not in entry
        for k, x in entry.items()
        if isinstance(x, dict)
    }


@pytest.mark.parametrize(
    ("name", "case"), CASES, ids=[f"{name}-{case['name']}" for name, case in CASES]
)
def test_reference(name: str, case: dict) -> None:
    """Every entry is found, and within its tolerance."""
    found = FILES[name](case)
    wanted = entries(case)
    assert found.keys() == wanted.keys()
    assert {key: x for key in wanted if not (x := excess(wanted[key], found[key])) <= 1.0} == {}


def test_nothing_is_left_out() -> None:
    """All files, and all their entries."""
    assert {f.stem for f in FOLDER.glob("*.json")} == set(FILES)
    assert sum(len(entries(case)) for _, case in CASES) == 579
