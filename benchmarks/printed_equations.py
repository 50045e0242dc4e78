"""Are the printed equations the mechanism's motion?

For textbook problems and every formulation, the text of the derivation is read back by SymPy, from
the text alone: names of coordinates and parameters, equations, and nothing of catena's own
expressions. The equations are solved for the accelerations at random states and compared with the
kernel's. Prints one row per problem; ends with an error where a difference exceeds 1e-9.

    python benchmarks/printed_equations.py [--tiny]
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import sympy as sp

import catena
from catena import Body, Joint, Mechanism
from catena.equations.formulations import derive
from catena.errors import FormulationError
from catena.model.loads import JointSpring, SpeedRow
from catena.teaching.worksheets import PROBLEMS as PROBLEM_SHEETS

TOLERANCE = 1e-9  # on accelerations, relative to the largest of them
STATES = 3
METHODS = tuple(f.name for f in catena.equations.formulations.formulations())


def upright_disc() -> Mechanism:
    """A disc that rolls upright: x' = R cos(h) s', y' = R sin(h) s'."""
    names = ("x", "y", "h", "s")
    axes = ((1, 0, 0), (0, 1, 0), (0, 0, 1), (0, 1, 0))
    kinds = ("prismatic", "prismatic", "revolute", "revolute")
    bodies = ["ground", "a", "b", "c", "disc"]
    nothing = {"mass": 0.0, "com": (0, 0, 0), "inertia": (0, 0, 0)}
    return Mechanism(
        "upright disc",
        (
            *(Body(b, **nothing) for b in bodies[1:-1]),
            Body("disc", 2.0, (0, 0, 0), (0.1, 0.2, 0.1)),
        ),
        tuple(
            Joint(n, k, bodies[i], bodies[i + 1], axis=a)
            for i, (n, k, a) in enumerate(zip(names, kinds, axes))
        ),
        nonholonomic=(
            SpeedRow("along", "v_x - 0.5*cos(q_h)*v_s"),
            SpeedRow("across", "v_y - 0.5*sin(q_h)*v_s"),
        ),
    )


def sprung_pendulum() -> Mechanism:
    """A pendulum with a spring and a damper in its pin."""
    m = catena.load("pendulum")
    return m.with_(loads=(JointSpring("coil", m.coordinate_names[0], 3.0, rest=0.2, damping=0.5),))


def sprung_cart() -> Mechanism:
    """A cart on a spring that carries a pole."""
    m = catena.load("cart_pole")
    return m.with_(loads=(JointSpring("wall", "x", 7.0, rest=0.1),), name="sprung cart")


OWN = {
    "upright_disc": upright_disc,
    "sprung_pendulum": sprung_pendulum,
    "sprung_cart": sprung_cart,
}
PROBLEMS = (
    "pendulum",
    "cart_pole",
    "double_pendulum",
    "knife_edge",
    "sprung_pendulum",
    "top",
    "four_bar",
    "sprung_cart",
    "acrobot",
    "furuta_pendulum",
    "spherical_pendulum",
    "bead_on_hoop",
    "gyroscope",
    "two_link_arm",
    "planar_two_link",
    "tumbling_box",
    "slider_crank",
    "foucault_pendulum",
    "triple_pendulum",
    "upright_disc",
    "crane",
    "polar_arm",
    "rotating_tube",
)


def problem(name: str) -> Mechanism:
    """Return a problem by its name."""
    if name in OWN:
        return OWN[name]()
    return PROBLEM_SHEETS[name].load() if name in PROBLEM_SHEETS else catena.load(name)


# --- reading
@dataclass(frozen=True)
class Reader:
    """Reads equations of a mechanism from text. Coordinates, speeds and parameters by their printed
    names; a prime is a rate.
    """

    mechanism: Mechanism

    def __post_init__(self) -> None:
        m = self.mechanism
        names = {*m.coordinate_names, *m.speed_names, *m.parameters}
        names |= {f"tau_{n}" for n in m.speed_names} | {f"p_{n}" for n in m.speed_names}
        object.__setattr__(self, "names", sorted(names, key=len, reverse=True))

    def symbol(self, name: str, primes: int = 0) -> sp.Symbol:
        """Return the symbol of a printed name."""
        return sp.Symbol(re.sub(r"\W", "_", name) + "_d" * primes)

    def expression(self, text: str) -> sp.Expr:
        """Return one side of an equation."""
        found: dict[str, sp.Symbol] = {}

        def put(name: str, primes: int) -> str:
            key = f"S{len(found)}_"
            found[key] = self.symbol(name, primes)
            return key

        for name in self.names:  # type: ignore[attr-defined]
            pattern = rf"(?<![\w.]){re.escape(name)}('*)(?![\w.])"
            text = re.sub(pattern, lambda x, n=name: put(n, len(x.group(1))), text)
        text = re.sub(
            r"(?<![\w.])(?!(?:a?(?:sin|cos|tan)h?|exp|log|sqrt|sign|Abs)\b|S\d+_)([A-Za-z]\w*(?:\.\w+)?)('*)",
            lambda x: put(x.group(1), len(x.group(2))),
            text,
        )
        return sp.sympify(text.replace("^", "**"), locals=found, rational=False)


def steps_of(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the title and the equations of every step of a derivation's text, each on one line."""
    for block in re.split(r"\n\n(?=\d+\. )", text)[1:]:
        lines = block.splitlines()
        found: list[str] = []
        for line in lines[1:]:
            if line.startswith("         ") and found:
                found[-1] += " " + line.strip()
            elif line.startswith("     "):
                found.append(line.strip())
        yield lines[0].partition(". ")[2], found


