"""The sketch of a mechanism for a worksheet: bodies as lines, joints, axes, and for each coordinate
where it is zero and which way it is positive.

    mechanism -> marks in the plane of the paper -> SVG or TikZ

A planar mechanism is seen along the normal of its plane; another one obliquely, with x towards the
reader, y to the right and z upwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import casadi as ca
import numpy as np
import scipy.optimize

from ...compiler import Tracer
from ...equations.readable import Names, names_of
from ...kernels import BALL, SLIDE, layout
from ...model import GROUND, Joint, Mechanism, Motion, plane, value_of

ARC = 0.3  # the radius of the arc of an angle, in units of the mechanism's size
TURN, SHIFT = 0.6, 0.45  # coordinates of the sketch: rad, and in units of the mechanism's size
OBLIQUE = np.array([[-0.42, 1.0, 0.0], [-0.3, 0.0, 1.0]])  # x towards the reader, y right, z up
WIDTH, HEIGHT, MARGIN = 460.0, 300.0, 42.0  # px of a picture
LABELS = 60.0  # px for words to the right of the rightmost mark
PX_PER_CM = 40.0  # of TikZ
STARTS = 8  # random starts from which loops are closed
CLOSED = 1e-8  # the largest gap of a loop that counts as closed, relative to the size


@dataclass(frozen=True)
class Mark:
    """A mark on the paper. kind: "link", "rod", "arrow", "dashed", "dot", "pin", "ground" or
    "text". points: (n, 2). text, latex: what is written at it.
    """

    kind: str
    points: np.ndarray
    text: str = ""
    latex: str = ""


@dataclass(frozen=True)
class Sketch:
    """A sketch: its marks, in order of drawing, in the mechanism's units. width: of the picture,
    px.
    """

    marks: tuple[Mark, ...]
    width: float = WIDTH

    def svg(self) -> str:
        """Return it as an SVG element."""
        return svg(self)

    def tikz(self) -> str:
        """Return it as a tikzpicture."""
        return tikz(self)


@dataclass(frozen=True)
class _Posed:
    """A mechanism in the configuration of a sketch. X: {body: (R, p)}. size: its size, m."""

    m: Mechanism
    X: dict[str, tuple[np.ndarray, np.ndarray]]
    size: float
    view: np.ndarray

    def point(self, body: str, local: Any) -> np.ndarray:
        """Return a point of a body in the ground's axes."""
        R, p = self.X[body]
        return p + R @ self.numbers(local)

    def numbers(self, x: Any) -> np.ndarray:
        """Return values at the mechanism's own parameters."""
        return np.array([value_of(e, self.m.parameters) for e in x], float)

    def paper(self, *points: np.ndarray) -> np.ndarray:
        """Return points on the paper, (n, 2)."""
        return np.array([self.view @ p for p in points])


def sketch(mechanism: Mechanism, apart: float = 0.0) -> Sketch:
    """Return the sketch of a mechanism. apart: how far bodies are pulled apart from each other, in
    units of its size, for free-body diagrams, which have the forces of the joints in place of
    coordinates.
    """
    posed = _posed(mechanism, apart)
    names = names_of(mechanism)
    marks = [mark for joint in mechanism.ordered for mark in _links(posed, joint, not apart)]
    marks += _bodies(posed)
    if apart:
        joints = (*mechanism.ordered, *mechanism.loops)
        marks += [mark for joint in joints for mark in _forces(posed, joint)]
        marks += _weights(posed)
    else:
        marks += [mark for joint in mechanism.ordered for mark in _coordinate(posed, joint, names)]
        marks += [mark for loop in mechanism.loops for mark in _pin(posed, loop)]
    return Sketch((*marks, *_axes(posed)), 2 * WIDTH if apart else WIDTH)


def free_bodies(mechanism: Mechanism) -> Sketch:
    """Return the free-body diagrams of all bodies: each apart from the others, with its weight and
    the forces and torques that its joints transmit.
    """
    return sketch(mechanism, apart=1.2)


