"""The records of a file's keys and its readers agree: what is documented is read, and the JSON
Schema says the same.
"""

import json
import tomllib
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

import catena
from catena import cli, formats
from catena.env import environment_file
from catena.errors import FormatError
from catena.formats.toml import reader
from catena.formats.toml.json_schema import json_schema
from catena.formats.toml.key_reference import markdown
from catena.formats.toml.key_types import (
    ByName,
    Either,
    Expression,
    Flag,
    Inside,
    Map,
    Name,
    PerSpeed,
    Quantity,
    Several,
    Text,
    Vector,
    Whole,
    Word,
)
from catena.formats.toml.keys import TABLES, FileKey, FileTable, register
from catena.formats.toml.tables import FaultLedger, Table
from catena.formats.units import DIMENSIONS
from catena.model import validation
from catena.optimization import optimize_file
from catena.simulation.scenario.control import CONTROLLERS
from catena.simulation.scenario.motion import TRAJECTORIES
from catena.simulation.scenario.read import mechanism_of_table, read_table

DOCS = Path(__file__).parents[2] / "docs"
EXAMPLES = Path(catena.__file__).parent / "examples"
#
#     ground --hinge-- arm, its tip at x = 1 m        ground --slide-- cart
#
MODEL = tomllib.loads("""
name = "two bodies"
parameters = { size = "1 m" }
body = [{ name = "arm", mass = 1, com = [0.5, 0, 0], inertia = [0.1, 0.1, 0.1] }, { name = "cart", mass = 1, com = [0, 0, 0], inertia = [1, 1, 1] }]
joint = [{ name = "hinge", kind = "revolute", parent = "ground", child = "arm" }, { name = "slide", kind = "prismatic", parent = "ground", child = "cart" }]
frame = [{ name = "tip", body = "arm", at = [1, 0, 0] }]
""")  # noqa: E501
NAMES = {
    "frame": "tip",
    "body": "arm",
    "joint": "hinge",
    "coordinate": "hinge",
    "speed": "hinge",
    "named state": "home",
    "lock": "hinge",
}
GIVEN = {  # values where the type alone leaves room for nonsense
    "beam.ends": "clamped-free",
    "beam.modes": 2,
    "function.x": [],
    "wrenches.file": "plates.csv",
    "csv.file": "path.csv",
    "fmu.file": "unit.fmu",
    "include.file": "part.toml",
    "include.prefix": "left_",
    "include.parameters": {"w": 2.0},
    "scenario.initial": {"q": {"hinge": 0.1}},
    "scenario.parameters": {"size": 2.0},
    "optimize.design": {"size": [1, 2]},
    "optimize.bounds": {"q.hinge": ["-1 rad", "1 rad"]},
    "optimize.until": "2 s",
    "scenario.states": {"home": {"q": {"hinge": 0.1}}},
    "impulse.axes": "world",
    "joint.axis": [0, 0, 1],
    "loop.axis": [0, 0, 1],
    "rotation.quaternion": [1, 0, 0, 0],
    "rotation.matrix": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    "contact.surface": "plane",
    "contact.between": ["tip", "ground"],
    "compliant_contact.surface": "ground",
    "contact.clearance": 0,
    "scenario.output": "0.1 s",
    "scenario.events": [{"event": "when", "at": 1.0}],
    "scenario.signals": {"motor": 1.0},
    "inertia": {"xx": 1, "yy": 1, "zz": 1},
    "joint.sequence": ["Rx"],
    "loop.sequence": ["Rx"],
    "actuator.gear": {"hinge": 2},
    "dc_motor.gear": {"hinge": 2},
    "actuator.signals": [-1, 1],
    "actuator.forces": [-1, 1],
    "control.control": {},
    "expressions": {},
    "scenario file.mechanism": "model.toml",
    "mechanism.file": "model.toml",
    "mechanism.companion": "companion.toml",
    "file.collisions": {},
    "file.expressions": {"area": "size^2"},
    "companion.expressions": {"area": "2*3"},
    "companion.parameters": {"k": 2.0},
    "file.parameters": {"size": "1 m"},
    "file.notes": ["made by hand"],
    "times": [0.0, 1.0],
    "locked": ["slide"],
    "child": "cart",
    "floating": False,
    "cam.follower": "slide",
    "cam.angles": [0, 1, 2, 6],
    "cam.lifts": [0, 1, 2, 0],
    "state.signals": {"motor": 1.0},
    "optimize.over": {"hinge": "0..90 deg:3"},
    "sensor.at": "hinge",
    "sensor.range": [0, 1],
    "drive.inertia": 0.1,
}
_HEAT = {"heating": 1.0, "cooling": "1 s", "hottest": 90.0, "effort": 1.0}
TOGETHER = {  # what else a key needs
    "drive.speed": {"effort": 1.0},
    "drive.curve": {"effort": 1.0},
    "drive.stiffness": {"inertia": 0.1},
    "drive.backlash": {"stiffness": 100.0, "inertia": 0.1},
    "drive.delay": {"sample": "1 s"},
    "drive.heating": _HEAT,
    "drive.cooling": _HEAT,
    "drive.hottest": _HEAT,
}


