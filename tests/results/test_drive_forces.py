"""The forces of drives among the constraints: multipliers that are torques."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import cumulative_simpson

import catena
from catena import simulate
from catena.model.loads import Drive
from catena.simulation.scenario import read


@pytest.fixture(scope="module")
def cam():
    asked = read("cycloidal_cam")
    return simulate(asked.mechanism, asked.q, asked.v, until=1.0, output=2e-3)


def test_the_work_of_a_drive_is_the_change_of_energy(cam):
    force = cam.drive_forces()
    assert force["driven"].values.tolist() == ["shaft"]
    assert force["drive_unit"].values.tolist() == ["N m"]
    assert np.abs(force.values).max() == pytest.approx(0.0887, abs=1e-4)
    work = cumulative_simpson(20.0 * force.values[:, 0], x=cam.time, initial=0.0)
    energy = (cam.data["kinetic"] + cam.data["potential"]).values
    np.testing.assert_allclose(energy - energy[0], work, atol=1e-4 * np.ptp(energy))


def test_plot_and_table_show_it(cam):
    figure = cam.plot("torques")
    (line,) = figure.axes[0].get_lines()
    assert line.get_label() == "shaft (drive 'motor')"
    np.testing.assert_array_equal(line.get_ydata(), cam.drive_forces().values[:, 0])
    assert cam.to_pandas()["drive motor"].abs().max() == pytest.approx(0.0887, abs=1e-4)
    chosen = cam.plot("torques", only=["motor"])
    assert len(chosen.axes[0].get_lines()) == 1


def test_the_studio_has_a_series_of_it(cam):
    from catena.results.scene import describe
    from catena.studio.run_series import film_of, series_of

    names, numbers = series_of(cam, film_of(cam, describe(cam.mechanism)))
    k = [row["name"] for row in names].index("shaft (drive 'motor')")
    assert names[k]["unit"] == "N m" and np.abs(numbers[k + 1]).max() == pytest.approx(0.0887, 1e-2)


def test_a_run_without_drives_has_none_and_says_so():
    run = simulate(catena.load("pendulum"), until=0.1)
    assert run.drive_forces().shape[-1] == 0
    assert "No joint is driven" in run.plot("torques").texts[0].get_text()


def test_a_drive_that_others_repeat_is_not_determined():
    """Two drives at both ends of a train of gears: how they share the load is not known."""
    asked = read("cycloidal_cam")
    m = asked.mechanism
    profile = m.constraints[0].profile.replace("angle", "speed*t")
    second = Drive("second", coordinate="guide", motion=profile)
    run = simulate(m.with_(constraints=(*m.constraints, second)), asked.q, asked.v, until=0.05)
    assert np.isnan(run.drive_forces().values).any(axis=-1).any()


def test_of_many_runs():
    asked = read("cycloidal_cam")
    values = {"h": np.array([0.01, 0.012])}
    runs = simulate(asked.mechanism, asked.q, asked.v, until=0.05, parameters=values)
    one = simulate(
        asked.mechanism.with_(parameters={**asked.mechanism.parameters, "h": 0.012}),
        asked.q,
        asked.v,
        until=0.05,
    )
    np.testing.assert_allclose(runs.drive_forces().values[1], one.drive_forces().values, atol=1e-8)
