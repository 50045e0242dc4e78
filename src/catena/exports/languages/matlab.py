"""MATLAB and Octave: one function file that returns the system's functions, its start and its
parameters.
"""

from __future__ import annotations

from pathlib import Path

import casadi as ca

from ..plant import VERSION, Plant
from .dialects import MATLAB, body, listing, save

GIVEN = ("t", "x", "u", "p")


def text(plant: Plant) -> str:
    """Return the text of NAME.m."""
    n = plant.name
    about = [
        (
            f"{n.upper()}  {plant.title} as a first-order system, written by catena {VERSION}. SI"
            " units."
        ),
        "",
        f"  S = {n}() has x = S.start, p = S.parameters, u = S.inputs (zeros), and the functions",
        "",
        (
            "    S.derivative(t, x, u, p)   x', for ode45: ode45(@(t, x) S.derivative(t, x,"
            " S.inputs, S.parameters), [0 1], S.start)"
        ),
        "    S.outputs(t, x, u, p)      y",
        (
            "    S.project(t, x, u, p)      x back on its constraints, to be called after steps of"
            " an integrator"
        ),
        "    S.step(t, x, u, p, h)      one step of RK4, projected",
        "",
        *(f"  {line}" for line in listing(plant)),
    ]
    head = "\n".join(f"% {line}".rstrip() for line in about)
    start, values = (
        ", ".join(repr(float(v.start)) for v in some) for some in (plant.states, plant.parameters)
    )
    functions = [_function("derivative", plant.derivative), _function("outputs", plant.output)]
    functions.append(
        _function("project", plant.project)
        if plant.project is not None
        else "function y = project(t, x, u, p)\n    y = x(:);\nend"
    )
    return (
        f"function S = {n}()\n{head}\n    S = struct();\n    S.start = [{start}]';\n   "
        f" S.parameters = [{values}]';\n    S.inputs = zeros({len(plant.inputs)}, 1);\n   "
        " S.derivative = @derivative;\n    S.outputs = @outputs;\n    S.project = @project;\n   "
        " S.step = @step;\nend\n\n" + "\n\n".join(functions) + f"\n\n{_STEP}\n\n{_ONLY_IF}\n"
    )


def write(plant: Plant, folder: Path) -> Path:
    """Write NAME.m, and return its path."""
    return save(plant, folder, f"{plant.name}.m", text(plant))


def _function(name: str, f: ca.Function) -> str:
    """Return a MATLAB function of (t, x, u, p)."""
    lines, results = body(f, MATLAB, "MATLAB", GIVEN, "{}({})")
    stores = [f"y({k}, 1) = {x};" for k, x in enumerate(results, 1)]
    inside = "\n".join(
        f"    {line}" for line in (f"y = zeros({len(results)}, 1);", *lines, *stores)
    )
    return f"function y = {name}(t, x, u, p)\n{inside}\nend"


_STEP = """function x = step(t, x, u, p, h)
    a = derivative(t, x, u, p);
    b = derivative(t + h/2, x + h/2*a, u, p);
    c = derivative(t + h/2, x + h/2*b, u, p);
    d = derivative(t + h, x + h*c, u, p);
    x = project(t + h, x + h/6*(a + 2*b + 2*c + d), u, p);
end"""
_ONLY_IF = """function y = only_if(condition, x)
    if condition ~= 0
        y = x;
    else
        y = 0;
    end
end"""
