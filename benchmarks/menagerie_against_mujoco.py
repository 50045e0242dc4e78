"""Do the MJCF files of a folder, such as mujoco_menagerie, load, and do they move as in MuJoCo?

    python benchmarks/menagerie_against_mujoco.py FOLDER [WORD]

One line per file: refused with the reason, or loaded with the load time and the largest relative
differences, at a random state within the limits of joints, of

    M     the mass matrix, with armatures and the rotors of actuators
    bias  Coriolis, centrifugal and gravity forces
    tau   the forces of the actuators at random signals and activations
    a     the acceleration, with springs, damping, tendons, the medium and the actuators

Equalities, contacts, stops and dry friction are off on both sides, since MuJoCo's are soft. Where a
file has loads or actuators that are refused or approximated, the number of those is printed with an
asterisk, and tau and a are no part of the verdict. WORD: only files whose path contains it. Without
a folder, the copy of the menagerie on the shelf (`catena robots`) is taken. Asked: all differences
below 1e-9.
"""

from __future__ import annotations

import sys
import tempfile
import time
import warnings
from dataclasses import replace
from pathlib import Path

import casadi as ca
import mujoco
import numpy as np

import catena
from catena.errors import CatenaError
from catena.formats import drafted
from catena.formats.mjcf.source import compiled
from catena.simulation.control import Actuator, Thruster
from catena.simulation.system.first_order import System

BOUND = 1e-9
OFF = mujoco.mjtDisableBit.mjDSBL_CONSTRAINT | mujoco.mjtDisableBit.mjDSBL_CONTACT
SLIDE = 2  # mjtJoint: slide and hinge
SMALL = """<mujoco><worldbody><body><joint name="j" axis="0 1 0" damping=".1" armature=".02"/>
<geom size=".1" pos="1 0 0"/></body></worldbody><actuator>
<position joint="j" kp="9" kv="1" gear="3"/></actuator></mujoco>"""  # what --tiny compares
ACTING = ("actuator", "tendon", "joint", "joint stiffness", "option")
KINDS = {"actuator": Actuator, "thruster": Thruster}


def relative(ours: np.ndarray, theirs: np.ndarray, least: float = 0.0) -> float:
    """The largest difference over the largest entry, or over `least` where that is larger."""
    size = max(float(np.abs(theirs).max(initial=0.0)), least)
    gap = float(np.abs(np.asarray(ours) - theirs).max(initial=0.0))
    return gap / size if size else gap


def controllers(draft, m: mujoco.MjModel, signals: np.ndarray):
    """The file's actuators at these signals, {name: controller}."""
    at = {m.actuator(a).name or f"actuator{a}": a for a in range(m.nu)}
    found = {}
    for law in draft.scenario.get("control", ()):
        keys = {k: tuple(x) if isinstance(x, list) else x for k, x in law.items() if k != "kind"}
        found[law["name"]] = KINDS[law["kind"]](**keys, signal=float(signals[at[law["name"]]]))
    return found


def actuator_forces(mechanism, laws, m: mujoco.MjModel, d: mujoco.MjData) -> np.ndarray:
    """tau (nv,) of the controllers at MuJoCo's activations."""
    if not laws:
        return np.zeros(m.nv)
    system = System(mechanism)
    made = [law.law(system) for law in laws.values()]
    at = {m.actuator(a).name or f"actuator{a}": a for a in range(m.nu)}
    w = [x for name, law in zip(laws, made) for x in activation(m, d, at[name], law)]
    state = ca.vertcat(*(law.state for law in made))
    tau = ca.Function(
        "tau", [system.t, system.q, system.v, system.p, state], [sum(law.tau for law in made)]
    )
    return np.array(tau(0.0, d.qpos, d.qvel, [], w)).ravel()


def activation(m: mujoco.MjModel, d: mujoco.MjData, a: int, law) -> list[float]:
    first = int(m.actuator_actadr[a])
    return [float(d.act[first])] if len(law.names) else []


def state(m: mujoco.MjModel, seed: int = 1) -> mujoco.MjData:
    """MuJoCo's data at random coordinates within limits, speeds, signals and activations."""
    rng = np.random.default_rng(seed)
    d = mujoco.MjData(m)
    mujoco.mj_integratePos(m, d.qpos, 0.3 * rng.normal(size=m.nv), 1.0)
    for j in range(m.njnt):
        if m.jnt_limited[j] and m.jnt_type[j] >= SLIDE:
            k = m.jnt_qposadr[j]
            d.qpos[k] = np.clip(d.qpos[k], *m.jnt_range[j])
    d.qvel[:] = rng.normal(size=m.nv)
    d.ctrl[:] = rng.normal(size=m.nu)
    d.act[:] = 0.5 * rng.random(m.na)
    return d


