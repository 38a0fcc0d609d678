"""Random texts in SPL with operators between joins, and events for them."""

import json
from pathlib import Path
from random import Random

from dovetail.conformance.case import CaseData
from dovetail.conformance.flows import FlowPlay, spl_play

CASES = Path(__file__).parent / "cases"
TYPE = "int32 k, int32 v"
INPUTS = ("A", "B", "C")
KINDS = ("inner", "leftOuter", "rightOuter", "outer")

FOLDED = """int32 folded(int32 v, int32 k) {
  mutable int32 made = v + k, most = 6;
  if (k > 0) { most--; if (v > 4) return v - 4; }
  if (made < 3) made += made; else made -= 1;
  return made > most ? made - most : made;
}
int32 turned(int32 v, int32 k) {
  mutable int32 left = v, found = 0;
  while (left > 0) { left -= 2; if (left == 1) continue; found += k + 1; }
  for (int32 x in [3, k, 1, v]) { if (x > v) break; if (x == 0) return k; found++; }
  return found;
}"""


def random_text(chance, count, *, timed=False):
    """A text of so many operators, each of which takes streams that stand before it.

    Where it is timed some operators look at the time.
    """
    sources = (f"stream<{TYPE}> {name} = Beacon() {{}}" for name in INPUTS)
    streams, texts = [*INPUTS], [FOLDED, *sources]
    for number in range(count):
        made = (
            *(_joined, _joined, _filtered, _changed, _united, _custom, _split),
            *(_aggregated, _sorted, _punctuated, _barred, _coded, _counting),
            _repeated,
            *((_joined_in_time, _totals_in_time, _repeated_in_time) * timed),
        )
        text, names = chance.choice(made)(chance, streams, f"S{number}")
        texts.append(text)
        streams += names
    return "\n".join(texts)


def _joined(chance, streams, name):
    left, right = chance.choice(streams[-3:]), chance.choice(streams)
    kind = chance.choice(KINDS)
    ports = 1 if kind == "inner" or chance.random() < 0.5 else 1 + (kind == "outer")
    heads, names = f"stream<{TYPE}> {name}", [name]
    if ports == 2 or (kind != "inner" and chance.random() < 0.5):
        own = [f"{name}{end}" for end in ("L", "R") if _has(kind, end)]
        heads = "; ".join([heads, *(f"stream<{TYPE}> {one}" for one in own)])
        names += own
    windows = ("count(0)", "count(1)", "count(2)", "delta(v, 3)", "count(3)")
    first = chance.choice(windows[1:])
    by = chance.choice(("equalityLHS: L.k; equalityRHS: R.k;", "match: L.v <= R.v;"))
    text = (
        f"({heads}) as J{name} = Join({left} as L; {right} as R) {{\n"
        f"  window L: sliding, {first}; R: sliding, {chance.choice(windows)};\n"
        f"  param algorithm: {kind}; {by}\n"
        f"  output {name}: k = L.k, v = R.v;\n}}"
    )
    return text, names


def _joined_in_time(chance, streams, name):
    text, names = _joined(chance, streams, name)
    return text.replace("count(3)", "time(3)").replace("delta(v, 3)", "time(2)"), names


def _has(kind, end):
    return kind == "outer" or kind == {"L": "leftOuter", "R": "rightOuter"}[end]


def _filtered(chance, streams, name):
    source, least = chance.choice(streams), chance.randrange(4)
    if chance.random() < 0.4:
        heads = f"(stream<{TYPE}> {name}; stream<{TYPE}> {name}N)"
        names = [name, f"{name}N"]
    else:
        heads, names = f"stream<{TYPE}> {name}", [name]
    return f"{heads} = Filter({source}) {{ param filter: v > {least}; }}", names


def _changed(chance, streams, name):
    source, plus = chance.choice(streams), chance.randrange(1, 4)
    said = f"k = (k + {plus}) % 2, v = " + chance.choice(
        ("v * 2", "folded(v, k)", "turned(v, k)", f"(v + {source}[1].v) % 5")
    )
    text = f"stream<{TYPE}> {name} = Functor({source}) {{ output {name}: {said}; }}"
    return text, [name]


def _united(chance, streams, name):
    first, second = chance.sample(streams, 2)
    return f"stream<{TYPE}> {name} = Union({first}; {second}) {{}}", [name]


