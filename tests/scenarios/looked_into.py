"""The scenarios whose tests go deep: a few of each kind. All others are tested by `verify`."""

DEEP = (
    "arm/human-stop-v0",
    "chain/plant-v0",
    "chain/quick-failures-v0",
    "chain/slow-failures-v0",
    "classic/braking-v0",
    "classic/cartpole-v0",
    "classic/pendulum-v0",
    "drone/corridor-direct-v0",
    "drone/corridor-v0",
)
