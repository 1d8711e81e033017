"""Legged robots: names legged/....

`NAMES` is data alone, so that listing scenarios imports no simulator.
"""

NAMES: tuple[str, ...] = (
    "legged/stand-up-v0",
    "legged/stand-payload-v0",
    "legged/stand-push-v0",
    "legged/stand-ice-v0",
    "legged/stand-slope-v0",
    "legged/stand-deck-v0",
    "legged/stand-three-legs-v0",
    "legged/landing-v0",
    "legged/biped-push-v0",
    "legged/trot-v0",
    "legged/walk-ice-v0",
    "legged/walk-rough-v0",
    "legged/step-up-v0",
    "legged/crouch-bar-v0",
    "legged/turn-v0",
    "legged/hexapod-tripod-v0",
    "legged/hexapod-lame-v0",
    "legged/hexapod-rough-v0",
    "legged/biped-boom-v0",
    "legged/hopper-v0",
    "legged/wheels-goal-v0",
    "legged/wheels-kerb-v0",
)