def _custom(chance, streams, name):
    source, least = chance.choice(streams), chance.randrange(4)
    code = (
        f"if (I.v > {least}) {{ submit(I, {name}); }} "
        f"submit({{k = I.k, v = I.v + 10}}, {name});"
    )
    logic = f"logic onTuple I: {{ {code} }}"
    return f"stream<{TYPE}> {name} = Custom({source} as I) {{ {logic} }}", [name]


LOOPS = (
    "while (sum > 9) sum -= I.v + 1;",
    "for (int32 one in seen) { if (one == 2) continue; sum += one; }",
    "for (int32 key in last) { if (key > 0) break; sum += last[key]; }",
    "if (I.k in last) { sum += last[I.k]; } else if (sum > 5) { return; }",
)
HANDED = (
    "submit({{k = I.k, v = sum}}, {0});",
    "if (sum % 2 == 0) submit(I, {0}); else submit({{k = sum % 2, v = I.v}}, {0});",
    "I.v += sum; submit(I, {0}); submit({{k = I.k, v = -sum}}, {0});",
    "submit({{k = (int32) size(seen) % 2, v = turns++}}, {0});",
)
MARKED = (
    "",
    "onPunct I: {{ seen = (list<int32>) []; submit(currentPunct(), {0}); }}",
    (
        "onPunct I: if (currentPunct() == Sys.WindowMarker) "
        "{{ submit({{k = 0, v = sum}}, {0}); submit(Sys.WindowMarker, {0}); sum = 0; }}"
    ),
)


def _coded(chance, streams, name):
    source = chance.choice(streams)
    body = " ".join(chance.sample(LOOPS, 2)) + chance.choice(HANDED).format(name)
    state = (
        "mutable int32 sum = 0; mutable int32 turns = 0; mutable list<int32> seen;"
        " mutable map<int32, int32> last = {};"
    )
    logic = (
        f"logic state: {{ {state} }} onTuple I: {{ sum += I.v; {body}"
        " last[I.k] = I.v;"
        " if (size(seen) < 3) appendM(seen, I.v); else removeM(seen, 0); }"
        f" {chance.choice(MARKED).format(name)}"
    )
    return f"stream<{TYPE}> {name} = Custom({source} as I) {{ {logic} }}", [name]


def _counting(chance, streams, name):
    source = chance.choice(streams)
    if chance.random() < 0.5:
        body = "onTuple I: n++; param filter: n % 3 != 0;"
        kind = "Filter"
    else:
        body = f"onTuple I: n += I.v; output {name}: v = n++, k = I.k;"
        kind = "Functor"
    logic = f"logic state: mutable int32 n = 0; {body}"
    return f"stream<{TYPE}> {name} = {kind}({source} as I) {{ {logic} }}", [name]


def _split(chance, streams, name):
    source = chance.choice(streams)
    heads = f"(stream<{TYPE}> {name}; stream<{TYPE}> {name}O)"
    text = f"{heads} = Split({source}) {{ param index: (int64) (v % 3 - 1); }}"
    return text, [name, f"{name}O"]


TUMBLING = ("count(1)", "count(3)", "delta(v, 2)", "punct()")
EVICTIONS = ("count(2)", "count(3)", "delta(v, 2)")
TRIGGERS = ("", ", count(1)", ", count(2)", ", delta(v, 1)")
PARTITIONS = ("", ", partitionCount(1)", ", tupleCount(3)")


def window(chance, tumbling=TUMBLING, evictions=EVICTIONS, triggers=TRIGGERS):
    """A window, and the parameter by which it is partitioned, if it is."""
    text = (
        f"tumbling, {chance.choice(tumbling)}"
        if chance.random() < 0.5
        else f"sliding, {chance.choice(evictions)}{chance.choice(triggers)}"
    )
    if chance.random() < 0.5:
        return text, ""
    return f"{text}, partitioned{chance.choice(PARTITIONS)}", " partitionBy: k;"


def _aggregated(chance, streams, name, **windows):
    source, (text, params) = chance.choice(streams), window(chance, **windows)
    if chance.random() < 0.5:
        params += " groupBy: v % 2;"
    if "sliding" in text and chance.random() < 0.5:
        params += " aggregateIncompleteWindows: true;"
    if "tumbling" in text and ("Count(" in text):
        params += " aggregateEvictedPartitions: true;"
    value = chance.choice(
        ("Sum(v)", "Max(v)", "Count()", "ArgMin(v, k + v)", "CountAll()", "v")
    )
    body = (
        f"window I: {text};{params and f' param{params}'} output {name}: v = {value};"
    )
    return f"stream<{TYPE}> {name} = Aggregate({source} as I) {{ {body} }}", [name]