@dataclass(frozen=True)
class Printed:
    """The equations of a derivation: `kinematic` gives speeds by generalised speeds, `momenta` by
    coordinates and speeds, `rows` are the equations of motion.
    """

    kinematic: list[tuple[sp.Symbol, sp.Expr]]
    momenta: list[tuple[sp.Symbol, sp.Expr]]
    loads: list[tuple[sp.Symbol, sp.Expr]]
    rows: list[sp.Expr]


def printed(mechanism: Mechanism, text: str) -> Printed:
    """Return the equations that the text of a derivation has."""
    read = Reader(mechanism)
    rates = {read.symbol(n, 1) for n in mechanism.coordinate_names}
    speeds = {
        read.symbol(n, 1 if n in mechanism.coordinate_names else 0) for n in mechanism.speed_names
    }
    kinematic, momenta, loads, rows = [], [], [], []
    for title, lines in steps_of(text):
        pairs = [(a.strip(), b.strip()) for a, _, b in (x.rpartition(" = ") for x in lines)]
        if title in ("generalised speeds", "quasi-velocities"):
            found = [(read.expression(a), read.expression(b)) for a, b in pairs]
            forward = [(a, b) for a, b in found if a in speeds]
            kinematic = forward or [(b, a) for a, b in found]
        elif title == "first half":
            momenta = [(read.expression(a), read.expression(b)) for a, b in pairs if a[:2] == "p_"]
        elif title == "loads along the speeds":
            loads = [(sp.Symbol(re.sub(r"\W", "_", a)), read.expression(b)) for a, b in pairs]
        elif title in ("equations of motion", "second half", "the limit", "constraints"):
            found = [(read.expression(a), read.expression(b)) for a, b in pairs]
            quaternion = rates - speeds
            rows += [a - b for a, b in found if a not in quaternion]
    return Printed(kinematic, momenta, loads, rows)


