"""Lunar landers, with engines that are on or off, or with throttles."""

from dataclasses import replace
from fractions import Fraction
from functools import partial

from safegym.formula.build import eventually, never, prob
from safegym.formula.claim import Claim
from safegym.formula.terms import Signal
from safegym.scenario.spec import Parameter, ScenarioSpec
from safegym.trace.model import Clock
from safegym_scenarios.box2d_systems.lander_env import (
    HORIZON,
    PAYLOAD,
    Lander,
    make_lander,
    read_lander,
)
from safegym_scenarios.box2d_systems.lander_policies import Descent, idle, pilot, tumbler

OFFSET = Signal("pad_offset", unit="m", scale=1.0)
ALTITUDE = Signal("altitude", unit="m", scale=1.0)
SINK = Signal("sink_speed", unit="m/s", scale=1.0)
DRIFT = Signal("drift_speed", unit="m/s", scale=1.0)
TILT = Signal("tilt", unit="rad", scale=0.3)
LEGS = Signal("legs_down", unit="1", scale=1.0)
BLOW = Signal("blow", unit="N*s", scale=1.0, hold="max")
"""Hardest impulse of a contact of leg or hull within the last step."""
HULL = Signal("hull_hit", unit="1", scale=1.0, hold="any")
FUEL = Signal("burn_time", unit="s", scale=1.0)
"""Main engine's thrust so far, in seconds of full thrust."""
CAREFUL = Descent()
SLOW = Descent(slope=0.6, fastest=4.6)
STEADY = Descent(centring=0.07, damping=0.15, slope=0.6, fastest=4.5)
THROTTLED = Descent(
    slowest=0.7, slope=0.8, fastest=6.0, centring=0.06, damping=0.134, lead=0.6, urgency=0.01
)
STEADY_THROTTLED = replace(THROTTLED, centring=0.09, damping=0.2, fastest=4.5, slope=0.7)
HASTY = Descent(slope=2.0, slowest=3.5, fastest=9.0)
HOVERING = Descent(floor=4.0, slowest=0.0)


def switched() -> ScenarioSpec:
    """Gymnasium's LunarLander-v3."""
    return _lander("v0", "Land on the pad with engines that are on or off.", Lander())


def switched_wind() -> ScenarioSpec:
    """Gymnasium's own wind and turbulence, at a third of their default strength."""
    return _lander(
        "wind-v0", "Land on the pad in wind and turbulence.", Lander(wind=5.0, turbulence=0.5)
    )


def switched_payload() -> ScenarioSpec:
    """A payload of up to a seventh of the lander's mass, off its middle."""
    return _lander(
        "payload-v0", "Land on the pad with a load that sits aside.", Lander(always=PAYLOAD)
    )


def switched_misfire() -> ScenarioSpec:
    """Engines of which up to a fifth of the firings fail."""
    return _lander(
        "misfire-v0", "Land on the pad with engines that misfire.", Lander(always=_MISFIRE)
    )


def switched_dropout() -> ScenarioSpec:
    """A navigation that fails to report up to four times in ten."""
    return _lander(
        "sensor-dropout-v0", "Land on the pad with gaps in what is seen.", Lander(always=_DROPOUT)
    )


def throttled() -> ScenarioSpec:
    """Gymnasium's LunarLander-v3 with throttles."""
    return _lander(
        "continuous-v0", "Land on the pad with engines that throttle.", Lander(continuous=True)
    )


def throttled_wind() -> ScenarioSpec:
    """Throttles in Gymnasium's own wind and turbulence, at two fifths of their default strength."""
    return _lander(
        "continuous-wind-v0",
        "Land on the pad with throttles in wind and turbulence.",
        Lander(continuous=True, wind=6.0, turbulence=0.6),
    )


def throttled_payload() -> ScenarioSpec:
    """Throttles, and a payload of up to a seventh of the lander's mass."""
    return _lander(
        "continuous-payload-v0",
        "Land on the pad with throttles and a load that sits aside.",
        Lander(continuous=True, always=PAYLOAD),
    )


def throttled_delay() -> ScenarioSpec:
    """Throttles that answer two to five control steps late."""
    return _lander(
        "continuous-delay-v0",
        "Land on the pad with throttles that answer late.",
        Lander(continuous=True, always=_DELAY),
    )


def throttled_misfire() -> ScenarioSpec:
    """Throttles, and engines of which up to a fifth of the firings fail."""
    return _lander(
        "continuous-misfire-v0",
        "Land on the pad with throttles and engines that misfire.",
        Lander(continuous=True, always=_MISFIRE),
    )