def _sorted(chance, streams, name):
    source = chance.choice(streams)
    order = chance.choice(("", " order: descending;", " order: ascending, descending;"))
    keys = "k, v" if "," in order else "v"
    text, params = window(chance, TUMBLING, ("count(2)", "count(3)"), ("",))
    body = f"window I: {text}; param sortBy: {keys};{order}{params}"
    return f"stream<{TYPE}> {name} = Sort({source} as I) {{ {body} }}", [name]


def _punctuated(chance, streams, name):
    source, position = chance.choice(streams), chance.choice(("before", "after"))
    body = f"param punctuate: v > 2; position: {position};"
    return f"stream<{TYPE}> {name} = Punctor({source}) {{ {body} }}", [name]


def _barred(chance, streams, name):
    first, second = chance.choice(streams), chance.choice(streams)
    by = chance.choice(("", " param partitionByLHS: A.k; partitionByRHS: B.k;"))
    body = f"{by} output {name}: k = A.k, v = B.v;"
    return (
        f"stream<{TYPE}> {name} = Barrier({first} as A; {second} as B) {{ {body} }}",
        [name],
    )


def _repeated(chance, streams, name, times=("timeOut: 600.0;",)):
    source = chance.choice(streams)
    body = chance.choice(("count: 3ul;", "deltaAttribute: v; delta: 1;", *times))
    body += chance.choice(("", " key: k;", " key: v % 2, k;"))
    body += chance.choice(("", " resetOnDuplicate: false;"))
    body += chance.choice(("", " flushOnPunctuation: true;"))
    heads = f"(stream<{TYPE}> {name}; stream<{TYPE}> {name}A)"
    return f"{heads} = DeDuplicate({source}) {{ param {body} }}", [name, f"{name}A"]


TIMES = ("time(2)", "time(3)")


def _totals_in_time(chance, streams, name):
    triggers = tuple(f", {one}" for one in TIMES)
    windows = {"tumbling": TIMES, "evictions": TIMES, "triggers": triggers}
    return _aggregated(chance, streams, name, **windows)


def _repeated_in_time(chance, streams, name):
    return _repeated(chance, streams, name, ("timeOut: 1.0;", "timeOut: 4.0;"))


def random_windows(seed, events=30):
    """An operator that looks at the time, and events that stand apart."""
    chance, times = Random(seed), TIMES
    if seed % 3:
        text, _ = _aggregated(
            chance,
            ["A"],
            "S",
            tumbling=(*times, *TUMBLING),
            evictions=(*times, *EVICTIONS),
            triggers=(*(f", {one}" for one in times), *TRIGGERS),
        )
    else:
        text, _ = _repeated(chance, ["A"], "S", ("timeOut: 1.0;", "timeOut: 4.0;"))
    clock, given = 0, []
    for _ in range(events):
        clock += chance.choice((0, 0, 1, 2, 5))
        row = {"k": chance.randrange(3), "v": chance.randrange(6)}
        told = {"in": "A", "row": row} if chance.random() < 0.8 else {}
        given.append({**told, "at": clock})
    whole = f"stream<{TYPE}> A = Beacon() {{}}\n{text}"
    inputs = {"A": {"kind": "stream"}}
    return whole, spl_play(whole, CaseData(inputs, {}, tuple(given), has_events=True))


def flow_cases(file, names=()):
    """The programs of a file of cases that give rows, all of them or some."""
    cases = json.loads((CASES / file).read_text())
    return {
        one["name"]: spl_play(
            one["text"],
            CaseData(one["inputs"], {}, tuple(one["events"]), has_events=True),
        )
        for one in cases
        if (not names or one["name"].partition("/")[2] in names)
        and isinstance(one["expect"], list)
    }


def random_flow(seed, operators=5, events=14, *, timed=False):
    """A program with its events that is more than one join."""
    chance = Random(seed)
    while True:
        text = random_text(chance, operators, timed=timed)
        given = [
            {"in": chance.choice(INPUTS), "row": {"k": chance.randrange(2), "v": value}}
            for value in (chance.randrange(6) for _ in range(events))
        ]
        clock = 0
        for event in given if timed else ():
            clock += chance.choice((0, 0, 1, 2, 5))
            event["at"] = clock
        inputs = {name: {"kind": "stream"} for name in INPUTS}
        flow = spl_play(text, CaseData(inputs, {}, tuple(given), has_events=True))
        if isinstance(flow, FlowPlay):
            return text, flow
