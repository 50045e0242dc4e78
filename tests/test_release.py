"""What a release consists of: one version everywhere, a recipe for conda, a paper whose claims have
scripts.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
LATEST = re.search(r"^## \[(\d+\.\d+\.\d+)\] - (\S+)$", (ROOT / "CHANGELOG.md").read_text(), re.M)


def test_the_latest_release_has_one_version_and_one_date():
    assert LATEST is not None
    version, date = LATEST.groups()
    citation = (ROOT / "CITATION.cff").read_text()
    assert f"\nversion: {version}\n" in citation and f"\ndate-released: {date}\n" in citation
    assert f'set version = "{version}"' in (ROOT / "recipe" / "meta.yaml").read_text()


def test_the_recipe_renders_and_needs_what_the_package_needs():
    jinja2 = pytest.importorskip("jinja2")
    yaml = pytest.importorskip("yaml")
    text = (ROOT / "recipe" / "meta.yaml").read_text()
    known = {"PYTHON": "python", "python_min": PROJECT["requires-python"].removeprefix(">=")}
    template = jinja2.Environment(undefined=jinja2.StrictUndefined).from_string(text)
    recipe = yaml.safe_load(template.render(known))
    assert recipe["build"]["noarch"] == "python"
    own = {"matplotlib-base": "matplotlib"}  # the name on conda-forge of a package without Qt
    rows = [need.split() for need in recipe["requirements"]["run"]]
    needs = {own.get(name, name) + bound for name, bound in rows if name != "python"}
    assert needs == set(PROJECT["dependencies"])
    assert [f"{name} = {place}" for name, place in PROJECT["scripts"].items()] == recipe["build"][
        "entry_points"
    ]


def test_the_paper_cites_what_its_bibliography_has_and_names_scripts_that_exist():
    paper = (ROOT / "paper" / "paper.md").read_text()
    library = (ROOT / "paper" / "paper.bib").read_text()
    keys = set(re.findall(r"^@\w+\{(\w+),", library, re.M))
    assert set(re.findall(r"@(\w+)", paper.split("---", 2)[2])) == keys
    scripts = re.findall(r"`((?:benchmarks|tests)/[\w/.]+)`", paper)
    assert scripts and all((ROOT / script).exists() for script in scripts)


def test_the_package_is_typed_and_its_metadata_say_so():
    assert (ROOT / "src" / "catena" / "py.typed").exists()
    assert "Typing :: Typed" in PROJECT["classifiers"]
