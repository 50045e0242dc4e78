"""Dimensions of parameters: by their units, by their uses, and what does not fit together."""

from importlib import resources

import pytest
import sympy

import catena
import zoo
from catena import Body, Frame, Joint, Mechanism, Pose
from catena.errors import FormatError, MechanismError, StudyError
from catena.model.dimension_analysis import analyse, parameter_units
from catena.model.dimensions import si_powers, unit_text

ARM = """
name = "arm"
{top}
[parameters]
{parameters}
[[body]]
name = "rod"
mass = "{mass}"
com = ["l/2", 0, 0]
inertia = [0, "{inertia}", "{inertia}"]
[[joint]]
name = "pin"
kind = "revolute"
parent = "ground"
child = "rod"
axis = [0, 1, 0]
{more}
"""
UNITS = 'mr = "0.6 kg"\nl = "0.3 m"\n'


@pytest.fixture
def arm(tmp_path):
    def read(parameters=UNITS, mass="mr", inertia="mr*l^2/12", more="", values=None, top=""):
        path = tmp_path / "arm.toml"
        path.write_text(
            ARM.format(parameters=parameters, mass=mass, inertia=inertia, more=more, top=top)
        )
        return catena.load(path, parameters=values)

    return read


def _load(kind, **keys):
    rows = "\n".join(f'{key} = "{x}"' for key, x in keys.items())
    return f'[[load]]\nname = "x"\nkind = "{kind}"\ncoordinate = "pin"\n{rows}'


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"parameters": 'mr = "0.6 N"\nl = "0.3 m"'},
            r"body 'rod': mass is 'mr', a force; a mass is wanted, such as '3 kg' \(parameter 'mr'"
            r" is in N\)",
        ),
        (
            {"parameters": UNITS + 'ir = "4e-3 kg*m"', "inertia": "ir"},
            "inertia.yy is 'ir', a line inertia; an inertia is wanted",
        ),
        ({"mass": "l"}, "body 'rod': mass is 'l', a length; a mass is wanted"),
        ({"mass": "2*l"}, "mass is '2[*]l', a length; a mass is wanted"),
        (
            {"mass": "mr + l"},
            "mass is 'l [+] mr'; it adds 'l', a length, and 'mr', a mass; both have to be of one"
            " dimension",
        ),
        (
            {"inertia": "mr*l^2*sin(l)"},
            "it takes the sin of 'l', a length; a number without unit or an angle is wanted there",
        ),
        (
            {"inertia": "mr*l^2/6 + mr*l"},
            "it adds .*, a line inertia, and .*, an inertia; both have to be of one dimension",
        ),
        (
            {"parameters": "mr = 0.6\nl = 0.3", "mass": "l"},
            "parameter 'l' is written without unit, and a mass by mass of body 'rod'",
        ),
        (
            {
                "parameters": UNITS + 'k = "3 N/m"',
                "more": _load("joint_spring", stiffness="k", rest="0 deg"),
            },
            "load 'x': stiffness is 'k', a stiffness; an angular stiffness is wanted",
        ),
        (
            {"more": _load("joint_spring", stiffness="3 N/mm", rest="0 deg")},
            "load 'x': stiffness is '3 N/mm', a stiffness; an angular stiffness is wanted",
        ),
        (
            {
                "parameters": UNITS + 'k = "3 kg"',
                "more": _load("joint_force", force="-k*q_pin - 5*v_pin"),
            },
            "load 'x': force is '-k[*]q_pin - 5[*]v_pin', a mass; a torque is wanted",
        ),
        (
            {
                "parameters": UNITS + 'T = "3 m"',
                "more": _load("joint_force", force="exp(-t/T)"),
            },
            "it takes the exp of '-t/T', in",
        ),
        (
            {
                "parameters": UNITS + 'p = "2 mm"',
                "more": '[[joint]]\nname = "s"\nkind = "helical"\nparent = "rod"\nchild = "nut"\n'
                'pitch = "p"\n[[body]]\nname = "nut"\nmass = 1\ncom = [0, 0, 0]\n'
                "inertia = [1, 1, 1]",
            },
            "pitch is 'p', a length; a pitch is wanted, such as '2 mm/turn'",
        ),
    ],
)
def test_what_does_not_fit_is_refused_by_name(arm, changes, said):
    with pytest.raises(FormatError, match=said):
        arm(**changes)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"mass": "mr + 0.1"},  # a number in a sum is in the unit that is needed
        {"inertia": "0.6*l^2/12"},  # a decimal may be a mass
        {"parameters": UNITS + 'a = "30 deg"', "mass": "mr*cos(a)"},
        {"mass": "sqrt(mr^2 + 4*mr^2)"},
        {"mass": "max(mr, 2*mr)*abs(sign(l))"},
        {"parameters": UNITS + 'w = "3 Hz"', "more": _load("joint_force", force="sin(2*pi*w*t)")},
        {"more": _load("joint_force", force="-12*q_pin - v_pin + sin(t)")},
        {
            "parameters": UNITS + 'k = "3 N*m/rad"',
            "more": _load("joint_force", force="-k*(q_pin - 1)"),
        },
    ],
)
def test_what_fits_is_taken(arm, changes):
    assert arm(**changes).units.items() >= {"mr": "kg", "l": "m"}.items()