# --- values and tables
def example(type, where=""):
    """A value that a reader takes."""
    for given in (where, where.partition(".")[2]):
        if given in GIVEN:
            return GIVEN[given]
    match type:
        case Name(of=of):
            return NAMES.get(of, next((x for word, x in NAMES.items() if word in of), "arm"))
        case Word():
            return type.all()[0]
        case Text():
            return "some text"
        case Flag():
            return True
        case Whole():
            return 3
        case PerSpeed(measures=(_, turns)):
            return DIMENSIONS[turns].example
        case Quantity(dimension=d, also=also):
            return 0.5 if d in ("number", "any") else DIMENSIONS[also or d].example
        case Expression(only_text=only):
            return "0.5" if only else 0.5
        case Vector(dimension=d, names=names):
            return [
                example(Quantity(x)) for x in (d if isinstance(d, tuple) else (d,) * len(names))
            ]
        case Several(item=item, least=least):
            return [example(item)] * (least or 1)
        case ByName(lists=lists):
            return {"hinge": [0.0, 0.5]} if lists else {"hinge": 0.5}
        case Map(value=value):
            return {"hinge": example(value)}
        case Inside(table=name, many=many):
            table = TABLES[name]
            kind = next(iter(table.kinds())) if table.kinds else None
            return [minimal(table, kind)] if many else minimal(table, kind)
        case Either(types=types):
            return example(types[0])
    raise AssertionError(f"no example of {type!r}")


def wrong(type):
    """A value that no reader takes at that type."""
    return (
        "perhaps"
        if isinstance(type, Flag)
        or (isinstance(type, Either) and any(isinstance(x, Flag) for x in type.types))
        else True
    )


def keys_of(table, kind):
    return table.of_kind(kind) if kind else table.keys


def minimal(table, kind=None):
    """The smallest table that a reader takes."""
    if table.name in GIVEN:
        return dict(GIVEN[table.name])
    alternatives = kind.alternatives if kind else table.alternatives
    first = [alternatives[0]] if alternatives else []
    wanted = {name for group in first for name in group} | (
        {"com", "inertia"} if table.name == "body" else set()
    )
    wanted |= (
        {"EI"}
        if table.name == "beam"
        else (
            {"frame"}
            if kind and kind.name == "impulse"
            else {"joint"}
            if kind and kind.name == "lock"
            else set()
        )
    )
    found = {
        key.name: example(key.type, where(table, kind, key))
        for key in keys_of(table, kind)
        if key.needed or key.name in wanted
    }
    if table.name in ("joint", "loop"):
        found |= {"name": "extra", "kind": "revolute"}
    own = {"companion body": "arm", "companion joint": "hinge"}.get(table.name, "thing")
    return found | ({"name": own} if found.get("name") else {})


def where(table, kind, key):
    return f"{kind.name if kind else table.name}.{key.name}"


