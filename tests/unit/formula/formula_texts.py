"""Random and mutated texts for the three readers: formulas, sentences, rtamt specifications.

    python tests/unit/formula/formula_texts.py 1000000 [seed]

reads that many texts and says what came of them; anything but a value or a FormulaError ends it.
"""

import re
import sys
import time
from collections import Counter
from collections.abc import Callable
from random import Random

from safegym.errors import FormulaError
from safegym.formula.checks import RESERVED
from safegym.formula.nodes import Formula
from safegym.formula.rtamt import read_rtamt
from safegym.formula.sentence import sentence
from safegym.formula.terms import Signal
from safegym.formula.text import parse, parse_statement

SIGNALS = (
    Signal("v", "m/s"),
    Signal("p", shape=(3,)),
    Signal("mode", labels={"OK": 0, "FAULT": 7}),
    Signal("x"),
    Signal("F", "N"),
)
DEFINED = {"hovering": Signal("x") > 1, "landed": "x < 0 and v < 1 m/s"}

SYMBOLS = "( ) [ ] { } , + - * / ^ ** % < <= > >= == = != & | ~ ! && || -> <-> : ;"
NUMBERS = "0 1 2 .5 1e3 1/240 2. 1e999 0x1 16 17"
PARTS = "G F U R X O H S W Y x y p v mode x[0] p[2] [0,1] [1,inf] [0,1/3] {m} {km/h} {%} {1}"
CALLS = """between( near( all_of( any_of( min( norm( prob( fraction( mean( quantile( scaled( always(
F( abs("""
SPACED = "(x>0) x>0|0.3 rad|5 m/s|2 min|1 %|is OK|is FAULT|x^2|p <= 1|mode is FAULT|[0:500ms]"
WORDS = """while in mode before after when if upon whenever the shall immediately at next timepoint
always never eventually within for until satisfy hovering landed drone s ms"""
RTAMT = "float const input output @topic( specification // /* */ prev s_next rise( fall( unless ln("
ODD = ["\n", "\t", " ", "\xe9", "\u0660", "\x00", "'", "#", "9" * 400, "x" * 101, "\uff11", "$"]
PIECES = sorted(
    [
        *SYMBOLS.split(), *NUMBERS.split(), *RESERVED, *PARTS.split(), *CALLS.split(),
        *SPACED.split("|"), *WORDS.split(), *RTAMT.split(), *ODD,
    ]
)  # fmt: skip

FORMULAS = [
    "always[0,2](x > 0)",
    "prob((clearance > 0.2) until[0,10] (goal < 0.05)) >= 0.92",
    "prob(always(x > 0.2) given eventually[0,3](fault >= 1)) < 0.01",
    "prob(x > 0.2, given=(once(fault >= 1) and y < 3)) >= 0.9",
    "quantile(always((x > 0.2) or (x < y)), 0.05) > -0.1",
    "always((fault >= 1) implies eventually[0,0.3](always[0,1](abs(w - 1{1}) <= 0.01)))",
    "fraction(scaled(norm(p[0], p[1]) / 2 < -(0.5), 0.25)) >= 0.999",
    "mean(fraction(not(x > 0) xor (y < 1e-3))) > 0.5",
    "all_of(abs(p) <= 0.5) and between(x, 0, 1) and near(v, 3 m/s, 0.1{m/s})",
    "rising(mode is FAULT) implies (-x^2 + (y ** 3) < 2 U[0,1/3] never(F > 1 N))",
    "G F x > 0 -> y < 1 & !(z >= 2) | H O (x > 0) S y < 1",
]
SENTENCES = [
    "while hovering the drone shall within 0.5 s satisfy v < 0.3 m/s",
    "in mode FAULT, when x > 2, the flight controller shall until landed satisfy hovering",
    "whenever (x > 0) and hovering, the drone shall after 200 ms satisfy eventually[0,1](x > 3)",
    "before landed the drone shall at the next timepoint satisfy mode is OK",
    "after mode is OK the drone shall for 1/3 min satisfy not landed",
]
SPECIFICATIONS = [
    "const float c = 2.0\ninput float x\nout = always[0:500ms](x < c)",
    "a = x + y; b = rise(a > 1) -> eventually[0:c s](pow(x, 2) < 4) unless[1:2] (y > 0);",
    "specification s // note\n@topic(x, rt/x)\nout = G[0,1] (prev x > 0) S s_next !(y <= 1e-3)",
]

Reader = Callable[[str, bool], None]


def read_formula(text: str, declared: bool) -> None:
    """Reads formula text; what is read must print, and read back as itself."""
    found = parse_statement(text, SIGNALS if declared else None)
    parts = (found,) if isinstance(found, Formula) else found.formulas
    signals = {signal: None for part in parts for signal in part.signals}
    assert parse_statement(str(found), signals) == found


