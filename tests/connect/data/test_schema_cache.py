"""What is made from schemas is made once, and the oldest is forgotten."""

from connect.data.schema import INT32, STRING, Schema, struct
from connect.data.schema_cache import SchemaCache


class Maker:
    """Counts what it makes."""

    def __init__(self) -> None:
        self.made: list[Schema] = []

    def __call__(self, schema: Schema) -> int:
        self.made.append(schema)
        return len(self.made)


def test_equal_schemas_share_what_was_made() -> None:
    cache = SchemaCache(Maker())
    first, second = struct(("a", INT32)), struct(("a", INT32))
    assert first is not second
    assert [cache(first), cache(second), cache(first), cache(STRING)] == [1, 1, 1, 2]


def test_the_oldest_is_forgotten() -> None:
    maker = Maker()
    cache = SchemaCache(maker, limit=2)
    for schema in (INT32, STRING, struct(), INT32):
        cache(schema)
    assert maker.made == [INT32, STRING, struct(), INT32]
