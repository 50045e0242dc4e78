"""The table of quantities: it drives methods, lives, export and documentation, and takes members
from outside.
"""

from __future__ import annotations

import inspect
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

import catena
import zoo
from catena.errors import StateError, UnknownNameError
from catena.machine import export, quantities
from catena.machine.quantities import QUANTITIES, Output, Quantity, register

# which is for formulations, and no method
METHODS = [name for name, quantity in QUANTITIES.items() if quantity.method != "none"]


@pytest.fixture(scope="module")
def machine() -> catena.Machine:
    return catena.compile(zoo.random_tree(5, ("ball", "revolute", "prismatic")), threads=1)


@pytest.fixture
def table():
    """The table as it was, after the test too."""
    before = dict(QUANTITIES)
    yield QUANTITIES
    QUANTITIES.clear()
    QUANTITIES.update(before)


# results for control loops, which may be written into an array that is given
WITH_OUT = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "bias", "gravity")


@pytest.mark.parametrize("name", METHODS)
def test_methods_take_what_the_table_says(name):
    _, *taken = inspect.signature(getattr(catena.Machine, name)).parameters
    quantity = QUANTITIES[name]
    flags = {
        "frame": quantity.frame,
        "axes": quantity.axes,
        "wrenches": quantity.wrenches,
        "parameters": True,
        "t": quantity.time,
    }
    wanted = [*quantity.inputs, *(flag for flag, on in flags.items() if on)]
    more = ["tau"] if name == "reactions" else ["out"] if name in WITH_OUT else []
    assert taken == [*wanted, *more]


@pytest.mark.parametrize("name", QUANTITIES)
def test_tapes_have_the_shapes_of_the_table(name):
    machine = catena.compile(catena.load("four_bar"), threads=1)
    quantity = QUANTITIES[name]
    which = (machine.mechanism.bodies[0].name, "world")[: quantity.frame + quantity.axes]
    f = machine.function(name, *which)
    outputs = quantity.outputs_of(machine.spec.sizes)
    assert f.n_out() == len(outputs)
    for k, y in enumerate(outputs):
        assert int(np.prod(y.size(machine.spec.sizes))) == f.numel_out(k)


def test_a_quantity_from_outside_is_like_those_inside(table, machine, tmp_path):
    """Power of the joint forces and momentum of the whole: one expression, and everything follows
    from it.
    """
    register(
        Quantity(
            "power",
            ("q", "v", "tau"),
            (Output("power", "power of the joint forces, W"), Output("grown", "M v", ("nv",))),
            "tau' v, and the generalised momentum.",
            lambda s: (ca.dot(s.tau, s.v), s.mass_matrix() @ s.v),
        )
    )
    rng = np.random.default_rng(0)
    q, v, tau = machine.sample(rng, 2, 5), *rng.standard_normal((2, 2, 5, machine.nv))
    power, grown = machine.evaluate("power", q, v, tau)
    np.testing.assert_allclose(power, (v * tau).sum(axis=-1), rtol=1e-12)
    np.testing.assert_allclose(
        grown, np.einsum("...ij,...j->...i", machine.mass_matrix(q), v), rtol=1e-11, atol=1e-12
    )
    one, _ = machine.evaluate("power", q[0, 0], v[0, 0], tau[0, 0])
    assert one.shape == () and one == pytest.approx(power[0, 0])
    assert machine.evaluate("power", q[:0], v[0], tau[0])[1].shape == (0, 5, machine.nv)
    with pytest.raises(StateError, match="power: v of .* is nan"):
        machine.evaluate("power", q, v * np.nan, tau)
    kernel = export.c_kernel(machine, "power")
    assert (
        "double *power, double *grown)" in kernel.declaration
        and "power of the joint forces, W" in kernel.header
    )
    assert "power(q, v, tau, parameters)" in QUANTITIES["power"].help()
    assert (
        "| `power(q, v, tau, parameters)` | `power` | (...) | power of the joint forces, W |"
        in quantities.markdown()
    )