# --- configuration
def _posed(m: Mechanism, apart: float) -> _Posed:
    s = Tracer(layout(m))
    p = np.array(list(m.parameters.values()), float)
    poses = ca.Function("poses", [s.q, s.p], [s.pose(b.name) for b in m.bodies])
    straight = [np.array(x) for x in poses.call([_coordinates(s, 0.0, 0.0), p])]
    size = _size(m, straight)
    q = _coordinates(s, TURN, SHIFT * size)
    if m.loops:
        q = _closed(s, q, p, size)
    shown = [np.array(x) for x in poses.call([q, p])]
    X = {GROUND: (np.eye(3), np.zeros(3))}
    n = plane(m)
    view = OBLIQUE if n is None else _along(np.array(n))
    for k, (body, x) in enumerate(zip(m.bodies, shown)):
        side = np.linalg.pinv(view) @ np.array([1.0, 0.0])
        X[body.name] = (x[:, :3], x[:, 3] + apart * (k + 1) * size * side)
    return _Posed(m, X, size, view)


def _coordinates(s: Tracer, turn: float, shift: float) -> np.ndarray:
    q = np.zeros(s.layout.nq)
    for k, c in enumerate(s.layout.coordinates):
        if c.motion == BALL:
            q[c.qi] = np.cos(turn / 2)
            q[c.qi + 1] = np.sin(turn / 2)
        elif c.motion == SLIDE:
            q[c.qi] = shift
        else:
            q[c.qi] = turn * (1.0, 0.7, 0.5)[k % 3]
    return q


def _closed(s: Tracer, q: np.ndarray, p: np.ndarray, size: float) -> np.ndarray:
    """Return coordinates at which loops are closed, those whose angles differ most from straight
    ones; q where none are found.
    """
    gap = ca.Function("gap", [s.t, s.q, s.p], [s.constraint_rows()[0]])
    rng = np.random.default_rng(1)
    starts = [q, 0.0 * q + 1e-3, *(rng.uniform(-1.5, 1.5, (STARTS, q.size)))]
    found = [
        scipy.optimize.least_squares(
            lambda x: np.array(gap(0.0, x, p)).ravel(), start, xtol=1e-14, ftol=1e-14, gtol=1e-14
        )
        for start in starts
    ]
    turns = [c.qi for c in s.layout.coordinates if c.motion not in (SLIDE, BALL)]
    closed = [x.x for x in found if np.abs(x.fun).max(initial=0.0) <= CLOSED * max(size, 1.0)]
    return max(closed, key=lambda x: float(np.abs(np.sin(x[turns])).min(initial=1.0)), default=q)


def _size(m: Mechanism, poses: Sequence[np.ndarray]) -> float:
    """Return the size of a mechanism in its configuration at zero."""
    points = [np.zeros(3), *(x[:, 3] for x in poses)]
    for body, x in zip(m.bodies, poses):
        points.append(x[:, :3] @ [value_of(e, m.parameters) for e in body.com] + x[:, 3])
    spread = float(np.ptp(np.array(points, float), axis=0).max())
    return spread or 1.0


def _along(n: np.ndarray) -> np.ndarray:
    """Return the two axes of the paper for a view along a normal: z, or failing that y, upwards."""
    if abs(n[2]) > 0.9:
        return np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    up = np.array([0.0, 0.0, 1.0])
    right = np.cross(up, n) / np.linalg.norm(np.cross(up, n))
    return np.array([right * (np.sign(right[np.argmax(np.abs(right))]) or 1.0), up])


# --- marks
def _links(posed: _Posed, joint: Joint, guides: bool) -> list[Mark]:
    """Return the line of a body from the joint that carries it to what it carries. guides: also to
    what slides along it.
    """
    m = posed.m
    body = joint.child
    start = posed.point(body, joint.offset.position)
    ends = [posed.point(body, j.placement.position) for j in m.joints if j.parent == body]
    for loop in m.loops:
        ends += [
            posed.point(b, pose.position)
            for b, pose in ((loop.parent, loop.placement), (loop.child, loop.offset))
            if b == body
        ]
    com = posed.point(body, next(b for b in m.bodies if b.name == body).com)
    slid = [j for j in m.joints if guides and j.parent == body and _slides(j)]
    ends += [posed.point(j.child, j.offset.position) for j in slid]
    marks = [Mark("link", posed.paper(start, end)) for end in (*ends, com) if _apart(start, end)]
    return marks or [Mark("block", posed.paper(start))]


def _slides(joint: Joint) -> bool:
    return bool(joint.freedoms) and all(f.motion == Motion.SLIDE for f in joint.freedoms)


def _apart(a: np.ndarray, b: np.ndarray) -> bool:
    return bool(np.linalg.norm(a - b) > 1e-9)


