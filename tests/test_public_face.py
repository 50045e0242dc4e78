"""The public face is one screen, and complete: what is announced exists, and nothing public is
missing from it.
"""

from __future__ import annotations

import configparser
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import catena
from catena import ALL_FORMULATIONS, Machine

ROOT = Path(__file__).parent.parent
MACHINE = """nq nv joint_names coordinate_names speed_names inverse_dynamics rnea forward_dynamics aba mass_matrix crba bias
gravity energy pose jacobian reactions coriolis_matrix momentum sample neutral function"""  # noqa: E501
FIXED = """load save Pose Body Joint Frame Mechanism derive Equations ALL_FORMULATIONS compile Machine simulate Result
load_result errors CatenaError"""  # noqa: E501


def test_the_face_is_one_screen():
    assert len(catena.__all__) == len(set(catena.__all__)) <= 60
    assert set(FIXED.split()) <= set(catena.__all__)


@pytest.mark.parametrize("name", catena.__all__)
def test_every_public_name_is_there_and_says_what_it_is(name):
    value = getattr(catena, name)
    if callable(value) or inspect.ismodule(value):
        assert (value.__doc__ or "").strip(), name


def test_dir_lists_the_face():
    assert set(catena.__all__) <= set(dir(catena))


def test_rooms_are_reached_from_the_top():
    code = """
import catena
assert "two_link_arm" in catena.formats.examples()
assert "revolute" in catena.JOINT_KINDS and "analysis" in dir(catena)
assert callable(catena.analysis.highest_frequency)
print(sorted({"assemble", "highest_frequency", "kinematics", "static_torques"} - set(dir(catena.analysis))))"""  # noqa: E501
    assert (
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout.strip()
        == "[]"
    )


def test_an_unknown_name_is_refused():
    with pytest.raises(AttributeError, match="module 'catena' has no attribute 'laod'"):
        catena.laod  # noqa: B018


def test_the_machine_has_what_is_promised():
    machine = catena.compile(catena.load("two_link_arm"))
    for name in MACHINE.split():
        assert hasattr(machine, name), name
    assert Machine.rnea is Machine.inverse_dynamics and Machine.aba is Machine.forward_dynamics
    assert Machine.crba is Machine.mass_matrix


def test_public_methods_have_docstrings():
    for kind in (
        catena.Mechanism,
        catena.Joint,
        catena.Body,
        catena.Pose,
        catena.Machine,
        catena.Equations,
    ):
        for name, value in inspect.getmembers(kind, callable):
            if not name.startswith("_"):
                assert (value.__doc__ or "").strip(), f"{kind.__name__}.{name}"


def test_every_error_is_a_catena_error():
    kinds = [
        x for x in vars(catena.errors).values() if isinstance(x, type) and issubclass(x, Exception)
    ]
    assert len(kinds) > 5
    for kind in kinds:
        assert issubclass(kind, (catena.CatenaError, Warning)), kind
        assert kind.__name__ in (catena.errors.__doc__ or "").split(), (
            f"{kind.__name__} is not drawn in the tree"
        )


def test_importing_catena_imports_no_compiler_and_no_algebra():
    heavy = ("llvmlite", "casadi", "sympy", "pint", "xarray", "matplotlib", "scipy")
    code = f"import sys, catena; print([m for m in {heavy!r} if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_a_first_run_imports_no_more_than_it_uses():
    """From a model without expressions to a result: no algebra, no tables of units, no datasets, no
    pictures.
    """
    heavy = ("sympy", "pint", "xarray", "pandas", "h5py", "matplotlib", "scipy")
    code = f"""
import sys
from catena import Body, Joint, Mechanism, compile, simulate
body = Body("bob", mass=1.0, com=(0, 0, -1), inertia=(0.1, 0.1, 0.1))
machine = compile(Mechanism("pendulum", bodies=[body], joints=[Joint("hinge", "revolute", parent="ground", child="bob", axis=(0, 1, 0))]))
machine.forward_dynamics([0.3], [0.0], [0.0])
simulate(machine, q=[0.3], until=0.1)
print([m for m in {heavy!r} if m in sys.modules])"""  # noqa: E501
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_the_import_contract_names_every_formulation():
    contract = configparser.ConfigParser()
    contract.read(ROOT / ".importlinter")
    listed = contract["importlinter:contract:siblings"]["modules"].split()
    assert sorted(listed) == sorted(
        f"catena.equations.formulations.{name}" for name in ALL_FORMULATIONS
    )


@pytest.mark.parametrize("name", ["bridge", "control", "errors", "events", "trajectories"])
def test_public_modules_can_be_imported_by_their_short_names(name):
    """`import catena.bridge`, as the docs write it: the module that the attribute is, in a process
    in which nothing else was asked for before.
    """
    code = (
        f"import catena.{name} as short, catena, sys\n"
        f"from catena.{name} import __doc__ as said\n"
        f"assert short is catena.{name} is sys.modules[short.__name__] and said\n"
        f"assert short.__spec__.name == short.__name__, short.__spec__\n"
        "try:\n    import catena.bridges\nexcept ModuleNotFoundError:\n    print('fine')\n"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert found.stdout == "fine\n", found.stderr


def test_public_signatures_are_those_of_the_file():
    """A change of what users rely on is made on purpose: `python tools/signatures.py --write`, and
    a line in CHANGELOG.md.
    """
    tool = ROOT / "tools" / "signatures.py"
    found = subprocess.run([sys.executable, str(tool)], capture_output=True, text=True)
    assert found.returncode == 0, found.stdout + found.stderr
