"""What other road users do: where they start, and what they want as time goes by."""

from math import sin

from safegym_scenarios.vehicle.traffic import Start, Values, Wish


def lead_start(values: Values) -> tuple[Start, ...]:
    """One ahead, `gap` m from bumper to bumper."""
    return (Start(values["gap"] + 4.5, values["lead_speed"]),)


def lead_swaying(values: Values, seconds: float, along: float) -> tuple[Wish, ...]:
    """One ahead whose speed swings by `swing` m/s around its start, every `period` s."""
    swing = values["swing"] * sin(6.2832 * seconds / values["period"])
    return (Wish(values["lead_speed"] + swing),)


def lead_stopping(values: Values, seconds: float, along: float) -> tuple[Wish, ...]:
    """One ahead that stands from `stop_time` s on for `stop_length` s, and goes again."""
    stands = 0.0 <= seconds - values["stop_time"] < values["stop_length"]
    return (Wish(0.0 if stands else values["lead_speed"]),)


def lead_braking(values: Values, seconds: float, along: float) -> tuple[Wish, ...]:
    """One ahead that brakes to a lower speed at `brake_time` s."""
    slow = values["lead_speed"] * values["left_speed"]
    return (Wish(slow if seconds >= values["brake_time"] else values["lead_speed"]),)


def cut_in_start(values: Values) -> tuple[Start, ...]:
    """One far ahead in the lane, one in the lane to the left that is soon to come in."""
    far = Start(90.0, values["lead_speed"])
    return far, Start(values["gap"] + 4.5, values["lead_speed"], 3.5)


def cutting_in(values: Values, seconds: float, along: float) -> tuple[Wish, ...]:
    """The one to the left comes in at `cut_time` s and slows down a little."""
    comes = seconds >= values["cut_time"]
    far = Wish(values["lead_speed"])
    return far, Wish(values["lead_speed"] - (2.0 if comes else 0.0), 0.0 if comes else 3.5)


def standing_start(values: Values) -> tuple[Start, ...]:
    """One that stands `gap` m ahead."""
    return (Start(values["gap"] + 4.5, 0.0),)


def standing(values: Values, seconds: float, along: float) -> tuple[Wish, ...]:
    """It stays there."""
    return (Wish(0.0),)


def stepping_out_start(values: Values) -> tuple[Start, ...]:
    """Somebody to the right of the road behind a parked van; paths of their own, see the scene."""
    return Start(values["waits_at"], 0.0), Start(0.0, 0.0)


def stepping_out(values: Values, seconds: float, along: float) -> tuple[Wish, ...]:
    """They walk once the car is within `notice` m of the crossing at 60 m."""
    walks = along >= 60.0 - values["notice"]
    return Wish(values["walking"] if walks else 0.0), Wish(0.0)


def junction_start(values: Values) -> tuple[Start, ...]:
    """One on the road from the right, `away` m from where the two roads cross."""
    return (Start(60.0 - values["away"], values["lead_speed"]),)


def two_start(values: Values) -> tuple[Start, ...]:
    """Two in the roundabout, `away` m and `away` + `apart` m before the way in."""
    first = 80.0 - values["away"]
    return Start(first, values["lead_speed"]), Start(first - values["apart"], values["lead_speed"])


def straight_on(values: Values, seconds: float, along: float) -> tuple[Wish, ...]:
    """All drive on as they are."""
    return (Wish(values["lead_speed"]), Wish(values["lead_speed"]))


def crossing_on(values: Values, seconds: float, along: float) -> tuple[Wish, ...]:
    """It drives on."""
    return (Wish(values["lead_speed"]),)
