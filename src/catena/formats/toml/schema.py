"""The tables of a mechanism's file and their keys. `docs/file_keys.md` and the JSON Schema are made
from these records.

Loads, rows, constraints and shapes have the keys of their kinds, from the registries of the model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, fields
from typing import Any

from ...model import (
    COORDINATE_FUNCTION_KINDS,
    DIRECTIONS,
    GRAVITY,
    GROUND,
    IMPACT_LAWS,
    MEASURES,
    ORDERS,
    PARADOX,
    SENSOR_KINDS,
    SURFACES,
    Beam,
    Contact,
    joint_kinds,
    shapes,
)
from ...model.loads import CONSTRAINTS, LOADS, ROWS, Key, Keyed
from .key_types import (
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
    Type,
    Vector,
    Whole,
    Word,
)
from .keys import FileKey, FileKind, FileTable, default_of, first_sentence, register

ROTATIONS = (("rpy",), ("quaternion",), ("axis", "angle"), ("matrix",))
_NAME = FileKey(
    "name", Text(), "what it is called everywhere else; unique among its kind", needed=True
)
_PLACE = (
    FileKey("at", Vector(), "position of its origin", (0, 0, 0)),
    FileKey("rotate", Inside("rotation"), "orientation of its axes", shown="not turned"),
)
_ROWS3 = Several(Vector("number", symbolic=True), 3, 3)

# --- the file itself
TOP = register(
    FileTable(
        "file",
        "at the top",
        "The file as a whole.",
        (
            FileKey("name", Text(), "what the mechanism is called", shown="the file's name"),
            FileKey(
                "gravity",
                Vector("acceleration"),
                "acceleration of free fall in the ground's axes",
                GRAVITY,
            ),
            FileKey(
                "planar",
                Flag(),
                "true: all motion is in one plane, which is checked; false: treat it as spatial",
                shown="found out",
            ),
            FileKey(
                "as_found",
                Flag(),
                "an inertia that no body can have is a doubt, not a fault",
                False,
            ),
            FileKey("notes", Several(Text()), "what the reader of another format remarked"),
            FileKey(
                "cut",
                Several(Name(of="joint")),
                "the joints that close loops, where joints form cycles",
                shown="found out",
            ),
            FileKey(
                "parameters",
                Map("name", Quantity("any", symbolic=False)),
                "values that stay free, for expressions to use",
            ),
            FileKey(
                "expressions",
                Map("name", Expression("parameters, t, q_NAME, v_NAME and those above")),
                "named parts of expressions",
            ),
            FileKey("body", Inside("body", many=True), "the bodies"),
            FileKey(
                "joint", Inside("joint", many=True), "the joints of the tree, each with its child"
            ),
            FileKey("frame", Inside("frame", many=True), "named places on bodies"),
            FileKey("loop", Inside("loop", many=True), "joints that close the tree"),
            FileKey("load", Inside("load", many=True), "springs, forces and whatever else acts"),
            FileKey("row", Inside("row", many=True), "what speeds obey"),
            FileKey("constraint", Inside("constraint", many=True), "what coordinates obey"),
            FileKey(
                "ground",
                Inside("ground", many=True),
                "shapes of what stands still; they collide unless they say otherwise",
            ),
            FileKey(
                "collisions",
                Inside("collisions"),
                "which pairs of shapes are looked at",
                shown="all but neighbours",
            ),
            FileKey(
                "check_dimensions",
                Flag(),
                "false: a parameter without unit may be used as different quantities, such as a"
                " mass and, times a length of 1, an inertia",
                True,
            ),
            FileKey("contact", Inside("contact", many=True), "what touches rigidly"),
            FileKey("sensor", Inside("sensor", many=True), "what is measured"),
            FileKey("include", Inside("include", many=True), "other files in this scene"),
            FileKey("scenario", Inside("scenario"), "how it is run"),
            FileKey(
                "optimize", Inside("optimize"), "the motion of least cost that is wanted of it"
            ),
            FileKey("environment", Inside("environment"), "a task for a learner"),
        ),
    )
)

# --- bodies, frames, shapes
INERTIA = ("xx", "xy", "xz", "yy", "yz", "zz")
INERTIA_TABLE = register(
    FileTable(
        "inertia",
        "inertia = { ... }",
        "The inertia about the centre of mass, by the names of its entries.",
        tuple(
            FileKey(
                k,
                Quantity("inertia"),
                f"entry {k} of the matrix" + ("" if k[0] == k[1] else f", and {k[::-1]}"),
                None if k[0] == k[1] else 0,
                k[0] == k[1],
            )
            for k in INERTIA
        ),
    )
)
_INERTIAS = Either(
    (
        Vector("inertia", ("xx", "yy", "zz")),
        Vector("inertia", INERTIA),
        Several(Vector("inertia"), 3, 3),
        Inside("inertia"),
    )
)
BODY = register(
    FileTable(
        "body",
        "[[body]]",
        "A body, rigid unless it has a beam. Its frame sits at its joint.",
        (
            FileKey("name", Text(), "what it is called; `ground` is taken", needed=True),
            FileKey("mass", Quantity("mass"), "zero or more", shown="needed, unless flexible"),
            FileKey(
                "com",
                Vector(),
                "centre of mass in the body's frame",
                shown="needed, unless without mass",
            ),
            FileKey(
                "inertia",
                _INERTIAS,
                "about the centre of mass, in the body's axes",
                shown="needed, unless without mass",
            ),
            FileKey(
                "shapes", Inside("shape", many=True), "what is drawn of it, and what of it collides"
            ),
            FileKey(
                "flexible",
                Inside("beam"),
                "a beam in place of mass, com and inertia",
                shown="rigid",
            ),
        ),
        alternatives=(("mass",), ("flexible",)),
    )
)

_COUNT = Whole(1)


def _ends() -> list[str]:
    from ...model.flexible import CRAIG_BAMPTON, ENDS, WORDS

    return [*ENDS, CRAIG_BAMPTON, *WORDS]


_SHAPES = Several(Expression("x (m) and L", only_text=True))
BEAM = register(
    FileTable(
        "beam",
        "flexible = { ... }",
        "A beam along the x axis of its body; a stiffness that is left out is infinite.",
        (
            FileKey("kind", Word(("beam",)), "the kind of flexible body", needed=True),
            FileKey("length", Quantity("length"), "from x = 0 to its tip", needed=True),
            FileKey(
                "EI",
                Either(
                    (
                        Quantity("bending stiffness"),
                        Vector("bending stiffness", ("along y", "along z")),
                        Inside("bending"),
                    )
                ),
                "bending stiffness: one value bends in the plane of a planar mechanism, else along"
                " y and z alike",
                shown="rigid",
            ),
            FileKey("EA", Quantity("force"), "stiffness against stretching", shown="rigid"),
            FileKey("GJ", Quantity("bending stiffness"), "stiffness against twist", shown="rigid"),
            FileKey("rhoA", Quantity("line density"), "mass per length", needed=True),
            FileKey(
                "rhoJ",
                Quantity("line inertia"),
                "polar mass moment of inertia per length",
                default_of(Beam, "rhoJ"),
            ),
            FileKey(
                "damping",
                Quantity("number"),
                "damping ratio of the first mode of each kind, clamped at x = 0",
                default_of(Beam, "damping"),
            ),
            FileKey(
                "segments", _COUNT, "how many rigid pieces with springs between them stand for it"
            ),
            FileKey(
                "modes",
                Either((_COUNT, Inside("modes"))),
                "how many shapes stand for it: along y and z, or by direction",
            ),
            FileKey(
                "ends",
                Word(_ends),
                "how it is held, which chooses the shapes",
                default_of(Beam, "ends"),
            ),
            FileKey(
                "shapes",
                Either((_SHAPES, Map("direction", _SHAPES))),
                "shapes of your own in place of those",
            ),
            FileKey(
                "stiffening",
                Flag(),
                "whether tension stiffens it, by modes",
                default_of(Beam, "stiffening"),
            ),
        ),
        alternatives=(("segments",), ("modes",)),
    )
)
BENDING = register(
    FileTable(
        "bending",
        "EI = { ... }",
        "Bending stiffness in one plane or both.",
        tuple(
            FileKey(k, Quantity("bending stiffness"), f"bending along {k}", shown="rigid")
            for k in "yz"
        ),
    )
)
MODES = register(
    FileTable(
        "modes",
        "modes = { ... }",
        "How many shapes of each direction stand for a beam.",
        tuple(
            FileKey(
                k,
                Whole(0),
                {"x": "stretching", "twist": "turning about x"}.get(k, f"bending along {k}"),
                0,
            )
            for k in DIRECTIONS
        ),
    )
)

FRAME = register(
    FileTable(
        "frame",
        "[[frame]]",
        "A named place on a body, to ask for its pose or Jacobian, or to attach loads to.",
        (
            _NAME,
            FileKey("body", Name(of="body"), "the body it is on, or `ground`", needed=True),
            *_PLACE,
        ),
    )
)
ROTATION = register(
    FileTable(
        "rotation",
        "rotate = { ... }",
        "A rotation, in one of four ways.",
        (
            FileKey(
                "rpy",
                Vector("angle", ("roll", "pitch", "yaw")),
                "Rot(z, yaw) Rot(y, pitch) Rot(x, roll), as URDF",
            ),
            FileKey(
                "quaternion",
                Vector("number", ("w", "x", "y", "z"), symbolic=False),
                "of length one, scalar first",
            ),
            FileKey(
                "axis",
                Vector("number", symbolic=False),
                "the axis of a turn by `angle`; any length",
            ),
            FileKey("angle", Quantity("angle"), "the turn about `axis`"),
            FileKey(
                "matrix",
                _ROWS3,
                "its rows; a vector of the turned frame times it is that vector in the parent",
            ),
        ),
        alternatives=ROTATIONS,
    )
)


_GRID = (
    FileKey(
        "heights",
        Several(Several(Quantity("number"), 2), 2),
        "rows of numbers; the first row is at the smallest y",
    ),
    FileKey(
        "file",
        Text("name of a file"),
        "in place of heights: an image, whose first row is at the largest y and whose brightness is"
        " 0 to 1, or a table or NumPy array of numbers",
    ),
)


def _shape_kinds() -> Iterable[FileKind]:
    for k in shapes.KINDS.values():
        size = FileKey(
            "size",
            Vector(k.measure, k.sizes),
            f"{', '.join(k.sizes)}{' of its scale' if k.from_file else ''}",
            (1.0,) * len(k.sizes) if k.from_file else None,
            needed=not k.from_file,
        )
        file = (
            FileKey(
                "file",
                Text("name of a file"),
                "the mesh, from the folder of this file",
                needed=True,
            ),
        )
        keys = (*((size,) if k.sizes else ()), *(file if k.from_file else ()))
        if k.has_grid:
            yield FileKind(k.name, k.doc, (*keys, *_GRID), (("heights",), ("file",)))
        else:
            yield FileKind(k.name, k.doc, keys)


def _shape(name: str, heading: str, doc: str, collides: bool) -> FileTable:
    return register(
        FileTable(
            name,
            heading,
            doc,
            (
                FileKey("name", Text(), "tells several shapes of one body apart"),
                *_PLACE,
                FileKey(
                    "colour",
                    Either(
                        (
                            Vector("number", ("red", "green", "blue"), symbolic=False),
                            Vector("number", ("red", "green", "blue", "alpha"), symbolic=False),
                        )
                    ),
                    "0 to 1 each",
                    shown="a colour of its body",
                ),
                FileKey("collides", Flag(), "whether distances and contacts see it", collides),
                FileKey("drawn", Flag(), "whether pictures show it", True),
            ),
            _shape_kinds,
        )
    )


SHAPE = _shape(
    "shape", "shapes = [{ ... }]", "A shape on a body, centred at its own origin.", collides=False
)
GROUND_SHAPE = _shape("ground", "[[ground]]", "A shape of what stands still.", collides=True)
_PAIRS = Several(Several(Name(of="body or group"), 2, 2))
COLLISIONS = register(
    FileTable(
        "collisions",
        "[collisions]",
        "Which pairs of shapes are looked at: all but those of neighbours, unless it says"
        " otherwise.",
        (
            FileKey("include", _PAIRS, "pairs of neighbours that are looked at all the same"),
            FileKey("exclude", _PAIRS, "pairs that are not looked at"),
            FileKey("only", _PAIRS, "nothing but these pairs", shown="all"),
            FileKey(
                "groups",
                Map("name", Several(Name(of="body"))),
                "names that may stand in pairs for several bodies",
            ),
        ),
    )
)

_FRICTION = register(
    FileTable(
        "contact.friction",
        "friction = { ... }",
        "Two coefficients of Coulomb's friction.",
        (
            FileKey("static", Quantity("number", symbolic=False), "of what sticks", needed=True),
            FileKey(
                "kinetic",
                Quantity("number", symbolic=False),
                "of what slips, not above the static one",
                needed=True,
            ),
        ),
    )
)
_READING = Quantity("any", symbolic=False)
SENSOR = register(
    FileTable(
        "sensor",
        "[[sensor]]",
        "A sensor, with what is wrong with its readings: [sensors.md](sensors.md).",
        (
            FileKey("name", Text(), "how results call it", needed=True),
            FileKey("kind", Word(lambda: SENSOR_KINDS), "what it measures", needed=True),
            FileKey("at", Name(of="coordinate, frame or contact"), "where it is", needed=True),
            FileKey("noise", _READING, "standard deviation of each reading", 0.0),
            FileKey(
                "walk",
                Quantity("number", symbolic=False),
                "standard deviation of the change of the bias in one second, SI",
                0.0,
            ),
            FileKey("offset", _READING, "what is added to every reading", 0.0),
            FileKey("resolution", _READING, "the step of the readings", 0.0),
            FileKey("range", Several(_READING, 2, 2), "the lowest and the highest reading"),
            FileKey(
                "sample",
                Quantity("time", symbolic=False),
                "time between two readings",
                shown="each row",
            ),
            FileKey("delay", Quantity("time", symbolic=False), "how old a reading is", 0.0),
            FileKey(
                "constant",
                Quantity("number", symbolic=False),
                "of `motor_current`: N m/A, or N/A",
                1.0,
            ),
        ),
    )
)
CONTACT = register(
    FileTable(
        "contact",
        "[[contact]]",
        "A pair that may touch rigidly: [contact.md](contact.md).",
        (
            FileKey("name", Text(), "how results call it", shown="of both"),
            FileKey(
                "between",
                Several(
                    Either(
                        (Name(of="body, group or frame"), Several(Name(of="body, group or frame")))
                    ),
                    2,
                    2,
                ),
                "what touches, a name or a list of them, and the surface",
                needed=True,
            ),
            FileKey(
                "friction",
                Either((Quantity("number", symbolic=False), Inside("contact.friction"))),
                "Coulomb's coefficient, or two",
                needed=True,
            ),
            FileKey(
                "restitution",
                Quantity("number", symbolic=False),
                "0 (plastic) to 1 (no loss)",
                needed=True,
            ),
            FileKey(
                "law",
                Word(IMPACT_LAWS),
                "of impact: [their table](contact.md#impacts)",
                default_of(Contact, "law"),
            ),
            FileKey(
                "impacts", Word(ORDERS), "several at one instant", default_of(Contact, "impacts")
            ),
            FileKey(
                "paradox",
                Word(PARADOX),
                "what to do where rigid bodies with friction have no motion, or several",
                default_of(Contact, "paradox"),
            ),
            FileKey(
                "radius",
                Quantity("length", symbolic=False),
                "of a sphere about a frame",
                shown="a point",
            ),
            FileKey("surface", Word(SURFACES), "what the second is, where it is a frame", "plane"),
            FileKey(
                "surface_radius",
                Quantity("length", symbolic=False),
                "of a sphere, bowl or trough",
                default_of(Contact, "surface_radius"),
            ),
            FileKey(
                "clearance",
                Quantity("length", symbolic=False),
                "of a hole or guide: how far what is in its middle may go",
                default_of(Contact, "clearance"),
            ),
        ),
    )
)
INCLUDE = register(
    FileTable(
        "include",
        "[[include]]",
        "Another file in this scene, of any format.",
        (
            FileKey(
                "file",
                Text("name of a file"),
                "next to this file, or below its folder",
                needed=True,
            ),
            FileKey("prefix", Text(), "before every name of it", needed=True),
            FileKey(
                "on",
                Name(of="body or frame"),
                "where it stands: of this file, or of an include above",
                GROUND,
            ),
            *_PLACE,
            FileKey(
                "parameters", Map("parameter", Quantity("any", symbolic=False)), "values of its own"
            ),
        ),
    )
)

# --- joints and loops
LIMITS = register(
    FileTable(
        "limits",
        "limits = { ... }",
        "What a joint is made for.",
        tuple(
            FileKey(key, PerSpeed(measures=MEASURES[key], symbolic=False), doc, default)
            for key, doc, default in (
                ("lower", "least coordinate", -float("inf")),
                ("upper", "greatest coordinate", float("inf")),
                ("effort", "greatest force of its motor", float("inf")),
                ("speed", "greatest speed", float("inf")),
            )
        ),
    )
)
LOSSES = tuple(
    FileKey(key, PerSpeed(measures=MEASURES[key]), doc, 0.0)
    for key, doc in (
        ("damping", "viscous friction: force per speed"),
        ("friction", "Coulomb's friction: a force against the motion"),
        ("armature", "inertia of a rotor, seen at the joint"),
    )
)
DH = register(
    FileTable(
        "dh",
        "dh = { ... }",
        "Denavit and Hartenberg's parameters, in place of at, rotate, child_at, child_rotate and"
        " axis.",
        (
            FileKey(
                "custom",
                Word(("modified", "standard")),
                "which of the two conventions: they give different robots",
                needed=True,
            ),
            *(
                FileKey(k, Quantity("length" if k in "ad" else "angle"), doc, needed=True)
                for k, doc in (
                    ("a", "displacement along x"),
                    ("alpha", "turn about x"),
                    ("d", "displacement along z"),
                    ("theta", "turn about z"),
                )
            ),
        ),
    )
)
COORDINATE_FUNCTION = register(
    FileTable(
        "function",
        "function = { ... }",
        "A smooth function of one coordinate, SI.",
        (
            FileKey("kind", Word(COORDINATE_FUNCTION_KINDS), "how y is meant", needed=True),
            FileKey("x", Several(Quantity("any", symbolic=False)), "places of a spline, rising"),
            FileKey(
                "y",
                Several(Quantity("any", symbolic=False)),
                "values there, or the coefficients of a polynomial, lowest first",
                needed=True,
            ),
        ),
    )
)
MIMIC = register(
    FileTable(
        "mimic",
        "mimic = { ... }",
        "A joint that follows another: q = multiplier q[joint] + offset, or a function of"
        " q[joint].",
        (
            FileKey("joint", Name(of="joint"), "the one it follows", needed=True),
            FileKey(
                "multiplier",
                Quantity("any"),
                "its own coordinate per that of the other: a number, m/rad or rad/m",
                1.0,
            ),
            FileKey("offset", Quantity("any"), "its own coordinate where the other's is zero", 0.0),
            FileKey("function", Inside("function"), "in place of multiplier and offset"),
        ),
    )
)
PLACES = (
    *_PLACE,
    FileKey("child_at", Vector(), "the joint's frame in the child: position", (0, 0, 0)),
    FileKey(
        "child_rotate",
        Inside("rotation"),
        "the joint's frame in the child: orientation",
        shown="not turned",
    ),
    FileKey(
        "axis",
        Either((Vector("number", symbolic=False), Several(Vector("number", symbolic=False)))),
        "its axis, or as many as the kind has; any length",
        shown="as the kind says",
    ),
)


def _kinds(having: Callable[[joint_kinds.JointKind], object]) -> Callable[[], list[str]]:
    return lambda: [name for name, kind in joint_kinds.KINDS.items() if having(kind)]


_JOINT = (
    _NAME,
    FileKey(
        "kind",
        Word(lambda: joint_kinds.KINDS),
        "how it moves: [joint kinds](file_format.md#joint-kinds)",
        needed=True,
    ),
    FileKey("parent", Name(of="body"), "the body nearer to the ground, or `ground`", needed=True),
    FileKey("child", Name(of="body"), "the body that it carries", needed=True),
    *PLACES,
    FileKey("dh", Inside("dh"), "in place of at, rotate, child_at, child_rotate and axis"),
    FileKey(
        "pitch", Quantity("pitch"), "advance of a screw per turn", kinds=_kinds(lambda k: k.pitched)
    ),
    FileKey(
        "sequence",
        Several(
            Word(lambda: dict.fromkeys(w for k in joint_kinds.KINDS.values() for w in k.words)), 1
        ),
        "its freedoms, in this order",
        kinds=_kinds(lambda k: k.words),
    ),
    FileKey("limits", Inside("limits"), "what it is made for"),
    *LOSSES,
)
LOOP = register(
    FileTable(
        "loop",
        "[[loop]]",
        "A joint that closes the tree: the loop's equations follow from its kind.",
        _JOINT,
    )
)
JOINT = register(
    FileTable(
        "joint",
        "[[joint]]",
        "A joint between two bodies of the tree.",
        (
            *_JOINT,
            FileKey(
                "mimic",
                Inside("mimic"),
                "another joint whose coordinate it follows",
                shown="moves on its own",
            ),
        ),
    )
)


# --- loads, rows and constraints
def load_type(key: Key) -> Type:
    """Return the type of a field of a load, by its sort."""
    return _SORTS[key.sort](key)


_TEXT = "t, q_NAME, v_NAME, parameters"
_SORTS: dict[str, Callable[[Key], Type]] = {
    "frame": lambda k: Name(of="frame"),
    "frames": lambda k: Several(Name(of="frame")),
    "coordinate": lambda k: Name(of="coordinate"),
    "coordinates": lambda k: Several(Name(of="coordinate")),
    "speed": lambda k: Name(of="speed"),
    "turning": lambda k: Name(of="body that turns"),
    "sliding": lambda k: Name(of="body that slides"),
    "word": lambda k: Word(k.words),
    "number": lambda k: _measured(str(k.measure)),
    "numbers": lambda k: (
        Several(Quantity(k.measure))
        if isinstance(k.measure, str)
        else Vector(k.measure, tuple(map(str, range(1, len(k.measure) + 1))))
    ),
    "expression": lambda k: Expression(_TEXT),
    "expressions": lambda k: Several(Expression(_TEXT), 3, 3),
    "text": lambda k: Expression(_TEXT, only_text=True),
    "position": lambda k: Expression(
        "q_NAME, x_FRAME, y_FRAME, z_FRAME, t, parameters", only_text=True
    ),
    "profile": lambda k: Expression("angle, parameters", only_text=True),
    "direction": lambda k: Vector("number", symbolic=False),
    "times": lambda k: Several(Quantity("time", symbolic=False)),
}


def _measured(measure: str) -> Quantity:
    """Return the type of a quantity. A dimension such as "length|angle" is the first for the
    coordinate of a translation, the second for that of a rotation.
    """
    slide, _, turn = measure.partition("|")
    return Quantity(slide, also=turn)


def _load_kinds(registry: Mapping[str, type[Keyed]]) -> Callable[[], Iterable[FileKind]]:
    return lambda: [load_kind(member) for member in registry.values() if member.written]


def load_kind(member: type[Keyed]) -> FileKind:
    """Return the file keys of a kind of load, row or constraint, made from the fields of its
    record.
    """
    own: list[FileKey] = []
    for f in fields(member):
        if "key" in f.metadata:
            default: Any = None if f.default is MISSING else f.default
            own.append(
                FileKey(
                    f.name,
                    load_type(f.metadata["key"]),
                    f.metadata.get("doc", ""),
                    default,
                    f.default is MISSING,
                )
            )
    return FileKind(member.kind, first_sentence(member.__doc__), tuple(own), member.alternatives)


_LOAD_NAME = (FileKey("name", Text(), "what results and messages call it", needed=True),)
LOAD = register(
    FileTable(
        "load", "[[load]]", "Something that acts on the mechanism.", _LOAD_NAME, _load_kinds(LOADS)
    )
)
ROW = register(
    FileTable("row", "[[row]]", "Something that speeds obey.", _LOAD_NAME, _load_kinds(ROWS))
)
CONSTRAINT = register(
    FileTable(
        "constraint",
        "[[constraint]]",
        "Something that coordinates obey.",
        _LOAD_NAME,
        _load_kinds(CONSTRAINTS),
        usual="expression",
    )
)

# --- companions
COMPANION = register(
    FileTable(
        "companion",
        "at the top of a companion",
        "A file that adds to a mechanism of another format what that cannot say.",
        (
            *(TOP[name] for name in ("gravity", "parameters", "expressions")),
            FileKey(
                "body", Inside("companion body", many=True), "shapes for bodies that are there"
            ),
            TOP["ground"],
            TOP["collisions"],
            FileKey(
                "joint", Inside("companion joint", many=True), "values for joints that are there"
            ),
            *(
                TOP[name]
                for name in ("frame", "loop", "load", "row", "constraint", "contact", "sensor")
            ),
            TOP["check_dimensions"],
        ),
    )
)
COMPANION_BODY = register(
    FileTable(
        "companion body",
        "[[body]] of a companion",
        "Shapes in addition to those of a body that is there.",
        (FileKey("name", Name(of="body"), "of the mechanism", needed=True), BODY["shapes"]),
    )
)
COMPANION_JOINT = register(
    FileTable(
        "companion joint",
        "[[joint]] of a companion",
        "Values in place of those of a joint that is there.",
        (
            FileKey("name", Name(of="joint"), "of the mechanism", needed=True),
            JOINT["limits"],
            *LOSSES,
        ),
    )
)
LIMIT_KEYS = LIMITS.names
LOSS_KEYS = tuple(key.name for key in LOSSES)
PLACE_KEYS = tuple(key.name for key in PLACES)
