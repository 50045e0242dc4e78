"""Problems from the classics for worksheets: a registry. A problem is a model, a sentence or two,
its source, and the methods by which it is asked.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources

from ...formats import examples, load
from ...model import Mechanism
from ...registry import Registry

COMMON = ("lagrange", "newton_euler", "kane", "hamilton")
SPATIAL = ("lagrange", "kane", "gibbs_appell")
ROLLING = ("kane", "maggi", "boltzmann_hamel", "lagrange")


@dataclass(frozen=True)
class Problem:
    """A problem of a worksheet.

    name: its name. text: what moves, in a sentence or two. source: a book and chapter, or a paper,
    where it is treated. methods: the formulations by which it is asked, the usual one first.
    """

    name: str
    text: str
    source: str
    methods: tuple[str, ...] = COMMON

    @property
    def model(self) -> str:
        """What `catena.load` reads: a built-in example, or a file of this package."""
        if self.name in examples():
            return self.name
        return str(resources.files(__package__) / "models" / f"{self.name}.toml")

    def load(self) -> Mechanism:
        """Return its mechanism."""
        return load(self.model)


PROBLEMS: Registry[Problem] = Registry("problem")
register = PROBLEMS.register

GOLDSTEIN = "Goldstein, Poole and Safko, Classical Mechanics"
LANDAU = "Landau and Lifshitz, Mechanics"
GREENWOOD = "Greenwood, Principles of Dynamics"
KANE = "Kane and Levinson, Dynamics: Theory and Applications"
CRAIG = "Craig, Introduction to Robotics"
MEIROVITCH = "Meirovitch, Methods of Analytical Dynamics"
NEIMARK = "Neimark and Fufaev, Dynamics of Nonholonomic Systems"

for _name, _text, _source, _methods in (
    ("pendulum", "A particle swings on a rod without mass.", f"{LANDAU}, section 5", COMMON),
    ("rod_pendulum", "A uniform rod swings about its end.", f"{GREENWOOD}, chapter 8", COMMON),
    (
        "damped_pendulum",
        "A pendulum has a torsion spring and a damper in its pin.",
        f"{MEIROVITCH}, chapter 2",
        COMMON,
    ),
    (
        "sprung_inverted",
        "A torsion spring holds a pendulum upright.",
        f"{MEIROVITCH}, chapter 5",
        COMMON,
    ),
    ("spring_mass", "A block moves on a spring and a damper.", f"{LANDAU}, section 21", COMMON),
    (
        "two_masses",
        "Two blocks, one behind the other, on springs. y is measured from the first block.",
        f"{LANDAU}, section 23",
        COMMON,
    ),
    ("three_masses", "Three blocks in a row on springs.", f"{GOLDSTEIN}, chapter 6", COMMON),
    ("two_discs", "Two discs on an elastic shaft.", f"{MEIROVITCH}, chapter 3", COMMON),
    (
        "elastic_pendulum",
        "A particle on a spring swings. r is the length of the spring, l its length at rest.",
        f"{GREENWOOD}, chapter 6",
        COMMON,
    ),
    (
        "central_spring",
        "A particle on a smooth table is held by a spring to a point; its length at rest is zero.",
        f"{GOLDSTEIN}, chapter 3",
        COMMON,
    ),
    (
        "rotating_tube",
        "A particle slides in a tube that turns in the horizontal plane.",
        f"{GREENWOOD}, chapter 6",
        COMMON,
    ),
    ("double_pendulum", "One pendulum hangs on another.", f"{LANDAU}, section 5", COMMON),
    (
        "two_rods",
        "Two uniform rods, hinged to each other, swing.",
        f"{GREENWOOD}, chapter 8",
        COMMON,
    ),
    (
        "triple_pendulum",
        "Three uniform links, hinged to each other, swing.",
        "Baysec and McPhee, 1996",
        ("lagrange", "newton_euler"),
    ),
    (
        "cart_pole",
        "A cart on a straight track carries a pole upright.",
        "Barto, Sutton and Anderson, 1983",
        (*COMMON, "gibbs_appell", "jourdain"),
    ),
    (
        "cart_on_spring",
        "A cart on a spring carries a pendulum.",
        f"{MEIROVITCH}, chapter 2",
        COMMON,
    ),
    (
        "two_pendulums_on_cart",
        "A cart carries two pendulums of different lengths.",
        "Kailath, Linear Systems",
        ("lagrange", "kane"),
    ),
    (
        "crane",
        "A trolley carries a load on a rope that is wound up.",
        f"{LANDAU}, section 5",
        COMMON,
    ),
    (
        "pendulum_on_disc",
        "A pendulum hangs at the rim of a disc that turns in the vertical plane.",
        f"{LANDAU}, section 5, problem 3",
        COMMON,
    ),
    (
        "block_on_wedge",
        "A block slides down a wedge, which slides on the floor; all is smooth.",
        f"{GREENWOOD}, chapter 6",
        COMMON,
    ),
    ("atwood_machine", "Two masses hang over a pulley.", f"{GOLDSTEIN}, chapter 1", COMMON),
    (
        "bead_on_hoop",
        "A bead slides on a hoop that turns about its vertical diameter.",
        f"{GOLDSTEIN}, chapter 2",
        ("lagrange", "kane", "hamilton"),
    ),
    (
        "spherical_pendulum",
        "A particle swings on a rod in space.",
        f"{LANDAU}, section 14",
        SPATIAL,
    ),
    (
        "foucault_pendulum",
        "A pendulum swings over the turning earth.",
        f"{LANDAU}, section 39",
        ("lagrange", "kane"),
    ),
    ("top", "A symmetric top turns about a fixed tip.", f"{GOLDSTEIN}, chapter 5", SPATIAL),
    ("gyroscope", "A rotor turns in gimbals.", f"{GREENWOOD}, chapter 8", SPATIAL),
    ("tumbling_box", "A box turns freely in space.", f"{LANDAU}, section 37", SPATIAL),
    ("free_plate", "A plate is thrown in the vertical plane.", f"{GREENWOOD}, chapter 7", COMMON),
    (
        "furuta_pendulum",
        "An arm turns about the vertical and carries a pendulum at its end.",
        "Furuta, Yamakita and Kobayashi, 1992",
        ("lagrange", "kane"),
    ),
    (
        "acrobot",
        "A gymnast swings on a bar; only the hip is driven.",
        "Spong, 1995",
        ("lagrange", "kane"),
    ),
    (
        "planar_two_link",
        "A planar arm of two links moves in the horizontal plane.",
        "Quinn, 1991",
        ("lagrange", "boltzmann_hamel"),
    ),
    (
        "two_link_arm",
        "A planar arm of two links.",
        f"{CRAIG}, chapter 6",
        ("lagrange", "recursive"),
    ),
    (
        "polar_arm",
        "An arm turns and stretches in the vertical plane.",
        f"{CRAIG}, chapter 6",
        COMMON,
    ),
    (
        "cylindrical_arm",
        "An arm turns about the vertical, rises and stretches.",
        f"{CRAIG}, chapter 6",
        SPATIAL,
    ),
    (
        "scara",
        "A SCARA robot: two turns about the vertical and a stroke.",
        f"{CRAIG}, chapter 3",
        SPATIAL,
    ),
    (
        "four_bar",
        "A four-bar linkage is driven at its crank.",
        "Erdman and Sandor, Mechanism Design",
        ("lagrange", "maggi"),
    ),
    (
        "slider_crank",
        "A crank drives a piston through a rod.",
        "Erdman and Sandor, Mechanism Design",
        ("lagrange", "maggi"),
    ),
    (
        "knife_edge",
        "Chaplygin's sleigh: a body on a plane with one blade, which cannot slip sideways.",
        f"{NEIMARK}, chapter 2",
        ROLLING,
    ),
    (
        "skate",
        "A skate on a slope moves only along its blade.",
        f"{NEIMARK}, chapter 3",
        ROLLING,
    ),
    (
        "upright_disc",
        "A disc rolls upright without slipping.",
        f"{GOLDSTEIN}, chapter 1",
        ROLLING,
    ),
    (
        "rolling_disc",
        "A disc rolls on a horizontal plane and may lean.",
        f"{KANE}, chapter 3",
        ("kane", "boltzmann_hamel"),
    ),
    (
        "wheel_on_slope",
        "A wheel rolls down a slope without slipping.",
        f"{GREENWOOD}, chapter 7",
        ROLLING,
    ),
):
    register(Problem(_name, _text, _source, _methods))