def test_a_generic_kernel_from_outside_serves_large_mechanisms(table, machine):
    made = []

    def doubled(life, request):
        made.append(request.batch)
        return 2.0 * request.states[0][:, : life.spec.sizes.nv]

    register(
        Quantity(
            "doubled",
            ("v",),
            (Output("twice", "2 v", ("nv",)),),
            "Twice the speeds.",
            lambda s: 2 * s.v,
            doubled,
        )
    )
    v = np.ones((4, machine.nv))
    np.testing.assert_array_equal(machine.evaluate("doubled", v)[0], 2 * v)
    assert made == []  # a batch goes through the lanes
    other = catena.compile(machine.mechanism, life="generic")
    np.testing.assert_array_equal(other.evaluate("doubled", v[0])[0], 2 * v[0])
    assert made == [1]


def test_a_life_from_outside_is_asked_in_its_turn(machine):
    """A life is a member of the router: what it can do goes to it, the rest to the others."""
    from catena.machine.request import Answer

    class Counting:
        name = "counting"

        def can(self, request):
            return request.quantity.name == "energy"

        def call(self, request):
            return Answer((np.full((request.batch, 2), 42.0),), True)

    router = catena.compile(machine.mechanism)._router
    router.single_state = (Counting(), *router.single_state)
    q = machine.neutral()
    v = np.zeros(machine.nv)
    assert (router.ask(QUANTITIES["energy"], (q, v))[0] == 42.0).all()
    np.testing.assert_allclose(
        router.ask(QUANTITIES["gravity"], (q,))[0], machine.gravity(q), atol=1e-12
    )


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda m: m.evaluate("powre"), "no quantity 'powre' in a machine; .*"),
        (lambda m: m.evaluate("pose", m.neutral()), "pose is a quantity of a frame; give frame="),
        (lambda m: m.evaluate("energy", m.neutral()), "energy takes q, v; found 1 arrays"),
        (
            lambda m: m.evaluate(
                "mass_matrix", m.neutral(), wrenches={m.mechanism.bodies[0].name: np.zeros(6)}
            ),
            "does not depend on",
        ),
        (lambda m: register(QUANTITIES["energy"]), "quantity 'energy' is in the registry already"),
        (lambda m: Quantity("x", ("q", "speed"), (), "", ca.SX), "no input 'speed'"),
    ],
)
def test_wrong_questions_are_told(machine, ask, words):
    with pytest.raises((StateError, UnknownNameError), match=words):
        ask(machine)


def test_the_page_of_quantities_is_the_table():
    page = Path(__file__).parents[2] / "docs" / "quantities.md"
    assert quantities.markdown() in page.read_text(encoding="utf-8")


def test_methods_give_what_the_records_say():
    """A method gives the arrays of its record, or its record says what else."""
    machine = catena.compile(catena.load("two_link_arm"))
    rng = np.random.default_rng(5)
    for name, record in QUANTITIES.items():
        method = getattr(machine, name, None)
        assert (method is None) == (record.method == "none"), name
        if method is None or record.of_rows:
            continue
        given = [rng.random((3, machine.nq)) for _ in record.inputs]
        frame = {"frame": "fore"} if record.frame else {}
        arrays = machine.evaluate(name, *given, **frame)
        found = method(*given, **frame)
        alike = [np.shape(x) for x in (found if isinstance(found, tuple) else (found,))] == [
            np.shape(x) for x in arrays
        ]
        assert alike != bool(record.method), name


@pytest.mark.parametrize("name", WITH_OUT)
def test_out_receives_the_result_of_one_state_and_of_a_batch(name):
    machine = catena.compile(catena.load("two_link_arm"), threads=1)
    rng = np.random.default_rng(0)
    for lead in ((), (5,)):
        given = [rng.standard_normal((*lead, 2)) for _ in QUANTITIES[name].inputs]
        expected = getattr(machine, name)(*given)
        out = np.empty_like(expected)
        assert getattr(machine, name)(*given, out=out) is out
        assert (out == expected).all()
    for wrong in (np.empty(3), np.empty(out.shape, int), [0.0, 0.0]):
        with pytest.raises(StateError, match="out is"):
            getattr(machine, name)(*given, out=wrong)
