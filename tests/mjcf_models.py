"""MJCF models that several tests use."""

INERTIAL = '<inertial mass="{}" pos=".1 .02 -.03" quat=".9 .1 .3 -.2" diaginertia=".02 .03 .04"/>'

TREE = f"""<mujoco model="tree"><compiler angle="radian"/><option gravity="1 -2 -9"/>
<worldbody>
  <geom name="floor" type="plane" size="1 1 1"/>
  <body name="base" pos="0 0 1" quat=".8 .1 .2 .5">{INERTIAL.format(2)}<freejoint name="root"/>
    <body name="arm" pos=".3 .1 0" quat=".7 0 .7 .1">{INERTIAL.format(1)}
      <joint name="hinge" axis="1 2 3" pos=".1 .2 .3" ref=".4" springref=".7" stiffness="5" damping=".3" armature=".01" range="-1 1"/>
      <joint name="slide" type="slide" axis="0 1 1" ref=".2" stiffness="7" springref=".1" frictionloss=".2"/>
      <joint axis="0 1 0" pos="-.1 0 .1"/>
      <geom type="capsule" size=".05 .2" contype="0" conaffinity="0"/><site name="tip" pos=".2 0 0"/>
      <body name="hand" pos="0 .2 .1"><joint name="wrist" type="ball" pos=".01 .02 0"/>{INERTIAL.format(0.5)}<site name="palm"/></body>
    </body>
    <body name="fixed" pos="1 0 0" gravcomp=".5">{INERTIAL.format(0.3)}<site name="eye" pos="0 .1 0"/></body>
  </body>
</worldbody>
<tendon>
  <fixed name="belt" stiffness="11" damping=".5" springlength=".3"><joint joint="hinge" coef="2"/><joint joint="slide" coef="-3"/></fixed>
  <spatial name="cord" stiffness="13" damping=".7"><site site="eye"/><site site="tip"/><site site="palm"/></spatial>
  <spatial name="rope" stiffness="17" springlength="0 .1"><site site="eye"/><site site="tip"/></spatial>
</tendon>
<actuator><motor joint="hinge"/></actuator>
<keyframe><key name="home"/></keyframe>
</mujoco>"""  # noqa: E501
