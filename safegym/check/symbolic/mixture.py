"""Whether a distribution over episodes meets bounds on probabilities: exact linear programmes.

An episode is a pattern: of each claim, whether its property holds, and its condition. Each claim
bounds a weighted sum over the distribution. By Motzkin's theorem of the alternative, either some
mix of the patterns seen so far meets all bounds, or some combination of the bounds is broken by
every one of them; z3 is then asked for a trace whose pattern does not break it. Where there is
none, the combination is broken by every trace, and the claims in it cannot hold together.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from safegym.check.symbolic.asking import Asker, Wanted, confirmed
from safegym.check.symbolic.encode import q
from safegym.check.symbolic.engine import Bool, Real, exact_value_of, total, z3
from safegym.formula.claim import Claim
from safegym.formula.nodes import Formula
from safegym.formula.statements import ConditionalBound, ProbBound, QuantileBound

Pattern = tuple[bool | None, ...]
"""Of each thing asked about an episode, whether it holds; None where it was not looked at."""
MOST = 400
"""Most patterns that are collected."""


@dataclass(frozen=True, slots=True)
class Row:
    """counts * P(the episode counts) + fails * P(the property fails) is > 0 (strict) or >= 0.

    claim: the number of the claim that asks for it.
    """

    claim: int
    counts: Fraction
    fails: Fraction
    strict: bool


@dataclass(frozen=True, slots=True)
class Fit:
    """word: "sat" with the weights of patterns; "unsat" with the claims that exclude each other."""

    word: str
    weights: tuple[tuple[Fraction, Pattern], ...] = ()
    claims: tuple[int, ...] = ()


def asked_of(claims: Sequence[Claim]) -> list[tuple[Formula, Claim]]:
    """Returns what a pattern says of each episode: every claim's property, then its condition."""
    found: list[tuple[Formula, Claim]] = []
    for claim in claims:
        found.append((claim.property, claim))
        if claim.condition is not None:
            found.append((claim.condition, claim))
    return found


def rows_of(number: int, claim: Claim, *, negated: bool = False) -> Iterator[Row]:
    """Yields what a claim (or that it is false) asks of a distribution.

    A claim about each trace fails with probability 0. One with a condition needs that to have some
    probability, and bounds the failures by a share of it.
    """
    share, strict = _limit(claim)
    if claim.condition is not None:
        yield Row(number, Fraction(1), Fraction(0), strict=True)
    if negated:
        yield Row(number, -share, Fraction(1), strict=not strict)
    else:
        yield Row(number, share, Fraction(-1), strict=strict)


def _limit(claim: Claim) -> tuple[Fraction, bool]:
    """The largest share of counting episodes that may fail, and whether it must stay below."""
    statement = claim.statement
    if isinstance(statement, QuantileBound):
        return _as_written(statement.q), True
    if not isinstance(statement, ProbBound | ConditionalBound):
        return Fraction(0), False
    threshold = _as_written(statement.threshold)
    below = statement.comparison in ("<", "<=")
    return (threshold if below else 1 - threshold), statement.comparison in ("<", ">")


def _as_written(number: float) -> Fraction:
    """The decimal that a claim shows: 0.9 and 0.1 add up to 1, as binary64 numbers they do not."""
    return Fraction(repr(float(number)))


