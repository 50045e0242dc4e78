"""The formulations, one file each, none importing another. `derive` selects one by its name.

Each file registers its own record (`catena.equations.formulation`) when it is imported. For a
formulation by name only its file is imported, for the list of formulations all of them are.
"""

from __future__ import annotations

import pkgutil
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING

import casadi as ca

from ...compiler import Tracer
from ...errors import FormulationError, unknown
from ...kernels import layout
from ...model import Mechanism, mechanism_of
from ...model.flexible import discretise
from ..equations import Equations, Later, operations
from ..features import FEATURES, needs
from ..formulation import FORMULATIONS, Formulation

if TYPE_CHECKING:
    ALL_FORMULATIONS: tuple[str, ...]

DEFAULT = "recursive"
_FILES = tuple(m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_"))


def formulation(name: str) -> Formulation:
    """Return the record of the formulation of that name."""
    is_text = isinstance(name, str)
    if is_text and name not in FORMULATIONS and name in _FILES:
        import_module(f".{name}", __package__)
    if not is_text or name not in FORMULATIONS:
        raise FormulationError(unknown("formulation", name, [f.name for f in formulations()]))
    return FORMULATIONS[name]


def formulations() -> list[Formulation]:
    """Return all records, in the order of the years of their sources."""
    for name in _FILES:
        formulation(name)
    return sorted(FORMULATIONS.values(), key=lambda f: (f.year, f.name))


def __getattr__(name: str) -> tuple[str, ...]:
    if name != "ALL_FORMULATIONS":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return tuple(f.name for f in formulations())


def derive(mechanism: Mechanism, by: str = DEFAULT, **options: object) -> Equations:
    """Derive the equations of motion of a mechanism by one formulation.

    Parameters
    ----------
    mechanism : Mechanism
        The mechanism. It is validated, and flexible bodies are discretised.
    by : str, default "recursive"
        The name of the formulation, one of `catena.ALL_FORMULATIONS`.
    **options
        Options of that formulation.

    Returns
    -------
    Equations
        The equations, with the mechanism's loads acting.

    Raises
    ------
    FormulationError
        If there is no such formulation, nothing moves, or the formulation does not treat a feature
        of the mechanism; the message names those that do.

    Examples
    --------
    >>> import catena
    >>> print(catena.derive(catena.load("pendulum"), by="lagrange").text())
    l^2*m*pivot'' + g*l*m*sin(pivot) = tau_pivot
    """
    f = formulation(by)
    m = discretise(mechanism_of("derive", mechanism).validate())
    if not m.moving:
        raise FormulationError(
            f"mechanism {m.name!r} has no motion to derive: all its joints are fixed"
        )
    for feature in needs(m):
        if feature in f.cannot:
            raise FormulationError(_refusal(f, m, feature))
    equations = f.derive(m, **options).with_(
        written=lambda: _with_gravity_as_a_letter(f, m, options), options=options
    )
    return equations if f.own_loads or not m.loads else with_loads(equations)


def _with_gravity_as_a_letter(
    f: Formulation, m: Mechanism, options: dict[str, object]
) -> Equations:
    """Return the equations with the magnitude of gravity as a symbol, for printing."""
    from ..readable.gravity import with_letter  # loads SymPy

    return f.derive(with_letter(m), **options)


def _refusal(f: Formulation, m: Mechanism, feature: str) -> str:
    """Return the error message for a feature that a formulation does not treat: which part of the
    mechanism has it, why it is not treated, and which formulations treat it.
    """
    here = FEATURES[feature]
    able = [g.name for g in formulations() if not g.lacks(m)]
    advice = [f"take {', '.join(able)}"] if able else []
    return (
        f"{f.name} does not treat {feature}, and mechanism {m.name!r} has {here.among(m)[0]}:"
        f" {f.cannot[feature]}; "
        + ", or ".join(filter(None, [*advice, here.cure or "change the mechanism"]))
    )


def with_loads(e: Equations) -> Equations:
    """Return the equations with the mechanism's loads added to tau as generalised forces."""
    s = Tracer(layout(e.mechanism))
    Q = ca.Function("loads", [s.t, s.q, s.v, s.p], [s.applied.generalised()])
    t = s.t
    tau = s.tau
    x = ca.SX.sym("x", len(e.state_names))
    given = [t, s.q, s.v, tau, s.p]

    def derivative() -> ca.Function:
        at_x = e.derivative(t, x, tau + Q(t, *e.decode(x, s.p), s.p), s.p)
        return ca.Function("derivative", [t, x, tau, s.p], [ca.cse(at_x)])

    def at(f: ca.Function) -> ca.Function:
        return ca.Function(
            f.name(), given, [ca.cse(f(t, s.q, s.v, tau + Q(t, s.q, s.v, s.p), s.p))]
        )

    acceleration = at(e.acceleration)
    return e.with_(
        derivative=Later(derivative),
        acceleration=acceleration,
        multipliers=Later(lambda: None if e.multipliers is None else at(e.multipliers)),
        # a load moves reactions where it acts, which a generalised force does not say
        reactions=None,
        counts=replace(e.counts, operations=operations(acceleration)),
    )
