"""The knobs that every environment of Gymnasium can have, as declared parameters.

Each is at rest by default. A scenario whose sensor is always late or noisy declares the same name
among its `parameters`, where a seed draws it.
"""

from safegym.scenario.spec import Parameter

ACTUATOR_LOSS = "actuator_loss"
ACTUATOR_LOSS_TIME = "actuator_loss_time"
ACTION_DELAY = "action_delay"
SENSOR_NOISE = "sensor_noise"
SENSOR_BIAS = "sensor_bias"
SENSOR_DROPOUT = "sensor_dropout"
SENSOR_DELAY = "sensor_delay"


def actuator_faults(seconds: float) -> tuple[Parameter, ...]:
    """How much of the actuators' effort is lost, and when. seconds: length of an episode."""
    return (
        Parameter(ACTUATOR_LOSS, "1", 0.0, 1.0, 0.0, "share of the actuators' effort that is lost"),
        Parameter(ACTUATOR_LOSS_TIME, "s", 0.0, seconds, 0.0, "when it is lost"),
    )


def action_delay(longest: float) -> Parameter:
    """How late an action acts, up to `longest` s, in whole control steps."""
    return Parameter(
        ACTION_DELAY, "s", 0.0, longest, 0.0, "how late an action acts, in whole control steps"
    )


def sensor_noise(largest: float = 0.2) -> Parameter:
    """Standard deviation of white noise, in the scale of each observed quantity."""
    return Parameter(
        SENSOR_NOISE, "1", 0.0, largest, 0.0, "noise on each reading: deviation over its scale"
    )


def sensor_bias(largest: float = 0.2) -> Parameter:
    """A constant error of every reading, in the scale of each observed quantity."""
    return Parameter(
        SENSOR_BIAS, "1", -largest, largest, 0.0, "constant error of each reading over its scale"
    )


def sensor_dropout(largest: float = 0.9) -> Parameter:
    """Probability at each step that no reading comes and the last one stands."""
    return Parameter(
        SENSOR_DROPOUT, "1", 0.0, largest, 0.0, "probability that a reading fails to come"
    )


def sensor_delay(longest: float) -> Parameter:
    """How old the readings are, up to `longest` s, in whole control steps."""
    return Parameter(
        SENSOR_DELAY, "s", 0.0, longest, 0.0, "how old the readings are, in whole control steps"
    )


def standard_faults(
    dt: float,
    horizon: int,
    *,
    latest: float | None = None,
    steps: int = 3,
    noise: float = 0.1,
    dropout: float = 0.5,
    without: tuple[str, ...] = (),
) -> tuple[Parameter, ...]:
    """All of them. dt: control step, s. horizon: in steps.

    latest: last onset of the actuators' loss, s; the horizon without it. steps: longest delays, in
    control steps. noise, dropout: upper ends of their ranges; the bias is as large as the noise.
    without: names that the scenario declares otherwise, such as among its parameters.
    """
    longest = round(steps * dt, 9)
    every = (
        *actuator_faults(horizon * dt if latest is None else latest),
        action_delay(longest),
        sensor_noise(noise),
        sensor_bias(noise),
        sensor_dropout(dropout),
        sensor_delay(longest),
    )
    return tuple(each for each in every if each.name not in without)
