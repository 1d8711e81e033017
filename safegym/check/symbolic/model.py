"""Claims against declared dynamics and a policy that z3 can carry: bounded, and by k-induction."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from numbers import Integral, Real
from pathlib import Path
from time import monotonic
from typing import Any, Literal

from safegym.check.loop.plant import assumptions_of
from safegym.check.symbolic.engine import LOCK, Bool, Model, answer, z3
from safegym.check.symbolic.model_answer import (
    ModelAnswer,
    ModelObligation,
    ModelResult,
    ModelSemantics,
)
from safegym.check.symbolic.model_claim import (
    Initial,
    asked_of,
    box_of,
    is_state_formula,
    region_of,
)
from safegym.check.symbolic.model_paths import Paths, bounded
from safegym.check.symbolic.model_policy import Encoding, encoding_of
from safegym.check.symbolic.model_replay import Replay, replayed
from safegym.check.symbolic.outline import Outline
from safegym.check.symbolic.smtlib import SmtLib
from safegym.check.symbolic.symbols import Symbols, symbol
from safegym.check.symbolic.unroll import Unrolling
from safegym.errors import UnsupportedError
from safegym.formula.claim import Claim
from safegym.formula.dynamics import Dynamics
from safegym.formula.expression import short
from safegym.formula.nodes import TRUE, Formula, all_of
from safegym.formula.reading import look_ahead
from safegym.formula.rewrite import negate, to_steps

Method = Literal["bounded", "induction", "auto"]
ROOM = Fraction(1, 10**6)
"""Units by which a second counterexample breaks each limit, where rounding saved the first."""
DEEPEST = 8
"""Largest k that `auto` tries to close the induction with."""


def check_model(
    dynamics: Dynamics,
    policy: Any,
    claim: Claim | Formula,
    *,
    initial: Initial,
    steps: int,
    method: Method = "auto",
    timeout: float = 60.0,
    semantics: ModelSemantics = "deployed float32",
    lemma: Formula | None = None,
    smtlib: str | Path | None = None,
) -> ModelAnswer:
    """Whether the claim's episode property holds on every path of the closed loop.

    policy: None (every policy: actions are free within their bounds), a `LinearPolicy`, a
    `TreePolicy`, or a small ReLU network (`NetworkPolicy`, SB3, a `PolicyGraph`). initial: lowest
    and highest value of each state, or a formula over the states. Disturbances are free within
    their bounds at every sample.

    method: "bounded" looks at the paths of `steps` steps, horizon `steps`, and says nothing of
    later ones; "induction" proves `always(P)`, P about one sample, at every step, by k-induction
    with k up to `steps`; "auto" does both where it can. lemma: a state formula that is proved along
    with P. timeout: seconds in all; at the limit the answer is UNKNOWN. smtlib: a folder for every
    question as SMT-LIB 2 with its answer. A violation is only said once the deployed policy,
    simulated in binary64, breaks the claim by the monitor's verdict. A claim that a path leaves
    open past the horizon, or whose condition no path meets, is UNKNOWN.

    Raises UnsupportedError for what z3 cannot carry exactly (sin, cos, exp, sqrt, norm, tanh), for
    misfits, and for an empty initial region. Source of k-induction: Sheeran, Singh and Stalmarck,
    Checking safety properties using induction and a SAT-solver (2000).
    """
    _check_given(dynamics, steps, timeout, semantics)
    with LOCK:
        job = _Job(dynamics, policy, claim, initial, steps, timeout, semantics, lemma)
        job.export = None if smtlib is None else SmtLib(smtlib)
        return job.run(method)


def _check_given(dynamics: object, steps: Any, timeout: Any, semantics: Any) -> None:
    if not isinstance(dynamics, Dynamics):
        raise UnsupportedError(
            f"A {type(dynamics).__name__} is no declared plant; pass Dynamics, such as "
            "find_model(NAME).dynamics."
        )
    if isinstance(steps, bool) or not isinstance(steps, Integral) or steps < 1:
        raise UnsupportedError(f"steps= is a whole number of steps from 1, found {steps!r}.")
    if not isinstance(timeout, Real) or timeout != timeout:
        raise UnsupportedError(f"timeout= is a number of seconds, found {timeout!r}.")
    if semantics not in POLICY:
        raise UnsupportedError(f'semantics= is "real" or "deployed float32", found {semantics!r}.')


@dataclass
class _Ended(Exception):  # a way out, no error
    """A result is known."""

    result: ModelResult
    reason: str = ""
    replay: Replay | None = None


class _Job:
    def __init__(
        self,
        dynamics: Dynamics,
        policy: Any,
        claim: Claim | Formula,
        initial: Initial,
        steps: int,
        timeout: float,
        semantics: ModelSemantics,
        lemma: Formula | None,
    ) -> None:
        self.started = monotonic()
        self.dynamics, self.steps, self.timeout = dynamics, int(steps), timeout
        self.semantics: ModelSemantics = semantics
        self.asked = asked_of(claim, dynamics)
        self.policy: Encoding = encoding_of(policy, dynamics, deployed=semantics != "real")
        self.box, self.initial = region_of(initial, dynamics)
        self.lemma = _lemma(lemma, dynamics)
        self.obligations: list[ModelObligation] = []
        self.paths = Paths(dynamics, self.policy, self.box)
        self.method: Literal["bounded", "induction"] = "bounded"
        self.reached = int(steps)
        self.begins = "unknown"
        self.doubtful: set[int] = set()
        self.export: SmtLib | None = None

    def run(self, method: Method) -> ModelAnswer:
        """The answer by the method asked for."""
        if method not in ("bounded", "induction", "auto"):
            raise UnsupportedError(f'method= is "bounded", "induction" or "auto", not {method!r}.')
        if method == "induction" and self.asked.invariant is None:
            raise UnsupportedError(
                "Induction proves always(P) where P reads one sample; this claim is "
                f"`{self.asked.steps}`. Use method='bounded'."
            )
        self.begins = self.ask("start", "some state is initial", self.start())
        if self.begins == "unsat":
            raise UnsupportedError("The initial region is empty: no state satisfies initial=.")
        try:
            self.occurs()
            if self.asked.invariant is None:
                self.whole()
            else:
                self.invariant(self.asked.invariant, method)
        except _Ended as end:
            return self.answer(end)
        raise AssertionError("unreachable")  # every way above ends

    def occurs(self) -> None:
        """Some path meets the claim's condition: without one it says nothing."""
        given = self.asked.given
        if given is None:
            return
        samples = self.steps + look_ahead(given) + 1
        met = self.unrolled(samples, Fraction(0)).value(given, 0)
        text = f"some path of {self.steps} steps meets the condition `{short(given)}`"
        word = self.ask("condition", text, [*self.start(), *self.tied(samples - 1), met])
        if word == "unsat":
            raise _Ended("UNKNOWN", f"no path meets the condition `{short(given)}`: vacuous")
        if word != "sat":
            raise _Ended("UNKNOWN", self.limit())

    def whole(self) -> None:
        """One question about all paths of `steps` steps."""
        samples = self.steps + self.asked.tail + 1
        text = f"no path of {self.steps} steps breaks the claim"
        ties = self.tied(samples - 1)
        for slack in (Fraction(0), ROOM):
            rules = self.unrolled(samples, slack)
            broken = rules.value(negate(self.asked.steps), 0)
            word, model = self.put("paths", text, [*self.start(), *ties, broken])
            if word == "unsat" and not slack:
                raise self.decided(rules, ties)
            if word == "unknown":
                raise _Ended("UNKNOWN", self.limit())
            self.try_replay(model, horizon=self.steps, samples=samples)
        raise _Ended("UNKNOWN", NOT_REPLAYED)

    def decided(self, rules: Unrolling, ties: Sequence[Bool]) -> _Ended:
        """No path breaks the claim: whether each then keeps it, or some leave it open."""
        if not rules.opened:
            return _Ended("PROVED")
        kept = z3.Not(rules.value(self.asked.steps, 0))
        word = self.ask("open", "no path leaves the claim open", [*self.start(), *ties, kept])
        if word == "unsat":
            return _Ended("PROVED")
        return _Ended("UNKNOWN", LEFT_OPEN if word == "sat" else self.limit())

    def invariant(self, wanted: Formula, method: Method) -> None:
        """Depth by depth: no path breaks it here, and then, whether it follows from itself."""
        closing = method != "bounded"
        strong = wanted if self.lemma is TRUE else all_of(wanted, self.lemma)
        for depth in range(self.steps + (method != "induction")):
            self.base(wanted, depth)
            if self.doubtful or not closing or (method == "auto" and depth >= DEEPEST):
                continue
            failed = self.closes(strong, depth)
            if not failed:
                self.method, self.reached = "induction", depth + 1
                raise _Ended("PROVED")
            if failed != OPEN and method == "induction":
                raise _Ended("UNKNOWN", failed)
            closing = failed == OPEN
        if self.doubtful:
            raise _Ended("UNKNOWN", f"{NOT_REPLAYED} (sample {min(self.doubtful)})")
        if method == "induction":
            raise _Ended("UNKNOWN", f"the claim is not inductive up to k = {self.steps}")
        raise _Ended("PROVED")

    def closes(self, strong: Formula, depth: int) -> str:
        """Why samples 0 to `depth` do not settle every later one; "" where they do."""
        if self.lemma is not TRUE:
            broken = self.at(negate(self.lemma), depth)
            ties = self.paths.constraints(depth, acting=False)
            text = f"no path breaks the lemma `{short(self.lemma)}` at sample {depth}"
            word = self.ask("lemma", text, [*self.start(), *ties, broken])
            if word == "sat":
                return f"the lemma fails: a path breaks `{short(self.lemma)}` at sample {depth}"
            if word != "unsat":
                return self.limit()
        try:
            word = self.step(strong, depth + 1)
        except UnsupportedError as error:
            return f"the induction step cannot be asked: {error}"
        if word == "sat":
            return OPEN
        return "" if word == "unsat" else self.limit()

    def base(self, wanted: Formula, depth: int) -> None:
        """No path of `depth` steps from the start breaks it at its last sample.

        Where only paths do that whose replay does not, the depth is doubtful, and the search for
        one that does goes on.
        """
        ties = self.tied(depth)
        before = [self.at(wanted, at) for at in range(depth) if at not in self.doubtful]
        text = f"no path breaks `{short(wanted)}` at sample {depth}"
        for slack in (Fraction(0), ROOM):
            broken = self.unrolled(depth + 1, slack).value(negate(wanted), depth)
            word, model = self.put("base", text, [*self.start(), *ties, *before, broken])
            if word == "unsat" and not slack:
                return
            if word == "unknown":
                raise _Ended("UNKNOWN", self.limit())
            self.try_replay(model, horizon=max(depth, 1), samples=max(depth, 1) + 1)
        self.doubtful.add(depth)

    def tied(self, last: int) -> list[Bool]:
        """The paths from the start; a model that runs out of numbers on the way ends the job."""
        try:
            return self.paths.constraints(last, acting=self.asked.inputs)
        except UnsupportedError as error:
            if last <= 1:
                raise
            raise _Ended("UNKNOWN", f"after {last - 1} steps: {error}") from error

    def step(self, strong: Formula, k: int) -> str:
        """Whether k samples of it give the next, on any path; then on paths without a loop."""
        box = box_of(strong, self.dynamics)
        paths = Paths(self.dynamics, self.policy, box, until=k - 1)
        ties = paths.constraints(k, acting=self.asked.inputs)
        held = [self.at(strong, at) for at in range(k)]
        broken = self.unrolled(k + 1, Fraction(0)).value(negate(strong), k)
        text = f"any path that keeps `{short(strong)}` at samples 0 to {k - 1} keeps it at {k}"
        word = self.ask("step", text, [*ties, *held, broken])
        if word == "sat" and k > 1:
            apart = [self._apart(i, j) for i in range(k) for j in range(i)]
            word = self.ask("step", f"{text}, states apart", [*ties, *held, broken, *apart])
        return word

    def _apart(self, i: int, j: int) -> Bool:
        names = [signal.name for signal in self.dynamics.states]
        return z3.Or(*(symbol(name, 0, i) != symbol(name, 0, j) for name in names))

    def at(self, formula: Formula, at: int) -> Bool:
        """A state formula at a sample."""
        return self.unrolled(at + 1, Fraction(0)).value(formula, at)

    def start(self) -> list[Bool]:
        """Sample 0 is initial."""
        found = [
            rule for name, span in self.box.items() for rule in bounded(symbol(name, 0, 0), span)
        ]
        return found if self.initial is None else [*found, self.at(self.initial, 0)]

    def unrolled(self, samples: int, slack: Fraction) -> Unrolling:
        """The language's rules over paths of so many samples."""
        horizon = min(self.steps, samples - 1) or 1
        outline = Outline(max(samples - 1, horizon), horizon, "horizon")
        return Unrolling(outline, Symbols(self.dynamics.signals, slack).atom, unknown=False)

    def ask(self, name: str, text: str, constraints: Sequence[Bool]) -> str:
        """z3's word, noted as an obligation."""
        return self.put(name, text, constraints)[0]

    def put(self, name: str, text: str, constraints: Sequence[Bool]) -> tuple[str, Model | None]:
        """z3's word and model, noted as an obligation."""
        begun = monotonic()
        left = self.timeout - (begun - self.started)
        word, model = ("unknown", None)
        if left > 0:
            word, model = answer(list(constraints), left * 1000, paths=True)
        if self.export is not None:
            self.export.write(f"{name} {text}", constraints, word)
        self.obligations.append(ModelObligation(name, text, word, monotonic() - begun))
        return word, model

    def limit(self) -> str:
        """Why z3 gave no answer."""
        last = self.obligations[-1]
        if monotonic() - self.started >= 0.95 * self.timeout:
            return f"time limit {self.timeout:g} s reached at: {last.text}"
        return f"z3 gave up at: {last.text}"

    def try_replay(self, model: Model | None, *, horizon: int, samples: int) -> None:
        """Ends the job if the path is real."""
        if model is None:
            return
        found = replayed(
            model,
            self.asked,
            self.dynamics,
            self.policy,
            self.box,
            self.initial,
            horizon=horizon,
            samples=samples,
        )
        if found is not None and found.real:
            raise _Ended("VIOLATED", replay=found)

    def answer(self, end: _Ended) -> ModelAnswer:
        """The job's answer."""
        said = [*assumptions_of(self.dynamics), POLICY[self.semantics]]
        if end.result == "PROVED" and self.method == "bounded":
            said.append(f"Paths of {self.steps} steps; nothing is said of later ones.")
        if self.begins != "sat":
            said.append("Some state is initial; z3 did not decide whether there is one.")
        if self.policy.digest == "":
            said.append("Actions are free within their bounds: for every policy.")
        return ModelAnswer(
            result=end.result,
            claim_id=self.asked.id,
            claim_digest=self.asked.digest,
            about=self.asked.about,
            model=self.dynamics.name,
            model_digest=self.dynamics.digest,
            policy=self.policy.name,
            policy_digest=self.policy.digest,
            semantics=self.semantics,
            method=self.method,
            steps=self.reached,
            reason=end.reason,
            obligations=tuple(self.obligations),
            trace=None if end.replay is None else end.replay.trace,
            verdict=None if end.replay is None else end.replay.verdict,
            assumptions=tuple(said),
            seconds=monotonic() - self.started,
        )


OPEN = "more samples may settle it"
LEFT_OPEN = (
    "a path leaves the claim open, since it asks for samples past the horizon without an end; "
    "bound the inner window"
)
NOT_REPLAYED = (
    "a path breaks the claim within the encoding's rounding errors or at a tie, but its replay in "
    "binary64 does not"
)
POLICY = {
    "real": "The policy is its numbers in real arithmetic.",
    "deployed float32": "Each of the policy's operations may be off by what IEEE binary32 or "
    "binary64 allows.",
}


def _lemma(lemma: Formula | None, dynamics: Dynamics) -> Formula:
    if lemma is None:
        return TRUE
    asked = asked_of(lemma, dynamics)
    steps = to_steps(lemma, dynamics.dt)
    if not is_state_formula(steps):
        raise UnsupportedError(f"lemma= is a formula about one sample, found `{lemma}`.")
    if asked.inputs:
        raise UnsupportedError("lemma= is a formula over the states alone.")
    return steps