def _bodies(posed: _Posed) -> list[Mark]:
    """Return the centre of mass of every body with mass, named."""
    return [
        Mark("dot", posed.paper(posed.point(b.name, b.com)), b.name)
        for b in posed.m.bodies
        if value_of(b.mass, posed.m.parameters) > 0
    ]


def _pin(posed: _Posed, joint: Joint) -> list[Mark]:
    """Return the mark of a joint, on the ground where one of its sides is."""
    on_ground = GROUND in (joint.parent, joint.child)
    own = joint.child == GROUND
    place = (
        posed.point(joint.child, joint.offset.position)
        if own
        else posed.point(joint.parent, joint.placement.position)
    )
    return [Mark("ground" if on_ground else "pin", posed.paper(place))]


def _coordinate(posed: _Posed, joint: Joint, names: Names) -> list[Mark]:
    """Return a joint with its coordinates: for a turn the direction at zero and an arc from it, for
    a slide an arrow from zero.
    """
    marks = _pin(posed, joint)
    R, _ = posed.X[joint.parent]
    turned = R @ np.array([posed.numbers(x) for x in joint.placement.rotation])
    origin = posed.point(joint.parent, joint.placement.position)
    shown = {n.text: n for n in names["q"]}
    own = [n for n in shown if n == joint.name or n.startswith(f"{joint.name}.")]
    label = ", ".join(own)
    latex = ", ".join(shown[n].latex for n in own)
    child = posed.point(joint.child, joint.offset.position)
    if any(f.motion == Motion.BALL for f in joint.freedoms):
        label, latex = joint.name, rf"\mathrm{{{joint.name}}}"
    if len(joint.freedoms) != 1 or joint.mimic is not None:
        return [*marks, Mark("text", posed.paper(child), label, latex)]
    f = joint.freedoms[0]
    if f.motion == Motion.SLIDE and _apart(origin, child):
        line = posed.paper(origin, child)
        side = 0.12 * posed.size * _normal(line)
        return [*marks, Mark("arrow", line + side, label, latex)]
    if f.motion not in (Motion.TURN, Motion.SCREW):
        return [*marks, Mark("text", posed.paper(child), label, latex)]
    axis = turned @ np.array(f.axis, float)
    away = _direction(posed, joint, axis)
    if away is None:
        return [*marks, Mark("text", posed.paper(child), label, latex)]
    angle = TURN if not posed.m.loops else 0.0
    q = _angle(posed, joint, axis, turned)
    angle = q if q else angle
    zero = _rotated(axis, -angle) @ away
    reach = ARC * posed.size
    arc = [origin + reach * _rotated(axis, x) @ zero for x in np.linspace(0, angle, 17)]
    return [
        *marks,
        Mark("dashed", posed.paper(origin, origin + 1.25 * reach * zero)),
        Mark("arrow", posed.paper(*arc), label, latex),
    ]


def _angle(posed: _Posed, joint: Joint, axis: np.ndarray, turned: np.ndarray) -> float:
    """Return the angle by which a joint with one turn stands away from zero."""
    back = np.array([posed.numbers(x) for x in joint.offset.rotation])
    D = turned.T @ posed.X[joint.child][0] @ back
    n = turned.T @ axis
    skew = np.array([D[2, 1] - D[1, 2], D[0, 2] - D[2, 0], D[1, 0] - D[0, 1]]) / 2
    return float(np.arctan2(n @ skew, (np.trace(D) - 1) / 2))


def _direction(posed: _Posed, joint: Joint, axis: np.ndarray) -> np.ndarray | None:
    """Return the direction across the axis in which a body extends from its joint, as a unit
    vector; None where it does not.
    """
    m = posed.m
    body = joint.child
    start = posed.point(body, joint.offset.position)
    ends = [posed.point(body, next(b for b in m.bodies if b.name == body).com)]
    carried = [j for j in m.joints if j.parent == body]
    ends += [posed.point(body, j.placement.position) for j in carried]
    ends += [posed.point(j.child, j.offset.position) for j in carried]
    ends += [posed.point(body, x.placement.position) for x in m.loops if x.parent == body]
    ends += [posed.point(body, x.offset.position) for x in m.loops if x.child == body]
    for end in ends:
        across = end - start - axis * (axis @ (end - start))
        if np.linalg.norm(across) > 1e-6 * posed.size:
            return np.array(across / np.linalg.norm(across))
    return None


