"""Random Avro schemas: most of them right, some wrong in one place, and pairs of which one is a change of the other."""

from __future__ import annotations

import copy
import json
from random import Random
from typing import Any

NAMES = ("A", "B", "C", "Ab", "map", "_x1")
BAD_NAMES = ("", "1a", "a-b", "a b", "int", "né", "x.", ".A", "..")
NAMESPACES = ("n", "n.m", "o", "")
FIELDS = ("f", "g", "h", "key", "value", "metadata")
SYMBOLS = ("S", "T", "U", "V", "_w")
PRIMITIVES = ("null", "boolean", "int", "long", "float", "double", "bytes", "string")
ATTRIBUTES = ("p", "q", "order", "precision", "scale", "connect.name", "né", "items", "java-class", "default")
LOGICAL_TYPES = (
    *("decimal", "uuid", "date", "time-millis", "time-micros", "timestamp-millis", "timestamp-micros", "duration"),
    *("big-decimal", "local-timestamp-nanos", "unheard-of"),
)
TEXTS = ("", "x", 'quote " and \\ and / and \n and \x0b', "ünï", "😀", "NaN", "1.5", "S")
NUMBERS = (0, 1, -1, 7, 2**31 - 1, 2**31, -(2**63), 2**63 - 1, 0.0, -0.0, 1.5, 0.1, 1e10, 1e-7, 123456.789, 1e7)
BIG_NUMBERS = (2**63, -(2**70))
NESTING_MAX_LEVELS = 4


