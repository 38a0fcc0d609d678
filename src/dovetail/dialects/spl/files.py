"""The files of FileSource and FileSink, as the operators' own parameters describe them.

Nobody asks for one where the stream is bound by its name. So what is wrong with a
parameter is told when the file is to be read or written, and not before.
"""

from __future__ import annotations

import codecs
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from dovetail.dialects.spl import syntax, types
from dovetail.dialects.spl.expressions import Scope, bind
from dovetail.dialects.spl.values import assigned


class TextFormat(Enum):
    """How a line holds a tuple."""

    CSV = "csv"
    TXT = "txt"
    LINE = "line"


@dataclass(frozen=True, slots=True)
class TextFile:
    """A file with a tuple a line, in the words of FileSource.

    `path` may begin at the folder of the data. Without an `end` a line ends as texts
    do. `defaults` are the values, in SQL, of attributes that a line of CSV lacks.
    """

    type: types.Tuple
    path: str
    format: TextFormat
    separator: str
    headers: int
    end: str
    encoding: str
    compression: str
    is_strict: bool
    has_delay: bool
    ignores_more: bool
    defaults: Mapping[str, str]


_COMPRESSIONS = ("zlib", "gzip", "bzip2")
_OF_CSV = ("separator", "ignoreExtraCSVValues", "defaultTuple")
_BIND = "bind the stream by its name: [streams.{}] of a job file, or dt.spl"
_ELSEWHERE = {
    **dict.fromkeys(("block", "bin"), "the bytes are read by no engine here"),
    "tsv": r'format : csv; separator : "\t"',
}


def text_file(call: syntax.Invocation, kind: types.Tuple, scope: Scope) -> TextFile:
    """Returns the file that a FileSource reads, or refuses what is said of it."""
    hint = _BIND.format(call.heads[0].name)
    said = _Said.of(call, scope, known=_KNOWN, hint=hint)
    said.need_file(call)
    parsing = said.word("parsing", ("strict", "permissive", "fast"), "strict")
    found = TextFile(
        type=kind,
        path=said.text("file"),
        format=TextFormat(said.word("format", [it.value for it in TextFormat], "csv")),
        separator=said.text("separator", ","),
        headers=said.headers(),
        end=said.text("eolMarker"),
        encoding=said.encoding(),
        compression=said.word("compression", _COMPRESSIONS, ""),
        is_strict=parsing != "permissive",
        has_delay=said.truth("hasDelayField"),
        ignores_more=said.truth("ignoreExtraCSVValues"),
        defaults=said.defaults(kind),
    )
    # It is checked and has no effect: the rows are there when the run begins.
    said.value("initDelay", types.FLOAT64, 0.0)
    if len(found.separator) != 1:
        place = said.settings["separator"].place
        raise types.refused(place, f'the separator "{found.separator}"', "one letter")
    for name in _OF_CSV if found.format is not TextFormat.CSV else ():
        if name in said.settings:
            place, word = said.settings[name].place, found.format.value
            raise types.refused(place, f"{name} of the format {word}", "csv")
    said.need_texts(call, kind, layout=found.format)
    return found


@dataclass(frozen=True, slots=True)
class TextSink:
    """A file into which a tuple goes a line, in the words of FileSink.

    `path` may begin at the folder of the data. `names` are the attributes that are
    written. Texts stand between quotes, `is_quoted`; inside of other values always.
    """

    type: types.Tuple
    names: tuple[str, ...]
    path: str
    format: TextFormat
    separator: str
    end: str
    encoding: str
    is_quoted: bool
    appends: bool


_SINK_KNOWN = (
    *("file", "format", "separator", "quoteStrings", "eolMarker", "encoding", "append"),
    *("suppress", "flush", "flushOnPunctuation", "hasDelayField", "writePunctuations"),
)
_SINK = 'bind a sink: [sinks.{}] with folder = ".." in a job file, or dt.folder'


def text_sink(call: syntax.Invocation, kind: types.Tuple, scope: Scope) -> TextSink:
    """Returns the file that a FileSink writes, or refuses what is said of it."""
    (port,) = call.ports
    said = _Said.of(call, scope, known=_SINK_KNOWN, hint=_SINK.format(port.name))
    said.need_file(call)
    if len(port.sources) > 1:
        told = f"a FileSink of {len(port.sources)} streams on one port"
        raise types.refused(call.place, told, "one: a Union before it", said.hint)
    for name in ("hasDelayField", "writePunctuations"):
        if said.truth(name):
            place = said.settings[name].place
            told = f"{name}, of which a batch knows nothing"
            raise types.refused(place, told, "false", said.hint)
    # A batch writes all that it has, whatever these say.
    said.value("flush", types.UINT32, 0)
    said.truth("flushOnPunctuation")
    left_out = said.names("suppress", kind)
    found = TextSink(
        type=kind,
        names=tuple(name for name in kind.names if name not in left_out),
        path=said.text("file"),
        format=TextFormat(said.word("format", [it.value for it in TextFormat], "csv")),
        separator=said.text("separator", ","),
        end=said.text("eolMarker", "\n"),
        encoding=said.encoding(),
        is_quoted="quoteStrings" not in said.settings or said.truth("quoteStrings"),
        appends=said.truth("append"),
    )
    for name in ("separator", "quoteStrings"):
        if name in said.settings and found.format is not TextFormat.CSV:
            place, word = said.settings[name].place, found.format.value
            raise types.refused(place, f"{name} of the format {word}", "csv")
    shown = types.Tuple(tuple((it, dict(kind.attributes)[it]) for it in found.names))
    said.need_texts(call, shown, layout=found.format)
    return found


