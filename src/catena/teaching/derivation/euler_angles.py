"""A mechanism in Euler angles, the coordinates that textbooks use for a rolling body.

A ball, or the ball in a free joint, has a quaternion as its coordinates, and the contact point of a
disc is not a polynomial in these. Here three rotations replace it: psi about the ground's z, theta
about the turned x (or y), phi about the axis of symmetry of the body. These angles are used where
theta, the lean, is less than a right angle.
"""

from __future__ import annotations

from ...equations import Derived, derive
from ...errors import FormulationError
from ...kernels import BALL
from ...model import GROUND, Body, Joint, Mechanism, Pose, value_of
from .board import Board
from .kinematics import Bodies
from .steps import Label, Step
from .words import of_body

ANGLES = ("psi", "theta", "phi")
AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
# the turns for each axis of symmetry; the last is that axis
SEQUENCES = {"x": "zyx", "y": "zxy", "z": "zxz"}
LEAN = 1.4  # rad: the largest lean of the states at which lines are checked


def rows_need_angles(equations: Derived) -> bool:
    """Return whether a quaternion occurs in the speed rows of a mechanism; false where options
    choose the speeds.
    """
    m = equations.mechanism
    ball = any(f.motion == BALL for j in m.ordered for f in j.freedoms)
    return ball and bool(m.nonholonomic) and not getattr(equations, "options", {})


def board_in_angles(equations: Derived) -> Board:
    """Return the board of the same equations in Euler angles."""
    charted = derive(in_euler_angles(equations.mechanism), equations.formulation)
    names = [n.partition("_")[0] for n in charted.mechanism.coordinate_names]
    return Board(charted, (names.index(ANGLES[1]), LEAN))


def in_euler_angles(m: Mechanism) -> Mechanism:
    """Return the mechanism with its one ball or free joint on the ground as slides and turns.

    Raise a FormulationError where it has several, or loads that name its coordinates.
    """
    turned = [j for j in m.ordered if any(f.motion == BALL for f in j.freedoms)]
    if len(turned) != 1 or m.loads or m.contacts or turned[0].parent != GROUND:
        raise FormulationError(
            f"steps: the speed rows of {m.name!r} are too long to read in quaternions, and Euler"
            " angles are written for one ball or free joint on the ground, without loads or"
            " contacts; ask for the equations themselves, `text()`"
        )
    (joint,) = turned
    k = next(k for k, j in enumerate(m.joints) if j.name == joint.name)
    new = _chain(m, joint)
    inner = [Body(j.child, mass=0.0, com=(0, 0, 0), inertia=(0, 0, 0)) for j in new[:-1]]
    return m.with_(bodies=(*inner, *m.bodies), joints=(*m.joints[:k], *new, *m.joints[k + 1 :]))


def _chain(m: Mechanism, joint: Joint) -> list[Joint]:
    """Return the slides and turns that replace a joint with a ball."""
    slides = [f.labels[0] for f in joint.freedoms if f.motion != BALL]
    turns = SEQUENCES[_symmetry(m, joint.child)]
    taken = {*m.parameters, *(n for n in m.coordinate_names if not n.startswith(f"{joint.name}."))}
    kinds = [("prismatic", x, x) for x in slides] + [
        ("revolute", angle, axis) for angle, axis in zip(ANGLES, turns)
    ]
    names = [name if name not in taken else f"{name}_{joint.name}" for _, name, _ in kinds]
    bodies = [joint.parent, *(f"frame {n}" for n in names[:-1]), joint.child]
    return [
        Joint(
            name,
            kind,
            bodies[i],
            bodies[i + 1],
            placement=joint.placement if i == 0 else Pose(),
            offset=joint.offset if i == len(kinds) - 1 else Pose(),
            axis=AXES[axis],
        )
        for i, (name, (kind, _, axis)) in enumerate(zip(names, kinds))
    ]


def _symmetry(m: Mechanism, body: str) -> str:
    """Return the axis about which a body's inertia is symmetric; x where there is none."""
    xx, _, _, yy, _, zz = (float(value_of(x, m.parameters)) for x in m.body(body).inertia)
    pairs = {"z": (xx, yy), "y": (xx, zz), "x": (yy, zz)}
    return next((k for k, (a, b) in pairs.items() if abs(a - b) <= 1e-9 * max(a, b)), "x")


def angles_step(board: Board) -> Step:
    """Return the step that defines the angles: the body's axes in the ground."""
    joint = next(j for j in board.mechanism.ordered if j.name.startswith(ANGLES[2]))
    b = Bodies(board).mover(joint.child)
    axes = " and ".join(
        f"{j.name} about {'the turned ' * (j.name[:3] != 'psi')}{_letter(j)}"
        for j in board.mechanism.ordered
        if j.name.partition("_")[0] in ANGLES
    )
    lines = tuple(
        board.line(
            Label(f"e{'xyz'[k]}_{b.name}", rf"\mathbf{{e}}_{{{of_body(b.name)},{'xyz'[k]}}}"),
            b.R[:, k],
            board.observed[b.name].R[:, :, k],
            axes="ground",
        )
        for k in range(3)
    )
    return Step(
        "Euler angles",
        f"The body turns by {axes.replace(' and ', ', ', 1)}; its axes in the ground. The lean"
        " theta is less than a right angle.",
        lines,
    )


def _letter(joint: Joint) -> str:
    return next(k for k, x in AXES.items() if x == tuple(joint.axis[0]))
