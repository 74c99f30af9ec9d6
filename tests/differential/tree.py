"""Statements as trees that can be made smaller part by part."""


class Text:
    def __init__(self, words):
        self.words = words

    def text(self):
        return self.words

    def smaller(self):
        return iter(())


class All:
    """Parts one after another; texts may be given as they are."""

    def __init__(self, *parts):
        self.parts = [Text(p) if isinstance(p, str) else p for p in parts]

    def text(self):
        return " ".join(t for t in (p.text() for p in self.parts) if t)

    def smaller(self):
        for i, part in enumerate(self.parts):
            for less in part.smaller():
                yield All(*self.parts[:i], less, *self.parts[i + 1:])


class Maybe(All):
    """A part that can be left out."""

    def smaller(self):
        yield Text("")
        for less in super().smaller():
            yield Maybe(*less.parts)


class Many:
    """A list, of which `least` elements must stay."""

    def __init__(self, parts, least=1, between=", "):
        self.parts = [Text(p) if isinstance(p, str) else p for p in parts]
        self.least, self.between = least, between

    def text(self):
        return self.between.join(p.text() for p in self.parts)

    def smaller(self):
        if len(self.parts) > self.least:
            for i in range(len(self.parts)):
                yield Many(self.parts[:i] + self.parts[i + 1:], self.least, self.between)
        for i, part in enumerate(self.parts):
            for less in part.smaller():
                yield Many([*self.parts[:i], less, *self.parts[i + 1:]], self.least, self.between)


class Within:
    """A part between two texts, as parentheses."""

    def __init__(self, before, part, after):
        self.before, self.part, self.after = before, part, after

    def text(self):
        return self.before + self.part.text() + self.after

    def smaller(self):
        for less in self.part.smaller():
            yield Within(self.before, less, self.after)


class Instead:
    """A part that may give way to each of some texts."""

    def __init__(self, part, *others):
        self.part, self.others = Text(part) if isinstance(part, str) else part, others

    def text(self):
        return self.part.text()

    def smaller(self):
        for other in self.others:
            if len(other) < len(self.part.text()):
                yield Text(other)
        for less in self.part.smaller():
            yield Instead(less, *self.others)