class RandomSchemas:
    """A stream of schemas that depends on the seed alone."""

    def __init__(self, seed: int, *, fault_rate: float = 0.02) -> None:
        self._random = Random(seed)
        self._fault_rate = fault_rate
        self._named: list[str] = []

    def schema(self) -> str:
        """The text of a schema."""
        self._named = []
        return self._text(self._type(0))

    def pair(self) -> tuple[str, str]:
        """The texts of two schemas, often close relatives."""
        self._named = []
        first = self._type(0)
        if self._maybe(0.1):
            return self._text(first), self.schema()
        second = copy.deepcopy(first)
        for _ in range(self._random.randint(1, 4)):
            self._change(second)
        return self._text(first), self._text(second)

    def _text(self, schema: Any) -> str:
        return json.dumps(schema, ensure_ascii=self._maybe(0.2), indent=self._random.choice((None, None, 1)))

    def _maybe(self, probability: float) -> bool:
        return self._random.random() < probability

    def _fault(self) -> bool:
        return self._maybe(self._fault_rate)

    def _name(self) -> str:
        name = self._random.choice(BAD_NAMES if self._fault() else NAMES)
        return f"{self._random.choice(NAMESPACES)}.{name}" if self._maybe(0.1) else name

    def _type(self, level: int) -> Any:
        chance = self._random.random()
        if self._named and chance < 0.15:
            return self._random.choice(self._named)
        if level >= NESTING_MAX_LEVELS or chance < 0.4:
            return self._primitive()
        if self._fault():
            return self._random.choice(
                (None, 1, {}, [["null"]], {"type": {"type": "string"}}, {"type": "A"}, "Q", True)
            )
        make = self._random.choice(
            (self._record, self._record, self._record, self._enum, self._fixed, self._array, self._map, self._union)
        )
        return make(level)

    def _primitive(self) -> Any:
        word = self._random.choice(PRIMITIVES)
        return self._with_attributes({"type": word}) if self._maybe(0.3) else word

    def _with_attributes(self, schema: dict[str, Any]) -> dict[str, Any]:
        if self._maybe(0.3):
            schema["logicalType"] = self._random.choice(LOGICAL_TYPES)
            if self._maybe(0.5):
                schema["precision"] = self._random.choice((1, 4, 30, 0, "4", 2**40))
            if self._maybe(0.5):
                schema["scale"] = self._random.choice((0, 2, -1, 9, "2"))
        while self._maybe(0.3):
            schema.setdefault(self._random.choice(ATTRIBUTES), self._json(0))
        items = list(schema.items())
        if self._maybe(0.3):
            self._random.shuffle(items)
        return dict(items)

    def _json(self, level: int) -> Any:
        chance = self._random.random()
        if level < 2 and chance < 0.15:
            return {
                self._random.choice(("b", "a", "é", "z")): self._json(level + 1)
                for _ in range(self._random.randint(0, 3))
            }
        if level < 2 and chance < 0.25:
            return [self._json(level + 1) for _ in range(self._random.randint(0, 3))]
        if chance < 0.5:
            return self._random.choice(TEXTS)
        if self._fault():
            return self._random.choice(BIG_NUMBERS)
        return self._random.choice(NUMBERS) if chance < 0.8 else self._random.choice((None, True, False))

    def _named_type(self, word: str) -> dict[str, Any]:
        schema: dict[str, Any] = {"type": word, "name": self._name()}
        self._named.append(schema["name"])
        if self._maybe(0.4):
            schema["namespace"] = self._random.choice(NAMESPACES)
            if self._maybe(0.5) and schema["namespace"]:
                self._named.append(f"{schema['namespace']}.{schema['name']}")
        if self._maybe(0.2):
            schema["doc"] = self._random.choice((*TEXTS, 5))
        if self._maybe(0.3):
            schema["aliases"] = [self._name() for _ in range(self._random.randint(0, 3))]
        return schema

    def _record(self, level: int) -> Any:
        schema = self._named_type("error" if self._maybe(0.05) else "record")
        names = self._random.sample(FIELDS, self._random.randint(0, 4))
        if names and self._fault():
            names.append(names[0])
        schema["fields"] = [self._field(name, level) for name in names]
        return self._with_attributes(schema)

    def _field(self, name: str, level: int) -> dict[str, Any]:
        field: dict[str, Any] = {"name": name, "type": self._type(level + 1)}
        if self._maybe(0.5):
            field["default"] = self._json(0) if self._maybe(0.1) else self._default(field["type"])
        if self._maybe(0.15):
            field["order"] = self._random.choice(
                ("ascending", "Descending", "ignore", "up" if self._fault() else "IGNORE")
            )
        if self._maybe(0.2):
            field["doc"] = self._random.choice(TEXTS)
        if self._maybe(0.2):
            field["aliases"] = self._random.sample(FIELDS, self._random.randint(0, 2))
        if self._maybe(0.2):
            field[self._random.choice(("p", "q", "logicalType"))] = self._json(0)
        return field

    def _default(self, schema: Any) -> Any:
        """A value that mostly fits the type."""
        if isinstance(schema, list):
            return self._default(self._random.choice(schema)) if schema else None
        if not isinstance(schema, dict):
            schema = {"type": schema if schema in PRIMITIVES else None}
        match schema.get("type"):
            case "null":
                return None
            case "boolean":
                return self._maybe(0.5)
            case "int" | "long":
                return self._random.choice((0, -5, 2**31 - 1, 2**31))
            case "float" | "double":
                return self._random.choice(
                    (0, 1, 1.5, 0.1, 1e10, 3.4e38, 1e300, "1.5", "NaN", "x", 16777217, 2**53 + 1)
                )
            case "array":
                return [self._default(schema.get("items")) for _ in range(self._random.randint(0, 2))]
            case "map":
                return {
                    key: self._default(schema.get("values"))
                    for key in self._random.sample(("k", "j"), self._random.randint(0, 2))
                }
            case "record":
                fields = schema.get("fields") or []
                return {field["name"]: self._default(field["type"]) for field in fields if self._maybe(0.9)}
            case "enum":
                return self._random.choice(SYMBOLS)
            case _:
                return self._random.choice(("", "ab", "ÿĀ😀", {}))

    def _enum(self, _level: int) -> Any:
        schema = self._named_type("enum")
        schema["symbols"] = self._random.sample(SYMBOLS, self._random.randint(0, 4))
        if self._fault():
            schema["symbols"].append(self._random.choice(("S", "a-b", "", 5)))
        if self._maybe(0.3):
            schema["default"] = self._random.choice((*(schema["symbols"] or ("S",)), 5))
        return self._with_attributes(schema)

    def _fixed(self, _level: int) -> Any:
        schema = self._named_type("fixed")
        schema["size"] = (
            self._random.choice((-1, "4", 2**40, 1.0)) if self._fault() else self._random.choice((0, 4, 12, 16))
        )
        return self._with_attributes(schema)

    def _array(self, level: int) -> Any:
        schema = self._with_attributes({"type": "array", "items": self._type(level + 1)})
        if self._maybe(0.05):
            schema["logicalType"] = "map"
        return schema

    def _map(self, level: int) -> Any:
        return self._with_attributes({"type": "map", "values": self._type(level + 1)})

    def _union(self, level: int) -> Any:
        branches: dict[str, Any] = {}
        for _ in range(self._random.randint(0, 4)):
            branch = self._type(level + 1)
            if isinstance(branch, list):
                continue
            word = branch.get("name", branch.get("type")) if isinstance(branch, dict) else str(branch)
            branches[f"{word} again" if self._fault() else str(word)] = branch
        return list(branches.values())

    def _change(self, schema: Any) -> None:
        """Change something somewhere in the schema."""
        places = list(_objects(schema))
        if not places:
            return
        place = self._random.choice(places)
        if "fields" in place and isinstance(place["fields"], list):
            self._change_record(place)
        elif "symbols" in place:
            place["symbols"] = self._random.sample(SYMBOLS, self._random.randint(0, 4))
            place.pop("default", None)
        elif "size" in place:
            place["size"] = self._random.choice((4, 8))
        elif "name" in place and "type" in place:
            self._change_field(place)
        elif place.get("type") in PRIMITIVES:
            place["type"] = self._random.choice(PRIMITIVES)

    def _change_record(self, record: dict[str, Any]) -> None:
        fields = record["fields"]
        chance = self._random.random()
        if chance < 0.3 and fields:
            fields.pop(self._random.randrange(len(fields)))
        elif chance < 0.6:
            free = [name for name in FIELDS if all(field["name"] != name for field in fields)]
            fields.insert(
                self._random.randint(0, len(fields)), self._field(self._random.choice(free), NESTING_MAX_LEVELS - 1)
            )
        elif chance < 0.8 and isinstance(record.get("name"), str):
            if self._maybe(0.5):
                record["aliases"] = [record["name"]]
            record["name"] = self._name()
        else:
            self._random.shuffle(fields)

    def _change_field(self, field: dict[str, Any]) -> None:
        chance = self._random.random()
        if chance < 0.5:
            inner = field["type"]
            choices = (
                self._type(NESTING_MAX_LEVELS - 1),
                self._random.choice(PRIMITIVES),
                ["null", inner],
                [inner, "int"],
            )
            field["type"] = self._random.choice(choices)
            field.pop("default", None)
        elif chance < 0.8:
            if self._maybe(0.5):
                field["aliases"] = [field["name"]]
            field["name"] = self._random.choice(FIELDS)
        else:
            field.pop("default", None)


def _objects(schema: Any) -> list[dict[str, Any]]:
    """All objects of the schema, fields among them, from the outside inwards."""
    if isinstance(schema, list):
        return [found for element in schema for found in _objects(element)]
    if not isinstance(schema, dict):
        return []
    inner = [
        schema[name] for name in ("fields", "type", "items", "values") if isinstance(schema.get(name), (dict, list))
    ]
    return [schema, *(found for value in inner for found in _objects(value))]
