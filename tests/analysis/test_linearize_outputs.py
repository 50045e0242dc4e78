"""linearize with outputs: C and D by finite differences of the nonlinear mechanism, transmission
zeros and hidden motions by closed forms.
"""

from dataclasses import replace

import numpy as np
import pytest

import catena
from catena.errors import ExpressionError, QuestionError

STEP = 1e-6


def differences(machine, system, q, v, tau, texts):
    """Return C and D by central differences, with loops closed by assemble."""
    from catena.analysis import trace_outputs

    h = trace_outputs(machine, texts).function
    p = list(machine.mechanism.parameters.values())
    names = list(machine.speed_names)
    z = [names.index(name) for name in system.coordinates]
    w = [names.index(name) for name in system.speeds]

    def value(dz, dw, du):
        x = machine.move(q, system.others @ dz)
        u = np.array(v)
        u[w] += dw
        if machine.rows:
            x, u = catena.assemble(machine, x, u, fixed=list(system.coordinates))
        force = np.array(tau)
        force[[names.index(name) for name in system.inputs]] += du
        a = machine.forward_dynamics(x, u, force + machine.losses(u))
        return np.array(h(x, u, a, force, p, 0.0)).ravel()

    n, m = len(z), len(system.inputs)
    columns = []
    for k in range(2 * n + m):
        d = np.zeros(2 * n + m)
        d[k] = STEP
        parts = d[:n], d[n : 2 * n], d[2 * n :]
        columns.append((value(*parts) - value(*(-x for x in parts))) / (2 * STEP))
    found = np.array(columns).T
    return found[:, : 2 * n], found[:, 2 * n :]


def test_outputs_of_an_arm_by_differences():
    machine = catena.compile(catena.load("stanford_arm"))
    rng = np.random.default_rng(3)
    q = machine.sample(rng)
    v, tau = rng.standard_normal((2, machine.nv))
    j = machine.speed_names
    frame = next(iter(machine.mechanism.ordered)).child
    last = list(machine.mechanism.ordered)[-1].child
    texts = [
        f"q['{j[0]}']",
        f"v['{j[1]}']",
        f"a['{j[2]}']",
        f"tau['{j[1]}'] + a['{j[1]}']",
        f"x['{last}'] - x['{frame}']",
        f"vz['{last}']",
        f"wx['{last}']",
    ]
    system = catena.linearize(machine, q, v, tau, outputs=texts)
    C, D = differences(machine, system, q, v, tau, texts)
    assert np.allclose(system.C, C, rtol=1e-6, atol=1e-7 * np.abs(C).max())
    assert np.allclose(system.D, D, rtol=1e-6, atol=1e-7 * np.abs(D).max())


def test_outputs_through_a_closed_loop_by_differences():
    machine = catena.compile(catena.load("four_bar"))
    q, _ = catena.assemble(machine, machine.neutral())
    frame = list(machine.mechanism.ordered)[-1].child
    texts = [f"x['{frame}']", f"q['{machine.coordinate_names[-1]}']"]
    system = catena.linearize(machine, q, outputs=texts)
    C, _ = differences(machine, system, q, np.zeros(machine.nv), np.zeros(machine.nv), texts)
    assert len(system.coordinates) == 1
    assert np.allclose(system.C, C, atol=1e-8)


def test_a_batch_of_outputs_equals_its_states():
    machine = catena.compile(catena.load("double_pendulum"))
    rng = np.random.default_rng(0)
    q, v = rng.standard_normal((2, 3, 2, machine.nv))
    j = machine.speed_names
    texts = [f"q['{j[0]}'] * v['{j[1]}']", f"a['{j[1]}']"]
    many = catena.linearize(machine, q, v, outputs=texts)
    assert many.C.shape == (3, 2, 2, 4) and many.y.shape == (3, 2, 2)
    one = catena.linearize(machine, q[2, 1], v[2, 1], outputs=texts)
    part = many[2, 1]
    for name in ("A", "B", "C", "D", "y", "q"):
        assert np.allclose(getattr(part, name), getattr(one, name), rtol=1e-11, atol=1e-12)


def test_transmission_zeros_of_a_cart_pole():
    """From the force to the position of the cart, the zeros are the free pole: +-sqrt(g / l)."""
    pytest.importorskip("control")
    system = catena.linearize(
        catena.load("cart_pole"), [0.0, 0.0], actuated=["x"], outputs=["q['x']"]
    )
    assert np.allclose(np.sort(system.zeros.real), [-np.sqrt(9.81 / 0.5), np.sqrt(9.81 / 0.5)])


def test_the_hidden_motion_of_a_planar_arm_has_a_name():
    arm = catena.load("cart_pole")
    system = catena.linearize(arm, [0.0, 0.0], actuated=["x"], outputs=["theta"])
    assert system.unreachable() == ()
    assert system.unobservable() == ("the motion of 'x' (pole 0 1/s) cannot be seen in theta",)
    floating = replace(arm, gravity=(0.0, 0.0, 0.0))
    alone = catena.linearize(floating, [0.0, 0.0], actuated=["theta"])
    assert any("cannot be reached by theta" in said for said in alone.unreachable())


def test_the_matrices_are_handed_over():
    control = pytest.importorskip("control")
    system = catena.linearize(
        catena.load("cart_pole"), [0.0, 0.0], actuated=["x"], outputs=["x", "theta"]
    )
    theirs = system.to_control()
    assert isinstance(theirs, control.StateSpace) and theirs.input_labels == ["x"]
    assert theirs.output_labels == ["x", "theta"]
    s = 0.7j
    mine = system.C @ np.linalg.solve(s * np.eye(4) - system.A, system.B) + system.D
    assert np.allclose(theirs(s)[:, None] if theirs(s).ndim == 1 else theirs(s), mine)
    scipy = system.to_scipy()
    assert np.allclose(scipy.A, system.A) and np.allclose(scipy.C, system.C)
    f = system.to_casadi()
    x, u = np.array([0.1, 0.2, 0.3, 0.4]), np.array([0.5])
    rate, y = (np.array(part).ravel() for part in f(x, u))
    assert np.allclose(rate, system.A @ x + system.B @ u) and np.allclose(y, system.C @ x)


@pytest.mark.parametrize(
    "text, said",
    [
        ("q['elbw']", "elbw"),
        ("3 + 4", "contains no quantity"),
        ("speed['x']", "no quantity 'speed'"),
    ],
)
def test_a_wrong_output_is_refused(text, said):
    with pytest.raises((QuestionError, ExpressionError), match=said):
        catena.linearize(catena.load("cart_pole"), [0.0, 0.0], outputs=[text])


def test_zeros_without_outputs_are_refused():
    with pytest.raises(QuestionError, match="no outputs"):
        _ = catena.linearize(catena.load("cart_pole"), [0.0, 0.0]).zeros
