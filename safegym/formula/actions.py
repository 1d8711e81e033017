"""What formula text builds: an operator or a call and its operands to a value."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from safegym.errors import FormulaError
from safegym.formula.build import between, near
from safegym.formula.functions import maximum, minimum, norm
from safegym.formula.grammar import (
    ARITHMETIC,
    COMPARISONS,
    CONNECTIVE,
    JOIN,
    MANY_TERMS,
    ONE_TERM,
    PREFIX,
    WINDOWED_INFIX,
    WINDOWED_PREFIX,
)
from safegym.formula.nodes import Atom, Comparison, Formula, all_of, any_of, check_formula, negation
from safegym.formula.operations import applied, compared, power
from safegym.formula.quantile import not_from_above
from safegym.formula.statements import Bound, Conditional, Mean, Probability, Quantile, Share
from safegym.formula.terms import Constant, Term
from safegym.formula.vectors import Elementwise
from safegym.formula.windows import Window


class Chain:
    """A row of formulas joined by one of `and`, `or`, built into one node when it is complete."""

    __slots__ = ("items", "word")

    def __init__(self, word: str, items: "deque[Formula]") -> None:
        self.word = word
        self.items = items


@dataclass(frozen=True, slots=True)
class Given:
    """`formula given condition`, which only prob(...) takes."""

    formula: Formula
    condition: Formula


Unbounded = Probability | Conditional | Quantile | Share | Mean
Value = Term | Formula | Elementwise | Unbounded | Given | Bound
Operand = Value | Chain


def settled(value: Operand) -> Value:
    """Returns the value, a finished row as one formula."""
    if isinstance(value, Chain):
        return all_of(value.items) if value.word == "and" else any_of(value.items)
    return value


def kind_of(value: Operand) -> str:
    """Returns what a value is, in words."""
    if isinstance(value, Term):
        return "a term; compare it: x > 0"
    if isinstance(value, Elementwise):
        return f"a comparison of vectors; {value.finish}"
    if isinstance(value, (Formula, Chain)):
        return "a formula"
    if isinstance(value, Given):
        return "`a given b` outside prob(...); write prob(a given b) < 0.01"
    if isinstance(value, (Probability, Conditional)):
        return "prob(...)"
    if isinstance(value, Quantile):
        return "quantile(...)"
    if isinstance(value, Share):
        return "fraction(...)"
    return "mean(...)" if isinstance(value, Mean) else "a whole statement"


def prefix(word: str, value: Value, window: Window) -> Value:
    """Returns a one-place operator applied. Raises FormulaError if the operand does not fit."""
    if word == "-":
        return applied("neg", _term(value, "unary minus"))
    argument = _formula(value, word)
    if word in WINDOWED_PREFIX:
        return WINDOWED_PREFIX[word](argument, window)
    return negation(argument) if word == "not" else PREFIX[word](argument)


def infix(word: str, left: Operand, right: Operand, window: Window) -> Operand:
    """Returns a two-place operator applied. Raises FormulaError if an operand does not fit."""
    if word in JOIN:
        return _join(word, left, right)
    one, two = settled(left), settled(right)
    if word in COMPARISONS:
        return _compare(one, COMPARISONS[word], two)
    if word in ARITHMETIC:
        return applied(ARITHMETIC[word], _term(one, word), _term(two, word))
    held, other = _formula(one, word), _formula(two, word)
    if word == "given":
        return Given(held, other)
    if word in CONNECTIVE:
        return CONNECTIVE[word](held, other)
    return WINDOWED_INFIX[word](held, other, window)


def power_of(base: Value, exponent: int) -> Term:
    """Returns base^exponent. Raises FormulaError unless the base is a term."""
    return power(_term(base, "^"), exponent)


def _join(word: str, left: Operand, right: Operand) -> Chain:
    """Joins two rows, the shorter into the longer, so that any grouping takes near-linear time."""
    first, second = _row(word, left), _row(word, right)
    if len(first) >= len(second):
        first.extend(second)
        return Chain(word, first)
    second.extendleft(reversed(first))
    return Chain(word, second)


def _row(word: str, value: Operand) -> "deque[Formula]":
    if isinstance(value, Chain) and value.word == word:
        return value.items
    found = _formula(settled(value), word)
    check_formula(found, word)
    return deque((found,))


def _compare(left: Value, comparison: Comparison, right: Value) -> Value:
    if isinstance(left, (Probability, Conditional, Quantile, Share, Mean)):
        return _bounded(left, comparison, _number(right, f"{kind_of(left)} {comparison}"))
    if isinstance(right, (Probability, Conditional, Quantile, Share, Mean)):
        raise FormulaError(f"write {kind_of(right)} first, then its bound")
    return compared(_term(left, comparison), comparison, _term(right, comparison))


def _bounded(left: Unbounded, comparison: Comparison, bound: float) -> Value:
    if comparison == ">":
        return left > bound
    if comparison == ">=":
        return left >= bound
    if isinstance(left, Quantile):
        not_from_above(left, comparison, bound)
    return left < bound if comparison == "<" else left <= bound


@dataclass(frozen=True, slots=True)
class Call:
    """A word with arguments in parentheses."""

    word: str
    window: Window

    def apply(self, arguments: Sequence[Value]) -> Value:
        """Returns the value. Raises FormulaError if the arguments do not fit."""
        if self.word in MANY_TERMS:
            terms = [_term(argument, self.word) for argument in arguments]
            return {"min": minimum, "max": maximum, "norm": norm}[self.word](*terms)
        if self.word in ("all_of", "any_of"):
            return _all_or_any(self.word, arguments)
        wanted = _PLACES.get(self.word, 1)
        if len(arguments) != wanted:
            raise FormulaError(f"{self.word} takes {wanted} argument(s), found {len(arguments)}")
        return self._fixed(arguments)

    def _fixed(self, arguments: Sequence[Value]) -> Value:
        first = arguments[0]
        if self.word in ONE_TERM:
            return applied(ONE_TERM[self.word], _term(first, self.word))
        if self.word == "between":
            return between(*(_term(argument, "between") for argument in arguments))
        if self.word == "near":
            return near(*(_term(argument, "near") for argument in arguments))
        if self.word == "scaled":
            return _scaled(first, arguments[1])
        if self.word == "mean":
            if not isinstance(first, Share):
                raise FormulaError(f"mean takes fraction(formula), found {kind_of(first)}")
            return Mean(first.argument)
        if self.word == "quantile":
            return Quantile(_formula(first, "quantile"), _number(arguments[1], "quantile's q"))
        if self.word == "prob" and isinstance(first, Given):
            return Conditional(first.formula, first.condition)
        if self.word in ("prob", "fraction"):
            return _measure(self.word, _formula(first, self.word))
        return prefix(self.word, first, self.window)


_PLACES = {"scaled": 2, "quantile": 2, "between": 3, "near": 3}


def _all_or_any(word: str, arguments: Sequence[Value]) -> Formula:
    if len(arguments) == 1 and isinstance(arguments[0], Elementwise):
        listed = list(arguments[0])
    else:
        listed = [_formula(argument, word) for argument in arguments]
    return all_of(listed) if word == "all_of" else any_of(listed)


def _measure(word: str, formula: Formula) -> Value:
    if word == "prob":
        return Probability(formula)
    check_formula(formula, word)
    return Share(formula)


def _scaled(atom: Value, scale: Value) -> Value:
    if isinstance(atom, Elementwise):
        return atom.scaled(_number(scale, "scaled"))
    if not isinstance(atom, Atom):
        raise FormulaError(f"scaled takes an atom such as x > 0 first, found {kind_of(atom)}")
    return atom.scaled(_number(scale, "scaled"))


def _number(value: Value, where: str) -> float:
    if isinstance(value, Constant) and value.unit is None:
        return value.value
    raise FormulaError(f"{where} takes a plain number, found {kind_of(value)}")


def _term(value: Value, where: str) -> Term:
    if isinstance(value, Term):
        return value
    raise FormulaError(f"{where} takes terms, found {kind_of(value)}{_hint(value, where)}")


def _formula(value: Value, where: str) -> Formula:
    if isinstance(value, Formula):
        return value
    raise FormulaError(f"{where} takes formulas, found {kind_of(value)}")


def _hint(value: Value, where: str) -> str:
    if where in COMPARISONS and isinstance(value, Formula):
        return "; for a < x < b write (a < x) and (x < b)"
    return ""