def _rotated(axis: np.ndarray, angle: float) -> np.ndarray:
    """Return the rotation about an axis (Rodrigues)."""
    x, y, z = axis / np.linalg.norm(axis)
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.array(np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K)


def _normal(line: np.ndarray) -> np.ndarray:
    d = line[-1] - line[0]
    length = np.linalg.norm(d) or 1.0
    return np.array([d[1], -d[0]]) / length


def _forces(posed: _Posed, joint: Joint) -> list[Mark]:
    """Return the forces of a joint or a closing joint on its child, and their opposites on its
    parent, by the names that the steps of newton_euler have; none on the ground.
    """
    planar = plane(posed.m) is not None
    axes = [np.linalg.pinv(posed.view) @ e for e in np.eye(2)] if planar else list(np.eye(3))
    sides = [(joint.child, joint.offset, 1), (joint.parent, joint.placement, -1)]
    marks = []
    for body, pose, sign in sides:
        if body == GROUND:
            continue
        at = posed.point(body, pose.position)
        for axis in axes:
            letter = "xyz"[int(np.argmax(np.abs(axis)))]
            minus = "-" if sign < 0 else ""
            head, below = ("lambda", "\\lambda") if joint in posed.m.loops else ("F", "F")
            latex = rf"{minus}{below}_{{{letter},\mathrm{{{joint.name}}}}}"
            ends = posed.paper(at, at + sign * 0.35 * posed.size * axis)
            marks.append(Mark("arrow", ends, f"{minus}{head}{letter}_{joint.name}", latex))
        marks.append(Mark("pin", posed.paper(at)))
    return marks


def _weights(posed: _Posed) -> list[Mark]:
    g = posed.numbers(posed.m.gravity)
    if np.linalg.norm(posed.view @ g) <= 1e-9 * np.linalg.norm(g):
        return []  # there is none, or it is along the line of sight
    reach = 0.4 * posed.size * g / np.linalg.norm(g)
    return [
        Mark("arrow", posed.paper(c, c + reach), "m g", "m g")
        for b in posed.m.bodies
        if value_of(b.mass, posed.m.parameters) > 0
        for c in [posed.point(b.name, b.com)]
    ]


def _axes(posed: _Posed) -> list[Mark]:
    """Return the ground's axes and the direction of gravity, at the lower left."""
    reach = 0.3 * posed.size
    shown = [k for k in range(3) if np.linalg.norm(posed.view[:, k]) > 0.1]
    bodies = [posed.paper(p)[0] for b, (_, p) in posed.X.items() if b != GROUND]
    base = np.min(bodies, axis=0) - 0.6 * posed.size
    marks = [
        Mark("thin arrow", np.array([base, base + reach * posed.view[:, k]]), "xyz"[k], "xyz"[k])
        for k in shown
    ]
    g = posed.numbers(posed.m.gravity)
    down = posed.view @ g
    if np.linalg.norm(down) > 1e-9 * np.linalg.norm(g):
        start = base + np.array([1.6 * reach, 0.6 * reach])
        end = start + reach * down / np.linalg.norm(down)
        marks.append(Mark("thin arrow", np.array([start, end]), "g", "g"))
    return marks


# --- output
def _fitted(s: Sketch) -> tuple[Any, float]:
    """Return a function from the mechanism's units to px with y downwards, and the height in px."""
    points = np.vstack([m.points for m in s.marks])
    low, high = points.min(0), points.max(0)
    scale = min(
        (s.width - 2 * MARGIN - LABELS) / (np.ptp(points[:, 0]) or 1.0), HEIGHT / (high - low)[1]
    )
    scale = scale if np.isfinite(scale) else 100.0
    height = (high - low)[1] * scale + 2 * MARGIN
    middle = (s.width - LABELS - (high - low)[0] * scale) / 2

    def put(p: np.ndarray) -> np.ndarray:
        return np.array(
            [middle + (p[0] - low[0]) * scale, height - MARGIN - (p[1] - low[1]) * scale]
        )

    return put, float(height)