def with_key(table, kind, key, value):
    """The smallest table with that key, and without what it excludes."""
    given = minimal(table, kind)
    for group in (alternatives := kind.alternatives if kind else table.alternatives):
        if key.name in group:
            given = {
                k: x
                for k, x in given.items()
                if not any(k in other for other in alternatives if other != group)
            }
            given |= {
                k: example(found.type, where(table, kind, found))
                for k in group
                for found in keys_of(table, kind)
                if found.name == k
            }
    if table.name == "body" and key.name == "flexible":
        given = {"name": "thing"}
    if key.kinds is not None:
        given["kind"] = next(iter(key.kinds()))
    if key.name == "frame" and kind and kind.name == "lock":
        del given["joint"]
    if table.name == "mimic" and key.name == "function":
        given = {"joint": "hinge"}
    return given | TOGETHER.get(where(table, kind, key), {}) | {key.name: value}


# --- where each table stands
# what has signals
MOTOR = {"kind": "actuator", "name": "motor", "gear": {"hinge": 1.0}}


def host(name, t):
    """A whole file that holds that table."""
    body = MODEL["body"][0]
    joint = MODEL["joint"][0]
    many = lambda key: MODEL | {key: [*MODEL.get(key, []), t]}  # noqa: E731
    run = lambda **keys: MODEL | {"scenario": {"until": 1.0, **keys}}  # noqa: E731
    places = {
        "file": lambda: MODEL | t,
        "environment": lambda: MODEL | {"environment": t},
        "sensor": lambda: many("sensor"),
        "companion": lambda: t,
        "companion body": lambda: {"body": [t]},
        "companion joint": lambda: {"joint": [t]},
        "scenario file": lambda: t,
        "mechanism": lambda: {"mechanism": t, "scenario": {"until": 1}},
        "inertia": lambda: MODEL | {"body": [body | {"inertia": t}]},
        "shape": lambda: MODEL | {"body": [body | {"shapes": [t]}]},
        "beam": lambda: many("body") | {"body": [{"name": "thing", "flexible": t}]},
        "bending": lambda: host("beam", minimal(TABLES["beam"]) | {"EI": t}),
        "modes": lambda: host("beam", {**_modal(), "modes": t}),
        "rotation": lambda: MODEL | {"frame": [{"name": "thing", "body": "arm", "rotate": t}]},
        "contact.friction": lambda: (
            MODEL | {"contact": [{"between": ["tip", "ground"], "restitution": 0, "friction": t}]}
        ),
        "limits": lambda: MODEL | {"joint": [joint | {"limits": t}]},
        "dh": lambda: MODEL | {"joint": [joint | {"dh": t}]},
        "mimic": lambda: (
            MODEL | {"joint": [joint, MODEL["joint"][0] | {"name": "second", "mimic": t}]}
        ),
        "function": lambda: host("mimic", {"joint": "hinge", "function": t}),
        "collisions": lambda: MODEL | {"collisions": t},
        "scenario": lambda: (
            MODEL | {"scenario": ({"control": MOTOR} if "signals" in t else {}) | t}
        ),
        "control": lambda: run(control=t),
        "motion": lambda: run(motion=t),
        "events": lambda: run(events=_events(t)),
        "trajectory": lambda: run(
            control={"kind": "computed_torque", "kp": 1, "kd": 1, "trajectory": t}
        ),
        "initial": lambda: run(initial=t),
        "state": lambda: run(initial="home", states={"home": t}, control=MOTOR),
        "optimize": lambda: MODEL | {"optimize": t},
        "end": lambda: MODEL | {"optimize": {"until": 1, "end": t}},
    }
    return places[name]() if name in places else many(name)


def _modal():
    return {key: x for key, x in minimal(TABLES["beam"]).items() if key != "segments"}


def _events(t):
    """A release needs its lock."""
    return [{"event": "lock", "joint": "hinge", "at": 0.5}, t]


