"""`catena mcp`: a client of the official SDK talks to the server; files stay in one folder."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import pytest

import catena
from catena.cli._mcp_tools import TOOLS, Workspace
from catena.errors import CatenaError

MODEL = """
name = "rod"
[[body]]
name = "rod"
mass = "1 kg"
com = [0, 0, -0.5]
inertia = [0.1, 0.1, 0.001]
[[joint]]
name = "pivot"
kind = "revolute"
parent = "ground"
child = "rod"
axis = [1, 0, 0]
"""


@pytest.mark.parametrize("file", ["../rod.toml", "/etc/passwd", "sub/../../rod.toml", "robot:../x"])
def test_files_elsewhere_are_refused(tmp_path, file):
    with pytest.raises(CatenaError, match="outside of the folder"):
        Workspace(tmp_path).place(file)


def test_options_cannot_be_smuggled_in(tmp_path):
    assert Workspace(tmp_path).place("--trust") == str(tmp_path / "--trust")
    assert Workspace(tmp_path).place("four_bar") == "four_bar"


def confined(folder, *words):
    return subprocess.run(
        [sys.executable, "-m", "catena.cli._confined", str(folder), *map(str, words)],
        capture_output=True,
        text=True,
    )


def test_a_command_opens_no_file_outside_of_its_folder(tmp_path):
    """Not by a link inside the folder either, and it writes nothing elsewhere."""
    from pathlib import Path

    inside = tmp_path / "inside"
    inside.mkdir()
    # not below the folder of temporary files, which every program may use
    outside = Path(__file__).parent / "__pycache__" / f"outside_{os.getpid()}"
    if Path(tempfile.gettempdir()).resolve() in outside.resolve().parents:
        pytest.skip("this checkout is below the folder of temporary files")
    outside.mkdir(parents=True)
    try:
        (outside / "rod.toml").write_text(MODEL)
        (inside / "rod.toml").write_text(MODEL)
        (inside / "link.toml").symlink_to(outside / "rod.toml")
        link = confined(inside, "info", "link.toml")
        assert link.returncode == 2 and "only files in" in link.stderr
        away = confined(inside, "convert", "rod.toml", outside / "copy.toml")
        assert away.returncode != 0 and not (outside / "copy.toml").exists()
        assert confined(inside, "info", "rod.toml").returncode == 0
    finally:
        for file in outside.iterdir():
            file.unlink()
        outside.rmdir()


def test_a_client_writes_a_model_runs_it_and_looks_at_it(tmp_path):
    pytest.importorskip("mcp")
    import asyncio

    from mcp import ClientSession, StdioServerParameters, stdio_client

    code = "from catena.cli import main; main()"
    server = StdioServerParameters(
        command=sys.executable, args=["-c", code, "mcp", str(tmp_path)], env=dict(os.environ)
    )

    async def talk():
        async with stdio_client(server) as (read, write), ClientSession(read, write) as client:
            await client.initialize()
            tools = (await client.list_tools()).tools
            assert tuple(t.name for t in tools) == TOOLS and all(t.description for t in tools)

            async def call(name, **arguments):
                answer = await client.call_tool(name, arguments)
                return answer.is_error, answer.content[0]

            failed, faults = await call("load", file="rod.toml", text=MODEL.replace("mass", "mas"))
            assert failed and "Did you mean 'mass'?" in faults.text
            failed, shown = await call("load", file="rod.toml", text=MODEL)
            assert not failed and "total mass 1 kg" in shown.text
            failed, run = await call(
                "simulate", file="rod.toml", until="0.2 s", q={"pivot": "30 deg"}
            )
            assert not failed and "energy balance" in run.text
            _, rows = await call("values", results="run", rows=3)
            _, picture = await call("picture", file="rod.toml")
            return rows.text, picture

    # in a thread of its own: other tests may have left an event loop running in this one
    with ThreadPoolExecutor(1) as pool:
        rows, picture = pool.submit(asyncio.run, talk()).result()
    assert picture.mime_type == "image/png" and len(picture.data) > 5000
    expected = catena.load_result(tmp_path / "run" / "results.nc").to_pandas()
    head, *lines = rows.splitlines()
    assert head.split(",")[1:3] == ["q pivot", "v pivot"]
    assert float(lines[-1].split(",")[1]) == expected["q pivot"].iloc[-1]


def test_a_request_that_takes_too_long_is_stopped(tmp_path):
    with pytest.raises(CatenaError, match="took more than 0.01 s"):
        Workspace(tmp_path, seconds=0.01).info("four_bar")
