"""Texts with a mistake: letters, words and arguments dropped, put in, exchanged."""

from dovetail.errors import NOWHERE, DialectError, DovetailError, UnsupportedError


def exchanged(chance, text, between):
    """A text of which two parts have changed places."""
    parts = text.split(between)
    one, other = (chance.randrange(len(parts)) for _ in range(2))
    parts[one], parts[other] = parts[other], parts[one]
    return between.join(parts)


def without_one(chance, text, between):
    """A text of which a part is gone."""
    parts = text.split(between)
    del parts[chance.randrange(len(parts))]
    return between.join(parts)


def mutated(chance, text, signs, between):
    """A text with a mistake in it: one of the signs, or clauses swapped."""
    place = chance.randrange(len(text))
    return chance.choice(
        [
            text[:place] + text[place + 1 :],
            text[:place] + chance.choice(signs) + text[place:],
            text[:place],
            without_one(chance, text, " "),
            without_one(chance, text, ","),
            exchanged(chance, text, " "),
            exchanged(chance, text, ","),
            exchanged(chance, text, between),
        ]
    )


def is_told(text, error):
    """Whether an error has its place in the text; one of a row has a sentence."""
    is_unsupported = isinstance(error, UnsupportedError) and error.place != NOWHERE
    if not (is_unsupported or isinstance(error, DialectError)):
        return bool(error.expected)
    line = text.split("\n")[error.place.line - 1]
    return 1 <= error.place.column <= len(line) + 1 and "^" in error.place.caret()


def attempted(play_of, text, given):
    """The play of a text, or the error that its mistake is."""
    try:
        return play_of(text, given)
    except DovetailError as error:
        return error