def differences(path: Path, draft) -> tuple[dict[str, float], int]:
    """The differences by name, and how many actuators and loads are refused."""
    m = compiled(path, None)[1]
    mechanism = draft.mechanism.with_(loops=(), constraints=(), contacts=())
    still = tuple(replace(j, friction=0.0) for j in mechanism.joints)
    mechanism = mechanism.with_(joints=still)
    if not m.nv:
        return {}, 0
    d = state(m)
    m.opt.disableflags |= int(OFF)
    laws = controllers(draft, m, d.ctrl)
    other = [e for e in draft.mapping if e.outcome == "refused" or "actuator forces" in e.how]
    count = sum(e.element in ACTING for e in other)
    names = [m.actuator(a).name or f"actuator{a}" for a in range(m.nu)]
    for a in (a for a, name in enumerate(names) if name not in laws):
        m.actuator_gear[a] = 0.0  # what is refused here does not act there
    mujoco.mj_forward(m, d)
    M = np.zeros((m.nv, m.nv))
    mujoco.mj_fullM(m, d, M)
    bare = catena.compile(mechanism.with_(loads=()))
    full = catena.compile(mechanism)
    through = np.repeat(m.jnt_actgravcomp, [(6, 3, 1, 1)[k] for k in m.jnt_type])
    carried = d.qfrc_gravcomp * through  # by the actuators there, by loads here
    tau = actuator_forces(mechanism, laws, m, d)
    passive = full.losses(d.qvel)
    ours = full.forward_dynamics(d.qpos, d.qvel, tau + passive)
    usual = np.abs(M).max() * max(1.0, np.abs(d.qvel).max()) ** 2
    return {
        "M": relative(bare.mass_matrix(d.qpos), M),
        "bias": relative(bare.bias(d.qpos, d.qvel), d.qfrc_bias, usual),
        "tau": relative(tau, d.qfrc_actuator - carried),
        "a": relative(ours, d.qacc, 1.0),
    }, count


def reason(why: CatenaError, path: Path, folder: Path) -> str:
    """Why a file is refused, in one line and without the folder."""
    text = " ".join(str(why).split()).replace(f"{path}: ", "", 1)
    return text.replace(f"{folder}/", "")


def models(folder: Path, word: str) -> list[Path]:
    """The MJCF files of a folder."""
    return [
        p
        for p in sorted(folder.rglob("*.xml"))
        if word in str(p.relative_to(folder)) and b"<mujoco" in p.read_bytes()[:4096]
    ]


def shelved() -> Path | None:
    """The menagerie of the shelf."""
    found = [r for r in catena.robots().values() if r.source == "menagerie"]
    return found[0].file.parent.parent if found else None


def main(folder: Path | None, word: str = "") -> int:
    """Print the table; 1 where a difference is above the bound."""
    if folder is None:
        print("no copy of mujoco_menagerie is on the shelf; give its folder")
        return 0
    worst, count = 0.0, {"loaded": 0, "refused": 0}
    print(f"{'file':58} {'load s':>6} {'M':>8} {'bias':>8} {'tau':>8} {'a':>8}")
    for path in models(folder, word):
        name = str(path.relative_to(folder))
        begun = time.perf_counter()
        try:
            draft = drafted(path, mimic=False)
            draft.finish()
            taken = time.perf_counter() - begun
            found, missing = differences(path, draft)
        except CatenaError as why:
            count["refused"] += 1
            print(f"{name:58} refused: {reason(why, path, folder)}", flush=True)
            continue
        count["loaded"] += 1
        worst = max(worst, 0.0, *(x for k, x in found.items() if k in ("M", "bias") or not missing))
        numbers = " ".join(f"{x:8.1e}" for x in found.values())
        note = f"  *{missing}" if missing else ""
        print(f"{name:58} {taken:6.2f} {numbers}{note}", flush=True)
    print(f"{count['loaded']} loaded, {count['refused']} refused; worst difference {worst:.1e}")
    return int(worst > BOUND)


def tiny() -> int:
    """Compare one small file."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "small.xml").write_text(SMALL)
        return main(Path(folder))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    given = sys.argv[1:]
    status = (
        tiny() if "--tiny" in given else main(Path(given[0]) if given else shelved(), *given[1:2])
    )
    if status:
        sys.exit(status)
