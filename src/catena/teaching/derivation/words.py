"""Labels: the symbols on the left of a derivation's lines, as text and as LaTeX."""

from __future__ import annotations

from collections.abc import Sequence

from ...equations.readable import Name, upright
from .steps import Label

GREEK = {
    "omega": r"\boldsymbol{\omega}",
    "alpha": r"\boldsymbol{\alpha}",
    "theta": r"\boldsymbol{\theta}",
}


def of_body(name: str) -> str:
    """Return a body's name in the form of a subscript."""
    return upright(name)


def bold(letter: str, *below: str) -> Label:
    """Return the label of a vector, such as v_pole."""
    head = GREEK.get(letter, rf"\mathbf{{{letter}}}")
    return Label("_".join((letter, *below)), f"{head}_{{{', '.join(map(of_body, below))}}}")


def rate(letter: str, body: str) -> str:
    """Return, in LaTeX, the derivative of a vector with respect to time; the dot is on its letter,
    not on its index.
    """
    return rf"\dot{{\mathbf{{{letter}}}}}_{{{of_body(body)}}}"


def partial(letter: str, body: str, speed: Name) -> Label:
    """Return the label of a partial velocity of a body along a speed."""
    head = GREEK.get(letter, rf"\mathbf{{{letter}}}")
    return Label(
        f"d{letter}_{body}/d{speed.text}", rf"{head}_{{{of_body(body)}}}^{{\,{speed.latex}}}"
    )


def scalar(text: str, latex: str = "") -> Label:
    """Return the label of a number."""
    return Label(text, latex or text)


def slope(of: str, along: Sequence[Name], rate: bool = False) -> list[Label]:
    """Return the labels dT/dx for each x; with `rate`, those of their derivatives with respect to
    time.
    """
    if rate:
        return [
            Label(
                f"d/dt d{of}/d{x.text}",
                rf"\frac{{d}}{{dt}}\frac{{\partial {of}}}{{\partial {x.latex}}}",
            )
            for x in along
        ]
    return [
        Label(f"d{of}/d{x.text}", rf"\frac{{\partial {of}}}{{\partial {x.latex}}}") for x in along
    ]


def along(letter: str, speeds: Sequence[Name], mark: str = "") -> list[Label]:
    """Return the label of a generalised force for each speed, such as F_x."""
    return [
        Label(f"{letter}{mark}_{x.text}", rf"{letter}{'^{*}' if mark else ''}_{{{x.latex}}}")
        for x in speeds
    ]
