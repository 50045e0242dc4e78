"""Does grading accept right answers in odd forms, and no wrong ones?

200 answers to lines of worksheets, half of them right in a form that differs from the worksheet's,
half of them wrong in ways that students are wrong. Prints the confusion table, the right answers
that were refused and the wrong ones that were accepted with what was said of them. Ends with an
error where a wrong answer was accepted or more than two right ones were refused.

    python benchmarks/graded_answers.py [--tiny] [--remarks]
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import cache

import catena
from catena.equations.formulations import derive
from catena.errors import CatenaError
from catena.model.loads import JointSpring
from catena.teaching.derivation import Derivation, grade

MOST_REFUSED = 2


@cache
def worksheet(name: str, by: str) -> Derivation:
    """Return the worksheet of a problem."""
    if name == "sprung_pendulum":
        m = catena.load("pendulum")
        spring = JointSpring("coil", m.coordinate_names[0], 3.0, rest=0.2, damping=0.5)
        return derive(m.with_(loads=(spring,)), by).steps()
    return derive(catena.load(name), by).steps()


CART, DOUBLE, ONE = "cart_pole lagrange", "double_pendulum lagrange", "pendulum lagrange"
T2 = "(m1+m2)*l1^2*theta1'^2/2 + m2*l2^2*(theta1'+theta2')^2/2"
T2 += " + m2*l1*l2*cos(theta2)*theta1'*(theta1'+theta2')"
ABSOLUTE_T = "(m1+m2)*l1^2*theta1'^2/2 + m2*l2^2*theta2'^2/2"
ABSOLUTE_T += " + m2*l1*l2*cos(theta1-theta2)*theta1'*theta2'"
ROW_1 = "(M + m)*x'' - m*l*cos(theta)*theta'' + m*l*sin(theta)*theta'^2"
ROW_2 = "m*l^2*theta'' - m*l*cos(theta)*x'' - m*g*l*sin(theta)"
LOWER = "m2*l2*(l1*cos(theta2) + l2)*theta1'' + m2*l2^2*theta2'' + m2*l1*l2*sin(theta2)*theta1'^2"
LOWER += " + m2*g*l2*sin(theta1+theta2)"
UPPER = "((m1+m2)*l1^2 + 2*m2*l1*l2*cos(theta2) + m2*l2^2)*theta1''"
UPPER += " + m2*l2*(l1*cos(theta2)+l2)*theta2'' - 2*m2*l1*l2*sin(theta2)*theta1'*theta2'"
UPPER += " - m2*l1*l2*sin(theta2)*theta2'^2 + g*((m1+m2)*l1*sin(theta1)"
UPPER += " + m2*l2*sin(theta1+theta2))"

# worksheet and line: right answers
RIGHT: dict[str, tuple[str, ...]] = {
    f"{CART} 1.2": (
        "x - l sin theta, l cos theta",
        "(x - l*sin(theta), l*cos(theta), 0)",
        r"\begin{pmatrix} x - l\sin\theta \\ l\cos\theta \\ 0 \end{pmatrix}",
        "[x + l*sin(-theta); l*cos(-theta); 0]",
    ),
    f"{CART} 2.2": (
        "d/dt(x - l*sin(theta)), d/dt(l*cos(theta)), 0",
        "x' - l*theta'*cos(theta), -l*theta'*sin(theta)",
        r"\left(\dot x - l\dot\theta\cos\theta,\; -l\dot\theta\sin\theta,\; 0\right)",
        "(xdot - l thetadot cos theta, -l thetadot sin theta, 0)",
    ),
    f"{CART} 3.1": (
        "M x'^2/2 + m/2*((x' - l theta' cos(theta))^2 + (l theta' sin(theta))^2)",
        "½(M+m)ẋ² - mlẋθ̇cosθ + ½ml²θ̇²",
        r"T = \tfrac12 (M+m)\dot x^2 - ml\dot x\dot\theta\cos\theta + \tfrac12 ml^2\dot\theta^2",
        "0.5*(M+m)*x_dot**2 - m*l*x_dot*theta_dot*np.cos(theta) + 0.5*m*l**2*theta_dot**2",
        "(M x' x' + m x' x' - 2 m l x' theta' cos(theta) + m l^2 theta' theta')/2",
        "M*x'^2/2 + m*(x'^2 - 2*l*x'*theta'*sin(theta + pi/2) + l^2*theta'^2)/2",
    ),
    f"{CART} 4.1": (
        "m g l cos θ",
        "m*g*l*(cos(theta) - 1)",
        "-2*m*g*l*sin(theta/2)^2",
        "V = m g l cos theta + 3 m g l",
        r"mgl\cos\theta",
        "m*g*l*(1 - 2*sin(theta/2)^2)",
    ),
    f"{CART} 5.1": (
        "(M+m) x' - m l theta' cos theta",
        r"(M+m)\dot{x} - ml\dot{\theta}\cos{\theta}",
        "M*x' + m*(x' - l*cos(theta)*theta')",
    ),
    f"{CART} 6.1": (
        "d/dt((M+m)*x' - m*l*cos(theta)*theta')",
        r"\frac{d}{dt}\left((M+m)\dot x - ml\dot\theta\cos\theta\right)",
        "(M+m) x'' - d/dt(m l cos(theta) theta')",
        "(M+m) x'' - m l theta'' cos theta + m l theta'^2 sin theta",
    ),
    f"{CART} 6.2": (
        "d/dt(m*l^2*theta' - m*l*cos(theta)*x')",
        "m l (l theta'' - x'' cos theta + x' theta' sin theta)",
    ),
    f"{CART} 7.4": ("-m g l sin θ", "m*g*l*sin(-theta)", "m*g*l*cos(theta + pi/2)"),
    f"{CART} 8.1": (
        f"{ROW_1} = tau_x",
        f"tau_x = {ROW_1}",
        f"0 = tau_x - ({ROW_1})",
        f"2*({ROW_1}) = 2*tau_x",
        f"({ROW_1})/(M + m) = tau_x/(M + m)",
        "d/dt((M+m)*x' - m*l*cos(theta)*theta') = tau_x",
        "x'' = (tau_x + m l theta'' cos(theta) - m l theta'^2 sin(theta))/(M + m)",
        (
            "x'' = (tau_x + cos(theta)/l*tau_theta + m*g*sin(theta)*cos(theta)"
            " - m*l*sin(theta)*theta'^2)/(M + m*sin(theta)^2)"
        ),
        f"{ROW_1} + {ROW_2} = tau_x + tau_theta",
        f"{ROW_1} - tau_x = cos(theta)/l*({ROW_2} - tau_theta)",
        f"{ROW_2} = tau_theta",
        r"(M+m)\ddot x - ml\left(\ddot\theta\cos\theta - \dot\theta^2\sin\theta\right) = \tau_x",
        f"exp(theta)*({ROW_1} - tau_x) = 0",
    ),
    f"{CART} 8.2": (
        f"{ROW_2} = tau_theta",
        "l theta'' - x'' cos(theta) - g sin(theta) = tau_theta/(m l)",
        "theta'' = tau_theta/(m*l^2) + x''*cos(theta)/l + g*sin(theta)/l",
        (
            "theta'' = (cos(theta)*(tau_x - m*l*sin(theta)*theta'^2) + (M+m)*g*sin(theta)"
            " + (M+m)/(m*l)*tau_theta)/(l*(M + m*sin(theta)^2))"
        ),
        f"(2 + cos(theta))*({ROW_2}) = (2 + cos(theta))*tau_theta",
    ),
    f"{DOUBLE} 1.2": (
        "l1 sin θ1 + l2 sin(θ1 + θ2), -l1 cos θ1 - l2 cos(θ1 + θ2)",
        "l1*sin(theta1) + l2*sin(theta2), -l1*cos(theta1) - l2*cos(theta2)",
        (
            "l1*sin(theta1) + l2*(sin(theta1)*cos(theta2) + cos(theta1)*sin(theta2)),"
            " -l1*cos(theta1) - l2*(cos(theta1)*cos(theta2) - sin(theta1)*sin(theta2)), 0"
        ),
    ),
    f"{DOUBLE} 2.2": (
        "d/dt(l1*sin(theta1) + l2*sin(theta1+theta2)), -d/dt(l1*cos(theta1)+l2*cos(theta1+theta2))",
        "l1*cos(theta1)*theta1' + l2*cos(theta2)*theta2', l1*sin(theta1)*theta1'"
        " + l2*sin(theta2)*theta2'",
    ),
    f"{DOUBLE} 3.1": (
        T2,
        ABSOLUTE_T,
        T2.replace("cos(theta2)", "(2*cos(theta2/2)^2 - 1)"),
        r"\tfrac12(m_1+m_2)l_1^2\dot\theta_1^2 + \tfrac12 m_2l_2^2(\dot\theta_1+\dot\theta_2)^2"
        r" + m_2l_1l_2\cos\theta_2\,\dot\theta_1(\dot\theta_1+\dot\theta_2)",
    ),
    f"{DOUBLE} 4.1": (
        "m1*g*l1*(1 - cos(theta1)) + m2*g*(l1 + l2 - l1*cos(theta1) - l2*cos(theta1+theta2))",
        "-m1 g l1 cos θ1 - m2 g (l1 cos θ1 + l2 cos θ2)",
        "m1*g*l1*(1 - cos(theta1)) + m2*g*(l1*(1-cos(theta1)) + l2*(1-cos(theta2)))",
        r"-(m_1+m_2)gl_1\cos\theta_1 - m_2gl_2\cos(\theta_1+\theta_2)",
        "2*g*(m1+m2)*l1*sin(theta1/2)^2 - m2*g*l2*cos(theta1 + theta2)",
    ),
    f"{DOUBLE} 5.2": (
        "m2*l2^2*(theta1' + theta2') + m2*l1*l2*theta1'*cos(theta2)",
        r"m_2l_2\left(l_2(\dot\theta_1+\dot\theta_2) + l_1\dot\theta_1\cos\theta_2\right)",
    ),
    f"{DOUBLE} 8.1": (
        f"{UPPER} = tau_theta1",
        f"{UPPER} - ({LOWER}) = tau_theta1 - tau_theta2",
        f"{LOWER} = tau_theta2",
        (
            "(m1+m2)*l1^2*theta1'' + m2*l1*l2*cos(theta1-theta2)*theta2''"
            " + m2*l1*l2*sin(theta1-theta2)*theta2'^2 + (m1+m2)*g*l1*sin(theta1)"
            " = tau_theta1 - tau_theta2"
        ),
        f"m2*({UPPER}) = m2*tau_theta1",
    ),
    f"{DOUBLE} 8.2": (
        f"{LOWER} = tau_theta2",
        (
            "m2*l2^2*theta2'' + m2*l1*l2*cos(theta1-theta2)*theta1''"
            " - m2*l1*l2*sin(theta1-theta2)*theta1'^2 + m2*g*l2*sin(theta2) = tau_theta2"
        ),
        (
            "(l1*cos(theta2) + l2)*theta1'' + l2*theta2'' + l1*sin(theta2)*theta1'^2"
            " + g*sin(theta1+theta2) = tau_theta2/(m2*l2)"
        ),
    ),
    f"{ONE} 4.1": ("m g l (1 - cos pivot)", "-m*g*l*cos(pivot)", "2 m g l sin^2(pivot/2)"),
    f"{ONE} 8.1": (
        "pivot'' + g/l*sin(pivot) = tau_pivot/(m*l^2)",
        "pivot'' = -(g/l) sin(pivot) + tau_pivot/(m l^2)",
        "d/dt(m*l^2*pivot') = tau_pivot - m*g*l*sin(pivot)",
        r"ml^2\frac{d^2 \mathrm{pivot}}{dt^2} + mgl\sin \mathrm{pivot} = \tau_{\mathrm{pivot}}",
    ),
    "sprung_pendulum lagrange 4.1": (
        "-m g l cos(pivot) + 3/2*(pivot - 0.2)^2",
        "m*g*l*(1 - cos(pivot)) + 1.5*pivot^2 - 0.6*pivot",
        "1.5*(pivot - 1/5)^2 - m*g*l*cos(pivot) - 7",
    ),
    "sprung_pendulum lagrange 9.1": (
        "m l^2 pivot'' + m g l sin(pivot) + 3*(pivot - 0.2) + 0.5*pivot' = tau_pivot",
        "2 m l^2 pivot'' + 2 m g l sin(pivot) + 6 pivot - 1.2 + pivot' = 2 tau_pivot",
    ),
    "pendulum hamilton 7.1": (
        "m l^2 pivot'^2/2 + m g l (1 - cos pivot)",
        "H = m*l^2*pivot'^2/2 - m*g*l*cos(pivot)",
    ),
    "pendulum newton_euler 4.1": (
        "m*(l*cos(pivot)*pivot'' - l*sin(pivot)*pivot'^2) = Fx_pivot",
        "Fx_pivot/m = l*(cos(pivot)*pivot'' - sin(pivot)*pivot'^2)",
        "m*d/dt(l*cos(pivot)*pivot') = Fx_pivot",
    ),
    "cart_pole kane 5.2": ("tau_theta + m g l sin(theta)",),
    "cart_pole kane 6.1": (
        "-(M+m)*x'' + m*l*(theta''*cos(theta) - theta'^2*sin(theta))",
        "-M*x'' - m*d/dt(x' - l*cos(theta)*theta')",
    ),
    "cart_pole kane 7.2": (f"{ROW_2} = tau_theta", f"-({ROW_2} - tau_theta) = 0"),
    "knife_edge kane 10.1": (
        "u1' = 0.3*u2^2 + cos(plane.angle)*tau_plane.x + sin(plane.angle)*tau_plane.y",
        "10*u1' - 3*u2^2 = 10*cos(plane.angle)*tau_plane.x + 10*sin(plane.angle)*tau_plane.y",
    ),
    "knife_edge kane 10.2": (
        "u2' = (tau_plane.angle - 0.3*u1*u2)/0.59",
        "tau_plane.angle - 0.59*u2' = 0.3*u2*u1",
    ),
}

WRONG: dict[str, tuple[str, ...]] = {
    f"{CART} 1.2": (
        "x + l*sin(theta), l*cos(theta), 0",
        "x - l*cos(theta), l*sin(theta)",
        "x - l*sin(theta), l*cos(theta), l",
        "x - l*theta, l, 0",
        "-l*sin(theta), l*cos(theta), 0",
    ),
    f"{CART} 2.2": (
        "x' - l*cos(theta), -l*sin(theta), 0",
        "x' - l*theta'*cos(theta), l*theta'*sin(theta)",
        "d/dt(x + l*sin(theta)), d/dt(l*cos(theta)), 0",
        "x' + l*theta'*cos(theta), -l*theta'*sin(theta), 0",
    ),
    f"{CART} 3.1": (
        "(M+m)*x'^2/2 + m*l^2*theta'^2/2",
        "(M+m)*x'^2/2 + m*l*x'*theta'*cos(theta) + m*l^2*theta'^2/2",
        "(M+m)*x'^2 - 2*m*l*x'*theta'*cos(theta) + m*l^2*theta'^2",
        "(M+m)*x'^2/2 - m*l*x'*theta'*cos(theta) + m*l^2*theta'^2/2 + 5",
        "(M+m)*x'^2/2 - m*l*x'*theta'*cos(theta) + 1.000001*m*l^2*theta'^2/2",
        "(M+m)*x'^2/2 - m*l*x'*sqrt(theta'^2)*cos(theta) + m*l^2*theta'^2/2",
        "(M+m)*x'^2/2 - m*l*x'*theta'*(1 - theta^2/2) + m*l^2*theta'^2/2",
        "m*g*l*cos(theta)",
        "0",
    ),
    f"{CART} 4.1": (
        "-m*g*l*cos(theta)",
        "m*g*l*sin(theta)",
        "(M+m)*g*l*cos(theta)",
        "m*g*l*cos(theta) + x",
        "1.000001*m*g*l*cos(theta)",
        "m*g*l*cos(theta) + theta'",
        "m*g*l*(1 - cos(theta))",
        "2*m*g*l*cos(theta)",
        "m*g*l*(1 - theta^2/2)",
    ),
    f"{CART} 5.1": (
        "m*l^2*theta' - m*l*cos(theta)*x'",
        "(M+m)*x'",
        "(M+m)*x' - m*l*cos(theta)*theta' + 1",
        "(M+m)*x - m*l*sin(theta)",
    ),
    f"{CART} 6.1": (
        "(M+m)*x'' - m*l*cos(theta)*theta''",
        "(M+m)*x'' - m*l*cos(theta)*theta'' - m*l*sin(theta)*theta'^2",
        "d/dt((M+m)*x' + m*l*cos(theta)*theta')",
        "d/dt(m*l^2*theta' - m*l*cos(theta)*x')",
    ),
    f"{CART} 7.4": ("m*g*l*sin(theta)", "-m*g*l*theta", "-m*g*l*cos(theta)", "0"),
    f"{CART} 8.1": (
        f"theta*({ROW_1}) = theta*tau_x",
        f"theta'*({ROW_1}) = theta'*tau_x",
        f"sin(theta)*({ROW_1} - tau_x) = 0",
        f"cos(theta)*({ROW_1} - tau_x) = 0",
        f"(theta - 1)*({ROW_1} - tau_x) = 0",
        f"x^2*({ROW_1} - tau_x) = 0",
        f"theta*({ROW_1} - tau_x) + theta*({ROW_2} - tau_theta) = 0",
        f"1.000001*({ROW_1}) = tau_x",
        f"{ROW_1} = tau_x + 0.000001*tau_theta*x'",
        f"{ROW_1} = -tau_x",
        f"{ROW_1} = tau_theta",
        f"{ROW_1} = 0",
        "0 = 0",
        "tau_x = tau_x",
        "(M + m)*x'' = tau_x",
        ROW_1.replace("+ m*l*sin", "- m*l*sin") + " = tau_x",
        ROW_1.replace("theta'^2", "theta'") + " = tau_x",
        ROW_1.replace("(M + m)", "M") + " = tau_x",
        f"({ROW_1} - tau_x)^2 = 0",
        f"({ROW_1} - tau_x)*x'' = 0",
    ),
    f"{CART} 8.2": (
        f"sin(theta)*({ROW_2} - tau_theta) = 0",
        "theta'' = g*sin(theta)/l",
        "theta'' = x''*cos(theta)/l + g*theta/l + tau_theta/(m*l^2)",
        "theta'' = tau_theta/(m*l^2) - x''*cos(theta)/l + g*sin(theta)/l",
        "l*theta'' - x''*cos(theta) - g*sin(theta) = tau_theta",
        f"{ROW_2} = tau_theta + 1",
    ),
    f"{DOUBLE} 1.2": (
        "l1*sin(theta1) + l2*sin(theta1 - theta2), -l1*cos(theta1) - l2*cos(theta1 - theta2)",
        "l1*sin(theta1) + l2*sin(theta2), -l1*cos(theta1) - l2*cos(theta1+theta2)",
        "l2*sin(theta1+theta2), -l2*cos(theta1+theta2)",
        "l1*sin(theta1), -l1*cos(theta1)",
    ),
    f"{DOUBLE} 3.1": (
        "m1*l1^2*theta1'^2/2 + m2*l2^2*theta2'^2/2",
        ABSOLUTE_T.replace("cos(theta1-theta2)", "cos(theta2)"),
        ABSOLUTE_T.replace("theta1-theta2", "theta1+theta2"),
        T2.replace("cos", "sin"),
        T2.replace("/2 + m2*l1", "/2 - m2*l1"),
    ),
    f"{DOUBLE} 4.1": (
        "-m1*g*l1*cos(theta1) - m2*g*l2*cos(theta1+theta2)",
        "-(m1+m2)*g*l1*cos(theta1) - m2*g*l2*cos(theta1-theta2)",
        "(m1+m2)*g*l1*cos(theta1) + m2*g*l2*cos(theta1+theta2)",
        "-(m1+m2)*g*l1*sin(theta1) - m2*g*l2*sin(theta1+theta2)",
        "-(m1+m2)*g*l1*cos(theta1) - 1.000001*m2*g*l2*cos(theta1+theta2)",
    ),
    f"{DOUBLE} 5.2": (
        "m2*l2^2*theta2' + m2*l1*l2*theta1'*cos(theta2)",
        UPPER.partition(" + g*")[0],
    ),
    f"{DOUBLE} 8.1": (
        f"theta1*({UPPER}) = theta1*tau_theta1",
        f"sin(theta1 + theta2)*({UPPER} - tau_theta1) = 0",
        f"cos(theta1 - theta2)*({LOWER} - tau_theta2) = 0",
        f"{UPPER} = tau_theta1 + tau_theta2",
        f"(m1 - m2)*({UPPER} - tau_theta1) = 0",
        UPPER.replace("- 2*m2", "- m2") + " = tau_theta1",
        UPPER.replace("- 2*m2", "+ 2*m2") + " = tau_theta1",
        UPPER + " + 0.000001*theta1'' = tau_theta1",
    ),
    f"{ONE} 8.1": (
        "pivot'' + g/l*pivot = tau_pivot/(m*l^2)",
        "pivot'' - g/l*sin(pivot) = tau_pivot/(m*l^2)",
        "pivot*(m*l^2*pivot'' + m*g*l*sin(pivot) - tau_pivot) = 0",
        "pivot'' + g/l*sin(pivot) = 0",
    ),
    "sprung_pendulum lagrange 4.1": (
        "-m*g*l*cos(pivot) + 1.5*pivot^2",
        "-m*g*l*cos(pivot)",
        "-m*g*l*cos(pivot) + 3*(pivot - 0.2)^2",
    ),
    "sprung_pendulum lagrange 9.1": (
        "m*l^2*pivot'' + m*g*l*sin(pivot) + 3*pivot + 0.5*pivot' = tau_pivot",
        "m*l^2*pivot'' + m*g*l*sin(pivot) + 3*(pivot - 0.2) - 0.5*pivot' = tau_pivot",
    ),
    "pendulum hamilton 7.1": ("m*l^2*pivot'^2/2 + m*g*l*cos(pivot)",),
    "cart_pole kane 6.1": ("(M+m)*x'' - m*l*(theta''*cos(theta) - theta'^2*sin(theta))",),
}


def answers(cases: dict[str, tuple[str, ...]]) -> Iterator[tuple[Derivation, str, str, str]]:
    """Yield worksheet, its name, the line and the answer."""
    for where, given in cases.items():
        name, by, line = where.split()
        for answer in given:
            yield worksheet(name, by), f"{name} by {by}", line, answer


def graded(d: Derivation, line: str, answer: str) -> tuple[bool, str]:
    """Return whether an answer is accepted, and what is said of it."""
    try:
        found = grade(d, line, answer)
    except CatenaError as why:
        return False, f"cannot be read: {why}"
    return found.right, str(found).replace("\n", "")


def main() -> None:
    """Print the confusion table."""
    tiny = "--tiny" in sys.argv
    table: dict[tuple[bool, bool], list[str]] = {
        (truth, given): [] for truth in (True, False) for given in (True, False)
    }
    for truth, cases in ((True, RIGHT), (False, WRONG)):
        some = list(cases.items())[: 4 if tiny else None]
        for d, name, line, answer in answers(dict(some)):
            accepted, said = graded(d, line, answer)
            table[truth, accepted].append(f"{name}, {line}: {answer[:70]}\n      {said[:160]}")
            if "--remarks" in sys.argv:
                print(f"{'right' if truth else 'wrong'} {table[truth, accepted][-1]}")
    print(f"{'':16}{'accepted':>10}{'refused':>10}")
    for truth, word in ((True, "right answers"), (False, "wrong answers")):
        print(f"{word:16}{len(table[truth, True]):10}{len(table[truth, False]):10}")
    for x in table[True, False]:
        print("  refused though right:", x)
    for x in table[False, True]:
        print("  accepted though wrong:", x)
    if table[False, True] or len(table[True, False]) > MOST_REFUSED:
        raise SystemExit("grading is wrong more often than it may be")


if __name__ == "__main__":
    main()
