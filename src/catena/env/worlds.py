"""Worlds: many copies of an environment in lanes, stepped in place."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from ..compiler import default_width
from ..errors import QuestionError
from ..sensors import ReadingErrors
from ..simulation.integrators import world_steps
from ..simulation.stepping import stepper
from .definition import Environment
from .starts import drawn, unit_quaternions
from .tapes import CompiledEnvironment

Array = np.ndarray
# what happens to a world whose episode has ended
AUTORESETS = ("same_step", "next_step", "off")


class Worlds:
    """Copies of an environment, which are stepped together. The arrays are written in place at each
    step.

    Parameters
    ----------
    environment : Environment
        The task.
    count : int
        The number of worlds.
    seed : int, default 0
        Of the starts. World k has the same episodes whatever the number of worlds and threads.
    threads : int, default 1
        The number of threads that share the worlds.
    autoreset : str, default "same_step"
        What follows the end of an episode: a new one within the same step, whose first observation
        is returned, with the last one of the old in `final_observations`; a new one in place of the
        next step ("next_step"); or nothing ("off").
    dtype : data type, default float64
        Of the observations.

    Attributes
    ----------
    observations : ndarray (count, observations)
    rewards : ndarray (count,)
    terminated, truncated : ndarray (count,) of bool
    final_observations : ndarray (count, observations)
    elapsed : ndarray (count,) of int
        The number of steps of each episode so far.

    Examples
    --------
    >>> import catena.env as env
    >>> worlds = env.Worlds(env.task("cart_pole"), 1024, seed=3)
    >>> observations = worlds.reset()
    >>> for _ in range(10):
    ...     result = worlds.step(np.zeros(1024, int))
    >>> worlds.rewards.sum()
    np.float64(1024.0)
    """

    def __init__(
        self,
        environment: Environment,
        count: int,
        *,
        seed: int = 0,
        threads: int = 1,
        autoreset: str = "same_step",
        dtype: Any = np.float64,
    ):
        if not count >= 1:
            raise QuestionError(f"the number of worlds is {count!r}; there is at least one")
        if autoreset not in AUTORESETS:
            raise QuestionError(f"autoreset is {autoreset!r}; it is one of {', '.join(AUTORESETS)}")
        self.environment, self.count, self.seed = environment, int(count), int(seed)
        self.autoreset, self.threads = autoreset, max(1, int(threads))
        self.code = c = CompiledEnvironment(environment)
        self.machine = c.machine
        s = c.system
        W = self._width = default_width()
        self._groups = -(-self.count // W)
        n = self._groups * W
        self._X = np.zeros((self._groups, s.size * W))
        self._before = np.zeros_like(self._X)
        self._given = np.zeros((self._groups, (s.nu + c.plan.p.shape[1]) * W))
        self._seeing = len(c.texts)
        outputs = self._seeing + int(c.rewarded) + 1
        self._Y = np.zeros((self._groups, outputs * W))
        # views in which worlds are apart: [group, number, lane]
        self._x, self._u, self._y = (
            a.reshape(self._groups, -1, W) for a in (self._X, self._given, self._Y)
        )
        self._u[:, s.nv : s.nu] = s.holding.start()[None, :, None]
        self._signals = np.zeros((n, len(environment.actions)))
        self._seen = np.zeros((n, self._seeing), dtype)
        self._paid, self._over = np.zeros(n), np.zeros(n)
        self.observations = self._seen[: self.count]
        self.rewards, self._ended = self._paid[: self.count], self._over[: self.count]
        self.final_observations = np.zeros_like(self.observations)
        self.terminated, self.truncated, self._done = np.zeros((3, self.count), bool)
        self.elapsed = np.zeros(self.count, np.int64)
        self.episodes = np.full(self.count, -1, np.int64)
        self._begun = False  # whether the worlds have states
        self._numbers = np.arange(self.count)
        self._errors = self._reading_errors()
        self._drawn = drawn(environment, c.machine, c.neutral)
        self._low, self._high = environment.signals.T
        self._choices = np.array(environment.choices) if environment.choices else None
        parts = min(self.threads, self._groups)
        cuts = np.linspace(0, self._groups, parts + 1).astype(int)
        self._parts = [_Part(self, slice(a, b)) for a, b in itertools.pairwise(cuts)]
        self._pool = ThreadPoolExecutor(parts) if parts > 1 else None

    def _reading_errors(self) -> list[tuple[slice, ReadingErrors]]:
        """Return the errors of sensors, with their columns in the observations."""
        period = self.environment.time_step
        return [
            (columns, ReadingErrors(sensor, self._numbers, period, self.seed))
            for columns, sensor in self.code.erring
        ]

    # --- what can be read of the worlds
    @property
    def q(self) -> Array:
        """The coordinates (count, nq)."""
        return self._rows(self._x[:, : self.machine.nq])

    @property
    def v(self) -> Array:
        """The speeds (count, nv)."""
        nq = self.machine.nq
        return self._rows(self._x[:, nq : nq + self.machine.nv])

    @property
    def previous_q(self) -> Array:
        """The coordinates before the last step (count, nq)."""
        before = self._before.reshape(self._x.shape)
        return self._rows(before[:, : self.machine.nq])

    @property
    def previous_v(self) -> Array:
        """The speeds before the last step (count, nv)."""
        nq = self.machine.nq
        before = self._before.reshape(self._x.shape)
        return self._rows(before[:, nq : nq + self.machine.nv])

    @property
    def actions(self) -> Array:
        """The signals of the motors in the last step (count, actions)."""
        return self._signals[: self.count]

    def _rows(self, x: Array) -> Array:
        """Return numbers in lanes (groups, n, W) as rows of worlds (count, n), a copy."""
        return x.transpose(0, 2, 1).reshape(-1, x.shape[1])[: self.count]

    # --- running
    def reset(self, seed: int | None = None) -> Array:
        """Begin the first episode of a seed in all worlds, or the next one where none is given.
        Return the observations.
        """
        if seed is not None:
            self.seed = int(seed)
            self.episodes[:] = -1
            self._errors = self._reading_errors()
        self._begun = True
        self._begin(self._numbers)
        self.rewards[:] = 0.0
        self.terminated[:] = self.truncated[:] = self._done[:] = False
        return self.observations

    def set_states(self, q: Any, v: Any) -> Array:
        """Put all worlds into states q (count, nq) or (nq,), v likewise, and begin new episodes
        there. Return the observations.
        """
        if not self._begun:  # parameters, and lanes without a world
            self.reset()
        self._place(self._numbers, np.broadcast_to(q, (self.count, self.machine.nq)), v)
        self.elapsed[:] = 0
        self._done[:] = False
        self._watch(self._numbers)
        return self.observations

    def step(self, actions: Any) -> tuple[Array, Array, Array, Array]:
        """Let actions (count, actions) act for one time step; with `choices`, their numbers
        (count,).

        Return observations, rewards, terminated, truncated: the arrays of this object, in which the
        next step writes.
        """
        if not self._begun:
            self.reset()
        e = self.environment
        own = self._signals[: self.count]
        if self._choices is not None:
            np.take(self._choices, self._chosen(actions), axis=0, out=own)
        else:
            given = np.asarray(actions)
            if given.shape != own.shape:
                raise QuestionError(
                    f"environment {e.name!r}: the actions have the shape {given.shape}; it is"
                    f" {own.shape}, one signal per motor: {', '.join(m.name for m in e.actions)}"
                )
            np.clip(given, self._low, self._high, out=own)
        na = own.shape[1]
        shape = self._groups, self._width, na
        np.copyto(self._u[:, :na], self._signals.reshape(shape).transpose(0, 2, 1))
        if self._pool is None:
            self._parts[0].advance()
        else:
            list(self._pool.map(_Part.advance, self._parts))
        waiting = self._done.copy() if self.autoreset == "next_step" and self._done.any() else None
        self._collect()
        self.elapsed += 1
        if e.longest is not None:
            np.greater_equal(self.elapsed, e.longest, out=self.truncated)
        if waiting is not None:
            self._begin(np.flatnonzero(waiting))
            self.rewards[waiting] = 0.0
            self.terminated[waiting] = self.truncated[waiting] = False
        np.logical_or(self.terminated, self.truncated, out=self._done)
        if self.autoreset == "same_step" and self._done.any():
            over = np.flatnonzero(self._done)
            self.final_observations[over] = self.observations[over]
            self._begin(over)
        return self.observations, self.rewards, self.terminated, self.truncated

    def _chosen(self, actions: Any) -> Array:
        given = np.asarray(actions)
        assert self._choices is not None
        most = len(self._choices)
        if given.shape != (self.count,) or given.dtype.kind not in "iu":
            raise QuestionError(
                f"environment {self.environment.name!r}: the actions are {given.dtype} of shape"
                f" {given.shape}; they are whole numbers from 0 to {most - 1}, ({self.count},)"
            )
        if given.min() < 0 or given.max() >= most:
            raise QuestionError(
                f"environment {self.environment.name!r}: an action is {given.min()} or"
                f" {given.max()}; it is the number of one of the choices, 0 to {most - 1}"
            )
        return given

    def _collect(self) -> None:
        """Copy what the tape has found into the arrays of worlds."""
        e = self.environment
        no = self._seeing
        W = self._width
        np.copyto(
            self._seen.reshape(self._groups, W, no),
            self._y[:, :no].transpose(0, 2, 1),
            casting="same_kind",
        )
        np.copyto(self._over.reshape(self._groups, W), self._y[:, -1])
        for columns, errors in self._errors:
            true = self._y[:, columns].transpose(0, 2, 1).reshape(-1, errors.channels)
            self.observations[:, columns] = errors.read(true[: self.count])
        np.greater(self._ended, 0.5, out=self.terminated)
        if isinstance(e.reward, str):
            np.copyto(self._paid.reshape(self._groups, W), self._y[:, no])
        else:
            found = np.asarray(e.reward(self), float)
            if found.shape != (self.count,):
                raise QuestionError(
                    f"environment {e.name!r}: the reward has the shape {found.shape}; it is one"
                    f" number for each of the {self.count} worlds"
                )
            self.rewards[:] = np.where(np.isfinite(found), found, 0.0)

    def _begin(self, worlds: Array) -> None:
        """Begin the next episode in these worlds."""
        self.episodes[worlds] += 1
        values = self._drawn.values(self.seed, worlds, self.episodes[worlds])
        nq, nv = self.machine.nq, self.machine.nv
        q = np.ascontiguousarray(values[:, :nq])
        unit_quaternions(self.machine, q)
        nu = self.code.system.nu
        self._u[worlds // self._width, nu:, worlds % self._width] = values[:, nq + nv :]
        self._place(worlds, q, values[:, nq : nq + nv])
        self.elapsed[worlds] = 0
        self._watch(worlds)

    def _place(self, worlds: Array, q: Array, v: Any) -> None:
        """Write the states of worlds, with motors at their start."""
        s = self.code.system
        x = np.zeros((len(worlds), s.size))
        x[:, : s.nq] = q
        x[:, s.nq : s.nq + s.nv] = v
        x[:, s.nq + s.nv : -1] = s.controller.start
        p = self._u[worlds // self._width, s.nu :, worlds % self._width]
        x = self.code.closed(x, p)
        g, l = worlds // self._width, worlds % self._width
        self._x[g, :, l] = x
        self._before.reshape(self._x.shape)[g, :, l] = x
        if len(worlds) == self.count:  # lanes without a world of their own copy the last one
            for k in range(self.count, self._groups * self._width):
                self._x[k // self._width, :, k % self._width] = x[-1]
                self._u[k // self._width, :, k % self._width] = self._u[g[-1], :, l[-1]]

    def _watch(self, worlds: Array) -> None:
        """Observe these worlds anew, after their states were set."""
        groups = np.unique(worlds // self._width)
        self._parts[0].observe(groups)
        found = self._y[worlds // self._width, : self._seeing, worlds % self._width]
        self.observations[worlds] = found
        for columns, errors in self._errors:
            errors.begin(worlds)
            self.observations[worlds, columns] = errors.read(found[:, columns], worlds)

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.count))

    def close(self) -> None:
        """End the threads."""
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None


class _Part:
    """Some groups of lanes, which one thread advances with memory of its own."""

    def __init__(self, worlds: Worlds, groups: slice):
        self.worlds, self.groups = worlds, groups
        c = worlds.code
        s, W = c.system, worlds._width
        own = (worlds._X, worlds._given, worlds._before, worlds._Y)
        self.X, self.given, self.before, self.Y = (a[groups] for a in own)
        self.observing = c.kernel("observe")
        assert self.observing is not None
        self.watch = np.zeros(sum(self.observing.input_sizes) * W)
        self.buffer = np.zeros((1 + s.size + worlds._given.shape[1] // W + 1) * W)
        how = c.plan.how
        self.K = np.zeros((max(len(how.A), 1), s.size * W))
        self.settling = c.kernel("settle")
        self.stepper = stepper(s, W) if how.kind == "stepping" else None
        self.room = np.zeros(self.stepper.size if self.stepper is not None else 0)
        name = "step" if how.kind == "map" else "derivative"
        self.stepping = None if self.stepper is not None else c.kernel(name)

    def advance(self) -> None:
        """Advance the groups by one time step, and observe them."""
        e, how = self.worlds.environment, self.worlds.code.plan.how
        groups, steps = len(self.X), e.steps
        settle = 0 if self.settling is None else self.settling.block_address
        assert self.observing is not None
        self.observing.used(groups)
        after = self.observing.block_address, self.watch, self.Y, self.worlds._width
        h = e.time_step / steps
        state = self.X, self.given, self.before, self.buffer
        if self.stepper is not None:
            self.stepper.used(groups * steps)
            world_steps.advance_contacts(
                *self.stepper.addresses,
                settle,
                *state,
                self.room,
                self.stepper.given,
                0.0,
                h,
                steps,
                *after,
            )
            return
        assert self.stepping is not None
        self.stepping.used(groups * steps * max(1, len(how.A)))
        buffer = self.buffer if how.kind == "map" else self.buffer[: -self.worlds._width]
        world_steps.advance_explicit(
            self.stepping.block_address,
            settle,
            how.A,
            how.B[None],
            how.C,
            *state[:3],
            buffer,
            self.K,
            0.0,
            h,
            steps,
            *after,
        )

    def observe(self, groups: Array) -> None:
        """Observe some groups of all worlds."""
        w = self.worlds
        assert self.observing is not None
        world_steps.observe_groups(
            groups.astype(np.int64),
            w._X,
            w._given,
            w._before,
            0.0,
            self.observing.block_address,
            self.watch,
            w._Y,
            w._width,
        )
