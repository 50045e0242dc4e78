"""Machine: a mechanism that answers. Checked arguments in front, machine code behind.

    machine            compile, Machine: the quantities of a mechanism as methods, for one state and for batches
    arguments          states, wrenches and parameters, checked once
    lookup             the mechanism or machine that a question is put to, and the names in it
    equation_machine   a Machine whose forward dynamics are those of one formulation
    constraint_rows    the rows that loops and speed constraints add, at one state; terms: M, b, A and gamma
    reactions          the wrench in every joint, loops included
    bridge             the conventions of Pinocchio, MuJoCo and Drake
    export             a quantity as C
"""
