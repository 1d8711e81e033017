"""Checks a safegym certificate in exact integer arithmetic: this file, and Python 3.11 or newer.

    python checker.py FOLDER [DIGEST]    exits 0 where it proves its statement (of that sha256)

Values are integers in units of 2**-96, coefficients and slopes in units of 2**-40; every rounding
goes outward. docs/reference/certificates.md has the rules in formulas. python-flint, if it is
there, multiplies matrices faster; nothing else is used, and nothing in the folder is executed.
"""

import hashlib
import json
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from fractions import Fraction
from itertools import compress
from math import ceil, floor, isqrt, lcm
from operator import add, le, mul, sub
from pathlib import Path
from typing import Any

fmpz_mat: Any = None
with suppress(ImportError):
    import flint

    fmpz_mat = flint.fmpz_mat
B, F, ONE, HUGE = 96, 40, 1 << 96, 1 << 216
PI = 0x3243F6A8885A308D313198A2E03707344A4093822  # floor(pi * 2**160)
UNIT = {"exact": 0, "float32": 24, "float64": 53}
PLAIN = dict.fromkeys(("input", "linear", "relu"), 0) | dict.fromkeys(("square", "sqrt"), 1)
ROUNDINGS = PLAIN | {"divide": 3, "tanh": 8, "exp": 8, "sin": 8, "cos": 8, "sigmoid": 16}
PARTS = ("first", "inputs", "kind", "precision", "size", "values", "weights")
STATEMENT = ("claim", "clauses", "format", "network_sha256", "policy", "region", "semantics")
LINE, FILE = 1 << 26, 1 << 30  # greatest length in bytes of a line of the tree, of another file
Row = Sequence[int]
Rows = list[list[int]]
State = dict[int, tuple[list[int], ...]]  # node: low, high, intercepts' sum, gap, slopes' sum, gap


class Refused(Exception):
    """The certificate does not prove its statement; the message names the fault."""


def need(holds: bool, fault: str) -> None:
    """Raises Refused unless it holds."""
    if not holds:
        raise Refused(fault)


def written(value: Any) -> bytes:
    """The one way in which a certificate writes JSON."""
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode() + b"\n"


def read(text: bytes, what: str, most: int, names: Sequence[str]) -> list[Any]:
    """What one JSON object, written in that way, holds under exactly these names."""
    need(len(text) <= most, f"{what} is longer than {most} bytes")
    try:
        value = json.loads(text, parse_float=lambda _: None, parse_constant=lambda _: None)
    except (ValueError, RecursionError) as fault:
        raise Refused(f"{what} is no JSON: {fault}") from None
    need(written(value) == text, f"{what} is not in canonical form, or holds a decimal or NaN")
    need(type(value) is dict and set(value) == set(names), f"{what} does not have just {names}")
    return [value[name] for name in names]


def number(text: str) -> Fraction:
    """A finite binary64 number as Python's hexadecimal, or a fraction in lowest terms."""
    top, _, bottom = text.partition("/")
    value = Fraction(float.fromhex(text)) if "x" in text else Fraction(int(top), int(bottom or 1))
    good = text == (float(value).hex() if "x" in text else str(value))
    need(good, f"{text!r} is no number in canonical form")
    return value


def multiplier(matrix: Sequence[Row]) -> Callable[[Rows, int], Rows]:
    """A function that gives (rows @ matrix) >> shift."""
    columns, fast = list(zip(*matrix, strict=True)), fmpz_mat(matrix) if fmpz_mat else None

    def times(rows: Rows, shift: int) -> Rows:
        if fast is None:
            return [[sum(map(mul, row, each)) >> shift for each in columns] for row in rows]
        flat, n = [int(x) >> shift for x in (fmpz_mat(rows) * fast).entries()], len(columns)
        return [flat[at : at + n] for at in range(0, len(flat), n)]

    return times


