"""What the help of Confluent's console tools says of properties for data with schemas."""

from __future__ import annotations

from typing import Final

# A column is so narrow that a name is whole only with little beside it.
_REGISTRY: Final = (
    "\n schema.registry.url=<URL>   if it is not http://localhost:8081\n basic.auth.user.info=<name>:<password>"
)

READER: Final = (
    "\nFor data with schemas:"
    f"{_REGISTRY}"
    "\n value.schema=<schema>, or"
    "\n value.schema.file=<file>, or"
    "\n value.schema.id=<id>"
    "\n value.refs=<JSON>   objects with name, subject and version"
    "\n value.metadata=<JSON>"
    "\n value.rule.set=<JSON>"
    "\n value.subject.name.strategy=<class>   if it is not TopicNameStrategy"
    "\n value.schema.full.name=<message>   of Protobuf, if not the first"
    "\n value.schema.id.serializer=<class>   puts ids before the data or into headers"
    "\n key.schema=<schema> and so on, for keys"
    "\n key.serializer=<class>   for keys without a schema"
    "\n auto.register=true   register the schema"
    "\n normalize.schemas=false"
    "\n json.fail.invalid.schema=true   check JSON against its schema"
    "\nWith auto.register=false:"
    "\n use.schema.id=<id>"
    "\n use.latest.version=false"
)

FORMATTER: Final = (
    "\nFor data with schemas:"
    f"{_REGISTRY}"
    "\n print.schema.ids=true|false"
    "\n schema.id.separator=<schema.id.separator>"
    "\n preserve.json.field.name=false   names of Protobuf as they are declared"
    "\n json.fail.invalid.schema=true   check JSON against its schema"
)
