"""What a mechanism is: frozen records that describe bodies, joints and loads, and the rules they obey.

    mechanism       Mechanism, Body, Joint, Frame, Shape, Mimic: inert data
    pose            Pose, a rotation and a position
    joints          the catalogue of joint kinds; closure: what each constrains; reversal: each from its other side
    loads           springs, bushings, forces, knife edges, rolling, speed rows
    beams           Beam, a flexible body; flexible/: a beam made into bodies, joints and springs
    spanning_tree   a graph of bodies and joints cut to a tree and the joints that close it
    expressions     texts such as "m1*l1^2/12", parsed against a whitelist and evaluated over any scalar
    validation      every fault of a mechanism, told at once
"""
