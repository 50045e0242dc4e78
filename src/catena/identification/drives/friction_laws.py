"""Friction laws: the part of a drive's effort that is not due to rigid-body forces.

    effort_j = k_j Y_j(q, v, a) theta + sum over laws of phi(q_j, v_j, a_j, load_j, t; shape) c

Each law is linear in its coefficients c; its shape (a speed, a distance, a power) is one of a few
candidates, and cross-validation between logs chooses laws and shapes. A law is a record of
`FRICTION_LAWS`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ...errors import StudyError
from ...registry import Registry

Array = NDArray[np.float64]
Shape = tuple[float, ...]
SLIDING_SPEED = 0.01  # rad/s or m/s: tanh(v / it) is the sign of a speed, smoothed


@dataclass(frozen=True)
class JointMotion:
    """One joint along a log.

    t, q, v, a (T,): time (s) and motion. load (T,): the rigid-body force in units of the effort.
    residual: of a simpler model, from which the shapes of some laws are estimated. stretch: (T,)
    the position without the encoder's jitter, for laws with memory.
    """

    t: Array
    q: Array
    v: Array
    a: Array
    load: Array
    stretch: Array
    cache: dict[tuple[object, ...], Array] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class FrictionLaw:
    """A friction law.

    name: its name. equation: in plain text. doc: one line. terms: the names of its coefficients.
    columns: from a joint's motion and a shape to (T, terms). shapes: the candidates. by_default:
    whether it is a candidate where none are named.
    """

    name: str
    equation: str
    doc: str
    terms: tuple[str, ...]
    columns: Callable[[JointMotion, Shape], Sequence[Array]]
    shapes: tuple[Shape, ...] = ((),)
    source: str = ""
    by_default: bool = True


def sign(v: Array, width: float = SLIDING_SPEED) -> Array:
    """Return the sign of a speed, smoothed over a width."""
    return np.tanh(v / width)


def bristle(x: JointMotion, distance: float, relaxation: float = np.inf) -> Array:
    """Return the bristle state z of presliding, between -1 and 1.

    z' = v / distance - |v| z / distance - z / relaxation: the model of Dahl, and with `relaxation`
    (s) a force that creeps at rest. Steps are exact for a constant speed. z is zero at first.
    """
    key = ("bristle", distance, relaxation)
    if key not in x.cache:
        dq = np.diff(x.stretch)
        slide = np.abs(dq) / distance
        relax = (x.t[1] - x.t[0]) / relaxation
        decay = np.exp(-(slide + relax))
        target = np.sign(dq) * slide / np.maximum(slide + relax, 1e-300)
        x.cache[key] = _recursion(decay, (1.0 - decay) * target)
    return x.cache[key]


def _recursion(decay: Array, drive: Array) -> Array:
    """Return z (T + 1,), defined by z[k + 1] = decay[k] z[k] + drive[k], z[0] = 0."""
    z = 0.0
    found = [z]
    for d, u in zip(decay.tolist(), drive.tolist()):
        z = d * z + u
        found.append(z)
    return np.array(found)


FRICTION_LAWS: Registry[FrictionLaw] = Registry("friction law", error=StudyError)
for _law in (
    FrictionLaw(
        "offset",
        "c",
        "a constant: zero of the sensor",
        ("offset",),
        lambda x, s: [np.ones_like(x.v)],
    ),
    FrictionLaw("viscous", "c v", "viscous friction", ("viscous",), lambda x, s: [x.v]),
    FrictionLaw(
        "coulomb",
        "c sign(v)",
        "Coulomb friction, smoothed over a small speed",
        ("coulomb",),
        lambda x, s: [sign(x.v, s[0])],
        ((0.01,), (0.003,), (0.03,)),
    ),
    FrictionLaw("rotor", "c a", "inertia of the rotor", ("rotor",), lambda x, s: [x.a]),
    FrictionLaw(
        "asymmetric",
        "c |v|",
        "viscous friction that differs between the two directions",
        ("asymmetric",),
        lambda x, s: [np.abs(x.v)],
        by_default=False,  # along a periodic motion it is nearly an offset, and spoils that at rest
    ),
    FrictionLaw(
        "stribeck",
        "c exp(-(v / vs)^2) sign(v)",
        "more friction at small speeds",
        ("stribeck",),
        lambda x, s: [np.exp(-((x.v / s[0]) ** 2)) * sign(x.v)],
        ((0.03,), (0.1,), (0.3,)),
        "[Armstrong1994]",
    ),
    FrictionLaw(
        "power",
        "c |v|^p sign(v)",
        "viscous friction with a power of the speed",
        ("power",),
        lambda x, s: [np.abs(x.v) ** s[0] * sign(x.v)],
        ((0.5,), (1.5,), (2.0,)),
    ),
    FrictionLaw(
        "load",
        "c |load| sign(v)",
        "friction that is proportional to the force that the gear carries",
        ("load",),
        lambda x, s: [np.abs(x.load) * sign(x.v)],
        source="[Hamon2010]",
    ),
    FrictionLaw(
        "lugre",
        "c z, z' = v / d - |v| z / d",
        "presliding: friction with memory, which is held at rest",
        ("bristle",),
        lambda x, s: [bristle(x, s[0])],
        ((3e-4,), (1e-3,), (4e-3,), (2e-2,)),
        "[CanudasDeWit1995]",
    ),
    FrictionLaw(
        "load_lugre",
        "c |load| z",
        "presliding friction that is proportional to the force that the gear carries",
        ("loaded bristle",),
        lambda x, s: [np.abs(x.load) * bristle(x, s[0])],
        ((3e-4,), (4e-3,)),
    ),
    FrictionLaw(
        "creep",
        "c z, z' = v / d - |v| z / d - z / T",
        "presliding friction that relaxes at rest",
        ("creep",),
        lambda x, s: [bristle(x, s[0], s[1])],
        ((3e-4, 0.5), (3e-4, 2.0), (2e-3, 0.5), (2e-3, 2.0)),
    ),
    FrictionLaw(
        "drift",
        "(c1 v + c2 sign(v)) (exp(-t / T) - 1)",
        "friction that falls while the joint warms up",
        ("viscous drift", "coulomb drift"),
        lambda x, s: [f * np.expm1(-x.t / s[0]) for f in (x.v, sign(x.v))],
        ((30.0,), (300.0,)),
    ),
    FrictionLaw(
        "ripple",
        "c1 cos(N q) + c2 sin(N q) while moving",
        "ripple of a gear or motor with N periods per turn",
        ("ripple cos", "ripple sin"),
        lambda x, s: [f(s[0] * x.q) * np.abs(sign(x.v)) for f in (np.cos, np.sin)],
        (),  # the frequency is found from the residual: see ripples
    ),
):
    FRICTION_LAWS.register(_law)
REQUIRED = (("offset", ()), ("viscous", ()), ("coulomb", (0.01,)), ("rotor", ()))


def jitter_free(q: Array, width: float) -> Array:
    """Return positions (T,) that move only where the measured ones leave a band of this width."""
    found = np.empty(len(q))
    at = float(q[0])
    for k, x in enumerate(q.tolist()):
        at = min(max(at, x - width), x + width)
        found[k] = at
    return found


def ripple_shapes(q: Array, residual: Array, count: int = 2) -> tuple[Shape, ...]:
    """Return the frequencies (periods per turn) at which a residual depends most on the position.

    Those count whose amplitude is above SIGNIFICANT_RIPPLE times the median over frequencies; the
    search covers 20 to 500 periods per turn, so that rigid-body forces are not mistaken for ripple.
    """
    N = np.arange(20.0, 500.0, 0.25)
    if len(q) < 50:
        return ()
    wave, turn = residual * np.exp(-1j * N[0] * q), np.exp(-0.25j * q)
    amplitude = np.empty(len(N))
    for k in range(len(N)):  # by products, because exponentials would take most of a fit's time
        amplitude[k] = abs(wave.sum())
        wave *= turn
    found: list[Shape] = []
    for k in np.argsort(-amplitude):
        if amplitude[k] < SIGNIFICANT_RIPPLE * np.median(amplitude) or len(found) == count:
            break
        if all(abs(N[k] - x[0]) > 5.0 for x in found):
            found.append((float(N[k]),))
    return tuple(found)


SIGNIFICANT_RIPPLE = 6.0  # relative to the median of the amplitudes over frequencies


def markdown() -> str:
    """Return the laws as a Markdown table, which docs/logs.md includes."""
    rows = [
        f"| `{law.name}` | `{law.equation.replace('|', chr(92) + '|')}` | {law.doc} |"
        for law in FRICTION_LAWS.values()
    ]
    return "\n".join(["| law | force | what it is |", "|---|---|---|", *rows])
