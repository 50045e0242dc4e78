"""Forces that pictures show: contacts and joints obey Newton's law for the body they act on, and
reach the pages that draw them.
"""

from __future__ import annotations

import base64
import json
import re

import numpy as np
import pytest

import catena
from catena.results.animation import animate
from catena.results.forces import forces
from catena.results.result import Result
from catena.results.scene import describe
from catena.simulation.scenario import read


@pytest.fixture(scope="module")
def gripped():
    """A ball between two jaws, each on a slide."""
    asked = read("gripper", until=0.05)
    return catena.simulate(
        asked.mechanism, q=asked.q, v=asked.v, until=asked.until, **asked.options
    )


def test_friction_carries_a_gripped_ball(gripped):
    """The ball rests: the pushes of both jaws are its weight, half from each; the jaws press with
    10 N.
    """
    found = forces(gripped)
    push = (
        np.array(
            [[1.0 if found_first(gripped, name) == "ball" else -1.0] for name in found.contacts]
        )
        * found.push
    )
    np.testing.assert_allclose(
        push.sum(axis=1)[1:], [[0.0, 0.0, 0.5 * 9.81]] * (len(found.times) - 1), atol=1e-6
    )
    np.testing.assert_allclose(np.abs(push[1:, :, 0]), 10.0, atol=1e-6)
    assert not found.said and list(found.joints) == [j.name for j in gripped.mechanism.joints]


def found_first(result, name):
    from catena.collision.contact_points import contact_points

    return next(p.body for p in contact_points(result.mechanism) if p.name == name)


def test_a_jaw_s_slide_carries_what_the_contact_does_to_it(gripped):
    """Across its slide a jaw does not move: the joint holds its weight and the push of the ball."""
    found = forces(gripped)
    m = gripped.mechanism
    slide = m.joints[0]
    jaw = m.body(slide.child)
    k = next(
        k
        for k, name in enumerate(found.contacts)
        if jaw.name in name or jaw.name == found_first(gripped, name)
    )
    sign = 1.0 if found_first(gripped, found.contacts[k]) == jaw.name else -1.0
    up = found.pull[:, list(found.joints).index(slide.name), 2] + sign * found.push[:, k, 2]
    np.testing.assert_allclose(up, float(jaw.mass) * 9.81, atol=1e-6)


def test_the_player_holds_them(gripped, tmp_path):
    page = animate(gripped, tmp_path / "grip.html").read_text()
    data = json.loads(re.search(r'id="film">(.*?)</script>', page, re.S).group(1))
    own = forces(gripped)
    numbers = np.frombuffer(base64.b64decode(data["pushes"]), "<f4").reshape(len(own.times), -1)
    assert data["forces"]["joints"] == list(own.joints) and data["forces"]["contacts"] == list(
        own.contacts
    )
    np.testing.assert_allclose(
        numbers[:, -own.push[0].size :], own.push.reshape(len(own.times), -1), rtol=1e-6
    )


def test_where_they_are_not_known_it_is_said(gripped):
    """By time stepping the forces in joints are not known: the contacts are, and a sentence says
    why.
    """
    stepped = Result(
        gripped.data.assign(contact_residual=("time", np.zeros(len(gripped.time)))),
        gripped.ledger,
        gripped.model,
    )
    found = forces(stepped)
    assert (
        "by time stepping are not known yet" in found.said and not found.joints and found.push.any()
    )
    head, numbers = found.wire(describe(stepped.mechanism))
    assert head["said"] == found.said and len(numbers) == 4 * len(head["times"]) * 6 * len(
        head["contacts"]
    )