def _has_blob(kind: types.SplType) -> bool:
    """Tells whether a value holds bytes that no text says."""
    match kind:
        case types.Holder(of=of):
            return any(map(_has_blob, of))
        case types.Tuple(attributes):
            return any(_has_blob(it) for _, it in attributes)
        case types.Bounded(of):
            return _has_blob(of)
        case _:
            return kind == types.Scalar("blob")


_KNOWN = (
    *("file", "format", "hasHeaderLine", "eolMarker", "encoding", "compression"),
    *("parsing", "hasDelayField", "initDelay", *_OF_CSV),
)


@dataclass(frozen=True, slots=True)
class _Said:
    """The parameters of an operator, all of them known, with one value each."""

    settings: Mapping[str, syntax.Setting]
    scope: Scope
    hint: str

    @classmethod
    def of(
        cls, call: syntax.Invocation, scope: Scope, *, known: Sequence[str], hint: str
    ) -> _Said:
        """Returns the parameters of an operator, which has no clauses beside them."""
        for clause in (*call.outputs, *call.logics):
            told = f"an output or logic clause of a {call.kind} that has its file"
            raise types.refused(clause.place, told, "none: use a Functor", hint)
        found: dict[str, syntax.Setting] = {}
        for one in call.params:
            if one.name not in known:
                told = f'"{one.name}" of a {call.kind} is not supported'
                raise types.refused(one.place, told, f"one of {', '.join(known)}", hint)
            # suppress names several attributes; all others have one value.
            if one.name in found or (len(one.values) != 1 and one.name != "suppress"):
                raise types.refused(one.place, f"two values of {one.name}", "one", hint)
            found[one.name] = one
        return cls(found, scope, hint)

    def need_file(self, call: syntax.Invocation) -> None:
        """Refuses an operator that does not name its file."""
        if "file" not in self.settings:
            found = f"a {call.kind} without a file"
            raise types.refused(call.place, found, "file", self.hint)

    def need_texts(
        self, call: syntax.Invocation, kind: types.Tuple, *, layout: TextFormat
    ) -> None:
        """Refuses attributes that no line of a text has."""
        loose = [types.loose(it) for _, it in kind.attributes]
        if layout is TextFormat.LINE and loose != [types.RSTRING]:
            raise types.refused(call.place, f"the format line of {kind}", "one rstring")
        for name, part in kind.attributes:
            if _has_blob(part):
                told = f'a blob in a text, the attribute "{name}"'
                raise types.refused(call.place, told, "other types", self.hint)

    def names(self, name: str, kind: types.Tuple) -> tuple[str, ...]:
        """Returns attributes that a parameter names."""
        found = []
        for node in self.settings[name].values if name in self.settings else ():
            word = node.text if isinstance(node, syntax.Name) else ""
            if word not in kind.names:
                expected = f"some of {', '.join(kind.names)}"
                raise types.refused(node.place, f"{name} of this", expected)
            found.append(word)
        return tuple(found)

    def value(self, name: str, kind: types.SplType, usual: object) -> object:
        """Returns a value that is known without a tuple."""
        if name not in self.settings:
            return usual
        value = bind(self.settings[name].values[0], self.scope)
        if value.type != kind:
            raise types.refused(value.place, f"{name} is {value.type}", str(kind))
        return value.constant(name)

    def text(self, name: str, usual: str = "") -> str:
        """Returns a text."""
        return str(self.value(name, types.RSTRING, usual))

    def truth(self, name: str) -> bool:
        """Returns a truth; what is not said is false."""
        return bool(self.value(name, types.BOOLEAN, usual=False))

    def word(self, name: str, known: Sequence[str], usual: str = "") -> str:
        """Returns one of the words that a parameter knows."""
        if name not in self.settings:
            return usual
        node = self.settings[name].values[0]
        word = node.text if isinstance(node, syntax.Name) else ""
        if word not in known:
            # Of a format that others read the hint says what to do instead.
            hint = _ELSEWHERE.get(word, self.hint)
            expected = f"one of {', '.join(known)}"
            raise types.refused(node.place, f'the {name} "{word}"', expected, hint)
        return word

    def headers(self) -> int:
        """Returns how many lines there are before the first tuple."""
        name = "hasHeaderLine"
        if name not in self.settings:
            return 0
        value = bind(self.settings[name].values[0], self.scope)
        if value.type not in {types.BOOLEAN, types.UINT32}:
            expected = "boolean, or uint32: so many lines"
            raise types.refused(value.place, f"{name} is {value.type}", expected)
        found = value.constant(name)
        # A truth is one line, or none.
        return int(found) if isinstance(found, bool | int) else int(str(found))

    def encoding(self) -> str:
        """Returns the name of an encoding that is known."""
        name = self.text("encoding", "UTF-8")
        try:
            # Any name by which Python knows one is known.
            codecs.lookup(name)
        except LookupError as error:
            place = self.settings["encoding"].place
            raise types.refused(
                place, f'no encoding "{name}"', "UTF-8", self.hint
            ) from error
        return name

    def defaults(self, kind: types.Tuple) -> Mapping[str, str]:
        """Returns the values of attributes that a line may lack, as SQL."""
        if "defaultTuple" not in self.settings:
            return {}
        node = self.settings["defaultTuple"].values[0]
        if types.has_optional(kind):
            told = "defaultTuple of attributes that may be null"
            raise types.refused(node.place, told, "none", self.hint)
        value = bind(node, self.scope)
        if value.type != kind or not isinstance(node, syntax.TupleText):
            told = f"defaultTuple is {value.type}"
            raise types.refused(node.place, told, f"{kind}, written out")
        kinds = dict(kind.attributes)
        found = {it.name: bind(it.value, self.scope) for it in node.parts}
        return {
            name: assigned(one, kinds[name], name).expression.text
            for name, one in found.items()
        }
