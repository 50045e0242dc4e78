"""Run options: one record per option, from which signature checks, files, flags, studies and the
fingerprint follow.
"""

import inspect
import re

import numpy as np
import pytest

import catena
from catena.cli import main
from catena.errors import FormatError, SimulationError
from catena.formats.toml import json_schema, markdown
from catena.results import load_result
from catena.simulation import RUN_OPTIONS, RunOption, RunOptions, simulate
from catena.simulation.output.fingerprint import key
from catena.simulation.planning import prepare
from catena.simulation.scenario import read
from catena.simulation.stepping.stepping_plan import DEFAULT_INTEGRATOR

PENDULUM = """
name = "pendulum"

[[body]]
name = "rod"
mass = 1.0
com = [0, 0, -0.5]
inertia = [0.1, 0.1, 0.01]

[[joint]]
name = "pin"
kind = "revolute"
parent = "ground"
child = "rod"
axis = [0, 1, 0]

[scenario]
until = "0.1 s"
"""


@pytest.fixture
def toy():
    """An option that was added from outside."""
    option = RunOption(
        "damping_of_toys", "how fast toys stop", float, 0.5, dimension="time", flag="How fast."
    )
    RUN_OPTIONS.register(option)
    yield option
    del RUN_OPTIONS[option.name]


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "pendulum.toml"
    path.write_text(PENDULUM)
    return path


def test_the_signature_of_simulate_is_that_of_the_records() -> None:
    written = {
        name: p.default
        for name, p in inspect.signature(simulate).parameters.items()
        if p.kind is p.KEYWORD_ONLY
    }
    assert list(written) == list(RUN_OPTIONS)
    assert written == {name: option.default for name, option in RUN_OPTIONS.items()}
    assert written == dict(RunOptions.of())
    assert written["integrator"] == DEFAULT_INTEGRATOR
    assert RunOptions.of(verify=np.bool_(True))["verify"]


def test_every_record_allows_its_default_and_is_documented() -> None:
    for option in RUN_OPTIONS.values():
        assert option.checked(option.default) == option.default, option.name
        assert option.doc and not option.doc.endswith("."), option.name
        assert not option.flag or option.type is not object, option.name
        assert re.search(rf"\b{option.name}\b", simulate.__doc__), option.name


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"tolerence": 1e-6}, r"no option 'tolerence' in simulate.*Did you mean 'tolerance'\?"),
        ({"tolerance": "1e-6"}, "tolerance = 1e-6; it lies between 1e-14 and 0.1"),
        ({"restitution": 2.0}, "restitution = 2.0; it lies between 0 and 1"),
        ({"limits": "stopp"}, r"no limits method 'stopp'.*Did you mean 'stop'\?"),
        ({"friction": 0.3}, "no friction '?0.3'?; frictions are: smooth, stick"),
        ({"contact": "event"}, r"no contact method 'event'.*Did you mean 'events'\?"),
        ({"integrator": "rk5"}, "no integrator 'rk5'"),
        ({"by": "kan"}, r"no formulation 'kan'.*Did you mean 'kane'\?"),
        ({"stabilise": "baumgart"}, r"no stabiliser 'baumgart'.*Did you mean 'baumgarte'\?"),
        ({"most_steps": 0}, "most_steps = 0; it is a whole number from 1 on"),
        ({"most_steps": np.inf}, "most_steps = inf; it is a whole number from 1 on"),
        ({"events": 3}, "events is a int; it is a list of records of catena.events"),
        ({"verify": "yes"}, "verify = 'yes'; it is true or false"),
        ({"threads": 1.5}, "threads is 1.5; it is a whole number from 1 on"),
    ],
)
def test_wrong_names_and_values_are_refused(given, message) -> None:
    with pytest.raises(catena.CatenaError, match=message):
        RunOptions.of(**given)


def test_options_of_a_formulation_are_kept_apart() -> None:
    options = RunOptions.of(by="penalty", beta=3.0, most_steps=1e6)
    assert options.of_formulation == {"beta": 3.0} and options["most_steps"] == 1_000_000
    assert RunOptions.of("penalty", beta=3.0)["by"] is None
    with pytest.raises(SimulationError, match=r"no option 'beta' in simulate\(by='kane'\)"):
        RunOptions.of("penalty", by="kane", beta=3.0)


