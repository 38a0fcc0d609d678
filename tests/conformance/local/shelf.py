"""A shelf for a bucket's blobs in a dictionary, as Spark's store keeps them."""

from dovetail.kernels.store import Store


class Shelf:
    """Blobs by number, and the directory; knows how many bytes lie on it."""

    def __init__(self):
        self.head = b""
        self.blobs = {}

    @property
    def size(self):
        return len(self.head) + sum(map(len, self.blobs.values()))

    def directory(self):
        return self.head

    def keep_directory(self, data):
        self.head = data

    def get(self, number):
        return self.blobs[number]

    def put(self, number, data):
        assert number not in self.blobs
        self.blobs[number] = data

    def drop(self, number):
        del self.blobs[number]


class OnShelf:
    """The state as bytes on a shelf, read and written at each step."""

    def __init__(self, stage):
        self.stage = stage
        self.shelf = Shelf()

    def load(self, parcels, now):
        self.store = Store(self.stage.settings, self.stage.schemas, self.shelf)
        return self.store.load(parcels, now)

    def save(self, stepped):
        return self.store.save(stepped)
