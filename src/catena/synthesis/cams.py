"""Cams: the profile of a plate cam from a programme of motion laws.

The cam turns by theta; the follower slides along y, displaced sideways by the offset e. With s the
lift, s' and s'' its derivatives by theta (m/rad), and d0 = sqrt((rb + rr)^2 - e^2),

    roller   pitch curve z = (e + i (d0 + s)) exp(-i theta) on the cam, tan(pressure angle) =
             (s' - e)/(d0 + s); the profile is the parallel curve at the radius rr of the roller
    flat     contact at z = (s' + i (rb + s)) exp(-i theta), radius of curvature rb + s + s''

The profile is undercut where the pitch curve is convex with a radius below that of the roller, or
where the radius of curvature under a flat face is negative. [Norton2009]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import QuestionError
from ..registry import Registry

Array = NDArray[np.float64]
Derivatives = tuple[Array, Array, Array]
BISECTIONS = 60


@dataclass(frozen=True)
class MotionLaw:
    """A law from rest to rest: values(u) returns s, s', s'' for u from 0 to 1; s ends at 1."""

    name: str
    doc: str
    values: Callable[[Array], Derivatives]


MOTION_LAWS: Registry[MotionLaw] = Registry("motion law", error=QuestionError)
register = MOTION_LAWS.register


def _polynomial(*coefficients: float) -> Callable[[Array], Derivatives]:
    """Return the law of a polynomial, lowest power first."""
    p = np.polynomial.Polynomial(coefficients)

    def values(u: Array) -> Derivatives:
        return p(u), p.deriv()(u), p.deriv(2)(u)

    return values


def _harmonic(u: Array) -> Derivatives:
    w = np.pi
    return (1 - np.cos(w * u)) / 2, w * np.sin(w * u) / 2, w**2 * np.cos(w * u) / 2


def _cycloidal(u: Array) -> Derivatives:
    w = 2 * np.pi
    return u - np.sin(w * u) / w, 1 - np.cos(w * u), w * np.sin(w * u)


def _modified_sine(u: Array) -> Derivatives:
    """The modified sine law: quarter sines of a short period at both ends, and half a sine of a
    long period between.
    """
    k = np.pi / (4 + np.pi)
    ends = (u < 0.125) | (u > 0.875)
    w, phase = np.where(ends, 4 * np.pi, 4 * np.pi / 3), np.where(ends, 0.0, np.pi / 3)
    size = np.where(ends, 1.0, 3.0)
    shift = np.where(u < 0.125, 0.0, np.where(u > 0.875, 4.0, 2.0)) / (4 + np.pi)
    angle = w * u + phase
    return (
        k * (u - size / w * np.sin(angle)) + shift,
        k * (1 - size * np.cos(angle)),
        k * size * w * np.sin(angle),
    )


def _dwell(u: Array) -> Derivatives:
    zero = np.zeros_like(u)
    return zero, zero, zero


for _law in (
    MotionLaw("dwell", "the follower rests", _dwell),
    MotionLaw("harmonic", "half a cosine; its acceleration jumps at the ends", _harmonic),
    MotionLaw("cycloidal", "a full sine of acceleration", _cycloidal),
    MotionLaw("3-4-5", "a polynomial of degree five", _polynomial(0, 0, 0, 10, -15, 6)),
    MotionLaw(
        "4-5-6-7", "degree seven, without jumps of jerk", _polynomial(*[0] * 4, 35, -84, 70, -20)
    ),
    MotionLaw("modified sine", "the smallest peak torque of inertia of these", _modified_sine),
):
    register(_law)


@dataclass(frozen=True)
class Segment:
    """A part of the programme: the law, the angle of the cam (rad), and the change of lift (m)."""

    law: str
    angle: float
    rise: float = 0.0


@dataclass(frozen=True)
class Follower:
    """A translating follower. roller: the radius of its roller, m; 0 for a knife edge, None for a
    flat face. offset: of its line of motion from the axis of the cam, m.
    """

    roller: float | None = 0.0
    offset: float = 0.0


KNIFE_EDGE = Follower()


@dataclass(frozen=True)
class CamProfile:
    """A plate cam. All arrays are over `angle` (rad).

    lift, velocity, acceleration: s (m), ds/dtheta (m/rad), d2s/dtheta2 (m/rad2). profile, pitch:
    complex points (m) in the cam's frame. pressure_angle: rad. curvature_radius: of the profile, m,
    positive where it is convex. undercut: where the profile cannot be made.
    """

    base_radius: float
    follower: Follower
    angle: Array
    lift: Array
    velocity: Array
    acceleration: Array
    pitch: NDArray[np.complex128]
    profile: NDArray[np.complex128]
    pressure_angle: Array
    curvature_radius: Array
    undercut: NDArray[np.bool_]

    @property
    def largest_pressure_angle(self) -> float:
        """The largest absolute pressure angle, rad."""
        return float(np.abs(self.pressure_angle).max())