def read_sentence(text: str, declared: bool) -> None:
    """Reads a sentence; its English and its formula must read back."""
    found = sentence(text, SIGNALS if declared else None, DEFINED)
    assert sentence(str(found), found.signals, found.definitions) == found
    assert parse(str(found.formula), found.formula.signals) is found.formula


def read_specification(text: str, declared: bool) -> None:
    """Reads an rtamt specification; its formula must read back."""
    formula = read_rtamt(text, signals=SIGNALS if declared else None).formula
    assert parse(str(formula), formula.signals) is formula


READERS: list[tuple[str, Reader, list[str]]] = [
    ("formula", read_formula, FORMULAS),
    ("formula", read_formula, FORMULAS),
    ("sentence", read_sentence, SENTENCES),
    ("rtamt", read_specification, SPECIFICATIONS),
]


def soup(draw: Random) -> str:
    """A few pieces in a row."""
    joint = draw.choice(["", " ", " "])
    return joint.join(draw.choice(PIECES) for _ in range(draw.randint(1, 14)))


def mutant(draw: Random, text: str, most: int) -> str:
    """A good text with a few parts replaced, swapped or doubled: words, or any characters."""
    for _ in range(draw.randint(1, most)):
        if draw.random() < 0.6:
            parts = re.findall(r"\w+|\s+|.", text) or [""]
            place = draw.randrange(len(parts))
            parts[place] = draw.choice(PIECES if draw.random() < 0.5 else parts)
            text = "".join(parts)
            continue
        place, width = draw.randrange(len(text) + 1), draw.randint(0, 4)
        cut = text[place : place + width]
        other = draw.choice([draw.choice(PIECES), chr(draw.randrange(32, 0x250)), cut + cut])
        text = text[:place] + other + text[place + width :]
    return text


def grown(draw: Random, depth: int) -> str:
    """Well formed formula text of signals without a unit."""
    if depth == 0 or draw.random() < 0.2:
        left = draw.choice(["x", "y", "x + 2 * y", "abs(x)", "-x^2", "min(x, y, 1)", "x / 3", "z"])
        atom = f"{left} {draw.choice(['<', '<=', '>', '>='])} {draw.choice(['y', '1', '-2.5'])}"
        return draw.choice([f"({atom})", f"scaled({atom}, 0.5)", "between(x, 0, 1)", "true"])
    window = draw.choice(["", "[0,1]", "[1/3,2.5]", "[2, inf]"])
    one = grown(draw, depth - 1)
    word = draw.choice(ONE_PLACE)
    if draw.random() < 0.5:
        return f"{word}{window if word in WINDOWED else ''}({one})"
    other = grown(draw, depth - 1)
    joint = draw.choice(TWO_PLACE)
    return f"({one} {joint}{window if joint in WINDOWED else ''} {other})"


WINDOWED = ["always", "eventually", "never", "once", "historically", "G", "F", "O", "H"]
WINDOWED += ["until", "weak_until", "release", "since", "trigger", "U", "R", "S"]
ONE_PLACE = [*WINDOWED[:9], "not", "next", "weak_next", "previous", "rising", "falling", "X", "!"]
TWO_PLACE = [*WINDOWED[9:], "and", "or", "implies", "iff", "xor", "->", "<->", "&", "||"]


def _text(draw: Random, name: str, seeds: list[str]) -> str:
    kind = draw.random()
    if kind < 0.3:
        return soup(draw)
    text = draw.choice(seeds)
    if name == "formula" and kind < 0.6:
        text = grown(draw, 3)
        if kind < 0.45:
            return text
    return mutant(draw, text, draw.choice([1, 1, 2, 4]))


def fuzz(count: int, seed: int) -> Counter[str]:
    """Reads `count` texts. Returns how many of each kind were read and refused."""
    draw = Random(seed)
    outcome: Counter[str] = Counter()
    for _ in range(count):
        name, read, seeds = draw.choice(READERS)
        text = _text(draw, name, seeds)
        try:
            read(text, draw.random() < 0.5)
        except FormulaError:
            outcome[f"{name} refused"] += 1
        except Exception as error:
            raise AssertionError(f"{name}: {text!r}") from error
        else:
            outcome[f"{name} read"] += 1
    return outcome


if __name__ == "__main__":
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    begun = time.perf_counter()
    outcome = fuzz(wanted, seed)
    print(f"{wanted} texts, seed {seed}, {time.perf_counter() - begun:.0f} s: {dict(outcome)}")
