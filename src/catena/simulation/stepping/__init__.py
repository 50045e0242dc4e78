"""Time stepping: contacts by steps of equal length instead of events.

time_stepping     the step: two tapes, and between them the contact problem
stepping_plan     what was asked, checked
stepped_patches, stepped_hulls, stepped_rims
                  the contact points of pairs of shapes in a step
"""
