"""Chance, and the few questions that a play in the making puts to it."""


class Dice:
    """Answers by chance, the same for one seed.

    Where it is bold, half of what is rare is there: many features in one play.
    """

    def __init__(self, chance, *, bold=False):
        self.chance = chance
        self.bold = bold

    def one_of(self, count):
        """True once in so many times, and not where chance gives its least.

        So what Hypothesis makes small is plain.
        """
        return self.chance.randrange(count) == count - 1

    def number(self, least, most):
        """A whole number, both ends included."""
        return self.chance.randrange(least, most + 1)

    def pick(self, choices):
        """One of some choices."""
        return self.chance.choice(choices)

    def rarely(self, count, usual, draw):
        """What is usual, but once in so many times what `draw` gives."""
        return draw() if self.one_of(2 if self.bold else count) else usual

    def shuffled(self, items):
        """The same items in any order."""
        items = list(items)
        self.chance.shuffle(items)
        return items
