"""Kernels as operators of PyTorch and JAX. Neither is in the test extra, for its size: the tests
are skipped where it is not installed.
"""

from __future__ import annotations

import numpy as np
import pytest

import catena


@pytest.fixture(scope="module")
def arm():
    return catena.compile(catena.load("two_link_arm"))


def differences(f, x, step=1e-5):
    return np.array([(f(x + step * e) - f(x - step * e)) / (2 * step) for e in np.eye(len(x))])


@pytest.mark.parametrize("quantity", ["forward_dynamics", "inverse_dynamics", "mass_matrix"])
def test_gradients_of_torch_are_exact(arm, quantity):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    f = arm.torch(quantity)
    rng = np.random.default_rng(0)
    xs = [
        torch.from_numpy(rng.standard_normal(2)).requires_grad_()
        for _ in range(1 if quantity == "mass_matrix" else 3)
    ]
    y = f(*xs)
    weights = torch.from_numpy(rng.standard_normal(tuple(y.shape)))
    (y * weights).sum().backward()
    for k, x in enumerate(xs):
        given = [z.detach().numpy() for z in xs]

        def value(z, k=k, given=given):
            return float(
                (
                    f(*[torch.from_numpy(z if i == k else w) for i, w in enumerate(given)])
                    * weights
                ).sum()
            )

        assert np.allclose(x.grad.numpy(), differences(value, given[k]), rtol=1e-7, atol=1e-7)


def test_torch_batches_and_maps(arm):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    f = arm.torch("forward_dynamics")
    q, v, tau = (
        torch.from_numpy(np.random.default_rng(k).standard_normal((5, 2))) for k in range(3)
    )
    assert np.allclose(
        f(q, v, tau).numpy(), arm.forward_dynamics(q.numpy(), v.numpy(), tau.numpy())
    )
    assert torch.allclose(torch.func.vmap(f, in_dims=(0, None, 0))(q, v[0], tau), f(q, v[0], tau))
    jacobian = torch.func.vmap(torch.func.jacrev(f, argnums=2))(q, v, tau)
    assert np.allclose(jacobian.numpy(), np.linalg.inv(arm.mass_matrix(q.numpy())))


def test_torch_reads_arrays_where_they_are(arm):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    f = arm.torch("gravity")
    x = np.array([0.1, 0.2])
    q = torch.from_numpy(x)
    before = f(q)
    x[0] = 1.0
    assert not torch.allclose(before, f(q)) and np.allclose(f(q).numpy(), arm.gravity(x))


def test_other_numbers_and_quantities_are_refused_by_torch(arm):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    with pytest.raises(
        catena.CatenaError,
        match=r"gravity: q is torch.float32; kernels take torch.float64 tensors: q.double\(\)",
    ):
        arm.torch("gravity")(torch.zeros(2))
    with pytest.raises(
        catena.CatenaError, match="constraint_rows has 4 results; an operator has one"
    ):
        arm.torch("constraint_rows")
    with pytest.raises(catena.CatenaError, match="pose: give the frame"):
        arm.torch("pose")


def test_jax_differentiates_maps_and_compiles(arm):
    jax = pytest.importorskip("jax", reason="JAX is not installed")
    with jax.enable_x64(True):
        f = arm.jax("forward_dynamics")
        rng = np.random.default_rng(0)
        q, v, tau = (jax.numpy.asarray(rng.standard_normal((4, 2))) for _ in range(3))
        assert np.allclose(f(q, v, tau), arm.forward_dynamics(q, v, tau))
        one = lambda x: f(x, v[0], tau[0]).sum()  # noqa: E731
        assert np.allclose(
            jax.grad(one)(q[0]),
            differences(lambda x: float(one(jax.numpy.asarray(x))), np.array(q[0])),
            rtol=1e-7,
            atol=1e-7,
        )
        assert np.allclose(jax.jit(jax.vmap(f))(q, v, tau), f(q, v, tau))
        assert np.allclose(
            jax.vmap(jax.jacrev(f, argnums=2))(q, v, tau),
            np.linalg.inv(arm.mass_matrix(np.asarray(q))),
        )


def test_jax_broadcasts_and_maps_inputs_of_different_depth(arm):
    jax = pytest.importorskip("jax", reason="JAX is not installed")
    with jax.enable_x64(True):
        f = arm.jax("inverse_dynamics")
        rng = np.random.default_rng(0)
        q, v, a = (
            jax.numpy.asarray(rng.standard_normal(shape)) for shape in ((3, 4, 2), (3, 2), (2,))
        )
        whole = lambda q, v, a: f(q, v[:, None], a)  # noqa: E731
        assert np.allclose(jax.jit(jax.vmap(f, (0, 0, None)))(q, v, a), whole(q, v, a))
        one_by_one = jax.grad(lambda v: jax.vmap(f, (0, 0, None))(q, v, a).sum())(v)
        assert np.allclose(one_by_one, jax.grad(lambda v: whole(q, v, a).sum())(v))
        assert f(q[:0], v[:0, None], a).shape == (0, 4, 2)


def test_jax_tells_what_a_kernel_raises(arm):
    jax = pytest.importorskip("jax", reason="JAX is not installed")
    with jax.enable_x64(True):
        f = arm.jax("gravity")
        with pytest.raises(Exception, match="gravity.*nan|nan.*gravity|not finite|not a number"):
            f(jax.numpy.array([np.nan, 0.0])).block_until_ready()
        with pytest.raises(
            catena.CatenaError, match=r"gravity: q has shape \(3,\); it is \(..., 2\)"
        ):
            f(jax.numpy.zeros(3))


def test_jax_of_quaternions_and_parameters():
    """Machine code answers before Python does, with the same bits and the same refusals: a
    quaternion that is none, an inertia that vanishes.
    """
    jax = pytest.importorskip("jax", reason="JAX is not installed")
    machine = catena.compile(catena.load("every_joint"))
    rng = np.random.default_rng(2)
    with jax.enable_x64(True):
        for quantity in ("inverse_dynamics", "mass_matrix"):
            f = machine.jax(quantity)
            q, v, a = machine.sample(rng, 6), *rng.standard_normal((2, 6, machine.nv))
            given = [q, v, a][: 3 if quantity == "inverse_dynamics" else 1]
            ours = np.asarray(jax.jit(f)(*map(jax.numpy.asarray, given)))
            np.testing.assert_array_equal(ours, getattr(machine, quantity)(*given))
            with pytest.raises(Exception, match="a rotation has length 1"):
                f(*(jax.numpy.asarray(1.1 * x) for x in given)).block_until_ready()
            with pytest.raises(Exception, match="number that is not finite|is nan|nan"):
                f(
                    jax.numpy.asarray(np.where(np.arange(machine.nq) == 0, np.nan, q)),
                    *map(jax.numpy.asarray, given[1:]),
                ).block_until_ready()


def test_other_numbers_are_refused_by_jax(arm):
    jax = pytest.importorskip("jax", reason="JAX is not installed")
    with pytest.raises(
        catena.CatenaError,
        match="gravity: q is float32; kernels take float64 arrays: jax.config.update",
    ):
        arm.jax("gravity")(jax.numpy.zeros(2, "float32"))