def series(x: int, order: int, step: int) -> int:
    """The alternating sum of x**k / k!, k = order, order + step, ..., for 0 <= x < 3.2."""
    total, term, sign = 0, x if order else ONE, 1
    while term:
        total, sign = total + sign * term, -sign
        for _ in range(step):
            order += 1
            term = term * x // (order << B)
    return total  # at most 80 terms, each short by less than 4 units: off by less than 400


def curve(kind: str, x: int) -> tuple[int, int, int, int]:
    """Encloses a function's value and its derivative."""
    if kind in ("sin", "cos"):
        turns = ((x << 65) + 2 * PI) // (4 * PI)
        x, e = x - (turns * PI >> 63), 500 + abs(turns)
        sine, cosine = series(abs(x), 1, 2) * (1 if x >= 0 else -1), series(abs(x), 0, 2)
        v, d = (sine, cosine) if kind == "sin" else (cosine, -sine)
        return v - e, v + e, d - e, d + e
    if kind == "sqrt":
        need(x >= 0, "a square root of what may be below 0")
        low = isqrt(x << B)
        return low, low + 1, ONE * ONE // (2 * low + 2), ONE * ONE // (2 * low or 1) + 1
    if kind == "tanh":  # 2 sigmoid(2 x) - 1
        a, b, c, d = curve("sigmoid", 2 * x)
        return 2 * a - ONE, 2 * b - ONE, 4 * c, 4 * d
    halvings, low, high = max(0, x.bit_length() - B + 3), 0, 16
    if halvings <= 9:  # exp(-64) is below 2**-92; low <= exp(-|x|) <= high
        low, high = (series(abs(x) >> halvings, 0, 1) + e for e in (-400, 400))
        for _ in range(halvings):
            low, high = low * low >> B, (high * high >> B) + 1
    if kind == "exp":
        need(x < ONE << 6, "an exponential of what may be above 64")
        low, high = (low, high) if x <= 0 else (ONE * ONE // high, ONE * ONE // low + 1)
        return low, high, low, high
    a, b = ONE * ONE // (ONE + high), ONE * ONE // (ONE + low) + 1
    c, d = a * (ONE - b) >> B, (b * (ONE - a) >> B) + 1
    return (a, b, c, d) if x >= 0 else (ONE - b, ONE - a, c, d)


def pieces(kind: str, low: int, high: int) -> list[tuple[int, int, bool]]:
    """(from, to, concave) of the parts of an interval; none of sin or cos where they are many."""
    found = [(low, high, kind == "sqrt")]
    if kind in ("tanh", "sigmoid"):
        found = [(low, 0, False), (0, high, True)]
    elif kind in ("sin", "cos"):
        pi, ahead = PI >> 64, 0 if kind == "sin" else PI >> 65
        first, last = (low + ahead) // pi, (high + ahead) // pi
        few = last - first < 9 and abs(first) < 1 << 20
        ends = range(first, last + 1 if few else first)
        found = [(k * pi - ahead, (k + 1) * pi - ahead, k % 2 == 0) for k in ends]
    return [(max(low, a), min(high, b), bow) for a, b, bow in found if a <= high and b >= low]


def intercept(kind: str, low: int, high: int, slope: int, more: Any, sign: int) -> int:
    """A lower bound of sign * (value - slope * x) over low <= x <= high.

    A chord bounds a concave piece of a curve from below, a tangent at any point (more) a convex
    one. Plain operations have their least value at an end, at 0, or where the derivative is 0.
    """
    found, wavy = list[int](), kind in ("sin", "cos")
    if kind in ("relu", "square", "divide"):
        turn = slope << B - F - 1 if kind == "square" else 0
        for x in {low, high, min(max(turn, low), high)}:
            top, bottom = (x * x, ONE) if kind == "square" else (max(x, 0), 1)
            if kind == "divide":
                top, bottom = x * more.denominator, more.numerator
            found.append(sign * top // bottom + (-sign * slope * x >> F))
        return min(found)
    for a, b, concave in pieces(kind, low, high):
        p, chord = min(max(more, a), b), concave == (sign > 0)
        for x in (a, b):
            v, w, c, d = curve(kind, x if chord else p)
            v, c, d = (v, c, d) if sign > 0 else (-w, -d, -c)
            rise = 0 if chord else min(c * (x - p), d * (x - p)) >> B
            found.append(v + rise + (-sign * slope * x >> F) - (wavy << 30))  # pi is rounded
    flat = min(-sign * slope * x >> F for x in (low, high)) - ONE
    return max([flat] * wavy + [min(found)] * (found != []))


class Node:
    """One operation of the network."""

    def __init__(self, record: Any, sizes: Row, inputs: int, deployed: bool) -> None:
        need(set(record) == set(PARTS), f"it does not have just {PARTS}")
        self.first, came, self.kind, unit, size, values, weights = map(record.get, PARTS)
        need(self.kind in ROUNDINGS and unit in UNIT and 0 < size < 1 << 20, "unknown kind")
        need(all(0 <= x < len(sizes) for x in came), "an input is no earlier node")
        linear, wide = self.kind == "linear", [sizes[x] for x in came]
        need(linear or wide == [size] * (self.kind != "input"), "its inputs do not fit")
        need(0 <= self.first <= (0 if came else inputs - size), "no such entries")
        need(len(values) == size * (linear or self.kind == "divide"), "its values do not fit")
        self.size, self.inputs, self.parts = size, came, list[Any]()
        self.values, self.unit = [number(x) for x in values], UNIT[unit] if deployed else 0
        need(self.kind != "divide" or min(self.values) > 0, "a divisor is not above 0")
        single, most = not any(self.values) and len(weights) == 1, 0
        for matrix, n in zip(weights, wide if linear else [], strict=True):
            need([len(row) for row in matrix] == [n] * size, "a matrix does not fit")
            exact = [[number(x) for x in row] for row in matrix]
            scale = lcm(*(x.denominator for row in exact for x in row))
            need(scale & (scale - 1) == 0, "a weight is no whole number of powers of two")
            rows = [[int(x * scale) for x in row] for row in exact]
            largest = [list(map(abs, row)) for row in rows]
            turned = [multiplier(list(zip(*each, strict=True))) for each in (rows, largest)]
            self.parts.append((scale.bit_length() - 1, rows, multiplier(rows), *turned))
            most += max(sum(x != 0 for x in row) for row in rows)
            single = single and all(sum(row) == max(row) in (0, scale) for row in largest)
        need(most < 1 << 20, "a row has too many weights")
        self.terms = ROUNDINGS[self.kind] if not linear else 1 if single else most + 4
        self.bias = [[f(x * ONE) for x in self.values] for f in (floor, ceil)]

    def error(self, size: int, inward: int) -> int:
        """How far rounding may take a deployed result whose terms add up to at most `size`."""
        need(size < HUGE, f"a {self.kind} may overflow")
        lost = -(-size * self.terms // ((1 << self.unit) - self.terms)) if self.unit else 0
        return lost + self.terms * (3 + (inward >> 140)) if self.unit else 0

    def total(self, ends: Sequence[Any]) -> list[Row]:
        """Of a sum: lower bounds, upper bounds, intercepts' sum and gap."""
        (low, high), most = self.bias, 1
        size = [max(-x, y) for x, y in zip(low, high, strict=True)]
        for (a, b), (shift, _, _, by, largest) in zip(ends, self.parts, strict=True):
            m = [max(-x, y) + 1 for x, y in zip(a, b, strict=True)]
            middle, (reach, bulk) = (
                by([list(map(add, a, b))], 0)[0],
                largest([[*map(sub, b, a)], m], 0),
            )
            low = [x + (y - z >> shift + 1) for x, y, z in zip(low, middle, reach, strict=True)]
            high = [x - (-y - z >> shift + 1) for x, y, z in zip(high, middle, reach, strict=True)]
            size, most = [x - (-y >> shift) for x, y in zip(size, bulk, strict=True)], max(most, *m)
        e, (less, more) = [self.error(x, most) for x in size], self.bias
        gap = [y - x + 2 * z for x, y, z in zip(less, more, e, strict=True)]
        return [[*map(sub, low, e)], [*map(add, high, e)], [*map(add, less, more)], gap]

    def lines(self, j: int, a: int, b: int, line: Row) -> Row:
        """Of entry j for inputs in [a, b]: bounds, intercepts' sum and gap, slopes' sum and gap."""
        (p, q, c, d), v = line, self.values[j] if self.values else None
        least = intercept(self.kind, a, b, 0, v or a, 1)
        most = -intercept(self.kind, a, b, 0, v or b, -1)
        e = self.error(ONE if self.kind in ("sin", "cos") else max(-least, most), max(-a, b))
        under = intercept(self.kind, a, b, p, v or c << B - F, 1) - e
        over = e - intercept(self.kind, a, b, q, v or d << B - F, -1)
        return least - e, most + e, under + over, over - under, p + q, q - p


def lower(net: Sequence[Node], box: Any, state: State, k: int, rows: Any, extra: Row = ()) -> Row:
    """Lower bounds of sums of node k's entries ({entry: factor} a row) in units of 2**-(B + F)."""
    waiting = {-1: [[x << F for x in extra] or [0] * len(box[0])] * len(rows)}
    waiting[k] = [[row.get(j, 0) << F for j in range(net[k].size)] for row in rows]
    total = [0] * len(rows)  # twice the constants
    ends = [*map(add, *box)], [*map(sub, box[1], box[0])]
    for i in (*range(k, -1, -1), -1):
        matrix, onward = waiting.get(i, []), list[tuple[int, Rows, Row]]()
        if not matrix:
            continue
        node, now = net[i], state[i][2:] if i >= 0 else (*ends, [], [])
        t, g, s, d = now
        sizes = [list(map(abs, row)) for row in matrix]
        for r, (row, size) in enumerate(zip(matrix, sizes, strict=True)):
            total[r] += sum(map(mul, row, t)) - sum(map(mul, size, g))
        if i < 0:
            break
        if node.kind == "input":
            after = [0] * (len(box[0]) - node.first - node.size)
            onward = [(-1, [[0] * node.first + row + after for row in matrix], [0] * len(rows))]
        for j, (shift, own, by, *_) in zip(node.inputs, node.parts, strict=node.kind == "linear"):
            parts = [[[f * x for x in own[e]] for e, f in row.items()] for row in rows * (i == k)]
            sums = [e[0] if len(e) == 1 else map(sum, zip(*e, strict=True)) for e in parts]
            first = [[x << F >> shift for x in each] for each in sums]
            lost = 2 * sum(max(-x, 0) for x in state[j][0]) if shift else 0
            onward.append((j, first or by(matrix, shift), [lost] * len(rows)))
        if node.kind not in ("input", "linear"):
            (j,), lows = node.inputs, [2 * max(-x, 0) for x in state[node.inputs[0]][0]]
            both = [(map(mul, r, s), map(mul, z, d)) for r, z in zip(matrix, sizes, strict=True)]
            exact = [[x - y for x, y in zip(*each, strict=True)] for each in both]
            less = [sum(compress(lows, row)) for row in exact]
            onward = [(j, [[x >> F + 1 for x in row] for row in exact], less)]
        for j, more, gone in onward:  # rounded down: what is lost, times what may be below 0
            total = [x - y for x, y in zip(total, gone, strict=True)]
            pairs = zip(waiting.get(j, ()), more, strict=j in waiting)
            waiting[j] = [list(map(add, *each)) for each in pairs] or more
    return [x >> 1 for x in total]


def tighten(net: Any, box: Any, state: State, bounds: Any, slopes: Any, prove: Any = lower) -> None:
    """Brings a state to a box, with a line's slopes and with its bounds, once they are proved."""
    touched = set[int]()
    for k, node in enumerate(net):
        new, size, zero = k not in state, node.size, [0] * node.size
        fresh = ([-HUGE] * size, [HUGE] * size, zero, zero, zero, zero)
        now = [list(part) for part in state.get(k, fresh)]
        if node.kind == "input":
            now[:2] = (list(side[node.first : node.first + size]) for side in box)
            touched.add(k)
        elif node.kind == "linear" and (new or touched.intersection(node.inputs)):
            least, most, *now[2:4] = node.total([state[i][:2] for i in node.inputs])
            now[:2] = list(map(max, now[0], least)), list(map(min, now[1], most))
            touched.add(k)
        elif node.kind != "linear":
            a, b = state[node.inputs[0]][:2]
            given = dict.fromkeys(range(size if new else 0), (0, 0, 0, 0)) | slopes.get(k, {})
            for j, line in given.items():
                least, most, *rest = node.lines(j, a[j], b[j], line)
                for part, x in zip(
                    now, (max(now[0][j], least), min(now[1][j], most), *rest), strict=True
                ):
                    part[j] = x
                touched.add(k)
        state[k] = tuple(now)
        pairs = [
            (j, s, s * x)
            for j, each in bounds.get(k, {}).items()
            for s, x in zip((1, -1), each, strict=True)
        ]
        pairs = [(j, s, x) for j, s, x in pairs if x > s * now[s < 0][j]]
        found = prove(net, box, state, k, [{j: s} for j, s, _ in pairs]) if pairs else ()
        for (j, s, x), bound in zip(pairs, found, strict=True):
            need(bound >= x << F, f"the bound {s * x} of node {k}, entry {j} is not proved")
            now[s < 0][j] = s * x
            touched.add(k)


def table(record: Any, net: Sequence[Node], scale: int, more: int) -> dict[int, dict[int, Row]]:
    """{node: {entry: numbers}} of dyadic numbers of at most 24 bits, in units of 2**-scale."""
    found = dict[int, dict[int, Row]]()
    for name, (shift, entries, *columns) in record.items():
        k = int(name)
        need(name == str(k) and 0 <= k < len(net) and 0 <= shift <= scale, f"no node {name}")
        need(len(columns) in (2, more) and all(0 <= j < net[k].size for j in entries), "no entry")
        short = all(abs(x) // (x & -x or 1) < 1 << 24 for column in columns for x in column)
        need(short, f"a number of node {k} has more than 24 bits")
        rows = zip(entries, *columns, *[[0] * len(entries)] * (more - len(columns)), strict=True)
        found[k] = {j: [x << scale - shift for x in row] for j, *row in rows}
    return found


def step(net: Any, box: Any, state: State, line: bytes, clause: Any, cuts: Any) -> list[Any]:
    """Checks one line of the tree on its box: [(box, state)] of its two parts, or [] for a leaf."""
    bounds, data, kind, slopes = read(line, "it", LINE, ("bounds", "data", "kind", "slopes"))
    if bounds or slopes or not state:
        state = dict(state)
        tighten(net, box, state, table(bounds, net, B, 2), table(slopes, net, F, 4))
    if kind == "split":
        (at, point), (low, high) = data, (list(side) for side in box)
        need(0 <= at < len(low) and low[at] < number(point) * ONE < high[at], "splits off its box")
        low[at], high[at] = (f(number(point) * ONE) for f in (floor, ceil))
        return [((low, box[1]), state), ((box[0], high), state)]  # the last is read first
    need(kind == "linear" or kind == "farkas", f"unknown kind {kind!r}")
    (factors, extra), strict, slack, bound = data, dict(clause), [0] * len(box[0]), 0
    for i, f in extra:
        need(0 <= i < len(cuts) and f > 0, "a multiplier is not above 0")
        slack = [x + f * c for x, c in zip(slack, cuts[i], strict=False)]
        bound -= f * cuts[i][-1] << B + F
    need(all(o in strict and f > 0 for o, f in factors), "names an output not in its clause")
    need(len(dict(factors)) == len(factors), "names an output twice")
    bound += lower(net, box, state, len(net) - 1, [dict(factors) or {0: 0}], slack)[0]
    need(bound >= all(strict[o] for o, _ in factors), f"outputs {factors} are not shown positive")
    return []


def prove(folder: Path, expected: str) -> dict[str, Any]:
    """The statement that the certificate in a folder proves; raises Refused or a Python error."""
    texts = list[bytes]()
    for name in ("verdict.json", "network.json"):
        with (folder / name).open("rb") as file:
            texts.append(file.read(FILE + 1))
    parts = ("made", "statement", "statement_sha256", "tree_sha256")
    _, statement, digest, tree = read(texts[0], "verdict.json", LINE, parts)
    said = hashlib.sha256(written(statement)).hexdigest()
    need(said == digest, "verdict.json: the statement is not the one of its digest")
    need(expected in ("", digest), f"it is the certificate of another statement, {digest}")
    values = read(written(statement), "the statement", LINE, STATEMENT)
    claim, clauses, form, network, policy, region, semantics = values
    known = semantics in ("real", "deployed float32") and form == "safegym certificate 1"
    need(known and type(policy) is str, "verdict.json: an unknown format or semantics")
    said = hashlib.sha256(claim["text"].encode()).hexdigest()
    need(claim == {"sha256": said, "text": claim["text"]}, "the claim is not the one of its digest")
    said = hashlib.sha256(texts[1]).hexdigest()
    need(said == network, "network.json is not the network of the statement")
    inputs, records = read(texts[1], "network.json", FILE, ("inputs", "nodes"))
    net = list[Node]()
    for record in records:
        net.append(Node(record, [node.size for node in net], inputs, semantics != "real"))
    need(set(region) == {"cuts", "high", "low"}, "the region has other parts")
    low, high = ([number(x) for x in region[side]] for side in ("low", "high"))
    fits = len(low) == len(high) == inputs and all(map(le, low, high))
    need(fits, "the region is empty or does not fit the network")
    box, cuts = ([floor(x * ONE) for x in low], [ceil(x * ONE) for x in high]), list[Row]()
    for row in ([number(x) for x in row] for row in region["cuts"]):
        need(len(row) == inputs + 1, "a cut does not fit the network")
        cuts.append([int(x * lcm(*(each.denominator for each in row))) for x in row])
    seen, lines, leaves = hashlib.sha256(), 0, 0
    need(len(clauses) > 0, "the statement says nothing")
    with (folder / "tree.jsonl").open("rb") as file:
        for clause in clauses:
            fine = all(0 <= o < net[-1].size and type(s) is bool for o, s in clause)
            need(fine and len(dict(clause)) == len(clause) > 0, "a clause does not fit")
            waiting: list[Any] = [(box, {})]
            while waiting:
                line, lines = file.readline(LINE + 1), lines + 1
                need(line != b"", "tree.jsonl ends before its leaves fill the region")
                seen.update(line)
                place, state = waiting.pop()
                try:
                    halves = step(net, place, state, line, clause, cuts)
                except Refused as fault:
                    raise Refused(f"tree.jsonl line {lines}: {fault}") from None
                waiting, leaves = waiting + halves, leaves + (not halves)
        need(file.read(1) == b"", "tree.jsonl goes on after its last leaf")
    need(seen.hexdigest() == tree, "tree.jsonl is not the tree that verdict.json names")
    return {"statement": statement, "statement_sha256": digest, "lines": lines, "leaves": leaves}


def check(folder: str | Path, expected: str = "") -> dict[str, Any]:
    """What `prove` gives; raises Refused, with the fault in words, whatever the files hold."""
    try:
        return prove(Path(folder), expected)
    except (ArithmeticError, AttributeError, LookupError, MemoryError, OSError) as fault:
        raise Refused(f"malformed: {type(fault).__name__}: {fault}") from None
    except (RecursionError, TypeError, ValueError) as fault:
        raise Refused(f"malformed: {type(fault).__name__}: {fault}") from None


if __name__ == "__main__":
    try:
        print(json.dumps(check(*sys.argv[1:3]), indent=1, sort_keys=True))
    except Refused as fault:
        sys.exit(f"refused: {fault}")