def _label_place(at: Sequence[Any]) -> tuple[float, float]:
    """Return where the words of a mark stand: at the end of a line, outside the middle of an
    arc.
    """
    if len(at) < 5:
        return float(at[-1][0]), float(at[-1][1])
    middle = np.array(at[len(at) // 2])
    bulge = middle - (np.array(at[0]) + np.array(at[-1])) / 2
    length = np.linalg.norm(bulge)
    outside = middle + (
        0.12 * np.linalg.norm(np.array(at[-1]) - at[0]) / length * bulge if length else 0
    )
    return float(outside[0]), float(outside[1])


LINES = {
    "link": 'stroke="#3b6ea5" stroke-width="5" stroke-linecap="round"',
    "arrow": 'stroke="#b3361e" stroke-width="1.6" marker-end="url(#tip)"',
    "thin arrow": 'stroke="#444" stroke-width="1.1" marker-end="url(#tip)"',
    "dashed": 'stroke="#777" stroke-width="1" stroke-dasharray="5 4"',
}
TIP = (
    '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7"'
    ' orient="auto"><path d="M0 0L8 4L0 8z" fill="#444"/></marker></defs>'
)


def svg(s: Sketch) -> str:
    """Return a sketch as an SVG element."""
    put, height = _fitted(s)
    parts = [TIP]
    for mark in s.marks:
        at = [put(p) for p in mark.points]
        x, y = _label_place(at)
        shown = " ".join(f"{px:.1f},{py:.1f}" for px, py in at)
        if mark.kind in LINES:
            parts.append(f'<polyline points="{shown}" fill="none" {LINES[mark.kind]}/>')
        elif mark.kind == "block":
            parts.append(
                f'<rect x="{x - 14:.1f}" y="{y - 9:.1f}" width="28" height="18" fill="#dbe6f2"'
                ' stroke="#3b6ea5" stroke-width="2"/>'
            )
        elif mark.kind in ("pin", "ground"):
            parts.append(
                f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="#fff" stroke="#222"'
                ' stroke-width="1.6"/>'
            )
            if mark.kind == "ground":
                parts.append(_hatch(x, y))
        elif mark.kind == "dot":
            parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" fill="#222"/>')
        if mark.text:
            parts.append(
                f'<text x="{x + 7:.1f}" y="{y - 6:.1f}" font-size="12"'
                f' font-family="serif" fill="#111">{escape(mark.text)}</text>'
            )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {s.width:.0f} {height:.0f}"'
        f' width="{s.width:.0f}" height="{height:.0f}" role="img">{"".join(parts)}</svg>'
    )


def _hatch(x: float, y: float) -> str:
    lines = "".join(
        f'<path d="M{x + k:.1f} {y + 12:.1f}l-5 7" stroke="#222"/>' for k in (-8, -2, 4, 10)
    )
    return f'<path d="M{x - 13:.1f} {y + 12:.1f}h26" stroke="#222" stroke-width="1.5"/>{lines}'


TIKZ = {
    "link": r"\draw[line width=2.4pt,blue!55!black,line cap=round]",
    "arrow": r"\draw[->,thick,red!70!black]",
    "thin arrow": r"\draw[->]",
    "dashed": r"\draw[dashed,gray]",
}


def tikz(s: Sketch) -> str:
    """Return a sketch as a tikzpicture."""
    put, height = _fitted(s)
    rows = [r"\begin{tikzpicture}[>=stealth]"]
    for mark in s.marks:
        at = [(x / PX_PER_CM, (height - y) / PX_PER_CM) for x, y in map(put, mark.points)]
        x, y = _label_place(at)
        if mark.kind in TIKZ:
            rows.append(f"{TIKZ[mark.kind]} {' -- '.join(f'({a:.3f},{b:.3f})' for a, b in at)};")
        elif mark.kind == "block":
            rows.append(
                rf"\draw[fill=blue!8] ({x - 0.35:.3f},{y - 0.22:.3f}) rectangle"
                rf" ({x + 0.35:.3f},{y + 0.22:.3f});"
            )
        elif mark.kind in ("pin", "ground"):
            rows.append(rf"\draw[fill=white] ({x:.3f},{y:.3f}) circle (3pt);")
            if mark.kind == "ground":
                rows.append(
                    rf"\draw ({x - 0.3:.3f},{y - 0.25:.3f}) -- ({x + 0.3:.3f},{y - 0.25:.3f});"
                )
        elif mark.kind == "dot":
            rows.append(rf"\fill ({x:.3f},{y:.3f}) circle (2.6pt);")
        if mark.text:
            shown = f"${mark.latex}$" if mark.latex else mark.text.replace("_", r"\_")
            rows.append(rf"\node[above right,inner sep=2pt] at ({x:.3f},{y:.3f}) {{{shown}}};")
    return "\n".join([*rows, r"\end{tikzpicture}"])
