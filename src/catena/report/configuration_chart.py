"""Configuration charts: how the unit vectors of a body follow from those of the body that carries
it, turn by turn ([Passerello1972] figure 4).

    1  o     o     o     a dot is a unit vector, a column a frame
    2  o-----o     o     a horizontal line: the axis of the turn, common to both columns
    3  o     o-----o
         a     b         the angle of the turn
        3/2   2/1        the dots that an inclined line joins, left/right: related by +sin(angle)

Dots of the two other rows are related by cosines within a row, and by -sin along the diagonal that
is not drawn.
"""

from __future__ import annotations

from ..model import Joint, Mechanism, Motion

INCLINED = ("3/2", "1/3", "2/1")  # for turns about x, y, z
LEAST_WIDTH = 9  # characters from one column of dots to the next; more for long names


def configuration_chart(mechanism: Mechanism) -> str:
    """Return the charts of all joints that turn, one below the other, as text.

    Parameters
    ----------
    mechanism : Mechanism
        The mechanism.

    Returns
    -------
    str
        A chart per joint. Turns about oblique axes and balls have no chart, which is said.

    Examples
    --------
    >>> import catena
    >>> print(configuration_chart(catena.load("pendulum")).splitlines()[0])
    pivot: ground -> bob
    """
    return "\n\n".join(
        text for joint in mechanism.ordered if (text := _chart(joint, mechanism.coordinate_names))
    )


def _chart(joint: Joint, names: tuple[str, ...]) -> str:
    head = f"{joint.name}: {joint.parent} -> {joint.child}"
    own = [n for n in names if n == joint.name or n.startswith(f"{joint.name}.")]
    turns, k = [], 0
    for freedom in joint.freedoms:
        if freedom.motion not in (Motion.TURN, Motion.SLIDE):
            return f"{head}\n  any rotation: no chart of single turns"
        if freedom.motion == Motion.TURN:
            turns.append((tuple(freedom.axis), own[k] if k < len(own) else joint.name))
        k += freedom.nv
    rows = [next((i for i, x in enumerate(axis) if abs(x) == 1.0), None) for axis, _ in turns]
    if not turns:
        return ""
    if None in rows:
        return f"{head}\n  a turn about an oblique axis: no chart"
    width = max(LEAST_WIDTH, *(len(name) + 2 for _, name in turns))
    lines = [
        f"  {i + 1}  o" + "".join(("-" if row == i else " ") * (width - 1) + "o" for row in rows)
        for i in range(3)
    ]
    lines.append("      " + "".join(name.center(width) for _, name in turns).rstrip())
    slopes = (
        INCLINED[row] if sum(axis) > 0 else INCLINED[row][::-1]
        for row, (axis, _) in zip(rows, turns)
        if row is not None
    )
    lines.append("      " + "".join(x.center(width) for x in slopes).rstrip())
    return "\n".join([head, *lines])