@pytest.mark.parametrize("name", ["verify", "out", "resume", "progress"])
def test_options_of_one_call_are_refused_where_many_runs_are_made(name: str) -> None:
    m = catena.load("triple_pendulum")
    said = f"{name} belongs to one call of simulate; .* leave {name} out"
    with pytest.raises(SimulationError, match=said):
        catena.study(m, {"q.pin1": [0.1]}, measures="max(kinetic)", until=0.1, **{name: None}).run()
    with pytest.raises(SimulationError, match=said):
        catena.sensitivities(m, until=0.1, of="kinetic", with_respect_to="q.pin1", **{name: None})


def test_a_toy_option_is_taken_by_simulate_and_decides_the_fingerprint(toy, tmp_path) -> None:
    m = catena.load("triple_pendulum")
    plain = simulate(m, until=0.05, out=tmp_path / "r.nc")
    toyed = simulate(m, until=0.05, damping_of_toys=0.7)
    np.testing.assert_array_equal(toyed.q.values, plain.q.values)
    with pytest.raises(SimulationError, match="damping_of_toys = 'x'; it is a number"):
        simulate(m, until=0.05, damping_of_toys="x")
    with pytest.raises(SimulationError, match=r"Did you mean 'damping_of_toys'\?"):
        simulate(m, until=0.05, damping_of_toy=1.0)
    keys = [
        key(prepare(m, None, None, 0.05, RunOptions.of(**more)))
        for more in ({}, {"damping_of_toys": 0.5}, {"damping_of_toys": 0.7})
    ]
    assert keys[0] == keys[1]
    assert [name for name in keys[0] if keys[0][name] != keys[2][name]] == ["damping of toys"]
    with pytest.raises(catena.CatenaError, match="another run, whose damping of toys differs"):
        simulate(m, until=0.05, out=tmp_path / "r.nc", resume=True, damping_of_toys=0.7)


def test_a_toy_option_is_a_key_of_files(toy, file) -> None:
    assert "damping_of_toys" not in read(file).options
    file.write_text(PENDULUM + 'damping_of_toys = "20 ms"\n')
    assert read(file).options["damping_of_toys"] == pytest.approx(0.02)
    simulate(read(file).mechanism, **read(file).arguments)
    file.write_text(PENDULUM + 'damping_of_toys = "20 kg"\n')
    with pytest.raises(FormatError, match="damping_of_toys"):
        read(file)
    assert "| `damping_of_toys` | how fast toys stop | time | s | `0.5` |" in markdown()
    assert "damping_of_toys" in str(json_schema())


def test_a_toy_option_is_a_flag_and_an_option_of_studies(toy, file, tmp_path, capsys) -> None:
    for command in ("run", "sweep"):
        with pytest.raises(SystemExit):
            main([command, "--help"])
        assert "--damping-of-toys TIME" in capsys.readouterr().out
    out = tmp_path / "out"
    with pytest.raises(SystemExit) as end:
        main(["run", str(file), "--out", str(out), "--no-pictures", "--damping-of-toys", "1 s"])
    assert end.value.code == 0 and len(load_result(out / "results.nc").time) == 201
    study = catena.study(
        catena.load("triple_pendulum"),
        {"q.pin1": [0.1]},
        measures="max(kinetic)",
        until=0.05,
        damping_of_toys=2.0,
    )
    assert study.run().sizes["run"] == 1 and study.options["damping_of_toys"] == 2.0


def test_without_the_toy_nothing_knows_it(file) -> None:
    with pytest.raises(SimulationError, match="no option 'damping_of_toys'"):
        simulate(catena.load("triple_pendulum"), damping_of_toys=1.0)
    file.write_text(PENDULUM + "damping_of_toys = 1.0\n")
    with pytest.raises(FormatError, match="no key 'damping_of_toys'"):
        read(file)