def test_numbers_without_unit_have_the_dimension_of_their_uses(arm):
    m = arm("mr = 0.6\nl = 0.3\nk = 2", more=_load("joint_force", force="-k*v_pin"))
    assert not m.units and parameter_units(m) == {"mr": "kg", "l": "m", "k": "N*m*s/rad"}


def test_a_decimal_that_stands_for_a_quantity_is_told(arm):
    told = analyse(arm(inertia="0.6*l^2/12")).assumed
    assert len(told) == 2 and all(x.endswith("its decimal number is taken in kg") for x in told)


@pytest.mark.parametrize("parameters", [UNITS, "mr = 0.6\nl = 0.3"])
def test_other_values_are_of_the_same_dimension(arm, parameters):
    assert arm(parameters, values={"l": "35 mm"}).parameters["l"] == pytest.approx(0.035)
    with pytest.raises(FormatError, match="parameter 'l' is '35 kg', a mass; a length is wanted"):
        arm(parameters, values={"l": "35 kg"})


def test_every_door_for_values_knows_the_dimension(tmp_path):
    """Scenario, design of an optimisation, study, include: the same refusal as --set."""
    from catena.optimization import read_optimize
    from catena.simulation.scenario.read import read

    bar = (resources.files("catena") / "examples" / "balanced_arm.toml").read_text("utf-8")
    path = tmp_path / "arm.toml"
    path.write_text(bar.replace('k = ["0 N/m", "2000 N/m"]', 'k = ["0 N/m", "2000 kg"]'))
    with pytest.raises(FormatError, match="k is '2000 kg', a mass; a stiffness is wanted"):
        read_optimize(str(path))
    pendulum = (resources.files("catena") / "examples" / "pendulum.toml").read_text("utf-8")
    path.write_text(pendulum + '[scenario.parameters]\nl = "2 kg"\n')
    with pytest.raises(FormatError, match="l is '2 kg', a mass; a length is wanted"):
        read(str(path))
    with pytest.raises(StudyError, match="l is '1 kg', a mass; a length is wanted"):
        catena.study("pendulum", {"l": "1..2 kg:3"}, measures={"E": "max(kinetic)"})
    (tmp_path / "scene.toml").write_text(
        '[[include]]\nfile = "other.toml"\nprefix = "a_"\nparameters = { l = "2 kg" }\n'
    )
    (tmp_path / "other.toml").write_text(pendulum)
    with pytest.raises(FormatError, match="l is '2 kg', a mass; a length is wanted"):
        catena.load(tmp_path / "scene.toml")


def test_units_are_written_and_read_again(arm, tmp_path):
    m = arm()
    catena.save(m, tmp_path / "again.toml")
    assert catena.load(tmp_path / "again.toml") == m


def test_units_go_with_what_is_attached(arm):
    scene = catena.attach(arm(), arm(), prefix="b_", on="ground")
    assert scene.units == {"mr": "kg", "l": "m", "b_mr": "kg", "b_l": "m"}


