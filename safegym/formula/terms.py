"""Terms: real-valued expressions over signals, with units."""

from fractions import Fraction
from typing import Literal

from safegym.formula.interning import Interned

Hold = Literal["sample", "max", "min", "any"]
Operation = Literal["+", "-", "*", "/", "neg", "abs", "min", "max", "norm", "sqrt", "exp", "sin", "cos"]


class Term(Interned):
    """A real-valued expression. Comparing it with `< <= > >=` builds an atom."""

    __slots__ = ()


class Signal(Term):
    """A named quantity that a trace carries, one value (or vector) a sample.

    name: identifier. unit: text, "1" if none. shape: () or (d,). scale: finite, > 0; margins of
    atoms over it are divided by this. bounds: (lowest, highest) declared values. max_rate: largest
    change per second. hold: what a sample stands for over the time since the last one.
    """

    __slots__ = ("name", "unit", "shape", "scale", "bounds", "max_rate", "hold")
    name: str
    unit: str
    shape: tuple[int, ...]
    scale: float | None
    bounds: tuple[float, float] | None
    max_rate: float | None
    hold: Hold

    def __new__(
        cls,
        name: str,
        unit: str = "1",
        shape: tuple[int, ...] = (),
        scale: float | None = None,
        bounds: tuple[float, float] | None = None,
        max_rate: float | None = None,
        hold: Hold = "sample",
    ) -> "Signal":
        return cls._intern(name, unit, shape, scale, bounds, max_rate, hold)


class Component(Term):
    """One component of a vector signal: `Signal("p", "m", shape=(3,))[2]`."""

    __slots__ = ("signal", "index")
    signal: Signal
    index: int

    def __new__(cls, signal: Signal, index: int) -> "Component":
        return cls._intern(signal, index)


class Constant(Term):
    """A number; it means its binary64 value. unit None: takes the unit of what it meets."""

    __slots__ = ("value", "unit")
    value: float
    unit: str | None

    def __new__(cls, value: float, unit: str | None = None) -> "Constant":
        return cls._intern(float(value), unit)


class Apply(Term):
    """An operation on terms. `+ - * /` take two, `min max norm` one or more, the rest one."""

    __slots__ = ("operation", "arguments")
    operation: Operation
    arguments: tuple[Term, ...]

    def __new__(cls, operation: Operation, arguments: tuple[Term, ...]) -> "Apply":
        return cls._intern(operation, arguments)


class Window(Interned):
    """A closed time window [lo, hi]; hi None is unbounded.

    In a formula as written the bounds are seconds; in a step formula (`rewrite.to_steps`) they
    are whole numbers of samples.
    """

    __slots__ = ("lo", "hi")
    lo: Fraction
    hi: Fraction | None

    def __new__(cls, lo: Fraction | int, hi: Fraction | int | None) -> "Window":
        return cls._intern(Fraction(lo), None if hi is None else Fraction(hi))


UNBOUNDED = Window(0, None)
