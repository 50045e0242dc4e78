"""How well are the joint torques of a real Staubli TX40 explained, relative to figaroh?

    python benchmarks/drives_of_tx40.py FOLDER              ours
    python benchmarks/drives_of_tx40.py FOLDER --figaroh    figaroh, where it is installed

FOLDER is examples/staubli_TX40 of thanhndv212/figaroh-examples: the robot, the angles of its six
motors and their torques, 9 s at 5 kHz. The drive of joint 6 turns with joint 5 too. figaroh fits
the whole log; ours fits the whole log as well, and once more all but its last quarter, which it
then predicts. Errors are relative to the rms of the torque, both decimated to 500 Hz as figaroh
does. Without FOLDER a synthetic arm takes the robot's place, so that the script runs everywhere.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from pathlib import Path

import numpy as np
from scipy.signal import decimate

RATIOS = np.array([32.0, 32.0, 45.0, -48.0, 45.0, 32.0])  # config/TX40_config.yaml
STEP = 2e-4  # s
BORDER = 100  # rows at each end, which filters spoil


def urdf(folder: Path) -> str:
    """Return the robot without its meshes, which the folder does not have."""
    text = (folder / "urdf" / "tx40_mdh_modified.urdf").read_text()
    bare = re.sub(r"<(visual|collision)>.*?</\1>", "", text, flags=re.DOTALL)
    path = Path(tempfile.mkdtemp()) / "tx40.urdf"
    path.write_text(bare)
    return str(path)


def relative(error: np.ndarray, torque: np.ndarray) -> np.ndarray:
    """Return the error of each joint relative to its torque, both decimated by ten."""
    size = [
        [np.linalg.norm(decimate(x, 10, zero_phase=True)) for x in of[BORDER:-BORDER].T]
        for of in (error, torque)
    ]
    return np.array(size[0]) / np.array(size[1])


def figaroh(folder: Path) -> np.ndarray:
    """Return the errors of figaroh's own pipeline for this robot."""
    os.chdir(folder)
    sys.path.insert(0, str(folder.parent.parent))
    from examples.staubli_TX40.utils.staubli_tx40_tools import TX40Identification
    from figaroh.tools.robot import load_robot
    from figaroh.utils import config_migration

    unified = Path("config") / "unified.yaml"  # its templates are found relative to it
    sys.argv = ["", "--input", "config/TX40_config.yaml", "--output", str(unified)]
    config_migration.main()
    found = TX40Identification(load_robot(urdf(folder), package_dirs=str(folder)), str(unified))
    found.initialize()
    found.solve(decimate=True, plotting=False, save_results=False, wls=False)
    torque = found.tau_noised.reshape(6, -1)
    left = torque - (found.dynamic_regressor_base @ found.phi_base).reshape(6, -1)
    return np.linalg.norm(left, axis=1) / np.linalg.norm(torque, axis=1)


def logs_of_tx40(folder: Path):
    """Return the robot, its log with the torques of drives geared to their joints, the coupling."""
    import catena

    arm = catena.compile(catena.load(urdf(folder)))
    read = {k: np.loadtxt(folder / "data" / f"{k}.csv", delimiter=",", skiprows=1)
            for k in ("pos_read_data", "curr_data")}  # fmt: skip
    R = np.diag(RATIOS)
    R[5, 4] = RATIOS[5]
    q = read["pos_read_data"] @ np.linalg.inv(R).T
    q += [0.0, -np.pi / 2, np.pi / 2, 0.0, 0.0, 0.0]
    effort = read["curr_data"] * RATIOS
    return arm, table(arm, STEP * np.arange(len(q)), q, effort), {"joint_6": {"joint_5": 1.0}}


def synthetic_log():
    """Return an arm of two links whose second drive turns with both joints."""
    import catena

    arm = catena.compile(catena.load("two_link_arm"))
    t = np.arange(0.0, 10.0, 5e-3)
    q, v, a = catena.identification.excitation(arm, "inertial", trials=1, seed=0)(t)
    R = np.array([[1.0, 0.0], [1.0, 1.0]])
    effort = arm.inverse_dynamics(q, v, a) @ np.linalg.inv(R) + np.tanh(100 * v @ R.T)
    return arm, table(arm, t, q, effort), {arm.speed_names[1]: {arm.speed_names[0]: 1.0}}


def table(arm, t, q, effort):
    columns = {"time": t}
    for k, n in enumerate(arm.speed_names):
        columns |= {f"q {n}": q[:, k], f"tau {n}": effort[:, k]}
    return columns


def ours(arm, log, coupling):
    """Print the errors of fits with and without further friction laws and the coupling."""
    from catena.identification import coupling_matrix, fit_drives

    R = coupling_matrix(arm, coupling)
    end = 3 * len(log["time"]) // 4
    first, last = ({k: x[s] for k, x in log.items()} for s in (slice(end), slice(end, None)))
    for title, laws, given in (
        ("viscous and Coulomb, drives apart", (), None),
        ("viscous and Coulomb", (), coupling),
        ("laws chosen", None, coupling),
    ):
        whole = fit_drives(arm, log, laws=laws, coupling=given)
        part = fit_drives(arm, first, validate=[last], laws=laws, coupling=given)
        for words, fit in (("whole log", whole), ("last quarter, held out", part)):
            e = fit.errors[-1]
            tau, left = (x @ R for x in (e.motion.measured, e.motion.measured - e.predicted))
            print(f"catena, {title}, {words}:", np.round(relative(left, tau), 3), flush=True)


if __name__ == "__main__":
    given = [x for x in sys.argv[1:] if not x.startswith("--")]
    if "--figaroh" in sys.argv:
        print("figaroh, whole log:", np.round(figaroh(Path(given[0]).resolve()), 3))
    else:
        ours(*(logs_of_tx40(Path(given[0])) if given else synthetic_log()))