def test_mechanisms_made_in_python_are_checked_too():
    m, l = sympy.symbols("m l")

    def rod(mass, **units):
        return Mechanism(
            "rod",
            (Body("rod", mass, (l / 2, 0, 0), (0, m * l**2 / 12, m * l**2 / 12)),),
            (Joint("pin", "revolute", "ground", "rod"),),
            (Frame("tip", "rod", Pose(position=(l, 0, 0))),),
            parameters={"m": 1.0, "l": 0.5},
            units=units,
        )

    assert parameter_units(rod(m).validate()) == {"m": "kg", "l": "m"}
    assert rod(l).validate()  # in Python the number 1 may be a length: nothing can be told
    with pytest.raises(MechanismError, match="mass is 'l', a length; a mass is wanted"):
        rod(l, l="m").validate()
    with pytest.raises(MechanismError, match="mass is 'm', a force; a mass is wanted"):
        rod(m, m="N").validate()
    with pytest.raises(MechanismError, match="'mm' is not a product of SI units"):
        rod(m, l="mm").validate()
    with pytest.raises(MechanismError, match="units name no parameter 'n'"):
        rod(m, n="m").validate()


def with_unit_lengths(m):
    """The mechanism with masses as parameters, and all lengths in inertias 1 m, which leaves no
    trace: m*l**2/12 is m/12.
    """
    masses = sympy.symbols(f"m:{len(m.bodies)}")
    bodies = tuple(
        Body(b.name, mass, b.com, (mass / 12, mass / 12, mass / 12))
        for b, mass in zip(m.bodies, masses)
    )
    values = {str(mass): float(b.mass) for b, mass in zip(m.bodies, masses)}
    return m.with_(bodies=bodies, parameters=values)


@pytest.mark.parametrize("name", zoo.certificate_set())
def test_a_mechanism_of_python_is_read_from_the_file_that_it_is_written_to(name, tmp_path):
    m = with_unit_lengths(zoo.certificate_set()[name]).validate()
    path = tmp_path / "m.toml"
    catena.save(m, path)
    assert "check_dimensions = false" in path.read_text()
    again = catena.load(path)
    assert again == m
    catena.save(again, path)
    assert catena.load(path) == m
    (tmp_path / "scene.toml").write_text('[[include]]\nfile = "m.toml"\nprefix = "a_"\n')
    assert len(catena.load(tmp_path / "scene.toml").bodies) == len(m.bodies)


def test_a_result_gives_back_its_mechanism_whatever_its_numbers_mean(tmp_path):
    m = with_unit_lengths(zoo.pendulum(2))
    run = catena.simulate(m, q=[0.1, 0.2], until=0.02)
    run.save(tmp_path / "run.nc")
    assert catena.load_result(tmp_path / "run.nc").mechanism == m


def test_files_by_hand_are_held_to_dimensions_unless_they_say_otherwise(arm):
    plain = {"parameters": "mr = 0.6", "inertia": "mr/12"}
    with pytest.raises(FormatError, match="com.x is 'l/2'|inertia.yy is 'mr/12', a mass"):
        arm(**plain)
    free = {"parameters": "mr = 0.6\nl = 1", "inertia": "mr/12"}
    assert arm(**free, top="check_dimensions = false")
    with pytest.raises(FormatError, match="mass is 'l', a length; a mass is wanted"):
        arm(mass="l", top="check_dimensions = false")  # what has a unit is held to it
    with pytest.raises(FormatError, match="check_dimensions is 3; true or false is wanted"):
        arm(top="check_dimensions = 3")


def test_a_plain_number_with_a_unit_keeps_it(arm, tmp_path):
    m = arm(UNITS + 'k = "3 m/m"', mass="mr*k")
    assert m.units["k"] == ""
    catena.save(m, tmp_path / "again.toml")
    assert catena.load(tmp_path / "again.toml") == m


@pytest.mark.parametrize("unit", ["", "kg", "N/m", "kg*m^2", "1/s", "rad/s", "m/rad", "kg^2/m^3"])
def test_a_unit_is_the_text_of_its_powers(unit):
    assert unit_text(si_powers(unit)) == unit


def test_info_shows_the_unit_of_each_parameter():
    from catena.report.description import describe
    from catena.report.tables import tables

    rows = next(
        rows for title, _, rows in tables(describe(catena.load("four_bar"))) if "para" in title
    )
    assert ["crank", "0.1", "m"] in rows and ["density", "0.8", "kg/m"] in rows


def test_every_parameter_of_the_examples_has_a_unit():
    from catena.formats import examples

    for name in examples():
        m = catena.load(name)
        assert parameter_units(m).keys() == m.parameters.keys(), name