def faults(name, data, folder, good=False):
    """What the reader of that table finds wrong in a file; and where it finds nothing in one that
    is not good, what validation finds.
    """
    path = folder / "model.toml"
    top = Table(data, "", FaultLedger())
    try:
        if name.startswith("companion"):
            (folder / "extra.toml").write_text(_toml(data))
            formats.drafted(folder / "model.toml", companion=folder / "extra.toml").finish()
            return []
        if name in ("mechanism", "scenario file"):
            found = mechanism_of_table(path.with_name("run.toml"), top)
        else:
            draft = reader.draft(path, top)
            if draft.faults or not {"scenario", "optimize", "environment"} & data.keys():
                return draft.faults or ([] if good else list(validation.faults(draft.mechanism)))
            found = draft.finish()
        if name == "environment":
            environment_file._read(Table(data["environment"], "environment", top.ledger), found)
        elif name in ("optimize", "end"):
            table = Table(data["optimize"], "optimize", top.ledger)
            optimize_file._read(table, found)
        elif "scenario" in data:
            read_table(path, top, found, trusted=True)
        return top.ledger.faults
    except FormatError as why:
        return why.faults or [str(why)]


def _toml(x):
    """A value as TOML writes it; a file is a table of such values."""

    def inline(v):
        return (
            f"{{ {', '.join(f'{json.dumps(k)} = {inline(y)}' for k, y in v.items())} }}"
            if isinstance(v, dict)
            else (f"[{', '.join(map(inline, v))}]" if isinstance(v, list) else json.dumps(v))
        )

    return "".join(f"{json.dumps(k)} = {inline(v)}\n" for k, v in x.items())


def _no_line(mechanism, frame, to, *, times, start=None, law="quintic", upright=False):
    """In place of a line, whose inverse kinematics are not asked here."""
    return catena.trajectories.constant({"hinge": 0.0})


def _no_unit(file, inputs, outputs, sample, parameters=None):
    """In place of a program that is not asked here."""
    return catena.control.Forces(catena.trajectories.constant({"hinge": 0.0}))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    here = tmp_path_factory.mktemp("keys")
    (here / "model.toml").write_text(_toml(MODEL))
    (here / "companion.toml").write_text("gravity = [0, 0, 0]\n")
    (here / "part.toml").write_text(_toml(MODEL | {"parameters": {"w": 1.0}}))
    (here / "path.csv").write_text("time,hinge\n0,0\n1,0.5\n")
    (here / "plates.csv").write_text("time,tip.fx,tip.fy,tip.fz\n0,0,0,0\n1,0,0,1\n")
    line = TRAJECTORIES["line"]
    unit = CONTROLLERS["fmu"]
    TRAJECTORIES["line"], CONTROLLERS["fmu"] = (
        replace(line, make=_no_line),
        replace(unit, make=_no_unit),
    )
    yield here
    TRAJECTORIES["line"], CONTROLLERS["fmu"] = line, unit


@pytest.fixture(scope="module")
def schemas():
    return {
        companion: jsonschema.Draft202012Validator(json_schema(companion))
        for companion in (False, True)
    }


# --- the theorems
@pytest.mark.parametrize("name", list(TABLES))
def test_every_documented_key_is_read(name, folder, schemas):
    """An example of each key is taken by the reader and by the schema; a value of another type is
    refused by both, by the key's name.
    """
    table = TABLES[name]
    schema = schemas[name.startswith("companion")]
    for kind in list(table.kinds()) if table.kinds else [None]:
        for key in keys_of(table, kind):
            what = where(table, kind, key)
            good = host(name, with_key(table, kind, key, example(key.type, what)))
            assert faults(name, good, folder, good=True) == [], what
            assert schema.is_valid(good), (what, [e.message for e in schema.iter_errors(good)])
            bad = host(name, with_key(table, kind, key, wrong(key.type)))
            assert any(key.name in fault for fault in faults(name, bad, folder)), what
            assert not schema.is_valid(bad), what


