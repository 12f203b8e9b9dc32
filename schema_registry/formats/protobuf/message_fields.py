"""The fields of a message by number, whether they stand in a oneof or not."""

from __future__ import annotations

from dataclasses import dataclass

from schema_registry.formats.protobuf.elements import Field, Message, OneOf


@dataclass(frozen=True, slots=True)
class MessageFields:
    """`oneof_of_tag` has the numbers of those fields alone that are members of a oneof."""

    by_tag: dict[int, Field]
    oneof_of_tag: dict[int, str]
    oneofs: dict[str, OneOf]

    @classmethod
    def of(cls, message: Message) -> MessageFields:
        return cls(
            {field.tag: field for field in message.all_fields()},
            {field.tag: oneof.name for oneof in message.oneofs for field in oneof.fields},
            {oneof.name: oneof for oneof in message.oneofs},
        )

    def oneofs_given_up_in(self, newer: MessageFields) -> set[str]:
        """The oneofs of which nothing is left, not even a member under another name: somebody meant that."""
        return {
            name
            for name, oneof in self.oneofs.items()
            if name not in newer.oneofs and not any(field.tag in newer.by_tag for field in oneof.fields)
        }

    def path_of(self, tag: int) -> tuple[str, ...]:
        oneof = self.oneof_of_tag.get(tag)
        return (str(tag),) if oneof is None else (oneof, str(tag))

    def text_of(self, *tags: int) -> str:
        """Fields as they are shown to people."""
        texts: dict[str | None, list[str]] = {}
        for tag in tags:
            field = self.by_tag[tag]
            label = f"{field.label.value} " if field.label else ""
            texts.setdefault(self.oneof_of_tag.get(tag), []).append(f"{label}{field.type} {field.name} = {tag}")
        return "; ".join(
            "; ".join(fields) if oneof is None else f"oneof {oneof} {{ {'; '.join(fields)} }}"
            for oneof, fields in texts.items()
        )
