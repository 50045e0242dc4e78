"""Proximal policy optimisation [Schulman2017] with NumPy alone, for tasks of minutes.

    L = E[min(r A, clip(r, 1 - c, 1 + c) A)] - (V - R)^2 / 2 + entropy
    r = pi(a | o) / pi_old(a | o)

A: advantages by generalised estimation, R = A + V_old. Both networks have two hidden layers of
tanh.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .definition import Environment
from .networks import Network
from .worlds import Worlds

Array = np.ndarray
# of the advantages of a batch, below which they are not divided by their deviation
LEAST_DEVIATION = 1e-8


@dataclass(frozen=True)
class Settings:
    """The numbers of the method. worlds: how many are stepped together, for `steps` steps between
    two updates. discount, trace: gamma and lambda. clip: c. epochs: how often each sample is used,
    in `batches` parts. rate: of Adam. entropy, value: factors of these losses. hidden: sizes of the
    layers.
    """

    worlds: int = 128
    steps: int = 64
    discount: float = 0.99
    trace: float = 0.95
    clip: float = 0.2
    epochs: int = 4
    batches: int = 4
    rate: float = 3e-3
    entropy: float = 0.0
    value: float = 0.5
    hidden: tuple[int, ...] = (64, 64)
    deviation: float = 0.5  # of continuous actions at the beginning, relative to their range


@dataclass
class Training:
    """What came of a training. policy: observations -> scores of choices, or signals. returns: the
    mean return of the episodes that ended between two updates; steps: steps of worlds until there.
    """

    policy: Network
    returns: list[float] = field(default_factory=list)
    steps: list[int] = field(default_factory=list)


def train(
    environment: Environment,
    *,
    steps: int,
    seed: int = 0,
    settings: Settings | None = None,
    until: float = np.inf,
    progress: Callable[[int, float], object] | None = None,
) -> Training:
    """Train a policy by proximal policy optimisation.

    Parameters
    ----------
    environment : Environment
        The task.
    steps : int
        The number of steps of worlds, all together.
    seed : int, default 0
        Of starts, networks and actions.
    settings : Settings, optional
        The numbers of the method.
    until : float, optional
        The mean return of an update at which training ends.
    progress : callable, optional
        Is given the number of steps and the mean return after each update.

    Returns
    -------
    Training
        The policy, as a network, and the returns on the way.
    """
    with _one_thread():
        return _train(environment, steps, seed, settings or Settings(), until, progress)


def _one_thread() -> Any:
    """Keep products of small matrices on one thread, where threadpoolctl is installed: many threads
    wait for each other ten times as long as one computes.
    """
    try:
        from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]
    except ImportError:
        return nullcontext()
    return threadpool_limits(1)


def _train(
    environment: Environment,
    steps: int,
    seed: int,
    s: Settings,
    until: float,
    progress: Callable[[int, float], object] | None,
) -> Training:
    rng = np.random.default_rng(seed)
    worlds = Worlds(environment, s.worlds, seed=seed)
    observations = worlds.observations.shape[1]
    head = _Discrete(environment) if environment.choices else _Gaussian(environment, s.deviation)
    policy = Network.random(rng, (observations, *s.hidden, head.size), last=0.01)
    value = Network.random(rng, (observations, *s.hidden, 1), last=1.0)
    weights = [*policy.weights, *value.weights, *head.weights]
    adam = _Adam(weights, s.rate)
    found = Training(policy)
    o = worlds.reset().copy()
    total = np.zeros(s.worlds)
    T, N = s.steps, s.worlds
    O = np.empty((T, N, observations))
    A = np.empty((T, N, *head.shape), head.dtype)
    logp, rewards, V = np.empty((3, T, N))
    ended = np.empty((T, N))
    taken = 0
    while taken < steps:
        returns: list[float] = []
        for t in range(T):
            O[t] = o
            A[t], logp[t] = head.draw(policy(o), rng)
            V[t] = value(o)[:, 0]
            o, paid, terminated, truncated = worlds.step(head.signals(A[t]))
            rewards[t], ended[t] = paid, terminated | truncated
            total += paid
            if truncated.any():  # what would have come after
                last = np.flatnonzero(truncated & ~terminated)
                rewards[t, last] += s.discount * value(worlds.final_observations[last])[:, 0]
            if ended[t].any():
                returns += total[ended[t] > 0].tolist()
                total[ended[t] > 0] = 0.0
        taken += T * N
        advantages = _advantages(rewards, V, value(o)[:, 0], ended, s)
        data = [x.reshape(T * N, *x.shape[2:]) for x in (O, A, logp, advantages, advantages + V)]
        for _ in range(s.epochs):
            for rows in np.array_split(rng.permutation(T * N), s.batches):
                o_, a_, l_, adv, target = (x[rows] for x in data)
                adv = (adv - adv.mean()) / (adv.std() + LEAST_DEVIATION)
                out, memory = policy.remember(o_)
                by_out, by_head = head.gradient(out, a_, l_, adv, s)
                seen, seen_memory = value.remember(o_)
                by_value = s.value * (seen - target[:, None]) / len(rows)
                adam.step(
                    [
                        *policy.backward(memory, by_out),
                        *value.backward(seen_memory, by_value),
                        *by_head,
                    ]
                )
        if returns:
            found.returns.append(float(np.mean(returns)))
            found.steps.append(taken)
            if progress is not None:
                progress(taken, found.returns[-1])
            if found.returns[-1] >= until:
                break
    worlds.close()
    found.policy = head.deterministic(policy)
    return found


def _advantages(rewards: Array, V: Array, last: Array, ended: Array, s: Settings) -> Array:
    """Return generalised advantage estimates (T, N): sums of (discount trace)^k times what each
    step brought more than was expected.
    """
    found = np.empty_like(rewards)
    running = np.zeros(rewards.shape[1])
    after = last
    for t in reversed(range(len(rewards))):
        on = 1.0 - ended[t]
        more = rewards[t] + s.discount * after * on - V[t]
        running = more + s.discount * s.trace * on * running
        found[t], after = running, V[t]
    return found


def _clipped_weight(ratio: Array, advantage: Array, clip: float) -> Array:
    """Return the derivative of -min(r A, clip(r) A) by log r."""
    inside = np.where(advantage > 0, ratio < 1 + clip, ratio > 1 - clip)
    return -np.asarray(ratio * advantage * inside)


class _Discrete:
    """Choices, drawn by the scores of a network."""

    shape: tuple[int, ...] = ()
    dtype: Any = np.int64

    def __init__(self, environment: Environment):
        self.size = len(environment.choices)
        self.weights: list[Array] = []

    def draw(self, scores: Array, rng: np.random.Generator) -> tuple[Array, Array]:
        """Return choices and the logarithms of their probabilities."""
        p = _softmax(scores)
        chosen = (p.cumsum(axis=1) < rng.random((len(p), 1))).sum(axis=1)
        chosen = np.minimum(chosen, self.size - 1)
        return chosen, np.log(p[np.arange(len(p)), chosen])

    def signals(self, chosen: Array) -> Array:
        """Return what `Worlds.step` takes."""
        return chosen

    def gradient(
        self, scores: Array, chosen: Array, before: Array, advantage: Array, s: Settings
    ) -> tuple[Array, list[Array]]:
        """Return the derivatives of the loss by the scores, and by the weights of this head."""
        p = _softmax(scores)
        rows = np.arange(len(p))
        ratio = np.exp(np.log(p[rows, chosen]) - before)
        w = _clipped_weight(ratio, advantage, s.clip)[:, None]
        hit = np.zeros_like(p)
        hit[rows, chosen] = 1.0
        logs = np.log(p + 1e-300)
        by_entropy = p * (logs - (p * logs).sum(axis=1, keepdims=True))
        return (w * (hit - p) + s.entropy * by_entropy) / len(p), []

    def deterministic(self, policy: Network) -> Network:
        """Return the network of the scores."""
        return policy


class _Gaussian:
    """Signals with normal noise about what a network says, within the ranges of the motors."""

    dtype: Any = np.float64

    def __init__(self, environment: Environment, deviation: float):
        low, high = np.clip(environment.signals.T, -1e3, 1e3)
        self.middle, self.half = 0.5 * (low + high), 0.5 * (high - low)
        self.size = len(low)
        self.shape = (self.size,)
        self.log_deviation = np.full(self.size, np.log(deviation))
        self.weights = [self.log_deviation]

    def draw(self, mean: Array, rng: np.random.Generator) -> tuple[Array, Array]:
        """Return scaled signals and the logarithms of their densities."""
        a = mean + np.exp(self.log_deviation) * rng.standard_normal(mean.shape)
        return a, self._log_density(mean, a)

    def _log_density(self, mean: Array, a: Array) -> Array:
        z = (a - mean) * np.exp(-self.log_deviation)
        return np.asarray(-0.5 * (z**2).sum(axis=1) - self.log_deviation.sum())

    def signals(self, a: Array) -> Array:
        """Return what `Worlds.step` takes."""
        return np.asarray(self.middle + self.half * a)

    def gradient(
        self, mean: Array, a: Array, before: Array, advantage: Array, s: Settings
    ) -> tuple[Array, list[Array]]:
        """Return the derivatives of the loss by the means, and by the logarithms of deviations."""
        z = (a - mean) * np.exp(-self.log_deviation)
        ratio = np.exp(self._log_density(mean, a) - before)
        w = _clipped_weight(ratio, advantage, s.clip)[:, None] / len(mean)
        return w * z * np.exp(-self.log_deviation), [(w * (z**2 - 1)).sum(axis=0) - s.entropy]

    def deterministic(self, policy: Network) -> Network:
        """Return the network with the ranges of the motors in its last layer."""
        *others, W, b = policy.weights
        return Network((*others, W * self.half, b * self.half + self.middle))


def _softmax(x: Array) -> Array:
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return np.asarray(e / e.sum(axis=1, keepdims=True))


class _Adam:
    """Adam [Kingma2015], which changes the weights in place."""

    def __init__(self, weights: list[Array], rate: float):
        self.weights, self.rate, self.count = weights, rate, 0
        self.m, self.s = ([np.zeros_like(w) for w in weights] for _ in range(2))

    def step(self, gradients: list[Array]) -> None:
        """Take a step against the gradients, whose norm is limited to one half."""
        self.count += 1
        norm = np.sqrt(sum(float((g**2).sum()) for g in gradients))
        shrink = min(1.0, 0.5 / (norm + 1e-12))
        for w, g, m, s in zip(self.weights, gradients, self.m, self.s, strict=False):
            m += 0.1 * (shrink * g - m)
            s += 0.001 * ((shrink * g) ** 2 - s)
            up = m / (1 - 0.9**self.count)
            down = np.sqrt(s / (1 - 0.999**self.count)) + 1e-8
            w -= self.rate * up / down
