"""Where a `$ref` leads: within the schema, or to another registered schema by its name. The network is never asked."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import unquote_plus

from schema_registry.formats.json_schema.draft import Draft, draft_of, is_meta_schema
from schema_registry.formats.json_schema.place import Document, Place
from schema_registry.formats.json_schema.uri import fragment, resolve, without_fragment
from schema_registry.formats.json_text import JsonValue, parse
from schema_registry.formats.parsed_schema import InvalidSchema


class Library:
    """The schema and all schemas that it refers to."""

    def __init__(self, root: JsonValue, references: Mapping[str, str]) -> None:
        draft = draft_of(root)
        self.document = Document(_with_definitions_in_defs(root), draft)
        self.document.top().string("$schema")
        base = self.document.top().base
        self._texts = references
        self._names = {resolve(base, name): name for name in references}
        self._names.update({without_fragment(name): name for name in references})
        self._documents: dict[str, Document] = {}

    def find(self, reference: str, place: Place) -> Place:
        """The place that a reference in `place` means; InvalidSchema when there is none."""
        absolute = resolve(place.base, reference)
        named = _named(place.document, reference, absolute)
        if named is not None:
            return named
        root = self._root(reference, absolute, place)
        return _within(root, fragment(reference), place, reference)

    def _root(self, reference: str, absolute: str, place: Place) -> Place:
        """The schema in which the fragment of the reference is looked up."""
        if reference.startswith("#"):
            inner = place.document.identified.get(without_fragment(absolute))
            return inner if inner is not None and place.draft is Draft.MODERN else place.document.top()
        target = without_fragment(absolute)
        inner = place.document.identified.get(target)
        if inner is not None:
            return inner
        name = self._names.get(target) or self._names.get(without_fragment(reference).removeprefix("./"))
        if name is not None:
            return self._open(name, target, place.draft).top()
        if is_meta_schema(target):
            return Document(True, place.draft, target, target).top()
        raise InvalidSchema(
            f"{place}: the $ref {reference!r} leads to no registered schema; register the schema that it means and add it "
            f"to the references under the name {without_fragment(reference)!r} (schemas are never fetched from the network)"
        )

    def _open(self, name: str, uri: str, draft: Draft) -> Document:
        if name not in self._documents:
            root = _with_definitions_in_defs(parse(self._texts[name]))
            if not isinstance(root, (dict, bool)):
                raise InvalidSchema(f"the referenced schema {name!r} is no schema: neither an object nor a boolean")
            own = draft if draft is Draft.MODERN else _classic(draft_of(root, draft), draft)
            self._documents[name] = Document(root, own, name, uri)
        return self._documents[name]


def _classic(own: Draft, parent: Draft) -> Draft:
    """A schema of an older draft reads what it refers to by the older rules, too."""
    return parent if own is Draft.MODERN else own


def _with_definitions_in_defs(root: JsonValue) -> JsonValue:
    """`#/$defs/X` finds X under `definitions`, too: generators of schemas mix the two."""
    if not isinstance(root, dict) or not isinstance(root.get("definitions"), dict) or not root["definitions"]:
        return root
    defs = root.get("$defs", {})
    if not isinstance(defs, dict):
        return root
    definitions = root["definitions"]
    assert isinstance(definitions, dict)
    return {**root, "$defs": {**defs, **{name: value for name, value in definitions.items() if name not in defs}}}


def _named(document: Document, reference: str, absolute: str) -> Place | None:
    """The subschema whose identifier or anchor is the reference."""
    names = document.identified
    found = names.get(absolute) or names.get(reference)
    return found or (names.get(absolute.removesuffix("#")) if document.draft is Draft.MODERN else None)


def _within(root: Place, pointer: str, place: Place, reference: str) -> Place:
    """Follow a JSON pointer, or find an anchor, below a root."""
    if not pointer:
        return root
    if root.value is True and is_meta_schema(root.document.uri):
        return root
    if not pointer.startswith("/"):
        named = _named(root.document, f"#{pointer}", resolve(root.base, f"#{pointer}"))
        if named is None:
            raise InvalidSchema(
                f"{place}: the $ref {reference!r} leads nowhere: no schema there has the anchor {pointer!r}"
            )
        return named
    found = root
    for segment in pointer.split("/")[1:]:
        name = unquote_plus(segment).replace("~1", "/").replace("~0", "~")
        if not _has_child(found.value, name):
            raise InvalidSchema(f"{place}: the $ref {reference!r} leads nowhere: there is no {name!r} at {found}")
        found = found.child(name)
    return found


def _has_child(value: JsonValue, name: str) -> bool:
    if isinstance(value, dict):
        return name in value
    return isinstance(value, list) and len(name) < 10 and name.isdecimal() and int(name) < len(value)