@dataclass
class Mixtures:
    """Fits of sets of claims, with the patterns seen so far in common."""

    claims: Sequence[Claim]
    asker: Asker
    _pool: list[Pattern] = field(default_factory=list)

    def fit(self, chosen: Sequence[int], *, negated: int | None = None) -> Fit:
        """Whether some distribution meets the chosen claims, and breaks the `negated` one."""
        rows = [row for number in chosen for row in rows_of(number, self.claims[number])]
        if negated is not None:
            rows += rows_of(negated, self.claims[negated], negated=True)
        while len(self._pool) <= MOST:
            pool = [pattern for pattern in self._pool if self._tells(pattern, rows)]
            found = self._combination(rows, pool)
            if found is None:
                return Fit("unknown")
            if not found:
                return self._weights(rows, pool)
            word, pattern = self._pattern(rows, found)
            if word == "unsat":
                used = [row.claim for row, y in zip(rows, found, strict=False) if y > 0]
                return Fit("unsat", claims=tuple(dict.fromkeys(used)))
            if pattern is None or pattern in self._pool:
                return Fit("unknown")
            self._pool.append(pattern)
        return Fit("unknown")

    def _place(self, number: int) -> int:
        return sum(1 + (claim.condition is not None) for claim in self.claims[:number])

    def _value(self, row: Row, pattern: Pattern) -> Fraction:
        """The row's weighted sum for an episode of this pattern."""
        at = self._place(row.claim)
        counts = self.claims[row.claim].condition is None or bool(pattern[at + 1])
        zero = Fraction(0)
        return (row.counts if counts else zero) + (zero if pattern[at] else row.fails)

    def _tells(self, pattern: Pattern, rows: Sequence[Row]) -> bool:
        places = {self._place(row.claim) for row in rows}
        given = {
            self._place(r.claim) + 1 for r in rows if self.claims[r.claim].condition is not None
        }
        return all(pattern[at] is not None for at in places | given)

    def _combination(self, rows: Sequence[Row], pool: Sequence[Pattern]) -> list[Fraction] | None:
        """Weights of the rows, then a slack, whose sum every pattern breaks; [] if there are none.

        Weights y >= 0 and t >= 0 with sum y a(p) <= -t for each pattern p, and t + the strict
        rows' weights = 1.
        """
        ys = [z3.Real(f"y{number}") for number in range(len(rows))]
        slack = z3.Real("t")
        rules = [*(y >= 0 for y in ys), slack >= 0]
        rules.append(
            total([slack, *(y for y, row in zip(ys, rows, strict=True) if row.strict)]) == 1
        )
        for pattern in pool:
            values = [q(self._value(row, pattern)) * y for row, y in zip(rows, ys, strict=True)]
            rules.append(total([*values, slack]) <= 0)
        word, model = self.asker.put(rules)
        if word == "unsat":
            return []
        if word != "sat" or model is None:
            return None
        found = [exact_value_of(model, real) for real in (*ys, slack)]
        return None if None in found else [value for value in found if value is not None]

    def _weights(self, rows: Sequence[Row], pool: Sequence[Pattern]) -> Fit:
        """The mix of the patterns seen so far."""
        ws = [z3.Real(f"w{number}") for number in range(len(pool))]
        rules = [total(ws) == 1, *(w >= 0 for w in ws)]
        for row in rows:
            whole = total([q(self._value(row, p)) * w for p, w in zip(pool, ws, strict=True)])
            rules.append(whole > 0 if row.strict else whole >= 0)
        word, model = self.asker.put(rules)
        if word != "sat" or model is None:
            return Fit("unknown")
        weights = [exact_value_of(model, w) or Fraction(0) for w in ws]
        mixed = [(w, p) for w, p in zip(weights, pool, strict=True) if w > 0]
        return Fit("sat", weights=tuple(mixed))

    def _pattern(
        self, rows: Sequence[Row], combination: Sequence[Fraction]
    ) -> tuple[str, Pattern | None]:
        """A trace's pattern that does not break the combination of rows."""
        asked = asked_of(self.claims)
        used = {row.claim for row in rows}
        world = self.asker.world()
        steps = {
            place: self.asker.steps(formula, claim)
            for place, (formula, claim) in enumerate(asked)
            if any(claim is self.claims[number] for number in used)
        }
        truth: dict[int, Bool] = {place: world.holds(step) for place, step in steps.items()}
        terms: list[Real] = [q(combination[-1])]
        for row, y in zip(rows, combination, strict=False):
            at = self._place(row.claim)
            if y == 0:
                continue
            terms.append(z3.If(truth[at], q(Fraction(0)), q(y * row.fails)))
            if self.claims[row.claim].condition is None:
                terms.append(q(y * row.counts))
            else:
                terms.append(z3.If(truth[at + 1], q(y * row.counts), q(Fraction(0))))
        here = self.asker.here([(*asked[place], True) for place in steps])
        rules = [*here.rules(), total(terms) > 0]
        word, model = self.asker.put(rules)
        if self.asker.export is not None:
            self.asker.export.write("pattern of truth values", rules, word)
        if word != "sat" or model is None:
            return word, None
        held = {
            at: z3.is_true(model.eval(each, model_completion=True)) for at, each in truth.items()
        }
        wanted: list[Wanted] = [(*asked[at], held[at]) for at in held]
        trace = here.trace(model)
        agreed = all(confirmed(trace, *each) for each in wanted)
        if not agreed and self.asker.ask("pattern of truth values", wanted).word != "sat":
            return "unknown", None
        return "sat", tuple(held.get(at) for at in range(len(asked)))
