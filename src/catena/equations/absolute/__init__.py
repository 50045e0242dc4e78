"""Bodies: a mechanism taken apart. Every link is a free body, and a joint is what two free bodies know of each other.

    links     which bodies move as one, with their mass properties
    pairs     what a joint forbids, how fast it moves and where it stands, read from its two bodies
    rows      everything that is forbidden, with its rates
    charts    how the state of a link is written down: in the plane, in space, by its joint
    attitude  the angles and the quaternion of a rotation

Only kinematics stands here. Forces, and what to do about the rows, are the business of newton_euler and penalty.
"""
