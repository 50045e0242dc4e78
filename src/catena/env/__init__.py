"""Environments for learning, whose worlds are lanes of machine code.

definition      Environment: motors, observations, reward, when an episode ends, how one starts
worlds          Worlds: many copies, stepped in place, with NumPy alone
environment_file the table [environment] of a file
tapes, starts   the compiled step and observations; starts drawn by counters
vector_env      the same as a Gymnasium VectorEnv
tasks           cart-pole, pendulum, acrobot, hopper, half-cheetah, ant: a registry
networks        networks of a few layers, as they are trained here
policies        networks in ONNX files as controllers of `catena.simulate`
ppo             proximal policy optimisation, with NumPy alone
"""

from typing import TYPE_CHECKING

from ..doors import door

if TYPE_CHECKING:
    from . import environment_file
    from .definition import Environment
    from .environment_file import read_environment
    from .networks import Network
    from .policies import OPERATORS, Operator, Policy, read_network
    from .ppo import Settings, Training, train
    from .tasks import TASKS, Task, task
    from .vector_env import VectorEnv
    from .worlds import Worlds

__getattr__, __dir__ = door(__name__)
