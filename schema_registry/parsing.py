"""From the text of a schema to what it means, with the schemas that it refers to looked up."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from dataclasses import replace

from schema_registry.errors import SchemaRefused
from schema_registry.formats.parsed_schema import SCHEMA_MAX_CHARACTERS, InvalidSchema, ParsedSchema
from schema_registry.formats.table import schema_class
from schema_registry.schema import Reference, Schema
from schema_registry.state.state import State
from schema_registry.state.version import Version
from schema_registry.subject import Subject
from schema_registry.turns import Turns

LATEST = -1
PARSED_MAX_CHARACTERS = 1_000_000
"""How much text the parsed schemas that are kept may have had; what is parsed takes some ten times as much memory."""

LARGE_CHARACTERS = 50_000
"""A longer text is parsed on another thread; it takes more than some milliseconds."""

REFERENCES_MAX = 1_000
"""How many schemas one schema may refer to, directly or not."""


class Parser:
    """Parses schemas against the state, and remembers what it parsed lately."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._parsed: OrderedDict[tuple[object, ...], ParsedSchema] = OrderedDict()
        self._characters = 0
        self._clearings = 0
        self.turns = Turns()
        """Threads share one interpreter: several at once would be no faster, and hold up the event loop the more."""

    def clear(self) -> None:
        """Forget everything: what a reference stands for may have changed."""
        self._parsed.clear()
        self._characters = 0
        self._clearings += 1

    def stored(self, version: Version) -> ParsedSchema:
        return self.parse(version.schema, version.subject)

    def parse(self, schema: Schema, subject: str, *, new: bool = False, normalise: bool = False) -> ParsedSchema:
        """Understand a schema of a subject; SchemaRefused says what is wrong with it."""
        key = self._key(schema, subject, new=new, normalise=normalise)
        parsed = self._parsed.get(key)
        if parsed is not None:
            if new:
                # What it refers to may have been deleted since.
                self._texts(schema, subject, new=True)
            self._parsed.move_to_end(key)
            return parsed
        parsed = _parsed(schema, self._texts(schema, subject, new=new), new=new, normalise=normalise)
        self._keep(key, parsed, len(schema.text))
        return parsed

    async def prepare(self, schema: Schema, subject: str, *, new: bool, normalise: bool) -> None:
        """Understand a large schema on another thread and remember it, so that nobody else waits meanwhile."""
        if len(schema.text) < LARGE_CHARACTERS:
            return
        schema = self.pinned(schema, subject)
        key = self._key(schema, subject, new=new, normalise=normalise)
        async with self.turns:
            if key in self._parsed:
                return
            texts, clearings = self._texts(schema, subject, new=new), self._clearings
            parsed = await asyncio.to_thread(_parsed, schema, texts, new=new, normalise=normalise)
            if clearings == self._clearings:
                self._keep(key, parsed, len(schema.text))

    def pinned(self, schema: Schema, subject: str) -> Schema:
        """The schema with references to the latest version made references to that very version."""
        if all(reference.version != LATEST for reference in schema.references):
            return schema
        parent = Subject.parse(subject)
        pinned = tuple(
            reference
            if reference.version != LATEST
            else replace(reference, version=self._referent(parent, reference, deleted=False).number)
            for reference in schema.references
        )
        return replace(schema, references=pinned)

    def _texts(self, schema: Schema, subject: str, *, new: bool) -> dict[str, str]:
        """The text of everything that a schema refers to, by name."""
        texts: dict[str, str] = {}
        parent = Subject.parse(subject)
        self._collect(parent, schema.references, texts, set(), deleted=not new)
        for reference in schema.references if new else ():
            other_type = self._referent(parent, reference, deleted=False).schema.schema_type
            if other_type != schema.schema_type:
                raise SchemaRefused(
                    f"Invalid schema of type {schema.schema_type}, details: the reference {reference.name} leads to"
                    f" version {reference.version} of subject {reference.subject}, which is of type {other_type}"
                )
        return texts

    @staticmethod
    def _key(schema: Schema, subject: str, *, new: bool, normalise: bool) -> tuple[object, ...]:
        context = Subject.parse(subject).context
        return (schema.schema_type, schema.text, schema.references, context, new, normalise)

    def _collect(
        self,
        parent: Subject,
        references: tuple[Reference, ...],
        texts: dict[str, str],
        visited: set[str],
        *,
        deleted: bool,
    ) -> None:
        """Gather the texts of all references, those that others build on first; a name counts once, so that cycles end."""
        for reference in references:
            version = self._referent(parent, reference, deleted=deleted)
            if reference.name in visited:
                continue
            visited.add(reference.name)
            if len(visited) > REFERENCES_MAX:
                raise SchemaRefused(f"The schema refers to more than {REFERENCES_MAX} others, directly or not")
            self._collect(Subject.parse(version.subject), version.schema.references, texts, visited, deleted=deleted)
            texts[reference.name] = version.schema.text

    def _referent(self, parent: Subject, reference: Reference, *, deleted: bool) -> Version:
        subject = str(parent.beside(reference.subject))
        if reference.version == LATEST:
            version = self._state.latest(subject)
        else:
            version = self._state.version(subject, reference.version, deleted=deleted)
        if version is None:
            raise SchemaRefused(f'No schema reference found for subject "{subject}" and version {reference.version}')
        return version

    def _keep(self, key: tuple[object, ...], parsed: ParsedSchema, characters: int) -> None:
        if key not in self._parsed:
            self._characters += characters
        self._parsed[key] = parsed
        while self._characters > PARSED_MAX_CHARACTERS:
            (_, text, *_), _ = self._parsed.popitem(last=False)
            self._characters -= len(str(text))


def _parsed(schema: Schema, texts: dict[str, str], *, new: bool, normalise: bool) -> ParsedSchema:
    format_class = schema_class(schema.schema_type)
    if format_class is None:
        raise SchemaRefused(f"Invalid schema type {schema.schema_type}")
    complaint = f"Invalid schema of type {schema.schema_type}, details: "
    if len(schema.text) > SCHEMA_MAX_CHARACTERS:
        raise SchemaRefused(f"{complaint}it has {len(schema.text)} characters; {SCHEMA_MAX_CHARACTERS} is the limit")
    try:
        parsed = format_class.parse(schema.text, texts, new=new)
        return parsed.normalised() if normalise else parsed
    except InvalidSchema as problem:
        raise SchemaRefused(f"{complaint}{problem}") from None