def programme(segments: Sequence[Segment], samples: int) -> tuple[Array, Derivatives]:
    """Return cam angles (n,) over one turn and the lift with its two derivatives.

    Raises
    ------
    QuestionError
        Where the segments do not make one turn, or do not return to the first lift.
    """
    whole = sum(s.angle for s in segments)
    back = sum(s.rise for s in segments)
    largest = max((abs(s.rise) for s in segments), default=0.0)
    if abs(whole - 2 * np.pi) > 1e-9 or abs(back) > 1e-9 * max(largest, 1e-300):
        raise QuestionError(
            f"cam: the segments take {np.degrees(whole):.6g} deg and end {back:.6g} m above the"
            " start; they make one turn (360 deg) and return to it"
        )
    if bad := [s for s in segments if not s.angle > 0 or (s.law == "dwell" and s.rise)]:
        raise QuestionError(
            f"cam: a {bad[0].law} over {bad[0].angle:.6g} rad with a rise of {bad[0].rise:.6g} m;"
            " angles are positive, and a dwell has no rise"
        )
    theta = 2 * np.pi * np.arange(samples) / samples
    out = np.zeros((3, samples))
    begin, level = 0.0, 0.0
    for s in segments:
        own = (theta >= begin - 1e-12) & (theta < begin + s.angle - 1e-12)
        u = np.clip((theta[own] - begin) / s.angle, 0.0, 1.0)
        for k, x in enumerate(MOTION_LAWS.find(s.law).values(u)):
            out[k, own] = s.rise * x / s.angle**k
        out[0, own] += level
        begin, level = begin + s.angle, level + s.rise
    return theta, (out[0], out[1], out[2])


def cam(
    segments: Sequence[Segment],
    base_radius: float,
    follower: Follower = KNIFE_EDGE,
    samples: int = 720,
) -> CamProfile:
    """Return the profile of a plate cam.

    Parameters
    ----------
    segments : sequence of Segment
        The programme over one turn.
    base_radius : float
        The radius of the base circle, m.
    follower : Follower, default a knife edge without offset
        The follower.
    samples : int, default 720
        Points over one turn.

    Returns
    -------
    CamProfile

    Raises
    ------
    QuestionError
        Where the programme is not closed, or the base circle is smaller than the offset.

    Examples
    --------
    >>> rise = [Segment("cycloidal", np.pi, 0.02), Segment("cycloidal", np.pi, -0.02)]
    >>> found = cam(rise, 0.05, Follower(roller=0.01))
    >>> bool(found.undercut.any()), round(float(np.degrees(found.largest_pressure_angle)), 2)
    (False, 10.39)
    """
    theta, (s, v, a) = programme(segments, samples)
    if follower.roller is None:
        return _flat(base_radius, follower, theta, s, v, a)
    rr, e = follower.roller, follower.offset
    if not base_radius > 0 or not base_radius + rr > abs(e):
        raise QuestionError(
            f"cam: the base circle of radius {base_radius:.6g} m with a roller of {rr:.6g} m does"
            f" not reach the follower's line, {abs(e):.6g} m from the axis; enlarge it"
        )
    d0 = np.sqrt((base_radius + rr) ** 2 - e**2)
    turn = np.exp(-1j * theta)
    z = (e + 1j * (d0 + s)) * turn
    dz = (1j * v - 1j * (e + 1j * (d0 + s))) * turn
    ddz = (1j * a - 2j * 1j * v + (1j) ** 2 * (e + 1j * (d0 + s))) * turn
    bend = (np.conj(dz) * ddz).imag
    sense = np.sign(np.median(bend)) or 1.0
    with np.errstate(divide="ignore"):
        radius = np.abs(dz) ** 3 / (bend * sense)
    inward = sense * 1j * dz / np.abs(dz)
    undercut = (radius > 0) & (radius < rr)
    return CamProfile(
        base_radius,
        follower,
        theta,
        s,
        v,
        a,
        z,
        z + rr * inward,
        np.arctan2(v - e, d0 + s),
        radius - rr,
        undercut,
    )


def _flat(
    base: float, follower: Follower, theta: Array, s: Array, v: Array, a: Array
) -> CamProfile:
    """Return the cam of a follower with a flat face."""
    if not base > 0:
        raise QuestionError(f"cam: the base circle has the radius {base:.6g} m; it is positive")
    z = (v + 1j * (base + s)) * np.exp(-1j * theta)
    radius = base + s + a
    zero = np.zeros_like(s)
    return CamProfile(base, follower, theta, s, v, a, z, z, zero, radius, radius < 0)


def smallest_base_radius(
    segments: Sequence[Segment],
    follower: Follower,
    pressure_angle: float,
    largest: float,
    samples: int = 720,
) -> float:
    """Return the smallest base circle (m) without undercut whose pressure angle stays below a
    limit.

    Parameters
    ----------
    segments, follower, samples
        As of `cam`.
    pressure_angle : float
        The limit, rad.
    largest : float
        The largest radius that is tried, m.

    Returns
    -------
    float

    Raises
    ------
    QuestionError
        Where the largest radius does not suffice either.
    """

    def suits(radius: float) -> bool:
        roller = follower.roller
        if roller is not None and radius + roller <= abs(follower.offset):
            return False
        found = cam(segments, radius, follower, samples)
        return not found.undercut.any() and found.largest_pressure_angle <= pressure_angle

    if not suits(largest):
        raise QuestionError(
            f"cam: no base circle up to {largest:.6g} m keeps the pressure angle below"
            f" {np.degrees(pressure_angle):.4g} deg without undercut; spread the rise over a larger"
            " angle, or take a smaller roller"
        )
    low, high = 0.0, largest
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if suits(middle) else (middle, high)
    return high
