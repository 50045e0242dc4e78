"""Julia: one module that needs nothing but Base."""

from __future__ import annotations

from pathlib import Path

import casadi as ca

from ..plant import VERSION, Plant
from .dialects import JULIA, body, listing, save

GIVEN = ("t", "x", "u", "p")


def text(plant: Plant) -> str:
    """Return the text of NAME.jl, a module whose name is in camel case."""
    about = [
        f"{plant.title} as a first-order system, written by catena {VERSION}. SI units.",
        "",
        (
            "derivative(t, x, u, p), outputs(t, x, u, p), project(t, x, u, p) after steps, step(t,"
            " x, u, p, h) by RK4."
        ),
        "",
        *listing(plant),
    ]
    head = "\n".join(f"# {line}".rstrip() for line in about)
    start, values = (
        ", ".join(repr(float(v.start)) for v in some) for some in (plant.states, plant.parameters)
    )
    functions = [_function("derivative", plant.derivative), _function("outputs", plant.output)]
    functions.append(
        _function("project", plant.project)
        if plant.project is not None
        else "project(t, x, u, p) = copy(x)"
    )
    return (
        f"{head}\nmodule {plant.name.title().replace('_', '')}\n\nexport derivative, outputs,"
        f" project, step\n\nconst start = Float64[{start}]\nconst parameters ="
        f" Float64[{values}]\nconst inputs = zeros({len(plant.inputs)})\n\n"
        + "\n\n".join(functions)
        + f"\n\n{_STEP}\n\nend\n"
    )


def write(plant: Plant, folder: Path) -> Path:
    """Write NAME.jl, and return its path."""
    return save(plant, folder, f"{plant.name}.jl", text(plant))


def _function(name: str, f: ca.Function) -> str:
    """Return a Julia function of (t, x, u, p)."""
    lines, results = body(f, JULIA, "Julia without packages", GIVEN, "{}[{}]", missing=("ERF",))
    inside = "\n".join(f"    {line}" for line in lines)
    given = "\n".join(f"        {x}," for x in results)
    return f"function {name}(t, x, u, p)\n{inside}\n    return [\n{given}\n    ]\nend"


_STEP = """function step(t, x, u, p, h)
    a = derivative(t, x, u, p)
    b = derivative(t + h / 2, x .+ h / 2 .* a, u, p)
    c = derivative(t + h / 2, x .+ h / 2 .* b, u, p)
    d = derivative(t + h, x .+ h .* c, u, p)
    return project(t + h, x .+ h / 6 .* (a .+ 2 .* b .+ 2 .* c .+ d), u, p)
end"""
