"""StateSpace: the matrices of a linearised mechanism with the names of states, inputs and outputs,
and what linear system theory says about them.

    x' = A x + B u,      y = C x + D u
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any

import numpy as np

from ..errors import QuestionError

Array = np.ndarray
# a direction counts as unreachable where the smallest singular value of [A - s 1, B] is below this
# share of its largest one, after balancing; rounding of the tapes leaves 1e-15
UNREACHABLE_SINGULAR_VALUE = 1e-10
# relative to the largest component of a direction: smaller ones are not named
NAMED_SHARE = 1e-3


@dataclass(frozen=True)
class StateSpace:
    """The state-space matrices of `linearize`. It unpacks as A, B; with outputs as A, B, C, D.

    Attributes
    ----------
    A : ndarray (n, n)
        The derivative of the state's rate by the state: changes of the independent `coordinates`
        (along their speeds), then of the independent `speeds`.
    B : ndarray (n, inputs)
        The derivative of the state's rate by the joint forces `inputs`.
    coordinates, speeds, inputs : tuple of str
        The names of the independent coordinates and speeds, and of the inputs.
    others : ndarray (nv, d)
        G, the change of every coordinate per change of each independent one.
    C, D : ndarray (outputs, n) and (outputs, inputs)
        The derivatives of the outputs by the state and by the inputs; without rows where no
        outputs were given.
    outputs : tuple of str
        The texts of the outputs.
    q, v, tau : ndarray (nq,), (nv,), (nv,)
        The state and the joint forces about which the mechanism was linearised.
    y : ndarray (outputs,)
        The outputs there.
    rate : ndarray (n,)
        The rate of the state there: the independent speeds and their accelerations; zero at an
        equilibrium.

    Notes
    -----
    For a batch of states the arrays have its leading dimensions, and so has `others` with loops.
    """

    A: Array
    B: Array
    coordinates: tuple[str, ...]
    speeds: tuple[str, ...]
    inputs: tuple[str, ...]
    others: Array
    C: Array = field(default_factory=lambda: np.zeros((0, 0)))
    D: Array = field(default_factory=lambda: np.zeros((0, 0)))
    outputs: tuple[str, ...] = ()
    q: Array = field(default_factory=lambda: np.zeros(0))
    v: Array = field(default_factory=lambda: np.zeros(0))
    tau: Array = field(default_factory=lambda: np.zeros(0))
    y: Array = field(default_factory=lambda: np.zeros(0))
    rate: Array = field(default_factory=lambda: np.zeros(0))

    def __iter__(self) -> Iterator[Array]:
        return iter((self.A, self.B, self.C, self.D) if self.outputs else (self.A, self.B))

    @property
    def states(self) -> tuple[str, ...]:
        """The names of the states: coordinates, then speeds as v['name']."""
        return (*self.coordinates, *(f"v['{name}']" for name in self.speeds))

    @property
    def poles(self) -> Array:
        """The eigenvalues of A (1/s), those of smallest modulus first.

        They decide stability where A is constant along the motion: at rest, or in a steady motion
        that does not depend on the coordinates that change (such as the spin angle of a wheel, but
        not a quaternion).
        """
        found = np.linalg.eigvals(self.A)
        return np.take_along_axis(found, np.argsort(np.abs(found), axis=-1, kind="stable"), -1)

    @property
    def zeros(self) -> Array:
        """The finite transmission zeros (1/s) of the system from inputs to outputs.

        A zero s is a frequency at which [A - s 1, B; C, D] loses rank. They are found by the
        method of Emami-Naeini and Van Dooren (python-control with slycot); a system with as many
        inputs as outputs can do without slycot.

        Raises
        ------
        QuestionError
            If there are no outputs, or for a batch.
        """
        self.require_one("zeros")
        self.require_outputs("zeros")
        return np.asarray(self.to_control().zeros())

    # --- what inputs can reach and outputs can see
    def unreachable(self) -> tuple[str, ...]:
        """Return a sentence for each motion that the inputs cannot influence; none if (A, B) is
        controllable.

        By the test of Popov, Belevitch and Hautus: at each pole s the rank of [A - s 1, B], after
        balancing the units of the states. The directions w with w' [A - s 1, B] = 0 are named by
        their states.

        Raises
        ------
        QuestionError
            For a batch.

        Examples
        --------
        >>> import catena
        >>> system = catena.linearize(catena.load("two_link_arm"), [0.3, 0.4])
        >>> system.unreachable()
        ()
        """
        self.require_one("unreachable")
        return _hidden(self.A.T, self.B.T, self.states, "cannot be reached by", self.inputs)

    def unobservable(self) -> tuple[str, ...]:
        """Return a sentence for each motion that the outputs do not show; none if (A, C) is
        observable.

        Raises
        ------
        QuestionError
            If there are no outputs, or for a batch.
        """
        self.require_one("unobservable")
        self.require_outputs("unobservable")
        return _hidden(self.A, self.C, self.states, "cannot be seen in", self.outputs)

    # --- to other programs
    def to_control(self, sample: float | None = None) -> Any:
        """Return the `control.StateSpace` of python-control, with the names of states, inputs and
        outputs.

        Parameters
        ----------
        sample : float, optional
            The sample time, s, of a discrete system with zero-order hold. By default continuous.
        """
        self.require_one("to_control")
        try:
            control: Any = import_module("control")
        except ImportError:
            raise QuestionError(
                "to_control needs the package `control` (python-control), which is not installed:"
                " pip install 'catena[control]'"
            ) from None
        C, D, outputs = self._outputs()
        found = control.ss(
            self.A,
            self.B,
            C,
            D,
            states=list(self.states),
            inputs=list(self.inputs),
            outputs=list(outputs),
        )
        return found if sample is None else control.sample_system(found, sample, "zoh")

    def to_scipy(self) -> Any:
        """Return the `scipy.signal.StateSpace` of these matrices; without outputs, of all
        states.
        """
        self.require_one("to_scipy")
        from scipy.signal import StateSpace as SciPyStateSpace

        C, D, _ = self._outputs()
        return SciPyStateSpace(self.A, self.B, C, D)

    def to_casadi(self) -> Any:
        """Return the `casadi.Function` (x, u) -> (x', y) of changes about the state; without
        outputs, y is the state.
        """
        self.require_one("to_casadi")
        import casadi as ca

        C, D, _ = self._outputs()
        x, u = ca.SX.sym("x", self.A.shape[-1]), ca.SX.sym("u", self.B.shape[-1])
        dm = ca.DM
        return ca.Function(
            "linearised",
            [x, u],
            [dm(self.A) @ x + dm(self.B) @ u, dm(C) @ x + dm(D) @ u],
            ["x", "u"],
            ["rate", "y"],
        )

    def _outputs(self) -> tuple[Array, Array, tuple[str, ...]]:
        """Return C, D and the names of outputs; those of all states where none were given."""
        if self.outputs:
            return self.C, self.D, self.outputs
        return np.eye(len(self.states)), np.zeros_like(self.B), self.states

    def require_one(self, question: str) -> None:
        """Raise a QuestionError for a batch of systems."""
        if self.A.ndim != 2:
            raise QuestionError(
                f"{question}: this StateSpace is a batch of shape {self.A.shape[:-2]}; linearise"
                " about one state, or take one system of it by an index"
            )

    def require_outputs(self, question: str) -> None:
        """Raise a QuestionError where there are no outputs."""
        if not self.outputs:
            raise QuestionError(
                f"{question}: this StateSpace has no outputs; give them to linearize, for example"
                f" outputs=[\"q['{self.coordinates[0] if self.coordinates else 'joint'}']\"]"
            )

    def __getitem__(self, index: Any) -> StateSpace:
        """Return one system, or several, of a batch."""
        if self.A.ndim == 2:
            raise QuestionError("this StateSpace is one system, not a batch; it has no parts")
        batch = self.A.ndim - 2
        part = {
            name: getattr(self, name)[index]
            for name, own in _DIMENSIONS.items()
            if getattr(self, name).ndim == batch + own
        }
        return replace(self, **part)


# the number of dimensions of each array for one system; those of a batch have more
_DIMENSIONS = {
    "A": 2,
    "B": 2,
    "others": 2,
    "C": 2,
    "D": 2,
    "q": 1,
    "v": 1,
    "tau": 1,
    "y": 1,
    "rate": 1,
}


def _hidden(
    A: Array, C: Array, states: tuple[str, ...], cannot: str, through: tuple[str, ...]
) -> tuple[str, ...]:
    """Return a sentence for each pole of A with a direction x, (A - s) x = 0 and C x = 0."""
    scale = _balance(A)
    A, C = A * scale[None, :] / scale[:, None], C * scale[None, :]
    size = max(float(np.linalg.norm(A, 2)), 1e-300)
    C = C * (size / max(float(np.linalg.norm(C, 2)), 1e-300))
    found: dict[str, None] = {}
    for s in np.linalg.eigvals(A):
        if s.imag < 0.0:
            continue  # named with its conjugate
        _, sigma, right = np.linalg.svd(np.vstack([A - s * np.eye(len(A)), C]))
        for value, x in zip(sigma, right):
            if value <= UNREACHABLE_SINGULAR_VALUE * size * len(A):
                share = np.abs(x) / np.abs(x).max()
                names = " with ".join(repr(n) for n, y in zip(states, share) if y > NAMED_SHARE)
                found[f"the motion of {names} (pole {_shown(s)}) {cannot} {', '.join(through)}"] = (
                    None
                )
    return tuple(found)


def _shown(s: complex) -> str:
    """Return a pole with its unit, without rounding noise."""
    real = 0.0 if abs(s.real) < 1e-7 else s.real
    return f"{real:.4g} 1/s" if abs(s.imag) < 1e-7 else f"{real:.4g} ± {abs(s.imag):.4g}i 1/s"


def _balance(A: Array) -> Array:
    """Return the scale of each state, powers of two, that balances the rows and columns of A."""
    from scipy.linalg import matrix_balance

    _, (scale, _) = matrix_balance(A, permute=False, separate=True)
    return np.asarray(scale)
