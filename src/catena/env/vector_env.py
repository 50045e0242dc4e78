"""Worlds as a `gymnasium.vector.VectorEnv`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import QuestionError
from .definition import Environment
from .worlds import Worlds

try:
    import gymnasium
    from gymnasium.vector import AutoresetMode
except ImportError as error:
    raise QuestionError(
        "vector environments need Gymnasium, which is not installed: pip install"
        ' "catena[learning]"; catena.env.Worlds does the same with NumPy alone'
    ) from error

MODES = {
    AutoresetMode.NEXT_STEP: "next_step",
    AutoresetMode.SAME_STEP: "same_step",
    AutoresetMode.DISABLED: "off",
}


class VectorEnv(gymnasium.vector.VectorEnv):  # type: ignore[misc]  # has no types where it is absent
    """A vector environment of Gymnasium whose worlds are lanes of machine code.

    Parameters
    ----------
    environment : Environment
        The task; `catena.env.task` returns classic ones.
    count : int
        The number of worlds.
    seed : int, default 0
        Of the starts, until `reset` is given one.
    threads : int, default 1
        The number of threads that share the worlds.
    autoreset : gymnasium.vector.AutoresetMode, default NEXT_STEP
        When a world whose episode has ended begins the next one.
    copy : bool, default True
        Whether observations are copies. Without copies each step writes into the same array.

    Examples
    --------
    >>> import catena.env as env
    >>> envs = env.VectorEnv(env.task("cart_pole"), 16)
    >>> observations, _ = envs.reset(seed=1)
    >>> observations.shape, envs.single_action_space
    ((16, 4), Discrete(2))
    """

    def __init__(
        self,
        environment: Environment,
        count: int,
        *,
        seed: int = 0,
        threads: int = 1,
        autoreset: Any = AutoresetMode.NEXT_STEP,
        copy: bool = True,
    ):
        self.worlds = Worlds(
            environment,
            count,
            seed=seed,
            threads=threads,
            autoreset=MODES[autoreset],
            dtype=np.float32,
        )
        spaces = gymnasium.spaces
        self.num_envs, self.copy = int(count), copy
        self.metadata = {**self.metadata, "autoreset_mode": autoreset}
        self.single_observation_space = spaces.Box(
            -np.inf, np.inf, (self.worlds.observations.shape[1],), np.float32
        )
        low, high = environment.signals.T.astype(np.float32)
        self.single_action_space = (
            spaces.Discrete(len(environment.choices))
            if environment.choices
            else spaces.Box(low, high, dtype=np.float32)
        )
        batch = gymnasium.vector.utils.batch_space
        self.observation_space = batch(self.single_observation_space, self.num_envs)
        self.action_space = batch(self.single_action_space, self.num_envs)

    def reset(
        self, *, seed: Any = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Begin new episodes in all worlds. Return the observations, and an empty dictionary.

        seed: a whole number; one list of them is not taken, since worlds have seeds of their own by
        their numbers.
        """
        if seed is not None and not isinstance(seed, int | np.integer):
            raise QuestionError(
                f"reset: the seed is {seed!r}; it is one whole number, from which each world has"
                " its own"
            )
        super().reset(seed=None if seed is None else int(seed))
        return self._given(self.worlds.reset(None if seed is None else int(seed))), {}

    def step(
        self, actions: Any
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Let actions act for one time step, as Gymnasium describes it."""
        w = self.worlds
        seen, paid, terminated, truncated = w.step(actions)
        infos: dict[str, Any] = {}
        if w.autoreset == "same_step" and (done := terminated | truncated).any():
            final = np.full(w.count, None, object)
            for k in np.flatnonzero(done):
                final[k] = w.final_observations[k].copy()
            infos = {"final_obs": final, "_final_obs": done, "final_info": {}, "_final_info": done}
        return self._given(seen), paid.copy(), terminated.copy(), truncated.copy(), infos

    def _given(self, seen: np.ndarray) -> np.ndarray:
        return seen.copy() if self.copy else seen

    def close_extras(self, **kwargs: Any) -> None:
        """End the threads."""
        self.worlds.close()
