"""Macros: what a text is once each call of one stands for the words of its body.

    m(rows, key) := MACRO                  m(people, id);
      OUTPUT(SORT(rows, key));      is     OUTPUT(SORT(people, id));
    ENDMACRO;

Arguments are words, not values: they are cut at commas and put where the body names
the parameter. A FUNCTIONMACRO gives a value, so its body is a FUNCTION in brackets.
Every word knows where it came from: what is wrong with one of a body is shown at the
call, with the line of the body.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import accumulate, chain, islice

from lark.tree import Meta

from dovetail.dialects.grammar import Source
from dovetail.errors import DialectError, Place
from dovetail.expression.tables import entered

_WORD = re.compile(
    r"\w*'(?:[^'\\\n]|\\.)*'|//[^\n]*|/\*.*?\*/|\s+|%[a-z_]\w*%|#?[a-z_$][\w$]*"
    r"|\d\w*(?:\.\d\w*)?|:=|.",
    re.DOTALL | re.IGNORECASE,
)
_SIGNED = re.compile(r"-\d[\w.]*")
_TEXT = re.compile(r"'((?:[^'\\\n]|\\.)*)'")
_ESCAPED = re.compile(r"\\(.)")
_OPENING, _CLOSING = ("(", "["), (")", "]")
# RECORD that all fields of a row are, as in DEDUP(rows, RECORD), opens nothing.
_OPENS = re.compile(
    r"(?:record(?!\s*(?:\)|,(?!\s*(?:maxlength|locale|packed)\b)))|transform(?!\s*\()"
    r"|function|module|interface(?=\s*(?:\([^()]*\)\s*)?(?:export|shared|end)\b))\b",
    re.IGNORECASE,
)
_AHEAD = 24
# Macros that call others twice and twice again are short, what they give is not.
_MOST = 1_000_000


@dataclass(frozen=True, slots=True)
class _Piece:
    """A word of the text that is read: where it, or the call it is from, stands.

    `through` says from which line of which macro it is; of the text itself nothing.
    """

    text: str
    start: int
    length: int
    through: str = ""

    @property
    def name(self) -> str:
        """Returns the name that it is, in lower case, or nothing."""
        is_name = self.text[:1].isalpha() or self.text[:1] in {"_", "$", "#"}
        return self.text.lower() if is_name and self.text[-1] != "'" else ""

    @property
    def symbol(self) -> str:
        """Returns the name between two % that it is, in lower case, or nothing."""
        return self.text[1:-1].lower() if self.text[:1] == "%" else ""

    @property
    def is_passed(self) -> bool:
        """Tells whether it is a blank or a comment."""
        return self.text.isspace() or self.text.startswith(("//", "/*"))

    def saying(self, text: str) -> list[_Piece]:
        """Returns the words of another text, which stand where this one does."""
        return [replace(self, text=one[0]) for one in _WORD.finditer(text)]


Pieces = list[_Piece]


def _pieces(text: str) -> Pieces:
    """Returns the words of a text, each where it stands."""
    return [_Piece(it[0], it.start(), len(it[0])) for it in _WORD.finditer(text)]


@dataclass(frozen=True, slots=True)
class Macro:
    """A macro: its parameters, with what they are otherwise, and its words by lines."""

    name: str
    parameters: tuple[tuple[str, Pieces], ...]
    body: tuple[tuple[str, int], ...]
    is_function: bool
    is_exported: bool
    file: str = ""


# The macro of another text that a name with points leads to, or none.
Outside = Callable[[tuple[str, ...]], tuple[Macro, ...]]


@dataclass(frozen=True, slots=True)
class Body:
    """The body of a macro, which is cut out of its text: where it begins and ends."""

    start: int
    end: int
    is_function: bool


@dataclass(frozen=True, slots=True)
class Expanded(Source):
    """A text as it is read, and where each word of it stands in the text as it is."""

    read: str = ""
    pieces: tuple[_Piece, ...] = ()
    # Where the pieces begin in what is read, and the lines in the text as it is.
    starts: tuple[int, ...] = ()
    lines: tuple[int, ...] = ()

    @classmethod
    def of(
        cls,
        source: Source,
        plain: str,
        bodies: Mapping[int, Body],
        *outside: Outside,
    ) -> Expanded:
        """Returns a text with its macros expanded, and those of other texts.

        `plain` is as long as the text, without the bodies, which are by their places.
        """
        words = [_Piece(plain, 0, len(plain))]
        if bodies or outside or _MAKES.search(plain):
            words = _Expansion(source, bodies, outside).expanded(_pieces(plain))
        starts = (0, *accumulate(len(one.text) for one in words))
        ends = re.finditer("\n", source.text)
        lines = (0, *(one.end() for one in ends))
        read = "".join(one.text for one in words)
        return cls(source.text, source.file, read, tuple(words), starts[:-1], lines)

    def at(self, meta: Meta) -> Place:
        """Returns the place of a rule."""
        if meta.empty:
            return self.place(0, 1)
        return self.place(meta.start_pos, meta.end_pos - meta.start_pos)

    def place(self, start: int, length: int) -> Place:
        """Returns the place of so many letters from one on, as the text has them."""
        piece, first = self._origin(start)
        _, last = self._origin(start + max(1, length) - 1)
        line = bisect_right(self.lines, first)
        if piece.through:
            size = piece.length
        # Of what goes on below its line the caret shows the beginning alone.
        elif bisect_right(self.lines, last) != line or last < first:
            size = 1
        else:
            size = last - first + 1
        column = first - self.lines[line - 1] + 1
        return Place(
            self.text, line, column, size, self.file, piece.through, order=start + 1
        )

    def _origin(self, at: int) -> tuple[_Piece, int]:
        """Returns the word at a place of what is read, and its place in the text."""
        number = max(0, bisect_right(self.starts, at) - 1)
        if not self.pieces:
            return _Piece("", 0, 1), 0
        piece = self.pieces[number]
        return piece, piece.start + (0 if piece.through else at - self.starts[number])


@dataclass(slots=True)
class _Expansion:
    """Expands the words of one text; the macros that it has met by their paths.

    `blocks` are the names of what is open around: a macro of a MODULE is `module.m`
    outside. A path of no macro is one whose name something else has by now.
    """

    source: Source
    bodies: Mapping[int, Body]
    outside: tuple[Outside, ...] = ()
    macros: dict[tuple[str, ...], tuple[Macro, ...]] = field(default_factory=dict)
    blocks: list[str] = field(default_factory=list)
    active: list[Macro] = field(default_factory=list)
    # The names that #UNIQUENAME has made, by what they are between two %.
    symbols: dict[str, str] = field(default_factory=dict)
    unique: int = 0
    given: int = 0

    def expanded(self, words: Pieces) -> Pieces:
        """Returns words with all calls of macros expanded."""
        found: Pieces = []
        at = 0
        while at < len(words):
            word = words[at]
            if word.symbol:
                # Of a name that nothing has made, % is what is left of a division.
                known = self.symbols.get(word.symbol, "")
                parts = (known,) if known else ("%", word.text[1:-1], "%")
                words[at : at + 1] = [replace(word, text=it) for it in parts]
                found += words[at : at + 1]
                at += 1
            elif word.name in _MAKERS and _is_next(words, at + 1, "("):
                given, end = self.arguments(words, at + 1)
                made = _MAKERS[word.name](self, word, given)
                words[at:end] = made
            else:
                end, macros = self.called(words, at, found)
                for macro in macros:
                    last, call = words[end - 1], word
                    if not word.through:
                        length = last.start + last.length - word.start
                        call = replace(word, length=length)
                    given, end = self.arguments(words, end)
                    found += self.of_call(macro, call, given)
                if not macros:
                    self.note(words[at : at + _AHEAD], found)
                    found += words[at:end]
                at = end
        return found

    def called(
        self, words: Pieces, at: int, before: Pieces
    ) -> tuple[int, tuple[Macro, ...]]:
        """Returns where a name, a.b.m, ends, and the macro that it calls, if any."""
        names, end = [words[at].name], at + 1
        if not names[0] or [it.text for it in _last(before, 1)] == ["."]:
            return end, ()
        while _is_next(words, end, "."):
            last = _next(words, _next(words, end) + 1)
            if not (words[last:] and words[last].name):
                break
            names.append(words[last].name)
            end = last + 1
        if not _is_next(words, end, "("):
            return end, ()
        for depth in range(len(self.blocks), -1, -1):
            path = (*self.blocks[:depth], *names)
            macros = self.macros.get(path, ())
            if macros and _is_next(words, self.arguments(words, end)[1], ":="):
                # Something else has the name from here on.
                self.macros[path] = macros = ()
            if path in self.macros:
                is_inside = len(names) == 1
                return end, tuple(it for it in macros if is_inside or it.is_exported)
        return end, tuple(it for one in self.outside for it in one((*names,)))

    def arguments(self, words: Pieces, at: int) -> tuple[list[Pieces], int]:
        """Returns what stands in brackets from a place on, and the place behind it."""
        first, depth = _next(words, at), 0
        parts: list[Pieces] = [[]]
        for place in range(first, len(words)):
            one = words[place]
            depth += (one.text in _OPENING) - (one.text in _CLOSING)
            if not depth:
                is_none = len(parts) == 1 and not _trimmed(parts[0])
                return [] if is_none else parts, place + 1
            if depth == 1 and one.text == ",":
                parts.append([])
            elif place > first:
                parts[-1].append(one)
        raise self.refusal(words[first], "a bracket that nothing closes", '")"')

    def of_call(self, macro: Macro, call: _Piece, given: list[Pieces]) -> Pieces:
        """Returns what a call stands for."""
        of_macro = f'of the macro "{macro.name}"'
        of_macro += f" of {macro.file}" if macro.file else ""
        if macro in self.active:
            raise self.refusal(
                call,
                f"a call {of_macro} inside of itself",
                "a macro that calls others alone",
                hint="what goes on by itself is written as steps of its own",
            )
        given = [self.expanded(one) for one in given]
        values = self.values(macro, call, given)
        body = [
            replace(call, text=text, through=f"in line {line} {of_macro}")
            for text, line in macro.body
        ]
        if macro.is_function:
            body = [*call.saying("(FUNCTION "), *body, *call.saying(" END)")]
        told = chain.from_iterable(values.get(it.name, [it]) for it in body)
        self.active.append(macro)
        # What a body makes is known inside of it alone.
        symbols = self.symbols
        self.symbols = dict(symbols)
        found = self.expanded([*told])
        self.symbols = symbols
        self.active.pop()
        self.given += len(found)
        if self.given > _MOST:
            raise self.refusal(
                call,
                f"macros that give more than {_MOST} words",
                "fewer",
                hint="a macro that calls another twice is twice as long",
            )
        return found

    def values(
        self, macro: Macro, call: _Piece, given: list[Pieces]
    ) -> dict[str, Pieces]:
        """Returns the words of each parameter."""
        names = [name for name, _ in macro.parameters]
        found: dict[str, Pieces] = {}
        # m(1, n := 2): what has a name does not count among those that have none.
        free = iter(names)
        for one in map(_trimmed, given):
            name, *rest = [*one, call]
            if name.name in names and _is_next(rest, 0, ":="):
                found[name.name] = _trimmed(rest[_next(rest, 0) + 1 : -1])
                continue
            parameter = next(free, "")
            if not parameter:
                raise self.refusal(
                    name,
                    f'{len(given)} arguments of the macro "{macro.name}"',
                    f"at most {len(names)}",
                    hint="a comma in ( ) or [ ] ends no argument, one in { } does",
                )
            found[parameter] = one
        for wanted, default in macro.parameters:
            found[wanted] = found.get(wanted, []) or default
            if not found[wanted]:
                raise self.refusal(
                    call,
                    f'no argument for "{wanted}" of the macro "{macro.name}"',
                    "one, since it has no value otherwise",
                )
        return found

    def refusal(
        self, word: _Piece, found: str, expected: str, *, hint: str = ""
    ) -> DialectError:
        """Returns the error for a word, with its place."""
        place = self.source.place(word.start, word.length)
        place = replace(place, through=word.through)
        return DialectError(found, expected, hint, place=place)

    def note(self, words: Pieces, before: Pieces) -> None:
        """Keeps a macro that is defined here, and what opens or closes around."""
        word = words[0]
        if [it.text for it in _last(before, 1)] == ["."]:
            return
        if word.name in _CUT and word.start in self.bodies and not word.through:
            self.define(self.bodies[word.start], before)
        elif word.name == "end" and self.blocks:
            self.blocks.pop()
        elif _OPENS.match("".join(it.text for it in words)):
            # Only of a MODULE the name leads inside.
            is_module = word.name in {"module", "interface"}
            head = [it.name for it in _last(before, 2) if is_module and it.name]
            self.blocks.append([*head, f"#{len(before)}"][0])

    def define(self, body: Body, before: Pieces) -> None:
        """Keeps the macro whose head stands before its body: m(a, b = 1) := MACRO."""
        head = [it for it in before if not it.is_passed][:-1]
        depth, at = 0, len(head)
        while at and (depth or at == len(head)):
            at -= 1
            depth += (head[at].text in _CLOSING) - (head[at].text in _OPENING)
        if not at or not head[at - 1].name:
            return
        parameters = []
        for one in self.arguments(head, at)[0]:
            texts = [it.text for it in one]
            equals = texts.index("=") if "=" in texts else len(texts)
            default = one[equals + 1 :]
            if len(default) > 1 and not _SIGNED.fullmatch("".join(texts[equals + 1 :])):
                raise self.refusal(
                    default[0],
                    "more than one word as the value of a parameter",
                    "a number, a text, or a name",
                )
            named = one[:equals][-1:]
            if not (named and named[0].name):
                raise self.refusal([*one, head[at]][0], "no parameter here", "a name")
            parameters.append((named[0].name, default))
        words, line = [], self.source.text.count("\n", 0, body.start) + 1
        for text in _WORD.findall(self.source.text[body.start : body.end]):
            words.append((text, line))
            line += text.count("\n")
        called = head[at - 1]
        before_it = [it.name for it in head[max(0, at - 3) : at - 1]]
        is_exported = not {"export", "shared"}.isdisjoint(before_it)
        self.macros[*self.blocks, called.name] = (
            Macro(
                called.text,
                (*parameters,),
                (*words,),
                body.is_function,
                is_exported,
                self.source.file,
            ),
        )


def macros_in(
    source: Source, plain: str, bodies: Mapping[int, Body]
) -> Mapping[tuple[str, ...], tuple[Macro, ...]]:
    """Returns the macros of a text by their names, those of modules behind these."""
    expansion = _Expansion(source, bodies)
    expansion.expanded(_pieces(plain))
    return expansion.macros


def _trimmed(words: Pieces) -> Pieces:
    """Returns words without blanks and comments around them."""
    first, last = _next(words, 0), len(words)
    while last > first and words[last - 1].is_passed:
        last -= 1
    return words[first:last]


def _last(words: Pieces, count: int) -> Pieces:
    """Returns the last words that are no blanks."""
    backwards = (one for one in reversed(words) if not one.is_passed)
    return [*islice(backwards, count)][::-1]


def _next(words: Pieces, at: int) -> int:
    """Returns the place of the next word that is no blank."""
    while at < len(words) and words[at].is_passed:
        at += 1
    return at


def _is_next(words: Pieces, at: int, text: str) -> bool:
    """Tells whether the next word that is no blank is a sign."""
    at = _next(words, at)
    return at < len(words) and words[at].text == text


_CUT = {"$acro", "$unctionmacro"}
_Maker = Callable[[_Expansion, _Piece, list[Pieces]], Pieces]
_MAKERS: dict[str, _Maker] = {}
_MAKES = re.compile("#(?:uniquename|expand|text)\\b", re.IGNORECASE)


# #UNIQUENAME(x) makes a name that %x% is from there on, #UNIQUENAME(x, 'a_$') says how.
@entered(_MAKERS, "#uniquename")
def _unique(all_of: _Expansion, word: _Piece, given: list[Pieces]) -> Pieces:
    """Makes a name that no other is, and stands for nothing itself."""
    texts = ["".join(it.text for it in _trimmed(one)) for one in given]
    name, pattern = [*texts, "'__#__$__'"][:2] if texts else ("", "")
    form = _TEXT.fullmatch(pattern)
    if not re.fullmatch(r"[A-Za-z_]\w*", name) or not form or "$" not in form[1]:
        raise all_of.refusal(
            word,
            "#UNIQUENAME of something else",
            "#UNIQUENAME(name), or #UNIQUENAME(name, 'name_$')",
        )
    all_of.unique += 1
    made = form[1].replace("#", name).replace("$", str(all_of.unique))
    all_of.symbols[name.lower()] = made
    return []


@entered(_MAKERS, "#expand")
def _expand(all_of: _Expansion, word: _Piece, given: list[Pieces]) -> Pieces:
    """Returns the words that a text between quotes has."""
    words = [it for one in given for it in all_of.expanded(one)]
    kept = [it for it in words if not it.is_passed]
    texts = [_TEXT.fullmatch(it.text) for it in kept[::2]]
    is_sum = all(it.text == "+" for it in kept[1::2]) and len(kept) % 2
    if len(given) != 1 or not is_sum or not all(texts):
        raise all_of.refusal(
            word,
            "#EXPAND of what is no text between quotes",
            "a text, or a parameter for which one is given",
            hint="write out what it gives",
        )
    return word.saying("".join(_ESCAPED.sub(r"\1", it[1]) for it in texts if it))


@entered(_MAKERS, "#text")
def _text(all_of: _Expansion, word: _Piece, given: list[Pieces]) -> Pieces:
    """Returns what is given as a text: of a name, or of names with points between."""
    words = [it for one in given for it in all_of.expanded(one)]
    told = "".join(it.text for it in _trimmed(words))
    if not re.fullmatch(r"[\w$]+(\.[\w$]+)*", told):
        raise all_of.refusal(
            word, "#TEXT of something else", "a name, a.b, or a parameter that is one"
        )
    return [replace(word, text=f"'{told}'")]