@pytest.mark.parametrize("name", list(TABLES))
def test_a_key_without_a_record_is_refused(name, folder, schemas):
    """By the reader, with the nearest name, and by the schema: so that every key that a reader
    takes has a record.
    """
    table = TABLES[name]
    schema = schemas[name.startswith("companion")]
    for kind in list(table.kinds()) if table.kinds else [None]:
        known = keys_of(table, kind)[-1].name
        bad = host(name, minimal(table, kind) | {f"{known}x": 1})
        found = faults(name, bad, folder)
        assert any(f"{known}x" in fault for fault in found), (name, kind and kind.name, found)
        assert not schema.is_valid(bad), (name, kind and kind.name)


@pytest.mark.parametrize("name", list(TABLES))
def test_what_is_needed_is_needed(name, folder, schemas):
    table = TABLES[name]
    schema = schemas[name.startswith("companion")]
    for kind in list(table.kinds()) if table.kinds else [None]:
        for key in keys_of(table, kind):
            # it says what the file is
            if (
                key.needed
                and not (key.name == table.word and table.otherwise)
                and where(table, kind, key) != "scenario file.mechanism"
            ):
                given = {k: x for k, x in minimal(table, kind).items() if k != key.name}
                bad = host(name, given)
                assert any(key.name in fault for fault in faults(name, bad, folder)), (
                    where(table, kind, key),
                    faults(name, bad, folder),
                )
                assert not schema.is_valid(bad), where(table, kind, key)


def test_every_key_has_a_sentence():
    for table in TABLES.values():
        for key in (
            *table.keys,
            *(key for kind in (table.kinds() if table.kinds else ()) for key in kind.keys),
        ):
            assert key.doc, (table.name, key.name)
        assert table.doc and all(kind.doc for kind in (table.kinds() if table.kinds else ())), (
            table.name
        )


def test_every_built_in_example_is_valid(schemas):
    jsonschema.Draft202012Validator.check_schema(json_schema())
    for file in sorted(EXAMPLES.glob("*.toml")):
        errors = [
            f"{e.json_path}: {e.message}"
            for e in schemas[False].iter_errors(tomllib.loads(file.read_text()))
        ]
        assert errors == [], file.name


def test_every_block_of_the_manual_is_valid(schemas):
    """Whole models in the documentation, which begin with a name."""
    blocks = [b for page in DOCS.glob("*.md") for b in page.read_text().split("```toml\n")[1:]]
    whole = [block for block in (b.split("\n```")[0] for b in blocks) if block.startswith("name =")]
    assert len(whole) >= 2
    for block in whole:
        assert [e.message for e in schemas[False].iter_errors(tomllib.loads(block))] == []


def test_a_table_from_outside_is_in_the_schema_and_on_the_page():
    toy = register(
        FileTable(
            "toy",
            "[toy]",
            "A table from outside.",
            (FileKey("weight", Quantity("mass"), "how heavy", 2.0),),
        )
    )
    try:
        assert (
            json_schema()["$defs"]["toy"]["properties"]["weight"]["description"]
            == "How heavy (kg). Default: 2."
        )
        assert "| `weight` | how heavy | mass | kg | `2` |" in markdown()
    finally:
        del TABLES[toy.name]


def test_the_command_writes_both_schemas_and_the_page(tmp_path, capsys):
    for more, has in (((), "scenario file"), (("--companion",), "companion")):
        with pytest.raises(SystemExit) as left:
            cli.main(["schema", *more, "--out", str(tmp_path / "made.json")])
        assert not left.value.code
        made = json.loads((tmp_path / "made.json").read_text())
        assert made == json.loads(json.dumps(json_schema(bool(more)))) and has.replace(
            " ", "%20"
        ) in json.dumps(made)
    with pytest.raises(SystemExit):
        cli.main(["schema", "--form", "markdown"])
    assert capsys.readouterr().out.endswith(markdown().rstrip("\n") + "\n")


def test_the_page_of_keys_is_up_to_date():
    """`catena schema --form markdown --out docs/file_keys.md` writes it."""
    assert (DOCS / "file_keys.md").read_text() == markdown().rstrip("\n") + "\n"