# --- evaluating
def allowed(mechanism: Mechanism, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return coordinates, speeds that obey all rows, and forces."""
    from catena.compiler import Tracer
    from catena.kernels import layout

    rng = np.random.default_rng(seed)
    s = Tracer(layout(mechanism))
    q, p = s.layout.somewhere(seed)
    v, tau = rng.normal(size=(2, s.layout.nv))
    if mechanism.constrained:
        import casadi as ca

        _, rate, _, A = s.constraint_rows()
        f = ca.Function("rows", [s.t, s.q, s.v, s.p], [rate, A])
        b, J = (np.array(x) for x in f(0.0, q, v, p))
        v = v - np.linalg.lstsq(J, b.ravel(), rcond=None)[0]
    return q, v, tau


def differences(mechanism: Mechanism, equations: Printed) -> float:
    """Return the largest difference of the accelerations that the printed equations determine to
    the kernel's, relative to the largest acceleration.
    """
    return max(_difference(mechanism, equations, seed) for seed in range(STATES))


def _difference(m: Mechanism, e: Printed, seed: int) -> float:
    read = Reader(m)
    q, v, tau = allowed(m, seed)
    known = derive(m, "recursive")
    a = np.array(known.acceleration(0.0, q, v, tau, list(m.parameters.values()))).ravel()
    order = [1 if n in m.coordinate_names else 0 for n in m.speed_names]
    places = [read.symbol(n) for n in m.coordinate_names]
    speeds = [read.symbol(n, k) for n, k in zip(m.speed_names, order)]
    rates = [read.symbol(n, k + 1) for n, k in zip(m.speed_names, order)]
    at = dict(zip(places, q)) | dict(zip(speeds, v))
    at |= {read.symbol(f"tau_{n}"): x for n, x in zip(m.speed_names, tau)}
    at |= {read.symbol(n): x for n, x in m.parameters.items()}
    if not any(isinstance(x, str) for x in m.gravity):
        at.setdefault(sp.Symbol("g"), float(np.linalg.norm(m.gravity)))
    at[sp.Symbol("t")] = 0.0
    rows = [x.subs(e.loads) for x in e.rows]
    q_rates = _coordinate_rates(m, read, q, v)

    def rate(x: sp.Expr) -> sp.Expr:
        """Return dx/dt by the chain rule."""
        total = sum((sp.diff(x, s) * d for s, d in q_rates.items()), sp.Integer(0))
        return total + sum((sp.diff(x, s) * d for s, d in zip(speeds, rates)), sp.Integer(0))

    # momenta and their rates, by the printed definitions
    dotted = {sp.Symbol(f"{p.name}_d"): rate(x) for p, x in e.momenta}
    rows = [x.subs(dotted).subs(e.momenta) for x in rows]
    unknown = list(rates)
    back = None
    if e.kinematic:  # v = G u: u from v, and v' = G u' + dG/dt u
        us = sorted(
            {s for x in rows for s in x.free_symbols if re.fullmatch(r"[uw]\d+", s.name)}
            | {
                s
                for _, x in e.kinematic
                for s in x.free_symbols
                if re.fullmatch(r"[uw]\d+", s.name)
            },
            key=lambda s: s.name,
        )
        G, r = sp.linear_eq_to_matrix([x - s for s, x in e.kinematic], us)
        Gn, rn = (np.array(x.subs(at), float) for x in (G, r))
        u = np.linalg.lstsq(Gn, rn.ravel(), rcond=None)[0]
        at |= dict(zip(us, u))
        dots = [sp.Symbol(f"{s.name}_d") for s in us]
        turned = [
            sum((sp.diff(x, s) * d for s, d in q_rates.items()), sp.Integer(0)).subs(at)
            for _, x in e.kinematic
        ]
        unknown = dots
        back = (
            [s for s, _ in e.kinematic],
            np.array(
                sp.Matrix([[sp.diff(x, s) for s in us] for _, x in e.kinematic]).subs(at), float
            ),
            np.array(turned, float),
        )
        moved = dict(zip(back[0], back[1] @ sp.Matrix(dots) + sp.Matrix(back[2])))
        rows = [x.subs({a: moved[s] for a, s in zip(rates, speeds)}) for x in rows]
    lam = sorted(
        {s for x in rows for s in x.free_symbols if s.name.startswith("lambda")},
        key=lambda s: s.name,
    )
    rows = [x.subs(at) for x in rows]
    M, r = (np.array(x, float) for x in sp.linear_eq_to_matrix(rows, [*unknown, *lam]))
    size = np.abs(M).max(1, keepdims=True)
    size[size == 0] = 1.0
    found, *_ = np.linalg.lstsq(M / size, r / size, rcond=1e-12)
    residual = np.abs((M / size) @ found - r / size).max()
    rank = np.linalg.matrix_rank((M / size)[:, : len(unknown)], tol=1e-10)
    if rank < len(unknown) and not lam:
        return float("inf")  # the rows do not determine the motion
    found = found.ravel()[: len(unknown)]
    if back is not None:
        solved = dict(zip(back[0], back[1] @ found + back[2]))
        found = np.array([solved[s] for s in speeds])
    scale = max(np.abs(a).max(), 1e-12)
    return float(max(np.abs(found - a).max(), residual) / scale)


def _coordinate_rates(m: Mechanism, read: Reader, q: np.ndarray, v: np.ndarray) -> dict:
    """Return {coordinate: its rate}, numbers of a quaternion included."""
    import casadi as ca

    from catena.compiler import Tracer
    from catena.kernels import layout

    s = Tracer(layout(m))
    values = np.array(ca.Function("r", [s.q, s.v], [s.coordinate_rate()])(q, v)).ravel()
    return {read.symbol(n): x for n, x in zip(m.coordinate_names, values)}


def row(name: str, methods: tuple[str, ...]) -> dict[str, float | str]:
    """Return the difference for each formulation, or why there is none."""
    mechanism = problem(name)
    found: dict[str, float | str] = {}
    for by in methods:
        try:
            text = derive(mechanism, by).steps().text()
        except FormulationError as refused:
            found[by] = str(refused)
            continue
        found[by] = differences(mechanism, printed(mechanism, text))
    return found


def main() -> None:
    """Print one row per problem."""
    tiny = "--tiny" in sys.argv
    warnings.simplefilter("ignore")
    names = ("cart_pole", "knife_edge", "sprung_pendulum") if tiny else PROBLEMS
    names = tuple(x for x in sys.argv[1:] if x in PROBLEMS) or names
    wrong, checked, refused = [], 0, []
    for name in names:
        found = row(name, METHODS)
        numbers = {by: x for by, x in found.items() if isinstance(x, float)}
        checked += len(numbers)
        refused += [f"{name} by {by}: {x}" for by, x in found.items() if isinstance(x, str)]
        wrong += [f"{name} by {by}: {x:.1e}" for by, x in numbers.items() if not x <= TOLERANCE]
        worst = max(numbers.values(), default=0.0)
        count = f"{len(numbers):2} of {len(METHODS)}"
        print(f"{name:20} {count} read back, largest difference {worst:.0e}", flush=True)
    print(f"{checked} printed derivations read back; {len(refused)} refused by name")
    for x in refused:
        print("  refused:", x[:150])
    if wrong:
        raise SystemExit("wrong: " + "; ".join(wrong))


if __name__ == "__main__":
    main()
