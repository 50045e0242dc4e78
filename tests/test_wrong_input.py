"""Wrong input at the doors of Python: None, NaN, texts, arrays of a wrong shape or type, huge
numbers, names that do not exist. Each gets an answer, or one CatenaError in a sentence, and never
another exception.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import catena
from catena import analysis, simulate
from catena.errors import CatenaError
from catena.model.loads import JointSpring

pytestmark = pytest.mark.filterwarnings("ignore")
ARM = catena.load("two_link_arm")
LINKAGE = catena.load("four_bar")
M, F = catena.compile(ARM), catena.compile(LINKAGE)
Q, V = np.array([0.3, 0.4]), np.array([0.1, 0.2])
CLOSED = catena.assemble(F, [0.5, 0.5, -2.0], [1.0, 0, 0], fixed=["motor pin"])[0]
WRONG: list[Any] = [
    None,
    np.nan,
    np.inf,
    1e308,
    3j,
    True,
    "x",
    "1 kg",
    b"x",
    object(),
    [],
    [1],
    [1, 2, 3],
    [[1, 2], [3]],
    [np.nan, 0],
    [1e300, 1e300],
    [1j, 0],
    {},
    {"shoulder": 1},
    {"elbw": 1.0},
    np.zeros((2, 3)),
    np.zeros((0, 2)),
    np.zeros(2, dtype="U3"),
    (x for x in (1, 2)),
]
OPTIONS = [
    "until",
    "q",
    "v",
    "tolerance",
    "output",
    "control",
    "forces",
    "motion",
    "events",
    "integrator",
    "step",
    "by",
    "parameters",
    "friction",
    "limits",
    "start",
    "contact",
    "out",
    "most_steps",
    "largest_step",
    "progress",
]
RECORDS = {
    "body": "name mass com inertia shapes",
    "joint": (
        "name kind parent child axis placement offset lower upper effort speed damping friction"
        " armature pitch mimic"
    ),
    "frame": "name body pose",
    "contact": "between friction restitution radius law name surface impacts",
    "mechanism": "name bodies joints frames loops loads constraints contacts ground gravity",
    "spring": "name coordinate stiffness rest damping",
    "stop": "joint restitution lower upper",
    "impulse": "joint frame linear angular axes at when",
}


def described(kind: str, key: str, x: Any) -> Any:
    """What is made of a small mechanism with one wrong value in one record."""

    def record(make: Callable[..., Any], own: str, /, **given: Any) -> Any:
        return make(**(given | ({key: x} if own == kind else {})))

    body = record(catena.Body, "body", name="b", mass=1.0, com=(0.1, 0, 0), inertia=(1, 1, 1))
    axis = (0, 0, 1)
    joint = record(
        catena.Joint, "joint", name="j", kind="revolute", parent="ground", child="b", axis=axis
    )
    frame = record(catena.Frame, "frame", name="f", body="b", pose=catena.Pose())
    contact = record(
        catena.Contact, "contact", between=("f", "ground"), friction=0.3, restitution=0.0
    )
    spring = record(JointSpring, "spring", name="s", coordinate="j", stiffness=1.0, rest=0.0)
    made = record(
        catena.Mechanism,
        "mechanism",
        name="m",
        bodies=(body,),
        joints=(joint,),
        frames=(frame,),
        loads=(spring,),
        contacts=(contact,) if kind == "contact" else (),
    ).validate()
    if kind not in ("stop", "impulse"):
        return made
    event = (
        record(catena.events.Stop, kind, joint="j", lower=-1.0)
        if kind == "stop"
        else record(catena.events.Impulse, kind, joint={"j": 1.0}, at=0.0005)
    )
    return simulate(made, until=0.001, events=[event])


DOORS: dict[str, Callable[[Any], Any]] = {
    "forward_dynamics, q": lambda x: M.forward_dynamics(x, V, V),
    "forward_dynamics, tau": lambda x: M.forward_dynamics(Q, V, x),
    "forward_dynamics, wrenches": lambda x: M.forward_dynamics(Q, V, V, wrenches=x),
    "forward_dynamics, a wrench": lambda x: M.forward_dynamics(Q, V, V, wrenches={"tip": x}),
    "mass_matrix, parameters": lambda x: M.mass_matrix(Q, parameters=x),
    "pose, frame": lambda x: M.pose(Q, x),
    "reactions, a": lambda x: M.reactions(Q, V, x),
    "move, change": lambda x: M.move(Q, x),
    "coordinate_rate, v": lambda x: M.coordinate_rate(Q, x),
    "torch, quantity": lambda x: M.torch(x),
    "jax, quantity": lambda x: M.jax(x),
    "hybrid_dynamics, driven": lambda x: catena.hybrid_dynamics(M, Q, V, x),
    "hybrid_dynamics, a value": lambda x: catena.hybrid_dynamics(M, Q, V, {"shoulder": x}),
    "assemble, q": lambda x: catena.assemble(F, x),
    "assemble, fixed": lambda x: catena.assemble(F, CLOSED, fixed=x),
    "mobility, q": lambda x: catena.mobility(F, x),
    "equilibrium, guess": lambda x: catena.equilibrium(M, x),
    "linearize, q": lambda x: catena.linearize(M, x),
    "linearize, actuated": lambda x: catena.linearize(M, Q, actuated=x),
    "linearize, outputs": lambda x: catena.linearize(M, Q, outputs=x),
    "modes, q": lambda x: catena.modes(M, x),
    "impulse, joint": lambda x: catena.impulse(M, Q, V, joint=x),
    "impulse, a value": lambda x: catena.impulse(M, Q, V, joint={"elbow": x}),
    "impulse, linear": lambda x: catena.impulse(M, Q, V, at="tip", linear=x),
    "impulse, lock": lambda x: catena.impulse(M, Q, V, lock=x),
    "impulse, restitution": lambda x: catena.impulse(M, Q, V, lock=["elbow"], restitution=x),
    "inverse_kinematics, pose": lambda x: catena.inverse_kinematics(M, "tip", x),
    "inverse_kinematics, position": lambda x: catena.inverse_kinematics(M, "tip", position=x),
    "inverse_kinematics, orientation": lambda x: catena.inverse_kinematics(M, "tip", orientation=x),
    "inverse_kinematics, frame": lambda x: catena.inverse_kinematics(M, x, position=[0.5, 0.5, 0]),
    "operational_space, frame": lambda x: catena.operational_space(M, Q, frame=x),
    "clearance, q": lambda x: catena.clearance(M, x),
    "kinematics, driven": lambda x: analysis.kinematics(F, x, CLOSED),
    "contact_ranges, a": lambda x: catena.contact_ranges(M, Q, V, x),
    "compile": catena.compile,
    "derive": catena.derive,
    "derive, by": lambda x: catena.derive(ARM, by=x),
    "check": catena.check,
    "simulate": lambda x: simulate(x, until=0.001),
    "load": catena.load,
    "load_result": catena.load_result,
    "save": lambda x: catena.save(x, "never.toml"),
    "synthesize": catena.synthesize,
    "study": lambda x: catena.study(x, {}, measures={}),
    "study, variables": lambda x: catena.study(ARM, x, measures={"a": "max(q['elbow'])"}),
    "study, a value": lambda x: catena.study(ARM, {"q.elbow": x}, measures="max(q['elbow'])"),
    "study, measures": lambda x: catena.study(ARM, {"q.elbow": [0.0]}, measures=x),
    "study, a measure": lambda x: catena.study(ARM, {"q.elbow": [0.0]}, measures={"a": x}),
    "sensitivities": lambda x: catena.sensitivities(ARM, with_respect_to=x, until=0.001),
    **{
        f"simulate, {name}": lambda x, name=name: simulate(ARM, **({"until": 0.001} | {name: x}))
        for name in OPTIONS
    },
}


DOORS |= {
    f"{kind}, {key}": lambda x, kind=kind, key=key: described(kind, key, x)
    for kind, keys in RECORDS.items()
    for key in keys.split()
}


@pytest.mark.parametrize("door", DOORS)
def test_wrong_input_gets_a_sentence(door: str, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)  # a text is the name of a file for `out`
    for x in WRONG:
        try:
            DOORS[door](x)
        except CatenaError as refused:
            assert len(str(refused)) > 20, (x, refused)
