"""Control: controllers for simulations, and their design from the model.

    operating_point     the state about which a linear controller works, and the deviation from it
    feedback            StateFeedback: u = u* - K x
    lqr                 linear-quadratic regulator, pole placement
    gain_schedule       state feedback that changes with a coordinate
    kalman              Kalman filter, LQG; extended_kalman: of a moving mechanism
    tvlqr               the regulator along a motion; motions: motions and periodic motions
    tasks               targets of frames, postures and the centre of mass
    differential_ik     joint speeds for several tasks within limits; box_programme: quadratic
                        programmes as straight-line code; qp_solvers: a registry of solvers
    operational_space   a frame on a virtual spring, decoupled by the inertia that it feels
    whole_body          joint forces for tasks, contacts and limits by a quadratic programme;
                        active_contacts: its active set
    sampling_mpc        predictive control by rollouts in lanes: MPPI, CEM
    shooting_mpc        predictive control by multiple shooting and quadratic programmes
    margins             gain, phase, delay and disk margins
    disturbed_runs      region of attraction and Monte Carlo in lanes; plots: pictures of these
    plant_step          one step in time of a mechanism, as an expression
    riccati, weights    the matrix equations by SciPy; weights by name

The controllers that need no design (PID, computed torque, impedance, actuators and others) are
those of `catena.simulation.control`; they are exported here too.
"""

from typing import TYPE_CHECKING

from ..doors import door

if TYPE_CHECKING:
    from ..simulation.control import (
        DRIVE_MODES,
        FMU,
        NAMED_CONTROLS,
        PD,
        PID,
        Actuator,
        ComputedTorque,
        Controller,
        DCMotor,
        Drive,
        DriveMode,
        Forces,
        Hold,
        Hybrid,
        Impedance,
        Law,
        NamedControl,
        Sequence,
        Sum,
        Thruster,
        hold,
        traced,
        wrenches,
    )
    from .differential_ik import DifferentialIK, differential_ik
    from .disturbed_runs import DisturbedRuns, monte_carlo, region_of_attraction
    from .extended_kalman import ExtendedKalmanFilter, extended_kalman
    from .feedback import StateFeedback
    from .gain_schedule import ScheduledFeedback, gain_schedule
    from .kalman import LQG, KalmanFilter, kalman, lqg
    from .lqr import lqr, place
    from .margins import LoopMargins, margins
    from .motions import Floquet, Motion, floquet
    from .operating_point import OperatingPoint
    from .operational_space import OperationalSpace
    from .plots import plot_margins, plot_region
    from .qp_solvers import QP, QP_SOLVERS, QPSolver, qp_solver
    from .sampling_mpc import PLAN_UPDATES, PlanUpdate, SamplingMPC, sampling_mpc
    from .shooting_mpc import ShootingMPC, shooting_mpc
    from .tasks import ComTask, FrameTask, PostureTask, Task
    from .tvlqr import TrackingFeedback, tvlqr
    from .whole_body import FrameContact, WholeBody, WholeBodySolution, whole_body

__getattr__, __dir__ = door(__name__)