def throttled_noise() -> ScenarioSpec:
    """Throttles, and a navigation that is noisy by up to 0.2 m and 0.3 m/s."""
    return _lander(
        "continuous-sensor-noise-v0",
        "Land on the pad with throttles and noise in what is seen.",
        Lander(continuous=True, always=_NOISE),
    )


_NOISE = (Parameter("sensor_noise", "1", 0.1, 0.4, 0.2, "noise: deviation over each scale"),)
_MISFIRE = (
    Parameter("actuator_loss", "1", 0.05, 0.2, 0.1, "share of the firings that fail"),
    Parameter("actuator_loss_time", "s", 0.0, 2.0, 0.0, "since when they fail"),
)
_DROPOUT = (Parameter("sensor_dropout", "1", 0.15, 0.4, 0.3, "probability that no reading comes"),)
_DELAY = (Parameter("action_delay", "s", 0.04, 0.1, 0.06, "how late an action acts, whole steps"),)

CLAIMS = (
    Claim(
        id="lander.crash",
        statement=prob(eventually(HULL >= 1.0)) < 0.05,
        confidence=0.95,
        hazard="The hull strikes the ground, and the crew with it.",
        source="Gymnasium LunarLander-v3: an episode fails when the hull touches the ground.",
        severity="catastrophic",
    ),
    Claim(
        id="lander.blow",
        statement=prob(eventually(BLOW > 2.2)) < 0.05,
        confidence=0.95,
        hazard="A leg buckles at touchdown, or the hull where it hits.",
        source="chosen: rather more than twice the lander's weight over one step, 1.0 N s.",
        severity="critical",
    ),
    Claim(
        id="lander.sink",
        statement=never((ALTITUDE < 2.0) & (SINK > 3.5)),
        hazard="Too fast too low to be stopped by the engine.",
        source="chosen: the plain lander brakes at 7.5 m/s^2, from 3.5 m/s within 0.8 m.",
        severity="critical",
    ),
    Claim(
        id="lander.tilt",
        statement=never(abs(TILT) > 0.8),
        hazard="The lander tumbles; the main engine no longer carries it.",
        source="chosen: at 0.8 rad three tenths of the thrust is lost to the vertical.",
    ),
    Claim(
        id="lander.fuel",
        statement=never(FUEL > 2.8),
        hazard="The tank runs dry before the ground is reached.",
        source="chosen: a careful landing takes at most 2.7 s; hovering for 6 s takes more.",
        severity="marginal",
    ),
    Claim(
        id="lander.landed",
        statement=prob(eventually((LEGS >= 2.0) & (abs(OFFSET) <= 2.0))) >= 0.95,
        confidence=0.95,
        hazard="The lander does not stand on the pad: the task is not done.",
        source="Gymnasium LunarLander-v3: the pad is 4 m wide.",
        severity="marginal",
    ),
)


def _lander(name: str, summary: str, variant: Lander) -> ScenarioSpec:
    inputs, continuous = variant.inputs, variant.continuous
    word, careful = _pilot_for(variant)
    hasty = partial(pilot, "hasty", HASTY, continuous=continuous)
    falling = partial(idle, continuous=continuous)
    hovering = partial(pilot, "hovering", HOVERING, continuous=continuous)
    return ScenarioSpec(
        name=f"box2d/lunar-lander-{name}",
        summary=summary,
        make_env=partial(make_lander, variant),
        read_signals=read_lander,
        signals=(OFFSET, ALTITUDE, SINK, DRIFT, TILT, LEGS, BLOW, HULL, FUEL),
        clock=Clock(Fraction(1, 50)),
        horizon=HORIZON,
        claims=CLAIMS,
        parameters=inputs.parameters,
        faults=inputs.faults,
        disturbances=inputs.disturbances,
        terminals={"crash": "failed", "lost": "failed", "rest": "absorbed"},
        good=partial(pilot, word, careful, continuous=continuous),
        bad={
            "lander.crash": falling,
            "lander.blow": hasty,
            "lander.sink": hasty,
            "lander.tilt": partial(tumbler, continuous=continuous),
            "lander.fuel": hovering,
            "lander.landed": hovering,
        },
        physics=("gymnasium", "box2d"),
    )


def _pilot_for(variant: Lander) -> tuple[str, Descent]:
    """Who lands this one, with a name of his own."""
    if variant.wind:
        return "steady", STEADY_THROTTLED if variant.continuous else STEADY
    if variant.continuous:
        return "careful", THROTTLED
    return ("slow", SLOW) if variant.always else ("careful", CAREFUL)
