"""Time stepping: contacts by steps of equal length instead of events.

time_stepping     the step: two compiled functions, and between them the contact problem
stepping_plan     the options, checked
stepped_patches, stepped_hulls, stepped_rims
                  the contact points of pairs of shapes in a step
"""
