"""Absolute coordinates: every link is a free body, and each joint a set of constraints between two
free bodies.

    links               which bodies move as one, with their mass properties
    joint_constraints   constraints, speeds and coordinates of a joint, computed from the poses of
                        its two bodies
    constraint_rows     all constraints as rows, with their first and second rates
    charts              the coordinates and speeds of one link: in the plane, in space, or those of
                        its joint
    attitude            the angles and the quaternion of a rotation

This package has kinematics only; newton_euler and penalty add forces and solve for the motion.
"""
