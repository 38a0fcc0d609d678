"""Random joins in SPL: any windows, partitions, algorithms, ports and defaults that go.

`drawn(chance)` gives a text and what arrives. Every choice is legal beside every other:
what one needs of another (a port of its own, an expression to part a window by) is
written where it is needed. Keys and partitions are few, times come out of order.
"""

from random import Random

from dovetail.conformance.case import CaseData
from dovetail.conformance.flows import spl_play

SIDES = {"L": "v", "R": "w"}
TYPES = {"k": "int32", "g": "uint8", "t": "int64", "f": "float64", "s": "rstring"}
WRITTEN = {
    "int32": "-1",
    "uint8": "9ub",
    "int64": "-4l",
    "float64": "0.5",
    "rstring": '"none"',
}
PRESERVED = {"inner": "", "leftOuter": "L", "rightOuter": "R", "outer": "LR"}
HANDS = {"L": "LHS", "R": "RHS"}
EVICTIONS = ("count(0)", "count(1)", "count(3)", "delta(t, 2l)", "delta(f, 1.5)")
TIMES = ("time(1)", "time(2u)", "time(2.5)")
PARTED = (
    "",
    "partitionCount(1)",
    "tupleCount(2)",
    "tupleCount(4)",
    "partitionAge(2.0)",
)
EQUALITIES = ((), ("k",), ("k", "s"), ('s + "x"',), ("f",), ("k % 2", "g"))
MATCHES = (
    "",
    "L.v <= R.w",
    "L.s == R.s || L.v > R.w",
    "R.k == L.k && L.v + R.w > 3",
    "L.f < R.f",
    "R.w == 0 || L.v / R.w >= 1",
    "(decimal64) L.v * 0.5d >= (decimal64) R.w",
)
OUTPUTS = {
    "lk": ("int32", "L.k"),
    "rk": ("int32", "R.k"),
    "sum": ("int8", "(int8) (L.v * 100 + R.w)"),
    "both": ("rstring", 'L.s + "-" + R.s'),
    "g": ("uint8", "(L.g - R.g) << 1"),
    "price": ("decimal64", "(decimal64) R.w / 3.0d"),
    "first": ("rstring", 'length(L.s) > 0 ? L.s[0] : "none"'),
}


def body(side):
    """The attributes of a side, as a text declares them."""
    return ", ".join(f"{kind} {name}" for name, kind in types(side).items())


def types(side):
    """The types of a side's attributes."""
    return {**TYPES, SIDES[side]: "int32"}


def window(chance, side):
    """The window of a side, and the parameter that it needs."""
    eviction = chance.choice([*EVICTIONS, *TIMES])
    parts = [eviction, *(["count(1)"] if chance.random() < 0.2 else [])]
    param = ""
    if chance.random() < 0.5:
        parts += ["partitioned", *filter(None, [chance.choice(PARTED)])]
        by = ", ".join(f"{side}.{it}" for it in chance.choice([("g",), ("g", "s")]))
        param = f"partitionBy{HANDS[side]} : {by};"
    return f"{side} : sliding, {', '.join(parts)};", param


def default(side):
    """A tuple that stands for one that is lacking."""
    parts = (f"{name} = {WRITTEN[kind]}" for name, kind in types(side).items())
    return f"defaultTuple{HANDS[side]} : {{ {', '.join(parts)} }};"


def parameters(chance, ports, preserved):
    """What a join says beside its windows and algorithm."""
    found = []
    if equal := chance.choice(EQUALITIES):
        for side, hand in HANDS.items():
            keys = ", ".join(f"{side}.{key}" for key in equal)
            found.append(f"equality{hand} : {keys};")
    if match := chance.choice(MATCHES):
        found.append(f"match : {match};")
    if ports == 1:
        found += [
            default(side)
            for side in "LR"
            if any(it != side for it in preserved) and chance.random() < 0.5
        ]
    return found


def text_of(chance):
    """The text of a join."""
    algorithm = chance.choice([*PRESERVED])
    preserved = PRESERVED[algorithm]
    ports = chance.choice([1, 1 + len(preserved)])
    windows, params = zip(*(window(chance, side) for side in "LR"), strict=True)
    known = [*filter(None, params), *parameters(chance, ports, preserved)]
    if algorithm != "inner" or chance.random() < 0.5:
        known.append(f"algorithm : {algorithm};")
    chance.shuffle(known)
    outputs = chance.sample([*OUTPUTS.items()], 3)
    own = [f"stream<{side}> {side}Alone" for side in preserved[: ports - 1]]
    made = ", ".join(f"{kind} {name}" for name, (kind, _) in outputs)
    heads = "; ".join([f"stream<{made}, int32 v, int32 w> Out", *own])
    given = ", ".join(f"{name} = {value}" for name, (_, value) in outputs)
    clauses = [f"window {' '.join(windows)}", f"output Out : {given};"]
    clauses += [f"param {' '.join(known)}"] if known else []
    chance.shuffle(clauses)
    sources = " ".join(f"stream<{body(side)}> {side} = Beacon() {{}}" for side in "LR")
    inside = "\n  ".join(clauses)
    return f"{sources}\n({heads}) = Join(L; R) {{\n  {inside}\n}}"


def row(chance, number, side):
    """A tuple of a side."""
    return {
        "k": chance.randrange(3),
        "g": chance.randrange(3),
        "t": number // 2 + chance.randrange(3),
        "f": chance.choice([0.0, 0.5, number / 2, "NaN"]),
        "s": chance.choice(["", "a", "é"]),
        SIDES[side]: chance.randrange(5),
    }


def data_of(chance, count):
    """What arrives on the sides of a join."""
    events, now = [], 0
    for number in range(count):
        side = chance.choice("LR")
        now += chance.choice([0, 0, 1, 2])
        events.append({"in": side, "row": row(chance, number, side), "at": now})
    inputs = {side: {"kind": "stream"} for side in "LR"}
    return CaseData(inputs, {}, tuple(events), has_events=True)


def drawn(seed, count=16):
    """A text, and what arrives: the same for one seed."""
    chance = Random(seed)
    return text_of(chance), data_of(chance, count)


def play_of(seed, count=16):
    """The play of a random join."""
    return spl_play(*drawn(seed, count)).play
